//! Which reasoning of earlier replies goes back to the model.
//!
//! Services bind reasoning to everything that stood before it: model, system text, tools and earlier messages. After a
//! compaction, a pruning or a change of instructions or tools it would be refused, so it is left out; and as it is chained
//! too, it is left out from the start of the turn on, never in the middle. What is not bound (a field of plain text) stays.

use crate::conversation::Conversation;
use crate::estimate::Cost;
use crate::fingerprint::Fingerprint;
use oneclaw_model::{ModelId, Piece, Replay, Request, RequestMessage, Trace};

/// An assistant message of a request with reasoning that is bound to what stands before it.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// Its place among the messages.
    pub message: usize,
    /// The fingerprint of what the reasoning was made on; `None` where that was not kept.
    pub prefix: Option<u64>,
    /// What the reasoning costs.
    pub cost: Cost,
    /// Whether two replies became one message: their order is lost, and with it what stood before.
    pub is_merged: bool,
}

/// The pieces of a reply's trace that may go back: all in the open turn, plain fields as the model wants them. Empty where no reasoning is among them: the order of the rest does not matter then.
pub(crate) fn candidates(trace: &Trace, replay: Replay, in_open_turn: bool, has_calls: bool) -> Vec<Piece> {
    let fields = match replay {
        Replay::OpenTurn => in_open_turn,
        Replay::NoFields => false,
        Replay::EveryCall => in_open_turn || has_calls,
    };
    let stays = |piece: &&Piece| match piece {
        Piece::Thinking(thinking) if thinking.is_bound() => in_open_turn,
        Piece::Thinking(_) => fields,
        Piece::Text { .. } | Piece::Call => true,
    };
    let without_signature = |piece: Piece| match piece {
        Piece::Text { bytes, .. } if !in_open_turn => Piece::Text { bytes, signature: None },
        other => other,
    };
    unless_idle(trace.pieces.iter().filter(stays).cloned().map(without_signature).collect())
}

/// Whether a piece is refused on another prefix than its own.
pub(crate) fn is_bound(piece: &Piece) -> bool {
    match piece {
        Piece::Thinking(thinking) => thinking.is_bound(),
        Piece::Text { signature, .. } => signature.is_some(),
        Piece::Call => false,
    }
}

/// Leaves out of a request what does not stand where it was made. Returns what each message costs less.
pub(crate) fn settle(
    request: &mut Request,
    model: Option<&ModelId>,
    bound: &[Bound],
    conversation: &Conversation,
) -> Vec<(usize, Cost)> {
    let Some(last) = bound.iter().map(|bound| bound.message).max() else { return vec![] };
    // What was written down without its prefix is taken to stand on the conversation as it is written down.
    let is_as_written = conversation.epoch.is_none() && conversation.marks.is_empty();
    let mut fingerprint = Fingerprint::begin(request, model);
    let mut last_refused = None;
    for (at, message) in request.messages.iter().enumerate().take(last + 1) {
        for here in bound.iter().filter(|bound| bound.message == at) {
            let stands = here.prefix.map_or(is_as_written, |prefix| prefix == fingerprint.value());
            if here.is_merged || !stands {
                last_refused = Some(at);
            }
        }
        fingerprint.message(message);
    }
    let Some(last_refused) = last_refused else { return vec![] };
    let left_out = bound.iter().filter(|bound| bound.message <= last_refused);
    left_out
        .map(|bound| {
            if let Some(RequestMessage::Assistant { trace, calls, .. }) =
                request.messages.get_mut(bound.message)
            {
                *trace = unless_idle(std::mem::take(trace).into_iter().filter_map(unbound).collect());
                calls.iter_mut().for_each(|call| call.signature = None);
            }
            (bound.message, bound.cost)
        })
        .collect()
}

fn unbound(piece: Piece) -> Option<Piece> {
    match piece {
        Piece::Text { bytes, .. } => Some(Piece::Text { bytes, signature: None }),
        piece if is_bound(&piece) => None,
        piece => Some(piece),
    }
}

/// A trace that holds nothing but an order says nothing.
fn unless_idle(pieces: Vec<Piece>) -> Vec<Piece> {
    let says_something = |piece: &Piece| match piece {
        Piece::Thinking(_) => true,
        Piece::Text { signature, .. } => signature.is_some(),
        Piece::Call => false,
    };
    if pieces.iter().any(says_something) { pieces } else { vec![] }
}
