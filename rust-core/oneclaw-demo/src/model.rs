//! The demo model: what was sent in, what is said out. It finds, condenses and calls tools; it does not think, and
//! says so.

use crate::act;
use crate::ask::{Ask, Choice, Content};
use crate::facts::{self, Fact};
use crate::script::Reply;
use crate::summarise;
use crate::window::Counter;

/// So much of a tool's result is repeated.
const LONGEST_REPORT: usize = 600;
/// So much of a message is repeated.
const LONGEST_ECHO: usize = 160;
/// A text of so many words is written at most.
const MOST_WORDS: usize = 3_000;
/// So many facts are listed.
const MOST_LISTED: usize = 40;
const TITLE_WORDS: usize = 5;

/// From these a text of any length is made.
const FILLER: &[&str] = &[
    "the", "river", "turned", "slowly", "under", "old", "bridges", "while", "people", "carried", "bread",
    "and", "letters", "across", "its", "banks", "until", "evening", "came", "with", "rain",
];

/// The answer of the demo model, meant to have at most `room` tokens.
pub(crate) fn reply(ask: &Ask, room: u64, counter: &Counter) -> Reply {
    let thinking = ask.wants_thinking.then(|| {
        let newest = ask.newest_request().map(|(_, text)| text).unwrap_or_default();
        format!(
            "The newest message says: \"{}\". I look for an answer in what I was sent.",
            excerpt(&newest, LONGEST_ECHO)
        )
    });
    Reply { thinking, ..spoken(ask, room, counter) }
}

fn spoken(ask: &Ask, room: u64, counter: &Counter) -> Reply {
    let (at, request) = ask.newest_request().unwrap_or_default();
    let results = ask.newest_results();
    if !results.is_empty() {
        return Reply::text(report(ask, &results, &request, at));
    }
    let title = || title(ask, &request).filter(|_| ask.tools.is_empty()).map(Reply::text);
    if asks_for_title(&ask.system_text())
        && let Some(title) = title()
    {
        return title;
    }
    if summarise::is_asked(ask) {
        return Reply::text(summarise::condense(ask, room, counter));
    }
    if let Some(title) = title() {
        return title;
    }
    let calls = act::calls(&request, &ask.tools, &ask.choice);
    if !calls.is_empty() {
        let text = match ask.choice {
            Choice::Auto => "I will look that up.",
            Choice::Never | Choice::Any | Choice::Named(_) => "",
        };
        return Reply { text: text.to_owned(), calls, thinking: None };
    }
    Reply::text(answer(ask, &request, at))
}

fn report(ask: &Ask, results: &[(&str, &str)], request: &str, at: usize) -> String {
    let mut lines: Vec<String> = results
        .iter()
        .map(|(name, text)| match text.trim() {
            "" => format!("{name} returned nothing."),
            text => format!("{name} returned: {}", excerpt(text, LONGEST_REPORT)),
        })
        .collect();
    let question = facts::sentences(request).filter(|s| facts::is_question(s)).last();
    if let Some(found) = question.and_then(|question| recall(ask, question, at)) {
        lines.push(found);
    }
    lines.join("\n")
}

fn answer(ask: &Ask, request: &str, at: usize) -> String {
    let lower = request.to_lowercase();
    if let Some(count) = words_wanted(&lower) {
        return filler(request, count);
    }
    let asks_for_all =
        ["what do you remember", "what do you know", "list the facts", "list everything", "which facts"];
    if asks_for_all.iter().any(|phrase| lower.contains(phrase)) {
        return list(ask);
    }
    if let Some(question) = facts::sentences(request).filter(|s| facts::is_question(s)).last() {
        return recall(ask, question, at).unwrap_or_else(|| {
            let terms = facts::terms(question).join(" ");
            let about = if terms.is_empty() {
                excerpt(question, LONGEST_ECHO)
            } else {
                excerpt(&terms, LONGEST_ECHO)
            };
            format!("I do not know about \"{about}\"; no message that I was sent tells.")
        });
    }
    let stated = facts::facts(request);
    if !stated.is_empty() {
        let stated: Vec<String> = stated.iter().take(MOST_LISTED).map(Fact::sentence).collect();
        return format!("Noted: {}.", stated.join(", "));
    }
    format!(
        "I am a demo model: I recall facts, call tools and condense conversations, no more. You wrote: \"{}\" (message {} \
         of {}).",
        excerpt(request, LONGEST_ECHO),
        at + 1,
        ask.turns.len()
    )
}

/// Everything that was sent, oldest first, the questions of the newest message left out.
fn sent(ask: &Ask, newest: usize) -> Vec<String> {
    let mut texts = vec![ask.system_text()];
    for (at, turn) in ask.turns.iter().enumerate() {
        for block in &turn.blocks {
            match &block.content {
                Content::Text(text) if at == newest => {
                    let stated: Vec<&str> =
                        facts::sentences(text).filter(|s| !facts::is_question(s)).collect();
                    texts.push(stated.join("\n"));
                }
                Content::Text(text) | Content::Result { text, .. } => texts.push(text.clone()),
                Content::Call { .. } | Content::Thinking(_) | Content::Media { .. } => {}
            }
        }
    }
    texts
}

fn recall(ask: &Ask, question: &str, at: usize) -> Option<String> {
    let terms = facts::terms(question);
    let texts = sent(ask, at);
    let all: Vec<Fact> = texts.iter().flat_map(|text| facts::facts(text)).collect();
    if let Some(fact) = facts::find(&all, &terms) {
        return Some(format!("{}.", fact.sentence()));
    }
    let sentence = texts.iter().rev().find_map(|text| facts::find_sentence(text, &terms))?;
    Some(format!("This is what I find: {}", excerpt(facts::statement(sentence), LONGEST_REPORT)))
}

fn list(ask: &Ask) -> String {
    let mut known: Vec<Fact> = Vec::new();
    for fact in sent(ask, usize::MAX).iter().flat_map(|text| facts::facts(text)) {
        // The latest value of a key counts.
        if fact.form != facts::Form::Label {
            known.retain(|other| !other.key.eq_ignore_ascii_case(&fact.key));
            known.push(fact);
        }
        if known.len() > MOST_LISTED {
            known.remove(0);
        }
    }
    if known.is_empty() {
        return "I do not know any facts yet; tell me some, such as: remember: the door code = 4711".into();
    }
    let lines: Vec<String> = known.iter().map(|fact| format!("- {}", fact.sentence())).collect();
    format!("From what I was sent:\n{}", lines.join("\n"))
}

/// How many words a text is to have, where one is asked for.
fn words_wanted(request: &str) -> Option<usize> {
    let (before, _) = request.split_once(" words")?;
    let count = before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse::<usize>().ok()?;
    let is_asked = ["write", "tell", "describe", "give", "make"].iter().any(|verb| before.contains(verb));
    is_asked.then(|| count.min(MOST_WORDS))
}

/// So many words that say nothing, different for each request.
fn filler(request: &str, count: usize) -> String {
    let mut state = crate::window::digest(request);
    let mut text = String::new();
    for n in 0..count {
        // A step of a linear congruential generator (Knuth's MMIX constants): the high bits are good enough here.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = usize::try_from(state >> 40).unwrap_or(0) % FILLER.len();
        if n > 0 {
            text.push_str(if n % 12 == 0 { ". " } else { " " });
        }
        text.push_str(FILLER.get(place).copied().unwrap_or_default());
    }
    text.push('.');
    text
}

/// A few words of the first message, where a title is asked for.
fn asks_for_title(text: &str) -> bool {
    let text = text.to_lowercase();
    let verbs = ["generate", "write", "give", "suggest", "create", "short", "reply with"];
    text.contains("title") && verbs.iter().any(|verb| text.contains(verb))
}

fn title(ask: &Ask, request: &str) -> Option<String> {
    let asks = asks_for_title;
    let own = excerpt(request, 300);
    let closing: String = request.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
    if !asks(&ask.system_text()) && !asks(&own) && !asks(&closing) {
        return None;
    }
    let mut first = ask.turns.first()?.text();
    if ask.turns.len() == 1 && (asks(&own) || asks(&closing)) {
        // Instruction and material in one message: the material comes after a colon or a blank line.
        let material =
            first.split_once("\n\n").or_else(|| first.split_once(": ")).map(|(_, rest)| rest.to_owned());
        first = material.unwrap_or(first);
    }
    let first = first.strip_prefix("User: ").and_then(|labelled| labelled.lines().next()).unwrap_or(&first);
    let words =
        first.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-').filter(|word| !word.is_empty());
    let title: Vec<&str> = words.take(TITLE_WORDS).collect();
    Some(if title.is_empty() { "New conversation".into() } else { excerpt(&title.join(" "), 60) })
}

/// The first characters of a text, with a sign where more followed.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Block, Speaker, Tool, Turn};
    use crate::tokenizer::Compact;
    use std::sync::Arc;

    fn ask(system: &str, texts: &[&str]) -> Ask {
        let turn = |(at, text): (usize, &&str)| Turn {
            speaker: if at.is_multiple_of(2) { Speaker::User } else { Speaker::Assistant },
            blocks: vec![Block::text(*text)],
        };
        let system = if system.is_empty() { vec![] } else { vec![Block::text(system)] };
        Ask { system, turns: texts.iter().enumerate().map(turn).collect(), ..Ask::default() }
    }

    fn said(ask: &Ask) -> String {
        reply(ask, 1_000, &Counter::new(Arc::new(Compact))).text
    }

    #[test]
    fn facts_are_recalled_from_anywhere() {
        assert_eq!(said(&ask("", &["remember: the door code = 4711"])), "Noted: the door code = 4711.");
        let question = "What is the door code?";
        let known = ask("", &["remember: the door code = 4711", "Noted.", question]);
        assert_eq!(said(&known), "the door code = 4711.");
        let summary =
            "Be kind.\n\n---\n\nPrevious conversation summary:\nThe user said: the door code = 4711.";
        assert_eq!(said(&ask(summary, &[question])), "the door code = 4711.");
        assert!(said(&ask("", &[question])).starts_with("I do not know"));
        assert_eq!(said(&ask("", &["the door code is 1; what is the door code?"])), "the door code is 1.");
        let loose = ask("", &["We leave for Porto on Friday.", "Fine.", "When do we leave for Porto?"]);
        assert_eq!(said(&loose), "This is what I find: We leave for Porto on Friday.");
    }

    #[test]
    fn what_was_not_known_is_no_fact() {
        let first = said(&ask("", &["What is the port?"]));
        assert!(
            said(&ask("", &["What is the port?", &first, "What is the port?"])).starts_with("I do not know")
        );
    }

    #[test]
    fn all_facts_are_listed_with_their_latest_values() {
        let all = ask(
            "",
            &["port = 1", "Noted: port = 1.", "Port = 2 and host is h", "ok", "What do you remember?"],
        );
        assert_eq!(said(&all), "From what I was sent:\n- Port = 2\n- host is h");
    }

    #[test]
    fn results_are_reported_and_looked_through() {
        let mut asked = ask("", &["Read a.txt. What is the port?"]);
        let call = Content::Call { name: "read_file".into(), arguments: "{}".into() };
        let result = Content::Result { name: "read_file".into(), text: "port = 8080".into(), media: 0 };
        asked.turns.push(Turn { speaker: Speaker::Assistant, blocks: vec![Block::new(call)] });
        asked.turns.push(Turn { speaker: Speaker::User, blocks: vec![Block::new(result)] });
        assert_eq!(said(&asked), "read_file returned: port = 8080\nport = 8080.");
    }

    #[test]
    fn titles_and_lengths() {
        let title = ask("Generate a short title for the chat.", &["Five of us want to go to Porto in May."]);
        assert_eq!(said(&title), "Five of us want to");
        let labelled = ask(
            "Write a short title for the conversation.",
            &["User: How do tides work?\n\nAssistant: Slowly."],
        );
        assert_eq!(said(&labelled), "How do tides work");
        let one = ask("", &["Give this chat a short title:\n\nHow do tides work?"]);
        assert_eq!(said(&one), "How do tides work");
        assert_eq!(said(&ask("", &["Write 200 words about tea"])).split_whitespace().count(), 200);
        assert!(said(&ask("", &["Hello there"])).starts_with("I am a demo model"));
    }

    #[test]
    fn tools_come_before_talk() {
        let mut asked = ask("", &["What time is it?"]);
        asked.tools.push(Tool {
            name: "get_current_time".into(),
            description: String::new(),
            schema: serde_json::json!({}),
            is_breakpoint: false,
        });
        let said = reply(&asked, 1_000, &Counter::new(Arc::new(Compact)));
        assert_eq!(said.calls.len(), 1);
        asked.choice = Choice::Never;
        assert_eq!(reply(&asked, 1_000, &Counter::new(Arc::new(Compact))).calls, vec![]);
    }
}
