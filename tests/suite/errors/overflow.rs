//! More ways of saying "too long".

use super::*;

#[test]
fn servers_of_every_make() {
    let invalid = "invalid_request_error";
    check_anywhere(vec![
        // OpenAI, vLLM
        (
            OpenAi,
            400,
            openai(
                "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. \
                 Please reduce the length of the messages.",
                invalid,
                json!("context_length_exceeded"),
            ),
            overflow(272_000, 300_123),
        ),
        (
            OpenAi,
            400,
            openai(
                "This model's maximum context length is 4096 tokens. However, your request has 5012 input tokens. Please \
                 reduce the length of the input messages.",
                "BadRequestError",
                json!(400),
            ),
            overflow(4_096, 5_012),
        ),
        (
            OpenAi,
            400,
            openai(
                "This model's maximum context length is 4096 tokens. However, you requested 500 output tokens and your \
                 prompt contains at least 3700 input tokens, for a total of at least 4200 tokens.",
                "BadRequestError",
                json!(400),
            ),
            overflow(4_096, 4_200),
        ),
        // Together, Poolside
        (
            OpenAi,
            400,
            openai(
                "The input (140000 tokens) is longer than the model's context length (131072 tokens).",
                invalid,
                Value::Null,
            ),
            overflow(131_072, 140_000),
        ),
        (
            OpenAi,
            400,
            openai(
                "Input length (9000) exceeds model's maximum context length (8192).",
                invalid,
                Value::Null,
            ),
            overflow(8_192, 9_000),
        ),
        (
            OpenAi,
            400,
            openai(
                "Input length 9000 exceeds the maximum allowed input length of 8192 tokens.",
                invalid,
                Value::Null,
            ),
            overflow(8_192, 9_000),
        ),
        // SGLang, Bedrock, TGI, Cohere
        (
            OpenAi,
            400,
            openai(
                "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of \
                 9000 tokens: 8500 tokens from the input messages and 500 tokens for the completion.",
                invalid,
                Value::Null,
            ),
            overflow(8_192, 9_000),
        ),
        (
            OpenAi,
            400,
            openai("prompt tokens (9000) exceed model maximum (8192)", invalid, Value::Null),
            overflow(8_192, 9_000),
        ),
        (
            OpenAi,
            422,
            json!({"error_type": "validation", "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be \
                <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`"}),
            overflow(4_096, 4_500),
        ),
        (
            OpenAi,
            400,
            json!({"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 tokens - received \
                4292. Try using a shorter prompt."}),
            overflow(4_081, 4_292),
        ),
        (
            OpenAi,
            400,
            openai("input too long: 9000 input tokens, limit is 8192", invalid, Value::Null),
            overflow(8_192, 9_000),
        ),
        // Ollama, z.ai, LiteLLM
        (
            OpenAi,
            400,
            json!({"error": "prompt too long; exceeded max context length by 120 tokens"}),
            overflow(None, None),
        ),
        (OpenAi, 400, openai("\u{8f93}\u{5165}", "", json!("1261")), overflow(None, None)),
        (
            OpenAi,
            400,
            openai(
                "litellm.ContextWindowExceededError: litellm.BadRequestError: Context Window exceeded for given call",
                "",
                Value::Null,
            ),
            overflow(None, None),
        ),
    ]);
}

/// Wordings that were reported from servers in use, each as a mere text, as an error object and in a stream.
#[test]
fn wordings_without_a_list() {
    for (words, limit, requested) in [
        (
            "input (9001 tokens) is longer than the model's context length (8192 tokens)",
            Some(8_192),
            Some(9_001),
        ),
        ("Input length (9001) exceeds the model's maximum context length (8192).", Some(8_192), Some(9_001)),
        (
            "Prompt has 9,001 tokens, but the configured context size is 8,192 tokens",
            Some(8_192),
            Some(9_001),
        ),
        ("tokens in request more than max tokens allowed", None, None),
        ("token limit exceeded", None, None),
        ("context_length_exceeded", None, None),
        ("model_context_window_exceeded", None, None),
        ("Prompt is 11543 tokens but the model context window is 4096 tokens.", Some(4_096), Some(11_543)),
        ("Prompt tokens (9001) exceeds context size (8192)", Some(8_192), Some(9_001)),
        ("input length 9001 tokens exceeds the model limit of 8192 tokens", Some(8_192), Some(9_001)),
        ("Context size has been exceeded.", None, None),
        ("Input token count exceeds the maximum number of input tokens", None, None),
        ("Codex ran out of room in the model's context window", None, None),
    ] {
        let wanted = overflow(limit, requested);
        for body in [
            json!({"error": words}),
            json!({"message": words}),
            openai(words, "invalid_request_error", Value::Null),
        ] {
            assert_eq!(answer(OpenAi, 400, &body), wanted, "{body}");
            assert_eq!(in_stream(OpenAi, &body), wanted, "in a stream: {body}");
        }
        assert_eq!(answer(Anthropic, 400, &anthropic("invalid_request_error", words)), wanted, "{words}");
        assert_eq!(answer(Gemini, 400, &gemini(400, "INVALID_ARGUMENT", words)), wanted, "{words}");
    }
    // By a code of its own, with numbers in words that nobody lists.
    let coded = openai("8192 is the limit; 9001 were sent", "", json!("context_exceeded"));
    assert_eq!(answer(OpenAi, 400, &coded), overflow(8_192, 9_001));
}

#[test]
fn sounds_that_are_none() {
    for (words, wanted) in [
        (
            "token limit exceeded: 40000 tokens per minute",
            rate_limited(None, "token limit exceeded: 40000 tokens per minute"),
        ),
        ("token limit exceeded: 100000 tokens per day", quota("token limit exceeded: 100000 tokens per day")),
        ("Monthly token limit exceeded", invalid("Monthly token limit exceeded")),
        ("vision tokens exceed processor budget", invalid("vision tokens exceed processor budget")),
        (
            "max_tokens (384000) exceeds model's maximum output tokens (65536)",
            ProviderError::OutputCap { limit: Some(65_536) },
        ),
        ("Image exceeds 5 MB", bytes("Image exceeds 5 MB")),
        (
            "`max_tokens` must be greater than `thinking.budget_tokens`",
            invalid("`max_tokens` must be greater than `thinking.budget_tokens`"),
        ),
    ] {
        let body = openai(words, "invalid_request_error", Value::Null);
        assert_eq!(answer(OpenAi, 400, &body), wanted, "{words}");
        assert_eq!(in_stream(OpenAi, &body), wanted, "in a stream: {words}");
    }
}

/// More output than a model gives, in the words of all services and of some servers, with the number taken out.
#[test]
fn caps_of_the_reply() {
    let bad = "invalid_request_error";
    let say = |words: &str| openai(words, bad, Value::Null);
    let vertex = "Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from \
                  1 (inclusive) to 16385 (exclusive). Update the value and try again.";
    let claude =
        "max_tokens: 32000 > 16384, which is the maximum allowed number of output tokens for claude-x";
    for (kind, body) in [
        (
            OpenAi,
            say(
                "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.",
            ),
        ),
        (OpenAi, say("This model supports at most 16384 completion tokens, whereas you provided 32000.")),
        (
            OpenAi,
            say(
                "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got 32000 instead.",
            ),
        ),
        (OpenAi, say("Invalid max_tokens value, the valid range of max_tokens is [1, 16384]")),
        (
            OpenAi,
            say(
                "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model",
            ),
        ),
        (OpenAi, say("max_tokens for `x` must be less than or equal to 16384")),
        (
            OpenAi,
            say(
                "The maximum tokens you requested exceeds the model limit of 16384. Try again with a lower value.",
            ),
        ),
        (OpenAi, say("max_tokens (32000) exceeds model's maximum output tokens (16384) for model x:0731")),
        (Anthropic, anthropic(bad, claude)),
        (
            Anthropic,
            anthropic(
                bad,
                "max_tokens: 32,000 > 16,384, which is the maximum allowed number of output tokens for claude-x",
            ),
        ),
        (Gemini, gemini(400, "INVALID_ARGUMENT", vertex)),
        (Gemini, gemini(400, "INVALID_ARGUMENT", "max_output_tokens must be within the range [1, 16385)")),
    ] {
        let wanted = ProviderError::OutputCap { limit: Some(16_384) };
        assert_eq!(answer(kind, 400, &body), wanted, "{body}");
        assert_eq!(in_stream(kind, &body), wanted, "in a stream: {body}");
    }
    let vague = say("max_tokens is too large: 32000");
    assert_eq!(answer(OpenAi, 400, &vague), ProviderError::OutputCap { limit: None });
}
