//! Which model is asked, where, with which key, in which manner and within which limits. Asks the file, the catalogue and the
//! key vault, decides nothing about a conversation.

use crate::claims::{Claims, Listed};
use crate::failure::Failure;
use crate::learnt::{Heard, KEPT_FOR, Learnt, Limit, Of, Topic};
use crate::lessons::{self, Refusal, Size};
use crate::ports::KeyVault;
use crate::session::{Core, Session, lock};
use oneclaw_catalogue::{Date, Vendor};
use oneclaw_context::estimate::{Calibration, Tariff};
use oneclaw_context::plan::Summariser;
use oneclaw_model::{Dialect, ModelId, ModelLimits, Replay};
use oneclaw_providers::{Adjustments, DEFAULT_MAX_TOKENS, Endpoint, Origin, Profile, ProviderError};
use oneclaw_store::engine::{Lesson, ModelAt};
use oneclaw_store::{Fault, Transaction, agents, catalogue, engine, sessions};
use std::sync::Arc;

/// A model at a service, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub provider_id: String,
    pub model: ModelId,
    pub endpoint: Endpoint,
    /// How it is spoken to.
    pub profile: Profile,
    /// What is said of its limits, by whom.
    claims: Claims,
    /// What reports and refusals taught.
    pub learnt: Learnt,
    /// The same as the file has it.
    in_file: Learnt,
    /// When it was read, in milliseconds since 1970.
    now: i64,
    /// What the service said in refusals to this conversation. It counts here and now, whatever else is said.
    refused: Refused,
    /// How it counts by a refusal of this turn.
    dense: Option<Calibration>,
    /// Whether a request is tried as if nothing had been learnt of the window.
    is_testing: bool,
    /// Whether it is spoken to in a way that the file does not know yet.
    pub is_adjusted: bool,
}

/// What refusals showed to a conversation, and what the user said of the same when they came: another word of the user's since
/// then goes before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    pub window: Option<u64>,
    pub output: Option<u64>,
    user: ModelLimits,
}

/// A shorter reply is not believed to be the longest a model gives: a service that says so says something else.
const LEAST_OUTPUT_CAP: u64 = 256;

impl Target {
    /// What the model can hold, as far as it is known.
    pub fn limits(&self) -> ModelLimits {
        let mut limits = match self.is_testing {
            true => self.claims.unlearnt(),
            false => self.claims.limits(self.claims.learnt(&self.learnt, self.now)),
        };
        if let Some(refused) = self.refused.window.filter(|_| !self.is_testing)
            && limits.window.or(limits.input_limit).is_none_or(|known| refused < known)
        {
            let input_limit = limits.input_limit.filter(|limit| *limit < refused);
            limits = ModelLimits { window: Some(refused), input_limit, ..limits };
        }
        let longest = [limits.max_output, self.refused.output].into_iter().flatten().min();
        ModelLimits { max_output: longest, ..limits }
    }

    /// The window as far as it is known beside what was learnt.
    pub fn unlearnt_window(&self) -> Option<u64> {
        self.claims.unlearnt().window
    }

    /// Heeds what earlier refusals taught this conversation.
    pub fn heed_refusals(&mut self, session: &Session) {
        let refused = lock(&session.refused).get(&self.at()).copied().unwrap_or_default();
        let is_same = |word: fn(&ModelLimits) -> Option<u64>| word(&refused.user) == word(&self.claims.user);
        self.refused = Refused {
            window: refused.window.filter(|_| is_same(|limits| limits.window)),
            output: refused.output.filter(|_| is_same(|limits| limits.max_output)),
            user: refused.user,
        };
        if let Some(adjusted) = lock(&session.adjusted).get(&self.at()) {
            self.profile.learnt = adjusted.clone();
        }
    }

    /// Lets what a refusal showed count in this conversation, also where the user or the service's list says otherwise: else the
    /// request would be refused again.
    fn refuse(&mut self, session: &Session, window: Option<u64>, output: Option<u64>) {
        self.refused = Refused { window, output, user: self.claims.user };
        lock(&session.refused).insert(self.at(), self.refused);
    }

    /// Learns from a refusal of a request as too long. Says whether it showed anything that changes the next one.
    pub fn take_refusal(
        &mut self,
        session: &Session,
        size: Size,
        limit: Option<u64>,
        requested: Option<u64>,
    ) -> bool {
        let window = self.limits().window;
        let shown = lessons::of_refusal(self.calibration(), window, size, limit, requested);
        // What was tried was refused: what had been learnt holds.
        let was_test = std::mem::take(&mut self.is_testing);
        let hear = |target: &mut Self, tokens| {
            let heard = Heard { tokens, size: size.expected, now: target.now };
            target.learnt.window =
                target.learnt.window.heard(heard, Of::Window, target.claims.unlearnt().window);
        };
        match shown {
            Refusal::Nothing => was_test,
            Refusal::Window(tokens) => {
                hear(self, tokens);
                self.refuse(session, Some(tokens), self.refused.output);
                true
            }
            Refusal::Density(calibration) => {
                if let Some(again) = limit.filter(|limit| self.refused.window == Some(*limit)) {
                    hear(self, again);
                }
                self.dense = Some(calibration);
                self.learnt = self.learnt.counting_at_least(calibration, self.now);
                true
            }
        }
    }

    /// Learns from a refusal of a reply as too long to be asked for, where so much was asked. Says whether it showed anything.
    /// Where the service names no number, what every model gives is asked for in this conversation.
    pub fn take_cap(&mut self, session: &Session, asked: Option<u64>, limit: Option<u64>) -> bool {
        let tokens = limit.unwrap_or(DEFAULT_MAX_TOKENS);
        let before = asked.or(self.limits().max_output);
        if tokens < LEAST_OUTPUT_CAP || before.is_some_and(|before| tokens >= before) {
            return false;
        }
        if limit.is_some() {
            let heard = Heard { tokens, size: before.unwrap_or(0), now: self.now };
            self.learnt.output =
                self.learnt.output.heard(heard, Of::Output, self.claims.unlearnt().max_output);
        }
        self.refuse(session, self.refused.window, Some(tokens));
        true
    }

    /// What the success of a request shows: prompts and replies of that size are taken.
    pub fn take_success(&mut self, session: &Session, prompt: Option<u64>, asked: Option<u64>) {
        let known = self.claims.unlearnt();
        let Refused { mut window, mut output, .. } = self.refused;
        if let Some(prompt) = prompt {
            window = window.filter(|refused| prompt <= *refused);
            self.learnt.window = self.learnt.window.after_success(prompt, known.window, self.now);
        }
        if std::mem::take(&mut self.is_testing) {
            (window, self.learnt.window) = (None, Limit::default());
        }
        if let Some(asked) = asked {
            output = output.filter(|refused| asked <= *refused);
            self.learnt.output = self.learnt.output.after_success(asked, known.max_output, self.now);
        }
        if (window, output) != (self.refused.window, self.refused.output) {
            self.refuse(session, window, output);
        }
    }

    /// Tries a request as if nothing had been learnt of the window. `false` where that makes no difference.
    pub fn test_window(&mut self) -> bool {
        let size = |limits: ModelLimits| (limits.window, limits.input_limit);
        let learnt = size(self.limits());
        self.is_testing = true;
        self.is_testing = size(self.limits()) != learnt;
        self.is_testing
    }

    /// Takes over what another one has learnt that stands for the same model.
    pub fn learn_from(&mut self, other: &Self) {
        (self.learnt, self.in_file) = (other.learnt, other.in_file);
        (self.refused, self.dense) = (other.refused, other.dense);
    }

    /// What the file does not have yet.
    pub fn lessons(&self) -> Vec<(Topic, Option<Lesson>)> {
        self.learnt.changes(&self.in_file)
    }

    /// Says that the file has what was learnt.
    pub fn is_kept(&mut self) {
        self.in_file = self.learnt;
    }

    /// Speaks to the model in another way in this conversation. The file learns of it when that has helped.
    pub fn adjust(&mut self, session: &Session, adjustments: Adjustments) {
        lock(&session.adjusted).insert(self.at(), adjustments.clone());
        self.set_adjustments(adjustments);
    }

    /// Speaks to the model in another way from now on.
    pub fn set_adjustments(&mut self, adjustments: Adjustments) {
        self.profile.learnt = adjustments;
        self.is_adjusted = true;
    }

    pub fn calibration(&self) -> Calibration {
        self.dense.unwrap_or(self.learnt.calibration())
    }

    pub fn at(&self) -> ModelAt {
        ModelAt {
            kind: self.endpoint.kind,
            base_url: self.endpoint.base_url.clone(),
            model: self.model.as_str().to_owned(),
        }
    }

    pub fn is_same_model(&self, other: &Self) -> bool {
        self.provider_id == other.provider_id && self.model == other.model
    }

    /// Whether anybody but the catalogue knows its window.
    pub fn is_known_beyond_catalogue(&self) -> bool {
        let Claims { user, listed, file, .. } = self.claims;
        let window = self.learnt.window.sure.map(|number| number.tokens).or(self.refused.window);
        let learnt = ModelLimits { window, ..ModelLimits::default() };
        [user, listed, file, learnt].iter().any(|claim| claim.window.or(claim.input_limit).is_some())
    }

    /// Whether it reasons, as far as anybody knows: its replies have to have room for that.
    pub fn is_known_to_reason(&self) -> bool {
        self.profile.reasoning().is_some() || self.profile.learnt.reasoning_room.is_some()
    }

    /// Whether it sees no pictures.
    pub fn is_blind(&self) -> bool {
        !self.profile.sees()
    }

    /// Which reasoning goes back to it.
    pub fn replay(&self) -> Replay {
        let by_facts = self.profile.reasoning().map(|reasoning| reasoning.replay).unwrap_or_default();
        match self.profile.dialect(&self.endpoint) {
            _ if self.profile.learnt.wants_reasoning_back => Replay::EveryCall,
            Dialect::ChatCompletions if by_facts == Replay::EveryCall => by_facts,
            Dialect::ChatCompletions if self.profile.vendor != Vendor::OpenRouter => Replay::NoFields,
            _ => Replay::OpenTurn,
        }
    }

    /// How it counts.
    pub fn tariff(&self) -> Tariff {
        Tariff::of(Some(&self.model), Some(self.endpoint.kind), self.calibration()).blind(self.is_blind())
    }

    /// The model as one that writes summaries. Its requests leave room for reasoning that it cannot do without, at most half of
    /// the window.
    pub fn summariser(&self, summary_cap: u64) -> Summariser {
        let mut limits = self.limits();
        let room = self.profile.reasoning_room();
        if let Some(window) = limits.window.filter(|_| room > 0) {
            let largest = window.saturating_sub(room.saturating_add(summary_cap)).max(window / 2);
            limits.input_limit = Some(limits.input_limit.map_or(largest, |limit| limit.min(largest)));
        }
        Summariser { limits, tariff: self.tariff() }
    }

    /// How it is spoken to in a request of that size: no more output is asked for than the window leaves.
    pub fn profile_for(&self, upper: u64) -> Profile {
        let limits = self.limits();
        let left = limits.window.map(|window| window.saturating_sub(upper));
        let most_output = [limits.max_output, left].into_iter().flatten().min().map(|most| most.max(1));
        Profile { most_output, ..self.profile.clone() }
    }

    /// Whether the service has switched it off, by the catalogue.
    pub fn is_off(&self, today: Date) -> bool {
        self.profile.facts.as_ref().is_some_and(|facts| facts.is_off(today))
    }
}

/// The model a session speaks to: its own choice, its agent's, the app's default, or the first that has a key.
pub(crate) async fn of_session(core: &Arc<Core>, session: &str) -> Result<Target, Failure> {
    let id = session.to_owned();
    let chosen = core
        .read(move |connection| {
            let session = sessions::get(connection, &id)?;
            if let Some((provider, model)) = session.model {
                return Ok(Some((Chosen::ByUser, provider, model)));
            }
            let preferred = match agents::get(connection, &session.agent_id) {
                Ok(agent) => agent.preferred,
                Err(Fault::NoSuch { .. }) => None,
                Err(other) => return Err(other),
            };
            if let Some((provider, model)) = preferred {
                return Ok(Some((Chosen::ByUser, provider, model)));
            }
            let default = catalogue::default_model(connection)?;
            Ok(default.map(|model| (Chosen::ByDefault, model.provider_id, model.id)))
        })
        .await?;
    match chosen {
        Some((Chosen::ByDefault, provider, model)) => {
            let target = of_model(core, &provider, &model).await?;
            match target.is_off(Date::of_millis(core.now())) {
                true => first_with_key(core).await,
                false => Ok(target),
            }
        }
        Some((Chosen::ByUser, provider, model)) => of_model(core, &provider, &model).await,
        None => first_with_key(core).await,
    }
}

/// Who has chosen a model.
#[derive(Debug, Clone, Copy)]
enum Chosen {
    /// The user, for the session or its agent: asked even where it is switched off, so that the service's word is heard.
    ByUser,
    /// The file: one that is switched off is never the default.
    ByDefault,
}

/// A model of a provider. It need not be in the file.
pub(crate) async fn of_model(core: &Arc<Core>, provider_id: &str, model: &str) -> Result<Target, Failure> {
    let (provider_id, model) = (provider_id.to_owned(), model.to_owned());
    let overrides = core.limits_of(&provider_id, &model);
    let (vault, effort, now) = (core.vault.clone(), core.effort(), core.now());
    core.blocking(move |store| {
        let (provider, claims, lessons, listed) = store.read(|connection| {
            let provider = catalogue::provider(connection, &provider_id)?;
            let at =
                ModelAt { kind: provider.kind, base_url: provider.base_url.clone(), model: model.clone() };
            let claims = Claims::of_file(connection, &provider_id, &model, overrides)?;
            Ok((provider, claims, engine::lessons(connection, &at)?, Listed::read(connection, &at)?))
        })?;
        let endpoint = endpoint_of(vault.as_ref(), provider)?;
        let (learnt, adjustments) = Learnt::of_lessons(&lessons, now);
        let profile = Profile { learnt: adjustments, effort, ..Profile::of(&endpoint, &model) };
        let facts = profile.facts.as_ref();
        let catalogue = facts.map(|facts| facts.limits).unwrap_or_default();
        let profile = Profile { listed_sees: listed.sees, ..profile };
        let listed = listed.limits();
        Ok(Target {
            provider_id,
            model: model.as_str().into(),
            endpoint,
            profile,
            claims: Claims { listed, catalogue, ..claims },
            learnt,
            in_file: learnt,
            now,
            refused: Refused::default(),
            dense: None,
            is_testing: false,
            is_adjusted: false,
        })
    })
    .await
}

/// Keeps what refusals taught about how a model is spoken to. Where the file cannot be written, it is learnt again.
pub(crate) async fn keep_adjustments(core: &Arc<Core>, target: &mut Target) {
    let (at, now) = (target.at(), core.now());
    let lasting = target.profile.learnt.lasting();
    let kept = match serde_json::to_string(&lasting) {
        Ok(value) => {
            let is_nothing = lasting == Adjustments::default();
            let lesson = Lesson { topic: Topic::Manner.word().to_owned(), value, heard: 1, learnt_at: now };
            let lesson = (!is_nothing).then_some(lesson);
            core.write(move |t| write_lessons(t, &at, vec![(Topic::Manner, lesson)], now)).await
        }
        Err(error) => Err(Failure::Internal(error.to_string())),
    };
    match kept {
        Ok(()) => target.is_adjusted = false,
        Err(failure) => log::warn!("how {} is spoken to is not kept: {failure}", target.model),
    }
}

/// Keeps what reports and refusals taught about a model's sizes.
pub(crate) async fn keep_lessons(core: &Arc<Core>, target: &mut Target) -> Result<(), Failure> {
    let (at, lessons, now) = (target.at(), target.lessons(), core.now());
    if lessons.is_empty() {
        return Ok(());
    }
    core.write(move |t| write_lessons(t, &at, lessons, now)).await?;
    target.is_kept();
    Ok(())
}

/// Writes lessons, and forgets those that are none any more, of any model those that have expired.
pub(crate) fn write_lessons(
    transaction: &Transaction<'_>,
    at: &ModelAt,
    lessons: Vec<(Topic, Option<Lesson>)>,
    now: i64,
) -> oneclaw_store::Result<()> {
    if !lessons.is_empty() {
        engine::forget_lessons_before(transaction, now.saturating_sub(KEPT_FOR))?;
    }
    lessons.into_iter().try_for_each(|(topic, lesson)| match lesson {
        Some(lesson) => engine::set_lesson(transaction, at, &lesson),
        None => engine::forget_lesson(transaction, at, topic.word()).map(drop),
    })
}

/// Where a provider is, with the key that belongs there.
pub(crate) fn endpoint_of(vault: &dyn KeyVault, provider: catalogue::Provider) -> Result<Endpoint, Failure> {
    let catalogue::Provider { id, kind, base_url, .. } = provider;
    let key = match Origin::of(&base_url) {
        Ok(origin) => vault.key(&id, &origin).map_err(|detail| Failure::Vault { provider: id, detail })?,
        // Nothing is sent there; why, is said when something is about to be.
        Err(_) => None,
    };
    Ok(Endpoint { kind, base_url, key })
}

/// What a service's refusal means: without a key, that one is missing for its origin.
pub(crate) fn refused_by(endpoint: &Endpoint, error: ProviderError) -> Failure {
    match error {
        ProviderError::Auth { detail } if endpoint.key.is_none() => {
            Failure::NoKey { origin: endpoint.origin(), detail }
        }
        other => other.into(),
    }
}

async fn first_with_key(core: &Arc<Core>) -> Result<Target, Failure> {
    let offered = core
        .read(|connection| {
            let mut offered = Vec::new();
            for provider in catalogue::providers(connection)?.into_iter().filter(|p| p.is_active) {
                for model in catalogue::models(connection, &provider.id)? {
                    offered.push((provider.id.clone(), model.id));
                }
            }
            Ok(offered)
        })
        .await?;
    let today = Date::of_millis(core.now());
    for (provider, model) in offered {
        let target = of_model(core, &provider, &model).await?;
        if target.endpoint.key.is_some() && !target.is_off(today) {
            return Ok(target);
        }
    }
    Err(Failure::NoModel(
        "No model is chosen, and no provider has a key; add a key or choose a model.".to_owned(),
    ))
}
