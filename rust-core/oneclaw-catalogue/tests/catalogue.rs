//! Every entry of the catalogue is sane, and the file is what the table and the rules give.

#[path = "../builder/mod.rs"]
mod builder;

use builder::row::{Has, Row};
use builder::rule::Rule;
use oneclaw_catalogue::{Date, FACTS_OF, Facts, Rates, Refusal, ThinkingType, Vendor, all, current, find};
use oneclaw_model::{Dialect, Effort, PRESET_MODELS, ProviderKind};
use std::collections::HashSet;

const TABLE: &str = include_str!("../data/facts.jsonl");
const RULES: &str = include_str!("../data/families.jsonl");
const CATALOGUE: &str = include_str!("../data/catalogue.jsonl");

const VENDORS: [Vendor; 14] = [
    Vendor::OpenAi,
    Vendor::Anthropic,
    Vendor::Gemini,
    Vendor::DeepSeek,
    Vendor::Mistral,
    Vendor::Xai,
    Vendor::Moonshot,
    Vendor::Zai,
    Vendor::DashScope,
    Vendor::Groq,
    Vendor::Cerebras,
    Vendor::MiniMax,
    Vendor::Cohere,
    Vendor::Perplexity,
];

fn vendor(facts: &Facts) -> Option<Vendor> {
    VENDORS.into_iter().find(|vendor| vendor.service() == Some(facts.service.as_str()))
}

fn models() -> impl Iterator<Item = &'static Facts> {
    all().iter().filter(|facts| !facts.is_family())
}

fn families() -> impl Iterator<Item = &'static Facts> {
    all().iter().filter(|facts| facts.is_family())
}

#[test]
fn the_file_is_what_the_tool_writes() {
    let built = builder::build(TABLE, RULES).unwrap();
    assert!(built == CATALOGUE, "run scripts/build-catalogue");
    assert!(CATALOGUE.len() < 92_000, "{} bytes are many for a phone", CATALOGUE.len());
}

#[test]
fn every_line_is_read_once() {
    assert_eq!(all().len(), CATALOGUE.lines().count());
    assert!(models().count() > 350 && families().count() > 80);
    let mut seen = HashSet::new();
    for facts in all() {
        assert!(seen.insert((&facts.service, facts.id.to_lowercase())), "{} twice", facts.id);
        assert!(vendor(facts).is_some(), "{}", facts.service);
        assert!(facts.id == facts.id.trim() && facts.id.is_ascii() && !facts.id.is_empty(), "{}", facts.id);
    }
    let first = all().iter().position(Facts::is_family).unwrap();
    assert!(all()[first..].iter().all(Facts::is_family), "families come last");
}

#[test]
fn limits_fit_together() {
    for facts in models() {
        let limits = facts.limits;
        for limit in [limits.window, limits.input_limit, limits.max_output] {
            assert!(limit != Some(0), "{}", facts.id);
        }
        let window = limits.window.unwrap_or(u64::MAX);
        assert!(limits.input_limit.unwrap_or(0) <= window, "{}", facts.id);
        assert!(limits.max_output.unwrap_or(0) <= window, "{}", facts.id);
        assert_eq!(limits.window.is_some(), limits.max_output.is_some(), "{}", facts.id);
    }
    for facts in families() {
        assert_eq!(facts.limits, Default::default(), "{}", facts.id);
        assert!(facts.prices.is_none() && facts.ends.is_none(), "{}", facts.id);
        assert_eq!(facts.id, facts.id.to_lowercase());
    }
}

#[test]
fn reasoning_fits_together() {
    for facts in all() {
        let Some(reasoning) = &facts.reasoning else { continue };
        let id = &facts.id;
        assert!(reasoning.efforts.is_sorted_by(|a, b| a < b), "{id}: {:?}", reasoning.efforts);
        let types: Vec<_> = reasoning.types.iter().map(|kind| kind.word()).collect();
        assert_eq!(types.iter().collect::<HashSet<_>>().len(), types.len(), "{id}: {types:?}");
        assert_eq!(facts.least_effort(), reasoning.efforts.first().copied());
        if let Some(up_to) = reasoning.quiet_up_to {
            assert!(reasoning.efforts.contains(&up_to), "{id}");
            let quiet = [ThinkingType::Disabled, ThinkingType::BetweenTools];
            assert!(quiet.iter().any(|kind| reasoning.types.contains(kind)), "{id}");
        }
        match facts.dialect {
            Dialect::Messages => assert!(!reasoning.types.is_empty(), "{id}"),
            _ => assert!(reasoning.types.iter().all(|kind| *kind == ThinkingType::Disabled), "{id}"),
        }
        let is_google = facts.dialect == Dialect::GenerateContent;
        assert!(is_google || (reasoning.least_budget.is_none() && !reasoning.by_level), "{id}");
        assert!(reasoning.least_budget.is_none() || !reasoning.by_level, "{id}: not both");
        assert!(!is_google || reasoning.by_level || reasoning.efforts.is_empty(), "{id}");
        assert!(facts.service == "anthropic" || !reasoning.is_bound, "{id}");
    }
}

#[test]
fn prices_fit_together() {
    let fields = |rates: Rates| [rates.input, rates.output, rates.cache_read, rates.cache_write];
    for facts in models() {
        let Some(prices) = &facts.prices else { continue };
        let id = &facts.id;
        let mut before = (0, prices.rates);
        let all = std::iter::once(prices.rates).chain(prices.tiers.iter().map(|tier| tier.rates));
        for rates in all {
            assert!(fields(rates).into_iter().flatten().all(|rate| rate.is_finite() && rate >= 0.0), "{id}");
            assert!(rates.input.is_some() && rates.output.is_some(), "{id}");
            assert!(rates.cache_read.unwrap_or(0.0) <= rates.input.unwrap(), "{id}");
        }
        for tier in &prices.tiers {
            assert!(tier.above > before.0, "{id}: tiers in order");
            for (now, base) in fields(tier.rates).into_iter().zip(fields(before.1)) {
                assert_eq!(now.is_some(), base.is_some(), "{id}: a rate is missing in a tier");
                assert!(now >= base, "{id}: a tier is cheaper");
            }
            assert!(tier.rates != before.1, "{id}: a tier like the one before");
            assert!(tier.above < facts.limits.window.unwrap_or(u64::MAX), "{id}: a tier nobody reaches");
            before = (tier.above, tier.rates);
        }
    }
}

#[test]
fn the_three_services_speak_their_dialects() {
    for facts in all() {
        let id = &facts.id;
        match facts.service.as_str() {
            "anthropic" => assert_eq!(facts.dialect, Dialect::Messages, "{id}"),
            "gemini" => assert_eq!(facts.dialect, Dialect::GenerateContent, "{id}"),
            "openai" => {
                let is_responses = facts.dialect == Dialect::Responses;
                assert!(is_responses || facts.dialect == Dialect::ChatCompletions, "{id}");
                assert!(is_responses || facts.reasoning.is_none(), "{id} reasons in chat completions");
                assert!(
                    is_responses || !facts.refuses(Refusal::ChatCompletions),
                    "{id} can be spoken to in nothing"
                );
                let wants = [Refusal::MaxTokens, Refusal::Sampling];
                assert!(
                    facts.reasoning.is_none() || wants.into_iter().all(|what| facts.refuses(what)),
                    "{id}"
                );
            }
            _ => assert_eq!(facts.dialect.kind(), ProviderKind::OpenAi, "{id}"),
        }
        let refuses: HashSet<_> = facts.refuses.iter().map(|what| format!("{what:?}")).collect();
        assert_eq!(refuses.len(), facts.refuses.len(), "{id}");
    }
}

#[test]
fn every_model_is_found_by_its_id() {
    for facts in models() {
        let vendor = vendor(facts).unwrap();
        assert_eq!(find(vendor, &facts.id).as_ref(), Some(facts));
        assert_eq!(find(vendor, &format!("  {} ", facts.id.to_uppercase())).as_ref(), Some(facts));
    }
}

#[test]
fn a_snapshot_of_a_model_has_its_limits() {
    let mut random = 7_u64;
    for facts in models() {
        for mark in ["-", "@"] {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (year, month, day) = (2024 + random % 4, 1 + (random >> 20) % 12, 1 + (random >> 40) % 28);
            let dashes = if mark == "-" { "-" } else { "" };
            let id = format!("{}{mark}{year}{dashes}{month:02}{dashes}{day:02}", facts.id);
            let found = find(vendor(facts).unwrap(), &id).unwrap_or_else(|| panic!("{id}"));
            assert_eq!((found.limits, found.dialect), (facts.limits, facts.dialect), "{id}");
            assert_eq!(found.prices, facts.prices, "{id}");
            let is_new = year > 2026 || (year == 2026 && (month, day) > (11, 18));
            assert_eq!(found.ends, facts.ends.filter(|_| !is_new), "{id}");
        }
    }
}

#[test]
fn every_rule_is_for_something() {
    let rows: Vec<Row> = builder::read(TABLE).unwrap();
    let rules: Vec<Rule> = builder::read(RULES).unwrap();
    let mut used = vec![false; rules.len()];
    for row in &rows {
        used[rules.iter().position(|rule| rule.is_for(&row.service, &row.id)).unwrap()] = true;
    }
    for (rule, is_used) in rules.iter().zip(used) {
        let note = &rule.note;
        // One that brings a model along is for that.
        let is_for_one = rule.ids.iter().any(|id| !id.contains('*'));
        let says_none = note.contains("None is listed") || note.contains("not in the table");
        assert!(is_used || is_for_one || says_none, "{:?} is for nothing", rule.ids);
    }
}

#[test]
fn the_rules_agree_with_the_table() {
    for row in builder::read::<Row>(TABLE).unwrap() {
        let Some(facts) = models().find(|facts| facts.service == row.service && facts.id == row.id) else {
            continue;
        };
        let has = |what: Has| row.has.as_ref().is_some_and(|has| has.contains(&what));
        let efforts = facts.reasoning.as_ref().map_or(&[][..], |reasoning| &reasoning.efforts);
        let types = facts.reasoning.as_ref().map_or(&[][..], |reasoning| &reasoning.types);
        let id = &facts.id;
        if facts.service == "openai" {
            assert_eq!(has(Has::NoneReasoningEffort), efforts.contains(&Effort::None), "{id}");
        }
        if facts.service == "anthropic" {
            assert_eq!(has(Has::AdaptiveThinking), types.contains(&ThinkingType::Adaptive), "{id}");
            assert!(!has(Has::ThinkingAlwaysOn) || !types.contains(&ThinkingType::Disabled), "{id}");
            assert_eq!(facts.cache.map(|cache| cache.least), row.cache_min, "{id}");
            let reasoning = facts.reasoning.as_ref().unwrap();
            let is_optional =
                types.contains(&ThinkingType::Enabled) || types.contains(&ThinkingType::Disabled);
            assert!(reasoning.by_default || is_optional, "{id}");
        }
        if let (Some(cache), Some(least)) = (facts.cache, row.cache_min) {
            assert!(cache.least >= least, "{id}");
        }
        assert!(row.ends.is_none() || facts.ends == row.ends, "{id}: {:?}", facts.ends);
        assert_eq!(facts.prices.is_some(), row.usd_per_million.is_some(), "{id}");
        if let Some(input) = row.max_input {
            let largest = facts.limits.input_limit.or(facts.limits.window).unwrap();
            assert!(largest <= input, "{id}: larger than the table has it");
        }
    }
}

#[test]
fn the_preset_models_are_known() {
    for preset in PRESET_MODELS {
        let vendor = Vendor::of(preset.provider, "https://api.openai.com/v1");
        let facts = find(vendor, preset.id).unwrap_or_else(|| panic!("{}", preset.id));
        assert_eq!(facts.id, preset.id);
        assert_eq!(facts.limits.window, Some(preset.window), "{}", preset.id);
        assert_eq!(facts.limits.max_output, Some(preset.max_output), "{}", preset.id);
    }
}

#[test]
fn current_models_are_listed_and_not_off() {
    let today = Date::try_from(FACTS_OF.to_owned()).unwrap();
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini] {
        assert!((3..=8).contains(&current(kind).len()));
        for id in current(kind) {
            let facts = find(Vendor::of(kind, "https://api.openai.com/v1"), id).unwrap();
            assert!(facts.id == *id && facts.limits.window.is_some() && facts.prices.is_some(), "{id}");
            assert!(facts.ends.is_none(), "{id} is about to be switched off");
            assert!(!facts.is_off(today) && facts.can(oneclaw_catalogue::Ability::Tools), "{id}");
        }
    }
}
