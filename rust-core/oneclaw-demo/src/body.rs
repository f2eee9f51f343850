//! Bodies: reading one within bounds, and sending one piece by piece.

use crate::log::{Ending, Ticket};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep, timeout};

/// The largest body that is read, as Anthropic documents it for its own service.
pub(crate) const MOST_BYTES: usize = 32 * 1024 * 1024;
/// A caller that sends more is listened to for a while, so that it gets to read the answer.
const MOST_DRAINED: usize = 2 * MOST_BYTES;
/// A caller that sends nothing for so long is given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why there is no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// More than [`MOST_BYTES`].
    TooLarge,
    /// The caller went away or fell silent.
    Broken,
}

/// Reads a whole body.
pub(crate) async fn read(mut body: Incoming) -> Result<Bytes, Unread> {
    let mut bytes = BytesMut::new();
    let mut total = 0_usize;
    loop {
        let frame = timeout(PATIENCE, body.frame()).await.map_err(|_| Unread::Broken)?;
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        total = total.saturating_add(data.len());
        if total <= MOST_BYTES {
            bytes.extend_from_slice(&data);
        } else {
            bytes = BytesMut::new();
        }
        if total > MOST_DRAINED {
            break;
        }
    }
    if total > MOST_BYTES { Err(Unread::TooLarge) } else { Ok(bytes.freeze()) }
}

/// A step of sending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Bytes(Bytes),
    Wait(Duration),
    /// Nothing more, but no end either.
    Stall,
    /// The connection breaks.
    Cut,
}

/// The connection is to be broken.
#[derive(Debug)]
pub(crate) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken off on purpose")
    }
}

impl std::error::Error for Cut {}

/// A body on its way out. It holds the exchange's place in the log: whoever drops it early has given up.
pub(crate) struct Outgoing {
    parts: VecDeque<Part>,
    pause: Option<Pin<Box<Sleep>>>,
    /// The length, where it is told beforehand.
    length: Option<u64>,
    ticket: Ticket,
}

impl Outgoing {
    /// A body whose length is told beforehand.
    pub fn whole(bytes: Bytes, mut ticket: Ticket) -> Self {
        let length = Some(bytes.len() as u64);
        // An empty body is never asked for.
        if bytes.is_empty() {
            ticket.end(Ending::Whole);
        }
        Self { parts: [Part::Bytes(bytes)].into(), pause: None, length, ticket }
    }

    /// A body that comes in pieces.
    pub fn pieces(parts: impl IntoIterator<Item = Part>, ticket: Ticket) -> Self {
        Self { parts: parts.into_iter().collect(), pause: None, length: None, ticket }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                std::task::ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            match self.parts.pop_front() {
                None => {
                    self.ticket.end(Ending::Whole);
                    return Poll::Ready(None);
                }
                Some(Part::Bytes(bytes)) => {
                    // A body of known length is not asked whether there is more.
                    if self.parts.is_empty() {
                        self.ticket.end(Ending::Whole);
                    }
                    return Poll::Ready(Some(Ok(Frame::data(bytes))));
                }
                Some(Part::Wait(time)) => self.pause = Some(Box::pin(sleep(time))),
                // The connection is watched by its owner; when it goes, so does this.
                Some(Part::Stall) => {
                    self.parts.push_front(Part::Stall);
                    return Poll::Pending;
                }
                Some(Part::Cut) => {
                    self.ticket.end(Ending::CutByServer);
                    return Poll::Ready(Some(Err(Cut)));
                }
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.length.map(SizeHint::with_exact).unwrap_or_default()
    }
}
