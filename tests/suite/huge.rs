//! Tool results, replies, errors and web pages without end: what a process takes for them is measured, each in a process of
//! its own, and bounded; the run ends with an error that says so, what had come is kept, the file is whole.
//!
//! The amounts here are what an ordinary run can wait for. `ONECLAW_CASES=40` sends 100 MB and 1 GB, and prints what was
//! measured.

mod source;

use crate::agent::kit::{Host, Keys, PROVIDER, TIMING, all, errors, names};
use crate::store::Folder;
use oneclaw_agent::tools::guard::Guard;
use oneclaw_agent::tools::http::HttpRequest;
use oneclaw_agent::tools::{Answer as ToolAnswer, Registry};
use oneclaw_agent::{Agent, Config, Event, Offer, System, UNTITLED};
use oneclaw_context::Policy;
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, ModelLimits, ProviderKind};
use oneclaw_providers::Timing;
use oneclaw_store::catalogue::{self, Provider};
use oneclaw_store::messages::{self, Stored};
use oneclaw_store::{Place, Store, examine, sessions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use source::{Answer, Source};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const MB: u64 = 1_000_000;
const QUESTION: &str = "Say all there is to say.";
const SESSION: &str = "huge";

/// How large a tool's result is here.
fn result_size() -> u64 {
    (20 * u64::from(oneclaw_tests::times())).min(100) * MB
}

/// How much a service sends here at most.
fn stream_size() -> u64 {
    (64 * u64::from(oneclaw_tests::times())).min(1_024) * MB
}

// ---- the process that is measured ----

const FILE: &str = "ONECLAW_HUGE_FILE";
const ORDER: &str = "ONECLAW_HUGE_ORDER";
const REPORT: &str = "measured ";

/// What the process is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Order {
    kind: ProviderKind,
    port: u16,
    preset: String,
    doing: Doing,
    /// The size of what the tool gives.
    size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Doing {
    /// Sends a message and listens.
    Send,
    /// Sends a message and does not listen until it is answered.
    SendUnheard,
    /// Lists the models.
    List,
    /// Waits for a title.
    Title,
}

/// What it was found to take, in kB, and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Report {
    before: u64,
    peak: u64,
    errors: Vec<String>,
    events: Vec<String>,
}

impl Report {
    fn grown_mb(&self) -> u64 {
        (self.peak - self.before) / 1_000
    }
}

/// The most memory this process ever had, in kB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Not a test of its own: the process that is measured.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let (Some(file), Ok(order)) = (std::env::var_os(FILE), std::env::var(ORDER)) else { return };
    let order: Order = serde_json::from_str(&order).unwrap();
    let agent = open(Path::new(&file), &order).await;
    let before = peak();
    let mut errors = vec![];
    let mut events = vec![];
    match order.doing {
        Doing::List => errors.push(agent.models(PROVIDER).await.unwrap_err().to_string()),
        Doing::Send | Doing::SendUnheard | Doing::Title => {
            let run = agent.send(SESSION, QUESTION, vec![]).await.unwrap();
            match order.doing {
                Doing::SendUnheard => until(&agent, |agent| rows(agent.store()).len() > 2).await,
                Doing::Title => until(&agent, has_title).await,
                _ => {}
            }
            let told: Vec<Event> = all(run).await;
            errors.extend(self::errors(&told));
            events = names(&told);
        }
    }
    let report = Report { before, peak: peak(), errors, events };
    agent.close().await;
    let line = format!("\n{REPORT}{}\n", serde_json::to_string(&report).unwrap());
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).unwrap();
}

async fn until(agent: &Agent, is_so: impl Fn(&Agent) -> bool) {
    for _ in 0..6_000 {
        if is_so(agent) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it does not end");
}

fn has_title(agent: &Agent) -> bool {
    agent.store().read(|c| sessions::get(c, SESSION)).unwrap().title != UNTITLED
}

fn rows(store: &Store) -> Vec<Stored> {
    store.read(|c| messages::since(c, SESSION, Place::START)).unwrap()
}

/// An agent with a session, its tools of any size, and a service at that port.
async fn open(file: &Path, order: &Order) -> Agent {
    let size = order.size as usize;
    let lines = Host {
        name: "lines",
        work: move |_| async move { ToolAnswer::ok("gravel and sand\n".repeat(size / 16)) },
    };
    let line = Host { name: "line", work: move |_| async move { ToolAnswer::ok("漢".repeat(size / 3)) } };
    let picture = Host {
        name: "picture",
        work: move |_| async move {
            let data = Some("A".repeat(size));
            let mime = "image/png".to_owned();
            let image = Attachment { mime, name: "a".into(), width: None, height: None, data };
            ToolAnswer { attachments: vec![image], ..ToolAnswer::ok("A picture.") }
        },
    };
    let mut tools = Registry::new();
    tools.insert(Arc::new(lines));
    tools.insert(Arc::new(line));
    tools.insert(Arc::new(picture));
    let allowed = Guard::Allow(vec![format!("127.0.0.1:{}", order.port)]);
    tools.insert(Arc::new(HttpRequest::new(allowed).unwrap()));
    let config = Config {
        offer: Offer::Only(tools.names()),
        tools,
        policy: Policy::preset(&order.preset).unwrap(),
        timing: Timing { attempts: 1, ..TIMING },
        ..Config::new(file.to_owned())
    };
    let agent = Agent::open(config, Arc::new(Keys(None)), Arc::new(System)).await.unwrap();
    agent.set_limits(
        PROVIDER,
        "m",
        ModelLimits { window: Some(100_000), max_output: Some(1_000), ..Default::default() },
    );
    let provider = Provider {
        id: PROVIDER.into(),
        name: "Huge".into(),
        kind: order.kind,
        base_url: format!("http://127.0.0.1:{}/v1", order.port),
        is_preset: false,
        is_active: true,
    };
    let title = if order.doing == Doing::Title { UNTITLED } else { "A title" };
    agent
        .store()
        .write(|t| {
            catalogue::save_provider(t, &provider, 1)?;
            sessions::create(t, SESSION, title, oneclaw_store::agents::GENERAL_ASSISTANT, 1)?;
            sessions::set_model(t, SESSION, PROVIDER, "m")
        })
        .unwrap();
    agent
}

// ---- the process that measures ----

/// What is sent and what comes of it.
struct Case {
    name: &'static str,
    kind: ProviderKind,
    doing: Doing,
    preset: &'static str,
    answers: Vec<Answer>,
    /// How much is sent at most.
    size: u64,
    /// The beginning of the error it ends with; empty where it does not.
    ends: &'static str,
}

impl Case {
    fn new(name: &'static str, answer: Answer, ends: &'static str) -> Self {
        let (kind, doing) = (ProviderKind::OpenAi, Doing::Send);
        Self { name, kind, doing, preset: "oneclaw", answers: vec![answer], size: stream_size(), ends }
    }

    /// An answer that says nothing: it is ended by its length alone, and where less is sent, the connection just breaks.
    fn quiet(name: &'static str, answer: Answer, least: u64) -> Self {
        let size = if oneclaw_tests::times() > 1 { stream_size().max(least) } else { least };
        let ends = if size > MOST_BODY { UNREADABLE } else { BROKEN };
        Self { size, ..Self::new(name, answer, ends) }
    }

    fn of(self, kind: ProviderKind) -> Self {
        Self { kind, ..self }
    }

    fn doing(self, doing: Doing) -> Self {
        Self { doing, ..self }
    }

    /// A reply that calls a tool, and one after it.
    fn tool(name: &'static str, preset: &'static str, call: &str, arguments: &str) -> Self {
        let delta = json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": call, "arguments": arguments}}]});
        let called = format!("{}{}", openai(delta), STOP);
        let said = format!("{}{STOP}", openai(json!({"content": "Done."})));
        let answers = vec![Answer::events(&called), Answer::events(&said)];
        Self { answers, preset, size: result_size(), ..Self::new(name, Answer::events(""), "") }
    }

    /// Runs it, and gives what was measured and what is in the file.
    fn run(self) -> (Report, Vec<Stored>, u64) {
        let folder = Folder::new(&format!("huge-{}", self.name.replace(' ', "-")));
        let file = folder.file("oneclaw.db");
        let answers = self.answers.clone();
        let page = Answer::Endless {
            head: "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n",
            first: String::new(),
            piece: b"gravel\n".to_vec(),
        };
        let number = AtomicUsize::new(0);
        let source = Source::start(self.size, move |address, path| {
            if path == "/page" {
                return page.clone();
            }
            let number = number.fetch_add(1, Ordering::SeqCst);
            match answers[number.min(answers.len() - 1)].clone() {
                Answer::Whole(text) => Answer::Whole(text.replace("PAGE", &format!("http://{address}/page"))),
                endless => endless,
            }
        });
        let port = source.address.port();
        let order =
            Order { kind: self.kind, port, preset: self.preset.into(), doing: self.doing, size: self.size };
        let start = Instant::now();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "huge::child", "--nocapture"]);
        command.env(FILE, &file).env(ORDER, serde_json::to_string(&order).unwrap());
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let report = said.lines().find_map(|line| line.strip_prefix(REPORT));
        let report = report.unwrap_or_else(|| panic!("{}: {said}", self.name));
        let report: Report = serde_json::from_str(report).unwrap();
        if oneclaw_tests::times() > 1 {
            let (took, grown, base) =
                (start.elapsed().as_secs_f64(), report.grown_mb(), report.before / 1_000);
            let sent = source.sent() / MB;
            let line = format!(
                "{}: {sent} MB sent, {grown} MB beyond {base} MB, {took:.1} s {:?}\n",
                self.name, report.errors
            );
            std::io::stderr().write_all(line.as_bytes()).unwrap();
        }
        let ends = [self.ends].into_iter().filter(|end| !end.is_empty());
        let has_ended =
            report.errors.iter().map(String::as_str).zip(ends.clone()).all(|(e, end)| e.starts_with(end));
        assert!(has_ended && report.errors.len() == ends.count(), "{}: {report:?}", self.name);
        assert!(examine(&file).is_ok(), "{}", self.name);
        let rows = rows(&Store::open_existing(&file).unwrap());
        if self.doing != Doing::List {
            assert_eq!(rows[0].row.content, QUESTION);
        }
        (report, rows, source.sent())
    }
}

const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn openai(delta: serde_json::Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn anthropic(data: serde_json::Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

fn block(delta: serde_json::Value) -> String {
    anthropic(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

fn gemini(part: serde_json::Value) -> String {
    format!("data: {}\n\n", json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]}))
}

/// Bytes of every kind, the same each time.
fn noise() -> Vec<u8> {
    let mut state = 7_u64;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u8
    };
    (0..65_536).map(step).collect()
}

/// The longest body that is read, whatever it says.
const MOST_BODY: u64 = 128 * 1_024 * 1_024;
/// What the system takes in beyond that for a reader that is about to leave: its buffers grow to 32 MB and 4 MB.
const UNREAD: u64 = 40 * MB;

const BROKEN: &str = "Network retryable: The connection to the service failed: ";
const UNREADABLE: &str = "Provider final: The service's answer cannot be read: ";

/// Replies without end: of text, so that what came is kept.
fn spoken() -> Vec<Case> {
    let words = "gravel ".repeat(140);
    let text = json!({"type": "text_delta", "text": words});
    let thinking = json!({"type": "thinking_delta", "thinking": words});
    let anthropic_start = anthropic(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    let thinking_start = anthropic(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
    );
    let end = "Provider final: The service's answer cannot be read: the reply has no end";
    vec![
        Case::new("text", Answer::endless("", openai(json!({"content": words}))), end),
        Case::new("text of Anthropic", Answer::endless(anthropic_start, block(text)), end)
            .of(ProviderKind::Anthropic),
        Case::new("text of Gemini", Answer::endless("", gemini(json!({"text": words}))), end)
            .of(ProviderKind::Gemini),
        Case::new("reasoning", Answer::endless("", openai(json!({"reasoning_content": words}))), UNREADABLE),
        Case::new("reasoning of Anthropic", Answer::endless(thinking_start, block(thinking)), UNREADABLE)
            .of(ProviderKind::Anthropic),
        Case::new("letters", Answer::endless("", openai(json!({"content": "x"}))), end),
        Case::new("letters unheard", Answer::endless("", openai(json!({"content": "x"}))), end)
            .doing(Doing::SendUnheard),
    ]
}

/// Answers without end that say nothing that could be kept.
fn unspoken() -> Vec<Case> {
    let long = "x".repeat(1_000);
    let argument = json!({"tool_calls": [{"index": 0, "function": {"arguments": long}}]});
    let call =
        json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "lines", "arguments": ""}}]});
    let small = json!({"tool_calls": [{"index": 0, "function": {"arguments": "x"}}]});
    let endless = |head, piece: &[u8]| Answer::Endless { head, first: String::new(), piece: piece.to_vec() };
    let chunked_error = "HTTP/1.1 500 Broken\r\ntransfer-encoding: chunked\r\n\r\n";
    let packed_error = "HTTP/1.1 400 Bad\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n";
    let list = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"data\":[";
    let whole = format!("{}{STOP}", openai(json!({"content": "Done."})));
    let thinking = Answer::endless("", openai(json!({"reasoning_content": long})));
    vec![
        Case::new("one line", Answer::endless("data: {\"x\":\"", vec![b'x'; 65_536]), UNREADABLE),
        Case::new("one event", Answer::endless("", format!("data: {long}\n")), UNREADABLE),
        Case::new("arguments", Answer::endless(openai(call.clone()), openai(argument)), UNREADABLE),
        Case::new("letters of arguments", Answer::endless(openai(call), openai(small)), UNREADABLE),
        Case::new(
            "calls of Gemini",
            Answer::endless("", gemini(json!({"functionCall": {"name": "lines", "args": {}}}))),
            UNREADABLE,
        )
        .of(ProviderKind::Gemini),
        Case::quiet("garbage", Answer::endless("", noise()), 200 * MB),
        Case::quiet("comments", Answer::endless("", ": ping\n\n"), 16 * MB),
        Case::quiet("blank lines", Answer::endless("", "\n"), 16 * MB),
        Case::quiet("empty events", Answer::endless("", openai(json!({}))), 16 * MB),
        Case::quiet("pings of Anthropic", Answer::endless("", anthropic(json!({"type": "ping"}))), 16 * MB)
            .of(ProviderKind::Anthropic),
        Case::new("one value", Answer::endless("{\"x\":[", "1,"), UNREADABLE),
        Case::new("headers", endless("HTTP/1.1 200 OK\r\n", b"x-header: gravel\r\n"), BROKEN),
        Case::new("one header", endless("HTTP/1.1 200 OK\r\nx-header: ", &[b'x'; 65_536]), BROKEN),
        Case::new(
            "an error",
            endless(chunked_error, long.as_bytes()),
            "Provider retryable: The service is overloaded",
        ),
        Case::new(
            "a packed error",
            endless(packed_error, &noise()),
            "Provider final: The service cannot take",
        ),
        Case::new("after the end", Answer::endless(whole.clone(), ": ping\n\n"), ""),
        Case::new("a list", endless(list, b"{\"id\":\"gravel\"},"), "The service's answer cannot be read")
            .doing(Doing::List),
        Case {
            answers: vec![Answer::events(&whole), thinking.clone()],
            ..Case::new("a title", thinking, "")
        }
        .doing(Doing::Title),
    ]
}

/// Half a million events take their time: an ordinary run has them once.
fn is_for_now(case: &Case) -> bool {
    oneclaw_tests::times() > 1 || !["letters", "letters of arguments"].contains(&case.name)
}

#[test]
fn a_reply_without_end_is_ended_and_kept_as_far_as_it_came() {
    for case in spoken().into_iter().filter(is_for_now) {
        let name = case.name;
        let (report, rows, sent) = case.run();
        assert!(report.grown_mb() < 200, "{name}: {report:?}");
        assert!(sent < MOST_BODY + UNREAD, "{name}: {sent} bytes were taken");
        let kinds: Vec<RowType> = rows.iter().map(|stored| stored.row.kind).collect();
        assert_eq!(kinds, [RowType::User, RowType::AiResponse, RowType::Error], "{name}");
        let reply = &rows[1].row;
        let kept = reply.content.len() + reply.thinking_content.as_ref().map_or(0, String::len);
        let wanted = match name {
            "letters" | "letters unheard" => 400_000,
            // It goes back to the model as one piece, which is bounded.
            "reasoning" | "reasoning of Anthropic" => 7 * MB as usize,
            _ => 15 * MB as usize,
        };
        assert!(kept > wanted, "{name}: {kept}");
    }
}

#[test]
fn an_answer_without_end_that_says_nothing_is_ended() {
    for case in unspoken().into_iter().filter(is_for_now) {
        let (name, is_ended) = (case.name, !case.ends.is_empty());
        let (report, rows, sent) = case.run();
        assert!(report.grown_mb() < 200, "{name}: {report:?}");
        assert!(sent < MOST_BODY + UNREAD, "{name}: {sent} bytes were taken");
        let last = rows.last().map(|stored| stored.row.kind);
        let expected = if is_ended { RowType::Error } else { RowType::AiResponse };
        assert!(last.is_none_or(|kind| kind == expected), "{name}: {last:?}");
    }
}

/// What a message may have at most.
const MOST_SENT: u64 = 32 * 1_024 * 1_024;

#[test]
fn a_huge_result_of_a_tool_is_cut_and_a_huge_picture_left_out_before_anything_else() {
    let size = result_size();
    for (name, preset, call) in [
        ("lines", "oneclaw", "lines"),
        ("lines by shape", "sven", "lines"),
        ("one long line", "oneclaw", "line"),
        ("one long line by shape", "sven", "line"),
        ("a picture", "oneclaw", "picture"),
    ] {
        let (report, rows, _) = Case::tool(name, preset, call, "{}").run();
        // The tool's own text, and as much again where its beginnings and ends are looked for. A picture is sent if a message
        // may have it: the row, the request, its JSON and its bytes hold it side by side.
        let (held, copies) = if call == "picture" { (size.min(MOST_SENT), 8) } else { (size, 3) };
        assert!(report.grown_mb() * MB < copies * held + size + 60 * MB, "{name}: {report:?}");
        let output = rows.iter().find_map(|stored| stored.row.tool_output.as_ref()).unwrap();
        assert!(output.len() < 120_000, "{name}: {}", output.len());
        assert_eq!(rows.last().unwrap().row.content, "Done.");
    }
}

#[test]
fn a_page_without_end_is_read_up_to_the_limit() {
    let arguments = "{\"url\":\"PAGE\"}";
    let case = Case { size: stream_size(), ..Case::tool("a page", "oneclaw", "http_request", arguments) };
    let (report, rows, sent) = case.run();
    assert!(report.grown_mb() < 50, "{report:?}");
    assert!(sent < 32 * MB, "{sent} bytes were taken");
    let output = rows.iter().find_map(|stored| stored.row.tool_output.as_ref()).unwrap();
    assert!(output.contains("only the first 1048576 bytes were read"), "{output:.200}");
    assert_eq!(rows.last().unwrap().row.content, "Done.");
}
