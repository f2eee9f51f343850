//! A row as the database and transcripts write it: flat, most fields absent. Reading one checks every field
//! and says which is wrong; making a [`Message`] of it never fails.

use crate::{Attachment, Body, Message, Piece, Thinking, ToolStatus, Trace, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The kinds of row, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RowType {
    /// The user's text.
    User,
    /// A model's reply.
    AiResponse,
    /// A tool was asked for.
    ToolCall,
    /// A tool answered.
    ToolResult,
    /// An error that was shown.
    Error,
    /// A note of the app.
    System,
}

/// A row with the column names of the `messages` table, and what transcripts add to it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub id: String,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: RowType,
    /// The text of user, reply, error and system rows.
    pub content: String,
    /// Reasoning; on a tool call, Gemini's thought signature.
    pub thinking_content: Option<String>,
    /// The provider's name for the call.
    pub tool_call_id: Option<String>,
    /// The tool.
    pub tool_name: Option<String>,
    /// Arguments as JSON text.
    pub tool_input: Option<String>,
    /// The result.
    pub tool_output: Option<String>,
    /// How the tool ended.
    pub tool_status: Option<ToolStatus>,
    /// How long it took.
    pub tool_duration_ms: Option<u64>,
    /// Uncached prompt tokens.
    pub token_count_input: Option<u64>,
    /// Output tokens.
    pub token_count_output: Option<u64>,
    /// The model that wrote it.
    pub model_id: Option<String>,
    /// Its provider.
    pub provider_id: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Prompt tokens read from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Prompt tokens written to a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The provider's proof that the reasoning is its own, where it is one block and nothing else was kept of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_signature: Option<String>,
    /// What a reply was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Files and images.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
}

/// What is wrong with a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}`: {wrong}")]
pub struct FieldFault {
    /// The field.
    pub field: &'static str,
    /// What is wrong with it.
    pub wrong: String,
}

impl Row {
    /// A row of that kind with nothing in it yet.
    pub fn new(id: String, kind: RowType, created_at: i64) -> Self {
        Self {
            id,
            kind,
            content: String::new(),
            thinking_content: None,
            tool_call_id: None,
            tool_name: None,
            tool_input: None,
            tool_output: None,
            tool_status: None,
            tool_duration_ms: None,
            token_count_input: None,
            token_count_output: None,
            model_id: None,
            provider_id: None,
            created_at,
            cache_read: None,
            cache_write: None,
            thinking_signature: None,
            trace: None,
            attachments: vec![],
        }
    }

    /// Reads a row from a JSON object; `created_at` stands in where the object has none.
    pub fn read(object: &Map<String, Value>, created_at: i64) -> Result<Self, FieldFault> {
        let fields = Fields(object);
        let id = fields.text("id")?.ok_or_else(|| fault("id", "is missing"))?;
        if id.is_empty() {
            return Err(fault("id", "is empty"));
        }
        Ok(Self {
            id,
            kind: fields
                .parsed("type", "USER, AI_RESPONSE, TOOL_CALL, TOOL_RESULT, ERROR or SYSTEM")?
                .ok_or_else(|| fault("type", "is missing"))?,
            content: fields.text("content")?.unwrap_or_default(),
            thinking_content: fields.text("thinking_content")?,
            tool_call_id: fields.text("tool_call_id")?,
            tool_name: fields.text("tool_name")?,
            tool_input: fields.text("tool_input")?,
            tool_output: fields.text("tool_output")?,
            tool_status: fields.parsed("tool_status", "PENDING, EXECUTING, SUCCESS, ERROR or TIMEOUT")?,
            tool_duration_ms: fields.count("tool_duration_ms")?,
            token_count_input: fields.count("token_count_input")?,
            token_count_output: fields.count("token_count_output")?,
            model_id: fields.text("model_id")?,
            provider_id: fields.text("provider_id")?,
            created_at: fields.time("created_at")?.unwrap_or(created_at),
            cache_read: fields.count("cache_read")?,
            cache_write: fields.count("cache_write")?,
            thinking_signature: fields.text("thinking_signature")?,
            trace: fields.parsed("trace", "{prefix, reasoning_tokens, pieces}")?,
            attachments: fields
                .parsed("attachments", "a list of {mime, name, width, height, data}")?
                .unwrap_or_default(),
        })
    }

    /// The message the row stands for. A tool row without a call id gets an empty one, a result whose output
    /// is absent says what its content says.
    pub fn into_message(self) -> Message {
        let usage = self.usage();
        let call = self.tool_call_id.as_deref().unwrap_or_default().into();
        let name = self.tool_name.unwrap_or_default();
        let model = self.model_id.as_deref().map(Into::into);
        let body = match self.kind {
            RowType::User => Body::User { text: self.content, attachments: self.attachments },
            RowType::AiResponse => Body::Assistant {
                text: self.content,
                trace: self.trace.or_else(|| {
                    let text = self.thinking_content.clone().unwrap_or_default();
                    let signature = self.thinking_signature?;
                    Some(Trace {
                        pieces: vec![Piece::Thinking(Thinking::Signed { text, signature })],
                        ..Trace::default()
                    })
                }),
                thinking: self.thinking_content,
                model,
                usage,
            },
            RowType::ToolCall => Body::ToolCall {
                call,
                name,
                arguments: self.tool_input.unwrap_or_default(),
                signature: self.thinking_content.filter(|s| !s.is_empty()),
                model,
            },
            RowType::ToolResult => Body::ToolResult {
                call,
                name,
                output: self.tool_output.unwrap_or(self.content),
                status: self.tool_status.unwrap_or(ToolStatus::Success),
                attachments: self.attachments,
            },
            RowType::Error => Body::Error { text: self.content },
            RowType::System => Body::System { text: self.content },
        };
        Message { id: self.id.as_str().into(), created_at: self.created_at, body }
    }

    fn usage(&self) -> Option<Usage> {
        let counts = [self.token_count_input, self.token_count_output, self.cache_read, self.cache_write];
        counts.iter().any(Option::is_some).then(|| Usage {
            input: self.token_count_input.unwrap_or(0),
            cache_read: self.cache_read.unwrap_or(0),
            cache_write: self.cache_write.unwrap_or(0),
            output: self.token_count_output.unwrap_or(0),
            reasoning: 0,
        })
    }
}

pub(crate) fn fault(field: &'static str, wrong: impl Into<String>) -> FieldFault {
    FieldFault { field, wrong: wrong.into() }
}

/// Typed access to the fields of an object; absent and null are the same.
pub(crate) struct Fields<'a>(pub &'a Map<String, Value>);

impl Fields<'_> {
    fn get(&self, field: &'static str) -> Option<&Value> {
        self.0.get(field).filter(|v| !v.is_null())
    }

    pub fn text(&self, field: &'static str) -> Result<Option<String>, FieldFault> {
        match self.get(field) {
            None => Ok(None),
            Some(Value::String(s)) => Ok(Some(s.clone())),
            Some(other) => Err(mismatch(field, "a string", other)),
        }
    }

    /// Token counts and durations: at most what a 32-bit column holds, so that sums cannot overflow.
    pub fn count(&self, field: &'static str) -> Result<Option<u64>, FieldFault> {
        match self.get(field) {
            None => Ok(None),
            Some(v) => match v.as_u64().filter(|n| *n <= i32::MAX as u64) {
                Some(n) => Ok(Some(n)),
                None => Err(mismatch(field, "an integer from 0 to 2147483647", v)),
            },
        }
    }

    pub fn time(&self, field: &'static str) -> Result<Option<i64>, FieldFault> {
        match self.get(field) {
            None => Ok(None),
            Some(v) => v.as_i64().map(Some).ok_or_else(|| mismatch(field, "milliseconds as an integer", v)),
        }
    }

    fn parsed<T: serde::de::DeserializeOwned>(
        &self,
        field: &'static str,
        expected: &str,
    ) -> Result<Option<T>, FieldFault> {
        match self.get(field) {
            None => Ok(None),
            Some(v) => T::deserialize(v).map(Some).map_err(|_| mismatch(field, expected, v)),
        }
    }
}

fn mismatch(field: &'static str, expected: &str, found: &Value) -> FieldFault {
    fault(field, format!("expected {expected}, found {}", shown(&found.to_string())))
}

/// As much of a value as a fault quotes.
pub(crate) fn shown(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
