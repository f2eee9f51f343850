//! Reasoning that comes in fields beside the text, kept so that it can go back as it came.
//!
//! `reasoning_content` and `reasoning` are texts in pieces. `reasoning_details` (OpenRouter) is a list of parts: the pieces
//! of a part's text are joined, everything else is kept as it stands. Which of it goes back is decided when a request is
//! written: the reader does not know the server.

use crate::ProviderError;
use crate::draft::{Draft, protocol};
use crate::json::{self, Few};
use oneclaw_model::Thinking;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use std::fmt;

/// The fields' names.
pub(super) const CONTENT: &str = "reasoning_content";
pub(super) const REASONING: &str = "reasoning";
pub(super) const DETAILS: &str = "reasoning_details";

/// The most parts of one reply's `reasoning_details`.
const MOST_DETAILS: usize = 1_024;
/// The most fields of one part.
const MOST_FIELDS: usize = 32;

/// What was kept of a reply's reasoning.
#[derive(Debug, Default)]
pub(super) struct Kept {
    content: String,
    reasoning: String,
    details: Vec<Detail>,
}

/// A part of `reasoning_details`.
#[derive(Debug)]
pub(super) struct Detail {
    fields: Fields,
    /// The name of the field whose text comes in pieces, and the text so far.
    text: Option<(&'static str, String)>,
}

/// The parts in a delta; none where the field holds anything else.
pub(super) fn details(raw: Option<&RawValue>) -> Vec<Detail> {
    let parts: Few<Fields> = raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    parts.0.into_iter().map(Detail::of).collect()
}

impl Kept {
    /// The pieces of a delta: `reasoning_content`, `reasoning` and the parts.
    pub(super) fn take(
        &mut self,
        content: &str,
        reasoning: &str,
        details: Vec<Detail>,
        draft: &mut Draft,
    ) -> Result<(), ProviderError> {
        for detail in details {
            self.add(detail, draft)?;
        }
        draft.spend(content.len())?;
        self.content.push_str(content);
        // The parts say the same, and `reasoning_content` repeats it where both are sent.
        if self.details.is_empty() && self.content.is_empty() {
            draft.spend(reasoning.len())?;
            self.reasoning.push_str(reasoning);
        }
        Ok(())
    }

    fn add(&mut self, mut next: Detail, draft: &mut Draft) -> Result<(), ProviderError> {
        if let Some(last) = self.details.last_mut().filter(|last| last.is_continued_by(&next)) {
            if let (Some((_, text)), Some((_, more))) = (&mut last.text, next.text.take()) {
                draft.spend(more.len())?;
                text.push_str(&more);
            }
            for (name, value) in next.fields.0 {
                if last.fields.says(&name).is_none() {
                    draft.spend(name.len() + value.get().len())?;
                    last.fields.set(name, value);
                }
            }
            return Ok(());
        }
        if self.details.len() == MOST_DETAILS {
            return Err(protocol(format!("the reasoning of the reply has more than {MOST_DETAILS} parts")));
        }
        let bytes = next.fields.0.iter().map(|(name, value)| name.len() + value.get().len());
        draft.spend(bytes.sum())?;
        self.details.push(next);
        Ok(())
    }

    /// What has to go back, once the reply is over.
    pub(super) fn thoughts(&mut self) -> Vec<Thinking> {
        let kept = std::mem::take(self);
        let field = |name: &str, json: String| Thinking::Field { name: name.to_owned(), json };
        let text = |text: &str| serde_json::to_string(text).ok();
        let mut thoughts = Vec::new();
        if !kept.content.is_empty() {
            thoughts.extend(text(&kept.content).map(|json| field(CONTENT, json)));
        }
        if !kept.details.is_empty() {
            let parts: Vec<Fields> = kept.details.into_iter().map(Detail::whole).collect();
            thoughts.extend(serde_json::to_string(&parts).ok().map(|json| field(DETAILS, json)));
        } else if kept.content.is_empty() && !kept.reasoning.is_empty() {
            thoughts.extend(text(&kept.reasoning).map(|json| field(REASONING, json)));
        }
        thoughts
    }
}

impl Detail {
    fn of(fields: Fields) -> Self {
        let text = ["text", "summary"].into_iter().find_map(|name| {
            let raw = fields.says(name).filter(|raw| raw.get().starts_with('"'))?;
            Some((name, json::arguments(Some(raw)).ok()?.into_owned()))
        });
        Self { fields, text }
    }

    /// What people read of it.
    pub(super) fn text(&self) -> &str {
        self.text.as_ref().map_or("", |(_, text)| text)
    }

    /// Whether the next part of a delta is the next piece of this one: the same kind of text, at the same place. A signature
    /// comes last; what follows it is another part.
    fn is_continued_by(&self, next: &Self) -> bool {
        let same = |name: &str| match (self.fields.says(name), next.fields.says(name)) {
            (Some(this), Some(next)) => this.get() == next.get(),
            _ => true,
        };
        let is_kind = |kind: &str| self.fields.says("type").is_some_and(|raw| raw.get() == kind);
        let is_text = is_kind("\"reasoning.text\"") || is_kind("\"reasoning.summary\"");
        let is_same_kind = next.fields.says("type").is_some() && same("type");
        let is_over = self.fields.says("signature").is_some() && next.text.is_some();
        let is_named_alike = match (&self.text, &next.text) {
            (Some((this, _)), Some((next, _))) => this == next,
            (None, Some(_)) => false,
            (_, None) => true,
        };
        is_text && is_same_kind && is_named_alike && same("index") && same("id") && !is_over
    }

    fn whole(self) -> Fields {
        let mut fields = self.fields;
        if let Some((name, text)) = self.text
            && let Ok(raw) = to_raw_value(&text)
        {
            fields.set(name.to_owned(), raw);
        }
        fields
    }
}

/// The fields of an object in their order, each as it came.
#[derive(Debug)]
struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    /// The value of a field, if it says anything.
    fn says(&self, name: &str) -> Option<&RawValue> {
        let found = self.0.iter().find(|(found, _)| found == name);
        found.map(|(_, value)| &**value).filter(|value| !json::is_blank(value))
    }

    fn set(&mut self, name: String, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(found, _)| *found == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            if fields.len() == MOST_FIELDS {
                return Err(A::Error::custom("too many fields"));
            }
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(deltas: &[(&str, &str, &str)]) -> Vec<(String, String)> {
        let (mut kept, mut draft) = (Kept::default(), Draft::default());
        for (content, reasoning, parts) in deltas {
            let raw: Box<RawValue> = serde_json::from_str(parts).unwrap();
            kept.take(content, reasoning, details(Some(&raw)), &mut draft).unwrap();
        }
        let thoughts = kept.thoughts().into_iter();
        thoughts
            .map(|thought| match thought {
                Thinking::Field { name, json } => (name, json),
                other => panic!("{other:?}"),
            })
            .collect()
    }

    fn parts(deltas: &[&str]) -> String {
        let deltas: Vec<_> = deltas.iter().map(|parts| ("", "x", *parts)).collect();
        let thoughts = kept(&deltas);
        assert_eq!(thoughts.len(), 1);
        assert_eq!(thoughts[0].0, DETAILS);
        thoughts[0].1.clone()
    }

    #[test]
    fn texts_are_joined_and_the_fuller_field_is_kept() {
        let field = |name: &str, json: &str| (name.to_owned(), json.to_owned());
        assert_eq!(kept(&[("a\n", "a\n", "null"), ("b", "", "[]")]), [field(CONTENT, r#""a\nb""#)]);
        assert_eq!(kept(&[("", "a", "null"), ("", "b", "7")]), [field(REASONING, r#""ab""#)]);
        assert_eq!(kept(&[("", "", "null")]), []);
        let both = kept(&[("a", "a", r#"[{"type":"reasoning.text","text":"a"}]"#)]);
        assert_eq!(both.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), [CONTENT, DETAILS]);
    }

    #[test]
    fn pieces_of_a_part_are_joined_and_parts_stay_apart() {
        assert_eq!(
            parts(&[
                r#"[{"type":"reasoning.text","text":"a","format":"f","index":0}]"#,
                r#"[{"type":"reasoning.text","text":"\n","index":0,"id":null}]"#,
                r#"[{"type":"reasoning.text","signature":"s","index":0}]"#,
                r#"[{"type":"reasoning.text","text":"c","index":0}]"#,
            ]),
            r#"[{"type":"reasoning.text","text":"a\n","format":"f","index":0,"id":null,"signature":"s"},{"type":"reasoning.text","text":"c","index":0}]"#
        );
        assert_eq!(
            parts(&[
                r#"[{"type":"reasoning.summary","summary":"a","index":0}]"#,
                r#"[{"type":"reasoning.summary","summary":"b","index":1},{"type":"reasoning.encrypted","data":"x","id":"r"}]"#,
                r#"[{"type":"reasoning.encrypted","data":"y","id":"r"},{"new":{"a": [1.50]}}]"#,
            ]),
            r#"[{"type":"reasoning.summary","summary":"a","index":0},{"type":"reasoning.summary","summary":"b","index":1},{"type":"reasoning.encrypted","data":"x","id":"r"},{"type":"reasoning.encrypted","data":"y","id":"r"},{"new":{"a": [1.50]}}]"#
        );
    }

    #[test]
    fn what_is_kept_has_its_limits() {
        let (mut kept, mut draft) = (Kept::default(), Draft::default());
        let raw: Box<RawValue> =
            serde_json::from_str(r#"[{"type":"reasoning.encrypted","data":"x"}]"#).unwrap();
        for _ in 0..MOST_DETAILS {
            kept.take("", "", details(Some(&raw)), &mut draft).unwrap();
        }
        assert!(kept.take("", "", details(Some(&raw)), &mut draft).is_err());
        // Repeated fields of pieces that are joined are not kept, so they do not count.
        let (mut kept, mut draft) = (Kept::default(), Draft::default());
        let long = format!(r#"[{{"type":"reasoning.text","text":"x","format":"{}"}}]"#, "f".repeat(1_000));
        let raw: Box<RawValue> = serde_json::from_str(&long).unwrap();
        for _ in 0..20_000 {
            kept.take("", "", details(Some(&raw)), &mut draft).unwrap();
        }
        assert!(kept.take(&"x".repeat(8 << 20), "", vec![], &mut draft).is_err());
        let many: String = (0..40).map(|n| format!("\"{n}\":0,")).collect();
        let raw: Box<RawValue> = serde_json::from_str(&format!("[{{{many}\"x\":0}}]")).unwrap();
        assert!(details(Some(&raw)).is_empty());
    }
}
