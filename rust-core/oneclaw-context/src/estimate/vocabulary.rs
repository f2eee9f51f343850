//! Which family of vocabularies a model cuts text with, by its name and its service.
//!
//! Decides nothing about sizes: how densely each family cuts which characters stands in `text/densities.rs`. A name that tells
//! nothing belongs to no family, and is measured by the largest size any of them gives.

use oneclaw_model::ProviderKind;

/// A family of vocabularies that cut text alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Vocabulary {
    /// OpenAI's since GPT-4o.
    O200k,
    /// OpenAI's of GPT-4 and GPT-3.5.
    Cl100k,
    /// Anthropic's up to Claude 4.6. What was published is that of Claude 2.
    Claude,
    /// Anthropic's since Claude Opus 4.7. It was never published; people have compared its counts with those of 4.6.
    ClaudeSince47,
    /// Google's of Gemma and Gemma 2, and of Gemini before 2.0.
    Gemma2,
    /// Google's since Gemma 3 and Gemini 2.0.
    Gemma3,
    /// Meta's since Llama 3.
    Llama3,
    /// Alibaba's Qwen.
    Qwen,
    /// DeepSeek's.
    DeepSeek,
    /// Mistral's older one of 32,768 pieces.
    Mistral,
    /// Mistral's since Nemo, called Tekken.
    Tekken,
    /// Cohere's of Command R.
    Command,
    /// Any: what is known of the others, at its largest.
    Unknown,
}

impl Vocabulary {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 13] = [
        Self::O200k,
        Self::Cl100k,
        Self::Claude,
        Self::ClaudeSince47,
        Self::Gemma2,
        Self::Gemma3,
        Self::Llama3,
        Self::Qwen,
        Self::DeepSeek,
        Self::Mistral,
        Self::Tekken,
        Self::Command,
        Self::Unknown,
    ];

    /// The family of a model, by its name; by its service where only one family is spoken there.
    pub fn of(model: &str, provider: Option<ProviderKind>) -> Self {
        // A router's name for a model has the maker before it.
        let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        match Self::of_name(&name) {
            Self::Unknown => match provider {
                Some(ProviderKind::Anthropic) => Self::ClaudeSince47,
                Some(ProviderKind::Gemini) => Self::Gemma3,
                // Any server may speak OpenAI's dialect.
                Some(ProviderKind::OpenAi) | None => Self::Unknown,
            },
            known => known,
        }
    }

    /// Whether it was published, so that it could be counted.
    pub fn is_published(self) -> bool {
        !matches!(self, Self::ClaudeSince47 | Self::Unknown)
    }

    fn of_name(name: &str) -> Self {
        let has = |part: &str| contains(name, part);
        let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        if has("claude") {
            return claude(name);
        }
        // What was distilled from a large model has the vocabulary of the small one.
        if has("llama-3") || has("llama3") || has("llama_3") || has("distill-llama") {
            return Self::Llama3;
        }
        if has("qwen") || has("qwq") {
            return Self::Qwen;
        }
        if has("deepseek") {
            return Self::DeepSeek;
        }
        if has("gemini") || has("gemma") {
            return google(name);
        }
        if starts(&["gpt-3.5", "gpt-4-", "gpt-4.0"]) || name == "gpt-4" {
            return Self::Cl100k;
        }
        if starts(&["gpt-", "chatgpt", "chat-latest", "codex", "daybreak", "o1", "o3", "o4"]) {
            return Self::O200k;
        }
        if starts(&["command-r", "command-a", "c4ai-command", "c4ai-aya", "aya-"]) {
            return Self::Command;
        }
        mistral(name)
    }
}

/// `str::contains` prepares for long texts, which takes longer than looking through a name, and names are looked at in every plan.
fn contains(name: &str, part: &str) -> bool {
    name.as_bytes().windows(part.len()).any(|window| window == part.as_bytes())
}

/// Claude's: the number of the generation stands before or after the name of the size.
fn claude(name: &str) -> Vocabulary {
    match generation(name) {
        (None, _) if contains(name, "instant") => Vocabulary::Claude,
        (Some(0..=3), _) | (Some(4), None | Some(0..=6)) => Vocabulary::Claude,
        // A newer one, or one that does not say.
        _ => Vocabulary::ClaudeSince47,
    }
}

/// The first two numbers of a name, of one or two digits each: others are dates and sizes in thousands.
fn generation(name: &str) -> (Option<u32>, Option<u32>) {
    let mut numbers = name
        .split(|c: char| !c.is_ascii_digit())
        .filter(|part| (1..=2).contains(&part.len()))
        .map(|part| part.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next())
}

/// Google's: Gemini 1 and Gemma up to 2 have the older one.
fn google(name: &str) -> Vocabulary {
    let is_gemini = contains(name, "gemini");
    match generation(name).0 {
        Some(0..=1) => Vocabulary::Gemma2,
        Some(2) if !is_gemini => Vocabulary::Gemma2,
        // The first Gemma has only its size in the name.
        Some(7) if !is_gemini => Vocabulary::Gemma2,
        _ => Vocabulary::Gemma3,
    }
}

/// Mistral's: what came before Nemo has the older one, but for a few that the name tells.
fn mistral(name: &str) -> Vocabulary {
    let has = |parts: &[&str]| parts.iter().any(|part| contains(name, part));
    if !has(&["stral", "xtral", "nemo"]) {
        return Vocabulary::Unknown;
    }
    let newer = ["nemo", "ministral", "pixtral-12b", "devstral", "magistral", "voxtral", "mistral-medium-3"];
    let small =
        ["mistral-small-3", "mistral-small-25", "mistral-small-26", "mistral-large-3", "mistral-large-25"];
    let older = ["mixtral", "mathstral", "mistral-7b", "open-mistral-7b", "codestral-22b", "codestral-mamba"];
    let dated = ["mistral-large-24", "mistral-small-24", "codestral-24", "codestral-2405"];
    match () {
        () if has(&newer) || has(&small) => Vocabulary::Tekken,
        () if has(&older) || has(&dated) || matches!(name, "mistral" | "mistral:7b" | "mistral:latest") => {
            Vocabulary::Mistral
        }
        () => Vocabulary::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Vocabulary::*;

    #[test]
    fn names_tell_the_family() {
        for (name, family) in [
            ("gpt-4o-mini", O200k),
            ("openai/gpt-oss-120b", O200k),
            ("gpt-6.1-sol", O200k),
            ("o3-mini", O200k),
            ("gpt-4", Cl100k),
            ("gpt-4-turbo-2024-04-09", Cl100k),
            ("gpt-4.1-nano", O200k),
            ("gpt-3.5-turbo", Cl100k),
            ("claude-2.1", Claude),
            ("claude-instant", Claude),
            ("claude-3-5-sonnet-20241022", Claude),
            ("claude-sonnet-4-20250514", Claude),
            ("anthropic/claude-sonnet-4.5", Claude),
            ("claude-opus-4-5-20251101", Claude),
            ("claude-opus-4-6", Claude),
            ("claude-opus-4-7", ClaudeSince47),
            ("claude-haiku-5-5", ClaudeSince47),
            ("claude-fable-5-1", ClaudeSince47),
            ("claude-next", ClaudeSince47),
            ("gemini-2.5-pro", Gemma3),
            ("gemini-3.8-flash", Gemma3),
            ("gemini-flash-latest", Gemma3),
            ("gemini-1.5-pro-002", Gemma2),
            ("google/gemma-3-27b-it", Gemma3),
            ("gemma3n:e4b", Gemma3),
            ("gemma4:31b", Gemma3),
            ("gemma2:9b", Gemma2),
            ("gemma-7b-it", Gemma2),
            ("gemma:2b", Gemma2),
            ("meta-llama/Llama-3.3-70B-Instruct", Llama3),
            ("llama3.1:8b", Llama3),
            ("deepseek-r1-distill-llama-70b", Llama3),
            ("deepseek-r1-distill-qwen-32b", Qwen),
            ("qwen3:32b", Qwen),
            ("QwQ-32B", Qwen),
            ("deepseek-chat", DeepSeek),
            ("mistral-nemo", Tekken),
            ("ministral-8b-latest", Tekken),
            ("open-mixtral-8x7b", Mistral),
            ("mistral:7b", Mistral),
            ("mistral-large-latest", Unknown),
            ("command-r-plus", Command),
            ("llama-2-7b-chat", Unknown),
            ("kimi-k3", Unknown),
            ("oasis", Unknown),
            ("", Unknown),
        ] {
            assert_eq!(Vocabulary::of(name, None), family, "{name}");
            assert_eq!(Vocabulary::of(name, Some(ProviderKind::OpenAi)), family, "{name}");
        }
        assert_eq!(Vocabulary::of("mythos-5", Some(ProviderKind::Anthropic)), ClaudeSince47);
        assert_eq!(Vocabulary::of("learnlm", Some(ProviderKind::Gemini)), Gemma3);
    }

    #[test]
    fn numbers_are_places() {
        for (place, vocabulary) in Vocabulary::ALL.into_iter().enumerate() {
            assert_eq!(vocabulary as usize, place);
        }
    }
}
