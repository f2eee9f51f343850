//! Where keys go: to the origin they belong to, whatever a file, a trigger in it or a service says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)] // A fault should stop a test.

mod kit;

use kit::{Output, folder, oneclaw, piped, piped_with};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const GENERAL: &str = "sk-canary-general";
/// Every variable there is, each with a key of its own.
const KEYS: [(&str, &str); 5] = [
    ("ONECLAW_API_KEY", GENERAL),
    ("OPENAI_API_KEY", "sk-canary-openai"),
    ("ANTHROPIC_API_KEY", "sk-canary-anthropic"),
    ("GEMINI_API_KEY", "sk-canary-gemini"),
    ("GOOGLE_API_KEY", "sk-canary-google"),
];

/// A server that notes what it is sent and answers everything in the same way.
struct Listener {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Listener {
    fn start(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let notes = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                let (mut bytes, mut buffer) = (Vec::new(), [0; 8_192]);
                while !is_whole(&bytes) {
                    match stream.read(&mut buffer) {
                        Ok(n @ 1..) => bytes.extend_from_slice(&buffer[..n]),
                        Ok(_) | Err(_) => break,
                    }
                }
                let request = String::from_utf8_lossy(&bytes).into_owned();
                let answer = answer(&request);
                notes.lock().unwrap().push(request);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        Self { port, heard }
    }

    /// One that wants a key.
    fn locked() -> Self {
        let body = r#"{"error":{"message":"You did not provide a key.","code":"invalid_api_key"}}"#;
        Self::start(|_| answer("401 Unauthorized", "", body))
    }

    /// One that wants none.
    fn open() -> Self {
        Self::start(|request| {
            if request.starts_with("GET /v1/models ") {
                answer("200 OK", "", r#"{"data":[{"id":"mine"}]}"#)
            } else if request.starts_with("POST /v1/chat/completions ") {
                let reply = r#"{"choices":[{"delta":{"content":"Hello yourself."},"finish_reason":"stop"}]}"#;
                let events = format!("data: {reply}\n\ndata: [DONE]\n\n");
                answer("200 OK", "content-type: text/event-stream\r\n", &events)
            } else {
                answer("404 Not Found", "", "{}")
            }
        })
    }

    /// One that sends everybody elsewhere.
    fn redirecting(to: &Self) -> Self {
        let header = format!("location: {}/chat/completions\r\n", to.url());
        Self::start(move |_| answer("307 Elsewhere", &header, ""))
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn url(&self) -> String {
        format!("{}/v1", self.origin())
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// The keys that it was sent.
    fn keys(&self) -> Vec<&'static str> {
        let heard = self.heard().join("\n");
        KEYS.iter().map(|(_, key)| *key).filter(|key| heard.contains(key)).collect()
    }
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

/// Whether a request has come with all of its body.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length:").and_then(|n| n.trim().parse::<usize>().ok())
    });
    body.len() >= length.unwrap_or(0)
}

/// A file with a session, and what was changed in it.
fn planted(at: &Path, sql: &str) -> String {
    let output = piped(at, &["--db", "a.db", "--json"], &["hello", "/sessions"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let listed = output.values().into_iter().find(|v| v["command"] == "sessions").unwrap();
    let file = rusqlite::Connection::open(at.join("a.db")).unwrap();
    file.execute_batch(sql).unwrap();
    listed["sessions"][0]["id"].as_str().unwrap().to_owned()
}

fn chat(at: &Path, args: &[&str]) -> Output {
    piped_with(at, &[&["--db", "a.db"], args].concat(), &KEYS, &["hello", "/models"])
}

#[test]
fn a_changed_address_in_a_file_gets_no_key() {
    for (provider, name) in [("openai", "OPENAI"), ("anthropic", "ANTHROPIC"), ("gemini", "GEMINI")] {
        let at = folder(&format!("keys-changed-{provider}"));
        let stranger = Listener::locked();
        let url = stranger.url();
        planted(&at, &format!("UPDATE providers SET api_base_url = '{url}' WHERE type = '{name}';"));
        let output = chat(&at, &["--provider", provider]);
        assert_eq!(output.code, 1);
        assert!(!stranger.heard().is_empty(), "it was spoken to: {}", output.stderr);
        assert_eq!(stranger.keys(), [""; 0], "{provider}");
        let warning =
            format!("oneclaw: By this file {provider} is at {}, not at https://", stranger.origin());
        assert!(output.stderr.starts_with(&warning), "{}", output.stderr);
        let missing = format!("{} wants a key, and none was given for this address", stranger.origin());
        assert!(output.stderr.contains(&missing), "{}", output.stderr);
        let advice = format!("set ONECLAW_API_KEY with --base-url {}/...", stranger.origin());
        assert!(output.stderr.contains(&advice), "{}", output.stderr);

        let listed = oneclaw(&at, &["models", "--db", "a.db", "--provider", provider], &KEYS, &[]);
        assert_eq!(listed.code, 1);
        assert_eq!(stranger.keys(), [""; 0], "{provider}");
    }
}

#[test]
fn a_vendor_that_a_file_puts_at_a_strangers_address_is_not_spoken_to_at_all() {
    let at = folder("keys-away");
    let sql =
        "UPDATE providers SET api_base_url = 'https://stranger.invalid/v1' WHERE id = 'provider-openai';";
    planted(&at, sql);
    let output = chat(&at, &["--provider", "openai"]);
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    assert_eq!(
        output.stderr,
        "oneclaw: By this file openai is at https://stranger.invalid, not at https://api.openai.com. openai needs a key for \
         https://stranger.invalid: set ONECLAW_API_KEY with --base-url https://stranger.invalid/... (or try --provider demo)\n"
    );
}

#[test]
fn a_planted_service_that_a_session_points_at_gets_no_key() {
    for id in ["provider-mine", "provider-openai@api.openai.com/v1", "provider-anthropic@x"] {
        let at = folder("keys-planted");
        let stranger = Listener::locked();
        let url = stranger.url();
        let session = planted(
            &at,
            &format!(
                "INSERT INTO providers VALUES ('{id}', 'OpenAI', 'OPENAI', '{url}', 0, 1, 1, 1);
                 UPDATE core_sessions SET provider_id = '{id}', model_id = 'gpt-4o';"
            ),
        );
        let output = chat(&at, &["--session", &session]);
        assert_eq!(output.code, 1);
        assert!(!stranger.heard().is_empty(), "it was spoken to: {}", output.stderr);
        assert_eq!(stranger.keys(), [""; 0], "{id}");
    }
}

#[test]
fn a_trigger_cannot_send_the_key_of_a_named_address_elsewhere() {
    for event in ["INSERT ON providers", "UPDATE ON providers", "INSERT ON sessions", "INSERT ON messages"] {
        let at = folder("keys-trigger");
        let (named, stranger) = (Listener::locked(), Listener::locked());
        let (url, theirs) = (named.url(), stranger.url());
        planted(
            &at,
            &format!(
                "CREATE TRIGGER t AFTER {event} BEGIN UPDATE providers SET api_base_url = '{theirs}'; END;"
            ),
        );
        let output = chat(&at, &["--base-url", &url, "--model", "gpt-4o"]);
        assert_eq!(output.code, 1, "{event}");
        assert_eq!(stranger.keys(), [""; 0], "{event}");
    }
}

#[test]
fn a_server_on_this_machine_gets_the_general_key_where_it_is_named_and_a_vendors_never() {
    let at = folder("keys-loopback");
    let vendors = &KEYS[1..];
    for name in ["openai", "anthropic", "gemini"] {
        let named = Listener::locked();
        let url = named.url();
        let args = ["--db", "a.db", "--provider", name, "--base-url", &url, "--model", "gpt-4o"];
        let without = piped_with(&at, &args, vendors, &["hello", "/models"]);
        assert_eq!(without.code, 1);
        assert!(named.heard().len() > 1, "{}", without.stderr);
        assert_eq!(named.keys(), [""; 0], "{name}");
        let advice =
            format!("Give a key that is valid for {}: set ONECLAW_API_KEY, and start again.", named.origin());
        assert!(without.stderr.contains(&advice), "{}", without.stderr);
        piped_with(&at, &args, &KEYS, &["hello", "/models"]);
        assert_eq!(named.keys(), [GENERAL], "{name}");
    }
}

/// The model list, what is asked beside it (`GET /`, `/props`, ...) and the chat.
#[test]
fn a_server_without_a_key_works_and_no_question_to_it_carries_one() {
    let at = folder("keys-none");
    let server = Listener::open();
    let url = server.url();
    let args = ["--db", "a.db", "--base-url", &url, "--model", "mine"];
    let output = piped_with(&at, &args, &KEYS[1..], &["hello", "/models"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.starts_with("Hello yourself.\n"), "{}", output.stdout);
    let heard = server.heard();
    for line in ["GET /v1/models ", "GET / ", "GET /props ", "POST /v1/chat/completions "] {
        assert!(heard.iter().any(|request| request.starts_with(line)), "{line}: {heard:#?}");
    }
    assert_eq!(server.keys(), [""; 0]);
    assert!(heard.iter().all(|request| !request.to_ascii_lowercase().contains("authorization")));
    let again = piped_with(&at, &args, &KEYS, &["hello"]);
    assert_eq!((again.code, server.keys()), (0, vec![GENERAL]), "{}", again.stderr);
}

#[test]
fn a_redirect_takes_no_key_along() {
    let at = folder("keys-redirect");
    let stranger = Listener::locked();
    let named = Listener::redirecting(&stranger);
    let url = named.url();
    let output = chat(&at, &["--base-url", &url, "--model", "gpt-4o"]);
    assert_eq!(output.code, 1);
    assert_eq!((named.keys(), stranger.heard().len()), (vec![GENERAL], 0));
}

#[test]
fn an_address_with_a_name_or_password_is_refused_before_anything_is_written() {
    let at = folder("keys-userinfo");
    for url in [
        "https://api.openai.com@127.0.0.1:1/v1",
        "http://me:pw@127.0.0.1:1/v1",
        "127.0.0.1:1",
        "ftp://127.0.0.1",
    ] {
        let output = chat(&at, &["--base-url", url, "--model", "gpt-4o"]);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{url}");
        assert!(output.stderr.starts_with("oneclaw: --base-url: "), "{}", output.stderr);
        assert!(!output.stderr.contains("pw") && !at.join("a.db").exists(), "{}", output.stderr);
    }
}
