//! Signatures of reasoning, and what they bind it to.
//!
//! A signature of a model of the catalogue carries: the model, a digest of everything before the block (`system`, `tools` and
//! the earlier blocks but for reasoning, each with its role), a digest of the signature of the reasoning before it, which
//! block of which reply it is, and a digest of its text. So it can be checked without keeping anything. Marks for the cache,
//! fields that are null and the borders between messages of one role are not compared.

use super::super::Rejection;
use super::super::json::{get, items, sorted, text};
use crate::ask::Binding;
use crate::subject::{Seal, Subject};
use crate::window::digest;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::ops::Range;

/// Marks a signature of a model of the catalogue.
const MARK: &str = "ZGVtbzEz";
/// The header with which a request may have blocks dropped.
const BETA: &str = "thinking-binding-controls-2026-08-01";

/// What a signature says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Signature {
    model: u64,
    prefix: u64,
    previous: u64,
    reply: u64,
    /// Its place among the reasoning of its reply.
    at: u64,
    /// The number of blocks of reasoning in its reply.
    of: u64,
    text: u64,
}

impl Signature {
    fn write(self, seal: Seal) -> String {
        let Self { model, prefix, previous, reply, at, of, text } = self;
        format!("{MARK}{}", seal.close(&[model, prefix, previous, reply, at, of, text]))
    }

    fn read(seal: Seal, signature: &str) -> Option<Self> {
        let [model, prefix, previous, reply, at, of, text] = seal.open(signature.strip_prefix(MARK)?)?;
        Some(Self { model, prefix, previous, reply, at, of, text })
    }
}

/// Signs the reasoning of one reply, block after block.
pub(super) struct Signer {
    seal: Seal,
    binding: Binding,
    reply: u64,
    at: u64,
    of: u64,
}

impl Signer {
    pub fn new(seal: Seal, binding: Binding, reply: &str, of: usize) -> Self {
        Self { seal, binding, reply: digest(reply), at: 0, of: of as u64 }
    }

    /// The signature of the next block of reasoning.
    pub fn sign(&mut self, shown: &str) -> String {
        let Binding { model, prefix, previous } = self.binding;
        let text = digest(shown);
        let signature =
            Signature { model, prefix, previous, reply: self.reply, at: self.at, of: self.of, text };
        let signature = signature.write(self.seal);
        self.at += 1;
        self.binding.previous = digest(&signature);
        signature
    }

    /// Another block of the reply stands before what comes next.
    pub fn pass(&mut self, block: &Value) {
        self.binding.prefix = advance(self.binding.prefix, "assistant", block);
    }
}

/// What came of checking the reasoning in a request.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub binding: Binding,
    /// Where the blocks stand that do not reach the model, as `messages.1.content.0`.
    pub dropped: HashSet<String>,
    /// The same for the reply, where the request may know.
    pub transformations: Vec<Value>,
}

/// A block of reasoning in a request.
struct Found<'a> {
    place: String,
    shown: &'a str,
    signature: &'a str,
    is_latest: bool,
}

/// Checks all reasoning in a request to a model of the catalogue.
pub(super) fn check(body: &Value, subject: &Subject<'_>) -> Result<Checked, Rejection> {
    let model = digest(("model", &subject.model.id));
    let is_bound = subject.reasoning().is_some_and(|reasoning| reasoning.is_bound);
    let drops = drops(body, subject)?;
    let mut checked =
        Checked { binding: Binding { model, prefix: beginning(body), previous: 0 }, ..Checked::default() };
    let messages = items(body, "messages");
    let latest = latest(messages);
    let mut is_broken = false;
    let mut newest: Vec<Signature> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role").unwrap_or_default();
        for (n, block) in blocks(message.get("content")).iter().enumerate() {
            let Some((shown, signature)) = reasoning(block) else {
                checked.binding.prefix = advance(checked.binding.prefix, role, block);
                continue;
            };
            let place = format!("messages.{at}.content.{n}");
            let found = Found { place, shown, signature, is_latest: latest.contains(&at) };
            let signature = verified(&found, subject)?;
            let Some(signature) = signature.filter(|signature| signature.model == model) else {
                checked.drop(found.place, "model_binding_mismatch", subject);
                continue;
            };
            let Binding { prefix, previous, .. } = checked.binding;
            let is_elsewhere =
                signature.prefix != prefix || (previous != 0 && signature.previous != previous);
            if is_bound && (is_broken || is_elsewhere) {
                if !drops {
                    return Err(bound_elsewhere(&found.place));
                }
                is_broken = true;
                checked.drop(found.place, "prefix_binding_mismatch", subject);
                continue;
            }
            checked.binding.previous = digest(found.signature);
            if found.is_latest {
                newest.push(signature);
            }
        }
    }
    if !is_broken {
        check_latest(latest.start, &newest)?;
    }
    Ok(checked)
}

/// Where the latest message of the assistant stands: neighbours of one role are one message.
fn latest(messages: &[Value]) -> Range<usize> {
    let is_said = |message: &Value| text(message, "role") == Some("assistant");
    let end = messages.iter().rposition(is_said).map_or(0, |at| at + 1);
    let before = messages.iter().take(end);
    let length = before.rev().take_while(|message| is_said(message)).count();
    end - length..end
}

impl Checked {
    fn drop(&mut self, place: String, reason: &str, subject: &Subject<'_>) {
        if subject.has_beta(BETA) {
            self.transformations.push(json!({"type": "thinking_dropped", "path": place, "reason": reason}));
        }
        self.dropped.insert(place);
    }
}

/// Whether blocks that are bound to another conversation are to be dropped.
fn drops(body: &Value, subject: &Subject<'_>) -> Result<bool, Rejection> {
    let Some(thinking) = get(body, "thinking") else { return Ok(false) };
    let Some(binding) = get(thinking, "block_binding") else { return Ok(false) };
    let kind = text(thinking, "type").unwrap_or_default();
    if !subject.has_beta(BETA) || kind == "disabled" {
        return Err(Rejection::bad(format!("thinking.{kind}.block_binding: Extra inputs are not permitted")));
    }
    match get(binding, "prefix_mismatch_behavior").map(Value::as_str) {
        None | Some(Some("error")) => Ok(false),
        Some(Some("drop_block")) => Ok(true),
        Some(_) => Err(Rejection::bad(format!(
            "thinking.{kind}.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'"
        ))),
    }
}

/// The text and the signature of a block of reasoning; of a redacted one its data.
fn reasoning(block: &Value) -> Option<(&str, &str)> {
    match text(block, "type") {
        Some("thinking") => Some((text(block, "thinking")?, text(block, "signature")?)),
        Some("redacted_thinking") => Some(("", text(block, "data")?)),
        _ => None,
    }
}

/// The signature of a block that was not changed; `None` for one of a model that is not in the catalogue.
fn verified(found: &Found<'_>, subject: &Subject<'_>) -> Result<Option<Signature>, Rejection> {
    if found.signature == super::super::signature(found.shown) {
        return Ok(None);
    }
    let place = &found.place;
    match Signature::read(subject.seal, found.signature) {
        Some(signature) if signature.text == digest(found.shown) => Ok(Some(signature)),
        Some(_) if found.is_latest => Err(modified(place)),
        _ => Err(Rejection::bad(format!("{place}: Invalid `signature` in `thinking` block"))),
    }
}

/// Whether a signature is of a model of the catalogue and holds for that text; other models do not see such reasoning.
pub(super) fn is_foreign(seal: Seal, shown: &str, signature: &str) -> bool {
    Signature::read(seal, signature).is_some_and(|signature| signature.text == digest(shown))
}

/// In the latest message of the assistant all blocks of a reply are there, in their order.
fn check_latest(at: usize, signatures: &[Signature]) -> Result<(), Rejection> {
    let mut rest = signatures;
    while let Some(first) = rest.first() {
        let count = usize::try_from(first.of).unwrap_or(usize::MAX);
        let (reply, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        let is_whole = reply.len() == count
            && reply
                .iter()
                .zip(0..)
                .all(|(signature, n)| signature.reply == first.reply && signature.at == n);
        if !is_whole {
            return Err(modified(&format!("messages.{at}")));
        }
        rest = after;
    }
    Ok(())
}

fn modified(place: &str) -> Rejection {
    Rejection::bad(format!(
        "{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks \
         must remain as they were in the original response."
    ))
}

fn bound_elsewhere(place: &str) -> Rejection {
    Rejection::bad(format!(
        "{place}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the \
         block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"."
    ))
}

/// A digest of what comes before all messages.
fn beginning(body: &Value) -> u64 {
    let system: Vec<String> = blocks(body.get("system")).iter().map(canonical).collect();
    let tools: Vec<String> = items(body, "tools").iter().map(canonical).collect();
    digest((system, tools))
}

/// The digest of a beginning and one more block of that role.
fn advance(prefix: u64, role: &str, block: &Value) -> u64 {
    digest((prefix, role, canonical(block)))
}

/// Content as blocks; a text is one block of text, an empty one none.
fn blocks(content: Option<&Value>) -> Vec<Value> {
    match content {
        Some(Value::String(text)) if text.is_empty() => vec![],
        Some(Value::String(text)) => vec![json!({"type": "text", "text": text})],
        Some(Value::Array(blocks)) => blocks.clone(),
        _ => vec![],
    }
}

/// A block in one form, however it was written.
fn canonical(block: &Value) -> String {
    let Some(object) = block.as_object() else { return sorted(block) };
    let mut kept = Map::new();
    for (key, value) in object {
        let is_default = key == "is_error" && *value == Value::Bool(false);
        if value.is_null() || key == "cache_control" || is_default {
            continue;
        }
        let value = match (text(block, "type"), key.as_str()) {
            (Some("tool_result"), "content") => blocks(Some(value)).iter().map(canonical).collect(),
            _ => value.clone(),
        };
        kept.insert(key.clone(), value);
    }
    sorted(&Value::Object(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_does_not_depend_on_how_it_was_written() {
        let one =
            json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}, "citations": null});
        let two = json!({"text": "a", "type": "text"});
        assert_eq!(canonical(&one), canonical(&two));
        let one = json!({"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": false});
        let two =
            json!({"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "x"}]});
        assert_eq!(canonical(&one), canonical(&two));
        let three = json!({"type": "tool_result", "tool_use_id": "1", "content": "y"});
        assert_ne!(canonical(&two), canonical(&three));
    }

    #[test]
    fn signatures_say_what_they_were_made_of() {
        let binding = Binding { model: 1, prefix: 2, previous: 3 };
        let mut signer = Signer::new(Seal::new(0), binding, "r", 2);
        let first = signer.sign("a");
        signer.pass(&json!({"type": "text", "text": "b"}));
        let second = signer.sign("");
        let read = |text: &str| Signature::read(Seal::new(0), text).unwrap();
        assert_eq!((read(&first).prefix, read(&first).previous, read(&first).at), (2, 3, 0));
        assert_eq!((read(&second).previous, read(&second).at, read(&second).of), (digest(&first), 1, 2));
        assert_ne!(read(&second).prefix, 2);
        assert_eq!(Signature::read(Seal::new(1), &first), None);
        // Base64 that a client may decode and encode again.
        assert!(first.len().is_multiple_of(4) && first.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
}
