//! Messages and their blocks: what may stand in them, and in which order.

use super::super::json::{MOST_AT_ONCE, excerpt, get, is_name, text};
use super::super::{Rejection, signature};
use super::binding;
use super::request::{breakpoint, extra, keys, required};
use crate::ask::{Block, Content, Speaker, Turn};
use crate::subject::Subject;
use crate::{image, window::digest};
use oneclaw_model::ProviderKind;
use serde_json::Value;
use std::collections::HashSet;

/// The pictures the service takes.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A block with the name of the call it makes or answers.
struct Placed {
    block: Block,
    call: Option<String>,
    place: String,
}

/// The messages as turns, without the blocks at those places; neighbours of the same role are one.
pub(super) fn messages(
    body: &Value,
    subject: &Subject<'_>,
    dropped: &HashSet<String>,
) -> Result<Vec<Turn>, Rejection> {
    let list = match get(body, "messages") {
        None => return Err(required("messages")),
        Some(Value::Array(list)) if list.is_empty() => {
            return Err(Rejection::bad("messages: at least one message is required"));
        }
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Rejection::bad("messages: Input should be a valid list")),
    };
    let mut merged: Vec<(Speaker, usize, Vec<Placed>)> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        keys(message, &["role", "content"], &format!("messages.{at}"))?;
        let speaker = match text(message, "role") {
            Some("user") => Speaker::User,
            Some("assistant") => Speaker::Assistant,
            Some("system") => {
                return Err(Rejection::bad(
                    "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, \
                     not \"system\" as an input message role.",
                ));
            }
            Some(_) => {
                return Err(Rejection::bad(format!(
                    "messages.{at}.role: Input should be 'user' or 'assistant'"
                )));
            }
            None => return Err(required(&format!("messages.{at}.role"))),
        };
        if at == 0 && speaker != Speaker::User {
            return Err(Rejection::bad("messages: first message must use the \"user\" role"));
        }
        let blocks = content(message, at, speaker, subject)?;
        if blocks.is_empty() && (speaker == Speaker::User || at + 1 < list.len()) {
            return Err(Rejection::bad(format!(
                "messages.{at}: all messages must have non-empty content except for the optional final assistant \
                 message"
            )));
        }
        let blocks: Vec<Placed> =
            blocks.into_iter().filter(|placed| !dropped.contains(&placed.place)).collect();
        match merged.last_mut() {
            Some((before, _, all)) if *before == speaker => all.extend(blocks),
            _ => merged.push((speaker, at, blocks)),
        }
    }
    for (_, at, blocks) in &merged {
        if blocks.last().is_some_and(|placed| matches!(placed.block.content, Content::Thinking(_))) {
            return Err(Rejection::bad(format!(
                "messages.{at}: The final block in an assistant message cannot be `thinking`."
            )));
        }
    }
    pair(&mut merged)?;
    if let Some((Speaker::Assistant, _, blocks)) = merged.last()
        && let Some(Placed { block: Block { content: Content::Text(text), .. }, .. }) = blocks.last()
        && text.ends_with(char::is_whitespace)
    {
        return Err(Rejection::bad("messages: final assistant content cannot end with trailing whitespace"));
    }
    let turns = merged.into_iter().map(|(speaker, _, blocks)| Turn {
        speaker,
        blocks: blocks.into_iter().map(|placed| placed.block).collect(),
    });
    Ok(turns.collect())
}

/// Every call is answered at the beginning of the next message, and nothing else is.
fn pair(messages: &mut [(Speaker, usize, Vec<Placed>)]) -> Result<(), Rejection> {
    let mut open: Vec<(String, String)> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let mut before = 0;
    for (_, at, blocks) in messages.iter_mut() {
        let mut answered: Vec<String> = Vec::new();
        let mut is_leading = true;
        for placed in blocks.iter_mut() {
            let Content::Result { name, .. } = &mut placed.block.content else {
                is_leading = false;
                continue;
            };
            let id = placed.call.clone().unwrap_or_default();
            if answered.contains(&id) {
                return Err(Rejection::bad(format!(
                    "{}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {}",
                    placed.place,
                    excerpt(&id, 80)
                )));
            }
            let Some(place) = open.iter().position(|(call, _)| *call == id) else {
                return Err(Rejection::bad(format!(
                    "{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must \
                     have a corresponding `tool_use` block in the previous message.",
                    placed.place,
                    excerpt(&id, 80)
                )));
            };
            if is_leading {
                *name = open.remove(place).1;
                answered.push(id);
            }
        }
        if !open.is_empty() {
            return Err(unanswered(before, &open));
        }
        for placed in blocks.iter() {
            if let (Content::Call { name, .. }, Some(id)) = (&placed.block.content, &placed.call) {
                if !known.insert(id.clone()) {
                    return Err(Rejection::bad(format!("{}: `tool_use` ids must be unique", placed.place)));
                }
                open.push((id.clone(), name.clone()));
                if open.len() > MOST_AT_ONCE {
                    return Err(Rejection::bad(format!("{}: too many `tool_use` blocks", placed.place)));
                }
            }
        }
        before = *at;
    }
    if open.is_empty() { Ok(()) } else { Err(unanswered(before, &open)) }
}

fn unanswered(at: usize, open: &[(String, String)]) -> Rejection {
    let ids: Vec<&str> = open.iter().map(|(id, _)| id.as_str()).collect();
    Rejection::bad(format!(
        "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
         block must have a corresponding `tool_result` block in the next message.",
        excerpt(&ids.join(", "), 400)
    ))
}

fn content(
    message: &Value,
    at: usize,
    speaker: Speaker,
    subject: &Subject<'_>,
) -> Result<Vec<Placed>, Rejection> {
    match message.get("content") {
        None => Err(required(&format!("messages.{at}.content"))),
        Some(Value::String(text)) if text.is_empty() => Ok(vec![]),
        Some(Value::String(text)) => {
            let place = format!("messages.{at}.content");
            Ok(vec![Placed { block: text_block(text)?, call: None, place }])
        }
        Some(Value::Array(blocks)) => {
            let blocks = blocks.iter().enumerate();
            blocks
                .map(|(n, b)| content_block(b, format!("messages.{at}.content.{n}"), speaker, subject))
                .collect()
        }
        Some(_) => Err(Rejection::bad(format!("messages.{at}.content: Input should be a valid list"))),
    }
}

fn text_block(text: &str) -> Result<Block, Rejection> {
    if text.is_empty() {
        return Err(Rejection::bad("messages: text content blocks must be non-empty"));
    }
    if text.trim().is_empty() {
        return Err(Rejection::bad("messages: text content blocks must contain non-whitespace text"));
    }
    Ok(Block::text(text))
}

fn content_block(
    block: &Value,
    place: String,
    speaker: Speaker,
    subject: &Subject<'_>,
) -> Result<Placed, Rejection> {
    let kind = text(block, "type").ok_or_else(|| required(&format!("{place}.type")))?;
    let string = |key: &str| text(block, key).ok_or_else(|| required(&format!("{place}.{kind}.{key}")));
    let (allowed, content, call): (&[&str], Content, Option<&str>) = match (kind, speaker) {
        ("text", _) => (&["text", "citations"], text_block(string("text")?)?.content, None),
        ("image" | "document", Speaker::User) => {
            (&["source", "title", "context", "citations"], media(block, &place)?, None)
        }
        ("tool_use", Speaker::Assistant) => {
            let Some(input @ Value::Object(_)) = block.get("input") else {
                return Err(Rejection::bad(format!(
                    "{place}.tool_use.input: Input should be a valid dictionary"
                )));
            };
            let name = string("name")?.to_owned();
            let call = Content::Call { name, arguments: input.to_string() };
            let id = string("id")?;
            if !is_name(id, usize::MAX, "") {
                let pattern = "String should match pattern '^[a-zA-Z0-9_-]+$'";
                return Err(Rejection::bad(format!("{place}.tool_use.id: {pattern}")));
            }
            (&["id", "name", "input", "caller"], call, Some(id))
        }
        ("tool_result", Speaker::User) => {
            let (text, media) = result_content(block, &place)?;
            let is_error = block.get("is_error") == Some(&Value::Bool(true));
            if is_error && media > 0 && subject.facts.is_some() {
                return Err(Rejection::bad(format!(
                    "{place}.tool_result: all content must be type \"text\" if \"is_error\" is true"
                )));
            }
            let result = Content::Result { name: String::new(), text, media };
            (&["tool_use_id", "content", "is_error"], result, Some(string("tool_use_id")?))
        }
        ("thinking", Speaker::Assistant) => {
            let text = string("thinking")?;
            check_signature(text, string("signature")?, &place, subject)?;
            (&["thinking", "signature"], Content::Thinking(text.to_owned()), None)
        }
        ("redacted_thinking", Speaker::Assistant) => {
            check_signature("", string("data")?, &place, subject)?;
            (&["data"], Content::Thinking(String::new()), None)
        }
        _ => {
            let kind = excerpt(kind, 40);
            return Err(Rejection::bad(format!(
                "{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
            )));
        }
    };
    let keys_here = [allowed, &["type", "cache_control"]].concat();
    keys(block, &keys_here, &format!("{place}.{kind}"))?;
    let is_breakpoint = breakpoint(block, &place)?;
    if is_breakpoint && matches!(kind, "thinking" | "redacted_thinking") {
        return Err(extra(&format!("{place}.{kind}.cache_control")));
    }
    let call = call.map(str::to_owned);
    Ok(Placed { block: Block { content, is_breakpoint }, call, place })
}

/// Reasoning sent to a model that nothing is known of: its own, or one that it does not get to see. With the models of the
/// catalogue everything was checked before.
fn check_signature(shown: &str, given: &str, place: &str, subject: &Subject<'_>) -> Result<(), Rejection> {
    let is_fine = subject.facts.is_some()
        || given == signature(shown)
        || binding::is_foreign(subject.seal, shown, given);
    if is_fine {
        return Ok(());
    }
    Err(Rejection::bad(format!("{place}: Invalid `signature` in `thinking` block")))
}

/// A result is a text, or a list of texts and pictures: the text, and what the pictures cost.
fn result_content(block: &Value, place: &str) -> Result<(String, u64), Rejection> {
    match get(block, "content") {
        None => Ok((String::new(), 0)),
        Some(Value::String(text)) => Ok((text.clone(), 0)),
        Some(Value::Array(parts)) => {
            let (mut all, mut pictures) = (String::new(), 0);
            for (n, part) in parts.iter().enumerate() {
                let place = format!("{place}.tool_result.content.{n}");
                match text(part, "type") {
                    Some("text") => {
                        let Some(text) = text(part, "text") else {
                            return Err(required(&format!("{place}.text")));
                        };
                        all.push_str(text);
                    }
                    Some("image") => {
                        if let Content::Media { tokens, .. } = media(part, &place)? {
                            pictures += tokens;
                        }
                    }
                    _ => {
                        return Err(Rejection::bad(format!(
                            "{place}.type: Input should be 'text' or 'image'"
                        )));
                    }
                }
            }
            Ok((all, pictures))
        }
        Some(_) => Err(Rejection::bad(format!(
            "{place}.tool_result.content: Input should be a valid string or list"
        ))),
    }
}

fn media(block: &Value, place: &str) -> Result<Content, Rejection> {
    let Some(source) = get(block, "source") else { return Err(required(&format!("{place}.source"))) };
    let data = text(source, "data").unwrap_or_default();
    let tokens = match text(source, "type") {
        Some("base64") if !data.is_empty() => {
            let mime = text(source, "media_type").unwrap_or_default();
            if text(block, "type") == Some("image") && !PICTURES.contains(&mime) {
                return Err(Rejection::bad(format!(
                    "{place}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or \
                     'image/webp'"
                )));
            }
            image::tokens(ProviderKind::Anthropic, mime, data)
        }
        Some("text") if !data.is_empty() => return Ok(Content::Text(data.to_owned())),
        Some("url") if text(source, "url").is_some() => Some(image::tokens_of_link(ProviderKind::Anthropic)),
        _ => return Err(required(&format!("{place}.source.data"))),
    };
    match tokens {
        Some(tokens) => Ok(Content::Media { tokens, digest: digest(source.to_string()) }),
        None => Err(Rejection::bad(format!("{place}.source.base64.data: invalid base64 data"))),
    }
}
