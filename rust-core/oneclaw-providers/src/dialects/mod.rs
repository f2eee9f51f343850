//! The dialects, one folder each, and the one list of them: how a request is written, how a reply is read.

pub(crate) mod chat_completions;
pub(crate) mod generate_content;
pub(crate) mod messages;
pub(crate) mod responses;

use crate::encode::{Encoded, Mode};
use crate::{Endpoint, Profile};
use oneclaw_model::{Dialect, Request};

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
