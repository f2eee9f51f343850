//! What the suites that follow a source document share: conversations of a known form, and looks into a plan.

use oneclaw_context::estimate::{Anchor, EstimatorState, Tariff};
use oneclaw_context::plan::{Compaction, SendReason, Summaries, Work};
use oneclaw_context::summary::gate::{Finish, Reply};
use oneclaw_context::{Conversation, Decision, Inputs, Moment, Plan, Policy, plan};
use oneclaw_model::{MessageId, ModelLimits, Request, RequestMessage};
use oneclaw_tests::{Chat, plan_at, words};
use std::ops::RangeInclusive;

/// A model nothing is known of: nothing fires, and the request shows the conversation as things stand.
pub const UNKNOWN: ModelLimits = ModelLimits { window: None, input_limit: None, max_output: None };

/// So many turns of a question and an answer, `length` words each and a few more; no two texts are the same.
pub fn talk(turns: usize, length: usize) -> Chat {
    (0..turns).fold(Chat::new(), |chat, turn| {
        chat.user(words(length + 2 * turn)).reply(words(length + 2 * turn + 1))
    })
}

/// A window and the longest reply.
pub fn limits(window: u64, max_output: u64) -> ModelLimits {
    ModelLimits { window: Some(window), input_limit: None, max_output: Some(max_output) }
}

/// A preset with knobs changed.
pub fn set(preset: &Policy, knobs: &[&str]) -> Policy {
    knobs.iter().fold(preset.clone(), |policy, knob| policy.with(knob).unwrap())
}

/// The upper size of the conversation as it stands.
pub fn size(conversation: &Conversation, policy: &Policy) -> u64 {
    plan_at(conversation, &UNKNOWN, policy, Moment::BeforeSend).estimate.upper
}

/// The plan when the provider has counted the request as it stands, and said `tokens`.
pub fn plan_of_size(
    conversation: &Conversation,
    limits: &ModelLimits,
    policy: &Policy,
    moment: Moment,
    tokens: u64,
) -> Plan {
    let request = plan_at(conversation, &UNKNOWN, policy, moment).request;
    let anchor = Some(Anchor::new(&request, conversation.model.as_ref(), tokens));
    let state = EstimatorState { anchor, ..EstimatorState::default() };
    let plan = plan(&Inputs::new(conversation, limits, policy, &state, moment));
    assert_eq!(plan.estimate.upper, tokens);
    plan
}

/// The plan once a summary was asked for and could not be had.
pub fn plan_after_failure(
    conversation: &Conversation,
    limits: &ModelLimits,
    policy: &Policy,
    moment: Moment,
) -> Plan {
    let state = EstimatorState::default();
    let inputs = Inputs::new(conversation, limits, policy, &state, moment);
    plan(&Inputs { summaries: Summaries::Failed, ..inputs })
}

/// Why the request is sent as it is.
pub fn sent(plan: &Plan) -> SendReason {
    match &plan.decision {
        Decision::Send(reason) => *reason,
        other => panic!("not sent: {other:?}"),
    }
}

/// The compaction decided on.
pub fn compaction(plan: &Plan) -> &Compaction {
    match &plan.decision {
        Decision::Compact(compaction) => compaction,
        other => panic!("not compacted: {other:?}"),
    }
}

/// The text of a compaction that needs no model.
pub fn local_text(plan: &Plan) -> &str {
    match &compaction(plan).work {
        Work::Local(text) => text,
        Work::Summarise(_) => panic!("a model is asked"),
    }
}

/// The only request for a summary.
pub fn summary_request(plan: &Plan) -> Request {
    let [only] = plan.summary_requests().try_into().expect("one request");
    only.request
}

/// The names of rows.
pub fn ids(rows: RangeInclusive<usize>) -> Vec<MessageId> {
    rows.map(id).collect()
}

/// The name of a row.
pub fn id(row: usize) -> MessageId {
    format!("m{row}").as_str().into()
}

/// What the request says for each tool result, in order.
pub fn results(request: &Request) -> Vec<&str> {
    request.messages.iter().filter(|m| m.role() == "tool").map(RequestMessage::text).collect()
}

/// Roles and texts of a request.
pub fn texts(request: &Request) -> Vec<(&str, &str)> {
    request.messages.iter().map(|m| (m.role(), m.text())).collect()
}

/// A summary that a model finished.
pub fn finished(text: &str) -> Reply<'_> {
    Reply { text, finish: Finish::Complete, tool_calls: 0 }
}

/// The prices of a model nothing is known of.
pub fn tariff() -> Tariff {
    Tariff::of(None, None, Default::default())
}
