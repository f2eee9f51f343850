//! How far upper bounds are from the truth: by how much they exceed it (slack), how often and how far they are below it
//! (shortfall).
//!
//! Values are kept as a histogram of thousandths: what is put together from conversations is what one look at all of them
//! would have given, in whatever order.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// No bound is told apart that is further above the truth than this, in thousandths of it.
const MOST: i128 = 10_000;

/// The slack of many upper bounds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Slack {
    /// How many bounds exceed the truth by so many thousandths of it, rounded down.
    histogram: BTreeMap<i32, u64>,
    /// The sum over all of them, in millionths.
    sum_ppm: i64,
    /// Bounds below the truth.
    pub below: u64,
    /// The worst of these, as a share of the truth, in millionths.
    pub worst_below_ppm: u64,
}

impl Slack {
    /// Adds a bound and what it is a bound of.
    pub fn add(&mut self, upper: u64, truth: u64) {
        let over = i128::from(upper) - i128::from(truth);
        let truth = i128::from(truth.max(1));
        let milli = (over * 1_000).div_euclid(truth).clamp(-1_000, MOST);
        let ppm = (over * 1_000_000 / truth).clamp(-1_000_000, MOST * 1_000);
        *self.histogram.entry(milli as i32).or_default() += 1;
        self.sum_ppm += ppm as i64;
        if over < 0 {
            self.below += 1;
            self.worst_below_ppm = self.worst_below_ppm.max(ppm.unsigned_abs() as u64);
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        for (milli, count) in &other.histogram {
            *self.histogram.entry(*milli).or_default() += count;
        }
        self.sum_ppm += other.sum_ppm;
        self.below += other.below;
        self.worst_below_ppm = self.worst_below_ppm.max(other.worst_below_ppm);
    }

    /// How many bounds there are.
    pub fn bounds(&self) -> u64 {
        self.histogram.values().sum()
    }

    /// The slack that so many percent of the bounds do not exceed, in percent; to a tenth, rounded down.
    pub fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.bounds() * percent).div_ceil(100).max(1);
        let mut have = 0;
        let reaches = |(_, count): &(&i32, &u64)| {
            have += **count;
            have >= rank
        };
        self.histogram.iter().find(reaches).map_or(0.0, |(milli, _)| f64::from(*milli) / 10.0)
    }

    /// The slack in the middle, in percent.
    pub fn median(&self) -> f64 {
        self.percentile(50)
    }

    /// The mean slack, in percent.
    pub fn mean(&self) -> f64 {
        self.sum_ppm as f64 / self.bounds().max(1) as f64 / 1e4
    }

    /// The share of bounds below the truth, in percent.
    pub fn below_percent(&self) -> f64 {
        self.below as f64 * 100.0 / self.bounds().max(1) as f64
    }

    /// By how much the worst of these is below it, in percent of the truth.
    pub fn worst_percent(&self) -> f64 {
        self.worst_below_ppm as f64 / 1e4
    }
}

/// What a size is estimated from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The content alone, before any report.
    Content,
    /// The content, corrected by reports of the model.
    Calibrated,
    /// Usage on rows, as in a conversation that was imported: nobody knows which request it measured.
    RowUsage,
    /// The service's own count of an earlier request that this one continues.
    Anchor,
    /// The service's own count of this request.
    Counted,
}

/// All of them, the least certain first.
pub const SOURCES: [Source; 5] =
    [Source::Content, Source::Calibrated, Source::RowUsage, Source::Anchor, Source::Counted];

impl Source {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Calibrated => "calibrated",
            Self::RowUsage => "row usage",
            Self::Anchor => "anchor",
            Self::Counted => "counted",
        }
    }
}

/// The slack of requests, by what their size was estimated from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BySource {
    /// From content alone.
    pub content: Slack,
    /// From content and reports.
    pub calibrated: Slack,
    /// From usage on rows.
    pub row_usage: Slack,
    /// From the count of an earlier request.
    pub anchor: Slack,
    /// From a count that was asked for.
    pub counted: Slack,
}

impl BySource {
    /// That of one source.
    pub fn of(&self, source: Source) -> &Slack {
        match source {
            Source::Content => &self.content,
            Source::Calibrated => &self.calibrated,
            Source::RowUsage => &self.row_usage,
            Source::Anchor => &self.anchor,
            Source::Counted => &self.counted,
        }
    }

    /// The same, to add to.
    pub fn of_mut(&mut self, source: Source) -> &mut Slack {
        match source {
            Source::Content => &mut self.content,
            Source::Calibrated => &mut self.calibrated,
            Source::RowUsage => &mut self.row_usage,
            Source::Anchor => &mut self.anchor,
            Source::Counted => &mut self.counted,
        }
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        SOURCES.into_iter().for_each(|source| self.of_mut(source).merge(other.of(source)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_and_shortfall_of_a_few() {
        let mut slack = Slack::default();
        assert_eq!((slack.bounds(), slack.median(), slack.mean(), slack.below_percent()), (0, 0.0, 0.0, 0.0));
        for (upper, truth) in [(150, 100), (110, 100), (100, 100), (98, 100), (1_205, 1_000)] {
            slack.add(upper, truth);
        }
        // In order: −2 %, 0 %, 10 %, 20.5 %, 50 %.
        assert_eq!((slack.bounds(), slack.median(), slack.percentile(95)), (5, 10.0, 50.0));
        assert_eq!((slack.percentile(80), slack.percentile(20), slack.percentile(0)), (20.5, -2.0, -2.0));
        assert!((slack.mean() - 15.7).abs() < 1e-9, "{}", slack.mean());
        assert_eq!((slack.below, slack.below_percent(), slack.worst_percent()), (1, 20.0, 2.0));
    }

    #[test]
    fn a_bound_a_little_below_the_truth_does_not_count_as_equal() {
        let mut slack = Slack::default();
        slack.add(999_999, 1_000_000);
        assert_eq!((slack.median(), slack.below, slack.worst_below_ppm), (-0.1, 1, 1));
        slack.add(0, u64::MAX);
        slack.add(u64::MAX, 0);
        assert_eq!((slack.percentile(1), slack.percentile(100)), (-100.0, 1_000.0));
    }

    #[test]
    fn parts_put_together_are_the_whole() {
        let mut rng = crate::rng::Rng::of(1, &[9]);
        let bounds: Vec<(u64, u64)> =
            (0..1_000).map(|_| (rng.between(50, 4_000), rng.between(1, 2_000))).collect();
        let of = |bounds: &[(u64, u64)]| {
            let mut slack = Slack::default();
            bounds.iter().for_each(|(upper, truth)| slack.add(*upper, *truth));
            slack
        };
        let whole = of(&bounds);
        for at in [0, 1, 333, 1_000] {
            let (left, right) = bounds.split_at(at);
            for (first, second) in [(left, right), (right, left)] {
                let mut merged = of(first);
                merged.merge(&of(second));
                assert_eq!(merged, whole);
            }
        }
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<Slack>(&text).unwrap(), whole);
    }
}
