//! The dialect of OpenAI Responses.

pub(crate) mod decode;
pub(crate) mod request;
