//! The lists of models, as each service writes them.

use crate::http::{Act, Server};
use oneclaw_model::ProviderKind;
use oneclaw_providers::models::{Page, anthropic, gemini, lm_studio, ollama_tags, ollama_window, openai};
use oneclaw_providers::{Cleartext, Client, ListedModel, ProviderError, Timing};
use serde_json::{Value, json};

fn model(id: &str, name: Option<&str>, window: Option<u64>, max_output: Option<u64>) -> ListedModel {
    ListedModel { id: id.into(), name: name.map(Into::into), window, max_output }
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
        {"id": "zero", "context_length": 0},
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
        model("zero", None, None, None),
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
fn lists_of_servers_on_a_desk() {
    let list = json!({"data": [
        {"id": "a", "max_context_length": 131072, "loaded_context_length": 4096, "state": "loaded"},
        {"id": "b", "max_context_length": 32768, "state": "not-loaded"}]});
    assert_eq!(
        lm_studio(&list),
        vec![model("a", None, Some(4_096), None), model("b", None, Some(32_768), None)]
    );

    let tags =
        json!({"models": [{"name": "llama3.2:latest", "model": "llama3.2:latest"}, {"model": "x"}, {}]});
    assert_eq!(ollama_tags(&tags), vec!["llama3.2:latest", "x"]);
    let info =
        json!({"general.architecture": "llama", "llama.context_length": 131072, "llama.embedding_length": 1});
    let set =
        json!({"parameters": "stop \"<|eot|>\"\nnum_ctx                        8192", "model_info": info});
    assert_eq!(ollama_window(&set), Some(8_192));
    assert_eq!(ollama_window(&json!({"model_info": info})), Some(131_072));
    assert_eq!(ollama_window(&json!({"parameters": "num_ctx x"})), None);
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
                Act::json(json!({"models": [{"name": "llama3.2:latest"}, {"name": "new:latest"}]}))
            }
            "/api/show" if request.contains("llama3.2") => Act::json(json!({"parameters": "num_ctx 8192"})),
            _ => Act::answer("404 Not Found", "", "{\"error\":\"model not found\"}"),
        }
    })
    .await;
    let wanted =
        vec![model("llama3.2:latest", None, Some(8_192), None), model("new:latest", None, None, None)];
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(wanted));
    assert_eq!(
        asked(&server),
        ["GET /v1/models", "GET /", "GET /api/tags", "POST /api/show", "POST /api/show"]
    );
}

#[tokio::test]
async fn lm_studio_is_asked_for_windows() {
    let server = Server::with(|_, request| match request.split(' ').nth(1).unwrap() {
        "/v1/models" => Act::json(json!({"data": [{"id": "a"}, {"id": "b"}]})),
        "/api/v0/models" => Act::json(json!({"data": [{"id": "b", "loaded_context_length": 4096}]})),
        _ => Act::answer("404 Not Found", "", "Unexpected endpoint"),
    })
    .await;
    let wanted = vec![model("a", None, None, None), model("b", None, Some(4_096), None)];
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(wanted));
}

#[tokio::test]
async fn windows_that_are_known_are_not_asked_for() {
    let server = Server::with(|_, _| Act::json(json!({"data": [{"id": "a", "context_length": 5}]}))).await;
    assert_eq!(listed(&server, ProviderKind::OpenAi).await, Ok(vec![model("a", None, Some(5), None)]));
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
        let entry = |n: usize| json!({"id": format!("m{page}-{n}"), "name": format!("models/m{page}-{n}"), "context_length": 5});
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
