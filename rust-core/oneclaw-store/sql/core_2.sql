-- The core's own tables, version 2: which model a session speaks to, and what an edited question or another reply has
-- replaced. Nothing a user wrote is thrown away by an edit.
ALTER TABLE core_sessions ADD COLUMN provider_id TEXT;
ALTER TABLE core_sessions ADD COLUMN model_id TEXT;

CREATE TABLE core_replaced (
    id INTEGER NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message TEXT NOT NULL,
    replaced_at INTEGER NOT NULL
);
CREATE INDEX core_replaced_session ON core_replaced (session_id);
