//! Kills a process at random, or at a chosen byte of what it writes, while it creates, migrates or fills a file: afterwards the file is as it was before or after
//! what was being done, never between, and everything that was said to be saved is there.

use crate::store::{Folder, NOW, check_schema, contents, version_1};
use crate::store_kit::{append, create, epoch, fresh, row, rows, session, user};
use crate::store_purge::{CANARY, found as canaries};
use oneclaw_model::row::RowType;
use oneclaw_store::messages::{self, State};
use oneclaw_store::{Store, epochs, examine, transcripts};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the file that the child opens; without it, the child's test has nothing to do.
const FILE: &str = "ONECLAW_CRASH_FILE";

/// Gives the names of a child that goes on to fill the file.
const PREFIX: &str = "ONECLAW_CRASH_PREFIX";

/// Names what a child does that ends when a file grows beyond so many bytes.
const WORK: &str = "ONECLAW_CRASH_WORK";
const BYTES: &str = "ONECLAW_CRASH_BYTES";

/// Not a test of its own: the part that is killed.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    if let Ok(work) = std::env::var(WORK) {
        return end_when_it_grows(Path::new(&file), &work);
    }
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

/// The system ends this process, without a word, when it writes beyond so many bytes of any file.
fn end_beyond(bytes: &str) {
    let process = std::process::id().to_string();
    let limit = ["--core=0", &format!("--fsize={bytes}:")];
    assert!(Command::new("prlimit").args(["--pid", &process]).args(limit).status().unwrap().success());
}

fn end_when_it_grows(path: &Path, work: &str) {
    let bytes = std::env::var(BYTES).unwrap();
    match work {
        "migrate" => {
            end_beyond(&bytes);
            drop(Store::open_existing(path));
        }
        "turn" => {
            let store = Store::open_existing(path).unwrap();
            end_beyond(&bytes);
            let reply = row("reply", RowType::AiResponse, &"x".repeat(30_000), 100);
            let _ = store.write(|t| {
                messages::append(t, "s", &reply, State::Whole)?;
                epochs::commit(t, "s", &epoch("reply", &reply.content), 100)
            });
        }
        _ => {
            let store = Store::open_existing(path).unwrap();
            end_beyond(&bytes);
            let _ = store.purge("s");
        }
    }
}

/// Does the work in another process that may write so many bytes, and says whether it was killed over it.
fn is_killed_beyond(path: &Path, work: &str, bytes: u64) -> bool {
    let status = another_process(path).env(WORK, work).env(BYTES, bytes.to_string()).status().unwrap();
    // File size limit exceeded.
    assert!(status.success() || status.signal() == Some(25), "{status}");
    !status.success()
}

/// What is in a file after whoever comes next has opened it.
fn opened(path: &Path) -> BTreeMap<String, Vec<String>> {
    drop(Store::open_existing(path).unwrap());
    check_schema(path, 2);
    contents(path)
}

#[test]
fn whatever_byte_a_process_is_killed_at_the_file_is_as_before_or_after() {
    const KILLS: u64 = 20;
    let folder = Folder::new("crash-byte");
    for work in ["migrate", "turn", "purge"] {
        let sample = folder.file(&format!("{work}.db"));
        if work == "migrate" {
            version_1(&sample);
        } else {
            let store = Store::open(&sample, NOW).unwrap();
            create(&store, "s");
            for n in 0..20 {
                append(&store, "s", &row(&format!("m{n}"), RowType::User, &CANARY.repeat(300), n));
            }
        }
        let before = contents(&sample);
        let done = folder.file(&format!("{work}-done.db"));
        fs::copy(&sample, &done).unwrap();
        assert!(!is_killed_beyond(&done, work, 10_000_000));
        let after = opened(&done);
        assert!(after != before);
        let size = fs::metadata(&done).unwrap().len();
        let mut kills = [0; 2];
        for number in 0..KILLS {
            let path = folder.file(&format!("{work}/{number}.db"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(&sample, &path).unwrap();
            // Never quite at the end of a page.
            let is_killed = is_killed_beyond(&path, work, size * number / KILLS + number * 13);
            let found = contents(&path);
            let is_before = if found == before { true } else { found["messages"] != after["messages"] };
            assert!(!is_before || found == before, "{work}, {number}: something between");
            kills[usize::from(!is_before)] += usize::from(is_killed);
            let found = opened(&path);
            // A migration goes on where it was stopped; the rest is not done again.
            let expected = if is_before && work != "migrate" { &before } else { &after };
            assert!(found == *expected, "{work}, {number}: something between");
            if work == "purge" && !is_before {
                assert_eq!(canaries(&path), 0);
            }
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
        }
        // A migration is written into the file itself: nothing grows any more once it is done.
        let sides = if work == "migrate" { 1 } else { 2 };
        assert!(
            kills.iter().take(sides).all(|kills| *kills > 0),
            "{work}: the kills hit both sides: {kills:?}"
        );
    }
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
    const FILES: usize = 10;
    const KILLS: usize = 10;
    let (mut total, mut during) = (0, [0; 3]);
    // On a machine where some steps take no time, it takes more files to hit each of them.
    for file in 0..10 * FILES {
        if file >= FILES && !during.contains(&0) {
            break;
        }
        let folder = Folder::new("crash-fill");
        let path = fresh(&folder, &["s"]).path().to_owned();
        let mut said = Vec::new();
        for number in file * KILLS..(file + 1) * KILLS {
            // Every second one at once: the next step has hardly begun then.
            let after = Duration::from_micros(number as u64 % 2 * (number as u64 * 7_919 % 3_000));
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
