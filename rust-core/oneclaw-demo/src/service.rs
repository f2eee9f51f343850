//! One request from its arrival to its answer.

use crate::ask::{Amount, Ask, Delivery};
use crate::body::{self, MOST_BYTES, Outgoing, Unread};
use crate::cache::PrefixCache;
use crate::compose::{Composer, Prompt};
use crate::config::{Config, Flavour, Model};
use crate::flavour::{self, Native};
use crate::log::{Log, Ticket};
use crate::pending::{self, Pending};
use crate::protocol::{self, Answer, Rejection};
use crate::respond::{self, Outcome};
use crate::route::{self, Target};
use crate::script::{Fault, Order, Reply, Script, Step};
use crate::subject::{Seal, Subject};
use crate::summarise;
use crate::window::{self, Counter, Measure};
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::{HeaderMap, Method, Request, Response, Uri};
use oneclaw_catalogue::{Facts, Vendor};
use oneclaw_model::{Dialect, ProviderKind};
use serde_json::Value;
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
    /// Replies that can be continued.
    pending: Mutex<Pending>,
    log: Arc<Log>,
    replies: AtomicU64,
    memory: Semaphore,
    seal: Seal,
}

/// A question to a model as it arrived.
struct Call {
    dialect: Dialect,
    /// The model, where the path names it.
    model: Option<String>,
    delivery: Option<Delivery>,
    betas: String,
    is_count: bool,
    body: Bytes,
}

/// A call of a model that was answered.
struct Answered {
    ask: Ask,
    answer: Answer,
    faults: Vec<Fault>,
}

/// A request that was read and measured.
struct Understood<'a> {
    ask: Ask,
    model: &'a Model,
    measure: Measure,
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
            pending: Mutex::default(),
            log,
            replies: AtomicU64::new(0),
            memory: Semaphore::new(MOST_READ),
            seal: Seal::new(config.seed),
            config,
        }
    }

    pub fn push(&self, step: Step) {
        self.script().push(step);
    }

    pub fn set_summaries(&self, step: Option<Step>) {
        self.script().summaries = step.map(Into::into);
    }

    pub fn set_counts(&self, step: Option<Step>) {
        self.script().counts = step.map(Into::into);
    }

    /// What a path asks for, with this server's own addresses and without those that are switched off.
    fn target(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Target {
        let target = match flavour::is_counting(self.config.flavour, method, uri.path()) {
            true => Target::Count(Dialect::ChatCompletions, None),
            false => Target::of(method, uri, headers),
        };
        match target {
            Target::Count(..) if !self.config.counts => Target::Unknown,
            other => other,
        }
    }

    /// What a request gets that is settled beforehand: one for a summary, or for the size of a prompt.
    fn settled(&self, target: &Target, call: &Call) -> Option<Order> {
        match target {
            Target::Generate(..) => self.summary_order(call),
            Target::Count(..) => Some(self.script().counts.clone().unwrap_or_default()),
            Target::List(_) | Target::Show(..) | Target::Unknown => None,
        }
    }

    /// What a request for a summary gets, where that is settled and this is one.
    fn summary_order(&self, call: &Call) -> Option<Order> {
        let order = self.script().summaries.clone()?;
        let value = parsed(call.dialect, &call.body).ok()?;
        let id = call.model.as_deref().or(value.get("model").and_then(Value::as_str))?;
        let model = self.model(call.dialect.kind(), id).ok()?;
        let facts = self.facts(call.dialect, id);
        let ask = protocol::parse(call.dialect, &value, &self.subject(model, facts.as_ref(), call)).ok()?;
        summarise::is_asked(&ask).then_some(order)
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers a request, or breaks its connection.
    pub async fn answer(self: Arc<Self>, request: Request<Incoming>, connection: Connection) -> Outcome {
        let (head, incoming) = request.into_parts();
        let ticket = Log::open(&self.log, head.method.as_str(), head.uri.path());
        let target = self.target(&head.method, &head.uri, &head.headers);
        let dialect = target.dialect();
        let kind = dialect.kind();
        if target != Target::Unknown {
            ticket.note(|exchange| {
                exchange.kind = Some(kind);
                exchange.dialect = Some(dialect);
            });
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
        if let Some(native) = Native::of(self.config.flavour, &head.method, head.uri.path()) {
            return Ok(self.native(native, body, ticket));
        }
        let call = Call::new(&target, &head.headers, body);
        let settled = self.settled(&target, &call);
        if let Target::Generate(..) | Target::Count(..) = &target
            && let Some(fault) = match &settled {
                Some(order) => order.gateway_fault().cloned(),
                None => self.script().take_gateway_fault(),
            }
        {
            if fault == Fault::Refuse {
                connection.is_reset.store(true, Ordering::SeqCst);
            }
            let (model, delivery) = glance(&call);
            ticket.note(|exchange| exchange.model = Some(model.chars().take(120).collect()));
            return respond::gateway_fault(kind, fault, delivery, ticket);
        }
        if let Err(rejection) = self.admit(kind, &head.uri, &head.headers) {
            return Ok(respond::rejection(kind, &rejection, ticket));
        }
        let response = match target {
            Target::Generate(..) => {
                let service = Arc::clone(&self);
                // Counting may take a while, and a tokenizer that was given may fail.
                let work = tokio::task::spawn_blocking(move || service.generate(&call, settled, ticket));
                work.await.map_err(|_| body::Cut)?
            }
            Target::Count(..) => {
                let (service, order) = (Arc::clone(&self), settled.unwrap_or_default());
                let work = tokio::task::spawn_blocking(move || service.count(&call, &order, ticket));
                work.await.map_err(|_| body::Cut)?
            }
            Target::List(kind) => respond::json(200, &self.list(kind), ticket),
            Target::Show(kind, id) => match self.shown(kind, &id) {
                Ok(model) => respond::json(200, &model, ticket),
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

    /// What is known of a model. Compatible servers have models of their own, of which nothing is.
    fn facts(&self, dialect: Dialect, id: &str) -> Option<Facts> {
        if dialect == Dialect::ChatCompletions && self.config.flavour != Flavour::Plain {
            return None;
        }
        let given = self.config.facts.iter().find(|facts| facts.id == id).cloned();
        let vendor = match dialect.kind() {
            ProviderKind::OpenAi => Vendor::OpenAi,
            ProviderKind::Anthropic => Vendor::Anthropic,
            ProviderKind::Gemini => Vendor::Gemini,
        };
        let in_catalogue =
            || self.config.uses_catalogue.then(|| oneclaw_catalogue::find(vendor, id)).flatten();
        given.or_else(in_catalogue)
    }

    fn subject<'a>(&self, model: &'a Model, facts: Option<&'a Facts>, call: &'a Call) -> Subject<'a> {
        Subject {
            model,
            facts,
            flavour: self.config.flavour,
            betas: &call.betas,
            is_count: call.is_count,
            seal: self.seal,
        }
    }

    /// A model outside of a request.
    fn bare<'a>(&self, model: &'a Model, facts: Option<&'a Facts>) -> Subject<'a> {
        let flavour = self.config.flavour;
        Subject { model, facts, flavour, betas: "", is_count: false, seal: self.seal }
    }

    /// The models of that service that are not switched off.
    fn list(&self, kind: ProviderKind) -> Value {
        let facts: Vec<Option<Facts>> =
            self.config.models.iter().map(|model| self.facts(Dialect::usual(kind), &model.id)).collect();
        let subjects = self.config.models.iter().zip(&facts);
        let subjects = subjects.map(|(model, facts)| self.bare(model, facts.as_ref()));
        let on: Vec<Subject<'_>> = subjects.filter(|subject| !subject.is_off(self.config.today)).collect();
        let list = protocol::models(kind, &on);
        if self.config.lists_sizes { list } else { without_sizes(list) }
    }

    fn shown(&self, kind: ProviderKind, id: &str) -> Result<Value, Rejection> {
        let model = self.model(kind, id)?;
        let facts = self.facts(Dialect::usual(kind), id);
        let subject = self.bare(model, facts.as_ref());
        if subject.is_off(self.config.today) {
            return Err(protocol::switched_off(kind, id));
        }
        Ok(protocol::model(kind, &subject))
    }

    /// What a compatible server answers at addresses of its own.
    fn native(&self, native: Native, body: Bytes, ticket: Ticket) -> Response<Outgoing> {
        match native {
            Native::Greeting => respond::text(200, flavour::GREETING, ticket),
            Native::Page(page) => match flavour::page(page, &self.config.models, &body) {
                Some(page) => respond::json(200, &page, ticket),
                None => {
                    let rejection = protocol::unknown_model(ProviderKind::OpenAi, "?");
                    respond::rejection(ProviderKind::OpenAi, &rejection, ticket)
                }
            },
        }
    }

    fn generate(&self, call: &Call, summary: Option<Order>, ticket: Ticket) -> Response<Outgoing> {
        let kind = call.dialect.kind();
        match self.answered(call, summary, &ticket) {
            Ok(Answered { ask, answer, faults }) => {
                respond::deliver(call.dialect, &ask, &answer, &faults, &self.config, ticket)
            }
            Err(rejection) if rejection.is_in_stream => {
                respond::rejection_in_stream(kind, &rejection, ticket)
            }
            Err(rejection) => respond::rejection(kind, &rejection, ticket),
        }
    }

    fn answered(&self, call: &Call, summary: Option<Order>, ticket: &Ticket) -> Result<Answered, Rejection> {
        let dialect = call.dialect;
        let Understood { mut ask, model, measure } = self.understood(call, ticket)?;
        ask.delivery = call.delivery.unwrap_or(ask.delivery);
        let request = pending::number_of(dialect, &call.body);
        let continued = self.continued(&ask, request)?;
        let is_scripted = summary.is_none() && continued.is_none();
        let order = continued.or(summary).unwrap_or_else(|| self.script().take());
        let room = if ask.reserves_output { ask.max_output.unwrap_or(0) } else { 0 };
        let measure = match window::check(&measure, room, model.window) {
            Ok(()) => measure,
            Err(_) if order.has(&Fault::SilentTruncation) || ask.truncates => {
                ask = self.counter.truncated(&ask, model.window);
                self.counter.measure(&ask)
            }
            Err(overflow) => {
                if is_scripted {
                    self.script().put_back(order);
                }
                let usual = || protocol::overflow(dialect, overflow, &measure, model.window);
                let compatible = (dialect == Dialect::ChatCompletions)
                    .then(|| flavour::overflow(self.config.flavour, &ask, overflow, &measure, model.window));
                return Err(compatible.flatten().unwrap_or_else(usual));
            }
        };
        if ask.continuation.is_some() {
            ask.amount = Amount::Nothing;
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let share = cache.visit(dialect, &model.id, &measure);
        drop(cache);
        let number = self.replies.fetch_add(1, Ordering::SeqCst);
        let id = format!("{:08x}{number:08x}", window::digest(self.config.seed) >> 32);
        let composer = Composer { model, counter: &self.counter, config: &self.config, seal: self.seal };
        let mut answer = composer.answer(&ask, &order, &Prompt { measure, share }, id);
        if let Some(rest) = answer.rest.take() {
            answer.continuation = Some(self.pending().keep(self.seal, request, number, rest));
        }
        let Order { faults, .. } = order;
        Ok(Answered { ask, answer, faults })
    }

    /// What is said where a reply is to be continued.
    fn continued(&self, ask: &Ask, request: u64) -> Result<Option<Order>, Rejection> {
        let Some(token) = &ask.continuation else { return Ok(None) };
        let Some(rest) = self.pending().rest(token, request).map(Reply::text) else {
            return Err(Rejection::bad("The continuation token is invalid or belongs to another request."));
        };
        Ok(Some(Order { reply: Some(rest), ..Order::default() }))
    }

    /// The size of a prompt, or what the script has in its place.
    fn count(&self, call: &Call, order: &Order, ticket: Ticket) -> Response<Outgoing> {
        let Understood { model, measure, .. } = match self.understood(call, &ticket) {
            Ok(understood) => understood,
            Err(rejection) => return respond::rejection(call.dialect.kind(), &rejection, ticket),
        };
        let tokens: Value = match (&order.reply, order.usage) {
            (Some(reply), _) => reply.text.as_str().into(),
            (None, Some(usage)) => usage.prompt().into(),
            (None, None) => measure.prompt.into(),
        };
        let value = match call.dialect {
            Dialect::ChatCompletions => {
                flavour::counted(self.config.flavour, &tokens, &measure, model.window)
            }
            dialect => protocol::count(dialect, &tokens),
        };
        respond::counted(&value, &order.faults, ticket)
    }

    /// The request, its model and its size.
    fn understood(&self, call: &Call, ticket: &Ticket) -> Result<Understood<'_>, Rejection> {
        let (dialect, kind) = (call.dialect, call.dialect.kind());
        let mut body = parsed(dialect, &call.body)?;
        if call.is_count && dialect == Dialect::GenerateContent {
            body = protocol::gemini::count::request(body, call.model.as_deref().unwrap_or_default())?;
        }
        let in_body = body.get("model").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = match (&call.model, in_body) {
            (Some(id), _) => id.clone(),
            (None, Some(id)) => id.to_owned(),
            (None, None) if kind == ProviderKind::OpenAi => {
                return Err(Rejection::bad("you must provide a model parameter"));
            }
            (None, None) => return Err(Rejection::bad("model: Field required")),
        };
        ticket.note(|exchange| exchange.model = Some(id.chars().take(120).collect()));
        let model = self.model(kind, &id)?;
        let facts = self.facts(dialect, &id);
        let subject = self.subject(model, facts.as_ref(), call);
        if subject.is_off(self.config.today) {
            return Err(protocol::switched_off(kind, &id));
        }
        let ask = protocol::parse(dialect, &body, &subject)?;
        let measure = self.counter.measure(&ask);
        ticket.note(|exchange| exchange.prompt_tokens = Some(measure.prompt));
        Ok(Understood { ask, model, measure })
    }
}

impl Call {
    fn of(dialect: Dialect, body: Bytes) -> Self {
        Self { dialect, model: None, delivery: None, betas: String::new(), is_count: false, body }
    }

    fn new(target: &Target, headers: &HeaderMap, body: Bytes) -> Self {
        let betas: Vec<&str> =
            headers.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok()).collect();
        let mut call = Self { betas: betas.join(","), ..Self::of(target.dialect(), body) };
        match target {
            Target::Generate(_, Some((model, delivery))) => {
                (call.model, call.delivery) = (Some(model.clone()), Some(*delivery));
            }
            Target::Count(_, model) => (call.model, call.is_count) = (model.clone(), true),
            _ => {}
        }
        call
    }
}

/// The body as a JSON object.
fn parsed(dialect: Dialect, body: &[u8]) -> Result<Value, Rejection> {
    match serde_json::from_slice(body) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) | Err(_) => Err(Rejection::bad(match dialect.kind() {
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
fn glance(call: &Call) -> (String, Delivery) {
    if let (Some(model), Some(delivery)) = (&call.model, call.delivery) {
        return (model.clone(), delivery);
    }
    let value: Value = serde_json::from_slice(&call.body).unwrap_or_default();
    let model = value.get("model").and_then(Value::as_str).unwrap_or_default();
    let delivery = match value.get("stream") {
        Some(Value::Bool(true)) => Delivery::Events,
        _ => Delivery::Whole,
    };
    (model.to_owned(), delivery)
}

/// A list that says nothing of windows and lengths, as that of OpenAI itself.
fn without_sizes(value: Value) -> Value {
    const SIZES: [&str; 7] = [
        "context_length",
        "max_model_len",
        "max_completion_tokens",
        "max_input_tokens",
        "max_tokens",
        "inputTokenLimit",
        "outputTokenLimit",
    ];
    match value {
        Value::Array(list) => list.into_iter().map(without_sizes).collect(),
        Value::Object(object) => {
            let kept = object.into_iter().filter(|(key, _)| !SIZES.contains(&key.as_str()));
            kept.map(|(key, value)| (key, without_sizes(value))).collect()
        }
        other => other,
    }
}
