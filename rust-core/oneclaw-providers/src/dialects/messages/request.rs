//! The body of an Anthropic message.
//!
//! The `thinking` parameter is never sent: the newest models refuse a budget and decide for themselves. Signed
//! thinking that the model gave in the open turn goes back unchanged.

use crate::Profile;
use crate::encode::{self, CallIds, Encoded, Mode};
use oneclaw_model::{Attachment, Part, Request, RequestMessage, Thinking, ToolSpec};
use serde_json::{Map, Value, json};

/// The output limit where the request names none; the service wants one, and every model can give this much.
pub const DEFAULT_MAX_TOKENS: u64 = 4_096;

/// Pictures the service takes.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Stands for a message of white space, which the service refuses.
const BLANK: &str = "(empty message)";

pub(crate) fn encode(profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let mut messages = messages(request);
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut system: Vec<Value> = Vec::new();
    if let Some(text) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        system.push(json!({"type": "text", "text": text}));
    }
    match mode {
        Mode::Chat => {
            // Three of the four marks allowed: what never changes, and where the next request goes on.
            mark(tools.last_mut());
            mark(system.last_mut());
            mark(messages.last_mut().and_then(|turn| turn.content.last_mut()));
        }
        // A text asked for once is not asked for again: a mark would only cost.
        Mode::Complete => {}
    }
    let mut body = Map::new();
    body.insert("model".into(), json!(profile.model));
    body.insert("stream".into(), json!(true));
    body.insert("max_tokens".into(), json!(request.max_output.unwrap_or(DEFAULT_MAX_TOKENS)));
    body.insert("messages".into(), messages.into_iter().map(Turn::into_value).collect());
    if !system.is_empty() {
        body.insert("system".into(), Value::Array(system));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools));
    }
    Encoded { path: "messages".to_owned(), query: None, body: Value::Object(body) }
}

/// Marks the end of a prefix to be cached. Thinking cannot carry the mark.
fn mark(block: Option<&mut Value>) {
    if let Some(Value::Object(block)) = block
        && block.get("type").and_then(Value::as_str) != Some("thinking")
    {
        block.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), json!(tool.name));
    if !tool.description.is_empty() {
        out.insert("description".into(), json!(tool.description));
    }
    out.insert("input_schema".into(), encode::parameters(&tool.parameters));
    Value::Object(out)
}

/// A message of the service: everything one side said in a row.
struct Turn {
    role: &'static str,
    content: Vec<Value>,
}

impl Turn {
    fn into_value(self) -> Value {
        json!({"role": self.role, "content": self.content})
    }
}

fn messages(request: &Request) -> Vec<Turn> {
    let mut ids = CallIds::of(request, |id| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        !id.is_empty() && id.chars().all(is_fine)
    });
    let mut turns: Vec<Turn> = Vec::new();
    for message in &request.messages {
        let (role, content) = match message {
            RequestMessage::User { text, attachments } => ("user", user_blocks(text, attachments)),
            RequestMessage::Assistant { .. } => ("assistant", assistant_blocks(message, &mut ids)),
            RequestMessage::ToolResult { call, text, failed, attachments, .. } => {
                ("user", vec![result_block(&ids.result(call.as_str()), text, *failed, attachments)])
            }
        };
        match turns.last_mut() {
            // Results follow their calls directly, so what joins them here stands behind them.
            Some(turn) if turn.role == role => turn.content.extend(content),
            _ if content.is_empty() => {}
            _ => turns.push(Turn { role, content }),
        }
    }
    trim_end(turns.last_mut());
    turns
}

/// A reply that the model is to go on with may not end in white space.
fn trim_end(turn: Option<&mut Turn>) {
    if let Some(Turn { role: "assistant", content }) = turn
        && let Some(Value::String(text)) = content.last_mut().and_then(|block| block.get_mut("text"))
    {
        text.truncate(text.trim_end().len());
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn picture_block(file: &Attachment) -> Option<Value> {
    let data = encode::picture(file, &PICTURES)?;
    Some(json!({"type": "image", "source": {"type": "base64", "media_type": file.mime, "data": data}}))
}

/// Pictures first, as the service advises, then the text.
fn user_blocks(text: &str, attachments: &[Attachment]) -> Vec<Value> {
    let mut blocks: Vec<Value> = attachments.iter().filter_map(picture_block).collect();
    let text = encode::labelled(text, attachments.iter().filter(|file| picture_block(file).is_none()));
    if !text.trim().is_empty() {
        blocks.push(text_block(&text));
    }
    if blocks.is_empty() {
        blocks.push(text_block(BLANK));
    }
    blocks
}

fn assistant_blocks(message: &RequestMessage, ids: &mut CallIds) -> Vec<Value> {
    let parts = message.parts();
    let mut blocks = Vec::new();
    for part in &parts {
        match part {
            Part::Thinking(Thinking::Signed { text, signature }) => {
                blocks.push(json!({"type": "thinking", "thinking": text, "signature": signature}));
            }
            Part::Thinking(Thinking::Redacted { data }) => {
                blocks.push(json!({"type": "redacted_thinking", "data": data}));
            }
            Part::Thinking(_) => {}
            Part::Text { text, .. } if text.trim().is_empty() => {}
            Part::Text { text, .. } => blocks.push(text_block(text)),
            Part::Call(call) => blocks.push(json!({
                "type": "tool_use",
                "id": ids.call(call.id.as_str()),
                "name": encode::tool_name(&call.name),
                "input": encode::arguments(&call.arguments),
            })),
        }
    }
    // Thinking that leads to nothing is refused.
    let is_all_thinking = parts.iter().all(|part| match part {
        Part::Thinking(_) => true,
        Part::Text { text, .. } => text.trim().is_empty(),
        Part::Call(_) => false,
    });
    if is_all_thinking { vec![] } else { blocks }
}

fn result_block(id: &str, text: &str, failed: bool, attachments: &[Attachment]) -> Value {
    let text = encode::labelled(text, attachments.iter().filter(|file| picture_block(file).is_none()));
    let pictures: Vec<Value> = attachments.iter().filter_map(picture_block).collect();
    let mut block = Map::new();
    block.insert("type".into(), json!("tool_result"));
    block.insert("tool_use_id".into(), json!(id));
    let is_blank = text.trim().is_empty();
    if pictures.is_empty() {
        if !is_blank {
            block.insert("content".into(), json!(text));
        }
    } else {
        let first = (!is_blank).then(|| text_block(&text));
        block.insert("content".into(), first.into_iter().chain(pictures).collect());
    }
    if failed {
        block.insert("is_error".into(), json!(true));
    }
    Value::Object(block)
}
