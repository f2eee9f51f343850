//! Whether what the user pinned stays readable: every pin that has room is in every request.

use crate::world::World;
use oneclaw_context::estimate::{MeasuredRow, Tariff};
use oneclaw_context::{Budget, Conversation, Policy, pins};
use oneclaw_model::{Body, MessageId, ModelLimits};
use std::collections::HashSet;

/// What stands around pins where no summary does, in tokens, at most.
const FRAME: u64 = 64;

/// The pins of a conversation.
#[derive(Debug, Default)]
pub struct Pins {
    rows: Vec<MeasuredRow>,
}

impl Pins {
    /// Pins a row as the agent would; false where there is no room for it.
    pub fn pin(
        &mut self,
        row: &mut MeasuredRow,
        policy: &Policy,
        limits: &ModelLimits,
        tariff: &Tariff,
    ) -> bool {
        let Some(budget) = Budget::of(limits, policy) else { return false };
        if pins::check(&self.rows, row, policy, &budget, tariff).is_err() {
            return false;
        }
        row.pinned = true;
        self.rows.push(row.clone());
        true
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
        let share = policy.pin_share.of(budget.base);
        let covered = conversation.pins.iter();
        let with_room: HashSet<&MessageId> =
            pins::carried(covered, share, tariff).into_iter().map(|row| &row.message.id).collect();
        let in_tail: HashSet<&MessageId> = conversation.rows.iter().map(|row| &row.message.id).collect();
        for row in missing {
            let needs = tariff.upper_text(&oneclaw_context::summary::pins_block([&row.message].into_iter()));
            let had_room = in_tail.contains(&row.message.id)
                || (with_room.contains(&row.message.id)
                    && upper.saturating_add(needs + FRAME) <= budget.hard);
            match had_room {
                true => world.tally.kept.pins_lost += 1,
                false => world.tally.kept.pins_dropped += 1,
            }
        }
    }
}

/// The planted sentence.
fn last_line(row: &MeasuredRow) -> &str {
    match &row.message.body {
        Body::User { text, .. } => text.lines().last().unwrap_or_default(),
        _ => "",
    }
}
