//! Everything that comes of a reply's bytes, whatever way they are cut up, and what holds for every reply, however broken.

use oneclaw_model::Dialect;
use oneclaw_providers::{Decoder, ProviderError, StreamEvent};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that came of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The events, those that came at the end of the body too.
    pub events: Vec<StreamEvent>,
    /// How many of the events were there before the end of the body.
    pub pushed: usize,
    /// Whether the reply is whole, or this part of it.
    pub outcome: Result<(), ProviderError>,
    /// What the rest of the reply is asked for with, if this was a part of it.
    pub continuation: Option<String>,
}

/// Decodes a body that comes in these chunks, and checks what holds for every reply.
pub fn decode<'a>(dialect: Dialect, chunks: impl IntoIterator<Item = &'a [u8]>) -> Decoded {
    let mut decoder = Decoder::new(dialect);
    let mut events = Vec::new();
    let mut outcome = Ok(());
    for chunk in chunks {
        outcome = outcome.and(decoder.push(chunk, &mut events));
    }
    let pushed = events.len();
    let end = decoder.finish(&mut events);
    if outcome.is_err() {
        assert_eq!(end, outcome, "a decoder that has failed changes its mind");
    }
    let continuation = decoder.continuation().map(str::to_owned);
    let all = events.len();
    assert_eq!(decoder.push(b"data: {}\n\ndata: [DONE]\n\n", &mut events), end, "more after the end");
    assert_eq!(decoder.finish(&mut events), end, "a second end");
    assert_eq!(events.len(), all, "events after the end");
    let decoded = Decoded { events, pushed, outcome: outcome.and(end), continuation };
    check(&decoded);
    decoded
}

/// Decodes a body that comes in one piece.
pub fn whole(dialect: Dialect, body: impl AsRef<[u8]>) -> Decoded {
    decode(dialect, [body.as_ref()])
}

/// Cuts the bytes into pieces of these lengths, again and again; some may be empty.
pub fn pieces<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if bytes.is_empty() || lengths.iter().all(|length| *length == 0) {
            break;
        }
        let (piece, rest) = bytes.split_at((*length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

fn check(decoded: &Decoded) {
    let Decoded { events, outcome, continuation, .. } = decoded;
    let stops = events.iter().filter(|event| matches!(event, StreamEvent::Stopped(_))).count();
    let is_whole = outcome.is_ok() && continuation.is_none();
    assert_eq!(stops, usize::from(is_whole), "stops exactly where the reply is whole: {decoded:?}");
    let mut open: BTreeMap<&str, String> = BTreeMap::new();
    let mut started = BTreeSet::new();
    let mut arguments = Vec::new();
    let mut usage = None;
    for event in events {
        match event {
            StreamEvent::Text(text) | StreamEvent::Thinking(text) | StreamEvent::TextSignature(text) => {
                assert!(!text.is_empty());
            }
            StreamEvent::Thought(thinking) => {
                assert!(thinking.texts().iter().any(|text| !text.is_empty()), "reasoning without a letter");
            }
            StreamEvent::CallStarted { id, name } => {
                assert!(!name.is_empty() && !id.as_str().is_empty());
                assert!(started.insert(id.as_str()), "the id {id} is there twice");
                open.insert(id.as_str(), String::new());
            }
            StreamEvent::CallArguments { id, delta } => {
                assert!(!delta.is_empty());
                open.get_mut(id.as_str()).expect("an open call").push_str(delta);
            }
            StreamEvent::CallCompleted { id, .. } => {
                arguments.push(open.remove(id.as_str()).expect("an open call"));
            }
            StreamEvent::Usage(new) => {
                assert_ne!(usage.replace(*new), Some(*new), "usage that is no news");
            }
            StreamEvent::Stopped(_) => {
                assert!(open.is_empty(), "calls left open: {open:?}");
                assert_eq!(Some(event), events.last());
            }
        }
    }
    assert!(arguments.iter().all(|text| !text.is_empty()));
}
