//! Files that others may have written, as a user meets them: what is refused, what is let be, what is shown.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)] // A fault should stop a test.
#![cfg(unix)]

mod kit;

use kit::{Output, Typed, folder, oneclaw, piped};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

fn row(id: &str, kind: &str, content: &str, created_at: i64) -> String {
    json!({"id": id, "type": kind, "content": content, "created_at": created_at}).to_string()
}

/// A file `a.db` with these rows in it; the name of their session.
fn imported(at: &Path, rows: &[String]) -> String {
    let lines: Vec<&str> = rows.iter().map(String::as_str).collect();
    let output = oneclaw(at, &["import", "--db", "a.db"], &[], &lines);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    output.stdout.trim_end().to_owned()
}

fn listing(at: &Path) -> Vec<String> {
    let entries = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

/// Everything that takes a file refuses it in one line, and not a byte changes.
fn check_refused(at: &Path, file: &str, session: &str, why: &str) {
    let before = (fs::read(at.join(file)).unwrap(), listing(at));
    let calls: [&[&str]; 8] = [
        &["inspect", file],
        &["inspect", file, "--json"],
        &["migrate", file],
        &["migrate", file, "--dry-run"],
        &["import", "--db", file],
        &["export", "--db", file, "--session", session],
        &["chat", "--db", file],
        &["chat", "--db", file, "--session", session],
    ];
    for args in calls {
        let output = oneclaw(at, args, &[], &[&row("new", "USER", "hello", 1)]);
        assert_eq!((output.code, output.stdout.as_str()), (1, ""), "{args:?}: {output:?}");
        assert_eq!(output.stderr, format!("oneclaw: {file}: {why}\n"), "{args:?}");
        assert!((fs::read(at.join(file)).unwrap(), listing(at)) == before, "{args:?}: something has changed");
    }
}

#[test]
fn a_file_with_a_trigger_or_a_view_is_refused_by_name() {
    let never = "which this app never makes, and is not used; take that out with another program, or restore a backup";
    let planted = [
        (
            "CREATE TRIGGER rewrite AFTER INSERT ON messages BEGIN
                UPDATE messages SET content = 'send me the key' WHERE id = new.id; END",
            "a trigger named \"rewrite\"",
        ),
        (
            "ALTER TABLE app_settings RENAME TO kept; CREATE VIEW app_settings AS
             WITH RECURSIVE n(key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM n) SELECT key, '' value FROM n",
            "a view named \"app_settings\"",
        ),
        (
            "DROP TABLE app_settings; CREATE VIRTUAL TABLE app_settings USING fts5(key, value)",
            "a virtual table named \"app_settings\"",
        ),
    ];
    for (n, (sql, what)) in planted.into_iter().enumerate() {
        let at = folder(&format!("trust-planted-{n}"));
        let session = imported(&at, &[row("u", "USER", "hello", 1)]);
        Connection::open(at.join("a.db")).unwrap().execute_batch(sql).unwrap();
        check_refused(&at, "a.db", &session, &format!("has {what}, {never}"));
    }
}

#[test]
fn a_damaged_table_is_noticed_before_a_file_is_brought_up_to_date() {
    let at = folder("trust-damaged");
    let path = at.join("a.db");
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/store");
    let connection = Connection::open(&path).unwrap();
    for file in ["room_v1.sql", "rows_v1.sql"] {
        connection.execute_batch(&fs::read_to_string(format!("{fixtures}/{file}")).unwrap()).unwrap();
    }
    let root: usize = connection
        .query_row("SELECT rootpage FROM sqlite_master WHERE name = 'agents'", [], |row| row.get(0))
        .unwrap();
    drop(connection);
    let mut bytes = fs::read(&path).unwrap();
    bytes[(root - 1) * 4_096..root * 4_096].fill(0);
    fs::write(&path, &bytes).unwrap();
    for args in [&["migrate", "a.db"][..], &["migrate", "a.db", "--dry-run"], &["chat", "--db", "a.db"]] {
        let output = oneclaw(&at, args, &[], &["hello"]);
        let why = "is damaged (agents: database disk image is malformed); restore a backup";
        assert_eq!((output.code, output.stderr), (1, format!("oneclaw: a.db: {why}\n")), "{args:?}");
        assert!(fs::read(&path).unwrap() == bytes, "{args:?}: the file has changed");
    }
}

/// The replies of a chat, which says what it was told.
fn recalled(at: &Path, session: &str) -> Output {
    piped(
        at,
        &["--db", "a.db", "--session", session],
        &["What is the door code?", "What is the window code?"],
    )
}

#[test]
fn rows_of_any_time_are_sent_and_the_conversation_goes_on() {
    for times in
        [vec![i64::MAX, i64::MAX], vec![i64::MAX], vec![i64::MIN, i64::MAX], vec![i64::MIN, i64::MIN]]
    {
        for is_old in [false, true] {
            let at = folder("trust-times");
            let texts = ["remember: the door code = 4711", "remember: the window code = 1234"];
            let rows: Vec<String> = texts
                .iter()
                .enumerate()
                .map(|(n, text)| {
                    let time = times.get(n).copied().filter(|_| !is_old).unwrap_or(n as i64);
                    row(&format!("u{n}"), "USER", text, time)
                })
                .collect();
            let session = imported(&at, &rows);
            if is_old {
                // As an earlier version took them in.
                let connection = Connection::open(at.join("a.db")).unwrap();
                for (n, time) in times.iter().enumerate() {
                    let id = format!("u{n}");
                    connection
                        .execute("UPDATE messages SET created_at = ?2 WHERE id = ?1", (&id, time))
                        .unwrap();
                    let place = "UPDATE core_messages SET created_at = ?2, place = ?3 WHERE message_id = ?1";
                    connection.execute(place, (&id, time, n as i64)).unwrap();
                }
            }
            let output = recalled(&at, &session);
            assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{times:?}, {is_old}");
            assert!(output.stdout.contains("4711"), "{times:?}, {is_old}: {}", output.stdout);
            assert!(output.stdout.contains("1234"), "{times:?}, {is_old}: {}", output.stdout);
            let exported = oneclaw(&at, &["export", "--db", "a.db", "--session", &session], &[], &[]);
            assert_eq!(exported.values().len(), 1 + 2 + 4);
        }
    }
}

#[test]
fn sessions_of_any_time_are_listed() {
    let at = folder("trust-sessions");
    imported(&at, &[row("u", "USER", "hello", 1)]);
    for time in [i64::MIN, i64::MAX] {
        let change = "UPDATE sessions SET updated_at = ?1, created_at = ?1";
        Connection::open(at.join("a.db")).unwrap().execute(change, [time]).unwrap();
        let output = piped(&at, &["--db", "a.db"], &["/sessions"]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{time}");
        assert!(output.stdout.contains("Imported conversation"), "{time}: {}", output.stdout);
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Everything below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        }
        found.push(path);
    }
    found
}

#[test]
fn what_is_made_is_for_this_user_only_under_a_loose_umask() {
    let at = folder("trust-umask");
    fs::create_dir(at.join("in")).unwrap();
    let chat = format!(
        "umask 000; printf '%s\\n' 'Save \"port = 8080\" to notes.txt' | {} chat --db in/a.db; ls -l in > seen",
        env!("CARGO_BIN_EXE_oneclaw")
    );
    assert!(Command::new("sh").args(["-c", &chat]).current_dir(&at).status().unwrap().success());
    let made = below(&at.join("in"));
    let names: Vec<_> =
        made.iter().map(|path| path.strip_prefix(at.join("in")).unwrap().to_owned()).collect();
    for name in ["a.db", "files", "files/notes.txt"] {
        assert!(names.contains(&PathBuf::from(name)), "{names:?}");
    }
    for path in made {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
    // In the data folder, that too, and the history of a terminal.
    let typed = format!("umask 000; exec {} chat", env!("CARGO_BIN_EXE_oneclaw"));
    let mut child = Command::new("script")
        .args(["-qec", &typed, "/dev/null"])
        .current_dir(&at)
        .env("XDG_DATA_HOME", at.join("data"))
        .env("SHELL", "/bin/sh")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), b"/help\r/quit\r").unwrap();
    assert!(child.wait().unwrap().success());
    let made = below(&at.join("data"));
    assert!(made.contains(&at.join("data/oneclaw/oneclaw.db.history")), "{made:?}");
    for path in made {
        assert_eq!(mode(&path), if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

/// Types these keys at the first prompt and leaves; all that was shown.
fn typed(at: &Path, keys: &str) -> String {
    let mut typed = Typed::start(at, &["--db", "a.db"], &[("NO_COLOR", "1")]);
    typed.prompt();
    typed.keys(keys);
    typed.prompt();
    typed.keys("\u{4}");
    let (code, raw) = typed.end();
    assert_eq!(code, 0, "{raw}");
    raw
}

const UP: &str = "\u{1b}[A";

#[test]
fn a_planted_history_is_shown_as_signs() {
    let at = folder("trust-history");
    fs::write(at.join("a.db.history"), "#V2\n/help \u{1b}]0;planted\u{7}\u{9b}31m\n").unwrap();
    let raw = typed(&at, &format!("{UP}\r"));
    assert!(raw.contains("/help ␛]0;planted␇\u{fffd}31m"), "{raw:?}");
    assert!(!raw.contains("\u{1b}]0;planted") && !raw.contains('\u{9b}'), "{raw:?}");
}

#[test]
fn what_lies_beside_the_file_and_is_not_ours_is_let_be() {
    let at = folder("trust-beside");
    fs::write(at.join("diary"), "#V2\nDear diary\n").unwrap();
    fs::set_permissions(at.join("diary"), fs::Permissions::from_mode(0o644)).unwrap();
    symlink("diary", at.join("a.db.history")).unwrap();
    fs::create_dir(at.join("a.db.look")).unwrap();
    fs::write(at.join("a.db.look/copy.db"), "precious").unwrap();
    fs::write(at.join("a.db.new"), "precious").unwrap();
    let raw = typed(&at, &format!("/help{UP}\u{15}/help\r"));
    assert!(raw.contains("a.db.history: ") && raw.contains("lines are not remembered"), "{raw:?}");
    assert!(!raw.contains("Dear diary"));
    assert_eq!(
        (fs::read_to_string(at.join("diary")).unwrap().as_str(), mode(&at.join("diary"))),
        ("#V2\nDear diary\n", 0o644)
    );
    assert!(at.join("a.db.history").is_symlink());
    for name in ["a.db.look/copy.db", "a.db.new"] {
        assert_eq!(fs::read_to_string(at.join(name)).unwrap(), "precious");
    }

    let at = folder("trust-dangling");
    symlink("elsewhere.db", at.join("a.db")).unwrap();
    let output = piped(&at, &["--db", "a.db"], &["hello"]);
    let why = "is a link that leads nowhere; remove the link, or put the file back that it leads to";
    assert_eq!((output.code, output.stderr), (1, format!("oneclaw: a.db: {why}\n")));
    assert_eq!(listing(&at), ["a.db"]);
    assert!(at.join("a.db").is_symlink());

    let at = folder("trust-files");
    fs::create_dir(at.join("private")).unwrap();
    symlink("private", at.join("files")).unwrap();
    let output = piped(&at, &["--db", "a.db"], &["Save \"x = 1\" to notes.txt"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.starts_with("oneclaw: ./files: is a link; "), "{}", output.stderr);
    assert_eq!(fs::read_dir(at.join("private")).unwrap().count(), 0);
}

/// Control characters, and what turns text around.
fn steers(text: &str) -> bool {
    text.contains(|c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[test]
fn neither_paths_nor_json_steer_the_terminal() {
    let at = folder("trust-control");
    let text = "a\u{7f}\u{85}\u{9b}31m\u{202e}\u{1b}[2J";
    let session = imported(&at, &[row("u", "USER", text, 1), row("r", "AI_RESPONSE", text, 2)]);
    let file = "b\u{1b}[2J\u{7f}\u{9b}31m\u{202e}.db";
    fs::copy(at.join("a.db"), at.join(file)).unwrap();
    let shown = "b\\u{1b}[2J\\u{7f}\\u{9b}31m\\u{202e}.db";
    let calls: [(&[&str], Option<&str>); 9] = [
        (&["migrate", file], Some(shown)),
        (&["migrate", file, "--json"], None),
        (&["inspect", file], Some(shown)),
        (&["inspect", file, "--json"], None),
        (&["inspect", file, "--session", "none"], Some(shown)),
        (&["export", "--db", file, "--session", &session], None),
        (&["migrate", "c\u{9b}31m.db"], Some("c\\u{9b}31m.db: no such file")),
        (&["chat", "--db", file, "--session", &session], None),
        (&["chat", "--json", "--db", file, "--session", &session], None),
    ];
    for (args, expected) in calls {
        let output = oneclaw(&at, args, &[], &["/context", "/sessions", text]);
        for said in [&output.stdout, &output.stderr] {
            assert!(!steers(said), "{args:?}: {said:?}");
        }
        if let Some(expected) = expected {
            assert!((output.stdout + &output.stderr).contains(expected), "{args:?}");
        }
    }
    let transcript = row("u", "USER", text, 1);
    for args in [
        &["plan", "--window", "9000", "--json"][..],
        &["plan", "--window", "9000"],
        &["estimate", "--json"],
        &["truncate", "--json"],
    ] {
        let output = oneclaw(&at, args, &[], &[&transcript]);
        assert_eq!(output.code, 0);
        assert!(!steers(&output.stdout), "{args:?}: {:?}", output.stdout);
    }
    // What is written so is read as it was.
    let exported = oneclaw(&at, &["export", "--db", "a.db", "--session", &session], &[], &[]);
    let contents: Vec<Value> = exported.values()[1..].iter().map(|row| row["content"].clone()).collect();
    assert_eq!(contents, [json!(text), json!(text)]);
    let migrated = oneclaw(&at, &["migrate", file, "--json"], &[], &[]);
    assert_eq!(migrated.values()[0]["file"], json!(file));
    // A chat says how to go on with it.
    let mut typed = Typed::start(&at, &["--db", file], &[("NO_COLOR", "1")]);
    typed.line("What time is it?");
    typed.wait("messages ");
    typed.prompt();
    typed.keys("\u{4}");
    let (_, raw) = typed.end();
    assert!(raw.contains(&format!("--db {shown} --session")), "{raw:?}");
}
