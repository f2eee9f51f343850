//! Which service is spoken to: by what kind of service it is set up as, and by its host.

use oneclaw_model::ProviderKind;

/// A service the catalogue knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    /// OpenAI.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google.
    Gemini,
    /// DeepSeek.
    DeepSeek,
    /// Mistral.
    Mistral,
    /// xAI.
    Xai,
    /// Moonshot (Kimi).
    Moonshot,
    /// z.ai.
    Zai,
    /// Alibaba's DashScope.
    DashScope,
    /// Groq.
    Groq,
    /// Cerebras.
    Cerebras,
    /// MiniMax.
    MiniMax,
    /// Cohere.
    Cohere,
    /// Perplexity.
    Perplexity,
    /// OpenRouter: other services' models, each with its service's name before it.
    OpenRouter,
    /// Any other server that is compatible with OpenAI's: on a desk, in a company, a gateway.
    Compatible,
}

/// Hosts and whose they are; hosts below them count too.
const HOSTS: [(&str, Vendor); 22] = [
    ("api.openai.com", Vendor::OpenAi),
    ("api.anthropic.com", Vendor::Anthropic),
    ("generativelanguage.googleapis.com", Vendor::Gemini),
    ("api.deepseek.com", Vendor::DeepSeek),
    ("mistral.ai", Vendor::Mistral),
    ("api.x.ai", Vendor::Xai),
    ("moonshot.ai", Vendor::Moonshot),
    ("moonshot.cn", Vendor::Moonshot),
    ("kimi.com", Vendor::Moonshot),
    ("api.z.ai", Vendor::Zai),
    ("bigmodel.cn", Vendor::Zai),
    ("dashscope.aliyuncs.com", Vendor::DashScope),
    ("dashscope-intl.aliyuncs.com", Vendor::DashScope),
    ("dashscope-us.aliyuncs.com", Vendor::DashScope),
    ("groq.com", Vendor::Groq),
    ("cerebras.ai", Vendor::Cerebras),
    ("minimax.io", Vendor::MiniMax),
    ("minimaxi.com", Vendor::MiniMax),
    ("cohere.ai", Vendor::Cohere),
    ("cohere.com", Vendor::Cohere),
    ("perplexity.ai", Vendor::Perplexity),
    ("openrouter.ai", Vendor::OpenRouter),
];

impl Vendor {
    /// Whose service that is. A host nobody knows is taken for what it is set up as; the demo and gateways are such.
    pub fn of(kind: ProviderKind, base_url: &str) -> Self {
        let host = host(base_url).to_ascii_lowercase();
        let known = HOSTS.iter().find(|(known, _)| {
            host.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
        });
        match (kind, known) {
            (ProviderKind::OpenAi, Some((_, vendor))) => *vendor,
            (ProviderKind::OpenAi, None) => Self::Compatible,
            (ProviderKind::Anthropic, _) => Self::Anthropic,
            (ProviderKind::Gemini, _) => Self::Gemini,
        }
    }

    /// The service's name in the catalogue; `None` for those that have no models of their own.
    pub fn service(self) -> Option<&'static str> {
        Some(match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::DeepSeek => "deepseek",
            Self::Mistral => "mistral",
            Self::Xai => "xai",
            Self::Moonshot => "moonshot",
            Self::Zai => "zai",
            Self::DashScope => "dashscope",
            Self::Groq => "groq",
            Self::Cerebras => "cerebras",
            Self::MiniMax => "minimax",
            Self::Cohere => "cohere_chat",
            Self::Perplexity => "perplexity",
            Self::OpenRouter | Self::Compatible => return None,
        })
    }
}

/// The host of an address; empty where there is none.
fn host(base_url: &str) -> &str {
    let rest = base_url.trim().split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split_once(':').map_or(host, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_tell_whose_service_it_is() {
        let of = |url: &str| Vendor::of(ProviderKind::OpenAi, url);
        assert_eq!(of("https://api.openai.com/v1"), Vendor::OpenAi);
        assert_eq!(of("https://API.OpenAI.com:443/v1"), Vendor::OpenAi);
        assert_eq!(of("https://api.openai.com.evil.example/v1"), Vendor::Compatible);
        assert_eq!(of("https://evilmistral.ai/v1"), Vendor::Compatible);
        assert_eq!(of("https://openrouter.ai/api/v1"), Vendor::OpenRouter);
        assert_eq!(of("http://127.0.0.1:8080/v1"), Vendor::Compatible);
        assert_eq!(of("nonsense"), Vendor::Compatible);
        assert_eq!(Vendor::of(ProviderKind::Anthropic, "http://127.0.0.1/v1"), Vendor::Anthropic);
        // Google's compatible endpoint speaks OpenAI's dialect.
        assert_eq!(of("https://generativelanguage.googleapis.com/v1beta/openai"), Vendor::Gemini);
    }
}
