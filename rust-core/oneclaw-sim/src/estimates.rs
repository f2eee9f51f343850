//! How far estimates are from the truth: of texts of each class, and of the requests of whole conversations.

use crate::rng::Rng;
use crate::service::Service;
use crate::slack::{BySource, Slack, Source};
use crate::texts::CORPORA;
use crate::tokens::Counter;
use oneclaw_context::Plan;
use oneclaw_context::estimate::{Calibration, Estimate, EstimatorState, Tariff, simple, text};
use oneclaw_model::{ModelId, Request, RequestMessage};
use serde::{Deserialize, Serialize};

/// Slices looked at of each class.
const SLICES: u64 = 100;
/// Characters of a slice.
const SLICE_CHARS: (u64, u64) = (40, 1_200);

/// How far one way of estimating is from the truth.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Errors {
    /// Estimates made.
    pub estimates: u64,
    /// Sum of the distances from the truth, as shares of it, in millionths.
    pub distance_ppm: u64,
    /// Estimates below the truth.
    pub below: u64,
    /// The worst of these, as a share of the truth, in millionths.
    pub worst_below_ppm: u64,
    /// The worst above it.
    pub worst_above_ppm: u64,
}

impl Errors {
    fn add(&mut self, estimate: u64, truth: u64) {
        let share = estimate.abs_diff(truth) * 1_000_000 / truth.max(1);
        self.estimates += 1;
        self.distance_ppm += share;
        if estimate < truth {
            self.below += 1;
            self.worst_below_ppm = self.worst_below_ppm.max(share);
        } else {
            self.worst_above_ppm = self.worst_above_ppm.max(share);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.estimates += other.estimates;
        self.distance_ppm += other.distance_ppm;
        self.below += other.below;
        self.worst_below_ppm = self.worst_below_ppm.max(other.worst_below_ppm);
        self.worst_above_ppm = self.worst_above_ppm.max(other.worst_above_ppm);
    }

    /// The mean distance from the truth, in percent of it.
    pub fn mean_percent(&self) -> f64 {
        self.distance_ppm as f64 / self.estimates.max(1) as f64 / 1e4
    }

    /// The share of estimates below the truth, in percent.
    pub fn below_percent(&self) -> f64 {
        self.below as f64 * 100.0 / self.estimates.max(1) as f64
    }
}

/// All ways of estimating, side by side.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimates {
    /// A quarter of the characters.
    pub simple: Errors,
    /// By content, the likely size, before reports taught anything.
    pub content: Errors,
    /// By content, corrected by reports: the likely size.
    pub calibrated: Errors,
    /// From the service's own count of the request before: the likely size.
    pub anchored: Errors,
    /// The sizes that requests will hardly exceed.
    pub upper: BySource,
}

/// What was estimated of a request before it was sent.
#[derive(Debug, Clone)]
pub struct Sample {
    /// A quarter of the characters.
    pub simple: u64,
    /// The likely size by content.
    pub content: u64,
    /// The same, corrected by reports.
    pub calibrated: u64,
    /// The likely size from a count of the request before.
    pub anchored: Option<u64>,
    /// Upper sizes, by what they were estimated from.
    pub upper: Vec<(Source, u64)>,
}

impl Estimates {
    /// Adds a request whose real size is known now.
    pub fn add(&mut self, sample: &Sample, truth: u64) {
        self.simple.add(sample.simple, truth);
        self.content.add(sample.content, truth);
        self.calibrated.add(sample.calibrated, truth);
        if let Some(expected) = sample.anchored {
            self.anchored.add(expected, truth);
        }
        for (source, upper) in &sample.upper {
            self.upper.of_mut(*source).add(*upper, truth);
        }
    }

    /// Adds another conversation.
    pub fn merge(&mut self, other: &Self) {
        self.simple.merge(&other.simple);
        self.content.merge(&other.content);
        self.calibrated.merge(&other.calibrated);
        self.anchored.merge(&other.anchored);
        self.upper.merge(&other.upper);
    }
}

/// What the simple estimator takes a request for.
pub fn quarter(request: &Request) -> u64 {
    let messages = request.messages.iter().map(|message| {
        let calls = match message {
            RequestMessage::Assistant { calls, .. } => calls.iter().map(|c| simple(&c.arguments)).sum(),
            _ => 0,
        };
        simple(message.text()) + calls
    });
    request.system.as_deref().map_or(0, simple) + messages.sum::<u64>()
}

/// What a plan's request is taken for by its content, corrected by reports.
pub fn by_content(plan: &Plan, state: &EstimatorState, model: Option<&ModelId>) -> Estimate {
    let around = Tariff::of(model, None, state.calibration).total(Tariff::REQUEST);
    let parts = [plan.parts.system, plan.parts.tools, plan.parts.summary, plan.parts.messages];
    parts.into_iter().fold(around, |sum, part| sum + part)
}

/// The estimates of the texts of one class, without any report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassErrors {
    /// The class.
    pub class: String,
    /// A quarter of the characters.
    pub simple: Errors,
    /// By content, the likely size.
    pub expected: Errors,
    /// By content, the size it will hardly exceed.
    pub upper: Slack,
}

/// Slices of every class as a service counts them.
pub fn by_class(seed: u64, service: &Service) -> Vec<ClassErrors> {
    let mut counter = Counter::default();
    let tokenizer = service.tokenizer();
    let tariff = Tariff::of(Some(&service.model.as_str().into()), None, Calibration::default());
    let of_class = |(place, (class, corpus)): (usize, &(&str, &str))| {
        let mut rng = Rng::of(seed, &[11, place as u64]);
        let chars: Vec<char> = corpus.chars().collect();
        let mut errors = ClassErrors {
            class: (*class).to_owned(),
            simple: Errors::default(),
            expected: Errors::default(),
            upper: Slack::default(),
        };
        for _ in 0..SLICES {
            let length = rng.between(SLICE_CHARS.0, SLICE_CHARS.1) as usize;
            let start = rng.number() as usize % chars.len().saturating_sub(length).max(1);
            let slice: String = chars.iter().skip(start).take(length).collect();
            let truth = counter.count(&tokenizer, &slice);
            let estimate = tariff.total(tariff.text(text::measure(&slice)));
            errors.simple.add(simple(&slice), truth);
            errors.expected.add(estimate.expected, truth);
            errors.upper.add(estimate.upper, truth);
        }
        errors
    };
    CORPORA.iter().enumerate().map(of_class).collect()
}
