//! Sorts of cells: for each of them there is a margin by which single texts stray from what a cell costs on average.
//!
//! Decides which cells are of one sort, and which are counted by bytes; not how large the margins are (`densities.rs`).

use super::{
    ACCENTED, ACCENTED_RARE, ACCENTED_TOLD, AFTER_MARKS, CONTROL, CYR, CYR_CAPITALS, CYRILLIC, DIGITS,
    FOREIGN, GRADES, KINDS, LONG_RUN, PAIRS, RUN_LENGTHS, RUNS, SCRIPTS, START, STRANGE_GRADES, VIETNAMESE,
};

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
    /// Arabic and Hebrew with points for the vowels.
    Pointed,
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
    /// Pictures, rare symbols, and letters of full width.
    Symbol,
    /// The same as `Rare` where a word starts: a blank before it may be a token of its own.
    RareStart,
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
    if cell < CYR_CAPITALS {
        return if (cell - CYR).is_multiple_of(STRANGE_GRADES) {
            Sort::Cyrillic
        } else {
            Sort::CyrillicStrange
        };
    }
    if cell < RUNS {
        return Sort::CyrillicStrange;
    }
    if cell < SCRIPTS {
        // Few vocabularies know a letter or a control character many times in a row.
        let (kind, length) = ((cell - RUNS) / RUN_LENGTHS, (cell - RUNS) % RUN_LENGTHS);
        return match sort_of_pair(kind, kind) {
            Sort::Marks if kind == CONTROL || (length >= LONG_RUN && !draws_lines(kind)) => Sort::Rare,
            Sort::WordJoined | Sort::Accented | Sort::Cyrillic => Sort::Rare,
            other => other,
        };
    }
    if cell < DIGITS {
        let (group, place) = ((cell - SCRIPTS) / 4, (cell - SCRIPTS) % 4);
        // One mark over a letter is an accent; more of them stand in no vocabulary.
        return match sort_of_script(group) {
            _ if group == 0 && place > 0 => Sort::Rare,
            Sort::Rare if place == 0 => Sort::RareStart,
            other => other,
        };
    }
    if cell < PAIRS {
        return Sort::Digit;
    }
    if cell >= AFTER_MARKS {
        return Sort::WordJoined;
    }
    sort_of_pair((cell - PAIRS) / KINDS, (cell - PAIRS) % KINDS)
}

pub(super) const fn is_accented(kind: usize) -> bool {
    matches!(kind, ACCENTED | ACCENTED_RARE | ACCENTED_TOLD | VIETNAMESE)
}

pub(super) const fn is_mark(kind: usize) -> bool {
    kind > CONTROL && kind < FOREIGN
}

/// Whether a mark is drawn out to lines: `# * - . / = _`.
const fn draws_lines(kind: usize) -> bool {
    matches!(kind, 9 | 16 | 19 | 20 | 21 | 25 | 33)
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
        ACCENTED_RARE if starts => Sort::RareStart,
        FOREIGN | ACCENTED_RARE => Sort::Rare,
        ACCENTED | ACCENTED_TOLD | VIETNAMESE => Sort::Accented,
        CYRILLIC => Sort::Cyrillic,
        _ if starts => Sort::MarkStart,
        _ if before == CONTROL || is_mark(before) => Sort::Marks,
        _ => Sort::Mark,
    }
}

pub(super) const fn sort_of_script(group: usize) -> Sort {
    match group {
        0..=1 | 50 => Sort::Accented,
        2..=3 | 72 => Sort::Greek,
        4 => Sort::Hebrew,
        5..=7 => Sort::Arabic,
        63 | 67 | 74 => Sort::Persian,
        68..=71 => Sort::Pointed,
        8..=9 => Sort::Caucasian,
        10..=20 => Sort::Indic,
        21..=27 | 64 => Sort::Eastern,
        30 | 33 | 65 => Sort::Han,
        31 | 32 | 66 => Sort::HanRare,
        34..=37 => Sort::Kana,
        38..=39 => Sort::Hangul,
        40..=41 => Sort::Line,
        42..=45 => Sort::Typographic,
        46..=49 | 73 => Sort::Symbol,
        51 => Sort::CyrillicStrange,
        _ => Sort::Rare,
    }
}

/// Sorts of one script, by the first of them.
pub(super) const fn family(sort: Sort) -> usize {
    match sort {
        Sort::Persian => Sort::Arabic as usize,
        Sort::CyrillicStrange => Sort::Cyrillic as usize,
        other => other as usize,
    }
}
