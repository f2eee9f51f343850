//! OpenCode's design, carried out: schedule, execute, resume; the filter behind the pivot; pruning by budget.

use super::kit::{Host, House, Setup, all, compactions, errors, names, said};
use super::talk::{messages, policy, resume, talk, until};
use oneclaw_agent::Event;
use oneclaw_agent::tools::Answer;
use oneclaw_context::plan::AUTO_CONTINUE;
use oneclaw_context::prune::CLEARED;
use oneclaw_demo::{Fault, Step};
use oneclaw_model::Usage;
use oneclaw_model::row::RowType;

const QUESTION: &str = "What did we do so far?";

fn opencode() -> Setup {
    Setup { system: Some("You are a ferryman.".into()), ..Setup::default() }.preset("opencode")
}

fn call(name: &str) -> Step {
    Step::Calls(vec![(name.into(), "{}".into())])
}

/// A step that is said to have used so many tokens.
fn used(tokens: u64, then: Step) -> Step {
    Step::Usage { usage: Usage { input: tokens, ..Usage::default() }, then: Box::new(then) }
}

fn message(role: &str, text: &str) -> (String, String) {
    (role.into(), text.into())
}

mod schedule_execute_resume {
    use super::*;

    #[tokio::test]
    async fn a_step_that_used_more_than_usable_is_followed_by_a_pivot() {
        let house = opencode().build("oc-step").await;
        house.turns(6).await;
        let step = |output| {
            let usage = Usage { input: 4_000, cache_read: 1_500, cache_write: 500, output, reasoning: 0 };
            Step::Usage { usage, then: Box::new(Step::Reply("Yes.".into())) }
        };
        house.script([step(1_000), step(1_001)]);
        assert_eq!(compactions(&house.send("Hello.").await), [], "7,000 may be used");
        let events = house.send("Hello again.").await;
        assert_eq!(names(&events)[2..5], ["ResponseComplete", "CompactStarted", "CompactCompleted"]);
        assert_eq!(compactions(&events), [(true, false, Some("continuation".into()), "threshold".into())]);
        // Everything since the last pivot is covered.
        let epoch = house.epochs().pop().unwrap();
        assert_eq!(usize::try_from(epoch.rows).unwrap(), house.rows().len());
        let newest = house.rows().last().unwrap().row.created_at;
        assert_eq!(house.columns(), (Some(epoch.summary), Some(newest + 1)));
    }

    #[tokio::test]
    async fn a_scheduled_pivot_survives_a_restart_and_is_resumed() {
        let mut house = opencode().build("oc-restart").await;
        house.ask("Remember: the fare = 17 crowns.").await;
        house.server.set_summaries(Some(Step::Fault(Fault::Stall)));
        let mut run = loop {
            let text = format!("Turn {}: write 250 words about rivers.", house.questions().len());
            let mut run = house.agent.send(&house.session, &text, vec![]).await.unwrap();
            let mut started = false;
            while let Some(event) = run.next().await {
                if matches!(event, Event::CompactStarted { .. }) {
                    started = true;
                    break;
                }
            }
            if started {
                break run;
            }
        };
        let queued = house.agent.queued().await.unwrap();
        assert_eq!((queued.len(), queued[0].reason.as_str(), &queued[0].focus), (1, "threshold", &None));
        assert_eq!(queued[0].session_id, house.session);
        house.agent.close().await;
        let mut rest = Vec::new();
        while let Some(event) = run.next().await {
            rest.push(event);
        }
        assert_eq!(compactions(&rest), [(false, false, None, "threshold".into())]);
        assert_eq!(house.epochs().len(), 0);

        house.restart().await;
        assert_eq!(house.agent.queued().await.unwrap(), queued);
        house.server.set_summaries(None);
        let events = resume(&house.agent, &house.session).await;
        assert_eq!(names(&events), ["CompactStarted", "CompactCompleted", "ContextUsage"]);
        assert_eq!(compactions(&events), [(true, false, Some("continuation".into()), "threshold".into())]);
        assert_eq!(house.agent.queued().await.unwrap(), []);
        assert_eq!(house.epochs()[0].reason.as_deref(), Some("threshold"));
        assert!(house.ask("What is the fare?").await.contains("17 crowns"));
        // Once is enough.
        assert_eq!(resume(&house.agent, &house.session).await, []);
        assert_eq!(house.epochs().len(), 1);
    }

    #[tokio::test]
    async fn a_resumed_pivot_that_fails_is_trimmed_and_not_paid_for_again() {
        let mut house = opencode().build("oc-resume-fails").await;
        house.ask("Remember: the fare = 17 crowns.").await;
        house.turns(9).await;
        let entry = oneclaw_store::queue::Queued {
            session_id: house.session.clone(),
            reason: "threshold".into(),
            focus: None,
            queued_at: 1,
        };
        house.agent.store().write(|t| oneclaw_store::queue::put(t, &entry)).unwrap();
        house.restart().await;
        house.server.set_summaries(Some(Step::Fault(Fault::EmptyReply)));
        let events = resume(&house.agent, &house.session).await;
        assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
        assert_eq!(errors(&events), [] as [String; 0]);
        let paid = house.summaries().len();
        assert!(house.ask("What is the fare?").await.contains("17 crowns"));
        assert_eq!((house.summaries().len(), house.agent.queued().await.unwrap()), (paid, vec![]));
    }

    #[tokio::test]
    async fn a_pivot_that_the_user_stopped_is_not_resumed() {
        let house = opencode().build("oc-stopped").await;
        house.turns(8).await;
        house.server.set_summaries(Some(Step::Fault(Fault::Stall)));
        let mut run = house.agent.compact(&house.session, None).await.unwrap();
        until(&mut run, "CompactStarted").await;
        assert_eq!(house.agent.queued().await.unwrap().len(), 1);
        run.stop();
        assert_eq!(compactions(&all(run).await), [(false, false, None, "manual".into())]);
        assert_eq!(house.agent.queued().await.unwrap(), []);
    }

    #[tokio::test]
    async fn the_compaction_call_has_no_tools_and_asks_for_a_continuation() {
        let house = opencode().tool(super::super::kit::wordy("read_file", 10)).build("oc-call").await;
        house.until_compaction().await;
        for asked in house.summaries() {
            assert!(asked.request.get("tools").is_none());
            let (role, text) = messages(&asked).pop().unwrap();
            assert_eq!(role, "user");
            assert!(
                text.contains(QUESTION) && text.contains("Whoever continues will not see our conversation.")
            );
        }
        assert!(house.chats().iter().all(|e| e.request.get("tools").is_some()));
    }

    #[tokio::test]
    async fn an_interrupted_tool_loop_goes_on_by_itself_and_never_by_a_user_row() {
        let work = |_| async { Answer::ok("The tide is at 5.30 m.") };
        let mut house = opencode().tool(Host { name: "tide", work }).build("oc-continue").await;
        house.turns(4).await;
        house.script([used(7_200, call("tide")), Step::Model, Step::Reply("Done: we may cross.".into())]);
        let events = house.send("May we cross?").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let told = names(&events);
        let from = told.iter().position(|name| name == "ToolCallCompleted").unwrap();
        assert_eq!(
            told[from..],
            [
                "ToolCallCompleted",
                "CompactStarted",
                "CompactCompleted",
                "ContextUsage",
                "StreamingText",
                "ResponseComplete",
                "ContextUsage"
            ]
        );
        assert_eq!(said(&events), "Done: we may cross.");
        let rounds = events.iter().filter_map(|e| match e {
            Event::CompactStarted { round, .. } | Event::CompactCompleted { round, .. } => Some(*round),
            _ => None,
        });
        assert_eq!(rounds.collect::<Vec<_>>(), [1, 1]);
        let summary = house.summary().unwrap();
        let sent = messages(&house.last_chat());
        assert_eq!(
            sent[..3],
            [
                message("system", "You are a ferryman."),
                message("user", QUESTION),
                message("assistant", &oneclaw_tests::framed(&summary))
            ]
        );
        assert_eq!(sent.len(), 4);
        assert!(
            sent[3].0 == "user" && sent[3].1.contains("May we cross?") && sent[3].1.ends_with(AUTO_CONTINUE),
            "{:?}",
            sent[3]
        );
        assert_eq!(house.questions().iter().filter(|q| q.contains(AUTO_CONTINUE)).count(), 0);
        assert_eq!(house.questions().last().unwrap(), "May we cross?");
        // It is part of the epoch: a restart still has it, the next message stands after it.
        house.restart().await;
        house.ask("Thank you.").await;
        assert_eq!(talk(&house.last_chat()).matches(AUTO_CONTINUE).count(), 1);
    }

    #[tokio::test]
    async fn a_complete_reply_is_not_continued() {
        let house = opencode().build("oc-complete").await;
        house.until_compaction().await;
        let asked = house.chats().len();
        assert_eq!(house.chats().len(), asked, "nothing goes on by itself");
        house.ask("And now?").await;
        assert!(!house.last_chat().request.to_string().contains(AUTO_CONTINUE));
    }

    #[tokio::test]
    async fn a_failed_pass_leaves_a_digest_and_the_loop_goes_on() {
        let work = |_| async { Answer::ok("The tide is at 5.30 m.") };
        let house = opencode().tool(Host { name: "tide", work }).build("oc-failed").await;
        house.turns(4).await;
        house.server.set_summaries(Some(Step::Fault(Fault::ServerError(500))));
        house.script([used(7_200, call("tide")), Step::Reply("Done: we may cross.".into())]);
        let events = house.send("May we cross?").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
        assert_eq!(said(&events), "Done: we may cross.");
    }
}

mod filter {
    use super::*;

    #[tokio::test]
    async fn nothing_before_the_pivot_is_sent() {
        let house = opencode().build("oc-filter").await;
        for _ in 0..2 {
            // After a reply: before one, the message that waits for it would follow the pivot too.
            house.turns(10).await;
            house.compact(None).await;
            let summary = house.summary().unwrap();
            house.script([Step::Reply("We are.".into())]);
            house.ask("Are we across?").await;
            house.ask("Thank you.").await;
            assert_eq!(
                messages(&house.last_chat()),
                [
                    message("system", "You are a ferryman."),
                    message("user", QUESTION),
                    message("assistant", &oneclaw_tests::framed(&summary)),
                    message("user", "Are we across?"),
                    message("assistant", "We are."),
                    message("user", "Thank you."),
                ]
            );
        }
        assert!(house.rows().len() > 40, "all of it is in the file");
    }

    #[tokio::test]
    async fn undo_and_reset_bring_the_history_back() {
        let mut house = opencode().build("oc-undo").await;
        house.until_compaction().await;
        let (first, covered) = (house.summary().unwrap(), house.rows().len());
        house.turns(5).await;
        house.compact(None).await;
        assert_ne!(house.summary().as_deref(), Some(first.as_str()));

        let undone = house.agent.undo(&house.session).await.unwrap().unwrap();
        assert_eq!(undone.number, 2);
        assert_eq!(house.summary().as_deref(), Some(first.as_str()));
        assert_eq!(house.columns().0.as_deref(), Some(first.as_str()));
        house.restart().await;
        house.ask("The ferry waits.").await;
        let sent = messages(&house.last_chat());
        assert_eq!(sent.len(), 3 + 10 + 1, "the five turns since the first pivot, and the new message");
        assert_eq!(sent[3].1, house.texts()[covered].1);

        house.agent.reset(&house.session).await.unwrap();
        assert_eq!((house.summary(), house.columns()), (None, (None, None)));
        let whole = house.agent.preview(&house.session).await.unwrap().request;
        assert_eq!(whole.messages.len(), house.rows().len());
        assert_eq!(house.agent.undo(&house.session).await.unwrap(), None);
        // Too long now: the next message compacts it again, and is answered.
        let events = house.send("And now?").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert_eq!(compactions(&events).len(), 1);
        assert_eq!(house.refused(), 0);
    }
}

mod pruning {
    use super::*;

    /// So many turns with one tool result of 7,500 tokens each.
    async fn fetched(house: &House, turns: usize, tool: &str) {
        for turn in 0..turns {
            house.script([call(tool), Step::Reply(format!("Read {turn}."))]);
            house.ask(&format!("Fetch page {turn}.")).await;
        }
    }

    /// The tool results in the last request: whether each is cleared.
    fn cleared(house: &House) -> Vec<bool> {
        let results = messages(&house.last_chat()).into_iter().filter(|(role, _)| role == "tool");
        results.map(|(_, text)| text == CLEARED).collect()
    }

    fn pages(name: &'static str) -> impl oneclaw_agent::tools::Tool {
        Host { name, work: |_| async { Answer::ok("gravel roads".repeat(2_500)) } }
    }

    #[tokio::test]
    async fn results_beyond_the_newest_40_000_tokens_and_two_turns_are_cleared() {
        let mut house =
            Setup::window(200_000).preset("opencode").tool(pages("fetch")).build("oc-prune").await;
        fetched(&house, 12, "fetch").await;
        house.ask("Thank you.").await;
        let first = cleared(&house);
        assert_eq!(first.len(), 12);
        let gone = first.iter().filter(|is_cleared| **is_cleared).count();
        // Only if more than 20,000 tokens are won: three results at once, or none.
        assert!((3..=5).contains(&gone), "{first:?}");
        assert_eq!(first, (0..12).map(|n| n < gone).collect::<Vec<_>>(), "the oldest go");
        // In the file all is as it was, and a restart changes nothing.
        assert!(house.rows_of(RowType::ToolResult).iter().all(|text| text.len() == 30_000));
        let before = house.agent.preview(&house.session).await.unwrap().request;
        house.restart().await;
        assert_eq!(house.agent.preview(&house.session).await.unwrap().request, before);
        assert_eq!((house.summaries().len(), house.epochs().len()), (0, 0));
    }

    #[tokio::test]
    async fn protected_tools_keep_their_results() {
        let setup = Setup::window(200_000).preset("opencode").tool(pages("skill")).tool(pages("fetch"));
        let house = setup.build("oc-skill").await;
        fetched(&house, 2, "skill").await;
        fetched(&house, 12, "fetch").await;
        house.ask("Thank you.").await;
        let kept = cleared(&house);
        assert_eq!(kept[..3], [false, false, true], "{kept:?}");
    }

    #[tokio::test]
    async fn pruning_and_pivots_can_be_switched_off() {
        let setup = Setup { policy: policy("opencode", &["prune=false"]), ..Setup::window(200_000) };
        let house = setup.tool(pages("fetch")).build("oc-no-prune").await;
        fetched(&house, 10, "fetch").await;
        house.ask("Thank you.").await;
        assert!(!cleared(&house).contains(&true));

        let setup = Setup { policy: policy("opencode", &["auto=false"]), ..Setup::default() };
        let house = setup.build("oc-no-auto").await;
        house.turns(40).await;
        assert_eq!((house.summaries().len(), house.refused()), (0, 0));
    }
}
