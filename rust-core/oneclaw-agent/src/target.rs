//! Which model is asked, where, with which key and within which limits. Asks the file and the key vault, decides nothing
//! about a conversation.

use crate::failure::Failure;
use crate::ports::KeyVault;
use crate::session::Core;
use oneclaw_context::estimate::{Calibration, Tariff};
use oneclaw_context::plan::Summariser;
use oneclaw_model::{ModelId, ModelLimits, PresetModel};
use oneclaw_providers::Endpoint;
use oneclaw_store::engine::{Learnt, ModelAt};
use oneclaw_store::{Connection, Fault, Transaction, agents, catalogue, engine, sessions, settings};
use std::sync::Arc;

/// A model at a service, ready to be asked.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub provider_id: String,
    pub model: ModelId,
    pub endpoint: Endpoint,
    /// What is configured.
    configured: ModelLimits,
    /// What reports and refusals taught.
    pub learnt: Learnt,
}

impl Target {
    /// What the model can hold, as far as it is known: the smaller of what is configured and what was learnt.
    pub fn limits(&self) -> ModelLimits {
        let windows = [self.configured.window, self.learnt.window];
        ModelLimits { window: windows.into_iter().flatten().min(), ..self.configured }
    }

    pub fn calibration(&self) -> Calibration {
        self.learnt.factor.map(Calibration::new).unwrap_or_default()
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

    /// How it counts.
    pub fn tariff(&self) -> Tariff {
        Tariff::of(Some(&self.model), Some(self.endpoint.kind), self.calibration())
    }

    /// The model as one that writes summaries for another.
    pub fn summariser(&self) -> Summariser {
        Summariser { limits: self.limits(), tariff: self.tariff() }
    }
}

/// The model a session speaks to: its own choice, its agent's, the app's default, or the first that has a key.
pub(crate) async fn of_session(core: &Arc<Core>, session: &str) -> Result<Target, Failure> {
    let id = session.to_owned();
    let chosen = core
        .read(move |connection| {
            let session = sessions::get(connection, &id)?;
            if session.model.is_some() {
                return Ok(session.model);
            }
            let preferred = match agents::get(connection, &session.agent_id) {
                Ok(agent) => agent.preferred,
                Err(Fault::NoSuch { .. }) => None,
                Err(other) => return Err(other),
            };
            let default =
                || Ok::<_, Fault>(catalogue::default_model(connection)?.map(|m| (m.provider_id, m.id)));
            preferred.map_or_else(default, |model| Ok(Some(model)))
        })
        .await?;
    match chosen {
        Some((provider, model)) => of_model(core, &provider, &model).await,
        None => first_with_key(core).await,
    }
}

/// A model of a provider. It need not be in the catalogue; its limits are then unknown.
pub(crate) async fn of_model(core: &Arc<Core>, provider_id: &str, model: &str) -> Result<Target, Failure> {
    let (provider_id, model) = (provider_id.to_owned(), model.to_owned());
    let overrides = core.limits_of(&provider_id, &model);
    let vault = core.vault.clone();
    core.blocking(move |store| {
        let (provider, limits, learnt) = store.read(|connection| {
            let provider = catalogue::provider(connection, &provider_id)?;
            let limits = configured(connection, &provider_id, &model, overrides)?;
            let at =
                ModelAt { kind: provider.kind, base_url: provider.base_url.clone(), model: model.clone() };
            let learnt = engine::learnt(connection, &at)?;
            Ok((provider, limits, learnt))
        })?;
        let key = vault_key(vault.as_ref(), &provider_id)?;
        Ok(Target {
            endpoint: Endpoint { kind: provider.kind, base_url: provider.base_url, key },
            provider_id,
            model: model.as_str().into(),
            configured: limits,
            learnt,
        })
    })
    .await
}

pub(crate) fn vault_key(
    vault: &dyn KeyVault,
    provider_id: &str,
) -> Result<Option<oneclaw_providers::ApiKey>, Failure> {
    vault.key(provider_id).map_err(|detail| Failure::Vault { provider: provider_id.to_owned(), detail })
}

/// The limits a file and the host give a model.
fn configured(
    connection: &Connection,
    provider_id: &str,
    model: &str,
    overrides: ModelLimits,
) -> oneclaw_store::Result<ModelLimits> {
    let listed = match catalogue::model(connection, provider_id, model) {
        Ok(listed) => listed.window,
        Err(Fault::NoSuch { .. }) => None,
        Err(other) => return Err(other),
    };
    let known = |n: Option<u64>| n.filter(|n| *n > 0);
    Ok(ModelLimits {
        window: known(overrides.window).or(known(listed)),
        input_limit: known(overrides.input_limit),
        max_output: known(overrides.max_output).or(max_output(connection, provider_id, model)?),
    })
}

/// The longest reply of a model: what the user says, or what is known of a preset. The original schema has no column for
/// it, so it stands among the settings.
pub fn max_output(
    connection: &Connection,
    provider_id: &str,
    model: &str,
) -> oneclaw_store::Result<Option<u64>> {
    let kept = settings::get(connection, &max_output_key(provider_id, model))?;
    let kept = kept.and_then(|text| text.parse().ok()).filter(|n| *n > 0);
    Ok(kept.or(PresetModel::find(model).map(|preset| preset.max_output)))
}

/// Keeps the longest reply of a model; `None` goes back to what is known of it.
pub fn set_max_output(
    transaction: &Transaction<'_>,
    provider_id: &str,
    model: &str,
    max_output: Option<u64>,
) -> oneclaw_store::Result<()> {
    let key = max_output_key(provider_id, model);
    match max_output {
        Some(tokens) => settings::set(transaction, &key, &tokens.to_string()),
        None => settings::remove(transaction, &key),
    }
}

fn max_output_key(provider_id: &str, model: &str) -> String {
    format!("max_output/{provider_id}/{model}")
}

async fn first_with_key(core: &Arc<Core>) -> Result<Target, Failure> {
    let offered = core
        .read(|connection| {
            let mut offered = Vec::new();
            for provider in catalogue::providers(connection)?.into_iter().filter(|p| p.is_active) {
                if let Some(model) = catalogue::models(connection, &provider.id)?.into_iter().next() {
                    offered.push((provider.id, model.id));
                }
            }
            Ok(offered)
        })
        .await?;
    for (provider, model) in offered {
        let target = of_model(core, &provider, &model).await?;
        if target.endpoint.key.is_some() {
            return Ok(target);
        }
    }
    Err(Failure::NoModel(
        "No model is chosen, and no provider has a key; add a key or choose a model.".to_owned(),
    ))
}
