//! Pinned messages: carried verbatim beside the summary, together within a share of the window.

use crate::budget::Budget;
use crate::estimate::{MeasuredRow, Tariff};
use crate::policy::Policy;
use crate::summary::pins_block;

/// Why a message cannot be pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("pinned messages would take {needs} tokens where {room} are allowed")]
pub struct PinRefused {
    /// What all pins would take with this one.
    pub needs: u64,
    /// What they may take.
    pub room: u64,
}

/// Whether one more message can be pinned beside those that are.
pub fn check(
    pins: &[MeasuredRow],
    candidate: &MeasuredRow,
    policy: &Policy,
    budget: &Budget,
    tariff: &Tariff,
) -> Result<(), PinRefused> {
    let all = pins.iter().chain([candidate]).map(|row| &row.message);
    let needs = tariff.upper_text(&pins_block(all));
    let room = policy.pin_share.of(budget.base);
    if needs <= room { Ok(()) } else { Err(PinRefused { needs, room }) }
}

/// The pins a request carries: all of them, or the newest that fit where the window has become smaller.
pub fn carried<'a>(
    pins: impl DoubleEndedIterator<Item = &'a MeasuredRow>,
    policy: &Policy,
    budget: &Budget,
    tariff: &Tariff,
) -> Vec<&'a MeasuredRow> {
    let room = policy.pin_share.of(budget.base);
    let mut kept = Vec::new();
    for pin in pins.rev() {
        kept.insert(0, pin);
        if tariff.upper_text(&pins_block(kept.iter().map(|row| &row.message))) > room {
            kept.remove(0);
        }
    }
    kept
}
