//! The correction of estimates by what providers report: sven's slow average, one per model; and once enough reports agree, how
//! much of the upper size they leave in doubt.

use serde::{Deserialize, Serialize};

const KEEP: f64 = 0.8;
const LEARN: f64 = 0.2;
const LOWEST: f64 = 0.5;
const HIGHEST: f64 = 3.0;

/// A smaller request says more of what stands around messages than of how dense texts are.
pub const LEAST_TEACHING: u64 = 200;
/// So many reports that agree lower the upper size.
const ENOUGH: u32 = 4;
/// A report agrees with the highest so far if it is at most so much above or below it: content differs that much.
const ABOVE: f64 = 1.25;
const BELOW: f64 = 0.6;
/// The highest ratio comes down to newer ones by this part of the distance with each report.
const FORGET: f64 = 0.15;
/// The upper size is at least so much above what the highest ratio says.
const MARGIN: f64 = 1.03;
/// Where the highest ratio is further above the average, reports differ too much to lower anything.
const SPREAD: f64 = 1.3;
/// How much stays of what the content's upper size has above the reported density: at first, less with each further report, and at least.
const KNOWN: Slack = Slack { first: 0.6, least: 0.3 };
/// The same where it is not known how the model's vocabulary treats other content than what was reported.
const UNKNOWN: Slack = Slack { first: 0.8, least: 0.5 };
const SLACK_PER_REPORT: f64 = 0.15;

struct Slack {
    first: f64,
    least: f64,
}

/// How much larger the truth is than the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// On average.
    factor: f64,
    /// How many reports have agreed since the last that did not.
    #[serde(default)]
    reports: u32,
    /// At most, of late; 0 where no report of some size was seen.
    #[serde(default)]
    high: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self::new(1.0)
    }
}

/// The upper size once reports have lowered it.
struct Lowered {
    /// What the likely size is multiplied by: as much as reports support.
    density: f64,
    /// Taken of what the content's upper size has above that.
    slack: f64,
}

impl Lowered {
    /// The larger of two sums, so parts never come to less than their whole.
    fn upper(&self, expected: f64, upper: f64) -> f64 {
        let reported = expected * self.density;
        reported + (upper - reported).max(0.0) * self.slack
    }
}

fn bounded(factor: f64) -> f64 {
    if factor.is_finite() { factor.clamp(LOWEST, HIGHEST) } else { 1.0 }
}

impl Calibration {
    /// A factor that was kept; one that is out of bounds, or no number, is brought within them.
    pub fn new(factor: f64) -> Self {
        Self { factor: bounded(factor), reports: 0, high: 0.0 }
    }

    /// The same with how many reports agreed and the highest ratio of late, as they were kept.
    pub fn kept(factor: f64, reports: u64, high: Option<f64>) -> Self {
        let high = high.filter(|high| high.is_finite() && *high > 0.0).map(bounded);
        let reports = high.map_or(0, |_| u32::try_from(reports).unwrap_or(u32::MAX));
        Self { reports, high: high.unwrap_or(0.0), ..Self::new(factor) }
    }

    /// The calibration after a refusal that named the real size: at once, and upwards only. It lowers nothing any more.
    pub fn at_least(self, actual: u64, estimated: u64) -> Self {
        if estimated == 0 {
            return self;
        }
        Self { reports: 0, ..self.with(self.factor.max(actual as f64 / estimated as f64)) }
    }

    /// The factor, between 0.5 and 3.0.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// How many reports have agreed.
    pub fn reports(&self) -> u64 {
        u64::from(self.reports)
    }

    /// The highest ratio of late, if there was a report of some size.
    pub fn high(&self) -> Option<f64> {
        (self.high > 0.0).then_some(self.high)
    }

    /// The calibration after a report: `actual` prompt tokens where `estimated` were expected before calibration.
    pub fn after(self, actual: u64, estimated: u64) -> Self {
        if actual == 0 || estimated == 0 {
            return self;
        }
        let ratio = actual as f64 / estimated as f64;
        let next = self.with(KEEP * self.factor + LEARN * ratio);
        // What cannot be true, as a report without what a cache held, teaches nothing of density.
        if estimated < LEAST_TEACHING || ratio < LOWEST {
            return next;
        }
        let ratio = ratio.min(HIGHEST);
        if self.high == 0.0 || ratio > self.high * ABOVE {
            return Self { reports: 1, high: ratio, ..next };
        }
        let reports = self.reports.saturating_add(u32::from(ratio >= self.high * BELOW));
        let high = ratio.max(self.high - FORGET * (self.high - ratio));
        Self { reports, high, ..next }
    }

    /// The same for a request that was taken to be at most `upper`: if it was larger, nothing is lowered until reports agree
    /// anew.
    pub fn after_report(self, actual: u64, estimated: u64, upper: u64) -> Self {
        let next = self.after(actual, estimated);
        if actual > upper { Self { reports: 0, ..next } } else { next }
    }

    fn with(self, factor: f64) -> Self {
        Self { factor: bounded(factor), ..self }
    }

    /// A likely size, corrected.
    pub fn expected(&self, tokens: f64) -> f64 {
        tokens * self.factor
    }

    /// An upper size, corrected: upwards by the average, which says nothing of content it has not seen; downwards once enough
    /// reports agree, and less where the vocabulary is not known.
    pub fn upper(&self, expected: f64, upper: f64, knows_vocabulary: bool) -> f64 {
        match self.lowered(knows_vocabulary) {
            None => upper * self.factor.max(1.0),
            Some(lowered) => lowered.upper(expected, upper),
        }
    }

    fn lowered(&self, knows_vocabulary: bool) -> Option<Lowered> {
        if self.reports < ENOUGH || self.high * MARGIN > self.factor.max(1.0) * SPREAD {
            return None;
        }
        let Slack { first, least } = if knows_vocabulary { KNOWN } else { UNKNOWN };
        let slack = (first - SLACK_PER_REPORT * f64::from(self.reports - ENOUGH)).max(least);
        Some(Lowered { density: (self.high * MARGIN).max(self.factor), slack })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learns_slowly_and_within_bounds() {
        let start = Calibration::default();
        assert!((start.after(150, 100).factor() - 1.1).abs() < 1e-12);
        let mut high = start;
        let mut low = start;
        for _ in 0..100 {
            high = high.after(1_000_000, 1);
            low = low.after(1, 1_000_000);
        }
        assert_eq!((high.factor(), low.factor()), (3.0, 0.5));
    }

    #[test]
    fn a_report_of_nothing_teaches_nothing() {
        assert_eq!(Calibration::default().after(0, 100), Calibration::default());
        assert_eq!(Calibration::default().after(100, 0), Calibration::default());
    }

    #[test]
    fn enough_reports_that_agree_lower_the_upper_size_and_one_surprise_undoes_it() {
        let after =
            |count: u32| (0..count).fold(Calibration::default(), |c, _| c.after_report(900, 1_000, 2_000));
        let upper = |c: Calibration, is_known| c.upper(1_000.0, 1_400.0, is_known);
        assert_eq!(upper(after(3), true), 1_400.0);
        let sizes: Vec<f64> = (3..7).map(|count| upper(after(count), true)).collect();
        assert!(sizes.windows(2).all(|pair| pair[1] < pair[0]), "{sizes:?}");
        // 900 and 3 %, and of the 473 above that three tenths.
        assert_eq!(upper(after(30), true).round(), 927.0 + 142.0);
        assert!(upper(after(9), false) > upper(after(9), true), "less is known of other content");
        let surprised = after(9).after_report(2_001, 2_000, 2_000);
        assert_eq!(upper(surprised, true), 1_400.0);
        assert_eq!(upper(after(9).at_least(900, 1_000), true), 1_400.0);
        let dense = after(9).after(1_200, 1_000);
        assert_eq!((dense.reports(), dense.high()), (1, Some(1.2)), "it begins anew");
        assert_eq!(after(9).after(30, 20).reports(), 9, "a short request says nothing of density");
        let sparse = after(9).after(500, 1_000);
        assert_eq!(sparse.reports(), 9);
        assert!(sparse.high().unwrap() > 0.83, "what was seen is forgotten slowly");
    }

    #[test]
    fn what_is_kept_is_checked() {
        let learnt = (0..5).fold(Calibration::default(), |c, _| c.after(900, 1_000));
        assert_eq!(Calibration::kept(learnt.factor(), learnt.reports(), learnt.high()), learnt);
        for high in [None, Some(f64::NAN), Some(-1.0), Some(0.0)] {
            assert_eq!(Calibration::kept(1.0, 9, high), Calibration::new(1.0));
        }
        let odd = Calibration::kept(f64::INFINITY, u64::MAX, Some(1e9));
        assert_eq!((odd.factor(), odd.high()), (1.0, Some(3.0)));
        assert!(odd.upper(1.0, 2.0, true).is_finite());
    }
}
