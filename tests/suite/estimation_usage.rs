//! Usage that stands on rows and nowhere else, as in an imported session: it bounds the next request from both sides.

use crate::estimation::truth_by;
use crate::estimation_text::{corpus, o200k};
use oneclaw_context::estimate::{Estimate, EstimatorState};
use oneclaw_context::policy::ONECLAW;
use oneclaw_context::{Conversation, Fixed, Inputs, Moment, Plan, plan};
use oneclaw_model::{Body, ModelLimits, Request, Usage};
use oneclaw_sim::Rng;
use oneclaw_tests::{Chat, rules, words};
use std::cell::RefCell;
use std::collections::HashMap;

const MODELS: [&str; 4] = ["claude-opus-4-5-20251101", "gpt-4o", "gemini-2.5-pro", "house-model"];
const CLASSES: [&str; 9] = [
    "english",
    "code_rust",
    "json_records",
    "logs",
    "chinese",
    "markdown",
    "russian",
    "number_tables",
    "mixed",
];

thread_local! {
    static COUNTED: RefCell<HashMap<String, u64>> = RefCell::default();
}

/// The size the service would report. Texts come again at every turn.
fn truth(request: &Request) -> u64 {
    truth_by(request, |text| {
        let known = COUNTED.with_borrow(|counted| counted.get(text).copied());
        known.unwrap_or_else(|| {
            let count = o200k(text);
            COUNTED.with_borrow_mut(|counted| counted.insert(text.to_owned(), count));
            count
        })
    })
}

/// A piece of some class, of so many characters.
fn piece(rng: &mut Rng, longest: u64) -> String {
    let class = rng.pick(&CLASSES).unwrap();
    let text: Vec<char> = corpus(class).chars().collect();
    let length = rng.between(20, longest) as usize;
    let start = rng.between(0, text.len() as u64 - 1) as usize;
    text.iter().cycle().skip(start).take(length).collect()
}

fn planned(conversation: &Conversation, limits: &ModelLimits) -> Plan {
    plan(&Inputs::new(conversation, limits, &ONECLAW, &EstimatorState::default(), Moment::BeforeSend))
}

/// A session in the making, each reply with the usage that the service reported.
struct Session {
    chat: Chat,
    rng: Rng,
    calls: usize,
}

impl Session {
    fn new(model: &str, seed: u64) -> Self {
        let mut rng = Rng::of(seed, &[17]);
        let mut chat = Chat::new().model(model);
        if rng.percent(60) {
            chat = chat.system(&piece(&mut rng, 3_000));
        }
        if rng.percent(60) {
            chat = chat.tool("read_file").tool("write_file");
        }
        Self { chat, rng, calls: 0 }
    }

    fn conversation(&self) -> Conversation {
        self.chat.clone().conversation()
    }

    /// One more question, reply and, now and then, calls.
    fn turn(&mut self, longest: u64) {
        let question = piece(&mut self.rng, longest);
        self.chat = self.chat.clone().user(question);
        while self.rng.percent(40) {
            self.reply(longest / 4);
            self.calls += 1;
            let (id, output) = (format!("c{}", self.calls), piece(&mut self.rng, longest));
            self.chat = self.chat.clone().batch(&id, "read_file", output);
        }
        self.reply(longest);
    }

    fn reply(&mut self, longest: u64) {
        let prompt = truth(&planned(&self.conversation(), &ModelLimits::default()).request);
        let text = piece(&mut self.rng, longest);
        let hidden = if self.rng.percent(20) { self.rng.between(0, 800) } else { 0 };
        let cached = prompt / 2;
        let output = o200k(&text) + hidden;
        // What was reasoning is told by some services only.
        let reasoning = if self.rng.percent(50) { hidden } else { 0 };
        let usage = Usage { input: prompt - cached, cache_read: cached, cache_write: 0, output, reasoning };
        self.chat = self.chat.clone().reply_with_usage(text, usage);
    }
}

fn slack(estimate: Estimate, truth: u64) -> f64 {
    estimate.upper as f64 / truth as f64 - 1.0
}

#[test]
fn the_next_prompt_is_never_above_the_upper_size_and_hardly_below() {
    for model in MODELS {
        let (mut slacks, mut above) = (Vec::new(), Vec::new());
        for seed in 0..20 {
            let mut session = Session::new(model, seed);
            for turn in 0..36 {
                session.turn(2_400);
                let question = piece(&mut session.rng, 1_200);
                let next =
                    Session { chat: session.chat.clone().user(question), rng: session.rng.clone(), calls: 0 };
                let plan = planned(&next.conversation(), &ModelLimits::default());
                let real = truth(&plan.request);
                if real > plan.estimate.upper {
                    above.push(format!("seed {seed}, turn {turn}: {real} > {:?}", plan.estimate));
                }
                slacks.push(slack(plan.estimate, real));
            }
        }
        slacks.sort_by(f64::total_cmp);
        let median = slacks[slacks.len() / 2];
        assert_eq!(above, [] as [String; 0], "{model}");
        assert!(median <= 0.05, "{model}: {median}");
    }
}

/// At which share of the window the first compaction of a session comes, as the service counts.
fn fires_at(model: &str, seed: u64, change: impl Fn(Conversation) -> Conversation) -> f64 {
    const WINDOW: u64 = 64_000;
    let limits = ModelLimits { window: Some(WINDOW), input_limit: None, max_output: Some(4_096) };
    let mut session = Session::new(model, seed);
    loop {
        session.turn(4_000);
        let conversation = change(session.chat.clone().user("And then?").conversation());
        let plan = planned(&conversation, &limits);
        if rules::is_compact(&plan) {
            let now = planned(&conversation, &ModelLimits::default());
            return truth(&now.request) as f64 / WINDOW as f64;
        }
    }
}

#[test]
fn an_imported_session_is_not_compacted_below_80_percent_of_its_window() {
    for model in MODELS {
        for seed in 0..3 {
            let share = fires_at(model, seed, |conversation| conversation);
            assert!((0.80..0.90).contains(&share), "{model} {seed}: {share}");
        }
    }
}

#[test]
fn instructions_and_tools_that_are_new_are_counted() {
    let fixed = Chat::new().system(&words(1_500)).tool("read_file").tool("http_request").conversation().fixed;
    for model in MODELS {
        let share = fires_at(model, 7, |c| Conversation { fixed: fixed.clone(), ..c });
        assert!((0.80..0.90).contains(&share), "{model}: {share}");
        let mut session = Session::new(model, 7);
        session.chat = Chat::new().model(model);
        for _ in 0..12 {
            session.turn(2_000);
        }
        let bare =
            Conversation { fixed: Fixed::default(), ..session.chat.clone().user("On.").conversation() };
        let with = planned(&Conversation { fixed: fixed.clone(), ..bare }, &ModelLimits::default());
        assert!(truth(&with.request) <= with.estimate.upper, "{model}");
        assert!(with.estimate.expected * 100 >= truth(&with.request) * 95, "{model}: {:?}", with.estimate);
    }
}

/// The session with other usage on its newest reply.
fn with_usage(conversation: &Conversation, change: impl Fn(u64) -> u64) -> Conversation {
    let mut changed = conversation.clone();
    let newest = changed.rows.iter_mut().rev().find_map(|row| match &mut row.message.body {
        Body::Assistant { usage: Some(usage), .. } => Some(usage),
        _ => None,
    });
    let usage = newest.unwrap();
    *usage = Usage { input: change(usage.prompt()), output: usage.output, ..Usage::default() };
    changed
}

#[test]
fn reports_that_cannot_be_true_leave_the_size_to_the_content() {
    let mut session = Session::new("gpt-4o", 3);
    for _ in 0..10 {
        session.turn(3_000);
    }
    let conversation = session.chat.clone().user("And then?").conversation();
    let limits = ModelLimits { window: Some(200_000), ..ModelLimits::default() };
    let mut silent = conversation.clone();
    for row in &mut silent.rows {
        if let Body::Assistant { usage, .. } = &mut row.message.body {
            *usage = None;
        }
    }
    let by_content = planned(&silent, &limits).estimate;
    let told = planned(&conversation, &limits).estimate;
    assert!(told.upper < by_content.upper, "{told:?} {by_content:?}");
    for lie in [|_| 1, |prompt| prompt / 4, |_| 200_001, |_| u64::MAX / 4] {
        assert_eq!(planned(&with_usage(&conversation, lie), &limits).estimate, by_content);
    }
    // What a service leaves out of its reports does not shrink a prompt.
    assert_eq!(planned(&with_usage(&conversation, |prompt| prompt * 3 / 4), &limits).estimate, by_content);
    // A denser vocabulary than any content lets expect is believed.
    let dense = planned(&with_usage(&conversation, |prompt| prompt * 5 / 2), &limits).estimate;
    assert!(dense.expected > by_content.upper && dense.upper > dense.expected, "{dense:?}");
}
