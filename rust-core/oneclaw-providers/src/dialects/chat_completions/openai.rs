//! What OpenAI's own models want in chat completions: the effort, the name of the output limit.
//!
//! Decided by what refusals taught, then by the catalogue. The model's name counts only where the catalogue does not know
//! the model, such as one that came out since.

use crate::encode::{Mode, REASONING_ROOM};
use crate::{Profile, encode, reasoning};
use oneclaw_catalogue::Refusal;
use oneclaw_model::Effort;

/// Whether it is one of OpenAI's own models, as far as its name tells. `gpt-oss` is open: other servers run it, with
/// their own rules.
pub(super) fn is_own_name(model: &str) -> bool {
    let name = encode::bare_name(model);
    (name.starts_with("gpt-") && !name.starts_with("gpt-oss"))
        || name.starts_with("chatgpt")
        || is_o_series(&name)
}

/// Whether one of OpenAI's own models reasons.
pub(super) fn reasons(profile: &Profile) -> bool {
    match &profile.facts {
        Some(facts) => facts.reasoning.is_some(),
        None => is_reasoning_name(&encode::bare_name(&profile.model)),
    }
}

/// The effort to send to one of OpenAI's own models, if any. Many take function tools only without reasoning.
pub(super) fn effort(profile: &Profile, mode: Mode, has_tools: bool) -> Option<Effort> {
    let refuses = |what| profile.facts.as_ref().is_some_and(|facts| facts.refuses(what));
    if has_tools && (profile.learnt.tools_want_no_effort || refuses(Refusal::ChatToolsUnlessNone)) {
        return Some(Effort::None);
    }
    let effort = match reasoning::effort(profile, mode) {
        // Only Responses takes the highest.
        Some(Effort::Max) => {
            reasoning::efforts(profile).iter().copied().filter(|effort| *effort < Effort::Max).max()
        }
        None if is_guessed(profile) && mode == Mode::Complete => {
            least_effort(&encode::bare_name(&profile.model))
        }
        effort => effort,
    };
    effort.filter(|effort| !(has_tools && refuses(Refusal::ChatToolsWithEffort)) || *effort == Effort::None)
}

/// Output tokens to add for hidden reasoning.
pub(super) fn room(profile: &Profile, mode: Mode, effort: Option<Effort>) -> u64 {
    match reasoning::room(profile, mode, effort) {
        // A name such as that of a pro model tells that it reasons, and not how it could be told to do less.
        0 if is_guessed(profile) && mode == Mode::Complete && effort.is_none() && reasons(profile) => {
            REASONING_ROOM
        }
        room => room,
    }
}

/// The name of the output limit: `max_completion_tokens` or, for `is_own` false, what servers have always had.
pub(super) fn limit_name(profile: &Profile, is_own: bool) -> &'static str {
    let refuses = profile.facts.as_ref().is_some_and(|facts| facts.refuses(Refusal::MaxTokens));
    match profile.learnt.max_completion_tokens.unwrap_or(refuses || is_own) {
        true => "max_completion_tokens",
        false => "max_tokens",
    }
}

/// Whether nothing is known of how the model reasons but its name.
fn is_guessed(profile: &Profile) -> bool {
    profile.facts.is_none() && profile.learnt.efforts.is_none()
}

/// `o1`, `o3-mini` and so on; not `olmo` or `orca`.
fn is_o_series(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next() == Some('o') && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// The generation of a GPT model, such as 5 and 1 for `gpt-5.1-mini`; zeros for others.
fn gpt_generation(name: &str) -> (u32, u32) {
    let mut numbers = name.strip_prefix("gpt-").unwrap_or_default().splitn(2, '.').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or(0)
    });
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// From GPT-5 on, all but the chat variants reason.
fn is_reasoning_name(name: &str) -> bool {
    let is_gpt = gpt_generation(name).0 >= 5 && !name.contains("-chat");
    is_gpt || ["o1", "o3", "o4"].iter().any(|start| name.starts_with(start))
}

/// From GPT-5.1 on reasoning can be turned off, but for Codex; before, it can be kept short. The pro models take one
/// effort only, their own. `None` for models that do not reason.
fn least_effort(name: &str) -> Option<Effort> {
    if name.contains("-pro") || !is_reasoning_name(name) {
        return None;
    }
    let can_do_without = gpt_generation(name) >= (5, 1) && !name.contains("codex");
    Some(if can_do_without { Effort::None } else { Effort::Low })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasoning::samples;
    use Effort::{High, Low, Max, Medium, Minimal, Xhigh};

    fn named(model: &str) -> Profile {
        Profile { model: model.to_owned(), ..samples::unknown() }
    }

    fn refusing(efforts: &[Effort], refusals: &[Refusal]) -> Profile {
        let mut profile = samples::reasoning(efforts);
        profile.facts.as_mut().unwrap().refuses = refusals.to_vec();
        profile
    }

    #[test]
    fn names_tell_what_the_catalogue_does_not() {
        for (model, own, reasoning) in [
            ("gpt-4o", true, false),
            ("chatgpt-4o-latest", true, false),
            ("openai/gpt-5-mini", true, true),
            ("gpt-5-chat-latest", true, false),
            ("gpt-5.2", true, true),
            ("gpt-10-mini", true, true),
            ("gpt-4.5-preview", true, false),
            ("o1", true, true),
            ("o4-mini", true, true),
            ("gpt-oss-120b", false, false),
            ("olmo-2", false, false),
            ("orca-mini", false, false),
            ("llama3.2", false, false),
        ] {
            assert_eq!((is_own_name(model), reasons(&named(model))), (own, reasoning), "{model}");
        }
        // What the catalogue says goes before the name.
        assert!(!reasons(&Profile { model: "gpt-5".to_owned(), ..samples::plain() }));
        assert!(reasons(&Profile { model: "gpt-4o".to_owned(), ..samples::reasoning(&[Low]) }));
    }

    #[test]
    fn completions_reason_as_little_as_the_name_allows() {
        for (model, least, more) in [
            ("gpt-5", Some(Low), REASONING_ROOM),
            ("o3-mini", Some(Low), REASONING_ROOM),
            ("gpt-5.1", Some(Effort::None), 0),
            ("openai/gpt-5.2-2026-01-01", Some(Effort::None), 0),
            ("gpt-5.1-codex-mini", Some(Low), REASONING_ROOM),
            ("gpt-5.2-pro", None, REASONING_ROOM),
            ("o3-pro", None, REASONING_ROOM),
            ("gpt-4o", None, 0),
        ] {
            let profile = Profile { effort: Some(High), ..named(model) };
            let sent = effort(&profile, Mode::Complete, false);
            assert_eq!((sent, room(&profile, Mode::Complete, sent)), (least, more), "{model}");
            let sent = effort(&profile, Mode::Chat, false);
            assert_eq!((sent, room(&profile, Mode::Chat, sent)), (None, 0), "{model}");
        }
    }

    #[test]
    fn what_is_known_goes_before_the_name() {
        let known = |efforts| Profile { model: "gpt-5.2".to_owned(), ..samples::reasoning(efforts) };
        assert_eq!(effort(&known(&[Minimal, Low]), Mode::Complete, false), Some(Minimal));
        assert_eq!(effort(&known(&[]), Mode::Complete, false), None);
        let mut taught = named("gpt-5.2");
        taught.learnt.efforts = Some(vec![Medium]);
        assert_eq!(effort(&taught, Mode::Complete, false), Some(Medium));
    }

    #[test]
    fn tools_may_want_no_effort_beside_them() {
        let efforts = [Effort::None, Low, High];
        let wanting = |profile: Profile, effort| Profile { effort, ..profile };
        let unless_none = refusing(&efforts, &[Refusal::ChatToolsUnlessNone]);
        let with_effort = refusing(&efforts, &[Refusal::ChatToolsWithEffort]);
        let mut taught = named("gpt-7");
        taught.learnt.tools_want_no_effort = true;
        for (profile, wanted, with_tools, without) in [
            (&unless_none, None, Some(Effort::None), None),
            (&unless_none, Some(High), Some(Effort::None), Some(High)),
            (&with_effort, None, None, None),
            (&with_effort, Some(High), None, Some(High)),
            (&with_effort, Some(Effort::None), Some(Effort::None), Some(Effort::None)),
            (&taught, Some(High), Some(Effort::None), None),
        ] {
            let profile = wanting(profile.clone(), wanted);
            assert_eq!(effort(&profile, Mode::Chat, true), with_tools, "{wanted:?}");
            assert_eq!(effort(&profile, Mode::Chat, false), without, "{wanted:?}");
        }
        let most = wanting(refusing(&[Low, Xhigh, Max], &[]), Some(Max));
        assert_eq!(effort(&most, Mode::Chat, false), Some(Xhigh));
    }

    #[test]
    fn the_limit_is_named_as_the_service_wants_it() {
        let mut profile = samples::plain();
        assert_eq!(limit_name(&profile, true), "max_completion_tokens");
        assert_eq!(limit_name(&profile, false), "max_tokens");
        profile = refusing(&[], &[Refusal::MaxTokens]);
        assert_eq!(limit_name(&profile, false), "max_completion_tokens");
        profile.learnt.max_completion_tokens = Some(false);
        assert_eq!(limit_name(&profile, true), "max_tokens");
    }
}
