//! The dialects, one folder each, and the one list of them: how a request is written, how a reply is read.

pub(crate) mod chat_completions;
pub(crate) mod generate_content;
pub(crate) mod messages;
pub(crate) mod responses;
#[cfg(test)]
pub(crate) mod samples;

use crate::encode::{Encoded, Mode};
use crate::{Endpoint, Profile};
use oneclaw_model::{Dialect, Request};

/// How the rest of a reply is asked for where the service gives it in several bodies.
#[derive(Debug)]
pub(crate) struct Continuation {
    /// The field that the token goes into; everything else is as it was.
    pub field: &'static str,
    /// The most output tokens that the bodies may have together.
    pub most_output: Option<u64>,
}

/// How replies are continued in a dialect; `None` where each is one body.
pub(crate) fn continuation(dialect: Dialect, encoded: &Encoded) -> Option<Continuation> {
    use generate_content::request::{CONTINUATION_TOKEN, asked_output};
    match dialect {
        Dialect::ChatCompletions | Dialect::Responses | Dialect::Messages => None,
        Dialect::GenerateContent => {
            Some(Continuation { field: CONTINUATION_TOKEN, most_output: asked_output(&encoded.body) })
        }
    }
}

/// The request in a dialect.
pub(crate) fn encode(
    dialect: Dialect,
    endpoint: &Endpoint,
    profile: &Profile,
    request: &Request,
    mode: Mode,
) -> Encoded {
    match dialect {
        Dialect::ChatCompletions => chat_completions::request::encode(endpoint, profile, request, mode),
        Dialect::Responses => responses::request::encode(profile, request, mode),
        Dialect::Messages => messages::request::encode(profile, request, mode),
        Dialect::GenerateContent => generate_content::request::encode(profile, request, mode),
    }
}
