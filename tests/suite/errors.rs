//! What services say when they refuse, each in the body it comes in, and what it means: the ways of saying "too long",
//! and as many that only sound like it.

mod limits;
mod overflow;
mod refusals;

use ProviderKind::{Anthropic, Gemini, OpenAi};
use oneclaw_model::ProviderKind;
use oneclaw_providers::ProviderError;
use oneclaw_providers::classify::{Failure, in_stream, response};
use serde_json::{Value, json};
use std::time::Duration;

fn answer(kind: ProviderKind, status: u16, body: &Value) -> ProviderError {
    response(kind, Failure { status, body: body.to_string().as_bytes(), ..Failure::default() })
}

fn overflow(limit: impl Into<Option<u64>>, requested: impl Into<Option<u64>>) -> ProviderError {
    ProviderError::ContextOverflow { limit: limit.into(), requested: requested.into() }
}

fn rate_limited(seconds: Option<f64>, detail: &str) -> ProviderError {
    let retry_after = seconds.map(Duration::from_secs_f64);
    ProviderError::RateLimited { retry_after, detail: detail.into() }
}

fn hopeless(detail: &str) -> ProviderError {
    ProviderError::RateLimited { retry_after: Some(ProviderError::NEVER), detail: detail.into() }
}

fn bytes(detail: &str) -> ProviderError {
    ProviderError::TooManyBytes { detail: detail.into() }
}

fn invalid(detail: &str) -> ProviderError {
    ProviderError::InvalidRequest { detail: detail.into() }
}

fn quota(detail: &str) -> ProviderError {
    ProviderError::Quota { detail: detail.into() }
}

fn auth(detail: &str) -> ProviderError {
    ProviderError::Auth { detail: detail.into() }
}

fn overloaded(detail: &str) -> ProviderError {
    ProviderError::Overloaded { detail: detail.into(), retry_after: None }
}

fn reported(detail: &str) -> ProviderError {
    ProviderError::Reported { detail: detail.into() }
}

fn unknown_model(detail: &str) -> ProviderError {
    ProviderError::ModelNotFound { detail: detail.into() }
}

fn openai(message: &str, kind: &str, code: Value) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

fn gemini(code: u16, status: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": status}})
}

type Case = (ProviderKind, u16, Value, ProviderError);

fn check(cases: Vec<Case>) {
    for (kind, status, body, wanted) in cases {
        assert_eq!(answer(kind, status, &body), wanted, "{status} {body}");
    }
}

/// The same for what says by itself what it is, in the middle of a stream too.
fn check_anywhere(cases: Vec<Case>) {
    for (kind, _, body, wanted) in &cases {
        assert_eq!(in_stream(*kind, body), *wanted, "in a stream: {body}");
    }
    check(cases);
}

#[test]
fn too_long_is_recognised_with_its_numbers() {
    let invalid = "invalid_request_error";
    check_anywhere(vec![
        (
            Anthropic,
            400,
            anthropic(invalid, "prompt is too long: 208310 tokens > 200000 maximum"),
            overflow(200_000, 208_310),
        ),
        (
            Anthropic,
            400,
            anthropic(
                invalid,
                "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length \
                 or `max_tokens` and try again",
            ),
            overflow(200_000, 222_000),
        ),
        (
            Anthropic,
            400,
            anthropic(invalid, "input length and max_tokens exceed context limit: 1 + 2 > 3"),
            overflow(3, 3),
        ),
        (
            OpenAi,
            400,
            openai(
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130471 \
                 tokens. Please reduce the length of the messages.",
                invalid,
                json!("context_length_exceeded"),
            ),
            overflow(128_000, 130_471),
        ),
        (
            OpenAi,
            400,
            openai(
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
                invalid,
                json!("context_length_exceeded"),
            ),
            overflow(None, None),
        ),
        (
            OpenAi,
            400,
            openai("The request exceeds the model's context window.", invalid, Value::Null),
            overflow(None, None),
        ),
        // Azure and others change the words and keep the code.
        (OpenAi, 400, openai("Too long!", invalid, json!("context_length_exceeded")), overflow(None, None)),
        // vLLM, DeepSeek
        (
            OpenAi,
            400,
            json!({"object": "error", "type": "BadRequestError", "code": 400, "param": null, "message":
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the \
                 messages, 500 in the completion). Please reduce the length of the messages or completion."}),
            overflow(4_096, 5_000),
        ),
        (
            OpenAi,
            400,
            openai(
                "'max_tokens' or 'max_completion_tokens' is too large: 8000. This model's maximum context length is \
                 8192 tokens and your request has 1000 input tokens (8000 > 8192 - 1000).",
                "BadRequestError",
                json!(400),
            ),
            overflow(8_192, 9_000),
        ),
        // OpenRouter
        (
            OpenAi,
            400,
            json!({"error": {"code": 400, "message": "This endpoint's maximum context length is 131,072 tokens. \
                However, you requested about 140,000 tokens (139000 of text input, 1000 in the output)."}}),
            overflow(131_072, 140_000),
        ),
        (
            OpenAi,
            400,
            json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"provider_name": "X",
                "raw": "{\"message\":\"prompt is too long: 9 tokens > 8 maximum\"}"}}}),
            overflow(8, 9),
        ),
        (
            Gemini,
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200345) exceeds the maximum number of tokens allowed (1048576).",
            ),
            overflow(1_048_576, 1_200_345),
        ),
        (
            Gemini,
            400,
            json!([gemini(
                400,
                "INVALID_ARGUMENT",
                "The input token count exceeds the maximum number of tokens allowed 32768."
            )]),
            overflow(32_768, None),
        ),
        // Bedrock
        (OpenAi, 400, json!({"message": "Input is too long for requested model."}), overflow(None, None)),
        // xAI
        (
            OpenAi,
            400,
            json!({"code": "Client specified an invalid argument", "error":
                "This model's maximum prompt length is 131072 but the request contains 537812 tokens."}),
            overflow(131_072, 537_812),
        ),
        (
            OpenAi,
            400,
            json!({"error": "This model's maximum prompt length is 131072."}),
            overflow(131_072, None),
        ),
        // Groq
        (
            OpenAi,
            400,
            openai(
                "Please reduce the length of the messages or completion.",
                invalid,
                json!("context_length_exceeded"),
            ),
            overflow(None, None),
        ),
        // Copilot
        (
            OpenAi,
            400,
            openai(
                "prompt token count of 135000 exceeds the limit of 128000",
                invalid,
                json!("model_max_prompt_tokens_exceeded"),
            ),
            overflow(128_000, 135_000),
        ),
        (
            OpenAi,
            400,
            openai("Prompt exceeds the limit of 64000.", invalid, Value::Null),
            overflow(64_000, None),
        ),
        // llama.cpp
        (
            OpenAi,
            400,
            json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5012, "n_ctx": 4096,
                "message": "the request exceeds the available context size, try increasing it"}}),
            overflow(4_096, 5_012),
        ),
        (
            OpenAi,
            500,
            json!({"error": {"code": 500, "type": "server_error",
                "message": "request (5012 tokens) exceeds the available context size (4096 tokens), try increasing it"}}),
            overflow(4_096, 5_012),
        ),
        // LM Studio
        (
            OpenAi,
            400,
            json!({"error": "The number of tokens to keep from the initial prompt is greater than the context length. \
                Try to load the model with a larger context length, or provide a shorter input"}),
            overflow(None, None),
        ),
        (
            OpenAi,
            400,
            json!({"error": "Trying to keep the first 5000 tokens when context the overflows. However, the model is \
                loaded with context length of only 4096 tokens, which is not enough."}),
            overflow(4_096, 5_000),
        ),
        // MiniMax, whose number is its code
        (
            OpenAi,
            400,
            openai("invalid params, context window exceeds limit (2013)", "bad_request_error", json!("2013")),
            overflow(None, None),
        ),
        // Kimi
        (
            OpenAi,
            400,
            openai(
                "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)",
                invalid,
                Value::Null,
            ),
            overflow(262_144, 300_000),
        ),
        (
            OpenAi,
            400,
            openai("Your request exceeded model token limit : 8192", invalid, Value::Null),
            overflow(None, None),
        ),
        // Mistral
        (
            OpenAi,
            400,
            json!({"object": "error", "type": "invalid_request_error", "code": "3051", "param": null, "message":
                "Prompt contains 40961 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}),
            overflow(32_768, 40_961),
        ),
        // Cerebras, with words
        (
            OpenAi,
            400,
            openai(
                "Please reduce the length of the messages or completion. Current length is 9012 while limit is 8192",
                invalid,
                json!("context_length_exceeded"),
            ),
            overflow(8_192, 9_012),
        ),
        // Fireworks, Qwen, z.ai
        (
            OpenAi,
            400,
            openai(
                "The prompt is too long: 140000, model maximum context length: 131071",
                invalid,
                Value::Null,
            ),
            overflow(131_071, 140_000),
        ),
        (
            OpenAi,
            400,
            openai("Range of input length should be [1, 98304]", invalid, json!("invalid_parameter_error")),
            overflow(98_304, None),
        ),
        (OpenAi, 400, openai("Prompt exceeds max length", "", json!("1261")), overflow(None, None)),
        // A status for bytes with words for tokens.
        (OpenAi, 413, openai("Prompt is too long", invalid, Value::Null), overflow(None, None)),
    ]);
}

#[test]
fn an_answer_without_a_word_is_an_overflow_of_cerebras_only() {
    let silent =
        |kind, host, status, body| response(kind, Failure { host, status, body, ..Failure::default() });
    for body in [&b""[..], b" \n", b"null"] {
        for status in [400, 413] {
            assert_eq!(silent(OpenAi, "api.cerebras.ai", status, body), overflow(None, None));
        }
        for host in ["api.openai.com", "127.0.0.1", "notcerebras.ai", "cerebras.ai.example", ""] {
            assert_eq!(silent(OpenAi, host, 413, body), bytes("HTTP 413"), "{host}");
            assert_eq!(silent(OpenAi, host, 400, body), invalid("HTTP 400"), "{host}");
        }
    }
    assert_eq!(silent(Anthropic, "api.cerebras.ai", 413, b""), bytes("HTTP 413"));
    assert_eq!(silent(Anthropic, "api.cerebras.ai", 400, b""), invalid("HTTP 400"));
    assert_eq!(silent(OpenAi, "api.cerebras.ai", 422, b""), invalid("HTTP 422"));
    assert_eq!(silent(OpenAi, "api.cerebras.ai", 500, b""), overloaded("HTTP 500"));
}

#[test]
fn what_only_sounds_like_too_long_is_not() {
    let bad = "invalid_request_error";
    let tpm = "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested \
               45210. The input or output tokens must be reduced in order to run successfully.";
    let groq = "Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` \
                on tokens per minute (TPM): Limit 6000, Requested 7012, please reduce your message size and try again.";
    let wait = "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, \
                Requested 1500. Please try again in 1.5s. Visit our page to learn more.";
    let day = "Rate limit reached for model `x` on tokens per day (TPD): Limit 100000, Used 99500, Requested 3000. \
               Please try again in 36m0s.";
    let field = "Invalid 'messages[0].content': string too long. Expected a string with maximum length 1048576, but \
                 got a string with length 2097152 instead.";
    let image =
        "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes";
    check_anywhere(vec![
        // Bytes.
        (
            Anthropic,
            413,
            anthropic("request_too_large", "Request exceeds the maximum size"),
            bytes("Request exceeds the maximum size"),
        ),
        (
            Anthropic,
            413,
            anthropic("request_too_large", "Request exceeds the maximum allowed number of bytes"),
            bytes("Request exceeds the maximum allowed number of bytes"),
        ),
        (
            Gemini,
            400,
            gemini(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
            bytes("Request payload size exceeds the limit: 20971520 bytes."),
        ),
        (
            OpenAi,
            400,
            openai("Body exceeds the limit of 20 MB", bad, Value::Null),
            bytes("Body exceeds the limit of 20 MB"),
        ),
        (Anthropic, 400, anthropic(bad, image), bytes(image)),
        // A field.
        (OpenAi, 400, openai(field, bad, json!("string_above_max_length")), invalid(field)),
        // Limits over time.
        (
            OpenAi,
            429,
            json!({"message": "Too many tokens per day, please wait before trying again."}),
            quota("Too many tokens per day, please wait before trying again."),
        ),
        (
            OpenAi,
            400,
            json!({"__type": "ThrottlingException", "message": "Too many tokens, please wait before trying again."}),
            rate_limited(None, "Too many tokens, please wait before trying again."),
        ),
        (
            OpenAi,
            400,
            openai("Your request exceeds the limit of 40000 tokens per minute.", bad, Value::Null),
            hopeless("Your request exceeds the limit of 40000 tokens per minute."),
        ),
        (
            OpenAi,
            429,
            openai("Request of 900 tokens exceeds the limit of 40000 tokens per minute", bad, Value::Null),
            rate_limited(None, "Request of 900 tokens exceeds the limit of 40000 tokens per minute"),
        ),
        (OpenAi, 429, openai(tpm, "tokens", json!("rate_limit_exceeded")), hopeless(tpm)),
        (OpenAi, 413, openai(groq, "tokens", json!("rate_limit_exceeded")), hopeless(groq)),
        (OpenAi, 429, openai(wait, "tokens", json!("rate_limit_exceeded")), rate_limited(Some(1.5), wait)),
        (OpenAi, 429, openai(day, "tokens", json!("rate_limit_exceeded")), quota(day)),
        (
            Anthropic,
            429,
            anthropic(
                "rate_limit_error",
                "This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please \
                 reduce the prompt length or the maximum tokens requested.",
            ),
            rate_limited(
                None,
                "This request would exceed your organization's rate limit of 40,000 input tokens per minute. Please \
                 reduce the prompt length or the maximum tokens requested.",
            ),
        ),
        // Output.
        (
            Anthropic,
            400,
            anthropic(
                bad,
                "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x",
            ),
            ProviderError::OutputCap { limit: Some(64_000) },
        ),
        (
            OpenAi,
            400,
            openai(
                "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you \
                 provided 100000.",
                bad,
                json!("invalid_value"),
            ),
            ProviderError::OutputCap { limit: Some(16_384) },
        ),
        (
            Gemini,
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range \
                 is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.",
            ),
            ProviderError::OutputCap { limit: Some(8_192) },
        ),
        (
            OpenAi,
            400,
            openai(
                "`max_tokens` must be less than or equal to `8192`, the maximum for `x`",
                bad,
                Value::Null,
            ),
            ProviderError::OutputCap { limit: Some(8_192) },
        ),
        (
            OpenAi,
            400,
            openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", bad, Value::Null),
            ProviderError::OutputCap { limit: Some(8_192) },
        ),
        // Other things with similar words.
        (
            OpenAi,
            400,
            openai("Not supported by this model: temperature", bad, Value::Null),
            invalid("Not supported by this model: temperature"),
        ),
        (
            OpenAi,
            400,
            openai(
                "Invalid 'tools': array too long. Expected at most 128.",
                bad,
                json!("array_above_max_length"),
            ),
            invalid("Invalid 'tools': array too long. Expected at most 128."),
        ),
        (
            OpenAi,
            400,
            openai("Unsupported parameter: 'temperature'.", bad, json!("unsupported_parameter")),
            invalid("Unsupported parameter: 'temperature'."),
        ),
        (
            Gemini,
            400,
            gemini(
                400,
                "INVALID_ARGUMENT",
                "Please ensure that the number of function response parts is equal",
            ),
            invalid("Please ensure that the number of function response parts is equal"),
        ),
    ]);
}

/// What only the status tells, even against the words.
#[test]
fn the_status_alone_tells() {
    check(vec![
        (OpenAi, 413, json!({"error": "Payload Too Large"}), bytes("Payload Too Large")),
        (
            OpenAi,
            429,
            openai("prompt is too long", "", Value::Null),
            rate_limited(None, "prompt is too long"),
        ),
    ]);
}

#[test]
fn keys_quotas_and_models() {
    let spent = "You exceeded your current quota, please check your plan and billing details.";
    check(vec![
        (
            OpenAi,
            401,
            openai(
                "Incorrect API key provided: sk-proj-abcdefgh12345678. See the docs.",
                "",
                json!("invalid_api_key"),
            ),
            auth("Incorrect API key provided: [redacted]. See the docs."),
        ),
        (Anthropic, 401, anthropic("authentication_error", "invalid x-api-key"), auth("invalid x-api-key")),
        (
            Anthropic,
            403,
            anthropic("permission_error", "Your API key does not have permission"),
            auth("Your API key does not have permission"),
        ),
        (
            Gemini,
            400,
            gemini(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
            auth("API key not valid. Please pass a valid API key."),
        ),
        (
            Gemini,
            403,
            gemini(403, "PERMISSION_DENIED", "Quota exceeded for x"),
            quota("Quota exceeded for x"),
        ),
        (
            OpenAi,
            402,
            json!({"error": {"code": 402, "message": "Insufficient Balance"}}),
            quota("Insufficient Balance"),
        ),
        (OpenAi, 429, openai(spent, "insufficient_quota", json!("insufficient_quota")), quota(spent)),
        (
            Anthropic,
            400,
            anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
            quota("Your credit balance is too low to access the API."),
        ),
        (
            OpenAi,
            404,
            openai(
                "The model `gpt-9` does not exist or you do not have access to it.",
                "",
                json!("model_not_found"),
            ),
            unknown_model("The model `gpt-9` does not exist or you do not have access to it."),
        ),
        (Anthropic, 404, anthropic("not_found_error", "model: claude-9"), unknown_model("model: claude-9")),
        (
            Gemini,
            404,
            gemini(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta"),
            unknown_model("models/gemini-9 is not found for API version v1beta"),
        ),
        (
            OpenAi,
            404,
            json!({"error": {"message": "model \"llama9\" not found, try pulling it first"}}),
            unknown_model("model \"llama9\" not found, try pulling it first"),
        ),
        (OpenAi, 404, json!({"detail": "Not Found"}), invalid("Not Found")),
        (
            OpenAi,
            400,
            json!({"object": "error", "message": "Invalid model: x", "type": "invalid_model", "code": "1500"}),
            unknown_model("Invalid model: x"),
        ),
    ]);
    let page = Failure { status: 404, body: b"404 page not found\n", ..Failure::default() };
    assert_eq!(response(OpenAi, page), invalid("404 page not found"));
}

#[test]
fn gemini_says_quota_for_limits_per_minute_too() {
    let body = |quota: &str| {
        let message = "You exceeded your current quota, please check your plan and billing details.";
        json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": message, "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]}})
    };
    let words = "You exceeded your current quota, please check your plan and billing details.";
    let minute = body("GenerateRequestsPerMinutePerProjectPerModel-FreeTier");
    assert_eq!(answer(Gemini, 429, &minute), rate_limited(Some(34.0), words));
    let day = body("GenerateRequestsPerDayPerProjectPerModel-FreeTier");
    assert_eq!(answer(Gemini, 429, &day), quota(words));
}

#[test]
fn faults_of_the_service() {
    let timeout = ProviderError::Timeout { what: "its own answer", after: Duration::ZERO, retry_after: None };
    check(vec![
        (Anthropic, 529, anthropic("overloaded_error", "Overloaded"), overloaded("Overloaded")),
        (
            Anthropic,
            500,
            anthropic("api_error", "Internal server error"),
            overloaded("Internal server error"),
        ),
        (
            Gemini,
            503,
            gemini(503, "UNAVAILABLE", "The model is overloaded."),
            overloaded("The model is overloaded."),
        ),
        (OpenAi, 408, json!({"error": {"message": "Request timeout"}}), timeout.clone()),
        (Gemini, 504, gemini(504, "DEADLINE_EXCEEDED", "Deadline expired"), timeout),
        (
            OpenAi,
            500,
            json!({"error": "model runner has stopped: rate limit"}),
            overloaded("model runner has stopped: rate limit"),
        ),
    ]);
    let page = b"<html>\n<head><title>502 Bad Gateway</title></head><body>cloud</body></html>";
    let failure =
        Failure { status: 502, retry_after: Some(Duration::from_secs(3)), body: page, ..Failure::default() };
    let wanted = ProviderError::Overloaded {
        detail: "502 Bad Gateway".into(),
        retry_after: Some(Duration::from_secs(3)),
    };
    assert_eq!(response(OpenAi, failure), wanted);
}

#[test]
fn errors_inside_a_stream_say_what_they_are() {
    let cases = [
        (Anthropic, anthropic("overloaded_error", "Overloaded"), overloaded("Overloaded")),
        (Anthropic, json!({"type": "overloaded_error", "message": "Overloaded"}), overloaded("Overloaded")),
        (Anthropic, anthropic("rate_limit_error", "Slow down"), rate_limited(None, "Slow down")),
        (Anthropic, anthropic("authentication_error", "No"), auth("No")),
        (Anthropic, anthropic("billing_error", "Pay"), quota("Pay")),
        (OpenAi, json!({"error": {"code": 502, "message": "Upstream"}}), overloaded("Upstream")),
        (OpenAi, json!({"message": "Slow", "code": "rate_limit_exceeded"}), rate_limited(None, "Slow")),
        (
            OpenAi,
            json!({"message": "The server had an error", "type": "server_error"}),
            overloaded("The server had an error"),
        ),
        (OpenAi, json!("it broke"), reported("it broke")),
        (OpenAi, json!({"message": "wrong", "type": "invalid_request_error"}), invalid("wrong")),
        (OpenAi, json!({}), reported("error in the stream: no reason given")),
        (OpenAi, json!({"message": "x", "code": "flux_error"}), reported("x")),
        (OpenAi, json!({"code": "flux_error"}), reported("error in the stream: flux_error")),
        (Anthropic, anthropic("flux_error", "x"), reported("x")),
        (Gemini, gemini(0, "FLUX", "x"), reported("x")),
        (
            OpenAi,
            json!({"message": "Service temporarily unavailable", "code": "flux_error"}),
            overloaded("Service temporarily unavailable"),
        ),
        (Gemini, gemini(503, "UNAVAILABLE", "Busy"), overloaded("Busy")),
        (Gemini, json!({"status": "RESOURCE_EXHAUSTED", "message": "Slow"}), rate_limited(None, "Slow")),
        (Gemini, json!({"status": "INVALID_ARGUMENT", "message": "wrong"}), invalid("wrong")),
    ];
    for (kind, error, wanted) in cases {
        assert_eq!(in_stream(kind, &error), wanted, "{error}");
    }
}

#[test]
fn a_hostile_body_is_bounded_and_harmless() {
    let huge = openai(&"maximum context length is {limit} ".repeat(100_000), "", Value::Null);
    assert!(
        matches!(answer(OpenAi, 400, &huge), ProviderError::InvalidRequest { detail } if detail.chars().count() == 300)
    );
    let deep = "[".repeat(100_000);
    let failure = Failure { status: 400, body: deep.as_bytes(), ..Failure::default() };
    assert!(matches!(response(OpenAi, failure), ProviderError::InvalidRequest { .. }));
    let failure = Failure { status: 400, body: &[0xff, 0xfe, 0, b'<', 0x80], ..Failure::default() };
    assert!(matches!(response(Gemini, failure), ProviderError::InvalidRequest { .. }));
    let escapes = openai("a\u{1b}[2J\nb Bearer abcdefghijkl", "", Value::Null);
    assert_eq!(answer(OpenAi, 400, &escapes), invalid("a\\u{1b}[2J\\nb Bearer [redacted]"));
    let absurd = openai("maximum context length is 99999999999999999999999999 tokens", "", Value::Null);
    assert!(matches!(answer(OpenAi, 400, &absurd), ProviderError::InvalidRequest { .. }));
}

#[test]
fn errors_are_sentences_and_say_whether_to_try_again() {
    let network = ProviderError::Network { detail: "refused".into() };
    let slow =
        ProviderError::Timeout { what: "a connection", after: Duration::from_secs(10), retry_after: None };
    let cases = [
        (
            overflow(8_192, 9_000),
            false,
            "The request of 9000 tokens does not fit into the model's window of 8192.",
        ),
        (overflow(None, None), false, "The request does not fit into the model's window."),
        (
            ProviderError::OutputCap { limit: Some(5) },
            false,
            "The model writes at most 5 tokens; ask for fewer.",
        ),
        (auth("no"), false, "The service did not accept the API key: no"),
        (quota("no"), false, "The account's quota or credit is used up: no"),
        (rate_limited(Some(1.2), "slow"), true, "The service asks to wait 2 s before the next request: slow"),
        (hopeless("big"), false, "The request alone is larger than the service's rate limit: big"),
        (reported("odd"), false, "The service reports an error: odd"),
        (overloaded("busy"), true, "The service is overloaded or has a fault of its own: busy"),
        (network, true, "The connection to the service failed: refused"),
        (slow, true, "Nothing came for 10 s while waiting for a connection."),
        (invalid("x"), false, "The service cannot take the request: x"),
    ];
    for (error, retryable, sentence) in cases {
        assert_eq!((error.is_retryable(), error.to_string()), (retryable, sentence.to_owned()));
    }
}
