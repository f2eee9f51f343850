//! OpenCode's compaction as it is written.
//!
//! What it says, and what follows from it: the only check looks at what the last step used, so what the user or a tool adds
//! afterwards is not counted; the summary request is the whole conversation since the pivot and a question, which is more
//! than what has just been too much; a job that fails stays queued and is tried first at the next message; nothing caps a
//! single result.

use super::{Document, History, What, sent, size, unsaid};
use crate::script::{Script, ToolUse};
use crate::wire::{Item, Role};
use crate::world::{Form, SummaryRequest, World};
use oneclaw_context::assemble::QUESTION;
use oneclaw_context::plan::AUTO_CONTINUE;
use oneclaw_context::policy::Style;
use oneclaw_context::prune::CLEARED;
use oneclaw_model::Usage;
use std::rc::Rc;

const GLOBAL_OUTPUT_CAP: u64 = 32_000;
const PROTECT: u64 = 40_000;
const MIN_PRUNE: u64 = 20_000;
const PROTECTED_TURNS: usize = 2;
/// Tokens of system prompt, question and instruction.
const FRAME: u64 = 220;

/// A session of OpenCode.
#[derive(Debug)]
pub struct OpenCode {
    system: Rc<Item>,
    history: History,
    /// A compaction is queued; rows from this place on came after it.
    queued: Option<usize>,
}

impl OpenCode {
    /// A new session.
    pub fn new(script: &Script) -> Self {
        Self { system: super::system(script), history: History::default(), queued: None }
    }

    /// Runs the queued compaction; false where it fails.
    fn run_queued(&mut self, model: usize, world: &mut World<'_>, is_loop: bool) -> bool {
        let Some(place) = self.queued else { return true };
        let now = size(self.items(), model, world);
        let rows = self.history.rows.get(..place).unwrap_or_default();
        let request = SummaryRequest {
            material: &sent(rows),
            form: Form::Messages,
            frame: FRAME,
            style: Style::Continuation,
            output: unsaid(model, GLOBAL_OUTPUT_CAP, world),
        };
        let Ok(written) = world.ask_summary(model, &request) else { return false };
        world.compacted(model, now);
        let after = self.history.rows.split_off(place.min(self.history.rows.len()));
        self.history.rows.clear();
        self.history.push(What::User, Item::new(Role::User, QUESTION));
        self.history.push(What::Reply, Item::new(Role::Assistant, written.text));
        if is_loop {
            self.history.push(What::User, Item::new(Role::User, AUTO_CONTINUE));
        }
        self.history.rows.extend(after);
        self.queued = None;
        true
    }

    fn prune(&mut self) {
        let mut turns = 0;
        let mut seen = 0;
        let mut won = 0;
        let mut selected = Vec::new();
        for (place, row) in self.history.rows.iter().enumerate().rev() {
            turns += usize::from(row.what == What::User);
            if turns < PROTECTED_TURNS || row.what != What::Result {
                continue;
            }
            if row.item.text.as_ref() == CLEARED {
                break;
            }
            seen += row.units / 4;
            if seen > PROTECT {
                won += row.units / 4;
                selected.push(place);
            }
        }
        if won <= MIN_PRUNE {
            return;
        }
        for place in selected {
            let Some(row) = self.history.rows.get_mut(place) else { continue };
            let call = row.item.answers.clone().unwrap_or_default();
            row.item = Rc::new(Item::new(Role::Result, CLEARED).answering(call));
        }
    }
}

impl Document for OpenCode {
    fn history(&mut self) -> &mut History {
        &mut self.history
    }

    fn items(&self) -> Vec<Rc<Item>> {
        [self.system.clone()].into_iter().chain(sent(&self.history.rows)).collect()
    }

    fn stored(&self, call: &ToolUse) -> Rc<str> {
        call.output.clone()
    }

    /// What was queued and failed goes first.
    fn before_request(&mut self, model: usize, world: &mut World<'_>) -> bool {
        self.run_queued(model, world, false)
    }

    fn after_step(&mut self, model: usize, usage: Usage, world: &mut World<'_>) {
        let Some(spec) = world.model(model) else { return };
        let usable = spec.window - spec.max_output.min(GLOBAL_OUTPUT_CAP);
        let total = usage.input + usage.cache_read + usage.output;
        if total > usable && self.queued.is_none() {
            self.queued = Some(usize::MAX);
        }
    }

    fn after_tools(&mut self, model: usize, world: &mut World<'_>) {
        self.prune();
        self.run_due(model, world, true);
    }

    fn after_response(&mut self, model: usize, world: &mut World<'_>) {
        self.prune();
        self.run_due(model, world, false);
    }
}

impl OpenCode {
    /// Runs a compaction that this step has queued; where it fails, it stays queued for the rows there are.
    fn run_due(&mut self, model: usize, world: &mut World<'_>, is_loop: bool) {
        if self.queued.is_some() {
            self.queued = Some(self.history.rows.len());
            self.run_queued(model, world, is_loop);
        }
    }
}
