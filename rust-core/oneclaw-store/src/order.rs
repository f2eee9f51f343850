//! Puts messages in order. The original schema has no index for it, so the order stands in a table of the core, and rows
//! that another app has added since are put into it before a session is used.
//!
//! Rows are found by SQLite's own row number, which grows with insertion and which the index on the session carries. It
//! is a hint only: should it not be what it was (another tool may rewrite a file), every row is looked at again.

use crate::error::Result;
use rusqlite::{Connection, OptionalExtension, Transaction};

const NEWEST: &str = "SELECT rowid, id FROM messages WHERE session_id = ?1 ORDER BY rowid DESC LIMIT 1";
const REMEMBERED: &str = "SELECT ordered_rowid, ordered_id FROM core_sessions
    WHERE session_id = ?1 AND ordered_rowid IS NOT NULL";

/// Whether every message of the session is in order. Takes the same time for any length.
pub fn is_current(connection: &Connection, session: &str) -> Result<bool> {
    let newest = row_number(connection, NEWEST, session)?;
    Ok(newest.is_none() || newest == row_number(connection, REMEMBERED, session)?)
}

/// Puts the messages in order that are not. Does nothing where all are.
pub fn bring_up_to_date(transaction: &Transaction<'_>, session: &str) -> Result<()> {
    let newest = row_number(transaction, NEWEST, session)?;
    let remembered = row_number(transaction, REMEMBERED, session)?;
    let Some((rowid, id)) = newest.filter(|newest| remembered.as_ref() != Some(newest)) else {
        return Ok(());
    };
    let still_there = remembered.filter(|(rowid, id)| {
        transaction
            .prepare_cached("SELECT 1 FROM messages WHERE rowid = ?1 AND id = ?2 AND session_id = ?3")
            .and_then(|mut query| query.exists((rowid, id, session)))
            .unwrap_or(false)
    });
    let mut unordered = transaction.prepare_cached(
        "SELECT id, created_at FROM messages WHERE session_id = ?1 AND rowid > ?2 ORDER BY rowid",
    )?;
    let mut rows = unordered.query((session, still_there.map_or(i64::MIN, |(rowid, _)| rowid)))?;
    while let Some(row) = rows.next()? {
        place(transaction, session, &row.get::<_, String>(0)?, row.get(1)?)?;
    }
    remember(transaction, session, rowid, &id)
}

/// Gives a message the next place of its millisecond, unless it has one.
pub(crate) fn place(transaction: &Transaction<'_>, session: &str, id: &str, created_at: i64) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT OR IGNORE INTO core_messages (session_id, created_at, place, message_id)
             SELECT ?1, ?2, IFNULL(MAX(place) + 1, 0), ?3 FROM core_messages WHERE session_id = ?1 AND created_at = ?2",
        )?
        .execute((session, created_at, id))?;
    Ok(())
}

/// Keeps up to which row the session is in order.
pub(crate) fn remember(transaction: &Transaction<'_>, session: &str, rowid: i64, id: &str) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO core_sessions (session_id, ordered_rowid, ordered_id) VALUES (?1, ?2, ?3)
             ON CONFLICT (session_id) DO UPDATE SET ordered_rowid = ?2, ordered_id = ?3",
        )?
        .execute((session, rowid, id))?;
    Ok(())
}

fn row_number(connection: &Connection, sql: &str, session: &str) -> Result<Option<(i64, String)>> {
    let mut query = connection.prepare_cached(sql)?;
    Ok(query.query_row([session], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}
