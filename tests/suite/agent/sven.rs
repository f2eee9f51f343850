//! sven's budget gate and its table of failure modes, with its preset.

use super::kit::{Host, Setup, compactions, errors, names, said, wordy};
use super::talk::{messages, prose, talk};
use crate::http::{logged, watch_the_log};
use oneclaw_agent::Event;
use oneclaw_agent::tools::{Answer, Answering, Tool};
use oneclaw_context::assemble::LEADING_USER;
use oneclaw_context::truncate::Shape;
use oneclaw_demo::{Exchange, Fault, Step};
use oneclaw_model::ToolSpec;
use oneclaw_model::row::RowType;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const HEADINGS: [&str; 6] = [
    "## Active Task",
    "## Key Decisions & Rationale",
    "## Files & Artifacts",
    "## Constraints & Requirements",
    "## Pending Items",
    "## Session Narrative",
];
const NOTICE: &str = "[Earlier conversation history was dropped to stay within the context window. Ask the user if something you need is missing.]";

fn sven() -> Setup {
    Setup { system: Some("You are a ferryman.".into()), ..Setup::default() }.preset("sven")
}

fn read(count: usize) -> Step {
    Step::Calls(vec![("read_file".into(), "{}".into()); count])
}

/// Strategy, tokens before and after, and round of the compactions in a run.
fn compacted(events: &[Event]) -> Vec<(String, u64, u64, u32)> {
    let one = |event: &Event| match event {
        Event::CompactCompleted { strategy: Some(strategy), tokens_before, tokens_after, round, .. } => {
            Some((json!(strategy).as_str().unwrap().to_owned(), *tokens_before, *tokens_after, *round))
        }
        _ => None,
    };
    events.iter().filter_map(one).collect()
}

/// The line about each compaction is in the log.
fn is_logged(events: &[Event]) {
    let lines = logged();
    for (strategy, before, after, round) in compacted(events) {
        let line = format!("context compacted: {strategy} {before} -> {after} tokens (round {round})");
        assert!(lines.iter().any(|l| l.ends_with(&line) && l.starts_with("oneclaw_agent")), "{line}");
    }
}

/// Every result answers a call right before it, every call is answered.
fn has_no_orphans(exchange: &Exchange) {
    let mut open: HashSet<String> = HashSet::new();
    for message in exchange.request["messages"].as_array().unwrap() {
        match message["role"].as_str().unwrap() {
            "tool" => assert!(open.remove(message["tool_call_id"].as_str().unwrap()), "{message}"),
            _ => {
                assert_eq!(open.len(), 0, "{message}");
                let calls = message["tool_calls"].as_array().into_iter().flatten();
                open.extend(calls.map(|call| call["id"].as_str().unwrap().to_owned()));
            }
        }
    }
    assert_eq!(open.len(), 0);
}

mod gate {
    use super::*;

    #[tokio::test]
    async fn fires_before_submit_as_turn_0() {
        watch_the_log();
        let house = sven().build("sven-submit").await;
        let events = house.until_compaction().await;
        assert_eq!(
            names(&events)[..4],
            ["CompactStarted", "CompactCompleted", "ContextUsage", "StreamingText"]
        );
        let [(strategy, before, after, round)] = &compacted(&events)[..] else { panic!("{events:?}") };
        assert_eq!((strategy.as_str(), *round), ("structured", 0));
        assert!(before > after);
        is_logged(&events);
        let Event::ContextUsage { trigger, .. } = &events[2] else { panic!() };
        assert_eq!(*trigger, Some(5_249), "fires at 0.75 of 7,000");
    }

    #[tokio::test]
    async fn fires_after_every_batch_of_tool_results_with_the_round() {
        watch_the_log();
        let house = sven().tool(wordy("read_file", 700)).build("sven-batch").await;
        house.turns(8).await;
        house.script(vec![read(1); 5]);
        house.script([Step::Model, Step::Reply("Done.".into())]);
        let events = house.send("Read it five times.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let done = compacted(&events);
        assert!(!done.is_empty() && done.iter().all(|(_, _, _, round)| (1..=5).contains(round)), "{done:?}");
        let mut round = 0;
        for event in &events {
            match event {
                Event::ToolRoundStarting { round: starting } => round = *starting,
                Event::CompactStarted { round: of, .. } | Event::CompactCompleted { round: of, .. } => {
                    assert_eq!(*of, round);
                }
                _ => {}
            }
        }
        is_logged(&events);
        assert_eq!(house.refused(), 0);
    }

    #[tokio::test]
    async fn does_not_fire_after_the_response() {
        let house = sven().build("sven-after").await;
        for _ in 0..40 {
            let told = names(&house.turn().await);
            let reply = told.iter().position(|name| name == "ResponseComplete").unwrap();
            assert!(!told[reply..].iter().any(|name| name.starts_with("Compact")), "{told:?}");
        }
        assert!(house.epochs().len() >= 2);
    }

    #[tokio::test]
    async fn the_session_is_rebuilt_as_system_summary_and_the_last_six_messages() {
        let house = sven().build("sven-rebuilt").await;
        house.until_compaction().await;
        let epoch = house.epochs().pop().unwrap();
        let found: Vec<&str> = epoch.summary.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(found, HEADINGS);
        let sent = messages(&house.last_chat());
        assert_eq!(sent[0], ("system".into(), "You are a ferryman.".into()));
        assert_eq!(sent[1], ("user".into(), "What did we do so far?".into()));
        assert_eq!(sent[2], ("assistant".into(), oneclaw_tests::framed(&epoch.summary)));
        // The sixth message from the end is a reply here; a line parts it from the summary, which is the assistant's too.
        assert_eq!(sent[3], ("user".into(), LEADING_USER.into()));
        let covered = usize::try_from(epoch.rows).unwrap();
        let kept: Vec<String> =
            house.texts()[covered..covered + 6].iter().map(|(_, text)| text.clone()).collect();
        assert_eq!(sent[4..].iter().map(|(_, text)| text.clone()).collect::<Vec<_>>(), kept);
    }

    #[tokio::test]
    async fn calibration_outlives_a_restart() {
        let mut house = sven().build("sven-calibration").await;
        house.turns(5).await;
        let before = house.agent.status(&house.session).await.unwrap().estimate;
        house.restart().await;
        assert_eq!(house.agent.status(&house.session).await.unwrap().estimate, before);
    }
}

mod failure_modes {
    use super::*;

    #[tokio::test]
    async fn compaction_model_call_fails_by_network_or_rate_limit() {
        for (name, fault) in
            [("sven-net", Fault::Refuse), ("sven-rate", Fault::TooManyRequests { retry_after: None })]
        {
            trimmed(name, Step::Fault(fault)).await;
        }
    }

    #[tokio::test]
    async fn compaction_returns_an_empty_summary() {
        trimmed("sven-empty", Step::Fault(Fault::EmptyReply)).await;
    }

    /// The message is answered, no error reaches the caller, and the rows are as they were.
    async fn trimmed(name: &str, step: Step) {
        let house = sven().build(name).await;
        house.ask("Remember: the fare = 17 crowns.").await;
        house.server.set_summaries(Some(step));
        let events = house.until_compaction().await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let [(did, fallback, strategy, _)] = &compactions(&events)[..] else { panic!("{events:?}") };
        assert_eq!((*did, *fallback, strategy.as_deref()), (true, true, Some("digest")));
        assert_eq!(house.questions()[0], "Remember: the fare = 17 crowns.");
        assert!(house.ask("What is the fare?").await.contains("17 crowns"));
    }

    /// A tool with a shape.
    struct Shaped(Shape, String);

    impl Tool for Shaped {
        fn spec(&self) -> ToolSpec {
            let parameters = json!({"type": "object", "properties": {}});
            ToolSpec { name: "read_file".into(), description: "Reads.".into(), parameters, protected: false }
        }
        fn shape(&self) -> Shape {
            self.0
        }
        fn run(self: Arc<Self>, _: Map<String, Value>) -> Answering<'static> {
            Box::pin(async move { Answer::ok(self.1.clone()) })
        }
    }

    #[tokio::test]
    async fn tool_result_too_large_for_the_cap_is_truncated_by_its_shape_before_storage() {
        let lines = |from: usize, to: usize| (from..to).map(|n| format!("line {n:05}\n")).collect::<String>();
        for (shape, name) in [
            (Shape::HeadTail, "sven-head-tail"),
            (Shape::MatchList, "sven-match-list"),
            (Shape::FileContent, "sven-file"),
            (Shape::Generic, "sven-generic"),
        ] {
            let setup = sven().tool(Shaped(shape, lines(0, 10_000)));
            let house = Setup { served: vec![(super::super::kit::MODEL, 64_000)], ..setup }.build(name).await;
            house.script([read(1), Step::Reply("Read.".into())]);
            house.ask("Read it.").await;
            let stored = house.rows_of(RowType::ToolResult).remove(0);
            assert!(stored.chars().count() <= 16_000, "{name}: {}", stored.len());
            assert!(stored.starts_with("line 00000\n") && stored.contains(" lines / "), "{name}");
            match shape {
                Shape::HeadTail => {
                    let omitted = "[... 9900 lines / 108900 bytes omitted ...]\n";
                    assert_eq!(stored, format!("{}{omitted}{}", lines(0, 60), lines(9_960, 10_000)));
                }
                Shape::FileContent => {
                    assert!(
                        stored
                            .contains("omitted ...]\n[... use read_file with offset/limit to see more ...]")
                    );
                    assert!(stored.ends_with("line 09999\n"));
                }
                Shape::MatchList | Shape::Generic => assert!(stored.trim_end().ends_with("omitted ...]")),
            }
            assert_eq!(messages(&house.last_chat()).pop().unwrap(), ("tool".into(), stored));
        }
    }

    #[tokio::test]
    async fn session_grows_too_fast_emergency_without_a_model_call() {
        watch_the_log();
        let house = sven().build("sven-emergency").await;
        house.ask("Remember: the fare = 17 crowns.").await;
        house.turns(10).await;
        assert_eq!(house.epochs().len(), 0);
        let asked = house.exchanges().len();
        let events = house.send(&format!("Go on. {}", prose(3_800))).await;
        assert_eq!(
            names(&events),
            ["CompactCompleted", "ContextUsage", "StreamingText", "ResponseComplete", "ContextUsage"],
            "no call, so nothing is said to have started"
        );
        assert_eq!(compactions(&events), [(true, true, Some("emergency".into()), "threshold".into())]);
        assert_eq!((house.summaries().len(), house.exchanges().len()), (0, asked + 1));
        is_logged(&events);
        let sent = messages(&house.last_chat());
        assert_eq!(sent[2], ("assistant".into(), oneclaw_tests::framed(NOTICE)));
        assert!(sent.len() <= 3 + 6 && !talk(&house.last_chat()).contains("Turn 2: "));
        assert_eq!(house.questions().len(), 12, "the file has everything");
    }

    #[tokio::test]
    async fn tool_results_would_be_orphaned_by_the_split_the_boundary_walks_back() {
        // Batches of one to four calls, so that the sixth message from the end is often inside one.
        let count = Arc::new(AtomicUsize::new(0));
        let work = move |_| {
            let number = count.fetch_add(1, Ordering::SeqCst);
            async move { Answer::ok(format!("page {number} {}", "gravel ".repeat(400))) }
        };
        let house = sven().tool(Host { name: "read_file", work }).build("sven-orphans").await;
        let mut compacted = 0;
        for turn in 0..24 {
            house.script([read(1 + turn % 4), Step::Reply(format!("Read {turn}."))]);
            let events = house.send(&format!("Read {turn}.")).await;
            assert_eq!(errors(&events), [] as [String; 0], "{turn}");
            compacted += compactions(&events).len();
        }
        assert!(compacted >= 3, "{compacted}");
        for exchange in house.chats() {
            assert_eq!(exchange.status, Some(200));
            has_no_orphans(&exchange);
        }
    }

    #[tokio::test]
    async fn the_agent_never_passes_a_compaction_error_on_while_tools_run() {
        let house = sven().tool(wordy("read_file", 700)).build("sven-loop").await;
        house.turns(8).await;
        house.server.set_summaries(Some(Step::Fault(Fault::ToolCallInsteadOfSummary)));
        house.script(vec![read(2); 4]);
        house.script([Step::Reply("Done.".into())]);
        let events = house.send("Read it eight times.").await;
        assert_eq!((errors(&events), said(&events)), (vec![], "Done.".to_owned()));
        assert!(compactions(&events).iter().all(|c| c.0 && c.1));
        house.chats().iter().for_each(has_no_orphans);
    }
}
