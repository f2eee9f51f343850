//! Files that others may have written: what would run in them, what is damaged in them, what lies beside them.

use crate::store::{Folder, NOW, check_refused, check_schema, contents, listing, version_1};
use crate::store_kit::{append, as_fourth_core, fresh, ids, other_app, row, rows, user};
use oneclaw_model::Transcript;
use oneclaw_model::row::RowType;
use oneclaw_store::messages::{self, State};
use oneclaw_store::survey::survey;
use oneclaw_store::{Place, Store, StoreError, epochs, examine, sessions, shown, transcripts};
use oneclaw_tests::cases;
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Makes a file.
type Make = fn(&Path);

/// A file of the newest version that nobody has open.
fn version_2(path: &Path) {
    drop(Store::open(path, NOW).unwrap());
}

/// Replaces a part of a definition as no version of the app would.
fn redefine(path: &Path, name: &str, from: &str, to: &str) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "writable_schema", true).unwrap();
    let changed = connection
        .execute(
            "UPDATE sqlite_master SET sql = replace(sql, ?2, ?3) WHERE name = ?1 AND instr(sql, ?2)",
            (name, from, to),
        )
        .unwrap();
    assert_eq!(changed, 1, "{name}: {from}");
}

const NEVER: &str =
    "which this app never makes, and is not used; take that out with another program, or restore a backup";

#[test]
fn what_would_run_is_refused_by_name() {
    let folder = Folder::new("trust-runs");
    let both: [(&str, &str); 9] = [
        (
            "CREATE TRIGGER evil BEFORE INSERT ON messages BEGIN UPDATE providers SET api_base_url = 'http://x'; END",
            "a trigger named \"evil\"",
        ),
        (
            "CREATE TRIGGER \"e\u{1b}[2J\n\" AFTER UPDATE ON providers BEGIN SELECT 1; END",
            r#"a trigger named "e\u{1b}[2J\n""#,
        ),
        ("CREATE VIEW idle AS SELECT 1", "a view named \"idle\""),
        (
            "ALTER TABLE messages RENAME TO kept; CREATE VIEW messages AS
             WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM kept, n",
            "a view named \"messages\"",
        ),
        (
            "ALTER TABLE room_master_table RENAME TO kept; CREATE VIEW room_master_table AS
             WITH RECURSIVE n(id) AS (SELECT 43 UNION ALL SELECT id + 1 FROM n) SELECT id, '' identity_hash FROM n",
            "a view named \"room_master_table\"",
        ),
        (
            "DROP TABLE app_settings; CREATE VIRTUAL TABLE app_settings USING fts5(key, value)",
            "a virtual table named \"app_settings\"",
        ),
        (
            "ALTER TABLE messages ADD COLUMN more TEXT AS (hex(content))",
            "a column \"more\" in table \"messages\"",
        ),
        (
            "CREATE INDEX more ON messages (hex(content))",
            "an index \"more\" of its own kind on table \"messages\"",
        ),
        (
            "CREATE UNIQUE INDEX one ON sessions (is_active)",
            "an index \"one\" of its own kind on table \"sessions\"",
        ),
    ];
    let makes: [(Make, &str); 2] = [(version_1, "old"), (version_2, "new")];
    for (make, age) in makes {
        for (n, (sql, what)) in both.into_iter().enumerate() {
            let path = folder.file(&format!("{age}-{n}.db"));
            make(&path);
            Connection::open(&path).unwrap().execute_batch(sql).unwrap();
            check_refused(&path, &format!("has {what}, {NEVER}"));
        }
    }
    let new: [(&str, &str); 3] = [
        (
            "ALTER TABLE core_version RENAME TO kept; CREATE VIEW core_version AS SELECT 4 version",
            "a view named \"core_version\"",
        ),
        (
            "CREATE INDEX later ON core_messages (mark) WHERE hex(mark) > ''",
            "an index \"later\" of its own kind on table \"core_messages\"",
        ),
        (
            "CREATE TRIGGER core_evil AFTER INSERT ON core_messages BEGIN SELECT 1; END",
            "a trigger named \"core_evil\"",
        ),
    ];
    for (n, (sql, what)) in new.into_iter().enumerate() {
        let path = folder.file(&format!("core-{n}.db"));
        version_2(&path);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        check_refused(&path, &format!("has {what}, {NEVER}"));
    }
}

#[test]
fn clauses_that_refuse_or_replace_rows_are_named() {
    let folder = Folder::new("trust-clauses");
    let cases = [
        (
            "messages",
            "`content` TEXT NOT NULL",
            "`content` TEXT NOT NULL CHECK (hex(content) > '')",
            "a table \"messages\" with CHECK",
        ),
        ("sessions", "`title` TEXT", "`title` TEXT COLLATE NOCASE", "a table \"sessions\" with COLLATE"),
        (
            "agents",
            "`name` TEXT NOT NULL,",
            "`name` TEXT NOT NULL ON CONFLICT IGNORE,",
            "a table \"agents\" with CONFLICT",
        ),
        (
            "sessions",
            "`deleted_at` INTEGER",
            "`deleted_at` INTEGER DEFAULT 5",
            "another column \"deleted_at\" in table \"sessions\"",
        ),
        (
            "providers",
            "`api_base_url` TEXT NOT NULL",
            "`api_base_url` TEXT NOT NULL AS (`name`)",
            "another column \"api_base_url\" in table \"providers\"",
        ),
        (
            "agents",
            "`tool_ids` TEXT NOT NULL",
            "`tool_ids` TEXT NOT NULL, more TEXT DEFAULT (hex('x'))",
            "a column \"more\" in table \"agents\"",
        ),
        (
            "room_master_table",
            "identity_hash TEXT",
            "identity_hash TEXT AS (hex(id))",
            "another column \"identity_hash\" in table \"room_master_table\"",
        ),
        ("messages", "ON DELETE CASCADE", "ON DELETE SET NULL", "other foreign keys in table \"messages\""),
        (
            "core_version",
            "version INTEGER NOT NULL",
            "version INTEGER NOT NULL CHECK (version)",
            "a table \"core_version\" with CHECK",
        ),
        (
            "core_messages",
            "mark TEXT",
            "mark TEXT /* ' */ check (1) -- '\n",
            "a table \"core_messages\" with CHECK",
        ),
        (
            "core_messages",
            "is_partial INTEGER NOT NULL DEFAULT 0",
            "is_partial INTEGER NOT NULL DEFAULT 1",
            "another column \"is_partial\" in table \"core_messages\"",
        ),
        (
            "core_messages_pinned",
            "pinned_at IS NOT NULL",
            "hex(mark) IS NOT NULL",
            "an index \"core_messages_pinned\" of its own kind on table \"core_messages\"",
        ),
    ];
    for (n, (name, from, to, what)) in cases.into_iter().enumerate() {
        let path = folder.file(&format!("{n}.db"));
        version_2(&path);
        redefine(&path, name, from, to);
        check_refused(&path, &format!("has {what}, {NEVER}"));
    }
}

/// What differs and does nothing locks no conversation away.
#[test]
fn harmless_differences_are_let_be() {
    let folder = Folder::new("trust-harmless");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE notes (x CHECK (x > 5)); CREATE VIRTUAL TABLE words USING fts5(x);
             ALTER TABLE agents ADD COLUMN colour TEXT DEFAULT 'red'; ALTER TABLE agents ADD COLUMN size INTEGER DEFAULT -1;
             CREATE INDEX mine ON messages (type DESC, tool_name COLLATE NOCASE); ANALYZE;",
        )
        .unwrap();
    drop(connection);
    for (table, from, to) in [
        ("messages", "`content` TEXT NOT NULL", "\"content\"  varchar(99) /* CHECK */ not null"),
        ("models", "`display_name` TEXT", "[display_name] TEXT DEFAULT NULL"),
    ] {
        redefine(&path, table, from, to);
    }
    let before = contents(&path);
    let store = Store::open(&path, NOW).unwrap();
    assert_eq!(store.change().map(|change| change.to), Some(2));
    store.prepare("s1").unwrap();
    append(&store, "s1", &user("more", NOW));
    assert_eq!(rows(&store, "s1").len(), 8);
    drop(store);
    assert_eq!(contents(&path)["agents"], before["agents"]);
}

/// The original app's own way from version 1 to 2, as its document gives it.
#[test]
fn a_file_that_the_original_app_has_migrated_is_one_of_ours() {
    let folder = Folder::new("trust-migrated");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "ALTER TABLE models ADD COLUMN context_window_size INTEGER DEFAULT NULL;
             ALTER TABLE sessions ADD COLUMN compacted_summary TEXT DEFAULT NULL;
             ALTER TABLE sessions ADD COLUMN compact_boundary_timestamp INTEGER DEFAULT NULL;
             UPDATE room_master_table SET identity_hash = 'f50a20c642811826a22174751ad5cfcc'; PRAGMA user_version = 2;",
        )
        .unwrap();
    let store = Store::open(&path, NOW).unwrap();
    store.prepare("s1").unwrap();
    assert_eq!(rows(&store, "s1").len(), 7);
}

/// A file as Room makes it of an exported schema.
fn of_room(path: &Path, schema: &Path) -> i64 {
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let database = &schema["database"];
    let connection = Connection::open(path).unwrap();
    let run = |sql: &Value, table: &Value| {
        let sql = sql.as_str().unwrap().replace("${TABLE_NAME}", table.as_str().unwrap_or_default());
        connection.execute_batch(&sql).unwrap();
    };
    for entity in database["entities"].as_array().unwrap() {
        run(&entity["createSql"], &entity["tableName"]);
        for index in entity["indices"].as_array().into_iter().flatten() {
            run(&index["createSql"], &entity["tableName"]);
        }
    }
    database["setupQueries"].as_array().unwrap().iter().for_each(|sql| run(sql, &Value::Null));
    connection.execute_batch("CREATE TABLE android_metadata (locale TEXT)").unwrap();
    connection.pragma_update(None, "user_version", database["version"].as_i64()).unwrap();
    database["version"].as_i64().unwrap()
}

#[test]
fn rooms_own_files_are_taken_for_what_they_are() {
    let folder = Folder::new("trust-room");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/room");
    for version in [1, 2] {
        let path = folder.file(&format!("{version}.db"));
        of_room(&path, &fixtures.join(format!("room-schema-v{version}.json")));
        assert_eq!(examine(&path).unwrap().from, version);
        drop(Store::open(&path, NOW).unwrap());
        check_schema(&path, 2);
    }
    for schema in fs::read_dir(fixtures.join("later")).unwrap() {
        let schema = schema.unwrap().path();
        let path = folder.file(schema.with_extension("db").file_name().unwrap().to_str().unwrap());
        match of_room(&path, &schema) {
            1 => check_refused(
                &path,
                "is a database of another program (version 1 with another identity); choose another file",
            ),
            version => check_refused(
                &path,
                &format!("has schema version {version}, this program knows up to 2; update the program"),
            ),
        }
    }
}

/// Should a trigger or view get into a file that is open, nothing of it runs.
#[test]
fn what_gets_into_an_open_file_does_not_run_either() {
    let folder = Folder::new("trust-later");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("m1", NOW));
    let other = other_app(store.path());
    other
        .execute_batch(
            "CREATE TRIGGER evil AFTER INSERT ON messages BEGIN
                UPDATE messages SET content = 'something else' WHERE id = new.id; END;
             CREATE VIEW more AS SELECT 1 x",
        )
        .unwrap();
    append(&store, "s", &user("m2", NOW));
    let texts: Vec<String> = rows(&store, "s").into_iter().map(|stored| stored.row.content).collect();
    assert_eq!(texts, ["text of m1", "text of m2"]);
    let answer = store.read(|c| Ok(c.query_row("SELECT x FROM more", [], |row| row.get::<_, i64>(0))?));
    assert!(answer.unwrap_err().to_string().contains("access to view \"more\" prohibited"));
    for sql in [
        "UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 2",
        "DELETE FROM sqlite_master",
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_master",
    ] {
        let refused = store.write(|t| Ok(t.execute_batch(sql)?));
        assert!(refused.is_err(), "{sql}");
    }
    // A purge may write pages, and nobody may after it.
    store.purge("s").unwrap();
    let refused =
        store.write(|t| Ok(t.execute("UPDATE sqlite_dbpage SET data = zeroblob(4096) WHERE pgno = 2", [])?));
    assert!(refused.is_err());
}

/// Pages of an index that lead to each other again and again: a table with more rows than could ever be counted.
#[test]
fn looking_at_a_file_comes_to_an_end() {
    const PAGE: usize = 4_096;
    const CELLS: usize = 250;
    const CELL: usize = 10;
    let folder = Folder::new("trust-endless");
    let path = folder.file("oneclaw.db");
    version_2(&path);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = DELETE;
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 80)
             INSERT INTO app_settings SELECT i || hex(zeroblob(200)), '' FROM n",
        )
        .unwrap();
    let pages = "SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_app_settings_1' ORDER BY path";
    let mut query = connection.prepare(pages).unwrap();
    let pages: Vec<usize> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    drop(query);
    drop(connection);
    assert!(pages.len() > 6, "{pages:?}");
    let mut bytes = fs::read(&path).unwrap();
    // Five pages, each of which leads to the next one again and again; the last of them to one with entries.
    for step in pages.windows(2).take(5) {
        let (at, next) = ((step[0] - 1) * PAGE, (step[1] as u32).to_be_bytes());
        let page = &mut bytes[at..at + PAGE];
        page.fill(0);
        page[0] = 2;
        page[3..5].copy_from_slice(&(CELLS as u16).to_be_bytes());
        page[5..7].copy_from_slice(&((PAGE - CELLS * CELL) as u16).to_be_bytes());
        page[8..12].copy_from_slice(&next);
        for cell in 0..CELLS {
            let place = PAGE - (cell + 1) * CELL;
            page[12 + cell * 2..14 + cell * 2].copy_from_slice(&(place as u16).to_be_bytes());
            page[place..place + 4].copy_from_slice(&next);
            // A text of one letter, and row 1.
            page[place + 4..place + CELL].copy_from_slice(&[5, 3, 15, 1, b'a', 1]);
        }
    }
    fs::write(&path, &bytes).unwrap();
    match survey(&path, None) {
        Err(StoreError::Damaged { what, .. }) => {
            assert_eq!(what, "it takes more steps to look through than a file of its size");
        }
        other => panic!("{other:?}"),
    }
    assert!(fs::read(&path).unwrap() == bytes);
}

/// Where the tables and indices of a file begin, by name.
fn roots(path: &Path) -> Vec<(String, usize)> {
    let connection = Connection::open(path).unwrap();
    let mut query =
        connection.prepare("SELECT name, rootpage FROM sqlite_master WHERE rootpage > 0").unwrap();
    query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

/// The file of an older core, with rows of its own.
fn older_core(path: &Path) {
    let store = Store::open(path, NOW).unwrap();
    crate::store_kit::create(&store, "s");
    for n in 0..300 {
        append(&store, "s", &row(&format!("m{n}"), RowType::User, &"x".repeat(400), n));
    }
    store.write(|t| messages::set_pin(t, "m7", Some(1))).unwrap();
    drop(store);
    as_fourth_core(&Connection::open(path).unwrap());
}

#[test]
fn damage_at_any_table_or_index_is_noticed_before_a_file_is_changed() {
    let folder = Folder::new("trust-damage");
    let makes: [(Make, &str); 2] = [(version_1, "old"), (older_core, "core")];
    for (make, age) in makes {
        let sample = folder.file(&format!("{age}.db"));
        make(&sample);
        let whole = fs::read(&sample).unwrap();
        assert!(!examine(&sample).unwrap().is_none());
        for (name, root) in roots(&sample) {
            for damage in [0x00, 0xff] {
                let path = folder.file(&format!("{age}-{name}-{damage}.db"));
                let mut bytes = whole.clone();
                bytes[(root - 1) * 4_096..root * 4_096].fill(damage);
                fs::write(&path, &bytes).unwrap();
                for error in [Store::open(&path, NOW).unwrap_err(), examine(&path).unwrap_err()] {
                    assert!(matches!(error, StoreError::Damaged { .. }), "{name}: {error}");
                }
                assert!(fs::read(&path).unwrap() == bytes, "{name}: the file has changed");
                assert!(
                    listing(&path)
                        .iter()
                        .all(|file| !file.starts_with(&format!("{age}-{name}-{damage}.db-")))
                );
                fs::remove_file(&path).unwrap();
            }
        }
        // Whole, it is brought up to date.
        drop(Store::open(&sample, NOW).unwrap());
        check_schema(&sample, 2);
    }
}

#[test]
fn the_damaged_table_is_named() {
    let folder = Folder::new("trust-agents");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    let (_, root) = roots(&path).into_iter().find(|(name, _)| name == "agents").unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[(root - 1) * 4_096..root * 4_096].fill(0x5a);
    fs::write(&path, &bytes).unwrap();
    let what = "is damaged (agents: database disk image is malformed); restore a backup";
    let error = examine(&path).unwrap_err().to_string();
    assert_eq!(error, format!("{}: {what}", path.display()));
}

// ---- times ----

fn sent(store: &Store, session: &str) -> Vec<(String, bool)> {
    store.prepare(session).unwrap();
    rows(store, session).into_iter().map(|r| (r.row.id, r.place.is_in_line())).collect()
}

fn time() -> impl Strategy<Value = i64> {
    let edge = |n: i64| (n.saturating_sub(2)..=n.saturating_add(2)).boxed();
    prop_oneof![
        3 => edge(i64::MAX),
        3 => edge(i64::MIN),
        2 => edge(Place::LINE.created_at),
        2 => edge(Place::LATEST),
        1 => edge(Place::EARLIEST),
        2 => edge(0),
        2 => Just(NOW),
        1 => any::<i64>(),
    ]
}

proptest! {
    #![proptest_config(cases(60))]
    /// Whatever times a transcript, another app or an earlier version gave: every row has a place among the others, in order
    /// of time, none waits for a turn that never comes, and what is written next comes after all of them.
    #[test]
    fn any_times_are_bounded_and_the_conversation_goes_on(
        times in proptest::collection::vec(time(), 1..8),
        boundary in proptest::option::of(time()),
        how in 0..3,
    ) {
        let folder = Folder::new("trust-times");
        let store = fresh(&folder, &["s"]);
        let mut sorted: Vec<(i64, String)> = times.iter().enumerate().map(|(n, t)| (*t, format!("m{n}"))).collect();
        match how {
            0 => {
                sorted.sort_by_key(|(time, _)| *time);
                let lines: Vec<String> = times.iter().enumerate().map(|(n, time)| {
                    format!("{{\"id\":\"m{n}\",\"type\":\"USER\",\"content\":\"c\",\"created_at\":{time}}}\n")
                }).collect();
                let transcript = Transcript::read(&lines.concat()).unwrap();
                store.write(|t| transcripts::import(t, &transcript, "i", NOW)).unwrap();
            }
            _ => {
                crate::store_kit::create(&store, "i");
                let other = other_app(store.path());
                for (n, time) in times.iter().enumerate() {
                    crate::store_kit::add(&other, "INSERT", "i", &format!("m{n}"), *time);
                }
                if how == 2 {
                    // As an earlier version put them in order.
                    store.prepare("i").unwrap();
                    other.execute("DELETE FROM core_messages", []).unwrap();
                    other.execute(
                        "INSERT INTO core_messages (session_id, created_at, message_id, place)
                         SELECT session_id, created_at, id, ROW_NUMBER() OVER (PARTITION BY created_at ORDER BY rowid) - 1
                         FROM messages", []).unwrap();
                    // What stands exactly there is in line, and taken up by the next turn.
                    other.execute("DELETE FROM messages WHERE created_at = ?1", [Place::LINE.created_at]).unwrap();
                    sorted.retain(|(time, _)| *time != Place::LINE.created_at);
                }
                let clamped = |t: i64| t.clamp(Place::EARLIEST, Place::LATEST);
                // What stood elsewhere comes after what stood there already, in its own order.
                let moved = |t: i64| if how == 2 && t != clamped(t) { Some(t) } else { None };
                sorted.sort_by_key(|(time, _)| (clamped(*time), moved(*time)));
            }
        }
        if let Some(boundary) = boundary {
            other_app(store.path()).execute(
                "UPDATE sessions SET compacted_summary = 'S', compact_boundary_timestamp = ?1 WHERE id = 'i'",
                [boundary]).unwrap();
        }
        let expected: Vec<(String, bool)> = sorted.iter().map(|(_, id)| (id.clone(), false)).collect();
        prop_assert_eq!(sent(&store, "i"), expected);
        for id in ["next", "after"] {
            // As a turn does it.
            store.write(|t| {
                messages::append(t, "i", &user(id, NOW), State::Whole)?;
                messages::put_in_line(t, "i", id)?;
                messages::move_to_end(t, "i", id)
            }).unwrap();
        }
        let all = sent(&store, "i");
        prop_assert_eq!(&all[all.len() - 2..], &[("next".to_owned(), false), ("after".to_owned(), false)]);
        let standing = store.read(|c| epochs::standing(c, "i")).unwrap();
        prop_assert_eq!(standing.is_some(), boundary.is_some());
        let since = standing.map_or(Place::START, |s| s.boundary);
        let since = store.read(|c| messages::since(c, "i", since)).unwrap();
        prop_assert_eq!(&ids(&since)[since.len() - 2..], &["next", "after"]);
        for stored in rows(&store, "i") {
            prop_assert!((Place::EARLIEST..=Place::LATEST).contains(&stored.row.created_at));
        }
        store.write(|t| epochs::commit(t, "i", &crate::store_kit::epoch("next", "sum"), NOW)).unwrap();
        let kept = store.read(|c| messages::since(c, "i", epochs::standing(c, "i")?.unwrap().boundary)).unwrap();
        prop_assert_eq!(ids(&kept), ["after"]);
    }
}

// ---- beside the file ----

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Names the file that a child makes; without it, the child's test has nothing to do.
const FILE: &str = "ONECLAW_TRUST_FILE";

/// Not a test of its own: makes a file and looks what lies beside it meanwhile.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let store = Store::open(Path::new(&file), NOW).unwrap();
    crate::store_kit::create(&store, "s");
    for suffix in ["", "-wal", "-shm"] {
        let path = PathBuf::from(format!("{}{suffix}", store.path().display()));
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_fresh_file_is_for_this_user_only_whatever_the_umask() {
    for umask in ["000", "022", "077", "277"] {
        let folder = Folder::new(&format!("trust-umask-{umask}"));
        let path = folder.file("oneclaw.db");
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap());
        let output = command.args(["--exact", "store_trust::child"]).env(FILE, &path).output().unwrap();
        assert!(output.status.success(), "{umask}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(mode(&path), 0o600, "{umask}");
        assert_eq!(listing(&path), ["oneclaw.db"]);
    }
}

/// Everything in a folder that is not the file: names, kinds, permissions, contents.
fn others(folder: &Path) -> Vec<(PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            if path.file_name().unwrap() == "oneclaw.db" {
                continue;
            }
            let content = if kind.is_file() { fs::read(&path).unwrap() } else { vec![] };
            if kind.is_dir() {
                folders.push(path.clone());
            }
            found.push((path, kind.permissions().mode(), content));
        }
    }
    found.sort();
    found
}

#[test]
fn what_lies_beside_a_file_and_is_not_ours_is_let_be() {
    let folder = Folder::new("trust-beside");
    let path = folder.file("oneclaw.db");
    let beside = |suffix: &str| folder.file(&format!("oneclaw.db{suffix}"));
    for name in [".look", ".look-0123456789abcdef", ".look-0123456789abcdee"] {
        fs::create_dir(beside(name)).unwrap();
        fs::write(beside(name).join("copy.db"), "precious").unwrap();
    }
    // Of the right name and for one user only, but with something else in it.
    fs::set_permissions(beside(".look-0123456789abcdee"), Permissions::from_mode(0o700)).unwrap();
    fs::write(beside(".look-0123456789abcdee").join("diary"), "precious").unwrap();
    for name in [
        ".new",
        ".new-journal",
        ".new-0123456789abcdef",
        ".new-0123456789ABCDEF",
        ".new-1",
        ".history",
        ".bak",
    ] {
        fs::write(beside(name), "precious").unwrap();
        fs::set_permissions(beside(name), Permissions::from_mode(0o644)).unwrap();
    }
    symlink(beside(".bak"), beside(".new-00000000000000ff")).unwrap();
    symlink(&folder.0, beside(".look-00000000000000ff")).unwrap();
    let before = others(&folder.0);
    let store = Store::open(&path, NOW).unwrap();
    crate::store_kit::create(&store, "s");
    // As a kill leaves it, so that it is looked at in a copy.
    for suffix in ["", "-wal"] {
        fs::copy(beside(suffix), folder.file(&format!("killed.db{suffix}"))).unwrap();
    }
    drop(store);
    for suffix in ["", "-wal"] {
        fs::rename(folder.file(&format!("killed.db{suffix}")), beside(suffix)).unwrap();
    }
    assert_eq!(survey(&path, None).unwrap().sessions.len(), 1);
    drop(Store::open(&path, NOW).unwrap());
    assert_eq!(others(&folder.0), before);
}

#[test]
fn what_killed_processes_have_left_goes() {
    let folder = Folder::new("trust-left");
    let path = folder.file("oneclaw.db");
    version_2(&path);
    let copy = folder.file("oneclaw.db.look-00ff00ff00ff00ff");
    fs::create_dir(&copy).unwrap();
    for name in ["copy.db", "copy.db-wal", "copy.db-journal", "copy.db-shm"] {
        fs::write(copy.join(name), "left").unwrap();
    }
    fs::set_permissions(&copy, Permissions::from_mode(0o700)).unwrap();
    for name in ["oneclaw.db.new-0123456789abcdef", "oneclaw.db.new-0123456789abcdef-journal"] {
        fs::write(folder.file(name), "left").unwrap();
        fs::set_permissions(folder.file(name), Permissions::from_mode(0o600)).unwrap();
    }
    drop(Store::open(&path, NOW).unwrap());
    assert_eq!(listing(&path), ["oneclaw.db"]);
}

#[test]
fn a_link_that_leads_nowhere_is_not_replaced() {
    let folder = Folder::new("trust-dangling");
    let path = folder.file("oneclaw.db");
    for target in [folder.file("elsewhere.db"), path.clone()] {
        symlink(&target, &path).unwrap();
        let errors = [
            Store::open(&path, NOW).unwrap_err(),
            Store::open_existing(&path).unwrap_err(),
            examine(&path).unwrap_err(),
            survey(&path, None).unwrap_err(),
        ];
        for error in errors {
            let said = error.to_string();
            assert!(said.starts_with(&path.display().to_string()), "{said}");
            if target != path {
                let why =
                    "is a link that leads nowhere; remove the link, or put the file back that it leads to";
                assert_eq!(said, format!("{}: {why}", path.display()));
            }
        }
        assert_eq!(fs::read_link(&path).unwrap(), target);
        assert_eq!(listing(&path), ["oneclaw.db"]);
        fs::remove_file(&path).unwrap();
    }
}

/// The log of a file lies beside the file, wherever the link to it is.
#[test]
fn a_file_behind_a_link_is_seen_with_its_log() {
    let folder = Folder::new("trust-link");
    fs::create_dir(folder.file("there")).unwrap();
    let (path, link) = (folder.file("there/oneclaw.db"), folder.file("link.db"));
    let store = Store::open(&path, NOW).unwrap();
    symlink(&path, &link).unwrap();
    crate::store_kit::create(&store, "s");
    assert_eq!(survey(&link, None).unwrap().sessions.len(), 1);
    let second = Store::open(&link, NOW).unwrap();
    crate::store_kit::create(&second, "t");
    assert_eq!(store.read(|c| Ok(sessions::get(c, "t")?.id)).unwrap(), "t");
    drop((store, second));
    assert_eq!(listing(&link), ["link.db", "there"]);
    assert_eq!(listing(&path), ["oneclaw.db"]);
}

#[test]
fn paths_are_printed_so_that_they_steer_nothing() {
    let name = "a\u{1b}[2J\n\u{7f}\u{9b}31m\u{202e}é.db";
    assert_eq!(shown(Path::new(name)).to_string(), r"a\u{1b}[2J\n\u{7f}\u{9b}31m\u{202e}é.db");
    let folder = Folder::new("trust-shown");
    let said = Store::open_existing(&folder.file(name)).unwrap_err().to_string();
    assert_eq!(said, format!("{}: no such file", shown(&folder.file(name))));
    assert!(!said.contains(char::is_control));
}
