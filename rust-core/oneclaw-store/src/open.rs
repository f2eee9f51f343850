//! Opens a file: creates it where there is none, brings it up to date where it is old, and leaves anything else alone.

use crate::beside::{Beginning, lock_folder, resolved, tidy_up, tidy_up_locked, with_suffix};
use crate::error::{self, StoreError};
use crate::file::{self, examine};
use crate::look::{connect, has_log};
use crate::migrate::{self, Change};
use crate::{log, order, seed, sessions};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a caller waits for another one.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a purge waits for those who read, before it leaves the log to later writes.
const PURGE_WAIT: Duration = Duration::from_millis(100);

/// How many messages are put in order at a time, and how long others have the file to themselves in between: who waits for
/// it looks only now and then whether it is free.
const PART: i64 = 4_000;
const PAUSE: Duration = Duration::from_millis(5);

/// How many readers are kept open for the next read.
const IDLE_READERS: usize = 4;

/// An open database file: one writer, and as many readers as there are reads at a time. It may be shared by threads.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    // Readers first: the writer closes last and takes the log away.
    readers: Mutex<Vec<Connection>>,
    writer: Mutex<Writer>,
    change: Option<Change>,
}

/// The connection that writes.
#[derive(Debug)]
struct Writer {
    connection: Connection,
    /// Whether a purge has left words in the log.
    is_log_due: bool,
}

impl Store {
    /// Opens a file, or creates it. `now` is milliseconds since 1970.
    pub fn open(path: &Path, now: i64) -> Result<Self, StoreError> {
        let path = &resolved(path)?;
        match Self::open_existing(path) {
            Err(StoreError::Missing { .. }) => {
                match create(path, now) {
                    // Where it is there all the same, another process was faster.
                    Err(error) if !path.exists() => Err(error),
                    _ => Self::open_existing(path),
                }
            }
            Err(StoreError::Blank { .. }) => {
                fill(path, now)?;
                Self::open_existing(path)
            }
            other => other,
        }
    }

    /// Opens a file that is there.
    pub fn open_existing(path: &Path) -> Result<Self, StoreError> {
        let path = &resolved(path)?;
        let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
        // Nothing is written before the file is known to be ours: a connection that may write can change a file on
        // closing, even one it only looked at.
        let is_current = examine(path)?.is_none();
        tidy_up(path);
        let mut writer = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
        // SQLite opens what may not be written all the same, for reading.
        if writer.is_readonly("main").map_err(sqlite)? {
            return Err(StoreError::ReadOnly { path: path.to_owned() });
        }
        set_up(&writer).map_err(sqlite)?;
        let change = if is_current { None } else { migrate_file(&mut writer, path)? };
        let is_log_due = log::is_due(&writer).map_err(sqlite)?;
        // Last, because the file itself says whether a log is kept: one that is refused stays as it is.
        keep_log(&writer).map_err(sqlite)?;
        let mut writer = Writer { connection: writer, is_log_due };
        writer.clear_log(Duration::ZERO);
        Ok(Self { path: path.to_owned(), readers: Mutex::default(), writer: Mutex::new(writer), change })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was done to bring the file up to date.
    pub fn change(&self) -> Option<&Change> {
        self.change.as_ref()
    }

    /// Reads, all from one state of the file, whatever is written meanwhile.
    pub fn read<T>(&self, query: impl FnOnce(&Connection) -> error::Result<T>) -> Result<T, StoreError> {
        let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(&self.path, &e);
        let idle = lock(&self.readers).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => connect(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(sqlite)?,
        };
        let answer = {
            let snapshot = reader.unchecked_transaction().map_err(sqlite)?;
            query(&snapshot).map_err(|fault| StoreError::of_fault(&self.path, fault))
        };
        let mut readers = lock(&self.readers);
        if readers.len() < IDLE_READERS {
            readers.push(reader);
        }
        answer
    }

    /// Writes: all of it is on the disk when this returns, or nothing is.
    pub fn write<T>(&self, work: impl FnOnce(&Transaction<'_>) -> error::Result<T>) -> Result<T, StoreError> {
        let mut writer = lock(&self.writer);
        let done = writer.write(work).map_err(|fault| StoreError::of_fault(&self.path, fault))?;
        writer.clear_log(Duration::ZERO);
        Ok(done)
    }

    /// Makes a session ready to be read: rows that another app has added are put in order, a part at a time, so that
    /// others can write in between.
    pub fn prepare(&self, session: &str) -> Result<(), StoreError> {
        if self.read(|connection| order::is_current(connection, session))? {
            return Ok(());
        }
        while !self.write(|transaction| order::bring_part_up_to_date(transaction, session, PART))? {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Removes a session for good: nothing of it stays in the file or its log. Where somebody reads meanwhile, words may
    /// stay in the log until a later write, or until the file is opened again.
    pub fn purge(&self, session: &str) -> Result<(), StoreError> {
        let mut writer = lock(&self.writer);
        let purged = writer.write(|transaction| sessions::purge(transaction, session));
        purged.map_err(|fault| StoreError::of_fault(&self.path, fault))?;
        writer.is_log_due = true;
        writer.clear_log(PURGE_WAIT);
        Ok(())
    }
}

impl Writer {
    fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> error::Result<T>) -> error::Result<T> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }

    /// Takes words that were purged out of the log. Where that fails it stays due: what was asked for is done.
    fn clear_log(&mut self, wait: Duration) {
        if self.is_log_due {
            self.is_log_due = !log::truncate(&self.connection, wait).unwrap_or(false);
        }
    }
}

/// A thread that panicked has rolled its transaction back; the connection is as good as before.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// SQLite does not wait for others when it begins to keep a log.
fn keep_log(connection: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(e) if is_busy(&e) && start.elapsed() < BUSY_TIMEOUT => std::thread::sleep(PAUSE),
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
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
    if migrate::preview(&transaction, found).map_err(sqlite)?.is_none() {
        return Ok(None);
    }
    let change = migrate::migrate(&transaction, found).map_err(sqlite)?;
    transaction.commit().map_err(sqlite)?;
    Ok(Some(change))
}

/// A fresh file appears whole or not at all: it is made beside its place and then moved there.
fn create(path: &Path, now: i64) -> Result<(), StoreError> {
    // One at a time: a second creator would move its own file over one that is already in use.
    let lock = lock_folder(path);
    if lock.as_ref().is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return Err(StoreError::NoFolder { path: path.to_owned() });
    }
    // Whatever is there by now, a link too, is not replaced.
    if std::fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    // SQLite would play it into the fresh file, and it may be the only copy of what it holds.
    if let Some(suffix) = ["-wal", "-journal"].into_iter().find(|suffix| has_log(path, suffix)) {
        return Err(StoreError::StrayLog { path: path.to_owned(), log: with_suffix(path, suffix) });
    }
    // What a crash has left of an earlier try.
    tidy_up_locked(path);
    let io = |e: std::io::Error| StoreError::of_io(path, &e);
    let beside = Beginning::of(path).map_err(io)?;
    make(beside.path(), now).map_err(|e| StoreError::of_sqlite(path, &e))?;
    std::fs::rename(beside.path(), path).map_err(io)
}

/// Fills a database without tables, all in one transaction. Another process may have been faster.
fn fill(path: &Path, now: i64) -> Result<(), StoreError> {
    let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
    if let Err(StoreError::Blank { .. }) = file::version(path, &transaction) {
        seed::create(&transaction, now).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)?;
    }
    Ok(())
}

fn make(path: &Path, now: i64) -> rusqlite::Result<()> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let transaction = connection.transaction()?;
    seed::create(&transaction, now)?;
    transaction.commit()?;
    connection.close().map_err(|(_, e)| e)
}
