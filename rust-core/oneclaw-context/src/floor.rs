//! What usage on rows tells where no fingerprint says which request it measured: at least so much.

use crate::conversation::Conversation;
use crate::estimate::{Cost, Estimate, Tariff};
use crate::groups::{self, Kind};
use crate::prune::Marks;
use oneclaw_model::{Body, Usage};

/// The newest row with usage that speaks of the conversation as it is now: same model, no newer epoch.
pub fn last_usage(conversation: &Conversation) -> Option<(usize, Usage)> {
    let is_after_epoch = |created_at: i64| match &conversation.epoch {
        None => true,
        Some(epoch) => epoch.created_at.is_some_and(|epoch| created_at > epoch),
    };
    conversation.rows.iter().enumerate().rev().find_map(|(index, row)| match &row.message.body {
        Body::Assistant { usage: Some(usage), model, .. } if is_after_epoch(row.message.created_at) => {
            let is_same = match (model, &conversation.model) {
                (Some(row), Some(asked)) => row == asked,
                _ => true,
            };
            Some(is_same.then_some((index, *usage)))
        }
        _ => None,
    })?
}

/// The next request is at least what the last one was, its reply, and what came since. Results that were left out
/// since then void it.
pub fn floor(conversation: &Conversation, marks: &Marks, tariff: &Tariff) -> Option<Estimate> {
    if !marks.is_empty() {
        return None;
    }
    let (index, usage) = last_usage(conversation)?;
    let groups = groups::groups(&conversation.rows);
    let exchange = groups.iter().find(|g| g.kind == Kind::Exchange && g.rows.contains(&index))?;
    let later: Cost = conversation
        .rows
        .iter()
        .enumerate()
        .skip(index + 1)
        // The calls of that reply are part of its output.
        .filter(|(i, row)| !(exchange.rows.contains(i) && matches!(row.message.body, Body::ToolCall { .. })))
        .map(|(_, row)| row.cost(tariff))
        .sum();
    let step = Estimate { expected: usage.total(), upper: usage.total() };
    Some(step + tariff.total(later))
}
