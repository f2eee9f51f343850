//! What generateContent takes. Field names come in camel case or in snake case.

use super::super::Rejection;
use super::super::json::{MOST_AT_ONCE, excerpt, is_name};
use super::contents::{contents, no_data};
use super::{rules, schema};
use crate::ask::{Ask, Block, Choice, Style, Tool};
use crate::config::Model;
use crate::subject::Subject;
use oneclaw_catalogue::Ability;
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
    "continuationToken",
    "serviceTier",
    "store",
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
const LONGEST_NAME: usize = 128;

pub(crate) fn parse(body: &Value, subject: &Subject<'_>) -> Result<Ask, Rejection> {
    let object = body.as_object().ok_or_else(|| Rejection::bad("Invalid JSON payload received."))?;
    known(object, FIELDS, None)?;
    let tools = tools(body)?;
    if !tools.is_empty() && subject.cannot(Ability::Tools) {
        let message = format!("Function calling is not enabled for models/{}", subject.model.id);
        return Err(Rejection::bad(message));
    }
    let generation = field(body, "generationConfig");
    if let Some(generation) = generation.and_then(Value::as_object) {
        known(generation, GENERATION_FIELDS, Some("generation_config"))?;
    }
    let thinking = generation.and_then(|g| field(g, "thinkingConfig"));
    let amount = rules::thinking(thinking, subject)?;
    let wants_thinking =
        thinking.and_then(|t| field(t, "includeThoughts")).is_some_and(|value| *value == Value::Bool(true));
    Ok(Ask {
        model: subject.model.id.clone(),
        max_output: max_output(generation, subject.model)?,
        system: system(body)?,
        turns: contents(body, subject)?,
        wants_usage: true,
        wants_thinking,
        amount,
        hides_thoughts: subject.facts.is_some() && !wants_thinking,
        continues: rules::continues(subject),
        continuation: field(body, "continuationToken").and_then(Value::as_str).map(str::to_owned),
        style: Style {
            is_known: subject.facts.is_some(),
            signs_calls: rules::signs_calls(subject),
            signs_texts: rules::is_by_level(subject),
            ..Style::default()
        },
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
            if field(declaration, "parameters").is_some()
                && field(declaration, "parametersJsonSchema").is_some()
            {
                return Err(Rejection::bad(format!(
                    "* GenerateContentRequest.{place}: parameters and parameters_json_schema are mutually exclusive.\n"
                )));
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

/// A field by its camel-case name, however it is written.
pub(super) fn field<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
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
