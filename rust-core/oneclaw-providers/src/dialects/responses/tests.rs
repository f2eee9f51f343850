//! Requests and replies of the dialect, written by hand after the facts of its documentation. No service was asked.

use super::request::encode;
use crate::reasoning::samples;
use crate::{Mode, Profile};
use oneclaw_catalogue::Refusal;
use oneclaw_model::{Attachment, Call, Effort, Piece, Request, RequestMessage, Thinking, ToolSpec};
use proptest::prelude::*;
use serde_json::{Value, json};

mod replies;

fn body(profile: &Profile, request: &Request, mode: Mode) -> Value {
    encode(profile, request, mode).body
}

fn user(text: &str, attachments: Vec<Attachment>) -> RequestMessage {
    RequestMessage::User { text: text.to_owned(), attachments }
}

fn call(id: &str, arguments: &str) -> Call {
    Call { id: id.into(), name: "read_file".to_owned(), arguments: arguments.to_owned(), signature: None }
}

fn result(id: &str, text: &str, attachments: Vec<Attachment>) -> RequestMessage {
    let (call, name, text) = (id.into(), "read_file".to_owned(), text.to_owned());
    RequestMessage::ToolResult { call, name, text, failed: false, attachments }
}

fn picture() -> Attachment {
    let data = Some("iVBORw0KGgo=".to_owned());
    Attachment { mime: "image/png".to_owned(), name: "a.png".to_owned(), width: None, height: None, data }
}

fn of(messages: Vec<RequestMessage>) -> Request {
    Request { messages, max_output: Some(1_000), ..Request::default() }
}

fn tool() -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let description = "Reads a file.".to_owned();
    ToolSpec { name: "read_file".to_owned(), description, parameters, protected: false }
}

/// A reasoning item as it comes, with an id that says which it is.
fn thought(id: &str) -> Piece {
    let json = format!(r#"{{"id":"{id}","type":"reasoning","summary":[],"encrypted_content":"of {id}"}}"#);
    Piece::Thinking(Thinking::Item { json })
}

fn text(bytes: usize, signature: Option<&str>) -> Piece {
    Piece::Text { bytes, signature: signature.map(str::to_owned) }
}

// ---- the body ----

#[test]
fn nothing_is_kept_at_the_service() {
    let request = Request { system: Some("Be brief.".to_owned()), ..of(vec![user("Hello", vec![])]) };
    assert_eq!(
        body(&samples::plain(), &request, Mode::Chat),
        json!({
            "model": "m",
            "store": false,
            "stream": true,
            "instructions": "Be brief.",
            "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}],
            "max_output_tokens": 1_000,
        })
    );
    let blank = Request { system: Some(" \n".to_owned()), ..of(vec![user("", vec![])]) };
    let body = body(&samples::unknown(), &blank, Mode::Chat);
    assert_eq!(body.get("instructions"), None);
    assert_eq!(body["input"][0]["content"], json!([{"type": "input_text", "text": ""}]));
}

#[test]
fn tools_are_declared_as_they_are() {
    let request = Request { tools: vec![tool()], ..of(vec![user("Hello", vec![])]) };
    let mut profile = samples::plain();
    let sent = body(&profile, &request, Mode::Chat);
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    assert_eq!(
        sent["tools"],
        json!([{"type": "function", "name": "read_file", "description": "Reads a file.",
            "parameters": parameters, "strict": false}])
    );
    // It is refused even where it says what the model does anyway.
    profile.facts.as_mut().unwrap().refuses = vec![Refusal::ParallelCalls];
    assert_eq!(body(&profile, &request, Mode::Chat).get("parallel_tool_calls"), None);
}

#[test]
fn reasoning_is_asked_for_where_there_is_some() {
    let request = of(vec![user("Hello", vec![])]);
    let chat = |profile: &Profile| {
        let body = body(profile, &request, Mode::Chat);
        (body.get("reasoning").cloned(), body.get("include").cloned())
    };
    let include = Some(json!(["reasoning.encrypted_content"]));
    let all = [Effort::None, Effort::Low, Effort::High];
    let wanting = |effort| Profile { effort, ..samples::reasoning(&all) };
    assert_eq!(chat(&wanting(None)), (Some(json!({"summary": "auto"})), include.clone()));
    let high = Some(json!({"effort": "high", "summary": "auto"}));
    assert_eq!(chat(&wanting(Some(Effort::Max))), (high, include.clone()));
    assert_eq!(chat(&wanting(Some(Effort::None))), (Some(json!({"effort": "none"})), include.clone()));
    assert_eq!(chat(&samples::reasoning(&[])), (Some(json!({"summary": "auto"})), include.clone()));
    let mut silent = wanting(Some(Effort::Low));
    silent.learnt.no_summary = true;
    assert_eq!(chat(&silent), (Some(json!({"effort": "low"})), include));
    assert_eq!(chat(&samples::plain()), (None, None));
    assert_eq!(chat(&samples::unknown()), (None, None));
}

#[test]
fn texts_reason_least_and_have_room_for_it() {
    let request = of(vec![user("Summarise.", vec![])]);
    for (efforts, least, limit) in [
        (&[Effort::None, Effort::Low][..], Some("none"), 1_000),
        (&[Effort::Low, Effort::Max], Some("low"), 5_096),
        (&[Effort::Medium, Effort::High], Some("medium"), 17_384),
        (&[], None, 17_384),
    ] {
        let profile = Profile { conversation: Some("c".to_owned()), ..samples::reasoning(efforts) };
        let body = body(&profile, &request, Mode::Complete);
        assert_eq!(body.get("reasoning"), least.map(|word| json!({"effort": word})).as_ref());
        assert_eq!(body["max_output_tokens"], limit);
        assert_eq!((body.get("include"), body.get("prompt_cache_key")), (None, None));
    }
    let limit = |max_output, most_output| {
        let profile = Profile { most_output, ..samples::plain() };
        let request = Request { max_output, ..request.clone() };
        body(&profile, &request, Mode::Chat).get("max_output_tokens").and_then(Value::as_u64)
    };
    assert_eq!(limit(Some(1), None), Some(16));
    assert_eq!(limit(Some(9_000), Some(5_000)), Some(5_000));
    assert_eq!(limit(None, Some(5_000)), None);
}

#[test]
fn a_conversation_has_one_key() {
    let key = |conversation: &str| {
        let profile = Profile { conversation: Some(conversation.to_owned()), ..samples::plain() };
        let body = body(&profile, &of(vec![]), Mode::Chat);
        body.get("prompt_cache_key").and_then(Value::as_str).map(str::to_owned)
    };
    assert_eq!(key("session-1").as_deref(), Some("session-1"));
    assert_eq!(key(""), None);
    for odd in ["Zoë", "a b", &"x".repeat(65)] {
        let made = key(odd).unwrap();
        assert!(made.len() == 16 && made.chars().all(|c| c.is_ascii_hexdigit()), "{made}");
        assert_eq!(key(odd), Some(made.clone()));
        assert_ne!(key(&format!("{odd}!")), Some(made));
    }
}

#[test]
fn pictures_go_to_models_that_see() {
    let pdf = Attachment { mime: "application/pdf".to_owned(), name: "b.pdf".to_owned(), ..picture() };
    let request = of(vec![
        user("Look.", vec![picture(), pdf]),
        RequestMessage::Assistant { text: String::new(), calls: vec![call("c1", "{}")], trace: vec![] },
        result("c1", "", vec![picture()]),
    ]);
    let image =
        json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"});
    let sent = body(&samples::plain(), &request, Mode::Chat);
    let text = json!({"type": "input_text", "text": "Look.\n\n[Attached application/pdf: b.pdf]"});
    assert_eq!(sent["input"][0]["content"], json!([text, image]));
    assert_eq!(sent["input"][2]["output"], json!([image]));
    let mut blind = samples::plain();
    blind.learnt.no_pictures = true;
    let sent = body(&blind, &request, Mode::Chat);
    let both = "Look.\n\n[Attached image/png: a.png]\n\n[Attached application/pdf: b.pdf]";
    assert_eq!(sent["input"][0]["content"], json!([{"type": "input_text", "text": both}]));
    assert_eq!(sent["input"][2]["output"], "[Attached image/png: a.png]");
}

// ---- replies that go back ----

#[test]
fn a_reply_goes_back_as_it_was_made() {
    let calls = vec![call("c1", r#"{"path":"a.md"}"#), call("c2", "no JSON")];
    let trace = vec![
        thought("rs_1"),
        text(12, Some("commentary")),
        thought("rs_2"),
        Piece::Call,
        Piece::Call,
        thought("rs_3"),
    ];
    let reply = RequestMessage::Assistant { text: "I will look.\n\nDone.".to_owned(), calls, trace };
    let request = of(vec![user("Go", vec![]), reply, result("c1", "A", vec![]), result("c2", "", vec![])]);
    let said = |text: &str| json!([{"type": "output_text", "text": text, "annotations": []}]);
    let reasoning = |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": format!("of {id}")});
    assert_eq!(
        body(&samples::plain(), &request, Mode::Chat)["input"],
        json!([
            {"role": "user", "content": [{"type": "input_text", "text": "Go"}]},
            reasoning("rs_1"),
            {"type": "message", "role": "assistant", "content": said("I will look."), "phase": "commentary"},
            reasoning("rs_2"),
            {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": r#"{"path":"a.md"}"#},
            {"type": "function_call", "call_id": "c2", "name": "read_file", "arguments": r#"{"_raw":"no JSON"}"#},
            reasoning("rs_3"),
            {"type": "message", "role": "assistant", "content": said("Done.")},
            {"type": "function_call_output", "call_id": "c1", "output": "A"},
            {"type": "function_call_output", "call_id": "c2", "output": ""},
        ])
    );
}

#[test]
fn foreign_and_broken_reasoning_stays_behind() {
    let item = |json: &str| Piece::Thinking(Thinking::Item { json: json.to_owned() });
    let trace = vec![
        item("no JSON"),
        item("[]"),
        item(r#"{"type":"message","encrypted_content":"x"}"#),
        item(r#"{"type":"reasoning","id":"rs_1","summary":[]}"#),
        item(r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null}"#),
        Piece::Thinking(Thinking::Signed { text: "t".to_owned(), signature: "s".to_owned() }),
        Piece::Thinking(Thinking::Redacted { data: "d".to_owned() }),
        text(2, Some("Z2VtaW5p")),
        thought("rs_2"),
    ];
    let reply = RequestMessage::Assistant { text: "Hi".to_owned(), calls: vec![], trace };
    let only_thought = RequestMessage::Assistant {
        text: " \n".to_owned(),
        calls: vec![],
        trace: vec![thought("rs_3"), text(2, None)],
    };
    let input = body(&samples::plain(), &of(vec![reply, only_thought]), Mode::Chat)["input"].clone();
    let content = json!([{"type": "output_text", "text": "Hi", "annotations": []}]);
    assert_eq!(input, json!([{"type": "message", "role": "assistant", "content": content}]));
}

#[test]
fn ids_of_other_services_are_replaced() {
    let long = "x".repeat(65);
    let ids = ["functions.read:0", "", long.as_str(), "fine_1"];
    let reply = RequestMessage::Assistant {
        text: String::new(),
        calls: ids.iter().map(|id| call(id, "{}")).collect(),
        trace: vec![],
    };
    let results = ids.iter().map(|id| result(id, "ok", vec![]));
    let input = body(&samples::plain(), &of([reply].into_iter().chain(results).collect()), Mode::Chat);
    let sent: Vec<&str> =
        input["input"].as_array().unwrap().iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    assert_eq!(sent[..4], sent[4..]);
    assert_eq!(sent[3], "fine_1");
    assert!(sent.iter().all(|id| !id.is_empty() && id.len() <= 64 && !id.contains(['.', ':'])));
}

// ---- what holds for every reply ----

/// Any reply with its results: text, calls, and a trace that may or may not fit them.
fn reply() -> impl Strategy<Value = Vec<RequestMessage>> {
    let piece = prop_oneof![
        3 => (0usize..1_000).prop_map(|id| thought(&format!("rs_{id}"))),
        3 => Just(Piece::Call),
        3 => (0usize..8, prop::option::of(prop_oneof![Just("commentary"), Just("final_answer"), Just("x")]))
            .prop_map(|(bytes, signature)| text(bytes, signature)),
        1 => "\\PC{0,12}".prop_map(|json| Piece::Thinking(Thinking::Item { json })),
        1 => Just(Piece::Thinking(Thinking::Item { json: r#"{"type":"reasoning"}"#.to_owned() })),
        1 => Just(Piece::Thinking(Thinking::Redacted { data: "d".to_owned() })),
    ];
    let ids = prop::collection::hash_set("[a-z.]{0,3}", 0..4);
    ("[ \\na-zé]{0,20}", ids, prop::collection::vec(piece, 0..10)).prop_map(|(text, ids, trace)| {
        let calls = ids.iter().map(|id| call(id, "{}")).collect();
        let results = ids.iter().map(|id| result(id, "ok", vec![]));
        [RequestMessage::Assistant { text, calls, trace }].into_iter().chain(results).collect()
    })
}

proptest! {
    #[test]
    fn every_item_has_what_it_needs_beside_it(replies in prop::collection::vec(reply(), 0..4)) {
        let turns = replies.iter().flat_map(|reply| [user("Go", vec![])].into_iter().chain(reply.clone()));
        let request = of(turns.collect());
        let body = body(&samples::plain(), &request, Mode::Chat);
        let items = body["input"].as_array().unwrap();
        let kind = |item: &Value| item["type"].as_str().unwrap_or("user").to_owned();
        let mut open: Vec<&str> = Vec::new();
        for (at, item) in items.iter().enumerate() {
            // With an id, a call or message would have to stand beside its reasoning.
            prop_assert!(item.get("id").is_none() || kind(item) == "reasoning");
            match kind(item).as_str() {
                "reasoning" => {
                    prop_assert!(item["encrypted_content"].as_str().is_some_and(|text| !text.is_empty()));
                    let next = items.get(at + 1).map(kind).unwrap_or_default();
                    prop_assert!(["reasoning", "message", "function_call"].contains(&next.as_str()), "{}", next);
                }
                "message" => {
                    let text = item["content"][0]["text"].as_str().unwrap();
                    prop_assert!(!text.trim().is_empty());
                }
                "function_call" => open.push(item["call_id"].as_str().unwrap()),
                "function_call_output" => {
                    prop_assert_eq!(open.first().copied(), item["call_id"].as_str());
                    open.remove(0);
                }
                _ => prop_assert!(open.is_empty(), "a call without its result"),
            }
        }
        prop_assert!(open.is_empty());
        // Nothing that was said is lost, and nothing is said twice.
        let said: String = items.iter().filter_map(|item| item["content"][0]["text"].as_str()).collect();
        let bare = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let wanted: String = request.messages.iter().map(|message| match message {
            RequestMessage::ToolResult { .. } => "",
            message => message.text(),
        }).collect();
        prop_assert_eq!(bare(&said), bare(&wanted));
    }
}
