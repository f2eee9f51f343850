//! Looking into JSON that may be anything.

use serde_json::{Map, Value};

/// More tools, or calls in one message, nobody means; checking them would only take time.
pub(super) const MOST_AT_ONCE: usize = 1_000;

/// How Python, in which two of the services speak, names the kind of a value.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a decimal",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The value under a key, unless it is null.
pub(super) fn get<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// The text under a key.
pub(super) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// The items under a key; none where there is no array.
pub(super) fn items<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The first key that is not among the known ones.
pub(super) fn unknown<'a>(object: &'a Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|key| !known.contains(key))
}

/// Whether it is a name a tool may have.
pub(super) fn is_name(name: &str, longest: usize, also: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || also.contains(c);
    !name.is_empty() && name.len() <= longest && name.chars().all(fits)
}

/// The first `most` characters, for quoting what was sent.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Looks for an array schema without items: the way to it, if there is one.
pub(super) fn array_without_items(schema: &Value) -> Option<Vec<String>> {
    let found = |key: &str, inner: &Value| {
        array_without_items(inner).map(|mut way| {
            way.insert(0, key.to_owned());
            way
        })
    };
    if text(schema, "type").is_some_and(|t| t.eq_ignore_ascii_case("array")) && get(schema, "items").is_none()
    {
        return Some(vec![]);
    }
    if let Some(inner) = get(schema, "items")
        && let Some(way) = found("items", inner)
    {
        return Some(way);
    }
    let properties = schema.get("properties").and_then(Value::as_object)?;
    properties.iter().find_map(|(name, inner)| found(name, inner))
}

/// JSON with the keys of objects in order, whatever order they came in.
pub(crate) fn sorted(value: &Value) -> String {
    match value {
        Value::Object(object) => {
            let mut fields: Vec<(&String, &Value)> = object.iter().collect();
            fields.sort_by_key(|(key, _)| *key);
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key:?}:{}", sorted(value))).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(sorted).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}
