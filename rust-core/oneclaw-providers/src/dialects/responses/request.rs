//! The body of an OpenAI Responses request, without state at the service: the whole conversation goes along each time.
//!
//! Decides in which items a reply goes back. Reasoning goes back as it came, before the message or call that it led to, and
//! never without one, as the service refuses that. Messages and calls carry no id: with one, the service would check that
//! each stands beside the reasoning it came with, also where that is left out.

use crate::encode::{self, CallIds, Encoded, Mode};
use crate::{Profile, reasoning};
use oneclaw_model::{Attachment, Call, Effort, Part, Request, RequestMessage, Thinking, ToolSpec};
use serde_json::{Map, Value, json};

/// The least output limit the service takes.
const LEAST_OUTPUT: u64 = 16;

/// The longest id of a call.
const LONGEST_ID: usize = 64;

/// The longest key of a conversation's cache.
const LONGEST_KEY: usize = 64;

/// What a message may be in a reply that goes on with calls. The service gives the word and wants it back.
const PHASES: [&str; 2] = ["commentary", "final_answer"];

pub(crate) fn encode(profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let mut body = Map::new();
    body.insert("model".into(), json!(profile.model));
    body.insert("store".into(), json!(false));
    body.insert("stream".into(), json!(true));
    if let Some(system) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        body.insert("instructions".into(), json!(system));
    }
    body.insert("input".into(), input(profile, request));
    if !request.tools.is_empty() {
        // `parallel_tool_calls` is not sent: models that make one call at a time refuse it, whatever it says.
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    let effort = reasoning::effort(profile, mode);
    let settings = reasoning_settings(profile, mode, effort);
    if !settings.is_empty() {
        body.insert("reasoning".into(), Value::Object(settings));
    }
    if let Some(max) = reasoning::output_limit(profile, request, reasoning::room(profile, mode, effort)) {
        body.insert("max_output_tokens".into(), json!(max.max(LEAST_OUTPUT)));
    }
    match mode {
        Mode::Chat => {
            if reasons(profile) {
                body.insert("include".into(), json!(["reasoning.encrypted_content"]));
            }
            if let Some(key) = profile.conversation.as_deref().and_then(cache_key) {
                body.insert("prompt_cache_key".into(), json!(key));
            }
        }
        // A text asked for once: its reasoning never goes back, and its prompt is not the conversation's.
        Mode::Complete => {}
    }
    Encoded { path: "responses".to_owned(), query: None, body: Value::Object(body) }
}

/// Whether the model is known to reason. Others refuse to be asked for reasoning.
fn reasons(profile: &Profile) -> bool {
    profile.reasoning().is_some() || !reasoning::efforts(profile).is_empty()
}

/// How much to reason, and whether people read a summary of it.
fn reasoning_settings(profile: &Profile, mode: Mode, effort: Option<Effort>) -> Map<String, Value> {
    let mut settings = Map::new();
    if let Some(effort) = effort {
        settings.insert("effort".into(), json!(effort.word()));
    }
    let has_summary = reasons(profile) && effort != Some(Effort::None) && !profile.learnt.no_summary;
    if mode == Mode::Chat && has_summary {
        settings.insert("summary".into(), json!("auto"));
    }
    settings
}

/// The conversation's name as a key of the service's cache; one of another form is replaced, the same way each time.
fn cache_key(conversation: &str) -> Option<String> {
    let is_fine =
        conversation.len() <= LONGEST_KEY && conversation.bytes().all(|byte| byte.is_ascii_graphic());
    match conversation {
        "" => None,
        name if is_fine => Some(name.to_owned()),
        name => Some(format!("{:016x}", encode::fingerprint(name.bytes()))),
    }
}

/// Schemas are sent as they are: `strict` would demand a form that foreign ones do not have, and is the default.
fn tool(tool: &ToolSpec) -> Value {
    let mut out = Map::new();
    out.insert("type".into(), json!("function"));
    out.insert("name".into(), json!(tool.name));
    if !tool.description.is_empty() {
        out.insert("description".into(), json!(tool.description));
    }
    out.insert("parameters".into(), encode::parameters(&tool.parameters));
    out.insert("strict".into(), json!(false));
    Value::Object(out)
}

fn input(profile: &Profile, request: &Request) -> Value {
    let mut ids = CallIds::of(request, |id| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(is_fine)
    });
    let sees = profile.sees();
    let mut items = Vec::new();
    for message in &request.messages {
        match message {
            RequestMessage::User { text, attachments } => {
                let mut content = content(text, attachments, sees);
                if content.is_empty() {
                    content.push(input_text(""));
                }
                items.push(json!({"role": "user", "content": content}));
            }
            RequestMessage::Assistant { .. } => push_reply(&mut items, message, &mut ids),
            RequestMessage::ToolResult { call, text, attachments, .. } => {
                let output = output(text, attachments, sees);
                let id = ids.result(call.as_str());
                items.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
            }
        }
    }
    Value::Array(items)
}

fn input_text(text: &str) -> Value {
    json!({"type": "input_text", "text": text})
}

/// The text with the labels of what cannot be seen, then the pictures.
fn content(text: &str, files: &[Attachment], sees: bool) -> Vec<Value> {
    let is_seen = |file: &&Attachment| sees && encode::picture(file, &encode::PICTURES).is_some();
    let text = encode::labelled(text, files.iter().filter(|file| !is_seen(file)));
    let first = (!text.is_empty()).then(|| input_text(&text));
    let picture = |url: String| json!({"type": "input_image", "image_url": url, "detail": "auto"});
    let pictures = files.iter().filter(is_seen).filter_map(encode::picture_url).map(picture);
    first.into_iter().chain(pictures).collect()
}

/// A tool's answer: mere text where there are no pictures.
fn output(text: &str, files: &[Attachment], sees: bool) -> Value {
    let parts = content(text, files, sees);
    match parts.as_slice() {
        [] => json!(""),
        [only] if only.get("text").is_some() => only.get("text").cloned().unwrap_or_default(),
        _ => Value::Array(parts),
    }
}

/// The items of a reply. Reasoning waits for what it led to; what is left over led to nothing and is not sent.
fn push_reply(items: &mut Vec<Value>, message: &RequestMessage, ids: &mut CallIds) {
    let mut waiting = Vec::new();
    let mut has_text = false;
    for part in message.parts() {
        let item = match part {
            Part::Thinking(Thinking::Item { json }) => {
                waiting.extend(reasoning_item(json));
                continue;
            }
            Part::Thinking(_) => continue,
            Part::Text { text, .. } if text.trim().is_empty() => continue,
            Part::Text { text, signature } => {
                // The blank line was put between two messages when they were read.
                let text = text.strip_prefix("\n\n").filter(|_| has_text).unwrap_or(text);
                has_text = true;
                said(text, signature)
            }
            Part::Call(call) => called(call, ids),
        };
        items.append(&mut waiting);
        items.push(item);
    }
}

/// Reasoning as it came; none without its encrypted content, which the service would look for in vain.
fn reasoning_item(json: &str) -> Option<Value> {
    let item: Map<String, Value> = serde_json::from_str(json).ok()?;
    let is_reasoning = item.get("type").and_then(Value::as_str) == Some("reasoning");
    let content = item.get("encrypted_content").and_then(Value::as_str).unwrap_or_default();
    if !is_reasoning || content.is_empty() {
        return None;
    }
    Some(Value::Object(item))
}

/// A message of the model.
fn said(text: &str, signature: Option<&str>) -> Value {
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    let mut item = Map::new();
    item.insert("type".into(), json!("message"));
    item.insert("role".into(), json!("assistant"));
    item.insert("content".into(), content);
    // What another service signed its text with is no phase.
    if let Some(phase) = signature.filter(|signature| PHASES.contains(signature)) {
        item.insert("phase".into(), json!(phase));
    }
    Value::Object(item)
}

fn called(call: &Call, ids: &mut CallIds) -> Value {
    json!({
        "type": "function_call",
        "call_id": ids.call(call.id.as_str()),
        "name": encode::tool_name(&call.name),
        "arguments": encode::arguments_text(&call.arguments),
    })
}
