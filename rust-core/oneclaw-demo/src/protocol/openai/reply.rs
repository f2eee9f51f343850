//! Replies and errors as chat completions carry them.

use super::super::{Answer, CREATED, Event, Rejection, Stop, pieces};
use crate::config::Model;
use oneclaw_model::Usage;
use serde_json::{Value, json};

pub(crate) fn error(rejection: &Rejection) -> Value {
    let kind = match rejection.status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    json!({"error": {
        "message": rejection.message, "type": kind, "param": rejection.param, "code": rejection.code,
    }})
}

pub(crate) fn models(models: &[Model]) -> Value {
    json!({"object": "list", "data": models.iter().map(model).collect::<Vec<_>>()})
}

/// The window stands where compatible servers put it; the original says nothing about it.
pub(crate) fn model(model: &Model) -> Value {
    json!({
        "id": model.id, "object": "model", "created": CREATED, "owned_by": "oneclaw-demo",
        "context_length": model.window, "max_model_len": model.window,
        "max_completion_tokens": model.max_output,
    })
}

pub(crate) fn whole(answer: &Answer) -> Value {
    let reply = &answer.reply;
    let mut message = json!({
        "role": "assistant",
        "content": if reply.text.is_empty() { Value::Null } else { reply.text.as_str().into() },
        "refusal": null,
    });
    if let Some(thinking) = &reply.thinking {
        insert(&mut message, "reasoning_content", thinking.as_str().into());
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().enumerate().map(|(at, call)| {
            json!({
                "id": call_id(answer, at), "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            })
        });
        insert(&mut message, "tool_calls", calls.collect());
    }
    let mut body = json!({
        "id": id(answer), "object": "chat.completion", "created": CREATED, "model": answer.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer.stop),
        }],
        "system_fingerprint": "fp_demo",
    });
    if let Some(usage) = answer.usage {
        insert(&mut body, "usage", usage_object(usage));
    }
    body
}

pub(crate) fn events(answer: &Answer, wants_usage: bool, piece: usize) -> Vec<Event> {
    let mut events = Vec::new();
    // With usage asked for, every chunk before the last one says `usage: null`.
    let mut push = |choices: Value, usage: Value| {
        let mut chunk = json!({
            "id": id(answer), "object": "chat.completion.chunk", "created": CREATED, "model": answer.model,
            "system_fingerprint": "fp_demo", "choices": choices,
        });
        if wants_usage {
            insert(&mut chunk, "usage", usage);
        }
        events.push(Event::data(&chunk));
    };
    let choice = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let mut delta = |delta: Value| push(choice(delta, Value::Null), Value::Null);
    delta(json!({"role": "assistant", "content": "", "refusal": null}));
    for part in pieces(answer.reply.thinking.as_deref().unwrap_or_default(), piece) {
        delta(json!({"reasoning_content": part}));
    }
    for part in pieces(&answer.reply.text, piece) {
        delta(json!({"content": part}));
    }
    for (at, call) in answer.reply.calls.iter().enumerate() {
        let function = json!({"name": call.name, "arguments": ""});
        delta(json!({"tool_calls": [
            {"index": at, "id": call_id(answer, at), "type": "function", "function": function},
        ]}));
        for part in pieces(&call.arguments, piece) {
            delta(json!({"tool_calls": [{"index": at, "function": {"arguments": part}}]}));
        }
    }
    push(choice(json!({}), finish_reason(answer.stop).into()), Value::Null);
    if let (true, Some(usage)) = (wants_usage, answer.usage) {
        push(json!([]), usage_object(usage));
    }
    events.push(Event { name: None, data: "[DONE]".into() });
    events
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Length => "length",
        Stop::Calls => "tool_calls",
        Stop::Refused => "content_filter",
    }
}

fn usage_object(usage: Usage) -> Value {
    json!({
        "prompt_tokens": usage.prompt(),
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

fn id(answer: &Answer) -> String {
    format!("chatcmpl-{}", answer.id)
}

fn call_id(answer: &Answer, at: usize) -> String {
    format!("call_{}_{at}", answer.id)
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}
