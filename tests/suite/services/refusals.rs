//! What a service refuses, and the error that says so, with the service's own numbers.

use super::*;
use oneclaw_providers::{ApiKey, Profile};
use oneclaw_tests::words;

const WINDOW: u64 = 6_000;
const MAX_OUTPUT: u64 = 1_000;

async fn small() -> Server {
    serve(config(WINDOW, MAX_OUTPUT, &[])).await
}

async fn refused(server: &Server, kind: ProviderKind, request: &Request) -> ProviderError {
    let said = ask(server, kind, request).await;
    let error = said.error.clone().expect("an error");
    assert_eq!(said, Said::failed(error.clone()), "{kind:?}");
    error
}

fn overflow(requested: u64) -> ProviderError {
    ProviderError::ContextOverflow { limit: Some(WINDOW), requested: Some(requested) }
}

#[tokio::test]
async fn a_prompt_beyond_the_window() {
    let server = small().await;
    let text = words(WINDOW as usize + 500);
    for kind in KINDS {
        let asked = request(vec![user(&text)]);
        let size = prompt(&[&text]);
        assert!(size > WINDOW);
        assert_eq!(refused(&server, kind, &asked).await, overflow(size), "{kind:?}");
        let with_tools = Request { tools: vec![tool("look")], ..asked.clone() };
        let error = refused(&server, kind, &with_tools).await;
        let log = server.log();
        let counted = log.last().unwrap().prompt_tokens.unwrap();
        assert!(counted > size);
        assert_eq!(error, overflow(counted), "{kind:?}");
        let complete = client()
            .complete(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), model(kind)), &asked)
            .await;
        assert_eq!(complete, Err(overflow(size)), "{kind:?}");
        // Nobody asks again for what can never fit.
        assert_eq!(server.log().len(), log.len() + 1);
    }
}

#[tokio::test]
async fn a_prompt_that_leaves_too_little_room_for_the_reply() {
    for kind in KINDS {
        for tools in [vec![], vec![tool("look"), tool("rest")]] {
            let server = small().await;
            let text = words(WINDOW as usize * 9 / 10);
            let asked = Request { tools, max_output: Some(MAX_OUTPUT), ..request(vec![user(&text)]) };
            let said = ask(&server, kind, &asked).await;
            let counted = server.log()[0].prompt_tokens.unwrap();
            assert!(counted <= WINDOW && counted + MAX_OUTPUT > WINDOW, "{counted}");
            match kind {
                ProviderKind::OpenAi | ProviderKind::Anthropic => {
                    assert_eq!(said, Said::failed(overflow(counted + MAX_OUTPUT)), "{kind:?}");
                }
                // Gemini looks at the prompt alone.
                ProviderKind::Gemini => assert_eq!(said.error, None),
            }
        }
    }
}

/// The window is enforced to the token, and the numbers say so.
#[tokio::test]
async fn the_last_token_decides() {
    for kind in KINDS {
        let size = prompt(&["Hello"]);
        let output = if kind == ProviderKind::Gemini { 0 } else { 3 };
        let asked = Request { max_output: Some(3), ..hello() };
        let fitting = serve(config(size + output, 3, &[])).await;
        assert_eq!(ask(&fitting, kind, &asked).await.error, None, "{kind:?}");
        let tight = serve(config(size + output - 1, 3, &[])).await;
        let (limit, requested) = (Some(size + output - 1), Some(size + output));
        let wanted = ProviderError::ContextOverflow { limit, requested };
        assert_eq!(refused(&tight, kind, &asked).await, wanted, "{kind:?}");
    }
}

#[tokio::test]
async fn more_output_than_the_model_gives() {
    let server = small().await;
    for kind in KINDS {
        let asked = Request { max_output: Some(MAX_OUTPUT + 1), ..hello() };
        let wanted = ProviderError::OutputCap { limit: Some(MAX_OUTPUT) };
        assert_eq!(refused(&server, kind, &asked).await, wanted, "{kind:?}");
        let asked = Request { max_output: Some(MAX_OUTPUT), ..hello() };
        assert_eq!(ask(&server, kind, &asked).await.error, None, "{kind:?}");
    }
}

#[tokio::test]
async fn models_that_are_not_there() {
    let server = small().await;
    for kind in KINDS {
        let detail = match kind {
            ProviderKind::OpenAi => "The model `gpt-9` does not exist or you do not have access to it.",
            ProviderKind::Anthropic => "model: gpt-9",
            ProviderKind::Gemini => {
                "models/gpt-9 is not found for API version v1beta, or is not supported for generateContent. Call \
                 ListModels to see the list of available models and their supported methods."
            }
        };
        let wanted = ProviderError::ModelNotFound { detail: detail.into() };
        assert_eq!(ask_model(&server, kind, "gpt-9", &hello()).await, Said::failed(wanted), "{kind:?}");
    }
    assert_eq!(server.log().len(), KINDS.len());
}

#[tokio::test]
async fn keys_that_do_not_open() {
    let key = "demo-0123456789-key";
    let server = serve(Config { key: Some(key.into()), ..config(WINDOW, MAX_OUTPUT, &[]) }).await;
    for kind in KINDS {
        let (missing, wrong) = match kind {
            ProviderKind::OpenAi => (
                // Whatever follows this word is taken for a key.
                "You didn't provide an API key. You need to provide your API key in an Authorization header using \
                 Bearer auth (i.e. Authorization: Bearer [redacted]).",
                "Incorrect API key provided.",
            ),
            ProviderKind::Anthropic => ("x-api-key header is required", "invalid x-api-key"),
            ProviderKind::Gemini => (
                "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or \
                 other valid authentication credential.",
                "API key not valid. Please pass a valid API key.",
            ),
        };
        for (shown, wanted) in [(None, Some(missing)), (Some("wrong-key"), Some(wrong)), (Some(key), None)] {
            let endpoint =
                Endpoint { key: shown.map(|key| ApiKey::new(key.into())), ..endpoint(&server, kind) };
            let wanted = wanted.map(|detail| ProviderError::Auth { detail: detail.into() });
            let streamed = client().stream(&endpoint, &Profile::of(&endpoint, model(kind)), &hello()).await;
            assert_eq!(streamed.err(), wanted, "{kind:?} {shown:?}");
            assert_eq!(client().models(&endpoint).await.err(), wanted, "{kind:?} {shown:?}");
        }
    }
}

#[tokio::test]
async fn bodies_beyond_32_megabytes() {
    let server = small().await;
    let asked = request(vec![user(&"a".repeat(33 * 1_024 * 1_024))]);
    for kind in KINDS {
        let detail = match kind {
            ProviderKind::OpenAi => "Request body exceeds the maximum size of 32 MB.",
            ProviderKind::Anthropic => "Request exceeds the maximum size",
            ProviderKind::Gemini => "Request payload size exceeds the limit: 33554432 bytes.",
        };
        let wanted = ProviderError::TooManyBytes { detail: detail.into() };
        assert_eq!(refused(&server, kind, &asked).await, wanted, "{kind:?}");
    }
    assert_eq!(server.log().len(), KINDS.len());
}
