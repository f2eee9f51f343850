//! Gemini's generateContent.

pub(crate) mod reply;
pub(crate) mod request;
mod schema;
