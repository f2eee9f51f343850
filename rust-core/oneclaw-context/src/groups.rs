//! Which rows may not be torn apart, and which call a result answers.
//!
//! Rows of one parallel batch come as `AI_RESPONSE, TOOL_CALL, TOOL_RESULT, TOOL_CALL, TOOL_RESULT …`. Everything
//! up to the next reply or user message is one exchange: an assistant message with all calls, then all results.

use crate::estimate::MeasuredRow;
use oneclaw_model::{Body, CallId};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// What a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A user message.
    User,
    /// A reply with the tool batch it started, if any.
    Exchange,
    /// Rows that are never sent: errors, notes, results of calls nobody made.
    Silent,
}

/// Neighbouring rows that stay together; groups cover all rows, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What it is.
    pub kind: Kind,
    /// Its rows.
    pub rows: Range<usize>,
}

/// The groups of a conversation.
pub fn groups(rows: &[MeasuredRow]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let current = groups.last().map(|g| g.kind);
        let starts = match &row.message.body {
            Body::User { .. } => Some(Kind::User),
            Body::Assistant { .. } => Some(Kind::Exchange),
            Body::ToolCall { .. } if current != Some(Kind::Exchange) => Some(Kind::Exchange),
            _ if current.is_none() => Some(Kind::Silent),
            _ => None,
        };
        match (starts, groups.last_mut()) {
            (None, Some(group)) => group.rows.end = index + 1,
            (kind, _) => groups.push(Group { kind: kind.unwrap_or(Kind::Silent), rows: index..index + 1 }),
        }
    }
    groups
}

/// The calls of an exchange in order, each with the row that answers it.
pub fn calls<'a>(rows: &'a [MeasuredRow]) -> Vec<(&'a MeasuredRow, Option<&'a MeasuredRow>)> {
    let mut calls: Vec<(&MeasuredRow, Option<&MeasuredRow>)> = Vec::new();
    let mut open: HashMap<&'a CallId, VecDeque<usize>> = HashMap::new();
    for row in rows {
        if let Body::ToolCall { call, .. } = &row.message.body {
            open.entry(call).or_default().push_back(calls.len());
            calls.push((row, None));
        }
    }
    for row in rows {
        if let Body::ToolResult { call, .. } = &row.message.body
            && let Some(index) = open.get_mut(call).and_then(VecDeque::pop_front)
            && let Some(slot) = calls.get_mut(index)
        {
            slot.1 = Some(row);
        }
    }
    calls
}

/// The place of the newest user message.
pub fn newest_user(rows: &[MeasuredRow]) -> Option<usize> {
    rows.iter().rposition(|row| matches!(row.message.body, Body::User { .. }))
}
