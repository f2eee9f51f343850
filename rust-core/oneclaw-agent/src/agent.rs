//! The agent: what apps and the command line call. Each method of a run returns at once; what happens is told by events.

use crate::chat::Chat;
use crate::compactor;
use crate::event::Event;
use crate::failure::Failure;
use crate::live::{Live, measured};
use crate::ports::{KeyVault, Surroundings};
use crate::preferences::Preferences;
use crate::send::{self, Start};
use crate::session::{Core, Job, lock};
use crate::stop::{Stop, Why};
use crate::target;
use crate::title::UNTITLED;
use crate::tools::Registry;
use crate::turn;
use oneclaw_context::assemble::Parts;
use oneclaw_context::estimate::Estimate;
use oneclaw_context::{Moment, Plan, Policy, pins};
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, ModelLimits, Row};
use oneclaw_providers::{Cleartext, Client, Endpoint, ListedModel, Timing};
use oneclaw_store::messages::State;
use oneclaw_store::queue::Queued;
use oneclaw_store::{
    Connection, Place, Store, Transaction, agents, catalogue, epochs, messages, queue, sessions,
};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

/// The most bytes of text and attachments in one message.
const MOST_BYTES: usize = 32 * 1_024 * 1_024;

/// What an agent is opened with.
#[derive(Clone)]
pub struct Config {
    /// The file of the conversations; made if it is not there.
    pub database: PathBuf,
    /// How contexts are kept small.
    pub policy: Policy,
    /// The tools there are.
    pub tools: Registry,
    /// Which of them models are offered.
    pub offer: Offer,
    /// How long services may take.
    pub timing: Timing,
    /// How long a compaction may take.
    pub patience: Patience,
    /// Hosts that may be spoken to without encryption.
    pub cleartext: Cleartext,
}

impl Config {
    /// The defaults, with a file and no tools.
    pub fn new(database: PathBuf) -> Self {
        Self {
            database,
            policy: Policy::default(),
            tools: Registry::new(),
            offer: Offer::AgentsChoice,
            timing: Timing::default(),
            patience: Patience::default(),
            cleartext: Cleartext::default(),
        }
    }
}

/// Which tools models are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// Those the session's agent lists.
    AgentsChoice,
    /// Those, and these.
    Also(Vec<String>),
    /// These.
    Only(Vec<String>),
}

/// How long a compaction may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// A summary call without a byte.
    pub silence: Duration,
    /// All calls of one compaction together.
    pub pass: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { silence: Duration::from_secs(15), pass: Duration::from_secs(120) }
    }
}

/// How a session's context stands.
#[derive(Debug, Clone)]
pub struct Status {
    /// The size of the next request.
    pub estimate: Estimate,
    /// The window, if known.
    pub window: Option<u64>,
    /// The largest request that may be sent.
    pub hard_limit: Option<u64>,
    /// The largest size that does not fire.
    pub trigger: Option<u64>,
    /// Where its tokens go.
    pub parts: Parts<u64>,
    /// What stands for the rows before the boundary.
    pub summary: Option<String>,
    /// All compactions, the oldest first; those undone too.
    pub epochs: Vec<epochs::Epoch>,
    /// The pinned messages.
    pub pins: Vec<messages::Stored>,
    /// Where the rows begin that are sent as they are.
    pub boundary: Place,
    /// The provider and model asked next.
    pub model: (String, String),
}

/// A run: events in order, until there are no more. Dropping it stops it.
#[derive(Debug)]
pub struct Run {
    /// The message that was saved, if the run began with one.
    pub message_id: Option<String>,
    events: UnboundedReceiver<Event>,
    stop: Stop,
}

impl Run {
    /// The next event; `None` when the run is over.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Ends the run; what was saved stays.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Something that can end the run from elsewhere.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// Conversations with models, kept in a file. Cheap to clone; needs a tokio runtime with time and I/O.
#[derive(Clone)]
pub struct Agent(Arc<Core>);

impl Agent {
    /// Opens the file, or makes it.
    pub async fn open(
        config: Config,
        vault: Arc<dyn KeyVault>,
        surroundings: Arc<dyn Surroundings>,
    ) -> Result<Self, Failure> {
        let now = surroundings.now();
        let database = config.database;
        let opened = tokio::task::spawn_blocking(move || Store::open(&database, now)).await;
        let store = opened.map_err(|error| Failure::Internal(error.to_string()))??;
        let client = Client::new(config.timing, config.cleartext.clone())?;
        let Patience { silence, .. } = config.patience;
        let hasty = Timing { idle: silence, connect: config.timing.connect.min(silence), ..config.timing };
        Ok(Self(Arc::new(Core {
            store: Arc::new(store),
            client,
            summary_client: Client::new(hasty, config.cleartext)?,
            vault,
            surroundings,
            tools: config.tools,
            offer: config.offer,
            patience: config.patience,
            policy: RwLock::new(Arc::new(config.policy)),
            limits: RwLock::new(HashMap::new()),
            sessions: Mutex::default(),
            tasks: Mutex::new(JoinSet::new()),
            closing: Stop::new(),
        })))
    }

    /// The file, for lists, pages and settings.
    pub fn store(&self) -> &Arc<Store> {
        &self.0.store
    }

    /// Milliseconds since 1970, as the agent sees it.
    pub fn now(&self) -> i64 {
        self.0.now()
    }

    /// Asks the file something, on a thread that may wait.
    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        self.check_open()?;
        self.0.read(query).await
    }

    /// Changes something in the file: lists and settings. Rows of a conversation are changed by runs.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        self.check_open()?;
        self.0.write(work).await
    }

    /// Brings the rows that another app has added into order, before a page of them is read.
    pub async fn prepare(&self, session: &str) -> Result<(), Failure> {
        self.check_open()?;
        let id = session.to_owned();
        self.0.blocking(move |store| Ok(store.prepare(&id)?)).await
    }

    /// Removes a session and all that belongs to it, for good.
    pub async fn purge(&self, session: &str) -> Result<(), Failure> {
        let (job, _) = self.job(session)?;
        self.stop(session);
        let _both = job.turn_and_compaction().await?;
        let id = session.to_owned();
        self.0.blocking(move |store| Ok(store.purge(&id)?)).await?;
        lock(&self.0.sessions).remove(session);
        Ok(())
    }

    /// How contexts are kept small.
    pub fn policy(&self) -> Arc<Policy> {
        self.0.policy()
    }

    /// Keeps contexts small in another way from the next turn on.
    pub fn set_policy(&self, policy: Policy) {
        *self.0.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// How the user wants contexts to be kept small, as the file says.
    pub async fn preferences(&self) -> Result<Preferences, Failure> {
        self.0.read(Preferences::read).await
    }

    /// Keeps what the user wants, and does so from the next turn on.
    pub async fn set_preferences(&self, preferences: Preferences) -> Result<(), Failure> {
        let policy = preferences.policy()?;
        self.0.write(move |t| preferences.keep(t)).await?;
        self.set_policy(policy);
        Ok(())
    }

    /// Does what the file says the user wants; where that makes no sense any more, what the agent was opened with.
    pub async fn use_preferences(&self) -> Result<(), Failure> {
        match self.preferences().await?.policy() {
            Ok(policy) => self.set_policy(policy),
            Err(failure) => log::warn!("the kept policy is not used: {failure}"),
        }
        Ok(())
    }

    /// Gives a model limits that go before those of the file; what is not named stays as it was. Forgotten on closing.
    pub fn set_limits(&self, provider_id: &str, model: &str, limits: ModelLimits) {
        let mut all = self.0.limits.write().unwrap_or_else(PoisonError::into_inner);
        let known = all.entry((provider_id.to_owned(), model.to_owned())).or_default();
        *known = ModelLimits {
            window: limits.window.or(known.window),
            input_limit: limits.input_limit.or(known.input_limit),
            max_output: limits.max_output.or(known.max_output),
        };
    }

    /// Begins a session with the general assistant.
    pub async fn create_session(&self) -> Result<String, Failure> {
        self.create_session_with(agents::GENERAL_ASSISTANT, None).await
    }

    /// Begins a session with an agent and, if one is named, a model: (provider, model). There is no session where one of them
    /// is refused.
    pub async fn create_session_with(
        &self,
        agent_id: &str,
        model: Option<(String, String)>,
    ) -> Result<String, Failure> {
        self.check_open()?;
        if let Some((_, name)) = &model {
            check_model(name)?;
        }
        let (id, agent, now) = (self.0.new_id(), agent_id.to_owned(), self.0.now());
        let created = id.clone();
        self.0
            .write(move |t| {
                agents::get(t, &agent)?;
                sessions::create(t, &created, UNTITLED, &agent, now)?;
                match model {
                    Some((provider, model)) => put_model(t, &created, &provider, &model),
                    None => Ok(()),
                }
            })
            .await?;
        Ok(id)
    }

    /// Lets a session speak to a model from its next turn on.
    pub async fn set_model(&self, session: &str, provider_id: &str, model: &str) -> Result<(), Failure> {
        self.check_open()?;
        check_model(model)?;
        let (session, provider, model) = (session.to_owned(), provider_id.to_owned(), model.to_owned());
        self.0.write(move |t| put_model(t, &session, &provider, &model)).await
    }

    // ---- runs ----

    /// Saves a message and answers it. When this returns, the message is in the file.
    pub async fn send(
        &self,
        session: &str,
        text: &str,
        attachments: Vec<Attachment>,
    ) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        check_message(text, &attachments)?;
        let saved = send::save(&job, text.to_owned(), attachments).await?;
        Ok(self.answer(job, events, Start::Message(saved)))
    }

    /// Answers the newest message once more. The reply so far is kept aside.
    pub async fn regenerate(&self, session: &str) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        Ok(self.answer(job, events, Start::Regenerate))
    }

    /// Puts another text and other attachments in place of the newest message and answers it. What was there is kept
    /// aside.
    pub async fn edit(
        &self,
        session: &str,
        message: &str,
        text: &str,
        attachments: Vec<Attachment>,
    ) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        check_message(text, &attachments)?;
        self.prepare(session).await?;
        let owner = session.to_owned();
        let newest = self.0.read(move |c| turn::newest_question(c, &owner)).await?;
        if newest.row.id != message {
            return Err(Failure::Invalid("only the newest message can be edited".to_owned()));
        }
        let saved = send::save(&job, text.to_owned(), attachments).await?;
        Ok(self.answer(job, events, Start::Edit { message: saved, replaces: message.to_owned() }))
    }

    /// Compacts a session now, with particular care for a topic if one is named.
    pub async fn compact(&self, session: &str, focus: Option<String>) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        let focus = focus.filter(|focus| !focus.trim().is_empty());
        Ok(self.run(job, events, None, move |job| async move { compactor::by_hand(&job, focus, None).await }))
    }

    /// Compactions that were begun and did not end because the agent was closed or killed.
    pub async fn queued(&self) -> Result<Vec<Queued>, Failure> {
        self.0.read(queue::list).await
    }

    /// Takes up the compaction of a session that did not end; ends at once if there is none.
    pub async fn resume(&self, session: &str) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        let entry = self.queued().await?.into_iter().find(|entry| entry.session_id == session);
        Ok(self.run(job, events, None, move |job| async move {
            match entry {
                Some(entry) => {
                    let reason = compactor::parsed(&entry.reason);
                    compactor::by_hand(&job, entry.focus, reason).await
                }
                None => Ok(()),
            }
        }))
    }

    /// Stops what is at work in a session. Messages in line stay there.
    pub fn stop(&self, session: &str) {
        self.0.session(session).stop();
    }

    // ---- the context of a session ----

    /// How its context stands.
    pub async fn status(&self, session: &str) -> Result<Status, Failure> {
        let (job, _) = self.job(session)?;
        let (chat, _, plan) = self.look(&job).await?;
        let id = session.to_owned();
        let (standing, epochs, pins) = self
            .0
            .read(move |c| Ok((epochs::standing(c, &id)?, epochs::list(c, &id)?, messages::pinned(c, &id)?)))
            .await?;
        Ok(Status {
            estimate: plan.request_estimate,
            window: plan.budget.and_then(|b| b.window),
            hard_limit: plan.budget.map(|b| b.hard),
            trigger: plan.budget.map(|b| b.trigger),
            parts: plan.shares(),
            boundary: standing.as_ref().map_or(Place::START, |s| s.boundary),
            summary: standing.map(|s| s.summary),
            epochs,
            pins,
            model: (chat.target.provider_id, chat.target.model.0),
        })
    }

    /// The next request as things stand.
    pub async fn preview(&self, session: &str) -> Result<Plan, Failure> {
        let (job, _) = self.job(session)?;
        Ok(self.look(&job).await?.2)
    }

    /// Takes the newest compaction back; `None` if there is none.
    pub async fn undo(&self, session: &str) -> Result<Option<epochs::Epoch>, Failure> {
        self.change(session, epochs::undo).await
    }

    /// Takes all compactions back.
    pub async fn reset(&self, session: &str) -> Result<(), Failure> {
        self.change(session, epochs::reset).await
    }

    /// Pins a message: compactions carry it as it is. Refused where pins would take too much of the window.
    pub async fn pin(&self, session: &str, message: &str) -> Result<(), Failure> {
        let (job, _) = self.job(session)?;
        let (chat, _, plan) = self.look(&job).await?;
        let (owner, id) = (session.to_owned(), message.to_owned());
        let (candidate, pinned) = self
            .0
            .read(move |c| Ok((messages::get_in(c, &owner, &id)?, messages::pinned(c, &owner)?)))
            .await?;
        if candidate.pinned_at.is_some() {
            return Ok(());
        }
        if !matches!(candidate.row.kind, RowType::User | RowType::AiResponse | RowType::ToolResult) {
            return Err(Failure::Invalid("only messages, replies and tool results can be pinned".to_owned()));
        }
        if let Some(budget) = plan.budget {
            let pinned: Vec<_> = pinned.into_iter().map(measured).collect();
            pins::check(&pinned, &measured(candidate), &chat.policy, &budget, &chat.target.tariff())?;
        }
        self.set_pin(session, message, Some(self.0.now())).await
    }

    /// Takes a pin away.
    pub async fn unpin(&self, session: &str, message: &str) -> Result<(), Failure> {
        self.set_pin(session, message, None).await
    }

    async fn set_pin(&self, session: &str, message: &str, pinned_at: Option<i64>) -> Result<(), Failure> {
        let (owner, id) = (session.to_owned(), message.to_owned());
        self.write(move |t| {
            messages::get_in(t, &owner, &id)?;
            messages::set_pin(t, &id, pinned_at)
        })
        .await?;
        self.0.session(session).changed();
        Ok(())
    }

    /// The models a service lists.
    pub async fn models(&self, provider_id: &str) -> Result<Vec<ListedModel>, Failure> {
        self.check_open()?;
        let (id, vault) = (provider_id.to_owned(), self.0.vault.clone());
        let endpoint = self
            .0
            .blocking(move |store| {
                let provider = store.read(|c| catalogue::provider(c, &id))?;
                let key = target::vault_key(vault.as_ref(), &id)?;
                Ok(Endpoint { kind: provider.kind, base_url: provider.base_url, key })
            })
            .await?;
        Ok(self.0.client.models(&endpoint).await?)
    }

    /// Stops all runs, waits for them, and lets go of the file as soon as nobody else holds it. A compaction that was cut
    /// short is found in [`Self::queued`].
    pub async fn close(&self) {
        self.0.closing.give(Why::Closing);
        loop {
            let mut tasks = std::mem::take(&mut *lock(&self.0.tasks));
            if tasks.is_empty() {
                return;
            }
            while tasks.join_next().await.is_some() {}
        }
    }

    // ---- parts ----

    fn check_open(&self) -> Result<(), Failure> {
        if self.0.closing.given().is_some() { Err(Failure::Closed) } else { Ok(()) }
    }

    fn job(&self, session: &str) -> Result<(Job, UnboundedReceiver<Event>), Failure> {
        self.check_open()?;
        let (sender, events) = unbounded_channel();
        Ok((Job::new(self.0.clone(), self.0.session(session), Stop::new(), sender), events))
    }

    fn answer(&self, job: Job, events: UnboundedReceiver<Event>, start: Start) -> Run {
        let message = match &start {
            Start::Message(saved) | Start::Edit { message: saved, .. } => Some(saved.message.clone()),
            Start::Regenerate => None,
        };
        self.run(job, events, message, move |job| async move {
            let answered = send::answer(&job, start).await;
            if let Err(failure) = &answered
                && !matches!(failure, Failure::Stopped)
            {
                keep_error(&job, failure).await;
            }
            answered
        })
    }

    /// Lets a run go on by itself; a failure is its last event.
    fn run<F>(
        &self,
        job: Job,
        events: UnboundedReceiver<Event>,
        message_id: Option<String>,
        work: impl FnOnce(Arc<Job>) -> F + Send + 'static,
    ) -> Run
    where
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let stop = job.stop.clone();
        let job = Arc::new(job);
        self.0.spawn(async move {
            match tokio::spawn(work(job.clone())).await {
                Ok(Ok(()) | Err(Failure::Stopped)) => {}
                Ok(Err(failure)) => job.emit(failure.event()),
                Err(panicked) => job.emit_breakdown(&panicked.to_string()),
            }
        });
        Run { message_id, events, stop }
    }

    async fn look(&self, job: &Job) -> Result<(Chat, Live, Plan), Failure> {
        let chat = Chat::open(job).await?;
        let live = Live::load(job, &chat).await?;
        let plan = chat.look(&live, Moment::BeforeSend);
        Ok((chat, live, plan))
    }

    /// Changes what is in force, when no turn and no compaction is at work.
    async fn change<T: Send + 'static>(
        &self,
        session: &str,
        change: impl FnOnce(&Transaction<'_>, &str, i64) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (job, _) = self.job(session)?;
        let _both = job.turn_and_compaction().await?;
        let (id, now) = (session.to_owned(), self.0.now());
        let changed = self
            .0
            .blocking(move |store| {
                store.prepare(&id)?;
                Ok(store.write(|t| change(t, &id, now))?)
            })
            .await?;
        job.session.changed();
        Ok(changed)
    }
}

fn check_model(name: &str) -> Result<(), Failure> {
    match name.trim().is_empty() {
        true => Err(Failure::Invalid("a model needs a name".to_owned())),
        false => Ok(()),
    }
}

fn put_model(
    transaction: &Transaction<'_>,
    session: &str,
    provider: &str,
    model: &str,
) -> oneclaw_store::Result<()> {
    catalogue::provider(transaction, provider)?;
    sessions::set_model(transaction, session, provider, model)
}

fn check_message(text: &str, attachments: &[Attachment]) -> Result<(), Failure> {
    if text.trim().is_empty() && attachments.is_empty() {
        return Err(Failure::Invalid("the message is empty".to_owned()));
    }
    if let Some(odd) = attachments.iter().find(|a| a.mime.trim().is_empty()) {
        return Err(Failure::Invalid(format!("attachment {:?} has no media type", odd.name)));
    }
    let bytes =
        text.len() + attachments.iter().filter_map(|a| a.data.as_ref()).map(String::len).sum::<usize>();
    if bytes > MOST_BYTES {
        let limit = MOST_BYTES / 1_024 / 1_024;
        return Err(Failure::Invalid(format!(
            "the message has {bytes} bytes; at most {limit} MB can be sent"
        )));
    }
    Ok(())
}

/// Keeps an error where the user sees it later.
async fn keep_error(job: &Job, failure: &Failure) {
    let row =
        Row { content: failure.to_string(), ..Row::new(job.core.new_id(), RowType::Error, job.core.now()) };
    let session = job.session.id.clone();
    let kept = job.core.write(move |t| messages::append(t, &session, &row, State::Whole).map(drop)).await;
    if let Err(fault) = kept {
        log::error!("an error could not be saved: {fault}");
    }
}
