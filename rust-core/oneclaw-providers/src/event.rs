//! What a reply consists of, in nobody's dialect.

use oneclaw_model::{CallId, Thinking, Usage};
use serde::Serialize;

/// What a reply consists of, piece by piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEvent {
    /// The next piece of text; never empty.
    Text(String),
    /// The next piece of reasoning; never empty.
    Thinking(String),
    /// A block of reasoning as it has to go back, once it is whole and where it stood. What people read of it came before,
    /// as [`StreamEvent::Thinking`].
    Thought(Thinking),
    /// What has to go back with the text since the last event that was no text (Gemini's thought signature, OpenAI's phase).
    TextSignature(String),
    /// The model asks for a tool. Calls start in the order of their appearance.
    CallStarted {
        /// Unique in the reply; made up where the service sends none or the same twice.
        id: CallId,
        /// The tool.
        name: String,
    },
    /// The next piece of a call's arguments, which are JSON when joined; never empty.
    CallArguments {
        /// The call.
        id: CallId,
        /// The piece.
        delta: String,
    },
    /// A call has all its arguments. Every started call is completed before the reply stops; where the reply was cut
    /// short, the arguments may be cut short too.
    CallCompleted {
        /// The call.
        id: CallId,
        /// What has to go back with the call (Gemini).
        signature: Option<String>,
    },
    /// What the call costs as far as is known; replaces what was said before.
    Usage(Usage),
    /// The reply has come to its end; always the last event, and the only one of its kind.
    Stopped(StopReason),
}

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had said everything.
    End,
    /// The reply reached the length that was asked for.
    Length,
    /// The model waits for the results of its calls.
    ToolUse,
    /// The window was full.
    ContextWindow,
    /// The service paused a long turn; sending the reply back continues it.
    Paused,
    /// The model or a filter declined.
    Refused,
    /// Anything else, in the service's word.
    Other(String),
}
