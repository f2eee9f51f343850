//! What a chat begins with: the file, the tools, the model, the session. Everything that can be wrong with the arguments is
//! said here, before anything is written.

use super::services::{DEMO, Demo, Environment, id_at, name_of};
use crate::Failure;
use crate::args::{ChatArgs, ProviderName};
use crate::models::maker;
use oneclaw_agent::tools::Registry;
use oneclaw_agent::tools::files::{ReadFile, Sandbox, WriteFile};
use oneclaw_agent::tools::guard::Guard;
use oneclaw_agent::tools::http::HttpRequest;
use oneclaw_agent::tools::time::CurrentTime;
use oneclaw_agent::{Agent, Config, Offer, System};
use oneclaw_demo::DEMO_MODEL;
use oneclaw_model::ModelLimits;
use oneclaw_providers::{Cleartext, Origin};
use oneclaw_store::catalogue::{self, Provider};
use oneclaw_store::{Store, StoreError, sessions, shown};
use std::fs::DirBuilder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file's name in the data folder.
const FILE: &str = "oneclaw.db";
/// The folder beside the file that tools may read and write.
const FILES: &str = "files";

/// What a chat has at hand.
pub struct Ready {
    pub agent: Agent,
    pub session: String,
    /// Whether this chat began it.
    pub is_new: bool,
    pub database: PathBuf,
    pub demo: Option<Demo>,
    pub keys: Environment,
}

/// Opens the file, finds the model and begins or finds the session.
pub async fn open(args: &ChatArgs, is_watched: bool) -> Result<Ready, Failure> {
    let policy = args.policy.policy().map_err(|fault| Failure::Usage(fault.to_string()))?;
    if args.base_url.is_some() && args.provider == Some(ProviderName::Demo) {
        return Err(Failure::Usage("--base-url does not go with the embedded demo".to_owned()));
    }
    let database = database(args.db.as_deref())?;
    let tools = tools(&database)?;
    let offer = offer(args, &tools)?;
    let Choice { provider, model, vendor } = match &args.session {
        None => choice(args, None)?,
        Some(id) => choice(args, look_up(&database, id)?)?,
    };
    let keys = Environment::of(args.base_url.as_deref(), vendor)?;
    let or_demo = |why: String| Failure::Failed(format!("{why} (or try --provider demo)"));
    if !database.exists() {
        // Nothing is written for who cannot be answered.
        keys.check(&provider, usual_origin(&provider).as_ref()).map_err(or_demo)?;
    }
    let config = Config {
        policy,
        tools,
        offer,
        cleartext: Cleartext { hosts: args.allow_http.clone() },
        ..Config::new(database.clone())
    };
    let agent = Agent::open(config, Arc::new(keys.clone()), Arc::new(System)).await.map_err(failed)?;
    agent.set_effort(args.effort);
    let demo = match provider == DEMO {
        true => Some(Demo::start(&agent, model.as_deref(), args.window, args.max_output, is_watched).await?),
        false => None,
    };
    if let (Some(base_url), Some(name)) = (&args.base_url, name_of(&provider)) {
        save_provider(&agent, &provider, name, base_url)?;
    }
    keys.check(&provider, origin(agent.store(), &provider)?.as_ref()).map_err(or_demo)?;
    let model = match (model, demo.is_some()) {
        (Some(model), _) => model,
        (None, true) => DEMO_MODEL.to_owned(),
        (None, false) => first_model(&agent, &provider).await?,
    };
    if demo.is_none() {
        let limits = ModelLimits { window: args.window, input_limit: None, max_output: args.max_output };
        agent.set_limits(&provider, &model, limits);
    }
    let session = match &args.session {
        Some(id) => id.clone(),
        None => agent.create_session().await.map_err(failed)?,
    };
    agent.set_model(&session, &provider, &model).await.map_err(failed)?;
    Ok(Ready { agent, session, is_new: args.session.is_none(), database, demo, keys })
}

/// A failure of the agent as one of the program.
pub fn failed(failure: oneclaw_agent::Failure) -> Failure {
    Failure::Failed(failure.to_string())
}

/// What the window of the session's model is.
pub async fn window(agent: &Agent, session: &str) -> Result<Option<u64>, Failure> {
    agent.look_up(session).await.map_err(failed)?;
    Ok(agent.status(session).await.map_err(failed)?.window)
}

/// The file: the one that is named, or the one in the data folder, which is made.
pub fn database(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let file = file(named)?;
    if named.is_none()
        && let Some(folder) = file.parent()
    {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .create(folder)
            .map_err(|e| Failure::Failed(format!("{}: cannot be made: {e}", shown(folder))))?;
    }
    Ok(file)
}

/// Where the file is, or would be.
pub fn file(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(file) = named {
        return Ok(file.to_owned());
    }
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = variable("XDG_DATA_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/share")));
    let none = || Failure::Failed("there is no data folder (HOME is not set); name a file with --db".into());
    Ok(data.ok_or_else(none)?.join("oneclaw").join(FILE))
}

fn tools(database: &Path) -> Result<Registry, Failure> {
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = folder.join(FILES);
    // Whoever made the folder that the file came in may have put a link there.
    if std::fs::symlink_metadata(&files).is_ok_and(|found| found.is_symlink()) {
        return Err(Failure::Failed(format!(
            "{}: is a link; tools work in a folder that lies beside the file itself; remove the link, or move the file",
            shown(&files)
        )));
    }
    let sandbox = Arc::new(Sandbox::new(files));
    let http = HttpRequest::new(Guard::Public).map_err(|error| Failure::Failed(error.to_string()))?;
    let mut tools = Registry::new();
    tools.insert(Arc::new(CurrentTime::system()));
    tools.insert(Arc::new(ReadFile::new(sandbox.clone())));
    tools.insert(Arc::new(WriteFile::new(sandbox)));
    tools.insert(Arc::new(http));
    Ok(tools)
}

fn offer(args: &ChatArgs, tools: &Registry) -> Result<Offer, Failure> {
    let Some(list) = &args.tools else { return Ok(Offer::AgentsChoice) };
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "none");
    let names: Vec<String> = names.map(str::to_owned).collect();
    match names.iter().find(|name| tools.get(name).is_none()) {
        Some(name) => Err(Failure::Usage(format!(
            "there is no tool {name:?}; --tools takes none, or some of: {}",
            tools.names().join(", ")
        ))),
        None => Ok(Offer::Only(names)),
    }
}

/// The model of a session that must be there.
fn look_up(database: &Path, id: &str) -> Result<Option<(String, String)>, Failure> {
    let store = Store::open_existing(database).map_err(|error| match error {
        StoreError::Missing { .. } => Failure::Failed(format!("{error}; there is no session {id:?}")),
        other => other.into(),
    })?;
    let session = store.read(|c| sessions::get(c, id))?;
    if session.deleted_at.is_some() {
        return Err(Failure::Failed(format!("{}: session {id:?} was thrown away", shown(database))));
    }
    store.prepare(id)?;
    Ok(session.model)
}

/// Where a provider usually is, if it is one of the app's own.
fn usual_origin(provider: &str) -> Option<Origin> {
    ProviderName::of_id(provider).and_then(ProviderName::origin)
}

/// Where a provider is by the file. An address that is none has no origin; nothing is sent there.
pub fn origin(store: &Store, provider: &str) -> Result<Option<Origin>, StoreError> {
    let provider = store.read(|c| catalogue::provider(c, provider))?;
    Ok(Origin::of(&provider.base_url).ok())
}

/// Who is to answer.
struct Choice {
    provider: String,
    model: Option<String>,
    /// The service that the arguments name, by itself or by its model.
    vendor: Option<ProviderName>,
}

/// The provider, and the model if one is named.
fn choice(args: &ChatArgs, of_session: Option<(String, String)>) -> Result<Choice, Failure> {
    let model = args.model.clone();
    if model.as_ref().is_some_and(|model| model.trim().is_empty()) {
        return Err(Failure::Usage("--model needs a name".to_owned()));
    }
    let inferred = model.as_deref().and_then(maker).map(ProviderName::of);
    if let Some(base_url) = &args.base_url {
        let name = args.provider.or(inferred).unwrap_or(ProviderName::Openai);
        return match model {
            Some(model) => {
                Ok(Choice { provider: id_at(name, base_url), model: Some(model), vendor: Some(name) })
            }
            None => Err(Failure::Usage("--base-url needs --model".to_owned())),
        };
    }
    let (provider, model, vendor) = match (args.provider, of_session) {
        (Some(name), Some((provider, own))) if provider == name.id() => {
            (provider, model.or(Some(own)), Some(name))
        }
        (Some(name), _) => (name.id().to_owned(), model, Some(name)),
        (None, Some((provider, own))) => (provider, model.or(Some(own)), None),
        (None, None) => (inferred.unwrap_or(ProviderName::Demo).id().to_owned(), model, inferred),
    };
    Ok(Choice { provider, model, vendor })
}

/// Puts a service at an address of its own into the file.
pub fn save_provider(agent: &Agent, id: &str, name: ProviderName, base_url: &str) -> Result<(), Failure> {
    let provider = Provider {
        id: id.to_owned(),
        name: id.trim_start_matches("provider-").to_owned(),
        kind: name.kind(),
        base_url: base_url.to_owned(),
        is_preset: false,
        is_active: true,
    };
    Ok(agent.store().write(|t| catalogue::save_provider(t, &provider, super::now()))?)
}

/// The first model of a service that is not switched off.
async fn first_model(agent: &Agent, provider: &str) -> Result<String, Failure> {
    let known = agent.known_models(provider).await.map_err(failed)?;
    let is_empty = known.is_empty();
    let first = known.into_iter().find(|model| !model.is_off);
    first.map(|model| model.id).ok_or_else(|| {
        let which = if is_empty { "no models in the file" } else { "only models that are switched off" };
        Failure::Usage(format!("{provider} has {which}; name one with --model"))
    })
}
