//! The upper size once reports have lowered it, against two real tokenizers.

use crate::estimation::truth_by;
use crate::estimation_text::{CLASSES, cl100k, corpus, o200k};
use oneclaw_context::estimate::{Calibration, EstimatorState};
use oneclaw_context::policy::ONECLAW;
use oneclaw_context::{Conversation, Inputs, Moment, Plan, plan};
use oneclaw_model::ModelLimits;
use oneclaw_sim::Rng;
use oneclaw_tests::Chat;
use std::collections::HashMap;

const CONVERSATIONS: u64 = 1_000;
const REPORTS: usize = 6;

fn planned(conversation: &Conversation, calibration: Calibration) -> Plan {
    let (limits, state) = (ModelLimits::default(), EstimatorState { calibration, anchor: None });
    plan(&Inputs::new(conversation, &limits, &ONECLAW, &state, Moment::BeforeSend))
}

struct Texts(HashMap<&'static str, Vec<char>>);

impl Texts {
    fn piece(&self, rng: &mut Rng, longest: u64) -> String {
        let text = &self.0[rng.pick(&CLASSES).unwrap()];
        let length = rng.between(40, longest) as usize;
        let start = rng.between(0, text.len() as u64 - 1) as usize;
        text.iter().cycle().skip(start).take(length).collect()
    }

    /// A user message, and now and then the batch of tools that a reply before it asked for.
    fn step(&self, chat: Chat, rng: &mut Rng, number: usize) -> Chat {
        let chat = match rng.percent(30) {
            true => chat.batch(&format!("c{number}"), "read_file", self.piece(rng, 1_500)),
            false => chat.reply(self.piece(rng, 1_000)),
        };
        chat.user(self.piece(rng, 1_200))
    }
}

fn median(sizes: &mut [f64]) -> f64 {
    sizes.sort_by(f64::total_cmp);
    sizes[sizes.len() / 2]
}

/// After the reports at most `share` of the margin is left.
fn lowered_but_never_short(model: &str, count: fn(&str) -> u64, share: f64) {
    let texts = Texts(CLASSES.iter().map(|class| (*class, corpus(class).chars().collect())).collect());
    let (mut before, mut after, mut short) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..CONVERSATIONS {
        let rng = &mut Rng::of(seed, &[4]);
        let mut calibration = Calibration::default();
        let mut chat = Chat::new().model(model).system("You answer briefly.").tool("read_file");
        chat = chat.user(texts.piece(rng, 1_200));
        for number in 0..REPORTS {
            let plan = planned(&chat.clone().conversation(), calibration);
            let real = truth_by(&plan.request, count);
            calibration = calibration.after_report(real, plan.uncalibrated, plan.estimate.upper);
            chat = texts.step(chat, rng, number);
        }
        let conversation = chat.conversation();
        let next = planned(&conversation, calibration);
        let real = truth_by(&next.request, count);
        if real > next.estimate.upper {
            short.push(format!("{seed}: {real} > {:?} with {calibration:?}", next.estimate));
        }
        after.push(next.estimate.upper as f64 / real as f64 - 1.0);
        let plain = planned(&conversation, Calibration::default()).estimate.upper;
        before.push(plain as f64 / real as f64 - 1.0);
    }
    let (before, after) = (median(&mut before), median(&mut after));
    assert!(short.len() as u64 * 1_000 < CONVERSATIONS.max(1_001), "{short:?}");
    assert!(after < before * share, "{model}: {after} of {before}");
}

#[test]
fn six_reports_halve_the_margin_of_o200k() {
    lowered_but_never_short("gpt-4o", o200k, 0.5);
}

#[test]
fn six_reports_lower_the_margin_of_cl100k() {
    // What is expected of a text is fitted to the other tokenizer, so reports differ more from class to class.
    lowered_but_never_short("gpt-4-turbo", cl100k, 0.6);
}
