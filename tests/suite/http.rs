//! The client against a server on this machine that answers, stalls, breaks off and lies.
//!
//! Times are short; the upper bounds leave room for a busy machine.

mod continued;
mod counting;
mod ends;

use oneclaw_model::{ProviderKind, Request, RequestMessage, ToolSpec, Usage};
use oneclaw_providers::{
    ApiKey, Cleartext, Client, Endpoint, EventStream, Profile, ProviderError, Reply, StopReason, StreamEvent,
    Timing,
};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex, Once};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

// ---- the server ----

/// What happens to a request.
#[derive(Clone)]
pub(crate) enum Act {
    /// These bytes, then the end of the connection.
    Send(String),
    /// These bytes, then nothing until the client goes away.
    Hold(String),
    /// These bytes over and over until the client goes away.
    Pour(String, String),
    /// The same with a pause before each, as often as that.
    Drip(String, String, Duration, usize),
}

impl Act {
    /// A whole answer.
    pub fn answer(status: &str, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n");
        Self::Send(head + body)
    }

    /// A successful one.
    pub fn json(body: serde_json::Value) -> Self {
        Self::answer("200 OK", "content-type: application/json\r\n", &body.to_string())
    }

    fn stream(body: &str) -> Self {
        Self::answer("200 OK", "content-type: text/event-stream\r\n", body)
    }

    fn close() -> Self {
        Self::Send(String::new())
    }
}

/// Answers by a script and remembers what it was asked.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    /// How many bytes were taken from an act when the client went away.
    gone: mpsc::UnboundedReceiver<usize>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// One act for each request; the last one for all that follow.
    async fn start(acts: Vec<Act>) -> Self {
        Self::with(move |number, _| acts[number.min(acts.len() - 1)].clone()).await
    }

    /// Acts by number and text of the request.
    pub async fn with(act: impl Fn(usize, &str) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (sender, gone) = mpsc::unbounded_channel();
        let (known, act) = (requests.clone(), Arc::new(act));
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, known.clone(), act.clone(), sender.clone()));
            }
        });
        Self { address, requests, gone, task }
    }

    pub fn endpoint(&self, kind: ProviderKind) -> Endpoint {
        Endpoint { kind, base_url: format!("http://{}/v1", self.address), key: Some(ApiKey::new(KEY.into())) }
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(
    mut socket: TcpStream,
    requests: Arc<Mutex<Vec<String>>>,
    act: Arc<impl Fn(usize, &str) -> Act>,
    gone: mpsc::UnboundedSender<usize>,
) {
    let Some(request) = read_request(&mut socket).await else { return };
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.len() - 1
    };
    match act(number, &request) {
        Act::Send(bytes) => {
            let _ = socket.write_all(bytes.as_bytes()).await;
            let _ = socket.shutdown().await;
        }
        Act::Hold(bytes) => {
            socket.write_all(bytes.as_bytes()).await.unwrap();
            let mut rest = [0; 64];
            while !matches!(socket.read(&mut rest).await, Ok(0) | Err(_)) {}
            let _ = gone.send(bytes.len());
        }
        Act::Drip(head, bytes, pause, times) => {
            let mut is_there = socket.write_all(head.as_bytes()).await.is_ok();
            for _ in 0..times {
                tokio::time::sleep(pause).await;
                is_there = is_there && socket.write_all(bytes.as_bytes()).await.is_ok();
            }
            let _ = socket.shutdown().await;
        }
        Act::Pour(head, bytes) => {
            let mut written = 0;
            let mut next = head;
            while written < 200_000_000 && socket.write_all(next.as_bytes()).await.is_ok() {
                written += next.len();
                next.clone_from(&bytes);
            }
            let _ = gone.send(written);
        }
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(text);
            }
        }
        let mut more = [0; 4_096];
        match socket.read(&mut more).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&more[..count]),
        }
    }
}

// ---- what is asked ----

const KEY: &str = "hush-0123456789-secret";
const MODEL: &str = "gpt-4o";

const HI: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";

fn hi() -> Act {
    Act::stream(&format!("{HI}{STOP}"))
}

fn usage() -> Usage {
    Usage { input: 9, output: 2, ..Usage::default() }
}

fn whole_reply() -> Vec<StreamEvent> {
    vec![StreamEvent::Text("Hi".into()), StreamEvent::Usage(usage()), StreamEvent::Stopped(StopReason::End)]
}

fn request() -> Request {
    let tool = ToolSpec {
        name: "look".into(),
        description: String::new(),
        parameters: serde_json::json!({}),
        protected: false,
    };
    let message = RequestMessage::User { text: "Hello".into(), attachments: vec![] };
    Request { system: None, tools: vec![tool], messages: vec![message], max_output: Some(50) }
}

const TIMING: Timing = Timing {
    connect: Duration::from_secs(2),
    idle: Duration::from_secs(20),
    quiet: Duration::from_secs(60),
    attempts: 3,
    backoff: Duration::from_millis(10),
};

/// What a busy machine may take longer.
const GRACE: Duration = Duration::from_secs(5);

/// For servers that are silent on purpose.
const IMPATIENT: Timing = Timing { idle: Duration::from_millis(300), ..TIMING };

fn client() -> Client {
    watch_the_log();
    Client::new(TIMING, Cleartext::default()).unwrap()
}

async fn open(server: &Server) -> Result<EventStream, ProviderError> {
    client()
        .stream(
            &server.endpoint(ProviderKind::OpenAi),
            &Profile::of(&server.endpoint(ProviderKind::OpenAi), MODEL),
            &request(),
        )
        .await
}

async fn open_impatiently(server: &Server) -> Result<EventStream, ProviderError> {
    let client = Client::new(IMPATIENT, Cleartext::default()).unwrap();
    client
        .stream(
            &server.endpoint(ProviderKind::OpenAi),
            &Profile::of(&server.endpoint(ProviderKind::OpenAi), MODEL),
            &request(),
        )
        .await
}

async fn rest(stream: &mut EventStream) -> (Vec<StreamEvent>, Option<ProviderError>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert_eq!(stream.next().await, None, "something after an error");
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// The reply, or the error that came before or in it.
async fn ask(server: &Server) -> Result<Vec<StreamEvent>, ProviderError> {
    let (events, error) = rest(&mut open(server).await?).await;
    error.map_or(Ok(events), Err)
}

// ---- the log ----

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Listener;

impl log::Log for Listener {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        LOG.lock().unwrap().push(format!("{} {}", record.target(), record.args()));
    }
    fn flush(&self) {}
}

/// From now on everything that any library logs is kept.
pub(crate) fn watch_the_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&Listener).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
    });
}

/// Target and text of what was logged so far, by any test.
pub(crate) fn logged() -> Vec<String> {
    LOG.lock().unwrap().clone()
}

// ---- replies ----

#[tokio::test]
async fn a_reply_comes_in_and_the_key_went_out() {
    let server = Server::start(vec![hi()]).await;
    assert_eq!(ask(&server).await, Ok(whole_reply()));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!(serde_json::from_str::<serde_json::Value>(body).unwrap()["model"], MODEL);
}

#[tokio::test]
async fn each_service_has_its_path_and_its_header() {
    let server = Server::start(vec![Act::answer("400 Bad Request", "", "{\"error\":\"x\"}")]).await;
    for (kind, path, header) in [
        (ProviderKind::Anthropic, "POST /v1/messages HTTP", "x-api-key: "),
        (ProviderKind::Gemini, "POST /v1/models/m:streamGenerateContent?alt=sse HTTP", "x-goog-api-key: "),
    ] {
        let _ = client()
            .stream(&server.endpoint(kind), &Profile::of(&server.endpoint(kind), "m"), &request())
            .await;
        let seen = server.requests().pop().unwrap();
        assert!(seen.starts_with(path), "{seen}");
        assert!(seen.contains(&format!("{header}{KEY}\r\n")), "{seen}");
        assert_eq!(seen.contains("anthropic-version: 2023-06-01"), kind == ProviderKind::Anthropic);
        assert!(!seen.contains("authorization:"), "{seen}");
    }
    let bare = Endpoint { key: None, ..server.endpoint(ProviderKind::OpenAi) };
    let _ = client().stream(&bare, &Profile::of(&bare, "m"), &request()).await;
    assert!(!server.requests().pop().unwrap().contains("authorization:"));
}

#[tokio::test]
async fn a_reply_in_pieces_is_the_same_reply() {
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let mut body = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    let text = format!("{HI}{STOP}");
    let (one, two) = text.split_at(17);
    body += &(chunk(one) + &chunk(two) + "0\r\n\r\n");
    // The connection stays open: the end of the reply does not wait for it.
    let server = Server::start(vec![Act::Hold(body)]).await;
    assert_eq!(ask(&server).await, Ok(whole_reply()));
}

#[tokio::test]
async fn a_completion_is_one_text_without_tools() {
    let server = Server::start(vec![hi()]).await;
    let reply = client()
        .complete(
            &server.endpoint(ProviderKind::OpenAi),
            &Profile::of(&server.endpoint(ProviderKind::OpenAi), MODEL),
            &request(),
        )
        .await;
    let wanted = Reply {
        text: "Hi".into(),
        stop: StopReason::End,
        usage: Some(usage()),
        has_reasoning: false,
        calls: 0,
    };
    assert_eq!(reply, Ok(wanted));
    assert!(!server.requests()[0].contains("\"tools\""));
}

// ---- silence and breaks ----

#[tokio::test]
async fn a_refused_connection_is_a_network_error() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let endpoint = Endpoint { kind: ProviderKind::OpenAi, base_url, key: None };
    let error = client().stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await.unwrap_err();
    assert!(matches!(&error, ProviderError::Network { detail } if detail.contains("refused")), "{error}");
}

#[tokio::test]
async fn silence_before_the_answer_ends_the_wait_once() {
    let server = Server::start(vec![Act::Hold(String::new())]).await;
    let start = Instant::now();
    let wanted =
        ProviderError::Timeout { what: "the service's answer", after: IMPATIENT.idle, retry_after: None };
    assert_eq!(open_impatiently(&server).await.unwrap_err(), wanted);
    assert!(start.elapsed() >= IMPATIENT.idle && start.elapsed() < IMPATIENT.idle + GRACE);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn silence_in_the_middle_comes_after_what_was_said() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let mut server = Server::start(vec![Act::Hold(format!("{head}{HI}data: {{"))]).await;
    let start = Instant::now();
    let mut stream = open_impatiently(&server).await.unwrap();
    let (events, error) = rest(&mut stream).await;
    assert!(start.elapsed() < IMPATIENT.idle + GRACE);
    assert_eq!(events, vec![StreamEvent::Text("Hi".into())]);
    assert_eq!(
        error,
        Some(ProviderError::Timeout {
            what: "the rest of the answer",
            after: IMPATIENT.idle,
            retry_after: None
        })
    );
    assert!(server.gone.recv().await.is_some(), "the connection stays open");
}

#[tokio::test]
async fn silence_before_the_first_event_is_an_error_of_the_call() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: ping\n\n";
    let server = Server::start(vec![Act::Hold(head.into())]).await;
    let start = Instant::now();
    assert!(matches!(open_impatiently(&server).await, Err(ProviderError::Timeout { .. })));
    assert!(start.elapsed() < IMPATIENT.idle + GRACE);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_connection_closed_before_the_answer_is_tried_again() {
    let server = Server::start(vec![Act::close(), Act::close(), hi()]).await;
    assert_eq!(ask(&server).await, Ok(whole_reply()));
    assert_eq!(server.requests().len(), 3);
    let server = Server::start(vec![Act::close()]).await;
    assert!(matches!(ask(&server).await, Err(ProviderError::Network { .. })));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_reply_broken_off_is_not_tried_again() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    let server = Server::start(vec![Act::Send(format!("{head}{HI}data: "))]).await;
    let (events, error) = rest(&mut open(&server).await.unwrap()).await;
    assert_eq!(events, vec![StreamEvent::Text("Hi".into())]);
    assert!(matches!(error, Some(ProviderError::Network { .. })), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let mut server = Server::start(vec![Act::Hold(format!("{head}{HI}"))]).await;
    let stream = open(&server).await.unwrap();
    assert!(server.gone.try_recv().is_err(), "closed too early");
    drop(stream);
    assert!(server.gone.recv().await.is_some());
}

#[tokio::test]
async fn dropping_a_request_closes_its_connection() {
    let mut server = Server::start(vec![Act::Hold(String::new())]).await;
    let endpoint = server.endpoint(ProviderKind::OpenAi);
    let client = client();
    let asking =
        tokio::spawn(
            async move { client.stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await },
        );
    while server.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    asking.abort();
    assert!(server.gone.recv().await.is_some());
    assert_eq!(server.requests().len(), 1);
}

// ---- errors ----

#[tokio::test]
async fn the_service_may_ask_to_wait() {
    let busy =
        Act::answer("429 Too Many Requests", "retry-after: 1\r\n", "{\"error\":{\"message\":\"slow\"}}");
    let server = Server::start(vec![busy, hi()]).await;
    let start = Instant::now();
    assert_eq!(ask(&server).await, Ok(whole_reply()));
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn nobody_waits_for_more_than_a_minute() {
    let busy =
        Act::answer("429 Too Many Requests", "retry-after: 61\r\n", "{\"error\":{\"message\":\"slow\"}}");
    let server = Server::start(vec![busy]).await;
    let wanted =
        ProviderError::RateLimited { retry_after: Some(Duration::from_secs(61)), detail: "slow".into() };
    assert_eq!(ask(&server).await, Err(wanted));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_request_larger_than_the_rate_limit_is_sent_once() {
    let body = "{\"error\":{\"message\":\"on tokens per min (TPM): Limit 100, Requested 200\"}}";
    let server = Server::start(vec![Act::answer("429 Too Many Requests", "retry-after: 0\r\n", body)]).await;
    assert!(matches!(ask(&server).await, Err(error) if !error.is_retryable()));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn faults_that_pass_are_tried_again_and_others_are_not() {
    let status = |status: &str| Act::answer(status, "", "{\"error\":{\"message\":\"no\"}}");
    for (first, requests) in [
        ("529 Overloaded", 2),
        ("500 Internal Server Error", 2),
        ("503 Service Unavailable", 2),
        ("408 Request Timeout", 2),
        ("400 Bad Request", 1),
        ("401 Unauthorized", 1),
        ("404 Not Found", 1),
    ] {
        let server = Server::start(vec![status(first), hi()]).await;
        assert_eq!(ask(&server).await.is_ok(), requests == 2, "{first}");
        assert_eq!(server.requests().len(), requests, "{first}");
    }
}

#[tokio::test]
async fn three_attempts_are_enough() {
    let broken = Act::answer("500 Internal Server Error", "", "{\"error\":{\"message\":\"broken\"}}");
    let server = Server::start(vec![broken]).await;
    let wanted = ProviderError::Overloaded { detail: "broken".into(), retry_after: None };
    assert_eq!(ask(&server).await, Err(wanted));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn an_error_as_the_first_event_is_tried_again() {
    let error = "data: {\"error\":{\"message\":\"Upstream\",\"code\":502}}\n\n";
    let server = Server::start(vec![Act::stream(error), hi()]).await;
    assert_eq!(ask(&server).await, Ok(whole_reply()));
    // After the first event it is the caller's.
    let server = Server::start(vec![Act::stream(&format!("{HI}{error}"))]).await;
    let (events, error) = rest(&mut open(&server).await.unwrap()).await;
    assert_eq!(events, vec![StreamEvent::Text("Hi".into())]);
    assert_eq!(error, Some(ProviderError::Overloaded { detail: "Upstream".into(), retry_after: None }));
    assert_eq!(server.requests().len(), 1);
}

/// What is not known is nobody's overload: the same request would most likely end the same way.
#[tokio::test]
async fn an_unknown_error_as_the_first_event_is_not_tried_again() {
    for error in [r#"{"error":{"message":"Flux","code":"flux_error"}}"#, r#"{"error":"it broke"}"#] {
        let server = Server::start(vec![Act::stream(&format!("data: {error}\n\n")), hi()]).await;
        assert!(matches!(ask(&server).await, Err(ProviderError::Reported { .. })), "{error}");
        assert_eq!(server.requests().len(), 1, "{error}");
    }
}

#[tokio::test]
async fn a_completion_is_sent_once() {
    for act in
        [Act::close(), Act::answer("500 Internal Server Error", "", ""), Act::answer("429 Slow", "", "{}")]
    {
        let server = Server::start(vec![act, hi()]).await;
        let reply = client()
            .complete(
                &server.endpoint(ProviderKind::OpenAi),
                &Profile::of(&server.endpoint(ProviderKind::OpenAi), MODEL),
                &request(),
            )
            .await;
        assert!(matches!(reply, Err(error) if error.is_retryable()));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let other = Server::start(vec![hi()]).await;
    let location = format!("location: http://{}/v1/elsewhere?token=s3cret\r\n", other.address);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let server = Server::start(vec![Act::answer(status, &location, "")]).await;
        let detail = "the service redirects to 127.0.0.1; check the address".into();
        assert_eq!(ask(&server).await, Err(ProviderError::InvalidRequest { detail }));
        assert_eq!(server.requests().len(), 1);
    }
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn a_web_page_is_no_reply() {
    let page = Act::answer("200 OK", "content-type: text/html; charset=utf-8\r\n", "<html>Welcome</html>");
    let server = Server::start(vec![page]).await;
    assert!(matches!(ask(&server).await, Err(ProviderError::Protocol { .. })));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_endless_error_is_cut() {
    let head = "HTTP/1.1 400 Bad Request\r\n\r\n{\"error\":{\"message\":\"".to_owned();
    let mut server = Server::start(vec![Act::Pour(head, "x".repeat(10_000))]).await;
    let error = ask(&server).await.unwrap_err();
    let ProviderError::InvalidRequest { detail } = error else { panic!("{error}") };
    assert_eq!(detail.chars().count(), 300);
    // What lies in the buffers of the system counts as written.
    let written = server.gone.recv().await.unwrap();
    assert!(written < 100_000_000, "{written} bytes were taken");
}

// ---- secrets ----

#[tokio::test]
async fn the_key_is_in_no_error_log_or_debug_output() {
    let said = format!("your key {KEY} is wrong{}{KEY}", " ".repeat(240));
    let error = format!("{{\"error\":{{\"message\":\"{said}\"}}}}");
    let location = format!("location: http://127.0.0.1/{KEY}\r\n");
    let to_host = format!("location: http://{KEY}.example/\r\n");
    let acts = [
        Act::answer("401 Unauthorized", "", &error),
        Act::answer("500 Internal Server Error", "", &said),
        Act::answer("302 Found", &location, ""),
        Act::answer("302 Found", &to_host, ""),
        Act::stream(&format!("data: {error}\n\n")),
        Act::stream(&format!("{HI}data: {error}\n\n")),
        Act::stream(&format!("{HI}data: {KEY}\n\n")),
        Act::stream(KEY),
        Act::close(),
        hi(),
    ];
    let mut shown = String::new();
    for act in acts {
        let server = Server::start(vec![act]).await;
        let endpoint = server.endpoint(ProviderKind::OpenAi);
        let client = client();
        let opened = client.stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await;
        shown += &format!(
            "{client:?} {endpoint:?} {opened:?} {:?} {}",
            endpoint.key,
            endpoint.key.clone().unwrap()
        );
        let error = match opened {
            Ok(mut stream) => rest(&mut stream).await.1,
            Err(error) => Some(error),
        };
        if let Some(error) = error {
            shown += &format!("{error} {error:?}\n");
        }
    }
    assert!(shown.contains("[redacted]"));
    let log = LOG.lock().unwrap().join("\n");
    assert!(log.contains("attempt 1 failed"), "the log was not watched");
    let start = "hush-012";
    for (what, text) in [("shown", &shown), ("log", &log)] {
        let line = text.lines().find(|line| line.contains(start));
        assert_eq!(line, None, "{what}");
    }
}

#[tokio::test]
async fn a_key_that_is_no_header_is_refused() {
    let server = Server::start(vec![hi()]).await;
    let endpoint =
        Endpoint { key: Some(ApiKey::new("a\nb".into())), ..server.endpoint(ProviderKind::OpenAi) };
    let error = client().stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await.unwrap_err();
    assert!(matches!(error, ProviderError::Auth { .. }));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn unencrypted_words_stay_on_this_machine() {
    // 0.0.0.0 leads here too, and is no loopback address.
    let server = Server::start(vec![hi()]).await;
    let base_url = format!("http://0.0.0.0:{}/v1", server.address.port());
    let endpoint = Endpoint { base_url, ..server.endpoint(ProviderKind::OpenAi) };
    let refused = |error: ProviderError| matches!(error, ProviderError::InvalidRequest { detail } if detail.contains("encryption"));
    let client = client();
    assert!(refused(client.stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await.unwrap_err()));
    assert!(refused(
        client.complete(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await.unwrap_err()
    ));
    assert!(refused(client.models(&endpoint).await.unwrap_err()));
    assert_eq!(server.requests().len(), 0);
    let allowed = Client::new(TIMING, Cleartext { hosts: vec!["0.0.0.0".into()] }).unwrap();
    assert!(allowed.stream(&endpoint, &Profile::of(&endpoint, MODEL), &request()).await.is_ok());
}

// ---- proxies: the environment of a process is its own, so these run in one of theirs ----

const CHILD: &str = "ONECLAW_TEST_PROXIED";

#[tokio::test]
async fn proxies_are_used_but_not_for_this_machine() {
    if std::env::var_os(CHILD).is_some() {
        let away =
            Endpoint { kind: ProviderKind::OpenAi, base_url: "http://away.example/v1".into(), key: None };
        let client = Client::new(TIMING, Cleartext { hosts: vec!["away.example".into()] }).unwrap();
        client.stream(&away, &Profile::of(&away, MODEL), &request()).await.unwrap();
        let here = Server::start(vec![hi()]).await;
        assert_eq!(ask(&here).await, Ok(whole_reply()));
        return;
    }
    let proxy = Server::start(vec![hi()]).await;
    let this = std::env::current_exe().unwrap();
    let address = format!("http://{}", proxy.address);
    let child = tokio::task::spawn_blocking(move || {
        let mut command = Command::new(this);
        command.args(["--exact", "http::proxies_are_used_but_not_for_this_machine"]);
        for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY"] {
            command.env(name, &address);
        }
        command.env_remove("NO_PROXY").env_remove("no_proxy").env(CHILD, "1").output().unwrap()
    });
    let output = child.await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let requests = proxy.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].starts_with("POST http://away.example/v1/chat/completions "), "{}", requests[0]);
}

#[test]
fn streams_may_move_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<EventStream>();
    is_send::<Client>();
}
