//! What the figures say in sentences, the unwelcome ones first. Nothing here is written by hand for a result: a sentence
//! stands in the report if its condition holds, and is gone if it does not.

use super::format::{percent, whole};
use crate::contender::{CONTENDERS, Contender};
use crate::study::{Pair, Results};

/// Where ours does not keep its promise.
pub fn broken(results: &Results) -> Vec<String> {
    let compared = presets(results).map(|preset| (preset.name(), results.total(preset, |_| true)));
    let mut all = Vec::new();
    for (name, total) in compared.chain([("oneclaw alone", results.soak_total())]) {
        let counts = [
            (total.rejected, "requests were refused as too long"),
            (total.malformed, "requests had calls and results that do not belong together"),
            (total.orphans, "tool results were sent without their call"),
            (total.summary_overflows, "requests for a summary were refused as too long"),
            (total.kept.facts_lost, "facts were lost although they had room"),
            (total.kept.pins_lost, "pins were lost although they had room"),
            (total.dead, "conversations were dead in the end"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        all.extend(counts.map(|(count, what)| format!("{name}: {} {what}.", whole(count))));
    }
    all
}

/// Where ours is not better than its document, or not as good as promised.
pub fn unwelcome(results: &Results) -> Vec<String> {
    let mut all = broken(results);
    for preset in presets(results) {
        let total = results.total(preset, |_| true);
        let name = preset.name();
        if total.loops > 0 {
            all.push(format!(
                "{name}: {} of {} compactions came before a tenth of the window was added since the last one.",
                whole(total.loops),
                whole(total.compactions)
            ));
        }
        if total.refused > 0 {
            all.push(format!(
                "{name} refused {} turns whose newest message leaves no room for the reply reserve, though it is smaller \
                 than the window.",
                whole(total.refused)
            ));
        }
        all.extend(costs(results, preset));
    }
    all
}

fn costs(results: &Results, preset: Contender) -> Vec<String> {
    let mut all = Vec::new();
    let (Some(document), Some(pair)) = (preset.document(), results.pair(preset, |_| true)) else {
        return all;
    };
    let (name, other) = (preset.name(), document.name());
    if pair.only_document > 0 {
        all.push(format!(
            "{} turns were answered under {other} and not under {name} ({} the other way round).",
            whole(pair.only_document),
            whole(pair.only_ours)
        ));
    }
    for (what, of) in [("prompt tokens", plain as fn(&Pair) -> (u64, u64)), ("tokens with a cache", paid)] {
        let (ours, theirs) = of(&pair);
        if ours > theirs {
            all.push(format!(
                "On the turns that both answered, {name} pays {} more {what} than {other}.",
                percent(more(ours, theirs))
            ));
        }
        let kinds = results
            .study
            .kinds
            .iter()
            .map(|kind| (kind.name().to_owned(), results.pair(preset, |pair| pair.kind == *kind)));
        let windows = results.study.windows.iter().map(|window| {
            (format!("windows of {}", whole(*window)), results.pair(preset, |pair| pair.window == *window))
        });
        let worse: Vec<String> = kinds
            .chain(windows)
            .filter_map(|(name, pair)| Some((name, of(&pair?))))
            .filter(|(_, (ours, theirs))| ours > theirs)
            .map(|(name, (ours, theirs))| format!("{name} {}", percent(more(ours, theirs))))
            .collect();
        if !worse.is_empty() {
            all.push(format!("{name} pays more {what} than {other} in: {}.", worse.join(", ")));
        }
    }
    all
}

fn plain(pair: &Pair) -> (u64, u64) {
    (pair.ours, pair.document)
}

fn paid(pair: &Pair) -> (u64, u64) {
    (pair.ours_paid, pair.document_paid)
}

fn more(ours: u64, theirs: u64) -> f64 {
    (ours as f64 / theirs.max(1) as f64 - 1.0) * 100.0
}

/// Our presets that took part.
pub fn presets(results: &Results) -> impl Iterator<Item = Contender> + '_ {
    CONTENDERS.into_iter().filter(|c| c.is_ours() && results.study.policies.contains(c))
}
