//! OpenAI's chat completions.

pub(crate) mod events;
mod messages;
mod reasoning;
pub(crate) mod reply;
pub(crate) mod request;
pub(in crate::protocol) mod rules;
pub(in crate::protocol) mod shared;
