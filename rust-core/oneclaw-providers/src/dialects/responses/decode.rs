//! The stream of OpenAI Responses.
//!
//! A reply is a list of items: reasoning, messages, calls. This module decides which item an event belongs to, gives out
//! what only came as a whole and never anything twice, and says how the reply ended. The reply is over at
//! `response.completed`, `response.incomplete` or `response.failed` and not before: only there the service says whether
//! it is whole, so a body that ends without one of them was cut off, whatever end mark it has.

use super::item::{Item, Parts, Slot};
use super::wire::{Event, Response, WireItem};
use crate::decode::{Fault, Flow, reported};
use crate::draft::{Draft, protocol, word};
use crate::json;
use crate::{StopReason, StreamEvent};
use oneclaw_model::{ProviderKind, Thinking};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The most items of one reply.
const MAX_ITEMS: usize = 1_024;

/// Stands between two messages of a reply, and between two parts of its reasoning.
const BREAK: &str = "\n\n";

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    draft: Draft,
    items: Vec<Slot>,
    /// The item that spoke last.
    speaker: Option<usize>,
    has_thought: bool,
    /// Another part of the reasoning was announced.
    is_new_thought: bool,
    refused: bool,
}

impl Reader {
    /// Reads an event; `name` is what the stream calls it, `data` is its text.
    pub(crate) fn read(
        &mut self,
        name: &str,
        event: Event<'_>,
        data: &str,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Flow, Fault> {
        let kind = if event.kind.is_empty() { name } else { &event.kind.0 };
        let (index, id) = (event.output_index.map(|index| index.0), event.item_id.0.as_ref());
        match kind {
            "response.output_text.delta" => {
                let at = self.slot(index, id)?;
                self.say(at, event.content_index.0, event.delta.0, out)?;
            }
            "response.refusal.delta" => {
                let at = self.slot(index, id)?;
                self.refused |= !event.delta.is_empty();
                self.say(at, event.content_index.0, event.delta.0, out)?;
            }
            "response.reasoning_summary_text.delta" => {
                let at = self.slot(index, id)?;
                self.think(at, Parts::Summary(event.summary_index.0), event.delta.0, out)?;
            }
            "response.reasoning_text.delta" => {
                let at = self.slot(index, id)?;
                self.think(at, Parts::Content(event.content_index.0), event.delta.0, out)?;
            }
            "response.reasoning_summary_part.added" => self.is_new_thought = true,
            "response.function_call_arguments.delta" => {
                let at = self.slot(index, id)?;
                self.argue(at, event.delta.0, out)?;
            }
            "response.function_call_arguments.done" => {
                let at = self.slot(index, id)?;
                self.argue_whole(at, json::arguments(event.arguments)?, out)?;
            }
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    self.added(index, item, out)?;
                }
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.done(index, item, out)?;
                }
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.end(kind, event.response.0.unwrap_or_default(), out);
            }
            // The event itself is the error, or holds it.
            "error" => {
                return Err(reported(ProviderKind::OpenAi, event.error.map_or(data, RawValue::get)).into());
            }
            // What says nothing of the reply, and what is yet to be invented; but an error is one whatever it is called.
            _ => {
                if let Some(error) = event.error.filter(|error| !json::is_blank(error)) {
                    return Err(reported(ProviderKind::OpenAi, error.get()).into());
                }
            }
        }
        Ok(Flow::More)
    }

    // ---- items ----

    /// The item that an event belongs to. The index tells, where it is sent: some services send another id with every
    /// event. Some send the same index with every item; then the id tells. An event with neither belongs to the newest.
    fn find(&self, index: Option<u64>, id: &str) -> Option<usize> {
        let at_index = |slot: &Slot| index.is_some() && slot.index == index;
        let has_id = |slot: &Slot| !id.is_empty() && slot.id == id;
        let lacks_index = |slot: &Slot| index.is_none() || slot.index.is_none();
        let newest = || self.items.len().checked_sub(1).filter(|_| index.is_none() && id.is_empty());
        let last = |is_meant: &dyn Fn(&Slot) -> bool| self.items.iter().rposition(is_meant);
        last(&|slot| at_index(slot) && has_id(slot))
            .or_else(|| last(&at_index))
            .or_else(|| last(&|slot| has_id(slot) && lacks_index(slot)))
            .or_else(newest)
    }

    /// The same; an item that nobody has heard of begins.
    fn slot(&mut self, index: Option<u64>, id: &str) -> Result<usize, Fault> {
        match self.find(index, id) {
            Some(at) => Ok(at),
            None => self.push(index, id),
        }
    }

    fn push(&mut self, index: Option<u64>, id: &str) -> Result<usize, Fault> {
        if self.items.len() == MAX_ITEMS {
            return Err(protocol(format!("the reply has more than {MAX_ITEMS} items")).into());
        }
        self.draft.spend(id.len())?;
        self.items.push(Slot::new(index, id));
        Ok(self.items.len() - 1)
    }

    fn item(&mut self, at: usize) -> Option<&mut Slot> {
        self.items.get_mut(at)
    }

    fn added(&mut self, index: Option<u64>, raw: &RawValue, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let mut spare = String::new();
        let item: WireItem<'_> = json::parse(raw.get(), &mut spare)?;
        // Some servers give every item the same index: another id, or an item after one that is done, is another item.
        let known = self.find(index, &item.id.0);
        let same = known.filter(|at| self.items.get(*at).is_some_and(|slot| slot.is_still(&item.id.0)));
        let at = match same {
            Some(at) => at,
            None => self.push(index, &item.id.0)?,
        };
        if item.is(Item::Call) && !item.name.is_empty() {
            self.start(at, &item, out)?;
        }
        Ok(())
    }

    fn done(&mut self, index: Option<u64>, raw: &RawValue, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let mut spare = String::new();
        let item: WireItem<'_> = json::parse(raw.get(), &mut spare)?;
        let known = self.find(index, &item.id.0);
        let at = match known.and_then(|at| self.items.get(at).map(|slot| (at, slot))) {
            Some((_, slot)) if slot.is_done && slot.id == item.id.0 => return Ok(()),
            Some((at, slot)) if !slot.is_done => at,
            _ => self.push(index, &item.id.0)?,
        };
        self.finish(at, item, raw, out)
    }

    /// An item is whole: what of it did not come in pieces is given out now.
    fn finish(
        &mut self,
        at: usize,
        item: WireItem<'_>,
        raw: &RawValue,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), Fault> {
        if let Some(slot) = self.item(at) {
            slot.is_done = true;
        }
        if item.is(Item::Call) {
            if item.name.is_empty() {
                return Err(protocol("a call has no name".to_owned()).into());
            }
            let call = self.start(at, &item, out)?;
            self.argue_whole(at, json::arguments(item.arguments)?, out)?;
            self.draft.complete(call, None, out);
        } else if item.is(Item::Message) {
            for (part, content) in (0..).zip(item.content.0) {
                self.refused |= !content.refusal.is_empty();
                let text = if content.refusal.is_empty() { content.text.0 } else { content.refusal.0 };
                if !self.has(at, Parts::Content(part)) {
                    self.say(at, part, text, out)?;
                }
            }
            // A phase belongs to the text just said; where another item spoke in between, it is not known to which.
            if !item.phase.is_empty() && self.speaker == Some(at) {
                self.draft.spend(item.phase.0.len())?;
                out.push(StreamEvent::TextSignature(item.phase.0.into_owned()));
            }
        } else if item.is(Item::Reasoning) {
            for (part, summary) in (0..).zip(item.summary.0) {
                if !self.has(at, Parts::Summary(part)) {
                    self.think(at, Parts::Summary(part), summary.text.0, out)?;
                }
            }
            for (part, content) in (0..).zip(item.content.0) {
                if !self.has(at, Parts::Content(part)) {
                    self.think(at, Parts::Content(part), content.text.0, out)?;
                }
            }
            if !item.encrypted_content.is_empty() {
                self.draft.spend(raw.get().len())?;
                out.push(StreamEvent::Thought(Thinking::Item { json: raw.get().to_owned() }));
            }
        }
        Ok(())
    }

    // ---- text and reasoning ----

    fn has(&self, at: usize, part: Parts) -> bool {
        self.items.get(at).is_some_and(|slot| slot.parts.contains(&part))
    }

    /// Says whether this is the first of that part.
    fn begin(&mut self, at: usize, part: Parts) -> Result<bool, Fault> {
        match self.item(at) {
            Some(slot) => Ok(slot.begin(part)?),
            None => Ok(false),
        }
    }

    fn say(
        &mut self,
        at: usize,
        part: u64,
        piece: Cow<'_, str>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        self.begin(at, Parts::Content(part))?;
        // Two messages are two paragraphs to whoever reads them as one text.
        if self.speaker.replace(at).is_some_and(|other| other != at) {
            self.draft.text(BREAK.into(), out);
        }
        self.draft.text(piece, out);
        Ok(())
    }

    fn think(
        &mut self,
        at: usize,
        part: Parts,
        piece: Cow<'_, str>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        let is_new = self.begin(at, part)? | std::mem::take(&mut self.is_new_thought);
        if is_new && self.has_thought {
            self.draft.thinking(BREAK.into(), out);
        }
        self.has_thought = true;
        self.draft.thinking(piece, out);
        Ok(())
    }

    // ---- calls ----

    /// The call of the draft, started if it is not yet.
    fn start(&mut self, at: usize, item: &WireItem<'_>, out: &mut Vec<StreamEvent>) -> Result<usize, Fault> {
        if let Some(call) = self.item(at).and_then(|slot| slot.call) {
            return Ok(call);
        }
        let call = self.draft.start(&item.call_id.0, &item.name.0, out)?;
        if let Some(slot) = self.item(at) {
            slot.call = Some(call);
            slot.is_nameless = false;
        }
        Ok(call)
    }

    fn argue(&mut self, at: usize, piece: Cow<'_, str>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let says_something = !piece.trim_ascii().is_empty();
        let Some(slot) = self.item(at) else { return Ok(()) };
        let Some(call) = slot.call else {
            // The whole of it may still come with a name.
            slot.is_nameless |= says_something;
            return Ok(());
        };
        slot.has_arguments |= says_something;
        Ok(self.draft.argue(call, piece, out)?)
    }

    /// All arguments of a call, in case that none came in pieces.
    fn argue_whole(
        &mut self,
        at: usize,
        whole: Cow<'_, str>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), Fault> {
        if self.items.get(at).is_some_and(|slot| slot.has_arguments) {
            return Ok(());
        }
        self.argue(at, whole, out)
    }

    // ---- the end ----

    fn end(&mut self, kind: &str, response: Response<'_>, out: &mut Vec<StreamEvent>) -> Result<Flow, Fault> {
        if let Some(usage) = &response.usage.0 {
            self.draft.usage(usage.normalised(), out);
        }
        let status = response.status.0.as_ref();
        if kind == "response.failed" || status == "failed" {
            let error = response.error.map_or("null", RawValue::get);
            return Err(reported(ProviderKind::OpenAi, error).into());
        }
        self.rest(&response.output.0, out)?;
        if self.items.iter().any(|slot| slot.is_nameless) {
            return Err(protocol("a call has arguments, but no name".to_owned()).into());
        }
        let reason = match response.incomplete_details.0.as_ref().map(|details| details.reason.0.as_ref()) {
            _ if kind != "response.incomplete" && status != "incomplete" => StopReason::End,
            Some("max_output_tokens") => StopReason::Length,
            Some("content_filter") => StopReason::Refused,
            Some(other) if !other.is_empty() => StopReason::Other(word(other)),
            _ => StopReason::Other("incomplete".to_owned()),
        };
        let is_refused = self.refused && reason == StopReason::End;
        self.draft.stop(if is_refused { StopReason::Refused } else { reason }, out);
        Ok(Flow::Over)
    }

    /// The last event repeats the reply: items of it that were never said to be done are now. Where no event came before,
    /// that is the whole reply.
    fn rest(&mut self, output: &[&RawValue], out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let is_all = self.items.is_empty();
        for (index, raw) in (0..).zip(output) {
            let mut spare = String::new();
            let item: WireItem<'_> = json::parse(raw.get(), &mut spare)?;
            let known = self.find(Some(index), &item.id.0);
            let at = match known {
                Some(at) if self.items.get(at).is_some_and(|slot| !slot.is_done) => at,
                None if is_all => self.push(Some(index), &item.id.0)?,
                _ => continue,
            };
            self.finish(at, item, raw, out)?;
        }
        Ok(())
    }
}
