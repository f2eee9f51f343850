//! Replies as services send them, decoded to lists of events that a person can review, whatever way the bytes are
//! cut up or cut off.
//!
//! A fixture in `tests/fixtures/streams/<provider>` shows one feature or one oddity; its events stand in
//! `tests/golden/streams/<provider>`. After a change that is meant, run the tests with `UPDATE_GOLDEN=1` and read the
//! difference.

use crate::golden;
use oneclaw_model::Dialect;
use oneclaw_providers::{Decoder, ProviderError, StopReason, StreamEvent};
use oneclaw_tests::decoded::{Decoded, decode, pieces, whole};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

const PROVIDERS: [(&str, Dialect); 4] = [
    ("openai", Dialect::ChatCompletions),
    ("responses", Dialect::Responses),
    ("anthropic", Dialect::Messages),
    ("gemini", Dialect::GenerateContent),
];

/// A recorded reply.
struct Fixture {
    /// `<provider>/<name>`.
    name: String,
    dialect: Dialect,
    bytes: Vec<u8>,
}

static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let mut fixtures = Vec::new();
    for (provider, dialect) in PROVIDERS {
        for path in files(&folder("fixtures").join(provider)) {
            let name = format!("{provider}/{}", path.file_stem().unwrap().to_str().unwrap());
            fixtures.push(Fixture { name, dialect, bytes: fs::read(&path).unwrap() });
        }
    }
    fixtures
});

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name).join("streams")
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    fs::read_dir(folder).map(|files| files.map(|file| file.unwrap().path()).collect()).unwrap_or_default()
}

// ---- golden files ----

/// One event per line.
fn show(decoded: &Decoded) -> String {
    let mut text = String::new();
    for event in &decoded.events {
        writeln!(text, "{}", serde_json::to_string(event).unwrap()).unwrap();
    }
    if let Some(token) = &decoded.continuation {
        writeln!(text, "goes on with: {token}").unwrap();
    }
    match &decoded.outcome {
        Ok(()) => {}
        Err(ProviderError::Protocol { detail }) => writeln!(text, "error: Protocol, {detail}").unwrap(),
        // What an error object means is another module's; here it matters that it was found.
        Err(error) => {
            let debug = format!("{error:?}");
            writeln!(text, "error: {}", debug.split([' ', '{']).next().unwrap()).unwrap();
        }
    }
    text
}

#[test]
fn replies_are_as_reviewed() {
    let text = |fixture: &Fixture| {
        let path = folder("golden").join(format!("{}.txt", fixture.name));
        (path, show(&whole(fixture.dialect, &fixture.bytes)))
    };
    golden::check("streams", FIXTURES.iter().map(text));
}

#[test]
fn every_fixture_has_its_golden_file_and_both_are_short() {
    const MOST_LINES: usize = 30;
    const MOST_BYTES: usize = 5_000;
    let wanted: BTreeSet<PathBuf> =
        FIXTURES.iter().map(|fixture| folder("golden").join(format!("{}.txt", fixture.name))).collect();
    let found: BTreeSet<PathBuf> =
        PROVIDERS.iter().flat_map(|(provider, _)| files(&folder("golden").join(provider))).collect();
    let odd: Vec<_> = found.symmetric_difference(&wanted).collect();
    assert!(odd.is_empty(), "golden files without a fixture or fixtures without a golden file: {odd:#?}");
    for path in found {
        assert!(fs::read_to_string(&path).unwrap().lines().count() <= MOST_LINES, "{}", path.display());
    }
    for fixture in FIXTURES.iter() {
        assert!(fixture.bytes.len() <= MOST_BYTES, "{}", fixture.name);
    }
}

/// Whoever carries out the calls of a whole reply can read their arguments.
#[test]
fn arguments_are_json() {
    let mut calls = 0;
    for Fixture { name, dialect, bytes } in FIXTURES.iter() {
        let decoded = whole(*dialect, bytes);
        if decoded.events.last() != Some(&StreamEvent::Stopped(StopReason::ToolUse)) {
            continue;
        }
        let mut arguments: BTreeMap<&str, String> = BTreeMap::new();
        for event in &decoded.events {
            if let StreamEvent::CallArguments { id, delta } = event {
                arguments.entry(id.as_str()).or_default().push_str(delta);
            }
        }
        for (id, text) in arguments {
            let json: serde_json::Value = serde_json::from_str(&text).expect(name);
            assert!(json.is_object(), "{name}, {id}: {text}");
            calls += 1;
        }
    }
    assert!(calls > 40, "only {calls} calls");
}

// ---- any chunking ----

#[test]
fn every_split_in_two_gives_the_same_events() {
    for Fixture { name, dialect, bytes } in FIXTURES.iter() {
        let expected = whole(*dialect, bytes);
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            assert_eq!(decode(*dialect, [head, tail]), expected, "{name}, split at {at}");
        }
    }
}

#[test]
fn single_bytes_give_the_same_events() {
    for Fixture { name, dialect, bytes } in FIXTURES.iter() {
        assert_eq!(decode(*dialect, bytes.chunks(1)), whole(*dialect, bytes), "{name}");
    }
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(
        pick in any::<prop::sample::Index>(),
        lengths in prop::collection::vec(0usize..90, 1..12),
    ) {
        let Fixture { name, dialect, bytes } = pick.get(&FIXTURES);
        let expected = whole(*dialect, bytes);
        prop_assert_eq!(decode(*dialect, pieces(bytes, &lengths)), expected, "{}", name);
    }

    /// Damaged replies, also read in a foreign dialect: no panic, no reply that is whole and is not (see `decode`).
    #[test]
    fn damaged_replies_are_an_error_or_a_reply(
        pick in any::<prop::sample::Index>(),
        provider in 0..PROVIDERS.len(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 0..6),
        lengths in prop::collection::vec(1usize..400, 1..4),
    ) {
        let fixture = pick.get(&FIXTURES);
        let dialect = PROVIDERS[provider].1;
        let mut bytes = fixture.bytes.clone();
        for (at, byte, how) in damage {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        prop_assert_eq!(decode(dialect, pieces(&bytes, &lengths)), whole(dialect, &bytes));
    }
}

// ---- cut off ----

#[test]
fn every_beginning_is_an_error_or_a_reply() {
    for Fixture { name, dialect, bytes } in FIXTURES.iter() {
        let expected = whole(*dialect, bytes);
        for at in 0..bytes.len() {
            let cut = whole(*dialect, &bytes[..at]);
            let early = &cut.events[..cut.pushed];
            assert!(expected.events.starts_with(early), "{name}, cut at {at}: {early:?}");
        }
    }
}

/// A reply is whole only once its end was announced; otherwise it is told to have been cut off.
#[test]
fn no_beginning_of_a_reply_is_taken_for_the_whole() {
    for (name, end) in [
        ("openai/text", "\"finish_reason\":\"stop\""),
        ("openai/tools-in-pieces", "\"finish_reason\":\"tool_calls\""),
        ("responses/text", "\"total_tokens\":40}}}"),
        ("responses/tools-in-parallel", "\"total_tokens\":40}}}"),
        ("anthropic/tools-in-parallel", "{\"type\":\"message_stop\"}"),
        ("gemini/thoughts", "\"finishReason\":\"STOP\""),
    ] {
        let fixture = FIXTURES.iter().find(|fixture| fixture.name == name).unwrap();
        let text = str::from_utf8(&fixture.bytes).unwrap();
        let announced = text.find(end).unwrap() + end.len();
        for at in 0..announced {
            let cut = whole(fixture.dialect, &fixture.bytes[..at]);
            let Err(ProviderError::Protocol { detail }) = cut.outcome else { panic!("{name}, cut at {at}") };
            assert!(
                detail.contains("ended in the middle") || detail == "the body holds no events",
                "{name}, cut at {at}: {detail}"
            );
        }
    }
}

// ---- limits ----

fn protocol_error(decoded: Decoded) -> String {
    match decoded.outcome {
        Err(ProviderError::Protocol { detail }) => detail,
        other => panic!("{other:?}"),
    }
}

fn openai_call(index: usize, arguments: &str) -> String {
    let call = serde_json::json!({"index": index, "id": format!("c{index}"),
        "function": {"name": "f", "arguments": arguments}});
    format!("data: {}\n\n", serde_json::json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
}

fn responses_call(index: usize, arguments: &str) -> String {
    let item = serde_json::json!({"type": "function_call", "call_id": format!("c{index}"), "name": "f"});
    let start =
        serde_json::json!({"type": "response.output_item.added", "output_index": index, "item": item});
    let delta = serde_json::json!({"type": "response.function_call_arguments.delta", "output_index": index,
        "delta": arguments});
    format!("data: {start}\n\ndata: {delta}\n\n")
}

fn anthropic_call(index: usize, arguments: &str) -> String {
    let start = serde_json::json!({"type": "content_block_start", "index": index,
        "content_block": {"type": "tool_use", "id": format!("c{index}"), "name": "f", "input": {}}});
    let delta = serde_json::json!({"type": "content_block_delta", "index": index,
        "delta": {"type": "input_json_delta", "partial_json": arguments}});
    format!("data: {start}\n\ndata: {delta}\n\n")
}

fn gemini_call(_: usize, arguments: &str) -> String {
    format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{{\"functionCall\":{{\"name\":\"f\",\"args\":{arguments}}}}}]}}}}]}}\n\n"
    )
}

type CallText = fn(usize, &str) -> String;
const CALLS: [(Dialect, CallText, &str); 4] = [
    (Dialect::ChatCompletions, openai_call, "data: [DONE]\n\n"),
    (Dialect::Responses, responses_call, "data: {\"type\":\"response.completed\"}\n\n"),
    (Dialect::Messages, anthropic_call, "data: {\"type\":\"message_stop\"}\n\n"),
    (Dialect::GenerateContent, gemini_call, "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"),
];

#[test]
fn a_reply_has_at_most_256_calls() {
    for (dialect, call, end) in CALLS {
        let most: String = (0..256).map(|index| call(index, "{}")).collect();
        let decoded = whole(dialect, format!("{most}{end}"));
        assert_eq!(decoded.outcome, Ok(()));
        assert_eq!(decoded.events.last(), Some(&StreamEvent::Stopped(StopReason::ToolUse)));
        let error = protocol_error(whole(dialect, format!("{most}{}{end}", call(256, "{}"))));
        assert_eq!(error, "the reply has more than 256 calls");
    }
}

#[test]
fn the_arguments_of_a_reply_have_at_most_8_mib() {
    for (dialect, call, end) in CALLS {
        let argument = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
        let most: String = (0..7).map(|index| call(index, &argument(1 << 20))).collect();
        assert_eq!(whole(dialect, format!("{most}{}{end}", call(7, &argument(1 << 19)))).outcome, Ok(()));
        let error = protocol_error(whole(dialect, format!("{most}{}{end}", call(7, &argument(1 << 20)))));
        assert_eq!(error, "the calls and reasoning of the reply have more than 8388608 bytes");
    }
}

#[test]
fn endless_lines_events_and_bodies_are_given_up() {
    let chunk = vec![b'x'; 1 << 20];
    let endless = |start: &'static [u8], chunk: &[u8]| {
        let mut decoder = Decoder::new(Dialect::ChatCompletions);
        let mut out = Vec::new();
        decoder.push(start, &mut out).unwrap();
        let taken = (0..20).take_while(|_| decoder.push(chunk, &mut out).is_ok()).count();
        assert!(out.is_empty());
        (taken, decoder.finish(&mut out).unwrap_err().to_string())
    };
    let (taken, error) = endless(b"data: ", &chunk);
    assert!(
        taken <= 8 && error.contains("a line of the stream is longer than 8388608 bytes"),
        "{taken} {error}"
    );
    let (taken, error) = endless(b"{", &chunk);
    assert!(taken <= 8 && error.contains("no event stream"), "{taken} {error}");
    let line = [b"data: ".as_slice(), &chunk, b"\n"].concat();
    let (taken, error) = endless(b"", &line);
    assert!(taken <= 8 && error.contains("an event of the stream is longer"), "{taken} {error}");
}

#[test]
fn lists_without_end_are_given_up() {
    let many = "{},".repeat(2_000);
    let body = format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{many}{{}}]}}}}]}}\n\n");
    assert!(
        protocol_error(whole(Dialect::GenerateContent, body)).starts_with("event 1 does not have the form")
    );
    let body = format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{many}{{}}]}}}}]}}\n\n");
    assert!(
        protocol_error(whole(Dialect::ChatCompletions, body)).starts_with("event 1 does not have the form")
    );
}

#[test]
fn deep_nesting_does_no_harm() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for (dialect, _) in PROVIDERS.map(|(_, dialect)| (dialect, ())) {
        for field in ["x", "error", "choices", "candidates", "delta", "usage", "item", "response"] {
            let decoded = whole(dialect, format!("data: {{\"{field}\":{deep}}}\n\n"));
            assert!(decoded.outcome.is_err());
        }
        assert!(whole(dialect, &deep).outcome.is_err());
    }
}

/// A long event byte by byte: if anything were read again with every byte, this would not come to an end.
#[test]
fn single_bytes_of_a_long_event_take_no_longer_than_they_should() {
    let text = "x".repeat(3 << 20);
    let body =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\ndata: [DONE]\n\n");
    let decoded = decode(Dialect::ChatCompletions, body.as_bytes().chunks(1));
    assert_eq!(decoded.events, [StreamEvent::Text(text), StreamEvent::Stopped(StopReason::End)]);
}

/// A part of a byte order mark, for one: it may come in a chunk of its own.
#[test]
fn what_stands_before_an_error_of_plain_json_never_counts() {
    for start in
        ["", " \r\n", "\u{feff}", "\u{feff} "].map(str::as_bytes).into_iter().chain([&b"\xef\xbb"[..]])
    {
        let body = [start, b"{\"error\":{\"message\":\"no\"}}"].concat();
        let expected = Err(ProviderError::Reported { detail: "no".into() });
        assert_eq!(whole(Dialect::GenerateContent, &body).outcome, expected, "{start:?}");
        assert_eq!(decode(Dialect::GenerateContent, body.chunks(1)).outcome, expected, "{start:?}");
    }
}

#[test]
fn reasons_are_fit_to_be_shown() {
    let body = r#"data: {"promptFeedback":{"blockReason":"A\nB\u001b[31m"}}"#;
    let expected = ProviderError::Refused { detail: "the prompt was blocked (A\\nB\\u{1b}[31m)".into() };
    assert_eq!(whole(Dialect::GenerateContent, body).outcome, Err(expected));
}

/// Error texts go to logs and screens; a reply does not belong there.
#[test]
fn errors_do_not_quote_the_reply() {
    for (_, dialect) in PROVIDERS {
        for data in [
            "a private text",
            "{\"choices\":[{\"delta\":\"a private text\"}],\"delta\":\"a private text\",\
             \"candidates\":[\"a private text\"]}",
            "{\"a private text",
        ] {
            let error = protocol_error(whole(dialect, format!("data: {data}\n\n")));
            assert!(!error.contains("private"), "{error}");
        }
    }
}
