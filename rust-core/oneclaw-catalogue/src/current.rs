//! Which models a fresh database offers beside the preset ones.

use oneclaw_model::ProviderKind;

/// The day the facts are of.
pub const FACTS_OF: &str = "2026-11-18";

/// Models of a service that were current on [`FACTS_OF`], the one to begin with first.
///
/// Google's list begins with a model that every key may use: `gemini-4-argon` is for paying accounts only.
pub fn current(kind: ProviderKind) -> &'static [&'static str] {
    match kind {
        ProviderKind::OpenAi => {
            &["gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-sol", "gpt-6-luna", "gpt-6-astra", "gpt-5.4-mini"]
        }
        ProviderKind::Anthropic => {
            &["claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-1"]
        }
        ProviderKind::Gemini => {
            &["gemini-3.8-flash", "gemini-4-argon", "gemini-3.1-pro-preview", "gemini-3.5-flash-lite"]
        }
    }
}
