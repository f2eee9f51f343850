//! Groups of characters: scripts, and within them those that vocabularies know better or worse.
//!
//! Decides which group a character is of; what stands around it is the business of the walker, but for the language it told.

use super::super::characters::{SINGLE, TWO};
use super::sorts::{Sort, family, sort_of_script};
use super::{Language, UNKNOWN_SCRIPT};

/// How common a character is, by the tokens that OpenAI's vocabularies need for it: 1 to 4.
pub(super) fn rarity_of(ch: char) -> u32 {
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

/// Whether it is a point of Arabic or Hebrew.
pub(super) const fn is_point(code: u32) -> bool {
    matches!(code, 0x591..=0x5c7 | 0x64b..=0x65f | 0x670 | 0x6d6..=0x6ed)
}

/// The group of a character that is neither ASCII nor a Latin letter nor common Cyrillic, in a language that was told.
pub(super) fn script(code: u32, rarity: u32, language: Option<Language>, is_pointed: bool) -> usize {
    match code {
        0x64b..=0x65f | 0x670 | 0x6d6..=0x6ed => return 69,
        0x620..=0x6ff if is_pointed => return 68,
        0x591..=0x5c7 => return 71,
        0x5c8..=0x5ff if is_pointed => return 70,
        _ => {}
    }
    match (language, code) {
        (Some(Language::Persian), 0x621..=0x64a | 0x66e..=0x6d5) => return 63,
        (Some(Language::Urdu), 0x621..=0x64a | 0x66e..=0x6d5) => return 67,
        (Some(Language::Uyghur), 0x621..=0x64a | 0x66e..=0x6d5) => return 74,
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
        // Letters and digits of full width, letters of half width.
        0xff10..=0xff19 | 0xff21..=0xff3a | 0xff41..=0xff5a | 0xff66..=0xffdc => 73,
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
pub(super) fn is_jumble(group: usize, before: usize) -> bool {
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
