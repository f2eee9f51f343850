//! The text estimate against the two tokenizers that a crate brings along: it must hardly ever be exceeded, and be close on
//! average. Other vocabularies: `estimation_families.rs`.

use std::sync::LazyLock;

use oneclaw_context::estimate::Vocabulary;
use oneclaw_context::estimate::text::{measure, with_chance};
use proptest::prelude::*;
use tiktoken_rs::CoreBPE;

static O200K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::o200k_base().expect("o200k_base"));
static CL100K: LazyLock<CoreBPE> = LazyLock::new(|| tiktoken_rs::cl100k_base().expect("cl100k_base"));

/// The kinds of text that estimates were fitted to.
pub const CLASSES: [&str; 22] = [
    "english",
    "code_rust",
    "code_kotlin",
    "code_python",
    "json_records",
    "logs",
    "number_tables",
    "hex",
    "base64",
    "chinese",
    "japanese",
    "korean",
    "russian",
    "arabic",
    "thai",
    "emoji",
    "mixed",
    "markdown",
    "minified_js",
    "german_french_spanish",
    "hindi_hebrew_greek",
    "url_list",
];
const HOLDOUT: [&str; 10] = [
    "holdout_english",
    "holdout_code",
    "holdout_json",
    "holdout_chinese",
    "holdout_japanese",
    "holdout_korean",
    "holdout_russian",
    "holdout_arabic",
    "holdout_thai",
    "holdout_mixed",
];
/// How far the expected cost may be off on average.
const TOLERANCE: f64 = 0.2;

/// The text of a class.
pub fn corpus(class: &str) -> String {
    let path = format!(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/corpus/{}.txt"), class);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// How many tokens the newer of the two tokenizers makes of a text.
pub fn o200k(text: &str) -> u64 {
    O200K.encode_ordinary(text).len() as u64
}

/// How many the older one makes.
pub fn cl100k(text: &str) -> u64 {
    CL100K.encode_ordinary(text).len() as u64
}

/// A token per byte and one more, and what single characters stand for at most.
fn most(text: &str) -> u64 {
    text.len() as u64 + 1 + 30 * text.chars().filter(|ch| !ch.is_ascii()).count() as u64
}

/// What must hold for every text; the complaint if it does not.
fn check(text: &str) -> Result<(), String> {
    let measure = measure(text);
    for (vocabulary, truth) in [(Vocabulary::O200k, o200k(text)), (Vocabulary::Cl100k, cl100k(text))] {
        let (expected, likely) = (measure.expected_milli(vocabulary), measure.upper_milli(vocabulary));
        let upper = with_chance(likely);
        let said = format!("{vocabulary:?}: {expected}, {upper}, truth {truth}, text {text:?}");
        if upper < truth * 1000 {
            return Err(format!("exceeded: {said}"));
        }
        if likely > most(text) * 1000 {
            return Err(format!("more than one token per byte: {said}"));
        }
        if expected > likely {
            return Err(format!("expected above upper: {said}"));
        }
        if measure.upper_milli(Vocabulary::Unknown) < likely {
            return Err(format!("an unknown vocabulary is taken for less: {said}"));
        }
    }
    Ok(())
}

/// Slices of `size` characters, each starting `step` after the one before.
fn slices(text: &str, size: usize, step: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let last = chars.len().saturating_sub(size);
    (0..=last).step_by(step).map(|at| chars.iter().skip(at).take(size).collect()).collect()
}

fn assert_never_exceeded(classes: &[&str]) {
    let mut complaints = Vec::new();
    for class in classes {
        let text = corpus(class);
        let mut parts = vec![text.clone()];
        parts.extend(text.split("\n\n").map(str::to_owned));
        parts.extend(text.lines().map(str::to_owned));
        for (size, step) in [(12, 37), (40, 29), (150, 83), (700, 301), (2000, 809)] {
            parts.extend(slices(&text, size, step));
        }
        complaints
            .extend(parts.iter().filter_map(|part| check(part).err()).map(|said| format!("{class}: {said}")));
    }
    assert!(complaints.is_empty(), "{} complaints, first: {}", complaints.len(), complaints[0]);
}

fn assert_close(classes: &[&str]) {
    let mut complaints = Vec::new();
    for class in classes {
        let text = corpus(class);
        let off = |part: &str| {
            let truth = o200k(part) as f64;
            (measure(part).expected_milli(Vocabulary::O200k) as f64 / 1000.0 - truth) / truth
        };
        for size in [500, 1000, 4000] {
            let parts = slices(&text, size, size / 2);
            let mean = parts.iter().map(|part| off(part).abs()).sum::<f64>() / parts.len() as f64;
            if mean > TOLERANCE {
                complaints.push(format!("{class} by {size}: off by {mean:.3} on average"));
            }
        }
        if off(&text).abs() > TOLERANCE {
            complaints.push(format!("{class} whole: off by {:.3}", off(&text)));
        }
    }
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn upper_is_never_exceeded_on_the_corpus() {
    assert_never_exceeded(&CLASSES);
}

#[test]
fn upper_is_never_exceeded_on_the_holdout() {
    assert_never_exceeded(&HOLDOUT);
}

#[test]
fn expected_is_close_on_the_corpus() {
    assert_close(&CLASSES);
}

#[test]
fn expected_is_close_on_the_holdout() {
    assert_close(&HOLDOUT);
}

#[test]
fn upper_is_not_absurd() {
    for (class, limit) in [
        ("english", 1.45),
        ("code_rust", 1.45),
        ("code_python", 1.5),
        ("code_kotlin", 1.6),
        ("json_records", 1.45),
        ("markdown", 1.45),
        ("holdout_english", 1.45),
        ("holdout_code", 1.45),
    ] {
        let text = corpus(class);
        let upper = with_chance(measure(&text).upper_milli(Vocabulary::O200k));
        let ratio = upper as f64 / 1000.0 / o200k(&text) as f64;
        assert!(ratio <= limit, "{class}: upper is {ratio:.3} of the truth");
    }
    for class in CLASSES.iter().chain(&HOLDOUT) {
        let text = corpus(class);
        let ratio = measure(&text).upper_milli(Vocabulary::Cl100k) as f64 / 1000.0 / cl100k(&text) as f64;
        assert!(ratio <= 1.9, "{class}: upper is {ratio:.3} of cl100k");
    }
}

#[test]
fn appending_never_lowers_the_upper_bound() {
    for class in CLASSES {
        let mut grown = String::new();
        let mut last = 0;
        for ch in corpus(class).chars().take(600) {
            grown.push(ch);
            let now = measure(&grown).upper_milli(Vocabulary::O200k);
            assert!(now >= last, "{class}: {grown:?}");
            last = now;
        }
    }
}

#[test]
fn repeated_characters_are_covered() {
    let strange =
        "aezAZ09 \t\n\r=-_*#.~\"\\/{é я世가กअ٣😀\u{200b}\u{200d}\u{301}\u{e000}\u{13000}\u{fe0f}\u{1f1e9}\0";
    for ch in strange.chars() {
        for times in (1..70).chain([100, 128, 255, 256, 1000]) {
            let text = ch.to_string().repeat(times);
            check(&text).unwrap_or_else(|said| panic!("{said}"));
            check(&format!("x{text}y")).unwrap_or_else(|said| panic!("{said}"));
        }
    }
}

#[test]
fn stacked_marks_and_joined_emoji_are_covered() {
    let zalgo: String =
        "zalgo text".chars().flat_map(|ch| [ch, '\u{334}', '\u{31b}', '\u{35d}', '\u{489}']).collect();
    let family = "👨‍👩‍👧‍👦👩🏿‍🚀🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}🏳️‍🌈🇩🇪🇯🇵1️⃣";
    let signs: String = ('\u{13000}'..'\u{13080}').collect();
    for text in
        [zalgo.as_str(), family, signs.as_str(), "\u{feff}\u{200e}\u{2066}a\u{2069}\u{ad}", "ﷺ𝕳𝖊𝖑𝖑𝖔ｆｕｌｌ"]
    {
        check(text).unwrap_or_else(|said| panic!("{said}"));
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z]{1,12}",
        2 => "[A-Z][a-z]{2,10}",
        1 => "[A-Z]{2,8}",
        1 => "[a-z]{3,8}_[a-z]{3,8}",
        1 => "[a-z]{2,6}[A-Z][a-z]{2,6}",
        1 => "[0-9]{1,9}",
        1 => "[а-я]{1,12}",
        1 => "[äöüßéèñç a-z]{2,10}",
    ]
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(256))]

    #[test]
    fn any_unicode_is_covered(text in proptest::collection::vec(any::<char>(), 0..120)) {
        let text: String = text.into_iter().collect();
        prop_assert_eq!(check(&text), Ok(()));
    }

    #[test]
    fn the_basic_plane_is_covered(text in proptest::collection::vec(proptest::char::range('\0', '\u{ffff}'), 0..120)) {
        let text: String = text.into_iter().collect();
        prop_assert_eq!(check(&text), Ok(()));
    }

    #[test]
    fn printable_noise_is_covered(text in "[ -~]{0,300}") {
        prop_assert_eq!(check(&text), Ok(()));
    }

    #[test]
    fn random_words_are_covered(words in proptest::collection::vec(word(), 1..80), gap in "[ \n,.;_-]{1,2}") {
        // Letters by chance are no words: here a text may be larger than its upper size, by one token in ten at most.
        let text = words.join(&gap);
        let most = |vocabulary| with_chance(measure(&text).upper_milli(vocabulary)) * 11 / 10;
        prop_assert!(o200k(&text) * 1000 <= most(Vocabulary::O200k), "{text:?}");
        prop_assert!(cl100k(&text) * 1000 <= most(Vocabulary::Cl100k), "{text:?}");
    }

    #[test]
    fn hex_is_covered(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        prop_assert_eq!(check(&hex), Ok(()));
        prop_assert_eq!(check(&hex.to_uppercase()), Ok(()));
    }

    #[test]
    fn base64_is_covered(text in "[A-Za-z0-9+/]{0,600}={0,2}") {
        prop_assert_eq!(check(&text), Ok(()));
    }

    #[test]
    fn runs_are_covered(runs in proptest::collection::vec((any::<char>(), "[ -~\n\t]", 1_usize..60), 1..12)) {
        let ascii: String = runs.iter().map(|(_, piece, times)| piece.repeat(*times)).collect();
        prop_assert_eq!(check(&ascii), Ok(()));
        let any: String = runs.iter().map(|(ch, piece, times)| ch.to_string().repeat(*times) + piece).collect();
        prop_assert_eq!(check(&any), Ok(()));
    }
}
