//! What is sent to each service: whole bodies as files that a person can review, and what holds for every request.
//!
//! The files in `tests/golden/encode` are compared as a whole; `UPDATE_GOLDEN=1` writes them anew.

mod counting;
mod families;

use crate::golden;
use oneclaw_context::Moment;
use oneclaw_model::{
    Attachment, Call, Dialect, Piece, ProviderKind, Request, RequestMessage, Thinking, ToolSpec,
};
use oneclaw_providers::{Adjustments, Encoded, Endpoint, Mode, Profile, encode};
use oneclaw_tests::{generate, plan_at};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn folder(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ChatCompletions => "openai",
        Dialect::Responses => "responses",
        Dialect::Messages => "anthropic",
        Dialect::GenerateContent => "gemini",
    }
}

fn usual_model(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::ChatCompletions => "gpt-4o",
        Dialect::Responses => "gpt-6-sol",
        Dialect::Messages => "claude-sonnet-4-5-20250929",
        Dialect::GenerateContent => "gemini-2.5-flash",
    }
}

fn endpoint(dialect: Dialect) -> Endpoint {
    let kind = dialect.kind();
    let base_url = match kind {
        ProviderKind::OpenAi => "https://api.openai.com/v1",
        ProviderKind::Anthropic => "https://api.anthropic.com/v1",
        ProviderKind::Gemini => "https://generativelanguage.googleapis.com/v1beta",
    };
    Endpoint { kind, base_url: base_url.into(), key: None }
}

/// A model that is spoken to in that dialect, also where the catalogue knows another one.
fn profile(dialect: Dialect, endpoint: &Endpoint, model: &str) -> Profile {
    let usual = Profile::of(endpoint, model);
    let learnt = Adjustments { dialect: Some(dialect), ..Adjustments::default() };
    Profile { learnt, conversation: Some("session-1".into()), ..usual }
}

/// The request as the dialect's usual model gets it.
fn usual(dialect: Dialect, request: &Request, mode: Mode) -> Encoded {
    let endpoint = endpoint(dialect);
    encode(&endpoint, &profile(dialect, &endpoint, usual_model(dialect)), request, mode)
}

// ---- builders ----

fn user(text: &str) -> RequestMessage {
    user_with(text, vec![])
}

fn user_with(text: &str, attachments: Vec<Attachment>) -> RequestMessage {
    RequestMessage::User { text: text.into(), attachments }
}

fn assistant(text: &str, calls: Vec<Call>) -> RequestMessage {
    RequestMessage::Assistant { text: text.into(), calls, trace: vec![] }
}

fn call(id: &str, name: &str, arguments: &str) -> Call {
    Call { id: id.into(), name: name.into(), arguments: arguments.into(), signature: None }
}

fn signed(call: Call, signature: &str) -> Call {
    Call { signature: Some(signature.into()), ..call }
}

fn result(id: &str, name: &str, text: &str) -> RequestMessage {
    result_with(id, name, text, vec![])
}

fn result_with(id: &str, name: &str, text: &str, attachments: Vec<Attachment>) -> RequestMessage {
    RequestMessage::ToolResult {
        call: id.into(),
        name: name.into(),
        text: text.into(),
        failed: false,
        attachments,
    }
}

fn failed(id: &str, name: &str, text: &str) -> RequestMessage {
    RequestMessage::ToolResult {
        call: id.into(),
        name: name.into(),
        text: text.into(),
        failed: true,
        attachments: vec![],
    }
}

fn file(mime: &str, name: &str, data: Option<&str>) -> Attachment {
    Attachment { mime: mime.into(), name: name.into(), width: None, height: None, data: data.map(Into::into) }
}

fn picture(name: &str) -> Attachment {
    file("image/png", name, Some("iVBORw0KGgo="))
}

fn tool(name: &str, parameters: Value) -> ToolSpec {
    ToolSpec { name: name.into(), description: format!("Does {name}."), parameters, protected: false }
}

fn read_file() -> ToolSpec {
    let path = json!({"type": "string", "description": "Where it is"});
    tool("read_file", json!({"type": "object", "properties": {"path": path}, "required": ["path"]}))
}

fn request(messages: Vec<RequestMessage>) -> Request {
    Request { system: None, tools: vec![], messages, max_output: Some(1_000) }
}

// ---- scenarios ----

fn plain() -> Request {
    request(vec![user("Hello"), assistant("Hi. What is it?", vec![]), user("Nothing much.")])
}

fn system() -> Request {
    Request { system: Some("You are brief.".into()), ..plain() }
}

fn tools_parallel() -> Request {
    let calls = vec![call("c1", "read_file", r#"{"path":"a.md"}"#), call("c2", "get_current_time", "{}")];
    Request {
        system: Some("You are brief.".into()),
        tools: vec![read_file(), tool("get_current_time", json!({"type": "object", "properties": {}}))],
        messages: vec![
            user("What is in a.md, and what time is it?"),
            assistant("I will look.", calls),
            result("c1", "read_file", "# A"),
            result("c2", "get_current_time", "12:00"),
            assistant("A heading; noon.", vec![]),
            user("Thanks."),
        ],
        max_output: Some(1_000),
    }
}

/// A failed call, arguments that are no JSON, an empty answer, a name no tool has.
fn tool_error() -> Request {
    let calls = vec![
        call("c1", "read_file", r#"{"path":"#),
        call("c2", "functions.read file", r#"{"path":"b.md"}"#),
        call("c3", "read_file", r#"{"path":"empty.md"}"#),
    ];
    Request {
        tools: vec![read_file()],
        ..request(vec![
            user("Read."),
            assistant("", calls),
            failed("c1", "read_file", "The arguments are no JSON."),
            failed("c2", "functions.read file", "No such tool."),
            result("c3", "read_file", ""),
        ])
    }
}

fn thinking_replay() -> Request {
    let thought = |text: &str, signature: &str| {
        Piece::Thinking(Thinking::Signed { text: text.into(), signature: signature.into() })
    };
    let trace = vec![thought("The file will tell.", "c2ln+/="), thought("", "aGlkZGVu")];
    let calls = vec![call("c1", "read_file", r#"{"path":"a.md"}"#)];
    Request {
        tools: vec![read_file()],
        ..request(vec![
            user("What is in a.md?"),
            RequestMessage::Assistant { text: "I will look.".into(), calls, trace },
            result("c1", "read_file", "# A"),
        ])
    }
}

/// Reasoning that came in fields, of a reply with calls and of one without; of the first call none is known.
fn reasoning_fields() -> Request {
    let field = |name: &str, json: Value| {
        Piece::Thinking(Thinking::Field { name: name.into(), json: json.to_string() })
    };
    let details = json!([{"type": "reasoning.text", "text": "The file.", "signature": "c2ln+/=", "index": 0},
        {"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1"}]);
    let read = |id: &str| vec![call(id, "read_file", r#"{"path":"a.md"}"#)];
    let trace = vec![field("reasoning_content", json!("The file.")), field("reasoning_details", details)];
    Request {
        system: Some("You are brief.".into()),
        tools: vec![read_file()],
        ..request(vec![
            user("What is in a.md?"),
            assistant("", read("c1")),
            result("c1", "read_file", "# A"),
            RequestMessage::Assistant { text: "Again.".into(), calls: read("c2"), trace: trace.clone() },
            result("c2", "read_file", "# A"),
            RequestMessage::Assistant { text: "A heading.".into(), calls: vec![], trace },
            user_with("And this?", vec![picture("door.png")]),
        ])
    }
}

/// Reasoning of OpenAI's before a message and before a call, and some that led to nothing.
fn reasoning_replay() -> Request {
    let item = |id: &str| {
        let json =
            json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": format!("gAAA{id}")});
        Piece::Thinking(Thinking::Item { json: json.to_string() })
    };
    let said = |bytes: usize, phase: &str| Piece::Text { bytes, signature: Some(phase.into()) };
    let calls = vec![
        call("call_1", "read_file", r#"{"path":"a.md"}"#),
        call("call_2", "read_file", r#"{"path":"b.md"}"#),
    ];
    let trace =
        vec![item("rs_1"), said(12, "commentary"), item("rs_2"), Piece::Call, Piece::Call, item("rs_3")];
    let answer = vec![item("rs_4"), said(13, "final_answer")];
    Request {
        tools: vec![read_file()],
        ..request(vec![
            user("What is in a.md and b.md?"),
            RequestMessage::Assistant { text: "I will look.".into(), calls, trace },
            result("call_1", "read_file", "# A"),
            result("call_2", "read_file", "# B"),
            RequestMessage::Assistant { text: "Two headings.".into(), calls: vec![], trace: answer },
            user("Thanks."),
        ])
    }
}

/// Of four files, two pictures go along in each dialect at most.
fn image_user() -> Request {
    let files = vec![
        picture("door.png"),
        file("image/png", "lost.png", None),
        file("image/heic", "step.heic", Some("AAAA")),
        file("application/pdf", "plan.pdf", Some("JVBERg==")),
    ];
    request(vec![
        user_with("Is it step-free?", files),
        assistant("Yes.", vec![]),
        user_with("", vec![picture("b.png")]),
    ])
}

/// Pictures in two batches: before an answer of the model, and before words of the user.
fn image_result() -> Request {
    let shot = |id: &str| call(id, "screenshot", "{}");
    Request {
        tools: vec![tool("screenshot", json!({"type": "object", "properties": {}}))],
        ..request(vec![
            user("Look."),
            assistant("", vec![shot("c1"), shot("c2")]),
            result_with("c1", "screenshot", "Done.", vec![picture("one.png")]),
            result_with(
                "c2",
                "screenshot",
                "",
                vec![picture("two.png"), file("text/plain", "log.txt", None)],
            ),
            assistant("", vec![shot("c3")]),
            result_with("c3", "screenshot", "Again.", vec![picture("three.png")]),
            user("And now?"),
        ])
    }
}

/// Tools have been used, and none may be declared.
fn complete() -> Request {
    let mut request = tools_parallel();
    request.messages.truncate(4);
    request.messages.push(failed("c9", "read_file", "lost"));
    request.messages.push(user("Summarise the conversation."));
    request
}

/// Tools have been used, and none is offered any more.
fn tools_gone() -> Request {
    Request { tools: vec![], ..tools_parallel() }
}

fn unicode() -> Request {
    let text = "Zoë said: „naïve“ — 漢字, العربية, 😀👩‍👩‍👧, \u{0}\u{1b}\u{2028} \"quotes\" \\ and\r\nlines";
    Request {
        system: Some(text.into()),
        tools: vec![read_file()],
        ..request(vec![
            user(text),
            assistant(text, vec![call("c1", "read_file", &json!({"path": text}).to_string())]),
            result("c1", "read_file", text),
        ])
    }
}

fn max_output_none() -> Request {
    Request { max_output: None, ..plain() }
}

fn odd_schemas() -> Request {
    let deep = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "kind": {"const": "file"},
            "mode": {"enum": ["r", "w", null]},
            "level": {"type": "integer", "enum": [1, 2, 3], "description": "How deep.", "format": "uint8"},
            "limit": {"type": ["integer", "null"], "minimum": 1, "format": "int64"},
            "id": {"type": ["string", "integer"]},
            "tags": {"type": "array"},
            "pair": {"type": "array", "items": [{"type": "number"}, {"type": "string"}]},
            "when": {"type": "string", "format": "date-time"},
            "link": {"type": "string", "format": "uri"},
            "where": {"$ref": "#/$defs/place", "description": "From."},
            "tree": {"$ref": "#/$defs/missing"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "either": {"oneOf": [{"type": "string"}, {"type": "boolean"}]},
            "both": {"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b", "c"]}]},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": true
        },
        "required": ["kind", "gone"],
        "$defs": {"place": {"type": "object", "properties": {"x": {"type": "number", "format": "double"}}}}
    });
    Request {
        tools: vec![
            tool("deep", deep),
            tool("nothing", Value::Null),
            tool("bare", json!({"type": "object"})),
            tool("choice", json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}}]})),
            ToolSpec { description: String::new(), ..tool("silent", json!({})) },
        ],
        ..request(vec![user("Go.")])
    }
}

/// Ids of another service, some of which look alike once cleaned.
fn foreign_ids() -> Request {
    let long = "call_".to_owned() + &"x".repeat(60);
    let ids = ["a.b", "a_b", "a b", long.as_str()];
    let calls = ids.iter().map(|id| call(id, "read_file", "{}")).collect();
    let results = ids.iter().map(|id| result(id, "read_file", "ok"));
    let messages = [user("Read."), assistant("", calls)].into_iter().chain(results).collect();
    Request { tools: vec![read_file()], ..request(messages) }
}

/// White space where text should be.
fn blank() -> Request {
    Request {
        system: Some(" \n".into()),
        tools: vec![read_file()],
        ..request(vec![
            user("  "),
            assistant("\n", vec![]),
            user("Hello?"),
            assistant(" ", vec![call("c1", "t", "")]),
            result("c1", "t", " "),
        ])
    }
}

fn signature() -> Request {
    let first = vec![
        signed(call("c1", "read_file", r#"{"path":"a.md"}"#), "c2lnbmF0dXJl+/="),
        call("c2", "read_file", r#"{"path":"b.md"}"#),
    ];
    Request {
        tools: vec![read_file()],
        ..request(vec![
            user("Before."),
            assistant("", vec![call("c0", "read_file", r#"{"path":"old.md"}"#)]),
            result("c0", "read_file", "old"),
            assistant("It is old.", vec![]),
            user("Compare a.md and b.md."),
            assistant("", first),
            result("c1", "read_file", "A"),
            result("c2", "read_file", "B"),
            assistant("", vec![call("c3", "read_file", r#"{"path":"c.md"}"#)]),
            result("c3", "read_file", "C"),
        ])
    }
}

/// A file's name and what it shows in every dialect.
type Common = (&'static str, fn() -> Request, Mode);

/// What each file shows: name, dialect, address if another one, model, request, mode.
struct Scenario {
    name: &'static str,
    dialect: Dialect,
    base_url: Option<&'static str>,
    model: &'static str,
    request: fn() -> Request,
    mode: Mode,
}

fn scenarios() -> Vec<Scenario> {
    const COMMON: [Common; 14] = [
        ("plain", plain, Mode::Chat),
        ("system", system, Mode::Chat),
        ("tools-parallel", tools_parallel, Mode::Chat),
        ("tool-error", tool_error, Mode::Chat),
        ("thinking-replay", thinking_replay, Mode::Chat),
        ("image-user", image_user, Mode::Chat),
        ("image-result", image_result, Mode::Chat),
        ("complete", complete, Mode::Complete),
        ("tools-gone", tools_gone, Mode::Chat),
        ("unicode", unicode, Mode::Chat),
        ("max-output-none", max_output_none, Mode::Chat),
        ("odd-schemas", odd_schemas, Mode::Chat),
        ("foreign-ids", foreign_ids, Mode::Chat),
        ("blank", blank, Mode::Chat),
    ];
    const LOCAL: Option<&str> = Some("http://127.0.0.1:11434/v1");
    const MISTRAL: Option<&str> = Some("https://api.mistral.ai/v1");
    const DEEPSEEK: Option<&str> = Some("https://api.deepseek.com/v1");
    const KIMI: Option<&str> = Some("https://api.moonshot.ai/v1");
    const ROUTER: Option<&str> = Some("https://openrouter.ai/api/v1");
    const LLAMA_CPP: Option<&str> = Some("http://127.0.0.1:8080/v1");
    let (openai, gemini) = (Dialect::ChatCompletions, Dialect::GenerateContent);
    let responses = Dialect::Responses;
    let own = [
        ("reasoning-model", openai, None, "o3-mini", system as fn() -> Request, Mode::Chat),
        ("reasoning-complete", openai, None, "gpt-5-mini", complete, Mode::Complete),
        ("reasoning-tools", openai, None, "gpt-5.6", tools_parallel, Mode::Chat),
        ("reasoning-replay", responses, None, "gpt-6-sol", reasoning_replay, Mode::Chat),
        ("reasoning-none", responses, None, "gpt-4o", tools_parallel, Mode::Chat),
        ("complete-low", responses, None, "gpt-6.1-sol", complete, Mode::Complete),
        ("complete-pro", responses, None, "gpt-5.5-pro", complete, Mode::Complete),
        ("compatible-server", openai, LOCAL, "llama3.2", system, Mode::Chat),
        ("compatible-mistral", openai, MISTRAL, "mistral-large-latest", image_result, Mode::Chat),
        ("compatible-deepseek", openai, DEEPSEEK, "deepseek-v4-pro", reasoning_fields, Mode::Chat),
        ("compatible-deepseek-complete", openai, DEEPSEEK, "deepseek-v4-pro", complete, Mode::Complete),
        ("compatible-kimi", openai, KIMI, "kimi-k2.6", reasoning_fields, Mode::Chat),
        ("compatible-kimi-complete", openai, KIMI, "kimi-k3", complete, Mode::Complete),
        ("compatible-openrouter", openai, ROUTER, "anthropic/claude-opus-5", reasoning_fields, Mode::Chat),
        ("compatible-openrouter-complete", openai, ROUTER, "openai/gpt-5.4", complete, Mode::Complete),
        ("compatible-mistral-complete", openai, MISTRAL, "mistral-medium-latest", complete, Mode::Complete),
        ("compatible-llama-cpp", openai, LLAMA_CPP, "qwen3.5-9b", reasoning_fields, Mode::Chat),
        ("compatible-llama-cpp-complete", openai, LLAMA_CPP, "qwen3.5-9b", complete, Mode::Complete),
        ("complete-pro", gemini, None, "gemini-2.5-pro", complete, Mode::Complete),
        ("complete-newer", gemini, None, "gemini-3-pro-preview", complete, Mode::Complete),
        ("signature", gemini, None, "gemini-2.5-pro", signature, Mode::Chat),
        ("signature-missing", gemini, None, "models/gemini-3-pro-preview", signature, Mode::Chat),
    ];
    let common = Dialect::ALL.into_iter().flat_map(|dialect| {
        COMMON.map(|(name, request, mode)| Scenario {
            name,
            dialect,
            base_url: None,
            model: usual_model(dialect),
            request,
            mode,
        })
    });
    let own = own.map(|(name, dialect, base_url, model, request, mode)| Scenario {
        name,
        dialect,
        base_url,
        model,
        request,
        mode,
    });
    common.chain(own).collect()
}

impl Scenario {
    fn path(&self) -> PathBuf {
        root().join(folder(self.dialect)).join(format!("{}.json", self.name))
    }

    fn shown(&self) -> String {
        let usual = endpoint(self.dialect);
        let base_url = self.base_url.map_or(usual.base_url.clone(), str::to_owned);
        let endpoint = Endpoint { base_url, ..usual };
        let profile = profile(self.dialect, &endpoint, self.model);
        shown(&endpoint, &profile, &(self.request)(), self.mode)
    }
}

/// What is sent, as a file shows it.
fn shown(endpoint: &Endpoint, profile: &Profile, request: &Request, mode: Mode) -> String {
    let Encoded { path, query, body } = encode(endpoint, profile, request, mode);
    let query = query.map_or(String::new(), |(name, value)| format!("?{name}={value}"));
    let shown = json!({"path": format!("{path}{query}"), "body": body});
    serde_json::to_string_pretty(&shown).unwrap() + "\n"
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/encode")
}

#[test]
fn bodies_are_as_reviewed() {
    golden::check("encode", scenarios().iter().map(|scenario| (scenario.path(), scenario.shown())));
}

#[test]
fn every_file_has_its_scenario() {
    let folders = Dialect::ALL.map(|dialect| root().join(folder(dialect)));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let found: BTreeSet<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found, scenarios().iter().map(Scenario::path).collect());
}

// ---- what holds for every request ----

/// A body flattened to what all services have in common.
#[derive(Debug, Default)]
struct Flat {
    system: Vec<String>,
    roles: Vec<String>,
    /// Calls and results in order: `+id` and `-id`, for Gemini by name.
    pairs: Vec<String>,
    texts: Vec<String>,
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn flat_openai(body: &Value) -> Flat {
    let mut flat = Flat::default();
    for message in body["messages"].as_array().unwrap() {
        let role = text_of(&message["role"]);
        match &message["content"] {
            Value::String(text) if role == "system" || role == "developer" => flat.system.push(text.clone()),
            Value::String(text) => flat.texts.push(text.clone()),
            Value::Array(parts) => {
                assert_eq!(role, "user");
                flat.texts.extend(parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)));
            }
            other => assert!(other.is_null() && message["tool_calls"].is_array(), "{message}"),
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            flat.pairs.push(format!("+{}", text_of(&call["id"])));
            let arguments = text_of(&call["function"]["arguments"]);
            assert!(serde_json::from_str::<Value>(&arguments).unwrap().is_object());
            flat.texts.push(arguments);
        }
        if role == "tool" {
            flat.pairs.push(format!("-{}", text_of(&message["tool_call_id"])));
        }
        flat.roles.push(role);
    }
    flat
}

fn flat_responses(body: &Value) -> Flat {
    let mut flat = Flat::default();
    flat.system.extend(body["instructions"].as_str().map(str::to_owned));
    let items = body["input"].as_array().unwrap();
    for (at, item) in items.iter().enumerate() {
        assert_eq!(item.get("id"), None);
        let role = match item["type"].as_str() {
            None => {
                let parts = item["content"].as_array().unwrap();
                flat.texts.extend(parts.iter().filter_map(|part| part["text"].as_str().map(str::to_owned)));
                "user"
            }
            Some("message") => {
                let text = text_of(&item["content"][0]["text"]);
                assert!(!text.trim().is_empty());
                flat.texts.push(text);
                "assistant"
            }
            Some("reasoning") => {
                let next = items.get(at + 1).and_then(|next| next["type"].as_str()).unwrap_or_default();
                assert!(["reasoning", "message", "function_call"].contains(&next), "{next} after reasoning");
                "assistant"
            }
            Some("function_call") => {
                flat.pairs.push(format!("+{}", text_of(&item["call_id"])));
                let arguments = text_of(&item["arguments"]);
                assert!(serde_json::from_str::<Value>(&arguments).unwrap().is_object());
                flat.texts.push(arguments);
                "assistant"
            }
            Some("function_call_output") => {
                flat.pairs.push(format!("-{}", text_of(&item["call_id"])));
                flat.texts.extend(item["output"].as_str().map(str::to_owned));
                "tool"
            }
            Some(other) => panic!("{other}"),
        };
        // What the model says in a row is one side of the conversation, in several items.
        if !(role == "assistant" && flat.roles.last().is_some_and(|last| last == role)) {
            flat.roles.push(role.to_owned());
        }
    }
    flat
}

fn flat_anthropic(body: &Value) -> Flat {
    let mut flat = Flat::default();
    flat.system.extend(body["system"].as_array().into_iter().flatten().map(|block| text_of(&block["text"])));
    for message in body["messages"].as_array().unwrap() {
        flat.roles.push(text_of(&message["role"]));
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        let mut results_may_come = true;
        for block in blocks {
            match block["type"].as_str().unwrap() {
                "text" => {
                    let text = text_of(&block["text"]);
                    assert!(!text.trim().is_empty());
                    flat.texts.push(text);
                }
                "tool_use" => {
                    flat.pairs.push(format!("+{}", text_of(&block["id"])));
                    assert!(block["input"].is_object());
                    flat.texts.push(block["input"].to_string());
                }
                "tool_result" => {
                    assert!(results_may_come, "a result behind something else: {message}");
                    flat.pairs.push(format!("-{}", text_of(&block["tool_use_id"])));
                    match &block["content"] {
                        Value::String(text) => flat.texts.push(text.clone()),
                        other => assert!(other.is_null(), "{other}"),
                    }
                }
                "thinking" => assert!(block["signature"].is_string()),
                "redacted_thinking" => assert!(block["data"].is_string()),
                other => panic!("{other}"),
            }
            results_may_come &= block["type"] == "tool_result";
        }
    }
    flat
}

fn flat_gemini(body: &Value) -> Flat {
    let mut flat = Flat::default();
    for part in body["systemInstruction"]["parts"].as_array().into_iter().flatten() {
        flat.system.push(text_of(&part["text"]));
    }
    for content in body["contents"].as_array().unwrap() {
        flat.roles.push(text_of(&content["role"]));
        assert!(!content["parts"].as_array().unwrap().is_empty());
        for part in content["parts"].as_array().unwrap() {
            if let Some(text) = part["text"].as_str() {
                assert!(!text.is_empty() || part["thoughtSignature"].is_string());
                flat.texts.push(text.to_owned());
            }
            if let Some(call) = part.get("functionCall") {
                flat.pairs.push(format!("+{}", text_of(&call["name"])));
                assert!(call["args"].is_object());
                flat.texts.push(call["args"].to_string());
            }
            if let Some(answer) = part.get("functionResponse") {
                flat.pairs.push(format!("-{}", text_of(&answer["name"])));
                let response = &answer["response"];
                flat.texts.push(text_of(response.get("output").unwrap_or(&response["error"])));
            }
        }
    }
    flat
}

fn flat(dialect: Dialect, body: &Value) -> Flat {
    match dialect {
        Dialect::ChatCompletions => flat_openai(body),
        Dialect::Responses => flat_responses(body),
        Dialect::Messages => flat_anthropic(body),
        Dialect::GenerateContent => flat_gemini(body),
    }
}

/// Every call is answered before anything else comes, in order, and nothing else is.
fn check_pairs(flat: &Flat) -> Result<(), TestCaseError> {
    let mut open: Vec<&str> = Vec::new();
    let mut last_was_result = true;
    for pair in &flat.pairs {
        let (sign, id) = pair.split_at(1);
        if sign == "+" {
            prop_assert!(
                open.is_empty() || !last_was_result,
                "a call before all were answered: {:?}",
                flat.pairs
            );
            open.push(id);
        } else {
            prop_assert!(!open.is_empty() && open.remove(0) == id, "no call for {}: {:?}", id, flat.pairs);
        }
        last_was_result = sign == "-";
    }
    prop_assert!(open.is_empty(), "unanswered: {open:?}");
    Ok(())
}

fn check_roles(dialect: Dialect, flat: &Flat) -> Result<(), TestCaseError> {
    let roles: Vec<&str> = flat.roles.iter().map(String::as_str).collect();
    let said = match dialect {
        Dialect::ChatCompletions => roles.iter().copied().filter(|role| *role != "system").collect(),
        Dialect::Responses | Dialect::Messages | Dialect::GenerateContent => roles.clone(),
    };
    prop_assert_eq!(said.first().copied(), Some("user"));
    let allowed: &[&str] = match dialect {
        Dialect::ChatCompletions | Dialect::Responses => &["user", "assistant", "tool"],
        Dialect::Messages => &["user", "assistant"],
        Dialect::GenerateContent => &["user", "model"],
    };
    prop_assert!(said.iter().all(|role| allowed.contains(role)), "{:?}", roles);
    for pair in said.windows(2) {
        // Gemini takes the results of tools and what the user says then as two contents.
        let may_repeat = match dialect {
            Dialect::ChatCompletions => pair[0] == "tool",
            // It has items, not turns.
            Dialect::Responses => true,
            Dialect::Messages => false,
            Dialect::GenerateContent => pair[0] == "user",
        };
        prop_assert!(pair[0] != pair[1] || may_repeat, "{:?}", roles);
    }
    Ok(())
}

/// Each text of the request stands in the body, in order; white space alone may be left out.
fn check_texts(request: &Request, flat: &Flat) -> Result<(), TestCaseError> {
    let all = flat.texts.join("\0");
    let mut rest = all.as_str();
    for message in &request.messages {
        let text = message.text().trim_end();
        if !text.is_empty() {
            let after = rest.split_once(text).map(|(_, after)| after);
            prop_assert!(after.is_some(), "lost: {:?}", text);
            rest = after.unwrap();
        }
    }
    Ok(())
}

fn planned() -> impl Strategy<Value = Request> {
    (generate::conversation(), generate::limits(), generate::policy())
        .prop_map(|(conversation, limits, policy)| {
            plan_at(&conversation, &limits, &policy, Moment::BeforeSend).request
        })
        .prop_filter("something to send", |request| !request.messages.is_empty())
}

fn check(dialect: Dialect, request: &Request, mode: Mode) -> Result<(), TestCaseError> {
    let encoded = usual(dialect, request, mode);
    let flat = flat(dialect, &encoded.body);
    check_pairs(&flat)?;
    check_roles(dialect, &flat)?;
    check_texts(request, &flat)?;
    let wanted: Vec<String> = request.system.iter().filter(|text| !text.trim().is_empty()).cloned().collect();
    prop_assert_eq!(&flat.system, &wanted);
    let text = encoded.body.to_string();
    let marks = text.matches("\"cache_control\"").count();
    prop_assert!(marks <= 4 && (mode == Mode::Chat || marks == 0), "{} marks", marks);
    if mode == Mode::Complete {
        prop_assert_eq!((&flat.pairs, encoded.body.get("tools")), (&vec![], None));
    }
    prop_assert_eq!(encoded, usual(dialect, request, mode));
    Ok(())
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(96))]

    #[test]
    fn every_planned_request_is_legal_and_whole(request in planned()) {
        for dialect in Dialect::ALL {
            check(dialect, &request, Mode::Chat)?;
            check(dialect, &request, Mode::Complete)?;
        }
    }

    /// Ids of any service go through every other one, each call still with its result.
    #[test]
    fn odd_ids_keep_their_pairs(ids in prop::collection::hash_set("\\PC{0,50}", 1..6)) {
        let calls = ids.iter().map(|id| call(id, "t", "{}")).collect();
        let results = ids.iter().map(|id| result(id, "t", "ok"));
        let messages: Vec<RequestMessage> = [user("go"), assistant("", calls)].into_iter().chain(results).collect();
        let request = Request { tools: vec![read_file()], ..request(messages) };
        for dialect in [Dialect::ChatCompletions, Dialect::Responses, Dialect::Messages] {
            let flat = flat(dialect, &usual(dialect, &request, Mode::Chat).body);
            check_pairs(&flat)?;
            let sent: BTreeSet<&str> = flat.pairs.iter().filter_map(|pair| pair.strip_prefix('+')).collect();
            prop_assert_eq!(sent.len(), ids.len());
            let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            for id in sent {
                prop_assert!(!id.is_empty() && id.len() <= 64);
                prop_assert!(dialect == Dialect::ChatCompletions || id.chars().all(is_fine), "{}", id);
            }
        }
    }
}
