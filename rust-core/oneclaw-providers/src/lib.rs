#![doc = include_str!("../README.md")]

mod address;
pub mod classify;
mod client;
pub mod count;
mod decode;
mod detail;
mod dialects;
mod draft;
pub mod encode;
mod error;
mod event;
mod http;
mod json;
mod key;
pub mod models;
mod origin;
mod profile;
mod reasoning;
mod redact;
mod refusal;
pub mod retry;
pub mod sse;
mod wording;

pub use address::{Cleartext, Endpoint};
pub use client::{Client, EventStream, Reply};
pub use count::{Count, Counter};
pub use decode::Decoder;
pub use dialects::messages::request::DEFAULT_MAX_TOKENS;
pub use encode::{Encoded, Mode, REASONING_ROOM, encode};
pub use error::ProviderError;
pub use event::{StopReason, StreamEvent};
pub use http::{Timing, tls_config};
pub use key::ApiKey;
pub use models::ListedModel;
pub use origin::Origin;
pub use profile::{Adjustments, Profile, Unsupported};
