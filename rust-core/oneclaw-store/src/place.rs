//! Where a message stands in its conversation: by time, and among equal times by insertion.

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

    /// The first place of a millisecond.
    pub fn at(created_at: i64) -> Self {
        Self { created_at, nth: 0 }
    }

    /// The place right after this one.
    pub fn next(self) -> Self {
        Self { nth: self.nth.saturating_add(1), ..self }
    }
}
