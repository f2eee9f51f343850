//! The contents of generateContent: what may stand in them, and in which order.

use super::super::Rejection;
use super::super::json::{excerpt, text};
use super::reply::{call_signature, text_signature};
use super::request::{field, list};
use super::rules;
use crate::ask::{Block, Content, Speaker, Turn};
use crate::script::Call;
use crate::subject::Subject;
use crate::{image, window::digest};
use oneclaw_catalogue::Ability;
use oneclaw_model::ProviderKind;
use serde_json::Value;

/// Stands where another model, which signs nothing, made the call; the service documents it.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The contents as turns.
pub(super) fn contents(body: &Value, subject: &Subject<'_>) -> Result<Vec<Turn>, Rejection> {
    let contents = match field(body, "contents") {
        Some(Value::Array(contents)) if !contents.is_empty() => contents,
        Some(Value::Array(_)) | None => {
            let message = "* GenerateContentRequest.contents: contents is not specified\n";
            return Err(Rejection::bad(message));
        }
        Some(_) => return Err(Rejection::bad("Invalid value at 'contents'")),
    };
    let mut turns: Vec<Turn> = Vec::new();
    // The calls of the turn before, in order.
    let mut open: Vec<Named> = Vec::new();
    // The first turn since the user last spoke: signatures are wanted from there on.
    let current = contents.iter().rposition(is_spoken_by_user).unwrap_or(0);
    for (at, content) in contents.iter().enumerate() {
        let speaker = match content.get("role").and_then(Value::as_str) {
            None | Some("user" | "function") => Speaker::User,
            Some("model") => Speaker::Assistant,
            Some(_) => return Err(Rejection::bad("Please use a valid role: user, model.")),
        };
        if at == 0 && speaker == Speaker::Assistant {
            return Err(Rejection::bad("Please ensure that multiturn requests begin with a user turn."));
        }
        let parts = list(content, "parts");
        if parts.is_empty() {
            return Err(Rejection::bad(format!(
                "* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty.\n"
            )));
        }
        let mut turn = Turn { speaker, blocks: vec![] };
        let mut called: Vec<Named> = Vec::new();
        let mut answered: Vec<Named> = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            let content = part_content(part, at, n, subject)?;
            let id = |key: &str| field(part, key).and_then(|call| text(call, "id")).map(str::to_owned);
            match &content {
                Content::Call { name, arguments } if speaker == Speaker::Assistant => {
                    let signed =
                        Signed { is_first: called.is_empty(), is_current: at > current, place: (at, n) };
                    let call = Call { name: name.clone(), arguments: arguments.clone() };
                    check_signature(part, &call, subject, &signed)?;
                    called.push(Named { name: name.clone(), id: id("functionCall") });
                }
                Content::Result { name, .. } if speaker == Speaker::User => {
                    answered.push(Named { name: name.clone(), id: id("functionResponse") });
                }
                Content::Text(_) => check_text_signature(part, subject)?,
                Content::Media { .. } if subject.cannot(Ability::Pictures) => {
                    let message =
                        format!("Image input modality is not enabled for models/{}", subject.model.id);
                    return Err(Rejection::bad(message));
                }
                Content::Call { .. } | Content::Result { .. } => {
                    return Err(Rejection::bad(
                        "Please ensure that function call turns have the role model and function response turns the \
                         role user.",
                    ));
                }
                _ => {}
            }
            turn.blocks.push(Block::new(content));
        }
        pair(&open, &answered)?;
        if rules::is_by_level(subject) {
            pair_ids(&open, &answered)?;
        }
        open = called;
        turns.push(turn);
    }
    pair(&open, &[])?;
    Ok(turns)
}

/// A call or a response: the tool, and the name of the call.
struct Named {
    name: String,
    id: Option<String>,
}

/// As many responses as calls, of the same tools.
fn pair(called: &[Named], answered: &[Named]) -> Result<(), Rejection> {
    if called.is_empty() && !answered.is_empty() {
        return Err(Rejection::bad(
            "Please ensure that function response turn comes immediately after a function call turn.",
        ));
    }
    let sorted = |all: &[Named]| {
        let mut names: Vec<String> = all.iter().map(|named| named.name.clone()).collect();
        names.sort();
        names
    };
    if sorted(called) != sorted(answered) {
        return Err(Rejection::bad(
            "Please ensure that the number of function response parts is equal to the number of function call parts \
             of the function call turn.",
        ));
    }
    Ok(())
}

/// Names stand on both sides or on neither, and are the same.
fn pair_ids(called: &[Named], answered: &[Named]) -> Result<(), Rejection> {
    let sorted = |all: &[Named]| {
        let mut pairs: Vec<(String, Option<String>)> =
            all.iter().map(|named| (named.name.clone(), named.id.clone())).collect();
        pairs.sort();
        pairs
    };
    if !answered.is_empty() && sorted(called) != sorted(answered) {
        return Err(Rejection::bad("functionResponse.id does not match functionCall.id"));
    }
    Ok(())
}

fn is_spoken_by_user(content: &Value) -> bool {
    let is_user = content.get("role").and_then(Value::as_str) != Some("model");
    is_user && list(content, "parts").iter().any(|part| part.get("text").is_some())
}

/// Where a call stands, as far as its signature is concerned.
struct Signed {
    is_first: bool,
    is_current: bool,
    place: (usize, usize),
}

fn check_signature(
    part: &Value,
    call: &Call,
    subject: &Subject<'_>,
    signed: &Signed,
) -> Result<(), Rejection> {
    match field(part, "thoughtSignature").map(Value::as_str) {
        Some(Some(signature)) if signature == NO_SIGNATURE || is_same(signature, &call_signature(call)) => {
            Ok(())
        }
        Some(_) => Err(Rejection::bad("Corrupted thought signature.")),
        None if rules::signs_calls(subject) && signed.is_first && signed.is_current => {
            Err(Rejection::bad(format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, \
                 function call `default_api:{}` , position {}.{}.",
                call.name, signed.place.0, signed.place.1
            )))
        }
        None => Ok(()),
    }
}

/// Models that sign texts want none but their own signatures there; a text may go without one.
fn check_text_signature(part: &Value, subject: &Subject<'_>) -> Result<(), Rejection> {
    let signature = field(part, "thoughtSignature").map(Value::as_str);
    let is_own =
        |signature: &str| signature == NO_SIGNATURE || is_same(signature, &text_signature(&subject.model.id));
    match signature.filter(|_| rules::is_by_level(subject)) {
        Some(signature) if !signature.is_some_and(is_own) => {
            Err(Rejection::bad("Corrupted thought signature."))
        }
        _ => Ok(()),
    }
}

/// Whether two signatures have the same bytes: clients may write base64 in the form for addresses.
fn is_same(one: &str, other: &str) -> bool {
    let standard = |text: &str| text.trim_end_matches('=').replace('-', "+").replace('_', "/");
    standard(one) == standard(other)
}

fn part_content(part: &Value, at: usize, n: usize, subject: &Subject<'_>) -> Result<Content, Rejection> {
    let place = format!("contents[{at}].parts[{n}]");
    if let Some(text) = part.get("text") {
        return match text.as_str() {
            // An empty text may carry a signature.
            Some("") if rules::is_by_level(subject) && field(part, "thoughtSignature").is_some() => {
                Ok(Content::Text(String::new()))
            }
            Some("") => Err(no_data(&format!("contents[{at}]"), n)),
            Some(text) if part.get("thought") == Some(&Value::Bool(true)) => {
                Ok(Content::Thinking(text.to_owned()))
            }
            Some(text) => Ok(Content::Text(text.to_owned())),
            None => Err(Rejection::bad(format!("Invalid value at '{place}.text' (TYPE_STRING)"))),
        };
    }
    if let Some(call) = field(part, "functionCall") {
        let name = named(call, &format!("{place}.function_call"))?;
        let arguments = field(call, "args").map_or_else(|| "{}".to_owned(), Value::to_string);
        if !arguments.starts_with('{') {
            return Err(not_a_struct(&format!("{place}.function_call.args"), &arguments));
        }
        return Ok(Content::Call { name, arguments });
    }
    if let Some(response) = field(part, "functionResponse") {
        let name = named(response, &format!("{place}.function_response"))?;
        return match field(response, "response") {
            Some(value @ Value::Object(_)) => {
                let media = result_media(response, &place, subject)?;
                Ok(Content::Result { name, text: spoken(value), media })
            }
            other => {
                let other = other.map_or_else(|| "null".to_owned(), Value::to_string);
                Err(not_a_struct(&format!("{place}.function_response.response"), &other))
            }
        };
    }
    if let Some(data) = field(part, "inlineData") {
        return inline(data, &place);
    }
    if let Some(file) = field(part, "fileData") {
        let tokens = image::tokens_of_link(ProviderKind::Gemini);
        return Ok(Content::Media { tokens, digest: digest(file.to_string()) });
    }
    Err(no_data(&format!("contents[{at}]"), n))
}

/// Bytes in base64.
fn inline(data: &Value, place: &str) -> Result<Content, Rejection> {
    let text = |key| field(data, key).and_then(Value::as_str).unwrap_or_default();
    match image::tokens(ProviderKind::Gemini, text("mimeType"), text("data")) {
        Some(tokens) if !text("data").is_empty() && !text("mimeType").is_empty() => {
            Ok(Content::Media { tokens, digest: digest(text("data")) })
        }
        _ => Err(Rejection::bad(format!(
            "Invalid value at '{place}.inline_data.data' (TYPE_BYTES), Base64 decoding failed"
        ))),
    }
}

/// What the pictures beside a response cost: from Gemini 3 on there may be some.
fn result_media(response: &Value, place: &str, subject: &Subject<'_>) -> Result<u64, Rejection> {
    let parts = list(response, "parts");
    if !parts.is_empty() && subject.facts.is_some() && !rules::is_by_level(subject) {
        return Err(Rejection::bad("Multimodal function responses are not supported by this model."));
    }
    let mut tokens = 0;
    for (n, part) in parts.iter().enumerate() {
        let Some(data) = field(part, "inlineData") else { continue };
        if let Content::Media { tokens: more, .. } =
            inline(data, &format!("{place}.function_response.parts[{n}]"))?
        {
            tokens += more;
        }
    }
    Ok(tokens)
}

/// A response that only wraps a text is that text.
fn spoken(response: &Value) -> String {
    let object = response.as_object().filter(|object| object.len() == 1);
    let only = object.and_then(|object| object.values().next()).and_then(Value::as_str);
    only.map_or_else(|| response.to_string(), str::to_owned)
}

fn named(object: &Value, place: &str) -> Result<String, Rejection> {
    match object.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()) {
        Some(name) => Ok(name.to_owned()),
        None => {
            Err(Rejection::bad(format!("* GenerateContentRequest.{place}.name: Name cannot be empty.\n")))
        }
    }
}

fn not_a_struct(place: &str, value: &str) -> Rejection {
    let value = excerpt(value, 40);
    Rejection::bad(format!(
        "Invalid value at '{place}' (type.googleapis.com/google.protobuf.Struct), {value}"
    ))
}

pub(super) fn no_data(place: &str, n: usize) -> Rejection {
    Rejection::bad(format!(
        "* GenerateContentRequest.{place}.parts[{n}].data: required oneof field 'data' must have one initialized field\n"
    ))
}
