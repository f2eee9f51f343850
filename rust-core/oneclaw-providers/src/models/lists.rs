//! The lists of models in the form of OpenAI, Anthropic and Gemini, with what others add to the first. Pure.

use super::read::{day, efforts, entries, flag, names, prices, size, text};
use super::{ListedModel, Page};
use oneclaw_catalogue::ThinkingType;
use oneclaw_model::Effort;
use serde_json::Value;

/// OpenAI's list, with what OpenRouter, Groq, Mistral, vLLM, llama.cpp and Copilot add to it.
pub fn openai(list: &Value) -> Vec<ListedModel> {
    entries(list, "data").filter_map(openai_model).collect()
}

fn openai_model(entry: &Value) -> Option<ListedModel> {
    // llama.cpp's `meta.n_ctx_train` is what the model was made for, not what it runs with.
    let windows = [
        "/max_model_len",
        "/top_provider/context_length",
        "/context_length",
        "/max_context_length",
        "/context_window",
        "/capabilities/limits/max_context_window_tokens",
        "/meta/n_ctx",
    ];
    let inputs =
        ["/max_input_tokens", "/capabilities/limits/max_prompt_tokens", "/per_request_limits/prompt_tokens"];
    let outputs = [
        "/top_provider/max_completion_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/capabilities/limits/max_output_tokens",
    ];
    let id = text(entry, "id")?;
    let id = id.strip_prefix("models/").map(str::to_owned).unwrap_or(id);
    let name = text(entry, "name").or_else(|| text(entry, "display_name")).filter(|name| *name != id);
    let parameters = "/supported_parameters";
    let calls_tools = names(entry, parameters, &["tools"]);
    let reasons = entry.get("reasoning").is_some_and(Value::is_object).then_some(true);
    Some(ListedModel {
        name,
        window: size(entry, &windows),
        input_limit: size(entry, &inputs),
        max_output: size(entry, &outputs),
        ends: day(entry, &["shutdown_date", "expiration_date"]),
        sees: names(entry, "/architecture/input_modalities", &["image"])
            .or_else(|| flag(entry, &["/capabilities/vision"])),
        calls_tools: calls_tools.or_else(|| flag(entry, &["/capabilities/function_calling"])),
        reasons: reasons
            .or_else(|| names(entry, parameters, &["reasoning", "include_reasoning"]))
            .or_else(|| flag(entry, &["/capabilities/reasoning"])),
        efforts: openrouter_efforts(entry),
        prices: prices(entry),
        ..ListedModel::new(id)
    })
}

/// The efforts OpenRouter names. Where reasoning is not mandatory, it can be turned off by the effort `none`.
fn openrouter_efforts(entry: &Value) -> Vec<Effort> {
    let Some(reasoning) = entry.get("reasoning") else { return vec![] };
    let Some(listed) = reasoning.get("supported_efforts").and_then(Value::as_array) else { return vec![] };
    let is_optional = reasoning.get("mandatory") == Some(&Value::Bool(false));
    let off = is_optional.then_some(Effort::None.word());
    efforts(listed.iter().filter_map(Value::as_str).chain(off))
}

/// A part of Anthropic's list. Models that were switched off are not in it.
pub fn anthropic(list: &Value) -> Page {
    let has_more = list.get("has_more").and_then(Value::as_bool).unwrap_or(false);
    Page {
        models: entries(list, "data").filter_map(anthropic_model).collect(),
        next: has_more.then(|| text(list, "last_id")).flatten(),
    }
}

fn anthropic_model(entry: &Value) -> Option<ListedModel> {
    let is_supported = |pointer: String| flag(entry, &[pointer.as_str()]) == Some(true);
    let words = Effort::ALL.map(Effort::word);
    let taken = words.into_iter().filter(|word| is_supported(format!("/capabilities/effort/{word}")));
    let thinking_types: Vec<ThinkingType> = ThinkingType::ALL
        .into_iter()
        .filter(|kind| is_supported(format!("/capabilities/thinking/types/{}", kind.word())))
        .collect();
    let reasons = flag(entry, &["/capabilities/thinking"]).or((!thinking_types.is_empty()).then_some(true));
    Some(ListedModel {
        name: text(entry, "display_name"),
        window: size(entry, &["/max_input_tokens"]),
        max_output: size(entry, &["/max_tokens"]),
        ends: day(entry, &["retires_at"]),
        sees: flag(entry, &["/capabilities/image_input"]),
        reasons,
        efforts: efforts(taken),
        thinking_types,
        ..ListedModel::new(text(entry, "id")?)
    })
}

/// A part of Gemini's list: the models that can be talked to.
pub fn gemini(list: &Value) -> Page {
    Page {
        models: entries(list, "models").filter_map(gemini_model).collect(),
        next: text(list, "nextPageToken"),
    }
}

fn gemini_model(entry: &Value) -> Option<ListedModel> {
    let name = text(entry, "name")?;
    if names(entry, "/supportedGenerationMethods", &["generateContent"]) == Some(false) {
        return None;
    }
    Some(ListedModel {
        name: text(entry, "displayName"),
        window: size(entry, &["/inputTokenLimit"]),
        max_output: size(entry, &["/outputTokenLimit"]),
        reasons: flag(entry, &["/thinking"]),
        ..ListedModel::new(name.strip_prefix("models/").map(str::to_owned).unwrap_or(name))
    })
}
