//! sven's prompt compaction as it is written.
//!
//! What it says, and what follows from it: sizes are characters / 4, corrected by a slow average that starts at 1; the gate
//! runs before the user's message is pushed, so that message is not counted; the last six messages stay whatever their
//! size; the emergency path drops everything but the last six without looking at calls and results; there is no answer to
//! a refusal. Its table of mitigations can also be read so that the emergency path looks at calls and results as the normal
//! one does: that reading takes part as well.

use super::{Document, History, Row, TRANSCRIPT, What, sent, size, unsaid};
use crate::script::{Script, ToolUse};
use crate::wire::{Item, Role};
use crate::world::{SummaryRequest, World};
use oneclaw_context::policy::Style;
use oneclaw_context::summary::emergency_notice;
use oneclaw_context::truncate::{self, utf16_len};
use oneclaw_model::Usage;
use std::rc::Rc;

const COMPACTION_THRESHOLD: f64 = 0.85;
const COMPACTION_OVERHEAD_RESERVE: f64 = 0.10;
const LEAST_THRESHOLD: f64 = 0.1;
const EMERGENCY: f64 = 0.95;
const KEEP_RECENT: usize = 6;
const TOOL_RESULT_TOKEN_CAP: usize = 4_000;
/// Tokens of the compaction prompt.
const FRAME: u64 = 160;

/// A session of sven.
#[derive(Debug)]
pub struct Sven {
    system: Rc<Item>,
    history: History,
    calibration_factor: f64,
    schema_overhead: u64,
    /// Whether an emergency keeps calls and results together.
    is_safe: bool,
}

impl Sven {
    /// A new session.
    pub fn new(script: &Script) -> Self {
        let length = |text: &str| utf16_len(text) as u64;
        let tool = |t: &oneclaw_model::ToolSpec| {
            (length(&t.name) + length(&t.description) + length(&t.parameters.to_string())) / 4
        };
        Self {
            system: super::system(script),
            history: History::default(),
            calibration_factor: 1.0,
            schema_overhead: script.tools.iter().map(tool).sum(),
            is_safe: false,
        }
    }

    /// The same in the kinder reading.
    pub fn safe(script: &Script) -> Self {
        Self { is_safe: true, ..Self::new(script) }
    }

    fn token_count(&self) -> u64 {
        utf16_len(&self.system.text) as u64 / 4
            + self.history.rows.iter().map(|row| row.units / 4).sum::<u64>()
    }

    fn ensure_fits_budget(&mut self, model: usize, world: &mut World<'_>) {
        let Some(spec) = world.model(model) else { return };
        let input_budget = (spec.window - spec.max_output) as f64;
        let effective = self.token_count() as f64 * self.calibration_factor + self.schema_overhead as f64;
        let fraction = effective / input_budget;
        if fraction < (COMPACTION_THRESHOLD - COMPACTION_OVERHEAD_RESERVE).max(LEAST_THRESHOLD) {
            return;
        }
        if fraction >= EMERGENCY {
            self.emergency_compact(model, world);
            return;
        }
        let summarize_count = self.safe_split();
        if summarize_count == 0 {
            return;
        }
        let rows = &self.history.rows;
        let now = size(self.items(), model, world);
        let material = sent(rows.get(..summarize_count).unwrap_or_default());
        let request = SummaryRequest {
            material: &material,
            form: TRANSCRIPT,
            frame: FRAME,
            style: Style::Structured,
            output: unsaid(model, u64::MAX, world),
        };
        match world.ask_summary(model, &request) {
            Ok(written) if !written.text.is_empty() => {
                world.compacted(model, now);
                let summary = Item::new(Role::Assistant, written.text);
                self.rebuild(summarize_count, What::Reply, summary);
            }
            _ => self.emergency_compact(model, world),
        }
    }

    /// How many rows are older than the last six messages.
    fn split(&self) -> usize {
        let messages = self.history.rows.iter().enumerate().filter(|(_, row)| !is_silent(row));
        messages.rev().nth(KEEP_RECENT - 1).map_or(0, |(place, _)| place)
    }

    /// The same, moved back past all that belongs to tools, to a message of the user or a reply in words.
    fn safe_split(&self) -> usize {
        let rows = &self.history.rows;
        let is_tools = |row: &Row| matches!(row.what, What::Call | What::Result) || is_silent(row);
        let mut count = self.split();
        while count > 0 && rows.get(count).is_some_and(is_tools) {
            count -= 1;
        }
        count
    }

    fn emergency_compact(&mut self, model: usize, world: &mut World<'_>) {
        let dropped = if self.is_safe { self.safe_split() } else { self.split() };
        if dropped == 0 {
            return;
        }
        let now = size(self.items(), model, world);
        world.compacted(model, now);
        self.rebuild(dropped, What::User, Item::new(Role::User, emergency_notice()));
    }

    /// One message in place of the first rows.
    fn rebuild(&mut self, count: usize, what: What, item: Item) {
        let units = utf16_len(&item.text) as u64;
        let row = Row { what, item: Rc::new(item), units, at: 0 };
        self.history.rows.splice(..count, [row]);
    }
}

/// Whether a row only holds the calls of a step without words, which are messages themselves.
fn is_silent(row: &Row) -> bool {
    row.what == What::Reply && row.units == 0
}

impl Document for Sven {
    fn history(&mut self) -> &mut History {
        &mut self.history
    }

    fn items(&self) -> Vec<Rc<Item>> {
        [self.system.clone()].into_iter().chain(sent(&self.history.rows)).collect()
    }

    /// `smart_truncate`
    fn stored(&self, call: &ToolUse) -> Rc<str> {
        truncate::shaped(&call.output, call.shape, TOOL_RESULT_TOKEN_CAP).into()
    }

    fn before_submit(&mut self, model: usize, world: &mut World<'_>) {
        self.ensure_fits_budget(model, world);
    }

    /// `update_calibration`
    fn after_step(&mut self, _model: usize, usage: Usage, _world: &mut World<'_>) {
        let actual = (usage.input + usage.cache_read) as f64;
        let ratio = actual / (self.token_count() + self.schema_overhead).max(1) as f64;
        self.calibration_factor = (0.8 * self.calibration_factor + 0.2 * ratio).clamp(0.5, 3.0);
    }

    fn after_tools(&mut self, model: usize, world: &mut World<'_>) {
        self.ensure_fits_budget(model, world);
    }
}
