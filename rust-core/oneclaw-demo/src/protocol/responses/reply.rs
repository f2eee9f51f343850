//! Replies as Responses carry them.

use super::super::{Answer, CREATED, Stop, insert};
use super::ids;
use crate::ask::Ask;
use crate::script::Thought;
use oneclaw_model::Usage;
use serde_json::{Value, json};

/// What is said where the model declines.
const REFUSAL: &str = "I'm sorry, but I can't help with that.";

pub(crate) fn whole(ask: &Ask, answer: &Answer) -> Value {
    let (status, reason) = ending(answer.stop);
    let mut response = response(ask, answer, status, items(ask, answer));
    if let Some(reason) = reason {
        insert(&mut response, "incomplete_details", json!({"reason": reason}));
    }
    if let Some(usage) = answer.usage {
        insert(&mut response, "usage", usage_object(usage));
    }
    response
}

/// Status and reason of a reply that ends so.
pub(super) fn ending(stop: Stop) -> (&'static str, Option<&'static str>) {
    match stop {
        Stop::End | Stop::Calls | Stop::Refused => ("completed", None),
        Stop::Length | Stop::Window | Stop::Continuation => ("incomplete", Some("max_output_tokens")),
    }
}

/// The response around its items.
pub(super) fn response(ask: &Ask, answer: &Answer, status: &str, output: Vec<Value>) -> Value {
    let mut response = json!({
        "id": format!("resp_{}", answer.id), "object": "response", "created_at": CREATED, "status": status,
        "background": false, "error": null, "incomplete_details": null, "model": answer.model, "output": output,
        "previous_response_id": null, "usage": null,
    });
    for (key, value) in &ask.echo {
        insert(&mut response, key, value.clone());
    }
    if !ask.transformations.is_empty() {
        insert(&mut response, "input_transformations", ask.transformations.clone());
    }
    response
}

/// The items of a reply, whole: reasoning, message, more reasoning, calls.
pub(super) fn items(ask: &Ask, answer: &Answer) -> Vec<Value> {
    let (first, more) = match answer.thoughts.split_first() {
        Some((first, more)) => (Some(first), more),
        None => (None, &[][..]),
    };
    let id = &answer.id;
    let mut items = Vec::new();
    let mut after = None;
    if let Some(thought) = first {
        items.push(reasoning(answer, 0, thought));
        after = Some(0);
    }
    items.extend(message(ask, answer, ids::follower("msg", id, 0, after)));
    for (at, thought) in more.iter().enumerate() {
        items.push(reasoning(answer, at + 1, thought));
        after = Some(at + 1);
    }
    for (at, call) in answer.reply.calls.iter().enumerate() {
        items.push(json!({
            "type": "function_call", "id": ids::follower("fc", id, at, after), "call_id": format!("call_{id}_{at}"),
            "name": call.name, "arguments": call.arguments, "status": "completed",
        }));
    }
    items
}

fn reasoning(answer: &Answer, at: usize, thought: &Thought) -> Value {
    let id = ids::reasoning(&answer.id, at);
    let summary = match thought {
        Thought::Shown(text) if !text.is_empty() => vec![json!({"type": "summary_text", "text": text})],
        Thought::Shown(_) | Thought::Hidden | Thought::Redacted => vec![],
    };
    let encrypted = ids::encrypted(answer.seal, &answer.model, &id);
    json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": encrypted})
}

fn message(ask: &Ask, answer: &Answer, id: String) -> Option<Value> {
    let part = match (answer.stop, answer.reply.text.as_str()) {
        (Stop::Refused, _) => json!({"type": "refusal", "refusal": REFUSAL}),
        (_, "") => return None,
        (_, text) => json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []}),
    };
    // A call that was cut off is not there; the message before it is what was cut.
    let is_whole = !matches!(answer.stop, Stop::Length | Stop::Window);
    let mut message = json!({
        "type": "message", "id": id, "role": "assistant", "content": [part],
        "status": if is_whole { "completed" } else { "incomplete" },
    });
    if ask.style.has_phase {
        let phase = if answer.reply.calls.is_empty() { "final_answer" } else { "commentary" };
        insert(&mut message, "phase", phase);
    }
    Some(message)
}

pub(super) fn usage_object(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.prompt(),
        "input_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total(),
    })
}
