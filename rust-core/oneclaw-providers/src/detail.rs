//! The words of a service, made fit to be shown and logged: short, on one line, without what looks like a key. The key
//! that was sent is `redact`'s to find.

use crate::key::REDACTED;

/// The most characters that are kept.
const MOST_CHARS: usize = 300;

/// How keys of known services begin, and how many more characters make one.
const KEY_STARTS: [(&str, usize); 9] = [
    ("sk-", 8),
    ("sk_", 8),
    ("gsk_", 8),
    ("csk-", 8),
    ("xai-", 8),
    ("nvapi-", 8),
    ("hf_", 16),
    ("AIza", 8),
    ("ya29.", 8),
];

/// The words without anything that looks like a key, on one line, shortened.
pub(crate) fn clean(text: &str) -> String {
    shorten(&escape(&without_keys(text.trim())))
}

/// The text on one line, without anything that a terminal would obey.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Marks that turn the writing direction can make a message say something else.
        let is_direction =
            matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c.is_control() || is_direction { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

fn shorten(text: &str) -> String {
    if text.chars().nth(MOST_CHARS).is_none() {
        return text.to_owned();
    }
    text.chars().take(MOST_CHARS - 1).chain(['…']).collect()
}

fn without_keys(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before: Option<char> = None;
    while let Some(c) = rest.chars().next() {
        let at_start = !before.is_some_and(|b| b.is_ascii_alphanumeric());
        let secret = if at_start { secret_at(rest) } else { None };
        let (kept, skipped) = secret.unwrap_or((0, 0));
        if skipped > 0 {
            out.push_str(rest.get(..kept).unwrap_or_default());
            out.push_str(REDACTED);
            before = Some(']');
            rest = rest.get(kept + skipped..).unwrap_or_default();
        } else {
            out.push(c);
            before = Some(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
        }
    }
    out
}

/// Where a secret begins in a text that starts with one or its introduction, and its length.
fn secret_at(text: &str) -> Option<(usize, usize)> {
    for (start, more) in KEY_STARTS {
        if text.starts_with(start) {
            let length = run(text);
            return (length >= start.len() + more).then_some((0, length));
        }
    }
    for introduction in ["bearer ", "basic ", "key=", "x-api-key: ", "x-goog-api-key: "] {
        let head = text.get(..introduction.len());
        if head.is_some_and(|head| head.eq_ignore_ascii_case(introduction)) {
            let length = run(text.get(introduction.len()..)?);
            return (length >= 8).then_some((introduction.len(), length));
        }
    }
    None
}

/// How far characters go that a key may have; stars too, as services write keys with their middle starred.
fn run(text: &str) -> usize {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "-_.*+/=~…".contains(c);
    let end = text.find(|c| !is_key(c)).unwrap_or(text.len());
    // The full stop of the sentence is no part of the key.
    text.get(..end).unwrap_or_default().trim_end_matches('.').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_replaced_and_words_are_not() {
        let cases = [
            ("Incorrect API key provided: sk-proj-abc123456789.", "Incorrect API key provided: [redacted]."),
            ("bad: sk-abcd****************wxyz, see docs", "bad: [redacted], see docs"),
            ("API key AIzaSyA1234567890 not valid", "API key [redacted] not valid"),
            ("Authorization: Bearer eyJhbGciOi.abc.def", "Authorization: Bearer [redacted]"),
            ("GET /v1?key=abcdefgh1234&x=1", "GET /v1?key=[redacted]&x=1"),
            ("the task-force-of-ten, ask-me-anything", "the task-force-of-ten, ask-me-anything"),
            ("sk-short and the bearer of news", "sk-short and the bearer of news"),
        ];
        for (text, wanted) in cases {
            assert_eq!(clean(text), wanted);
        }
    }

    #[test]
    fn the_text_is_one_short_line() {
        assert_eq!(clean(" a\nb\u{1b}[31m\u{202e} "), "a\\nb\\u{1b}[31m\\u{202e}");
        let long = clean(&"ä".repeat(1_000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (MOST_CHARS, true));
    }
}
