//! What each family of Claude is told, and that a reply goes back as it came.

use super::request::encode;
use crate::dialects::samples::{assistant, call, kept, picture, result, user};
use crate::encode::{Mode, REASONING_ROOM};
use crate::reasoning::samples;
use crate::{Decoder, Profile};
use oneclaw_catalogue::ThinkingType::{Adaptive, BetweenTools, Disabled, Enabled};
use oneclaw_catalogue::{Ability, Facts, Reasoning, Refusal, ThinkingType, Vendor};
use oneclaw_model::Effort::{High, Low, Max, Medium, Minimal, Xhigh};
use oneclaw_model::{Dialect, Effort, ModelLimits, Piece, Request, RequestMessage, Thinking};
use proptest::prelude::*;
use serde_json::{Value, json};

fn family(by_default: bool, types: &[ThinkingType], efforts: &[Effort]) -> Profile {
    let reasoning = Reasoning {
        by_default,
        types: types.to_vec(),
        efforts: efforts.to_vec(),
        quiet_up_to: (by_default && types.len() > 1).then_some(High),
        ..Reasoning::default()
    };
    let facts = Facts {
        service: "anthropic".to_owned(),
        dialect: Dialect::Messages,
        limits: ModelLimits { max_output: Some(64_000), ..ModelLimits::default() },
        reasoning: Some(reasoning),
        abilities: vec![Ability::Tools, Ability::Pictures],
        ..samples::plain().facts.unwrap()
    };
    Profile { vendor: Vendor::Anthropic, facts: Some(facts), ..samples::unknown() }
}

const ALL: [Effort; 5] = [Low, Medium, High, Xhigh, Max];

/// 4-5, 4-6, 4-7 and 4-8, sonnet-5 (also opus-5 and haiku-5-5), sonnet-5-5, opus-5-5 (also fable and mythos).
fn families() -> [Profile; 6] {
    [
        family(false, &[Enabled, Disabled], &[]),
        family(false, &[Adaptive, Enabled, Disabled], &[Low, Medium, High, Max]),
        family(false, &[Adaptive, Disabled], &ALL),
        family(true, &[Adaptive, Disabled], &ALL),
        family(true, &[Adaptive, BetweenTools], &ALL),
        family(true, &[Adaptive], &ALL),
    ]
}

fn asking(messages: Vec<RequestMessage>, max_output: u64) -> Request {
    Request { messages, max_output: Some(max_output), ..Request::default() }
}

/// The fields about thinking.
fn told(profile: &Profile, mode: Mode, max_output: u64) -> Value {
    let body = encode(profile, &asking(vec![user("Hello")], max_output), mode).body;
    for refused in ["temperature", "top_p", "top_k", "tool_choice"] {
        assert_eq!(body.get(refused), None);
    }
    json!([body.get("thinking"), body.pointer("/output_config/effort"), body["max_tokens"]])
}

#[test]
fn texts_are_asked_for_with_as_little_thinking_as_there_can_be() {
    let expected = [
        json!([null, null, 500]),
        json!([null, null, 500]),
        json!([null, null, 500]),
        json!([{"type": "disabled"}, null, 500]),
        json!([{"type": "between_tools"}, "low", 500 + REASONING_ROOM]),
        json!([null, "low", 500 + REASONING_ROOM]),
    ];
    for (profile, expected) in families().into_iter().zip(expected) {
        assert_eq!(told(&profile, Mode::Complete, 500), expected);
        // What the user wants of the conversation does not matter.
        assert_eq!(told(&Profile { effort: Some(Max), ..profile }, Mode::Complete, 500), expected);
    }
    assert_eq!(told(&samples::unknown(), Mode::Complete, 500), json!([null, null, 500]));
    assert_eq!(told(&samples::plain(), Mode::Complete, 500), json!([null, null, 500]));
}

#[test]
fn a_turn_says_nothing_unless_thinking_would_be_unreadable() {
    let readable = json!({"type": "adaptive", "display": "summarized"});
    for (number, profile) in families().into_iter().enumerate() {
        let thinking = if number < 3 { Value::Null } else { readable.clone() };
        assert_eq!(told(&profile, Mode::Chat, 5_000), json!([thinking, null, 5_000]), "{number}");
    }
    assert_eq!(told(&samples::unknown(), Mode::Chat, 5_000), json!([null, null, 5_000]));
}

#[test]
fn a_turn_gets_the_effort_that_is_wanted() {
    let readable = json!({"type": "adaptive", "display": "summarized"});
    for (wanted, budget, nearest, least) in [
        (Minimal, 1_024, ["low", "low"], "low"),
        (Medium, 8_192, ["medium", "medium"], "low"),
        (Xhigh, 24_576, ["high", "xhigh"], "low"),
        (Max, 24_576, ["max", "max"], "low"),
    ] {
        let expected = [
            json!([{"type": "enabled", "budget_tokens": budget}, null, 60_000]),
            json!([{"type": "adaptive"}, nearest[0], 60_000]),
            json!([readable, nearest[1], 60_000]),
            json!([readable, nearest[1], 60_000]),
            json!([readable, nearest[1], 60_000]),
            json!([readable, nearest[1], 60_000]),
        ];
        for (profile, expected) in families().into_iter().zip(expected) {
            assert_eq!(told(&Profile { effort: Some(wanted), ..profile }, Mode::Chat, 60_000), expected);
        }
        let [.., quiet, between, always] = families().map(|profile| {
            let profile = Profile { effort: Some(Effort::None), ..profile };
            told(&profile, Mode::Chat, 500)
        });
        assert_eq!(quiet, json!([{"type": "disabled"}, null, 500]));
        assert_eq!(between, json!([{"type": "between_tools"}, least, 500]));
        assert_eq!(always, json!([null, least, 500]));
    }
}

#[test]
fn budgets_leave_room_for_the_reply_or_are_left_out() {
    let [old, ..] = families();
    let old = Profile { effort: Some(High), ..old };
    let budget = |max_output| told(&old, Mode::Chat, max_output)[0]["budget_tokens"].clone();
    assert_eq!(budget(10_000), 5_000);
    assert_eq!(budget(2_048), 1_024);
    assert_eq!(budget(2_047), Value::Null);
}

#[test]
fn thinking_is_not_enabled_in_the_middle_of_a_turn() {
    let [old, ..] = families();
    let old = Profile { effort: Some(High), ..old };
    let thinking = |trace: Vec<Piece>| {
        let calls = vec![call("c1")];
        let messages = vec![user("Go."), assistant("", calls, trace), result("c1", false, vec![])];
        encode(&old, &asking(messages, 60_000), Mode::Chat).body.get("thinking").cloned()
    };
    assert_eq!(thinking(vec![]), None);
    assert_eq!(thinking(vec![Piece::Call, signed("", "s")]), None);
    assert!(thinking(vec![signed("", "s"), Piece::Call]).is_some());
    assert!(thinking(vec![Piece::Thinking(Thinking::Redacted { data: "d".into() })]).is_some());
    // What is over does not matter.
    let over = vec![user("Go."), assistant("", vec![call("c1")], vec![]), result("c1", false, vec![])];
    let messages = [over, vec![assistant("Done.", vec![], vec![]), user("Thanks.")]].concat();
    assert!(encode(&old, &asking(messages, 60_000), Mode::Chat).body.get("thinking").is_some());
}

#[test]
fn refusals_teach_the_types() {
    let [.., always] = families();
    let mut learnt = always.clone();
    learnt.learnt.thinking_types = Some(vec![Disabled]);
    assert_eq!(told(&learnt, Mode::Complete, 500), json!([{"type": "disabled"}, null, 500]));
    assert_eq!(told(&learnt, Mode::Chat, 500), json!([null, null, 500]));
    let mut stranger = Profile { effort: Some(High), ..samples::unknown() };
    stranger.learnt.thinking_types = Some(vec![Adaptive]);
    let readable = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(told(&stranger, Mode::Chat, 500), json!([readable, null, 500]));
    let mut bound = always;
    bound.learnt.reasoning_room = Some(9_000);
    bound.most_output = Some(8_000);
    assert_eq!(told(&bound, Mode::Complete, 500), json!([null, "low", 8_000]));
}

/// The messages of a request, as they are sent.
fn sent(profile: &Profile, messages: Vec<RequestMessage>) -> Vec<Value> {
    let body = encode(profile, &asking(messages, 500), Mode::Chat).body;
    body["messages"].as_array().unwrap().clone()
}

fn signed(text: &str, signature: &str) -> Piece {
    Piece::Thinking(Thinking::Signed { text: text.to_owned(), signature: signature.to_owned() })
}

#[test]
fn a_conversation_that_ends_with_the_assistant_goes_on_where_that_is_refused() {
    let [.., always] = families();
    let mut strict = always.clone();
    strict.facts.as_mut().unwrap().refuses.push(Refusal::Prefill);
    let ending = |trace: Vec<Piece>| vec![user("Go."), assistant("I will \n", vec![], trace)];
    let [first, second, last] = &sent(&strict, ending(vec![]))[..] else { panic!() };
    assert_eq!((&first["role"], &second["content"][0]["text"]), (&json!("user"), &json!("I will \n")));
    assert_eq!(last["content"][0]["text"], "(The conversation goes on.)");
    let lenient = sent(&always, ending(vec![]));
    assert_eq!((lenient.len(), &lenient[1]["content"][0]["text"]), (2, &json!("I will")));
    // A paused turn goes back as it is.
    let paused = sent(&strict, ending(vec![signed("", "s"), Piece::Text { bytes: 8, signature: None }]));
    assert_eq!((paused.len(), &paused[1]["content"][1]["text"]), (2, &json!("I will \n")));
}

#[test]
fn thinking_never_carries_the_cache_mark() {
    let [.., always] = families();
    let trace = vec![
        Piece::Text { bytes: 3, signature: None },
        signed("", "s"),
        Piece::Thinking(Thinking::Redacted { data: "d".into() }),
    ];
    let messages = sent(&always, vec![user("Go."), assistant("Hm.", vec![], trace)]);
    let marked = |block: &Value| block.get("cache_control").is_some();
    let blocks = messages[1]["content"].as_array().unwrap();
    assert_eq!(blocks.iter().map(marked).collect::<Vec<_>>(), [true, false, false]);
    assert!(!marked(&messages[0]["content"][0]));
}

#[test]
fn failed_results_and_models_that_do_not_see_get_labels() {
    let [.., always] = families();
    let label = "ok\n\n[Attached image/png: a]";
    let results = |profile: &Profile| {
        let calls = vec![call("c1"), call("c2")];
        let answers =
            [result("c1", true, vec![picture("image/png")]), result("c2", false, vec![picture("image/png")])];
        let user = RequestMessage::User { text: String::new(), attachments: vec![picture("image/png")] };
        let messages = [user, assistant("", calls, vec![])].into_iter().chain(answers).collect();
        let sent = sent(profile, messages);
        [sent[2]["content"][0].clone(), sent[2]["content"][1].clone(), sent[0]["content"][0].clone()]
    };
    let [failed, fine, user] = results(&always);
    assert_eq!((&failed["content"], &failed["is_error"]), (&json!(label), &json!(true)));
    assert_eq!((&fine["content"][1]["type"], fine.get("is_error")), (&json!("image"), None));
    assert_eq!(user["type"], "image");
    let mut blind = always;
    blind.learnt.no_pictures = true;
    let [failed, fine, user] = results(&blind);
    assert_eq!((&failed["content"], &fine["content"]), (&json!(label), &json!(label)));
    assert_eq!(user["text"], "[Attached image/png: a]");
}

// ---- a reply goes back as it came ----

/// A block as the service sends it.
fn block() -> impl Strategy<Value = Value> {
    let word = "\\PC{0,12}";
    prop_oneof![
        "\\PC{0,8}[a-z]".prop_map(|text| json!({"type": "text", "text": text})),
        (word, "[A-Za-z0-9+/=]{1,20}").prop_map(|(text, signature)| {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }),
        "[A-Za-z0-9+/=]{1,20}".prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        word.prop_map(|text| json!({"type": "tool_use", "name": "t", "input": {"a": text}})),
    ]
}

/// The blocks of a reply: each call has an id, and two texts in a row are one.
fn reply() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(block(), 1..8).prop_map(|mut blocks| {
        blocks.dedup_by(|a, b| a["type"] == "text" && b["type"] == "text");
        for (number, block) in blocks.iter_mut().enumerate().filter(|(_, block)| block["type"] == "tool_use")
        {
            block["id"] = json!(format!("toolu_{number}"));
        }
        blocks
    })
}

/// The stream that gives those blocks; texts come in two pieces.
fn stream(blocks: &[Value]) -> String {
    let mut events = vec![json!({"type": "message_start"})];
    for (index, block) in blocks.iter().enumerate() {
        let mut deltas = Vec::new();
        let mut start = block.clone();
        for (field, kind) in [("text", "text_delta"), ("thinking", "thinking_delta")] {
            if let Some(text) = block[field].as_str() {
                let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
                let (head, tail) = text.split_at(half);
                deltas.extend([head, tail].map(|piece| json!({"type": kind, field: piece})));
                start[field] = json!("");
            }
        }
        if block["type"] == "thinking" {
            start["signature"] = json!("");
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        if block["type"] == "tool_use" {
            start["input"] = json!({});
            deltas.push(json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}));
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_stop"}));
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

proptest! {
    #[test]
    fn every_block_goes_back_byte_for_byte_and_in_its_order(blocks in reply()) {
        let mut events = Vec::new();
        let mut decoder = Decoder::new(Dialect::Messages);
        decoder.push(stream(&blocks).as_bytes(), &mut events).unwrap();
        let message = kept(events);
        let results = blocks.iter().filter_map(|block| Some(result(block["id"].as_str()?, false, vec![])));
        let end = results.chain([user("Go on.")]);
        let messages = [user("Go."), message].into_iter().chain(end).collect();
        let [.., always] = families();
        let sent = sent(&always, messages);
        let is_thinking = |block: &Value| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
        if blocks.iter().all(is_thinking) {
            // Thinking that leads to nothing is refused, so nothing of it is sent.
            prop_assert_eq!(sent.len(), 1);
        } else {
            prop_assert_eq!(&sent[1]["content"], &json!(blocks));
        }
    }
}
