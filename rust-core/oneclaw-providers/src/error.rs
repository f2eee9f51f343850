//! What can go wrong with a model service, in the kinds that a caller treats differently.
//!
//! A `detail` is the service's own words: at most 300 characters, without control characters and without keys.

use crate::Unsupported;
use std::time::Duration;

/// Why a request brought no reply, or only part of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The key is missing, wrong or not allowed to do this.
    #[error("The service did not accept the API key: {detail}")]
    Auth {
        /// The service's words.
        detail: String,
    },
    /// Too much was asked in too short a time.
    #[error("{}: {detail}", rate_limit_sentence(*retry_after))]
    RateLimited {
        /// How long the service asks to wait; [`ProviderError::NEVER`] where waiting cannot help.
        retry_after: Option<Duration>,
        /// The service's words.
        detail: String,
    },
    /// What was paid for, or allowed for the day, is used up.
    #[error("The account's quota or credit is used up: {detail}")]
    Quota {
        /// The service's words.
        detail: String,
    },
    /// The service is overloaded or fails.
    #[error("The service is overloaded or has a fault of its own: {detail}")]
    Overloaded {
        /// The service's words.
        detail: String,
        /// How long the service asks to wait.
        retry_after: Option<Duration>,
    },
    /// What may be spent is used up; nothing was sent.
    #[error(
        "This message has used up what one may cost ({requests} requests and about {tokens} prompt tokens so far) and was \
         stopped; send a message to let it go on."
    )]
    Budget {
        /// The requests that were sent for it.
        requests: u64,
        /// The tokens of their prompts.
        tokens: u64,
    },
    /// The service reports an error of a kind that is not known, in place of a reply.
    #[error("The service reports an error: {detail}")]
    Reported {
        /// The service's words.
        detail: String,
    },
    /// The request does not fit into the model's window.
    #[error("{}", overflow_sentence(*limit, *requested))]
    ContextOverflow {
        /// The window, if the service names it.
        limit: Option<u64>,
        /// What counts against it, if the service names it: the prompt, and the room for the reply where the
        /// service counts that too.
        requested: Option<u64>,
    },
    /// More output was asked for than the model can give.
    #[error("{}", output_sentence(*limit))]
    OutputCap {
        /// The most it can give, if the service names it.
        limit: Option<u64>,
    },
    /// The request, or a picture in it, has too many bytes.
    #[error("The request has too many bytes for the service: {detail}")]
    TooManyBytes {
        /// The service's words.
        detail: String,
    },
    /// The service cannot do what the request asks, or the address or setting is wrong.
    #[error("The service cannot take the request: {detail}")]
    InvalidRequest {
        /// The service's words, or what is wrong with the address.
        detail: String,
    },
    /// The model or service does not take a part of the request; something else can be tried.
    #[error("The service cannot take the request: {detail}")]
    Unsupported {
        /// Which part.
        what: Unsupported,
        /// The service's words.
        detail: String,
    },
    /// There is no such model for this account.
    #[error("The service does not know the model: {detail}")]
    ModelNotFound {
        /// The service's words.
        detail: String,
    },
    /// The connection failed.
    #[error("The connection to the service failed: {detail}")]
    Network {
        /// What failed.
        detail: String,
    },
    /// Nothing came for too long.
    #[error("{}", timeout_sentence(what, *after))]
    Timeout {
        /// What was waited for.
        what: &'static str,
        /// How long; zero where the service gave up, not we.
        after: Duration,
        /// How long the service asks to wait, where it gave up.
        retry_after: Option<Duration>,
    },
    /// The answer is not what the protocol says.
    #[error("The service's answer cannot be read: {detail}")]
    Protocol {
        /// What is wrong with it.
        detail: String,
    },
    /// The service declined to answer.
    #[error("The service declined to answer: {detail}")]
    Refused {
        /// The service's words.
        detail: String,
    },
}

impl ProviderError {
    /// The wait after which a request larger than a limit per minute would succeed.
    pub const NEVER: Duration = Duration::MAX;

    /// Whether the same request may succeed a little later.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::RateLimited { retry_after, .. } => *retry_after != Some(Self::NEVER),
            Self::Overloaded { .. } | Self::Network { .. } | Self::Timeout { .. } => true,
            Self::Auth { .. }
            | Self::Quota { .. }
            | Self::Reported { .. }
            | Self::Budget { .. }
            | Self::ContextOverflow { .. }
            | Self::OutputCap { .. }
            | Self::TooManyBytes { .. }
            | Self::InvalidRequest { .. }
            | Self::Unsupported { .. }
            | Self::ModelNotFound { .. }
            | Self::Protocol { .. }
            | Self::Refused { .. } => false,
        }
    }

    /// How long the service asks to wait, if it says so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. }
            | Self::Overloaded { retry_after, .. }
            | Self::Timeout { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The service's words, where it has any.
    pub(crate) fn into_detail(mut self) -> Option<String> {
        self.detail_mut().map(std::mem::take)
    }

    /// The same error with its words changed.
    pub(crate) fn map_detail(mut self, change: impl FnOnce(&str) -> String) -> Self {
        if let Some(detail) = self.detail_mut() {
            *detail = change(detail);
        }
        self
    }

    fn detail_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Auth { detail }
            | Self::RateLimited { detail, .. }
            | Self::Quota { detail }
            | Self::Reported { detail }
            | Self::Overloaded { detail, .. }
            | Self::TooManyBytes { detail }
            | Self::InvalidRequest { detail }
            | Self::Unsupported { detail, .. }
            | Self::ModelNotFound { detail }
            | Self::Network { detail }
            | Self::Protocol { detail }
            | Self::Refused { detail } => Some(detail),
            Self::Budget { .. }
            | Self::ContextOverflow { .. }
            | Self::OutputCap { .. }
            | Self::Timeout { .. } => None,
        }
    }
}

fn rate_limit_sentence(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(ProviderError::NEVER) => "The request alone is larger than the service's rate limit".to_owned(),
        Some(wait) => {
            format!("The service asks to wait {} s before the next request", wait.as_secs_f64().ceil())
        }
        None => "The service asks to send requests more slowly".to_owned(),
    }
}

fn overflow_sentence(limit: Option<u64>, requested: Option<u64>) -> String {
    match (limit, requested) {
        (Some(limit), Some(requested)) => {
            format!("The request of {requested} tokens does not fit into the model's window of {limit}.")
        }
        (Some(limit), None) => format!("The request does not fit into the model's window of {limit} tokens."),
        (None, Some(requested)) => {
            format!("The request of {requested} tokens does not fit into the model's window.")
        }
        (None, None) => "The request does not fit into the model's window.".to_owned(),
    }
}

fn output_sentence(limit: Option<u64>) -> String {
    match limit {
        Some(limit) => format!("The model writes at most {limit} tokens; ask for fewer."),
        None => "The model cannot write as many tokens as were asked for.".to_owned(),
    }
}

fn timeout_sentence(what: &str, after: Duration) -> String {
    if after.is_zero() {
        format!("The service gave up waiting for {what}.")
    } else {
        format!("Nothing came for {} s while waiting for {what}.", after.as_secs_f64())
    }
}
