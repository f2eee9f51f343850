//! The body of an OpenAI Responses request, without state at the service.

use crate::Profile;
use crate::encode::{Encoded, Mode};
use oneclaw_model::Request;
use serde_json::json;

pub(crate) fn encode(profile: &Profile, _request: &Request, _mode: Mode) -> Encoded {
    Encoded { path: "responses".to_owned(), query: None, body: json!({"model": profile.model}) }
}
