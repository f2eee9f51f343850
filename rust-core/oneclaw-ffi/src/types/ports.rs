//! What the app gives to the core. The core survives whatever these throw.

use crate::{Attachment, ChatEvent, CoreError};

/// Hears what happens while a message is answered.
#[uniffi::export(foreign)]
pub trait ChatListener: Send + Sync {
    /// The next step. Called in order, from one thread at a time; return soon.
    fn on_event(&self, event: ChatEvent) -> Result<(), CoreError>;
}

/// Knows the keys of the services. The core asks before each call and keeps none.
#[uniffi::export(foreign)]
pub trait KeyVault: Send + Sync {
    /// The key of a service that the user has given for that origin, as [`crate::origin_of`] writes it; none: there is none for it.
    /// Where a service is, the file says, and anybody may have written the file: a key given for another origin is not handed out.
    fn key(&self, provider_id: String, origin: String) -> Result<Option<String>, CoreError>;
}

/// Brings tools of the app's own.
#[uniffi::export(foreign)]
#[async_trait::async_trait]
pub trait ToolHost: Send + Sync {
    /// The tools there are.
    fn tools(&self) -> Result<Vec<HostTool>, CoreError>;

    /// Runs a tool. Cancelled when the user stops the answer or the tool's time is over.
    async fn run(&self, name: String, arguments_json: String) -> Result<ToolAnswer, CoreError>;
}

/// A tool of the app.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct HostTool {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema_json: String,
    /// How long it may take.
    pub timeout_ms: i64,
    /// Whether its results are instructions rather than data: pruning leaves them alone.
    pub is_protected: bool,
    /// What its output looks like, which decides how it is shortened.
    pub shape: OutputShape,
}

/// What the output of a tool looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum OutputShape {
    /// Beginning and end matter, as in a log.
    HeadTail,
    /// A list of matches, the best first.
    MatchList,
    /// Part of a file.
    FileContent,
    /// Anything else.
    Generic,
}

/// What a tool says.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct ToolAnswer {
    /// The text for the model.
    pub output: String,
    /// Whether it failed.
    pub is_error: bool,
    /// Pictures and files for the model. Of one that is stored it is only told the name.
    pub attachments: Vec<Attachment>,
}
