//! Which model answers, what is known of it and how it is asked: `/model`, `/models`, `/window`, `/effort`.

use super::act::{Trouble, refused, short};
use super::command::Setting;
use super::screen::Style;
use super::services::{DEMO, Demo, moved};
use super::setup;
use super::signals::Signal;
use super::text::{self, grouped, one_line};
use super::{Chat, Next, now, waiting};
use crate::Failure;
use crate::args::ProviderName;
use crate::models::{Detail, Entry, lines, sentence};
use clap::ValueEnum;
use oneclaw_agent::{WindowSource, set_user_window, user_window};
use oneclaw_catalogue::{Date, Vendor, find};
use oneclaw_model::Effort;
use oneclaw_store::engine::{self, ModelAt};
use oneclaw_store::{StoreError, catalogue, sessions};
use serde_json::json;

/// The longest name of a model that is shown.
const MOST_NAME: usize = 76;
/// So many models are listed in a chat.
const MOST_LINES: usize = 30;

impl Chat {
    /// `/models`: what the service of the current model offers.
    pub(super) async fn models(&mut self, filter: Option<String>) -> Result<Next, Trouble> {
        self.before_run().map_err(Trouble::Output)?;
        let (provider, _) = self.current()?;
        let agent = self.ready.agent.clone();
        let asking =
            waiting(&mut self.screen, "Asking the service for its models...", agent.models(&provider));
        let listed = tokio::select! {
            biased;
            signal = self.signals.next() => {
                self.is_ended |= signal == Signal::Terminate || self.terminal.is_none();
                return Ok(if self.is_ended { Next::Leave } else { Next::GoOn });
            }
            listed = asking => listed??,
        };
        let mut entries: Vec<Entry> = listed.into_iter().map(Entry::from).collect();
        entries.retain(|entry| entry.fits(filter.as_deref()) && !entry.switched_off);
        let value = json!({"command": "models", "provider": provider, "models": entries});
        let more = entries.len().saturating_sub(MOST_LINES);
        entries.truncate(MOST_LINES);
        self.tell(value, |screen| {
            for line in lines(&entries, Detail::Short) {
                screen.line(&line, Style::Plain)?;
            }
            let hint = match (entries.is_empty(), more) {
                (true, _) => "There is no such model.".to_owned(),
                (false, 0) => "/model MODEL goes on with one of them.".to_owned(),
                (false, more) => format!("… and {more} more; /models FILTER lists fewer."),
            };
            screen.line(&hint, Style::Dim)
        })?;
        Ok(Next::GoOn)
    }

    /// `/window`
    pub(super) async fn set_window(&mut self, setting: Setting<u64>) -> Result<(), Trouble> {
        let (provider, model) = self.current()?;
        let agent = self.ready.agent.clone();
        let kept = match setting {
            Setting::Show => None,
            Setting::Set(window) => Some(Some(window)),
            Setting::Forget => Some(None),
        };
        if let Some(window) = kept {
            let (at, name) = (provider.clone(), model.clone());
            agent.write(move |t| set_user_window(t, &at, &name, window)).await?;
            // What was said with --window counted until now.
            agent.forget_window(&provider, &model);
        }
        let window = agent.status(&self.ready.session).await?.window;
        let source = agent.window_source(&provider, &model).await?;
        // The demo's window is set for it when it starts, before what the file says.
        let own = agent.store().read(|c| user_window(c, &provider, &model))?;
        let is_demos_own = provider == DEMO && own != window;
        let value = json!({
            "command": "window", "provider": provider, "model": model, "window": window, "source": source,
        });
        let name = format!("{}/{model}", short(&provider));
        let line = match (window, source.map(|source| whose(source, is_demos_own))) {
            (Some(window), Some(whose)) => format!("{name}: {} tokens, {whose}.", grouped(window)),
            (Some(window), None) => format!("{name}: {} tokens.", grouped(window)),
            (None, _) => format!("{name}: {}.", text::UNKNOWN_WINDOW),
        };
        Ok(self.say(value, &line)?)
    }

    /// `/limits`: what was learnt about the model that answers.
    pub(super) async fn limits(&mut self, forget: bool) -> Result<(), Trouble> {
        let (provider, model) = self.current()?;
        let agent = self.ready.agent.clone();
        let at = agent.store().read(|c| catalogue::provider(c, &provider))?;
        let mut entries = agent.learnt().await?;
        entries
            .retain(|entry| entry.kind == at.kind && entry.base_url == at.base_url && entry.model == model);
        let name = one_line(&format!("{}/{model}", short(&provider)), MOST_NAME);
        if forget {
            let count = agent.forget_learnt(entries).await?;
            let value =
                json!({"command": "limits", "provider": provider, "model": model, "forgotten": count});
            let line = match count {
                0 => format!("{name}: nothing was learnt."),
                _ => format!("{name}: forgotten, {}.", text::counted(count, "thing", "things")),
            };
            return Ok(self.say(value, &line)?);
        }
        let value = json!({"command": "limits", "provider": provider, "model": model, "learnt": entries});
        self.tell(value, |screen| {
            for entry in &entries {
                screen.line(&format!("{name}: {}.", sentence(entry)), Style::Plain)?;
            }
            match entries.is_empty() {
                true => screen.line(&format!("{name}: nothing was learnt."), Style::Plain),
                false => screen.line("/limits forget forgets it.", Style::Dim),
            }
        })?;
        Ok(())
    }

    /// `/effort`
    pub(super) fn set_effort(&mut self, setting: Setting<Effort>) -> Result<(), Trouble> {
        match setting {
            Setting::Show => {}
            Setting::Set(effort) => self.effort = Some(effort),
            Setting::Forget => self.effort = None,
        }
        self.ready.agent.set_effort(self.effort);
        let value = json!({"command": "effort", "effort": self.effort.map(Effort::word)});
        let line = match self.effort {
            Some(effort) => format!("Effort: {}, as far as the model takes that.", effort.word()),
            None => "Effort: auto, as each model does by itself.".to_owned(),
        };
        Ok(self.say(value, &line)?)
    }

    /// `/model`
    pub(super) async fn model(&mut self, wanted: Option<String>) -> Result<(), Trouble> {
        let (agent, session) = (self.ready.agent.clone(), self.ready.session.clone());
        let (before, model) = self.current()?;
        let Some(wanted) = wanted else { return self.show_models(&before, &model) };
        let (provider, model) = self.resolve(&wanted, &before).await?;
        if provider == DEMO && self.ready.demo.is_none() {
            let started = Demo::start(&agent, None, None, None, self.is_typed()).await;
            self.ready.demo = Some(started.map_err(|failure| refused(failure.to_string()))?);
        }
        let elsewhere = self.elsewhere(&provider, &model)?;
        if provider == DEMO && !self.models_of(DEMO)?.contains(&model) {
            return Err(refused(format!(
                "The demo has no model {model:?}, only {}. {}",
                self.models_of(DEMO)?.join(", "),
                elsewhere.unwrap_or_else(|| "Another service: /model SERVICE/MODEL".to_owned())
            )));
        }
        let origin = setup::origin(agent.store(), &provider)?;
        self.ready
            .keys
            .check(&provider, origin.as_ref())
            .map_err(|why| refused(why + ", and start again."))?;
        agent.set_model(&session, &provider, &model).await?;
        let off = self.warn_if_off().map_err(Trouble::Output)?;
        self.warn_if_moved().map_err(Trouble::Output)?;
        let window = self.window().await.map_err(Trouble::Output)?.flatten();
        let size = window.map_or("its window is unknown".to_owned(), |w| format!("window {}", grouped(w)));
        let left = (provider != before).then_some(&before);
        let value = json!({
            "command": "model", "provider": provider, "model": model, "window": window, "switched_off": off,
            "left": left,
        });
        let mut line = format!("Now with {}/{model}, {size}.", short(&provider));
        if let Some(left) = left {
            let place = origin.map_or(String::new(), |origin| format!(" at {origin}"));
            let (left, to) = (short(left), short(&provider));
            line = format!("The conversation leaves {left} and goes to {to}{place} from now on. {line}");
        } else if let Some(elsewhere) = elsewhere {
            line = format!("{line} {elsewhere}");
        }
        Ok(self.say(value, &line)?)
    }

    fn show_models(&mut self, provider: &str, model: &str) -> Result<(), Trouble> {
        let known = self.models_of(provider)?;
        let (mut named, mut off) = (Vec::new(), Vec::new());
        for id in &known {
            match self.off_since(provider, id)? {
                Some(day) => {
                    named.push(format!("{id} (switched off {day})"));
                    off.push(id);
                }
                None => named.push(id.clone()),
            }
        }
        let value = json!({
            "command": "model", "provider": provider, "model": model, "known": known, "switched_off": off,
        });
        Ok(self.say(value, &format!("{}/{model}; known here: {}", short(provider), named.join(", ")))?)
    }

    /// The provider and model of the session.
    pub(super) fn current(&self) -> Result<(String, String), StoreError> {
        let session = self.ready.agent.store().read(|c| sessions::get(c, &self.ready.session))?;
        Ok(session.model.unwrap_or_default())
    }

    fn models_of(&self, provider: &str) -> Result<Vec<String>, Trouble> {
        if provider == DEMO {
            return Ok(self.ready.demo.as_ref().map_or_else(Demo::usual_models, Demo::models));
        }
        let models = self.ready.agent.store().read(|c| catalogue::models(c, provider))?;
        Ok(models.into_iter().map(|model| model.id).collect())
    }

    /// The provider and model that are meant. A name is one of the service that is spoken to; the conversation goes to another
    /// one only where that is named. As names can have slashes, the service's own go first.
    async fn resolve(&mut self, wanted: &str, current: &str) -> Result<(String, String), Trouble> {
        let here = |model: &str| Ok((current.to_owned(), model.to_owned()));
        if !wanted.contains('/') {
            if self.is_vendors_own(current)?
                && !self.is_known(current, wanted)?
                && let Some(elsewhere) = self.elsewhere(current, wanted)?
            {
                return Err(refused(format!("{} has no model {wanted:?}. {elsewhere}", short(current))));
            }
            return here(wanted);
        }
        let providers = self.ready.agent.store().read(catalogue::providers)?;
        let ids: Vec<&str> = providers.iter().map(|provider| provider.id.as_str()).collect();
        let named = named_service(wanted, &ids);
        let is_named = named.as_ref().is_some_and(|(provider, _)| provider == current);
        if self.is_known(current, wanted)? || (!is_named && self.lists(current, wanted).await?) {
            return here(wanted);
        }
        match named {
            Some((provider, model)) if model.trim().is_empty() => {
                Err(refused(format!("{wanted:?} names no model; /model {}/MODEL does.", short(&provider))))
            }
            Some(named) => Ok(named),
            None => {
                let service = wanted.split('/').next().unwrap_or_default();
                let known: Vec<&str> = ids.iter().map(|id| short(id)).collect();
                let mine = short(current);
                Err(refused(format!(
                    "There is no service {service:?}, only {}, and {mine} lists no model {wanted:?}. If it has one: \
                     /model {mine}/{wanted}",
                    known.join(", ")
                )))
            }
        }
    }

    /// Whether a service is a vendor's, where the vendor is.
    fn is_vendors_own(&self, provider: &str) -> Result<bool, StoreError> {
        let origin = setup::origin(self.ready.agent.store(), provider)?;
        let is_vendors = ProviderName::of_id(provider).is_some_and(|name| name.origin().is_some());
        Ok(is_vendors && origin.is_some_and(|origin| moved(provider, &origin).is_none()))
    }

    /// Whether a service has a model of exactly that name, as far as that is known without asking it.
    fn is_known(&self, provider: &str, model: &str) -> Result<bool, Trouble> {
        if self.current()? == (provider.to_owned(), model.to_owned()) {
            return Ok(true);
        }
        if self.models_of(provider)?.iter().any(|known| known == model) {
            return Ok(true);
        }
        let (at, vendor) = self.ready.agent.store().read(|c| {
            let provider = catalogue::provider(c, provider)?;
            let vendor = Vendor::of(provider.kind, &provider.base_url);
            let at = ModelAt { kind: provider.kind, base_url: provider.base_url, model: model.to_owned() };
            Ok((at, vendor))
        })?;
        if self.ready.agent.store().read(|c| engine::listed(c, &at))?.is_some() {
            return Ok(true);
        }
        // The catalogue goes by the end of a name: it tells nothing of servers that nobody knows, and of a vendor's own models only
        // where no other service may be named before them.
        let is_telling = match model.contains('/') {
            true => !self.is_vendors_own(provider)?,
            false => true,
        };
        Ok(vendor != Vendor::Compatible && is_telling && find(vendor, model).is_some())
    }

    /// Whether the service's own list has a model of exactly that name; not where it cannot be read. Neither a vendor at its own
    /// place nor the demo has names with slashes, so they are not asked.
    async fn lists(&mut self, provider: &str, model: &str) -> Result<bool, Trouble> {
        if provider == DEMO || self.is_vendors_own(provider)? {
            return Ok(false);
        }
        let agent = self.ready.agent.clone();
        let asking =
            waiting(&mut self.screen, "Asking the service for its models...", agent.models(provider));
        let listed = tokio::select! {
            biased;
            signal = self.signals.next() => {
                self.is_ended |= signal == Signal::Terminate || self.terminal.is_none();
                return Err(refused("Stopped; the model stays as it was."));
            }
            listed = asking => listed?,
        };
        Ok(listed.is_ok_and(|listed| listed.iter().any(|offered| offered.id == model)))
    }

    /// Which other service has a model of that name, and how one goes on with it there; `None` where this one has it too.
    fn elsewhere(&self, provider: &str, model: &str) -> Result<Option<String>, Trouble> {
        if self.is_known(provider, model)? {
            return Ok(None);
        }
        let providers = self.ready.agent.store().read(catalogue::providers)?;
        for other in providers.iter().map(|other| other.id.as_str()).chain([DEMO]) {
            if other != provider && self.models_of(other)?.iter().any(|known| known == model) {
                let other = short(other);
                return Ok(Some(format!("{other} has a model of that name: /model {other}/{model}")));
            }
        }
        Ok(None)
    }

    /// Says so where the model that answers is switched off, and since when.
    pub(super) fn warn_if_off(&mut self) -> Result<Option<Date>, Failure> {
        let (provider, model) = self.current()?;
        let off = self.off_since(&provider, &model)?;
        if let Some(day) = off {
            self.warn(&format!(
                "{model} was switched off on {day}; the service may refuse it. /model goes on with another one."
            ))?;
        }
        Ok(off)
    }

    /// The day a model was switched off, if that day has come.
    fn off_since(&self, provider: &str, model: &str) -> Result<Option<Date>, StoreError> {
        let providers = self.ready.agent.store().read(catalogue::providers)?;
        let known = providers.into_iter().find(|known| known.id == provider);
        let facts = known.and_then(|p| find(Vendor::of(p.kind, &p.base_url), model));
        Ok(facts.filter(|facts| facts.is_off(Date::of_millis(now()))).and_then(|facts| facts.ends))
    }
}

/// The service that a name begins with, and the rest as the model's name. Vendors' words go before what a file calls its services,
/// and longer names of services before shorter ones.
fn named_service(wanted: &str, ids: &[&str]) -> Option<(String, String)> {
    if let Some((name, model)) = wanted.split_once('/')
        && let Ok(name) = ProviderName::from_str(name, true)
    {
        return Some((name.id().to_owned(), model.to_owned()));
    }
    let named = ids.iter().flat_map(|id| [*id, short(id)].map(|name| (name, *id)));
    let fitting = named.filter_map(|(name, id)| {
        let model = wanted.strip_prefix(name).filter(|_| !name.is_empty())?.strip_prefix('/')?;
        Some((name.len(), id, model))
    });
    fitting.max_by_key(|(length, ..)| *length).map(|(_, id, model)| (id.to_owned(), model.to_owned()))
}

/// Who says how large the window is, as the end of a sentence.
fn whose(source: WindowSource, is_demos_own: bool) -> &'static str {
    match source {
        WindowSource::User if is_demos_own => "the demo's own",
        WindowSource::User => "as you said; /window off forgets that",
        WindowSource::Service => "as the service lists it",
        WindowSource::Learnt => "learnt from a refusal; /limits says more",
        WindowSource::File => "as the file says",
        WindowSource::Catalogue => "as the catalogue says",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_named_before_a_slash() {
        let ids =
            ["provider-openai", "provider-openai@localhost:11434/v1", "meta", "openai", "", "provider-demo"];
        let named = |wanted: &str| named_service(wanted, &ids);
        for (wanted, provider, model) in [
            ("openai/gpt-6-sol", "provider-openai", "gpt-6-sol"),
            ("OpenAI/gpt-6-sol", "provider-openai", "gpt-6-sol"),
            ("provider-openai/openai/x", "provider-openai", "openai/x"),
            ("gemini/models/x", "provider-gemini", "models/x"),
            ("demo/demo-small", "provider-demo", "demo-small"),
            ("openai@localhost:11434/v1/meta/llama", "provider-openai@localhost:11434/v1", "meta/llama"),
            ("provider-openai@localhost:11434/v1/x", "provider-openai@localhost:11434/v1", "x"),
            ("meta/llama", "meta", "llama"),
            ("openai/", "provider-openai", ""),
        ] {
            assert_eq!(named(wanted), Some((provider.to_owned(), model.to_owned())), "{wanted}");
        }
        for wanted in ["", "gpt-4o", "/x", "metal/x", "openai@localhost/v1/x", "qwen/qwen3"] {
            assert_eq!(named(wanted), None, "{wanted}");
        }
    }
}
