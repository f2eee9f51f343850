//! A conversation as JSON lines: an optional `{"session":{…}}` first, then one row a line.

use crate::row::{FieldFault, Fields, Row, shown};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// What a transcript says of its session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SessionHeader {
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The summary that stands for the rows before the boundary.
    pub compacted_summary: Option<String>,
    /// Rows older than this are covered by the summary.
    pub compact_boundary_timestamp: Option<i64>,
}

/// A whole transcript, rows in the order of the conversation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// The session line, or its defaults.
    pub session: SessionHeader,
    /// The rows by time, then by place.
    pub rows: Vec<Row>,
}

/// Where a transcript is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {wrong}")]
pub struct TranscriptFault {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub wrong: String,
}

impl Transcript {
    /// Reads a transcript. Blank lines are skipped, unknown fields ignored; a row without `created_at` takes
    /// that of the row before it.
    pub fn read(text: &str) -> Result<Self, TranscriptFault> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut transcript = Self::default();
        let mut seen = HashSet::new();
        let mut first = true;
        let mut last_time = 0;
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let at = |wrong: String| TranscriptFault { line: number + 1, wrong };
            let object = object(line).map_err(at)?;
            if let Some(session) = object.get("session").filter(|_| !object.contains_key("type")) {
                if !first {
                    return Err(at("a session line is only allowed first".into()));
                }
                transcript.session = header(session).map_err(at)?;
            } else {
                let row = Row::read(&object, last_time).map_err(|e| at(e.to_string()))?;
                if !seen.insert(row.id.clone()) {
                    return Err(at(format!(
                        "field `id`: {} was used before",
                        shown(&format!("{:?}", row.id))
                    )));
                }
                last_time = row.created_at;
                transcript.rows.push(row);
            }
            first = false;
        }
        transcript.rows.sort_by_key(|row| row.created_at);
        Ok(transcript)
    }
}

fn object(line: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("expected a JSON object".into()),
        Err(e) => Err(format!("not JSON: {e}").replace(" at line 1 column", " at column")),
    }
}

fn header(value: &Value) -> Result<SessionHeader, String> {
    let Value::Object(object) = value else {
        return Err("field `session`: expected an object".into());
    };
    let fields = Fields(object);
    let read = || -> Result<SessionHeader, FieldFault> {
        Ok(SessionHeader {
            title: fields.text("title")?,
            compacted_summary: fields.text("compacted_summary")?,
            compact_boundary_timestamp: fields.time("compact_boundary_timestamp")?,
        })
    };
    read().map_err(|e| format!("session: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> String {
        Transcript::read(text).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_ordered_by_time_then_place() {
        let text = concat!(
            "{\"id\":\"b\",\"type\":\"USER\",\"created_at\":2}\n\n",
            "{\"id\":\"a\",\"type\":\"USER\",\"created_at\":1}\n",
            "{\"id\":\"c\",\"type\":\"USER\",\"created_at\":2}\n",
            "{\"id\":\"d\",\"type\":\"USER\"}\n",
        );
        let ids: Vec<_> = Transcript::read(text).unwrap().rows.into_iter().map(|r| r.id).collect();
        assert_eq!(ids, ["a", "b", "c", "d"]);
    }

    #[test]
    fn the_session_line_carries_the_summary() {
        let text = r#"{"session":{"compacted_summary":"S","compact_boundary_timestamp":7}}"#;
        let session = Transcript::read(text).unwrap().session;
        assert_eq!(
            session,
            SessionHeader {
                title: None,
                compacted_summary: Some("S".into()),
                compact_boundary_timestamp: Some(7)
            }
        );
    }

    #[test]
    fn faults_name_the_line_and_the_field() {
        let good = "{\"id\":\"a\",\"type\":\"USER\"}\n";
        assert_eq!(fault(&format!("{good}oops")), "line 2: not JSON: expected value at column 1");
        assert_eq!(fault("[1]"), "line 1: expected a JSON object");
        assert_eq!(fault("{\"type\":\"USER\"}"), "line 1: field `id`: is missing");
        assert_eq!(fault("{\"id\":\"\",\"type\":\"USER\"}"), "line 1: field `id`: is empty");
        assert_eq!(fault("{\"id\":\"a\"}"), "line 1: field `type`: is missing");
        assert_eq!(
            fault("{\"id\":\"a\",\"type\":\"BOGUS\"}"),
            "line 1: field `type`: expected USER, AI_RESPONSE, TOOL_CALL, TOOL_RESULT, ERROR or SYSTEM, \
             found \"BOGUS\""
        );
        assert_eq!(
            fault("{\"id\":\"a\",\"type\":\"USER\",\"token_count_input\":-1}"),
            "line 1: field `token_count_input`: expected an integer from 0 to 2147483647, found -1"
        );
        assert_eq!(
            fault("{\"id\":\"a\",\"type\":\"USER\",\"content\":5}"),
            "line 1: field `content`: expected a string, found 5"
        );
        assert_eq!(fault(&format!("{good}{good}")), "line 2: field `id`: \"a\" was used before");
        let long = format!("{{\"id\":\"{}\",\"type\":\"USER\"}}\n", "a".repeat(1_000));
        assert_eq!(
            fault(&long.repeat(2)),
            format!("line 2: field `id`: \"{}… was used before", "a".repeat(39))
        );
        assert_eq!(
            fault(&format!("{good}{{\"session\":{{}}}}")),
            "line 2: a session line is only allowed first"
        );
        assert_eq!(
            fault("{\"session\":{\"compact_boundary_timestamp\":\"x\"}}"),
            "line 1: session: field `compact_boundary_timestamp`: expected milliseconds as an integer, found \"x\""
        );
    }
}
