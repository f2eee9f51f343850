//! What an Anthropic model is told about thinking: by the types it accepts, its efforts, and what the reply is for.

use super::request::DEFAULT_MAX_TOKENS;
use crate::encode::Mode;
use crate::{Profile, reasoning};
use oneclaw_catalogue::ThinkingType;
use oneclaw_model::{Effort, Part, Request, RequestMessage, Thinking};
use serde_json::{Value, json};

/// The least `budget_tokens` the service takes.
const LEAST_BUDGET: u64 = 1_024;

/// What a request says about thinking, and the output limit that results.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// The field `thinking`.
    pub thinking: Option<Value>,
    /// The field `output_config.effort`.
    pub effort: Option<Effort>,
    /// The field `max_tokens`. Thinking counts against it.
    pub max_tokens: u64,
}

/// What the model is told.
pub(super) fn told(profile: &Profile, request: &Request, mode: Mode) -> Told {
    let effort = reasoning::effort(profile, mode);
    match (mode, profile.effort) {
        (Mode::Complete, _) | (Mode::Chat, Some(Effort::None)) => quiet(profile, request, mode, effort),
        (Mode::Chat, None) => {
            let thinks = profile.reasoning().is_some_and(|reasoning| reasoning.by_default);
            let thinking = Some(adaptive(profile)).filter(|_| thinks && omits_text(profile));
            Told { thinking, effort: None, max_tokens: max_tokens(profile, request, 0) }
        }
        (Mode::Chat, Some(wanted)) => {
            let max_tokens = max_tokens(profile, request, 0);
            if takes(profile, ThinkingType::Adaptive) {
                Told { thinking: Some(adaptive(profile)), effort, max_tokens }
            } else if takes(profile, ThinkingType::Enabled) {
                Told { thinking: enabled(request, wanted, max_tokens), effort: None, max_tokens }
            } else {
                Told { thinking: None, effort, max_tokens }
            }
        }
    }
}

/// As little thinking as the model can do.
fn quiet(profile: &Profile, request: &Request, mode: Mode, effort: Option<Effort>) -> Told {
    let thinks = profile.reasoning().map(|reasoning| reasoning.by_default);
    let (thinking, effort, room) = if thinks == Some(false) {
        // Nothing has to be turned off.
        (None, None, reasoning::room(profile, mode, None))
    } else if takes(profile, ThinkingType::Disabled) {
        (Some(ThinkingType::Disabled), None, reasoning::room(profile, mode, Some(Effort::None)))
    } else if takes(profile, ThinkingType::BetweenTools) {
        let most = profile.reasoning().and_then(|reasoning| reasoning.quiet_up_to);
        let fitting = effort.filter(|effort| most.is_none_or(|most| *effort <= most));
        (Some(ThinkingType::BetweenTools), fitting, reasoning::room(profile, mode, effort))
    } else {
        (None, effort, reasoning::room(profile, mode, effort))
    };
    let thinking = thinking.map(|kind| json!({"type": kind.word()}));
    Told { thinking, effort, max_tokens: max_tokens(profile, request, room) }
}

/// The output limit; the service wants one where the request names none.
fn max_tokens(profile: &Profile, request: &Request, room: u64) -> u64 {
    let max_output = Some(request.max_output.unwrap_or(DEFAULT_MAX_TOKENS));
    let asking = Request { max_output, ..Request::default() };
    reasoning::output_limit(profile, &asking, room).unwrap_or(DEFAULT_MAX_TOKENS)
}

fn types(profile: &Profile) -> &[ThinkingType] {
    let known = profile.reasoning().map(|reasoning| reasoning.types.as_slice());
    profile.learnt.thinking_types.as_deref().or(known).unwrap_or_default()
}

fn takes(profile: &Profile, kind: ThinkingType) -> bool {
    types(profile).contains(&kind)
}

/// Whether the model leaves the text out of its thinking unless it is asked for: 4.7 and later, which are those that take
/// `adaptive` and no longer `enabled`.
fn omits_text(profile: &Profile) -> bool {
    takes(profile, ThinkingType::Adaptive) && !takes(profile, ThinkingType::Enabled)
}

fn adaptive(profile: &Profile) -> Value {
    let kind = ThinkingType::Adaptive.word();
    match omits_text(profile) {
        true => json!({"type": kind, "display": "summarized"}),
        false => json!({"type": kind}),
    }
}

/// Thinking with a budget. Left out where the limit leaves no room for it, and where a reply of the open turn has calls but
/// does not start with thinking: the service refuses that while thinking is enabled.
fn enabled(request: &Request, effort: Effort, max_tokens: u64) -> Option<Value> {
    let budget = reasoning::budget(effort, Some(max_tokens));
    let is_fine = budget >= LEAST_BUDGET && !has_call_without_thinking(request);
    is_fine.then(|| json!({"type": ThinkingType::Enabled.word(), "budget_tokens": budget}))
}

fn has_call_without_thinking(request: &Request) -> bool {
    let is_user = |message: &RequestMessage| matches!(message, RequestMessage::User { .. });
    let open = request.messages.rsplit(is_user).next().unwrap_or_default();
    open.iter().any(|message| {
        let parts = message.parts();
        let starts_with_thinking = matches!(
            parts.first(),
            Some(Part::Thinking(Thinking::Signed { .. } | Thinking::Redacted { .. }))
        );
        !starts_with_thinking && parts.iter().any(|part| matches!(part, Part::Call(_)))
    })
}
