//! What a Gemini model is told about thinking: a level from the third generation on, a budget of tokens before.

use crate::encode::{self, Mode, REASONING_ROOM};
use crate::{Profile, reasoning};
use oneclaw_model::{Effort, Request};
use serde_json::{Map, Value, json};

/// The output limit and what is said about thinking, which counts against it.
pub(super) fn generation_config(profile: &Profile, request: &Request, mode: Mode) -> Map<String, Value> {
    let mut thinking = Map::new();
    let room = match profile.reasoning() {
        Some(known) if known.by_level => {
            let effort = reasoning::effort(profile, mode);
            if let Some(effort) = effort {
                thinking.insert("thinkingLevel".into(), json!(effort.word().to_ascii_uppercase()));
            }
            show_thoughts(&mut thinking, mode, true);
            reasoning::room(profile, mode, effort)
        }
        Some(known) => {
            let budget = known.least_budget.and_then(|least| budget(profile, request, mode, least));
            if let Some(budget) = budget {
                thinking.insert("thinkingBudget".into(), json!(budget));
            }
            // Without thinking there is nothing to show, and asking for it is refused.
            show_thoughts(&mut thinking, mode, budget.map_or(known.by_default, |budget| budget > 0));
            let told = budget.map(|_| Effort::None);
            reasoning::room(profile, mode, told).max(room_for_least(mode, known.least_budget))
        }
        None => room_by_name(profile, mode),
    };
    let mut config = Map::new();
    if let Some(limit) = reasoning::output_limit(profile, request, room) {
        config.insert("maxOutputTokens".into(), json!(limit));
    }
    if !thinking.is_empty() {
        config.insert("thinkingConfig".into(), Value::Object(thinking));
    }
    config
}

/// Asks for thoughts to read, in a turn of a model that thinks.
fn show_thoughts(thinking: &mut Map<String, Value>, mode: Mode, thinks: bool) {
    if mode == Mode::Chat && thinks {
        thinking.insert("includeThoughts".into(), json!(true));
    }
}

/// The tokens to think with: the least for a text such as a summary, what the user wants in a turn.
fn budget(profile: &Profile, request: &Request, mode: Mode, least: u64) -> Option<u64> {
    match mode {
        Mode::Complete => Some(least),
        Mode::Chat => {
            let limit = reasoning::output_limit(profile, request, 0);
            Some(reasoning::budget(profile.effort?, limit).max(least))
        }
    }
}

/// The least budget is used on top of the text that is asked for.
fn room_for_least(mode: Mode, least: Option<u64>) -> u64 {
    match mode {
        Mode::Chat => 0,
        Mode::Complete => least.unwrap_or(0),
    }
}

/// Room for the thinking of a model that the catalogue does not know. From 2.5 on every Gemini thinks; other families in
/// this dialect do not, and a small model would refuse the room.
fn room_by_name(profile: &Profile, mode: Mode) -> u64 {
    let name = encode::bare_name(&profile.model);
    let thinks = profile.facts.is_none()
        && name.starts_with("gemini")
        && !["gemini-1", "gemini-2.0"].iter().any(|old| name.starts_with(old));
    match mode {
        Mode::Complete if thinks => profile.learnt.reasoning_room.unwrap_or(REASONING_ROOM),
        Mode::Chat | Mode::Complete => reasoning::room(profile, mode, None),
    }
}
