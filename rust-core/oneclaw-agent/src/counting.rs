//! Asks a service for the exact size of a request where a decision that costs the user something hangs on it.
//!
//! Decides when it is asked and which answers are believed; which request is worth asking about is the plan's word. Whatever
//! goes wrong here, the plan that was there is carried out: only a stop ends the turn.

use crate::chat::{Asked, Chat};
use crate::failure::Failure;
use crate::live::{self, Live};
use crate::session::{Core, Job, lock};
use oneclaw_context::estimate::{Anchor, Estimate};
use oneclaw_context::plan::SendReason;
use oneclaw_context::{Decision, Moment, Plan};
use oneclaw_model::Request;
use oneclaw_providers::Count;
use oneclaw_providers::count::counters;
use oneclaw_store::engine;
use tokio::time::Instant;

/// How many requests are counted for one that is sent: the first count may show that another one would settle the matter.
const MOST_COUNTS: usize = 2;
/// A count below a part of what is expected, or above a multiple of the upper bound, is not that of the request.
const FAR_OFF: u64 = 3;

/// What a turn has had counted.
#[derive(Debug)]
pub(crate) struct Counting {
    /// What was counted so far. A compaction takes the anchor out of the file; the request may be wanted again after it.
    counted: Vec<Anchor>,
    /// Whether counting has failed in this turn.
    has_failed: bool,
    /// How often the network had failed when the turn began.
    failures_before: u64,
}

impl Counting {
    /// For a turn that begins.
    pub fn new(core: &Core) -> Self {
        Self { counted: vec![], has_failed: false, failures_before: core.network_failures() }
    }

    /// The plan once what it wants counted is counted, as far as that is possible: made anew with the count as an anchor, or
    /// the same.
    pub async fn settle(
        &mut self,
        job: &Job,
        chat: &Chat,
        live: &mut Live,
        moment: Moment,
        mut plan: Plan,
    ) -> Result<Plan, Failure> {
        let before = live.state.anchor;
        for number in 0..MOST_COUNTS {
            let Some(anchor) = self.count(job, chat, &plan).await? else { break };
            if live.version != job.session.version() {
                // A compaction came between: what is sent is another request now.
                live.refresh(job, chat).await?;
                return Ok(chat.plan(live, moment, None, Asked::ORDINARY));
            }
            let earlier = live.state.anchor.replace(anchor);
            let next = chat.plan(live, moment, None, Asked::ORDINARY);
            if number > 0 && !is_settled(&next) {
                // The first count speaks for every form of the request, this one for the longest alone.
                live.state.anchor = earlier;
                break;
            }
            plan = next;
        }
        if live.state.anchor != before {
            keep(job, chat, live.state.anchor).await;
        }
        Ok(plan)
    }

    /// The size of the request that the plan wants counted. `None` where none is wanted or none is to be had.
    async fn count(&mut self, job: &Job, chat: &Chat, plan: &Plan) -> Result<Option<Anchor>, Failure> {
        let Some(request) = plan.count_first.as_deref() else { return Ok(None) };
        let model = Some(&chat.target.model);
        let is_of_all = |anchor: &&Anchor| anchor.covers(request, model) == Some(request.messages.len());
        if let Some(known) = self.counted.iter().find(is_of_all) {
            return Ok(Some(*known));
        }
        let limits = chat.target.limits();
        let is_known = limits.window.or(limits.input_limit).is_some();
        let has_failed = self.has_failed || job.core.network_failures() != self.failures_before;
        if has_failed || !is_known {
            return Ok(None);
        }
        let size = match job.unless_stopped(ask(job, chat, plan, request)).await? {
            Count::Counted(size) => size,
            Count::NoSuchEndpoint => return Ok(None),
            Count::Failed(error) => {
                log::info!("{} did not count a request: {error}", chat.target.model);
                self.has_failed = true;
                return Ok(None);
            }
        };
        let Estimate { expected, upper } = estimate(plan, request);
        if size < expected / FAR_OFF || size > upper.saturating_mul(FAR_OFF) {
            log::warn!("a count of {size} tokens is not believed (expected {expected}, at most {upper})");
            self.has_failed = true;
            return Ok(None);
        }
        log::info!("counted {size} tokens (expected {expected}, at most {upper})");
        let anchor = Anchor::new(request, model, size);
        self.counted.push(anchor);
        Ok(Some(anchor))
    }
}

/// Whether the request goes out as it is, and nothing is given up for that.
fn is_settled(plan: &Plan) -> bool {
    match plan.decision {
        Decision::Send(reason) => !matches!(reason, SendReason::ShorterReply | SendReason::Tried),
        Decision::Compact(_) | Decision::Irreducible { .. } => false,
    }
}

/// The size of a request as the plan sees it.
fn estimate(plan: &Plan, request: &Request) -> Estimate {
    match plan.request.messages == request.messages {
        true => plan.request_estimate,
        false => plan.estimate,
    }
}

/// Asks by the endpoints that the service may have, one after another, until one is there.
async fn ask(job: &Job, chat: &Chat, plan: &Plan, request: &Request) -> Count {
    let core = &job.core;
    // It is free, so it counts as a request only.
    let client = core.client.metered(job.meter.clone());
    let target = &chat.target;
    let (origin, profile) = (target.endpoint.origin(), target.profile_for(plan.request_estimate.upper));
    let deadline = Instant::now() + core.patience.count;
    for counter in counters(&target.endpoint, &profile, request) {
        if lock(&core.uncounted).contains(&(origin.clone(), *counter)) {
            continue;
        }
        let patience = deadline.saturating_duration_since(Instant::now());
        match client.count(*counter, &target.endpoint, &profile, request, patience).await {
            Count::NoSuchEndpoint => {
                lock(&core.uncounted).insert((origin.clone(), *counter));
            }
            Count::Failed(error) => {
                core.note_failure(&error);
                return Count::Failed(error);
            }
            counted @ Count::Counted(_) => return counted,
        }
    }
    Count::NoSuchEndpoint
}

/// Keeps the anchor, as after a report. Where the file cannot be written it holds for this turn.
async fn keep(job: &Job, chat: &Chat, anchor: Option<Anchor>) {
    let Some(note) = anchor.and_then(|anchor| live::anchor_note(anchor, chat)) else { return };
    let session = job.session.id.clone();
    if let Err(failure) = job.core.write(move |t| engine::set_anchor(t, &session, &note)).await {
        log::warn!("a count is not kept: {failure}");
    }
}
