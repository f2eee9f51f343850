//! Anthropic's messages.

mod binding;
mod messages;
pub(crate) mod reply;
pub(crate) mod request;
mod rules;
