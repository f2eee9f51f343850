//! What is given up, one after the other, before a message is declined: the length of the reply, then certainty.
//!
//! Each stage is the same ladder with other numbers. A stage is only reached where the one before finds nothing that fits, and
//! that depends on system text, tools and the newest message alone: what a compaction leaves is judged in the same stage.

use super::SendReason;
use crate::budget::Budget;
use crate::estimate::Estimate;

/// By which numbers a plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The upper size beside a reply of the usual length.
    Usual,
    /// The upper size beside a short reply.
    ShortReply,
    /// The likely size beside a short reply.
    Likely,
}

impl Stage {
    /// The size that counts.
    pub fn size(self, estimate: Estimate) -> u64 {
        match self {
            Self::Usual | Self::ShortReply => estimate.upper,
            Self::Likely => estimate.expected,
        }
    }

    /// The sizes it is compared with.
    pub fn budget(self, usual: Budget) -> Budget {
        match self {
            Self::Usual => usual,
            Self::ShortReply | Self::Likely => usual.with_short_reply(),
        }
    }

    /// What to ask for in a request. A reply shrinks no further than it has to; where the size is not certain, what is left
    /// beside the shortest one is the margin.
    pub fn max_output(self, usual: Budget, estimate: Estimate) -> u64 {
        match self {
            Self::Usual | Self::ShortReply => usual.max_output(estimate.upper),
            Self::Likely => usual.with_short_reply().max_output(estimate.expected),
        }
    }

    /// Why a request is sent.
    pub fn reason(self, usual: SendReason) -> SendReason {
        match self {
            Self::Usual => usual,
            Self::ShortReply => SendReason::ShorterReply,
            Self::Likely => SendReason::Tried,
        }
    }
}
