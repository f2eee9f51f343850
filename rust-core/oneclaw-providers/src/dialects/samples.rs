//! Messages for the tests of all dialects, and what a caller makes of a reply.

use crate::StreamEvent;
use oneclaw_model::{Attachment, Call, Piece, RequestMessage};

pub(crate) fn user(text: &str) -> RequestMessage {
    RequestMessage::User { text: text.to_owned(), attachments: vec![] }
}

pub(crate) fn assistant(text: &str, calls: Vec<Call>, trace: Vec<Piece>) -> RequestMessage {
    RequestMessage::Assistant { text: text.to_owned(), calls, trace }
}

/// A call of the tool `t`.
pub(crate) fn call(id: &str) -> Call {
    Call { id: id.into(), name: "t".to_owned(), arguments: "{}".to_owned(), signature: None }
}

/// What the tool `t` answers.
pub(crate) fn result(id: &str, failed: bool, attachments: Vec<Attachment>) -> RequestMessage {
    RequestMessage::ToolResult { call: id.into(), name: "t".into(), text: "ok".into(), failed, attachments }
}

pub(crate) fn picture(mime: &str) -> Attachment {
    let data = Some("iVBORw0KGgo=".to_owned());
    Attachment { mime: mime.to_owned(), name: "a".into(), width: None, height: None, data }
}

/// The message that a caller makes of the events of a reply.
pub(crate) fn kept(events: Vec<StreamEvent>) -> RequestMessage {
    let (mut whole, mut calls, mut trace) = (String::new(), Vec::<Call>::new(), Vec::new());
    for event in events {
        match event {
            StreamEvent::Text(text) => {
                whole.push_str(&text);
                match trace.last_mut() {
                    Some(Piece::Text { bytes, signature: None }) => *bytes += text.len(),
                    _ => trace.push(Piece::Text { bytes: text.len(), signature: None }),
                }
            }
            StreamEvent::TextSignature(sent) => match trace.last_mut() {
                Some(Piece::Text { signature: signature @ None, .. }) => *signature = Some(sent),
                _ => trace.push(Piece::Text { bytes: 0, signature: Some(sent) }),
            },
            StreamEvent::Thought(thinking) => trace.push(Piece::Thinking(thinking)),
            StreamEvent::CallStarted { id, .. } => {
                calls.push(Call { arguments: String::new(), ..call(id.as_str()) });
                trace.push(Piece::Call);
            }
            StreamEvent::CallArguments { delta, .. } => {
                calls.last_mut().unwrap().arguments.push_str(&delta);
            }
            StreamEvent::CallCompleted { signature, .. } => calls.last_mut().unwrap().signature = signature,
            StreamEvent::Thinking(_) | StreamEvent::Usage(_) | StreamEvent::Stopped(_) => {}
        }
    }
    assistant(&whole, calls, trace)
}
