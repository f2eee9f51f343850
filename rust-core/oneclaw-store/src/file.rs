//! What a file is, seen without changing a byte of it: one of ours, whole, and of which version.

use crate::error::StoreError;
use crate::look::look;
use crate::migrate::{self, CORE_CURRENT, CURRENT, Change, TABLES, VERSIONS};
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeSet;
use std::path::Path;

/// What opening the file would do to it.
pub fn examine(path: &Path) -> Result<Change, StoreError> {
    look(path, |connection| {
        let version = version(path, connection)?;
        migrate::preview(connection, version).map_err(|e| StoreError::of_sqlite(path, &e))
    })
}

/// The schema version of a file that is ours and has all its tables and columns.
pub(crate) fn version(path: &Path, connection: &Connection) -> Result<i64, StoreError> {
    let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
    let owned = || path.to_owned();
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
    let names = names(connection).map_err(sqlite)?;
    // Android's framework makes its own table before the app makes any.
    if version == 0 && names.iter().all(|name| name == "android_metadata") {
        return Err(match unaccounted(connection, names.len() as u64).map_err(sqlite)? {
            0 => StoreError::Blank { path: owned() },
            pages => {
                StoreError::Damaged { path: owned(), what: format!("no table is on {pages} of its pages") }
            }
        });
    }
    let is_room = names.contains("room_master_table");
    // Another app's file may be Room's too.
    if version > CURRENT && is_room && TABLES.iter().all(|table| names.contains(*table)) {
        return Err(StoreError::Newer { path: owned(), part: "schema", version, known: CURRENT });
    }
    let Some(known) = VERSIONS.iter().find(|v| v.number == version).filter(|_| is_room) else {
        let found = format!("version {version}, not made by this app");
        return Err(StoreError::Foreign { path: owned(), found });
    };
    let hash: Option<String> = connection
        .query_row("SELECT identity_hash FROM room_master_table WHERE id = 42", [], |row| row.get(0))
        .optional()
        .map_err(sqlite)?;
    if hash.as_deref() != Some(known.identity_hash) {
        let found = format!("version {version} with another identity");
        return Err(StoreError::Foreign { path: owned(), found });
    }
    let core = migrate::core_version(connection).map_err(sqlite)?;
    if core > CORE_CURRENT {
        let (part, known) = ("core", CORE_CURRENT);
        return Err(StoreError::Newer { path: owned(), part, version: core, known });
    }
    if core < 1 && names.iter().any(|name| name.starts_with("core_")) {
        return Err(StoreError::Incomplete { path: owned(), missing: "the version in core_version".into() });
    }
    match missing(connection, version, core).map_err(sqlite)? {
        Some(missing) => Err(StoreError::Incomplete { path: owned(), missing }),
        None => Ok(version),
    }
}

/// How many pages are in use that a file with so many small tables has no use for: there was more in it once.
fn unaccounted(connection: &Connection, tables: u64) -> rusqlite::Result<u64> {
    let number =
        |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, u64>(0));
    let used = number("page_count")?.saturating_sub(number("freelist_count")?);
    // The schema, and the map of pages that Android's SQLite keeps.
    Ok(used.saturating_sub(2 + tables))
}

/// Everything that has a name in the schema.
fn names(connection: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    connection.prepare("SELECT name FROM sqlite_master")?.query_map([], |row| row.get(0))?.collect()
}

/// The first table or column that a file of those versions should have and this one does not.
fn missing(connection: &Connection, version: i64, core: i64) -> rusqlite::Result<Option<String>> {
    for (table, columns) in migrate::columns(version, core)? {
        let found = migrate::columns_of(connection, &table)?;
        if found.is_empty() {
            return Ok(Some(format!("table {table}")));
        }
        if let Some(column) = columns.iter().find(|column| !found.contains(column)) {
            return Ok(Some(format!("column {column} of table {table}")));
        }
    }
    Ok(None)
}
