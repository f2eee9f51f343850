//! One text from a model, such as a summary or a title: asked for with as little reasoning as the model allows, and with room
//! for what it insists on.

use crate::session::{Core, Session};
use crate::target::{self, Target};
use oneclaw_model::Request;
use oneclaw_providers::{Adjustments, Meter, ProviderError, Reply, StopReason};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// How often a request is sent in another form because the service does not take a part of it.
const MOST_ADAPTATIONS: usize = 2;
/// The room that reasoning gets after it has used up a text, at least and at most, in tokens.
const MORE_ROOM: std::ops::RangeInclusive<u64> = 16_384..=65_536;

/// Who asks for a text.
#[derive(Clone)]
pub(crate) struct Writing {
    pub core: Arc<Core>,
    pub session: Arc<Session>,
    /// What may be spent on it.
    pub meter: Meter,
    /// How many texts were rejected so far.
    pub rejected: Arc<AtomicU32>,
}

/// Asks for a text; `upper` is the size of the request. Where the service does not take a part, it is sent in another form,
/// and that is kept, as is that reasoning needs more room than it had.
pub(crate) async fn complete(
    writing: &Writing,
    target: &mut Target,
    request: &Request,
    upper: u64,
) -> Result<Reply, ProviderError> {
    let Writing { core, session, meter, .. } = writing;
    let client = core.summary_client.metered(meter.for_size(upper));
    let mut adaptations = 0;
    loop {
        let profile = target.profile_for(upper);
        match client.complete(&target.endpoint, &profile, request).await {
            Ok(reply) => {
                if is_used_up(&reply) {
                    let used = reply.usage.map(|usage| usage.output).or(request.max_output).unwrap_or(0);
                    let room = used.saturating_mul(4).clamp(*MORE_ROOM.start(), *MORE_ROOM.end());
                    let known = target.profile.learnt.reasoning_room.unwrap_or(0);
                    let learnt = Adjustments {
                        reasoning_room: Some(room.max(known)),
                        ..target.profile.learnt.clone()
                    };
                    target.set_adjustments(learnt);
                }
                if target.is_adjusted {
                    target::keep_adjustments(core, target).await;
                }
                if let Err(failure) = target::keep_lessons(core, target).await {
                    log::warn!("what was learnt about {} is not kept: {failure}", target.model);
                }
                return Ok(reply);
            }
            Err(error) => {
                core.note_failure(&error);
                adaptations += 1;
                if adaptations > MOST_ADAPTATIONS || !is_adapted(session, target, &error) {
                    return Err(error);
                }
            }
        }
    }
}

/// Changes how the model is asked so that what it refused does not come again. `false` where nothing can be changed.
fn is_adapted(session: &Session, target: &mut Target, error: &ProviderError) -> bool {
    match error {
        ProviderError::OutputCap { limit } => target.take_cap(session, None, *limit),
        ProviderError::Unsupported { what, .. } => {
            let adjustments = target.profile.learnt.after(what);
            let is_news = adjustments.is_some();
            adjustments.into_iter().for_each(|adjustments| target.set_adjustments(adjustments));
            is_news
        }
        _ => false,
    }
}

/// Whether reasoning has used up the text: asked again with more room, it comes.
pub(crate) fn is_used_up(reply: &Reply) -> bool {
    let is_mostly_reasoning =
        reply.usage.is_some_and(|usage| usage.reasoning.saturating_mul(2) > usage.output);
    reply.stop == StopReason::Length
        && reply.has_reasoning
        && (reply.text.trim().is_empty() || is_mostly_reasoning)
}
