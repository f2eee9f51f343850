//! What usage on rows tells of the next request where no fingerprint says which request it measured.
//!
//! The newest report is the size of a request that had the rows before it; the next one has those, the reply, and what came
//! since. Only these, and what system text and tools may have grown by, are estimated. A report above what the rows can be
//! measured something that is not seen here: at least so much is counted, and nothing more is made of it. One that is too
//! small to be true is left alone.

use crate::assemble::Parts;
use crate::conversation::Conversation;
use crate::estimate::{Cost, Estimate, MeasuredRow, Tariff};
use crate::groups::{self, Group};
use crate::prune::Marks;
use oneclaw_model::{Body, Usage};

/// A report of less than half of what the rows let expect is not one of them.
const LEAST_SHARE: u64 = 2;
/// Prompts of a conversation grow; one of them is smaller than an earlier one by reasoning that is dropped, and by no more
/// than this part of it.
const SHRINKS_BY: u64 = 10;
/// Rows between two reports that were taken for fewer tokens say little about how dense they are; other rows of the conversation
/// are hardly ever denser than these by more than the margin.
const LEAST_BETWEEN: u64 = 500;
const DENSITY_MARGIN: f64 = 1.15;
/// Added to the upper size for what another client may have put around messages: a hundredth, and some tokens.
const MARGIN_SHARE: u64 = 100;
const MARGIN: u64 = 16;

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

/// What the newest report that can be true says of the next request; `None` where there is none, or where results were left
/// out since.
pub fn of(
    conversation: &Conversation,
    groups: &[Group],
    marks: &Marks,
    parts: &Parts<Cost>,
    window: Option<u64>,
    tariff: &Tariff,
) -> Option<Reported> {
    let fixed = parts.system + parts.tools + parts.summary + Tariff::REQUEST;
    if marks.is_empty() { reported(conversation, groups, fixed, window, tariff) } else { None }
}

/// What the newest report says of the next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reported {
    /// Its size.
    Size(Estimate),
    /// It is above what the rows can be: it measured more than is seen here, or the vocabulary is denser than any known.
    AtLeast(Estimate),
}

impl Reported {
    /// The size of the next request, beside what its content lets expect.
    pub fn size(self, by_content: Estimate) -> Estimate {
        match self {
            Self::AtLeast(least) => Estimate {
                expected: least.expected.max(by_content.expected),
                upper: least.upper.max(by_content.upper),
            },
            Self::Size(size) => {
                Estimate { upper: size.upper.min(by_content.upper).max(size.expected), ..size }
            }
        }
    }
}

fn reported(
    conversation: &Conversation,
    groups: &[Group],
    fixed: Cost,
    window: Option<u64>,
    tariff: &Tariff,
) -> Option<Reported> {
    let rows = &conversation.rows;
    let (newest, used) = (0..rows.len()).rev().find_map(|i| Some((i, usage(conversation, i)?)))?;
    let (first, first_used) = (0..=newest).find_map(|i| Some((i, usage(conversation, i)?)))?;
    let sum = |rows: Option<&[MeasuredRow]>| -> Cost {
        rows.unwrap_or_default().iter().map(|row| row.cost(tariff)).sum()
    };
    let prompt = used.prompt();
    let (opening, between) = (sum(rows.get(..first)), sum(rows.get(first..newest)));
    let sent = opening + between;
    let can_be = tariff.upper(sent + fixed);
    // A service that leaves out what its cache held reports now much, now little.
    let most = (first..newest).filter_map(|i| usage(conversation, i)).map(|used| used.prompt()).max();
    let is_plausible = prompt >= tariff.total(sent).expected / LEAST_SHARE
        && most.is_none_or(|most| most <= prompt.saturating_add(prompt / SHRINKS_BY))
        && window.is_none_or(|window| prompt <= window);
    if !is_plausible {
        return None;
    }
    // What the first report shows beside the rows was there from the start; the rest is what system text and tools grew by.
    let first_now = fixed + opening;
    let by_content = tariff.total(first_now);
    let by_density = density(first_used.prompt(), prompt, tariff.total(between).expected)
        .map_or(u64::MAX, |density| (by_content.expected as f64 * density).ceil() as u64);
    let grown_by = |size: u64| size.saturating_sub(first_used.prompt());
    let grown = Estimate {
        expected: grown_by(by_content.expected.min(by_density)),
        upper: grown_by(by_content.upper.min(by_density)),
    };

    let exchange = groups.iter().find(|g| g.rows.contains(&newest))?;
    let open_since = groups::newest_user(rows).unwrap_or(0);
    let cost = |index: usize, row: &MeasuredRow| {
        let replayed = if index > open_since { tariff.text(row.measure.thinking) } else { Cost::ZERO };
        row.cost(tariff) + replayed
    };
    // The calls of that reply are part of its output.
    let is_output = |index: usize, row: &MeasuredRow| {
        index == newest
            || (exchange.rows.contains(&index) && matches!(row.message.body, Body::ToolCall { .. }))
    };
    let (mut reply, mut around, mut later) = (Cost::ZERO, Tariff::MESSAGE, Cost::ZERO);
    for (index, row) in rows.iter().enumerate().skip(newest) {
        match is_output(index, row) {
            true => {
                reply += cost(index, row);
                around += if index == newest { Cost::ZERO } else { Tariff::CALL };
            }
            false => later += cost(index, row),
        }
    }
    let later_and = |cost: Cost| tariff.total(later + cost);
    let hides = newest <= open_since || rows.get(newest).is_none_or(|row| row.measure.thinking.is_empty());
    let output = used.output.saturating_sub(if hides { used.reasoning } else { 0 });
    if prompt > can_be {
        let used = prompt.saturating_add(output);
        let used = Estimate { expected: used, upper: used };
        return Some(Reported::AtLeast(used + later_and(Cost::ZERO) + grown));
    }
    // Of an output that is longer than the reply, the rest was reasoning that nobody replays.
    let is_all_sent = output.saturating_add(tariff.upper(around)) <= tariff.upper(reply);
    let (known, rest) = match is_all_sent {
        true => (prompt.saturating_add(output), later_and(around)),
        false => (prompt, later_and(reply)),
    };
    let size = Estimate { expected: known, upper: known } + rest + grown;
    let margin = size.upper / MARGIN_SHARE + MARGIN;
    let size = Estimate { upper: size.upper.saturating_add(margin).max(size.expected), ..size };
    Some(Reported::Size(size))
}

/// How many tokens there are at most for each that was expected, as this conversation's own reports show it: by how much they
/// grew, and what the rows between them were taken for.
fn density(first: u64, newest: u64, expected: u64) -> Option<f64> {
    let grown = newest.saturating_sub(first);
    (expected >= LEAST_BETWEEN).then(|| grown as f64 / expected as f64 * DENSITY_MARGIN)
}
