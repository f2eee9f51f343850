//! What every request of a turn has in common: the model, the policy, instructions and tools.

use crate::config::Offer;
use crate::failure::Failure;
use crate::lessons::Size;
use crate::live::Live;
use crate::offered;
use crate::session::Job;
use crate::target::{self, Target};
use oneclaw_context::plan::Summaries;
use oneclaw_context::{Fixed, Inputs, Moment, Plan, Policy, look, plan};
use oneclaw_model::ToolSpec;
use oneclaw_providers::Adjustments;
use oneclaw_store::{Fault, agents, sessions};
use std::sync::Arc;

/// The longest reply that is asked for where nobody says how long replies may be. All models in use give this much.
const UNTOLD_REPLY: u64 = 8_192;

/// The circumstances of a turn.
#[derive(Debug, Clone)]
pub(crate) struct Chat {
    pub target: Target,
    pub policy: Arc<Policy>,
    pub fixed: Fixed,
}

impl Chat {
    /// The circumstances of the session as they are now.
    pub async fn open(job: &Job) -> Result<Self, Failure> {
        let id = job.session.id.clone();
        let agent = job
            .core
            .read(move |connection| {
                let session = sessions::get(connection, &id)?;
                match agents::get(connection, &session.agent_id) {
                    Ok(agent) => Ok(Some(agent)),
                    Err(Fault::NoSuch { .. }) => Ok(None),
                    Err(other) => Err(other),
                }
            })
            .await?;
        let (system, mut names) = agent.map_or((None, vec![]), |a| (Some(a.system_prompt), a.tools));
        match &job.core.offer {
            Offer::AgentsChoice => {}
            Offer::Also(more) => names.extend(more.iter().cloned()),
            Offer::Only(these) => names.clone_from(these),
        }
        let mut chat = Self {
            target: target::of_session(&job.core, &job.session.id).await?,
            policy: job.core.policy(),
            fixed: fixed(system, job.core.tools.specs(&names)),
        };
        chat.prepare(job);
        Ok(chat)
    }

    /// The same for a request that is about to be sent: where nobody but the catalogue knows the model's limits, its service
    /// is asked first.
    pub async fn open_to_ask(job: &Job) -> Result<Self, Failure> {
        let mut chat = Self::open(job).await?;
        let target = chat.target.clone();
        chat.target = job.unless_stopped(offered::look_up(&job.core, target)).await??;
        chat.prepare(job);
        Ok(chat)
    }

    /// What this conversation knows of the model.
    fn prepare(&mut self, job: &Job) {
        self.target.profile.conversation = Some(job.session.id.clone());
        self.target.heed_refusals(&job.session);
        self.leave_out_tools();
    }

    /// Offers no tools to a model that takes none: they would be counted and not sent.
    fn leave_out_tools(&mut self) {
        if self.target.profile.learnt.no_tools && !self.fixed.tools.is_empty() {
            self.fixed = fixed(self.fixed.system.take(), vec![]);
        }
    }

    /// The tools on offer.
    pub fn offered(&self) -> &[ToolSpec] {
        &self.fixed.tools
    }

    /// What to do at a moment.
    pub fn plan(&self, live: &Live, moment: Moment, writer: Option<&Target>, ask: Asked<'_>) -> Plan {
        let limits = self.target.limits();
        let summariser = writer.unwrap_or(&self.target).summariser(self.policy.summary_tokens);
        let inputs = Inputs {
            summariser: Some(&summariser),
            focus: ask.focus,
            summaries: ask.summaries,
            ..Inputs::new(&live.conversation, &limits, &self.policy, &live.state, moment)
        };
        self.within_longest_reply(plan(&inputs))
    }

    /// The next request as things stand.
    pub fn look(&self, live: &Live, moment: Moment) -> Plan {
        let limits = self.target.limits();
        self.within_longest_reply(look(&Inputs::new(
            &live.conversation,
            &limits,
            &self.policy,
            &live.state,
            moment,
        )))
    }

    /// Of a model whose window is unknown, at least the longest reply may be known; of one whose longest reply is unknown, less
    /// is asked for than room was kept for: services refuse a request for more than the model gives.
    fn within_longest_reply(&self, mut plan: Plan) -> Plan {
        let longest = self.target.limits().max_output.map(|tokens| tokens.min(self.policy.output_cap));
        let untold = if self.target.is_known_to_reason() { u64::MAX } else { UNTOLD_REPLY };
        plan.request.max_output = match (plan.request.max_output, longest) {
            (Some(asked), None) => Some(asked.min(untold)),
            (asked, longest) => asked.or(longest),
        };
        plan
    }

    /// Keeps that a request was refused as too long, and says whether that can be: a request far below a known window is not
    /// too long, whatever the service means.
    pub async fn learn_from_refusal(
        &mut self,
        job: &Job,
        plan: &Plan,
        limit: Option<u64>,
        requested: Option<u64>,
    ) -> Result<bool, Failure> {
        if !self.target.take_refusal(&job.session, Size::of_plan(plan), limit, requested) {
            return Ok(false);
        }
        log::warn!(
            "{} refused a request of about {} tokens; window {:?}, factor {} from now on",
            self.target.model,
            plan.request_estimate.expected,
            self.target.limits().window,
            self.target.calibration().factor(),
        );
        target::keep_lessons(&job.core, &mut self.target).await?;
        Ok(true)
    }

    /// Asks for shorter replies after a refusal of one that would have been too long, and says whether that changes anything. The
    /// file learns of it when that has helped.
    pub fn learn_cap(&mut self, job: &Job, plan: &Plan, limit: Option<u64>) -> bool {
        let is_news = self.target.take_cap(&job.session, plan.request.max_output, limit);
        if is_news {
            let most = self.target.limits().max_output;
            log::warn!("{} gives no longer replies than {most:?} tokens", self.target.model);
        }
        is_news
    }

    /// Speaks to the model in the way that a refusal taught, and says whether it taught anything.
    pub fn adapt(&mut self, job: &Job, adjustments: Option<Adjustments>) -> bool {
        let Some(adjustments) = adjustments else { return false };
        log::warn!("{} does not take a part of the request; from now on: {adjustments:?}", self.target.model);
        self.target.adjust(&job.session, adjustments);
        self.leave_out_tools();
        true
    }
}

/// Instructions and tools as they go together.
fn fixed(system: Option<String>, tools: Vec<ToolSpec>) -> Fixed {
    let system = if tools.is_empty() { system.map(agents::without_tools) } else { system };
    Fixed::new(system, tools)
}

/// What a plan is asked beyond the ordinary.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub focus: Option<&'a str>,
    pub summaries: Summaries,
}

impl Asked<'_> {
    /// Nothing.
    pub const ORDINARY: Self = Self { focus: None, summaries: Summaries::Allowed };
}
