//! What is purged is gone: no byte of it stays in the file or its log.

use crate::store::{Folder, check_schema};
use crate::store_kit::{append, create, epoch, fresh, other_app, row, rows, user};
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, Row};
use oneclaw_store::messages::{self, State};
use oneclaw_store::queue::{self, Queued};
use oneclaw_store::{Store, StoreError, engine, epochs, sessions};
use oneclaw_tests::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::Connection;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What every text of a session that is to be purged is made of.
pub const CANARY: &str = "Zwitschern";

/// How often the canary is found in the file and what lies beside it.
pub fn found(path: &Path) -> usize {
    let folder = path.parent().unwrap();
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.map(|bytes| bytes.windows(CANARY.len()).filter(|w| *w == CANARY.as_bytes()).count()).sum()
}

/// A text of so many canaries, each with a number.
fn text(count: usize) -> String {
    (0..count).map(|n| format!("{CANARY} {n} ")).collect()
}

/// A row with something in every column that holds words.
fn wordy(id: &str, count: usize, created_at: i64) -> Row {
    Row {
        thinking_content: Some(text(count)),
        tool_call_id: Some(text(1)),
        tool_name: Some(text(1)),
        tool_input: Some(text(count)),
        tool_output: Some(text(count)),
        thinking_signature: Some(text(count)),
        attachments: vec![Attachment {
            mime: "image/png".into(),
            name: text(1),
            width: None,
            height: None,
            data: Some(text(count)),
        }],
        ..row(id, RowType::AiResponse, &text(count), created_at)
    }
}

/// Fills a session the way use does, with other sessions growing beside it.
fn fill(store: &Store, id: &str, neighbours: &[&str], base: i64) {
    for n in 0..24 {
        let at = base + n;
        append(store, id, &row(&format!("{id}-u{n}"), RowType::User, &text(n as usize % 7 + 1), at));
        for neighbour in neighbours {
            append(store, neighbour, &user(&format!("{neighbour}-{id}-{n}"), at));
        }
        let reply = format!("{id}-r{n}");
        let first = row(&reply, RowType::AiResponse, "", at);
        store.write(|t| messages::append(t, id, &first, State::Partial)).unwrap();
        for grown in 1..20 {
            let more = Row { attachments: vec![], ..wordy(&reply, grown * (n as usize % 5 + 1), at) };
            store.write(|t| messages::update(t, &more, State::Partial, at)).unwrap();
        }
        append(store, id, &wordy(&format!("{id}-w{n}"), [1, 20, 400, 3000][n as usize % 4], at));
    }
    store
        .write(|t| {
            sessions::rename(t, id, &text(1))?;
            sessions::rename(t, id, &text(2))?;
            for n in 0..20 {
                engine::set_chunk(t, id, &format!("key {n}"), &text(n * 10 + 1))?;
            }
            engine::set_attempt(t, id, Some(&text(2)))?;
            engine::set_anchor(t, id, &text(2))?;
            messages::set_mark(t, &format!("{id}-u1"), Some(&text(1)))?;
            messages::set_measure(t, &user(&format!("{id}-u1"), 0), &text(1))
        })
        .unwrap();
    for n in [3, 9, 20] {
        let new =
            epochs::NewEpoch { auto_continue: Some(text(3)), ..epoch(&format!("{id}-w{n}"), &text(n * 30)) };
        store.write(|t| epochs::commit(t, id, &new, base + 50)).unwrap();
    }
    store.write(|t| epochs::undo(t, id, base + 51)).unwrap();
    let entry = Queued { session_id: id.into(), reason: text(1), focus: Some(text(5)), queued_at: 1 };
    store.write(|t| queue::put(t, &entry)).unwrap();
    store.write(|t| engine::set_chunk(t, id, "later", &text(50))).unwrap();
}

#[test]
fn nothing_of_a_purged_session_stays_in_the_file() {
    let folder = Folder::new("purge");
    let store = fresh(&folder, &["a", "b", "c"]);
    fill(&store, "b", &["a", "c"], 1_000);
    let path = store.path().to_owned();
    let kept = rows(&store, "a");
    assert!(found(&path) > 10_000, "there is something to be found");
    store.purge("b").unwrap();
    assert_eq!(found(&path), 0, "while it is open");
    assert!(matches!(store.purge("b"), Err(StoreError::NoSuch { .. })));
    assert_eq!(rows(&store, "a"), kept);
    drop(store);
    assert_eq!(found(&path), 0, "when it is closed");
}

/// Another program that has begun to read and does not end; and one that has the file open, so that nobody takes the log
/// away by closing it.
fn reader_and_bystander(path: &Path) -> [Connection; 2] {
    let connections = [other_app(path), other_app(path)];
    connections[0].execute_batch("BEGIN").unwrap();
    for connection in &connections {
        connection.query_row("SELECT COUNT(*) FROM messages", [], |_| Ok(())).unwrap();
    }
    connections
}

#[test]
fn a_purge_while_another_program_reads_is_done_and_the_log_follows() {
    let folder = Folder::new("purge-reader");
    let store = fresh(&folder, &["a", "b"]);
    append(&store, "b", &wordy("w", 500, 1));
    let path = store.path().to_owned();
    let [reader, _bystander] = reader_and_bystander(&path);
    let start = Instant::now();
    store.purge("b").unwrap();
    assert!(start.elapsed() < Duration::from_secs(2), "it does not wait for others");
    append(&store, "a", &user("m", 1));
    assert!(found(&path) > 500, "the reader still needs the log");
    reader.execute_batch("COMMIT").unwrap();
    assert!(found(&path) > 500);
    append(&store, "a", &user("n", 2));
    assert_eq!(found(&path), 0);
    let due = "SELECT COUNT(*) FROM core_purges";
    assert_eq!(reader.query_row(due, [], |row| row.get(0)), Ok(0));
}

/// Names the file of a child; without it, the child's test has nothing to do.
const FILE: &str = "ONECLAW_PURGE_FILE";

/// Not a test of its own: the part that is killed.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let store = Store::open_existing(Path::new(&file)).unwrap();
    store.purge("b").unwrap();
    let process = std::process::id().to_string();
    Command::new("kill").args(["-9", &process]).status().unwrap();
}

#[test]
fn a_log_that_is_still_due_when_the_process_is_killed_goes_when_the_file_is_opened() {
    let folder = Folder::new("purge-killed");
    let store = fresh(&folder, &["a", "b"]);
    append(&store, "b", &wordy("w", 500, 1));
    let path = store.path().to_owned();
    let [reader, _bystander] = reader_and_bystander(&path);
    drop(store);
    let mut child = Command::new(std::env::current_exe().unwrap());
    let child = child.args(["--exact", "store_purge::child"]).env(FILE, &path).output().unwrap();
    assert_eq!(child.status.signal(), Some(9), "{}", String::from_utf8_lossy(&child.stdout));
    drop(reader);
    assert!(found(&path) > 500);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(found(&path), 0);
    assert!(matches!(store.purge("b"), Err(StoreError::NoSuch { .. })));
}

#[test]
fn what_another_app_has_left_in_free_places_is_cleared_too() {
    for (auto_vacuum, name) in [("NONE", "none"), ("FULL", "full"), ("INCREMENTAL", "incremental")] {
        let folder = Folder::new("purge-left");
        let path = folder.file("oneclaw.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(&format!("PRAGMA auto_vacuum = {auto_vacuum}; VACUUM"))
            .unwrap();
        let store = Store::open(&path, 1).unwrap();
        create(&store, "kept");
        create(&store, "b");
        let other = other_app(&path);
        other.pragma_update(None, "secure_delete", false).unwrap();
        let insert =
            "INSERT INTO messages (id, session_id, type, content, created_at) VALUES (?1, ?2, 'USER', ?3, 1)";
        for n in 0..300 {
            let text = text([1, 10, 90, 700][n % 4]);
            other.execute(insert, (format!("b{n}"), "b", text)).unwrap();
            other.execute(insert, (format!("kept{n}"), "kept", "k".repeat(n * 31 % 900))).unwrap();
        }
        // Free pages, gaps between rows, and pages that are used again for texts which do not fill them.
        // The latter keep their bytes where both happen in one transaction.
        other.execute_batch("BEGIN; DELETE FROM messages WHERE session_id = 'b' AND rowid % 3 <> 0").unwrap();
        for n in 0..10 {
            other.execute(insert, (format!("long{n}"), "kept", "k".repeat(8_150 + n * 20))).unwrap();
        }
        other.execute_batch("COMMIT").unwrap();
        store.prepare("kept").unwrap();
        let kept = rows(&store, "kept");
        other.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
        drop(other);
        assert!(found(&path) > 1_000);
        store.purge("b").unwrap();
        assert_eq!(found(&path), 0, "{name}");
        assert_eq!(rows(&store, "kept"), kept);
        drop(store);
        check_schema(&path, 2);
    }
}

/// Rows of any size come and grow and shrink, in the session that will be purged and in one that stays.
#[derive(Debug, Clone)]
enum Step {
    Add { purged: bool, words: usize },
    Change { purged: bool, nth: usize, words: usize },
    Chunk { purged: bool, words: usize },
    Rename { words: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let words = || prop_oneof![20 => 0..60usize, 4 => 60..300usize, 1 => 300..2_000usize];
    prop_oneof![
        4 => (any::<bool>(), words()).prop_map(|(purged, words)| Step::Add { purged, words }),
        6 => (any::<bool>(), 0..100usize, words())
            .prop_map(|(purged, nth, words)| Step::Change { purged, nth, words }),
        1 => (any::<bool>(), words()).prop_map(|(purged, words)| Step::Chunk { purged, words }),
        1 => (0..50usize).prop_map(|words| Step::Rename { words }),
    ]
}

proptest! {
    #![proptest_config(cases(24))]
    #[test]
    fn whatever_was_written_is_gone_after_a_purge(steps in vec(vec(step(), 1..60), 1..16)) {
        let folder = Folder::new("purge-any");
        let store = fresh(&folder, &["kept", "purged"]);
        let mut counts = [0usize; 2];
        let name = |purged: bool| if purged { "purged" } else { "kept" };
        let said = |purged: bool, words| if purged { text(words) } else { "x".repeat(words * 13) };
        for (number, steps) in steps.iter().enumerate() {
            store.write(|t| {
                for step in steps {
                    match *step {
                        Step::Add { purged, words } => {
                            let id = format!("{}{}", name(purged), counts[usize::from(purged)]);
                            counts[usize::from(purged)] += 1;
                            let row = row(&id, RowType::User, &said(purged, words), number as i64);
                            messages::append(t, name(purged), &row, State::Partial)?;
                        }
                        Step::Change { purged, nth, words } => {
                            let count = counts[usize::from(purged)];
                            if count > 0 {
                                let id = format!("{}{}", name(purged), nth % count);
                                let row = row(&id, RowType::User, &said(purged, words), 0);
                                messages::update(t, &row, State::Partial, 0)?;
                            }
                        }
                        Step::Chunk { purged, words } => {
                            engine::set_chunk(t, name(purged), &number.to_string(), &said(purged, words))?;
                        }
                        Step::Rename { words } => sessions::rename(t, "purged", &text(words))?,
                    }
                }
                Ok(())
            }).unwrap();
        }
        let kept = rows(&store, "kept");
        store.purge("purged").unwrap();
        prop_assert_eq!(found(store.path()), 0);
        prop_assert_eq!(rows(&store, "kept"), kept);
    }
}
