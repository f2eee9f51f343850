//! Conversations of every kind a file could hold, the nasty ones included.

use crate::chat;
use oneclaw_context::conversation::{Conversation, Epoch, Fixed};
use oneclaw_context::escape::PHRASES;
use oneclaw_context::estimate::{Anchor, Calibration, EstimatorState, MeasuredRow};
use oneclaw_context::plan::Moment;
use oneclaw_context::policy::{PRESETS, Policy};
use oneclaw_model::{Attachment, Body, Message, ModelLimits, ToolSpec, ToolStatus, Usage};
use proptest::prelude::*;

/// A text: mostly short, sometimes long, empty, foreign or hostile.
pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,9}( [a-z]{1,9}){0,20}",
        1 => Just(String::new()),
        1 => "\\PC{0,60}",
        1 => (1usize..1_500).prop_map(crate::words),
        1 => (1usize..400, prop::sample::select(vec!["漢", "x9Fq", "{\"k\": 12345}, ", "\n", "😀"]))
            .prop_map(|(n, piece)| piece.repeat(n)),
        1 => prop::sample::select(&PHRASES[..]).prop_map(|p| format!("a\n\n---\n\n{p}\n{p} b")),
    ]
}

fn attachment() -> impl Strategy<Value = Attachment> {
    let mime = prop::sample::select(vec!["image/png", "application/pdf"]);
    (mime, prop::option::of(1u32..4_000), prop::option::of(1u32..4_000)).prop_map(|(mime, width, height)| {
        Attachment { mime: mime.into(), name: "file".into(), width, height, data: None }
    })
}

fn attachments() -> impl Strategy<Value = Vec<Attachment>> {
    prop_oneof![5 => Just(vec![]), 1 => prop::collection::vec(attachment(), 1..3)]
}

fn model() -> impl Strategy<Value = Option<&'static str>> {
    prop::sample::select(vec![None, Some("gpt-4o"), Some("claude-opus-4-5-20251101"), Some("local")])
}

fn status() -> impl Strategy<Value = ToolStatus> {
    prop::sample::select(vec![
        ToolStatus::Success,
        ToolStatus::Success,
        ToolStatus::Error,
        ToolStatus::Timeout,
    ])
}

fn user() -> impl Strategy<Value = Body> {
    (text(), attachments()).prop_map(|(text, attachments)| Body::User { text, attachments })
}

fn reply() -> impl Strategy<Value = Body> {
    let usage = prop::option::of((0u64..4_000, 0u64..2_000, 0u64..900));
    (text(), prop::option::of(text()), any::<bool>(), model(), usage).prop_map(
        |(text, thought, signed, model, usage)| Body::Assistant {
            text,
            trace: thought.as_deref().filter(|_| signed).map(|text| chat::signed(text, "sig")),
            thinking: thought,
            model: model.map(Into::into),
            usage: usage.map(|(input, cache_read, output)| Usage {
                input,
                cache_read,
                output,
                ..Usage::default()
            }),
        },
    )
}

/// Call ids come from a small set, so that they repeat within and across batches.
fn call_id() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["c1", "c2", "c3", "c4", ""]).prop_map(str::to_owned)
}

fn call() -> impl Strategy<Value = Body> {
    (
        call_id(),
        prop::sample::select(vec!["read_file", "skill", ""]),
        text(),
        prop::option::of("[a-f]{8}"),
        model(),
    )
        .prop_map(|(call, name, arguments, signature, model)| Body::ToolCall {
            call: call.as_str().into(),
            name: name.into(),
            arguments,
            signature,
            model: model.map(Into::into),
        })
}

fn result() -> impl Strategy<Value = Body> {
    (call_id(), text(), status(), attachments()).prop_map(|(call, output, status, attachments)| {
        Body::ToolResult { call: call.as_str().into(), name: "read_file".into(), output, status, attachments }
    })
}

/// Rows as an app would write them for one step: a message, or a reply with its batch, calls and results interleaved.
fn step() -> impl Strategy<Value = Vec<Body>> {
    let pair = (call_id(), text(), text(), status()).prop_map(|(id, arguments, output, status)| {
        let call = Body::ToolCall {
            call: id.as_str().into(),
            name: "read_file".into(),
            arguments,
            signature: None,
            model: None,
        };
        let result = Body::ToolResult {
            call: id.as_str().into(),
            name: "read_file".into(),
            output,
            status,
            attachments: vec![],
        };
        [call, result]
    });
    prop_oneof![
        4 => user().prop_map(|row| vec![row]),
        3 => reply().prop_map(|row| vec![row]),
        3 => (reply(), prop::collection::vec(pair, 1..5)).prop_map(|(reply, pairs)| {
            std::iter::once(reply).chain(pairs.into_iter().flatten()).collect()
        }),
        1 => call().prop_map(|row| vec![row]),
        1 => result().prop_map(|row| vec![row]),
        1 => text().prop_map(|text| vec![Body::Error { text }]),
        1 => text().prop_map(|text| vec![Body::System { text }]),
    ]
}

/// The rows of a conversation, in steps that a request may fall between. Times repeat.
pub fn steps() -> impl Strategy<Value = Vec<Vec<MeasuredRow>>> {
    let gaps = prop::collection::vec(0i64..2, 1..10);
    (prop::collection::vec((step(), prop::bool::weighted(0.05)), 0..24), gaps).prop_map(|(steps, gaps)| {
        let mut time = 1_000;
        let mut number = 0;
        let mut rows = Vec::new();
        for (step, pinned) in steps {
            let mut measured = Vec::new();
            for body in step {
                number += 1;
                time += gaps[number % gaps.len()];
                let id = format!("m{number}").as_str().into();
                let mut row = MeasuredRow::new(Message { id, created_at: time, body });
                row.pinned = pinned;
                measured.push(row);
            }
            rows.push(measured);
        }
        rows
    })
}

fn fixed() -> impl Strategy<Value = Fixed> {
    let tool = ("[a-z_]{3,12}", text()).prop_map(|(name, description)| ToolSpec {
        name,
        description,
        parameters: serde_json::json!({"type": "object"}),
        protected: false,
    });
    (prop::option::of(text()), prop::collection::vec(tool, 0..3)).prop_map(|(s, t)| Fixed::new(s, t))
}

/// A conversation without rows: a model, fixed parts, maybe a summary of what came before.
pub fn opening() -> impl Strategy<Value = Conversation> {
    (fixed(), model(), prop::option::of((text(), prop::option::of(Just(0)), user()))).prop_map(
        |(fixed, model, prior)| {
            let mut conversation =
                Conversation { fixed, model: model.map(Into::into), ..Conversation::default() };
            if let Some((summary, tail_rows, body)) = prior {
                let message = Message { id: "m0".into(), created_at: 0, body };
                conversation.carried = Some(MeasuredRow::new(message));
                conversation.epoch = Some(Epoch { summary, tail_rows, auto_continue: None });
            }
            conversation
        },
    )
}

/// A conversation with rows.
pub fn conversation() -> impl Strategy<Value = Conversation> {
    (opening(), steps()).prop_map(|(opening, steps)| extended(opening, steps.into_iter().flatten().collect()))
}

/// The conversation with more rows.
pub fn extended(mut conversation: Conversation, rows: Vec<MeasuredRow>) -> Conversation {
    conversation.rows.extend(rows);
    conversation
}

/// Limits of all sizes, unknown ones included.
pub fn limits() -> impl Strategy<Value = ModelLimits> {
    let window = prop_oneof![
        1 => Just(None),
        1 => Just(Some(0)),
        4 => (512u64..16_000).prop_map(Some),
        2 => (16_000u64..200_000).prop_map(Some),
        1 => (200_000u64..=2_000_000).prop_map(Some),
    ];
    let input = prop_oneof![4 => Just(None), 1 => (400u64..100_000).prop_map(Some)];
    let output = prop_oneof![2 => Just(None), 1 => (16u64..100_000).prop_map(Some)];
    (window, input, output).prop_map(|(window, input_limit, max_output)| ModelLimits {
        window,
        input_limit,
        max_output,
    })
}

/// Limits that are known and small, so that checks fire.
pub fn small_limits() -> impl Strategy<Value = ModelLimits> {
    (512u64..6_000, prop::option::of(16u64..2_000)).prop_map(|(window, max_output)| ModelLimits {
        window: Some(window),
        input_limit: None,
        max_output,
    })
}

/// Switches turned and knobs mixed in.
pub const KNOBS: [&str; 14] = [
    "auto=true",
    "auto=false",
    "prune=false",
    "style=narrative",
    "placement=pair",
    "placement=system",
    "tail=messages",
    "tail=empty",
    "snap=back",
    "emergency=0.9",
    "pruning=by_age",
    "afterwards=continue",
    "target=0.3",
    "threshold=0.4",
];

/// One of the presets, sometimes with a switch turned or a knob mixed in.
pub fn policy() -> impl Strategy<Value = Policy> {
    let preset = prop::sample::select(PRESETS.map(|(_, p)| p.clone()).to_vec());
    (preset, prop::option::weighted(0.4, prop::sample::select(&KNOBS[..])))
        .prop_map(|(policy, knob)| knob.map_or(policy.clone(), |k| policy.with(k).expect("a known knob")))
}

/// A preset whose numbers are anything at all.
pub fn wild_policy() -> impl Strategy<Value = Policy> {
    let number = prop_oneof![Just(0), Just(1), 2u64..100_000, Just(u64::MAX)];
    let share = (0u32..=100).prop_map(|percent| f64::from(percent) / 100.0);
    let preset = prop::sample::select(PRESETS.map(|(_, p)| p.clone()).to_vec());
    let changes = prop::collection::vec((any::<prop::sample::Index>(), number, share), 1..8);
    (preset, changes).prop_map(|(policy, changes)| {
        let serde_json::Value::Object(fields) = serde_json::to_value(&policy).unwrap() else { panic!() };
        let numeric: Vec<_> = fields.iter().filter(|(_, value)| value.is_number()).collect();
        changes.iter().fold(policy, |policy, (index, number, share)| {
            let (field, value) = index.get(&numeric);
            let text = if value.is_f64() { share.to_string() } else { number.to_string() };
            policy.with(&format!("{field}={text}")).expect("a number that fits")
        })
    })
}

/// The moments at which a request is planned in the course of a chat.
pub fn moment() -> impl Strategy<Value = Moment> {
    prop::sample::select(vec![Moment::BeforeSend, Moment::AfterTools, Moment::AfterResponse])
}

/// All moments.
pub fn any_moment() -> impl Strategy<Value = Moment> {
    prop_oneof![3 => moment(), 1 => prop::sample::select(vec![Moment::Manual, Moment::Overflow])]
}

/// What providers have reported before.
#[derive(Debug, Clone)]
pub struct Knowledge {
    calibration: Calibration,
    /// A count of the first so many rows, as a multiple of their size by content in percent.
    anchor: Option<(prop::sample::Index, u64)>,
}

/// Nothing, a calibration, an anchor on some prefix of the conversation, or both.
pub fn knowledge() -> impl Strategy<Value = Knowledge> {
    let calibration = prop_oneof![
        2 => Just(Calibration::default()),
        1 => prop::collection::vec((1u64..3_000, 1u64..3_000), 1..6).prop_map(|reports| {
            reports.into_iter().fold(Calibration::default(), |c, (actual, expected)| c.after(actual, expected))
        }),
        1 => (4u32..12, 55u64..140).prop_map(|(reports, percent)| {
            (0..reports).fold(Calibration::default(), |c, _| c.after(percent * 20, 2_000))
        }),
    ];
    let anchor = prop::option::of((any::<prop::sample::Index>(), 40u64..400));
    (calibration, anchor).prop_map(|(calibration, anchor)| Knowledge { calibration, anchor })
}

impl Knowledge {
    /// The knowledge as it bears on a conversation.
    pub fn of(&self, conversation: &Conversation, policy: &Policy) -> EstimatorState {
        let anchor = self.anchor.as_ref().map(|(index, percent)| {
            let mut earlier = conversation.clone();
            earlier.rows.truncate(index.index(conversation.rows.len() + 1));
            let plan = crate::plan_at(&earlier, &ModelLimits::default(), policy, Moment::BeforeSend);
            let prompt = plan.request_estimate.expected * percent / 100;
            Anchor::new(&plan.request, conversation.model.as_ref(), prompt)
        });
        EstimatorState { calibration: self.calibration, anchor }
    }
}
