//! Splits the bytes of a body into server-sent events, by the rules of the WHATWG HTML standard (§9.2.6).
//!
//! This module decides where a line and an event end and which of their fields count. It does *not* know what the data
//! mean. Bytes may come in any chunking, one by one too: no byte is looked at twice, and what is held back is one
//! event at most, which is limited.
//!
//! The one departure: an event that the body ends in, without the blank line that would close it, is not dropped but
//! given out by [`Splitter::finish`], because some servers leave that line out. Whether it is whole is the caller's
//! to find out.

use memchr::{memchr, memchr2};
use std::borrow::Cow;

/// The longest line, in bytes.
pub const MAX_LINE: usize = 8 << 20;

/// The longest data of one event, in bytes.
pub const MAX_EVENT: usize = 8 << 20;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// One event; it borrows from the splitter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// The kind of event; empty where the server names none.
    pub name: &'a str,
    /// Its lines of data, joined by line feeds. Bytes that are not UTF-8 are replaced.
    pub data: Cow<'a, str>,
    /// The last id that was sent, with this event or an earlier one.
    pub id: &'a str,
}

/// What a splitter does not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// A line has no end.
    #[error("a line of the stream is longer than {MAX_LINE} bytes")]
    LineTooLong,
    /// An event has no end.
    #[error("an event of the stream is longer than {MAX_EVENT} bytes")]
    EventTooLong,
}

/// The splitter; what it holds is the event that has begun.
#[derive(Debug, Default)]
pub struct Splitter {
    /// The beginning of a line whose end is still to come.
    line: Vec<u8>,
    /// The data so far, each line with a line feed at its end.
    data: Vec<u8>,
    name: String,
    id: String,
    /// The last line ended in a CR, so that a LF would belong to its end.
    after_cr: bool,
    /// The first line is over, and with it the place for a byte order mark.
    begun: bool,
    /// The event was given out; the next one starts afresh.
    given: bool,
}

impl Splitter {
    /// A splitter at the start of a body.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next event that `bytes` complete; what was read is taken off them. `None`: all was read, and more is
    /// needed.
    ///
    /// # Errors
    /// When a line or an event exceeds its limit. The splitter is of no use afterwards.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Event<'_>>, SseError> {
        self.start_afresh();
        loop {
            if self.after_cr
                && let Some((first, rest)) = bytes.split_first()
            {
                self.after_cr = false;
                if *first == b'\n' {
                    *bytes = rest;
                }
            }
            let line_end = memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len());
            let (head, tail) = bytes.split_at(line_end);
            if self.line.len() + head.len() > MAX_LINE {
                return Err(SseError::LineTooLong);
            }
            let Some((end, rest)) = tail.split_first() else {
                self.line.extend_from_slice(head);
                *bytes = tail;
                return Ok(None);
            };
            *bytes = rest;
            self.after_cr = *end == b'\r';
            let complete = if self.line.is_empty() { self.read(head)? } else { self.read_held(head)? };
            if complete {
                return Ok(Some(self.give()));
            }
        }
    }

    /// The event that the body ends in, if it lacks its blank line.
    ///
    /// # Errors
    /// When the event exceeds its limit.
    pub fn finish(&mut self) -> Result<Option<Event<'_>>, SseError> {
        self.start_afresh();
        self.read_held(b"")?;
        Ok((!self.data.is_empty()).then(|| self.give()))
    }

    /// Reads the line that was held back, with its end.
    fn read_held(&mut self, end: &[u8]) -> Result<bool, SseError> {
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let complete = self.read(&line);
        line.clear();
        self.line = line;
        complete
    }

    /// Reads a whole line and says whether it completes an event.
    fn read(&mut self, line: &[u8]) -> Result<bool, SseError> {
        let line = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if !self.begun => rest,
            _ => line,
        };
        self.begun = true;
        if line.is_empty() {
            let complete = !self.data.is_empty();
            if !complete {
                self.name.clear();
            }
            return Ok(complete);
        }
        let colon = memchr(b':', line).unwrap_or(line.len());
        let (field, rest) = line.split_at(colon);
        let value = rest.strip_prefix(b":").unwrap_or(rest);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.data.len() + value.len() > MAX_EVENT {
                    return Err(SseError::EventTooLong);
                }
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => text_of(value).as_ref().clone_into(&mut self.name),
            b"id" if !value.contains(&0) => text_of(value).as_ref().clone_into(&mut self.id),
            // Comments, `retry`, and what the standard does not know.
            _ => {}
        }
        Ok(false)
    }

    fn give(&mut self) -> Event<'_> {
        self.given = true;
        let data = self.data.strip_suffix(b"\n").unwrap_or(&self.data);
        Event { name: &self.name, data: text_of(data), id: &self.id }
    }

    fn start_afresh(&mut self) {
        if std::mem::take(&mut self.given) {
            self.data.clear();
            self.name.clear();
        }
    }
}

/// The bytes as text. Lines and fields are cut at ASCII characters, so no character is ever split. Nearly always they
/// are UTF-8, and the check for that is faster than the lossy conversion.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event with its name, data and id.
    type Owned = (String, String, String);

    fn owned(event: Event<'_>) -> Owned {
        (event.name.to_owned(), event.data.into_owned(), event.id.to_owned())
    }

    /// The events of a body in one of its chunkings, and the one it ends in.
    fn split<'a>(
        chunks: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(Vec<Owned>, Option<Owned>), SseError> {
        let mut splitter = Splitter::new();
        let mut events = Vec::new();
        for mut chunk in chunks {
            while let Some(event) = splitter.next(&mut chunk)? {
                events.push(owned(event));
            }
            assert!(chunk.is_empty());
        }
        let last = splitter.finish()?.map(owned);
        Ok((events, last))
    }

    /// The events of a body, the same in every split in two or three and byte by byte.
    fn events(body: &[u8]) -> (Vec<Owned>, Option<Owned>) {
        let whole = split([body]).unwrap();
        assert_eq!(split(body.chunks(1)).unwrap(), whole);
        for first in 0..=body.len() {
            for second in first..=body.len() {
                let chunks = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(split(chunks).unwrap(), whole, "split at {first} and {second}");
            }
        }
        whole
    }

    /// The data of a body whose last event is closed.
    fn data(body: &str) -> Vec<String> {
        let (events, last) = events(body.as_bytes());
        assert_eq!(last, None);
        events.into_iter().map(|(_, data, _)| data).collect()
    }

    #[test]
    fn every_line_end_is_one() {
        for body in [
            "data: a\n\ndata: b\n\n",
            "data: a\r\rdata: b\r\r",
            "data: a\r\n\r\ndata: b\r\n\r\n",
            "data: a\r\n\ndata: b\r\r\n",
            "data: a\n\rdata: b\n\r\n",
            "\n\r\n\r\rdata: a\n\n\n\n\r\ndata: b\n\n",
        ] {
            assert_eq!(data(body), ["a", "b"], "{body:?}");
        }
        assert_eq!(data("data: a\r\ndata: b\rdata: c\ndata: d\n\n"), ["a\nb\nc\nd"]);
    }

    #[test]
    fn lines_of_data_are_joined() {
        assert_eq!(data("data: a\ndata:b\ndata:  c\ndata\ndata:\ndata: \n\n"), ["a\nb\n c\n\n\n"]);
        assert_eq!(data("data\n\ndata:\n\ndata: \n\n"), ["", "", ""]);
        assert_eq!(data("data: a:b: c\n\n"), ["a:b: c"]);
        assert_eq!(data("data:\ta\u{a0}\n\n"), ["\ta\u{a0}"]);
    }

    #[test]
    fn comments_and_unknown_fields_are_passed_over() {
        assert_eq!(data(": a\n\n:\n\n:data: b\n\n"), [""; 0]);
        assert_eq!(data("datas: a\nDATA: b\n data: c\nretry: 10\ndat\n\n"), [""; 0]);
        assert_eq!(data("data: a\n: inside\nretry: 10\nx\ndata: b\n\n"), ["a\nb"]);
    }

    #[test]
    fn names_last_for_one_event_and_ids_until_the_next() {
        let owned = |name: &str, data: &str, id: &str| (name.to_owned(), data.to_owned(), id.to_owned());
        let body = "event: x\nid: 1\ndata: a\n\ndata: b\n\nevent: lost\n\nid: 2\n\ndata: c\n\n\
                    id: 3\0\nevent: y\nevent: z\ndata: d\n\nid\nevent:\ndata: e\n\n";
        let (events, last) = events(body.as_bytes());
        let expected = [
            owned("x", "a", "1"),
            owned("", "b", "1"),
            owned("", "c", "2"),
            owned("z", "d", "2"),
            owned("", "e", ""),
        ];
        assert_eq!((events.as_slice(), last), (expected.as_slice(), None));
    }

    #[test]
    fn a_byte_order_mark_counts_only_at_the_start() {
        assert_eq!(data("\u{feff}data: a\n\n"), ["a"]);
        assert_eq!(data("\u{feff}\ndata: a\n\n"), ["a"]);
        assert_eq!(data("\u{feff}\u{feff}data: a\n\n"), [""; 0]);
        assert_eq!(data("\n\u{feff}data: a\n\ndata: \u{feff}b\n\n"), ["\u{feff}b"]);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_characters_stay_whole() {
        let (events, _) =
            events(b"event: \xff\ndata: \xc3\xa9\xf0\x9f\x98\x80|\xc3|\xf0\x9f\ndata: \x98\x80\n\n");
        let expected =
            ("\u{fffd}".to_owned(), "é😀|\u{fffd}|\u{fffd}\n\u{fffd}\u{fffd}".to_owned(), String::new());
        assert_eq!(events, [expected]);
    }

    #[test]
    fn the_event_without_a_blank_line_comes_last() {
        for body in [
            "data: a\n\nevent: x\ndata: b",
            "data: a\n\nevent: x\ndata: b\n",
            "data: a\n\nevent: x\ndata: b\r",
        ] {
            let (events, last) = events(body.as_bytes());
            assert_eq!(events.len(), 1, "{body:?}");
            assert_eq!(last, Some(("x".to_owned(), "b".to_owned(), String::new())), "{body:?}");
        }
        for body in ["", "\n", "data: a\n\n", "data: a\n\ndat", "data: a\n\n: x", "data: a\n\nevent: x\n"] {
            assert_eq!(events(body.as_bytes()).1, None, "{body:?}");
        }
    }

    #[test]
    fn lines_and_events_have_their_limits() {
        let line = |length: usize| [b"data:".as_slice(), &vec![b'x'; length - 5]].concat();
        let long = [&line(MAX_LINE), b"\n\n".as_slice()].concat();
        assert_eq!(split([long.as_slice()]).unwrap().0.len(), 1);
        assert_eq!(split(long.chunks(1 << 16)).unwrap().0.len(), 1);
        for end in ["", "\n\n"] {
            let longer = [&line(MAX_LINE + 1), end.as_bytes()].concat();
            assert_eq!(split([longer.as_slice()]), Err(SseError::LineTooLong));
            assert_eq!(split(longer.chunks(1 << 16)), Err(SseError::LineTooLong));
        }
        let halves = |length: usize| [&line(length), b"\n".as_slice(), &line(length), b"\n\n"].concat();
        assert_eq!(split([halves(MAX_EVENT / 2).as_slice()]).unwrap().0.len(), 1);
        assert_eq!(split(halves(MAX_EVENT / 2 + 6).chunks(1 << 16)), Err(SseError::EventTooLong));
        let comments = [b":".repeat(1 << 20), b"\n".to_vec()].concat().repeat(10);
        assert_eq!(split([comments.as_slice()]), Ok((vec![], None)));
    }
}
