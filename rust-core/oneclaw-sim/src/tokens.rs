//! Real tokenizers, made fast enough for a million turns: a text is counted line by line, and each line once.
//!
//! The sum over lines is the exact count. Both vocabularies that are built in first cut a text by a pattern and never look
//! across a cut, and after a line break there always is one unless a blank, another break or a slash follows. Of a
//! vocabulary from a file nothing of that kind is known: its texts are counted whole, each once.

use crate::pictures::PictureRule;
use crate::vocabulary::LoadedVocabulary;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;
use tiktoken_rs::CoreBPE;

static O200K: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());
static CL100K: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::cl100k_base().ok());

/// Lines, or texts, whose counts are remembered at most, per tokenizer.
const MOST_REMEMBERED: usize = 1 << 19;

/// The tokenizers that one counter, and one script, can tell apart.
pub const TOKENIZERS: usize = 3;

/// A public tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tokenizer {
    /// Of gpt-4o and its successors.
    O200k,
    /// Of gpt-4 and gpt-3.5.
    Cl100k,
    /// From a file, with what the service makes of pictures; a script has one of them at most.
    File(LoadedVocabulary, PictureRule),
}

impl Tokenizer {
    /// Which of them it is.
    pub const fn index(&self) -> usize {
        match self {
            Self::O200k => 0,
            Self::Cl100k => 1,
            Self::File(..) => 2,
        }
    }

    /// Whether its vocabulary can be read; those that are compiled in fail only in a broken build.
    pub fn is_there(&self) -> bool {
        match self {
            Self::O200k => O200K.is_some(),
            Self::Cl100k => CL100K.is_some(),
            Self::File(..) => true,
        }
    }

    /// The tokens of a text, counted whole.
    pub fn count(&self, text: &str) -> u64 {
        let counted = |bpe: &Option<CoreBPE>| {
            bpe.as_ref().map_or(u64::MAX, |bpe| bpe.encode_ordinary(text).len() as u64)
        };
        match self {
            Self::O200k => counted(&O200K),
            Self::Cl100k => counted(&CL100K),
            Self::File(vocabulary, _) => vocabulary.count(text),
        }
    }
}

impl Tokenizer {
    /// What a picture costs beside the texts.
    pub fn picture(&self, size: (u32, u32)) -> u64 {
        match self {
            Self::O200k | Self::Cl100k => PictureRule::OpenAi.tokens(size),
            Self::File(_, rule) => rule.tokens(size),
        }
    }
}

/// Counts, and remembers what it counted. One per thread.
#[derive(Debug, Default)]
pub struct Counter {
    counts: [HashMap<u64, u32, BuildHasherDefault<AsItIs>>; TOKENIZERS],
}

/// The keys are hashes already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0 << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

impl Counter {
    /// The tokens of a text.
    pub fn count(&mut self, tokenizer: &Tokenizer, text: &str) -> u64 {
        match tokenizer {
            Tokenizer::O200k | Tokenizer::Cl100k => {
                lines(text).map(|line| self.known(tokenizer, line, hash(line))).sum()
            }
            // Two files may come to one counter; their counts are kept apart.
            Tokenizer::File(vocabulary, _) => {
                self.known(tokenizer, text, hash(text) ^ vocabulary.fingerprint())
            }
        }
    }

    fn known(&mut self, tokenizer: &Tokenizer, text: &str, name: u64) -> u64 {
        let Some(known) = self.counts.get_mut(tokenizer.index()) else { return 0 };
        if let Some(tokens) = known.get(&name) {
            return u64::from(*tokens);
        }
        let tokens = tokenizer.count(text);
        if known.len() >= MOST_REMEMBERED {
            known.clear();
        }
        known.insert(name, u32::try_from(tokens).unwrap_or(u32::MAX));
        tokens
    }
}

/// The text in pieces whose counts add up.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let mut from = 0;
        let end = loop {
            match memchr::memchr(b'\n', bytes.get(from..).unwrap_or_default()) {
                None => break rest.len(),
                Some(at) => {
                    from += at + 1;
                    match bytes.get(from) {
                        // Blanks beyond ASCII start with a byte above it.
                        Some(next) if next.is_ascii_graphic() && *next != b'/' => break from,
                        None => break from,
                        Some(next) if !next.is_ascii() => {
                            let is_blank = rest.get(from..).and_then(|r| r.chars().next());
                            if !is_blank.is_some_and(char::is_whitespace) {
                                break from;
                            }
                        }
                        Some(_) => {}
                    }
                }
            }
        };
        let (line, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(line)
    })
}

/// A quick hash; lines of one run, so nobody can choose them to collide.
pub fn hash(text: &str) -> u64 {
    let mut state = text.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let last = rest.iter().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    for word in words.iter().map(|word| u64::from_le_bytes(*word)).chain([last]) {
        let mixed = u128::from(state ^ word) * 0xa076_1d64_78bd_642f_u128;
        state = (mixed as u64) ^ ((mixed >> 64) as u64);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::CORPORA;
    use serde_json::json;

    /// A token for every so many characters, whatever they are.
    fn every(chars: u64) -> Tokenizer {
        let file = json!({
            "added_tokens": [],
            "normalizer": {"type": "Replace", "pattern": {"Regex": format!("[\\s\\S]{{1,{chars}}}")}, "content": "a"},
            "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        });
        let path = std::env::temp_dir().join(format!("oneclaw-sim-{}-every-{chars}", std::process::id()));
        std::fs::write(&path, file.to_string()).unwrap();
        let vocabulary = LoadedVocabulary::load(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        Tokenizer::File(vocabulary, PictureRule::OpenAi)
    }

    #[test]
    fn a_vocabulary_from_a_file_counts_texts_whole_and_two_of_them_are_kept_apart() {
        let mut counter = Counter::default();
        let (three, six) = (every(3), every(6));
        let text = "ab\ncd\nef\n\u{8336}";
        for _ in 0..2 {
            // Ten characters; by lines they would be five tokens, or four.
            assert_eq!((counter.count(&three, text), counter.count(&six, text)), (4, 2));
        }
        assert_eq!((counter.count(&three, ""), counter.count(&six, "\n")), (0, 1));
    }

    #[test]
    fn the_sum_over_lines_is_the_count_of_the_whole() {
        let mut counter = Counter::default();
        let odd = [
            "",
            "\n",
            "\n\n a\n/b\n\u{2003}x\n\t{\n}\n",
            "a\r\nb\r\n\r\nc",
            "x\n\u{e9}t\u{e9}\n\u{3000}\u{8336}",
        ];
        for text in CORPORA.iter().map(|(_, text)| *text).chain(odd) {
            for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
                assert_eq!(
                    counter.count(&tokenizer, text),
                    tokenizer.count(text),
                    "{tokenizer:?} {text:.40?}"
                );
            }
        }
    }
}
