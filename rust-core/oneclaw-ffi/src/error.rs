//! How the core's failures appear in Kotlin: one table.

use crate::CoreError;
use oneclaw_agent::Failure;
use oneclaw_providers::ProviderError;
use oneclaw_store::StoreError;

impl From<Failure> for CoreError {
    fn from(failure: Failure) -> Self {
        let detail = failure.to_string();
        match failure {
            Failure::Store(_) => Self::Storage { detail },
            Failure::NotFound(what) => Self::NotFound { what },
            Failure::Invalid(_) => Self::Invalid { field: String::new(), detail },
            Failure::Pin(_) => Self::Invalid { field: "pin".to_owned(), detail },
            Failure::NoModel(_) => Self::Invalid { field: "model".to_owned(), detail },
            Failure::Vault { .. } | Failure::NoKey { .. } => Self::Auth { detail },
            Failure::Provider(ProviderError::Auth { .. }) => Self::Auth { detail },
            Failure::Provider(ProviderError::Network { .. } | ProviderError::Timeout { .. }) => {
                Self::Network { detail }
            }
            Failure::Provider(_) | Failure::EmptyReply | Failure::OnlyThinking | Failure::NoSummary(_) => {
                Self::Service { detail }
            }
            Failure::Irreducible { .. } | Failure::TooManyRounds(_) => {
                Self::Invalid { field: String::new(), detail }
            }
            Failure::Stopped => Self::Busy { detail },
            Failure::Closed => Self::Closed,
            Failure::Internal(_) => Self::Internal { detail },
        }
    }
}

impl From<StoreError> for CoreError {
    fn from(error: StoreError) -> Self {
        Failure::from(error).into()
    }
}

/// A value of the caller that makes no sense.
pub(crate) fn invalid(field: &str, detail: impl ToString) -> CoreError {
    CoreError::Invalid { field: field.to_owned(), detail: detail.to_string() }
}
