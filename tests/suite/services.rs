//! The client against the model server, over real HTTP: what the encoders write is what a strict service takes, and
//! every way in which a service goes wrong ends in the error that says so.
//!
//! Each test goes through all three dialects. The server counts with a real tokenizer.

mod cancel;
mod faults;
mod oddities;
mod planned;
mod refusals;
mod replies;

use crate::estimation_text::o200k;
use oneclaw_demo::{Config, Model, PER_MESSAGE, PER_REQUEST, Server, Step, Tokenizer};
use oneclaw_model::{
    Attachment, Call, Piece, ProviderKind, Request, RequestMessage, Thinking, ToolSpec, Usage,
};
use oneclaw_providers::{
    Cleartext, Client, Endpoint, EventStream, Profile, ProviderError, StopReason, StreamEvent, Timing,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) const KINDS: [ProviderKind; 3] =
    [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini];

/// A PNG of 1000 × 1000 pixels, as far as its header goes.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA";

const TIMING: Timing = Timing {
    connect: Duration::from_secs(5),
    idle: Duration::from_secs(30),
    quiet: Duration::from_secs(60),
    attempts: 3,
    backoff: Duration::from_millis(5),
};

/// A model of that dialect that neither reasons out of sight nor needs room for it.
fn model(kind: ProviderKind) -> &'static str {
    match kind {
        ProviderKind::OpenAi => "gpt-4o",
        ProviderKind::Anthropic => "claude-sonnet-4-5-20250929",
        ProviderKind::Gemini => "gemini-2.5-flash",
    }
}

/// Counts as GPT-4o does.
pub(crate) struct O200k;

impl Tokenizer for O200k {
    fn count(&self, text: &str) -> u64 {
        o200k(text)
    }
}

/// The usual models of that size, and more of the same.
fn config(window: u64, max_output: u64, more: &[&'static str]) -> Config {
    let ids = KINDS.into_iter().map(model).chain(more.iter().copied());
    let models = ids.map(|id| Model { id: id.into(), window, max_output }).collect();
    // What models refuse by the catalogue has tests of its own.
    Config { models, tokenizer: Arc::new(O200k), uses_catalogue: false, ..Config::default() }
}

async fn serve(config: Config) -> Server {
    Server::start(config).await.unwrap()
}

/// A server with room for everything, and a script.
async fn scripted(script: Vec<Step>) -> Server {
    serve(Config { script, ..config(128_000, 8_192, &["gemini-3-pro"]) }).await
}

fn endpoint(server: &Server, kind: ProviderKind) -> Endpoint {
    Endpoint { kind, base_url: server.base_url(kind), key: None }
}

fn client_with(timing: Timing) -> Client {
    Client::new(timing, Cleartext::default()).unwrap()
}

fn client() -> Client {
    client_with(TIMING)
}

// ---- what is asked ----

fn user(text: &str) -> RequestMessage {
    RequestMessage::User { text: text.into(), attachments: vec![] }
}

fn result(call: &Call, text: &str) -> RequestMessage {
    RequestMessage::ToolResult {
        call: call.id.clone(),
        name: call.name.clone(),
        text: text.into(),
        failed: false,
        attachments: vec![],
    }
}

fn picture() -> Attachment {
    Attachment {
        mime: "image/png".into(),
        name: "map.png".into(),
        width: Some(1_000),
        height: Some(1_000),
        data: Some(PNG.into()),
    }
}

fn tool(name: &str) -> ToolSpec {
    let parameters = serde_json::json!({"type": "object", "properties": {"at": {"type": "string"}}});
    ToolSpec { name: name.into(), description: format!("Does {name}."), parameters, protected: false }
}

fn request(messages: Vec<RequestMessage>) -> Request {
    Request { system: None, tools: vec![], messages, max_output: Some(500) }
}

fn hello() -> Request {
    request(vec![user("Hello")])
}

/// The size of a prompt that is texts only.
fn prompt(texts: &[&str]) -> u64 {
    texts.iter().map(|text| o200k(text) + PER_MESSAGE).sum::<u64>() + PER_REQUEST
}

// ---- what comes back ----

/// A reply, put together.
#[derive(Debug, Clone, PartialEq, Default)]
struct Said {
    text: String,
    /// The reasoning as people read it.
    thought: String,
    /// The reasoning as it goes back.
    thinking: Vec<Thinking>,
    calls: Vec<Call>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    error: Option<ProviderError>,
}

impl Said {
    fn take(&mut self, event: StreamEvent) {
        assert_eq!(self.stop, None, "{event:?} after the end");
        match event {
            StreamEvent::Text(more) => self.text.push_str(&more),
            StreamEvent::Thinking(more) => self.thought.push_str(&more),
            StreamEvent::Thought(thinking) => self.thinking.push(thinking),
            StreamEvent::TextSignature(_) => {}
            StreamEvent::CallStarted { id, name } => {
                self.calls.push(Call { id, name, arguments: String::new(), signature: None });
            }
            StreamEvent::CallArguments { id, delta } => self.call(id.as_str()).arguments.push_str(&delta),
            StreamEvent::CallCompleted { id, signature } => self.call(id.as_str()).signature = signature,
            StreamEvent::Usage(usage) => self.usage = Some(usage),
            StreamEvent::Stopped(stop) => self.stop = Some(stop),
        }
    }

    fn call(&mut self, id: &str) -> &mut Call {
        self.calls.iter_mut().find(|call| call.id.as_str() == id).expect("a call that was started")
    }

    /// The reply as it goes back in the next request.
    fn message(&self) -> RequestMessage {
        RequestMessage::Assistant {
            text: self.text.clone(),
            calls: self.calls.clone(),
            trace: self.thinking.iter().cloned().map(Piece::Thinking).collect(),
        }
    }

    fn failed(error: ProviderError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }
}

async fn rest(mut stream: EventStream) -> Said {
    let mut said = Said::default();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => said.take(event),
            Err(error) => {
                assert_eq!(stream.next().await, None, "something after an error");
                said.error = Some(error);
            }
        }
    }
    said
}

/// The signature of the first block of reasoning, where the service signs it.
fn signature(said: &Said) -> Option<String> {
    match said.thinking.first()? {
        Thinking::Signed { signature, .. } => Some(signature.clone()),
        _ => None,
    }
}

async fn ask(server: &Server, kind: ProviderKind, request: &Request) -> Said {
    ask_model(server, kind, model(kind), request).await
}

async fn ask_model(server: &Server, kind: ProviderKind, model: &str, request: &Request) -> Said {
    match client()
        .stream(&endpoint(server, kind), &Profile::of(&endpoint(server, kind), model), request)
        .await
    {
        Ok(stream) => rest(stream).await,
        Err(error) => Said::failed(error),
    }
}

/// Waits until something holds; a machine with much to do gets its time.
pub(crate) async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
