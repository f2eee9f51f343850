//! Whether what a model wrote may replace older rows. Asked before anything is stored.

use super::fact_block::{FactBlock, Facts};
use crate::escape::escape;
use crate::estimate::Tariff;
use crate::policy::Style;
use std::collections::{HashMap, HashSet};

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

/// Whether hardly a word of the prior summary is left: a text about something else. In another language few of its words can
/// be left, so there only names and numbers are looked for.
fn forgets(prior: &str, text: &str) -> bool {
    const ENOUGH_WORDS: usize = 8;
    const SHARE_KEPT: usize = 10;
    const ENOUGH_NAMES: usize = 4;
    let prior = Facts::take_from(prior).0;
    let known = words(prior);
    if known.len() < ENOUGH_WORDS || known.intersection(&words(text)).count() * SHARE_KEPT >= known.len() {
        return false;
    }
    let known = names(prior);
    is_one_language(prior, text) || (known.len() >= ENOUGH_NAMES && known.is_disjoint(&names(text)))
}

/// Whether two texts share the short words that every sentence of a language has, or the characters of its script.
fn is_one_language(a: &str, b: &str) -> bool {
    const SHARE: usize = 4;
    let (a, b) = (frequent(a), frequent(b));
    let fewer = a.len().min(b.len());
    a.intersection(&b).count() * SHARE >= fewer
}

/// The most frequent short words; of a script that writes without spaces, its name.
fn frequent(text: &str) -> HashSet<String> {
    const MOST: usize = 16;
    const SHORT: usize = 4;
    let mut counts: HashMap<String, usize> = HashMap::new();
    for word in outside_headings(text).flat_map(|line| line.split(|c: char| !c.is_alphabetic())) {
        if let Some(script) = word.chars().filter_map(without_spaces).min() {
            *counts.entry(script.to_owned()).or_default() += word.chars().count();
        } else if (1..=SHORT).contains(&word.chars().count()) {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    let mut all: Vec<(String, usize)> = counts.into_iter().collect();
    all.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
    all.into_iter().take(MOST).map(|(word, _)| word).collect()
}

/// The script of a character, if it writes words without spaces between them. Japanese goes before Chinese, whose characters it
/// has too.
fn without_spaces(ch: char) -> Option<&'static str> {
    match ch {
        '\u{3040}'..='\u{30ff}' => Some("(1 japanese)"),
        '\u{2e80}'..='\u{a4cf}' => Some("(2 chinese)"),
        '\u{e00}'..='\u{e7f}' => Some("(thai)"),
        '\u{e80}'..='\u{eff}' => Some("(lao)"),
        '\u{1000}'..='\u{109f}' => Some("(burmese)"),
        '\u{1780}'..='\u{17ff}' => Some("(khmer)"),
        _ => None,
    }
}

/// What is written alike in every language: numbers, and names in Latin letters, which at the start of a sentence cannot be told
/// from other words.
fn names(text: &str) -> HashSet<String> {
    let mut names = HashSet::new();
    for line in outside_headings(text) {
        let numbers = line.split(|c: char| !c.is_ascii_digit()).filter(|number| number.len() >= 2);
        names.extend(numbers.map(str::to_owned));
        let mut starts_sentence = true;
        for word in line.split_whitespace() {
            let plain = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            if plain.starts_with(|c: char| c.is_ascii_uppercase()) && !starts_sentence {
                names.insert(plain.to_ascii_lowercase());
            }
            starts_sentence = word.ends_with(['.', '!', '?', ':']) || plain.is_empty();
        }
    }
    names
}

fn outside_headings(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| depth(line).is_none())
}

/// The words of five letters or more outside headings; of scripts that write without spaces, pairs of neighbouring characters.
fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    for word in outside_headings(text).flat_map(|line| line.split(|c: char| !c.is_alphanumeric())) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "They planned a journey from Lisbon to Porto in May. The grandmother wants to see the old bridge \
                           and the gardens near the river, and the hotel is booked for the 14th at 95 euros.";

    #[test]
    fn a_summary_in_another_language_forgets_nothing() {
        let spanish = "Planearon un viaje de Lisboa a Porto en mayo. La abuela quiere ver el puente antiguo y los jardines \
                       junto al río, y el hotel está reservado para el 14 por 95 euros.";
        let chinese =
            "他们计划五月从里斯本去波尔图旅行。祖母想看古老的桥和河边的花园，酒店订在14日，95欧元。";
        for (a, b) in [(ENGLISH, spanish), (spanish, ENGLISH), (ENGLISH, chinese), (chinese, ENGLISH)] {
            assert!(!is_one_language(a, b), "{a} {b}");
            assert!(!forgets(a, b), "{a} {b}");
        }
    }

    #[test]
    fn a_text_about_something_else_forgets_whatever_its_language() {
        let other = "The build of the parser fails because the lexer returns a wrong token for the comment at the end of \
                     a file, and nobody has found out since when that is so.";
        let spanish =
            "La compilación falla porque el analizador devuelve un símbolo erróneo para el comentario.";
        assert!(is_one_language(ENGLISH, other) && forgets(ENGLISH, other));
        assert!(forgets(&format!("{ENGLISH} Flight TP1234 with Anna Keller leaves at 9:30."), spanish));
        let chinese = "他们计划五月从里斯本去波尔图旅行。祖母想看古老的桥和河边的花园。";
        let other = "构建失败的原因是解析器在文件末尾的注释处返回了错误的标记，没有人知道从何时开始。";
        assert!(forgets(chinese, other), "{:?} {:?}", frequent(chinese), frequent(other));
    }
}
