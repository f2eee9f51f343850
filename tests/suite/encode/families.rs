//! What each family of Claude and Gemini is sent: a turn in the middle of its tool calls, the same with an effort that the
//! user wants, and a text such as a summary.
//!
//! The files in `tests/golden/families` are compared as a whole; `UPDATE_GOLDEN=1` writes them anew. What the catalogue
//! says of the models goes into them.

use super::{
    assistant, call, complete, endpoint, failed, folder, picture, read_file, request, result_with, shown,
    signed, tool, user, user_with,
};
use crate::golden;
use oneclaw_model::{Call, Dialect, Effort, Piece, Request, RequestMessage, Thinking};
use oneclaw_providers::{Mode, Profile};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A model of each family, newest last.
const CLAUDE: [&str; 12] = [
    "claude-haiku-4-5",
    "claude-opus-4-5",
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-sonnet-5",
    "claude-opus-5",
    "claude-haiku-5-5",
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "claude-fable-5-1",
];
const GEMINI: [&str; 8] = [
    "gemini-2.5-flash-lite",
    "gemini-2.5-flash",
    "gemini-2.5-pro",
    "gemini-3-flash-preview",
    "gemini-3.1-pro-preview",
    "gemini-3.7-flash",
    "gemini-3.8-flash",
    "gemini-4-argon",
];

/// A turn in the middle: two calls are answered, one of them with an error, both with a picture.
fn turn(reply: RequestMessage, ids: [&str; 2]) -> Request {
    let choice = json!({"type": "object", "properties": {"of": {"const": "screen"}}, "required": ["of"],
        "additionalProperties": false});
    let failed_with = |id: &str| match failed(id, "screenshot", "It is locked.") {
        RequestMessage::ToolResult { call, name, text, failed, .. } => {
            let attachments = vec![picture("locked.png")];
            RequestMessage::ToolResult { call, name, text, failed, attachments }
        }
        other => other,
    };
    Request {
        system: Some("You are brief.".into()),
        tools: vec![read_file(), tool("screenshot", choice)],
        messages: vec![
            user("Before."),
            assistant("Yes.", vec![]),
            user_with("What is on the screen?", vec![picture("door.png")]),
            reply,
            failed_with(ids[0]),
            result_with(ids[1], "screenshot", "Done.", vec![picture("screen.png")]),
        ],
        max_output: Some(20_000),
    }
}

fn text(bytes: usize, signature: Option<&str>) -> Piece {
    Piece::Text { bytes, signature: signature.map(Into::into) }
}

fn shot(id: &str) -> Call {
    call(id, "screenshot", r#"{"of":"screen"}"#)
}

/// Claude thinks before and between its calls.
fn claude() -> Request {
    let signed = |text: &str, signature: &str| {
        Piece::Thinking(Thinking::Signed { text: text.into(), signature: signature.into() })
    };
    let trace = vec![
        signed("A screenshot will tell.", "c2ln+/="),
        text(12, None),
        Piece::Thinking(Thinking::Redacted { data: "ZW5jcnlwdGVk".into() }),
        Piece::Call,
        signed("", "aGlkZGVu"),
        Piece::Call,
    ];
    let calls = vec![shot("toolu_1"), shot("toolu_2")];
    let reply = RequestMessage::Assistant { text: "I will look.".into(), calls, trace };
    turn(reply, ["toolu_1", "toolu_2"])
}

/// Gemini signs its text, its first call and, at the end, nothing at all.
fn gemini() -> Request {
    let trace = vec![text(12, Some("dGV4dA==")), Piece::Call, Piece::Call, text(0, Some("ZW1wdHk="))];
    let calls = vec![signed(shot("fc-1"), "Y2FsbA=="), shot("fc-2")];
    let reply = RequestMessage::Assistant { text: "I will look.".into(), calls, trace };
    turn(reply, ["fc-1", "fc-2"])
}

type Family = (Dialect, &'static [&'static str], fn() -> Request);
const FAMILIES: [Family; 2] =
    [(Dialect::Messages, &CLAUDE, claude), (Dialect::GenerateContent, &GEMINI, gemini)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/families")
}

/// Each file and what stands in it.
fn files() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    for (dialect, models, chat) in FAMILIES {
        for model in models {
            let plain = Profile::of(&endpoint(dialect), model);
            let wanting = Profile { effort: Some(Effort::High), ..plain.clone() };
            // What an effort changes does not depend on the conversation, so that one is short.
            let short = Request { max_output: Some(20_000), ..request(vec![user("Hello")]) };
            for (name, profile, request, mode) in [
                ("chat", &plain, chat(), Mode::Chat),
                ("high", &wanting, short, Mode::Chat),
                ("complete", &plain, complete(), Mode::Complete),
            ] {
                let path = root().join(folder(dialect)).join(format!("{model}-{name}.json"));
                files.push((path, shown(&endpoint(dialect), profile, &request, mode)));
            }
        }
    }
    files
}

#[test]
fn families_are_sent_what_was_reviewed() {
    golden::check("families", files().into_iter());
}

#[test]
fn every_file_of_a_family_has_its_scenario() {
    let folders = FAMILIES.map(|(dialect, ..)| root().join(folder(dialect)));
    let found = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let found: BTreeSet<PathBuf> = found.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found, files().into_iter().map(|(path, _)| path).collect());
}
