//! Which model is asked, where, with which key, in which manner and within which limits. Asks the file, the catalogue and the
//! key vault, decides nothing about a conversation.

use crate::failure::Failure;
use crate::lessons;
use crate::ports::KeyVault;
use crate::session::{Core, Session, lock};
use crate::user_limits::{user_max_output, user_window};
use oneclaw_catalogue::{Date, Vendor};
use oneclaw_context::estimate::{Calibration, Tariff};
use oneclaw_context::plan::Summariser;
use oneclaw_model::{Dialect, ModelId, ModelLimits, PresetModel, Replay};
use oneclaw_providers::{Adjustments, Endpoint, ListedModel, Origin, Profile, ProviderError};
use oneclaw_store::engine::{Learnt, ModelAt};
use oneclaw_store::{Connection, Fault, agents, catalogue, engine, sessions};
use serde::{Deserialize, Serialize};
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
    /// What a service said in a refusal to this conversation. It counts here and now, whatever else is said.
    pub refused: Option<u64>,
    /// Whether it is spoken to in a way that the file does not know yet.
    pub is_adjusted: bool,
}

/// What is said of a model's limits.
#[derive(Debug, Clone, Copy, Default)]
struct Claims {
    /// By the user.
    user: ModelLimits,
    /// By the service's list.
    listed: ModelLimits,
    /// By the file: what came with the app, or with the model when it was added.
    file: ModelLimits,
    /// By the catalogue.
    catalogue: ModelLimits,
}

impl Claims {
    /// What holds: the user's word goes before the service's list, that before what was learnt, that before what the file
    /// and the catalogue say. Window and input limit belong together, so both are taken from one place.
    fn limits(&self, learnt: Learnt) -> ModelLimits {
        let known = |n: Option<u64>| n.filter(|n| *n > 0);
        let size = self.size(learnt).map(|(_, size)| size).unwrap_or_default();
        // Who names the catalogue's window means that model, with its limit on the prompt.
        let is_as_catalogued = known(size.window).is_some() && size.window == self.catalogue.window;
        // And what was learnt is smaller than what was believed, so the limit on the prompt holds as well.
        let is_learnt = learnt.window.is_some() && size.window == learnt.window;
        let input_limit = size.input_limit.or_else(|| {
            let known = self.catalogue.input_limit.filter(|_| is_as_catalogued || is_learnt);
            known.filter(|limit| size.window.is_none_or(|window| *limit < window))
        });
        ModelLimits {
            window: known(size.window),
            input_limit: known(input_limit),
            max_output: self.in_order(learnt).iter().find_map(|(_, claim)| known(claim.max_output)),
        }
    }

    /// The first who says how large the window or the prompt may be, and what they say.
    fn size(&self, learnt: Learnt) -> Option<(WindowSource, ModelLimits)> {
        let known = |n: Option<u64>| n.filter(|n| *n > 0);
        let knows = |claim: &ModelLimits| known(claim.window).or(known(claim.input_limit)).is_some();
        self.in_order(learnt).into_iter().find(|(_, claim)| knows(claim))
    }

    fn in_order(&self, learnt: Learnt) -> [(WindowSource, ModelLimits); 5] {
        [
            (WindowSource::User, self.user),
            (WindowSource::Service, self.listed),
            (WindowSource::Learnt, ModelLimits { window: learnt.window, ..ModelLimits::default() }),
            (WindowSource::File, self.file),
            (WindowSource::Catalogue, self.catalogue),
        ]
    }
}

/// Who says how large a model's window is, those who are believed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowSource {
    /// The user.
    User,
    /// The service's list of models.
    Service,
    /// A refusal of the service.
    Learnt,
    /// The file, since the model was added.
    File,
    /// The catalogue.
    Catalogue,
}

/// What the service's list says of a model, as it is kept in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Listed {
    pub window: Option<u64>,
    pub input_limit: Option<u64>,
    pub max_output: Option<u64>,
    pub sees: Option<bool>,
}

impl Listed {
    /// What is kept of a model in a list.
    pub fn of(model: &ListedModel) -> Self {
        Self {
            window: model.window,
            input_limit: model.input_limit,
            max_output: model.max_output,
            sees: model.sees,
        }
    }

    fn limits(self) -> ModelLimits {
        ModelLimits { window: self.window, input_limit: self.input_limit, max_output: self.max_output }
    }
}

impl Target {
    /// What the model can hold, as far as it is known.
    pub fn limits(&self) -> ModelLimits {
        let mut limits = self.claims.limits(self.learnt);
        if let Some(refused) = self.refused
            && limits.window.or(limits.input_limit).is_none_or(|known| refused < known)
        {
            let input_limit = limits.input_limit.filter(|limit| *limit < refused);
            limits = ModelLimits { window: Some(refused), input_limit, ..limits };
        }
        let longest = [limits.max_output, self.profile.learnt.max_output].into_iter().flatten().min();
        ModelLimits { max_output: longest, ..limits }
    }

    /// Heeds what earlier refusals taught this conversation.
    pub fn heed_refusals(&mut self, session: &Session) {
        self.refused = lock(&session.refused).get(&self.at()).copied();
        if let Some(adjusted) = lock(&session.adjusted).get(&self.at()) {
            self.profile.learnt = adjusted.clone();
        }
    }

    /// Takes a window for the real one in this conversation, also where the user or the service's list says otherwise: else the
    /// request would be refused again.
    pub fn refuse_above(&mut self, session: &Session, window: u64) {
        lock(&session.refused).insert(self.at(), window);
        self.refused = Some(window);
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
        lessons::calibration(&self.learnt)
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
        let learnt = ModelLimits { window: self.learnt.window.or(self.refused), ..ModelLimits::default() };
        [user, listed, file, learnt].iter().any(|claim| claim.window.or(claim.input_limit).is_some())
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
    let (vault, effort) = (core.vault.clone(), core.effort());
    core.blocking(move |store| {
        let (provider, claims, learnt, notices) = store.read(|connection| {
            let provider = catalogue::provider(connection, &provider_id)?;
            let at =
                ModelAt { kind: provider.kind, base_url: provider.base_url.clone(), model: model.clone() };
            let notices = engine::notices(connection, &at)?;
            let claims = claims(connection, &provider_id, &model, overrides)?;
            Ok((provider, claims, engine::learnt(connection, &at)?, notices))
        })?;
        let endpoint = endpoint_of(vault.as_ref(), provider)?;
        // What cannot be read any more was written by another version; it is learnt again.
        let adjustments: Adjustments = parsed(notices.adjustments.as_deref());
        let listed: Listed = parsed(notices.listed.as_deref());
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
            refused: None,
            is_adjusted: false,
        })
    })
    .await
}

/// Keeps what refusals taught about how a model is spoken to. Where the file cannot be written, it is learnt again.
pub(crate) async fn keep_adjustments(core: &Arc<Core>, target: &mut Target) {
    let at = target.at();
    let kept = match serde_json::to_string(&target.profile.learnt.lasting()) {
        Ok(text) => core.write(move |t| engine::set_adjustments(t, &at, &text)).await,
        Err(error) => Err(Failure::Internal(error.to_string())),
    };
    match kept {
        Ok(()) => target.is_adjusted = false,
        Err(failure) => log::warn!("how {} is spoken to is not kept: {failure}", target.model),
    }
}

fn parsed<T: serde::de::DeserializeOwned + Default>(note: Option<&str>) -> T {
    note.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
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

/// What the user and the file say of a model's limits.
fn claims(
    connection: &Connection,
    provider_id: &str,
    model: &str,
    overrides: ModelLimits,
) -> oneclaw_store::Result<Claims> {
    let in_file = match catalogue::model(connection, provider_id, model) {
        Ok(listed) => listed.window,
        Err(Fault::NoSuch { .. }) => None,
        Err(other) => return Err(other),
    };
    let user = ModelLimits {
        window: overrides.window.or(user_window(connection, provider_id, model)?),
        input_limit: overrides.input_limit,
        max_output: overrides.max_output.or(user_max_output(connection, provider_id, model)?),
    };
    let preset = PresetModel::find(model).map(|preset| preset.max_output);
    let file = ModelLimits { window: in_file, input_limit: None, max_output: preset };
    Ok(Claims { user, file, ..Claims::default() })
}

/// The limits of a model as they hold for a request, and as the user is shown them, without asking its service.
pub fn known_limits(
    connection: &Connection,
    provider: &catalogue::Provider,
    model: &str,
) -> oneclaw_store::Result<ModelLimits> {
    let (claims, learnt) = known_claims(connection, provider, model)?;
    Ok(claims.limits(learnt))
}

/// Who says how large the window of a model is, without asking its service; `None` where nobody does.
pub(crate) fn window_source(
    connection: &Connection,
    provider: &catalogue::Provider,
    model: &str,
) -> oneclaw_store::Result<Option<WindowSource>> {
    let (claims, learnt) = known_claims(connection, provider, model)?;
    Ok(claims.size(learnt).map(|(source, _)| source))
}

fn known_claims(
    connection: &Connection,
    provider: &catalogue::Provider,
    model: &str,
) -> oneclaw_store::Result<(Claims, Learnt)> {
    let at = ModelAt { kind: provider.kind, base_url: provider.base_url.clone(), model: model.to_owned() };
    let listed: Listed = parsed(engine::notices(connection, &at)?.listed.as_deref());
    let facts = oneclaw_catalogue::find(Vendor::of(provider.kind, &provider.base_url), model);
    let claims = Claims {
        listed: listed.limits(),
        catalogue: facts.map(|facts| facts.limits).unwrap_or_default(),
        ..claims(connection, &provider.id, model, ModelLimits::default())?
    };
    Ok((claims, engine::learnt(connection, &at)?))
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
