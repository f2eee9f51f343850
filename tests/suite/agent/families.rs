//! Every family of models as its service treats it today: the loopback server refuses by the catalogue what the real one
//! refuses, and nothing has to be set by hand. Nothing here was called live; the facts are those of the catalogue.

use super::kit::{House, PROVIDER, Setup, UNLISTED, compactions, errors, names, said, wordy};
use super::limits::canned;
use super::talk::prose;
use crate::http::{Act, Server as Canned};
use oneclaw_agent::Event;
use oneclaw_catalogue::{
    Ability, Date, FACTS_OF, Facts, Reasoning, Refusal, ThinkingType, Vendor, all, find,
};
use oneclaw_demo::{Flavour, Step};
use oneclaw_model::row::RowType;
use oneclaw_model::{Dialect, Effort, ModelLimits, Piece, ProviderKind};
use serde_json::{Value, json};

/// A house whose server refuses by the catalogue.
fn by_catalogue(kind: ProviderKind, model: &'static str, window: u64) -> Setup {
    let mut setup = Setup { kind, served: vec![(model, window)], max_output: 2_000, ..Setup::default() };
    setup.demo.uses_catalogue = true;
    setup
}

fn failed(house: &House) -> Vec<String> {
    let exchanges = house.exchanges().into_iter().filter(|e| e.status != Some(200));
    exchanges.map(|e| format!("{:?} {:?}", e.status, e.request)).collect()
}

// ---- long conversations ----

/// A turn that says much, asks for tools in several rounds now and then, and pads the window.
fn message(turn: usize) -> String {
    match turn % 4 {
        0 => format!("Turn {turn}: please read /data/part{turn}.txt and /data/more{turn}.txt for me."),
        1 => format!("Turn {turn}: {}", "a remark about gravel roads and the people on them ".repeat(12)),
        2 => format!("Turn {turn}: write 120 words about rivers."),
        _ => format!("Turn {turn}: {}", "0x1f4a, 3.14159, 42; ".repeat(30)),
    }
}

/// Rounds of tools in one turn, each after reasoning.
fn rounds(count: usize) -> Vec<Step> {
    let call = |n: usize| Step::Calls(vec![("read_file".into(), format!(r#"{{"path":"/data/{n}.txt"}}"#))]);
    (0..count).map(call).chain([Step::Model]).collect()
}

/// Three hundred turns with tools: nothing is refused, compactions happen in the middle of turns too, reasoning goes back,
/// and what was said first is known at the end.
async fn converse(kind: ProviderKind, model: &'static str, is_reasoning: fn(&Value) -> bool) {
    let setup = by_catalogue(kind, model, 8_000).tool(wordy("read_file", 150));
    let mut house = setup.build(&format!("family-{model}")).await;
    assert!(house.ask("Remember: the door code = 4711.").await.contains("4711"));
    let mut compacted = 0;
    for turn in 1..=300 {
        if turn % 20 == 0 {
            house.script(rounds(8));
        }
        let events = house.send(&message(turn)).await;
        assert_eq!(errors(&events), [] as [String; 0], "{model}, turn {turn}");
        compacted += compactions(&events).len();
        if turn % 75 == 0 {
            house.restart().await;
        }
    }
    let refused = failed(&house);
    assert!(refused.is_empty(), "{model}: {} refused, first {:?}", refused.len(), refused.first());
    assert!(compacted >= 3, "{model}: only {compacted} compactions");
    let replayed = house.chats().iter().filter(|e| is_reasoning(&e.request)).count();
    assert!(replayed > 50, "{model}: reasoning went back in {replayed} requests only");
    assert!(house.ask("What is the door code?").await.contains("4711"), "{model}");
}

fn has(value: &Value, is_wanted: &dyn Fn(&Value) -> bool) -> bool {
    is_wanted(value)
        || match value {
            Value::Array(list) => list.iter().any(|v| has(v, is_wanted)),
            Value::Object(map) => map.values().any(|v| has(v, is_wanted)),
            _ => false,
        }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_in_responses() {
    converse(ProviderKind::OpenAi, "gpt-6-sol", |r| has(r, &|v| v["type"] == "reasoning")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_with_claude_whose_thinking_is_preserved() {
    converse(ProviderKind::Anthropic, "claude-opus-5-5", |r| has(r, &|v| v["type"] == "thinking")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_with_gemini_whose_calls_are_signed() {
    converse(ProviderKind::Gemini, "gemini-3.8-flash", |r| has(r, &|v| v["thoughtSignature"].is_string()))
        .await;
}

// ---- nothing to set by hand ----

fn today() -> Date {
    FACTS_OF.to_owned().try_into().unwrap()
}

/// Models of a service that can be talked to today.
fn living(kind: ProviderKind) -> Vec<&'static Facts> {
    let service = match kind {
        ProviderKind::OpenAi => "openai",
        ProviderKind::Anthropic => "anthropic",
        ProviderKind::Gemini => "gemini",
    };
    let lives = |facts: &&Facts| {
        facts.service == service
            && !facts.is_family()
            && !facts.is_off(today())
            && facts.limits.window.is_some_and(|window| window >= 16_000)
            // At an address on this machine, a name such as `chat-latest` does not tell whose model it is.
            && (kind != ProviderKind::OpenAi || find(Vendor::Compatible, &facts.id).is_some())
    };
    all().iter().filter(lives).collect()
}

/// Every listed model: its window is known, it answers, calls a tool where it can, and writes a summary although its
/// reasoning takes thousands of tokens; the service refuses nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_of_the_catalogue_needs_no_setting_by_hand() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini] {
        let models = living(kind);
        assert!(models.len() >= 10, "{kind:?}: only {}", models.len());
        let served = models.iter().map(|f| (f.id.as_str(), f.limits.window.unwrap())).collect();
        let mut setup = Setup { kind, served, believed: Some(0), max_output: 128_000, ..Setup::default() };
        setup.demo.uses_catalogue = true;
        setup.demo.reasoning_tokens = 3_000;
        setup.demo.lists_sizes = false;
        // This preset keeps no tail, so that a short conversation on a large window can be compacted too.
        let setup = setup.tool(wordy("read_file", 50)).preset("opencode");
        let mut house = setup.build(&format!("by-hand-{kind:?}")).await;
        for facts in models {
            let model = facts.id.as_str();
            house.session = house.agent.create_session().await.unwrap();
            house.agent.set_model(&house.session, PROVIDER, model).await.unwrap();
            let status = house.agent.status(&house.session).await.unwrap();
            assert_eq!(status.window, facts.limits.window, "{model}");
            let events = house.send("Please read /data/a.txt for me.").await;
            assert_eq!(errors(&events), [] as [String; 0], "{model}");
            let calls = house.rows_of(RowType::ToolCall).len();
            assert_eq!(calls > 0, facts.can(Ability::Tools), "{model}: {:?}", names(&events));
            assert_eq!(errors(&house.send(&format!("Note this. {}", prose(900))).await), [] as [String; 0]);
            let events = house.compact(None).await;
            let done = compactions(&events);
            assert!(
                done.iter().all(|(did, fallback, ..)| *did && !*fallback),
                "{model}: {done:?} {:?}",
                errors(&events)
            );
            assert_eq!(done.len(), 1, "{model}: {:?}", names(&events));
        }
        let refused = failed(&house);
        assert!(refused.is_empty(), "{kind:?}: {} refused, first {:?}", refused.len(), refused.first());
    }
}

#[tokio::test]
async fn who_is_believed_about_a_window() {
    let setup = Setup { believed: Some(20_000), ..Setup::window(8_000) };
    let mut house = setup.build("trust").await;
    let window = async |house: &House| house.agent.status(&house.session).await.unwrap().window;
    assert_eq!(window(&house).await, Some(20_000), "the file goes before the catalogue");
    while house.refused() == 0 {
        house.turn().await;
    }
    assert_eq!(window(&house).await, Some(8_000), "what was learnt goes before the file");
    house.restart().await;
    assert_eq!(window(&house).await, Some(8_000), "also later");
    house.agent.models(PROVIDER).await.unwrap();
    assert_eq!(window(&house).await, Some(8_000), "the list says the same");
    let mut listing = Setup::window(30_000).build("trust-listed").await;
    listing.agent.models(PROVIDER).await.unwrap();
    assert_eq!(window(&listing).await, Some(30_000));
    let model = super::kit::MODEL;
    listing
        .agent
        .write(move |t| oneclaw_agent::set_user_window(t, PROVIDER, model, Some(9_000)))
        .await
        .unwrap();
    assert_eq!(window(&listing).await, Some(9_000), "the user's word goes before the list");
    listing.restart().await;
    assert_eq!(window(&listing).await, Some(9_000));
    let own = ModelLimits { window: Some(12_000), ..ModelLimits::default() };
    listing.agent.set_limits(PROVIDER, model, own);
    assert_eq!(window(&listing).await, Some(12_000), "the newest word of the user first");
}

/// The user says more than the service holds: the turn succeeds all the same, and the rest of the conversation heeds it.
#[tokio::test]
async fn a_window_the_user_overstates_costs_one_refusal_a_conversation() {
    let house = Setup::window(8_000).build("overstated").await;
    let own = ModelLimits { window: Some(100_000), ..ModelLimits::default() };
    house.agent.set_limits(PROVIDER, super::kit::MODEL, own);
    for _ in 0..60 {
        assert_eq!(errors(&house.turn().await), [] as [String; 0]);
    }
    assert_eq!(house.refused(), 1);
}

// ---- what the catalogue does not know, a refusal teaches ----

/// A model nobody has listed, as the server knows it.
fn secret(dialect: Dialect, reasoning: Option<Reasoning>, refuses: &[Refusal]) -> Facts {
    Facts {
        service: "openai".into(),
        id: UNLISTED.into(),
        dialect,
        limits: ModelLimits::default(),
        reasoning,
        abilities: vec![Ability::Tools, Ability::Pictures],
        refuses: refuses.to_vec(),
        cache: None,
        prices: None,
        ends: None,
    }
}

async fn with_secret(name: &str, kind: ProviderKind, facts: Facts) -> House {
    let mut setup = Setup { kind, served: vec![(UNLISTED, 16_000)], max_output: 8_000, ..Setup::default() };
    setup.demo.facts = vec![facts];
    setup.tool(wordy("read_file", 50)).build(name).await
}

/// Two turns with tools and a summary: so many refusals in all, and none after a restart.
async fn learns(house: &mut House, refusals: usize) {
    let turn = "Please read /data/a.txt for me.";
    assert_eq!(errors(&house.send(turn).await), [] as [String; 0]);
    assert_eq!(failed(house).len(), refusals, "{:#?}", failed(house));
    house.restart().await;
    assert_eq!(errors(&house.send(turn).await), [] as [String; 0]);
    assert_eq!(failed(house).len(), refusals, "{:#?}", failed(house));
    assert!(house.rows_of(RowType::ToolCall).len() >= 2);
}

#[tokio::test]
async fn a_model_that_is_only_in_responses_is_found_there() {
    let facts = secret(Dialect::Responses, None, &[Refusal::ChatCompletions]);
    let mut house = with_secret("learn-dialect", ProviderKind::OpenAi, facts).await;
    learns(&mut house, 1).await;
    assert!(house.chats().last().unwrap().path.ends_with("/responses"));
}

#[tokio::test]
async fn tools_that_are_refused_beside_reasoning_are_offered_otherwise() {
    let reasoning = Reasoning {
        by_default: true,
        efforts: vec![Effort::None, Effort::Low, Effort::High],
        ..Reasoning::default()
    };
    let facts = secret(Dialect::Responses, Some(reasoning), &[Refusal::ChatToolsUnlessNone]);
    let mut house = with_secret("learn-tools", ProviderKind::OpenAi, facts).await;
    learns(&mut house, 1).await;
}

#[tokio::test]
async fn a_server_without_responses_is_spoken_to_in_chat_completions() {
    let setup = Setup { served: vec![("gpt-6-sol", 16_000)], ..Setup::default() };
    let house = setup.build("learn-no-responses").await;
    let server = canned(&house, |_, request| match request.contains("/responses ") {
        true => Act::answer("404 Not Found", "", r#"{"detail":"Not Found"}"#),
        false => {
            let chunk =
                json!({"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]});
            let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
            Act::answer("200 OK", "content-type: text/event-stream\r\n", &body)
        }
    })
    .await;
    for _ in 0..3 {
        let events = house.send("Hello.").await;
        assert_eq!((said(&events).as_str(), errors(&events)), ("Yes.", vec![]));
    }
    let asked = server.requests().iter().filter(|r| r.contains("/responses ")).count();
    assert_eq!(asked, 1, "remembered");
}

#[tokio::test]
async fn reasoning_that_a_server_wants_back_goes_back() {
    for flavour in [Flavour::DeepSeek, Flavour::Kimi] {
        let served = vec![(UNLISTED, 16_000)];
        let mut setup = Setup { served, max_output: 4_000, ..Setup::default() };
        setup.demo.flavour = flavour;
        let mut house = setup.tool(wordy("read_file", 50)).build(&format!("learn-back-{flavour:?}")).await;
        learns(&mut house, 1).await;
    }
}

#[tokio::test]
async fn what_openrouter_gave_goes_back_verbatim() {
    // The host tells that it is OpenRouter; a server on this machine has to learn nothing and may leave it out.
    let mut setup = Setup { served: vec![(UNLISTED, 16_000)], max_output: 4_000, ..Setup::default() };
    setup.demo.flavour = Flavour::OpenRouter;
    let house = setup.tool(wordy("read_file", 50)).build("openrouter").await;
    let events = house.send("Please read /data/a.txt for me.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
}

/// A thinking model nobody has listed: its first summary is used up by reasoning and asked for again with room; later ones
/// have room from the start.
#[tokio::test]
async fn a_summary_is_not_lost_to_reasoning() {
    let reasoning = Reasoning { by_default: true, ..Reasoning::default() };
    let facts = secret(Dialect::ChatCompletions, Some(reasoning), &[]);
    let mut setup = Setup { served: vec![(UNLISTED, 64_000)], max_output: 32_000, ..Setup::default() };
    setup.demo.facts = vec![facts];
    setup.demo.reasoning_tokens = 6_000;
    let mut house = setup.preset("opencode").build("learn-room").await;
    for (round, requests) in [(1, 2), (2, 3)] {
        for _ in 0..3 {
            assert_eq!(errors(&house.turn().await), [] as [String; 0]);
        }
        let events = house.compact(None).await;
        assert_eq!(
            compactions(&events),
            [(true, false, Some("continuation".into()), "manual".into())],
            "{round} {:?}",
            errors(&events)
        );
        assert!(house.summaries().len() <= requests, "{round}: {}", house.summaries().len());
        house.restart().await;
    }
}

/// A service that refuses reasoning as bound to another conversation is not asked the same again: the reasoning is left out
/// once and for all.
#[tokio::test]
async fn reasoning_that_is_refused_is_left_out_for_good() {
    let setup = Setup {
        kind: ProviderKind::Anthropic,
        served: vec![("claude-opus-5-5", 100_000)],
        ..Setup::default()
    };
    let mut house = setup.tool(wordy("read_file", 10)).build("learn-replay").await;
    let server = canned(&house, |nth, request| {
        let is_result = request.contains("tool_result");
        match (is_result, request.contains(r#""type":"thinking","#) || request.contains("c2lnbmVk")) {
            (false, _) => anthropic(&["thinking", "tool_use"], nth),
            (true, true) => Act::answer("400 Bad Request", "", &json!({"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".",
            }}).to_string()),
            (true, false) => anthropic(&["text"], nth),
        }
    })
    .await;
    let events = house.send("Please read /data/a.txt for me.").await;
    assert_eq!((said(&events).as_str(), errors(&events)), ("Done.", vec![]));
    let sent = |server: &Canned| server.requests().iter().filter(|r| r.contains("tool_result")).count();
    assert_eq!(sent(&server), 2, "refused once, then taken");
    let rows = house.rows();
    let traces = rows.iter().filter(|stored| {
        let pieces = stored.row.trace.as_ref().map(|trace| &trace.pieces);
        pieces.is_some_and(|pieces| pieces.iter().any(|piece| matches!(piece, Piece::Thinking(_))))
    });
    assert_eq!(traces.count(), 0);
    house.restart().await;
    assert!(house.rows().iter().any(|s| s.row.thinking_content.as_deref() == Some("Hm.")), "still readable");
}

/// One odd answer of a service costs a message, not the model: a request far below a known window is not too long.
#[tokio::test]
async fn an_odd_refusal_of_a_small_request_teaches_nothing() {
    let refusals = [
        json!({"error": {"message": "Your input exceeds the context window of this model.", "code": "context_length_exceeded"}}),
        json!({"error": {"message": "This model's maximum context length is 700 tokens. However, your messages resulted in 900 tokens."}}),
    ];
    for (number, refusal) in refusals.into_iter().enumerate() {
        let setup = Setup { served: vec![("gpt-4o", 128_000)], ..Setup::default() };
        let mut house = setup.build(&format!("odd-refusal-{number}")).await;
        let body = refusal.to_string();
        let server = canned(&house, move |_, _| Act::answer("400 Bad Request", "", &body)).await;
        assert_eq!(errors(&house.send("Hello.").await).len(), 1);
        assert!(server.requests().len() <= 2);
        house.new_server().await;
        house.restart().await;
        let events = house.send("Hello again.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert_eq!(house.agent.status(&house.session).await.unwrap().window, Some(128_000));
    }
}

/// A service that refuses reasoning in every request is sent none after the first refusal, however long the turn.
#[tokio::test]
async fn reasoning_that_is_refused_once_is_not_sent_again_in_the_turn() {
    let setup = Setup {
        kind: ProviderKind::Anthropic,
        served: vec![("claude-opus-5-5", 100_000)],
        ..Setup::default()
    };
    let house = setup.tool(wordy("read_file", 10)).build("refused-once").await;
    let server = canned(&house, |nth, request| match (request.contains("c2lnbmVk"), nth) {
        (true, _) => Act::answer(
            "400 Bad Request",
            "",
            &json!({"type": "error", "error": {
                "type": "invalid_request_error",
                "message": "messages.1.content.0: Invalid `signature` in `thinking` block",
            }})
            .to_string(),
        ),
        (false, 0..6) => anthropic(&["thinking", "tool_use"], nth),
        (false, _) => anthropic(&["text"], nth),
    })
    .await;
    let events = house.send("Please read them all.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(server.requests().iter().filter(|r| r.contains("c2lnbmVk")).count(), 1);
}

/// A stream of Anthropic with those blocks.
fn anthropic(blocks: &[&str], nth: usize) -> Act {
    let mut events = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 10}}})];
    for (index, block) in blocks.iter().enumerate() {
        let (start, delta) = match *block {
            "thinking" => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": "Hm."}),
                    json!({"type": "signature_delta", "signature": "c2lnbmVk"}),
                ],
            ),
            "tool_use" => (
                json!({"type": "tool_use", "id": format!("toolu_{nth}"), "name": "read_file", "input": {}}),
                vec![json!({"type": "input_json_delta", "partial_json": "{\"path\":\"/data/a.txt\"}"})],
            ),
            _ => (json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": "Done."})]),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in delta {
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if blocks.contains(&"tool_use") { "tool_use" } else { "end_turn" };
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
    );
    events.push(json!({"type": "message_stop"}));
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    Act::answer("200 OK", "content-type: text/event-stream\r\n", &body)
}

// ---- pictures and unknown windows ----

#[tokio::test]
async fn pictures_are_not_sent_to_a_model_that_cannot_see_and_the_user_is_told() {
    let blind = find(Vendor::Compatible, "gpt-3.5-turbo").expect("listed");
    assert!(!blind.can(Ability::Pictures));
    let house = Setup { served: vec![("gpt-3.5-turbo", 16_000)], ..Setup::default() }.build("blind").await;
    let picture = oneclaw_agent::Enclosure::New(oneclaw_model::Attachment {
        mime: "image/png".into(),
        name: "tower.png".into(),
        width: Some(8),
        height: Some(8),
        data: Some("iVBORw0KGgo=".into()),
    });
    let run = house.agent.send(&house.session, "What is this?", vec![picture]).await.unwrap();
    let events = super::kit::all(run).await;
    assert_eq!(errors(&events), [] as [String; 0]);
    let told = events.iter().filter(|e| **e == Event::PicturesLeftOut { count: 1 }).count();
    assert_eq!(told, 1, "{:?}", names(&events));
    let sent = house.chats().last().unwrap().request.to_string();
    assert!(sent.contains("[Attached image/png: tower.png]") && !sent.contains("iVBORw0KGgo="), "{sent}");
}

#[tokio::test]
async fn a_large_request_to_a_model_of_unknown_window_warns_once() {
    let house = Setup::unlisted(100_000).build("warned").await;
    let warned =
        |events: &[Event]| events.iter().filter(|e| matches!(e, Event::WindowUnknown { .. })).count();
    assert_eq!(warned(&house.send("Hello.").await), 0);
    assert_eq!(warned(&house.send(&prose(40_000)).await), 1);
    assert_eq!(warned(&house.send("And now?").await), 0);
}

/// A server that lists its window teaches it before the first message, so that nothing is refused.
#[tokio::test]
async fn a_listed_window_is_read_before_the_first_message() {
    let setup = Setup { believed: Some(0), served: vec![(UNLISTED, 8_000)], ..Setup::default() };
    let house = setup.build("looked-up").await;
    assert_eq!(house.agent.status(&house.session).await.unwrap().window, None, "looking asks nobody");
    house.turns(30).await;
    assert_eq!(house.agent.status(&house.session).await.unwrap().window, Some(8_000));
    assert_eq!(house.refused(), 0);
}

#[tokio::test]
async fn claudes_that_cannot_be_told_to_stop_thinking_have_room_for_it() {
    for model in ["claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-5", "claude-haiku-4-5"] {
        let mut setup = by_catalogue(ProviderKind::Anthropic, model, 64_000);
        setup.max_output = 32_000;
        setup.demo.reasoning_tokens = 6_000;
        let house = setup.preset("opencode").build(&format!("room-{model}")).await;
        for _ in 0..3 {
            house.turn().await;
        }
        let events = house.compact(None).await;
        let wanted = [(true, false, Some("continuation".to_owned()), "manual".to_owned())];
        assert_eq!(compactions(&events), wanted, "{model} {:?}", errors(&events));
        assert_eq!((house.summaries().len(), failed(&house)), (1, vec![]), "{model}");
        let types = find(Vendor::Anthropic, model).unwrap().reasoning.unwrap().types;
        let sent = house.summaries()[0].request["thinking"]["type"].clone();
        if types.contains(&ThinkingType::Disabled) && model != "claude-haiku-4-5" {
            assert_eq!(sent, "disabled", "{model}");
        }
    }
}
