//! What is kept of an item while its events come in.

use crate::ProviderError;
use crate::draft::protocol;

/// The most parts of one item. Real ones have a handful.
const MAX_PARTS: usize = 1_024;

/// The kinds of items that say something to us; others are the service's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Message,
    Call,
    Reasoning,
}

impl Item {
    /// The word of the protocol.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Call => "function_call",
            Self::Reasoning => "reasoning",
        }
    }
}

/// A part of an item's text, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parts {
    /// Of what it says, or of reasoning in the open.
    Content(u64),
    /// Of the summary of its reasoning.
    Summary(u64),
}

/// An item as far as it has come.
#[derive(Debug)]
pub(super) struct Slot {
    /// Its place in the reply, if the service says so.
    pub(super) index: Option<u64>,
    /// Its id; may be empty.
    pub(super) id: String,
    /// The parts of which text was given out.
    pub(super) parts: Vec<Parts>,
    /// The call of the draft, once there is a name.
    pub(super) call: Option<usize>,
    /// Arguments came, but no name yet.
    pub(super) is_nameless: bool,
    /// Arguments were given out.
    pub(super) has_arguments: bool,
    /// The service has said that it is whole.
    pub(super) is_done: bool,
}

impl Slot {
    pub(super) fn new(index: Option<u64>, id: &str) -> Self {
        let parts = Vec::new();
        let id = id.to_owned();
        Self { index, id, parts, call: None, is_nameless: false, has_arguments: false, is_done: false }
    }

    /// Whether an item of that id that begins now is this one, of which something came before.
    pub(super) fn is_still(&self, id: &str) -> bool {
        !self.is_done && (self.id == id || self.id.is_empty() || id.is_empty())
    }

    /// Says whether this is the first of that part.
    pub(super) fn begin(&mut self, part: Parts) -> Result<bool, ProviderError> {
        if self.parts.contains(&part) {
            return Ok(false);
        }
        if self.parts.len() == MAX_PARTS {
            return Err(protocol(format!("an item has more than {MAX_PARTS} parts")));
        }
        self.parts.push(part);
        Ok(true)
    }
}
