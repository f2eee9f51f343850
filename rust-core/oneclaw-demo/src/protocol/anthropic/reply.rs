//! Replies and errors as messages carry them.

use super::super::{Answer, Event, Rejection, Stop, arguments, pieces, signature};
use crate::config::Model;
use oneclaw_model::Usage;
use serde_json::{Value, json};

/// What the usage says before the first word.
const FIRST_OUTPUT: u64 = 1;

pub(crate) fn error(rejection: &Rejection) -> Value {
    let kind = match rejection.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": rejection.message}})
}

pub(crate) fn models(models: &[Model]) -> Value {
    let data: Vec<Value> = models.iter().map(model).collect();
    json!({
        "data": data, "has_more": false,
        "first_id": models.first().map(|m| &m.id), "last_id": models.last().map(|m| &m.id),
    })
}

pub(crate) fn model(model: &Model) -> Value {
    json!({
        "type": "model", "id": model.id, "display_name": model.id, "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": model.window, "max_tokens": model.max_output,
    })
}

pub(crate) fn whole(answer: &Answer) -> Value {
    let mut content = Vec::new();
    if let Some(thinking) = &answer.reply.thinking {
        content.push(json!({"type": "thinking", "thinking": thinking, "signature": signature(thinking)}));
    }
    if !answer.reply.text.is_empty() {
        content.push(json!({"type": "text", "text": answer.reply.text}));
    }
    for (at, call) in answer.reply.calls.iter().enumerate() {
        content.push(json!({
            "type": "tool_use", "id": call_id(answer, at), "name": call.name, "input": arguments(&call.arguments),
        }));
    }
    let output = answer.usage.map_or(0, |usage| usage.output);
    message(answer, content, Some(stop_reason(answer.stop)), output)
}

pub(crate) fn events(answer: &Answer, piece: usize) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |name: &'static str, value: Value| {
        events.push(Event { name: Some(name), data: value.to_string() });
    };
    let start = message(answer, vec![], None, FIRST_OUTPUT);
    push("message_start", json!({"type": "message_start", "message": start}));
    push("ping", json!({"type": "ping"}));
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        let at = index;
        push(
            "content_block_start",
            json!({"type": "content_block_start", "index": at, "content_block": start}),
        );
        for delta in deltas {
            push("content_block_delta", json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        push("content_block_stop", json!({"type": "content_block_stop", "index": at}));
        index += 1;
    };
    if let Some(thinking) = &answer.reply.thinking {
        let parts = pieces(thinking, piece).into_iter();
        let mut deltas: Vec<Value> =
            parts.map(|part| json!({"type": "thinking_delta", "thinking": part})).collect();
        deltas.push(json!({"type": "signature_delta", "signature": signature(thinking)}));
        block(json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
    }
    if !answer.reply.text.is_empty() {
        let parts = pieces(&answer.reply.text, piece).into_iter();
        let deltas = parts.map(|part| json!({"type": "text_delta", "text": part})).collect();
        block(json!({"type": "text", "text": ""}), deltas);
    }
    for (at, call) in answer.reply.calls.iter().enumerate() {
        // The original sends an empty piece first, and nothing else for a call without arguments.
        let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
        let text = if call.arguments == "{}" { "" } else { &call.arguments };
        let parts = pieces(text, piece).into_iter();
        deltas.extend(parts.map(|part| json!({"type": "input_json_delta", "partial_json": part})));
        let start = json!({"type": "tool_use", "id": call_id(answer, at), "name": call.name, "input": {}});
        block(start, deltas);
    }
    let mut end = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer.stop), "stop_sequence": null},
    });
    if let (Some(usage), Some(end)) = (answer.usage, end.as_object_mut()) {
        end.insert("usage".into(), json!({"output_tokens": usage.output}));
    }
    push("message_delta", end);
    push("message_stop", json!({"type": "message_stop"}));
    events
}

fn message(answer: &Answer, content: Vec<Value>, stop: Option<&str>, output: u64) -> Value {
    let mut message = json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": content, "stop_reason": stop, "stop_sequence": null,
    });
    if let (Some(usage), Some(message)) = (answer.usage, message.as_object_mut()) {
        message.insert("usage".into(), usage_object(usage, output));
    }
    message
}

fn usage_object(usage: Usage, output: u64) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": output,
    })
}

fn stop_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "end_turn",
        Stop::Length => "max_tokens",
        Stop::Calls => "tool_use",
        Stop::Refused => "refusal",
    }
}

fn call_id(answer: &Answer, at: usize) -> String {
    format!("toolu_{}_{at}", answer.id)
}
