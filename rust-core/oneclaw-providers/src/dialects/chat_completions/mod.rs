//! The dialect of OpenAI chat completions and of every compatible server.

pub(crate) mod decode;
mod kept;
pub(crate) mod request;
