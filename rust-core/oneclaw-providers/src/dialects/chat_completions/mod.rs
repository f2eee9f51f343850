//! The dialect of OpenAI chat completions and of every compatible server.

mod compatible;
pub(crate) mod count;
pub(crate) mod decode;
mod kept;
mod openai;
pub(crate) mod request;
