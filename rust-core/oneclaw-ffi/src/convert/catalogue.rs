//! Services, models and agents as Kotlin sees them, and back.

use super::{size, size_in};
use crate::types::*;
use oneclaw_catalogue::{Prices, Tier};
use oneclaw_model as model;
use oneclaw_store::{agents, catalogue};

impl From<model::ProviderKind> for ProviderKind {
    fn from(kind: model::ProviderKind) -> Self {
        match kind {
            model::ProviderKind::OpenAi => Self::OpenAi,
            model::ProviderKind::Anthropic => Self::Anthropic,
            model::ProviderKind::Gemini => Self::Gemini,
        }
    }
}

impl From<ProviderKind> for model::ProviderKind {
    fn from(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::OpenAi => Self::OpenAi,
            ProviderKind::Anthropic => Self::Anthropic,
            ProviderKind::Gemini => Self::Gemini,
        }
    }
}

impl From<oneclaw_agent::Topic> for LearntTopic {
    fn from(topic: oneclaw_agent::Topic) -> Self {
        use oneclaw_agent::Topic;
        match topic {
            Topic::Window => Self::Window,
            Topic::DoubtedWindow => Self::DoubtedWindow,
            Topic::Output => Self::Output,
            Topic::DoubtedOutput => Self::DoubtedOutput,
            Topic::Density => Self::Density,
            Topic::Manner => Self::Manner,
        }
    }
}

impl From<LearntTopic> for oneclaw_agent::Topic {
    fn from(topic: LearntTopic) -> Self {
        match topic {
            LearntTopic::Window => Self::Window,
            LearntTopic::DoubtedWindow => Self::DoubtedWindow,
            LearntTopic::Output => Self::Output,
            LearntTopic::DoubtedOutput => Self::DoubtedOutput,
            LearntTopic::Density => Self::Density,
            LearntTopic::Manner => Self::Manner,
        }
    }
}

impl From<oneclaw_agent::LearntEntry> for LearntEntry {
    fn from(entry: oneclaw_agent::LearntEntry) -> Self {
        Self {
            kind: entry.kind.into(),
            base_url: entry.base_url,
            model_id: entry.model,
            topic: entry.topic.into(),
            tokens: entry.tokens.map(size),
            factor: entry.factor,
            manner: entry.manner,
            heard: size(entry.heard),
            learnt_at: entry.learnt_at,
            expires_at: entry.expires_at,
        }
    }
}

impl From<LearntEntry> for oneclaw_agent::LearntEntry {
    fn from(entry: LearntEntry) -> Self {
        Self {
            kind: entry.kind.into(),
            base_url: entry.base_url,
            model: entry.model_id,
            topic: entry.topic.into(),
            tokens: size_in(entry.tokens),
            factor: entry.factor,
            manner: entry.manner,
            heard: size_in(Some(entry.heard)).unwrap_or(0),
            learnt_at: entry.learnt_at,
            expires_at: entry.expires_at,
        }
    }
}

impl From<catalogue::Provider> for Provider {
    fn from(provider: catalogue::Provider) -> Self {
        Self {
            id: provider.id,
            name: provider.name,
            kind: provider.kind.into(),
            base_url: provider.base_url,
            is_active: provider.is_active,
            is_preset: provider.is_preset,
        }
    }
}

impl From<Provider> for catalogue::Provider {
    fn from(provider: Provider) -> Self {
        Self {
            id: provider.id,
            name: provider.name,
            kind: provider.kind.into(),
            base_url: provider.base_url,
            is_active: provider.is_active,
            is_preset: provider.is_preset,
        }
    }
}

/// A model of the file, and what is known of it.
pub(crate) fn model_out(listed: catalogue::Model, known: oneclaw_agent::Offered) -> Model {
    let known = ListedModel::from(known);
    Model {
        display_name: listed.display_name.unwrap_or_else(|| listed.id.clone()),
        provider_id: listed.provider_id,
        id: listed.id,
        window: known.window,
        max_output: known.max_output,
        is_default: listed.is_default,
        is_preset: listed.source != catalogue::CUSTOM,
        input_limit: known.input_limit,
        sees_pictures: known.sees_pictures,
        reads_pdf: known.reads_pdf,
        calls_tools: known.calls_tools,
        reasons: known.reasons,
        price: known.price,
        ends: known.ends,
        is_switched_off: known.is_switched_off,
    }
}

pub(crate) fn model_in(model: &Model) -> catalogue::Model {
    catalogue::Model {
        id: model.id.clone(),
        provider_id: model.provider_id.clone(),
        display_name: Some(model.display_name.clone()).filter(|name| !name.is_empty() && *name != model.id),
        is_default: model.is_default,
        source: if model.is_preset { "PRESET" } else { catalogue::CUSTOM }.to_owned(),
        window: size_in(model.window),
    }
}

impl From<oneclaw_agent::Offered> for ListedModel {
    fn from(offered: oneclaw_agent::Offered) -> Self {
        Self {
            id: offered.id,
            display_name: offered.name,
            window: offered.limits.window.map(size),
            max_output: offered.limits.max_output.map(size),
            input_limit: offered.limits.input_limit.map(size),
            sees_pictures: offered.sees,
            reads_pdf: offered.reads_pdf,
            calls_tools: offered.calls_tools,
            reasons: offered.reasons,
            price: offered.prices.map(price_out),
            ends: offered.ends.map(|day| day.to_string()),
            is_switched_off: offered.is_off,
        }
    }
}

fn price_out(prices: Prices) -> ModelPrice {
    let tier = |Tier { above, rates }: Tier| PriceTier {
        above: size(above),
        input: rates.input,
        output: rates.output,
        cache_read: rates.cache_read,
        cache_write: rates.cache_write,
    };
    ModelPrice {
        input: prices.rates.input,
        output: prices.rates.output,
        cache_read: prices.rates.cache_read,
        cache_write: prices.rates.cache_write,
        tiers: prices.tiers.into_iter().map(tier).collect(),
    }
}

impl From<agents::Agent> for AgentProfile {
    fn from(agent: agents::Agent) -> Self {
        Self {
            id: agent.id,
            name: agent.name,
            description: agent.description,
            system_prompt: agent.system_prompt,
            tool_ids: agent.tools,
            preferred: agent.preferred.map(|(provider_id, model_id)| ModelRef { provider_id, model_id }),
            is_built_in: agent.is_built_in,
        }
    }
}

impl From<AgentProfile> for agents::Agent {
    fn from(agent: AgentProfile) -> Self {
        Self {
            id: agent.id,
            name: agent.name,
            description: agent.description,
            system_prompt: agent.system_prompt,
            tools: agent.tool_ids,
            preferred: agent.preferred.map(|model| (model.provider_id, model.model_id)),
            is_built_in: agent.is_built_in,
        }
    }
}
