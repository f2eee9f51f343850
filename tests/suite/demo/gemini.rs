//! Gemini by the catalogue: how thinking is told, signatures, names of calls, and schemas.

use super::client::{Form, Protocol, check, get, known, with};
use oneclaw_demo::{Server, Step};
use serde_json::{Value, json};

const NEW: &str = "gemini-3.8-flash";

fn ask(model: &str, fields: Value) -> Value {
    with(with(Protocol::Gemini.ask("What time is it?"), json!({"model": model})), fields)
}

fn thinking(model: &str, config: Value) -> Value {
    ask(model, json!({"generationConfig": {"thinkingConfig": config}}))
}

fn tools() -> Value {
    json!([{"functionDeclarations": [{"name": "get_current_time"}, {"name": "read_file"}]}])
}

#[tokio::test]
async fn thinking_is_told_as_the_family_takes_it() {
    let models = [NEW, "gemini-2.5-flash", "gemini-2.5-pro", "gemini-2.0-flash-x", "gemini-3.5-flash"];
    let server = known(&models).await;
    let level = |level: &str| json!({"thinkingLevel": level});
    let budget = |budget: i64| json!({"thinkingBudget": budget});
    let cases = [
        (thinking(NEW, level("LOW")), 200, ""),
        (thinking(NEW, level("high")), 200, ""),
        (thinking(NEW, level("MINIMAL")), 400, "Thinking level MINIMAL is not supported for this model."),
        (thinking("gemini-3.5-flash", level("MINIMAL")), 200, ""),
        (thinking(NEW, budget(0)), 400, "Budget 0 is invalid. This model only works in thinking mode."),
        (thinking(NEW, budget(1_000)), 200, ""),
        (
            thinking(NEW, json!({"thinkingLevel": "LOW", "thinkingBudget": 1_000})),
            400,
            "You can only set only one of thinking budget and thinking level.",
        ),
        (thinking("gemini-2.5-flash", level("LOW")), 400, "Thinking level is not supported for this model."),
        (thinking("gemini-2.5-flash", budget(0)), 200, ""),
        (thinking("gemini-2.5-pro", budget(0)), 400, "Budget 0 is invalid."),
        (thinking("gemini-2.5-pro", budget(127)), 400, "Please choose a value between 128 and 32768."),
        (thinking("gemini-2.5-pro", budget(128)), 200, ""),
        (thinking("gemini-2.5-pro", budget(-1)), 200, ""),
        (thinking("gemini-2.5-pro", budget(-2)), 400, "The thinking budget -2 is invalid."),
        (thinking("gemini-2.0-flash-x", budget(1_000)), 400, "thinking is not supported by this model"),
        (ask("gemini-2.0-flash-x", json!({})), 200, ""),
    ];
    check(&server, Protocol::Gemini, &cases).await;
    let list = get(&server, "/v1beta/models", &[]).await.json();
    assert_eq!(
        (&list["models"][0]["thinking"], &list["models"][3]["thinking"]),
        (&json!(true), &json!(false))
    );
}

/// A step with two calls: the content that came, and the content that answers.
async fn two_calls(server: &Server, model: &str) -> (Value, Value) {
    let calls = vec![("get_current_time".into(), "{}".into()), ("read_file".into(), "{}".into())];
    server.push(Step::Calls(calls));
    let body = ask(model, json!({"tools": tools()}));
    let reply = Protocol::Gemini.send(server, Form::Whole, &body).await.unwrap().json();
    let content = reply["candidates"][0]["content"].clone();
    let results: Vec<Value> = content["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| {
            let call = &part["functionCall"];
            let mut response = json!({"name": call["name"], "response": {"output": "done"}});
            if call["id"].is_string() {
                response["id"] = call["id"].clone();
            }
            json!({"functionResponse": response})
        })
        .collect();
    (content, json!({"role": "user", "parts": results}))
}

fn next(model: &str, contents: &[&Value]) -> Value {
    let first = json!({"role": "user", "parts": [{"text": "What time is it?"}]});
    let contents: Vec<&Value> = [&first].into_iter().chain(contents.iter().copied()).collect();
    ask(model, json!({"contents": contents, "tools": tools()}))
}

#[tokio::test]
async fn calls_are_named_signed_and_wanted_back_so() {
    let server = known(&[NEW, "gemini-2.5-flash"]).await;
    let (calls, results) = two_calls(&server, NEW).await;
    let parts = calls["parts"].as_array().unwrap();
    assert!(parts[0]["thoughtSignature"].is_string() && parts[1]["thoughtSignature"].is_null());
    assert!(parts.iter().all(|part| part["functionCall"]["id"].is_string()));
    let changed = |content: &Value, pointer: &str, value: Value| {
        let mut content = content.clone();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let object = content.pointer_mut(parent).unwrap();
        *object = with(object.clone(), json!({key: value}));
        content
    };
    let signed = |value: Value| changed(&calls, "/parts/0/thoughtSignature", value);
    let unnamed = |content: &Value, kind: &str| {
        let one = changed(content, &format!("/parts/0/{kind}/id"), Value::Null);
        changed(&one, &format!("/parts/1/{kind}/id"), Value::Null)
    };
    let (no_ids, no_result_ids) = (unnamed(&calls, "functionCall"), unnamed(&results, "functionResponse"));
    let other_id = changed(&results, "/parts/0/functionResponse/id", json!("other"));
    let missing = "Function call is missing a thought_signature in functionCall parts.";
    let mismatch = "functionResponse.id does not match functionCall.id";
    let again = json!({"role": "user", "parts": [{"text": "And now?"}]});
    let stand_in = signed(json!("skip_thought_signature_validator"));
    let cases = [
        (next(NEW, &[&calls, &results]), 200, ""),
        (next(NEW, &[&signed(Value::Null), &results]), 400, missing),
        (next(NEW, &[&signed(json!("Zm9yZ2Vk")), &results]), 400, "Corrupted thought signature."),
        (next(NEW, &[&stand_in, &results]), 200, ""),
        // Each step of the turn in progress, and no earlier turn.
        (next(NEW, &[&calls, &results, &signed(Value::Null), &results]), 400, missing),
        (next(NEW, &[&signed(Value::Null), &results, &again]), 200, ""),
        (next(NEW, &[&no_ids, &no_result_ids]), 200, ""),
        (next(NEW, &[&calls, &no_result_ids]), 400, mismatch),
        (next(NEW, &[&no_ids, &results]), 400, mismatch),
        (next(NEW, &[&calls, &other_id]), 400, mismatch),
    ];
    check(&server, Protocol::Gemini, &cases).await;
    // An older family names and signs nothing, and asks for nothing.
    let (calls, results) = two_calls(&server, "gemini-2.5-flash").await;
    assert!(
        calls["parts"][0]["thoughtSignature"].is_null() && calls["parts"][0]["functionCall"]["id"].is_null()
    );
    check(&server, Protocol::Gemini, &[(next("gemini-2.5-flash", &[&calls, &results]), 200, "")]).await;
}

#[tokio::test]
async fn texts_are_signed_too() {
    let server = known(&[NEW, "gemini-2.5-flash"]).await;
    server.push(Step::Reply("Some words.".into()));
    let whole = Protocol::Gemini.send(&server, Form::Whole, &ask(NEW, json!({}))).await.unwrap().json();
    let said = &whole["candidates"][0]["content"]["parts"][0];
    let signature = said["thoughtSignature"].as_str().unwrap();
    assert!(signature.ends_with("+/+/"));
    server.push(Step::Reply("Some words.".into()));
    let stream = Protocol::Gemini.send(&server, Form::Stream, &ask(NEW, json!({}))).await.unwrap();
    let last = stream.events().last().unwrap()["candidates"][0].clone();
    assert_eq!(last["content"]["parts"], json!([{"text": "", "thoughtSignature": signature}]));
    assert_eq!(last["finishReason"], "STOP");
    let again = json!({"role": "user", "parts": [{"text": "And now?"}]});
    let model = |parts: Value| json!({"role": "model", "parts": parts});
    let url_safe = signature.replace('+', "-").replace('/', "_");
    let cases = [
        (next(NEW, &[&model(json!([said])), &again]), 200, ""),
        (
            next(
                NEW,
                &[
                    &model(json!([{"text": "Some words."}, {"text": "", "thoughtSignature": url_safe}])),
                    &again,
                ],
            ),
            200,
            "",
        ),
        (next(NEW, &[&model(json!([{"text": "Some words."}])), &again]), 200, ""),
        (
            next(NEW, &[&model(json!([{"text": "x", "thoughtSignature": "Zm9yZ2Vk"}])), &again]),
            400,
            "Corrupted thought signature.",
        ),
        (next(NEW, &[&model(json!([{"text": ""}])), &again]), 400, "required oneof field 'data'"),
        (
            next("gemini-2.5-flash", &[&model(json!([{"text": "", "thoughtSignature": signature}])), &again]),
            400,
            "required oneof field 'data'",
        ),
    ];
    check(&server, Protocol::Gemini, &cases).await;
}

#[tokio::test]
async fn schemas_and_pictures_of_results() {
    let server = known(&[NEW, "gemini-2.5-flash"]).await;
    let schema = json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "additionalProperties": false});
    let tool =
        |fields: Value| json!({"tools": [{"functionDeclarations": [with(json!({"name": "f"}), fields)]}]});
    let cases = [
        (ask("gemini-2.5-flash", tool(json!({"parametersJsonSchema": schema}))), 200, ""),
        (ask(NEW, tool(json!({"parametersJsonSchema": schema}))), 200, ""),
        (
            ask(NEW, tool(json!({"parametersJsonSchema": schema, "parameters": {"type": "object"}}))),
            400,
            "parameters and parameters_json_schema are mutually exclusive",
        ),
    ];
    check(&server, Protocol::Gemini, &cases).await;
    let picture = json!([{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA"}}]);
    for (model, status) in [(NEW, 200), ("gemini-2.5-flash", 400)] {
        let (calls, mut results) = two_calls(&server, model).await;
        let answer =
            Protocol::Gemini.send(&server, Form::Whole, &next(model, &[&calls, &results])).await.unwrap();
        let before = Protocol::Gemini.usage(&answer, Form::Whole).0;
        results["parts"][0]["functionResponse"]["parts"] = picture.clone();
        let answer =
            Protocol::Gemini.send(&server, Form::Whole, &next(model, &[&calls, &results])).await.unwrap();
        assert_eq!(answer.status, status, "{model} {}", answer.text());
        if status == 200 {
            assert_eq!(Protocol::Gemini.usage(&answer, Form::Whole).0, before + 258 * 4);
        }
    }
}
