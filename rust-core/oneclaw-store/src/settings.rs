//! The app's settings, by key. Secrets do not belong here.

use crate::columns::required;
use crate::error::Result;
use rusqlite::{Connection, OptionalExtension, Transaction};
use std::collections::BTreeMap;

/// One setting.
pub fn get(connection: &Connection, key: &str) -> Result<Option<String>> {
    let mut query = connection.prepare_cached("SELECT value FROM app_settings WHERE key = ?1")?;
    Ok(query.query_row([key], |row| required(row, 0)).optional()?)
}

/// All settings.
pub fn all(connection: &Connection) -> Result<BTreeMap<String, String>> {
    let mut query = connection.prepare_cached("SELECT key, value FROM app_settings")?;
    Ok(query
        .query_map([], |row| Ok((required(row, 0)?, required(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?)
}

/// Keeps a setting.
pub fn set(transaction: &Transaction<'_>, key: &str, value: &str) -> Result<()> {
    transaction.execute("INSERT OR REPLACE INTO app_settings (key, value) VALUES (?1, ?2)", (key, value))?;
    Ok(())
}

/// Goes back to the default.
pub fn remove(transaction: &Transaction<'_>, key: &str) -> Result<()> {
    transaction.execute("DELETE FROM app_settings WHERE key = ?1", [key])?;
    Ok(())
}
