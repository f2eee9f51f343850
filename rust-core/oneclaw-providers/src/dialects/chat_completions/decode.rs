//! The stream of chat completions, from OpenAI and from servers that are nearly compatible.
//!
//! This module decides which call a piece belongs to when ids or indices are missing or repeated, and what a chunk's
//! usage means. The reply is over at `[DONE]`, not at the finish reason: usage may come in between.

use super::kept::{self, Kept};
use crate::decode::{Fault, Flow, reported};
use crate::draft::{Draft, MAX_CALLS, protocol, word};
use crate::json::{self, Content, Count, Few, First, Maybe, Text};
use crate::{ProviderError, StopReason, StreamEvent};
use oneclaw_model::{ProviderKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The data of the event that ends a stream.
pub(crate) const DONE: &str = "[DONE]";

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    draft: Draft,
    slots: Vec<Slot>,
    finish: Option<StopReason>,
    /// The reason stands for the end. Some servers give one with every piece, so the usual one counts as such only
    /// where nothing else came with it.
    is_reason_final: bool,
    refused: bool,
    kept: Kept,
}

/// A call as the service sends it.
#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    /// The id that was sent; may be empty.
    id: String,
    name: String,
    /// The call of the draft, once there is a name.
    call: Option<usize>,
    /// How far its arguments are; only looked at where no id tells calls apart.
    shape: Shape,
}

/// Whether a text that comes in pieces is a whole JSON object.
#[derive(Debug, Default)]
struct Shape {
    depth: usize,
    in_string: bool,
    after_backslash: bool,
    is_whole: bool,
}

impl Shape {
    fn take(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.after_backslash => self.after_backslash = false,
                b'\\' if self.in_string => self.after_backslash = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_whole |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Chunk<'a> {
    #[serde(default, borrow)]
    choices: First<Choice<'a>>,
    #[serde(default)]
    usage: Maybe<WireUsage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
    #[serde(default, borrow)]
    object: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Count,
    #[serde(default, borrow)]
    delta: Maybe<Delta<'a>>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
    /// Where Kimi puts it.
    #[serde(default)]
    usage: Maybe<WireUsage>,
}

#[derive(Debug, Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow)]
    content: Content<'a>,
    #[serde(default, borrow)]
    refusal: Text<'a>,
    #[serde(default, borrow)]
    reasoning_content: Text<'a>,
    #[serde(default, borrow)]
    reasoning: Text<'a>,
    #[serde(default, borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(default, borrow)]
    tool_calls: Few<ToolCall<'a>>,
    /// The form before there were several calls.
    #[serde(default, borrow)]
    function_call: Maybe<Function<'a>>,
}

#[derive(Debug, Deserialize)]
struct ToolCall<'a> {
    #[serde(default)]
    index: Option<Count>,
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow)]
    function: Maybe<Function<'a>>,
}

#[derive(Debug, Default, Deserialize)]
struct Function<'a> {
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    total_tokens: Count,
    #[serde(default)]
    prompt_tokens_details: Maybe<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Maybe<CompletionDetails>,
    /// Where DeepSeek puts it.
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
    /// Where Kimi puts it.
    #[serde(default)]
    cached_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

impl Reader {
    /// Reads a chunk; `data` is its text.
    pub(crate) fn read(
        &mut self,
        chunk: Chunk<'_>,
        data: &str,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Flow, Fault> {
        if let Some(error) = chunk.error
            && !(chunk.choices.0.is_some() && json::is_blank(error))
        {
            return Err(reported(ProviderKind::OpenAi, error.get()).into());
        }
        if chunk.object.0 == "error" {
            return Err(self.error(data).into());
        }
        let mut usage = chunk.usage.0;
        if let Some(choice) = chunk.choices.0
            && choice.index.0 == 0
        {
            let before = out.len();
            if let Some(delta) = choice.delta.0 {
                self.delta(delta, out)?;
            }
            if !choice.finish_reason.is_empty() {
                let reason = reason(&choice.finish_reason.0);
                self.is_reason_final = reason != StopReason::End || out.len() == before;
                self.finish = Some(reason);
            }
            usage = usage.or(choice.usage.0);
        }
        if let Some(usage) = usage {
            self.draft.usage(usage.normalised(), out);
        }
        Ok(Flow::More)
    }

    /// The event as a whole is an error, or holds one.
    pub(crate) fn error(&self, data: &str) -> ProviderError {
        let inner = serde_json::from_str(data).ok().and_then(|chunk: Chunk<'_>| chunk.error);
        reported(ProviderKind::OpenAi, inner.map_or(data, RawValue::get))
    }

    /// Whether the reason for the end was given, and nothing more of the reply is to come.
    pub(crate) fn has_reason(&self) -> bool {
        self.finish.is_some() && self.is_reason_final
    }

    /// The reply is over.
    pub(crate) fn stop(&mut self, out: &mut Vec<StreamEvent>) {
        let reason = match self.finish.take() {
            // The words of a refusal come under another name, the reason for the end does not.
            None | Some(StopReason::End) if self.refused => StopReason::Refused,
            None => StopReason::End,
            Some(reason) => reason,
        };
        self.draft.complete_all(out);
        out.extend(self.kept.thoughts().into_iter().map(StreamEvent::Thought));
        self.draft.stop(reason, out);
    }

    /// The body is over. Some servers leave out the end mark; a reply that gave the reason for its end is whole.
    pub(crate) fn end(&mut self, out: &mut Vec<StreamEvent>) -> bool {
        let whole = self.finish.is_some();
        if whole {
            self.stop(out);
        }
        whole
    }

    fn delta(&mut self, delta: Delta<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let (first, second) = (delta.reasoning_content.0, delta.reasoning.0);
        let details = kept::details(delta.reasoning_details);
        let repeated = first == second;
        // OpenRouter repeats the text of its details as `reasoning`.
        if first.is_empty() && second.is_empty() {
            for detail in &details {
                self.draft.thinking(detail.text().into(), out);
            }
        }
        self.kept.take(&first, &second, details, &mut self.draft)?;
        self.draft.thinking(first, out);
        if !repeated {
            self.draft.thinking(second, out);
        }
        for part in delta.content.parts {
            let thinking = part.thinking;
            self.draft.thinking(thinking.text.0, out);
            for inner in thinking.parts {
                self.draft.thinking(inner.text.0, out);
            }
            self.draft.text(part.text.0, out);
        }
        self.draft.text(delta.content.text.0, out);
        self.refused |= !delta.refusal.is_empty();
        self.draft.text(delta.refusal.0, out);
        let legacy = delta.function_call.0.map(|function| ToolCall {
            index: None,
            id: Text::default(),
            function: Maybe(Some(function)),
        });
        for call in delta.tool_calls.0.into_iter().chain(legacy) {
            self.call(call, out)?;
        }
        Ok(())
    }

    fn call(&mut self, sent: ToolCall<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let index = sent.index.map(|index| index.0);
        let (id, function) = (sent.id.0, sent.function.0.unwrap_or_default());
        let (name, arguments) = (function.name.0, json::arguments(function.arguments)?);
        let slot = match self.slot_of(index, &id, &name, &arguments) {
            Some(slot) => slot,
            None => {
                if self.slots.len() == MAX_CALLS {
                    return Err(protocol(format!("the reply has more than {MAX_CALLS} calls")).into());
                }
                self.draft.spend(id.len())?;
                let (id, name, shape) = (id.into_owned(), String::new(), Shape::default());
                self.slots.push(Slot { index, id, name, call: None, shape });
                self.slots.len() - 1
            }
        };
        let Some(slot) = self.slots.get_mut(slot) else { return Ok(()) };
        let call = match slot.call {
            Some(call) => call,
            None if name.is_empty() && arguments.is_empty() => return Ok(()),
            None if name.is_empty() => {
                return Err(protocol("a call has arguments, but no name".to_owned()).into());
            }
            None => {
                slot.name = name.into_owned();
                *slot.call.insert(self.draft.start(&slot.id, &slot.name, out)?)
            }
        };
        if slot.id.is_empty() {
            slot.shape.take(&arguments);
        }
        Ok(self.draft.argue(call, arguments, out)?)
    }

    /// The call that a piece continues, if it starts none.
    ///
    /// The index tells, where it is sent. But some servers send index 0 for every call: then a name with a new id, or
    /// another name, starts a call, and so does the same name where the arguments so far are whole and others begin.
    /// Some repeat id and name with every piece, and some send another id with every piece: neither starts a call.
    fn slot_of(&self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let at_index = |slot: &Slot| index.is_none() || slot.index == index;
        let same_id = |slot: &Slot| at_index(slot) && !id.is_empty() && slot.id == id;
        let known = self.slots.iter().rposition(same_id);
        known.or_else(|| {
            let newest = self.slots.iter().rposition(at_index)?;
            let slot = self.slots.get(newest)?;
            let other_id = !id.is_empty() && !slot.id.is_empty();
            let other_name = !slot.name.is_empty() && (index.is_none() || slot.name != name);
            let other_arguments = slot.shape.is_whole && arguments.trim_ascii_start().starts_with('{');
            let starts = !name.is_empty() && (other_id || other_name || other_arguments);
            (!starts).then_some(newest)
        })
    }
}

impl WireUsage {
    fn normalised(&self) -> Usage {
        let details = self.prompt_tokens_details.0.as_ref();
        let count = |read: fn(&PromptDetails) -> Count| details.map_or(0, |details| read(details).0);
        let named = count(|details| details.cached_tokens);
        let cached = named.max(self.prompt_cache_hit_tokens.0).max(self.cached_tokens.0);
        let written = count(|details| details.cache_write_tokens);
        let reasoning =
            self.completion_tokens_details.0.as_ref().map_or(0, |details| details.reasoning_tokens.0);
        let (prompt, completion) = (self.prompt_tokens.0, self.completion_tokens.0);
        // A few servers leave reasoning out of the completion; their total tells.
        let apart = prompt.saturating_add(completion).saturating_add(reasoning) == self.total_tokens.0;
        Usage {
            input: prompt.saturating_sub(cached).saturating_sub(written),
            cache_read: cached,
            cache_write: written,
            output: if apart { completion.saturating_add(reasoning) } else { completion },
            reasoning,
        }
    }
}

fn reason(finish: &str) -> StopReason {
    match finish {
        "stop" => StopReason::End,
        "length" => StopReason::Length,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "content_filter" => StopReason::Refused,
        other => StopReason::Other(word(other)),
    }
}
