//! The lists of models, as each service writes them.

use crate::http::{Act, Server};
use oneclaw_catalogue::{Rates, ThinkingType};
use oneclaw_model::{Effort, ProviderKind};
use oneclaw_providers::models::local::{llama_cpp, lm_studio, ollama_running, ollama_shown, ollama_tags};
use oneclaw_providers::models::{Local, Page, anthropic, gemini, openai};
use oneclaw_providers::{Cleartext, Client, ListedModel, ProviderError, Timing};
use serde_json::{Value, json};

fn model(id: &str, name: Option<&str>, window: Option<u64>, max_output: Option<u64>) -> ListedModel {
    ListedModel { name: name.map(Into::into), window, max_output, ..ListedModel::new(id.into()) }
}

#[test]
fn lists_of_openai_and_of_those_who_add_to_it() {
    let list = json!({"object": "list", "data": [
        {"id": "gpt-4o", "object": "model", "created": 1, "owned_by": "system"},
        {"id": "meta/llama", "name": "Llama", "context_length": 131072,
            "top_provider": {"context_length": 65536, "max_completion_tokens": 8192}},
        {"id": "router", "context_length": 4096, "top_provider": {"context_length": null, "max_completion_tokens": null}},
        {"id": "groq", "context_window": 32768, "max_completion_tokens": 1024},
        {"id": "vllm", "max_model_len": 2048},
        {"id": "mistral", "name": "mistral", "max_context_length": 128000},
        {"id": "llama.cpp", "meta": {"n_ctx": 4096, "n_ctx_train": 131072}},
        {"id": "trained", "meta": {"n_ctx_train": 131072}},
        {"id": "zero", "context_length": 0},
        {"id": "one", "context_length": 1},
        {"id": "endless", "context_length": 1_000_000_000_000_000_000_u64, "max_completion_tokens": -5},
        {"id": "text", "context_length": "8192"},
        {"object": "model"}, 7, {"id": ""}
    ]});
    let wanted = vec![
        model("gpt-4o", None, None, None),
        model("meta/llama", Some("Llama"), Some(65_536), Some(8_192)),
        model("router", None, Some(4_096), None),
        model("groq", None, Some(32_768), Some(1_024)),
        model("vllm", None, Some(2_048), None),
        model("mistral", None, Some(128_000), None),
        model("llama.cpp", None, Some(4_096), None),
        model("trained", None, None, None),
        model("zero", None, None, None),
        model("one", None, None, None),
        model("endless", None, None, None),
        model("text", None, Some(8_192), None),
    ];
    assert_eq!(openai(&list), wanted);
    // Together sends the bare list; Gemini's compatible list has its prefix.
    assert_eq!(openai(&json!([{"id": "models/x"}])), vec![model("x", None, None, None)]);
    for odd in [Value::Null, json!({}), json!({"data": "x"}), json!(3)] {
        assert_eq!(openai(&odd), vec![]);
    }
}

#[test]
fn lists_tell_ends_abilities_efforts_and_prices() {
    let list = json!({"data": [
        {"id": "gpt-x", "object": "model", "shutdown_date": "2026-12-11"},
        {"id": "a/b", "context_length": 200_000, "expiration_date": "2027-01-01",
            "architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["tools", "reasoning", "max_tokens"],
            "reasoning": {"mandatory": false, "supported_efforts": ["high", "low", "odd"], "default_effort": "high"},
            "per_request_limits": {"prompt_tokens": 150_000},
            "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_read": "0.0000003"}},
        {"id": "c/d", "architecture": {"input_modalities": ["text"]}, "supported_parameters": ["max_tokens"],
            "reasoning": null},
        {"id": "mistral", "capabilities": {"vision": false, "function_calling": true}, "max_context_length": 32768}]});
    let listed = openai(&list);
    let day = |model: &ListedModel| model.ends.map(|day| day.to_string());
    assert_eq!(day(&listed[0]).as_deref(), Some("2026-12-11"));
    let rich = &listed[1];
    assert_eq!(day(rich).as_deref(), Some("2027-01-01"));
    assert_eq!((rich.sees, rich.calls_tools, rich.reasons), (Some(true), Some(true), Some(true)));
    assert_eq!(rich.efforts, [Effort::None, Effort::Low, Effort::High]);
    assert_eq!(rich.input_limit, Some(150_000));
    let rates = Rates { input: Some(3.0), output: Some(15.0), cache_read: Some(0.3), cache_write: None };
    assert_eq!(rich.prices.as_ref().map(|prices| prices.rates), Some(rates));
    let poor = &listed[2];
    assert_eq!((poor.sees, poor.calls_tools, poor.reasons), (Some(false), Some(false), Some(false)));
    assert_eq!((listed[3].sees, listed[3].calls_tools), (Some(false), Some(true)));

    let yes = || json!({"supported": true});
    let no = || json!({"supported": false});
    let list = json!({"data": [{"id": "claude-x", "lifecycle": "deprecated", "retires_at": "2026-11-30T00:00:00Z",
        "capabilities": {"image_input": yes(), "effort": {"low": yes(), "high": yes(), "max": no(), "supported": true},
            "thinking": {"supported": true, "types": {"adaptive": yes(), "enabled": no(), "between_tools": yes()}}}}]});
    let claude = &anthropic(&list).models[0];
    assert_eq!(day(claude).as_deref(), Some("2026-11-30"));
    assert_eq!((claude.sees, claude.reasons), (Some(true), Some(true)));
    assert_eq!(claude.efforts, [Effort::Low, Effort::High]);
    assert_eq!(claude.thinking_types, [ThinkingType::Adaptive, ThinkingType::BetweenTools]);
}

/// Only the window that a model runs with counts.
#[test]
fn lists_of_servers_on_a_desk() {
    let list = json!({"data": [
        {"id": "a", "type": "vlm", "max_context_length": 131072, "loaded_context_length": 4096, "state": "loaded"},
        {"id": "b", "type": "llm", "max_context_length": 32768, "state": "not-loaded"}]});
    let known = lm_studio(&list);
    assert_eq!(known["a"], Local { window: Some(4_096), sees: Some(true), ..Local::default() });
    assert_eq!(known["b"], Local { sees: Some(false), ..Local::default() });
    let list = json!({"models": [
        {"key": "q/a", "max_context_length": 131072, "capabilities": {"vision": true, "trained_for_tool_use": false},
            "loaded_instances": [{"id": "q/a", "config": {"context_length": 16384}},
                {"id": "q/a:2", "config": {"context_length": 8192}}]},
        {"key": "q/b", "max_context_length": 131072, "loaded_instances": []},
        {"key": "q/c", "loaded_instances": [{"id": "q/c", "config": {"context_length": 1}}]}]});
    let known = lm_studio(&list);
    let abilities = Local { sees: Some(true), calls_tools: Some(false), ..Local::default() };
    assert_eq!(known["q/a"], Local { window: Some(8_192), ..abilities });
    assert_eq!(known["q/a:2"], Local { window: Some(8_192), ..abilities });
    assert_eq!((known["q/b"], known["q/c"]), (Local::default(), Local::default()));

    let props = json!({"default_generation_settings": {"n_ctx": 8192}, "total_slots": 4,
        "modalities": {"vision": false}, "chat_template_caps": {"supports_tools": true}});
    let wanted = Local { window: Some(8_192), sees: Some(false), calls_tools: Some(true), reasons: None };
    assert_eq!(llama_cpp(&props), wanted);
    assert_eq!(llama_cpp(&json!({"default_generation_settings": {"n_ctx": -1}})), Local::default());

    let tags =
        json!({"models": [{"name": "llama3.2:latest", "model": "llama3.2:latest"}, {"model": "x"}, {}]});
    assert_eq!(ollama_tags(&tags), vec!["llama3.2:latest", "x"]);
    let running =
        json!({"models": [{"name": "a:latest", "model": "a:latest", "context_length": 4096}, {"name": "b"}]});
    assert_eq!(ollama_running(&running).into_iter().collect::<Vec<_>>(), [("a:latest".to_owned(), 4_096)]);
    let info =
        json!({"general.architecture": "llama", "llama.context_length": 131072, "llama.embedding_length": 1});
    let set =
        json!({"parameters": "stop \"<|eot|>\"\nnum_ctx                        8192", "model_info": info});
    assert_eq!(ollama_shown(&set).window, Some(8_192));
    assert_eq!(ollama_shown(&json!({"model_info": info})).window, None);
    let cloud = json!({"model_info": info, "remote_host": "https://ollama.com:443"});
    assert_eq!(ollama_shown(&cloud).window, Some(131_072));
    assert_eq!(ollama_shown(&json!({"parameters": "num_ctx x"})).window, None);
    let able = ollama_shown(&json!({"capabilities": ["completion", "tools", "thinking"]}));
    assert_eq!((able.sees, able.calls_tools, able.reasons), (Some(false), Some(true), Some(true)));
}

#[test]
fn lists_in_parts() {
    let list = json!({"data": [{"id": "claude-x", "display_name": "Claude X", "type": "model",
        "max_input_tokens": 200000, "max_tokens": 64000}], "has_more": true, "last_id": "claude-x"});
    let models = vec![model("claude-x", Some("Claude X"), Some(200_000), Some(64_000))];
    assert_eq!(anthropic(&list), Page { models, next: Some("claude-x".into()) });
    let last = json!({"data": [], "has_more": false, "last_id": "claude-x"});
    assert_eq!(anthropic(&last), Page { models: vec![], next: None });

    let list = json!({"models": [
        {"name": "models/gemini-x", "displayName": "Gemini X", "inputTokenLimit": 1048576, "outputTokenLimit": 65536,
            "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/plain"}], "nextPageToken": "n"});
    let models = vec![
        model("gemini-x", Some("Gemini X"), Some(1_048_576), Some(65_536)),
        model("plain", None, None, None),
    ];
    assert_eq!(gemini(&list), Page { models, next: Some("n".into()) });
}

async fn listed(server: &Server, kind: ProviderKind) -> Result<Vec<ListedModel>, ProviderError> {
    let client = Client::new(Timing::default(), Cleartext::default()).unwrap();
    client.models(&server.endpoint(kind)).await
}

/// The method and path of each request.
fn asked(server: &Server) -> Vec<String> {
    let line = |request: &String| request.split(" HTTP/1.1").next().unwrap().to_owned();
    server.requests().iter().map(line).collect()
}

#[tokio::test]
async fn all_parts_are_fetched() {
    let server = Server::with(|_, request| match request {
        request if request.contains("after_id=a+b%26c") => {
            Act::json(json!({"data": [{"id": "d"}], "has_more": false, "last_id": "d"}))
        }
        _ => Act::json(json!({"data": [{"id": "a b&c"}], "has_more": true, "last_id": "a b&c"})),
    })
    .await;
    let models = listed(&server, ProviderKind::Anthropic).await.unwrap();
    assert_eq!(models, vec![model("a b&c", None, None, None), model("d", None, None, None)]);
    assert_eq!(asked(&server), ["GET /v1/models?limit=1000", "GET /v1/models?limit=1000&after_id=a+b%26c"]);
    assert!(server.requests()[0].contains("x-api-key: "));
}

#[tokio::test]
async fn a_list_that_goes_round_ends() {
    let server =
        Server::with(|_, _| Act::json(json!({"models": [{"name": "models/x"}], "nextPageToken": "same"})))
            .await;
    assert_eq!(listed(&server, ProviderKind::Gemini).await.unwrap().len(), 2);
    let server = Server::with(|number, _| {
        Act::json(json!({"models": [{"name": "models/x"}], "nextPageToken": number.to_string()}))
    })
    .await;
    assert_eq!(listed(&server, ProviderKind::Gemini).await.unwrap().len(), 50);
}

#[tokio::test]
async fn ollama_is_asked_for_windows() {
    let server = Server::with(|_, request| {
        let path = request.split(' ').nth(1).unwrap();
        match path {
            "/v1/models" => Act::json(json!({"data": [{"id": "llama3.2:latest"}]})),
            "/" => Act::answer("200 OK", "", "Ollama is running"),
            "/api/tags" => {
                let names = ["llama3.2:latest", "new:latest", "running:latest"];
                Act::json(json!({"models": names.map(|name| json!({"name": name}))}))
            }
            "/api/ps" => Act::json(json!({"models": [{"name": "running:latest", "context_length": 16384}]})),
            "/api/show" if request.contains("llama3.2") => Act::json(json!({"parameters": "num_ctx 8192"})),
            "/api/show" if request.contains("running") => Act::json(json!({"parameters": "num_ctx 8192"})),
            _ => Act::answer("404 Not Found", "", "{\"error\":\"model not found\"}"),
        }
    })
    .await;
    let wanted = vec![
        model("llama3.2:latest", None, Some(8_192), None),
        model("new:latest", None, None, None),
        model("running:latest", None, Some(16_384), None),
    ];
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(wanted));
    assert_eq!(
        asked(&server),
        [
            "GET /v1/models",
            "GET /",
            "GET /api/tags",
            "GET /api/ps",
            "POST /api/show",
            "POST /api/show",
            "POST /api/show"
        ]
    );
}

#[tokio::test]
async fn lm_studio_is_asked_for_windows() {
    let unknown = || Act::answer("404 Not Found", "", "Unexpected endpoint");
    let common = || Act::json(json!({"data": [{"id": "a"}, {"id": "b"}]}));
    let wanted = vec![model("a", None, None, None), model("b", None, Some(4_096), None)];
    let server = Server::with(move |_, request| match request.split(' ').nth(1).unwrap() {
        "/v1/models" => common(),
        "/api/v0/models" => Act::json(json!({"data": [{"id": "b", "loaded_context_length": 4096}]})),
        _ => unknown(),
    })
    .await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(wanted.clone()));
    let server = Server::with(move |_, request| match request.split(' ').nth(1).unwrap() {
        "/v1/models" => common(),
        "/api/v1/models" => Act::json(json!({"models": [{"key": "a", "loaded_instances": []},
            {"key": "b", "loaded_instances": [{"id": "b", "config": {"context_length": 4096}}]}]})),
        _ => unknown(),
    })
    .await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(wanted));
    assert_eq!(asked(&server), ["GET /v1/models", "GET /", "GET /api/v1/models"]);
}

#[tokio::test]
async fn llama_cpp_is_asked_for_the_window_it_runs_with() {
    let props = |n_ctx: u64| Act::json(json!({"default_generation_settings": {"n_ctx": n_ctx}}));
    let entry = |id: &str| json!({"id": id, "owned_by": "llamacpp", "meta": {"n_ctx_train": 131072}});
    let server = Server::with(move |_, request| match request.split(' ').nth(1).unwrap() {
        "/v1/models" => Act::json(json!({"data": [entry("a")]})),
        "/props" => props(8_192),
        _ => Act::answer("404 Not Found", "", ""),
    })
    .await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(vec![model("a", None, Some(8_192), None)]));
    assert_eq!(asked(&server), ["GET /v1/models", "GET /props"]);
    // A router is asked about each model, and does not load it for that; one that is not loaded has no window.
    let server = Server::with(move |_, request| match request.split(' ').nth(1).unwrap() {
        "/v1/models" => Act::json(json!({"data": [entry("a"), entry("b/c")]})),
        "/props?model=b%2Fc&autoload=false" => props(4_096),
        _ => Act::answer("400 Bad Request", "", "{\"error\":{\"message\":\"model is not loaded\"}}"),
    })
    .await;
    let wanted = vec![model("a", None, None, None), model("b/c", None, Some(4_096), None)];
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(wanted));
}

#[tokio::test]
async fn servers_that_nobody_knows_are_asked_a_few_times_at_most() {
    let server = Server::with(|_, request| match request.split(' ').nth(1).unwrap() {
        "/v1/models" => Act::json(json!({"data": [{"id": "a"}, {"id": "b"}]})),
        _ => Act::answer("404 Not Found", "", ""),
    })
    .await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await.unwrap().len(), 2);
    let wanted = ["GET /v1/models", "GET /", "GET /api/v1/models", "GET /api/v0/models", "GET /props"];
    assert_eq!(asked(&server), wanted);
}

#[tokio::test]
async fn windows_that_are_known_are_not_asked_for() {
    let server = Server::with(|_, _| Act::json(json!({"data": [{"id": "a", "max_model_len": 5000}]}))).await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(vec![model("a", None, Some(5_000), None)]));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_list_that_is_none_is_an_error() {
    let server = Server::with(|_, _| Act::answer("200 OK", "", "<html>")).await;
    assert!(matches!(listed(&server, ProviderKind::OpenAi).await, Err(ProviderError::Protocol { .. })));
    let server =
        Server::with(|_, _| Act::answer("401 Unauthorized", "", "{\"error\":{\"message\":\"no\"}}")).await;
    assert_eq!(listed(&server, ProviderKind::Gemini).await, Err(ProviderError::Auth { detail: "no".into() }));
}

/// Nothing a service lists makes memory grow without bound.
#[tokio::test]
async fn lists_have_their_limits() {
    let many = |page: usize, count: usize| {
        let entry = |n: usize| json!({"id": format!("m{page}-{n}"), "name": format!("models/m{page}-{n}"), "context_length": 5000});
        (0..count).map(entry).collect::<Vec<_>>()
    };
    let server = Server::with(move |_, _| Act::json(json!({"data": many(0, 12_000)}))).await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await.unwrap().len(), 10_000);
    let server = Server::with(move |page, _| {
        Act::json(json!({"models": many(page, 3_000), "nextPageToken": page.to_string()}))
    })
    .await;
    assert_eq!(listed(&server, ProviderKind::Gemini).await.unwrap().len(), 10_000);
    assert_eq!(server.requests().len(), 4);
    let long = "x".repeat(4 * 1_024 * 1_024);
    let server = Server::with(move |_, _| Act::json(json!({"data": [], "more": long}))).await;
    let error = listed(&server, ProviderKind::OpenAi).await;
    assert_eq!(error, Err(ProviderError::Protocol { detail: "the answer is too long".into() }));
    assert_eq!(server.requests().len(), 1);
}
