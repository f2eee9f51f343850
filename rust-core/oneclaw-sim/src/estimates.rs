//! How far estimates are from the truth: of texts of each class, and of the requests of whole conversations.

use crate::rng::Rng;
use crate::service::Service;
use crate::texts::CORPORA;
use crate::tokens::Counter;
use oneclaw_context::Plan;
use oneclaw_context::estimate::{Calibration, Estimate, EstimatorState, Tariff, simple, text};
use oneclaw_model::{ModelId, RequestMessage};
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
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimates {
    /// A quarter of the characters.
    pub simple: Errors,
    /// By content, the likely size, before reports taught anything.
    pub content: Errors,
    /// By content, corrected by reports: the likely size.
    pub calibrated: Errors,
    /// The same, the size it will hardly exceed.
    pub calibrated_upper: Errors,
    /// From the service's own count of the request before: the likely size.
    pub anchored: Errors,
    /// The same, the size it will hardly exceed.
    pub anchored_upper: Errors,
}

/// What was estimated of a request before it was sent.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    simple: u64,
    content: u64,
    calibrated: (u64, u64),
    anchored: Option<(u64, u64)>,
}

impl Estimates {
    /// The estimates of a plan's request.
    pub fn sample(plan: &Plan, state: &EstimatorState, model: Option<&ModelId>) -> Sample {
        let request = &plan.request;
        let messages = request.messages.iter().map(|message| {
            let calls = match message {
                RequestMessage::Assistant { calls, .. } => calls.iter().map(|c| simple(&c.arguments)).sum(),
                _ => 0,
            };
            simple(message.text()) + calls
        });
        let quarter = request.system.as_deref().map_or(0, simple) + messages.sum::<u64>();
        let by_content = by_content(plan, state, model);
        let is_anchored = state.anchor.is_some_and(|anchor| anchor.covers(request, model).is_some());
        let best = plan.request_estimate;
        Sample {
            simple: quarter,
            content: plan.uncalibrated,
            calibrated: (by_content.expected, by_content.upper),
            anchored: is_anchored.then_some((best.expected, best.upper)),
        }
    }

    /// Adds a request whose real size is known now.
    pub fn add(&mut self, sample: &Sample, truth: u64) {
        self.simple.add(sample.simple, truth);
        self.content.add(sample.content, truth);
        self.calibrated.add(sample.calibrated.0, truth);
        self.calibrated_upper.add(sample.calibrated.1, truth);
        if let Some((expected, upper)) = sample.anchored {
            self.anchored.add(expected, truth);
            self.anchored_upper.add(upper, truth);
        }
    }

    /// Adds another conversation.
    pub fn merge(&mut self, other: &Self) {
        self.simple.merge(&other.simple);
        self.content.merge(&other.content);
        self.calibrated.merge(&other.calibrated);
        self.calibrated_upper.merge(&other.calibrated_upper);
        self.anchored.merge(&other.anchored);
        self.anchored_upper.merge(&other.anchored_upper);
    }
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
    pub upper: Errors,
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
            upper: Errors::default(),
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
