//! The body of an OpenAI chat completion, for OpenAI itself and for compatible servers.
//!
//! What differs between them is decided by the model's name and the host: the name of the output limit, the role of
//! the system text, and what reasoning models are told. No sampling parameter is ever sent: reasoning models refuse
//! them, and the defaults are meant.

use crate::address::{has_host, is_openai};
use crate::encode::{self, CallIds, Encoded, Mode, REASONING_ROOM};
use crate::{Endpoint, Profile};
use oneclaw_model::{Attachment, Call, Request, RequestMessage, ToolSpec};
use serde_json::{Map, Value, json};

/// Pictures that models of this dialect see.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// OpenAI's longest call id.
const LONGEST_ID: usize = 40;

pub(crate) fn encode(endpoint: &Endpoint, profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let model = profile.model.as_str();
    let server = Server::of(&endpoint.base_url, model);
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    body.insert("messages".into(), messages(&server, request));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    let effort = if server.reasons && mode == Mode::Complete { server.least_effort } else { None };
    let reasons_unasked = server.reasons && mode == Mode::Complete && effort != Some(NO_EFFORT);
    if let Some(max) = request.max_output {
        let room = if reasons_unasked { REASONING_ROOM } else { 0 };
        body.insert(server.limit_name().into(), json!(max.saturating_add(room)));
    }
    if let Some(effort) = effort {
        body.insert("reasoning_effort".into(), json!(effort));
    }
    Encoded { path: "chat/completions".to_owned(), query: None, body: Value::Object(body) }
}

/// The effort that turns reasoning off.
const NO_EFFORT: &str = "none";

/// What kind of server and model is asked.
struct Server {
    is_openais_own: bool,
    reasons: bool,
    /// The least reasoning it can be told to do; `None` where it cannot be told.
    least_effort: Option<&'static str>,
    is_mistral: bool,
}

impl Server {
    fn of(base_url: &str, model: &str) -> Self {
        let name = encode::bare_name(model);
        Self {
            is_openais_own: is_openai(base_url) || is_openai_name(&name),
            reasons: is_reasoning_name(&name),
            least_effort: least_effort(&name),
            is_mistral: has_host(base_url, "mistral.ai"),
        }
    }

    fn limit_name(&self) -> &'static str {
        if self.is_openais_own { "max_completion_tokens" } else { "max_tokens" }
    }

    fn system_role(&self) -> &'static str {
        if self.reasons { "developer" } else { "system" }
    }

    fn id_rule(&self) -> fn(&str) -> bool {
        if self.is_mistral {
            |id| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric())
        } else {
            |id| !id.is_empty() && id.len() <= LONGEST_ID
        }
    }
}

/// `gpt-oss` is open: other servers run it, with their own rules.
fn is_openai_name(name: &str) -> bool {
    (name.starts_with("gpt-") && !name.starts_with("gpt-oss"))
        || name.starts_with("chatgpt")
        || is_o_series(name)
}

/// `o1`, `o3-mini` and so on; not `olmo` or `orca`.
fn is_o_series(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next() == Some('o') && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// The generation of a GPT model, such as 5 and 1 for `gpt-5.1-mini`; zeros for others.
fn gpt_generation(name: &str) -> (u32, u32) {
    let mut numbers = name.strip_prefix("gpt-").unwrap_or_default().splitn(2, '.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// From GPT-5 on, all but the chat variants reason.
fn is_reasoning_name(name: &str) -> bool {
    let is_gpt = gpt_generation(name).0 >= 5 && !name.contains("-chat");
    is_gpt || ["o1", "o3", "o4"].iter().any(|start| name.starts_with(start))
}

/// From GPT-5.1 on reasoning can be turned off, but for Codex; before, it can be kept short. The pro models take one
/// effort only, their own.
fn least_effort(name: &str) -> Option<&'static str> {
    if name.contains("-pro") {
        return None;
    }
    let can_do_without = gpt_generation(name) >= (5, 1) && !name.contains("codex");
    Some(if can_do_without { NO_EFFORT } else { "low" })
}

fn tool(tool: &ToolSpec) -> Value {
    let mut function = Map::new();
    function.insert("name".into(), json!(tool.name));
    if !tool.description.is_empty() {
        function.insert("description".into(), json!(tool.description));
    }
    function.insert("parameters".into(), encode::parameters(&tool.parameters));
    json!({"type": "function", "function": function})
}

fn messages(server: &Server, request: &Request) -> Value {
    let mut ids = CallIds::of(request, server.id_rule());
    let mut out = Vec::new();
    if let Some(system) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        out.push(json!({"role": server.system_role(), "content": system}));
    }
    // Tool messages take text only: pictures of a batch of results wait here for the user message after it.
    let mut pictures: Vec<&Attachment> = Vec::new();
    for message in &request.messages {
        match message {
            RequestMessage::User { text, attachments } => {
                let waiting = std::mem::take(&mut pictures);
                let files: Vec<&Attachment> = waiting.into_iter().chain(attachments).collect();
                out.push(json!({"role": "user", "content": user_content(text, &files)}));
            }
            RequestMessage::Assistant { text, calls, .. } => {
                push_pictures(&mut out, &mut pictures);
                out.push(assistant(text, calls, &mut ids));
            }
            RequestMessage::ToolResult { call, text, attachments, .. } => {
                let content = encode::labelled(text, attachments.iter());
                out.push(
                    json!({"role": "tool", "tool_call_id": ids.result(call.as_str()), "content": content}),
                );
                // Mistral's service refuses a user message after a tool message; the label has to do.
                if !server.is_mistral {
                    pictures.extend(attachments.iter().filter(|file| is_picture(file)));
                }
            }
        }
    }
    push_pictures(&mut out, &mut pictures);
    Value::Array(out)
}

fn push_pictures(out: &mut Vec<Value>, pictures: &mut Vec<&Attachment>) {
    let pictures = std::mem::take(pictures);
    if !pictures.is_empty() {
        out.push(json!({"role": "user", "content": user_content("", &pictures)}));
    }
}

fn is_picture(file: &Attachment) -> bool {
    encode::picture(file, &PICTURES).is_some()
}

/// Plain text where there are no pictures, as the simplest servers know nothing else.
fn user_content(text: &str, files: &[&Attachment]) -> Value {
    let text = encode::labelled(text, files.iter().copied().filter(|file| !is_picture(file)));
    let mut parts: Vec<Value> = Vec::new();
    for file in files {
        if let Some(data) = encode::picture(file, &PICTURES) {
            let url = format!("data:{};base64,{data}", file.mime);
            parts.push(json!({"type": "image_url", "image_url": {"url": url}}));
        }
    }
    if parts.is_empty() {
        return Value::String(text);
    }
    if !text.is_empty() {
        parts.insert(0, json!({"type": "text", "text": text}));
    }
    Value::Array(parts)
}

fn assistant(text: &str, calls: &[Call], ids: &mut CallIds) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { json!(text) };
    message.insert("content".into(), content);
    if !calls.is_empty() {
        let call = |call: &Call| {
            let function =
                json!({"name": encode::tool_name(&call.name), "arguments": arguments(&call.arguments)});
            json!({"id": ids.call(call.id.as_str()), "type": "function", "function": function})
        };
        message.insert("tool_calls".into(), calls.iter().map(call).collect());
    }
    Value::Object(message)
}

/// The text as the model wrote it, if it is an object: several servers parse it and fail on anything else.
fn arguments(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => Value::Object(encode::arguments(text)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_whose_model_it_is_and_whether_it_reasons() {
        for (model, own, reasons) in [
            ("gpt-4o", true, false),
            ("chatgpt-4o-latest", true, false),
            ("openai/gpt-5-mini", true, true),
            ("gpt-5-chat-latest", true, false),
            ("gpt-5.2", true, true),
            ("gpt-6", true, true),
            ("gpt-10-mini", true, true),
            ("gpt-4.5-preview", true, false),
            ("o1", true, true),
            ("o3-mini", true, true),
            ("o4-mini", true, true),
            ("gpt-oss-120b", false, false),
            ("olmo-2", false, false),
            ("orca-mini", false, false),
            ("llama3.2", false, false),
        ] {
            let server = Server::of("http://127.0.0.1/v1", model);
            assert_eq!((server.is_openais_own, server.reasons), (own, reasons), "{model}");
        }
        assert!(Server::of("https://api.openai.com/v1", "ft:custom").is_openais_own);
        assert!(!Server::of("https://api.openai.com.evil.example/v1", "x").is_openais_own);
    }

    #[test]
    fn completions_reason_as_little_as_the_model_allows() {
        for (model, effort) in [
            ("gpt-5", Some("low")),
            ("gpt-5-mini", Some("low")),
            ("o3-mini", Some("low")),
            ("gpt-5.1", Some("none")),
            ("openai/gpt-5.2-2026-01-01", Some("none")),
            ("gpt-6-mini", Some("none")),
            ("gpt-5.1-codex-mini", Some("low")),
            ("gpt-5-pro", None),
            ("gpt-5.2-pro", None),
            ("o3-pro", None),
            ("gpt-4o", None),
        ] {
            let request = Request { max_output: Some(100), ..Request::default() };
            let endpoint = Endpoint {
                kind: oneclaw_model::ProviderKind::OpenAi,
                base_url: "https://api.openai.com/v1".to_owned(),
                key: None,
            };
            let body = |mode| encode(&endpoint, &Profile::of(&endpoint, model), &request, mode).body;
            let (complete, chat) = (body(Mode::Complete), body(Mode::Chat));
            assert_eq!(complete.get("reasoning_effort").and_then(Value::as_str), effort, "{model}");
            let has_room = model != "gpt-4o" && effort != Some("none");
            let room = if has_room { REASONING_ROOM } else { 0 };
            assert_eq!(complete["max_completion_tokens"], 100 + room, "{model}");
            assert_eq!((chat.get("reasoning_effort"), &chat["max_completion_tokens"]), (None, &json!(100)));
        }
    }
}
