//! The log after a purge. What was purged stands in the log until that is truncated, which somebody who reads at the time
//! prevents. So the file remembers that it is due, and it is tried again after later writes and when the file is opened.

use rusqlite::{Connection, Transaction};
use std::time::Duration;

/// Keeps that the log has to be truncated once this transaction is in it.
pub(crate) fn make_due(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute("INSERT INTO core_purges DEFAULT VALUES", [])?;
    Ok(())
}

/// Whether the log has to be truncated.
pub(crate) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM core_purges)", [], |row| row.get(0))
}

/// Truncates the log if that is due; waits no longer than that for those who read. Says whether nothing is due any more.
pub(crate) fn truncate(connection: &Connection, wait: Duration) -> rusqlite::Result<bool> {
    connection.busy_timeout(wait)?;
    let is_done = try_to_truncate(connection);
    connection.busy_timeout(crate::open::BUSY_TIMEOUT)?;
    is_done
}

fn try_to_truncate(connection: &Connection) -> rusqlite::Result<bool> {
    // Purges that come after this one have to truncate the log again.
    let newest: Option<i64> =
        connection.query_row("SELECT MAX(id) FROM core_purges", [], |row| row.get(0))?;
    let Some(newest) = newest else { return Ok(true) };
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if !is_busy {
        connection.execute("DELETE FROM core_purges WHERE id <= ?1", [newest])?;
    }
    Ok(!is_busy)
}
