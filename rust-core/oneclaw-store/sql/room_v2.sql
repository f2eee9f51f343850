-- Room schema version 2 of the original app, as its exported JSON has it. Frozen: never edit.
CREATE TABLE `agents` (`id` TEXT NOT NULL, `name` TEXT NOT NULL, `description` TEXT, `system_prompt` TEXT NOT NULL, `tool_ids` TEXT NOT NULL, `preferred_provider_id` TEXT, `preferred_model_id` TEXT, `is_built_in` INTEGER NOT NULL, `created_at` INTEGER NOT NULL, `updated_at` INTEGER NOT NULL, PRIMARY KEY(`id`));
CREATE TABLE `providers` (`id` TEXT NOT NULL, `name` TEXT NOT NULL, `type` TEXT NOT NULL, `api_base_url` TEXT NOT NULL, `is_pre_configured` INTEGER NOT NULL, `is_active` INTEGER NOT NULL, `created_at` INTEGER NOT NULL, `updated_at` INTEGER NOT NULL, PRIMARY KEY(`id`));
CREATE TABLE `models` (`id` TEXT NOT NULL, `display_name` TEXT, `provider_id` TEXT NOT NULL, `is_default` INTEGER NOT NULL, `source` TEXT NOT NULL, `context_window_size` INTEGER, PRIMARY KEY(`id`, `provider_id`), FOREIGN KEY(`provider_id`) REFERENCES `providers`(`id`) ON UPDATE NO ACTION ON DELETE CASCADE );
CREATE INDEX `index_models_provider_id` ON `models` (`provider_id`);
CREATE TABLE `sessions` (`id` TEXT NOT NULL, `title` TEXT NOT NULL, `current_agent_id` TEXT NOT NULL, `message_count` INTEGER NOT NULL, `last_message_preview` TEXT, `is_active` INTEGER NOT NULL, `deleted_at` INTEGER, `created_at` INTEGER NOT NULL, `updated_at` INTEGER NOT NULL, `compacted_summary` TEXT, `compact_boundary_timestamp` INTEGER, PRIMARY KEY(`id`));
CREATE INDEX `index_sessions_updated_at` ON `sessions` (`updated_at`);
CREATE INDEX `index_sessions_deleted_at` ON `sessions` (`deleted_at`);
CREATE TABLE `messages` (`id` TEXT NOT NULL, `session_id` TEXT NOT NULL, `type` TEXT NOT NULL, `content` TEXT NOT NULL, `thinking_content` TEXT, `tool_call_id` TEXT, `tool_name` TEXT, `tool_input` TEXT, `tool_output` TEXT, `tool_status` TEXT, `tool_duration_ms` INTEGER, `token_count_input` INTEGER, `token_count_output` INTEGER, `model_id` TEXT, `provider_id` TEXT, `created_at` INTEGER NOT NULL, PRIMARY KEY(`id`), FOREIGN KEY(`session_id`) REFERENCES `sessions`(`id`) ON UPDATE NO ACTION ON DELETE CASCADE );
CREATE INDEX `index_messages_session_id` ON `messages` (`session_id`);
CREATE INDEX `index_messages_created_at` ON `messages` (`created_at`);
CREATE TABLE `app_settings` (`key` TEXT NOT NULL, `value` TEXT NOT NULL, PRIMARY KEY(`key`));
CREATE TABLE room_master_table (id INTEGER PRIMARY KEY,identity_hash TEXT);
INSERT INTO room_master_table (id,identity_hash) VALUES(42, 'f50a20c642811826a22174751ad5cfcc');
