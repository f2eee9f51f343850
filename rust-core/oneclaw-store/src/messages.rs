//! The rows of a conversation: added at the end, read by page, by boundary or by name. A row's texts stay as they were
//! written; only a reply that is still being received grows.
//!
//! Reads follow the core's order: a session is brought into it first ([`crate::Store::prepare`]).

use crate::attachments::{self, Described};
use crate::columns::{count, name, named, required, text, time};
use crate::error::{Fault, Result};
use crate::order;
use crate::place::Place;
use crate::sessions::no_session;
use oneclaw_model::row::{Row, RowType};
use rusqlite::{Connection, OptionalExtension, Params, Transaction};

/// What the list shows of a text at most, in UTF-16 units as Kotlin counts them.
const PREVIEW_UNITS: usize = 100;

// Which rows a read is about, and in which order.
pub(crate) const PAGE: &str = "c.session_id = ?1 AND (c.created_at, c.place) < (?2, ?3)
    ORDER BY c.session_id DESC, c.created_at DESC, c.place DESC LIMIT ?4";
pub(crate) const SINCE: &str = "c.session_id = ?1 AND (c.created_at, c.place) >= (?2, ?3)
    ORDER BY c.session_id, c.created_at, c.place";
pub(crate) const NEXT_PAGE: &str = "c.session_id = ?1 AND (c.created_at, c.place) >= (?2, ?3)
    ORDER BY c.session_id, c.created_at, c.place LIMIT ?4";
pub(crate) const NAMED: &str = "c.message_id = ?1";
pub(crate) const NEWEST_USER: &str =
    "c.session_id = ?1 AND (c.created_at, c.place) < (?2, ?3) AND m.type = 'USER'
    ORDER BY c.session_id DESC, c.created_at DESC, c.place DESC LIMIT 1";

/// A row and what the core keeps beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// The row.
    pub row: Row,
    /// Where it stands.
    pub place: Place,
    /// Whether it is whole.
    pub state: State,
    /// When it was pinned, if it is.
    pub pinned_at: Option<i64>,
    /// How requests shorten it, in the engine's words.
    pub mark: Option<String>,
    /// What the engine measured of exactly these texts.
    pub measure: Option<String>,
}

/// A row as lists show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The row and what is beside it; its attachments are left out of it.
    pub stored: Stored,
    /// What is attached to it; [`attachments::get`] reads the bytes.
    pub attachments: Vec<Described>,
}

/// Whether a row is all there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is.
    Whole,
    /// A reply that is being received; one that stays so was interrupted.
    Partial,
}

/// Adds a row at the end. Time does not run backwards in a session: the place returned has the row's time or the
/// newest one, whichever is later; a time that cannot be becomes the nearest that can.
pub fn append(transaction: &Transaction<'_>, session: &str, row: &Row, state: State) -> Result<Place> {
    order::bring_up_to_date(transaction, session)?;
    let earliest: Option<i64> = transaction
        .prepare_cached(
            "SELECT MAX(IFNULL((SELECT MAX(created_at) FROM core_messages WHERE session_id = ?1 AND created_at < ?3), ?2),
                        IFNULL(CAST(compact_boundary_timestamp AS INTEGER), ?2))
             FROM sessions WHERE id = ?1",
        )?
        .query_row((session, row.created_at, Place::LINE.created_at), |found| found.get(0))
        .optional()?;
    let created_at = Place::bounded(earliest.ok_or_else(|| no_session(session))?.max(row.created_at));
    transaction
        .prepare_cached(
            "INSERT INTO messages (id, session_id, type, content, thinking_content, tool_call_id, tool_name, tool_input,
                tool_output, tool_status, tool_duration_ms, token_count_input, token_count_output, model_id, provider_id,
                created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
        )?
        .execute(rusqlite::params![
            row.id,
            session,
            name(&row.kind),
            row.content,
            row.thinking_content,
            row.tool_call_id,
            row.tool_name,
            row.tool_input,
            row.tool_output,
            row.tool_status.as_ref().map(name),
            row.tool_duration_ms,
            row.token_count_input,
            row.token_count_output,
            row.model_id,
            row.provider_id,
            created_at,
        ])?;
    let rowid = transaction.last_insert_rowid();
    order::place(transaction, rowid)?;
    order::remember(transaction, rowid)?;
    keep_beside(transaction, row, state)?;
    attachments::add(transaction, row)?;
    touch(transaction, session, row, created_at, 1)?;
    place_of(transaction, &row.id)
}

/// Writes what a row has become: a reply that grew, a tool call that ended. Its kind, time and attachments stay. What was
/// measured of other texts is forgotten.
pub fn update(transaction: &Transaction<'_>, row: &Row, state: State, now: i64) -> Result<()> {
    forget_measure_of_other_texts(transaction, row)?;
    let session: Option<String> = transaction
        .prepare_cached(
            "UPDATE messages SET content = ?2, thinking_content = ?3, tool_call_id = ?4, tool_name = ?5, tool_input = ?6,
                tool_output = ?7, tool_status = ?8, tool_duration_ms = ?9, token_count_input = ?10,
                token_count_output = ?11, model_id = ?12, provider_id = ?13
             WHERE id = ?1 RETURNING session_id",
        )?
        .query_row(
            rusqlite::params![
                row.id,
                row.content,
                row.thinking_content,
                row.tool_call_id,
                row.tool_name,
                row.tool_input,
                row.tool_output,
                row.tool_status.as_ref().map(name),
                row.tool_duration_ms,
                row.token_count_input,
                row.token_count_output,
                row.model_id,
                row.provider_id,
            ],
            |found| found.get(0),
        )
        .optional()?;
    let session = session.ok_or_else(|| no_message(&row.id))?;
    order::bring_up_to_date(transaction, &session)?;
    keep_beside(transaction, row, state)?;
    touch(transaction, &session, row, now, 0)
}

/// Lets the reasoning of a reply or call go back to no model any more. What people read of it stays.
pub fn forget_reasoning(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    transaction.execute(
        "UPDATE core_messages SET trace = NULL, thinking_signature = NULL, measure = NULL, measured_bytes = NULL
         WHERE message_id = ?1",
        [id],
    )?;
    // Of a call it is the signature, which nobody reads.
    transaction
        .execute("UPDATE messages SET thinking_content = NULL WHERE id = ?1 AND type = 'TOOL_CALL'", [id])?;
    Ok(())
}

/// Puts a message in line: it stands after all others, also those that are still to come, until [`move_to_end`] gives it a
/// place among them. What the user writes while a reply is coming in must not stand inside that turn.
pub fn put_in_line(transaction: &Transaction<'_>, session: &str, id: &str) -> Result<()> {
    place_in(transaction, session, id)?;
    transaction.execute(
        "UPDATE core_messages SET created_at = ?2, place = (
            SELECT IFNULL(MAX(place) + 1, 0) FROM core_messages WHERE session_id = ?3 AND created_at = ?2)
         WHERE message_id = ?1",
        (id, Place::LINE.created_at, session),
    )?;
    Ok(())
}

/// The messages in line, the first one first.
pub fn in_line(connection: &Connection, session: &str) -> Result<Vec<String>> {
    let mut query = connection.prepare_cached(
        "SELECT message_id FROM core_messages WHERE session_id = ?1 AND created_at >= ?2
         ORDER BY session_id, created_at, place",
    )?;
    let ids = query.query_map((session, Place::LINE.created_at), |row| required(row, 0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Puts a message after all others of its session that have a place.
pub fn move_to_end(transaction: &Transaction<'_>, session: &str, id: &str) -> Result<Place> {
    order::bring_up_to_date(transaction, session)?;
    let place = place_in(transaction, session, id)?;
    let newest: Option<Place> = transaction
        .prepare_cached(
            "SELECT created_at, place FROM core_messages WHERE session_id = ?1 AND created_at < ?2
             ORDER BY session_id DESC, created_at DESC, place DESC LIMIT 1",
        )?
        .query_row((session, Place::LINE.created_at), |row| {
            Ok(Place { created_at: row.get(0)?, nth: row.get(1)? })
        })
        .optional()?;
    if newest == Some(place) {
        return Ok(place);
    }
    // Not before what readers of the original schema take for covered.
    let earliest: i64 = transaction
        .prepare_cached(
            "SELECT MAX(CAST(m.created_at AS INTEGER),
                IFNULL(CAST(s.compact_boundary_timestamp AS INTEGER), CAST(m.created_at AS INTEGER)))
             FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?1",
        )?
        .query_row([id], |row| row.get(0))?;
    let earliest = Place::bounded(earliest);
    let end = match newest {
        Some(newest) if newest.created_at >= earliest => newest.next(),
        _ => Place::at(earliest),
    };
    transaction.execute(
        "UPDATE core_messages SET created_at = ?2, place = ?3 WHERE message_id = ?1",
        (id, end.created_at, end.nth),
    )?;
    transaction.execute("UPDATE messages SET created_at = ?2 WHERE id = ?1", (id, end.created_at))?;
    Ok(end)
}

/// Takes messages out of their session: another reply, or another question, stands in their place. They are kept as
/// transcript lines ([`taken_out`]).
pub fn take_out(transaction: &Transaction<'_>, session: &str, ids: &[String], now: i64) -> Result<()> {
    order::bring_up_to_date(transaction, session)?;
    for id in ids {
        place_in(transaction, session, id)?;
        let line = serde_json::to_string(&get(transaction, id)?.row)
            .map_err(|error| Fault::Refused { why: error.to_string() })?;
        transaction.execute(
            "INSERT INTO core_replaced (session_id, message, replaced_at) VALUES (?1, ?2, ?3)",
            (session, line, now),
        )?;
        transaction.execute("DELETE FROM messages WHERE id = ?1", [id])?;
    }
    order::forget(transaction, session)?;
    transaction.execute(
        "UPDATE sessions SET message_count = MAX(message_count - ?2, 0), updated_at = MAX(updated_at, ?3)
         WHERE id = ?1",
        (session, ids.len(), now),
    )?;
    Ok(())
}

/// What was taken out of a session, as transcript lines, the oldest first.
pub fn taken_out(connection: &Connection, session: &str) -> Result<Vec<String>> {
    let mut query =
        connection.prepare_cached("SELECT message FROM core_replaced WHERE session_id = ?1 ORDER BY id")?;
    Ok(query.query_map([session], |row| required(row, 0))?.collect::<rusqlite::Result<_>>()?)
}

/// Pins a message, or takes the pin away.
pub fn set_pin(transaction: &Transaction<'_>, id: &str, pinned_at: Option<i64>) -> Result<()> {
    beside(transaction, id, "UPDATE core_messages SET pinned_at = ?2 WHERE message_id = ?1", &pinned_at)
}

/// Keeps how requests shorten a message, or that they no longer do.
pub fn set_mark(transaction: &Transaction<'_>, id: &str, mark: Option<&str>) -> Result<()> {
    beside(transaction, id, "UPDATE core_messages SET mark = ?2 WHERE message_id = ?1", &mark)
}

/// Keeps what was measured of a row's texts. It is handed out until they are updated, and where another app changes them,
/// as long as they are of the same length.
pub fn set_measure(transaction: &Transaction<'_>, row: &Row, measure: &str) -> Result<()> {
    let changed = transaction
        .prepare_cached("UPDATE core_messages SET measure = ?2, measured_bytes = ?3 WHERE message_id = ?1")?
        .execute((&row.id, measure, bytes(row, trace_text(row).as_deref())))?;
    if changed == 0 { Err(no_message(&row.id)) } else { Ok(()) }
}

/// The newest rows before a place, oldest first. [`Place::END`] asks for the newest of all.
pub fn page(connection: &Connection, session: &str, before: Place, limit: usize) -> Result<Vec<Listed>> {
    let mut rows = list(connection, &query(PAGE), (session, before.created_at, before.nth, limit))?;
    rows.reverse();
    Ok(rows)
}

/// Every row from a place on, in order.
pub fn since(connection: &Connection, session: &str, from: Place) -> Result<Vec<Stored>> {
    read(connection, &query(SINCE), (session, from.created_at, from.nth))
}

/// The next rows from a place on, in order.
pub fn next_page(connection: &Connection, session: &str, from: Place, limit: usize) -> Result<Vec<Stored>> {
    read(connection, &query(NEXT_PAGE), (session, from.created_at, from.nth, limit))
}

/// The row of that name.
pub fn get(connection: &Connection, id: &str) -> Result<Stored> {
    read(connection, &query(NAMED), [id])?.pop().ok_or_else(|| no_message(id))
}

/// The row of that name in that session.
pub fn get_in(connection: &Connection, session: &str, id: &str) -> Result<Stored> {
    place_in(connection, session, id)?;
    get(connection, id)
}

/// The rows of those names, in the order of the names; one that is not there is left out.
pub fn by_ids(connection: &Connection, ids: &[String]) -> Result<Vec<Stored>> {
    let rows = ids.iter().map(|id| Ok(read(connection, &query(NAMED), [id])?.pop()));
    rows.filter_map(Result::transpose).collect()
}

/// The newest thing the user wrote before a place.
pub fn newest_user(connection: &Connection, session: &str, before: Place) -> Result<Option<Stored>> {
    Ok(read(connection, &query(NEWEST_USER), (session, before.created_at, before.nth))?.pop())
}

/// The pinned rows, in order.
pub fn pinned(connection: &Connection, session: &str) -> Result<Vec<Stored>> {
    read(connection, &pinned_query(), [session])
}

/// The pinned rows, in order, as lists show them.
pub fn pins(connection: &Connection, session: &str) -> Result<Vec<Listed>> {
    list(connection, &pinned_query(), [session])
}

/// Where a message stands.
pub fn place_of(connection: &Connection, id: &str) -> Result<Place> {
    connection
        .prepare_cached("SELECT created_at, place FROM core_messages WHERE message_id = ?1")?
        .query_row([id], |row| Ok(Place { created_at: row.get(0)?, nth: row.get(1)? }))
        .optional()?
        .ok_or_else(|| no_message(id))
}

/// Where a message of that session stands.
pub(crate) fn place_in(connection: &Connection, session: &str, id: &str) -> Result<Place> {
    connection
        .prepare_cached(
            "SELECT created_at, place FROM core_messages WHERE message_id = ?1 AND session_id = ?2",
        )?
        .query_row([id, session], |row| Ok(Place { created_at: row.get(0)?, nth: row.get(1)? }))
        .optional()?
        .ok_or_else(|| no_message(id))
}

/// The query behind every read, for those who look at how SQLite carries it out. The side table drives it: it is in
/// order, and each row leads to one message by name.
pub(crate) fn query(condition: &str) -> String {
    query_by("", condition)
}

/// The query for pinned rows. Left to itself, SQLite would look at every row of the session.
pub(crate) fn pinned_query() -> String {
    let condition =
        "c.session_id = ?1 AND c.pinned_at IS NOT NULL ORDER BY c.session_id, c.created_at, c.place";
    query_by("INDEXED BY core_messages_pinned", condition)
}

fn query_by(index: &str, condition: &str) -> String {
    format!(
        "SELECT m.id, m.type, m.content, m.thinking_content, m.tool_call_id, m.tool_name, m.tool_input, m.tool_output,
            m.tool_status, m.tool_duration_ms, m.token_count_input, m.token_count_output, m.model_id, m.provider_id,
            c.created_at, c.place, c.cache_read, c.cache_write, c.thinking_signature, c.is_partial, c.pinned_at, c.mark,
            c.measure, c.measured_bytes, m.created_at, c.trace
         FROM core_messages c {index} CROSS JOIN messages m ON m.id = c.message_id WHERE {condition}"
    )
}

/// Rows with all that is attached to them.
fn read(connection: &Connection, sql: &str, parameters: impl Params) -> Result<Vec<Stored>> {
    each(connection, sql, parameters, |mut stored| {
        stored.row.attachments = attachments::of(connection, &stored.row.id)?;
        Ok(stored)
    })
}

/// Rows with a description of what is attached to them.
fn list(connection: &Connection, sql: &str, parameters: impl Params) -> Result<Vec<Listed>> {
    each(connection, sql, parameters, |stored| {
        let attachments = attachments::described(connection, &stored.row.id)?;
        Ok(Listed { stored, attachments })
    })
}

fn each<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
    mut take: impl FnMut(Stored) -> Result<T>,
) -> Result<Vec<T>> {
    let mut query = connection.prepare_cached(sql)?;
    let mut rows = query.query(parameters)?;
    let mut taken = Vec::new();
    while let Some(row) = rows.next()? {
        taken.push(take(one(row)?)?);
    }
    Ok(taken)
}

/// A row without what is attached to it.
fn one(row: &rusqlite::Row<'_>) -> Result<Stored> {
    let place = Place { created_at: row.get(14)?, nth: row.get(15)? };
    let measured_bytes = time(row, 23)?;
    let trace = text(row, 25)?;
    let flat = Row {
        id: required(row, 0)?,
        // A kind that is not known is shown and never sent.
        kind: named(row, 1)?.unwrap_or(RowType::System),
        content: required(row, 2)?,
        thinking_content: text(row, 3)?,
        tool_call_id: text(row, 4)?,
        tool_name: text(row, 5)?,
        tool_input: text(row, 6)?,
        tool_output: text(row, 7)?,
        tool_status: named(row, 8)?,
        tool_duration_ms: count(row, 9)?,
        token_count_input: count(row, 10)?,
        token_count_output: count(row, 11)?,
        model_id: text(row, 12)?,
        provider_id: text(row, 13)?,
        // One in line has no place by its time yet.
        created_at: if place.is_in_line() { time(row, 24)?.unwrap_or(0) } else { place.created_at },
        cache_read: count(row, 16)?,
        cache_write: count(row, 17)?,
        thinking_signature: text(row, 18)?,
        // One that cannot be read is none: the reply stays, its reasoning does not go back.
        trace: trace.as_deref().and_then(|json| serde_json::from_str(json).ok()),
        attachments: vec![],
    };
    let measure = text(row, 22)?.filter(|_| measured_bytes == Some(bytes(&flat, trace.as_deref())));
    let state = if row.get(19)? { State::Partial } else { State::Whole };
    Ok(Stored { row: flat, place, state, pinned_at: time(row, 20)?, mark: text(row, 21)?, measure })
}

/// How long a row's texts are together, with its trace as it is kept.
fn bytes(row: &Row, trace: Option<&str>) -> i64 {
    let texts =
        [&row.thinking_content, &row.thinking_signature, &row.tool_name, &row.tool_input, &row.tool_output];
    let trace = trace.map_or(0, str::len);
    let sum = row.content.len() + trace + texts.into_iter().flatten().map(String::len).sum::<usize>();
    i64::try_from(sum).unwrap_or(i64::MAX)
}

/// What is kept of a reply's trace.
fn trace_text(row: &Row) -> Option<String> {
    row.trace.as_ref().and_then(|trace| serde_json::to_string(trace).ok())
}

/// The texts are those that [`bytes`] counts.
fn forget_measure_of_other_texts(transaction: &Transaction<'_>, row: &Row) -> Result<()> {
    transaction
        .prepare_cached(
            "UPDATE core_messages SET measure = NULL, measured_bytes = NULL
             WHERE message_id = ?1 AND measure IS NOT NULL AND NOT (thinking_signature IS ?2 AND trace IS ?8 AND EXISTS (
                SELECT 1 FROM messages m WHERE m.id = ?1 AND m.content IS ?3 AND m.thinking_content IS ?4
                    AND m.tool_name IS ?5 AND m.tool_input IS ?6 AND m.tool_output IS ?7))",
        )?
        .execute((
            &row.id,
            &row.thinking_signature,
            &row.content,
            &row.thinking_content,
            &row.tool_name,
            &row.tool_input,
            &row.tool_output,
            trace_text(row),
        ))?;
    Ok(())
}

fn keep_beside(transaction: &Transaction<'_>, row: &Row, state: State) -> Result<()> {
    transaction
        .prepare_cached(
            "UPDATE core_messages SET cache_read = ?2, cache_write = ?3, thinking_signature = ?4, is_partial = ?5,
                trace = ?6
             WHERE message_id = ?1",
        )?
        .execute((
            &row.id,
            row.cache_read,
            row.cache_write,
            &row.thinking_signature,
            state == State::Partial,
            trace_text(row),
        ))?;
    Ok(())
}

/// What the list shows of the session after a row was saved. A row without text leaves the preview as it was.
fn touch(transaction: &Transaction<'_>, session: &str, row: &Row, now: i64, added: i64) -> Result<()> {
    let text = Some(row.content.trim()).filter(|text| !text.is_empty()).map(preview);
    transaction
        .prepare_cached(
            "UPDATE sessions SET message_count = message_count + ?2, updated_at = MAX(updated_at, ?3),
                last_message_preview = IFNULL(?4, last_message_preview)
             WHERE id = ?1",
        )?
        .execute((session, added, now, text))?;
    Ok(())
}

fn preview(text: &str) -> String {
    let mut units = 0;
    text.chars()
        .take_while(|c| {
            units += c.len_utf16();
            units <= PREVIEW_UNITS
        })
        .collect()
}

fn beside(transaction: &Transaction<'_>, id: &str, sql: &str, value: &dyn rusqlite::ToSql) -> Result<()> {
    match transaction.prepare_cached(sql)?.execute(rusqlite::params![id, value])? {
        0 => Err(no_message(id)),
        _ => Ok(()),
    }
}

/// Whether a message of that name is anywhere in the file.
pub(crate) fn is_there(connection: &Connection, id: &str) -> Result<bool> {
    Ok(connection.prepare_cached("SELECT 1 FROM messages WHERE id = ?1")?.exists([id])?)
}

fn no_message(id: &str) -> Fault {
    Fault::NoSuch { what: format!("message {id:?}") }
}
