//! Lists and settings: sessions, messages, services, models, agents. Each method is one question to the file.

use crate::CoreError;
use crate::convert::{message_out, model_in, model_out, preset_name, preset_of, size, size_in};
use crate::core::OneClaw;
use crate::error::invalid;
use crate::runtime::on_runtime;
use crate::types::{
    AgentProfile, LearntEntry, ListedModel, MessagePage, Model, ModelRef, PolicySettings, Provider, Session,
    SessionPage, Shelf,
};
use oneclaw_agent::{
    Preferences, keep_user_max_output, keep_user_window, known_limits, known_models, set_max_output,
    set_user_window,
};
use oneclaw_store::sessions::Cursor;
use oneclaw_store::{Place, agents, catalogue, epochs, messages, sessions, settings};

/// Fields of the policy that have a place of their own in [`PolicySettings`].
const AUTO: &str = "auto";
const PRUNE: &str = "prune";
const SUMMARY_MODEL: &str = "summary_model";

fn limit_in(limit: i32) -> Result<usize, CoreError> {
    usize::try_from(limit).ok().filter(|n| *n > 0).ok_or_else(|| invalid("limit", "has to be positive"))
}

#[uniffi::export]
impl OneClaw {
    // ---- sessions ----

    /// A page of the list, the latest first; `search` looks in titles and previews.
    pub async fn sessions(
        &self,
        search: String,
        shelf: Shelf,
        cursor: Option<String>,
        limit: i32,
    ) -> Result<SessionPage, CoreError> {
        let limit = limit_in(limit)?;
        let page = self
            .read(move |c| {
                let from = cursor.map_or(Ok(Cursor::FIRST), |cursor| cursor.parse())?;
                sessions::search(c, shelf.into(), &search, from, limit)
            })
            .await?;
        Ok(SessionPage {
            sessions: page.sessions.into_iter().map(Into::into).collect(),
            next: page.next.map(|cursor| cursor.to_string()),
        })
    }

    /// One session.
    pub async fn session(&self, session_id: String) -> Result<Session, CoreError> {
        Ok(self.read(move |c| sessions::get(c, &session_id)).await?.into())
    }

    /// Begins a session, with an agent and a model other than the usual ones if they are named.
    pub async fn create_session(
        &self,
        agent_id: Option<String>,
        model: Option<ModelRef>,
    ) -> Result<Session, CoreError> {
        let agent = self.agent.clone();
        let id = on_runtime(async move {
            let profile = agent_id.as_deref().unwrap_or(agents::GENERAL_ASSISTANT);
            let model = model.map(|model| (model.provider_id, model.model_id));
            Ok(agent.create_session_with(profile, model).await?)
        })
        .await?;
        self.session(id).await
    }

    /// Gives it another title.
    pub async fn rename_session(&self, session_id: String, title: String) -> Result<(), CoreError> {
        if title.trim().is_empty() {
            return Err(invalid("title", "is empty"));
        }
        self.write(move |t| sessions::rename(t, &session_id, title.trim())).await
    }

    /// Throws it away; it can be restored.
    pub async fn delete_session(&self, session_id: String) -> Result<(), CoreError> {
        self.agent.stop(&session_id);
        let now = self.agent.now();
        self.write(move |t| sessions::delete(t, &session_id, now)).await
    }

    /// Brings it back.
    pub async fn restore_session(&self, session_id: String) -> Result<(), CoreError> {
        self.write(move |t| sessions::restore(t, &session_id)).await
    }

    /// Removes it and all that belongs to it, for good.
    pub async fn purge_session(&self, session_id: String) -> Result<(), CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.purge(&session_id).await?) }).await
    }

    /// Lets it speak to another model from the next message on.
    pub async fn set_session_model(&self, session_id: String, model: ModelRef) -> Result<(), CoreError> {
        let agent = self.agent.clone();
        on_runtime(
            async move { Ok(agent.set_model(&session_id, &model.provider_id, &model.model_id).await?) },
        )
        .await
    }

    /// Lets another agent answer from the next message on.
    pub async fn set_session_agent(&self, session_id: String, agent_id: String) -> Result<(), CoreError> {
        self.write(move |t| {
            agents::get(t, &agent_id)?;
            sessions::set_agent(t, &session_id, &agent_id)
        })
        .await
    }

    /// The newest messages, or those before a place that an earlier page named. What is attached to them is described;
    /// `attachment` reads it.
    pub async fn messages(
        &self,
        session_id: String,
        before: Option<String>,
        limit: i32,
    ) -> Result<MessagePage, CoreError> {
        let limit = limit_in(limit)?;
        let agent = self.agent.clone();
        let (rows, boundary) = on_runtime(async move {
            agent.prepare(&session_id).await?;
            let page = agent.read(move |c| {
                sessions::get(c, &session_id)?;
                let before = before.map_or(Ok(Place::END), |place| place.parse())?;
                let boundary = epochs::standing(c, &session_id)?.map_or(Place::START, |s| s.boundary);
                Ok((messages::page(c, &session_id, before, limit)?, boundary))
            });
            Ok(page.await?)
        })
        .await?;
        let is_full = rows.len() == limit;
        let first = rows.first().filter(|_| is_full).map(|listed| listed.stored.place.to_string());
        let messages = rows.into_iter().map(|listed| message_out(listed, boundary)).collect();
        Ok(MessagePage { messages, before: first })
    }

    /// The bytes of what is attached to a message and has so many before it.
    pub async fn attachment(&self, message_id: String, nth: i32) -> Result<Vec<u8>, CoreError> {
        let nth = usize::try_from(nth).map_err(|_| invalid("nth", "is negative"))?;
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.attachment(&message_id, nth).await?) }).await
    }

    // ---- services, models, agents ----

    /// All services.
    pub async fn providers(&self) -> Result<Vec<Provider>, CoreError> {
        Ok(self.read(catalogue::providers).await?.into_iter().map(Into::into).collect())
    }

    /// Adds a service or changes one.
    pub async fn save_provider(&self, provider: Provider) -> Result<(), CoreError> {
        let (provider, now) = (provider.into(), self.agent.now());
        self.write(move |t| catalogue::save_provider(t, &provider, now)).await
    }

    /// Removes a service that the user has added.
    pub async fn remove_provider(&self, provider_id: String) -> Result<(), CoreError> {
        self.write(move |t| catalogue::remove_provider(t, &provider_id)).await
    }

    /// All models of all services.
    pub async fn models(&self) -> Result<Vec<Model>, CoreError> {
        let now = self.agent.now();
        self.read(move |c| {
            let mut all = Vec::new();
            for provider in catalogue::providers(c)? {
                let mut known = known_models(c, &provider, now)?.into_iter();
                for model in catalogue::models(c, &provider.id)? {
                    // Both lists are in the order of the file.
                    if let Some(known) = known.find(|known| known.id == model.id) {
                        all.push(model_out(model, known));
                    }
                }
            }
            Ok(all)
        })
        .await
    }

    /// Adds a model or changes one.
    pub async fn save_model(&self, model: Model) -> Result<(), CoreError> {
        if model.id.trim().is_empty() {
            return Err(invalid("id", "is empty"));
        }
        for (field, size) in [("window", model.window), ("max_output", model.max_output)] {
            if size.is_some_and(|n| n < 0) {
                return Err(invalid(field, "is negative"));
            }
        }
        let now = self.agent.now();
        self.write(move |t| {
            let provider = catalogue::provider(t, &model.provider_id)?;
            let shown = known_limits(t, &provider, &model.id, now)?.window;
            let mut saved = model_in(&model);
            // A window that was only shown may have been learnt or listed: the file keeps its own.
            if saved.window == shown
                && let Some(kept) =
                    catalogue::models(t, &provider.id)?.into_iter().find(|kept| kept.id == model.id)
            {
                saved.window = kept.window;
            }
            keep_user_window(t, &model.provider_id, &model.id, size_in(model.window), now)?;
            catalogue::save_model(t, &saved)?;
            keep_user_max_output(t, &model.provider_id, &model.id, size_in(model.max_output), now)
        })
        .await
    }

    /// Keeps the window the user gives a model, which goes before all that others say of it, unless it is what is known
    /// already; `None` goes back to that. The model need not be in the file.
    pub async fn set_window(&self, model: ModelRef, window: Option<i64>) -> Result<(), CoreError> {
        if window.is_some_and(|n| n <= 0) {
            return Err(invalid("window", "has to be positive"));
        }
        let now = self.agent.now();
        self.write(move |t| {
            catalogue::provider(t, &model.provider_id)?;
            keep_user_window(t, &model.provider_id, &model.model_id, size_in(window), now)
        })
        .await
    }

    /// Removes a model that the user has added.
    pub async fn remove_model(&self, model: ModelRef) -> Result<(), CoreError> {
        self.write(move |t| {
            catalogue::remove_model(t, &model.provider_id, &model.model_id)?;
            set_user_window(t, &model.provider_id, &model.model_id, None)?;
            set_max_output(t, &model.provider_id, &model.model_id, None)
        })
        .await
    }

    /// Lets new sessions begin with a model.
    pub async fn set_default_model(&self, model: ModelRef) -> Result<(), CoreError> {
        self.write(move |t| catalogue::set_default_model(t, &model.provider_id, &model.model_id)).await
    }

    /// The models a service offers, with what is known of them. Asks the service.
    pub async fn list_models(&self, provider_id: String) -> Result<Vec<ListedModel>, CoreError> {
        let agent = self.agent.clone();
        let listed = on_runtime(async move { Ok(agent.models(&provider_id).await?) }).await?;
        Ok(listed.into_iter().map(Into::into).collect())
    }

    /// What was learnt about models from refusals and reports, and has not expired.
    pub async fn learnt(&self) -> Result<Vec<LearntEntry>, CoreError> {
        let agent = self.agent.clone();
        let entries = on_runtime(async move { Ok(agent.learnt().await?) }).await?;
        Ok(entries.into_iter().map(Into::into).collect())
    }

    /// Forgets some of it; says how much there was.
    pub async fn forget_learnt(&self, entries: Vec<LearntEntry>) -> Result<i64, CoreError> {
        let agent = self.agent.clone();
        let entries = entries.into_iter().map(Into::into).collect();
        on_runtime(async move { Ok(size(agent.forget_learnt(entries).await?)) }).await
    }

    /// All agents.
    pub async fn agents(&self) -> Result<Vec<AgentProfile>, CoreError> {
        Ok(self.read(agents::list).await?.into_iter().map(Into::into).collect())
    }

    /// Adds an agent or changes one.
    pub async fn save_agent(&self, profile: AgentProfile) -> Result<(), CoreError> {
        if profile.name.trim().is_empty() {
            return Err(invalid("name", "is empty"));
        }
        let (profile, now) = (profile.into(), self.agent.now());
        self.write(move |t| agents::save(t, &profile, now)).await
    }

    /// Removes an agent that the user has added.
    pub async fn remove_agent(&self, agent_id: String) -> Result<(), CoreError> {
        self.write(move |t| agents::remove(t, &agent_id)).await
    }

    // ---- settings ----

    /// How contexts are kept small.
    pub async fn policy(&self) -> Result<PolicySettings, CoreError> {
        let agent = self.agent.clone();
        let mut kept = on_runtime(async move { Ok(agent.preferences().await?) }).await?;
        let policy = self.agent.policy();
        for field in [AUTO, PRUNE, SUMMARY_MODEL] {
            kept.overrides.remove(field);
        }
        Ok(PolicySettings {
            preset: preset_of(&kept.preset),
            overrides: kept.overrides.into_iter().collect(),
            auto: policy.auto,
            prune: policy.prune,
            summary_model: policy.summary_model.as_deref().and_then(|name| name.split_once('/')).map(
                |(provider, model)| ModelRef { provider_id: provider.to_owned(), model_id: model.to_owned() },
            ),
        })
    }

    /// Keeps contexts small in another way from the next message on.
    pub async fn save_policy(&self, policy: PolicySettings) -> Result<(), CoreError> {
        let mut overrides: std::collections::BTreeMap<_, _> = policy.overrides.into_iter().collect();
        overrides.insert(AUTO.to_owned(), policy.auto.to_string());
        overrides.insert(PRUNE.to_owned(), policy.prune.to_string());
        let named = policy.summary_model.map(|m| format!("{}/{}", m.provider_id, m.model_id));
        overrides.insert(SUMMARY_MODEL.to_owned(), named.unwrap_or_else(|| "off".to_owned()));
        let preferences = Preferences { preset: preset_name(policy.preset).to_owned(), overrides };
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.set_preferences(preferences).await?) }).await
    }

    /// A setting of the app.
    pub async fn setting(&self, key: String) -> Result<Option<String>, CoreError> {
        self.read(move |c| settings::get(c, &key)).await
    }

    /// Keeps a setting of the app, or goes back to the default. Keys and other secrets do not belong here.
    pub async fn set_setting(&self, key: String, value: Option<String>) -> Result<(), CoreError> {
        self.write(move |t| match value {
            Some(value) => settings::set(t, &key, &value),
            None => settings::remove(t, &key),
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CoreError, KeyVault, LearntTopic, OpenConfig, ProviderKind};
    use oneclaw_store::engine::{self, Lesson, ModelAt};
    use std::sync::Arc;

    struct NoKeys;

    impl KeyVault for NoKeys {
        fn key(&self, _provider_id: String, _origin: String) -> Result<Option<String>, CoreError> {
            Ok(None)
        }
    }

    fn wait<T>(future: impl Future<Output = T>) -> T {
        crate::runtime::runtime().unwrap().block_on(future)
    }

    #[test]
    fn what_was_learnt_is_seen_and_forgotten() {
        let folder = std::env::temp_dir().join(format!("oneclaw-learnt-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let config = OpenConfig {
            database_path: folder.join("oneclaw.db").display().to_string(),
            files_folder: folder.join("files").display().to_string(),
            demo: false,
        };
        let core = wait(OneClaw::open(config, Arc::new(NoKeys), None)).unwrap();
        let base_url = "https://api.openai.com/v1".to_owned();
        let at = ModelAt { kind: oneclaw_model::ProviderKind::OpenAi, base_url, model: "gpt-4o".to_owned() };
        let now = core.agent.now();
        let lesson = |topic: &str, value: &str, learnt_at| Lesson {
            topic: topic.to_owned(),
            value: value.to_owned(),
            heard: 3,
            learnt_at,
        };
        wait(core.write(move |t| {
            engine::set_lesson(t, &at, &lesson("window", r#"{"tokens":9000,"size":9500}"#, now))?;
            engine::set_lesson(t, &at, &lesson("density", r#"{"factor":1.25,"high":null}"#, now))?;
            engine::set_lesson(t, &at, &lesson("output", r#"{"tokens":9000,"size":9500}"#, 0))
        }))
        .unwrap();
        let entries = wait(core.learnt()).unwrap();
        let shown: Vec<_> = entries.iter().map(|entry| (entry.topic, entry.tokens, entry.factor)).collect();
        assert_eq!(
            shown,
            [(LearntTopic::Density, None, Some(1.25)), (LearntTopic::Window, Some(9_000), None)],
            "what has expired is not shown"
        );
        let window = entries.last().unwrap().clone();
        assert_eq!(
            (window.kind, window.model_id.as_str(), window.heard),
            (ProviderKind::OpenAi, "gpt-4o", 3)
        );
        assert_eq!((window.learnt_at, window.expires_at), (now, now + 30 * 24 * 60 * 60 * 1_000));
        let known = |core: &OneClaw| {
            let models = wait(core.models()).unwrap();
            models.into_iter().find(|model| model.id == "gpt-4o").unwrap().window
        };
        assert_eq!(known(&core), Some(9_000));
        // A form that is saved with the window it showed makes no lasting one of it.
        let models = wait(core.models()).unwrap();
        let shown = models.into_iter().find(|model| model.id == "gpt-4o").unwrap();
        wait(core.save_model(Model { display_name: "Mine".to_owned(), ..shown })).unwrap();
        assert_eq!(known(&core), Some(9_000));
        assert_eq!(wait(core.forget_learnt(vec![window.clone()])).unwrap(), 1);
        assert_eq!(wait(core.forget_learnt(vec![window])).unwrap(), 0);
        assert_eq!((known(&core), wait(core.learnt()).unwrap().len()), (Some(128_000), 1));
        wait(core.shut_down()).unwrap();
        drop(core);
        let _ = std::fs::remove_dir_all(&folder);
    }
}
