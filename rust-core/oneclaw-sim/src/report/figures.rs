//! The figures of every policy, and where turns fail.

use super::chart::{self, Bar};
use super::format::{percent, short, whole};
use super::table::{Row, fault, judged, plain, table};
use crate::contender::Contender;
use crate::study::{Cell, Results};
use crate::summariser::WRITERS;
use crate::tally::Tally;

/// All of them.
pub fn section(results: &Results) -> String {
    [all_figures(results), refusals(results), by_window_and_kind(results)].concat()
}

fn all_figures(results: &Results) -> String {
    let head = [
        "policy",
        "turns",
        "requests too long",
        "requests malformed",
        "turns failed",
        "of these declined by the policy",
        "though they would have fitted",
        "requests tried",
        "of these refused",
        "replies cut",
        "conversations dead",
        "orphaned results",
        "summary calls",
        "of these overflowed",
        "prompt tokens per answered turn",
        "with a cache",
        "tokens summarised per turn",
        "user facts seen: good",
        "sloppy",
        "hostile summaries",
        "largest request of the window",
        "window unused at compaction",
        "compactions per 1,000 turns",
        "loops",
    ];
    let row = |policy: &Contender| {
        let tally = results.total(*policy, |_| true);
        let per = |tokens: u64, turns: u64| short(tokens as f64 / turns.max(1) as f64);
        let seen = |writer| plain(percent(super::of_writer(results, *policy, writer).facts.user.percent()));
        let failed = tally.failed as f64 * 100.0 / tally.turns.max(1) as f64;
        let mut cells = vec![
            plain(policy.name()),
            plain(whole(tally.turns)),
            fault(tally.rejected),
            fault(tally.malformed),
            judged(percent(failed), failed < 1.0),
            plain(whole(tally.declined + tally.declined_early)),
            plain(whole(tally.declined_early)),
            plain(whole(tally.tries)),
            plain(whole(tally.tries_refused)),
            plain(whole(tally.cut)),
            judged(format!("{} of {}", whole(tally.dead), whole(tally.conversations)), tally.dead == 0),
            fault(tally.orphans),
            plain(whole(tally.summary_calls)),
            fault(tally.summary_overflows),
            plain(per(tally.all_tokens(), tally.completed())),
            plain(per(tally.paid_tokens(), tally.completed())),
            plain(per(tally.summary_tokens, tally.turns)),
        ];
        cells.extend(WRITERS.map(seen));
        cells.extend([
            plain(percent(tally.largest_ppm as f64 / 1e4)),
            plain(tally.wasted_percent().map_or("–".to_owned(), percent)),
            plain(short(tally.compactions_per_thousand())),
            plain(whole(tally.loops)),
        ]);
        Row { class: chart::class(*policy), cells }
    };
    let rows: Vec<Row> = results.study.policies.iter().map(row).collect();
    format!(
        "<h2>All figures</h2><p class=\"soft\">Identical conversations for every policy. A document that fails early sends, \
         and pays for, only its short beginnings: compare tokens turn by turn, below.</p>{}",
        table(&head, &rows)
    )
}

fn refusals(results: &Results) -> String {
    let bar = |policy: &Contender| {
        let tally = results.total(*policy, |_| true);
        let per = |n: u64| n as f64 * 1_000.0 / tally.turns.max(1) as f64;
        let refused = tally.rejected + tally.malformed;
        Bar {
            label: policy.name().to_owned(),
            policy: *policy,
            values: [per(refused), per(tally.failed)],
            note: format!("{} refused · {} turns failed", whole(refused), whole(tally.failed)),
        }
    };
    let bars: Vec<Bar> = results.study.policies.iter().map(bar).collect();
    format!(
        "<h2>Refused requests</h2><p>Too long or malformed, per 1,000 turns; behind them, faint, the turns in which the user got no answer.</p>{}",
        chart::bars("Requests refused per 1,000 turns", &bars)
    )
}

fn by_window_and_kind(results: &Results) -> String {
    let study = &results.study;
    let windows: Vec<String> = study.windows.iter().map(|w| short(*w as f64)).collect();
    let kinds: Vec<&str> = study.kinds.iter().map(|k| k.name()).collect();
    format!(
        "<h2>Failed turns by window and kind</h2><p class=\"soft\">Turns that no policy could save are left out: the newest \
         message alone is larger than the window. Nous is written for windows of 200,000.</p>{}{}",
        failed(results, windows.iter().map(String::as_str), &study.windows, |cell| cell.window),
        failed(results, kinds.into_iter(), &study.kinds, |cell| cell.kind)
    )
}

/// The share of failed turns of each policy, with a column for each value of something that cells have.
fn failed<'h, T: PartialEq>(
    results: &Results,
    names: impl Iterator<Item = &'h str>,
    values: &[T],
    of: impl Fn(&Cell) -> T,
) -> String {
    let share = |tally: &Tally| {
        let share = tally.failed as f64 * 100.0 / tally.turns.max(1) as f64;
        judged(percent(share), share < 1.0)
    };
    let row = |policy: &Contender| {
        let cells = values.iter().map(|value| share(&results.total(*policy, |cell| of(cell) == *value)));
        Row { class: chart::class(*policy), cells: [plain(policy.name())].into_iter().chain(cells).collect() }
    };
    let rows: Vec<Row> = results.study.policies.iter().map(row).collect();
    table(&["policy"].into_iter().chain(names).collect::<Vec<_>>(), &rows)
}
