//! Which cell of the tables a character belongs to: by what it is, and by what stands before it.
//!
//! Vocabularies of byte pairs cut a text where neighbours rarely meet. The walker goes over the characters once and sorts
//! each into a cell of characters that such vocabularies treat alike; how many tokens start at a character of a cell is
//! counted for each vocabulary (`densities.rs`). Decides nothing about sizes.

mod scripts;
mod sorts;

pub use sorts::{Sort, sort_of};

use super::characters::{RARITY, RARITY_CYR, TRIGRAMS};
use scripts::{is_jumble, is_point, rarity_of, script};
use sorts::{is_accented, is_mark};

/// Kinds of neighbouring characters: lower, upper, digit, space, tab, newline, other control characters, 32
/// punctuation marks, then those below.
const KINDS: usize = 46;
const CONTROL: usize = 6;
const FOREIGN: usize = 39;
const ACCENTED: usize = 40;
const CYRILLIC: usize = 41;
const ACCENTED_RARE: usize = 42;
const VIETNAMESE: usize = 43;
const ACCENTED_TOLD: usize = 44;
const START: usize = 45;
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
/// What stood before a mark that a letter follows, besides letters and digits, with which a mark goes together: a space, or
/// another mark.
const MARKED: usize = 2;
/// From how many in a row on hardly any vocabulary knows a mark that nobody draws lines with, as `run_cell` counts lengths.
const LONG_RUN: usize = 3;
/// How many points there were lately (vowels of Arabic and Hebrew, which most texts leave out): from where on a text is pointed.
const POINTED: u32 = 110;
/// How many groups of characters `script` knows.
const SCRIPT_GROUPS: usize = 76;
/// The group of characters that belong to none.
const UNKNOWN_SCRIPT: usize = SCRIPT_GROUPS - 1;
/// Where each group of cells starts.
const LETTERS: usize = 0;
const CYR: usize = LETTERS + 288 * GRADES * 3;
const CYR_CAPITALS: usize = CYR + 288;
const RUNS: usize = CYR_CAPITALS + 288;
const SCRIPTS: usize = RUNS + KINDS * RUN_LENGTHS;
const DIGITS: usize = SCRIPTS + SCRIPT_GROUPS * 4;
const PAIRS: usize = DIGITS + DIGIT_PLACES;
const AFTER_MARKS: usize = PAIRS + KINDS * KINDS;
/// How many cells there are.
pub const CELLS: usize = AFTER_MARKS + MARKED * KINDS * 2;

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
    /// Urdu and others that have more letters than Persian.
    Urdu,
    /// Uyghur, Kazakh and others that write vowels in Arabic letters.
    Uyghur,
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
        0x679 | 0x688 | 0x691 | 0x6ba | 0x6be | 0x6c1 | 0x6d2 => Tells::Language(Language::Urdu),
        0x6ad | 0x6c7..=0x6c8 | 0x6cb => Tells::Language(Language::Uyghur),
        0x66e..=0x6d5 => Tells::Language(Language::Persian),
        0x1050..=0x109f | 0xaa60..=0xaa7f => Tells::Language(Language::Shan),
        0x3040..=0x30ff => Tells::Language(Language::Japanese),
        _ => Tells::Nothing,
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

/// The place among `MARKED` of what stood before a mark.
const fn marked(earlier: usize) -> Option<usize> {
    match earlier {
        3 => Some(0),
        _ if is_mark(earlier) => Some(1),
        _ => None,
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
    /// What stood before the last character.
    earlier: usize,
    last: char,
    /// The last letter, and the two before it as an index into `TRIGRAMS`, as far as they stand in one word.
    letter: usize,
    trigram: usize,
    word: u32,
    rarity: u32,
    pos: u32,
    strange: u32,
    points: u32,
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
            earlier: START,
            last: '\0',
            letter: 0,
            trigram: 0,
            word: 0,
            rarity: 0,
            pos: 0,
            strange: 0,
            points: 0,
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
        let earlier = std::mem::replace(&mut self.earlier, before);
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
            if is_mark(before)
                && let Some(place) = marked(earlier)
            {
                return AFTER_MARKS + (place * KINDS + before) * 2 + kind;
            }
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
        self.earlier = before;
        let rarity = rarity_of(ch);
        match tells(code, self.run > 0) {
            // Urdu and Uyghur have the letters that tell Persian, too.
            Tells::Language(Language::Persian)
                if matches!(self.language, Some(Language::Urdu | Language::Uyghur)) =>
            {
                self.forget_language();
            }
            Tells::Language(language) => (self.language, self.told) = (Some(language), TOLD_FOR),
            Tells::Another => self.language = None,
            Tells::Nothing if code > 0x24f => self.forget_language(),
            Tells::Nothing => {}
        }
        if matches!(code, 0xc0..=0x24f | 0x1e00..=0x1eff) {
            self.spell(ACCENT, before);
            self.kind = match code {
                0x1ea0..=0x1ef9 | 0x1a0..=0x1a1 | 0x1af..=0x1b0 => VIETNAMESE,
                _ if self.grade() >= DENSITY_GRADES => ACCENTED_TOLD,
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
                let case = if code < 0x430 { CYR_CAPITALS } else { CYR };
                let cell = case + self.letters(pair, false);
                return if self.run >= 2 { self.run_cell(CYRILLIC) } else { cell };
            }
            self.pos = 0;
            self.rarity = 0;
            return PAIRS + before * KINDS + CYRILLIC;
        }
        let is_point = is_point(code);
        self.points = if is_point { (self.points + 48).min(400) } else { self.points - self.points / 8 };
        let script = script(code, rarity, self.language, self.points >= POINTED);
        // Points and further capitals stand inside of words.
        let base = match script {
            68 | 69 => 5,
            70 | 71 => 4,
            other => other,
        };
        let is_capital = base == 2 && matches!(code, 0x386..=0x3ab) && before == FOREIGN && self.script == 2;
        let script = if is_capital { 72 } else { script };
        // Letters of one script amid those of another are in no vocabulary together, and the same one again and again is in
        // few; lines are drawn so.
        let is_again = self.run >= 2 && !matches!(script, 40..=42);
        if is_again || (before == FOREIGN && is_jumble(base, self.script)) {
            self.script = base;
            self.pos = 0;
            return SCRIPTS + UNKNOWN_SCRIPT * 4 + 3;
        }
        if before != FOREIGN || base != self.script {
            self.pos = 0;
        } else {
            self.pos = self.pos.saturating_add(1);
        }
        self.kind = FOREIGN;
        self.script = base;
        let pos = match self.pos {
            0 => 0,
            1 => 1,
            2..=3 => 2,
            _ => 3,
        };
        SCRIPTS + script.min(SCRIPT_GROUPS - 1) * 4 + pos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The cell of the last character.
    fn last_cell(text: &str) -> usize {
        let mut walker = Walker::default();
        text.chars().map(|ch| walker.step(ch)).last().unwrap()
    }

    fn last_sort(text: &str) -> Sort {
        sort_of(last_cell(text))
    }

    #[test]
    fn a_letter_after_a_mark_is_told_by_what_stands_before_the_mark() {
        let [after_word, after_space, after_mark] = ["a(b", "a (b", "a((b"].map(last_cell);
        assert!(after_word != after_space && after_space != after_mark && after_mark != after_word);
        // A mark goes together with a letter wherever no space or mark is before it.
        assert_eq!([last_cell("(b"), last_cell("1(b"), last_cell("\n(b"), last_cell("é(b")], [after_word; 4]);
        for text in ["a(b", "a (b", "a((b", "a (B"] {
            assert_eq!(last_sort(text), Sort::WordJoined, "{text}");
        }
    }

    #[test]
    fn long_runs_of_marks_are_taken_at_their_bytes_unless_lines_are_drawn_with_them() {
        for mark in (33_u8..127).map(char::from).filter(char::is_ascii_punctuation) {
            let run = |times| mark.to_string().repeat(times);
            let draws_lines = "#*-./=_".contains(mark);
            assert_eq!(last_sort(&run(4)), Sort::Marks, "{mark}");
            for times in [5, 8, 16, 17, 500] {
                assert_eq!(last_sort(&run(times)) == Sort::Rare, !draws_lines, "{mark} {times}");
            }
        }
    }

    #[test]
    fn capitals_inside_of_words_are_cells_of_their_own() {
        for (small, capital) in [("слов", "СЛОВ"), ("όνομα", "ΟΝΟΜΑ"), ("name", "NAME")] {
            assert_ne!(last_cell(small), last_cell(capital), "{capital}");
        }
        // The first letter is not told apart, nor are those after it.
        assert_eq!(last_cell("Слов"), last_cell("слов"));
        assert_eq!(last_cell("Γη"), last_cell("γη"));
    }

    #[test]
    fn points_tell_pointed_texts() {
        assert_eq!(last_sort("كتاب"), Sort::Arabic);
        assert_eq!(last_sort("كِتَابُ الْعِلْم"), Sort::Pointed);
        assert_eq!(last_sort("ספר"), Sort::Hebrew);
        assert_eq!(last_sort("בְּרֵאשִׁית בָּר"), Sort::Pointed);
        // A single point, as in ordinary texts, tells nothing of the letters after it.
        assert_eq!(last_sort("شكرًا كتاب"), Sort::Arabic);
        // A text is no longer pointed when the points end.
        assert_eq!(last_sort(&format!("كِتَابُ الْعِلْم{}", " كتاب".repeat(20))), Sort::Arabic);
    }

    #[test]
    fn urdu_and_uyghur_are_told_from_persian() {
        let urdu = last_cell("یہ ایک اچھی کتاب ہے اور ا");
        let persian = last_cell("این یک کتاب خوب است که پیدا ا");
        let arabic = last_cell("هذا كتاب جيد ا");
        let uyghur = last_cell("بۇ بىر ياخشى كىتاب ۋە پايدىلىق ا");
        let cells = std::collections::BTreeSet::from([urdu, persian, arabic, uyghur]);
        assert_eq!(cells.len(), 4);
    }

    #[test]
    fn a_mark_over_a_letter_is_an_accent_and_those_on_top_of_it_are_not() {
        assert_eq!(last_sort("e\u{301}"), Sort::Accented);
        assert_eq!(last_sort("e\u{301}\u{334}"), Sort::Rare);
    }

    #[test]
    fn rare_characters_are_told_where_a_word_starts() {
        assert_eq!([last_sort(" \u{a500}"), last_sort("\u{a500}\u{a501}")], [Sort::RareStart, Sort::Rare]);
        assert_eq!([last_sort(" ĕ"), last_sort("aĕ")], [Sort::RareStart, Sort::Rare]);
    }

    #[test]
    fn every_character_has_a_cell() {
        for before in ["a", " ", "9", "(", " (", "é", "с", "世", "כְ", "كِ", "\0"] {
            let mut start = Walker::default();
            for ch in before.chars() {
                start.step(ch);
            }
            for ch in ('\0'..='\u{ffff}').chain(('\u{10000}'..=char::MAX).step_by(0x20)) {
                let mut walker = start;
                assert!((0..4).all(|_| walker.step(ch) < CELLS), "{before:?} {ch:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_text_has_cells(text in proptest::collection::vec(any::<char>(), 0..200)) {
            let mut walker = Walker::default();
            prop_assert!(text.into_iter().all(|ch| walker.step(ch) < CELLS));
        }
    }
}
