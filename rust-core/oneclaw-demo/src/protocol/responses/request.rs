//! What the Responses endpoint takes, but for the input itself.

use super::super::Rejection;
use super::super::json::{excerpt, get, items, text, unknown};
use super::super::openai::rules::amount;
use super::super::openai::shared::{
    boolean, check_abilities, check_name, check_schema, effort, listed, missing, too_long, unsupported,
    wrong_type,
};
use super::input;
use crate::ask::{Amount, Ask, Block, Choice, Delivery, Style, Tool};
use crate::protocol::is_reasoning_model;
use crate::subject::Subject;
use oneclaw_catalogue::Refusal;
use oneclaw_model::Effort;
use serde_json::{Map, Value, json};

/// The parameters there are.
const PARAMETERS: &[&str] = &[
    "access_programs",
    "background",
    "context_management",
    "conversation",
    "image",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "moderation",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
];
/// Those of them that are taken where the size of a prompt is asked for.
const COUNTED: &[&str] = &[
    "conversation",
    "input",
    "instructions",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "reasoning",
    "text",
    "tool_choice",
    "tools",
    "truncation",
];
/// What can be included in a reply.
const INCLUDED: &[&str] = &[
    "code_interpreter_call.outputs",
    "computer_call_output.output.image_url",
    "file_search_call.results",
    "message.input_image.image_url",
    "message.output_text.logprobs",
    "reasoning.encrypted_content",
    "web_search_call.action.sources",
    "web_search_call.results",
];
const REASONING_FIELDS: &[&str] = &["context", "effort", "generate_summary", "mode", "summary"];
const SUMMARIES: &[&str] = &["auto", "concise", "detailed"];
const CONTEXTS: &[&str] = &["auto", "current_turn", "all_turns"];
const LEAST_OUTPUT: u64 = 16;
const LONGEST_CACHE_KEY: usize = 64;
const MOST_TOOLS: usize = 128;
/// What reasoning models refuse.
const SAMPLING: &[&str] = &["temperature", "top_p", "top_logprobs"];

pub(crate) fn parse(body: &Value, subject: &Subject<'_>) -> Result<Ask, Rejection> {
    let parameters = if subject.is_count { COUNTED } else { PARAMETERS };
    if let Some(key) = body.as_object().and_then(|object| unknown(object, parameters)) {
        return Err(unknown_parameter(&excerpt(key, 80)));
    }
    check_state(body)?;
    check_abilities(body, subject)?;
    let is_streamed = boolean(body, "stream")?;
    if get(body, "stream_options").is_some() && !is_streamed {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Rejection::bad(message).param("stream_options"));
    }
    check_words(body)?;
    let reasoning = reasoning(body, subject)?;
    if get(body, "prompt_cache_key").is_some() {
        let key = string(body, "prompt_cache_key")?.unwrap_or_default();
        let length = key.chars().count();
        if length > LONGEST_CACHE_KEY {
            return Err(too_long("prompt_cache_key", LONGEST_CACHE_KEY, length));
        }
    }
    let tools = tools(body)?;
    let choice = choice(body, &tools)?;
    let is_obfuscated = get(body, "stream_options")
        .is_none_or(|options| options.get("include_obfuscation") != Some(&Value::Bool(false)));
    let mut ask = Ask {
        model: subject.model.id.clone(),
        max_output: max_output(body, subject)?,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
        wants_usage: true,
        amount: reasoning.amount,
        wants_thinking: reasoning.wants_summary && reasoning.amount != Amount::Nothing,
        hides_thoughts: subject.facts.is_some() && !reasoning.wants_summary,
        truncates: text(body, "truncation") == Some("auto"),
        echo: echo(body),
        style: Style {
            is_known: subject.facts.is_some(),
            has_phase: subject.facts.is_some() && has_phase(&subject.model.id),
            is_obfuscated,
            ..Style::default()
        },
        tools,
        choice,
        ..Ask::default()
    };
    if let Some(instructions) = string(body, "instructions")?.filter(|text| !text.is_empty()) {
        ask.system.push(Block::text(instructions));
    }
    input::read(body, &mut ask, subject)?;
    Ok(ask)
}

pub(super) fn unknown_parameter(param: &str) -> Rejection {
    Rejection::bad(format!("Unknown parameter: '{param}'.")).param(param).code("unknown_parameter")
}

/// The text under a key.
fn string<'a>(body: &'a Value, key: &str) -> Result<Option<&'a str>, Rejection> {
    match get(body, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(key, "a string", other)),
    }
}

/// Nothing is kept here, so nothing can be referred to.
fn check_state(body: &Value) -> Result<(), Rejection> {
    boolean(body, "store")?;
    if let Some(id) = string(body, "previous_response_id")? {
        let message = format!("Previous response with id '{}' not found.", excerpt(id, 80));
        return Err(Rejection::bad(message)
            .param("previous_response_id")
            .code("previous_response_not_found"));
    }
    if get(body, "conversation").is_some() {
        return Err(Rejection::new(404, "Conversation not found.").param("conversation"));
    }
    if boolean(body, "background")? {
        return Err(unsupported("background"));
    }
    Ok(())
}

/// Parameters of which each takes a few words.
fn check_words(body: &Value) -> Result<(), Rejection> {
    check_word(body, "truncation", "truncation", &["auto", "disabled"])?;
    boolean(body, "parallel_tool_calls")?;
    match get(body, "include") {
        None => {}
        Some(Value::Array(all)) => {
            for (at, word) in all.iter().enumerate() {
                if !word.as_str().is_some_and(|word| INCLUDED.contains(&word)) {
                    return Err(invalid(word, &format!("include[{at}]"), INCLUDED));
                }
            }
        }
        Some(other) => return Err(wrong_type("include", "an array of strings", other)),
    }
    Ok(())
}

fn check_word(object: &Value, key: &str, param: &str, words: &[&str]) -> Result<(), Rejection> {
    match get(object, key) {
        Some(word) if !word.as_str().is_some_and(|word| words.contains(&word)) => {
            Err(invalid(word, param, words))
        }
        _ => Ok(()),
    }
}

fn invalid(got: &Value, param: &str, words: &[&str]) -> Rejection {
    let got = got.as_str().map_or_else(|| got.to_string(), str::to_owned);
    let message = format!("Invalid value: '{}'. Supported values are: {}.", excerpt(&got, 80), listed(words));
    Rejection::bad(message).param(param).code("invalid_value")
}

/// What is said about reasoning.
struct Reasons {
    amount: Amount,
    wants_summary: bool,
}

fn reasoning(body: &Value, subject: &Subject<'_>) -> Result<Reasons, Rejection> {
    let none = Value::Null;
    let asked = get(body, "reasoning").unwrap_or(&none);
    if let Some(key) = asked.as_object().and_then(|object| unknown(object, REASONING_FIELDS)) {
        return Err(unknown_parameter(&format!("reasoning.{}", excerpt(key, 80))));
    }
    check_word(asked, "summary", "reasoning.summary", SUMMARIES)?;
    check_word(asked, "generate_summary", "reasoning.generate_summary", SUMMARIES)?;
    check_word(asked, "context", "reasoning.context", CONTEXTS)?;
    let effort = effort(asked, "effort", "reasoning.effort")?;
    let wants_summary = get(asked, "summary").or_else(|| get(asked, "generate_summary")).is_some();
    let amount = match subject.facts {
        Some(_) => amount(effort, subject),
        None if is_reasoning_model(&subject.model.id) && effort != Some(Effort::None) => Amount::Usual,
        None => Amount::Nothing,
    };
    if subject.facts.is_some() {
        if let Some(effort) = effort {
            check_effort(effort, subject)?;
        }
        if wants_summary && subject.reasoning().is_none() {
            return Err(unsupported("reasoning.summary"));
        }
        if subject.refuses(Refusal::Sampling) && amount != Amount::Nothing {
            let is_one = |key: &str| body.get(key).and_then(Value::as_f64) == Some(1.0);
            if let Some(key) = SAMPLING.iter().find(|key| get(body, key).is_some() && !is_one(key)) {
                return Err(unsupported(key));
            }
        }
    }
    Ok(Reasons { amount, wants_summary })
}

fn check_effort(effort: Effort, subject: &Subject<'_>) -> Result<(), Rejection> {
    let taken = subject.efforts(None);
    if taken.is_empty() {
        return Err(unsupported("reasoning.effort"));
    }
    if taken.contains(&effort) {
        return Ok(());
    }
    let words: Vec<&str> = taken.iter().map(|effort| effort.word()).collect();
    Err(Rejection::bad(format!(
        "Unsupported value: '{}' is not supported with the '{}' model. Supported values are: {}.",
        effort.word(),
        subject.model.id,
        listed(&words)
    ))
    .param("reasoning.effort")
    .code("unsupported_value"))
}

fn max_output(body: &Value, subject: &Subject<'_>) -> Result<Option<u64>, Rejection> {
    const KEY: &str = "max_output_tokens";
    let Some(value) = get(body, KEY) else { return Ok(None) };
    let Some(number) = value.as_i64() else { return Err(wrong_type(KEY, "an integer", value)) };
    let number = u64::try_from(number).unwrap_or(0);
    if number < LEAST_OUTPUT {
        let message = format!(
            "Invalid '{KEY}': integer below minimum value. Expected a value >= {LEAST_OUTPUT}, but got {value} instead."
        );
        return Err(Rejection::bad(message).param(KEY).code("integer_below_min_value"));
    }
    let most = subject.model.max_output;
    if number > most {
        let message = format!(
            "Invalid '{KEY}': integer above maximum value. Expected a value <= {most}, but got {number} instead."
        );
        return Err(Rejection::bad(message).param(KEY).code("integer_above_max_value"));
    }
    Ok(Some(number))
}

fn tools(body: &Value) -> Result<Vec<Tool>, Rejection> {
    match get(body, "tools") {
        None | Some(Value::Array(_)) => {}
        Some(other) => return Err(wrong_type("tools", "an array of objects", other)),
    }
    let list = items(body, "tools");
    if list.len() > MOST_TOOLS {
        let message = format!(
            "Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, but got an array with \
             length {} instead.",
            list.len()
        );
        return Err(Rejection::bad(message).param("tools").code("array_above_max_length"));
    }
    let mut tools: Vec<Tool> = Vec::new();
    for (at, tool) in list.iter().enumerate() {
        let place = format!("tools[{at}]");
        if text(tool, "type") != Some("function") {
            return Err(missing(&format!("{place}.type")));
        }
        const KEYS: &[&str] = &[
            "type",
            "name",
            "description",
            "parameters",
            "strict",
            "allowed_callers",
            "defer_loading",
            "output_schema",
            "async",
        ];
        if let Some(key) = tool.as_object().and_then(|object| unknown(object, KEYS)) {
            return Err(unknown_parameter(&format!("{place}.{}", excerpt(key, 80))));
        }
        let name = text(tool, "name").ok_or_else(|| missing(&format!("{place}.name")))?;
        check_name(name, &format!("{place}.name"))?;
        if tools.iter().any(|tool| tool.name == name) {
            let message = format!("Invalid 'tools': duplicate function name '{name}'.");
            return Err(Rejection::bad(message).param("tools").code("invalid_value"));
        }
        let schema = get(tool, "parameters").cloned().unwrap_or_else(|| json!({}));
        check_schema(name, &schema, format!("{place}.parameters"))?;
        if tool.get("strict") == Some(&Value::Bool(true)) {
            check_strict(name, &schema, &place)?;
        }
        tools.push(Tool {
            name: name.to_owned(),
            description: text(tool, "description").unwrap_or_default().to_owned(),
            schema,
            is_breakpoint: false,
        });
    }
    Ok(tools)
}

/// A strict schema allows nothing besides its properties, and requires all of them.
fn check_strict(name: &str, schema: &Value, place: &str) -> Result<(), Rejection> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = items(schema, "required");
    let is_required = |key: &str| required.iter().any(|name| name.as_str() == Some(key));
    let problem = if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        "'additionalProperties' is required to be supplied and to be false."
    } else if properties.is_some_and(|properties| !properties.keys().all(|key| is_required(key))) {
        "'required' is required to be supplied and to be an array including every key in properties."
    } else {
        return Ok(());
    };
    Err(Rejection::bad(format!("Invalid schema for function '{name}': In context=(), {problem}"))
        .param(format!("{place}.parameters"))
        .code("invalid_function_parameters"))
}

fn choice(body: &Value, tools: &[Tool]) -> Result<Choice, Rejection> {
    let Some(value) = get(body, "tool_choice") else { return Ok(Choice::Auto) };
    match (value.as_str(), text(value, "type"), text(value, "name")) {
        (Some("auto"), ..) => Ok(Choice::Auto),
        (Some("none"), ..) => Ok(Choice::Never),
        (Some("required"), ..) if !tools.is_empty() => Ok(Choice::Any),
        (_, Some("function"), Some(name)) if tools.iter().any(|tool| tool.name == name) => {
            Ok(Choice::Named(name.to_owned()))
        }
        (_, Some("function"), Some(name)) => Err(Rejection::bad(format!(
            "Tool choice '{}' not found in 'tools' parameter.",
            excerpt(name, 80)
        ))
        .param("tool_choice")),
        _ => {
            Err(Rejection::bad("Invalid value for 'tool_choice'.").param("tool_choice").code("invalid_value"))
        }
    }
}

/// What the reply repeats of the request.
fn echo(body: &Value) -> Map<String, Value> {
    let defaults = [
        ("instructions", Value::Null),
        ("max_output_tokens", Value::Null),
        ("metadata", json!({})),
        ("parallel_tool_calls", true.into()),
        ("prompt_cache_key", Value::Null),
        ("reasoning", json!({"effort": null, "summary": null})),
        ("safety_identifier", Value::Null),
        ("service_tier", "default".into()),
        ("store", true.into()),
        ("temperature", 1.0.into()),
        ("text", json!({"format": {"type": "text"}})),
        ("tool_choice", "auto".into()),
        ("tools", json!([])),
        ("top_p", 1.0.into()),
        ("truncation", "disabled".into()),
        ("user", Value::Null),
    ];
    let echo = defaults.map(|(key, default)| (key.to_owned(), get(body, key).cloned().unwrap_or(default)));
    Map::from_iter(echo)
}

/// Whether messages of that model say whether they are the final answer: gpt-5.3-codex and later.
fn has_phase(id: &str) -> bool {
    let Some(rest) = id.strip_prefix("gpt-") else { return false };
    let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version > (5, 3) || (version == (5, 3) && rest.contains("codex"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_came_with_the_codex_of_5_3() {
        for (id, expected) in [
            ("gpt-5.2", false),
            ("gpt-5.3", false),
            ("gpt-5.3-codex", true),
            ("gpt-5.4-mini", true),
            ("gpt-6-astra", true),
            ("o3", false),
        ] {
            assert_eq!(has_phase(id), expected, "{id}");
        }
    }
}
