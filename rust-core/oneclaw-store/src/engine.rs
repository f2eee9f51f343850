//! What the engine has learnt, in its own words: notes on a session, summaries of parts, and what a model at a service
//! turned out to be.

use crate::columns::{name, provider_kind, required, text, time, total};
use crate::error::Result;
use oneclaw_model::ProviderKind;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

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

/// What was learnt about a model at a service, under a name and in words of the engine's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// What it is about. A model has one lesson of a topic.
    pub topic: String,
    /// What was learnt.
    pub value: String,
    /// How often it was heard.
    pub heard: u64,
    /// When it was heard last, in milliseconds since 1970.
    pub learnt_at: i64,
}

/// What was learnt about a model.
pub fn lessons(connection: &Connection, model: &ModelAt) -> Result<Vec<Lesson>> {
    let mut query = connection.prepare_cached(
        "SELECT topic, value, heard, learnt_at FROM core_learnt
         WHERE provider_type = ?1 AND base_url = ?2 AND model_id = ?3 ORDER BY topic",
    )?;
    let rows = query.query_map((name(&model.kind), &model.base_url, &model.model), |row| lesson(row, 0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// What was learnt about all models.
pub fn all_lessons(connection: &Connection) -> Result<Vec<(ModelAt, Lesson)>> {
    let mut query = connection.prepare_cached(
        "SELECT provider_type, base_url, model_id, topic, value, heard, learnt_at FROM core_learnt
         ORDER BY base_url, model_id, provider_type, topic",
    )?;
    let rows = query.query_map([], |row| {
        let at =
            ModelAt { kind: provider_kind(row, 0)?, base_url: required(row, 1)?, model: required(row, 2)? };
        Ok((at, lesson(row, 3)?))
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Keeps what was learnt about a model, in place of what was learnt before of that topic.
pub fn set_lesson(transaction: &Transaction<'_>, model: &ModelAt, lesson: &Lesson) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO core_learnt (provider_type, base_url, model_id, topic, value, heard, learnt_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute((
            name(&model.kind),
            &model.base_url,
            &model.model,
            &lesson.topic,
            &lesson.value,
            i64::try_from(lesson.heard).unwrap_or(i64::MAX),
            lesson.learnt_at,
        ))?;
    Ok(())
}

/// Forgets what was learnt about a model of a topic. Says whether there was anything.
pub fn forget_lesson(transaction: &Transaction<'_>, model: &ModelAt, topic: &str) -> Result<bool> {
    let gone = transaction
        .prepare_cached(
            "DELETE FROM core_learnt WHERE provider_type = ?1 AND base_url = ?2 AND model_id = ?3 AND topic = ?4",
        )?
        .execute((name(&model.kind), &model.base_url, &model.model, topic))?;
    Ok(gone > 0)
}

/// Forgets what was heard last before that time, of all models.
pub fn forget_lessons_before(transaction: &Transaction<'_>, time: i64) -> Result<()> {
    transaction.prepare_cached("DELETE FROM core_learnt WHERE learnt_at < ?1")?.execute([time])?;
    Ok(())
}

fn lesson(row: &Row<'_>, from: usize) -> rusqlite::Result<Lesson> {
    Ok(Lesson {
        topic: required(row, from)?,
        value: required(row, from + 1)?,
        heard: total(row, from + 2)?,
        // Without a time it was never heard.
        learnt_at: time(row, from + 3)?.unwrap_or(i64::MIN),
    })
}

/// What a service's list says of a model, in the words of the engine.
pub fn listed(connection: &Connection, model: &ModelAt) -> Result<Option<String>> {
    let mut query = connection.prepare_cached(
        "SELECT listed FROM core_listed WHERE provider_type = ?1 AND base_url = ?2 AND model_id = ?3",
    )?;
    let found =
        query.query_row((name(&model.kind), &model.base_url, &model.model), |row| text(row, 0)).optional()?;
    Ok(found.flatten())
}

/// Keeps what the service's list says of a model.
pub fn set_listed(transaction: &Transaction<'_>, model: &ModelAt, listed: &str) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR REPLACE INTO core_listed (provider_type, base_url, model_id, listed) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((name(&model.kind), &model.base_url, &model.model, listed))?;
    Ok(())
}
