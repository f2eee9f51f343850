//! A reply as the events of chat completions.

use super::super::{Answer, CREATED, Event, insert, pieces};
use super::reasoning;
use super::reply::{call_id, finish_reason, id, usage_object};
use crate::config::Flavour;
use serde_json::{Value, json};

pub(crate) fn events(answer: &Answer, flavour: Flavour, wants_usage: bool, piece: usize) -> Vec<Event> {
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
        delta(json!({reasoning::field(flavour): part}));
    }
    if let (Flavour::OpenRouter, Some(thinking)) = (flavour, &answer.reply.thinking) {
        // The details come whole, as they have to go back whole.
        let mut details = json!({});
        reasoning::show(&mut details, answer, flavour, thinking);
        insert(&mut details, reasoning::field(flavour), "");
        delta(details);
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
        push(json!([]), usage_object(usage, flavour));
    }
    events.push(Event { name: None, data: "[DONE]".into() });
    events
}
