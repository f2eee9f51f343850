//! What holds for every conversation, policy, limit, moment and state of knowledge.

use oneclaw_context::estimate::EstimatorState;
use oneclaw_context::plan::{Decision, Moment, SendReason, Summaries};
use oneclaw_context::policy::{Policy, Pruning};
use oneclaw_context::{Conversation, Inputs, Plan, plan};
use oneclaw_model::{Body, RequestMessage};
use oneclaw_tests::{generate, rules};
use proptest::prelude::*;

fn check(plan: &Plan, conversation: &Conversation) -> Result<(), TestCaseError> {
    rules::check_plan(plan, conversation).map_err(TestCaseError::fail)
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(1_500))]

    #[test]
    fn every_request_obeys_the_rules(
        conversation in generate::conversation(),
        limits in generate::limits(),
        policy in generate::policy(),
        moment in generate::any_moment(),
        knowledge in generate::knowledge(),
        failed in any::<bool>(),
    ) {
        let before = conversation.clone();
        let state = knowledge.of(&conversation, &policy);
        let summaries = if failed { Summaries::Failed } else { Summaries::Allowed };
        let inputs = Inputs { summaries, ..Inputs::new(&conversation, &limits, &policy, &state, moment) };
        let first = plan(&inputs);
        check(&first, &conversation)?;
        if first.budget.is_none() && moment != Moment::Manual {
            prop_assert!(matches!(first.decision, Decision::Send(SendReason::WindowUnknown)));
        }
        // 8: same input, same output; and nothing in the rows is changed.
        prop_assert_eq!(format!("{first:?}"), format!("{:?}", plan(&inputs)));
        prop_assert_eq!(before, conversation);
    }

    #[test]
    fn after_a_compaction_nothing_is_compacted_again(
        conversation in generate::conversation(),
        limits in generate::small_limits(),
        policy in generate::policy(),
        moment in generate::any_moment(),
        knowledge in generate::knowledge(),
    ) {
        let state = knowledge.of(&conversation, &policy);
        let inputs = Inputs::new(&conversation, &limits, &policy, &state, moment);
        let first = plan(&inputs);
        if !rules::is_compact(&first) {
            return Ok(());
        }
        let next = rules::carried_out(&first, &inputs, rules::longest_summary);
        for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
            let again = plan(&Inputs::new(&next, &limits, &policy, &state, moment));
            prop_assert!(
                !rules::is_compact(&again),
                "{:?} of {:?} after {:?} of {:?}: {:?} {:?}",
                again.estimate, again.parts, first.request_estimate, first.parts, next.epoch, again.decision,
            );
            check(&again, &next)?;
            rules::check_newest_user(&conversation, &again.request).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn between_compactions_requests_are_prefixes_of_each_other(
        opening in generate::opening(),
        steps in generate::steps(),
        limits in generate::limits(),
        policy in generate::policy(),
    ) {
        let state = EstimatorState::default();
        let mut conversation = opening;
        let mut before: Option<Vec<String>> = None;
        for step in steps {
            let has_user = conversation.rows.iter().any(|row| matches!(row.message.body, Body::User { .. }));
            conversation = generate::extended(conversation, step);
            if !has_user {
                before = None; // A message of before the epoch is repeated only while it is the newest.
            }
            let now = plan(&Inputs::new(&conversation, &limits, &policy, &state, Moment::BeforeSend));
            let is_plain = matches!(now.decision, Decision::Send(SendReason::Fits | SendReason::WindowUnknown));
            if !is_plain || policy.pruning == Pruning::ByAge {
                break;
            }
            let items = rules::items(&now.request);
            if let Some(earlier) = &before {
                // The last message may have grown: neighbours of one role are merged.
                let stable = earlier.len() - 1;
                prop_assert_eq!(&items[..stable], &earlier[..stable]);
                prop_assert!(items[stable].starts_with(&earlier[stable]), "{} {}", items[stable], earlier[stable]);
            }
            // A stand-in gives way to a late result, and pictures of merged messages stand after their texts.
            let is_final = !rules::has_open_call(&now.request)
                && !matches!(now.request.messages.last(), Some(RequestMessage::User { attachments, .. })
                    if !attachments.is_empty())
                && now.request.messages.last().is_some_and(|m| m.role() != "tool");
            before = is_final.then_some(items);
        }
    }

    #[test]
    fn no_sequence_of_turns_loops(
        opening in generate::opening(),
        steps in generate::steps(),
        limits in generate::small_limits(),
        policy in generate::policy(),
    ) {
        let state = EstimatorState::default();
        let mut conversation = opening;
        for step in steps {
            let moment = match step.last().map(|row| &row.message.body) {
                Some(Body::ToolResult { .. }) => Moment::AfterTools,
                Some(Body::Assistant { .. }) => Moment::AfterResponse,
                _ => Moment::BeforeSend,
            };
            conversation = generate::extended(conversation, step);
            let mut rounds = 0;
            loop {
                let inputs = Inputs::new(&conversation, &limits, &policy, &state, moment);
                let now = plan(&inputs);
                check(&now, &conversation)?;
                let next = rules::carried_out(&now, &inputs, rules::longest_summary);
                conversation = next;
                if !rules::is_compact(&now) {
                    break;
                }
                rounds += 1;
                prop_assert!(rounds < 2, "compacts again: {:?}", now.decision);
            }
        }
    }

    #[test]
    fn knobs_of_any_size_do_no_harm(
        conversation in generate::conversation(),
        limits in generate::limits(),
        policy in generate::wild_policy(),
        moment in generate::any_moment(),
    ) {
        let state = EstimatorState::default();
        let plan = plan(&Inputs::new(&conversation, &limits, &policy, &state, moment));
        check(&plan, &conversation)?;
    }
}

/// A policy as a file could have it.
#[test]
fn a_policy_survives_being_written_and_read() {
    for (_, policy) in oneclaw_context::policy::PRESETS {
        let text = serde_json::to_string(policy).unwrap();
        assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), *policy);
    }
}
