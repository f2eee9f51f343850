//! How many tokens a text, a row or a request costs: a pair, what to expect and what it will hardly exceed.
//!
//! Decisions are made on `upper`, people are shown `expected`. The best number is a provider's own report on a
//! request that is a prefix of this one ([`anchor`]); the rest is estimated by content ([`text`]) for the model's family of
//! vocabularies ([`vocabulary`]), with what its service adds ([`tariff`]), and corrected by what reports showed so far
//! ([`calibration`]).

pub mod anchor;
pub mod calibration;
pub mod image;
pub mod row;
pub mod tariff;
pub mod text;
pub mod vocabulary;

pub use anchor::Anchor;
pub use calibration::Calibration;
pub use row::{MeasuredRow, RowMeasure};
pub use tariff::Tariff;
pub use vocabulary::Vocabulary;

use crate::truncate::utf16_len;
use oneclaw_model::Row;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// RFC-011 `CHARS_PER_TOKEN`.
pub const CHARS_PER_TOKEN: u64 = 4;

/// RFC-011's estimator: a quarter of the UTF-16 units, at least 1 for any text, 0 for none.
pub fn simple(text: &str) -> u64 {
    match utf16_len(text) as u64 {
        0 => 0,
        units => (units / CHARS_PER_TOKEN).max(1),
    }
}

/// RFC-011's estimate of a row: the sum over its four texts; the tool's name is not counted.
pub fn simple_row(row: &Row) -> u64 {
    let texts = [&row.thinking_content, &row.tool_input, &row.tool_output];
    simple(&row.content) + texts.into_iter().flatten().map(|t| simple(t)).sum::<u64>()
}

/// A size in whole tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Estimate {
    /// The likely size.
    pub expected: u64,
    /// A size that the real one should exceed in less than 1 of 1,000 cases.
    pub upper: u64,
}

impl Add for Estimate {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            expected: self.expected.saturating_add(other.expected),
            upper: self.upper.saturating_add(other.upper),
        }
    }
}

/// A size in thousandths of a token, before calibration; sums of it lose nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// The likely size.
    pub expected: u64,
    /// The size it will hardly exceed.
    pub upper: u64,
}

impl Cost {
    /// Nothing.
    pub const ZERO: Self = Self { expected: 0, upper: 0 };

    /// Whole tokens.
    pub const fn tokens(expected: u64, upper: u64) -> Self {
        Self { expected: expected * 1_000, upper: upper * 1_000 }
    }

    /// What is left when `other` is taken away.
    pub fn minus(self, other: Self) -> Self {
        Self {
            expected: self.expected.saturating_sub(other.expected),
            upper: self.upper.saturating_sub(other.upper),
        }
    }
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            expected: self.expected.saturating_add(other.expected),
            upper: self.upper.saturating_add(other.upper),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Add::add)
    }
}

/// What is known of a model's counting so far; passed in, handed back changed, kept by the caller.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EstimatorState {
    /// The correction learnt from reports.
    pub calibration: Calibration,
    /// The newest report that may still be a prefix.
    pub anchor: Option<Anchor>,
}
