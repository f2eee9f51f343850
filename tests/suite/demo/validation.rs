//! What the services refuse, in their words and forms.

use super::client::{ALL, Form, Protocol, exchange, get, post, request};
use super::{server, time_tool, with_models};
use oneclaw_demo::{Config, Server, Step};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Sends each request and compares status and message; OpenAI's parameter and code, too.
async fn assert_refused(server: &Server, protocol: Protocol, cases: Vec<(Value, u16, &str)>) {
    for (body, status, expected) in cases {
        let answer = protocol.send(server, Form::Whole, &body).await.unwrap();
        let (got, error) = answer.error();
        let message = error["error"]["message"].as_str().unwrap_or_else(|| panic!("{error}"));
        assert!(got == status && message.contains(expected), "{got} {message}\nexpected {status} {expected}");
    }
}

/// The base with some of its fields replaced; null takes one away.
fn with(mut base: Value, fields: Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        if value.is_null() {
            base.as_object_mut().unwrap().remove(key);
        } else {
            base[key] = value.clone();
        }
    }
    base
}

#[tokio::test]
async fn openai_refuses_what_openai_refuses() {
    let server = with_models(&[("demo", 16_000, 4_096), ("o3-mini", 16_000, 4_096)]).await;
    let base = Protocol::OpenAi.ask("hi");
    let messages = |list: Value| with(base.clone(), json!({"messages": list}));
    let tool =
        |function: Value| with(base.clone(), json!({"tools": [{"type": "function", "function": function}]}));
    let call = json!({"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"id": "c2", "type": "function", "function": {"name": "f", "arguments": "{}"}},
    ]});
    let user = json!({"role": "user", "content": "hi"});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "ok"});
    let orphan = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'";
    let open = "The following tool_call_ids did not have response messages: ";
    let reasoning = |fields: Value| with(with(base.clone(), json!({"model": "o3-mini"})), fields);
    let cases = vec![
        (with(base.clone(), json!({"model": "none"})), 404, "The model `none` does not exist"),
        (with(base.clone(), json!({"model": null})), 400, "you must provide a model parameter"),
        (with(base.clone(), json!({"messages": null})), 400, "Missing required parameter: 'messages'."),
        (messages(json!([])), 400, "Invalid 'messages': empty array."),
        (
            messages(json!("hi")),
            400,
            "Invalid type for 'messages': expected an array of objects, but got a string",
        ),
        (messages(json!([{"content": "hi"}])), 400, "Missing required parameter: 'messages[0].role'."),
        (messages(json!([{"role": "king", "content": "hi"}])), 400, "Invalid value: 'king'."),
        (messages(json!([{"role": "user", "content": null}])), 400, "expected a string, got null"),
        (messages(json!([{"role": "user", "content": ""}])), 400, "the content must not be empty"),
        (messages(json!([{"role": "user", "content": []}])), 400, "the content must not be empty"),
        (messages(json!([user, {"role": "assistant", "content": ""}])), 400, "the content must not be empty"),
        (messages(json!([user, {"role": "assistant", "tool_calls": []}])), 400, "tool_calls': empty array"),
        (messages(json!([{"role": "user", "content": [{"type": "video"}]}])), 400, "Invalid value: 'video'."),
        (messages(json!([{"role": "system", "content": "a"}])), 400, "no message besides the system message"),
        (
            messages(json!([{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, user])),
            400,
            "one system message, at the beginning",
        ),
        (messages(json!([user, {"role": "developer", "content": "b"}])), 400, "one system message"),
        (messages(json!([user, result("c1")])), 400, orphan),
        (messages(json!([user, call, result("c1"), result("c2"), result("c2")])), 400, orphan),
        (messages(json!([user, call])), 400, "did not have response messages: c1, c2"),
        (messages(json!([user, call, result("c2"), user])), 400, "did not have response messages: c1"),
        (messages(json!([user, call, user, result("c1"), result("c2")])), 400, open),
        (with(base.clone(), json!({"tools": []})), 400, "Invalid 'tools': empty array."),
        (tool(json!({})), 400, "Missing required parameter: 'tools[0].function.name'."),
        (tool(json!({"name": "a b"})), 400, "'^[a-zA-Z0-9_-]+$'"),
        (
            tool(json!({"name": "f", "parameters": {"type": "string"}})),
            400,
            "Invalid schema for function 'f': schema must be a JSON Schema of 'type: \"object\"'",
        ),
        (
            tool(
                json!({"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "array"}}}}),
            ),
            400,
            "In context=('properties', 'a'), array schema missing items.",
        ),
        (
            with(
                base.clone(),
                json!({"tools": [
                    {"type": "function", "function": {"name": "f"}}, {"type": "function", "function": {"name": "f"}},
                ]}),
            ),
            400,
            "duplicate function name 'f'",
        ),
        (with(base.clone(), json!({"tool_choice": "auto"})), 400, "only allowed when 'tools' are specified"),
        (with(base.clone(), json!({"max_tokens": 0})), 400, "integer below minimum value"),
        (
            with(base.clone(), json!({"max_tokens": "9"})),
            400,
            "Invalid type for 'max_tokens': expected an integer",
        ),
        (
            with(base.clone(), json!({"max_tokens": 5_000})),
            400,
            "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
        ),
        (with(base.clone(), json!({"max_tokens": 5, "max_completion_tokens": 5})), 400, "at the same time"),
        (with(base.clone(), json!({"stream_options": {}})), 400, "only allowed when 'stream' is enabled"),
        (with(base.clone(), json!({"top_k": 3})), 400, "Unknown parameter: 'top_k'."),
        (
            reasoning(json!({"max_tokens": 5})),
            400,
            "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        (
            reasoning(json!({"temperature": 0.5})),
            400,
            "Unsupported parameter: 'temperature' is not supported with this model.",
        ),
        (reasoning(json!({"top_p": 0.5})), 400, "Unsupported parameter: 'top_p'"),
        (
            with(base.clone(), json!({"reasoning_effort": "low"})),
            400,
            "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
        ),
        (
            messages(json!([user, {"role": "assistant", "tool_calls": [
                {"id": "x".repeat(41), "type": "function", "function": {"name": "f", "arguments": "{}"}}]}])),
            400,
            "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a \
             string with length 41 instead.",
        ),
    ];
    assert_refused(&server, Protocol::OpenAi, cases).await;
    let fine = reasoning(json!({"max_completion_tokens": 500, "reasoning_effort": "low"}));
    assert_eq!(Protocol::OpenAi.send(&server, Form::Whole, &fine).await.unwrap().status, 200);
    let answer =
        Protocol::OpenAi.send(&server, Form::Whole, &reasoning(json!({"max_tokens": 5}))).await.unwrap();
    let error = &answer.json()["error"];
    assert_eq!((&error["code"], &error["param"]), (&json!("unsupported_parameter"), &json!("max_tokens")));
    assert_eq!(error["type"], "invalid_request_error");
}

#[tokio::test]
async fn anthropic_refuses_what_anthropic_refuses() {
    let server = server().await;
    let base = Protocol::Anthropic.ask("hi");
    let messages = |list: Value| with(base.clone(), json!({"messages": list}));
    let user = json!({"role": "user", "content": "hi"});
    let says = |role: &str, blocks: Value| json!({"role": role, "content": blocks});
    let block = |text: &str| json!({"type": "text", "text": text});
    let call = says(
        "assistant",
        json!([
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
            {"type": "tool_use", "id": "t2", "name": "f", "input": {}},
        ]),
    );
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "ok"});
    let open = "`tool_use` ids were found without `tool_result` blocks immediately after: ";
    let tool = |tool: Value| with(base.clone(), json!({"tools": [tool]}));
    let marked = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    let thinking = |fields: Value| with(base.clone(), fields);
    let cases = vec![
        (with(base.clone(), json!({"model": "none"})), 404, "model: none"),
        (with(base.clone(), json!({"model": null})), 400, "model: Field required"),
        (with(base.clone(), json!({"max_tokens": null})), 400, "max_tokens: Field required"),
        (
            with(base.clone(), json!({"max_tokens": 0})),
            400,
            "max_tokens: Input should be greater than or equal to 1",
        ),
        (
            with(base.clone(), json!({"max_tokens": 5_000})),
            400,
            "max_tokens: 5000 > 4096, which is the maximum allowed number of output tokens for demo",
        ),
        (with(base.clone(), json!({"messages": null})), 400, "messages: Field required"),
        (messages(json!([])), 400, "messages: at least one message is required"),
        (messages(json!([says("assistant", json!("hi"))])), 400, "first message must use the \"user\" role"),
        (messages(json!([says("system", json!("hi")), user])), 400, "Unexpected role \"system\""),
        (
            messages(json!([says("king", json!("hi"))])),
            400,
            "messages.0.role: Input should be 'user' or 'assistant'",
        ),
        (
            messages(json!([says("user", json!(""))])),
            400,
            "messages.0: all messages must have non-empty content",
        ),
        (
            messages(json!([says("user", json!([]))])),
            400,
            "messages.0: all messages must have non-empty content",
        ),
        (messages(json!([says("user", json!([block("")]))])), 400, "text content blocks must be non-empty"),
        (messages(json!([says("user", json!([block(" \n")]))])), 400, "must contain non-whitespace text"),
        (
            messages(json!([user, says("assistant", json!("yes "))])),
            400,
            "cannot end with trailing whitespace",
        ),
        (
            messages(json!([user, call])),
            400,
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1, t2.",
        ),
        (messages(json!([user, call, user])), 400, open),
        (messages(json!([user, call, says("user", json!([result("t1")]))])), 400, "immediately after: t2."),
        (
            messages(json!([user, call, says("user", json!([block("first"), result("t1"), result("t2")]))])),
            400,
            open,
        ),
        (
            messages(json!([user, says("assistant", json!("x")), says("user", json!([result("t9")]))])),
            400,
            "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t9.",
        ),
        (
            messages(json!([user, call, says("user", json!([result("t1"), result("t2"), result("t2")]))])),
            400,
            "each tool_use must have a single result",
        ),
        (
            messages(json!([says(
                "user",
                json!([{"type": "tool_use", "id": "t", "name": "f", "input": {}}])
            )])),
            400,
            "Input tag 'tool_use'",
        ),
        (
            messages(json!([says("user", json!([{"type": "text", "text": "a", "extra": 1}]))])),
            400,
            "extra: Extra inputs are not permitted",
        ),
        (with(base.clone(), json!({"top_z": 3})), 400, "top_z: Extra inputs are not permitted"),
        (
            messages(json!([
                user,
                call,
                says("user", json!([result("t1"), result("t2")])),
                says("assistant", json!([{"type": "tool_use", "id": "t1", "name": "f", "input": {}}])),
                says("user", json!([result("t1")])),
            ])),
            400,
            "messages.3.content.0: `tool_use` ids must be unique",
        ),
        (
            messages(json!([
                user,
                says("assistant", json!([{"type": "tool_use", "id": "a.b", "name": "f", "input": {}}]))
            ])),
            400,
            "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        ),
        (
            messages(json!([says(
                "user",
                json!([{"type": "image",
                "source": {"type": "base64", "media_type": "image/heic", "data": "AAAA"}}])
            )])),
            400,
            "image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
        ),
        (
            with(base.clone(), json!({"system": [block("")]})),
            400,
            "system: text content blocks must be non-empty",
        ),
        (
            with(base.clone(), json!({"system": vec![marked.clone(); 5]})),
            400,
            "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        ),
        (tool(json!({"name": "f"})), 400, "tools.0.custom.input_schema: Field required"),
        (
            tool(json!({"name": "f", "input_schema": {}})),
            400,
            "tools.0.custom.input_schema.type: Field required",
        ),
        (
            tool(json!({"name": "a b", "input_schema": {"type": "object"}})),
            400,
            "String should match pattern",
        ),
        (
            with(
                base.clone(),
                json!({"tools": [
                    {"name": "f", "input_schema": {"type": "object"}}, {"name": "f", "input_schema": {"type": "object"}},
                ]}),
            ),
            400,
            "tools: Tool names must be unique.",
        ),
        (
            with(base.clone(), json!({"tool_choice": {"type": "any"}})),
            400,
            "may only be specified while providing `tools`",
        ),
        (
            thinking(json!({"thinking": {"type": "enabled", "budget_tokens": 100}})),
            400,
            "greater than or equal to 1024",
        ),
        (
            thinking(json!({"thinking": {"type": "enabled", "budget_tokens": 1024}})),
            400,
            "`max_tokens` must be greater than `thinking.budget_tokens`",
        ),
        (
            thinking(
                json!({"max_tokens": 2000, "temperature": 0, "thinking": {"type": "enabled", "budget_tokens": 1024}}),
            ),
            400,
            "`temperature` may only be set to 1 when thinking is enabled",
        ),
    ];
    assert_refused(&server, Protocol::Anthropic, cases).await;
    // Neighbours of the same role are one message, and four breakpoints are not too many.
    let fine = [
        messages(json!([
            user,
            user,
            call,
            says("user", json!([result("t1")])),
            says("user", json!([result("t2"), block("and?")]))
        ])),
        with(base.clone(), json!({"system": vec![marked; 4]})),
        with(base.clone(), json!({"tools": time_tool(Protocol::Anthropic), "tool_choice": {"type": "none"}})),
    ];
    for body in fine {
        let answer = Protocol::Anthropic.send(&server, Form::Whole, &body).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let answer = post(&server, "/v1/messages", &[], &base).await.unwrap();
    assert_eq!(
        answer.error(),
        (
            400,
            json!({"type": "error", "error": {
                "type": "invalid_request_error", "message": "anthropic-version: header is required",
            }})
        )
    );
}

#[tokio::test]
async fn gemini_refuses_what_gemini_refuses() {
    let server = with_models(&[("demo", 16_000, 4_096), ("gemini-2.5-pro", 16_000, 4_096)]).await;
    let base = Protocol::Gemini.ask("hi");
    let contents = |list: Value| with(base.clone(), json!({"contents": list}));
    let says = |role: &str, parts: Value| json!({"role": role, "parts": parts});
    let user = says("user", json!([{"text": "hi"}]));
    let call =
        says("model", json!([{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g"}}]));
    let result = |name: &str| json!({"functionResponse": {"name": name, "response": {"result": "ok"}}});
    let count = "the number of function response parts is equal to the number of function call parts";
    let schema = |schema: Value| {
        with(
            base.clone(),
            json!({"tools": [{"functionDeclarations": [{"name": "f", "parameters": schema}]}]}),
        )
    };
    let cases = vec![
        (
            with(base.clone(), json!({"model": "none"})),
            404,
            "models/none is not found for API version v1beta",
        ),
        (with(base.clone(), json!({"contents": null})), 400, "contents is not specified"),
        (contents(json!([])), 400, "contents is not specified"),
        (
            contents(json!([says("user", json!([]))])),
            400,
            "contents[0].parts: contents.parts must not be empty.",
        ),
        (
            contents(json!([says("user", json!([{"text": ""}]))])),
            400,
            "contents[0].parts[0].data: required oneof field 'data'",
        ),
        (contents(json!([says("user", json!([{}]))])), 400, "required oneof field 'data'"),
        (
            contents(json!([says("assistant", json!([{"text": "a"}]))])),
            400,
            "Please use a valid role: user, model.",
        ),
        (contents(json!([says("model", json!([{"text": "a"}])), user])), 400, "begin with a user turn"),
        (contents(json!([user, call])), 400, count),
        (contents(json!([user, call, says("user", json!([result("f")]))])), 400, count),
        (contents(json!([user, call, user])), 400, count),
        (
            contents(json!([user, says("user", json!([result("f")]))])),
            400,
            "function response turn comes immediately after a function call turn",
        ),
        (
            contents(json!([
                user,
                says("user", json!([{"functionResponse": {"name": "f", "response": "text"}}]))
            ])),
            400,
            "Invalid value at 'contents[1].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)",
        ),
        (
            schema(json!({"type": "object", "properties": {}, "additionalProperties": false})),
            400,
            "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
        ),
        (
            schema(json!({"type": "object", "properties": {"a": {"type": "object", "$ref": "#"}}})),
            400,
            "Unknown name \"$ref\" at 'tools[0].function_declarations[0].parameters.properties[0].value'",
        ),
        (
            schema(json!({"type": "object", "properties": {"a": {"type": "array"}}})),
            400,
            "parameters.properties[a].items: missing field.",
        ),
        (
            schema(
                json!({"type": "object", "properties": {"a": {"anyOf": [], "properties": {"b": {"type": "string"}}}}}),
            ),
            400,
            "parameters.properties[a].properties: only allowed for OBJECT type",
        ),
        (
            schema(json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x", ""]}}})),
            400,
            "parameters.properties[a].enum[1]: cannot be empty",
        ),
        (
            schema(json!({"type": "object", "properties": {"a": {"type": "integer", "enum": ["1"]}}})),
            400,
            "parameters.properties[a].enum: only allowed for STRING type",
        ),
        (
            schema(json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]})),
            400,
            "parameters.required[0]: property is not defined",
        ),
        (
            with(
                base.clone(),
                json!({"model": "gemini-2.5-pro", "generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}),
            ),
            400,
            "Budget 0 is invalid. This model only works in thinking mode.",
        ),
        (
            schema(json!({"type": ["string", "null"]})),
            400,
            "Proto field is not repeating, cannot start list.",
        ),
        (
            with(base.clone(), json!({"tools": [{"functionDeclarations": [{"name": "f"}, {"name": "f"}]}]})),
            400,
            "Duplicate function declaration found: f",
        ),
        (
            with(base.clone(), json!({"max_tokens": 3})),
            400,
            "Unknown name \"max_tokens\": Cannot find field.",
        ),
        (
            with(base.clone(), json!({"generationConfig": {"max_tokens": 3}})),
            400,
            "Unknown name \"max_tokens\" at 'generation_config'",
        ),
        (
            with(base.clone(), json!({"generationConfig": {"maxOutputTokens": 5_000}})),
            400,
            "maxOutputTokens value of 5000 but the supported range is from 1 (inclusive) to 4097 (exclusive)",
        ),
        (with(base.clone(), json!({"systemInstruction": {"parts": []}})), 400, "system_instruction.parts"),
    ];
    assert_refused(&server, Protocol::Gemini, cases).await;
    let results = says("user", json!([result("g"), result("f")]));
    let fine = [
        contents(json!([user, call, results])),
        with(
            base.clone(),
            json!({"system_instruction": {"parts": [{"text": "a"}]}, "generation_config": {"max_output_tokens": 9}}),
        ),
    ];
    for body in fine {
        let answer = Protocol::Gemini.send(&server, Form::Whole, &body).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let answer = Protocol::Gemini.send(&server, Form::Whole, &contents(json!([]))).await.unwrap();
    let error = answer.json()["error"].clone();
    assert_eq!((&error["code"], &error["status"]), (&json!(400), &json!("INVALID_ARGUMENT")));
}

#[tokio::test]
async fn calls_and_tools_without_number_are_refused_at_once() {
    let server = server().await;
    let many = 20_000;
    let calls = |call: fn(usize) -> Value| (0..many).map(call).collect::<Vec<_>>();
    let openai = calls(
        |n| json!({"id": n.to_string(), "type": "function", "function": {"name": "f", "arguments": ""}}),
    );
    let anthropic = calls(|n| json!({"type": "tool_use", "id": n.to_string(), "name": "f", "input": {}}));
    let user = json!({"role": "user", "content": "hi"});
    let base = Protocol::Anthropic.ask("hi");
    let tools = calls(|n| json!({"name": format!("f{n}"), "input_schema": {"type": "object"}}));
    let declarations = calls(|n| json!({"name": format!("f{n}")}));
    let start = std::time::Instant::now();
    let with_openai =
        json!({"model": "demo", "messages": [user, {"role": "assistant", "tool_calls": openai}]});
    assert_refused(&server, Protocol::OpenAi, vec![(with_openai, 400, "array too long")]).await;
    let messages = json!({"messages": [user, {"role": "assistant", "content": anthropic}]});
    let cases = vec![
        (with(base.clone(), messages), 400, "too many `tool_use` blocks"),
        (with(base.clone(), json!({"tools": tools})), 400, "tools: List should have at most 1000 items"),
    ];
    assert_refused(&server, Protocol::Anthropic, cases).await;
    let with_gemini =
        with(Protocol::Gemini.ask("hi"), json!({"tools": [{"functionDeclarations": declarations}]}));
    assert_refused(&server, Protocol::Gemini, vec![(with_gemini, 400, "At most 1000 function declarations")])
        .await;
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_key_is_asked_for_where_one_is_set() {
    let server = Server::start(Config { key: Some("secret".into()), ..Config::default() }).await.unwrap();
    let version = ("anthropic-version", "2023-06-01");
    let cases = [
        ("/v1/chat/completions", Protocol::OpenAi, "authorization", "Bearer secret", "Bearer wrong", 401),
        ("/v1/messages", Protocol::Anthropic, "x-api-key", "secret", "wrong", 401),
        ("/v1beta/models/demo:generateContent", Protocol::Gemini, "x-goog-api-key", "secret", "wrong", 400),
    ];
    for (path, protocol, header, good, bad, wrong) in cases {
        let body = protocol.ask("hi");
        let status = |headers: Vec<(&'static str, &'static str)>| {
            let (server, body) = (&server, &body);
            async move { post(server, path, &headers, body).await.unwrap() }
        };
        assert_eq!(status(vec![version]).await.status, 401, "{protocol:?}");
        assert_eq!(status(vec![version, (header, good)]).await.status, 200, "{protocol:?}");
        let answer = status(vec![version, (header, bad)]).await;
        assert_eq!(answer.status, wrong, "{protocol:?}");
        assert!(!answer.text().contains("wrong") && !answer.text().contains("secret"), "{}", answer.text());
    }
    assert_eq!(get(&server, "/v1/models", &[]).await.status, 401);
    assert!(!format!("{:?}", server.log()).contains("secret"));
}

#[tokio::test]
async fn what_is_refused_takes_no_step_of_the_script() {
    let server = with_models(&[("demo", 50, 20)]).await;
    server.push(Step::Reply("for the one that fits".into()));
    let long = Protocol::OpenAi.ask(&super::words(60));
    assert_eq!(Protocol::OpenAi.send(&server, Form::Whole, &long).await.unwrap().status, 400);
    let bad = json!({"model": "demo", "messages": []});
    assert_eq!(Protocol::OpenAi.send(&server, Form::Whole, &bad).await.unwrap().status, 400);
    let answer = Protocol::OpenAi.send(&server, Form::Whole, &Protocol::OpenAi.ask("hi")).await.unwrap();
    assert_eq!(Protocol::OpenAi.text(&answer, Form::Whole), "for the one that fits");
}

#[tokio::test]
async fn bodies_that_are_no_json_are_bad_requests() {
    let server = server().await;
    let deep = "[".repeat(100_000);
    for path in ["/v1/chat/completions", "/v1/messages", "/v1beta/models/demo:generateContent"] {
        for body in [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", deep.as_bytes()] {
            let bytes = request("POST", path, &[("anthropic-version", "1")], body);
            let answer = exchange(&server, &bytes).await.unwrap();
            assert_eq!(answer.status, 400, "{path} {}", answer.text());
        }
    }
}

#[tokio::test]
async fn bodies_above_32_megabytes_are_too_large() {
    let server = server().await;
    let body = vec![b' '; 32 * 1024 * 1024 + 1];
    let bytes = request("POST", "/v1/messages", &[("anthropic-version", "1")], &body);
    assert_eq!(
        exchange(&server, &bytes).await.unwrap().error(),
        (
            413,
            json!({"type": "error", "error": {
                "type": "request_too_large", "message": "Request exceeds the maximum size",
            }})
        )
    );
    let mut ask = Protocol::Anthropic.ask("hi").to_string().into_bytes();
    ask.resize(32 * 1024 * 1024, b' ');
    let bytes = request("POST", "/v1/messages", &[("anthropic-version", "1")], &ask);
    assert_eq!(exchange(&server, &bytes).await.unwrap().status, 200);
}

/// JSON that looks a little like a request.
fn hostile() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "model",
        "demo",
        "messages",
        "contents",
        "role",
        "user",
        "assistant",
        "system",
        "tool",
        "content",
        "parts",
        "text",
        "type",
        "tool_use",
        "tool_result",
        "tool_use_id",
        "id",
        "name",
        "input",
        "f",
        "tools",
        "function",
        "parameters",
        "functionCall",
        "functionResponse",
        "response",
        "functionDeclarations",
        "properties",
        "items",
        "array",
        "object",
        "max_tokens",
        "tool_calls",
        "tool_call_id",
        "arguments",
        "{}",
        "image_url",
        "url",
        "data:image/png;base64,AAAA",
        "inlineData",
        "thinking",
        "signature",
        "enabled",
        "stream",
        "",
        "é\u{0}",
        "source",
        "base64",
        "data",
        "generationConfig",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..7)
                .prop_map(|fields| fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(40))]

    #[test]
    fn no_request_is_too_strange(values in prop::collection::vec(hostile(), 8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = server().await;
            for value in &values {
                for protocol in ALL {
                    let key = if protocol == Protocol::Gemini { "contents" } else { "messages" };
                    let mut whole = protocol.ask("hi");
                    whole[key] = json!([value]);
                    let mut tooled = protocol.ask("hi");
                    tooled["tools"] = json!([value]);
                    for body in [whole, tooled, with(protocol.ask("hi"), json!({"stream": value, "system": value}))] {
                        let answer = protocol.send(&server, Form::Whole, &body).await;
                        let status = answer.map(|answer| answer.status);
                        assert!(matches!(status, Some(200 | 400 | 404)), "{protocol:?} {status:?} {body}");
                    }
                }
            }
        });
    }
}
