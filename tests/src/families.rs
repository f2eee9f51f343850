//! Corpora cut into slices, and what each family of vocabularies counts for them.
//!
//! The counts are kept in `fixtures/counts`, one file for each vocabulary, so that tests need no vocabulary at hand;
//! `scripts/check-tokenizers` counts anew with the vocabularies themselves and compares.

use oneclaw_context::estimate::Vocabulary;
use oneclaw_context::estimate::text::{self, TextMeasure};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How long slices are, in characters, one after the other.
const SIZES: [usize; 4] = [1_200, 400, 2_000, 700];
/// A shorter rest is left out.
const LEAST: usize = 200;

/// At most one slice in a thousand may be larger than its upper size, and none by more than this share.
const SHORT_SHARE: f64 = 0.001;
const WORST_SHORT: f64 = 0.02;

/// A vocabulary that was counted with, the family it belongs to, and a model of it.
#[derive(Debug, Clone, Copy)]
pub struct Published {
    /// The name of its file.
    pub name: &'static str,
    /// Its family.
    pub family: Vocabulary,
    /// A model that has it.
    pub model: &'static str,
}

/// All that can be had by package name.
pub const PUBLISHED: [Published; 11] = [
    Published { name: "o200k", family: Vocabulary::O200k, model: "gpt-4o" },
    Published { name: "cl100k", family: Vocabulary::Cl100k, model: "gpt-4" },
    Published { name: "claude", family: Vocabulary::Claude, model: "claude-2.1" },
    Published { name: "gemma2", family: Vocabulary::Gemma2, model: "gemma-2-27b-it" },
    Published { name: "gemma3", family: Vocabulary::Gemma3, model: "gemma-3-27b-it" },
    Published { name: "llama3", family: Vocabulary::Llama3, model: "llama-3.3-70b-instruct" },
    Published { name: "qwen3", family: Vocabulary::Qwen, model: "qwen3-32b" },
    Published { name: "deepseek", family: Vocabulary::DeepSeek, model: "deepseek-v3" },
    Published { name: "mistral", family: Vocabulary::Mistral, model: "mistral-7b-instruct" },
    Published { name: "tekken", family: Vocabulary::Tekken, model: "mistral-nemo" },
    Published { name: "command", family: Vocabulary::Command, model: "command-r-plus" },
];

/// A class of texts.
#[derive(Debug, Clone)]
pub struct Class {
    /// The name of its file.
    pub name: String,
    /// Its text, cut into slices.
    pub slices: Vec<String>,
}

/// What a class is, for what is asked of estimates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Prose in English.
    English,
    /// Programs.
    Code,
    /// What tools return: logs, listings, data.
    ToolOutput,
    /// Prose in the languages that most people write.
    CommonLanguage,
    /// Everything else.
    Rare,
}

fn folder(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")).join(name)
}

/// All classes, by name.
pub fn classes() -> Vec<Class> {
    let entries = std::fs::read_dir(folder("corpus")).expect("the folder of corpora");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a corpus").path()).collect();
    files.sort();
    files
        .iter()
        .filter(|file| file.extension().is_some_and(|end| end == "txt"))
        .map(|file| class(file))
        .collect()
}

fn class(file: &std::path::Path) -> Class {
    let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut chars = text.chars();
    let sizes = SIZES.iter().cycle();
    let slices = sizes
        .map(|size| chars.by_ref().take(*size).collect::<String>())
        .take_while(|slice| !slice.is_empty());
    Class { name, slices: slices.filter(|slice| slice.chars().count() >= LEAST).collect() }
}

impl Class {
    /// What it is, by its name.
    pub fn group(&self) -> Group {
        const ENGLISH: [&str; 9] = [
            "english",
            "markdown",
            "poem_english",
            "legal_english",
            "dialogue_english",
            "scientific_english",
            "minutes_of_meeting",
            "email_thread",
            "holdout_english",
        ];
        const TOOL_OUTPUT: [&str; 18] = [
            "json_records",
            "json_minified",
            "json_nested_pretty",
            "holdout_json",
            "logs",
            "log_kubernetes",
            "bash_session",
            "git_diff",
            "stack_traces",
            "compiler_errors",
            "pytest_output",
            "http_headers",
            "yaml_config",
            "toml_config",
            "xml_config",
            "html_page",
            "csv_mixed",
            "spaces_aligned",
        ];
        const LANGUAGES: [&str; 38] = [
            "german",
            "french",
            "spanish",
            "italian",
            "portuguese",
            "dutch",
            "polish",
            "czech",
            "hungarian",
            "romanian",
            "turkish",
            "swedish",
            "finnish",
            "vietnamese",
            "indonesian",
            "ukrainian",
            "bulgarian",
            "greek",
            "hebrew",
            "persian",
            "hindi",
            "chinese",
            "chinese_traditional",
            "japanese",
            "korean",
            "russian",
            "arabic",
            "thai",
            "holdout_chinese",
            "holdout_japanese",
            "holdout_korean",
            "holdout_russian",
            "holdout_arabic",
            "holdout_thai",
            "german_french_spanish",
            "mixed",
            "holdout_mixed",
            "chat_with_emoji",
        ];
        let name = self.name.as_str();
        match () {
            () if ENGLISH.contains(&name) => Group::English,
            () if name.contains("code") || matches!(name, "sql" | "css" | "makefile" | "minified_js") => {
                Group::Code
            }
            () if name.starts_with("tab_indented") => Group::Code,
            () if TOOL_OUTPUT.contains(&name) => Group::ToolOutput,
            () if LANGUAGES.contains(&name) => Group::CommonLanguage,
            () => Group::Rare,
        }
    }

    /// What each slice is taken for.
    pub fn measures(&self) -> Vec<TextMeasure> {
        self.slices.iter().map(|slice| text::measure(slice)).collect()
    }
}

/// The tokens of each slice of each class.
pub type Counts = BTreeMap<String, Vec<u64>>;

/// The file that keeps the counts of a vocabulary.
pub fn counts_file(vocabulary: &Published) -> PathBuf {
    folder("counts").join(format!("{}.txt", vocabulary.name))
}

/// The counts as they are kept: a line for each class, its name and then a number for each slice.
pub fn kept_counts(vocabulary: &Published) -> Counts {
    let file = counts_file(vocabulary);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let line = |line: &str| -> (String, Vec<u64>) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default().to_owned();
        (name, words.map(|word| word.parse().unwrap_or_else(|_| panic!("{line}: no number"))).collect())
    };
    text.lines().map(line).collect()
}

/// How the counts are kept.
pub fn written(counts: &Counts) -> String {
    let line = |(name, counts): (&String, &Vec<u64>)| {
        let numbers: Vec<String> = counts.iter().map(u64::to_string).collect();
        format!("{name} {}\n", numbers.join(" "))
    };
    counts.iter().map(line).collect()
}

/// How good estimates of slices are.
#[derive(Debug, Clone, Default)]
pub struct Quality {
    /// Upper size above the truth, as shares of it.
    pub slack: Vec<f64>,
    /// Slices whose upper size is below the truth, and by which share of it.
    pub short: Vec<(String, f64)>,
    /// How far the expected size of each class is off, as a share of the truth.
    pub off: Vec<(String, Group, f64)>,
    /// Upper sizes above the truth by group.
    pub by_group: BTreeMap<Group, Vec<f64>>,
}

impl Quality {
    /// Of a vocabulary whose counts are known, measured as that family.
    pub fn of(classes: &[Class], counts: &Counts, family: Vocabulary) -> Self {
        let mut quality = Self::default();
        for class in classes {
            let Some(counts) = counts.get(&class.name) else { panic!("{} was not counted", class.name) };
            assert_eq!(counts.len(), class.slices.len(), "{}: count it anew", class.name);
            let (mut sum, mut truths) = (0.0, 0.0);
            for (measure, truth) in class.measures().into_iter().zip(counts) {
                let truth = *truth as f64;
                let upper = text::with_chance(measure.upper_milli(family)) as f64 / 1_000.0;
                let slack = upper / truth - 1.0;
                if slack < 0.0 {
                    quality.short.push((class.name.clone(), -slack));
                }
                quality.slack.push(slack);
                quality.by_group.entry(class.group()).or_default().push(slack);
                sum += measure.expected_milli(family) as f64 / 1_000.0;
                truths += truth;
            }
            if truths > 0.0 {
                quality.off.push((class.name.clone(), class.group(), sum / truths - 1.0));
            }
        }
        quality
    }

    /// Whether upper sizes are hardly ever too small, and never by much.
    pub fn holds(&self) -> bool {
        self.short_share() <= SHORT_SHARE && self.worst_short() <= WORST_SHORT
    }

    /// The share of slices whose upper size is too small.
    pub fn short_share(&self) -> f64 {
        self.short.len() as f64 / self.slack.len().max(1) as f64
    }

    /// By how much the worst of them is too small.
    pub fn worst_short(&self) -> f64 {
        self.short.iter().map(|(_, share)| *share).fold(0.0, f64::max)
    }

    /// The median of what the upper size has above the truth, in these groups.
    pub fn median_slack(&self, groups: &[Group]) -> f64 {
        let mut all: Vec<f64> =
            groups.iter().filter_map(|group| self.by_group.get(group)).flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    }
}
