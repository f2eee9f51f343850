//! A reply in the making: what all dialects keep of it, and the order its events have to have.
//!
//! This module decides the names of calls, when a call is complete, whether usage has changed, and how much of calls
//! is taken at most. It does *not* know how a service writes any of it.

use crate::{ProviderError, StopReason, StreamEvent, detail};
use oneclaw_model::{CallId, Usage};
use std::borrow::Cow;

/// The most calls of one reply.
pub(crate) const MAX_CALLS: usize = 256;

/// The most bytes that the calls of one reply may have together: ids, names, arguments, signatures.
pub(crate) const MAX_CALL_BYTES: usize = 8 << 20;

/// The empty arguments of a call.
const NO_ARGUMENTS: &str = "{}";

/// A reply in the making.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    calls: Vec<Call>,
    call_bytes: usize,
    usage: Usage,
}

#[derive(Debug)]
struct Call {
    id: CallId,
    stage: Stage,
}

#[derive(Debug, PartialEq)]
enum Stage {
    Started,
    Arguing,
    Completed,
}

impl Draft {
    /// A piece of text, if there is one.
    pub(crate) fn text(&self, piece: Cow<'_, str>, out: &mut Vec<StreamEvent>) {
        if !piece.is_empty() {
            out.push(StreamEvent::Text(piece.into_owned()));
        }
    }

    /// A piece of reasoning, if there is one.
    pub(crate) fn thinking(&self, piece: Cow<'_, str>, out: &mut Vec<StreamEvent>) {
        if !piece.is_empty() {
            out.push(StreamEvent::Thinking(piece.into_owned()));
        }
    }

    /// What the call costs, if that is news. All zeros say nothing: no request is empty.
    pub(crate) fn usage(&mut self, usage: Usage, out: &mut Vec<StreamEvent>) {
        if usage != self.usage && usage != Usage::default() {
            self.usage = usage;
            out.push(StreamEvent::Usage(usage));
        }
    }

    /// The usage as last given out.
    pub(crate) fn last_usage(&self) -> Usage {
        self.usage
    }

    /// Starts a call and says which it is.
    pub(crate) fn start(
        &mut self,
        sent_id: &str,
        name: &str,
        out: &mut Vec<StreamEvent>,
    ) -> Result<usize, ProviderError> {
        let call = self.calls.len();
        if call == MAX_CALLS {
            return Err(protocol(format!("the reply has more than {MAX_CALLS} calls")));
        }
        self.spend(sent_id.len() + name.len())?;
        let id = self.free_id(sent_id);
        self.calls.push(Call { id: id.clone(), stage: Stage::Started });
        out.push(StreamEvent::CallStarted { id, name: name.to_owned() });
        Ok(call)
    }

    /// A piece of a call's arguments, if there is one. White space before the first letter is left out, so that
    /// arguments of nothing else are none; what comes after the call is complete is passed over.
    pub(crate) fn argue(
        &mut self,
        call: usize,
        piece: Cow<'_, str>,
        out: &mut Vec<StreamEvent>,
    ) -> Result<(), ProviderError> {
        self.spend(piece.len())?;
        if let Some(call) = self.calls.get_mut(call)
            && !piece.is_empty()
            && match call.stage {
                Stage::Started => !piece.trim_ascii().is_empty(),
                Stage::Arguing => true,
                Stage::Completed => false,
            }
        {
            call.stage = Stage::Arguing;
            out.push(StreamEvent::CallArguments { id: call.id.clone(), delta: piece.into_owned() });
        }
        Ok(())
    }

    /// A call is complete, if it was not already.
    pub(crate) fn complete(&mut self, call: usize, signature: Option<String>, out: &mut Vec<StreamEvent>) {
        if let Some(call) = self.calls.get_mut(call) {
            call.complete(signature, out);
        }
    }

    /// All calls are complete.
    pub(crate) fn complete_all(&mut self, out: &mut Vec<StreamEvent>) {
        for call in &mut self.calls {
            call.complete(None, out);
        }
    }

    /// The reply is over.
    pub(crate) fn stop(&mut self, reason: StopReason, out: &mut Vec<StreamEvent>) {
        self.complete_all(out);
        // Some services say "stop" whether or not there are calls.
        let reason = match reason {
            StopReason::End if !self.calls.is_empty() => StopReason::ToolUse,
            reason => reason,
        };
        out.push(StreamEvent::Stopped(reason));
    }

    /// Counts bytes that are kept until the end of the reply, or that the calls of the reply consist of.
    pub(crate) fn spend(&mut self, bytes: usize) -> Result<(), ProviderError> {
        self.call_bytes = self.call_bytes.saturating_add(bytes);
        if self.call_bytes > MAX_CALL_BYTES {
            return Err(protocol(format!(
                "the calls and reasoning of the reply have more than {MAX_CALL_BYTES} bytes"
            )));
        }
        Ok(())
    }

    /// The id that was sent, or one that no other call has.
    fn free_id(&self, sent: &str) -> CallId {
        let free = |id: &CallId| !self.calls.iter().any(|call| call.id == *id);
        let sent = CallId::from(sent);
        if !sent.as_str().is_empty() && free(&sent) {
            return sent;
        }
        let mut number = self.calls.len();
        loop {
            let made = CallId(format!("call_{number}"));
            if free(&made) {
                return made;
            }
            number += 1;
        }
    }
}

impl Call {
    fn complete(&mut self, signature: Option<String>, out: &mut Vec<StreamEvent>) {
        match self.stage {
            Stage::Completed => return,
            Stage::Arguing => {}
            Stage::Started => {
                out.push(StreamEvent::CallArguments { id: self.id.clone(), delta: NO_ARGUMENTS.to_owned() });
            }
        }
        self.stage = Stage::Completed;
        out.push(StreamEvent::CallCompleted { id: self.id.clone(), signature });
    }
}

/// The answer is not what the protocol says.
pub(crate) fn protocol(detail: String) -> ProviderError {
    ProviderError::Protocol { detail }
}

/// A word of the service, such as a reason, fit to be shown and cut to a length that no real one has.
pub(crate) fn word(sent: &str) -> String {
    const LONGEST: usize = 80;
    let short: String = sent.chars().take(LONGEST).collect();
    detail::escape(&short)
}
