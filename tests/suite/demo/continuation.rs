//! Replies that one request does not hold.

use super::client::{Form, Protocol, check, known_with, with};
use oneclaw_demo::{Config, Step};
use serde_json::json;

const MODEL: &str = "gemini-4-argon";

#[tokio::test]
async fn long_replies_are_continued_by_the_same_request() {
    let config = Config { continue_after: 10, ..Config::default() };
    let server = known_with(&[MODEL, "gemini-3.8-flash"], config).await;
    let words = |count: usize| vec!["a"; count].join(" ");
    server.push(Step::Reply(words(25)));
    let body = with(Protocol::Gemini.ask("hi"), json!({"model": MODEL}));
    let mut said = String::new();
    let mut tokens = Vec::new();
    let mut next = body.clone();
    for form in [Form::Stream, Form::Whole, Form::Stream] {
        let answer = Protocol::Gemini.send(&server, form, &next).await.unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        said += &Protocol::Gemini.text(&answer, form);
        let last = match form {
            Form::Whole => answer.json(),
            Form::Stream => answer.events().last().unwrap().clone(),
        };
        let candidate = &last["candidates"][0];
        tokens.push(Protocol::Gemini.usage(&answer, form).2);
        if candidate["finishReason"] == "STOP" {
            assert!(candidate["continuationToken"].is_null());
            break;
        }
        assert_eq!(candidate["finishReason"], "CONTINUATION");
        next = with(body.clone(), json!({"continuationToken": candidate["continuationToken"]}));
    }
    assert_eq!((said.as_str(), tokens), (words(25).as_str(), vec![10, 10, 5]));
    // The token is of that request only.
    let other = with(next.clone(), json!({"contents": [{"role": "user", "parts": [{"text": "ho"}]}]}));
    let invalid = "The continuation token is invalid or belongs to another request.";
    let forged = with(body, json!({"continuationToken": "Zm9yZ2Vk"}));
    let cases = [(other, 400, invalid), (forged, 400, invalid), (next, 200, "STOP")];
    check(&server, Protocol::Gemini, &cases).await;
    // No other model does so.
    server.push(Step::Reply(words(25)));
    let whole = with(Protocol::Gemini.ask("hi"), json!({"model": "gemini-3.8-flash"}));
    check(&server, Protocol::Gemini, &[(whole, 200, "STOP")]).await;
}
