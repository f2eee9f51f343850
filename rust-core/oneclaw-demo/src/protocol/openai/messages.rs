//! The messages of chat completions: what may stand in them, and in which order.

use super::super::Rejection;
use super::super::json::{MOST_AT_ONCE, excerpt, get, items, text};
use super::reasoning::check_reasoning;
use super::shared::{check_name, check_sight, media, missing, too_long, wrong_type};
use crate::ask::{Ask, Block, Content, Speaker, Turn};
use crate::subject::Subject;
use serde_json::Value;

const LONGEST_ID: usize = 40;

/// A call of the assistant that waits for its result.
struct Open {
    id: String,
    name: String,
}

/// The messages as turns. `thinks` says whether the server's model reasons in a way that has to be sent back.
pub(super) fn messages(
    body: &Value,
    ask: &mut Ask,
    subject: &Subject<'_>,
    thinks: bool,
) -> Result<(), Rejection> {
    let list = match get(body, "messages") {
        None => return Err(missing("messages")),
        Some(Value::Array(list)) if list.is_empty() => {
            let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty \
                           array instead.";
            return Err(Rejection::bad(message).param("messages").code("empty_array"));
        }
        Some(Value::Array(list)) => list,
        Some(other) => return Err(wrong_type("messages", "an array of objects", other)),
    };
    let current = list.iter().rposition(|message| text(message, "role") == Some("user"));
    let mut open: Vec<Open> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        let Some(role) = text(message, "role") else { return Err(missing(&format!("messages[{at}].role"))) };
        if role != "tool" {
            all_answered(&open, at)?;
            open.clear();
        }
        match role {
            "system" | "developer" if at > 0 => {
                let message = "Invalid 'messages': there may be one system message, at the beginning.";
                return Err(Rejection::bad(message)
                    .param(format!("messages[{at}].role"))
                    .code("invalid_value"));
            }
            "system" | "developer" => ask.system = content(message, at, Emptiness::Refused)?,
            "user" => {
                let blocks = content(message, at, Emptiness::Refused)?;
                check_sight(&blocks, subject, &format!("messages[{at}].content"))?;
                ask.turns.push(Turn { speaker: Speaker::User, blocks });
            }
            "assistant" => {
                let (calls, waiting) = calls(message, at)?;
                let is_current = current.is_none_or(|current| at > current);
                check_reasoning(message, at, subject, thinks, !calls.is_empty(), is_current)?;
                let emptiness = if calls.is_empty() { Emptiness::Refused } else { Emptiness::Allowed };
                let mut blocks = content(message, at, emptiness)?;
                blocks.extend(calls);
                ask.turns.push(Turn { speaker: Speaker::Assistant, blocks });
                open = waiting;
            }
            "tool" => {
                let Some(id) = text(message, "tool_call_id") else {
                    return Err(missing(&format!("messages[{at}].tool_call_id")));
                };
                let Some(place) = open.iter().position(|call| call.id == id) else {
                    let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                                   message with 'tool_calls'.";
                    return Err(Rejection::bad(message).param(format!("messages.[{at}].role")));
                };
                let name = open.remove(place).name;
                let mut result = String::new();
                for block in content(message, at, Emptiness::Allowed)? {
                    match block.content {
                        Content::Text(text) => result.push_str(&text),
                        _ => {
                            let message = "Invalid 'messages': tool messages carry text only.";
                            return Err(Rejection::bad(message).param(format!("messages[{at}].content")));
                        }
                    }
                }
                let block = Block::new(Content::Result { name, text: result, media: 0 });
                ask.turns.push(Turn { speaker: Speaker::User, blocks: vec![block] });
            }
            other => {
                let message = format!(
                    "Invalid value: '{}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', \
                     and 'developer'.",
                    excerpt(other, 40)
                );
                return Err(Rejection::bad(message)
                    .param(format!("messages[{at}].role"))
                    .code("invalid_value"));
            }
        }
    }
    all_answered(&open, list.len())?;
    if ask.turns.is_empty() {
        return Err(Rejection::bad("Invalid 'messages': there is no message besides the system message.")
            .param("messages")
            .code("invalid_value"));
    }
    Ok(())
}

fn all_answered(open: &[Open], at: usize) -> Result<(), Rejection> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().map(|call| call.id.as_str()).collect();
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
         The following tool_call_ids did not have response messages: {}",
        excerpt(&ids.join(", "), 400)
    );
    Err(Rejection::bad(message).param(format!("messages.[{at}].role")))
}

/// Whether a message may have no content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emptiness {
    Allowed,
    Refused,
}

fn content(message: &Value, at: usize, emptiness: Emptiness) -> Result<Vec<Block>, Rejection> {
    let param = format!("messages[{at}].content");
    let blocks = match get(message, "content") {
        None if emptiness == Emptiness::Refused => {
            let message = "Invalid value for 'content': expected a string, got null.";
            return Err(Rejection::bad(message).param(param).code("invalid_type"));
        }
        None => vec![],
        Some(Value::String(text)) if text.is_empty() && emptiness == Emptiness::Allowed => vec![],
        Some(Value::String(text)) => vec![Block::text(text.as_str())],
        Some(Value::Array(parts)) => {
            let parts =
                parts.iter().enumerate().map(|(n, part)| content_part(part, &format!("{param}[{n}]")));
            parts.collect::<Result<_, _>>()?
        }
        Some(other) => return Err(wrong_type(&param, "one of a string or array of objects", other)),
    };
    let is_empty =
        blocks.is_empty() || blocks.iter().any(|b| matches!(&b.content, Content::Text(t) if t.is_empty()));
    if is_empty && emptiness == Emptiness::Refused {
        let message = format!("Invalid '{param}': the content must not be empty.");
        return Err(Rejection::bad(message).param(param).code("invalid_value"));
    }
    Ok(blocks)
}

fn content_part(part: &Value, param: &str) -> Result<Block, Rejection> {
    match text(part, "type") {
        Some("text") => text(part, "text").map(Block::text).ok_or_else(|| missing(&format!("{param}.text"))),
        Some("refusal") => {
            text(part, "refusal").map(Block::text).ok_or_else(|| missing(&format!("{param}.refusal")))
        }
        Some("image_url") => {
            let Some(url) = part.get("image_url").and_then(|image| text(image, "url")) else {
                return Err(missing(&format!("{param}.image_url.url")));
            };
            media(url, param)
        }
        Some("file") => {
            let Some(data) = part.get("file").and_then(|file| text(file, "file_data")) else {
                return Err(missing(&format!("{param}.file.file_data")));
            };
            media(data, param)
        }
        other => {
            let message = format!(
                "Invalid value: '{}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and \
                 'file'.",
                excerpt(other.unwrap_or_default(), 40)
            );
            Err(Rejection::bad(message).param(format!("{param}.type")).code("invalid_value"))
        }
    }
}

fn calls(message: &Value, at: usize) -> Result<(Vec<Block>, Vec<Open>), Rejection> {
    let (mut blocks, mut open) = (vec![], Vec::<Open>::new());
    if let Some(Value::Array(list)) = get(message, "tool_calls")
        && list.is_empty()
    {
        let text = format!(
            "Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length 1, but got an \
             empty array instead."
        );
        return Err(Rejection::bad(text).param(format!("messages[{at}].tool_calls")).code("empty_array"));
    }
    for (n, call) in items(message, "tool_calls").iter().enumerate() {
        let param = format!("messages[{at}].tool_calls[{n}]");
        if n >= MOST_AT_ONCE {
            let message = format!("Invalid 'messages[{at}].tool_calls': array too long.");
            return Err(Rejection::bad(message).param(param).code("array_above_max_length"));
        }
        let id = text(call, "id").filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| missing(&format!("{param}.id")))?;
        let length = id.chars().count();
        if length > LONGEST_ID {
            return Err(too_long(&format!("{param}.id"), LONGEST_ID, length));
        }
        if text(call, "type") != Some("function") {
            return Err(missing(&format!("{param}.type")));
        }
        let function = call.get("function").ok_or_else(|| missing(&format!("{param}.function")))?;
        let name = text(function, "name").ok_or_else(|| missing(&format!("{param}.function.name")))?;
        check_name(name, &format!("{param}.function.name"))?;
        let arguments = match function.get("arguments") {
            Some(Value::String(arguments)) => arguments,
            None => return Err(missing(&format!("{param}.function.arguments"))),
            Some(other) => return Err(wrong_type(&format!("{param}.function.arguments"), "a string", other)),
        };
        if open.iter().any(|call| call.id == id) {
            let message = format!("Invalid '{param}.id': duplicate tool call id.");
            return Err(Rejection::bad(message).param(param).code("invalid_value"));
        }
        blocks.push(Block::new(Content::Call { name: name.to_owned(), arguments: arguments.clone() }));
        open.push(Open { id: id.to_owned(), name: name.to_owned() });
    }
    Ok((blocks, open))
}
