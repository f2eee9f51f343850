//! A signal that a run should end: given once, seen by everyone who waits.

use std::sync::Arc;
use tokio::sync::watch;

/// Who wants it to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The user, by stopping it or by letting go of it. What was begun is given up.
    User,
    /// The agent closes. What was begun is taken up again later.
    Closing,
}

/// The signal.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<Option<Why>>>);

impl Stop {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    /// Ends the run: the partial reply is kept and marked as interrupted. Later calls change nothing.
    pub fn stop(&self) {
        self.give(Why::User);
    }

    pub(crate) fn give(&self, why: Why) {
        self.0.send_if_modified(|given| {
            let is_first = given.is_none();
            given.get_or_insert(why);
            is_first
        });
    }

    /// Whether both are the same signal.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn given(&self) -> Option<Why> {
        *self.0.borrow()
    }

    /// Waits for the signal.
    pub(crate) async fn wait(&self) {
        let mut seen = self.0.subscribe();
        // The sender lives as long as `self`.
        let _ = seen.wait_for(Option::is_some).await;
    }
}
