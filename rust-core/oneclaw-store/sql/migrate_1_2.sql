-- Room schema 1 → 2. A shipped step: never edit.
ALTER TABLE models ADD COLUMN context_window_size INTEGER;
ALTER TABLE sessions ADD COLUMN compacted_summary TEXT;
ALTER TABLE sessions ADD COLUMN compact_boundary_timestamp INTEGER;
UPDATE room_master_table SET identity_hash = 'f50a20c642811826a22174751ad5cfcc' WHERE id = 42;
