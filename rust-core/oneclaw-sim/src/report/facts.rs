//! What the model could still see.

use super::chart::{self, Bar};
use super::findings;
use super::format::{escaped, percent, whole};
use super::table::{Row, plain, table};
use crate::contender::Contender;
use crate::study::Results;
use crate::summariser::{WRITERS, Writer};
use crate::tally::{Seen, Tally};

/// Planted facts, and what became of facts and pins under ours.
pub fn section(results: &Results) -> String {
    let head = [
        "policy",
        "user, good",
        "user, sloppy",
        "user, hostile",
        "tool, good",
        "tool, sloppy",
        "tool, hostile",
        "pinned, good",
        "pinned, sloppy",
        "pinned, hostile",
    ];
    let row = |policy: &Contender| {
        let tallies = WRITERS.map(|writer| super::of_writer(results, *policy, writer).facts);
        let share = |seen: Seen| plain(percent(seen.percent()));
        let cells = [plain(policy.name())]
            .into_iter()
            .chain(tallies.iter().map(|f| share(f.user)))
            .chain(tallies.iter().map(|f| share(f.tool)))
            .chain(tallies.iter().map(|f| share(f.pins)));
        Row { class: chart::class(*policy), cells: cells.collect() }
    };
    let rows: Vec<Row> = results.study.policies.iter().map(row).collect();
    let bar = |policy: &Contender| {
        let user = |writer| super::of_writer(results, *policy, writer).facts.user.percent();
        let [good, hostile] = [user(Writer::Good), user(Writer::Hostile)];
        let note = format!("{} good · {} hostile", percent(good), percent(hostile));
        Bar {
            label: policy.name().to_owned(),
            policy: *policy,
            values: [hostile.min(good), good.max(hostile)],
            note,
        }
    };
    let bars: Vec<Bar> = results.study.policies.iter().map(bar).collect();
    let kept = |tally: &Tally| {
        format!(
            "{} kept, {} left out as the block was full, {} left out although there was room; pins: {} refused when pinned, \
             {} left out for lack of room, {} left out although there was room",
            whole(tally.kept.facts),
            whole(tally.kept.facts_dropped),
            whole(tally.kept.facts_lost),
            whole(tally.kept.pins_refused),
            whole(tally.kept.pins_dropped),
            whole(tally.kept.pins_lost)
        )
    };
    let lines: String = findings::presets(results)
        .map(|preset| {
            format!("<li>{}: {}</li>", preset.name(), escaped(&kept(&results.total(preset, |_| true))))
        })
        .collect();
    let soak = match results.soak_total() {
        tally if tally.turns > 0 => format!("<li>oneclaw alone: {}</li>", escaped(&kept(&tally))),
        _ => String::new(),
    };
    format!(
        "<h2>Planted facts the model could still see</h2><p>Stated once, looked for in later requests; a turn that failed saw \
         nothing, and a message that the policy refused to pin counts as not seen. Strong: with hostile summaries, faint: with \
         good ones.</p>{}{}<p class=\"soft\">Facts the engine found \
         in what each compaction covered, and pins. Of those that are missing, the smallest was tried: with it, the block \
         would exceed 95 % of its room, or it counts as left out although there was room.</p><ul class=\"soft\">{lines}{soak}</ul>",
        chart::bars("Facts of the user that were still visible", &bars),
        table(&head, &rows)
    )
}
