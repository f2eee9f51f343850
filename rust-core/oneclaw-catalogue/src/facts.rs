//! What is known of a model. Values only; the numbers are in `data/catalogue.jsonl`.

use oneclaw_model::{Dialect, Effort, ModelLimits, Replay};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What is known of a model at a service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The service's name in the catalogue, such as `openai`.
    pub service: String,
    /// The model's id; of a family, the pattern (`claude-opus-5-5*`).
    pub id: String,
    /// How one speaks to it.
    pub dialect: Dialect,
    /// What it can take and give.
    #[serde(default)]
    pub limits: ModelLimits,
    /// How it reasons; `None` for a model that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abilities: Vec<Ability>,
    /// What it refuses although others of its dialect take it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refuses: Vec<Refusal>,
    /// How the service caches beginnings of prompts; `None` where nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// What it costs; `None` where that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// The day it is, or was, switched off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Date>,
}

impl Facts {
    /// Whether this is a family: its id is a pattern.
    pub fn is_family(&self) -> bool {
        self.id.contains('*')
    }

    /// Whether it can do that.
    pub fn can(&self, ability: Ability) -> bool {
        self.abilities.contains(&ability)
    }

    /// Whether it refuses that.
    pub fn refuses(&self, what: Refusal) -> bool {
        self.refuses.contains(&what)
    }

    /// Whether it is switched off on a day.
    pub fn is_off(&self, today: Date) -> bool {
        self.ends.is_some_and(|ends| ends <= today)
    }

    /// The least reasoning it can be told to do; `None` where it cannot be told, or does not reason.
    pub fn least_effort(&self) -> Option<Effort> {
        self.reasoning.as_ref()?.efforts.iter().min().copied()
    }
}

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ability {
    /// It calls tools.
    Tools,
    /// It sees pictures.
    Pictures,
    /// It reads PDF files.
    Pdf,
}

/// What a model refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Temperature, top_p and the like.
    Sampling,
    /// A conversation that ends with the assistant.
    Prefill,
    /// A tool choice that forces a call.
    ForcedTool,
    /// `max_tokens` in chat completions; it wants `max_completion_tokens`.
    MaxTokens,
    /// Several calls in one reply.
    ParallelCalls,
    /// Function tools in chat completions unless `reasoning_effort` is `none`, also where the field is absent.
    ChatToolsUnlessNone,
    /// Function tools in chat completions beside any `reasoning_effort` but `none`; without the field they work.
    ChatToolsWithEffort,
    /// Chat completions altogether.
    ChatCompletions,
}

/// How a model reasons, and what it can be told about that.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Reasoning {
    /// Whether it reasons where nothing is said.
    pub by_default: bool,
    /// The efforts it takes, the least first; empty where it cannot be told so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<Effort>,
    /// The values of `thinking.type` it takes (Anthropic messages; `disabled` alone for servers with such a switch).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<ThinkingType>,
    /// `thinkingBudget`: the least it takes; 0 turns reasoning off (Gemini 2.5).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_budget: Option<u64>,
    /// Whether it is told by `thinkingLevel`, with the words of `efforts` (Gemini 3 and later).
    pub by_level: bool,
    /// Whether reasoning is bound to the prefix it was made on and refused on another (Anthropic's preserved thinking).
    pub is_bound: bool,
    /// The highest effort at which `disabled` or `between_tools` is taken; `None` for any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_up_to: Option<Effort>,
    /// Which reasoning has to go back.
    pub replay: Replay,
}

/// The values of Anthropic's `thinking.type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingType {
    /// With a budget of tokens.
    Enabled,
    /// As the model sees fit.
    Adaptive,
    /// Only between tool calls.
    BetweenTools,
    /// Off.
    Disabled,
}

impl ThinkingType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Enabled, Self::Adaptive, Self::BetweenTools, Self::Disabled];

    /// The word of the protocol.
    pub fn word(self) -> &'static str {
        match self {
            Self::Enabled => "enabled",
            Self::Adaptive => "adaptive",
            Self::BetweenTools => "between_tools",
            Self::Disabled => "disabled",
        }
    }
}

/// How a service caches beginnings of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// The least prompt that is cached, in tokens.
    pub least: u64,
    /// How long an entry lives without use, in seconds; `None` where the service does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
}

/// What a model costs, in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// Up to the first tier.
    #[serde(flatten)]
    pub rates: Rates,
    /// For the whole request where its prompt is larger; the smallest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
}

impl Prices {
    /// The rates for a prompt of that size.
    pub fn at(&self, prompt: u64) -> Rates {
        self.tiers.iter().rev().find(|tier| prompt > tier.above).map_or(self.rates, |tier| tier.rates)
    }
}

/// Rates of one tier. What is unknown is not free.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rates {
    /// Fresh prompt tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<f64>,
    /// Output tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<f64>,
    /// Prompt tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// Rates above a size of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// Prompts above this many tokens.
    pub above: u64,
    /// What they cost.
    #[serde(flatten)]
    pub rates: Rates,
}

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of a moment, in milliseconds since 1970, by UTC.
    pub fn of_millis(millis: i64) -> Self {
        // Days to a date, after Howard Hinnant's `civil_from_days`.
        let days = millis.div_euclid(86_400_000) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year: u16::try_from(year.clamp(0, 9_999)).unwrap_or(0),
            month: u8::try_from(month).unwrap_or(1),
            day: u8::try_from(day).unwrap_or(1),
        }
    }
}

impl Date {
    /// How many days its month has; 0 where there is no such month.
    fn days_of_month(self) -> u8 {
        let is_leap =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        match self.month {
            2 => 28 + u8::from(is_leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        }
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no day such as 2026-11-18");
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts[..] else { return Err(wrong()) };
        let date = Self {
            year: year.parse().map_err(|_| wrong())?,
            month: month.parse().map_err(|_| wrong())?,
            day: day.parse().map_err(|_| wrong())?,
        };
        let is_fine = (1..=date.days_of_month()).contains(&date.day) && date.to_string() == text;
        if is_fine { Ok(date) } else { Err(wrong()) }
    }
}

impl From<Date> for String {
    fn from(date: Date) -> Self {
        date.to_string()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_counted() {
        let day = |text: &str| Date::try_from(text.to_owned());
        assert_eq!(Date::of_millis(0).to_string(), "1970-01-01");
        assert_eq!(Date::of_millis(1_795_000_000_000).to_string(), "2026-11-18");
        assert_eq!(Date::of_millis(951_782_400_000).to_string(), "2000-02-29");
        assert_eq!(Date::of_millis(-1).to_string(), "1969-12-31");
        assert!(day("2026-11-18").unwrap() < day("2026-12-01").unwrap());
        for wrong in ["", "2026-1-1", "2026-13-01", "2026-11-31", "2026-02-29", "today", "2026-11-18-1"] {
            assert!(day(wrong).is_err(), "{wrong}");
        }
    }
}
