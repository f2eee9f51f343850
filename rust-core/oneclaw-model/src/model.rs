//! Models, what they can hold, and the fourteen presets of the original app.

use serde::{Deserialize, Serialize};

/// What a service is: whose key header, list of models, tokenizer and pixel rule apply. How one speaks to a model there is
/// another question: [`Dialect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ProviderKind {
    /// OpenAI and every compatible server.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
}

impl ProviderKind {
    /// The kind a model's name tells, if it does.
    pub fn of_model(id: &str) -> Option<Self> {
        let name = id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase();
        let starts = |prefixes: &[&str]| prefixes.iter().any(|p| name.starts_with(p));
        if name.contains("claude") {
            Some(Self::Anthropic)
        } else if name.contains("gemini") {
            Some(Self::Gemini)
        } else if starts(&["gpt", "chatgpt", "o1", "o3", "o4"]) {
            Some(Self::OpenAi)
        } else {
            None
        }
    }
}

/// How one speaks to a model. One service may speak several dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// OpenAI's chat completions, and every compatible server's.
    ChatCompletions,
    /// OpenAI's Responses, without state at the service.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Gemini's generateContent.
    GenerateContent,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::ChatCompletions, Self::Responses, Self::Messages, Self::GenerateContent];

    /// What a service speaks where nothing else is known.
    pub fn usual(kind: ProviderKind) -> Self {
        match kind {
            ProviderKind::OpenAi => Self::ChatCompletions,
            ProviderKind::Anthropic => Self::Messages,
            ProviderKind::Gemini => Self::GenerateContent,
        }
    }

    /// What kind of service speaks it.
    pub fn kind(self) -> ProviderKind {
        match self {
            Self::ChatCompletions | Self::Responses => ProviderKind::OpenAi,
            Self::Messages => ProviderKind::Anthropic,
            Self::GenerateContent => ProviderKind::Gemini,
        }
    }
}

/// How much a model is to reason before it speaks, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Not at all.
    None,
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// All of them, the least first.
    pub const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The word services use.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The effort of that word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.word() == word)
    }
}

/// Which reasoning of earlier replies goes back to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replay {
    /// That of the turn in progress, on the prefix it was made on.
    #[default]
    OpenTurn,
    /// The same, but no plain text: the server neither wants it nor counts it.
    NoFields,
    /// That of every reply that called tools, whatever stands before it (DeepSeek, Kimi).
    EveryCall,
}

/// What a model can take and give, in tokens. Zero is read as unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModelLimits {
    /// The context window.
    pub window: Option<u64>,
    /// A limit of its own on the prompt.
    pub input_limit: Option<u64>,
    /// The longest reply.
    pub max_output: Option<u64>,
}

/// A model the app knows from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetModel {
    /// The provider's name for it.
    pub id: &'static str,
    /// Whose it is.
    pub provider: ProviderKind,
    /// Context window in tokens.
    pub window: u64,
    /// Longest reply in tokens.
    pub max_output: u64,
}

impl PresetModel {
    /// The preset of that name.
    pub fn find(id: &str) -> Option<&'static Self> {
        Self::all().find(|m| m.id == id)
    }

    /// The presets, and the corrected one.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        PRESET_MODELS.iter().chain([&CORRECTED_MODEL])
    }
}

const fn preset(id: &'static str, provider: ProviderKind, window: u64, max_output: u64) -> PresetModel {
    PresetModel { id, provider, window, max_output }
}

/// What the source documents mean by `claude-haiku-3-5-20241022`, which no service ever knew.
pub const CORRECTED_MODEL: PresetModel =
    preset("claude-3-5-haiku-20241022", ProviderKind::Anthropic, 200_000, 8_192);

/// The union of the lists in RFC-011 and FEAT-011.
pub const PRESET_MODELS: [PresetModel; 14] = [
    preset("gpt-4o", ProviderKind::OpenAi, 128_000, 16_384),
    preset("gpt-4o-mini", ProviderKind::OpenAi, 128_000, 16_384),
    preset("gpt-4-turbo", ProviderKind::OpenAi, 128_000, 4_096),
    preset("o1", ProviderKind::OpenAi, 200_000, 100_000),
    preset("o3-mini", ProviderKind::OpenAi, 200_000, 100_000),
    preset("claude-opus-4-5-20251101", ProviderKind::Anthropic, 200_000, 64_000),
    preset("claude-sonnet-4-5-20250929", ProviderKind::Anthropic, 200_000, 64_000),
    preset("claude-haiku-4-5-20251001", ProviderKind::Anthropic, 200_000, 64_000),
    preset("claude-sonnet-4-20250514", ProviderKind::Anthropic, 200_000, 64_000),
    preset("claude-haiku-3-5-20241022", ProviderKind::Anthropic, 200_000, 8_192),
    preset("claude-opus-4-20250514", ProviderKind::Anthropic, 200_000, 32_000),
    preset("gemini-2.0-flash", ProviderKind::Gemini, 1_048_576, 8_192),
    preset("gemini-2.5-pro", ProviderKind::Gemini, 1_048_576, 65_536),
    preset("gemini-2.5-pro-preview-05-06", ProviderKind::Gemini, 1_048_576, 65_536),
];
