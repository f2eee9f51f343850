//! Why something could not be done, and how a caller is told. The only place where errors of the store and of providers
//! become codes.

use crate::event::{ErrorCode, Event};
use oneclaw_context::pins::PinRefused;
use oneclaw_context::plan::Culprit;
use oneclaw_providers::ProviderError;
use oneclaw_store::StoreError;

/// What can end a run or a question.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The service failed or refused.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The file cannot be used.
    #[error(transparent)]
    Store(StoreError),
    /// It is not in the file.
    #[error("there is no {0}")]
    NotFound(String),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// No model can be asked.
    #[error("{0}")]
    NoModel(String),
    /// The service wants a key, and none was given for where it is.
    #[error("{origin} wants a key, and none was given for this address: {detail}")]
    NoKey {
        /// Scheme, host and port.
        origin: String,
        /// The service's words.
        detail: String,
    },
    /// The host cannot hand out a key.
    #[error("the key of {provider} cannot be read: {detail}")]
    Vault {
        /// The provider.
        provider: String,
        /// The host's words.
        detail: String,
    },
    /// Nothing can make the request fit.
    #[error("{}", irreducible_sentence(*culprit, *over, *limit))]
    Irreducible {
        /// The largest part.
        culprit: Culprit,
        /// By how many tokens the smallest form is likely too large.
        over: u64,
        /// What it may have.
        limit: u64,
    },
    /// The message would be larger than pins may be.
    #[error("{0}; unpin another message first")]
    Pin(#[from] PinRefused),
    /// The reply ended without saying anything.
    #[error("The model answered nothing.")]
    EmptyReply,
    /// The reply ended before it said anything: reasoning took all of it.
    #[error("The model used its whole reply for thinking; ask again, or let it think less.")]
    OnlyThinking,
    /// The model keeps calling tools.
    #[error("The model called tools in {0} rounds and was stopped; send a message to let it go on.")]
    TooManyRounds(u32),
    /// No summary could be made.
    #[error("The conversation could not be summarised: {0}")]
    NoSummary(String),
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
    /// The agent is closed.
    #[error("the conversation store is closed")]
    Closed,
    /// A fault of our own.
    #[error("internal fault: {0}")]
    Internal(String),
}

impl Failure {
    /// The kind of failure.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Provider(error) => provider_code(error),
            Self::Store(_) => ErrorCode::Storage,
            Self::Invalid(_) | Self::NotFound(_) | Self::NoModel(_) | Self::Pin(_) => ErrorCode::Validation,
            Self::NoKey { .. } => ErrorCode::Auth,
            Self::Vault { .. } => ErrorCode::Permission,
            Self::Irreducible { .. } => ErrorCode::Context,
            Self::EmptyReply | Self::OnlyThinking | Self::NoSummary(_) => ErrorCode::Provider,
            Self::TooManyRounds(_) => ErrorCode::Tool,
            Self::Stopped | Self::Closed | Self::Internal(_) => ErrorCode::Unknown,
        }
    }

    /// Whether the same may succeed a little later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Provider(error) => error.is_retryable(),
            Self::EmptyReply | Self::OnlyThinking | Self::Vault { .. } | Self::NoSummary(_) => true,
            Self::Store(_)
            | Self::Invalid(_)
            | Self::NotFound(_)
            | Self::NoModel(_)
            | Self::NoKey { .. }
            | Self::Pin(_)
            | Self::Irreducible { .. }
            | Self::TooManyRounds(_)
            | Self::Stopped
            | Self::Closed
            | Self::Internal(_) => false,
        }
    }

    /// The event that says so.
    pub fn event(&self) -> Event {
        Event::Error { message: self.to_string(), code: self.code(), retryable: self.is_retryable() }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused { why, .. } => Self::Invalid(why),
            StoreError::NoSuch { what, .. } => Self::NotFound(what),
            other => Self::Store(other),
        }
    }
}

fn provider_code(error: &ProviderError) -> ErrorCode {
    match error {
        ProviderError::Auth { .. } => ErrorCode::Auth,
        ProviderError::Network { .. } => ErrorCode::Network,
        ProviderError::Timeout { .. } => ErrorCode::Timeout,
        ProviderError::ContextOverflow { .. } => ErrorCode::Context,
        ProviderError::Budget { .. } => ErrorCode::Budget,
        ProviderError::RateLimited { .. }
        | ProviderError::Quota { .. }
        | ProviderError::Overloaded { .. }
        | ProviderError::Reported { .. }
        | ProviderError::OutputCap { .. }
        | ProviderError::TooManyBytes { .. }
        | ProviderError::InvalidRequest { .. }
        | ProviderError::Unsupported { .. }
        | ProviderError::ModelNotFound { .. }
        | ProviderError::Protocol { .. }
        | ProviderError::Refused { .. } => ErrorCode::Provider,
    }
}

fn irreducible_sentence(culprit: Culprit, over: u64, limit: u64) -> String {
    let (what, advice) = match culprit {
        Culprit::SystemPrompt => ("The agent's instructions are", "Shorten them or choose a larger model."),
        Culprit::Tools => ("The tools on offer are", "Switch some off or choose a larger model."),
        Culprit::NewestMessage => ("The newest message is", "Shorten it or choose a larger model."),
    };
    format!("{what} too large for this model, by about {over} tokens over its limit of {limit}. {advice}")
}
