//! One folder of the disk, and nothing outside it.
//!
//! Decides which paths of a model are taken and how they are opened. It does not decide what is read or written.
//!
//! A path is names with `/` between them, below the folder. `..`, absolute paths and links are refused, links also
//! in the middle and also those that lead back inside. On Linux and Android every folder on the way is opened by
//! its parent's descriptor (`/proc/self/fd/N/name`, `O_NOFOLLOW`), so that a link put there in between is never
//! followed. On other systems each name is looked at just before it is used: there another program that has the
//! right to write in the folder could win a race.
//!
//! Only ordinary files are opened: no device, no pipe that would wait for ever.

use std::fs::{self, DirBuilder, File, FileType, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Why a path was not opened. The words come after the path as the model gave it, and never name the folder.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("the path is empty")]
    Empty,
    #[error("absolute paths are not allowed; give a path relative to the working folder")]
    Absolute,
    #[error("\"..\" is not allowed in a path; everything is below the working folder")]
    Parent,
    #[error("a path may not have backslashes, drive letters or control characters")]
    Character,
    #[error("there is no such file")]
    Missing,
    #[error("a link is on this path; links are not followed")]
    Link,
    #[error("this is a folder, not a file")]
    Folder,
    #[error("a name on this path is not a folder")]
    NotFolder,
    #[error("this is not an ordinary file")]
    Special,
    #[error("the working folder does not permit this")]
    Denied,
    #[error("there is no room left on the disk")]
    Full,
    #[error("a name on this path is too long")]
    TooLong,
    #[error("the file would be too large; at most {most} bytes are allowed")]
    TooLarge { most: u64 },
    #[error("the working folder cannot be used: this system gives no safe way to open files in it")]
    Unsafe,
    #[error("nobody waits for this any more")]
    Cancelled,
    #[error("it did not work: {0}")]
    Other(io::ErrorKind),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        #[cfg(unix)]
        if error.raw_os_error() == Some(libc::ELOOP) {
            return Self::Link;
        }
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Denied,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full
            }
            io::ErrorKind::IsADirectory => Self::Folder,
            io::ErrorKind::NotADirectory => Self::NotFolder,
            io::ErrorKind::InvalidFilename => Self::TooLong,
            // The system's own words may name a folder.
            other => Self::Other(other),
        }
    }
}

/// The folder that `read_file` and `write_file` work in. One for all tools that share a folder: writing is one at
/// a time.
#[derive(Debug)]
pub struct Sandbox {
    root: PathBuf,
    writing: Mutex<()>,
}

impl Sandbox {
    /// That folder. It is made when something is first written.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), writing: Mutex::new(()) }
    }

    /// Opens a file to be read.
    pub(super) fn open(&self, path: &str) -> Result<File, Trouble> {
        let (folders, name) = split(path)?;
        let mut dir = Dir::root(&self.root)?;
        for folder in folders {
            dir = dir.child(folder)?;
        }
        dir.open(name)?.ok_or(Trouble::Missing)
    }

    /// Makes a file, or replaces one in a single step: whoever reads sees the old or the new, never half of it.
    /// `fill` gets the file as it was, if there is one, and writes the new one; `go` is asked at the last moment.
    pub(super) fn replace<T>(
        &self,
        path: &str,
        fill: impl FnOnce(Option<File>, &mut File) -> Result<T, Trouble>,
        go: impl Fn() -> bool,
    ) -> Result<T, Trouble> {
        let (folders, name) = split(path)?;
        // Two calls of one reply may append to the same file. What a panic left behind is a temporary file.
        let _one = self.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !go() {
            return Err(Trouble::Cancelled);
        }
        private_folders().recursive(true).create(&self.root)?;
        let mut dir = Dir::root(&self.root)?;
        for folder in folders {
            dir = dir.child_or_new(folder)?;
        }
        let old = dir.open(name)?;
        let permissions = old.as_ref().and_then(|file| file.metadata().ok()).map(|meta| meta.permissions());
        let mut new = Temporary::new(&dir)?;
        let done = fill(old, &mut new.file)?;
        if let Some(permissions) = permissions {
            new.file.set_permissions(permissions)?;
        }
        new.file.sync_all()?;
        if !go() {
            return Err(Trouble::Cancelled);
        }
        fs::rename(&new.path, dir.at(name))?;
        new.is_in_place = true;
        dir.sync();
        Ok(done)
    }
}

/// The folders and the name at the end of a path.
fn split(path: &str) -> Result<(Vec<&str>, &str), Trouble> {
    if path.trim().is_empty() {
        return Err(Trouble::Empty);
    }
    if path.starts_with(['/', '\\', '~']) || Path::new(path).is_absolute() {
        return Err(Trouble::Absolute);
    }
    let has_drive = cfg!(windows) && path.contains(':');
    if has_drive || path.contains(|c: char| c == '\\' || c.is_control()) {
        return Err(Trouble::Character);
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => return Err(Trouble::Parent),
            name => names.push(name),
        }
    }
    let last = names.pop().ok_or(Trouble::Folder)?;
    if path.ends_with('/') || path.ends_with("/.") {
        return Err(Trouble::Folder);
    }
    Ok((names, last))
}

/// A folder inside the sandbox, held open.
struct Dir {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    file: File,
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    path: PathBuf,
}

#[cfg(any(target_os = "linux", target_os = "android"))]
impl Dir {
    /// The folder itself is the host's choice, links and all.
    fn root(path: &Path) -> Result<Self, Trouble> {
        use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)?;
        let dir = Self { file };
        // Without /proc, every file would seem to be missing.
        let (held, seen) = (dir.file.metadata()?, fs::metadata(dir.at(".")).map_err(|_| Trouble::Unsafe)?);
        if (held.dev(), held.ino()) == (seen.dev(), seen.ino()) { Ok(dir) } else { Err(Trouble::Unsafe) }
    }

    fn at(&self, name: &str) -> PathBuf {
        use std::os::fd::AsRawFd;
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.file.as_raw_fd()))
    }

    fn enter(&self, name: &str) -> Result<Self, Trouble> {
        use std::os::unix::fs::OpenOptionsExt;
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        Ok(Self { file: OpenOptions::new().read(true).custom_flags(flags).open(self.at(name))? })
    }

    /// The new name reaches the disk. Where a folder cannot be synced, nothing can be done about it.
    fn sync(&self) {
        let _ = self.file.sync_all();
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Dir {
    fn root(path: &Path) -> Result<Self, Trouble> {
        Ok(Self { path: fs::canonicalize(path)? })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn enter(&self, name: &str) -> Result<Self, Trouble> {
        Ok(Self { path: self.at(name) })
    }

    fn sync(&self) {}
}

impl Dir {
    /// What stands under a name, without following it.
    fn kind(&self, name: &str) -> io::Result<FileType> {
        Ok(fs::symlink_metadata(self.at(name))?.file_type())
    }

    fn child(&self, name: &str) -> Result<Self, Trouble> {
        let kind = self.kind(name)?;
        if kind.is_symlink() {
            return Err(Trouble::Link);
        }
        if !kind.is_dir() {
            return Err(Trouble::NotFolder);
        }
        self.enter(name)
    }

    fn child_or_new(&self, name: &str) -> Result<Self, Trouble> {
        match self.child(name) {
            Err(Trouble::Missing) => match private_folders().create(self.at(name)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error.into()),
                _ => self.child(name),
            },
            other => other,
        }
    }

    /// An ordinary file, to be read; `None` if there is nothing of that name.
    fn open(&self, name: &str) -> Result<Option<File>, Trouble> {
        match self.kind(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            kind => ordinary(kind?)?,
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // Should a pipe stand there by now, it is not waited for.
            options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        }
        let file = options.open(self.at(name))?;
        ordinary(file.metadata()?.file_type())?;
        Ok(Some(file))
    }
}

/// Makes folders that only this user gets into.
fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

fn ordinary(kind: FileType) -> Result<(), Trouble> {
    match kind {
        kind if kind.is_symlink() => Err(Trouble::Link),
        kind if kind.is_dir() => Err(Trouble::Folder),
        kind if kind.is_file() => Ok(()),
        _ => Err(Trouble::Special),
    }
}

/// A file that is removed again unless it takes its place.
struct Temporary {
    file: File,
    path: PathBuf,
    is_in_place: bool,
}

impl Temporary {
    fn new(dir: &Dir) -> Result<Self, Trouble> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = dir.at(&format!(".oneclaw-{}-{count}.tmp", std::process::id()));
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Ok(file) => {
                    // Whatever this process takes away from the permissions of new files. Some file systems have none to set.
                    #[cfg(unix)]
                    let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
                    return Ok(Self { file, path, is_in_place: false });
                }
                // Left by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_in_place {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// A folder of its own for one test, with `in` for the sandbox and `out` for what must stay untouched.
    pub struct Place(pub PathBuf);

    impl Place {
        pub fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("oneclaw-tools-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(path.join("in")).unwrap();
            fs::create_dir_all(path.join("out")).unwrap();
            fs::write(path.join("out/secret"), "secret").unwrap();
            Self(path)
        }

        pub fn path(&self, below: &str) -> PathBuf {
            self.0.join(below)
        }

        pub fn sandbox(&self) -> Arc<Sandbox> {
            Arc::new(Sandbox::new(self.path("in")))
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn read(sandbox: &Sandbox, path: &str) -> Result<String, Trouble> {
        let mut text = String::new();
        sandbox.open(path)?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    fn write(sandbox: &Sandbox, path: &str, content: &str) -> Result<(), Trouble> {
        sandbox.replace(path, |_, new| Ok(new.write_all(content.as_bytes())?), || true)
    }

    #[test]
    fn paths_outside_are_refused_before_anything_is_opened() {
        for path in ["/etc/passwd", "//etc/passwd", "\\\\server\\share", "~/x", "~root/x", "/", "\\x"] {
            assert!(matches!(split(path), Err(Trouble::Absolute)), "{path}");
        }
        for path in ["..", "../x", "a/../b", "a/b/../../../x", "./..", "a/.."] {
            assert!(matches!(split(path), Err(Trouble::Parent)), "{path}");
        }
        for path in ["a\\..\\x", "a\0b", "a\nb", "a/\u{7f}"] {
            assert!(matches!(split(path), Err(Trouble::Character)), "{path:?}");
        }
        for path in ["", "  "] {
            assert!(matches!(split(path), Err(Trouble::Empty)), "{path:?}");
        }
        for path in [".", "a/", "a/.", "./"] {
            assert!(matches!(split(path), Err(Trouble::Folder)), "{path:?}");
        }
        assert_eq!(split("./a//b/./c..d").unwrap(), (vec!["a", "b"], "c..d"));
        assert_eq!(split("...").unwrap(), (vec![], "..."));
    }

    #[test]
    fn files_are_made_replaced_and_read() {
        let place = Place::new("plain");
        let sandbox = place.sandbox();
        assert!(matches!(read(&sandbox, "a/b/c.txt"), Err(Trouble::Missing)));
        write(&sandbox, "a/b/c.txt", "one").unwrap();
        write(&sandbox, "a/b/c.txt", "two").unwrap();
        assert_eq!(read(&sandbox, "a//b/./c.txt").unwrap(), "two");
        assert_eq!(fs::read_dir(place.path("in/a/b")).unwrap().count(), 1);
        assert!(matches!(read(&sandbox, "a/b"), Err(Trouble::Folder)));
        assert!(matches!(write(&sandbox, "a/b", ""), Err(Trouble::Folder)));
        assert!(matches!(read(&sandbox, "a/b/c.txt/d"), Err(Trouble::NotFolder)));
        assert!(matches!(write(&sandbox, "a/b/c.txt/d", ""), Err(Trouble::NotFolder)));
        assert!(matches!(write(&sandbox, &"x".repeat(300), ""), Err(Trouble::TooLong)));
    }

    #[test]
    fn a_folder_that_is_not_there_is_made_by_writing() {
        let place = Place::new("fresh");
        let sandbox = Sandbox::new(place.path("in/deep/er"));
        assert!(matches!(read(&sandbox, "x"), Err(Trouble::Missing)));
        write(&sandbox, "x", "here").unwrap();
        assert_eq!(read(&sandbox, "x").unwrap(), "here");
    }

    #[test]
    fn what_fails_or_is_no_longer_wanted_leaves_nothing_behind() {
        let place = Place::new("undone");
        let sandbox = place.sandbox();
        write(&sandbox, "x", "old").unwrap();
        let failed = sandbox.replace("x", |_, _| Err::<(), _>(Trouble::Full), || true);
        assert!(matches!(failed, Err(Trouble::Full)));
        let asked = AtomicU64::new(0);
        let late = sandbox.replace("x", |_, _| Ok(()), || asked.fetch_add(1, Ordering::Relaxed) == 0);
        assert!(matches!(late, Err(Trouble::Cancelled)));
        assert_eq!(read(&sandbox, "x").unwrap(), "old");
        assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{PermissionsExt, symlink};

        #[test]
        fn links_are_refused_at_the_end_in_the_middle_and_inside() {
            let place = Place::new("links");
            let sandbox = place.sandbox();
            fs::create_dir(place.path("in/real")).unwrap();
            fs::write(place.path("in/real/file"), "inside").unwrap();
            symlink(place.path("out/secret"), place.path("in/file")).unwrap();
            symlink(place.path("out"), place.path("in/folder")).unwrap();
            symlink("../out", place.path("in/relative")).unwrap();
            symlink("real", place.path("in/inner")).unwrap();
            symlink(place.path("out/new"), place.path("in/dangling")).unwrap();
            symlink("loop", place.path("in/loop")).unwrap();
            symlink("/proc/self/root", place.path("in/root")).unwrap();
            for path in [
                "file",
                "folder/secret",
                "relative/secret",
                "inner/file",
                "dangling",
                "loop",
                "loop/x",
                "root/etc/passwd",
            ] {
                assert!(matches!(read(&sandbox, path), Err(Trouble::Link)), "{path}");
                assert!(matches!(write(&sandbox, path, "changed"), Err(Trouble::Link)), "{path}");
            }
            for path in ["folder/new/x", "relative/new"] {
                assert!(matches!(write(&sandbox, path, "new"), Err(Trouble::Link)), "{path}");
            }
            assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1);
            assert_eq!(fs::read_to_string(place.path("out/secret")).unwrap(), "secret");
        }

        #[test]
        fn the_folder_itself_may_be_a_link() {
            let place = Place::new("rootlink");
            symlink(place.path("in"), place.path("link")).unwrap();
            let sandbox = Sandbox::new(place.path("link"));
            write(&sandbox, "x", "here").unwrap();
            assert_eq!(fs::read_to_string(place.path("in/x")).unwrap(), "here");
        }

        #[test]
        fn pipes_sockets_and_devices_are_refused_without_waiting() {
            let place = Place::new("special");
            let sandbox = place.sandbox();
            let made = std::process::Command::new("mkfifo").arg(place.path("in/pipe")).status().unwrap();
            assert!(made.success());
            let _socket = std::os::unix::net::UnixListener::bind(place.path("in/socket")).unwrap();
            for path in ["pipe", "socket"] {
                assert!(matches!(read(&sandbox, path), Err(Trouble::Special)), "{path}");
                assert!(matches!(write(&sandbox, path, "x"), Err(Trouble::Special)), "{path}");
            }
            let devices = Sandbox::new("/dev");
            assert!(matches!(read(&devices, "zero"), Err(Trouble::Special)));
        }

        #[test]
        fn a_second_name_of_a_file_outside_is_not_written_through() {
            let place = Place::new("hard");
            let sandbox = place.sandbox();
            fs::hard_link(place.path("out/secret"), place.path("in/second")).unwrap();
            write(&sandbox, "second", "changed").unwrap();
            assert_eq!(fs::read_to_string(place.path("out/secret")).unwrap(), "secret");
            assert_eq!(read(&sandbox, "second").unwrap(), "changed");
        }

        #[test]
        fn what_is_made_is_for_this_user_only_and_permissions_stay() {
            let place = Place::new("mode");
            let sandbox = Sandbox::new(place.path("in/made/for/it"));
            write(&sandbox, "a/b/x", "new").unwrap();
            let mode = |path: &str| fs::metadata(place.path(path)).unwrap().permissions().mode() & 0o777;
            let folders =
                ["in/made", "in/made/for", "in/made/for/it", "in/made/for/it/a", "in/made/for/it/a/b"];
            assert_eq!(folders.map(mode), [0o700; 5]);
            assert_eq!(mode("in/made/for/it/a/b/x"), 0o600);
            let sandbox = place.sandbox();
            write(&sandbox, "x", "old").unwrap();
            fs::set_permissions(place.path("in/x"), fs::Permissions::from_mode(0o640)).unwrap();
            write(&sandbox, "x", "new").unwrap();
            assert_eq!(fs::metadata(place.path("in/x")).unwrap().permissions().mode() & 0o777, 0o640);
        }

        struct StopOnDrop<'a>(&'a AtomicBool);

        impl Drop for StopOnDrop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }

        /// A folder that turns into a link and back while it is used.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        #[test]
        fn a_link_put_there_in_between_is_not_followed() {
            let place = Place::new("race");
            let sandbox = place.sandbox();
            fs::create_dir(place.path("in/spot")).unwrap();
            fs::write(place.path("in/spot/secret"), "inside").unwrap();
            symlink(place.path("out"), place.path("in/trap")).unwrap();
            let stop = AtomicBool::new(false);
            let (mut seen, mut refused) = (0, 0);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let name = |name: &str| place.path("in").join(name);
                    while !stop.load(Ordering::Relaxed) {
                        fs::rename(name("spot"), name("away")).unwrap();
                        fs::rename(name("trap"), name("spot")).unwrap();
                        fs::rename(name("spot"), name("trap")).unwrap();
                        fs::rename(name("away"), name("spot")).unwrap();
                    }
                });
                // A failed assertion ends the other thread too.
                let _stop = StopOnDrop(&stop);
                let start = std::time::Instant::now();
                for round in 0.. {
                    let is_run = seen > 100 && refused > 100 && round > 4_000;
                    if is_run || start.elapsed().as_secs() > 20 {
                        break;
                    }
                    match read(&sandbox, "spot/secret") {
                        Ok(text) => {
                            assert_eq!(text, "inside");
                            seen += 1;
                        }
                        Err(_) => refused += 1,
                    }
                    // Not in the middle of a swap that made a folder of that name.
                    let dir = Dir::root(&place.path("in")).and_then(|root| root.child("spot"));
                    if let Ok(dir) = dir {
                        fs::write(dir.at("written"), "x").unwrap();
                    }
                }
            });
            assert!(seen > 0 && refused > 0, "the race was not run: {seen} {refused}");
            assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1);
        }
    }
}
