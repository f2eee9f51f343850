//! What holds for every conversation, policy, limit, moment and state of knowledge.

use oneclaw_context::estimate::EstimatorState;
use oneclaw_context::plan::{Decision, Moment, SendReason, Summaries, Work};
use oneclaw_context::policy::{Policy, Pruning, Style};
use oneclaw_context::summary::gate::{CHECKPOINT_HEADINGS, Finish, Gate, Reply, STRUCTURED_HEADINGS};
use oneclaw_context::{Conversation, Inputs, Plan, plan};
use oneclaw_model::{Body, RequestMessage};
use oneclaw_tests::{generate, rules, words};
use proptest::prelude::*;

/// The longest summary that passes the gate, of several tried: the worst case for what follows. None passes where the
/// cap is tiny or the prior text is huge.
fn longest_summary(gate: &Gate) -> Option<String> {
    let sections = match gate.style {
        Style::Structured => STRUCTURED_HEADINGS.join("\n"),
        Style::Checkpoint => CHECKPOINT_HEADINGS.join("\n"),
        Style::Prose | Style::Narrative | Style::Continuation => String::new(),
    };
    let prior = gate.prior.clone().unwrap_or_default();
    let mut accepted = None;
    for filler in [0, 10, 40, 100, 300, 1_000] {
        let text = format!("{sections}\nSummary. {} {prior}", words(filler));
        let reply = Reply { text: &text, finish: Finish::Complete, tool_calls: 0 };
        accepted = gate.accept(&reply).ok().map(|a| a.text).or(accepted);
    }
    accepted
}

/// Carries a plan out as the agent would: a summary if one is accepted, the steps without a model if not.
fn carried_out(plan: &Plan, inputs: &Inputs<'_>) -> Conversation {
    let conversation = inputs.conversation.clone();
    let summary = match &plan.decision {
        Decision::Compact(compaction) => match &compaction.work {
            Work::Summarise(work) => longest_summary(&work.gate),
            Work::Local(_) => Some(String::new()),
        },
        Decision::Send(_) | Decision::Irreducible { .. } => Some(String::new()),
    };
    match summary {
        Some(summary) => plan.carry_out(conversation, &summary),
        None => {
            let local = oneclaw_context::plan(&Inputs { summaries: Summaries::Failed, ..*inputs });
            local.carry_out(conversation, "")
        }
    }
}

fn is_compact(plan: &Plan) -> bool {
    matches!(plan.decision, Decision::Compact(_))
}

/// What holds for every request a plan leads to.
fn check(plan: &Plan, conversation: &Conversation) -> Result<(), TestCaseError> {
    // 1 and 7: pairing, roles.
    rules::check_shape(&plan.request).map_err(TestCaseError::fail)?;
    // 2: the newest user message survives everything.
    rules::check_newest_user(conversation, &plan.request).map_err(TestCaseError::fail)?;
    // 3: it fits, or says why it cannot.
    if let Some(budget) = plan.budget {
        let upper = plan.request_estimate.upper;
        match plan.decision {
            Decision::Irreducible { over, .. } => prop_assert_eq!(upper, budget.hard + over),
            _ => prop_assert!(upper <= budget.hard, "{} > {}", upper, budget.hard),
        }
        prop_assert!(plan.request.max_output.unwrap() <= budget.reserve);
        for summary in plan.summary_requests() {
            prop_assert!(summary.upper <= budget.hard, "summary request {} > {}", summary.upper, budget.hard);
            rules::check_shape(&summary.request).map_err(TestCaseError::fail)?;
            prop_assert!(summary.request.tools.is_empty());
        }
    }
    prop_assert!(plan.request_estimate.expected <= plan.request_estimate.upper);
    // 5: the summary stands below the agent's instructions.
    if let (Some(prompt), Some(system)) = (&conversation.fixed.system, &plan.request.system) {
        prop_assert!(system.starts_with(prompt.as_str()));
    }
    Ok(())
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
        if !is_compact(&first) {
            return Ok(());
        }
        let next = carried_out(&first, &inputs);
        for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
            let again = plan(&Inputs::new(&next, &limits, &policy, &state, moment));
            prop_assert!(
                !is_compact(&again),
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
                let next = carried_out(&now, &inputs);
                conversation = next;
                if !is_compact(&now) {
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
