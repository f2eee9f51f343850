//! What compatible servers do in their own way.

use super::client::{Form, Protocol, check, get, post, with};
use oneclaw_demo::{Config, Flavour, Model, Server};
use serde_json::{Value, json};

async fn server(flavour: Flavour) -> Server {
    let models = vec![Model { id: "local".into(), window: 1_000, max_output: 500 }];
    Server::start(Config { models, flavour, ..Config::default() }).await.unwrap()
}

fn ask(fields: Value) -> Value {
    with(with(Protocol::OpenAi.ask("What time is it?"), json!({"model": "local"})), fields)
}

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "get_current_time", "parameters": {}}}])
}

async fn send(server: &Server, body: &Value) -> Value {
    let answer = Protocol::OpenAi.send(server, Form::Whole, body).await.unwrap();
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The request with the reply's message and the result of its call.
fn next(body: &Value, message: &Value) -> Value {
    let mut body = body.clone();
    let result = json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "12:30"});
    body["messages"].as_array_mut().unwrap().extend([message.clone(), result]);
    body
}

fn long() -> Value {
    let text = vec!["a"; 600].join(" ");
    let messages = json!([
        {"role": "user", "content": text}, {"role": "assistant", "content": "Fine."}, {"role": "user", "content": text},
    ]);
    ask(json!({"messages": messages}))
}

async fn overflow(server: &Server) -> Value {
    let (status, body) = Protocol::OpenAi.send(server, Form::Whole, &long()).await.unwrap().error();
    assert_eq!(status, 400);
    body["error"].clone()
}

#[tokio::test]
async fn deepseek_and_kimi_want_their_reasoning_back() {
    for (flavour, words) in [
        (Flavour::DeepSeek, "The `reasoning_content` in the thinking mode must be passed back to the API."),
        (
            Flavour::Kimi,
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
        ),
    ] {
        let server = server(flavour).await;
        let body = ask(json!({"tools": tools()}));
        let reply = send(&server, &body).await;
        let message = &reply["choices"][0]["message"];
        assert!(message["reasoning_content"].as_str().unwrap().starts_with("The newest message says"));
        let bare = with(message.clone(), json!({"reasoning_content": null}));
        let empty = with(message.clone(), json!({"reasoning_content": ""}));
        let off = json!({"thinking": {"type": "disabled"}});
        // It is wanted in all later turns too.
        let mut later = next(&body, &bare);
        let more = [
            json!({"role": "assistant", "content": "12:30."}),
            json!({"role": "user", "content": "Thanks."}),
        ];
        later["messages"].as_array_mut().unwrap().extend(more);
        let cases = [
            (next(&body, message), 200, "12:30"),
            (next(&body, &empty), 200, "12:30"),
            (next(&body, &bare), 400, words),
            (later, 400, words),
            (with(next(&body, &bare), off.clone()), 200, "12:30"),
        ];
        check(&server, Protocol::OpenAi, &cases).await;
        let quiet = send(&server, &with(body, off)).await;
        assert!(quiet["choices"][0]["message"]["reasoning_content"].is_null());
        let cached = if flavour == Flavour::DeepSeek { "prompt_cache_hit_tokens" } else { "cached_tokens" };
        assert_eq!(quiet["usage"][cached], 0);
    }
    let error = overflow(&server(Flavour::Kimi).await).await;
    assert!(
        error["message"].as_str().unwrap().contains("exceeded model token limit: 1000 (requested: 1217)"),
        "{error}"
    );
}

#[tokio::test]
async fn openrouter_wants_details_as_they_were() {
    let server = server(Flavour::OpenRouter).await;
    let body = ask(json!({"tools": tools(), "reasoning": {"effort": "high"}}));
    let message = send(&server, &body).await["choices"][0]["message"].clone();
    assert_eq!(message["reasoning"], message["reasoning_details"][0]["text"]);
    let mut changed = message.clone();
    changed["reasoning_details"][0]["text"] = "Something else.".into();
    let mut cut = message.clone();
    cut["reasoning_details"][0].as_object_mut().unwrap().remove("signature");
    let missing = with(message.clone(), json!({"reasoning_details": null}));
    let cases = [
        (next(&body, &message), 200, "12:30"),
        (next(&body, &changed), 400, "messages[1].reasoning_details was modified"),
        (next(&body, &cut), 400, "messages[1].reasoning_details was modified"),
        (next(&body, &missing), 400, "messages[1].reasoning_details is missing"),
        (ask(json!({"reasoning": {"effort": "none"}})), 200, ""),
    ];
    check(&server, Protocol::OpenAi, &cases).await;
    let stream = Protocol::OpenAi.send(&server, Form::Stream, &body).await.unwrap();
    let deltas: Vec<Value> =
        stream.events().iter().map(|event| event["choices"][0]["delta"].clone()).collect();
    let details: Vec<&Value> = deltas.iter().filter(|delta| delta["reasoning_details"].is_array()).collect();
    assert_eq!(details.len(), 1);
    let shown: String = deltas.iter().filter_map(|delta| delta["reasoning"].as_str()).collect();
    assert_eq!(details[0]["reasoning_details"][0]["text"], shown);
    let listed = get(&server, "/v1/models", &[]).await.json()["data"][0].clone();
    assert_eq!(
        (&listed["context_length"], &listed["top_provider"]["max_completion_tokens"]),
        (&json!(1_000), &json!(500))
    );
    assert!(
        overflow(&server).await["message"]
            .as_str()
            .unwrap()
            .contains("However, you requested about 1217 tokens.")
    );
}

#[tokio::test]
async fn ollama_cuts_in_silence() {
    let server = server(Flavour::Ollama).await;
    let reply = send(&server, &long()).await;
    assert_eq!(reply["usage"]["prompt_tokens"], 604 + 6 + 3);
    assert_eq!(get(&server, "/", &[]).await.text(), "Ollama is running");
    let running = get(&server, "/api/ps", &[]).await.json();
    assert_eq!(
        (&running["models"][0]["name"], &running["models"][0]["context_length"]),
        (&json!("local"), &json!(1_000))
    );
    let shown = post(&server, "/api/show", &[], &json!({"model": "local"})).await.unwrap().json();
    assert_eq!(shown["model_info"]["demo.context_length"], 131_072);
    assert_eq!(post(&server, "/api/show", &[], &json!({"model": "none"})).await.unwrap().status, 404);
    let listed = get(&server, "/v1/models", &[]).await.json()["data"][0].clone();
    assert_eq!(listed, json!({"id": "local", "object": "model", "owned_by": "oneclaw-demo"}));
}

#[tokio::test]
async fn local_servers_say_how_large_their_windows_are() {
    let server = server(Flavour::LlamaCpp).await;
    assert_eq!(get(&server, "/props", &[]).await.json()["default_generation_settings"]["n_ctx"], 1_000);
    let listed = get(&server, "/v1/models", &[]).await.json()["data"][0].clone();
    assert_eq!(listed["meta"], json!({"n_ctx_train": 131_072}));
    let error = overflow(&server).await;
    assert_eq!(
        (&error["type"], &error["n_ctx"], &error["n_prompt_tokens"]),
        (&json!("exceed_context_size_error"), &json!(1_000), &json!(1_217))
    );
    let counted = post(&server, "/v1/chat/completions/input_tokens", &[], &long()).await.unwrap().json();
    assert_eq!(counted["input_tokens"], 1_217);

    let server = self::server(Flavour::Vllm).await;
    assert_eq!(get(&server, "/v1/models", &[]).await.json()["data"][0]["max_model_len"], 1_000);
    let counted = post(&server, "/tokenize", &[], &long()).await.unwrap().json();
    assert_eq!((&counted["count"], &counted["max_model_len"]), (&json!(1_217), &json!(1_000)));
    let said = overflow(&server).await["message"].as_str().unwrap().to_owned();
    assert!(said.contains("However, your request has 1217 input tokens."), "{said}");

    let server = self::server(Flavour::LmStudio).await;
    let loaded = get(&server, "/api/v1/models", &[]).await.json()["models"][0].clone();
    assert_eq!((&loaded["key"], &loaded["max_context_length"]), (&json!("local"), &json!(131_072)));
    assert_eq!(loaded["loaded_instances"][0]["config"]["context_length"], 1_000);
    let said = overflow(&server).await["message"].as_str().unwrap().to_owned();
    assert!(said.contains("is greater than the context length (1000)"), "{said}");
    let stream = Protocol::OpenAi.send(&server, Form::Stream, &long()).await.unwrap();
    assert!(stream.status == 200 && stream.text().starts_with("event: error\ndata: {"), "{}", stream.text());
}

#[tokio::test]
async fn the_usual_server_has_none_of_it() {
    let server = server(Flavour::Plain).await;
    for path in ["/", "/props", "/api/ps", "/api/v1/models"] {
        assert_eq!(get(&server, path, &[]).await.status, 404, "{path}");
    }
    check(
        &server,
        Protocol::OpenAi,
        &[(ask(json!({"thinking": {"type": "disabled"}})), 400, "Unknown parameter: 'thinking'.")],
    )
    .await;
}
