//! What a path asks for.

use crate::ask::Delivery;
use hyper::{HeaderMap, Method, Uri};
use oneclaw_model::ProviderKind;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// An answer of a model. Gemini names model and delivery in the path.
    Generate(ProviderKind, Option<(String, Delivery)>),
    /// The size of a prompt.
    Count(ProviderKind, Option<String>),
    /// The models.
    List(ProviderKind),
    /// One model.
    Show(ProviderKind, String),
    /// Nothing there is.
    Unknown,
}

impl Target {
    pub fn of(method: &Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let path = uri.path().trim_end_matches('/');
        match (method, path) {
            (&Method::POST, "/v1/chat/completions") => return Self::Generate(ProviderKind::OpenAi, None),
            (&Method::POST, "/v1/messages") => return Self::Generate(ProviderKind::Anthropic, None),
            (&Method::POST, "/v1/messages/count_tokens") => {
                return Self::Count(ProviderKind::Anthropic, None);
            }
            (&Method::GET, "/v1/models") => return Self::List(v1(headers)),
            (&Method::GET, "/v1beta/models") => return Self::List(ProviderKind::Gemini),
            _ => {}
        }
        if let (&Method::GET, Some(id)) = (method, path.strip_prefix("/v1/models/")) {
            return Self::Show(v1(headers), decoded(id));
        }
        let Some(rest) = path.strip_prefix("/v1beta/models/") else { return Self::Unknown };
        let events = query(uri, "alt").as_deref() == Some("sse");
        match (method, rest.rsplit_once(':')) {
            (&Method::POST, Some((id, "generateContent"))) => {
                Self::Generate(ProviderKind::Gemini, Some((decoded(id), Delivery::Whole)))
            }
            (&Method::POST, Some((id, "streamGenerateContent"))) => {
                let delivery = if events { Delivery::Events } else { Delivery::Array };
                Self::Generate(ProviderKind::Gemini, Some((decoded(id), delivery)))
            }
            (&Method::POST, Some((id, "countTokens"))) => {
                Self::Count(ProviderKind::Gemini, Some(decoded(id)))
            }
            (&Method::GET, _) => Self::Show(ProviderKind::Gemini, decoded(rest)),
            _ => Self::Unknown,
        }
    }

    /// The protocol; OpenAI's where nothing tells.
    pub fn kind(&self) -> ProviderKind {
        match self {
            Self::Generate(kind, _) | Self::Count(kind, _) | Self::List(kind) | Self::Show(kind, _) => *kind,
            Self::Unknown => ProviderKind::OpenAi,
        }
    }
}

/// Two protocols share `/v1/models`; Anthropic's clients say which version they speak.
fn v1(headers: &HeaderMap) -> ProviderKind {
    if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
        ProviderKind::Anthropic
    } else {
        ProviderKind::OpenAi
    }
}

/// The key a caller shows.
pub(crate) fn key(kind: ProviderKind, uri: &Uri, headers: &HeaderMap) -> Option<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bearer =
        || header("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    let key = match kind {
        ProviderKind::OpenAi => bearer(),
        ProviderKind::Anthropic => header("x-api-key").or_else(bearer),
        ProviderKind::Gemini => header("x-goog-api-key").or_else(|| query(uri, "key")),
    };
    key.filter(|key| !key.is_empty())
}

fn query(uri: &Uri, name: &str) -> Option<String> {
    let pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| decoded(value)).next()
}

/// Text with its `%XX` resolved; what is not UTF-8 then becomes the replacement character.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex = |digit: u8| char::from(digit).to_digit(16);
        match (first, after) {
            (b'%', [high, low, tail @ ..]) if hex(*high).is_some() && hex(*low).is_some() => {
                let value = hex(*high).unwrap_or(0) * 16 + hex(*low).unwrap_or(0);
                bytes.push(value as u8);
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: Method, uri: &str) -> Target {
        Target::of(&method, &uri.parse().unwrap(), &HeaderMap::new())
    }

    #[test]
    fn paths() {
        use ProviderKind::{Anthropic, Gemini, OpenAi};
        assert_eq!(target(Method::POST, "/v1/chat/completions"), Target::Generate(OpenAi, None));
        assert_eq!(target(Method::POST, "/v1/messages?beta=true"), Target::Generate(Anthropic, None));
        let stream = "/v1beta/models/a%2Fb:streamGenerateContent";
        let gemini = |delivery| Target::Generate(Gemini, Some(("a/b".into(), delivery)));
        assert_eq!(target(Method::POST, stream), gemini(Delivery::Array));
        assert_eq!(target(Method::POST, &format!("{stream}?key=1&alt=sse")), gemini(Delivery::Events));
        assert_eq!(target(Method::GET, "/v1/models"), Target::List(OpenAi));
        assert_eq!(target(Method::GET, "/v1/models/x"), Target::Show(OpenAi, "x".into()));
        assert_eq!(target(Method::GET, "/v1beta/models/x"), Target::Show(Gemini, "x".into()));
        for (method, path) in
            [(Method::GET, "/v1/messages"), (Method::POST, "/"), (Method::POST, "/v1beta/models/x")]
        {
            assert_eq!(target(method, path), Target::Unknown);
        }
    }

    #[test]
    fn hostile_escapes_stay_what_they_are() {
        assert_eq!(decoded("a%2"), "a%2");
        assert_eq!(decoded("%zz%"), "%zz%");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }
}
