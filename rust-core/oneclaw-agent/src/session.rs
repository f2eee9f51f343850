//! What all runs share, and what the runs of one session share.
//!
//! Turns of a session go one after another: `turn` is handed on in the order they asked for it. A compaction may go on
//! beside a turn, one at a time: `compaction`. Who needs both takes `turn` first. The file is the truth; `version` says
//! when what a turn has in memory is no longer what is in force (ADR 0011).

use crate::complete::Writing;
use crate::config::{Allowance, Offer, Patience};
use crate::event::Event;
use crate::failure::Failure;
use crate::ports::{KeyVault, Surroundings, new_id};
use crate::stop::{Stop, Why};
use crate::target::Refused;
use crate::tools::Registry;
use oneclaw_context::Policy;
use oneclaw_model::{Effort, ModelLimits};
use oneclaw_providers::{Adjustments, Client, Counter, Meter, ProviderError};
use oneclaw_store::engine::ModelAt;
use oneclaw_store::{Connection, Store, Transaction};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::task::JoinSet;

/// A lock whose holder has panicked holds data that is whole: every change below is one assignment.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What all runs share.
pub(crate) struct Core {
    pub store: Arc<Store>,
    pub client: Client,
    /// Asks for summaries: less patient, and sends each request once.
    pub summary_client: Client,
    pub vault: Arc<dyn KeyVault>,
    pub surroundings: Arc<dyn Surroundings>,
    pub tools: Registry,
    pub offer: Offer,
    pub patience: Patience,
    pub allowance: Allowance,
    pub policy: RwLock<Arc<Policy>>,
    pub limits: RwLock<HashMap<(String, String), ModelLimits>>,
    pub effort: RwLock<Option<Effort>>,
    /// How often services were asked what their models hold, by their addresses.
    pub looked_up: Mutex<HashMap<String, u32>>,
    /// Which endpoints for counting services turned out not to have, by their origins.
    pub uncounted: Mutex<HashSet<(String, Counter)>>,
    /// How often the way to a service failed, whichever it was.
    pub network_failures: AtomicU64,
    pub sessions: Mutex<HashMap<String, Arc<Session>>>,
    pub tasks: Mutex<JoinSet<()>>,
    pub closing: Stop,
}

impl Core {
    pub fn policy(&self) -> Arc<Policy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn limits_of(&self, provider_id: &str, model: &str) -> ModelLimits {
        let limits = self.limits.read().unwrap_or_else(PoisonError::into_inner);
        limits.get(&(provider_id.to_owned(), model.to_owned())).copied().unwrap_or_default()
    }

    pub fn effort(&self) -> Option<Effort> {
        *self.effort.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> i64 {
        self.surroundings.now()
    }

    pub fn new_id(&self) -> String {
        new_id(self.surroundings.as_ref())
    }

    /// How often the way to a service has failed so far.
    pub fn network_failures(&self) -> u64 {
        self.network_failures.load(Ordering::SeqCst)
    }

    /// Notes an error if it is one of the way to a service: over a bad network nothing is asked that can be done without.
    pub fn note_failure(&self, error: &ProviderError) {
        if matches!(error, ProviderError::Network { .. } | ProviderError::Timeout { .. }) {
            self.network_failures.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// What the runs of a session share.
    pub fn session(&self, id: &str) -> Arc<Session> {
        lock(&self.sessions).entry(id.to_owned()).or_insert_with(|| Arc::new(Session::new(id))).clone()
    }

    /// Does something that blocks. It is finished even if the caller is dropped.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let store = self.store.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(done) => done,
            Err(error) => Err(Failure::Internal(error.to_string())),
        }
    }

    pub async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        self.blocking(move |store| Ok(store.read(query)?)).await
    }

    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        self.blocking(move |store| Ok(store.write(work)?)).await
    }

    /// Runs something on its own; `Agent::close` waits for it.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }
}

/// What the runs of a session share.
#[derive(Debug)]
pub(crate) struct Session {
    pub id: String,
    turn: Arc<AsyncMutex<()>>,
    compaction: Arc<AsyncMutex<()>>,
    version: AtomicU64,
    /// Messages in the file's line whose runs wait for their turn.
    waiting: Mutex<HashSet<String>>,
    /// Runs that are at work: in their turn, or compacting.
    at_work: Mutex<Vec<Stop>>,
    /// The last report on the size of a request.
    pub last_report: Mutex<Option<crate::lessons::Seen>>,
    /// What refusals of requests of this conversation showed of limits.
    pub refused: Mutex<HashMap<ModelAt, Refused>>,
    /// How models are spoken to after refusals of requests of this conversation.
    pub adjusted: Mutex<HashMap<ModelAt, Adjustments>>,
    /// Whether a service refused reasoning that went back: none goes back any more.
    pub refuses_reasoning: AtomicBool,
    /// Whether the user was told that the window is unknown.
    pub was_warned: AtomicBool,
}

impl Session {
    fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            turn: Arc::default(),
            compaction: Arc::default(),
            version: AtomicU64::new(0),
            waiting: Mutex::default(),
            at_work: Mutex::default(),
            last_report: Mutex::default(),
            refused: Mutex::default(),
            adjusted: Mutex::default(),
            refuses_reasoning: AtomicBool::new(false),
            was_warned: AtomicBool::new(false),
        }
    }

    /// Which state of boundary, marks and pins is in force.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Says that it is another one now.
    pub fn changed(&self) {
        self.version.fetch_add(1, Ordering::SeqCst);
    }

    /// The messages whose runs wait for their turn.
    pub fn waiting(&self) -> HashSet<String> {
        lock(&self.waiting).clone()
    }

    /// Waits for the turn of a message, until the value is dropped.
    pub fn wait_in_line(self: &Arc<Self>, message: &str) -> InLine {
        lock(&self.waiting).insert(message.to_owned());
        InLine { session: self.clone(), message: message.to_owned() }
    }

    /// Stops what is at work.
    pub fn stop(&self) {
        lock(&self.at_work).iter().for_each(Stop::stop);
    }

    /// The right to compact, if nobody has it.
    pub fn try_compaction(&self) -> Option<OwnedMutexGuard<()>> {
        self.compaction.clone().try_lock_owned().ok()
    }
}

/// One run: a message on its way to its answer, or a compaction.
pub(crate) struct Job {
    pub core: Arc<Core>,
    pub session: Arc<Session>,
    pub stop: Stop,
    /// What may be spent on it.
    pub meter: Meter,
    /// How many summaries were rejected.
    pub rejected: Arc<AtomicU32>,
    /// How many bytes of replies, and of arguments of calls, were taken in.
    pub bytes: AtomicUsize,
    pub arguments: AtomicUsize,
    events: UnboundedSender<Event>,
    /// The end of a compaction that was begun, as it is told if the run breaks down.
    broken_compaction: Mutex<Option<Event>>,
}

impl Job {
    pub fn new(core: Arc<Core>, session: Arc<Session>, stop: Stop, events: UnboundedSender<Event>) -> Self {
        let Allowance { requests, tokens, .. } = core.allowance;
        Self {
            core,
            session,
            stop,
            meter: Meter::new(requests, tokens),
            rejected: Arc::default(),
            bytes: AtomicUsize::new(0),
            arguments: AtomicUsize::new(0),
            events,
            broken_compaction: Mutex::default(),
        }
    }

    /// Lets it spend what a message to a model with that window may.
    pub fn allow(&self, window: Option<u64>) {
        let Allowance { windows, tokens, .. } = self.core.allowance;
        self.meter.allow_tokens(window.map_or(0, |window| window.saturating_mul(windows)).max(tokens));
    }

    /// Whoever writes summaries and titles for it. They leave something for the reply.
    pub fn writing(&self) -> Writing {
        Writing {
            core: self.core.clone(),
            session: self.session.clone(),
            meter: self.meter.but_the_last_third(),
            rejected: self.rejected.clone(),
        }
    }

    /// Tells the caller; nobody may be listening any more.
    pub fn emit(&self, event: Event) {
        match &event {
            Event::CompactStarted { reason, round, .. } => {
                *lock(&self.broken_compaction) = Some(Event::CompactCompleted {
                    did_compact: false,
                    fallback: false,
                    tokens_before: 0,
                    tokens_after: 0,
                    strategy: None,
                    reason: *reason,
                    round: *round,
                });
            }
            Event::CompactCompleted { .. } => *lock(&self.broken_compaction) = None,
            _ => {}
        }
        let _ = self.events.send(event);
    }

    /// Tells the caller that the run broke down.
    pub fn emit_breakdown(&self, what: &str) {
        log::error!("a run broke down: {what}");
        let begun = lock(&self.broken_compaction).take();
        begun.into_iter().for_each(|event| self.emit(event));
        self.emit(Failure::Internal("the run broke down".to_owned()).event());
    }

    /// The result, unless the run is stopped first.
    pub async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::select! {
            biased;
            () = self.stop.wait() => Err(Failure::Stopped),
            () = self.core.closing.wait() => {
                self.stop.give(Why::Closing);
                Err(Failure::Stopped)
            }
            done = work => Ok(done),
        }
    }

    /// Waits for the session's turn.
    pub async fn turn(&self) -> Result<OwnedMutexGuard<()>, Failure> {
        self.unless_stopped(self.session.turn.clone().lock_owned()).await
    }

    /// Waits for the right to compact.
    pub async fn compaction(&self) -> Result<OwnedMutexGuard<()>, Failure> {
        self.unless_stopped(self.session.compaction.clone().lock_owned()).await
    }

    /// Waits for both, without keeping others from their turn while a compaction is on its way.
    pub async fn turn_and_compaction(&self) -> Result<(OwnedMutexGuard<()>, OwnedMutexGuard<()>), Failure> {
        loop {
            let turn = self.turn().await?;
            if let Some(held) = self.session.try_compaction() {
                return Ok((turn, held));
            }
            drop(turn);
            drop(self.compaction().await?);
        }
    }

    /// From now on [`Session::stop`] stops this run, until the value is dropped.
    pub fn at_work(&self) -> AtWork {
        lock(&self.session.at_work).push(self.stop.clone());
        AtWork { session: self.session.clone(), stop: self.stop.clone() }
    }
}

/// A message whose run waits for its turn. One in the file's line that nobody waits for is taken up by the next turn.
#[derive(Debug)]
pub(crate) struct InLine {
    session: Arc<Session>,
    pub message: String,
}

impl Drop for InLine {
    fn drop(&mut self) {
        lock(&self.session.waiting).remove(&self.message);
    }
}

/// A run that is at work.
pub(crate) struct AtWork {
    session: Arc<Session>,
    stop: Stop,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        // A run may be at work twice: in its turn, and compacting in it.
        let mut at_work = lock(&self.session.at_work);
        if let Some(place) = at_work.iter().rposition(|stop| stop.is(&self.stop)) {
            at_work.remove(place);
        }
    }
}
