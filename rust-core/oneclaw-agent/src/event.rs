//! What a caller is told while a message is answered or a conversation compacted: one ordered stream per run. Names and
//! fields are those of the JSON form.

use oneclaw_context::assemble::Parts;
use oneclaw_context::plan::{Reason, Strategy};
use oneclaw_model::{ToolStatus, Usage};
use serde::Serialize;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event")]
pub enum Event {
    /// The next piece of the reply.
    StreamingText {
        /// The piece.
        text: String,
    },
    /// The next piece of the reasoning.
    ThinkingText {
        /// The piece.
        text: String,
    },
    /// The model asks for a tool.
    ToolCallStarted {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
    },
    /// The next piece of a call's arguments.
    ToolCallArgumentsDelta {
        /// The call.
        tool_call_id: String,
        /// The piece.
        delta: String,
    },
    /// A tool has answered; its result is in the file.
    ToolCallCompleted {
        /// The call.
        tool_call_id: String,
        /// The tool.
        tool_name: String,
        /// How it ended.
        status: ToolStatus,
        /// How long it took.
        duration_ms: u64,
    },
    /// The tools of a reply are about to run.
    ToolRoundStarting {
        /// Counted from 1.
        round: u32,
    },
    /// The reply is whole and in the file.
    ResponseComplete {
        /// Its row.
        message_id: String,
        /// What its last call cost, if the service says so.
        usage: Option<Usage>,
    },
    /// It went wrong. What was saved stays.
    Error {
        /// What went wrong, for people.
        message: String,
        /// What kind of thing.
        code: ErrorCode,
        /// Whether the same may succeed a little later.
        retryable: bool,
    },
    /// How full the window is.
    ContextUsage {
        /// The likely size of the request.
        expected: u64,
        /// What it will hardly exceed.
        upper: u64,
        /// The window, if known.
        window: Option<u64>,
        /// The largest size that does not fire.
        trigger: Option<u64>,
        /// Where the tokens go.
        parts: Parts<u64>,
    },
    /// The model sees no pictures: it was told the names of so many instead.
    PicturesLeftOut {
        /// How many.
        count: u64,
    },
    /// The window of the model is unknown and the request is large: nothing is made smaller until the service refuses it.
    /// Told once per conversation.
    WindowUnknown {
        /// The likely size of the request.
        expected: u64,
    },
    /// A summary call begins.
    CompactStarted {
        /// The session.
        session_id: String,
        /// Why.
        reason: Reason,
        /// How many rows it will cover.
        messages: u64,
        /// Counts the compactions of the session, from 1.
        number: u64,
        /// Tool rounds so far; 0 is before the first call.
        round: u32,
    },
    /// A compaction has ended.
    CompactCompleted {
        /// Whether the history is shorter now.
        did_compact: bool,
        /// Whether it had to be trimmed without a summary.
        fallback: bool,
        /// The size of the next request before.
        tokens_before: u64,
        /// And after.
        tokens_after: u64,
        /// What stands in place of the covered rows.
        strategy: Option<Strategy>,
        /// Why.
        reason: Reason,
        /// Tool rounds so far.
        round: u32,
    },
}

/// The kinds of error a caller treats differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// The connection failed.
    Network,
    /// The key is missing or wrong.
    Auth,
    /// Nothing came for too long.
    Timeout,
    /// What was asked for makes no sense.
    Validation,
    /// The file cannot be read or written.
    Storage,
    /// The keys cannot be read.
    Permission,
    /// The service cannot or will not answer.
    Provider,
    /// The tools do not come to an end.
    Tool,
    /// The conversation does not fit, whatever is left out.
    Context,
    /// A message has used up what one may cost; another one goes on.
    Budget,
    /// A fault of our own.
    Unknown,
}
