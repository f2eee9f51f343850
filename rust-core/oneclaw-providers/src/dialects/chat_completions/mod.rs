//! The dialect of OpenAI chat completions and of every compatible server.

pub(crate) mod decode;
pub(crate) mod request;
