//! What the figures say in sentences, the unwelcome ones first. Nothing here is written by hand for a result: a sentence
//! stands in the report if its condition holds, and is gone if it does not.

use super::format::{percent, whole};
use crate::contender::{CONTENDERS, Contender};
use crate::study::{Cell, Results};
use crate::tally::Tally;

/// From so many turns on conversations are long enough for two promises more: every cell of ours has a compaction, and no
/// preset sends more prompt tokens than its document.
const PROOF_TURNS: u64 = 50_000;
/// Tokens are compared where a preset and its document answered so many turns both.
const ENOUGH_TURNS: u64 = 5_000;

/// Less than one of so many turns may be declined though by the real count it would have fitted; none where the service
/// says what a request would cost.
const EARLY: u64 = 5_000;

/// Where ours does not keep its promise.
pub fn broken(results: &Results) -> Vec<String> {
    let mut all = Vec::new();
    let has_counting = results.study.service.has_counting;
    for preset in presets(results) {
        let cells: Vec<&Cell> = results.cells.iter().filter(|cell| cell.policy == preset).collect();
        all.extend(faults(preset.name(), &results.total(preset, |_| true), has_counting));
        all.extend(idle(preset.name(), results.study.turns, &cells));
        all.extend(dearer(results, preset));
    }
    let soak: Vec<&Cell> = results.soak.iter().collect();
    all.extend(faults("oneclaw alone", &results.soak_total(), has_counting));
    all.extend(idle("oneclaw alone", results.study.soak, &soak));
    all
}

fn faults(name: &str, total: &Tally, has_counting: bool) -> Vec<String> {
    let early = match has_counting {
        true => "turns were declined although the service would have said that they fit",
        false => {
            "turns were declined although by the real count they would have fitted, too many to be chance"
        }
    };
    let counts = [
        (total.rejected, "requests were refused as too long"),
        (total.malformed, "requests had calls and results that do not belong together"),
        (total.orphans, "tool results were sent without their call"),
        (total.summary_overflows, "requests for a summary were refused as too long"),
        (too_early(total, has_counting), early),
        (total.failed_for_nothing(), "turns failed though the newest message was not too big"),
        (total.kept.compactions_failed, "compactions could not be made"),
        (total.kept.facts_lost, "facts were left out although there was room for them"),
        (total.kept.pins_lost, "pins were left out although there was room for them"),
        (total.dead, "conversations were dead in the end"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, what)| format!("{name}: {} {what}.", whole(count))).collect()
}

/// Turns declined for an estimate that was too high, where they are more than there may be.
fn too_early(total: &Tally, has_counting: bool) -> u64 {
    let is_few = !has_counting && total.declined_early.saturating_mul(EARLY) < total.turns;
    if is_few { 0 } else { total.declined_early }
}

/// Cells that were too short to show anything.
fn idle(name: &str, turns: u64, cells: &[&Cell]) -> Option<String> {
    let idle = cells.iter().filter(|cell| cell.tally.compactions == 0);
    let idle = idle.map(|c| format!("{} on {} ({})", c.kind.name(), whole(c.window), c.writer.name()));
    let idle: Vec<String> = idle.collect();
    (turns >= PROOF_TURNS && !idle.is_empty())
        .then(|| format!("{name}: never compacted, so nothing is shown, in {}.", idle.join(", ")))
}

fn dearer(results: &Results, preset: Contender) -> Option<String> {
    let document = preset.document()?;
    let pair = results.pair(preset, document, |_| true)?;
    let is_enough = results.study.turns >= PROOF_TURNS && pair.turns >= ENOUGH_TURNS;
    (is_enough && pair.ours.tokens > pair.theirs.tokens).then(|| {
        format!(
            "{} sends {} more prompt tokens than {} on the turns that both answered.",
            preset.name(),
            percent((pair.ours.tokens as f64 / pair.theirs.tokens.max(1) as f64 - 1.0) * 100.0),
            document.name()
        )
    })
}

/// Where ours is not as good as promised or as one could wish. What documents do better is in `rivals.rs`.
pub fn unwelcome(results: &Results) -> Vec<String> {
    let mut all = broken(results);
    for preset in presets(results) {
        all.extend(own(preset.name(), &results.total(preset, |_| true)));
        let rivals = preset.rivals().into_iter().filter_map(|rival| results.pair(preset, rival, |_| true));
        let only = rivals.filter(|pair| pair.only_document > 0).map(|pair| {
            let (theirs, ours) = (whole(pair.only_document), whole(pair.only_ours));
            format!("{theirs} under {} ({ours} the other way round)", pair.document.name())
        });
        let only: Vec<String> = only.collect();
        if !only.is_empty() {
            all.push(format!(
                "Turns that {} did not answer, but others did: {}.",
                preset.name(),
                only.join(", ")
            ));
        }
    }
    let soak = results.soak_total();
    if soak.turns > 0 {
        all.extend(own("oneclaw alone", &soak));
    }
    all
}

fn own(name: &str, total: &Tally) -> Vec<String> {
    let mut all = Vec::new();
    if total.loops > 0 {
        all.push(format!(
            "{name}: {} of {} compactions came before a tenth of the window was added since the last one.",
            whole(total.loops),
            whole(total.compactions)
        ));
    }
    if total.tries > 0 {
        all.push(format!(
            "{name} tried {} requests that by their upper bound did not fit, before giving a turn up; the service refused {}.",
            whole(total.tries),
            whole(total.tries_refused),
        ));
    }
    let declined = total.declined + total.declined_early;
    if let Some(least) = total.least_declined_ppm {
        all.push(format!(
            "{name} declined {} of {} turns: with instructions and tools, the newest message left no room for even a short \
             reply. The smallest such message was {} of the window. By the real count {} of them would have fitted; the \
             estimate is on the safe side.",
            whole(declined),
            whole(total.turns),
            percent(least as f64 / 1e4),
            whole(total.declined_early),
        ));
    }
    all
}

/// Our presets that took part.
pub fn presets(results: &Results) -> impl Iterator<Item = Contender> + '_ {
    CONTENDERS.into_iter().filter(|c| c.is_ours() && results.study.policies.contains(c))
}
