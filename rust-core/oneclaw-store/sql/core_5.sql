-- The core's own tables, version 5: what was learnt about a model at a service stands in rows of its own, each with how often
-- it was heard and when, so that it can be shown, forgotten and left to expire. What was learnt before has no date: it is
-- forgotten, and learnt again where it still holds. What services list stays.
CREATE TABLE core_learnt (
    provider_type TEXT NOT NULL,
    base_url TEXT NOT NULL,
    model_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    value TEXT NOT NULL,
    heard INTEGER NOT NULL,
    learnt_at INTEGER NOT NULL,
    PRIMARY KEY (provider_type, base_url, model_id, topic)
) WITHOUT ROWID;

CREATE TABLE core_listed (
    provider_type TEXT NOT NULL,
    base_url TEXT NOT NULL,
    model_id TEXT NOT NULL,
    listed TEXT NOT NULL,
    PRIMARY KEY (provider_type, base_url, model_id)
) WITHOUT ROWID;
INSERT INTO core_listed SELECT provider_type, base_url, model_id, listed FROM core_models WHERE listed IS NOT NULL;
DROP TABLE core_models;
