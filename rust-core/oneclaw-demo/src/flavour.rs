//! What compatible servers do in their own way: their own addresses, their lists of models, and what they say of a request
//! that does not fit.

use crate::ask::{Ask, Delivery};
use crate::config::{Flavour, Model};
use crate::protocol::Rejection;
use crate::window::{Measure, Overflow};
use hyper::Method;
use serde_json::{Value, json};

/// What Ollama says at `/`.
pub(crate) const GREETING: &str = "Ollama is running";
/// The window a local model was trained with, where a server tells that one too. It runs with the window of [`Model`].
pub(crate) const TRAINED: u64 = 131_072;

/// An address that only this server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Native {
    /// A word that it is there.
    Greeting,
    /// A page about models.
    Page(Page),
}

/// A page about models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// Ollama: what runs now, and with which window.
    Ps,
    /// Ollama: a model as it was made.
    Show,
    /// llama.cpp: how it was started.
    Props,
    /// LM Studio: its models, loaded or not.
    Models,
}

impl Native {
    pub fn of(flavour: Flavour, method: &Method, path: &str) -> Option<Self> {
        match (flavour, method, path) {
            (Flavour::Ollama, &Method::GET, "/") => Some(Self::Greeting),
            (Flavour::Ollama, &Method::GET, "/api/ps") => Some(Self::Page(Page::Ps)),
            (Flavour::Ollama, &Method::POST, "/api/show") => Some(Self::Page(Page::Show)),
            (Flavour::LlamaCpp, &Method::GET, "/props") => Some(Self::Page(Page::Props)),
            (Flavour::LmStudio, &Method::GET, "/api/v1/models") => Some(Self::Page(Page::Models)),
            _ => None,
        }
    }
}

/// Whether the size of a chat is asked for, at the address that this server has for it.
pub(crate) fn is_counting(flavour: Flavour, method: &Method, path: &str) -> bool {
    let address = match flavour {
        Flavour::LlamaCpp => "/v1/chat/completions/input_tokens",
        Flavour::Vllm => "/tokenize",
        _ => return false,
    };
    method == Method::POST && path == address
}

/// A page about these models; `None` for a model there is not.
pub(crate) fn page(page: Page, models: &[Model], body: &[u8]) -> Option<Value> {
    let of_each = |form: fn(&Model) -> Value| models.iter().map(form).collect::<Vec<_>>();
    Some(match page {
        Page::Ps => json!({"models": of_each(|model| json!({
            "name": model.id, "model": model.id, "size": 1, "context_length": model.window,
        }))}),
        Page::Show => {
            let asked: Value = serde_json::from_slice(body).unwrap_or_default();
            let id = asked.get("model").and_then(Value::as_str)?;
            models.iter().find(|model| model.id == id)?;
            json!({
                "details": {"family": "demo"}, "capabilities": ["completion", "tools"],
                "model_info": {"general.architecture": "demo", "demo.context_length": TRAINED},
            })
        }
        Page::Props => {
            let window = models.first().map(|model| model.window);
            json!({"default_generation_settings": {"n_ctx": window}, "total_slots": 1})
        }
        Page::Models => json!({"models": of_each(|model| json!({
            "key": model.id, "type": "llm", "max_context_length": TRAINED,
            "loaded_instances": [{"id": model.id, "config": {"context_length": model.window}}],
        }))}),
    })
}

/// The size of a prompt, as that server says it.
pub(crate) fn counted(flavour: Flavour, tokens: &Value, measure: &Measure, window: u64) -> Value {
    match flavour {
        Flavour::Vllm => {
            // The tokens come along; which ones they are nobody asks here.
            let ids: Vec<u64> = (0..measure.prompt).map(|place| 1_000 + place % 100_000).collect();
            json!({"count": tokens, "max_model_len": window, "tokens": ids, "token_strs": null})
        }
        _ => json!({"object": "response.input_tokens", "input_tokens": tokens}),
    }
}

/// A model in the list of models.
pub(crate) fn listed(flavour: Flavour, model: &Model) -> Value {
    let id = &model.id;
    match flavour {
        // DeepSeek, Kimi, Ollama and LM Studio list names only.
        Flavour::Plain | Flavour::DeepSeek | Flavour::Kimi | Flavour::Ollama | Flavour::LmStudio => {
            json!({"id": id, "object": "model", "owned_by": "oneclaw-demo"})
        }
        Flavour::OpenRouter => json!({
            "id": id, "name": id, "context_length": model.window,
            "top_provider": {"context_length": model.window, "max_completion_tokens": model.max_output},
            "supported_parameters": ["max_tokens", "reasoning", "include_reasoning", "tools", "tool_choice"],
            "reasoning": {"mandatory": false, "supported_efforts": ["low", "medium", "high"], "default_effort": "medium"},
            "pricing": {"prompt": "0", "completion": "0"},
        }),
        Flavour::LlamaCpp => json!({
            "id": id, "object": "model", "owned_by": "llamacpp", "meta": {"n_ctx_train": TRAINED},
        }),
        Flavour::Vllm => {
            json!({"id": id, "object": "model", "owned_by": "vllm", "max_model_len": model.window})
        }
    }
}

/// What that server says of a request that does not fit; `None` where it is what OpenAI says.
pub(crate) fn overflow(
    flavour: Flavour,
    ask: &Ask,
    overflow: Overflow,
    measure: &Measure,
    window: u64,
) -> Option<Rejection> {
    let prompt = measure.prompt;
    let all = match overflow {
        Overflow::Prompt => prompt,
        Overflow::WithOutput(output) => prompt.saturating_add(output),
    };
    Some(match flavour {
        Flavour::Plain | Flavour::DeepSeek | Flavour::Ollama => return None,
        Flavour::Kimi => Rejection::bad(format!(
            "Invalid request: Your request exceeded model token limit: {window} (requested: {all})"
        )),
        Flavour::OpenRouter => Rejection::bad(format!(
            "This endpoint's maximum context length is {window} tokens. However, you requested about {all} tokens. Please \
             reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically."
        )),
        Flavour::LlamaCpp => Rejection {
            fields: vec![
                ("type", "exceed_context_size_error".into()),
                ("code", 400.into()),
                ("n_prompt_tokens", prompt.into()),
                ("n_ctx", window.into()),
            ],
            ..Rejection::bad("the request exceeds the available context size, try increasing it")
        },
        Flavour::LmStudio => Rejection {
            is_in_stream: ask.delivery == Delivery::Events,
            ..Rejection::bad(format!(
                "The number of tokens to keep from the initial prompt ({prompt}) is greater than the context length \
                 ({window}). Try to load the model with a larger context length, or provide a shorter input."
            ))
        },
        Flavour::Vllm => Rejection::bad(format!(
            "This model's maximum context length is {window} tokens. However, your request has {prompt} input tokens. \
             Please reduce the length of the input messages."
        )),
    })
}
