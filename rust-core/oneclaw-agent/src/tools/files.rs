//! `read_file` and `write_file`.
//!
//! Decides how much of a file is read at once, what counts as text, and how large a file may become. Which paths
//! are allowed, and that nothing outside the folder is touched, is decided by the sandbox.

pub use super::sandbox::Sandbox;
use super::sandbox::Trouble;
use super::{Answer, Answering, Tool, quoted, text};
use oneclaw_context::truncate::Shape;
use oneclaw_model::ToolSpec;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much is read when the model gives no limit: a little less than the 30,000 characters a result may have, so
/// that the line that says how to go on is not cut off.
pub const PAGE_BYTES: usize = 29_500;
/// The most that is read at once, whatever the limit.
pub const MOST_READ_BYTES: usize = 1_024 * 1_024;
/// How far into a file lines are counted.
const MOST_SCANNED: u64 = 1_024 * 1_024 * 1_024;
/// The largest file that is written.
pub const MOST_WRITTEN_BYTES: u64 = 10 * 1_024 * 1_024;
const BUFFER: usize = 64 * 1_024;
/// How many replaced characters, of a hundred, make a text binary.
const MOST_REPLACED: usize = 10;

/// Reads lines of a file.
#[derive(Debug, Clone)]
pub struct ReadFile {
    sandbox: Arc<Sandbox>,
}

impl ReadFile {
    /// In that folder.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        Self { sandbox }
    }
}

impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: "Reads a text file in the working folder. A long file is read in parts, by lines."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path below the working folder, such as notes/plan.md"},
                    "offset": {"type": "integer", "minimum": 1, "description": "The first line to read, from 1"},
                    "limit": {"type": "integer", "minimum": 1, "description": "How many lines to read"}
                },
                "required": ["path"]
            }),
            protected: false,
        }
    }

    fn shape(&self) -> Shape {
        Shape::FileContent
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(blocking(move |wanted| {
            let path = text(&arguments, "path").unwrap_or_default();
            let number = |name: &str| match arguments.get(name) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => match value.as_u64() {
                    Some(number) if number >= 1 => Ok(Some(number)),
                    _ => Err(Answer::failed(format!("\"{name}\" must be a whole number from 1 on."))),
                },
            };
            let (offset, limit) = match (number("offset"), number("limit")) {
                (Ok(offset), Ok(limit)) => (offset.unwrap_or(1), limit),
                (Err(answer), _) | (_, Err(answer)) => return answer,
            };
            let page = self.sandbox.open(path).and_then(|file| {
                let size = file.metadata()?.len();
                let page = Page::read(&mut BufReader::with_capacity(BUFFER, file), offset, limit, wanted)?;
                Ok((page, size))
            });
            match page {
                Ok((page, size)) => page.answer(path, size),
                Err(trouble) => refused(path, &trouble),
            }
        }))
    }
}

/// Writes or appends to a file.
#[derive(Debug, Clone)]
pub struct WriteFile {
    sandbox: Arc<Sandbox>,
}

impl WriteFile {
    /// In that folder.
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        Self { sandbox }
    }
}

impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write_file".to_owned(),
            description: "Writes a text file in the working folder and makes the folders it needs. An existing file is \
                          replaced, or added to with append."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path below the working folder, such as notes/plan.md"},
                    "content": {"type": "string", "description": "The text to write"},
                    "append": {"type": "boolean", "description": "Add the text to the end of the file. Default: false."}
                },
                "required": ["path", "content"]
            }),
            protected: false,
        }
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(blocking(move |wanted| {
            let path = text(&arguments, "path").unwrap_or_default();
            let Some(content) = text(&arguments, "content") else {
                return Answer::failed("\"content\" must be the text to write.");
            };
            let append = arguments.get("append").and_then(Value::as_bool).unwrap_or_default();
            let fill = |old: Option<std::fs::File>, new: &mut std::fs::File| {
                let kept = match old.filter(|_| append) {
                    // One more than allowed shows that there is too much.
                    Some(old) => io::copy(&mut old.take(MOST_WRITTEN_BYTES + 1), new)?,
                    None => 0,
                };
                let total = kept.saturating_add(content.len() as u64);
                if total > MOST_WRITTEN_BYTES {
                    return Err(Trouble::TooLarge { most: MOST_WRITTEN_BYTES });
                }
                new.write_all(content.as_bytes())?;
                Ok(total)
            };
            let is_wanted = || wanted.load(Ordering::Relaxed);
            match self.sandbox.replace(path, fill, is_wanted) {
                Ok(total) if append => Answer::ok(format!(
                    "Appended {} bytes to {}, which now has {total}.",
                    content.len(),
                    quoted(path)
                )),
                Ok(total) => Answer::ok(format!("Wrote {total} bytes to {}.", quoted(path))),
                Err(trouble) => refused(path, &trouble),
            }
        }))
    }
}

fn refused(path: &str, trouble: &Trouble) -> Answer {
    Answer::failed(format!("{}: {trouble}.", quoted(path)))
}

/// Runs work that blocks where it may. It sees when nobody waits for it any more.
async fn blocking(work: impl FnOnce(&AtomicBool) -> Answer + Send + 'static) -> Answer {
    struct Waiting(Arc<AtomicBool>);
    impl Drop for Waiting {
        fn drop(&mut self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }
    let waiting = Waiting(Arc::new(AtomicBool::new(true)));
    let wanted = Arc::clone(&waiting.0);
    match tokio::task::spawn_blocking(move || work(&wanted)).await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Answer::failed("The program is about to end."),
        },
    }
}

/// Lines of a file.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    bytes: Vec<u8>,
    /// The first line that was asked for.
    first: u64,
    /// Lines in `bytes`, a part of one included.
    lines: u64,
    end: End,
}

/// Why a page ends where it does.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The file ends.
    File,
    /// Enough was read; the file goes on with the next line.
    Enough,
    /// The line is longer than a page, and this is its beginning.
    InLine,
    /// The file is so large that the first line was not reached.
    TooFar,
}

impl Page {
    fn read(
        reader: &mut impl BufRead,
        first: u64,
        limit: Option<u64>,
        wanted: &AtomicBool,
    ) -> Result<Self, Trouble> {
        let most = if limit.is_some() { MOST_READ_BYTES } else { PAGE_BYTES };
        let limit = limit.unwrap_or(u64::MAX);
        let mut page = Self { bytes: Vec::new(), first, lines: 0, end: End::File };
        let (mut line, mut scanned, mut line_start) = (1_u64, 0_u64, 0_usize);
        loop {
            if !wanted.load(Ordering::Relaxed) {
                return Err(Trouble::Cancelled);
            }
            let block = reader.fill_buf()?;
            if block.is_empty() {
                page.lines += u64::from(page.bytes.len() > line_start);
                // For a first line past the end, how many lines there are.
                if line < first {
                    page.lines = line;
                }
                return Ok(page);
            }
            if page.lines == limit {
                page.end = End::Enough;
                return Ok(page);
            }
            let newline = memchr::memchr(b'\n', block);
            let taken = newline.map_or(block.len(), |at| at + 1);
            if line >= first {
                let room = most - page.bytes.len();
                page.bytes.extend_from_slice(block.get(..taken.min(room)).unwrap_or_default());
                if taken > room {
                    if line_start > 0 {
                        page.bytes.truncate(line_start);
                        page.end = End::Enough;
                    } else {
                        page.lines = 1;
                        page.end = End::InLine;
                    }
                    return Ok(page);
                }
                if newline.is_some() {
                    page.lines += 1;
                    line_start = page.bytes.len();
                }
            } else {
                scanned += taken as u64;
                if scanned > MOST_SCANNED {
                    page.end = End::TooFar;
                    return Ok(page);
                }
            }
            line += u64::from(newline.is_some());
            reader.consume(taken);
        }
    }

    fn answer(self, path: &str, size: u64) -> Answer {
        let path = quoted(path);
        if self.end == End::TooFar {
            return Answer::failed(format!(
                "{path}: line {} lies beyond the first {MOST_SCANNED} bytes, and lines are not counted that far.",
                self.first
            ));
        }
        if self.bytes.is_empty() {
            return match (size, self.first) {
                (0, 1) => Answer::ok("[... the file is empty ...]"),
                _ => Answer::failed(format!(
                    "{path}: there is no line {}; the file ends before it.",
                    self.first
                )),
            };
        }
        let Some(text) = decoded(&self.bytes, self.end == End::InLine) else {
            return Answer::failed(format!(
                "{path}: this is a binary file of {size} bytes; only text can be read."
            ));
        };
        let mut text = if self.first == 1 { text.trim_start_matches('\u{feff}').to_owned() } else { text };
        let next = self.first.saturating_add(self.lines);
        let notice = match self.end {
            End::File | End::TooFar => return Answer::ok(text),
            End::Enough => {
                format!("[... lines {}-{} shown; read on with offset {next} ...]", self.first, next - 1)
            }
            End::InLine => format!(
                "[... line {} is too long, only its beginning is shown; read on with offset {next} ...]",
                self.first
            ),
        };
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&notice);
        Answer::ok(text)
    }
}

/// The bytes as text, unless they are none. A character that was cut in two at the end is left out.
fn decoded(bytes: &[u8], is_cut: bool) -> Option<String> {
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    let bytes = match std::str::from_utf8(bytes) {
        Err(error) if is_cut && error.error_len().is_none() => bytes.get(..error.valid_up_to())?,
        _ => bytes,
    };
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (mut all, mut replaced) = (0, 0);
    for c in text.chars() {
        all += 1;
        replaced += usize::from(c == char::REPLACEMENT_CHARACTER);
    }
    if replaced * 100 > all * MOST_REPLACED { None } else { Some(text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::sandbox::tests::Place;
    use std::fs;
    use std::time::Duration;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    async fn read(place: &Place, value: Value) -> Answer {
        Arc::new(ReadFile::new(place.sandbox())).run(arguments(value)).await
    }

    async fn write(place: &Place, value: Value) -> Answer {
        Arc::new(WriteFile::new(place.sandbox())).run(arguments(value)).await
    }

    #[tokio::test]
    async fn what_is_written_is_read_word_for_word() {
        let place = Place::new("words");
        let content = "first\r\n\r\nüñí\t日本\nlast without a break";
        let answer = write(&place, json!({"path": "notes/a.md", "content": content})).await;
        assert_eq!(answer, Answer::ok("Wrote 43 bytes to notes/a.md."));
        assert_eq!(read(&place, json!({"path": "notes/a.md"})).await, Answer::ok(content));
        let answer = write(&place, json!({"path": "notes/a.md", "content": "!\n", "append": true})).await;
        assert_eq!(answer, Answer::ok("Appended 2 bytes to notes/a.md, which now has 45."));
        assert_eq!(read(&place, json!({"path": "notes/a.md"})).await.text, format!("{content}!\n"));
        write(&place, json!({"path": "notes/a.md", "content": ""})).await;
        assert_eq!(
            read(&place, json!({"path": "notes/a.md"})).await,
            Answer::ok("[... the file is empty ...]")
        );
    }

    #[tokio::test]
    async fn lines_are_counted_from_one() {
        let place = Place::new("lines");
        let lines: Vec<_> = (1..=10).map(|n| format!("line {n}\n")).collect();
        fs::write(place.path("in/x"), lines.concat()).unwrap();
        for (ask, text) in [
            (
                json!({"path": "x", "limit": 2}),
                "line 1\nline 2\n[... lines 1-2 shown; read on with offset 3 ...]",
            ),
            (
                json!({"path": "x", "offset": 9, "limit": 1}),
                "line 9\n[... lines 9-9 shown; read on with offset 10 ...]",
            ),
            (json!({"path": "x", "offset": 9, "limit": 2}), "line 9\nline 10\n"),
            (json!({"path": "x", "offset": 10}), "line 10\n"),
        ] {
            assert_eq!(read(&place, ask.clone()).await, Answer::ok(text), "{ask}");
        }
        let answer = read(&place, json!({"path": "x", "offset": 11})).await;
        assert_eq!(answer, Answer::failed("x: there is no line 11; the file ends before it."));
        for (name, value) in [("offset", json!(0)), ("limit", json!(0)), ("limit", json!(-3))] {
            let answer = read(&place, json!({"path": "x", name: value})).await;
            assert_eq!(answer.text, format!("\"{name}\" must be a whole number from 1 on."));
        }
    }

    #[tokio::test]
    async fn a_long_file_is_read_page_by_page_and_nothing_is_missing() {
        let place = Place::new("pages");
        let content: String = (0..20_000).map(|n| format!("{n} äöü {}\n", "x".repeat(n % 97))).collect();
        fs::write(place.path("in/long"), &content).unwrap();
        let (mut offset, mut all) = (1_u64, String::new());
        loop {
            let answer = read(&place, json!({"path": "long", "offset": offset})).await;
            assert!(!answer.failed && answer.text.len() < 30_000);
            let Some((page, rest)) = answer.text.split_once("[... lines ") else {
                all.push_str(&answer.text);
                break;
            };
            all.push_str(page);
            let next = rest.rsplit_once("offset ").unwrap().1.strip_suffix(" ...]").unwrap();
            offset = next.parse().unwrap();
        }
        assert!(all == content);
    }

    #[tokio::test]
    async fn one_giant_line_is_cut_between_characters() {
        let place = Place::new("giant");
        fs::write(place.path("in/x"), format!("a{}\nsecond\n", "ä".repeat(100_000))).unwrap();
        let answer = read(&place, json!({"path": "x"})).await;
        let (line, notice) = answer.text.split_once('\n').unwrap();
        assert_eq!(
            notice,
            "[... line 1 is too long, only its beginning is shown; read on with offset 2 ...]"
        );
        assert_eq!(line, format!("a{}", "ä".repeat((PAGE_BYTES - 1) / 2)));
        assert_eq!(read(&place, json!({"path": "x", "offset": 2})).await, Answer::ok("second\n"));
    }

    #[tokio::test]
    async fn a_huge_file_does_not_enter_memory() {
        let place = Place::new("huge");
        // Ten gigabytes, nearly all of them a hole.
        let mut file = fs::File::create(place.path("in/x")).unwrap();
        file.write_all("line\n".repeat(100_000).as_bytes()).unwrap();
        file.set_len(10 << 30).unwrap();
        let answer = read(&place, json!({"path": "x", "offset": 99_999, "limit": 1})).await;
        assert_eq!(answer.text, "line\n[... lines 99999-99999 shown; read on with offset 100000 ...]");
        // What is one line of zeros for ten gigabytes is not a page.
        let answer = read(&place, json!({"path": "x", "limit": 100_000_000})).await;
        assert!(answer.text.ends_with("\n[... lines 1-100000 shown; read on with offset 100001 ...]"));
        let answer = read(&place, json!({"path": "x", "offset": 100_001})).await;
        assert_eq!(answer.text, "x: this is a binary file of 10737418240 bytes; only text can be read.");
    }

    #[tokio::test]
    async fn what_is_far_in_a_huge_file_is_given_up() {
        let mut reader = BufReader::with_capacity(BUFFER, io::repeat(b'x'));
        let page = Page::read(&mut reader, 2, None, &AtomicBool::new(true)).unwrap();
        assert!(page.answer("x", 10 << 30).text.contains("lies beyond the first 1073741824 bytes"));
    }

    #[tokio::test]
    async fn binary_files_are_refused_and_odd_texts_are_not() {
        let place = Place::new("binary");
        fs::write(place.path("in/zero"), b"text\0text").unwrap();
        fs::write(place.path("in/high"), (128..=255).collect::<Vec<u8>>()).unwrap();
        fs::write(place.path("in/latin"), b"Die Stra\xdfe nach M\xfcnchen ist lang und gerade.").unwrap();
        fs::write(place.path("in/bom"), "\u{feff}text").unwrap();
        let answer = read(&place, json!({"path": "zero"})).await;
        assert_eq!(answer, Answer::failed("zero: this is a binary file of 9 bytes; only text can be read."));
        assert!(read(&place, json!({"path": "high"})).await.failed);
        let answer = read(&place, json!({"path": "latin"})).await;
        assert_eq!(answer, Answer::ok("Die Stra\u{fffd}e nach M\u{fffd}nchen ist lang und gerade."));
        assert_eq!(read(&place, json!({"path": "bom"})).await, Answer::ok("text"));
    }

    #[tokio::test]
    async fn no_answer_names_the_real_folder() {
        let place = Place::new("unnamed");
        fs::create_dir(place.path("in/folder")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(place.path("out/secret"), place.path("in/link")).unwrap();
        for path in
            ["../out/secret", "/etc/passwd", "missing", "folder", "link", "link/x", "", "a\nb", "folder/"]
        {
            for answer in [
                read(&place, json!({"path": path})).await,
                write(&place, json!({"path": path, "content": "x"})).await,
            ] {
                // Writing may make a file that was missing.
                assert!(answer.failed || path == "missing", "{path}: {}", answer.text);
                assert!(answer.text.starts_with(&quoted(path)) || path == "missing", "{}", answer.text);
                assert!(
                    !answer.text.contains("oneclaw-tools") && !answer.text.contains("/proc"),
                    "{}",
                    answer.text
                );
                assert!(!answer.text.contains("secret") || path.contains("secret"));
            }
        }
        assert_eq!(fs::read_to_string(place.path("out/secret")).unwrap(), "secret");
    }

    #[tokio::test]
    async fn files_do_not_grow_without_bound() {
        let place = Place::new("bound");
        let most = usize::try_from(MOST_WRITTEN_BYTES).unwrap();
        let answer = write(&place, json!({"path": "x", "content": "x".repeat(most + 1)})).await;
        assert_eq!(answer.text, "x: the file would be too large; at most 10485760 bytes are allowed.");
        assert!(!place.path("in/x").exists());
        assert!(!write(&place, json!({"path": "x", "content": "x".repeat(most)})).await.failed);
        assert!(write(&place, json!({"path": "x", "content": "y", "append": true})).await.failed);
        assert_eq!(fs::metadata(place.path("in/x")).unwrap().len(), MOST_WRITTEN_BYTES);
        assert_eq!(fs::read_dir(place.path("in")).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn parallel_appends_are_all_kept() {
        let place = Place::new("parallel");
        let tool = Arc::new(WriteFile::new(place.sandbox()));
        let calls: Vec<_> = (0..50)
            .map(|n| {
                let ask = json!({"path": "log", "content": format!("{n}\n"), "append": true});
                tokio::spawn(Arc::clone(&tool).run(arguments(ask)))
            })
            .collect();
        for call in calls {
            assert!(!call.await.unwrap().failed);
        }
        let text = fs::read_to_string(place.path("in/log")).unwrap();
        let mut lines: Vec<u32> = text.lines().map(|line| line.parse().unwrap()).collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..50).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_dropped_call_stops_reading() {
        let (sent, ended) = std::sync::mpsc::channel();
        let work = blocking(move |wanted| {
            let mut reader = BufReader::with_capacity(BUFFER, io::repeat(b'\n'));
            let page = Page::read(&mut reader, u64::MAX, None, wanted);
            sent.send(matches!(page, Err(Trouble::Cancelled))).unwrap();
            Answer::ok("")
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), work).await.is_err());
        assert_eq!(ended.recv_timeout(Duration::from_secs(5)), Ok(true));
    }
}
