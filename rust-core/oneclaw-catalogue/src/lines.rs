//! The catalogue's lines.

use crate::Facts;
use crate::pattern::fits;
use serde_json::{Map, Value};

/// Reads the lines of a catalogue. A model's line says only what is not as in the first family that its id fits; `null`
/// there means that the family has it and the model has not. Lines that are none are left out.
pub fn read(lines: &str) -> Vec<Facts> {
    let lines: Vec<Map<String, Value>> =
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let families: Vec<_> = lines.iter().filter(|line| id(line).contains('*')).collect();
    let whole = |line: &Map<String, Value>| {
        let mut line = line.clone();
        let name = id(&line).to_ascii_lowercase();
        let is_for = |family: &&&Map<String, Value>| {
            family.get("service") == line.get("service") && fits(id(family), &name)
        };
        if let Some(family) = families.iter().find(is_for).filter(|_| !name.contains('*')) {
            for (key, value) in *family {
                line.entry(key).or_insert_with(|| value.clone());
            }
        }
        line.retain(|_, value| !value.is_null());
        serde_json::from_value(Value::Object(line)).ok()
    };
    lines.iter().filter_map(whole).collect()
}

fn id(line: &Map<String, Value>) -> &str {
    line.get("id").and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Refusal;

    #[test]
    fn a_model_takes_from_its_family_what_it_does_not_say() {
        let facts = read(
            r#"{"service":"s","id":"A-1","limits":{"window":8}}
{"service":"s","id":"a-2","dialect":"responses","refuses":null}
no line
{"service":"t","id":"a-3"}
{"service":"s","id":"a-*","dialect":"chat_completions","refuses":["sampling"]}
{"service":"s","id":"*","dialect":"messages"}"#,
        );
        let ids: Vec<_> = facts.iter().map(|facts| (facts.id.as_str(), facts.dialect)).collect();
        use oneclaw_model::Dialect::{ChatCompletions, Messages, Responses};
        assert_eq!(
            ids,
            [("A-1", ChatCompletions), ("a-2", Responses), ("a-*", ChatCompletions), ("*", Messages)]
        );
        assert_eq!(
            (facts[0].limits.window, facts[0].refuses.as_slice()),
            (Some(8), [Refusal::Sampling].as_slice())
        );
        assert!(facts[1].refuses.is_empty());
    }
}
