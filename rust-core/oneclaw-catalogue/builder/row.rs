//! One line of the table of facts, `data/facts.jsonl`.

use oneclaw_catalogue::{Ability, Date, Prices, Rates, Refusal, Tier};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What the table says of a model.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub service: String,
    pub id: String,
    pub api: Api,
    pub max_input: Option<u64>,
    pub max_output: Option<u64>,
    pub usd_per_million: Option<Usd>,
    /// `None` where the table says nothing of what it can do.
    pub has: Option<Vec<Has>>,
    #[serde(default)]
    pub lacks: Vec<Lacks>,
    pub cache_min: Option<u64>,
    pub ends: Option<Date>,
}

/// The words are the table's: a new one has to be thought about before it is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    #[default]
    Chat,
    Responses,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Has {
    Vision,
    PdfInput,
    FunctionCalling,
    Reasoning,
    PromptCaching,
    NoneReasoningEffort,
    AdaptiveThinking,
    ThinkingAlwaysOn,
    AudioInput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lacks {
    ParallelFunctionCalling,
    SystemMessages,
    SamplingParams,
    AssistantPrefill,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usd {
    r#in: Option<f64>,
    out: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    /// By the size of the prompt above which they count.
    #[serde(default)]
    above: BTreeMap<String, Usd>,
}

impl Row {
    /// A model the table has not.
    pub fn bare(service: &str, id: &str) -> Self {
        Self { service: service.to_owned(), id: id.to_owned(), ..Self::default() }
    }

    /// What it can do; `None` where the table does not say.
    pub fn abilities(&self) -> Option<Vec<Ability>> {
        let words = [
            (Has::FunctionCalling, Ability::Tools),
            (Has::Vision, Ability::Pictures),
            (Has::PdfInput, Ability::Pdf),
        ];
        let of = |has: &Vec<Has>| {
            words.iter().filter(|(word, _)| has.contains(word)).map(|(_, can)| *can).collect()
        };
        self.has.as_ref().map(of)
    }

    /// What it refuses. That some models want no system text is not among what the catalogue knows.
    pub fn refuses(&self) -> impl Iterator<Item = Refusal> {
        self.lacks.iter().filter_map(|lacks| match lacks {
            Lacks::ParallelFunctionCalling => Some(Refusal::ParallelCalls),
            Lacks::SamplingParams => Some(Refusal::Sampling),
            Lacks::AssistantPrefill => Some(Refusal::Prefill),
            Lacks::SystemMessages => None,
        })
    }

    /// What it costs.
    pub fn prices(&self) -> Result<Option<Prices>, String> {
        let Some(usd) = &self.usd_per_million else { return Ok(None) };
        let rates = usd.rates();
        let mut tiers = Vec::new();
        for (above, tier) in &usd.above {
            let above =
                above.parse().map_err(|_| format!("{}: {above:?} is no size of a prompt", self.id))?;
            tiers.push(Tier { above, rates: raised(rates, tier.rates()) });
        }
        tiers.sort_by_key(|tier| tier.above);
        // A tier that costs the same is none.
        tiers.retain(|tier| tier.rates != rates);
        Ok(Some(Prices { rates, tiers }))
    }
}

impl Usd {
    fn rates(&self) -> Rates {
        Rates {
            input: self.r#in,
            output: self.out,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
        }
    }
}

/// The rates of a tier. Where the table leaves out those of the cache they rise as fresh input does: so it is with OpenAI,
/// Google and xAI (providers-2026 §6).
fn raised(base: Rates, tier: Rates) -> Rates {
    let by = match (base.input, tier.input) {
        (Some(base), Some(tier)) if base > 0.0 => tier / base,
        _ => 1.0,
    };
    let rise = |rate: f64| (rate * by * 1e6).round() / 1e6;
    Rates {
        cache_read: tier.cache_read.or(base.cache_read.map(rise)),
        cache_write: tier.cache_write.or(base.cache_write.map(rise)),
        ..tier
    }
}
