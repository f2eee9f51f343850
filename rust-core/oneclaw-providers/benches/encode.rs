//! Writing a long request in a service's dialect, against merely writing the JSON of the result: what the translation adds.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)] // A benchmark: a fault should stop it; it talks.

mod support;

use oneclaw_model::{Call, ProviderKind, Request, RequestMessage, ToolSpec};
use oneclaw_providers::{Endpoint, Mode, Profile, encode};
use std::hint::black_box;
use support::{median, timed};

const ROUNDS: usize = 101;
/// Turns of a question, a call, its result and an answer; about a megabyte.
const TURNS: usize = 500;

fn main() {
    // `cargo test --benches` only asks whether it runs; it does not pass `--bench`.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let request = request();
    let services = [
        ("openai", ProviderKind::OpenAi, "gpt-4o"),
        ("anthropic", ProviderKind::Anthropic, "claude-sonnet-4-5-20250929"),
        ("gemini", ProviderKind::Gemini, "gemini-2.5-pro"),
    ];
    for (name, kind, model) in services {
        let endpoint = Endpoint { kind, base_url: "http://127.0.0.1/v1".into(), key: None };
        let body = encode(&endpoint, &Profile::of(&endpoint, model), &request, Mode::Chat).body;
        let (mut encoding, mut writing) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            encoding.push(timed(|| {
                let encoded =
                    encode(&endpoint, &Profile::of(&endpoint, model), black_box(&request), Mode::Chat);
                black_box(serde_json::to_vec(&encoded.body).unwrap());
            }));
            writing.push(timed(|| drop(black_box(serde_json::to_vec(black_box(&body)).unwrap()))));
        }
        let [encoding, writing] = [encoding, writing].map(|mut times| median(&mut times).as_secs_f64() * 1e3);
        println!(
            "ratio encode {name} / plain JSON = {:.2} ({encoding:.2} ms / {writing:.2} ms)",
            encoding / writing
        );
    }
}

fn request() -> Request {
    let mut messages = Vec::new();
    for turn in 0..TURNS {
        let call = Call {
            id: format!("call_{turn}").as_str().into(),
            name: "read_file".into(),
            arguments: format!("{{\"path\":\"/data/part{turn}.txt\"}}"),
            signature: None,
        };
        messages.push(RequestMessage::User {
            text: format!("Question {turn}: which \"train\" leaves first?\n").repeat(5),
            attachments: vec![],
        });
        messages.push(RequestMessage::Assistant {
            text: String::new(),
            trace: vec![],
            calls: vec![call.clone()],
        });
        messages.push(RequestMessage::ToolResult {
            call: call.id,
            name: call.name,
            text: "AP 131 leaves at 09:30 and costs 31.90 EUR.\n".repeat(20),
            failed: false,
            attachments: vec![],
        });
        messages.push(RequestMessage::Assistant {
            text: "Take the early one. ".repeat(20),
            trace: vec![],
            calls: vec![],
        });
    }
    let tool = ToolSpec {
        name: "read_file".into(),
        description: "Reads a file.".into(),
        parameters: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        protected: false,
    };
    Request { system: Some("Be brief.".into()), tools: vec![tool], messages, max_output: Some(1_000) }
}
