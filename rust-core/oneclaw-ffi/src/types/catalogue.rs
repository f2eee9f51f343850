//! Who can be asked, and in which manner: services, models, agents.

/// A model of a service.
#[derive(Debug, Clone, PartialEq, Eq, Hash, uniffi::Record)]
pub struct ModelRef {
    /// The service.
    pub provider_id: String,
    /// The service's name for the model.
    pub model_id: String,
}

/// A service that answers.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct Provider {
    /// Its name in the file.
    pub id: String,
    /// The name shown.
    pub name: String,
    /// The language it speaks.
    pub kind: ProviderKind,
    /// Where it is.
    pub base_url: String,
    /// Whether it is offered.
    pub is_active: bool,
    /// Whether the app brought it; such a one can be switched off, but not removed.
    pub is_preset: bool,
}

/// The language a service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum ProviderKind {
    /// OpenAI's chat completions, and every server that is compatible.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
}

/// A model that can be chosen. What follows `is_preset` is told and not saved.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct Model {
    /// The service.
    pub provider_id: String,
    /// The service's name for it.
    pub id: String,
    /// The name shown.
    pub display_name: String,
    /// Its context window in tokens, if known.
    pub window: Option<i64>,
    /// Its longest reply in tokens, if known.
    pub max_output: Option<i64>,
    /// Whether new conversations begin with it.
    pub is_default: bool,
    /// Whether the app brought it; such a one cannot be removed.
    pub is_preset: bool,
    /// A limit of its own on the prompt in tokens, if it has one.
    #[uniffi(default = None)]
    pub input_limit: Option<i64>,
    /// Whether it sees pictures, if known.
    #[uniffi(default = None)]
    pub sees_pictures: Option<bool>,
    /// Whether it reads PDF files, if known.
    #[uniffi(default = None)]
    pub reads_pdf: Option<bool>,
    /// Whether it calls tools, if known.
    #[uniffi(default = None)]
    pub calls_tools: Option<bool>,
    /// Whether it reasons, if known.
    #[uniffi(default = None)]
    pub reasons: Option<bool>,
    /// What it costs, if known.
    #[uniffi(default = None)]
    pub price: Option<ModelPrice>,
    /// The day it is, or was, switched off, such as 2026-10-23, if known.
    #[uniffi(default = None)]
    pub ends: Option<String>,
    /// Whether that day has come.
    #[uniffi(default = false)]
    pub is_switched_off: bool,
}

/// A model that a service says it has, with what the service says of it and, where it says nothing, what is known otherwise.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct ListedModel {
    /// The service's name for it.
    pub id: String,
    /// The name shown, if the service has one.
    pub display_name: Option<String>,
    /// Its context window in tokens, if known.
    pub window: Option<i64>,
    /// Its longest reply in tokens, if known.
    pub max_output: Option<i64>,
    /// A limit of its own on the prompt in tokens, if it has one.
    #[uniffi(default = None)]
    pub input_limit: Option<i64>,
    /// Whether it sees pictures, if known.
    #[uniffi(default = None)]
    pub sees_pictures: Option<bool>,
    /// Whether it reads PDF files, if known.
    #[uniffi(default = None)]
    pub reads_pdf: Option<bool>,
    /// Whether it calls tools, if known.
    #[uniffi(default = None)]
    pub calls_tools: Option<bool>,
    /// Whether it reasons, if known.
    #[uniffi(default = None)]
    pub reasons: Option<bool>,
    /// What it costs, if known.
    #[uniffi(default = None)]
    pub price: Option<ModelPrice>,
    /// The day it is, or was, switched off, such as 2026-10-23, if known.
    #[uniffi(default = None)]
    pub ends: Option<String>,
    /// Whether that day has come.
    #[uniffi(default = false)]
    pub is_switched_off: bool,
}

/// What a model costs, in US dollars per million tokens. What is unknown is not free.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct ModelPrice {
    /// Fresh prompt tokens.
    pub input: Option<f64>,
    /// Output tokens.
    pub output: Option<f64>,
    /// Prompt tokens read from the cache.
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache.
    pub cache_write: Option<f64>,
    /// What the whole request costs where its prompt is larger, the smallest first.
    pub tiers: Vec<PriceTier>,
}

/// What requests with a large prompt cost, in US dollars per million tokens.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct PriceTier {
    /// Prompts above this many tokens.
    pub above: i64,
    /// Fresh prompt tokens.
    pub input: Option<f64>,
    /// Output tokens.
    pub output: Option<f64>,
    /// Prompt tokens read from the cache.
    pub cache_read: Option<f64>,
    /// Prompt tokens written to the cache.
    pub cache_write: Option<f64>,
}

/// Instructions, and the tools that go with them.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct AgentProfile {
    /// Its name in the file.
    pub id: String,
    /// The name shown.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its instructions.
    pub system_prompt: String,
    /// The tools it may use.
    pub tool_ids: Vec<String>,
    /// The model it would rather use.
    pub preferred: Option<ModelRef>,
    /// Whether the app brought it; such a one cannot be removed.
    pub is_built_in: bool,
}

/// One thing that was learnt about a model at a service.
#[derive(Debug, Clone, PartialEq, uniffi::Record)]
pub struct LearntEntry {
    /// The language the service speaks.
    pub kind: ProviderKind,
    /// Where it is.
    pub base_url: String,
    /// The service's name for the model.
    pub model_id: String,
    /// What it is about.
    pub topic: LearntTopic,
    /// The number, where it is one of tokens.
    pub tokens: Option<i64>,
    /// How much larger real sizes are than estimated ones, where it is about that.
    pub factor: Option<f64>,
    /// How the model is spoken to, where it is about that, as JSON.
    pub manner: Option<String>,
    /// How often it was heard.
    pub heard: i64,
    /// When it was heard last, in milliseconds since 1970.
    pub learnt_at: i64,
    /// When it is forgotten by itself.
    pub expires_at: i64,
}

/// What something that was learnt is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum LearntTopic {
    /// The window.
    Window,
    /// A window that counts only in the conversation it was heard in, until it is repeated.
    DoubtedWindow,
    /// The longest reply.
    Output,
    /// A longest reply that counts only in the conversation it was heard in, until it is repeated.
    DoubtedOutput,
    /// How much larger real sizes are than estimated ones.
    Density,
    /// How it is spoken to.
    Manner,
}
