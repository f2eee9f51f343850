//! Responses: what is taken and refused, how a reply looks, and how reasoning goes back.

use super::client::{Form, Protocol, check, get, known, known_with, post, with};
use oneclaw_demo::{Config, Fault, Server, Step, Thought};
use serde_json::{Value, json};

const MODEL: &str = "gpt-6-sol";

fn ask(input: Value) -> Value {
    json!({"model": MODEL, "store": false, "input": input})
}

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {}});
    json!([{"type": "function", "name": "get_current_time", "parameters": schema, "strict": false}])
}

async fn send(server: &Server, body: &Value) -> Value {
    let answer = Protocol::Responses.send(server, Form::Whole, body).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn the_shape_of_a_reply() {
    let server = known(&["demo"]).await;
    server.push(Step::Reply("Hello.".into()));
    let body = json!({"model": "demo", "input": "hi", "instructions": "Be kind.", "store": false});
    let reply = send(&server, &body).await;
    let id = reply["id"].as_str().unwrap();
    assert!(id.starts_with("resp_"));
    assert_eq!(
        reply,
        json!({
            "id": id, "object": "response", "created_at": 1_767_225_600, "status": "completed", "background": false,
            "error": null, "incomplete_details": null, "instructions": "Be kind.", "max_output_tokens": null,
            "metadata": {}, "model": "demo", "parallel_tool_calls": true, "previous_response_id": null,
            "prompt_cache_key": null, "reasoning": {"effort": null, "summary": null}, "safety_identifier": null,
            "service_tier": "default", "store": false, "temperature": 1.0, "text": {"format": {"type": "text"}},
            "tool_choice": "auto", "tools": [], "top_p": 1.0, "truncation": "disabled", "user": null,
            "output": [{
                "type": "message", "id": reply["output"][0]["id"], "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Hello.", "annotations": [], "logprobs": []}],
            }],
            "usage": {
                "input_tokens": 15, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 17,
            },
        })
    );
}

#[tokio::test]
async fn events_come_in_order_and_are_numbered() {
    let server = known(&[MODEL]).await;
    server.push(Step::Thoughts {
        thoughts: vec![Thought::Shown("Hm.".into()), Thought::Hidden],
        then: Box::new(Step::Calls(vec![("f".into(), "{}".into())])),
    });
    let body = with(ask(json!("hi")), json!({"reasoning": {"effort": "high", "summary": "auto"}}));
    let answer = Protocol::Responses.send(&server, Form::Stream, &body).await.unwrap();
    let events = answer.events();
    let kinds: Vec<&str> =
        events.iter().map(|e| e["type"].as_str().unwrap().strip_prefix("response.").unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_summary_part.added",
            "reasoning_summary_text.delta",
            "reasoning_summary_text.done",
            "reasoning_summary_part.done",
            "output_item.done",
            "output_item.added",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
    );
    let names: Vec<String> = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("event: response."))
        .map(str::to_owned)
        .collect();
    assert_eq!(names, kinds);
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], at);
        assert_eq!(event["obfuscation"].is_string(), event["type"].as_str().unwrap().ends_with(".delta"));
    }
    // What has only begun is not what has to be kept.
    assert_eq!(events[2]["item"]["encrypted_content"], "");
    let done = &events[7]["item"];
    assert!(done["encrypted_content"].as_str().unwrap().len() > 32);
    assert_eq!(done["summary"], json!([{"type": "summary_text", "text": "Hm."}]));
    assert_eq!(events[9]["item"]["summary"], json!([]));
    let call = &events[13]["item"];
    assert!(call["id"].as_str().unwrap().starts_with("fc_"));
    assert_eq!((&events[11]["item_id"], &events[11]["output_index"]), (&call["id"], &json!(2)));
    assert_eq!(events[14]["response"]["output"].as_array().unwrap().len(), 3);

    let body =
        with(ask(json!("hi")), json!({"stream": true, "stream_options": {"include_obfuscation": false}}));
    let answer = post(&server, "/v1/responses", &[], &body).await.unwrap();
    assert!(!answer.text().contains("obfuscation") && answer.text().contains("output_text.delta"));
}

#[tokio::test]
async fn reasoning_goes_back_with_what_it_led_to() {
    let server = known(&[MODEL, "gpt-5.4", "demo"]).await;
    let question = json!({"role": "user", "content": "What time is it?"});
    let first = with(ask(json!([question])), json!({"tools": tools()}));
    let reply = send(&server, &first).await;
    let items = reply["output"].as_array().unwrap();
    let kinds: Vec<&str> = items.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call"]);
    assert_eq!(items[1]["phase"], "commentary");
    let (thought, said, call) = (&items[0], &items[1], &items[2]);
    let output = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "12:30"});
    let next = |model: &str, items: Vec<&Value>| {
        let input: Vec<&Value> = [&question].into_iter().chain(items).collect();
        json!({"model": model, "store": false, "input": input, "tools": tools()})
    };
    let bare_call = with(call.clone(), json!({"id": null}));
    let bare_said = json!({"role": "assistant", "content": "I will look that up."});
    let forged = with(thought.clone(), json!({"encrypted_content": "gAAAABforged"}));
    let moved = with(thought.clone(), json!({"id": "rs_other"}));
    let lost = with(thought.clone(), json!({"encrypted_content": null}));
    let name = |item: &Value| item["id"].as_str().unwrap().to_owned();
    let alone = format!(
        "Item '{}' of type 'reasoning' was provided without its required following item.",
        name(thought)
    );
    let without = |item: &Value, kind: &str| {
        format!(
            "Item '{}' of type '{kind}' was provided without its required 'reasoning' item: '{}'.",
            name(item),
            name(thought)
        )
    };
    let unverified = "The encrypted content gAAA... could not be verified.";
    let open = format!("No tool output found for function call {}.", call["call_id"].as_str().unwrap());
    let orphan = format!(
        "No tool call found for function call output with call_id {}.",
        call["call_id"].as_str().unwrap()
    );
    check(
        &server,
        Protocol::Responses,
        &[
            (next(MODEL, vec![thought, said, call, &output]), 200, "get_current_time returned: 12:30"),
            // Without names nothing is missed.
            (next(MODEL, vec![&bare_said, &bare_call, &output]), 200, "get_current_time returned: 12:30"),
            (next(MODEL, vec![thought, &bare_call, &output]), 200, "get_current_time returned: 12:30"),
            (next(MODEL, vec![&bare_said, call, &output]), 400, &without(call, "function_call")),
            (next(MODEL, vec![said, &bare_call, &output]), 400, &without(said, "message")),
            (next(MODEL, vec![thought]), 400, &alone),
            (next(MODEL, vec![&bare_said, thought, &question]), 400, &alone),
            (next(MODEL, vec![&forged, said, call, &output]), 400, unverified),
            (next(MODEL, vec![&moved, said, &bare_call, &output]), 400, unverified),
            (next(MODEL, vec![&lost, said, call, &output]), 404, "Items are not persisted when `store`"),
            (next(MODEL, vec![thought, said, call]), 400, &open),
            (next(MODEL, vec![&output]), 400, &orphan),
            (next(MODEL, vec![&output, thought, call]), 400, &orphan),
            (next(MODEL, vec![thought, said, call, call, &output]), 400, "Duplicate item found"),
        ],
    )
    .await;
    // Another model of the service does not get to see it, and says so.
    let other = send(&server, &next("gpt-5.4", vec![thought, said, call, &output])).await;
    assert_eq!(
        other["input_transformations"],
        json!([{"type": "reasoning", "id": thought["id"], "action": "removed", "reason": "model_mismatch"}])
    );
    // Another server never made it.
    let stranger = known_with(&[MODEL], Config { seed: 1, ..Config::default() }).await;
    let body = next(MODEL, vec![thought, said, call, &output]);
    check(&stranger, Protocol::Responses, &[(body, 400, unverified)]).await;
    // A model that does not reason has nothing of the kind.
    let plain = send(&server, &json!({"model": "demo", "input": "What time is it?", "tools": tools()})).await;
    assert_eq!(plain["output"][0]["type"], "message");
    assert_eq!(plain["output"][0]["phase"], Value::Null);
}

#[tokio::test]
async fn responses_refuse_what_responses_refuse() {
    let server = known(&[MODEL]).await;
    let base = ask(json!("hi"));
    let more = |fields: Value| with(base.clone(), fields);
    let input = |items: Value| more(json!({"input": items}));
    let tool = |tool: Value| more(json!({"tools": [tool]}));
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let strict = json!({
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
    });
    let function = |schema: &Value, strict: bool| json!({"type": "function", "name": "f", "parameters": schema, "strict": strict});
    let long = "x".repeat(65);
    let call = json!({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"});
    let picture =
        json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAA+g="});
    let output = |output: Value| json!({"type": "function_call_output", "call_id": "c", "output": output});
    let cases = [
        (base.clone(), 200, ""),
        (more(json!({"messages": []})), 400, "Unknown parameter: 'messages'."),
        (more(json!({"input": null})), 400, "Missing required parameter: 'input'."),
        (input(json!([])), 400, "nothing to answer"),
        (input(json!([{"role": "developer", "content": "Be kind."}])), 400, "nothing to answer"),
        (
            input(json!([{"role": "developer", "content": "Be kind."}, {"role": "user", "content": "hi"}])),
            200,
            "",
        ),
        (input(json!([{"role": "king", "content": "hi"}])), 400, "Invalid value: 'king'."),
        (
            input(json!([{"role": "user", "content": [{"type": "text", "text": "hi"}]}])),
            400,
            "Invalid value: 'text'.",
        ),
        (
            input(json!([{"role": "user", "content": [{"type": "input_text", "text": "hi"}, picture]}])),
            200,
            "",
        ),
        (
            input(json!([{"role": "user", "content": "hi", "name": "x"}])),
            400,
            "Unknown parameter: 'input[0].name'.",
        ),
        (input(json!([{"type": "item_reference", "id": "rs_1"}])), 404, "Item with id 'rs_1' not found."),
        (input(json!([{"type": "other"}])), 400, "Invalid value: 'other'."),
        (
            input(
                json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes", "phase": "final_answer"}]),
            ),
            200,
            "",
        ),
        (
            input(json!([with(call.clone(), json!({"id": "call_1"}))])),
            400,
            "Expected an ID that begins with 'fc'.",
        ),
        (input(json!([with(call.clone(), json!({"call_id": long}))])), 400, "maximum length 64"),
        (
            input(json!([with(call.clone(), json!({"arguments": {}}))])),
            400,
            "expected a string, but got an object",
        ),
        (input(json!([call, output(json!("ok"))])), 200, ""),
        (input(json!([call, output(json!([{"type": "input_text", "text": "ok"}, picture]))])), 200, ""),
        (
            more(json!({"previous_response_id": "resp_1"})),
            400,
            "Previous response with id 'resp_1' not found.",
        ),
        (more(json!({"max_output_tokens": 15})), 400, "Expected a value >= 16, but got 15 instead."),
        (more(json!({"max_output_tokens": 16})), 200, ""),
        (more(json!({"max_output_tokens": 10_001})), 400, "Expected a value <= 10000"),
        (more(json!({"prompt_cache_key": long})), 400, "Invalid 'prompt_cache_key': string too long."),
        (more(json!({"prompt_cache_key": "x".repeat(64)})), 200, ""),
        (more(json!({"truncation": "never"})), 400, "Invalid value: 'never'."),
        (more(json!({"include": ["reasoning.encrypted_content"]})), 200, ""),
        (more(json!({"include": ["everything"]})), 400, "Invalid value: 'everything'."),
        (more(json!({"stream_options": {}})), 400, "only allowed when 'stream' is enabled"),
        (more(json!({"reasoning": {"summary": "long"}})), 400, "Invalid value: 'long'."),
        (more(json!({"reasoning": {"depth": 1}})), 400, "Unknown parameter: 'reasoning.depth'."),
        (
            tool(json!({"type": "function", "function": {"name": "f"}})),
            400,
            "Unknown parameter: 'tools[0].function'.",
        ),
        (tool(function(&schema, false)), 200, ""),
        (
            tool(function(&schema, true)),
            400,
            "'additionalProperties' is required to be supplied and to be false.",
        ),
        (tool(function(&strict, true)), 200, ""),
        (
            more(json!({"tools": tools(), "tool_choice": {"type": "function", "name": "g"}})),
            400,
            "Tool choice 'g' not found",
        ),
    ];
    check(&server, Protocol::Responses, &cases).await;
}

#[tokio::test]
async fn replies_that_do_not_fit_are_incomplete() {
    let server = known_with(&[MODEL], Config { reasoning_tokens: 3_000, ..Config::default() }).await;
    let body = with(ask(json!("Write 300 words about rivers.")), json!({"max_output_tokens": 2_000}));
    // All of it went into reasoning.
    let reply = send(&server, &body).await;
    assert_eq!(
        (&reply["status"], &reply["incomplete_details"]),
        (&json!("incomplete"), &json!({"reason": "max_output_tokens"}))
    );
    assert_eq!(reply["output"].as_array().unwrap().len(), 1);
    assert_eq!(reply["usage"]["output_tokens_details"]["reasoning_tokens"], 2_000);
    let answer = Protocol::Responses.send(&server, Form::Stream, &body).await.unwrap();
    assert_eq!(answer.events().last().unwrap()["type"], "response.incomplete");
    // Told not to reason, there is room.
    let reply = send(&server, &with(body, json!({"reasoning": {"effort": "none"}}))).await;
    assert_eq!(
        (&reply["status"], &reply["output"][0]["phase"]),
        (&json!("completed"), &json!("final_answer"))
    );
}

#[tokio::test]
async fn prompts_are_counted_cut_and_refused() {
    let server = known(&["demo"]).await;
    let body = |words: usize| json!({"model": "demo", "input": vec!["a"; words].join(" ")});
    let answer = post(&server, "/v1/responses/input_tokens", &[], &body(90)).await.unwrap();
    assert_eq!(answer.json(), json!({"object": "response.input_tokens", "input_tokens": 97}));
    let (status, error) =
        Protocol::Responses.send(&server, Form::Stream, &body(100_001)).await.unwrap().error();
    assert_eq!(status, 400);
    assert_eq!(
        error["error"],
        json!({
            "message": "Your input exceeds the context window of this model. Please adjust your input and try again.",
            "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded",
        })
    );
    let long = json!({"role": "user", "content": vec!["a"; 60_000].join(" ")});
    let body = json!({"model": "demo", "input": [long, long], "truncation": "auto"});
    assert_eq!(send(&server, &body).await["usage"]["input_tokens"], 60_007);
    let written = send(&server, &json!({"model": "demo", "input": vec!["b"; 2_000].join(" ")})).await;
    let details = json!({"cached_tokens": 0, "cache_write_tokens": 1_920});
    assert_eq!(written["usage"]["input_tokens_details"], details);
    assert_eq!(get(&server, "/v1/responses", &[]).await.status, 404);
}

#[tokio::test]
async fn streams_go_wrong_in_three_shapes() {
    let server = known(&["demo"]).await;
    let ask = Protocol::Responses.ask("Write 40 words about rivers.");
    for (fault, kind, message) in [
        (Fault::ErrorInStream, "error", "/message"),
        (Fault::NestedErrorInStream, "error", "/error/message"),
        (Fault::FailedResponse, "response.failed", "/response/error/message"),
    ] {
        server.push(Step::Fault(fault.clone()));
        let answer = Protocol::Responses.send(&server, Form::Stream, &ask).await.unwrap();
        let events = answer.events();
        let last = events.last().unwrap();
        assert_eq!((answer.status, &last["type"]), (200, &json!(kind)));
        assert_eq!(last["sequence_number"], events.len() - 1);
        assert!(last.pointer(message).unwrap().as_str().unwrap().contains("overloaded"), "{last}");
        server.push(Step::Fault(fault));
        let whole = Protocol::Responses.send(&server, Form::Whole, &ask).await.unwrap().json();
        assert_eq!((&whole["status"], whole["error"].is_object()), (&json!("failed"), true));
    }
    server.push(Step::Fault(Fault::Refusal));
    let declined = Protocol::Responses.send(&server, Form::Stream, &ask).await.unwrap();
    assert!(declined.text().contains("event: response.refusal.delta"));
}
