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
        /// The reasoning that came with it, as people read it.
        thinking: Option<String>,
        /// What it was made of, where that has to go back to the model.
        trace: Option<Trace>,
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

/// What a reply was made of, in the order the model said it, so that it can go back unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The fingerprint of the request that was answered: model, system text, tools and messages, reasoning aside. Services
    /// refuse reasoning that stands on another prefix. `None` where it was not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<u64>,
    /// How many tokens the reasoning has, if the service says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The pieces; text and calls that they do not name follow them.
    pub pieces: Vec<Piece>,
}

/// A piece of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// The next bytes of the reply's text.
    Text {
        /// How many.
        bytes: usize,
        /// What has to go back with them (Gemini's thought signature, OpenAI's `phase`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Reasoning.
    Thinking(Thinking),
    /// The next of the reply's calls.
    Call,
}

/// Reasoning as it goes back to the model it came from: byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Text, which may be empty, and the service's proof that it is its own (Anthropic).
    Signed {
        /// The text.
        text: String,
        /// The proof.
        signature: String,
    },
    /// Reasoning that the service has encrypted (Anthropic).
    Redacted {
        /// The service's data.
        data: String,
    },
    /// An item of the reply, as JSON (OpenAI Responses).
    Item {
        /// The JSON text, as it came.
        json: String,
    },
    /// A field beside the reply's text (compatible servers: `reasoning_content`, `reasoning`, `reasoning_details`).
    Field {
        /// Its name.
        name: String,
        /// Its value as JSON.
        json: String,
    },
}

impl Thinking {
    /// Everything in it that counts as text.
    pub fn texts(&self) -> [&str; 2] {
        match self {
            Self::Signed { text, signature } => [text, signature],
            Self::Redacted { data } => [data, ""],
            Self::Item { json } | Self::Field { json, .. } => [json, ""],
        }
    }

    /// Whether the service checks that it stands where it was made.
    pub fn is_bound(&self) -> bool {
        !matches!(self, Self::Field { .. })
    }
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
