//! Database files with damage: bits flipped, parts overwritten, exchanged, cut off.

use super::bytes::Bytes;
use crate::files::{Folder, version_1};
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, Row};
use oneclaw_store::agents::{self, GENERAL_ASSISTANT};
use oneclaw_store::epochs::{self, NewEpoch};
use oneclaw_store::messages::{self, State};
use oneclaw_store::sessions::{self, Cursor, Shelf};
use oneclaw_store::survey::survey;
use oneclaw_store::{
    Place, Store, StoreError, attachments, catalogue, engine, examine, queue, settings, transcripts,
};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

const NOW: i64 = 1_700_000_000_000;
const NAME: &str = "oneclaw.db";
const PAGE: usize = 4_096;

/// More rows or pages than this no sample has, however damaged: something goes round in circles.
const ENDLESS: usize = 10_000;

/// The longest text of an error, in characters; the path is not counted.
const LONGEST_ERROR: usize = 400;

/// The files that belong together, by name.
type Files = BTreeMap<String, Vec<u8>>;

/// A file of the original app; one of ours that was closed; one whose writer was killed, with its log.
static SAMPLES: LazyLock<[Files; 3]> = LazyLock::new(|| {
    let folder = Folder::new("fuzz-samples");
    let path = folder.file(NAME);
    version_1(&path);
    let original = files(&folder);
    drop(Store::open(&path, NOW).unwrap());
    fs::remove_file(&path).unwrap();
    let store = filled(&path);
    drop(store);
    let closed = files(&folder);
    let store = Store::open(&path, NOW).unwrap();
    store.write(|t| messages::append(t, "s2", &row(901, "in the log"), State::Partial)).unwrap();
    store.write(|t| sessions::create(t, "s9", "in the log", GENERAL_ASSISTANT, NOW)).unwrap();
    let killed = files(&folder);
    [original, closed, killed]
});

/// A damaged file is refused by an error that says so and stays as it is to the byte, or is opened; then every question
/// has an answer or an error. Nothing panics, nothing goes on for ever.
pub fn database(data: &[u8]) {
    static CASES: AtomicU64 = AtomicU64::new(0);
    let folder = Folder::new(&format!("fuzz-{}", CASES.fetch_add(1, Ordering::Relaxed)));
    let path = folder.file(NAME);
    for (name, bytes) in damaged(&mut Bytes(data)) {
        let path = folder.file(&name);
        fs::write(&path, bytes).unwrap();
        // Of a file that was written just now, the store waits to see whether somebody goes on.
        File::options().write(true).open(path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    }
    let before = files(&folder);
    let looked = [examine(&path).map(drop), survey(&path, None).map(drop)];
    looked.into_iter().for_each(check);
    assert!(same(&before, &files(&folder)), "looking at it has changed the file");
    match Store::open(&path, NOW) {
        Err(error) => {
            check::<()>(Err(error));
            assert!(same(&before, &files(&folder)), "a file that is refused has changed");
        }
        Ok(store) => {
            read_everything(&store);
            write_something(&store);
            read_everything(&store);
        }
    }
}

fn files(folder: &Folder) -> Files {
    let entries = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

/// Whether nothing has changed. The index of a log is made anew by whoever reads it.
fn same(before: &Files, after: &Files) -> bool {
    let kept =
        |files: &Files| files.clone().into_iter().filter(|(name, _)| !name.ends_with("-shm")).collect();
    let (before, after): (Files, Files) = (kept(before), kept(after));
    before == after
}

fn damaged(bytes: &mut Bytes<'_>) -> Files {
    let mut files = bytes.choice(&SAMPLES[..]).clone();
    let names: Vec<String> = files.keys().cloned().collect();
    for _ in 0..16 {
        if bytes.is_empty() {
            break;
        }
        let file = files.get_mut(bytes.choice(&names)).unwrap();
        damage(file, bytes);
    }
    files
}

fn damage(file: &mut Vec<u8>, bytes: &mut Bytes<'_>) {
    if file.is_empty() {
        return;
    }
    let how = bytes.byte();
    let at = place(file.len(), bytes);
    match how % 8 {
        0..=2 => file[at] ^= 1 << (bytes.byte() % 8),
        3 => file[at] = bytes.byte(),
        4 => {
            let length = usize::from(bytes.byte());
            let new = bytes.take(length);
            let end = (at + new.len()).min(file.len());
            file[at..end].copy_from_slice(&new[..end - at]);
        }
        5 => {
            let end = (at + 1 + bytes.number(2) as usize % PAGE).min(file.len());
            file[at..end].fill(0);
        }
        6 => {
            let from = place(file.len(), bytes);
            let length = (1 + bytes.number(2) as usize % PAGE).min(file.len() - at.max(from));
            file.copy_within(from..from + length, at);
        }
        _ => file.truncate(at),
    }
}

/// Anywhere; at the start of a page, where its structure is; in the file's header.
fn place(length: usize, bytes: &mut Bytes<'_>) -> usize {
    let place = match bytes.byte() % 4 {
        0 => bytes.number(3) as usize,
        1 | 2 => usize::from(bytes.byte()) * PAGE + usize::from(bytes.byte()) % 64,
        _ => usize::from(bytes.byte()) % 110,
    };
    place % length
}

/// What is said of a file goes to screens and logs: one line, not too long. Nobody takes a damaged file for a fresh one.
fn check<T>(answer: Result<T, StoreError>) {
    let Err(error) = answer else { return };
    let text = error.to_string();
    let said = text.split_once(NAME).map_or(text.as_str(), |(_, said)| said);
    assert!(!said.contains(char::is_control), "{said:?}");
    assert!(said.chars().count() <= LONGEST_ERROR, "{} characters: {said}", said.chars().count());
    let is_known = !matches!(
        error,
        StoreError::Blank { .. }
            | StoreError::Missing { .. }
            | StoreError::Locked { .. }
            | StoreError::Full { .. }
    );
    assert!(is_known, "{error:?}");
}

fn read_everything(store: &Store) {
    let mut ids = vec!["s1".to_owned(), "s2".to_owned()];
    for shelf in [Shelf::Open, Shelf::Deleted] {
        let mut from = Some(Cursor::FIRST);
        let mut pages = 0;
        while let Some(cursor) = from {
            let page = store.read(|c| sessions::list(c, shelf, cursor, 2));
            from = page.as_ref().ok().and_then(|page| page.next);
            ids.extend(
                page.as_ref().iter().flat_map(|page| &page.sessions).map(|session| session.id.clone()),
            );
            check(page);
            pages += 1;
            assert!(pages < ENDLESS, "the list of sessions has no end");
        }
    }
    check(store.read(|c| sessions::search(c, Shelf::Open, "title", Cursor::FIRST, 10)));
    check(store.read(queue::list));
    check(store.read(agents::list));
    check(store.read(settings::all));
    check(store.read(catalogue::default_model));
    let providers = store.read(catalogue::providers);
    for provider in providers.as_ref().into_iter().flatten() {
        check(store.read(|c| catalogue::models(c, &provider.id)));
    }
    check(providers);
    ids.sort();
    ids.dedup();
    ids.iter().for_each(|id| read_session(store, id));
}

fn read_session(store: &Store, id: &str) {
    check(store.read(|c| sessions::get(c, id)));
    check(store.prepare(id));
    let page = store.read(|c| messages::page(c, id, Place::END, 5));
    for listed in page.as_ref().into_iter().flatten().filter(|listed| !listed.attachments.is_empty()) {
        check(store.read(|c| attachments::get(c, &listed.stored.row.id, 0)));
    }
    check(page);
    check(store.read(|c| messages::pins(c, id)));
    check(store.read(|c| messages::since(c, id, Place::START)));
    check(store.read(|c| messages::newest_user(c, id, Place::END)));
    check(store.read(|c| messages::pinned(c, id)));
    check(store.read(|c| messages::in_line(c, id)));
    check(store.read(|c| messages::taken_out(c, id)));
    check(store.read(|c| epochs::standing(c, id)));
    check(store.read(|c| epochs::list(c, id)));
    check(store.read(|c| epochs::next_number(c, id)));
    check(store.read(|c| engine::notes(c, id)));
    check(store.read(|c| transcripts::header(c, id)));
    let mut rows = 0;
    check(store.read(|c| {
        transcripts::rows(c, id, |_| {
            rows += 1;
            rows < ENDLESS
        })
    }));
    assert!(rows < ENDLESS, "the rows of a session have no end");
}

fn write_something(store: &Store) {
    check(store.write(|t| messages::append(t, "s1", &row(902, "more"), State::Whole)));
    check(store.write(|t| messages::set_pin(t, "m3", Some(NOW))));
    check(store.write(|t| messages::take_out(t, "s1", &["m5".to_owned()], NOW)));
    check(store.write(|t| epochs::commit(t, "s1", &epoch("m6"), NOW)));
    check(store.write(|t| epochs::undo(t, "s1", NOW)));
    check(store.write(|t| sessions::rename(t, "s2", "another title")));
    check(store.purge("s2"));
}

/// A file with something in every table, some of it on pages of its own.
fn filled(path: &Path) -> Store {
    let store = Store::open(path, NOW).unwrap();
    let write = store.write(|t| {
        for session in ["s1", "s2", "s3", "s4"] {
            sessions::create(t, session, "title", GENERAL_ASSISTANT, NOW)?;
        }
        sessions::delete(t, "s3", NOW)?;
        for number in 0..120 {
            let text = crate::words(number * 5);
            let session = if number < 90 { "s1" } else { "s2" };
            messages::append(t, session, &row(number, &text), State::Whole)?;
        }
        messages::append(t, "s1", &row(900, &crate::words(4_000)), State::Whole)?;
        epochs::commit(t, "s1", &epoch("m20"), NOW)?;
        epochs::commit(t, "s1", &epoch("m40"), NOW)?;
        messages::set_pin(t, "m50", Some(NOW))?;
        messages::set_mark(t, "m51", Some("trimmed"))?;
        messages::take_out(t, "s1", &["m70".to_owned()], NOW)?;
        messages::put_in_line(t, "s1", "m80")?;
        engine::set_anchor(t, "s1", "an anchor")?;
        engine::set_chunk(t, "s1", "a key", "a summary")?;
        settings::set(t, "theme", "dark")?;
        let (session_id, reason) = ("s2".to_owned(), "threshold".to_owned());
        queue::put(t, &queue::Queued { session_id, reason, focus: None, queued_at: NOW })
    });
    write.unwrap();
    store
}

fn row(number: usize, content: &str) -> Row {
    let kind = [RowType::User, RowType::AiResponse, RowType::ToolCall, RowType::ToolResult][number % 4];
    let picture = Attachment {
        mime: "image/png".into(),
        name: "picture".into(),
        width: Some(10),
        height: None,
        data: Some("AAAA".into()),
    };
    Row {
        content: content.into(),
        tool_call_id: Some(format!("c{number}")),
        token_count_input: Some(10),
        attachments: if number.is_multiple_of(7) { vec![picture] } else { vec![] },
        ..Row::new(format!("m{number}"), kind, NOW + number as i64 / 3)
    }
}

fn epoch(last: &str) -> NewEpoch {
    NewEpoch {
        last: last.into(),
        summary: "What came before.".into(),
        strategy: "prose".into(),
        reason: "threshold".into(),
        tokens: (1_000, 100),
        model: Some("gpt-4o".into()),
        tail_rows: 3,
        auto_continue: None,
        attempt: None,
    }
}
