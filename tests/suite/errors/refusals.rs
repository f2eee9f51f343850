//! Parts of a request that a model or service does not take, where something else can be tried; and errors that only
//! mention such a part.

use super::*;
use Dialect::{ChatCompletions, Responses};
use Effort::{High, Low, Max, Medium, Xhigh};
use Unsupported::{
    CallIds, JsonSchema, LimitName, Pictures, ReasoningMissing, Replay, Summary, ThinkingType as Thinking,
    Tools, ToolsWithEffort,
};
use oneclaw_catalogue::ThinkingType;
use oneclaw_model::{Dialect, Effort};
use oneclaw_providers::Unsupported;

const BAD: &str = "invalid_request_error";

fn unsupported(what: Unsupported, detail: &str) -> ProviderError {
    ProviderError::Unsupported { what, detail: detail.into() }
}

/// The same words as an error of that kind of service: as an answer and in a stream.
fn check_words(kind: ProviderKind, cases: Vec<(&str, Unsupported)>) {
    for (words, what) in cases {
        let body = match kind {
            OpenAi => openai(words, BAD, Value::Null),
            Anthropic => anthropic(BAD, words),
            Gemini => gemini(400, "INVALID_ARGUMENT", words),
        };
        check_anywhere(vec![(kind, 400, body, unsupported(what, words))]);
    }
}

#[test]
fn summaries_of_reasoning() {
    let words = "Your organization must be verified to generate reasoning summaries. Please go to: \
                 https://platform.openai.com/settings/organization/general and click on Verify Organization.";
    check_words(
        OpenAi,
        vec![
            (words, Summary),
            ("Unsupported parameter: 'reasoning.summary' is not supported with this model.", Summary),
            ("Unsupported value: 'reasoning.summary' does not support 'auto' with this model.", Summary),
        ],
    );
}

#[test]
fn efforts_and_their_lists() {
    let effort = Unsupported::Effort;
    check_words(
        OpenAi,
        vec![
            (
                "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: \
                 'low', 'medium', 'high', 'xhigh', and 'max'.",
                effort(vec![Low, Medium, High, Xhigh, Max]),
            ),
            (
                "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.",
                effort(vec![]),
            ),
            ("Unsupported parameter: 'reasoning_effort' is not supported with this model.", effort(vec![])),
            ("Unsupported parameter: 'reasoning.effort' is not supported with this model.", effort(vec![])),
            // xAI, Groq, DeepSeek, OpenRouter
            ("Model grok-4 does not support parameter reasoningEffort.", effort(vec![])),
            ("Argument not supported on this model: reasoning_effort", effort(vec![])),
            ("`reasoning_effort` must be one of `low`, `medium`, or `high`", effort(vec![Low, Medium, High])),
            (
                "Failed to deserialize the JSON body: reasoning_effort: unknown variant `none`, expected one of \
                 `high`, `max` at line 1 column 20",
                effort(vec![High, Max]),
            ),
            ("Reasoning is mandatory for this endpoint and cannot be disabled.", effort(vec![])),
            ("Unrecognized request argument supplied: reasoning_effort", effort(vec![])),
        ],
    );
    check_words(
        Anthropic,
        vec![
            ("This model does not support the effort parameter.", effort(vec![])),
            (
                "output_config.effort: Input should be 'low', 'medium' or 'high'",
                effort(vec![Low, Medium, High]),
            ),
            ("output_config: Extra inputs are not permitted", effort(vec![])),
        ],
    );
    let by_param = json!({"error": {"message": "Invalid value: 'none'. Supported values are: 'low' and 'high'.",
        "type": BAD, "param": "reasoning.effort", "code": "invalid_value"}});
    let words = "Invalid value: 'none'. Supported values are: 'low' and 'high'.";
    assert_eq!(answer(OpenAi, 400, &by_param), unsupported(effort(vec![Low, High]), words));
}

#[test]
fn types_of_thinking() {
    use ThinkingType::{Adaptive, BetweenTools, Disabled, Enabled};
    check_words(
        Anthropic,
        vec![
            (
                "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
                 \"output_config.effort\" to control thinking behavior.",
                Thinking(vec![Adaptive]),
            ),
            (
                "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.between_tools\" or \
                 \"thinking.type.adaptive\".",
                Thinking(vec![Adaptive, BetweenTools]),
            ),
            ("thinking: Extra inputs are not permitted", Thinking(vec![])),
            ("adaptive thinking is not supported on this model", Thinking(vec![])),
            (
                "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: \
                 'disabled', 'enabled'",
                Thinking(vec![Enabled, Disabled]),
            ),
        ],
    );
    check_words(
        OpenAi,
        vec![
            ("Unrecognized request argument supplied: thinking", Thinking(vec![])),
            ("invalid thinking: only type=enabled is allowed for this model", Thinking(vec![Enabled])),
        ],
    );
}

#[test]
fn reasoning_that_went_back_or_did_not() {
    check_words(
        Anthropic,
        [
            "messages.3.content.0: Invalid `signature` in `thinking` block",
            "messages.3.content.0: Invalid `signature` in `thinking` block. The block is bound to a different \
             conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".",
            "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
             modified. These blocks must remain as they were in the original response.",
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        ]
        .map(|words| (words, Replay))
        .to_vec(),
    );
    check_words(
        OpenAi,
        [
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
            "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or \
             parsed.",
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
        ]
        .map(|words| (words, Replay))
        .to_vec(),
    );
    check_words(
        Gemini,
        [
            "Invalid thought signature.",
            "Corrupted thought signature.",
            "Thought signature is not valid",
            "Function call is missing a thought_signature in functionCall parts.",
        ]
        .map(|words| (words, Replay))
        .to_vec(),
    );
    check_words(
        OpenAi,
        [
            "The `reasoning_content` in the thinking mode must be passed back to the API.",
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        ]
        .map(|words| (words, ReasoningMissing))
        .to_vec(),
    );
    let lost = "Item with id 'rs_1' not found.";
    let failure = |dialect| Failure {
        host: "gateway.example",
        dialect: Some(dialect),
        status: 404,
        body: br#"{"error":{"message":"Item with id 'rs_1' not found."}}"#,
        ..Failure::default()
    };
    assert_eq!(response(OpenAi, failure(Responses)), unsupported(Replay, lost));
}

#[test]
fn names_of_limits_ids_schemas_pictures_and_tools() {
    check_words(
        OpenAi,
        vec![
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' \
                 instead.",
                LimitName(true),
            ),
            ("Unrecognized request argument supplied: max_completion_tokens", LimitName(false)),
            ("property 'max_completion_tokens' is unsupported", LimitName(false)),
            ("body.max_completion_tokens: Extra inputs are not permitted", LimitName(false)),
            ("Model x does not support image input", Pictures),
            ("image input is not supported - hint: you may need to provide the mmproj", Pictures),
            ("Invalid content type. image_url is only supported by certain models.", Pictures),
            (
                "Failed to deserialize the JSON body into the target type: messages[0]: unknown variant `image_url`, \
                 expected `text` at line 1 column 9",
                Pictures,
            ),
            ("registry.ollama.ai/library/gemma:2b does not support tools", Tools),
            ("tools param requires --jinja flag", Tools),
            (
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
                Tools,
            ),
        ],
    );
    check_words(
        Gemini,
        vec![
            ("functionResponse.id does not match functionCall.id", CallIds),
            (
                "Invalid JSON payload received. Unknown name \"id\" at 'contents[1].parts[0].function_call': Cannot find \
                 field.",
                CallIds,
            ),
            (
                "Invalid JSON payload received. Unknown name \"parametersJsonSchema\" at \
                 'tools[0].function_declarations[0]': Cannot find field.",
                JsonSchema,
            ),
            ("Function calling is not enabled for models/gemma-3-27b-it", Tools),
        ],
    );
    let fastapi = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "max_completion_tokens"],
        "msg": "Extra inputs are not permitted", "input": 100}]});
    let words = "body.max_completion_tokens: Extra inputs are not permitted";
    let mistral = json!({"object": "error", "message": fastapi, "type": BAD, "param": null, "code": null});
    let none = |words| json!({"error": {"message": words, "code": 404}});
    let (no_pictures, no_tools) =
        ("No endpoints found that support image input", "No endpoints found that support tool use.");
    check(vec![
        (OpenAi, 422, fastapi, unsupported(LimitName(false), words)),
        (OpenAi, 422, mistral, unsupported(LimitName(false), words)),
        (OpenAi, 404, none(no_pictures), unsupported(Pictures, no_pictures)),
        (OpenAi, 404, none(no_tools), unsupported(Tools, no_tools)),
        (
            OpenAi,
            500,
            json!({"error": {"code": 500, "type": "server_error", "message": "tools param requires --jinja flag"}}),
            unsupported(Tools, "tools param requires --jinja flag"),
        ),
    ]);
}

fn at(host: &str, dialect: Dialect, status: u16, body: &str) -> ProviderError {
    let dialect = Some(dialect);
    response(OpenAi, Failure { host, dialect, status, body: body.as_bytes(), retry_after: None })
}

#[test]
fn another_dialect() {
    let only = "This model is only supported in v1/responses and not in v1/chat/completions.";
    let body = openai(only, BAD, Value::Null).to_string();
    for status in [400, 404] {
        let wanted = unsupported(Unsupported::Dialect(Responses), only);
        assert_eq!(at("api.openai.com", ChatCompletions, status, &body), wanted);
        assert_eq!(at("gateway.example", ChatCompletions, status, &body), wanted);
    }
    let both = "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use \
                function tools, use /v1/responses or set reasoning_effort to 'none'.";
    let body = openai(both, BAD, Value::Null).to_string();
    let wanted = unsupported(Unsupported::Dialect(Responses), both);
    assert_eq!(at("api.openai.com", ChatCompletions, 400, &body), wanted);
    assert_eq!(at("gateway.example", ChatCompletions, 400, &body), unsupported(ToolsWithEffort, both));

    let not_chat = "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to \
                    use v1/completions?";
    let body = openai(not_chat, BAD, Value::Null).to_string();
    let wanted = unsupported(Unsupported::Dialect(Responses), not_chat);
    assert_eq!(at("api.openai.com", ChatCompletions, 404, &body), wanted);
    assert_eq!(at("gateway.example", ChatCompletions, 404, &body), invalid(not_chat));

    let chat = |detail| unsupported(Unsupported::Dialect(ChatCompletions), detail);
    let not_here = "This model is not supported in v1/responses; use v1/chat/completions.";
    let body = openai(not_here, BAD, Value::Null).to_string();
    assert_eq!(at("api.openai.com", Responses, 400, &body), chat(not_here));
    // A server that does not know the path says no more than that.
    for (status, body, detail) in [
        (404, r#"{"detail":"Not Found"}"#, "Not Found"),
        (404, "404 page not found", "404 page not found"),
        (404, "", "HTTP 404"),
        (405, r#"{"detail":"Method Not Allowed"}"#, "Method Not Allowed"),
        (501, "", "HTTP 501"),
    ] {
        assert_eq!(at("127.0.0.1", Responses, status, body), chat(detail), "{status} {body}");
    }
    assert_eq!(at("127.0.0.1", ChatCompletions, 404, ""), invalid("HTTP 404"));
    assert_eq!(at("api.openai.com", Responses, 404, ""), invalid("HTTP 404"));
    let body = openai("The model `x` does not exist", BAD, json!("model_not_found")).to_string();
    assert_eq!(at("127.0.0.1", Responses, 404, &body), unknown_model("The model `x` does not exist"));
}

/// Errors that mention such a part and refuse something else.
#[test]
fn a_mention_is_no_refusal() {
    let cases = [
        "Unsupported parameter: 'temperature' is not supported with reasoning_effort other than 'none'.",
        "max_tokens must be at least 16",
        "max_tokens: Input should be greater than or equal to 1",
        "messages.1.content.0.thinking: Field required",
        "messages.1.content.0.thinking: Extra inputs are not permitted",
        "Invalid 'tools': array too long. Expected at most 128.",
        "Invalid 'tools[0].function.name': string does not match pattern.",
        "tool_choice is not supported",
        "thinking.budget_tokens: Field required",
        "The image could not be read.",
        "Unsupported image format: image/heic",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "Invalid reasoning item",
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
    ];
    for words in cases {
        check_anywhere(vec![(OpenAi, 400, openai(words, BAD, Value::Null), invalid(words))]);
    }
    // What was sent may be quoted beside the complaint, and does not count.
    let quoted = json!({"detail": [{"type": "string_type", "loc": ["body", "messages", 0, "content"],
        "msg": "Input should be a valid string", "input": "x does not support tools"}]});
    let words = "body.messages.0.content: Input should be a valid string";
    check(vec![(OpenAi, 422, quoted, invalid(words))]);
    // A status that says something else settles it.
    let words = "x does not support tools";
    check(vec![
        (OpenAi, 401, openai(words, "", Value::Null), auth(words)),
        (OpenAi, 429, openai(words, "", Value::Null), rate_limited(None, words)),
        (OpenAi, 503, openai(words, "", Value::Null), overloaded(words)),
    ]);
}

#[test]
fn models_that_were_switched_off() {
    check(
        [
            (404, "The model `gpt-4-32k` has been deprecated, learn more here: https://platform.openai.com/docs"),
            (400, "The model `llama3-8b-8192` has been decommissioned and is no longer supported."),
            (410, "The model x has been shut down."),
            (404, "This model models/gemini-2.0-flash is no longer available."),
            (400, "This model has been retired."),
        ]
        .map(|(status, words)| (OpenAi, status, openai(words, BAD, Value::Null), unknown_model(words)))
        .to_vec(),
    );
}

/// The codes of a reply that failed in the middle (Responses).
#[test]
fn failed_replies() {
    let refused = |detail: &str| ProviderError::Refused { detail: detail.into() };
    for (code, wanted) in [
        ("server_error", overloaded("x")),
        ("rate_limit_exceeded", rate_limited(None, "x")),
        ("invalid_prompt", refused("x")),
        ("bio_policy", refused("x")),
        ("misalignment_policy_violation", refused("x")),
        ("image_content_policy_violation", refused("x")),
        ("context_length_exceeded", overflow(None, None)),
        ("invalid_image_format", invalid("x")),
        ("image_file_too_large", bytes("x")),
    ] {
        assert_eq!(in_stream(OpenAi, &json!({"code": code, "message": "x"})), wanted, "{code}");
    }
}
