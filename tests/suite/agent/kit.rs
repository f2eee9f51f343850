//! An agent with a file of its own and a server to speak to.

use crate::services::O200k;
use crate::store::Folder;
use oneclaw_agent::tools::{Answer, Answering, Registry, Tool};
use oneclaw_agent::{
    Agent, Allowance, Config, Event, Failure, KeyVault, Offer, Patience, Run, Surroundings, System,
};
use oneclaw_context::Policy;
use oneclaw_context::policy::ONECLAW;
use oneclaw_demo::{Exchange, Model, Server, Step, Tokenizer};
use oneclaw_model::row::{Row, RowType};
use oneclaw_model::{ModelLimits, ProviderKind, ToolSpec};
use oneclaw_providers::{ApiKey, Origin, Timing};
use oneclaw_store::catalogue::{self, CUSTOM, Provider};
use oneclaw_store::messages::{self, Stored};
use oneclaw_store::{Place, epochs, sessions};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The provider every session of the kit speaks to.
pub const PROVIDER: &str = "provider-kit";
/// Its ordinary model.
pub const MODEL: &str = "gpt-4o";
/// A model that no catalogue lists.
pub const UNLISTED: &str = "house-model";

/// No test waits for a service that is really slow.
pub const TIMING: Timing = Timing {
    connect: Duration::from_secs(10),
    idle: Duration::from_secs(20),
    quiet: Duration::from_secs(60),
    attempts: 2,
    backoff: Duration::from_millis(5),
};

/// A vault with the same key for everyone.
pub struct Keys(pub Option<&'static str>);

impl KeyVault for Keys {
    fn key(&self, _: &str, _: &Origin) -> Result<Option<ApiKey>, String> {
        Ok(self.0.map(|key| ApiKey::new(key.to_owned())))
    }
}

/// The machine's chance, and a clock that a test can stop or move on; otherwise it ticks at every look.
#[derive(Default)]
pub struct Ticking(AtomicU64);

impl Surroundings for Ticking {
    fn now(&self) -> i64 {
        1_700_000_000_000 + self.0.fetch_add(1, Ordering::SeqCst) as i64
    }
    fn random(&self) -> u128 {
        System.random()
    }
}

/// What a house is built of.
pub struct Setup {
    pub kind: ProviderKind,
    /// What the server really offers.
    pub served: Vec<(&'static str, u64)>,
    /// What the file says of windows, where that differs.
    pub believed: Option<u64>,
    pub max_output: u64,
    /// Whether the user has told how long replies may be.
    pub tells_output: bool,
    pub policy: Policy,
    pub tools: Registry,
    pub offer: Offer,
    pub timing: Timing,
    pub patience: Patience,
    pub allowance: Allowance,
    pub system: Option<String>,
    pub delay: Duration,
    pub key: Option<&'static str>,
    /// Who hands out keys, if not one that has this key for everyone.
    pub vault: Option<Arc<dyn KeyVault>>,
    /// How the server counts.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// What else the server is started with.
    pub demo: oneclaw_demo::Config,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            kind: ProviderKind::OpenAi,
            served: vec![(MODEL, 8_000)],
            believed: None,
            max_output: 1_000,
            tells_output: true,
            policy: ONECLAW,
            tools: Registry::new(),
            offer: Offer::Only(vec![]),
            timing: TIMING,
            patience: Patience {
                silence: Duration::from_secs(10),
                pass: Duration::from_secs(60),
                ..Patience::default()
            },
            allowance: Allowance::default(),
            system: None,
            delay: Duration::ZERO,
            key: None,
            vault: None,
            tokenizer: Arc::new(O200k),
            // What models refuse by the catalogue has tests of its own.
            demo: oneclaw_demo::Config { uses_catalogue: false, ..Default::default() },
        }
    }
}

impl Setup {
    /// One model with that window.
    pub fn window(window: u64) -> Self {
        Self { served: vec![(MODEL, window)], ..Self::default() }
    }

    /// A model that neither the file, the catalogue nor its service's list knows the window of.
    pub fn unlisted(window: u64) -> Self {
        let mut setup = Self { believed: Some(0), served: vec![(UNLISTED, window)], ..Self::default() };
        setup.demo.lists_sizes = false;
        setup
    }

    /// The same with a preset.
    pub fn preset(self, name: &str) -> Self {
        Self { policy: Policy::preset(name).unwrap(), ..self }
    }

    /// The same with a tool.
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let name = tool.spec().name;
        self.tools.insert(tool);
        match &mut self.offer {
            Offer::Only(names) => names.push(name),
            other => *other = Offer::Only(vec![name]),
        }
        self
    }

    /// Starts the server, opens the file, begins a session.
    pub async fn build(self, name: &str) -> House {
        let folder = Folder::new(name);
        let agent = self.open(&folder).await;
        let server = self.serve(&agent).await;
        for (id, window) in &self.served {
            let model = catalogue::Model {
                id: (*id).into(),
                provider_id: PROVIDER.into(),
                display_name: None,
                is_default: false,
                source: CUSTOM.into(),
                window: self.believed.or(Some(*window)).filter(|w| *w > 0),
            };
            agent.store().write(|t| catalogue::save_model(t, &model)).unwrap();
        }
        let mut house = House { agent, server, session: String::new(), setup: self, folder };
        house.session = house.new_session().await;
        house
    }

    /// Starts the server, and tells the file where it is.
    async fn serve(&self, agent: &Agent) -> Server {
        let models = self
            .served
            .iter()
            .map(|(id, window)| Model { id: (*id).into(), window: *window, max_output: self.max_output })
            .collect();
        let server = Server::start(oneclaw_demo::Config {
            models,
            tokenizer: self.tokenizer.clone(),
            delay: self.delay,
            piece: 40,
            key: self.key.map(str::to_owned),
            ..self.demo.clone()
        })
        .await
        .unwrap();
        let provider = Provider {
            id: PROVIDER.into(),
            name: "Kit".into(),
            kind: self.kind,
            base_url: server.base_url(self.kind),
            is_preset: false,
            is_active: true,
        };
        agent.store().write(|t| catalogue::save_provider(t, &provider, 1)).unwrap();
        server
    }

    async fn open(&self, folder: &Folder) -> Agent {
        let config = Config {
            policy: self.policy.clone(),
            tools: self.tools.clone(),
            offer: self.offer.clone(),
            timing: self.timing,
            patience: self.patience,
            allowance: self.allowance,
            ..Config::new(folder.file("oneclaw.db"))
        };
        let vault = self.vault.clone().unwrap_or_else(|| Arc::new(Keys(self.key)));
        let agent = Agent::open(config, vault, Arc::new(Ticking::default())).await.unwrap();
        for (id, _) in self.served.iter().filter(|_| self.tells_output) {
            let limits = ModelLimits { max_output: Some(self.max_output), ..ModelLimits::default() };
            agent.set_limits(PROVIDER, id, limits);
        }
        agent
    }
}

/// An agent, its file and its server.
pub struct House {
    pub agent: Agent,
    pub server: Server,
    pub session: String,
    pub setup: Setup,
    // Last: the folder goes when everything else has let go of it.
    pub folder: Folder,
}

impl House {
    /// A session that speaks to the first model and has a title.
    pub async fn new_session(&self) -> String {
        let session = self.agent.create_session().await.unwrap();
        let model = self.setup.served.first().unwrap().0;
        self.agent.set_model(&session, PROVIDER, model).await.unwrap();
        let system = self.setup.system.clone();
        self.agent
            .store()
            .write(|t| {
                if let Some(system) = &system {
                    let mut agent = oneclaw_store::agents::get(t, oneclaw_store::agents::GENERAL_ASSISTANT)?;
                    agent.system_prompt.clone_from(system);
                    oneclaw_store::agents::save(t, &agent, 1)?;
                }
                sessions::rename(t, &session, "A title")
            })
            .unwrap();
        session
    }

    /// The app is closed and started again.
    pub async fn restart(&mut self) {
        self.agent.close().await;
        self.agent = self.setup.open(&self.folder).await;
    }

    /// The service is elsewhere from now on, and has no script.
    pub async fn new_server(&mut self) {
        let server = self.setup.serve(&self.agent).await;
        std::mem::replace(&mut self.server, server).stop().await;
    }

    /// Sends a message and waits for everything that follows.
    pub async fn send(&self, text: &str) -> Vec<Event> {
        let run = self.agent.send(&self.session, text, vec![]).await.unwrap();
        all(run).await
    }

    /// Sends a message that is answered, and says with what.
    pub async fn ask(&self, text: &str) -> String {
        let events = self.send(text).await;
        assert_eq!(errors(&events), [] as [String; 0]);
        said(&events)
    }

    /// The same file in another process, as far as the file is concerned.
    pub async fn another_process(&self) -> Agent {
        self.setup.open(&self.folder).await
    }

    /// Compacts by hand.
    pub async fn compact(&self, focus: Option<&str>) -> Vec<Event> {
        all(self.agent.compact(&self.session, focus.map(str::to_owned)).await.unwrap()).await
    }

    /// All rows of the session.
    pub fn rows(&self) -> Vec<Stored> {
        self.agent.store().read(|c| messages::since(c, &self.session, Place::START)).unwrap()
    }

    /// Kind and text of all rows.
    pub fn texts(&self) -> Vec<(RowType, String)> {
        self.rows().into_iter().map(|stored| (stored.row.kind, text_of(&stored.row))).collect()
    }

    /// What the user wrote, as it is in the file.
    pub fn questions(&self) -> Vec<String> {
        let users = self.texts().into_iter().filter(|(kind, _)| *kind == RowType::User);
        users.map(|(_, text)| text).collect()
    }

    /// The compactions in force or undone.
    pub fn epochs(&self) -> Vec<epochs::Epoch> {
        self.agent.store().read(|c| epochs::list(c, &self.session)).unwrap()
    }

    /// Requests for replies and summaries, as they came in.
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.server.log().into_iter().filter(|e| e.method == "POST" && !is_count(&e.path)).collect()
    }

    /// Requests for the size of a prompt.
    pub fn counts(&self) -> Vec<Exchange> {
        self.server.log().into_iter().filter(|e| is_count(&e.path)).collect()
    }

    /// Requests that were refused as too long.
    pub fn refused(&self) -> usize {
        self.exchanges().iter().filter(|e| e.status == Some(400)).count()
    }

    /// Requests for summaries.
    pub fn summaries(&self) -> Vec<Exchange> {
        self.exchanges().into_iter().filter(|e| is_summary(&e.request)).collect()
    }

    /// Requests that are not for summaries.
    pub fn chats(&self) -> Vec<Exchange> {
        self.exchanges().into_iter().filter(|e| !is_summary(&e.request)).collect()
    }

    /// What the next calls get.
    pub fn script(&self, steps: impl IntoIterator<Item = Step>) {
        steps.into_iter().for_each(|step| self.server.push(step));
    }
}

/// The addresses at which services count, those included that a server does not have.
fn is_count(path: &str) -> bool {
    ["/input_tokens", "/count_tokens", ":countTokens", "/tokenize"].iter().any(|end| path.ends_with(end))
}

/// Every summary request has one of the engine's frames around its material.
fn is_summary(request: &Value) -> bool {
    let text = request.to_string();
    text.contains("<conversation>") || text.contains("<part>")
}

/// Everything a run says.
pub async fn all(mut run: Run) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    events
}

/// The reply in a run.
pub fn said(events: &[Event]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            Event::StreamingText { text } => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// The errors in a run.
pub fn errors(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::Error { message, code, retryable } => {
                Some(format!("{code:?} {}: {message}", if *retryable { "retryable" } else { "final" }))
            }
            _ => None,
        })
        .collect()
}

/// The names of the events, with repetitions of deltas joined.
pub fn names(events: &[Event]) -> Vec<String> {
    let mut names: Vec<String> = events
        .iter()
        .map(|event| serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    names.dedup();
    names
}

/// The compactions that ended in a run: did_compact, fallback, strategy, reason.
pub fn compactions(events: &[Event]) -> Vec<(bool, bool, Option<String>, String)> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::CompactCompleted { did_compact, fallback, strategy, reason, .. } => Some((
                *did_compact,
                *fallback,
                strategy.map(|s| json!(s).as_str().unwrap().to_owned()),
                json!(reason).as_str().unwrap().to_owned(),
            )),
            _ => None,
        })
        .collect()
}

fn text_of(row: &Row) -> String {
    row.tool_output.clone().or(row.tool_input.clone()).unwrap_or_else(|| row.content.clone())
}

/// A failure's words.
pub fn why<T: std::fmt::Debug>(result: Result<T, Failure>) -> String {
    result.unwrap_err().to_string()
}

/// A tool made of a function.
pub struct Host<F> {
    pub name: &'static str,
    pub work: F,
}

impl<F, R> Tool for Host<F>
where
    F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
    R: Future<Output = Answer> + Send + 'static,
{
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.into(),
            description: format!("Reads something called {}.", self.name),
            parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
            protected: false,
        }
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(async move { (self.work)(arguments).await })
    }
}

/// A tool that answers with so many words.
pub fn wordy(name: &'static str, words: usize) -> impl Tool {
    Host { name, work: move |_| async move { Answer::ok("gravel ".repeat(words)) } }
}
