//! Estimates how many tokens a text costs when the tokenizer is not known.
//!
//! Decides two numbers for one text: what it probably costs, and what it will hardly ever exceed. It mimics
//! how byte-level BPE tokenizers cut text: one pass looks at each character and at what stands before it and
//! picks a cell of a table, and the cell says how many tokens start at such a character on average.
//!
//! Does not decide what a message, a tool or an image costs, does not calibrate itself against a provider,
//! and is no tokenizer: two texts with equal neighbourhoods cost the same, whatever words they contain.

mod tables;

use tables::{COST, FOREIGNNESS, RARITY, RARITY_CYR, SINGLE, TWO};

/// What a text costs, in thousandths of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct TextMeasure {
    /// The likely cost.
    pub expected_milli: u64,
    /// A cost that is hardly ever exceeded.
    pub upper_milli: u64,
    /// How many decimal digits it has: some tokenizers spend a token on each.
    pub digits: u64,
}

impl std::iter::Sum for TextMeasure {
    fn sum<I: Iterator<Item = Self>>(measures: I) -> Self {
        measures.fold(Self::default(), |sum, m| Self {
            expected_milli: sum.expected_milli + m.expected_milli,
            upper_milli: sum.upper_milli + m.upper_milli,
            digits: sum.digits + m.digits,
        })
    }
}

/// Kinds of neighbouring characters: lower, upper, digit, space, tab, newline, other control characters, 32
/// punctuation marks, then those below.
const KINDS: usize = 44;
const CONTROL: usize = 6;
const FOREIGN: usize = 39;
const ACCENTED: usize = 40;
const CYRILLIC: usize = 41;
const ACCENTED_RARE: usize = 42;
const START: usize = 43;
/// Foreignness, averaged over about 32 letters: where a text starts, and the bounds of its four grades.
const NEUTRAL: u32 = 880;
const LOW: u32 = 780;
const MIDDLE: u32 = 880;
const HIGH: u32 = 980;
/// Where each group of cells starts.
const LETTERS: usize = 0;
const CYR: usize = LETTERS + 3456;
const RUNS: usize = CYR + 288;
const SCRIPTS: usize = RUNS + KINDS * 5;
const DIGITS: usize = SCRIPTS + 24 * 4;
const PAIRS: usize = DIGITS + 2;
const CELLS: usize = PAIRS + KINDS * KINDS;

/// The kind of an ASCII character.
const fn ascii_kind(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        b' ' => 3,
        b'\t' => 4,
        b'\n' => 5,
        0..=31 | 127.. => 6,
        33..=47 => byte - 33 + 7,
        58..=64 => byte - 58 + 22,
        91..=96 => byte - 91 + 29,
        _ => byte - 123 + 35,
    }
}

/// `ascii_kind` of every ASCII character.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler only")]
const KIND_OF: [u8; 128] = {
    let mut kinds = [0; 128];
    let mut at = 0;
    while at < 128 {
        kinds[at] = ascii_kind(at as u8);
        at += 1;
    }
    kinds
};

/// The most tokens one character takes on its own.
fn alone(ch: char) -> u32 {
    let code = ch as u32;
    let (block, bit) = ((code >> 6) as usize, code & 63);
    if SINGLE.get(block).is_some_and(|bits| bits >> bit & 1 == 1) {
        return 1;
    }
    match code {
        0..=0x7ff => 2,
        0x800..=0xffff => {
            let two = TWO.get(block >> 6).is_some_and(|bits| bits >> (block & 63) & 1 == 1);
            if two { 2 } else { 3 }
        }
        0x1d000..=0x1dfff | 0x1f000..=0x1ffff => 3,
        _ => 4,
    }
}

/// The script group of a character that is neither ASCII nor Latin nor Cyrillic.
fn script(code: u32, alone: u32) -> usize {
    match code {
        0x300..=0x36f => 0,
        0x370..=0x3ff | 0x1f00..=0x1fff => 1,
        0x590..=0x5ff => 2,
        0x600..=0x6ff => 3,
        0x900..=0x97f => 4,
        0xe00..=0xe7f => 5,
        0x2000..=0x200a | 0x2010..=0x206f => 6,
        0x200b..=0x200f | 0xfe00..=0xfe0f => 7,
        0x2500..=0x257f => 8,
        0x2070..=0x2bff => {
            if alone == 1 {
                23
            } else {
                9
            }
        }
        0x3000..=0x303f | 0xff00..=0xffef => 10,
        0x3040..=0x309f => 11,
        0x30a0..=0x30ff => {
            if alone == 1 {
                12
            } else {
                13
            }
        }
        0x4e00..=0x9fff => match alone {
            1 => 14,
            2 => 15,
            _ => 16,
        },
        0xac00..=0xd7a3 => {
            if alone == 1 {
                17
            } else {
                18
            }
        }
        0x1f1e6..=0x1f1ff => 19,
        0x1f000..=0x1ffff => 20,
        0x80..=0xffff => match alone {
            1 => 23,
            2 => 21,
            _ => 22,
        },
        _ => 22,
    }
}

/// How many of the steps a value has reached.
#[inline(always)]
fn grade(value: u32, steps: [u32; 3]) -> usize {
    let [low, middle, high] = steps;
    usize::from(value >= low) + usize::from(value >= middle) + usize::from(value >= high)
}

/// What has to be remembered between two characters.
#[derive(Debug, Clone, Copy)]
struct Walker {
    kind: usize,
    last: char,
    letter: usize,
    rarity: u32,
    pos: u32,
    strange: u32,
    foreign: u32,
    run: u32,
    digits: u32,
    script: usize,
}

impl Walker {
    fn new() -> Self {
        Self {
            kind: START,
            last: '\0',
            letter: 0,
            rarity: 0,
            pos: 0,
            strange: 0,
            foreign: NEUTRAL,
            run: 0,
            digits: 0,
            script: 99,
        }
    }

    /// The cell of the next character, and its hard bound (0: none).
    #[inline(always)]
    fn step(&mut self, ch: char) -> (usize, u32) {
        self.run = if ch == self.last { self.run.saturating_add(1) } else { 0 };
        self.last = ch;
        let code = ch as u32;
        if let Some(&kind) = KIND_OF.get(code as usize) {
            self.ascii(code as usize, kind as usize)
        } else {
            self.wide(ch)
        }
    }

    #[inline(always)]
    fn ascii(&mut self, code: usize, kind: usize) -> (usize, u32) {
        let before = self.kind;
        self.kind = kind;
        if kind < 2 {
            let letter = code & 31;
            let from = self.letter;
            self.letter = letter;
            if before < 2 {
                let rarity = u32::from(RARITY.get((from * 32 + letter) & 1023).copied().unwrap_or(7));
                let case = before + kind;
                let foreign = self.foreign;
                let level = u32::from(FOREIGNNESS.get((from * 32 + letter) & 1023).copied().unwrap_or(7));
                self.foreign = foreign - foreign / 32 + level * 8;
                let foreign = grade(foreign, [LOW, MIDDLE, HIGH]);
                let cell =
                    LETTERS + (self.letters(rarity, before == 0 && kind == 1) * 4 + foreign) * 3 + case;
                return if self.run >= 2 { (self.run_cell(kind), 0) } else { (cell, 0) };
            }
            self.pos = 0;
            self.rarity = 0;
        } else if kind == 2 {
            if before == 2 {
                self.digits = if self.digits == 2 { 0 } else { self.digits + 1 };
                return (DIGITS + usize::from(self.digits != 0), 0);
            }
            self.digits = 0;
            if before < 2 {
                self.strange = (self.strange + 48).min(400);
            }
        } else if kind == CONTROL && before == CONTROL {
            return (self.run_cell(kind), 1);
        } else if self.run > 0 {
            return (self.run_cell(kind), 0);
        }
        (PAIRS + before * KINDS + kind, 0)
    }

    /// Moves on inside a word; what is returned counts rarity, rarity before, position and strangeness.
    #[inline(always)]
    fn letters(&mut self, rarity: u32, camel: bool) -> usize {
        let strange = grade(self.strange, [50, 110, u32::MAX]);
        self.strange = self.strange - self.strange / 8 + rarity * 4 + u32::from(camel) * 16;
        let pos = grade(self.pos, [1, 3, 6]);
        self.pos = self.pos.saturating_add(1) * u32::from(!camel);
        let previous = grade(self.rarity, [2, 4, u32::MAX]);
        self.rarity = rarity;
        ((rarity as usize * 3 + previous) * 4 + pos) * 3 + strange
    }

    fn run_cell(&self, kind: usize) -> usize {
        let length = match self.run {
            0..=1 => 0,
            2 => 1,
            3 => 2,
            4..=7 => 3,
            _ => 4,
        };
        RUNS + kind * 5 + length
    }

    #[inline(never)]
    fn wide(&mut self, ch: char) -> (usize, u32) {
        let code = ch as u32;
        let before = self.kind;
        let alone = alone(ch);
        if matches!(code, 0xc0..=0x24f | 0x1e00..=0x1eff) {
            self.kind = if alone == 1 { ACCENTED } else { ACCENTED_RARE };
            if alone == 1 && self.run >= 2 {
                return (self.run_cell(self.kind), 0);
            }
            return (PAIRS + before * KINDS + self.kind, if alone == 1 { 0 } else { alone });
        }
        if matches!(code, 0x400..=0x45f) {
            let letter = (code & 31) as usize;
            let from = self.letter;
            self.letter = letter;
            self.kind = CYRILLIC;
            if before == CYRILLIC {
                let rarity = u32::from(RARITY_CYR.get(from * 32 + letter).copied().unwrap_or(7));
                let cell = CYR + self.letters(rarity, false);
                let cell = if self.run >= 2 { self.run_cell(CYRILLIC) } else { cell };
                return (cell, if alone == 1 { 0 } else { alone });
            }
            self.pos = 0;
            self.rarity = 0;
            return (PAIRS + before * KINDS + CYRILLIC, if alone == 1 { 0 } else { alone });
        }
        let script = script(code, alone);
        if before != FOREIGN || script != self.script {
            self.pos = 0;
        } else {
            self.pos = self.pos.saturating_add(1);
        }
        self.kind = FOREIGN;
        self.script = script;
        let pos = match self.pos {
            0 => 0,
            1 => 1,
            2..=3 => 2,
            _ => 3,
        };
        (SCRIPTS + script.min(23) * 4 + pos, alone)
    }
}

/// Share of the statistical part that is added for texts unlike those the cells were counted on, in percent.
const MARGIN_PERCENT: u64 = 10;
/// How many square roots of the statistical part are added, in percent: what chance does to short texts.
const SPREAD_PERCENT: u64 = 190;
/// Added to every text, in thousandths of a token.
const FLOOR_MILLI: u64 = 2000;

/// Measures a text.
///
/// Every character adds something that is never negative and depends only on what stands before it, so
/// appending never lowers `upper_milli`; it stays at or below the number of UTF-8 bytes.
pub fn measure(text: &str) -> TextMeasure {
    Growing::default().with(text).measure()
}

/// A text that is measured while it grows. Its pieces, measured one by one, would cost more: what chance can do to a short
/// text is added to each of them.
#[derive(Debug, Clone, Copy)]
pub struct Growing {
    walker: Walker,
    expected: u64,
    likely: u64,
    hard: u64,
    bytes: u64,
    digits: u64,
}

impl Default for Growing {
    fn default() -> Self {
        Self { walker: Walker::new(), expected: 0, likely: 0, hard: 0, bytes: 0, digits: 0 }
    }
}

impl Growing {
    /// The text and one more piece.
    pub fn with(self, piece: &str) -> Self {
        let Self { mut walker, mut expected, mut likely, mut hard, bytes, digits } = self;
        for ch in piece.chars() {
            let (cell, bound) = walker.step(ch);
            let [mean, high] = COST.get(cell).copied().unwrap_or([1000, 1000]);
            expected += u64::from(mean);
            if bound == 0 {
                likely += u64::from(high);
            } else {
                hard += u64::from(bound) * 1000;
            }
        }
        let bytes = bytes + piece.len() as u64;
        let digits = digits + piece.bytes().filter(u8::is_ascii_digit).count() as u64;
        Self { walker, expected, likely, hard, bytes, digits }
    }

    /// What it costs so far.
    pub fn measure(&self) -> TextMeasure {
        let Self { expected, likely, hard, bytes, digits, .. } = *self;
        let slack =
            likely * MARGIN_PERCENT / 100 + (likely * 1000).isqrt() * SPREAD_PERCENT / 100 + FLOOR_MILLI;
        let upper_milli = (hard + likely + slack).min(bytes * 1000);
        TextMeasure { expected_milli: expected.min(upper_milli), upper_milli, digits }
    }
}

#[cfg(test)]
mod tests {
    use super::tables::{EXPECTED, UPPER};
    use super::*;

    #[test]
    fn nothing_costs_nothing() {
        assert_eq!(measure(""), TextMeasure::default());
    }

    #[test]
    fn digits_are_counted_in_threes() {
        let of = |digits: usize| measure(&"7".repeat(digits)).expected_milli;
        assert_eq!((of(1), of(3), of(4), of(300)), (1000, 1000, 2000, 100_000));
    }

    #[test]
    fn appending_never_lowers_the_upper_bound() {
        let text = "Hello, wörld! HTTPServer x9f3a== 12345\n\t\tПривет, 世界 👩‍💻🇩🇪 ก็ aaaaaaa\u{301}\u{e000}𓀀";
        let mut grown = String::new();
        let mut last = 0;
        for ch in text.chars() {
            grown.push(ch);
            let now = measure(&grown);
            assert!(now.upper_milli >= last && now.expected_milli <= now.upper_milli, "{grown:?}");
            assert!(now.upper_milli <= (grown.len() as u64 + 1) * 1000, "{grown:?}");
            last = now.upper_milli;
        }
    }

    #[test]
    fn noise_costs_more_than_words() {
        let words = measure("the weather in the harbour was calm and the boats came home before the evening");
        let noise = measure("xq7Zk0vPpW3mJ9rTbY5cLd2HsGfN8aUeIo1RzXwQkVtBnMjDhCgSlFyAuEiOp4K6x0ZqWvTrPm");
        assert!(noise.expected_milli > 2 * words.expected_milli);
    }

    #[test]
    fn the_tables_are_complete() {
        assert_eq!((EXPECTED.len(), UPPER.len()), (CELLS, CELLS));
        assert_eq!((alone('的'), alone('é'), alone('\u{e000}'), alone('𓀀'), alone('😀')), (1, 1, 3, 4, 3));
    }
}
