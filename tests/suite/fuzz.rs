//! The entry points of the fuzzers on random bytes, on words in any order, and on samples that were damaged and spliced.
//! `tests/fuzz` drives the same ones with libFuzzer.
//!
//! `ONECLAW_CASES=20 PROPTEST_RNG_SEED=$RANDOM` tries other cases and more of them.

use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, Row, ToolStatus};
use oneclaw_tests::fuzz::{self, ENTRIES, Entry};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{TestError, TestRunner};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What is done to a sample at a place.
#[derive(Debug, Clone)]
enum Edit {
    Put(u8),
    Flip(u8),
    Remove(usize),
    Insert(&'static str),
    Repeat(usize, usize),
    CutOff,
}

fn edit(words: &'static [&'static str]) -> impl Strategy<Value = Edit> {
    prop_oneof![
        2 => any::<u8>().prop_map(Edit::Put),
        2 => (0u8..8).prop_map(Edit::Flip),
        2 => (1usize..40).prop_map(Edit::Remove),
        3 => select(words).prop_map(Edit::Insert),
        1 => (1usize..60, 1usize..8).prop_map(|(length, times)| Edit::Repeat(length, times)),
        1 => Just(Edit::CutOff),
    ]
}

fn apply(bytes: &mut Vec<u8>, at: Index, edit: Edit) {
    let end = bytes.len();
    let at = at.index(end + 1);
    let reach = |length: usize| at..(at + length).min(end);
    match edit {
        Edit::Put(byte) => bytes[reach(1)].fill(byte),
        Edit::Flip(bit) => bytes[reach(1)].iter_mut().for_each(|byte| *byte ^= 1 << bit),
        Edit::Remove(length) => drop(bytes.drain(reach(length))),
        Edit::Insert(word) => drop(bytes.splice(at..at, word.bytes())),
        Edit::Repeat(length, times) => {
            let part = bytes[reach(length)].repeat(times);
            bytes.splice(at..at, part);
        }
        Edit::CutOff => bytes.truncate(at),
    }
}

fn inputs(samples: Vec<Vec<u8>>, words: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let splice = (select(samples.clone()), any::<Index>(), select(samples.clone()), any::<Index>());
    let spliced = splice.prop_map(|(head, end, tail, start)| {
        [&head[..end.index(head.len() + 1)], &tail[start.index(tail.len() + 1)..]].concat()
    });
    let base = prop_oneof![3 => select(samples), 1 => spliced];
    let edited =
        (base, prop::collection::vec((any::<Index>(), edit(words)), 0..8)).prop_map(|(mut bytes, edits)| {
            edits.into_iter().for_each(|(at, edit)| apply(&mut bytes, at, edit));
            bytes
        });
    prop_oneof![
        1 => random(),
        2 => prop::collection::vec(select(words), 0..60).prop_map(|words| words.concat().into_bytes()),
        5 => edited,
    ]
}

fn random() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..600)
}

fn drive(entry: Entry, cases: u32, inputs: impl Strategy<Value = Vec<u8>>) {
    let outcome = TestRunner::new(oneclaw_tests::cases(cases)).run(&inputs, |data| {
        entry(&data);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, data)) => panic!("{reason}\nwith b\"{}\"", data.escape_ascii()),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn paths(folder: &str) -> BTreeSet<PathBuf> {
    fs::read_dir(here(folder)).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn contents(folder: &str) -> Vec<Vec<u8>> {
    paths(folder).iter().map(|path| fs::read(path).unwrap()).collect()
}

fn replies() -> Vec<Vec<u8>> {
    ["openai", "anthropic", "gemini"]
        .iter()
        .flat_map(|kind| contents(&format!("fixtures/streams/{kind}")))
        .collect()
}

/// What stands in streams and in their events.
const STREAM_WORDS: [&str; 44] = [
    "\n",
    "\r",
    "\r\n",
    "\n\n",
    ":",
    " ",
    "data",
    "data:",
    "data: ",
    "event: ",
    "id: ",
    "retry: 1",
    "\0",
    "\u{feff}",
    "x",
    "[DONE]",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\ud800",
    "\\u0000",
    "null",
    "{}",
    "[]",
    "-1",
    "1e99",
    "99999999999",
    "\"error\":",
    "\"choices\":",
    "\"delta\":",
    "\"content\":",
    "\"tool_calls\":",
    "\"index\":",
    "\"usage\":",
    "\"finish_reason\":",
    "\"type\":\"content_block_start\",",
    "\"type\":\"message_stop\"",
    "\"candidates\":",
    "\"parts\":",
    "\"functionCall\":",
    "\"promptFeedback\":{\"blockReason\":\"\\n\"}",
    "\"finishReason\":\"STOP\"",
];

#[test]
fn splitter() {
    drive(fuzz::splitter, 1_500, inputs(replies(), &STREAM_WORDS));
}

#[test]
fn splitter_without_end() {
    let long = "x".repeat(1_000);
    for piece in
        ["x", &format!("data: {long}\n"), &format!(": {long}\r"), &format!("data: {long}\r\nid: 7\r\n\r\n")]
    {
        fuzz::splitter(&[b"\xff", piece.as_bytes()].concat());
    }
}

#[test]
fn decoder() {
    let mut samples = replies();
    samples.extend([
        b"\xef\xbb{\"error\":{\"message\":\"too long\"}}".to_vec(),
        b" [{\"error\":{\"code\":400}}]".to_vec(),
        b"data: {\"promptFeedback\":{\"blockReason\":\"OTHER\\n\\u001b[31m\"}}\n\n".to_vec(),
    ]);
    drive(fuzz::decoder, 1_500, inputs(samples, &STREAM_WORDS));
}

const ERROR_WORDS: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "\"error\":",
    "\"message\":",
    "\"code\":",
    "\"type\":",
    "\"status\":",
    "\"details\":",
    "\"detail\":",
    "\"metadata\":{\"raw\":",
    "null",
    "429",
    "context_length_exceeded",
    "maximum context length is 8192 tokens",
    "try again in ",
    "1h2m3.5s",
    "99999999999999999999s",
    "<html><title>",
    "</title>",
    "sk-abcdefgh12345678",
    "\n",
    "\u{1b}[31m",
    "\u{202e}",
    "é",
    "tokens per minute",
];

#[test]
fn errors() {
    let bodies = [
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
        r#"[{"error":{"code":429,"message":"Quota exceeded, retry in 34.07s","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"PerMinute"}]},{"retryDelay":"34s"}]}}]"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"{"detail":[{"loc":["body","messages",0],"msg":"field required"}]}"#,
        r#"{"error":{"message":"Provider returned error","metadata":{"raw":"Incorrect API key provided: sk-abcdefgh12345678"}}}"#,
        "<html><head><TITLE>502 Bad Gateway</TITLE></head></html>",
        "upstream connect error",
    ];
    let samples = bodies.map(|body| body.as_bytes().to_vec()).to_vec();
    drive(fuzz::errors, 600, inputs(samples, &ERROR_WORDS));
}

const LIST_WORDS: [&str; 22] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "\"data\":",
    "\"models\":",
    "\"id\":",
    "\"name\":",
    "\"\"",
    "0",
    "-1",
    "1.5",
    "null",
    "\"context_length\":",
    "\"parameters\":\"num_ctx 0\\nnum_ctx \\\"4096\\\"\"",
    "\"model_info\":{\"a.context_length\":",
    "\"has_more\":true",
    "\"last_id\":",
    "\"nextPageToken\":",
];

#[test]
fn lists() {
    let bodies = [
        r#"{"data":[{"id":"models/a","name":"A","context_length":8192,"top_provider":{"max_completion_tokens":0}},{"id":""}]}"#,
        r#"{"data":[{"id":"claude","display_name":"C","max_input_tokens":1,"max_tokens":2}],"has_more":true,"last_id":"claude"}"#,
        r#"{"models":[{"name":"models/gemini","inputTokenLimit":9,"supportedGenerationMethods":["generateContent"]}],"nextPageToken":"t"}"#,
        r#"{"models":[{"name":"llama"},{"model":"qwen"}],"parameters":"num_ctx 4096","model_info":{"llama.context_length":131072}}"#,
    ];
    let samples = bodies.map(|body| body.as_bytes().to_vec()).to_vec();
    drive(fuzz::lists, 1_000, inputs(samples, &LIST_WORDS));
}

const TRANSCRIPT_WORDS: [&str; 26] = [
    "\n",
    "\r\n",
    "{",
    "}",
    "\"",
    ",",
    ":",
    "null",
    "-1",
    "1e3",
    "2147483648",
    "9223372036854775807",
    "\u{feff}",
    "\u{2028}",
    "{\"session\":{",
    "\"compacted_summary\":\"S\"",
    "\"compact_boundary_timestamp\":7",
    "{\"id\":\"a\",\"type\":\"USER\"}",
    "\"id\":",
    "\"type\":",
    "\"TOOL_CALL\"",
    "\"created_at\":",
    "\"attachments\":[{\"mime\":\"image/png\"}]",
    "\"tool_status\":",
    "\"token_count_input\":",
    "\\ud83d",
];

#[test]
fn transcript() {
    let kinds = [
        RowType::User,
        RowType::AiResponse,
        RowType::ToolCall,
        RowType::ToolResult,
        RowType::Error,
        RowType::System,
    ];
    let row = |(number, kind): (usize, RowType)| Row {
        content: "Grüße 🌍\n".into(),
        thinking_content: Some("hm".into()),
        tool_call_id: Some("c1".into()),
        tool_name: Some("read_file".into()),
        tool_input: Some("{\"path\":\"a\"}".into()),
        tool_output: Some("no such file".into()),
        tool_status: Some(ToolStatus::Error),
        tool_duration_ms: Some(12),
        token_count_input: Some(120),
        token_count_output: Some(30),
        model_id: Some("gpt-4o".into()),
        provider_id: None,
        cache_read: Some(1),
        cache_write: Some(2),
        thinking_signature: Some("sig".into()),
        attachments: vec![Attachment {
            mime: "image/png".into(),
            name: "a".into(),
            width: Some(1),
            height: None,
            data: None,
        }],
        ..Row::new(format!("m{number}"), kind, 1_000 - number as i64 / 2)
    };
    let full: Vec<String> =
        kinds.into_iter().enumerate().map(|entry| serde_json::to_string(&row(entry)).unwrap()).collect();
    let header =
        r#"{"session":{"title":"T","compacted_summary":"They met.","compact_boundary_timestamp":999}}"#;
    let short = "\u{feff}{\"id\":\"a\",\"type\":\"USER\"}\r\n\n{\"id\":\"b\",\"type\":\"AI_RESPONSE\",\"unknown\":[1]}\n";
    let long_id = format!("{{\"id\":\"{}\",\"type\":\"USER\"}}\n", "a".repeat(400));
    let samples =
        [format!("{header}\n{}", full.join("\n")), full.join("\n\n"), short.to_owned(), long_id.repeat(2)];
    let samples = samples.map(String::into_bytes).to_vec();
    drive(fuzz::transcript, 1_500, inputs(samples, &TRANSCRIPT_WORDS));
}

const TEXT_WORDS: [&str; 20] = [
    "\n",
    "\r\n",
    "\r",
    "a",
    "word ",
    "é",
    "e\u{301}",
    "\u{301}",
    "工",
    "😀",
    "\u{fe0f}",
    "👩\u{200d}👧",
    "\0",
    "[... ",
    " ...]",
    "\n[... use read_file with offset/limit to see more ...]",
    "\n\n[... content truncated, showing first ",
    "\n\n[... content truncated, showing first 1 of 2 characters ...]",
    "\n[... 3 lines / 12 bytes omitted ...]\n",
    "line after line after line\n",
];

#[test]
fn truncation() {
    let mut samples = contents("fixtures/corpus");
    samples.iter_mut().for_each(|text| text.truncate(3_000));
    samples.extend([1u8, 0].map(|high| [&[high, 90][..], "line 1\n".repeat(200).as_bytes()].concat()));
    drive(fuzz::truncation, 1_500, inputs(samples, &TEXT_WORDS));
}

#[test]
fn planning() {
    drive(fuzz::planning, 1_500, random());
}

#[test]
fn database() {
    drive(fuzz::database, 200, prop::collection::vec(any::<u8>(), 0..80));
}

const CALL_WORDS: [&str; 22] = [
    "echo\n",
    "get_current_time\n",
    "{",
    "}",
    "\"",
    ":",
    ",",
    "\"text\":",
    "\"count\":",
    "\"mode\":",
    "\"list\":",
    "\"timezone\":",
    "\"+02:00\"",
    "\"-99:99\"",
    "\"UTC+\"",
    "5.0",
    "1e300",
    "-0.0",
    "null",
    "[[",
    "\"\\u0000\"",
    "\n",
];

#[test]
fn arguments() {
    let calls = [
        "echo\n{\"text\":\"x\",\"count\":5.0,\"mode\":null,\"list\":[1]}",
        "get_current_time\n{\"timezone\":\"+02:00\"}",
        "get_current_time\n",
        "nothing\n{}",
    ];
    let samples = calls.map(|call| call.as_bytes().to_vec()).to_vec();
    drive(fuzz::arguments, 1_500, inputs(samples, &CALL_WORDS));
}

/// libFuzzer has a target for every entry, and no other.
#[test]
fn every_entry_has_its_target() {
    let manifest = fs::read_to_string(here("fuzz/Cargo.toml")).unwrap();
    let mut targets = paths("fuzz/fuzz_targets");
    for (name, _) in ENTRIES {
        let target = here(&format!("fuzz/fuzz_targets/{name}.rs"));
        assert!(fs::read_to_string(&target).unwrap().contains(&format!("fuzz::{name}(data)")), "{name}");
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
        targets.remove(&target);
    }
    assert_eq!(targets, BTreeSet::new());
}
