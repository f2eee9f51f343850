//! How much a model is told to reason, and the output tokens that takes. Pure, and the same in all dialects: each writes
//! the effort under its own name.
//!
//! Decides which effort is sent, how much of the output limit is set aside for hidden reasoning, and the output limit
//! that results. What refusals taught goes before what the catalogue says.

use crate::Profile;
use crate::encode::{Mode, REASONING_ROOM};
use oneclaw_model::{Effort, Request};

/// Room for hidden reasoning in [`Mode::Complete`] where the model cannot be told to reason little: it takes no effort
/// below medium, as the pro models, or no effort at all.
pub(crate) const DEEP_REASONING_ROOM: u64 = 16_384;

/// The efforts the model takes; empty where it takes none, or nothing is known of them.
pub(crate) fn efforts(profile: &Profile) -> &[Effort] {
    let known = profile.reasoning().map(|reasoning| reasoning.efforts.as_slice());
    profile.learnt.efforts.as_deref().or(known).unwrap_or_default()
}

/// The effort to send, if any. A turn of the conversation: the nearest the model takes that is not above what the user
/// wants, else its least; none where the user leaves it to the model. A text such as a summary: its least.
pub(crate) fn effort(profile: &Profile, mode: Mode) -> Option<Effort> {
    let efforts = efforts(profile);
    let least = efforts.iter().min().copied()?;
    match mode {
        Mode::Complete => Some(least),
        Mode::Chat => {
            let wanted = profile.effort?;
            let fitting = efforts.iter().filter(|effort| **effort <= wanted).max();
            Some(fitting.copied().unwrap_or(least))
        }
    }
}

/// Output tokens to add for hidden reasoning, given the effort that is sent. A limit made for the text of a summary alone
/// would be used up before its first word; in a turn of the conversation the limit is meant for both.
///
/// Zero for models that nothing is known of: the first text that comes back empty teaches the room.
pub(crate) fn room(profile: &Profile, mode: Mode, effort: Option<Effort>) -> u64 {
    match mode {
        Mode::Chat => 0,
        Mode::Complete => profile.learnt.reasoning_room.unwrap_or_else(|| usual_room(profile, effort)),
    }
}

fn usual_room(profile: &Profile, effort: Option<Effort>) -> u64 {
    match effort {
        Some(Effort::None) => 0,
        Some(Effort::Minimal | Effort::Low) => REASONING_ROOM,
        Some(Effort::Medium | Effort::High | Effort::Xhigh | Effort::Max) => DEEP_REASONING_ROOM,
        None if profile.reasoning().is_some_and(|reasoning| reasoning.by_default) => DEEP_REASONING_ROOM,
        None => 0,
    }
}

/// The output limit to send: what the request asks for and the room for reasoning, as far as the window and the model
/// leave it. `None` where the request names no limit.
pub(crate) fn output_limit(profile: &Profile, request: &Request, room: u64) -> Option<u64> {
    let asked = request.max_output?;
    let limits = profile.facts.as_ref().map(|facts| facts.limits);
    let longest_reply = limits.and_then(|limits| limits.max_output).filter(|most| *most > 0);
    // The catalogue bounds the room only: what is asked for may rest on better knowledge, such as the user's own setting.
    let with_room = asked.saturating_add(room).min(longest_reply.unwrap_or(u64::MAX)).max(asked);
    Some(with_room.min(profile.most_output.unwrap_or(u64::MAX)))
}

/// The tokens a model may reason with at an effort, for models that are told in tokens. At most half of the output limit,
/// so that the reply has room as well.
pub(crate) fn budget(effort: Effort, limit: Option<u64>) -> u64 {
    // What Google documents for its own efforts, where these models are spoken to in OpenAI's dialect.
    let usual = match effort {
        Effort::None => 0,
        Effort::Minimal | Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High | Effort::Xhigh | Effort::Max => 24_576,
    };
    usual.min(limit.map_or(u64::MAX, |limit| limit / 2))
}

#[cfg(test)]
pub(crate) mod samples {
    use crate::{Adjustments, Profile};
    use oneclaw_catalogue::{Ability, Facts, Reasoning, Vendor};
    use oneclaw_model::{Dialect, Effort, ModelLimits};

    /// A model that nothing is known of.
    pub(crate) fn unknown() -> Profile {
        Profile {
            model: "m".to_owned(),
            vendor: Vendor::Compatible,
            facts: None,
            learnt: Adjustments::default(),
            effort: None,
            conversation: None,
            listed_sees: None,
            most_output: None,
        }
    }

    /// A model of OpenAI's that does not reason.
    pub(crate) fn plain() -> Profile {
        let facts = Facts {
            service: "openai".to_owned(),
            id: "m".to_owned(),
            dialect: Dialect::Responses,
            limits: ModelLimits::default(),
            reasoning: None,
            abilities: vec![Ability::Tools, Ability::Pictures],
            refuses: vec![],
            cache: None,
            prices: None,
            ends: None,
        };
        Profile { vendor: Vendor::OpenAi, facts: Some(facts), ..unknown() }
    }

    /// A model of OpenAI's that reasons, with those efforts.
    pub(crate) fn reasoning(efforts: &[Effort]) -> Profile {
        let reasoning = Reasoning { by_default: true, efforts: efforts.to_vec(), ..Reasoning::default() };
        let mut profile = plain();
        profile.facts = profile.facts.map(|facts| Facts { reasoning: Some(reasoning), ..facts });
        profile
    }
}

#[cfg(test)]
mod tests {
    use super::samples::{plain, reasoning, unknown};
    use super::*;
    use Effort::{High, Low, Max, Medium, Minimal, Xhigh};
    use oneclaw_model::ModelLimits;

    #[test]
    fn a_turn_gets_the_nearest_effort_that_is_not_above_the_wanted_one() {
        let wanting = |efforts: &[Effort], wanted| Profile { effort: wanted, ..reasoning(efforts) };
        for (efforts, wanted, sent) in [
            (&[Effort::None, Low, Medium, High][..], Some(Medium), Some(Medium)),
            (&[Effort::None, Low, Medium, High], Some(Max), Some(High)),
            (&[Low, High], Some(Medium), Some(Low)),
            (&[Medium, High, Xhigh], Some(Effort::None), Some(Medium)),
            (&[High, Low, Medium], Some(Minimal), Some(Low)),
            (&[Low, High], None, None),
            (&[], Some(High), None),
        ] {
            assert_eq!(effort(&wanting(efforts, wanted), Mode::Chat), sent, "{efforts:?} {wanted:?}");
        }
        assert_eq!(effort(&Profile { effort: Some(High), ..unknown() }, Mode::Chat), None);
        assert_eq!(effort(&Profile { effort: Some(High), ..plain() }, Mode::Chat), None);
    }

    #[test]
    fn a_text_gets_the_least_effort() {
        for (efforts, sent) in
            [(&[High, Effort::None][..], Some(Effort::None)), (&[Medium, High], Some(Medium)), (&[], None)]
        {
            assert_eq!(effort(&Profile { effort: Some(High), ..reasoning(efforts) }, Mode::Complete), sent);
        }
    }

    #[test]
    fn refusals_teach_the_efforts() {
        let mut profile = reasoning(&[Effort::None, Low]);
        profile.learnt.efforts = Some(vec![Medium, High]);
        assert_eq!(effort(&profile, Mode::Complete), Some(Medium));
        profile.learnt.efforts = Some(vec![]);
        assert_eq!(effort(&profile, Mode::Complete), None);
        let mut stranger = unknown();
        stranger.learnt.efforts = Some(vec![Low]);
        assert_eq!(effort(&stranger, Mode::Complete), Some(Low));
    }

    #[test]
    fn texts_have_room_for_reasoning_that_cannot_be_turned_off() {
        for (efforts, expected) in [
            (&[Effort::None, Low][..], 0),
            (&[Minimal, Low], REASONING_ROOM),
            (&[Low, Max], REASONING_ROOM),
            (&[Medium, High], DEEP_REASONING_ROOM),
            (&[High], DEEP_REASONING_ROOM),
            (&[], DEEP_REASONING_ROOM),
        ] {
            let mut profile = reasoning(efforts);
            assert_eq!(room(&profile, Mode::Complete, effort(&profile, Mode::Complete)), expected);
            assert_eq!(room(&profile, Mode::Chat, effort(&profile, Mode::Chat)), 0);
            profile.learnt.reasoning_room = Some(700);
            assert_eq!(room(&profile, Mode::Complete, effort(&profile, Mode::Complete)), 700);
        }
        for profile in [unknown(), plain()] {
            assert_eq!(room(&profile, Mode::Complete, None), 0);
        }
    }

    #[test]
    fn the_limit_is_what_the_window_and_the_model_leave() {
        let asking = |max_output| Request { max_output, ..Request::default() };
        let mut profile = reasoning(&[Low]);
        assert_eq!(output_limit(&profile, &asking(Some(100)), 4_096), Some(4_196));
        assert_eq!(output_limit(&profile, &asking(None), 4_096), None);
        assert_eq!(output_limit(&profile, &asking(Some(u64::MAX)), 1), Some(u64::MAX));
        let limits = |max_output| ModelLimits { max_output: Some(max_output), ..ModelLimits::default() };
        profile.facts.as_mut().unwrap().limits = limits(2_000);
        assert_eq!(output_limit(&profile, &asking(Some(100)), 4_096), Some(2_000));
        assert_eq!(output_limit(&profile, &asking(Some(3_000)), 4_096), Some(3_000));
        profile.facts.as_mut().unwrap().limits = limits(0);
        profile.most_output = Some(1_000);
        assert_eq!(output_limit(&profile, &asking(Some(100)), 4_096), Some(1_000));
        assert_eq!(output_limit(&profile, &asking(Some(3_000)), 0), Some(1_000));
    }
}
