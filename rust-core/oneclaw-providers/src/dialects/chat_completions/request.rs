//! The body of an OpenAI chat completion, for OpenAI itself and for compatible servers.
//!
//! What differs between them is decided by what is known of the model and by the host: the name of the output limit, the
//! role of the system text, what reasoning models are told (`openai.rs`, `compatible.rs`). No sampling parameter is ever
//! sent: reasoning models refuse them, and the defaults are meant.

use super::compatible::{self, Told};
use super::openai;
use crate::address::{has_host, is_openai};
use crate::encode::{self, CallIds, Encoded, Mode};
use crate::{Endpoint, Profile, reasoning};
use oneclaw_model::{Attachment, Call, Request, RequestMessage, ToolSpec};
use serde_json::{Map, Value, json};

/// OpenAI's longest call id.
const LONGEST_ID: usize = 40;

pub(crate) fn encode(endpoint: &Endpoint, profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let model = profile.model.as_str();
    let server = Server::of(&endpoint.base_url, profile);
    let mut body = Map::new();
    body.insert("model".into(), json!(model));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    body.insert("messages".into(), messages(&server, profile, request));
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    let told = told(&server, profile, mode, !request.tools.is_empty());
    if let Some(max) = reasoning::output_limit(profile, request, told.room) {
        body.insert(openai::limit_name(profile, server.is_openais_own).into(), json!(max));
    }
    if let Some((name, value)) = told.field {
        body.insert(name.to_owned(), value);
    }
    Encoded { path: "chat/completions".to_owned(), query: None, body: Value::Object(body) }
}

/// What the model is told about reasoning.
fn told(server: &Server, profile: &Profile, mode: Mode, has_tools: bool) -> Told {
    if !server.is_openais_own {
        return compatible::told(profile, mode, has_tools);
    }
    let effort = openai::effort(profile, mode, has_tools);
    let field = effort.map(|effort| compatible::field(profile, effort));
    Told { field, room: openai::room(profile, mode, effort) }
}

/// What kind of server and model is asked.
struct Server {
    is_openais_own: bool,
    reasons: bool,
    is_mistral: bool,
    /// Whether the model sees pictures.
    sees: bool,
}

impl Server {
    fn of(base_url: &str, profile: &Profile) -> Self {
        let is_openais_own = is_openai(base_url) || openai::is_own_name(&profile.model);
        Self {
            is_openais_own,
            reasons: is_openais_own && openai::reasons(profile),
            is_mistral: has_host(base_url, "mistral.ai"),
            sees: profile.sees(),
        }
    }

    /// Whether a file goes along as a picture; others are named in the text.
    fn shows(&self, file: &Attachment) -> bool {
        self.sees && encode::picture(file, &encode::PICTURES).is_some()
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

fn tool(tool: &ToolSpec) -> Value {
    let mut function = Map::new();
    function.insert("name".into(), json!(tool.name));
    if !tool.description.is_empty() {
        function.insert("description".into(), json!(tool.description));
    }
    function.insert("parameters".into(), encode::parameters(&tool.parameters));
    json!({"type": "function", "function": function})
}

fn messages(server: &Server, profile: &Profile, request: &Request) -> Value {
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
                out.push(json!({"role": "user", "content": user_content(server, text, &files)}));
            }
            RequestMessage::Assistant { text, calls, trace } => {
                push_pictures(server, &mut out, &mut pictures);
                let mut message = assistant(text, calls, &mut ids);
                compatible::replay(profile, trace, !calls.is_empty(), &mut message);
                out.push(Value::Object(message));
            }
            RequestMessage::ToolResult { call, text, attachments, .. } => {
                let content = encode::labelled(text, attachments.iter());
                out.push(
                    json!({"role": "tool", "tool_call_id": ids.result(call.as_str()), "content": content}),
                );
                // Mistral's service refuses a user message after a tool message; the label has to do.
                if !server.is_mistral {
                    pictures.extend(attachments.iter().filter(|file| server.shows(file)));
                }
            }
        }
    }
    push_pictures(server, &mut out, &mut pictures);
    Value::Array(out)
}

fn push_pictures(server: &Server, out: &mut Vec<Value>, pictures: &mut Vec<&Attachment>) {
    let pictures = std::mem::take(pictures);
    if !pictures.is_empty() {
        out.push(json!({"role": "user", "content": user_content(server, "", &pictures)}));
    }
}

/// Plain text where there are no pictures, as the simplest servers know nothing else.
fn user_content(server: &Server, text: &str, files: &[&Attachment]) -> Value {
    let text = encode::labelled(text, files.iter().copied().filter(|file| !server.shows(file)));
    let mut parts: Vec<Value> = Vec::new();
    for file in files.iter().filter(|file| server.shows(file)) {
        if let Some(url) = encode::picture_url(file) {
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

fn assistant(text: &str, calls: &[Call], ids: &mut CallIds) -> Map<String, Value> {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { json!(text) };
    message.insert("content".into(), content);
    if !calls.is_empty() {
        let call = |call: &Call| {
            let function = json!({"name": encode::tool_name(&call.name), "arguments": encode::arguments_text(&call.arguments)});
            json!({"id": ids.call(call.id.as_str()), "type": "function", "function": function})
        };
        message.insert("tool_calls".into(), calls.iter().map(call).collect());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_or_the_name_tells_whose_model_it_is() {
        let server = |base_url: &str, model: &str| {
            Server::of(base_url, &Profile { model: model.to_owned(), ..reasoning::samples::unknown() })
        };
        assert!(server("http://127.0.0.1/v1", "gpt-5").is_openais_own);
        assert!(!server("http://127.0.0.1/v1", "llama3.2").is_openais_own);
        assert!(server("https://api.openai.com/v1", "ft:custom").is_openais_own);
        assert!(!server("https://api.openai.com.evil.example/v1", "x").is_openais_own);
    }
}
