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
