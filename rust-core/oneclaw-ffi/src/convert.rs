//! The core's nouns as Kotlin sees them, and back. Sizes and counts fit: what does not is the largest that does.

mod catalogue;

pub(crate) use catalogue::{model_in, model_out};

use crate::types::*;
use oneclaw_agent::{Enclosure, Event, Status};
use oneclaw_context::plan::{self, Plan};
use oneclaw_model as model;
use oneclaw_store::attachments::Described;
use oneclaw_store::messages::{Listed, State};
use oneclaw_store::{Place, epochs, sessions};

/// A size as a Kotlin `Long`.
pub(crate) fn size(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn count(n: impl TryInto<i32>) -> i32 {
    n.try_into().unwrap_or(i32::MAX)
}

/// A size from Kotlin; nothing where it is not positive.
pub(crate) fn size_in(n: Option<i64>) -> Option<u64> {
    n.and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0)
}

/// A value by the word it has in files and JSON.
fn by_word<T: serde::de::DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}

// ---- events ----

pub(crate) fn event_out(event: Event) -> ChatEvent {
    match event {
        Event::StreamingText { text } => ChatEvent::StreamingText { text },
        Event::ThinkingText { text } => ChatEvent::ThinkingText { text },
        Event::ToolCallStarted { tool_call_id, tool_name } => {
            ChatEvent::ToolCallStarted { tool_call_id, tool_name }
        }
        Event::ToolCallArgumentsDelta { tool_call_id, delta } => {
            ChatEvent::ToolCallArgumentsDelta { tool_call_id, delta }
        }
        Event::ToolCallCompleted { tool_call_id, tool_name, status, duration_ms } => {
            ChatEvent::ToolCallCompleted {
                tool_call_id,
                tool_name,
                status: status.into(),
                duration_ms: size(duration_ms),
            }
        }
        Event::ToolRoundStarting { round } => ChatEvent::ToolRoundStarting { round: count(round) },
        Event::ResponseComplete { message_id, usage } => {
            ChatEvent::ResponseComplete { message_id, usage: usage.map(Into::into) }
        }
        Event::Error { message, code, retryable } => {
            ChatEvent::Error { text: message, code: code.into(), retryable }
        }
        Event::ContextUsage { expected, upper, window, trigger, parts } => ChatEvent::ContextUsage {
            expected: size(expected),
            upper: size(upper),
            window: window.map(size),
            trigger: trigger.map(size),
            parts: parts_out(parts),
        },
        Event::PicturesLeftOut { count: pictures } => ChatEvent::PicturesLeftOut { count: count(pictures) },
        Event::WindowUnknown { expected } => ChatEvent::WindowUnknown { expected: size(expected) },
        Event::CompactStarted { session_id, reason, messages, number, round } => ChatEvent::CompactStarted {
            session_id,
            reason: reason.into(),
            messages: count(messages),
            number: count(number),
            round: count(round),
        },
        Event::CompactCompleted {
            did_compact,
            fallback,
            tokens_before,
            tokens_after,
            strategy,
            reason,
            round,
        } => ChatEvent::CompactCompleted {
            did_compact,
            fallback,
            tokens_before: size(tokens_before),
            tokens_after: size(tokens_after),
            strategy: strategy.map(Into::into),
            reason: reason.into(),
            round: count(round),
        },
    }
}

fn parts_out(parts: oneclaw_context::assemble::Parts<u64>) -> Parts {
    Parts {
        system: size(parts.system),
        tools: size(parts.tools),
        summary: size(parts.summary),
        messages: size(parts.messages),
    }
}

impl From<oneclaw_agent::ErrorCode> for ErrorCode {
    fn from(code: oneclaw_agent::ErrorCode) -> Self {
        use oneclaw_agent::ErrorCode as Code;
        match code {
            Code::Network => Self::Network,
            Code::Auth => Self::Auth,
            Code::Timeout => Self::Timeout,
            Code::Validation => Self::Validation,
            Code::Storage => Self::Storage,
            Code::Permission => Self::Permission,
            Code::Provider => Self::Provider,
            Code::Tool => Self::Tool,
            Code::Context => Self::Context,
            Code::Budget => Self::Budget,
            Code::Unknown => Self::Unknown,
        }
    }
}

impl From<plan::Strategy> for Strategy {
    fn from(strategy: plan::Strategy) -> Self {
        match strategy {
            plan::Strategy::Prose => Self::Prose,
            plan::Strategy::Structured => Self::Structured,
            plan::Strategy::Narrative => Self::Narrative,
            plan::Strategy::Checkpoint => Self::Checkpoint,
            plan::Strategy::Continuation => Self::Continuation,
            plan::Strategy::Digest => Self::Digest,
            plan::Strategy::Drop => Self::Drop,
            plan::Strategy::Emergency => Self::Emergency,
        }
    }
}

impl From<plan::Reason> for CompactReason {
    fn from(reason: plan::Reason) -> Self {
        match reason {
            plan::Reason::Threshold => Self::Threshold,
            plan::Reason::HardLimit => Self::HardLimit,
            plan::Reason::Manual => Self::Manual,
            plan::Reason::Overflow => Self::Overflow,
            plan::Reason::ModelSwitch => Self::ModelSwitch,
        }
    }
}

impl From<model::ToolStatus> for ToolStatus {
    fn from(status: model::ToolStatus) -> Self {
        match status {
            model::ToolStatus::Pending => Self::Pending,
            model::ToolStatus::Executing => Self::Executing,
            model::ToolStatus::Success => Self::Success,
            model::ToolStatus::Error => Self::Error,
            model::ToolStatus::Timeout => Self::Timeout,
        }
    }
}

impl From<model::Usage> for Usage {
    fn from(usage: model::Usage) -> Self {
        Self {
            input: size(usage.input),
            cache_read: size(usage.cache_read),
            cache_write: size(usage.cache_write),
            output: size(usage.output),
            reasoning: size(usage.reasoning),
        }
    }
}

// ---- conversations ----

impl From<sessions::Session> for Session {
    fn from(session: sessions::Session) -> Self {
        Self {
            id: session.id,
            title: session.title,
            agent_id: session.agent_id,
            model: session.model.map(|(provider_id, model_id)| ModelRef { provider_id, model_id }),
            message_count: count(session.message_count),
            preview: session.preview,
            updated_at: session.updated_at,
            created_at: session.created_at,
            is_deleted: session.deleted_at.is_some(),
        }
    }
}

impl From<Shelf> for sessions::Shelf {
    fn from(shelf: Shelf) -> Self {
        match shelf {
            Shelf::Open => Self::Open,
            Shelf::Deleted => Self::Deleted,
        }
    }
}

/// A row; those before the boundary are covered by a summary.
pub(crate) fn message_out(listed: Listed, boundary: Place) -> Message {
    let Listed { stored, attachments } = listed;
    let is_covered = stored.place < boundary;
    let is_pinned = stored.pinned_at.is_some();
    let is_interrupted = stored.state == State::Partial;
    let (id, created_at) = (stored.row.id.clone(), stored.row.created_at);
    let described = attachments.into_iter().enumerate();
    let attachments = described.map(|(nth, described)| attachment_out(&id, nth, described)).collect();
    let kind = kind_out(stored.row, attachments, is_interrupted);
    Message { id, kind, created_at, is_pinned, is_covered }
}

fn kind_out(row: model::Row, attachments: Vec<Attachment>, is_interrupted: bool) -> MessageKind {
    let status = row.tool_status.map_or(ToolStatus::Success, Into::into);
    let duration_ms = row.tool_duration_ms.map(size);
    match row.into_message().body {
        model::Body::User { text, .. } => MessageKind::User { text, attachments },
        model::Body::Assistant { text, thinking, model, usage, trace: _ } => MessageKind::Reply {
            text,
            thinking: thinking.filter(|t| !t.is_empty()),
            model: model.map(|m| m.0),
            usage: usage.map(Into::into),
            is_interrupted,
        },
        model::Body::ToolCall { call, name, arguments, .. } => {
            MessageKind::ToolCall { call_id: call.0, name, arguments, status }
        }
        model::Body::ToolResult { call, name, output, .. } => {
            MessageKind::ToolResult { call_id: call.0, name, output, status, duration_ms, attachments }
        }
        model::Body::Error { text } => MessageKind::Error { text },
        model::Body::System { text } => MessageKind::System { text },
    }
}

/// What is sent along with a message.
pub(crate) fn enclosure_in(attachment: Attachment) -> Enclosure {
    match attachment.content {
        // Fewer than none is refused like any other that is not there.
        AttachmentContent::Stored { message_id, nth, .. } => {
            Enclosure::Stored { message: message_id, nth: usize::try_from(nth).unwrap_or(usize::MAX) }
        }
        AttachmentContent::New { .. } => Enclosure::New(attachment_in(attachment)),
    }
}

pub(crate) fn attachment_in(attachment: Attachment) -> model::Attachment {
    let pixels = |n: Option<i32>| n.and_then(|n| u32::try_from(n).ok());
    model::Attachment {
        mime: attachment.mime,
        name: attachment.name,
        width: pixels(attachment.width),
        height: pixels(attachment.height),
        data: match attachment.content {
            AttachmentContent::New { data } => Some(data),
            AttachmentContent::Stored { .. } => None,
        },
    }
}

fn attachment_out(message_id: &str, nth: usize, described: Described) -> Attachment {
    let content = AttachmentContent::Stored {
        message_id: message_id.to_owned(),
        nth: count(nth),
        size: size(described.size),
    };
    Attachment {
        mime: described.mime,
        name: described.name,
        width: described.width.map(count),
        height: described.height.map(count),
        content,
    }
}

// ---- the context ----

pub(crate) fn status_out(status: Status) -> ContextStatus {
    let boundary = status.boundary;
    let in_force = status.epochs.into_iter().filter(|epoch| epoch.undone_at.is_none());
    ContextStatus {
        expected: size(status.estimate.expected),
        upper: size(status.estimate.upper),
        window: status.window.map(size),
        hard_limit: status.hard_limit.map(size),
        trigger: status.trigger.map(size),
        parts: parts_out(status.parts),
        summary: status.summary,
        epochs: in_force.map(epoch_out).collect(),
        pins: status.pins.into_iter().map(|pin| message_out(pin, boundary)).collect(),
    }
}

fn epoch_out(epoch: epochs::Epoch) -> EpochInfo {
    let strategy: Option<plan::Strategy> = by_word(&epoch.strategy);
    let reason: Option<plan::Reason> = epoch.reason.as_deref().and_then(by_word);
    let is_fallback = strategy.is_some_and(plan::Strategy::is_fallback);
    EpochInfo {
        number: count(epoch.number),
        created_at: epoch.created_at,
        strategy: strategy.map(Into::into),
        reason: reason.map(Into::into),
        model: epoch.model,
        messages: count(epoch.rows),
        tokens_before: epoch.tokens.map(|(before, _)| size(before)),
        tokens_after: epoch.tokens.map(|(_, after)| size(after)),
        summary: epoch.summary,
        is_fallback,
    }
}

pub(crate) fn plan_out(plan: &Plan) -> PlanPreview {
    let (decision, reason, irreducible) = match &plan.decision {
        plan::Decision::Send(_) => (Decision::Send, None, None),
        plan::Decision::Compact(compaction) => (Decision::Compact, Some(compaction.reason.into()), None),
        plan::Decision::Irreducible { culprit, over, .. } => {
            let culprit = serde_json::to_value(culprit).ok().and_then(|v| v.as_str().map(str::to_owned));
            let found = Irreducible { culprit: culprit.unwrap_or_default(), over: size(*over) };
            (Decision::Irreducible, Some(CompactReason::HardLimit), Some(found))
        }
    };
    PlanPreview {
        decision,
        reason,
        expected: size(plan.estimate.expected),
        upper: size(plan.estimate.upper),
        window: plan.budget.and_then(|b| b.window).map(size),
        hard_limit: plan.budget.map(|b| size(b.hard)),
        trigger: plan.budget.map(|b| size(b.trigger)),
        boundary: plan.boundary.as_ref().map(ToString::to_string),
        tail: plan.tail.iter().map(ToString::to_string).collect(),
        request: request_out(&plan.request, plan.request_estimate.upper),
        summary_requests: plan.summary_requests().iter().map(|s| request_out(&s.request, s.upper)).collect(),
        irreducible,
    }
}

fn request_out(request: &model::Request, upper: u64) -> RequestPreview {
    let message = |message: &model::RequestMessage| {
        let (role, tool_calls, tool_call_id) = match message {
            model::RequestMessage::User { .. } => (Role::User, vec![], None),
            model::RequestMessage::Assistant { calls, .. } => {
                let calls = calls.iter().map(|call| RequestCall {
                    id: call.id.0.clone(),
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                });
                (Role::Assistant, calls.collect(), None)
            }
            model::RequestMessage::ToolResult { call, .. } => (Role::Tool, vec![], Some(call.0.clone())),
        };
        RequestMessage { role, content: message.text().to_owned(), tool_calls, tool_call_id }
    };
    RequestPreview {
        system: request.system.clone().unwrap_or_default(),
        messages: request.messages.iter().map(message).collect(),
        upper: size(upper),
    }
}

// ---- settings ----

pub(crate) fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::OneClaw => "oneclaw",
        Preset::Sven => "sven",
        Preset::Nous => "nous",
        Preset::OpenCode => "opencode",
    }
}

pub(crate) fn preset_of(name: &str) -> Preset {
    match name {
        "sven" => Preset::Sven,
        "nous" => Preset::Nous,
        "opencode" => Preset::OpenCode,
        _ => Preset::OneClaw,
    }
}
