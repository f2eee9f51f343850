//! Who says what of a model's limits, and who is believed first (ADR 0017). Reads the file, decides nothing about a request.

use crate::learnt::Learnt;
use crate::user_limits::{user_max_output, user_window};
use oneclaw_catalogue::Vendor;
use oneclaw_model::{ModelLimits, PresetModel};
use oneclaw_providers::ListedModel;
use oneclaw_store::engine::{self, ModelAt};
use oneclaw_store::{Connection, Fault, catalogue};
use serde::{Deserialize, Serialize};

/// What is said of a model's limits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Claims {
    /// By the user.
    pub user: ModelLimits,
    /// By the service's list.
    pub listed: ModelLimits,
    /// By the file: what came with the app, or with the model when it was added.
    pub file: ModelLimits,
    /// By the catalogue.
    pub catalogue: ModelLimits,
}

impl Claims {
    /// What holds: the user's word goes before the service's list, that before what was learnt, that before what the file
    /// and the catalogue say. Window and input limit belong together, so both are taken from one place.
    pub fn limits(&self, learnt: ModelLimits) -> ModelLimits {
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

    /// What holds beside everything that was learnt.
    pub fn unlearnt(&self) -> ModelLimits {
        self.limits(ModelLimits::default())
    }

    /// What was learnt comes to by now.
    pub fn learnt(&self, learnt: &Learnt, now: i64) -> ModelLimits {
        let known = self.unlearnt();
        ModelLimits {
            window: learnt.window.now(known.window, now),
            input_limit: None,
            max_output: learnt.output.now(known.max_output, now),
        }
    }

    /// The first who says how large the window or the prompt may be, and what they say.
    fn size(&self, learnt: ModelLimits) -> Option<(WindowSource, ModelLimits)> {
        let known = |n: Option<u64>| n.filter(|n| *n > 0);
        let knows = |claim: &ModelLimits| known(claim.window).or(known(claim.input_limit)).is_some();
        self.in_order(learnt).into_iter().find(|(_, claim)| knows(claim))
    }

    fn in_order(&self, learnt: ModelLimits) -> [(WindowSource, ModelLimits); 5] {
        [
            (WindowSource::User, self.user),
            (WindowSource::Service, self.listed),
            (WindowSource::Learnt, learnt),
            (WindowSource::File, self.file),
            (WindowSource::Catalogue, self.catalogue),
        ]
    }

    /// What the user and the file say.
    pub fn of_file(
        connection: &Connection,
        provider_id: &str,
        model: &str,
        overrides: ModelLimits,
    ) -> oneclaw_store::Result<Self> {
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
        Ok(Self { user, file, ..Self::default() })
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

    /// As it is kept of a model. What cannot be read any more was written by another version; it is asked again.
    pub fn read(connection: &Connection, at: &ModelAt) -> oneclaw_store::Result<Self> {
        let kept = engine::listed(connection, at)?;
        Ok(kept.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    pub fn limits(self) -> ModelLimits {
        ModelLimits { window: self.window, input_limit: self.input_limit, max_output: self.max_output }
    }
}

/// The limits of a model as they hold for a request, and as the user is shown them, without asking its service. `now` is
/// milliseconds since 1970.
pub fn known_limits(
    connection: &Connection,
    provider: &catalogue::Provider,
    model: &str,
    now: i64,
) -> oneclaw_store::Result<ModelLimits> {
    let (claims, learnt) = known_claims(connection, provider, model, now)?;
    Ok(claims.limits(learnt))
}

/// Who says how large the window of a model is, without asking its service; `None` where nobody does.
pub(crate) fn window_source(
    connection: &Connection,
    provider: &catalogue::Provider,
    model: &str,
    now: i64,
) -> oneclaw_store::Result<Option<WindowSource>> {
    let (claims, learnt) = known_claims(connection, provider, model, now)?;
    Ok(claims.size(learnt).map(|(source, _)| source))
}

fn known_claims(
    connection: &Connection,
    provider: &catalogue::Provider,
    model: &str,
    now: i64,
) -> oneclaw_store::Result<(Claims, ModelLimits)> {
    let at = ModelAt { kind: provider.kind, base_url: provider.base_url.clone(), model: model.to_owned() };
    let facts = oneclaw_catalogue::find(Vendor::of(provider.kind, &provider.base_url), model);
    let claims = Claims {
        listed: Listed::read(connection, &at)?.limits(),
        catalogue: facts.map(|facts| facts.limits).unwrap_or_default(),
        ..Claims::of_file(connection, &provider.id, model, ModelLimits::default())?
    };
    let (learnt, _) = Learnt::of_lessons(&engine::lessons(connection, &at)?, now);
    Ok((claims, claims.learnt(&learnt, now)))
}
