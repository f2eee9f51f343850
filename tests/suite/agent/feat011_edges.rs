//! FEAT-011's tool result truncation and its edge cases.

use super::feat011::{PROMPT, prompted, rows_sent};
use super::kit::{Host, House, MODEL, PROVIDER, Setup, all, compactions, errors, names, said};
use super::talk::{messages, prose, talk};
use oneclaw_agent::tools::Answer;
use oneclaw_demo::{Fault, Step};
use oneclaw_model::row::RowType;

mod truncation {
    use super::*;

    /// A tool returns the text; what is stored and what the model is sent of it.
    async fn stored(name: &str, output: String) -> (String, String) {
        let work = move |_| {
            let output = output.clone();
            async move { Answer::ok(output) }
        };
        let house = Setup::window(128_000).tool(Host { name: "fetch", work }).build(name).await;
        house.script([Step::Calls(vec![("fetch".into(), "{}".into())]), Step::Reply("Read.".into())]);
        let events = house.send("Fetch the page.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let [stored] = &house.rows_of(RowType::ToolResult)[..] else { panic!() };
        let (role, sent) = messages(&house.last_chat()).pop().unwrap();
        assert_eq!(role, "tool");
        (stored.clone(), sent)
    }

    #[tokio::test]
    async fn a_result_over_30_000_characters_is_truncated_before_storage_with_a_marker() {
        let page = "<p>gravel</p>\n".repeat(40_000);
        let (stored, sent) = stored("feat-large", page.clone()).await;
        let expected = format!(
            "{}\n\n[... content truncated, showing first 30000 of 560000 characters ...]",
            page.get(..30_000).unwrap()
        );
        assert_eq!(stored, expected);
        assert_eq!(sent, expected);
    }

    #[tokio::test]
    async fn a_result_exactly_at_or_under_30_000_characters_is_stored_as_is() {
        for (name, length) in [("feat-at", 30_000), ("feat-under", 29_999), ("feat-short", 5)] {
            let text = "x ".repeat(length).chars().take(length).collect::<String>();
            assert_eq!(stored(name, text.clone()).await, (text.clone(), text));
        }
    }

    #[tokio::test]
    async fn multi_byte_characters_are_counted_as_kotlin_counts_and_never_split() {
        let (kept, _) = stored("feat-unicode", format!("x{}", "🦀".repeat(20_000))).await;
        let whole = format!("x{}", "🦀".repeat(14_999));
        assert_eq!(
            kept,
            format!("{whole}\n\n[... content truncated, showing first 29999 of 40001 characters ...]")
        );
        let (kept, _) = stored("feat-cjk", "数".repeat(30_000)).await;
        assert_eq!(kept, "数".repeat(30_000));
    }

    #[tokio::test]
    async fn an_error_of_a_tool_is_truncated_like_any_result() {
        let work = |_| async { Answer::failed("stack frame\n".repeat(10_000)) };
        let house = Setup::window(128_000).tool(Host { name: "fetch", work }).build("feat-error").await;
        house.script([Step::Calls(vec![("fetch".into(), "{}".into())])]);
        house.ask("Fetch the page.").await;
        let [stored] = &house.rows_of(RowType::ToolResult)[..] else { panic!() };
        assert!(stored.ends_with("[... content truncated, showing first 30000 of 120000 characters ...]"));
    }
}

mod edge_cases {
    use super::*;

    /// A compaction by hand that finds nothing to do and asks nobody.
    async fn nothing_to_do(house: &House) {
        let asked = house.exchanges().len();
        let events = house.compact(None).await;
        assert_eq!(names(&events), ["CompactCompleted"]);
        assert_eq!(compactions(&events), [(false, false, None, "manual".into())]);
        assert_eq!((house.exchanges().len(), house.summary()), (asked, None));
    }

    #[tokio::test]
    async fn session_with_0_messages() {
        let house = Setup::default().build("feat-0").await;
        nothing_to_do(&house).await;
        let status = house.agent.status(&house.session).await.unwrap();
        assert_eq!((status.window, status.epochs.len()), (Some(8_000), 0));
    }

    #[tokio::test]
    async fn session_with_only_1_user_message() {
        let house = Setup::default().build("feat-1").await;
        house.script([Step::Fault(Fault::ServerError(400))]);
        assert_eq!(errors(&house.send("Hello").await).len(), 1);
        nothing_to_do(&house).await;
        assert_eq!(house.questions(), ["Hello"]);
        assert!(house.ask("The ferry waits.").await.contains("The ferry waits."));
    }

    #[tokio::test]
    async fn session_with_only_user_messages() {
        let house = Setup::default().build("feat-users").await;
        for turn in 1..=6 {
            house.script([Step::Fault(Fault::ServerError(400))]);
            house.send(&format!("Remember: number {turn} = {turn}{turn}{turn}. {}", prose(1_200))).await;
        }
        assert_eq!(house.epochs().len(), 1);
        let events = house.send("What is number 1?").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert!(said(&events).contains("111"), "{}", said(&events));
        assert_eq!(house.questions().len(), 7);
    }

    #[tokio::test]
    async fn session_where_all_messages_are_within_the_protected_window() {
        let house = Setup::default().build("feat-protected").await;
        house.turns(3).await;
        nothing_to_do(&house).await;
    }

    #[tokio::test]
    async fn model_switch_mid_session_to_a_smaller_context_window() {
        let served = vec![(MODEL, 200_000), ("gpt-4o-mini", 8_000)];
        let house = Setup { served, ..Setup::default() }.build("feat-switch").await;
        house.ask(&format!("Remember: the fare = 17 crowns. {}", prose(9_000))).await;
        house.turns(8).await;
        assert_eq!(house.summaries().len(), 0);
        house.agent.set_model(&house.session, PROVIDER, "gpt-4o-mini").await.unwrap();
        let events = house.send("What is the fare?").await;
        assert_eq!(
            names(&events)[..4],
            ["CompactStarted", "CompactCompleted", "ContextUsage", "StreamingText"]
        );
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "model_switch".into())]);
        assert!(said(&events).contains("17 crowns"), "{}", said(&events));
        assert_eq!(house.refused(), 0);
    }

    #[tokio::test]
    async fn model_switch_to_a_smaller_window_while_no_summary_can_be_had() {
        let served = vec![(MODEL, 200_000), ("gpt-4o-mini", 8_000)];
        let house = Setup { served, ..Setup::default() }.build("feat-switch-fails").await;
        house.ask(&format!("Remember: the fare = 17 crowns. {}", prose(9_000))).await;
        house.server.set_summaries(Some(Step::Fault(Fault::ServerError(500))));
        house.agent.set_model(&house.session, PROVIDER, "gpt-4o-mini").await.unwrap();
        let events = house.send("What is the fare?").await;
        assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "model_switch".into())]);
        assert!(said(&events).contains("17 crowns"), "{}", said(&events));
        assert_eq!(errors(&events), [] as [String; 0]);
    }

    #[tokio::test]
    async fn compact_triggered_while_compact_is_in_progress_does_not_double_compact() {
        let house = Setup::default().build("feat-double").await;
        house.turns(9).await;
        let runs = [
            house.agent.compact(&house.session, None).await.unwrap(),
            house.agent.compact(&house.session, None).await.unwrap(),
        ];
        let mut done = Vec::new();
        for run in runs {
            done.extend(compactions(&all(run).await).into_iter().map(|c| c.0));
        }
        done.sort_unstable();
        assert_eq!(done, [false, true]);
        assert_eq!((house.epochs().len(), house.summaries().len()), (1, 1));
    }

    #[tokio::test]
    async fn session_already_has_a_summary_of_the_original_app() {
        let mut house = prompted().build("feat-original").await;
        house.turns(4).await;
        let boundary = house.rows()[4].row.created_at;
        let sql = "UPDATE sessions SET compacted_summary = ?2, compact_boundary_timestamp = ?3 WHERE id = ?1";
        let summary = "They crossed twice; the fare is 17 crowns.";
        house.agent.store().write(|t| Ok(t.execute(sql, (&house.session, summary, boundary))?)).unwrap();
        house.restart().await;
        assert_eq!(house.ask("What is the fare?").await, "the fare is 17 crowns.");
        let mut expected = vec![(
            "system".to_owned(),
            format!("{PROMPT}\n\n---\n\nPrevious conversation summary:\n{}", oneclaw_tests::framed(summary)),
        )];
        expected.extend(rows_sent(&house, 4, 5));
        assert_eq!(messages(&house.last_chat()), expected);
        house.until_compaction().await;
        assert!(house.summaries().iter().any(|e| talk(e).contains(summary)));
        assert!(house.summary().unwrap().contains("17 crowns"));
    }
}
