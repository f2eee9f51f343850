//! What chat completions and Responses have in common: how they name what is wrong, and what names, schemas and pictures
//! they take.

use super::super::Rejection;
use super::super::json::{array_without_items, excerpt, get, is_name, kind_of, text};
use crate::ask::{Block, Content};
use crate::subject::Subject;
use crate::{image, window::digest};
use oneclaw_catalogue::Ability;
use oneclaw_model::{Effort, ProviderKind};
use serde_json::Value;

const LONGEST_NAME: usize = 64;

pub(in crate::protocol) fn boolean(body: &Value, key: &str) -> Result<bool, Rejection> {
    match get(body, key) {
        None => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(wrong_type(key, "a boolean", other)),
    }
}

pub(in crate::protocol) fn check_schema(name: &str, schema: &Value, param: String) -> Result<(), Rejection> {
    let problem = match schema.as_object() {
        None => Some(format!("schema must be an object, got {}", kind_of(schema))),
        Some(object) if object.is_empty() => None,
        Some(_) if text(schema, "type") != Some("object") => Some(format!(
            "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{}\"'.",
            excerpt(text(schema, "type").unwrap_or("None"), 40)
        )),
        Some(_) => array_without_items(schema).map(|way| {
            let way: Vec<String> = way.iter().map(|step| format!("'{}'", excerpt(step, 80))).collect();
            format!("In context=('properties', {}), array schema missing items.", way.join(", "))
        }),
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Rejection::bad(format!("Invalid schema for function '{name}': {problem}"))
            .param(param)
            .code("invalid_function_parameters")),
    }
}

/// A picture or file as an address or in base64.
pub(in crate::protocol) fn media(url: &str, param: &str) -> Result<Block, Rejection> {
    let tokens = match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((mime, data)) => image::tokens(ProviderKind::OpenAi, mime, data),
        None if url.starts_with("http://") || url.starts_with("https://") => {
            Some(image::tokens_of_link(ProviderKind::OpenAi))
        }
        None => None,
    };
    let Some(tokens) = tokens else {
        let message = "Invalid image data: expected an address or base64 data of a supported format.";
        return Err(Rejection::bad(message).param(param).code("invalid_value"));
    };
    Ok(Block::new(Content::Media { tokens, digest: digest(url) }))
}

pub(in crate::protocol) fn check_name(name: &str, param: &str) -> Result<(), Rejection> {
    if is_name(name, LONGEST_NAME, "") {
        return Ok(());
    }
    let message = format!(
        "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'."
    );
    Err(Rejection::bad(message).param(param).code("invalid_value"))
}

pub(in crate::protocol) fn missing(param: &str) -> Rejection {
    Rejection::bad(format!("Missing required parameter: '{param}'."))
        .param(param)
        .code("missing_required_parameter")
}

pub(in crate::protocol) fn wrong_type(param: &str, wanted: &str, got: &Value) -> Rejection {
    let message = format!("Invalid type for '{param}': expected {wanted}, but got {} instead.", kind_of(got));
    Rejection::bad(message).param(param).code("invalid_type")
}

/// A text that is longer than it may be.
pub(in crate::protocol) fn too_long(param: &str, longest: usize, length: usize) -> Rejection {
    let message = format!(
        "Invalid '{param}': string too long. Expected a string with maximum length {longest}, but got a string with length \
         {length} instead."
    );
    Rejection::bad(message).param(param).code("string_above_max_length")
}

/// A parameter the model does not know.
pub(in crate::protocol) fn unsupported(param: &str) -> Rejection {
    let message = format!("Unsupported parameter: '{param}' is not supported with this model.");
    Rejection::bad(message).param(param).code("unsupported_parameter")
}

/// Words as a list: `'a', 'b', and 'c'`.
pub(in crate::protocol) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    match quoted.as_slice() {
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] if !first.is_empty() => format!("{}, and {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// The effort under a key; a word that is none is refused.
pub(in crate::protocol) fn effort(
    object: &Value,
    key: &str,
    param: &str,
) -> Result<Option<Effort>, Rejection> {
    let Some(value) = get(object, key) else { return Ok(None) };
    let word = value.as_str().ok_or_else(|| wrong_type(param, "one of a string or null", value))?;
    let Some(effort) = Effort::of_word(word) else {
        let all: Vec<&str> = Effort::ALL.iter().map(|effort| effort.word()).collect();
        let message =
            format!("Invalid value: '{}'. Supported values are: {}.", excerpt(word, 40), listed(&all));
        return Err(Rejection::bad(message).param(param).code("invalid_value"));
    };
    Ok(Some(effort))
}

/// What the model does without may not be in the request.
pub(in crate::protocol) fn check_abilities(body: &Value, subject: &Subject<'_>) -> Result<(), Rejection> {
    if get(body, "tools").is_some() && subject.cannot(Ability::Tools) {
        return Err(unsupported("tools"));
    }
    Ok(())
}

/// Refuses pictures for a model that does not see.
pub(in crate::protocol) fn check_sight(
    blocks: &[Block],
    subject: &Subject<'_>,
    param: &str,
) -> Result<(), Rejection> {
    let has_picture = blocks.iter().any(|block| matches!(block.content, Content::Media { .. }));
    if has_picture && subject.cannot(Ability::Pictures) {
        let message = "Invalid content type. image_url is only supported by certain models.";
        return Err(Rejection::bad(message).param(param));
    }
    Ok(())
}
