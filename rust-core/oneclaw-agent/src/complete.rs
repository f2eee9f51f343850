//! One text from a model, such as a summary or a title: asked for with as little reasoning as the model allows, and with room
//! for what it insists on.

use crate::failure::Failure;
use crate::session::Core;
use crate::target::{self, Target};
use oneclaw_model::Request;
use oneclaw_providers::{Adjustments, ProviderError, Reply, StopReason};
use std::sync::Arc;

/// How often a request is said otherwise because the service does not take a part of it.
const MOST_ADAPTATIONS: usize = 2;
/// The room that reasoning gets after it has used up a text, at least and at most, in tokens.
const MORE_ROOM: std::ops::RangeInclusive<u64> = 16_384..=65_536;

/// Asks for a text; `upper` is the size of the request. What the service does not take is said otherwise, and that is kept, as
/// is that reasoning needs more room than it had.
pub(crate) async fn complete(
    core: &Arc<Core>,
    target: &mut Target,
    request: &Request,
    upper: u64,
) -> Result<Reply, ProviderError> {
    let mut adaptations = 0;
    loop {
        let profile = target.profile_for(upper);
        match core.summary_client.complete(&target.endpoint, &profile, request).await {
            Ok(reply) => {
                if is_used_up(&reply) {
                    let used = reply.usage.map(|usage| usage.output).or(request.max_output).unwrap_or(0);
                    let room = used.saturating_mul(4).clamp(*MORE_ROOM.start(), *MORE_ROOM.end());
                    let known = target.profile.learnt.reasoning_room.unwrap_or(0);
                    let learnt = Adjustments {
                        reasoning_room: Some(room.max(known)),
                        ..target.profile.learnt.clone()
                    };
                    keep(core, target, learnt).await;
                }
                return Ok(reply);
            }
            Err(error) => {
                let learnt = match &error {
                    ProviderError::Unsupported { what, .. } => target.profile.learnt.after(what),
                    ProviderError::OutputCap { limit: Some(limit) } => {
                        target.profile.learnt.with_max_output(*limit)
                    }
                    _ => None,
                };
                adaptations += 1;
                match learnt.filter(|_| adaptations <= MOST_ADAPTATIONS) {
                    Some(learnt) => keep(core, target, learnt).await,
                    None => return Err(error),
                }
            }
        }
    }
}

/// Whether reasoning has used up the text: asked again with more room, it comes.
pub(crate) fn is_used_up(reply: &Reply) -> bool {
    reply.stop == StopReason::Length && reply.has_reasoning
}

/// Keeps what was learnt. Where the file cannot be written, it is learnt again next time.
async fn keep(core: &Arc<Core>, target: &mut Target, learnt: Adjustments) {
    let kept: Result<(), Failure> = target::keep_adjustments(core, target, &learnt).await;
    if let Err(failure) = kept {
        log::warn!("what {} does not take is not kept: {failure}", target.model);
    }
    target.profile.learnt = learnt;
}
