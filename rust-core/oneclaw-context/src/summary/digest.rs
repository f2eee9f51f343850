//! What stands for older rows when no model could summarise them: made of the rows alone, the same every time.

use super::fact_block::Facts;
use super::material::Piece;
use crate::escape::escape;
use crate::estimate::{MeasuredRow, Tariff};
use crate::groups;
use crate::policy::Ratio;
use oneclaw_model::{Body, ToolStatus};

const TITLE: &str = "Digest of the earlier conversation, made without a model.";
/// What each part may take of the cap.
const PRIOR_SHARE: Ratio = Ratio::percent(30);
const FACTS_SHARE: Ratio = Ratio::percent(30);
const REQUEST_SHARE: Ratio = Ratio::percent(12);
const TOOLS_SHARE: Ratio = Ratio::percent(12);
const OVERHEAD_SHARE: Ratio = Ratio::percent(4);
/// Arguments longer than this say nothing at a glance.
const ARGUMENT_CHARS: usize = 80;

/// The digest of the rows and a prior summary, of at most `cap` tokens once it is embedded.
pub fn digest(prior: Option<&str>, rows: &[MeasuredRow], cap: u64, tariff: &Tariff) -> String {
    let mut users = rows.iter().filter_map(|row| match &row.message.body {
        Body::User { text, .. } if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let first = users.next();
    let latest = users.next_back();
    let prior_text = prior.map(|p| Facts::take_from(p).0.trim()).filter(|p| !p.is_empty());

    let tools = tool_lines(rows);
    let sections = [
        ("Earlier summary: ", prior_text, PRIOR_SHARE),
        ("First request: ", first, REQUEST_SHARE),
        ("Latest request: ", latest, REQUEST_SHARE),
        ("Tool calls:\n", Some(tools.as_str()).filter(|t| !t.is_empty()), TOOLS_SHARE),
    ];
    // What one section does not need, another may take.
    let needs = |(_, text, share): &(&str, Option<&str>, Ratio)| {
        text.map_or(0, |text| tariff.upper_text(text).min(share.of(cap)))
    };
    let mut spare = cap
        .saturating_sub(FACTS_SHARE.of(cap) + OVERHEAD_SHARE.of(cap))
        .saturating_sub(sections.iter().map(needs).sum());
    let mut parts = vec![TITLE.to_owned()];
    for section in &sections {
        let (label, Some(text), _) = section else { continue };
        let need = needs(section);
        let piece = Piece::new((*text).to_owned(), tariff).within(need + spare, tariff);
        spare = spare.saturating_sub(tariff.upper(piece.cost).saturating_sub(need));
        if !piece.text.is_empty() {
            parts.push(format!("{label}{}", piece.text));
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
        let shown: String = arguments.chars().filter(|c| !c.is_control()).take(ARGUMENT_CHARS).collect();
        lines.push(format!("- {name} {shown} → {status}"));
    }
    lines.join("\n")
}
