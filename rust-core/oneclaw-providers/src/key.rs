//! API keys, which are shown to nobody but the service they belong to.

use std::fmt;

/// What stands where a key was.
pub(crate) const REDACTED: &str = "[redacted]";

/// A key of a service. Printing it prints a stand-in.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes a key; white space around it is left out, as keys are pasted.
    pub fn new(key: String) -> Self {
        Self(key.trim().to_owned())
    }

    /// The key itself, for the header that carries it and for finding it in texts.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}
