//! How Gemini is asked for the size of a request: with the whole request, as contents alone would leave out instructions and
//! tools.

use super::request;
use crate::Profile;
use crate::encode::{self, Encoded, Mode};
use oneclaw_model::Request;
use serde_json::{Map, Value, json};

/// The fields of which the prompt is made.
const FIELDS: [&str; 3] = ["systemInstruction", "contents", "tools"];

/// The size in the answer.
pub(crate) const FIELD: &str = "totalTokens";

pub(crate) fn encode(profile: &Profile, request: &Request) -> Encoded {
    let Encoded { body, .. } = request::encode(profile, request, Mode::Chat);
    let model = request::resource(&profile.model);
    let mut whole = Map::from_iter([("model".to_owned(), json!(model))]);
    if let Value::Object(fields) = encode::with_fields(body, |name| FIELDS.contains(&name)) {
        whole.extend(fields);
    }
    let body = json!({"generateContentRequest": whole});
    Encoded { path: format!("{model}:countTokens"), query: None, body }
}
