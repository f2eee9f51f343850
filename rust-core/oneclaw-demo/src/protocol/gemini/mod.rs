//! Gemini's generateContent.

mod contents;
pub(crate) mod count;
pub(crate) mod reply;
pub(crate) mod request;
mod rules;
mod schema;
