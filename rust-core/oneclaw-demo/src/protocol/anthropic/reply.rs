//! Replies and errors as messages carry them.

use super::super::{Answer, Event, Rejection, Stop, arguments, insert, pieces, signature};
use super::binding::Signer;
use crate::ask::Ask;
use crate::script::Thought;
use crate::subject::Subject;
use oneclaw_catalogue::{Ability, ThinkingType};
use oneclaw_model::{Effort, Usage};
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

pub(crate) fn models(subjects: &[Subject<'_>]) -> Value {
    let data: Vec<Value> = subjects.iter().map(model).collect();
    let id = |subject: Option<&Subject<'_>>| subject.map(|subject| subject.model.id.clone());
    json!({
        "data": data, "has_more": false, "first_id": id(subjects.first()), "last_id": id(subjects.last()),
    })
}

pub(crate) fn model(subject: &Subject<'_>) -> Value {
    let model = subject.model;
    let mut listed = json!({
        "type": "model", "id": model.id, "display_name": model.id, "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": model.window, "max_tokens": model.max_output,
    });
    if let Some(facts) = subject.facts {
        insert(&mut listed, "lifecycle", if facts.ends.is_some() { "deprecated" } else { "active" });
        insert(&mut listed, "retires_at", facts.ends.map(|day| format!("{day}T00:00:00Z")));
        insert(&mut listed, "capabilities", capabilities(subject));
    }
    listed
}

fn capabilities(subject: &Subject<'_>) -> Value {
    let supported = |is: bool| json!({"supported": is});
    let types = subject.reasoning().map(|reasoning| reasoning.types.clone()).unwrap_or_default();
    let takes = |kind: ThinkingType| supported(types.contains(&kind));
    let efforts = subject.efforts(None);
    let effort = |effort: Effort| supported(efforts.contains(&effort));
    json!({
        "batch": supported(false), "citations": supported(false), "code_execution": supported(false),
        "context_management": supported(false), "structured_outputs": supported(false),
        "server_tools": {
            "supported": false, "code_execution": supported(false), "web_search": supported(false),
        },
        "effort": {
            "supported": !efforts.is_empty(), "low": effort(Effort::Low), "medium": effort(Effort::Medium),
            "high": effort(Effort::High), "xhigh": effort(Effort::Xhigh), "max": effort(Effort::Max),
        },
        "image_input": supported(!subject.cannot(Ability::Pictures)),
        "pdf_input": supported(!subject.cannot(Ability::Pdf)),
        "thinking": {
            "supported": subject.reasoning().is_some(),
            "types": {
                "adaptive": takes(ThinkingType::Adaptive), "between_tools": takes(ThinkingType::BetweenTools),
                "disabled": supported(types.is_empty() || types.contains(&ThinkingType::Disabled)),
                "enabled": takes(ThinkingType::Enabled),
            },
        },
    })
}

/// The blocks of a reply, signed: reasoning, text, more reasoning, calls.
fn blocks(ask: &Ask, answer: &Answer) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut signer =
        ask.binding.map(|binding| Signer::new(answer.seal, binding, &answer.id, answer.thoughts.len()));
    let (first, more) = answer.thoughts.split_at_checked(1).unwrap_or_default();
    for thought in first {
        blocks.push(thinking(thought, signer.as_mut()));
    }
    if !answer.reply.text.is_empty() {
        let text = json!({"type": "text", "text": answer.reply.text});
        if let Some(signer) = &mut signer {
            signer.pass(&text);
        }
        blocks.push(text);
    }
    for thought in more {
        blocks.push(thinking(thought, signer.as_mut()));
    }
    for (at, call) in answer.reply.calls.iter().enumerate() {
        blocks.push(json!({
            "type": "tool_use", "id": call_id(answer, at), "name": call.name, "input": arguments(&call.arguments),
        }));
    }
    blocks
}

fn thinking(thought: &Thought, signer: Option<&mut Signer>) -> Value {
    let shown = match thought {
        Thought::Shown(text) => text.as_str(),
        Thought::Hidden | Thought::Redacted => "",
    };
    let signature = signer.map_or_else(|| signature(shown), |signer| signer.sign(shown));
    match thought {
        Thought::Redacted => json!({"type": "redacted_thinking", "data": signature}),
        Thought::Shown(_) | Thought::Hidden => {
            json!({"type": "thinking", "thinking": shown, "signature": signature})
        }
    }
}

pub(crate) fn whole(ask: &Ask, answer: &Answer) -> Value {
    let output = answer.usage.map_or(0, |usage| usage.output);
    let mut message = message(ask, answer, blocks(ask, answer), Some(stop_reason(answer.stop)), output);
    if !ask.transformations.is_empty() {
        insert(&mut message, "input_transformations", ask.transformations.clone());
    }
    message
}

pub(crate) fn events(ask: &Ask, answer: &Answer, piece: usize) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |name: &'static str, value: Value| {
        events.push(Event { name: Some(name), data: value.to_string() });
    };
    let mut start = message(ask, answer, vec![], None, FIRST_OUTPUT);
    if !ask.transformations.is_empty() {
        insert(&mut start, "input_transformations", ask.transformations.clone());
    }
    push("message_start", json!({"type": "message_start", "message": start}));
    push("ping", json!({"type": "ping"}));
    let calls = answer.reply.calls.iter();
    let mut arguments = calls.map(|call| call.arguments.as_str());
    for (index, block) in blocks(ask, answer).into_iter().enumerate() {
        let (start, deltas) = streamed(block, piece, &mut arguments);
        push(
            "content_block_start",
            json!({"type": "content_block_start", "index": index, "content_block": start}),
        );
        for delta in deltas {
            push(
                "content_block_delta",
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
            );
        }
        push("content_block_stop", json!({"type": "content_block_stop", "index": index}));
    }
    let mut end = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(answer.stop), "stop_sequence": null},
    });
    if let Some(usage) = answer.usage {
        let mut counted = json!({"output_tokens": usage.output});
        if ask.style.is_known {
            insert(&mut counted, "output_tokens_details", json!({"thinking_tokens": usage.reasoning}));
        }
        insert(&mut end, "usage", counted);
    }
    push("message_delta", end);
    push("message_stop", json!({"type": "message_stop"}));
    events
}

/// A block as it begins, and what is added to it. The arguments of calls are those of the reply, as a script may want them
/// broken.
fn streamed<'a>(
    mut block: Value,
    piece: usize,
    arguments: &mut impl Iterator<Item = &'a str>,
) -> (Value, Vec<Value>) {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let deltas = match text("type").as_str() {
        "thinking" => {
            let parts = pieces(&text("thinking"), piece).into_iter();
            let mut deltas: Vec<Value> =
                parts.map(|part| json!({"type": "thinking_delta", "thinking": part})).collect();
            deltas.push(json!({"type": "signature_delta", "signature": text("signature")}));
            insert(&mut block, "thinking", "");
            insert(&mut block, "signature", "");
            deltas
        }
        "text" => {
            let parts = pieces(&text("text"), piece).into_iter();
            insert(&mut block, "text", "");
            parts.map(|part| json!({"type": "text_delta", "text": part})).collect()
        }
        "tool_use" => {
            // The original sends an empty piece first, and nothing else for a call without arguments.
            let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            let arguments = arguments.next().filter(|arguments| *arguments != "{}").unwrap_or_default();
            let parts = pieces(arguments, piece).into_iter();
            deltas.extend(parts.map(|part| json!({"type": "input_json_delta", "partial_json": part})));
            insert(&mut block, "input", json!({}));
            deltas
        }
        // A redacted block comes whole.
        _ => vec![],
    };
    (block, deltas)
}

fn message(ask: &Ask, answer: &Answer, content: Vec<Value>, stop: Option<&str>, output: u64) -> Value {
    let mut message = json!({
        "id": format!("msg_{}", answer.id), "type": "message", "role": "assistant", "model": answer.model,
        "content": content, "stop_reason": stop, "stop_sequence": null,
    });
    if let Some(usage) = answer.usage {
        let mut counted = usage_object(usage, output);
        if ask.style.is_known && stop.is_some() {
            insert(&mut counted, "output_tokens_details", json!({"thinking_tokens": usage.reasoning}));
        }
        insert(&mut message, "usage", counted);
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
        Stop::Length | Stop::Continuation => "max_tokens",
        Stop::Window => "model_context_window_exceeded",
        Stop::Calls => "tool_use",
        Stop::Refused => "refusal",
    }
}

fn call_id(answer: &Answer, at: usize) -> String {
    format!("toolu_{}_{at}", answer.id)
}
