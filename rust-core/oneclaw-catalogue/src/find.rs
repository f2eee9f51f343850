//! Finds what is known of a model by its id, wherever it is asked for.

use crate::index::look;
use crate::{Facts, Prices, Rates, Reasoning, Refusal, Vendor};
use oneclaw_model::{Dialect, Effort};

/// No service has ids this long; longer ones are not looked at.
const LONGEST_ID: usize = 200;

/// OpenRouter's folders, whose models are in them, and whether others run these models too, at prices of their own.
const FOLDERS: [(&str, &str, bool); 9] = [
    ("openai", "openai", false),
    ("anthropic", "anthropic", false),
    ("google", "gemini", false),
    ("x-ai", "xai", false),
    ("deepseek", "deepseek", true),
    ("moonshotai", "moonshot", true),
    ("mistralai", "mistral", true),
    ("z-ai", "zai", true),
    ("qwen", "dashscope", true),
];

/// What is known of a model at a service: of exactly that model, of the one it is a dated snapshot of, or of its family.
/// Of a family only the manner is known: no limits, no prices.
///
/// Servers that nobody knows are looked up by the names that only OpenAI, Anthropic and Google give: an open model is run
/// by many with windows of their own, so nothing is known of it there. OpenRouter is also looked up by its folders.
///
/// The dialect is the service's own. Anthropic and Google have endpoints that speak OpenAI's too: one who is set up to speak
/// to those goes on with chat completions.
pub fn find(vendor: Vendor, model: &str) -> Option<Facts> {
    let id = model.trim();
    if id.is_empty() || id.len() > LONGEST_ID {
        return None;
    }
    let id = id.to_ascii_lowercase();
    let id = id.strip_prefix("models/").unwrap_or(&id);
    if let Some(tuned) = id.strip_prefix("ft:") {
        // A tuned model has its base's limits, but prices and an end of its own.
        let base = tuned.split(':').next().unwrap_or_default();
        return at(vendor, base).map(|facts| Facts { prices: None, ends: None, ..facts });
    }
    at(vendor, id)
}

fn at(vendor: Vendor, id: &str) -> Option<Facts> {
    let name = id.rsplit('/').next().unwrap_or(id);
    match (vendor, vendor.service()) {
        (_, Some(service)) => {
            look(service, id).or_else(|| (name != id).then(|| look(service, name)).flatten())
        }
        (Vendor::OpenRouter, None) => at_router(id),
        (_, None) => look(maker(name)?, name).map(at_gateway),
    }
}

/// Whose a model is by its name, where only one maker gives such names.
fn maker(name: &str) -> Option<&'static str> {
    // `gpt-oss` and `gpt-2` are open; `gpt-3` was the first that was not.
    let is_numbered = |prefix: &str, least: char| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| (least..='9').contains(&c)))
    };
    if is_numbered("gpt-", '3') || is_numbered("o", '1') || name.starts_with("chatgpt-") {
        Some("openai")
    } else if name.starts_with("claude-") {
        Some("anthropic")
    } else if name.starts_with("gemini-") {
        Some("gemini")
    } else {
        None
    }
}

/// At a server that nobody knows. It may pass on OpenAI's dialects; of another maker's nothing goes through but chat
/// completions, and no word is said about efforts.
fn at_gateway(facts: Facts) -> Facts {
    match facts.dialect {
        Dialect::ChatCompletions | Dialect::Responses => facts,
        Dialect::Messages | Dialect::GenerateContent => in_chat(facts, &[]),
    }
}

/// At OpenRouter: `maker/name`, perhaps with `:variant`.
fn at_router(id: &str) -> Option<Facts> {
    let (id, variant) = id.split_once(':').unwrap_or((id, ""));
    let (folder, name) = match id.split_once('/') {
        Some((folder, name)) => (Some(folder), name),
        None => (None, id),
    };
    let (service, is_open) = match folder {
        None => (maker(name)?, false),
        Some(folder) => {
            let (_, service, is_open) = *FOLDERS.iter().find(|(known, ..)| *known == folder)?;
            // Google and OpenAI have open models too, which others run.
            let is_theirs = !matches!(service, "openai" | "gemini") || maker(name) == Some(service);
            (is_theirs.then_some(service)?, is_open)
        }
    };
    let mut facts = look(service, name)?;
    if is_open {
        facts.prices = None;
        facts.cache = None;
        facts.ends = None;
    }
    if variant == "free" {
        let nothing =
            Rates { input: Some(0.0), output: Some(0.0), cache_read: Some(0.0), cache_write: Some(0.0) };
        facts.prices = Some(Prices { rates: nothing, tiers: Vec::new() });
    }
    let efforts = facts.reasoning.as_ref().map_or_else(Vec::new, |reasoning| reasoning.efforts.clone());
    Some(in_chat(facts, &efforts))
}

/// Spoken to in chat completions by way of a server that translates: what only the maker's own endpoint asks for or
/// refuses does not count. Reasoning that is bound to its prefix is not checked there.
fn in_chat(mut facts: Facts, efforts: &[Effort]) -> Facts {
    facts.dialect = Dialect::ChatCompletions;
    facts.reasoning = facts.reasoning.map(|reasoning| Reasoning {
        by_default: reasoning.by_default,
        efforts: efforts.to_vec(),
        replay: reasoning.replay,
        ..Reasoning::default()
    });
    let goes_through = [Refusal::Sampling, Refusal::Prefill, Refusal::ForcedTool, Refusal::ParallelCalls];
    facts.refuses.retain(|refusal| goes_through.contains(refusal));
    facts
}

#[cfg(test)]
mod tests;
