//! The agent: what apps and the command line call. Each method of a run returns at once; what happens is told by events.

use crate::attachments::Enclosure;
use crate::compactor;
use crate::config::{Config, Patience};
use crate::event::Event;
use crate::failure::Failure;
use crate::ports::{KeyVault, Surroundings};
use crate::preferences::Preferences;
use crate::run::Run;
use crate::send::{self, Start};
use crate::session::{Core, Job, lock};
use crate::stop::{Stop, Why};
use crate::title::UNTITLED;
use crate::turn;
use oneclaw_context::Policy;
use oneclaw_model::{Attachment, Effort, ModelLimits};
use oneclaw_providers::{Client, Timing};
use oneclaw_store::queue::Queued;
use oneclaw_store::{Connection, Store, Transaction, agents, catalogue, queue, sessions};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

/// The most bytes of text and attachments in one message.
pub(crate) const MOST_BYTES: usize = 32 * 1_024 * 1_024;

/// Conversations with models, kept in a file. Cheap to clone; needs a tokio runtime with time and I/O.
#[derive(Clone)]
pub struct Agent(pub(crate) Arc<Core>);

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
            allowance: config.allowance,
            policy: RwLock::new(Arc::new(config.policy)),
            limits: RwLock::new(HashMap::new()),
            effort: RwLock::new(None),
            looked_up: Mutex::default(),
            uncounted: Mutex::default(),
            network_failures: AtomicU64::new(0),
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

    /// Takes back what [`Self::set_limits`] said of a model's window.
    pub fn forget_window(&self, provider_id: &str, model: &str) {
        let mut all = self.0.limits.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get_mut(&(provider_id.to_owned(), model.to_owned())) {
            *known = ModelLimits { window: None, input_limit: None, ..*known };
        }
    }

    /// How much models are to reason from the next turn on; `None` leaves that to each.
    pub fn set_effort(&self, effort: Option<Effort>) {
        *self.0.effort.write().unwrap_or_else(PoisonError::into_inner) = effort;
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
    pub async fn send(&self, session: &str, text: &str, enclosures: Vec<Enclosure>) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        let attachments = self.gather(enclosures).await?;
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
    /// aside; of its attachments only those stay that are named.
    pub async fn edit(
        &self,
        session: &str,
        message: &str,
        text: &str,
        enclosures: Vec<Enclosure>,
    ) -> Result<Run, Failure> {
        let (job, events) = self.job(session)?;
        let attachments = self.gather(enclosures).await?;
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

    pub(crate) fn check_open(&self) -> Result<(), Failure> {
        if self.0.closing.given().is_some() { Err(Failure::Closed) } else { Ok(()) }
    }

    pub(crate) fn job(&self, session: &str) -> Result<(Job, UnboundedReceiver<Event>), Failure> {
        self.check_open()?;
        let (sender, events) = unbounded_channel();
        Ok((Job::new(self.0.clone(), self.0.session(session), Stop::new(), sender), events))
    }

    fn answer(&self, job: Job, events: UnboundedReceiver<Event>, start: Start) -> Run {
        let message = match &start {
            Start::Message(saved) | Start::Edit { message: saved, .. } => Some(saved.message.clone()),
            Start::Regenerate => None,
        };
        self.run(job, events, message, move |job| async move { send::answer(&job, start).await })
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
