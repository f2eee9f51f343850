//! A row together with what was measured of it once, so that planning never reads a text twice.

use super::text::{TextMeasure, measure};
use super::{Cost, Tariff};
use oneclaw_model::{Body, Message, Piece, Trace};
use serde::{Deserialize, Serialize};

/// Stands for the output of a tool that returned nothing: some services refuse an empty text, and models take it for a fault.
pub const EMPTY_OUTPUT: &str = "[The tool returned no output]";

/// The text that is sent for an output.
pub fn output_as_sent(output: &str) -> &str {
    if output.trim().is_empty() { EMPTY_OUTPUT } else { output }
}

/// What a row's texts cost in any vocabulary; the caller may keep it beside the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowMeasure {
    /// Which tables it was measured with; see [`RowMeasure::kept`].
    #[serde(default)]
    tables: u32,
    /// The text that is always sent: content, call or output.
    pub text: TextMeasure,
    /// Reasoning and signature, sent only while their turn is open.
    #[serde(default, skip_serializing_if = "TextMeasure::is_empty")]
    pub thinking: TextMeasure,
}

/// Changes whenever texts are measured otherwise than before.
const TABLES: u32 = 3;

impl RowMeasure {
    /// What was kept beside a row, if it was measured as rows are measured now.
    pub fn kept(self) -> Option<Self> {
        (self.tables == TABLES).then_some(self)
    }

    /// Measures a row.
    pub fn of(message: &Message) -> Self {
        let (text, thinking) = match &message.body {
            Body::User { text, .. } => (measure(text), None),
            Body::Assistant { text, trace, .. } => (measure(text), trace.as_ref().map(of_trace)),
            Body::ToolCall { name, arguments, signature, .. } => {
                ([name.as_str(), arguments].into_iter().map(measure).sum(), signature.as_deref().map(measure))
            }
            Body::ToolResult { output, .. } => (measure(output_as_sent(output)), None),
            Body::Error { .. } | Body::System { .. } => (TextMeasure::default(), None),
        };
        Self { tables: TABLES, text, thinking: thinking.unwrap_or_default() }
    }
}

/// What the reasoning of a reply costs when it goes back. Where the service said how many tokens it had, that counts: what
/// goes back may be encrypted, and its letters say little about its size.
fn of_trace(trace: &Trace) -> TextMeasure {
    let signed: TextMeasure = trace
        .pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Text { signature, .. } => signature.as_deref(),
            Piece::Thinking(_) | Piece::Call => None,
        })
        .map(measure)
        .sum();
    let thinking = trace.pieces.iter().filter_map(|piece| match piece {
        Piece::Thinking(thinking) => Some(thinking),
        Piece::Text { .. } | Piece::Call => None,
    });
    let (count, measured) = thinking.fold((0, TextMeasure::default()), |(count, sum), thinking| {
        let texts: TextMeasure = thinking.texts().into_iter().map(measure).sum();
        (count + 1, [sum, texts].into_iter().sum())
    });
    let counted = trace.reasoning_tokens.filter(|tokens| count > 0 && *tokens > 0).map(|tokens| {
        let upper = tokens.saturating_add(tokens / 10).saturating_add(BLOCK_TOKENS * count);
        TextMeasure::known(tokens, upper)
    });
    [counted.unwrap_or(measured), signed].into_iter().sum()
}

/// What a block of reasoning takes beside its tokens, at most.
const BLOCK_TOKENS: u64 = 16;

/// A row the engine can plan with.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredRow {
    /// The row.
    pub message: Message,
    /// What was measured of it.
    pub measure: RowMeasure,
    /// Whether the user pinned it: a compaction that covers it carries it verbatim.
    pub pinned: bool,
}

impl MeasuredRow {
    /// Measures a row that nobody pinned.
    pub fn new(message: Message) -> Self {
        let measure = RowMeasure::of(&message);
        Self { message, measure, pinned: false }
    }

    /// What sending the row costs, without reasoning: its text, its attachments and what goes around them.
    pub fn cost(&self, tariff: &Tariff) -> Cost {
        let text = tariff.text(self.measure.text);
        match &self.message.body {
            Body::User { attachments, .. } => text + tariff.attachments(attachments) + Tariff::MESSAGE,
            Body::Assistant { .. } => text + Tariff::MESSAGE,
            Body::ToolCall { .. } => text + Tariff::CALL,
            Body::ToolResult { attachments, .. } => {
                text + tariff.attachments(attachments) + Tariff::MESSAGE + Tariff::RESULT
            }
            Body::Error { .. } | Body::System { .. } => Cost::ZERO,
        }
    }
}
