//! Condensing: which sentences of a conversation stay, and in which form.
//!
//! What is kept: the first and the newest request, sentences with facts (`KEY = VALUE`, paths, addresses, numbers),
//! demands and decisions, and what an earlier summary said. What is not: everything else, and the order of importance
//! decides where the room ends. Headings that the instructions name come back exactly, in their order.

use crate::ask::{Ask, Content, Speaker};
use crate::facts;
use crate::window::Counter;
use std::collections::HashSet;

/// How a summary is asked for.
const CUES: &[&str] = &[
    "write the summary",
    "write a summary",
    "summarize",
    "summarise",
    "summary of",
    "sum up",
    "condense",
    "write a detailed prompt",
    "write a checkpoint",
    "tl;dr",
];
/// How instructions for one sound, where the message itself is only material.
const SYSTEM_CUES: &[&str] =
    &["summarizer", "summariser", "summar", "sum up", "condense", "checkpoint", "retell"];
/// Where in a message the cue is looked for: so many characters of its beginning and its end.
const OPENING: usize = 300;
const CLOSING: usize = 500;
/// Words of a summary whose length is not said.
const USUAL_WORDS: u64 = 300;
/// A sentence is cut to so many characters.
const LONGEST_SENTENCE: usize = 240;
/// Sentences worth less are never kept.
const LEAST_SCORE: i32 = 10;
/// A summary may always have as many tokens as this, however small the material.
const LEAST_TOKENS: u64 = 24;

const DEMANDS: &[&str] = &[
    "must",
    "never",
    "always",
    "do not",
    "don't",
    "prefer",
    "important",
    "require",
    "constraint",
    "budget",
    "deadline",
    "at most",
    "at least",
    "only",
];
const DECISIONS: &[&str] =
    &["decid", "chose", "chosen", "agreed", "settled", "we will use", "instead of", "because"];

/// Who said a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    User,
    Assistant,
    Call,
    Result,
    /// An earlier summary.
    Prior,
}

/// A sentence of the material.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    who: Who,
    /// The heading it stood under in an earlier summary.
    section: Option<String>,
    text: String,
}

/// Whether a summary is asked for: no tools, and a request for one at the beginning or the end of the newest message.
pub(crate) fn is_asked(ask: &Ask) -> bool {
    if !ask.tools.is_empty() {
        return false;
    }
    let Some((_, request)) = ask.newest_request() else { return false };
    let (opening, closing) = ends(&request);
    let has = |text: &str, cues: &[&str]| cues.iter().any(|cue| text.contains(cue));
    let is_transcript = request.lines().filter(|line| label(line).is_some()).count() >= 2;
    has(&opening, CUES)
        || has(&closing, CUES)
        || (is_transcript && has(&ask.system_text().to_lowercase(), SYSTEM_CUES))
}

fn ends(text: &str) -> (String, String) {
    let opening: String = text.chars().take(OPENING).collect();
    let closing: Vec<char> = text.chars().rev().take(CLOSING).collect();
    (opening.to_lowercase(), closing.into_iter().rev().collect::<String>().to_lowercase())
}

/// The conversation in short, in less than `room` tokens.
pub(crate) fn condense(ask: &Ask, room: u64, counter: &Counter) -> String {
    let (instructions, items) = material(ask);
    let headings = headings(&instructions);
    let frame: u64 = headings.iter().map(|heading| counter.count(heading) + 2).sum();
    // What was condensed before can stay, as long as the rest gets clearly shorter.
    let (mut prior, mut fresh) = (0, 0);
    for item in &items {
        let part = if item.who == Who::Prior { &mut prior } else { &mut fresh };
        *part += counter.count(&item.text);
    }
    if prior > 0 {
        prior += frame;
    }
    let words = words_asked(&instructions).unwrap_or(USUAL_WORDS);
    // A third more tokens than words, and half the room.
    let most = (words * 4 / 3).min(room / 2).min(prior + (fresh * 3 / 5).max(LEAST_TOKENS));
    let kept = choose(items, most.saturating_sub(frame), counter);
    if headings.is_empty() { prose(&kept) } else { sections(&headings, &kept) }
}

/// The instructions, and the sentences they are about.
fn material(ask: &Ask) -> (String, Vec<Item>) {
    let (newest, request) = ask.newest_request().unwrap_or_default();
    let mut items = Vec::new();
    for turn in ask.turns.iter().take(newest) {
        let who = if turn.speaker == Speaker::User { Who::User } else { Who::Assistant };
        for block in &turn.blocks {
            match &block.content {
                Content::Text(text) => read(text, who, &mut items),
                Content::Call { name, arguments } => {
                    read(&format!("{name} {arguments}"), Who::Call, &mut items)
                }
                Content::Result { name, text, .. } => {
                    read(&format!("{name}: {text}"), Who::Result, &mut items)
                }
                Content::Thinking(_) | Content::Media { .. } => {}
            }
        }
    }
    let mut instructions = ask.system_text();
    let (text, closing) = match request
        .rsplit_once("</conversation>")
        .or_else(|| request.rsplit_once("</part>"))
    {
        Some((text, closing)) => (text, closing),
        // Without delimiters, the last paragraph is what is wanted, if it says so.
        None => match request.rsplit_once("\n\n") {
            Some((text, last)) if CUES.iter().any(|cue| last.to_lowercase().contains(cue)) => (text, last),
            _ => (request.as_str(), ""),
        },
    };
    instructions.push('\n');
    instructions.push_str(closing);
    let is_request_only = newest > 0 && label_count(text) == 0 && text.len() < 2 * CLOSING;
    if is_request_only {
        instructions.push_str(text);
    } else {
        read(text, Who::User, &mut items);
    }
    (instructions, items)
}

fn label_count(text: &str) -> usize {
    text.lines().filter(|line| label(line).is_some()).count()
}

/// Who speaks from this line on, and what is left of the line.
fn label(line: &str) -> Option<(Who, &str)> {
    const LABELS: &[(&str, Who)] = &[
        ("**User:**", Who::User),
        ("**Assistant:**", Who::Assistant),
        ("**Tool call:**", Who::Call),
        ("**Tool result:**", Who::Result),
        ("User:", Who::User),
        ("Human:", Who::User),
        ("Assistant:", Who::Assistant),
        ("AI:", Who::Assistant),
        ("Tool call:", Who::Call),
        ("Tool result:", Who::Result),
        ("[USER]", Who::User),
        ("[ASSISTANT]", Who::Assistant),
    ];
    LABELS.iter().find_map(|(label, who)| line.strip_prefix(label).map(|rest| (*who, rest)))
}

/// Takes a text apart into sentences with their speakers.
fn read(text: &str, speaker: Who, items: &mut Vec<Item>) {
    let mut who = speaker;
    let mut section = None;
    for line in text.lines() {
        let line = line.trim();
        match line {
            "Previous conversation summary:" | "## Existing Summary" | "<part>" => {
                (who, section) = (Who::Prior, None);
                continue;
            }
            "Additional conversation to incorporate:" | "## New Conversation" => {
                (who, section) = (speaker, None);
                continue;
            }
            _ => {}
        }
        let is_tag = line.starts_with('<') && line.ends_with('>');
        let is_nothing = matches!(line.trim_start_matches(['-', ' ']), "None" | "none" | "None.");
        if is_tag || is_nothing || line.starts_with("The conversation was summed up in parts") {
            continue;
        }
        if who == Who::Prior && line.starts_with('#') {
            section = Some(line.to_owned());
            continue;
        }
        let mut rest = line;
        // A summary may quote a speaker; it stays a summary.
        if who != Who::Prior
            && let Some((speaker, after)) = label(line)
        {
            (who, rest) = (speaker, after);
        }
        for sentence in facts::sentences(rest) {
            let text = shortened(sentence.trim_start_matches(['#', '-', '*', ' ']).trim());
            if text.chars().any(char::is_alphanumeric) {
                items.push(Item { who, section: section.clone(), text });
            }
        }
    }
}

/// A long sentence loses its end, or, where it states a fact, what is far from it.
fn shortened(sentence: &str) -> String {
    let length = sentence.chars().count();
    if length <= LONGEST_SENTENCE {
        return sentence.to_owned();
    }
    let fact = sentence.chars().position(|c| c == '=').unwrap_or(0);
    let start = fact.saturating_sub(LONGEST_SENTENCE / 3).min(length - LONGEST_SENTENCE);
    let part: String = sentence.chars().skip(start).take(LONGEST_SENTENCE).collect();
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", cut(start > 0), part.trim(), cut(start + LONGEST_SENTENCE < length))
}

/// The headings the instructions name, as lines or within a sentence.
fn headings(instructions: &str) -> Vec<String> {
    let lines = instructions.lines().filter(|line| is_heading(line));
    let found: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    if !found.is_empty() {
        return found;
    }
    let Some((_, list)) = instructions.split_once("heading") else { return vec![] };
    let mut found = Vec::new();
    let mut level = 0;
    for piece in list.split('#') {
        level += 1;
        let Some(name) = piece.strip_prefix(' ') else { continue };
        // The text before the first sign is no heading.
        if level > 1 {
            let end = [",", ".", " with", " and ", "\n"].iter().filter_map(|end| name.find(end)).min();
            let name = name.get(..end.unwrap_or(name.len())).unwrap_or(name).trim();
            found.push(format!("{} {name}", "#".repeat(level - 1)));
        }
        level = 1;
    }
    found
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ')
}

/// The most words the instructions allow.
fn words_asked(instructions: &str) -> Option<u64> {
    let (before, _) = instructions.rsplit_once(" words")?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Traits {
    is_demand: bool,
    is_decision: bool,
    has_fact: bool,
    has_place: bool,
    has_number: bool,
}

impl Traits {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_place = |word: &str| {
            let word = word.trim_matches(['.', ',', ';', ':', '"', '`', '(', ')']);
            word.contains("://") || (word.contains('/') && word.len() > 3) || has_extension(word)
        };
        Self {
            is_demand: has(DEMANDS),
            is_decision: has(DECISIONS),
            has_fact: text.contains(" = ") || lower.starts_with("remember") || lower.contains("remember:"),
            has_place: text.split_whitespace().any(is_place),
            has_number: text.contains(|c: char| c.is_ascii_digit()),
        }
    }
}

fn has_extension(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, extension)| {
        !name.is_empty()
            && (1..=4).contains(&extension.len())
            && extension.chars().all(|c| c.is_ascii_lowercase())
    })
}

fn score(item: &Item) -> i32 {
    let traits = Traits::of(&item.text);
    let by_speaker = match item.who {
        Who::User => 20,
        Who::Prior => 40,
        Who::Call => 5,
        Who::Assistant => 0,
        Who::Result => -5,
    };
    by_speaker
        + 60 * i32::from(traits.has_fact)
        + 35 * i32::from(traits.has_place)
        + 25 * i32::from(traits.has_number)
        + 30 * i32::from(traits.is_demand || traits.is_decision)
}

/// A sentence that stays, and whether it is the first or the newest request.
struct Kept {
    item: Item,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    First,
    Newest,
    Between,
}

/// The best sentences that fit, in their own order.
fn choose(items: Vec<Item>, room: u64, counter: &Counter) -> Vec<Kept> {
    let first = items.iter().position(|item| item.who == Who::User);
    let newest = items.iter().rposition(|item| item.who == Who::User).filter(|at| Some(*at) != first);
    let worth = |at: usize, item: &Item| {
        let is_edge = Some(at) == first || Some(at) == newest;
        score(item) + if is_edge { 100 } else { 0 }
    };
    let mut ranked: Vec<(i32, usize)> =
        items.iter().enumerate().map(|(at, item)| (worth(at, item), at)).collect();
    ranked.sort_by_key(|(score, at)| (-score, *at));
    let mut left = room;
    let mut seen = HashSet::new();
    let mut chosen = HashSet::new();
    for (score, at) in ranked {
        let Some(item) = items.get(at) else { continue };
        // What it is introduced with is paid for, too.
        let cost = counter.count(&item.text) + if item.who == Who::Prior { 0 } else { 6 };
        if score >= LEAST_SCORE && cost <= left && seen.insert(item.text.clone()) {
            left -= cost;
            chosen.insert(at);
        }
    }
    let kept = items.into_iter().enumerate().filter(|(at, _)| chosen.contains(at));
    kept.map(|(at, item)| {
        let place = match Some(at) {
            at if at == first => Place::First,
            at if at == newest => Place::Newest,
            _ => Place::Between,
        };
        Kept { item, place }
    })
    .collect()
}

fn prose(kept: &[Kept]) -> String {
    let sentences: Vec<String> = kept
        .iter()
        .map(|kept| {
            let text = ended(&kept.item.text);
            match (kept.place, kept.item.who) {
                (Place::First, _) => format!("The user began: {text}"),
                (Place::Newest, _) => format!("Most recently the user said: {text}"),
                (_, Who::User) => format!("The user said: {text}"),
                (_, Who::Call) => format!("Tool called: {text}"),
                (_, Who::Result) => format!("A tool returned: {text}"),
                (_, Who::Assistant) => format!("The assistant said: {text}"),
                (_, Who::Prior) => text,
            }
        })
        .collect();
    if sentences.is_empty() { "Nothing of note was said.".into() } else { sentences.join(" ") }
}

fn ended(text: &str) -> String {
    if text.ends_with(['.', '!', '?', ';', '…', '。', '！', '？']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

fn sections(headings: &[String], kept: &[Kept]) -> String {
    let mut bodies: Vec<Vec<String>> = vec![vec![]; headings.len()];
    for kept in kept {
        let place = section_of(kept, headings);
        if let Some(body) = bodies.get_mut(place) {
            body.push(format!("- {}", kept.item.text));
        }
    }
    let level = |heading: &str| heading.len() - heading.trim_start_matches('#').len();
    let mut text = String::new();
    for (at, (heading, body)) in headings.iter().zip(bodies).enumerate() {
        let is_parent = headings.get(at + 1).is_some_and(|next| level(next) > level(heading));
        let body = match body.is_empty() {
            true if is_parent => String::new(),
            true => "None\n".to_owned(),
            false => format!("{}\n", body.join("\n")),
        };
        text.push_str(&format!("{heading}\n{body}\n"));
    }
    text.trim_end().to_owned()
}

/// The heading under which a sentence goes; the last one takes what fits nowhere.
fn section_of(kept: &Kept, headings: &[String]) -> usize {
    let last = headings.len().saturating_sub(1);
    if let Some(section) = &kept.item.section
        && let Some(same) = headings.iter().position(|heading| heading == section)
    {
        return same;
    }
    let under = |names: &[&str]| {
        headings.iter().position(|heading| names.iter().any(|name| heading.to_lowercase().contains(name)))
    };
    let traits = Traits::of(&kept.item.text);
    let place = match (kept.place, kept.item.who) {
        (Place::First, _) => under(&["goal", "task"]),
        (Place::Newest, _) => under(&["pending", "next", "in progress", "task"]),
        (_, Who::Call) => under(&["done", "narrative"]),
        _ if traits.has_place => under(&["files", "artifacts", "critical", "context"]),
        _ if traits.has_fact => under(&["critical", "artifacts", "context"]),
        _ if traits.is_decision => under(&["decision"]),
        _ if traits.is_demand => under(&["constraint", "requirement"]),
        (_, Who::Assistant) => under(&["done", "narrative"]),
        _ => under(&["critical", "narrative", "context"]),
    };
    place.unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Block, Turn};
    use crate::tokenizer::{Compact, Tokenizer};
    use std::sync::Arc;

    const STRUCTURED: &str = include_str!("../../oneclaw-context/templates/structured.md");
    const CHECKPOINT: &str = include_str!("../../oneclaw-context/templates/checkpoint.md");
    const UPDATE: &str = include_str!("../../oneclaw-context/templates/checkpoint_update.md");
    const PROSE: &str = include_str!("../../oneclaw-context/templates/prose.md");
    const NARRATIVE: &str = include_str!("../../oneclaw-context/templates/narrative.md");
    const CONTINUATION: &str = include_str!("../../oneclaw-context/templates/continuation.md");
    const CLOSING: &str = include_str!("../../oneclaw-context/templates/closing.md");
    const CLOSING_CONTINUATION: &str =
        include_str!("../../oneclaw-context/templates/closing_continuation.md");

    const CHECKPOINT_HEADINGS: [&str; 8] = [
        "## Goal",
        "## Constraints & Preferences",
        "## Progress",
        "### Done",
        "### In Progress",
        "## Key Decisions",
        "## Next Steps",
        "## Critical Context",
    ];

    fn conversation(closing: &str) -> String {
        let filler = "The river turned slowly under old bridges while people carried bread. ".repeat(40);
        format!(
            "<conversation>\n**User:** Five of us want to go to Porto for at most 1,200 EUR. My notes are in \
             notes/porto.md.\n\n**Assistant:** {filler}\n\n**User:** remember: the door code = 4711. {filler}\n\n**Tool \
             call:** http_request {{\"url\":\"https://trains.example/x\"}}\n\n**Assistant:** {filler} I will look.\n\n\
             **User:** Now find a hotel.\n</conversation>\n\n{closing}"
        )
    }

    fn ask(system: &str, text: &str) -> Ask {
        let system = system.replace("{words}", "at most 200 words");
        Ask {
            system: vec![Block::text(system)],
            turns: vec![Turn { speaker: Speaker::User, blocks: vec![Block::text(text)] }],
            ..Ask::default()
        }
    }

    fn condensed(ask: &Ask) -> String {
        condense(ask, 600, &Counter::new(Arc::new(Compact)))
    }

    #[test]
    fn every_prompt_of_ours_is_recognised() {
        for (system, closing) in [
            (STRUCTURED, CLOSING),
            (CHECKPOINT, CLOSING),
            (UPDATE, CLOSING),
            (PROSE, CLOSING),
            (NARRATIVE, CLOSING),
            (CONTINUATION, CLOSING_CONTINUATION),
        ] {
            let ask = ask(system, &conversation(closing));
            assert!(is_asked(&ask), "{}", crate::model::excerpt(system, 40));
            let text = condensed(&ask);
            for fact in ["the door code = 4711", "notes/porto.md", "1,200 EUR", "Now find a hotel"] {
                assert!(text.contains(fact), "{fact} is lost from {text}");
            }
            assert!(Compact.count(&text) <= 300, "{text}");
        }
    }

    #[test]
    fn an_ordinary_chat_is_none() {
        let system = "Be kind.\n\n---\n\nPrevious conversation summary:\nThe user wants tea.";
        assert!(!is_asked(&ask(system, "What is the door code?")));
        assert!(is_asked(&ask("", "Please summarise our chat.")));
    }

    #[test]
    fn headings_come_back_in_order() {
        let found = |text: &str| -> Vec<String> {
            text.lines().filter(|line| is_heading(line)).map(str::to_owned).collect()
        };
        let structured = condensed(&ask(STRUCTURED, &conversation(CLOSING)));
        assert_eq!(found(&structured), headings(STRUCTURED));
        assert_eq!(headings(STRUCTURED).len(), 6);
        assert_eq!(headings(CHECKPOINT), CHECKPOINT_HEADINGS);
        assert_eq!(headings(UPDATE), CHECKPOINT_HEADINGS);
        assert_eq!(found(&condensed(&ask(CHECKPOINT, &conversation(CLOSING)))), CHECKPOINT_HEADINGS);
    }

    #[test]
    fn an_update_keeps_what_was_there_where_it_was() {
        let first = condensed(&ask(CHECKPOINT, &conversation(CLOSING)));
        let text = format!(
            "## Existing Summary\n\n{first}\n\n## New Conversation\n\n<conversation>\n**User:** The hotel = Casa \
             Azul.\n</conversation>\n\n{CLOSING}"
        );
        let second = condensed(&ask(UPDATE, &text));
        for fact in ["the door code = 4711", "hotel = Casa Azul"] {
            assert!(second.contains(fact), "{fact} is lost from {second}");
        }
        let context = second.split_once("## Critical Context").unwrap().1;
        assert!(context.contains("the door code = 4711"), "{second}");
    }

    #[test]
    fn parts_are_merged() {
        let parts = "The conversation was summed up in parts. Each part below stands for one stretch of it, in \
                     order:\n\n<part>\nThe user said: the door code = 4711.\n</part>\n<part>\nThe user said: host = \
                     h.example.\n</part>\n";
        let text = condensed(&ask(PROSE, &format!("{parts}\n\n{CLOSING}")));
        assert!(text.contains("the door code = 4711") && text.contains("host = h.example"), "{text}");
    }

    #[test]
    fn a_chat_can_be_summarised_too() {
        let mut ask = ask("", "remember: port = 8080");
        ask.turns.push(Turn { speaker: Speaker::Assistant, blocks: vec![Block::text("Noted.")] });
        ask.turns
            .push(Turn { speaker: Speaker::User, blocks: vec![Block::text("Please summarise our chat.")] });
        assert!(is_asked(&ask));
        assert!(condensed(&ask).contains("port = 8080"));
    }

    #[test]
    fn long_sentences_keep_their_facts() {
        let long = format!("{} code = 4711 {}", "word ".repeat(200), "word ".repeat(200));
        let short = shortened(&long);
        assert!(short.contains("code = 4711") && short.chars().count() < 250, "{short}");
        assert_eq!(shortened("short"), "short");
    }
}
