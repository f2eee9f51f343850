//! What a model refuses by its family: how it may be told to reason, and whether signatures are wanted.

use super::super::json::excerpt;
use super::super::{Rejection, is_reasoning_model};
use super::request::field;
use crate::ask::Amount;
use crate::subject::Subject;
use oneclaw_model::Effort;
use serde_json::Value;

/// The largest budget there is.
const MOST_BUDGET: u64 = 32_768;
/// Lets the model decide.
const AUTOMATIC: i64 = -1;

/// Whether the model is known to be told by levels: Gemini 3 and later.
pub(super) fn is_by_level(subject: &Subject<'_>) -> bool {
    subject.reasoning().is_some_and(|reasoning| reasoning.by_level)
}

/// Whether the model signs its calls and wants the signatures back.
pub(super) fn signs_calls(subject: &Subject<'_>) -> bool {
    match subject.facts {
        Some(_) => is_by_level(subject),
        None => subject.model.id.starts_with("gemini-3"),
    }
}

/// Whether long replies come in several requests.
pub(super) fn continues(subject: &Subject<'_>) -> bool {
    subject.facts.is_some() && subject.model.id.starts_with("gemini-4-argon")
}

/// Checks what is said about thinking: how much the model is going to.
pub(super) fn thinking(config: Option<&Value>, subject: &Subject<'_>) -> Result<Amount, Rejection> {
    let budget = config.and_then(|config| field(config, "thinkingBudget"));
    let level = config.and_then(|config| field(config, "thinkingLevel"));
    if subject.facts.is_none() {
        if budget.and_then(Value::as_i64) == Some(0) && subject.model.id.contains("gemini-2.5-pro") {
            return Err(only_thinking());
        }
        let reasons = is_reasoning_model(&subject.model.id);
        return Ok(if reasons { Amount::Usual } else { Amount::Nothing });
    }
    let Some(reasoning) = subject.reasoning() else {
        return match config {
            Some(_) => Err(Rejection::bad(
                "Unable to submit request because thinking is not supported by this model.",
            )),
            None => Ok(Amount::Nothing),
        };
    };
    let usual = if reasoning.by_default { Amount::Usual } else { Amount::Nothing };
    match (budget, level) {
        (None, None) => Ok(usual),
        (Some(_), Some(_)) => {
            Err(Rejection::bad("You can only set only one of thinking budget and thinking level."))
        }
        (None, Some(level)) => {
            let word = level.as_str().unwrap_or_default();
            if !reasoning.by_level {
                return Err(Rejection::bad("Thinking level is not supported for this model."));
            }
            let effort = Effort::of_word(&word.to_ascii_lowercase());
            let Some(effort) =
                effort.filter(|effort| reasoning.efforts.is_empty() || reasoning.efforts.contains(effort))
            else {
                return Err(Rejection::bad(format!(
                    "Thinking level {} is not supported for this model. Please retry with other thinking level.",
                    excerpt(&word.to_ascii_uppercase(), 40)
                )));
            };
            let is_least = reasoning.efforts.iter().min() == Some(&effort);
            Ok(if is_least { Amount::Little } else { Amount::Usual })
        }
        (Some(budget), None) => {
            let Some(budget) = budget.as_i64() else {
                return Err(Rejection::bad(
                    "Invalid value at 'generation_config.thinking_config.thinking_budget' (TYPE_INT32)",
                ));
            };
            by_budget(budget, reasoning.least_budget)
        }
    }
}

/// A budget; models that are told by levels take one too, but for none at all.
fn by_budget(budget: i64, least: Option<u64>) -> Result<Amount, Rejection> {
    if budget == AUTOMATIC {
        return Ok(Amount::Usual);
    }
    let least = least.unwrap_or(1);
    match u64::try_from(budget) {
        Ok(0) if least == 0 => Ok(Amount::Nothing),
        Ok(0) => Err(only_thinking()),
        Ok(budget) if (least..=MOST_BUDGET).contains(&budget) => {
            Ok(if budget == least { Amount::Little } else { Amount::Usual })
        }
        _ => Err(Rejection::bad(format!(
            "The thinking budget {budget} is invalid. Please choose a value between {least} and {MOST_BUDGET}."
        ))),
    }
}

fn only_thinking() -> Rejection {
    Rejection::bad("Budget 0 is invalid. This model only works in thinking mode.")
}
