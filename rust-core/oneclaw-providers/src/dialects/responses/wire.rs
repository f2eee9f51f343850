//! Events and items of the stream, as far as they are looked at.

use super::item::Item;
use crate::json::{Count, Few, Maybe, Text};
use oneclaw_model::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Any event. The fields of all kinds stand side by side, so that one pass reads them in whatever order.
#[derive(Debug, Deserialize)]
pub(crate) struct Event<'a> {
    #[serde(default, borrow, rename = "type")]
    pub(super) kind: Text<'a>,
    #[serde(default)]
    pub(super) output_index: Option<Count>,
    #[serde(default, borrow)]
    pub(super) item_id: Text<'a>,
    #[serde(default)]
    pub(super) content_index: Count,
    #[serde(default)]
    pub(super) summary_index: Count,
    #[serde(default, borrow)]
    pub(super) delta: Text<'a>,
    #[serde(default, borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) response: Maybe<Response<'a>>,
    #[serde(default, borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// The reply as a whole.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Response<'a> {
    #[serde(default, borrow)]
    pub(super) status: Text<'a>,
    #[serde(default, borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) incomplete_details: Maybe<Incomplete<'a>>,
    #[serde(default, borrow)]
    pub(super) output: Few<&'a RawValue>,
    #[serde(default)]
    pub(super) usage: Maybe<WireUsage>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Incomplete<'a> {
    #[serde(default, borrow)]
    pub(super) reason: Text<'a>,
}

/// An item of the reply. The fields of all kinds stand side by side.
#[derive(Debug, Deserialize)]
pub(super) struct WireItem<'a> {
    #[serde(default, borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(default, borrow)]
    pub(super) id: Text<'a>,
    #[serde(default, borrow)]
    pub(super) call_id: Text<'a>,
    #[serde(default, borrow)]
    pub(super) name: Text<'a>,
    #[serde(default, borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub(super) content: Few<Content<'a>>,
    #[serde(default, borrow)]
    pub(super) summary: Few<Content<'a>>,
    #[serde(default, borrow)]
    pub(super) encrypted_content: Text<'a>,
    #[serde(default, borrow)]
    pub(super) phase: Text<'a>,
}

impl WireItem<'_> {
    pub(super) fn is(&self, item: Item) -> bool {
        self.kind.0 == item.word()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Content<'a> {
    #[serde(default, borrow)]
    pub(super) text: Text<'a>,
    #[serde(default, borrow)]
    pub(super) refusal: Text<'a>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    input_tokens_details: Maybe<InputDetails>,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    output_tokens_details: Maybe<OutputDetails>,
}

#[derive(Debug, Default, Deserialize)]
struct InputDetails {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    #[serde(default)]
    reasoning_tokens: Count,
}

impl WireUsage {
    /// The service counts what it read from the cache and wrote to it as input too.
    pub(super) fn normalised(&self) -> Usage {
        let (read, written) = match &self.input_tokens_details.0 {
            Some(details) => (details.cached_tokens.0, details.cache_write_tokens.0),
            None => (0, 0),
        };
        let reasoning = self.output_tokens_details.0.as_ref().map_or(0, |details| details.reasoning_tokens.0);
        Usage {
            input: self.input_tokens.0.saturating_sub(read).saturating_sub(written),
            cache_read: read,
            cache_write: written,
            output: self.output_tokens.0,
            reasoning,
        }
    }
}
