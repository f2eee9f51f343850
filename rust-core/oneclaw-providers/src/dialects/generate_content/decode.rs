//! The stream of Gemini: every event is a response of its own, with what is new since the last one.
//!
//! This module decides what is reasoning and what is text, and when a prompt was refused. The reply is over when the
//! body is, provided that a reason for the end was given.

use crate::decode::{Fault, Flow, reported};
use crate::draft::{Draft, protocol, word};
use crate::json::{self, Count, Few, First, Maybe, Text};
use crate::{ProviderError, StopReason, StreamEvent};
use oneclaw_model::{ProviderKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    draft: Draft,
    answered: bool,
    finish: Option<StopReason>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Response<'a> {
    #[serde(default, borrow)]
    candidates: First<Candidate<'a>>,
    #[serde(default, borrow)]
    prompt_feedback: Maybe<PromptFeedback<'a>>,
    #[serde(default)]
    usage_metadata: Maybe<WireUsage>,
    #[serde(default, borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default, borrow)]
    content: Maybe<Content<'a>>,
    #[serde(default, borrow)]
    finish_reason: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct Content<'a> {
    #[serde(default, borrow)]
    parts: Few<Part<'a>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(default, borrow)]
    text: Text<'a>,
    #[serde(default)]
    thought: Option<bool>,
    #[serde(default, borrow)]
    function_call: Option<FunctionCall<'a>>,
    #[serde(default, borrow)]
    thought_signature: Text<'a>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall<'a> {
    #[serde(default, borrow)]
    id: Text<'a>,
    #[serde(default, borrow)]
    name: Text<'a>,
    #[serde(default, borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback<'a> {
    #[serde(default, borrow)]
    block_reason: Text<'a>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireUsage {
    #[serde(default)]
    prompt_token_count: Count,
    #[serde(default)]
    cached_content_token_count: Count,
    #[serde(default)]
    candidates_token_count: Count,
    #[serde(default)]
    thoughts_token_count: Count,
}

impl Reader {
    /// Reads an event.
    pub(crate) fn read(&mut self, response: Response<'_>, out: &mut Vec<StreamEvent>) -> Result<Flow, Fault> {
        let has_candidate = response.candidates.0.is_some();
        if let Some(error) = response.error
            && !(has_candidate && json::is_blank(error))
        {
            return Err(reported(ProviderKind::Gemini, error.get()).into());
        }
        if let Some(candidate) = response.candidates.0 {
            let parts = candidate.content.0.map(|content| content.parts.0).unwrap_or_default();
            // A candidate with nothing in it is none.
            self.answered |= !parts.is_empty() || !candidate.finish_reason.is_empty();
            for part in parts {
                self.part(part, out)?;
            }
            if !candidate.finish_reason.is_empty() {
                self.finish = Some(reason(&candidate.finish_reason.0));
            }
        }
        if let Some(usage) = response.usage_metadata.0 {
            self.draft.usage(usage.normalised(), out);
        }
        if let Some(feedback) = response.prompt_feedback.0
            && !feedback.block_reason.is_empty()
            && !self.answered
        {
            let detail = format!("the prompt was blocked ({})", word(&feedback.block_reason.0));
            return Err(ProviderError::Refused { detail }.into());
        }
        Ok(Flow::More)
    }

    /// The body is over; says whether the reply is too.
    pub(crate) fn end(&mut self, out: &mut Vec<StreamEvent>) -> bool {
        match self.finish.take() {
            Some(reason) => {
                self.draft.stop(reason, out);
                true
            }
            None => false,
        }
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        if part.thought == Some(true) {
            self.draft.thinking(part.text.0, out);
        } else {
            self.draft.text(part.text.0, out);
        }
        if let Some(sent) = part.function_call {
            if sent.name.is_empty() {
                return Err(protocol("a call has no name".to_owned()).into());
            }
            let signature = Some(part.thought_signature.0).filter(|signature| !signature.is_empty());
            let call = self.draft.start(&sent.id.0, &sent.name.0, out)?;
            self.draft.argue(call, json::arguments(sent.args)?, out)?;
            self.draft.complete(call, signature.map(Into::into), out);
        }
        Ok(())
    }
}

impl WireUsage {
    fn normalised(&self) -> Usage {
        let (cached, thoughts) = (self.cached_content_token_count.0, self.thoughts_token_count.0);
        Usage {
            input: self.prompt_token_count.0.saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: self.candidates_token_count.0.saturating_add(thoughts),
            reasoning: thoughts,
        }
    }
}

fn reason(finish: &str) -> StopReason {
    match finish {
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" => StopReason::Refused,
        other => StopReason::Other(word(other)),
    }
}
