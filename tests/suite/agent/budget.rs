//! What one message may cost: requests, prompt tokens, summaries, bytes. Beyond it the turn ends, nothing is lost, and the next
//! message goes on.

use super::kit::{Host, House, Setup, errors, wordy};
use super::limits::{canned, reply};
use super::talk::prose;
use crate::http::Act;
use oneclaw_agent::tools::Answer;
use oneclaw_agent::{Allowance, Event};
use oneclaw_demo::{Fault, Step};
use oneclaw_model::ToolStatus;
use oneclaw_model::Usage;
use oneclaw_model::row::RowType;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const USED_UP: &str = "Budget final: This message has used up what one may cost (";

fn call(arguments: &str) -> Step {
    Step::Calls(vec![("again".into(), arguments.into())])
}

fn allowance(requests: u64, windows: u64, tokens: u64) -> Allowance {
    Allowance { requests, windows, tokens }
}

/// Every call in the file has its result, and every result its call.
fn is_paired(house: &House) -> bool {
    let ids = |kind: RowType| {
        let rows = house.rows().into_iter().filter(move |stored| stored.row.kind == kind);
        let mut ids: Vec<_> = rows.filter_map(|stored| stored.row.tool_call_id).collect();
        ids.sort();
        ids
    };
    ids(RowType::ToolCall) == ids(RowType::ToolResult)
}

async fn is_used_up(house: &House) {
    let events = house.send("Go on.").await;
    let [error] = &errors(&events)[..] else { panic!("{:?}", errors(&events)) };
    assert!(error.starts_with(USED_UP), "{error}");
    assert!(error.ends_with("was stopped; send a message to let it go on."), "{error}");
    assert!(events.iter().any(|event| json!(event)["code"] == "BUDGET"), "{events:?}");
    assert!(is_paired(house));
}

#[test]
fn the_usual_allowance() {
    assert_eq!(Allowance::default(), allowance(150, 20, 1_000_000));
}

#[tokio::test]
async fn requests_are_counted_with_attempts_after_failures() {
    let setup = Setup { allowance: allowance(10, 20, 1_000_000), ..Setup::window(32_000) };
    let house = setup.tool(wordy("again", 3)).build("budget-requests").await;
    for _ in 0..10 {
        house.script([Step::Fault(Fault::Overloaded), call("{}")]);
    }
    is_used_up(&house).await;
    assert_eq!(house.exchanges().len(), 10);
    // What is left of the script.
    for _ in 0..2 {
        let _ = house.send("Go on.").await;
    }
    // The next message has an allowance of its own.
    let asked = house.exchanges().len();
    assert!(!house.ask("Write 5 words.").await.is_empty());
    assert!(house.exchanges().len() > asked);
    assert_eq!(house.questions().len(), 4);
}

#[tokio::test]
async fn prompt_tokens_are_counted() {
    let setup = Setup { allowance: allowance(1_000, 2, 0), ..Setup::window(8_000) };
    let house = setup.tool(wordy("again", 400)).build("budget-tokens").await;
    house.script((0..100).map(|_| call("{}")));
    is_used_up(&house).await;
    let spent: u64 = house.exchanges().iter().filter_map(|exchange| exchange.prompt_tokens).sum();
    assert!((8_000..20_000).contains(&spent), "{spent}");
}

#[tokio::test]
async fn where_the_window_is_unknown_tokens_are_counted_too() {
    let setup = Setup { allowance: allowance(1_000, 2, 5_000), ..Setup::unlisted(64_000) };
    let house = setup.tool(wordy("again", 400)).build("budget-unknown").await;
    house.script((0..100).map(|_| call("{}")));
    is_used_up(&house).await;
    let spent: u64 = house.exchanges().iter().filter_map(|exchange| exchange.prompt_tokens).sum();
    assert!((2_000..7_000).contains(&spent), "{spent}");
}

/// Summaries that are of no use are asked for twice in a turn, whatever the turn goes on to need.
#[tokio::test]
async fn after_two_rejected_summaries_no_more_are_asked_for() {
    let house = Setup::window(4_000).tool(wordy("again", 900)).build("budget-rejected").await;
    let rounds = Arc::new(AtomicUsize::new(0));
    let server = canned(&house, move |_, request| {
        let is_summary = request.contains("<conversation>") || request.contains("<part>");
        match is_summary {
            true => reply(" "),
            false if rounds.fetch_add(1, Ordering::SeqCst) < 25 => called("{}"),
            false => reply("Done."),
        }
    })
    .await;
    let events = house.send("Go on.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    let requests = server.requests();
    let summaries = requests.iter().filter(|r| r.contains("<conversation>") || r.contains("<part>")).count();
    assert_eq!(summaries, 2);
    let trimmed =
        events.iter().filter(|event| matches!(event, Event::CompactCompleted { fallback: true, .. }));
    assert!(trimmed.count() > 2, "the conversation was made to fit without a model");
    assert!(is_paired(&house));
}

/// A reply of OpenAI that calls the tool.
fn called(arguments: &str) -> Act {
    let call = json!({"index": 0, "id": "call_x", "function": {"name": "again", "arguments": arguments}});
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    Act::answer("200 OK", "content-type: text/event-stream\r\n", &body)
}

#[tokio::test]
async fn arguments_that_are_too_long_are_answered_with_an_error_and_not_kept() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = ran.clone();
    let tool = Host {
        name: "again",
        work: move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Answer::ok("again") }
        },
    };
    let house = Setup::window(32_000).tool(tool).build("budget-arguments").await;
    let long = json!({"path": "x".repeat(1_100_000)}).to_string();
    let fitting = json!({"path": "x".repeat(20_000)}).to_string();
    let server = canned(&house, move |number, _| match number {
        0 => called(&long),
        1 => called(&fitting),
        _ => reply("Done."),
    })
    .await;
    let events = house.send("Go on.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(ran.load(Ordering::SeqCst), 1, "the long one is not run");
    assert!(is_paired(&house));
    let rows = house.rows();
    let calls: Vec<_> = rows.iter().filter(|s| s.row.kind == RowType::ToolCall).collect();
    assert_eq!(calls[0].row.tool_input.as_deref(), Some("{}"));
    assert_eq!(calls[0].row.tool_status, Some(ToolStatus::Error));
    let result = rows.iter().find(|s| s.row.kind == RowType::ToolResult).unwrap();
    assert!(
        result.row.tool_output.as_ref().unwrap().starts_with("Not run: the arguments are longer than 1 MB")
    );
    assert!(server.requests().iter().all(|request| request.len() < 200_000));
    let told: usize = events
        .iter()
        .map(|event| match event {
            Event::ToolCallArgumentsDelta { delta, .. } => delta.len(),
            _ => 0,
        })
        .sum();
    assert!(told < 100_000, "{told}");
}

#[tokio::test]
async fn arguments_of_a_turn_are_bounded_together() {
    let house = Setup::window(32_000).tool(wordy("again", 1)).build("budget-arguments-turn").await;
    let long = json!({"path": "x".repeat(900_000)}).to_string();
    let server = canned(&house, move |number, _| match number {
        0..14 => called(&long),
        _ => reply("Done."),
    })
    .await;
    let _ = house.send("Go on.").await;
    let kept: usize =
        house.rows().iter().filter_map(|stored| stored.row.tool_input.as_ref()).map(String::len).sum();
    assert!((1_000_000..9_000_000).contains(&kept), "{kept}");
    assert!(is_paired(&house));
    drop(server);
}

// ---- reports that cannot be ----

async fn expected(house: &House) -> u64 {
    house.agent.status(&house.session).await.unwrap().estimate.expected
}

/// A service that counts what cannot be: nothing is compacted, nothing is learnt, nothing of it is in the file.
#[tokio::test]
async fn absurd_reports_are_not_believed() {
    for (name, input, cache_read, output) in [
        ("int", 2_147_483_647, 0, 5),
        ("max", u64::MAX, u64::MAX, 5),
        ("window", 32_001, 0, 5),
        ("many", 20_000, 0, 5),
        ("cache", 0, 25_000, 5),
        ("output", 300, 0, u64::MAX),
    ] {
        let mut house = Setup::window(32_000).build(&format!("budget-absurd-{name}")).await;
        let usage = Usage { input, cache_read, output, ..Usage::default() };
        for _ in 0..4 {
            house.script([Step::Usage { usage, then: Box::new(Step::Reply("It is so.".into())) }]);
            let events = house.send(&format!("Hello. {}", prose(60))).await;
            assert_eq!((errors(&events), house.epochs().len()), (vec![], 0), "{name}");
            let told =
                events.iter().any(|event| matches!(event, Event::ResponseComplete { usage: Some(_), .. }));
            assert!(!told, "{name}");
        }
        assert!(house.agent.learnt().await.unwrap().is_empty(), "{name}");
        let rows = house.rows();
        assert!(
            rows.iter().all(|s| s.row.token_count_input.is_none() && s.row.token_count_output.is_none()),
            "{name}"
        );
        house.restart().await;
        assert!(expected(&house).await < 2_000, "{name}");
    }
}

/// A vocabulary three times as dense as all known ones, and a service that puts a long text of its own around the conversation.
#[tokio::test]
async fn large_reports_that_can_be_are_believed() {
    for (name, words, input) in [("dense", 3_000, 12_000), ("around", 60, 7_000)] {
        let house = Setup::window(32_000).build(&format!("budget-dense-{name}")).await;
        let usage = Usage { input, output: 5, ..Usage::default() };
        house.script([Step::Usage { usage, then: Box::new(Step::Reply("It is so.".into())) }]);
        assert_eq!(errors(&house.send(&prose(words)).await), [] as [String; 0]);
        assert!(expected(&house).await >= input, "{name}");
    }
}
