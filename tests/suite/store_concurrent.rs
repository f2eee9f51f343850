//! Readers, writers and other processes at one file at the same time: nobody sees an error, and every read is of one moment.

use crate::store::{Folder, NOW};
use crate::store_kit::{append, create, fresh, ids, row, rows, session, user};
use crate::store_purge::{CANARY, found};
use oneclaw_model::row::RowType;
use oneclaw_store::messages::{self, State};
use oneclaw_store::survey::survey;
use oneclaw_store::{Place, Store, StoreError, examine, sessions};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Rows that each writer adds.
const ROWS: usize = 120;

/// A user's words and a reply that grows, again and again.
fn converse(store: &Store, session: &str, writer: &str) {
    for n in 0..ROWS / 2 {
        append(store, session, &user(&format!("{writer}-u{n}"), NOW));
        let mut reply = row(&format!("{writer}-r{n}"), RowType::AiResponse, "", NOW);
        store.write(|t| messages::append(t, session, &reply, State::Partial)).unwrap();
        for length in [100, 5_000] {
            reply.content = "x".repeat(length);
            store.write(|t| messages::update(t, &reply, State::Whole, NOW)).unwrap();
        }
    }
}

/// Reads a session by pages, all in one read, and says how many rows it had.
fn read_through(store: &Store, session: &str) -> Result<usize, StoreError> {
    store.prepare(session)?;
    store.read(|c| {
        let expected = sessions::get(c, session)?.message_count;
        let mut seen = 0;
        let mut before = Place::END;
        loop {
            let page = messages::page(c, session, before, 7)?;
            let Some(first) = page.first() else { break };
            assert!(page.is_sorted_by_key(|r| r.stored.place));
            before = first.stored.place;
            seen += page.len();
        }
        assert_eq!(seen as u64, expected);
        assert_eq!(messages::since(c, session, Place::START)?.len(), seen);
        Ok(seen)
    })
}

/// Lets two readers of each store read on while `work` is done; each read sees at least what the one before it saw.
fn while_reading(stores: &[&Store], session: &str, work: impl FnOnce()) {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        for store in stores.iter().flat_map(|store| [store, store]) {
            scope.spawn(|| {
                let mut last = 0;
                while !is_done.load(Ordering::Relaxed) {
                    let seen = read_through(store, session).unwrap();
                    assert!(seen >= last);
                    last = seen;
                }
            });
        }
        // A fault in the work must not leave the readers reading for ever.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_done.store(true, Ordering::Relaxed);
        done.unwrap();
    });
}

#[test]
fn readers_see_whole_moments_while_two_stores_write() {
    let folder = Folder::new("concurrent");
    let first = fresh(&folder, &["s"]);
    let second = Store::open_existing(first.path()).unwrap();
    while_reading(&[&first, &second], "s", || {
        thread::scope(|scope| {
            scope.spawn(|| converse(&first, "s", "one"));
            scope.spawn(|| converse(&second, "s", "two"));
        });
    });
    assert_eq!(session(&first, "s").message_count as usize, 2 * ROWS);
    let read = rows(&second, "s");
    for writer in ["one", "two"] {
        let own: Vec<_> = ids(&read).into_iter().filter(|id| id.starts_with(writer)).collect();
        let expected: Vec<_> =
            (0..ROWS / 2).flat_map(|n| [format!("{writer}-u{n}"), format!("{writer}-r{n}")]).collect();
        assert_eq!(own, expected);
    }
}

#[test]
fn a_purge_takes_all_of_its_session_and_nothing_from_those_who_read() {
    let folder = Folder::new("concurrent-purge");
    let store = fresh(&folder, &["kept"]);
    converse(&store, "kept", "k");
    while_reading(&[&store], "kept", || {
        for n in 0..5 {
            let name = format!("purged{n}");
            create(&store, &name);
            for m in 0..20 {
                append(&store, &name, &row(&format!("{name}-{m}"), RowType::User, &CANARY.repeat(200), NOW));
            }
            store.purge(&name).unwrap();
            assert_eq!(rows(&store, &name), []);
        }
    });
    assert_eq!(rows(&store, "kept").len(), ROWS);
    let path = store.path().to_owned();
    drop(store);
    assert_eq!(found(&path), 0);
}

#[test]
fn many_that_create_one_file_all_get_the_same() {
    const MANY: usize = 8;
    for round in 0..10 {
        let folder = Folder::new("concurrent-create");
        let path = folder.file("oneclaw.db");
        let barrier = Barrier::new(MANY);
        thread::scope(|scope| {
            for n in 0..MANY {
                let (barrier, path) = (&barrier, &path);
                scope.spawn(move || {
                    barrier.wait();
                    create(&Store::open(path, NOW).unwrap(), &format!("s{n}"));
                });
            }
        });
        assert_eq!(survey(&path, None).unwrap().sessions.len(), MANY, "round {round}");
    }
}

/// The locks that this process has on a file. The system may list one twice while others come and go.
fn locks(path: &Path) -> BTreeSet<String> {
    let own = format!(" {} ", std::process::id());
    let file = format!(":{} ", fs::metadata(path).unwrap().ino());
    let all = fs::read_to_string("/proc/locks").unwrap();
    let lines = all.lines().filter(|line| line.contains(&own) && line.contains(&file));
    lines.filter_map(|line| line.split_once(": ")).map(|(_, lock)| lock.to_owned()).collect()
}

#[test]
fn looking_at_a_file_takes_no_lock_away() {
    let folder = Folder::new("concurrent-look");
    let store = fresh(&folder, &["s"]);
    let before = locks(store.path());
    assert_eq!(before.len(), 1, "other programs see that the file is in use");
    examine(store.path()).unwrap();
    assert_eq!(locks(store.path()), before);
    survey(store.path(), None).unwrap();
    assert_eq!(locks(store.path()), before);
    drop(Store::open_existing(store.path()).unwrap());
    assert_eq!(locks(store.path()), before);
}
