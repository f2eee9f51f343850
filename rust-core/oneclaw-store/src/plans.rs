//! How SQLite carries out the reads that a long conversation makes often: by an index range, never row by row, and
//! without sorting.

use crate::messages::{NAMED, NEWEST_USER, NEXT_PAGE, PAGE, SINCE, pinned_query, query};
use crate::sessions::{Shelf, list_query};
use crate::{epochs, order, seed};
use rusqlite::Connection;

fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explained = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let nulls = vec![rusqlite::types::Null; explained.parameter_count()];
    let rows = explained.query_map(rusqlite::params_from_iter(nulls), |row| row.get("detail"));
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn frequent_reads_go_by_an_index_range_and_sort_nothing() {
    let mut connection = Connection::open_in_memory().unwrap();
    let transaction = connection.transaction().unwrap();
    seed::create(&transaction, 0).unwrap();
    transaction.commit().unwrap();
    let message = "SEARCH m USING INDEX sqlite_autoindex_messages_1 (id=?)";
    let before = "SEARCH c USING PRIMARY KEY (session_id=? AND (created_at,place)<(?,?))";
    let from = "SEARCH c USING PRIMARY KEY (session_id=? AND (created_at,place)>(?,?))";
    let named = "SEARCH c USING INDEX sqlite_autoindex_core_messages_1 (message_id=?)";
    let pinned = "SEARCH c USING INDEX core_messages_pinned (session_id=?)";
    let beside = "SEARCH c USING PRIMARY KEY (session_id=?)";
    let listed = [
        "SEARCH sessions USING INDEX index_sessions_updated_at (updated_at<?)",
        "CORRELATED SCALAR SUBQUERY 1",
        beside,
        "CORRELATED SCALAR SUBQUERY 2",
        beside,
    ];
    let reads: [(String, &[&str]); 12] = [
        (query(PAGE), &[before, message]),
        (query(SINCE), &[from, message]),
        (query(NEXT_PAGE), &[from, message]),
        (query(NEWEST_USER), &[before, message]),
        (query(NAMED), &[named, message]),
        (pinned_query(), &[pinned, message]),
        (
            order::NEWEST.into(),
            &["SEARCH messages USING COVERING INDEX index_messages_session_id (session_id=?)"],
        ),
        (
            order::REMEMBERED.into(),
            &[
                "SEARCH s USING PRIMARY KEY (session_id=?)",
                "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
                "SEARCH c USING INDEX sqlite_autoindex_core_messages_1 (message_id=? AND session_id=?)",
            ],
        ),
        (
            order::BETWEEN.into(),
            &[
                "SEARCH c USING PRIMARY KEY (session_id=? AND created_at>? AND created_at<?)",
                "SEARCH m USING COVERING INDEX sqlite_autoindex_messages_1 (id=?)",
            ],
        ),
        (list_query(Shelf::Open), &listed),
        (list_query(Shelf::Deleted), &listed),
        (
            epochs::newest_query(),
            &["SEARCH core_epochs USING INDEX sqlite_autoindex_core_epochs_1 (session_id=?)"],
        ),
    ];
    for (sql, expected) in reads {
        assert_eq!(plan(&connection, &sql), expected, "{sql}");
    }
}

/// The limit on steps holds for what is counted step by step only.
#[test]
fn tables_are_counted_in_steps() {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(seed::ROOM).unwrap();
    let codes = |sql: &str| -> Vec<String> {
        let mut explained = connection.prepare(&format!("EXPLAIN {sql}")).unwrap();
        explained.query_map([], |row| row.get("opcode")).unwrap().map(Result::unwrap).collect()
    };
    assert!(codes("SELECT COUNT(*) FROM messages").contains(&"Count".to_owned()));
    assert!(!codes("SELECT COUNT(*) FROM messages WHERE 1").contains(&"Count".to_owned()));
}
