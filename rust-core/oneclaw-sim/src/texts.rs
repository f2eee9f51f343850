//! What is said: pieces of real texts of many kinds, each with new numbers, drawn by chance.
//!
//! The pieces come from the corpora of the estimation tests. A pool of them is made once per seed; a text is a few
//! hundred of them, so that its tokens are known from the pieces and a million turns can be counted.

use crate::rng::Rng;
use crate::tokens::{Counter, Tokenizer};

macro_rules! corpora {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), include_str!(concat!("../../../tests/fixtures/corpus/", stringify!($name), ".txt")))),*]
    };
}

/// Name and text of each kind of text.
pub const CORPORA: &[(&str, &str)] = corpora![
    english,
    german_french_spanish,
    russian,
    arabic,
    hindi_hebrew_greek,
    thai,
    chinese,
    japanese,
    korean,
    code_rust,
    code_kotlin,
    code_python,
    minified_js,
    json_records,
    logs,
    number_tables,
    hex,
    base64,
    url_list,
    markdown,
    emoji,
    mixed,
    holdout_english,
    holdout_code,
    holdout_json,
    holdout_chinese,
    holdout_japanese,
    holdout_korean,
    holdout_russian,
    holdout_arabic,
    holdout_thai,
    holdout_mixed,
];

/// Texts that people write to each other.
pub const PROSE: &[&str] = &["english", "holdout_english", "markdown", "german_french_spanish", "mixed"];
/// Texts without spaces.
pub const WIDE: &[&str] =
    &["chinese", "japanese", "korean", "holdout_chinese", "holdout_japanese", "holdout_korean"];
/// Sources and what builds say.
pub const CODE: &[&str] =
    &["code_rust", "code_kotlin", "code_python", "holdout_code", "logs", "json_records"];
/// What a page of the web holds.
pub const PAGES: &[&str] =
    &["markdown", "english", "url_list", "json_records", "minified_js", "emoji", "russian", "thai"];
/// Numbers, and what looks like them.
pub const NUMBERS: &[&str] = &["number_tables", "hex", "base64", "logs", "json_records"];

/// Pieces made of each corpus.
const PIECES: usize = 96;
/// Characters of a piece, about.
const PIECE_CHARS: (u64, u64) = (60, 420);

/// A piece of text and what it costs.
#[derive(Debug)]
struct Piece {
    text: String,
    tokens: u64,
}

/// All pieces, by corpus.
#[derive(Debug)]
pub struct Texts {
    pools: Vec<(&'static str, Vec<Piece>)>,
}

impl Texts {
    /// The pieces of a seed.
    pub fn new(seed: u64) -> Self {
        let mut counter = Counter::default();
        let pools = CORPORA.iter().enumerate().map(|(index, (name, corpus))| {
            let mut rng = Rng::of(seed, &[7, index as u64]);
            let pieces = (0..PIECES).map(|_| piece(&mut rng, corpus, &mut counter));
            (*name, pieces.collect())
        });
        Self { pools: pools.collect() }
    }

    /// A text of about so many tokens, of one of these corpora.
    pub fn draw(&self, rng: &mut Rng, corpora: &[&str], tokens: u64) -> String {
        let name = rng.pick(corpora).copied().unwrap_or_default();
        let pool = self.pools.iter().find(|(n, _)| *n == name).map_or(&[][..], |(_, pieces)| pieces);
        let mut text = String::new();
        let mut have = 0;
        while have < tokens.max(1) {
            let Some(piece) = rng.pick(pool) else { break };
            if !text.is_empty() {
                text.push('\n');
            }
            // A piece that is far too long is cut at a character: short messages are to be short.
            let left = tokens.saturating_sub(have);
            if piece.tokens > left.saturating_mul(2) {
                let chars = piece.text.chars().count() as u64 * left / piece.tokens.max(1);
                text.extend(piece.text.chars().take(chars.max(1) as usize));
                break;
            }
            text.push_str(&piece.text);
            have += piece.tokens.max(1);
        }
        text
    }
}

/// A stretch of the corpus with other digits in it.
fn piece(rng: &mut Rng, corpus: &str, counter: &mut Counter) -> Piece {
    let chars = corpus.chars().count();
    let length = rng.between(PIECE_CHARS.0, PIECE_CHARS.1) as usize;
    let start = rng.number() as usize % chars.saturating_sub(length).max(1);
    // From the start of a line, where one is near.
    let tail: String = corpus.chars().skip(start).take(length * 2).collect();
    let from = tail.find('\n').filter(|at| *at < length).map_or(0, |at| at + 1);
    let text: String = tail
        .get(from..)
        .unwrap_or_default()
        .chars()
        .take(length)
        .map(|c| if c.is_ascii_digit() { char::from(b'0' + (rng.number() % 10) as u8) } else { c })
        .collect();
    let text = text.trim().to_owned();
    let tokens = counter.count(&Tokenizer::O200k, &text);
    Piece { text, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_about_the_tokens_asked_for_and_is_the_same_each_time() {
        let texts = Texts::new(1);
        let mut counter = Counter::default();
        for wanted in [10, 300, 5_000] {
            for corpora in [PROSE, WIDE, CODE, PAGES, NUMBERS] {
                let text = texts.draw(&mut Rng::of(2, &[wanted]), corpora, wanted);
                let tokens = counter.count(&Tokenizer::O200k, &text);
                assert!(tokens >= wanted / 4 && tokens <= wanted * 4 + 8, "{wanted} {tokens} {corpora:?}");
                assert_eq!(text, texts.draw(&mut Rng::of(2, &[wanted]), corpora, wanted));
            }
        }
    }
}
