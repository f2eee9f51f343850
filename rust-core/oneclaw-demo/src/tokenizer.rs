//! How many tokens a text has.
//!
//! The server counts with whatever [`Tokenizer`] it is given. [`Compact`] is the one it brings along: no vocabulary, one
//! pass over the characters, on the upper side of what byte-pair vocabularies count.

/// Counts the tokens of a text.
pub trait Tokenizer: Send + Sync {
    /// The number of tokens; 0 for the empty text.
    fn count(&self, text: &str) -> u64;
}

/// A tokenizer without a vocabulary: short words are one token, longer ones one per five letters, digits one per
/// three, CJK one per character, punctuation one per sign or pair of signs, and runs of
/// the same sign taken together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compact;

/// What a character counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Small ASCII letters, and a capital before them.
    Word,
    /// Capitals in a row.
    Capitals,
    /// Latin letters beyond ASCII, Greek, Cyrillic, Arabic, Hebrew.
    Letters,
    /// Scripts of South and South-East Asia.
    Syllables,
    /// Han, Kana, Hangul.
    Wide,
    Digits,
    Blanks,
    Breaks,
    /// The same ASCII sign, again and again.
    Sign(char),
    /// Different signs in a row, `");`.
    Signs,
    /// Everything else, emoji above all.
    Rare,
}

impl Tokenizer for Compact {
    fn count(&self, text: &str) -> u64 {
        let mut tokens = 0_u64;
        let mut run: Option<(Class, u64)> = None;
        for c in text.chars() {
            let class = class(c);
            run = Some(match run {
                Some((before, length)) if before == class => (class, length + 1),
                // A capital starts the word that follows it.
                Some((Class::Capitals, length)) if class == Class::Word => {
                    tokens += cost(Class::Capitals, length - 1);
                    (Class::Word, 2)
                }
                // An accent does not end a word.
                Some((Class::Word, length)) if class == Class::Letters => (Class::Letters, length + 1),
                Some((Class::Letters, length)) if class == Class::Word => (Class::Letters, length + 1),
                Some((Class::Sign(_) | Class::Signs, length)) if matches!(class, Class::Sign(_)) => {
                    (Class::Signs, length + 1)
                }
                Some((before, length)) => {
                    tokens += cost(before, length) - joined(before, length, class);
                    (class, 1)
                }
                None => (class, 1),
            });
        }
        tokens + run.map_or(0, |(class, length)| cost(class, length))
    }
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Word,
        'A'..='Z' => Class::Capitals,
        '0'..='9' => Class::Digits,
        ' ' | '\t' | '\u{a0}' => Class::Blanks,
        '\n' | '\r' => Class::Breaks,
        _ if c.is_ascii() => Class::Sign(c),
        '\u{c0}'..='\u{8ff}' => Class::Letters,
        '\u{900}'..='\u{10ff}' => Class::Syllables,
        '\u{1e00}'..='\u{1fff}' => Class::Letters,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' => Class::Wide,
        '\u{f900}'..='\u{faff}' | '\u{ff00}'..='\u{ffef}' => Class::Wide,
        '\u{2010}'..='\u{2027}' => Class::Sign(c),
        _ => Class::Rare,
    }
}

fn cost(class: Class, length: u64) -> u64 {
    match class {
        Class::Word if length <= 7 => length.min(1),
        Class::Word => length.div_ceil(5),
        Class::Capitals => length.div_ceil(2),
        Class::Letters => length.div_ceil(3),
        Class::Syllables => length.div_ceil(2),
        Class::Wide => length,
        Class::Digits => length.div_ceil(3),
        Class::Blanks => length.div_ceil(16),
        Class::Breaks => length.div_ceil(4),
        Class::Sign(_) => length.div_ceil(4),
        Class::Signs => length.div_ceil(2),
        Class::Rare => length * 2,
    }
}

/// What is saved as one blank belongs to the word after it, and the last of several signs to the letters after it.
fn joined(before: Class, length: u64, next: Class) -> u64 {
    let is_letters = matches!(next, Class::Word | Class::Capitals | Class::Letters);
    let takes_blank = is_letters || matches!(next, Class::Syllables | Class::Wide | Class::Sign(_));
    let is_joined = match before {
        Class::Blanks => length == 1 && takes_blank,
        Class::Signs => length % 2 == 1 && is_letters,
        _ => false,
    };
    u64::from(is_joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples() {
        for (text, tokens) in [
            ("", 0),
            ("word", 1),
            ("Two words", 2),
            ("internationalisation", 4),
            ("a, b", 3),
            ("1234567", 3),
            ("工具调用", 4),
            ("HTTPServer", 3),
            ("\n\n", 1),
            ("--------", 2),
            ("f(\"x\");", 5),
            ("😀", 2),
        ] {
            assert_eq!(Compact.count(text), tokens, "{text:?}");
        }
    }

    #[test]
    fn a_text_costs_no_more_than_its_parts() {
        let text = "The quick brown fox (Ünicode, 工具) = 12345; HTTPServer\n\n  end 😀";
        let whole = Compact.count(text);
        for (at, _) in text.char_indices() {
            let (head, tail) = text.split_at(at);
            assert!(Compact.count(head) + Compact.count(tail) + 1 >= whole, "{at}");
        }
    }
}
