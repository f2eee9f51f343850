//! What was asked and answered, for tests and for people who look.
//!
//! Only so much is kept: of old requests first the bodies go, then the entries.

use crate::script::Reply;
use bytes::Bytes;
use oneclaw_model::{Dialect, ProviderKind, Usage};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of requests and replies that are kept.
const MOST_BYTES: usize = 64 * 1024 * 1024;
const MOST_ENTRIES: usize = 100_000;

/// One request and its answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Exchange {
    /// The method, `POST`.
    pub method: String,
    /// The path without the query, where a key may stand.
    pub path: String,
    /// The protocol spoken, where the path tells.
    pub kind: Option<ProviderKind>,
    /// The dialect of it, where the path tells.
    pub dialect: Option<Dialect>,
    /// The model asked for.
    pub model: Option<String>,
    /// The size of the prompt, where the request got so far as to be counted.
    pub prompt_tokens: Option<u64>,
    /// The status answered; `None` while none was, or where the connection was closed instead.
    pub status: Option<u16>,
    /// The body that was sent; null where it was no JSON or is no longer kept.
    pub request: Value,
    /// What the model said.
    pub reply: Option<Reply>,
    /// What it is said to have cost.
    pub usage: Option<Usage>,
    /// How it ended.
    pub ending: Ending,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Not yet.
    Open,
    /// The whole answer was handed over.
    Whole,
    /// The server broke it off, as a fault wanted it.
    CutByServer,
    /// The caller went away before it had the whole answer.
    ClosedEarly,
}

struct Entry {
    exchange: Exchange,
    body: Bytes,
}

impl Entry {
    fn size(&self) -> usize {
        self.body.len() + self.exchange.reply.as_ref().map_or(0, |reply| reply.text.len())
    }
}

#[derive(Default)]
struct Entries {
    /// The number of the first entry that is left.
    first: u64,
    entries: VecDeque<Entry>,
    /// Entries at the front whose bodies are gone already.
    bare: usize,
    bytes: usize,
}

/// The exchanges so far.
#[derive(Default)]
pub(crate) struct Log(Mutex<Entries>);

/// A request under way: its place in the log. Dropped before its end, it is one that the caller gave up.
pub(crate) struct Ticket {
    log: Arc<Log>,
    number: u64,
    is_over: bool,
}

impl Log {
    /// All that is kept, in order of arrival.
    pub fn all(&self) -> Vec<Exchange> {
        let entries = self.entries();
        let with_body = |entry: &Entry| Exchange {
            request: serde_json::from_slice(&entry.body).unwrap_or_default(),
            ..entry.exchange.clone()
        };
        entries.entries.iter().map(with_body).collect()
    }

    /// A request has arrived.
    pub fn open(log: &Arc<Self>, method: &str, path: &str) -> Ticket {
        let mut entries = log.entries();
        if entries.entries.len() >= MOST_ENTRIES
            && let Some(oldest) = entries.entries.pop_front()
        {
            entries.first += 1;
            entries.bytes -= oldest.size();
            entries.bare = entries.bare.saturating_sub(1);
        }
        let number = entries.first + entries.entries.len() as u64;
        let exchange = Exchange {
            method: method.to_owned(),
            path: path.to_owned(),
            kind: None,
            dialect: None,
            model: None,
            prompt_tokens: None,
            status: None,
            request: Value::Null,
            reply: None,
            usage: None,
            ending: Ending::Open,
        };
        entries.entries.push_back(Entry { exchange, body: Bytes::new() });
        Ticket { log: Arc::clone(log), number, is_over: false }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn change(&mut self, number: u64, change: impl FnOnce(&mut Entry)) {
        let place = number.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        let Some(entry) = place.and_then(|place| self.entries.get_mut(place)) else { return };
        self.bytes -= entry.size();
        change(entry);
        self.bytes += entry.size();
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.entries.get_mut(self.bare)
        {
            self.bytes -= oldest.size();
            oldest.body = Bytes::new();
            oldest.exchange.reply = None;
            self.bare += 1;
        }
    }
}

impl Ticket {
    /// Notes something about the exchange.
    pub fn note(&self, note: impl FnOnce(&mut Exchange)) {
        self.log.entries().change(self.number, |entry| note(&mut entry.exchange));
    }

    /// Keeps the body; a copy, as the bytes may be part of a larger buffer that would be kept with them.
    pub fn body(&self, body: &[u8]) {
        let body = Bytes::copy_from_slice(body);
        self.log.entries().change(self.number, |entry| entry.body = body);
    }

    /// The exchange is over.
    pub fn end(&mut self, ending: Ending) {
        if !self.is_over {
            self.is_over = true;
            self.note(|exchange| exchange.ending = ending);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.end(Ending::ClosedEarly);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_that_is_dropped_was_given_up() {
        let log = Arc::new(Log::default());
        let mut kept = Log::open(&log, "POST", "/a");
        let dropped = Log::open(&log, "POST", "/b");
        kept.body(b"{\"a\":1}");
        kept.end(Ending::Whole);
        drop((kept, dropped));
        let all = log.all();
        assert_eq!(all[0].request, serde_json::json!({"a": 1}));
        assert_eq!((all[0].ending, all[1].ending), (Ending::Whole, Ending::ClosedEarly));
    }

    #[test]
    fn old_bodies_give_way() {
        let log = Arc::new(Log::default());
        let half = Bytes::from(format!("\"{}\"", "x".repeat(MOST_BYTES / 2)));
        for _ in 0..3 {
            Log::open(&log, "POST", "/").body(&half);
        }
        let kept: Vec<bool> = log.all().iter().map(|e| !e.request.is_null()).collect();
        assert_eq!(kept, [false, false, true]);
        assert!(log.entries().bytes <= MOST_BYTES);
    }
}
