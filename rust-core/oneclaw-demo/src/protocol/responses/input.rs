//! The items of the input: what may stand in them, which belong together, and what becomes of reasoning.

use super::super::Rejection;
use super::super::json::{MOST_AT_ONCE, excerpt, get, text, unknown};
use super::super::openai::shared::{check_name, check_sight, media, missing, too_long, wrong_type};
use super::ids::{self, Origin};
use super::request::unknown_parameter;
use crate::ask::{Ask, Block, Content, Speaker, Turn};
use crate::subject::Subject;
use serde_json::{Value, json};

const LONGEST_ID: usize = 64;

/// An item, as far as others depend on it.
struct Item {
    kind: Kind,
    id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Asking,
    Said,
    Call { call: String, name: String },
    Output { call: String },
    Reasoning,
}

/// Reads the input into turns.
pub(super) fn read(body: &Value, ask: &mut Ask, subject: &Subject<'_>) -> Result<(), Rejection> {
    let list = match get(body, "input") {
        None => return Err(missing("input")),
        Some(Value::String(text)) if text.is_empty() => return Err(empty("input")),
        Some(Value::String(text)) => {
            ask.turns.push(Turn { speaker: Speaker::User, blocks: vec![Block::text(text.as_str())] });
            return Ok(());
        }
        Some(Value::Array(list)) if list.is_empty() => return Err(empty("input")),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(wrong_type("input", "one of a string or array of input items", other)),
    };
    let mut items: Vec<Item> = Vec::new();
    let mut open = 0;
    for (at, value) in list.iter().enumerate() {
        let place = format!("input[{at}]");
        let item = match text(value, "type").unwrap_or("message") {
            "message" => message(value, &place, ask, subject)?,
            "function_call" => call(value, &place, ask, &items)?,
            "function_call_output" => output(value, &place, ask, subject, &items)?,
            "reasoning" => reasoning(value, &place, ask, subject)?,
            "item_reference" => return Err(not_found(text(value, "id").unwrap_or_default(), &place)),
            other => {
                let message = format!(
                    "Invalid value: '{}'. Supported values are: 'message', 'reasoning', 'function_call', and \
                     'function_call_output'.",
                    excerpt(other, 40)
                );
                return Err(Rejection::bad(message).param(place).code("invalid_value"));
            }
        };
        open = if matches!(item.kind, Kind::Call { .. }) { open + 1 } else { 0 };
        if open > MOST_AT_ONCE {
            return Err(Rejection::bad("Invalid 'input': too many function calls at once.").param("input"));
        }
        items.push(item);
    }
    check_outputs(&items)?;
    check_reasoning(&items)?;
    if ask.turns.is_empty() {
        return Err(empty("input"));
    }
    Ok(())
}

fn empty(param: &str) -> Rejection {
    Rejection::bad(format!("Invalid '{param}': there is nothing to answer."))
        .param(param)
        .code("invalid_value")
}

fn not_found(id: &str, place: &str) -> Rejection {
    Rejection::new(
        404,
        format!(
            "Item with id '{}' not found. Items are not persisted when `store` is set to false. Try again with `store` set \
             to true, or remove this item from your input.",
            excerpt(id, 80)
        ),
    )
    .param(format!("{place}.id"))
}

/// Checks the keys of an item.
fn keys(value: &Value, known: &[&str], place: &str) -> Result<(), Rejection> {
    let Some(object) = value.as_object() else { return Err(wrong_type(place, "an object", value)) };
    match unknown(object, known) {
        Some(key) => Err(unknown_parameter(&format!("{place}.{}", excerpt(key, 80)))),
        None => Ok(()),
    }
}

/// The name of an item, which begins with its kind.
fn named(value: &Value, prefix: &str, place: &str) -> Result<Option<String>, Rejection> {
    let param = format!("{place}.id");
    let id = match get(value, "id") {
        None => return Ok(None),
        Some(Value::String(id)) => id,
        Some(other) => return Err(wrong_type(&param, "a string", other)),
    };
    let length = id.chars().count();
    if length > LONGEST_ID {
        return Err(too_long(&param, LONGEST_ID, length));
    }
    if !id.starts_with(prefix) {
        let message = format!("Invalid '{param}': '{id}'. Expected an ID that begins with '{prefix}'.");
        return Err(Rejection::bad(message).param(param).code("invalid_value"));
    }
    Ok(Some(id.clone()))
}

/// Adds blocks to the turn in progress where it is the same speaker's.
fn speak(ask: &mut Ask, speaker: Speaker, blocks: Vec<Block>) {
    match ask.turns.last_mut() {
        Some(turn) if turn.speaker == speaker && speaker == Speaker::Assistant => turn.blocks.extend(blocks),
        _ => ask.turns.push(Turn { speaker, blocks }),
    }
}

fn message(value: &Value, place: &str, ask: &mut Ask, subject: &Subject<'_>) -> Result<Item, Rejection> {
    keys(value, &["type", "role", "content", "id", "status", "phase"], place)?;
    let role = text(value, "role").ok_or_else(|| missing(&format!("{place}.role")))?;
    let is_assistant = role == "assistant";
    let id = if is_assistant { named(value, "msg", place)? } else { None };
    if let Some(phase) = get(value, "phase") {
        let is_phase = matches!(phase.as_str(), Some("commentary" | "final_answer"));
        if !is_assistant || !is_phase {
            return Err(unknown_parameter(&format!("{place}.phase")));
        }
    }
    let blocks = content(value, place, is_assistant)?;
    check_sight(&blocks, subject, &format!("{place}.content"))?;
    match role {
        "assistant" => speak(ask, Speaker::Assistant, blocks),
        "user" => speak(ask, Speaker::User, blocks),
        // What comes before the conversation is part of the system text; later it is one message among others.
        "system" | "developer" if ask.turns.is_empty() => ask.system.extend(blocks),
        "system" | "developer" => speak(ask, Speaker::User, blocks),
        other => {
            let message = format!(
                "Invalid value: '{}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
                excerpt(other, 40)
            );
            return Err(Rejection::bad(message).param(format!("{place}.role")).code("invalid_value"));
        }
    }
    Ok(Item { kind: if is_assistant { Kind::Said } else { Kind::Asking }, id })
}

fn content(value: &Value, place: &str, is_assistant: bool) -> Result<Vec<Block>, Rejection> {
    let param = format!("{place}.content");
    match get(value, "content") {
        None => Err(missing(&param)),
        Some(Value::String(text)) if text.is_empty() => Err(empty(&param)),
        Some(Value::String(text)) => Ok(vec![Block::text(text.as_str())]),
        Some(Value::Array(parts)) if parts.is_empty() => Err(empty(&param)),
        Some(Value::Array(parts)) => {
            let parts = parts.iter().enumerate();
            parts.map(|(n, part)| content_part(part, &format!("{param}[{n}]"), is_assistant)).collect()
        }
        Some(other) => Err(wrong_type(&param, "one of a string or array of content parts", other)),
    }
}

fn content_part(part: &Value, param: &str, is_assistant: bool) -> Result<Block, Rejection> {
    let string = |key: &str| text(part, key).ok_or_else(|| missing(&format!("{param}.{key}")));
    match (text(part, "type"), is_assistant) {
        (Some("output_text"), true) => {
            keys(part, &["type", "text", "annotations", "logprobs"], param)?;
            string("text").map(Block::text)
        }
        (Some("refusal"), true) => string("refusal").map(Block::text),
        (Some("input_text"), false) => {
            keys(part, &["type", "text", "prompt_cache_breakpoint"], param)?;
            string("text").map(Block::text)
        }
        (Some("input_image"), false) => {
            keys(part, &["type", "image_url", "detail", "file_id", "prompt_cache_breakpoint"], param)?;
            media(string("image_url")?, param)
        }
        (Some("input_file"), false) => media(string("file_data")?, param),
        (other, _) => {
            let known = if is_assistant {
                "'output_text' and 'refusal'"
            } else {
                "'input_text', 'input_image', and 'input_file'"
            };
            let message = format!(
                "Invalid value: '{}'. Supported values are: {known}.",
                excerpt(other.unwrap_or_default(), 40)
            );
            Err(Rejection::bad(message).param(param).code("invalid_value"))
        }
    }
}

fn call_id(value: &Value, place: &str) -> Result<String, Rejection> {
    let param = format!("{place}.call_id");
    let id = text(value, "call_id").filter(|id| !id.is_empty()).ok_or_else(|| missing(&param))?;
    match id.chars().count() {
        length if length > LONGEST_ID => Err(too_long(&param, LONGEST_ID, length)),
        _ => Ok(id.to_owned()),
    }
}

fn call(value: &Value, place: &str, ask: &mut Ask, before: &[Item]) -> Result<Item, Rejection> {
    const KEYS: &[&str] =
        &["type", "id", "call_id", "name", "arguments", "status", "caller", "namespace", "async"];
    keys(value, KEYS, place)?;
    let id = named(value, "fc", place)?;
    let call = call_id(value, place)?;
    let name = text(value, "name").ok_or_else(|| missing(&format!("{place}.name")))?;
    check_name(name, &format!("{place}.name"))?;
    let arguments = match value.get("arguments") {
        Some(Value::String(arguments)) => arguments.clone(),
        None => return Err(missing(&format!("{place}.arguments"))),
        Some(other) => return Err(wrong_type(&format!("{place}.arguments"), "a string", other)),
    };
    let is_known =
        before.iter().any(|item| matches!(&item.kind, Kind::Call { call: other, .. } if *other == call));
    if is_known {
        let message =
            format!("Duplicate item found with call_id {call}. Remove duplicate items and try again.");
        return Err(Rejection::bad(message).param("input"));
    }
    let name = name.to_owned();
    speak(ask, Speaker::Assistant, vec![Block::new(Content::Call { name: name.clone(), arguments })]);
    Ok(Item { kind: Kind::Call { call, name }, id })
}

fn output(
    value: &Value,
    place: &str,
    ask: &mut Ask,
    subject: &Subject<'_>,
    before: &[Item],
) -> Result<Item, Rejection> {
    keys(value, &["type", "id", "call_id", "output", "status", "caller"], place)?;
    let call = call_id(value, place)?;
    let param = format!("{place}.output");
    let blocks = match get(value, "output") {
        None => return Err(missing(&param)),
        Some(Value::String(text)) => vec![Block::text(text.as_str())],
        Some(Value::Array(parts)) => {
            let parts = parts.iter().enumerate();
            parts
                .map(|(n, part)| content_part(part, &format!("{param}[{n}]"), false))
                .collect::<Result<_, _>>()?
        }
        Some(other) => return Err(wrong_type(&param, "one of a string or array of content parts", other)),
    };
    check_sight(&blocks, subject, &param)?;
    let name = before.iter().find_map(|item| match &item.kind {
        Kind::Call { call: other, name } if *other == call => Some(name.clone()),
        _ => None,
    });
    let (mut result, mut pictures) = (String::new(), 0);
    for block in blocks {
        match block.content {
            Content::Text(text) => result.push_str(&text),
            Content::Media { tokens, .. } => pictures += tokens,
            _ => {}
        }
    }
    // Without its call it is refused once all items are read.
    let block = Content::Result { name: name.unwrap_or_default(), text: result, media: pictures };
    speak(ask, Speaker::User, vec![Block::new(block)]);
    Ok(Item { kind: Kind::Output { call }, id: None })
}

fn reasoning(value: &Value, place: &str, ask: &mut Ask, subject: &Subject<'_>) -> Result<Item, Rejection> {
    keys(value, &["type", "id", "summary", "content", "encrypted_content", "status"], place)?;
    let id = named(value, "rs", place)?.ok_or_else(|| missing(&format!("{place}.id")))?;
    let Some(summary) = value.get("summary").and_then(Value::as_array) else {
        return Err(missing(&format!("{place}.summary")));
    };
    let Some(encrypted) = text(value, "encrypted_content") else { return Err(not_found(&id, place)) };
    match ids::origin(subject.seal, &subject.model.id, &id, encrypted) {
        Origin::Own => {
            let shown = summary.iter().filter_map(|part| text(part, "text")).collect();
            speak(ask, Speaker::Assistant, vec![Block::new(Content::Thinking(shown))]);
        }
        Origin::OtherModel => ask.transformations.push(json!({
            "type": "reasoning", "id": id, "action": "removed", "reason": "model_mismatch",
        })),
        Origin::Unknown => {
            let shown = excerpt(encrypted, 4);
            let message = format!(
                "The encrypted content {shown}... could not be verified. Reason: Encrypted content could not be decrypted \
                 or parsed."
            );
            return Err(Rejection::bad(message).code("invalid_encrypted_content"));
        }
    }
    Ok(Item { kind: Kind::Reasoning, id: Some(id) })
}

/// Every call has its output after it, and every output its call before it.
fn check_outputs(items: &[Item]) -> Result<(), Rejection> {
    let mut open: Vec<&str> = Vec::new();
    for item in items {
        match &item.kind {
            Kind::Call { call, .. } => open.push(call),
            Kind::Output { call } => {
                let Some(at) = open.iter().position(|other| other == call) else {
                    let message = format!("No tool call found for function call output with call_id {call}.");
                    return Err(Rejection::bad(message).param("input"));
                };
                open.remove(at);
            }
            Kind::Asking | Kind::Said | Kind::Reasoning => {}
        }
    }
    match open.first() {
        Some(call) => {
            let message = format!("No tool output found for function call {call}.");
            Err(Rejection::bad(message).param("input"))
        }
        None => Ok(()),
    }
}

/// Reasoning is followed by what it led to; what has a name and came after reasoning comes with it.
fn check_reasoning(items: &[Item]) -> Result<(), Rejection> {
    for (at, item) in items.iter().enumerate() {
        let Some(id) = &item.id else { continue };
        if item.kind == Kind::Reasoning {
            let next = items.iter().skip(at + 1).find(|item| item.kind != Kind::Reasoning);
            if !next.is_some_and(|item| matches!(item.kind, Kind::Said | Kind::Call { .. })) {
                let message = format!(
                    "Item '{id}' of type 'reasoning' was provided without its required following item."
                );
                return Err(Rejection::bad(message).param("input"));
            }
        } else if let Some(required) = ids::required(id) {
            let mut before = items.iter().take(at);
            if !before.any(|item| item.id.as_ref() == Some(&required)) {
                let kind = if item.kind == Kind::Said { "message" } else { "function_call" };
                let message = format!(
                    "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{required}'."
                );
                return Err(Rejection::bad(message).param("input"));
            }
        }
    }
    Ok(())
}
