//! Estimates how many tokens a text costs, in each family of vocabularies at once.
//!
//! Decides two numbers for one text and one family: what it probably costs, and what texts like it cost at most. One pass looks
//! at each character and at what stands before it and picks a cell of a table ([`cells`]); the cell says how many tokens start
//! at such a character on average in each vocabulary, and how much more it may be (`densities.rs`). What chance does to a single
//! text is added to sums of texts ([`with_chance`]): in many texts it evens out.
//!
//! Does not decide what a message, a tool or an image costs, does not calibrate itself against a provider,
//! and is no tokenizer: two texts with equal neighbourhoods cost the same, whatever words they contain.

pub mod cells;
mod characters;
mod densities;

use super::Vocabulary;
use cells::Walker;
use densities::{COUNTED, DENSITIES, Density};
use serde::{Deserialize, Serialize};

/// How many families a text is measured for: the counted ones, and the largest of them.
const FAMILIES: usize = Vocabulary::ALL.len();

/// What a text costs in each family of vocabularies, in hundredths of a token. Sizes beyond forty million tokens are not told
/// apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TextMeasure {
    expected: [u32; FAMILIES],
    upper: [u32; FAMILIES],
}

impl TextMeasure {
    /// The likely cost, in thousandths of a token.
    pub fn expected_milli(&self, vocabulary: Vocabulary) -> u64 {
        self.expected.get(vocabulary as usize).map_or(0, |centi| u64::from(*centi) * 10)
    }

    /// What texts like it cost at most, in thousandths of a token, before [`with_chance`].
    pub fn upper_milli(&self, vocabulary: Vocabulary) -> u64 {
        self.upper.get(vocabulary as usize).map_or(0, |centi| u64::from(*centi) * 10)
    }

    /// A text of a known number of tokens, in every vocabulary.
    pub fn known(expected: u64, upper: u64) -> Self {
        let centi = |tokens: u64| u32::try_from(tokens.saturating_mul(100)).unwrap_or(u32::MAX);
        Self { expected: [centi(expected); FAMILIES], upper: [centi(upper); FAMILIES] }
    }

    /// Whether there is nothing to cost.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl std::iter::Sum for TextMeasure {
    fn sum<I: Iterator<Item = Self>>(measures: I) -> Self {
        let mut sum = Self::default();
        for measure in measures {
            for (to, from) in sum.expected.iter_mut().zip(measure.expected) {
                *to = to.saturating_add(from);
            }
            for (to, from) in sum.upper.iter_mut().zip(measure.upper) {
                *to = to.saturating_add(from);
            }
        }
        sum
    }
}

/// How many square roots of a size chance adds to it, in percent.
pub const SPREAD_PERCENT: u64 = 150;
/// What chance adds to any size, in thousandths of a token.
pub const FLOOR_MILLI: u64 = 2500;
/// What each text costs at its edges besides what stands in it, at most, in thousandths of a token.
pub const EDGE_MILLI: u64 = 1000;

/// A size that texts which cost at most so much will hardly ever exceed, in thousandths of a token.
pub fn with_chance(upper_milli: u64) -> u64 {
    if upper_milli == 0 {
        return 0;
    }
    let spread = (upper_milli as f64 * 1000.0).sqrt() as u64 * SPREAD_PERCENT / 100;
    upper_milli.saturating_add(spread + FLOOR_MILLI)
}

/// The largest size that [`with_chance`] is no more than this, in thousandths of a token.
pub fn without_chance(milli: u64) -> u64 {
    let Some(rest) = milli.checked_sub(FLOOR_MILLI) else { return 0 };
    // The root of size + spread × √size = rest, and what rounding may have added.
    let half = SPREAD_PERCENT as f64 / 200.0;
    let root = (half * half + rest as f64 / 1000.0).sqrt() - half;
    let near = (root * root * 1000.0) as u64;
    (near.saturating_sub(2)..=near.saturating_add(2))
        .rev()
        .find(|size| with_chance(*size) <= milli)
        .unwrap_or(0)
}

/// How many characters are added up before the sums are carried over: so many fit 32 bits.
const BLOCK: usize = 1024;

/// Measures a text.
///
/// Every character adds something that is never negative and depends only on what stands before it, so
/// appending never lowers an upper size.
pub fn measure(text: &str) -> TextMeasure {
    Growing::default().with(text).measure()
}

/// A text that is measured while it grows. Its pieces, measured one by one, would cost more: what chance can do to a short
/// text is added to each of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Growing {
    walker: Walker,
    expected: [u64; COUNTED],
    likely: [u64; COUNTED],
    /// What characters that no vocabulary is known to have cost at most.
    hard: u64,
    /// The most that any vocabulary can make of it.
    bytes: u64,
}

impl Growing {
    /// The text and one more piece.
    pub fn with(mut self, piece: &str) -> Self {
        let densities: &[Density] = &DENSITIES;
        let mut chars = piece.chars();
        loop {
            let mut expected = [0_u32; COUNTED];
            let mut likely = [0_u32; COUNTED];
            let mut count = 0;
            for ch in chars.by_ref().take(BLOCK) {
                count += 1;
                let Some(density) = densities.get(self.walker.step(ch)) else { continue };
                for (sum, cost) in expected.iter_mut().zip(density.expected) {
                    *sum += u32::from(cost);
                }
                for (sum, cost) in likely.iter_mut().zip(density.upper) {
                    *sum += u32::from(cost);
                }
                let most = most_tokens(ch);
                self.bytes += most;
                if density.is_by_bytes {
                    self.hard += most * 1000;
                }
            }
            for (sum, block) in self.expected.iter_mut().zip(expected) {
                *sum += u64::from(block);
            }
            for (sum, block) in self.likely.iter_mut().zip(likely) {
                *sum += u64::from(block);
            }
            if count < BLOCK {
                break;
            }
        }
        self
    }

    /// What it costs so far.
    pub fn measure(&self) -> TextMeasure {
        if self.bytes == 0 {
            return TextMeasure::default();
        }
        let centi = |milli: u64| u32::try_from(milli.div_ceil(10)).unwrap_or(u32::MAX);
        let most = (self.bytes + 1) * 1000;
        let upper = self.likely.map(|likely| (self.hard + likely + EDGE_MILLI).min(most));
        let largest = published(&upper).max().unwrap_or_default();
        let mean = published(&self.expected).sum::<u64>() / published(&self.expected).count().max(1) as u64;
        // The last place is that of a vocabulary that nobody knows.
        let upper_of = |place: usize| upper.get(place).copied().unwrap_or(largest);
        let expected_of = |place: usize| self.expected.get(place).copied().unwrap_or(mean);
        TextMeasure {
            expected: std::array::from_fn(|place| centi(expected_of(place).min(upper_of(place)))),
            upper: std::array::from_fn(|place| centi(upper_of(place))),
        }
    }
}

/// The sizes in vocabularies that were published.
fn published(sizes: &[u64; COUNTED]) -> impl Iterator<Item = u64> {
    sizes.iter().zip(Vocabulary::ALL).filter(|(_, family)| family.is_published()).map(|(size, _)| *size)
}

/// The most tokens that any vocabulary makes of one character: its bytes, and those of what Claude's puts in its place (NFKC).
#[inline(always)]
fn most_tokens(ch: char) -> u64 {
    if ch.is_ascii() {
        return 1;
    }
    let written_out = match ch as u32 {
        0xfdfa => 30,
        0xfdf0..=0xfdfb => 12,
        0x3300..=0x33ff => 15,
        0xbc..=0xbe | 0x2150..=0x215f => 3,
        // Letters that are written as two: of Armenian, Arabic, Indic scripts, Thai, Lao, Tibetan.
        0x587 | 0x675..=0x678 | 0x958..=0x95f | 0x9dc..=0x9df | 0xa33..=0xa5e => 3,
        0xb5c..=0xb5d | 0xe33 | 0xeb3 | 0xedc..=0xedd | 0xf00..=0xfff => 3,
        // Signs that stand for several letters or digits.
        0x2100..=0x218f | 0x2474..=0x24b5 | 0x3200..=0x32ff | 0xfb00..=0xfdef | 0xfe70..=0xfefc => 3,
        _ => 0,
    };
    ch.len_utf8() as u64 + written_out
}

#[cfg(test)]
mod tests {
    use super::cells::CELLS;
    use super::*;

    fn expected(text: &str, vocabulary: Vocabulary) -> u64 {
        measure(text).expected_milli(vocabulary)
    }

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(measure(""), TextMeasure::default());
        assert!(measure("").is_empty() && !measure("a").is_empty());
    }

    #[test]
    fn digits_are_counted_in_threes_or_one_by_one() {
        let digits = "7".repeat(300);
        let of = |vocabulary| expected(&digits, vocabulary) / 1000;
        assert!((98..=104).contains(&of(Vocabulary::O200k)), "{}", of(Vocabulary::O200k));
        for one_by_one in [Vocabulary::Gemma3, Vocabulary::Qwen, Vocabulary::Mistral, Vocabulary::Command] {
            assert!((297..=303).contains(&of(one_by_one)), "{one_by_one:?} {}", of(one_by_one));
        }
    }

    #[test]
    fn appending_never_lowers_the_upper_bound() {
        let text = "Hello, wörld! HTTPServer x9f3a== 12345\n\t\tПривет, 世界 👩‍💻🇩🇪 ก็ aaaaaaa\u{301}\u{e000}𓀀ﷺ";
        let mut grown = String::new();
        let mut last = TextMeasure::default();
        for ch in text.chars() {
            grown.push(ch);
            let now = measure(&grown);
            for family in Vocabulary::ALL {
                let (before, after) = (last.upper_milli(family), now.upper_milli(family));
                assert!(after >= before && now.expected_milli(family) <= after, "{family:?} {grown:?}");
                assert!(after <= (grown.len() as u64 + 31) * 1000, "{family:?} {grown:?}");
            }
            last = now;
        }
    }

    #[test]
    fn chance_is_added_once_and_can_be_taken_away() {
        assert_eq!((with_chance(0), without_chance(0), without_chance(FLOOR_MILLI)), (0, 0, 0));
        for size in (1..200).chain((200..5_000_000).step_by(997)).chain([u64::MAX >> 20]) {
            let whole = with_chance(size);
            assert!(without_chance(whole) >= size && with_chance(without_chance(whole)) <= whole, "{size}");
            assert!(whole <= with_chance(size / 2) + with_chance(size - size / 2), "{size}");
        }
    }

    #[test]
    fn what_grows_in_pieces_is_what_it_is_as_a_whole() {
        let text = "Some words, then 世界 and 12345. ".repeat(200);
        let mut pieces = Growing::default();
        for piece in text.split_inclusive(' ') {
            pieces = pieces.with(piece);
        }
        assert_eq!(pieces.measure(), measure(&text));
    }

    #[test]
    fn noise_costs_more_than_words() {
        let words = "the weather in the harbour was calm and the boats came home before the evening";
        let noise = "xq7Zk0vPpW3mJ9rTbY5cLd2HsGfN8aUeIo1RzXwQkVtBnMjDhCgSlFyAuEiOp4K6x0ZqWvTrPm";
        for family in Vocabulary::ALL {
            assert!(expected(noise, family) > 2 * expected(words, family), "{family:?}");
        }
    }

    #[test]
    fn an_unknown_vocabulary_costs_as_much_as_the_densest() {
        for text in ["plain words", "1234567890123", "\t\t\tif x {\n", "ภาษาไทย", "🎉🎉"] {
            let measure = measure(text);
            for family in Vocabulary::ALL.into_iter().filter(|family| family.is_published()) {
                assert!(measure.upper_milli(Vocabulary::Unknown) >= measure.upper_milli(family));
            }
        }
    }

    #[test]
    fn the_tables_are_complete() {
        assert_eq!(DENSITIES.len(), CELLS);
        let known =
            DENSITIES.iter().filter(|density| density.expected.iter().take(COUNTED).all(|e| *e <= 4_000));
        assert_eq!(known.count(), CELLS);
        assert!(DENSITIES.iter().any(|density| density.expected.iter().take(COUNTED).all(|e| *e > 0)));
    }
}
