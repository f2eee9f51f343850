//! The model server that answers without a key, for who opens the app for the first time.
//!
//! The one decision of this crate (ADR 0014): whether new sessions begin with it. They do where no model is the default, or
//! where the file is new and the default has no key; what somebody chose in a file that is in use stays. `oneclaw chat` decides
//! otherwise, as its arguments name the model, and so has its own (`oneclaw-cli/src/chat/services.rs`).

use crate::CoreError;
use crate::types::KeyVault;
use oneclaw_agent::{Agent, set_max_output};
use oneclaw_demo::{Config, DEMO_MODEL, Model, Server};
use oneclaw_model::ProviderKind;
use oneclaw_providers::Origin;
use oneclaw_store::catalogue::{self, CUSTOM, Provider};
use oneclaw_store::sessions;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const PROVIDER: &str = "provider-demo";
/// A reply should be seen to stream.
const DELAY: Duration = Duration::from_millis(12);

/// A running server.
#[derive(Clone)]
pub(crate) struct DemoServer(Arc<Mutex<Option<Server>>>);

impl DemoServer {
    /// Starts it and puts it among the services.
    pub async fn start(agent: &Agent, vault: Arc<dyn KeyVault>) -> Result<Self, CoreError> {
        let (is_active, is_default) = agent
            .read(move |c| {
                let known = catalogue::providers(c)?.into_iter().find(|provider| provider.id == PROVIDER);
                let page = sessions::list(c, sessions::Shelf::Open, sessions::Cursor::FIRST, 1)?;
                let is_new = known.is_none() && page.sessions.is_empty();
                let has_key = |model: catalogue::Model| {
                    let provider = catalogue::provider(c, &model.provider_id).ok();
                    let origin = provider.and_then(|provider| Origin::of(&provider.base_url).ok());
                    let key = origin.map(|origin| vault.key(model.provider_id, origin.to_string()));
                    matches!(key, Some(Ok(Some(_))))
                };
                let is_default = catalogue::default_model(c)?.is_none_or(|model| is_new && !has_key(model));
                Ok((known.is_none_or(|provider| provider.is_active), is_default))
            })
            .await?;
        let model = Model::default();
        let (window, longest) = (model.window, model.max_output);
        let config = Config { models: vec![model], delay: DELAY, ..Config::default() };
        let failed = |error: std::io::Error| CoreError::Internal { detail: error.to_string() };
        let server = Server::start(config).await.map_err(failed)?;
        let provider = Provider {
            id: PROVIDER.to_owned(),
            name: "Demo".to_owned(),
            kind: ProviderKind::OpenAi,
            base_url: server.base_url(ProviderKind::OpenAi),
            is_preset: false,
            is_active,
        };
        let listed = catalogue::Model {
            id: DEMO_MODEL.to_owned(),
            provider_id: PROVIDER.to_owned(),
            display_name: Some("Demo".to_owned()),
            is_default: false,
            source: CUSTOM.to_owned(),
            window: Some(window),
        };
        let now = agent.now();
        agent
            .write(move |t| {
                catalogue::save_provider(t, &provider, now)?;
                catalogue::save_model(t, &listed)?;
                set_max_output(t, PROVIDER, DEMO_MODEL, Some(longest))?;
                match is_default {
                    true => catalogue::set_default_model(t, PROVIDER, DEMO_MODEL),
                    false => Ok(()),
                }
            })
            .await?;
        Ok(Self(Arc::new(Mutex::new(Some(server)))))
    }

    pub async fn stop(&self) {
        let server = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(server) = server {
            server.stop().await;
        }
    }
}
