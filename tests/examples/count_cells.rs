//! Counts how many tokens start at characters of each cell of the text estimate; see `scripts/check-tokenizers --fit`. A blank
//! at the start of a token does not count: what the token is depends on what follows.
//!
//! `count_cells FOLDER NAME TEXTS OUT`: the vocabulary is `FOLDER/NAME.json`, or built in (o200k, cl100k). TEXTS has the folders
//! `prose`, `usual`, `rare` and `noise` with texts. OUT gets a line with what chance adds, a line with the sort of each cell, then
//! a line for each slice: folder and name of the text, its tokens, and for each cell `CELL:BYTES:CHARACTERS:TOKENS`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)] // A fault should stop it; it talks to people.

use oneclaw_context::estimate::text::cells::{CELLS, Walker, sort_of};
use oneclaw_context::estimate::text::{EDGE_MILLI, FLOOR_MILLI, SPREAD_PERCENT};
use oneclaw_sim::LoadedVocabulary;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// How long slices are, in characters, one after the other.
const SIZES: [usize; 5] = [1_200, 300, 4_000, 600, 2_000];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, name, texts, out] = args.as_slice() else {
        println!("usage: count_cells FOLDER NAME TEXTS OUT");
        std::process::exit(2);
    };
    let starts = starts_of(Path::new(folder), name);
    let mut out = std::io::BufWriter::new(std::fs::File::create(out).unwrap());
    writeln!(out, "{} {}", SPREAD_PERCENT, FLOOR_MILLI + EDGE_MILLI).unwrap();
    let sorts: Vec<String> = (0..CELLS).map(|cell| format!("{:?}", sort_of(cell))).collect();
    writeln!(out, "{}", sorts.join(" ")).unwrap();
    for kind in ["prose", "usual", "rare", "noise"] {
        let mut files: Vec<_> = std::fs::read_dir(Path::new(texts).join(kind))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let class = format!("{kind}/{}", file.file_stem().unwrap().to_string_lossy());
            let mut chars = text.chars();
            for size in SIZES.iter().cycle() {
                let slice: String = chars.by_ref().take(*size).collect();
                if slice.is_empty() {
                    break;
                }
                out.write_all(line(&class, &slice, &starts(&slice)).as_bytes()).unwrap();
            }
        }
    }
}

type Starts = Box<dyn Fn(&str) -> Vec<usize>>;

fn starts_of(folder: &Path, name: &str) -> Starts {
    let built_in = match name {
        "o200k" => tiktoken_rs::o200k_base().unwrap(),
        "cl100k" => tiktoken_rs::cl100k_base().unwrap(),
        _ => {
            let vocabulary = LoadedVocabulary::load(&folder.join(format!("{name}.json"))).unwrap();
            return Box::new(move |text| vocabulary.starts(text));
        }
    };
    Box::new(move |text| {
        let mut character_at = vec![0; text.len() + 1];
        for (number, (at, ch)) in text.char_indices().enumerate() {
            character_at[at..at + ch.len_utf8()].fill(number);
        }
        let mut at = 0;
        let start = |token| {
            let start = character_at[at];
            at += built_in.decode_bytes(&[token]).unwrap().len();
            start
        };
        built_in.encode_ordinary(text).into_iter().map(start).collect()
    })
}

fn line(class: &str, slice: &str, starts: &[usize]) -> String {
    let chars: Vec<char> = slice.chars().collect();
    let mut tokens = vec![0_u64; chars.len()];
    for start in starts {
        let last = tokens.len() - 1;
        let start = (*start).min(last);
        let is_blank = matches!(chars[start], ' ' | '\t') && start < last;
        tokens[start + usize::from(is_blank)] += 1;
    }
    let mut walker = Walker::default();
    let mut cells: BTreeMap<usize, (u64, u64, u64)> = BTreeMap::new();
    for (ch, tokens) in chars.into_iter().zip(tokens) {
        let cell = cells.entry(walker.step(ch)).or_default();
        *cell = (cell.0 + ch.len_utf8() as u64, cell.1 + 1, cell.2 + tokens);
    }
    let mut line = format!("{class} {}", starts.len());
    for (cell, (bytes, chars, tokens)) in cells {
        write!(line, " {cell}:{bytes}:{chars}:{tokens}").unwrap();
    }
    line.push('\n');
    line
}
