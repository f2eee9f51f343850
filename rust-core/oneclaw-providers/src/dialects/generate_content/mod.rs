//! The dialect of Gemini.

pub(crate) mod count;
pub(crate) mod decode;
mod keys;
pub(crate) mod request;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod thinking;
