//! Where a document does better than a preset of ours: every measured column, on the turns that both answered.

use super::findings::presets;
use super::format::{escaped, percent, short, whole};
use crate::contender::Contender;
use crate::study::{Pair, Results};
use crate::tally::{Seen, Sums};

/// Parts of a run in which fewer turns were answered by both say nothing.
const LEAST_TURNS: u64 = 100;

/// One thing that policies are compared by.
struct Column {
    name: &'static str,
    is_more_better: bool,
    /// Its value over so many turns; `None` where there is none.
    value: fn(&Sums, f64) -> Option<f64>,
    shown: fn(f64) -> String,
}

const fn less(name: &'static str, value: fn(&Sums, f64) -> Option<f64>, shown: fn(f64) -> String) -> Column {
    Column { name, is_more_better: false, value, shown }
}

const fn more(name: &'static str, value: fn(&Sums, f64) -> Option<f64>) -> Column {
    Column { name, is_more_better: true, value, shown: percent }
}

const COLUMNS: [Column; 10] = [
    less("prompt tokens per turn", |s, turns| Some(s.tokens as f64 / turns), short),
    less("the same with a cache", |s, turns| Some(s.paid as f64 / turns), short),
    less("summary calls per 1,000 turns", |s, turns| Some(s.summary_calls as f64 * 1e3 / turns), short),
    less("compactions per 1,000 turns", |s, turns| Some(s.compactions as f64 * 1e3 / turns), short),
    less("window unused at a compaction", wasted, percent),
    less("loops per 1,000 turns", |s, turns| Some(s.loops as f64 * 1e3 / turns), short),
    less("replies cut per 1,000 turns", |s, turns| Some(s.cut as f64 * 1e3 / turns), short),
    more("user's facts seen", |s, _| seen(s.facts.user)),
    more("tools' facts seen", |s, _| seen(s.facts.tool)),
    more("pinned facts seen", |s, _| seen(s.facts.pins)),
];

fn wasted(sums: &Sums, _turns: f64) -> Option<f64> {
    (sums.compactions > 0).then(|| sums.wasted_ppm as f64 / sums.compactions as f64 / 1e4)
}

fn seen(seen: Seen) -> Option<f64> {
    (seen.asked > 0).then(|| seen.percent())
}

impl Column {
    /// The document's value and ours, both there.
    fn values(&self, pair: &Pair) -> Option<(f64, f64)> {
        let turns = pair.turns.max(1) as f64;
        Some(((self.value)(&pair.theirs, turns)?, (self.value)(&pair.ours, turns)?))
    }

    fn is_beaten(&self, pair: &Pair) -> bool {
        self.values(pair).is_some_and(|(theirs, ours)| match self.is_more_better {
            true => theirs > ours,
            false => theirs < ours,
        })
    }
}

/// Something a document does better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beaten {
    /// The document.
    pub document: Contender,
    /// Our preset.
    pub preset: Contender,
    /// What it does better.
    pub what: &'static str,
    /// Its figure and ours over the whole run.
    pub figures: [String; 2],
    /// Whether it is better over the whole run.
    pub is_overall: bool,
    /// The kinds and windows in which it is better.
    pub places: Vec<String>,
}

/// All that documents do better. Parts of a run are looked at for a preset and its own document only.
pub fn beaten(results: &Results) -> Vec<Beaten> {
    let mut all = Vec::new();
    for preset in presets(results) {
        for document in preset.rivals() {
            let Some(whole_run) = results.pair(preset, document, |_| true).filter(|p| p.turns > 0) else {
                continue;
            };
            let is_own = preset.document() == Some(document);
            let parts = if is_own { parts(results, preset, document) } else { vec![] };
            for column in COLUMNS {
                let is_overall = column.is_beaten(&whole_run);
                let places = parts.iter().filter(|(_, pair)| column.is_beaten(pair));
                let places: Vec<String> = places.map(|(name, _)| name.clone()).collect();
                let Some((theirs, ours)) = column.values(&whole_run) else { continue };
                if is_overall || !places.is_empty() {
                    let figures = [theirs, ours].map(column.shown);
                    all.push(Beaten { document, preset, what: column.name, figures, is_overall, places });
                }
            }
        }
    }
    all
}

fn parts(results: &Results, preset: Contender, document: Contender) -> Vec<(String, Pair)> {
    let study = &results.study;
    let kinds = study
        .kinds
        .iter()
        .map(|kind| (kind.name().to_owned(), results.pair(preset, document, |p| p.kind == *kind)));
    let windows =
        study.windows.iter().map(|w| (whole(*w), results.pair(preset, document, |p| p.window == *w)));
    let parts = kinds.chain(windows).filter_map(|(name, pair)| Some((name, pair?)));
    parts.filter(|(_, pair)| pair.turns >= LEAST_TURNS).collect()
}

/// The same as lists.
pub fn section(results: &Results) -> String {
    let beaten = beaten(results);
    if beaten.is_empty() {
        return String::new();
    }
    let item = |b: &Beaten| {
        let places = b.places.join(", ");
        let places = match (b.is_overall, b.places.is_empty()) {
            (true, true) => "overall".to_owned(),
            (true, false) => format!("overall; {places}"),
            (false, _) => places,
        };
        let [theirs, ours] = &b.figures;
        format!("<li>{}: {}, ours {} ({})</li>", b.what, escaped(theirs), escaped(ours), escaped(&places))
    };
    let of_one = |items: &[Beaten]| {
        let first = items.first().map_or(String::new(), |b| {
            format!("<h3>{} before {}</h3>", escaped(b.document.name()), escaped(b.preset.name()))
        });
        format!("{first}<ul class=\"soft\">{}</ul>", items.iter().map(item).collect::<String>())
    };
    let lists = beaten.chunk_by(|a, b| (a.document, a.preset) == (b.document, b.preset)).map(of_one);
    format!(
        "<h2>What documents do better</h2><p class=\"soft\">Every column, on the turns that both answered, with the figures of the \
         whole run and where it is so: overall, and for a preset and its own document the kinds and windows in which both \
         answered at least {LEAST_TURNS} turns. A document that fails on long conversations answers, and is compared on, short \
         ones only.</p>{}",
        lists.collect::<String>()
    )
}
