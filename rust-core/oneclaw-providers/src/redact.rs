//! Takes a key out of a text, in the spellings in which a service, a proxy or a library may repeat it.
//!
//! Decides what counts as a repetition: a piece of the key, in letters of any case, written as it is, percent-encoded, with
//! JSON's escapes or broken over lines; the same of its base64 and its hexadecimal digits. Shorter pieces than those below
//! stay, as words and numbers of the text would go with them. Keys that nobody has told us of are `detail`'s to find.

use crate::key::{ApiKey, REDACTED};
use std::collections::HashSet;

/// The shortest piece of a key that is taken for it, in characters; keys that are shorter are found whole.
const SHORTEST_PIECE: usize = 12;
/// The shortest part of a key at the end of a text that is taken for it: the rest was cut off.
const SHORTEST_REST: usize = 4;
/// Keys that are shorter than this are found as they are written, and in no other spelling.
const SHORTEST_SPELT: usize = 8;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The text without that key.
pub(crate) fn without(text: &str, key: &ApiKey) -> String {
    let key = key.expose();
    if key.is_empty() {
        return text.to_owned();
    }
    without_beginning(&without_pieces(text, key), key)
}

/// The text with a stand-in for every piece of the key.
fn without_pieces(text: &str, key: &str) -> String {
    let mut readings = vec![plain(text)];
    if key.len() >= SHORTEST_SPELT {
        readings.push(spelt(text));
    }
    let spellings = spellings(key);
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    for letters in &readings {
        let read: Vec<char> = letters.iter().map(|letter| letter.is).collect();
        for (spelling, shortest) in &spellings {
            let shortest = (*shortest).min(spelling.len());
            let pieces: HashSet<&[char]> = spelling.windows(shortest).collect();
            let found = read.windows(shortest).enumerate().filter(|(_, window)| pieces.contains(window));
            let place = |(at, _): (usize, &[char])| {
                Some((letters.get(at)?.start, letters.get(at + shortest - 1)?.end))
            };
            hidden.extend(found.filter_map(place));
        }
    }
    hidden.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut after = 0;
    for (start, end) in hidden {
        // What overlaps the one before, or follows on it, is hidden by the same stand-in.
        if start > after || after == 0 {
            out.push_str(text.get(after..start).unwrap_or_default());
            out.push_str(REDACTED);
        }
        after = after.max(end);
    }
    out.push_str(text.get(after..).unwrap_or_default());
    out
}

/// The text without the beginning of the key where it was cut.
fn without_beginning(text: &str, key: &str) -> String {
    let (body, end) = match text.strip_suffix('…') {
        Some(body) => (body, "…"),
        None => (text, ""),
    };
    let starts = key.char_indices().map(|(at, _)| at).filter(|at| *at >= SHORTEST_REST).rev();
    for start in starts.filter_map(|at| key.get(..at)) {
        let split = body.len().checked_sub(start.len()).and_then(|at| body.split_at_checked(at));
        if let Some((rest, last)) = split
            && last.eq_ignore_ascii_case(start)
        {
            return format!("{rest}{REDACTED}{end}");
        }
    }
    text.to_owned()
}

/// What is looked for, each with the length of its shortest piece.
fn spellings(key: &str) -> Vec<(Vec<char>, usize)> {
    let folded = |bytes: &[u8]| bytes.iter().map(|byte| fold(char::from(*byte))).collect::<Vec<_>>();
    let mut all = vec![(key.chars().map(fold).collect(), SHORTEST_PIECE)];
    if key.len() >= SHORTEST_SPELT {
        let hex: String = key.bytes().map(|byte| format!("{byte:02x}")).collect();
        all.push((folded(hex.as_bytes()), 2 * SHORTEST_PIECE));
        all.extend((0..3).map(|before| (folded(&base64(key.as_bytes(), before)), SHORTEST_PIECE / 3 * 4)));
    }
    all
}

/// The digits of the bytes in base64 where so many other bytes stand before them, without those that depend on what
/// stands around.
fn base64(bytes: &[u8], before: usize) -> Vec<u8> {
    let bits: Vec<bool> =
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect();
    // Where the first digit begins that is the key's alone.
    let skipped = [0, 4, 2].get(before).copied().unwrap_or_default();
    let digits = bits.get(skipped..).unwrap_or_default().chunks_exact(6);
    let value = |digit: &[bool]| digit.iter().fold(0, |value, bit| value << 1 | usize::from(*bit));
    digits.filter_map(|digit| BASE64.get(value(digit)).copied()).collect()
}

/// A letter, and the bytes of the text that spell it.
struct Letter {
    is: char,
    start: usize,
    end: usize,
}

/// The letters as they are written.
fn plain(text: &str) -> Vec<Letter> {
    text.char_indices().map(|(start, c)| Letter { is: fold(c), start, end: start + c.len_utf8() }).collect()
}

/// The letters that are meant: escapes read, breaks, spaces and all that no key has left out.
fn spelt(text: &str) -> Vec<Letter> {
    let mut letters = Vec::with_capacity(text.len());
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let (is, length) = next_letter(rest);
        if let Some(c) = is.filter(char::is_ascii_graphic) {
            letters.push(Letter { is: fold(c), start, end: start + length });
        }
        start += length.max(1);
    }
    letters
}

/// What a text begins with, if it is a letter, and how many bytes spell it.
fn next_letter(text: &str) -> (Option<char>, usize) {
    let hex = |from: usize, to: usize| {
        let digits =
            text.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    let mut chars = text.chars();
    let first = chars.next();
    match (first, chars.next()) {
        (Some('%'), _) => match hex(1, 3) {
            Some(c) => (Some(c), 3),
            None => (first, 1),
        },
        (Some('\\'), Some('n' | 'r' | 't' | 'b' | 'f')) => (None, 2),
        (Some('\\'), Some('u')) => match (hex(2, 6), text.find('}')) {
            (Some(c), _) => (Some(c), 6),
            // Our own spelling of what cannot be shown.
            (None, Some(end)) if text.starts_with("\\u{") => (None, end + 1),
            _ => (None, 1),
        },
        // It stands before a letter that it keeps from meaning something else.
        (Some('\\'), _) => (None, 1),
        _ => (first, first.map_or(1, char::len_utf8)),
    }
}

/// The letter without its case, and in the alphabet of base64 that addresses have.
fn fold(c: char) -> char {
    match c {
        '+' => '-',
        '/' => '_',
        c => c.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEY: &str = "sk-Ab3+dE/6hI=jK_9mN-pQ";

    fn hidden(text: &str) -> String {
        without(text, &ApiKey::new(KEY.into()))
    }

    #[test]
    fn a_known_key_is_found_whole_and_cut() {
        let key = ApiKey::new("topsecret-0815".into());
        assert_eq!(without("a topsecret-0815 b", &key), "a [redacted] b");
        assert_eq!(without("a topsecret…", &key), "a [redacted]…");
        assert_eq!(without("to TopSecret-0815.example, topsec", &key), "to [redacted].example, [redacted]");
        assert_eq!(without("a top…", &key), "a top…");
        assert_eq!(without("a top", &ApiKey::new(String::new())), "a top");
    }

    #[test]
    fn every_spelling_is_found() {
        for (spelling, text) in [
            ("plain", KEY.to_owned()),
            ("capitals", KEY.to_uppercase()),
            ("percent", "sk-Ab3%2BdE%2f6hI%3DjK_9mN-pQ".to_owned()),
            ("all percent", KEY.bytes().map(|byte| format!("%{byte:02X}")).collect()),
            ("json", "sk-Ab3+dE\\/6hI\\u003djK_9mN-pQ".to_owned()),
            ("lines", "sk-Ab3+\r\ndE/6hI=\n jK_9mN-pQ".to_owned()),
            ("escaped lines", "sk-Ab3+\\ndE/6hI=\\r\\njK_9m\\u{200e}N-pQ".to_owned()),
            ("base64", "c2stQWIzK2RFLzZoST1qS185bU4tcFE=".to_owned()),
            ("base64 of a name and the key", "dXNlcjpzay1BYjMrZEUvNmhJPWpLXzltTi1wUQ".to_owned()),
            ("hex", KEY.bytes().map(|byte| format!("{byte:02x}")).collect()),
            ("its end", KEY.get(11..).unwrap().to_owned()),
            ("its middle", KEY.get(5..17).unwrap().to_owned()),
        ] {
            let found = hidden(&format!("before {text} after"));
            let (start, end) = (found.starts_with("before "), found.ends_with(" after"));
            assert!(start && end && found.contains(REDACTED) && found.len() < 34, "{spelling}: {found}");
        }
    }

    #[test]
    fn other_words_stay() {
        for text in ["", "sk-Ab3 is how keys begin", "50 % of c:\\new\\users", "%zz %1", "\\u12", "ä\\"] {
            assert_eq!(hidden(text), text);
        }
        // A short key is no reason to take sentences apart.
        let short = ApiKey::new("none".into());
        assert_eq!(without("no need: NONE", &short), "no need: [redacted]");
    }

    proptest! {
        #[test]
        fn no_piece_of_a_key_is_left(
            key in "[!-~]{12,40}",
            around in prop::array::uniform2("[ -~ä\n]{0,20}"),
            from in any::<prop::sample::Index>(),
            case in any::<bool>(),
        ) {
            let from = from.index(key.len() - SHORTEST_PIECE + 1);
            let piece = key.get(from..).unwrap();
            let piece = if case { piece.to_ascii_uppercase() } else { piece.to_owned() };
            let [before, after] = around;
            let text = without(&format!("{before}{piece}{after}"), &ApiKey::new(key.clone()));
            let small = text.to_ascii_lowercase();
            for window in key.to_ascii_lowercase().as_bytes().windows(SHORTEST_PIECE) {
                prop_assert!(!small.contains(std::str::from_utf8(window).unwrap()), "{text:?}");
            }
        }

        #[test]
        fn any_text_is_taken(text in "[%\\\\u{}n0-9a-f+/ ä\n-]{0,60}", key in "[ -~]{0,20}") {
            without(&text, &ApiKey::new(key));
        }
    }
}
