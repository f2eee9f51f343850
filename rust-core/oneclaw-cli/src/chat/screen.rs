//! The one place that writes. Knows what the output can show: a terminal has colours and a line that is drawn again and
//! again, a pipe has neither. What comes from outside is made harmless here.

use super::text::harmless;
use crate::json;
use serde::Serialize;
use std::io::{self, Write};

/// How a piece of text is shown where there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As it is.
    Plain,
    /// In the background: reasoning, the meter.
    Dim,
    /// What stands out.
    Bold,
    /// What went well.
    Green,
    /// What needs a look.
    Yellow,
    /// What went wrong.
    Red,
}

impl Style {
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Dim => Some("2"),
            Self::Bold => Some("1"),
            Self::Green => Some("32"),
            Self::Yellow => Some("33"),
            Self::Red => Some("31"),
        }
    }
}

/// What the output can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// A line can be drawn again.
    pub redraws: bool,
    /// There are colours.
    pub colours: bool,
    /// Only JSON is wanted.
    pub json: bool,
}

/// The output.
pub struct Screen {
    out: Box<dyn Write>,
    errors: Box<dyn Write>,
    abilities: Abilities,
    /// Whether the next text begins a line.
    is_fresh: bool,
    /// How many characters of a passing line there are to be wiped out.
    passing: usize,
}

impl Screen {
    /// Writes there.
    pub fn new(out: Box<dyn Write>, errors: Box<dyn Write>, abilities: Abilities) -> Self {
        Self { out, errors, abilities, is_fresh: true, passing: 0 }
    }

    /// What the output can show.
    pub fn abilities(&self) -> Abilities {
        self.abilities
    }

    /// A piece of text, which may go on later.
    pub fn piece(&mut self, text: &str, style: Style) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.wipe()?;
        let text = harmless(text);
        match style.code().filter(|_| self.abilities.colours) {
            Some(code) => write!(self.out, "\x1b[{code}m{text}\x1b[0m")?,
            None => self.out.write_all(text.as_bytes())?,
        }
        self.is_fresh = text.ends_with('\n') || text.is_empty() && self.is_fresh;
        self.out.flush()
    }

    /// A line of its own.
    pub fn line(&mut self, text: &str, style: Style) -> io::Result<()> {
        self.end_line()?;
        self.piece(text, style)?;
        self.out.write_all(b"\n")?;
        self.is_fresh = true;
        self.out.flush()
    }

    /// Ends the line that was begun, if one was.
    pub fn end_line(&mut self) -> io::Result<()> {
        self.wipe()?;
        if !self.is_fresh {
            self.out.write_all(b"\n")?;
            self.is_fresh = true;
        }
        self.out.flush()
    }

    /// A value of its own line, where JSON is wanted.
    pub fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        writeln!(self.out, "{}", json::line(value)?)?;
        self.out.flush()
    }

    /// A line that the next text takes the place of. Shown only where that is possible, and never in place of text that
    /// stands there: a line that was begun stays alone.
    pub fn passing(&mut self, text: &str) -> io::Result<()> {
        if !self.abilities.redraws || !self.is_fresh {
            return Ok(());
        }
        let text = harmless(text);
        let width = text.chars().count();
        let rest = " ".repeat(self.passing.saturating_sub(width));
        let back = "\x08".repeat(rest.len());
        write!(self.out, "\r{text}{rest}{back}")?;
        self.passing = width.max(1);
        self.out.flush()
    }

    /// Something for whoever looks after the program, beside the output.
    pub fn complain(&mut self, text: &str) -> io::Result<()> {
        let one_line = harmless(text).replace('\n', " ");
        // A program that cannot complain goes on.
        let _ = writeln!(self.errors, "oneclaw: {one_line}");
        Ok(())
    }

    /// Takes away the passing line.
    fn wipe(&mut self) -> io::Result<()> {
        match std::mem::take(&mut self.passing) {
            0 => Ok(()),
            width => write!(self.out, "\r{}\r", " ".repeat(width)),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// What was written.
    #[derive(Clone, Default)]
    pub struct Paper(Rc<RefCell<Vec<u8>>>);

    impl Paper {
        pub fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Paper {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub fn screen(redraws: bool, colours: bool) -> (Screen, Paper) {
        let paper = Paper::default();
        let abilities = Abilities { redraws, colours, json: false };
        (Screen::new(Box::new(paper.clone()), Box::new(io::sink()), abilities), paper)
    }

    #[test]
    fn lines_begin_where_lines_begin() {
        let (mut screen, paper) = screen(false, false);
        screen.piece("one", Style::Dim).unwrap();
        screen.piece(" two", Style::Red).unwrap();
        screen.line("three", Style::Bold).unwrap();
        screen.end_line().unwrap();
        screen.passing("never").unwrap();
        screen.piece("four\n", Style::Plain).unwrap();
        screen.line("\u{1b}[31mfive", Style::Plain).unwrap();
        assert_eq!(paper.text(), "one two\nthree\nfour\n␛[31mfive\n");
    }

    #[test]
    fn colours_are_closed_where_they_were_opened() {
        let (mut screen, paper) = screen(true, true);
        screen.line("x", Style::Red).unwrap();
        assert_eq!(paper.text(), "\u{1b}[31mx\u{1b}[0m\n");
    }

    #[test]
    fn a_passing_line_goes_and_never_stands_in_text() {
        let (mut screen, paper) = screen(true, false);
        screen.passing("wait 10").unwrap();
        screen.passing("wait 9").unwrap();
        screen.piece("text", Style::Plain).unwrap();
        screen.passing("wait").unwrap();
        assert_eq!(paper.text(), "\rwait 10\rwait 9 \u{8}\r      \rtext");
    }
}
