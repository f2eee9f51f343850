//! The proof in seconds: what `oneclaw simulate` shows over a million turns has to hold over a thousand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // A fault should stop a test.

use oneclaw_sim::report::{self, findings};
use oneclaw_sim::study::Results;
use oneclaw_sim::{CONTENDERS, Contender, Kind, SOURCES, Study, StudyFault, Tally};
use std::sync::LazyLock;

/// All kinds, policies and writers on a few windows.
static RESULTS: LazyLock<Results> = LazyLock::new(|| {
    let windows = vec![2_000, 8_000, 32_000, 128_000];
    let study = Study { windows, threads: 2, sample_every: 5, ..Study::new(7, 1_300) };
    study.run(&|_| {}).unwrap()
});

fn presets() -> impl Iterator<Item = Contender> {
    CONTENDERS.into_iter().filter(|contender| contender.is_ours())
}

#[test]
fn nothing_of_ours_is_refused_torn_apart_or_lost() {
    for preset in presets() {
        for cell in RESULTS.cells.iter().filter(|cell| cell.policy == preset) {
            let tally = &cell.tally;
            let name =
                format!("{} {} {} {}", preset.name(), cell.kind.name(), cell.window, cell.writer.name());
            assert_eq!([tally.rejected, tally.malformed, tally.orphans], [0; 3], "{name}");
            assert_eq!(tally.summary_overflows, 0, "{name}");
            let kept = &tally.kept;
            assert_eq!([kept.facts_lost, kept.pins_lost, kept.compactions_failed], [0; 3], "{name}");
            // The only turns that fail are those whose newest message is too big.
            assert_eq!([tally.failed_for_nothing(), tally.dead], [0; 2], "{name}");
        }
        let total = RESULTS.total(preset, |_| true);
        assert!(total.compactions > 50 && total.kept.facts > 100, "{}: {total:?}", preset.name());
    }
}

#[test]
fn only_a_message_that_by_its_upper_estimate_leaves_no_room_for_the_reply_is_declined() {
    for preset in presets() {
        let declined = |is_paste: bool| {
            let tally = RESULTS.total(preset, |cell| (cell.kind == Kind::Paste) == is_paste);
            (tally.declined + tally.declined_early, tally.least_declined_ppm)
        };
        assert_eq!(declined(false), (0, None), "{}", preset.name());
        let (_, least) = declined(true);
        assert!(least.is_none_or(|share| share > 400_000), "{} {least:?}", preset.name());
    }
}

#[test]
fn the_documents_fail_as_they_are_written() {
    let failed = |policy| RESULTS.total(policy, |_| true).failed;
    let [rfc, nothing] = [failed(Contender::Rfc011), failed(Contender::None)];
    assert!(rfc > 200 && nothing >= rfc, "{rfc} {nothing}");
    assert!(RESULTS.total(Contender::SvenDoc, |_| true).orphans > 0);
    assert!(RESULTS.total(Contender::OpencodeDoc, |_| true).summary_overflows > 0);
    let nous = |is_large: bool| RESULTS.total(Contender::NousDoc, |cell| (cell.window > 100_000) == is_large);
    assert!(nous(false).failed > nous(true).failed);
    assert_eq!(nous(false).compactions, 0, "100,000 tokens are never reached on a small window");
}

#[test]
fn what_a_preset_sends_is_compared_with_its_document_on_the_turns_that_both_answer() {
    let html = report::html(&RESULTS);
    for preset in presets() {
        let document = preset.document().unwrap();
        let pair = RESULTS.pair(preset, document, |_| true).unwrap();
        assert!(pair.turns > 100 && pair.only_ours > pair.only_document, "{pair:?}");
        // Without large windows nous and opencode send more than their documents; then the report has to say so.
        let is_less = pair.ours.tokens <= pair.theirs.tokens;
        assert!(is_less || preset != Contender::Oneclaw, "{pair:?}");
        let section = html.split(&format!("<h3>{} before {}</h3>", document.name(), preset.name())).nth(1);
        let items = section.unwrap_or_default().split("</ul>").next().unwrap_or_default();
        assert!(is_less || items.contains("<li>prompt tokens per turn: "), "{pair:?}");
    }
}

#[test]
fn every_promise_that_is_broken_is_named() {
    let broken = |spoil: &dyn Fn(&mut Results)| {
        let mut results = RESULTS.clone();
        spoil(&mut results);
        findings::broken(&results)
    };
    assert_eq!(broken(&|_| {}), [""; 0]);
    // This run is shorter than the spoilt ones say, so some cells did not get as far as a compaction.
    let idle = |mut sentences: Vec<String>, wanted: &str| {
        sentences.retain(|s| !s.contains("never compacted") || wanted == "never compacted");
        sentences
    };
    type Spoil = fn(&mut Tally);
    let spoilt: [(Spoil, &str); 11] = [
        (|t| t.rejected = 1, "refused as too long"),
        (|t| t.malformed = 1, "do not belong together"),
        (|t| t.orphans = 1, "without their call"),
        (|t| t.summary_overflows = 1, "for a summary were refused"),
        (|t| (t.failed, t.declined_early) = (t.turns, t.turns), "by the real count they would have fitted"),
        (|t| t.failed += 1, "though the newest message was not too big"),
        (|t| t.kept.compactions_failed = 1, "could not be made"),
        (|t| t.kept.facts_lost = 1, "facts were left out"),
        (|t| t.kept.pins_lost = 1, "pins were left out"),
        (|t| t.dead = 1, "dead in the end"),
        (|t| t.compactions = 0, "never compacted"),
    ];
    for (spoil, what) in spoilt {
        let of_ours = |results: &mut Results| {
            results.study.turns = 50_000;
            spoil(&mut results.cells.iter_mut().find(|c| c.policy == Contender::Nous).unwrap().tally);
        };
        let of_theirs = |results: &mut Results| {
            results.study.turns = 50_000;
            spoil(&mut results.cells.iter_mut().find(|c| c.policy == Contender::NousDoc).unwrap().tally);
        };
        let said = idle(broken(&of_ours), what);
        assert!(said.iter().any(|s| s.starts_with("nous: ") && s.contains(what)), "{what}: {said:?}");
        assert!(what == "never compacted" || idle(broken(&of_theirs), what).is_empty(), "{what}");
    }
    let dearer = |results: &mut Results| {
        results.study.turns = 50_000;
        for pair in results.pairs.iter_mut().filter(|p| p.document == Contender::SvenDoc) {
            pair.turns += 5_000;
            pair.ours.tokens *= 2;
        }
    };
    let said = idle(broken(&dearer), "");
    assert!(
        said.len() == 1 && said[0].starts_with("sven sends ") && said[0].contains("than sven-doc"),
        "{said:?}"
    );
}

#[test]
fn a_turn_that_would_have_fitted_is_declined_hardly_ever_and_never_where_the_service_counts() {
    let broken = |turns: u64, early: u64, has_counting: bool| {
        let mut results = RESULTS.clone();
        results.study.service.has_counting = has_counting;
        results.cells.retain(|cell| cell.policy != Contender::Nous || cell.tally.declined_early == 0);
        let cell = results.cells.iter_mut().find(|c| c.policy == Contender::Nous).unwrap();
        let added = turns - RESULTS.total(Contender::Nous, |_| true).turns;
        cell.tally.turns += added;
        cell.tally.failed += early;
        cell.tally.declined_early += early;
        let said = findings::broken(&results);
        said.into_iter().filter(|s| s.starts_with("nous: ")).collect::<Vec<String>>()
    };
    let some = "nous: 2 turns were declined although by the real count they would have fitted, too many to be chance.";
    assert_eq!(broken(9_000, 2, false), [some]);
    assert_eq!(broken(11_000, 2, false), [""; 0]);
    assert_eq!(broken(11_000, 0, true), [""; 0]);
    let one = "nous: 1 turns were declined although the service would have said that they fit.";
    assert_eq!(broken(1_000_000, 1, true), [one]);
}

#[test]
fn a_try_that_is_refused_is_told_and_breaks_no_promise() {
    let mut results = RESULTS.clone();
    let cell = results.cells.iter_mut().find(|c| c.policy == Contender::Nous).unwrap();
    (cell.tally.tries, cell.tally.tries_refused) = (90_012, 70_005);
    assert_eq!(findings::broken(&results), [""; 0]);
    let said = findings::unwelcome(&results);
    let told = |s: &&String| s.starts_with("nous tried 90,") && s.contains("the service refused 70,0");
    assert_eq!(said.iter().filter(told).count(), 1, "{said:?}");
    assert!(report::html(&results).contains("<td class=\"\">70,0"));
}

#[test]
fn the_report_tells_slack_and_shortfall_by_source_and_class() {
    let total = RESULTS.by_source();
    assert!(total.content.median() > total.anchor.median(), "what a service counted is known better");
    assert_eq!(total.counted.bounds(), 0, "nobody was asked");
    let table = report::slack_table(&RESULTS);
    for name in ["content", "calibrated", "row usage", "anchor", "english", "holdout thai"] {
        let line = table.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
        assert_eq!(line.matches('%').count(), 5, "{line}");
    }
    assert!(!table.contains("\ncounted"));
    let html = report::html(&RESULTS);
    assert!(
        html.contains("Upper bounds of requests, by source")
            && html.contains("<td class=\"\">row usage</td>")
    );
}

#[test]
fn the_report_says_where_a_document_does_better() {
    let mut results = RESULTS.clone();
    let rows = |results: &Results| {
        let html = report::html(results);
        let section = html.split("What documents do better").nth(1).unwrap_or_default().to_owned();
        let section = section.split("<h3>opencode-doc before opencode</h3>").nth(1).unwrap_or_default();
        section.split("</ul>").next().unwrap_or_default().matches("<li>").count()
    };
    let before = rows(&results);
    for pair in results.pairs.iter_mut().filter(|p| p.document == Contender::OpencodeDoc) {
        // Ours are made worse in every column.
        let (ours, theirs) = (&mut pair.ours, &pair.theirs);
        ours.tokens = theirs.tokens + 1;
        ours.paid = theirs.paid + 1;
        ours.summary_calls = theirs.summary_calls + 1;
        ours.compactions = theirs.compactions + 1;
        ours.wasted_ppm = ours.compactions * 1_000_000;
        ours.loops = theirs.loops + 1;
        ours.cut = theirs.cut + 1;
        for (seen, other) in [
            (&mut ours.facts.user, theirs.facts.user),
            (&mut ours.facts.tool, theirs.facts.tool),
            (&mut ours.facts.pins, theirs.facts.pins),
        ] {
            seen.seen = other.seen.saturating_sub(1);
        }
    }
    assert!(before < 10, "{before}");
    assert_eq!(rows(&results), 10);
}

#[test]
fn the_upper_estimate_is_hardly_ever_below_the_truth() {
    for kind in &RESULTS.by_kind {
        let errors = &kind.errors;
        assert!(errors.upper.calibrated.bounds() > 20, "{kind:?}");
        for source in SOURCES {
            let upper = errors.upper.of(source);
            assert!(upper.below * 1_000 <= upper.bounds(), "{} {kind:?}", source.name());
        }
        assert!(errors.anchored.mean_percent() < errors.simple.mean_percent(), "{kind:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_figures_whatever_the_threads() {
    let study = |seed, threads| {
        let kinds = vec![Kind::Coding, Kind::Switch];
        let policies = vec![Contender::Oneclaw, Contender::Rfc011];
        let study =
            Study { kinds, policies, windows: vec![4_000], threads, soak: 120, ..Study::new(seed, 60) };
        let results = study.run(&|_| {}).unwrap();
        (results.cells, results.soak, results.drawings)
    };
    let first = study(1, 1);
    assert_eq!(first, study(1, 3));
    assert_ne!(first.0, study(2, 1).0);
}

#[test]
fn a_study_of_nothing_is_none() {
    assert_eq!(Study { kinds: vec![], ..Study::new(1, 10) }.run(&|_| {}), Err(StudyFault::Empty));
    assert_eq!(Study::new(1, 0).run(&|_| {}), Err(StudyFault::Empty));
}

#[test]
fn the_report_is_one_well_formed_file_that_asks_for_nothing() {
    let html = report::html(&RESULTS);
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&html, options).unwrap();
    let all: Vec<_> = document.descendants().filter(roxmltree::Node::is_element).collect();
    let count = |name: &str| all.iter().filter(|node| node.tag_name().name() == name).count();
    assert_eq!(count("svg"), RESULTS.drawings.len() + 3, "one sawtooth for each policy, three bar charts");
    assert_eq!([count("script"), count("link"), count("img"), count("iframe")], [0; 4]);
    for node in &all {
        for attribute in node.attributes() {
            assert!(!["href", "src", "style", "onload"].contains(&attribute.name()), "{attribute:?}");
        }
        if node.tag_name().name() == "svg" {
            let size: Vec<f64> =
                node.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
            assert!(size.len() == 4 && size[2] > 0.0 && size[3] > 0.0);
            assert_eq!(node.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
            assert!(
                node.children().any(|child| child.tag_name().name() == "title"),
                "a name for those who cannot see"
            );
        }
        for number in
            ["x", "y", "width", "height", "cx", "cy"].iter().filter_map(|name| node.attribute(*name))
        {
            assert!(number.parse::<f64>().is_ok_and(|n| n.is_finite() && n >= 0.0), "{number}");
        }
    }
    assert!(html.contains("prefers-color-scheme: dark") && html.contains("width=device-width"));
    for policy in CONTENDERS {
        assert!(html.matches(policy.name()).count() >= 5, "{}", policy.name());
    }
    assert!(!html.contains("NaN") && !html.contains("url("));

    let picture = report::picture(&RESULTS);
    let svg = roxmltree::Document::parse(&picture).unwrap();
    assert_eq!(svg.root_element().tag_name().name(), "svg");
    assert!(picture.contains("prefers-color-scheme:dark"));
}

#[test]
fn results_can_be_kept_and_shown_again() {
    let text = serde_json::to_string(&*RESULTS).unwrap();
    let again: Results = serde_json::from_str(&text).unwrap();
    assert_eq!(report::html(&again), report::html(&RESULTS));
    assert!(
        report::command(&again)
            .starts_with("oneclaw simulate --seed 7 --turns 1300 --windows 2000,8000,32000,128000 ")
    );
}
