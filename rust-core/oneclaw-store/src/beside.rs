//! What is made beside a file for a while: a copy to look at, a file that is not whole yet. Each has a name that cannot be
//! foreseen, is made anew, and is for this user only. What a killed process has left is known by such a name, its
//! permissions and what is in it; nothing else beside a file is touched.

use crate::error::StoreError;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A folder with a copy to look at.
const COPY: &str = ".look-";
/// A file that is made.
const NEW: &str = ".new-";
/// How many hexadecimal digits follow.
const DIGITS: usize = 16;
/// What a copy may consist of.
const COPIED: [&str; 4] = ["copy.db", "copy.db-journal", "copy.db-wal", "copy.db-shm"];

/// The path with something added to its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file itself, where the path is a link to it: what belongs to it lies beside the file.
pub(crate) fn resolved(path: &Path) -> Result<PathBuf, StoreError> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Ok(path.to_owned());
    }
    fs::canonicalize(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => StoreError::StrayLink { path: path.to_owned() },
        ErrorKind::PermissionDenied => StoreError::Unreadable { path: path.to_owned() },
        _ => StoreError::of_io(path, &error),
    })
}

/// Keeps others out of what is made beside a file, until it is dropped or the process ends. Where folders cannot be
/// locked, nobody is kept out.
pub(crate) fn lock_folder(path: &Path) -> io::Result<File> {
    let folder = File::open(folder_of(path))?;
    let _ = folder.lock();
    Ok(folder)
}

/// A file beside another one, to become that one; it goes unless it is let be.
#[derive(Debug)]
pub(crate) struct Beginning(PathBuf);

impl Beginning {
    pub fn of(path: &Path) -> io::Result<Self> {
        let beginning = Self(with_suffix(path, &fresh(NEW)));
        make_file(&beginning.0)?;
        Ok(beginning)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        // What cannot be removed is tried again by whoever comes next.
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_file(with_suffix(&self.0, "-journal"));
    }
}

/// A copy of a file and its logs, in a folder of its own beside it; it goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Copy(PathBuf);

impl Copy {
    pub fn of(path: &Path) -> Result<Self, StoreError> {
        let io = |e: io::Error| StoreError::of_io(path, &e);
        let copy = Self(with_suffix(path, &fresh(COPY)));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&copy.0).map_err(io)?;
        for suffix in ["", "-journal", "-wal"] {
            let mut from = match open_file(&with_suffix(path, suffix)) {
                Err(e) if e.kind() == ErrorKind::NotFound && !suffix.is_empty() => continue,
                Err(e) if e.kind() == ErrorKind::PermissionDenied => {
                    return Err(StoreError::Unreadable { path: path.to_owned() });
                }
                opened => opened.map_err(io)?,
            };
            let to = make_file(&with_suffix(&copy.file(), suffix));
            to.and_then(|mut to| io::copy(&mut from, &mut to)).map_err(io)?;
        }
        Ok(copy)
    }

    pub fn file(&self) -> PathBuf {
        self.0.join("copy.db")
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        remove_copy(&self.0);
    }
}

/// Removes what processes that were killed have left beside a file.
pub(crate) fn tidy_up(path: &Path) {
    if left(path).is_empty() {
        return;
    }
    if let Ok(_lock) = lock_folder(path) {
        tidy_up_locked(path);
    }
}

/// The same for who keeps others out already.
pub(crate) fn tidy_up_locked(path: &Path) {
    for left in left(path) {
        match left.is_dir() {
            true => remove_copy(&left),
            // What cannot be removed is tried again by whoever comes next.
            false => drop(fs::remove_file(left)),
        }
    }
}

/// A name that is not there yet and that nobody can foresee.
fn fresh(kind: &str) -> String {
    format!("{kind}{:0DIGITS$x}", RandomState::new().build_hasher().finish())
}

/// Makes a file that is not there, for this user only.
fn make_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // Whatever this process takes away from the permissions of new files. Some file systems have none to set.
    #[cfg(unix)]
    let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    Ok(file)
}

/// Opens a file to read it; follows no link and waits for nobody.
fn open_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("something that is no file lies beside it")),
    }
}

/// What processes that were killed have left beside a file.
fn left(path: &Path) -> Vec<PathBuf> {
    let (folder, Some(name)) = (folder_of(path), path.file_name()) else { return vec![] };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.filter(|e| is_fresh(&e.file_name(), name)).map(|e| folder.join(e.file_name()));
    paths.filter(|path| is_ours(path)).collect()
}

/// Whether [`fresh`] may have made this name for that file.
fn is_fresh(name: &OsStr, of: &OsStr) -> bool {
    let rest = name.as_encoded_bytes().strip_prefix(of.as_encoded_bytes());
    let is_number = |rest: &[u8]| {
        rest.len() == DIGITS && rest.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
    };
    rest.is_some_and(|rest| {
        let new = rest.strip_prefix(NEW.as_bytes());
        rest.strip_prefix(COPY.as_bytes()).is_some_and(is_number)
            || new.is_some_and(|rest| is_number(rest.strip_suffix(b"-journal").unwrap_or(rest)))
    })
}

/// Whether what has such a name is what is made here: for one user only, and a copy with nothing else in it.
fn is_ours(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    if !found.is_dir() {
        return found.is_file() && has_mode(&found, 0o600);
    }
    let Ok(entries) = fs::read_dir(path) else { return false };
    let is_copied = |name: OsString| name.to_str().is_some_and(|name| COPIED.contains(&name));
    has_mode(&found, 0o700) && entries.into_iter().all(|entry| entry.is_ok_and(|e| is_copied(e.file_name())))
}

#[cfg(unix)]
fn has_mode(found: &Metadata, mode: u32) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o7777 == mode
}

#[cfg(not(unix))]
fn has_mode(_: &Metadata, _: u32) -> bool {
    true
}

/// Removes a copy and the folder that was made for it, if there is nothing else in that.
fn remove_copy(folder: &Path) {
    // What cannot be removed is tried again by whoever comes next.
    COPIED.iter().for_each(|name| drop(fs::remove_file(folder.join(name))));
    let _ = fs::remove_dir(folder);
}
