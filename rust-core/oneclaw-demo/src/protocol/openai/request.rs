//! What chat completions take. Stricter than the original in two points, as some compatible servers are: a text may
//! not be empty, and the one system message comes first.

use super::super::Rejection;
use super::super::json::{excerpt, get, items, text, unknown};
use super::messages::messages;
use super::rules;
use super::shared::{boolean, check_name, check_schema, missing, wrong_type};
use crate::ask::{Amount, Ask, Choice, Delivery, Style, Tool};
use crate::config::{Flavour, Model};
use crate::subject::Subject;
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
const MOST_TOOLS: usize = 128;

pub(crate) fn parse(body: &Value, subject: &Subject<'_>) -> Result<Ask, Rejection> {
    let known = [PARAMETERS, parameters_of(subject.flavour)].concat();
    if let Some(key) = body.as_object().and_then(|object| unknown(object, &known)) {
        let key = excerpt(key, 80);
        let message = format!("Unknown parameter: '{key}'.");
        return Err(Rejection::bad(message).param(key).code("unknown_parameter"));
    }
    let is_streamed = boolean(body, "stream")?;
    if get(body, "stream_options").is_some() && !is_streamed {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Rejection::bad(message).param("stream_options"));
    }
    let thinks = thinks(body, subject.flavour);
    let amount = match subject.flavour {
        Flavour::Plain => rules::check(body, subject)?,
        _ if thinks => Amount::Usual,
        _ => Amount::Nothing,
    };
    let mut ask = Ask {
        model: subject.model.id.clone(),
        max_output: max_output(body, subject.model)?,
        tools: tools(body)?,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
        amount,
        wants_thinking: thinks,
        reserves_output: true,
        truncates: subject.flavour == Flavour::Ollama,
        style: Style { is_known: subject.facts.is_some(), ..Style::default() },
        wants_usage: get(body, "stream_options")
            .is_some_and(|o| o.get("include_usage") == Some(&Value::Bool(true))),
        ..Ask::default()
    };
    ask.choice = choice(body, &ask.tools)?;
    messages(body, &mut ask, subject, thinks)?;
    Ok(ask)
}

/// What only that server's chat completions take.
fn parameters_of(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::DeepSeek | Flavour::Kimi => &["thinking"],
        Flavour::OpenRouter => &["reasoning", "include_reasoning", "provider", "usage", "transforms"],
        Flavour::LlamaCpp | Flavour::Vllm => &["chat_template_kwargs", "top_k", "min_p"],
        Flavour::Plain | Flavour::Ollama | Flavour::LmStudio => &[],
    }
}

/// Whether that server's model reasons and shows it.
fn thinks(body: &Value, flavour: Flavour) -> bool {
    match flavour {
        Flavour::DeepSeek | Flavour::Kimi => {
            get(body, "thinking").and_then(|thinking| text(thinking, "type")) != Some("disabled")
        }
        Flavour::OpenRouter => {
            let effort = get(body, "reasoning").and_then(|reasoning| text(reasoning, "effort"));
            effort.is_some_and(|effort| effort != "none")
        }
        Flavour::Plain | Flavour::Ollama | Flavour::LlamaCpp | Flavour::LmStudio | Flavour::Vllm => false,
    }
}

fn max_output(body: &Value, model: &Model) -> Result<Option<u64>, Rejection> {
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
        check_schema(name, &schema, format!("tools[{at}].function.parameters"))?;
        tools.push(Tool {
            name: name.to_owned(),
            description: text(function, "description").unwrap_or_default().to_owned(),
            schema,
            is_breakpoint: false,
        });
    }
    Ok(tools)
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
