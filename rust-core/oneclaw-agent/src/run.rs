//! What a caller holds while a message is answered or a conversation compacted.

use crate::event::Event;
use crate::stop::Stop;
use tokio::sync::mpsc::UnboundedReceiver;

/// A run: events in order, until there are no more. Dropping it stops it.
#[derive(Debug)]
pub struct Run {
    /// The message that was saved, if the run began with one.
    pub message_id: Option<String>,
    pub(crate) events: UnboundedReceiver<Event>,
    pub(crate) stop: Stop,
}

impl Run {
    /// The next event; `None` when the run is over.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Ends the run; what was saved stays.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Something that can end the run from elsewhere.
    pub fn stopper(&self) -> Stop {
        self.stop.clone()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop.stop();
    }
}
