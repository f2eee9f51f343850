//! How full the window is, what was compacted, what would be sent next. Sizes are tokens.

use crate::{CompactReason, Message, Strategy};

/// What a request is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Record)]
pub struct Parts {
    /// The agent's instructions.
    pub system: i64,
    /// The descriptions of the tools.
    pub tools: i64,
    /// The summary of what was compacted.
    pub summary: i64,
    /// The messages sent as they are.
    pub messages: i64,
}

/// The context of one conversation.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct ContextStatus {
    /// The likely size of the next request.
    pub expected: i64,
    /// The size that is almost never exceeded.
    pub upper: i64,
    /// The model's window, if known.
    pub window: Option<i64>,
    /// The most that can be sent, if known.
    pub hard_limit: Option<i64>,
    /// The largest size that is sent without a compaction.
    pub trigger: Option<i64>,
    /// What the size is made of.
    pub parts: Parts,
    /// The summary in force.
    pub summary: Option<String>,
    /// The compactions in force, the oldest first.
    pub epochs: Vec<EpochInfo>,
    /// The pinned messages, the oldest first.
    pub pins: Vec<Message>,
}

/// One compaction.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct EpochInfo {
    /// Counts the compactions of the conversation, from 1.
    pub number: i32,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// How it was done; none: another app did it.
    pub strategy: Option<Strategy>,
    /// Why; none: another app did it.
    pub reason: Option<CompactReason>,
    /// The model that wrote the summary, if one did.
    pub model: Option<String>,
    /// How many messages it covers that the one before did not.
    pub messages: i32,
    /// Size of the next request before, if known.
    pub tokens_before: Option<i64>,
    /// Size of the next request after, if known.
    pub tokens_after: Option<i64>,
    /// What stands for everything before.
    pub summary: String,
    /// Whether it was made without a model, as the summary had failed.
    pub is_fallback: bool,
}

/// What would happen if the conversation went on now. Nothing is sent or stored.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct PlanPreview {
    /// What would be done first.
    pub decision: Decision,
    /// Why it would be compacted, if it would.
    pub reason: Option<CompactReason>,
    /// The likely size as things stand.
    pub expected: i64,
    /// The size that is almost never exceeded, as things stand.
    pub upper: i64,
    /// The model's window, if known.
    pub window: Option<i64>,
    /// The most that can be sent, if known.
    pub hard_limit: Option<i64>,
    /// The largest size that is sent without a compaction.
    pub trigger: Option<i64>,
    /// The first message that would be kept as it is.
    pub boundary: Option<String>,
    /// The messages that would be kept as they are.
    pub tail: Vec<String>,
    /// The request; after a compaction with `{{summary}}` in the place of the summary.
    pub request: RequestPreview,
    /// The requests that would write the summary.
    pub summary_requests: Vec<RequestPreview>,
    /// What is too big, if nothing helps.
    pub irreducible: Option<Irreducible>,
}

/// What a plan comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Decision {
    /// The request can be sent.
    Send,
    /// The conversation is compacted first.
    Compact,
    /// It cannot be made to fit.
    Irreducible,
}

/// A request as a model would see it.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct RequestPreview {
    /// The instructions; may be empty.
    pub system: String,
    /// The conversation.
    pub messages: Vec<RequestMessage>,
    /// The size that is almost never exceeded.
    pub upper: i64,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct RequestMessage {
    /// Who speaks.
    pub role: Role,
    /// The text.
    pub content: String,
    /// The tools that are called.
    pub tool_calls: Vec<RequestCall>,
    /// The call that is answered, if a tool speaks.
    pub tool_call_id: Option<String>,
}

/// A tool call inside a request.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct RequestCall {
    /// The name that joins call and result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// Who speaks in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Tool,
}

/// What is too big to be sent, and by how much.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Irreducible {
    /// The part that is too big.
    pub culprit: String,
    /// By how many tokens.
    pub over: i64,
}

/// The size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Record)]
pub struct Estimate {
    /// A quarter of its UTF-16 units, at least 1 unless it is empty.
    pub simple: i64,
    /// The likely size.
    pub expected: i64,
    /// The size that is almost never exceeded.
    pub upper: i64,
}
