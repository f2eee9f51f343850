//! How a file is looked at without changing a byte of it, and without leaving anything beside it.

use crate::beside::{Copy, lock_folder, resolved, with_suffix};
use crate::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;
const READ_BY_URI: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI);

/// How often, and how far apart, it is looked whether a file is being opened or closed by somebody.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// How many steps of SQLite a look at a file may take: so many for any, and for each of its bytes. Counting all there is
/// takes less than one for each byte of small rows.
const LEAST_STEPS: u64 = 10_000_000;
const STEPS_PER_BYTE: u64 = 10;
const MOST_STEPS: u64 = 20_000_000_000;
const STEPS_AT_ONCE: u16 = 10_000;

/// Looks at a file, all from one state of it.
///
/// SQLite makes a log and its index beside a file that keeps one, even to read it, and leaves them there. So a file that
/// nobody has open is read as one that does not change; should that turn out wrong, it is read again the ordinary way. A
/// file that a writer was killed over may be readable only after its log was played, which is writing: then a copy is
/// looked at.
pub(crate) fn look<T>(
    path: &Path,
    query: impl Fn(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let path = &resolved(path)?;
    check_presence(path)?;
    for _ in 0..TRIES {
        // Who has a file open that keeps a log has the log open too.
        if !is_beside(path, "-wal") && keeps_log(path) {
            let before = settled_stamp(path);
            let answer = open_unchanging(path).and_then(|connection| ask(path, connection, &query));
            if !is_beside(path, "-wal") && stamp(path) == before {
                return answer;
            }
        }
        // A log without its index is one that nobody has open; to read it here would leave an index. But the log comes
        // first and goes last: somebody may just be opening or closing the file.
        if is_beside(path, "-wal") && !is_beside(path, "-shm") {
            std::thread::sleep(PAUSE);
            continue;
        }
        match connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
            Err(e) if needs_recovery(&e) => break,
            other => return ask(path, other.map_err(|e| refused(path, &e))?, &query),
        }
    }
    ask(path, open_copy(path)?, &query)
}

/// A connection that waits for others, to a file that can be read.
pub(crate) fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(crate::open::BUSY_TIMEOUT)?;
    distrust(&connection)?;
    // Opening alone reads nothing.
    connection.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
    Ok(connection)
}

/// Whether there is a log with something in it.
pub(crate) fn has_log(path: &Path, suffix: &str) -> bool {
    std::fs::metadata(with_suffix(path, suffix)).is_ok_and(|log| log.len() > 0)
}

/// Lets nothing run that a file brings with it, and takes none of its pages for sound unseen. Files with triggers and
/// views are refused; this holds should one get there later.
fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    for setting in [
        DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER,
        DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW,
        DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    ] {
        connection.set_db_config(setting, false)?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Ends a question that takes more steps than a file of that size can need.
fn limit_steps(connection: &mut Connection, bytes: u64) -> rusqlite::Result<()> {
    let most = bytes.saturating_mul(STEPS_PER_BYTE).saturating_add(LEAST_STEPS).min(MOST_STEPS);
    let mut left = most / u64::from(STEPS_AT_ONCE);
    let handler = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(i32::from(STEPS_AT_ONCE), Some(handler))
}

fn ask<T>(
    path: &Path,
    mut connection: Connection,
    query: impl Fn(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let bytes = std::fs::metadata(path).map_err(|e| StoreError::of_io(path, &e))?.len();
    limit_steps(&mut connection, bytes).map_err(|e| refused(path, &e))?;
    let snapshot = connection.unchecked_transaction().map_err(|e| refused(path, &e))?;
    check_length(path, &snapshot)?;
    query(&snapshot)
}

fn is_beside(path: &Path, suffix: &str) -> bool {
    with_suffix(path, suffix).exists()
}

/// What changes where somebody writes to the file itself.
fn stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// The same, when the next change would show: the clock of a file system ticks every few milliseconds only.
fn settled_stamp(path: &Path) -> Option<(u64, SystemTime)> {
    let (_, modified) = stamp(path)?;
    if modified.elapsed().is_ok_and(|age| age < PAUSE) {
        std::thread::sleep(PAUSE);
    }
    stamp(path)
}

/// Whether SQLite keeps a log beside this file. It says so without making one: a log is not kept without locks. The
/// file's own bytes would tell too, but to open and close a file takes away the locks that this process has on it.
fn keeps_log(path: &Path) -> bool {
    connect(&uri(path, "nolock"), READ_BY_URI).is_err_and(|e| is_not_opened(&e))
}

fn open_unchanging(path: &Path) -> Result<Connection, StoreError> {
    connect(&uri(path, "immutable"), READ_BY_URI).map_err(|e| match is_not_opened(&e) {
        true => StoreError::Unreadable { path: path.to_owned() },
        false => refused(path, &e),
    })
}

/// The path as SQLite takes it with an option.
fn uri(path: &Path, option: &str) -> PathBuf {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02x}")),
        }
    }
    format!("{uri}?{option}=1").into()
}

fn open_copy(path: &Path) -> Result<Connection, StoreError> {
    let _lock = lock_folder(path);
    let copy = Copy::of(path)?;
    // The copy goes at once; the connection keeps what it has open.
    connect(&copy.file(), OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|e| refused(path, &e))
}

fn is_not_opened(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::CannotOpen)
}

fn needs_recovery(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// What the file system tells before SQLite is asked.
fn check_presence(path: &Path) -> Result<(), StoreError> {
    let owned = || path.to_owned();
    let metadata = std::fs::metadata(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => StoreError::Missing { path: owned() },
        ErrorKind::PermissionDenied => StoreError::Unreadable { path: owned() },
        _ => StoreError::of_io(path, &e),
    })?;
    if metadata.is_dir() {
        return Err(StoreError::Folder { path: owned() });
    }
    if !metadata.is_file() {
        return Err(StoreError::NotAFile { path: owned() });
    }
    match metadata.len() {
        0 => Err(StoreError::Empty { path: owned() }),
        // SQLite takes a single byte for nothing, and would fill the file.
        1 => Err(StoreError::NotADatabase { path: owned() }),
        _ => Ok(()),
    }
}

/// SQLite takes a last page that is cut short for a whole one. Where there is a log, pages may be in it.
fn check_length(path: &Path, snapshot: &Connection) -> Result<(), StoreError> {
    let number = |pragma: &str| {
        let found = snapshot.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, u64>(0));
        found.map_err(|e| refused(path, &e))
    };
    let expected = number("page_size")?.saturating_mul(number("page_count")?);
    let metadata = std::fs::metadata(path).map_err(|e| StoreError::of_io(path, &e))?;
    if metadata.len() < expected && !has_log(path, "-wal") && !has_log(path, "-journal") {
        return Err(StoreError::cut_off(path, metadata.len(), expected));
    }
    Ok(())
}

/// Why SQLite refuses a file, in more words where its first bytes tell more. They are only looked at here: to open and
/// close a file that is in use takes away the locks that this process has on it.
fn refused(path: &Path, error: &rusqlite::Error) -> StoreError {
    let told = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => check_bytes(path).err(),
        _ => None,
    };
    told.unwrap_or_else(|| StoreError::of_sqlite(path, error))
}

/// What the header of a file tells.
fn check_bytes(path: &Path) -> Result<(), StoreError> {
    let io = |e: std::io::Error| StoreError::of_io(path, &e);
    let owned = || path.to_owned();
    let metadata = std::fs::metadata(path).map_err(io)?;
    let mut header = Vec::new();
    File::open(path).and_then(|f| f.take(HEADER as u64).read_to_end(&mut header)).map_err(io)?;
    if !header.starts_with(MAGIC) {
        return Err(StoreError::NotADatabase { path: owned() });
    }
    let number = |at: usize, len: usize| {
        header.get(at..at + len).map(|bytes| bytes.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte)))
    };
    let (Some(page), Some(change), Some(pages), Some(valid_for)) =
        (number(16, 2), number(24, 4), number(28, 4), number(92, 4))
    else {
        return Err(StoreError::Damaged { path: owned(), what: "its header is cut off".into() });
    };
    let page = if page == 1 { 65_536 } else { page };
    // The header's page count is only to be trusted where both counters agree; and where a writer was killed, pages that
    // are not in the file yet are in its log.
    let has_log = has_log(path, "-wal") || has_log(path, "-journal");
    if change == valid_for && metadata.len() < page * pages && !has_log {
        return Err(StoreError::cut_off(path, metadata.len(), page * pages));
    }
    Ok(())
}
