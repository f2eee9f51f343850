//! What services are sent where they are asked for the size of a request.
//!
//! The files in `tests/golden/count` are compared as a whole; `UPDATE_GOLDEN=1` writes them anew.

use super::{
    Scenario, endpoint, image_result, plain, profile, reasoning_replay, scenarios, signature, system,
    tools_gone, tools_parallel,
};
use crate::golden;
use oneclaw_model::{Dialect, Request};
use oneclaw_providers::count::{self, Counter};
use oneclaw_providers::{Encoded, Endpoint, Mode, Profile, encode};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file's name, who is asked, in which dialect the chat is, at which address if another one, about which model and request.
type Case = (&'static str, Counter, Dialect, Option<&'static str>, &'static str, fn() -> Request);

const LOCAL: Option<&str> = Some("http://127.0.0.1:8080/v1");

const CASES: [Case; 15] = [
    ("openai-plain", Counter::Responses, Dialect::Responses, None, "gpt-6-sol", plain),
    ("openai-tools", Counter::Responses, Dialect::Responses, None, "gpt-6-sol", tools_parallel),
    ("openai-replay", Counter::Responses, Dialect::Responses, None, "gpt-6-sol", reasoning_replay),
    ("openai-from-chat", Counter::Responses, Dialect::ChatCompletions, None, "gpt-4o", tools_parallel),
    ("openai-picture", Counter::Responses, Dialect::ChatCompletions, None, "gpt-4o", image_result),
    ("anthropic-system", Counter::Messages, Dialect::Messages, None, "claude-sonnet-4-5", system),
    ("anthropic-tools", Counter::Messages, Dialect::Messages, None, "claude-opus-5-5", tools_parallel),
    ("anthropic-tools-gone", Counter::Messages, Dialect::Messages, None, "claude-opus-5-5", tools_gone),
    ("gemini-system", Counter::GenerateContent, Dialect::GenerateContent, None, "gemini-2.5-flash", system),
    (
        "gemini-tools",
        Counter::GenerateContent,
        Dialect::GenerateContent,
        None,
        "gemini-3.8-flash",
        tools_parallel,
    ),
    (
        "gemini-signature",
        Counter::GenerateContent,
        Dialect::GenerateContent,
        None,
        "models/gemini-2.5-pro",
        signature,
    ),
    ("llama-cpp-tools", Counter::LlamaCpp, Dialect::ChatCompletions, LOCAL, "qwen3.5-9b", tools_parallel),
    ("llama-cpp-plain", Counter::LlamaCpp, Dialect::ChatCompletions, LOCAL, "qwen3.5-9b", plain),
    ("vllm-system", Counter::Vllm, Dialect::ChatCompletions, LOCAL, "qwen3.5-9b", system),
    ("vllm-tools", Counter::Vllm, Dialect::ChatCompletions, LOCAL, "qwen3.5-9b", tools_parallel),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/count")
}

fn asked(dialect: Dialect, base_url: Option<&str>, model: &str) -> (Endpoint, Profile) {
    let usual = endpoint(dialect);
    let endpoint = Endpoint { base_url: base_url.map_or(usual.base_url.clone(), str::to_owned), ..usual };
    let profile = profile(dialect, &endpoint, model);
    (endpoint, profile)
}

fn shown((_, counter, dialect, base_url, model, request): Case) -> String {
    let (endpoint, profile) = asked(dialect, base_url, model);
    let Encoded { path, query, body } = count::encode(counter, &endpoint, &profile, &request());
    assert_eq!(query, None);
    serde_json::to_string_pretty(&json!({"path": path, "body": body})).unwrap() + "\n"
}

fn path(case: &Case) -> PathBuf {
    root().join(format!("{}.json", case.0))
}

#[test]
fn bodies_are_as_reviewed() {
    golden::check("count", CASES.into_iter().map(|case| (path(&case), shown(case))));
}

#[test]
fn every_file_has_its_case() {
    let found: BTreeSet<PathBuf> =
        std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found, CASES.iter().map(path).collect());
}

#[test]
fn each_endpoint_is_one_that_the_service_may_have() {
    for (name, counter, dialect, base_url, model, request) in CASES {
        let (endpoint, profile) = asked(dialect, base_url, model);
        assert!(count::counters(&endpoint, &profile, &request()).contains(&counter), "{name}");
    }
}

/// The fields that say what becomes of the reply.
const OF_THE_REPLY: [&str; 10] = [
    "stream",
    "stream_options",
    "store",
    "include",
    "prompt_cache_key",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "generationConfig",
    "thinking_budget",
];

/// What is counted is what is sent: every other field is there, and is the same.
#[test]
fn the_body_is_that_of_the_turn_but_for_the_reply() {
    for Scenario { name, dialect, base_url, model, request, mode } in scenarios() {
        let (endpoint, profile) = asked(dialect, base_url, model);
        let request = request();
        let counters = count::counters(&endpoint, &profile, &request);
        for counter in counters.iter().copied().filter(|_| mode == Mode::Chat) {
            let body = count::encode(counter, &endpoint, &profile, &request).body;
            let sent = encode(&endpoint, &profile, &request, Mode::Chat).body;
            let (counted, extra) = match counter {
                Counter::GenerateContent => (&body["generateContentRequest"], vec!["model"]),
                Counter::Vllm => (&body, vec![]),
                // The chat is in another dialect.
                Counter::Responses if dialect != Dialect::Responses => continue,
                _ => (&body, vec![]),
            };
            let counted = counted.as_object().unwrap();
            for field in OF_THE_REPLY {
                assert!(!counted.contains_key(field), "{name} {counter:?} {field}");
            }
            for (key, value) in counted.iter().filter(|(key, _)| !extra.contains(&key.as_str())) {
                assert_eq!(Some(value), sent.get(key), "{name} {counter:?} {key}");
            }
            let missing = |key: &&String| {
                let is_known = OF_THE_REPLY.contains(&key.as_str()) || counted.contains_key(*key);
                !(is_known || counter == Counter::Vllm && key.starts_with("reasoning"))
            };
            let missing: Vec<&String> = sent.as_object().unwrap().keys().filter(missing).collect();
            assert_eq!(missing, [] as [&String; 0], "{name} {counter:?}");
        }
    }
}
