//! What generateContent takes. Field names come in camel case or in snake case.

use super::super::Rejection;
use super::super::json::{MOST_AT_ONCE, excerpt, is_name};
use super::reply::{call_signature, signs_calls};
use super::schema;
use crate::ask::{Ask, Block, Choice, Content, Speaker, Tool, Turn};
use crate::config::Model;
use crate::script::Call;
use crate::{image, window::digest};
use oneclaw_model::ProviderKind;
use serde_json::{Map, Value};

const FIELDS: &[&str] = &[
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "model",
    "labels",
];
const GENERATION_FIELDS: &[&str] = &[
    "maxOutputTokens",
    "temperature",
    "topP",
    "topK",
    "candidateCount",
    "stopSequences",
    "responseMimeType",
    "responseSchema",
    "responseJsonSchema",
    "thinkingConfig",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseLogprobs",
    "logprobs",
    "responseModalities",
    "speechConfig",
    "mediaResolution",
    "imageConfig",
    "enableEnhancedCivicAnswers",
];
const LONGEST_NAME: usize = 64;
/// Stands where another model, which signs nothing, made the call; the service documents it.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(crate) fn parse(body: &Value, model: &Model) -> Result<Ask, Rejection> {
    let object = body.as_object().ok_or_else(|| Rejection::bad("Invalid JSON payload received."))?;
    known(object, FIELDS, None)?;
    let tools = tools(body)?;
    let generation = field(body, "generationConfig");
    if let Some(generation) = generation.and_then(Value::as_object) {
        known(generation, GENERATION_FIELDS, Some("generation_config"))?;
    }
    let thinking = generation.and_then(|g| field(g, "thinkingConfig"));
    let budget = thinking.and_then(|t| field(t, "thinkingBudget")).and_then(Value::as_i64);
    if budget == Some(0) && model.id.contains("gemini-2.5-pro") {
        return Err(Rejection::bad("Budget 0 is invalid. This model only works in thinking mode."));
    }
    Ok(Ask {
        model: model.id.clone(),
        max_output: max_output(generation, model)?,
        system: system(body)?,
        turns: contents(body, model)?,
        wants_usage: true,
        wants_thinking: thinking
            .and_then(|t| field(t, "includeThoughts"))
            .is_some_and(|value| *value == Value::Bool(true)),
        choice: choice(body),
        tools,
        ..Ask::default()
    })
}

fn max_output(generation: Option<&Value>, model: &Model) -> Result<Option<u64>, Rejection> {
    let Some(value) = generation.and_then(|g| field(g, "maxOutputTokens")) else { return Ok(None) };
    let Some(number) = value.as_i64() else {
        return Err(Rejection::bad(format!(
            "Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), {}",
            excerpt(&value.to_string(), 40)
        )));
    };
    match u64::try_from(number).ok().filter(|number| (1..=model.max_output).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(Rejection::bad(format!(
            "Unable to submit request because it has a maxOutputTokens value of {number} but the supported range is \
             from 1 (inclusive) to {} (exclusive). Update the value and try again.",
            model.max_output.saturating_add(1)
        ))),
    }
}

fn system(body: &Value) -> Result<Vec<Block>, Rejection> {
    let Some(instruction) = field(body, "systemInstruction") else { return Ok(vec![]) };
    let mut blocks = Vec::new();
    for (at, part) in list(instruction, "parts").iter().enumerate() {
        match part.get("text").and_then(Value::as_str) {
            Some(text) if !text.is_empty() => blocks.push(Block::text(text)),
            _ => return Err(no_data("system_instruction", at)),
        }
    }
    if blocks.is_empty() {
        let message =
            "* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.\n";
        return Err(Rejection::bad(message));
    }
    Ok(blocks)
}

fn tools(body: &Value) -> Result<Vec<Tool>, Rejection> {
    let mut tools: Vec<Tool> = Vec::new();
    for (at, entry) in list(body, "tools").iter().enumerate() {
        for (n, declaration) in list(entry, "functionDeclarations").iter().enumerate() {
            let place = format!("tools[{at}].function_declarations[{n}]");
            if tools.len() >= MOST_AT_ONCE {
                return Err(Rejection::bad(format!(
                    "At most {MOST_AT_ONCE} function declarations are allowed."
                )));
            }
            let name = declaration.get("name").and_then(Value::as_str).unwrap_or_default();
            if !is_name(name, LONGEST_NAME, ".:")
                || name.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            {
                return Err(Rejection::bad(format!(
                    "* GenerateContentRequest.{place}.name: Invalid function name. Must start with a letter or an \
                     underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or \
                     dashes (-), with a maximum length of {LONGEST_NAME}.\n"
                )));
            }
            if tools.iter().any(|tool| tool.name == name) {
                return Err(Rejection::bad(format!("Duplicate function declaration found: {name}")));
            }
            if let Some(schema) = field(declaration, "parameters") {
                schema::check(schema, &format!("{place}.parameters"))?;
            }
            let schema =
                field(declaration, "parameters").or_else(|| field(declaration, "parametersJsonSchema"));
            tools.push(Tool {
                name: name.to_owned(),
                description: declaration
                    .get("description")
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned(),
                schema: schema.cloned().unwrap_or_else(|| Map::new().into()),
                is_breakpoint: false,
            });
        }
    }
    Ok(tools)
}

fn choice(body: &Value) -> Choice {
    let config = field(body, "toolConfig").and_then(|c| field(c, "functionCallingConfig"));
    let mode = config.and_then(|c| c.get("mode")).and_then(Value::as_str).unwrap_or_default();
    let allowed = config.map_or(&[][..], |c| list(c, "allowedFunctionNames"));
    match (mode, allowed) {
        ("NONE", _) => Choice::Never,
        ("ANY", [only]) => Choice::Named(only.as_str().unwrap_or_default().to_owned()),
        ("ANY", _) => Choice::Any,
        _ => Choice::Auto,
    }
}

fn contents(body: &Value, model: &Model) -> Result<Vec<Turn>, Rejection> {
    let contents = match field(body, "contents") {
        Some(Value::Array(contents)) if !contents.is_empty() => contents,
        Some(Value::Array(_)) | None => {
            let message = "* GenerateContentRequest.contents: contents is not specified\n";
            return Err(Rejection::bad(message));
        }
        Some(_) => return Err(Rejection::bad("Invalid value at 'contents'")),
    };
    let mut turns: Vec<Turn> = Vec::new();
    // The tools that the turn before called, in order.
    let mut open: Vec<String> = Vec::new();
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
        let mut called: Vec<String> = Vec::new();
        let mut answered: Vec<String> = Vec::new();
        for (n, part) in parts.iter().enumerate() {
            let content = part_content(part, at, n)?;
            match &content {
                Content::Call { name, arguments } if speaker == Speaker::Assistant => {
                    let signed =
                        Signed { is_first: called.is_empty(), is_current: at > current, place: (at, n) };
                    let call = Call { name: name.clone(), arguments: arguments.clone() };
                    check_signature(part, &call, model, &signed)?;
                    called.push(name.clone());
                }
                Content::Result { name, .. } if speaker == Speaker::User => answered.push(name.clone()),
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
        open = called;
        turns.push(turn);
    }
    pair(&open, &[])?;
    Ok(turns)
}

/// As many responses as calls, of the same tools.
fn pair(called: &[String], answered: &[String]) -> Result<(), Rejection> {
    if called.is_empty() && !answered.is_empty() {
        return Err(Rejection::bad(
            "Please ensure that function response turn comes immediately after a function call turn.",
        ));
    }
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
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

fn check_signature(part: &Value, call: &Call, model: &Model, signed: &Signed) -> Result<(), Rejection> {
    match field(part, "thoughtSignature").map(Value::as_str) {
        Some(Some(signature)) if signature == NO_SIGNATURE || signature == call_signature(call) => Ok(()),
        Some(_) => Err(Rejection::bad("Corrupted thought signature.")),
        None if signs_calls(&model.id) && signed.is_first && signed.is_current => {
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

fn part_content(part: &Value, at: usize, n: usize) -> Result<Content, Rejection> {
    let place = format!("contents[{at}].parts[{n}]");
    if let Some(text) = part.get("text") {
        return match text.as_str() {
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
            Some(value @ Value::Object(_)) => Ok(Content::Result { name, text: spoken(value), media: 0 }),
            other => {
                let other = other.map_or_else(|| "null".to_owned(), Value::to_string);
                Err(not_a_struct(&format!("{place}.function_response.response"), &other))
            }
        };
    }
    if let Some(data) = field(part, "inlineData") {
        let text = |key| field(data, key).and_then(Value::as_str).unwrap_or_default();
        return match image::tokens(ProviderKind::Gemini, text("mimeType"), text("data")) {
            Some(tokens) if !text("data").is_empty() && !text("mimeType").is_empty() => {
                Ok(Content::Media { tokens, digest: digest(text("data")) })
            }
            _ => Err(Rejection::bad(format!(
                "Invalid value at '{place}.inline_data.data' (TYPE_BYTES), Base64 decoding failed"
            ))),
        };
    }
    if let Some(file) = field(part, "fileData") {
        let tokens = image::tokens_of_link(ProviderKind::Gemini);
        return Ok(Content::Media { tokens, digest: digest(file.to_string()) });
    }
    Err(no_data(&format!("contents[{at}]"), n))
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

fn no_data(place: &str, n: usize) -> Rejection {
    Rejection::bad(format!(
        "* GenerateContentRequest.{place}.parts[{n}].data: required oneof field 'data' must have one initialized field\n"
    ))
}

/// A field by its camel-case name, however it is written.
fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    object.get(name).or_else(|| object.get(snake(name))).filter(|value| !value.is_null())
}

pub(super) fn list<'a>(object: &'a Value, name: &str) -> &'a [Value] {
    field(object, name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Refuses fields that are unknown, naming where they stand.
pub(super) fn known(
    object: &Map<String, Value>,
    fields: &[&str],
    place: Option<&str>,
) -> Result<(), Rejection> {
    let is_known = |key: &str| fields.iter().any(|field| *field == key || snake(field) == key);
    let Some(key) = object.keys().find(|key| !is_known(key)) else { return Ok(()) };
    let place = place.map(|place| format!(" at '{place}'")).unwrap_or_default();
    Err(Rejection::bad(format!(
        "Invalid JSON payload received. Unknown name \"{}\"{place}: Cannot find field.",
        excerpt(key, 80)
    )))
}
