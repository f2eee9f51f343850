//! What fuzzing found in database files, each by itself: damage that was not seen, that was written to, or that was
//! followed in circles.

use crate::store::{Folder, NOW, check_refused, version_1};
use crate::store_kit::{append, fresh, user};
use oneclaw_store::{Store, StoreError, examine, transcripts};
use rusqlite::Connection;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

/// Overwrites a part of a file.
fn put(path: &Path, at: usize, bytes: &[u8]) {
    let mut file = fs::read(path).unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    fs::write(path, file).unwrap();
}

/// What a store says of a file; a fault if it has not said so after a while.
fn in_time<T: Send + 'static>(ask: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(ask()));
    receiver.recv_timeout(Duration::from_secs(60)).expect("an answer")
}

fn check_damaged<T>(answer: Result<T, StoreError>, expected: &str) {
    match answer {
        Err(StoreError::Damaged { what, .. }) => assert_eq!(what, expected),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("nothing was noticed"),
    }
}

/// To SQLite it is an empty file, and so would be filled.
#[test]
fn a_single_byte_is_no_blank_database() {
    let folder = Folder::new("found-byte");
    let path = folder.file("oneclaw.db");
    fs::write(&path, "S").unwrap();
    check_refused(&path, "is not a SQLite database; choose another file");
}

/// A fresh database has no tables and version 0; but also nothing on any other page.
#[test]
fn a_file_that_has_lost_its_list_of_tables_is_no_blank_database() {
    let folder = Folder::new("found-blank");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    put(&path, 60, &[0; 4]);
    put(&path, 103, &[0; 2]);
    let pages = fs::metadata(&path).unwrap().len() / 4_096;
    check_refused(
        &path,
        &format!("is damaged (no table is on {} of its pages); restore a backup", pages - 2),
    );
}

/// What only shows when the file is migrated is no reason to have changed it: not even to keep a log from now on.
#[test]
fn a_file_whose_migration_fails_stays_as_it_was() {
    let folder = Folder::new("found-changed");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    // A list of free pages that begins beyond the end.
    put(&path, 32, &[0, 0, 0x27, 0x0f, 0, 0, 0, 1]);
    let before = fs::read(&path).unwrap();
    examine(&path).unwrap();
    check_damaged(Store::open(&path, NOW), "database disk image is malformed");
    assert!(fs::read(&path).unwrap() == before, "the file has changed");
}

/// The schema of a damaged file may be made of anything, conversations included.
#[test]
fn an_unreadable_schema_is_not_quoted() {
    let folder = Folder::new("found-schema");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    let connection = Connection::open(&path).unwrap();
    let sql = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE messages (\u{1b}\n a secret'
               WHERE name = 'messages'";
    connection.execute_batch(sql).unwrap();
    drop(connection);
    check_refused(&path, "is damaged (malformed database schema); restore a backup");
}

/// The newest message is not in the index that is searched for it: no search gets there.
#[test]
fn putting_a_session_in_order_comes_to_an_end() {
    const INDEX: &str = "index_messages_session_id";
    let folder = Folder::new("found-order");
    let path = folder.file("oneclaw.db");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("m1", 1_000));
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "writable_schema", true).unwrap();
    let columns = "SELECT type, tbl_name, rootpage, sql FROM sqlite_master WHERE name = ?1";
    let index: (String, String, i64, String) = connection
        .query_row(columns, [INDEX], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .unwrap();
    connection.execute("DELETE FROM sqlite_master WHERE name = ?1", [INDEX]).unwrap();
    drop(connection);
    let store = Store::open(&path, NOW).unwrap();
    append(&store, "s", &user("m2", 2_000));
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "writable_schema", true).unwrap();
    let (kind, table, root, sql) = index;
    connection
        .execute("INSERT INTO sqlite_master VALUES (?1, ?2, ?3, ?4, ?5)", (kind, INDEX, table, root, sql))
        .unwrap();
    drop(connection);
    let store = Store::open(&path, NOW).unwrap();
    let answer = in_time(move || store.prepare("s"));
    check_damaged(answer, "the messages of a session are out of order");
}

/// The last message says that it stands before the first: a search for what comes after it finds the others again.
#[test]
fn reading_the_rows_of_a_session_comes_to_an_end() {
    let folder = Folder::new("found-rows");
    let path = folder.file("oneclaw.db");
    let store = fresh(&folder, &["s"]);
    let time = |n: i64| 1_700_000_000_000 + n * 1_000;
    for n in 1..=3 {
        append(&store, "s", &user(&format!("m{n}"), time(n)));
    }
    drop(store);
    let bytes = fs::read(&path).unwrap();
    let entry = |time: i64| [b"s", &time.to_be_bytes()[2..], b"m3"].concat();
    let at = bytes.windows(9).position(|window| window == entry(time(3))).unwrap();
    put(&path, at, &entry(time(0)));
    let store = Store::open(&path, NOW).unwrap();
    let mut rows = 0;
    let answer = store.read(|c| {
        transcripts::rows(c, "s", |_| {
            rows += 1;
            rows < 100
        })
    });
    check_damaged(answer, "the messages of a session are out of order");
    assert_eq!(rows, 2);
}

/// A list of free pages that leads back to itself.
#[test]
fn a_purge_comes_to_an_end() {
    let folder = Folder::new("found-purge");
    let path = folder.file("oneclaw.db");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("m1", 1_000));
    drop(store);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(9000)); DROP TABLE t")
        .unwrap();
    drop(connection);
    let bytes = fs::read(&path).unwrap();
    let list: [u8; 4] = bytes[32..36].try_into().unwrap();
    assert_ne!(list, [0; 4], "there are free pages");
    put(&path, 36, &[0x7f, 0xff, 0xff, 0xff]);
    put(&path, (u32::from_be_bytes(list) as usize - 1) * 4_096, &list);
    let store = Store::open(&path, NOW).unwrap();
    check_damaged(in_time(move || store.purge("s")), "the list of its free pages has no end");
}
