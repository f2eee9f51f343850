//! Which cell of the tables a character belongs to: by what it is, and by what stands before it.
//!
//! Vocabularies of byte pairs cut a text where neighbours rarely meet. The walker goes over the characters once and sorts
//! each into a cell of characters that such vocabularies treat alike; how many tokens start at a character of a cell is
//! counted for each vocabulary (`densities.rs`). Decides nothing about sizes.

use super::characters::{RARITY, RARITY_CYR, SINGLE, TRIGRAMS, TWO};

/// Kinds of neighbouring characters: lower, upper, digit, space, tab, newline, other control characters, 32
/// punctuation marks, then those below.
const KINDS: usize = 45;
const CONTROL: usize = 6;
const FOREIGN: usize = 39;
const ACCENTED: usize = 40;
const CYRILLIC: usize = 41;
const ACCENTED_RARE: usize = 42;
const VIETNAMESE: usize = 43;
const START: usize = 44;
/// How densely the text is cut around its last letters (`TRIGRAMS`), averaged over about 32 of them, 256 to a level: where a
/// text starts, and the bounds of the grades.
const NEUTRAL: u32 = 500;
const GRADE_BOUNDS: [u32; 5] = [330, 480, 660, 880, 1_120];
const DENSITY_GRADES: usize = GRADE_BOUNDS.len() + 1;
/// The grades by density, and one for each `Language` of Latin letters.
const GRADES: usize = DENSITY_GRADES + LATIN_LANGUAGES;
/// For how many words, or for how many characters of a script without blanks, a letter tells the language.
const TOLD_FOR: u32 = 24;
/// How strange the last letters were: the bounds of the grades.
const STRANGE_BOUNDS: [u32; 2] = [50, 110];
const STRANGE_GRADES: usize = STRANGE_BOUNDS.len() + 1;
/// Any letter with an accent, in `TRIGRAMS`.
const ACCENT: usize = 26;
/// How many lengths of runs of one character are told apart.
const RUN_LENGTHS: usize = 7;
/// How many places of digits in a number are told apart.
const DIGIT_PLACES: usize = 12;
/// How many groups of characters `script` knows.
const SCRIPT_GROUPS: usize = 68;
/// The group of characters that belong to none.
const UNKNOWN_SCRIPT: usize = SCRIPT_GROUPS - 1;
/// Where each group of cells starts.
const LETTERS: usize = 0;
const CYR: usize = LETTERS + 288 * GRADES * 3;
const RUNS: usize = CYR + 288;
const SCRIPTS: usize = RUNS + KINDS * RUN_LENGTHS;
const DIGITS: usize = SCRIPTS + SCRIPT_GROUPS * 4;
const PAIRS: usize = DIGITS + DIGIT_PLACES;
/// How many cells there are.
pub const CELLS: usize = PAIRS + KINDS * KINDS;

/// Languages that are told by a letter which others in the same script do not have, and that vocabularies know better or worse
/// than these. Those of Latin letters come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Language {
    Vietnamese,
    Turkish,
    Hungarian,
    /// Swedish, Danish, Norwegian; and Finnish, by its double letters.
    Nordic,
    /// Persian and others that have more letters than Arabic.
    Persian,
    /// Shan, Karen and others that have more letters than Burmese.
    Shan,
    /// Chinese characters with kana around them.
    Japanese,
}

const LATIN_LANGUAGES: usize = Language::Nordic as usize + 1;

/// What a character says about the language of the letters around it.
enum Tells {
    Nothing,
    /// It is this one.
    Language(Language),
    /// It is none of them, although some of its letters are theirs.
    Another,
}

/// What a character says that is the same as the one before it, or not.
fn tells(code: u32, is_again: bool) -> Tells {
    match code {
        // Letters with two marks, and with a horn. Those with a dot below are also Yoruba's and Igbo's.
        0x1a0..=0x1a1
        | 0x1af..=0x1b0
        | 0x1ea4..=0x1eb7
        | 0x1ebe..=0x1ec7
        | 0x1ed0..=0x1ee3
        | 0x1ee8..=0x1ef1 => Tells::Language(Language::Vietnamese),
        0x11e..=0x11f | 0x130..=0x131 => Tells::Language(Language::Turkish),
        0x150..=0x151 | 0x170..=0x171 => Tells::Language(Language::Hungarian),
        0xc5 | 0xe5 => Tells::Language(Language::Nordic),
        0xe4 if is_again => Tells::Language(Language::Nordic),
        // Of Azeri, Tatar and Estonian.
        0x18f | 0x259 | 0x147..=0x148 | 0xd1 | 0xf1 | 0xd5 | 0xf5 => Tells::Another,
        0x66e..=0x6d5 => Tells::Language(Language::Persian),
        0x1050..=0x109f | 0xaa60..=0xaa7f => Tells::Language(Language::Shan),
        0x3040..=0x30ff => Tells::Language(Language::Japanese),
        _ => Tells::Nothing,
    }
}

/// Kinds of cells that differ in how far a single text strays from the average.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Sort {
    /// Latin letters where vocabularies know the words best, as in English and code.
    Latin0,
    /// Latin letters, second grade.
    Latin1,
    /// Latin letters, third grade.
    Latin2,
    /// Latin letters, fourth grade.
    Latin3,
    /// Latin letters, fifth grade.
    Latin4,
    /// Latin letters where vocabularies know hardly a word.
    Latin5,
    /// Vietnamese.
    Vietnamese,
    /// Turkish.
    Turkish,
    /// Hungarian.
    Hungarian,
    /// Swedish, Danish, Norwegian, Finnish.
    Nordic,
    /// The first letter of a word after a blank.
    WordStart,
    /// A letter after a digit or a mark.
    WordJoined,
    /// The first digit of a number.
    NumberStart,
    /// Further digits.
    Digit,
    /// A blank, tab or line end.
    Blank,
    /// One after another.
    Blanks,
    /// Punctuation and control characters of ASCII after a letter or a digit.
    Mark,
    /// The same after a blank.
    MarkStart,
    /// The same after another.
    Marks,
    /// Letters with accents, and what follows them.
    Accented,
    /// Cyrillic as in Russian.
    Cyrillic,
    /// Cyrillic amid letters and pairs that Russian does not have.
    CyrillicStrange,
    /// Greek.
    Greek,
    /// Hebrew.
    Hebrew,
    /// Arabic.
    Arabic,
    /// Arabic letters in Persian, Urdu and others.
    Persian,
    /// Armenian, Georgian.
    Caucasian,
    /// Scripts of India.
    Indic,
    /// Thai, Lao, Khmer, Burmese, Tibetan, Ethiopic.
    Eastern,
    /// Chinese characters that are common.
    Han,
    /// Chinese characters that are not.
    HanRare,
    /// Kana and their punctuation.
    Kana,
    /// Korean.
    Hangul,
    /// Lines and blocks to draw with.
    Line,
    /// Quotation marks, dashes, signs.
    Typographic,
    /// Pictures and rare symbols.
    Symbol,
    /// Everything else: no vocabulary is known to have it.
    Rare,
}

/// The sort of a cell.
pub const fn sort_of(cell: usize) -> Sort {
    if cell < CYR {
        return match (cell / 3) % GRADES {
            0 => Sort::Latin0,
            1 => Sort::Latin1,
            2 => Sort::Latin2,
            3 => Sort::Latin3,
            4 => Sort::Latin4,
            5 => Sort::Latin5,
            6 => Sort::Vietnamese,
            7 => Sort::Turkish,
            8 => Sort::Hungarian,
            _ => Sort::Nordic,
        };
    }
    if cell < RUNS {
        return if (cell - CYR).is_multiple_of(STRANGE_GRADES) {
            Sort::Cyrillic
        } else {
            Sort::CyrillicStrange
        };
    }
    if cell < SCRIPTS {
        // Few vocabularies know a letter or a control character many times in a row, or a mark that nobody draws lines with.
        let (kind, length) = ((cell - RUNS) / RUN_LENGTHS, (cell - RUNS) % RUN_LENGTHS);
        return match sort_of_pair(kind, kind) {
            Sort::Marks if kind == CONTROL || (length >= 3 && !is_drawn_with(kind)) => Sort::Rare,
            Sort::WordJoined | Sort::Accented | Sort::Cyrillic => Sort::Rare,
            other => other,
        };
    }
    if cell < DIGITS {
        return sort_of_script((cell - SCRIPTS) / 4);
    }
    if cell < PAIRS {
        return Sort::Digit;
    }
    sort_of_pair((cell - PAIRS) / KINDS, (cell - PAIRS) % KINDS)
}

/// Whether a mark often stands many times in a row: ! # * + , - . / : = ? _ ~ < >.
const fn is_drawn_with(kind: usize) -> bool {
    matches!(kind, 7 | 9 | 16..=22 | 24..=27 | 33 | 38)
}

const fn is_accented(kind: usize) -> bool {
    matches!(kind, ACCENTED | ACCENTED_RARE | VIETNAMESE)
}

const fn is_blank(kind: usize) -> bool {
    matches!(kind, 3..=5)
}

/// The sort of a character of a kind after one of another.
const fn sort_of_pair(before: usize, kind: usize) -> Sort {
    let starts = is_blank(before) || before == START;
    match kind {
        0 | 1 if is_accented(before) => Sort::Accented,
        0 | 1 if starts => Sort::WordStart,
        0 | 1 => Sort::WordJoined,
        2 => Sort::NumberStart,
        3..=5 if is_blank(before) => Sort::Blanks,
        3..=5 => Sort::Blank,
        FOREIGN | ACCENTED_RARE => Sort::Rare,
        ACCENTED | VIETNAMESE => Sort::Accented,
        CYRILLIC => Sort::Cyrillic,
        _ if starts => Sort::MarkStart,
        _ if before >= CONTROL && before < FOREIGN => Sort::Marks,
        _ => Sort::Mark,
    }
}

const fn sort_of_script(group: usize) -> Sort {
    match group {
        0..=1 | 50 => Sort::Accented,
        2..=3 => Sort::Greek,
        4 => Sort::Hebrew,
        5..=7 => Sort::Arabic,
        63 => Sort::Persian,
        8..=9 => Sort::Caucasian,
        10..=20 => Sort::Indic,
        21..=27 | 64 => Sort::Eastern,
        30 | 33 | 65 => Sort::Han,
        31 | 32 | 66 => Sort::HanRare,
        34..=37 => Sort::Kana,
        38..=39 => Sort::Hangul,
        40..=41 => Sort::Line,
        42..=45 => Sort::Typographic,
        46..=49 => Sort::Symbol,
        51 => Sort::CyrillicStrange,
        _ => Sort::Rare,
    }
}

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

/// How common a character is, by the tokens that OpenAI's vocabularies need for it: 1 to 4.
fn rarity_of(ch: char) -> u32 {
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

/// The group of a character that is neither ASCII nor a Latin letter nor common Cyrillic, in a language that was told.
fn script(code: u32, rarity: u32, language: Option<Language>) -> usize {
    match (language, code) {
        (Some(Language::Persian), 0x621..=0x64a | 0x66e..=0x6d5) => return 63,
        (Some(Language::Shan), 0x1000..=0x109f | 0xaa60..=0xaa7f) => return 64,
        (Some(Language::Japanese), 0x4e00..=0x9fff) => return if rarity == 1 { 65 } else { 66 },
        _ => {}
    }
    match code {
        0x80..=0x9f => UNKNOWN_SCRIPT,
        // Marks that are put over other letters, and letters of phonetics.
        0x300..=0x36f => 0,
        0x250..=0x2ff => 1,
        0x370..=0x3ff => 2,
        0x1f00..=0x1fff => 3,
        // Digits of other scripts.
        0x660..=0x669 | 0x6f0..=0x6f9 | 0x966..=0x96f | 0x9e6..=0x9ef | 0xe50..=0xe59 => 27,
        0x590..=0x5ff => 4,
        0x600..=0x6ff if rarity == 1 => 5,
        0x600..=0x6ff => 6,
        0x750..=0x77f | 0xfb50..=0xfdef | 0xfe70..=0xfeff => 7,
        0x530..=0x58f => 8,
        0x10a0..=0x10ff | 0x1c90..=0x1cbf => 9,
        0x900..=0x97f => 10,
        0x980..=0x9ff => 11,
        0xa00..=0xa7f => 12,
        0xa80..=0xaff => 13,
        0xb00..=0xb7f => 14,
        0xb80..=0xbff => 15,
        0xc00..=0xc7f => 16,
        0xc80..=0xcff => 17,
        0xd00..=0xd7f => 18,
        0xd80..=0xdff => 19,
        0x1c50..=0x1c7f | 0xabc0..=0xabff => 20,
        0xe00..=0xe7f => 21,
        0xe80..=0xeff => 22,
        0x1780..=0x17ff => 23,
        0x1000..=0x109f => 24,
        0xf00..=0xfff => 25,
        0x1200..=0x139f => 26,
        0x4e00..=0x9fff => match rarity {
            1 => 30,
            2 => 31,
            _ => 32,
        },
        0x3000..=0x303f => 33,
        0x3040..=0x309f => 34,
        0x30a0..=0x30ff if rarity == 1 => 35,
        0x30a0..=0x30ff => 36,
        0xff00..=0xffef => 37,
        0xac00..=0xd7a3 if rarity == 1 => 38,
        // Syllables that hardly any word has.
        0xac00..=0xd7a3 if rarity > 2 => 28,
        0xac00..=0xd7a3 => 39,
        0x2500..=0x257f => 40,
        0x2580..=0x25ff => 41,
        0x2000..=0x200a | 0x2010..=0x206f if rarity == 1 => 42,
        0x200b..=0x200f | 0xfe00..=0xfe0f => 43,
        0xa0..=0xbf | 0x20a0..=0x214f if rarity == 1 => 44,
        0x2000..=0x24ff => 45,
        0x2600..=0x27bf => 46,
        0x27c0..=0x2bff => 47,
        0x1f1e6..=0x1f1ff | 0x1f3fb..=0x1f3ff => 48,
        0x1f000..=0x1ffff => 49,
        0xa0..=0xbf => 50,
        0x460..=0x52f => 51,
        0x1d000..=0x1dfff => 52,
        0x13a0..=0x13ff => 53,
        0x1400..=0x167f => 54,
        0x1800..=0x18af => 55,
        0x2c00..=0x2dff => 56,
        0x3100..=0x33ff => 57,
        0x3400..=0x4dbf => 58,
        0xa000..=0xa4cf => 59,
        0xe000..=0xf8ff => 60,
        0x20000..=0x3ffff => 61,
        0x10000..=0x10fff | 0x16800..=0x16fff => 62,
        _ => UNKNOWN_SCRIPT,
    }
}

/// Whether characters of two groups stand side by side in no ordinary text.
fn is_jumble(group: usize, before: usize) -> bool {
    let (sort, before) = (sort_of_script(group), sort_of_script(before));
    let goes_with_any = |sort: Sort| {
        matches!(
            sort,
            Sort::Line
                | Sort::Typographic
                | Sort::Symbol
                | Sort::Accented
                | Sort::Han
                | Sort::HanRare
                | Sort::Kana
                | Sort::Rare
        )
    };
    family(sort) != family(before) && !goes_with_any(sort) && !goes_with_any(before)
}

/// Sorts of one script, by the first of them.
const fn family(sort: Sort) -> usize {
    match sort {
        Sort::Persian => Sort::Arabic as usize,
        Sort::CyrillicStrange => Sort::Cyrillic as usize,
        other => other as usize,
    }
}

/// How many of the steps a value has reached.
#[inline(always)]
fn grade<const N: usize>(value: u32, steps: [u32; N]) -> usize {
    steps.into_iter().map(|step| usize::from(value >= step)).sum()
}

/// What has to be remembered between two characters.
#[derive(Debug, Clone, Copy)]
pub struct Walker {
    kind: usize,
    last: char,
    /// The last letter, and the two before it as an index into `TRIGRAMS`, as far as they stand in one word.
    letter: usize,
    trigram: usize,
    word: u32,
    rarity: u32,
    pos: u32,
    strange: u32,
    density: u32,
    run: u32,
    digits: usize,
    script: usize,
    language: Option<Language>,
    /// For how much longer it holds.
    told: u32,
}

impl Default for Walker {
    fn default() -> Self {
        Self {
            kind: START,
            last: '\0',
            letter: 0,
            trigram: 0,
            word: 0,
            rarity: 0,
            pos: 0,
            strange: 0,
            density: NEUTRAL,
            run: 0,
            digits: 0,
            script: usize::MAX,
            language: None,
            told: 0,
        }
    }
}

impl Walker {
    /// The cell of the next character.
    #[inline(always)]
    pub fn step(&mut self, ch: char) -> usize {
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
    fn ascii(&mut self, code: usize, kind: usize) -> usize {
        let before = self.kind;
        self.kind = kind;
        if kind < 2 {
            let letter = code & 31;
            let from = self.letter;
            self.letter = letter;
            self.spell(letter - 1, before);
            if before < 2 {
                let rarity = u32::from(RARITY.get((from * 32 + letter) & 1023).copied().unwrap_or(7));
                let case = before + kind;
                let dense = self.grade();
                let cell =
                    LETTERS + (self.letters(rarity, before == 0 && kind == 1) * GRADES + dense) * 3 + case;
                return if self.run >= 2 { self.run_cell(kind) } else { cell };
            }
            self.pos = 0;
            self.rarity = 0;
            self.forget_language();
        } else if kind == 2 {
            if before == 2 {
                let place = self.digits;
                // Numbers are cut in threes, where they are cut regularly at all.
                self.digits = if place + 1 == DIGIT_PLACES { DIGIT_PLACES - 3 } else { place + 1 };
                return DIGITS + place;
            }
            self.digits = 0;
            if before < 2 {
                self.strange = (self.strange + 48).min(400);
            }
        } else if self.run > 0 || (kind == CONTROL && before == CONTROL) {
            return self.run_cell(kind);
        }
        PAIRS + before * KINDS + kind
    }

    /// How densely Latin letters are cut here, or in which language they are.
    #[inline(always)]
    fn grade(&self) -> usize {
        match self.language {
            Some(language) if (language as usize) < LATIN_LANGUAGES => DENSITY_GRADES + language as usize,
            _ => grade(self.density, GRADE_BOUNDS),
        }
    }

    #[inline(always)]
    fn forget_language(&mut self) {
        self.told = self.told.saturating_sub(1);
        if self.told == 0 {
            self.language = None;
        }
    }

    /// Takes a Latin letter, a to z or [`ACCENT`], for what is known of three in a row.
    #[inline(always)]
    fn spell(&mut self, letter: usize, before: usize) {
        let goes_on = before < 2 || is_accented(before);
        self.word = if goes_on { self.word.saturating_add(1) } else { 0 };
        self.trigram = (self.trigram % (27 * 27)) * 27 + letter;
        if self.word >= 2 {
            let level = u32::from(TRIGRAMS.get(self.trigram).copied().unwrap_or(9));
            self.density = self.density - self.density / 32 + level * 8;
        }
    }

    /// Moves on inside a word; what is returned counts rarity, rarity before, position and strangeness.
    #[inline(always)]
    fn letters(&mut self, rarity: u32, camel: bool) -> usize {
        let strange = grade(self.strange, STRANGE_BOUNDS);
        self.strange = self.strange - self.strange / 8 + rarity * 4 + u32::from(camel) * 16;
        let pos = grade(self.pos, [1, 3, 6]);
        self.pos = self.pos.saturating_add(1) * u32::from(!camel);
        let previous = grade(self.rarity, [2, 4]);
        self.rarity = rarity;
        ((rarity as usize * 3 + previous) * 4 + pos) * STRANGE_GRADES + strange
    }

    fn run_cell(&self, kind: usize) -> usize {
        let length = match self.run {
            0..=1 => 0,
            2 => 1,
            3 => 2,
            4..=7 => 3,
            8..=15 => 4,
            16..=31 => 5,
            _ => 6,
        };
        RUNS + kind * RUN_LENGTHS + length
    }

    #[inline(never)]
    fn wide(&mut self, ch: char) -> usize {
        let code = ch as u32;
        let before = self.kind;
        let rarity = rarity_of(ch);
        match tells(code, self.run > 0) {
            Tells::Language(language) => (self.language, self.told) = (Some(language), TOLD_FOR),
            Tells::Another => self.language = None,
            Tells::Nothing if code > 0x24f => self.forget_language(),
            Tells::Nothing => {}
        }
        if matches!(code, 0xc0..=0x24f | 0x1e00..=0x1eff) {
            self.spell(ACCENT, before);
            self.kind = match code {
                0x1ea0..=0x1ef9 | 0x1a0..=0x1a1 | 0x1af..=0x1b0 => VIETNAMESE,
                _ if rarity == 1 => ACCENTED,
                _ => ACCENTED_RARE,
            };
            if self.run >= 2 {
                return self.run_cell(self.kind);
            }
            return PAIRS + before * KINDS + self.kind;
        }
        if matches!(code, 0x400..=0x45f) {
            let letter = (code & 31) as usize;
            let from = self.letter;
            self.letter = letter;
            self.kind = CYRILLIC;
            if code >= 0x450 {
                // Russian has none of these letters, and vocabularies know Russian best.
                self.strange = (self.strange + 96).min(400);
            }
            if before == CYRILLIC {
                let pair = u32::from(RARITY_CYR.get(from * 32 + letter).copied().unwrap_or(7));
                let cell = CYR + self.letters(pair, false);
                return if self.run >= 2 { self.run_cell(CYRILLIC) } else { cell };
            }
            self.pos = 0;
            self.rarity = 0;
            return PAIRS + before * KINDS + CYRILLIC;
        }
        let script = script(code, rarity, self.language);
        // Letters of one script amid those of another are in no vocabulary together, and the same one again and again is in
        // few; lines are drawn so.
        let is_again = self.run >= 2 && !matches!(script, 40..=42);
        if is_again || (before == FOREIGN && is_jumble(script, self.script)) {
            self.script = script;
            self.pos = 0;
            return SCRIPTS + UNKNOWN_SCRIPT * 4 + 3;
        }
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
        SCRIPTS + script.min(SCRIPT_GROUPS - 1) * 4 + pos
    }
}
