//! What the engine is shown of a session: the newest epoch and everything since, nothing older.

use crate::estimate::{MeasuredRow, text};
use crate::groups;
use crate::prune::Marks;
use oneclaw_model::{MessageId, ModelId, ProviderKind, Replay, ToolSpec, Transcript};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The parts of every request that the conversation does not change.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fixed {
    /// The agent's own instructions.
    pub system: Option<String>,
    /// The tools offered.
    pub tools: Vec<ToolSpec>,
    /// What the instructions cost.
    pub(crate) system_measure: text::TextMeasure,
    /// What names, descriptions and schemas cost.
    pub(crate) tools_measure: text::TextMeasure,
}

impl Fixed {
    /// Measures both once; blank instructions are none.
    pub fn new(system: Option<String>, tools: Vec<ToolSpec>) -> Self {
        let system = system.filter(|s| !s.trim().is_empty());
        let system_measure = system.as_deref().map(text::measure).unwrap_or_default();
        let tools_measure = tools
            .iter()
            .flat_map(|t| [t.name.clone(), t.description.clone(), t.parameters.to_string()])
            .map(|t| text::measure(&t))
            .sum();
        Self { system, tools, system_measure, tools_measure }
    }
}

/// The newest compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// What stands for everything before the boundary.
    pub summary: String,
    /// How many rows the tail had when it was made: what a provider reported on them speaks of a request that is no
    /// more. `None` if another app made it and did not say.
    pub tail_rows: Option<usize>,
    /// A line that asks the model to go on, where a tool loop was interrupted.
    pub auto_continue: Option<String>,
}

/// How big the request was when a check last could win nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Upper size of the request.
    pub upper: u64,
    /// What shares were taken of then; another model voids the attempt.
    pub base: u64,
}

/// A session as the engine sees it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conversation {
    /// The model that is asked next.
    pub model: Option<ModelId>,
    /// Whose it is; told by its name if not given.
    pub provider: Option<ProviderKind>,
    /// Whether it sees no pictures: it is told their names instead.
    pub is_blind: bool,
    /// Which reasoning goes back to it.
    pub replay: Replay,
    /// System text and tools.
    pub fixed: Fixed,
    /// The newest compaction.
    pub epoch: Option<Epoch>,
    /// The newest user message that the epoch covers. It is repeated while it is the newest of all.
    pub carried: Option<MeasuredRow>,
    /// Pinned rows that the epoch covers, in order.
    pub pins: Vec<MeasuredRow>,
    /// All rows since the boundary, in order.
    pub rows: Vec<MeasuredRow>,
    /// Which results requests shorten or leave out.
    pub marks: Marks,
    /// The last check that could win nothing more.
    pub attempt: Option<Attempt>,
}

impl Conversation {
    /// What the engine is shown of a transcript.
    pub fn of_transcript(transcript: Transcript, model: Option<&str>, fixed: Fixed) -> Self {
        let rows = transcript.rows.into_iter().map(|row| MeasuredRow::new(row.into_message())).collect();
        let conversation = Self { model: model.map(Into::into), fixed, rows, ..Self::default() };
        let session = transcript.session;
        match (session.compacted_summary, session.compact_boundary_timestamp) {
            (Some(summary), Some(timestamp)) => conversation.compacted_by_time(timestamp, summary),
            _ => conversation,
        }
    }

    /// The conversation once an epoch covers the rows before `boundary`.
    pub fn compacted(mut self, boundary: usize, epoch: Epoch, attempt: Option<Attempt>) -> Self {
        let tail = self.rows.split_off(boundary.min(self.rows.len()));
        let covered = std::mem::replace(&mut self.rows, tail);
        if let Some(newest) = groups::newest_user(&covered).and_then(|index| covered.get(index)) {
            self.carried = Some(newest.clone());
        }
        let kept: HashSet<&MessageId> = self.rows.iter().map(|row| &row.message.id).collect();
        self.marks.retain(|id, _| kept.contains(id));
        self.pins.extend(covered.into_iter().filter(|row| row.pinned));
        self.epoch = Some(epoch);
        self.attempt = attempt;
        self
    }

    /// The conversation with what a file of the original app says: everything older than the timestamp is covered,
    /// unless the summary is blank.
    pub fn compacted_by_time(self, timestamp: i64, summary: String) -> Self {
        if summary.trim().is_empty() {
            return self;
        }
        let boundary = self.rows.partition_point(|row| row.message.created_at < timestamp);
        self.compacted(boundary, Epoch { summary, tail_rows: None, auto_continue: None }, None)
    }
}
