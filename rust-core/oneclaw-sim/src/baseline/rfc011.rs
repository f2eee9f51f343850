//! RFC-011 as it is written.
//!
//! What it says, and what follows from it: the check comes only after a response; it counts *all* rows of the session, also
//! those a summary already stands for, so after the first compaction every turn compacts again; all older rows go into one
//! summary request, however large; the split falls between any two rows, also between a call and its result; a failed
//! summary is tried once more, then nothing happens ("next request sends all messages – may hit API limit").

use super::{Document, History, Row, TRANSCRIPT, sent, size, unsaid};
use crate::script::{Round, Script, ToolUse};
use crate::wire::{Item, Role};
use crate::world::{SummaryRequest, World};
use oneclaw_context::policy::Style;
use oneclaw_context::truncate;
use std::rc::Rc;

const COMPACT_THRESHOLD_RATIO: f64 = 0.85;
const PROTECTED_WINDOW_RATIO: f64 = 0.25;
const TOOL_RESULT_MAX_CHARS: usize = 30_000;
const SUMMARY_MAX_TOKENS: u64 = 2_048;
const MAX_RETRIES: usize = 1;
/// Tokens of the summarisation prompt.
const FRAME: u64 = 110;

/// A session of the original app.
#[derive(Debug)]
pub struct Rfc011 {
    prompt: String,
    system: Rc<Item>,
    history: History,
    compacted_summary: Option<Rc<Item>>,
    compact_boundary: u64,
}

impl Rfc011 {
    /// A new session.
    pub fn new(script: &Script) -> Self {
        let system = super::system(script);
        let prompt = script.system.clone();
        Self { prompt, system, history: History::default(), compacted_summary: None, compact_boundary: 0 }
    }

    fn summarise(&self, older: &[Row], model: usize, world: &mut World<'_>) -> Option<String> {
        let mut material = sent(older);
        material.splice(..0, self.compacted_summary.clone());
        let output = unsaid(model, SUMMARY_MAX_TOKENS, world);
        let request = SummaryRequest {
            material: &material,
            form: TRANSCRIPT,
            frame: FRAME,
            style: Style::Prose,
            output,
        };
        for _ in 0..=MAX_RETRIES {
            if let Ok(written) = world.ask_summary(model, &request)
                && !written.text.trim().is_empty()
            {
                return Some(written.text);
            }
        }
        None
    }
}

impl Document for Rfc011 {
    fn history(&mut self) -> &mut History {
        &mut self.history
    }

    /// `CompactAwareMessageBuilder.build`
    fn items(&self) -> Vec<Rc<Item>> {
        let first = self.history.rows.partition_point(|row| row.at < self.compact_boundary);
        let recent = self.history.rows.get(first..).unwrap_or_default();
        [self.system.clone()].into_iter().chain(sent(recent)).collect()
    }

    /// `ToolResultTruncator.truncate`
    fn stored(&self, call: &ToolUse) -> Rc<str> {
        truncate::head(&call.output, TOOL_RESULT_MAX_CHARS).into()
    }

    /// The original app writes a call, its result, the next call, its result.
    fn keep(&mut self, round: &Round) {
        self.history.push_asking(round);
        for call in &round.calls {
            self.history.push_call(call);
            let output = self.stored(call);
            self.history.push_result(call, output);
        }
    }

    /// `AutoCompactUseCase.compactIfNeeded`
    fn after_response(&mut self, model: usize, world: &mut World<'_>) {
        let Some(spec) = world.model(model) else { return };
        let window = spec.window as f64;
        let rows = &self.history.rows;
        let total: u64 = rows.iter().map(Row::simple).sum();
        if total as f64 <= window * COMPACT_THRESHOLD_RATIO {
            return;
        }
        let mut accumulated = 0;
        let mut split = rows.len();
        for (place, row) in rows.iter().enumerate().rev() {
            accumulated += row.simple();
            if accumulated as f64 > window * PROTECTED_WINDOW_RATIO {
                break;
            }
            split = place;
        }
        let older = rows.get(..split).unwrap_or_default();
        if older.is_empty() {
            return;
        }
        let now = size(self.items(), model, world);
        let Some(summary) = self.summarise(older, model, world) else { return };
        world.compacted(model, now);
        let newest = rows.last().map_or(0, |row| row.at);
        self.compact_boundary = rows.get(split).map_or(newest + 1, |row| row.at);
        let text = format!("Previous conversation summary:\n{summary}\n\n---\n\n{}", self.prompt);
        self.system = Rc::new(Item::new(Role::System, text));
        self.compacted_summary = Some(Rc::new(Item::new(Role::User, summary)));
    }
}
