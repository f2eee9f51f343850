//! The stream of OpenAI Responses.

use crate::StreamEvent;
use crate::decode::{Fault, Flow};
use serde::Deserialize;

/// What is known of the reply so far.
#[derive(Debug, Default)]
pub(crate) struct Reader {}

/// Any event.
#[derive(Debug, Deserialize)]
pub(crate) struct Event {}

impl Reader {
    /// Reads an event; `name` is what the stream calls it.
    pub(crate) fn read(
        &mut self,
        _name: &str,
        _event: Event,
        _out: &mut Vec<StreamEvent>,
    ) -> Result<Flow, Fault> {
        Ok(Flow::More)
    }
}
