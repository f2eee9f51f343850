//! What a model of the catalogue refuses, and how much it reasons.

use super::super::Rejection;
use super::super::json::{excerpt, get, text};
use super::request::required;
use crate::ask::Amount;
use crate::subject::Subject;
use oneclaw_catalogue::{Refusal, ThinkingType};
use oneclaw_model::Effort;
use serde_json::Value;

const LEAST_BUDGET: u64 = 1_024;
const SAMPLING: &[&str] = &["temperature", "top_p", "top_k"];
/// The effort of a request that names none.
const USUAL_EFFORT: Effort = Effort::High;

/// How the model is going to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reasons {
    pub amount: Amount,
    /// Whether the text of the reasoning is shown.
    pub is_shown: bool,
    /// Whether a tool loop has to begin with the reasoning that began it.
    pub is_wanted_back: bool,
}

/// Checks a request against its model.
pub(super) fn check(
    body: &Value,
    subject: &Subject<'_>,
    max_tokens: Option<u64>,
) -> Result<Reasons, Rejection> {
    if subject.refuses(Refusal::Sampling)
        && let Some(key) = SAMPLING.iter().find(|key| get(body, key).is_some())
    {
        return Err(Rejection::bad(format!("`{key}` is deprecated for this model.")));
    }
    let messages = get(body, "messages").and_then(Value::as_array);
    let last = messages.and_then(|messages| messages.last());
    if subject.refuses(Refusal::Prefill) && last.and_then(|last| text(last, "role")) == Some("assistant") {
        return Err(Rejection::bad(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    let effort = effort(body, subject)?;
    let thinking = thinking(body, subject, max_tokens, effort)?;
    check_choice(body, subject, thinking)?;
    let Some(reasoning) = subject.reasoning() else {
        return Ok(Reasons { amount: Amount::Nothing, is_shown: false, is_wanted_back: false });
    };
    let is_least = effort.is_some() && effort == reasoning.efforts.iter().min().copied();
    let told = if is_least { Amount::Little } else { Amount::Usual };
    let amount = match thinking {
        Some(ThinkingType::Disabled | ThinkingType::BetweenTools) => Amount::Nothing,
        Some(ThinkingType::Enabled | ThinkingType::Adaptive) => told,
        None if reasoning.by_default => told,
        None => Amount::Nothing,
    };
    let is_wanted_back = thinking == Some(ThinkingType::Enabled);
    Ok(Reasons { amount, is_shown: is_shown(body, subject)?, is_wanted_back })
}

fn effort(body: &Value, subject: &Subject<'_>) -> Result<Option<Effort>, Rejection> {
    let word = get(body, "output_config").and_then(|config| get(config, "effort"));
    let Some(word) = word.map(|word| word.as_str().unwrap_or_default()) else { return Ok(None) };
    let taken = subject.efforts(None);
    let effort = match Effort::of_word(word) {
        None | Some(Effort::None | Effort::Minimal) => {
            return Err(Rejection::bad(
                "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
            ));
        }
        Some(effort) => effort,
    };
    if taken.is_empty() {
        return Err(Rejection::bad("This model does not support the effort parameter."));
    }
    if !taken.contains(&effort) {
        let words: Vec<&str> = taken.iter().map(|effort| effort.word()).collect();
        return Err(Rejection::bad(format!(
            "This model does not support effort level '{word}'. Supported levels: {}.",
            words.join(", ")
        )));
    }
    Ok(Some(effort))
}

fn thinking(
    body: &Value,
    subject: &Subject<'_>,
    max_tokens: Option<u64>,
    effort: Option<Effort>,
) -> Result<Option<ThinkingType>, Rejection> {
    const TYPES: [ThinkingType; 4] =
        [ThinkingType::Enabled, ThinkingType::Adaptive, ThinkingType::BetweenTools, ThinkingType::Disabled];
    let Some(thinking) = get(body, "thinking") else { return Ok(None) };
    let word = text(thinking, "type").ok_or_else(|| required("thinking.type"))?;
    let Some(kind) = TYPES.into_iter().find(|kind| kind.word() == word) else {
        return Err(Rejection::bad(format!(
            "thinking: Input tag '{}' found using 'type' does not match any of the expected tags: 'adaptive', \
             'between_tools', 'disabled', 'enabled'",
            excerpt(word, 40)
        )));
    };
    let Some(reasoning) = subject.reasoning() else {
        return match kind {
            ThinkingType::Disabled => Ok(Some(kind)),
            _ => Err(Rejection::bad(format!("'{}' does not support thinking.", subject.model.id))),
        };
    };
    if !reasoning.types.contains(&kind) {
        return Err(wrong_type(kind, &reasoning.types));
    }
    if matches!(kind, ThinkingType::Disabled | ThinkingType::BetweenTools)
        && let Some(most) = reasoning.quiet_up_to
        && effort.unwrap_or(USUAL_EFFORT) > most
    {
        return Err(Rejection::bad(format!(
            "\"thinking.type.{word}\" is only supported at effort \"{}\" or below for this model.",
            most.word()
        )));
    }
    if kind == ThinkingType::Enabled {
        check_budget(thinking, max_tokens)?;
        if get(body, "temperature").is_some_and(|t| t.as_f64() != Some(1.0)) {
            return Err(Rejection::bad("`temperature` may only be set to 1 when thinking is enabled."));
        }
    }
    Ok(Some(kind))
}

/// The words for a type that the model does not take.
fn wrong_type(kind: ThinkingType, taken: &[ThinkingType]) -> Rejection {
    if !taken.contains(&ThinkingType::Adaptive) {
        return Rejection::bad(format!("{} thinking is not supported on this model", kind.word()));
    }
    // Where thinking cannot be turned off, the nearest to it is named.
    let instead = match kind {
        ThinkingType::Disabled if taken.contains(&ThinkingType::BetweenTools) => ThinkingType::BetweenTools,
        _ => ThinkingType::Adaptive,
    };
    Rejection::bad(format!(
        "\"thinking.type.{}\" is not supported for this model. Use \"thinking.type.{}\" and \"output_config.effort\" to \
         control thinking behavior.",
        kind.word(),
        instead.word()
    ))
}

fn check_budget(thinking: &Value, max_tokens: Option<u64>) -> Result<(), Rejection> {
    let Some(budget) = thinking.get("budget_tokens").and_then(Value::as_u64) else {
        return Err(required("thinking.enabled.budget_tokens"));
    };
    if budget < LEAST_BUDGET {
        return Err(Rejection::bad(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        ));
    }
    if max_tokens.is_some_and(|most| budget >= most) {
        return Err(Rejection::bad("`max_tokens` must be greater than `thinking.budget_tokens`."));
    }
    Ok(())
}

fn check_choice(
    body: &Value,
    subject: &Subject<'_>,
    thinking: Option<ThinkingType>,
) -> Result<(), Rejection> {
    let kind = get(body, "tool_choice").and_then(|choice| text(choice, "type")).unwrap_or_default();
    if !matches!(kind, "any" | "tool") {
        return Ok(());
    }
    if subject.refuses(Refusal::ForcedTool) {
        return Err(Rejection::bad(format!(
            "tool_choice: type \"{kind}\" is not supported for this model. Use \"auto\" or \"none\"."
        )));
    }
    if thinking == Some(ThinkingType::Enabled) {
        return Err(Rejection::bad("Thinking may not be enabled when tool_choice forces tool use."));
    }
    Ok(())
}

/// Whether the text of the reasoning is shown: as `display` says, else from 4.7 on not.
fn is_shown(body: &Value, subject: &Subject<'_>) -> Result<bool, Rejection> {
    let display = get(body, "thinking").and_then(|thinking| get(thinking, "display"));
    match display.map(Value::as_str) {
        None => Ok(version(&subject.model.id) < (4, 7)),
        Some(Some("summarized")) => Ok(true),
        Some(Some("omitted")) => Ok(false),
        Some(_) => Err(Rejection::bad("thinking.display: Input should be 'summarized' or 'omitted'")),
    }
}

/// Whether a request whose longest reply does not fit runs until the window is full: from 4.5 on.
pub(super) fn fills_window(id: &str) -> bool {
    version(id) >= (4, 5)
}

/// The version in a name such as `claude-opus-4-5-20251101`; older names have it before the family.
fn version(id: &str) -> (u32, u32) {
    let name = id.rsplit('/').next().unwrap_or(id);
    // A number of more than two digits is a date.
    let numbers: Vec<u32> =
        name.split(['-', '.']).filter(|part| part.len() <= 2).filter_map(|part| part.parse().ok()).collect();
    (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        for (id, expected) in [
            ("claude-opus-4-5-20251101", (4, 5)),
            ("claude-opus-4-20250514", (4, 0)),
            ("claude-3-5-haiku-20241022", (3, 5)),
            ("anthropic/claude-opus-5.5", (5, 5)),
            ("claude-fable-5", (5, 0)),
            ("claude-sonnet-5-5", (5, 5)),
        ] {
            assert_eq!(version(id), expected, "{id}");
        }
    }
}
