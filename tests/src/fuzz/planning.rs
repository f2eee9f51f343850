//! Conversations that no app would have, in windows that no model has.

use super::bytes::Bytes;
use crate::chat::signed;
use crate::{generate, plan_at, rules};
use oneclaw_context::conversation::{Conversation, Epoch, Fixed};
use oneclaw_context::estimate::{Anchor, Calibration, EstimatorState, MeasuredRow};
use oneclaw_context::plan::{Moment, Summaries};
use oneclaw_context::policy::{PRESETS, Policy};
use oneclaw_context::{Inputs, plan};
use oneclaw_model::{Attachment, Body, Message, ModelLimits, ToolSpec, ToolStatus, Usage};

const MOMENTS: [Moment; 5] =
    [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse, Moment::Manual, Moment::Overflow];

/// More rows than this only take time.
const MOST_ROWS: usize = 60;

/// Every request obeys the rules, and a compaction that is carried out is not followed by another one.
pub fn planning(data: &[u8]) {
    let bytes = &mut Bytes(data);
    let (limits, policy, moment) = (limits(bytes), policy(bytes), *bytes.choice(&MOMENTS));
    let summaries = if bytes.byte() % 4 == 3 { Summaries::Failed } else { Summaries::Allowed };
    let (knowledge, reply) = (Knowledge::read(bytes), bytes.text());
    let conversation = conversation(bytes);
    let state = knowledge.of(&conversation, &policy);
    let inputs = Inputs { summaries, ..Inputs::new(&conversation, &limits, &policy, &state, moment) };
    let first = plan(&inputs);
    rules::check_plan(&first, &conversation).unwrap();
    if !rules::is_compact(&first) {
        return;
    }
    let next = rules::carried_out(&first, &inputs, |gate| {
        rules::summary_of(gate, &reply).or_else(|| rules::longest_summary(gate))
    });
    for moment in [Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse] {
        let again = plan(&Inputs::new(&next, &limits, &policy, &state, moment));
        rules::check_plan(&again, &next).unwrap();
        rules::check_newest_user(&conversation, &again.request).unwrap();
        assert!(
            !rules::is_compact(&again),
            "{moment:?} compacts again: {:?} after {:?}",
            again.decision,
            first.decision
        );
    }
}

fn limits(bytes: &mut Bytes<'_>) -> ModelLimits {
    let window = match bytes.byte() % 8 {
        0 => None,
        1 => Some(bytes.number(1)),
        2 => Some(bytes.number(3)),
        _ => Some(512 + bytes.number(2) % 6_000),
    };
    let mut maybe = || bytes.flag().then(|| bytes.number(2));
    ModelLimits { window, input_limit: maybe(), max_output: maybe() }
}

fn policy(bytes: &mut Bytes<'_>) -> Policy {
    let (_, preset) = *bytes.choice(&PRESETS);
    match bytes.byte() % 3 {
        0 => preset.with(bytes.choice::<&str>(&generate::KNOBS)).unwrap(),
        _ => preset.clone(),
    }
}

/// What providers have reported before.
struct Knowledge {
    /// A real size and what was expected.
    report: Option<(u64, u64)>,
    /// After how many rows a size was reported, and how many percent of the expected one it was.
    anchor: Option<(usize, u64)>,
}

impl Knowledge {
    fn read(bytes: &mut Bytes<'_>) -> Self {
        Self {
            report: bytes.flag().then(|| (1 + bytes.number(2), 1 + bytes.number(2))),
            anchor: bytes.flag().then(|| (usize::from(bytes.byte()), 40 + bytes.number(1))),
        }
    }

    fn of(&self, conversation: &Conversation, policy: &Policy) -> EstimatorState {
        let calibration = Calibration::default();
        let calibration =
            self.report.map_or(calibration, |(actual, expected)| calibration.after(actual, expected));
        let anchor = self.anchor.map(|(rows, percent)| {
            let mut earlier = conversation.clone();
            earlier.rows.truncate(rows);
            let plan = plan_at(&earlier, &ModelLimits::default(), policy, Moment::BeforeSend);
            let prompt = plan.request_estimate.expected * percent / 100;
            Anchor::new(&plan.request, conversation.model.as_ref(), prompt)
        });
        EstimatorState { calibration, anchor }
    }
}

fn conversation(bytes: &mut Bytes<'_>) -> Conversation {
    let system = bytes.flag().then(|| bytes.text());
    let tools = (0..bytes.byte() % 3).map(|number| ToolSpec {
        name: format!("tool_{number}"),
        description: bytes.text(),
        parameters: serde_json::json!({"type": "object"}),
        protected: bytes.flag(),
    });
    let fixed = Fixed::new(system, tools.collect());
    let model = model(bytes).map(Into::into);
    let mut conversation = Conversation { fixed, model, ..Conversation::default() };
    if bytes.byte() % 3 == 2 {
        let (summary, tail_rows) = (bytes.text(), bytes.flag().then_some(0));
        conversation.epoch = Some(Epoch { summary, tail_rows, auto_continue: None });
        let body = Body::User { text: bytes.text(), attachments: attachments(bytes) };
        conversation.carried = Some(MeasuredRow::new(Message { id: "m0".into(), created_at: 0, body }));
    }
    let mut created_at = 1_000;
    for number in 1..=MOST_ROWS {
        if bytes.is_empty() {
            break;
        }
        let flags = bytes.byte();
        created_at += i64::from(flags & 1);
        let id = format!("m{number}").as_str().into();
        let mut row = MeasuredRow::new(Message { id, created_at, body: body(bytes) });
        row.pinned = flags & 0b11_1110 == 0b11_1110;
        conversation.rows.push(row);
    }
    conversation
}

fn body(bytes: &mut Bytes<'_>) -> Body {
    let call = |bytes: &mut Bytes<'_>| (*bytes.choice(&["c1", "c2", "c3", ""])).into();
    match bytes.byte() % 10 {
        0..=2 => Body::User { text: bytes.text(), attachments: attachments(bytes) },
        3 | 4 => Body::Assistant {
            text: bytes.text(),
            thinking: bytes.flag().then(|| bytes.text()),
            trace: bytes.flag().then(|| signed(&bytes.text(), &bytes.text())),
            model: model(bytes).map(Into::into),
            usage: bytes.flag().then(|| Usage {
                input: bytes.number(2),
                output: bytes.number(2),
                cache_read: bytes.number(1),
                ..Usage::default()
            }),
        },
        5 | 6 => Body::ToolCall {
            call: call(bytes),
            name: (*bytes.choice(&["read_file", "skill", ""])).into(),
            arguments: bytes.text(),
            signature: bytes.flag().then(|| bytes.text()),
            model: model(bytes).map(Into::into),
        },
        7 | 8 => Body::ToolResult {
            call: call(bytes),
            name: (*bytes.choice(&["read_file", "skill"])).into(),
            output: bytes.text(),
            status: *bytes.choice(&[ToolStatus::Success, ToolStatus::Error, ToolStatus::Pending]),
            attachments: attachments(bytes),
        },
        _ if bytes.flag() => Body::Error { text: bytes.text() },
        _ => Body::System { text: bytes.text() },
    }
}

fn model(bytes: &mut Bytes<'_>) -> Option<&'static str> {
    *bytes.choice(&[
        None,
        Some("gpt-4o"),
        Some("claude-opus-4-5-20251101"),
        Some("gemini-2.5-pro"),
        Some("local"),
    ])
}

fn attachments(bytes: &mut Bytes<'_>) -> Vec<Attachment> {
    let count = bytes.byte().saturating_sub(0xf0) % 4;
    let attachment = |_| Attachment {
        mime: (*bytes.choice(&["image/png", "application/pdf"])).into(),
        name: bytes.text(),
        width: bytes.flag().then(|| bytes.number(2) as u32),
        height: bytes.flag().then(|| bytes.number(4) as u32),
        data: None,
    };
    (0..count).map(attachment).collect()
}
