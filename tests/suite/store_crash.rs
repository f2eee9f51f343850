//! Kills a process at random while it creates, migrates or fills a file: afterwards the file is as it was before or after
//! what was being done, never between, and everything that was said to be saved is there.

use crate::store::{Folder, NOW, check_schema, contents, version_1};
use crate::store_kit::{epoch, fresh, row, rows, session, user};
use oneclaw_model::row::RowType;
use oneclaw_store::messages::{self, State};
use oneclaw_store::{Store, epochs, examine, transcripts};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the file that the child opens; without it, the child's test has nothing to do.
const FILE: &str = "ONECLAW_CRASH_FILE";

/// Gives the names of a child that goes on to fill the file.
const PREFIX: &str = "ONECLAW_CRASH_PREFIX";

/// Not a test of its own: the part that is killed.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let opened = Store::open(Path::new(&file), NOW);
    if let Ok(prefix) = std::env::var(PREFIX) {
        fill(&opened.unwrap(), &prefix);
    }
}

/// Says what is on the disk now. Not `println`: the test harness would keep it.
fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{what}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// Converses for ever: the user writes, a reply grows, and now and then a compaction is made or taken back.
fn fill(store: &Store, prefix: &str) {
    for n in 0.. {
        let (question, answer) = (format!("{prefix}-{n}-user"), format!("{prefix}-{n}-reply"));
        store.write(|t| messages::append(t, "s", &user(&question, n), State::Whole)).unwrap();
        say(&format!("row {question} 0"));
        let mut reply = row(&answer, RowType::AiResponse, "", n);
        store.write(|t| messages::append(t, "s", &reply, State::Partial)).unwrap();
        for length in [10, 3_000, 20_000] {
            reply.content = "x".repeat(length);
            store.write(|t| messages::update(t, &reply, State::Partial, n)).unwrap();
            say(&format!("row {answer} {length}"));
        }
        let made = store.write(|t| epochs::commit(t, "s", &epoch(&question, &answer), n)).unwrap();
        say(&format!("made {}", made.number));
        if n % 2 == 0 {
            let undone = store.write(|t| epochs::undo(t, "s", n)).unwrap().unwrap();
            say(&format!("undone {}", undone.number));
        }
    }
}

/// The test above in another process.
fn another_process(path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "store_crash::child"]).env(FILE, path);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Opens the file in another process and kills that after a while; `None` lets it end.
fn open_and_kill(path: &Path, after: Option<Duration>) {
    let mut child = another_process(path).spawn().unwrap();
    if let Some(after) = after {
        std::thread::sleep(after);
        // SIGKILL on Unix; a child that has already ended is as good.
        let _ = child.kill();
    }
    child.wait().unwrap();
}

/// Moments to kill at, spread over the time that an open takes here and now; the last child is let end.
fn moments(count: u32, open: impl FnOnce()) -> impl Iterator<Item = Option<Duration>> {
    let start = Instant::now();
    open();
    let whole = start.elapsed();
    (0..count).map(move |n| Some(whole * (n * 37 % count) / count)).chain([None])
}

#[test]
fn a_migration_that_is_killed_leaves_the_old_or_the_new_file() {
    let folder = Folder::new("crash-migrate");
    let (mut old, mut new) = (0, 0);
    let sample = folder.file("sample.db");
    version_1(&sample);
    for (number, delay) in moments(60, || open_and_kill(&sample, None)).enumerate() {
        let path = folder.file(&format!("{number}.db"));
        version_1(&path);
        let before = contents(&path);
        open_and_kill(&path, delay);
        let version = examine(&path).unwrap().from;
        if version == 1 {
            old += 1;
            assert_eq!(contents(&path), before);
        } else {
            new += 1;
        }
        check_schema(&path, version);
        // Whatever was there, the next open brings it up to date and every row is in it.
        drop(Store::open_existing(&path).unwrap());
        check_schema(&path, 2);
        assert_eq!(contents(&path)["messages"], before["messages"]);
    }
    assert!(old > 0 && new > 0, "the kills hit both sides: {old} old, {new} new");
}

#[test]
fn a_creation_that_is_killed_leaves_no_file_or_a_whole_one() {
    let folder = Folder::new("crash-create");
    let (mut none, mut whole) = (0, 0);
    let sample = folder.file("sample.db");
    for (number, delay) in moments(60, || open_and_kill(&sample, None)).enumerate() {
        let path = folder.file(&format!("{number}/oneclaw.db"));
        fs::create_dir(path.parent().unwrap()).unwrap();
        open_and_kill(&path, delay);
        if path.exists() {
            whole += 1;
            check_schema(&path, 2);
        } else {
            none += 1;
        }
        drop(Store::open(&path, NOW).unwrap());
        check_schema(&path, 2);
        let left: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["oneclaw.db"], "nothing is left of earlier tries");
    }
    assert!(none > 0 && whole > 0, "the kills hit both sides: {none} without, {whole} with a file");
}

/// Lets another process fill the file, kills it a while after it has said so many things, and returns all it said.
fn fill_and_kill(path: &Path, prefix: &str, things: usize, after: Duration) -> Vec<String> {
    let mut child = another_process(path).env(PREFIX, prefix).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let is_said = |line: &String| ["row ", "made ", "undone "].iter().any(|start| line.starts_with(start));
    let mut lines: Vec<String> = said.by_ref().filter(is_said).take(things).collect();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.extend(said.filter(is_said));
    lines
}

/// Everything that was said is in the file, and the file agrees with itself.
fn check_said(path: &Path, said: &[String]) {
    let store = Store::open_existing(path).unwrap();
    let rows = rows(&store, "s");
    let (made, standing, header) = store
        .read(|c| Ok((epochs::list(c, "s")?, epochs::standing(c, "s")?, transcripts::header(c, "s")?)))
        .unwrap();
    for line in said {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["row", id, length] => {
                let found = rows.iter().find(|r| r.row.id == id).unwrap();
                assert!(found.row.content.len() >= length.parse().unwrap(), "{line}");
            }
            ["made", number] => assert!(made.iter().any(|e| e.number.to_string() == number), "{line}"),
            ["undone", number] => {
                let found = made.iter().find(|e| e.number.to_string() == number).unwrap();
                assert!(found.undone_at.is_some(), "{line}");
            }
            _ => panic!("said {line:?}"),
        }
    }
    assert_eq!(session(&store, "s").message_count, rows.len() as u64);
    let newest = made.iter().rfind(|e| e.undone_at.is_none());
    assert_eq!(standing.map(|s| (s.summary, s.boundary)), newest.map(|e| (e.summary.clone(), e.boundary)));
    assert_eq!(header.compacted_summary, newest.map(|e| e.summary.clone()));
    drop(store);
    check_schema(path, 2);
}

#[test]
fn a_conversation_that_is_killed_has_everything_that_was_said_to_be_saved() {
    const KILLS: usize = 100;
    let (mut total, mut during) = (0, [0; 3]);
    for file in 0..10 {
        let folder = Folder::new("crash-fill");
        let path = fresh(&folder, &["s"]).path().to_owned();
        let mut said = Vec::new();
        for number in file * KILLS / 10..(file + 1) * KILLS / 10 {
            let after = Duration::from_micros(number as u64 * 7_919 % 3_000);
            said.extend(fill_and_kill(&path, &number.to_string(), number * 37 % 11, after));
            check_said(&path, &said);
            // What came last tells what was being done.
            let last = said.last().map_or("", String::as_str);
            during
                [["row", "made", "undone"].iter().position(|start| last.starts_with(start)).unwrap_or(0)] +=
                1;
        }
        total += said.len();
    }
    assert!(
        during.iter().all(|kills| *kills > 0),
        "the kills hit everything: {during:?} after {total} things"
    );
}
