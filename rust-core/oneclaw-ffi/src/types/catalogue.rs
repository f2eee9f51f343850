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

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
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
}

/// A model that a service says it has.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct ListedModel {
    /// The service's name for it.
    pub id: String,
    /// The name shown, if the service has one.
    pub display_name: Option<String>,
    /// Its context window in tokens, if the service says so.
    pub window: Option<i64>,
    /// Its longest reply in tokens, if the service says so.
    pub max_output: Option<i64>,
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
