//! The four dialects: what they take, what they refuse and in which words, and how they answer.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod json;
pub(crate) mod openai;
pub(crate) mod responses;
mod words;

pub(crate) use words::{overflow, overloaded, switched_off, too_many_bytes, unauthorised, unknown_model};

use crate::ask::Ask;
use crate::config::Flavour;
use crate::script::{Fault, Reply, Thought};
use crate::subject::{Seal, Subject};
use crate::window::digest;
use oneclaw_model::{Dialect, ProviderKind, Usage};
use serde_json::{Value, json};

/// The time all replies carry, so that equal requests get equal answers.
pub(crate) const CREATED: u64 = 1_767_225_600;

/// A refusal, before it is put into a provider's form.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rejection {
    pub status: u16,
    pub message: String,
    /// The parameter at fault (OpenAI).
    pub param: Option<String>,
    /// The machine's name of the fault (OpenAI).
    pub code: Option<&'static str>,
    /// More about it (Gemini).
    pub details: Vec<Value>,
    /// More fields beside the message, or other values of them (llama.cpp).
    pub fields: Vec<(&'static str, Value)>,
    /// Whether it arrives inside a stream, with a good status (LM Studio).
    pub is_in_stream: bool,
}

impl Rejection {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            param: None,
            code: None,
            details: vec![],
            fields: vec![],
            is_in_stream: false,
        }
    }

    /// A bad request.
    pub fn bad(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub fn param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// The body in that provider's form.
    pub fn body(&self, kind: ProviderKind) -> Value {
        match kind {
            ProviderKind::OpenAi => openai::reply::error(self),
            ProviderKind::Anthropic => anthropic::reply::error(self),
            ProviderKind::Gemini => gemini::reply::error(self),
        }
    }
}

/// How a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    End,
    Length,
    /// The window is full (Anthropic).
    Window,
    /// More comes with the next request (Gemini).
    Continuation,
    Calls,
    Refused,
}

/// A reply with all that the service says about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Differs from reply to reply.
    pub id: String,
    pub model: String,
    /// The reasoning: the first piece stands before the text, the others between the text and the calls.
    pub thoughts: Vec<Thought>,
    pub reply: Reply,
    pub stop: Stop,
    /// Left out where the service keeps silent about it.
    pub usage: Option<Usage>,
    /// What comes when the reply is continued.
    pub rest: Option<String>,
    /// By which the rest can be asked for.
    pub continuation: Option<String>,
    /// What signatures are made with.
    pub seal: Seal,
}

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name, where the protocol names events.
    pub name: Option<&'static str>,
    pub data: String,
}

impl Event {
    pub fn data(value: &Value) -> Self {
        Self { name: None, data: value.to_string() }
    }

    /// The event on the wire.
    pub fn frame(&self) -> String {
        match self.name {
            Some(name) => format!("event: {name}\ndata: {}\n\n", self.data),
            None => format!("data: {}\n\n", self.data),
        }
    }
}

/// Reads a request. Gemini's model and delivery stand in the path and are filled in by the caller.
pub(crate) fn parse(dialect: Dialect, body: &Value, subject: &Subject<'_>) -> Result<Ask, Rejection> {
    match dialect {
        Dialect::ChatCompletions => openai::request::parse(body, subject),
        Dialect::Responses => responses::request::parse(body, subject),
        Dialect::Messages => anthropic::request::parse(body, subject),
        Dialect::GenerateContent => gemini::request::parse(body, subject),
    }
}

/// The whole reply as one value.
pub(crate) fn whole(dialect: Dialect, ask: &Ask, answer: &Answer, flavour: Flavour) -> Value {
    match dialect {
        Dialect::ChatCompletions => openai::reply::whole(answer, flavour),
        Dialect::Responses => responses::reply::whole(ask, answer),
        Dialect::Messages => anthropic::reply::whole(ask, answer),
        Dialect::GenerateContent => gemini::reply::whole(ask, answer),
    }
}

/// The reply as events, its texts in pieces of so many characters.
pub(crate) fn events(
    dialect: Dialect,
    ask: &Ask,
    answer: &Answer,
    flavour: Flavour,
    piece: usize,
) -> Vec<Event> {
    match dialect {
        Dialect::ChatCompletions => openai::events::events(answer, flavour, ask.wants_usage, piece),
        Dialect::Responses => responses::events::events(ask, answer, piece),
        Dialect::Messages => anthropic::reply::events(ask, answer, piece),
        Dialect::GenerateContent => gemini::reply::events(ask, answer, piece),
    }
}

/// The error that arrives in the middle of a stream, after so many events.
pub(crate) fn error_event(
    dialect: Dialect,
    ask: &Ask,
    answer: &Answer,
    fault: &Fault,
    after: usize,
) -> Event {
    let kind = dialect.kind();
    match dialect {
        Dialect::Responses => responses::events::failure(ask, answer, fault, after),
        Dialect::ChatCompletions | Dialect::Messages | Dialect::GenerateContent => {
            let name = (dialect == Dialect::Messages).then_some("error");
            Event { name, data: overloaded(kind).body(kind).to_string() }
        }
    }
}

/// The size of a prompt, as the service says it.
pub(crate) fn count(dialect: Dialect, tokens: &Value) -> Value {
    match dialect {
        Dialect::Responses => json!({"object": "response.input_tokens", "input_tokens": tokens}),
        Dialect::ChatCompletions | Dialect::Messages => json!({"input_tokens": tokens}),
        Dialect::GenerateContent => json!({"totalTokens": tokens}),
    }
}

/// The models on offer, in that provider's form.
pub(crate) fn models(kind: ProviderKind, subjects: &[Subject<'_>]) -> Value {
    match kind {
        ProviderKind::OpenAi => openai::reply::models(subjects),
        ProviderKind::Anthropic => anthropic::reply::models(subjects),
        ProviderKind::Gemini => gemini::reply::models(subjects),
    }
}

/// One model, in that provider's form.
pub(crate) fn model(kind: ProviderKind, subject: &Subject<'_>) -> Value {
    match kind {
        ProviderKind::OpenAi => openai::reply::model(subject),
        ProviderKind::Anthropic => anthropic::reply::model(subject),
        ProviderKind::Gemini => gemini::reply::model(subject),
    }
}

/// Puts a value into an object; what is no object stays as it is.
fn insert(object: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value.into());
    }
}

/// The proof that a text is the server's own; base64 without padding, as clients decode it and encode it again.
pub(crate) fn signature(text: &str) -> String {
    format!("ZGVtbzEy{:016x}", digest(text))
}

/// The text in pieces of so many characters.
fn pieces(text: &str, size: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        pieces.push(chars.by_ref().take(size.max(1)).collect());
    }
    pieces
}

/// The arguments of a call as a value; text that is no JSON object stays text.
fn arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ Value::Object(_)) => value,
        _ => Value::String(text.to_owned()),
    }
}

/// Whether a model of that name reasons out of sight and takes fewer parameters.
pub(crate) fn is_reasoning_model(id: &str) -> bool {
    let name = id.rsplit('/').next().unwrap_or(id);
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    let generation = name.strip_prefix("gpt-").unwrap_or_default();
    let digits = generation.find(|c: char| !c.is_ascii_digit()).unwrap_or(generation.len());
    let (number, rest) = generation.split_at(digits);
    let is_gpt =
        number.parse::<u32>().is_ok_and(|number| number >= 5) && ends(rest) && !rest.contains("-chat");
    is_gpt || ["o1", "o3", "o4"].iter().any(|start| name.strip_prefix(start).is_some_and(ends))
}
