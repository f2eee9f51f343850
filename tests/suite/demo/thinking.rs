//! Claude's thinking by the catalogue: how it may be asked for, how it comes back, and what it is bound to.

use super::client::{Answer, Form, Protocol, check, get, known, known_with, post, with};
use oneclaw_demo::{Config, Server, Step, Thought};
use serde_json::{Value, json};

const BOUND: &str = "claude-opus-5-5";
const UNBOUND: &str = "claude-opus-4-7";
const BETA: (&str, &str) = ("anthropic-beta", "other-2026-01-01, thinking-binding-controls-2026-08-01");
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
const ELSEWHERE: &str = "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove \
                         the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";
const MODIFIED: &str = "blocks in the latest assistant message cannot be modified";

fn ask(model: &str, fields: Value) -> Value {
    with(with(Protocol::Anthropic.ask("hi"), json!({"model": model, "max_tokens": 5_000})), fields)
}

fn tools() -> Value {
    json!([{"name": "get_current_time", "input_schema": {"type": "object", "properties": {}}}])
}

async fn send(server: &Server, body: &Value) -> Answer {
    Protocol::Anthropic.send(server, Form::Whole, body).await.unwrap()
}

#[tokio::test]
async fn thinking_is_asked_for_as_the_family_takes_it() {
    let models = [
        BOUND,
        UNBOUND,
        "claude-sonnet-5-5",
        "claude-haiku-4-5",
        "claude-opus-5",
        "claude-opus-4-6",
        "claude-opus-4-5",
    ];
    let server = known(&models).await;
    let thinking = |kind: &str| json!({"thinking": {"type": kind}});
    let effort = |effort: &str| json!({"output_config": {"effort": effort}});
    let budget = |budget: u64| json!({"thinking": {"type": "enabled", "budget_tokens": budget}});
    let cases = [
        (ask(BOUND, thinking("adaptive")), 200, ""),
        (
            ask(BOUND, thinking("disabled")),
            400,
            "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
             \"output_config.effort\" to control thinking behavior.",
        ),
        (ask(BOUND, budget(1_024)), 400, "\"thinking.type.enabled\" is not supported for this model."),
        (ask("claude-sonnet-5-5", thinking("between_tools")), 200, ""),
        (ask("claude-sonnet-5-5", thinking("disabled")), 400, "Use \"thinking.type.between_tools\""),
        (
            ask("claude-sonnet-5-5", with(thinking("between_tools"), effort("max"))),
            400,
            "\"thinking.type.between_tools\" is only supported at effort \"high\" or below",
        ),
        (ask("claude-opus-5", with(thinking("disabled"), effort("high"))), 200, ""),
        (
            ask("claude-opus-5", with(thinking("disabled"), effort("xhigh"))),
            400,
            "is only supported at effort \"high\"",
        ),
        (
            ask("claude-haiku-4-5", thinking("adaptive")),
            400,
            "adaptive thinking is not supported on this model",
        ),
        (ask("claude-haiku-4-5", budget(1_024)), 200, ""),
        (ask("claude-haiku-4-5", budget(1_023)), 400, "Input should be greater than or equal to 1024"),
        (
            ask("claude-haiku-4-5", budget(5_000)),
            400,
            "`max_tokens` must be greater than `thinking.budget_tokens`.",
        ),
        (ask("claude-opus-4-6", budget(4_999)), 200, ""),
        (ask(UNBOUND, thinking("sometimes")), 400, "Input tag 'sometimes' found using 'type'"),
        (ask("claude-haiku-4-5", effort("low")), 400, "This model does not support the effort parameter."),
        (ask("claude-opus-4-5", effort("low")), 200, ""),
        (
            ask("claude-opus-4-6", effort("xhigh")),
            400,
            "This model does not support effort level 'xhigh'. Supported levels: low, medium, high, max.",
        ),
        (ask(UNBOUND, effort("xhigh")), 200, ""),
        (ask(UNBOUND, effort("minimal")), 400, "output_config.effort: Input should be 'low'"),
        (
            ask(UNBOUND, json!({"thinking": {"type": "adaptive", "display": "all"}})),
            400,
            "thinking.display: Input should be",
        ),
    ];
    check(&server, Protocol::Anthropic, &cases).await;
}

#[tokio::test]
async fn prefill_sampling_and_force_are_refused_where_they_are() {
    let server = known(&[BOUND, UNBOUND, "claude-opus-4-6", "claude-haiku-4-5"]).await;
    let prefill = |model: &str| with(Protocol::Anthropic.chat(&["hi", "Hello"]), json!({"model": model}));
    let force = |model: &str, choice: Value| ask(model, json!({"tools": tools(), "tool_choice": choice}));
    let any = json!({"type": "any"});
    let named = json!({"type": "tool", "name": "get_current_time"});
    let result = |is_error: bool| {
        let picture = json!({"type": "image", "source": {
            "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA",
        }});
        let call = json!({"type": "tool_use", "id": "t1", "name": "get_current_time", "input": {}});
        let result =
            json!({"type": "tool_result", "tool_use_id": "t1", "content": [picture], "is_error": is_error});
        json!({"messages": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]})
    };
    let cases = [
        (
            prefill("claude-opus-4-6"),
            400,
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
        (prefill("claude-haiku-4-5"), 200, ""),
        (ask(UNBOUND, json!({"temperature": 0.5})), 400, "`temperature` is deprecated for this model."),
        (ask(UNBOUND, json!({"top_k": 5})), 400, "`top_k` is deprecated for this model."),
        (ask("claude-opus-4-6", json!({"temperature": 0.5})), 200, ""),
        (force(BOUND, any.clone()), 400, "tool_choice: type \"any\" is not supported for this model."),
        (force(BOUND, named.clone()), 400, "tool_choice: type \"tool\" is not supported for this model."),
        (force(BOUND, json!({"type": "auto"})), 200, ""),
        (force(UNBOUND, any.clone()), 200, ""),
        (
            with(
                force("claude-haiku-4-5", any),
                json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}}),
            ),
            400,
            "Thinking may not be enabled when tool_choice forces tool use.",
        ),
        (ask(UNBOUND, result(true)), 400, "all content must be type \"text\" if \"is_error\" is true"),
        (ask(UNBOUND, result(false)), 200, ""),
    ];
    check(&server, Protocol::Anthropic, &cases).await;
}

#[tokio::test]
async fn thinking_shows_as_much_as_was_asked_for() {
    let server = known(&[BOUND, UNBOUND, "claude-opus-4-6"]).await;
    let blocks = |body: Value| {
        let server = &server;
        async move { send(server, &body).await.json()["content"].clone() }
    };
    // By default there is a block, and no text in it.
    let hidden = blocks(ask(BOUND, json!({}))).await;
    assert_eq!((&hidden[0]["type"], &hidden[0]["thinking"]), (&json!("thinking"), &json!("")));
    assert!(hidden[0]["signature"].as_str().unwrap().len() > 100);
    assert_eq!(hidden[1]["type"], "text");
    let shown = blocks(ask(BOUND, json!({"thinking": {"type": "adaptive", "display": "summarized"}}))).await;
    assert!(shown[0]["thinking"].as_str().unwrap().starts_with("The newest message says"));
    // Off by default, and shown by default before 4.7.
    assert_eq!(blocks(ask(UNBOUND, json!({}))).await[0]["type"], "text");
    let adaptive = json!({"thinking": {"type": "adaptive"}});
    assert_eq!(blocks(ask(UNBOUND, adaptive.clone())).await[0]["thinking"], "");
    assert_ne!(blocks(ask("claude-opus-4-6", adaptive)).await[0]["thinking"], "");

    server.push(Step::Thoughts {
        thoughts: vec![Thought::Shown("One.".into()), Thought::Redacted, Thought::Hidden],
        then: Box::new(Step::Calls(vec![("get_current_time".into(), "{}".into())])),
    });
    let body =
        ask(BOUND, json!({"thinking": {"type": "adaptive", "display": "summarized"}, "tools": tools()}));
    let answer = Protocol::Anthropic.send(&server, Form::Stream, &body).await.unwrap();
    let started: Vec<Value> = answer
        .events()
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .map(|event| event["content_block"].clone())
        .collect();
    let kinds: Vec<&str> = started.iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["thinking", "redacted_thinking", "thinking", "tool_use"]);
    assert!(started[1]["data"].as_str().unwrap().len() > 100);
    let end = answer.events().iter().rev().nth(1).unwrap().clone();
    assert!(end["usage"]["output_tokens_details"]["thinking_tokens"].as_u64() > Some(64));
}

/// A conversation with a tool, in the state in which the result goes back: the request, and the blocks of the reply.
async fn in_a_loop(server: &Server, model: &str) -> (Value, Value) {
    let fields = json!({
        "system": "Be kind.", "tools": tools(), "thinking": {"type": "adaptive"},
        "messages": [{"role": "user", "content": "What time is it?"}],
    });
    let body = ask(model, fields);
    server.push(Step::Thoughts {
        thoughts: vec![Thought::Hidden, Thought::Redacted],
        then: Box::new(Step::Calls(vec![(
            "get_current_time".into(),
            r#"{"zone": "UTC", "at": null}"#.into(),
        )])),
    });
    let blocks = send(server, &body).await.json()["content"].clone();
    (body, blocks)
}

fn result(call: &Value) -> Value {
    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"], "content": "12:30"}]})
}

fn continued(body: &Value, blocks: &Value) -> Value {
    let call = blocks.as_array().unwrap().last().unwrap();
    let mut body = body.clone();
    body["messages"]
        .as_array_mut()
        .unwrap()
        .extend([json!({"role": "assistant", "content": blocks}), result(call)]);
    body
}

#[tokio::test]
async fn thinking_is_bound_to_what_stands_before_it() {
    let server = known(&[BOUND, UNBOUND]).await;
    let (body, blocks) = in_a_loop(&server, BOUND).await;
    let good = continued(&body, &blocks);
    let changed = |pointer: &str, value: Value| {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed
    };
    let place = |n: usize| format!("messages.1.content.{n}: {ELSEWHERE}");
    let first = place(0);
    let cases = [
        (good.clone(), 200, "returned: 12:30"),
        // Written otherwise, but the same.
        (
            changed(
                "/system",
                json!([{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]),
            ),
            200,
            "",
        ),
        (
            changed(
                "/messages/0/content",
                json!([{"type": "text", "text": "What time is it?", "citations": null}]),
            ),
            200,
            "",
        ),
        (with(good.clone(), json!({"max_tokens": 4_000, "output_config": {"effort": "low"}})), 200, ""),
        // What stands before it was changed.
        (changed("/system", json!("Be unkind.")), 400, &first),
        (with(good.clone(), json!({"system": null})), 400, &first),
        (changed("/tools/0/input_schema", json!({"type": "object"})), 400, &first),
        (changed("/messages/0/content", json!("What day is it?")), 400, &first),
    ];
    check(&server, Protocol::Anthropic, &cases).await;
    // What comes after it may change, and all of it may be left out.
    let calls = json!([blocks.as_array().unwrap().last().unwrap()]);
    let mut later = good.clone();
    later["messages"][2]["content"][0]["content"] = "13:00".into();
    let bare = with(continued(&body, &calls), json!({"system": "Be unkind."}));
    check(&server, Protocol::Anthropic, &[(later, 200, ""), (bare, 200, "")]).await;
    // An older family is not bound.
    let (body, blocks) = in_a_loop(&server, UNBOUND).await;
    let free = with(continued(&body, &blocks), json!({"system": "Be unkind."}));
    check(&server, Protocol::Anthropic, &[(free, 200, "")]).await;
}

#[tokio::test]
async fn thinking_is_counted_on_the_same_terms() {
    let server = known(&[BOUND]).await;
    let (body, blocks) = in_a_loop(&server, BOUND).await;
    let good = with(continued(&body, &blocks), json!({"max_tokens": null}));
    let path = "/v1/messages/count_tokens";
    assert_eq!(post(&server, path, &[VERSION], &good).await.unwrap().status, 200);
    let wrong = post(&server, path, &[VERSION], &with(good, json!({"system": "x"}))).await.unwrap();
    assert_eq!(wrong.status, 400);
    assert!(wrong.json()["error"]["message"].as_str().unwrap().ends_with(ELSEWHERE));
}

/// Three replies with thinking in one conversation: the request that carries all of them.
async fn long(server: &Server, model: &str) -> Value {
    let mut body = ask(model, json!({"thinking": {"type": "adaptive"}, "messages": []}));
    for text in ["remember: alpha = 1", "remember: beta = 2", "remember: gamma = 3", "What is alpha?"] {
        body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": text}));
        if text.ends_with('?') {
            break;
        }
        let answer = send(server, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let message = json!({"role": "assistant", "content": answer.json()["content"]});
        body["messages"].as_array_mut().unwrap().push(message);
    }
    body
}

/// The request without the thinking of those messages.
fn without(body: &Value, messages: &[usize]) -> Value {
    let mut body = body.clone();
    for at in messages {
        body["messages"][*at]["content"].as_array_mut().unwrap().remove(0);
    }
    body
}

#[tokio::test]
async fn thinking_is_a_chain_that_may_lose_its_beginning() {
    let server = known(&[BOUND, UNBOUND]).await;
    let all = long(&server, BOUND).await;
    let at = |n: usize| format!("messages.{n}.content.0: {ELSEWHERE}");
    let mut swapped = all.clone();
    let thought = swapped["messages"][1]["content"][0].take();
    swapped["messages"][1]["content"][0] = all["messages"][3]["content"][0].clone();
    swapped["messages"][3]["content"][0] = thought;
    let mut merged = all.clone();
    // The same turn in two messages of one role.
    let text = merged["messages"][1]["content"][1].take();
    merged["messages"][1]["content"].as_array_mut().unwrap().truncate(1);
    merged["messages"].as_array_mut().unwrap().insert(2, json!({"role": "assistant", "content": [text]}));
    let cases = [
        (all.clone(), 200, "alpha = 1."),
        (merged, 200, "alpha = 1."),
        (without(&all, &[1]), 200, "alpha = 1."),
        (without(&all, &[1, 3]), 200, ""),
        (without(&all, &[1, 3, 5]), 200, ""),
        (without(&all, &[3]), 400, &*at(5)),
        (without(&all, &[3, 5]), 200, ""),
        (swapped, 400, &*at(1)),
    ];
    check(&server, Protocol::Anthropic, &cases).await;
    let free = long(&server, UNBOUND).await;
    check(&server, Protocol::Anthropic, &[(without(&free, &[3]), 200, "")]).await;
}

#[tokio::test]
async fn blocks_can_be_dropped_instead() {
    let server = known(&[BOUND]).await;
    let all = long(&server, BOUND).await;
    let drop = json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    let body = with(without(&all, &[3]), json!({"thinking": drop}));
    let path = "/v1/messages";
    let answer = post(&server, path, &[VERSION, BETA], &body).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(
        answer.json()["input_transformations"],
        json!([{"type": "thinking_dropped", "path": "messages.5.content.0", "reason": "prefix_binding_mismatch"}])
    );
    // A change at the beginning takes all of them.
    let changed = with(all.clone(), json!({"system": "x", "thinking": drop}));
    let answer = post(&server, path, &[VERSION, BETA], &changed).await.unwrap().json();
    assert_eq!(answer["input_transformations"].as_array().unwrap().len(), 3);
    // Only with the header, only with a behaviour there is, and an error is what is usual.
    let refused = post(&server, path, &[VERSION], &body).await.unwrap();
    assert!(refused.text().contains("thinking.adaptive.block_binding: Extra inputs are not permitted"));
    for (behaviour, words) in [
        ("error", "is bound to a different conversation"),
        ("drop", "Input should be 'error' or 'drop_block'"),
    ] {
        let thinking = json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behaviour}});
        let body = with(without(&all, &[3]), json!({"thinking": thinking}));
        let refused = post(&server, path, &[VERSION, BETA], &body).await.unwrap();
        assert!(refused.status == 400 && refused.text().contains(words), "{}", refused.text());
    }
}

#[tokio::test]
async fn the_latest_blocks_stay_as_they_were() {
    let server = known(&[BOUND, UNBOUND, "claude-haiku-4-5", "demo"]).await;
    for model in [BOUND, UNBOUND] {
        let (body, blocks) = in_a_loop(&server, model).await;
        let list = blocks.as_array().unwrap().clone();
        let some = |order: &[usize]| {
            let chosen: Vec<Value> = order.iter().map(|n| list[*n].clone()).collect();
            continued(&body, &chosen.into())
        };
        let mut rewritten = blocks.clone();
        rewritten[0]["thinking"] = "Something else.".into();
        let mut forged = blocks.clone();
        forged[0]["signature"] = "Zm9yZ2Vk".into();
        let cases = [
            (some(&[0, 1, 2]), 200, ""),
            (some(&[0, 2]), 400, MODIFIED),
            (some(&[1, 2]), 400, MODIFIED),
            (continued(&body, &rewritten), 400, MODIFIED),
            (continued(&body, &forged), 400, "messages.1.content.0: Invalid `signature` in `thinking` block"),
            (some(&[2]), 200, ""),
        ];
        check(&server, Protocol::Anthropic, &cases).await;
        let moved = Protocol::Anthropic.send(&server, Form::Whole, &some(&[1, 0, 2])).await.unwrap();
        assert_eq!(moved.status, 400, "{}", moved.text());
    }
    // With a budget a tool loop begins with the thinking that began it.
    let budget = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}, "tools": tools()});
    let body = ask(
        "claude-haiku-4-5",
        with(budget, json!({"messages": [{"role": "user", "content": "What time is it?"}]})),
    );
    let blocks = send(&server, &body).await.json()["content"].clone();
    let calls = json!([blocks.as_array().unwrap().last().unwrap()]);
    let cases = [
        (continued(&body, &blocks), 200, ""),
        (continued(&body, &calls), 400, "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
    ];
    check(&server, Protocol::Anthropic, &cases).await;
}

#[tokio::test]
async fn other_models_thinking_is_not_seen() {
    let server = known(&[BOUND, "claude-sonnet-5-5", "demo"]).await;
    let (body, blocks) = in_a_loop(&server, BOUND).await;
    for model in ["claude-sonnet-5-5", "demo"] {
        let other = with(continued(&body, &blocks), json!({"model": model, "thinking": null}));
        check(&server, Protocol::Anthropic, &[(other, 200, "returned: 12:30")]).await;
    }
    let other = with(continued(&body, &blocks), json!({"model": "claude-sonnet-5-5"}));
    let answer = post(&server, "/v1/messages", &[VERSION, BETA], &other).await.unwrap().json();
    assert_eq!(answer["input_transformations"][0]["reason"], "model_binding_mismatch");
    // Another server's is forged.
    let stranger = known_with(&[BOUND], Config { seed: 1, ..Config::default() }).await;
    let words = "Invalid `signature` in `thinking` block";
    check(&stranger, Protocol::Anthropic, &[(continued(&body, &blocks), 400, words)]).await;
}

#[tokio::test]
async fn a_full_window_ends_the_reply_from_4_5_on() {
    let models = ["claude-haiku-4-5", "claude-opus-4-20250514"];
    let today = "2026-01-01".to_owned().try_into().unwrap();
    let server = known_with(&models, Config { today, ..Config::default() }).await;
    let long = format!("{} Write 300 words about rivers.", vec!["a"; 99_900].join(" "));
    let body =
        |model: &str| with(Protocol::Anthropic.ask(&long), json!({"model": model, "max_tokens": 1_000}));
    let answer = send(&server, &body("claude-haiku-4-5")).await.json();
    assert_eq!(answer["stop_reason"], "model_context_window_exceeded");
    let words = "input length and `max_tokens` exceed context limit: ";
    check(&server, Protocol::Anthropic, &[(body("claude-opus-4-20250514"), 400, words)]).await;
}

#[tokio::test]
async fn the_list_says_what_a_model_takes() {
    let server = known(&["claude-sonnet-5-5", "claude-haiku-4-5", "demo"]).await;
    let list = get(&server, "/v1/models", &[VERSION]).await.json();
    let of = |n: usize| list["data"][n]["capabilities"].clone();
    assert_eq!(of(0)["thinking"]["types"]["between_tools"], json!({"supported": true}));
    assert_eq!(of(0)["thinking"]["types"]["disabled"], json!({"supported": false}));
    assert_eq!(of(0)["effort"]["max"], json!({"supported": true}));
    assert_eq!(
        (&of(1)["effort"]["supported"], &of(1)["thinking"]["types"]["enabled"]),
        (&json!(false), &json!({"supported": true}))
    );
    assert_eq!(of(2), Value::Null);
}
