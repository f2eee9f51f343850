//! How OpenAI is asked for the size of a request. It counts in the form of Responses, also for a model that is spoken to in
//! chat completions.

use super::request;
use crate::Profile;
use crate::encode::{self, Encoded, Mode};
use oneclaw_model::Request;

/// The fields that change the prompt. What is left out says what becomes of the reply, and the endpoint does not take it.
const FIELDS: [&str; 5] = ["model", "instructions", "input", "tools", "reasoning"];

/// The size in the answer.
pub(crate) const FIELD: &str = "input_tokens";

pub(crate) fn encode(profile: &Profile, request: &Request) -> Encoded {
    let Encoded { body, .. } = request::encode(profile, request, Mode::Chat);
    let body = encode::with_fields(body, |name| FIELDS.contains(&name));
    Encoded { path: "responses/input_tokens".to_owned(), query: None, body }
}
