//! What each family of Gemini is told, and what goes back to it.

use super::request::encode;
use crate::dialects::samples::{assistant, call, kept, picture, result, user};
use crate::encode::{Mode, REASONING_ROOM};
use crate::reasoning::samples;
use crate::{Decoder, Profile, ProviderError, StopReason, StreamEvent};
use oneclaw_catalogue::{Ability, Facts, Reasoning, Vendor};
use oneclaw_model::Effort::{High, Low, Max, Medium, Minimal};
use oneclaw_model::{Call, Dialect, Effort, Piece, Request, RequestMessage, ToolSpec, Usage};
use proptest::prelude::*;
use serde_json::{Value, json};

fn family(model: &str, reasoning: Reasoning) -> Profile {
    let facts = Facts {
        service: "gemini".to_owned(),
        dialect: Dialect::GenerateContent,
        reasoning: Some(Reasoning { by_default: true, ..reasoning }),
        abilities: vec![Ability::Tools, Ability::Pictures],
        ..samples::plain().facts.unwrap()
    };
    Profile { model: model.to_owned(), vendor: Vendor::Gemini, facts: Some(facts), ..samples::unknown() }
}

fn by_budget(model: &str, least: u64) -> Profile {
    family(model, Reasoning { least_budget: Some(least), ..Reasoning::default() })
}

fn by_level(model: &str, efforts: &[Effort]) -> Profile {
    family(model, Reasoning { by_level: true, efforts: efforts.to_vec(), ..Reasoning::default() })
}

fn flash_2_5() -> Profile {
    by_budget("gemini-2.5-flash", 0)
}

fn flash_3() -> Profile {
    by_level("gemini-3-flash-preview", &[Minimal, Low, Medium, High])
}

/// 3.1-pro, 3.7, 3.8 and 4.
fn argon() -> Profile {
    by_level("gemini-4-argon", &[Low, Medium, High])
}

fn stranger(model: &str) -> Profile {
    Profile { model: model.to_owned(), vendor: Vendor::Gemini, ..samples::unknown() }
}

fn config(profile: &Profile, effort: Option<Effort>, mode: Mode) -> Value {
    let request = Request { messages: vec![user("Hello")], max_output: Some(60_000), ..Request::default() };
    let profile = Profile { effort, ..profile.clone() };
    encode(&profile, &request, mode).body["generationConfig"].clone()
}

#[test]
fn texts_are_asked_for_with_the_least_thinking() {
    let room = |tokens| json!(60_000 + tokens);
    for (profile, thinking, limit) in [
        (flash_2_5(), json!({"thinkingBudget": 0}), room(0)),
        (by_budget("gemini-2.5-pro", 128), json!({"thinkingBudget": 128}), room(128)),
        (flash_3(), json!({"thinkingLevel": "MINIMAL"}), room(REASONING_ROOM)),
        (argon(), json!({"thinkingLevel": "LOW"}), room(REASONING_ROOM)),
        (stranger("gemini-9-new"), Value::Null, room(REASONING_ROOM)),
        (stranger("models/gemini-2.0-flash"), Value::Null, room(0)),
        (stranger("gemma-3-27b"), Value::Null, room(0)),
    ] {
        for wanted in [None, Some(High)] {
            let config = config(&profile, wanted, Mode::Complete);
            assert_eq!(
                (&config["thinkingConfig"], &config["maxOutputTokens"]),
                (&thinking, &limit),
                "{}",
                profile.model
            );
        }
    }
    let mut learnt = by_budget("gemini-2.5-pro", 128);
    learnt.learnt.reasoning_room = Some(900);
    assert_eq!(config(&learnt, None, Mode::Complete)["maxOutputTokens"], 60_900);
    learnt.most_output = Some(60_100);
    assert_eq!(config(&learnt, None, Mode::Complete)["maxOutputTokens"], 60_100);
}

#[test]
fn a_turn_shows_thoughts_and_gets_the_effort_that_is_wanted() {
    for (profile, wanted, thinking) in [
        (flash_2_5(), None, json!({"includeThoughts": true})),
        (flash_2_5(), Some(Effort::None), json!({"thinkingBudget": 0})),
        (flash_2_5(), Some(Low), json!({"thinkingBudget": 1_024, "includeThoughts": true})),
        (flash_2_5(), Some(Max), json!({"thinkingBudget": 24_576, "includeThoughts": true})),
        (
            by_budget("gemini-2.5-pro", 128),
            Some(Effort::None),
            json!({"thinkingBudget": 128, "includeThoughts": true}),
        ),
        (flash_3(), None, json!({"includeThoughts": true})),
        (flash_3(), Some(Effort::None), json!({"thinkingLevel": "MINIMAL", "includeThoughts": true})),
        (argon(), Some(Minimal), json!({"thinkingLevel": "LOW", "includeThoughts": true})),
        (argon(), Some(Max), json!({"thinkingLevel": "HIGH", "includeThoughts": true})),
        (stranger("gemini-9-new"), Some(High), Value::Null),
    ] {
        let config = config(&profile, wanted, Mode::Chat);
        assert_eq!(config["thinkingConfig"], thinking, "{} {wanted:?}", profile.model);
        assert_eq!(config["maxOutputTokens"], 60_000);
    }
    // A model that thinks only when told has nothing to show otherwise.
    let mut lite = flash_2_5();
    lite.facts.as_mut().unwrap().reasoning.as_mut().unwrap().by_default = false;
    assert_eq!(config(&lite, None, Mode::Chat).get("thinkingConfig"), None);
    // A budget leaves half of the limit to the reply.
    lite.most_output = Some(3_000);
    assert_eq!(config(&lite, Some(High), Mode::Chat)["thinkingConfig"]["thinkingBudget"], 1_500);
}

fn contents(profile: &Profile, messages: Vec<RequestMessage>) -> Vec<Value> {
    let request = Request { messages, ..Request::default() };
    encode(profile, &request, Mode::Chat).body["contents"].as_array().unwrap().clone()
}

/// The ids of the calls and results of a body, in order; null where there is none.
fn ids(profile: &Profile, messages: Vec<RequestMessage>) -> Vec<Value> {
    let contents = contents(profile, messages);
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let function = |part: &Value| part.get("functionCall").or(part.get("functionResponse")).cloned();
    parts.filter_map(function).map(|function| function["id"].clone()).collect()
}

fn steps(first: [&str; 2], second: &str) -> Vec<RequestMessage> {
    vec![
        user("Go."),
        assistant("", first.iter().map(|id| call(id)).collect(), vec![]),
        result(first[0], false, vec![]),
        result(first[1], false, vec![]),
        assistant("", vec![call(second)], vec![]),
        result(second, false, vec![]),
    ]
}

#[test]
fn ids_stand_in_calls_and_results_or_in_neither() {
    let none = json!([null, null, null, null, null, null]);
    let none = none.as_array().unwrap();
    let given = || steps(["fc-1", "fc-2"], "fc-3");
    assert_eq!(json!(ids(&flash_3(), given())), json!(["fc-1", "fc-2", "fc-1", "fc-2", "fc-3", "fc-3"]));
    assert_eq!(&ids(&flash_2_5(), given()), none);
    assert_eq!(&ids(&stranger("gemini-3-pro-preview"), given()), none);
    let mut refusing = flash_3();
    refusing.learnt.call_ids = Some(false);
    assert_eq!(&ids(&refusing, given()), none);
    // Those of our own making are left out, for each step as a whole.
    let mixed = ids(&flash_3(), steps(["fc-1", "call_1"], "fc-3"));
    assert_eq!(json!(mixed), json!([null, null, null, null, "fc-3", "fc-3"]));
    let mixed = ids(&flash_3(), steps(["call_0", "call"], "call_0_2"));
    assert_eq!(&mixed, none);
    let mut wanting = stranger("m");
    wanting.learnt.call_ids = Some(true);
    let all = ids(&wanting, steps(["call_0", "call_1"], "call_2"));
    assert_eq!(json!(all), json!(["call_0", "call_1", "call_0", "call_1", "call_2", "call_2"]));
}

#[test]
fn signatures_go_back_where_they_came() {
    let signed = Call { signature: Some("c".to_owned()), ..call("fc-1") };
    let text = |bytes, signature: Option<&str>| Piece::Text { bytes, signature: signature.map(Into::into) };
    let trace = vec![text(2, Some("a")), Piece::Call, text(0, Some("b")), text(2, None)];
    let sent = contents(&flash_3(), vec![user("Go."), assistant("Hm.!", vec![signed, call("fc-2")], trace)]);
    assert_eq!(
        sent[1]["parts"],
        json!([
            {"text": "Hm", "thoughtSignature": "a"},
            {"functionCall": {"id": "fc-1", "name": "t", "args": {}}, "thoughtSignature": "c"},
            {"text": "", "thoughtSignature": "b"},
            {"text": ".!"},
            {"functionCall": {"id": "fc-2", "name": "t", "args": {}}},
        ])
    );
    let stand_ins = |profile: &Profile| {
        let sent = contents(profile, steps(["fc-1", "fc-2"], "fc-3"));
        let parts = [&sent[1]["parts"][0], &sent[1]["parts"][1], &sent[3]["parts"][0]];
        parts.map(|part| part.get("thoughtSignature").is_some())
    };
    assert_eq!(stand_ins(&flash_3()), [true, false, true]);
    assert_eq!(stand_ins(&stranger("gemini-3-pro-preview")), [true, false, true]);
    assert_eq!(stand_ins(&flash_2_5()), [false; 3]);
}

#[test]
fn schemas_are_plain_where_the_model_takes_them() {
    let schema =
        json!({"type": "object", "properties": {"a": {"const": "x"}}, "additionalProperties": false});
    let tool =
        ToolSpec { name: "t".into(), description: String::new(), parameters: schema, protected: false };
    let declared = |profile: &Profile| {
        let request =
            Request { tools: vec![tool.clone()], messages: vec![user("Go.")], ..Request::default() };
        encode(profile, &request, Mode::Chat).body["tools"][0]["functionDeclarations"][0].clone()
    };
    let plain =
        json!({"type": "object", "properties": {"a": {"enum": ["x"]}}, "additionalProperties": false});
    assert_eq!(declared(&flash_3()), json!({"name": "t", "parametersJsonSchema": plain}));
    let own = json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"]}}});
    assert_eq!(declared(&flash_2_5()), json!({"name": "t", "parameters": own}));
    let mut refusing = flash_3();
    refusing.learnt.json_schema = Some(false);
    assert_eq!(declared(&refusing), json!({"name": "t", "parameters": own}));
}

#[test]
fn pictures_stand_inside_results_where_the_model_takes_them() {
    let answered = |profile: &Profile| {
        let files = vec![picture("image/png"), picture("image/heic")];
        let messages =
            vec![user("Go."), assistant("", vec![call("fc-1")], vec![]), result("fc-1", false, files)];
        contents(profile, messages)[2]["parts"].clone()
    };
    let inline = |mime: &str| json!({"inlineData": {"mimeType": mime, "data": "iVBORw0KGgo="}});
    let labels = "ok\n\n[Attached image/png: a]\n\n[Attached image/heic: a]";
    assert_eq!(
        answered(&flash_3()),
        json!([
            {"functionResponse": {"id": "fc-1", "name": "t", "response": {"output": "ok\n\n[Attached image/heic: a]"},
                "parts": [inline("image/png")]}},
            inline("image/heic"),
        ])
    );
    let older = json!({"functionResponse": {"name": "t", "response": {"output": labels}}});
    assert_eq!(answered(&flash_2_5()), json!([older, inline("image/png"), inline("image/heic")]));
    let mut blind = flash_2_5();
    blind.learnt.no_pictures = true;
    assert_eq!(answered(&blind), json!([older]));
}

// ---- replies ----

/// A body of one event.
fn event(candidate: Value, usage: Value) -> String {
    format!("data: {}\n\n", json!({"candidates": [candidate], "usageMetadata": usage}))
}

fn decoded(bodies: &[String]) -> (Vec<StreamEvent>, Result<(), ProviderError>) {
    let mut decoder = Decoder::new(Dialect::GenerateContent);
    let mut events = Vec::new();
    let mut outcome = Ok(());
    for (number, body) in bodies.iter().enumerate() {
        if number > 0 {
            assert!(decoder.continuation().is_some());
            decoder.go_on();
        }
        outcome = decoder.push(body.as_bytes(), &mut events).and_then(|()| decoder.finish(&mut events));
    }
    (events, outcome)
}

#[test]
fn every_reason_to_stop_has_its_meaning() {
    let stop = |reason: &str, message: &str| {
        let candidate = json!({"finishReason": reason, "finishMessage": message});
        match decoded(&[event(candidate, json!({}))]).0.pop() {
            Some(StreamEvent::Stopped(stop)) => stop,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stop("STOP", "fine"), StopReason::End);
    for reason in ["MAX_TOKENS", "CONTINUATION"] {
        assert_eq!(stop(reason, ""), StopReason::Length, "{reason}");
    }
    for reason in [
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    ] {
        assert_eq!(stop(reason, "no"), StopReason::Refused, "{reason}");
    }
    for reason in [
        "OTHER",
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
        "IMAGE_OTHER",
    ] {
        assert_eq!(stop(reason, ""), StopReason::Other(reason.to_owned()));
        assert_eq!(stop(reason, "Bad\ncall"), StopReason::Other(format!("{reason}: Bad\\ncall")));
    }
}

#[test]
fn a_continued_reply_is_one_reply() {
    let part = |text: &str, finish: Value, token: Value| {
        let parts = json!([{"text": text}, {"functionCall": {"name": "t"}}]);
        json!({"content": {"parts": parts}, "finishReason": finish, "continuationToken": token})
    };
    let first = json!({"promptTokenCount": 10, "cachedContentTokenCount": 4, "toolUsePromptTokenCount": 3,
        "candidatesTokenCount": 5, "thoughtsTokenCount": 2});
    let second = json!({"promptTokenCount": 99, "candidatesTokenCount": 7, "thoughtsTokenCount": 1});
    let bodies = [
        event(part("a", json!("CONTINUATION"), json!("T1")), first),
        // A reply that was as long as asked for has a token too.
        event(part("b", json!("MAX_TOKENS"), json!("T2")), second),
    ];
    let (events, outcome) = decoded(&bodies);
    assert_eq!(outcome, Ok(()));
    let texts: String = events
        .iter()
        .filter_map(|e| if let StreamEvent::Text(t) = e { Some(t.as_str()) } else { None })
        .collect();
    assert_eq!(texts, "ab");
    let started = |event: &StreamEvent| matches!(event, StreamEvent::CallStarted { .. });
    let calls: Vec<&StreamEvent> = events.iter().filter(|event| started(event)).collect();
    assert!(matches!(calls[..], [a, b] if a != b), "{calls:?}");
    let usage = Usage { input: 9, cache_read: 4, cache_write: 0, output: 15, reasoning: 3 };
    assert_eq!(
        events[events.len() - 2..],
        [StreamEvent::Usage(usage), StreamEvent::Stopped(StopReason::Length),]
    );
    let (events, outcome) = decoded(&bodies[..1]);
    assert_eq!(outcome, Ok(()));
    assert!(!events.iter().any(|event| matches!(event, StreamEvent::Stopped(_))));
}

proptest! {
    /// Texts, signatures and calls go back as they came, in their order.
    #[test]
    fn every_part_goes_back_byte_for_byte_and_in_its_order(
        parts in prop::collection::vec((0u8..3, "\\PC{1,8}", prop::option::of("[A-Za-z0-9+/=_-]{1,12}")), 1..8),
    ) {
        let mut last_was_plain = false;
        let mut sent = Vec::new();
        for (number, (kind, text, signature)) in parts.into_iter().enumerate() {
            // Two texts without a signature between them are one.
            if kind > 0 && last_was_plain {
                continue;
            }
            let mut part = match (kind, &signature) {
                (0, _) => json!({"functionCall": {"id": format!("fc-{number}"), "name": "t", "args": {"a": text}}}),
                (1, Some(_)) => json!({"text": ""}),
                _ => json!({"text": text}),
            };
            last_was_plain = kind > 0 && signature.is_none();
            if let Some(signature) = signature {
                part["thoughtSignature"] = json!(signature);
            }
            sent.push(part);
        }
        let thought = json!({"text": "hm", "thought": true, "thoughtSignature": "never"});
        let all: Vec<Value> = [thought].into_iter().chain(sent.clone()).collect();
        let (events, outcome) = decoded(&[event(json!({"content": {"parts": all}, "finishReason": "STOP"}), json!({}))]);
        prop_assert_eq!(outcome, Ok(()));
        let back = contents(&flash_3(), vec![user("Go."), kept(events), user("Go on.")]);
        prop_assert_eq!(&back[1]["parts"], &json!(sent));
    }
}
