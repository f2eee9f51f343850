//! What reading texts and planning a compaction cost as they grow: everything here should cost the same for each byte or
//! row, however many there are. A ratio above 1 would mean that long texts cost more than their length.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)] // A benchmark: a fault should stop it; it talks.

mod support;

use oneclaw_context::estimate::{
    Calibration, EstimatorState, MeasuredRow, Tariff, Vocabulary, text::measure,
};
use oneclaw_context::policy::ONECLAW;
use oneclaw_context::summary::fact_block::Facts;
use oneclaw_context::summary::{digest::digest, facts};
use oneclaw_context::{Conversation, Decision, Inputs, Moment, escape::escape, plan};
use oneclaw_model::{Body, Message, ModelLimits};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 31;
/// Bytes of the short and the long text; rows of the short and the long conversation.
const BYTES: [usize; 2] = [10_000, 1_000_000];
const ROWS: [usize; 2] = [200, 2_000];

/// What is done to a text, and its name.
type Work = (&'static str, fn(&str) -> usize);

/// Something done to a long and a short input.
struct Case {
    name: &'static str,
    unit: &'static str,
    sizes: [usize; 2],
    works: [Box<dyn Fn() -> usize>; 2],
}

fn main() {
    if !support::is_measuring() {
        return;
    }
    for case in texts().into_iter().chain(conversations()) {
        let mut times = [const { Vec::new() }; 2];
        for _ in 0..ROUNDS {
            for (work, times) in case.works.iter().zip(&mut times) {
                // One run to warm the caches for this input, one to measure.
                black_box(work());
                let start = Instant::now();
                black_box(work());
                times.push(start.elapsed());
            }
        }
        let [short, long] = times.map(|mut times| support::median(&mut times).as_secs_f64() * 1e6);
        let [few, many] = case.sizes.map(|size| size as f64);
        println!(
            "ratio {} per {}, {many} / {few} = {:.2} ({long:.0} us / {short:.0} us)",
            case.name,
            case.unit,
            (long / many) / (short / few)
        );
    }
}

fn texts() -> Vec<Case> {
    let kinds: [(&str, &str); 4] = [
        ("prose", "The harbour master wrote at 09:30 that the early boat is late. "),
        ("cjk", "數據庫裡有多少條記錄？這是一個很長的句子。"),
        ("code", "if (rows[i].id == \"m_42\") { return Ok(path.join(\"src/main.rs\")); }\n"),
        ("base64", "aGVsbG8gd29ybGQhIHRoaXMgaXMgYSBsb25nIGxpbmU"),
    ];
    let works: [Work; 4] = [
        ("estimate", |text| measure(text).upper_milli(Vocabulary::O200k) as usize),
        ("facts", |text| facts::find(text).len()),
        ("facts in data", |text| facts::find_in_data(text).len()),
        ("escape", |text| escape(text).len()),
    ];
    let case = |(what, work): Work, (kind, piece): (&str, &str)| Case {
        name: format!("{what}, {kind}").leak(),
        unit: "byte",
        sizes: BYTES,
        works: BYTES.map(|size| {
            let text = piece.repeat(size / piece.len() + 1);
            Box::new(move || work(black_box(&text))) as Box<dyn Fn() -> usize>
        }),
    };
    works.into_iter().flat_map(|work| kinds.map(|kind| case(work, kind))).collect()
}

fn conversations() -> Vec<Case> {
    let case = |name, work: fn(&Conversation) -> usize| Case {
        name,
        unit: "row",
        sizes: ROWS,
        works: ROWS.map(|rows| {
            let conversation = conversation(rows);
            Box::new(move || work(black_box(&conversation))) as Box<dyn Fn() -> usize>
        }),
    };
    vec![
        case("plan of a compaction", compaction),
        case("facts of a conversation", |conversation| {
            Facts::collect(None, &conversation.rows).missing_from("", 1_000, &tariff()).text.len()
        }),
        case("digest", |conversation| digest(None, &conversation.rows, 2_048, &tariff()).len()),
    ]
}

fn tariff() -> Tariff {
    Tariff::of(None, None, Calibration::default())
}

/// Questions and answers, each different.
fn conversation(rows: usize) -> Conversation {
    let rows = (0..rows).map(|index| {
        let text = format!("Take number {index} to /data/part{index}.txt, {} EUR. ", index * 7).repeat(8);
        let body = match index % 2 {
            0 => Body::User { text, attachments: vec![] },
            _ => Body::Assistant { text, thinking: None, trace: None, model: None, usage: None },
        };
        let id = format!("m{index}").as_str().into();
        MeasuredRow::new(Message { id, created_at: index as i64, body })
    });
    Conversation { rows: rows.collect(), ..Conversation::default() }
}

/// The window is such that the same share of the rows has to go, and one summary request holds them.
fn compaction(conversation: &Conversation) -> usize {
    let window = Some(conversation.rows.len() as u64 * 150);
    let limits = ModelLimits { window, input_limit: None, max_output: None };
    let state = EstimatorState::default();
    let plan = plan(&Inputs::new(conversation, &limits, &ONECLAW, &state, Moment::AfterResponse));
    assert!(matches!(plan.decision, Decision::Compact(_)), "{:?}", plan.decision);
    plan.request.messages.len()
}
