//! JSON schema, cut down to the subset Gemini knows.
//!
//! Nothing a model needs is lost where it can be said otherwise: references are written out, constants become
//! enumerations, alternatives become `anyOf`, numbers to choose from go into the description.

use serde_json::{Map, Value, json};

/// How deep a schema may go. References may point at themselves; below this everything is a text.
const MOST_LEVELS: usize = 24;
/// How many schemas one tool may unfold to. References that use each other twice double at each level.
const MOST_SCHEMAS: usize = 2_000;

/// What is taken over as it is.
const KEPT: [&str; 12] = [
    "title",
    "description",
    "nullable",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minProperties",
    "maxProperties",
    "pattern",
    "minimum",
    "maximum",
];

/// A tool's parameters; none where there is nothing to fill in.
pub(crate) fn parameters(schema: &Value) -> Option<Value> {
    let mut walk = Walk { root: schema, left: MOST_SCHEMAS };
    let mut out = walk.schema(schema, 0);
    let has_properties = out.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    if !has_properties {
        return None;
    }
    // A function's parameters are an object, whatever else could be said beside.
    out.retain(|key, _| key != "anyOf" && key != "nullable");
    out.insert("type".into(), json!("object"));
    Some(Value::Object(out))
}

struct Walk<'a> {
    root: &'a Value,
    left: usize,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, schema: &'a Value, level: usize) -> Map<String, Value> {
        let any = || Map::from_iter([("type".to_owned(), json!("string"))]);
        if level > MOST_LEVELS || self.left == 0 {
            return any();
        }
        self.left -= 1;
        let Some(object) = schema.as_object() else { return any() };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let mut out = self.target(reference).map_or_else(any, |target| self.schema(target, level + 1));
            if let Some(description) = object.get("description") {
                out.insert("description".into(), description.clone());
            }
            return out;
        }
        let mut out = Map::new();
        for key in KEPT {
            if let Some(value) = object.get(key) {
                out.insert(key.to_owned(), value.clone());
            }
        }
        self.merge_all_of(object, &mut out, level);
        self.alternatives(object, &mut out, level);
        self.types(object, &mut out);
        choices(object, &mut out);
        self.children(object, &mut out, level);
        let kind = out.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if kind.is_empty() && !out.contains_key("anyOf") {
            let kind = if out.contains_key("properties") { "object" } else { "string" };
            out.insert("type".into(), json!(kind));
        }
        if kind == "array" && !out.contains_key("items") {
            out.insert("items".into(), json!({"type": "string"}));
        }
        format(object, &mut out);
        out
    }

    /// What `#/…` points at; references into other documents cannot be followed.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// All of several schemas: their properties together.
    fn merge_all_of(&mut self, object: &'a Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            for (key, value) in self.schema(part, level + 1) {
                match (out.get_mut(&key), value) {
                    (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
                    (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
                    (Some(_), _) => {}
                    (None, value) => drop(out.insert(key, value)),
                }
            }
        }
    }

    /// One of several schemas. A null among them says that the value may be missing.
    fn alternatives(&mut self, object: &'a Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        let lists = ["anyOf", "oneOf"].into_iter().filter_map(|key| object.get(key)?.as_array());
        let all: Vec<&Value> = lists.flatten().collect();
        let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
        if all.iter().any(is_null) {
            out.insert("nullable".into(), json!(true));
        }
        let mut rest: Vec<Map<String, Value>> = Vec::new();
        for schema in all.into_iter().filter(|schema| !is_null(schema)) {
            rest.push(self.schema(schema, level + 1));
        }
        if rest.len() > 1 {
            out.insert("anyOf".into(), rest.into_iter().map(Value::Object).collect());
        } else {
            for (key, value) in rest.into_iter().flatten() {
                out.entry(key).or_insert(value);
            }
        }
    }

    fn types(&mut self, object: &'a Map<String, Value>, out: &mut Map<String, Value>) {
        let named: Vec<&str> = match object.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        if named.contains(&"null") {
            out.insert("nullable".into(), json!(true));
        }
        let rest: Vec<&str> = named.into_iter().filter(|name| *name != "null").collect();
        match rest.as_slice() {
            [] => {}
            [one] => drop(out.insert("type".into(), json!(one))),
            several => {
                let schema = |name: &&str| match *name {
                    "array" => json!({"type": "array", "items": {"type": "string"}}),
                    name => json!({"type": name}),
                };
                out.insert("anyOf".into(), several.iter().map(schema).collect());
            }
        }
    }

    fn children(&mut self, object: &'a Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            let mut children = Map::new();
            for (name, schema) in properties {
                children.insert(name.clone(), Value::Object(self.schema(schema, level + 1)));
            }
            match out.get_mut("properties") {
                Some(Value::Object(known)) => known.extend(children),
                _ => drop((!children.is_empty()).then(|| out.insert("properties".into(), children.into()))),
            }
        }
        if let Some(required) = object.get("required").and_then(Value::as_array) {
            let known = out.get("properties").and_then(Value::as_object);
            let is_known = |name: &&Value| {
                name.as_str().is_some_and(|name| known.is_some_and(|known| known.contains_key(name)))
            };
            let mut kept: Vec<Value> = required.iter().filter(is_known).cloned().collect();
            if let Some(Value::Array(before)) = out.get("required") {
                kept.splice(0..0, before.iter().cloned());
            }
            if !kept.is_empty() {
                out.insert("required".into(), Value::Array(kept));
            }
        }
        // A list of schemas, one for each place, cannot be said; the first speaks for all.
        let tuple =
            object.get("prefixItems").or_else(|| object.get("items").filter(|items| items.is_array()));
        let first = tuple.and_then(|list| list.get(0));
        if let Some(items) = first.or_else(|| object.get("items").filter(|items| items.is_object())) {
            let items = self.schema(items, level + 1);
            out.insert("items".into(), Value::Object(items));
            out.entry("type").or_insert(json!("array"));
        }
    }
}

/// Enumerations and constants. Only texts can be enumerated; other values are named in the description.
fn choices(object: &Map<String, Value>, out: &mut Map<String, Value>) {
    let constant = object.get("const").map(std::slice::from_ref);
    let listed = object.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let Some(values) = constant.or(listed) else { return };
    if values.iter().any(Value::is_null) {
        out.insert("nullable".into(), json!(true));
    }
    let values: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
    if values.is_empty() {
        return;
    }
    if values.iter().all(|value| value.is_string()) {
        out.insert("enum".into(), values.into_iter().cloned().collect());
        out.insert("type".into(), json!("string"));
        return;
    }
    let names: Vec<String> = values.iter().map(ToString::to_string).collect();
    let note = format!("One of: {}.", names.join(", "));
    let description = out.get("description").and_then(Value::as_str).filter(|text| !text.is_empty());
    let description = description.map_or(note.clone(), |text| format!("{text} {note}"));
    out.insert("description".into(), json!(description));
    let kind = |value: &&Value| match value {
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Bool(_) => "boolean",
        _ => "string",
    };
    if let Some(kind) = values.first().map(kind) {
        out.entry("type").or_insert(json!(kind));
    }
}

/// Formats are few, and others are refused.
fn format(object: &Map<String, Value>, out: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str) else { return };
    let known: &[&str] = match out.get("type").and_then(Value::as_str) {
        Some("string") => &["date-time"],
        Some("number") => &["float", "double"],
        Some("integer") => &["int32", "int64"],
        _ => &[],
    };
    if known.contains(&format) {
        out.insert("format".into(), json!(format));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_that_unfold_without_end_stay_small() {
        let doubling = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/x"}},
            "$defs": {"x": {"type": "object", "properties": {
                "l": {"$ref": "#/$defs/x"}, "r": {"$ref": "#/$defs/x"}
            }}},
        });
        let text = parameters(&doubling).unwrap().to_string();
        assert!(text.len() < 200_000 && !text.contains("$ref"), "{}", text.len());
    }

    #[test]
    fn nothing_to_fill_in_is_nothing() {
        for schema in [json!({}), json!(null), json!(true), json!({"type": "object", "properties": {}})] {
            assert_eq!(parameters(&schema), None);
        }
    }
}
