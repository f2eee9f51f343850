//! What is known of a model, as it is listed.

use oneclaw_agent::Offered;
use oneclaw_catalogue::{Ability, Date, Facts, Prices, Rates};
use serde::Serialize;

/// A model in a list. What nobody says is `None`, in JSON null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// The service's name for it.
    pub id: String,
    /// The name to show.
    pub name: Option<String>,
    /// Its context window in tokens.
    pub window: Option<u64>,
    /// A limit of its own on the prompt.
    pub input_limit: Option<u64>,
    /// Its longest reply.
    pub max_output: Option<u64>,
    /// What it costs in US dollars per million tokens.
    pub price: Option<Price>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// Whether it sees pictures.
    pub pictures: Option<bool>,
    /// Whether it reads PDF files.
    pub pdf: Option<bool>,
    /// Whether it reasons.
    pub thinking: Option<bool>,
    /// The day it is, or was, switched off.
    pub ends: Option<Date>,
    /// Whether that day has come.
    pub switched_off: bool,
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// Up to the first tier.
    #[serde(flatten)]
    pub rates: Rate,
    /// For larger prompts, the smallest first.
    pub tiers: Vec<Tier>,
}

/// The rates of one tier.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rate {
    /// Fresh prompt tokens.
    pub input: Option<f64>,
    /// Output tokens.
    pub output: Option<f64>,
    /// Prompt tokens read from the cache.
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache.
    pub cache_write: Option<f64>,
}

/// The rates above a size of the prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tier {
    /// Prompts above this many tokens.
    pub above: u64,
    /// What they cost.
    #[serde(flatten)]
    pub rates: Rate,
}

impl Entry {
    /// A model of the catalogue.
    pub fn of_facts(facts: &Facts, today: Date) -> Self {
        Self {
            id: facts.id.clone(),
            name: None,
            window: facts.limits.window,
            input_limit: facts.limits.input_limit,
            max_output: facts.limits.max_output,
            price: facts.prices.as_ref().map(Price::from),
            tools: Some(facts.can(Ability::Tools)),
            pictures: Some(facts.can(Ability::Pictures)),
            pdf: Some(facts.can(Ability::Pdf)),
            thinking: Some(facts.reasoning.is_some()),
            ends: facts.ends,
            switched_off: facts.is_off(today),
        }
    }

    /// Whether its id or name has the filter in it, in capitals or not.
    pub fn fits(&self, filter: Option<&str>) -> bool {
        let filter = filter.unwrap_or_default().trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&filter);
        has(&self.id) || self.name.as_deref().is_some_and(has)
    }
}

impl From<Offered> for Entry {
    fn from(offered: Offered) -> Self {
        Self {
            id: offered.id,
            name: offered.name,
            window: offered.limits.window,
            input_limit: offered.limits.input_limit,
            max_output: offered.limits.max_output,
            price: offered.prices.as_ref().map(Price::from),
            tools: offered.calls_tools,
            pictures: offered.sees,
            pdf: offered.reads_pdf,
            thinking: offered.reasons,
            ends: offered.ends,
            switched_off: offered.is_off,
        }
    }
}

impl From<&Prices> for Price {
    fn from(prices: &Prices) -> Self {
        let tier = |tier: &oneclaw_catalogue::Tier| Tier { above: tier.above, rates: tier.rates.into() };
        Self { rates: prices.rates.into(), tiers: prices.tiers.iter().map(tier).collect() }
    }
}

impl From<Rates> for Rate {
    fn from(rates: Rates) -> Self {
        Self {
            input: rates.input,
            output: rates.output,
            cache_read: rates.cache_read,
            cache_write: rates.cache_write,
        }
    }
}
