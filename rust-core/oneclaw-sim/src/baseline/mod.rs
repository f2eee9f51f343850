//! The source documents to the letter, faults included, for comparison only: nothing here is part of the product.
//!
//! Where a document is silent, the choice is in its favour: no request is refused for the output it asks for, no two rows
//! share a timestamp, and the writer of summaries is the one that our presets have. Each file says what its document says.

pub mod nous;
pub mod opencode;
pub mod rfc011;
pub mod sven;
#[cfg(test)]
mod tests;

use crate::contender::Play;
use crate::script::{Round, Script, ToolUse, Turn};
use crate::wire::{CallText, Item, Prompt, Role, call_text};
use crate::world::{Form, Outcome, Output, World, kept};
use oneclaw_context::truncate::utf16_len;
use oneclaw_model::Usage;
use std::rc::Rc;

/// A conversation as a transcript with role labels.
pub const TRANSCRIPT: Form = Form::Transcript { label: 3 };

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The user's text.
    User,
    /// A reply, or the text before calls.
    Reply,
    /// One call.
    Call,
    /// One result.
    Result,
}

/// A row of the conversation, counted once.
#[derive(Debug, Clone)]
pub struct Row {
    /// What it is.
    pub what: What,
    /// As it is sent; a reply with its calls.
    pub item: Rc<Item>,
    /// UTF-16 units of its text.
    pub units: u64,
    /// When it was written; never twice the same.
    pub at: u64,
}

impl Row {
    /// RFC-011's `estimateFromText`.
    pub fn simple(&self) -> u64 {
        if self.units == 0 { 0 } else { (self.units / 4).max(1) }
    }
}

/// The rows of a session.
#[derive(Debug, Default)]
pub struct History {
    /// In order.
    pub rows: Vec<Row>,
    now: u64,
}

impl History {
    /// Adds a row of text.
    pub fn push(&mut self, what: What, item: Item) {
        let units = utf16_len(&item.text) as u64;
        self.push_counted(what, item, units);
    }

    fn push_counted(&mut self, what: What, item: Item, units: u64) {
        self.now += 1;
        self.rows.push(Row { what, item: Rc::new(item), units, at: self.now });
    }

    fn push_user(&mut self, turn: &Turn) {
        self.push(What::User, Item::new(Role::User, turn.user.as_str()).showing(turn.pictures.clone()));
    }

    /// Adds a reply that asks for tools; it is sent with its calls, which are rows of their own besides.
    fn push_asking(&mut self, round: &Round) {
        self.push(What::Reply, Item::new(Role::Assistant, round.text.as_str()).calling(calls(&round.calls)));
    }

    fn push_call(&mut self, call: &ToolUse) {
        let alone = Item::new(Role::Assistant, "").calling(calls(std::slice::from_ref(call)));
        self.push_counted(What::Call, alone, utf16_len(&call.arguments) as u64);
    }

    fn push_result(&mut self, call: &ToolUse, output: Rc<str>) {
        self.push(What::Result, result(call, output));
    }
}

/// The calls of a message.
pub fn calls(calls: &[ToolUse]) -> Vec<CallText> {
    let text = |call: &ToolUse| CallText { id: call.id.clone(), text: call_text(call.name, &call.arguments) };
    calls.iter().map(text).collect()
}

/// A result as it is sent.
pub fn result(call: &ToolUse, output: Rc<str>) -> Item {
    Item::new(Role::Result, output).answering(call.id.as_str()).showing(call.picture.into_iter().collect())
}

/// The rows as they are sent: a reply with its calls, then the results. Calls whose reply is not among the rows become one
/// message of their own; a result whose call is not among them stays what it is.
pub fn sent(rows: &[Row]) -> Vec<Rc<Item>> {
    let is_tools = |row: &Row| matches!(row.what, What::Call | What::Result);
    let mut items: Vec<Rc<Item>> = Vec::new();
    for batch in rows.chunk_by(|a, b| is_tools(a) == is_tools(b)) {
        let is_asked = items.last().is_some_and(|item| !item.calls.is_empty());
        if batch.first().is_some_and(is_tools) && !is_asked {
            let alone = batch.iter().filter(|row| row.what == What::Call).flat_map(|row| &row.item.calls);
            let alone: Vec<CallText> = alone.cloned().collect();
            if !alone.is_empty() {
                items.push(Rc::new(Item::new(Role::Assistant, "").calling(alone)));
            }
        }
        let said = batch.iter().filter(|row| row.what != What::Call);
        let said = said
            .filter(|row| row.what != What::Reply || !row.item.text.is_empty() || !row.item.calls.is_empty());
        items.extend(said.map(|row| row.item.clone()));
    }
    items
}

/// A document whose conversation is a list of rows. The hooks are the moments a document may act at.
pub trait Document {
    /// The rows.
    fn history(&mut self) -> &mut History;
    /// What would be sent now.
    fn items(&self) -> Vec<Rc<Item>>;
    /// A result as it is stored.
    fn stored(&self, call: &ToolUse) -> Rc<str>;
    /// A reply that asked for tools, and what came of it, become rows.
    fn keep(&mut self, round: &Round) {
        self.history().push_asking(round);
        for call in &round.calls {
            self.history().push_call(call);
        }
        for call in &round.calls {
            let output = self.stored(call);
            self.history().push_result(call, output);
        }
    }
    /// The user is about to say something.
    fn before_submit(&mut self, _model: usize, _world: &mut World<'_>) {}
    /// A request is about to be made; false ends the turn.
    fn before_request(&mut self, _model: usize, _world: &mut World<'_>) -> bool {
        true
    }
    /// The service reported what a step took.
    fn after_step(&mut self, _model: usize, _usage: Usage, _world: &mut World<'_>) {}
    /// Results are in.
    fn after_tools(&mut self, _model: usize, _world: &mut World<'_>) {}
    /// The reply is complete.
    fn after_response(&mut self, _model: usize, _world: &mut World<'_>) {}
}

/// The ordinary loop of an agent around a document.
#[derive(Debug)]
pub struct Loop<D>(pub D);

impl<D: Document> Loop<D> {
    fn step(&mut self, model: usize, said: &str, world: &mut World<'_>) -> Option<u64> {
        let document = &mut self.0;
        if !document.before_request(model, world) {
            return None;
        }
        let prompt = Prompt { items: document.items(), tools: world.tools(model), max_output: None };
        let answered = world.ask(model, prompt, said).ok()?;
        document.after_step(model, answered.usage, world);
        Some(answered.kept_milli)
    }

    fn answer(&mut self, turn: &Turn, world: &mut World<'_>) -> Option<()> {
        self.0.before_submit(turn.model, world);
        self.0.history().push_user(turn);
        for round in &turn.rounds {
            self.step(turn.model, &round.said(), world)?;
            self.0.keep(round);
            self.0.after_tools(turn.model, world);
        }
        let milli = self.step(turn.model, &turn.reply, world)?;
        self.0.history().push(What::Reply, Item::new(Role::Assistant, kept(&turn.reply, milli)));
        self.0.after_response(turn.model, world);
        Some(())
    }
}

impl<D: Document> Play for Loop<D> {
    fn turn(&mut self, turn: &Turn, world: &mut World<'_>) -> Outcome {
        match self.answer(turn, world) {
            Some(()) => Outcome::Answered,
            None => Outcome::Refused,
        }
    }
}

/// The size of what would be sent now, for the share of the window that a compaction leaves unused.
pub fn size(items: Vec<Rc<Item>>, model: usize, world: &mut World<'_>) -> u64 {
    let prompt = Prompt { items, tools: world.tools(model), max_output: None };
    world.model(model).map_or(0, |spec| prompt.tokens(&spec.tokenizer, world.counter))
}

/// A length that a document names without asking the service for it, or the model's own.
pub fn unsaid(model: usize, most: u64, world: &World<'_>) -> Output {
    Output::Unsaid(world.model(model).map_or(most, |spec| spec.max_output.min(most)))
}

/// No compaction: everything is sent, always.
#[derive(Debug)]
pub struct Everything {
    system: Rc<Item>,
    history: History,
}

impl Everything {
    /// A new conversation.
    pub fn new(script: &Script) -> Self {
        Self { system: system(script), history: History::default() }
    }
}

/// The agent's instructions.
pub fn system(script: &Script) -> Rc<Item> {
    Rc::new(Item::new(Role::System, script.system.as_str()))
}

impl Document for Everything {
    fn history(&mut self) -> &mut History {
        &mut self.history
    }

    fn items(&self) -> Vec<Rc<Item>> {
        [self.system.clone()].into_iter().chain(sent(&self.history.rows)).collect()
    }

    fn stored(&self, call: &ToolUse) -> Rc<str> {
        call.output.clone()
    }
}
