//! The three dialects: what they take, what they refuse and in which words, and how they answer.

pub(crate) mod anthropic;
pub(crate) mod gemini;
mod json;
pub(crate) mod openai;

use crate::ask::Ask;
use crate::config::Model;
use crate::script::Reply;
use crate::window::{Measure, Overflow, digest};
use oneclaw_model::{ProviderKind, Usage};
use serde_json::Value;

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
}

impl Rejection {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None, details: vec![] }
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
    Calls,
    Refused,
}

/// A reply with all that the service says about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Differs from reply to reply.
    pub id: String,
    pub model: String,
    pub reply: Reply,
    pub stop: Stop,
    /// Left out where the service keeps silent about it.
    pub usage: Option<Usage>,
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
pub(crate) fn parse(kind: ProviderKind, body: &Value, model: &Model) -> Result<Ask, Rejection> {
    match kind {
        ProviderKind::OpenAi => openai::request::parse(body, model),
        ProviderKind::Anthropic => anthropic::request::parse(body, model),
        ProviderKind::Gemini => gemini::request::parse(body, model),
    }
}

/// The whole reply as one value.
pub(crate) fn whole(kind: ProviderKind, answer: &Answer) -> Value {
    match kind {
        ProviderKind::OpenAi => openai::reply::whole(answer),
        ProviderKind::Anthropic => anthropic::reply::whole(answer),
        ProviderKind::Gemini => gemini::reply::whole(answer),
    }
}

/// The reply as events, its texts in pieces of so many characters.
pub(crate) fn events(kind: ProviderKind, ask: &Ask, answer: &Answer, piece: usize) -> Vec<Event> {
    match kind {
        ProviderKind::OpenAi => openai::reply::events(answer, ask.wants_usage, piece),
        ProviderKind::Anthropic => anthropic::reply::events(answer, piece),
        ProviderKind::Gemini => gemini::reply::events(answer, piece),
    }
}

/// The error that arrives in the middle of a stream.
pub(crate) fn error_event(kind: ProviderKind) -> Event {
    let name = (kind == ProviderKind::Anthropic).then_some("error");
    Event { name, data: overloaded(kind).body(kind).to_string() }
}

/// What the service says of a model it does not have.
pub(crate) fn unknown_model(kind: ProviderKind, id: &str) -> Rejection {
    match kind {
        ProviderKind::OpenAi => {
            Rejection::new(404, format!("The model `{id}` does not exist or you do not have access to it."))
                .code("model_not_found")
        }
        ProviderKind::Anthropic => Rejection::new(404, format!("model: {id}")),
        ProviderKind::Gemini => Rejection::new(
            404,
            format!(
                "models/{id} is not found for API version v1beta, or is not supported for generateContent. \
                 Call ListModels to see the list of available models and their supported methods."
            ),
        ),
    }
}

/// What the service says of a request that does not fit.
pub(crate) fn overflow(kind: ProviderKind, overflow: Overflow, measure: &Measure, window: u64) -> Rejection {
    let prompt = measure.prompt;
    match (kind, overflow) {
        (ProviderKind::OpenAi, Overflow::Prompt) => Rejection::bad(format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {prompt} \
             tokens. Please reduce the length of the messages."
        )),
        (ProviderKind::OpenAi, Overflow::WithOutput(output)) => {
            let parts = match measure.tools {
                0 => format!("{prompt} in the messages, {output} in the completion"),
                tools => {
                    format!("{} in the messages, {tools} in the functions, and {output} in the completion", prompt - tools)
                }
            };
            Rejection::bad(format!(
                "This model's maximum context length is {window} tokens. However, you requested {} tokens ({parts}). \
                 Please reduce the length of the messages or completion.",
                prompt.saturating_add(output)
            ))
        }
        (ProviderKind::Anthropic, Overflow::Prompt) => {
            Rejection::bad(format!("prompt is too long: {prompt} tokens > {window} maximum"))
        }
        (ProviderKind::Anthropic, Overflow::WithOutput(output)) => Rejection::bad(format!(
            "input length and `max_tokens` exceed context limit: {prompt} + {output} > {window}, decrease input length \
             or `max_tokens` and try again"
        )),
        (ProviderKind::Gemini, _) => Rejection::bad(format!(
            "The input token count ({prompt}) exceeds the maximum number of tokens allowed ({window})."
        )),
    }
    .param("messages")
    .code("context_length_exceeded")
}

/// What the service says of a body that is too large, in bytes.
pub(crate) fn too_many_bytes(kind: ProviderKind) -> Rejection {
    Rejection::new(
        413,
        match kind {
            ProviderKind::OpenAi => "Request body exceeds the maximum size of 32 MB.",
            ProviderKind::Anthropic => "Request exceeds the maximum size",
            ProviderKind::Gemini => "Request payload size exceeds the limit: 33554432 bytes.",
        },
    )
    .code("request_too_large")
}

/// What the service says when it has too much to do.
pub(crate) fn overloaded(kind: ProviderKind) -> Rejection {
    match kind {
        ProviderKind::OpenAi => {
            Rejection::new(503, "The engine is currently overloaded, please try again later.")
        }
        ProviderKind::Anthropic => Rejection::new(529, "Overloaded"),
        ProviderKind::Gemini => Rejection::new(503, "The model is overloaded. Please try again later."),
    }
}

/// What the service says to a caller without a key (`None`) or with a wrong one.
pub(crate) fn unauthorised(kind: ProviderKind, key: Option<&str>) -> Rejection {
    match (kind, key) {
        (ProviderKind::OpenAi, None) => Rejection::new(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer \
             auth (i.e. Authorization: Bearer YOUR_KEY).",
        ),
        (ProviderKind::OpenAi, Some(_)) => {
            Rejection::new(401, "Incorrect API key provided.").code("invalid_api_key")
        }
        (ProviderKind::Anthropic, None) => Rejection::new(401, "x-api-key header is required"),
        (ProviderKind::Anthropic, Some(_)) => Rejection::new(401, "invalid x-api-key"),
        (ProviderKind::Gemini, None) => Rejection::new(
            401,
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or \
             other valid authentication credential.",
        ),
        (ProviderKind::Gemini, Some(_)) => Rejection {
            details: vec![serde_json::json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            })],
            ..Rejection::bad("API key not valid. Please pass a valid API key.")
        },
    }
}

/// The models on offer, in that provider's form.
pub(crate) fn models(kind: ProviderKind, models: &[Model]) -> Value {
    match kind {
        ProviderKind::OpenAi => openai::reply::models(models),
        ProviderKind::Anthropic => anthropic::reply::models(models),
        ProviderKind::Gemini => gemini::reply::models(models),
    }
}

/// One model, in that provider's form.
pub(crate) fn model(kind: ProviderKind, model: &Model) -> Value {
    match kind {
        ProviderKind::OpenAi => openai::reply::model(model),
        ProviderKind::Anthropic => anthropic::reply::model(model),
        ProviderKind::Gemini => gemini::reply::model(model),
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
