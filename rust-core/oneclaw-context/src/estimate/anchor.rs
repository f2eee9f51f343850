//! A provider's own count of an earlier request, usable as long as that request is a prefix of the next one.

use crate::fingerprint::Fingerprint;
use oneclaw_model::{ModelId, Request};
use serde::{Deserialize, Serialize};

/// A reported prompt size and the fingerprint of exactly what it measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anchor {
    /// Of model, system text, tools and the first `messages` messages.
    fingerprint: u64,
    /// Of model, system text and tools alone; 0 where an earlier version did not keep it.
    #[serde(default)]
    fixed: u64,
    /// How many messages the request had.
    messages: usize,
    /// The prompt size reported.
    pub prompt: u64,
}

impl Anchor {
    /// Binds a reported prompt size to the request it was reported for.
    pub fn new(request: &Request, model: Option<&ModelId>, prompt: u64) -> Self {
        let messages = request.messages.len();
        let fixed = Fingerprint::begin(request, model).value();
        Self { fingerprint: fingerprint(request, model, messages), fixed, messages, prompt }
    }

    /// Whether the request has another system text, other tools or another model than the one that was measured.
    pub fn has_other_fixed_parts(&self, request: &Request, model: Option<&ModelId>) -> bool {
        self.fixed != 0 && self.fixed != Fingerprint::begin(request, model).value()
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
    let mut fingerprint = Fingerprint::begin(request, model);
    request.messages.iter().take(messages).for_each(|message| fingerprint.message_with_trace(message));
    fingerprint.value()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneclaw_model::RequestMessage;

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
        let has_other = |r: &Request| anchor.has_other_fixed_parts(r, model.as_ref());
        assert!(!has_other(&request("s", &["x"])) && has_other(&request("t", &["a", "b"])));
    }

    #[test]
    fn fingerprints_do_not_change_between_releases() {
        let anchor = Anchor::new(&request("system", &["hello there, world"]), None, 1);
        assert_eq!(anchor.fingerprint, 3_838_478_043_862_985_588);
    }
}
