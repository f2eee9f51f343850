//! One line of the rules of families, `data/families.jsonl`.

use super::row::{Api, Has, Row};
use oneclaw_catalogue::{Ability, Cache, Date, Facts, Reasoning, Refusal, Tier, fits};
use oneclaw_model::{Dialect, ModelLimits};
use serde::Deserialize;

/// What is known of a family that the table of facts does not tell, and where the table is wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    pub service: String,
    /// Ids and patterns of ids, in lower case. The first rule one of whose ids fits is the one that counts.
    pub ids: Vec<String>,
    /// Whether these have no place in the catalogue.
    #[serde(default, rename = "drop")]
    pub is_dropped: bool,
    /// Otherwise it follows from the service and from what the table says.
    pub dialect: Option<Dialect>,
    /// How they reason, unless the table says what a model has and this is not among it.
    pub reasoning: Option<Reasoning>,
    /// Beside what the table says.
    #[serde(default)]
    pub refuses: Vec<Refusal>,
    /// Of those that cache. Where the table names another minimum the larger one counts.
    pub cache: Option<Cache>,
    /// How the table's `max_input` is to be read.
    #[serde(default)]
    pub max_input: MaxInput,
    /// What counts instead of the table's limits; what is left out here is taken from there.
    #[serde(default)]
    pub limits: ModelLimits,
    /// Of those of which the table does not say what they can do.
    #[serde(default)]
    pub abilities: Vec<Ability>,
    /// Tiers the table has not.
    #[serde(default)]
    pub tiers: Vec<Tier>,
    /// Instead of the table's.
    pub ends: Option<Date>,
    /// Where this is from, and how sure it is: S sure, L likely, U unsure.
    pub note: String,
}

/// What `max_input` means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxInput {
    /// The window: prompt and reply together.
    #[default]
    Window,
    /// A limit of the prompt; the window is that and the longest reply.
    Prompt,
}

impl Rule {
    /// Whether it is for a model.
    pub fn is_for(&self, service: &str, id: &str) -> bool {
        let id = id.to_ascii_lowercase();
        self.service == service && self.ids.iter().any(|pattern| fits(pattern, &id))
    }

    /// What is known of a model, or of a family where the row has but a pattern.
    pub fn facts(&self, row: &Row) -> Result<Facts, String> {
        // Where the table does not say what a model has, the rule does.
        let has = |what: Has| row.has.as_ref().is_none_or(|has| has.contains(&what));
        let mut refuses = self.refuses.clone();
        refuses.extend(row.refuses().filter(|refusal| !self.refuses.contains(refusal)));
        let cache = self.cache.filter(|_| has(Has::PromptCaching));
        let limits = self.limits(row);
        let mut prices = row.prices()?;
        if let Some(prices) = &mut prices {
            if !self.tiers.is_empty() {
                prices.tiers.clone_from(&self.tiers);
            }
            // No prompt comes to a tier above the window.
            prices.tiers.retain(|tier| limits.window.is_none_or(|window| tier.above < window));
        }
        Ok(Facts {
            service: row.service.clone(),
            id: row.id.clone(),
            dialect: self.dialect.unwrap_or_else(|| usual(&row.service, row.api)),
            limits,
            reasoning: self.reasoning.clone().filter(|_| has(Has::Reasoning)),
            abilities: row.abilities().unwrap_or_else(|| self.abilities.clone()),
            refuses,
            cache: match (cache, row.cache_min) {
                (Some(cache), least) => Some(Cache { least: cache.least.max(least.unwrap_or(0)), ..cache }),
                (None, least) => least.map(|least| Cache { least, seconds: None }),
            },
            prices,
            ends: self.ends.or(row.ends),
        })
    }

    /// What is known of a family: its manner, neither limits nor prices nor an end.
    pub fn bare(&self, pattern: &str) -> Result<Facts, String> {
        let facts = self.facts(&Row::bare(&self.service, pattern))?;
        Ok(Facts { limits: ModelLimits::default(), prices: None, ends: None, ..facts })
    }

    fn limits(&self, row: &Row) -> ModelLimits {
        let (window, input_limit) = match self.max_input {
            MaxInput::Window => (row.max_input, None),
            MaxInput::Prompt => {
                (row.max_input.zip(row.max_output).map(|(input, output)| input + output), row.max_input)
            }
        };
        ModelLimits {
            window: self.limits.window.or(window),
            input_limit: self.limits.input_limit.or(input_limit),
            max_output: self.limits.max_output.or(row.max_output),
        }
    }
}

/// What a service speaks where no rule says.
fn usual(service: &str, api: Api) -> Dialect {
    match (service, api) {
        (_, Api::Responses) => Dialect::Responses,
        ("anthropic", Api::Chat) => Dialect::Messages,
        ("gemini", Api::Chat) => Dialect::GenerateContent,
        (_, Api::Chat) => Dialect::ChatCompletions,
    }
}
