//! One line of the catalogue, as short as it can be read back: what is not known, what is usual, and what is as in the
//! model's family is left out.

use oneclaw_catalogue::Facts;
use serde_json::Value;

/// The order in which facts stand in a line, for those who read it.
const ORDER: [&str; 10] =
    ["service", "id", "dialect", "limits", "reasoning", "abilities", "refuses", "cache", "prices", "ends"];

/// The line of a model of a family, or of a family.
pub fn of(facts: &Facts, family: Option<&Facts>) -> Result<String, String> {
    let value = |facts: &Facts| serde_json::to_value(facts).map_err(|error| error.to_string());
    let family = family.map(value).transpose()?;
    let facts = value(facts)?;
    let mut pairs = Vec::new();
    for name in ORDER {
        let own = known(&facts, name);
        let inherited = family.as_ref().and_then(|family| known(family, name));
        if name == "service" || own != inherited {
            pairs.push(pair(name, own.unwrap_or(&Value::Null)));
        }
    }
    Ok(format!("{{{}}}\n", pairs.join(",")))
}

fn known<'a>(facts: &'a Value, name: &str) -> Option<&'a Value> {
    facts.get(name).filter(|value| !is_usual(name, value))
}

/// What is read where nothing is written. A model that reasons says so even where no more is known of it.
fn is_usual(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::String(text) => name == "replay" && text == "open_turn",
        Value::Object(_) => name == "limits" && text(value) == "{}",
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn pair(name: &str, value: &Value) -> String {
    format!("{}:{}", Value::from(name), text(value))
}

fn text(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let known = fields.iter().filter(|(name, value)| !is_usual(name, value));
            let mut pairs: Vec<String> = known.map(|(name, value)| pair(name, value)).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(",")),
        Value::Number(number) => {
            let text = number.to_string();
            text.strip_suffix(".0").unwrap_or(&text).to_owned()
        }
        other => other.to_string(),
    }
}
