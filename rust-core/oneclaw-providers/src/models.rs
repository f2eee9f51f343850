//! Which models a service offers, and what it says about their size.
//!
//! Reading the lists is pure ([`openai`], [`lm_studio`], [`anthropic`], [`gemini`], and for Ollama [`ollama_tags`] and
//! [`ollama_window`]); asking for them is [`Client::models`].

use crate::address::{Address, Endpoint, is_openai};
use crate::http::Outgoing;
use crate::{Client, ProviderError};
use oneclaw_model::ProviderKind;
use reqwest::Url;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};

/// A model that a service offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    /// The name to ask for it by.
    pub id: String,
    /// The name to show.
    pub name: Option<String>,
    /// Its context window in tokens.
    pub window: Option<u64>,
    /// Its longest reply in tokens.
    pub max_output: Option<u64>,
}

/// A part of a list, and what to ask for the next part with.
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// Servers on a desk keep the window out of the common list; what they say elsewhere is nice to have, so failing to
    /// get it is no failure.
    async fn openai_models(
        &self,
        endpoint: &Endpoint,
        address: &Address,
    ) -> Result<Vec<ListedModel>, ProviderError> {
        let mut models = openai(&self.list(endpoint, address.join("models")).await?);
        models.truncate(MOST_MODELS);
        if is_openai(&endpoint.base_url) || models.iter().any(|model| model.window.is_some()) {
            return Ok(models);
        }
        let root = self.once(Outgoing::get(endpoint, address.at_root("/"))?).await.unwrap_or_default();
        if String::from_utf8_lossy(&root).contains("Ollama is running") {
            self.add_ollama(endpoint, address, &mut models).await;
        } else if let Ok(body) = self.once(Outgoing::get(endpoint, address.at_root("/api/v0/models"))?).await
        {
            let known = serde_json::from_slice(&body).map(|list| lm_studio(&list)).unwrap_or_default();
            let windows: HashMap<String, Option<u64>> =
                known.into_iter().map(|found| (found.id, found.window)).collect();
            for model in &mut models {
                model.window = windows.get(&model.id).copied().flatten();
            }
        }
        Ok(models)
    }

    async fn add_ollama(&self, endpoint: &Endpoint, address: &Address, models: &mut Vec<ListedModel>) {
        if let Ok(outgoing) = Outgoing::get(endpoint, address.at_root("/api/tags"))
            && let Ok(body) = self.once(outgoing).await
        {
            let tags = serde_json::from_slice(&body).map(|list| ollama_tags(&list)).unwrap_or_default();
            let mut known: HashSet<String> = models.iter().map(|model| model.id.clone()).collect();
            for id in tags {
                if models.len() < MOST_MODELS && known.insert(id.clone()) {
                    models.push(ListedModel { id, name: None, window: None, max_output: None });
                }
            }
        }
        for model in models.iter_mut().take(MOST_SHOWN) {
            let question = json!({"model": model.id});
            if let Ok(outgoing) = Outgoing::post(endpoint, address.at_root("/api/show"), &question)
                && let Ok(body) = self.once(outgoing).await
            {
                model.window = serde_json::from_slice(&body).ok().and_then(|shown| ollama_window(&shown));
            }
        }
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

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The first of several fields that is a number above zero; a few servers write numbers as text.
fn number(value: &Value, pointers: &[&str]) -> Option<u64> {
    let read = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    pointers.iter().filter_map(|pointer| read(value.pointer(pointer)?)).find(|number| *number > 0)
}

fn entries<'a>(list: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    list.get(key).unwrap_or(list).as_array().into_iter().flatten()
}

/// OpenAI's list, with what OpenRouter, Groq, Mistral, vLLM and llama.cpp add to it.
pub fn openai(list: &Value) -> Vec<ListedModel> {
    let windows = [
        "/top_provider/context_length",
        "/context_length",
        "/context_window",
        "/max_context_length",
        "/max_model_len",
        "/meta/n_ctx",
    ];
    let outputs = ["/top_provider/max_completion_tokens", "/max_completion_tokens", "/max_output_tokens"];
    let model = |entry: &Value| {
        let id = text(entry, "id")?;
        let id = id.strip_prefix("models/").map(str::to_owned).unwrap_or(id);
        let name = text(entry, "name").or_else(|| text(entry, "display_name")).filter(|name| *name != id);
        Some(ListedModel { id, name, window: number(entry, &windows), max_output: number(entry, &outputs) })
    };
    entries(list, "data").filter_map(model).collect()
}

/// LM Studio's own list. A loaded model has the window it was loaded with, which may be smaller than it could be.
pub fn lm_studio(list: &Value) -> Vec<ListedModel> {
    let windows = ["/loaded_context_length", "/max_context_length"];
    let model = |entry: &Value| {
        Some(ListedModel {
            id: text(entry, "id")?,
            name: None,
            window: number(entry, &windows),
            max_output: None,
        })
    };
    entries(list, "data").filter_map(model).collect()
}

/// The names in Ollama's own list.
pub fn ollama_tags(list: &Value) -> Vec<String> {
    entries(list, "models").filter_map(|entry| text(entry, "name").or_else(|| text(entry, "model"))).collect()
}

/// The window Ollama gives a model: what its file sets, else what the model was made for. (Without a setting Ollama
/// may use less and cut silently; the counts it reports tell.)
pub fn ollama_window(shown: &Value) -> Option<u64> {
    let parameters = shown.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let value = line.trim().strip_prefix("num_ctx")?;
        value.trim().trim_matches('"').parse::<u64>().ok().filter(|number| *number > 0)
    });
    let info = shown.get("model_info").and_then(Value::as_object);
    let made_for = info.into_iter().flatten().find(|(key, _)| key.ends_with(".context_length"));
    set.or_else(|| made_for.and_then(|(_, value)| value.as_u64()).filter(|number| *number > 0))
}

/// A part of Anthropic's list.
pub fn anthropic(list: &Value) -> Page {
    let model = |entry: &Value| {
        Some(ListedModel {
            id: text(entry, "id")?,
            name: text(entry, "display_name"),
            window: number(entry, &["/max_input_tokens"]),
            max_output: number(entry, &["/max_tokens"]),
        })
    };
    let has_more = list.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    Page {
        models: entries(list, "data").filter_map(model).collect(),
        next: has_more.then(|| text(list, "last_id")).flatten(),
    }
}

/// A part of Gemini's list: the models that can be talked to.
pub fn gemini(list: &Value) -> Page {
    let model = |entry: &Value| {
        let name = text(entry, "name")?;
        let methods = entry.get("supportedGenerationMethods").and_then(Value::as_array);
        if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
            return None;
        }
        Some(ListedModel {
            id: name.strip_prefix("models/").map(str::to_owned).unwrap_or(name),
            name: text(entry, "displayName"),
            window: number(entry, &["/inputTokenLimit"]),
            max_output: number(entry, &["/outputTokenLimit"]),
        })
    };
    Page { models: entries(list, "models").filter_map(model).collect(), next: text(list, "nextPageToken") }
}
