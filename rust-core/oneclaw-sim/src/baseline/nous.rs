//! Nous 008.1 as it is written, with compaction switched on.
//!
//! What it says, and what follows from it: only the texts of user and assistant are kept from turn to turn, tool results
//! live for one turn and then are gone; nothing caps a single result; the trigger is 100,000 tokens whatever the window is,
//! so smaller windows overflow first; the check comes once, at the start of a turn; the checkpoint pair is summarised again
//! beside itself; a failed summary keeps the recent messages for one request and is tried again at the next turn.

use super::{TRANSCRIPT, calls, result, unsaid};
use crate::contender::Play;
use crate::script::{Script, Turn};
use crate::wire::{Item, Prompt, Role};
use crate::world::{Outcome, SummaryRequest, World, kept};
use oneclaw_context::assemble::ACKNOWLEDGEMENT;
use oneclaw_context::policy::Style;
use oneclaw_context::prune::{CLEARED_BY_AGE, Mark, shortened};
use oneclaw_context::truncate::utf16_len;
use std::rc::Rc;

const COMPACTION_THRESHOLD: u64 = 100_000;
const KEEP_RECENT_TOKENS: u64 = 20_000;
const MAX_TOKENS: u64 = 16_000;
const PER_MESSAGE: u64 = 4;
const SOFT_TRIM_CHARS: usize = 4_000;
const SOFT_TRIM: Mark = Mark::Trimmed { head: 1_500, tail: 1_500 };
const HARD_CLEAR_AFTER: usize = 6;
const KEEP_LAST_TOOL_RESULTS: usize = 2;
/// Tokens of the checkpoint prompt.
const FRAME: u64 = 220;

/// A conversation of Nous.
#[derive(Debug)]
pub struct Nous {
    system: Rc<Item>,
    messages: Vec<Rc<Item>>,
    summary: Option<Rc<Item>>,
}

fn estimate(item: &Item) -> u64 {
    utf16_len(&item.text) as u64 / 4
}

impl Nous {
    /// A new conversation.
    pub fn new(script: &Script) -> Self {
        Self { system: super::system(script), messages: vec![], summary: None }
    }

    /// `_prepare_messages`
    fn prepare(&mut self, model: usize, world: &mut World<'_>) -> Vec<Rc<Item>> {
        let Some(spec) = world.model(model) else { return vec![] };
        let history: u64 = self.messages.iter().map(|item| estimate(item) + PER_MESSAGE).sum();
        let total = estimate(&self.system) + history + MAX_TOKENS.min(spec.max_output);
        if total <= COMPACTION_THRESHOLD {
            return self.messages.clone();
        }
        let cut = self.cut_point();
        if cut == 0 {
            return self.messages.clone();
        }
        let now = super::size(self.with_system(&self.messages), model, world);
        let mut material: Vec<Rc<Item>> = self.summary.clone().into_iter().collect();
        material.extend(self.messages.iter().take(cut).cloned());
        let recent = self.messages.get(cut..).unwrap_or_default().to_vec();
        let request = SummaryRequest {
            material: &material,
            form: TRANSCRIPT,
            frame: FRAME,
            style: Style::Checkpoint,
            output: unsaid(model, MAX_TOKENS, world),
        };
        let Ok(written) = world.ask_summary(model, &request) else { return recent };
        world.compacted(model, now);
        let pair = [
            Rc::new(Item::new(Role::User, format!("[Previous conversation summary]\n\n{}", written.text))),
            Rc::new(Item::new(Role::Assistant, ACKNOWLEDGEMENT)),
        ];
        self.summary = Some(Rc::new(Item::new(Role::User, written.text)));
        self.messages = pair.into_iter().chain(recent).collect();
        self.messages.clone()
    }

    /// `_find_cut_point`
    fn cut_point(&self) -> usize {
        let mut accumulated = 0;
        for (place, item) in self.messages.iter().enumerate().rev() {
            accumulated += estimate(item);
            if accumulated >= KEEP_RECENT_TOKENS {
                let after = self.messages.iter().enumerate().skip(place);
                let mut users = after.filter(|(_, item)| item.role == Role::User);
                return users.next().map_or(place, |(place, _)| place);
            }
        }
        0
    }

    fn with_system(&self, messages: &[Rc<Item>]) -> Vec<Rc<Item>> {
        [self.system.clone()].into_iter().chain(messages.iter().cloned()).collect()
    }

    fn answer(&mut self, turn: &Turn, world: &mut World<'_>) -> Option<()> {
        let user = Item::new(Role::User, turn.user.as_str()).showing(turn.pictures.clone());
        self.messages.push(Rc::new(user));
        let mut messages = self.prepare(turn.model, world);
        // Where each batch of results stands.
        let mut batches: Vec<std::ops::Range<usize>> = Vec::new();
        let tools = world.tools(turn.model);
        let prompt = |items| Prompt { items, tools, max_output: None };
        for round in &turn.rounds {
            world.ask(turn.model, prompt(self.with_system(&messages)), &round.said()).ok()?;
            let asked = Item::new(Role::Assistant, round.text.as_str()).calling(calls(&round.calls));
            messages.push(Rc::new(asked));
            let start = messages.len();
            messages.extend(round.calls.iter().map(|call| Rc::new(result(call, call.output.clone()))));
            batches.push(start..messages.len());
            prune(&mut messages, &batches);
        }
        let answered = world.ask(turn.model, prompt(self.with_system(&messages)), &turn.reply).ok()?;
        let reply = kept(&turn.reply, answered.kept_milli);
        self.messages.push(Rc::new(Item::new(Role::Assistant, reply)));
        Some(())
    }
}

/// `_prune_tool_results`
fn prune(messages: &mut [Rc<Item>], batches: &[std::ops::Range<usize>]) {
    for (age, batch) in batches.iter().rev().enumerate().skip(KEEP_LAST_TOOL_RESULTS) {
        for item in messages.get_mut(batch.clone()).unwrap_or_default() {
            let text: Rc<str> = if !item.pictures.is_empty() {
                continue;
            } else if age >= HARD_CLEAR_AFTER {
                CLEARED_BY_AGE.into()
            } else if utf16_len(&item.text) > SOFT_TRIM_CHARS {
                shortened(&item.text, SOFT_TRIM).into()
            } else {
                continue;
            };
            if item.text != text {
                let call = item.answers.clone().unwrap_or_default();
                *item = Rc::new(Item::new(Role::Result, text).answering(call));
            }
        }
    }
}

impl Play for Nous {
    fn turn(&mut self, turn: &Turn, world: &mut World<'_>) -> Outcome {
        match self.answer(turn, world) {
            Some(()) => Outcome::Answered,
            None => Outcome::Refused,
        }
    }
}
