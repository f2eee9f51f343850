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
    let needs = pins.iter().chain([candidate]).map(|pin| size(pin, tariff)).sum();
    let room = policy.pin_share.of(budget.base);
    if needs <= room { Ok(()) } else { Err(PinRefused { needs, room }) }
}

/// The pins a request carries: all of them, or the newest that fit where the window has become smaller.
pub fn carried<'a>(
    pins: impl DoubleEndedIterator<Item = &'a MeasuredRow>,
    mut room: u64,
    tariff: &Tariff,
) -> Vec<&'a MeasuredRow> {
    let mut kept = Vec::new();
    for pin in pins.rev() {
        let size = size(pin, tariff);
        // A row that is never sent is not sent for being pinned.
        if (1..=room).contains(&size) {
            room -= size;
            kept.push(pin);
        }
    }
    kept.reverse();
    kept
}

/// What one pin takes; a block of several takes no more than their sum.
fn size(pin: &MeasuredRow, tariff: &Tariff) -> u64 {
    tariff.upper_text(&pins_block([&pin.message].into_iter()))
}
