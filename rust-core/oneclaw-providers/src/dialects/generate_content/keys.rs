//! The keys of Gemini's schemas: which there are, what they may hold, and beside which type each may stand.

use serde_json::{Map, Value, json};

/// The types there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
}

impl Kind {
    /// The type of that name, if the service knows it.
    pub fn of(name: &str) -> Option<Self> {
        let all = [Self::String, Self::Number, Self::Integer, Self::Boolean, Self::Array, Self::Object];
        all.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Whether a value can be of both types.
    fn meets(self, other: Self) -> bool {
        let is_numeric = |kind| matches!(kind, Self::Number | Self::Integer);
        self == other || (is_numeric(self) && is_numeric(other))
    }

    /// The formats that are known; others are refused.
    fn formats(self) -> &'static [&'static str] {
        match self {
            Self::String => &["date-time"],
            Self::Number => &["float", "double"],
            Self::Integer => &["int32", "int64"],
            Self::Boolean | Self::Array | Self::Object => &[],
        }
    }

    /// Whether a key may stand beside this type.
    fn takes(self, key: &str) -> bool {
        match key {
            "properties" | "required" | "minProperties" | "maxProperties" => self == Self::Object,
            "items" | "minItems" | "maxItems" => self == Self::Array,
            "enum" | "minLength" | "maxLength" | "pattern" => self == Self::String,
            "minimum" | "maximum" => matches!(self, Self::Number | Self::Integer),
            _ => true,
        }
    }
}

/// What is taken over as it is, where it holds what it should.
pub(super) fn kept(object: &Map<String, Value>) -> Map<String, Value> {
    let is_fine = |key: &str, value: &Value| match key {
        "title" | "description" | "pattern" => value.is_string(),
        "nullable" => value.is_boolean(),
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" | "maxProperties" => {
            value.is_u64()
        }
        "minimum" | "maximum" => value.is_number(),
        _ => false,
    };
    object.iter().filter(|(key, value)| is_fine(key, value)).map(|(k, v)| (k.clone(), v.clone())).collect()
}

/// Adds to a schema what another says under a key. What is there stays; properties and demands come together.
pub(super) fn merge(out: &mut Map<String, Value>, key: &str, value: Value) {
    match (out.get_mut(key), value) {
        (None, value) => drop(out.insert(key.to_owned(), value)),
        (Some(Value::Object(known)), Value::Object(more)) if key == "properties" => {
            for (name, schema) in more {
                known.entry(name).or_insert(schema);
            }
        }
        (Some(Value::Array(known)), Value::Array(more)) if key == "required" => {
            for name in more {
                if !known.contains(&name) {
                    known.push(name);
                }
            }
        }
        (Some(_), _) => {}
    }
}

fn kind_of(schema: &Map<String, Value>) -> Option<Kind> {
    Kind::of(schema.get("type")?.as_str()?)
}

/// The type that a schema has without saying so.
fn implied(schema: &Map<String, Value>) -> Kind {
    if schema.contains_key("properties") {
        Kind::Object
    } else if schema.contains_key("items") {
        Kind::Array
    } else {
        Kind::String
    }
}

/// The schema with every key where it may stand.
pub(super) fn finish(mut out: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(branches)) = out.remove("anyOf") {
        let own = kind_of(&out);
        let fits = |branch: &Map<String, Value>| {
            let kind = kind_of(branch);
            own.is_none_or(|own| kind.is_none_or(|kind| kind.meets(own)))
        };
        let branches = branches.into_iter().filter_map(|branch| match branch {
            Value::Object(branch) => Some(branch).filter(fits),
            _ => None,
        });
        let branches: Vec<Map<String, Value>> = branches.collect();
        if branches.len() > 1 {
            let branches = branches.into_iter().map(|branch| Value::Object(finish(with_all(branch, &out))));
            return Map::from_iter([("anyOf".to_owned(), branches.collect())]);
        }
        // One is no choice; it says more than what is said of all.
        if let Some(only) = branches.into_iter().next() {
            return finish(with_all(only, &out));
        }
    }
    let kind = kind_of(&out).unwrap_or_else(|| implied(&out));
    out.insert("type".into(), json!(kind.name()));
    let has_format =
        out.get("format").and_then(Value::as_str).is_some_and(|format| kind.formats().contains(&format));
    out.retain(|key, _| kind.takes(key) && (key != "format" || has_format));
    demands(&mut out);
    if kind == Kind::Array {
        out.entry("items").or_insert_with(|| json!({"type": "string"}));
    }
    out
}

/// An alternative with what is said of all. (What its type does not take is left out later.)
fn with_all(mut branch: Map<String, Value>, all: &Map<String, Value>) -> Map<String, Value> {
    // Without a type of its own it has the type that its keys imply, not the one that theirs would.
    if kind_of(&branch).is_none() && !branch.contains_key("anyOf") {
        let kind = kind_of(all).unwrap_or_else(|| implied(&branch));
        branch.insert("type".into(), json!(kind.name()));
    }
    for (key, value) in all {
        merge(&mut branch, key, value.clone());
    }
    branch
}

/// Only what is there can be demanded.
fn demands(out: &mut Map<String, Value>) {
    let Some(Value::Array(required)) = out.remove("required") else { return };
    let known = out.get("properties").and_then(Value::as_object);
    let is_known =
        |name: &Value| name.as_str().is_some_and(|name| known.is_some_and(|known| known.contains_key(name)));
    let required: Vec<Value> = required.into_iter().filter(is_known).collect();
    if !required.is_empty() {
        out.insert("required".into(), Value::Array(required));
    }
}
