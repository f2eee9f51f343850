//! Compactions that were decided and are not finished. After a restart they are found here.

use crate::columns::{required, text};
use crate::error::Result;
use rusqlite::{Connection, Transaction};

/// A compaction that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queued {
    /// The session.
    pub session_id: String,
    /// Why.
    pub reason: String,
    /// What the summary should look at in particular.
    pub focus: Option<String>,
    /// When it was decided.
    pub queued_at: i64,
}

/// Keeps that a session is to be compacted; an earlier entry of it is replaced.
pub fn put(transaction: &Transaction<'_>, entry: &Queued) -> Result<()> {
    transaction.execute(
        "INSERT OR REPLACE INTO core_queue (session_id, reason, focus, queued_at) VALUES (?1, ?2, ?3, ?4)",
        (&entry.session_id, &entry.reason, &entry.focus, entry.queued_at),
    )?;
    Ok(())
}

/// Forgets it: it was made, or given up. A commit does that by itself.
pub fn remove(transaction: &Transaction<'_>, session: &str) -> Result<()> {
    transaction.execute("DELETE FROM core_queue WHERE session_id = ?1", [session])?;
    Ok(())
}

/// All that wait, the oldest first.
pub fn list(connection: &Connection) -> Result<Vec<Queued>> {
    let mut query = connection.prepare_cached(
        "SELECT session_id, reason, focus, queued_at FROM core_queue ORDER BY queued_at, session_id",
    )?;
    let entries = query.query_map([], |row| {
        Ok(Queued {
            session_id: required(row, 0)?,
            reason: required(row, 1)?,
            focus: text(row, 2)?,
            queued_at: row.get(3)?,
        })
    })?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
