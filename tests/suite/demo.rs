//! The demo model server, spoken to over raw HTTP.

mod by_catalogue;
mod client;
mod continuation;
mod counting;
mod faults;
mod flavours;
mod gemini;
mod responses;
mod thinking;
mod tokens;
mod validation;

use client::{ALL, Form, Protocol, exchange, get, post, request};
use oneclaw_context::Moment;
use oneclaw_context::plan::{Decision, Work};
use oneclaw_context::policy::PRESETS;
use oneclaw_context::summary::gate::{Finish, Reply};
use oneclaw_demo::{Compact, Config, Ending, Model, PER_MESSAGE, PER_REQUEST, Server, Step, Tokenizer};
use oneclaw_model::{ModelLimits, ProviderKind, RequestMessage};
use oneclaw_tests::Chat;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const FORMS: [Form; 2] = [Form::Whole, Form::Stream];

async fn server() -> Server {
    Server::start(Config::default()).await.unwrap()
}

async fn with_models(models: &[(&str, u64, u64)]) -> Server {
    let model = |(id, window, max_output): &(&str, u64, u64)| Model {
        id: (*id).into(),
        window: *window,
        max_output: *max_output,
    };
    let models = models.iter().map(model).collect();
    // Models are treated by their names here; what the catalogue says of them has tests of its own.
    Server::start(Config { models, uses_catalogue: false, ..Config::default() }).await.unwrap()
}

/// A text of exactly so many tokens of one letter each.
fn words(tokens: usize) -> String {
    vec!["a"; tokens].join(" ")
}

fn time_tool(protocol: Protocol) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    match protocol {
        Protocol::OpenAi => {
            json!([{"type": "function", "function": {"name": "get_current_time", "parameters": schema}}])
        }
        Protocol::Anthropic => json!([{"name": "get_current_time", "input_schema": schema}]),
        Protocol::Gemini => {
            json!([{"functionDeclarations": [{"name": "get_current_time", "parameters": schema}]}])
        }
        Protocol::Responses => {
            json!([{"type": "function", "name": "get_current_time", "parameters": schema, "strict": false}])
        }
    }
}

#[tokio::test]
async fn every_protocol_answers_in_both_forms() {
    let server = server().await;
    for protocol in ALL {
        for form in FORMS {
            let ask = protocol.chat(&["remember: the door code = 4711", "Noted.", "What is the door code?"]);
            let answer = protocol.send(&server, form, &ask).await.unwrap();
            assert_eq!(answer.status, 200, "{protocol:?} {form:?} {}", answer.text());
            assert!(answer.is_whole);
            assert_eq!(protocol.text(&answer, form), "the door code = 4711.", "{protocol:?} {form:?}");
            let texts = ["remember: the door code = 4711", "Noted.", "What is the door code?"];
            let prompt = texts.iter().map(|t| Compact.count(t) + PER_MESSAGE).sum::<u64>() + PER_REQUEST;
            let output = Compact.count("the door code = 4711.");
            assert_eq!(protocol.usage(&answer, form), (prompt, 0, output), "{protocol:?} {form:?}");
        }
    }
    let log = server.log();
    assert_eq!(log.len(), 8);
    for exchange in log {
        assert_eq!((exchange.status, exchange.ending), (Some(200), Ending::Whole));
        assert_eq!(exchange.model.as_deref(), Some("demo"));
        assert_eq!(exchange.reply.map(|reply| reply.text).as_deref(), Some("the door code = 4711."));
        assert!(exchange.request.is_object() && exchange.prompt_tokens.is_some());
    }
}

#[tokio::test]
async fn shapes_of_whole_replies() {
    let server = server().await;
    server.push(Step::Reply("Hello.".into()));
    let openai =
        Protocol::OpenAi.send(&server, Form::Whole, &Protocol::OpenAi.ask("hi")).await.unwrap().json();
    let id = openai["id"].as_str().unwrap();
    assert!(id.starts_with("chatcmpl-"));
    assert_eq!(
        openai,
        json!({
            "id": id, "object": "chat.completion", "created": 1_767_225_600, "model": "demo",
            "system_fingerprint": "fp_demo",
            "choices": [{
                "index": 0, "logprobs": null, "finish_reason": "stop",
                "message": {"role": "assistant", "content": "Hello.", "refusal": null},
            }],
            "usage": {
                "prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10,
                "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
                "completion_tokens_details": {
                    "reasoning_tokens": 0, "audio_tokens": 0,
                    "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
                },
            },
        })
    );
    server.push(Step::Reply("Hello.".into()));
    let answer =
        Protocol::Anthropic.send(&server, Form::Whole, &Protocol::Anthropic.ask("hi")).await.unwrap();
    let anthropic = answer.json();
    assert_eq!(
        anthropic,
        json!({
            "id": anthropic["id"], "type": "message", "role": "assistant", "model": "demo",
            "content": [{"type": "text", "text": "Hello."}],
            "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {
                "input_tokens": 8, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 2,
            },
        })
    );
    server.push(Step::Reply("Hello.".into()));
    let gemini =
        Protocol::Gemini.send(&server, Form::Whole, &Protocol::Gemini.ask("hi")).await.unwrap().json();
    assert_eq!(
        gemini,
        json!({
            "candidates": [{
                "content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 2, "totalTokenCount": 10},
            "modelVersion": "demo", "responseId": gemini["responseId"],
        })
    );
}

#[tokio::test]
async fn shapes_of_streams() {
    let server = server().await;
    let step = || Step::Think {
        thinking: "Hm.".into(),
        then: Box::new(Step::Calls(vec![("f".into(), r#"{"a":1}"#.into()), ("g".into(), "{}".into())])),
    };
    server.push(step());
    let answer = Protocol::OpenAi.send(&server, Form::Stream, &Protocol::OpenAi.ask("hi")).await.unwrap();
    assert!(answer.text().ends_with("data: [DONE]\n\n"));
    let events = answer.events();
    let deltas: Vec<&Value> = events.iter().map(|event| &event["choices"][0]["delta"]).collect();
    assert_eq!(*deltas[0], json!({"role": "assistant", "content": "", "refusal": null}));
    assert_eq!(*deltas[1], json!({"reasoning_content": "Hm."}));
    let first = &deltas[2]["tool_calls"][0];
    assert_eq!((&first["index"], &first["function"]["name"]), (&json!(0), &json!("f")));
    assert!(first["id"].as_str().unwrap().starts_with("call_"));
    assert_eq!(*deltas[3], json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\":1}"}}]}));
    assert_eq!(deltas[4]["tool_calls"][0]["index"], 1);
    assert_eq!(events[6]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(events[7]["choices"], json!([]));
    assert!(events[7]["usage"]["completion_tokens_details"]["reasoning_tokens"].as_u64() > Some(0));

    server.push(step());
    let answer =
        Protocol::Anthropic.send(&server, Form::Stream, &Protocol::Anthropic.ask("hi")).await.unwrap();
    let names: Vec<String> =
        answer.text().lines().filter_map(|line| line.strip_prefix("event: ")).map(str::to_owned).collect();
    let kinds: Vec<String> = answer.events().iter().map(|e| e["type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, kinds);
    let deltas: Vec<Value> =
        answer.events().iter().filter(|e| !e["delta"].is_null()).map(|e| e["delta"].clone()).collect();
    assert_eq!(deltas[0], json!({"type": "thinking_delta", "thinking": "Hm."}));
    assert_eq!(deltas[1]["type"], "signature_delta");
    assert_eq!(deltas[2], json!({"type": "input_json_delta", "partial_json": ""}));
    assert_eq!(deltas[3], json!({"type": "input_json_delta", "partial_json": "{\"a\":1}"}));
    assert_eq!(deltas[4], json!({"type": "input_json_delta", "partial_json": ""}));
    assert_eq!(deltas[5], json!({"stop_reason": "tool_use", "stop_sequence": null}));
    assert_eq!(kinds.last().map(String::as_str), Some("message_stop"));

    server.push(step());
    let answer = Protocol::Gemini.send(&server, Form::Stream, &Protocol::Gemini.ask("hi")).await.unwrap();
    let parts: Vec<Value> =
        answer.events().iter().map(|e| e["candidates"][0]["content"]["parts"][0].clone()).collect();
    assert_eq!(parts[0], json!({"text": "Hm.", "thought": true}));
    assert_eq!(parts[1]["functionCall"], json!({"name": "f", "args": {"a": 1}}));
    assert!(parts[1]["thoughtSignature"].is_string() && parts[2]["thoughtSignature"].is_null());
    assert_eq!(answer.events().last().unwrap()["candidates"][0]["finishReason"], "STOP");
}

#[tokio::test]
async fn gemini_streams_an_array_where_events_are_not_asked_for() {
    let server = server().await;
    server.push(Step::Reply("one two three four five".into()));
    let path = "/v1beta/models/demo:streamGenerateContent";
    let answer = post(&server, path, &[], &Protocol::Gemini.ask("hi")).await.unwrap();
    let chunks = answer.json();
    assert!(chunks.as_array().unwrap().len() > 1);
}

#[tokio::test]
async fn arguments_that_are_no_json_travel_as_they_are() {
    let server = server().await;
    let step = || Step::Calls(vec![("f".into(), "{\"a\": ".into())]);
    server.push(step());
    let openai =
        Protocol::OpenAi.send(&server, Form::Whole, &Protocol::OpenAi.ask("hi")).await.unwrap().json();
    assert_eq!(openai["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{\"a\": ");
    server.push(step());
    let gemini = Protocol::Gemini.send(&server, Form::Stream, &Protocol::Gemini.ask("hi")).await.unwrap();
    assert_eq!(gemini.events()[0]["candidates"][0]["finishReason"], "MALFORMED_FUNCTION_CALL");
}

#[tokio::test]
async fn a_tool_is_called_and_its_result_reported() {
    let server = server().await;
    for protocol in ALL {
        let mut ask = protocol.ask("What time is it?");
        ask["tools"] = time_tool(protocol);
        let reply = protocol.send(&server, Form::Whole, &ask).await.unwrap().json();
        let more = match protocol {
            Protocol::OpenAi => {
                let message = &reply["choices"][0]["message"];
                let id = &message["tool_calls"][0]["id"];
                vec![message.clone(), json!({"role": "tool", "tool_call_id": id, "content": "12:30"})]
            }
            Protocol::Anthropic => {
                let call = reply["content"].as_array().unwrap().last().unwrap();
                let result = json!({"type": "tool_result", "tool_use_id": call["id"], "content": "12:30"});
                vec![
                    json!({"role": "assistant", "content": reply["content"]}),
                    json!({"role": "user", "content": [result]}),
                ]
            }
            Protocol::Gemini => {
                let response = json!({"name": "get_current_time", "response": {"result": "12:30"}});
                vec![
                    reply["candidates"][0]["content"].clone(),
                    json!({"role": "user", "parts": [{"functionResponse": response}]}),
                ]
            }
            Protocol::Responses => {
                let mut items = reply["output"].as_array().unwrap().clone();
                let id = items.last().unwrap()["call_id"].clone();
                items.push(json!({"type": "function_call_output", "call_id": id, "output": "12:30"}));
                items
            }
        };
        let key = match protocol {
            Protocol::OpenAi | Protocol::Anthropic => "messages",
            Protocol::Gemini => "contents",
            Protocol::Responses => "input",
        };
        ask[key].as_array_mut().unwrap().extend(more);
        let answer = protocol.send(&server, Form::Stream, &ask).await.unwrap();
        assert_eq!(protocol.text(&answer, Form::Stream), "get_current_time returned: 12:30", "{protocol:?}");
    }
}

#[tokio::test]
async fn reasoning_is_shown_signed_and_wanted_back() {
    let server = server().await;
    let mut ask = Protocol::Anthropic.ask("What time is it?");
    ask["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    ask["max_tokens"] = 2_000.into();
    ask["tools"] = time_tool(Protocol::Anthropic);
    let reply = Protocol::Anthropic.send(&server, Form::Whole, &ask).await.unwrap().json();
    assert_eq!(reply["content"][0]["type"], "thinking");
    let call = reply["content"].as_array().unwrap().last().unwrap();
    let result = json!({"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": call["id"], "content": "12:30"},
    ]});
    let said = |content: Value, ask: &Value| {
        let mut ask = ask.clone();
        let messages = ask["messages"].as_array_mut().unwrap();
        messages.extend([json!({"role": "assistant", "content": content}), result.clone()]);
        ask
    };
    let good =
        Protocol::Anthropic.send(&server, Form::Whole, &said(reply["content"].clone(), &ask)).await.unwrap();
    assert_eq!(good.status, 200, "{}", good.text());
    let without = Protocol::Anthropic.send(&server, Form::Whole, &said(json!([call]), &ask)).await.unwrap();
    assert!(without.text().contains("Expected `thinking` or `redacted_thinking`, but found `tool_use`"));
    let mut forged = reply["content"].clone();
    forged[0]["thinking"] = "Something else.".into();
    let forged = Protocol::Anthropic.send(&server, Form::Whole, &said(forged, &ask)).await.unwrap();
    assert!(forged.text().contains("messages.1.content.0: Invalid `signature` in `thinking` block"));
}

#[tokio::test]
async fn gemini_wants_its_signatures_back() {
    let server = with_models(&[("gemini-3-pro", 16_000, 1_000)]).await;
    let mut ask = Protocol::Gemini.ask("What time is it?");
    ask["model"] = "gemini-3-pro".into();
    ask["tools"] = time_tool(Protocol::Gemini);
    let reply = Protocol::Gemini.send(&server, Form::Whole, &ask).await.unwrap().json();
    let content = &reply["candidates"][0]["content"];
    let signed =
        content["parts"].as_array().unwrap().iter().position(|p| p["thoughtSignature"].is_string()).unwrap();
    let result = json!({"role": "user", "parts": [
        {"functionResponse": {"name": "get_current_time", "response": {"result": "12:30"}}},
    ]});
    for (signature, expected) in [
        (content["parts"][signed]["thoughtSignature"].clone(), None),
        (Value::Null, Some("Function call is missing a thought_signature")),
        ("forged".into(), Some("Corrupted thought signature.")),
    ] {
        let mut content = content.clone();
        content["parts"][signed]["thoughtSignature"] = signature;
        let mut ask = ask.clone();
        ask["contents"].as_array_mut().unwrap().extend([content, result.clone()]);
        let answer = Protocol::Gemini.send(&server, Form::Whole, &ask).await.unwrap();
        assert_eq!(answer.status, if expected.is_some() { 400 } else { 200 });
        assert!(expected.is_none_or(|expected| answer.text().contains(expected)), "{}", answer.text());
    }
}

#[tokio::test]
async fn models_are_listed() {
    let server = with_models(&[("one", 1_000, 100), ("two", 2_000, 200)]).await;
    let openai = get(&server, "/v1/models", &[]).await.json();
    assert_eq!((&openai["object"], &openai["data"][1]["id"]), (&json!("list"), &json!("two")));
    assert_eq!(openai["data"][1]["context_length"], 2_000);
    let anthropic = get(&server, "/v1/models", &[("anthropic-version", "2023-06-01")]).await.json();
    assert_eq!((&anthropic["data"][0]["type"], &anthropic["last_id"]), (&json!("model"), &json!("two")));
    let gemini = get(&server, "/v1beta/models", &[]).await.json();
    assert_eq!(gemini["models"][0]["name"], "models/one");
    assert_eq!(gemini["models"][0]["inputTokenLimit"], 1_000);
    assert_eq!(get(&server, "/v1/models/one", &[]).await.json()["id"], "one");
    assert_eq!(get(&server, "/v1/models/none", &[]).await.status, 404);
}

#[tokio::test]
async fn prompts_can_be_counted() {
    let server = server().await;
    let mut ask = Protocol::Anthropic.ask(&words(90));
    ask.as_object_mut().unwrap().remove("max_tokens");
    let path = "/v1/messages/count_tokens";
    let answer = post(&server, path, &[("anthropic-version", "2023-06-01")], &ask).await.unwrap();
    assert_eq!(answer.json(), json!({"input_tokens": 97}));
    let path = "/v1beta/models/demo:countTokens";
    let answer = post(&server, path, &[], &Protocol::Gemini.ask(&words(90))).await.unwrap();
    assert_eq!(answer.json(), json!({"totalTokens": 97}));
}

#[tokio::test]
async fn the_window_is_enforced_to_the_token() {
    let server = with_models(&[("demo", 100, 50)]).await;
    // 93 words, the message and the request.
    let full = words(93);
    let over = words(94);
    for protocol in [Protocol::OpenAi, Protocol::Gemini] {
        assert_eq!(protocol.send(&server, Form::Whole, &protocol.ask(&full)).await.unwrap().status, 200);
    }
    let sent = |protocol: Protocol, body: Value| {
        let server = &server;
        async move { protocol.send(server, Form::Stream, &body).await.unwrap().error() }
    };
    let openai = |message: &str| {
        json!({"error": {
            "message": message, "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded",
        }})
    };
    assert_eq!(
        sent(Protocol::OpenAi, Protocol::OpenAi.ask(&over)).await,
        (
            400,
            openai(
                "This model's maximum context length is 100 tokens. However, your messages resulted in 101 tokens. \
                 Please reduce the length of the messages."
            )
        )
    );
    let mut with_reply = Protocol::OpenAi.ask(&full);
    with_reply["max_tokens"] = 1.into();
    assert_eq!(
        sent(Protocol::OpenAi, with_reply.clone()).await,
        (
            400,
            openai(
                "This model's maximum context length is 100 tokens. However, you requested 101 tokens (100 in the \
                 messages, 1 in the completion). Please reduce the length of the messages or completion."
            )
        )
    );
    with_reply["messages"][0]["content"] = words(50).into();
    with_reply["max_tokens"] = 50.into();
    with_reply["tools"] = time_tool(Protocol::OpenAi);
    let (_, body) = sent(Protocol::OpenAi, with_reply).await;
    let message = body["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("57 in the messages, 15 in the functions, and 50 in the completion"),
        "{message}"
    );

    let anthropic = |message: &str| json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    let mut ask = Protocol::Anthropic.ask(&over);
    ask["max_tokens"] = 1.into();
    assert_eq!(
        sent(Protocol::Anthropic, ask.clone()).await,
        (400, anthropic("prompt is too long: 101 tokens > 100 maximum"))
    );
    ask["messages"][0]["content"] = full.clone().into();
    assert_eq!(
        sent(Protocol::Anthropic, ask.clone()).await,
        (
            400,
            anthropic(
                "input length and `max_tokens` exceed context limit: 100 + 1 > 100, decrease input length or \
                 `max_tokens` and try again"
            )
        )
    );
    ask["messages"][0]["content"] = words(92).into();
    assert_eq!(Protocol::Anthropic.send(&server, Form::Whole, &ask).await.unwrap().status, 200);

    assert_eq!(
        sent(Protocol::Gemini, Protocol::Gemini.ask(&over)).await,
        (
            400,
            json!({"error": {
                "code": 400,
                "message": "The input token count (101) exceeds the maximum number of tokens allowed (100).",
                "status": "INVALID_ARGUMENT",
            }})
        )
    );
    let mut long = Protocol::Gemini.ask(&full);
    long["generationConfig"] = json!({"maxOutputTokens": 50});
    assert_eq!(Protocol::Gemini.send(&server, Form::Whole, &long).await.unwrap().status, 200);
    assert_eq!(server.log().last().unwrap().prompt_tokens, Some(100));
}

#[tokio::test]
async fn replies_end_where_their_length_does() {
    let server = server().await;
    for protocol in ALL {
        let mut ask = protocol.ask("Write 300 words about rivers.");
        match protocol {
            Protocol::Gemini => ask["generationConfig"] = json!({"maxOutputTokens": 40}),
            Protocol::OpenAi | Protocol::Anthropic => ask["max_tokens"] = 40.into(),
            Protocol::Responses => ask["max_output_tokens"] = 40.into(),
        }
        let answer = protocol.send(&server, Form::Whole, &ask).await.unwrap();
        assert_eq!(protocol.usage(&answer, Form::Whole).2, 40, "{protocol:?}");
        let reply = answer.json();
        let reason = match protocol {
            Protocol::OpenAi => (&reply["choices"][0]["finish_reason"], "length"),
            Protocol::Anthropic => (&reply["stop_reason"], "max_tokens"),
            Protocol::Gemini => (&reply["candidates"][0]["finishReason"], "MAX_TOKENS"),
            Protocol::Responses => (&reply["incomplete_details"]["reason"], "max_output_tokens"),
        };
        assert_eq!(reason.0, reason.1);
    }
}

#[tokio::test]
async fn a_tokenizer_of_ones_own_is_asked() {
    struct Bytes;
    impl Tokenizer for Bytes {
        fn count(&self, text: &str) -> u64 {
            text.len() as u64
        }
    }
    let tokenizer = std::sync::Arc::new(Bytes);
    let server = Server::start(Config { tokenizer, ..Config::default() }).await.unwrap();
    let answer =
        Protocol::OpenAi.send(&server, Form::Whole, &Protocol::OpenAi.ask("twelve bytes")).await.unwrap();
    assert_eq!(Protocol::OpenAi.usage(&answer, Form::Whole).0, 12 + PER_MESSAGE + PER_REQUEST);
}

#[tokio::test]
async fn a_tokenizer_that_fails_breaks_one_call_and_not_the_server() {
    struct Failing;
    impl Tokenizer for Failing {
        fn count(&self, text: &str) -> u64 {
            assert!(!text.contains("fail"), "as asked");
            1
        }
    }
    let tokenizer = std::sync::Arc::new(Failing);
    let server = Server::start(Config { tokenizer, ..Config::default() }).await.unwrap();
    assert!(Protocol::OpenAi.send(&server, Form::Whole, &Protocol::OpenAi.ask("fail")).await.is_none());
    let good = Protocol::OpenAi.send(&server, Form::Whole, &Protocol::OpenAi.ask("work")).await.unwrap();
    assert_eq!(good.status, 200);
}

#[tokio::test]
async fn prompts_that_begin_alike_are_cached() {
    let server = server().await;
    let long = words(2_000);
    for protocol in [Protocol::OpenAi, Protocol::Gemini, Protocol::Responses] {
        let first = protocol.chat(&[&long]);
        let second = protocol.chat(&[&long, "Fine.", "And now?"]);
        let (prompt, cached, _) =
            protocol.usage(&protocol.send(&server, Form::Stream, &first).await.unwrap(), Form::Stream);
        assert_eq!((prompt, cached), (2_007, 0), "{protocol:?}");
        let (_, cached, _) =
            protocol.usage(&protocol.send(&server, Form::Stream, &second).await.unwrap(), Form::Stream);
        let expected = if protocol == Protocol::Gemini { 2_004 } else { 1_920 };
        assert_eq!(cached, expected, "{protocol:?}");
    }
    let usage = |answer: client::Answer| {
        let usage = answer.json()["usage"].clone();
        (
            usage["input_tokens"].as_u64().unwrap(),
            usage["cache_creation_input_tokens"].as_u64().unwrap(),
            usage["cache_read_input_tokens"].as_u64().unwrap(),
        )
    };
    let block = json!({"type": "text", "text": long, "cache_control": {"type": "ephemeral"}});
    let mut ask = Protocol::Anthropic.ask("hi");
    ask["system"] = json!([block]);
    let send = |ask: Value| {
        let server = &server;
        async move { Protocol::Anthropic.send(server, Form::Whole, &ask).await.unwrap() }
    };
    // System 2,004, question 5, request 3.
    assert_eq!(usage(send(ask.clone()).await), (8, 2_004, 0));
    assert_eq!(usage(send(ask.clone()).await), (8, 0, 2_004));
    ask["messages"][0]["content"] =
        json!([{"type": "text", "text": "Or else", "cache_control": {"type": "ephemeral"}}]);
    assert_eq!(usage(send(ask).await), (3, 6, 2_004));
}

#[tokio::test]
async fn pictures_count_by_their_pixels() {
    let server = server().await;
    let data = format!("iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA{}", "A".repeat(100_000));
    let mut ask = Protocol::Anthropic.ask("x");
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    ask["messages"][0]["content"] = json!([{"type": "image", "source": source}]);
    let answer = Protocol::Anthropic.send(&server, Form::Whole, &ask).await.unwrap();
    assert_eq!(Protocol::Anthropic.usage(&answer, Form::Whole).0, 1_334 + 7);
    ask["messages"][0]["content"][0]["source"]["data"] = "no base64!".into();
    assert_eq!(Protocol::Anthropic.send(&server, Form::Whole, &ask).await.unwrap().status, 400);
    let mut ask = Protocol::OpenAi.ask("x");
    let url = format!("data:image/png;base64,{data}");
    ask["messages"][0]["content"] = json!([{"type": "image_url", "image_url": {"url": url}}]);
    let answer = Protocol::OpenAi.send(&server, Form::Whole, &ask).await.unwrap();
    assert_eq!(Protocol::OpenAi.usage(&answer, Form::Whole).0, 765 + 7);
}

/// The core's own summary requests of every style are answered so that the core's own gate accepts them, and what was
/// planted is still there.
#[tokio::test]
async fn the_core_accepts_what_is_condensed() {
    let server = with_models(&[("demo", 8_000, 4_000)]).await;
    let facts = ["door code = 4711", "/srv/data/plan.md", "https://trains.example/lis-opo"];
    for (name, policy) in PRESETS {
        let mut chat = Chat::new();
        chat = chat
            .user("Please remember: the door code = 4711. The plan is in /srv/data/plan.md.")
            .reply("Noted.");
        chat = chat.user("Trains are on https://trains.example/lis-opo.").reply(words(600));
        for _ in 0..12 {
            chat = chat.user(format!("Go on. {}", words(150))).reply(words(400));
        }
        let conversation = chat.user("And now?").conversation();
        let limits = ModelLimits { window: Some(8_000), input_limit: None, max_output: Some(4_000) };
        let plan = oneclaw_tests::plan_at(&conversation, &limits, policy, Moment::Manual);
        let Decision::Compact(compaction) = &plan.decision else { panic!("{name}: {:?}", plan.decision) };
        let Work::Summarise(work) = &compaction.work else { panic!("{name}: no model is asked") };
        let mut round = work.requests.first_round();
        let summary = loop {
            let mut answers = Vec::new();
            for summary in &round.requests {
                let RequestMessage::User { text, .. } = &summary.request.messages[0] else {
                    panic!("{name}")
                };
                let body = json!({
                    "model": "demo", "max_tokens": summary.request.max_output,
                    "messages": [
                        {"role": "system", "content": summary.request.system},
                        {"role": "user", "content": text},
                    ],
                });
                let answer = Protocol::OpenAi.send(&server, Form::Stream, &body).await.unwrap();
                assert_eq!(answer.status, 200, "{name}: {}", answer.text());
                answers.push(Protocol::OpenAi.text(&answer, Form::Stream));
            }
            if round.is_last {
                break answers.remove(0);
            }
            round = work.requests.merge_round(&answers);
        };
        for fact in facts {
            assert!(summary.contains(fact), "{name}: {fact} is lost from {summary}");
        }
        let accepted = work.gate.accept(&Reply { text: &summary, finish: Finish::Complete, tool_calls: 0 });
        assert!(accepted.is_ok(), "{name}: {accepted:?} {summary}");
    }
}

#[tokio::test]
async fn connections_are_kept_alive_counted_and_closed() {
    let server = server().await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let body = Protocol::OpenAi.ask("hi").to_string();
    let head =
        format!("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len());
    for _ in 0..3 {
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        let mut buffer = vec![0; 65_536];
        let count = stream.read(&mut buffer).await.unwrap();
        assert!(buffer[..count].starts_with(b"HTTP/1.1 200 OK"));
        assert_eq!(server.open_connections(), 1);
    }
    assert_eq!(server.log().len(), 3);
    let address = server.address();
    server.stop().await;
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.is_empty());
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_server_that_is_dropped_is_gone() {
    let server = server().await;
    let address = server.address();
    let mut stream = TcpStream::connect(address).await.unwrap();
    drop(server);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_caller_that_leaves_is_noticed() {
    let server =
        Server::start(Config { delay: Duration::from_millis(50), ..Config::default() }).await.unwrap();
    let mut body = Protocol::OpenAi.ask("Write 500 words about rivers.");
    body["stream"] = true.into();
    let bytes = request("POST", "/v1/chat/completions", &[], body.to_string().as_bytes());
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(&bytes).await.unwrap();
    let mut buffer = [0; 64];
    assert!(stream.read(&mut buffer).await.unwrap() > 0);
    assert_eq!(server.log()[0].ending, Ending::Open);
    drop(stream);
    for _ in 0..100 {
        if server.open_connections() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.open_connections(), 0);
    assert_eq!(server.log()[0].ending, Ending::ClosedEarly);
}

#[tokio::test]
async fn many_callers_at_once_are_answered() {
    let server = std::sync::Arc::new(server().await);
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..40 {
        let server = std::sync::Arc::clone(&server);
        calls.spawn(async move {
            let text = format!("remember: item = {n}");
            let answer =
                Protocol::OpenAi.send(&server, Form::Stream, &Protocol::OpenAi.ask(&text)).await.unwrap();
            assert_eq!(Protocol::OpenAi.text(&answer, Form::Stream), format!("Noted: item = {n}."));
        });
    }
    calls.join_all().await;
    assert_eq!(server.log().len(), 40);
}

#[tokio::test]
async fn base_urls_lead_to_the_protocols() {
    let server = server().await;
    let root = format!("http://{}", server.address());
    assert_eq!(server.base_url(ProviderKind::OpenAi), format!("{root}/v1"));
    assert_eq!(server.base_url(ProviderKind::Anthropic), format!("{root}/v1"));
    assert_eq!(server.base_url(ProviderKind::Gemini), format!("{root}/v1beta"));
    assert!(server.address().ip().is_loopback());
}

#[tokio::test]
async fn what_is_no_http_does_no_harm() {
    let server = server().await;
    for bytes in [
        &b"\x16\x03\x01\x02\x00garbage\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"\r\n\r\n\r\n",
        b"POST / HTTP/9.9\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    }
    assert!(exchange(&server, &request("POST", "/nowhere", &[], b"")).await.unwrap().status == 404);
}
