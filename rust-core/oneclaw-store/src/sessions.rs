//! Conversations: the list, and what can be done to one as a whole.

use crate::columns::{required, text, time, total};
use crate::error::{Fault, Result};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

/// A conversation as the list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name in the file.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The agent that answers.
    pub agent_id: String,
    /// How many rows it has.
    pub message_count: u64,
    /// The start of the latest text.
    pub preview: Option<String>,
    /// When it was thrown away, if it was.
    pub deleted_at: Option<i64>,
    /// When it was begun.
    pub created_at: i64,
    /// When it was last added to.
    pub updated_at: i64,
    /// The provider and model it speaks to, if one was chosen for it.
    pub model: Option<(String, String)>,
}

/// Which sessions to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// Those in use.
    Open,
    /// Those thrown away, which can be brought back.
    Deleted,
}

/// Where the next page of a list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    updated_at: i64,
    rowid: i64,
}

impl Cursor {
    /// The first page.
    pub const FIRST: Self = Self { updated_at: i64::MAX, rowid: i64::MAX };
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.updated_at, self.rowid)
    }
}

impl std::str::FromStr for Cursor {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self> {
        let (updated_at, rowid) = crate::place::pair(text)?;
        Ok(Self { updated_at, rowid })
    }
}

/// A part of the list, the latest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// Where it goes on, if it does.
    pub next: Option<Cursor>,
}

const COLUMNS: &str =
    "id, title, current_agent_id, message_count, last_message_preview, deleted_at, created_at,
    updated_at, rowid, (SELECT provider_id FROM core_sessions c WHERE c.session_id = sessions.id),
    (SELECT model_id FROM core_sessions c WHERE c.session_id = sessions.id)";

/// A page of the list.
pub fn list(connection: &Connection, shelf: Shelf, from: Cursor, limit: usize) -> Result<Page> {
    search(connection, shelf, "", from, limit)
}

/// A page of those whose title or preview has these words in it, in whatever case.
pub fn search(
    connection: &Connection,
    shelf: Shelf,
    words: &str,
    from: Cursor,
    limit: usize,
) -> Result<Page> {
    let mut query = connection.prepare_cached(&list_query(shelf))?;
    let words = words.trim();
    let mut rows = query.query((from.updated_at, from.rowid, limit.saturating_add(1), words))?;
    let mut page = Page { sessions: Vec::new(), next: None };
    let mut last = from;
    while let Some(row) = rows.next()? {
        if page.sessions.len() == limit {
            page.next = Some(last);
            break;
        }
        let session = read(row)?;
        last = Cursor { updated_at: session.updated_at, rowid: row.get(8)? };
        page.sessions.push(session);
    }
    Ok(page)
}

pub(crate) fn list_query(shelf: Shelf) -> String {
    let condition = match shelf {
        Shelf::Open => "IS NULL",
        Shelf::Deleted => "IS NOT NULL",
    };
    format!(
        "SELECT {COLUMNS} FROM sessions INDEXED BY index_sessions_updated_at
         WHERE deleted_at {condition} AND (updated_at, rowid) < (?1, ?2)
            AND (?4 = '' OR INSTR(LOWER(title), LOWER(?4)) OR INSTR(LOWER(last_message_preview), LOWER(?4)))
         ORDER BY updated_at DESC, rowid DESC LIMIT ?3"
    )
}

/// One session.
pub fn get(connection: &Connection, id: &str) -> Result<Session> {
    let mut query = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1"))?;
    query.query_row([id], read).optional()?.ok_or_else(|| no_session(id))
}

/// Begins a session.
pub fn create(transaction: &Transaction<'_>, id: &str, title: &str, agent_id: &str, now: i64) -> Result<()> {
    transaction.execute(
        "INSERT INTO sessions (id, title, current_agent_id, message_count, is_active, created_at, updated_at)
         VALUES (?1, ?2, ?3, 0, 1, ?4, ?4)",
        (id, title, agent_id, now),
    )?;
    Ok(())
}

/// Gives it another title. Its place in the list stays.
pub fn rename(transaction: &Transaction<'_>, id: &str, title: &str) -> Result<()> {
    change(transaction, id, "UPDATE sessions SET title = ?2 WHERE id = ?1", &title)
}

/// Lets another agent answer.
pub fn set_agent(transaction: &Transaction<'_>, id: &str, agent_id: &str) -> Result<()> {
    change(transaction, id, "UPDATE sessions SET current_agent_id = ?2 WHERE id = ?1", &agent_id)
}

/// Lets it speak to a model of a provider from now on.
pub fn set_model(transaction: &Transaction<'_>, id: &str, provider_id: &str, model_id: &str) -> Result<()> {
    get(transaction, id)?;
    transaction.execute(
        "INSERT INTO core_sessions (session_id, provider_id, model_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (session_id) DO UPDATE SET provider_id = ?2, model_id = ?3",
        (id, provider_id, model_id),
    )?;
    Ok(())
}

/// Throws it away; [`restore`] brings it back.
pub fn delete(transaction: &Transaction<'_>, id: &str, now: i64) -> Result<()> {
    change(transaction, id, "UPDATE sessions SET deleted_at = ?2 WHERE id = ?1", &now)
}

/// Brings it back.
pub fn restore(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    change(transaction, id, "UPDATE sessions SET deleted_at = ?2 WHERE id = ?1", &rusqlite::types::Null)
}

/// Removes it and all that belongs to it, for good. [`crate::Store::purge`] also clears the log, at once or as soon as it can.
pub(crate) fn purge(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    // The messages, and all rows of the core, go by their foreign keys.
    found(transaction.execute("DELETE FROM sessions WHERE id = ?1", [id])?, id)?;
    crate::log::make_due(transaction)?;
    crate::wipe::clear_free_space(transaction)
}

pub(crate) fn no_session(id: &str) -> Fault {
    Fault::NoSuch { what: format!("session {id:?}") }
}

fn change(transaction: &Transaction<'_>, id: &str, sql: &str, value: &dyn rusqlite::ToSql) -> Result<()> {
    found(transaction.execute(sql, rusqlite::params![id, value])?, id)
}

fn found(changed: usize, id: &str) -> Result<()> {
    if changed == 0 { Err(no_session(id)) } else { Ok(()) }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: required(row, 0)?,
        title: required(row, 1)?,
        agent_id: required(row, 2)?,
        message_count: total(row, 3)?,
        preview: text(row, 4)?,
        deleted_at: time(row, 5)?,
        created_at: time(row, 6)?.unwrap_or(0),
        updated_at: time(row, 7)?.unwrap_or(0),
        model: text(row, 9)?.zip(text(row, 10)?),
    })
}
