//! One HTTP request and its answer: TLS, headers, timeouts, bounded bodies, errors without keys.
//!
//! Decides how the network is spoken to. Which request, in which dialect and how often is decided elsewhere.

use crate::address::{Address, Cleartext, Endpoint};
use crate::classify::{self, Failure};
use crate::retry::Failed;
use crate::{ApiKey, Meter, Origin, ProviderError, detail, redact, retry};
use oneclaw_model::{Dialect, ProviderKind};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, Request, Response, Url};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::timeout;

/// What is waited for, in [`ProviderError::Timeout`].
pub(crate) const CONNECTION: &str = "a connection";
const ANSWER: &str = "the service's answer";
const REST: &str = "the rest of the answer";

/// How much of an error's body is read.
const MOST_ERROR_BYTES: usize = 64 * 1_024;
/// How long an error's body is waited for; what has come by then has to do.
const ERROR_BODY_WAIT: Duration = Duration::from_secs(5);
/// How much of a list is read.
const MOST_LIST_BYTES: usize = 4 * 1_024 * 1_024;
/// How fast a line sends at least: the wait for an answer starts when the request is out.
const BYTES_PER_SECOND: usize = 64 * 1_024;
/// Connections that were idle for longer are not used again: a phone changes networks, and a dead one looks alive.
const POOL_IDLE: Duration = Duration::from_secs(20);
/// A live connection that answers no ping is dead.
const PING_INTERVAL: Duration = Duration::from_secs(20);
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// How long things may take, and how often they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// For a connection to stand, TLS included.
    pub connect: Duration,
    /// Without a byte.
    pub idle: Duration,
    /// Without anything of the reply: bytes that say nothing, such as pings, keep it open for so long only. A model that reasons
    /// out of sight sends no more than that.
    pub quiet: Duration,
    /// Requests in all, before the first byte of a reply.
    pub attempts: u32,
    /// The wait before the second attempt; later ones double it.
    pub backoff: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            quiet: Duration::from_secs(300),
            attempts: 3,
            backoff: Duration::from_millis(500),
        }
    }
}

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    proxied: reqwest::Client,
    direct: reqwest::Client,
    cleartext: Cleartext,
    pub timing: Timing,
    /// Counts the requests, where somebody wants that.
    pub meter: Option<Meter>,
}

/// A request that may be sent, several times if need be.
pub(crate) struct Outgoing {
    request: Request,
    is_loopback: bool,
    kind: ProviderKind,
    /// Which dialect it is in, where a reply is asked for.
    dialect: Option<Dialect>,
    key: Option<ApiKey>,
    bytes: usize,
}

impl Http {
    pub fn new(timing: Timing, cleartext: Cleartext) -> Result<Self, ProviderError> {
        let tls = tls_config()?;
        let build = |builder: reqwest::ClientBuilder| {
            builder.build().map_err(|error| ProviderError::Network { detail: words(error) })
        };
        let builder = || {
            reqwest::Client::builder()
                .user_agent(concat!("oneclaw/", env!("CARGO_PKG_VERSION")))
                .use_preconfigured_tls(tls.clone())
                .connect_timeout(timing.connect)
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .referer(false)
                .pool_idle_timeout(POOL_IDLE)
                .http2_keep_alive_interval(PING_INTERVAL)
                .http2_keep_alive_timeout(PING_TIMEOUT)
        };
        // A proxy cannot reach this machine's own servers.
        Ok(Self {
            proxied: build(builder())?,
            direct: build(builder().no_proxy())?,
            cleartext,
            timing,
            meter: None,
        })
    }

    /// The endpoint's address, if it may be spoken to.
    pub fn address(&self, endpoint: &Endpoint) -> Result<Address, ProviderError> {
        Address::of(endpoint, &self.cleartext)
    }

    /// Sends once. The answer is a success whose body has not been read.
    pub async fn send(&self, outgoing: &Outgoing) -> Result<Response, ProviderError> {
        let response = self.answer(outgoing).await?;
        match response.status().is_success() {
            true => Ok(response),
            false => Err(self.failure(outgoing, response).await),
        }
    }

    /// Sends once. The answer has any status, and its body has not been read.
    pub async fn answer(&self, outgoing: &Outgoing) -> Result<Response, ProviderError> {
        if let Some(meter) = &self.meter {
            meter.take()?;
        }
        let client = if outgoing.is_loopback { &self.direct } else { &self.proxied };
        let Some(request) = outgoing.request.try_clone() else {
            return Err(ProviderError::InvalidRequest { detail: "the request cannot be sent".to_owned() });
        };
        let upload = Duration::from_secs((outgoing.bytes / BYTES_PER_SECOND) as u64);
        let wait = self.timing.idle.saturating_add(upload);
        match timeout(wait, client.execute(request)).await {
            Err(_) => Err(silence(ANSWER, wait)),
            Ok(Err(error)) if error.is_connect() && error.is_timeout() => {
                Err(silence(CONNECTION, self.timing.connect))
            }
            Ok(Err(error)) => Err(outgoing.redacted(ProviderError::Network { detail: words(error) })),
            Ok(Ok(response)) => Ok(response),
        }
    }

    /// What an answer that is no success means.
    pub async fn failure(&self, outgoing: &Outgoing, mut response: Response) -> ProviderError {
        if response.status().is_redirection() {
            return outgoing.redacted(redirected(&response));
        }
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers());
        let mut body = Vec::new();
        let read = async {
            while let Ok(Some(bytes)) = response.chunk().await {
                let room = MOST_ERROR_BYTES.saturating_sub(body.len());
                body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
                if body.len() >= MOST_ERROR_BYTES {
                    break;
                }
            }
        };
        // Cut off or slow, the status tells enough.
        let _ = timeout(self.timing.idle.min(ERROR_BODY_WAIT), read).await;
        let host = outgoing.request.url().host_str().unwrap_or_default();
        let classified = |body: &[u8]| {
            let failure = Failure { host, dialect: outgoing.dialect, status, retry_after, body };
            classify::response(outgoing.kind, failure)
        };
        let error = classified(&body);
        let Some(key) = &outgoing.key else { return error };
        // What it means is read from the body as it came: a key may be a word that services use. What is shown of it is
        // without the key, taken out before the words are shortened: a key cut in two would not be found.
        let shown = classified(redact::without(&String::from_utf8_lossy(&body), key).as_bytes());
        let detail = shown.into_detail().unwrap_or_else(|| crate::key::REDACTED.to_owned());
        error.map_detail(|_| detail)
    }

    /// The next bytes of a body; `None` at its end. They are waited for that long.
    pub async fn chunk(
        &self,
        response: &mut Response,
        wait: Duration,
    ) -> Result<Option<Vec<u8>>, ProviderError> {
        match timeout(wait, response.chunk()).await {
            Err(_) => Err(silence(REST, wait)),
            Ok(Err(error)) => Err(ProviderError::Network { detail: words(error) }),
            Ok(Ok(bytes)) => Ok(bytes.map(Vec::from)),
        }
    }

    /// The beginning of a body, of so many bytes at most, and whether that is all of it.
    pub async fn beginning(
        &self,
        mut response: Response,
        most: usize,
    ) -> Result<(Vec<u8>, bool), ProviderError> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(&mut response, self.timing.idle).await? {
            let room = most.saturating_sub(body.len());
            body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
            if bytes.len() > room {
                return Ok((body, false));
            }
        }
        Ok((body, true))
    }

    /// The whole body of an answer that is a list.
    pub async fn body(&self, mut response: Response) -> Result<Vec<u8>, Failed> {
        let mut body = Vec::new();
        loop {
            match self.chunk(&mut response, self.timing.idle).await {
                Ok(None) => return Ok(body),
                Ok(Some(bytes)) if body.len() + bytes.len() > MOST_LIST_BYTES => {
                    return Err(
                        ProviderError::Protocol { detail: "the answer is too long".to_owned() }.into()
                    );
                }
                Ok(Some(bytes)) => body.extend_from_slice(&bytes),
                Err(error) => return Err(Failed { error, had_body: !body.is_empty() }),
            }
        }
    }
}

impl Outgoing {
    /// A question.
    pub fn get(endpoint: &Endpoint, url: Url) -> Result<Self, ProviderError> {
        Self::new(endpoint, Method::GET, url, None)
    }

    /// A request with a JSON body.
    pub fn post(endpoint: &Endpoint, url: Url, body: &serde_json::Value) -> Result<Self, ProviderError> {
        Self::new(endpoint, Method::POST, url, Some(body.to_string()))
    }

    fn new(
        endpoint: &Endpoint,
        method: Method,
        url: Url,
        body: Option<String>,
    ) -> Result<Self, ProviderError> {
        let is_loopback = crate::address::is_loopback(url.host_str().unwrap_or_default());
        let mut request = Request::new(method, url);
        // A key goes to the origin it was given for, whatever path was made of the address.
        let place = Origin::of_url(request.url());
        let is_its_own = Origin::of(&endpoint.base_url).is_ok_and(|own| place == Ok(own));
        authorise(endpoint.kind, endpoint.key.as_ref().filter(|_| is_its_own), request.headers_mut())?;
        let bytes = body.as_ref().map_or(0, String::len);
        if let Some(body) = body {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            request
                .headers_mut()
                .insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
            *request.body_mut() = Some(body.into());
        }
        let (kind, key) = (endpoint.kind, endpoint.key.clone());
        Ok(Self { request, is_loopback, kind, dialect: None, key, bytes })
    }

    /// The same request, known to ask for a reply in that dialect: what a refusal means depends on it.
    pub fn speaking(self, dialect: Dialect) -> Self {
        Self { dialect: Some(dialect), ..self }
    }

    /// The same request with one more field in its body, which has to be a JSON object that is not empty. `None` where
    /// there is no such body.
    pub fn with_field(&self, name: &str, value: &str) -> Option<Self> {
        let mut request = self.request.try_clone()?;
        let body = str::from_utf8(request.body()?.as_bytes()?).ok()?.trim_end().strip_suffix('}')?;
        let body = format!("{body},{}:{}}}", serde_json::json!(name), serde_json::json!(value));
        let bytes = body.len();
        *request.body_mut() = Some(body.into());
        Some(Self {
            request,
            is_loopback: self.is_loopback,
            kind: self.kind,
            dialect: self.dialect,
            key: self.key.clone(),
            bytes,
        })
    }

    /// The length of its body.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The error without the key it may repeat.
    pub fn redacted(&self, error: ProviderError) -> ProviderError {
        match &self.key {
            Some(key) => error.map_detail(|text| redact::without(text, key)),
            None => error,
        }
    }
}

/// ring and Mozilla's roots on every target: what is trusted does not depend on the device's settings.
pub fn tls_config() -> Result<rustls::ClientConfig, ProviderError> {
    let roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ProviderError::Network { detail: detail::clean(&error.to_string()) })?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    // A configuration made beforehand is taken as it is, so HTTP/2 has to be offered here.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn authorise(kind: ProviderKind, key: Option<&ApiKey>, headers: &mut HeaderMap) -> Result<(), ProviderError> {
    if kind == ProviderKind::Anthropic {
        let version = HeaderValue::from_static("2023-06-01");
        headers.insert(HeaderName::from_static("anthropic-version"), version);
    }
    let Some(key) = key.map(ApiKey::expose).filter(|key| !key.is_empty()) else {
        return Ok(());
    };
    let (name, value) = match kind {
        ProviderKind::OpenAi => (AUTHORIZATION, format!("Bearer {key}")),
        ProviderKind::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
        ProviderKind::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
    };
    let Ok(mut value) = HeaderValue::from_str(&value) else {
        let detail = "the key has characters that no key has; copy it again".to_owned();
        return Err(ProviderError::Auth { detail });
    };
    // Keeps it out of debug output and of HTTP/2's shared header table.
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// Nothing came for that long.
pub(crate) fn silence(what: &'static str, after: Duration) -> ProviderError {
    ProviderError::Timeout { what, after, retry_after: None }
}

/// Only the host is named: the rest of an address may hold secrets.
fn redirected(response: &Response) -> ProviderError {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let target = location.and_then(|location| response.url().join(location).ok());
    let host = target.as_ref().and_then(Url::host_str).unwrap_or("another address");
    let host = detail::clean(host);
    ProviderError::InvalidRequest { detail: format!("the service redirects to {host}; check the address") }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let milliseconds = text("retry-after-ms").and_then(|text| text.trim().parse().ok());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    milliseconds.map(Duration::from_millis).or_else(|| retry::retry_after(text("retry-after")?, now))
}

/// An error of the network in words, causes included, without the address.
fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    detail::clean(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_its_own_origin_only() {
        let key = Some(ApiKey::new("sk-canary-0123456789".into()));
        let kinds = [
            (ProviderKind::OpenAi, "authorization"),
            (ProviderKind::Anthropic, "x-api-key"),
            (ProviderKind::Gemini, "x-goog-api-key"),
        ];
        for (kind, header) in kinds {
            let endpoint = Endpoint { kind, base_url: "https://A.example/v1".into(), key: key.clone() };
            for (url, is_sent) in [
                ("https://a.example/v1/models", true),
                ("https://a.example:443/other?x=1", true),
                ("https://a.example:8443/v1/models", false),
                ("http://a.example/v1/models", false),
                ("https://b.a.example/v1/models", false),
                ("https://a.example.evil.example/v1", false),
            ] {
                let outgoing = Outgoing::get(&endpoint, Url::parse(url).unwrap()).unwrap();
                assert_eq!(outgoing.request.headers().contains_key(header), is_sent, "{url}");
            }
        }
    }
}
