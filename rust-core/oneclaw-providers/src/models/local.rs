//! What servers on a desk say about their models, outside the common list. Pure.
//!
//! Only the window that a model runs with counts. What it was made for is often many times as much; a server that runs it
//! with less cuts the prompt silently or refuses it. Where a model is not loaded and nothing is set for it, its window is
//! therefore unknown, and the first refusal teaches it.

use super::read::{believed, entries, flag, names, size, text};
use serde_json::Value;
use std::collections::HashMap;

/// What a server says of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Local {
    /// The window it runs with.
    pub window: Option<u64>,
    /// Whether it sees pictures.
    pub sees: Option<bool>,
    /// Whether it calls tools.
    pub calls_tools: Option<bool>,
    /// Whether it reasons.
    pub reasons: Option<bool>,
}

/// llama.cpp's `/props`. The window is that of one slot, which is what a conversation gets.
pub fn llama_cpp(props: &Value) -> Local {
    // Templates without tools of their own may still call some, so a "no" says nothing.
    let has_tools = flag(props, &["/chat_template_caps/supports_tools"]).filter(|has| *has);
    Local {
        window: size(props, &["/default_generation_settings/n_ctx"]),
        sees: flag(props, &["/modalities/vision"]),
        calls_tools: has_tools,
        reasons: None,
    }
}

/// Whether a common list comes from llama.cpp.
pub fn is_llama_cpp(list: &Value) -> bool {
    entries(list, "data").any(|entry| entry.get("owned_by").is_some_and(|owner| owner == "llamacpp"))
}

/// LM Studio's own list, by the names to ask for a model by: `/api/v1/models` of version 0.4 and later, `/api/v0/models`
/// before. A model that is not loaded gets whatever window is set when it is, so none is taken from it.
pub fn lm_studio(list: &Value) -> HashMap<String, Local> {
    let mut found = HashMap::new();
    for entry in entries(list, "models") {
        let Some(key) = text(entry, "key") else { continue };
        let local = Local {
            window: None,
            sees: flag(entry, &["/capabilities/vision"]),
            calls_tools: flag(entry, &["/capabilities/trained_for_tool_use"]),
            reasons: flag(entry, &["/capabilities/reasoning", "/capabilities/thinking"]),
        };
        let instances = entry.get("loaded_instances").and_then(Value::as_array).into_iter().flatten();
        let mut least: Option<u64> = None;
        for instance in instances {
            let window = size(instance, &["/config/context_length"]);
            // Asked for by its key, any of them may answer.
            least = least.into_iter().chain(window).min();
            if let Some(id) = text(instance, "id") {
                found.insert(id, Local { window, ..local });
            }
        }
        found.insert(key, Local { window: least, ..local });
    }
    for entry in list.get("data").and_then(Value::as_array).into_iter().flatten() {
        let Some(id) = text(entry, "id") else { continue };
        let is_seeing = text(entry, "type").map(|kind| kind == "vlm");
        let window = size(entry, &["/loaded_context_length"]);
        let calls_tools = names(entry, "/capabilities", &["tool_use"]);
        found.insert(id, Local { window, sees: is_seeing, calls_tools, reasons: None });
    }
    found
}

/// The names in Ollama's own list.
pub fn ollama_tags(list: &Value) -> Vec<String> {
    entries(list, "models").filter_map(|entry| text(entry, "name").or_else(|| text(entry, "model"))).collect()
}

/// The windows of the models that Ollama has running (`/api/ps`), by their names.
pub fn ollama_running(list: &Value) -> HashMap<String, u64> {
    let running = entries(list, "models").filter_map(|entry| {
        let window = size(entry, &["/context_length"])?;
        let names = ["name", "model"].into_iter().filter_map(|key| text(entry, key));
        Some(names.map(move |name| (name, window)))
    });
    running.flatten().collect()
}

/// What Ollama shows of one model (`/api/show`). The window is the one its file sets; a model in Ollama's cloud runs with all
/// it was made for. Without either the window depends on the machine's memory, 4,096 on most, and is unknown.
pub fn ollama_shown(shown: &Value) -> Local {
    let parameters = shown.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| {
        let value = line.trim().strip_prefix("num_ctx")?;
        believed(&Value::from(value.trim().trim_matches('"')))
    });
    let in_cloud = || {
        text(shown, "remote_host")?;
        let info = shown.get("model_info").and_then(Value::as_object)?;
        info.iter().find(|(key, _)| key.ends_with(".context_length")).and_then(|(_, value)| believed(value))
    };
    Local {
        window: set.or_else(in_cloud),
        sees: names(shown, "/capabilities", &["vision"]),
        calls_tools: names(shown, "/capabilities", &["tools"]),
        reasons: names(shown, "/capabilities", &["thinking"]),
    }
}
