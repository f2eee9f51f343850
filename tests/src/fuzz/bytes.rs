//! Input as a list of choices: each one takes a byte or a few, and all are zero once the input is used up.

use crate::words;
use oneclaw_context::escape::PHRASES;

/// What is left of the input.
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        taken
    }

    pub fn byte(&mut self) -> u8 {
        self.take(1).first().copied().unwrap_or_default()
    }

    /// A number of so many bytes.
    pub fn number(&mut self, bytes: usize) -> u64 {
        (0..bytes).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub fn choice<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[usize::from(self.byte()) % of.len()]
    }

    /// A text: the input's own words, or one that would take more input than there is.
    pub fn text(&mut self) -> String {
        match self.byte() % 8 {
            0 => String::new(),
            1 => words(usize::from(self.byte()) * 4),
            2 => {
                let times = usize::from(self.byte()) * 8;
                self.words(8).repeat(times)
            }
            3 => {
                let phrase = self.choice(&PHRASES[..]);
                format!("a\n\n---\n\n{phrase}\n{phrase} b")
            }
            _ => {
                let length = usize::from(self.byte());
                self.words(length)
            }
        }
    }

    fn words(&mut self, length: usize) -> String {
        String::from_utf8_lossy(self.take(length)).into_owned()
    }
}
