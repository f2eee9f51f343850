//! RFC-011's table of errors, row by row, as the specification settles it.

use super::kit::{Host, House, Setup, all, compactions, errors, names, said, wordy};
use super::talk::{policy, prose, talk};
use oneclaw_agent::tools::Answer;
use oneclaw_demo::{Fault, Step};
use oneclaw_model::ToolStatus;
use oneclaw_model::row::RowType;
use oneclaw_store::sessions;

fn early() -> Setup {
    Setup { policy: policy("oneclaw", &["threshold=0.55"]), ..Setup::default() }
}

fn read(path: &str) -> Step {
    Step::Calls(vec![("read_file".into(), format!("{{\"path\":\"{path}\"}}"))])
}

#[tokio::test]
async fn context_window_size_is_null_skip_compact_entirely() {
    let setup = Setup { believed: Some(0), ..Setup::window(60_000) };
    let house = setup.tool(wordy("read_file", 3_000)).build("rfc-null").await;
    for turn in 0..6 {
        house.script([read("a.txt"), Step::Reply(format!("Read {turn}."))]);
        let events = house.send(&format!("Turn {turn}: {}", prose(2_000))).await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert!(!names(&events).iter().any(|name| name.starts_with("Compact")), "{:?}", names(&events));
    }
    // Nothing is left out, not even old tool results.
    let request = house.last_chat().request.to_string();
    assert_eq!(request.matches("gravel ".repeat(3_000).trim_end()).count(), 6);
    assert_eq!(house.refused(), 0);
}

/// A house whose instructions alone bring a first message to about that size.
async fn filled_by_instructions(name: &str, upper: u64) -> House {
    let build = async |tokens: usize| {
        Setup { system: Some(prose(tokens)), ..Setup::default() }.build(&format!("{name}-{tokens}")).await
    };
    let probe = build(4_000).await;
    let measured = probe.agent.status(&probe.session).await.unwrap().estimate.upper;
    build(usize::try_from(4_000 * upper / measured).unwrap()).await
}

#[tokio::test]
async fn all_messages_within_the_protected_window_nothing_to_summarize() {
    // Over the trigger because of the instructions; what was said is a few words.
    let house = filled_by_instructions("rfc-protected", 6_850).await;
    for _ in 0..3 {
        let events = house.send("Hello.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert_eq!(compactions(&events), []);
    }
    assert_eq!((house.summaries().len(), house.refused()), (0, 0));
}

#[tokio::test]
async fn summarization_fails_with_a_network_error_retry_once_silently() {
    for (name, fault) in [
        ("rfc-reset", Fault::Refuse),
        ("rfc-close", Fault::CloseBeforeHeaders),
        ("rfc-cut", Fault::CutMidEvent),
    ] {
        let house = early().build(name).await;
        house.turns(9).await;
        house.script([Step::Fault(fault), Step::Model]);
        let events = house.compact(None).await;
        assert_eq!(names(&events), ["CompactStarted", "CompactCompleted", "ContextUsage"]);
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
        assert_eq!(house.summaries().len(), 2);
    }
}

#[tokio::test]
async fn retry_also_fails_before_a_send_the_message_is_answered_after_the_trim() {
    let house = early().build("rfc-before").await;
    house.ask("Remember: the fare = 17 crowns.").await;
    house.turns(8).await;
    house.server.set_summaries(Some(Step::Fault(Fault::Refuse)));
    let events = house.send(&format!("What is the fare? {}", prose(2_200))).await;
    assert_eq!(
        names(&events),
        [
            "CompactStarted",
            "CompactCompleted",
            "ContextUsage",
            "StreamingText",
            "ResponseComplete",
            "ContextUsage"
        ]
    );
    assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
    assert!(said(&events).contains("17 crowns"), "{}", said(&events));
    assert_eq!(house.summaries().len(), 2);
}

#[tokio::test]
async fn retry_also_fails_after_tools_the_loop_goes_on() {
    let house = early().tool(wordy("read_file", 900)).build("rfc-tools").await;
    house.turns(9).await;
    house.server.set_summaries(Some(Step::Fault(Fault::ServerError(503))));
    house.script([read("a"), read("b"), read("c"), Step::Reply("Read all three.".into())]);
    let events = house.send("Read a, b and c.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(said(&events), "Read all three.");
    let trimmed = compactions(&events);
    assert!(
        !trimmed.is_empty() && trimmed.iter().all(|c| c.0 && c.1 && c.2.as_deref() == Some("digest")),
        "{trimmed:?}"
    );
    assert_eq!(house.rows_of(RowType::ToolResult).len(), 3);
    assert!(talk(&house.last_chat()).contains("Read a, b and c."), "the question stays, word for word");
    assert_eq!(house.refused(), 0);
}

#[tokio::test]
async fn summarization_returns_empty_or_blank_treat_as_failure_retry_once() {
    for (name, first) in
        [("rfc-empty", Step::Fault(Fault::EmptyReply)), ("rfc-blank", Step::Reply("\n  \n".into()))]
    {
        let house = early().build(name).await;
        house.turns(9).await;
        house.script([first, Step::Model]);
        let events = house.compact(None).await;
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
        let asked: Vec<_> = house.summaries().into_iter().map(|e| e.request).collect();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0], asked[1]);
    }
}

#[tokio::test]
async fn compact_in_progress_while_messages_come_in_one_compaction_and_order_kept() {
    let house = early().build("rfc-race").await;
    house.turns(9).await;
    let mut runs = vec![house.agent.compact(&house.session, None).await.unwrap()];
    for text in ["One.", "Two.", "Three."] {
        runs.push(house.agent.send(&house.session, text, vec![]).await.unwrap());
    }
    let mut events = Vec::new();
    for run in runs {
        events.extend(all(run).await);
    }
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(compactions(&events).iter().filter(|c| c.0).count(), 1, "{:?}", compactions(&events));
    assert_eq!((house.summaries().len(), house.epochs().len()), (1, 1));
    assert_eq!(house.questions()[9..], ["One.", "Two.", "Three."]);
    let texts = house.texts();
    let kinds: Vec<RowType> = texts[18..].iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [RowType::User, RowType::AiResponse].repeat(3), "each answer follows its question");
    for (question, answer) in
        ["One.", "Two.", "Three."].into_iter().zip(texts[18..].iter().skip(1).step_by(2))
    {
        assert!(answer.1.contains(question), "{question} {}", answer.1);
    }
}

#[tokio::test]
async fn tool_result_truncation_never_throws() {
    let odd = [
        String::new(),
        "\u{0}\u{1b}[31m\u{7f}".into(),
        "🦀".repeat(15_001),
        "e\u{301}".repeat(15_001),
        "\u{202e}\u{feff}".repeat(20_000),
        "x".repeat(2_000_000),
        format!(
            "{}\n\n[... content truncated, showing first 30000 of 40000 characters ...]",
            "y".repeat(30_000)
        ),
    ];
    for (number, text) in odd.into_iter().enumerate() {
        let output = text.clone();
        let work = move |_| {
            let output = output.clone();
            async move { Answer::ok(output) }
        };
        let setup = Setup::window(200_000).tool(Host { name: "read_file", work });
        let house = setup.build(&format!("rfc-odd-{number}")).await;
        house.script([read("a"), Step::Reply("Read.".into())]);
        let events = house.send("Read it.").await;
        assert_eq!(errors(&events), [] as [String; 0], "{number}");
        let stored = house.rows_of(RowType::ToolResult).remove(0);
        let units = text.encode_utf16().count();
        match units {
            ..=30_000 => assert_eq!(stored, text),
            // What carries the marker already is left alone.
            _ if number == 6 => assert_eq!(stored, text),
            _ => {
                let (kept, marker) = stored.split_once("\n\n[... content truncated, showing first ").unwrap();
                assert!(text.starts_with(kept) && (29_999..=30_000).contains(&kept.encode_utf16().count()));
                assert_eq!(marker, format!("{} of {units} characters ...]", kept.encode_utf16().count()));
            }
        }
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_run_is_a_tool_error_and_the_turn_goes_on() {
    let house = early().tool(wordy("read_file", 10)).build("rfc-unknown-tool").await;
    house.script([
        Step::Calls(vec![("no_such".into(), "{}".into()), ("read_file".into(), "{broken".into())]),
        Step::Reply("Never mind.".into()),
    ]);
    let events = house.send("Do it.").await;
    assert_eq!((errors(&events), said(&events)), (vec![], "Never mind.".to_owned()));
    let rows = house.rows();
    let results: Vec<_> = rows.iter().filter(|s| s.row.kind == RowType::ToolResult).collect();
    assert!(results.iter().all(|s| s.row.tool_status == Some(ToolStatus::Error)));
    let mut told: Vec<_> = results.iter().map(|s| s.row.tool_output.clone().unwrap()).collect();
    told.sort();
    assert!(told[0].starts_with("The tool \"read_file\" was not run: the arguments are not valid JSON"));
    assert_eq!(told[1], "There is no tool \"no_such\". The tools are \"read_file\".");
}

#[tokio::test]
async fn update_compacted_summary_writes_columns_and_updated_at_together() {
    let house = early().build("rfc-columns").await;
    house.turns(9).await;
    let updated = |house: &House| house.agent.store().read(|c| sessions::get(c, &house.session)).unwrap();
    let before = updated(&house);
    house.compact(None).await;
    let after = updated(&house);
    assert!(after.updated_at > before.updated_at);
    assert_eq!((after.message_count, &after.preview), (before.message_count, &before.preview));
    let epoch = house.epochs().pop().unwrap();
    assert_eq!(house.columns().0, Some(epoch.summary));
}
