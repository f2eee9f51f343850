//! What the engine has learnt, in its own words: notes on a session, summaries of parts, and what a model at a service
//! turned out to be.

use crate::columns::{count, name, text};
use crate::error::Result;
use oneclaw_model::ProviderKind;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Transaction};

/// The engine's notes on a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notes {
    /// The last check that could win nothing more.
    pub attempt: Option<String>,
    /// The last size a provider reported, and of what.
    pub anchor: Option<String>,
}

/// The notes on a session.
pub fn notes(connection: &Connection, session: &str) -> Result<Notes> {
    let mut query =
        connection.prepare_cached("SELECT attempt, anchor FROM core_sessions WHERE session_id = ?1")?;
    let notes = query.query_row([session], |row| Ok(Notes { attempt: text(row, 0)?, anchor: text(row, 1)? }));
    Ok(notes.optional()?.unwrap_or_default())
}

/// Keeps the last check that could win nothing more.
pub fn set_attempt(transaction: &Transaction<'_>, session: &str, attempt: Option<&str>) -> Result<()> {
    set_note(transaction, session, "attempt", attempt)
}

/// Keeps the last size a provider reported.
pub fn set_anchor(transaction: &Transaction<'_>, session: &str, anchor: &str) -> Result<()> {
    set_note(transaction, session, "anchor", Some(anchor))
}

fn set_note(transaction: &Transaction<'_>, session: &str, column: &str, note: Option<&str>) -> Result<()> {
    transaction
        .prepare_cached(&format!(
            "INSERT INTO core_sessions (session_id, {column}) VALUES (?1, ?2)
             ON CONFLICT (session_id) DO UPDATE SET {column} = ?2"
        ))?
        .execute((session, note))?;
    Ok(())
}

/// The summary of a part, by what the part was.
pub fn chunk(connection: &Connection, session: &str, content_key: &str) -> Result<Option<String>> {
    let mut query = connection
        .prepare_cached("SELECT text FROM core_chunks WHERE session_id = ?1 AND content_key = ?2")?;
    Ok(query.query_row((session, content_key), |row| row.get(0)).optional()?)
}

/// Keeps the summary of a part until the compaction it was made for is in force.
pub fn set_chunk(
    transaction: &Transaction<'_>,
    session: &str,
    content_key: &str,
    summary: &str,
) -> Result<()> {
    transaction.execute(
        "INSERT OR REPLACE INTO core_chunks (session_id, content_key, text) VALUES (?1, ?2, ?3)",
        (session, content_key, summary),
    )?;
    Ok(())
}

pub(crate) fn forget_chunks(transaction: &Transaction<'_>, session: &str) -> Result<()> {
    transaction.execute("DELETE FROM core_chunks WHERE session_id = ?1", [session])?;
    Ok(())
}

/// A model at a service.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelAt {
    /// What kind of service it is.
    pub kind: ProviderKind,
    /// Where it is.
    pub base_url: String,
    /// The model.
    pub model: String,
}

/// What reports and refusals taught about a model.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Learnt {
    /// How much larger real sizes are than estimated ones, on average.
    pub factor: Option<f64>,
    /// How many reports have agreed about that.
    pub reports: u64,
    /// How much larger they are at most, of late.
    pub high: Option<f64>,
    /// The window it really has.
    pub window: Option<u64>,
}

/// What is known of a model at a service beside its size, in the words of those who know it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Notices {
    /// What refusals taught about how it is spoken to.
    pub adjustments: Option<String>,
    /// What the service's list says of it.
    pub listed: Option<String>,
}

/// What is known of a model beside its size.
pub fn notices(connection: &Connection, model: &ModelAt) -> Result<Notices> {
    let mut query = connection.prepare_cached(
        "SELECT adjustments, listed FROM core_models WHERE provider_type = ?1 AND base_url = ?2 AND model_id = ?3",
    )?;
    let found = query.query_row((name(&model.kind), &model.base_url, &model.model), |row| {
        Ok(Notices { adjustments: text(row, 0)?, listed: text(row, 1)? })
    });
    Ok(found.optional()?.unwrap_or_default())
}

/// Keeps what refusals taught about how a model is spoken to.
pub fn set_adjustments(transaction: &Transaction<'_>, model: &ModelAt, adjustments: &str) -> Result<()> {
    set_notice(transaction, model, "adjustments", adjustments)
}

/// Keeps what the service's list says of a model.
pub fn set_listed(transaction: &Transaction<'_>, model: &ModelAt, listed: &str) -> Result<()> {
    set_notice(transaction, model, "listed", listed)
}

fn set_notice(transaction: &Transaction<'_>, model: &ModelAt, column: &str, notice: &str) -> Result<()> {
    transaction
        .prepare_cached(&format!(
            "INSERT INTO core_models (provider_type, base_url, model_id, {column}) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (provider_type, base_url, model_id) DO UPDATE SET {column} = ?4"
        ))?
        .execute((name(&model.kind), &model.base_url, &model.model, notice))?;
    Ok(())
}

/// What was learnt about a model.
pub fn learnt(connection: &Connection, model: &ModelAt) -> Result<Learnt> {
    let mut query = connection.prepare_cached(
        "SELECT factor, window, reports, high FROM core_models WHERE provider_type = ?1 AND base_url = ?2 AND model_id = ?3",
    )?;
    let found = query.query_row((name(&model.kind), &model.base_url, &model.model), |row| {
        let real = |index| match row.get_ref(index)? {
            ValueRef::Real(number) => Ok::<_, rusqlite::Error>(Some(number)),
            _ => Ok(None),
        };
        let (factor, high) = (real(0)?, real(3)?);
        Ok(Learnt { factor, window: count(row, 1)?, reports: count(row, 2)?.unwrap_or(0), high })
    });
    Ok(found.optional()?.unwrap_or_default())
}

/// Keeps what was learnt about a model. A window is only ever learnt to be smaller, whoever learns it last.
pub fn set_learnt(transaction: &Transaction<'_>, model: &ModelAt, learnt: Learnt) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO core_models (provider_type, base_url, model_id, factor, window, reports, high)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (provider_type, base_url, model_id) DO UPDATE SET
                reports = CASE WHEN excluded.factor IS NULL THEN reports ELSE excluded.reports END,
                high = CASE WHEN excluded.factor IS NULL THEN high ELSE excluded.high END,
                factor = IFNULL(excluded.factor, factor),
                window = MIN(IFNULL(excluded.window, window), IFNULL(window, excluded.window))",
        )?
        .execute((
            name(&model.kind),
            &model.base_url,
            &model.model,
            learnt.factor,
            learnt.window,
            i64::try_from(learnt.reports).unwrap_or(i64::MAX),
            learnt.high,
        ))?;
    Ok(())
}
