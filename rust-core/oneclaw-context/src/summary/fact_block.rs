//! The block of facts that is appended to a summary so that nothing exact depends on a model's care.

use super::facts;
use crate::escape::escape;
use crate::estimate::{MeasuredRow, Tariff};
use oneclaw_model::Body;
use std::collections::HashSet;

const BY_USER: &str = "Facts stated by the user:";
const BY_OTHERS: &str = "Facts from replies and tools:";

/// The facts of covered rows, by who stated them, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// Stated by the user, oldest first.
    pub by_user: Vec<String>,
    /// Stated by replies and tools, oldest first.
    pub by_others: Vec<String>,
}

/// A block that fits, and what it could not take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FactBlock {
    /// The block, empty where there is nothing to add.
    pub text: String,
    /// Facts in it.
    pub kept: usize,
    /// Facts that did not fit.
    pub dropped: usize,
}

impl Facts {
    /// The facts of a prior summary's block and of the rows.
    pub fn collect(prior: Option<&str>, rows: &[MeasuredRow]) -> Self {
        let (_, mut facts) = Self::take_from(prior.unwrap_or_default());
        let mut seen: HashSet<String> = facts.by_user.iter().chain(&facts.by_others).cloned().collect();
        for row in rows {
            let (list, found) = match &row.message.body {
                Body::User { text, .. } => (&mut facts.by_user, facts::find(text)),
                Body::Assistant { text, .. } => (&mut facts.by_others, facts::find(text)),
                Body::ToolCall { arguments, .. } => (&mut facts.by_others, facts::find_in_data(arguments)),
                Body::ToolResult { output, .. } => (&mut facts.by_others, facts::find_in_data(output)),
                Body::Error { .. } | Body::System { .. } => continue,
            };
            for fact in found {
                if seen.insert(fact.to_string()) {
                    list.push(fact.to_string());
                }
            }
        }
        facts
    }

    /// Parts a summary from the block at its end.
    pub fn take_from(summary: &str) -> (&str, Self) {
        let mut facts = Self::default();
        let (text, block) = parted(summary);
        let mut list = &mut facts.by_user;
        for line in block.lines() {
            if line == BY_OTHERS {
                list = &mut facts.by_others;
            } else if let Some(fact) = line.strip_prefix("- ") {
                list.push(fact.to_owned());
            }
        }
        (text, facts)
    }

    /// The facts that neither `text` nor a longer fact contains, as a block of at most `room` tokens; the user's own
    /// come first, of each kind the newest.
    pub fn missing_from(&self, text: &str, room: u64, tariff: &Tariff) -> FactBlock {
        let mut left = room.saturating_sub(tariff.upper_text(BY_USER) + tariff.upper_text(BY_OTHERS) + 4);
        let mut block = FactBlock::default();
        for (header, list) in [(BY_USER, &self.by_user), (BY_OTHERS, &self.by_others)] {
            let mut lines = Vec::new();
            for fact in list.iter().rev() {
                let line = format!("\n- {}", escape(fact));
                if text.contains(fact.as_str()) || lines.iter().any(|l: &String| l.contains(fact.as_str())) {
                    continue;
                }
                let size = tariff.upper_text(&line);
                if size <= left {
                    left -= size;
                    lines.push(line);
                } else {
                    block.dropped += 1;
                }
            }
            if !lines.is_empty() {
                block.kept += lines.len();
                lines.reverse();
                block.text.push_str(&format!("\n\n{header}{}", lines.concat()));
            }
        }
        block
    }
}

/// A summary as it stands inside an engine text: what was written is escaped, the headings of the block are ours.
pub fn embedded(summary: &str) -> String {
    let (text, block) = parted(summary);
    let mut out = escape(text).into_owned();
    for line in block.split_inclusive('\n') {
        let is_heading = [BY_USER, BY_OTHERS].contains(&line.trim_end_matches('\n'));
        out.push_str(&if is_heading { line.into() } else { escape(line) });
    }
    out
}

/// A summary before its block, and the block.
fn parted(summary: &str) -> (&str, &str) {
    let headings = [BY_USER, BY_OTHERS].map(|heading| format!("\n\n{heading}\n"));
    let start = headings.iter().filter_map(|heading| summary.find(heading)).min();
    start.and_then(|at| summary.split_at_checked(at)).unwrap_or((summary, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Calibration;

    fn facts() -> Facts {
        Facts {
            by_user: vec!["src/main.rs".into(), "15 s".into()],
            by_others: vec!["https://example.test/x".into(), "FEAT-011".into()],
        }
    }

    fn tariff() -> Tariff {
        Tariff::of(Some(&"gpt-4o".into()), None, Calibration::default())
    }

    #[test]
    fn what_the_text_says_is_not_repeated() {
        let block = facts().missing_from("They edited src/main.rs for FEAT-011.", 1_000, &tariff());
        let expected = "\n\nFacts stated by the user:\n- 15 s\n\nFacts from replies and tools:\n- https://example.test/x";
        assert_eq!(block, FactBlock { text: expected.into(), kept: 2, dropped: 0 });
    }

    #[test]
    fn a_block_is_read_back_as_it_was_written() {
        let block = facts().missing_from("", 1_000, &tariff());
        let summary = format!("Summary.{}", block.text);
        assert_eq!(Facts::take_from(&summary), ("Summary.", facts()));
        assert_eq!(Facts::take_from("No block."), ("No block.", Facts::default()));
    }

    #[test]
    fn room_goes_to_the_user_first_and_the_rest_is_counted() {
        let tariff = tariff();
        for room in 0..120 {
            let block = facts().missing_from("", room, &tariff);
            assert_eq!(block.kept + block.dropped, 4);
            assert!(tariff.upper_text(&block.text) <= room, "{room}: {block:?}");
            if block.text.contains("FEAT-011") && room < 60 {
                assert!(block.text.contains("15 s"));
            }
        }
    }
}
