//! How many tokens start at a character of each cell, in each vocabulary, and how far single texts stray from that.
//!
//! Decides nothing: it holds what `scripts/check-tokenizers --fit` counted and unpacks it when it is first needed.

use super::cells::{CELLS, Sort, sort_of};
use std::sync::LazyLock;

/// The vocabularies that were counted or derived, in the order of `Vocabulary`.
pub const COUNTED: usize = 12;
/// The column of Claude since 4.7, which is derived from that of Claude before it.
const CLAUDE_SINCE_47: usize = 3;

/// Thousandths of a token that a character of a cell costs in each vocabulary.
#[derive(Debug, Clone, Copy)]
pub struct Density {
    /// On average.
    pub expected: [u16; COUNTED],
    /// At most, in texts of many such characters.
    pub upper: [u16; COUNTED],
    /// Whether each character may cost as many tokens as it has bytes, besides `upper`.
    pub is_by_bytes: bool,
}

/// One printable character for each cell, as `cost` reads it.
const FILES: [&[u8]; COUNTED] = [
    include_bytes!("tables/o200k.txt"),
    include_bytes!("tables/cl100k.txt"),
    include_bytes!("tables/claude.txt"),
    include_bytes!("tables/claude.txt"),
    include_bytes!("tables/gemma2.txt"),
    include_bytes!("tables/gemma3.txt"),
    include_bytes!("tables/llama3.txt"),
    include_bytes!("tables/qwen.txt"),
    include_bytes!("tables/deepseek.txt"),
    include_bytes!("tables/mistral.txt"),
    include_bytes!("tables/tekken.txt"),
    include_bytes!("tables/command.txt"),
];

/// What is added for texts that stray from the average, in percent: a line for each vocabulary, a number for each `Sort`.
const MARGINS: &str = include_str!("tables/margins.txt");

/// How many percent Claude since 4.7 spends on what Claude before it spends 100 on: most on Latin letters, as people measured
/// (English and German prose 145, French 136, Python 120 to 129, TypeScript 113 to 136, numbers 107, other scripts 100).
const fn claude_since_47(sort: Sort) -> u32 {
    match sort {
        Sort::Latin0 | Sort::Latin1 | Sort::Latin2 | Sort::Latin3 | Sort::Latin4 | Sort::Latin5 => 140,
        Sort::Vietnamese | Sort::Turkish | Sort::Hungarian | Sort::Nordic => 140,
        Sort::WordStart | Sort::WordJoined => 140,
        Sort::Accented => 130,
        Sort::Blank | Sort::Blanks | Sort::Mark | Sort::MarkStart | Sort::Marks => 120,
        Sort::NumberStart | Sort::Digit => 107,
        _ => 100,
    }
}

/// All cells.
pub static DENSITIES: LazyLock<Box<[Density]>> = LazyLock::new(read);

fn read() -> Box<[Density]> {
    let margins: Vec<Vec<u32>> = MARGINS
        .lines()
        .map(|line| line.split_whitespace().filter_map(|word| word.parse().ok()).collect())
        .collect();
    let empty = Density { expected: [0; COUNTED], upper: [0; COUNTED], is_by_bytes: false };
    let mut table = vec![empty; CELLS];
    for (column, file) in FILES.iter().enumerate() {
        let levels = file.iter().filter(|byte| **byte != b'\n');
        for (cell, (density, level)) in table.iter_mut().zip(levels).enumerate() {
            let sort = sort_of(cell);
            let derived = if column == CLAUDE_SINCE_47 { claude_since_47(sort) } else { 100 };
            let expected = cost(*level) * derived / 100;
            let margin = margins.get(column).and_then(|line| line.get(sort as usize)).copied();
            let upper = match sort {
                Sort::Rare => 0,
                Sort::RareStart => 1000,
                _ => expected + expected * margin.unwrap_or(100) / 100,
            };
            density.is_by_bytes = matches!(sort, Sort::Rare | Sort::RareStart);
            if let Some(place) = density.expected.get_mut(column) {
                *place = expected as u16;
            }
            if let Some(place) = density.upper.get_mut(column) {
                *place = upper as u16;
            }
        }
    }
    table.into_boxed_slice()
}

/// The thousandths a table's character stands for: squares, so that `S` is one token and `~` is four.
const fn cost(level: u8) -> u32 {
    let level = level.saturating_sub(b'(') as u32;
    level * level * 1000 / 1849
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_density_in_every_vocabulary() {
        for (vocabulary, file) in FILES.iter().enumerate() {
            let levels: Vec<u8> = file.iter().copied().filter(|byte| *byte != b'\n').collect();
            assert_eq!(levels.len(), CELLS, "vocabulary {vocabulary}");
            assert!(levels.iter().all(|level| (b'('..=b'~').contains(level)), "vocabulary {vocabulary}");
        }
    }

    #[test]
    fn every_sort_has_a_margin_in_every_vocabulary() {
        let lines: Vec<&str> = MARGINS.lines().collect();
        assert_eq!(lines.len(), COUNTED);
        for line in lines {
            let margins: Result<Vec<u32>, _> = line.split(' ').map(str::parse).collect();
            assert_eq!(margins.map(|margins| margins.len()), Ok(Sort::Rare as usize + 1), "{line}");
        }
    }
}
