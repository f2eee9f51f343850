//! From a conversation to a decision with the exact requests: send, compact, or say what is too big.
//!
//! One pure function. It calls no model: where a summary is needed it says which requests make one, and where none can
//! be had it goes down the ladder itself (`ladder.rs`).

mod cover;
mod ladder;
mod planner;
mod stage;

use crate::assemble::Parts;
use crate::budget::Budget;
use crate::conversation::{Attempt, Conversation, Epoch};
use crate::estimate::{Estimate, EstimatorState, Tariff};
use crate::policy::Policy;
use crate::prune::Marks;
use crate::summary::gate::Gate;
use crate::summary::prompt::{SummaryPlan, SummaryRequest};
use ladder::Steps;
use oneclaw_model::{MessageId, ModelLimits, Request};
use planner::Planner;
use serde::{Deserialize, Serialize};
use stage::Stage;

/// OpenCode's line for a tool loop that a compaction interrupted.
pub const AUTO_CONTINUE: &str = "Continue if you have next steps";

/// When the engine is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The user has sent something.
    BeforeSend,
    /// Tool results are in, the next request follows.
    AfterTools,
    /// The reply is complete.
    AfterResponse,
    /// The user asked for a compaction.
    Manual,
    /// The provider said that the request was too long.
    Overflow,
}

/// Whether a model may be asked for a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summaries {
    /// It may.
    Allowed,
    /// It was, and failed: only steps that need no model are left.
    Failed,
}

/// The model that writes summaries, where it is not the chat model.
#[derive(Debug, Clone)]
pub struct Summariser {
    /// What it can hold.
    pub limits: ModelLimits,
    /// How it counts.
    pub tariff: Tariff,
}

/// Everything a plan depends on.
#[derive(Debug, Clone, Copy)]
pub struct Inputs<'a> {
    /// The session since its newest epoch.
    pub conversation: &'a Conversation,
    /// What the model can hold.
    pub limits: &'a ModelLimits,
    /// The knobs.
    pub policy: &'a Policy,
    /// What is known of the model's counting.
    pub state: &'a EstimatorState,
    /// When this is.
    pub moment: Moment,
    /// Another model for summaries.
    pub summariser: Option<&'a Summariser>,
    /// What a manual compaction should look at in particular.
    pub focus: Option<&'a str>,
    /// Whether a summary can be had.
    pub summaries: Summaries,
}

impl<'a> Inputs<'a> {
    /// The ordinary question.
    pub fn new(
        conversation: &'a Conversation,
        limits: &'a ModelLimits,
        policy: &'a Policy,
        state: &'a EstimatorState,
        moment: Moment,
    ) -> Self {
        let summaries = Summaries::Allowed;
        Self { conversation, limits, policy, state, moment, summariser: None, focus: None, summaries }
    }
}

/// Why history is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Over the trigger.
    Threshold,
    /// Over what may be sent, where the trigger is not compared.
    HardLimit,
    /// The user asked.
    Manual,
    /// The provider refused the request as too long.
    Overflow,
    /// Over the trigger of a model that the conversation was not held with so far.
    ModelSwitch,
}

/// Why a request can be sent as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SendReason {
    /// Nothing fired.
    Fits,
    /// Nothing is known of the model.
    WindowUnknown,
    /// A check fired, and leaving out old tool results was enough.
    Pruned,
    /// A check fired below the hard limit, and automatic summaries are off.
    AutoOff,
    /// A check fired below the hard limit, and a compaction would not help.
    NothingToGain,
    /// It fits because a shorter reply than usual is asked for.
    ShorterReply,
    /// It fits by its likely size only; the service may refuse it.
    Tried,
}

/// What a compaction leaves in place of the rows it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// A summary in prose.
    Prose,
    /// Six sections.
    Structured,
    /// A narrative.
    Narrative,
    /// A checkpoint.
    Checkpoint,
    /// A prompt to continue from.
    Continuation,
    /// A digest made without a model.
    Digest,
    /// Little or nothing: even a digest had no room.
    Drop,
    /// A notice that history was dropped.
    Emergency,
}

impl Strategy {
    /// Whether history was trimmed without a summary.
    pub fn is_fallback(self) -> bool {
        matches!(self, Self::Digest | Self::Drop | Self::Emergency)
    }
}

/// How the text of a compaction comes about.
#[derive(Debug, Clone)]
pub enum Work {
    /// A model writes it.
    Summarise(Box<Summarise>),
    /// It is here.
    Local(String),
}

/// A summary that a model is to write.
#[derive(Debug, Clone)]
pub struct Summarise {
    /// How it is asked for.
    pub requests: SummaryPlan,
    /// What the answer has to pass.
    pub gate: Gate,
}

/// A compaction that is to be made.
#[derive(Debug, Clone)]
pub struct Compaction {
    /// Why.
    pub reason: Reason,
    /// What it leaves.
    pub strategy: Strategy,
    /// How many rows of the conversation it covers; the boundary stands after them.
    pub covers: usize,
    /// How its text comes about.
    pub work: Work,
    /// The line that lets an interrupted tool loop go on.
    pub auto_continue: Option<String>,
}

/// What cannot be made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Culprit {
    /// The agent's instructions.
    SystemPrompt,
    /// The tools offered.
    Tools,
    /// What the user wrote last.
    NewestMessage,
}

/// What is decided.
#[derive(Debug, Clone)]
pub enum Decision {
    /// Send the request.
    Send(SendReason),
    /// Compact first; the request is what follows.
    Compact(Box<Compaction>),
    /// Nothing can make it fit.
    Irreducible {
        /// The largest part.
        culprit: Culprit,
        /// By how many tokens the likely size of the smallest form is over the limit.
        over: u64,
        /// The limit, with a short reply.
        limit: u64,
    },
}

/// A decision and the request it leads to.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What to do.
    pub decision: Decision,
    /// The size as things stand.
    pub estimate: Estimate,
    /// The sizes it was judged by; `None` where nothing is known of the model.
    pub budget: Option<Budget>,
    /// The first row kept, where anything before it is covered.
    pub boundary: Option<MessageId>,
    /// The rows kept as they are.
    pub tail: Vec<MessageId>,
    /// The request: what to send, or what follows the compaction, or the smallest form tried.
    pub request: Request,
    /// How big it is.
    pub request_estimate: Estimate,
    /// Its likely size by content, before anything that reports taught: what the next report is compared with.
    pub uncalibrated: u64,
    /// Where its tokens go.
    pub parts: Parts,
    /// The marks to keep from now on.
    pub marks: Marks,
    /// What to remember so that a check that won nothing is not repeated at once.
    pub attempt: Option<Attempt>,
    /// The request whose exact size, counted by the service, would settle a decision that costs the user something. A
    /// caller that can count it puts an [`Anchor`](crate::estimate::Anchor) on it into the state and plans again. One
    /// count may show that another is wanted; a caller that counts twice for a message has asked enough.
    pub count_first: Option<Box<Request>>,
}

/// Plans the next request. What cannot be made to fit is planned again with a short reply, then by its likely size.
pub fn plan(inputs: &Inputs<'_>) -> Plan {
    let first = plan_at(inputs, Stage::Usual);
    let Some(budget) = first.budget.filter(|_| first.is_irreducible()) else { return first };
    let mut plan = first;
    for stage in [Stage::ShortReply, Stage::Likely] {
        if stage == Stage::ShortReply && budget.most == budget.hard {
            continue;
        }
        let count_first = plan.count_first.take();
        plan = plan_at(inputs, stage);
        // A count may show that nothing has to be given up at all.
        plan.count_first = count_first.or(plan.count_first);
        if !plan.is_irreducible() {
            break;
        }
    }
    // What a later stage left out may have made it fit after all.
    if let Decision::Send(reason @ (SendReason::ShorterReply | SendReason::Tried)) = plan.decision {
        plan.decision = Decision::Send(match plan.request_estimate.upper {
            upper if upper <= budget.hard => SendReason::Pruned,
            upper if upper <= budget.most => SendReason::ShorterReply,
            _ => reason,
        });
    }
    plan
}

fn plan_at(inputs: &Inputs<'_>, stage: Stage) -> Plan {
    let planner = Planner::new(inputs, stage);
    let mut now = planner.as_it_is(&planner.standing);
    let by_content = stage.size(now.estimate);
    now.estimate = planner.best_estimate(&now);
    let known = planner.known.map(|budget| stage.budget(budget));
    match known.or_else(|| planner.assumed_budget(now.estimate)) {
        None => planner.send(now, SendReason::WindowUnknown, planner.standing.clone()),
        Some(budget) => Steps { planner: &planner, budget, now: now.estimate, by_content }.decide(now),
    }
}

/// The request as things stand and its size, whatever a plan would do about it.
pub fn look(inputs: &Inputs<'_>) -> Plan {
    let planner = Planner::new(inputs, Stage::Usual);
    let mut now = planner.as_it_is(&planner.standing);
    now.estimate = planner.best_estimate(&now);
    planner.send(now, SendReason::Fits, planner.standing.clone())
}

impl Plan {
    fn is_irreducible(&self) -> bool {
        matches!(self.decision, Decision::Irreducible { .. })
    }

    /// The size of the request that the decision rests on: the likely one where it is tried, else the upper.
    pub fn size(&self) -> u64 {
        match self.decision {
            Decision::Send(SendReason::Tried) => self.request_estimate.expected,
            _ => self.request_estimate.upper,
        }
    }

    /// Where the expected tokens of the request go, so that the parts add up to it: a provider's own count, where there is
    /// one, says nothing about parts, so each keeps its share by content.
    pub fn shares(&self) -> Parts<u64> {
        let parts = &self.parts;
        let by_content = [parts.system, parts.tools, parts.summary, parts.messages].map(|p| p.expected);
        let sum = by_content.iter().sum::<u64>().max(1);
        let total = self.request_estimate.expected;
        let share = |part: u64| (u128::from(part) * u128::from(total) / u128::from(sum)) as u64;
        let [system, tools, summary, _] = by_content.map(share);
        Parts { system, tools, summary, messages: total - system - tools - summary }
    }

    /// The requests that make the summary, in the order they can be made.
    pub fn summary_requests(&self) -> Vec<SummaryRequest> {
        match &self.decision {
            Decision::Compact(compaction) => match &compaction.work {
                Work::Summarise(work) => work.requests.preview(),
                Work::Local(_) => vec![],
            },
            Decision::Send(_) | Decision::Irreducible { .. } => vec![],
        }
    }

    /// The conversation once the plan is carried out: marks kept, and where it compacts, a text in place of the rows
    /// covered: `summary` if a model wrote it, else the plan's own.
    pub fn carry_out(&self, mut conversation: Conversation, summary: &str) -> Conversation {
        conversation.marks.clone_from(&self.marks);
        match &self.decision {
            Decision::Compact(compaction) => {
                let text = match &compaction.work {
                    Work::Summarise(_) => summary,
                    Work::Local(text) => text,
                };
                let epoch = Epoch {
                    summary: text.to_owned(),
                    tail_rows: Some(conversation.rows.len().saturating_sub(compaction.covers)),
                    auto_continue: compaction.auto_continue.clone(),
                };
                conversation.compacted(compaction.covers, epoch, self.attempt)
            }
            Decision::Send(_) | Decision::Irreducible { .. } => {
                Conversation { attempt: self.attempt, ..conversation }
            }
        }
    }
}
