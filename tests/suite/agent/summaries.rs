//! A summariser that does not do its work, and what is kept whether it does or not.

use super::kit::{House, MODEL, Setup, all, compactions, errors, names};
use super::talk::{messages, policy, resume, system, talk, until};
use oneclaw_agent::{Event, Patience};
use oneclaw_demo::{Exchange, Fault, Step};
use oneclaw_model::{ModelLimits, ProviderKind};
use serde_json::json;
use std::collections::HashMap;
use std::time::Duration;

const STUBBORN: [&str; 6] = [
    "ContextUsage",
    "StreamingText",
    "ResponseComplete",
    "CompactStarted",
    "CompactCompleted",
    "ContextUsage",
];

/// Compacts early: what is covered then goes into one request.
fn early() -> Setup {
    Setup { policy: policy("oneclaw", &["threshold=0.55"]), ..Setup::default() }
}

/// Every summary request gets the step. The conversation goes on all the same: a digest is put in force, the caller is
/// told, and the failure is not paid for a second time, not even after a restart.
async fn fails(name: &str, setup: Setup, step: Step, paid: usize) -> House {
    let mut house = setup.build(name).await;
    house.server.set_summaries(Some(step));
    assert!(house.ask("Remember: the door code = 4711.").await.contains("4711"));
    let events = house.until_compaction().await;
    assert_eq!(names(&events), STUBBORN);
    assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
    assert_eq!(house.summaries().len(), paid);
    let epoch = house.epochs().pop().unwrap();
    assert_eq!((epoch.strategy.as_str(), epoch.model, epoch.number), ("digest", None, 1));
    house.restart().await;
    assert_eq!(house.ask("What is the door code?").await, "the door code = 4711.");
    house.turn().await;
    assert_eq!(house.summaries().len(), paid, "a failure was paid twice");
    assert!(house.chats().iter().all(|e| e.status == Some(200)));
    house
}

#[tokio::test]
async fn a_summariser_that_always_fails() {
    let house = fails("sum-fails", early(), Step::Fault(Fault::ServerError(500)), 2).await;
    // The next history gets a new chance, and what the digest said is part of it.
    house.server.set_summaries(None);
    let events = house.until_compaction().await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "threshold".into())]);
    assert!(house.summary().unwrap().contains("4711"));
    let last = house.summaries().pop().unwrap();
    let digest = "Previous conversation summary:\nDigest of the earlier conversation, made without a model.";
    assert_eq!(talk(&last).matches(digest).count(), 1);
}

#[tokio::test]
async fn a_summariser_that_answers_nothing() {
    fails("sum-empty", early(), Step::Fault(Fault::EmptyReply), 2).await;
}

#[tokio::test]
async fn a_summariser_that_answers_blanks() {
    fails("sum-blank", early(), Step::Reply(" \n\t ".into()), 2).await;
}

#[tokio::test]
async fn a_summariser_that_is_cut_by_length_is_asked_for_less_once() {
    let house = fails("sum-cut", early(), Step::Fault(Fault::CutByLength), 2).await;
    let asked: Vec<String> = house.summaries().iter().map(system).collect();
    assert!(asked[0].ends_with("Write at most 400 words of prose, nothing else."), "{}", asked[0]);
    assert!(asked[1].ends_with("Write at most 200 words of prose, nothing else."), "{}", asked[1]);
    let material: Vec<String> = house.summaries().iter().map(talk).collect();
    assert_eq!(material[0], material[1]);
}

#[tokio::test]
async fn any_other_failure_is_answered_with_the_same_request() {
    let house = fails("sum-same", early(), Step::Fault(Fault::Overloaded), 2).await;
    let asked: Vec<_> = house.summaries().into_iter().map(|e| e.request).collect();
    assert_eq!(asked[0], asked[1]);
}

#[tokio::test]
async fn a_summariser_that_calls_a_tool() {
    let house = fails("sum-call", early(), Step::Fault(Fault::ToolCallInsteadOfSummary), 2).await;
    assert!(house.summaries().iter().all(|e| e.request.get("tools").is_none()));
}

#[tokio::test]
async fn a_summariser_that_refuses() {
    fails("sum-refusal", early(), Step::Fault(Fault::Refusal), 2).await;
}

#[tokio::test]
async fn a_summariser_that_answers_in_another_format() {
    for (preset, early) in
        [("sven", &["threshold=0.5"][..]), ("nous", &["trigger_tokens=5000", "tail_tokens=2000"])]
    {
        let setup = Setup { policy: policy(preset, early), ..Setup::default() };
        let house = setup.build(&format!("sum-format-{preset}")).await;
        house.server.set_summaries(Some(Step::Reply("## Summary\nWe spoke of rivers at length.".into())));
        house.ask("Remember: the door code = 4711.").await;
        let events = house.until_compaction().await;
        let [(did, fallback, strategy, _)] = &compactions(&events)[..] else { panic!("{events:?}") };
        assert_eq!((*did, *fallback, strategy.as_deref()), (true, true, Some("digest")), "{preset}");
        assert_eq!(house.summaries().len(), 2, "{preset}");
        assert_eq!(house.ask("What is the door code?").await, "the door code = 4711.", "{preset}");
        assert_eq!(house.summaries().len(), 2, "{preset}");
    }
}

#[tokio::test]
async fn a_summariser_that_stalls() {
    let patience =
        Patience { silence: Duration::from_millis(60), pass: Duration::from_secs(60), ..Patience::default() };
    for (name, fault) in [("sum-stall", Fault::Stall), ("sum-midway", Fault::StallMidway)] {
        let setup = Setup { patience, ..early() };
        fails(name, setup, Step::Fault(fault), 2).await;
    }
}

#[tokio::test]
async fn a_summariser_that_never_comes_to_an_end() {
    // Never silent for long, and never done: the pass as a whole has an end, and no second attempt follows it.
    let patience =
        Patience { silence: Duration::from_secs(10), pass: Duration::from_millis(80), ..Patience::default() };
    let setup = Setup { patience, ..early() };
    fails("sum-drip", setup, Step::Fault(Fault::Drip(Duration::from_millis(5))), 1).await;
}

#[tokio::test]
async fn a_summariser_whose_connection_breaks() {
    for (name, fault) in [
        ("sum-reset", Fault::Refuse),
        ("sum-close", Fault::CloseBeforeHeaders),
        ("sum-mid-event", Fault::CutMidEvent),
        ("sum-in-stream", Fault::ErrorInStream),
        ("sum-garbage", Fault::Garbage),
        ("sum-page", Fault::WrongContentType),
        ("sum-rate", Fault::TooManyRequests { retry_after: Some(Duration::from_secs(3_600)) }),
    ] {
        fails(name, early(), Step::Fault(fault), 2).await;
    }
}

#[tokio::test]
async fn a_summariser_that_is_not_let_in_is_asked_once() {
    for (name, status) in [("sum-key", 401), ("sum-quota", 402), ("sum-bad", 400)] {
        fails(name, early(), Step::Fault(Fault::ServerError(status)), 1).await;
    }
}

#[tokio::test]
async fn a_summariser_that_says_more_than_it_may() {
    // Within what was asked for as the service counts, over it by what the next request could take.
    let text = "one 漢字 two ".repeat(197);
    let house = fails("sum-over-cap", early(), Step::Reply(text), 2).await;
    let asked: Vec<String> = house.summaries().iter().map(system).collect();
    assert!(asked[0].contains("at most 400 words") && asked[1].contains("at most 200 words"), "{asked:?}");
}

#[tokio::test]
async fn a_summary_longer_than_what_it_replaces_is_refused() {
    let setup =
        Setup { policy: policy("oneclaw", &["tail=messages", "tail_messages=2"]), ..Setup::default() };
    let house = setup.build("sum-longer").await;
    house.script([Step::Reply("Fine.".into()), Step::Reply("gravel and roads ".repeat(90))]);
    house.ask("We leave on Friday, all five of us.").await;
    house.ask("And now tell me of roads.").await;
    house.server.set_summaries(Some(Step::Reply("They leave, they leave. ".repeat(20))));
    let events = house.compact(None).await;
    assert_eq!(names(&events), ["CompactStarted", "CompactCompleted", "Error"]);
    assert_eq!(compactions(&events), [(false, false, None, "manual".into())]);
    let [error] = &errors(&events)[..] else { panic!("{events:?}") };
    assert!(
        error.contains("Provider retryable: The conversation could not be summarised: the summary takes")
    );
    assert_eq!(house.summaries().len(), 2);
    assert_eq!((house.epochs().len(), house.summary()), (0, None), "nothing changed");
    assert_eq!(
        house.ask("When do we leave?").await,
        "This is what I find: We leave on Friday, all five of us."
    );
}

#[tokio::test]
async fn a_second_answer_that_is_good_is_taken() {
    let house = Setup::default().build("sum-second").await;
    house.turns(8).await;
    house.script([Step::Fault(Fault::CutByLength), Step::Model]);
    let events = house.compact(None).await;
    assert_eq!(names(&events), ["CompactStarted", "CompactCompleted", "ContextUsage"]);
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
    assert_eq!(house.summaries().len(), 2);
    assert_eq!(house.epochs()[0].model.as_deref(), Some(MODEL));
}

#[tokio::test]
async fn all_providers_kinds_of_silence_and_of_length_are_understood() {
    for kind in [ProviderKind::Anthropic, ProviderKind::Gemini] {
        for (fault, name) in [
            (Fault::EmptyReply, "empty"),
            (Fault::CutByLength, "cut"),
            (Fault::ToolCallInsteadOfSummary, "call"),
            (Fault::Refusal, "refusal"),
        ] {
            let setup = Setup { kind, ..early() };
            fails(&format!("sum-{kind:?}-{name}"), setup, Step::Fault(fault), 2).await;
        }
    }
}

// ---- another model for summaries ----

const SMALL: &str = "gpt-4o-mini";

fn with_summary_model(name: &str, window: u64) -> Setup {
    Setup {
        served: vec![(MODEL, 8_000), (SMALL, window)],
        policy: policy("oneclaw", &["threshold=0.55", &format!("summary_model={name}")]),
        ..Setup::default()
    }
}

fn authors(exchanges: &[Exchange]) -> Vec<String> {
    exchanges.iter().map(|e| e.model.clone().unwrap()).collect()
}

#[tokio::test]
async fn a_named_model_writes_the_summaries() {
    let house = with_summary_model(SMALL, 8_000).build("sum-model").await;
    let events = house.until_compaction().await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "threshold".into())]);
    assert_eq!(authors(&house.summaries()), [SMALL]);
    assert_eq!(house.epochs()[0].model.as_deref(), Some(SMALL));
    assert!(house.chats().iter().all(|e| e.model.as_deref() == Some(MODEL)));
}

#[tokio::test]
async fn where_the_named_model_fails_the_chat_model_writes() {
    let house =
        with_summary_model(&format!("{}/{SMALL}", super::kit::PROVIDER), 8_000).build("sum-other").await;
    house.turns(8).await;
    house.script([Step::Fault(Fault::ServerError(500)), Step::Fault(Fault::EmptyReply), Step::Model]);
    let events = house.compact(None).await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
    assert_eq!(authors(&house.summaries()), [SMALL, SMALL, MODEL]);
    assert_eq!(house.epochs()[0].model.as_deref(), Some(MODEL));
}

#[tokio::test]
async fn where_the_named_model_is_unknown_the_chat_model_writes() {
    let house = with_summary_model("no-such-model", 8_000).build("sum-unknown").await;
    let events = house.until_compaction().await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "threshold".into())]);
    assert_eq!(authors(&house.summaries()), ["no-such-model", MODEL]);
}

// ---- parts ----

#[tokio::test]
async fn a_summary_model_smaller_than_configured_costs_one_refusal() {
    let mut house = with_summary_model(SMALL, 2_500).build("sum-believed").await;
    let believed = ModelLimits { window: Some(32_000), max_output: Some(1_000), input_limit: None };
    // The user's word goes before what was learnt, so each start costs one.
    for starts in 1..=2 {
        house.agent.set_limits(super::kit::PROVIDER, SMALL, believed);
        for _ in 0..2 {
            let events = house.until_compaction().await;
            assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "threshold".into())]);
        }
        assert_eq!(house.refused(), starts);
        house.restart().await;
    }
    assert!(house.epochs().iter().all(|epoch| epoch.model.as_deref() == Some(SMALL)));
}

/// How often each request was made.
fn times(exchanges: &[Exchange]) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::new();
    for exchange in exchanges {
        *times.entry(talk(exchange)).or_default() += 1;
    }
    let mut times: Vec<usize> = times.into_values().collect();
    times.sort_unstable();
    times
}

#[tokio::test]
async fn a_history_larger_than_the_summary_model_is_summarised_in_parts() {
    let house = with_summary_model(SMALL, 2_500).build("sum-parts").await;
    house.ask("Remember: the door code = 4711.").await;
    house.until_compaction().await;
    let summaries = house.summaries();
    assert!(summaries.len() >= 4, "{}", summaries.len());
    assert!(summaries.iter().all(|e| e.status == Some(200)));
    assert_eq!(times(&summaries), vec![1; summaries.len()]);
    // Each part once, each answer merged once, and one text in the end.
    let (parts, merges): (Vec<_>, Vec<_>) =
        summaries.iter().map(talk).partition(|text| text.starts_with("<conversation>\n"));
    let merged: usize = merges.iter().map(|text| text.matches("<part>").count()).sum();
    assert_eq!(merged, parts.len() + merges.len() - 1);
    assert_eq!(house.ask("What is the door code?").await, "the door code = 4711.");
}

#[tokio::test]
async fn a_history_that_fills_its_own_models_window_is_summarised_in_parts_too() {
    let house = Setup::default().build("sum-own-parts").await;
    house.server.set_summaries(Some(Step::Fault(Fault::EmptyReply)));
    let events = house.until_compaction().await;
    assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
    assert!(times(&house.summaries()).into_iter().all(|n| n <= 2));
}

#[tokio::test]
async fn no_part_is_asked_for_more_than_twice() {
    let house = with_summary_model(SMALL, 2_500).build("sum-parts-fail").await;
    house.server.set_summaries(Some(Step::Fault(Fault::CutByLength)));
    let events = house.until_compaction().await;
    assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
    assert!(times(&house.summaries()).into_iter().all(|n| n <= 2), "{:?}", times(&house.summaries()));
    let before = house.summaries().len();
    house.turn().await;
    assert_eq!(house.summaries().len(), before);
}

#[tokio::test]
async fn parts_that_were_written_are_not_asked_for_again_after_a_restart() {
    let build = async |name: &str| {
        let house = with_summary_model(SMALL, 2_500).build(name).await;
        house.ask("Remember: the door code = 4711.").await;
        house.turns(13).await;
        assert_eq!(house.epochs().len(), 0);
        house
    };
    let twin = build("sum-cached-twin").await;
    twin.compact(Some("rivers")).await;
    let parts = twin.summaries().len() - 1;
    assert!(parts >= 2);

    let mut house = build("sum-cached").await;
    house.script(vec![Step::Model; parts]);
    house.script([Step::Fault(Fault::Stall)]);
    let mut run = house.agent.compact(&house.session, Some("rivers".into())).await.unwrap();
    until(&mut run, "CompactStarted").await;
    house.summaries_reach(parts + 1).await;
    house.agent.close().await;
    assert_eq!(compactions(&all(run).await), [(false, false, None, "manual".into())]);
    let before = house.summaries();
    assert_eq!(times(&before), vec![1; parts + 1]);

    house.restart().await;
    let queued = house.agent.queued().await.unwrap();
    let queued: Vec<_> =
        queued.iter().map(|q| (q.session_id.as_str(), q.reason.as_str(), q.focus.as_deref())).collect();
    assert_eq!(queued, [(house.session.as_str(), "manual", Some("rivers"))]);
    let events = resume(&house.agent, &house.session).await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
    let after = house.summaries();
    assert_eq!(after.len(), parts + 2, "only the merge was left to ask for");
    assert_eq!(after.last().unwrap().request, before.last().unwrap().request);
    assert_eq!(house.agent.queued().await.unwrap(), []);
}

// ---- what survives ----

#[tokio::test]
async fn facts_survive_word_for_word_whatever_the_summary_says() {
    let house = Setup::default().build("sum-facts").await;
    let facts = [
        "/srv/ledger/2024/q3.csv",
        "https://example.org/api/v2?key=a%20b",
        "MAX_RETRIES=7",
        "42.5 kg",
        "\"never delete the backups\"",
    ];
    house.ask(&format!("Note these: {}.", facts.join(" , "))).await;
    house.server.set_summaries(Some(Step::Reply("They spoke of rivers, and little else.".into())));
    for round in 1..=3 {
        let events = house.until_compaction().await;
        assert_eq!(
            compactions(&events),
            [(true, false, Some("prose".into()), "threshold".into())],
            "{round}"
        );
        house.turn().await;
        let system = system(&house.last_chat());
        for fact in facts {
            assert!(system.contains(fact), "compaction {round} lost {fact}: {system}");
        }
    }
}

#[tokio::test]
async fn facts_that_only_the_prior_summarys_text_has_survive_too() {
    let house = early().build("sum-facts-prior").await;
    house.ask("The ledger is /srv/ledger/2024/q3.csv, and it weighs 42.5 kg.").await;
    let first = "They keep the ledger in /srv/ledger/2024/q3.csv at 42.5 kg and spoke of rivers.";
    for text in [first, "They keep a ledger and spoke of rivers.", "They spoke of a ledger and of rivers."] {
        house.server.set_summaries(Some(Step::Reply(text.into())));
        let events = house.until_compaction().await;
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "threshold".into())]);
        house.turn().await;
        let system = system(&house.last_chat());
        assert!(system.contains(text));
        assert!(system.contains("/srv/ledger/2024/q3.csv") && system.contains("42.5 kg"), "{system}");
    }
}

#[tokio::test]
async fn pinned_messages_survive_word_for_word() {
    let mut house = Setup::default().build("sum-pins").await;
    let pinned = "The poem goes: so much depends upon a red wheel barrow, glazed with rain water, beside the white chickens.";
    let run = house.agent.send(&house.session, pinned, vec![]).await.unwrap();
    let id = run.message_id.clone().unwrap();
    all(run).await;
    house.agent.pin(&house.session, &id).await.unwrap();
    house.server.set_summaries(Some(Step::Reply("They spoke of rivers, and little else.".into())));
    for _ in 0..2 {
        house.until_compaction().await;
        house.restart().await;
        house.turn().await;
        let sent = house.last_chat().request.to_string();
        assert_eq!(sent.matches(pinned).count(), 1, "{sent}");
    }
    house.agent.unpin(&house.session, &id).await.unwrap();
    house.turn().await;
    assert!(!house.last_chat().request.to_string().contains(pinned));
}

#[tokio::test]
async fn a_pin_that_would_take_too_much_is_refused() {
    let house = Setup::default().build("sum-pin-large").await;
    let run = house.agent.send(&house.session, &super::talk::prose(1_200), vec![]).await.unwrap();
    let id = run.message_id.clone().unwrap();
    all(run).await;
    let why = super::kit::why(house.agent.pin(&house.session, &id).await);
    assert!(why.contains("unpin another message first"), "{why}");
    assert!(house.agent.status(&house.session).await.unwrap().pins.is_empty());
}

#[tokio::test]
async fn the_focus_of_a_manual_compaction_reaches_the_prompt() {
    let house = Setup::default().build("sum-focus").await;
    house.turns(8).await;
    let events = house.compact(Some("the tariff of 1904")).await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
    let [asked] = &house.summaries()[..] else { panic!() };
    let (_, text) = messages(asked).pop().unwrap();
    assert!(text.ends_with(
        "Write the summary of the material above now.\nGive particular care to: the tariff of 1904"
    ));
    assert_eq!(house.epochs()[0].reason.as_deref(), Some("manual"));
    let [Event::CompactStarted { session_id, reason, messages, number, round }, ..] = &events[..] else {
        panic!()
    };
    assert_eq!((session_id, json!(reason), *number, *round), (&house.session, json!("manual"), 1, 0));
    assert_eq!(*messages, house.epochs()[0].rows);
}

#[tokio::test]
async fn a_manual_compaction_that_fails_changes_nothing() {
    let house = Setup::default().build("sum-manual-fails").await;
    house.turns(8).await;
    house.server.set_summaries(Some(Step::Fault(Fault::ServerError(500))));
    let before = house.agent.preview(&house.session).await.unwrap().request;
    let events = house.compact(None).await;
    assert_eq!(names(&events), ["CompactStarted", "CompactCompleted", "Error"]);
    assert_eq!(compactions(&events), [(false, false, None, "manual".into())]);
    assert_eq!((house.epochs().len(), house.agent.queued().await.unwrap().len()), (0, 0));
    assert_eq!(house.agent.preview(&house.session).await.unwrap().request, before);
}
