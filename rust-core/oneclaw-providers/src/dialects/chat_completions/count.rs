//! How servers on a desk are asked for the size of a chat: llama.cpp beside the chat itself, vLLM outside of the versioned
//! interface.

use super::request;
use crate::encode::{self, Encoded, Mode};
use crate::{Endpoint, Profile};
use oneclaw_model::Request;

/// What llama.cpp is not told: it says what becomes of the reply.
const LEFT_OUT: [&str; 4] = ["stream", "stream_options", "max_tokens", "max_completion_tokens"];

/// What vLLM is told.
const FIELDS: [&str; 3] = ["model", "messages", "tools"];

/// The size in llama.cpp's answer.
pub(crate) const LLAMA_CPP_FIELD: &str = "input_tokens";

/// The size in vLLM's answer; it stands before the tokens themselves.
pub(crate) const VLLM_FIELD: &str = "count";

pub(crate) fn llama_cpp(endpoint: &Endpoint, profile: &Profile, request: &Request) -> Encoded {
    let Encoded { body, .. } = request::encode(endpoint, profile, request, Mode::Chat);
    let body = encode::with_fields(body, |name| !LEFT_OUT.contains(&name));
    Encoded { path: "chat/completions/input_tokens".to_owned(), query: None, body }
}

/// The path stands beside the version at the end of the base address.
pub(crate) fn vllm(endpoint: &Endpoint, profile: &Profile, request: &Request) -> Encoded {
    let Encoded { body, .. } = request::encode(endpoint, profile, request, Mode::Chat);
    let body = encode::with_fields(body, |name| FIELDS.contains(&name));
    Encoded { path: "tokenize".to_owned(), query: None, body }
}
