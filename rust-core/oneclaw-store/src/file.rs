//! What a file is, seen without changing a byte of it: one of ours, whole, and of which version.

use crate::error::StoreError;
use crate::look::look;
use crate::migrate::{self, CORE_CURRENT, CURRENT, Change, TABLES, VERSIONS};
use crate::probe::probe;
use crate::schema::{self, Difference, Schema};
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// Room's own table, the core's, and Android's: like the others, they are read only if they are what they should be.
const MASTER: &str = "room_master_table";
const CORE: &str = "core_version";
const ANDROID: &str = "android_metadata";

/// What opening the file would do to it. One that would be changed is looked at more closely.
pub fn examine(path: &Path) -> Result<Change, StoreError> {
    look(path, |connection| {
        let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
        let version = version(path, connection)?;
        let change = migrate::preview(connection, version).map_err(sqlite)?;
        if !change.is_none() {
            let (sample, _) = sample(path, version, change.core_from)?;
            probe(path, connection, &sample, &schema::tables(&sample).map_err(sqlite)?)?;
        }
        Ok(change)
    })
}

/// The schema version of a file that is ours, has all its tables and columns, and nothing in it that would run.
pub(crate) fn version(path: &Path, connection: &Connection) -> Result<i64, StoreError> {
    let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
    let owned = || path.to_owned();
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
    let schema = Schema::read(connection).map_err(sqlite)?;
    let found = (connection, &schema);
    // Android's framework makes its own table before the app makes any.
    if version == 0
        && let Some(tables) = schema.only_tables(&[ANDROID])
    {
        if tables > 0 {
            check(path, found, &sample(path, CURRENT, 0)?, &[ANDROID.to_owned()])?;
        }
        return Err(match unaccounted(connection, tables).map_err(sqlite)? {
            0 => StoreError::Blank { path: owned() },
            pages => {
                StoreError::Damaged { path: owned(), what: format!("no table is on {pages} of its pages") }
            }
        });
    }
    let is_room = schema.has(MASTER);
    // Another app's file may be Room's too.
    if version > CURRENT && is_room && TABLES.iter().all(|table| schema.has(table)) {
        return Err(StoreError::Newer { path: owned(), part: "schema", version, known: CURRENT });
    }
    let Some(known) = VERSIONS.iter().find(|v| v.number == version).filter(|_| is_room) else {
        let found = format!("version {version}, not made by this app");
        return Err(StoreError::Foreign { path: owned(), found });
    };
    let is_ours =
        |name: &str| [MASTER, ANDROID].contains(&name) || TABLES.contains(&name) || name.starts_with("core_");
    if let Some(what) = schema.disguised(is_ours) {
        return Err(StoreError::Untrusted { path: owned(), what });
    }
    let newest = sample(path, CURRENT, CORE_CURRENT)?;
    check(path, found, &newest, &[MASTER.to_owned()])?;
    let hash: Option<String> = connection
        .query_row("SELECT identity_hash FROM room_master_table WHERE id = 42", [], |row| row.get(0))
        .optional()
        .map_err(sqlite)?;
    if hash.as_deref() != Some(known.identity_hash) {
        let found = format!("version {version} with another identity");
        return Err(StoreError::Foreign { path: owned(), found });
    }
    if schema.has(CORE) {
        check(path, found, &newest, &[CORE.to_owned()])?;
    }
    let core = migrate::core_version(connection).map_err(sqlite)?;
    if core > CORE_CURRENT {
        let (part, known) = ("core", CORE_CURRENT);
        return Err(StoreError::Newer { path: owned(), part, version: core, known });
    }
    if let Some(what) = schema.active() {
        return Err(StoreError::Untrusted { path: owned(), what });
    }
    if core < 1 && schema.has_some("core_") {
        return Err(StoreError::Incomplete { path: owned(), missing: "the version in core_version".into() });
    }
    let model =
        if (version, core) == (CURRENT, CORE_CURRENT) { newest } else { sample(path, version, core)? };
    let mut tables = schema::tables(&model.0).map_err(sqlite)?;
    // Only Android makes it.
    tables.retain(|table| table != ANDROID || schema.has(ANDROID));
    check(path, found, &model, &tables)?;
    Ok(version)
}

/// An empty file of those versions, with what it defines.
fn sample(path: &Path, version: i64, core: i64) -> Result<(Connection, Schema), StoreError> {
    let sqlite = |e: rusqlite::Error| StoreError::of_sqlite(path, &e);
    let sample = migrate::sample(version, core).map_err(sqlite)?;
    let schema = Schema::read(&sample).map_err(sqlite)?;
    Ok((sample, schema))
}

/// Refuses the file if one of its tables is not as in that sample.
fn check(
    path: &Path,
    found: (&Connection, &Schema),
    (sample, model): &(Connection, Schema),
    tables: &[String],
) -> Result<(), StoreError> {
    let path = || path.to_owned();
    for table in tables {
        match schema::difference(found, (sample, model), table) {
            Ok(None) => {}
            Ok(Some(Difference::Missing(missing))) => {
                return Err(StoreError::Incomplete { path: path(), missing });
            }
            Ok(Some(Difference::Strange(what))) => return Err(StoreError::Untrusted { path: path(), what }),
            Err(error) => return Err(StoreError::of_sqlite(&path(), &error)),
        }
    }
    Ok(())
}

/// How many pages are in use that a file with so many small tables has no use for: there was more in it once.
fn unaccounted(connection: &Connection, tables: u64) -> rusqlite::Result<u64> {
    let number =
        |pragma: &str| connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, u64>(0));
    let used = number("page_count")?.saturating_sub(number("freelist_count")?);
    // The schema, and the map of pages that Android's SQLite keeps.
    Ok(used.saturating_sub(2 + tables))
}
