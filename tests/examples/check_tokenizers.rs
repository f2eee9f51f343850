//! Counts the corpora with real vocabularies and says how good the estimates are; see `scripts/check-tokenizers`.
//!
//! `check_tokenizers FOLDER [--write]`: FOLDER has a `NAME.json` for each vocabulary that is not built in. The counts are
//! compared with those kept in `tests/fixtures/counts`, or written there.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // A fault should stop it; it talks to people.

use oneclaw_context::estimate::Vocabulary;
use oneclaw_sim::LoadedVocabulary;
use oneclaw_tests::families::{
    Class, Counts, Group, PUBLISHED, Published, Quality, classes, counts_file, kept_counts, written,
};
use std::path::Path;
use std::process::ExitCode;

/// How many classes are named whose expected size is farthest off: of what is usual and common languages, and of the rest.
const FARTHEST: usize = 4;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (folder, writes) = match args.as_slice() {
        [folder] => (Path::new(folder), false),
        [folder, flag] if flag == "--write" => (Path::new(folder), true),
        _ => {
            println!("usage: check_tokenizers FOLDER [--write]");
            return ExitCode::from(2);
        }
    };
    let classes = classes();
    let slices: usize = classes.iter().map(|class| class.slices.len()).sum();
    println!("{slices} slices of {} classes\n", classes.len());
    println!(
        "| vocabulary | too small | worst | slack: English | code | tool output | common languages | all the rest | as an unknown model: too small | slack: English |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut is_good = true;
    for vocabulary in PUBLISHED {
        let counts = counted(&vocabulary, &classes, folder);
        if writes {
            std::fs::write(counts_file(&vocabulary), written(&counts)).unwrap();
        } else if counts != kept_counts(&vocabulary) {
            println!(
                "{}: the kept counts are not these; run scripts/check-tokenizers --write",
                vocabulary.name
            );
            is_good = false;
        }
        is_good &= said(&vocabulary, &classes, &counts);
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn counted(vocabulary: &Published, classes: &[Class], folder: &Path) -> Counts {
    let count: Box<dyn Fn(&str) -> u64> = match vocabulary.name {
        "o200k" => {
            let bpe = tiktoken_rs::o200k_base().unwrap();
            Box::new(move |text| bpe.encode_ordinary(text).len() as u64)
        }
        "cl100k" => {
            let bpe = tiktoken_rs::cl100k_base().unwrap();
            Box::new(move |text| bpe.encode_ordinary(text).len() as u64)
        }
        name => {
            let loaded = LoadedVocabulary::load(&folder.join(format!("{name}.json")));
            let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
            Box::new(move |text| loaded.count(text))
        }
    };
    let of_class =
        |class: &Class| (class.name.clone(), class.slices.iter().map(|slice| count(slice)).collect());
    classes.iter().map(of_class).collect()
}

/// Prints a row, and what is wrong below it.
fn said(vocabulary: &Published, classes: &[Class], counts: &Counts) -> bool {
    let quality = Quality::of(classes, counts, vocabulary.family);
    let unknown = Quality::of(classes, counts, Vocabulary::Unknown);
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let slack = |group| percent(quality.median_slack(&[group]));
    println!(
        "| {} | {:.2} % | {} | {} | {} | {} | {} | {} | {:.2} % | {} |",
        vocabulary.name,
        quality.short_share() * 100.0,
        percent(quality.worst_short()),
        slack(Group::English),
        slack(Group::Code),
        slack(Group::ToolOutput),
        slack(Group::CommonLanguage),
        slack(Group::Rare),
        unknown.short_share() * 100.0,
        percent(unknown.median_slack(&[Group::English])),
    );
    for (class, share) in &quality.short {
        println!("  {class}: a slice is {} above its upper size", percent(*share));
    }
    let (rare, common): (Vec<_>, Vec<_>) =
        quality.off.iter().partition(|(_, group, _)| *group == Group::Rare);
    for (what, mut off) in [("usual and common", common), ("rare", rare)] {
        off.sort_by(|(_, _, one), (_, _, other)| other.abs().total_cmp(&one.abs()));
        let farthest: Vec<String> = off
            .iter()
            .take(FARTHEST)
            .map(|(class, _, off)| format!("{class} {}{}", if *off < 0.0 { "" } else { "+" }, percent(*off)))
            .collect();
        println!("  farthest off, {what}: {}", farthest.join(", "));
    }
    quality.holds()
}
