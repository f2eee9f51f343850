//! Asking for the size of a request: one request, bounded in time and bytes, and a typed outcome.

use super::*;
use oneclaw_providers::{Count, Counter};
use serde_json::json;

const ALL: [(Counter, ProviderKind); 5] = [
    (Counter::Responses, ProviderKind::OpenAi),
    (Counter::Messages, ProviderKind::Anthropic),
    (Counter::GenerateContent, ProviderKind::Gemini),
    (Counter::LlamaCpp, ProviderKind::OpenAi),
    (Counter::Vllm, ProviderKind::OpenAi),
];
const PATIENCE: Duration = Duration::from_millis(500);

async fn count_within(server: &Server, counter: Counter, kind: ProviderKind, patience: Duration) -> Count {
    let endpoint = server.endpoint(kind);
    client().count(counter, &endpoint, &Profile::of(&endpoint, "house-model"), &request(), patience).await
}

async fn count(server: &Server, counter: Counter, kind: ProviderKind) -> Count {
    count_within(server, counter, kind, GRACE).await
}

/// An answer that holds the size in everybody's form.
fn sized(tokens: serde_json::Value) -> Act {
    Act::json(json!({"input_tokens": tokens, "totalTokens": tokens, "count": tokens}))
}

fn is_guess(counter: Counter) -> bool {
    matches!(counter, Counter::LlamaCpp | Counter::Vllm)
}

#[tokio::test]
async fn a_size_comes_in_and_the_key_went_out_as_with_a_chat() {
    for (counter, kind) in ALL {
        let server = Server::start(vec![sized(json!(42))]).await;
        assert_eq!(count(&server, counter, kind).await, Count::Counted(42), "{counter:?}");
        let [seen] = &server.requests()[..] else { panic!("{counter:?}") };
        let (head, body) = seen.split_once("\r\n\r\n").unwrap();
        let (path, header) = match counter {
            Counter::Responses => ("/v1/responses/input_tokens", "authorization: Bearer "),
            Counter::Messages => ("/v1/messages/count_tokens", "x-api-key: "),
            Counter::GenerateContent => ("/v1/models/house-model:countTokens", "x-goog-api-key: "),
            Counter::LlamaCpp => ("/v1/chat/completions/input_tokens", "authorization: Bearer "),
            Counter::Vllm => ("/tokenize", "authorization: Bearer "),
        };
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{head}");
        assert!(head.contains(&format!("{header}{KEY}")), "{head}");
        assert_eq!(seen.matches(KEY).count(), 1, "{seen}");
        assert_eq!(head.contains("anthropic-version: 2023-06-01"), kind == ProviderKind::Anthropic);
        assert!(body.contains("Hello") && body.contains("look"), "{body}");
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_told_from_a_model_that_is_not() {
    let missing = [
        ("404 Not Found", "404 page not found"),
        ("404 Not Found", "{\"detail\":\"Not Found\"}"),
        (
            "404 Not Found",
            "{\"error\":{\"message\":\"Invalid URL (POST /v1/responses/input_tokens)\",\"type\":\"invalid_request_error\"}}",
        ),
        ("405 Method Not Allowed", ""),
        (
            "501 Not Implemented",
            "{\"error\":{\"code\":501,\"message\":\"This server does not support it.\"}}",
        ),
    ];
    for (counter, kind) in ALL {
        for (status, body) in missing {
            let server = Server::start(vec![Act::answer(status, "", body)]).await;
            assert_eq!(
                count(&server, counter, kind).await,
                Count::NoSuchEndpoint,
                "{counter:?} {status} {body}"
            );
            assert_eq!(server.requests().len(), 1);
        }
        for body in [
            "{\"error\":{\"message\":\"The model `house-model` does not exist.\",\"code\":\"model_not_found\"}}",
            "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: house-model\"}}",
        ] {
            let server = Server::start(vec![Act::answer("404 Not Found", "", body)]).await;
            let outcome = count(&server, counter, kind).await;
            assert!(
                matches!(outcome, Count::Failed(ProviderError::ModelNotFound { .. })),
                "{counter:?} {outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_stands_elsewhere_at_the_address_is_not_the_endpoint() {
    for (counter, kind) in ALL {
        for body in [
            "{\"tokens\":[1,2,3]}",
            "<html>Sign in</html>",
            "{}",
            "[]",
            "",
            "{\"count\":\"3\"}",
            "{\"numbers\":7}",
        ] {
            let server = Server::start(vec![Act::answer("200 OK", "", body)]).await;
            let outcome = count(&server, counter, kind).await;
            match is_guess(counter) {
                true => assert_eq!(outcome, Count::NoSuchEndpoint, "{counter:?} {body}"),
                false => assert!(
                    matches!(outcome, Count::Failed(ProviderError::Protocol { .. })),
                    "{counter:?} {body} {outcome:?}"
                ),
            }
        }
        let server = Server::start(vec![Act::answer(
            "422 Unprocessable Entity",
            "",
            "{\"detail\":\"inputs: missing\"}",
        )])
        .await;
        assert_eq!(
            count(&server, counter, kind).await == Count::NoSuchEndpoint,
            is_guess(counter),
            "{counter:?}"
        );
    }
}

#[tokio::test]
async fn numbers_that_cannot_be_are_errors() {
    for (counter, kind) in ALL {
        for tokens in [0, 1_000_000, u64::MAX] {
            let server = Server::start(vec![sized(json!(tokens))]).await;
            let outcome = count(&server, counter, kind).await;
            assert!(
                matches!(outcome, Count::Failed(ProviderError::Protocol { .. })),
                "{counter:?} {outcome:?}"
            );
        }
    }
}

#[tokio::test]
async fn failures_come_back_as_they_are_and_are_not_repeated() {
    for (counter, kind) in ALL {
        for (status, headers, retried) in [
            ("500 Internal Server Error", "", true),
            ("503 Service Unavailable", "retry-after: 1\r\n", true),
            ("429 Too Many Requests", "retry-after: 1\r\n", true),
            ("401 Unauthorized", "", false),
            ("307 Temporary Redirect", "location: http://127.0.0.1:9/elsewhere\r\n", false),
            ("400 Bad Request", "", false),
        ] {
            let server =
                Server::start(vec![Act::answer(status, headers, "{\"error\":{\"message\":\"no\"}}")]).await;
            let Count::Failed(error) = count(&server, counter, kind).await else {
                panic!("{counter:?} {status}")
            };
            assert_eq!(error.is_retryable(), retried, "{counter:?} {status} {error}");
            assert_eq!(server.requests().len(), 1, "{counter:?} {status}");
        }
        let server = Server::start(vec![Act::close()]).await;
        let outcome = count(&server, counter, kind).await;
        assert!(matches!(outcome, Count::Failed(ProviderError::Network { .. })), "{counter:?} {outcome:?}");
        assert_eq!(server.requests().len(), 1, "{counter:?}");
    }
}

#[tokio::test]
async fn patience_is_for_all_of_it() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n";
    for (counter, kind) in ALL {
        for silence in [String::new(), head.to_owned(), format!("{head}{{\"input_tokens\":")] {
            let server = Server::start(vec![Act::Hold(silence)]).await;
            let start = Instant::now();
            let outcome = count_within(&server, counter, kind, PATIENCE).await;
            assert!(
                matches!(&outcome, Count::Failed(ProviderError::Timeout { after, .. }) if *after == PATIENCE),
                "{counter:?} {outcome:?}"
            );
            assert!(start.elapsed() < PATIENCE + GRACE, "{:?}", start.elapsed());
        }
    }
}

#[tokio::test]
async fn an_answer_without_end_is_left_and_vllms_is_read_from_its_beginning() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    for (counter, kind) in ALL {
        let begin = format!("{head}{{\"input_tokens\":42,\"totalTokens\":42,\"count\":42,\"tokens\":[1");
        let mut server = Server::start(vec![Act::Pour(begin, ",2".repeat(8_000))]).await;
        let outcome = count(&server, counter, kind).await;
        match counter {
            Counter::Vllm => assert_eq!(outcome, Count::Counted(42)),
            Counter::LlamaCpp => assert_eq!(outcome, Count::NoSuchEndpoint),
            _ => assert!(matches!(outcome, Count::Failed(ProviderError::Protocol { .. })), "{outcome:?}"),
        }
        let written = tokio::time::timeout(GRACE, server.gone.recv()).await.unwrap().unwrap();
        assert!(written < 50_000_000, "{counter:?} {written}");
    }
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_log() {
    let echo = |request: &str| {
        let key = request.lines().find(|line| line.contains(KEY)).unwrap_or_default().to_owned();
        Act::answer(
            "400 Bad Request",
            "",
            &json!({"error": {"message": format!("you sent {key}")}}).to_string(),
        )
    };
    let server = Server::with(move |_, request| echo(request)).await;
    for (counter, kind) in ALL {
        let Count::Failed(error) = count(&server, counter, kind).await else { panic!("{counter:?}") };
        assert!(error.to_string().contains("you sent"), "{error}");
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    }
    assert!(!logged().iter().any(|line| line.contains(KEY)));
}

#[tokio::test]
async fn addresses_that_may_not_be_spoken_to_are_not_asked() {
    for (counter, kind) in ALL {
        let endpoint =
            Endpoint { kind, base_url: "http://house.example/v1".into(), key: Some(ApiKey::new(KEY.into())) };
        let profile = Profile::of(&endpoint, MODEL);
        let outcome = client().count(counter, &endpoint, &profile, &request(), GRACE).await;
        assert!(
            matches!(outcome, Count::Failed(ProviderError::InvalidRequest { .. })),
            "{counter:?} {outcome:?}"
        );
    }
}
