//! What services say of their models' limits: a wrong word costs a message at most, a true one is kept for a while, and the user
//! sees and forgets it.

use super::kit::{House, MODEL, PROVIDER, Setup, UNLISTED, all, errors};
use super::limits::{canned, reply};
use super::talk::prose;
use crate::http::{Act, Server as Canned};
use oneclaw_agent::{Topic, set_user_window};
use oneclaw_model::{ModelLimits, ProviderKind};
use oneclaw_store::engine::{self, Lesson, ModelAt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const NOTHING: [String; 0] = [];

/// A reply of OpenAI with a report.
fn reported(text: &str, prompt: u64) -> Act {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": 5}});
    let body = format!("data: {chunk}\n\ndata: {usage}\n\ndata: [DONE]\n\n");
    Act::answer("200 OK", "content-type: text/event-stream\r\n", &body)
}

fn refused(limit: u64, requested: u64) -> Act {
    let words = format!(
        "This model's maximum context length is {limit} tokens. However, your messages resulted in {requested} tokens."
    );
    let body = json!({"error": {"message": words, "code": "context_length_exceeded"}}).to_string();
    Act::answer("400 Bad Request", "", &body)
}

async fn window(house: &House) -> Option<u64> {
    house.agent.status(&house.session).await.unwrap().window
}

async fn topics(house: &House) -> Vec<(Topic, Option<u64>)> {
    house.agent.learnt().await.unwrap().into_iter().map(|entry| (entry.topic, entry.tokens)).collect()
}

/// The requests for replies.
fn posts(server: &Canned) -> Vec<String> {
    server.requests().into_iter().filter(|request| request.starts_with("POST")).collect()
}

fn body(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The model's place in the file.
fn at(server: &Canned, model: &str) -> ModelAt {
    let base_url = server.endpoint(ProviderKind::OpenAi).base_url;
    ModelAt { kind: ProviderKind::OpenAi, base_url, model: model.into() }
}

/// A server that refuses as told and otherwise answers with a true report.
async fn liar(house: &House, lies: impl Fn(usize) -> Option<u64> + Send + Sync + 'static) -> Canned {
    canned(house, move |number, request| match lies(number) {
        Some(limit) => refused(limit, limit + 300),
        None => reported("It is so.", (request.len() / 4) as u64),
    })
    .await
}

#[tokio::test]
async fn one_refusal_that_names_600_tokens_costs_one_message_at_most() {
    let mut house = Setup::window(128_000).build("learnt-600").await;
    let server = liar(&house, |number| (number == 0).then_some(600)).await;
    let first = house.send(&format!("Hello. {}", prose(700))).await;
    assert!(errors(&first).len() <= 1, "{:?}", errors(&first));
    assert_eq!(topics(&house).await, [(Topic::DoubtedWindow, Some(600))]);
    // The same conversation goes on, whatever it heard.
    for turn in 0..3 {
        assert_eq!(errors(&house.send(&format!("Remark {turn}. {}", prose(900))).await), NOTHING);
    }
    assert_eq!(window(&house).await, Some(128_000));
    let doubted =
        |list: &[(Topic, Option<u64>)]| list.iter().any(|(topic, _)| *topic == Topic::DoubtedWindow);
    assert!(!doubted(&topics(&house).await), "a larger success has disproved it");
    // And others, now and after a restart.
    house.session = house.new_session().await;
    assert_eq!(errors(&house.send(&prose(2_000)).await), NOTHING);
    house.restart().await;
    assert_eq!(window(&house).await, Some(128_000));
    assert_eq!(errors(&house.send(&prose(2_000)).await), NOTHING);
    assert_eq!(house.questions().len(), 2);
    drop(server);
}

/// Repeated at another size it is kept; still it declines nothing by itself, and one success is enough to forget it.
#[tokio::test]
async fn a_number_that_is_repeated_is_kept_and_still_tested() {
    let mut house = Setup::window(128_000).build("learnt-repeated").await;
    let lying = Arc::new(AtomicBool::new(true));
    let lies = lying.clone();
    let server = liar(&house, move |_| lies.load(Ordering::SeqCst).then_some(4_096)).await;
    for size in [5_000, 7_000] {
        house.session = house.new_session().await;
        assert_eq!(errors(&house.send(&prose(size)).await).len(), 1, "nothing can be left out");
    }
    house.restart().await;
    assert_eq!(topics(&house).await, [(Topic::Window, Some(4_096))]);
    let entry = house.agent.learnt().await.unwrap().remove(0);
    assert_eq!(
        (entry.heard, entry.base_url.as_str(), entry.model.as_str()),
        (2, server.endpoint(ProviderKind::OpenAi).base_url.as_str(), MODEL)
    );
    assert!(entry.expires_at - entry.learnt_at == 30 * 24 * 60 * 60 * 1_000);
    house.session = house.new_session().await;
    assert_eq!(window(&house).await, Some(4_096));
    // A message that does not fit is tested, not declined.
    let asked = server.requests().len();
    assert_eq!(errors(&house.send(&prose(6_000)).await).len(), 1);
    assert_eq!(server.requests().len(), asked + 1, "tested once");
    lying.store(false, Ordering::SeqCst);
    house.session = house.new_session().await;
    assert_eq!(errors(&house.send(&prose(6_000)).await), NOTHING);
    assert_eq!(window(&house).await, Some(128_000));
    house.restart().await;
    assert_eq!(window(&house).await, Some(128_000));
}

#[tokio::test]
async fn the_users_own_window_goes_before_a_learnt_one() {
    let house = Setup::window(32_000).build("learnt-user").await;
    let server = liar(&house, |number| (number == 0).then_some(9_000)).await;
    assert_eq!(errors(&house.send(&prose(2_000)).await), NOTHING);
    assert_eq!(window(&house).await, Some(9_000));
    assert!(topics(&house).await.contains(&(Topic::Window, Some(9_000))));
    // Said after the refusal, in the same conversation and in others, for good and for this run.
    house.agent.write(|t| set_user_window(t, PROVIDER, MODEL, Some(1_000_000))).await.unwrap();
    assert_eq!(window(&house).await, Some(1_000_000));
    house.agent.write(|t| set_user_window(t, PROVIDER, MODEL, None)).await.unwrap();
    assert_eq!(window(&house).await, Some(9_000), "and taken back");
    house.agent.set_limits(PROVIDER, MODEL, ModelLimits { window: Some(64_000), ..ModelLimits::default() });
    assert_eq!(window(&house).await, Some(64_000));
    assert_eq!(errors(&house.send(&prose(12_000)).await), NOTHING);
    drop(server);
}

#[tokio::test]
async fn what_was_learnt_is_raised_expires_and_is_forgotten() {
    let mut house = Setup::window(128_000).build("learnt-expires").await;
    let server = liar(&house, |_| None).await;
    let learnt_at = |house: &House, age_days: i64, heard| {
        let lesson = Lesson {
            topic: "window".into(),
            value: r#"{"tokens":9000,"size":12000}"#.into(),
            heard,
            learnt_at: house.agent.now() - age_days * 24 * 60 * 60 * 1_000,
        };
        house.agent.store().write(|t| engine::set_lesson(t, &at(&server, MODEL), &lesson)).unwrap();
    };
    learnt_at(&house, 0, 1);
    assert_eq!(window(&house).await, Some(9_000));
    learnt_at(&house, 2, 1);
    assert_eq!(window(&house).await, Some(36_000), "tested upwards");
    learnt_at(&house, 29, 9);
    assert_eq!(window(&house).await, Some(9_000));
    learnt_at(&house, 31, 9);
    assert_eq!((window(&house).await, topics(&house).await), (Some(128_000), vec![]));
    // What succeeded was possible.
    learnt_at(&house, 1, 1);
    assert_eq!(errors(&house.send(&prose(10_000)).await), NOTHING);
    let raised = window(&house).await.unwrap();
    assert!((18_000..128_000).contains(&raised), "{raised}");
    let entries = house.agent.learnt().await.unwrap();
    assert!(entries.iter().any(|entry| entry.topic == Topic::Window && entry.heard == 1));
    assert_eq!(house.agent.forget_learnt(entries.clone()).await.unwrap(), entries.len() as u64);
    assert_eq!(house.agent.forget_learnt(entries).await.unwrap(), 0);
    assert_eq!((window(&house).await, topics(&house).await), (Some(128_000), vec![]));
    house.restart().await;
    assert_eq!(window(&house).await, Some(128_000));
}

/// A llama.cpp that ran with 4,096 tokens once, and runs with more now.
#[tokio::test]
async fn a_server_that_was_started_with_more_is_used_with_more() {
    let mut house = Setup { believed: Some(16_000), ..Setup::window(4_096) }.build("learnt-restarted").await;
    let send = async |house: &House| {
        let mut all = Vec::new();
        for turn in 0..6 {
            all.extend(errors(&house.send(&format!("Remark {turn}: {}", prose(900))).await));
        }
        all
    };
    assert_eq!(send(&house).await, NOTHING);
    assert_eq!((house.refused(), window(&house).await), (1, Some(4_096)));
    house.setup.served = vec![(MODEL, 16_000)];
    house.new_server().await;
    // Another address is another service; the old one's number does not follow.
    assert_eq!(window(&house).await, Some(16_000));
}

#[tokio::test]
async fn a_refusal_that_cannot_be_leaves_no_density_behind() {
    let house = Setup::window(200_000).build("learnt-density").await;
    let server = canned(&house, |number, request| match number {
        0 => refused(200_000, 213_462),
        _ => reported("It is so.", (request.len() / 4) as u64),
    })
    .await;
    let [error] = &errors(&house.send("Hello there, what do you know of rivers?").await)[..] else {
        panic!()
    };
    assert!(error.starts_with("Context final: "), "{error}");
    assert_eq!(topics(&house).await, []);
    assert_eq!(errors(&house.send(&prose(3_000)).await), NOTHING);
    let entries = house.agent.learnt().await.unwrap();
    assert!(entries.iter().all(|entry| entry.factor.is_none_or(|factor| factor < 1.5)), "{entries:?}");
    drop(server);
}

// ---- the longest reply ----

fn asked(request: &Value) -> Option<u64> {
    let config = &request["generationConfig"]["maxOutputTokens"];
    let fields =
        [&request["max_tokens"], &request["max_completion_tokens"], &request["max_output_tokens"], config];
    fields.into_iter().find_map(Value::as_u64)
}

/// A model whose longest reply nobody knows: less is asked for than room is kept for, the service's refusal is learnt in the
/// same turn, and heeded after a restart.
#[tokio::test]
async fn a_cap_of_the_reply_is_learnt_in_the_turn_with_every_service() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini] {
        let setup = Setup { kind, max_output: 2_000, tells_output: false, ..Setup::unlisted(64_000) };
        let setup = Setup { believed: Some(64_000), ..setup };
        let mut house = setup.build(&format!("learnt-cap-{kind:?}")).await;
        assert_eq!(errors(&house.send("Hello.").await), NOTHING, "{kind:?}");
        let asked: Vec<_> = house.chats().iter().map(|exchange| asked(&exchange.request)).collect();
        assert_eq!(asked[..2], [Some(8_192), Some(2_000)], "{kind:?}");
        assert_eq!((house.refused(), topics(&house).await.first()), (1, Some(&(Topic::Output, Some(2_000)))));
        house.restart().await;
        house.session = house.new_session().await;
        house.turns(2).await;
        assert_eq!(house.refused(), 1, "{kind:?}");
    }
}

#[tokio::test]
async fn a_cap_far_below_counts_where_it_was_heard_until_it_is_repeated() {
    let setup = Setup { max_output: 16_000, ..Setup::window(64_000) };
    let mut house = setup.build("learnt-cap-doubted").await;
    let words = "max_tokens is too large. This model supports at most 300 completion tokens.";
    let refusal = json!({"error": {"message": words, "type": "invalid_request_error"}}).to_string();
    let server = canned(&house, move |number, _| match number {
        0 => Act::answer("400 Bad Request", "", &refusal),
        _ => reply("It is so."),
    })
    .await;
    assert_eq!(errors(&house.send("Hello.").await), NOTHING);
    assert_eq!(topics(&house).await, [(Topic::DoubtedOutput, Some(300))]);
    let asked = |server: &Canned| asked(&body(posts(server).last().unwrap())).unwrap();
    assert_eq!(asked(&server), 300);
    house.session = house.new_session().await;
    assert_eq!(errors(&house.send("Hello.").await), NOTHING);
    assert_eq!(asked(&server), 16_000);
    assert_eq!(topics(&house).await, [], "a longer one was taken");
    house.restart().await;
    assert_eq!(errors(&house.send("Hello.").await), NOTHING);
    assert_eq!(asked(&server), 16_000);
}

/// A service that names no number is asked for what every model gives.
#[tokio::test]
async fn a_cap_without_a_number_does_not_end_the_turn() {
    let house = Setup { max_output: 16_000, ..Setup::window(64_000) }.build("learnt-cap-numberless").await;
    let refusal = json!({"error": {"message": "max_tokens is too large: 16000"}}).to_string();
    let server = canned(&house, move |_, request| match asked(&body(request)) {
        Some(4_097..) => Act::answer("400 Bad Request", "", &refusal),
        _ => reply("It is so."),
    })
    .await;
    for _ in 0..2 {
        assert_eq!(errors(&house.send("Hello.").await), NOTHING);
    }
    assert_eq!((server.requests().len(), topics(&house).await), (3, vec![]));
}

#[tokio::test]
async fn where_nothing_is_known_little_is_asked_for() {
    let setup = Setup { tells_output: false, ..Setup::unlisted(8_000) };
    let house = setup.build("learnt-untold").await;
    let server = canned(&house, |_, _| reply("It is so.")).await;
    house.ask("Hello.").await;
    assert_eq!(asked(&body(&posts(&server)[0])), None, "the field may be left out");
    for (window, wanted) in [(8_000, 2_000), (200_000, 8_192)] {
        house.agent.write(move |t| set_user_window(t, PROVIDER, UNLISTED, Some(window))).await.unwrap();
        house.ask("Hello.").await;
        assert_eq!(asked(&body(posts(&server).last().unwrap())), Some(wanted), "{window}");
    }
}

/// Two runs that learn at the same time do not undo each other.
#[tokio::test]
async fn conversations_side_by_side_learn_the_same() {
    let setup = Setup { believed: Some(32_000), ..Setup::window(9_000) };
    let house = setup.build("learnt-side").await;
    let other = house.new_session().await;
    let text = prose(2_500);
    for _ in 0..5 {
        let (one, two) = tokio::join!(
            async { all(house.agent.send(&house.session, &text, vec![]).await.unwrap()).await },
            async { all(house.agent.send(&other, &text, vec![]).await.unwrap()).await },
        );
        assert_eq!((errors(&one), errors(&two)), (vec![], vec![]));
    }
    assert!(house.refused() <= 2, "{}", house.refused());
    assert!(topics(&house).await.contains(&(Topic::Window, Some(9_000))));
}
