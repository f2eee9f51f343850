//! The dialect of OpenAI Responses.

pub(crate) mod count;
pub(crate) mod decode;
mod item;
pub(crate) mod request;
#[cfg(test)]
mod tests;
pub(crate) mod wire;
