//! Which models a service offers, and what it says about them.
//!
//! Reading the lists is pure ([`lists`] for services, [`local`] for servers on a desk); asking for them is
//! [`Client::models`]. Where a server tells a window in several places, the one it runs with is believed: llama.cpp's
//! `/props`, Ollama's running models, LM Studio's loaded ones; what the common list says (vLLM, OpenRouter, Mistral, Groq)
//! comes after these. A window that a model was merely made for is none.

pub mod lists;
pub mod local;
mod read;

pub use lists::{anthropic, gemini, openai};
pub use local::Local;

use crate::address::{Address, Endpoint};
use crate::http::Outgoing;
use crate::{Client, ProviderError};
use oneclaw_catalogue::{Date, Prices, ThinkingType, Vendor};
use oneclaw_model::{Effort, ProviderKind};
use reqwest::Url;
use serde_json::{Value, json};
use std::collections::HashSet;

/// A model that a service offers, with what the service says of it. What it does not say is `None` or empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ListedModel {
    /// The name to ask for it by.
    pub id: String,
    /// The name to show.
    pub name: Option<String>,
    /// Its context window in tokens, as it runs with.
    pub window: Option<u64>,
    /// A limit of its own on the prompt, in tokens.
    pub input_limit: Option<u64>,
    /// Its longest reply in tokens.
    pub max_output: Option<u64>,
    /// The day it is, or was, switched off.
    pub ends: Option<Date>,
    /// Whether it sees pictures.
    pub sees: Option<bool>,
    /// Whether it calls tools.
    pub calls_tools: Option<bool>,
    /// Whether it reasons.
    pub reasons: Option<bool>,
    /// The efforts it takes, the least first.
    pub efforts: Vec<Effort>,
    /// The values of `thinking.type` it takes (Anthropic).
    pub thinking_types: Vec<ThinkingType>,
    /// What it costs.
    pub prices: Option<Prices>,
}

impl ListedModel {
    /// A model of which only its name is known.
    pub fn new(id: String) -> Self {
        Self { id, ..Self::default() }
    }

    /// What its server says elsewhere goes before what the common list says.
    fn learn(&mut self, local: Local) {
        self.window = local.window.or(self.window);
        self.sees = local.sees.or(self.sees);
        self.calls_tools = local.calls_tools.or(self.calls_tools);
        self.reasons = local.reasons.or(self.reasons);
    }
}

/// A part of a list, and what to ask for the next part with.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The models.
    pub models: Vec<ListedModel>,
    /// The mark of the next part, if there is one.
    pub next: Option<String>,
}

/// More parts than this are no list of models.
const MOST_PAGES: usize = 50;
/// More models than this nobody chooses from; the rest is left out.
const MOST_MODELS: usize = 10_000;
/// More models than this are not asked about one by one.
const MOST_SHOWN: usize = 100;

impl Client {
    /// The models of a service, in its order.
    pub async fn models(&self, endpoint: &Endpoint) -> Result<Vec<ListedModel>, ProviderError> {
        let address = self.http.address(endpoint)?;
        match endpoint.kind {
            ProviderKind::OpenAi => self.openai_models(endpoint, &address).await,
            ProviderKind::Anthropic => self.pages(endpoint, &address, ("limit", "after_id"), anthropic).await,
            ProviderKind::Gemini => self.pages(endpoint, &address, ("pageSize", "pageToken"), gemini).await,
        }
    }

    async fn pages(
        &self,
        endpoint: &Endpoint,
        address: &Address,
        (size, mark): (&str, &str),
        read: fn(&Value) -> Page,
    ) -> Result<Vec<ListedModel>, ProviderError> {
        let mut models = Vec::new();
        let mut next: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut url = address.join("models");
            url.query_pairs_mut().append_pair(size, "1000");
            if let Some(next) = &next {
                url.query_pairs_mut().append_pair(mark, next);
            }
            let page = read(&self.list(endpoint, url).await?);
            models.extend(page.models.into_iter().take(MOST_MODELS - models.len()));
            // The same mark again would go round in circles.
            if page.next.is_none() || page.next == next || models.len() == MOST_MODELS {
                break;
            }
            next = page.next;
        }
        Ok(models)
    }

    /// Servers on a desk keep the window out of the common list. They are asked at the same origin, so no key goes elsewhere;
    /// what they say there is nice to have, so failing to get it is no failure.
    async fn openai_models(
        &self,
        endpoint: &Endpoint,
        address: &Address,
    ) -> Result<Vec<ListedModel>, ProviderError> {
        let list = self.list(endpoint, address.join("models")).await?;
        let mut models = openai(&list);
        models.truncate(MOST_MODELS);
        if Vendor::of(endpoint.kind, &endpoint.base_url) != Vendor::Compatible {
            return Ok(models);
        }
        if local::is_llama_cpp(&list) {
            self.add_llama_cpp(endpoint, address, &mut models).await;
        } else if models.iter().all(|model| model.window.is_none()) {
            self.add_windows(endpoint, address, &mut models).await;
        }
        Ok(models)
    }

    /// Finds out which server it is by asking in the ways of each.
    async fn add_windows(&self, endpoint: &Endpoint, address: &Address, models: &mut Vec<ListedModel>) {
        let root = match Outgoing::get(endpoint, address.at_root("/")) {
            Ok(outgoing) => self.once(outgoing).await.unwrap_or_default(),
            Err(_) => return,
        };
        if String::from_utf8_lossy(&root).contains("Ollama is running") {
            return self.add_ollama(endpoint, address, models).await;
        }
        for path in ["/api/v1/models", "/api/v0/models"] {
            let list = self.ask(endpoint, address.at_root(path)).await.unwrap_or_default();
            let known = local::lm_studio(&list);
            if models.iter().any(|model| known.contains_key(&model.id)) {
                for model in models.iter_mut() {
                    model.learn(known.get(&model.id).copied().unwrap_or_default());
                }
                return;
            }
        }
        let props = self.ask(endpoint, address.at_root("/props")).await.unwrap_or_default();
        if props.get("default_generation_settings").is_some() {
            self.add_llama_cpp(endpoint, address, models).await;
        }
    }

    /// A server of one model describes it; one of several is asked about each, without loading it for that.
    async fn add_llama_cpp(&self, endpoint: &Endpoint, address: &Address, models: &mut [ListedModel]) {
        let is_one = models.len() == 1;
        for model in models.iter_mut().take(MOST_SHOWN) {
            let mut url = address.at_root("/props");
            if !is_one {
                url.query_pairs_mut().append_pair("model", &model.id).append_pair("autoload", "false");
            }
            if let Some(props) = self.ask(endpoint, url).await {
                model.learn(local::llama_cpp(&props));
            }
        }
    }

    async fn add_ollama(&self, endpoint: &Endpoint, address: &Address, models: &mut Vec<ListedModel>) {
        let tags = self.ask(endpoint, address.at_root("/api/tags")).await.unwrap_or_default();
        let mut known: HashSet<String> = models.iter().map(|model| model.id.clone()).collect();
        for id in local::ollama_tags(&tags) {
            if models.len() < MOST_MODELS && known.insert(id.clone()) {
                models.push(ListedModel::new(id));
            }
        }
        let running = self.ask(endpoint, address.at_root("/api/ps")).await.unwrap_or_default();
        let running = local::ollama_running(&running);
        for model in models.iter_mut().take(MOST_SHOWN) {
            let question = json!({"model": model.id});
            if let Ok(outgoing) = Outgoing::post(endpoint, address.at_root("/api/show"), &question)
                && let Ok(body) = self.once(outgoing).await
                && let Ok(shown) = serde_json::from_slice(&body)
            {
                model.learn(local::ollama_shown(&shown));
            }
            model.window = running.get(&model.id).copied().or(model.window);
        }
    }

    /// The answer to a question that a server may not know.
    async fn ask(&self, endpoint: &Endpoint, url: Url) -> Option<Value> {
        let body = self.once(Outgoing::get(endpoint, url).ok()?).await.ok()?;
        serde_json::from_slice(&body).ok()
    }

    async fn list(&self, endpoint: &Endpoint, url: Url) -> Result<Value, ProviderError> {
        let outgoing = Outgoing::get(endpoint, url)?;
        let attempt = || async { self.http.body(self.http.send(&outgoing).await?).await };
        let body = self.retried(attempt).await?;
        serde_json::from_slice(&body)
            .map_err(|_| ProviderError::Protocol { detail: "the list of models is no JSON".to_owned() })
    }

    async fn once(&self, outgoing: Outgoing) -> Result<Vec<u8>, ProviderError> {
        self.http.body(self.http.send(&outgoing).await?).await.map_err(|failed| failed.error)
    }
}
