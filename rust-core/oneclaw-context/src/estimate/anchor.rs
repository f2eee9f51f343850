//! A provider's own count of an earlier request, usable as long as that request is a prefix of the next one.

use oneclaw_model::{ModelId, Request, RequestMessage};
use serde::{Deserialize, Serialize};

/// A reported prompt size and the fingerprint of exactly what it measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Of model, system text, tools and the first `messages` messages.
    fingerprint: u64,
    /// How many messages the request had.
    messages: usize,
    /// The prompt size reported.
    pub prompt: u64,
}

impl Anchor {
    /// Binds a reported prompt size to the request it was reported for.
    pub fn new(request: &Request, model: Option<&ModelId>, prompt: u64) -> Self {
        let messages = request.messages.len();
        Self { fingerprint: fingerprint(request, model, messages), messages, prompt }
    }

    /// How many of the request's messages the anchor has measured, if it has measured exactly those.
    pub fn covers(&self, request: &Request, model: Option<&ModelId>) -> Option<usize> {
        (self.prompt > 0
            && (1..=request.messages.len()).contains(&self.messages)
            && fingerprint(request, model, self.messages) == self.fingerprint)
            .then_some(self.messages)
    }
}

fn fingerprint(request: &Request, model: Option<&ModelId>, messages: usize) -> u64 {
    let mut hash = Hash::new();
    hash.text(model.map_or("", |m| m.as_str()));
    hash.text(request.system.as_deref().unwrap_or_default());
    hash.number(request.tools.len() as u64);
    for tool in &request.tools {
        hash.text(&tool.name);
        hash.text(&tool.description);
        hash.text(&tool.parameters.to_string());
    }
    for message in request.messages.iter().take(messages) {
        hash.text(message.role());
        hash.text(message.text());
        let attachments = match message {
            RequestMessage::User { attachments, .. } => attachments,
            RequestMessage::ToolResult { call, name, failed, attachments, .. } => {
                hash.text(call.as_str());
                hash.text(name);
                hash.number(u64::from(*failed));
                attachments
            }
            RequestMessage::Assistant { thinking, calls, .. } => {
                hash.number(thinking.len() as u64);
                for block in thinking {
                    hash.text(&block.text);
                    hash.text(block.signature.as_deref().unwrap_or_default());
                }
                for call in calls {
                    hash.text(call.id.as_str());
                    hash.text(&call.name);
                    hash.text(&call.arguments);
                    hash.text(call.signature.as_deref().unwrap_or_default());
                }
                continue;
            }
        };
        hash.number(attachments.len() as u64);
        for attachment in attachments {
            hash.text(&attachment.mime);
            hash.text(&attachment.name);
            hash.number(u64::from(attachment.width.unwrap_or(0)));
            hash.number(u64::from(attachment.height.unwrap_or(0)));
            hash.text(attachment.data.as_deref().unwrap_or_default());
        }
    }
    hash.0
}

/// A hash that stays the same between releases, as anchors are kept in files; eight bytes at a time.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0x6f6e_6563_6c61_7731)
    }

    fn number(&mut self, n: u64) {
        let mixed = u128::from(self.0 ^ n) * 0x9e37_79b9_7f4a_7c15_u128;
        self.0 = (mixed as u64) ^ ((mixed >> 64) as u64).rotate_left(23) ^ 0x5851_f42d_4c95_7f2d;
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> RequestMessage {
        RequestMessage::User { text: text.into(), attachments: vec![] }
    }

    fn request(system: &str, messages: &[&str]) -> Request {
        let messages = messages.iter().map(|m| user(m)).collect();
        Request { system: Some(system.into()), messages, ..Default::default() }
    }

    #[test]
    fn holds_for_what_it_measured_and_what_follows_only() {
        let model = Some(ModelId::from("m"));
        let anchor = Anchor::new(&request("s", &["a", "b"]), model.as_ref(), 100);
        let covers = |r: &Request| anchor.covers(r, model.as_ref());
        assert_eq!(covers(&request("s", &["a", "b"])), Some(2));
        assert_eq!(covers(&request("s", &["a", "b", "c"])), Some(2));
        assert_eq!(covers(&request("s", &["a"])), None);
        assert_eq!(covers(&request("s", &["a", "x", "c"])), None);
        assert_eq!(covers(&request("s", &["ab", "", "c"])), None);
        assert_eq!(covers(&request("t", &["a", "b"])), None);
        assert_eq!(anchor.covers(&request("s", &["a", "b"]), Some(&"other".into())), None);
    }

    #[test]
    fn fingerprints_do_not_change_between_releases() {
        let anchor = Anchor::new(&request("system", &["hello there, world"]), None, 1);
        assert_eq!(anchor.fingerprint, 3_838_478_043_862_985_588);
    }
}
