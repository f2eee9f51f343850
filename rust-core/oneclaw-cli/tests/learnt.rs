//! What services say of limits, as it is met, seen and forgotten with the program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)] // A fault should stop a test.

mod kit;

use kit::{Output, folder, oneclaw, piped};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A service of OpenAI's kind that refuses as it is told and otherwise answers.
struct Liar {
    url: String,
    /// The bodies of the requests for replies.
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Liar {
    /// `refusal` says what a request is refused with, by its number.
    fn start(refusal: impl Fn(usize, &Value) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = asked.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                answer(socket.unwrap(), &refusal, &seen);
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    fn chat(&self, at: &Path, args: &[&str], lines: &[&str]) -> Output {
        let own =
            ["--db", "a.db", "--base-url", &self.url, "--model", "house-model", "--tools", "none", "--json"];
        piped(at, &[&own[..], args].concat(), lines)
    }
}

fn answer(
    mut socket: TcpStream,
    refusal: &impl Fn(usize, &Value) -> Option<String>,
    seen: &Mutex<Vec<Value>>,
) {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut more = [0; 4_096];
        let Ok(count @ 1..) = socket.read(&mut more) else { return };
        bytes.extend_from_slice(&more[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok();
            if body.len() >= head.lines().find_map(length).unwrap_or(0) {
                break (head.to_owned(), body.to_owned());
            }
        }
    };
    let (status, kind, text) = if head.starts_with("POST") {
        let body: Value = serde_json::from_str(&body).unwrap();
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(body.clone());
            seen.len() - 1
        };
        match refusal(number, &body) {
            Some(words) => {
                ("400 Bad Request", "application/json", json!({"error": {"message": words}}).to_string())
            }
            None => ("200 OK", "text/event-stream", reply(body.to_string().len() / 4)),
        }
    } else {
        ("404 Not Found", "application/json", "{}".to_owned())
    };
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n"
    );
    let _ = socket.write_all((head + &text).as_bytes());
}

fn reply(prompt: usize) -> String {
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"content": "It is so."}, "finish_reason": "stop"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": 5}});
    format!("data: {chunk}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}

fn too_long(limit: u64, requested: u64) -> String {
    format!(
        "This model's maximum context length is {limit} tokens. However, your messages resulted in {requested} tokens."
    )
}

fn errors(output: &Output) -> Vec<String> {
    let is_error = |value: &&Value| value["event"] == "Error";
    output
        .values()
        .iter()
        .filter(is_error)
        .map(|value| value["message"].as_str().unwrap().to_owned())
        .collect()
}

fn learnt(at: &Path) -> Vec<Value> {
    let output = oneclaw(at, &["models", "--learnt", "--db", "a.db", "--json"], &[], &[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    serde_json::from_str::<Vec<Value>>(&output.stdout).unwrap()
}

#[test]
fn one_refusal_that_names_600_tokens_cripples_no_model() {
    let at = folder("learnt-600");
    let long = "So it goes on and on with the river and its towns. ".repeat(80);
    let service = Liar::start(|number, _| (number == 0).then(|| too_long(600, 900)));
    let first = service.chat(&at, &[], &[&long, &long, &long]);
    assert!(errors(&first).len() <= 1, "it costs the message it came to, not the conversation: {first:?}");
    // In every later run and conversation nothing fails, with a window of the user's own and without.
    for args in [&[][..], &["--window", "1000000"]] {
        let later = service.chat(&at, args, &[&long, &long, "/window"]);
        assert_eq!((errors(&later), later.code), (vec![], 0), "{later:?}");
        let window = later.values().into_iter().find(|value| value["command"] == "window").unwrap();
        let wanted = if args.is_empty() { Value::Null } else { json!(1_000_000) };
        assert_eq!(window["window"], wanted);
    }
}

#[test]
fn what_was_learnt_is_shown_and_forgotten() {
    let at = folder("learnt-shown");
    let service = Liar::start(|number, _| (number == 0).then(|| too_long(9_000, 9_500)));
    let chat = service.chat(&at, &[], &[&"A long story about rivers. ".repeat(400), "/limits"]);
    assert_eq!(errors(&chat), [] as [String; 0], "{chat:?}");
    let shown = chat.values().into_iter().find(|value| value["command"] == "limits").unwrap();
    assert_eq!(
        (&shown["learnt"][1]["topic"], &shown["learnt"][1]["tokens"]),
        (&json!("window"), &json!(9_000))
    );
    let entries = learnt(&at);
    let window = entries.iter().find(|entry| entry["topic"] == "window").unwrap();
    assert_eq!(
        (&window["model"], &window["base_url"], &window["heard"]),
        (&json!("house-model"), &json!(service.url), &json!(1))
    );
    let month = 30 * 24 * 60 * 60 * 1_000;
    assert_eq!(window["expires_at"].as_i64().unwrap() - window["learnt_at"].as_i64().unwrap(), month);
    let run = |args: &[&str]| oneclaw(&at, &[&["models", "--db", "a.db"], args].concat(), &[], &[]);
    let text = run(&["--learnt", "HOUSE"]).stdout;
    assert!(
        text.contains(&format!("house-model at {}: window 9000 tokens (heard once, last on ", service.url)),
        "{text}"
    );
    assert_eq!(run(&["--learnt", "nothing"]).stdout, "Nothing was learnt.\n");
    let careless = run(&["--forget"]);
    assert_eq!((careless.code, careless.stdout.as_str()), (2, ""));
    assert!(
        careless.stderr.contains("--forget needs a part of a model's name, or --all"),
        "{}",
        careless.stderr
    );
    assert_eq!(run(&["--forget", "other"]).stdout, "There was nothing to forget.\n");
    assert_eq!(run(&["--forget", "house"]).stdout, "Forgot 2 things.\n");
    assert_eq!(learnt(&at), [] as [Value; 0]);
    assert_eq!(run(&["--forget", "--all", "--json"]).stdout, "{\"forgotten\":0}\n");
}

#[test]
fn the_chat_forgets_what_it_has_just_learnt() {
    let at = folder("learnt-forget");
    let service = Liar::start(|number, _| (number == 0).then(|| too_long(9_000, 9_500)));
    let long = "A long story about rivers. ".repeat(400);
    let chat =
        service.chat(&at, &[], &[&long, "/window", "/limits forget", "/window", "/limits", "/limits forget"]);
    assert_eq!(errors(&chat), [] as [String; 0]);
    let values = chat.values();
    let of = |name: &str| values.iter().filter(|value| value["command"] == name).collect::<Vec<_>>();
    let windows: Vec<_> =
        of("window").iter().map(|value| (value["window"].clone(), value["source"].clone())).collect();
    assert_eq!(windows, [(json!(9_000), json!("learnt")), (Value::Null, Value::Null)]);
    let limits = of("limits");
    assert_eq!(
        (&limits[0]["forgotten"], &limits[1]["learnt"], &limits[2]["forgotten"]),
        (&json!(2), &json!([]), &json!(0))
    );
}

#[test]
fn a_cap_of_the_reply_ends_one_request_and_no_turn() {
    let at = folder("learnt-cap");
    let service = Liar::start(|_, body| {
        let asked = body["max_tokens"].as_u64().or(body["max_completion_tokens"].as_u64())?;
        (asked > 6_000).then(|| {
            format!("max_tokens is too large: {asked}. This model supports at most 6000 completion tokens")
        })
    });
    for run in 0..2 {
        let chat = service.chat(&at, &["--window", "64000"], &["Hello.", "Hello again."]);
        assert_eq!((errors(&chat), chat.code), (vec![], 0), "run {run}: {chat:?}");
    }
    let refused = service.asked().iter().filter(|body| body["max_tokens"] == 8_192).count();
    assert_eq!(refused, 1, "asked for little at first, and learnt for good");
    assert!(learnt(&at).iter().any(|entry| entry["topic"] == "output" && entry["tokens"] == 6_000));
}
