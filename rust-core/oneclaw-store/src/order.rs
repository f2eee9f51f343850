//! Puts messages in order. The original schema has no index for it, so the order stands in a table of the core, and rows
//! that another app has added since are put into it before a session is used.
//!
//! Rows are found by SQLite's own row number, which grows with insertion and which the index on the session carries. It
//! is a hint only: should it not be what it was (another tool may rewrite a file), every row is looked at again. Names and
//! times are handed from table to table without being read here: another app may have written them in its own way.

use crate::error::{Fault, Result};
use crate::place::Place;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Transaction};

/// The newest message.
pub(crate) const NEWEST: &str =
    "SELECT rowid FROM messages WHERE session_id = ?1 ORDER BY rowid DESC LIMIT 1";
/// The message up to which all are in order, where it still is what it was: a message that was removed and added again
/// may get its old number, but has lost its place.
pub(crate) const REMEMBERED: &str = "SELECT m.rowid FROM core_sessions s
    CROSS JOIN messages m ON m.rowid = s.ordered_rowid AND m.id = s.ordered_id AND m.session_id = s.session_id
    CROSS JOIN core_messages c ON c.message_id = m.id AND c.session_id = m.session_id
    WHERE s.session_id = ?1";

/// Messages whose place is at a time between these.
pub(crate) const BETWEEN: &str =
    "SELECT m.rowid FROM core_messages c CROSS JOIN messages m ON m.id = c.message_id
    WHERE c.session_id = ?1 AND c.created_at > ?2 AND c.created_at < ?3
    ORDER BY c.session_id, c.created_at, c.place LIMIT ?4";

/// Whether every message of the session is in order. Takes the same time for any length.
pub fn is_current(connection: &Connection, session: &str) -> Result<bool> {
    let newest = row_number(connection, NEWEST, session)?;
    let is_ordered = newest.is_none() || newest == row_number(connection, REMEMBERED, session)?;
    Ok(is_ordered && misplaced(connection, session, 1)?.is_empty())
}

/// Puts the messages in order that are not. Does nothing where all are.
pub fn bring_up_to_date(transaction: &Transaction<'_>, session: &str) -> Result<()> {
    bring_part_up_to_date(transaction, session, i64::MAX).map(drop)
}

/// Puts so many messages in order that are not; says whether all are then. Each call gets further than the one before, or
/// fails: in a damaged file the newest message may be one that no search forward finds.
pub(crate) fn bring_part_up_to_date(
    transaction: &Transaction<'_>,
    session: &str,
    limit: i64,
) -> Result<bool> {
    // An earlier version took any time that it was given.
    let misplaced = misplaced(transaction, session, limit)?;
    for rowid in &misplaced {
        place(transaction, *rowid)?;
    }
    if misplaced.len() as i64 >= limit {
        return Ok(false);
    }
    let newest = row_number(transaction, NEWEST, session)?;
    let remembered = row_number(transaction, REMEMBERED, session)?;
    if newest.is_none() || newest == remembered {
        return Ok(true);
    }
    let mut unordered = transaction.prepare_cached(
        "SELECT rowid FROM messages WHERE session_id = ?1 AND rowid > ?2 ORDER BY rowid LIMIT ?3",
    )?;
    let mut rows = unordered.query((session, remembered.unwrap_or(i64::MIN), limit))?;
    let mut last = None;
    while let Some(row) = rows.next()? {
        let rowid = row.get(0)?;
        place(transaction, rowid)?;
        last = Some(rowid);
    }
    if let Some(last) = last {
        remember(transaction, last)?;
    }
    if last.is_none() || row_number(transaction, REMEMBERED, session)? != last {
        return Err(Fault::Damaged { what: "the messages of a session are out of order".to_owned() });
    }
    Ok(last == newest)
}

/// So many messages of a session that stand at a time that no message may have; those in line are none.
fn misplaced(connection: &Connection, session: &str, limit: i64) -> Result<Vec<i64>> {
    let line = Value::Integer(Place::LINE.created_at);
    // In SQLite's order every number, and every text, lies between these two.
    let (first, last) = (Value::Real(f64::NEG_INFINITY), Value::Blob(vec![]));
    let ranges = [
        (first, Value::Integer(Place::EARLIEST)),
        (Value::Integer(Place::LATEST), line.clone()),
        (line, last),
    ];
    let mut query = connection.prepare_cached(BETWEEN)?;
    let mut found: Vec<i64> = Vec::new();
    for (after, before) in ranges {
        let rows = query.query_map((session, after, before, limit - found.len() as i64), |row| row.get(0))?;
        for row in rows {
            found.push(row?);
        }
    }
    Ok(found)
}

/// Gives a message the next place of its millisecond, unless it has one there. A time that cannot be becomes the nearest
/// that can.
pub(crate) fn place(transaction: &Transaction<'_>, rowid: i64) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO core_messages (session_id, created_at, message_id, place)
             SELECT session_id, time, id, (
                SELECT IFNULL(MAX(c.place) + 1, 0) FROM core_messages c
                WHERE c.session_id = m.session_id AND c.created_at = m.time)
             FROM (SELECT session_id, id, MIN(MAX(CAST(created_at AS INTEGER), ?2), ?3) time
                FROM messages WHERE rowid = ?1) m WHERE true
             ON CONFLICT (message_id) DO UPDATE
                SET session_id = excluded.session_id, created_at = excluded.created_at, place = excluded.place
                WHERE (session_id, created_at) <> (excluded.session_id, excluded.created_at)",
        )?
        .execute((rowid, Place::EARLIEST, Place::LATEST))?;
    Ok(())
}

/// Keeps that a session is in order up to its newest row, after rows of it were removed.
pub(crate) fn forget(transaction: &Transaction<'_>, session: &str) -> Result<()> {
    match row_number(transaction, NEWEST, session)? {
        Some(newest) => remember(transaction, newest),
        None => {
            transaction.execute(
                "UPDATE core_sessions SET ordered_rowid = NULL, ordered_id = NULL WHERE session_id = ?1",
                [session],
            )?;
            Ok(())
        }
    }
}

/// Keeps up to which row its session is in order.
pub(crate) fn remember(transaction: &Transaction<'_>, rowid: i64) -> Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO core_sessions (session_id, ordered_rowid, ordered_id)
             SELECT session_id, rowid, id FROM messages WHERE rowid = ?1
             ON CONFLICT (session_id) DO UPDATE
                SET ordered_rowid = excluded.ordered_rowid, ordered_id = excluded.ordered_id",
        )?
        .execute([rowid])?;
    Ok(())
}

fn row_number(connection: &Connection, sql: &str, session: &str) -> Result<Option<i64>> {
    let mut query = connection.prepare_cached(sql)?;
    Ok(query.query_row([session], |row| row.get(0)).optional()?)
}
