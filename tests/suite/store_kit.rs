//! What the suites of the store share: rows, sessions, and another app at the same file.

use crate::store::{Folder, NOW};
use oneclaw_model::Row;
use oneclaw_model::row::RowType;
use oneclaw_store::agents::GENERAL_ASSISTANT;
use oneclaw_store::epochs::NewEpoch;
use oneclaw_store::messages::{self, State, Stored};
use oneclaw_store::sessions::{self, Session};
use oneclaw_store::{Place, Store};
use rusqlite::Connection;
use std::path::Path;

/// A row with a text and nothing else.
pub fn row(id: &str, kind: RowType, content: &str, created_at: i64) -> Row {
    Row { content: content.into(), ..Row::new(id.into(), kind, created_at) }
}

/// Something the user wrote.
pub fn user(id: &str, created_at: i64) -> Row {
    row(id, RowType::User, &format!("text of {id}"), created_at)
}

/// A fresh file with those sessions.
pub fn fresh(folder: &Folder, ids: &[&str]) -> Store {
    let store = Store::open(&folder.file("oneclaw.db"), NOW).unwrap();
    for id in ids {
        create(&store, id);
    }
    store
}

pub fn create(store: &Store, session: &str) {
    store.write(|t| sessions::create(t, session, "title", GENERAL_ASSISTANT, NOW)).unwrap();
}

pub fn append(store: &Store, session: &str, row: &Row) -> Place {
    store.write(|t| messages::append(t, session, row, State::Whole)).unwrap()
}

pub fn session(store: &Store, id: &str) -> Session {
    store.read(|c| sessions::get(c, id)).unwrap()
}

/// All rows of a session that has been prepared.
pub fn rows(store: &Store, session: &str) -> Vec<Stored> {
    store.read(|c| messages::since(c, session, Place::START)).unwrap()
}

pub fn ids(rows: &[Stored]) -> Vec<&str> {
    rows.iter().map(|stored| stored.row.id.as_str()).collect()
}

/// The same file as another app sees it. Foreign keys are on, as Room has them.
pub fn other_app(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection.pragma_update(None, "foreign_keys", true).unwrap();
    connection
}

/// A row as another app adds it; `how` is INSERT or INSERT OR REPLACE.
pub fn add(connection: &Connection, how: &str, session: &str, id: &str, created_at: i64) {
    let sql = format!(
        "{how} INTO messages (id, session_id, type, content, created_at) VALUES (?1, ?2, 'USER', 'text of ' || ?1, ?3)"
    );
    connection.execute(&sql, (id, session, created_at)).unwrap();
}

/// A compaction up to a row.
pub fn epoch(last: &str, summary: &str) -> NewEpoch {
    NewEpoch {
        last: last.into(),
        summary: summary.into(),
        strategy: "prose".into(),
        reason: "threshold".into(),
        tokens: (1000, 100),
        model: Some("gpt-4o".into()),
        tail_rows: 3,
        auto_continue: Some("Go on.".into()),
        attempt: Some("nothing left".into()),
    }
}

/// Gives a file of today the tables of the fourth core.
pub fn as_fourth_core(connection: &Connection) {
    connection
        .execute_batch(
            "DROP TABLE core_learnt; DROP TABLE core_listed;
             CREATE TABLE core_models (
                 provider_type TEXT NOT NULL, base_url TEXT NOT NULL, model_id TEXT NOT NULL, factor REAL, window INTEGER,
                 adjustments TEXT, listed TEXT, reports INTEGER, high REAL,
                 PRIMARY KEY (provider_type, base_url, model_id)) WITHOUT ROWID;
             UPDATE core_version SET version = 4;",
        )
        .unwrap();
}
