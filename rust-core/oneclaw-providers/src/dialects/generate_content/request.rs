//! The body of a Gemini request.
//!
//! What differs from the third generation on: signatures are wanted, calls and results have ids, schemas are plain JSON
//! schema, and pictures stand inside the results they belong to.

use super::{schema, thinking};
use crate::Profile;
use crate::encode::{self, CallIds, Encoded, Mode};
use oneclaw_model::{Attachment, Call, Part, Request, RequestMessage, ToolSpec};
use serde_json::{Map, Value, json};

/// Pictures the service takes.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// Pictures it takes inside a result.
const RESULT_PICTURES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];

/// Stands where a signature is wanted and there is none, as after a switch of models; the service's own word for it.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(crate) fn encode(profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let mut body = Map::new();
    if let Some(system) = request.system.as_ref().filter(|text| !text.trim().is_empty()) {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": system}]}));
    }
    body.insert("contents".into(), contents(profile, request));
    if !request.tools.is_empty() {
        let is_plain = is_third(profile) && profile.learnt.json_schema != Some(false);
        let declarations: Vec<Value> = request.tools.iter().map(|tool| declaration(tool, is_plain)).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": declarations}]));
    }
    let config = thinking::generation_config(profile, request, mode);
    if !config.is_empty() {
        body.insert("generationConfig".into(), Value::Object(config));
    }
    Encoded {
        path: format!("{}:streamGenerateContent", resource(&profile.model)),
        query: Some(("alt", "sse")),
        body: Value::Object(body),
    }
}

/// The model's full name at the service.
pub(crate) fn resource(model: &str) -> String {
    if model.contains('/') { model.to_owned() } else { format!("models/{model}") }
}

/// Where the token stands with which the rest of a reply is asked for, beside everything that was sent before.
pub(crate) const CONTINUATION_TOKEN: &str = "continuationToken";

/// The output tokens a body asks for, those of all its continuations together.
pub(crate) fn asked_output(body: &Value) -> Option<u64> {
    body.pointer("/generationConfig/maxOutputTokens")?.as_u64()
}

/// Whether the model is known to be of the third generation or a later one.
fn is_third(profile: &Profile) -> bool {
    profile.reasoning().is_some_and(|reasoning| reasoning.by_level)
}

/// From the third generation on, the first call of each step of the open turn must carry a signature. Of a model that the
/// catalogue does not know, the name tells the generation.
fn wants_signature(profile: &Profile) -> bool {
    let name = encode::bare_name(&profile.model);
    let generation = name.strip_prefix("gemini-").unwrap_or_default();
    let digits: String = generation.chars().take_while(char::is_ascii_digit).collect();
    is_third(profile) || digits.parse::<u32>().is_ok_and(|number| number >= 3)
}

/// A tool, with its parameters as plain JSON schema or in the service's own subset of it.
fn declaration(tool: &ToolSpec, is_plain: bool) -> Value {
    let mut out = Map::new();
    out.insert("name".into(), json!(tool.name));
    if !tool.description.is_empty() {
        out.insert("description".into(), json!(tool.description));
    }
    if is_plain {
        let parameters = schema::without_const(encode::parameters(&tool.parameters));
        out.insert("parametersJsonSchema".into(), parameters);
    } else if let Some(parameters) = schema::parameters(&tool.parameters) {
        out.insert("parameters".into(), parameters);
    }
    Value::Object(out)
}

fn contents(profile: &Profile, request: &Request) -> Value {
    // The service takes the newest text of the user for the start of the open turn; a picture alone starts none.
    let last_user = request
        .messages
        .iter()
        .rposition(|m| matches!(m, RequestMessage::User { text, .. } if !text.is_empty()));
    let sees = profile.sees();
    let mut contents = Vec::new();
    let mut ids = StepIds::of(profile, request);
    let mut results = Results { sees, inside: is_third(profile), parts: vec![], pictures: vec![] };
    for (index, message) in request.messages.iter().enumerate() {
        match message {
            RequestMessage::User { text, attachments } => {
                results.flush(&mut contents);
                push(&mut contents, "user", user_parts(text, attachments, sees));
            }
            RequestMessage::Assistant { calls, .. } => {
                results.flush(&mut contents);
                let is_open = last_user.is_none_or(|last| index > last);
                let stand_in = (is_open && wants_signature(profile)).then_some(NO_SIGNATURE);
                ids.step(calls);
                push(&mut contents, "model", model_parts(&message.parts(), &mut ids, stand_in));
            }
            RequestMessage::ToolResult { call, name, text, failed, attachments } => {
                let response = Map::from_iter([("name".to_owned(), json!(encode::tool_name(name)))]);
                let response = with_id(response, ids.result(call.as_str()));
                results.push(response, text, *failed, attachments);
            }
        }
    }
    results.flush(&mut contents);
    Value::Array(contents)
}

/// The ids of calls and results: in both or in neither. Which of the two is decided for each step, which is a message with
/// calls and the results that follow it.
struct StepIds {
    ids: CallIds,
    /// Whether steps have ids at all; `None` where those do whose ids the service gave.
    always: Option<bool>,
    /// Whether the step at hand has ids.
    here: bool,
}

impl StepIds {
    fn of(profile: &Profile, request: &Request) -> Self {
        let always = match profile.learnt.call_ids {
            None if !is_third(profile) => Some(false),
            learnt => learnt,
        };
        Self { ids: CallIds::of(request, |id| !id.is_empty()), always, here: false }
    }

    /// The step with those calls begins.
    fn step(&mut self, calls: &[Call]) {
        self.here = self.always.unwrap_or_else(|| !calls.iter().any(|call| is_made_up(call.id.as_str())));
    }

    fn call(&mut self, id: &str) -> Option<String> {
        let id = self.ids.call(id);
        self.here.then_some(id)
    }

    fn result(&self, id: &str) -> Option<String> {
        self.here.then(|| self.ids.result(id))
    }
}

/// Whether an id is one of our making, such as `call_0`: the service gave none.
fn is_made_up(id: &str) -> bool {
    id.strip_prefix("call").is_some_and(|rest| rest.chars().all(|c| c == '_' || c.is_ascii_digit()))
}

fn with_id(mut function: Map<String, Value>, id: Option<String>) -> Map<String, Value> {
    if let Some(id) = id {
        function.insert("id".into(), json!(id));
    }
    function
}

fn push(contents: &mut Vec<Value>, role: &str, parts: Vec<Value>) {
    if !parts.is_empty() {
        contents.push(json!({"role": role, "parts": parts}));
    }
}

fn picture_part(file: &Attachment, types: &[&str], sees: bool) -> Option<Value> {
    let data = encode::picture(file, types).filter(|_| sees)?;
    Some(json!({"inlineData": {"mimeType": file.mime, "data": data}}))
}

fn user_parts(text: &str, attachments: &[Attachment], sees: bool) -> Vec<Value> {
    let picture = |file: &Attachment| picture_part(file, &PICTURES, sees);
    let text = encode::labelled(text, attachments.iter().filter(|file| picture(file).is_none()));
    let first = (!text.is_empty()).then(|| json!({"text": text}));
    let mut parts: Vec<Value> = first.into_iter().chain(attachments.iter().filter_map(picture)).collect();
    if parts.is_empty() {
        parts.push(json!({"text": encode::BLANK}));
    }
    parts
}

fn model_parts(parts: &[Part<'_>], ids: &mut StepIds, stand_in: Option<&str>) -> Vec<Value> {
    let mut stand_in = stand_in;
    let mut out = Vec::new();
    for part in parts {
        let (name, value, signature) = match part {
            // The service gives thoughts to read; they do not go back.
            Part::Thinking(_) => continue,
            // A signature goes back with the text it came with, also where that is empty.
            Part::Text { text: "", signature: None } => continue,
            Part::Text { text, signature } => ("text", json!(text), *signature),
            Part::Call(call) => {
                let function = Map::from_iter([
                    ("name".to_owned(), json!(encode::tool_name(&call.name))),
                    ("args".to_owned(), Value::Object(encode::arguments(&call.arguments))),
                ]);
                let function = with_id(function, ids.call(call.id.as_str()));
                // Only the first call of a step has to carry a signature.
                let signature = call.signature.as_deref().or(stand_in);
                stand_in = None;
                ("functionCall", Value::Object(function), signature)
            }
        };
        let mut part = Map::from_iter([(name.to_owned(), value)]);
        if let Some(signature) = signature {
            part.insert("thoughtSignature".into(), json!(signature));
        }
        out.push(Value::Object(part));
    }
    out
}

/// The results of one step: the service wants as many in one content as there were calls in the one before.
struct Results {
    /// Whether the model sees pictures.
    sees: bool,
    /// Whether it takes them inside of results; else they follow.
    inside: bool,
    parts: Vec<Value>,
    pictures: Vec<Value>,
}

impl Results {
    /// A result; `response` has what names it.
    fn push(
        &mut self,
        mut response: Map<String, Value>,
        text: &str,
        failed: bool,
        attachments: &[Attachment],
    ) {
        let inside = |file: &Attachment| picture_part(file, &RESULT_PICTURES, self.sees && self.inside);
        let (within, others): (Vec<_>, Vec<_>) = attachments.iter().partition(|file| inside(file).is_some());
        let key = if failed { "error" } else { "output" };
        // Pictures that follow are labelled too, so that the model knows whose they are.
        let text = encode::labelled(text, others.iter().copied());
        response.insert("response".into(), json!({key: text}));
        if !within.is_empty() {
            response.insert("parts".into(), within.into_iter().filter_map(inside).collect());
        }
        self.parts.push(json!({"functionResponse": response}));
        self.pictures.extend(others.into_iter().filter_map(|file| picture_part(file, &PICTURES, self.sees)));
    }

    fn flush(&mut self, contents: &mut Vec<Value>) {
        let mut parts = std::mem::take(&mut self.parts);
        parts.append(&mut self.pictures);
        push(contents, "user", parts);
    }
}
