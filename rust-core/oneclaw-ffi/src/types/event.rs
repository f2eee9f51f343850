//! What happens while a message is answered or a conversation compacted.

use crate::{Parts, ToolStatus, Usage};

/// One step of an answer. Steps come in order; each send, retry or compaction has a stream of its own.
#[derive(Debug, Clone, PartialEq, uniffi::Enum)]
pub enum ChatEvent {
    /// More of the reply.
    StreamingText {
        /// What to append.
        text: String,
    },
    /// More of the reasoning.
    ThinkingText {
        /// What to append.
        text: String,
    },
    /// The model asks for a tool.
    ToolCallStarted {
        /// The name of the call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// More of the arguments of a call.
    ToolCallArgumentsDelta {
        /// The call.
        tool_call_id: String,
        /// What to append.
        delta: String,
    },
    /// A tool has ended; its result is stored.
    ToolCallCompleted {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// How it ended.
        status: ToolStatus,
        /// How long it took.
        duration_ms: i64,
    },
    /// The model has asked for tools; they are about to run.
    ToolRoundStarting {
        /// Counts the rounds of tools, from 1.
        round: i32,
    },
    /// The answer is whole and stored.
    ResponseComplete {
        /// The message of the last reply.
        message_id: String,
        /// What the last call cost, if the service says so.
        usage: Option<Usage>,
    },
    /// It failed. What was received is stored.
    Error {
        /// What to tell the user.
        text: String,
        /// What kind of failure it is.
        code: ErrorCode,
        /// Whether trying again may help.
        retryable: bool,
    },
    /// How big the next request is.
    ContextUsage {
        /// The likely size in tokens.
        expected: i64,
        /// The size that is almost never exceeded.
        upper: i64,
        /// The model's window, if known.
        window: Option<i64>,
        /// The largest size that is sent without a compaction.
        trigger: Option<i64>,
        /// What the size is made of.
        parts: Parts,
    },
    /// A summary is being written. `CompactCompleted` always follows.
    CompactStarted {
        /// The conversation.
        session_id: String,
        /// Why.
        reason: CompactReason,
        /// How many messages the summary will stand for.
        messages: i32,
        /// Counts the compactions of the conversation, from 1.
        number: i32,
        /// The round of tools it happens in; 0: before the first call.
        round: i32,
    },
    /// The model sees no pictures: it was told the names of so many instead.
    PicturesLeftOut {
        /// How many.
        count: i32,
    },
    /// The model's window is unknown and the request is large; nothing is made smaller until the service refuses it. Told once
    /// per conversation.
    WindowUnknown {
        /// The likely size of the request.
        expected: i64,
    },
    /// A compaction has ended. Comes alone where no summary had to be written.
    CompactCompleted {
        /// Whether anything was compacted.
        did_compact: bool,
        /// Whether the summary failed and history was trimmed without one.
        fallback: bool,
        /// Size of the next request before.
        tokens_before: i64,
        /// Size of the next request after.
        tokens_after: i64,
        /// How it was done, if it was.
        strategy: Option<Strategy>,
        /// Why.
        reason: CompactReason,
        /// The round of tools it happened in; 0: before the first call.
        round: i32,
    },
    /// The last event of every stream.
    Finished,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum ErrorCode {
    /// The service cannot be reached.
    Network,
    /// The key is missing or not accepted.
    Auth,
    /// No answer in time.
    Timeout,
    /// The request is not valid.
    Validation,
    /// The file cannot be read or written.
    Storage,
    /// The keys cannot be read.
    Permission,
    /// The service failed.
    Provider,
    /// A tool failed, or there were too many rounds of them.
    Tool,
    /// The conversation cannot be made to fit.
    Context,
    /// The message has used up what one may cost; the next one goes on.
    Budget,
    /// Something else.
    Unknown,
}

/// How a compaction was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Strategy {
    /// A summary in prose.
    Prose,
    /// A summary in fixed sections.
    Structured,
    /// A free narrative.
    Narrative,
    /// A checkpoint of goal, progress and next steps.
    Checkpoint,
    /// A text to continue from.
    Continuation,
    /// First and latest requests, tools and facts, without a model.
    Digest,
    /// The oldest messages were left out.
    Drop,
    /// Everything but the tail was left out, as the window was almost full.
    Emergency,
}

/// Why a conversation is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum CompactReason {
    /// The threshold was passed.
    Threshold,
    /// The next request would not fit.
    HardLimit,
    /// The user asked for it.
    Manual,
    /// The service said that the request is too long.
    Overflow,
    /// The new model has a smaller window.
    ModelSwitch,
}
