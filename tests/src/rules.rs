//! The rules that hold for every request, as checks on one.

use oneclaw_context::Conversation;
use oneclaw_context::assemble::NO_RESULT;
use oneclaw_model::{Body, Request, RequestMessage};
use std::collections::HashSet;

/// Rules 1 and 7: calls and results pair up in order, ids are unique, the user starts, no role repeats.
pub fn check_shape(request: &Request) -> Result<(), String> {
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    let mut last = "";
    for (index, message) in request.messages.iter().enumerate() {
        let role = message.role();
        if index == 0 && role != "user" {
            return Err(format!("starts with {role}"));
        }
        if role != "tool" && role == last {
            return Err(format!("{role} twice at {index}"));
        }
        match message {
            RequestMessage::ToolResult { call, .. } => {
                if open.is_empty() || open.remove(0) != call.as_str() {
                    return Err(format!("result {call} without its call at {index}"));
                }
            }
            _ if !open.is_empty() => return Err(format!("calls {open:?} unanswered at {index}")),
            RequestMessage::Assistant { text, calls, .. } => {
                if text.is_empty() && calls.is_empty() {
                    return Err(format!("empty assistant message at {index}"));
                }
                for call in calls {
                    if !seen.insert(call.id.clone()) {
                        return Err(format!("call id {} twice", call.id));
                    }
                    open.push(call.id.0.clone());
                }
            }
            RequestMessage::User { .. } => {}
        }
        last = role;
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls {open:?} unanswered at the end")) }
}

/// Rule 2: the newest user message stands in the request, word for word.
pub fn check_newest_user(conversation: &Conversation, request: &Request) -> Result<(), String> {
    let rows = conversation.carried.iter().chain(&conversation.rows).rev();
    let newest = rows.into_iter().find_map(|row| match &row.message.body {
        Body::User { text, attachments } => Some((text, attachments)),
        _ => None,
    });
    let Some((text, attachments)) = newest else { return Ok(()) };
    let is_there = request.messages.iter().any(|m| {
        matches!(m, RequestMessage::User { text: t, attachments: a } if t.contains(text.as_str())
            && attachments.iter().all(|x| if x.is_image() { a.contains(x) } else { t.contains(&x.label()) }))
    });
    if is_there { Ok(()) } else { Err(format!("the newest user message is missing: {text:?}")) }
}

/// A request as a flat list of what the provider reads, reasoning and lengths aside; for comparing prefixes.
pub fn items(request: &Request) -> Vec<String> {
    let mut items = vec![format!("system {:?}", request.system)];
    items.extend(request.tools.iter().map(|t| format!("tool {} {} {}", t.name, t.description, t.parameters)));
    for message in &request.messages {
        match message {
            RequestMessage::User { text, attachments } => {
                items.push(format!("user {text}"));
                items.extend(attachments.iter().map(|a| format!("picture {a:?}")));
            }
            RequestMessage::Assistant { text, calls, .. } => {
                items.push(format!("assistant {text}"));
                items.extend(calls.iter().map(|c| format!("call {} {} {}", c.id, c.name, c.arguments)));
            }
            RequestMessage::ToolResult { call, text, .. } => items.push(format!("result {call} {text}")),
        }
    }
    items
}

/// Whether a request has a stand-in for a result that may still come.
pub fn has_open_call(request: &Request) -> bool {
    request.messages.iter().any(|m| matches!(m, RequestMessage::ToolResult { text, .. } if text == NO_RESULT))
}
