//! Long conversations on small windows: nothing is refused, nothing loops, what was said early is known late.

use super::kit::{MODEL, PROVIDER, Setup, compactions, errors, said, wordy};
use oneclaw_agent::Event;
use oneclaw_demo::Step;

/// A turn that says much, asks for a tool now and then, and pads the window.
fn message(turn: usize) -> String {
    match turn % 5 {
        0 => format!("Turn {turn}: please read /data/part{turn}.txt for me."),
        1 => format!("Turn {turn}: {}", "a remark about gravel roads and the people on them ".repeat(12)),
        2 => format!("Turn {turn}: write 120 words about rivers."),
        3 => format!("Turn {turn}: 数据库里有多少条记录？{}", "这是一个很长的句子。".repeat(20)),
        _ => format!("Turn {turn}: {}", "0x1f4a, 3.14159, 42; ".repeat(30)),
    }
}

async fn converse(preset: &str, turns: usize, restart_every: Option<usize>) {
    let name = format!("long-{preset}-{}", restart_every.unwrap_or(0));
    let mut house = Setup::window(8_000).preset(preset).tool(wordy("read_file", 150)).build(&name).await;
    assert!(house.ask("Remember: the door code = 4711.").await.contains("4711"));
    let mut compacted_in_a_row = 0;
    let mut compacted = 0;
    for turn in 1..=turns {
        let events = house.send(&message(turn)).await;
        assert_eq!(errors(&events), [] as [String; 0], "{preset}, turn {turn}");
        assert!(events.iter().any(|e| matches!(e, Event::ResponseComplete { .. })), "{preset}, turn {turn}");
        let done = compactions(&events);
        assert!(done.iter().all(|(did, fallback, ..)| *did && !*fallback), "{preset}, turn {turn}: {done:?}");
        assert!(done.len() <= 2, "{preset}, turn {turn}: {done:?}");
        compacted += done.len();
        compacted_in_a_row = if done.is_empty() { 0 } else { compacted_in_a_row + 1 };
        assert!(compacted_in_a_row <= 3, "{preset}, turn {turn}: a compaction every turn");
        if restart_every.is_some_and(|every| turn % every == 0) {
            house.restart().await;
        }
    }
    let refused: Vec<_> = house.exchanges().into_iter().filter(|e| e.status != Some(200)).collect();
    assert!(refused.is_empty(), "{preset}: {} refused, first {:?}", refused.len(), refused.first());
    assert!(compacted >= 3, "{preset}: only {compacted} compactions");
    let answer = house.ask("What is the door code?").await;
    assert!(answer.contains("4711"), "{preset}: {answer}");
    assert_eq!(house.questions().len(), turns + 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_with_tools_on_a_small_window() {
    converse("oneclaw", 300, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_as_sven() {
    converse("sven", 300, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_as_nous() {
    converse("nous", 300, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_as_opencode() {
    converse("opencode", 300, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_turns_with_a_restart_at_every_tenth() {
    converse("oneclaw", 300, Some(10)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn models_of_other_sizes_in_the_middle() {
    let served = vec![(MODEL, 200_000), ("gpt-4o-mini", 8_000), ("gpt-4-turbo", 1_000_000)];
    let setup = Setup { served, ..Setup::default() }.tool(wordy("read_file", 400));
    let mut house = setup.build("long-switch").await;
    house.ask("Remember: the harbour master = Ines Duarte.").await;
    for turn in 1..=60 {
        house.ask(&message(turn)).await;
    }
    house.agent.set_model(&house.session, PROVIDER, "gpt-4o-mini").await.unwrap();
    house.restart().await;
    let events = house.send("Who is the harbour master?").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(
        compactions(&events).first().map(|c| (c.0, c.1, c.3.as_str())),
        Some((true, false, "model_switch"))
    );
    assert!(said(&events).contains("Ines Duarte"), "{}", said(&events));
    assert_eq!(house.summaries().first().and_then(|e| e.model.clone()).as_deref(), Some(MODEL));
    for turn in 61..=90 {
        house.ask(&message(turn)).await;
    }
    house.agent.set_model(&house.session, PROVIDER, "gpt-4-turbo").await.unwrap();
    let before = house.epochs().len();
    for turn in 91..=120 {
        house.ask(&message(turn)).await;
    }
    assert_eq!(house.epochs().len(), before, "a window of a million needs no compaction");
    assert!(house.ask("Who is the harbour master?").await.contains("Ines Duarte"));
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_smaller_than_configured_is_learnt_from_one_refusal() {
    let setup = Setup { believed: Some(32_000), ..Setup::window(8_000) };
    let mut house = setup.build("long-learnt").await;
    for turn in 1..=60 {
        house.ask(&message(turn)).await;
    }
    assert_eq!(house.refused(), 1);
    house.restart().await;
    for turn in 61..=120 {
        house.ask(&message(turn)).await;
    }
    assert_eq!(house.refused(), 1);
    house.script([Step::Model]);
}
