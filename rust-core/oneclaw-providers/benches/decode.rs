//! Decoding a long reply against merely parsing the JSON of its events: the whole way from bytes to events should
//! cost no more than one and a half times that.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)] // A benchmark: a fault should stop it; it talks.

mod support;

use oneclaw_model::Dialect;
use oneclaw_providers::{Decoder, StreamEvent};
use serde_json::{Value, json};
use std::hint::black_box;
use support::{median, timed};

const ROUNDS: usize = 15;

/// How many pieces a reply has; the streams are 3 to 6 MB long.
const PIECES: usize = 20_000;

fn main() {
    // `cargo test --benches` only asks whether it runs; it does not pass `--bench`.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let replies = [
        ("openai", Dialect::ChatCompletions, openai()),
        ("responses", Dialect::Responses, responses()),
        ("anthropic", Dialect::Messages, anthropic()),
        ("gemini", Dialect::GenerateContent, gemini()),
    ];
    for (name, dialect, payloads) in replies {
        let body = body(dialect, &payloads);
        let chunks = chunks(&body);
        let (mut decoding, mut parsing) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            decoding.push(timed(|| decode(dialect, &chunks)));
            parsing.push(timed(|| parse(&payloads)));
        }
        let [decoding, parsing] = [decoding, parsing].map(|mut times| median(&mut times).as_secs_f64());
        let megabytes = body.len() as f64 / 1e6;
        println!(
            "decode {name}: {:.0} MB/s; plain JSON {:.0} MB/s ({megabytes:.1} MB, {} events)",
            megabytes / decoding,
            megabytes / parsing,
            payloads.len()
        );
        println!(
            "ratio decode {name} / plain JSON = {:.2} ({:.2} ms / {:.2} ms)",
            decoding / parsing,
            decoding * 1e3,
            parsing * 1e3
        );
    }
}

fn decode(dialect: Dialect, chunks: &[&[u8]]) {
    let mut decoder = Decoder::new(dialect);
    let mut out = Vec::new();
    let mut stopped = false;
    for chunk in chunks {
        decoder.push(chunk, &mut out).unwrap();
        stopped |= matches!(black_box(&out).last(), Some(StreamEvent::Stopped(_)));
        out.clear();
    }
    decoder.finish(&mut out).unwrap();
    assert!(stopped || matches!(out.last(), Some(StreamEvent::Stopped(_))));
}

fn parse(payloads: &[String]) {
    for payload in payloads {
        black_box(serde_json::from_slice::<Value>(payload.as_bytes()).unwrap());
    }
}

// ---- replies ----

/// Tokens as they come: short, some with escapes, some beyond ASCII; every fortieth a burst.
fn token(piece: usize) -> String {
    const TOKENS: [&str; 12] = [
        " the",
        " window",
        " is",
        " full",
        ",",
        " so",
        "\n\n",
        " \"quoted\"",
        " größer",
        "漢字",
        " compaction",
        ".",
    ];
    let token = TOKENS.get(piece * 7 % TOKENS.len()).copied().unwrap_or_default();
    if piece % 40 == 39 { token.repeat(30) } else { token.to_owned() }
}

/// A piece of arguments.
fn argument(piece: usize) -> String {
    format!("\"line {piece}\": \"{}\", ", token(piece))
}

/// Of every hundred pieces twenty are reasoning and twenty are arguments.
fn is_thinking(piece: usize) -> bool {
    piece % 100 < 20
}

fn is_argument(piece: usize) -> bool {
    piece % 100 >= 80
}

/// The call that a piece of arguments belongs to: a new one every two thousand pieces.
fn call(piece: usize) -> usize {
    piece / 2_000
}

fn starts_call(piece: usize) -> bool {
    piece % 2_000 == 80
}

fn openai() -> Vec<String> {
    let head = r#""id":"chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG","object":"chat.completion.chunk","created":1741570283,"model":"gpt-4o-2024-08-06","service_tier":"default","system_fingerprint":"fp_fc9f1d7035""#;
    let mut payloads: Vec<String> = (0..PIECES)
        .map(|piece| {
            let delta = if is_thinking(piece) {
                json!({ "reasoning_content": token(piece) })
            } else if is_argument(piece) {
                let index = call(piece);
                let arguments = argument(piece);
                if starts_call(piece) {
                    json!({"tool_calls": [{"index": index, "id": format!("call_{piece}"), "type": "function",
                        "function": {"name": "write_file", "arguments": arguments}}]})
                } else {
                    json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
                }
            } else {
                json!({ "content": token(piece) })
            };
            format!(
                r#"{{{head},"choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":null}}],"usage":null,"obfuscation":"aB3xYq"}}"#
            )
        })
        .collect();
    payloads
        .push(format!(r#"{{{head},"choices":[{{"index":0,"delta":{{}},"finish_reason":"tool_calls"}}]}}"#));
    payloads.push(format!(
        r#"{{{head},"choices":[],"usage":{{"prompt_tokens":5000,"completion_tokens":20000,"total_tokens":25000}}}}"#
    ));
    payloads
}

fn responses() -> Vec<String> {
    let mut payloads = Vec::new();
    for piece in 0..PIECES {
        let (kind, index, delta) = if is_thinking(piece) {
            ("reasoning_summary_text", 0, token(piece))
        } else if is_argument(piece) {
            ("function_call_arguments", 2 + call(piece), argument(piece))
        } else {
            ("output_text", 1, token(piece))
        };
        if starts_call(piece) {
            let item = json!({"type": "function_call", "id": format!("fc_{piece}"),
                "call_id": format!("call_{piece}"), "name": "write_file", "arguments": ""});
            payloads.push(format!(
                r#"{{"type":"response.output_item.added","output_index":{index},"item":{item}}}"#
            ));
        }
        let delta = json!(delta);
        payloads.push(format!(
            r#"{{"type":"response.{kind}.delta","sequence_number":{piece},"item_id":"msg_68af4030baa48193","output_index":{index},"content_index":0,"delta":{delta},"logprobs":[],"obfuscation":"aB3xYq"}}"#
        ));
    }
    let usage = json!({"input_tokens": 5000, "output_tokens": 20000, "total_tokens": 25000});
    payloads.push(format!(
        r#"{{"type":"response.completed","response":{{"status":"completed","output":[],"usage":{usage}}}}}"#
    ));
    payloads
}

fn anthropic() -> Vec<String> {
    let start = json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "content": [], "usage": {"input_tokens": 5000, "output_tokens": 1}}});
    let mut payloads = vec![start.to_string()];
    for piece in 0..PIECES {
        let (index, delta) = if is_thinking(piece) {
            (0, json!({"type": "thinking_delta", "thinking": token(piece)}))
        } else if is_argument(piece) {
            (2 + call(piece), json!({"type": "input_json_delta", "partial_json": argument(piece)}))
        } else {
            (1, json!({"type": "text_delta", "text": token(piece)}))
        };
        if starts_call(piece) {
            let block = json!({"type": "tool_use", "id": format!("toolu_{piece}"), "name": "write_file", "input": {}});
            payloads
                .push(format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#));
        }
        // The services write the type first; `json!` sorts.
        payloads.push(format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#));
    }
    payloads.push(
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20000}}"#
            .to_owned(),
    );
    payloads.push(r#"{"type":"message_stop"}"#.to_owned());
    payloads
}

/// Gemini sends fewer and longer pieces, with usage in each, and calls as a whole.
fn gemini() -> Vec<String> {
    let mut payloads: Vec<String> = (0..PIECES / 2)
        .map(|piece| {
            let words = |text: fn(usize) -> String| (0..8).map(|word| text(piece * 8 + word)).collect::<String>();
            let part = if is_thinking(piece) {
                json!({"text": words(token), "thought": true})
            } else if is_argument(piece) && piece % 50 == 0 {
                let lines: Vec<String> = (0..40).map(argument).collect();
                json!({"functionCall": {"name": "write_file", "args": {"path": "a.md", "lines": lines}},
                    "thoughtSignature": "CiQB0e2Kb7Vy".repeat(20)})
            } else {
                json!({"text": words(token)})
            };
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{part}],"role":"model"}},"index":0}}],"usageMetadata":{{"promptTokenCount":5000,"candidatesTokenCount":{piece},"totalTokenCount":{},"promptTokensDetails":[{{"modality":"TEXT","tokenCount":5000}}],"thoughtsTokenCount":200}},"modelVersion":"gemini-2.5-pro","responseId":"pX3aZ7"}}"#,
                piece + 5200
            )
        })
        .collect();
    payloads.push(r#"{"candidates":[{"finishReason":"STOP","index":0}]}"#.to_owned());
    payloads
}

fn body(dialect: Dialect, payloads: &[String]) -> Vec<u8> {
    let mut body = String::new();
    for payload in payloads {
        // Nearly all events of a dialect have one name, and the payload's own type counts.
        match dialect {
            Dialect::ChatCompletions => body.extend(["data: ", payload, "\n\n"]),
            Dialect::Responses => {
                body.extend(["event: response.output_text.delta\ndata: ", payload, "\n\n"]);
            }
            Dialect::Messages => {
                body.extend(["event: content_block_delta\ndata: ", payload, "\n\n"]);
            }
            Dialect::GenerateContent => body.extend(["data: ", payload, "\r\n\r\n"]),
        }
    }
    if dialect == Dialect::ChatCompletions {
        body.push_str("data: [DONE]\n\n");
    }
    body.into_bytes()
}

/// Cuts a body as a connection does: into 1 to 4 KB.
fn chunks(mut body: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    let mut random: u32 = 1;
    while !body.is_empty() {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = 1024 + (random >> 8) as usize % 3072;
        let (chunk, rest) = body.split_at(length.min(body.len()));
        chunks.push(chunk);
        body = rest;
    }
    chunks
}
