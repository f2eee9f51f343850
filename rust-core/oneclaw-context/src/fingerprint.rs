//! Names a beginning of a request by its content: the same for the same model, system text, tools and messages, another for
//! everything else. Kept in files, so it stays the same between releases.

use oneclaw_model::{ModelId, Piece, Request, RequestMessage};

/// The fingerprint of a request's beginning, message by message.
#[derive(Debug, Clone, Copy)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Model, system text and tools.
    pub fn begin(request: &Request, model: Option<&ModelId>) -> Self {
        let mut hash = Self(0x6f6e_6563_6c61_7731);
        hash.text(model.map_or("", |m| m.as_str()));
        hash.text(request.system.as_deref().unwrap_or_default());
        hash.number(request.tools.len() as u64);
        for tool in &request.tools {
            hash.text(&tool.name);
            hash.text(&tool.description);
            hash.text(&tool.parameters.to_string());
        }
        hash
    }

    /// A whole request, reasoning aside: what the reply to it stands on.
    pub fn of(request: &Request, model: Option<&ModelId>) -> u64 {
        let mut fingerprint = Self::begin(request, model);
        request.messages.iter().for_each(|message| fingerprint.message(message));
        fingerprint.value()
    }

    /// So far.
    pub fn value(self) -> u64 {
        self.0
    }

    /// Adds the next message, with the reasoning that goes back in it.
    pub fn message_with_trace(&mut self, message: &RequestMessage) {
        self.message(message);
        let RequestMessage::Assistant { trace, calls, .. } = message else { return };
        calls.iter().filter_map(|call| call.signature.as_deref()).for_each(|signature| self.text(signature));
        for piece in trace {
            match piece {
                Piece::Thinking(thinking) => thinking.texts().iter().for_each(|text| self.text(text)),
                Piece::Text { signature: Some(signature), .. } => self.text(signature),
                Piece::Text { .. } | Piece::Call => {}
            }
        }
    }

    /// Adds the next message, reasoning aside.
    pub fn message(&mut self, message: &RequestMessage) {
        self.text(message.role());
        self.text(message.text());
        let attachments = match message {
            RequestMessage::User { attachments, .. } => attachments,
            RequestMessage::ToolResult { call, name, failed, attachments, .. } => {
                self.text(call.as_str());
                self.text(name);
                self.number(u64::from(*failed));
                attachments
            }
            RequestMessage::Assistant { calls, .. } => {
                for call in calls {
                    self.text(call.id.as_str());
                    self.text(&call.name);
                    self.text(&call.arguments);
                }
                return;
            }
        };
        self.number(attachments.len() as u64);
        for attachment in attachments {
            self.text(&attachment.mime);
            self.text(&attachment.name);
            self.number(u64::from(attachment.width.unwrap_or(0)));
            self.number(u64::from(attachment.height.unwrap_or(0)));
            self.text(attachment.data.as_deref().unwrap_or_default());
        }
    }

    fn number(&mut self, n: u64) {
        let mixed = u128::from(self.0 ^ n) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (mixed as u64) ^ ((mixed >> 64) as u64).rotate_left(23) ^ 0x5851_f42d_4c95_7f2d;
    }

    /// Eight bytes at a time.
    fn text(&mut self, text: &str) {
        let (words, rest) = text.as_bytes().as_chunks::<8>();
        for word in words {
            self.number(u64::from_le_bytes(*word));
        }
        let last = rest.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        self.number(last);
        self.number(text.len() as u64);
    }
}
