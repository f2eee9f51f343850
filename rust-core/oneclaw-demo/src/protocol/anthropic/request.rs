//! What the messages endpoint takes, but for the messages themselves.

use super::super::Rejection;
use super::super::json::{MOST_AT_ONCE, excerpt, get, is_name, items, text, unknown};
use super::messages::messages;
use super::{binding, rules};
use crate::ask::{Amount, Ask, Block, Choice, Content, Delivery, Speaker, Style, Tool, Turn};
use crate::protocol::is_reasoning_model;
use crate::subject::Subject;
use oneclaw_catalogue::Ability;
use serde_json::Value;
use std::collections::HashSet;

const PARAMETERS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "service_tier",
    "container",
    "context_management",
    "output_config",
    "cache_control",
    "inference_geo",
];
/// Those of them that are taken where the size of a prompt is asked for.
const COUNTED: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "thinking",
    "context_management",
    "output_config",
    "cache_control",
];
const MOST_BREAKPOINTS: usize = 4;
const LONGEST_NAME: usize = 128;
const LEAST_THINKING: u64 = 1_024;

pub(crate) fn parse(body: &Value, subject: &Subject<'_>) -> Result<Ask, Rejection> {
    let parameters = if subject.is_count { COUNTED } else { PARAMETERS };
    if let Some(key) = body.as_object().and_then(|object| unknown(object, parameters)) {
        return Err(extra(&excerpt(key, 80)));
    }
    let is_streamed = match get(body, "stream") {
        None => false,
        Some(Value::Bool(value)) => *value,
        Some(_) => return Err(Rejection::bad("stream: Input should be a valid boolean")),
    };
    let max_output = max_tokens(body, subject)?;
    let mut ask = Ask {
        model: subject.model.id.clone(),
        max_output,
        system: system(body)?,
        tools: tools(body)?,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
        wants_usage: true,
        reserves_output: true,
        style: Style { is_known: subject.facts.is_some(), ..Style::default() },
        ..Ask::default()
    };
    let is_wanted_back = match subject.facts {
        Some(_) => {
            let reasons = rules::check(body, subject, max_output)?;
            let checked = binding::check(body, subject)?;
            ask.turns = messages(body, subject, &checked.dropped)?;
            ask.amount = reasons.amount;
            ask.wants_thinking = reasons.is_shown && reasons.amount != Amount::Nothing;
            ask.hides_thoughts = !reasons.is_shown;
            ask.reserves_output = !rules::fills_window(&subject.model.id);
            ask.binding = Some(checked.binding);
            ask.transformations = checked.transformations;
            reasons.is_wanted_back
        }
        None => {
            ask.turns = messages(body, subject, &HashSet::new())?;
            ask.wants_thinking = thinking(body, max_output)?;
            let reasons = is_reasoning_model(&subject.model.id);
            ask.amount = if reasons { Amount::Usual } else { Amount::Nothing };
            ask.wants_thinking
        }
    };
    ask.choice = choice(body, &ask.tools)?;
    check_abilities(&ask, subject)?;
    if is_wanted_back {
        check_open_turn(&ask.turns)?;
    }
    let breakpoints = ask.tools.iter().map(|t| t.is_breakpoint);
    let blocks = ask.system.iter().chain(ask.turns.iter().flat_map(|t| &t.blocks)).map(|b| b.is_breakpoint);
    let found = breakpoints.chain(blocks).filter(|is_breakpoint| *is_breakpoint).count();
    if found > MOST_BREAKPOINTS {
        return Err(Rejection::bad(format!(
            "A maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided. Found {found}."
        )));
    }
    Ok(ask)
}

/// What the model does without may not be in the request.
fn check_abilities(ask: &Ask, subject: &Subject<'_>) -> Result<(), Rejection> {
    let id = &subject.model.id;
    if !ask.tools.is_empty() && subject.cannot(Ability::Tools) {
        return Err(Rejection::bad(format!("'{id}' does not support tools.")));
    }
    let mut blocks = ask.turns.iter().flat_map(|turn| &turn.blocks);
    let has_picture = blocks.any(|block| matches!(block.content, Content::Media { .. }));
    if has_picture && subject.cannot(Ability::Pictures) {
        return Err(Rejection::bad(format!("'{id}' does not support image input.")));
    }
    Ok(())
}

/// The longest reply; nothing has to be said of it where only the size of the prompt is asked for.
fn max_tokens(body: &Value, subject: &Subject<'_>) -> Result<Option<u64>, Rejection> {
    let model = subject.model;
    let value = match get(body, "max_tokens") {
        Some(value) => value,
        None if subject.is_count => return Ok(None),
        None => return Err(required("max_tokens")),
    };
    let Some(number) = value.as_i64() else {
        return Err(Rejection::bad("max_tokens: Input should be a valid integer"));
    };
    let number = u64::try_from(number).unwrap_or(0);
    if number < 1 {
        return Err(Rejection::bad("max_tokens: Input should be greater than or equal to 1"));
    }
    if number > model.max_output {
        return Err(Rejection::bad(format!(
            "max_tokens: {number} > {}, which is the maximum allowed number of output tokens for {}",
            model.max_output, model.id
        )));
    }
    Ok(Some(number))
}

/// Whether reasoning was asked for, and in a way that is allowed, of a model that nothing is known of.
fn thinking(body: &Value, max_tokens: Option<u64>) -> Result<bool, Rejection> {
    let Some(thinking) = get(body, "thinking") else { return Ok(false) };
    match text(thinking, "type") {
        Some("disabled") => return Ok(false),
        Some("adaptive") => return Ok(true),
        Some("enabled") => {}
        _ => {
            let message = "thinking: Input tag does not match any of the expected tags: 'adaptive', 'disabled', \
                           'enabled'";
            return Err(Rejection::bad(message));
        }
    }
    let Some(budget) = thinking.get("budget_tokens").and_then(Value::as_u64) else {
        return Err(required("thinking.enabled.budget_tokens"));
    };
    if budget < LEAST_THINKING {
        return Err(Rejection::bad(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        ));
    }
    if max_tokens.is_some_and(|most| budget >= most) {
        return Err(Rejection::bad("`max_tokens` must be greater than `thinking.budget_tokens`."));
    }
    if get(body, "temperature").is_some_and(|t| t.as_f64() != Some(1.0)) {
        return Err(Rejection::bad("`temperature` may only be set to 1 when thinking is enabled."));
    }
    Ok(true)
}

/// A tool loop that is under way starts with the reasoning that began it.
fn check_open_turn(turns: &[Turn]) -> Result<(), Rejection> {
    let is_open = turns.last().is_some_and(|turn| turn.results().next().is_some());
    let Some((at, turn)) = turns.iter().enumerate().rev().find(|(_, t)| t.speaker == Speaker::Assistant)
    else {
        return Ok(());
    };
    match turn.blocks.first().map(|block| &block.content) {
        Some(Content::Thinking(_)) => Ok(()),
        _ if !is_open => Ok(()),
        _ => Err(Rejection::bad(format!(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When \
             `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the \
             lastmost set of `tool_use` and `tool_result` blocks)."
        ))),
    }
}

fn system(body: &Value) -> Result<Vec<Block>, Rejection> {
    match get(body, "system") {
        None => Ok(vec![]),
        // An empty text is taken for none.
        Some(Value::String(text)) if text.is_empty() => Ok(vec![]),
        Some(Value::String(text)) => Ok(vec![Block::text(text.as_str())]),
        Some(Value::Array(blocks)) => {
            let mut texts = Vec::new();
            for (at, block) in blocks.iter().enumerate() {
                let place = format!("system.{at}");
                keys(block, &["type", "text", "cache_control", "citations"], &place)?;
                if text(block, "type") != Some("text") {
                    return Err(Rejection::bad(format!("{place}.type: Input should be 'text'")));
                }
                let Some(text) = text(block, "text") else { return Err(required(&format!("{place}.text"))) };
                if text.is_empty() {
                    return Err(Rejection::bad("system: text content blocks must be non-empty"));
                }
                let is_breakpoint = breakpoint(block, &place)?;
                texts.push(Block { is_breakpoint, ..Block::text(text) });
            }
            Ok(texts)
        }
        Some(_) => Err(Rejection::bad("system: Input should be a valid string or list")),
    }
}

fn tools(body: &Value) -> Result<Vec<Tool>, Rejection> {
    if get(body, "tools").is_some_and(|tools| !tools.is_array()) {
        return Err(Rejection::bad("tools: Input should be a valid list"));
    }
    if items(body, "tools").len() > MOST_AT_ONCE {
        return Err(Rejection::bad(format!("tools: List should have at most {MOST_AT_ONCE} items")));
    }
    let mut tools: Vec<Tool> = Vec::new();
    for (at, tool) in items(body, "tools").iter().enumerate() {
        let place = format!("tools.{at}.custom");
        const KEYS: &[&str] = &[
            "type",
            "name",
            "description",
            "input_schema",
            "cache_control",
            "strict",
            "defer_loading",
            "allowed_callers",
            "input_examples",
            "eager_input_streaming",
        ];
        keys(tool, KEYS, &place)?;
        let Some(name) = text(tool, "name") else { return Err(required(&format!("{place}.name"))) };
        if !is_name(name, LONGEST_NAME, "") {
            return Err(Rejection::bad(format!(
                "{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,{LONGEST_NAME}}}$'"
            )));
        }
        if tools.iter().any(|tool| tool.name == name) {
            return Err(Rejection::bad("tools: Tool names must be unique."));
        }
        let Some(schema) = get(tool, "input_schema") else {
            return Err(required(&format!("{place}.input_schema")));
        };
        match (schema.is_object(), schema.get("type").and_then(Value::as_str)) {
            (true, Some("object")) => {}
            (true, None) => return Err(required(&format!("{place}.input_schema.type"))),
            _ => return Err(Rejection::bad(format!("{place}.input_schema.type: Input should be 'object'"))),
        }
        let is_breakpoint = breakpoint(tool, &place)?;
        tools.push(Tool {
            name: name.to_owned(),
            description: text(tool, "description").unwrap_or_default().to_owned(),
            schema: schema.clone(),
            is_breakpoint,
        });
    }
    Ok(tools)
}

fn choice(body: &Value, tools: &[Tool]) -> Result<Choice, Rejection> {
    let Some(value) = get(body, "tool_choice") else { return Ok(Choice::Auto) };
    if tools.is_empty() {
        return Err(Rejection::bad(
            "tool_choice: `tool_choice` may only be specified while providing `tools`.",
        ));
    }
    match text(value, "type") {
        Some("auto") => Ok(Choice::Auto),
        Some("none") => Ok(Choice::Never),
        Some("any") => Ok(Choice::Any),
        Some("tool") => match text(value, "name").filter(|name| tools.iter().any(|t| t.name == *name)) {
            Some(name) => Ok(Choice::Named(name.to_owned())),
            None => Err(Rejection::bad("tool_choice: Tool is not in provided `tools`.")),
        },
        _ => Err(Rejection::bad(
            "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
        )),
    }
}

pub(super) fn breakpoint(object: &Value, place: &str) -> Result<bool, Rejection> {
    match get(object, "cache_control") {
        None => Ok(false),
        Some(mark) if text(mark, "type") == Some("ephemeral") => Ok(true),
        Some(_) => {
            Err(Rejection::bad(format!("{place}.cache_control.ephemeral.type: Input should be 'ephemeral'")))
        }
    }
}

pub(super) fn keys(object: &Value, known: &[&str], place: &str) -> Result<(), Rejection> {
    let Some(map) = object.as_object() else {
        return Err(Rejection::bad(format!("{place}: Input should be a valid dictionary")));
    };
    match unknown(map, known) {
        None => Ok(()),
        Some(key) => Err(extra(&format!("{place}.{}", excerpt(key, 80)))),
    }
}

pub(super) fn extra(place: &str) -> Rejection {
    Rejection::bad(format!("{place}: Extra inputs are not permitted"))
}

pub(super) fn required(place: &str) -> Rejection {
    Rejection::bad(format!("{place}: Field required"))
}
