//! What is attached to messages. It is added with them and goes with them. Lists only describe it: its bytes may be a
//! thousand times as large as all they show, and are read one by one.

use crate::columns::{count, required, total};
use crate::error::{Fault, Result};
use oneclaw_model::{Attachment, Row};
use rusqlite::{Connection, OptionalExtension, Transaction};

/// An attachment without its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    /// Media type, `image/png`.
    pub mime: String,
    /// Name to show.
    pub name: String,
    /// Width in pixels, if it is a picture and known.
    pub width: Option<u32>,
    /// Height in pixels, if it is a picture and known.
    pub height: Option<u32>,
    /// How many bytes it has, to within two, as what is kept is their base64; none where only this description is kept.
    pub size: u64,
}

/// The attachment of a message that has so many before it, with its bytes.
pub fn get(connection: &Connection, message: &str, nth: usize) -> Result<Attachment> {
    connection
        .prepare_cached(
            "SELECT mime, name, width, height, data FROM core_attachments WHERE message_id = ?1
             ORDER BY place LIMIT 1 OFFSET ?2",
        )?
        .query_row((message, nth), one)
        .optional()?
        .ok_or_else(|| Fault::NoSuch { what: format!("attachment {nth} of message {message:?}") })
}

/// What is attached to a message, in order. The length of a text is beside it in the file: the text itself is not read.
pub fn described(connection: &Connection, message: &str) -> Result<Vec<Described>> {
    let mut query = connection.prepare_cached(
        "SELECT mime, name, width, height, octet_length(data) FROM core_attachments WHERE message_id = ?1
         ORDER BY place",
    )?;
    let rows = query.query_map([message], |row| {
        let pixels = |n: Option<u64>| n.and_then(|n| u32::try_from(n).ok());
        Ok(Described {
            mime: required(row, 0)?,
            name: required(row, 1)?,
            width: pixels(count(row, 2)?),
            height: pixels(count(row, 3)?),
            size: total(row, 4)? / 4 * 3,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// All of it, with the bytes.
pub(crate) fn of(connection: &Connection, message: &str) -> Result<Vec<Attachment>> {
    let mut query = connection.prepare_cached(
        "SELECT mime, name, width, height, data FROM core_attachments WHERE message_id = ?1 ORDER BY place",
    )?;
    Ok(query.query_map([message], one)?.collect::<rusqlite::Result<_>>()?)
}

/// Puts beside a row what is attached to it.
pub(crate) fn add(transaction: &Transaction<'_>, row: &Row) -> Result<()> {
    for (place, attachment) in row.attachments.iter().enumerate() {
        transaction
            .prepare_cached(
                "INSERT INTO core_attachments (message_id, place, mime, name, width, height, data)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute((
                &row.id,
                place,
                &attachment.mime,
                &attachment.name,
                attachment.width,
                attachment.height,
                &attachment.data,
            ))?;
    }
    Ok(())
}

fn one(row: &rusqlite::Row<'_>) -> rusqlite::Result<Attachment> {
    Ok(Attachment {
        mime: row.get(0)?,
        name: row.get(1)?,
        width: row.get(2)?,
        height: row.get(3)?,
        data: row.get(4)?,
    })
}
