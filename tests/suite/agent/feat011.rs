//! FEAT-011 as its user meets it: acceptance criteria, test points and edge cases, from a message to the file.

use super::kit::{
    House, Keys, MODEL, PROVIDER, Setup, TIMING, Ticking, all, compactions, errors, names, said,
};
use super::talk::{messages, policy, prose, system, talk, until};
use crate::store::Folder;
use oneclaw_agent::{Agent, Config, Event};
use oneclaw_context::policy::{ONECLAW, Ratio};
use oneclaw_demo::{Fault, Step};
use oneclaw_model::PRESET_MODELS;
use oneclaw_model::row::RowType;
use std::sync::Arc;

pub const PROMPT: &str = "You are a ferryman. Be brief.";

pub fn prompted() -> Setup {
    Setup { system: Some(PROMPT.into()), ..Setup::default() }
}

/// The upper sizes and triggers in a run.
fn sizes(events: &[Event]) -> Vec<(u64, Option<u64>)> {
    let size = |event: &Event| match event {
        Event::ContextUsage { upper, trigger, .. } => Some((*upper, *trigger)),
        _ => None,
    };
    events.iter().filter_map(size).collect()
}

/// What a request has to say of the rows from a place on, as role and text.
pub fn rows_sent(house: &House, from: usize, count: usize) -> Vec<(String, String)> {
    let role = |kind| if kind == RowType::User { "user" } else { "assistant" };
    let rows = house.texts().into_iter().skip(from).take(count);
    rows.map(|(kind, text)| (role(kind).to_owned(), text)).collect()
}

mod acceptance {
    use super::*;

    #[tokio::test]
    async fn pre_seeded_models_have_their_context_window_sizes() {
        let folder = Folder::new("feat-seeds");
        let config = Config { timing: TIMING, ..Config::new(folder.file("oneclaw.db")) };
        let agent = Agent::open(config, Arc::new(Keys(None)), Arc::new(Ticking::default())).await.unwrap();
        let session = agent.create_session().await.unwrap();
        for model in PRESET_MODELS {
            let provider = match model.id {
                id if id.starts_with("claude") => "provider-anthropic",
                id if id.starts_with("gemini") => "provider-gemini",
                _ => "provider-openai",
            };
            agent.set_model(&session, provider, model.id).await.unwrap();
            let status = agent.status(&session).await.unwrap();
            assert_eq!(status.window, Some(model.window), "{}", model.id);
            assert_eq!(status.trigger, Some((model.window * 85 / 100).min(status.hard_limit.unwrap())));
        }
        agent.close().await;
    }

    #[tokio::test]
    async fn when_total_tokens_exceed_85_percent_compact_triggers() {
        let house = Setup::default().build("feat-85").await;
        let mut before = 0;
        let events = loop {
            let events = house.turn().await;
            if !compactions(&events).is_empty() {
                break events;
            }
            before += 1;
            for (upper, trigger) in sizes(&events) {
                assert_eq!(trigger, Some(6_800));
                assert!(upper <= 6_800, "{upper} did not fire");
            }
        };
        assert!(before > 10);
        let [Event::CompactCompleted { tokens_before, tokens_after, .. }] =
            &events.iter().filter(|e| matches!(e, Event::CompactCompleted { .. })).collect::<Vec<_>>()[..]
        else {
            panic!("{:?}", names(&events));
        };
        assert!(*tokens_before > 6_500 && *tokens_after <= 4_000, "{tokens_before} -> {tokens_after}");
    }

    #[tokio::test]
    async fn compact_calls_the_current_model_with_its_key() {
        let served = vec![(MODEL, 8_000), ("gpt-4o-mini", 8_000)];
        let house = Setup { served, key: Some("sk-secret"), ..Setup::default() }.build("feat-model").await;
        house.until_compaction().await;
        house.agent.set_model(&house.session, PROVIDER, "gpt-4o-mini").await.unwrap();
        let first = house.summaries().len();
        house.until_compaction().await;
        let asked: Vec<_> = house.summaries().into_iter().map(|e| (e.model.unwrap(), e.status)).collect();
        assert!(asked[..first].iter().all(|a| *a == (MODEL.into(), Some(200))));
        assert!(asked[first..].iter().all(|a| *a == ("gpt-4o-mini".into(), Some(200))));
        let written: Vec<_> = house.epochs().into_iter().map(|e| e.model.unwrap()).collect();
        assert_eq!(written, [MODEL, "gpt-4o-mini"]);
    }

    #[tokio::test]
    async fn the_summary_is_stored_in_the_sessions_field() {
        let house = Setup::default().build("feat-field").await;
        assert_eq!(house.columns(), (None, None));
        house.until_compaction().await;
        let epoch = house.epochs().pop().unwrap();
        let kept = house.rows().into_iter().find(|row| row.place >= epoch.boundary).unwrap();
        assert_eq!(kept.row.kind, RowType::User);
        assert_eq!(house.columns(), (Some(epoch.summary.clone()), Some(kept.row.created_at)));
        assert_eq!(house.agent.status(&house.session).await.unwrap().summary, Some(epoch.summary));
    }

    #[tokio::test]
    async fn original_messages_are_never_modified_or_deleted() {
        let mut house = Setup::default().build("feat-originals").await;
        let mut known = Vec::new();
        for _ in 0..3 {
            house.until_compaction().await;
            let rows: Vec<_> = house.rows().into_iter().map(|stored| (stored.place, stored.row)).collect();
            assert_eq!(rows[..known.len()], known);
            known = rows;
        }
        house.restart().await;
        let rows: Vec<_> = house.rows().into_iter().map(|stored| (stored.place, stored.row)).collect();
        assert_eq!(rows, known);
        assert_eq!(house.epochs().len(), 3);
    }

    #[tokio::test]
    async fn subsequent_requests_are_the_summary_and_the_recent_messages_only() {
        let house = prompted().build("feat-subsequent").await;
        house.until_compaction().await;
        let epoch = house.epochs().pop().unwrap();
        let covered = usize::try_from(epoch.rows).unwrap();
        let rows = house.rows().len();
        house.ask("Are we across?").await;
        let mut expected = vec![(
            "system".to_owned(),
            format!(
                "{PROMPT}\n\n---\n\nPrevious conversation summary:\n{}",
                oneclaw_tests::framed(&epoch.summary)
            ),
        )];
        expected.extend(rows_sent(&house, covered, rows + 1 - covered));
        assert_eq!(messages(&house.last_chat()), expected);
    }

    #[tokio::test]
    async fn multiple_compactions_merge_into_a_single_cumulative_summary() {
        let setup = Setup { policy: policy("oneclaw", &["threshold=0.55"]), ..Setup::default() };
        let house = setup.build("feat-multiple").await;
        house.ask("Remember: the ferry leaves at 06:40 from Quay 9.").await;
        let mut prior: Option<String> = None;
        for number in 1..=3 {
            house.until_compaction().await;
            let epochs = house.epochs();
            assert_eq!(epochs.len(), number);
            let asked = talk(&house.summaries().pop().unwrap());
            match &prior {
                None => assert!(!asked.contains("Previous conversation summary:")),
                // The facts travel beside the text; the text of the prior summary is there once.
                Some(prior) => {
                    let text = prior.split("\n\nFacts").next().unwrap();
                    let frame = format!(
                        "Previous conversation summary:\n{text}\n\nAdditional conversation to incorporate:"
                    );
                    assert_eq!(asked.matches(&frame).count(), 1, "{asked}");
                }
            }
            let newest = epochs.last().unwrap().summary.clone();
            assert_eq!(house.columns().0.as_deref(), Some(newest.as_str()));
            house.turn().await;
            let system = system(&house.last_chat());
            assert_eq!(system.matches("Previous conversation summary:").count(), 1);
            assert!(system.ends_with(&newest) && newest.contains("06:40"));
            prior = Some(newest);
        }
    }

    #[tokio::test]
    async fn a_brief_indicator_appears_during_compact_and_only_then() {
        let house = Setup::default().build("feat-indicator").await;
        let quiet = house.turn().await;
        assert_eq!(names(&quiet), ["ContextUsage", "StreamingText", "ResponseComplete", "ContextUsage"]);
        let events = house.until_compaction().await;
        assert_eq!(
            names(&events),
            [
                "ContextUsage",
                "StreamingText",
                "ResponseComplete",
                "CompactStarted",
                "CompactCompleted",
                "ContextUsage"
            ]
        );
    }

    #[tokio::test]
    async fn a_failed_summarization_is_retried_once_silently() {
        let house = Setup::default().build("feat-retry").await;
        house.turns(9).await;
        house.script([Step::Fault(Fault::ServerError(500)), Step::Model]);
        let events = house.compact(None).await;
        assert_eq!(names(&events), ["CompactStarted", "CompactCompleted", "ContextUsage"]);
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
        assert_eq!(house.summaries().iter().map(|e| e.status).collect::<Vec<_>>(), [Some(500), Some(200)]);
    }

    #[tokio::test]
    async fn after_a_failed_retry_the_oldest_messages_are_dropped_and_the_snackbar_shows() {
        let house = Setup::default().build("feat-fallback").await;
        house.server.set_summaries(Some(Step::Fault(Fault::ServerError(500))));
        let events = house.until_compaction().await;
        assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
        let rows = house.rows().len();
        house.ask("Are we across?").await;
        let sent = talk(&house.last_chat());
        assert!(!sent.contains("Turn 1: ") && sent.contains("Are we across?"));
        assert_eq!(house.rows().len(), rows + 2, "nothing is dropped from the file");
        assert!(house.questions()[0].starts_with("Turn 1: "));
        let (upper, trigger) = sizes(&events).pop().unwrap();
        assert!(upper <= trigger.unwrap());
    }

    #[tokio::test]
    async fn the_constants_are_fields_of_the_policy() {
        let house = Setup::default().build("feat-constants").await;
        let policy = house.agent.policy();
        assert_eq!((policy.threshold, policy.tail_share), (Ratio::percent(85), Ratio::percent(25)));
        assert_eq!((policy.result_units, policy.summary_retries), (30_000, 1));
        // A threshold of one's own holds from the next turn on.
        house.agent.set_policy(oneclaw_context::Policy { threshold: Ratio::percent(30), ..ONECLAW });
        let trigger = sizes(&house.turn().await).pop().unwrap().1;
        assert_eq!(trigger, Some(2_400));
    }

    #[tokio::test]
    async fn token_usage_can_be_displayed() {
        let house = prompted().build("feat-usage").await;
        let events = house.send("Hello").await;
        let shown: Vec<_> = events.iter().filter(|e| matches!(e, Event::ContextUsage { .. })).collect();
        let Some(Event::ContextUsage { expected, upper, window, parts, .. }) = shown.last() else { panic!() };
        let status = house.agent.status(&house.session).await.unwrap();
        assert_eq!((*expected, *upper), (status.estimate.expected, status.estimate.upper));
        assert_eq!((*window, parts.summary, parts.tools), (Some(8_000), 0, 0));
        assert!(parts.system > 0 && parts.messages > 0);
    }
}

mod rules {
    use super::*;

    #[tokio::test]
    async fn an_unknown_window_never_triggers() {
        let house = Setup::unlisted(100_000).build("feat-unknown").await;
        house.ask(&prose(20_000)).await;
        house.turns(20).await;
        assert_eq!((house.summaries().len(), house.epochs().len()), (0, 0));
        let status = house.agent.status(&house.session).await.unwrap();
        assert_eq!((status.window, status.trigger, status.hard_limit), (None, None, None));
    }

    #[tokio::test]
    async fn with_the_setting_off_no_model_is_asked_and_the_conversation_goes_on() {
        let house =
            Setup { policy: policy("oneclaw", &["auto=false"]), ..Setup::default() }.build("feat-off").await;
        house.ask("Remember: the fare = 17 crowns.").await;
        let mut trimmed = Vec::new();
        for _ in 0..40 {
            trimmed.extend(compactions(&house.turn().await));
        }
        assert_eq!(house.summaries().len(), 0);
        assert!(
            !trimmed.is_empty() && trimmed.iter().all(|t| t.0 && t.1 && t.2.as_deref() == Some("digest")),
            "{trimmed:?}"
        );
        assert!(house.ask("What is the fare?").await.contains("17 crowns"));
        assert_eq!(house.refused(), 0);
        // By hand it still works.
        let events = house.compact(None).await;
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "manual".into())]);
    }

    #[tokio::test]
    async fn a_summary_without_a_prompt_is_followed_by_a_line_of_its_own() {
        let house = Setup { system: Some(" \n".into()), ..Setup::default() }.build("feat-blank").await;
        house.until_compaction().await;
        house.turn().await;
        let summary = house.epochs().remove(0).summary;
        let line = "Continue the conversation based on the summary above.";
        assert_eq!(
            system(&house.last_chat()),
            format!("Previous conversation summary:\n{}\n\n---\n\n{line}", oneclaw_tests::framed(&summary))
        );
    }

    #[tokio::test]
    async fn the_indicator_does_not_block_input() {
        let house = Setup { max_output: 500, ..Setup::default() }.build("feat-input").await;
        house.server.set_summaries(Some(Step::Fault(Fault::Stall)));
        let mut first = loop {
            // Nearly all of a turn is its reply, so that the compaction comes after one and not before.
            let text = format!("Turn {}: write 200 words about rivers.", house.questions().len());
            let mut run = house.agent.send(&house.session, &text, vec![]).await.unwrap();
            let events = until_either(&mut run, "CompactStarted").await;
            if events.last().is_some_and(|e| matches!(e, Event::CompactStarted { .. })) {
                break run;
            }
        };
        // The summary call stalls; the next message fits, and is answered meanwhile.
        let events = house.send("The ferry waits.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert!(said(&events).contains("The ferry waits."));
        assert_eq!(house.epochs().len(), 0, "the compaction is still on its way");
        first.stop();
        let rest = all_of(&mut first).await;
        assert_eq!(compactions(&rest), [(false, false, None, "threshold".into())]);
        assert_eq!(house.questions().last().unwrap(), "The ferry waits.");
    }

    #[tokio::test]
    async fn what_comes_in_during_a_compaction_is_never_part_of_it() {
        let house = Setup { max_output: 500, ..Setup::default() }.build("feat-during").await;
        house.turns(12).await;
        house.script([Step::Fault(Fault::Drip(std::time::Duration::from_micros(200)))]);
        let mut run = house.agent.compact(&house.session, None).await.unwrap();
        until(&mut run, "CompactStarted").await;
        let events = house.send("Remember: the tide = 5.30 m.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let done = all(run).await;
        assert_eq!(compactions(&done), [(true, false, Some("prose".into()), "manual".into())]);
        assert!(house.summaries().iter().all(|e| !talk(e).contains("the tide")));
        house.ask("Are we across?").await;
        let sent = talk(&house.last_chat());
        assert_eq!(sent.matches("Remember: the tide = 5.30 m.").count(), 1);
    }

    #[tokio::test]
    async fn a_restart_changes_nothing_in_the_next_request() {
        let mut house = prompted().build("feat-restart").await;
        house.until_compaction().await;
        house.turn().await;
        let before = house.agent.preview(&house.session).await.unwrap();
        house.restart().await;
        let after = house.agent.preview(&house.session).await.unwrap();
        assert_eq!((before.request, before.request_estimate), (after.request, after.request_estimate));
    }

    async fn until_either(run: &mut oneclaw_agent::Run, name: &str) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = run.next().await {
            events.push(event);
            if names(&events).last().is_some_and(|last| last == name) {
                break;
            }
        }
        events
    }

    async fn all_of(run: &mut oneclaw_agent::Run) -> Vec<Event> {
        until_either(run, "").await
    }
}
