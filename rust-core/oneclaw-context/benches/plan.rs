//! What planning costs in sessions of different length: the engine is handed the newest epoch and the rows since, with
//! their measures, so the cost depends on those and not on the session.
//!
//! After criterion's own output, `main` prints how the longest session compares with the shortest; as in `truncate`,
//! the candidates run in turn in one loop and medians are compared.

// A benchmark is a program for developers: it prints, and criterion's macros generate undocumented items.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod support;

use criterion::{BenchmarkId, Criterion, criterion_group};
use oneclaw_context::estimate::{EstimatorState, MeasuredRow};
use oneclaw_context::plan::SendReason;
use oneclaw_context::policy::ONECLAW;
use oneclaw_context::{Conversation, Decision, Epoch, Fixed, Inputs, Moment, plan};
use oneclaw_model::{Body, Message, ModelLimits, ToolSpec, ToolStatus};
use std::hint::black_box;
use std::time::{Duration, Instant};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// Rows since the boundary; a whole number of turns, so that the tail starts with the user.
const TAIL: usize = 60;
const ROWS_PER_TURN: usize = 5;
const LIMITS: ModelLimits =
    ModelLimits { window: Some(128_000), input_limit: None, max_output: Some(16_384) };
const ROUNDS: usize = 2_001;

/// A session as a store keeps it: every row with the measure that was made when it was written.
struct Session {
    rows: Vec<MeasuredRow>,
    /// What the user says next.
    next: MeasuredRow,
    /// Everything but the rows.
    around: Conversation,
    state: EstimatorState,
}

impl Session {
    fn new(size: usize) -> Self {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: format!("Does what {name} does and returns the text it found."),
            parameters: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            protected: false,
        };
        let system = "You are a helpful assistant. Answer briefly and use the tools where they help.";
        let summary = "The user plans a trip and asked for trains, beds and restaurants. ".repeat(30);
        let around = Conversation {
            model: Some("gpt-4o".into()),
            fixed: Fixed::new(Some(system.to_owned()), vec![tool("read_file"), tool("http_request")]),
            epoch: Some(Epoch { summary, tail_rows: Some(0), auto_continue: None }),
            ..Conversation::default()
        };
        let next = row(size, user());
        Self { rows: (0..size).map(turn_row).collect(), next, around, state: EstimatorState::default() }
    }

    /// What a store hands to the engine: the rows since the boundary, and for a send what was just written.
    fn handed_over(&self, moment: Moment) -> Conversation {
        let tail = self.rows.get(self.rows.len() - TAIL..).unwrap();
        let written = (moment == Moment::BeforeSend).then_some(&self.next);
        let rows = tail.iter().chain(written).cloned().collect();
        Conversation { rows, ..self.around.clone() }
    }

    fn planned(&self, conversation: &Conversation, moment: Moment) -> usize {
        let plan = plan(&Inputs::new(conversation, &LIMITS, &ONECLAW, &self.state, moment));
        assert!(matches!(plan.decision, Decision::Send(SendReason::Fits)), "{:?}", plan.decision);
        black_box(plan).request.messages.len()
    }
}

fn row(index: usize, body: Body) -> MeasuredRow {
    let id = format!("m{index}").as_str().into();
    MeasuredRow::new(Message { id, created_at: index as i64 * 1_000, body })
}

fn user() -> Body {
    Body::User { text: "Which train should we take, and is there a bed nearby?".into(), attachments: vec![] }
}

/// The rows of endless turns: a question, a call with its result, an answer.
fn turn_row(index: usize) -> MeasuredRow {
    let reply =
        |text: String| Body::Assistant { text, thinking: None, trace: None, model: None, usage: None };
    let body = match index % ROWS_PER_TURN {
        0 => user(),
        1 => reply(String::new()),
        2 => Body::ToolCall {
            call: format!("c{index}").as_str().into(),
            name: "read_file".into(),
            arguments: "{\"path\":\"notes/porto.md\"}".into(),
            signature: None,
            model: None,
        },
        3 => Body::ToolResult {
            call: format!("c{}", index - 1).as_str().into(),
            name: "read_file".into(),
            output: "AP 131 leaves at 09:30 and costs 31.90 EUR.\n".repeat(30),
            status: ToolStatus::Success,
            attachments: vec![],
        },
        _ => reply("Take the early one; the guesthouse is a short walk from the station. ".repeat(6)),
    };
    row(index, body)
}

/// One thing to measure in every session.
struct Case {
    name: &'static str,
    moment: Moment,
    /// Whether handing the rows over is part of it.
    hands_over: bool,
}

const CASES: [Case; 4] = [
    Case { name: "check after a response", moment: Moment::AfterResponse, hands_over: true },
    Case { name: "check after a response, plan() alone", moment: Moment::AfterResponse, hands_over: false },
    Case { name: "request before a send", moment: Moment::BeforeSend, hands_over: true },
    Case { name: "request before a send, plan() alone", moment: Moment::BeforeSend, hands_over: false },
];

impl Case {
    /// The work on one session, ready to be repeated.
    fn work<'a>(&self, session: &'a Session) -> Box<dyn Fn() -> usize + 'a> {
        let moment = self.moment;
        if self.hands_over {
            return Box::new(move || session.planned(&black_box(session).handed_over(moment), moment));
        }
        let conversation = session.handed_over(moment);
        Box::new(move || session.planned(black_box(&conversation), moment))
    }
}

fn planning(criterion: &mut Criterion) {
    let sessions = SIZES.map(Session::new);
    for case in &CASES {
        let mut group = criterion.benchmark_group(case.name);
        group.sample_size(20).warm_up_time(Duration::from_millis(300));
        group.measurement_time(Duration::from_secs(1));
        for session in &sessions {
            let work = case.work(session);
            let id = BenchmarkId::from_parameter(session.rows.len());
            group.bench_function(id, |bencher| bencher.iter(&work));
        }
        group.finish();
    }
}

/// Measures all cases in all sessions in turn and prints how the longest session compares with the shortest.
fn print_ratios() {
    let sessions = SIZES.map(Session::new);
    let works = CASES.each_ref().map(|case| sessions.each_ref().map(|session| case.work(session)));
    let mut times = CASES.each_ref().map(|_| SIZES.map(|_| Vec::with_capacity(ROUNDS)));
    for _ in 0..ROUNDS {
        for (work, times) in works.iter().flatten().zip(times.iter_mut().flatten()) {
            // One run to warm the caches for this session, one to measure.
            black_box(work());
            let start = Instant::now();
            black_box(work());
            times.push(start.elapsed());
        }
    }
    for (case, times) in CASES.iter().zip(times) {
        let [shortest, _, longest] = times.map(|mut times| support::median(&mut times).as_secs_f64() * 1e6);
        println!(
            "ratio {}, 100000 / 1000 rows = {:.2} ({longest:.1} us / {shortest:.1} us)",
            case.name,
            longest / shortest
        );
    }
}

criterion_group!(benches, planning);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    if support::is_measuring() {
        print_ratios();
    }
}
