//! What the services say when they refuse, for reasons that all of them have.

use super::Rejection;
use crate::window::{Measure, Overflow};
use oneclaw_model::{Dialect, ProviderKind};

/// What the service says of a model it does not have.
pub(crate) fn unknown_model(kind: ProviderKind, id: &str) -> Rejection {
    match kind {
        ProviderKind::OpenAi => {
            Rejection::new(404, format!("The model `{id}` does not exist or you do not have access to it."))
                .code("model_not_found")
        }
        ProviderKind::Anthropic => Rejection::new(404, format!("model: {id}")),
        ProviderKind::Gemini => Rejection::new(
            404,
            format!(
                "models/{id} is not found for API version v1beta, or is not supported for generateContent. \
                 Call ListModels to see the list of available models and their supported methods."
            ),
        ),
    }
}

/// What the service says of a model that was switched off.
pub(crate) fn switched_off(kind: ProviderKind, id: &str) -> Rejection {
    match kind {
        ProviderKind::OpenAi => Rejection::new(
            404,
            format!(
                "The model `{id}` has been deprecated, learn more here: \
                 https://platform.openai.com/docs/deprecations"
            ),
        )
        .code("model_not_found"),
        ProviderKind::Anthropic => unknown_model(kind, id),
        ProviderKind::Gemini => Rejection::new(
            404,
            format!(
                "This model models/{id} is no longer available. Please update your code to use a newer model for the \
                 latest features and improvements."
            ),
        ),
    }
}

/// What the service says of a request that does not fit.
pub(crate) fn overflow(dialect: Dialect, overflow: Overflow, measure: &Measure, window: u64) -> Rejection {
    let prompt = measure.prompt;
    if dialect == Dialect::Responses {
        let message =
            "Your input exceeds the context window of this model. Please adjust your input and try again.";
        return Rejection::bad(message).param("input").code("context_length_exceeded");
    }
    match (dialect.kind(), overflow) {
        (ProviderKind::OpenAi, Overflow::Prompt) => Rejection::bad(format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {prompt} \
             tokens. Please reduce the length of the messages."
        )),
        (ProviderKind::OpenAi, Overflow::WithOutput(output)) => {
            let parts = match measure.tools {
                0 => format!("{prompt} in the messages, {output} in the completion"),
                tools => {
                    format!("{} in the messages, {tools} in the functions, and {output} in the completion", prompt - tools)
                }
            };
            Rejection::bad(format!(
                "This model's maximum context length is {window} tokens. However, you requested {} tokens ({parts}). \
                 Please reduce the length of the messages or completion.",
                prompt.saturating_add(output)
            ))
        }
        (ProviderKind::Anthropic, Overflow::Prompt) => {
            Rejection::bad(format!("prompt is too long: {prompt} tokens > {window} maximum"))
        }
        (ProviderKind::Anthropic, Overflow::WithOutput(output)) => Rejection::bad(format!(
            "input length and `max_tokens` exceed context limit: {prompt} + {output} > {window}, decrease input length \
             or `max_tokens` and try again"
        )),
        (ProviderKind::Gemini, _) => Rejection::bad(format!(
            "The input token count ({prompt}) exceeds the maximum number of tokens allowed ({window})."
        )),
    }
    .param("messages")
    .code("context_length_exceeded")
}

/// What the service says of a body that is too large, in bytes.
pub(crate) fn too_many_bytes(kind: ProviderKind) -> Rejection {
    Rejection::new(
        413,
        match kind {
            ProviderKind::OpenAi => "Request body exceeds the maximum size of 32 MB.",
            ProviderKind::Anthropic => "Request exceeds the maximum size",
            ProviderKind::Gemini => "Request payload size exceeds the limit: 33554432 bytes.",
        },
    )
    .code("request_too_large")
}

/// What the service says when it has too much to do.
pub(crate) fn overloaded(kind: ProviderKind) -> Rejection {
    match kind {
        ProviderKind::OpenAi => {
            Rejection::new(503, "The engine is currently overloaded, please try again later.")
        }
        ProviderKind::Anthropic => Rejection::new(529, "Overloaded"),
        ProviderKind::Gemini => Rejection::new(503, "The model is overloaded. Please try again later."),
    }
}

/// What the service says to a caller without a key (`None`) or with a wrong one.
pub(crate) fn unauthorised(kind: ProviderKind, key: Option<&str>) -> Rejection {
    match (kind, key) {
        (ProviderKind::OpenAi, None) => Rejection::new(
            401,
            "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer \
             auth (i.e. Authorization: Bearer YOUR_KEY).",
        ),
        (ProviderKind::OpenAi, Some(_)) => {
            Rejection::new(401, "Incorrect API key provided.").code("invalid_api_key")
        }
        (ProviderKind::Anthropic, None) => Rejection::new(401, "x-api-key header is required"),
        (ProviderKind::Anthropic, Some(_)) => Rejection::new(401, "invalid x-api-key"),
        (ProviderKind::Gemini, None) => Rejection::new(
            401,
            "Request is missing required authentication credential. Expected OAuth 2 access token, login cookie or \
             other valid authentication credential.",
        ),
        (ProviderKind::Gemini, Some(_)) => Rejection {
            details: vec![serde_json::json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            })],
            ..Rejection::bad("API key not valid. Please pass a valid API key.")
        },
    }
}
