//! A row together with what was measured of it once, so that planning never reads a text twice.

use super::text::{TextMeasure, measure};
use super::{Cost, Tariff};
use oneclaw_model::{Body, Message};
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
        let thinking = |texts: [Option<&str>; 2]| texts.into_iter().flatten().map(measure).sum();
        match &message.body {
            Body::User { text, .. } => Self { text: measure(text), ..Self::default() },
            Body::Assistant { text, thinking: block, .. } => Self {
                text: measure(text),
                thinking: thinking([
                    block.as_ref().map(|t| t.text.as_str()),
                    block.as_ref().and_then(|t| t.signature.as_deref()),
                ]),
            },
            Body::ToolCall { name, arguments, signature, .. } => Self {
                text: [name.as_str(), arguments].into_iter().map(measure).sum(),
                thinking: thinking([signature.as_deref(), None]),
            },
            Body::ToolResult { output, .. } => Self { text: measure(output), ..Self::default() },
            Body::Error { .. } | Body::System { .. } => Self::default(),
        }
    }
}

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
