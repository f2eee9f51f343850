//! Requests that a service once refused, or nearly would have.

use super::*;
use oneclaw_providers::{Mode, Profile, encode};
use serde_json::{Value, json};

fn assistant(text: &str, calls: Vec<Call>) -> RequestMessage {
    RequestMessage::Assistant { text: text.into(), calls, trace: vec![] }
}

fn call(id: &str, name: &str, arguments: &str) -> Call {
    Call { id: id.into(), name: name.into(), arguments: arguments.into(), signature: None }
}

/// The request is taken as a turn and as a completion.
async fn is_taken(asked: &Request) {
    let server = scripted(vec![Step::Reply("Fine.".into()); 8]).await;
    let newer = [(ProviderKind::Gemini, "gemini-3-pro")];
    for (kind, model) in KINDS.into_iter().map(|kind| (kind, model(kind))).chain(newer) {
        let said = ask_model(&server, kind, model, asked).await;
        assert_eq!((said.text.as_str(), &said.error), ("Fine.", &None), "{model}");
        let reply = client()
            .complete(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), model), asked)
            .await;
        assert_eq!(reply.map(|reply| reply.text), Ok("Fine.".into()), "{model}");
    }
}

#[tokio::test]
async fn a_reply_to_go_on_with() {
    is_taken(&request(vec![user("Count."), assistant("One, two, \n", vec![])])).await;
    let asked = request(vec![user("Count."), assistant("One, two, \n", vec![])]);
    let server = scripted(vec![]).await;
    let body = encode(
        &endpoint(&server, ProviderKind::Anthropic),
        &Profile::of(&endpoint(&server, ProviderKind::Anthropic), "claude"),
        &asked,
        Mode::Chat,
    )
    .body;
    let block = json!({"type": "text", "text": "One, two,", "cache_control": {"type": "ephemeral"}});
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": [block]}));
}

/// Signed reasoning that led to nothing stays away from the service that signed it.
#[tokio::test]
async fn reasoning_alone() {
    let thought = "Hm.";
    let think = Step::Think { thinking: thought.into(), then: Box::new(Step::Reply("Yes.".into())) };
    let server = scripted(vec![think, Step::Reply("Fine.".into())]).await;
    let said = ask(&server, ProviderKind::Anthropic, &hello()).await;
    assert!(signature(&said).is_some());
    let alone = Said { text: " ".into(), ..said };
    for messages in
        [vec![user("Hello"), alone.message()], vec![user("Hello"), alone.message(), user("Well?")]]
    {
        let asked = request(messages);
        let answer = ask(&server, ProviderKind::Anthropic, &asked).await;
        assert_eq!(answer.error, None);
        let sent: Value = server.log().pop().unwrap().request;
        assert!(!sent.to_string().contains(thought), "{sent}");
        is_taken(&asked).await;
    }
}

/// A picture alone starts no turn for Gemini, which wants signatures of the whole open turn.
#[tokio::test]
async fn a_picture_after_calls_of_another_model() {
    let calls = vec![call("a", "look", "{}"), call("b", "look", "{}")];
    let mut messages = vec![user("Look."), assistant("", calls.clone())];
    messages.extend(calls.iter().map(|call| result(call, "blue")));
    messages.push(RequestMessage::User { text: String::new(), attachments: vec![picture()] });
    is_taken(&Request { tools: vec![tool("look")], ..request(messages) }).await;
}

#[tokio::test]
async fn blank_texts_and_odd_names() {
    let calls = vec![
        call("", "", "\n"),
        call("a b/ü", "naïve tool!", "[1, 2"),
        call(&"x".repeat(90), "look", "null"),
    ];
    let mut messages = vec![user(" \n"), assistant("\n", calls.clone())];
    messages.extend(calls.iter().map(|call| result(call, "")));
    messages.extend([user(" "), assistant(" ", vec![]), user("\t")]);
    let bare = ToolSpec { description: String::new(), parameters: Value::Null, ..tool("look") };
    for tools in [vec![bare], vec![]] {
        is_taken(&Request { system: Some(" \n ".into()), tools, ..request(messages.clone()) }).await;
    }
}

/// A model that is no Gemini gets no room for reasoning that it could not give.
#[tokio::test]
async fn completions_as_long_as_a_small_model_can_give() {
    let server = serve(config(16_000, 4_096, &["demo"])).await;
    for kind in KINDS {
        server.push(Step::Reply("Fine.".into()));
        let asked = Request { max_output: Some(4_096), ..hello() };
        let reply = client()
            .complete(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), "demo"), &asked)
            .await;
        assert_eq!(reply.map(|reply| reply.text), Ok("Fine.".into()), "{kind:?}");
    }
}

/// Replies without ids are counted from the start each time; a service that wants every id once gets it so.
#[tokio::test]
async fn calls_of_several_replies_with_the_same_id() {
    let mut messages = vec![user("Look.")];
    for _ in 0..3 {
        let calls = vec![call("call_0", "look", "{}"), call("call_1", "look", "{}")];
        messages.push(assistant("", calls.clone()));
        messages.extend(calls.iter().map(|call| result(call, "blue")));
    }
    is_taken(&Request { tools: vec![tool("look")], ..request(messages) }).await;
}

/// Schemas with keys that Gemini takes beside some types only.
#[tokio::test]
async fn odd_schemas() {
    let schemas = [
        json!({"type": "object", "properties": {"a": {"type": ["object", "string"], "properties": {"b": {}}, "required": ["b"]}}}),
        json!({"type": "object", "properties": {"a": {"enum": ["", "x"]}, "b": {"type": "integer", "enum": [1, 2]}},
            "required": ["a", "gone"], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        json!({"type": "object", "properties": {"a": {"description": "Either.", "anyOf": [
            {"properties": {"x": {"type": "string"}}, "required": ["x"]}, {"type": "array"}, {"required": ["y"]}]}}}),
    ];
    for parameters in schemas {
        let tools = vec![ToolSpec { parameters, ..tool("look") }];
        let asked = Request { tools, ..hello() };
        let server = scripted(vec![Step::Reply("Fine.".into())]).await;
        assert_eq!(ask(&server, ProviderKind::Gemini, &asked).await.error, None);
    }
}

#[tokio::test]
async fn nothing_but_a_blank_message() {
    is_taken(&request(vec![user(" ")])).await;
    let empty = request(vec![user("")]);
    for kind in [ProviderKind::Anthropic, ProviderKind::Gemini] {
        let server = scripted(vec![Step::Reply("Fine.".into())]).await;
        assert_eq!(ask(&server, kind, &empty).await.error, None, "{kind:?}");
    }
}

/// Each generation is told to reason as little as it can be told.
#[tokio::test]
async fn completions_of_models_that_reason() {
    let models = ["gpt-5", "gpt-5.1", "gpt-5-pro", "gpt-6-mini", "gpt-5-chat-latest"];
    // With Responses there is room for reasoning on top of what is asked for.
    let server = serve(config(128_000, 32_768, &models)).await;
    for (model, reasoning) in std::iter::zip(models, [64, 0, 64, 0, 0]) {
        server.push(Step::Reply("A title".into()));
        let reply = client()
            .complete(
                &endpoint(&server, ProviderKind::OpenAi),
                &Profile::of(&endpoint(&server, ProviderKind::OpenAi), model),
                &hello(),
            )
            .await;
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.usage.unwrap().reasoning), ("A title", reasoning), "{model}");
    }
}
