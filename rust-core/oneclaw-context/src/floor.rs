//! What usage on rows tells where no fingerprint says which request it measured: at least so much.

use crate::conversation::Conversation;
use crate::estimate::{Cost, Estimate, Tariff};
use crate::groups;
use crate::prune::Marks;
use oneclaw_model::{Body, Usage};

/// The usage of a row, where it speaks of the conversation as it is now: same model, no newer epoch, a real prompt.
fn usage(conversation: &Conversation, index: usize) -> Option<Usage> {
    let since = match &conversation.epoch {
        None => 0,
        Some(epoch) => epoch.tail_rows?,
    };
    match &conversation.rows.get(index)?.message.body {
        Body::Assistant { usage: Some(usage), model, .. } if index >= since && usage.prompt() > 0 => {
            let is_same = match (model, &conversation.model) {
                (Some(row), Some(asked)) => row == asked,
                _ => true,
            };
            is_same.then_some(*usage)
        }
        _ => None,
    }
}

/// The usage of the last step.
pub fn last_usage(conversation: &Conversation) -> Option<Usage> {
    let last =
        conversation.rows.iter().rposition(|row| matches!(row.message.body, Body::Assistant { .. }))?;
    usage(conversation, last)
}

/// The next request is at least what an earlier one was, its reply, and what came since. Results that were left out
/// since then void it.
pub fn floor(conversation: &Conversation, marks: &Marks, tariff: &Tariff) -> Option<Estimate> {
    if !marks.is_empty() {
        return None;
    }
    let newest = (0..conversation.rows.len()).rev().find_map(|i| Some((i, usage(conversation, i)?)));
    let (index, usage) = newest?;
    let groups = groups::groups(&conversation.rows);
    let exchange = groups.iter().find(|g| g.rows.contains(&index))?;
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
