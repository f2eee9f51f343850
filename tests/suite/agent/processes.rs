//! Two processes at one session: what one of them has done already is no failure of the other.

use super::kit::{Host, House, Setup, all, compactions, errors, said};
use oneclaw_agent::tools::Answer;
use oneclaw_agent::{Agent, Event};
use oneclaw_demo::{Fault, Step};
use oneclaw_store::{messages, queue};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A conversation of some length.
async fn house(name: &str) -> House {
    let house = Setup::window(16_000).build(name).await;
    for turn in 0..12 {
        house.ask(&format!("Write 20 words, turn {turn}. {}", "gravel road ".repeat(200))).await;
    }
    assert_eq!(house.epochs(), []);
    house
}

/// Summaries that take a while: longer than what others do meanwhile.
fn slow() -> Option<Step> {
    Some(Step::Fault(Fault::Drip(Duration::from_millis(1))))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compaction_that_another_process_has_made_is_not_made_again() {
    let house = house("processes-made").await;
    let (other, session) = (house.another_process().await, &house.session);
    // The first begins, the second overtakes it; it says more meanwhile and so covers more, or covers the same.
    for says_more in [true, false] {
        let (before, asked) = (house.epochs().len(), house.summaries().len());
        house.server.set_summaries(slow());
        let first = house.agent.compact(session, None).await.unwrap();
        while house.summaries().len() == asked {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        house.server.set_summaries(None);
        if says_more {
            let text = format!("Write 12 words. {}", "gravel road ".repeat(700));
            let events = all(other.send(session, &text, vec![]).await.unwrap()).await;
            assert_eq!(errors(&events), [] as [String; 0]);
        }
        let second = all(other.compact(session, None).await.unwrap()).await;
        assert_eq!((errors(&second), compactions(&second).len()), (vec![], 1));
        assert!(compactions(&second)[0].0);
        let rest = all(first).await;
        assert_eq!(errors(&rest), [] as [String; 0], "says more: {says_more}");
        let ends: Vec<_> = compactions(&rest).into_iter().map(|c| (c.0, c.1, c.2)).collect();
        assert_eq!(ends, [(false, false, None)], "it says that it compacted nothing");
        assert_eq!(house.epochs().len(), before + 1);
        assert_eq!(house.agent.store().read(queue::list).unwrap(), []);
        // Both go on from what is in force.
        for agent in [&house.agent, &other] {
            let events = all(agent.send(session, "Write 10 words.", vec![]).await.unwrap()).await;
            assert_eq!(errors(&events), [] as [String; 0]);
        }
        assert_eq!(house.epochs().len(), before + 1);
        if says_more {
            for turn in 0..8 {
                house.ask(&format!("Write 20 words, again {turn}. {}", "gravel road ".repeat(200))).await;
            }
        }
    }
    assert_eq!(house.refused(), 0);
}

/// What is planned on something that is no longer in force costs no summary: while a tool is at work, the other process
/// compacts, and what the tool brings makes the next check fire.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_summary_is_paid_for_that_another_process_has_made() {
    let other: Arc<OnceLock<(Agent, String)>> = Arc::default();
    let known = other.clone();
    let tool = Host {
        name: "fetch",
        work: move |_| {
            let (other, session) = known.get().unwrap().clone();
            async move {
                let said = all(other.compact(&session, None).await.unwrap()).await;
                assert!(compactions(&said)[0].0, "{said:?}");
                Answer::ok("gravel road ".repeat(1_000))
            }
        },
    };
    let house = Setup::window(16_000).tool(tool).build("processes-paid").await;
    assert!(other.set((house.another_process().await, house.session.clone())).is_ok());
    loop {
        let status = house.agent.status(&house.session).await.unwrap();
        if status.estimate.expected + 1_000 > status.trigger.unwrap() {
            break;
        }
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(150))).await;
    }
    assert_eq!(house.epochs(), []);
    house.script([Step::Calls(vec![("fetch".into(), "{}".into())])]);
    let events = house.send("Fetch it.").await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert!(said(&events).starts_with("fetch returned: gravel road"));
    let ends: Vec<_> = compactions(&events).into_iter().map(|c| c.0).collect();
    assert_eq!(ends, [false], "it says that it compacted nothing");
    let begun = events.iter().filter(|event| matches!(event, Event::CompactStarted { .. })).count();
    assert_eq!((house.epochs().len(), begun), (1, 0), "no summary was asked for");
}

/// A reply that was asked for before the compaction and came in after it belongs to its tail, and what the service counted
/// says nothing about what follows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_that_another_process_has_overtaken_is_of_the_tail() {
    let house = house("processes-reply").await;
    let (other, session) = (house.another_process().await, &house.session);
    house.script([Step::Fault(Fault::Drip(Duration::from_millis(5)))]);
    let mut first = house.agent.send(session, "Write 60 words.", vec![]).await.unwrap();
    while !matches!(first.next().await, Some(Event::StreamingText { .. })) {}
    let anchor =
        || house.agent.store().read(|c| Ok(oneclaw_store::engine::notes(c, session)?.anchor)).unwrap();
    let before = anchor();
    let second = all(other.compact(session, None).await.unwrap()).await;
    assert!(compactions(&second)[0].0);
    assert_eq!(errors(&all(first).await), [] as [String; 0]);
    let [epoch] = &house.epochs()[..] else { panic!("one compaction") };
    let tail = house.agent.store().read(|c| messages::since(c, session, epoch.boundary)).unwrap();
    assert_eq!(epoch.tail_rows, Some(tail.len() as u64));
    assert_eq!(anchor(), before);
}
