//! Facts in texts: `KEY = VALUE`, `KEY is VALUE`, `KEY: VALUE`; finding them and finding the one that is asked for.

/// The longest key and value that are taken for a fact.
const LONGEST_KEY: usize = 80;
const LONGEST_VALUE: usize = 300;
const MOST_KEY_WORDS: usize = 8;
/// A label before a colon has fewer words than that.
const MOST_LABEL_WORDS: usize = 4;

/// What stands before a statement without being part of it.
const PREFIXES: &[&str] = &[
    "- ",
    "* ",
    "[x] ",
    "[ ] ",
    "**user:** ",
    "**assistant:** ",
    "**tool call:** ",
    "**tool result:** ",
    "user: ",
    "assistant: ",
    "please ",
    "remember: ",
    "remember that ",
    "remember ",
    "note that ",
    "note: ",
    "noted: ",
    "fact: ",
    "you told me: ",
    "and ",
];
/// Keys that name nothing.
const EMPTY_KEYS: &[&str] = &[
    "it", "this", "that", "there", "he", "she", "they", "we", "i", "you", "what", "which", "who", "where",
    "when", "how", "why", "here", "if", "because", "so", "these", "those", "all",
];
/// Words of a question that do not say what is asked for.
const QUESTION_WORDS: &[&str] = &[
    "what", "whats", "which", "who", "whose", "where", "when", "how", "many", "much", "is", "are", "was",
    "were", "the", "a", "an", "my", "our", "your", "its", "of", "again", "please", "tell", "me", "do",
    "does", "did", "you", "we", "i", "it", "us", "remember", "recall", "know", "value", "s", "for", "to",
    "in", "on", "at", "say", "said", "told", "now", "still", "can", "could", "exactly", "and", "about",
    "that", "this", "be", "have", "has", "had", "repeat", "agree", "agreed", "use",
];
/// How questions start that have no question mark.
const QUESTION_STARTS: &[&str] = &[
    "what ",
    "what's ",
    "which ",
    "who ",
    "where ",
    "when ",
    "tell me ",
    "recall ",
    "do you remember ",
    "do you know ",
    "how many ",
    "how much ",
];
/// How the demo model's own sentences start that say nothing about the conversation.
pub(crate) const OWN_SENTENCES: &[&str] = &["I do not know", "You wrote", "I am a demo model"];

/// How a fact is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Equals,
    Is,
    Label,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fact {
    pub key: String,
    pub value: String,
    pub form: Form,
}

impl Fact {
    /// The fact as it was written.
    pub fn sentence(&self) -> String {
        let between = match self.form {
            Form::Equals => " = ",
            Form::Is => " is ",
            Form::Label => ": ",
        };
        format!("{}{between}{}", self.key, self.value)
    }
}

/// The sentences of a text: lines, and what ends in a full stop or its like.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (sentence, after) = rest.split_at(sentence_end(rest));
            rest = after;
            Some(sentence.trim())
        })
        .filter(|sentence| !sentence.is_empty())
    })
}

fn sentence_end(line: &str) -> usize {
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | ';' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            return at + c.len_utf8();
        }
    }
    line.len()
}

/// Whether a sentence asks something.
pub(crate) fn is_question(sentence: &str) -> bool {
    let start = lowercase_start(sentence);
    sentence.ends_with(['?', '？']) || QUESTION_STARTS.iter().any(|word| start.starts_with(word))
}

/// The facts a text states, in order.
pub(crate) fn facts(text: &str) -> Vec<Fact> {
    let stated =
        sentences(text).filter(|s| !is_question(s) && !OWN_SENTENCES.iter().any(|own| s.starts_with(own)));
    stated.flat_map(of_sentence).collect()
}

fn of_sentence(sentence: &str) -> Vec<Fact> {
    let sentence = statement(sentence);
    let clauses = || sentence.split(", ").flat_map(|clause| clause.split(" and "));
    if clauses().any(|clause| equals(clause).is_some()) {
        return clauses().filter_map(|clause| equals(clause).or_else(|| is(clause))).collect();
    }
    is(sentence).or_else(|| label(sentence)).into_iter().collect()
}

/// The sentence without what only introduces it.
pub(crate) fn statement(sentence: &str) -> &str {
    let mut rest = sentence.trim();
    while let Some(prefix) = PREFIXES.iter().find(|prefix| lowercase_start(rest).starts_with(*prefix)) {
        // Prefixes are ASCII, so their length is the same in any case.
        rest = rest.get(prefix.len()..).unwrap_or_default().trim_start();
    }
    rest
}

/// Enough of the beginning to compare, in small letters.
fn lowercase_start(text: &str) -> String {
    text.chars().take(24).map(|c| c.to_ascii_lowercase()).collect()
}

fn equals(clause: &str) -> Option<Fact> {
    let (key, value) = clause.split_once('=')?;
    let is_operator =
        key.ends_with(['!', '<', '>', ':', '+', '-', '*', '=']) || value.starts_with(['=', '>', '~']);
    if is_operator || key.contains("://") {
        return None;
    }
    let key = key.rsplit(": ").next().unwrap_or(key);
    fact(key, value, Form::Equals)
}

fn is(sentence: &str) -> Option<Fact> {
    let (key, value) = [" is ", " are ", " was "]
        .iter()
        .filter_map(|verb| sentence.split_once(verb))
        .min_by_key(|(key, _)| key.len())?;
    let key = key.rsplit([',', ':', ';']).next().unwrap_or(key);
    let first = key.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if EMPTY_KEYS.contains(&first.as_str()) {
        return None;
    }
    fact(key, value, Form::Is)
}

fn label(sentence: &str) -> Option<Fact> {
    let (key, value) = sentence.split_once(": ")?;
    if key.split_whitespace().count() > MOST_LABEL_WORDS {
        return None;
    }
    fact(key, value, Form::Label)
}

fn fact(key: &str, value: &str, form: Form) -> Option<Fact> {
    let key = key.trim().trim_matches(['*', '`', '"', '\'', '(']);
    let value = value.trim().trim_end_matches(['.', ';', ',', '!', ')']).trim_matches(['`', '"']);
    let fits =
        !key.is_empty() && key.len() <= LONGEST_KEY && !value.is_empty() && value.len() <= LONGEST_VALUE;
    let words = words(key);
    let is_named = !words.is_empty() && words.len() <= MOST_KEY_WORDS;
    (fits && is_named).then(|| Fact { key: key.to_owned(), value: value.to_owned(), form })
}

/// What a question asks for, as words in small letters.
pub(crate) fn terms(question: &str) -> Vec<String> {
    let mut words = words(question);
    words.retain(|word| !QUESTION_WORDS.contains(&word.as_str()));
    words
}

/// The words of a text in small letters, identifiers taken apart.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// The fact whose key has all the terms: the one that says least besides them, of equals the latest.
pub(crate) fn find<'a>(facts: &'a [Fact], terms: &[String]) -> Option<&'a Fact> {
    let mut best: Option<(usize, &Fact)> = None;
    for fact in facts {
        let mut key = words(&fact.key);
        if terms.is_empty() || !terms.iter().all(|term| key.contains(term)) {
            continue;
        }
        key.retain(|word| !QUESTION_WORDS.contains(&word.as_str()));
        let distance = key.len() * 2 + usize::from(fact.form == Form::Label);
        if best.is_none_or(|(least, _)| distance <= least) {
            best = Some((distance, fact));
        }
    }
    best.map(|(_, fact)| fact)
}

/// The latest sentence that has all the terms.
pub(crate) fn find_sentence<'a>(text: &'a str, terms: &[String]) -> Option<&'a str> {
    let found = sentences(text).filter(|sentence| {
        let words = words(sentence);
        let is_own = OWN_SENTENCES.iter().any(|own| sentence.starts_with(own));
        !is_own && !is_question(sentence) && terms.iter().all(|term| words.contains(term))
    });
    if terms.is_empty() { None } else { found.last() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        facts(text).iter().map(|f| format!("{}|{}", f.key, f.value)).collect()
    }

    #[test]
    fn forms() {
        assert_eq!(found("remember: the port is 8080."), ["the port|8080"]);
        assert_eq!(found("Please remember that KEY_17 = blue-42; thanks."), ["KEY_17|blue-42"]);
        assert_eq!(
            found("host=a.b.c, retries = 5 and color = red."),
            ["host|a.b.c", "retries|5", "color|red"]
        );
        assert_eq!(found("- sleep: Casa Azul, 95 EUR a night"), ["sleep|Casa Azul, 95 EUR a night"]);
        assert_eq!(found("**User:** The launch code is \"zebra\"."), ["The launch code|zebra"]);
        assert_eq!(found("What is the port? It is late. a == b. x => y. Is it?"), Vec::<String>::new());
        assert_eq!(found("I do not know about \"port\"; it is not there"), Vec::<String>::new());
    }

    #[test]
    fn the_latest_of_the_closest_wins() {
        let all = facts("port = 1\nthe old port = 2\nport = 3\nport: 4");
        let asked = |question: &str| find(&all, &terms(question)).map(|f| f.value.as_str());
        assert_eq!(asked("What is the port?"), Some("3"));
        assert_eq!(asked("and the old port?"), Some("2"));
        assert_eq!(asked("What is the host?"), None);
        assert_eq!(asked("What is it?"), None);
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let all: Vec<&str> = sentences("One. Two!\nfile a.txt; done? 三。四").collect();
        assert_eq!(all, ["One.", "Two!", "file a.txt;", "done?", "三。", "四"]);
    }
}
