//! Bytes of a body to stream events, whatever the dialect.
//!
//! This module decides what kind of body it is, when a reply is over, what a body that ends early means, and how
//! faults are reported. The dialects say what each event means. Nothing here waits or reads: bytes in, events out,
//! the same for every chunking.

use crate::dialects::{chat_completions, generate_content, messages, responses};
use crate::draft::protocol;
use crate::json::{self, Few, First};
use crate::sse::{self, Splitter, SseError};
use crate::{ProviderError, StreamEvent, classify};
use oneclaw_model::{Dialect, ProviderKind};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;

/// The longest body that is no event stream.
const MAX_BODY: usize = 1 << 20;

/// The longest error object that is looked into.
const MAX_ERROR: usize = 64 << 10;

/// Reads the body of one reply.
///
/// Once it has failed, it fails the same way again; once the reply is over, everything else is passed over.
#[derive(Debug)]
pub struct Decoder {
    kind: ProviderKind,
    splitter: Splitter,
    body: Body,
    reader: Reader,
    /// How many events there were.
    events: u64,
    /// How it ended, if it has.
    outcome: Option<Result<(), ProviderError>>,
}

/// What the body turns out to be.
#[derive(Debug)]
enum Body {
    /// Nothing but white space so far.
    Blank,
    /// Events.
    Stream,
    /// Some servers put an error into a body of plain JSON; this is what came of it.
    Json(Vec<u8>),
}

/// What is known of the reply, in each dialect.
#[derive(Debug)]
enum Reader {
    ChatCompletions(chat_completions::decode::Reader),
    Responses(responses::decode::Reader),
    Messages(messages::decode::Reader),
    GenerateContent(generate_content::decode::Reader),
}

/// Whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// There is.
    More,
    /// The reply is over.
    Over,
}

/// What is wrong with an event.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It cannot be read.
    Unreadable(Category),
    /// It can, and says that something is wrong.
    Error(ProviderError),
}

impl From<ProviderError> for Fault {
    fn from(error: ProviderError) -> Self {
        Self::Error(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        // Its text may quote the payload, so only its kind is kept.
        Self::Unreadable(error.classify())
    }
}

impl From<SseError> for ProviderError {
    fn from(error: SseError) -> Self {
        protocol(error.to_string())
    }
}

impl Decoder {
    /// A decoder at the start of a body.
    pub fn new(dialect: Dialect) -> Self {
        let reader = match dialect {
            Dialect::ChatCompletions => Reader::ChatCompletions(Default::default()),
            Dialect::Responses => Reader::Responses(Default::default()),
            Dialect::Messages => Reader::Messages(Default::default()),
            Dialect::GenerateContent => Reader::GenerateContent(Default::default()),
        };
        let kind = dialect.kind();
        Self { kind, splitter: Splitter::new(), body: Body::Blank, reader, events: 0, outcome: None }
    }

    /// Bytes as they arrive, in any chunking. Appends events.
    ///
    /// # Errors
    /// When the service reports one, or what it sends cannot be understood. The events before it are appended.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        match self.take(bytes, out) {
            Ok(Flow::More) => Ok(()),
            Ok(Flow::Over) => self.close(Ok(())),
            Err(error) => self.close(Err(error)),
        }
    }

    /// The body has ended: the missing end of a reply is made up for or is an error.
    ///
    /// # Errors
    /// When the reply is not whole, or the last of it says that something is wrong.
    pub fn finish(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        let outcome = self.end(out);
        self.close(outcome)
    }

    /// Whether the reply has given the reason for its end and nothing is missing but the end mark.
    pub fn has_reason(&self) -> bool {
        match &self.reader {
            Reader::ChatCompletions(reader) => reader.has_reason(),
            // The end is an event, with Gemini the end of the body: earlier models gave a reason in every event.
            Reader::Responses(_) | Reader::Messages(_) | Reader::GenerateContent(_) => false,
        }
    }

    /// The token with which the rest of the reply is asked for, where this body was only the first part of it. Known once
    /// the body has ended; nothing has been said of a stop then.
    pub fn continuation(&self) -> Option<&str> {
        match (&self.outcome, &self.reader) {
            (Some(Ok(())), Reader::GenerateContent(reader)) => reader.continuation(),
            _ => None,
        }
    }

    /// Gets ready for the body with the rest of the reply. Ids of calls and usage go on from where they are.
    pub(crate) fn go_on(&mut self) {
        if let Reader::GenerateContent(reader) = &mut self.reader {
            reader.go_on();
        }
        (self.splitter, self.body, self.events, self.outcome) = (Splitter::new(), Body::Blank, 0, None);
    }

    /// Ends a reply that the service would continue.
    pub(crate) fn cut(&mut self, out: &mut Vec<StreamEvent>) {
        if let Reader::GenerateContent(reader) = &mut self.reader {
            reader.cut(out);
        }
        self.outcome = Some(Ok(()));
    }

    /// The output tokens so far, where the reply may be one that the service continues.
    pub(crate) fn output(&self) -> u64 {
        match &self.reader {
            Reader::GenerateContent(reader) => reader.output(),
            Reader::ChatCompletions(_) | Reader::Responses(_) | Reader::Messages(_) => 0,
        }
    }

    fn close(&mut self, outcome: Result<(), ProviderError>) -> Result<(), ProviderError> {
        self.outcome = Some(outcome.clone());
        outcome
    }

    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<StreamEvent>) -> Result<Flow, ProviderError> {
        if let Body::Blank = self.body {
            let (_, rest) = bytes.split_at(bytes.iter().take_while(|byte| is_blank(**byte)).count());
            // An event stream starts with a field's name or a colon.
            match rest {
                [] => {}
                [b'{' | b'[', ..] => {
                    // What stands before may have come in a chunk of its own: it never counts.
                    bytes = rest;
                    self.body = Body::Json(Vec::new());
                }
                _ => self.body = Body::Stream,
            }
        }
        if let Body::Json(body) = &mut self.body {
            if body.len() + bytes.len() > MAX_BODY {
                return Err(protocol("the body is long, but no event stream".to_owned()));
            }
            body.extend_from_slice(bytes);
            return Ok(Flow::More);
        }
        let mut rest = bytes;
        while let Some(event) = self.splitter.next(&mut rest)? {
            self.events += 1;
            match self.reader.read(&event, out) {
                Ok(Flow::More) => {}
                Ok(Flow::Over) => return Ok(Flow::Over),
                Err(Fault::Error(error)) => return Err(error),
                Err(Fault::Unreadable(category)) => {
                    return Err(unreadable(self.events, &event.data, category));
                }
            }
        }
        Ok(Flow::More)
    }

    fn end(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if let Body::Json(body) = &self.body {
            return Err(self.error_of_body(body));
        }
        if let Some(event) = self.splitter.finish()? {
            self.events += 1;
            match self.reader.read(&event, out) {
                Ok(Flow::More) => {}
                Ok(Flow::Over) => return Ok(()),
                Err(Fault::Error(error)) => return Err(error),
                // Half an event: whether it is missed depends on what came before.
                Err(Fault::Unreadable(_)) => self.events -= 1,
            }
        }
        if self.reader.end(out) {
            return Ok(());
        }
        Err(protocol(match self.events {
            0 => "the body holds no events".to_owned(),
            events => format!("the reply ended in the middle (after event {events})"),
        }))
    }

    /// What a body of plain JSON says is wrong.
    fn error_of_body(&self, body: &[u8]) -> ProviderError {
        let text = String::from_utf8_lossy(body);
        // Gemini wraps its error in a list.
        let error: serde_json::Result<ErrorBody<'_>> = if text.starts_with('[') {
            serde_json::from_str(&text).map(|list: First<_>| list.0.unwrap_or_default())
        } else {
            serde_json::from_str(&text)
        };
        match error {
            Ok(ErrorBody { error: Some(error) }) => reported(self.kind, error.get()),
            Ok(ErrorBody { error: None }) => protocol("the body is JSON, but no event stream".to_owned()),
            Err(_) => protocol("the body is neither JSON nor an event stream".to_owned()),
        }
    }
}

/// An error in the place of a reply.
#[derive(Debug, Default, Deserialize)]
struct ErrorBody<'a> {
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

impl Reader {
    fn read(&mut self, event: &sse::Event<'_>, out: &mut Vec<StreamEvent>) -> Result<Flow, Fault> {
        let mut spare = String::new();
        let data = event.data.as_ref();
        match self {
            _ if data.is_empty() => Ok(Flow::More),
            Self::ChatCompletions(reader) if data.trim_ascii() == chat_completions::decode::DONE => {
                reader.stop(out);
                Ok(Flow::Over)
            }
            // Gateways that speak every dialect end them all this way.
            Self::Responses(_) | Self::Messages(_) | Self::GenerateContent(_)
                if data.trim_ascii() == chat_completions::decode::DONE =>
            {
                Ok(Flow::More)
            }
            Self::ChatCompletions(reader) if event.name == "error" => Err(reader.error(data).into()),
            // Gemini wraps its errors in a list, in OpenAI's dialect too.
            Self::ChatCompletions(reader) if data.trim_ascii_start().starts_with('[') => {
                let chunks: Few<chat_completions::decode::Chunk<'_>> = json::parse(data, &mut spare)?;
                for chunk in chunks.0 {
                    reader.read(chunk, data, out)?;
                }
                Ok(Flow::More)
            }
            Self::GenerateContent(reader) if data.trim_ascii_start().starts_with('[') => {
                let responses: Few<generate_content::decode::Response<'_>> = json::parse(data, &mut spare)?;
                for response in responses.0 {
                    reader.read(response, out)?;
                }
                Ok(Flow::More)
            }
            Self::ChatCompletions(reader) => reader.read(json::parse(data, &mut spare)?, data, out),
            Self::Responses(reader) => reader.read(event.name, json::parse(data, &mut spare)?, data, out),
            Self::Messages(reader) => reader.read(event.name, json::parse(data, &mut spare)?, out),
            Self::GenerateContent(reader) => reader.read(json::parse(data, &mut spare)?, out),
        }
    }

    /// The body is over; says whether the reply is too.
    fn end(&mut self, out: &mut Vec<StreamEvent>) -> bool {
        match self {
            Self::ChatCompletions(reader) => reader.end(out),
            Self::Responses(_) | Self::Messages(_) => false,
            Self::GenerateContent(reader) => reader.end(out),
        }
    }
}

/// What an error object means.
pub(crate) fn reported(kind: ProviderKind, error: &str) -> ProviderError {
    if error.len() > MAX_ERROR {
        return protocol(format!("the service reports an error in {} bytes", error.len()));
    }
    // Some put a mere text where the object belongs.
    let error = serde_json::from_str(error).unwrap_or_else(|_| Value::String(error.to_owned()));
    classify::in_stream(kind, &error)
}

/// The event is no JSON, or not the JSON it should be. What it says is not repeated: it may be private.
fn unreadable(number: u64, data: &str, category: Category) -> ProviderError {
    let what = match category {
        Category::Data => "does not have the form of the protocol",
        Category::Io | Category::Syntax | Category::Eof => "is not JSON",
    };
    let start = data.chars().next().unwrap_or_default();
    protocol(format!("event {number} {what} ({} bytes, the first is {start:?})", data.len()))
}

/// What may stand before the first field or brace: white space and the bytes of a byte order mark.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, 0xEF | 0xBB | 0xBF)
}
