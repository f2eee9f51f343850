//! The text estimate against the published vocabularies of every family: hardly ever exceeded, close, and not wasteful.

use oneclaw_context::estimate::Vocabulary;
use oneclaw_tests::families::{Group, PUBLISHED, Quality, classes, kept_counts};

/// What the upper size may be above the truth in the median of English, code and tool output, and of each of them.
const MEDIAN_SLACK: f64 = 0.35;
const MEDIAN_SLACK_OF_EACH: f64 = 0.385;
/// How far the expected size of a class may be off: of English, code and tool output; of the languages that most people write;
/// of the rest.
const OFF_USUAL: f64 = 0.16;
const OFF_LANGUAGE: f64 = 0.26;
const OFF_RARE: f64 = 0.58;

#[test]
fn upper_holds_for_every_family() {
    let classes = classes();
    for vocabulary in PUBLISHED {
        for family in [vocabulary.family, Vocabulary::Unknown] {
            let quality = Quality::of(&classes, &kept_counts(&vocabulary), family);
            let said = format!("{} as {family:?}: {:?}", vocabulary.name, quality.short);
            assert!(quality.slack.len() > 200, "{} slices", quality.slack.len());
            assert!(quality.holds(), "{said}");
        }
    }
}

#[test]
fn upper_is_tight_on_what_is_sent_most() {
    let classes = classes();
    for vocabulary in PUBLISHED {
        let quality = Quality::of(&classes, &kept_counts(&vocabulary), vocabulary.family);
        let usual = [Group::English, Group::Code, Group::ToolOutput];
        let slack = quality.median_slack(&usual);
        assert!(slack <= MEDIAN_SLACK, "{}: {slack:.3}", vocabulary.name);
        for group in usual {
            let slack = quality.median_slack(&[group]);
            assert!(slack <= MEDIAN_SLACK_OF_EACH, "{} {group:?}: {slack:.3}", vocabulary.name);
        }
    }
}

#[test]
fn expected_is_close_for_every_family() {
    let classes = classes();
    let mut far = Vec::new();
    for vocabulary in PUBLISHED {
        let quality = Quality::of(&classes, &kept_counts(&vocabulary), vocabulary.family);
        for (class, group, off) in quality.off {
            let most = match group {
                Group::English | Group::Code | Group::ToolOutput => OFF_USUAL,
                Group::CommonLanguage => OFF_LANGUAGE,
                Group::Rare => OFF_RARE,
            };
            if off > most || off < 1.0 / (1.0 + most) - 1.0 {
                far.push(format!("{} {class} {group:?}: {off:+.2}", vocabulary.name));
            }
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}
