//! Fields of a payload as services really write them.
//!
//! This module decides what of a payload's shape is let pass: a null where a text belongs, a number with a point where
//! a count belongs, half of a surrogate pair. It does *not* know any service's fields. Texts borrow from the payload
//! where they hold no escapes; nothing is read into a tree.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The most elements a list in a payload may have. Real ones have a handful; each takes many times the bytes it had.
const MAX_ELEMENTS: usize = 1024;

/// Reads a payload. Where it fails for half a surrogate pair (a server that cuts by UTF-16 units), that half is
/// replaced in `spare`, and the payload is read from there.
pub(crate) fn parse<'a, T: Deserialize<'a>>(data: &'a str, spare: &'a mut String) -> serde_json::Result<T> {
    serde_json::from_str(data).or_else(|error| match without_lone_surrogates(data) {
        Some(repaired) => {
            *spare = repaired;
            serde_json::from_str(spare)
        }
        None => Err(error),
    })
}

/// A text; null and whatever is no text count as empty, as does a field that is missing.
#[derive(Debug, Default)]
pub(crate) struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de> FromAny<'de> for Text<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(text)
    }
}

/// A text, or the list of parts that some services send in its place.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    /// The text, if it is one.
    pub text: Text<'a>,
    /// The parts, if there are any.
    pub parts: Vec<Part<'a>>,
}

/// A part of a text: text or reasoning.
#[derive(Debug, Deserialize)]
pub(crate) struct Part<'a> {
    #[serde(default, borrow)]
    pub text: Text<'a>,
    #[serde(default, borrow)]
    pub thinking: Content<'a>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de> FromAny<'de> for Content<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self { text: Text(text), parts: Vec::new() }
    }

    fn list<A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        Ok(Self { text: Text::default(), parts: Few::list(list)?.0 })
    }
}

/// A count of tokens; null and whatever is no number count as zero, a negative number too, and what no column could hold as
/// the most it could.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count(pub u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl FromAny<'_> for Count {
    fn count(count: u64) -> Self {
        Self(count.min(i32::MAX as u64))
    }
}

/// The first element of a list; the others are passed over.
#[derive(Debug)]
pub(crate) struct First<T>(pub Option<T>);

impl<T> Default for First<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for First<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> FromAny<'de> for First<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let first = list.next_element()?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(first))
    }
}

/// A list of a few elements; null counts as an empty one.
#[derive(Debug)]
pub(crate) struct Few<T>(pub Vec<T>);

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> FromAny<'de> for Few<T> {
    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut few = Vec::new();
        while let Some(element) = list.next_element()? {
            if few.len() == MAX_ELEMENTS {
                return Err(A::Error::custom("too many elements"));
            }
            few.push(element);
        }
        Ok(Self(few))
    }
}

/// An object; null, an empty text and an empty list count as none.
#[derive(Debug)]
pub(crate) struct Maybe<T>(pub Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MaybeVisitor(PhantomData))
    }
}

struct MaybeVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for MaybeVisitor<T> {
    type Value = Maybe<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Maybe<T>, E> {
        Ok(Maybe(None))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Maybe<T>, E> {
        if text.is_empty() { Ok(Maybe(None)) } else { Err(E::custom("a text in the place of an object")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Maybe<T>, A::Error> {
        match list.next_element::<IgnoredAny>()? {
            None => Ok(Maybe(None)),
            Some(_) => Err(A::Error::custom("a list in the place of an object")),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Maybe<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|value| Maybe(Some(value)))
    }
}

/// Whether a JSON value says nothing: an empty object, list or text, null or false.
pub(crate) fn is_blank(raw: &RawValue) -> bool {
    let letters = raw.get().bytes().filter(|byte| !byte.is_ascii_whitespace());
    let start: Vec<u8> = letters.take(6).collect();
    [&b"{}"[..], b"[]", b"\"\"", b"null", b"false"].contains(&start.as_slice())
}

/// The arguments of a call as JSON text: what the text says where they come as a text, else the object letter for
/// letter. Empty where there are none.
pub(crate) fn arguments<'a>(raw: Option<&'a RawValue>) -> serde_json::Result<Cow<'a, str>> {
    let json = raw.map_or("", RawValue::get);
    match json.as_bytes().first() {
        None | Some(b'n') => Ok(Cow::Borrowed("")),
        Some(b'"') => match serde_json::from_str::<Text<'a>>(json) {
            Ok(text) => Ok(text.0),
            Err(error) => match without_lone_surrogates(json) {
                Some(repaired) => serde_json::from_str(&repaired).map(Cow::Owned),
                None => Err(error),
            },
        },
        Some(_) => Ok(Cow::Borrowed(json)),
    }
}

/// The JSON with every half of a surrogate pair replaced; `None` where there is none, or no JSON.
fn without_lone_surrogates(json: &str) -> Option<String> {
    const REPLACEMENT: &str = "\\ufffd";
    let mut repaired = String::new();
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        repaired.push_str(before);
        let (length, lone) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => (12, false),
            (Some(0xD800..0xE000), _) => (6, true),
            (Some(_), _) => (6, false),
            (None, _) => (2, false),
        };
        let (escape, after) = escape.split_at_checked(length)?;
        repaired.push_str(if lone { REPLACEMENT } else { escape });
        rest = after;
    }
    repaired.push_str(rest);
    (repaired != json).then_some(repaired)
}

/// The UTF-16 unit that an escape at the start of the text stands for.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// What can be made of any JSON value; nothing, unless said otherwise.
trait FromAny<'de>: Default {
    fn text(_: Cow<'de, str>) -> Self {
        Self::default()
    }

    fn count(_: u64) -> Self {
        Self::default()
    }

    fn list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

struct Any<T>(PhantomData<T>);

impl<'de, T: FromAny<'de>> Visitor<'de> for Any<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::count(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::count(u64::try_from(number).unwrap_or(0)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        // The cast keeps to the range: negative numbers become zero.
        Ok(T::count(number as u64))
    }

    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Payload<'a> {
        #[serde(default, borrow)]
        text: Text<'a>,
        #[serde(default)]
        count: Count,
        #[serde(default, borrow)]
        first: First<Text<'a>>,
        #[serde(default, borrow)]
        few: Few<Text<'a>>,
    }

    #[test]
    fn texts_borrow_where_they_can() {
        let payload: Payload<'_> = serde_json::from_str(r#"{"text":"é","few":["a","\n"]}"#).unwrap();
        assert!(matches!(payload.text.0, Cow::Borrowed("é")));
        assert!(matches!(payload.few.0[0].0, Cow::Borrowed("a")));
        assert!(matches!(&payload.few.0[1].0, Cow::Owned(text) if text == "\n"));
    }

    #[test]
    fn other_values_count_as_nothing() {
        for value in ["null", "true", "{\"a\":[1]}", "[]", "\"\"", "0", "-3", "-0.5"] {
            let json = format!(r#"{{"text":{value},"count":{value},"first":{value},"few":{value}}}"#);
            let payload: Payload<'_> = serde_json::from_str(&json).unwrap();
            assert!(payload.text.is_empty(), "{value}");
            assert_eq!(payload.count.0, 0, "{value}");
            assert!(payload.first.0.is_none() && payload.few.0.is_empty(), "{value}");
        }
    }

    #[test]
    fn objects_may_be_missing_in_many_ways() {
        for value in ["null", "\"\"", "[]", " [ ] "] {
            assert!(serde_json::from_str::<Maybe<Payload<'_>>>(value).unwrap().0.is_none(), "{value}");
        }
        let there = serde_json::from_str::<Maybe<Payload<'_>>>(r#"{"text":"a"}"#).unwrap().0;
        assert_eq!(there.unwrap().text.0, "a");
        for value in ["\"a\"", "[1]", "3", "true"] {
            assert!(serde_json::from_str::<Maybe<Payload<'_>>>(value).is_err(), "{value}");
        }
    }

    #[test]
    fn counts_may_have_a_point() {
        for (value, count) in [("7", 7), ("7.0", 7), ("7.9", 7), ("1e3", 1000), ("1e300", i32::MAX as u64)] {
            assert_eq!(serde_json::from_str::<Count>(value).unwrap().0, count);
        }
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced() {
        for (json, repaired) in [
            (r"\ud83d", Some(r"\ufffd")),
            (r"a\uDE00b", Some(r"a\ufffdb")),
            (r"\ud83d\ud83d\ude00\ude00", Some(r"\ufffd\ud83d\ude00\ufffd")),
            (r"\ud83d\n\u0041", Some(r"\ufffd\n\u0041")),
            (r"\\ud83d\ude00", Some(r"\\ud83d\ufffd")),
            (r"\ud83d\ude00 \\ud83d \u00e9", None),
            (r"\ud83", None),
            (r"\", None),
            ("\\é", None),
        ] {
            assert_eq!(without_lone_surrogates(json).as_deref(), repaired, "{json}");
        }
    }

    #[test]
    fn arguments_are_text_or_taken_as_they_stand() {
        for (json, expected) in [
            ("null", ""),
            (r#""""#, ""),
            (r#""{\"a\":1}""#, r#"{"a":1}"#),
            (r#"{ "b":2, "a" : 1.50 }"#, r#"{ "b":2, "a" : 1.50 }"#),
            (r#""{\"a\":\"\ud83d\"}""#, "{\"a\":\"\u{fffd}\"}"),
        ] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            assert_eq!(arguments(Some(raw)).unwrap(), expected);
        }
        assert_eq!(arguments(None).unwrap(), "");
    }
}
