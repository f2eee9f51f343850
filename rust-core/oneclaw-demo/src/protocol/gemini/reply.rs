//! Replies and errors as generateContent carries them.

use super::super::{Answer, Event, Rejection, Stop, arguments, pieces, signature};
use crate::config::Model;
use crate::script::Call;
use oneclaw_model::Usage;
use serde_json::{Value, json};

pub(crate) fn error(rejection: &Rejection) -> Value {
    let status = match rejection.status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    };
    let mut error = json!({"code": rejection.status, "message": rejection.message, "status": status});
    if let (false, Some(error)) = (rejection.details.is_empty(), error.as_object_mut()) {
        error.insert("details".into(), rejection.details.clone().into());
    }
    json!({"error": error})
}

pub(crate) fn models(models: &[Model]) -> Value {
    json!({"models": models.iter().map(model).collect::<Vec<_>>()})
}

pub(crate) fn model(model: &Model) -> Value {
    json!({
        "name": format!("models/{}", model.id), "version": "001", "displayName": model.id,
        "description": "A demo model", "inputTokenLimit": model.window, "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}

pub(crate) fn whole(answer: &Answer) -> Value {
    if answer.stop == Stop::Refused {
        return blocked(answer);
    }
    let mut parts = Vec::new();
    if let Some(thinking) = &answer.reply.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    if !answer.reply.text.is_empty() {
        parts.push(json!({"text": answer.reply.text}));
    }
    let (calls, finish) = calls(answer);
    parts.extend(calls);
    response(answer, parts, Some(finish))
}

pub(crate) fn events(answer: &Answer, piece: usize) -> Vec<Event> {
    if answer.stop == Stop::Refused {
        return vec![Event::data(&blocked(answer))];
    }
    let thinking = pieces(answer.reply.thinking.as_deref().unwrap_or_default(), piece).into_iter();
    let text = pieces(&answer.reply.text, piece).into_iter();
    let thinking = thinking.map(|part| json!({"text": part, "thought": true}));
    let mut parts: Vec<Value> = thinking.chain(text.map(|part| json!({"text": part}))).collect();
    let (calls, finish) = calls(answer);
    parts.extend(calls);
    // The reason comes with the last part.
    let last = parts.pop();
    let mut events: Vec<Event> =
        parts.into_iter().map(|part| Event::data(&response(answer, vec![part], None))).collect();
    events.push(Event::data(&response(answer, last.into_iter().collect(), Some(finish))));
    events
}

/// The calls, and how the reply ends: arguments that are no JSON make the service give up.
fn calls(answer: &Answer) -> (Vec<Value>, &'static str) {
    let calls = answer.reply.calls.iter().enumerate().map(|(at, call)| {
        let arguments = arguments(&call.arguments);
        if !arguments.is_object() {
            return None;
        }
        let mut part = json!({"functionCall": {"name": call.name, "args": arguments}});
        let is_signed = at == 0 && (answer.reply.thinking.is_some() || signs_calls(&answer.model));
        if let (true, Some(part)) = (is_signed, part.as_object_mut()) {
            part.insert("thoughtSignature".into(), call_signature(call).into());
        }
        Some(part)
    });
    match calls.collect::<Option<Vec<_>>>() {
        Some(calls) => (calls, finish_reason(answer.stop)),
        None => (vec![], "MALFORMED_FUNCTION_CALL"),
    }
}

/// Whether a model of that name signs its calls and wants the signature back.
pub(crate) fn signs_calls(model: &str) -> bool {
    model.starts_with("gemini-3")
}

/// The signature of a call: it holds for that tool and those arguments.
pub(crate) fn call_signature(call: &Call) -> String {
    signature(&format!("{} {}", call.name, arguments(&call.arguments)))
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Calls => "STOP",
        Stop::Length => "MAX_TOKENS",
        Stop::Refused => "SAFETY",
    }
}

fn response(answer: &Answer, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let (Some(finish), Some(candidate)) = (finish, candidate.as_object_mut()) {
        candidate.insert("finishReason".into(), finish.into());
    }
    frame(answer, "candidates", json!([candidate]))
}

fn blocked(answer: &Answer) -> Value {
    frame(answer, "promptFeedback", json!({"blockReason": "PROHIBITED_CONTENT"}))
}

fn frame(answer: &Answer, key: &str, value: Value) -> Value {
    let mut body = json!({key: value, "modelVersion": answer.model, "responseId": answer.id});
    if let (Some(usage), Some(body)) = (answer.usage, body.as_object_mut()) {
        body.insert("usageMetadata".into(), usage_object(usage));
    }
    body
}

fn usage_object(usage: Usage) -> Value {
    let mut object = json!({
        "promptTokenCount": usage.prompt(),
        "candidatesTokenCount": usage.output.saturating_sub(usage.reasoning),
        "totalTokenCount": usage.total(),
    });
    if let Some(object) = object.as_object_mut() {
        // The service leaves out what is zero.
        for (key, count) in
            [("cachedContentTokenCount", usage.cache_read), ("thoughtsTokenCount", usage.reasoning)]
        {
            if count > 0 {
                object.insert(key.into(), count.into());
            }
        }
    }
    object
}
