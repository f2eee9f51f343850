//! Replies and errors as chat completions carry them.

use super::super::{Answer, CREATED, Rejection, Stop, insert};
use super::reasoning;
use crate::config::Flavour;
use crate::flavour;
use crate::subject::Subject;
use oneclaw_model::Usage;
use serde_json::{Value, json};

pub(crate) fn error(rejection: &Rejection) -> Value {
    let kind = match rejection.status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let mut error = json!({
        "message": rejection.message, "type": kind, "param": rejection.param, "code": rejection.code,
    });
    for (key, value) in &rejection.fields {
        insert(&mut error, key, value.clone());
    }
    json!({"error": error})
}

pub(crate) fn models(subjects: &[Subject<'_>]) -> Value {
    json!({"object": "list", "data": subjects.iter().map(model).collect::<Vec<_>>()})
}

/// The window stands where compatible servers put it; the original says nothing about it.
pub(crate) fn model(subject: &Subject<'_>) -> Value {
    let model = subject.model;
    if subject.flavour != Flavour::Plain {
        return flavour::listed(subject.flavour, model);
    }
    json!({
        "id": model.id, "object": "model", "created": CREATED, "owned_by": "oneclaw-demo",
        "context_length": model.window, "max_model_len": model.window,
        "max_completion_tokens": model.max_output,
    })
}

pub(crate) fn whole(answer: &Answer, flavour: Flavour) -> Value {
    let reply = &answer.reply;
    let mut message = json!({
        "role": "assistant",
        "content": if reply.text.is_empty() { Value::Null } else { reply.text.as_str().into() },
        "refusal": null,
    });
    if let Some(thinking) = &reply.thinking {
        reasoning::show(&mut message, answer, flavour, thinking);
    }
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().enumerate().map(|(at, call)| {
            json!({
                "id": call_id(answer, at), "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            })
        });
        insert(&mut message, "tool_calls", calls.collect::<Value>());
    }
    let mut body = json!({
        "id": id(answer), "object": "chat.completion", "created": CREATED, "model": answer.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(answer.stop),
        }],
        "system_fingerprint": "fp_demo",
    });
    if let Some(usage) = answer.usage {
        insert(&mut body, "usage", usage_object(usage, flavour));
    }
    body
}

pub(super) fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End => "stop",
        Stop::Length | Stop::Window | Stop::Continuation => "length",
        Stop::Calls => "tool_calls",
        Stop::Refused => "content_filter",
    }
}

pub(super) fn usage_object(usage: Usage, flavour: Flavour) -> Value {
    let mut object = json!({
        "prompt_tokens": usage.prompt(),
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    });
    match flavour {
        Flavour::DeepSeek => insert(&mut object, "prompt_cache_hit_tokens", usage.cache_read),
        Flavour::Kimi => insert(&mut object, "cached_tokens", usage.cache_read),
        _ => {}
    }
    object
}

pub(super) fn id(answer: &Answer) -> String {
    format!("chatcmpl-{}", answer.id)
}

pub(super) fn call_id(answer: &Answer, at: usize) -> String {
    format!("call_{}_{at}", answer.id)
}
