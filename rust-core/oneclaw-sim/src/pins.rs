//! Whether what the user pinned stays readable: every pin that has room is in every request. The room is worked out here: a
//! tenth of the window for all pins, and what the request leaves of the hard limit.

use crate::tally::Kept;
use crate::world::World;
use oneclaw_context::estimate::{MeasuredRow, Tariff};
use oneclaw_context::summary::pins_block;
use oneclaw_context::{Budget, Conversation, Policy, pins};
use oneclaw_model::{Body, MessageId, ModelLimits};
use std::collections::HashSet;

/// The part of the window that is for pins, as a divisor.
const SHARE: u64 = 10;
/// What stands around pins where no summary does, in tokens, at most.
const FRAME: u64 = 64;

/// The pins of a conversation.
#[derive(Debug, Default)]
pub struct Pins {
    rows: Vec<MeasuredRow>,
}

impl Pins {
    /// Pins a row as the agent would.
    pub fn pin(
        &mut self,
        row: &mut MeasuredRow,
        policy: &Policy,
        limits: &ModelLimits,
        tariff: &Tariff,
        kept: &mut Kept,
    ) {
        let Some(budget) = Budget::of(limits, policy) else { return };
        if pins::check(&self.rows, row, policy, &budget, tariff).is_ok() {
            row.pinned = true;
            self.rows.push(row.clone());
            return;
        }
        let needs: u64 = self.rows.iter().chain([&*row]).map(|row| size(row, tariff)).sum();
        match needs <= budget.base / SHARE {
            true => kept.pins_lost += 1,
            false => kept.pins_refused += 1,
        }
    }

    /// Looks for every pin in the request that was answered last, which the engine took for `upper` tokens. One that is
    /// not there is lost, unless there was no room.
    pub fn check(
        &self,
        conversation: &Conversation,
        policy: &Policy,
        limits: &ModelLimits,
        tariff: &Tariff,
        upper: u64,
        world: &mut World<'_>,
    ) {
        let Some(budget) = Budget::of(limits, policy) else { return };
        let missing: Vec<&MeasuredRow> =
            self.rows.iter().filter(|row| !world.shows(last_line(row)).unwrap_or(true)).collect();
        if missing.is_empty() {
            return;
        }
        let is_missing = |row: &MeasuredRow| missing.iter().any(|m| m.message.id == row.message.id);
        let in_tail: HashSet<&MessageId> = conversation.rows.iter().map(|row| &row.message.id).collect();
        let covered = self.rows.iter().filter(|row| !in_tail.contains(&row.message.id) && !is_missing(row));
        let carried: u64 = covered.map(|row| size(row, tariff)).sum();
        for row in missing {
            let needs = size(row, tariff);
            let had_room = in_tail.contains(&row.message.id)
                || (carried + needs <= budget.base / SHARE
                    && upper.saturating_add(needs + FRAME) <= budget.hard);
            match had_room {
                true => world.tally.kept.pins_lost += 1,
                false => world.tally.kept.pins_dropped += 1,
            }
        }
    }
}

/// What one pin takes beside a summary.
fn size(row: &MeasuredRow, tariff: &Tariff) -> u64 {
    tariff.upper_text(&pins_block([&row.message].into_iter()))
}

/// The planted sentence.
fn last_line(row: &MeasuredRow) -> &str {
    match &row.message.body {
        Body::User { text, .. } => text.lines().last().unwrap_or_default(),
        _ => "",
    }
}
