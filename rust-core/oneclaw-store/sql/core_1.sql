-- The core's own tables, version 1. Room does not know them; its own tables stay exactly as they are.
-- Nothing newer than SQLite 3.18 and no STRICT: an older app must be able to open the file.
CREATE TABLE core_version (version INTEGER NOT NULL);

-- One row beside each message: its place in the order, and what the original schema has no column for.
-- The key is the order of the conversation: time, then insertion. `mark` and `measure` are values of the engine.
CREATE TABLE core_messages (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    place INTEGER NOT NULL,
    message_id TEXT NOT NULL UNIQUE REFERENCES messages (id) ON DELETE CASCADE,
    cache_read INTEGER,
    cache_write INTEGER,
    thinking_signature TEXT,
    is_partial INTEGER NOT NULL DEFAULT 0,
    pinned_at INTEGER,
    mark TEXT,
    measure TEXT,
    measured_bytes INTEGER,
    PRIMARY KEY (session_id, created_at, place)
) WITHOUT ROWID;
CREATE INDEX core_messages_pinned ON core_messages (session_id) WHERE pinned_at IS NOT NULL;

CREATE TABLE core_attachments (
    message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    mime TEXT NOT NULL,
    name TEXT NOT NULL,
    width INTEGER,
    height INTEGER,
    data TEXT,
    PRIMARY KEY (message_id, place)
);

-- What the core remembers of a session: up to which message it has put the rows in order (rows that another app adds
-- come after it), and the engine's own notes.
CREATE TABLE core_sessions (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    ordered_rowid INTEGER,
    ordered_id TEXT,
    attempt TEXT,
    anchor TEXT
) WITHOUT ROWID;

-- One row per compaction, never deleted but with its session. The newest that is not undone is in force.
CREATE TABLE core_epochs (
    id INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    parent INTEGER REFERENCES core_epochs (id) ON DELETE CASCADE,
    first_id TEXT,
    last_id TEXT,
    rows INTEGER NOT NULL,
    boundary_created_at INTEGER NOT NULL,
    boundary_place INTEGER NOT NULL,
    mirrored_timestamp INTEGER NOT NULL,
    summary TEXT NOT NULL,
    strategy TEXT NOT NULL,
    reason TEXT,
    tokens_before INTEGER,
    tokens_after INTEGER,
    model_id TEXT,
    tail_rows INTEGER,
    auto_continue TEXT,
    created_at INTEGER NOT NULL,
    undone_at INTEGER,
    UNIQUE (session_id, number)
);
CREATE INDEX core_epochs_parent ON core_epochs (parent);

-- Summaries of parts of a history that is being compacted, by what they were made of.
CREATE TABLE core_chunks (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    content_key TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session_id, content_key)
);

-- A compaction that was decided and is not finished.
CREATE TABLE core_queue (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    focus TEXT,
    queued_at INTEGER NOT NULL
);

-- What reports and refusals taught about a model at a service.
CREATE TABLE core_models (
    provider_type TEXT NOT NULL,
    base_url TEXT NOT NULL,
    model_id TEXT NOT NULL,
    factor REAL,
    window INTEGER,
    PRIMARY KEY (provider_type, base_url, model_id)
) WITHOUT ROWID;

-- Purges whose words may still stand in the log. It goes when the log was truncated.
CREATE TABLE core_purges (id INTEGER NOT NULL PRIMARY KEY);
