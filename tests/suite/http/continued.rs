//! Replies that Gemini gives in several bodies: the client asks for the rest, and the caller sees one reply.

use super::*;
use serde_json::{Value, json};

/// A body with one event: a piece of text, why it ends, and the output tokens of this body.
fn piece(text: &str, reason: &str, token: Option<&str>, output: u64) -> String {
    let candidate =
        json!({"content": {"parts": [{"text": text}]}, "finishReason": reason, "continuationToken": token});
    let usage = json!({"promptTokenCount": 9, "candidatesTokenCount": output});
    format!("data: {}\r\n\r\n", json!({"candidates": [candidate], "usageMetadata": usage}))
}

fn part(text: &str, token: &str, output: u64) -> Act {
    Act::stream(&piece(text, "CONTINUATION", Some(token), output))
}

fn last(text: &str, output: u64) -> Act {
    Act::stream(&piece(text, "STOP", None, output))
}

fn question(max_output: Option<u64>) -> Request {
    Request { max_output, ..request() }
}

async fn open_gemini(server: &Server, max_output: Option<u64>) -> Result<EventStream, ProviderError> {
    let endpoint = server.endpoint(ProviderKind::Gemini);
    client().stream(&endpoint, &Profile::of(&endpoint, "gemini-4-argon"), &question(max_output)).await
}

/// The text of a reply, its last usage and why it ended.
type Heard = (String, Usage, StopReason);

async fn hear(server: &Server, max_output: Option<u64>) -> Result<Heard, ProviderError> {
    let mut stream = open_gemini(server, max_output).await?;
    let (events, error) = rest(&mut stream).await;
    let mut heard = (String::new(), Usage::default(), None);
    for event in events {
        assert_eq!(heard.2, None, "something after the stop");
        match event {
            StreamEvent::Text(text) => heard.0.push_str(&text),
            StreamEvent::Usage(usage) => heard.1 = usage,
            StreamEvent::Stopped(stop) => heard.2 = Some(stop),
            other => panic!("{other:?}"),
        }
    }
    match error {
        Some(error) => Err(error),
        None => Ok((heard.0, heard.1, heard.2.expect("a reason"))),
    }
}

fn bodies(server: &Server) -> Vec<Value> {
    let body = |request: String| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    server.requests().into_iter().map(body).collect()
}

fn counted(output: u64) -> Usage {
    Usage { input: 9, output, ..Usage::default() }
}

#[tokio::test]
async fn a_reply_in_several_bodies_is_one_reply() {
    let server = Server::start(vec![part("a", "T\"1", 10), part("b", "T2", 20), last("c", 3)]).await;
    assert_eq!(hear(&server, Some(1_000)).await, Ok(("abc".into(), counted(33), StopReason::End)));
    let mut bodies = bodies(&server);
    let tokens: Vec<Option<Value>> =
        bodies.iter_mut().map(|body| body.as_object_mut().unwrap().remove("continuationToken")).collect();
    assert_eq!(tokens, [None, Some(json!("T\"1")), Some(json!("T2"))]);
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert!(server.requests().iter().all(|request| request.contains(&format!("x-goog-api-key: {KEY}"))));
}

#[tokio::test]
async fn a_completion_is_continued_too() {
    let server = Server::start(vec![part("a", "T1", 10), last("b", 3)]).await;
    let endpoint = server.endpoint(ProviderKind::Gemini);
    let profile = Profile::of(&endpoint, "gemini-4-argon");
    let reply = client().complete(&endpoint, &profile, &question(Some(1_000))).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage, reply.stop), ("ab", Some(counted(13)), StopReason::End));
}

#[tokio::test]
async fn a_reply_is_continued_sixteen_times() {
    let server = Server::start(vec![part("a", "T", 10)]).await;
    assert_eq!(hear(&server, None).await, Ok(("a".repeat(17), counted(170), StopReason::Length)));
    assert_eq!(server.requests().len(), 17);
}

#[tokio::test]
async fn a_reply_is_no_longer_than_was_asked_for() {
    // No further request once it is as long, ...
    let server = Server::start(vec![part("a", "T", 10)]).await;
    assert_eq!(hear(&server, Some(30)).await, Ok(("aaa".into(), counted(30), StopReason::Length)));
    assert_eq!(server.requests().len(), 3);
    // ... and no further reading in a body that goes beyond.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let endless = Act::Pour(head.to_owned(), piece("b", "", None, 25));
    let server = Server::start(vec![part("a", "T", 10), endless]).await;
    let (text, usage, stop) = hear(&server, Some(30)).await.unwrap();
    assert!(text.starts_with("ab") && text.len() < 10_000, "{}", text.len());
    assert_eq!((usage, stop), (counted(35), StopReason::Length));
}

#[tokio::test]
async fn a_continuation_that_fails_for_a_moment_is_tried_again() {
    let busy = Act::answer("503 Service Unavailable", "", "{\"error\":{\"message\":\"overloaded\"}}");
    let server = Server::start(vec![part("a", "T1", 10), busy.clone(), last("b", 3)]).await;
    assert_eq!(hear(&server, None).await, Ok(("ab".into(), counted(13), StopReason::End)));
    // What has come so far is not asked for again.
    let server = Server::start(vec![part("a", "T1", 10), busy]).await;
    let mut stream = open_gemini(&server, None).await.unwrap();
    let (events, error) = rest(&mut stream).await;
    assert_eq!(events, [StreamEvent::Text("a".into()), StreamEvent::Usage(counted(10))]);
    assert!(matches!(error, Some(ProviderError::Overloaded { .. })), "{error:?}");
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn a_continuation_that_breaks_off_is_an_error() {
    let longer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    let broken = Act::Send(format!("{longer}{}", piece("b", "", None, 1)));
    let page = Act::answer("200 OK", "content-type: text/html\r\n", "<html>");
    for act in [broken, page, Act::stream("")] {
        let server = Server::start(vec![part("a", "T1", 10), act]).await;
        let error = hear(&server, None).await.unwrap_err();
        assert!(matches!(error, ProviderError::Network { .. } | ProviderError::Protocol { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn dropping_a_reply_between_its_bodies_stops_it() {
    let mut server = Server::start(vec![part("a", "T1", 10), Act::Hold(String::new())]).await;
    let mut stream = open_gemini(&server, None).await.unwrap();
    let asking = tokio::spawn(async move { while stream.next().await.is_some() {} });
    while server.requests().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    asking.abort();
    assert!(server.gone.recv().await.is_some());
    assert_eq!(server.requests().len(), 2);
}
