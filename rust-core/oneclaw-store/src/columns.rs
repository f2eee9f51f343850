//! Reads columns that another app may have filled with something unexpected: a type that does not fit becomes the
//! nearest value that does, so that one odd row does not lock a conversation away.

use oneclaw_model::ProviderKind;
use rusqlite::Row;
use rusqlite::types::ValueRef;

/// A text, or nothing for null.
pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(n) => Some(n.to_string()),
        ValueRef::Real(n) => Some(n.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

/// A text that is never null in the schema.
pub(crate) fn required(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(text(row, column)?.unwrap_or_default())
}

/// A count that fits a 32-bit column, as the transcript reader demands; anything else is none.
pub(crate) fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(n) => u64::try_from(n).ok().filter(|n| *n <= i32::MAX as u64),
        _ => None,
    })
}

/// How many there are; fewer than none is none.
pub(crate) fn total(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(time(row, column)?.and_then(|n| n.try_into().ok()).unwrap_or(0))
}

/// Yes or no.
pub(crate) fn flag(row: &Row<'_>, column: usize) -> rusqlite::Result<bool> {
    Ok(time(row, column)?.is_some_and(|n| n != 0))
}

/// A point in time.
pub(crate) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<i64>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(n) => Some(n),
        ValueRef::Real(n) => Some(n as i64),
        _ => None,
    })
}

/// A value written as its serde name; one that is not known is none.
pub(crate) fn named<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<T>> {
    Ok(text(row, column)?.and_then(|name| serde_json::from_value(name.into()).ok()))
}

/// The serde name of a value without fields.
pub(crate) fn name<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(_) | Err(_) => String::new(),
    }
}

/// The dialect a provider speaks; a type that is not known is taken for a compatible server.
pub(crate) fn provider_kind(row: &Row<'_>, column: usize) -> rusqlite::Result<ProviderKind> {
    Ok(named(row, column)?.unwrap_or(ProviderKind::OpenAi))
}
