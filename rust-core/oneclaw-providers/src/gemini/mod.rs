//! The dialect of Gemini.

pub(crate) mod decode;
pub(crate) mod request;
pub(crate) mod schema;
