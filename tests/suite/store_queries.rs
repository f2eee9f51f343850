//! Conversations and their rows: kept, listed, read in parts.

use crate::store::{Folder, NOW};
use crate::store_kit::{add, append, create, fresh, ids, other_app, row, rows, session, user};
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, Row, ToolStatus};
use oneclaw_store::agents::GENERAL_ASSISTANT;
use oneclaw_store::attachments::{self, Described};
use oneclaw_store::messages::{self, Listed, State, Stored};
use oneclaw_store::sessions::{self, Cursor, Session, Shelf};
use oneclaw_store::survey::survey;
use oneclaw_store::{Place, Store, StoreError};
use rusqlite::Transaction;

/// The names of all sessions, collected page by page.
fn listed(store: &Store, shelf: Shelf, limit: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut from = Some(Cursor::FIRST);
    while let Some(cursor) = from {
        let page = store.read(|c| sessions::list(c, shelf, cursor, limit)).unwrap();
        assert!(page.sessions.len() <= limit);
        names.extend(page.sessions.into_iter().map(|s| s.id));
        from = page.next;
    }
    names
}

fn no_such(store: &Store, what: &str) -> String {
    format!("{}: has no {what}", store.path().display())
}

#[test]
fn a_session_is_made_renamed_and_handed_to_another_agent() {
    let folder = Folder::new("session");
    let store = fresh(&folder, &["s"]);
    let mut expected = Session {
        id: "s".into(),
        title: "title".into(),
        agent_id: GENERAL_ASSISTANT.into(),
        message_count: 0,
        preview: None,
        deleted_at: None,
        created_at: NOW,
        updated_at: NOW,
        model: None,
    };
    assert_eq!(session(&store, "s"), expected);
    store.write(|t| sessions::rename(t, "s", "Grüße 🌍")).unwrap();
    store.write(|t| sessions::set_agent(t, "s", "other")).unwrap();
    expected.title = "Grüße 🌍".into();
    expected.agent_id = "other".into();
    assert_eq!(session(&store, "s"), expected);
    assert!(store.write(|t| sessions::create(t, "s", "again", GENERAL_ASSISTANT, NOW)).is_err());
    assert_eq!(session(&store, "s"), expected);
}

#[test]
fn the_list_is_paged_over_equal_times_without_gap_or_repetition() {
    let folder = Folder::new("list");
    let names: Vec<String> = (0..12).map(|n| format!("s{n}")).collect();
    let store = fresh(&folder, &names.iter().map(String::as_str).collect::<Vec<_>>());
    append(&store, "s3", &user("m", NOW + 1));
    let mut expected: Vec<String> = names.iter().rev().filter(|name| *name != "s3").cloned().collect();
    expected.insert(0, "s3".into());
    for limit in [1, 2, 3, 5, 12, 13, 100] {
        assert_eq!(listed(&store, Shelf::Open, limit), expected, "{limit} at a time");
        assert_eq!(listed(&store, Shelf::Deleted, limit), [""; 0]);
    }
}

#[test]
fn a_session_thrown_away_comes_back_as_it_was_until_it_is_purged() {
    let folder = Folder::new("deleted");
    let store = fresh(&folder, &["a", "b"]);
    append(&store, "a", &user("m", NOW));
    let before = session(&store, "a");
    store.write(|t| sessions::delete(t, "a", NOW + 5)).unwrap();
    assert_eq!(session(&store, "a"), Session { deleted_at: Some(NOW + 5), ..before.clone() });
    assert_eq!(listed(&store, Shelf::Open, 1), ["b"]);
    assert_eq!(listed(&store, Shelf::Deleted, 1), ["a"]);
    store.write(|t| sessions::restore(t, "a")).unwrap();
    assert_eq!(session(&store, "a"), before);
    assert_eq!(listed(&store, Shelf::Open, 1), ["b", "a"]);
    store.purge("a").unwrap();
    assert_eq!(listed(&store, Shelf::Open, 1), ["b"]);
    assert_eq!(
        store.read(|c| messages::get(c, "m")).unwrap_err().to_string(),
        no_such(&store, "message \"m\"")
    );
}

#[test]
fn what_is_not_there_is_named() {
    let folder = Folder::new("nosuch");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("m", NOW));
    let expected = no_such(&store, "session \"x\"");
    type Work = fn(&Transaction<'_>) -> oneclaw_store::Result<()>;
    let on_sessions: [Work; 7] = [
        |t| sessions::get(t, "x").map(drop),
        |t| sessions::rename(t, "x", "t"),
        |t| sessions::set_agent(t, "x", "t"),
        |t| sessions::delete(t, "x", 1),
        |t| sessions::restore(t, "x"),
        |t| messages::append(t, "x", &user("n", 1), State::Whole).map(drop),
        |t| oneclaw_store::transcripts::header(t, "x").map(drop),
    ];
    for work in on_sessions {
        assert_eq!(store.write(work).unwrap_err().to_string(), expected);
    }
    assert_eq!(store.purge("x").unwrap_err().to_string(), expected);
    let on_messages: [Work; 6] = [
        |t| messages::update(t, &user("x", 1), State::Whole, 1),
        |t| messages::set_pin(t, "x", Some(1)),
        |t| messages::set_mark(t, "x", Some("m")),
        |t| messages::set_measure(t, &user("x", 1), "m"),
        |t| messages::get(t, "x").map(drop),
        |t| messages::place_of(t, "x").map(drop),
    ];
    for work in on_messages {
        assert_eq!(store.write(work).unwrap_err().to_string(), no_such(&store, "message \"x\""));
    }
    assert_eq!(rows(&store, "x"), []);
    assert!(store.write(|t| messages::append(t, "s", &user("m", 1), State::Whole)).is_err());
    assert_eq!(session(&store, "s").message_count, 1, "a name is given once");
}

#[test]
fn a_preview_is_100_units_of_the_latest_text_and_never_half_a_character() {
    let folder = Folder::new("preview");
    let store = fresh(&folder, &["s"]);
    let previews = [
        ("short", "short"),
        ("", "short"),
        (" \n\t\u{a0} ", "short"),
        ("  spaced  ", "spaced"),
        (&"a".repeat(101), &"a".repeat(100)),
        (&"😀".repeat(60), &"😀".repeat(50)),
        (&format!("a{}", "😀".repeat(60)), &format!("a{}", "😀".repeat(49))),
        (&"字".repeat(150), &"字".repeat(100)),
    ];
    for (n, (text, preview)) in previews.into_iter().enumerate() {
        append(&store, "s", &row(&format!("m{n}"), RowType::User, text, NOW + n as i64));
        let seen = session(&store, "s");
        assert_eq!(
            (seen.preview.as_deref(), seen.message_count, seen.updated_at),
            (Some(preview), n as u64 + 1, NOW + n as i64)
        );
    }
    let grown = row("m1", RowType::AiResponse, "grown", NOW);
    store.write(|t| messages::update(t, &grown, State::Whole, NOW + 50)).unwrap();
    let seen = session(&store, "s");
    assert_eq!((seen.preview.as_deref(), seen.message_count, seen.updated_at), (Some("grown"), 8, NOW + 50));
}

#[test]
fn a_clock_that_runs_backwards_keeps_the_order_of_insertion() {
    let folder = Folder::new("clock");
    let store = fresh(&folder, &["s"]);
    let times = [10, 10, 7, 12, 3, 12, 12, 20];
    let names: Vec<String> = (0..times.len()).map(|n| format!("m{}", times.len() - n)).collect();
    let places: Vec<Place> =
        names.iter().zip(times).map(|(name, time)| append(&store, "s", &user(name, time))).collect();
    let expected = [(10, 0), (10, 1), (10, 2), (12, 0), (12, 1), (12, 2), (12, 3), (20, 0)]
        .map(|(created_at, nth)| Place { created_at, nth });
    assert_eq!(places, expected);
    let read = rows(&store, "s");
    assert_eq!(ids(&read), names);
    assert_eq!(read.iter().map(|r| r.place).collect::<Vec<_>>(), expected);
    assert!(read.iter().all(|r| r.row.created_at == r.place.created_at));
}

#[test]
fn rows_are_read_in_parts_from_either_end_and_by_name() {
    let folder = Folder::new("parts");
    let store = fresh(&folder, &["s", "t"]);
    let names: Vec<String> = (0..23).map(|n| format!("m{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        let kind = if n % 5 == 0 { RowType::User } else { RowType::AiResponse };
        append(&store, "s", &row(name, kind, name, 100 + n as i64 / 4));
        append(&store, "t", &user(&format!("t{n}"), 100 + n as i64 / 4));
    }
    let all = rows(&store, "s");
    assert_eq!(ids(&all), names);
    for limit in [1, 2, 5, 22, 23, 24] {
        let mut backwards: Vec<Stored> = Vec::new();
        let mut before = Place::END;
        loop {
            let page = store.read(|c| messages::page(c, "s", before, limit)).unwrap();
            assert!(page.len() <= limit);
            let Some(first) = page.first() else { break };
            before = first.stored.place;
            backwards.splice(0..0, page.into_iter().map(|listed| listed.stored));
        }
        assert_eq!(backwards, all, "{limit} at a time");
        let mut forwards: Vec<Stored> = Vec::new();
        loop {
            let from = forwards.last().map_or(Place::START, |last| last.place.next());
            let page = store.read(|c| messages::next_page(c, "s", from, limit)).unwrap();
            if page.is_empty() {
                break;
            }
            forwards.extend(page);
        }
        assert_eq!(forwards, all, "{limit} at a time");
    }
    for (n, stored) in all.iter().enumerate() {
        store
            .read(|c| {
                assert_eq!(messages::since(c, "s", stored.place)?, all[n..]);
                assert_eq!(messages::get(c, &stored.row.id)?, *stored);
                assert_eq!(messages::place_of(c, &stored.row.id)?, stored.place);
                let newest = n.checked_sub(1).map(|before| all[before / 5 * 5].clone());
                assert_eq!(messages::newest_user(c, "s", stored.place)?, newest);
                Ok(())
            })
            .unwrap();
    }
    let wanted = ["m7", "nobody", "m2", "t3"].map(String::from);
    let found = store.read(|c| messages::by_ids(c, &wanted)).unwrap();
    assert_eq!(ids(&found), ["m7", "m2", "t3"]);
}

#[test]
fn pins_and_marks_are_kept_beside_a_row_and_taken_away_again() {
    let folder = Folder::new("pins");
    let store = fresh(&folder, &["s", "t"]);
    for n in 0..6 {
        append(&store, "s", &user(&format!("m{n}"), NOW + n));
    }
    append(&store, "t", &user("other", NOW));
    store
        .write(|t| {
            messages::set_pin(t, "m4", Some(7))?;
            messages::set_pin(t, "m1", Some(9))?;
            messages::set_pin(t, "other", Some(8))?;
            messages::set_mark(t, "m1", Some("cut to 10"))
        })
        .unwrap();
    let pinned = || store.read(|c| messages::pinned(c, "s")).unwrap();
    let seen: Vec<_> = pinned().into_iter().map(|r| (r.row.id, r.pinned_at, r.mark)).collect();
    assert_eq!(seen, [("m1".into(), Some(9), Some("cut to 10".into())), ("m4".into(), Some(7), None)]);
    store.write(|t| messages::set_pin(t, "m1", None)).unwrap();
    store.write(|t| messages::set_mark(t, "m1", None)).unwrap();
    assert_eq!(ids(&pinned()), ["m4"]);
    assert_eq!(rows(&store, "s")[1].mark, None);
}

/// A row with something in every field.
fn whole_row(id: &str) -> Row {
    let attachment = |name: &str, data: Option<&str>| Attachment {
        mime: "image/png".into(),
        name: name.into(),
        width: Some(640),
        height: None,
        data: data.map(Into::into),
    };
    Row {
        thinking_content: Some("hm".into()),
        tool_call_id: Some("c1".into()),
        tool_name: Some("read_file".into()),
        tool_input: Some("{\"path\":\"ä\"}".into()),
        tool_output: Some("A\0B".into()),
        tool_status: Some(ToolStatus::Timeout),
        tool_duration_ms: Some(12),
        token_count_input: Some(0),
        token_count_output: Some(i32::MAX as u64),
        model_id: Some("gpt-4o".into()),
        provider_id: Some("provider-openai".into()),
        cache_read: Some(5),
        cache_write: Some(6),
        thinking_signature: Some("signed".into()),
        attachments: vec![attachment("one", Some("aGk=")), attachment("two", None)],
        ..row(id, RowType::ToolResult, "text", NOW)
    }
}

#[test]
fn every_field_comes_back_and_a_reply_grows_from_partial_to_whole() {
    let folder = Folder::new("fields");
    let store = fresh(&folder, &["s"]);
    let whole = whole_row("m");
    let plain = row("p", RowType::System, "", NOW);
    append(&store, "s", &whole);
    store.write(|t| messages::append(t, "s", &plain, State::Partial)).unwrap();
    let stored = |row: &Row, nth, state| Stored {
        row: row.clone(),
        place: Place { created_at: NOW, nth },
        state,
        pinned_at: None,
        mark: None,
        measure: None,
    };
    assert_eq!(rows(&store, "s"), [stored(&whole, 0, State::Whole), stored(&plain, 1, State::Partial)]);
    let grown = Row { kind: RowType::System, attachments: vec![], ..whole_row("p") };
    store.write(|t| messages::update(t, &grown, State::Partial, NOW)).unwrap();
    assert_eq!(rows(&store, "s")[1], stored(&grown, 1, State::Partial));
    let path = store.path().to_owned();
    drop(store);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(rows(&store, "s")[1].state, State::Partial, "an interrupted reply is known after a restart");
    store.write(|t| messages::update(t, &plain, State::Whole, NOW)).unwrap();
    assert_eq!(rows(&store, "s"), [stored(&whole, 0, State::Whole), stored(&plain, 1, State::Whole)]);
}

#[test]
fn lists_describe_what_is_attached_and_do_not_read_it() {
    let folder = Folder::new("attached");
    let store = fresh(&folder, &["s"]);
    let whole = whole_row("m");
    append(&store, "s", &whole);
    append(&store, "s", &user("plain", NOW));
    store.write(|t| messages::set_pin(t, "m", Some(7))).unwrap();
    let described = |name: &str, size| Described {
        mime: "image/png".into(),
        name: name.into(),
        width: Some(640),
        height: None,
        size,
    };
    let mut all = rows(&store, "s");
    all.iter_mut().for_each(|stored| stored.row.attachments.clear());
    let listed = [vec![described("one", 3), described("two", 0)], vec![]];
    let listed: Vec<Listed> =
        all.into_iter().zip(listed).map(|(stored, attachments)| Listed { stored, attachments }).collect();
    let page = || store.read(|c| messages::page(c, "s", Place::END, 9)).unwrap();
    let pins = || store.read(|c| messages::pins(c, "s")).unwrap();
    assert_eq!((page(), pins()), (listed.clone(), listed[..1].to_vec()));
    for (nth, attachment) in whole.attachments.iter().enumerate() {
        assert_eq!(store.read(|c| attachments::get(c, "m", nth)).unwrap(), *attachment);
    }
    for (message, nth) in [("m", 2), ("plain", 0), ("nobody", 0)] {
        let error = store.read(|c| attachments::get(c, message, nth)).unwrap_err();
        assert_eq!(error.to_string(), no_such(&store, &format!("attachment {nth} of message {message:?}")));
    }
    // Bytes that cannot be read do not keep a list from being read: it does not look at them.
    other_app(store.path())
        .execute("UPDATE core_attachments SET data = x'ffffffff' WHERE place = 0", [])
        .unwrap();
    assert_eq!((page(), pins()), (listed.clone(), listed[..1].to_vec()));
    assert!(store.read(|c| attachments::get(c, "m", 0)).is_err());
    assert!(store.read(|c| messages::since(c, "s", Place::START)).is_err());
}

#[test]
fn a_measure_is_handed_out_until_a_text_changes() {
    let folder = Folder::new("measure");
    let store = fresh(&folder, &["s"]);
    let whole = whole_row("m");
    append(&store, "s", &whole);
    let measure = || store.read(|c| messages::get(c, "m")).unwrap().measure;
    assert_eq!(measure(), None);
    store.write(|t| messages::set_measure(t, &whole, "42 tokens")).unwrap();
    assert_eq!(measure().as_deref(), Some("42 tokens"));
    let texts: [fn(&mut Row) -> &mut String; 6] = [
        |r| &mut r.content,
        |r| r.thinking_content.as_mut().unwrap(),
        |r| r.thinking_signature.as_mut().unwrap(),
        |r| r.tool_name.as_mut().unwrap(),
        |r| r.tool_input.as_mut().unwrap(),
        |r| r.tool_output.as_mut().unwrap(),
    ];
    for text in texts {
        let mut changed = whole.clone();
        let text = text(&mut changed);
        // Another text of the same length.
        *text = "#".repeat(text.len());
        store.write(|t| messages::update(t, &changed, State::Whole, NOW)).unwrap();
        assert_eq!(measure(), None);
        store.write(|t| messages::update(t, &whole, State::Whole, NOW)).unwrap();
        assert_eq!(measure(), None);
        store.write(|t| messages::set_measure(t, &whole, "42 tokens")).unwrap();
    }
    let ended = Row { tool_status: None, token_count_output: None, model_id: None, ..whole };
    store.write(|t| messages::update(t, &ended, State::Partial, NOW)).unwrap();
    assert_eq!(measure().as_deref(), Some("42 tokens"), "the texts are as they were");
    let sql = "UPDATE messages SET tool_output = 'longer than before'";
    other_app(store.path()).execute(sql, []).unwrap();
    assert_eq!(measure(), None, "another app has changed the text");
}

#[test]
fn odd_values_of_another_app_lock_nothing_away() {
    let folder = Folder::new("odd");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("before", 10));
    let other = other_app(store.path());
    other
        .execute_batch(
            "INSERT INTO messages VALUES
               ('odd', 's', 'HOLOGRAM', x'c3a4ff', 7, 1.5, x'00', NULL, CAST(x'ff61' AS TEXT), 'MAYBE', -3, -1, 99999999999,
                'm', NULL, 11.7),
               (x'fe', 's', 'USER', 'blob name', NULL, NULL, NULL, NULL, NULL, NULL, 'x', 'y', 'z', NULL, NULL, 'noon'),
               (CAST(x'fd' AS TEXT), 's', 'USER', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 12);
             UPDATE sessions SET title = CAST(x'54ff' AS TEXT), message_count = -4, last_message_preview = x'41',
               created_at = 'then', compacted_summary = x'53', compact_boundary_timestamp = 'never';
             UPDATE providers SET type = 'ORACLE', is_active = 'perhaps' WHERE id = 'provider-gemini';
             UPDATE models SET is_default = 'no', context_window_size = -1 WHERE id = 'gpt-4o';
             UPDATE agents SET tool_ids = 'none', is_built_in = 'yes';",
        )
        .unwrap();
    store.prepare("s").unwrap();
    let read = rows(&store, "s");
    assert_eq!(
        read.iter().map(|r| (r.row.id.as_str(), r.row.created_at)).collect::<Vec<_>>(),
        [("\u{fffd}", 0), ("before", 10), ("odd", 11), ("\u{fffd}", 12)]
    );
    let expected = Row {
        thinking_content: Some("7".into()),
        tool_call_id: Some("1.5".into()),
        tool_name: Some("\0".into()),
        tool_output: Some("\u{fffd}a".into()),
        model_id: Some("m".into()),
        ..row("odd", RowType::System, "ä\u{fffd}", 11)
    };
    assert_eq!(read[2].row, expected);
    append(&store, "s", &user("after", 1));
    assert_eq!(ids(&rows(&store, "s"))[4], "after");
    let seen = session(&store, "s");
    assert_eq!((seen.title.as_str(), seen.message_count, seen.created_at), ("T\u{fffd}", 0, 0));
    assert_eq!(listed(&store, Shelf::Open, 1), ["s"]);
    store
        .read(|c| {
            assert_eq!(oneclaw_store::epochs::standing(c, "s")?, None);
            assert!(!oneclaw_store::catalogue::provider(c, "provider-gemini")?.is_active);
            assert_eq!(oneclaw_store::catalogue::model(c, "provider-openai", "gpt-4o")?.window, None);
            assert!(oneclaw_store::agents::get(c, GENERAL_ASSISTANT)?.tools.is_empty());
            Ok(())
        })
        .unwrap();
    assert_eq!(survey(store.path(), Some("s")).unwrap().sessions[0].messages, 5);
}

#[test]
fn a_row_another_app_takes_away_and_adds_again_is_found_again() {
    let folder = Folder::new("again");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("a", 10));
    append(&store, "s", &user("b", 11));
    let other = other_app(store.path());
    // The number of the newest row is given again.
    other.execute("DELETE FROM messages WHERE id = 'b'", []).unwrap();
    add(&other, "INSERT", "s", "b", 5);
    store.prepare("s").unwrap();
    assert_eq!(ids(&rows(&store, "s")), ["b", "a"]);
    // A tool that does not mind foreign keys leaves the old place behind.
    other.pragma_update(None, "foreign_keys", false).unwrap();
    add(&other, "INSERT OR REPLACE", "s", "a", 2);
    store.prepare("s").unwrap();
    assert_eq!(ids(&rows(&store, "s")), ["a", "b"]);
    create(&store, "t");
    add(&other, "INSERT OR REPLACE", "t", "a", 2);
    store.prepare("t").unwrap();
    assert_eq!((ids(&rows(&store, "s")), ids(&rows(&store, "t"))), (vec!["b"], vec!["a"]));
    assert!(matches!(store.read(|c| messages::get(c, "c")), Err(StoreError::NoSuch { .. })));
}
