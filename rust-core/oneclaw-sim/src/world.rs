//! Everything around a policy: services that enforce their windows, the writer of summaries, and the tally.
//!
//! A policy asks, and is answered or refused; it never sees a count that a real service would not report. All figures
//! of the report are taken here, in the same way for every policy.

use crate::rng::Rng;
use crate::script::{ModelSpec, Origin, Script, Turn};
use crate::summariser::{Summariser, Writer, Written};
use crate::tally::{FactsSeen, Point, Sums, Tally, TurnCost, cost_of_cached};
use crate::tokens::Counter;
use crate::wire::{Item, Prompt, Role, tools_tokens};
use oneclaw_context::budget::SHORT_REPLY;
use oneclaw_context::policy::Style;
use oneclaw_model::Usage;
use std::collections::HashSet;
use std::rc::Rc;

/// Services cache no prefix shorter than this.
const LEAST_CACHED: u64 = 1_024;
/// A compaction is part of a loop if less than this share of the window was added since the last one.
const LOOP_SHARE: u64 = 10;
/// So many failed turns at the end make a conversation dead.
const DEAD_AFTER: u64 = 5;

/// What a policy says of a request that it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// It fits.
    Fits,
    /// It may not fit, and is tried before the turn is given up.
    Tried,
}

/// Why a service does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The prompt, or prompt and output asked for, exceed the window.
    TooLong {
        /// The size of the prompt.
        prompt: u64,
    },
    /// Calls and results do not belong together.
    Malformed,
}

/// What a service says of a prompt that it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// What it reports.
    pub usage: Usage,
    /// The characters of the reply that there was room for, in thousandths of it.
    pub kept_milli: u64,
}

/// The surroundings of one conversation under one policy.
#[derive(Debug)]
pub struct World<'a> {
    /// Counts.
    pub counter: &'a mut Counter,
    /// The script.
    pub script: &'a Script,
    /// What the tools cost, by model.
    tools: Vec<u64>,
    summariser: Summariser,
    /// The last prompt that each model answered, for its cache.
    last: Vec<Prompt>,
    /// The last prompt that was answered at all in this turn.
    answered: Option<Prompt>,
    turn: Sums,
    /// The calls whose results were sent without them.
    orphaned: HashSet<String>,
    last_compaction: Option<LastCompaction>,
    failed_in_a_row: u64,
    /// The figures.
    pub tally: Tally,
    /// What each turn cost.
    pub costs: Vec<TurnCost>,
    /// Every request, where somebody wants to draw them.
    pub points: Option<Vec<Point>>,
}

impl<'a> World<'a> {
    /// The surroundings of a script.
    pub fn new(counter: &'a mut Counter, script: &'a Script, writer: Writer, rng: Rng) -> Self {
        let tools =
            script.models.iter().map(|m| tools_tokens(&script.tools, &m.tokenizer, counter)).collect();
        Self {
            counter,
            script,
            tools,
            summariser: Summariser::new(writer, rng),
            last: script.models.iter().map(|_| Prompt::default()).collect(),
            answered: None,
            turn: Sums::default(),
            orphaned: HashSet::new(),
            last_compaction: None,
            failed_in_a_row: 0,
            tally: Tally { conversations: 1, ..Tally::default() },
            costs: vec![],
            points: None,
        }
    }

    /// The model a turn is answered by.
    pub fn model(&self, index: usize) -> Option<&'a ModelSpec> {
        self.script.models.get(index)
    }

    /// What the tools offered cost on that model.
    pub fn tools(&self, index: usize) -> u64 {
        self.tools.get(index).copied().unwrap_or(0)
    }

    /// The last prompt that model answered.
    pub fn last(&self, index: usize) -> Prompt {
        self.last.get(index).cloned().unwrap_or_default()
    }

    /// Puts a prompt to a model, which answers with `reply` or refuses.
    pub fn ask(&mut self, index: usize, prompt: Prompt, reply: &str) -> Result<Answered, Refusal> {
        self.ask_as(index, prompt, reply, Promise::Fits)
    }

    /// The same, by somebody who says what is known of the size.
    pub fn ask_as(
        &mut self,
        index: usize,
        prompt: Prompt,
        reply: &str,
        promise: Promise,
    ) -> Result<Answered, Refusal> {
        let Some(model) = self.model(index) else { return Err(Refusal::Malformed) };
        let size = prompt.tokens(&model.tokenizer, self.counter);
        let faults = prompt.faults();
        self.tally.requests += 1;
        self.tally.tries += u64::from(promise == Promise::Tried);
        self.tally.largest_ppm = self.tally.largest_ppm.max(size * 1_000_000 / model.window.max(1));
        let orphaned = &mut self.orphaned;
        let new = faults.orphans.iter().filter(|call| orphaned.insert((**call).to_owned())).count();
        self.tally.orphans += new as u64;
        let is_too_long = size.saturating_add(prompt.max_output.unwrap_or(0)) > model.window;
        let is_malformed = !faults.orphans.is_empty() || faults.unanswered > 0;
        if let Some(last) = &mut self.last_compaction {
            last.first.get_or_insert(size);
        }
        let turn = self.costs.len() as u64;
        if let Some(points) = &mut self.points {
            points.push(Point { turn, tokens: size, is_refused: is_too_long || is_malformed });
        }
        if is_too_long {
            match promise {
                Promise::Fits => self.tally.rejected += 1,
                Promise::Tried => self.tally.tries_refused += 1,
            }
            return Err(Refusal::TooLong { prompt: size });
        }
        if is_malformed {
            self.tally.malformed += 1;
            return Err(Refusal::Malformed);
        }
        let earlier = self.last(index);
        let shared = prompt.shared_with(&earlier, &model.tokenizer, self.counter);
        let cached = if shared >= LEAST_CACHED { shared } else { 0 };
        self.tally.prompt_tokens += size;
        self.tally.cached_tokens += cached;
        self.turn.tokens += size;
        self.turn.paid += size - cached + cost_of_cached(cached);
        let room = prompt.max_output.unwrap_or(model.max_output).min(model.window - size);
        let output = self.counter.count(&model.tokenizer, reply);
        if let Some(last) = self.last.get_mut(index) {
            last.clone_from(&prompt);
        }
        self.answered = Some(prompt);
        let usage =
            Usage { input: size - cached, cache_read: cached, output: output.min(room), ..Usage::default() };
        let kept_milli = if output <= room { 1_000 } else { room * 1_000 / output.max(1) };
        if kept_milli < 1_000 {
            self.tally.cut += 1;
            self.turn.cut += 1;
        }
        Ok(Answered { usage, kept_milli })
    }

    /// What a prompt would cost, where the service says so.
    pub fn count(&mut self, index: usize, prompt: &Prompt) -> Option<u64> {
        let model = self.model(index).filter(|model| model.has_counting)?;
        self.tally.counts += 1;
        Some(prompt.tokens(&model.tokenizer, self.counter))
    }

    /// Asks a model for a summary.
    pub fn ask_summary(&mut self, index: usize, request: &SummaryRequest<'_>) -> Result<Written, Refusal> {
        let Some(model) = self.model(index) else { return Err(Refusal::Malformed) };
        let (tokenizer, counter) = (&model.tokenizer, &mut *self.counter);
        let tokens = |item: &Rc<Item>| match request.form {
            Form::Messages => item.tokens(tokenizer, counter),
            Form::Transcript { label } => item.words(tokenizer, counter) + label,
        };
        let size = request.material.iter().map(tokens).sum::<u64>() + request.frame;
        self.tally.summary_calls += 1;
        self.turn.summary_calls += 1;
        let asked = match request.output {
            Output::Asked(tokens) => tokens,
            Output::Unsaid(_) => 0,
        };
        if size.saturating_add(asked) > model.window {
            self.tally.summary_overflows += 1;
            return Err(Refusal::TooLong { prompt: size });
        }
        self.tally.summary_tokens += size;
        self.turn.tokens += size;
        self.turn.paid += size;
        let (Output::Asked(cap) | Output::Unsaid(cap)) = request.output;
        let cap = cap.min(model.window - size);
        let texts = request.material.iter().map(|item| item.text.as_ref());
        Ok(self.summariser.write(texts, request.style, cap, &model.tokenizer, self.counter))
    }

    /// Whether the last prompt that was answered in this turn has this text; `None` where none was.
    pub fn shows(&self, value: &str) -> Option<bool> {
        self.answered.as_ref().map(|prompt| prompt.shows(value))
    }

    /// Notes that a compaction is made of a conversation whose next request would be `size` tokens.
    pub fn compacted(&mut self, index: usize, size: u64) {
        let window = self.model(index).map_or(1, |model| model.window.max(1));
        self.tally.compactions += 1;
        self.turn.compactions += 1;
        let turn = self.costs.len();
        if let Some(last) = self.last_compaction.filter(|last| last.model == index) {
            let is_loop = match last.first {
                Some(first) => size < first.saturating_add(window / LOOP_SHARE),
                None => last.turn == turn,
            };
            self.tally.loops += u64::from(is_loop);
            self.turn.loops += u64::from(is_loop);
        }
        self.last_compaction = Some(LastCompaction { model: index, turn, first: None });
        let wasted = window.saturating_sub(size) * 1_000_000 / window;
        self.tally.wasted_ppm += wasted;
        self.turn.wasted_ppm += wasted;
    }

    /// Ends a turn: what was seen in it, how it went.
    pub fn end_turn(&mut self, turn: &Turn, outcome: Outcome) {
        let is_completed = outcome == Outcome::Answered;
        self.tally.turns += 1;
        if !is_completed {
            self.failed(turn, outcome);
        }
        let prompt = self.answered.take().filter(|_| is_completed);
        let mut facts = FactsSeen::default();
        for fact in turn.probes.iter().filter_map(|place| self.script.facts.get(*place)) {
            let list = match fact.origin {
                Origin::User => &mut facts.user,
                Origin::Tool => &mut facts.tool,
                Origin::Pin => &mut facts.pins,
            };
            list.asked += 1;
            list.seen += u64::from(prompt.as_ref().is_some_and(|prompt| prompt.shows(&fact.value)));
        }
        self.tally.facts.add(&facts);
        self.turn.facts = facts;
        self.failed_in_a_row = if is_completed { 0 } else { self.failed_in_a_row + 1 };
        self.costs.push(TurnCost { is_completed, sums: std::mem::take(&mut self.turn) });
    }

    /// Finds out whose fault a failed turn is, by the real count of what no policy can leave out.
    fn failed(&mut self, turn: &Turn, outcome: Outcome) {
        let Some(model) = self.model(turn.model) else { return };
        let system = Rc::new(Item::new(Role::System, self.script.system.as_str()));
        let user = Item::new(Role::User, turn.user.as_str()).showing(turn.pictures.clone());
        let message = user.tokens(&model.tokenizer, self.counter);
        let prompt =
            Prompt { items: vec![system, Rc::new(user)], tools: self.tools(turn.model), max_output: None };
        let least = prompt.tokens(&model.tokenizer, self.counter);
        let tally = &mut self.tally;
        if least > model.window {
            tally.impossible += 1;
            return;
        }
        tally.failed += 1;
        if outcome == Outcome::Declined {
            match least.saturating_add(model.max_output.min(SHORT_REPLY)) > model.window {
                true => tally.declined += 1,
                false => tally.declined_early += 1,
            }
            let share = message * 1_000_000 / model.window.max(1);
            tally.least_declined_ppm = Some(tally.least_declined_ppm.map_or(share, |known| known.min(share)));
        }
    }

    /// Ends the conversation.
    pub fn end(&mut self) {
        self.tally.dead += u64::from(self.failed_in_a_row >= DEAD_AFTER);
    }
}

/// What the next compaction is compared with.
#[derive(Debug, Clone, Copy)]
struct LastCompaction {
    model: usize,
    turn: usize,
    /// The size of the first request after it.
    first: Option<u64>,
}

/// A request for a summary.
#[derive(Debug)]
pub struct SummaryRequest<'m> {
    /// What is summarised.
    pub material: &'m [Rc<Item>],
    /// How it is sent.
    pub form: Form,
    /// Tokens of instructions around it.
    pub frame: u64,
    /// The form of the answer.
    pub style: Style,
    /// Its length.
    pub output: Output,
}

/// How the material of a summary request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As messages, pictures included.
    Messages,
    /// As one text without pictures, so many tokens for the label before each message.
    Transcript {
        /// The tokens.
        label: u64,
    },
}

/// The output that a summary request is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// The service is asked for so many tokens, and counts them.
    Asked(u64),
    /// The document names a length, and the service is not held to it.
    Unsaid(u64),
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The user has a reply.
    Answered,
    /// The service refused.
    Refused,
    /// The policy sent nothing: what the user wrote leaves no room for a reply.
    Declined,
    /// The policy sent nothing, for whatever other reason.
    Stuck,
}

/// As much of a reply as there was room for.
pub fn kept(text: &str, milli: u64) -> String {
    if milli >= 1_000 {
        return text.to_owned();
    }
    let chars = text.chars().count() as u64 * milli / 1_000;
    text.chars().take(chars as usize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::Kind;
    use crate::service::Service;
    use crate::texts::Texts;

    #[test]
    fn what_is_tried_and_what_is_counted_is_told_apart() {
        for has_counting in [false, true] {
            let mut service = Service::default();
            service.has_counting = has_counting;
            let script = Script::new(&Texts::new(1), Kind::Chat, 2_000, Rng::of(1, &[1]), 1, &service);
            let mut counter = Counter::default();
            let mut world = World::new(&mut counter, &script, Writer::Good, Rng::of(1, &[2]));
            let prompt = |words: usize| {
                let item = Rc::new(Item::new(Role::User, "word ".repeat(words)));
                Prompt { items: vec![item], ..Prompt::default() }
            };
            let outcomes = [(5_000, Promise::Tried), (5_000, Promise::Fits), (50, Promise::Tried)]
                .map(|(words, promise)| world.ask_as(0, prompt(words), "yes", promise).is_ok());
            assert_eq!(outcomes, [false, false, true]);
            let counted = world.count(0, &prompt(50));
            assert_eq!(counted, has_counting.then_some(world.tally.prompt_tokens));
            let tally = &world.tally;
            assert_eq!((tally.requests, tally.tries, tally.tries_refused, tally.rejected), (3, 2, 1, 1));
            assert_eq!(tally.counts, u64::from(has_counting));
        }
    }
}
