//! A key that must be found nowhere: not in the file nor beside it, while it is open and after, not in events, rows,
//! transcripts, error texts, debug output, nor in what any crate logs at any level; whatever the service says.
//!
//! What the user types, what a tool reads and what a model replies is the conversation: it is kept as it is, and nobody
//! looks for keys in it. Everything else a service says is its own words about the request, and these may repeat the key.

use super::kit::{House, PROVIDER, Setup, TIMING, all, names, wordy};
use super::talk::prose;
use crate::http::{Act, Server, logged, watch_the_log};
use crate::services::O200k;
use crate::store::Folder;
use oneclaw_agent::{Event, Patience, UNTITLED};
use oneclaw_demo::{Fault, Step, Tokenizer as _};
use oneclaw_model::ProviderKind;
use oneclaw_model::row::RowType;
use oneclaw_providers::{ApiKey, Cleartext, Client, Endpoint, Timing};
use oneclaw_store::{catalogue, examine, sessions, transcripts};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Debug;
use std::time::Duration;

/// Nothing in it looks like a key, and half of its letters are written otherwise in addresses.
const KEY: &str = "Canary7Q-mZ4+pL/9xW_tR2=vB8nK5jH";

/// The shortest piece of it that is looked for.
const PIECE: usize = 12;

// ---- the key in every form ----

fn percent(text: &str, is_kept: impl Fn(u8) -> bool) -> String {
    let spelt = |byte: u8| if is_kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(spelt).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number = (0..3).fold(0, |n, at| n << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
        for digit in 0..=chunk.len() {
            out.push(char::from(DIGITS[number >> (18 - 6 * digit) & 63]));
        }
    }
    out
}

/// Pieces that give the key away, by their length; in small letters.
fn pieces() -> Vec<HashSet<Vec<u8>>> {
    let small = |text: String| text.to_ascii_lowercase().into_bytes();
    let windows = |forms: Vec<Vec<u8>>, length: usize| {
        let all = forms.iter().flat_map(|form| form.windows(length).map(<[u8]>::to_vec));
        all.collect::<HashSet<_>>()
    };
    let plain = vec![
        small(KEY.into()),
        small(percent(KEY, |byte| byte.is_ascii_alphanumeric())),
        small(KEY.replace('/', "\\/")),
        small(KEY.replace('=', "\\u003d")),
    ];
    // Behind nothing, one and two bytes; the digits at the edges depend on the neighbours.
    let in_base64 = (0..3).flat_map(|before| {
        let whole = base64(&[&b"xx"[..before], KEY.as_bytes()].concat());
        let own = whole.get([0, 2, 3][before]..whole.len() - 2).unwrap().to_owned();
        [own.clone(), own.replace('+', "-").replace('/', "_")].map(small)
    });
    vec![
        windows(plain, PIECE),
        windows(in_base64.collect(), PIECE / 3 * 4),
        windows(vec![small(hex(KEY))], 2 * PIECE),
        windows(vec![small(percent(KEY, |_| false))], 3 * PIECE),
    ]
}

/// Where the key shows: what stands around it, in the bytes as they are or with all breaks taken out.
fn traces(bytes: &[u8]) -> Vec<String> {
    let small = bytes.to_ascii_lowercase();
    let mut joined = Vec::with_capacity(small.len());
    let mut rest = small.as_slice();
    while let Some((first, more)) = rest.split_first() {
        rest = match (first, more.first()) {
            (b'\\', Some(b'n' | b'r' | b't')) => &more[1..],
            (b' ' | b'\n' | b'\r' | b'\t', _) => more,
            _ => {
                joined.push(*first);
                more
            }
        };
    }
    let sets = pieces();
    let start = |bytes: &[u8]| usize::from(bytes[0]) << 8 | usize::from(bytes[1]);
    // Most places are told by two bytes.
    let mut starts = vec![false; 1 << 16];
    sets.iter().flatten().for_each(|piece| starts[start(piece)] = true);
    let mut found = Vec::new();
    for text in [&small, &joined] {
        for (at, _) in text.windows(2).enumerate().filter(|(_, two)| starts[start(two)]) {
            let is_in = |set: &HashSet<Vec<u8>>| {
                let length = set.iter().next().map_or(0, Vec::len);
                text.get(at..at + length).is_some_and(|window| set.contains(window))
            };
            if sets.iter().any(is_in) {
                let around = &text[at.saturating_sub(60)..(at + 60).min(text.len())];
                found.push(String::from_utf8_lossy(around).into_owned());
                break;
            }
        }
    }
    found
}

#[test]
fn a_trace_is_seen_in_every_form() {
    for form in echoes() {
        assert!(!traces(format!("x{form}y").as_bytes()).is_empty(), "{form}");
    }
    assert!(traces(format!("xx {} yy", KEY.get(10..22).unwrap()).as_bytes()).len() > 1);
    assert!(traces(b"[redacted] Canary7Q-mZ").is_empty());
}

/// What services make of a key when they speak of it.
fn echoes() -> Vec<String> {
    let plain = percent(KEY, |byte| byte.is_ascii_alphanumeric());
    vec![
        KEY.to_owned(),
        KEY.to_uppercase(),
        KEY.to_lowercase(),
        plain.to_lowercase(),
        plain,
        percent(KEY, |_| false),
        base64(KEY.as_bytes()),
        base64(format!("user:{KEY}").as_bytes()),
        base64(format!("a:{KEY}").as_bytes()).replace('+', "-").replace('/', "_"),
        hex(KEY),
        KEY.as_bytes().chunks(9).map(|part| format!("{}\r\n", String::from_utf8_lossy(part))).collect(),
        KEY.as_bytes().chunks(5).map(|part| format!("{} \\n", String::from_utf8_lossy(part))).collect(),
        KEY.replace('/', "\\/"),
        format!("{}…", KEY.get(..20).unwrap()),
        format!("…{}", KEY.get(15..).unwrap()),
        // Cut where messages are cut.
        format!("{}{KEY}", "long ".repeat(56)),
        format!("{}{KEY}", "long ".repeat(58)),
    ]
}

// ---- answers that repeat it ----

fn error(kind: ProviderKind, status: u16, message: &str) -> Value {
    match kind {
        ProviderKind::OpenAi => json!({"error": {"message": message, "type": "error", "code": "code"}}),
        ProviderKind::Anthropic => json!({"type": "error", "error": {"type": "error", "message": message}}),
        ProviderKind::Gemini => json!({"error": {"code": status, "message": message, "status": "ERROR"}}),
    }
}

fn hi(kind: ProviderKind) -> String {
    let data = match kind {
        ProviderKind::OpenAi => json!({"choices": [{"delta": {"content": "Hi"}}]}),
        ProviderKind::Anthropic => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}})
        }
        ProviderKind::Gemini => json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}]}),
    };
    format!("data: {data}\n\n")
}

fn answers(kind: ProviderKind) -> Vec<Act> {
    const STATUSES: [u16; 9] = [400, 401, 403, 404, 413, 429, 500, 503, 529];
    let events = |body: String| Act::answer("200 OK", "content-type: text/event-stream\r\n", &body);
    let mut acts = Vec::new();
    // Each echo in another place with each service.
    for (number, echo) in (kind as usize..).zip(echoes()) {
        let message = format!("Incorrect API key provided: {echo}. Ask your administrator.");
        let status = STATUSES[number % STATUSES.len()];
        acts.push(Act::answer(&format!("{status} No"), "", &error(kind, status, &message).to_string()));
        acts.push(match number % 3 {
            0 => Act::answer("502 Bad Gateway", "", &format!("<title>{echo}</title>")),
            1 => Act::answer("400 Bad Request", "", &message),
            _ => events(error(kind, 400, &message).to_string()),
        });
        acts.push(match number % 2 {
            0 => events(format!("event: error\ndata: {}\n\n", error(kind, 500, &message))),
            _ => events(format!("{}data: {}\n\n", hi(kind), error(kind, 400, &message))),
        });
    }
    for location in [
        format!("https://{KEY}.example/{KEY}"),
        format!("https://example.com/{KEY}?key={KEY}#{KEY}"),
        format!("https://{KEY}:{KEY}@example.com/"),
        KEY.to_owned(),
    ] {
        acts.push(Act::answer("302 Found", &format!("location: {location}\r\n"), KEY));
    }
    acts.extend([
        events(format!("{}data: {KEY}\n\n", hi(kind))),
        events(format!("event: {KEY}\nid: {KEY}\ndata: {{\"{KEY}\": \"{KEY}\"}}\n\n")),
        events(KEY.to_owned()),
        Act::answer("429 Slow", &format!("retry-after: {KEY}\r\n"), ""),
        Act::answer(&format!("599 {KEY}"), &format!("{}: {KEY}\r\n", "x-key"), ""),
        Act::answer("200 OK", &format!("content-type: text/html; {KEY}\r\n"), KEY),
        Act::Send(format!("HTTP/1.1 {KEY}\r\n\r\n")),
        Act::Send(format!("HTTP/1.1 200 OK\r\n{KEY}\r\n\r\n")),
        Act::Send(format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{KEY}\r\n")),
    ]);
    acts
}

/// Every fault there is; a new one does not compile until it stands here.
fn faults() -> Vec<Fault> {
    let all = vec![
        Fault::Refuse,
        Fault::CloseBeforeHeaders,
        Fault::Stall,
        Fault::StallMidway,
        Fault::CutMidEvent,
        Fault::Garbage,
        Fault::WrongContentType,
        Fault::Drip(Duration::ZERO),
        Fault::TooManyRequests { retry_after: Some(Duration::from_millis(1)) },
        Fault::Overloaded,
        Fault::ServerError(500),
        Fault::ErrorInStream,
        Fault::NestedErrorInStream,
        Fault::FailedResponse,
        Fault::EmptyReply,
        Fault::CutByLength,
        Fault::ToolCallInsteadOfSummary,
        Fault::SilentTruncation,
        Fault::NoUsage,
        Fault::Refusal,
        Fault::Redirect(format!("http://{KEY}.example/{KEY}?key={KEY}")),
        Fault::Endless,
    ];
    for fault in &all {
        match fault {
            Fault::Refuse | Fault::CloseBeforeHeaders | Fault::Stall | Fault::StallMidway => {}
            Fault::CutMidEvent | Fault::Garbage | Fault::WrongContentType | Fault::Drip(_) => {}
            Fault::TooManyRequests { .. } | Fault::Overloaded | Fault::ServerError(_) => {}
            Fault::ErrorInStream | Fault::NestedErrorInStream | Fault::FailedResponse => {}
            Fault::EmptyReply | Fault::CutByLength => {}
            Fault::ToolCallInsteadOfSummary | Fault::SilentTruncation | Fault::NoUsage => {}
            Fault::Refusal | Fault::Redirect(_) | Fault::Endless => {}
        }
    }
    all
}

// ---- the suite ----

/// Everything that was said, written or shown in a session with a service.
struct Watch {
    house: House,
    shown: String,
}

impl Watch {
    async fn new(kind: ProviderKind) -> Self {
        watch_the_log();
        let setup = Setup {
            kind,
            key: Some(KEY),
            timing: Timing { idle: Duration::from_millis(700), ..TIMING },
            patience: Patience { count: Duration::from_millis(300), ..Setup::default().patience },
            ..Setup::window(16_000)
        };
        // Its words are read at the first count, which would be taken for silence.
        O200k.count("a");
        let house = setup.tool(wordy("read_file", 20)).build(&format!("canary-{kind:?}")).await;
        Self { house, shown: String::new() }
    }

    fn note(&mut self, what: impl Debug) {
        self.shown += &format!("{what:?}\n");
    }

    async fn send(&mut self, text: &str) -> Vec<Event> {
        let events = self.house.send(text).await;
        self.note((&events, serde_json::to_string(&events).unwrap()));
        events
    }

    async fn compact(&mut self) -> Vec<Event> {
        let events = self.house.compact(Some("the road")).await;
        self.note((&events, serde_json::to_string(&events).unwrap()));
        events
    }

    async fn models(&mut self) -> bool {
        let listed = self.house.agent.models(PROVIDER).await;
        self.note((&listed, listed.as_ref().map_err(|failure| (failure.to_string(), failure.event()))));
        listed.is_ok()
    }

    /// A session that gets its title from the model.
    async fn titled(&mut self) {
        let agent = &self.house.agent;
        let model = self.house.setup.served[0].0.to_owned();
        let session = agent
            .create_session_with("agent-general-assistant", Some((PROVIDER.into(), model)))
            .await
            .unwrap();
        let events = all(agent.send(&session, "Write 5 words about rain.", vec![]).await.unwrap()).await;
        self.note(events);
        for _ in 0..500 {
            let title = self.house.agent.store().read(|c| sessions::get(c, &session)).unwrap().title;
            if title != UNTITLED {
                return self.note(title);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no title came");
    }

    /// From now on the service is somewhere else.
    fn move_to(&self, base_url: String) {
        let mut provider = self.house.agent.store().read(|c| catalogue::provider(c, PROVIDER)).unwrap();
        provider.base_url = base_url;
        self.house.agent.store().write(|t| catalogue::save_provider(t, &provider, 2)).unwrap();
    }

    async fn look_at_everything(&mut self) {
        let house = &self.house;
        let status = house.agent.status(&house.session).await.unwrap();
        let preview = house.agent.preview(&house.session).await.unwrap();
        let mut transcript = String::new();
        house
            .agent
            .store()
            .read(|c| {
                transcript += &json!(transcripts::header(c, &house.session)?).to_string();
                transcripts::rows(c, &house.session, |row| {
                    transcript += &serde_json::to_string(&row).unwrap();
                    true
                })
            })
            .unwrap();
        let endpoint = Endpoint {
            kind: house.setup.kind,
            base_url: format!("https://{}@example.com/v1/{KEY}?key={KEY}", percent(KEY, |_| false)),
            key: Some(ApiKey::new(KEY.into())),
        };
        let client = Client::new(house.setup.timing, Cleartext::default()).unwrap();
        let refused = client.models(&endpoint).await;
        let everything = (house.rows(), house.epochs(), house.agent.queued().await.unwrap());
        self.note((status, preview, transcript, everything));
        self.note((&endpoint, endpoint.key.as_ref().map(ApiKey::to_string), &client, refused));
    }
}

/// The file, and while it is open its log and the log's index.
fn look_at_files(folder: &Folder, count: usize) {
    let files: Vec<_> = std::fs::read_dir(&folder.0).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= count, "{files:?}");
    for file in files {
        // A file that lives for a moment only may be gone already.
        let Ok(bytes) = std::fs::read(&file) else { continue };
        assert_eq!(traces(&bytes), [] as [String; 0], "{file:?}");
    }
}

async fn suite(kind: ProviderKind) {
    let mut watch = Watch::new(kind).await;

    watch.send("Please read /tmp/a.txt").await;
    assert!(watch.house.exchanges().iter().all(|e| e.status == Some(200)), "the key was accepted");
    assert!(watch.models().await);
    watch.titled().await;
    for _ in 0..3 {
        watch.send(&format!("Write 20 words. {}", "gravel road ".repeat(700))).await;
    }
    let compacted = watch.compact().await;
    assert!(names(&compacted).starts_with(&["CompactStarted", "CompactCompleted"].map(str::to_owned)));
    watch.house.script([Step::Model, Step::Fault(Fault::Redirect(format!("http://{KEY}/")))]);
    watch.titled().await;

    let mut failed = HashSet::new();
    for fault in faults() {
        watch.house.script([Step::Fault(fault)]);
        failed.extend(names(&watch.send("Write 5 words about rain.").await));
    }
    assert!(failed.contains("Error") && failed.contains("ResponseComplete"), "{failed:?}");

    // Asked for the size of a message, the service does the same.
    for (fault, tokens) in faults().into_iter().zip([13_000, 14_000, 15_000].into_iter().cycle()) {
        watch.house.server.set_counts(Some(Step::Fault(fault)));
        watch.send(&format!("Write 5 words. {}", prose(tokens))).await;
    }
    assert!(!watch.house.counts().is_empty());

    let acts = answers(kind);
    let count = acts.len();
    // One act for all attempts of a send: the text of the message names it.
    let server = Server::with(move |_, request| {
        let number = request.rsplit("act-").next().and_then(|rest| rest.split('.').next());
        acts[number.and_then(|number| number.parse().ok()).unwrap_or(0) % count].clone()
    })
    .await;
    watch.move_to(server.endpoint(kind).base_url);
    for number in 0..count {
        let events = watch.send(&format!("act-{number}.")).await;
        assert!(names(&events).iter().any(|name| name == "Error"), "{number}: {events:?}");
    }
    assert!(server.requests()[0].contains(KEY), "the key went out");
    assert!(!watch.models().await);
    watch.compact().await;
    watch.look_at_everything().await;

    let errors = watch.house.texts().into_iter().filter(|(kind, _)| *kind == RowType::Error).count();
    assert!(errors >= count, "{errors} of {count} errors are in the file");
    assert!(watch.shown.contains("[redacted]"));
    assert_eq!(traces(watch.shown.as_bytes()), [] as [String; 0]);
    look_at_files(&watch.house.folder, 3);
    let log = logged();
    let sources: BTreeSet<&str> = log.iter().filter_map(|line| line.split(' ').next()).collect();
    for source in ["oneclaw_agent", "oneclaw_providers", "reqwest"] {
        assert!(sources.iter().any(|known| known.starts_with(source)), "{source} is not among {sources:?}");
    }
    assert_eq!(traces(log.join("\n").as_bytes()), [] as [String; 0]);

    // What the user types stays, whatever it is.
    watch.move_to(watch.house.server.base_url(kind));
    let secret = "My own secret is Kestrel-0123456789.";
    watch.send(secret).await;
    assert_eq!(watch.house.questions().last().unwrap(), secret);

    watch.house.agent.close().await;
    let House { agent, folder, .. } = watch.house;
    drop(agent);
    look_at_files(&folder, 1);
    assert!(examine(&folder.file("oneclaw.db")).is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_openai() {
    suite(ProviderKind::OpenAi).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_anthropic() {
    suite(ProviderKind::Anthropic).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_gemini() {
    suite(ProviderKind::Gemini).await;
}
