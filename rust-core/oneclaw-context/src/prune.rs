//! Which tool results a request shortens or leaves out. The rows themselves are never touched.
//!
//! Three ways, one per kind of [`Pruning`], plus the eliding of giant results that any policy may need. All return
//! marks; [`shortened`] is the only place that turns a mark into text.

use crate::conversation::Conversation;
use crate::estimate::row::output_as_sent;
use crate::estimate::{Cost, MeasuredRow, Tariff, simple, text};
use crate::groups::{Group, Kind, calls};
use crate::policy::{Policy, Pruning};
use crate::truncate::{self, utf16_len};
use oneclaw_model::{Attachment, Body, MessageId, ToolStatus};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Stands for a result that was cleared by age (Nous).
pub const CLEARED_BY_AGE: &str = "[Tool output cleared — content was processed in earlier turns]";
/// Stands for a result that was cleared for its size (OpenCode).
pub const CLEARED: &str = "[Old tool result content cleared]";

/// How a result appears in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Not at all.
    Cleared,
    /// Not at all, for its age.
    ClearedByAge,
    /// So many UTF-16 units at start and end, the rest named.
    Trimmed {
        /// Units at the start.
        head: u64,
        /// Units at the end.
        tail: u64,
    },
    /// Without its middle, so many UTF-16 units in all.
    Elided {
        /// Units kept, notice included.
        units: u64,
    },
}

impl Mark {
    /// Whether pictures and files of the result go too.
    pub fn drops_attachments(self) -> bool {
        matches!(self, Self::Cleared | Self::ClearedByAge)
    }
}

/// Marks by row. Within an epoch they only grow, so that prompt caches stay warm.
pub type Marks = BTreeMap<MessageId, Mark>;

/// The text of a marked result; the whole one where nothing is won.
pub fn shortened(output: &str, mark: Mark) -> Cow<'_, str> {
    let short = marked(output, mark);
    if utf16_len(&short) < utf16_len(output) { short } else { output.into() }
}

fn marked(output: &str, mark: Mark) -> Cow<'_, str> {
    match mark {
        Mark::Cleared => CLEARED.into(),
        Mark::ClearedByAge => CLEARED_BY_AGE.into(),
        Mark::Elided { units } => truncate::middle(output, units as usize),
        Mark::Trimmed { head, tail } => {
            let total = utf16_len(output);
            if total as u64 <= head.saturating_add(tail) {
                return output.into();
            }
            let (start, end) = truncate::ends(output, head as usize, tail as usize);
            let marker = format!("--- trimmed (kept {head} head + {tail} tail of {total} chars) ---");
            format!("{start}\n\n{marker}\n\n{end}").into()
        }
    }
}

/// What sending a row costs where it may be marked.
pub fn cost(row: &MeasuredRow, mark: Option<&Mark>, tariff: &Tariff) -> Cost {
    match (mark, &row.message.body) {
        (Some(mark), Body::ToolResult { output, attachments, .. }) => {
            let kept: &[Attachment] = if mark.drops_attachments() { &[] } else { attachments };
            let text = tariff.text(text::measure(output_as_sent(&shortened(output, *mark))));
            text + tariff.attachments(kept) + Tariff::MESSAGE + Tariff::RESULT
        }
        _ => row.cost(tariff),
    }
}

/// Whether a policy goes on with a mark that was kept: another one may have set it. A result without its middle was too large
/// for any.
fn is_kept(mark: Mark, policy: &Policy) -> bool {
    match mark {
        Mark::Elided { .. } => true,
        Mark::Cleared => policy.prune && matches!(policy.pruning, Pruning::OnCheck | Pruning::ByBudget),
        Mark::ClearedByAge | Mark::Trimmed { .. } => policy.prune && policy.pruning == Pruning::ByAge,
    }
}

/// The marks a request has before any check: those kept, and those the policy sets at every call or step.
pub fn standing(
    conversation: &Conversation,
    groups: &[Group],
    policy: &Policy,
    moment: crate::plan::Moment,
) -> Marks {
    use crate::plan::Moment;
    let mut marks = conversation.marks.clone();
    marks.retain(|_, mark| is_kept(*mark, policy));
    if !policy.prune {
        return marks;
    }
    match policy.pruning {
        Pruning::ByAge => marks.extend(by_age(conversation, groups, policy)),
        Pruning::ByBudget if matches!(moment, Moment::AfterTools | Moment::AfterResponse) => {
            marks.extend(by_budget(conversation, groups, policy));
        }
        Pruning::ByBudget | Pruning::OnCheck | Pruning::Off => {}
    }
    marks
}

/// Nous: the newest batches untouched, large results of older ones trimmed, still older ones cleared. A result with
/// pictures is left alone.
pub fn by_age(conversation: &Conversation, groups: &[Group], policy: &Policy) -> Marks {
    let mut marks = Marks::new();
    let batches = groups.iter().rev().map(|g| results(conversation, g)).filter(|batch| !batch.is_empty());
    for (age, batch) in (1u64..).zip(batches) {
        if age <= policy.keep_last_results {
            continue;
        }
        for result in batch {
            if result.is_protected(conversation, policy)
                || result.attachments.iter().any(Attachment::is_image)
            {
                continue;
            }
            let mark = if age > policy.clear_after {
                Mark::ClearedByAge
            } else if utf16_len(result.output) as u64 > policy.soft_trim_over {
                Mark::Trimmed { head: policy.soft_trim_head, tail: policy.soft_trim_tail }
            } else {
                continue;
            };
            marks.insert(result.row.message.id.clone(), mark);
        }
    }
    marks
}

/// OpenCode: from the newest back, beyond the protected turns, everything from the result on that crosses the
/// protected amount, if enough is won. The scan ends at a result that is already cleared.
pub fn by_budget(conversation: &Conversation, groups: &[Group], policy: &Policy) -> Marks {
    let mut turns = 0;
    let mut seen = 0;
    let mut won = 0;
    let mut marks = Marks::new();
    'scan: for group in groups.iter().rev() {
        if group.kind == Kind::User {
            turns += 1;
        }
        if turns < policy.prune_keep_turns {
            continue;
        }
        for result in results(conversation, group).into_iter().rev() {
            if conversation.marks.get(&result.row.message.id) == Some(&Mark::Cleared) {
                break 'scan;
            }
            if result.status != ToolStatus::Success || result.is_protected(conversation, policy) {
                continue;
            }
            let tokens = simple(result.output);
            seen += tokens;
            if seen > policy.prune_protect {
                won += tokens;
                marks.insert(result.row.message.id.clone(), Mark::Cleared);
            }
        }
    }
    if won > policy.prune_min { marks } else { Marks::new() }
}

/// OneClaw: every result before the tail that is longer than its placeholder, if enough is won.
pub fn on_check(
    conversation: &Conversation,
    before_tail: &[Group],
    policy: &Policy,
    tariff: &Tariff,
    standing: &Marks,
    min_gain: u64,
) -> Marks {
    let mut won = Cost::ZERO;
    let mut marks = Marks::new();
    for result in before_tail.iter().flat_map(|g| results(conversation, g)) {
        let id = &result.row.message.id;
        let is_cleared = standing.get(id).is_some_and(|mark| mark.drops_attachments());
        if is_cleared || result.is_protected(conversation, policy) {
            continue;
        }
        let before = cost(result.row, standing.get(id), tariff);
        let gain = before.minus(cost(result.row, Some(&Mark::Cleared), tariff));
        if gain.upper > 0 {
            won += gain;
            marks.insert(id.clone(), Mark::Cleared);
        }
    }
    if tariff.upper(won) >= min_gain { marks } else { Marks::new() }
}

/// Marks that shorten every result above `most` tokens to about that, by leaving out its middle.
pub fn giants(
    conversation: &Conversation,
    groups: &[Group],
    tariff: &Tariff,
    standing: &Marks,
    most: u64,
) -> Marks {
    let mut marks = Marks::new();
    for result in groups.iter().flat_map(|g| results(conversation, g)) {
        let id = &result.row.message.id;
        let size = tariff.upper(tariff.text(result.row.measure.text));
        let is_marked = standing.get(id).is_some_and(|mark| !matches!(mark, Mark::Elided { .. }));
        if size > most && !is_marked {
            let units = units_for(result.output, size, most, |cut| tariff.upper_text(cut));
            marks.insert(id.clone(), Mark::Elided { units });
        }
    }
    marks
}

/// How many units of a text of that `size` can stay so that what is left of it costs at most `most` tokens.
pub fn units_for(text: &str, size: u64, most: u64, cost: impl Fn(&str) -> u64) -> u64 {
    let mut units = utf16_len(text) as u64 * most / size.max(1);
    while units > 0 && cost(&truncate::middle(text, units as usize)) > most {
        units = units * 9 / 10;
    }
    units
}

/// A result that answers a call of its batch.
struct ResultRow<'a> {
    row: &'a MeasuredRow,
    name: &'a str,
    output: &'a str,
    status: ToolStatus,
    attachments: &'a [Attachment],
}

impl ResultRow<'_> {
    fn is_protected(&self, conversation: &Conversation, policy: &Policy) -> bool {
        policy.protected_tools.contain(self.name)
            || conversation.fixed.tools.iter().any(|tool| tool.protected && tool.name == self.name)
    }
}

fn results<'a>(conversation: &'a Conversation, group: &Group) -> Vec<ResultRow<'a>> {
    let rows = conversation.rows.get(group.rows.clone()).unwrap_or_default();
    let answered = calls(rows).into_iter().filter_map(|(call, result)| Some((call, result?)));
    answered
        .filter_map(|(call, row)| match (&call.message.body, &row.message.body) {
            (Body::ToolCall { name, .. }, Body::ToolResult { output, status, attachments, .. }) => {
                Some(ResultRow { row, name, output, status: *status, attachments })
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_mark_makes_no_result_longer(output in "(.|\n){0,300}", head in 0_u64..90, tail in 0_u64..90) {
            let marks = [
                Mark::Cleared,
                Mark::ClearedByAge,
                Mark::Trimmed { head, tail },
                Mark::Elided { units: head + tail },
            ];
            for mark in marks {
                prop_assert!(utf16_len(&shortened(&output, mark)) <= utf16_len(&output), "{:?}", mark);
            }
        }
    }
}
