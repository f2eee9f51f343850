//! `http_request`.
//!
//! Decides what a model may send, which redirects are followed, how much of an answer is read and how it is
//! written down. Which addresses may be spoken to is decided in [`guard`], what is text in `body`.
//!
//! Proxies of the system or the environment are **not** used: behind a proxy, the addresses that the guard judges
//! would not be the ones that are reached. Where the internet is only reached through a proxy, this tool does not
//! work.
//!
//! Cookies are not kept, answers are not cached, and connections are not kept open after a call.

use super::body::ContentType;
use super::guard::{self, Ask, Guard, Lookup, NotPublic};
use super::shown::http_target;
use super::{Answer, Answering, Tool, quoted, text};
use oneclaw_model::ToolSpec;
use oneclaw_providers::ProviderError;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// What models call it by.
pub const NAME: &str = "http_request";
/// How long a call may take.
pub const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// The most of a body that is read.
pub const MOST_BODY_BYTES: usize = 1_024 * 1_024;
/// The most redirects that are followed.
pub const MOST_REDIRECTS: usize = 5;
/// The most characters of an answer's header that are shown.
const MOST_HEADER_CHARS: usize = 500;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/// Headers that belong to the connection, or that would make an answer unreadable.
const REFUSED: [HeaderName; 12] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
    HeaderName::from_static("keep-alive"),
];

/// Headers that may follow a redirect to another host. All others, known or not, may hold secrets.
const HARMLESS: [HeaderName; 5] = [
    header::ACCEPT,
    header::ACCEPT_LANGUAGE,
    header::CONTENT_TYPE,
    header::USER_AGENT,
    header::CONTENT_LANGUAGE,
];

/// Headers of an answer that a model is shown.
const SHOWN: [HeaderName; 10] = [
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::LOCATION,
    header::LAST_MODIFIED,
    header::ETAG,
    header::RETRY_AFTER,
    header::ALLOW,
    header::LINK,
    header::WWW_AUTHENTICATE,
];

/// The tool.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    guard: Guard,
    /// Connects to public addresses only.
    guarded: Client,
    /// For hosts that the user allowed.
    open: Client,
    timeout: Duration,
}

impl HttpRequest {
    /// With that guard. Fails only where TLS cannot be set up.
    pub fn new(guard: Guard) -> Result<Self, ProviderError> {
        Self::with_names(guard, &guard::system())
    }

    /// With another time for a whole call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    fn with_names(guard: Guard, ask: &Ask) -> Result<Self, ProviderError> {
        let tls = oneclaw_providers::tls_config()?;
        let client = |is_guarded: bool| {
            Client::builder()
                .user_agent(concat!("oneclaw/", env!("CARGO_PKG_VERSION")))
                .use_preconfigured_tls(tls.clone())
                .dns_resolver(Arc::new(Lookup::new(Arc::clone(ask), is_guarded)))
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .connect_timeout(CONNECT)
                .pool_max_idle_per_host(0)
                .build()
                .map_err(|error| ProviderError::Network { detail: error.without_url().to_string() })
        };
        Ok(Self { guard, guarded: client(true)?, open: client(false)?, timeout: TIMEOUT })
    }

    async fn fetch(&self, mut asked: Asked) -> Result<String, String> {
        // Part of the time is kept for saying what has come.
        let deadline = Instant::now() + self.timeout.mul_f32(5.0 / 6.0);
        for redirects in 0.. {
            let response = self.send(&asked).await?;
            let Some(target) = redirect(&asked.url, &response) else {
                return shown(&asked, response, redirects, deadline).await;
            };
            if redirects == MOST_REDIRECTS {
                return Err(format!(
                    "More than {MOST_REDIRECTS} redirects; the last one leads to {}.",
                    at(&target)
                ));
            }
            asked.follow(response.status(), target)?;
        }
        Err("There were too many redirects.".to_owned())
    }

    /// One request, and the beginning of its answer.
    async fn send(&self, asked: &Asked) -> Result<Response, String> {
        let url = &asked.url;
        let refused = || {
            format!(
                "{} is not a public address. Only hosts on the public internet can be reached, unless the user allows one.",
                at(url)
            )
        };
        if !self.guard.may_ask(url) {
            return Err(refused());
        }
        let client = if self.guard.allows(url) { &self.open } else { &self.guarded };
        let mut request = client.request(asked.method.clone(), url.clone()).headers(asked.headers.clone());
        if let Some(body) = &asked.body {
            request = request.body(body.clone());
        }
        request.send().await.map_err(|error| {
            if causes(&error).any(|cause| cause.is::<NotPublic>()) { refused() } else { failure(url, &error) }
        })
    }
}

impl Tool for HttpRequest {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: NAME.to_owned(),
            description: "Sends an HTTP request to a public server and returns status, headers and text of the answer. \
                          Redirects are followed."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "http or https address"},
                    "method": {"type": "string", "enum": METHODS, "description": "Default: GET"},
                    "headers": {"type": "object", "description": "Header names and values, all strings"},
                    "body": {"type": "string", "description": "Text to send, for POST, PUT, PATCH and DELETE"}
                },
                "required": ["url"]
            }),
            protected: false,
        }
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(async move {
            let done = match Asked::new(&arguments) {
                Ok(asked) => self.fetch(asked).await,
                Err(fault) => Err(fault),
            };
            match done {
                Ok(text) => Answer::ok(text),
                Err(text) => Answer::failed(text),
            }
        })
    }
}

/// What is to be sent.
#[derive(Debug)]
struct Asked {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<String>,
}

impl Asked {
    fn new(arguments: &Map<String, Value>) -> Result<Self, String> {
        let url = address(text(arguments, "url").unwrap_or_default())?;
        let method = text(arguments, "method").unwrap_or("GET").to_ascii_uppercase();
        if !METHODS.contains(&method.as_str()) {
            return Err(format!(
                "The method \"{}\" is not known; use one of {}.",
                quoted(&method),
                METHODS.join(", ")
            ));
        }
        let method = Method::from_bytes(method.as_bytes()).map_err(|error| error.to_string())?;
        let mut headers = HeaderMap::new();
        for (name, value) in arguments.get("headers").and_then(Value::as_object).into_iter().flatten() {
            let (name, value) = header(name, value)?;
            headers.append(name, value);
        }
        let body = text(arguments, "body").filter(|body| !body.is_empty()).map(str::to_owned);
        if body.is_some() && matches!(method, Method::GET | Method::HEAD) {
            return Err(format!("A {method} request has no body; leave it out or use POST."));
        }
        if let Some(body) = &body
            && !headers.contains_key(header::CONTENT_TYPE)
        {
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(body).is_ok();
            let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        Ok(Self { method, url, headers, body })
    }

    /// The request after a redirect, as browsers do it (Fetch, "HTTP-redirect fetch"); but a body is not given to
    /// another host.
    fn follow(&mut self, status: StatusCode, target: Url) -> Result<(), String> {
        let target = checked(target).map_err(|fault| format!("{} redirects: {fault}", at(&self.url)))?;
        let becomes_get = match status {
            StatusCode::SEE_OTHER => self.method != Method::HEAD,
            StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => self.method == Method::POST,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(header::CONTENT_TYPE);
        }
        if !is_same_host(&self.url, &target) {
            if !matches!(self.method, Method::GET | Method::HEAD) {
                return Err(format!(
                    "{} redirects the {} request to another host, {}; it was not sent there. Call that address \
                     yourself if this is right.",
                    at(&self.url),
                    self.method,
                    at(&target)
                ));
            }
            let kept =
                HARMLESS.iter().filter_map(|name| Some((name.clone(), self.headers.get(name)?.clone())));
            self.headers = kept.collect();
        }
        self.url = target;
        Ok(())
    }
}

/// Whether secrets for one address may go to the other: the same server, or the same on HTTPS instead of HTTP.
fn is_same_host(from: &Url, to: &Url) -> bool {
    let is_upgrade =
        (from.scheme(), from.port()) == ("http", None) && (to.scheme(), to.port()) == ("https", None);
    let is_same = from.scheme() == to.scheme() && from.port_or_known_default() == to.port_or_known_default();
    from.host() == to.host() && (is_same || is_upgrade)
}

/// A model's address.
/// What a request with these arguments acts on, as it is shown to people; `None` where it would not be sent.
pub(super) fn target(arguments: &Map<String, Value>) -> Option<String> {
    let Asked { method, url, .. } = Asked::new(arguments).ok()?;
    let path = url.query().map_or(url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    Some(http_target(method.as_str(), url.host_str()?, url.port(), &path))
}

fn address(url: &str) -> Result<Url, String> {
    let url = url.trim();
    // A parser would drop line breaks and tabs without a word.
    if url.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Err("The URL has spaces, line breaks or control characters; encode them.".to_owned());
    }
    let parsed = Url::parse(url)
        .map_err(|error| format!("\"{}\" is not a complete http or https URL: {error}.", quoted(url)))?;
    checked(parsed)
}

fn checked(url: Url) -> Result<Url, String> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "\"{}:\" addresses cannot be reached; only http and https.",
            quoted(url.scheme())
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("A URL with a user name or password is refused; use an Authorization header.".to_owned());
    }
    Ok(url)
}

fn header(name: &str, value: &Value) -> Result<(HeaderName, HeaderValue), String> {
    let shown = quoted(name);
    let parsed = HeaderName::from_bytes(name.as_bytes());
    let parsed = parsed.map_err(|_| format!("\"{shown}\" is not the name of a header."))?;
    if REFUSED.contains(&parsed) || parsed.as_str().starts_with("proxy-") {
        return Err(format!("The header \"{shown}\" is set by the connection itself; leave it out."));
    }
    let value = match value {
        Value::String(value) => value.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => return Err(format!("The value of the header \"{shown}\" must be a string.")),
    };
    // Neither a line break nor a zero byte passes here.
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| format!("The value of the header \"{shown}\" has line breaks or control characters."))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// Where an answer leads, if it is a redirect that can be followed.
fn redirect(from: &Url, response: &Response) -> Option<Url> {
    let follows = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(header::LOCATION).filter(|_| follows)?;
    from.join(std::str::from_utf8(location.as_bytes()).ok()?).ok()
}

/// An address as it is named to the model: without path and query, where secrets may stand.
fn at(url: &Url) -> String {
    quoted(&url.origin().ascii_serialization())
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

/// What the network said, in words.
fn failure(url: &Url, error: &reqwest::Error) -> String {
    let place = at(url);
    if error.is_timeout() {
        return format!("{place} took no connection within {} s.", CONNECT.as_secs());
    }
    if error.is_builder() {
        return format!("The request to {place} cannot be sent as it is.");
    }
    // The innermost cause says most, and unlike the outermost does not repeat the address.
    let cause = causes(error).last().map(ToString::to_string).unwrap_or_default();
    let what = if error.is_connect() { "cannot be reached" } else { "gave no proper answer" };
    format!("{place} {what}: {}.", quoted(cause.trim_end_matches('.')))
}

/// The answer as the model reads it.
async fn shown(
    asked: &Asked,
    mut response: Response,
    redirects: usize,
    deadline: Instant,
) -> Result<String, String> {
    let status = response.status();
    let mut head = format!("{:?} {}", response.version(), status.as_str());
    if let Some(reason) = status.canonical_reason() {
        let _ = write!(head, " {reason}");
    }
    if redirects > 0 {
        let _ = write!(head, "\nurl: {}", one_line(asked.url.as_str()));
    }
    for name in SHOWN {
        for value in response.headers().get_all(&name) {
            let _ = write!(head, "\n{name}: {}", one_line(&String::from_utf8_lossy(value.as_bytes())));
        }
    }
    let value = |name: HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
    let kind = ContentType::parse(value(header::CONTENT_TYPE).unwrap_or_default());
    let length: Option<u64> = value(header::CONTENT_LENGTH).and_then(|value| value.parse().ok());
    let packed = value(header::CONTENT_ENCODING).filter(|name| !name.eq_ignore_ascii_case("identity"));
    let packed = packed.map(one_line);
    if asked.method == Method::HEAD {
        return Ok(head);
    }
    if packed.is_some() || kind.is_binary() {
        return Ok(described(head, &kind, packed.as_deref(), length));
    }
    let body = Body::read(&mut response, deadline).await;
    if let Some(notice) = body.notice(length) {
        let _ = write!(head, "\nnote: {notice}");
    }
    match kind.decode(&body.bytes, body.end != End::Whole) {
        Some(text) if text.is_empty() => Ok(head),
        Some(text) => Ok(format!("{head}\n\n{text}")),
        None => {
            let read = (body.end == End::Whole).then_some(body.bytes.len() as u64);
            Ok(described(head, &kind, None, read.or(length)))
        }
    }
}

fn described(mut head: String, kind: &ContentType, packed: Option<&str>, length: Option<u64>) -> String {
    let kind = if kind.media.is_empty() { "unknown type" } else { &kind.media };
    let size = length.map_or_else(|| "unknown size".to_owned(), |length| format!("{length} bytes"));
    let packed = packed.map(|name| format!(", packed as {name}")).unwrap_or_default();
    let _ = write!(head, "\n\n[... binary content not shown: {}, {size}{packed} ...]", one_line(kind));
    head
}

fn one_line(text: &str) -> String {
    text.chars().take(MOST_HEADER_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The bytes of an answer, as far as they were read.
struct Body {
    bytes: Vec<u8>,
    end: End,
}

/// Why reading ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Whole,
    Limit,
    Late,
    Broken,
}

impl Body {
    async fn read(response: &mut Response, deadline: Instant) -> Self {
        let mut bytes = Vec::new();
        loop {
            let end = match timeout_at(deadline, response.chunk()).await {
                Err(_) => End::Late,
                Ok(Err(_)) => End::Broken,
                Ok(Ok(None)) => End::Whole,
                Ok(Ok(Some(chunk))) => {
                    let room = MOST_BODY_BYTES.saturating_sub(bytes.len());
                    bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
                    if chunk.len() <= room {
                        continue;
                    }
                    End::Limit
                }
            };
            return Self { bytes, end };
        }
    }

    fn notice(&self, length: Option<u64>) -> Option<String> {
        let read = self.bytes.len();
        let of = length.map(|length| format!(" of {length}")).unwrap_or_default();
        match self.end {
            End::Whole => None,
            End::Limit => Some(format!("only the first {read}{of} bytes were read; more is not taken")),
            End::Late => Some(format!("only {read}{of} bytes came in time")),
            End::Broken => Some(format!("the connection broke after {read}{of} bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::tests::names;
    use super::*;
    use crate::tools::Registry;
    use crate::tools::run::{Called, run};
    use oneclaw_context::Policy;
    use oneclaw_model::ToolStatus;
    use std::net::SocketAddr;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    /// What a server does with a request.
    enum Reply {
        /// These bytes, then the end.
        Bytes(Vec<u8>),
        /// Bytes without end, until the other side is gone.
        Endless,
        /// Nothing, for ever; what is given is said before that.
        Silence(&'static str),
    }

    /// A server on this machine that keeps what it was asked.
    struct Server {
        address: SocketAddr,
        heard: Arc<Mutex<Vec<String>>>,
        sent: Arc<AtomicUsize>,
    }

    impl Server {
        async fn new(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (heard, sent) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
            let (reply, kept, counted) = (Arc::new(reply), Arc::clone(&heard), Arc::clone(&sent));
            tokio::spawn(async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let (reply, kept, counted) =
                        (Arc::clone(&reply), Arc::clone(&kept), Arc::clone(&counted));
                    tokio::spawn(async move {
                        let request = request(&mut stream).await;
                        kept.lock().unwrap().push(request.clone());
                        match reply(&request) {
                            Reply::Bytes(bytes) => stream.write_all(&bytes).await.unwrap_or_default(),
                            Reply::Endless => {
                                let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\n";
                                stream.write_all(head).await.unwrap();
                                while stream.write_all(&[b'x'; 65_536]).await.is_ok() {
                                    counted.fetch_add(65_536, Ordering::SeqCst);
                                }
                            }
                            Reply::Silence(first) => {
                                stream.write_all(first.as_bytes()).await.unwrap();
                                std::future::pending().await
                            }
                        }
                    });
                }
            });
            Self { address, heard, sent }
        }

        /// One that says the same to everyone.
        async fn saying(text: impl Into<Vec<u8>>) -> Self {
            let text = text.into();
            Self::new(move |_| Reply::Bytes(text.clone())).await
        }

        fn url(&self, path: &str) -> String {
            format!("http://{}{path}", self.address)
        }

        fn heard(&self) -> Vec<String> {
            self.heard.lock().unwrap().clone()
        }

        fn tool(&self) -> HttpRequest {
            HttpRequest::new(Guard::Allow(vec![self.address.to_string()])).unwrap()
        }
    }

    async fn request(stream: &mut TcpStream) -> String {
        let mut bytes = Vec::new();
        loop {
            let mut block = [0; 4_096];
            let read = stream.read(&mut block).await.unwrap();
            bytes.extend_from_slice(&block[..read]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head
                    .lines()
                    .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
                if body.len() >= length.unwrap_or(0) {
                    return text;
                }
            }
            if read == 0 {
                return text;
            }
        }
    }

    fn ok(headers: &str, body: &str) -> String {
        format!("HTTP/1.1 200 OK\r\n{headers}connection: close\r\n\r\n{body}")
    }

    fn moved(status: u16, location: &str) -> Vec<u8> {
        format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .into_bytes()
    }

    async fn ask(tool: HttpRequest, value: Value) -> Answer {
        Arc::new(tool).run(value.as_object().unwrap().clone()).await
    }

    #[tokio::test]
    async fn a_page_is_shown_with_status_and_a_few_headers() {
        let server =
            Server::saying(ok("Content-Type: text/plain\r\nX-Other: 1\r\nETag: \"e\"\r\n", "hello\nworld"))
                .await;
        let answer = ask(server.tool(), json!({"url": server.url("/a?b=c#d")})).await;
        let text = "HTTP/1.1 200 OK\ncontent-type: text/plain\netag: \"e\"\n\nhello\nworld";
        assert_eq!(answer, Answer::ok(text));
        let heard = &server.heard()[0];
        assert!(heard.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{heard}");
        assert!(heard.contains("user-agent: oneclaw/"), "{heard}");
        assert!(!heard.contains("accept-encoding"), "{heard}");
    }

    #[tokio::test]
    async fn method_headers_and_body_are_sent() {
        let server = Server::saying("HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ngone").await;
        let asked = json!({
            "url": server.url("/x"),
            "method": "PUT",
            "headers": {"Authorization": "Bearer key", "X-Number": 5},
            "body": "{\"a\": 1}"
        });
        let answer = ask(server.tool(), asked).await;
        // The request worked; what the server thinks of it is for the model to read.
        assert_eq!(answer, Answer::ok("HTTP/1.1 404 Not Found\ncontent-length: 4\n\ngone"));
        let heard = &server.heard()[0];
        assert!(heard.starts_with("PUT /x HTTP/1.1\r\n") && heard.ends_with("\r\n\r\n{\"a\": 1}"), "{heard}");
        for line in ["authorization: Bearer key\r\n", "x-number: 5\r\n", "content-type: application/json\r\n"]
        {
            assert!(heard.contains(line), "{heard}");
        }
        let answer = ask(server.tool(), json!({"url": server.url("/"), "method": "HEAD"})).await;
        assert_eq!(answer.text, "HTTP/1.1 404 Not Found\ncontent-length: 4");
    }

    #[tokio::test]
    async fn what_may_not_be_sent_is_refused_in_words() {
        let server = Server::saying(ok("", "")).await;
        let url = server.url("/");
        for (asked, said) in [
            (json!({"url": "ftp://example.com/"}), "\"ftp:\" addresses cannot be reached"),
            (json!({"url": "file:///etc/passwd"}), "\"file:\" addresses cannot be reached"),
            (json!({"url": "example.com"}), "is not a complete http or https URL"),
            (json!({"url": ""}), "is not a complete http or https URL"),
            (json!({"url": "http://"}), "is not a complete http or https URL"),
            (json!({"url": "http://user:word@example.com/"}), "user name or password is refused"),
            (json!({"url": "http://user@example.com/"}), "user name or password is refused"),
            (json!({"url": format!("{url}a\r\nX: 1")}), "has spaces, line breaks or control"),
            (json!({"url": format!("{url}\tb")}), "has spaces, line breaks or control"),
            (json!({"url": format!("{url}{}", "x".repeat(100_000))}), "cannot be sent as it is"),
            (json!({"url": url, "method": "TRACE"}), "The method \"TRACE\" is not known"),
            (json!({"url": url, "method": "GET / HTTP/1.1\r\nX:"}), "is not known"),
            (json!({"url": url, "body": "x"}), "A GET request has no body"),
            (json!({"url": url, "headers": {"X": "a\r\nY: b"}}), "has line breaks or control characters"),
            (json!({"url": url, "headers": {"X": "a\0"}}), "has line breaks or control characters"),
            (json!({"url": url, "headers": {"X\r\nY": "b"}}), "is not the name of a header"),
            (json!({"url": url, "headers": {"X": ["b"]}}), "must be a string"),
            (json!({"url": url, "headers": {"Host": "b"}}), "is set by the connection itself"),
            (json!({"url": url, "headers": {"transfer-Encoding": "b"}}), "is set by the connection itself"),
            (json!({"url": url, "headers": {"Content-Length": 3}}), "is set by the connection itself"),
            (json!({"url": url, "headers": {"Proxy-Thing": "b"}}), "is set by the connection itself"),
        ] {
            let answer = ask(server.tool(), asked.clone()).await;
            assert!(answer.failed && answer.text.contains(said), "{asked}: {}", answer.text);
            assert!(!answer.text.contains('\n'), "{}", answer.text);
        }
        assert_eq!(server.heard().len(), 0);
    }

    #[tokio::test]
    async fn this_machine_and_its_network_are_refused() {
        let server = Server::saying(ok("", "secret")).await;
        let port = server.address.port();
        for host in ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0", "[::ffff:127.0.0.1]"] {
            let tool = HttpRequest::new(Guard::Public).unwrap();
            let answer = ask(tool, json!({"url": format!("http://{host}:{port}/")})).await;
            assert!(
                answer.failed && answer.text.contains("is not a public address"),
                "{host}: {}",
                answer.text
            );
        }
        assert_eq!(server.heard().len(), 0);
    }

    #[tokio::test]
    async fn a_name_that_changes_its_address_gains_nothing() {
        let server = Server::saying(ok("", "secret")).await;
        let port = server.address.port();
        // Its own machine at last; what it said before is tested where names are looked up.
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let changed: Ask = Arc::new(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            Box::pin(async { Ok(vec![SocketAddr::from(([127, 0, 0, 1], 0))]) })
        });
        let tool = HttpRequest::with_names(Guard::Public, &changed).unwrap();
        let url = format!("http://rebind.test:{port}/");
        for _ in 0..3 {
            let answer = ask(tool.clone(), json!({"url": url})).await;
            assert!(answer.failed && answer.text.contains("is not a public address"), "{}", answer.text);
            assert!(!answer.text.contains("127.0.0.1"), "{}", answer.text);
        }
        // Each request asked once: what is judged is what is used.
        assert_eq!(asked.load(Ordering::SeqCst), 3);
        assert_eq!(server.heard().len(), 0);
    }

    #[tokio::test]
    async fn a_dot_at_the_end_does_not_make_another_name() {
        let server = Server::saying(ok("", "secret")).await;
        let port = server.address.port();
        let table = names(&[
            ("inner.test.", &["127.0.0.1"]),
            ("127.0.0.1..", &["127.0.0.1"]),
            ("inner.test", &["::1"]),
        ]);
        let tool = HttpRequest::with_names(Guard::Public, &table).unwrap();
        for host in ["inner.test.", "INNER.test", "127.0.0.1..", "127.0.0.1."] {
            let answer = ask(tool.clone(), json!({"url": format!("http://{host}:{port}/")})).await;
            assert!(
                answer.failed && answer.text.contains("is not a public address"),
                "{host}: {}",
                answer.text
            );
        }
        assert_eq!(server.heard().len(), 0);
    }

    #[tokio::test]
    async fn the_connection_goes_where_the_one_answer_says() {
        let first = Server::saying(ok("", "first")).await;
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        // Nobody listens there: whoever asked again would get nowhere.
        let changing: Ask = Arc::new(move |_| {
            let last = if count.fetch_add(1, Ordering::SeqCst) == 0 { 1 } else { 2 };
            Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, last], 0))]) })
        });
        let guard = Guard::Allow(vec!["site.test".to_owned()]);
        let tool = HttpRequest::with_names(guard, &changing).unwrap();
        let url = format!("http://site.test:{}/", first.address.port());
        assert_eq!(ask(tool.clone(), json!({"url": url})).await, Answer::ok("HTTP/1.1 200 OK\n\nfirst"));
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        // No connection is kept: the next request is judged and goes by its own answer.
        assert!(ask(tool, json!({"url": url})).await.failed);
        assert_eq!((asked.load(Ordering::SeqCst), first.heard().len()), (2, 1));
    }

    #[tokio::test]
    async fn an_allowed_name_is_allowed_with_its_port_only() {
        let server = Server::saying(ok("", "here")).await;
        let other = Server::saying(ok("", "secret")).await;
        let table = names(&[("site.test", &["127.0.0.1"])]);
        let guard = Guard::Allow(vec![format!("site.test:{}", server.address.port())]);
        let tool = HttpRequest::with_names(guard, &table).unwrap();
        let at = |server: &Server| json!({"url": format!("http://site.test:{}/", server.address.port())});
        assert_eq!(ask(tool.clone(), at(&server)).await, Answer::ok("HTTP/1.1 200 OK\n\nhere"));
        assert!(ask(tool.clone(), at(&other)).await.failed);
        assert!(ask(tool, json!({"url": server.url("/")})).await.failed);
        assert_eq!((server.heard().len(), other.heard().len()), (1, 0));
    }

    #[tokio::test]
    async fn a_redirect_to_an_inner_address_is_refused() {
        let inner = Server::saying(ok("", "secret")).await;
        for target in [
            inner.url("/"),
            format!("//localhost:{}/", inner.address.port()),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
            "http://[::1]/".to_owned(),
            "http://0xa9fea9fe/".to_owned(),
        ] {
            let server = Server::saying(moved(302, &target)).await;
            let answer = ask(server.tool(), json!({"url": server.url("/")})).await;
            assert!(
                answer.failed && answer.text.contains("is not a public address"),
                "{target}: {}",
                answer.text
            );
            assert_eq!(server.heard().len(), 1);
        }
        for target in ["file:///etc/passwd", "http://a:b@example.com/", "gopher://x/"] {
            let server = Server::saying(moved(302, target)).await;
            let answer = ask(server.tool(), json!({"url": server.url("/")})).await;
            assert!(answer.failed && answer.text.contains("redirects: "), "{target}: {}", answer.text);
        }
        assert_eq!(inner.heard().len(), 0);
    }

    #[tokio::test]
    async fn at_most_five_redirects() {
        let server = Server::new(|request| {
            let step: u32 = request.split(['/', ' ']).nth(2).unwrap().parse().unwrap();
            Reply::Bytes(if step == 0 {
                ok("", "done").into_bytes()
            } else {
                moved(301, &format!("/{}", step - 1))
            })
        })
        .await;
        let answer = ask(server.tool(), json!({"url": server.url("/5")})).await;
        assert_eq!(answer, Answer::ok(format!("HTTP/1.1 200 OK\nurl: {}\n\ndone", server.url("/0"))));
        assert_eq!(server.heard().len(), 6);
        let answer = ask(server.tool(), json!({"url": server.url("/6")})).await;
        assert!(answer.failed && answer.text.starts_with("More than 5 redirects"), "{}", answer.text);
        assert_eq!(server.heard().len(), 12);
    }

    #[tokio::test]
    async fn methods_and_bodies_after_a_redirect() {
        for (status, method, then, keeps_body) in [
            (301, "POST", "GET", false),
            (302, "POST", "GET", false),
            (303, "POST", "GET", false),
            (303, "PUT", "GET", false),
            (303, "HEAD", "HEAD", false),
            (302, "PUT", "PUT", true),
            (307, "POST", "POST", true),
            (308, "PATCH", "PATCH", true),
            (307, "GET", "GET", false),
        ] {
            let server = Server::new(move |request| {
                Reply::Bytes(if request.contains(" /end ") {
                    ok("", "").into_bytes()
                } else {
                    moved(status, "/end")
                })
            })
            .await;
            let mut asked =
                json!({"url": server.url("/"), "method": method, "headers": {"Authorization": "key"}});
            if !matches!(method, "GET" | "HEAD") {
                asked["body"] = "words".into();
            }
            assert!(!ask(server.tool(), asked).await.failed);
            let second = &server.heard()[1];
            assert!(second.starts_with(&format!("{then} /end")), "{status} {method}: {second}");
            assert_eq!(second.contains("words"), keeps_body, "{status} {method}: {second}");
            assert_eq!(second.contains("content-type"), keeps_body, "{status} {method}: {second}");
            // It is the same server.
            assert!(second.contains("authorization: key"), "{second}");
        }
    }

    #[tokio::test]
    async fn secrets_and_bodies_do_not_go_to_another_host() {
        let other = Server::saying(ok("", "here")).await;
        let target = other.url("/");
        for status in [302, 307] {
            let server = Server::saying(moved(status, &target)).await;
            let allowed = vec![server.address.to_string(), other.address.to_string()];
            let tool = HttpRequest::new(Guard::Allow(allowed)).unwrap();
            let headers =
                json!({"Authorization": "key", "Cookie": "key", "X-Api-Key": "key", "Accept": "text/plain"});
            let asked = json!({"url": server.url("/"), "headers": headers});
            assert!(!ask(tool.clone(), asked).await.failed);
            let heard = other.heard().pop().unwrap();
            assert!(!heard.contains("key") && heard.contains("accept: text/plain"), "{heard}");
            let before = other.heard().len();
            let asked = json!({"url": server.url("/"), "method": "PUT", "body": "words"});
            let answer = ask(tool, asked).await;
            assert!(answer.failed && answer.text.contains("was not sent there"), "{}", answer.text);
            assert_eq!(other.heard().len(), before);
        }
    }

    #[test]
    fn the_same_host() {
        for (from, to, same) in [
            ("http://a.test/x", "http://a.test/y", true),
            ("http://a.test/", "http://A.test:80/", true),
            ("http://a.test/", "https://a.test/", true),
            ("https://a.test/", "http://a.test/", false),
            ("http://a.test/", "http://a.test:81/", false),
            ("http://a.test:81/", "https://a.test:81/", false),
            ("http://a.test/", "http://b.a.test/", false),
        ] {
            assert_eq!(is_same_host(&from.parse().unwrap(), &to.parse().unwrap()), same, "{from} {to}");
        }
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit_and_no_further() {
        let server = Server::new(|_| Reply::Endless).await;
        let answer = ask(server.tool(), json!({"url": server.url("/")})).await;
        let (head, body) = answer.text.split_once("\n\n").unwrap();
        assert!(
            head.ends_with("\nnote: only the first 1048576 bytes were read; more is not taken"),
            "{head}"
        );
        assert_eq!(body.len(), MOST_BODY_BYTES);
        tokio::time::sleep(Duration::from_millis(50)).await;
        // What is on the way when the connection is closed lies in the system's buffers.
        let sent = server.sent.load(Ordering::SeqCst);
        assert!(sent < 16 * MOST_BODY_BYTES, "{sent}");
        let large = Server::saying(ok("content-length: 10485760\r\n", &"x".repeat(10_485_760))).await;
        let answer = ask(large.tool(), json!({"url": large.url("/")})).await;
        assert!(answer.text.contains("\nnote: only the first 1048576 of 10485760 bytes were read;"));
        assert!(answer.text.len() < MOST_BODY_BYTES + 200);
    }

    #[tokio::test]
    async fn texts_by_charset_and_other_things_by_description() {
        let page = [
            ok("content-type: text/html; charset=shift_jis\r\n", "").into_bytes(),
            b"\x93\xfa\x96\x7b".to_vec(),
        ];
        let server = Server::saying(page.concat()).await;
        let answer = ask(server.tool(), json!({"url": server.url("/")})).await;
        assert!(answer.text.ends_with("\n\n日本"), "{}", answer.text);
        for (headers, body, said) in [
            ("content-type: image/png\r\ncontent-length: 9\r\n", "\u{1}23456789", "image/png, 9 bytes"),
            ("content-type: application/x-thing\r\n", "\0\0\0", "application/x-thing, 3 bytes"),
            ("", "a\0", "unknown type, 2 bytes"),
            (
                "content-type: text/plain\r\ncontent-encoding: gzip\r\n",
                "???",
                "text/plain, unknown size, packed as gzip",
            ),
        ] {
            let server = Server::saying(ok(headers, body)).await;
            let answer = ask(server.tool(), json!({"url": server.url("/")})).await;
            let end = format!("\n\n[... binary content not shown: {said} ...]");
            assert!(!answer.failed && answer.text.ends_with(&end), "{}", answer.text);
        }
    }

    #[tokio::test]
    async fn a_connection_that_breaks_or_is_not_there() {
        let server = Server::saying(ok("content-length: 100\r\n", "part")).await;
        let answer = ask(server.tool(), json!({"url": server.url("/")})).await;
        assert!(
            answer.text.contains("note: the connection broke after 4 of 100 bytes\n\npart"),
            "{}",
            answer.text
        );
        let nonsense = Server::saying("what?\r\n\r\n").await;
        let answer = ask(nonsense.tool(), json!({"url": nonsense.url("/secret")})).await;
        assert!(answer.failed && answer.text.contains("gave no proper answer"), "{}", answer.text);
        assert!(!answer.text.contains("secret"), "{}", answer.text);
        let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let tool = HttpRequest::new(Guard::Allow(vec![gone.to_string()])).unwrap();
        let answer = ask(tool, json!({"url": format!("http://{gone}/")})).await;
        assert!(answer.failed && answer.text.contains("cannot be reached"), "{}", answer.text);
    }

    async fn called(tool: HttpRequest, url: &str) -> crate::tools::run::Outcome {
        let mut registry = Registry::new();
        registry.insert(Arc::new(tool));
        let specs = registry.specs(&registry.names());
        let call = Called { name: "http_request".to_owned(), arguments: json!({"url": url}).to_string() };
        run(&registry, &specs, &call, &Policy::default()).await
    }

    #[tokio::test]
    async fn a_server_that_says_nothing_is_a_timeout_and_a_slow_one_is_shown_as_far_as_it_came() {
        let silent = Server::new(|_| Reply::Silence("")).await;
        let tool = silent.tool().with_timeout(Duration::from_millis(300));
        let outcome = called(tool, &silent.url("/")).await;
        assert_eq!(outcome.status, ToolStatus::Timeout);
        assert!(outcome.duration < Duration::from_secs(5));
        let slow = Server::new(|_| Reply::Silence("HTTP/1.1 200 OK\r\n\r\nfirst words")).await;
        let tool = slow.tool().with_timeout(Duration::from_millis(600));
        let outcome = called(tool, &slow.url("/")).await;
        assert_eq!(outcome.status, ToolStatus::Success);
        assert_eq!(outcome.text, "HTTP/1.1 200 OK\nnote: only 11 bytes came in time\n\nfirst words");
    }

    #[test]
    fn headers_do_not_show_in_debug_output() {
        let asked = json!({"url": "http://a.test/", "headers": {"X-Api-Key": "canary"}});
        let asked = Asked::new(asked.as_object().unwrap()).unwrap();
        assert!(!format!("{asked:?}").contains("canary"));
    }
}
