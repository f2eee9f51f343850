//! Messages in line while a turn with tools goes on and compacts: no turn but their own sees them, and nothing tears them
//! or the turn apart.

use super::kit::{Host, House, MODEL, PROVIDER, Setup, all, compactions, errors, said};
use oneclaw_agent::Event;
use oneclaw_agent::tools::Answer;
use oneclaw_context::policy::ONECLAW;
use oneclaw_demo::{Fault, Step};
use oneclaw_model::row::RowType;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// A tool that answers with so many words once it is let.
fn gated(gate: Arc<Semaphore>, words: usize) -> impl oneclaw_agent::tools::Tool {
    Host {
        name: "read_file",
        work: move |_| {
            let gate = gate.clone();
            async move {
                gate.acquire().await.unwrap().forget();
                Answer::ok("gravel ".repeat(words))
            }
        },
    }
}

fn call() -> Step {
    Step::Calls(vec![("read_file".into(), "{}".into())])
}

/// A turn of several rounds that has to compact in its middle, with a message in line after its first round.
async fn torn(name: &str) -> (House, Vec<Event>, Vec<Event>) {
    let gate = Arc::new(Semaphore::new(0));
    // Without pruning it has to summarise.
    let policy = ONECLAW.with("prune=false").unwrap();
    let setup = Setup { policy, ..Setup::window(8_000) };
    let house = setup.tool(gated(gate.clone(), 1_400)).build(name).await;
    house.server.set_summaries(Some(Step::Model));
    house.script([call(), call(), call(), call(), call(), call(), Step::Reply("All read.".into())]);
    let mut first = house.agent.send(&house.session, "FIRST: read everything.", vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::ToolRoundStarting { .. })) {}
    let second = house.agent.send(&house.session, "SECOND: Write 5 words.", vec![]).await.unwrap();
    gate.add_permits(6);
    let (first, second) = tokio::join!(all(first), all(second));
    (house, first, second)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_compacts_does_not_see_the_message_in_line() {
    let (house, first, second) = torn("line-torn").await;
    for events in [&first, &second] {
        assert_eq!(errors(events), [] as [String; 0]);
    }
    assert_eq!(said(&first), "All read.");
    assert!(!house.epochs().is_empty(), "it has compacted");
    let chats = house.chats();
    let of_first: Vec<_> = chats.iter().take(7).map(|e| e.request.to_string()).collect();
    assert!(of_first.iter().all(|request| !request.contains("SECOND")), "not its turn");
    assert!(of_first.iter().all(|request| request.contains("FIRST: read everything.")), "rule 2");
    assert!(chats[7].request.to_string().contains("SECOND"));
    let kinds: Vec<_> = house.texts().into_iter().map(|(kind, _)| kind).collect();
    let round = [RowType::AiResponse, RowType::ToolCall, RowType::ToolResult];
    let mut expected = vec![RowType::User];
    (0..6).for_each(|_| expected.extend(round));
    expected.extend([RowType::AiResponse, RowType::User, RowType::AiResponse]);
    assert_eq!(kinds, expected);
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_was_given_up_in_line_is_seen_by_the_next_turn() {
    let gate = Arc::new(Semaphore::new(0));
    let house = Setup::window(32_000).tool(gated(gate.clone(), 10)).build("line-orphan").await;
    house.script([call(), Step::Reply("Read.".into())]);
    let mut first = house.agent.send(&house.session, "FIRST", vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::ToolRoundStarting { .. })) {}
    drop(house.agent.send(&house.session, "Remember: the port = 8080.", vec![]).await.unwrap());
    gate.add_permits(1);
    assert_eq!(errors(&all(first).await), [] as [String; 0]);
    assert!(house.ask("What is the port?").await.contains("8080"));
    let kinds: Vec<_> = house.texts().into_iter().map(|(kind, _)| kind).collect();
    use RowType::{AiResponse, ToolCall, ToolResult, User};
    assert_eq!(kinds, [User, AiResponse, ToolCall, ToolResult, AiResponse, User, User, AiResponse]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_takes_up_what_was_in_line() {
    let gate = Arc::new(Semaphore::new(0));
    let mut house = Setup::window(32_000).tool(gated(gate.clone(), 10)).build("line-restart").await;
    house.script([call()]);
    let mut first = house.agent.send(&house.session, "FIRST", vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::ToolRoundStarting { .. })) {}
    let second = house.agent.send(&house.session, "Remember: the port = 8080.", vec![]).await.unwrap();
    let third = house.agent.send(&house.session, "Remember: the host = zephyr.", vec![]).await.unwrap();
    house.restart().await;
    drop((first, second, third));
    assert_eq!(house.questions(), ["FIRST", "Remember: the port = 8080.", "Remember: the host = zephyr."]);
    assert!(house.ask("What is the host?").await.contains("zephyr"));
    assert!(house.ask("What is the port?").await.contains("8080"));
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_works_after_a_compaction_in_the_turn() {
    let served = vec![(MODEL, 32_000), ("gpt-4o-mini", 8_000)];
    let setup = Setup { served, delay: Duration::from_millis(5), ..Setup::default() };
    let house = setup.build("line-stop").await;
    for _ in 0..6 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(700))).await;
    }
    house.agent.set_model(&house.session, PROVIDER, "gpt-4o-mini").await.unwrap();
    let mut run = house.agent.send(&house.session, "Write 600 words.", vec![]).await.unwrap();
    let mut events = vec![];
    while let Some(event) = run.next().await {
        if matches!(event, Event::StreamingText { .. }) {
            break;
        }
        events.push(event);
    }
    assert_eq!(compactions(&events).len(), 1, "before the call");
    house.agent.stop(&house.session);
    let rest = all(run).await;
    assert!(!rest.iter().any(|e| matches!(e, Event::ResponseComplete { .. })), "{rest:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_sessions_do_not_forget_what_one_has_learnt() {
    let setup = Setup { believed: Some(32_000), ..Setup::window(8_000) };
    let house = setup.build("line-learnt").await;
    let other = house.new_session().await;
    house.server.push(Step::Fault(Fault::Drip(Duration::from_millis(2))));
    // The other session begins before the window is learnt and ends after it.
    let slow = house.agent.send(&other, "Write 60 words.", vec![]).await.unwrap();
    while house.exchanges().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut turns = 0;
    while house.refused() == 0 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(900))).await;
        turns += 1;
        assert!(turns < 20);
    }
    assert_eq!(errors(&all(slow).await), [] as [String; 0]);
    let status = house.agent.status(&other).await.unwrap();
    assert_eq!((status.window, status.model.0.as_str()), (Some(8_000), PROVIDER));
    for _ in 0..8 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(900))).await;
    }
    assert_eq!(house.refused(), 1);
}
