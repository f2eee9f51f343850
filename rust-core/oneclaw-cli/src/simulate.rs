//! `oneclaw simulate`: long conversations under every policy, side by side. The harness is `oneclaw-sim`; this reads what is
//! asked for, shows how far it is, and writes what came of it.

use crate::args::SimulateArgs;
use crate::{Failure, json};
use oneclaw_sim::report::format::whole;
use oneclaw_sim::report::{self, findings};
use oneclaw_sim::{Contender, Kind, LoadedVocabulary, Results, Service, Study, WRITERS, Writer};
use oneclaw_store::shown;
use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const BAR: u64 = 40;

pub fn run(args: &SimulateArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let (results, time) = match &args.results {
        Some(file) => (read(file)?, None),
        None => {
            let study = study(args)?;
            // Not after an hour; what is in them stays until then.
            for file in [&args.report, &args.picture].into_iter().flatten() {
                let opened = OpenOptions::new().create(true).append(true).open(file);
                opened.map_err(|e| unwritable(file, &e))?;
            }
            let started = Instant::now();
            (played(&study)?, Some((study.work(), started.elapsed())))
        }
    };
    if let Some(file) = &args.report {
        write_file(file, &report::html(&results))?;
    }
    if let Some(file) = &args.picture {
        write_file(file, &report::picture(&results))?;
    }
    if is_json {
        json::print(out, &results)?;
    } else {
        match args.markdown {
            true => write!(out, "{}", report::markdown(&results))?,
            false if args.estimates => write!(out, "{}", report::slack_table(&results))?,
            false => {
                show(&results, out)?;
                write!(out, "\n{}", report::slack_table(&results))?;
            }
        }
        if let Some((turns, time)) = time {
            let seconds = time.as_secs_f64();
            let speed = (turns as f64 / seconds.max(0.001)) as u64;
            writeln!(out, "\n{} turns in {seconds:.0} s, {} per second", whole(turns), whole(speed))?;
        }
        if let Some(file) = &args.report {
            writeln!(out, "\nThe report is {}", shown(file))?;
        }
    }
    if args.estimates {
        // What is promised of turns is not what was asked about.
        return Ok(());
    }
    match findings::broken(&results).as_slice() {
        [] => Ok(()),
        broken => Err(Failure::Failed(format!("a promise was broken: {}", broken.join(" ")))),
    }
}

fn study(args: &SimulateArgs) -> Result<Study, Failure> {
    let all = Study::new(args.seed, args.turns);
    let windows = args.windows.as_deref().map(|list| {
        named(list, "window", "a number of tokens from 2000 to 10000000", |text| {
            text.parse().ok().filter(|window| (2_000..=10_000_000).contains(window))
        })
    });
    let kinds =
        args.kinds.as_deref().map(|list| named(list, "kind", &names(&all.kinds, Kind::name), Kind::of));
    let policies = args
        .policies
        .as_deref()
        .map(|list| named(list, "policy", &names(&all.policies, Contender::name), Contender::of));
    let mut service = match &args.tokenizer {
        None => Service::default(),
        Some(file) => {
            let vocabulary = LoadedVocabulary::load(file).map_err(|e| Failure::Failed(e.to_string()))?;
            Service::counting_with(vocabulary)
        }
    };
    service.has_counting = args.counting;
    if let Some(model) = &args.model {
        service.model.clone_from(model);
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let all = match args.estimates {
        true => all.of_estimates(),
        false => all,
    };
    Ok(Study {
        soak: args.soak,
        windows: windows.transpose()?.unwrap_or(all.windows),
        kinds: kinds.transpose()?.unwrap_or(all.kinds),
        policies: policies.transpose()?.unwrap_or(all.policies),
        service,
        threads: args.threads.unwrap_or(processors),
        ..all
    })
}

fn names<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> String {
    let names: Vec<&str> = all.iter().map(|item| name(*item)).collect();
    format!("one of {}", names.join(", "))
}

/// The items of a list with commas between them, each once.
fn named<T: PartialEq>(
    list: &str,
    what: &str,
    known: &str,
    of: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Failure> {
    let mut items = Vec::new();
    for name in list.split(',').map(str::trim) {
        let item =
            of(name).ok_or_else(|| Failure::Usage(format!("unknown {what} {name:?}; it is {known}")))?;
        if !items.contains(&item) {
            items.push(item);
        }
    }
    Ok(items)
}

fn read(file: &Path) -> Result<Results, Failure> {
    let failed = |why: &dyn Display| Failure::Failed(format!("cannot read {}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| failed(&e))?;
    serde_json::from_str(&text).map_err(|e| failed(&e))
}

fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|e| unwritable(file, &e))
}

fn unwritable(file: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot write {}: {error}", file.display()))
}

/// Runs the study; on a terminal with a bar on standard error.
fn played(study: &Study) -> Result<Results, Failure> {
    let work = study.work().max(1);
    let done = AtomicU64::new(0);
    let started = Instant::now();
    let is_shown = io::stderr().is_terminal();
    let progress = |turns: u64| {
        let done = done.fetch_add(turns, Ordering::Relaxed) + turns;
        if is_shown {
            let filled = (done * BAR / work).min(BAR) as usize;
            let speed = done as f64 / started.elapsed().as_secs_f64().max(0.001);
            let line = format!(
                "\r{}{} {:>3} %  {} of {} turns, {speed:.0} per second ",
                "█".repeat(filled),
                "·".repeat(BAR as usize - filled),
                done * 100 / work,
                whole(done),
                whole(work)
            );
            // A bar that cannot be drawn is no reason to stop.
            let _ = io::stderr().write_all(line.as_bytes());
        }
    };
    let results = study.run(&progress).map_err(|e| Failure::Failed(e.to_string()));
    if is_shown {
        let _ = io::stderr().write_all(b"\r\x1b[K");
    }
    results
}

/// The main figures as a table.
fn show(results: &Results, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(
        out,
        "{:<13} {:>8} {:>8} {:>9} {:>9} {:>8} {:>6} {:>8} {:>9} {:>9} {:>9} {:>6} {:>20}",
        "policy",
        "turns",
        "too long",
        "tried",
        "malformed",
        "failed",
        "dead",
        "orphans",
        "summaries",
        "overflows",
        "tok/turn",
        "loops",
        "facts g / s / h %"
    )?;
    for policy in &results.study.policies {
        let tally = results.total(*policy, |_| true);
        let facts =
            WRITERS.map(|writer: Writer| results.total(*policy, |c| c.writer == writer).facts.user.percent());
        let [good, sloppy, hostile] = facts;
        writeln!(
            out,
            "{:<13} {:>8} {:>8} {:>9} {:>9} {:>8} {:>6} {:>8} {:>9} {:>9} {:>9} {:>6} {:>20}",
            policy.name(),
            tally.turns,
            tally.rejected,
            format!("{} / {}", tally.tries, tally.tries_refused),
            tally.malformed,
            tally.failed,
            tally.dead,
            tally.orphans,
            tally.summary_calls,
            tally.summary_overflows,
            tally.all_tokens() / tally.completed().max(1),
            tally.loops,
            format!("{good:.0} / {sloppy:.0} / {hostile:.0}"),
        )?;
    }
    if let Some(alone) = report::alone(results) {
        writeln!(out, "\n{alone}")?;
    }
    Ok(())
}
