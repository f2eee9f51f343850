//! The part of JSON schema that Gemini takes, and which key may stand beside which type.

use super::super::Rejection;
use super::super::json::{array_without_items, excerpt};
use super::request::{known, list};
use serde_json::Value;

/// The keys that are known here.
const FIELDS: &[&str] = &[
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "anyOf",
    "propertyOrdering",
    "default",
    "items",
    "minimum",
    "maximum",
];

/// The parameters of a tool; `place` is where they stand.
pub(super) fn check(schema: &Value, place: &str) -> Result<(), Rejection> {
    check_fields(schema, place)?;
    let place = format!("GenerateContentRequest.{place}");
    if let Some(way) = array_without_items(schema) {
        let step = |step: &String| match step.as_str() {
            "items" => ".items".to_owned(),
            name => format!(".properties[{}]", excerpt(name, 80)),
        };
        let way: String = way.iter().map(step).collect();
        return Err(Rejection::bad(format!("* {place}{way}.items: missing field.\n")));
    }
    check_types(schema, &place)
}

fn check_fields(schema: &Value, place: &str) -> Result<(), Rejection> {
    let Some(object) = schema.as_object() else {
        return Err(Rejection::bad(format!(
            "Invalid value at '{place}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)"
        )));
    };
    known(object, FIELDS, Some(place))?;
    if schema.get("type").is_some_and(|kind| !kind.is_string()) {
        return Err(Rejection::bad(format!(
            "Proto field is not repeating, cannot start list. At '{place}.type'"
        )));
    }
    if let Some(items) = schema.get("items") {
        check_fields(items, &format!("{place}.items"))?;
    }
    for (at, inner) in list(schema, "anyOf").iter().enumerate() {
        check_fields(inner, &format!("{place}.any_of[{at}]"))?;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (at, (_, inner)) in properties.into_iter().flatten().enumerate() {
        check_fields(inner, &format!("{place}.properties[{at}].value"))?;
    }
    Ok(())
}

fn check_types(schema: &Value, place: &str) -> Result<(), Rejection> {
    let bad = |what: String| Err(Rejection::bad(format!("* {place}.{what}\n")));
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    if properties.is_some_and(|properties| !properties.is_empty()) && !kind.eq_ignore_ascii_case("object") {
        return bad("properties: only allowed for OBJECT type".into());
    }
    let entries = list(schema, "enum");
    if let Some(at) = entries.iter().position(|entry| entry.as_str() == Some("")) {
        return bad(format!("enum[{at}]: cannot be empty"));
    }
    if !entries.is_empty() && !kind.eq_ignore_ascii_case("string") {
        return bad("enum: only allowed for STRING type".into());
    }
    let is_defined = |name: &Value| {
        name.as_str().is_some_and(|name| properties.is_some_and(|properties| properties.contains_key(name)))
    };
    if let Some(at) = list(schema, "required").iter().position(|name| !is_defined(name)) {
        return bad(format!("required[{at}]: property is not defined"));
    }
    if let Some(items) = schema.get("items") {
        check_types(items, &format!("{place}.items"))?;
    }
    for (at, inner) in list(schema, "anyOf").iter().enumerate() {
        check_types(inner, &format!("{place}.any_of[{at}]"))?;
    }
    for (name, inner) in properties.into_iter().flatten() {
        check_types(inner, &format!("{place}.properties[{}]", excerpt(name, 80)))?;
    }
    Ok(())
}
