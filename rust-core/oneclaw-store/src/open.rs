//! Opens a file: creates it where there is none, brings it up to date where it is old, and leaves anything else alone.

use crate::error::StoreError;
use crate::file::{self, Look, with_suffix};
use crate::migrate::{self, CURRENT, Change};
use crate::seed;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a caller waits for another one.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An open database file, the one writer of it.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    change: Option<Change>,
}

impl Store {
    /// Opens a file, or creates it. `now` is milliseconds since 1970.
    pub fn open(path: &Path, now: i64) -> Result<Self, StoreError> {
        match Self::open_existing(path) {
            Err(StoreError::Missing { .. }) => {
                match create(path, now) {
                    // Where it is there all the same, another process was faster.
                    Err(error) if !path.exists() => Err(error),
                    _ => Self::open_existing(path),
                }
            }
            other => other,
        }
    }

    /// Opens a file that is there.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
        // Nothing is written before the file is known to be ours: a connection that may write can change a file on
        // closing, even one it only looked at.
        let found = file::version(path, &Look::at(path)?.connection)?;
        let mut connection = file::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
        set_up(&connection).map_err(sqlite)?;
        let change = if found < CURRENT { migrate_file(&mut connection, path)? } else { None };
        Ok(Self { path: path.to_owned(), connection, change })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was done to bring the file up to date.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref()
    }

    /// The connection, for reads.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A commit is on the disk when it returns: a phone that dies loses nothing that was said to be saved.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "secure_delete", true)
}

/// All steps in one transaction. Another process may have been faster: the version is read again inside.
fn migrate_file(connection: &mut Connection, path: &Path) -> Result<Option<Change>, StoreError> {
    let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    let found = file::version(path, &transaction)?;
    if found == CURRENT {
        return Ok(None);
    }
    let change = migrate::migrate(&transaction, found).map_err(sqlite)?;
    transaction.commit().map_err(sqlite)?;
    Ok(Some(change))
}

/// A fresh file appears whole or not at all: it is made beside its place and then moved there.
fn create(path: &Path, now: i64) -> Result<(), StoreError> {
    let beside = with_suffix(path, ".new");
    // What a crash has left of an earlier try.
    tidy_up(&beside);
    let made = make(&beside, now).map_err(|e| StoreError::of_sqlite(path, &e));
    let moved = made.and_then(|()| std::fs::rename(&beside, path).map_err(|e| StoreError::of_io(path, &e)));
    if moved.is_err() {
        tidy_up(&beside);
    }
    moved
}

/// Removes what may be there; the error that is reported says more than a failure to tidy up would.
fn tidy_up(beside: &Path) {
    let _ = std::fs::remove_file(beside);
    let _ = std::fs::remove_file(with_suffix(beside, "-journal"));
}

fn make(path: &Path, now: i64) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    seed::create(&transaction, now)?;
    transaction.commit()?;
    connection.close().map_err(|(_, e)| e)
}
