//! JSON schema, cut down to the subset Gemini knows.
//!
//! Nothing a model needs is lost where it can be said otherwise: references are written out, constants become
//! enumerations, alternatives become `anyOf`, numbers to choose from go into the description.
//!
//! The service refuses a key beside the wrong type (`properties` outside of an object, an `enum` that is no text), and
//! some of its versions every key beside `anyOf`. So alternatives stand alone, and each carries what is said of all.

use super::keys::{self, Kind};
use serde_json::{Map, Value, json};

/// How deep a schema may go. References may point at themselves; below this everything is a text.
const MOST_LEVELS: usize = 24;
/// How many schemas one tool may unfold to. References that use each other twice double at each level.
const MOST_SCHEMAS: usize = 2_000;

/// What makes an alternative one of its own; what only adds a demand (`required`) cannot be said.
const SUBSTANCE: [&str; 10] =
    ["type", "properties", "items", "prefixItems", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"];

/// A tool's parameters; none where there is nothing to fill in.
pub(crate) fn parameters(schema: &Value) -> Option<Value> {
    let mut walk = Walk { root: schema, left: MOST_SCHEMAS };
    let mut out = walk.pieces(schema, 0);
    // A function's parameters are an object, whatever else could be said: alternatives lend it their properties.
    if let Some(Value::Array(branches)) = out.remove("anyOf") {
        for branch in branches {
            let Some(Value::Object(more)) = branch.get("properties") else { continue };
            keys::merge(&mut out, "properties", Value::Object(more.clone()));
        }
    }
    out.remove("nullable");
    out.insert("type".into(), json!("object"));
    let out = keys::finish(out);
    let has_properties = out.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
    has_properties.then_some(Value::Object(out))
}

/// A JSON schema without `const`, which the service passes over: a choice of one says the same.
pub(crate) fn without_const(mut schema: Value) -> Value {
    replace_const(&mut schema);
    schema
}

fn replace_const(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(value) = object.remove("const") {
        object.entry("enum").or_insert_with(|| json!([value]));
    }
    for (key, value) in object {
        match (key.as_str(), value) {
            // These hold values, not schemas.
            ("enum" | "default" | "examples" | "required", _) => {}
            // Here each name has its schema.
            ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(replace_const);
            }
            (_, Value::Array(several)) => several.iter_mut().for_each(replace_const),
            (_, one) => replace_const(one),
        }
    }
}

struct Walk<'a> {
    root: &'a Value,
    left: usize,
}

impl<'a> Walk<'a> {
    /// A schema that the service takes.
    fn schema(&mut self, schema: &'a Value, level: usize) -> Map<String, Value> {
        keys::finish(self.pieces(schema, level))
    }

    /// What a schema says, in keys that the service knows, but not yet in an order that it takes.
    fn pieces(&mut self, schema: &'a Value, level: usize) -> Map<String, Value> {
        if level > MOST_LEVELS || self.left == 0 {
            return Map::new();
        }
        self.left -= 1;
        let Some(object) = schema.as_object() else { return Map::new() };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let target = self.target(reference);
            let mut out = target.map_or_else(Map::new, |target| self.pieces(target, level + 1));
            if let Some(description) = object.get("description").filter(|text| text.is_string()) {
                out.insert("description".into(), description.clone());
            }
            return out;
        }
        let mut out = keys::kept(object);
        self.merge_all_of(object, &mut out, level);
        self.alternatives(object, &mut out, level);
        types(object, &mut out);
        choices(object, &mut out);
        self.children(object, &mut out, level);
        if let Some(format) = object.get("format").filter(|format| format.is_string()) {
            out.insert("format".into(), format.clone());
        }
        out
    }

    /// What `#/…` points at; references into other documents cannot be followed.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// All of several schemas: what they say together.
    fn merge_all_of(&mut self, object: &'a Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        for part in object.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            for (key, value) in self.pieces(part, level + 1) {
                keys::merge(out, &key, value);
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
        let has_substance = |schema: &&Value| SUBSTANCE.iter().any(|key| schema.get(key).is_some());
        let mut rest: Vec<Map<String, Value>> = Vec::new();
        for schema in all.into_iter().filter(|schema| !is_null(schema) && has_substance(schema)) {
            rest.push(self.pieces(schema, level + 1));
        }
        if rest.len() > 1 {
            out.insert("anyOf".into(), rest.into_iter().map(Value::Object).collect());
        } else {
            for (key, value) in rest.into_iter().flatten() {
                keys::merge(out, &key, value);
            }
        }
    }

    fn children(&mut self, object: &'a Map<String, Value>, out: &mut Map<String, Value>, level: usize) {
        if let Some(properties) = object.get("properties").and_then(Value::as_object) {
            let mut children = Map::new();
            for (name, schema) in properties {
                children.insert(name.clone(), Value::Object(self.schema(schema, level + 1)));
            }
            // Its own come before those of `allOf`.
            let others = out.insert("properties".into(), children.into());
            if let Some(others) = others {
                keys::merge(out, "properties", others);
            }
        }
        if let Some(required) = object.get("required").filter(|required| required.is_array()) {
            keys::merge(out, "required", required.clone());
        }
        // A list of schemas, one for each place, cannot be said; the first speaks for all.
        let tuple =
            object.get("prefixItems").or_else(|| object.get("items").filter(|items| items.is_array()));
        let first = tuple.and_then(|list| list.get(0));
        if let Some(items) = first.or_else(|| object.get("items").filter(|items| items.is_object())) {
            let items = self.schema(items, level + 1);
            out.insert("items".into(), Value::Object(items));
        }
    }
}

fn types(object: &Map<String, Value>, out: &mut Map<String, Value>) {
    let named: Vec<&str> = match object.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    if named.iter().any(|name| name.eq_ignore_ascii_case("null")) {
        out.insert("nullable".into(), json!(true));
    }
    let known: Vec<Kind> = named.into_iter().filter_map(Kind::of).collect();
    match known.as_slice() {
        [] => {}
        [one] => drop(out.insert("type".into(), json!(one.name()))),
        // Where alternatives are listed as well, they say more.
        _ if out.contains_key("anyOf") => {}
        several => {
            let branches = several.iter().map(|kind| json!({"type": kind.name()})).collect();
            out.insert("anyOf".into(), branches);
        }
    }
}

/// Enumerations and constants. Only texts can be enumerated, and not the empty one; other values are named in the
/// description.
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
        let texts: Vec<Value> =
            values.into_iter().filter(|value| value.as_str() != Some("")).cloned().collect();
        if !texts.is_empty() {
            out.insert("enum".into(), Value::Array(texts));
        }
        out.remove("anyOf");
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
    if let Some(kind) = values.first().map(kind)
        && !out.contains_key("anyOf")
    {
        out.entry("type").or_insert(json!(kind));
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

    #[test]
    fn constants_become_choices_of_one() {
        let schema = json!({
            "type": "object",
            "properties": {
                "const": {"const": 1},
                "a": {"anyOf": [{"const": "x"}, {"enum": ["y"], "const": "y"}], "default": {"const": 2}},
                "b": {"type": "array", "items": {"$ref": "#/$defs/c"}},
            },
            "$defs": {"c": {"const": null}},
            "additionalProperties": false,
        });
        let wanted = json!({
            "type": "object",
            "properties": {
                "const": {"enum": [1]},
                "a": {"anyOf": [{"enum": ["x"]}, {"enum": ["y"]}], "default": {"const": 2}},
                "b": {"type": "array", "items": {"$ref": "#/$defs/c"}},
            },
            "$defs": {"c": {"enum": [null]}},
            "additionalProperties": false,
        });
        assert_eq!(without_const(schema), wanted);
    }

    /// A property's schema as it is sent.
    fn property(schema: Value) -> Value {
        let parameters = parameters(&json!({"type": "object", "properties": {"p": schema}})).unwrap();
        parameters["properties"]["p"].clone()
    }

    #[test]
    fn what_is_said_of_several_types_goes_to_the_one_it_is_said_of() {
        let schema = json!({
            "type": ["object", "array", "string", "null"],
            "description": "Where.",
            "properties": {"x": {"type": "number"}},
            "required": ["x"],
            "items": {"type": "integer"},
            "minItems": 1,
            "pattern": "^a",
        });
        let wanted = json!({"anyOf": [
            {"type": "object", "description": "Where.", "nullable": true,
                "properties": {"x": {"type": "number"}}, "required": ["x"]},
            {"type": "array", "description": "Where.", "nullable": true, "items": {"type": "integer"}, "minItems": 1},
            {"type": "string", "description": "Where.", "nullable": true, "pattern": "^a"},
        ]});
        assert_eq!(property(schema), wanted);
    }

    #[test]
    fn alternatives_of_no_substance_are_left_out() {
        let object =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
        let mut schema = object.clone();
        schema["anyOf"] = json!([{"required": ["a"]}, {"required": ["b"]}, true, {"description": "any"}]);
        assert_eq!(property(schema.clone()), object);
        // At the top too, where there are no alternatives at all.
        assert_eq!(parameters(&schema), Some(object.clone()));
        schema["anyOf"] =
            json!([{"properties": {"c": {"type": "string"}}, "required": ["c"]}, {"required": ["a"]}]);
        let mut wanted = object.clone();
        wanted["properties"]["c"] = json!({"type": "string"});
        wanted["required"] = json!(["c"]);
        assert_eq!(property(schema), wanted);
    }

    #[test]
    fn alternatives_stand_alone() {
        let schema = json!({
            "type": "object",
            "description": "One of two.",
            "properties": {"kind": {"type": "string"}},
            "required": ["kind"],
            "oneOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"], "description": "First."},
                {"properties": {"b": {"type": "string"}}},
                {"type": "string"},
            ],
        });
        let wanted = json!({"anyOf": [
            {"type": "object", "description": "First.", "required": ["a", "kind"],
                "properties": {"kind": {"type": "string"}, "a": {"type": "string"}}},
            {"type": "object", "description": "One of two.", "required": ["kind"],
                "properties": {"kind": {"type": "string"}, "b": {"type": "string"}}},
        ]});
        assert_eq!(property(schema.clone()), wanted);
        let top = parameters(&schema).unwrap();
        assert_eq!(top["required"], json!(["kind"]));
        assert_eq!(top["properties"].as_object().unwrap().len(), 3);
        assert_eq!(top.get("anyOf"), None);
    }

    #[test]
    fn keys_of_the_wrong_kind_are_left_out() {
        for (schema, wanted) in [
            (json!({"type": "string", "enum": ["", "a", ""]}), json!({"type": "string", "enum": ["a"]})),
            (json!({"enum": [""]}), json!({"type": "string"})),
            (
                json!({"type": "string", "description": ["a"], "title": 3, "nullable": "yes", "minLength": "1",
                    "maxLength": -1, "pattern": {}, "minimum": "0", "format": 7}),
                json!({"type": "string"}),
            ),
            (
                json!({"type": "number", "minimum": 0.5, "maximum": []}),
                json!({"type": "number", "minimum": 0.5}),
            ),
            (
                json!({"type": "string", "properties": {"a": {}}, "items": {}, "minItems": 1}),
                json!({"type": "string"}),
            ),
            (json!({"type": "any"}), json!({"type": "string"})),
            (json!({"type": "INTEGER", "format": "int32"}), json!({"type": "integer", "format": "int32"})),
            (
                json!({"type": "array", "maxItems": 3.0}),
                json!({"type": "array", "items": {"type": "string"}}),
            ),
            (
                json!({"allOf": [{"required": ["a", "b"]}, {"properties": {"a": {"type": "string"}}}]}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            ),
            (
                json!({"type": ["string", "integer"], "enum": ["a", 1]}),
                json!({"anyOf": [{"type": "string", "description": "One of: \"a\", 1."},
                    {"type": "integer", "description": "One of: \"a\", 1."}]}),
            ),
        ] {
            assert_eq!(property(schema.clone()), wanted, "{schema}");
        }
    }
}
