//! Replies of which more can be asked for, by the same request with a token.

use crate::protocol::json::sorted;
use crate::subject::Seal;
use crate::window::digest;
use oneclaw_model::Dialect;
use serde_json::{Map, Value};
use std::collections::VecDeque;

/// As many are kept; the oldest give way.
const MOST: usize = 64;

/// A reply of which more can be asked for.
struct Unfinished {
    token: String,
    /// The number of the request it answers.
    request: u64,
    rest: String,
}

/// The replies of which more can be asked for.
#[derive(Default)]
pub(crate) struct Pending(VecDeque<Unfinished>);

impl Pending {
    /// Keeps the rest of a reply: the token by which it is asked for.
    pub fn keep(&mut self, seal: Seal, request: u64, reply: u64, rest: String) -> String {
        let token = format!("Y29u{}", seal.close(&[request, reply]));
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back(Unfinished { token: token.clone(), request, rest });
        token
    }

    /// The rest of the reply to that request. It stays: the caller may have to ask again.
    pub fn rest(&self, token: &str, request: u64) -> Option<&str> {
        let mut all = self.0.iter();
        all.find(|one| one.token == token && one.request == request).map(|one| one.rest.as_str())
    }
}

/// A number for a request, the same for the one that continues it; only Gemini's can be continued.
pub(crate) fn number_of(dialect: Dialect, body: &[u8]) -> u64 {
    if dialect != Dialect::GenerateContent {
        return 0;
    }
    let mut value: Value = serde_json::from_slice(body).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.remove("continuationToken");
        object.remove("continuation_token");
        // Clients may add an empty configuration when they continue.
        object.retain(|_, field| !field.as_object().is_some_and(Map::is_empty));
    }
    digest(sorted(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_give_way() {
        let mut pending = Pending::default();
        let tokens: Vec<String> =
            (0..=MOST as u64).map(|n| pending.keep(Seal::new(0), 1, n, n.to_string())).collect();
        assert_eq!(pending.rest(&tokens[0], 1), None);
        assert_eq!(pending.rest(&tokens[1], 1), Some("1"));
        assert_eq!(pending.rest(&tokens[1], 2), None);
    }

    #[test]
    fn a_request_and_the_one_that_continues_it_are_the_same() {
        let number = |body: &str| number_of(Dialect::GenerateContent, body.as_bytes());
        let first = number(r#"{"contents": [1], "tools": [2]}"#);
        let next = r#"{"continuationToken": "x", "tools": [2], "generationConfig": {}, "contents": [1]}"#;
        assert_eq!(first, number(next));
        assert_ne!(first, number(r#"{"contents": [2], "tools": [2]}"#));
    }
}
