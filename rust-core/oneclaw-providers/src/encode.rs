//! From the neutral request to the body a service wants. Pure: same input, same bytes.
//!
//! Decides what is the same in all dialects: tools turned into text where none may be declared, call ids and tool
//! names that the service would refuse, arguments that are no JSON object. The dialects themselves are in `dialects`.

use crate::{Endpoint, Profile, dialects};
use oneclaw_catalogue::{Ability, Facts};
use oneclaw_model::{Attachment, Call, Dialect, Request, RequestMessage};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// What the reply is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A turn of the conversation: tools, reasoning, cache marks.
    Chat,
    /// One text such as a summary or a title: no tools, no reasoning where it can be turned off, no cache marks.
    Complete,
}

/// A request in a service's dialect.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The path below the base address.
    pub path: String,
    /// What follows the question mark, name and value.
    pub query: Option<(&'static str, &'static str)>,
    /// The body.
    pub body: Value,
}

/// Output room for hidden reasoning that is added in [`Mode::Complete`] for models whose reasoning counts against
/// the output limit and cannot be turned off: a limit made for the text alone would be used up before the first word.
pub const REASONING_ROOM: u64 = 4_096;

/// The request as that service wants it.
pub fn encode(endpoint: &Endpoint, profile: &Profile, request: &Request, mode: Mode) -> Encoded {
    let dialect = profile.dialect(endpoint);
    dialects::encode(dialect, endpoint, profile, &prepared(dialect, profile, request, mode), mode)
}

/// The request with what it says in a dialect to that model: with its tools, or without.
pub(crate) fn prepared<'a>(
    dialect: Dialect,
    profile: &Profile,
    request: &'a Request,
    mode: Mode,
) -> Cow<'a, Request> {
    // Anthropic refuses past calls where no tool is offered now, as after a change of agents.
    let is_refused = dialect == Dialect::Messages && request.tools.is_empty() && has_calls(request);
    let is_toolless = is_refused || !calls_tools(profile);
    match mode {
        Mode::Chat if !is_toolless => Cow::Borrowed(request),
        Mode::Chat | Mode::Complete => Cow::Owned(without_tools(request)),
    }
}

/// A body with those of its fields for which that holds, in their order.
pub(crate) fn with_fields(body: Value, keeps: impl Fn(&str) -> bool) -> Value {
    match body {
        Value::Object(fields) => Value::Object(fields.into_iter().filter(|(name, _)| keeps(name)).collect()),
        other => other,
    }
}

/// The model's own name, without the folder that aggregators put before it, in lower case.
pub(crate) fn bare_name(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase()
}

fn has_calls(request: &Request) -> bool {
    let has = |message: &RequestMessage| match message {
        RequestMessage::User { .. } => false,
        RequestMessage::Assistant { calls, .. } => !calls.is_empty(),
        RequestMessage::ToolResult { .. } => true,
    };
    request.messages.iter().any(has)
}

/// The request without tools: services want tools declared where calls appear, so calls and results become text.
fn without_tools(request: &Request) -> Request {
    let mut messages: Vec<RequestMessage> = Vec::new();
    for message in &request.messages {
        match message {
            RequestMessage::User { text, attachments } => {
                push_user(&mut messages, text.clone(), attachments.clone());
            }
            RequestMessage::Assistant { text, calls, .. } => {
                let mut text = text.clone();
                for Call { name, arguments, .. } in calls {
                    join(&mut text, &format!("[Called the tool {name} with {arguments}]"));
                }
                push_assistant(&mut messages, text);
            }
            RequestMessage::ToolResult { name, text, failed, attachments, .. } => {
                let verb = if *failed { "failed" } else { "answered" };
                let text = format!("[The tool {name} {verb}]\n{text}");
                push_user(&mut messages, text, attachments.clone());
            }
        }
    }
    Request { system: request.system.clone(), tools: vec![], messages, max_output: request.max_output }
}

fn push_user(messages: &mut Vec<RequestMessage>, more: String, files: Vec<Attachment>) {
    match messages.last_mut() {
        Some(RequestMessage::User { text, attachments }) => {
            join(text, &more);
            attachments.extend(files);
        }
        _ => messages.push(RequestMessage::User { text: more, attachments: files }),
    }
}

fn push_assistant(messages: &mut Vec<RequestMessage>, more: String) {
    match messages.last_mut() {
        Some(RequestMessage::Assistant { text, .. }) => join(text, &more),
        _ => messages.push(RequestMessage::Assistant { text: more, calls: vec![], trace: vec![] }),
    }
}

/// Adds a paragraph.
pub(crate) fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(more);
}

/// The text with the labels of those attachments that cannot go along as pictures.
pub(crate) fn labelled<'a>(text: &str, labelled: impl Iterator<Item = &'a Attachment>) -> String {
    let mut text = text.to_owned();
    for file in labelled {
        join(&mut text, &file.label());
    }
    text
}

/// Whether the model calls tools; one of which nothing is known is taken to, and one that the catalogue says nothing of.
fn calls_tools(profile: &Profile) -> bool {
    let may = |facts: &Facts| facts.abilities.is_empty() || facts.can(Ability::Tools);
    !profile.learnt.no_tools && profile.facts.as_ref().is_none_or(may)
}

/// The bytes of a picture, in base64, if it is of one of those types and its bytes are known.
pub(crate) fn picture<'a>(file: &'a Attachment, types: &[&str]) -> Option<&'a str> {
    let data = file.data.as_deref().filter(|data| !data.is_empty())?;
    types.contains(&file.mime.as_str()).then_some(data)
}

/// Stands for a message without a word or picture, which services refuse.
pub(crate) const BLANK: &str = "(empty message)";

/// Pictures that OpenAI's models see.
pub(crate) const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// A picture as an address that holds its bytes, as OpenAI's dialects want it.
pub(crate) fn picture_url(file: &Attachment) -> Option<String> {
    let data = picture(file, &PICTURES)?;
    Some(format!("data:{};base64,{data}", file.mime))
}

/// A call's arguments as JSON text: as the model wrote them, if they are an object. Several servers parse the text and
/// fail on anything else.
pub(crate) fn arguments_text(text: &str) -> String {
    match serde_json::from_str::<Map<String, Value>>(text) {
        Ok(_) => text.to_owned(),
        Err(_) => Value::Object(arguments(text)).to_string(),
    }
}

/// A call's arguments as an object. Text that is none stands in one, so that the model still sees what it wrote.
pub(crate) fn arguments(text: &str) -> Map<String, Value> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err(_) if text.trim().is_empty() => Map::new(),
        Ok(_) | Err(_) => Map::from_iter([("_raw".to_owned(), Value::from(text))]),
    }
}

/// A tool's name in a past call as all services take it. Models make names up, and the service that got such a name
/// once would refuse the conversation for good.
pub(crate) fn tool_name(name: &str) -> String {
    const MOST: usize = 64;
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().take(MOST).map(|c| if is_fine(c) { c } else { '_' }).collect();
    if name.is_empty() { "unknown_tool".to_owned() } else { name }
}

/// A tool's parameters as services want them at the top: an object that says which properties it has, and none of
/// the alternatives that are refused there.
pub(crate) fn parameters(schema: &Value) -> Value {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    for refused in ["oneOf", "anyOf", "allOf", "not", "enum"] {
        object.remove(refused);
    }
    object.insert("type".to_owned(), json!("object"));
    if !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    Value::Object(object)
}

/// Call ids as the service takes them. A conversation may come from another service with other rules, and from several
/// replies that each counted their calls from the start.
pub(crate) struct CallIds {
    /// The id to send for each id and the how manieth call it names.
    replaced: HashMap<(String, usize), String>,
    /// How many calls of each id were sent.
    sent: HashMap<String, usize>,
}

impl CallIds {
    /// The ids of a request; those that do not fit or name a second call are replaced, the same way in every request.
    pub fn of(request: &Request, fits: fn(&str) -> bool) -> Self {
        let calls = request.messages.iter().flat_map(|message| match message {
            RequestMessage::Assistant { calls, .. } => calls.as_slice(),
            RequestMessage::User { .. } | RequestMessage::ToolResult { .. } => &[],
        });
        // Results without a call keep their id as far as it fits.
        let answered = request.messages.iter().filter_map(|message| match message {
            RequestMessage::ToolResult { call, .. } => Some(call.as_str()),
            RequestMessage::User { .. } | RequestMessage::Assistant { .. } => None,
        });
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut odd: Vec<(&str, usize)> = Vec::new();
        for id in calls.map(|call| call.id.as_str()) {
            let number = seen.entry(id).or_default();
            *number += 1;
            if *number > 1 || !fits(id) {
                odd.push((id, *number));
            }
        }
        for id in answered {
            if !seen.contains_key(id) {
                seen.insert(id, 1);
                if !fits(id) {
                    odd.push((id, 1));
                }
            }
        }
        let mut used: HashSet<String> =
            seen.keys().filter(|id| fits(id)).map(|id| (*id).to_owned()).collect();
        let mut replaced = HashMap::new();
        for (id, number) in odd {
            let free = (0u64..).map(|n| made_up(id, n)).find(|new| !used.contains(new)).unwrap_or_default();
            used.insert(free.clone());
            replaced.insert((id.to_owned(), number), free);
        }
        Self { replaced, sent: HashMap::new() }
    }

    /// The id to send with the next call of that id.
    pub fn call(&mut self, id: &str) -> String {
        let number = self.sent.entry(id.to_owned()).or_default();
        *number += 1;
        self.result(id)
    }

    /// The id to send with a result: that of the newest call of that id.
    pub fn result(&self, id: &str) -> String {
        let number = self.sent.get(id).copied().unwrap_or(1);
        self.replaced.get(&(id.to_owned(), number)).map_or(id, String::as_str).to_owned()
    }
}

/// Nine letters and digits, which every service takes (Mistral no others), made of the id alone.
fn made_up(id: &str, attempt: u64) -> String {
    let mut hash = fingerprint(id.bytes().chain(attempt.to_le_bytes()));
    let mut out = String::new();
    for _ in 0..9 {
        out.push(char::from_digit((hash % 36) as u32, 36).unwrap_or('0'));
        hash /= 36;
    }
    out
}

/// FNV-1a: std's hasher may change between versions, and what is made of this may not.
pub(crate) fn fingerprint(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reasoning::samples;

    fn assistant(ids: &[&str]) -> RequestMessage {
        let call =
            |id: &&str| Call { id: (*id).into(), name: "t".into(), arguments: "{}".into(), signature: None };
        RequestMessage::Assistant {
            text: String::new(),
            calls: ids.iter().map(call).collect(),
            trace: vec![],
        }
    }

    #[test]
    fn ids_that_fit_stay_and_others_are_replaced_without_meeting_them() {
        let taken = made_up("a.b", 0);
        let messages = vec![assistant(&["a.b", "a_b", &taken])];
        let request = Request { messages, ..Request::default() };
        let fits = |id: &str| !id.contains('.');
        let mut ids = CallIds::of(&request, fits);
        assert_eq!((ids.call("a_b"), ids.call(&taken)), ("a_b".to_owned(), taken.clone()));
        assert_eq!((ids.call("a.b"), ids.result("a.b")), (made_up("a.b", 1), made_up("a.b", 1)));
        assert_eq!(ids.result("a.b").len(), 9);
    }

    #[test]
    fn every_call_has_an_id_of_its_own() {
        let messages = vec![assistant(&["call_0", "call_1"]), assistant(&["call_0"]), assistant(&["call_0"])];
        let request = Request { messages, ..Request::default() };
        let mut ids = CallIds::of(&request, |_| true);
        let mut sent = HashSet::new();
        for id in ["call_0", "call_1", "call_0", "call_0"] {
            let new = ids.call(id);
            assert_eq!(ids.result(id), new);
            assert!(sent.insert(new));
        }
        assert!(sent.contains("call_0") && sent.contains("call_1"));
        assert_eq!(ids.result("unknown"), "unknown");
    }

    #[test]
    fn pictures_go_to_models_that_see_or_may_see() {
        let mut blind = samples::plain();
        blind.facts.as_mut().unwrap().abilities.clear();
        let mut refusing = samples::plain();
        refusing.learnt.no_pictures = true;
        let seeing = [samples::unknown(), samples::plain(), blind, refusing].map(|profile| profile.sees());
        assert_eq!(seeing, [true, true, false, false]);
    }

    #[test]
    fn tools_go_to_models_that_call_or_may_call() {
        let mut silent = samples::plain();
        silent.facts.as_mut().unwrap().abilities.clear();
        let mut unable = samples::plain();
        unable.facts.as_mut().unwrap().abilities = vec![Ability::Pictures];
        let mut refusing = samples::plain();
        refusing.learnt.no_tools = true;
        let calling = [samples::unknown(), samples::plain(), silent, unable, refusing];
        assert_eq!(calling.map(|profile| calls_tools(&profile)), [true, true, true, false, false]);
    }

    #[test]
    fn arguments_are_always_an_object() {
        let raw = |text: &str| Value::Object(arguments(text)).to_string();
        assert_eq!(raw(r#"{"a":1}"#), r#"{"a":1}"#);
        assert_eq!(
            raw(r#"{"b":1,"a":{"d":2,"c":3}}"#),
            r#"{"b":1,"a":{"d":2,"c":3}}"#,
            "as the model wrote it"
        );
        assert_eq!(raw(" "), "{}");
        assert_eq!(raw("[1]"), r#"{"_raw":"[1]"}"#);
        assert_eq!(raw("{\"a\":"), r#"{"_raw":"{\"a\":"}"#);
        assert_eq!(raw(&"[".repeat(100_000)).len(), 100_000 + r#"{"_raw":""}"#.len());
    }
}
