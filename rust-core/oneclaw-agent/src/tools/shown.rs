//! How a call is shown to people: on what it acts first, so that no long text stands before it.
//!
//! Decides order and lengths. The line can hold any character a model can write; who shows it makes it harmless.

use super::http;
use serde_json::Value;

/// Arguments that say on what and where a call acts, in the order in which they are shown, before all others.
const FIRST: [&str; 16] = [
    "method",
    "url",
    "uri",
    "address",
    "host",
    "command",
    "cmd",
    "path",
    "file",
    "file_path",
    "filename",
    "folder",
    "directory",
    "query",
    "to",
    "name",
];
/// The most characters of one argument, and of one that comes first.
const MOST: usize = 24;
const MOST_FIRST: usize = 48;
/// No line shows more.
const MOST_ARGUMENTS: usize = 32;

/// The arguments of a call in one line: `POST host/path body="…"` for `http_request`, `path="a.txt" limit=5` for others. What is no
/// JSON object is shown as it is. A value that is too long loses its middle.
pub fn shown(tool: &str, arguments: &str) -> String {
    let Ok(Value::Object(mut arguments)) = serde_json::from_str(arguments) else {
        return arguments.to_owned();
    };
    let target = if tool == http::NAME { http::target(&arguments) } else { None };
    if target.is_some() {
        arguments.retain(|name, _| name != "method" && name != "url");
    }
    let place = |name: &str| FIRST.iter().position(|first| first.eq_ignore_ascii_case(name));
    let mut pairs: Vec<(usize, usize, String)> = arguments
        .iter()
        .map(|(name, value)| {
            let value = value.to_string();
            let most = if place(name).is_some() { MOST_FIRST } else { MOST };
            let shown = format!("{}={}", middle_cut(&plain(name), MOST), middle_cut(&value, most));
            // Short ones go before long ones.
            (place(name).unwrap_or(FIRST.len()), value.len(), shown)
        })
        .collect();
    pairs.sort_by_key(|(place, length, _)| (*place, *length));
    let pairs = pairs.into_iter().take(MOST_ARGUMENTS).map(|(_, _, shown)| shown);
    target.into_iter().chain(pairs).collect::<Vec<_>>().join(" ")
}

/// A name as it is, or in quotation marks where it could be taken for something else.
fn plain(name: &str) -> String {
    let is_plain =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if is_plain { name.to_owned() } else { Value::from(name).to_string() }
}

/// A text of so many characters at most: of a longer one both ends, as the end of a path or a host says most.
pub(super) fn middle_cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head = most.saturating_sub(1) / 2;
    let tail = most.saturating_sub(1) - head;
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start}…{end}")
}

/// What `http_request` acts on, if that is known: `METHOD host/path`, the host without its middle where it is long.
pub(super) fn http_target(method: &str, host: &str, port: Option<u16>, path: &str) -> String {
    let host = middle_cut(host, MOST_FIRST);
    let port = port.map_or(String::new(), |port| format!(":{port}"));
    format!("{method} {host}{port}{}", middle_cut(path, MOST_FIRST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    fn http(arguments: Value) -> String {
        shown("http_request", &arguments.to_string())
    }

    #[test]
    fn a_request_shows_method_and_host_before_all_else() {
        let body = "x".repeat(1_000);
        assert_eq!(
            http(
                json!({"body": body, "headers": {"a": "b"}, "method": "post", "url": "https://A.example:443/v1/pay?to=me#x"})
            ),
            format!(
                "POST a.example/v1/pay?to=me headers={{\"a\":\"b\"}} body=\"{}…{}\"",
                "x".repeat(10),
                "x".repeat(11)
            ),
        );
        assert_eq!(http(json!({"url": "http://127.0.0.1:1"})), "GET 127.0.0.1:1/");
        // The host is the one that is spoken to, whatever the address looks like.
        assert_eq!(
            http(json!({"url": "https://good.example\\.evil.example/x", "method": "DELETE"})),
            "DELETE good.example/.evil.example/x"
        );
        let long = format!("https://{}evil.example/{}", "login.bank.example.".repeat(8), "p".repeat(300));
        let line = http(json!({"url": long}));
        assert!(line.starts_with("GET login.bank") && line.contains("evil.example/pp"), "{line}");
    }

    #[test]
    fn a_request_that_will_be_refused_is_shown_as_it_was_asked_for() {
        for (arguments, expected) in [
            (
                json!({"body": "b", "url": "https://u:p@evil.example/", "method": "GET"}),
                r#"method="GET" url="https://u:p@evil.example/" body="b""#,
            ),
            (
                json!({"body": "b", "url": "https://a.example/", "method": "GET /x"}),
                r#"method="GET /x" url="https://a.example/" body="b""#,
            ),
            (json!({"body": "b", "url": 5}), r#"url=5 body="b""#),
            (json!({}), ""),
        ] {
            assert_eq!(http(arguments), expected);
        }
    }

    #[test]
    fn what_and_where_come_first_then_short_before_long() {
        let arguments = json!({
            "content": "long ".repeat(50), "append": true, "Path": "notes/a.txt", "x": "12345", "b": 1,
        });
        assert_eq!(
            shown("write_file", &arguments.to_string()),
            "Path=\"notes/a.txt\" b=1 append=true x=\"12345\" content=\"long long … long long \""
        );
        let path = format!("{}/etc/passwd", "../".repeat(60));
        let line = shown("read_file", &json!({"path": path}).to_string());
        assert!(
            line.starts_with("path=\"../") && line.ends_with("/etc/passwd\"") && line.len() < 80,
            "{line}"
        );
    }

    #[test]
    fn names_cannot_pretend_to_be_other_arguments() {
        let arguments = json!({"path=\"a.txt\" x": 1, "path": "b.txt", "": 2});
        assert_eq!(shown("read_file", &arguments.to_string()), r#"path="b.txt" "path=\"a.txt\" x"=1 ""=2"#);
        assert_eq!(shown("any", "{\"broken\n"), "{\"broken\n");
        assert_eq!(shown("any", "[1]"), "[1]");
    }

    proptest! {
        #[test]
        fn a_line_is_bounded_and_the_target_is_in_front(
            names in prop::collection::vec("\\PC{0,40}", 0..60),
            text in ".{0,200}",
        ) {
            let mut arguments: Map<String, Value> =
                names.into_iter().map(|name| (name, Value::from(text.repeat(3)))).collect();
            arguments.insert("method".into(), "PUT".into());
            arguments.insert("url".into(), "https://a.example/b".into());
            let line = http(Value::Object(arguments));
            prop_assert!(line.starts_with("PUT a.example/b"), "{}", line);
            prop_assert!(line.chars().count() < MOST_ARGUMENTS * (MOST + MOST_FIRST + 2), "{}", line);
        }
    }
}
