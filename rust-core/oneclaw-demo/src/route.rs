//! What a path asks for.

use crate::ask::Delivery;
use hyper::{HeaderMap, Method, Uri};
use oneclaw_model::{Dialect, ProviderKind};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// An answer of a model. Gemini names model and delivery in the path.
    Generate(Dialect, Option<(String, Delivery)>),
    /// The size of a prompt.
    Count(Dialect, Option<String>),
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
            (&Method::POST, "/v1/chat/completions") => return Self::Generate(Dialect::ChatCompletions, None),
            (&Method::POST, "/v1/responses") => return Self::Generate(Dialect::Responses, None),
            (&Method::POST, "/v1/responses/input_tokens") => return Self::Count(Dialect::Responses, None),
            (&Method::POST, "/v1/messages") => return Self::Generate(Dialect::Messages, None),
            (&Method::POST, "/v1/messages/count_tokens") => return Self::Count(Dialect::Messages, None),
            (&Method::GET, "/v1/models") => return Self::List(v1(headers)),
            (&Method::GET, "/v1beta/models") => return Self::List(ProviderKind::Gemini),
            _ => {}
        }
        let Some((version, rest)) = path.strip_prefix('/').and_then(|path| path.split_once("/models/"))
        else {
            return Self::Unknown;
        };
        if !matches!(version, "v1" | "v1beta") {
            return Self::Unknown;
        }
        let events = query(uri, "alt").as_deref() == Some("sse");
        match (method, rest.rsplit_once(':')) {
            (&Method::POST, Some((id, "generateContent"))) => {
                Self::Generate(Dialect::GenerateContent, Some((decoded(id), Delivery::Whole)))
            }
            (&Method::POST, Some((id, "streamGenerateContent"))) => {
                let delivery = if events { Delivery::Events } else { Delivery::Array };
                Self::Generate(Dialect::GenerateContent, Some((decoded(id), delivery)))
            }
            (&Method::POST, Some((id, "countTokens"))) => {
                Self::Count(Dialect::GenerateContent, Some(decoded(id)))
            }
            (&Method::GET, _) if version == "v1" => Self::Show(v1(headers), decoded(rest)),
            (&Method::GET, _) => Self::Show(ProviderKind::Gemini, decoded(rest)),
            _ => Self::Unknown,
        }
    }

    /// The dialect; chat completions where nothing tells.
    pub fn dialect(&self) -> Dialect {
        match self {
            Self::Generate(dialect, _) | Self::Count(dialect, _) => *dialect,
            Self::List(kind) | Self::Show(kind, _) => Dialect::usual(*kind),
            Self::Unknown => Dialect::ChatCompletions,
        }
    }
}

/// All services have `/v1/models`; clients of Anthropic and Google show their keys in headers of their own.
fn v1(headers: &HeaderMap) -> ProviderKind {
    if headers.contains_key("anthropic-version") || headers.contains_key("x-api-key") {
        ProviderKind::Anthropic
    } else if headers.contains_key("x-goog-api-key") {
        ProviderKind::Gemini
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
        use ProviderKind::{Gemini, OpenAi};
        assert_eq!(
            target(Method::POST, "/v1/chat/completions"),
            Target::Generate(Dialect::ChatCompletions, None)
        );
        assert_eq!(target(Method::POST, "/v1/messages?beta=true"), Target::Generate(Dialect::Messages, None));
        assert_eq!(target(Method::POST, "/v1/responses"), Target::Generate(Dialect::Responses, None));
        assert_eq!(
            target(Method::POST, "/v1/responses/input_tokens"),
            Target::Count(Dialect::Responses, None)
        );
        let stream = "/v1beta/models/a%2Fb:streamGenerateContent";
        let gemini = |delivery| Target::Generate(Dialect::GenerateContent, Some(("a/b".into(), delivery)));
        assert_eq!(target(Method::POST, stream), gemini(Delivery::Array));
        assert_eq!(target(Method::POST, &format!("{stream}?key=1&alt=sse")), gemini(Delivery::Events));
        assert_eq!(target(Method::POST, &stream.replace("beta", "")), gemini(Delivery::Array));
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
