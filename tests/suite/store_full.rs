//! No room left, and nothing that may be written: an error that says so, nothing lost, and it works again afterwards.

use crate::store::{Folder, NOW, check_schema, contents, version_1};
use crate::store_kit::{append, create, epoch, fresh, ids, row, rows, session, user};
use oneclaw_model::row::RowType;
use oneclaw_store::messages::{self, State};
use oneclaw_store::survey::survey;
use oneclaw_store::{Store, StoreError, epochs, examine};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Names the folder of a child; without it, the children's tests have nothing to do.
const FOLDER: &str = "ONECLAW_FULL_FOLDER";

/// Runs a test of this module in another process and shows what it says if it fails.
fn run(mut command: Command, test: &str, folder: &Path) {
    let output =
        command.args(["--exact", &format!("store_full::{test}")]).env(FOLDER, folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Lets no file of this process grow beyond so many bytes; `None` lifts that.
fn limit(bytes: Option<u64>) {
    let limit = bytes.map_or("unlimited".into(), |bytes| bytes.to_string());
    let process = std::process::id().to_string();
    let done = Command::new("prlimit").args(["--pid", &process, &format!("--fsize={limit}:")]).status();
    assert!(done.unwrap().success());
}

/// Without room `work` ends in the error that says so; with room it works.
fn without_room_then_with<T>(bytes: u64, mut work: impl FnMut() -> Result<T, StoreError>) -> T {
    limit(Some(bytes));
    let refused = work();
    limit(None);
    match refused {
        Err(StoreError::Full { .. }) => work().unwrap(),
        Err(other) => panic!("with {bytes} bytes: {other:?}"),
        Ok(_) => panic!("{bytes} bytes are enough"),
    }
}

/// How big the log is: beyond it, nothing more goes in.
fn log_size(store: &Store) -> u64 {
    fs::metadata(format!("{}-wal", store.path().display())).unwrap().len()
}

/// Not a test of its own: runs where a file that grows too much is an error and not the end.
#[test]
fn without_room() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    for bytes in [0, 4_096, 30_000, 60_000] {
        let path = folder.join(format!("created-{bytes}.db"));
        limit(Some(bytes));
        assert!(matches!(Store::open(&path, NOW), Err(StoreError::Full { .. })));
        limit(None);
        assert!(!path.exists());
        drop(Store::open(&path, NOW).unwrap());
        check_schema(&path, 2);
    }
    for bytes in [0, 4_096, 20_000, 60_000] {
        let path = folder.join(format!("migrated-{bytes}.db"));
        version_1(&path);
        let before = contents(&path);
        limit(Some(bytes));
        assert!(matches!(Store::open_existing(&path), Err(StoreError::Full { .. })), "{bytes}");
        limit(None);
        check_schema(&path, 1);
        assert_eq!(contents(&path), before);
        assert_eq!(Store::open_existing(&path).unwrap().change().map(|c| c.to), Some(2));
    }
    let store = Store::open(&folder.join("used.db"), NOW).unwrap();
    create(&store, "s");
    // The log has to be longer than the file, so that it is the log that has no room.
    for n in 0..10 {
        append(&store, "s", &row(&format!("fill{n}"), RowType::User, &"f".repeat(20_000), NOW));
    }
    let mut expected: Vec<String> = (0..10).map(|n| format!("fill{n}")).collect();
    let long = "x".repeat(100_000);
    let mut refusals = 0;
    for (n, more) in [0, 100, 4_096, 10_000, 80_000].into_iter().enumerate() {
        let room = || log_size(&store) + more;
        let new = row(&format!("m{n}"), RowType::AiResponse, &long, NOW);
        without_room_then_with(room(), || store.write(|t| messages::append(t, "s", &new, State::Partial)));
        let grown = row(&new.id, RowType::AiResponse, &format!("{long}{long}"), NOW);
        without_room_then_with(room(), || store.write(|t| messages::update(t, &grown, State::Whole, NOW)));
        expected.push(new.id.clone());
        let made = without_room_then_with(room(), || {
            store.write(|t| epochs::commit(t, "s", &epoch(&new.id, &long), NOW))
        });
        assert_eq!(made.number, n as u64 + 1);
        let other = format!("other{n}");
        create(&store, &other);
        append(&store, &other, &row(&format!("o{n}"), RowType::User, &long, NOW));
        let before = rows(&store, &other);
        limit(Some(room()));
        let refused = store.purge(&other);
        limit(None);
        // How much a purge adds to the log depends on what it clears; the larger rooms may do.
        if let Err(error) = refused {
            refusals += 1;
            assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
            assert_eq!(rows(&store, &other), before);
            store.purge(&other).unwrap();
        }
        assert_eq!(rows(&store, &other), []);
        for n in 0..10 {
            append(&store, "s", &row(&format!("{other}-{n}"), RowType::User, &long, NOW));
            expected.push(format!("{other}-{n}"));
        }
    }
    assert!(refusals > 0, "no purge was without room");
    let path = store.path().to_owned();
    drop(store);
    check_schema(&path, 2);
    let store = Store::open_existing(&path).unwrap();
    assert_eq!(ids(&rows(&store, "s")), expected);
    assert_eq!(session(&store, "s").message_count, expected.len() as u64);
}

#[test]
fn no_room_is_said_and_costs_nothing() {
    let folder = Folder::new("full");
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    run(command, "without_room", &folder.0);
}

/// Not a test of its own: runs as somebody who may not write.
#[test]
fn without_permission() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    for place in PLACES {
        for name in NAMES {
            let path = Path::new(&folder).join(place.0).join(name);
            assert!(
                matches!(Store::open(&path, NOW), Err(StoreError::ReadOnly { .. })),
                "{}",
                path.display()
            );
            assert_eq!(examine(&path).unwrap().to, 2);
            assert_eq!(
                survey(&path, None).unwrap().sessions[0].messages,
                if name == "old.db" { 7 } else { 1 }
            );
        }
    }
    let missing = Path::new(&folder).join("folder").join("missing.db");
    assert!(matches!(Store::open(&missing, NOW), Err(StoreError::ReadOnly { .. })));
}

/// A folder, and the permissions of it and of the files in it.
const PLACES: [(&str, u32, u32); 3] =
    [("file", 0o777, 0o444), ("folder", 0o555, 0o666), ("both", 0o555, 0o444)];
const NAMES: [&str; 2] = ["old.db", "new.db"];

#[test]
fn what_may_not_be_written_is_said_to_be_and_stays_as_it_is() {
    let folder = Folder::new("readonly");
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
    let sample = fresh(&folder, &["s"]);
    append(&sample, "s", &user("m", NOW));
    let current = sample.path().to_owned();
    drop(sample);
    for (name, of_folder, of_file) in PLACES {
        let inner = folder.file(name);
        fs::create_dir(&inner).unwrap();
        version_1(&inner.join("old.db"));
        fs::copy(&current, inner.join("new.db")).unwrap();
        for name in NAMES {
            fs::set_permissions(inner.join(name), Permissions::from_mode(of_file)).unwrap();
        }
        fs::set_permissions(&inner, Permissions::from_mode(of_folder)).unwrap();
    }
    let bytes =
        || PLACES.map(|(place, ..)| NAMES.map(|name| fs::read(folder.file(place).join(name)).unwrap()));
    let before = bytes();
    // A copy, because the original may lie where only this user gets to.
    let program = folder.file("suite");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new(program);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65_534).gid(65_534);
    }
    run(command, "without_permission", &folder.0);
    assert!(bytes() == before, "not a byte has changed");
    for (place, ..) in PLACES {
        fs::set_permissions(folder.file(place), Permissions::from_mode(0o755)).unwrap();
    }
}
