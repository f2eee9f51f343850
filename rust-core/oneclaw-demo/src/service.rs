//! One request from its arrival to its answer.

use crate::ask::{Ask, Delivery};
use crate::body::{self, MOST_BYTES, Outgoing, Unread};
use crate::cache::PrefixCache;
use crate::compose::{self, Prompt};
use crate::config::{Config, Model};
use crate::log::{Log, Ticket};
use crate::protocol::{self, Answer, Rejection};
use crate::respond::{self, Outcome};
use crate::route::{self, Target};
use crate::script::{Fault, Order, Script, Step};
use crate::summarise;
use crate::window::{self, Counter, Measure};
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, Request, Response, Uri};
use oneclaw_model::ProviderKind;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// Kibibytes of bodies that are read and looked at at the same time; more wait.
const MOST_READ: usize = 128 * 1024;

/// What a request can do to its connection.
#[derive(Clone, Default)]
pub(crate) struct Connection {
    is_reset: Arc<AtomicBool>,
}

impl Connection {
    /// The flag that says that the connection ends with a reset.
    pub fn is_reset(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_reset)
    }
}

/// What all connections share.
pub(crate) struct Service {
    config: Config,
    counter: Counter,
    cache: Mutex<PrefixCache>,
    script: Mutex<Script>,
    log: Arc<Log>,
    replies: AtomicU64,
    memory: Semaphore,
}

/// A call of a model that was answered.
struct Answered {
    ask: Ask,
    answer: Answer,
    faults: Vec<Fault>,
}

impl Service {
    pub fn new(config: Config, log: Arc<Log>) -> Self {
        let mut script = Script::default();
        for step in &config.script {
            script.push(step.clone());
        }
        Self {
            counter: Counter::new(Arc::clone(&config.tokenizer)),
            cache: Mutex::default(),
            script: Mutex::new(script),
            log,
            replies: AtomicU64::new(0),
            memory: Semaphore::new(MOST_READ),
            config,
        }
    }

    pub fn push(&self, step: Step) {
        self.script().push(step);
    }

    pub fn set_summaries(&self, step: Option<Step>) {
        self.script().summaries = step.map(Into::into);
    }

    /// What a request for a summary gets, where that is settled and this is one.
    fn summary_order(&self, kind: ProviderKind, in_path: Option<&str>, body: &[u8]) -> Option<Order> {
        let order = self.script().summaries.clone()?;
        let value = parsed(kind, body).ok()?;
        let model = self.model(kind, in_path.or(value.get("model").and_then(Value::as_str))?).ok()?;
        let ask = protocol::parse(kind, &value, model).ok()?;
        summarise::is_asked(&ask).then_some(order)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request, or breaks its connection.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>, connection: Connection) -> Outcome {
        let (head, incoming) = request.into_parts();
        let ticket = Log::open(&self.log, head.method.as_str(), head.uri.path());
        let target = Target::of(&head.method, &head.uri, &head.headers);
        let kind = target.kind();
        if target != Target::Unknown {
            ticket.note(|exchange| exchange.kind = Some(kind));
        }
        let length = incoming.size_hint().upper().unwrap_or(MOST_BYTES as u64).min(MOST_BYTES as u64);
        let permits = u32::try_from(length / 1_024 + 1).unwrap_or(1);
        // The semaphore is never closed.
        let memory = self.memory.acquire_many(permits).await.ok();
        let body = match body::read(incoming).await {
            Ok(body) => body,
            Err(Unread::TooLarge) => {
                let mut response = respond::rejection(kind, &protocol::too_many_bytes(kind), ticket);
                response.headers_mut().insert("connection", hyper::header::HeaderValue::from_static("close"));
                return Ok(response);
            }
            Err(Unread::Broken) => return Err(body::Cut),
        };
        ticket.body(&body);
        let summary = match &target {
            Target::Generate(kind, in_path) => {
                self.summary_order(*kind, in_path.as_ref().map(|(id, _)| id.as_str()), &body)
            }
            _ => None,
        };
        if let Target::Generate(_, in_path) = &target
            && let Some(fault) = match &summary {
                Some(order) => order.gateway_fault().cloned(),
                None => self.script().take_gateway_fault(),
            }
        {
            if fault == Fault::Refuse {
                connection.is_reset.store(true, Ordering::SeqCst);
            }
            let (model, delivery) = in_path.clone().unwrap_or_else(|| glance(&body));
            ticket.note(|exchange| exchange.model = Some(model.chars().take(120).collect()));
            return respond::gateway_fault(kind, fault, delivery, ticket);
        }
        if let Err(rejection) = self.admit(kind, &head.uri, &head.headers) {
            return Ok(respond::rejection(kind, &rejection, ticket));
        }
        let response = match target {
            Target::Generate(kind, in_path) => {
                let service = Arc::clone(&self);
                // Counting may take a while, and a tokenizer that was given may fail.
                let work = tokio::task::spawn_blocking(move || {
                    service.generate(kind, in_path, &body, summary, ticket)
                });
                work.await.map_err(|_| body::Cut)?
            }
            Target::Count(kind, id) => match self.count(kind, id, &body, &ticket) {
                Ok(tokens) => {
                    let name = if kind == ProviderKind::Gemini { "totalTokens" } else { "input_tokens" };
                    respond::json(200, &json!({name: tokens}), ticket)
                }
                Err(rejection) => respond::rejection(kind, &rejection, ticket),
            },
            Target::List(kind) => respond::json(200, &protocol::models(kind, &self.config.models), ticket),
            Target::Show(kind, id) => match self.model(kind, &id) {
                Ok(model) => respond::json(200, &protocol::model(kind, model), ticket),
                Err(rejection) => respond::rejection(kind, &rejection, ticket),
            },
            Target::Unknown => {
                let message = format!("Invalid URL ({} {})", head.method, head.uri.path());
                respond::rejection(kind, &Rejection::new(404, message), ticket)
            }
        };
        drop(memory);
        Ok(response)
    }

    /// Whether the caller shows what the service asks for.
    fn admit(&self, kind: ProviderKind, uri: &Uri, headers: &HeaderMap) -> Result<(), Rejection> {
        if kind == ProviderKind::Anthropic && !headers.contains_key("anthropic-version") {
            return Err(Rejection::bad("anthropic-version: header is required"));
        }
        let Some(wanted) = &self.config.key else { return Ok(()) };
        match route::key(kind, uri, headers) {
            Some(key) if key == *wanted => Ok(()),
            key => Err(protocol::unauthorised(kind, key.as_deref())),
        }
    }

    fn model(&self, kind: ProviderKind, id: &str) -> Result<&Model, Rejection> {
        let found = self.config.models.iter().find(|model| model.id == id);
        found.ok_or_else(|| protocol::unknown_model(kind, &id.chars().take(120).collect::<String>()))
    }

    fn generate(
        &self,
        kind: ProviderKind,
        in_path: Option<(String, Delivery)>,
        body: &[u8],
        summary: Option<Order>,
        ticket: Ticket,
    ) -> Response<Outgoing> {
        match self.answered(kind, in_path, body, summary, &ticket) {
            Ok(Answered { ask, answer, faults }) => {
                respond::deliver(kind, &ask, &answer, &faults, &self.config, ticket)
            }
            Err(rejection) => respond::rejection(kind, &rejection, ticket),
        }
    }

    fn answered(
        &self,
        kind: ProviderKind,
        in_path: Option<(String, Delivery)>,
        body: &[u8],
        summary: Option<Order>,
        ticket: &Ticket,
    ) -> Result<Answered, Rejection> {
        let (id, delivery) = in_path.map(|(id, delivery)| (Some(id), Some(delivery))).unwrap_or_default();
        let (mut ask, model, measure) = self.understood(kind, id, &parsed(kind, body)?, ticket)?;
        ask.delivery = delivery.unwrap_or(ask.delivery);
        let is_scripted = summary.is_none();
        let order = summary.unwrap_or_else(|| self.script().take());
        let measure = match window::check(kind, &measure, ask.max_output, model.window) {
            Ok(()) => measure,
            Err(_) if order.has(&Fault::SilentTruncation) => {
                ask = self.counter.truncated(&ask, model.window);
                self.counter.measure(&ask)
            }
            Err(overflow) => {
                if is_scripted {
                    self.script().put_back(order);
                }
                return Err(protocol::overflow(kind, overflow, &measure, model.window));
            }
        };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let share = cache.visit(kind, &model.id, &measure);
        drop(cache);
        let number = self.replies.fetch_add(1, Ordering::SeqCst);
        let id = format!("{:08x}{number:08x}", window::digest(self.config.seed) >> 32);
        let answer = compose::answer(&ask, &order, &Prompt { measure, share }, model, &self.counter, id);
        let Order { faults, .. } = order;
        Ok(Answered { ask, answer, faults })
    }

    fn count(
        &self,
        kind: ProviderKind,
        id: Option<String>,
        body: &[u8],
        ticket: &Ticket,
    ) -> Result<u64, Rejection> {
        let mut value = parsed(kind, body)?;
        // The question how large a prompt is says nothing about the reply; Gemini may wrap the request.
        if let (ProviderKind::Anthropic, Some(object)) = (kind, value.as_object_mut()) {
            object.insert("max_tokens".into(), 1.into());
        }
        if let Some(inner) = value.get("generateContentRequest") {
            value = inner.clone();
        }
        Ok(self.understood(kind, id, &value, ticket)?.2.prompt)
    }

    /// The request, its model and its size.
    fn understood(
        &self,
        kind: ProviderKind,
        in_path: Option<String>,
        body: &Value,
        ticket: &Ticket,
    ) -> Result<(Ask, &Model, Measure), Rejection> {
        let in_body = body.get("model").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = match (in_path, in_body) {
            (Some(id), _) => id,
            (None, Some(id)) => id.to_owned(),
            (None, None) if kind == ProviderKind::OpenAi => {
                return Err(Rejection::bad("you must provide a model parameter"));
            }
            (None, None) => return Err(Rejection::bad("model: Field required")),
        };
        ticket.note(|exchange| exchange.model = Some(id.chars().take(120).collect()));
        let model = self.model(kind, &id)?;
        let ask = protocol::parse(kind, body, model)?;
        let measure = self.counter.measure(&ask);
        ticket.note(|exchange| exchange.prompt_tokens = Some(measure.prompt));
        Ok((ask, model, measure))
    }
}

/// The body as a JSON object.
fn parsed(kind: ProviderKind, body: &[u8]) -> Result<Value, Rejection> {
    match serde_json::from_slice(body) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) | Err(_) => Err(Rejection::bad(match kind {
            ProviderKind::OpenAi => {
                "We could not parse the JSON body of your request. The OpenAI API expects a JSON payload, but what was \
                 sent was not valid JSON."
            }
            ProviderKind::Anthropic => "The request body is not valid JSON",
            ProviderKind::Gemini => "Invalid JSON payload received. Expected an object.",
        })),
    }
}

/// Model and delivery, of a request that nobody looks at closely.
fn glance(body: &Bytes) -> (String, Delivery) {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let model = value.get("model").and_then(Value::as_str).unwrap_or_default();
    let delivery = match value.get("stream") {
        Some(Value::Bool(true)) => Delivery::Events,
        _ => Delivery::Whole,
    };
    (model.to_owned(), delivery)
}
