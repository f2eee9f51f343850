//! Asks a service and hands on what it says, event by event.
//!
//! Decides how often a request is sent and when a reply is over. It holds no state between requests but open
//! connections; dropping a future or a stream stops the request.

use crate::address::{Cleartext, Endpoint};
use crate::dialects::{self, Continuation};
use crate::http::{Http, Outgoing, Timing, silence};
use crate::retry::Failed;
use crate::{Decoder, Meter, Mode, Profile, ProviderError, StopReason, StreamEvent, encode, redact, retry};
use oneclaw_model::{Dialect, Request, Usage};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// The longest text of a completion.
const MOST_TEXT: usize = 8 * 1_024 * 1_024;
/// The longest body of a reply, whatever it says: a hundred thousand tokens in an event each, four times over. A service
/// that goes on sending what says nothing would otherwise never be silent and never be done.
const MOST_BODY: usize = 128 * 1_024 * 1_024;
/// How long the end of a body is waited for after the end of the reply, so that its connection can be used again.
const END_OF_BODY: Duration = Duration::from_millis(50);
/// How long the rest of a body is waited for once the reply has said why it ended: usage may come, or nothing at all
/// from servers that leave out the end mark.
const AFTER_REASON: Duration = Duration::from_secs(3);

/// What is waited for, in [`ProviderError::Timeout`], where bytes come that say nothing.
const EVENT: &str = "the next part of the reply";

/// How often the rest of a reply is asked for that a service gives in several bodies.
const MOST_CONTINUATIONS: u32 = 16;

/// Speaks to model services.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) http: Http,
}

/// A completion.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text, without reasoning.
    pub text: String,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost, if the service says so.
    pub usage: Option<Usage>,
    /// Whether it reasoned before it spoke.
    pub has_reasoning: bool,
    /// How many tools the model tried to call although none was offered.
    pub calls: usize,
}

impl Client {
    /// A client with those patience and permissions.
    pub fn new(timing: Timing, cleartext: Cleartext) -> Result<Self, ProviderError> {
        Ok(Self { http: Http::new(timing, cleartext)? })
    }

    /// The same, with every request counted.
    #[must_use]
    pub fn metered(&self, meter: Meter) -> Self {
        let mut http = self.http.clone();
        http.meter = Some(meter);
        Self { http }
    }

    /// Sends a turn of a conversation and waits for the first event of the reply. Failures that pass are tried again:
    /// those before the first byte of the body, and an error that the service reports as its very first event.
    pub async fn stream(
        &self,
        endpoint: &Endpoint,
        profile: &Profile,
        request: &Request,
    ) -> Result<EventStream, ProviderError> {
        let question = self.prepare(endpoint, profile, request, Mode::Chat)?;
        self.retried(|| self.open(endpoint, &question)).await
    }

    /// Asks for one text. Sent once only: the caller decides about a second time. It is streamed as well, so that
    /// silence is noticed.
    pub async fn complete(
        &self,
        endpoint: &Endpoint,
        profile: &Profile,
        request: &Request,
    ) -> Result<Reply, ProviderError> {
        let question = self.prepare(endpoint, profile, request, Mode::Complete)?;
        let mut stream = self.open(endpoint, &question).await.map_err(|failed| failed.error)?;
        let mut reply =
            Reply { text: String::new(), stop: StopReason::End, usage: None, has_reasoning: false, calls: 0 };
        while let Some(event) = stream.next().await {
            match event? {
                StreamEvent::Text(more) => {
                    if reply.text.len() + more.len() > MOST_TEXT {
                        return Err(ProviderError::Protocol { detail: "the text has no end".to_owned() });
                    }
                    reply.text.push_str(&more);
                }
                StreamEvent::CallStarted { .. } => reply.calls += 1,
                StreamEvent::Usage(usage) => {
                    reply.has_reasoning |= usage.reasoning > 0;
                    reply.usage = Some(usage);
                }
                StreamEvent::Stopped(stop) => reply.stop = stop,
                StreamEvent::Thinking(_) | StreamEvent::Thought(_) => reply.has_reasoning = true,
                StreamEvent::TextSignature(_)
                | StreamEvent::CallArguments { .. }
                | StreamEvent::CallCompleted { .. } => {}
            }
        }
        Ok(reply)
    }

    fn prepare(
        &self,
        endpoint: &Endpoint,
        profile: &Profile,
        request: &Request,
        mode: Mode,
    ) -> Result<Question, ProviderError> {
        let address = self.http.address(endpoint)?;
        let encoded = encode(endpoint, profile, request, mode);
        let mut url = address.join(&encoded.path);
        if let Some((name, value)) = encoded.query {
            url.query_pairs_mut().append_pair(name, value);
        }
        log::debug!("asking {} at {} ({mode:?})", profile.model, address.host());
        let dialect = profile.dialect(endpoint);
        let continuation = dialects::continuation(dialect, &encoded).map(Arc::new);
        let outgoing = Arc::new(Outgoing::post(endpoint, url, &encoded.body)?.speaking(dialect));
        Ok(Question { outgoing, dialect, mode, continuation })
    }

    /// Sends once. The answer is one that may be a reply.
    async fn send(&self, outgoing: &Outgoing) -> Result<Response, ProviderError> {
        let response = self.http.send(outgoing).await?;
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if content_type.is_some_and(|text| text.to_ascii_lowercase().starts_with("text/html")) {
            let detail = "a web page came instead of a reply; check the address".to_owned();
            return Err(ProviderError::Protocol { detail });
        }
        Ok(response)
    }

    /// Sends, and waits for the first event.
    async fn open(&self, endpoint: &Endpoint, question: &Question) -> Result<EventStream, Failed> {
        let response = self.send(&question.outgoing).await?;
        let mut stream = EventStream {
            client: self.clone(),
            endpoint: endpoint.clone(),
            decoder: Decoder::new(question.dialect),
            rest: question.rest(),
            state: State::Open(Box::new(response)),
            ready: VecDeque::new(),
            bytes: 0,
            heard: Instant::now(),
        };
        stream.fill().await;
        match stream.state {
            State::Failed(error) if stream.ready.is_empty() => {
                Err(Failed { error, had_body: stream.bytes > 0 })
            }
            _ => Ok(stream),
        }
    }

    /// Tries until it succeeds, fails for good or has been tried often enough.
    pub(crate) async fn retried<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, ProviderError>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        let timing = self.http.timing;
        for number in 1..timing.attempts {
            let error = match attempt().await {
                Err(failed) if failed.is_worth_another_attempt() => failed.error,
                outcome => return outcome.map_err(|failed| failed.error),
            };
            let random = RandomState::new().build_hasher().finish();
            let Some(wait) = retry::delay(number - 1, timing.backoff, error.retry_after(), random) else {
                return Err(error);
            };
            log::warn!("attempt {number} failed, the next one follows in {} ms: {error}", wait.as_millis());
            sleep(wait).await;
        }
        attempt().await.map_err(|failed| failed.error)
    }
}

/// A request that is ready to be sent.
struct Question {
    outgoing: Arc<Outgoing>,
    dialect: Dialect,
    mode: Mode,
    continuation: Option<Arc<Continuation>>,
}

impl Question {
    fn rest(&self) -> Option<Rest> {
        let continuation = self.continuation.clone()?;
        Some(Rest { outgoing: self.outgoing.clone(), mode: self.mode, continuation, asked: 0 })
    }
}

/// What it takes to ask for the rest of a reply.
struct Rest {
    outgoing: Arc<Outgoing>,
    mode: Mode,
    continuation: Arc<Continuation>,
    /// How often it was asked for.
    asked: u32,
}

impl Rest {
    /// The next request, if that many output tokens leave one.
    fn next(&mut self, token: &str, output: u64) -> Option<Outgoing> {
        let has_room = self.continuation.most_output.is_none_or(|most| output < most);
        if !has_room || self.asked == MOST_CONTINUATIONS {
            return None;
        }
        self.asked += 1;
        self.outgoing.with_field(self.continuation.field, token)
    }

    /// Whether the bodies have more than was asked for. Of the first one the service itself takes care.
    fn is_too_long(&self, output: u64) -> bool {
        self.asked > 0 && self.continuation.most_output.is_some_and(|most| output > most)
    }
}

/// A reply as it comes in. Dropping it closes the connection.
pub struct EventStream {
    client: Client,
    endpoint: Endpoint,
    decoder: Decoder,
    /// `None` where a reply is always one body.
    rest: Option<Rest>,
    state: State,
    ready: VecDeque<StreamEvent>,
    /// How many bytes of the reply have come.
    bytes: usize,
    /// When the last event was handed out: since then the caller has waited for the next one.
    heard: Instant,
}

enum State {
    Open(Box<Response>),
    /// The body is over, and there is more of the reply.
    Between,
    /// The reply is whole; the body may have a few bytes left.
    Stopped(Box<Response>),
    Failed(ProviderError),
    Over,
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl EventStream {
    /// The next event; an error is the last thing that comes. `None` when the reply is over.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ProviderError>> {
        self.fill().await;
        while self.ready.is_empty() && matches!(self.state, State::Between) {
            self.go_on().await;
            self.fill().await;
        }
        if let Some(event) = self.ready.pop_front() {
            self.heard = Instant::now();
            return Some(Ok(event));
        }
        match std::mem::replace(&mut self.state, State::Over) {
            State::Failed(error) => Some(Err(error)),
            State::Stopped(mut response) => {
                let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                let _ = timeout(END_OF_BODY, rest).await;
                None
            }
            State::Open(_) | State::Between | State::Over => None,
        }
    }

    /// Reads until there is an event or nothing more to read in this body.
    async fn fill(&mut self) {
        while self.ready.is_empty()
            && let State::Open(response) = &mut self.state
        {
            let http = &self.client.http;
            let idle = http.timing.idle;
            let wait = if self.decoder.has_reason() { idle.min(AFTER_REASON) } else { idle };
            let quiet = http.timing.quiet;
            let left = quiet.saturating_sub(self.heard.elapsed());
            let chunk = match http.chunk(response, wait.min(left)).await {
                Err(ProviderError::Timeout { .. }) if left < wait => Err(silence(EVENT, quiet)),
                chunk => chunk,
            };
            let mut events = Vec::new();
            let (outcome, is_end) = match chunk {
                Ok(Some(bytes)) => (self.push(&bytes, &mut events), false),
                Ok(None) => (self.decoder.finish(&mut events), true),
                Err(error) => (self.broken(error, &mut events), true),
            };
            let is_too_long = self.rest.as_ref().is_some_and(|rest| rest.is_too_long(self.decoder.output()));
            if outcome.is_ok() && !is_end && is_too_long {
                self.decoder.cut(&mut events);
            }
            let has_stopped = matches!(events.last(), Some(StreamEvent::Stopped(_)));
            self.ready.extend(events);
            let state = std::mem::replace(&mut self.state, State::Over);
            self.state = match (outcome, state) {
                (Err(error), _) => State::Failed(self.redacted(error)),
                (Ok(()), _) if is_end && self.decoder.continuation().is_some() => State::Between,
                (Ok(()), _) if is_end || is_too_long => State::Over,
                (Ok(()), State::Open(response)) if has_stopped => State::Stopped(response),
                (Ok(()), state) => state,
            };
        }
    }

    /// Asks for the rest of the reply, or ends it where it has had what it may have. Failures that pass are tried again as
    /// they are at the start of a reply.
    async fn go_on(&mut self) {
        let output = self.decoder.output();
        let next = match (&mut self.rest, self.decoder.continuation()) {
            (Some(rest), Some(token)) => rest.next(token, output).map(|outgoing| (outgoing, rest.mode)),
            _ => None,
        };
        let Some((outgoing, mode)) = next else {
            let mut events = Vec::new();
            self.decoder.cut(&mut events);
            self.ready.extend(events);
            self.state = State::Over;
            return;
        };
        log::debug!("asking for the rest of a reply of {output} tokens so far");
        let client = &self.client;
        let sent = match mode {
            Mode::Chat => client.retried(|| async { Ok(client.send(&outgoing).await?) }).await,
            Mode::Complete => client.send(&outgoing).await,
        };
        self.state = match sent {
            Ok(response) => {
                self.heard = Instant::now();
                self.decoder.go_on();
                State::Open(Box::new(response))
            }
            Err(error) => State::Failed(error),
        };
    }

    fn push(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        self.bytes += bytes.len();
        match self.bytes > MOST_BODY {
            true => Err(ProviderError::Protocol { detail: "the answer has no end".to_owned() }),
            false => self.decoder.push(bytes, events),
        }
    }

    /// The connection broke or fell silent. If the reply is whole without the rest, that does not matter; if the last
    /// thing the service said was an error, that error says more.
    fn broken(&mut self, error: ProviderError, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        match self.decoder.finish(events) {
            Ok(()) => Ok(()),
            Err(ProviderError::Protocol { .. }) => {
                events.clear();
                Err(error)
            }
            Err(reported) => Err(reported),
        }
    }

    fn redacted(&self, error: ProviderError) -> ProviderError {
        match &self.endpoint.key {
            Some(key) => error.map_detail(|text| redact::without(text, key)),
            None => error,
        }
    }
}
