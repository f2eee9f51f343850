//! A model's arguments against the schema it was shown.
//!
//! Decides whether a call may be run at all, and says in words what does not fit. It looks at the top level only:
//! required names, names that do not exist, types and listed values. What lies deeper is for the tool to judge.
//!
//! Two habits of models are met half way: an optional argument given as `null` counts as left out, and a whole
//! number written `5.0` counts as `5`.

use super::quoted;
use serde_json::{Map, Value};

/// The most names that are listed in one message.
const MOST_NAMES: usize = 50;

/// The arguments of a call, or what is wrong with them.
pub(super) fn parse(text: &str, schema: &Value) -> Result<Map<String, Value>, String> {
    let mut arguments = match text.trim() {
        "" | "null" => Map::new(),
        text => match serde_json::from_str(text) {
            Ok(Value::Object(arguments)) => arguments,
            Ok(other) => {
                return Err(format!("the arguments must be a JSON object, not {}", kind(&other)));
            }
            Err(error) => return Err(format!("the arguments are not valid JSON: {error}")),
        },
    };
    let faults = check(&mut arguments, schema);
    if faults.is_empty() { Ok(arguments) } else { Err(faults.join("; ")) }
}

fn check(arguments: &mut Map<String, Value>, schema: &Value) -> Vec<String> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let property = |name: &str| properties.and_then(|all| all.get(name));

    arguments.retain(|name, value| {
        let is_left_out = value.is_null()
            && !required.contains(&name.as_str())
            && property(name).is_some_and(|schema| !accepts(schema, &Value::Null));
        !is_left_out
    });

    let mut faults = Vec::new();
    for name in &required {
        if !arguments.contains_key(*name) {
            faults.push(format!("\"{name}\" is missing"));
        }
    }
    for (name, value) in arguments.iter_mut() {
        if let Some(schema) = property(name) {
            as_integer(schema, value);
            if !accepts(schema, value) {
                faults.push(format!("\"{name}\" must be {}, not {}", wanted(schema), kind(value)));
            } else if let Some(listed) = schema.get("enum").and_then(Value::as_array)
                && !listed.contains(value)
            {
                faults
                    .push(format!("\"{name}\" must be one of {}", list(listed.iter().map(Value::to_string))));
            }
        } else if is_closed(schema) {
            faults.push(format!("there is no argument \"{}\"", quoted(name)));
        }
    }
    if faults.iter().any(|fault| fault.starts_with("there is no argument")) {
        let names = properties.into_iter().flat_map(Map::keys).map(|name| format!("\"{name}\""));
        let names = list(names);
        faults.push(if names.is_empty() {
            "the tool takes no arguments".to_owned()
        } else {
            format!("the arguments are {names}")
        });
    }
    faults.truncate(MOST_NAMES);
    faults
}

/// Whether names that are not listed are wrong. A schema that says nothing about them but lists its names means
/// them all; one that is put together from parts may have names that are not seen here.
fn is_closed(schema: &Value) -> bool {
    match schema.get("additionalProperties") {
        Some(more) => *more == Value::Bool(false),
        None => {
            schema.get("properties").is_some()
                && ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if"]
                    .iter()
                    .all(|part| schema.get(part).is_none())
        }
    }
}

/// The types a property may have; none if its schema names none.
fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn accepts(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    let is_nullable = value.is_null() && schema.get("nullable") == Some(&Value::Bool(true));
    types.is_empty() || is_nullable || types.iter().any(|name| is_of(name, value))
}

fn is_of(name: &str, value: &Value) -> bool {
    // Gemini's schemas have the same names in capitals.
    match name.to_ascii_lowercase().as_str() {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    }
}

/// Writes a whole number as one where one is wanted.
fn as_integer(schema: &Value, value: &mut Value) {
    // Above this, a double does not hold every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_wanted = types(schema).iter().any(|name| name.eq_ignore_ascii_case("integer"));
    if let Some(number) = value.as_f64().filter(|_| is_wanted && value.is_f64())
        && number.fract() == 0.0
        && number.abs() <= EXACT
    {
        *value = Value::from(number as i64);
    }
}

fn wanted(schema: &Value) -> String {
    let names: Vec<_> = types(schema).into_iter().map(article).collect();
    names.join(" or ")
}

fn article(name: &str) -> String {
    match name.to_ascii_lowercase().as_str() {
        "null" => "null".to_owned(),
        name if name.starts_with(['a', 'e', 'i', 'o']) => format!("an {name}"),
        name => format!("a {name}"),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Names in one line; of very many, the first ones.
pub(super) fn list(names: impl Iterator<Item = String>) -> String {
    let mut names: Vec<_> = names.take(MOST_NAMES + 1).collect();
    if names.len() > MOST_NAMES {
        names.truncate(MOST_NAMES);
        names.push("…".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": "integer"},
                "mode": {"type": "string", "enum": ["a", "b"]},
                "either": {"type": ["string", "null"]},
                "anything": {}
            },
            "required": ["path"]
        })
    }

    #[test]
    fn what_fits_is_taken() {
        for text in [
            r#"{"path":"x"}"#,
            r#" {"path":"x","limit":3} "#,
            r#"{"path":"x","mode":"b","either":null,"anything":[1]}"#,
        ] {
            parse(text, &schema()).unwrap();
        }
        assert_eq!(parse("", &json!({"type": "object"})).unwrap(), Map::new());
        assert_eq!(parse(" null ", &json!({})).unwrap(), Map::new());
    }

    #[test]
    fn an_optional_null_is_left_out_and_a_whole_number_is_whole() {
        let arguments = parse(r#"{"path":"x","limit":null,"mode":null}"#, &schema()).unwrap();
        assert_eq!(Value::Object(arguments), json!({"path": "x"}));
        let arguments = parse(r#"{"path":"x","limit":5.0}"#, &schema()).unwrap();
        assert_eq!(arguments["limit"].as_u64(), Some(5));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (text, said) in [
            ("{", "the arguments are not valid JSON: EOF while parsing an object at line 1 column 1"),
            (
                r#"{"path":"x"} and more"#,
                "the arguments are not valid JSON: trailing characters at line 1 column 14",
            ),
            ("[1]", "the arguments must be a JSON object, not an array"),
            (r#""{}""#, "the arguments must be a JSON object, not a string"),
            ("", r#""path" is missing"#),
            (r#"{"path":7}"#, r#""path" must be a string, not a number"#),
            (r#"{"path":null}"#, r#""path" must be a string, not null"#),
            (r#"{"path":"x","limit":"3"}"#, r#""limit" must be an integer, not a string"#),
            (r#"{"path":"x","limit":3.5}"#, r#""limit" must be an integer, not a number with a fraction"#),
            (r#"{"path":"x","mode":"c"}"#, r#""mode" must be one of "a", "b""#),
            (r#"{"path":"x","either":1}"#, r#""either" must be a string or null, not a number"#),
            (
                r#"{"file":"x"}"#,
                r#""path" is missing; there is no argument "file"; the arguments are "path", "limit", "mode", "either", "anything""#,
            ),
        ] {
            assert_eq!(parse(text, &schema()).unwrap_err(), said, "{text}");
        }
        let none = json!({"type": "object", "properties": {}});
        assert_eq!(
            parse(r#"{"x":1}"#, &none).unwrap_err(),
            r#"there is no argument "x"; the tool takes no arguments"#
        );
    }

    #[test]
    fn open_schemas_take_other_names() {
        for schema in [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}, "additionalProperties": true}),
            json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {}, "anyOf": [{}]}),
        ] {
            parse(r#"{"x":1}"#, &schema).unwrap();
        }
    }

    #[test]
    fn deep_nesting_is_an_answer_and_no_overflow() {
        let text = format!(r#"{{"path":{}"#, "[".repeat(1_000_000));
        assert!(parse(&text, &schema()).unwrap_err().contains("recursion limit"));
    }
}
