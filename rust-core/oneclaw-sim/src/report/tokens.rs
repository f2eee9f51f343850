//! What is sent and paid for.

use super::chart::{self, Bar};
use super::findings::presets;
use super::format::{short, whole};
use super::table::{Entry, Row, judged, plain, table};
use crate::contender::Contender;
use crate::study::{Pair, Results};

/// Tokens per turn as bars, and ours against the documents.
pub fn section(results: &Results) -> String {
    format!("{}{}", bars(results), pairs(results))
}

fn bars(results: &Results) -> String {
    let bar = |policy: &Contender| {
        let tally = results.total(*policy, |_| true);
        let per = |tokens: u64| tokens as f64 / tally.completed().max(1) as f64;
        let (all, paid) = (per(tally.all_tokens()), per(tally.paid_tokens()));
        let note = format!("{} · {} with a cache", short(all), short(paid));
        Bar { label: policy.name().to_owned(), policy: *policy, values: [paid, all], note }
    };
    let bars: Vec<Bar> = results.study.policies.iter().map(bar).collect();
    format!(
        "<h2>Prompt tokens per answered turn</h2><p>Summaries included; strong: with what the cache saves (a token from it at a \
         tenth), faint: without. A document that fails on large windows has small averages: turn by turn, below, is fair.</p>{}",
        chart::bars("Prompt tokens per answered turn", &bars)
    )
}

/// Tokens of ours for one of the document's.
pub fn ratio(pair: &Pair) -> f64 {
    pair.ours.tokens as f64 / pair.theirs.tokens.max(1) as f64
}

/// The same with a cache.
pub fn paid_ratio(pair: &Pair) -> f64 {
    pair.ours.paid as f64 / pair.theirs.paid.max(1) as f64
}

fn shown(ratio: f64) -> Entry {
    judged(format!("{ratio:.2}"), ratio <= 1.0)
}

fn names(pair: &Pair) -> String {
    format!("{} / {}", pair.preset.name(), pair.document.name())
}

/// Presets with their documents, in one reading or two.
pub fn couples(results: &Results) -> Vec<(Contender, Contender)> {
    let couple = |preset: Contender| {
        let own = move |rival: &Contender| preset != Contender::Oneclaw || preset.document() == Some(*rival);
        preset.rivals().into_iter().filter(own).map(move |rival| (preset, rival))
    };
    presets(results).flat_map(couple).collect()
}

fn pairs(results: &Results) -> String {
    let head = [
        "preset / document",
        "turns both answered",
        "only ours",
        "only the document",
        "prompt tokens, ours",
        "the document's",
        "ratio",
        "ratio with a cache",
    ];
    let couples = couples(results);
    let overall = couples.iter().filter_map(|(preset, document)| {
        let pair = results.pair(*preset, *document, |_| true)?;
        let cells = vec![
            plain(names(&pair)),
            plain(whole(pair.turns)),
            plain(whole(pair.only_ours)),
            plain(whole(pair.only_document)),
            plain(short(pair.ours.tokens as f64)),
            plain(short(pair.theirs.tokens as f64)),
            shown(ratio(&pair)),
            shown(paid_ratio(&pair)),
        ];
        Some(Row { class: "ours", cells })
    });
    let overall: Vec<Row> = overall.collect();
    if overall.is_empty() {
        return String::new();
    }
    let windows: Vec<String> = results.study.windows.iter().map(|w| short(*w as f64)).collect();
    let kinds: Vec<String> = results.study.kinds.iter().map(|k| k.name().to_owned()).collect();
    let in_window = |place: usize, pair: &Pair| results.study.windows.get(place) == Some(&pair.window);
    let in_kind = |place: usize, pair: &Pair| results.study.kinds.get(place) == Some(&pair.kind);
    format!(
        "<h2>Turn by turn against the documents</h2><p class=\"soft\">Sums over all windows are mostly those of the large ones, \
         so the ratios stand below for each window as well: prompt tokens of ours for one of the document's, and, after the \
         stroke, with a cache.</p>{}{}{}",
        table(&head, &overall),
        split(results, &couples, &windows, in_window),
        split(results, &couples, &kinds, in_kind)
    )
}

/// Ratios in each of some parts of the run.
fn split(
    results: &Results,
    couples: &[(Contender, Contender)],
    parts: &[String],
    is_in: impl Fn(usize, &Pair) -> bool,
) -> String {
    let mut head = vec!["preset / document"];
    head.extend(parts.iter().map(String::as_str));
    let row = |(preset, document): &(Contender, Contender)| {
        let cell = |place: usize| {
            let pair = results.pair(*preset, *document, |pair| is_in(place, pair)).filter(|p| p.turns > 0);
            pair.map_or(plain("–"), |pair| {
                judged(format!("{:.2} / {:.2}", ratio(&pair), paid_ratio(&pair)), ratio(&pair) <= 1.0)
            })
        };
        let name = plain(format!("{} / {}", preset.name(), document.name()));
        Row { class: "ours", cells: [name].into_iter().chain((0..parts.len()).map(cell)).collect() }
    };
    table(&head, &couples.iter().map(row).collect::<Vec<_>>())
}

/// One sentence for each preset, for pages that have no room for tables.
pub fn sentences(results: &Results) -> Vec<String> {
    let sentence = |(preset, document): &(Contender, Contender)| {
        let pair = results.pair(*preset, *document, |_| true).filter(|pair| pair.turns > 0)?;
        let by_window = results.study.windows.iter().filter_map(|window| {
            results.pair(*preset, *document, |p| p.window == *window).filter(|p| p.turns > 0)
        });
        let ratios: Vec<f64> = by_window.map(|pair| ratio(&pair)).collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        Some(format!(
            "{} / {}: {} turns answered by both, {} by ours only, {} by the document only; prompt tokens {:.2} of the \
             document's (by window {least:.2} to {most:.2}), with a cache {:.2}",
            preset.name(),
            document.name(),
            whole(pair.turns),
            whole(pair.only_ours),
            whole(pair.only_document),
            ratio(&pair),
            paid_ratio(&pair)
        ))
    };
    couples(results).iter().filter_map(sentence).collect()
}
