//! What is purged is gone: no byte of it stays in the file or its log.

use crate::store::Folder;
use crate::store_kit::{append, epoch, fresh, row, rows, user};
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, Row};
use oneclaw_store::messages::{self, State};
use oneclaw_store::queue::{self, Queued};
use oneclaw_store::{Store, StoreError, engine, epochs, sessions};
use oneclaw_tests::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use std::fs;
use std::path::Path;

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
