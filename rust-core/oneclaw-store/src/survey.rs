//! What is in a file, for people who look into one.

use crate::columns::{flag, required, time, total};
use crate::epochs::{self, Epoch};
use crate::error::{Fault, StoreError};
use crate::look::look;
use crate::{file, migrate};
use oneclaw_model::Usage;
use rusqlite::Connection;
use std::path::Path;

/// A file at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// Its schema version.
    pub version: i64,
    /// How many rows each table has.
    pub tables: Vec<(String, u64)>,
    /// Its sessions, the latest first.
    pub sessions: Vec<SessionSurvey>,
}

/// A session at a glance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSurvey {
    /// Its name in the file.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Whether the user has deleted it.
    pub is_deleted: bool,
    /// How many rows it has.
    pub messages: u64,
    /// What its replies cost, as reported; reasoning is not kept apart.
    pub tokens: Usage,
    /// Length of its summary in characters, if it was compacted.
    pub summary_chars: Option<u64>,
    /// Where its tail begins.
    pub boundary: Option<i64>,
    /// Its compactions, the oldest first.
    pub epochs: Vec<Epoch>,
}

/// Looks at a file; with `session`, at that one only.
pub fn survey(path: &Path, session: Option<&str>) -> Result<Survey, StoreError> {
    look(path, |connection| {
        let version = file::version(path, connection)?;
        read(connection, version, session).map_err(|fault| StoreError::of_fault(path, fault))
    })
}

fn read(connection: &Connection, version: i64, session: Option<&str>) -> Result<Survey, Fault> {
    let mut tables = Vec::new();
    for table in migrate::TABLES {
        // With a condition, SQLite counts row by row; otherwise it counts pages, and nothing would stop it on a damaged file
        // whose pages lead to each other again and again.
        let count =
            connection.query_row(&format!("SELECT COUNT(*) FROM {table} WHERE 1"), [], |row| row.get(0))?;
        tables.push((table.to_owned(), count));
    }
    let (summary, boundary) = match version {
        1 => ("NULL", "NULL"),
        _ => ("LENGTH(s.compacted_summary)", "s.compact_boundary_timestamp"),
    };
    let has_core = migrate::core_version(connection)? > 0;
    let (read, write, beside) = match has_core {
        true => {
            ("SUM(c.cache_read)", "SUM(c.cache_write)", "LEFT JOIN core_messages c ON c.message_id = m.id")
        }
        false => ("0", "0", ""),
    };
    let mut query = connection.prepare(&format!(
        "SELECT s.id, s.title, s.deleted_at IS NOT NULL, COUNT(m.id), IFNULL(SUM(m.token_count_input), 0),
                IFNULL({read}, 0), IFNULL({write}, 0), IFNULL(SUM(m.token_count_output), 0), {summary}, {boundary}
         FROM sessions s LEFT JOIN messages m ON m.session_id = s.id {beside}
         WHERE ?1 IS NULL OR s.id = ?1
         GROUP BY s.id ORDER BY s.updated_at DESC, s.id"
    ))?;
    let mut sessions = query
        .query_map([session], |row| {
            Ok(SessionSurvey {
                id: required(row, 0)?,
                title: required(row, 1)?,
                is_deleted: flag(row, 2)?,
                messages: total(row, 3)?,
                tokens: Usage {
                    input: total(row, 4)?,
                    cache_read: total(row, 5)?,
                    cache_write: total(row, 6)?,
                    output: total(row, 7)?,
                    reasoning: 0,
                },
                summary_chars: row.get(8)?,
                boundary: time(row, 9)?,
                epochs: vec![],
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    if has_core {
        for session in &mut sessions {
            session.epochs = epochs::list(connection, &session.id)?;
        }
    }
    Ok(Survey { version, tables, sessions })
}
