//! What holds for every conversation, policy and limit.

use oneclaw_context::estimate::EstimatorState;
use oneclaw_context::plan::{Decision, Moment, SendReason, Summaries, Work};
use oneclaw_context::summary::gate::{Finish, Reply};
use oneclaw_context::{Conversation, Inputs, Plan, Policy, plan};
use oneclaw_model::ModelLimits;
use oneclaw_tests::{generate, plan_at, rules};
use proptest::prelude::*;

/// A summary as large as a model may make it: the worst case for what follows.
fn longest_summary(plan: &Plan, policy: &Policy, conversation: &Conversation) -> String {
    let Decision::Compact(compaction) = &plan.decision else { return String::new() };
    if let Work::Local(text) = &compaction.work {
        return text.clone();
    }
    let tariff = oneclaw_context::estimate::Tariff::of(
        conversation.model.as_ref(),
        conversation.provider,
        Default::default(),
    );
    let sections = match policy.style {
        oneclaw_context::policy::Style::Structured => {
            oneclaw_context::summary::gate::STRUCTURED_HEADINGS.join("\n")
        }
        oneclaw_context::policy::Style::Checkpoint => {
            oneclaw_context::summary::gate::CHECKPOINT_HEADINGS.join("\n")
        }
        _ => String::new(),
    };
    let prior = conversation.epoch.as_ref().map(|e| e.summary.clone()).unwrap_or_default();
    let mut accepted = None;
    for filler in [0, 10, 40, 100, 300, 1_000] {
        let text = format!("{sections}\nSummary. {} {prior}", oneclaw_tests::words(filler));
        let reply = Reply { text: &text, finish: Finish::Complete, tool_calls: 0 };
        accepted = compaction.gate.accept(&reply, &tariff).ok().map(|a| a.text).or(accepted);
    }
    // Nothing passes where the cap is tiny or the prior text is huge: the caller then asks for the steps without one.
    accepted.unwrap_or_default()
}

/// Carries a plan out as the agent would: a summary if one is accepted, the digest if not.
fn carried_out(
    plan: &Plan,
    conversation: &Conversation,
    limits: &ModelLimits,
    policy: &Policy,
    moment: Moment,
) -> Conversation {
    let now = conversation.rows.last().map_or(0, |row| row.message.created_at);
    let summary = longest_summary(plan, policy, conversation);
    let is_summary = matches!(&plan.decision, Decision::Compact(c) if matches!(c.work, Work::Summarise(_)));
    if is_summary && summary.is_empty() {
        let state = EstimatorState::default();
        let inputs = Inputs {
            summaries: Summaries::Failed,
            ..Inputs::new(conversation, limits, policy, &state, moment)
        };
        let local = oneclaw_context::plan(&inputs);
        let text = longest_summary(&local, policy, conversation);
        return local.carry_out(conversation.clone(), &text, now);
    }
    plan.carry_out(conversation.clone(), &summary, now)
}

fn is_turn(body: &oneclaw_model::Body) -> bool {
    use oneclaw_model::Body;
    matches!(body, Body::User { .. } | Body::Assistant { .. } | Body::ToolCall { .. })
}

fn is_compact(plan: &Plan) -> bool {
    matches!(plan.decision, Decision::Compact(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn every_request_obeys_the_rules(
        conversation in generate::conversation(),
        limits in generate::limits(),
        policy in generate::policy(),
        moment in generate::moment(),
        failed in any::<bool>(),
    ) {
        let state = EstimatorState::default();
        let summaries = if failed { Summaries::Failed } else { Summaries::Allowed };
        let before = conversation.clone();
        let inputs = Inputs { summaries, ..Inputs::new(&conversation, &limits, &policy, &state, moment) };
        let first = plan(&inputs);

        // 1 and 7: pairing, roles.
        rules::check_shape(&first.request).map_err(TestCaseError::fail)?;
        // 2: the newest user message survives everything.
        rules::check_newest_user(&conversation, &first.request).map_err(TestCaseError::fail)?;
        // 3: it fits, or says why it cannot.
        if let Some(budget) = first.budget {
            let upper = first.request_estimate.upper;
            match first.decision {
                Decision::Irreducible { over, .. } => prop_assert_eq!(upper, budget.hard + over),
                _ => prop_assert!(upper <= budget.hard, "{} > {}", upper, budget.hard),
            }
            prop_assert!(first.request.max_output.unwrap() <= budget.reserve);
            for summary in first.summary_requests() {
                prop_assert!(summary.upper <= budget.hard, "summary request {} > {}", summary.upper, budget.hard);
                rules::check_shape(&summary.request).map_err(TestCaseError::fail)?;
                prop_assert!(summary.request.tools.is_empty());
            }
        } else {
            prop_assert!(matches!(first.decision, Decision::Send(SendReason::WindowUnknown)));
        }
        prop_assert!(first.request_estimate.expected <= first.request_estimate.upper);
        // 5: the summary stands below the agent's instructions.
        if let (Some(prompt), Some(system)) = (&conversation.fixed.system, &first.request.system) {
            prop_assert!(system.starts_with(prompt.as_str()));
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
        moment in generate::moment(),
    ) {
        let first = plan_at(&conversation, &limits, &policy, moment);
        if !is_compact(&first) {
            return Ok(());
        }
        let next = carried_out(&first, &conversation, &limits, &policy, moment);
        for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
            let again = plan_at(&next, &limits, &policy, moment);
            prop_assert!(!is_compact(&again), "{:?} after {:?}", again.decision, first.decision);
        }
        let again = plan_at(&next, &limits, &policy, moment);
        if let (Some(budget), Decision::Send(_)) = (again.budget, &again.decision) {
            prop_assert!(again.request_estimate.upper <= budget.hard);
        }
        rules::check_newest_user(&conversation, &again.request).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn between_compactions_requests_are_prefixes_of_each_other(
        opening in generate::opening(),
        steps in generate::steps(),
        limits in generate::limits(),
        policy in generate::policy(),
    ) {
        if policy.pruning == oneclaw_context::policy::Pruning::ByAge {
            return Ok(());
        }
        let mut conversation = opening;
        let mut before: Option<Vec<String>> = None;
        for step in steps {
            let is_first = conversation.rows.iter().all(|row| !is_turn(&row.message.body));
            conversation = generate::extended(conversation, step);
            if is_first {
                before = None; // A new turn does not need the message of the old one.
            }
            let now = plan_at(&conversation, &limits, &policy, Moment::BeforeSend);
            if !matches!(now.decision, Decision::Send(SendReason::Fits | SendReason::WindowUnknown)) {
                break;
            }
            let items = rules::items(&now.request);
            // A user message is merged with the one before it, and a stand-in gives way to a late result.
            if let Some(earlier) = &before {
                let stable = earlier.len() - 1;
                prop_assert_eq!(&items[..stable], &earlier[..stable]);
                prop_assert!(items[stable].starts_with(earlier[stable].trim_end_matches(" []")));
            }
            before = (!rules::has_open_call(&now.request)
                && now.request.messages.iter().all(|m| !matches!(m, oneclaw_model::RequestMessage::User { attachments, .. } if !attachments.is_empty()))
                && now.request.messages.last().is_some_and(|m| m.role() != "tool"))
            .then_some(items);
        }
    }

    #[test]
    fn no_sequence_of_turns_loops(
        opening in generate::opening(),
        steps in generate::steps(),
        limits in generate::small_limits(),
        policy in generate::policy(),
    ) {
        let mut conversation = opening;
        for step in steps {
            let moment = match step.last().map(|row| &row.message.body) {
                Some(oneclaw_model::Body::ToolResult { .. }) => Moment::AfterTools,
                Some(oneclaw_model::Body::Assistant { .. }) => Moment::AfterResponse,
                _ => Moment::BeforeSend,
            };
            conversation = generate::extended(conversation, step);
            let mut rounds = 0;
            loop {
                let now = plan_at(&conversation, &limits, &policy, moment);
                if !is_compact(&now) {
                    rules::check_shape(&now.request).map_err(TestCaseError::fail)?;
                    rules::check_newest_user(&conversation, &now.request).map_err(TestCaseError::fail)?;
                    conversation = now.carry_out(conversation, "", 0);
                    break;
                }
                rounds += 1;
                prop_assert!(rounds < 2, "compacts again: {:?}", now.decision);
                conversation = carried_out(&now, &conversation, &limits, &policy, moment);
            }
        }
    }
}
