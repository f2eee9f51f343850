//! The original app's file: made, migrated, refused. Real SQLite files throughout.

use oneclaw_catalogue::Vendor;
use oneclaw_model::Usage;
use oneclaw_model::{PresetModel, ProviderKind};
use oneclaw_store::survey::{SessionSurvey, survey};
use oneclaw_store::{Change, Store, StoreError, examine};
pub use oneclaw_tests::files::{Folder, version_1};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

pub const NOW: i64 = 1_700_000_000_000;

fn fixture(name: &str) -> String {
    fs::read_to_string(format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Everything in the tables of a file, row by row, as text.
pub fn contents(path: &Path) -> BTreeMap<String, Vec<String>> {
    let connection = Connection::open(path).unwrap();
    let names =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut tables = BTreeMap::new();
    for table in strings(&connection, names) {
        let mut query = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = query.column_count();
        let rows = query.query_map([], |row| {
            (0..columns).map(|i| row.get_ref(i).map(|v| format!("{v:?}"))).collect::<Result<Vec<_>, _>>()
        });
        tables.insert(table, rows.unwrap().map(|row| row.unwrap().join("|")).collect());
    }
    tables
}

fn strings(connection: &Connection, sql: &str) -> Vec<String> {
    let mut query = connection.prepare(sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The texts a query over an open file gives.
fn ask(store: &Store, sql: &str) -> Vec<String> {
    store.read(|connection| Ok(strings(connection, sql))).unwrap()
}

/// What Room compares of a table: columns, foreign keys, indices.
fn shape(connection: &Connection, table: &str) -> Vec<String> {
    let mut shape = strings(
        connection,
        &format!(
            "SELECT name || ' ' || type || ' ' || \"notnull\" || ' ' || pk FROM pragma_table_info('{table}') ORDER BY name"
        ),
    );
    shape.extend(strings(
        connection,
        &format!("SELECT 'key ' || \"table\" || ' ' || \"from\" || ' ' || \"to\" || ' ' || on_update || ' ' || on_delete FROM pragma_foreign_key_list('{table}')"),
    ));
    shape.extend(strings(
        connection,
        &format!("SELECT 'index ' || l.name || ' ' || l.\"unique\" || ' ' || i.name FROM pragma_index_list('{table}') l, pragma_index_info(l.name) i WHERE l.origin = 'c' ORDER BY 1"),
    ));
    shape
}

/// The same from Room's exported schema.
fn room_shape(entity: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let keys: Vec<String> =
        entity["primaryKey"]["columnNames"].as_array().unwrap().iter().map(text).collect();
    let mut shape: Vec<String> = entity["fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| {
            let name = text(&field["columnName"]);
            let not_null = u8::from(field["notNull"].as_bool().unwrap_or(false));
            let place = keys.iter().position(|k| *k == name).map_or(0, |i| i + 1);
            format!("{name} {} {not_null} {place}", text(&field["affinity"]))
        })
        .collect();
    shape.sort();
    for key in entity["foreignKeys"].as_array().into_iter().flatten() {
        shape.push(format!(
            "key {} {} {} {} {}",
            text(&key["table"]),
            text(&key["columns"][0]),
            text(&key["referencedColumns"][0]),
            text(&key["onUpdate"]),
            text(&key["onDelete"])
        ));
    }
    let mut indices: Vec<String> = entity["indices"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|index| {
            let unique = u8::from(index["unique"].as_bool().unwrap());
            format!("index {} {unique} {}", text(&index["name"]), text(&index["columnNames"][0]))
        })
        .collect();
    indices.sort();
    shape.extend(indices);
    shape
}

/// Room's tables, version and identity are those of its exported schema, and the file is sound.
pub fn check_schema(path: &Path, version: i64) {
    let connection = Connection::open(path).unwrap();
    let room: Value = serde_json::from_str(&fixture(&format!("room/room-schema-v{version}.json"))).unwrap();
    let database = &room["database"];
    for entity in database["entities"].as_array().unwrap() {
        let table = entity["tableName"].as_str().unwrap();
        assert_eq!(shape(&connection, table), room_shape(entity), "{table}");
    }
    let hash = strings(&connection, "SELECT identity_hash FROM room_master_table WHERE id = 42");
    assert_eq!(hash, [database["identityHash"].as_str().unwrap()]);
    assert_eq!(
        strings(&connection, "SELECT CAST(user_version AS TEXT) FROM pragma_user_version"),
        [version.to_string()]
    );
    assert_eq!(strings(&connection, "PRAGMA integrity_check"), ["ok"]);
    let mut foreign = connection.prepare("PRAGMA foreign_key_check").unwrap();
    assert!(foreign.query([]).unwrap().next().unwrap().is_none());
}

#[test]
fn a_fresh_file_is_rooms_version_2_with_its_seeds() {
    let folder = Folder::new("fresh");
    let path = folder.file("oneclaw.db");
    let store = Store::open(&path, NOW).unwrap();
    assert_eq!((store.path(), store.change()), (path.as_path(), None));
    let providers = ask(&store, "SELECT id || ' ' || name || ' ' || type FROM providers ORDER BY rowid");
    assert_eq!(
        providers,
        [
            "provider-openai OpenAI OPENAI",
            "provider-anthropic Anthropic ANTHROPIC",
            "provider-gemini Google Gemini GEMINI"
        ]
    );
    let models =
        ask(&store, "SELECT id || ' ' || source || ' ' || context_window_size FROM models ORDER BY id");
    let presets = PresetModel::all().map(|m| format!("{} PRESET {}", m.id, m.window));
    let kinds = [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini];
    let current = kinds.into_iter().flat_map(|kind| {
        let vendor = Vendor::of(kind, "");
        let vendor = if kind == ProviderKind::OpenAi { Vendor::OpenAi } else { vendor };
        oneclaw_catalogue::current(kind).iter().map(move |id| {
            let window = oneclaw_catalogue::find(vendor, id).unwrap().limits.window.unwrap();
            format!("{id} PRESET {window}")
        })
    });
    let mut expected: Vec<String> = presets.chain(current).collect();
    expected.sort();
    assert_eq!(models, expected);
    let default = ask(&store, "SELECT id FROM models WHERE is_default");
    assert_eq!(default, [oneclaw_catalogue::current(ProviderKind::OpenAi)[0]]);
    let agent = ask(&store, "SELECT id || ' ' || name || ' ' || tool_ids FROM agents");
    let tools = r#"["get_current_time","read_file","write_file","http_request"]"#;
    assert_eq!(agent, [format!("agent-general-assistant General Assistant {tools}")]);
    drop(store);
    check_schema(&path, 2);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing is left beside the file");
}

#[test]
fn the_frozen_version_1_is_rooms() {
    let folder = Folder::new("frozen");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    check_schema(&path, 1);
}

#[test]
fn a_version_1_file_is_migrated_and_keeps_every_row() {
    let folder = Folder::new("migrated");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    let before = contents(&path);
    let bytes = fs::read(&path).unwrap();
    let expected = Change { from: 1, to: 2, windows: 4, core_from: 0, core_to: 5 };
    assert_eq!(examine(&path).unwrap(), expected);
    assert_eq!(fs::read(&path).unwrap(), bytes, "looking changes nothing");

    let store = Store::open_existing(&path).unwrap();
    assert_eq!(store.change(), Some(&expected));
    let windows = "SELECT provider_id || '/' || id || ' ' || COALESCE(context_window_size, 'none') FROM models ORDER BY 1";
    assert_eq!(
        ask(&store, windows),
        [
            "mine/gpt-4o 128000",
            "mine/llama-local none",
            "provider-anthropic/claude-opus-4-20250514 200000",
            "provider-openai/gpt-4o 128000",
            "provider-openai/o1 200000",
        ]
    );
    drop(store);
    check_schema(&path, 2);
    let after = contents(&path);
    for table in ["agents", "providers", "messages", "app_settings", "android_metadata"] {
        assert_eq!(after[table], before[table], "{table}");
    }
    let shortened =
        |rows: &[String]| rows.iter().map(|r| r.trim_end_matches("|Null").to_owned()).collect::<Vec<_>>();
    assert_eq!(shortened(&after["sessions"]), shortened(&before["sessions"]));

    let again = Store::open_existing(&path).unwrap();
    assert_eq!(again.change(), None, "migrated once");
}

#[test]
fn a_window_the_user_has_set_is_kept() {
    let folder = Folder::new("kept");
    let path = folder.file("oneclaw.db");
    drop(Store::open(&path, NOW).unwrap());
    Connection::open(&path)
        .unwrap()
        .execute("UPDATE models SET context_window_size = 5 WHERE id = 'gpt-4o'", [])
        .unwrap();
    let store = Store::open(&path, NOW).unwrap();
    let window = ask(&store, "SELECT CAST(context_window_size AS TEXT) FROM models WHERE id = 'gpt-4o'");
    assert_eq!(window, ["5"]);
}

#[test]
fn what_is_in_a_file_can_be_seen_at_any_version() {
    let folder = Folder::new("survey");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    let session = SessionSurvey {
        id: "s1".into(),
        title: "Grüße 🌍".into(),
        is_deleted: false,
        messages: 7,
        tokens: Usage { input: 420, output: 35, ..Usage::default() },
        summary_chars: None,
        boundary: None,
        epochs: vec![],
    };
    let old = survey(&path, None).unwrap();
    assert_eq!((old.version, old.sessions.len()), (1, 2));
    assert_eq!(old.sessions[0], session);
    assert!(old.sessions[1].is_deleted);
    drop(Store::open_existing(&path).unwrap());
    assert_eq!(survey(&path, Some("s1")).unwrap().sessions, [session]);
    assert_eq!(survey(&path, Some("nobody")).unwrap().sessions, []);
}

/// What lies in a file's folder.
pub fn listing(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path.parent().unwrap()).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Refused, with words that name the file, and not a byte changed nor anything left beside it.
pub fn check_refused(path: &Path, expected: &str) {
    let before = (fs::read(path).ok(), listing(path));
    for error in
        [Store::open(path, NOW).unwrap_err(), examine(path).unwrap_err(), survey(path, None).unwrap_err()]
    {
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
    }
    assert!((fs::read(path).ok(), listing(path)) == before, "{}: something has changed", path.display());
}

/// Makes a file.
type Make = fn(&Path);

/// A file of the newest version that nobody has open.
fn version_2(path: &Path) {
    drop(Store::open(path, NOW).unwrap());
}

/// The file that `make` makes, changed by SQL.
fn changed(path: &Path, make: Make, sql: &str) {
    make(path);
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn what_is_no_file_of_ours_is_refused_and_left_alone() {
    let folder = Folder::new("refused");
    check_refused(&folder.0, "is a folder; name a file in it");

    let empty = folder.file("empty");
    fs::write(&empty, "").unwrap();
    check_refused(&empty, "is empty; remove it to start afresh, or restore a backup");

    let text = folder.file("notes.txt");
    fs::write(&text, "Dear diary, ".repeat(100)).unwrap();
    check_refused(&text, "is not a SQLite database; choose another file");

    let header = folder.file("header");
    fs::write(&header, "SQLite format 3\0 and then nothing").unwrap();
    check_refused(&header, "is damaged (its header is cut off); restore a backup");

    let other = folder.file("other.db");
    Connection::open(&other)
        .unwrap()
        .execute_batch("CREATE TABLE notes (x); PRAGMA user_version = 2")
        .unwrap();
    check_refused(
        &other,
        "is a database of another program (version 2, not made by this app); choose another file",
    );

    let stranger = folder.file("stranger.db");
    version_1(&stranger);
    Connection::open(&stranger)
        .unwrap()
        .execute("UPDATE room_master_table SET identity_hash = 'x'", [])
        .unwrap();
    check_refused(
        &stranger,
        "is a database of another program (version 1 with another identity); choose another file",
    );

    let newer = folder.file("newer.db");
    version_1(&newer);
    Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    check_refused(&newer, "has schema version 99, this program knows up to 2; update the program");

    // Another app's file may be Room's too, and keep a log.
    let room = folder.file("room.db");
    Connection::open(&room)
        .unwrap()
        .execute_batch(
            "PRAGMA journal_mode = WAL; CREATE TABLE room_master_table (id INTEGER PRIMARY KEY, identity_hash TEXT);
             CREATE TABLE sessions (x); CREATE TABLE notes (x); PRAGMA user_version = 7;",
        )
        .unwrap();
    check_refused(
        &room,
        "is a database of another program (version 7, not made by this app); choose another file",
    );
}

#[test]
fn a_file_that_lacks_something_is_refused_and_what_it_lacks_is_named() {
    let folder = Folder::new("incomplete");
    let cases: [(Make, &str, &str); 9] = [
        (version_1, "DROP TABLE messages", "table messages"),
        (version_1, "DROP TABLE app_settings", "table app_settings"),
        (
            version_1,
            "ALTER TABLE messages DROP COLUMN thinking_content",
            "column thinking_content of table messages",
        ),
        (
            version_2,
            "ALTER TABLE sessions DROP COLUMN compacted_summary",
            "column compacted_summary of table sessions",
        ),
        (
            version_2,
            "ALTER TABLE models DROP COLUMN context_window_size",
            "column context_window_size of table models",
        ),
        (version_2, "DROP TABLE core_epochs", "table core_epochs"),
        (version_2, "ALTER TABLE core_queue DROP COLUMN focus", "column focus of table core_queue"),
        (version_2, "DROP TABLE core_version", "the version in core_version"),
        (version_2, "DELETE FROM core_version", "the version in core_version"),
    ];
    for (n, (make, sql, missing)) in cases.into_iter().enumerate() {
        let path = folder.file(&format!("{n}.db"));
        changed(&path, make, sql);
        check_refused(&path, &format!("{missing} is missing; restore a backup"));
    }
}

#[test]
fn a_file_that_is_cut_off_is_refused_wherever_the_cut_is() {
    let folder = Folder::new("cut");
    for (make, name) in [(version_1 as Make, "old"), (version_2, "new")] {
        let whole = folder.file(name);
        make(&whole);
        let bytes = fs::read(&whole).unwrap();
        for less in [1, 100, 4_095, 4_096, bytes.len() / 2] {
            let path = folder.file(&format!("{name}-{less}.db"));
            let there = bytes.len() - less;
            fs::write(&path, &bytes[..there]).unwrap();
            let what = format!("is damaged ({there} of {} bytes are there); restore a backup", bytes.len());
            check_refused(&path, &what);
        }
    }
}

#[test]
fn what_is_no_regular_file_is_refused_without_reading_it() {
    let folder = Folder::new("special");
    let pipe = folder.file("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/null"), Path::new("/dev/zero")] {
        for error in
            [Store::open(path, NOW).unwrap_err(), examine(path).unwrap_err(), survey(path, None).unwrap_err()]
        {
            let expected = format!("{}: is not a regular file; choose another one", path.display());
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn looking_leaves_nothing_beside_a_file() {
    let folder = Folder::new("looking");
    let path = folder.file("odd ?#% näme.db");
    for make in [version_1 as Make, version_2] {
        let _ = fs::remove_file(&path);
        make(&path);
        let before = (fs::read(&path).unwrap(), listing(&path));
        examine(&path).unwrap();
        survey(&path, None).unwrap();
        assert!((fs::read(&path).unwrap(), listing(&path)) == before);
    }
    // In use, it is looked at with what is in its log.
    let store = Store::open(&path, NOW).unwrap();
    crate::store_kit::create(&store, "s");
    let before = listing(&path);
    assert_eq!(survey(&path, None).unwrap().sessions.len(), 1);
    assert_eq!(listing(&path), before);
    // As a kill leaves it: with a log that has to be played first. The index of the log may be lost.
    let killed = folder.file("killed.db");
    for suffixes in [&["", "-wal", "-shm"][..], &["", "-wal"]] {
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{suffix}", killed.display()));
        }
        for suffix in suffixes {
            let from = format!("{}{suffix}", path.display());
            fs::copy(from, format!("{}{suffix}", killed.display())).unwrap();
        }
        let before = (fs::read(&killed).unwrap(), listing(&killed));
        assert_eq!(survey(&killed, None).unwrap().sessions.len(), 1);
        assert!((fs::read(&killed).unwrap(), listing(&killed)) == before);
    }
}

#[test]
fn a_database_without_tables_is_filled() {
    let folder = Folder::new("blank");
    let fresh = folder.file("fresh.db");
    version_2(&fresh);
    let blank = "CREATE TABLE t (x); DROP TABLE t";
    let android =
        "CREATE TABLE android_metadata (locale TEXT); INSERT INTO android_metadata VALUES ('de_DE')";
    let log = "PRAGMA journal_mode = WAL; CREATE TABLE t (x); DROP TABLE t";
    for (name, sql, locale) in
        [("blank", blank, "en_US"), ("android", android, "de_DE"), ("log", log, "en_US")]
    {
        let path = folder.file(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = (fs::read(&path).unwrap(), listing(&path));
        let expected = format!(
            "{}: has no tables yet; open it in the app or import something, or choose another file",
            path.display()
        );
        for error in [examine(&path).unwrap_err(), Store::open_existing(&path).unwrap_err()] {
            assert_eq!(error.to_string(), expected);
        }
        assert!((fs::read(&path).unwrap(), listing(&path)) == before);
        assert_eq!(Store::open(&path, NOW).unwrap().change(), None);
        check_schema(&path, 2);
        let mut expected = contents(&fresh);
        expected.insert("android_metadata".into(), vec![format!("Text({:?})", locale.as_bytes())]);
        let found = contents(&path);
        assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        assert!(found == expected, "{name}: {found:?}");
    }
    let table = folder.file("table");
    Connection::open(&table).unwrap().execute_batch("CREATE VIEW v AS SELECT 1").unwrap();
    check_refused(
        &table,
        "is a database of another program (version 0, not made by this app); choose another file",
    );
}

#[test]
fn a_log_without_its_file_is_not_played_into_a_fresh_one() {
    for suffix in ["-wal", "-journal"] {
        let folder = Folder::new("stray");
        let path = folder.file("oneclaw.db");
        let log = folder.file(&format!("oneclaw.db{suffix}"));
        fs::write(&log, "may hold rows").unwrap();
        let error = Store::open(&path, NOW).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}: is missing, but {} is there and may hold conversations; put the file back, or move that one away",
                path.display(),
                log.display()
            )
        );
        assert_eq!(listing(&path), [format!("oneclaw.db{suffix}")]);
        assert_eq!(fs::read(&log).unwrap(), b"may hold rows");
        fs::write(&log, "").unwrap();
        drop(Store::open(&path, NOW).unwrap());
        check_schema(&path, 2);
    }
}

#[test]
fn a_missing_file_is_created_only_when_asked_to() {
    let folder = Folder::new("missing");
    let path = folder.file("oneclaw.db");
    assert!(matches!(Store::open_existing(&path), Err(StoreError::Missing { .. })));
    assert!(!path.exists());
    let nowhere = folder.file("no/such/folder/oneclaw.db");
    assert_eq!(
        Store::open(&nowhere, NOW).unwrap_err().to_string(),
        format!("{}: its folder is missing; make that first", nowhere.display())
    );
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn a_file_in_use_is_said_to_be_in_use() {
    let folder = Folder::new("locked");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(matches!(Store::open_existing(&path), Err(StoreError::Locked { .. })));
    other.execute_batch("ROLLBACK").unwrap();
    assert!(Store::open_existing(&path).is_ok());
}

#[test]
fn a_migration_that_fails_leaves_the_old_version() {
    let folder = Folder::new("failed");
    let path = folder.file("oneclaw.db");
    version_1(&path);
    // The last of the columns that are added is there already.
    let column = "ALTER TABLE sessions ADD COLUMN compact_boundary_timestamp INTEGER";
    Connection::open(&path).unwrap().execute_batch(column).unwrap();
    let before = (contents(&path), fs::read(&path).unwrap());
    let error = Store::open_existing(&path).unwrap_err().to_string();
    assert!(error.ends_with("duplicate column name: compact_boundary_timestamp"), "{error}");
    assert!((contents(&path), fs::read(&path).unwrap()) == before);
    let column = "ALTER TABLE sessions DROP COLUMN compact_boundary_timestamp";
    Connection::open(&path).unwrap().execute_batch(column).unwrap();
    assert_eq!(Store::open_existing(&path).unwrap().change().map(|c| c.to), Some(2));
}
