//! Rows as readable text for whoever summarises them.

use crate::escape::escape;
use crate::estimate::{Cost, MeasuredRow, Tariff, text};
use crate::groups::{self, Group};
use crate::prune::{self, Mark, Marks};
use crate::truncate::{self, utf16_len};
use oneclaw_model::{Attachment, Body, Message, MessageId, ToolStatus};

/// One row as text, its delimiters escaped; nothing for rows that are never sent. A marked result reads as requests
/// show it.
pub fn item(message: &Message, mark: Option<Mark>) -> Option<String> {
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
    let mut all = format!("{label} {}", escape(&text));
    for attachment in attachments {
        all.push('\n');
        all.push_str(&escape(&attachment.label()));
    }
    Some(all)
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

    /// The text, its middle left out and escaped anew where it costs more than `most` tokens.
    pub fn within(self, most: u64, tariff: &Tariff) -> Self {
        let size = tariff.upper(self.cost);
        if size <= most {
            return self;
        }
        let mut units = utf16_len(&self.text) as u64 * most / size;
        while units > 0 {
            let cut = truncate::middle(&self.text, units as usize);
            let piece = Self::new(escape(&cut).into_owned(), tariff);
            if tariff.upper(piece.cost) <= most {
                return piece;
            }
            units = units * 9 / 10;
        }
        Self { text: String::new(), cost: Cost::ZERO }
    }
}

/// Between two pieces.
pub const SEPARATOR: &str = "\n\n";

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
        let items: Vec<Piece> = rows
            .iter()
            .filter_map(|row| {
                let text = item(&row.message, marks.get(&row.message.id).copied())?;
                let note = if open.contains(&&row.message.id) { " (no result)" } else { "" };
                Some(Piece::new(format!("{text}{note}{SEPARATOR}"), tariff))
            })
            .collect();
        if items.is_empty() {
            continue;
        }
        let level = level(items.iter().map(|i| tariff.upper(i.cost)), room);
        let fitted = items.into_iter().map(|item| item.within(level, tariff));
        let text: String = fitted.map(|item| item.text).collect();
        pieces.push(Piece::new(text, tariff).within(room, tariff));
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
