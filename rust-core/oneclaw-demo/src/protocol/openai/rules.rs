//! What a model refuses in chat completions: by what the catalogue knows of it, else by its name.

use super::super::json::{get, items};
use super::super::{Rejection, is_reasoning_model};
use super::shared::{check_abilities, effort, listed, unsupported};
use crate::ask::Amount;
use crate::subject::Subject;
use oneclaw_catalogue::Refusal;
use oneclaw_model::Effort;
use serde_json::Value;

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
/// What models of the catalogue that refuse sampling refuse while they reason, and what they always refuse.
const WHILE_REASONING: &[&str] = &["temperature", "top_p", "logprobs", "top_logprobs"];
const NEVER: &[&str] = &["presence_penalty", "frequency_penalty", "logit_bias", "stop"];

/// Checks a request against its model: how much the model is going to reason.
pub(super) fn check(body: &Value, subject: &Subject<'_>) -> Result<Amount, Rejection> {
    match subject.facts {
        Some(_) => by_catalogue(body, subject),
        None => by_name(body, subject),
    }
}

fn by_name(body: &Value, subject: &Subject<'_>) -> Result<Amount, Rejection> {
    if !is_reasoning_model(&subject.model.id) {
        return match get(body, "reasoning_effort") {
            Some(_) => Err(unsupported("reasoning_effort")),
            None => Ok(Amount::Nothing),
        };
    }
    check_max_tokens(body)?;
    for key in NOT_FOR_REASONING {
        if get(body, key).is_some() && !is_default(body, key) {
            return Err(unsupported(key));
        }
    }
    let is_off = body.get("reasoning_effort").and_then(Value::as_str) == Some("none");
    Ok(if is_off { Amount::Nothing } else { Amount::Usual })
}

fn by_catalogue(body: &Value, subject: &Subject<'_>) -> Result<Amount, Rejection> {
    if subject.refuses(Refusal::ChatCompletions) {
        let message = "This model is only supported in v1/responses and not in v1/chat/completions.";
        return Err(Rejection::new(404, message).param("model"));
    }
    if subject.refuses(Refusal::MaxTokens) {
        check_max_tokens(body)?;
    }
    check_abilities(body, subject)?;
    let effort = effort(body, "reasoning_effort", "reasoning_effort")?;
    if let Some(effort) = effort {
        check_effort(effort, subject)?;
    }
    let has_tools = !items(body, "tools").is_empty();
    let is_none = effort == Some(Effort::None);
    let unless_none = subject.refuses(Refusal::ChatToolsUnlessNone) && !is_none;
    let with_effort = subject.refuses(Refusal::ChatToolsWithEffort) && effort.is_some() && !is_none;
    if has_tools && (unless_none || with_effort) {
        return Err(Rejection::bad(format!(
            "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions. To use function \
             tools, use /v1/responses or set reasoning_effort to 'none'.",
            subject.model.id
        ))
        .param("reasoning_effort"));
    }
    let amount = amount(effort, subject);
    if subject.refuses(Refusal::Sampling) {
        // Some that never reason refuse it too.
        check_sampling(body, amount != Amount::Nothing || subject.reasoning().is_none())?;
    }
    Ok(amount)
}

/// How much a model reasons that is told so much, or nothing.
pub(in crate::protocol) fn amount(effort: Option<Effort>, subject: &Subject<'_>) -> Amount {
    let Some(reasoning) = subject.reasoning() else { return Amount::Nothing };
    let least = reasoning.efforts.iter().min();
    match effort {
        Some(Effort::None) => Amount::Nothing,
        Some(effort) if least == Some(&effort) => Amount::Little,
        Some(_) => Amount::Usual,
        None if reasoning.by_default => Amount::Usual,
        None => Amount::Nothing,
    }
}

fn check_effort(effort: Effort, subject: &Subject<'_>) -> Result<(), Rejection> {
    // Only Responses know the highest.
    let taken = subject.efforts(Some(Effort::Max));
    if taken.is_empty() {
        return Err(unsupported("reasoning_effort"));
    }
    if taken.contains(&effort) {
        return Ok(());
    }
    let words: Vec<&str> = taken.iter().map(|effort| effort.word()).collect();
    Err(Rejection::bad(format!(
        "Unsupported value: 'reasoning_effort' does not support '{}' with this model. Supported values are: {}.",
        effort.word(),
        listed(&words)
    ))
    .param("reasoning_effort")
    .code("unsupported_value"))
}

fn check_sampling(body: &Value, is_refused: bool) -> Result<(), Rejection> {
    let refused = WHILE_REASONING.iter().filter(|_| is_refused).chain(NEVER);
    for key in refused {
        match get(body, key) {
            None => {}
            Some(_) if is_default(body, key) => {}
            Some(value) if *key == "temperature" => {
                return Err(Rejection::bad(format!(
                    "Unsupported value: 'temperature' does not support {value} with this model. Only the default (1) \
                     value is supported."
                ))
                .param("temperature")
                .code("unsupported_value"));
            }
            Some(_) => return Err(unsupported(key)),
        }
    }
    Ok(())
}

fn check_max_tokens(body: &Value) -> Result<(), Rejection> {
    if get(body, "max_tokens").is_none() {
        return Ok(());
    }
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                   'max_completion_tokens' instead.";
    Err(Rejection::bad(message).param("max_tokens").code("unsupported_parameter"))
}

/// Temperature and top_p of 1 change nothing.
fn is_default(body: &Value, key: &str) -> bool {
    matches!(key, "temperature" | "top_p") && body.get(key).and_then(Value::as_f64) == Some(1.0)
}
