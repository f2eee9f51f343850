//! Replies and errors as generateContent carries them.

use super::super::json::sorted;
use super::super::{Answer, Event, Rejection, Stop, arguments, insert, pieces, signature};
use crate::ask::Ask;
use crate::script::Call;
use crate::subject::Subject;
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
    if !rejection.details.is_empty() {
        insert(&mut error, "details", rejection.details.clone());
    }
    json!({"error": error})
}

pub(crate) fn models(subjects: &[Subject<'_>]) -> Value {
    json!({"models": subjects.iter().map(model).collect::<Vec<_>>()})
}

pub(crate) fn model(subject: &Subject<'_>) -> Value {
    let model = subject.model;
    let mut listed = json!({
        "name": format!("models/{}", model.id), "version": "001", "displayName": model.id,
        "description": "A demo model", "inputTokenLimit": model.window, "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    });
    if subject.facts.is_some() {
        insert(&mut listed, "thinking", subject.reasoning().is_some());
    }
    listed
}

pub(crate) fn whole(ask: &Ask, answer: &Answer) -> Value {
    if answer.stop == Stop::Refused {
        return blocked(answer);
    }
    let mut parts = Vec::new();
    if let Some(thinking) = &answer.reply.thinking {
        parts.push(json!({"text": thinking, "thought": true}));
    }
    if !answer.reply.text.is_empty() {
        let mut part = json!({"text": answer.reply.text});
        if signs_text(ask, answer) {
            insert(&mut part, "thoughtSignature", text_signature(&answer.model));
        }
        parts.push(part);
    }
    let (calls, finish) = calls(ask, answer);
    parts.extend(calls);
    response(answer, parts, Some(finish))
}

pub(crate) fn events(ask: &Ask, answer: &Answer, piece: usize) -> Vec<Event> {
    if answer.stop == Stop::Refused {
        return vec![Event::data(&blocked(answer))];
    }
    let thinking = pieces(answer.reply.thinking.as_deref().unwrap_or_default(), piece).into_iter();
    let text = pieces(&answer.reply.text, piece).into_iter();
    let thinking = thinking.map(|part| json!({"text": part, "thought": true}));
    let mut parts: Vec<Value> = thinking.chain(text.map(|part| json!({"text": part}))).collect();
    if signs_text(ask, answer) {
        // In a stream the signature comes after all of the text, on a part that has none.
        parts.push(json!({"text": "", "thoughtSignature": text_signature(&answer.model)}));
    }
    let (calls, finish) = calls(ask, answer);
    parts.extend(calls);
    // The reason comes with the last part.
    let last = parts.pop();
    let mut events: Vec<Event> =
        parts.into_iter().map(|part| Event::data(&response(answer, vec![part], None))).collect();
    events.push(Event::data(&response(answer, last.into_iter().collect(), Some(finish))));
    events
}

/// Whether the text is signed: where nothing else is.
fn signs_text(ask: &Ask, answer: &Answer) -> bool {
    ask.style.signs_texts && answer.reply.calls.is_empty() && !answer.reply.text.is_empty()
}

/// The calls, and how the reply ends: arguments that are no JSON make the service give up.
fn calls(ask: &Ask, answer: &Answer) -> (Vec<Value>, &'static str) {
    let signs = ask.style.signs_texts || ask.style.signs_calls || answer.reply.thinking.is_some();
    let calls = answer.reply.calls.iter().enumerate().map(|(at, call)| {
        let arguments = arguments(&call.arguments);
        if !arguments.is_object() {
            return None;
        }
        let mut function = json!({"name": call.name, "args": arguments});
        if ask.style.signs_texts {
            insert(&mut function, "id", format!("{}_{at}", answer.id));
        }
        let mut part = json!({"functionCall": function});
        if at == 0 && signs {
            insert(&mut part, "thoughtSignature", call_signature(call));
        }
        Some(part)
    });
    match calls.collect::<Option<Vec<_>>>() {
        Some(calls) => (calls, finish_reason(answer.stop)),
        None => (vec![], "MALFORMED_FUNCTION_CALL"),
    }
}

/// The signature of a call: it holds for that tool and those arguments.
pub(super) fn call_signature(call: &Call) -> String {
    signature(&format!("{} {}", call.name, sorted(&arguments(&call.arguments))))
}

/// The signature of a text: it holds for that model. Its base64 has signs that clients may write in two ways.
pub(super) fn text_signature(model: &str) -> String {
    format!("{}+/+/", signature(model))
}

fn finish_reason(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Calls => "STOP",
        Stop::Length | Stop::Window => "MAX_TOKENS",
        Stop::Continuation => "CONTINUATION",
        Stop::Refused => "SAFETY",
    }
}

fn response(answer: &Answer, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        insert(&mut candidate, "finishReason", finish);
        if let Some(token) = &answer.continuation {
            insert(&mut candidate, "continuationToken", token.as_str());
        }
    }
    frame(answer, "candidates", json!([candidate]))
}

fn blocked(answer: &Answer) -> Value {
    frame(answer, "promptFeedback", json!({"blockReason": "PROHIBITED_CONTENT"}))
}

fn frame(answer: &Answer, key: &str, value: Value) -> Value {
    let mut body = json!({key: value, "modelVersion": answer.model, "responseId": answer.id});
    if let Some(usage) = answer.usage {
        insert(&mut body, "usageMetadata", usage_object(usage));
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
