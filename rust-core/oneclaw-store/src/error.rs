//! What can be wrong with a file or a question to it, in words that say which file and what to do. Never holds what a
//! conversation says.

use rusqlite::{ErrorCode, ffi};
use std::fmt::{self, Write as _};
use std::path::{Path, PathBuf};

/// A path as it can be printed: characters that would steer a terminal, or break the line, are written out.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a>(&'a Path);

/// A path as it can be printed.
pub fn shown(path: &Path) -> Shown<'_> {
    Shown(path)
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string_lossy().chars() {
            match c {
                // Separators of lines, and what turns the direction of writing around.
                '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    write!(f, "{}", c.escape_unicode())?;
                }
                c if c.is_control() => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// What a query ends in.
pub type Result<T> = std::result::Result<T, Fault>;

/// Why a query has no answer; a transaction that ends in one is rolled back. The store adds which file it was.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// The database says no.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// What was asked for is not in the file.
    #[error("has no {what}")]
    NoSuch {
        /// What was asked for.
        what: String,
    },
    /// It must not be.
    #[error("{why}")]
    Refused {
        /// Why not.
        why: String,
    },
    /// What is there contradicts itself.
    #[error("is damaged ({what})")]
    Damaged {
        /// What does not fit together.
        what: String,
    },
}

/// Why a file cannot be used, or a question to it has no answer. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("{}: no such file", shown(path))]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no such file, but a log of it.
    #[error(
        "{}: is missing, but {} is there and may hold conversations; put the file back, or move that one away",
        shown(path),
        shown(log)
    )]
    StrayLog {
        /// Where the file was looked for.
        path: PathBuf,
        /// The log.
        log: PathBuf,
    },
    /// It is a link, and nothing is where that leads.
    #[error(
        "{}: is a link that leads nowhere; remove the link, or put the file back that it leads to",
        shown(path)
    )]
    StrayLink {
        /// The link.
        path: PathBuf,
    },
    /// There is no folder to make it in.
    #[error("{}: its folder is missing; make that first", shown(path))]
    NoFolder {
        /// Where it would be.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("{}: is a folder; name a file in it", shown(path))]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It is a device, a pipe or something else that is no file.
    #[error("{}: is not a regular file; choose another one", shown(path))]
    NotAFile {
        /// What it is called.
        path: PathBuf,
    },
    /// It may not be read.
    #[error("{}: cannot be read; check the permissions of the file and its folder", shown(path))]
    Unreadable {
        /// The file.
        path: PathBuf,
    },
    /// A database without tables. [`crate::Store::open`] fills it.
    #[error(
        "{}: has no tables yet; open it in the app or import something, or choose another file",
        shown(path)
    )]
    Blank {
        /// The file.
        path: PathBuf,
    },
    /// It has no content at all.
    #[error("{}: is empty; remove it to start afresh, or restore a backup", shown(path))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is no SQLite file.
    #[error("{}: is not a SQLite database; choose another file", shown(path))]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// Another program's database.
    #[error("{}: is a database of another program ({found}); choose another file", shown(path))]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What tells.
        found: String,
    },
    /// Written by a newer version.
    #[error(
        "{}: has {part} version {version}, this program knows up to {known}; update the program",
        shown(path)
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Whose version.
        part: &'static str,
        /// Its version.
        version: i64,
        /// The newest version known here.
        known: i64,
    },
    /// It says it is ours, but something is missing.
    #[error("{}: {missing} is missing; restore a backup", shown(path))]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// The table or column.
        missing: String,
    },
    /// Something is in it that would run, or that is not what its name says.
    #[error(
        "{}: has {what}, which this app never makes, and is not used; take that out with another program, or restore a backup",
        shown(path)
    )]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// What it is, and its name.
        what: String,
    },
    /// Its pages are damaged or cut off.
    #[error("{}: is damaged ({what}); restore a backup", shown(path))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite or its header says.
        what: String,
    },
    /// It may not be written.
    #[error("{}: cannot be written; check the permissions of the file and its folder", shown(path))]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else holds it.
    #[error("{}: is in use by another program; close that program and try again", shown(path))]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// No space is left.
    #[error("{}: no space is left on the device; free some and try again", shown(path))]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// What was asked for is not in the file.
    #[error("{}: has no {what}", shown(path))]
    NoSuch {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        what: String,
    },
    /// It must not be done.
    #[error("{}: {why}", shown(path))]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// Anything else.
    #[error("{}: {what}", shown(path))]
    Other {
        /// The file.
        path: PathBuf,
        /// What the system or SQLite says.
        what: String,
    },
}

/// A quota or a limit on a file's size is no full disk to SQLite, but a write that failed. Why it failed only the system's
/// own error would tell, and that cannot be asked for from here: so a device that breaks while it is written is taken for
/// a full one too.
fn has_no_room(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|e| e.extended_code);
    matches!(code, Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE))
}

/// What SQLite says, on one line and not at any length. The words of a schema that it cannot read are left out: in a
/// damaged file they may be anything, what was said in a conversation too.
fn words(error: &rusqlite::Error) -> String {
    const UNREADABLE: &str = "malformed database schema";
    let said = error.to_string();
    one_line(if said.starts_with(UNREADABLE) { UNREADABLE } else { &said })
}

fn one_line(text: &str) -> String {
    const MOST_CHARS: usize = 300;
    let mut line = String::new();
    for c in text.chars().take(MOST_CHARS) {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

impl StoreError {
    /// What a fault means for that file.
    pub(crate) fn of_fault(path: &Path, fault: Fault) -> Self {
        let owned = || path.to_owned();
        match fault {
            Fault::Sqlite(error) => Self::of_sqlite(path, &error),
            Fault::NoSuch { what } => Self::NoSuch { path: owned(), what },
            Fault::Refused { why } => Self::Refused { path: owned(), why },
            Fault::Damaged { what } => Self::Damaged { path: owned(), what },
        }
    }

    /// What an error of SQLite means for that file.
    pub(crate) fn of_sqlite(path: &Path, error: &rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::NotADatabase { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, what: words(error) },
            Some(ErrorCode::OperationInterrupted) => Self::Damaged {
                path,
                what: "it takes more steps to look through than a file of its size".to_owned(),
            },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Self::ReadOnly { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::SystemIoFailure) if has_no_room(error) => Self::Full { path },
            _ => Self::Other { path, what: words(error) },
        }
    }

    /// What an error of SQLite in a table or index of that name means for the file.
    pub(crate) fn of_part(path: &Path, name: &str, error: &rusqlite::Error) -> Self {
        match Self::of_sqlite(path, error) {
            Self::Damaged { path, what } => {
                Self::Damaged { path, what: format!("{}: {what}", one_line(name)) }
            }
            other => other,
        }
    }

    /// What it means that a file has fewer bytes than its pages take.
    pub(crate) fn cut_off(path: &Path, there: u64, expected: u64) -> Self {
        Self::Damaged { path: path.to_owned(), what: format!("{there} of {expected} bytes are there") }
    }

    /// What an error of the file system means for a file that is made or copied.
    pub(crate) fn of_io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let path = path.to_owned();
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Other { path, what: error.to_string() },
        }
    }
}
