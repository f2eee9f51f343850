//! Kills a process at random while it creates or migrates a file: afterwards the file is old or new, never between.

use crate::store::{Folder, NOW, check_schema, contents, version_1};
use oneclaw_store::{Store, examine};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names the file that the child opens; without it, the child's test has nothing to do.
const FILE: &str = "ONECLAW_CRASH_FILE";

/// Not a test of its own: the part that is killed.
#[test]
fn child() {
    if let Some(file) = std::env::var_os(FILE) {
        drop(Store::open(Path::new(&file), NOW));
    }
}

/// Opens the file in another process and kills that after a while; `None` lets it end.
fn open_and_kill(path: &Path, after: Option<Duration>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store_crash::child"])
        .env(FILE, path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
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
    for (number, delay) in moments(120, || open_and_kill(&sample, None)).enumerate() {
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
    for (number, delay) in moments(120, || open_and_kill(&sample, None)).enumerate() {
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
