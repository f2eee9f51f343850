//! Services and their models: the presets, and what the user has added.

use crate::columns::{count, flag, name, provider_kind, required, text};
use crate::error::{Fault, Result};
use oneclaw_model::ProviderKind;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

/// A service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Its name in the file.
    pub id: String,
    /// The name shown.
    pub name: String,
    /// The dialect it speaks.
    pub kind: ProviderKind,
    /// Where it is.
    pub base_url: String,
    /// Whether the app brought it; such a one cannot be removed.
    pub is_preset: bool,
    /// Whether it is offered.
    pub is_active: bool,
}

/// A model of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The service's name for it.
    pub id: String,
    /// The service.
    pub provider_id: String,
    /// The name shown, if it is not the id.
    pub display_name: Option<String>,
    /// Whether new conversations begin with it.
    pub is_default: bool,
    /// `PRESET`, or where else it comes from.
    pub source: String,
    /// Its context window, if known.
    pub window: Option<u64>,
}

/// Where a model that the user has added comes from.
pub const CUSTOM: &str = "CUSTOM";
const PRESET: &str = "PRESET";

const PROVIDER: &str = "SELECT id, name, type, api_base_url, is_pre_configured, is_active FROM providers";
const MODEL: &str =
    "SELECT id, provider_id, display_name, is_default, source, context_window_size FROM models";

/// All services: the app's own first, then in the order they were added.
pub fn providers(connection: &Connection) -> Result<Vec<Provider>> {
    let mut query =
        connection.prepare_cached(&format!("{PROVIDER} ORDER BY is_pre_configured DESC, rowid"))?;
    Ok(query.query_map([], read_provider)?.collect::<rusqlite::Result<_>>()?)
}

/// One service.
pub fn provider(connection: &Connection, id: &str) -> Result<Provider> {
    let mut query = connection.prepare_cached(&format!("{PROVIDER} WHERE id = ?1"))?;
    query.query_row([id], read_provider).optional()?.ok_or_else(|| no_provider(id))
}

/// Adds a service, or changes the one of that id. What the app brought stays marked as such. Refused where the file makes
/// something else of it, as a trigger in it may: the user would speak to a service that nobody named.
pub fn save_provider(transaction: &Transaction<'_>, wanted: &Provider, now: i64) -> Result<()> {
    check_base_url(&wanted.base_url)?;
    transaction.execute(
        "INSERT INTO providers (id, name, type, api_base_url, is_pre_configured, is_active, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?6)
         ON CONFLICT (id) DO UPDATE SET name = ?2, type = ?3, api_base_url = ?4, is_active = ?5, updated_at = ?6",
        (&wanted.id, &wanted.name, name(&wanted.kind), &wanted.base_url, wanted.is_active, now),
    )?;
    match provider(transaction, &wanted.id) {
        Ok(kept) if kept == (Provider { is_preset: kept.is_preset, ..wanted.clone() }) => Ok(()),
        Ok(_) | Err(Fault::NoSuch { .. }) => Err(Fault::Refused {
            why: format!("the file does not keep provider {:?} as it was given; it is not used", wanted.id),
        }),
        Err(other) => Err(other),
    }
}

/// Removes a service that the user has added, and its models.
pub fn remove_provider(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    if provider(transaction, id)?.is_preset {
        return Err(Fault::Refused {
            why: format!("provider {id:?} belongs to the app; it can be switched off"),
        });
    }
    transaction.execute("DELETE FROM providers WHERE id = ?1", [id])?;
    Ok(())
}

/// The models of a service, in the order they were added.
pub fn models(connection: &Connection, provider_id: &str) -> Result<Vec<Model>> {
    let mut query = connection.prepare_cached(&format!("{MODEL} WHERE provider_id = ?1 ORDER BY rowid"))?;
    Ok(query.query_map([provider_id], read_model)?.collect::<rusqlite::Result<_>>()?)
}

/// One model.
pub fn model(connection: &Connection, provider_id: &str, id: &str) -> Result<Model> {
    let mut query = connection.prepare_cached(&format!("{MODEL} WHERE provider_id = ?1 AND id = ?2"))?;
    query.query_row((provider_id, id), read_model).optional()?.ok_or_else(|| no_model(provider_id, id))
}

/// The model that new conversations begin with.
pub fn default_model(connection: &Connection) -> Result<Option<Model>> {
    let mut query =
        connection.prepare_cached(&format!("{MODEL} WHERE is_default = 1 ORDER BY rowid LIMIT 1"))?;
    Ok(query.query_row([], read_model).optional()?)
}

/// Adds a model, or changes name, source and window of the one of that id; a preset stays one.
pub fn save_model(transaction: &Transaction<'_>, model: &Model) -> Result<()> {
    provider(transaction, &model.provider_id)?;
    if model.id.trim().is_empty() {
        return Err(Fault::Refused { why: "a model needs a name".to_owned() });
    }
    transaction.execute(
        "INSERT INTO models (id, provider_id, display_name, is_default, source, context_window_size)
         VALUES (?1, ?2, ?3, 0, ?4, ?5)
         ON CONFLICT (id, provider_id) DO UPDATE SET display_name = ?3, context_window_size = ?5,
            source = CASE source WHEN 'PRESET' THEN source ELSE ?4 END",
        // Zero means unknown, and unknown is null.
        (&model.id, &model.provider_id, &model.display_name, &model.source, model.window.filter(|w| *w > 0)),
    )?;
    if model.is_default { set_default_model(transaction, &model.provider_id, &model.id) } else { Ok(()) }
}

/// Lets new conversations begin with a model; only one does.
pub fn set_default_model(transaction: &Transaction<'_>, provider_id: &str, id: &str) -> Result<()> {
    model(transaction, provider_id, id)?;
    transaction.execute(
        "UPDATE models SET is_default = (provider_id = ?1 AND id = ?2) WHERE is_default = 1 OR (provider_id = ?1 AND id = ?2)",
        (provider_id, id),
    )?;
    Ok(())
}

/// Removes a model that did not come with the app.
pub fn remove_model(transaction: &Transaction<'_>, provider_id: &str, id: &str) -> Result<()> {
    if model(transaction, provider_id, id)?.source == PRESET {
        return Err(Fault::Refused { why: format!("model {id:?} belongs to the app") });
    }
    transaction.execute("DELETE FROM models WHERE provider_id = ?1 AND id = ?2", (provider_id, id))?;
    Ok(())
}

/// Keys are kept elsewhere, and must not slip into the file as a part of an address.
fn check_base_url(url: &str) -> Result<()> {
    let refused = |why: &str| Err(Fault::Refused { why: why.to_owned() });
    let Some(rest) = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme)) else {
        return refused("a base URL begins with https:// or http://");
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || rest.contains(char::is_whitespace) {
        return refused("the base URL names no host");
    }
    if host.contains('@') || rest.contains(['?', '#']) {
        return refused("a base URL has no user, password or query; keys are kept elsewhere");
    }
    Ok(())
}

fn no_provider(id: &str) -> Fault {
    Fault::NoSuch { what: format!("provider {id:?}") }
}

fn no_model(provider_id: &str, id: &str) -> Fault {
    Fault::NoSuch { what: format!("model {id:?} of provider {provider_id:?}") }
}

fn read_provider(row: &Row<'_>) -> rusqlite::Result<Provider> {
    Ok(Provider {
        id: required(row, 0)?,
        name: required(row, 1)?,
        kind: provider_kind(row, 2)?,
        base_url: required(row, 3)?,
        is_preset: flag(row, 4)?,
        is_active: flag(row, 5)?,
    })
}

fn read_model(row: &Row<'_>) -> rusqlite::Result<Model> {
    Ok(Model {
        id: required(row, 0)?,
        provider_id: required(row, 1)?,
        display_name: text(row, 2)?,
        is_default: flag(row, 3)?,
        source: required(row, 4)?,
        window: count(row, 5)?.filter(|window| *window > 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Provider {
        Provider {
            id: "mine".to_owned(),
            name: "Mine".to_owned(),
            kind: ProviderKind::OpenAi,
            base_url: "https://mine.example/v1".to_owned(),
            is_preset: false,
            is_active: true,
        }
    }

    #[test]
    fn a_service_that_the_file_keeps_otherwise_is_refused() {
        let harmless = "CREATE TRIGGER t AFTER UPDATE ON providers BEGIN SELECT 1; END;";
        let changed = |what: &str| {
            format!("CREATE TRIGGER t AFTER INSERT ON providers BEGIN UPDATE providers SET {what}; END;")
        };
        for (trigger, is_kept) in [
            (harmless.to_owned(), true),
            (changed("api_base_url = 'https://evil.example/v1'"), false),
            (changed("api_base_url = api_base_url || '.evil.example'"), false),
            (changed("type = 'GEMINI'"), false),
            (changed("name = 'OpenAI'"), false),
            (changed("is_active = 0"), false),
            (changed("id = 'other'"), false),
            (
                "CREATE TRIGGER t BEFORE INSERT ON providers BEGIN SELECT RAISE(IGNORE); END;".to_owned(),
                false,
            ),
        ] {
            // Not by way of a store, which may refuse such a file at once.
            let mut connection = Connection::open_in_memory().unwrap();
            let transaction = connection.transaction().unwrap();
            transaction.execute_batch(crate::seed::ROOM).unwrap();
            transaction.execute_batch(&trigger).unwrap();
            let saved = save_provider(&transaction, &service(), 1);
            assert_eq!(saved.is_ok(), is_kept, "{trigger}: {saved:?}");
            if is_kept {
                assert_eq!(provider(&transaction, "mine").unwrap(), service());
            }
        }
    }
}
