//! Which models can be chosen, and what is known of each: by its service's list, by what was learnt, by the catalogue.

use crate::agent::Agent;
use crate::chat::Chat;
use crate::claims::{Listed, WindowSource, known_limits, window_source};
use crate::failure::Failure;
use crate::session::{Core, lock};
use crate::target::{self, Target, endpoint_of, refused_by};
use oneclaw_catalogue::{Ability, Date, Facts, Prices, Vendor, find};
use oneclaw_model::ModelLimits;
use oneclaw_providers::{Endpoint, ListedModel, ProviderError};
use oneclaw_store::engine::{self, ModelAt};
use oneclaw_store::{Connection, Transaction, catalogue};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long a service may take to say what its models hold, where a message waits for it.
const LOOKUP: Duration = Duration::from_secs(3);

/// How often a service is asked for that, while the agent is open.
const MOST_LOOKUPS: u32 = 2;
/// What is waited for, in [`ProviderError::Timeout`].
const MODELS: &str = "the list of models";
/// How long a service may take to list its models.
const LISTING: Duration = Duration::from_secs(30);

/// A model that can be chosen. What nobody says is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Offered {
    /// The service's name for it.
    pub id: String,
    /// The name to show.
    pub name: Option<String>,
    /// What it can take and give.
    pub limits: ModelLimits,
    /// Whether it sees pictures.
    pub sees: Option<bool>,
    /// Whether it reads PDF files.
    pub reads_pdf: Option<bool>,
    /// Whether it calls tools.
    pub calls_tools: Option<bool>,
    /// Whether it reasons.
    pub reasons: Option<bool>,
    /// What it costs.
    pub prices: Option<Prices>,
    /// The day it is, or was, switched off.
    pub ends: Option<Date>,
    /// Whether that day has come.
    pub is_off: bool,
}

impl Offered {
    fn new(listed: ListedModel, limits: ModelLimits, facts: Option<Facts>, today: Date) -> Self {
        let can = |ability| facts.as_ref().map(|facts| facts.can(ability));
        let ends = listed.ends.or(facts.as_ref().and_then(|facts| facts.ends));
        Self {
            limits,
            sees: listed.sees.or(can(Ability::Pictures)),
            reads_pdf: can(Ability::Pdf),
            calls_tools: listed.calls_tools.or(can(Ability::Tools)),
            reasons: listed.reasons.or(facts.as_ref().map(|facts| facts.reasoning.is_some())),
            prices: listed.prices.or(facts.and_then(|facts| facts.prices)),
            ends,
            is_off: ends.is_some_and(|ends| ends <= today),
            id: listed.id,
            name: listed.name,
        }
    }
}

impl Agent {
    /// The models a service lists, in its order. What it says of their limits is kept.
    pub async fn models(&self, provider_id: &str) -> Result<Vec<Offered>, Failure> {
        self.check_open()?;
        let endpoint = endpoint(&self.0, provider_id).await?;
        let listing = timeout(LISTING, self.0.client.models(&endpoint)).await;
        let too_slow = || ProviderError::Timeout { what: MODELS, after: LISTING, retry_after: None };
        let listed = listing.map_err(|_| too_slow())?.map_err(|error| refused_by(&endpoint, error))?;
        keep(&self.0, &endpoint, &listed).await?;
        let (id, now) = (provider_id.to_owned(), self.now());
        self.0.read(move |c| offered(c, &catalogue::provider(c, &id)?, listed, now)).await
    }

    /// The models of a service that the file holds, without asking the service.
    pub async fn known_models(&self, provider_id: &str) -> Result<Vec<Offered>, Failure> {
        self.check_open()?;
        let (id, now) = (provider_id.to_owned(), self.now());
        self.0.read(move |c| known(c, &catalogue::provider(c, &id)?, now)).await
    }

    /// Asks the service of a session's model what it holds where nobody knows, as the next message would.
    pub async fn look_up(&self, session: &str) -> Result<(), Failure> {
        let (job, _) = self.job(session)?;
        Chat::open_to_ask(&job).await.map(drop)
    }

    /// Who says how large a model's window is; `None` where nobody does. What [`Agent::set_limits`] said is the user's word.
    pub async fn window_source(
        &self,
        provider_id: &str,
        model: &str,
    ) -> Result<Option<WindowSource>, Failure> {
        self.check_open()?;
        if self.0.limits_of(provider_id, model).window.is_some() {
            return Ok(Some(WindowSource::User));
        }
        let (id, model, now) = (provider_id.to_owned(), model.to_owned(), self.now());
        self.0.read(move |c| window_source(c, &catalogue::provider(c, &id)?, &model, now)).await
    }
}

/// The models of a service that the file holds, with what is known of them at that time, in milliseconds since 1970.
pub fn known(
    connection: &Connection,
    provider: &catalogue::Provider,
    now: i64,
) -> oneclaw_store::Result<Vec<Offered>> {
    let models = catalogue::models(connection, &provider.id)?.into_iter();
    let listed = models.map(|model| ListedModel { name: model.display_name, ..ListedModel::new(model.id) });
    offered(connection, provider, listed.collect(), now)
}

fn offered(
    connection: &Connection,
    provider: &catalogue::Provider,
    listed: Vec<ListedModel>,
    now: i64,
) -> oneclaw_store::Result<Vec<Offered>> {
    let (vendor, today) = (Vendor::of(provider.kind, &provider.base_url), Date::of_millis(now));
    let one = |model: ListedModel| {
        let limits = known_limits(connection, provider, &model.id, now)?;
        let facts = find(vendor, &model.id);
        Ok(Offered::new(model, limits, facts, today))
    };
    listed.into_iter().map(one).collect()
}

/// Asks the service for the limits of a model that nobody knows them of, or only the catalogue at a service that may run it
/// with others. Twice for each service while the agent is open: a server that loads models when they are first asked knows
/// only then. A service that does not answer soon, or at all, will say why when it is spoken to.
pub(crate) async fn look_up(core: &Arc<Core>, target: Target) -> Result<Target, Failure> {
    let is_wanted = match target.profile.vendor {
        // Its list says nothing of windows.
        Vendor::OpenAi => false,
        Vendor::Compatible | Vendor::OpenRouter => !target.is_known_beyond_catalogue(),
        _ => target.limits().window.or(target.limits().input_limit).is_none(),
    };
    let mut looked_up = lock(&core.looked_up).get(&target.endpoint.base_url).copied().unwrap_or(0);
    if !is_wanted || looked_up >= MOST_LOOKUPS {
        return Ok(target);
    }
    looked_up += 1;
    lock(&core.looked_up).insert(target.endpoint.base_url.clone(), looked_up);
    let too_slow = |_| ProviderError::Timeout { what: MODELS, after: LOOKUP, retry_after: None };
    let listing = timeout(LOOKUP, core.client.models(&target.endpoint)).await.map_err(too_slow);
    let listed = match listing.flatten() {
        Ok(listed) => listed,
        Err(error) => {
            core.note_failure(&error);
            return Ok(target);
        }
    };
    keep(core, &target.endpoint, &listed).await?;
    target::of_model(core, &target.provider_id, target.model.as_str()).await
}

async fn endpoint(core: &Arc<Core>, provider_id: &str) -> Result<Endpoint, Failure> {
    let (id, vault) = (provider_id.to_owned(), core.vault.clone());
    core.blocking(move |store| {
        let provider = store.read(|c| catalogue::provider(c, &id))?;
        endpoint_of(vault.as_ref(), provider)
    })
    .await
}

/// Keeps what a service says of its models' limits. Of a model that it says nothing about nothing is kept.
async fn keep(core: &Arc<Core>, endpoint: &Endpoint, listed: &[ListedModel]) -> Result<(), Failure> {
    let (kind, base_url) = (endpoint.kind, endpoint.base_url.clone());
    let notices: Vec<(String, Listed)> =
        listed.iter().map(|model| (model.id.clone(), Listed::of(model))).collect();
    core.write(move |t| {
        notices.into_iter().try_for_each(|(model, listed)| keep_one(t, kind, &base_url, model, listed))
    })
    .await
}

fn keep_one(
    transaction: &Transaction<'_>,
    kind: oneclaw_model::ProviderKind,
    base_url: &str,
    model: String,
    listed: Listed,
) -> oneclaw_store::Result<()> {
    let at = ModelAt { kind, base_url: base_url.to_owned(), model };
    match serde_json::to_string(&listed) {
        Ok(text) if listed != Listed::default() => engine::set_listed(transaction, &at, &text),
        Ok(_) | Err(_) => Ok(()),
    }
}
