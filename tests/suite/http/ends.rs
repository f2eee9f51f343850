//! When a reply is over and when a request is sent again: connections that break, fall silent or stay open too long.

use super::*;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
const LONGER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
const REASON: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n";

/// A failure in the body is not one before the first byte.
#[tokio::test]
async fn a_connection_that_breaks_after_the_first_byte_is_not_tried_again() {
    for first in [": ping\n\n", "d", "\n", "data: {\"choices\":[]}\n\n"] {
        let server = Server::start(vec![Act::Send(format!("{LONGER}{first}")), hi()]).await;
        let error = open(&server).await.unwrap_err();
        assert!(matches!(error, ProviderError::Network { .. }), "{first:?}: {error}");
        assert_eq!(server.requests().len(), 1, "{first:?}");
    }
    // Before it, it is: the headers alone are no reply.
    let server = Server::start(vec![Act::Send(LONGER.into()), hi()]).await;
    assert_eq!(ask(&server).await, Ok(whole_reply()));
    assert_eq!(server.requests().len(), 2);
}

/// An error object is the service's word, and its words may ask for another attempt, as long as nothing was said.
#[tokio::test]
async fn an_error_object_after_a_comment_is_tried_again() {
    for code in [502, 504] {
        let error = format!("data: {{\"error\":{{\"message\":\"Upstream\",\"code\":{code}}}}}\n\n");
        let server = Server::start(vec![Act::stream(&format!(": ping\n\n{error}")), hi()]).await;
        assert_eq!(ask(&server).await, Ok(whole_reply()));
        assert_eq!(server.requests().len(), 2, "{code}");
    }
}

#[tokio::test]
async fn a_list_that_breaks_off_is_not_asked_for_again() {
    let broken = "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{\"data\":[".to_owned();
    let server = Server::start(vec![Act::Send(broken), hi()]).await;
    let error = client().models(&server.endpoint(ProviderKind::OpenAi)).await.unwrap_err();
    assert!(matches!(error, ProviderError::Network { .. }), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_reply_that_gave_its_reason_is_whole_when_the_connection_drops() {
    for (body, usage) in [
        (format!("{HI}{REASON}"), None),
        (format!("{HI}{REASON}{USAGE}"), Some(usage())),
        (format!("{HI}{REASON}{USAGE}data: [DON"), Some(usage())),
    ] {
        let server = Server::start(vec![Act::Send(format!("{LONGER}{body}"))]).await;
        let mut wanted = whole_reply();
        if usage.is_none() {
            wanted.remove(1);
        }
        assert_eq!(ask(&server).await, Ok(wanted));
    }
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}]}\r\n\r\n";
    let server = Server::start(vec![Act::Send(format!("{LONGER}{gemini}"))]).await;
    let reply = client()
        .complete(
            &server.endpoint(ProviderKind::Gemini),
            &Profile::of(&server.endpoint(ProviderKind::Gemini), "gemini-2.5-flash"),
            &request(),
        )
        .await;
    assert_eq!(reply.map(|reply| (reply.text, reply.stop)), Ok(("Hi".into(), StopReason::End)));
}

/// No end mark, and the connection stays open: nobody waits as long as for a reply.
#[tokio::test]
async fn a_reply_that_gave_its_reason_is_waited_for_briefly() {
    for (reason, stop) in [
        (REASON.to_owned(), StopReason::End),
        (REASON.replace("{}", "{\"content\":\"!\"}").replace("stop", "length"), StopReason::Length),
    ] {
        let mut server = Server::start(vec![Act::Hold(format!("{HEAD}{HI}{reason}{USAGE}"))]).await;
        let start = Instant::now();
        let events = ask(&server).await.unwrap();
        assert_eq!(events.last(), Some(&StreamEvent::Stopped(stop)));
        assert!(events.contains(&StreamEvent::Usage(usage())));
        assert!(start.elapsed() < Duration::from_secs(3) + GRACE, "{:?}", start.elapsed());
        assert!(server.gone.recv().await.is_some(), "the connection stays open");
    }
}

/// Some servers give a reason with every piece: it is no reason to stop listening.
#[tokio::test]
async fn a_reason_with_every_piece_ends_nothing_early() {
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\n";
    let server = Server::start(vec![Act::Hold(format!("{HEAD}{piece}"))]).await;
    let start = Instant::now();
    let timing = Timing { idle: Duration::from_secs(4), ..TIMING };
    let client = Client::new(timing, Cleartext::default()).unwrap();
    let mut stream = client
        .stream(
            &server.endpoint(ProviderKind::OpenAi),
            &Profile::of(&server.endpoint(ProviderKind::OpenAi), MODEL),
            &request(),
        )
        .await
        .unwrap();
    let (events, error) = rest(&mut stream).await;
    // In the end it has given a reason all the same.
    assert_eq!((events.last(), error), (Some(&StreamEvent::Stopped(StopReason::End)), None));
    assert!(start.elapsed() >= timing.idle && start.elapsed() < timing.idle + GRACE);
}

/// The last word before a connection drops counts, if it is an error.
#[tokio::test]
async fn an_error_before_the_connection_drops_is_the_error() {
    let error = "data: {\"error\":{\"message\":\"wrong\",\"type\":\"invalid_request_error\"}}\n";
    let server = Server::start(vec![Act::Send(format!("{LONGER}{HI}{error}"))]).await;
    let (events, error) = rest(&mut open(&server).await.unwrap()).await;
    assert_eq!(events, vec![StreamEvent::Text("Hi".into())]);
    assert_eq!(error, Some(ProviderError::InvalidRequest { detail: "wrong".into() }));
}

#[tokio::test]
async fn a_service_that_gave_up_may_ask_to_wait_too() {
    for status in ["408 Request Timeout", "504 Gateway Timeout", "524 Timeout"] {
        let server = Server::start(vec![Act::answer(status, "retry-after: 1\r\n", "{}"), hi()]).await;
        let start = Instant::now();
        assert_eq!(ask(&server).await, Ok(whole_reply()));
        assert!(start.elapsed() >= Duration::from_secs(1), "{status}");
        assert!(start.elapsed() < Duration::from_secs(1) + GRACE, "{status}");
        let server = Server::start(vec![Act::answer(status, "retry-after: 61\r\n", "{}")]).await;
        assert_eq!(ask(&server).await.unwrap_err().retry_after(), Some(Duration::from_secs(61)));
        assert_eq!(server.requests().len(), 1, "{status}");
    }
}

/// "Come back at once" to everyone is how a service in trouble stays there.
#[tokio::test]
async fn at_once_is_not_at_once() {
    let past = "retry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    for header in ["retry-after: 0\r\n", "retry-after-ms: 0\r\n", past] {
        let busy = Act::answer("429 Too Many Requests", header, "{\"error\":{\"message\":\"slow\"}}");
        let server = Server::start(vec![busy.clone(), busy, hi()]).await;
        let timing = Timing { backoff: Duration::from_millis(200), ..TIMING };
        let client = Client::new(timing, Cleartext::default()).unwrap();
        let start = Instant::now();
        client
            .stream(
                &server.endpoint(ProviderKind::OpenAi),
                &Profile::of(&server.endpoint(ProviderKind::OpenAi), MODEL),
                &request(),
            )
            .await
            .unwrap();
        // Half of 200 and half of 400 at least.
        assert!(start.elapsed() >= Duration::from_millis(300), "{header}");
    }
}

/// Pings keep a connection, not a reply: the wait for the next part of it ends, whatever else comes.
#[tokio::test]
async fn bytes_that_say_nothing_do_not_keep_a_reply_open() {
    let timing = Timing { idle: Duration::from_millis(400), quiet: Duration::from_millis(900), ..TIMING };
    let wanted =
        ProviderError::Timeout { what: "the next part of the reply", after: timing.quiet, retry_after: None };
    let pause = Duration::from_millis(60);
    let empty = "data: {\"choices\":[{\"delta\":{}}]}\n\n";
    for ping in [": ping\n\n", "\n", "event: ping\ndata: {}\n\n", empty] {
        for said in ["", HI] {
            let act = Act::Drip(format!("{HEAD}{said}"), ping.to_owned(), pause, 100);
            let server = Server::start(vec![act, hi()]).await;
            let client = Client::new(timing, Cleartext::default()).unwrap();
            let endpoint = server.endpoint(ProviderKind::OpenAi);
            let start = Instant::now();
            let opened = client.stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await;
            let error = match opened {
                Ok(mut stream) => rest(&mut stream).await.1,
                Err(error) => Some(error),
            };
            assert_eq!(error.as_ref(), Some(&wanted), "{ping:?} after {said:?}");
            assert!(start.elapsed() >= timing.quiet, "{ping:?} after {said:?}");
            assert!(start.elapsed() < timing.quiet + GRACE, "{ping:?} after {said:?}");
            assert_eq!(server.requests().len(), 1, "it is not sent again");
        }
    }
}

/// A slow reply is one: each part of it starts the wait anew.
#[tokio::test]
async fn a_slow_reply_with_pings_between_its_parts_is_waited_for() {
    let timing = Timing { idle: Duration::from_millis(400), quiet: Duration::from_millis(900), ..TIMING };
    let act = Act::Drip(HEAD.to_owned(), format!(": ping\n\n{HI}"), Duration::from_millis(300), 6);
    let server = Server::start(vec![act]).await;
    let client = Client::new(timing, Cleartext::default()).unwrap();
    let endpoint = server.endpoint(ProviderKind::OpenAi);
    let mut stream = client.stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await.unwrap();
    let (events, error) = rest(&mut stream).await;
    assert_eq!(events.len(), 6);
    // It ends without an end mark, after twice the wait.
    assert!(!matches!(error, Some(ProviderError::Timeout { .. })), "{error:?}");
}
