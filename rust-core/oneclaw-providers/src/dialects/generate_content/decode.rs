//! The stream of Gemini: every event is a response of its own, with what is new since the last one.
//!
//! This module decides what is reasoning and what is text, when a prompt was refused, and when the reply goes on in
//! another body. The reply is over when the body is, provided that a reason for the end was given.

use crate::decode::{Fault, Flow, reported};
use crate::draft::{Draft, protocol, word};
use crate::json::{self, Count, Few, First, Maybe, Text};
use crate::{ProviderError, StopReason, StreamEvent, detail};
use oneclaw_model::{ProviderKind, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    draft: Draft,
    answered: bool,
    finish: Option<Finish>,
    /// What the bodies before this one cost, if this one continues them.
    before: Option<Usage>,
}

/// How a body ends.
#[derive(Debug)]
enum Finish {
    /// With the reply.
    Stop(StopReason),
    /// With a token for the request that gives the rest.
    Continue(String),
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
    #[serde(default, borrow)]
    finish_message: Text<'a>,
    #[serde(default, borrow)]
    continuation_token: Text<'a>,
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
    /// What the results of the service's own tools added to the prompt.
    #[serde(default)]
    tool_use_prompt_token_count: Count,
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
        if let Some(mut candidate) = response.candidates.0 {
            let parts = candidate.content.0.take().map(|content| content.parts.0).unwrap_or_default();
            // A candidate with nothing in it is none.
            self.answered |= !parts.is_empty() || !candidate.finish_reason.is_empty();
            for part in parts {
                self.part(part, out)?;
            }
            if !candidate.finish_reason.is_empty() {
                self.draft.spend(candidate.continuation_token.0.len())?;
                self.finish = Some(Finish::of(&candidate));
            }
        }
        if let Some(usage) = response.usage_metadata.0 {
            self.draft.usage(usage.after(self.before), out);
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

    /// The body is over; says whether it gave a reason for that.
    pub(crate) fn end(&mut self, out: &mut Vec<StreamEvent>) -> bool {
        match self.finish.take() {
            Some(Finish::Stop(reason)) => self.draft.stop(reason, out),
            // Kept until the client has asked for the rest.
            Some(Finish::Continue(token)) => self.finish = Some(Finish::Continue(token)),
            None => return false,
        }
        true
    }

    /// The token for the request that gives the rest of the reply, if there is more of it.
    pub(crate) fn continuation(&self) -> Option<&str> {
        match &self.finish {
            Some(Finish::Continue(token)) => Some(token),
            Some(Finish::Stop(_)) | None => None,
        }
    }

    /// The next body continues the reply.
    pub(crate) fn go_on(&mut self) {
        self.finish = None;
        self.before = Some(self.draft.last_usage());
    }

    /// The reply ends here although the service would have more of it.
    pub(crate) fn cut(&mut self, out: &mut Vec<StreamEvent>) {
        self.finish = None;
        self.draft.stop(StopReason::Length, out);
    }

    /// The output tokens so far.
    pub(crate) fn output(&self) -> u64 {
        self.draft.last_usage().output
    }

    fn part(&mut self, part: Part<'_>, out: &mut Vec<StreamEvent>) -> Result<(), Fault> {
        // What is signed is the call or the text; the signature of a thought need not go back, as thoughts do not.
        let is_thought = part.thought == Some(true);
        let signature = Some(part.thought_signature.0).filter(|signature| !signature.is_empty());
        if is_thought {
            self.draft.thinking(part.text.0, out);
        } else {
            self.draft.text(part.text.0, out);
        }
        match (part.function_call, signature) {
            (Some(sent), _) if sent.name.is_empty() => {
                return Err(protocol("a call has no name".to_owned()).into());
            }
            (Some(sent), signature) => {
                let call = self.draft.start(&sent.id.0, &sent.name.0, out)?;
                self.draft.argue(call, json::arguments(sent.args)?, out)?;
                self.draft.complete(call, signature.map(Into::into), out);
            }
            (None, Some(signature)) if !is_thought => {
                self.draft.spend(signature.len())?;
                out.push(StreamEvent::TextSignature(signature.into_owned()));
            }
            (None, _) => {}
        }
        Ok(())
    }
}

impl WireUsage {
    /// The usage of the whole reply. Each request of a continued one reads the same prompt, so that of the first counts.
    fn after(&self, before: Option<Usage>) -> Usage {
        let own = self.normalised();
        match before {
            None => own,
            Some(before) => Usage {
                output: before.output.saturating_add(own.output),
                reasoning: before.reasoning.saturating_add(own.reasoning),
                ..if before.prompt() == 0 { own } else { before }
            },
        }
    }

    fn normalised(&self) -> Usage {
        let (cached, thoughts) = (self.cached_content_token_count.0, self.thoughts_token_count.0);
        let prompt = self.prompt_token_count.0.saturating_add(self.tool_use_prompt_token_count.0);
        Usage {
            input: prompt.saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: self.candidates_token_count.0.saturating_add(thoughts),
            reasoning: thoughts,
        }
    }
}

impl Finish {
    fn of(candidate: &Candidate<'_>) -> Self {
        let token = &candidate.continuation_token;
        Self::Stop(match candidate.finish_reason.0.as_ref() {
            // A reply that reached the length asked for has a token too, but has had what it may have.
            "CONTINUATION" if !token.is_empty() => return Self::Continue(token.0.clone().into_owned()),
            "STOP" => StopReason::End,
            "MAX_TOKENS" | "CONTINUATION" => StopReason::Length,
            "SAFETY"
            | "RECITATION"
            | "LANGUAGE"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "ESCALATION"
            | "PUP_LIMITED_DISABLED"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION" => StopReason::Refused,
            // OTHER, MALFORMED_FUNCTION_CALL, MALFORMED_RESPONSE, UNEXPECTED_TOOL_CALL, TOO_MANY_TOOL_CALLS,
            // MISSING_THOUGHT_SIGNATURE, IMAGE_OTHER, NO_IMAGE, and what is yet to be invented.
            other if candidate.finish_message.0.trim().is_empty() => StopReason::Other(word(other)),
            other => {
                let message = detail::clean(&candidate.finish_message.0);
                StopReason::Other(format!("{}: {message}", word(other)))
            }
        })
    }
}
