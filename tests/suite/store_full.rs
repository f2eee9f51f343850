//! No room left, and nothing that may be written: an error that says so, nothing lost, and it works again afterwards.

use crate::store::{Folder, NOW, check_schema, contents, version_1};
use crate::store_kit::{add, append, create, epoch, fresh, other_app, row, rows, user};
use oneclaw_model::Transcript;
use oneclaw_model::row::RowType;
use oneclaw_store::agents::{self, Agent};
use oneclaw_store::catalogue::{self, CUSTOM, Model};
use oneclaw_store::messages::{self, State};
use oneclaw_store::queue::{self, Queued};
use oneclaw_store::survey::survey;
use oneclaw_store::{Store, StoreError, engine, epochs, examine, sessions, settings, transcripts};
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
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

/// Something that is written: with a little more than no room at all it is refused.
struct Write {
    name: &'static str,
    /// The rooms, in bytes, in which it is refused.
    rooms: &'static [u64],
    /// What has to be there first. All get the name of the try.
    before: fn(&Store, &str),
    work: fn(&Store, &str) -> Result<(), StoreError>,
}

/// Less than a page of the log.
const TINY: &[u64] = &[0, 4_096];
/// Less than the pages of a long text.
const SMALL: &[u64] = &[0, 4_096, 30_000];

/// A text of which every page is another one for every try.
fn long(id: &str) -> String {
    id.repeat(50_000 / id.len())
}

fn nothing(_: &Store, _: &str) {}

fn with_row(store: &Store, id: &str) {
    append(store, "s", &user(id, NOW));
}

fn with_compaction(store: &Store, id: &str) {
    with_row(store, id);
    store.write(|t| epochs::commit(t, "s", &epoch(id, &long(id)), NOW)).unwrap();
}

const WRITES: [Write; 16] = [
    Write {
        name: "append",
        rooms: SMALL,
        before: nothing,
        work: |store, id| {
            let row = row(id, RowType::AiResponse, &long(id), NOW);
            store.write(|t| messages::append(t, "s", &row, State::Partial)).map(drop)
        },
    },
    Write {
        name: "update",
        rooms: SMALL,
        before: with_row,
        work: |store, id| {
            let row = row(id, RowType::AiResponse, &long(id), NOW);
            store.write(|t| messages::update(t, &row, State::Whole, NOW))
        },
    },
    Write {
        name: "commit",
        rooms: SMALL,
        before: with_row,
        work: |store, id| store.write(|t| epochs::commit(t, "s", &epoch(id, &long(id)), NOW)).map(drop),
    },
    Write {
        name: "undo",
        rooms: TINY,
        before: with_compaction,
        work: |store, _| store.write(|t| epochs::undo(t, "s", NOW)).map(drop),
    },
    Write {
        name: "reset",
        rooms: TINY,
        before: with_compaction,
        work: |store, _| store.write(|t| epochs::reset(t, "s", NOW)),
    },
    Write {
        name: "pin",
        rooms: TINY,
        before: with_row,
        work: |store, id| store.write(|t| messages::set_pin(t, id, Some(1))),
    },
    Write {
        name: "prepare",
        rooms: TINY,
        before: |store, id| {
            let other = other_app(store.path());
            (0..100).for_each(|n| add(&other, "INSERT", "s", &format!("{id}-{n}"), NOW));
        },
        work: |store, _| store.prepare("s"),
    },
    Write {
        name: "create",
        rooms: TINY,
        before: nothing,
        work: |store, id| store.write(|t| sessions::create(t, id, "title", "agent", NOW)),
    },
    Write {
        name: "rename",
        rooms: SMALL,
        before: nothing,
        work: |store, id| store.write(|t| sessions::rename(t, "s", &long(id))),
    },
    Write {
        name: "purge",
        rooms: TINY,
        before: |store, id| {
            create(store, id);
            append(store, id, &row(&format!("{id}-row"), RowType::User, &long(id), NOW));
        },
        work: |store, id| store.purge(id),
    },
    Write {
        name: "settings",
        rooms: SMALL,
        before: nothing,
        work: |store, id| store.write(|t| settings::set(t, id, &long(id))),
    },
    Write {
        name: "queue",
        rooms: SMALL,
        before: nothing,
        work: |store, id| {
            let focus = Some(long(id));
            let entry = Queued { session_id: "s".into(), reason: "manual".into(), focus, queued_at: 1 };
            store.write(|t| queue::put(t, &entry))
        },
    },
    Write {
        name: "chunk",
        rooms: SMALL,
        before: nothing,
        work: |store, id| store.write(|t| engine::set_chunk(t, "s", id, &long(id))),
    },
    Write {
        name: "model",
        rooms: SMALL,
        before: nothing,
        work: |store, id| {
            let model = Model {
                id: id.into(),
                provider_id: "provider-openai".into(),
                display_name: Some(long(id)),
                is_default: true,
                source: CUSTOM.into(),
                window: None,
            };
            store.write(|t| catalogue::save_model(t, &model))
        },
    },
    Write {
        name: "agent",
        rooms: SMALL,
        before: nothing,
        work: |store, id| {
            let own = store.read(|c| agents::get(c, agents::GENERAL_ASSISTANT))?;
            let agent = Agent { id: id.into(), system_prompt: long(id), ..own };
            store.write(|t| agents::save(t, &agent, NOW))
        },
    },
    Write {
        name: "import",
        rooms: SMALL,
        before: nothing,
        work: |store, id| {
            let rows = ["a", "b"].map(|name| row(name, RowType::User, &long(id), NOW)).to_vec();
            let transcript = Transcript { rows, ..Transcript::default() };
            store.write(|t| transcripts::import(t, &transcript, id, NOW))
        },
    },
];

/// In a folder where `limit` leaves so many bytes, or all again: what is done without room ends in the error that says
/// so, and everything is as before; with room it works.
fn check_without_room(folder: &Path, limit: impl Fn(Option<u64>)) {
    for bytes in [0, 4_096, 30_000, 60_000] {
        let path = folder.join("created.db");
        limit(Some(bytes));
        let refused = Store::open(&path, NOW);
        limit(None);
        assert!(matches!(refused, Err(StoreError::Full { .. })), "create, {bytes}: {refused:?}");
        assert!(!path.exists());
        drop(Store::open(&path, NOW).unwrap());
        check_schema(&path, 2);
        fs::remove_file(&path).unwrap();
    }
    for bytes in [0, 4_096, 20_000, 60_000] {
        let path = folder.join("migrated.db");
        version_1(&path);
        let before = contents(&path);
        limit(Some(bytes));
        let refused = Store::open_existing(&path);
        limit(None);
        assert!(matches!(refused, Err(StoreError::Full { .. })), "migrate, {bytes}: {refused:?}");
        check_schema(&path, 1);
        assert_eq!(contents(&path), before);
        assert_eq!(Store::open_existing(&path).unwrap().change().map(|c| c.to), Some(2));
        fs::remove_file(&path).unwrap();
    }
    let store = Store::open(&folder.join("used.db"), NOW).unwrap();
    create(&store, "s");
    let path = store.path();
    let other = other_app(path);
    for Write { name, rooms, before, work } in WRITES {
        for (number, bytes) in rooms.iter().enumerate() {
            let id = format!("{name}{number}");
            before(&store, &id);
            let as_it_was = contents(path);
            // An empty log has to grow for whatever is written.
            let is_busy = other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
            assert_eq!(is_busy, Ok(0));
            limit(Some(*bytes));
            let refused = work(&store, &id);
            limit(None);
            assert!(matches!(refused, Err(StoreError::Full { .. })), "{name}, {bytes}: {refused:?}");
            assert!(contents(path) == as_it_was, "{name}, {bytes}: something has changed");
            work(&store, &id).unwrap();
            assert!(contents(path) != as_it_was, "{name}, {bytes}: nothing has changed");
        }
    }
    let count = rows(&store, "s").len() as u64;
    let listed = [SMALL, SMALL, SMALL, TINY, TINY, TINY].map(|rooms| rooms.len() as u64);
    assert_eq!(count, listed.iter().sum::<u64>() + TINY.len() as u64 * 100);
    drop((store, other));
    check_schema(&folder.join("used.db"), 2);
}

/// Not a test of its own: runs where a file that grows too much is an error and not the end.
#[test]
fn without_room() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    check_without_room(Path::new(&folder), limit);
}

/// A disk of its own, which is gone at the end.
struct Disk(PathBuf);

impl Disk {
    /// `None` where this user may not have one.
    fn new(folder: &Folder) -> Option<Self> {
        let place = folder.file("disk");
        fs::create_dir(&place).unwrap();
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", "size=16m", "tmpfs"]).arg(&place).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(place))
    }

    /// Leaves so many bytes; `None` gives all back.
    fn limit(&self, bytes: Option<u64>) {
        let filler = self.0.join("filler");
        // Emptied, not removed: a process that another test starts holds all open files for a moment.
        let mut file = fs::File::create(filler).unwrap();
        let Some(bytes) = bytes else { return };
        while file.write_all(&[1; 4_096]).is_ok() {}
        let length = file.metadata().unwrap().len();
        file.set_len(length - bytes).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_said_and_costs_nothing() {
    let folder = Folder::new("disk");
    let Some(disk) = Disk::new(&folder) else { return };
    check_without_room(&disk.0, |bytes| disk.limit(bytes));
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
    let closed = Path::new(&folder).join("closed/new.db");
    for path in [Path::new(&folder).join("unreadable.db"), closed] {
        let expected =
            format!("{}: cannot be read; check the permissions of the file and its folder", path.display());
        assert_eq!(examine(&path).unwrap_err().to_string(), expected);
        assert_eq!(Store::open(&path, NOW).unwrap_err().to_string(), expected);
    }
    // A log that has to be played needs a copy, and a copy needs a place.
    let killed = Path::new(&folder).join("killed/oneclaw.db");
    assert!(matches!(examine(&killed), Err(StoreError::ReadOnly { .. })));
    let killed = Path::new(&folder).join("folder-of-all/oneclaw.db");
    assert_eq!(survey(&killed, None).unwrap().sessions.len(), 1);
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
    for (name, mode) in [("killed", 0o555), ("folder-of-all", 0o777)] {
        let inner = folder.file(name);
        fs::create_dir(&inner).unwrap();
        for file in ["oneclaw.db", "oneclaw.db-wal"] {
            fs::copy(folder.file(file), inner.join(file)).unwrap();
            fs::set_permissions(inner.join(file), Permissions::from_mode(0o644)).unwrap();
        }
        fs::set_permissions(&inner, Permissions::from_mode(mode)).unwrap();
    }
    drop(sample);
    fs::copy(&current, folder.file("unreadable.db")).unwrap();
    fs::set_permissions(folder.file("unreadable.db"), Permissions::from_mode(0o200)).unwrap();
    fs::create_dir(folder.file("closed")).unwrap();
    fs::set_permissions(folder.file("closed"), Permissions::from_mode(0o600)).unwrap();
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
    // Nothing is kept in the folder for temporary files.
    command.env("TMPDIR", "/nonexistent");
    run(command, "without_permission", &folder.0);
    assert!(bytes() == before, "not a byte has changed");
    for place in PLACES.map(|(place, ..)| place).into_iter().chain(["killed", "closed"]) {
        fs::set_permissions(folder.file(place), Permissions::from_mode(0o755)).unwrap();
    }
}
