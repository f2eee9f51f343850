//! The block of facts that is appended to a summary so that nothing exact depends on a model's care.

use super::facts;
use crate::escape::escape;
use crate::estimate::text::Growing;
use crate::estimate::{MeasuredRow, Tariff};
use memchr::memmem;
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
    /// The facts of a prior summary and of the rows. A summary's block lacks what its text has, so both are looked at; of
    /// the text, which is a model's wording, the small facts only.
    pub fn collect(prior: Option<&str>, rows: &[MeasuredRow]) -> Self {
        let (text, mut facts) = Self::take_from(prior.unwrap_or_default());
        let mut seen: HashSet<String> = facts.by_user.iter().chain(&facts.by_others).cloned().collect();
        let in_text = facts::find_in_data(text).into_iter().map(str::to_owned);
        let in_text: Vec<String> = in_text.filter(|fact| seen.insert(fact.clone())).collect();
        facts.by_others.splice(..0, in_text);
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

    /// What a model wrote without what looks like a block at its end: the facts are ours to add. A heading with nothing
    /// below it goes too, as it would take what is added for its own.
    pub fn without_block(written: &str) -> &str {
        let mut text = Self::take_from(written).0.trim_end();
        while let Some(rest) = [BY_USER, BY_OTHERS]
            .into_iter()
            .find_map(|heading| text.strip_suffix(heading).filter(|rest| rest.ends_with("\n\n")))
        {
            text = rest.trim_end();
        }
        text
    }

    /// The facts that neither `text` nor a longer fact contains, as a block of at most `room` tokens; the user's own
    /// come first, of each kind the newest.
    pub fn missing_from(&self, text: &str, room: u64, tariff: &Tariff) -> FactBlock {
        let mut size = Growing::default();
        let mut block = FactBlock::default();
        for (header, list) in [(BY_USER, &self.by_user), (BY_OTHERS, &self.by_others)] {
            let mut head = size.with("\n\n").with(header);
            let before = block.text.clone();
            let mut lines = String::new();
            for fact in list.iter().rev() {
                if mentions(text, fact) || mentions(&lines, fact) {
                    continue;
                }
                let line = format!("\n- {}", escape(fact));
                let with = head.with(&line);
                // Chosen from the newest, written from the oldest: in that order lines can cost a little more.
                let written = (tariff.upper(tariff.text(with.measure())) <= room)
                    .then(|| format!("{before}\n\n{header}{line}{lines}"))
                    .filter(|written| tariff.upper_text(written) <= room);
                match written {
                    Some(written) => {
                        (size, head) = (with, with);
                        lines.insert_str(0, &line);
                        block.text = written;
                        block.kept += 1;
                    }
                    None => block.dropped += 1,
                }
            }
        }
        block
    }
}

/// A summary as it stands inside an engine text, and its block: what was written is escaped, the headings are ours.
pub fn embedded(summary: &str) -> (String, String) {
    let (text, block) = parted(summary);
    let mut out = String::new();
    for line in block.split_inclusive('\n') {
        let is_heading = [BY_USER, BY_OTHERS].contains(&line.trim_end_matches('\n'));
        out.push_str(&if is_heading { line.into() } else { escape(line) });
    }
    (escape(text).into_owned(), out)
}

/// A summary before its block, and the block: from a heading on, nothing but headings and facts to the end.
fn parted(summary: &str) -> (&str, &str) {
    let headings = [BY_USER, BY_OTHERS].map(|heading| format!("\n\n{heading}\n"));
    let is_block =
        |line: &str| line.is_empty() || line.starts_with("- ") || line == BY_USER || line == BY_OTHERS;
    let mut starts: Vec<usize> = headings
        .iter()
        .flat_map(|heading| summary.match_indices(heading.as_str()).map(|(at, _)| at))
        .collect();
    starts.sort_unstable();
    let block = starts.into_iter().filter_map(|at| summary.split_at_checked(at));
    let mut whole = block.filter(|(_, block)| block.lines().all(is_block));
    whole.next().unwrap_or((summary, ""))
}

/// Whether a text has the fact as such, not as part of a longer word or number.
fn mentions(text: &str, fact: &str) -> bool {
    // Scripts without spaces have no word edges to look at.
    let is_word = |c: char| c < '\u{2e80}' && c.is_alphanumeric();
    let starts_in_word = fact.starts_with(is_word);
    let ends_in_word = fact.ends_with(is_word);
    memmem::find_iter(text.as_bytes(), fact).any(|at| {
        let before = text.get(..at).is_some_and(|t| t.ends_with(is_word));
        let after = text.get(at + fact.len()..).is_some_and(|t| t.starts_with(is_word));
        !(starts_in_word && before || ends_in_word && after)
    })
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
    fn part_of_a_longer_number_is_no_mention() {
        let facts = Facts { by_user: vec!["$20".into(), "5 km".into(), "3公里".into()], by_others: vec![] };
        let block = facts.missing_from("It costs $200, is 15 km away; 共3公里。", 1_000, &tariff());
        assert_eq!(block.text, "\n\nFacts stated by the user:\n- $20\n- 5 km");
        let block = facts.missing_from("It costs $20, is 5 km away; 共3公里。", 1_000, &tariff());
        assert_eq!(block, FactBlock::default());
    }

    #[test]
    fn a_heading_inside_a_text_is_no_block() {
        let text = "One.\n\nFacts stated by the user:\n- x 1\n\nAnd then they left.";
        assert_eq!(Facts::take_from(text), (text, Facts::default()));
        let block = facts().missing_from("", 1_000, &tariff());
        assert_eq!(Facts::take_from(&format!("{text}{}", block.text)), (text, facts()));
        assert_eq!(embedded(text), (text.replace("user:", "user\\:"), String::new()));
    }

    #[test]
    fn a_block_is_read_back_as_it_was_written() {
        let block = facts().missing_from("", 1_000, &tariff());
        let summary = format!("Summary.{}", block.text);
        assert_eq!(Facts::take_from(&summary), ("Summary.", facts()));
        assert_eq!(Facts::take_from("No block."), ("No block.", Facts::default()));
    }

    #[test]
    fn what_is_dropped_would_not_have_fitted_but_for_a_twentieth() {
        let tariff = tariff();
        let by_user: Vec<String> = (0..60).map(|n| format!("/srv/{n}/release-{}/app.toml", n * 37)).collect();
        let by_others: Vec<String> = (0..60).map(|n| format!("BLD-{n}-{}", n * 91)).collect();
        let facts = Facts { by_user, by_others };
        for room in (10..2_000).step_by(7) {
            let block = facts.missing_from("", room, &tariff);
            assert_eq!(block.kept + block.dropped, 120);
            for (list, header) in [(&facts.by_user, BY_USER), (&facts.by_others, BY_OTHERS)] {
                for fact in list.iter().filter(|fact| !block.text.contains(&format!("- {fact}"))) {
                    let header = if block.text.contains(header) { "" } else { &format!("\n\n{header}") };
                    let with = tariff.upper_text(&format!("{}{header}\n- {fact}", block.text));
                    assert!(with + room / 20 + 2 > room, "{fact} would take {with} of {room}");
                }
            }
        }
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
