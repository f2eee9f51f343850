//! What would be sent to a model, before any provider's dialect.

use crate::{Attachment, CallId, Thinking, ToolSpec};

/// A whole request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// The system text: the agent's own instructions and, in some policies, the summary.
    pub system: Option<String>,
    /// The tools offered.
    pub tools: Vec<ToolSpec>,
    /// The conversation, starting with the user.
    pub messages: Vec<RequestMessage>,
    /// The most output tokens to ask for; `None` where the window is unknown.
    pub max_output: Option<u64>,
}

/// One message of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestMessage {
    /// The user's side.
    User {
        /// The text.
        text: String,
        /// What was attached.
        attachments: Vec<Attachment>,
    },
    /// The model's side.
    Assistant {
        /// The text, empty where there were only calls.
        text: String,
        /// Reasoning that must be replayed, in the order it came.
        thinking: Vec<Thinking>,
        /// The calls it made.
        calls: Vec<Call>,
    },
    /// The answer to one call.
    ToolResult {
        /// The call answered.
        call: CallId,
        /// The tool.
        name: String,
        /// What it said.
        text: String,
        /// Whether it failed.
        failed: bool,
        /// Images and files it returned.
        attachments: Vec<Attachment>,
    },
}

/// A tool call inside an assistant message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name, unique in the request.
    pub id: CallId,
    /// The tool.
    pub name: String,
    /// JSON text of the arguments.
    pub arguments: String,
    /// A thought signature that goes back with it.
    pub signature: Option<String>,
}

impl RequestMessage {
    /// `user`, `assistant` or `tool`.
    pub fn role(&self) -> &'static str {
        match self {
            Self::User { .. } => "user",
            Self::Assistant { .. } => "assistant",
            Self::ToolResult { .. } => "tool",
        }
    }

    /// The text of the message.
    pub fn text(&self) -> &str {
        match self {
            Self::User { text, .. } | Self::Assistant { text, .. } | Self::ToolResult { text, .. } => text,
        }
    }
}
