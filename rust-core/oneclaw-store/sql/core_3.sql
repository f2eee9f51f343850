-- The core's own tables, version 3: what a reply was made of, so that it can go back to its model unchanged; and what is
-- known of a model at a service beside its size: what refusals taught about how it is spoken to, what the service's list says.
ALTER TABLE core_messages ADD COLUMN trace TEXT;
ALTER TABLE core_models ADD COLUMN adjustments TEXT;
ALTER TABLE core_models ADD COLUMN listed TEXT;
