//! What compatible servers are told about reasoning, and which reasoning goes back to them.
//!
//! Decided by what refusals taught and by the catalogue. A server that nobody knows is told nothing: many refuse fields
//! they have never heard of.

use super::kept;
use crate::encode::Mode;
use crate::{Profile, reasoning};
use oneclaw_catalogue::{ThinkingType, Vendor};
use oneclaw_model::{Effort, Piece, Replay, Thinking};
use serde_json::{Map, Value, json};

/// What the body says about reasoning.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// The field and its value, if anything is said.
    pub field: Option<(&'static str, Value)>,
    /// Output tokens to add for hidden reasoning.
    pub room: u64,
}

/// What a compatible server is told.
pub(super) fn told(profile: &Profile, mode: Mode, has_tools: bool) -> Told {
    if is_off(profile, mode) {
        let room = if mode == Mode::Complete { profile.learnt.reasoning_room.unwrap_or(0) } else { 0 };
        let off = json!({"type": ThinkingType::Disabled.word()});
        return Told { field: Some(("thinking", off)), room };
    }
    let effort = if has_tools && profile.learnt.tools_want_no_effort {
        Some(Effort::None)
    } else {
        reasoning::effort(profile, mode)
    };
    Told { field: effort.map(|effort| field(profile, effort)), room: reasoning::room(profile, mode, effort) }
}

/// The field that tells an effort.
pub(super) fn field(profile: &Profile, effort: Effort) -> (&'static str, Value) {
    match profile.vendor {
        Vendor::OpenRouter => ("reasoning", json!({"effort": effort.word()})),
        _ => ("reasoning_effort", json!(effort.word())),
    }
}

/// Whether reasoning is turned off by a switch (DeepSeek, Kimi, z.ai): for texts, and where the user wants none.
fn is_off(profile: &Profile, mode: Mode) -> bool {
    let known = profile.reasoning().map(|reasoning| reasoning.types.as_slice());
    let types = profile.learnt.thinking_types.as_deref().or(known).unwrap_or_default();
    let is_wanted = mode == Mode::Complete || profile.effort == Some(Effort::None);
    is_wanted && types.contains(&ThinkingType::Disabled)
}

/// Puts the reasoning of an assistant message back on it, where the server wants that.
///
/// OpenRouter gets its details as they came. Servers that refuse calls without their reasoning get `reasoning_content` on
/// every message with calls: the text that came or, where none is known, an empty one, which they take.
pub(super) fn replay(profile: &Profile, trace: &[Piece], has_calls: bool, message: &mut Map<String, Value>) {
    let is_router = profile.vendor == Vendor::OpenRouter;
    if is_router && let Some(details) = value(trace, kept::DETAILS).filter(Value::is_array) {
        message.insert(kept::DETAILS.to_owned(), details);
    }
    let is_known = profile.reasoning().is_some_and(|reasoning| reasoning.replay == Replay::EveryCall);
    if has_calls && (profile.learnt.wants_reasoning_back || (is_known && !is_router)) {
        message.insert(kept::CONTENT.to_owned(), json!(text(trace)));
    }
}

/// The value of the last field of that name.
fn value(trace: &[Piece], wanted: &str) -> Option<Value> {
    let field = |piece: &Piece| match piece {
        Piece::Thinking(Thinking::Field { name, json }) if name == wanted => serde_json::from_str(json).ok(),
        _ => None,
    };
    trace.iter().rev().find_map(field)
}

/// The reasoning as text, whichever field it came in.
fn text(trace: &[Piece]) -> String {
    for name in [kept::CONTENT, kept::REASONING] {
        if let Some(Value::String(text)) = value(trace, name) {
            return text;
        }
    }
    let details = value(trace, kept::DETAILS).unwrap_or_default();
    let texts = details.as_array().into_iter().flatten();
    texts.filter_map(|part| part.get("text").or_else(|| part.get("summary"))?.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::REASONING_ROOM;
    use crate::reasoning::{DEEP_REASONING_ROOM, samples};
    use Effort::{High, Low, Medium};
    use oneclaw_catalogue::Reasoning;

    /// A model of that vendor with that reasoning.
    fn model(vendor: Vendor, reasoning: Reasoning) -> Profile {
        let mut profile = samples::plain();
        profile.vendor = vendor;
        profile.facts.as_mut().unwrap().reasoning = Some(reasoning);
        profile
    }

    fn switched() -> Profile {
        let types = vec![ThinkingType::Disabled];
        let replay = Replay::EveryCall;
        model(Vendor::DeepSeek, Reasoning { by_default: true, types, replay, ..Reasoning::default() })
    }

    fn with_efforts(vendor: Vendor, efforts: &[Effort]) -> Profile {
        model(vendor, Reasoning { by_default: true, efforts: efforts.to_vec(), ..Reasoning::default() })
    }

    fn said(field: &'static str, value: Value, room: u64) -> Told {
        Told { field: Some((field, value)), room }
    }

    #[test]
    fn a_switch_turns_reasoning_off() {
        let off = || json!({"type": "disabled"});
        let mut profile = switched();
        assert_eq!(told(&profile, Mode::Complete, false), said("thinking", off(), 0));
        assert_eq!(told(&profile, Mode::Chat, true), Told { field: None, room: 0 });
        profile.effort = Some(Effort::None);
        assert_eq!(told(&profile, Mode::Chat, true), said("thinking", off(), 0));
        profile.learnt.reasoning_room = Some(9);
        assert_eq!(told(&profile, Mode::Complete, false), said("thinking", off(), 9));
        // Refused once, it is not sent again; the room is there instead.
        profile.learnt = Default::default();
        profile.learnt.thinking_types = Some(vec![]);
        assert_eq!(told(&profile, Mode::Complete, false), Told { field: None, room: DEEP_REASONING_ROOM });
    }

    #[test]
    fn efforts_are_told_under_the_name_the_server_knows() {
        let effort = "reasoning_effort";
        let mistral = with_efforts(Vendor::Mistral, &[Effort::None, High]);
        assert_eq!(told(&mistral, Mode::Complete, false), said(effort, json!("none"), 0));
        assert_eq!(told(&mistral, Mode::Chat, true), Told { field: None, room: 0 });
        let router = with_efforts(Vendor::OpenRouter, &[Low, Medium, High]);
        let wanted = said("reasoning", json!({"effort": "low"}), REASONING_ROOM);
        assert_eq!(told(&router, Mode::Complete, false), wanted);
        let wanting = Profile { effort: Some(Medium), ..router };
        assert_eq!(told(&wanting, Mode::Chat, true), said("reasoning", json!({"effort": "medium"}), 0));
        let mut unknown = samples::unknown();
        assert_eq!(told(&unknown, Mode::Complete, false), Told { field: None, room: 0 });
        unknown.learnt.reasoning_room = Some(700);
        assert_eq!(told(&unknown, Mode::Complete, false), Told { field: None, room: 700 });
        unknown.learnt.tools_want_no_effort = true;
        assert_eq!(told(&unknown, Mode::Chat, true), said(effort, json!("none"), 0));
        assert_eq!(told(&unknown, Mode::Chat, false), Told { field: None, room: 0 });
    }

    fn replayed(profile: &Profile, fields: &[(&str, &str)], has_calls: bool) -> Value {
        let piece = |(name, json): &(&str, &str)| {
            Piece::Thinking(Thinking::Field { name: (*name).to_owned(), json: (*json).to_owned() })
        };
        let trace: Vec<Piece> = fields.iter().map(piece).collect();
        let mut message = Map::new();
        replay(profile, &trace, has_calls, &mut message);
        Value::Object(message)
    }

    #[test]
    fn reasoning_goes_back_where_it_is_wanted() {
        let content = [(kept::CONTENT, r#""I think\n""#)];
        let details =
            [(kept::DETAILS, r#"[{"type":"reasoning.text","text":"a"},{"type":"x"},{"summary":"b"}]"#)];
        let mut unknown = samples::unknown();
        assert_eq!(replayed(&unknown, &content, true), json!({}));
        unknown.learnt.wants_reasoning_back = true;
        for profile in [unknown, switched()] {
            let back = |text: &str| json!({"reasoning_content": text});
            assert_eq!(replayed(&profile, &content, true), back("I think\n"));
            assert_eq!(replayed(&profile, &content, false), json!({}));
            assert_eq!(replayed(&profile, &[], true), back(""));
            assert_eq!(replayed(&profile, &[(kept::REASONING, r#""r""#)], true), back("r"));
            assert_eq!(replayed(&profile, &details, true), back("ab"));
            assert_eq!(replayed(&profile, &[(kept::CONTENT, "{")], true), back(""));
        }
        let mut router = with_efforts(Vendor::OpenRouter, &[]);
        let whole: Value = serde_json::from_str(details[0].1).unwrap();
        for has_calls in [true, false] {
            let wanted = json!({"reasoning_details": whole});
            assert_eq!(replayed(&router, &details, has_calls), wanted);
            assert_eq!(replayed(&router, &content, has_calls), json!({}));
        }
        router.learnt.wants_reasoning_back = true;
        let wanted = json!({"reasoning_details": whole, "reasoning_content": "ab"});
        assert_eq!(replayed(&router, &details, true), wanted);
    }
}
