//! Nous 008.1 in what the server saw: pruning by age, and checkpoints that are updated.

use super::kit::{Host, House, Setup, compactions, errors, names};
use super::talk::{messages, policy, prose, system, talk};
use crate::http::{logged, watch_the_log};
use oneclaw_agent::Event;
use oneclaw_agent::tools::{Answer, Tool};
use oneclaw_context::prune::CLEARED_BY_AGE;
use oneclaw_demo::{Fault, Step};
use oneclaw_model::Attachment;
use oneclaw_model::row::RowType;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const HEADINGS: [&str; 8] = [
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
];

fn call(times: usize) -> Step {
    Step::Calls(vec![("bash".into(), "{}".into()); times])
}

/// The output of a call: so many characters, and which one it was at both ends.
fn output(number: usize, chars: usize) -> String {
    let (head, tail) = (format!("<{number} "), format!(" {number}>"));
    format!("{head}{}{tail}", "g".repeat(chars - head.len() - tail.len()))
}

fn trimmed(output: &str) -> String {
    let (head, rest) = output.split_at(1_500);
    let (_, tail) = rest.split_at(rest.len() - 1_500);
    format!("{head}\n\n--- trimmed (kept 1500 head + 1500 tail of {} chars) ---\n\n{tail}", output.len())
}

/// A tool whose n-th call gives so many characters.
fn bash(chars: impl Fn(usize) -> usize + Send + Sync + 'static) -> impl Tool {
    let count = Arc::new(AtomicUsize::new(0));
    let work = move |_| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let text = output(number, chars(number));
        async move { Answer::ok(text) }
    };
    Host { name: "bash", work }
}

/// The tool results of each chat request, as they were sent.
fn results(house: &House) -> Vec<Vec<String>> {
    let of = |exchange| {
        let results = messages(exchange).into_iter().filter(|(role, _)| role == "tool");
        results.map(|(_, text)| text).collect()
    };
    house.chats().iter().map(of).collect()
}

mod pruning {
    use super::*;

    #[tokio::test]
    async fn runs_before_every_call_by_the_age_of_batches() {
        watch_the_log();
        let house = Setup::window(128_000).preset("nous").tool(bash(|_| 6_000)).build("nous-loop").await;
        house.script(vec![call(1); 9]);
        house.script([Step::Reply("Done.".into())]);
        let events = house.send("Do nine things.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let expected = |batches: usize| -> Vec<String> {
            let one = |number: usize| match batches - number {
                1 | 2 => output(number, 6_000),
                3..=6 => trimmed(&output(number, 6_000)),
                _ => CLEARED_BY_AGE.to_owned(),
            };
            (0..batches).map(one).collect()
        };
        assert_eq!(results(&house), (0..=9).map(expected).collect::<Vec<_>>());
        // The rows have it all.
        let rows = house.rows_of(RowType::ToolResult);
        assert_eq!(rows, (0..9).map(|n| output(n, 6_000)).collect::<Vec<_>>());
        assert!(logged().iter().any(|line| line.ends_with("pruned 7 tool results (soft 4, hard 3)")));
        assert!(!names(&events).iter().any(|name| name.starts_with("Compact")), "pruning says nothing");
    }

    #[tokio::test]
    async fn a_parallel_batch_is_one_tool_result_message() {
        let house = Setup::window(128_000).preset("nous").tool(bash(|_| 6_000)).build("nous-batch").await;
        house.script(vec![call(2); 3]);
        house.script([Step::Reply("Done.".into())]);
        house.ask("Do six things.").await;
        let last = results(&house).pop().unwrap();
        let is_whole: Vec<bool> = last.iter().map(|text| text.len() == 6_000).collect();
        assert_eq!(is_whole, [false, false, true, true, true, true]);
    }

    #[tokio::test]
    async fn small_results_stay_until_they_are_old() {
        let setup =
            Setup::window(128_000).preset("nous").tool(bash(|n| if n % 2 == 0 { 4_000 } else { 4_001 }));
        let house = setup.build("nous-small").await;
        house.script(vec![call(1); 6]);
        house.script([Step::Reply("Done.".into())]);
        house.ask("Do six things.").await;
        let lengths: Vec<usize> = results(&house).pop().unwrap().iter().map(String::len).collect();
        let short = trimmed(&output(1, 4_001)).len();
        assert_eq!(lengths, [4_000, short, 4_000, short, 4_000, 4_001]);
    }

    #[tokio::test]
    async fn what_was_said_is_never_touched() {
        let house = Setup::window(128_000).preset("nous").tool(bash(|_| 6_000)).build("nous-said").await;
        let long = prose(2_000);
        for turn in 0..8 {
            house.script([call(1), Step::Reply(format!("Reply {turn}: {long}"))]);
            house.ask(&format!("Turn {turn}: {long}")).await;
        }
        house.ask("Thank you.").await;
        let sent = messages(&house.last_chat());
        for turn in 0..8 {
            for text in
                [format!("Turn {turn}: {long}"), format!("Reply {turn}: {long}").chars().take(40).collect()]
            {
                assert!(sent.iter().any(|(_, sent)| sent.starts_with(&text)), "{turn}");
            }
        }
        let cleared = sent.iter().filter(|(_, text)| text == CLEARED_BY_AGE).count();
        assert_eq!(cleared, 2);
    }

    #[tokio::test]
    async fn results_with_pictures_are_skipped() {
        let picture = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA";
        let work = move |_| async move {
            let attachment = Attachment {
                mime: "image/png".into(),
                name: "map.png".into(),
                width: Some(1_000),
                height: Some(1_000),
                data: Some(picture.into()),
            };
            Answer { attachments: vec![attachment], ..Answer::ok(output(0, 6_000)) }
        };
        let house =
            Setup::window(128_000).preset("nous").tool(Host { name: "bash", work }).build("nous-image").await;
        house.script(vec![call(1); 8]);
        house.script([Step::Reply("Done.".into())]);
        house.ask("Draw eight maps.").await;
        let last = results(&house).pop().unwrap();
        assert!(last.iter().all(|text| text.contains(&output(0, 6_000))), "{last:?}");
        assert_eq!(house.last_chat().request.to_string().matches(picture).count(), 8);
    }

    #[tokio::test]
    async fn can_be_switched_off() {
        let setup = Setup { policy: policy("nous", &["prune=false"]), ..Setup::window(128_000) };
        let house = setup.tool(bash(|_| 6_000)).build("nous-off").await;
        house.script(vec![call(1); 8]);
        house.script([Step::Reply("Done.".into())]);
        house.ask("Do eight things.").await;
        assert!(results(&house).pop().unwrap().iter().all(|text| text.len() == 6_000));
    }
}

mod checkpoints {
    use super::*;

    fn small() -> Setup {
        let policy = policy("nous", &["trigger_tokens=5000", "tail_tokens=1500"]);
        Setup { policy, system: Some("You are a ferryman.".into()), ..Setup::default() }
    }

    #[tokio::test]
    async fn the_default_threshold_is_100_000_tokens_with_the_output_reserve() {
        let house = Setup::window(200_000).preset("nous").build("nous-default").await;
        let mut fired = Vec::new();
        for turn in 0..6 {
            let events = house.send(&format!("Turn {turn}: {}", prose(18_000))).await;
            assert_eq!(errors(&events), [] as [String; 0]);
            for event in &events {
                match event {
                    Event::ContextUsage { upper, trigger, .. } => {
                        assert_eq!(*trigger, Some(99_000));
                        assert!(
                            *upper <= 99_000 || names(&events).last().unwrap() == "ContextUsage",
                            "{upper}"
                        );
                    }
                    Event::CompactCompleted { tokens_before, tokens_after, .. } => {
                        fired.push((*tokens_before, *tokens_after));
                    }
                    _ => {}
                }
            }
        }
        let [(before, after)] = fired[..] else { panic!("{fired:?}") };
        assert!(before > 85_000 && after < 25_000, "{before} -> {after}");
    }

    #[tokio::test]
    async fn the_first_is_made_and_later_ones_are_updated() {
        let house = small().build("nous-update").await;
        house.ask("Remember: the ledger is /srv/ledger/2024/q3.csv.").await;
        let mut prior: Option<String> = None;
        for number in 1..=3u64 {
            let events = house.until_compaction().await;
            assert_eq!(compactions(&events), [(true, false, Some("checkpoint".into()), "threshold".into())]);
            let Some(Event::CompactStarted { messages, number: told, round, .. }) =
                events.iter().find(|e| matches!(e, Event::CompactStarted { .. }))
            else {
                panic!("{:?}", names(&events));
            };
            let epoch = house.epochs().pop().unwrap();
            assert_eq!((*told, *messages, *round), (number, epoch.rows, 0));
            let headings: Vec<&str> = epoch.summary.lines().filter(|line| line.starts_with('#')).collect();
            assert_eq!(headings, HEADINGS);
            let asked = house.summaries().pop().unwrap();
            match &prior {
                None => {
                    assert!(
                        system(&asked).starts_with("You read a conversation and write a checkpoint of it")
                    );
                    assert!(!talk(&asked).contains("## Existing Summary"));
                }
                Some(prior) => {
                    assert!(system(&asked).starts_with("You bring a checkpoint up to date"));
                    let text = prior.split("\n\nFacts").next().unwrap();
                    let frame = format!("## Existing Summary\n\n{text}\n\n## New Conversation\n\n");
                    assert!(talk(&asked).starts_with(&frame), "{}", talk(&asked));
                }
            }
            assert!(epoch.summary.contains("/srv/ledger/2024/q3.csv"));
            prior = Some(epoch.summary);
        }
    }

    #[tokio::test]
    async fn stands_as_a_pair_before_a_tail_that_starts_with_the_user() {
        let mut house = small().build("nous-pair").await;
        house.until_compaction().await;
        house.restart().await;
        house.ask("Are we across?").await;
        let epoch = house.epochs().pop().unwrap();
        let covered = usize::try_from(epoch.rows).unwrap();
        let texts = house.texts();
        let mut expected = vec![
            ("system".to_owned(), "You are a ferryman.".to_owned()),
            (
                "user".to_owned(),
                format!("[Previous conversation summary]\n\n{}", oneclaw_tests::framed(&epoch.summary)),
            ),
            (
                "assistant".to_owned(),
                "I have the context from our previous conversation. Let's continue.".to_owned(),
            ),
        ];
        for (kind, text) in &texts[covered..texts.len() - 1] {
            let role = if *kind == RowType::User { "user" } else { "assistant" };
            expected.push((role.to_owned(), text.clone()));
        }
        assert_eq!(messages(&house.last_chat()), expected);
        assert_eq!(texts[covered].0, RowType::User);
    }

    #[tokio::test]
    async fn is_checked_before_each_call_also_in_a_tool_loop_and_not_after_the_response() {
        let house = small().tool(bash(|_| 3_900)).build("nous-before").await;
        house.turns(7).await;
        house.script(vec![call(1); 4]);
        let events = house.send("Do four things.").await;
        assert_eq!(errors(&events), [] as [String; 0]);
        let rounds: Vec<u32> = events
            .iter()
            .filter_map(|e| match e {
                Event::CompactCompleted { round, .. } => Some(*round),
                _ => None,
            })
            .collect();
        assert!(!rounds.is_empty() && rounds.iter().all(|round| (1..=4).contains(round)), "{rounds:?}");
        let told = names(&events);
        let reply = told.iter().position(|name| name == "ResponseComplete").unwrap();
        assert!(!told[reply..].iter().any(|name| name.starts_with("Compact")));
    }

    #[tokio::test]
    async fn a_failed_checkpoint_falls_back_and_the_next_one_builds_on_it() {
        let house = small().build("nous-fails").await;
        house.ask("Remember: the ledger is /srv/ledger/2024/q3.csv.").await;
        house.server.set_summaries(Some(Step::Fault(Fault::ServerError(500))));
        let events = house.until_compaction().await;
        assert_eq!(compactions(&events), [(true, true, Some("digest".into()), "threshold".into())]);
        house.server.set_summaries(None);
        let events = house.until_compaction().await;
        assert_eq!(compactions(&events), [(true, false, Some("checkpoint".into()), "threshold".into())]);
        assert!(house.summary().unwrap().contains("/srv/ledger/2024/q3.csv"));
        assert_eq!(house.refused(), 0);
    }
}
