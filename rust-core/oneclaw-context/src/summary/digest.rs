//! What stands for older rows when no model could summarise them: made of the rows alone, the same every time.

use super::fact_block::Facts;
use super::material::Piece;
use crate::escape::{self, escape};
use crate::estimate::{MeasuredRow, Tariff};
use crate::groups;
use crate::policy::Ratio;
use oneclaw_model::{Body, ToolStatus};

const TITLE: &str = "Digest of the earlier conversation, made without a model.";
/// What the sections begin with; inside them it is broken, as other delimiters are (ADR 0005).
const LABELS: [&str; 4] = ["Earlier summary:", "First request:", "Latest request:", "Tool calls:"];
/// What each part may take of the cap.
const PRIOR_SHARE: Ratio = Ratio::percent(30);
const FACTS_SHARE: Ratio = Ratio::percent(30);
const REQUEST_SHARE: Ratio = Ratio::percent(12);
const TOOLS_SHARE: Ratio = Ratio::percent(12);
const OVERHEAD_SHARE: Ratio = Ratio::percent(4);
/// Names and arguments longer than this say nothing at a glance.
const SHOWN_CHARS: usize = 80;

/// The digest of the rows and a prior summary, of at most `cap` tokens once it is embedded.
pub fn digest(prior: Option<&str>, rows: &[MeasuredRow], cap: u64, tariff: &Tariff) -> String {
    let mut users = rows.iter().filter_map(|row| match &row.message.body {
        Body::User { text, .. } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let first = users.next();
    let latest = users.next_back();
    let prior_text = prior.map(|p| Facts::take_from(p).0.trim()).filter(|p| !p.is_empty());

    let [prior_label, first_label, latest_label, tools_label] = LABELS;
    let section = |text: Option<&str>| {
        text.map(|text| LABELS.iter().fold(text.to_owned(), |text, label| escape::without(&text, label)))
    };
    let tools = Some(tool_lines(rows)).filter(|lines| !lines.is_empty());
    let sections = [
        (prior_label, " ", section(prior_text), PRIOR_SHARE),
        (first_label, " ", section(first), REQUEST_SHARE),
        (latest_label, " ", section(latest), REQUEST_SHARE),
        (tools_label, "\n", section(tools.as_deref()), TOOLS_SHARE),
    ];
    // What one section does not need, another may take.
    let needs = |(_, _, text, share): &(&str, &str, Option<String>, Ratio)| {
        text.as_ref().map_or(0, |text| tariff.upper_text(text).min(share.of(cap)))
    };
    let mut spare = cap
        .saturating_sub(FACTS_SHARE.of(cap) + OVERHEAD_SHARE.of(cap))
        .saturating_sub(sections.iter().map(needs).sum());
    let mut parts = vec![TITLE.to_owned()];
    for section in &sections {
        let (label, space, Some(text), _) = section else { continue };
        let need = needs(section);
        let piece = Piece::new(text.clone(), tariff).within(need + spare, tariff);
        spare = spare.saturating_sub(tariff.upper(piece.cost).saturating_sub(need));
        if !piece.text.is_empty() {
            parts.push(format!("{label}{space}{}", piece.text));
        }
    }

    let text = parts.join("\n\n");
    let facts = Facts::collect(prior, rows).missing_from(&text, FACTS_SHARE.of(cap), tariff);
    let room = cap.saturating_sub(tariff.upper_text(&facts.text));
    within_embedded(&text, room, tariff) + &facts.text
}

/// The text escaped, and cut so that it then costs at most `room` tokens.
pub fn within_embedded(text: &str, room: u64, tariff: &Tariff) -> String {
    Piece::new(escape(text).into_owned(), tariff).within(room, tariff).text
}

fn tool_lines(rows: &[MeasuredRow]) -> String {
    let mut lines = Vec::new();
    for (call, result) in
        groups::groups(rows).into_iter().flat_map(|g| groups::calls(rows.get(g.rows).unwrap_or_default()))
    {
        let Body::ToolCall { name, arguments, .. } = &call.message.body else { continue };
        let status = match result.map(|row| &row.message.body) {
            Some(Body::ToolResult { status, .. }) => match status {
                ToolStatus::Success => "SUCCESS",
                ToolStatus::Error => "ERROR",
                ToolStatus::Timeout => "TIMEOUT",
                ToolStatus::Pending => "PENDING",
                ToolStatus::Executing => "EXECUTING",
            },
            _ => "no result",
        };
        lines.push(format!("- {} {} → {status}", shown(name), shown(arguments)));
    }
    lines.join("\n")
}

/// The beginning of a text, on one line.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(SHOWN_CHARS).collect()
}
