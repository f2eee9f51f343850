//! The report: one HTML file that needs nothing else, well-formed as XML, for a phone or a desk, by day or by night.

mod chart;
mod estimates;
mod facts;
mod figures;
pub mod findings;
pub mod format;
mod markdown;
mod rivals;
mod table;
mod tokens;

pub use estimates::slack_table;
pub use markdown::{alone, markdown};

use crate::contender::Contender;
use crate::study::Results;
use crate::summariser::Writer;
use crate::tally::Tally;
use format::{escaped, whole};

/// The whole report.
pub fn html(results: &Results) -> String {
    let body = [
        opening(results),
        cards(results),
        unwelcome(results),
        sawtooth(results),
        figures::section(results),
        tokens::section(results),
        rivals::section(results),
        facts::section(results),
        estimates::section(results),
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
    let service = &study.service;
    let file = service.file.as_ref().map_or(String::new(), |file| format!(" --tokenizer {file}"));
    let model = match service.is_known_model() {
        true => String::new(),
        false => format!(" --model {}", service.model),
    };
    let counting = if service.has_counting { " --counting" } else { "" };
    format!(
        "oneclaw simulate --seed {} --turns {}{soak}{}{}{}{file}{model}{counting} --report proof.html",
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
        card(
            whole(tally.kept.facts_lost + tally.kept.pins_lost),
            "facts or pins left out although there was room for them",
        ),
        card(whole(tally.kept.facts_dropped), "facts left out as their block was full"),
        card(whole(tally.declined + tally.declined_early), "turns declined: the newest message is too big"),
        card(whole(tally.failed_for_nothing()), "turns failed for another reason"),
        card(whole(tally.dead), "conversations that died"),
    ];
    format!("<div class=\"cards\">{}</div>", cards.concat())
}

fn unwelcome(results: &Results) -> String {
    let sentences = findings::unwelcome(results);
    if sentences.is_empty() {
        return String::new();
    }
    let items: String = sentences.iter().map(|s| format!("<li>{}</li>", escaped(s))).collect();
    format!("<h2>What we do not do well</h2><ul>{items}</ul>")
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

fn method(results: &Results) -> String {
    let service = &results.study.service;
    let counting = match service.has_counting {
        true => " The service says what a request would cost where it is asked.",
        false => "",
    };
    let told = format!("The engine is told that the model is <i>{}</i>.{counting} ", escaped(&service.model));
    let tally = results.total(Contender::Oneclaw, |_| true);
    format!(
        "<h2>How this was measured</h2><ul class=\"soft\"><li>Tokens: {}, and cl100k for the small model of the kind <i>switch</i>; \
         every text once, requests as sums. {}The service refuses what exceeds its window, and calls and results that do not \
         belong together.</li><li>Ours ask for output and are held to it: prompt plus reply have to fit. The documents are \
         only held to the prompt.</li><li>The documents are played to the letter, faults included; where they are silent, \
         in their favour: their summary requests are texts without pictures, except OpenCode's, which are the messages \
         themselves. Nous has compaction switched on. <i>sven-doc-safe</i> is sven read so that its emergency path keeps calls and \
         results together.</li><li>On windows from 400,000 tokens on the user pastes documents, so that every conversation reaches \
         the trigger.</li><li>Writers of summaries are scripts: one keeps planted \
         facts, one keeps none, one is blank, endless, forged, off the point or calls tools.</li><li>Impossible turns, left \
         out of the failures: {} of {} under oneclaw.</li><li>A cache holds the unchanged beginning of a request from \
         1,024 tokens on.</li></ul>",
        escaped(service.tokenizer_name()),
        told,
        whole(tally.impossible),
        whole(tally.turns)
    )
}
