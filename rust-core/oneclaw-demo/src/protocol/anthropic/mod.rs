//! Anthropic's messages.

mod messages;
pub(crate) mod reply;
pub(crate) mod request;
