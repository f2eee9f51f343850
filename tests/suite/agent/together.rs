//! Several things at once: order is kept, nothing is lost, one compaction at a time.

use super::kit::{House, PROVIDER, Setup, all, compactions, errors, said};
use oneclaw_agent::Event;
use oneclaw_demo::{Fault, Step};
use oneclaw_model::row::RowType;
use oneclaw_store::{messages, queue};
use std::time::Duration;

/// A remark of about so many tokens.
fn remark(tokens: usize) -> String {
    "gravel road ".repeat(tokens / 2)
}

/// A conversation that is nearly full: one more reply makes the check after it fire.
async fn nearly_full(name: &str) -> House {
    let house = Setup::window(16_000).build(name).await;
    loop {
        house.ask(&format!("Write 20 words. {}", remark(300))).await;
        let status = house.agent.status(&house.session).await.unwrap();
        if status.estimate.expected + 500 > status.trigger.unwrap() {
            assert_eq!(house.epochs(), []);
            return house;
        }
    }
}

/// A message whose reply makes the check after it fire, and not the one before it.
const FILLING: &str = "Write 1200 words.";

/// Summaries that take a while.
fn slow() -> Option<Step> {
    Some(Step::Fault(Fault::Drip(Duration::from_millis(1))))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_messages_and_a_compaction_at_once_keep_their_order_and_compact_once() {
    let house = nearly_full("together-three").await;
    let agent = &house.agent;
    let (first, second, third) = tokio::join!(
        agent.send(&house.session, "Write 10 words, first.", vec![]),
        agent.send(&house.session, "Write 10 words, second.", vec![]),
        agent.compact(&house.session, None),
    );
    let (first, second, third) = tokio::join!(all(first.unwrap()), all(second.unwrap()), all(third.unwrap()));
    for events in [&first, &second, &third] {
        assert_eq!(errors(events), [] as [String; 0]);
    }
    let made: Vec<_> = [first, second, third].iter().flat_map(|e| compactions(e)).filter(|c| c.0).collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(house.epochs().len(), 1);
    let kinds: Vec<_> = house.texts().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [RowType::User, RowType::AiResponse].repeat(kinds.len() / 2));
    let mut newest = house.questions();
    newest.drain(..newest.len() - 2);
    newest.sort();
    assert_eq!(newest, ["Write 10 words, first.", "Write 10 words, second."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_sessions_at_once() {
    let house = Setup::window(8_000).build("together-ten").await;
    let mut sessions = Vec::new();
    for _ in 0..10 {
        sessions.push(house.new_session().await);
    }
    let talk = |session: String| {
        let agent = house.agent.clone();
        tokio::spawn(async move {
            for turn in 0..12 {
                let text = format!("Remember: the code of {session} turn {turn} = {turn}. {}", remark(800));
                let run = agent.send(&session, &text, vec![]).await.unwrap();
                assert_eq!(errors(&all(run).await), [] as [String; 0]);
            }
            let question = format!("What is the code of {session} turn 0?");
            let run = agent.send(&session, &question, vec![]).await.unwrap();
            said(&all(run).await)
        })
    };
    let talks: Vec<_> = sessions.iter().cloned().map(talk).collect();
    for (talk, session) in talks.into_iter().zip(&sessions) {
        let answer = talk.await.unwrap();
        assert!(answer.contains('0'), "{answer}");
        let rows = house.agent.store().read(|c| messages::since(c, session, oneclaw_store::Place::START));
        assert_eq!(rows.unwrap().len(), 26);
    }
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_while_a_reply_streams_is_saved_at_once_and_answered_after_it() {
    let house =
        Setup { delay: Duration::from_millis(5), ..Setup::window(32_000) }.build("together-line").await;
    let mut first = house.agent.send(&house.session, "Write 150 words about rain.", vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::StreamingText { .. })) {}
    let second = house.agent.send(&house.session, "Remember: the port = 8080.", vec![]).await.unwrap();
    let third = house.agent.send(&house.session, "What is the port?", vec![]).await.unwrap();
    assert_eq!(house.questions().len(), 3, "saved before they are answered");
    let (first, second, third) = tokio::join!(all(first), all(second), all(third));
    for events in [&first, &second, &third] {
        assert_eq!(errors(events), [] as [String; 0]);
    }
    assert!(said(&third).contains("8080"), "{}", said(&third));
    let kinds: Vec<_> = house.texts().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [RowType::User, RowType::AiResponse].repeat(3));
    assert_eq!(
        house.questions(),
        ["Write 150 words about rain.", "Remember: the port = 8080.", "What is the port?"]
    );
    // The first reply was asked for without the second message.
    assert!(!house.chats()[0].request.to_string().contains("8080"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_during_a_compaction_is_sent_at_once_if_it_fits() {
    let house = nearly_full("together-fits").await;
    house.server.set_summaries(slow());
    let mut first = house.agent.send(&house.session, FILLING, vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::CompactStarted { .. })) {}
    let second = house.agent.send(&house.session, "Write 12 words.", vec![]).await.unwrap();
    let answered = second.message_id.clone().unwrap();
    let events = all(second).await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(house.epochs(), [], "the compaction is still on its way");
    let rest = all(first).await;
    assert_eq!(compactions(&rest).len(), 1);
    let epochs = house.epochs();
    assert_eq!(epochs.len(), 1);
    let place = house.agent.store().read(|c| messages::place_of(c, &answered)).unwrap();
    assert!(epochs[0].boundary <= place, "never part of what is being summarised");
    assert!(house.summaries().iter().all(|e| !e.request.to_string().contains("Write 12 words.")));
    assert_eq!(house.refused(), 0);
    house.server.set_summaries(None);
    house.ask("Write 10 words.").await;
    assert_eq!(house.epochs().len(), 1, "what came in meanwhile does not fire again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_during_a_compaction_and_does_not_fit_waits_for_it() {
    let house = nearly_full("together-waits").await;
    house.server.set_summaries(slow());
    let mut first = house.agent.send(&house.session, FILLING, vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::CompactStarted { .. })) {}
    let second =
        house.agent.send(&house.session, &format!("Write 12 words. {}", remark(1_500)), vec![]).await;
    let (first, second) = tokio::join!(all(first), all(second.unwrap()));
    assert_eq!(errors(&second), [] as [String; 0]);
    assert_eq!(compactions(&first).len() + compactions(&second).len(), 1);
    assert_eq!(house.epochs().len(), 1);
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_compactions_by_hand_at_once_are_one() {
    let house = nearly_full("together-hand").await;
    let (one, other) = tokio::join!(house.compact(None), house.compact(None));
    let made: Vec<_> = [one, other].iter().flat_map(|e| compactions(e)).map(|c| c.0).collect();
    assert_eq!(made.len(), 2);
    assert_eq!(made.iter().filter(|did| **did).count(), 1);
    assert_eq!(house.epochs().len(), 1);
    assert_eq!(house.agent.store().read(queue::list).unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_another_model_is_not_disturbed() {
    let served = vec![("gpt-4o", 8_000), ("gpt-4o-mini", 32_000)];
    let house = Setup { served, ..Setup::default() }.build("together-models").await;
    let other = house.new_session().await;
    house.agent.set_model(&other, PROVIDER, "gpt-4o-mini").await.unwrap();
    let run = house.agent.send(&other, "Write 10 words.", vec![]).await.unwrap();
    let (events, _) = tokio::join!(all(run), house.ask("Write 10 words."));
    assert_eq!(errors(&events), [] as [String; 0]);
    let mut models: Vec<_> = house.exchanges().into_iter().filter_map(|e| e.model).collect();
    models.sort();
    assert_eq!(models, ["gpt-4o", "gpt-4o-mini"]);
}
