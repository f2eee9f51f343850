//! Which model answers, what is known of it and how it is asked: `/model`, `/models`, `/window`, `/effort`.

use super::act::{Trouble, refused, short};
use super::command::Setting;
use super::screen::Style;
use super::services::{DEMO, Demo, key_variables, needs_key};
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
        let (provider, model) = self.current()?;
        let Some(wanted) = wanted else { return self.show_models(&provider, &model) };
        let (provider, model) = self.resolve(&wanted, &provider)?;
        if provider == DEMO && self.ready.demo.is_none() {
            let started = Demo::start(&agent, None, None, None, self.is_typed()).await;
            self.ready.demo = Some(started.map_err(|failure| refused(failure.to_string()))?);
        }
        if provider == DEMO && !self.models_of(DEMO)?.contains(&model) {
            return Err(refused(format!(
                "The demo has no model {model:?}, only {}. Another service: /model PROVIDER/MODEL",
                self.models_of(DEMO)?.join(", ")
            )));
        }
        if needs_key(&provider) && !self.ready.keys.has_key(&provider) {
            let own = key_variables(&provider);
            let own = own.split(" or ONECLAW").next().unwrap_or_default();
            return Err(refused(format!("{} needs a key: set {own} and start again.", short(&provider))));
        }
        agent.set_model(&session, &provider, &model).await?;
        let off = self.warn_if_off().map_err(Trouble::Output)?;
        let window = self.window().await.map_err(Trouble::Output)?.flatten();
        let size = window.map_or("its window is unknown".to_owned(), |w| format!("window {}", grouped(w)));
        let value = json!({
            "command": "model", "provider": provider, "model": model, "window": window, "switched_off": off,
        });
        Ok(self.say(value, &format!("Now with {}/{model}, {size}.", short(&provider)))?)
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
    fn current(&self) -> Result<(String, String), StoreError> {
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

    /// The provider and model that are meant.
    fn resolve(&self, wanted: &str, current: &str) -> Result<(String, String), Trouble> {
        let pair = |provider: &str, model: &str| (provider.to_owned(), model.to_owned());
        if let Some((name, model)) = wanted.split_once('/')
            && let Ok(name) = ProviderName::from_str(name, true)
        {
            return Ok(pair(name.id(), model));
        }
        let providers = self.ready.agent.store().read(catalogue::providers)?;
        for provider in &providers {
            let rest = wanted.strip_prefix(&provider.id).or_else(|| wanted.strip_prefix(short(&provider.id)));
            if let Some(model) = rest.and_then(|rest| rest.strip_prefix('/')) {
                return Ok(pair(&provider.id, model));
            }
        }
        if self.models_of(current)?.iter().any(|model| model == wanted) {
            return Ok(pair(current, wanted));
        }
        for provider in providers.iter().map(|provider| provider.id.as_str()).chain([DEMO]) {
            if self.models_of(provider)?.iter().any(|model| model == wanted) {
                return Ok(pair(provider, wanted));
            }
        }
        Ok(pair(current, wanted))
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
