//! What services send: the lines of a stream, replies, errors, lists of models.

use crate::decoded::{decode, pieces, whole};
use oneclaw_model::{Dialect, ProviderKind};
use oneclaw_providers::classify::{self, Failure};
use oneclaw_providers::sse::{Event, MAX_EVENT, MAX_LINE, Splitter, SseError};
use oneclaw_providers::{ProviderError, models};
use std::hash::{DefaultHasher, Hash, Hasher};

const KINDS: [ProviderKind; 3] = [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini];

/// A first byte that no text has: what follows it is repeated until no line and no event may be that long.
const ENDLESS: u8 = 0xff;

/// The longest text of an error, in characters: the words of a service and our own around them.
const LONGEST_ERROR: usize = 400;

/// The splitter gives the events that the standard says, whatever way the body is cut up, and gives up what is too long.
pub fn splitter(data: &[u8]) {
    match data.split_first() {
        Some((&ENDLESS, piece)) if !piece.is_empty() => {
            let body = piece.repeat((MAX_LINE.max(MAX_EVENT) + (1 << 20)) / piece.len());
            let mut hash = DefaultHasher::new();
            let expected = by_the_book(&body, |event| event.hash(&mut hash));
            let mut found = DefaultHasher::new();
            let outcome = split(&pieces(&body, &[1 << 16, 77_777]), |event| event.hash(&mut found));
            assert_eq!((outcome, found.finish()), (expected, hash.finish()));
        }
        _ => {
            let mut expected = Vec::new();
            let outcome = by_the_book(data, |event| expected.push(event));
            for lengths in [vec![data.len()], vec![1], lengths(data)] {
                let mut found = Vec::new();
                assert_eq!(split(&pieces(data, &lengths), |event| found.push(event)), outcome);
                assert_eq!(found, expected, "cut into {lengths:?}");
            }
        }
    }
}

/// Every dialect: the same events whatever way the body is cut up, nothing after the end, errors that can be shown.
pub fn decoder(data: &[u8]) {
    for dialect in Dialect::ALL {
        let expected = whole(dialect, data);
        assert_eq!(decode(dialect, data.chunks(1)), expected, "{dialect:?}, byte by byte");
        let lengths = lengths(data);
        assert_eq!(decode(dialect, pieces(data, &lengths)), expected, "{dialect:?}, cut into {lengths:?}");
        if let Err(error) = &expected.outcome {
            check_shown(error);
        }
    }
}

/// A body that says what is wrong, with every status that decides, and inside a stream.
pub fn errors(data: &[u8]) {
    let parsed: Option<serde_json::Value> = serde_json::from_slice(data).ok();
    for status in [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529] {
        for (kind, host) in [(ProviderKind::OpenAi, "api.cerebras.ai"), (ProviderKind::Gemini, "")] {
            let failure = Failure { host, status, body: data, ..Failure::default() };
            check_shown(&classify::response(kind, failure));
        }
    }
    for kind in KINDS {
        if let Some(value) = &parsed {
            check_shown(&classify::in_stream(kind, value));
        }
    }
}

/// Lists of models, in everybody's form.
pub fn lists(data: &[u8]) {
    let Ok(value) = serde_json::from_slice(data) else { return };
    let pages = [models::anthropic(&value), models::gemini(&value)];
    let listed = models::openai(&value).into_iter();
    for model in listed.chain(pages.into_iter().flat_map(|page| page.models)) {
        assert!(!model.id.is_empty(), "a model without a name: {model:?}");
        assert!(model.window != Some(0) && model.max_output != Some(0), "no room at all: {model:?}");
    }
    assert!(models::local::ollama_tags(&value).iter().all(|name| !name.is_empty()));
    let running = models::local::ollama_running(&value).into_values().map(Some);
    let loaded = models::local::lm_studio(&value).into_values().map(|local| local.window);
    let others = [models::local::llama_cpp(&value).window, models::local::ollama_shown(&value).window];
    for window in running.chain(loaded).chain(others) {
        assert_ne!(window, Some(0));
    }
}

/// How a body is cut up, told by its own bytes.
fn lengths(data: &[u8]) -> Vec<usize> {
    data.iter().rev().take(5).map(|byte| usize::from(*byte) % 60).collect()
}

/// Errors go to screens and logs: one line, not too long, nothing that a terminal would obey.
fn check_shown(error: &ProviderError) {
    let text = error.to_string();
    assert!(!text.contains(char::is_control), "{text:?}");
    assert!(text.chars().count() <= LONGEST_ERROR, "{} characters: {text}", text.chars().count());
}

/// An event's name, data and id.
type Owned = (String, String, String);

fn owned(event: Event<'_>) -> Owned {
    (event.name.to_owned(), event.data.into_owned(), event.id.to_owned())
}

fn split(chunks: &[&[u8]], mut give: impl FnMut(Owned)) -> Result<(), SseError> {
    let mut splitter = Splitter::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(event) = splitter.next(&mut chunk)? {
            give(owned(event));
        }
        assert!(chunk.is_empty(), "a chunk that was not read to its end");
    }
    if let Some(event) = splitter.finish()? {
        give(owned(event));
    }
    assert_eq!(splitter.finish(), Ok(None), "a second end");
    Ok(())
}

/// The WHATWG's rules over a body that is there as a whole, in their order and without haste. The event that the body
/// ends in is given too.
fn by_the_book(body: &[u8], mut give: impl FnMut(Owned)) -> Result<(), SseError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut name, mut data, mut id) = (String::new(), Vec::new(), String::new());
    let mut rest = body;
    let mut is_first = true;
    loop {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let mut line = &rest[..end.unwrap_or(rest.len())];
        if line.len() > MAX_LINE {
            return Err(SseError::LineTooLong);
        }
        if std::mem::take(&mut is_first) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        let mut parts = line.splitn(2, |byte| *byte == b':');
        let field = parts.next().unwrap_or_default();
        let value = parts.next().unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if data.len() + value.len() > MAX_EVENT => return Err(SseError::EventTooLong),
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            b"event" => name = text(value),
            b"id" if !value.contains(&0) => id = text(value),
            _ => {}
        }
        if line.is_empty() || end.is_none() {
            let name = std::mem::take(&mut name);
            if let Some(data) = std::mem::take(&mut data).strip_suffix(b"\n") {
                give((name, text(data), id.clone()));
            }
        }
        let Some(end) = end else { return Ok(()) };
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + length..];
    }
}
