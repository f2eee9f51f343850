//! What the protocol notes say of single models, written down once more and apart from the rules.

use oneclaw_catalogue::{Facts, Rates, Refusal, ThinkingType, Vendor, find};
use oneclaw_model::{Dialect, Effort, Replay};

/// What is known of a listed model.
fn listed(vendor: Vendor, id: &str) -> Facts {
    let facts = find(vendor, id).filter(|facts| facts.id == id);
    facts.unwrap_or_else(|| Facts { id: format!("{id} is not listed"), ..nothing() })
}

fn nothing() -> Facts {
    Facts {
        service: String::new(),
        id: String::new(),
        dialect: Dialect::ChatCompletions,
        limits: Default::default(),
        reasoning: None,
        abilities: Vec::new(),
        refuses: Vec::new(),
        cache: None,
        prices: None,
        ends: None,
    }
}

fn efforts(facts: &Facts) -> String {
    let words = facts.reasoning.iter().flat_map(|reasoning| &reasoning.efforts).map(|effort| effort.word());
    words.collect::<Vec<_>>().join(" ")
}

fn types(facts: &Facts) -> String {
    let words = facts.reasoning.iter().flat_map(|reasoning| &reasoning.types).map(|kind| kind.word());
    words.collect::<Vec<_>>().join(" ")
}

fn ends(facts: &Facts) -> String {
    facts.ends.map(|day| day.to_string()).unwrap_or_default()
}

#[test]
fn openai_reasons_by_effort() {
    let (all, least) = ("none low medium high xhigh max", "low medium high xhigh max");
    for (id, expected, by_default) in [
        ("gpt-6-astra", least, true),
        ("gpt-6.1-sol", least, true),
        ("gpt-6-sol", all, true),
        ("gpt-6-luna", all, true),
        ("gpt-6.1-terra", all, true),
        ("gpt-5.6", all, true),
        ("gpt-5.6-sol", all, true),
        ("gpt-5.5", "none low medium high xhigh", true),
        ("gpt-5.4", "none low medium high xhigh", false),
        ("gpt-5.4-mini", "none low medium high xhigh", false),
        ("gpt-5.2", "none low medium high xhigh", false),
        ("gpt-5.1", "none low medium high", false),
        ("gpt-5", "minimal low medium high", true),
        ("gpt-5-nano", "minimal low medium high", true),
        ("o3", "low medium high", true),
        ("o1", "low medium high", true),
    ] {
        let facts = listed(Vendor::OpenAi, id);
        assert_eq!((facts.dialect, efforts(&facts).as_str()), (Dialect::Responses, expected), "{id}");
        assert_eq!(facts.reasoning.unwrap().by_default, by_default, "{id}");
    }
    for id in
        ["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4", "gpt-3.5-turbo", "gpt-audio", "gpt-4o-search-preview"]
    {
        let facts = listed(Vendor::OpenAi, id);
        assert_eq!((facts.dialect, facts.reasoning), (Dialect::ChatCompletions, None), "{id}");
        assert!(!facts.refuses.contains(&Refusal::MaxTokens), "{id}");
    }
}

#[test]
fn openai_refuses_chat_completions_by_model() {
    let chat = [Refusal::ChatCompletions, Refusal::ChatToolsUnlessNone, Refusal::ChatToolsWithEffort];
    for (id, expected) in [
        ("gpt-6.1-sol", Some(Refusal::ChatCompletions)),
        ("gpt-5.5-pro", Some(Refusal::ChatCompletions)),
        ("gpt-5.3-codex", Some(Refusal::ChatCompletions)),
        ("o3-deep-research", Some(Refusal::ChatCompletions)),
        ("gpt-daybreak-blue-latest", Some(Refusal::ChatCompletions)),
        ("gpt-6-sol", Some(Refusal::ChatToolsUnlessNone)),
        ("gpt-5.6-luna", Some(Refusal::ChatToolsUnlessNone)),
        ("gpt-5.4", Some(Refusal::ChatToolsWithEffort)),
        ("gpt-5.4-nano", Some(Refusal::ChatToolsWithEffort)),
        ("gpt-5.2", None),
        ("gpt-5", None),
        ("gpt-4o", None),
    ] {
        let facts = listed(Vendor::OpenAi, id);
        let found: Vec<_> = chat.into_iter().filter(|what| facts.refuses(*what)).collect();
        assert_eq!(found, Vec::from_iter(expected), "{} {id}", facts.id);
    }
}

#[test]
fn limits_are_read_as_the_service_means_them() {
    for (vendor, id, window, input_limit, max_output) in [
        (Vendor::OpenAi, "gpt-6.1-sol", 1_050_000, Some(922_000), 128_000),
        (Vendor::OpenAi, "gpt-5.6", 1_050_000, Some(922_000), 128_000),
        (Vendor::OpenAi, "gpt-5.5", 1_050_000, Some(922_000), 128_000),
        (Vendor::OpenAi, "gpt-5.5-pro", 1_050_000, Some(922_000), 128_000),
        (Vendor::OpenAi, "gpt-5.4", 1_050_000, Some(922_000), 128_000),
        (Vendor::OpenAi, "gpt-5.4-pro-2026-03-05", 1_050_000, Some(922_000), 128_000),
        (Vendor::OpenAi, "gpt-5.4-mini", 400_000, Some(272_000), 128_000),
        (Vendor::OpenAi, "gpt-5", 400_000, Some(272_000), 128_000),
        (Vendor::OpenAi, "gpt-5-pro", 400_000, None, 272_000),
        (Vendor::OpenAi, "gpt-5.1-codex", 400_000, None, 128_000),
        (Vendor::OpenAi, "gpt-4o", 128_000, None, 16_384),
        (Vendor::OpenAi, "o4-mini", 200_000, None, 100_000),
        (Vendor::Anthropic, "claude-opus-5-5", 1_000_000, None, 128_000),
        (Vendor::Anthropic, "claude-haiku-4-5", 200_000, None, 64_000),
        (Vendor::Gemini, "gemini-4-argon", 1_048_576, None, 65_536),
        (Vendor::Gemini, "gemini-3.8-flash", 1_048_576, None, 65_536),
        (Vendor::DeepSeek, "deepseek-v4-pro", 1_000_000, None, 393_216),
    ] {
        let limits = listed(vendor, id).limits;
        assert_eq!(
            (limits.window, limits.input_limit, limits.max_output),
            (Some(window), input_limit, Some(max_output)),
            "{id}"
        );
    }
}

#[test]
fn anthropic_thinks_by_family() {
    let max = "low medium high xhigh max";
    let both = "adaptive disabled";
    // Id, what it takes, efforts, whether it thinks by itself, whether bound, up to which effort quiet, least cached.
    for (id, kinds, words, by_default, is_bound, quiet, least) in [
        ("claude-haiku-4-5", "enabled disabled", "", false, false, None, 4096),
        ("claude-sonnet-4-5", "enabled disabled", "", false, false, None, 1024),
        ("claude-opus-4-5", "enabled disabled", "low medium high", false, false, None, 4096),
        ("claude-opus-4-6", "enabled adaptive disabled", "low medium high max", false, false, None, 4096),
        ("claude-sonnet-4-6", "enabled adaptive disabled", "low medium high max", false, false, None, 1024),
        ("claude-opus-4-7", both, max, false, false, None, 2048),
        ("claude-opus-4-8", both, max, false, false, None, 1024),
        ("claude-sonnet-5", both, max, true, false, None, 1024),
        ("claude-opus-5", both, max, true, false, Some(Effort::High), 512),
        ("claude-haiku-5-5", both, max, true, true, None, 512),
        ("claude-sonnet-5-5", "adaptive between_tools", max, true, true, Some(Effort::High), 512),
        ("claude-opus-5-5", "adaptive", max, true, true, None, 512),
        ("claude-fable-5", "adaptive", max, true, false, None, 512),
        ("claude-fable-5-1", "adaptive", max, true, true, None, 512),
        ("claude-mythos-5-1", "adaptive", max, true, true, None, 512),
    ] {
        let facts = listed(Vendor::Anthropic, id);
        assert_eq!((types(&facts).as_str(), efforts(&facts).as_str()), (kinds, words), "{id}");
        let cache = facts.cache.unwrap();
        assert_eq!((cache.least, cache.seconds), (least, Some(300)), "{id}");
        let reasoning = facts.reasoning.unwrap();
        assert_eq!(
            (reasoning.by_default, reasoning.is_bound, reasoning.quiet_up_to),
            (by_default, is_bound, quiet),
            "{id}"
        );
    }
    let refuses = |id: &str| {
        let facts = listed(Vendor::Anthropic, id);
        [Refusal::Prefill, Refusal::Sampling, Refusal::ForcedTool].map(|what| facts.refuses(what))
    };
    assert_eq!(refuses("claude-opus-4-5"), [false, false, false]);
    assert_eq!(refuses("claude-sonnet-4-6"), [true, false, false]);
    assert_eq!(refuses("claude-opus-4-7"), [true, true, false]);
    assert_eq!(refuses("claude-haiku-5-5"), [true, true, false]);
    assert_eq!(refuses("claude-fable-5"), [true, true, false]);
    assert_eq!(refuses("claude-fable-5-1"), [true, true, true]);
    assert_eq!(refuses("claude-opus-5-5"), [true, true, true]);
    assert_eq!(refuses("claude-sonnet-5-5"), [true, true, true]);
}

#[test]
fn google_thinks_by_budget_or_level() {
    for (id, budget, words) in [
        ("gemini-2.5-pro", Some(128), ""),
        ("gemini-2.5-flash", Some(0), ""),
        ("gemini-2.5-flash-lite", Some(0), ""),
        ("gemini-3-flash-preview", None, "minimal low medium high"),
        ("gemini-3.1-flash-lite", None, "minimal low medium high"),
        ("gemini-3.5-flash", None, "minimal low medium high"),
        ("gemini-3.6-flash", None, "minimal low medium high"),
        ("gemini-3.1-pro-preview", None, "low medium high"),
        ("gemini-3.7-flash", None, "low medium high"),
        ("gemini-3.8-flash", None, "low medium high"),
        ("gemini-4-argon", None, "low medium high"),
        ("gemma-4-31b-it", None, ""),
    ] {
        let facts = listed(Vendor::Gemini, id);
        assert_eq!(efforts(&facts), words, "{id}");
        let reasoning = facts.reasoning.unwrap();
        assert_eq!((reasoning.least_budget, reasoning.by_level), (budget, budget.is_none()), "{id}");
    }
    assert_eq!(listed(Vendor::Gemini, "gemini-4-argon").cache.unwrap().least, 6144);
    assert_eq!(listed(Vendor::Gemini, "gemini-3.5-flash").cache.unwrap().least, 4096);
}

#[test]
fn compatible_services_want_reasoning_back() {
    for (vendor, id, replay, switch) in [
        (Vendor::DeepSeek, "deepseek-flash", Replay::EveryCall, true),
        (Vendor::DeepSeek, "deepseek-v4-pro", Replay::EveryCall, true),
        (Vendor::Moonshot, "kimi-k2.6", Replay::EveryCall, true),
        (Vendor::Moonshot, "kimi-k3", Replay::EveryCall, false),
        (Vendor::Zai, "glm-5.3", Replay::OpenTurn, true),
        (Vendor::Xai, "grok-4.7", Replay::OpenTurn, false),
    ] {
        let reasoning = listed(vendor, id).reasoning.unwrap();
        assert_eq!((reasoning.replay, reasoning.by_default), (replay, true), "{id}");
        assert_eq!(reasoning.types.contains(&ThinkingType::Disabled), switch, "{id}");
    }
    assert_eq!(efforts(&listed(Vendor::Mistral, "mistral-small-2603")), "none high");
    assert_eq!(listed(Vendor::Mistral, "mistral-large-latest").reasoning, None);
    assert_eq!(listed(Vendor::Xai, "grok-4.20-non-reasoning").reasoning, None);
    assert_eq!(listed(Vendor::Xai, "grok-4.20-multi-agent").dialect, Dialect::Responses);
    assert_eq!(listed(Vendor::Xai, "grok-4.7").dialect, Dialect::ChatCompletions);
}

#[test]
fn prices_rise_for_the_whole_request() {
    let rates = |input, output, cache_read, cache_write| Rates {
        input: Some(input),
        output: Some(output),
        cache_read: Some(cache_read),
        cache_write,
    };
    for (vendor, id, prompt, expected) in [
        (Vendor::OpenAi, "gpt-6-astra", 272_000, rates(10.0, 50.0, 1.0, Some(12.5))),
        (Vendor::OpenAi, "gpt-6-astra", 272_001, rates(20.0, 75.0, 2.0, Some(25.0))),
        (Vendor::OpenAi, "gpt-6.1-sol", 1, rates(2.0, 10.0, 0.1, Some(2.5))),
        (Vendor::OpenAi, "gpt-6-luna", 300_000, rates(0.2, 0.75, 0.02, Some(0.25))),
        (Vendor::Anthropic, "claude-opus-5-5", 900_000, rates(4.0, 20.0, 0.2, Some(5.0))),
        (Vendor::Anthropic, "claude-haiku-5-5", 100_000, rates(0.1, 0.5, 0.01, Some(0.125))),
        (Vendor::Anthropic, "claude-haiku-5-5", 100_001, rates(0.5, 2.5, 0.05, Some(0.625))),
        (Vendor::Gemini, "gemini-4-argon", 900_000, rates(2.0, 10.0, 0.1, None)),
        (Vendor::Gemini, "gemini-2.5-pro", 200_001, rates(2.5, 15.0, 0.25, None)),
        (Vendor::Xai, "grok-4.7", 200_001, rates(4.0, 12.0, 1.0, None)),
    ] {
        assert_eq!(listed(vendor, id).prices.unwrap().at(prompt), expected, "{id} {prompt}");
    }
}

#[test]
fn what_is_switched_off_has_its_day() {
    for (vendor, id, day) in [
        (Vendor::OpenAi, "o1", "2026-10-23"),
        (Vendor::OpenAi, "o3-mini", "2026-10-23"),
        (Vendor::OpenAi, "o4-mini", "2026-10-23"),
        (Vendor::OpenAi, "gpt-4", "2026-10-23"),
        (Vendor::OpenAi, "gpt-4-turbo", "2026-10-23"),
        (Vendor::OpenAi, "gpt-3.5-turbo", "2026-10-23"),
        (Vendor::OpenAi, "gpt-4.1-nano", "2026-10-23"),
        (Vendor::OpenAi, "gpt-5", "2026-12-11"),
        (Vendor::OpenAi, "o3", "2026-12-11"),
        (Vendor::OpenAi, "gpt-4o", "2027-01-14"),
        (Vendor::OpenAi, "gpt-4o-mini", "2027-01-14"),
        (Vendor::OpenAi, "gpt-4.1", "2027-01-14"),
        (Vendor::OpenAi, "gpt-4.1-mini", "2027-01-14"),
        (Vendor::OpenAi, "gpt-5.1", "2027-04-01"),
        (Vendor::OpenAi, "gpt-5.4-nano", "2027-04-01"),
        (Vendor::OpenAi, "gpt-5.4", ""),
        (Vendor::Anthropic, "claude-sonnet-4-5", "2026-11-30"),
        (Vendor::Anthropic, "claude-sonnet-4-20250514", "2026-06-15"),
        (Vendor::Anthropic, "claude-opus-4-20250514", "2026-06-15"),
        (Vendor::Anthropic, "claude-haiku-3-5-20241022", "2026-02-19"),
        (Vendor::Anthropic, "claude-opus-4-5", ""),
        (Vendor::Gemini, "gemini-2.0-flash", "2026-06-01"),
        (Vendor::Gemini, "gemini-2.5-pro-preview-05-06", "2025-12-02"),
        (Vendor::Gemini, "gemini-2.5-pro", ""),
        (Vendor::DeepSeek, "deepseek-chat", "2026-07-24"),
        (Vendor::DeepSeek, "deepseek-reasoner", "2026-07-24"),
    ] {
        let facts = listed(vendor, id);
        assert_eq!((facts.id.as_str(), ends(&facts).as_str()), (id, day));
    }
}
