//! A row together with what was measured of it once, so that planning never reads a text twice.

use super::text::{TextMeasure, measure};
use super::{Cost, Tariff};
use oneclaw_model::{Body, Message, Piece, Trace};
use serde::{Deserialize, Serialize};

/// What a row's texts cost on any model; the caller may keep it beside the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowMeasure {
    /// The text that is always sent: content, call or output.
    pub text: TextMeasure,
    /// Reasoning and signature, sent only while their turn is open.
    pub thinking: TextMeasure,
}

impl RowMeasure {
    /// Measures a row.
    pub fn of(message: &Message) -> Self {
        match &message.body {
            Body::User { text, .. } => Self { text: measure(text), ..Self::default() },
            Body::Assistant { text, trace, .. } => {
                Self { text: measure(text), thinking: trace.as_ref().map(of_trace).unwrap_or_default() }
            }
            Body::ToolCall { name, arguments, signature, .. } => Self {
                text: [name.as_str(), arguments].into_iter().map(measure).sum(),
                thinking: signature.as_deref().map(measure).unwrap_or_default(),
            },
            Body::ToolResult { output, .. } => Self { text: measure(output), ..Self::default() },
            Body::Error { .. } | Body::System { .. } => Self::default(),
        }
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
    let counted =
        trace.reasoning_tokens.filter(|tokens| count > 0 && *tokens > 0).map(|tokens| TextMeasure {
            expected_milli: tokens.saturating_mul(1_000),
            upper_milli: tokens
                .saturating_add(tokens / 10)
                .saturating_add(BLOCK_TOKENS * count)
                .saturating_mul(1_000),
            digits: 0,
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
