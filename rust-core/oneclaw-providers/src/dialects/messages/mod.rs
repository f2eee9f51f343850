//! The dialect of Anthropic messages.

pub(crate) mod count;
pub(crate) mod decode;
pub(crate) mod request;
#[cfg(test)]
mod tests;
mod thinking;
