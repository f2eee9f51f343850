//! How Anthropic is asked for the size of a request: with the message itself, which is checked as one that is answered.

use super::request;
use crate::Profile;
use crate::encode::{self, Encoded, Mode};
use oneclaw_model::Request;

/// The fields that the endpoint does not take: they say what becomes of the reply.
const LEFT_OUT: [&str; 2] = ["max_tokens", "stream"];

/// The size in the answer.
pub(crate) const FIELD: &str = "input_tokens";

pub(crate) fn encode(profile: &Profile, request: &Request) -> Encoded {
    let Encoded { body, .. } = request::encode(profile, request, Mode::Chat);
    let body = encode::with_fields(body, |name| !LEFT_OUT.contains(&name));
    Encoded { path: "messages/count_tokens".to_owned(), query: None, body }
}
