//! Where lines come from: typed with line editing and history, or read from a pipe. A thread of its own reads, one line
//! each time it is asked.

use super::command;
use super::history::{History, MOST_LINES};
use super::text::harmless;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::sync::mpsc;
use std::thread;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const PROMPT: &str = "› ";
/// The longest line that is read; more cannot be sent anyway.
const MOST_BYTES: u64 = 33 * 1_024 * 1_024;

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A line, or several typed as one.
    Line(String),
    /// Something that is no line.
    Bad(String),
    /// Ctrl-C at the prompt.
    Interrupted,
    /// Ctrl-D, or no more lines.
    End,
}

/// A source of lines.
#[derive(Debug)]
pub struct Lines {
    ask: mpsc::Sender<()>,
    answers: UnboundedReceiver<Input>,
}

impl Lines {
    /// Typed lines, remembered there.
    pub fn typed(history: Option<History>, has_colours: bool) -> io::Result<Self> {
        Self::start(move |asked, answers| {
            if let Err(error) = type_lines(&asked, &answers, history.as_ref(), has_colours) {
                let _ = answers.send(Input::Bad(format!("The terminal cannot be read: {error}")));
                let _ = answers.send(Input::End);
            }
        })
    }

    /// The lines of standard input.
    pub fn piped() -> io::Result<Self> {
        Self::start(|asked, answers| read_lines(&asked, &answers, io::stdin().lock()))
    }

    fn start(
        read: impl FnOnce(mpsc::Receiver<()>, UnboundedSender<Input>) + Send + 'static,
    ) -> io::Result<Self> {
        let (ask, asked) = mpsc::channel();
        let (sender, answers) = unbounded_channel();
        thread::Builder::new().name("lines".to_owned()).spawn(move || read(asked, sender))?;
        Ok(Self { ask, answers })
    }

    /// The next line.
    pub async fn next(&mut self) -> Input {
        // A reader that is gone has said why.
        let _ = self.ask.send(());
        self.answers.recv().await.unwrap_or(Input::End)
    }
}

fn read_lines(asked: &mpsc::Receiver<()>, answers: &UnboundedSender<Input>, mut source: impl BufRead) {
    while asked.recv().is_ok() {
        let mut bytes = Vec::new();
        let read = (&mut source).take(MOST_BYTES).read_until(b'\n', &mut bytes);
        let (input, goes_on) = match read {
            Err(error) => (Input::Bad(format!("standard input cannot be read: {error}")), false),
            Ok(0) => (Input::End, false),
            Ok(n) if n as u64 == MOST_BYTES && bytes.last() != Some(&b'\n') => {
                (Input::Bad(format!("is longer than {MOST_BYTES} bytes")), false)
            }
            Ok(_) => match String::from_utf8(bytes) {
                Ok(line) => (Input::Line(line.trim_end_matches(['\n', '\r']).to_owned()), true),
                Err(_) => (Input::Bad("is not UTF-8".to_owned()), true),
            },
        };
        if answers.send(input).is_err() || !goes_on {
            return;
        }
    }
}

fn type_lines(
    asked: &mpsc::Receiver<()>,
    answers: &UnboundedSender<Input>,
    history: Option<&History>,
    has_colours: bool,
) -> rustyline::Result<()> {
    let config =
        Config::builder().max_history_size(MOST_LINES)?.history_ignore_dups(true)?.auto_add_history(false);
    let config = config.build();
    let mut remembered = MemHistory::with_config(&config);
    if let Some(history) = history {
        for line in &history.lines {
            remembered.add(line)?;
        }
        // What cannot be shortened stays as long as it is.
        let _ = history.shorten();
    }
    let mut editor: Editor<Assistant, MemHistory> = Editor::with_history(config, remembered)?;
    editor.set_helper(Some(Assistant { has_colours }));
    while asked.recv().is_ok() {
        let input = match editor.readline(PROMPT) {
            Ok(text) => {
                let is_new = !text.trim().is_empty() && editor.add_history_entry(harmless(&text).as_ref())?;
                // A line that cannot be remembered is no reason to stop.
                let _ = history.filter(|_| is_new).map(|history| history.add(&text));
                // A backslash at the end of a line lets it go on.
                Input::Line(text.replace("\\\n", "\n"))
            }
            Err(ReadlineError::Interrupted) => Input::Interrupted,
            Err(ReadlineError::Eof) => Input::End,
            Err(error) => return Err(error),
        };
        if answers.send(input).is_err() {
            break;
        }
    }
    Ok(())
}

/// Helps with typing: commands are completed, a backslash continues a line.
struct Assistant {
    has_colours: bool,
}

impl Helper for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let start = line.get(..at).unwrap_or_default();
        let is_command = start.starts_with('/') && !start.contains(char::is_whitespace);
        Ok((0, if is_command { command::completions(start) } else { vec![] }))
    }
}

impl Highlighter for Assistant {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.has_colours { Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m")) } else { Cow::Borrowed(prompt) }
    }
}

impl Validator for Assistant {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match typed.input().ends_with('\\') {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_lines_one_at_a_time() {
        let (ask, asked) = mpsc::channel();
        let (sender, mut answers) = unbounded_channel();
        for _ in 0..6 {
            ask.send(()).unwrap();
        }
        read_lines(&asked, &sender, &b"one\r\n\n\xff\n  two\\\nlast"[..]);
        let mut read = vec![];
        while let Ok(input) = answers.try_recv() {
            read.push(input);
        }
        let line = |text: &str| Input::Line(text.to_owned());
        let bad = Input::Bad("is not UTF-8".to_owned());
        assert_eq!(read, [line("one"), line(""), bad, line("  two\\"), line("last"), Input::End]);
    }
}
