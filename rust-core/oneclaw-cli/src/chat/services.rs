//! The services that can be spoken to: their names in the file, their keys in the environment, the embedded demo.

use crate::Failure;
use crate::args::ProviderName;
use oneclaw_agent::{Agent, KeyVault};
use oneclaw_demo::{Config, DEMO_MODEL, Model, Server};
use oneclaw_model::{ModelLimits, ProviderKind};
use oneclaw_providers::{ApiKey, Origin, ProviderError};
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
/// Goes before the variables of the vendors, to the origin that was named when the program was started.
const GENERAL_KEY: &str = "ONECLAW_API_KEY";

const ALL: [ProviderName; 4] =
    [ProviderName::Openai, ProviderName::Anthropic, ProviderName::Gemini, ProviderName::Demo];

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

    /// The one with that name in the file.
    pub fn of_id(id: &str) -> Option<Self> {
        ALL.into_iter().find(|name| name.id() == id)
    }

    /// Where the vendor itself answers, its usual place first; its variables are for these and for no other.
    fn origins(self) -> &'static [&'static str] {
        match self {
            Self::Openai => {
                &["https://api.openai.com", "https://us.api.openai.com", "https://eu.api.openai.com"]
            }
            Self::Anthropic => &["https://api.anthropic.com"],
            Self::Gemini => &["https://generativelanguage.googleapis.com"],
            Self::Demo => &[],
        }
    }

    /// The vendor's usual place; `None` for the demo.
    pub fn origin(self) -> Option<Origin> {
        self.origins().first().and_then(|origin| Origin::of(origin).ok())
    }

    /// The vendor that answers at an origin.
    fn at(origin: &Origin) -> Option<Self> {
        let origin = origin.to_string();
        ALL.into_iter().find(|name| name.origins().contains(&origin.as_str()))
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
    ALL.into_iter().find(|name| name.id() == own)
}

/// The id of a service at another address than its usual one.
pub fn id_at(name: ProviderName, base_url: &str) -> String {
    let place = base_url.split_once("://").map_or(base_url, |(_, place)| place);
    format!("{}@{}", name.id(), place.trim_end_matches('/'))
}

/// Whether a service answers nobody without a key: a vendor's, wherever it is but on this machine. One at an address of its own
/// may.
fn needs_key(id: &str, origin: &Origin) -> bool {
    ProviderName::of_id(id).is_some_and(|name| name.origin().is_some()) && !origin.is_loopback()
}

/// What is said of a vendor's service that the file has at another place.
pub fn moved(id: &str, origin: &Origin) -> Option<String> {
    let name = ProviderName::of_id(id)?;
    let usual = name.origin().filter(|_| ProviderName::at(origin) != Some(name))?;
    Some(format!("By this file {} is at {origin}, not at {usual}.", name.word()))
}

/// Keys from the environment. Each is for certain origins, whatever the file says of where a service is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// The origin that was named when the program was started: that of an address, or of the vendor that was chosen.
    named: Option<Origin>,
}

impl Environment {
    /// For a program that was started with an address, or else with a service chosen. An address that cannot be one is refused.
    pub fn of(base_url: Option<&str>, chosen: Option<ProviderName>) -> Result<Self, Failure> {
        let named = match base_url {
            Some(base_url) => Some(
                Origin::of(base_url)
                    .map_err(|error| Failure::Usage(format!("--base-url: {}", detail_of(error))))?,
            ),
            None => chosen.and_then(ProviderName::origin),
        };
        Ok(Self { named })
    }

    /// Whether a service can be asked: that it wants no key, or that there is one for where it is. Else why not, and what to set.
    pub fn check(&self, id: &str, origin: Option<&Origin>) -> Result<(), String> {
        let Some(origin) = origin.filter(|origin| needs_key(id, origin)) else { return Ok(()) };
        if self.find(origin, &from_environment).is_some() {
            return Ok(());
        }
        let word = ProviderName::of_id(id).map_or(id, |name| name.word());
        let why = format!("{word} needs a key for {origin}: set {}", self.variables(origin));
        Err(moved(id, origin).map_or(why.clone(), |moved| format!("{moved} {why}")))
    }

    /// The variables that may hold the key for an origin, and with which arguments, as one reads them in a sentence.
    pub fn variables(&self, origin: &Origin) -> String {
        let vendor = ProviderName::at(origin);
        let own = vendor.map_or(&[][..], ProviderName::variables).join(" or ");
        let general = match (vendor, self.named.as_ref() == Some(origin)) {
            (_, true) => GENERAL_KEY.to_owned(),
            (Some(vendor), false) => format!("{GENERAL_KEY} with --provider {}", vendor.word()),
            (None, false) => format!("{GENERAL_KEY} with --base-url {origin}/..."),
        };
        [own, general].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" or ")
    }

    fn find(&self, origin: &Origin, read: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let general = self.named.as_ref().filter(|named| *named == origin).map(|_| GENERAL_KEY);
        let own = ProviderName::at(origin).map_or(&[][..], ProviderName::variables);
        let read = |name: &str| read(name).filter(|key| !key.trim().is_empty());
        general.into_iter().chain(own.iter().copied()).find_map(read)
    }
}

fn from_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Why an address is none.
fn detail_of(error: ProviderError) -> String {
    match error {
        ProviderError::InvalidRequest { detail } => detail,
        other => other.to_string(),
    }
}

impl KeyVault for Environment {
    fn key(&self, _: &str, origin: &Origin) -> Result<Option<ApiKey>, String> {
        Ok(self.find(origin, &from_environment).map(ApiKey::new))
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
    }

    fn origin(text: &str) -> Origin {
        Origin::of(text).unwrap()
    }

    /// Which variable's key goes to an origin, where all of them are set.
    fn goes_to(keys: &Environment, place: &str) -> Option<String> {
        keys.find(&origin(place), &|name| Some(name.to_owned()))
    }

    #[test]
    fn a_vendors_key_goes_to_the_vendor_and_the_general_one_where_it_was_named() {
        let plain = Environment::of(None, None).unwrap();
        let own = [
            ("https://api.openai.com/v1", "OPENAI_API_KEY"),
            ("https://API.openai.com.:443", "OPENAI_API_KEY"),
            ("https://eu.api.openai.com/v1", "OPENAI_API_KEY"),
            ("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
            ("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        ];
        for (place, variable) in own {
            assert_eq!(goes_to(&plain, place).as_deref(), Some(variable), "{place}");
        }
        let others = [
            "http://api.openai.com/v1",
            "https://api.openai.com:8443/v1",
            "https://api.openai.com.evil.example/v1",
            "https://evilapi.openai.com/v1",
            "https://openai.com/v1",
            "http://127.0.0.1:11434/v1",
            "http://[::1]/v1",
            "https://openrouter.ai/api/v1",
        ];
        for place in others {
            assert_eq!(goes_to(&plain, place), None, "{place}");
            let named = Environment::of(Some(place), Some(ProviderName::Openai)).unwrap();
            assert_eq!(goes_to(&named, place).as_deref(), Some("ONECLAW_API_KEY"), "{place}");
            assert_eq!(goes_to(&named, "https://api.openai.com/v1").as_deref(), Some("OPENAI_API_KEY"));
            for other in others.iter().filter(|other| **other != place) {
                assert_eq!(goes_to(&named, other), None, "{place} {other}");
            }
        }
        let chosen = Environment::of(None, Some(ProviderName::Anthropic)).unwrap();
        assert_eq!(goes_to(&chosen, "https://api.anthropic.com").as_deref(), Some("ONECLAW_API_KEY"));
        assert_eq!(goes_to(&chosen, "https://api.openai.com").as_deref(), Some("OPENAI_API_KEY"));
        let demo = Environment::of(None, Some(ProviderName::Demo)).unwrap();
        assert_eq!(demo, plain);
        let blank = plain.find(&origin("https://api.openai.com"), &|_| Some(" \n".to_owned()));
        assert_eq!(blank, None);
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        for address in ["", "localhost:8080", "https://me:pw@a.example/v1", "ftp://a.example", "http://"] {
            let refused = Environment::of(Some(address), None);
            assert!(matches!(refused, Err(Failure::Usage(_))), "{address}: {refused:?}");
        }
    }

    #[test]
    fn what_to_set_depends_on_where_a_key_is_wanted() {
        let (openai, other) = (origin("https://api.openai.com"), origin("http://10.0.0.2:8000"));
        let plain = Environment::of(None, None).unwrap();
        assert_eq!(plain.variables(&openai), "OPENAI_API_KEY or ONECLAW_API_KEY with --provider openai");
        assert_eq!(plain.variables(&other), "ONECLAW_API_KEY with --base-url http://10.0.0.2:8000/...");
        let named = Environment::of(Some("http://10.0.0.2:8000/v1"), None).unwrap();
        assert_eq!(named.variables(&other), "ONECLAW_API_KEY");
        let chosen = Environment::of(None, Some(ProviderName::Openai)).unwrap();
        assert_eq!(chosen.variables(&openai), "OPENAI_API_KEY or ONECLAW_API_KEY");
    }

    #[test]
    fn only_vendors_answer_nobody_without_a_key() {
        let needs = |id: &str, place: &str| needs_key(id, &origin(place));
        assert!(needs("provider-openai", "https://api.openai.com"));
        assert!(needs("provider-gemini", "https://evil.example"));
        assert!(!needs("provider-openai", "http://127.0.0.1:11434"));
        assert!(!needs("provider-openai@a.example/v1", "https://a.example"));
        assert!(!needs(DEMO, "http://127.0.0.1:1"));
        assert!(!needs("mine", "https://a.example"));
    }
}
