//! Stopping: what was said is kept, what was begun is given up, and the conversation goes on.

use super::kit::{Host, Setup, all, compactions, errors, names};
use oneclaw_agent::tools::Answer;
use oneclaw_agent::{Event, Failure};
use oneclaw_demo::{Fault, Step};
use oneclaw_model::ToolStatus;
use oneclaw_model::row::RowType;
use oneclaw_store::messages::State;
use std::time::{Duration, Instant};

/// Summaries that never come.
fn silent() -> Option<Step> {
    Some(Step::Fault(Fault::StallMidway))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_is_stopped_is_kept_and_marked() {
    let house = Setup { delay: Duration::from_millis(5), ..Setup::window(32_000) }.build("stop-reply").await;
    let mut run = house.agent.send(&house.session, "Write 400 words about rain.", vec![]).await.unwrap();
    let mut said = String::new();
    while let Some(event) = run.next().await {
        if let Event::StreamingText { text } = event {
            said.push_str(&text);
        }
        if said.len() > 100 {
            house.agent.stop(&house.session);
        }
    }
    let rows = house.rows();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].state, State::Partial);
    assert_eq!(rows[1].row.content, said);
    assert_eq!(house.server.log().len(), 1);
    // The next message goes on from there: the model sees what it had said.
    house.ask("Remember: the port = 8080.").await;
    assert!(house.chats()[1].request.to_string().contains(said.split('\n').next().unwrap().trim()));
    assert!(house.ask("What is the port?").await.contains("8080"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn letting_go_of_a_run_stops_it() {
    let house = Setup { delay: Duration::from_millis(5), ..Setup::window(32_000) }.build("stop-drop").await;
    let mut run = house.agent.send(&house.session, "Write 400 words about rain.", vec![]).await.unwrap();
    while !matches!(run.next().await, Some(Event::StreamingText { .. })) {}
    drop(run);
    house.ask("Write 5 words.").await;
    let rows = house.rows();
    assert_eq!(rows[1].state, State::Partial);
    assert!(rows[1].row.content.len() < 1_500);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_that_are_stopped_are_answered_so_that_the_conversation_goes_on() {
    let endless = Host {
        name: "read_file",
        work: |_| async {
            std::future::pending::<()>().await;
            Answer::ok("never")
        },
    };
    let house = Setup::window(32_000).tool(endless).build("stop-tools").await;
    let mut run = house.agent.send(&house.session, "Please read /tmp/a.txt", vec![]).await.unwrap();
    while !matches!(run.next().await, Some(Event::ToolRoundStarting { .. })) {}
    run.stop();
    let rest = all(run).await;
    assert_eq!(names(&rest), ["ToolCallCompleted"]);
    let rows = house.rows();
    let statuses: Vec<_> = rows.iter().map(|s| (s.row.kind, s.row.tool_status)).collect();
    assert_eq!(
        statuses,
        [
            (RowType::User, None),
            (RowType::AiResponse, None),
            (RowType::ToolCall, Some(ToolStatus::Error)),
            (RowType::ToolResult, Some(ToolStatus::Error)),
        ]
    );
    assert_eq!(rows[3].row.tool_output.as_deref(), Some("The user stopped this call before it ended."));
    house.ask("Write 5 words.").await;
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_that_is_stopped_leaves_everything_as_it_was() {
    let house = Setup::window(8_000).build("stop-compaction").await;
    for _ in 0..3 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(700))).await;
    }
    house.server.set_summaries(silent());
    let before = house.agent.status(&house.session).await.unwrap();
    let mut quickest = Duration::MAX;
    for _ in 0..5 {
        let mut run = house.agent.compact(&house.session, None).await.unwrap();
        while !matches!(run.next().await, Some(Event::CompactStarted { .. })) {}
        tokio::time::sleep(Duration::from_millis(50)).await;
        let stopped = Instant::now();
        run.stop();
        let rest = all(run).await;
        quickest = quickest.min(stopped.elapsed());
        assert_eq!(compactions(&rest), [(false, false, None, "manual".to_owned())]);
    }
    assert!(quickest < Duration::from_millis(250), "{quickest:?}");
    assert_eq!(house.epochs(), []);
    assert_eq!(house.agent.queued().await.unwrap(), []);
    let after = house.agent.status(&house.session).await.unwrap();
    assert_eq!(after.estimate, before.estimate);
    house.server.set_summaries(None);
    assert_eq!(
        compactions(&house.compact(None).await),
        [(true, false, Some("prose".into()), "manual".into())]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_is_stopped_in_line_stays_in_the_file() {
    let house = Setup { delay: Duration::from_millis(5), ..Setup::window(32_000) }.build("stop-line").await;
    let mut first = house.agent.send(&house.session, "Write 200 words about rain.", vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::StreamingText { .. })) {}
    let second = house.agent.send(&house.session, "Never mind.", vec![]).await.unwrap();
    second.stop();
    assert_eq!(all(second).await, []);
    let first = all(first).await;
    assert_eq!(errors(&first), [] as [String; 0]);
    assert_eq!(house.questions().len(), 2);
    house.ask("Write 5 words.").await;
    assert_eq!(house.questions(), ["Write 200 words about rain.", "Never mind.", "Write 5 words."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_keeps_a_compaction_for_the_next_start() {
    let mut house = Setup::window(8_000).build("stop-close").await;
    for _ in 0..3 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(700))).await;
    }
    house.server.set_summaries(silent());
    let mut run = house.agent.compact(&house.session, Some("roads".into())).await.unwrap();
    while !matches!(run.next().await, Some(Event::CompactStarted { .. })) {}
    house.restart().await;
    assert_eq!(all(run).await.len(), 1, "the completed event");
    let queued = house.agent.queued().await.unwrap();
    assert_eq!(queued.len(), 1);
    assert_eq!((queued[0].reason.as_str(), queued[0].focus.as_deref()), ("manual", Some("roads")));
    house.server.set_summaries(None);
    let events = all(house.agent.resume(&house.session).await.unwrap()).await;
    assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
    assert!(house.summaries().last().unwrap().request.to_string().contains("Give particular care to: roads"));
    assert_eq!(house.agent.queued().await.unwrap(), []);
    assert_eq!(all(house.agent.resume(&house.session).await.unwrap()).await, []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_agent_says_so() {
    let house = Setup::default().build("stop-closed").await;
    house.agent.close().await;
    let refused = house.agent.send(&house.session, "Hello", vec![]).await;
    assert!(matches!(refused, Err(Failure::Closed)));
    assert_eq!(house.questions(), [] as [String; 0]);
}
