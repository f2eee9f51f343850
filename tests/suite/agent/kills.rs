//! Kills the process while it streams, runs tools, summarises and commits: everything that was saved is there, and the
//! conversation goes on.

use super::kit::{House, Keys, PROVIDER, Setup, TIMING, all, errors, wordy};
use oneclaw_agent::tools::Registry;
use oneclaw_agent::{Agent, Config, Event, Offer, System};
use oneclaw_model::row::RowType;
use oneclaw_model::{ModelLimits, ToolStatus};
use oneclaw_sim::Rng;
use oneclaw_store::examine;
use oneclaw_store::messages::State;
use oneclaw_tests::times;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const FILE: &str = "ONECLAW_KILL_FILE";
const SESSION: &str = "ONECLAW_KILL_SESSION";
const TEXT: &str = "ONECLAW_KILL_TEXT";

/// Not a test of its own: the part that is killed. Sends a message and says what happens.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let (session, text) = (std::env::var(SESSION).unwrap(), std::env::var(TEXT).unwrap());
    let slow = super::kit::Host {
        name: "read_file",
        work: |_| async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            oneclaw_agent::tools::Answer::ok("gravel ".repeat(100))
        },
    };
    let mut tools = Registry::new();
    tools.insert(Arc::new(slow));
    let offer = Offer::Only(vec!["read_file".into()]);
    let config = Config { tools, offer, timing: TIMING, ..Config::new(Path::new(&file).to_owned()) };
    let agent = Agent::open(config, Arc::new(Keys(None)), Arc::new(System)).await.unwrap();
    agent.set_limits(PROVIDER, "gpt-4o", ModelLimits { max_output: Some(1_000), ..Default::default() });
    if let Some(prefix) = text.strip_prefix("/converse ") {
        return converse(&agent, &session, prefix).await;
    }
    let mut run = match text.as_str() {
        "/compact" => agent.compact(&session, None).await.unwrap(),
        text => agent.send(&session, text, vec![]).await.unwrap(),
    };
    say("Saved");
    while let Some(event) = run.next().await {
        say(serde_json::to_value(event).unwrap()["event"].as_str().unwrap());
    }
    say("Over");
}

/// Writes for ever and says what was saved: with tools, long texts, two at once, a compaction and its undoing.
async fn converse(agent: &Agent, session: &str, prefix: &str) {
    for number in 0.. {
        let text = match number % 5 {
            0 => format!("{prefix}-{number} Please read /tmp/a.txt and /tmp/b.txt"),
            1 => format!("{prefix}-{number} {}", "gravel road ".repeat(400)),
            _ => format!("{prefix}-{number} Write 60 words about rain."),
        };
        let run = agent.send(session, &text, vec![]).await.unwrap();
        say(&format!("Saved {prefix}-{number}"));
        match number % 5 {
            2 => {
                let text = format!("{prefix}-{number}b Write 5 words.");
                let second = agent.send(session, &text, vec![]).await.unwrap();
                say(&format!("Saved {prefix}-{number}b"));
                tokio::join!(all(run), all(second));
            }
            3 => {
                all(run).await;
                all(agent.compact(session, None).await.unwrap()).await;
                agent.undo(session).await.unwrap();
            }
            _ => drop(all(run).await),
        }
    }
}

/// Not `println`: the test harness would keep it.
fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\n{what}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

/// The test above in another process.
fn another_process(house: &House, text: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "agent::kills::child", "--nocapture"]);
    command.env(FILE, house.folder.file("oneclaw.db")).env(SESSION, &house.session).env(TEXT, text);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Sends a message in another process and kills that some time after it has said a word for the nth time.
async fn killed(house: &House, text: &str, word: &str, nth: usize, after: Duration) {
    let mut child = another_process(house, text);
    let out = child.stdout.take().unwrap();
    let word = word.to_owned();
    tokio::task::spawn_blocking(move || {
        let mut seen = 0;
        for line in BufReader::new(out).lines() {
            let line = line.unwrap();
            seen += usize::from(line == word);
            if seen == nth || line == "Over" {
                break;
            }
        }
        assert_eq!(seen, nth, "{word} was never said");
        std::thread::sleep(after);
        child.kill().unwrap();
        child.wait().unwrap();
    })
    .await
    .unwrap();
}

async fn house(name: &str) -> House {
    let setup = Setup { delay: Duration::from_millis(10), ..Setup::window(8_000) };
    setup.tool(wordy("read_file", 50)).build(name).await
}

/// The file is whole, what the user wrote is there, and the next message is answered.
async fn goes_on(house: &mut House, questions: &[&str]) {
    assert!(examine(&house.folder.file("oneclaw.db")).is_ok());
    let mut expected: Vec<String> = questions.iter().map(|q| (*q).to_owned()).collect();
    assert_eq!(house.questions(), expected);
    let events = all(house.agent.send(&house.session, "Write 5 words.", vec![]).await.unwrap()).await;
    assert_eq!(errors(&events), [] as [String; 0]);
    expected.push("Write 5 words.".into());
    assert_eq!(house.questions(), expected);
    assert_eq!(house.refused(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_streams() {
    let setup = Setup { delay: Duration::from_millis(40), ..Setup::window(8_000) };
    let mut house = setup.build("kill-stream").await;
    let text = "Write 800 words about rain.";
    // A growing reply is saved at least once a second.
    killed(&house, text, "StreamingText", 20, Duration::from_millis(2_000)).await;
    let rows = house.rows();
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[1].state, State::Partial);
    assert!(rows[1].row.content.len() > 200, "{}", rows[1].row.content.len());
    goes_on(&mut house, &[text]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_soon_as_it_is_saved() {
    let mut house = house("kill-saved").await;
    let mut questions = vec![];
    for (n, text) in ["Write 100 words.", "Write 101 words.", "Write 102 words."].into_iter().enumerate() {
        killed(&house, text, "Saved", 1, Duration::from_millis(n as u64 * 7)).await;
        questions.push(text);
    }
    goes_on(&mut house, &questions).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_tools_run() {
    let mut house = house("kill-tools").await;
    let text = "Please read /tmp/a.txt and /tmp/b.txt";
    killed(&house, text, "ToolRoundStarting", 1, Duration::from_millis(100)).await;
    let calls: Vec<_> = house.rows().into_iter().filter(|s| s.row.kind == RowType::ToolCall).collect();
    assert!(!calls.is_empty());
    assert!(calls.iter().all(|s| s.row.tool_status == Some(ToolStatus::Executing)));
    goes_on(&mut house, &[text]).await;
    let calls: Vec<_> = house.rows().into_iter().filter(|s| s.row.kind == RowType::ToolCall).collect();
    assert!(calls.iter().all(|s| s.row.tool_status == Some(ToolStatus::Error)), "they do not run any more");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_summarises_and_commits() {
    let mut house = house("kill-summary").await;
    let remark = format!("Write 20 words. {}", "gravel road ".repeat(700));
    for _ in 0..3 {
        house.ask(&remark).await;
    }
    let (mut before, mut after) = (0, 0);
    for delay in (0..40).map(|n| n * 15) {
        if before > 3 && after > 3 {
            break;
        }
        killed(&house, "/compact", "CompactStarted", 1, Duration::from_millis(delay)).await;
        match house.epochs().last().is_some_and(|epoch| epoch.undone_at.is_none()) {
            true => {
                after += 1;
                assert_eq!(house.agent.queued().await.unwrap(), []);
                house.agent.undo(&house.session).await.unwrap();
            }
            false => {
                before += 1;
                assert_eq!(house.agent.queued().await.unwrap().len(), 1);
            }
        }
    }
    assert!(before > 0 && after > 0, "{before} before, {after} after the commit");
    house.agent.resume(&house.session).await.map(all).unwrap().await;
    goes_on(&mut house, &[&remark, &remark, &remark]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_was_saved_last_is_answered_when_asked_again() {
    let house = house("kill-again").await;
    killed(&house, "Remember: the port = 8080.", "Saved", 1, Duration::ZERO).await;
    let events = all(house.agent.regenerate(&house.session).await.unwrap()).await;
    assert!(events.iter().any(|e| matches!(e, Event::ResponseComplete { .. })));
    assert!(house.ask("What is the port?").await.contains("8080"));
}

/// `ONECLAW_CASES` makes it more kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_any_moment() {
    let setup = Setup { delay: Duration::from_millis(1), ..Setup::window(8_000) };
    let mut house = setup.tool(wordy("read_file", 50)).build("kill-any").await;
    let mut rng = Rng::of(7, &[]);
    for kill in 0..25 * times() {
        let mut child = another_process(&house, &format!("/converse k{kill}"));
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let after = Duration::from_millis(rng.between(0, 600));
        let said: BTreeSet<String> = tokio::task::spawn_blocking(move || {
            let saved =
                |line: std::io::Result<String>| line.unwrap().strip_prefix("Saved ").map(str::to_owned);
            let first = lines.by_ref().find_map(saved).expect("a message is saved");
            std::thread::sleep(after);
            child.kill().unwrap();
            child.wait().unwrap();
            // What it had said before stands in the pipe.
            std::iter::once(first).chain(lines.filter_map(saved)).collect()
        })
        .await
        .unwrap();
        assert!(examine(&house.folder.file("oneclaw.db")).is_ok());
        let own: Vec<String> = house
            .questions()
            .into_iter()
            .filter_map(|text| text.split(' ').next().map(str::to_owned))
            .filter(|name| name.starts_with(&format!("k{kill}-")))
            .collect();
        let kept: BTreeSet<String> = own.iter().cloned().collect();
        assert_eq!(kept.len(), own.len(), "nothing is there twice: {own:?}");
        assert!(said.is_subset(&kept), "said {said:?}, kept {kept:?}");
        assert!(kept.len() <= said.len() + 1, "at most the last one was not said yet: {said:?}, {kept:?}");
        if kill % 10 == 9 {
            // Otherwise a thousand kills are one conversation, and reading it all becomes the test.
            let questions = house.questions();
            goes_on(&mut house, &questions.iter().map(String::as_str).collect::<Vec<_>>()).await;
            house.session = house.new_session().await;
        }
    }
    let questions = house.questions();
    goes_on(&mut house, &questions.iter().map(String::as_str).collect::<Vec<_>>()).await;
}
