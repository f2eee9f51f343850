//! Tools in the loop: side by side, answered whatever happens, capped before they are stored, and not for ever.

use super::kit::{Host, House, Setup, all, errors, names, said, wordy};
use super::talk::system;
use oneclaw_agent::tools::{Answer, Registry, built_in};
use oneclaw_agent::{Event, MOST_ROUNDS, Offer};
use oneclaw_demo::Step;
use oneclaw_model::ToolStatus;
use oneclaw_model::row::RowType;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn calls(list: &[(&str, &str)]) -> Step {
    Step::Calls(list.iter().map(|(name, arguments)| ((*name).into(), (*arguments).into())).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_one_reply_run_side_by_side() {
    // Each waits for the other: one after another they would wait for ever.
    let barrier = Arc::new(tokio::sync::Barrier::new(2));
    let tool = Host {
        name: "meet",
        work: move |_| {
            let barrier = barrier.clone();
            async move {
                barrier.wait().await;
                Answer::ok("met")
            }
        },
    };
    let house = Setup::window(32_000).tool(tool).build("tools-parallel").await;
    house.script([calls(&[("meet", "{}"), ("meet", "")]), Step::Reply("Both met.".into())]);
    let events = house.send("Meet.").await;
    assert_eq!(said(&events), "Both met.");
    assert_eq!(
        names(&events),
        [
            "ContextUsage",
            "ToolCallStarted",
            "ToolCallArgumentsDelta",
            "ToolCallStarted",
            "ToolCallArgumentsDelta",
            "ToolRoundStarting",
            "ToolCallCompleted",
            "ContextUsage",
            "StreamingText",
            "ResponseComplete",
            "ContextUsage",
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_apps_own_instructions_speak_of_tools_only_where_there_are_some() {
    const WITHOUT: &str = "You are a helpful assistant. Say so when you do not know something.";
    let system = |house: &House| system(&house.last_chat());
    let house = Setup::window(32_000).build("tools-none").await;
    house.ask("Hello.").await;
    assert_eq!(system(&house), WITHOUT);
    let house = Setup::window(32_000).tool(wordy("read_file", 3)).build("tools-some").await;
    house.ask("Hello.").await;
    assert!(system(&house).contains("Use your tools where they help"), "{}", system(&house));
    // Somebody's own words stay as they are.
    let own = "Use your tools where they help.";
    let house = Setup { system: Some(own.into()), ..Setup::window(32_000) }.build("tools-own").await;
    house.ask("Hello.").await;
    assert_eq!(system(&house), own);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_goes_wrong_is_answered_as_a_result() {
    let panics = Host { name: "panics", work: |_| async { panic!("as asked") } };
    let house = Setup::window(32_000).tool(panics).tool(wordy("read_file", 3)).build("tools-wrong").await;
    house.script([
        calls(&[
            ("unknown", "{}"),
            ("read_file", "{broken"),
            ("read_file", r#"{"path": 5}"#),
            ("panics", "{}"),
            ("read_file", r#"{"path": "a"}"#),
        ]),
        Step::Reply("Done.".into()),
    ]);
    let events = house.send("Go.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    let results: Vec<_> = house.rows().into_iter().filter(|s| s.row.kind == RowType::ToolResult).collect();
    assert_eq!(results.len(), 5);
    let good: Vec<_> = results.iter().filter(|s| s.row.tool_status == Some(ToolStatus::Success)).collect();
    assert_eq!(good.len(), 1);
    assert!(results.iter().all(|s| !s.row.tool_output.as_ref().unwrap().is_empty()));
    assert_eq!(house.refused(), 0, "every call has its result");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_is_capped_before_it_is_stored() {
    let house = Setup::window(200_000).tool(wordy("read_file", 10_000)).build("tools-capped").await;
    house.ask("Please read /tmp/a.txt").await;
    let rows = house.rows();
    let output = rows.iter().find_map(|s| s.row.tool_output.as_ref()).unwrap();
    assert!(
        output.ends_with("\n\n[... content truncated, showing first 30000 of 70000 characters ...]"),
        "{}",
        output.len()
    );
    assert_eq!(output.encode_utf16().count(), 30_000 + 70);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_that_never_end_are_ended_after_a_hundred_rounds() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let tool = Host {
        name: "again",
        work: move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Answer::ok("again") }
        },
    };
    let house = Setup::window(32_000).tool(tool).build("tools-endless").await;
    for _ in 0..=MOST_ROUNDS {
        house.script([calls(&[("again", "{}")])]);
    }
    let events = house.send("Go on.").await;
    assert_eq!(count.load(Ordering::SeqCst), 100);
    assert_eq!(
        errors(&events),
        ["Tool final: The model called tools in 100 rounds and was stopped; send a message to let it go on."]
    );
    assert_eq!(events.iter().filter(|e| matches!(e, Event::ToolRoundStarting { .. })).count(), 100);
    house.ask("Write 5 words.").await;
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_built_in_tools_work_in_a_conversation() {
    let folder = crate::store::Folder::new("tools-files");
    let tools: Registry = built_in(&folder.0).unwrap();
    assert_eq!(tools.names(), ["get_current_time", "http_request", "read_file", "write_file"]);
    let setup = Setup { tools, offer: Offer::AgentsChoice, ..Setup::window(32_000) };
    let house = setup.build("tools-built-in").await;
    house.ask("Please write \"the tide turns at nine\" to /notes/tide.txt").await;
    house.script([
        calls(&[("write_file", r#"{"path":"notes/tide.txt","content":"the tide turns at nine"}"#)]),
        Step::Reply("Written.".into()),
        calls(&[
            ("read_file", r#"{"path":"notes/tide.txt"}"#),
            ("read_file", r#"{"path":"../../etc/passwd"}"#),
            ("http_request", r#"{"url":"http://127.0.0.1:1/"}"#),
            ("get_current_time", "{}"),
        ]),
        Step::Reply("Read.".into()),
    ]);
    house.ask("Write it.").await;
    house.ask("Read it.").await;
    let rows = house.rows();
    let results: Vec<_> = rows.iter().filter(|s| s.row.kind == RowType::ToolResult).collect();
    let of = |name: &str| {
        let found = results.iter().rev().filter(|s| s.row.tool_name.as_deref() == Some(name));
        found.map(|s| (s.row.tool_status.unwrap(), s.row.tool_output.clone().unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(std::fs::read_to_string(folder.file("notes/tide.txt")).unwrap(), "the tide turns at nine");
    let mut read = of("read_file");
    read.sort_by_key(|(status, _)| format!("{status:?}"));
    assert_eq!(read[1], (ToolStatus::Success, "the tide turns at nine".to_owned()));
    assert_eq!(read[0].0, ToolStatus::Error);
    assert!(!read[0].1.contains("root:"), "{}", read[0].1);
    assert_eq!(of("http_request")[0].0, ToolStatus::Error);
    assert_eq!(of("get_current_time")[0].0, ToolStatus::Success);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_is_in_no_row_and_no_event() {
    const CANARY: &str = "sk-canary-5f2e9c";
    let setup = Setup { key: Some(CANARY), ..Setup::window(8_000) };
    let house = setup.tool(wordy("read_file", 20)).build("tools-canary").await;
    let mut events = house.send("Please read /tmp/a.txt").await;
    events.extend(house.compact(None).await);
    events.extend(all(house.agent.regenerate(&house.session).await.unwrap()).await);
    assert!(!format!("{events:?} {:?} {:?}", house.rows(), house.epochs()).contains(CANARY));
    house.agent.close().await;
    for file in std::fs::read_dir(&house.folder.0).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(CANARY.len()).any(|w| w == CANARY.as_bytes()));
    }
}
