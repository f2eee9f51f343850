//! The services that can be spoken to: their names in the file, their keys in the environment, the embedded demo.

use crate::Failure;
use crate::args::ProviderName;
use oneclaw_agent::{Agent, KeyVault};
use oneclaw_demo::{Config, DEMO_MODEL, Model, Server};
use oneclaw_model::{ModelLimits, ProviderKind};
use oneclaw_providers::ApiKey;
use oneclaw_store::catalogue::{self, Provider};
use std::time::Duration;

/// The embedded service's name in the file.
pub const DEMO: &str = "provider-demo";
/// What the demo model holds if nothing else is asked for.
const DEMO_WINDOW: u64 = 16_000;
/// The demo's longest reply if nothing else is asked for.
const DEMO_OUTPUT: u64 = 4_096;
/// Other windows to switch to with `/model`.
const OTHER_DEMOS: [(&str, u64); 2] = [("demo-small", 4_000), ("demo-large", 128_000)];
/// The pause between two pieces of a demo reply, where somebody watches.
const DEMO_PAUSE: Duration = Duration::from_millis(8);
/// Goes before the variables of the services, for the service that was chosen.
const GENERAL_KEY: &str = "ONECLAW_API_KEY";

impl ProviderName {
    /// The service's name in the file.
    pub fn id(self) -> &'static str {
        match self {
            Self::Openai => "provider-openai",
            Self::Anthropic => "provider-anthropic",
            Self::Gemini => "provider-gemini",
            Self::Demo => DEMO,
        }
    }

    /// The word for it on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Demo => "demo",
        }
    }

    /// The dialect it speaks.
    pub fn kind(self) -> ProviderKind {
        match self {
            Self::Openai | Self::Demo => ProviderKind::OpenAi,
            Self::Anthropic => ProviderKind::Anthropic,
            Self::Gemini => ProviderKind::Gemini,
        }
    }

    /// The one that speaks a dialect.
    pub fn of(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::OpenAi => Self::Openai,
            ProviderKind::Anthropic => Self::Anthropic,
            ProviderKind::Gemini => Self::Gemini,
        }
    }

    fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Openai => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Self::Demo => &[],
        }
    }
}

/// The provider behind an id: one of the app's own, or one at an address of its own.
pub fn name_of(id: &str) -> Option<ProviderName> {
    let own = id.split_once('@').map_or(id, |(own, _)| own);
    let all = [ProviderName::Openai, ProviderName::Anthropic, ProviderName::Gemini, ProviderName::Demo];
    all.into_iter().find(|name| name.id() == own)
}

/// The id of a service at another address than its usual one.
pub fn id_at(name: ProviderName, base_url: &str) -> String {
    let place = base_url.split_once("://").map_or(base_url, |(_, place)| place);
    format!("{}@{}", name.id(), place.trim_end_matches('/'))
}

/// Whether a service answers nobody without a key. At another address than its usual one it may.
pub fn needs_key(id: &str) -> bool {
    id != DEMO && !id.contains('@') && name_of(id).is_some()
}

/// The variables that may hold the key of a provider, as one reads them in a sentence.
pub fn key_variables(id: &str) -> String {
    let own = name_of(id).map_or(&[][..], ProviderName::variables);
    own.iter().copied().chain([GENERAL_KEY]).collect::<Vec<_>>().join(" or ")
}

/// Keys from the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The provider the general key is for: never sent to another one.
    pub chosen: String,
}

impl Environment {
    /// Whether there is a key for a provider.
    pub fn has_key(&self, id: &str) -> bool {
        self.find(id).is_some()
    }

    fn find(&self, id: &str) -> Option<String> {
        // The demo takes any key; none is shown to it.
        if id == DEMO {
            return None;
        }
        let general = (id == self.chosen).then_some(GENERAL_KEY);
        let own = name_of(id).map_or(&[][..], ProviderName::variables);
        let read = |name: &str| std::env::var(name).ok().filter(|key| !key.trim().is_empty());
        general.into_iter().chain(own.iter().copied()).find_map(read)
    }
}

impl KeyVault for Environment {
    fn key(&self, provider_id: &str) -> Result<Option<ApiKey>, String> {
        Ok(self.find(provider_id).map(ApiKey::new))
    }
}

/// The embedded service.
pub struct Demo {
    server: Server,
    models: Vec<Model>,
}

impl Demo {
    /// Starts it, at its last address if that is free. `is_watched`: somebody looks on, so it does not hurry.
    pub async fn start(
        agent: &Agent,
        model: Option<&str>,
        window: Option<u64>,
        max_output: Option<u64>,
        is_watched: bool,
    ) -> Result<Self, Failure> {
        let id = model.unwrap_or(DEMO_MODEL).to_owned();
        let usual =
            OTHER_DEMOS.iter().find(|(other, _)| *other == id).map_or(DEMO_WINDOW, |(_, usual)| *usual);
        let window = window.unwrap_or(usual);
        let max_output = max_output.unwrap_or(DEMO_OUTPUT);
        let mut models = vec![Model { id, window, max_output }];
        for (id, window) in OTHER_DEMOS {
            if models.iter().all(|model| model.id != id) {
                models.push(Model { id: id.to_owned(), window, max_output: DEMO_OUTPUT });
            }
        }
        let delay = if is_watched { DEMO_PAUSE } else { Duration::ZERO };
        let config = Config { models: models.clone(), delay, port: last_port(agent), ..Config::default() };
        let server = match Server::start(config.clone()).await {
            Ok(server) => Ok(server),
            Err(_) => Server::start(Config { port: 0, ..config }).await,
        };
        let server =
            server.map_err(|e| Failure::Failed(format!("the embedded demo server does not start: {e}")))?;
        for Model { id, window, max_output } in &models {
            let limits =
                ModelLimits { window: Some(*window), input_limit: None, max_output: Some(*max_output) };
            agent.set_limits(DEMO, id, limits);
        }
        let demo = Self { server, models };
        demo.register(agent)?;
        Ok(demo)
    }

    /// Puts its address into the file, unless it is there. Another chat on the same file has a demo of its own, and its
    /// own address for it.
    pub fn register(&self, agent: &Agent) -> Result<(), Failure> {
        let base_url = self.server.base_url(ProviderKind::OpenAi);
        let store = agent.store();
        let is_there = store.read(|c| {
            Ok(catalogue::providers(c)?.iter().any(|p| p.id == DEMO && p.base_url == base_url && p.is_active))
        })?;
        if is_there {
            return Ok(());
        }
        let provider = Provider {
            id: DEMO.to_owned(),
            name: "Demo".to_owned(),
            kind: ProviderKind::OpenAi,
            base_url,
            is_preset: false,
            is_active: true,
        };
        Ok(store.write(|t| catalogue::save_provider(t, &provider, super::now()))?)
    }

    /// The names of its models.
    pub fn models(&self) -> Vec<String> {
        self.models.iter().map(|model| model.id.clone()).collect()
    }

    /// The names its models have unless another one is asked for.
    pub fn usual_models() -> Vec<String> {
        let others = OTHER_DEMOS.iter().map(|(id, _)| *id);
        std::iter::once(DEMO_MODEL).chain(others).map(str::to_owned).collect()
    }
}

/// The port the file names for the demo; 0 takes any.
fn last_port(agent: &Agent) -> u16 {
    let saved = agent.store().read(|c| catalogue::provider(c, DEMO)).ok();
    let host = saved.and_then(|p| p.base_url.split('/').nth(2).map(str::to_owned)).unwrap_or_default();
    host.strip_prefix("127.0.0.1:").and_then(|port| port.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_have_ids_also_at_other_addresses() {
        assert_eq!(name_of("provider-gemini"), Some(ProviderName::Gemini));
        let id = id_at(ProviderName::Openai, "http://localhost:11434/v1/");
        assert_eq!(id, "provider-openai@localhost:11434/v1");
        assert_eq!(name_of(&id), Some(ProviderName::Openai));
        assert_eq!(name_of("something"), None);
        assert_eq!(key_variables(&id), "OPENAI_API_KEY or ONECLAW_API_KEY");
        assert_eq!(key_variables("something"), "ONECLAW_API_KEY");
    }
}
