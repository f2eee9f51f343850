-- The core's own tables, version 4: how many reports on a model agreed about its density, and the highest ratio of late.
ALTER TABLE core_models ADD COLUMN reports INTEGER;
ALTER TABLE core_models ADD COLUMN high REAL;
