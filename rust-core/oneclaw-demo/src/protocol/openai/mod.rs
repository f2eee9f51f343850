//! OpenAI's chat completions.

pub(crate) mod reply;
pub(crate) mod request;
