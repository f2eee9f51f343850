//! The stream of Anthropic messages.
//!
//! This module decides which blocks are calls of ours, and puts signatures and counts together. The reply is over at
//! `message_stop` and not before. Blocks that only the service itself can use (its own tools, redacted reasoning) are
//! passed over.

use crate::decode::{Fault, Flow, reported};
use crate::draft::{Draft, protocol, word};
use crate::json::{self, Count, Maybe, Text};
use crate::{StopReason, StreamEvent};
use oneclaw_model::{ProviderKind, Thinking, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    draft: Draft,
    /// Calls by the index of their block, newest last.
    blocks: Vec<Block>,
    /// The index of the reasoning that is being signed, and the signature so far.
    signature: Option<(u64, String)>,
    /// The text of that reasoning so far.
    thought: String,
    stop: Option<StopReason>,
}

#[derive(Debug)]
struct Block {
    index: u64,
    call: usize,
    /// Arguments that came with the start of the block, in case that no others come.
    early: Option<String>,
}

/// Any event. The fields of all kinds stand side by side, so that one pass reads them in whatever order.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default)]
    index: Count,
    #[serde(default, borrow)]
    delta: Maybe<Delta<'a>>,
    #[serde(default, borrow)]
    content_block: Option<Box<Start<'a>>>,
    #[serde(default)]
    message: Option<Box<Message>>,
    #[serde(default)]
    usage: Maybe<WireUsage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Delta<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default, borrow)]
    thinking: Text<'a>,
    #[serde(default, borrow)]
    signature: Text<'a>,
    #[serde(default, borrow)]
    partial_json: Text<'a>,
    #[serde(default, borrow)]
    stop_reason: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Start<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default, borrow)]
    thinking: Text<'a>,
    #[serde(default, borrow)]
    signature: Text<'a>,
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
struct Message {
    #[serde(default)]
    usage: Maybe<WireUsage>,
}

#[derive(Debug, Deserialize)]
struct WireUsage {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
}

impl Reader {
    /// Reads an event; `name` is what the stream calls it.
    pub(crate) fn read(
        &mut self,
        name: &str,
        event: Event<'_>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<Flow, Fault> {
        let kind = if event.kind.is_empty() { name } else { &event.kind.0 };
        let index = event.index.0;
        match kind {
            "content_block_delta" => {
                if let Some(delta) = event.delta.0 {
                    self.delta(index, delta, out)?;
                }
            }
            "content_block_start" => {
                self.sign(out);
                if let Some(start) = event.content_block {
                    self.start(index, *start, out)?;
                }
            }
            "content_block_stop" => {
                if self.signature.as_ref().is_some_and(|(own, _)| *own == index) {
                    self.sign(out);
                }
                if let Some(block) = self.blocks.iter().rposition(|block| block.index == index) {
                    let block = self.blocks.remove(block);
                    self.complete(block, out)?;
                }
            }
            "message_start" => self.usage(event.message.and_then(|message| message.usage.0), out),
            "message_delta" => {
                let reason = event.delta.0.map(|delta| delta.stop_reason).unwrap_or_default();
                if !reason.is_empty() {
                    self.stop = Some(stop_reason(&reason.0));
                }
                self.usage(event.usage.0, out);
            }
            "message_stop" => {
                self.sign(out);
                for block in std::mem::take(&mut self.blocks) {
                    self.complete(block, out)?;
                }
                self.draft.stop(self.stop.take().unwrap_or(StopReason::End), out);
                return Ok(Flow::Over);
            }
            "error" => {
                let error = event.error.map_or("null", RawValue::get);
                return Err(reported(ProviderKind::Anthropic, error).into());
            }
            // `ping`, and what is yet to be invented; but an error is one whatever it is called.
            _ => {
                if let Some(error) = event.error.filter(|error| !json::is_blank(error)) {
                    return Err(reported(ProviderKind::Anthropic, error.get()).into());
                }
            }
        }
        Ok(Flow::More)
    }

    fn start(&mut self, index: u64, start: Start<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        match start.kind.0.as_ref() {
            "text" => self.draft.text(start.text.0, out),
            "thinking" => {
                self.thought = start.thinking.0.clone().into_owned();
                self.draft.thinking(start.thinking.0, out);
                self.signature_piece(index, &start.signature.0)?;
            }
            "tool_use" => {
                if start.name.is_empty() {
                    return Err(protocol("a call has no name".to_owned()).into());
                }
                let call = self.draft.start(&start.id.0, &start.name.0, out)?;
                let early = json::arguments(start.input)?;
                self.draft.spend(early.len())?;
                let early = Some(early.into_owned()).filter(|early| !is_empty_object(early));
                self.blocks.push(Block { index, call, early });
            }
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        match delta.kind.0.as_ref() {
            "text_delta" => self.draft.text(delta.text.0, out),
            "thinking_delta" => {
                self.draft.spend(delta.thinking.0.len())?;
                self.thought.push_str(&delta.thinking.0);
                self.draft.thinking(delta.thinking.0, out);
            }
            "signature_delta" => self.signature_piece(index, &delta.signature.0)?,
            "input_json_delta" => {
                if let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index)
                    && !delta.partial_json.is_empty()
                {
                    if !delta.partial_json.0.trim_ascii().is_empty() {
                        block.early = None;
                    }
                    self.draft.argue(block.call, delta.partial_json.0, out)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn signature_piece(&mut self, index: u64, piece: &str) -> Result<(), Fault> {
        if !piece.is_empty() {
            self.draft.spend(piece.len())?;
            self.signature.get_or_insert_with(|| (index, String::new())).1.push_str(piece);
        }
        Ok(())
    }

    /// Gives out the reasoning that has ended.
    fn sign(&mut self, out: &mut Vec<StreamEvent>) {
        if let Some((_, signature)) = self.signature.take() {
            let text = std::mem::take(&mut self.thought);
            out.push(StreamEvent::Thought(Thinking::Signed { text, signature }));
        }
    }

    fn complete(&mut self, block: Block, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        if let Some(early) = block.early {
            self.draft.argue(block.call, early.into(), out)?;
        }
        self.draft.complete(block.call, None, out);
        Ok(())
    }

    /// The counts come in two parts, and some servers leave zeros in one of them.
    fn usage(&mut self, usage: Option<WireUsage>, out: &mut Vec<StreamEvent>) {
        let Some(usage) = usage else { return };
        let known = self.draft.last_usage();
        let newer = |new: Count, old: u64| if new.0 == 0 { old } else { new.0 };
        let usage = Usage {
            input: newer(usage.input_tokens, known.input),
            cache_read: newer(usage.cache_read_input_tokens, known.cache_read),
            cache_write: newer(usage.cache_creation_input_tokens, known.cache_write),
            output: newer(usage.output_tokens, known.output),
            reasoning: 0,
        };
        self.draft.usage(usage, out);
    }
}

/// What a block starts with when its arguments are still to come.
fn is_empty_object(json: &str) -> bool {
    json.bytes().filter(|byte| !byte.is_ascii_whitespace()).eq(*b"{}") || json.is_empty()
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "max_tokens" => StopReason::Length,
        "tool_use" => StopReason::ToolUse,
        "pause_turn" => StopReason::Paused,
        "refusal" => StopReason::Refused,
        "model_context_window_exceeded" => StopReason::ContextWindow,
        other => StopReason::Other(word(other)),
    }
}
