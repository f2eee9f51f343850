//! Whether what a model wrote may replace older rows. Asked before anything is stored.

use super::fact_block::{FactBlock, Facts};
use crate::escape::escape;
use crate::estimate::Tariff;
use crate::policy::Style;
use std::collections::HashSet;

/// sven's six sections.
pub const STRUCTURED_HEADINGS: [&str; 6] = [
    "## Active Task",
    "## Key Decisions & Rationale",
    "## Files & Artifacts",
    "## Constraints & Requirements",
    "## Pending Items",
    "## Session Narrative",
];

/// Nous's checkpoint.
pub const CHECKPOINT_HEADINGS: [&str; 8] = [
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
];

/// The part of a cap that always is for facts, as a divisor.
const FACTS_SHARE: u64 = 4;

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// By itself.
    Complete,
    /// Cut at the output limit.
    Length,
    /// In any other way.
    Other,
}

/// What the summary model answered.
#[derive(Debug, Clone, Copy)]
pub struct Reply<'a> {
    /// Its text.
    pub text: &'a str,
    /// How it ended.
    pub finish: Finish,
    /// How many tools it tried to call.
    pub tool_calls: usize,
}

/// Why a reply may not stand for the conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Nothing in it.
    #[error("the summary is blank")]
    Blank,
    /// Cut off.
    #[error("the summary was cut by length")]
    CutByLength,
    /// Ended neither by itself nor by length.
    #[error("the summary did not finish normally")]
    Unfinished,
    /// It called a tool.
    #[error("the model called a tool instead of writing a summary")]
    CalledTool,
    /// Not the sections asked for.
    #[error("the summary does not have exactly the sections asked for")]
    WrongSections,
    /// Longer than its cap or than what it replaces.
    #[error("the summary takes {upper} tokens where {most} are allowed")]
    TooLong {
        /// Its upper size, facts included.
        upper: u64,
        /// What it may take.
        most: u64,
    },
    /// Nothing of the prior summary is left.
    #[error("the summary lost the prior summary")]
    LostPrior,
}

/// A summary that may be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The text with its facts.
    pub text: String,
    /// Facts that were added.
    pub facts_added: usize,
    /// Facts that had no room.
    pub facts_dropped: usize,
}

/// What a summary is measured against.
#[derive(Debug, Clone)]
pub struct Gate {
    /// The style asked for.
    pub style: Style,
    /// The most it may take, facts included.
    pub cap: u64,
    /// Upper size of the rows and the prior summary it replaces.
    pub replaces: u64,
    /// The summary before it.
    pub prior: Option<String>,
    /// What must survive.
    pub facts: Facts,
    /// How the model that will read it counts.
    pub tariff: Tariff,
}

/// A part of a summary that is merged later: only that it is a finished text is asked.
pub fn accept_part<'a>(reply: &Reply<'a>) -> Result<&'a str, Rejection> {
    if reply.tool_calls > 0 {
        return Err(Rejection::CalledTool);
    }
    match reply.finish {
        Finish::Complete => {}
        Finish::Length => return Err(Rejection::CutByLength),
        Finish::Other => return Err(Rejection::Unfinished),
    }
    let text = reply.text.trim();
    if text.is_empty() { Err(Rejection::Blank) } else { Ok(text) }
}

impl Gate {
    /// Accepts or rejects the final text, and adds the facts it lacks.
    pub fn accept(&self, reply: &Reply<'_>) -> Result<Accepted, Rejection> {
        let text = accept_part(reply)?;
        let text = Facts::without_block(text);
        self.check_sections(text)?;
        let tariff = &self.tariff;
        let size = tariff.upper_text(&escape(text));
        let most = self.cap.min(self.replaces);
        if size > most {
            return Err(Rejection::TooLong { upper: size, most });
        }
        if self.prior.as_deref().is_some_and(|prior| forgets(prior, text)) {
            return Err(Rejection::LostPrior);
        }
        // A text may not crowd its facts out: a quarter of the cap is theirs, and as much more as it leaves of the half.
        let least = self.facts.missing_from(text, self.cap / FACTS_SHARE, tariff);
        let whole = size + tariff.upper_text(&least.text);
        if whole > self.cap {
            return Err(Rejection::TooLong { upper: whole, most: self.cap });
        }
        let room = (self.cap / 2).min(self.cap - size).min(self.replaces.saturating_sub(size));
        let FactBlock { text: block, kept, dropped } = self.facts.missing_from(text, room, tariff);
        Ok(Accepted { text: format!("{text}{block}"), facts_added: kept, facts_dropped: dropped })
    }

    fn check_sections(&self, text: &str) -> Result<(), Rejection> {
        let wanted: &[&str] = match self.style {
            Style::Structured => &STRUCTURED_HEADINGS,
            Style::Checkpoint => &CHECKPOINT_HEADINGS,
            Style::Prose | Style::Narrative | Style::Continuation => return Ok(()),
        };
        let deepest = wanted.iter().filter_map(|h| depth(h)).max();
        let mut in_code = false;
        let mut found = Vec::new();
        for line in text.lines() {
            if line.trim_start().starts_with("```") {
                in_code = !in_code;
            } else if !in_code && depth(line).is_some_and(|d| Some(d) <= deepest) {
                found.push(line.trim_end());
            }
        }
        if found == wanted { Ok(()) } else { Err(Rejection::WrongSections) }
    }
}

/// The level of a Markdown heading.
fn depth(line: &str) -> Option<usize> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then_some(level)
}

/// Whether hardly a word of the prior summary is left: a text about something else.
fn forgets(prior: &str, text: &str) -> bool {
    const ENOUGH_WORDS: usize = 8;
    const SHARE_KEPT: usize = 10;
    let prior = words(Facts::take_from(prior).0);
    let text = words(text);
    prior.len() >= ENOUGH_WORDS && prior.intersection(&text).count() * SHARE_KEPT < prior.len()
}

/// The words of five letters or more outside headings; of scripts that write without spaces, pairs of neighbouring characters.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    let lines = text.lines().filter(|line| depth(line).is_none());
    for word in lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric())) {
        let chars: Vec<char> = word.chars().collect();
        if word.is_ascii() {
            if chars.len() >= 5 && !word.starts_with(|c: char| c.is_ascii_digit()) {
                words.insert(word.to_ascii_lowercase());
            }
        } else {
            words.extend(chars.windows(2).map(|pair| pair.iter().flat_map(|c| c.to_lowercase()).collect()));
        }
    }
    words
}
