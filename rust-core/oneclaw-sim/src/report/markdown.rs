//! The main figures as Markdown, for pages such as a README.

use super::format::{percent, whole};
use super::{of_writer, tokens};
use crate::contender::Contender;
use crate::study::Results;
use crate::summariser::WRITERS;

/// A table with a row for each policy, and what was found of our default alone.
pub fn markdown(results: &Results) -> String {
    let head = [
        "policy",
        "requests too long",
        "malformed",
        "turns failed",
        "conversations dead",
        "orphaned results",
        "summary requests too long",
        "user facts seen: good / sloppy / hostile summaries",
    ];
    let mut lines = vec![row(&head.map(str::to_owned)), row(&head.map(|_| "---".to_owned()))];
    lines.extend(results.study.policies.iter().map(|policy| row(&figures(results, *policy))));
    let turns = results.study.policies.first().map_or(0, |p| results.total(*p, |_| true).turns);
    lines.push(format!("\n{} turns under each policy.", whole(turns)));
    lines.extend(tokens::sentences(results).iter().map(|sentence| format!("- {sentence}.")));
    lines.extend(alone(results).map(|sentence| format!("\n{sentence}")));
    lines.join("\n") + "\n"
}

fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

fn figures(results: &Results, policy: Contender) -> [String; 8] {
    let tally = results.total(policy, |_| true);
    let bold = |text: String| if policy.is_ours() { format!("**{text}**") } else { text };
    let facts = WRITERS.map(|writer| of_writer(results, policy, writer).facts.user.percent());
    let [good, sloppy, hostile] = facts;
    [
        bold(policy.name().to_owned()),
        bold(whole(tally.rejected)),
        bold(whole(tally.malformed)),
        percent(tally.failed as f64 * 100.0 / tally.turns.max(1) as f64),
        format!("{} of {}", whole(tally.dead), whole(tally.conversations)),
        whole(tally.orphans),
        format!("{} of {}", whole(tally.summary_overflows), whole(tally.summary_calls)),
        format!("{good:.0} / {sloppy:.0} / {hostile:.0} %"),
    ]
}

/// What was found of our default alone, where it was run.
pub fn alone(results: &Results) -> Option<String> {
    let total = results.soak_total();
    let kept = &total.kept;
    (total.turns > 0).then(|| {
        format!(
            "oneclaw alone: {} turns, {} compactions; {} requests refused, {} orphans, {} summary requests too long, {} \
             conversations dead; {} facts and pins left out although there was room, {} facts kept, {} left out as their block \
             was full; {} requests tried, {} of them refused; {} turns declined (the smallest newest message: {} of the \
             window), {} failed for another reason.",
            whole(total.turns),
            whole(total.compactions),
            whole(total.rejected + total.malformed),
            whole(total.orphans),
            whole(total.summary_overflows),
            whole(total.dead),
            whole(kept.facts_lost + kept.pins_lost),
            whole(kept.facts),
            whole(kept.facts_dropped),
            whole(total.tries),
            whole(total.tries_refused),
            whole(total.declined + total.declined_early),
            total.least_declined_ppm.map_or("–".to_owned(), |ppm| percent(ppm as f64 / 1e4)),
            whole(total.failed_for_nothing()),
        )
    })
}
