//! The body of an Anthropic message.
//!
//! Thinking that the model gave in the open turn goes back unchanged, block by block in its order. Sampling parameters and
//! a tool choice are never sent.

use super::thinking::{self, Told};
use crate::Profile;
use crate::encode::{self, CallIds, Encoded, Mode};
use oneclaw_catalogue::Refusal;
use oneclaw_model::{Attachment, Part, Request, RequestMessage, Thinking, ToolSpec};
use serde_json::{Map, Value, json};

/// The output limit where the request names none; the service wants one, and every model can give this much.
pub const DEFAULT_MAX_TOKENS: u64 = 4_096;

/// The user's line after a conversation that ends with the assistant, for models that refuse such a one.
const GOES_ON: &str = "(The conversation goes on.)";

pub(crate) fn encode(profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let mut messages = messages(profile, request);
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut system: Vec<Value> = Vec::new();
    if let Some(text) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        system.push(json!({"type": "text", "text": text}));
    }
    match mode {
        Mode::Chat => {
            // Three of the four marks allowed: what never changes, and where the next request goes on.
            mark(tools.iter_mut());
            mark(system.iter_mut());
            mark(messages.iter_mut().flat_map(|turn| turn.content.iter_mut()));
        }
        // A text asked for once is not asked for again: a mark would only cost.
        Mode::Complete => {}
    }
    let Told { thinking, effort, max_tokens } = thinking::told(profile, request, mode);
    let mut body = Map::new();
    body.insert("model".into(), json!(profile.model));
    body.insert("stream".into(), json!(true));
    body.insert("max_tokens".into(), json!(max_tokens));
    if let Some(thinking) = thinking {
        body.insert("thinking".into(), thinking);
    }
    if let Some(effort) = effort {
        body.insert("output_config".into(), json!({"effort": effort.word()}));
    }
    body.insert("messages".into(), messages.into_iter().map(Turn::into_value).collect());
    if !system.is_empty() {
        body.insert("system".into(), Value::Array(system));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools));
    }
    Encoded { path: "messages".to_owned(), query: None, body: Value::Object(body) }
}

/// Marks the end of a prefix to be cached, at the last block that can carry the mark.
fn mark<'a>(blocks: impl DoubleEndedIterator<Item = &'a mut Value>) {
    let mut blocks = blocks.filter_map(Value::as_object_mut);
    let is_thinking = |block: &Map<String, Value>| {
        matches!(block.get("type").and_then(Value::as_str), Some("thinking" | "redacted_thinking"))
    };
    if let Some(block) = blocks.rfind(|block| !is_thinking(block)) {
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

fn messages(profile: &Profile, request: &Request) -> Vec<Turn> {
    let sees = profile.sees();
    let mut ids = CallIds::of(request, |id| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        !id.is_empty() && id.chars().all(is_fine)
    });
    let mut turns: Vec<Turn> = Vec::new();
    for message in &request.messages {
        let (role, content) = match message {
            RequestMessage::User { text, attachments } => ("user", user_blocks(text, attachments, sees)),
            RequestMessage::Assistant { .. } => ("assistant", assistant_blocks(message, &mut ids)),
            RequestMessage::ToolResult { call, text, failed, attachments, .. } => {
                // A failed result may hold text only.
                let mut block = result_block(&ids.result(call.as_str()), text, attachments, sees && !failed);
                if *failed {
                    block.insert("is_error".into(), json!(true));
                }
                ("user", vec![Value::Object(block)])
            }
        };
        match turns.last_mut() {
            // Results follow their calls directly, so what joins them here stands behind them.
            Some(turn) if turn.role == role => turn.content.extend(content),
            _ if content.is_empty() => {}
            _ => turns.push(Turn { role, content }),
        }
    }
    end(profile, request, &mut turns);
    turns
}

/// A conversation that ends with the assistant. A turn that the service paused goes back as it is: it has a trace, as the
/// model's own words in the open turn do. Everything else is a beginning that the model is to go on with: some models
/// refuse it, and the others refuse white space at its end.
fn end(profile: &Profile, request: &Request, turns: &mut Vec<Turn>) {
    let Some(Turn { role: "assistant", content }) = turns.last_mut() else { return };
    let is_paused =
        matches!(request.messages.last(), Some(RequestMessage::Assistant { trace, .. }) if !trace.is_empty());
    if is_paused {
        return;
    }
    if profile.facts.as_ref().is_some_and(|facts| facts.refuses(Refusal::Prefill)) {
        turns.push(Turn { role: "user", content: vec![text_block(GOES_ON)] });
    } else if let Some(Value::String(text)) = content.last_mut().and_then(|block| block.get_mut("text")) {
        text.truncate(text.trim_end().len());
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn picture_block(file: &Attachment) -> Option<Value> {
    let data = encode::picture(file, &encode::PICTURES)?;
    Some(json!({"type": "image", "source": {"type": "base64", "media_type": file.mime, "data": data}}))
}

/// The pictures that go along, and the text with the labels of all other files.
fn split(text: &str, attachments: &[Attachment], sees: bool) -> (Vec<Value>, String) {
    let block = |file: &Attachment| picture_block(file).filter(|_| sees);
    let pictures = attachments.iter().filter_map(block).collect();
    (pictures, encode::labelled(text, attachments.iter().filter(|file| block(file).is_none())))
}

/// Pictures first, as the service advises, then the text.
fn user_blocks(text: &str, attachments: &[Attachment], sees: bool) -> Vec<Value> {
    let (mut blocks, text) = split(text, attachments, sees);
    if !text.trim().is_empty() {
        blocks.push(text_block(&text));
    }
    if blocks.is_empty() {
        blocks.push(text_block(encode::BLANK));
    }
    blocks
}

/// A part that cannot go back letter for letter: the service refuses blank text and odd names, and numbers of more digits
/// than a double has lose some.
fn is_changed(part: &Part<'_>) -> bool {
    const EXACT_DIGITS: usize = 15;
    match part {
        Part::Thinking(_) => false,
        Part::Text { text, .. } => text.trim().is_empty(),
        Part::Call(call) => {
            let digits = call.arguments.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
            encode::tool_name(&call.name) != call.name || digits.is_some_and(|most| most > EXACT_DIGITS)
        }
    }
}

fn assistant_blocks(message: &RequestMessage, ids: &mut CallIds) -> Vec<Value> {
    let mut parts = message.parts();
    // Thinking is bound to what stands before it, so it cannot follow something that goes back otherwise; and of one message
    // all of it goes back, or none.
    let last_thinking = parts.iter().rposition(|part| matches!(part, Part::Thinking(_))).unwrap_or(0);
    if parts.iter().take(last_thinking).any(is_changed) {
        parts.retain(|part| !matches!(part, Part::Thinking(_)));
    }
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

fn result_block(id: &str, text: &str, attachments: &[Attachment], sees: bool) -> Map<String, Value> {
    let (pictures, text) = split(text, attachments, sees);
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
    block
}
