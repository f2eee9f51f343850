use super::*;
use crate::{Ability, all};
use oneclaw_model::Replay;
use std::time::{Duration, Instant};

fn id(vendor: Vendor, model: &str) -> String {
    find(vendor, model).map(|facts| facts.id).unwrap_or_default()
}

#[test]
fn snapshots_aliases_and_families() {
    for (vendor, model, listed) in [
        (Vendor::OpenAi, "GPT-4o", "gpt-4o"),
        (Vendor::OpenAi, "gpt-6-sol-2026-08-01", "gpt-6-sol"),
        (Vendor::OpenAi, "gpt-4o-audio-preview", "gpt-4o-audio-preview-2025-06-03"),
        (Vendor::OpenAi, "ft:gpt-4o-mini-2024-07-18:org:name:9abc", "gpt-4o-mini-2024-07-18"),
        (Vendor::OpenAi, "gpt-6.2-sol", "gpt-6*"),
        (Vendor::OpenAi, "gpt-7-sol", "gpt-*"),
        (Vendor::OpenAi, "gpt-4-0125-preview", "gpt-4*"),
        (Vendor::OpenAi, "whisper-1", ""),
        (Vendor::Anthropic, "claude-opus-5-5-20260901", "claude-opus-5-5"),
        (Vendor::Anthropic, "claude-opus-5-5@20260901", "claude-opus-5-5"),
        (Vendor::Anthropic, "claude-opus-5-20260701", "claude-opus-5"),
        (Vendor::Anthropic, "claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
        (Vendor::Anthropic, "claude-sonnet-4", "claude-sonnet-4-20250514"),
        (Vendor::Anthropic, "claude-fable-5-2", "claude-fable-*"),
        (Vendor::Anthropic, "anthropic/claude-opus-5.5", "claude-opus-5-5"),
        (Vendor::Gemini, "models/gemini-2.5-flash", "gemini-2.5-flash"),
        (Vendor::Gemini, "gemini-2.5-flash-preview-09-2025", "gemini-2.5-flash"),
        (Vendor::Gemini, "gemini-2.5-flash-lite-preview-06-17", "gemini-2.5-flash-lite"),
        (Vendor::Gemini, "gemini-2.0-flash-001", "gemini-2.0-flash"),
        (Vendor::Gemini, "gemini-3.9-pro", "gemini-3*"),
        (Vendor::DeepSeek, "deepseek-v4-flash-0731", "deepseek-v4-flash"),
        (Vendor::MiniMax, "minimax-m3", "MiniMax-M3"),
        (Vendor::Groq, "openai/gpt-oss-20b", "openai/gpt-oss-20b"),
        (Vendor::Perplexity, "anthropic/claude-opus-5-5", "*/*"),
        (Vendor::Perplexity, "sonar-pro", "sonar-pro"),
    ] {
        assert_eq!(id(vendor, model), listed, "{model}");
    }
}

#[test]
fn a_family_has_a_manner_and_no_numbers() {
    let facts = find(Vendor::Anthropic, "claude-opus-6").unwrap();
    assert_eq!((facts.limits.window, facts.limits.max_output, facts.prices), (None, None, None));
    assert!(facts.reasoning.unwrap().is_bound);
}

#[test]
fn the_end_of_a_snapshot() {
    let ends = |vendor, model: &str| {
        find(vendor, model).unwrap().ends.map(|day| day.to_string()).unwrap_or_default()
    };
    // Listed itself, earlier than its name without a day.
    assert_eq!(ends(Vendor::OpenAi, "gpt-4o-2024-05-13"), "2026-10-23");
    assert_eq!(ends(Vendor::OpenAi, "gpt-4o"), "2027-01-14");
    // Not listed: no later than the name without a day.
    assert_eq!(ends(Vendor::OpenAi, "gpt-4o-2025-01-01"), "2027-01-14");
    // Newer than the facts.
    assert_eq!(ends(Vendor::OpenAi, "gpt-4o-2026-12-01"), "");
    // Only another snapshot is listed.
    assert_eq!(ends(Vendor::Anthropic, "claude-sonnet-4-20250601"), "");
    assert_eq!(ends(Vendor::Anthropic, "claude-sonnet-4"), "2026-06-15");
    // A tuned model.
    assert_eq!(ends(Vendor::OpenAi, "ft:gpt-4o:org::x"), "");
}

#[test]
fn unknown_servers_are_asked_only_for_names_of_one_maker() {
    for (model, listed) in [
        ("gpt-6-sol", "gpt-6-sol"),
        ("azure/gpt-4o-2024-08-06", "gpt-4o-2024-08-06"),
        ("o3", "o3"),
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("gemini-3.8-flash", "gemini-3.8-flash"),
        ("gpt-oss-120b", ""),
        ("openai/gpt-oss-20b", ""),
        ("gpt-2", ""),
        ("gpt-j", ""),
        ("gemma-4-31b-it", ""),
        ("deepseek-v4-pro", ""),
        ("kimi-k3", ""),
        ("llama3", ""),
        ("olmo", ""),
        ("chat-latest", ""),
    ] {
        assert_eq!(id(Vendor::Compatible, model), listed, "{model}");
    }
    let claude = find(Vendor::Compatible, "claude-opus-5-5").unwrap();
    assert_eq!(claude.dialect, Dialect::ChatCompletions);
    let reasoning = claude.reasoning.unwrap();
    assert!(reasoning.types.is_empty() && reasoning.efforts.is_empty() && !reasoning.is_bound);
    assert_eq!(find(Vendor::Compatible, "gpt-6-sol").unwrap().dialect, Dialect::Responses);
}

#[test]
fn openrouter_has_folders_and_variants() {
    for (model, listed) in [
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("openai/gpt-6-sol:free", "gpt-6-sol"),
        ("openai/gpt-oss-120b", ""),
        ("google/gemini-3.8-flash", "gemini-3.8-flash"),
        ("google/gemma-4-31b-it", ""),
        ("deepseek/deepseek-v4-pro", "deepseek-v4-pro"),
        ("moonshotai/kimi-k3", "kimi-k3"),
        ("mistralai/mistral-large-4", "mistral-large-4"),
        ("x-ai/grok-4.7", "grok-4.7"),
        ("z-ai/glm-5.3:nitro", "glm-5.3"),
        ("qwen/qwen3.8-max", "qwen3.8-max"),
        ("nvidia/claude-opus-5-5", ""),
        ("gpt-6-sol", "gpt-6-sol"),
        ("kimi-k3", ""),
        ("anthropic/", ""),
    ] {
        assert_eq!(id(Vendor::OpenRouter, model), listed, "{model}");
    }
    let at = |model: &str| find(Vendor::OpenRouter, model).unwrap();
    let gpt = at("openai/gpt-6.1-sol");
    assert_eq!((gpt.dialect, gpt.refuses), (Dialect::ChatCompletions, vec![Refusal::Sampling]));
    assert_eq!(gpt.reasoning.unwrap().efforts.first(), Some(&Effort::Low));
    let claude = at("anthropic/claude-sonnet-5.5");
    assert!(claude.refuses(Refusal::ForcedTool) && claude.can(Ability::Pdf));
    assert_eq!(
        claude.reasoning.map(|reasoning| (reasoning.is_bound, reasoning.types.len())),
        Some((false, 0))
    );
    assert_eq!(at("openai/gpt-6-sol:free").prices.unwrap().at(300_000).input, Some(0.0));
    // Others run it at prices of their own; its reasoning has to go back wherever it runs.
    let open = at("deepseek/deepseek-v4-pro");
    assert_eq!((open.prices, open.limits.window), (None, Some(1_000_000)));
    assert_eq!(open.reasoning.unwrap().replay, Replay::EveryCall);
}

#[test]
fn hostile_ids_are_harmless_and_quick() {
    let vendors = [Vendor::OpenAi, Vendor::Gemini, Vendor::Mistral, Vendor::OpenRouter, Vendor::Compatible];
    let long = [
        "gpt-".repeat(100_000),
        "*".repeat(199),
        "-2026-01-01".repeat(18),
        "日本".repeat(33),
        "a/".repeat(99),
    ];
    let short = [
        "",
        " ",
        "/",
        "//",
        ":",
        "ft:",
        "ft::",
        "ft:/",
        "models/",
        "-",
        "@",
        "*",
        "\u{0}",
        "é",
        "🦀-2026-01-01",
        "gpt-*",
        "anthropic/:",
    ];
    all();
    let began = Instant::now();
    for vendor in vendors {
        for model in long.iter().map(String::as_str).chain(short) {
            let found = find(vendor, model);
            assert!(!model.trim().is_empty() || found.is_none(), "{model:?}");
            assert!(found.is_none_or(|facts| facts.is_family()), "{model:?}");
        }
    }
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
}
