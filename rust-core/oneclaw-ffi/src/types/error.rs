//! What can go wrong, by what a caller can do about it. Never holds what a conversation says, nor a key.

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, uniffi::Error)]
pub enum CoreError {
    /// The file cannot be opened, read or written.
    #[error("storage: {detail}")]
    Storage {
        /// Which file, and what to do.
        detail: String,
    },
    /// A value is not acceptable; nothing was changed.
    #[error("{field}: {detail}")]
    Invalid {
        /// The value.
        field: String,
        /// What is wrong with it.
        detail: String,
    },
    /// What was asked for is not there.
    #[error("not found: {what}")]
    NotFound {
        /// What was asked for.
        what: String,
    },
    /// The service cannot be reached.
    #[error("network: {detail}")]
    Network {
        /// What happened.
        detail: String,
    },
    /// The service answered, but not with what was asked for.
    #[error("service: {detail}")]
    Service {
        /// What it said.
        detail: String,
    },
    /// The key is missing or not accepted.
    #[error("authentication: {detail}")]
    Auth {
        /// What the service said.
        detail: String,
    },
    /// It cannot be done while something else is going on; try again later.
    #[error("busy: {detail}")]
    Busy {
        /// What is going on.
        detail: String,
    },
    /// The core was closed.
    #[error("closed")]
    Closed,
    /// A mistake in the core or in what the app gave to it.
    #[error("internal: {detail}")]
    Internal {
        /// What happened.
        detail: String,
    },
}

impl From<uniffi::UnexpectedUniFFICallbackError> for CoreError {
    fn from(unexpected: uniffi::UnexpectedUniFFICallbackError) -> Self {
        Self::Internal { detail: unexpected.reason }
    }
}
