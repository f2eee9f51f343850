//! Replies, decoded in one piece, in two at every place, and byte by byte.

use crate::{Decoder, ProviderError, StopReason, StreamEvent};
use oneclaw_model::{CallId, Dialect, Thinking, Usage};
use serde_json::{Value, json};

type Outcome = (Vec<StreamEvent>, Result<(), ProviderError>);

fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let (mut decoder, mut events) = (Decoder::new(Dialect::Responses), Vec::new());
    let mut outcome = Ok(());
    for chunk in chunks {
        outcome = outcome.and(decoder.push(chunk, &mut events));
    }
    let end = decoder.finish(&mut events);
    (events, outcome.and(end))
}

fn stream(events: &[Value]) -> String {
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message"));
    events.iter().map(event).collect()
}

/// The outcome, whatever way the bytes are cut up.
fn read(events: &[Value]) -> Outcome {
    let body = stream(events);
    let whole = decode([body.as_bytes()]);
    for at in 0..=body.len() {
        let (head, tail) = body.as_bytes().split_at(at);
        assert_eq!(decode([head, tail]), whole, "split at {at}");
    }
    assert_eq!(decode(body.as_bytes().chunks(1)), whole);
    whole
}

/// The events of a reply that is whole.
fn whole(events: &[Value]) -> Vec<StreamEvent> {
    let (events, outcome) = read(events);
    assert_eq!(outcome, Ok(()));
    events
}

fn said(text: &str) -> StreamEvent {
    StreamEvent::Text(text.to_owned())
}

fn thought(text: &str) -> StreamEvent {
    StreamEvent::Thinking(text.to_owned())
}

fn started(id: &str, name: &str) -> StreamEvent {
    StreamEvent::CallStarted { id: id.into(), name: name.to_owned() }
}

fn argued(id: &str, delta: &str) -> StreamEvent {
    StreamEvent::CallArguments { id: id.into(), delta: delta.to_owned() }
}

fn called(id: &str) -> StreamEvent {
    StreamEvent::CallCompleted { id: CallId::from(id), signature: None }
}

fn text(index: u64, delta: &str) -> Value {
    json!({"type": "response.output_text.delta", "output_index": index, "item_id": "msg", "content_index": 0, "delta": delta,
        "obfuscation": "xyz"})
}

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "f", "arguments": arguments})
}

fn message(text: &str) -> Value {
    json!({"type": "message", "id": "msg", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn arguments(index: u64, delta: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": "fc", "delta": delta})
}

fn completed() -> Value {
    json!({"type": "response.completed", "response": {"status": "completed", "error": null, "usage": null}})
}

fn stopped(reason: StopReason) -> StreamEvent {
    StreamEvent::Stopped(reason)
}

// ---- text ----

#[test]
fn text_comes_once() {
    let events = [
        json!({"type": "response.created", "response": {"status": "in_progress", "output": [], "error": null}}),
        added(0, message("")),
        text(0, "Héllo "),
        json!({"type": "response.something_new", "delta": {"text": "?"}, "response": null}),
        text(0, "😀"),
        json!({"type": "response.output_text.done", "output_index": 0, "text": "Héllo 😀"}),
        done(0, message("Héllo 😀")),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [message("Héllo 😀")]}}),
    ];
    assert_eq!(whole(&events), [said("Héllo "), said("😀"), stopped(StopReason::End)]);
}

#[test]
fn what_comes_only_as_a_whole_is_given_out() {
    let item = json!({"type": "reasoning", "id": "rs", "summary": [{"text": "One"}, {"text": "Two"}],
        "encrypted_content": null});
    let reply = [item, message("Hi"), call("c1", "{\"a\":1}")];
    let expected = [
        thought("One"),
        thought("\n\n"),
        thought("Two"),
        said("Hi"),
        started("c1", "f"),
        argued("c1", "{\"a\":1}"),
        called("c1"),
        stopped(StopReason::ToolUse),
    ];
    let [reasoning, text, tool] = reply.clone();
    assert_eq!(whole(&[done(0, reasoning), done(1, text), done(2, tool), completed()]), expected);
    let end = json!({"type": "response.completed", "response": {"output": reply}});
    assert_eq!(whole(&[end]), expected);
}

#[test]
fn a_phase_goes_with_its_text() {
    let phased = |text: &str, phase: &str| {
        let mut item = message(text);
        item["phase"] = json!(phase);
        item
    };
    let mut first = phased("Looking.", "commentary");
    first["id"] = json!("msg_1");
    let events = [
        added(0, json!({"type": "message", "id": "msg_1"})),
        text(0, "Looking."),
        done(0, first),
        text(1, "Found."),
        done(1, phased("Found.", "final_answer")),
        done(2, phased("", "commentary")),
        completed(),
    ];
    let signed = |phase: &str| StreamEvent::TextSignature(phase.to_owned());
    assert_eq!(
        whole(&events),
        [
            said("Looking."),
            signed("commentary"),
            said("\n\n"),
            said("Found."),
            signed("final_answer"),
            stopped(StopReason::End),
        ]
    );
}

#[test]
fn refusals_are_text_and_a_reason() {
    let delta = json!({"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I cannot."});
    let item = json!({"type": "message", "content": [{"type": "refusal", "refusal": "I cannot."}]});
    let expected = [said("I cannot."), stopped(StopReason::Refused)];
    assert_eq!(whole(&[delta, done(0, item.clone()), completed()]), expected);
    assert_eq!(whole(&[done(0, item), completed()]), expected);
}

// ---- reasoning ----

#[test]
fn reasoning_is_read_by_people_and_kept_for_the_model() {
    let summary = |part: u64, delta: &str| json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": part, "delta": delta});
    let part = |part: u64| {
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": part,
            "part": {"type": "summary_text", "text": ""}})
    };
    let item = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA+/=", "status": "completed",
        "summary": [{"type": "summary_text", "text": "First"}, {"type": "summary_text", "text": "Second"}]});
    let events = [
        added(0, json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gA", "summary": []})),
        part(0),
        summary(0, "Fir"),
        summary(0, "st"),
        part(1),
        summary(1, "Second"),
        done(0, item.clone()),
        json!({"type": "response.reasoning_text.delta", "output_index": 1, "delta": "in the open"}),
        completed(),
    ];
    assert_eq!(
        whole(&events),
        [
            thought("Fir"),
            thought("st"),
            thought("\n\n"),
            thought("Second"),
            StreamEvent::Thought(Thinking::Item { json: item.to_string() }),
            thought("\n\n"),
            thought("in the open"),
            stopped(StopReason::End),
        ]
    );
}

#[test]
fn an_item_is_kept_letter_for_letter() {
    let item = r#"{ "type" : "reasoning", "z":1.50, "a": "\u00e9", "encrypted_content":"x" }"#;
    let body = format!("data: {{\"type\":\"response.output_item.done\",\"item\":{item}}}\n\n");
    let (events, outcome) = decode([body.as_bytes()]);
    assert_eq!(events, [StreamEvent::Thought(Thinking::Item { json: item.to_owned() })]);
    assert!(outcome.is_err());
}

// ---- calls ----

#[test]
fn calls_in_parallel_keep_their_arguments_apart() {
    let events = [
        added(0, call("c1", "")),
        added(1, call("c2", "")),
        arguments(0, "{\"a\""),
        arguments(1, "{\"b\""),
        arguments(0, ":1}"),
        arguments(1, ":2}"),
        json!({"type": "response.function_call_arguments.done", "output_index": 1, "arguments": "{\"b\":2}"}),
        done(1, call("c2", "{\"b\":2}")),
        done(0, call("c1", "{\"a\":1}")),
        completed(),
    ];
    assert_eq!(
        whole(&events),
        [
            started("c1", "f"),
            started("c2", "f"),
            argued("c1", "{\"a\""),
            argued("c2", "{\"b\""),
            argued("c1", ":1}"),
            argued("c2", ":2}"),
            called("c2"),
            called("c1"),
            stopped(StopReason::ToolUse),
        ]
    );
}

#[test]
fn calls_are_told_apart_by_ids_where_the_index_does_not() {
    let pieces = |id: &str, delta: &str| json!({"type": "response.function_call_arguments.delta", "item_id": format!("fc_{id}"), "delta": delta});
    let item = |kind: &str, id: &str, arguments: &str| json!({"type": kind, "item": call(id, arguments)});
    let events = [
        item("response.output_item.added", "c1", ""),
        item("response.output_item.added", "c2", ""),
        pieces("c1", "{\"a\":1}"),
        item("response.output_item.done", "c1", "{\"a\":1}"),
        item("response.output_item.done", "c2", "{\"b\":2}"),
        completed(),
    ];
    let expected = [
        started("c1", "f"),
        started("c2", "f"),
        argued("c1", "{\"a\":1}"),
        called("c1"),
        argued("c2", "{\"b\":2}"),
        called("c2"),
        stopped(StopReason::ToolUse),
    ];
    assert_eq!(whole(&events), expected);
    // Every item is the first.
    let first = events.map(|mut event| {
        event["output_index"] = json!(0);
        event
    });
    assert_eq!(whole(&first), expected);
    // Every event has another id.
    let [a, b, c, d, e, end] = first;
    let numbered = |mut event: Value, index: u64, id: &str| {
        event["output_index"] = json!(index);
        if event.get("item").is_some() {
            event["item"]["id"] = json!(id);
        } else {
            event["item_id"] = json!(id);
        }
        event
    };
    let odd = [
        numbered(a, 0, "v"),
        numbered(b, 1, "w"),
        numbered(c, 0, "x"),
        numbered(d, 0, "y"),
        numbered(e, 1, "z"),
        end,
    ];
    assert_eq!(whole(&odd), expected);
}

#[test]
fn a_call_may_have_no_arguments() {
    let events = [added(0, call("c1", "")), done(0, call("c1", "")), completed()];
    let expected = [started("c1", "f"), argued("c1", "{}"), called("c1"), stopped(StopReason::ToolUse)];
    assert_eq!(whole(&events), expected);
}

#[test]
fn a_call_is_not_carried_out_without_what_belongs_to_it() {
    // Nothing said that it is done, but the last event repeats it.
    let end = json!({"type": "response.completed", "response": {"output": [call("c1", "{\"a\":1}")]}});
    let expected =
        [started("c1", "f"), argued("c1", "{\"a\":1}"), called("c1"), stopped(StopReason::ToolUse)];
    assert_eq!(whole(&[added(0, call("c1", "")), end]), expected);
    let protocol = |detail: &str| Err(ProviderError::Protocol { detail: detail.to_owned() });
    let nameless = json!({"type": "function_call", "call_id": "c1", "arguments": "{}"});
    assert_eq!(read(&[done(0, nameless), completed()]), (vec![], protocol("a call has no name")));
    let (_, outcome) = read(&[arguments(0, "{\"a\":1}"), completed()]);
    assert_eq!(outcome, protocol("a call has arguments, but no name"));
}

// ---- the end ----

#[test]
fn a_reply_says_why_it_ended() {
    let incomplete = |details: Value| json!({"type": "response.incomplete", "response": {"status": "incomplete", "incomplete_details": details}});
    for (details, reason) in [
        (json!({"reason": "max_output_tokens"}), StopReason::Length),
        (json!({"reason": "content_filter"}), StopReason::Refused),
        (json!({"reason": "max_messages"}), StopReason::Other("max_messages".to_owned())),
        (json!({}), StopReason::Other("incomplete".to_owned())),
        (Value::Null, StopReason::Other("incomplete".to_owned())),
    ] {
        let events = [text(0, "Hi"), incomplete(details)];
        assert_eq!(whole(&events), [said("Hi"), stopped(reason)]);
    }
    let cut =
        [added(0, call("c1", "")), arguments(0, "{\"a"), incomplete(json!({"reason": "max_output_tokens"}))];
    assert_eq!(whole(&cut).last(), Some(&stopped(StopReason::Length)));
}

#[test]
fn a_body_without_an_end_was_cut_off() {
    let body = stream(&[text(0, "Hi"), done(0, message("Hi"))]) + "data: [DONE]\n\n";
    let (events, outcome) = decode([body.as_bytes()]);
    assert_eq!(events, [said("Hi")]);
    assert!(
        matches!(outcome, Err(ProviderError::Protocol { detail }) if detail.contains("ended in the middle"))
    );
}

#[test]
fn tokens_are_counted_once() {
    let usage = json!({"input_tokens": 1_000, "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 300},
        "output_tokens": 50, "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 1_050});
    let end = json!({"type": "response.completed", "response": {"status": "completed", "usage": usage}});
    let counted = Usage { input: 100, cache_read: 600, cache_write: 300, output: 50, reasoning: 20 };
    assert_eq!(whole(&[end]), [StreamEvent::Usage(counted), stopped(StopReason::End)]);
}

#[test]
fn errors_are_found_wherever_they_stand() {
    let failed =
        |error: Value| json!({"type": "response.failed", "response": {"status": "failed", "error": error}});
    let kind = |event: Value| {
        let (events, outcome) = read(&[text(0, "Hi"), event]);
        assert_eq!(events, [said("Hi")]);
        outcome.unwrap_err()
    };
    let coded = |code: &str| json!({"code": code, "message": "Something is wrong."});
    let refused = |error| matches!(error, ProviderError::Refused { .. });
    let overloaded = |error| matches!(error, ProviderError::Overloaded { .. });
    assert!(overloaded(kind(failed(coded("server_error")))));
    assert!(matches!(kind(failed(Value::Null)), ProviderError::Reported { .. }));
    assert!(matches!(kind(failed(coded("flux_error"))), ProviderError::Reported { .. }));
    assert!(matches!(kind(failed(coded("rate_limit_exceeded"))), ProviderError::RateLimited { .. }));
    assert!(matches!(kind(failed(coded("invalid_image_format"))), ProviderError::InvalidRequest { .. }));
    for code in
        ["invalid_prompt", "bio_policy", "misalignment_policy_violation", "image_content_policy_violation"]
    {
        assert!(refused(kind(failed(coded(code)))), "{code}");
    }
    let overflow =
        "Your input exceeds the context window of this model. Please adjust your input and try again.";
    let error =
        json!({"type": "invalid_request_error", "code": "context_length_exceeded", "message": overflow});
    for event in [
        failed(error.clone()),
        json!({"type": "error", "code": "context_length_exceeded", "message": overflow, "param": "input"}),
        json!({"type": "error", "sequence_number": 3, "error": error}),
        json!({"type": "response.of_the_future", "error": error}),
    ] {
        assert_eq!(kind(event), ProviderError::ContextOverflow { limit: None, requested: None });
    }
}

// ---- bounds ----

#[test]
fn nothing_grows_without_bound() {
    let detail = |events: &[Value]| match decode([stream(events).as_bytes()]).1 {
        Err(ProviderError::Protocol { detail }) => detail,
        other => panic!("{other:?}"),
    };
    let items: Vec<Value> = (0..1_025).map(|index| text(index, "x")).collect();
    assert_eq!(detail(&items), "the reply has more than 1024 items");
    let parts: Vec<Value> = (0..1_025)
        .map(|part| json!({"type": "response.output_text.delta", "output_index": 0, "content_index": part, "delta": "x"}))
        .collect();
    assert_eq!(detail(&parts), "an item has more than 1024 parts");
    let calls: Vec<Value> = (0..257).map(|index| added(index, call(&format!("c{index}"), ""))).collect();
    assert_eq!(detail(&calls), "the reply has more than 256 calls");
    let item = json!({"type": "reasoning", "encrypted_content": "x".repeat(3 << 20)});
    let thoughts: Vec<Value> = (0..3).map(|index| done(index, item.clone())).collect();
    assert!(detail(&thoughts).contains("more than 8388608 bytes"));
}
