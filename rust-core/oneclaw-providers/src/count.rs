//! The size of a request as its service counts it, by the endpoint it has for that.
//!
//! Decides which endpoints a service may have, what is sent to them, and which numbers cannot be. What a number is good for,
//! and when one is worth asking for, is decided elsewhere. Everything but [`Client::count`] is pure.

use crate::dialects::{chat_completions, generate_content, messages, responses};
use crate::encode::{self, Encoded, Mode};
use crate::http::{self, Outgoing};
use crate::{Client, Endpoint, Profile, ProviderError};
use oneclaw_catalogue::Vendor;
use oneclaw_model::{Dialect, ProviderKind, Request, RequestMessage};
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use std::fmt;
use std::time::Duration;
use tokio::time::timeout;

/// How much of an answer is read.
pub const MOST_BYTES: usize = 64 * 1_024;
/// What is waited for, in [`ProviderError::Timeout`].
const THE_COUNT: &str = "the size of the request";
/// Tokens that a service may add of its own: its frame around tools and messages.
const MOST_ADDED: u64 = 8_192;
/// Tokens of one picture; no service counts as many.
const MOST_PER_PICTURE: u64 = 20_000;
/// Bytes of text in one token. The longest tokens of known vocabularies, runs of white space, have 128.
const MOST_BYTES_PER_TOKEN: u64 = 256;

/// An endpoint that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counter {
    /// `responses/input_tokens` of OpenAI.
    Responses,
    /// `messages/count_tokens` of Anthropic.
    Messages,
    /// `countTokens` of Gemini.
    GenerateContent,
    /// `chat/completions/input_tokens` of llama.cpp.
    LlamaCpp,
    /// `tokenize` of vLLM.
    Vllm,
}

/// What came of asking for a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// The size of the prompt in tokens.
    Counted(u64),
    /// The service has no such endpoint.
    NoSuchEndpoint,
    /// It did not work this time.
    Failed(ProviderError),
}

/// The endpoints by which a service may count a request, in the order in which they are tried. Of a server that nobody knows
/// it shows only when it is asked; services that are known to have none are not asked.
pub fn counters(endpoint: &Endpoint, profile: &Profile, request: &Request) -> &'static [Counter] {
    match (endpoint.kind, profile.vendor) {
        (ProviderKind::Anthropic, _) => &[Counter::Messages],
        (ProviderKind::Gemini, _) => &[Counter::GenerateContent],
        (ProviderKind::OpenAi, Vendor::OpenAi) => &[Counter::Responses],
        (ProviderKind::OpenAi, Vendor::Compatible) => match profile.dialect(endpoint) {
            Dialect::Responses => &[Counter::Responses],
            // Both count the mark that stands for a picture, not the picture.
            _ if profile.sees() && pictures(request) > 0 => &[],
            _ => &[Counter::LlamaCpp, Counter::Vllm],
        },
        (ProviderKind::OpenAi, _) => &[],
    }
}

/// What is sent to ask for the size of a turn. The path of [`Counter::Vllm`] stands beside the version of the interface.
pub fn encode(counter: Counter, endpoint: &Endpoint, profile: &Profile, request: &Request) -> Encoded {
    let request = encode::prepared(profile.dialect(endpoint), profile, request, Mode::Chat);
    match counter {
        Counter::Responses => responses::count::encode(profile, &request),
        Counter::Messages => messages::count::encode(profile, &request),
        Counter::GenerateContent => generate_content::count::encode(profile, &request),
        Counter::LlamaCpp => chat_completions::count::llama_cpp(endpoint, profile, &request),
        Counter::Vllm => chat_completions::count::vllm(endpoint, profile, &request),
    }
}

impl Counter {
    fn field(self) -> &'static str {
        match self {
            Self::Responses => responses::count::FIELD,
            Self::Messages => messages::count::FIELD,
            Self::GenerateContent => generate_content::count::FIELD,
            Self::LlamaCpp => chat_completions::count::LLAMA_CPP_FIELD,
            Self::Vllm => chat_completions::count::VLLM_FIELD,
        }
    }

    /// Whether it shows only by asking if a server has it.
    fn is_guess(self) -> bool {
        matches!(self, Self::LlamaCpp | Self::Vllm)
    }

    /// The size in an answer, or in its beginning: vLLM sends the tokens as well, behind their number.
    pub fn read(self, body: &[u8], is_whole: bool) -> Option<u64> {
        if !is_whole && self != Self::Vllm {
            return None;
        }
        let mut found = None;
        let visitor = Field { name: self.field(), found: &mut found };
        let mut reader = serde_json::Deserializer::from_slice(body);
        let read = reader.deserialize_map(visitor).and_then(|()| reader.end());
        found.filter(|_| read.is_ok() || !is_whole)
    }
}

/// Looks for a number in an object, and keeps it even if the object breaks off behind it.
struct Field<'a> {
    name: &'static str,
    found: &'a mut Option<u64>,
}

impl<'de> Visitor<'de> for Field<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with {}", self.name)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut size: Option<u64> = None;
        loop {
            let name = map.next_key::<String>()?;
            // Only now its last digit is known to be the last.
            *self.found = size;
            match name {
                None => return Ok(()),
                Some(name) if name != self.name => drop(map.next_value::<IgnoredAny>()?),
                Some(_) if size.is_some() => {
                    *self.found = None;
                    return Err(A::Error::custom("two sizes"));
                }
                Some(_) => size = Some(map.next_value()?),
            }
        }
    }
}

/// Whether a request can have that size: a token has at least one byte, except those of pictures and of the service's own
/// frame, and no vocabulary has tokens of arbitrary length.
pub fn can_be(tokens: u64, request: &Request, body_bytes: usize) -> bool {
    let most = (body_bytes as u64)
        .saturating_add(MOST_ADDED)
        .saturating_add(pictures(request).saturating_mul(MOST_PER_PICTURE));
    let least = text_bytes(request) / MOST_BYTES_PER_TOKEN;
    tokens > 0 && (least..=most).contains(&tokens)
}

/// Files that may go along as pictures.
fn pictures(request: &Request) -> u64 {
    let files = request.messages.iter().flat_map(|message| match message {
        RequestMessage::User { attachments, .. } | RequestMessage::ToolResult { attachments, .. } => {
            attachments.as_slice()
        }
        RequestMessage::Assistant { .. } => &[],
    });
    files.filter(|file| file.is_image() && file.data.is_some()).count() as u64
}

/// Text that is in every form of the request.
fn text_bytes(request: &Request) -> u64 {
    let system = request.system.as_deref().unwrap_or_default().trim().len();
    let messages: usize = request.messages.iter().map(|message| message.text().trim().len()).sum();
    (system + messages) as u64
}

impl Client {
    /// Asks once for the size of a turn, and waits that long in all.
    pub async fn count(
        &self,
        counter: Counter,
        endpoint: &Endpoint,
        profile: &Profile,
        request: &Request,
        patience: Duration,
    ) -> Count {
        let asking = self.ask_for_count(counter, endpoint, profile, request);
        match timeout(patience, asking).await {
            Ok(Ok(count)) => count,
            Ok(Err(error)) => Count::Failed(error),
            Err(_) => Count::Failed(http::silence(THE_COUNT, patience)),
        }
    }

    async fn ask_for_count(
        &self,
        counter: Counter,
        endpoint: &Endpoint,
        profile: &Profile,
        request: &Request,
    ) -> Result<Count, ProviderError> {
        let address = self.http.address(endpoint)?;
        let Encoded { path, body, .. } = encode(counter, endpoint, profile, request);
        let url = match counter {
            Counter::Vllm => address.join_beside_version(&path),
            _ => address.join(&path),
        };
        log::debug!("asking for the size of a request to {} at {}", profile.model, address.host());
        let outgoing = Outgoing::post(endpoint, url, &body)?;
        let response = self.http.answer(&outgoing).await?;
        let status = response.status().as_u16();
        if !response.status().is_success() {
            let error = self.http.failure(&outgoing, response).await;
            // The status of a path that is not there is also that of a model that is not there.
            let is_missing = matches!(status, 404 | 405 | 501) || (counter.is_guess() && status == 422);
            let is_of_the_model = matches!(error, ProviderError::ModelNotFound { .. });
            return match is_missing && !is_of_the_model {
                true => Ok(Count::NoSuchEndpoint),
                false => Err(error),
            };
        }
        let beginning = self.http.beginning(response, MOST_BYTES).await;
        let (answer, is_whole) = beginning.map_err(|error| outgoing.redacted(error))?;
        match counter.read(&answer, is_whole) {
            Some(tokens) if can_be(tokens, request, outgoing.bytes()) => Ok(Count::Counted(tokens)),
            Some(tokens) => {
                let detail =
                    format!("a request cannot have {tokens} tokens that has {} bytes", outgoing.bytes());
                Err(ProviderError::Protocol { detail })
            }
            // Something else than was looked for stands there.
            None if counter.is_guess() => Ok(Count::NoSuchEndpoint),
            None => Err(ProviderError::Protocol { detail: "the answer has no size in it".to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests;
