//! How values are printed as JSON: what would steer a terminal, or end a line for some reader, is written as an escape.
//! Names, paths and whatever a service says may hold it.

use crate::Failure;
use crate::chat::steers;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, Write};

/// A value on a line of its own.
pub fn print(out: &mut (impl Write + ?Sized), value: &impl Serialize) -> Result<(), Failure> {
    Ok(writeln!(out, "{}", line(value)?)?)
}

/// A value on one line.
pub fn line(value: &impl Serialize) -> io::Result<String> {
    Ok(escaped(serde_json::to_string(value)?))
}

/// A value on several lines, for people.
pub fn lines(value: &impl Serialize) -> io::Result<String> {
    Ok(escaped(serde_json::to_string_pretty(value)?))
}

/// Outside of strings JSON has none of these characters but the ends of its lines.
fn escaped(json: String) -> String {
    let is_fine = |c: char| c == '\n' || !steers(c) && !matches!(c, '\u{2028}' | '\u{2029}');
    if json.chars().all(is_fine) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_fine(c) {
            text.push(c);
        } else {
            // All of them take one unit.
            let _ = write!(text, "\\u{:04x}", u32::from(c));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn every_character_comes_back_and_none_steers_the_terminal() {
        let text: String = (0..=0x2100u32).filter_map(char::from_u32).chain("😀\u{feff}".chars()).collect();
        let value = json!({ text.clone(): [text, 1.5, null] });
        for printed in [line(&value).unwrap(), lines(&value).unwrap()] {
            assert!(printed.chars().all(|c| !steers(c) || c == '\n'), "{printed:?}");
            assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), value);
        }
        assert_eq!(
            line(&"\u{1b}\u{7f}\u{85}\u{9b}\u{202e}\u{2028}é").unwrap(),
            r#""\u001b\u007f\u0085\u009b\u202e\u2028é""#
        );
        assert_eq!(line(&value).unwrap().lines().count(), 1);
    }
}
