//! The core's side of the Room proof: makes files for Room to open, and opens what Room has written.
//!
//! `room_files make DIR` writes `created.db` and `migrated.db`; `room_files check DIR` opens what the Maven build left.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // A fault should stop it; it talks to people.

use oneclaw_model::{ProviderKind, Transcript};
use oneclaw_store::engine::{Lesson, ModelAt};
use oneclaw_store::epochs::NewEpoch;
use oneclaw_store::queue::Queued;
use oneclaw_store::{Place, Store, engine, epochs, messages, queue, transcripts};
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
    let created = Store::open(&folder.join("created.db"), NOW).unwrap();
    converse(&created, "core-session");
    drop(created);
    let migrated = folder.join("migrated.db");
    let connection = Connection::open(&migrated).unwrap();
    for sql in [include_str!("../fixtures/store/room_v1.sql"), include_str!("../fixtures/store/rows_v1.sql")]
    {
        connection.execute_batch(sql).unwrap();
    }
    drop(connection);
    let migrated = Store::open_existing(&migrated).unwrap();
    assert_eq!(migrated.change().map(|c| (c.from, c.to)), Some((1, 2)));
    converse(&migrated, "core-session");
}

/// A conversation with everything the core keeps beside Room's tables.
fn converse(store: &Store, session: &str) {
    let transcript = concat!(
        r#"{"id":"core-1","type":"USER","content":"look","attachments":[{"mime":"image/png","name":"a","data":"aGk="}]}"#,
        "\n",
        r#"{"id":"core-2","type":"AI_RESPONSE","content":"seen","token_count_input":1,"cache_read":2,"thinking_signature":"s"}"#,
    );
    let transcript = Transcript::read(transcript).unwrap();
    let epoch = NewEpoch {
        last: "core-1".into(),
        summary: "They looked.".into(),
        strategy: "prose".into(),
        reason: "manual".into(),
        tokens: (20, 10),
        model: None,
        tail_rows: 1,
        auto_continue: None,
        attempt: Some("{}".into()),
    };
    let model = ModelAt { kind: ProviderKind::OpenAi, base_url: "https://example".into(), model: "m".into() };
    let queued = Queued { session_id: session.into(), reason: "manual".into(), focus: None, queued_at: NOW };
    store
        .write(|transaction| {
            transcripts::import(transaction, &transcript, session, NOW)?;
            messages::set_pin(transaction, "core-1", Some(NOW))?;
            messages::set_mark(transaction, "core-2", Some("\"cleared\""))?;
            epochs::commit(transaction, session, &epoch, NOW)?;
            engine::set_chunk(transaction, session, "key", "part")?;
            engine::set_anchor(transaction, session, "{}")?;
            let lesson = Lesson { topic: "window".into(), value: "8000".into(), heard: 4, learnt_at: NOW };
            engine::set_lesson(transaction, &model, &lesson)?;
            queue::put(transaction, &queued)
        })
        .unwrap();
}

fn check(folder: &Path) {
    for name in ["created-written.db", "migrated-written.db"] {
        let store = Store::open_existing(&folder.join(name)).unwrap();
        assert_eq!(store.change(), None);
        let count =
            |sql: &str| -> u64 { store.read(|c| Ok(c.query_row(sql, [], |row| row.get(0))?)).unwrap() };
        assert_eq!(count("SELECT COUNT(*) FROM messages WHERE id = 'room-message'"), 1, "{name}");
        assert_eq!(count("SELECT COUNT(*) FROM messages WHERE id = 'room-cascaded'"), 0, "{name}");
        store.prepare("room-session").unwrap();
        let rows = store.read(|c| messages::page(c, "room-session", Place::END, 9)).unwrap();
        assert_eq!(
            rows.iter().map(|r| r.stored.row.id.as_str()).collect::<Vec<_>>(),
            ["room-message"],
            "{name}"
        );
        let standing = |session| store.read(|c| epochs::standing(c, session)).unwrap().map(|s| s.summary);
        assert_eq!(standing("room-session").as_deref(), Some("Summary"), "{name}");
        assert_eq!(standing("core-session").as_deref(), Some("They looked."), "{name}");
        println!("{name}: the core reads what Room wrote");
    }
    let store = Store::open_existing(&folder.join("v1.db")).unwrap();
    assert_eq!(store.change().map(|c| (c.from, c.to)), Some((1, 2)));
    println!("v1.db: the core migrates what Room made");
}
