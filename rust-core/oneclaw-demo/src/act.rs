//! Which tools a message asks for, and with which arguments.

use crate::ask::{Choice, Tool};
use crate::script::Call;
use serde_json::{Map, Value};

/// More tools are not called at once.
const MOST_CALLS: usize = 8;
/// So much of a message becomes an argument.
const LONGEST_ARGUMENT: usize = 2_000;

/// What an argument is for, by the names it may have.
const PATHS: &[&str] = &["path", "file", "file_path", "filename", "filepath"];
const ADDRESSES: &[&str] = &["url", "uri", "address", "link"];
const CONTENTS: &[&str] = &["content", "contents", "text", "body", "data"];

/// The calls a message asks for; none where no tool fits.
pub(crate) fn calls(text: &str, tools: &[Tool], choice: &Choice) -> Vec<Call> {
    let mut calls = match choice {
        Choice::Never => return vec![],
        Choice::Auto | Choice::Any => fitting(text, tools),
        Choice::Named(name) => {
            let named = tools.iter().filter(|tool| tool.name == *name);
            let fitting =
                fitting(text, tools).into_iter().filter(|call| call.name == *name).collect::<Vec<_>>();
            if fitting.is_empty() { named.map(|tool| call(tool, text, &[])).collect() } else { fitting }
        }
    };
    if calls.is_empty() && *choice == Choice::Any {
        calls.extend(tools.first().map(|tool| call(tool, text, &[])));
    }
    calls.truncate(MOST_CALLS);
    calls
}

fn fitting(text: &str, tools: &[Tool]) -> Vec<Call> {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let says = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let tool = |parts: &[&str]| tools.iter().find(|t| parts.iter().any(|part| t.name.contains(part)));
    let mut calls: Vec<Call> = Vec::new();
    if says(&["time", "date", "day", "today", "clock"])
        && (says(&["what", "current", "now", "tell", "today"]))
        && let Some(tool) = tool(&["time", "date", "clock"])
    {
        calls.push(call(tool, text, &[]));
    }
    let targets = targets(text);
    let addresses = targets.iter().filter(|target| is_address(target));
    if let Some(tool) = tool(&["http", "fetch", "url", "web", "browse"]) {
        calls.extend(addresses.map(|url| call(tool, text, &[(ADDRESSES, url)])));
    }
    let paths = targets.iter().filter(|target| is_path(target));
    if says(&["write", "save", "store", "create", "put"]) {
        if let Some(tool) = tool(&["write", "save"]) {
            let content = quoted(text);
            calls.extend(paths.map(|path| call(tool, text, &[(PATHS, path), (CONTENTS, content)])));
        }
    } else if says(&["read", "open", "show", "look", "check", "load", "see", "print", "says", "in"])
        && let Some(tool) = tool(&["read", "open", "cat"])
    {
        calls.extend(paths.map(|path| call(tool, text, &[(PATHS, path)])));
    }
    for tool in tools {
        if text.contains(&tool.name) && !calls.iter().any(|call| call.name == tool.name) {
            calls.push(call(tool, text, &[]));
        }
    }
    calls
}

/// Words that could be a path or an address, without what a sentence puts around them.
fn targets(text: &str) -> Vec<&str> {
    let around: &[char] = &['.', ',', ';', ':', '!', '?', '"', '\'', '`', '(', ')', '<', '>', '[', ']'];
    let mut targets: Vec<&str> = Vec::new();
    for word in text.split_whitespace() {
        let word = word.trim_start_matches(['"', '\'', '`', '(', '<', '[']).trim_end_matches(around);
        if !targets.contains(&word) && (is_address(word) || is_path(word)) && targets.len() < MOST_CALLS {
            targets.push(word);
        }
    }
    targets
}

fn is_address(word: &str) -> bool {
    ["http://", "https://"].iter().any(|start| word.len() > start.len() && word.starts_with(start))
}

fn is_path(word: &str) -> bool {
    let extension = word.rsplit_once('.').map(|(name, extension)| {
        let is_short =
            (1..=5).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric());
        !name.is_empty() && is_short && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    let has_folder = word.len() > 2 && word.starts_with(['/', '~']) && word.contains('/');
    !word.contains("://") && (extension == Some(true) || has_folder)
}

/// What stands in quotation marks, or else after the first colon, or else the whole text.
fn quoted(text: &str) -> &str {
    let quoted = text.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map(|(inner, _)| inner);
    quoted.or_else(|| text.split_once(": ").map(|(_, rest)| rest)).unwrap_or(text).trim()
}

fn call(tool: &Tool, text: &str, known: &[(&[&str], &str)]) -> Call {
    let mut arguments = Map::new();
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = tool
        .schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, schema) in properties.into_iter().flatten() {
        let lower = name.to_ascii_lowercase();
        if let Some((_, value)) = known.iter().find(|(names, _)| names.contains(&lower.as_str())) {
            arguments.insert(name.clone(), (*value).into());
        } else if required.contains(&name.as_str()) {
            arguments.insert(name.clone(), guess(schema, text));
        }
    }
    // A schema that does not say how it names them gets the usual names.
    if properties.is_none() {
        for (names, value) in known {
            arguments.extend(names.first().map(|name| ((*name).to_owned(), (*value).into())));
        }
    }
    Call { name: tool.name.clone(), arguments: Value::Object(arguments).to_string() }
}

/// A value of the kind the schema asks for, from the message where it has one.
fn guess(schema: &Value, text: &str) -> Value {
    if let Some(first) = schema.get("enum").and_then(Value::as_array).and_then(|values| {
        let said = |value: &&Value| value.as_str().is_some_and(|value| text.contains(value));
        values.iter().find(said).or_else(|| values.first())
    }) {
        return first.clone();
    }
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("string").to_ascii_lowercase();
    let mut numbers =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u32>().ok());
    match kind.as_str() {
        "integer" | "number" => numbers.next().unwrap_or(1).into(),
        "boolean" => false.into(),
        "array" => Value::Array(vec![]),
        "object" => Value::Object(Map::new()),
        _ => quoted(text).chars().take(LONGEST_ARGUMENT).collect::<String>().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tools() -> Vec<Tool> {
        let tool = |name: &str, properties: Value, required: Value| Tool {
            name: name.into(),
            description: String::new(),
            schema: json!({"type": "object", "properties": properties, "required": required}),
            is_breakpoint: false,
        };
        let text = json!({"type": "string"});
        vec![
            tool("get_current_time", json!({}), json!([])),
            tool("read_file", json!({"path": text, "offset": {"type": "integer"}}), json!(["path"])),
            tool("write_file", json!({"path": text, "content": text}), json!(["path", "content"])),
            tool("http_request", json!({"url": text}), json!(["url"])),
            tool(
                "add",
                json!({"a": {"type": "integer"}, "how": {"enum": ["up", "down"]}}),
                json!(["a", "how"]),
            ),
        ]
    }

    fn asked(text: &str) -> Vec<String> {
        let calls = calls(text, &tools(), &Choice::Auto);
        calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect()
    }

    #[test]
    fn messages_and_the_calls_they_ask_for() {
        assert_eq!(asked("What time is it?"), ["get_current_time {}"]);
        assert_eq!(asked("Read notes/porto.md, please."), [r#"read_file {"path":"notes/porto.md"}"#]);
        assert_eq!(
            asked("What time is it, and what is in a.txt and https://x.example/y?"),
            [
                "get_current_time {}",
                r#"http_request {"url":"https://x.example/y"}"#,
                r#"read_file {"path":"a.txt"}"#
            ]
        );
        assert_eq!(
            asked("Save \"hello = 1\" to out.txt"),
            [r#"write_file {"path":"out.txt","content":"hello = 1"}"#]
        );
        assert_eq!(asked("use add with 17, down"), [r#"add {"a":17,"how":"down"}"#]);
        assert_eq!(asked("Good morning. The price is 1.5 EUR."), Vec::<String>::new());
    }

    #[test]
    fn a_choice_is_obeyed() {
        let called = |choice| calls("hello", &tools(), &choice).first().map(|call| call.name.clone());
        assert_eq!(called(Choice::Never), None);
        assert_eq!(called(Choice::Any).as_deref(), Some("get_current_time"));
        assert_eq!(called(Choice::Named("add".into())).as_deref(), Some("add"));
        assert_eq!(calls("What time is it?", &tools(), &Choice::Never), vec![]);
    }
}
