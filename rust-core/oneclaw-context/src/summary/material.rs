//! Rows as readable text for whoever summarises them.

use crate::escape::{escape, escape_rules};
use crate::estimate::{Cost, MeasuredRow, Tariff, text};
use crate::groups::{self, Group};
use crate::prune::{self, Mark, Marks};
use crate::truncate;
use oneclaw_model::{Attachment, Body, Message, MessageId, ToolStatus};

/// One row as text: who speaks, and what, its delimiters escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    label: &'static str,
    body: String,
}

impl Item {
    /// Nothing for rows that are never sent. A marked result reads as requests show it.
    pub fn of(message: &Message, mark: Option<Mark>) -> Option<Self> {
        let (label, text, attachments): (&str, String, &[Attachment]) = match &message.body {
            Body::User { text, attachments } => ("**User:**", text.clone(), attachments),
            Body::Assistant { text, .. } if text.trim().is_empty() => return None,
            Body::Assistant { text, .. } => ("**Assistant:**", text.clone(), &[]),
            Body::ToolCall { name, arguments, .. } => ("**Tool call:**", format!("{name} {arguments}"), &[]),
            Body::ToolResult { name, output, status, attachments, .. } => {
                let output = mark.map_or_else(|| output.into(), |mark| prune::shortened(output, mark));
                let text = match status {
                    ToolStatus::Success => format!("{name}: {output}"),
                    ToolStatus::Pending | ToolStatus::Executing => format!("{name} (unfinished): {output}"),
                    ToolStatus::Error => format!("{name} (failed): {output}"),
                    ToolStatus::Timeout => format!("{name} (timed out): {output}"),
                };
                ("**Tool result:**", text, attachments)
            }
            Body::Error { .. } | Body::System { .. } => return None,
        };
        let mut body = escape(&text).into_owned();
        for attachment in attachments {
            body.push('\n');
            body.push_str(&escape(&attachment.label()));
        }
        Some(Self { label, body })
    }

    /// The item as it is written.
    pub fn text(&self) -> String {
        format!("{} {}", self.label, self.body)
    }
}

/// A piece of material and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// Its cost, alone.
    pub cost: Cost,
}

impl Piece {
    /// Measures a text.
    pub fn new(text: String, tariff: &Tariff) -> Self {
        let cost = tariff.text(text::measure(&text));
        Self { text, cost }
    }

    /// The text, its middle left out where it costs more than `most` tokens. The text is escaped already; a cut can
    /// only lay bare a rule.
    pub fn within(self, most: u64, tariff: &Tariff) -> Self {
        let size = tariff.upper(self.cost);
        if size <= most {
            return self;
        }
        let cost = |cut: &str| tariff.upper_text(&escape_rules(cut));
        let units = prune::units_for(&self.text, size, most, cost);
        let cut = truncate::middle(&self.text, units as usize);
        Self::new(escape_rules(&cut).into_owned(), tariff)
    }
}

/// Between two items.
const SEPARATOR: &str = "\n\n";
/// What stands between two items costs at most this.
const ITEM_FRAME: u64 = 3;
/// Items are not cut to less than this.
const LEAST_ITEM: u64 = 32;

/// The groups as pieces of at most `room` tokens each; groups stay whole, giant rows lose their middle.
pub fn pieces(
    rows: &[MeasuredRow],
    groups: &[Group],
    marks: &Marks,
    room: u64,
    tariff: &Tariff,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for group in groups {
        let rows = rows.get(group.rows.clone()).unwrap_or_default();
        let open: Vec<&MessageId> = groups::calls(rows)
            .into_iter()
            .filter_map(|(call, result)| result.is_none().then_some(&call.message.id))
            .collect();
        let mut items = Vec::new();
        for row in rows {
            let Some(mut item) = Item::of(&row.message, marks.get(&row.message.id).copied()) else {
                continue;
            };
            if open.contains(&&row.message.id) {
                item.body.push_str(" (no result)");
            }
            items.push(item);
        }
        let sizes: Vec<u64> = items.iter().map(|i| tariff.upper_text(&i.text()) + ITEM_FRAME).collect();
        let level = level(sizes.iter().copied(), room);
        // Where hardly a line of each would be left, the middle of the whole group gives way instead.
        let is_cut_each = level >= LEAST_ITEM;
        let mut text = String::new();
        for (item, size) in items.iter_mut().zip(sizes) {
            if is_cut_each && size > level {
                let label = tariff.upper_text(item.label) + ITEM_FRAME;
                let body = Piece::new(std::mem::take(&mut item.body), tariff);
                item.body = body.within(level.saturating_sub(label), tariff).text;
            }
            text.push_str(&item.text());
            text.push_str(SEPARATOR);
        }
        if !text.is_empty() {
            pieces.push(Piece::new(text, tariff).within(room, tariff));
        }
    }
    pieces
}

/// The largest size such that the sizes, cut to it, sum up to at most `room`.
pub fn level(sizes: impl Iterator<Item = u64>, room: u64) -> u64 {
    let mut sizes: Vec<u64> = sizes.collect();
    sizes.sort_unstable();
    let mut left = room;
    let mut count = sizes.len() as u64;
    for size in sizes {
        let share = left / count;
        if size > share {
            return share;
        }
        left -= size;
        count -= 1;
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_fills_the_room_and_no_more() {
        assert_eq!(level([10, 20, 30].into_iter(), 100), 100);
        assert_eq!(level([10, 20, 30].into_iter(), 60), 60);
        assert_eq!(level([10, 20, 30].into_iter(), 50), 20);
        assert_eq!(level([100, 100].into_iter(), 50), 25);
        assert_eq!(level([100, 100].into_iter(), 0), 0);
        assert_eq!(level(std::iter::empty(), 7), 7);
    }
}
