//! The stream of Anthropic messages.
//!
//! This module decides which blocks are calls of ours, which are reasoning that has to go back, and puts signatures and
//! counts together. The reply is over at `message_stop` and not before. Blocks that only the service itself can use (its
//! own tools, its own compaction) are passed over.

use crate::decode::{Fault, Flow, reported};
use crate::draft::{Draft, MAX_CALLS, protocol, word};
use crate::json::{self, Count, Maybe, Text};
use crate::{StopReason, StreamEvent};
use oneclaw_model::{ProviderKind, Thinking, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The most blocks of a reply that may be open at the same time.
const MAX_OPEN: usize = 2 * MAX_CALLS;

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    draft: Draft,
    /// The calls and the reasoning that are not whole yet, in the order they started.
    open: Vec<Block>,
    stop: Option<StopReason>,
}

/// A block that is not whole yet.
#[derive(Debug)]
struct Block {
    index: u64,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Call {
        call: usize,
        /// Arguments that came with the start of the block, in case that no others come.
        early: Option<String>,
    },
    /// Reasoning; without a signature it cannot go back.
    Thinking { text: String, signature: String },
    /// Reasoning that the service has encrypted.
    Redacted { data: String },
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
    data: Text<'a>,
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
    cache_creation: Maybe<CacheCreation>,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    output_tokens_details: Maybe<OutputDetails>,
}

/// What was written to the cache, by how long it is kept.
#[derive(Debug, Default, Deserialize)]
struct CacheCreation {
    #[serde(default)]
    ephemeral_5m_input_tokens: Count,
    #[serde(default)]
    ephemeral_1h_input_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    thinking_tokens: Count,
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
                self.close_signed(out)?;
                if let Some(start) = event.content_block {
                    self.start(index, *start, out)?;
                }
            }
            "content_block_stop" => {
                if let Some(block) = self.open.iter().rposition(|block| block.index == index) {
                    let block = self.open.remove(block);
                    self.close(block, out)?;
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
                for block in std::mem::take(&mut self.open) {
                    self.close(block, out)?;
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
                let (text, signature) = (start.thinking.0, start.signature.0.into_owned());
                self.draft.spend(text.len() + signature.len())?;
                self.push(index, Content::Thinking { text: text.clone().into_owned(), signature })?;
                self.draft.thinking(text, out);
            }
            "redacted_thinking" => {
                self.draft.spend(start.data.0.len())?;
                self.push(index, Content::Redacted { data: start.data.0.into_owned() })?;
            }
            "tool_use" => {
                if start.name.is_empty() {
                    return Err(protocol("a call has no name".to_owned()).into());
                }
                let call = self.draft.start(&start.id.0, &start.name.0, out)?;
                let early = json::arguments(start.input)?;
                self.draft.spend(early.len())?;
                let early = Some(early.into_owned()).filter(|early| !is_empty_object(early));
                self.push(index, Content::Call { call, early })?;
            }
            _ => {}
        }
        Ok(())
    }

    fn push(&mut self, index: u64, content: Content) -> Result<(), Fault> {
        if self.open.len() == MAX_OPEN {
            return Err(protocol(format!("the reply has more than {MAX_OPEN} open blocks")).into());
        }
        self.open.push(Block { index, content });
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: Delta<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let content =
            self.open.iter_mut().rfind(|block| block.index == index).map(|block| &mut block.content);
        match (delta.kind.0.as_ref(), content) {
            ("text_delta", _) => self.draft.text(delta.text.0, out),
            ("thinking_delta", content) => {
                if let Some(Content::Thinking { text, .. }) = content {
                    self.draft.spend(delta.thinking.0.len())?;
                    text.push_str(&delta.thinking.0);
                }
                self.draft.thinking(delta.thinking.0, out);
            }
            ("signature_delta", Some(Content::Thinking { signature, .. })) => {
                self.draft.spend(delta.signature.0.len())?;
                signature.push_str(&delta.signature.0);
            }
            ("input_json_delta", Some(Content::Call { call, early })) if !delta.partial_json.is_empty() => {
                if !delta.partial_json.0.trim_ascii().is_empty() {
                    *early = None;
                }
                self.draft.argue(*call, delta.partial_json.0, out)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Some servers leave out the end of a block. The signature is the last thing of a thought, so one that is signed is
    /// whole when the next block starts, and stands before it.
    fn close_signed(&mut self, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        let is_whole = |block: &mut Block| match &block.content {
            Content::Call { .. } => false,
            Content::Thinking { signature, .. } => !signature.is_empty(),
            Content::Redacted { .. } => true,
        };
        let whole: Vec<Block> = self.open.extract_if(.., is_whole).collect();
        whole.into_iter().try_for_each(|block| self.close(block, out))
    }

    /// A block is whole.
    fn close(&mut self, block: Block, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        match block.content {
            Content::Call { call, early } => {
                if let Some(early) = early {
                    self.draft.argue(call, early.into(), out)?;
                }
                self.draft.complete(call, None, out);
            }
            Content::Thinking { text, signature } if !signature.is_empty() => {
                out.push(StreamEvent::Thought(Thinking::Signed { text, signature }));
            }
            Content::Redacted { data } if !data.is_empty() => {
                out.push(StreamEvent::Thought(Thinking::Redacted { data }));
            }
            Content::Thinking { .. } | Content::Redacted { .. } => {}
        }
        Ok(())
    }

    /// The counts come in two parts, and some servers leave zeros in one of them.
    fn usage(&mut self, usage: Option<WireUsage>, out: &mut Vec<StreamEvent>) {
        let Some(usage) = usage else { return };
        let known = self.draft.last_usage();
        let newer = |new: u64, old: u64| if new == 0 { old } else { new };
        let written = usage.cache_creation.0.unwrap_or_default();
        let written = written.ephemeral_5m_input_tokens.0.saturating_add(written.ephemeral_1h_input_tokens.0);
        let thinking = usage.output_tokens_details.0.unwrap_or_default().thinking_tokens.0;
        let output = newer(usage.output_tokens.0, known.output);
        let usage = Usage {
            input: newer(usage.input_tokens.0, known.input),
            cache_read: newer(usage.cache_read_input_tokens.0, known.cache_read),
            cache_write: newer(newer(usage.cache_creation_input_tokens.0, written), known.cache_write),
            output,
            reasoning: newer(thinking, known.reasoning).min(output),
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
