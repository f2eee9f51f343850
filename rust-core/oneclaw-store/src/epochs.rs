//! Compactions as records. The newest that is not undone is in force; the session's two columns mirror it for readers of
//! the original schema, and where another app has changed the columns, the columns hold.

use crate::columns::{count, required, text, time};
use crate::error::{Fault, Result};
use crate::order;
use crate::place::Place;
use crate::sessions::no_session;
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

/// One compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Its name in the file.
    pub id: i64,
    /// Counts the compactions of the session, from 1.
    pub number: u64,
    /// The one it was made on top of.
    pub parent: Option<i64>,
    /// The first row it covers that its parent does not.
    pub first: Option<String>,
    /// The last row it covers.
    pub last: Option<String>,
    /// How many rows it covers that its parent does not.
    pub rows: u64,
    /// Where the rows begin that are kept as they are.
    pub boundary: Place,
    /// What stands for everything before.
    pub summary: String,
    /// How the summary came about.
    pub strategy: String,
    /// Why it was made; another app does not say.
    pub reason: Option<String>,
    /// How big the next request was before and after.
    pub tokens: Option<(u64, u64)>,
    /// Who wrote the summary, if a model did.
    pub model: Option<String>,
    /// How many rows were kept as they are; another app does not say.
    pub tail_rows: Option<u64>,
    /// The line that lets an interrupted tool loop go on.
    pub auto_continue: Option<String>,
    /// When it was made.
    pub created_at: i64,
    /// When it was undone, if it was.
    pub undone_at: Option<i64>,
}

/// A compaction to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEpoch {
    /// The last row it covers.
    pub last: String,
    /// What stands for everything up to there.
    pub summary: String,
    /// How the summary came about.
    pub strategy: String,
    /// Why it is made.
    pub reason: String,
    /// How big the next request was before and after.
    pub tokens: (u64, u64),
    /// Who wrote the summary, if a model did.
    pub model: Option<String>,
    /// How many rows are kept as they are.
    pub tail_rows: u64,
    /// The line that lets an interrupted tool loop go on.
    pub auto_continue: Option<String>,
    /// The engine's note on what cannot be won any more.
    pub attempt: Option<String>,
}

/// What is in force in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What stands for everything before the boundary.
    pub summary: String,
    /// Where the rows begin that are kept as they are.
    pub boundary: Place,
    /// How many rows were kept, if it is known.
    pub tail_rows: Option<u64>,
    /// The line that lets an interrupted tool loop go on.
    pub auto_continue: Option<String>,
}

/// What is in force, if the session was compacted at all.
pub fn standing(connection: &Connection, session: &str) -> Result<Option<Standing>> {
    let columns = Columns::read(connection, session)?;
    let newest = newest(connection, session)?;
    Ok(match (columns.agree_with(newest.as_ref()), columns.meaning()) {
        (true, _) => newest.map(|(epoch, _)| Standing {
            summary: epoch.summary,
            boundary: epoch.boundary,
            tail_rows: epoch.tail_rows,
            auto_continue: epoch.auto_continue,
        }),
        (false, Some((summary, timestamp))) => Some(Standing {
            summary: summary.to_owned(),
            boundary: Place::at(Place::bounded(timestamp)),
            tail_rows: None,
            auto_continue: None,
        }),
        (false, None) => None,
    })
}

/// Whether what was in force then is in force now. Another process may have made a compaction, or taken one back.
pub fn is_in_force(connection: &Connection, session: &str, then: Option<&Standing>) -> Result<bool> {
    let now = standing(connection, session)?;
    let meaning = |standing: &Standing| (standing.boundary, standing.summary.clone());
    Ok(now.as_ref().map(meaning) == then.map(meaning))
}

/// Whether a compaction up to a row, planned when `then` was in force, is of no use any more: another has covered that row
/// meanwhile, or it is gone.
pub fn is_void(connection: &Connection, session: &str, then: Option<&Standing>, last: &str) -> Result<bool> {
    if is_in_force(connection, session, then)? {
        return Ok(false);
    }
    match crate::messages::place_in(connection, session, last) {
        Ok(last) => Ok(standing(connection, session)?.is_some_and(|now| now.boundary > last)),
        Err(Fault::NoSuch { .. }) => Ok(true),
        Err(fault) => Err(fault),
    }
}

/// All compactions of a session, the oldest first.
pub fn list(connection: &Connection, session: &str) -> Result<Vec<Epoch>> {
    let mut query = connection.prepare_cached(&format!("{SELECT} WHERE session_id = ?1 ORDER BY number"))?;
    let epochs = query.query_map([session], |row| Ok(read(row)?.0))?;
    Ok(epochs.collect::<rusqlite::Result<_>>()?)
}

/// The number the next compaction of a session will have.
pub fn next_number(connection: &Connection, session: &str) -> Result<u64> {
    let mut query = connection
        .prepare_cached("SELECT IFNULL(MAX(number), 0) + 1 FROM core_epochs WHERE session_id = ?1")?;
    Ok(query.query_row([session], |row| row.get(0))?)
}

/// Says that all rows there are now belong to the tail of the newest compaction: a reply that was asked for before it
/// came in after it, and what the provider counted speaks of a request that is no more.
pub fn set_tail_rows(transaction: &Transaction<'_>, session: &str) -> Result<()> {
    let Some((epoch, _)) = newest(transaction, session)? else { return Ok(()) };
    transaction.execute(
        "UPDATE core_epochs SET tail_rows = (
            SELECT COUNT(*) FROM core_messages WHERE session_id = ?1 AND (created_at, place) >= (?2, ?3)
                AND created_at < ?5)
         WHERE id = ?4",
        (session, epoch.boundary.created_at, epoch.boundary.nth, epoch.id, Place::LINE.created_at),
    )?;
    Ok(())
}

/// The session's own columns: summary and where it ends.
pub(crate) fn columns(connection: &Connection, session: &str) -> Result<(Option<String>, Option<i64>)> {
    let Columns { summary, timestamp } = Columns::read(connection, session)?;
    Ok((summary, timestamp))
}

/// Puts a compaction in force: the record and the session's columns together. What was kept to make it is removed. One that
/// would bring back rows which another has covered meanwhile is refused.
pub fn commit(transaction: &Transaction<'_>, session: &str, new: &NewEpoch, now: i64) -> Result<Epoch> {
    order::bring_up_to_date(transaction, session)?;
    let parent = reconcile(transaction, session, now)?;
    let last = crate::messages::place_in(transaction, session, &new.last)?;
    let kept: Option<Place> = transaction
        .prepare_cached(
            "SELECT created_at, place FROM core_messages WHERE session_id = ?1 AND (created_at, place) > (?2, ?3)
                AND created_at < ?4 ORDER BY session_id, created_at, place LIMIT 1",
        )?
        .query_row((session, last.created_at, last.nth, Place::LINE.created_at), |row| {
            Ok(Place { created_at: row.get(0)?, nth: row.get(1)? })
        })
        .optional()?;
    if kept.zip(parent.as_ref()).is_some_and(|(kept, parent)| kept < parent.boundary) {
        let why = "the session was compacted further meanwhile; this compaction is out of date".to_owned();
        return Err(Fault::Refused { why });
    }
    let record = Record {
        session,
        parent: parent.as_ref(),
        boundary: last.next(),
        mirrored: Place::bounded(kept.map_or(last.created_at.saturating_add(1), |kept| kept.created_at)),
        summary: &new.summary,
        strategy: &new.strategy,
        reason: Some(&new.reason),
        tokens: Some(new.tokens),
        model: new.model.as_deref(),
        tail_rows: Some(new.tail_rows),
        auto_continue: new.auto_continue.as_deref(),
    };
    let epoch = record.insert(transaction, now)?;
    mirror(transaction, session, Some((&new.summary, record.mirrored)), now)?;
    crate::engine::set_attempt(transaction, session, new.attempt.as_deref())?;
    crate::engine::forget_chunks(transaction, session)?;
    crate::queue::remove(transaction, session)?;
    Ok(epoch)
}

/// Takes the newest compaction back: the one before it is in force again. `None` if there is none to take back.
pub fn undo(transaction: &Transaction<'_>, session: &str, now: i64) -> Result<Option<Epoch>> {
    let Some(newest) = reconcile(transaction, session, now)? else { return Ok(None) };
    take_back(transaction, session, now, newest.number)?;
    let before = self::newest(transaction, session)?;
    mirror(transaction, session, before.as_ref().map(|(e, mirrored)| (e.summary.as_str(), *mirrored)), now)?;
    Ok(Some(Epoch { undone_at: Some(now), ..newest }))
}

/// Takes all compactions back.
pub fn reset(transaction: &Transaction<'_>, session: &str, now: i64) -> Result<()> {
    reconcile(transaction, session, now)?;
    take_back(transaction, session, now, 0)?;
    mirror(transaction, session, None, now)
}

/// Brings the records in line with columns that another app has written, and says what is in force then.
fn reconcile(transaction: &Transaction<'_>, session: &str, now: i64) -> Result<Option<Epoch>> {
    let columns = Columns::read(transaction, session)?;
    let newest = newest(transaction, session)?;
    if columns.agree_with(newest.as_ref()) {
        return Ok(newest.map(|(epoch, _)| epoch));
    }
    let Some((summary, mirrored)) = columns.meaning() else {
        take_back(transaction, session, now, 0)?;
        return Ok(None);
    };
    order::bring_up_to_date(transaction, session)?;
    let parent = newest.map(|(epoch, _)| epoch);
    let record = Record {
        session,
        parent: parent.as_ref(),
        boundary: Place::at(Place::bounded(mirrored)),
        mirrored,
        summary,
        // The only kind the original app makes.
        strategy: "prose",
        reason: None,
        tokens: None,
        model: None,
        tail_rows: None,
        auto_continue: None,
    };
    record.insert(transaction, now).map(Some)
}

/// Marks the compactions from a number on as undone. What the engine knew of the requests after them is void.
fn take_back(transaction: &Transaction<'_>, session: &str, now: i64, from: u64) -> Result<()> {
    transaction.execute(
        "UPDATE core_epochs SET undone_at = ?2 WHERE session_id = ?1 AND number >= ?3 AND undone_at IS NULL",
        (session, now, from),
    )?;
    transaction
        .execute("UPDATE core_sessions SET attempt = NULL, anchor = NULL WHERE session_id = ?1", [session])?;
    Ok(())
}

/// Writes the session's columns; [`standing`] says what they mean where no record stands behind them.
pub(crate) fn mirror(
    transaction: &Transaction<'_>,
    session: &str,
    columns: Option<(&str, i64)>,
    now: i64,
) -> Result<()> {
    transaction.execute(
        "UPDATE sessions SET compacted_summary = ?2, compact_boundary_timestamp = ?3, updated_at = MAX(updated_at, ?4)
         WHERE id = ?1",
        (session, columns.map(|(summary, _)| summary), columns.map(|(_, timestamp)| timestamp), now),
    )?;
    Ok(())
}

/// What the session's own columns say.
struct Columns {
    summary: Option<String>,
    timestamp: Option<i64>,
}

impl Columns {
    fn read(connection: &Connection, session: &str) -> Result<Self> {
        connection
            .prepare_cached(
                "SELECT compacted_summary, compact_boundary_timestamp FROM sessions WHERE id = ?1",
            )?
            .query_row([session], |row| Ok(Self { summary: text(row, 0)?, timestamp: time(row, 1)? }))
            .optional()?
            .ok_or_else(|| no_session(session))
    }

    /// Whether the core wrote them.
    fn agree_with(&self, newest: Option<&(Epoch, i64)>) -> bool {
        self.summary.as_deref() == newest.map(|(epoch, _)| epoch.summary.as_str())
            && self.timestamp == newest.map(|(_, mirrored)| *mirrored)
    }

    /// What they say where another app wrote them: a summary that says something, and where it ends.
    fn meaning(&self) -> Option<(&str, i64)> {
        let summary = self.summary.as_deref().filter(|text| !text.trim().is_empty());
        summary.zip(self.timestamp)
    }
}

/// A record to be written.
struct Record<'a> {
    session: &'a str,
    parent: Option<&'a Epoch>,
    boundary: Place,
    mirrored: i64,
    summary: &'a str,
    strategy: &'a str,
    reason: Option<&'a str>,
    tokens: Option<(u64, u64)>,
    model: Option<&'a str>,
    tail_rows: Option<u64>,
    auto_continue: Option<&'a str>,
}

impl Record<'_> {
    fn insert(&self, transaction: &Transaction<'_>, now: i64) -> Result<Epoch> {
        let from = self.parent.map_or(Place::START, |parent| parent.boundary);
        let covered = "FROM core_messages WHERE session_id = ?1
            AND (created_at, place) >= (?2, ?3) AND (created_at, place) < (?4, ?5)";
        let range = (self.session, from.created_at, from.nth, self.boundary.created_at, self.boundary.nth);
        let end = |order: &str| {
            let sql = format!(
                "SELECT message_id {covered} ORDER BY session_id {order}, created_at {order}, place {order} LIMIT 1"
            );
            transaction.prepare_cached(&sql)?.query_row(range, |row| required(row, 0)).optional()
        };
        let rows: u64 = transaction
            .prepare_cached(&format!("SELECT COUNT(*) {covered}"))?
            .query_row(range, |row| row.get(0))?;
        let id = transaction
            .prepare_cached(
                "INSERT INTO core_epochs (session_id, number, parent, first_id, last_id, rows, boundary_created_at,
                    boundary_place, mirrored_timestamp, summary, strategy, reason, tokens_before, tokens_after, model_id,
                    tail_rows, auto_continue, created_at)
                 SELECT ?1, IFNULL(MAX(number), 0) + 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                    ?17 FROM core_epochs WHERE session_id = ?1",
            )?
            .insert(rusqlite::params![
                self.session,
                self.parent.map(|parent| parent.id),
                end("ASC")?,
                end("DESC")?,
                rows,
                self.boundary.created_at,
                self.boundary.nth,
                self.mirrored,
                self.summary,
                self.strategy,
                self.reason,
                self.tokens.map(|(before, _)| before),
                self.tokens.map(|(_, after)| after),
                self.model,
                self.tail_rows,
                self.auto_continue,
                now,
            ])?;
        Ok(transaction.query_row(&format!("{SELECT} WHERE id = ?1"), [id], |row| Ok(read(row)?.0))?)
    }
}

const SELECT: &str =
    "SELECT id, number, parent, first_id, last_id, rows, boundary_created_at, boundary_place, summary,
    strategy, reason, tokens_before, tokens_after, model_id, tail_rows, auto_continue, created_at, undone_at,
    mirrored_timestamp FROM core_epochs";

pub(crate) fn newest_query() -> String {
    format!("{SELECT} WHERE session_id = ?1 AND undone_at IS NULL ORDER BY number DESC LIMIT 1")
}

/// The newest record that is not undone, and what the columns have to say for it.
fn newest(connection: &Connection, session: &str) -> Result<Option<(Epoch, i64)>> {
    let mut query = connection.prepare_cached(&newest_query())?;
    Ok(query.query_row([session], read).optional()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<(Epoch, i64)> {
    let epoch = Epoch {
        id: row.get(0)?,
        number: row.get(1)?,
        parent: row.get(2)?,
        first: text(row, 3)?,
        last: text(row, 4)?,
        rows: row.get(5)?,
        boundary: Place { created_at: row.get(6)?, nth: row.get(7)? },
        summary: required(row, 8)?,
        strategy: required(row, 9)?,
        reason: text(row, 10)?,
        tokens: count(row, 11)?.zip(count(row, 12)?),
        model: text(row, 13)?,
        tail_rows: count(row, 14)?,
        auto_continue: text(row, 15)?,
        created_at: row.get(16)?,
        undone_at: time(row, 17)?,
    };
    Ok((epoch, row.get(18)?))
}
