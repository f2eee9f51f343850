//! Where a message stands in its conversation: by time, and among equal times by insertion.

use crate::error::{Fault, Result};

/// A place in the order of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Counts the messages of the same millisecond.
    pub nth: i64,
}

impl Place {
    /// Before every message.
    pub const START: Self = Self { created_at: i64::MIN, nth: 0 };
    /// After every message.
    pub const END: Self = Self { created_at: i64::MAX, nth: i64::MAX };

    /// The times that messages may have: the years 1 to 9999. Another app, or a transcript, may say anything.
    pub const EARLIEST: i64 = -62_135_596_800_000;
    /// The latest of them.
    pub const LATEST: i64 = 253_402_300_799_999;

    /// Where those begin that wait for their turn: after every message that has one.
    pub const LINE: Self = Self { created_at: i64::MAX / 2, nth: 0 };

    /// Whether the message waits for its turn.
    pub fn is_in_line(self) -> bool {
        self >= Self::LINE
    }

    /// The first place of a millisecond.
    pub fn at(created_at: i64) -> Self {
        Self { created_at, nth: 0 }
    }

    /// The nearest time that a message may have.
    pub(crate) fn bounded(time: i64) -> i64 {
        time.clamp(Self::EARLIEST, Self::LATEST)
    }

    /// The place right after this one.
    pub fn next(self) -> Self {
        Self { nth: self.nth.saturating_add(1), ..self }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.created_at, self.nth)
    }
}

impl std::str::FromStr for Place {
    type Err = Fault;
    fn from_str(text: &str) -> Result<Self> {
        let (created_at, nth) = pair(text)?;
        Ok(Self { created_at, nth })
    }
}

/// Two numbers as they are written where a place in a list is handed out.
pub(crate) fn pair(text: &str) -> Result<(i64, i64)> {
    let numbers = text.split_once(':').map(|(a, b)| (a.parse(), b.parse()));
    match numbers {
        Some((Ok(first), Ok(second))) => Ok((first, second)),
        _ => Err(Fault::Refused { why: "this is no place in a list".to_owned() }),
    }
}
