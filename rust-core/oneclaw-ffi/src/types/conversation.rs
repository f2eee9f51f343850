//! Conversations and what was said in them.

use crate::ModelRef;

/// A conversation as the list shows it.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct Session {
    /// Its name in the file.
    pub id: String,
    /// The title shown.
    pub title: String,
    /// The agent that answers.
    pub agent_id: String,
    /// The model chosen for it; none: the agent's, or the default one.
    pub model: Option<ModelRef>,
    /// How many messages it has.
    pub message_count: i32,
    /// The start of the latest text.
    pub preview: Option<String>,
    /// When it was last added to, in milliseconds since 1970.
    pub updated_at: i64,
    /// When it was begun, in milliseconds since 1970.
    pub created_at: i64,
    /// Whether it was thrown away; it can still be restored.
    pub is_deleted: bool,
}

/// Which conversations to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Shelf {
    /// Those in use.
    Open,
    /// Those thrown away, which can be restored.
    Deleted,
}

/// A part of the list of conversations, the latest first.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct SessionPage {
    /// The conversations.
    pub sessions: Vec<Session>,
    /// Hand this back to get the next part; none: this was the last.
    pub next: Option<String>,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct Message {
    /// Its name in the file.
    pub id: String,
    /// What it says.
    pub kind: MessageKind,
    /// When it was written, in milliseconds since 1970.
    pub created_at: i64,
    /// Whether it is carried along word for word when the conversation is compacted.
    pub is_pinned: bool,
    /// Whether a summary stands for it in requests. It is still in the file.
    pub is_covered: bool,
}

/// What a message says, with exactly the fields of its kind.
#[derive(Debug, Clone, PartialEq, uniffi::Enum)]
pub enum MessageKind {
    /// Something the user wrote.
    User {
        /// The text, as written.
        text: String,
        /// What was attached to it.
        attachments: Vec<Attachment>,
    },
    /// A reply, or the text before tool calls; that one is often empty.
    Reply {
        /// The text of the reply.
        text: String,
        /// The reasoning before it.
        thinking: Option<String>,
        /// The model that answered.
        model: Option<String>,
        /// What the call cost.
        usage: Option<Usage>,
        /// Whether it was cut off by a stop, an error or the end of the process.
        is_interrupted: bool,
    },
    /// The model asked for a tool.
    ToolCall {
        /// The name that joins call and result.
        call_id: String,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        arguments: String,
        /// How the call stands.
        status: ToolStatus,
    },
    /// A tool answered.
    ToolResult {
        /// The call it answers.
        call_id: String,
        /// The tool.
        name: String,
        /// What it said, shortened where it was too long.
        output: String,
        /// How it ended.
        status: ToolStatus,
        /// How long it took.
        duration_ms: Option<i64>,
        /// Pictures and files it returned.
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

/// A part of a conversation, the oldest message first.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<Message>,
    /// Hand this back to get what came before; none: this is the beginning.
    pub before: Option<String>,
}

/// A file or picture beside a text.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Attachment {
    /// Media type, `image/png`.
    pub mime: String,
    /// The name shown.
    pub name: String,
    /// Width in pixels, if it is a picture and known.
    pub width: Option<i32>,
    /// Height in pixels, if it is a picture and known.
    pub height: Option<i32>,
    /// Where its bytes are.
    pub content: AttachmentContent,
}

/// Where the bytes of an attachment are.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Enum)]
pub enum AttachmentContent {
    /// Here: it is new.
    New {
        /// The bytes in base64.
        data: String,
    },
    /// In the file; `attachment` reads them. What a message of the file has can be sent along with another one as it is.
    Stored {
        /// The message it is attached to.
        message_id: String,
        /// How many are attached to that before it.
        nth: i32,
        /// How many bytes it has, to within two; 0 where none are kept.
        size: i64,
    },
}

/// Token counts of one model call. No token is counted twice, but `reasoning` is a part of `output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Record)]
pub struct Usage {
    /// Prompt tokens that came from no cache.
    pub input: i64,
    /// Prompt tokens read from the service's cache.
    pub cache_read: i64,
    /// Prompt tokens written to the service's cache.
    pub cache_write: i64,
    /// Tokens the model produced.
    pub output: i64,
    /// The part of `output` that was reasoning.
    pub reasoning: i64,
}

/// How a tool call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
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
