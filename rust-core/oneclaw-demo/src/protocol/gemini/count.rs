//! What countTokens takes: contents alone, or a whole request.

use super::super::Rejection;
use super::request::{field, known};
use serde_json::Value;

const FIELDS: &[&str] = &["contents", "generateContentRequest"];

/// The request whose size is asked for.
pub(crate) fn request(mut body: Value, model: &str) -> Result<Value, Rejection> {
    if let Some(object) = body.as_object() {
        known(object, FIELDS, None)?;
    }
    if field(&body, "generateContentRequest").is_none() {
        return Ok(body);
    }
    if field(&body, "contents").is_some() {
        return Err(Rejection::bad("Only one of `contents` and `generate_content_request` can be set."));
    }
    let inner = ["generateContentRequest", "generate_content_request"];
    let inner = inner.iter().find_map(|key| body.get_mut(key).map(Value::take)).unwrap_or_default();
    let named = inner.get("model").and_then(Value::as_str).unwrap_or_default();
    if named != format!("models/{model}") {
        return Err(Rejection::bad(format!(
            "Model in generate_content_request ({}) does not match the model in the path (models/{}).",
            named.chars().take(80).collect::<String>(),
            model.chars().take(80).collect::<String>(),
        )));
    }
    Ok(inner)
}
