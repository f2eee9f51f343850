//! What chat completions take. Stricter than the original in two points, as some compatible servers are: a text may
//! not be empty, and the one system message comes first.

use super::super::json::{
    MOST_AT_ONCE, array_without_items, excerpt, get, is_name, items, kind_of, text, unknown,
};
use super::super::{Rejection, is_reasoning_model};
use crate::ask::{Ask, Block, Choice, Content, Delivery, Speaker, Tool, Turn};
use crate::config::Model;
use crate::{image, window::digest};
use oneclaw_model::ProviderKind;
use serde_json::Value;

/// The parameters there are.
const PARAMETERS: &[&str] = &[
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "user",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "response_format",
    "reasoning_effort",
    "metadata",
    "store",
    "service_tier",
    "modalities",
    "prediction",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "verbosity",
    "web_search_options",
    "audio",
];
/// What reasoning models refuse.
const NOT_FOR_REASONING: &[&str] = &[
    "temperature",
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "logit_bias",
];
const LONGEST_NAME: usize = 64;
const LONGEST_ID: usize = 40;
const MOST_TOOLS: usize = 128;

pub(crate) fn parse(body: &Value, model: &Model) -> Result<Ask, Rejection> {
    if let Some(key) = body.as_object().and_then(|object| unknown(object, PARAMETERS)) {
        let key = excerpt(key, 80);
        let message = format!("Unknown parameter: '{key}'.");
        return Err(Rejection::bad(message).param(key).code("unknown_parameter"));
    }
    let is_streamed = boolean(body, "stream")?;
    if get(body, "stream_options").is_some() && !is_streamed {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Rejection::bad(message).param("stream_options"));
    }
    let mut ask = Ask {
        model: model.id.clone(),
        max_output: max_output(body, model)?,
        tools: tools(body)?,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
        is_reasoning_off: text(body, "reasoning_effort") == Some("none"),
        wants_usage: get(body, "stream_options")
            .is_some_and(|o| o.get("include_usage") == Some(&Value::Bool(true))),
        ..Ask::default()
    };
    ask.choice = choice(body, &ask.tools)?;
    messages(body, &mut ask)?;
    Ok(ask)
}

fn boolean(body: &Value, key: &str) -> Result<bool, Rejection> {
    match get(body, key) {
        None => Ok(false),
        Some(Value::Bool(value)) => Ok(*value),
        Some(other) => Err(wrong_type(key, "a boolean", other)),
    }
}

fn max_output(body: &Value, model: &Model) -> Result<Option<u64>, Rejection> {
    if is_reasoning_model(&model.id) {
        if get(body, "max_tokens").is_some() {
            let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                           'max_completion_tokens' instead.";
            return Err(Rejection::bad(message).param("max_tokens").code("unsupported_parameter"));
        }
        for key in NOT_FOR_REASONING {
            let is_default =
                body.get(key).and_then(Value::as_f64) == Some(1.0) && matches!(*key, "temperature" | "top_p");
            if get(body, key).is_some() && !is_default {
                let message = format!("Unsupported parameter: '{key}' is not supported with this model.");
                return Err(Rejection::bad(message).param(*key).code("unsupported_parameter"));
            }
        }
    }
    if get(body, "reasoning_effort").is_some() && !is_reasoning_model(&model.id) {
        let message = "Unsupported parameter: 'reasoning_effort' is not supported with this model.";
        return Err(Rejection::bad(message).param("reasoning_effort").code("unsupported_parameter"));
    }
    if get(body, "max_tokens").is_some() && get(body, "max_completion_tokens").is_some() {
        let message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return Err(Rejection::bad(message).param("max_tokens").code("invalid_parameter_combination"));
    }
    for key in ["max_tokens", "max_completion_tokens"] {
        let Some(value) = get(body, key) else { continue };
        let Some(number) = value.as_i64() else { return Err(wrong_type(key, "an integer", value)) };
        let number = u64::try_from(number).unwrap_or(0);
        if number < 1 {
            let message = format!(
                "Invalid '{key}': integer below minimum value. Expected a value >= 1, but got {value} instead."
            );
            return Err(Rejection::bad(message).param(key).code("integer_below_min_value"));
        }
        if number > model.max_output {
            let message = format!(
                "{key} is too large: {number}. This model supports at most {} completion tokens, whereas you provided \
                 {number}.",
                model.max_output
            );
            return Err(Rejection::bad(message).param(key).code("invalid_value"));
        }
        return Ok(Some(number));
    }
    Ok(None)
}

fn tools(body: &Value) -> Result<Vec<Tool>, Rejection> {
    match get(body, "tools") {
        None => return Ok(vec![]),
        Some(Value::Array(list)) if list.is_empty() => {
            let message = "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty \
                           array instead.";
            return Err(Rejection::bad(message).param("tools").code("empty_array"));
        }
        Some(Value::Array(list)) if list.len() > MOST_TOOLS => {
            let message = format!(
                "Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, but got an array \
                 with length {} instead.",
                list.len()
            );
            return Err(Rejection::bad(message).param("tools").code("array_above_max_length"));
        }
        Some(Value::Array(_)) => {}
        Some(other) => return Err(wrong_type("tools", "an array of objects", other)),
    }
    let mut tools: Vec<Tool> = Vec::new();
    for (at, tool) in items(body, "tools").iter().enumerate() {
        if text(tool, "type") != Some("function") {
            return Err(missing(&format!("tools[{at}].type")));
        }
        let Some(function) = tool.get("function").filter(|f| f.is_object()) else {
            return Err(missing(&format!("tools[{at}].function")));
        };
        let Some(name) = text(function, "name") else {
            return Err(missing(&format!("tools[{at}].function.name")));
        };
        check_name(name, &format!("tools[{at}].function.name"))?;
        if tools.iter().any(|tool| tool.name == name) {
            let message = format!("Invalid 'tools': duplicate function name '{name}'.");
            return Err(Rejection::bad(message).param("tools").code("invalid_value"));
        }
        let schema = get(function, "parameters").cloned().unwrap_or_else(|| serde_json::json!({}));
        check_schema(name, &schema, at)?;
        tools.push(Tool {
            name: name.to_owned(),
            description: text(function, "description").unwrap_or_default().to_owned(),
            schema,
            is_breakpoint: false,
        });
    }
    Ok(tools)
}

fn check_schema(name: &str, schema: &Value, at: usize) -> Result<(), Rejection> {
    let problem = match schema.as_object() {
        None => Some(format!("schema must be an object, got {}", kind_of(schema))),
        Some(object) if object.is_empty() => None,
        Some(_) if text(schema, "type") != Some("object") => Some(format!(
            "schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{}\"'.",
            excerpt(text(schema, "type").unwrap_or("None"), 40)
        )),
        Some(_) => array_without_items(schema).map(|way| {
            let way: Vec<String> = way.iter().map(|step| format!("'{}'", excerpt(step, 80))).collect();
            format!("In context=('properties', {}), array schema missing items.", way.join(", "))
        }),
    };
    match problem {
        None => Ok(()),
        Some(problem) => Err(Rejection::bad(format!("Invalid schema for function '{name}': {problem}"))
            .param(format!("tools[{at}].function.parameters"))
            .code("invalid_function_parameters")),
    }
}

fn choice(body: &Value, tools: &[Tool]) -> Result<Choice, Rejection> {
    let Some(value) = get(body, "tool_choice") else { return Ok(Choice::Auto) };
    if tools.is_empty() {
        let message =
            "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.";
        return Err(Rejection::bad(message).param("tool_choice"));
    }
    let named = value.get("function").and_then(|f| text(f, "name"));
    match (value.as_str(), named) {
        (Some("auto"), _) => Ok(Choice::Auto),
        (Some("none"), _) => Ok(Choice::Never),
        (Some("required"), _) => Ok(Choice::Any),
        (_, Some(name)) if tools.iter().any(|t| t.name == name) => Ok(Choice::Named(name.to_owned())),
        (_, Some(_)) => Err(Rejection::bad(
            "Invalid value for 'tool_choice': the function is not among the 'tools' specified.",
        )
        .param("tool_choice")),
        _ => {
            Err(Rejection::bad("Invalid value for 'tool_choice'.").param("tool_choice").code("invalid_value"))
        }
    }
}

/// A call of the assistant that waits for its result.
struct Open {
    id: String,
    name: String,
}

fn messages(body: &Value, ask: &mut Ask) -> Result<(), Rejection> {
    let list = match get(body, "messages") {
        None => return Err(missing("messages")),
        Some(Value::Array(list)) if list.is_empty() => {
            let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty \
                           array instead.";
            return Err(Rejection::bad(message).param("messages").code("empty_array"));
        }
        Some(Value::Array(list)) => list,
        Some(other) => return Err(wrong_type("messages", "an array of objects", other)),
    };
    let mut open: Vec<Open> = Vec::new();
    for (at, message) in list.iter().enumerate() {
        let Some(role) = text(message, "role") else { return Err(missing(&format!("messages[{at}].role"))) };
        if role != "tool" {
            all_answered(&open, at)?;
            open.clear();
        }
        match role {
            "system" | "developer" if at > 0 => {
                let message = "Invalid 'messages': there may be one system message, at the beginning.";
                return Err(Rejection::bad(message)
                    .param(format!("messages[{at}].role"))
                    .code("invalid_value"));
            }
            "system" | "developer" => ask.system = content(message, at, Emptiness::Refused)?,
            "user" => {
                let blocks = content(message, at, Emptiness::Refused)?;
                ask.turns.push(Turn { speaker: Speaker::User, blocks });
            }
            "assistant" => {
                let (calls, waiting) = calls(message, at)?;
                let emptiness = if calls.is_empty() { Emptiness::Refused } else { Emptiness::Allowed };
                let mut blocks = content(message, at, emptiness)?;
                blocks.extend(calls);
                ask.turns.push(Turn { speaker: Speaker::Assistant, blocks });
                open = waiting;
            }
            "tool" => {
                let Some(id) = text(message, "tool_call_id") else {
                    return Err(missing(&format!("messages[{at}].tool_call_id")));
                };
                let Some(place) = open.iter().position(|call| call.id == id) else {
                    let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                                   message with 'tool_calls'.";
                    return Err(Rejection::bad(message).param(format!("messages.[{at}].role")));
                };
                let name = open.remove(place).name;
                let mut result = String::new();
                for block in content(message, at, Emptiness::Allowed)? {
                    match block.content {
                        Content::Text(text) => result.push_str(&text),
                        _ => {
                            let message = "Invalid 'messages': tool messages carry text only.";
                            return Err(Rejection::bad(message).param(format!("messages[{at}].content")));
                        }
                    }
                }
                let block = Block::new(Content::Result { name, text: result, media: 0 });
                ask.turns.push(Turn { speaker: Speaker::User, blocks: vec![block] });
            }
            other => {
                let message = format!(
                    "Invalid value: '{}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', \
                     and 'developer'.",
                    excerpt(other, 40)
                );
                return Err(Rejection::bad(message)
                    .param(format!("messages[{at}].role"))
                    .code("invalid_value"));
            }
        }
    }
    all_answered(&open, list.len())?;
    if ask.turns.is_empty() {
        return Err(Rejection::bad("Invalid 'messages': there is no message besides the system message.")
            .param("messages")
            .code("invalid_value"));
    }
    Ok(())
}

fn all_answered(open: &[Open], at: usize) -> Result<(), Rejection> {
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = open.iter().map(|call| call.id.as_str()).collect();
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. \
         The following tool_call_ids did not have response messages: {}",
        excerpt(&ids.join(", "), 400)
    );
    Err(Rejection::bad(message).param(format!("messages.[{at}].role")))
}

/// Whether a message may have no content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Emptiness {
    Allowed,
    Refused,
}

fn content(message: &Value, at: usize, emptiness: Emptiness) -> Result<Vec<Block>, Rejection> {
    let param = format!("messages[{at}].content");
    let blocks = match get(message, "content") {
        None if emptiness == Emptiness::Refused => {
            let message = "Invalid value for 'content': expected a string, got null.";
            return Err(Rejection::bad(message).param(param).code("invalid_type"));
        }
        None => vec![],
        Some(Value::String(text)) if text.is_empty() && emptiness == Emptiness::Allowed => vec![],
        Some(Value::String(text)) => vec![Block::text(text.as_str())],
        Some(Value::Array(parts)) => {
            let parts =
                parts.iter().enumerate().map(|(n, part)| content_part(part, &format!("{param}[{n}]")));
            parts.collect::<Result<_, _>>()?
        }
        Some(other) => return Err(wrong_type(&param, "one of a string or array of objects", other)),
    };
    let is_empty =
        blocks.is_empty() || blocks.iter().any(|b| matches!(&b.content, Content::Text(t) if t.is_empty()));
    if is_empty && emptiness == Emptiness::Refused {
        let message = format!("Invalid '{param}': the content must not be empty.");
        return Err(Rejection::bad(message).param(param).code("invalid_value"));
    }
    Ok(blocks)
}

fn content_part(part: &Value, param: &str) -> Result<Block, Rejection> {
    match text(part, "type") {
        Some("text") => text(part, "text").map(Block::text).ok_or_else(|| missing(&format!("{param}.text"))),
        Some("refusal") => {
            text(part, "refusal").map(Block::text).ok_or_else(|| missing(&format!("{param}.refusal")))
        }
        Some("image_url") => {
            let Some(url) = part.get("image_url").and_then(|image| text(image, "url")) else {
                return Err(missing(&format!("{param}.image_url.url")));
            };
            media(url, param)
        }
        Some("file") => {
            let Some(data) = part.get("file").and_then(|file| text(file, "file_data")) else {
                return Err(missing(&format!("{param}.file.file_data")));
            };
            media(data, param)
        }
        other => {
            let message = format!(
                "Invalid value: '{}'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and \
                 'file'.",
                excerpt(other.unwrap_or_default(), 40)
            );
            Err(Rejection::bad(message).param(format!("{param}.type")).code("invalid_value"))
        }
    }
}

fn media(url: &str, param: &str) -> Result<Block, Rejection> {
    let tokens = match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
        Some((mime, data)) => image::tokens(ProviderKind::OpenAi, mime, data),
        None if url.starts_with("http://") || url.starts_with("https://") => {
            Some(image::tokens_of_link(ProviderKind::OpenAi))
        }
        None => None,
    };
    let Some(tokens) = tokens else {
        let message = "Invalid image data: expected an address or base64 data of a supported format.";
        return Err(Rejection::bad(message).param(param).code("invalid_value"));
    };
    Ok(Block::new(Content::Media { tokens, digest: digest(url) }))
}

fn calls(message: &Value, at: usize) -> Result<(Vec<Block>, Vec<Open>), Rejection> {
    let (mut blocks, mut open) = (vec![], Vec::<Open>::new());
    if let Some(Value::Array(list)) = get(message, "tool_calls")
        && list.is_empty()
    {
        let text = format!(
            "Invalid 'messages[{at}].tool_calls': empty array. Expected an array with minimum length 1, but got an \
             empty array instead."
        );
        return Err(Rejection::bad(text).param(format!("messages[{at}].tool_calls")).code("empty_array"));
    }
    for (n, call) in items(message, "tool_calls").iter().enumerate() {
        let param = format!("messages[{at}].tool_calls[{n}]");
        if n >= MOST_AT_ONCE {
            let message = format!("Invalid 'messages[{at}].tool_calls': array too long.");
            return Err(Rejection::bad(message).param(param).code("array_above_max_length"));
        }
        let id = text(call, "id").filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| missing(&format!("{param}.id")))?;
        if id.chars().count() > LONGEST_ID {
            let message = format!(
                "Invalid '{param}.id': string too long. Expected a string with maximum length {LONGEST_ID}, but got a \
                 string with length {} instead.",
                id.chars().count()
            );
            return Err(Rejection::bad(message).param(format!("{param}.id")).code("string_above_max_length"));
        }
        if text(call, "type") != Some("function") {
            return Err(missing(&format!("{param}.type")));
        }
        let function = call.get("function").ok_or_else(|| missing(&format!("{param}.function")))?;
        let name = text(function, "name").ok_or_else(|| missing(&format!("{param}.function.name")))?;
        check_name(name, &format!("{param}.function.name"))?;
        let arguments = match function.get("arguments") {
            Some(Value::String(arguments)) => arguments,
            None => return Err(missing(&format!("{param}.function.arguments"))),
            Some(other) => return Err(wrong_type(&format!("{param}.function.arguments"), "a string", other)),
        };
        if open.iter().any(|call| call.id == id) {
            let message = format!("Invalid '{param}.id': duplicate tool call id.");
            return Err(Rejection::bad(message).param(param).code("invalid_value"));
        }
        blocks.push(Block::new(Content::Call { name: name.to_owned(), arguments: arguments.clone() }));
        open.push(Open { id: id.to_owned(), name: name.to_owned() });
    }
    Ok((blocks, open))
}

fn check_name(name: &str, param: &str) -> Result<(), Rejection> {
    if is_name(name, LONGEST_NAME, "") {
        return Ok(());
    }
    let message = format!(
        "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'."
    );
    Err(Rejection::bad(message).param(param).code("invalid_value"))
}

fn missing(param: &str) -> Rejection {
    Rejection::bad(format!("Missing required parameter: '{param}'."))
        .param(param)
        .code("missing_required_parameter")
}

fn wrong_type(param: &str, wanted: &str, got: &Value) -> Rejection {
    let message = format!("Invalid type for '{param}': expected {wanted}, but got {} instead.", kind_of(got));
    Rejection::bad(message).param(param).code("invalid_type")
}
