//! Lines that were typed before, in a file beside the database. It lies where others may have put something of that name:
//! a link is not followed, nothing but a history of this user is read or written, and what is read is made harmless.

use super::text::harmless;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// So many lines are remembered.
pub const MOST_LINES: usize = 1_000;
/// So much of the file is read, from its end; a line is seldom longer than a few hundred bytes.
const MOST_BYTES: u64 = 1_024 * 1_024;
/// What the file begins with. In it, ends of lines and backslashes are written as `\n` and `\\`.
const MARK: &str = "#V2\n";

/// A history, and what was in it.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    /// The lines, the oldest first.
    pub lines: Vec<String>,
}

impl History {
    /// What is in the file; nothing yet if it is not there. It is not written.
    pub fn read(path: PathBuf) -> io::Result<Self> {
        let mut file = match open(&path, OpenOptions::new().read(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self { path, lines: vec![] }),
            opened => opened?,
        };
        let mut mark = Vec::new();
        (&mut file).take(MARK.len() as u64).read_to_end(&mut mark)?;
        if mark != MARK.as_bytes() {
            return Err(io::Error::other("it is not a history of this program"));
        }
        let from = file.metadata()?.len().saturating_sub(MOST_BYTES);
        let is_cut = from > MARK.len() as u64;
        if is_cut {
            file.seek(SeekFrom::Start(from))?;
        }
        let mut bytes = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<String> = text
            .lines()
            .skip(usize::from(is_cut))
            .filter(|line| !line.is_empty())
            .map(|line| harmless(&unescaped(line)).into_owned())
            .collect();
        Ok(Self { lines: lines.split_off(lines.len().saturating_sub(MOST_LINES)), path })
    }

    /// Adds a line.
    pub fn add(&self, line: &str) -> io::Result<()> {
        let escaped = harmless(line).replace('\\', "\\\\").replace('\n', "\\n");
        let added = format!("{escaped}\n");
        let mut options = OpenOptions::new();
        match open(&self.path, options.append(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut file = open(&self.path, options.create_new(true))?;
                // Whatever this process takes away from the permissions of new files. Some file systems have none to set.
                #[cfg(unix)]
                let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
                file.write_all(format!("{MARK}{added}").as_bytes())
            }
            // In one piece: other chats may add to it too.
            opened => opened?.write_all(added.as_bytes()),
        }
    }

    /// Leaves out of the file what is not remembered any more.
    pub fn shorten(&self) -> io::Result<()> {
        let mut file = open(&self.path, OpenOptions::new().read(true).write(true))?;
        if file.metadata()?.len() <= MOST_BYTES {
            return Ok(());
        }
        let mut kept = MARK.to_owned();
        for line in &self.lines {
            kept.push_str(&line.replace('\\', "\\\\").replace('\n', "\\n"));
            kept.push('\n');
        }
        file.set_len(0)?;
        file.write_all(kept.as_bytes())
    }
}

/// Opens a file of this user; follows no link and waits for nobody.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    let file = options.open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(&found) != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other("it belongs to somebody else"));
    }
    Ok(file)
}

/// A line as it was typed.
fn unescaped(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => text.push(match rest.next() {
                Some('n') => '\n',
                Some(other) => other,
                None => '\\',
            }),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("oneclaw-history-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self) -> PathBuf {
            self.0.join("x.db.history")
        }

        fn lines(&self) -> Vec<String> {
            History::read(self.file()).unwrap().lines
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn lines_come_back_as_they_were_typed() {
        let place = Place::new("lines");
        let history = History::read(place.file()).unwrap();
        assert_eq!(history.lines, [] as [&str; 0]);
        assert!(!place.file().exists(), "reading makes nothing");
        let typed = ["one", "two\nlines \\n", "\\", "ends with \\\\", "日本 😀", "  spaces "];
        typed.iter().for_each(|line| history.add(line).unwrap());
        assert_eq!(place.lines(), typed);
    }

    #[test]
    fn what_is_read_and_written_steers_no_terminal() {
        let place = Place::new("harmless");
        let planted = "\u{1b}[2J\u{1b}]0;x\u{7} \u{9b}31m \u{7f}\u{85}\u{202e}";
        fs::write(place.file(), format!("{MARK}{planted}\n\\\u{1b}\n").as_bytes()).unwrap();
        History::read(place.file()).unwrap().add(planted).unwrap();
        let expected = harmless(planted).into_owned();
        assert_eq!(place.lines(), [expected.as_str(), "␛", expected.as_str()]);
        let written = fs::read_to_string(place.file()).unwrap();
        assert!(written.ends_with(&format!("\n{expected}\n")), "{written:?}");
    }

    #[test]
    fn a_long_history_loses_its_oldest_lines() {
        let place = Place::new("long");
        let line = |n: u32| format!("{n} {}", "x".repeat(600));
        let all: Vec<String> = (0..2_000).map(line).collect();
        fs::write(place.file(), format!("{MARK}{}\n", all.join("\n"))).unwrap();
        let history = History::read(place.file()).unwrap();
        assert_eq!(history.lines, all[1_000..]);
        history.shorten().unwrap();
        history.add("new").unwrap();
        assert!(fs::metadata(place.file()).unwrap().len() < MOST_BYTES);
        let lines = place.lines();
        assert_eq!((lines[..999].to_vec(), lines[999].as_str()), (all[1_001..].to_vec(), "new"));
        // A single giant line is none.
        fs::write(place.file(), format!("{MARK}{}\nlast\n", "x".repeat(3_000_000))).unwrap();
        assert_eq!(place.lines(), ["last"]);
    }

    #[test]
    fn a_file_that_is_no_history_is_neither_read_nor_written() {
        let place = Place::new("other");
        fs::write(place.file(), "Dear diary").unwrap();
        assert_eq!(
            History::read(place.file()).unwrap_err().to_string(),
            "it is not a history of this program"
        );
        assert_eq!(fs::read_to_string(place.file()).unwrap(), "Dear diary");
    }

    #[cfg(unix)]
    #[test]
    fn links_pipes_and_folders_are_let_be() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let place = Place::new("links");
        let other = place.0.join("other");
        fs::write(&other, MARK).unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o644)).unwrap();
        for target in [other.as_path(), Path::new("nowhere")] {
            symlink(target, place.file()).unwrap();
            assert!(History::read(place.file()).is_err());
            assert!(History { path: place.file(), lines: vec![] }.add("line").is_err());
            assert!(fs::symlink_metadata(place.file()).unwrap().is_symlink());
            fs::remove_file(place.file()).unwrap();
        }
        assert_eq!(fs::read_to_string(&other).unwrap(), MARK);
        assert_eq!(fs::metadata(&other).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(!place.0.join("nowhere").exists());
        assert!(std::process::Command::new("mkfifo").arg(place.file()).status().unwrap().success());
        assert!(History::read(place.file()).is_err());
        fs::remove_file(place.file()).unwrap();
        fs::create_dir(place.file()).unwrap();
        assert!(History::read(place.file()).is_err());
    }
}
