//! What a provider says a call cost, normalised so that no part is counted twice.

use serde::{Deserialize, Serialize};

/// Token counts of one model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens that came from no cache.
    pub input: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// Tokens the model produced, reasoning included.
    pub output: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
}

impl Usage {
    /// The size of the prompt, however it was billed.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// Everything the step took up in the window.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }
}
