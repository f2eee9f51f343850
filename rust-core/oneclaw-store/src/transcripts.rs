//! Whole conversations in and out.

use crate::agents::GENERAL_ASSISTANT;
use crate::error::{Fault, Result};
use crate::messages::{self, State};
use crate::{Place, epochs, sessions};
use oneclaw_model::{Row, SessionHeader, Transcript};
use rusqlite::{Connection, Transaction};

/// Makes a session of a transcript. Where a message of the same name is in the file already, the new one's name is put
/// behind the session's. The order of the transcript stays: a time that runs backwards becomes that of the row before.
pub fn import(transaction: &Transaction<'_>, transcript: &Transcript, session: &str, now: i64) -> Result<()> {
    let title = transcript.session.title.as_deref().unwrap_or("Imported conversation");
    sessions::create(transaction, session, title, GENERAL_ASSISTANT, now)?;
    for row in &transcript.rows {
        let id = match messages::is_there(transaction, &row.id)? {
            true => format!("{session}/{}", row.id),
            false => row.id.clone(),
        };
        messages::append(transaction, session, &Row { id, ..row.clone() }, State::Whole)?;
    }
    let SessionHeader { compacted_summary, compact_boundary_timestamp, .. } = &transcript.session;
    let boundary = compact_boundary_timestamp.map(Place::bounded);
    epochs::mirror(transaction, session, compacted_summary.as_deref().zip(boundary), now)
}

/// What a session's transcript begins with.
pub fn header(connection: &Connection, session: &str) -> Result<SessionHeader> {
    let title = Some(sessions::get(connection, session)?.title);
    let (compacted_summary, compact_boundary_timestamp) = epochs::columns(connection, session)?;
    Ok(SessionHeader { title, compacted_summary, compact_boundary_timestamp })
}

/// Hands out a session's rows in order until `take` says that it wants no more. They are read a part at a time, so that
/// any length fits into memory.
pub fn rows(connection: &Connection, session: &str, mut take: impl FnMut(Row) -> bool) -> Result<()> {
    const PART: usize = 500;
    let mut last: Option<Place> = None;
    loop {
        let from = last.map_or(Place::START, Place::next);
        let part = messages::next_page(connection, session, from, PART)?;
        if part.is_empty() {
            return Ok(());
        }
        for stored in part {
            // In a damaged file the search may lead back to where it was.
            if last.is_some_and(|last| stored.place <= last) {
                return Err(Fault::Damaged { what: "the messages of a session are out of order".to_owned() });
            }
            last = Some(stored.place);
            if !take(stored.row) {
                return Ok(());
            }
        }
    }
}
