#![doc = include_str!("../README.md")]

pub mod ids;
pub mod message;
pub mod model;
pub mod request;
pub mod row;
pub mod tool;
pub mod transcript;
pub mod usage;

pub use ids::{CallId, MessageId, ModelId};
pub use message::{Attachment, Body, Message, Piece, Thinking, ToolStatus, Trace};
pub use model::{
    CORRECTED_MODEL, Dialect, Effort, ModelLimits, PRESET_MODELS, PresetModel, ProviderKind, Replay,
};
pub use request::{Call, Part, Request, RequestMessage};
pub use row::Row;
pub use tool::ToolSpec;
pub use transcript::{SessionHeader, Transcript};
pub use usage::Usage;
