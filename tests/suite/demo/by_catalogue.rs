//! What OpenAI's models refuse by the catalogue, and what holds for the models of all services.

use super::client::{ALL, Form, Protocol, check, get, known, known_with, post, with};
use oneclaw_catalogue::{Facts, Vendor};
use oneclaw_demo::{Config, Server};
use serde_json::{Value, json};

const TOOL: &str = r#"[{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]"#;

fn chat(model: &str, fields: Value) -> Value {
    with(with(Protocol::OpenAi.ask("hi"), json!({"model": model})), fields)
}

fn respond(model: &str, fields: Value) -> Value {
    with(with(Protocol::Responses.ask("hi"), json!({"model": model})), fields)
}

#[tokio::test]
async fn chat_completions_are_not_for_every_model() {
    let server = known(&["gpt-5-pro", "gpt-6-sol", "gpt-5.4", "gpt-5", "gpt-6-astra"]).await;
    let tools: Value = serde_json::from_str(TOOL).unwrap();
    let only = "This model is only supported in v1/responses and not in v1/chat/completions.";
    let none = "Function tools with reasoning_effort are not supported for gpt-6-sol in /v1/chat/completions. To use \
                function tools, use /v1/responses or set reasoning_effort to 'none'.";
    let cases = [
        (chat("gpt-5-pro", json!({})), 404, only),
        // Tools only without reasoning, which has to be said.
        (chat("gpt-6-sol", json!({})), 200, ""),
        (chat("gpt-6-sol", json!({"tools": tools})), 400, none),
        (chat("gpt-6-sol", json!({"tools": tools, "reasoning_effort": "low"})), 400, none),
        (chat("gpt-6-sol", json!({"tools": tools, "reasoning_effort": "none"})), 200, ""),
        // Tools without a word about it, or without reasoning.
        (chat("gpt-5.4", json!({"tools": tools})), 200, ""),
        (chat("gpt-5.4", json!({"tools": tools, "reasoning_effort": "none"})), 200, ""),
        (
            chat("gpt-5.4", json!({"tools": tools, "reasoning_effort": "low"})),
            400,
            "are not supported for gpt-5.4",
        ),
        (chat("gpt-5", json!({"tools": tools, "reasoning_effort": "low"})), 200, ""),
    ];
    check(&server, Protocol::OpenAi, &cases).await;
    let flat = json!([{"type": "function", "name": "f", "parameters": {}, "strict": false}]);
    check(
        &server,
        Protocol::Responses,
        &[
            (respond("gpt-5-pro", json!({})), 200, ""),
            (respond("gpt-6-sol", json!({"tools": flat})), 200, ""),
            (respond("gpt-6-astra", json!({"tools": flat, "reasoning": {"effort": "max"}})), 200, ""),
        ],
    )
    .await;
}

#[tokio::test]
async fn efforts_are_those_of_the_model() {
    let server = known(&["gpt-6-astra", "gpt-6-sol", "gpt-5", "gpt-4o"]).await;
    let effort = |effort: &str| json!({"reasoning_effort": effort});
    let cases = [
        (
            chat("gpt-5", effort("none")),
            400,
            "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: \
             'minimal', 'low', 'medium', and 'high'.",
        ),
        (chat("gpt-5", effort("minimal")), 200, ""),
        // The highest is for Responses only.
        (chat("gpt-6-sol", effort("max")), 400, "does not support 'max'"),
        (chat("gpt-6-sol", effort("xhigh")), 200, ""),
        (chat("gpt-6-sol", effort("extreme")), 400, "Invalid value: 'extreme'."),
        (
            chat("gpt-4o", effort("low")),
            400,
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        ),
    ];
    check(&server, Protocol::OpenAi, &cases).await;
    let effort = |effort: &str| json!({"reasoning": {"effort": effort}});
    let cases = [
        (
            respond("gpt-6-astra", effort("none")),
            400,
            "Unsupported value: 'none' is not supported with the 'gpt-6-astra' model. Supported values are: 'low', \
             'medium', 'high', 'xhigh', and 'max'.",
        ),
        (respond("gpt-6-astra", effort("max")), 200, ""),
        (respond("gpt-6-sol", effort("none")), 200, ""),
        (respond("gpt-4o", effort("low")), 400, "Unsupported parameter: 'reasoning.effort' is not supported"),
        (
            respond("gpt-4o", json!({"reasoning": {"summary": "auto"}})),
            400,
            "'reasoning.summary' is not supported",
        ),
    ];
    check(&server, Protocol::Responses, &cases).await;
}

#[tokio::test]
async fn parameters_are_those_of_the_model() {
    let server = known(&["gpt-6-sol", "gpt-5.4", "gpt-4o"]).await;
    let cases = [
        (chat("gpt-6-sol", json!({"max_tokens": 10})), 400, "Use 'max_completion_tokens' instead."),
        (chat("gpt-6-sol", json!({"max_completion_tokens": 10})), 200, ""),
        (chat("gpt-4o", json!({"max_tokens": 10})), 200, ""),
        (
            chat("gpt-6-sol", json!({"temperature": 0.5})),
            400,
            "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
        ),
        (chat("gpt-6-sol", json!({"temperature": 1})), 200, ""),
        (chat("gpt-6-sol", json!({"top_p": 0.5})), 400, "'top_p' is not supported with this model."),
        (chat("gpt-6-sol", json!({"logprobs": true})), 400, "'logprobs' is not supported with this model."),
        (chat("gpt-6-sol", json!({"top_p": 0.5, "reasoning_effort": "none"})), 200, ""),
        // It does not reason unless it is told to.
        (chat("gpt-5.4", json!({"temperature": 0.5})), 200, ""),
        (
            chat("gpt-5.4", json!({"temperature": 0.5, "reasoning_effort": "low"})),
            400,
            "'temperature' does not support 0.5",
        ),
        (chat("gpt-5.4", json!({"stop": ["x"]})), 400, "'stop' is not supported with this model."),
        (
            chat("gpt-5.4", json!({"presence_penalty": 0.5})),
            400,
            "'presence_penalty' is not supported with this model.",
        ),
        (chat("gpt-4o", json!({"temperature": 0.5, "top_p": 0.5, "stop": ["x"], "logprobs": true})), 200, ""),
    ];
    check(&server, Protocol::OpenAi, &cases).await;
    let cases = [
        (
            respond("gpt-6-sol", json!({"temperature": 0.5})),
            400,
            "'temperature' is not supported with this model.",
        ),
        (respond("gpt-6-sol", json!({"temperature": 0.5, "reasoning": {"effort": "none"}})), 200, ""),
        (respond("gpt-4o", json!({"temperature": 0.5})), 200, ""),
    ];
    check(&server, Protocol::Responses, &cases).await;
}

/// Facts by hand: those of a model of the catalogue under another name, without an ability.
fn blind(vendor: Vendor, model: &str, id: &str) -> Facts {
    let facts = oneclaw_catalogue::find(vendor, model).unwrap();
    Facts { id: id.into(), abilities: vec![], ..facts }
}

async fn helpless() -> Server {
    let facts = vec![
        blind(Vendor::OpenAi, "gpt-4o", "openai-x"),
        blind(Vendor::Anthropic, "claude-opus-4-6", "claude-x"),
        blind(Vendor::Gemini, "gemini-2.5-flash", "gemini-x"),
    ];
    known_with(&["openai-x", "claude-x", "gemini-x", "demo"], Config { facts, ..Config::default() }).await
}

#[tokio::test]
async fn what_a_model_cannot_do_is_refused() {
    let server = helpless().await;
    let tools: Value = serde_json::from_str(TOOL).unwrap();
    let data = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA";
    let url = format!("data:image/png;base64,{data}");
    let seen = |model: &str| {
        let content = json!([{"type": "image_url", "image_url": {"url": url}}]);
        chat(model, json!({"messages": [{"role": "user", "content": content}]}))
    };
    check(
        &server,
        Protocol::OpenAi,
        &[
            (
                chat("openai-x", json!({"tools": tools})),
                400,
                "Unsupported parameter: 'tools' is not supported",
            ),
            (seen("openai-x"), 400, "Invalid content type. image_url is only supported by certain models."),
            (chat("demo", json!({"tools": tools})), 200, ""),
            (seen("demo"), 200, ""),
        ],
    )
    .await;
    let picture = json!([{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]);
    let flat = json!([{"type": "function", "name": "f", "parameters": {}, "strict": false}]);
    check(
        &server,
        Protocol::Responses,
        &[
            (
                respond("openai-x", json!({"tools": flat})),
                400,
                "Unsupported parameter: 'tools' is not supported",
            ),
            (respond("openai-x", json!({"input": picture})), 400, "only supported by certain models"),
        ],
    )
    .await;
    let claude =
        |fields: Value| with(with(Protocol::Anthropic.ask("hi"), json!({"model": "claude-x"})), fields);
    let source = json!({"type": "base64", "media_type": "image/png", "data": data});
    let picture = json!([{"role": "user", "content": [{"type": "image", "source": source}]}]);
    let tools = json!([{"name": "f", "input_schema": {"type": "object"}}]);
    check(
        &server,
        Protocol::Anthropic,
        &[
            (claude(json!({})), 200, ""),
            (claude(json!({"tools": tools})), 400, "'claude-x' does not support tools."),
            (claude(json!({"messages": picture})), 400, "'claude-x' does not support image input."),
        ],
    )
    .await;
    let gemini = |fields: Value| with(with(Protocol::Gemini.ask("hi"), json!({"model": "gemini-x"})), fields);
    let tools = json!([{"functionDeclarations": [{"name": "f"}]}]);
    let picture =
        json!([{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]}]);
    check(
        &server,
        Protocol::Gemini,
        &[
            (gemini(json!({})), 200, ""),
            (gemini(json!({"tools": tools})), 400, "Function calling is not enabled for models/gemini-x"),
            (
                gemini(json!({"contents": picture})),
                400,
                "Image input modality is not enabled for models/gemini-x",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn models_that_are_switched_off_are_gone() {
    let models = ["o3-mini", "claude-opus-4-20250514", "gemini-2.0-flash", "claude-sonnet-4-5", "demo"];
    let server = known(&models).await;
    let openai = "The model `o3-mini` has been deprecated, learn more here: ";
    let of = |protocol: Protocol, model: &str| with(protocol.ask("hi"), json!({"model": model}));
    for (protocol, model, words) in [
        (Protocol::OpenAi, "o3-mini", openai),
        (Protocol::Responses, "o3-mini", openai),
        (Protocol::Anthropic, "claude-opus-4-20250514", "model: claude-opus-4-20250514"),
        (Protocol::Gemini, "gemini-2.0-flash", "This model models/gemini-2.0-flash is no longer available."),
    ] {
        check(&server, protocol, &[(of(protocol, model), 404, words)]).await;
    }
    check(&server, Protocol::Anthropic, &[(of(Protocol::Anthropic, "claude-sonnet-4-5"), 200, "")]).await;
    let version = [("anthropic-version", "2023-06-01")];
    let listed = |list: Value| -> Vec<String> {
        list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap().into()).collect()
    };
    let claude = get(&server, "/v1/models", &version).await.json();
    assert_eq!(listed(claude.clone()), ["o3-mini", "gemini-2.0-flash", "claude-sonnet-4-5", "demo"]);
    let ending = &claude["data"][2];
    assert_eq!(
        (&ending["lifecycle"], &ending["retires_at"]),
        (&json!("deprecated"), &json!("2026-11-30T00:00:00Z"))
    );
    assert_eq!(get(&server, "/v1/models/o3-mini", &[]).await.status, 404);
    // On another day it is another matter.
    let day = |text: &str| text.to_owned().try_into().unwrap();
    let before = known_with(&models, Config { today: day("2026-10-22"), ..Config::default() }).await;
    check(&before, Protocol::OpenAi, &[(of(Protocol::OpenAi, "o3-mini"), 200, "")]).await;
    let after = known_with(&models, Config { today: day("2026-11-30"), ..Config::default() }).await;
    let gone = of(Protocol::Anthropic, "claude-sonnet-4-5");
    check(&after, Protocol::Anthropic, &[(gone, 404, "model: claude-sonnet-4-5")]).await;
    // A server without the catalogue has them all.
    let plain = known_with(&models, Config { uses_catalogue: false, ..Config::default() }).await;
    check(&plain, Protocol::OpenAi, &[(of(Protocol::OpenAi, "o3-mini"), 200, "")]).await;
}

/// How much each model reasons, by how it is told.
#[tokio::test]
async fn reasoning_takes_its_room_first() {
    let models = [
        "gpt-6-sol",
        "gpt-6-astra",
        "claude-opus-5-5",
        "claude-sonnet-5",
        "gemini-2.5-flash",
        "gemini-3.8-flash",
        "demo",
    ];
    let server = known_with(&models, Config { reasoning_tokens: 3_000, ..Config::default() }).await;
    let cases = [
        (Protocol::OpenAi, "gpt-6-sol", json!({}), 3_000),
        (Protocol::OpenAi, "gpt-6-sol", json!({"reasoning_effort": "none"}), 0),
        (Protocol::Responses, "gpt-6-astra", json!({}), 3_000),
        (Protocol::Responses, "gpt-6-astra", json!({"reasoning": {"effort": "low"}}), 300),
        (Protocol::Anthropic, "claude-opus-5-5", json!({}), 3_000),
        (Protocol::Anthropic, "claude-opus-5-5", json!({"output_config": {"effort": "low"}}), 300),
        (Protocol::Anthropic, "claude-sonnet-5", json!({"thinking": {"type": "disabled"}}), 0),
        (Protocol::Gemini, "gemini-2.5-flash", json!({}), 3_000),
        (Protocol::Gemini, "gemini-2.5-flash", json!({"thinkingConfig": {"thinkingBudget": 0}}), 0),
        (Protocol::Gemini, "gemini-3.8-flash", json!({"thinkingConfig": {"thinkingLevel": "LOW"}}), 300),
        (Protocol::OpenAi, "demo", json!({}), 0),
        (Protocol::Anthropic, "demo", json!({}), 0),
    ];
    for (protocol, model, fields, expected) in cases {
        for cap in [2_000, 5_000] {
            let mut ask = with(protocol.ask("Write 100 words about rivers."), json!({"model": model}));
            let fields = match protocol {
                Protocol::OpenAi => with(fields.clone(), json!({"max_completion_tokens": cap})),
                Protocol::Anthropic => with(fields.clone(), json!({"max_tokens": cap})),
                Protocol::Responses => with(fields.clone(), json!({"max_output_tokens": cap})),
                Protocol::Gemini => {
                    json!({"generationConfig": with(fields.clone(), json!({"maxOutputTokens": cap}))})
                }
            };
            ask = with(ask, fields);
            let answer = protocol.send(&server, Form::Whole, &ask).await.unwrap();
            assert_eq!(answer.status, 200, "{protocol:?} {model} {}", answer.text());
            let is_silent = protocol.text(&answer, Form::Whole).is_empty();
            assert_eq!(is_silent, expected >= cap, "{protocol:?} {model} {ask}");
            let reasoning = server.log().last().unwrap().usage.unwrap().reasoning;
            assert_eq!(reasoning, expected.min(cap), "{protocol:?} {model} {ask}");
        }
    }
}

#[tokio::test]
async fn counting_refuses_what_asking_refuses() {
    let server = known(&["gpt-6-astra", "claude-opus-5-5", "gemini-3.8-flash"]).await;
    let version = [("anthropic-version", "2023-06-01")];
    let wrong = with(
        Protocol::Anthropic.ask("hi"),
        json!({"model": "claude-opus-5-5", "max_tokens": null, "thinking": {"type": "disabled"}}),
    );
    let path = "/v1/messages/count_tokens";
    assert_eq!(post(&server, path, &version, &wrong).await.unwrap().status, 400);
    let right = with(wrong, json!({"thinking": {"type": "adaptive"}}));
    assert_eq!(post(&server, path, &version, &right).await.unwrap().json(), json!({"input_tokens": 8}));
    let wrong = respond("gpt-6-astra", json!({"reasoning": {"effort": "none"}}));
    assert_eq!(post(&server, "/v1/responses/input_tokens", &[], &wrong).await.unwrap().status, 400);
    let path = "/v1beta/models/gemini-3.8-flash:countTokens";
    let request = json!({
        "model": "models/gemini-3.8-flash", "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}},
    });
    let answer = post(&server, path, &[], &json!({"generateContentRequest": request})).await.unwrap();
    assert_eq!(answer.json(), json!({"totalTokens": 15}));
    let wrong = with(request, json!({"generationConfig": {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}}));
    let answer = post(&server, path, &[], &json!({"generateContentRequest": wrong})).await.unwrap();
    assert_eq!(answer.status, 400);
}

/// The demo's own models know nothing of all this.
#[tokio::test]
async fn models_nobody_knows_take_what_they_took() {
    let server = known(&["demo", "demo-small"]).await;
    for protocol in ALL {
        for model in ["demo", "demo-small"] {
            let body = with(protocol.chat(&["hi", "Hello.", "hi"]), json!({"model": model}));
            check(&server, protocol, &[(body, 200, "")]).await;
        }
    }
    let prefill = Protocol::Anthropic.chat(&["hi", "Hello"]);
    let sampling = with(Protocol::Anthropic.ask("hi"), json!({"temperature": 0.5}));
    check(&server, Protocol::Anthropic, &[(prefill, 200, ""), (sampling, 200, "")]).await;
}
