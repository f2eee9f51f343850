//! Looks at a file without changing a byte of it: is it one of ours, is it whole, which version is it.

use crate::error::StoreError;
use crate::migrate::{self, CORE_CURRENT, CURRENT, Change, TABLES, VERSIONS};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const HEADER: usize = 100;

/// What opening the file would do to it.
pub fn examine(path: &Path) -> Result<Change, StoreError> {
    let look = Look::at(path)?;
    let version = version(path, &look.connection)?;
    migrate::preview(&look.connection, version).map_err(|e| StoreError::of_sqlite(path, &e))
}

/// A connection that changes nothing of the file.
pub(crate) struct Look {
    pub connection: Connection,
    /// What is looked at instead, where a crash has left a log that has to be played first.
    _copy: Option<Copy>,
}

impl Look {
    /// Looks at a file. One that a writer was killed over can only be read after its log was played back, which is
    /// writing: then a copy is looked at.
    pub fn at(path: &Path) -> Result<Self, StoreError> {
        check_presence(path)?;
        let sqlite = |e: rusqlite::Error| refused(path, &e);
        match connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
            Err(e) if needs_recovery(&e) => {
                let copy = Copy::of(path).map_err(|e| StoreError::of_io(path, &e))?;
                let connection = connect(&copy.file(), OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(sqlite)?;
                Ok(Self { connection, _copy: Some(copy) })
            }
            other => Ok(Self { connection: other.map_err(sqlite)?, _copy: None }),
        }
    }
}

/// The file and its logs in a temporary folder, which goes when the copy does.
struct Copy(PathBuf);

impl Copy {
    fn of(path: &Path) -> std::io::Result<Self> {
        let unique =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let folder = std::env::temp_dir().join(format!("oneclaw-{}-{unique}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let copy = Self(folder);
        for suffix in ["", "-journal", "-wal"] {
            let from = with_suffix(path, suffix);
            if from.exists() {
                std::fs::copy(from, with_suffix(&copy.file(), suffix))?;
            }
        }
        Ok(copy)
    }

    fn file(&self) -> PathBuf {
        self.0.join("copy.db")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A copy that stays behind in the temporary folder does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A connection that waits for others, to a file that can be read.
pub(crate) fn connect(path: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(crate::open::BUSY_TIMEOUT)?;
    // Opening alone reads nothing.
    connection.query_row("PRAGMA schema_version", [], |_| Ok(()))?;
    Ok(connection)
}

fn needs_recovery(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen))
}

/// The path with something added to its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// What the file system tells before SQLite is asked.
fn check_presence(path: &Path) -> Result<(), StoreError> {
    let metadata = std::fs::metadata(path).map_err(|e| StoreError::of_io(path, &e))?;
    if metadata.is_dir() {
        return Err(StoreError::Folder { path: path.to_owned() });
    }
    if metadata.len() == 0 {
        return Err(StoreError::Empty { path: path.to_owned() });
    }
    Ok(())
}

/// Why SQLite refuses a file, in more words where its first bytes tell more. They are only looked at here: to open and
/// close a file that is in use takes away the locks that this process has on it.
fn refused(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
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
    let has_log = ["-wal", "-journal"]
        .iter()
        .any(|suffix| std::fs::metadata(with_suffix(path, suffix)).is_ok_and(|log| log.len() > 0));
    if change == valid_for && metadata.len() < page * pages && !has_log {
        let what = format!("{} of {} bytes are there", metadata.len(), page * pages);
        return Err(StoreError::Damaged { path: owned(), what });
    }
    Ok(())
}

/// The schema version of a file that is ours and has all its tables.
pub(crate) fn version(path: &Path, connection: &Connection) -> Result<i64, StoreError> {
    let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
    let foreign = |found: String| StoreError::Foreign { path: path.to_owned(), found };
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
    let has_master: bool = connection
        .query_row("SELECT COUNT(*) FROM sqlite_master WHERE name = 'room_master_table'", [], |row| {
            row.get(0)
        })
        .map_err(sqlite)?;
    if version > CURRENT && has_master {
        return Err(StoreError::Newer { path: path.to_owned(), part: "schema", version, known: CURRENT });
    }
    let Some(known) = VERSIONS.iter().find(|v| v.number == version).filter(|_| has_master) else {
        return Err(foreign(format!("version {version}, not made by this app")));
    };
    let hash: Option<String> = connection
        .query_row("SELECT identity_hash FROM room_master_table WHERE id = 42", [], |row| row.get(0))
        .optional()
        .map_err(sqlite)?;
    if hash.as_deref() != Some(known.identity_hash) {
        return Err(foreign(format!("version {version} with another identity")));
    }
    let core = migrate::core_version(connection).map_err(sqlite)?;
    if core > CORE_CURRENT {
        let (part, known) = ("core", CORE_CURRENT);
        return Err(StoreError::Newer { path: path.to_owned(), part, version: core, known });
    }
    for (table, columns) in TABLES {
        for column in columns {
            let is_there: bool = connection
                .query_row(
                    "SELECT COUNT(*) FROM pragma_table_info(?1) WHERE name = ?2",
                    (table, column),
                    |row| row.get(0),
                )
                .map_err(sqlite)?;
            if !is_there {
                let missing = format!("column {column} of table {table}");
                return Err(StoreError::Incomplete { path: path.to_owned(), missing });
            }
        }
    }
    Ok(version)
}
