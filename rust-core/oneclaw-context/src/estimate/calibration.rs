//! The correction of estimates by what providers report: sven's slow average, one per model.

use serde::{Deserialize, Serialize};

const KEEP: f64 = 0.8;
const LEARN: f64 = 0.2;
const LOWEST: f64 = 0.5;
const HIGHEST: f64 = 3.0;

/// How much larger the truth is than the estimate, averaged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    factor: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { factor: 1.0 }
    }
}

impl Calibration {
    /// A factor that was kept; one that is out of bounds, or no number, is brought within them.
    pub fn new(factor: f64) -> Self {
        Self { factor: if factor.is_finite() { factor.clamp(LOWEST, HIGHEST) } else { 1.0 } }
    }

    /// The calibration after a refusal that named the real size: at once, and upwards only.
    pub fn at_least(self, actual: u64, estimated: u64) -> Self {
        if estimated == 0 {
            return self;
        }
        Self::new(self.factor.max(actual as f64 / estimated as f64))
    }

    /// The factor, between 0.5 and 3.0.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// The calibration after a report: `actual` prompt tokens where `estimated` were expected before calibration.
    pub fn after(self, actual: u64, estimated: u64) -> Self {
        if actual == 0 || estimated == 0 {
            return self;
        }
        let ratio = actual as f64 / estimated as f64;
        Self { factor: (KEEP * self.factor + LEARN * ratio).clamp(LOWEST, HIGHEST) }
    }

    /// A likely size, corrected.
    pub fn expected(&self, tokens: f64) -> f64 {
        tokens * self.factor
    }

    /// An upper size, corrected upwards only: it must hold for content that the average has not seen.
    pub fn upper(&self, tokens: f64) -> f64 {
        tokens * self.factor.max(1.0)
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
}
