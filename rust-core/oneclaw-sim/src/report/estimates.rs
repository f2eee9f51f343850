//! How far estimates are off.

use super::format::{escaped, percent, whole};
use super::table::{Entry, Row, judged, plain, table};
use crate::estimates::{ClassErrors, Errors};
use crate::slack::{SOURCES, Slack};
use crate::study::{KindErrors, Results};
use std::fmt::Write;

/// An upper bound may be below the truth in so many percent of the cases.
const MOST_BELOW: f64 = 0.1;

/// The study of estimates.
pub fn section(results: &Results) -> String {
    let total = results.by_source();
    let sources: Vec<Row> = SOURCES
        .into_iter()
        .map(|source| (source.name(), total.of(source)))
        .filter(|(_, slack)| slack.bounds() > 0)
        .map(|(name, slack)| {
            let first = [plain(name), plain(whole(slack.bounds()))];
            Row { class: "", cells: first.into_iter().chain(figures(slack)).collect() }
        })
        .collect();
    let kinds: Vec<Row> = results.by_kind.iter().map(of_kind).collect();
    let medians: Vec<Row> = results.by_kind.iter().map(medians_of_kind).collect();
    let classes: Vec<Row> = results.by_class.iter().map(of_class).collect();
    let mut median_head = vec!["conversations"];
    median_head.extend(SOURCES.map(|source| source.name()));
    format!(
        "<h2>How good the estimates are</h2><p>Decisions use an upper bound, which should be below the truth in less than 1 of \
         1,000 cases. <i>Slack</i> is how much it exceeds the truth, as a share of it. What it is made from: the content alone, \
         before any report; the content, corrected by reports; usage on the rows, as in a conversation that was imported; the \
         count of the request before; a count that was asked for.</p><h3>Upper bounds of requests, by source</h3>{}\
         <h3>The same by kind: slack in the middle</h3>{}<h3>Likely sizes of requests: mean distance from the truth</h3>{}\
         <h3>Slices of texts, 40 to 1,200 characters, {}</h3>{}",
        table(
            &["source", "requests", "slack: median", "95th percentile", "mean", "below the truth", "worst"],
            &sources
        ),
        table(&median_head, &medians),
        table(
            &[
                "conversations",
                "requests",
                "chars / 4",
                "below the truth",
                "by content",
                "calibrated",
                "anchored"
            ],
            &kinds
        ),
        escaped(results.study.service.tokenizer_name()),
        table(
            &[
                "texts",
                "chars / 4: error",
                "worst below",
                "by content: error",
                "worst below",
                "upper: slack: median",
                "95th percentile",
                "mean",
                "below the truth",
                "worst",
            ],
            &classes
        )
    )
}

fn mean(errors: &Errors) -> Entry {
    plain(percent(errors.mean_percent()))
}

fn worst_below(errors: &Errors) -> Entry {
    plain(percent(errors.worst_below_ppm as f64 / 1e4))
}

/// Slack and shortfall.
fn figures(slack: &Slack) -> [Entry; 5] {
    let below = slack.below_percent();
    [
        plain(signed(slack.median())),
        plain(signed(slack.percentile(95))),
        plain(signed(slack.mean())),
        judged(percent(below), below < MOST_BELOW),
        plain(percent(slack.worst_percent())),
    ]
}

/// A share that may be below nothing.
fn signed(share: f64) -> String {
    format!("{share:.1} %")
}

fn of_kind(kind: &KindErrors) -> Row {
    let errors = &kind.errors;
    let cells = vec![
        plain(kind.kind.name()),
        plain(whole(errors.simple.estimates)),
        mean(&errors.simple),
        plain(percent(errors.simple.below_percent())),
        mean(&errors.content),
        mean(&errors.calibrated),
        mean(&errors.anchored),
    ];
    Row { class: "", cells }
}

fn medians_of_kind(kind: &KindErrors) -> Row {
    let medians = SOURCES.map(|source| {
        let slack = kind.errors.upper.of(source);
        plain(if slack.bounds() == 0 { "–".to_owned() } else { signed(slack.median()) })
    });
    Row { class: "", cells: [plain(kind.kind.name())].into_iter().chain(medians).collect() }
}

fn of_class(class: &ClassErrors) -> Row {
    let likely = [
        plain(class.class.replace('_', " ")),
        mean(&class.simple),
        worst_below(&class.simple),
        mean(&class.expected),
        worst_below(&class.expected),
    ];
    Row { class: "", cells: likely.into_iter().chain(figures(&class.upper)).collect() }
}

/// Slack and shortfall as a text with columns.
pub fn slack_table(results: &Results) -> String {
    let service = &results.study.service;
    let mut text =
        format!("upper bounds, counted with {}, model {}\n", service.tokenizer_name(), service.model);
    let mut line = |cells: [String; 7]| {
        let [name, bounds, median, most, mean, below, worst] = cells;
        let _ =
            writeln!(text, "{name:<22} {bounds:>8} {median:>9} {most:>9} {mean:>9} {below:>8} {worst:>8}");
    };
    let head = ["source", "bounds", "slack 50%", "95%", "mean", "below", "worst"];
    let mut rows = |head: [&str; 7], all: Vec<(String, &Slack)>| {
        line(head.map(str::to_owned));
        for (name, slack) in all.into_iter().filter(|(_, slack)| slack.bounds() > 0) {
            line([
                name,
                whole(slack.bounds()),
                signed(slack.median()),
                signed(slack.percentile(95)),
                signed(slack.mean()),
                percent(slack.below_percent()),
                percent(slack.worst_percent()),
            ]);
        }
    };
    let total = results.by_source();
    rows(head, SOURCES.into_iter().map(|source| (source.name().to_owned(), total.of(source))).collect());
    let classes =
        results.by_class.iter().map(|class| (class.class.replace('_', " "), &class.upper)).collect();
    rows(["text, by content", "slices", "slack 50%", "95%", "mean", "below", "worst"], classes);
    text
}
