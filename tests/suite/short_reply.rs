//! What is given up before a message is declined: first the length of the reply, then certainty about the size.

use oneclaw_context::estimate::{Estimate, EstimatorState};
use oneclaw_context::plan::{Culprit, Decision, SendReason, Summaries};
use oneclaw_context::policy::{ONECLAW, PRESETS};
use oneclaw_context::{Conversation, Inputs, Moment, Plan, plan};
use oneclaw_model::ModelLimits;
use oneclaw_tests::{Chat, generate, plan_at, rules, window, words};
use proptest::prelude::*;

/// A message of so many words and its size as the only one.
fn message(count: usize) -> (Conversation, Estimate) {
    let conversation = Chat::new().model("m").user(words(count)).conversation();
    let size = planned(&conversation, &ModelLimits::default()).estimate;
    (conversation, size)
}

fn planned(conversation: &Conversation, limits: &ModelLimits) -> Plan {
    plan_at(conversation, limits, &ONECLAW, Moment::BeforeSend)
}

#[test]
fn the_reply_shrinks_before_anything_is_risked_and_only_as_far_as_it_has_to() {
    let (conversation, size) = message(8_000);
    // The usual reserve is a quarter of the window.
    for (limit, reason, max_output) in [
        (size.upper * 4 / 3 + 4, SendReason::Fits, None),
        (size.upper + 2_000, SendReason::ShorterReply, Some(2_000)),
        (size.upper + 1_024, SendReason::ShorterReply, Some(1_024)),
        (size.upper + 1_023, SendReason::Tried, Some(1_024)),
        (size.expected + 1_024, SendReason::Tried, Some(1_024)),
    ] {
        let plan = planned(&conversation, &window(limit));
        rules::check_plan(&plan, &conversation).unwrap();
        assert!(matches!(plan.decision, Decision::Send(r) if r == reason), "{limit}: {:?}", plan.decision);
        assert_eq!(plan.request_estimate, size);
        if max_output.is_some() {
            assert_eq!(plan.request.max_output, max_output, "{limit}");
        }
    }
    let plan = planned(&conversation, &window(size.expected + 1_023));
    let Decision::Irreducible { culprit, over, limit } = plan.decision else { panic!("{:?}", plan.decision) };
    assert_eq!((culprit, over, limit), (Culprit::NewestMessage, 1, size.expected - 1));
}

#[test]
fn an_input_limit_holds_whatever_the_reply() {
    let (conversation, size) = message(8_000);
    let limits =
        |input| ModelLimits { window: Some(size.upper + 1_024), input_limit: Some(input), max_output: None };
    let reason = |input| planned(&conversation, &limits(input)).decision;
    assert!(matches!(reason(size.upper), Decision::Send(SendReason::ShorterReply)));
    assert!(matches!(reason(size.upper - 1), Decision::Send(SendReason::Tried)));
    assert!(matches!(reason(size.expected), Decision::Send(SendReason::Tried)));
    assert!(matches!(reason(size.expected - 1), Decision::Irreducible { over: 1, .. }));
}

#[test]
fn a_model_of_short_replies_has_nothing_to_shrink() {
    let (conversation, size) = message(8_000);
    let limits = ModelLimits { window: Some(size.upper + 499), input_limit: None, max_output: Some(500) };
    let plan = planned(&conversation, &limits);
    assert!(matches!(plan.decision, Decision::Send(SendReason::Tried)), "{:?}", plan.decision);
    assert_eq!(plan.request.max_output, Some(500));
}

#[test]
fn reasons_are_written_in_words() {
    let written = [SendReason::ShorterReply, SendReason::Tried].map(|r| serde_json::to_value(r).unwrap());
    assert_eq!(written, ["shorter_reply", "tried"]);
}

#[test]
fn history_gives_way_in_the_same_stage_with_every_preset() {
    let history = Chat::new().model("m").user(words(3_000)).reply(words(3_000));
    let conversation = history.user(words(8_000)).conversation();
    let (_, size) = message(8_000);
    for (limit, reason) in
        [(size.upper + 1_500, SendReason::ShorterReply), (size.expected + 1_800, SendReason::Tried)]
    {
        for (name, policy) in PRESETS {
            for summaries in [Summaries::Allowed, Summaries::Failed] {
                let (limits, state) = (window(limit), EstimatorState::default());
                let inputs = Inputs::new(&conversation, &limits, policy, &state, Moment::BeforeSend);
                let inputs = Inputs { summaries, ..inputs };
                let first = plan(&inputs);
                assert!(rules::is_compact(&first), "{name}: {:?}", first.decision);
                rules::check_plan(&first, &conversation).unwrap();
                let next = rules::carried_out(&first, &inputs, rules::longest_summary);
                let then = plan_at(&next, &limits, policy, Moment::BeforeSend);
                assert!(
                    matches!(then.decision, Decision::Send(r) if r == reason),
                    "{name}: {:?}",
                    then.decision
                );
                rules::check_plan(&then, &next).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(1_000))]

    #[test]
    fn whatever_is_given_up_the_rules_hold(
        opening in generate::conversation(),
        count in 500usize..9_000,
        percent in 50u64..140,
        input in prop::option::of(60u64..130),
        policy in generate::policy(),
        moment in generate::any_moment(),
        knowledge in generate::knowledge(),
        failed in any::<bool>(),
    ) {
        let newest = Chat::new().user(words(count)).conversation().rows;
        let size = plan_at(&Conversation { rows: newest.clone(), ..opening.clone() }, &ModelLimits::default(), &policy, moment);
        let size = size.estimate.upper;
        let conversation = generate::extended(opening, newest);
        let input_limit = input.map(|percent| size * percent / 100);
        let limits = ModelLimits { window: Some(size * percent / 100), input_limit, max_output: None };
        let state = knowledge.of(&conversation, &policy);
        let summaries = if failed { Summaries::Failed } else { Summaries::Allowed };
        let inputs = Inputs { summaries, ..Inputs::new(&conversation, &limits, &policy, &state, moment) };
        let first = plan(&inputs);
        rules::check_plan(&first, &conversation).map_err(TestCaseError::fail)?;
        if !rules::is_compact(&first) {
            return Ok(());
        }
        let next = rules::carried_out(&first, &inputs, rules::longest_summary);
        for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
            let again = plan(&Inputs::new(&next, &limits, &policy, &state, moment));
            prop_assert!(matches!(again.decision, Decision::Send(_)), "{:?} after {:?}", again.decision, first.decision);
            rules::check_plan(&again, &next).map_err(TestCaseError::fail)?;
        }
    }
}
