//! What would be sent to a model, before any provider's dialect.

use crate::{Attachment, CallId, Piece, Thinking, ToolSpec};

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
        /// The calls it made.
        calls: Vec<Call>,
        /// In which order it said what, with the reasoning that has to go back; empty where that does not matter.
        trace: Vec<Piece>,
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

    /// What an assistant message consists of, in its order: as its trace says, then the rest of the text, then the rest of the
    /// calls. Nothing for other messages.
    pub fn parts(&self) -> Vec<Part<'_>> {
        let Self::Assistant { text, calls, trace } = self else { return vec![] };
        let mut parts = Vec::new();
        let (mut rest, mut left) = (text.as_str(), calls.iter());
        for piece in trace {
            match piece {
                Piece::Text { bytes, signature } => {
                    // Where the row was changed since, the trace no longer fits: what does not fit follows at the end.
                    let Some((head, tail)) = rest.split_at_checked(*bytes) else { continue };
                    rest = tail;
                    if !head.is_empty() || signature.is_some() {
                        parts.push(Part::Text { text: head, signature: signature.as_deref() });
                    }
                }
                Piece::Thinking(thinking) => parts.push(Part::Thinking(thinking)),
                Piece::Call => parts.extend(left.next().map(Part::Call)),
            }
        }
        if !rest.is_empty() {
            parts.push(Part::Text { text: rest, signature: None });
        }
        parts.extend(left.map(Part::Call));
        parts
    }
}

/// A part of an assistant message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// Text.
    Text {
        /// The text; may be empty where it has a signature.
        text: &'a str,
        /// What goes back with it.
        signature: Option<&'a str>,
    },
    /// Reasoning.
    Thinking(&'a Thinking),
    /// A call.
    Call(&'a Call),
}
