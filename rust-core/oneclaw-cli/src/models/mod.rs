//! `oneclaw models`: what a service offers, or what the catalogue knows of it.

mod entry;
mod learnt;
mod table;

pub use entry::Entry;
pub use learnt::sentence;
pub use table::{Detail, lines};

use crate::args::{ModelsArgs, ProviderName};
use crate::chat::services::{DEMO, Demo, Environment, id_at};
use crate::chat::setup;
use crate::{Failure, json};
use oneclaw_agent::{Agent, Config, Surroundings, System};
use oneclaw_catalogue::{Date, Facts, Vendor, all, find};
use oneclaw_model::{PresetModel, ProviderKind};
use oneclaw_providers::Cleartext;
use std::io::Write;
use std::sync::Arc;

/// `oneclaw models`
pub fn run(args: &ModelsArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    if args.learnt || args.forget {
        return learnt::run(args, is_json, out);
    }
    let listed = match args.known {
        true => of_catalogue(args)?,
        false => of_service(args)?,
    };
    let all = listed.len();
    let mut entries: Vec<Entry> =
        listed.into_iter().filter(|entry| entry.fits(args.filter.as_deref())).collect();
    let fitting = entries.len();
    entries.retain(|entry| args.all || !entry.switched_off);
    if is_json {
        return json::print(out, &entries);
    }
    for line in lines(&entries, Detail::Whole) {
        writeln!(out, "{line}")?;
    }
    if let Some(line) = remark(all, fitting, entries.len()) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// What is said below the list: how many are not in it, and why.
pub fn remark(all: usize, fitting: usize, shown: usize) -> Option<String> {
    let off = fitting - shown;
    let hidden = match off {
        0 => None,
        1 => Some("1 that is switched off is left out; --all lists it too.".to_owned()),
        _ => Some(format!("{off} that are switched off are left out; --all lists them too.")),
    };
    match (all, fitting) {
        (0, _) => Some("The service lists no models.".to_owned()),
        (_, 0) => Some(format!("None of {all} models fits.")),
        _ => hidden,
    }
}

/// What the catalogue knows of a model, whoever serves it.
pub fn known_model(id: &str) -> Option<Facts> {
    let is_same = |facts: &&Facts| !facts.is_family() && facts.id.eq_ignore_ascii_case(id.trim());
    find(Vendor::Compatible, id).or_else(|| all().iter().find(is_same).cloned())
}

/// Whose tokenizer a model has, where only its maker serves it.
pub fn maker(id: &str) -> Option<ProviderKind> {
    let preset = PresetModel::find(id).map(|preset| preset.provider);
    preset.or_else(|| match known_model(id)?.service.as_str() {
        "openai" => Some(ProviderKind::OpenAi),
        "anthropic" => Some(ProviderKind::Anthropic),
        "gemini" => Some(ProviderKind::Gemini),
        _ => None,
    })
}

fn of_catalogue(args: &ModelsArgs) -> Result<Vec<Entry>, Failure> {
    let vendor = match (args.provider, &args.base_url) {
        (Some(ProviderName::Demo), _) => {
            return Err(Failure::Usage(
                "--known does not go with the embedded demo; leave it out".to_owned(),
            ));
        }
        (None, None) => return Err(Failure::Usage("--known needs --provider or --base-url".to_owned())),
        (name, Some(base_url)) => Vendor::of(name.unwrap_or(ProviderName::Openai).kind(), base_url),
        (Some(ProviderName::Anthropic), None) => Vendor::Anthropic,
        (Some(ProviderName::Gemini), None) => Vendor::Gemini,
        (Some(ProviderName::Openai), None) => Vendor::OpenAi,
    };
    let service = vendor.service().ok_or_else(|| {
        Failure::Failed("the catalogue has no list of that service; leave --known out to ask it".to_owned())
    })?;
    let today = Date::of_millis(System.now());
    let models = all().iter().filter(|facts| facts.service == service && !facts.is_family());
    Ok(models.map(|facts| Entry::of_facts(facts, today)).collect())
}

fn of_service(args: &ModelsArgs) -> Result<Vec<Entry>, Failure> {
    let name = match (args.provider, &args.base_url) {
        (Some(ProviderName::Demo), Some(_)) => {
            return Err(Failure::Usage("--base-url does not go with the embedded demo".to_owned()));
        }
        (Some(name), _) => name,
        (None, Some(_)) => ProviderName::Openai,
        (None, None) => ProviderName::Demo,
    };
    let provider =
        args.base_url.as_ref().map_or_else(|| name.id().to_owned(), |base_url| id_at(name, base_url));
    let keys = Environment::of(args.base_url.as_deref(), Some(name))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("cannot start: {error}")))?;
    let asked = runtime.block_on(ask(args, name, &provider, keys));
    runtime.shutdown_background();
    asked
}

async fn ask(
    args: &ModelsArgs,
    name: ProviderName,
    provider: &str,
    keys: Environment,
) -> Result<Vec<Entry>, Failure> {
    let without_key = |why: String| Failure::Failed(why + &hint(name, args));
    if !setup::file(args.db.as_deref())?.exists() {
        // Nothing is written for who cannot be answered.
        keys.check(provider, name.origin().as_ref()).map_err(without_key)?;
    }
    let database = setup::database(args.db.as_deref())?;
    let config = Config { cleartext: Cleartext { hosts: args.allow_http.clone() }, ..Config::new(database) };
    let agent = Agent::open(config, Arc::new(keys.clone()), Arc::new(System)).await.map_err(setup::failed)?;
    let _demo = match provider == DEMO {
        true => Some(Demo::start(&agent, None, None, None, false).await?),
        false => None,
    };
    if let Some(base_url) = &args.base_url {
        setup::save_provider(&agent, provider, name, base_url)?;
    }
    keys.check(provider, setup::origin(agent.store(), provider)?.as_ref()).map_err(without_key)?;
    let offered = agent.models(provider).await;
    agent.close().await;
    let offered = offered.map_err(|failure| Failure::Failed(format!("{failure}{}", hint(name, args))))?;
    Ok(offered.into_iter().map(Entry::from).collect())
}

/// Where to look without the service, if the catalogue knows something of it.
fn hint(name: ProviderName, args: &ModelsArgs) -> String {
    let vendor = args.base_url.as_ref().map(|base_url| Vendor::of(name.kind(), base_url));
    let place = match (vendor, &args.base_url) {
        (None, _) if name == ProviderName::Demo => return String::new(),
        (Some(vendor), Some(base_url)) if vendor.service().is_some() => format!(" --base-url {base_url}"),
        (Some(_), _) => return String::new(),
        (None, _) => String::new(),
    };
    format!("; without asking: oneclaw models --known --provider {}{place}", name.word())
}
