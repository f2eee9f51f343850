//! The body of a Gemini request.

use super::schema;
use crate::Profile;
use crate::encode::{self, Encoded, Mode, REASONING_ROOM};
use oneclaw_model::{Attachment, Call, Request, RequestMessage, ToolSpec};
use serde_json::{Map, Value, json};

/// Pictures the service takes.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// Stands where a signature is wanted and there is none, as after a switch of models; the service's own word for it.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Stands for a message without a word or picture: the first turn has to be the user's.
const BLANK: &str = "(empty message)";

/// The least reasoning of the models that cannot do without.
const LEAST_BUDGET: u64 = 128;

pub(crate) fn encode(profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let model = profile.model.as_str();
    let mut body = Map::new();
    if let Some(system) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": system}]}));
    }
    body.insert("contents".into(), contents(model, request));
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": declarations}]));
    }
    let config = generation_config(model, request.max_output, mode);
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    let path = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
    Encoded {
        path: format!("{path}:streamGenerateContent"),
        query: Some(("alt", "sse")),
        body: Value::Object(body),
    }
}

/// Reasoning counts against the output limit. In a completion it is turned off or kept small where the model allows
/// it (2.5 Flash: off; 2.5 Pro: 128 at least); other models that reason get room for it instead, as what they can be
/// told differs from one generation to the next. No other family than Gemini reasons in this dialect, and a small model
/// would refuse the room.
fn generation_config(model: &str, max_output: Option<u64>, mode: Mode) -> Map<String, Value> {
    let name = encode::bare_name(model);
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let (budget, room) = match mode {
        Mode::Chat => (None, 0),
        Mode::Complete if starts(&["gemini-2.5-flash"]) => (Some(0), 0),
        Mode::Complete if starts(&["gemini-2.5-pro"]) => (Some(LEAST_BUDGET), LEAST_BUDGET),
        Mode::Complete if starts(&["gemini-1", "gemini-2.0"]) || !starts(&["gemini"]) => (None, 0),
        Mode::Complete => (None, REASONING_ROOM),
    };
    let mut config = Map::new();
    if let Some(max) = max_output {
        config.insert("maxOutputTokens".into(), json!(max.saturating_add(room)));
    }
    if let Some(budget) = budget {
        config.insert("thinkingConfig".into(), json!({"thinkingBudget": budget}));
    }
    config
}

fn declaration(tool: &ToolSpec) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), json!(tool.name));
    if !tool.description.is_empty() {
        out.insert("description".into(), json!(tool.description));
    }
    if let Some(parameters) = schema::parameters(&tool.parameters) {
        out.insert("parameters".into(), parameters);
    }
    Value::Object(out)
}

fn contents(model: &str, request: &Request) -> Value {
    // The service takes the newest text of the user for the start of the open turn; a picture alone starts none.
    let last_user = request
        .messages
        .iter()
        .rposition(|m| matches!(m, RequestMessage::User { text, .. } if !text.is_empty()));
    let mut contents = Vec::new();
    let mut results = Results::default();
    for (index, message) in request.messages.iter().enumerate() {
        match message {
            RequestMessage::User { text, attachments } => {
                results.flush(&mut contents);
                push(&mut contents, "user", user_parts(text, attachments));
            }
            RequestMessage::Assistant { text, calls, .. } => {
                results.flush(&mut contents);
                let is_open = last_user.is_none_or(|last| index > last);
                let stand_in = (is_open && wants_signature(model)).then_some(NO_SIGNATURE);
                push(&mut contents, "model", model_parts(text, calls, stand_in));
            }
            RequestMessage::ToolResult { name, text, failed, attachments, .. } => {
                results.push(name, text, *failed, attachments);
            }
        }
    }
    results.flush(&mut contents);
    Value::Array(contents)
}

fn push(contents: &mut Vec<Value>, role: &str, parts: Vec<Value>) {
    if !parts.is_empty() {
        contents.push(json!({"role": role, "parts": parts}));
    }
}

/// From the third generation on, the first call of each step of the open turn must carry a signature.
fn wants_signature(model: &str) -> bool {
    let name = encode::bare_name(model);
    let generation = name.strip_prefix("gemini-").unwrap_or_default();
    let digits: String = generation.chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<u32>().is_ok_and(|number| number >= 3)
}

fn picture_part(file: &Attachment) -> Option<Value> {
    let data = encode::picture(file, &PICTURES)?;
    Some(json!({"inlineData": {"mimeType": file.mime, "data": data}}))
}

fn user_parts(text: &str, attachments: &[Attachment]) -> Vec<Value> {
    let text = encode::labelled(text, attachments.iter().filter(|file| picture_part(file).is_none()));
    let first = (!text.is_empty()).then(|| json!({"text": text}));
    let mut parts: Vec<Value> =
        first.into_iter().chain(attachments.iter().filter_map(picture_part)).collect();
    if parts.is_empty() {
        parts.push(json!({"text": BLANK}));
    }
    parts
}

fn model_parts(text: &str, calls: &[Call], stand_in: Option<&str>) -> Vec<Value> {
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(json!({"text": text}));
    }
    let mut stand_in = stand_in;
    for Call { name, arguments, signature, .. } in calls {
        let function = json!({"name": encode::tool_name(name), "args": encode::arguments(arguments)});
        let mut part = Map::from_iter([("functionCall".to_owned(), function)]);
        // Only the first call of a step carries a signature.
        let signature = signature.as_deref().or(stand_in);
        stand_in = None;
        if let Some(signature) = signature {
            part.insert("thoughtSignature".into(), json!(signature));
        }
        parts.push(Value::Object(part));
    }
    parts
}

/// The results of one step: the service wants as many in one content as there were calls in the one before.
#[derive(Default)]
struct Results {
    parts: Vec<Value>,
    pictures: Vec<Value>,
}

impl Results {
    fn push(&mut self, name: &str, text: &str, failed: bool, attachments: &[Attachment]) {
        let key = if failed { "error" } else { "result" };
        let text = encode::labelled(text, attachments.iter());
        self.parts.push(json!({
            "functionResponse": {"name": encode::tool_name(name), "response": {key: text}},
        }));
        self.pictures.extend(attachments.iter().filter_map(picture_part));
    }

    fn flush(&mut self, contents: &mut Vec<Value>) {
        let Self { mut parts, pictures } = std::mem::take(self);
        parts.extend(pictures);
        push(contents, "user", parts);
    }
}
