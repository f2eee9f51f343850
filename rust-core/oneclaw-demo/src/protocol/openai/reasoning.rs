//! Reasoning in the chat completions of compatible servers: how it is given out, and what has to come back.

use super::super::json::{get, text};
use super::super::{Answer, Rejection, insert};
use crate::config::Flavour;
use crate::subject::{Seal, Subject};
use crate::window::digest;
use serde_json::{Value, json};

/// The field in which a server shows its reasoning.
pub(super) fn field(flavour: Flavour) -> &'static str {
    match flavour {
        Flavour::OpenRouter | Flavour::Ollama | Flavour::Vllm => "reasoning",
        Flavour::Plain | Flavour::DeepSeek | Flavour::Kimi | Flavour::LlamaCpp | Flavour::LmStudio => {
            "reasoning_content"
        }
    }
}

/// Puts the reasoning into a message or a delta of one.
pub(super) fn show(object: &mut Value, answer: &Answer, flavour: Flavour, shown: &str) {
    insert(object, field(flavour), shown);
    if flavour == Flavour::OpenRouter {
        insert(object, "reasoning_details", json!([detail(answer.seal, shown)]));
    }
}

/// One entry of `reasoning_details`: its signature holds for its text.
fn detail(seal: Seal, shown: &str) -> Value {
    json!({
        "type": "reasoning.text", "text": shown, "signature": seal.close(&[digest(shown)]), "format": "demo-v1", "index": 0,
    })
}

/// Checks the reasoning on an assistant message. It is missed only where the message calls tools.
pub(super) fn check_reasoning(
    message: &Value,
    at: usize,
    subject: &Subject<'_>,
    thinks: bool,
    has_calls: bool,
    is_current: bool,
) -> Result<(), Rejection> {
    let is_missing =
        has_calls && thinks && message.get("reasoning_content").and_then(Value::as_str).is_none();
    match subject.flavour {
        Flavour::DeepSeek if is_missing => Err(Rejection::bad(
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
        )),
        Flavour::Kimi if is_missing => Err(Rejection::bad(format!(
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index {at}"
        ))),
        Flavour::OpenRouter => {
            let details = get(message, "reasoning_details");
            if details.is_none() && has_calls && thinks && is_current {
                return Err(Rejection::bad(format!("messages[{at}].reasoning_details is missing")));
            }
            let details = details.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            match details.iter().all(|detail| is_own(subject.seal, detail)) {
                true => Ok(()),
                false => Err(Rejection::bad(format!("messages[{at}].reasoning_details was modified"))),
            }
        }
        _ => Ok(()),
    }
}

fn is_own(seal: Seal, detail: &Value) -> bool {
    let shown = text(detail, "text").unwrap_or_default();
    *detail == self::detail(seal, shown)
}
