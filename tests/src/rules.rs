//! The rules that hold for every request, as checks on one; and a plan carried out, for what has to hold afterwards.

use crate::words;
use oneclaw_context::assemble::NO_RESULT;
use oneclaw_context::estimate::Estimate;
use oneclaw_context::plan::{Decision, SendReason, Summaries, Work};
use oneclaw_context::policy::Style;
use oneclaw_context::summary::gate::{CHECKPOINT_HEADINGS, Finish, Gate, Reply, STRUCTURED_HEADINGS};
use oneclaw_context::{Conversation, Inputs, Plan, plan};
use oneclaw_model::{Body, Request, RequestMessage};
use std::collections::HashSet;

/// What holds for every request a plan leads to.
pub fn check_plan(plan: &Plan, conversation: &Conversation) -> Result<(), String> {
    // 1 and 7: pairing, roles.
    check_shape(&plan.request)?;
    // 2: the newest user message survives everything.
    check_newest_user(conversation, &plan.request)?;
    // 3: it fits, or says why it cannot.
    if let Some(budget) = plan.budget {
        let Estimate { expected, upper } = plan.request_estimate;
        let fits = match &plan.decision {
            Decision::Irreducible { over, .. } => expected == budget.most + over,
            Decision::Send(SendReason::ShorterReply) => upper > budget.hard && upper <= budget.most,
            Decision::Send(SendReason::Tried) => expected <= budget.most && upper > budget.most,
            Decision::Send(_) => upper <= budget.hard,
            // What follows it is judged in the stage it was planned in.
            Decision::Compact(_) => upper <= budget.most || expected <= budget.most,
        };
        ensure(fits, || format!("{:?} of {budget:?}: {:?}", plan.request_estimate, plan.decision))?;
        let max_output = plan.request.max_output.unwrap_or(u64::MAX);
        ensure(max_output <= budget.reserve.max(1), || format!("{max_output} tokens of output"))?;
        if let (Some(window), Decision::Send(_)) = (budget.window, &plan.decision) {
            let sum = plan.size().saturating_add(max_output);
            ensure(sum <= window.max(1), || format!("{sum} tokens with the reply, {window} in all"))?;
        }
        for summary in plan.summary_requests() {
            let upper = summary.upper;
            ensure(upper <= budget.hard, || format!("summary request {upper} > {}", budget.hard))?;
            check_shape(&summary.request)?;
            ensure(summary.request.tools.is_empty(), || "tools in a summary request".into())?;
        }
    }
    let estimate = plan.request_estimate;
    ensure(estimate.expected <= estimate.upper, || format!("{estimate:?}"))?;
    // 5: the summary stands below the agent's instructions.
    match (&conversation.fixed.system, &plan.request.system) {
        (Some(prompt), Some(system)) => {
            ensure(system.starts_with(prompt.as_str()), || format!("instructions below: {system}"))
        }
        _ => Ok(()),
    }
}

fn ensure(holds: bool, wrong: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong()) }
}

/// The longest summary that passes the gate, of several tried: the worst case for what follows. None passes where the
/// cap is tiny or the prior text is huge.
pub fn longest_summary(gate: &Gate) -> Option<String> {
    let sections = match gate.style {
        Style::Structured => STRUCTURED_HEADINGS.join("\n"),
        Style::Checkpoint => CHECKPOINT_HEADINGS.join("\n"),
        Style::Prose | Style::Narrative | Style::Continuation => String::new(),
    };
    let prior = gate.prior.clone().unwrap_or_default();
    let mut accepted = None;
    for filler in [0, 10, 40, 100, 300, 1_000] {
        let text = format!("{sections}\nSummary. {} {prior}", words(filler));
        accepted = summary_of(gate, &text).or(accepted);
    }
    accepted
}

/// What is stored of a model's text, if it passes the gate.
pub fn summary_of(gate: &Gate, text: &str) -> Option<String> {
    let reply = Reply { text, finish: Finish::Complete, tool_calls: 0 };
    gate.accept(&reply).ok().map(|accepted| accepted.text)
}

/// Carries a plan out as the agent would: with a summary if there is one, by the steps without a model if not.
pub fn carried_out(
    plan: &Plan,
    inputs: &Inputs<'_>,
    summarise: impl FnOnce(&Gate) -> Option<String>,
) -> Conversation {
    let conversation = inputs.conversation.clone();
    let summary = match &plan.decision {
        Decision::Compact(compaction) => match &compaction.work {
            Work::Summarise(work) => summarise(&work.gate),
            Work::Local(_) => Some(String::new()),
        },
        Decision::Send(_) | Decision::Irreducible { .. } => Some(String::new()),
    };
    match summary {
        Some(summary) => plan.carry_out(conversation, &summary),
        None => {
            let local = self::plan(&Inputs { summaries: Summaries::Failed, ..*inputs });
            local.carry_out(conversation, "")
        }
    }
}

/// Whether a plan compacts.
pub fn is_compact(plan: &Plan) -> bool {
    matches!(plan.decision, Decision::Compact(_))
}

/// Rules 1 and 7: calls and results pair up in order, ids are unique, the user starts, no role repeats.
pub fn check_shape(request: &Request) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    let mut last = "";
    for (index, message) in request.messages.iter().enumerate() {
        let role = message.role();
        if index == 0 && role != "user" {
            return Err(format!("starts with {role}"));
        }
        if role != "tool" && role == last {
            return Err(format!("{role} twice at {index}"));
        }
        match message {
            RequestMessage::ToolResult { call, .. } => {
                if open.is_empty() || open.remove(0) != call.as_str() {
                    return Err(format!("result {call} without its call at {index}"));
                }
            }
            _ if !open.is_empty() => return Err(format!("calls {open:?} unanswered at {index}")),
            RequestMessage::Assistant { text, calls, .. } => {
                if text.is_empty() && calls.is_empty() {
                    return Err(format!("empty assistant message at {index}"));
                }
                for call in calls {
                    if !seen.insert(call.id.clone()) {
                        return Err(format!("call id {} twice", call.id));
                    }
                    open.push(call.id.0.clone());
                }
            }
            RequestMessage::User { .. } => {}
        }
        last = role;
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls {open:?} unanswered at the end")) }
}

/// Rule 2: the newest user message stands in the request, word for word.
pub fn check_newest_user(conversation: &Conversation, request: &Request) -> Result<(), String> {
    let rows = conversation.carried.iter().chain(&conversation.rows).rev();
    let newest = rows.into_iter().find_map(|row| match &row.message.body {
        Body::User { text, attachments } => Some((text, attachments)),
        _ => None,
    });
    let Some((text, attachments)) = newest else { return Ok(()) };
    let is_there = request.messages.iter().any(|m| {
        matches!(m, RequestMessage::User { text: t, attachments: a } if t.contains(text.as_str())
            && attachments.iter().all(|x| if x.is_image() { a.contains(x) } else { t.contains(&x.label()) }))
    });
    if is_there { Ok(()) } else { Err(format!("the newest user message is missing: {text:?}")) }
}

/// A request as a flat list of what the provider reads, reasoning and lengths aside; for comparing prefixes.
pub fn items(request: &Request) -> Vec<String> {
    let mut items = vec![format!("system {:?}", request.system)];
    items.extend(request.tools.iter().map(|t| format!("tool {} {} {}", t.name, t.description, t.parameters)));
    for message in &request.messages {
        match message {
            RequestMessage::User { text, attachments } => {
                items.push(format!("user {text}"));
                items.extend(attachments.iter().map(|a| format!("picture {a:?}")));
            }
            RequestMessage::Assistant { text, calls, .. } => {
                items.push(format!("assistant {text}"));
                items.extend(calls.iter().map(|c| format!("call {} {} {}", c.id, c.name, c.arguments)));
            }
            RequestMessage::ToolResult { call, text, .. } => items.push(format!("result {call} {text}")),
        }
    }
    items
}

/// Whether a request has a stand-in for a result that may still come.
pub fn has_open_call(request: &Request) -> bool {
    request.messages.iter().any(|m| matches!(m, RequestMessage::ToolResult { text, .. } if text == NO_RESULT))
}
