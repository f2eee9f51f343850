//! Whether facts are kept as far as there is room for them. Which facts there are is asked of the engine; what became of
//! them is found here: one that is missing has to be larger than what the block leaves.

use crate::tally::Kept;
use memchr::memmem;
use oneclaw_context::escape::escape;
use oneclaw_context::estimate::Tariff;
use oneclaw_context::estimate::text::{measure, without_chance};
use oneclaw_context::plan::{Compaction, Strategy, Work};
use oneclaw_context::summary::fact_block::Facts;
use oneclaw_context::summary::gate::Gate;
use oneclaw_context::{Conversation, Decision, Plan, Policy};

/// What the facts may take of a digest, in percent.
const OF_DIGEST: u64 = 30;
/// A text in place of covered rows that would have to be shorter than this is none.
const LEAST_DIGEST: u64 = 48;
/// What stands around such a text, in tokens, at most.
const FRAME: u64 = 64;
/// By so many tokens the room of a digest, which is worked out from the request it stands in, may be off.
const SLACK: u64 = 3;
/// A block counts as full from here on, in percent of its room and in tokens: the estimate of a text depends a little on the
/// order of its lines, and lines are not chosen in the order they stand in.
const FULL: u64 = 91;
const NEARLY: u64 = 3;

const BY_USER: &str = "\n\nFacts stated by the user:";
const BY_OTHERS: &str = "\n\nFacts from replies and tools:";

/// Looks at an accepted summary: its facts may take half of the cap, together with the text the cap, and no more than what
/// both replace.
pub fn of_summary(gate: &Gate, text: &str, kept: &mut Kept) {
    let size = gate.tariff.upper_text(&escape(Facts::take_from(text).0));
    let room = (gate.cap / 2).min(gate.cap.saturating_sub(size)).min(gate.replaces.saturating_sub(size));
    check(&gate.facts, text, room, &gate.tariff, kept);
}

/// Looks at a compaction that was made without a model.
pub fn of_local(conversation: &Conversation, plan: &Plan, policy: &Policy, tariff: &Tariff, kept: &mut Kept) {
    let Decision::Compact(compaction) = &plan.decision else { return };
    let Compaction { work: Work::Local(text), strategy, covers, .. } = compaction.as_ref() else { return };
    let Some(budget) = plan.budget else { return };
    let prior = conversation.epoch.as_ref().map(|epoch| epoch.summary.as_str());
    let facts = Facts::collect(prior, conversation.rows.get(..*covers).unwrap_or_default());
    // What chance adds to a request is less than what it adds to its parts, and reports lower whole requests only.
    let cost = tariff.text(measure(text));
    let alone = tariff.request(cost).upper.min(tariff.total(cost).upper);
    let alone = without_chance(alone * 1_000) / 1_000;
    let around = plan.request_estimate.upper.saturating_sub(alone);
    let limit = if around <= budget.trigger { budget.trigger } else { budget.hard };
    let cap = policy.summary_tokens.min(limit.saturating_sub(around + 1));
    let room = match strategy {
        Strategy::Digest => (cap * OF_DIGEST / 100).saturating_sub(SLACK),
        // Nothing may be dropped that a digest had room for.
        Strategy::Drop if cap > LEAST_DIGEST + FRAME => cap * OF_DIGEST / 100,
        // An emergency says that history is gone, and promises nothing.
        _ => 0,
    };
    check(&facts, text, room, tariff, kept);
}

fn check(facts: &Facts, text: &str, room: u64, tariff: &Tariff, kept: &mut Kept) {
    let (_, block) = text.split_at_checked(Facts::take_from(text).0.len()).unwrap_or((text, ""));
    let full = (room * FULL / 100).saturating_sub(NEARLY);
    let by_user = block.split(BY_OTHERS).next().unwrap_or_default();
    // The user's own come first: those of others may not take their room.
    for (list, heading, beside) in [(&facts.by_user, BY_USER, by_user), (&facts.by_others, BY_OTHERS, block)]
    {
        let missing: Vec<&str> = list.iter().map(String::as_str).filter(|fact| !has(text, fact)).collect();
        let with = |fact: &&str| {
            let heading = if beside.contains(heading) { "" } else { heading };
            tariff.upper_text(&format!("{beside}{heading}\n- {}", escape(fact)))
        };
        let least = missing.iter().min_by_key(|fact| tariff.upper_text(fact));
        let lost = match least {
            Some(least) if with(least) <= full => missing.iter().filter(|fact| with(fact) <= full).count(),
            _ => 0,
        };
        kept.facts += (list.len() - missing.len()) as u64;
        kept.facts_dropped += (missing.len() - lost) as u64;
        kept.facts_lost += lost as u64;
    }
}

/// Whether a text has the fact, as it is or escaped, and not as part of a longer word or number.
fn has(text: &str, fact: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let stands_in = |fact: &str| {
        memmem::find_iter(text.as_bytes(), fact).any(|at| {
            let before = text.get(..at).is_some_and(|t| t.ends_with(is_word));
            let after = text.get(at + fact.len()..).is_some_and(|t| t.starts_with(is_word));
            !(fact.starts_with(is_word) && before || fact.ends_with(is_word) && after)
        })
    };
    stands_in(fact) || stands_in(&escape(fact))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneclaw_context::estimate::Calibration;

    fn checked(text: &str, room: u64) -> Kept {
        let facts = Facts {
            by_user: vec!["src/main.rs".into(), "15 s".into()],
            by_others: vec!["https://example.test/x".into()],
        };
        let tariff = Tariff::of(Some(&"gpt-4o".into()), None, Calibration::default());
        let mut kept = Kept::default();
        check(&facts, text, room, &tariff, &mut kept);
        kept
    }

    #[test]
    fn a_fact_that_is_missing_is_lost_if_there_was_room() {
        let all = "They edited src/main.rs.\n\nFacts stated by the user:\n- 15 s\n\nFacts from replies and tools:\n- https://example.test/x";
        assert_eq!(checked(all, 0), Kept { facts: 3, ..Kept::default() });
        let text = "They edited src/main.rs in 115 s.";
        assert_eq!(checked(text, 1_000), Kept { facts: 1, facts_lost: 2, ..Kept::default() });
        assert_eq!(checked(text, 4), Kept { facts: 1, facts_dropped: 2, ..Kept::default() });
    }

    #[test]
    fn what_others_said_may_not_take_the_room_of_what_the_user_said() {
        let text = "So.\n\nFacts from replies and tools:\n- https://example.test/x";
        // Not both of the user's would have fitted, but one of them.
        let lost = |room| checked(text, room).facts_lost;
        assert_eq!([lost(10), lost(200)], [0, 2]);
        assert!((10..40).any(|room| lost(room) == 1));
    }
}
