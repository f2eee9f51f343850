//! What a fresh file holds: three providers, models that exist, the preset models, the built-in agent.

use oneclaw_catalogue::{Vendor, current, find};
use oneclaw_model::{PresetModel, ProviderKind};
use rusqlite::Transaction;

/// Room's tables in the newest version.
pub(crate) const ROOM: &str = include_str!("../sql/room_v2.sql");
/// Android's own framework keeps the locale here, and makes the table where it is missing.
pub(crate) const ANDROID: &str = "CREATE TABLE IF NOT EXISTS android_metadata (locale TEXT);
    INSERT INTO android_metadata SELECT 'en_US' WHERE NOT EXISTS (SELECT 1 FROM android_metadata);";

const PROVIDERS: [(ProviderKind, &str, &str, &str, &str); 3] = [
    (ProviderKind::OpenAi, "provider-openai", "OpenAI", "OPENAI", "https://api.openai.com/v1"),
    (ProviderKind::Anthropic, "provider-anthropic", "Anthropic", "ANTHROPIC", "https://api.anthropic.com/v1"),
    (
        ProviderKind::Gemini,
        "provider-gemini",
        "Google Gemini",
        "GEMINI",
        "https://generativelanguage.googleapis.com/v1beta",
    ),
];

const AGENT: (&str, &str, &str, &str) = (
    crate::agents::GENERAL_ASSISTANT,
    "General Assistant",
    "A helpful assistant with the built-in tools.",
    crate::agents::WITH_TOOLS,
);
const AGENT_TOOLS: &str = r#"["get_current_time","read_file","write_file","http_request"]"#;

fn window_of(vendor: Vendor, model: &str) -> Option<u64> {
    find(vendor, model).and_then(|facts| facts.limits.window)
}

/// Makes the tables of the newest version and fills them. `now` is milliseconds since 1970.
pub(crate) fn create(transaction: &Transaction<'_>, now: i64) -> rusqlite::Result<()> {
    transaction.execute_batch(ROOM)?;
    transaction.execute_batch(ANDROID)?;
    for (kind, id, name, tag, url) in PROVIDERS {
        transaction.execute(
            "INSERT INTO providers (id, name, type, api_base_url, is_pre_configured, is_active, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, 1, 1, ?5, ?5)",
            (id, name, tag, url, now),
        )?;
        // Those that exist come first; the first of all is what conversations begin with. The presets may be switched off.
        let vendor = Vendor::of(kind, url);
        let existing = current(kind).iter().map(|model| (*model, window_of(vendor, model)));
        let presets = PresetModel::all().filter(|m| m.provider == kind).map(|m| (m.id, Some(m.window)));
        for (index, (model, window)) in existing.chain(presets).enumerate() {
            transaction.execute(
                "INSERT INTO models (id, display_name, provider_id, is_default, source, context_window_size)
                 VALUES (?1, NULL, ?2, ?3, 'PRESET', ?4)",
                (model, id, kind == ProviderKind::OpenAi && index == 0, window),
            )?;
        }
    }
    let (id, name, description, prompt) = AGENT;
    transaction.execute(
        "INSERT INTO agents (id, name, description, system_prompt, tool_ids, is_built_in, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, 1, ?6, ?6)",
        (id, name, description, prompt, AGENT_TOOLS, now),
    )?;
    transaction.pragma_update(None, "user_version", crate::CURRENT)?;
    crate::migrate::migrate_core(transaction)
}
