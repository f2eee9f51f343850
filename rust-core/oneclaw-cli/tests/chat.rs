//! `oneclaw chat` as its users meet it: piped, as JSON and in a pseudo-terminal, against the embedded demo and against a
//! service that misbehaves.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)] // A fault should stop a test.

mod kit;

use kit::{Output, Service, Typed, folder, golden, normal, piped, piped_with, screen};
use oneclaw_demo::{Config, Fault, Model, Step};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A short chat that is compacted on a window of 1,500 tokens.
const SHORT: [&str; 5] = [
    "remember: the door code = 4711",
    "Save \"port = 8080\" to notes.txt",
    "Write 260 words about tea",
    "Write 260 words about milk",
    "What is the door code?",
];

fn config(window: u64, script: Vec<Step>) -> Config {
    let model = Model { window, ..Model::default() };
    Config { models: vec![model], script, ..Config::default() }
}

fn sessions(output: &Output) -> Vec<Value> {
    let listed = output.values().into_iter().find(|v| v["command"] == "sessions").unwrap();
    listed["sessions"].as_array().unwrap().clone()
}

#[test]
fn a_piped_chat_as_reviewed() {
    let at = folder("chat-golden-piped");
    let output = piped(&at, &["--window", "1500"], &SHORT);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(!output.stdout.contains('\u{1b}') && !output.stdout.contains('\r'), "{}", output.stdout);
    assert!(at.join("oneclaw/oneclaw.db").is_file(), "the file is in the data folder");
    assert_eq!(std::fs::read_to_string(at.join("oneclaw/files/notes.txt")).unwrap(), "port = 8080");
    golden("piped.txt", &normal(&output.stdout, &at));
}

#[test]
fn a_typed_chat_as_reviewed() {
    let at = folder("chat-golden-typed");
    let mut typed = Typed::start(&at, &["--window", "1500", "--db", "chat.db"], &[]);
    for line in SHORT {
        typed.line(line);
        typed.wait("messages ");
    }
    typed.prompt();
    typed.keys("\u{4}");
    let (code, raw) = typed.end();
    assert_eq!(code, 0);
    assert!(raw.contains("Optimizing conversation context... 0 s"), "{raw:?}");
    assert!(raw.contains("\u{1b}[2m▕"), "the meter is dimmed");
    golden("typed.txt", &normal(&screen(&raw), &at));
    let history = std::fs::read_to_string(at.join("chat.db.history")).unwrap();
    assert!(history.contains("\nWrite 260 words about tea\n"), "{history}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(at.join("chat.db.history")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn without_colours_there_are_none() {
    let at = folder("chat-no-color");
    let mut typed = Typed::start(&at, &["--db", "chat.db"], &[("NO_COLOR", "1")]);
    typed.line("What time is it?");
    typed.wait("messages ");
    typed.line("/nonsense");
    typed.prompt();
    typed.keys("/quit\r");
    let (code, raw) = typed.end();
    assert_eq!(code, 0);
    assert!(!raw.contains("[1m") && !raw.contains("[0m") && !raw.contains("[31m"), "{raw:?}");
}

#[test]
fn events_come_as_json_in_their_order() {
    let at = folder("chat-json");
    let output = piped(&at, &["--json", "--window", "1500", "--db", "a.db"], &SHORT);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let plain = ["ContextUsage", "StreamingText", "ResponseComplete", "ContextUsage"];
    let tool = [
        "ContextUsage",
        "StreamingText",
        "ToolCallStarted",
        "ToolCallArgumentsDelta",
        "ToolRoundStarting",
        "ToolCallCompleted",
        "ContextUsage",
        "StreamingText",
        "ResponseComplete",
        "ContextUsage",
    ];
    let compacted =
        ["StreamingText", "ResponseComplete", "CompactStarted", "CompactCompleted", "ContextUsage"];
    let mut expected = [&plain[..], &tool[1..], &plain[1..], &compacted[..], &plain[1..]].concat();
    expected.dedup();
    assert_eq!(output.names(), expected);
    assert!(output.stdout.lines().all(|line| line.starts_with("{\"event\":\"")), "{}", output.stdout);
    let completed = output.values().into_iter().find(|v| v["event"] == "CompactCompleted").unwrap();
    assert_eq!(
        ["did_compact", "fallback", "strategy", "reason", "round"].map(|name| completed[name].clone()),
        [json!(true), json!(false), json!("prose"), json!("threshold"), json!(0)]
    );
    let said: String = output.values().iter().filter_map(|v| v["text"].as_str().map(str::to_owned)).collect();
    assert!(said.ends_with("the door code = 4711."), "{said}");
}

#[test]
fn commands_answer_in_text_and_in_json() {
    let at = folder("chat-commands");
    let lines = [
        "remember: port = 8080",
        "Write 300 words about tea",
        "/pin 2",
        "/compact the port",
        "/context",
        "/undo",
        "/undo",
        "/reset",
        "/pin",
        "/unpin 2",
        "/model demo-large",
        "/edit remember: port = 9090",
        "/regenerate",
        "/title Ports",
        "/sessions",
        "/help",
        "/quit",
        "never sent",
    ];
    let output = piped(&at, &["--json", "--db", "a.db", "--set", "tail_share=0"], &lines);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{}", output.stdout);
    let values = output.values();
    let of = |name: &str| values.iter().filter(|v| v["command"] == name).cloned().collect::<Vec<_>>();
    let context = &of("context")[0];
    assert_eq!((&context["model"], &context["limits"]["window"]), (&json!("demo"), &json!(16_000)));
    assert_eq!(context["compactions"][0]["reason"], "manual");
    assert!(context["summary"].as_str().unwrap().contains("8080"), "{context}");
    assert_eq!(context["pins"][0]["text"], "you: Write 300 words about tea");
    assert_eq!(of("undo").iter().map(|v| v["undone"].clone()).collect::<Vec<_>>(), [json!(1), Value::Null]);
    assert_eq!(of("pin")[1]["messages"][1]["pinned"], true);
    assert_eq!(of("model")[0]["window"], 128_000);
    assert_eq!((sessions(&output).len(), &sessions(&output)[0]["title"]), (1, &json!("Ports")));
    assert_eq!(of("help")[0]["commands"].as_array().unwrap().len(), 17);
    assert!(!output.stdout.contains("never sent"));

    let text =
        piped(&at, &["--db", "a.db"], &["/compact", "/pin", "/undo", "/context", "/sessions", "/help"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    for part in [
        "There is nothing to compact yet",
        "nothing to pin",
        "no compaction to take back",
        "demo/demo",
        "Ports",
    ] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
}

#[test]
fn a_failed_line_does_not_stop_the_rest() {
    let at = folder("chat-failures");
    let lines = ["/contxt", "hello", "/pin 99", "/model other", "What time is it?"];
    let output = piped(&at, &["--db", "a.db"], &lines);
    assert_eq!(output.code, 1);
    let complaints: Vec<&str> = output.stderr.lines().collect();
    assert!(
        complaints[0].starts_with("oneclaw: line 1: There is no command /contxt; did you mean /context?")
    );
    assert!(complaints[1].starts_with("oneclaw: line 3: There is no message 99;"), "{}", complaints[1]);
    assert!(
        complaints[2].starts_with("oneclaw: line 4: The demo has no model \"other\""),
        "{}",
        complaints[2]
    );
    assert_eq!(complaints[3..], ["oneclaw: 3 lines failed"]);
    assert!(output.stdout.contains("You wrote: \"hello\"") && output.stdout.contains("✓ get_current_time"));
    let json = piped(&at, &["--db", "a.db", "--json"], &["/contxt"]);
    assert_eq!((json.code, json.names()), (1, vec!["Error".to_owned()]));
    assert_eq!(json.values()[0]["code"], "VALIDATION");
}

#[test]
fn wrong_usage_and_what_cannot_be_opened() {
    let at = folder("chat-usage");
    let cases: [(&[&str], i32, &str); 8] = [
        (&["--set", "nonsense=1"], 2, "unknown field \"nonsense\""),
        (&["--preset", "nobody"], 2, "nobody"),
        (&["--tools", "get_current_time,shell"], 2, "there is no tool \"shell\""),
        (&["--window", "0"], 2, "--window"),
        (&["--provider", "demo", "--base-url", "http://x"], 2, "does not go with the embedded demo"),
        (&["--base-url", "http://localhost:1/v1"], 2, "--base-url needs --model"),
        (&["--provider", "anthropic"], 1, "set ANTHROPIC_API_KEY or ONECLAW_API_KEY"),
        (&["--session", "4f1c"], 1, "there is no session \"4f1c\""),
    ];
    for (args, code, text) in cases {
        let output = piped(&at, &[&["--db", "none.db"], args].concat(), &["hello"]);
        assert_eq!((output.code, output.stdout.as_str()), (code, ""), "{args:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
        assert!(output.stderr.contains(text), "{args:?}: {}", output.stderr);
        assert!(!at.join("none.db").exists(), "nothing is written: {args:?}");
    }
    assert_eq!(piped(&at, &["--db", "a.db"], &["hello"]).code, 0);
    let unknown = piped(&at, &["--db", "a.db", "--session", "4f1c"], &[]);
    assert_eq!((unknown.code, unknown.stderr.as_str()), (1, "oneclaw: a.db: has no session \"4f1c\"\n"));
}

#[test]
fn no_input_is_no_error_and_leaves_no_session() {
    let at = folder("chat-nothing");
    let output = piped(&at, &["--db", "a.db"], &[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert!(output.stdout.starts_with("Nothing was sent"), "{}", output.stdout);
    assert_eq!(piped(&at, &["--db", "a.db", "--json"], &[]).stdout, "");
    let listed = piped(&at, &["--db", "a.db", "--json"], &["/sessions"]);
    assert_eq!(sessions(&listed).len(), 1, "only the one that lists them");
}

#[test]
fn a_session_goes_on_where_it_ended() {
    let at = folder("chat-session");
    let first = piped(&at, &["--db", "a.db", "--json"], &["remember: the door code = 4711", "/sessions"]);
    let id = sessions(&first)[0]["id"].as_str().unwrap().to_owned();
    let args = ["--db", "a.db", "--session", &id];
    let second = piped(&at, &args, &["What is the door code?"]);
    assert!(second.stdout.starts_with("the door code = 4711.\n"), "{}", second.stdout);
    let mut typed = Typed::start(&at, &args, &[]);
    typed.prompt();
    typed.wait("What is the door code?");
    typed.wait("the door code = 4711.");
    typed.prompt();
    typed.keys("\u{3}");
    let (code, raw) = typed.end();
    assert_eq!(code, 0);
    assert!(raw.contains(&format!("Go on with: oneclaw chat --db a.db --session {id}")), "{raw:?}");
}

#[test]
fn a_compaction_that_was_cut_short_is_taken_up() {
    let at = folder("chat-queued");
    let args = ["--db", "a.db", "--json", "--set", "tail_share=0"];
    let first = piped(&at, &args, &["remember: port = 8080", "Write 300 words about tea", "/sessions"]);
    let id = sessions(&first)[0]["id"].as_str().unwrap().to_owned();
    let file = rusqlite::Connection::open(at.join("a.db")).unwrap();
    file.execute("INSERT INTO core_queue VALUES (?1, 'threshold', NULL, 1)", [&id]).unwrap();
    drop(file);
    let second = piped(&at, &[&args[..], &["--session", &id]].concat(), &["/context"]);
    assert_eq!(second.names(), ["CompactStarted", "CompactCompleted", "ContextUsage", "context"]);
    assert_eq!(second.values()[0]["reason"], "threshold");
}

#[test]
fn two_chats_on_one_file_do_not_take_each_others_demo_away() {
    let at = folder("chat-two");
    let mut first = Typed::start(&at, &["--db", "a.db"], &[]);
    first.line("remember: port = 8080");
    first.wait("messages ");
    let other = piped(&at, &["--db", "a.db"], &["hello"]);
    assert_eq!(other.code, 0, "{}", other.stderr);
    first.line("What is the port?");
    first.wait("port = 8080.");
    first.prompt();
    first.keys("\u{4}");
    assert_eq!(first.end().0, 0);
}

#[test]
fn tools_are_offered_as_asked() {
    let at = folder("chat-tools");
    let none = piped(&at, &["--db", "a.db", "--tools", "none"], &["What time is it?"]);
    assert!(!none.stdout.contains('→') && none.stdout.contains(" tools 0 "), "{}", none.stdout);
    let some = piped(&at, &["--db", "a.db", "--tools", "get_current_time"], &["What time is it?"]);
    assert!(some.stdout.contains("→ get_current_time\n  ✓ get_current_time · "), "{}", some.stdout);
    let guarded = piped(&at, &["--db", "a.db"], &["Look at http://127.0.0.1:1/x please"]);
    assert!(guarded.stdout.contains("→ http_request GET 127.0.0.1:1/x"), "{}", guarded.stdout);
    assert!(guarded.stdout.contains("✗ http_request failed · "), "{}", guarded.stdout);
}

#[test]
fn keys_are_used_and_never_shown() {
    const KEY: &str = "sk-canary-0123456789";
    let at = folder("chat-key");
    let service = Service::start(Config { key: Some(KEY.to_owned()), ..config(16_000, vec![]) }, |_| {});
    const NAME: &str = "ONECLAW_API_KEY";
    let args = [&["--db", "a.db"][..], &service.args("16000")].concat();
    let output = piped_with(&at, &args, &[(NAME, KEY)], &["hello", "/context", "/sessions"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(!format!("{output:?}").contains("canary"));
    let wrong = piped_with(&at, &args, &[(NAME, "sk-canary-wrong")], &["hello"]);
    assert_eq!(wrong.code, 1);
    let origin = service.url.trim_end_matches("/v1");
    let advice = format!("Give a key that is valid for {origin}: set {NAME}, and start again.");
    assert!(wrong.stderr.contains(&advice), "{}", wrong.stderr);
    assert!(!format!("{wrong:?}").contains("canary"), "{wrong:?}");
    for file in std::fs::read_dir(&at).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(6).any(|w| w == b"canary"), "no key in a file");
    }
}

#[test]
fn what_a_model_says_cannot_steer_the_terminal() {
    let at = folder("chat-escapes");
    let thinking = Step::Think {
        thinking: "hm \u{1b}]0;owned\u{7}".to_owned(),
        then: Box::new(Step::Reply("a\u{1b}[2Jb\r\nc\td\u{9b}31m".to_owned())),
    };
    let call = Step::Calls(vec![("read\u{1b}[1m_file".to_owned(), "{\"path\":\"\u{1b}[5m\"}".to_owned())]);
    let service = Service::start(config(16_000, vec![thinking, Step::Model, call]), |_| {});
    let args = [&["--db", "a.db"][..], &service.args("16000")].concat();
    let output = piped(&at, &args, &["hello", "and more", "/pin"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let bad = output.stdout.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t');
    assert_eq!(bad, None, "{:?}", output.stdout);
    assert!(output.stdout.contains("a␛[2Jb\nc\td\u{fffd}31m"), "{:?}", output.stdout);
}

#[test]
fn a_failed_summary_trims_and_says_so() {
    let at = folder("chat-trim");
    let prepare = |server: &oneclaw_demo::Server| server.set_summaries(Some(Step::Fault(Fault::EmptyReply)));
    let service = Service::start(config(1_500, vec![]), prepare);
    let args = [&["--db", "a.db"][..], &service.args("1500")].concat();
    let output = piped(&at, &args, &SHORT);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let notices = "Optimizing conversation context...\nConversation history has been automatically trimmed (";
    assert!(output.stdout.contains(notices), "{}", output.stdout);
}

#[test]
fn a_window_nobody_named_is_asked_for_and_models_can_be_changed() {
    let at = folder("chat-windows");
    let service = Service::start(config(9_000, vec![]), |_| {});
    let args = ["--db", "a.db", "--json", "--base-url", &service.url, "--model", "demo"];
    let lines = ["/context", "/model demo/demo-small", "What time is it?", "/context", "/model gpt-4o"];
    let output = piped(&at, &args, &lines);
    let contexts: Vec<Value> = output.values().into_iter().filter(|v| v["command"] == "context").collect();
    let at_service = format!("provider-openai@{}", service.url.trim_start_matches("http://"));
    assert_eq!(
        (&contexts[0]["provider"], &contexts[0]["limits"]["window"]),
        (&json!(at_service), &json!(9_000))
    );
    assert_eq!(
        (&contexts[1]["provider"], &contexts[1]["limits"]["window"]),
        (&json!("provider-demo"), &json!(4_000))
    );
    assert_eq!(output.code, 1, "the demo has no gpt-4o");
    let refused = output.values().last().unwrap()["message"].as_str().unwrap().to_owned();
    assert!(refused.ends_with("openai has a model of that name: /model openai/gpt-4o"), "{refused}");

    let other = ["--db", "a.db", "--base-url", &service.url, "--model", "other"];
    let unknown = piped(&at, &other, &["/context"]);
    assert_eq!(unknown.code, 0);
    assert!(unknown.stderr.contains("The window of this model is unknown"), "{}", unknown.stderr);
    assert!(
        unknown.stdout.contains(" tokens; window unknown — set it with /window N (system "),
        "{}",
        unknown.stdout
    );
}

#[test]
fn errors_say_what_to_do() {
    let at = folder("chat-errors");
    let faults = [Fault::Refusal, Fault::ErrorInStream, Fault::EmptyReply].map(Step::Fault).to_vec();
    let service = Service::start(config(16_000, faults), |_| {});
    let args = [&["--db", "a.db"][..], &service.args("16000")].concat();
    let output = piped(&at, &args, &["one", "two", "three", "/regenerate"]);
    assert_eq!(output.code, 1);
    assert!(output.stderr.lines().count() >= 3, "{}", output.stderr);
    assert!(output.stderr.contains("/regenerate tries again."), "{}", output.stderr);
    assert!(output.stdout.ends_with(" messages 4)\n") || output.stdout.contains("You wrote: \"three\""));
    let nowhere = ["--json", "--base-url", "http://127.0.0.1:1/v1", "--model", "x", "--window", "9000"];
    let gone = piped(&at, &nowhere, &["hello"]);
    assert_eq!((gone.code, gone.names().last().unwrap().as_str()), (1, "Error"));
    assert_eq!(gone.values().last().unwrap()["code"], "NETWORK");
}

#[test]
fn ctrl_c_stops_the_reply_and_keeps_it_and_leaves_the_second_time() {
    let at = folder("chat-ctrl-c");
    let mut typed = Typed::start(&at, &["--db", "a.db"], &[]);
    typed.line("Write 3000 words about tea");
    typed.wait(". ");
    typed.keys("\u{3}");
    typed.wait("(stopped; what was said so far is kept)");
    typed.line("hello");
    typed.wait("message 3 of 3");
    typed.prompt();
    let begun = Instant::now();
    typed.keys("\u{3}");
    let (code, raw) = typed.end();
    assert_eq!(code, 0);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(raw.matches("(stopped;").count(), 1);
    let listed = piped(&at, &["--db", "a.db", "--json"], &["/sessions"]);
    let id =
        sessions(&listed).iter().find(|s| s["messages"] == 4).unwrap()["id"].as_str().unwrap().to_owned();
    let file = rusqlite::Connection::open(at.join("a.db")).unwrap();
    let partial: i64 = file
        .query_row("SELECT COUNT(*) FROM core_messages WHERE session_id = ?1 AND is_partial", [&id], |r| {
            r.get(0)
        })
        .unwrap();
    assert_eq!(partial, 1, "the reply is kept and marked");
    let mut again = Typed::start(&at, &["--db", "a.db", "--session", &id], &[]);
    again.wait("(interrupted)");
    again.prompt();
    again.keys("\u{4}");
    assert_eq!(again.end().0, 0);
}

#[test]
fn a_slow_service_is_waited_for_with_a_sign() {
    let at = folder("chat-slow");
    let service = Service::start(config(16_000, vec![Step::Fault(Fault::Stall)]), |_| {});
    let args = [&["--db", "a.db"][..], &service.args("16000")].concat();
    let mut typed = Typed::start(&at, &args, &[]);
    typed.line("hello");
    typed.wait("Waiting for the model... 2 s");
    typed.keys("typed ahead\r\u{3}");
    typed.wait("(stopped;");
    typed.prompt();
    typed.wait("typed ahead\" (message 1 of 1)");
    typed.prompt();
    typed.keys("\u{4}");
    let (code, raw) = typed.end();
    assert_eq!(code, 0);
    assert!(!screen(&raw).contains("Waiting"), "the sign is gone: {}", screen(&raw));
}

#[test]
fn a_line_goes_on_after_a_backslash_and_in_a_paste() {
    let at = folder("chat-lines");
    let mut typed = Typed::start(&at, &["--db", "a.db"], &[]);
    typed.prompt();
    typed.keys("one\\\r");
    typed.keys("two\r");
    typed.wait("You wrote: \"one");
    typed.wait("two\" (message 1 of 1)");
    typed.prompt();
    typed.keys("\u{1b}[200~three\nfour\u{1b}[201~");
    typed.keys("\r");
    typed.wait("You wrote: \"three");
    typed.wait("four\" (message 3 of 3)");
    typed.prompt();
    typed.keys("/q\t\r");
    assert_eq!(typed.end().0, 0);
}

#[test]
fn a_closed_output_is_no_error() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let at = folder("chat-closed");
    let mut child = Command::new(env!("CARGO_BIN_EXE_oneclaw"))
        .args(["chat", "--db", "a.db"])
        .current_dir(&at)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(b"Write 1000 words\nhello\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(0), String::new()));
}
