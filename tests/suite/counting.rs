//! What a plan wants counted, and what a count is worth: it replaces estimates in both directions.

use oneclaw_context::estimate::{Anchor, EstimatorState};
use oneclaw_context::plan::{Decision, SendReason, Strategy, Summaries};
use oneclaw_context::policy::ONECLAW;
use oneclaw_context::{Conversation, Inputs, Moment, Plan, plan};
use oneclaw_model::{ModelLimits, Request};
use oneclaw_tests::{Chat, generate, rules, window, words};
use proptest::prelude::*;

fn planned(conversation: &Conversation, limits: &ModelLimits, state: &EstimatorState) -> Plan {
    plan(&Inputs::new(conversation, limits, &ONECLAW, state, Moment::BeforeSend))
}

fn counted(conversation: &Conversation, request: &Request, count: u64) -> EstimatorState {
    let anchor = Some(Anchor::new(request, conversation.model.as_ref(), count));
    EstimatorState { anchor, ..EstimatorState::default() }
}

/// How many words have that upper size beside nothing else.
fn words_of_upper(tokens: u64) -> String {
    let size = |count: usize| {
        let conversation = Chat::new().model("m").user(words(count)).conversation();
        planned(&conversation, &ModelLimits::default(), &EstimatorState::default()).estimate.upper
    };
    let (mut low, mut high) = (0, tokens as usize);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if size(middle) <= tokens { low = middle } else { high = middle }
    }
    words(low)
}

#[test]
fn a_message_that_only_the_estimate_calls_too_long_is_counted_and_sent() {
    let conversation = Chat::new().model("m").user(words_of_upper(13_000)).conversation();
    let limits = window(16_000);
    let first = planned(&conversation, &limits, &EstimatorState::default());
    let wanted = first.count_first.expect("a count would settle it");
    assert_eq!(wanted.messages, first.request.messages);
    let again = planned(&conversation, &limits, &counted(&conversation, &wanted, 9_000));
    assert!(matches!(again.decision, Decision::Send(SendReason::Fits)), "{:?}", again.decision);
    assert_eq!((again.request_estimate.expected, again.request_estimate.upper), (9_000, 9_000));
    assert!(again.count_first.is_none());
    let over = planned(&conversation, &limits, &counted(&conversation, &wanted, 20_000));
    assert!(matches!(over.decision, Decision::Irreducible { over: 4_000.., .. }), "{:?}", over.decision);
    assert!(over.count_first.is_none(), "it was counted");
}

#[test]
fn what_stands_beside_a_counted_message_gets_the_room_that_is_there() {
    let history = Chat::new().model("m").user(words(2_000)).reply(words(2_000));
    let conversation = history.user(words_of_upper(13_000)).conversation();
    let limits = window(16_000);
    let first = planned(&conversation, &limits, &EstimatorState::default());
    let wanted = first.count_first.expect("a count would settle it");
    let state = counted(&conversation, &wanted, 9_000);
    for summaries in [Summaries::Allowed, Summaries::Failed] {
        let inputs = Inputs::new(&conversation, &limits, &ONECLAW, &state, Moment::BeforeSend);
        let inputs = Inputs { summaries, ..inputs };
        let again = plan(&inputs);
        let Decision::Compact(compaction) = &again.decision else { panic!("{:?}", again.decision) };
        let expected = match summaries {
            Summaries::Allowed => Strategy::Prose,
            Summaries::Failed => Strategy::Digest,
        };
        assert_eq!(compaction.strategy, expected);
        assert!((9_500..=12_000).contains(&again.request_estimate.upper), "{:?}", again.request_estimate);
        let next = rules::carried_out(&again, &inputs, rules::longest_summary);
        let sent = planned(&next, &limits, &state);
        assert!(matches!(sent.decision, Decision::Send(_)), "{:?}", sent.decision);
    }
    // A count above the upper size counts just as well.
    let over = planned(&conversation, &limits, &counted(&conversation, &wanted, 11_900));
    assert!(over.request_estimate.upper >= 11_900, "{:?}", over.request_estimate);
}

#[test]
fn a_compaction_that_a_count_may_spare_is_counted_before_a_reply_only() {
    let mut chat = Chat::new().model("m");
    while planned(&chat.clone().conversation(), &window(1_000_000), &EstimatorState::default()).estimate.upper
        < 14_000
    {
        chat = chat.user(words(300)).reply(words(300));
    }
    let conversation = chat.user("And now?").conversation();
    let limits = window(16_000);
    let state = EstimatorState::default();
    let first = planned(&conversation, &limits, &state);
    let budget = first.budget.unwrap();
    assert!(
        first.estimate.expected <= budget.hard && first.estimate.upper > budget.hard,
        "{:?}",
        first.estimate
    );
    assert!(rules::is_compact(&first));
    let wanted = first.count_first.expect("a count would settle it");
    assert_eq!(wanted.messages.len(), conversation.rows.len(), "the request as it stands");
    let again = planned(&conversation, &limits, &counted(&conversation, &wanted, budget.trigger));
    assert!(matches!(again.decision, Decision::Send(SendReason::Fits)), "{:?}", again.decision);
    let over = planned(&conversation, &limits, &counted(&conversation, &wanted, budget.hard + 1));
    assert!(rules::is_compact(&over) && over.count_first.is_none(), "{:?}", over.decision);
    for moment in [Moment::AfterResponse, Moment::Manual, Moment::Overflow] {
        let later = plan(&Inputs::new(&conversation, &limits, &ONECLAW, &state, moment));
        assert!(rules::is_compact(&later) && later.count_first.is_none(), "{moment:?}");
    }
}

#[test]
fn what_no_count_can_make_fit_is_not_uploaded() {
    let conversation = Chat::new().model("m").user(words(60_000)).conversation();
    let plan = planned(&conversation, &window(16_000), &EstimatorState::default());
    assert!(matches!(plan.decision, Decision::Irreducible { .. }));
    assert!(plan.count_first.is_none());
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(1_500))]

    #[test]
    fn a_count_settles_what_it_was_asked_for(
        conversation in generate::conversation(),
        limits in generate::small_limits(),
        policy in generate::policy(),
        moment in generate::any_moment(),
        knowledge in generate::knowledge(),
        percent in 40u64..250,
    ) {
        let state = knowledge.of(&conversation, &policy);
        let first = plan(&Inputs::new(&conversation, &limits, &policy, &state, moment));
        let Some(wanted) = &first.count_first else { return Ok(()) };
        prop_assert!(matches!(moment, Moment::BeforeSend | Moment::AfterTools));
        prop_assert!(!wanted.messages.is_empty());
        let count = (first.request_estimate.expected * percent / 100).max(1);
        let anchor = Anchor::new(wanted, conversation.model.as_ref(), count);
        let state = EstimatorState { anchor: Some(anchor), ..state };
        let inputs = Inputs::new(&conversation, &limits, &policy, &state, moment);
        let again = plan(&inputs);
        rules::check_plan(&again, &conversation).map_err(TestCaseError::fail)?;
        prop_assert_ne!(&again.count_first, &first.count_first, "counted already");
        let budget = first.budget.expect("known");
        if count <= budget.hard && matches!(first.decision, Decision::Irreducible { .. }) {
            prop_assert!(!matches!(again.decision, Decision::Irreducible { .. }), "{:?}", again.decision);
        }
        if rules::is_compact(&again) {
            let next = rules::carried_out(&again, &inputs, rules::longest_summary);
            let after = plan(&Inputs::new(&next, &limits, &policy, &state, Moment::BeforeSend));
            prop_assert!(!rules::is_compact(&after), "{:?} after {:?}", after.decision, again.decision);
        }
    }
}
