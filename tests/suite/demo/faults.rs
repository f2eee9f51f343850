//! Each fault, as a caller sees it.

use super::client::{ALL, Answer, Form, Protocol, request};
use super::{FORMS, server, with_models, words};
use oneclaw_demo::{Ending, Fault, Server, Step};
use oneclaw_model::Usage;
use serde_json::json;
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const ASKED: &str = "Write 40 words about rivers.";

/// The next call gets the fault.
async fn struck(server: &Server, protocol: Protocol, form: Form, fault: Fault) -> Option<Answer> {
    server.push(Step::Fault(fault));
    protocol.send(server, form, &protocol.ask(ASKED)).await
}

/// The bytes of a streaming call, for callers that look at the connection.
fn streaming_call() -> Vec<u8> {
    let mut body = Protocol::OpenAi.ask(ASKED);
    body["stream"] = true.into();
    request("POST", "/v1/chat/completions", &[], body.to_string().as_bytes())
}

async fn assert_works(server: &Server) {
    for protocol in ALL {
        assert_eq!(protocol.send(server, Form::Stream, &protocol.ask("hi")).await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn refused_connections_are_reset() {
    let server = server().await;
    server.push(Step::Fault(Fault::Refuse));
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(&streaming_call()).await.unwrap();
    let error = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let log = server.log();
    assert_eq!((log[0].status, log[0].ending), (None, Ending::CutByServer));
    assert_eq!(log[0].model.as_deref(), Some("demo"));
    assert_works(&server).await;
}

#[tokio::test]
async fn connections_can_end_before_the_headers() {
    let server = server().await;
    server.push(Step::Fault(Fault::CloseBeforeHeaders));
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(&streaming_call()).await.unwrap();
    assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0);
    assert_works(&server).await;
}

#[tokio::test]
async fn silence_lasts_until_the_caller_leaves() {
    for (fault, has_events) in [(Fault::Stall, false), (Fault::StallMidway, true)] {
        let server = server().await;
        server.push(Step::Fault(fault));
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(&streaming_call()).await.unwrap();
        let mut received = Vec::new();
        while timeout(Duration::from_millis(200), stream.read_buf(&mut received)).await.is_ok() {}
        let text = String::from_utf8_lossy(&received);
        assert!(text.starts_with("HTTP/1.1 200 OK"), "{text}");
        assert_eq!(text.contains("data: "), has_events);
        assert!(!text.contains("[DONE]"));
        assert_eq!(server.log()[0].ending, Ending::Open);
        drop(stream);
        let until = Instant::now() + Duration::from_secs(5);
        while server.open_connections() > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!((server.open_connections(), server.log()[0].ending), (0, Ending::ClosedEarly));
        assert_works(&server).await;
    }
}

#[tokio::test]
async fn a_reply_can_break_in_the_middle_of_an_event() {
    let server = server().await;
    for protocol in ALL {
        for form in FORMS {
            let answer = struck(&server, protocol, form, Fault::CutMidEvent).await.unwrap();
            assert_eq!(answer.status, 200);
            assert!(!answer.is_whole && !answer.body.is_empty(), "{protocol:?} {form:?} {}", answer.text());
            assert!(!answer.text().ends_with("\n\n"));
            assert_eq!(server.log().last().unwrap().ending, Ending::CutByServer);
        }
    }
    assert_works(&server).await;
}

#[tokio::test]
async fn garbage_and_pages() {
    let server = server().await;
    for protocol in ALL {
        let answer = struck(&server, protocol, Form::Stream, Fault::Garbage).await.unwrap();
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("text/event-stream; charset=utf-8"))
        );
        assert!(std::str::from_utf8(&answer.body).is_err());
        let answer = struck(&server, protocol, Form::Stream, Fault::WrongContentType).await.unwrap();
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/html")));
        assert!(answer.text().starts_with("<!doctype html>"));
    }
}

#[tokio::test]
async fn a_reply_can_drip() {
    let server = server().await;
    server.push(Step::Spoilt {
        fault: Fault::Drip(Duration::from_micros(100)),
        then: Box::new(Step::Reply("drop".into())),
    });
    let answer =
        Protocol::Anthropic.send(&server, Form::Stream, &Protocol::Anthropic.ask("hi")).await.unwrap();
    assert!(answer.is_whole);
    assert_eq!(Protocol::Anthropic.text(&answer, Form::Stream), "drop");
}

#[tokio::test]
async fn limits_and_outages_have_the_providers_forms() {
    let server = server().await;
    let limit = |wait: Option<u64>| Fault::TooManyRequests { retry_after: wait.map(Duration::from_millis) };
    let answer = struck(&server, Protocol::OpenAi, Form::Stream, limit(Some(1_500))).await.unwrap();
    assert_eq!((answer.header("retry-after"), answer.header("retry-after-ms")), (Some("2"), Some("1500")));
    assert_eq!(
        answer.error(),
        (
            429,
            json!({"error": {
                "message": "Rate limit reached for requests. Please try again in 1.5s.", "type": "requests",
                "param": null, "code": "rate_limit_exceeded",
            }})
        )
    );
    let answer = struck(&server, Protocol::Anthropic, Form::Stream, limit(None)).await.unwrap();
    assert_eq!((answer.status, answer.header("retry-after")), (429, None));
    assert_eq!(answer.json()["error"]["type"], "rate_limit_error");
    let answer = struck(&server, Protocol::Gemini, Form::Stream, limit(Some(2_000))).await.unwrap();
    let error = answer.json()["error"].clone();
    assert_eq!((answer.status, &error["status"]), (429, &json!("RESOURCE_EXHAUSTED")));
    assert_eq!(error["details"][0]["retryDelay"], "2s");

    for (protocol, status, kind) in [
        (Protocol::OpenAi, 503, "/error/type=server_error"),
        (Protocol::Anthropic, 529, "/error/type=overloaded_error"),
        (Protocol::Gemini, 503, "/error/status=UNAVAILABLE"),
    ] {
        let answer = struck(&server, protocol, Form::Stream, Fault::Overloaded).await.unwrap();
        let (pointer, expected) = kind.split_once('=').unwrap();
        assert_eq!(answer.status, status);
        assert_eq!(answer.json().pointer(pointer).unwrap(), expected);
        for status in [500, 502, 408] {
            assert_eq!(
                struck(&server, protocol, Form::Whole, Fault::ServerError(status)).await.unwrap().status,
                status
            );
        }
    }
}

#[tokio::test]
async fn an_error_can_stand_in_a_stream() {
    let server = server().await;
    for protocol in ALL {
        let answer = struck(&server, protocol, Form::Stream, Fault::ErrorInStream).await.unwrap();
        assert_eq!(answer.status, 200);
        let last = answer.events().last().unwrap().clone();
        // Responses have a flat form.
        let error = if protocol == Protocol::Responses { &last } else { &last["error"] };
        assert!(error["message"].is_string(), "{protocol:?}");
        assert!(!protocol.text(&answer, Form::Stream).is_empty());
        let whole = struck(&server, protocol, Form::Whole, Fault::ErrorInStream).await.unwrap();
        assert!(whole.status == 200 && whole.json()["error"].is_object());
    }
    let answer = struck(&server, Protocol::Anthropic, Form::Stream, Fault::ErrorInStream).await.unwrap();
    assert!(answer.text().contains("event: error\ndata: {"));
}

#[tokio::test]
async fn replies_can_be_empty_cut_or_declined() {
    let server = server().await;
    for (fault, reasons) in [
        (Fault::EmptyReply, ["stop", "end_turn", "STOP", "completed"]),
        (Fault::CutByLength, ["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"]),
        (Fault::Refusal, ["content_filter", "refusal", "PROHIBITED_CONTENT", "refusal"]),
    ] {
        for (protocol, reason) in ALL.into_iter().zip(reasons) {
            for form in FORMS {
                let answer = struck(&server, protocol, form, fault.clone()).await.unwrap();
                let text = protocol.text(&answer, form);
                assert_eq!(text.is_empty(), fault != Fault::CutByLength, "{protocol:?} {fault:?} {text}");
                assert!(
                    answer.text().contains(&format!("\"{reason}\"")),
                    "{protocol:?} {fault:?} {}",
                    answer.text()
                );
            }
        }
    }
}

#[tokio::test]
async fn a_tool_is_called_where_none_was_offered() {
    let server = server().await;
    for protocol in ALL {
        let answer = struck(&server, protocol, Form::Stream, Fault::ToolCallInsteadOfSummary).await.unwrap();
        assert!(answer.text().contains("get_current_time"));
        assert_eq!(server.log().last().unwrap().reply.as_ref().unwrap().calls.len(), 1);
    }
}

#[tokio::test]
async fn a_window_can_be_cut_in_silence() {
    let server = with_models(&[("demo", 1_000, 100)]).await;
    for protocol in ALL {
        let long = words(600);
        let mut ask = protocol.chat(&[&long, "Fine.", &long, "Fine.", "And now?"]);
        if protocol == Protocol::Anthropic {
            ask["max_tokens"] = 10.into();
        }
        assert_eq!(protocol.send(&server, Form::Stream, &ask).await.unwrap().status, 400);
        server.push(Step::Fault(Fault::SilentTruncation));
        let answer = protocol.send(&server, Form::Stream, &ask).await.unwrap();
        assert_eq!(answer.status, 200, "{protocol:?} {}", answer.text());
        // The second long message with its neighbours, the question and the request.
        assert_eq!(protocol.usage(&answer, Form::Stream).0, 6 + 604 + 6 + 7 + 3, "{protocol:?}");
    }
}

#[tokio::test]
async fn usage_can_be_missing_or_made_up() {
    let server = server().await;
    for protocol in ALL {
        for form in FORMS {
            let answer = struck(&server, protocol, form, Fault::NoUsage).await.unwrap();
            let text = answer.text();
            let text = text.replace("max_output_tokens", "");
            assert!(!text.contains("_tokens\"") && !text.contains("usageMetadata"), "{protocol:?} {text}");
            let usage = Usage { input: 700, cache_read: 200, cache_write: 0, output: 9, reasoning: 0 };
            server.push(Step::Usage { usage, then: Box::new(Step::Model) });
            let answer = protocol.send(&server, form, &protocol.ask("hi")).await.unwrap();
            assert_eq!(protocol.usage(&answer, form), (900, 200, 9), "{protocol:?} {form:?}");
        }
    }
}

#[tokio::test]
async fn redirects_point_elsewhere() {
    let server = server().await;
    let fault = Fault::Redirect("https://elsewhere.example/v1".into());
    let answer = struck(&server, Protocol::OpenAi, Form::Stream, fault).await.unwrap();
    assert_eq!((answer.status, answer.header("location")), (307, Some("https://elsewhere.example/v1")));
    let hostile = Fault::Redirect("https://x\r\nset-cookie: a=b".into());
    let answer = struck(&server, Protocol::OpenAi, Form::Stream, hostile).await.unwrap();
    assert_eq!((answer.status, answer.header("set-cookie")), (307, None));
}

#[tokio::test]
async fn steps_are_taken_in_order_and_then_the_model_speaks() {
    let server = server().await;
    for step in
        [Step::Reply("one".into()), Step::Model, Step::Fault(Fault::Overloaded), Step::Reply("two".into())]
    {
        server.push(step);
    }
    let mut said = Vec::new();
    for _ in 0..5 {
        let ask = Protocol::OpenAi.ask("remember: a = 1");
        let answer = Protocol::OpenAi.send(&server, Form::Whole, &ask).await.unwrap();
        said.push(match answer.status {
            200 => Protocol::OpenAi.text(&answer, Form::Whole),
            status => status.to_string(),
        });
    }
    assert_eq!(said, ["one", "Noted: a = 1.", "503", "two", "Noted: a = 1."]);
}
