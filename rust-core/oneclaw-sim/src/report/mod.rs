//! The report: one HTML file that needs nothing else, well-formed as XML, for a phone or a desk, by day or by night.

mod chart;
pub mod findings;
pub mod format;
mod table;

use crate::contender::Contender;
use crate::estimates::Errors;
use crate::study::Results;
use crate::summariser::{WRITERS, Writer};
use crate::tally::Tally;
use chart::Bar;
use format::{escaped, percent, short, whole};
use table::{Row, fault, judged, plain, table};

/// The whole report.
pub fn html(results: &Results) -> String {
    let body = [
        opening(results),
        cards(results),
        unwelcome(results),
        sawtooth(results),
        all_figures(results),
        refusals(results),
        by_window(results),
        tokens(results),
        pairs(results),
        facts(results),
        estimates(results),
        method(results),
    ];
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><title>OneClaw: the proof</title>\
         <style>{}</style></head><body>{}</body></html>\n",
        include_str!("style.css"),
        body.concat()
    )
}

/// The picture of request sizes alone.
pub fn picture(results: &Results) -> String {
    chart::sheet(results)
}

/// The command that makes these results.
pub fn command(results: &Results) -> String {
    let study = &results.study;
    let soak = if study.soak > 0 { format!(" --soak {}", study.soak) } else { String::new() };
    let names = |all: Vec<&str>, flag: &str, is_all: bool| {
        if is_all { String::new() } else { format!(" --{flag} {}", all.join(",")) }
    };
    let windows: Vec<String> = study.windows.iter().map(u64::to_string).collect();
    format!(
        "oneclaw simulate --seed {} --turns {}{soak}{}{}{} --report proof.html",
        study.seed,
        study.turns,
        names(study.kinds.iter().map(|k| k.name()).collect(), "kinds", study.kinds == crate::kinds::KINDS),
        names(
            windows.iter().map(String::as_str).collect(),
            "windows",
            study.windows == crate::study::WINDOWS
        ),
        names(
            study.policies.iter().map(|p| p.name()).collect(),
            "policies",
            study.policies == crate::contender::CONTENDERS
        ),
    )
}

fn opening(results: &Results) -> String {
    format!(
        "<h1>Does a conversation ever fail because it grew too long?</h1><p>The same seeded conversations, held under our \
         presets and under the documents they come from, against a model that counts with a real tokenizer and refuses \
         what does not fit. Made by <code>{}</code>; the same command gives the same figures.</p>",
        escaped(&command(results))
    )
}

fn cards(results: &Results) -> String {
    let tally = if results.soak.is_empty() {
        results.total(Contender::Oneclaw, |_| true)
    } else {
        results.soak_total()
    };
    if tally.turns == 0 {
        return String::new();
    }
    let card = |value: String, what: &str| format!("<div class=\"card\"><b>{value}</b>{what}</div>");
    let cards = [
        card(whole(tally.turns), "turns under our default policy"),
        card(whole(tally.rejected), "requests refused as too long"),
        card(whole(tally.orphans), "tool results without their call"),
        card(whole(tally.summary_overflows), "summary requests that overflowed"),
        card(whole(tally.kept.facts_lost + tally.kept.pins_lost), "facts or pins lost that had room"),
        card(whole(tally.kept.facts_dropped), "facts that had no room (counted)"),
        card(whole(tally.dead), "conversations that died"),
    ];
    format!("<div class=\"cards\">{}</div>", cards.concat())
}

fn unwelcome(results: &Results) -> String {
    let sentences = findings::unwelcome(results);
    if sentences.is_empty() {
        return "<h2>What we do not do better</h2><p>Nothing in this run.</p>".to_owned();
    }
    let items: String = sentences.iter().map(|s| format!("<li>{}</li>", escaped(s))).collect();
    format!("<h2>What we do not do better</h2><ul>{items}</ul>")
}

fn sawtooth(results: &Results) -> String {
    let turns = chart::last_turn(results);
    let panels: String = results
        .drawings
        .iter()
        .map(|drawing| {
            let refused = drawing.points.iter().filter(|p| p.is_refused).count();
            format!(
                "<figure><figcaption>{} <span>{refused} of {} requests refused</span></figcaption>{}</figure>",
                escaped(drawing.policy.name()),
                drawing.points.len(),
                chart::requests(drawing, results.drawn_window, turns)
            )
        })
        .collect();
    format!(
        "<h2>Request size, turn by turn</h2><p>One conversation of the kind <i>{}</i> on a window of {} tokens (dashed), good \
         summaries. Each tooth is a compaction; red dots are requests the service refused.</p><div class=\"panels\">{panels}</div>",
        results.drawn_kind.name(),
        whole(results.drawn_window)
    )
}

fn of_writer(results: &Results, policy: Contender, writer: Writer) -> Tally {
    results.total(policy, |cell| cell.writer == writer)
}

fn all_figures(results: &Results) -> String {
    let head = [
        "policy",
        "turns",
        "requests refused",
        "turns failed",
        "refused by the policy itself",
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
        let seen = |writer| plain(percent(of_writer(results, *policy, writer).facts.user.percent()));
        let failed = tally.failed as f64 * 100.0 / tally.turns.max(1) as f64;
        let mut cells = vec![
            plain(policy.name()),
            plain(whole(tally.turns)),
            fault(tally.rejected + tally.malformed),
            judged(percent(failed), failed < 1.0),
            plain(whole(tally.refused)),
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
            note: format!("{} refused, {} turns failed", whole(refused), whole(tally.failed)),
        }
    };
    let bars: Vec<Bar> = results.study.policies.iter().map(bar).collect();
    format!(
        "<h2>Refused requests</h2><p>Per 1,000 turns; behind them, faint, the turns in which the user got no answer.</p>{}",
        chart::bars("Requests refused per 1,000 turns", &bars)
    )
}

fn by_window(results: &Results) -> String {
    let study = &results.study;
    let failed = |tally: &Tally| {
        let share = tally.failed as f64 * 100.0 / tally.turns.max(1) as f64;
        judged(percent(share), share < 1.0)
    };
    let windows: Vec<String> = study.windows.iter().map(|w| short(*w as f64)).collect();
    let mut head = vec!["policy"];
    head.extend(windows.iter().map(String::as_str));
    let by_window: Vec<Row> = study
        .policies
        .iter()
        .map(|policy| {
            let cells = study.windows.iter().map(|w| failed(&results.total(*policy, |c| c.window == *w)));
            Row {
                class: chart::class(*policy),
                cells: [plain(policy.name())].into_iter().chain(cells).collect(),
            }
        })
        .collect();
    let mut kinds = vec!["policy"];
    kinds.extend(study.kinds.iter().map(|k| k.name()));
    let by_kind: Vec<Row> = study
        .policies
        .iter()
        .map(|policy| {
            let cells = study.kinds.iter().map(|k| failed(&results.total(*policy, |c| c.kind == *k)));
            Row {
                class: chart::class(*policy),
                cells: [plain(policy.name())].into_iter().chain(cells).collect(),
            }
        })
        .collect();
    format!(
        "<h2>Failed turns by window and kind</h2><p class=\"soft\">Turns that no policy could save are left out: the newest \
         message alone is larger than the window. Nous is written for windows of 200,000.</p>{}{}",
        table(&head, &by_window),
        table(&kinds, &by_kind)
    )
}

fn tokens(results: &Results) -> String {
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
         tenth), faint: without.</p>{}",
        chart::bars("Prompt tokens per answered turn", &bars)
    )
}

fn pairs(results: &Results) -> String {
    let head = [
        "preset against document",
        "turns both answered",
        "only ours",
        "only the document",
        "prompt tokens, ours",
        "the document's",
        "ratio",
        "ratio with a cache",
    ];
    let ratio = |ours: u64, theirs: u64| {
        let ratio = ours as f64 / theirs.max(1) as f64;
        judged(format!("{ratio:.2}"), ratio <= 1.0)
    };
    let rows: Vec<Row> = findings::presets(results)
        .filter_map(|preset| {
            let pair = results.pair(preset, |_| true)?;
            let names = format!("{} / {}", preset.name(), preset.document()?.name());
            let cells = vec![
                plain(names),
                plain(whole(pair.turns)),
                plain(whole(pair.only_ours)),
                plain(whole(pair.only_document)),
                plain(short(pair.ours as f64)),
                plain(short(pair.document as f64)),
                ratio(pair.ours, pair.document),
                ratio(pair.ours_paid, pair.document_paid),
            ];
            Some(Row { class: "ours", cells })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("<h2>Turn by turn against the documents</h2>{}", table(&head, &rows))
}

fn facts(results: &Results) -> String {
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
        let tallies = WRITERS.map(|writer| of_writer(results, *policy, writer).facts);
        let share = |seen: crate::tally::Seen| plain(percent(seen.percent()));
        let cells = [plain(policy.name())]
            .into_iter()
            .chain(tallies.iter().map(|f| share(f.user)))
            .chain(tallies.iter().map(|f| share(f.tool)))
            .chain(tallies.iter().map(|f| share(f.pins)));
        Row { class: chart::class(*policy), cells: cells.collect() }
    };
    let rows: Vec<Row> = results.study.policies.iter().map(row).collect();
    let bar = |policy: &Contender| {
        let user = |writer| of_writer(results, *policy, writer).facts.user.percent();
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
            "{} kept, {} had no room, {} lost; pins: {} refused when pinned, {} left out for lack of room, {} lost",
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
         good ones.</p>{}{}<p class=\"soft\">Facts found in what each \
         compaction with an accepted summary covered, and pins:</p><ul class=\"soft\">{lines}{soak}</ul>",
        chart::bars("Facts of the user that were still visible", &bars),
        table(&head, &rows)
    )
}

fn estimates(results: &Results) -> String {
    let mean = |errors: &Errors| plain(percent(errors.mean_percent()));
    let below = |errors: &Errors| {
        let share = errors.below_percent();
        judged(percent(share), share < 0.1)
    };
    let kind_head = [
        "conversations",
        "requests",
        "chars / 4: error",
        "below the truth",
        "by content: error",
        "calibrated: error",
        "upper: error",
        "upper below the truth",
        "anchored: error",
        "anchored upper: error",
        "anchored upper below the truth",
    ];
    let of_kind = |k: &crate::study::KindErrors| {
        let e = &k.errors;
        let cells = vec![
            plain(k.kind.name()),
            plain(whole(e.simple.estimates)),
            mean(&e.simple),
            plain(percent(e.simple.below_percent())),
            mean(&e.content),
            mean(&e.calibrated),
            mean(&e.calibrated_upper),
            below(&e.calibrated_upper),
            mean(&e.anchored),
            mean(&e.anchored_upper),
            below(&e.anchored_upper),
        ];
        Row { class: "", cells }
    };
    let class_head = [
        "texts",
        "chars / 4: error",
        "worst below",
        "by content: error",
        "worst below",
        "upper: error",
        "upper below the truth",
    ];
    let of_class = |c: &crate::estimates::ClassErrors| {
        let cells = vec![
            plain(c.class.replace('_', " ")),
            mean(&c.simple),
            plain(percent(c.simple.worst_below_ppm as f64 / 1e4)),
            mean(&c.expected),
            plain(percent(c.expected.worst_below_ppm as f64 / 1e4)),
            mean(&c.upper),
            below(&c.upper),
        ];
        Row { class: "", cells }
    };
    let kinds: Vec<Row> = results.by_kind.iter().map(of_kind).collect();
    let classes: Vec<Row> = results.by_class.iter().map(of_class).collect();
    format!(
        "<h2>How good the estimates are</h2><p>Mean distance from the real count, as a share of it. Decisions use <i>upper</i>, \
         which should be below the truth in less than 1 of 1,000 cases.</p><h3>Requests of whole conversations</h3>{}\
         <h3>Slices of texts, 40 to 1,200 characters, o200k</h3>{}",
        table(&kind_head, &kinds),
        table(&class_head, &classes)
    )
}

fn method(results: &Results) -> String {
    let tally = results.total(Contender::Oneclaw, |_| true);
    format!(
        "<h2>How this was measured</h2><ul class=\"soft\"><li>Tokens: o200k, and cl100k for the small model of the kind <i>switch</i>; \
         every text once, requests as sums. The service refuses what exceeds its window, and calls and results that do not \
         belong together.</li><li>Ours ask for output and are held to it: prompt plus reply have to fit. The documents are \
         only held to the prompt.</li><li>The documents are played to the letter, faults included; where they are silent, \
         in their favour. Nous with compaction switched on.</li><li>Writers of summaries are scripts: one keeps planted \
         facts, one keeps none, one is blank, endless, forged, off the point or calls tools.</li><li>Impossible turns, left \
         out of the failures: {} of {} under oneclaw.</li><li>A cache holds the unchanged beginning of a request from \
         1,024 tokens on.</li></ul>",
        whole(tally.impossible),
        whole(tally.turns)
    )
}
