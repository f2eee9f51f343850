//! The core's side of the Room proof: makes files for Room to open, and opens what Room has written.
//!
//! `room_files make DIR` writes `created.db` and `migrated.db`; `room_files check DIR` opens what the Maven build left.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // A fault should stop it; it talks to people.

use oneclaw_store::Store;
use rusqlite::Connection;
use std::path::Path;

const NOW: i64 = 1_700_000_000_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["make", folder] => make(Path::new(folder)),
        ["check", folder] => check(Path::new(folder)),
        _ => panic!("usage: room_files make|check DIR"),
    }
}

fn make(folder: &Path) {
    drop(Store::open(&folder.join("created.db"), NOW).unwrap());
    let migrated = folder.join("migrated.db");
    let connection = Connection::open(&migrated).unwrap();
    for sql in [include_str!("../fixtures/store/room_v1.sql"), include_str!("../fixtures/store/rows_v1.sql")]
    {
        connection.execute_batch(sql).unwrap();
    }
    drop(connection);
    assert_eq!(Store::open_existing(&migrated).unwrap().change().map(|c| (c.from, c.to)), Some((1, 2)));
}

fn check(folder: &Path) {
    for name in ["created-written.db", "migrated-written.db"] {
        let store = Store::open_existing(&folder.join(name)).unwrap();
        assert_eq!(store.change(), None);
        let count =
            |sql: &str| -> u64 { store.read(|c| Ok(c.query_row(sql, [], |row| row.get(0))?)).unwrap() };
        assert_eq!(count("SELECT COUNT(*) FROM messages WHERE id = 'room-message'"), 1, "{name}");
        assert_eq!(count("SELECT COUNT(*) FROM messages WHERE id = 'room-cascaded'"), 0, "{name}");
        println!("{name}: the core reads what Room wrote");
    }
    let store = Store::open_existing(&folder.join("v1.db")).unwrap();
    assert_eq!(store.change().map(|c| (c.from, c.to)), Some((1, 2)));
    println!("v1.db: the core migrates what Room made");
}
