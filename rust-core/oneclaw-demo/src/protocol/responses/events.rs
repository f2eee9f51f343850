//! A reply as the events of Responses.

use super::super::{Answer, Event, insert, overloaded, pieces};
use super::reply::{ending, items, response, whole};
use crate::ask::{Ask, Delivery};
use crate::script::Fault;
use oneclaw_model::ProviderKind;
use serde_json::{Value, json};

/// Deltas are padded to lengths like this one, so that their sizes tell nothing.
const PADDED: usize = 16;

/// Events, numbered as they come.
struct Events {
    all: Vec<Event>,
    is_obfuscated: bool,
}

impl Events {
    fn push(&mut self, name: &'static str, fields: Value) {
        let mut data = json!({"type": name, "sequence_number": self.all.len()});
        for (key, value) in fields.as_object().into_iter().flatten() {
            insert(&mut data, key, value.clone());
        }
        self.all.push(Event { name: Some(name), data: data.to_string() });
    }

    fn delta(&mut self, name: &'static str, place: &Value, delta: String, more: &Value) {
        let mut fields = place.clone();
        for (key, value) in more.as_object().into_iter().flatten() {
            insert(&mut fields, key, value.clone());
        }
        if self.is_obfuscated {
            insert(&mut fields, "obfuscation", "x".repeat(PADDED.saturating_sub(delta.len()).max(1)));
        }
        insert(&mut fields, "delta", delta);
        self.push(name, fields);
    }
}

pub(crate) fn events(ask: &Ask, answer: &Answer, piece: usize) -> Vec<Event> {
    let mut events = Events { all: vec![], is_obfuscated: ask.style.is_obfuscated };
    let begun = response(ask, answer, "in_progress", vec![]);
    events.push("response.created", json!({"response": begun}));
    events.push("response.in_progress", json!({"response": begun}));
    for (at, item) in items(ask, answer).into_iter().enumerate() {
        let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let place = json!({"output_index": at, "item_id": text("id")});
        let added = |key: &str, value: Value| {
            let mut added = item.clone();
            insert(&mut added, key, value);
            if added.get("status").is_some() {
                insert(&mut added, "status", "in_progress");
            }
            json!({"output_index": at, "item": added})
        };
        const ADDED: &str = "response.output_item.added";
        match text("type").as_str() {
            "reasoning" => {
                // The encrypted form of an item that has only begun is not the one to keep.
                let mut fields = added("summary", json!([]));
                if let Some(item) = fields.get_mut("item") {
                    insert(item, "encrypted_content", "");
                }
                events.push(ADDED, fields);
                summary(&mut events, &item, &place, piece);
            }
            "message" => {
                events.push(ADDED, added("content", json!([])));
                content(&mut events, &item, &place, piece);
            }
            _ => {
                events.push(ADDED, added("arguments", "".into()));
                const DELTA: &str = "response.function_call_arguments.delta";
                for part in pieces(&text("arguments"), piece) {
                    events.delta(DELTA, &place, part, &json!({}));
                }
                let mut done = place.clone();
                insert(&mut done, "arguments", text("arguments"));
                insert(&mut done, "name", text("name"));
                events.push("response.function_call_arguments.done", done);
            }
        }
        events.push("response.output_item.done", json!({"output_index": at, "item": item}));
    }
    let name = match ending(answer.stop).0 {
        "incomplete" => "response.incomplete",
        _ => "response.completed",
    };
    events.push(name, json!({"response": whole(ask, answer)}));
    events.all
}

fn with(place: &Value, fields: Value) -> Value {
    let mut all = place.clone();
    for (key, value) in fields.as_object().into_iter().flatten() {
        insert(&mut all, key, value.clone());
    }
    all
}

fn summary(events: &mut Events, item: &Value, place: &Value, piece: usize) {
    let parts = item.get("summary").and_then(Value::as_array).into_iter().flatten();
    for (n, part) in parts.enumerate() {
        let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
        let index = json!({"summary_index": n});
        let place = with(place, index);
        let begun = with(&place, json!({"part": {"type": "summary_text", "text": ""}}));
        events.push("response.reasoning_summary_part.added", begun);
        for delta in pieces(text, piece) {
            events.delta("response.reasoning_summary_text.delta", &place, delta, &json!({}));
        }
        events.push("response.reasoning_summary_text.done", with(&place, json!({"text": text})));
        events.push("response.reasoning_summary_part.done", with(&place, json!({"part": part})));
    }
}

fn content(events: &mut Events, item: &Value, place: &Value, piece: usize) {
    let parts = item.get("content").and_then(Value::as_array).into_iter().flatten();
    for (n, part) in parts.enumerate() {
        let place = with(place, json!({"content_index": n}));
        let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        if part.get("refusal").is_some() {
            let begun = with(&place, json!({"part": {"type": "refusal", "refusal": ""}}));
            events.push("response.content_part.added", begun);
            for delta in pieces(&text("refusal"), piece) {
                events.delta("response.refusal.delta", &place, delta, &json!({}));
            }
            events.push("response.refusal.done", with(&place, json!({"refusal": text("refusal")})));
        } else {
            let begun = json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []});
            events.push("response.content_part.added", with(&place, json!({"part": begun})));
            for delta in pieces(&text("text"), piece) {
                events.delta("response.output_text.delta", &place, delta, &json!({"logprobs": []}));
            }
            let done = json!({"text": text("text"), "logprobs": []});
            events.push("response.output_text.done", with(&place, done));
        }
        events.push("response.content_part.done", with(&place, json!({"part": part})));
    }
}

/// The event with which a stream goes wrong after so many others; where there is no stream, the response that failed.
pub(crate) fn failure(ask: &Ask, answer: &Answer, fault: &Fault, after: usize) -> Event {
    let message = overloaded(ProviderKind::OpenAi).message;
    let code = "server_error";
    let mut failed = response(ask, answer, "failed", vec![]);
    insert(&mut failed, "error", json!({"code": code, "message": message}));
    if ask.delivery == Delivery::Whole {
        return Event::data(&failed);
    }
    let (name, mut data) = match fault {
        Fault::NestedErrorInStream => {
            let error = json!({"type": code, "code": code, "message": message, "param": null});
            ("error", json!({"type": "error", "error": error}))
        }
        Fault::FailedResponse => ("response.failed", json!({"type": "response.failed", "response": failed})),
        _ => ("error", json!({"type": "error", "code": code, "message": message, "param": null})),
    };
    insert(&mut data, "sequence_number", after);
    Event { name: Some(name), data: data.to_string() }
}
