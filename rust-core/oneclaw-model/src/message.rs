//! One row of a conversation, with exactly the fields its kind has.

use crate::{CallId, MessageId, ModelId, Usage};
use serde::{Deserialize, Serialize};

/// A row of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The row's name.
    pub id: MessageId,
    /// Milliseconds since 1970; equal values happen, the order of insertion then decides.
    pub created_at: i64,
    /// What the row says.
    pub body: Body,
}

/// What a row says, by kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Something the user wrote.
    User {
        /// The text, as written.
        text: String,
        /// What was attached to it.
        attachments: Vec<Attachment>,
    },
    /// A reply, or the text before a batch of tool calls (then often empty).
    Assistant {
        /// The text of the reply.
        text: String,
        /// The reasoning that came before it.
        thinking: Option<Thinking>,
        /// The model that answered.
        model: Option<ModelId>,
        /// What the call cost.
        usage: Option<Usage>,
    },
    /// The model asked for a tool.
    ToolCall {
        /// The provider's name for the call.
        call: CallId,
        /// The tool.
        name: String,
        /// Its arguments, as JSON text.
        arguments: String,
        /// A thought signature that has to go back with the call (Gemini).
        signature: Option<String>,
        /// The model that asked.
        model: Option<ModelId>,
    },
    /// A tool answered.
    ToolResult {
        /// The call it answers.
        call: CallId,
        /// The tool.
        name: String,
        /// What it said, already capped.
        output: String,
        /// How it ended.
        status: ToolStatus,
        /// Images and files the tool returned.
        attachments: Vec<Attachment>,
    },
    /// An error shown to the user; never sent to a model.
    Error {
        /// The text shown.
        text: String,
    },
    /// A note of the app itself; never sent to a model.
    System {
        /// The text shown.
        text: String,
    },
}

/// Reasoning of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thinking {
    /// The reasoning as text.
    pub text: String,
    /// The provider's proof that the text is its own; without one it cannot be replayed.
    pub signature: Option<String>,
}

/// How a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ToolStatus {
    /// Not started.
    Pending,
    /// Running.
    Executing,
    /// Ended well.
    Success,
    /// Ended in an error.
    Error,
    /// Stopped after its time.
    Timeout,
}

/// A file or image beside a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Media type, `image/png`.
    pub mime: String,
    /// Name to show.
    #[serde(default)]
    pub name: String,
    /// Width in pixels, if it is a picture and known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Height in pixels, if it is a picture and known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// The bytes in base64; may be left out where only the size matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
}

impl Attachment {
    /// Whether a model sees it as a picture.
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }

    /// How it appears where only text can stand.
    pub fn label(&self) -> String {
        format!("[Attached {}: {}]", self.mime, self.name)
    }
}
