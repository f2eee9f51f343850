//! The forms a request can take, and how big each is. Decides nothing; the ladder asks.

use super::stage::Stage;
use super::{Decision, Inputs, Moment, Plan, SendReason};
use crate::assemble::{Assembled, Draft, Summary};
use crate::budget::Budget;
use crate::conversation::Conversation;
use crate::estimate::{Cost, Estimate, MeasuredRow, Tariff};
use crate::groups::{self, Group, Kind};
use crate::pins;
use crate::policy::{Policy, Pruning};
use crate::prune::{self, Mark, Marks};
use crate::reported::{self, Reported};
use oneclaw_model::{Body, ModelLimits, Request};

/// A manual compaction of a conversation whose window nobody knows behaves as if it were half full.
const FULL_AT_HALF: u64 = 2;

/// The service's own count of the smallest form. Every form holds all of that one, so a size is this count and, by content,
/// what the form has beside it.
#[derive(Debug, Clone, Copy)]
struct Counted {
    /// What the content of the smallest form costs.
    content: Cost,
    /// What the service counted.
    size: u64,
}

/// A finished form of the request and its size.
pub(super) struct Form {
    pub assembled: Assembled,
    pub estimate: Estimate,
}

pub(super) struct Planner<'a> {
    pub inputs: &'a Inputs<'a>,
    /// By which numbers this is planned.
    pub stage: Stage,
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub tariff: Tariff,
    pub groups: Vec<Group>,
    /// The group of the newest user message.
    newest_user: Option<usize>,
    /// Marks before any check.
    pub standing: Marks,
    /// The usual sizes, where the model is known.
    pub known: Option<Budget>,
    /// What pins may take: their share, and no more than the smallest request leaves.
    pin_room: u64,
    /// Known where the anchor has measured the smallest form.
    counted: Option<Counted>,
}

impl<'a> Planner<'a> {
    pub fn new(inputs: &'a Inputs<'a>, stage: Stage) -> Self {
        let conversation = inputs.conversation;
        let policy = inputs.policy;
        let tariff = Tariff::of(conversation.model.as_ref(), conversation.provider, inputs.state.calibration)
            .blind(conversation.is_blind);
        let groups = groups::groups(&conversation.rows);
        let newest_user = groups.iter().rposition(|g| g.kind == Kind::User);
        let standing = prune::standing(conversation, &groups, policy, inputs.moment);
        let known = Budget::of(inputs.limits, policy);
        let mut planner = Self {
            inputs,
            stage,
            conversation,
            policy,
            tariff,
            groups,
            newest_user,
            standing,
            known,
            pin_room: u64::MAX,
            counted: None,
        };
        planner.counted = planner.count_of_smallest();
        if let Some(budget) = known.map(|budget| stage.budget(budget)) {
            let framed = stage.size(planner.smallest_with(Summary::Pending(0)).estimate) + 1;
            planner.pin_room = policy.pin_share.of(budget.base).min(budget.hard.saturating_sub(framed));
        }
        planner
    }

    /// Where nothing is known of the model, only the user's own wish can start a compaction.
    pub fn assumed_budget(&self, now: Estimate) -> Option<Budget> {
        let window = Some(now.upper.saturating_mul(FULL_AT_HALF));
        let limits = ModelLimits { window, ..*self.inputs.limits };
        (self.inputs.moment == Moment::Manual).then(|| Budget::of(&limits, self.policy)).flatten()
    }

    // ---- forms ----

    /// All of the conversation, with these marks.
    pub fn as_it_is(&self, marks: &Marks) -> Form {
        let conversation = self.conversation;
        let epoch = conversation.epoch.as_ref();
        self.form(Draft {
            conversation,
            rows: 0..conversation.rows.len(),
            carried: self.carried(0),
            pins: self.pins(0),
            summary: epoch.map_or(Summary::None, |e| Summary::of(&e.summary)),
            placement: self.policy.placement,
            // Void once the user has said something else instead.
            auto_continue: epoch.and_then(|e| e.auto_continue.as_deref()).filter(|_| {
                self.groups.iter().find(|g| g.kind != Kind::Silent).is_none_or(|g| g.kind != Kind::User)
            }),
            marks,
        })
    }

    /// System text, tools and the newest user message: what no step can take away.
    pub fn smallest(&self) -> Form {
        self.smallest_with(Summary::None)
    }

    fn smallest_with(&self, summary: Summary<'_>) -> Form {
        self.form(Draft {
            conversation: self.conversation,
            rows: 0..0,
            carried: self.carried(self.groups.len()),
            pins: vec![],
            summary,
            placement: self.policy.placement,
            auto_continue: None,
            marks: &self.standing,
        })
    }

    pub fn form(&self, draft: Draft<'_>) -> Form {
        let assembled = draft.assemble(&self.tariff);
        let estimate = self.size(assembled.cost());
        Form { assembled, estimate }
    }

    /// The size of a form by what it costs: by content, but for what the service has counted.
    pub fn size(&self, cost: Cost) -> Estimate {
        match self.counted {
            None => self.tariff.request(cost),
            Some(counted) => {
                let count = Estimate { expected: counted.size, upper: counted.size };
                count + self.tariff.total(cost.minus(counted.content))
            }
        }
    }

    fn count_of_smallest(&self) -> Option<Counted> {
        let anchor = self.inputs.state.anchor?;
        let smallest = self.smallest().assembled;
        self.is_counted(&smallest.request).then(|| Counted { content: smallest.cost(), size: anchor.prompt })
    }

    /// Whether the service has counted all of a request, so that nothing of its size is an estimate.
    pub fn is_counted(&self, request: &Request) -> bool {
        let covered =
            self.inputs.state.anchor.and_then(|a| a.covers(request, self.conversation.model.as_ref()));
        covered == Some(request.messages.len())
    }

    /// The row that the group at `boundary` starts with.
    pub fn start(&self, boundary: usize) -> usize {
        self.groups.get(boundary).map_or(self.conversation.rows.len(), |g| g.rows.start)
    }

    /// The newest user message, where a tail that starts at that group does not have it.
    pub fn carried(&self, boundary: usize) -> Option<&'a MeasuredRow> {
        match self.newest_user {
            None => self.conversation.carried.as_ref(),
            Some(newest) if newest >= boundary => None,
            Some(newest) => self.conversation.rows.get(self.start(newest)),
        }
    }

    /// The pins beside a summary that covers the groups before `boundary`: all that fit, the newest first.
    pub fn pins(&self, boundary: usize) -> Vec<&'a MeasuredRow> {
        let covered = self.conversation.rows.get(..self.start(boundary)).unwrap_or_default();
        let all = self.conversation.pins.iter().chain(covered.iter().filter(|row| row.pinned));
        pins::carried(all, self.pin_room, &self.tariff)
    }

    // ---- sizes ----

    /// By the provider's own counts where they apply, else by content.
    pub fn best_estimate(&self, form: &Form) -> Estimate {
        let model = self.conversation.model.as_ref();
        if let Some(anchored) = form.assembled.anchored(&self.tariff, self.inputs.state, model) {
            return anchored;
        }
        let window = self.inputs.limits.window.filter(|window| *window > 0);
        let parts = &form.assembled.parts;
        let (conversation, marks) = (self.conversation, &self.standing);
        // A report above what the rows can be may speak of other instructions or tools, where these are known to have changed.
        let has_other_parts = || {
            let anchor = self.inputs.state.anchor.as_ref();
            anchor.is_some_and(|a| a.has_other_fixed_parts(&form.assembled.request, model))
        };
        match reported::of(conversation, &self.groups, marks, parts, window, &self.tariff) {
            None => form.estimate,
            Some(Reported::AtLeast(_)) if has_other_parts() => form.estimate,
            Some(reported) => reported.size(form.estimate),
        }
    }

    /// Size of the last step as the provider reported it.
    pub fn used(&self) -> Option<u64> {
        reported::last_usage(self.conversation).map(|usage| usage.total())
    }

    pub fn is_model_switch(&self) -> bool {
        let last = self.conversation.rows.iter().rev().find_map(|row| match &row.message.body {
            Body::Assistant { model: Some(model), .. } => Some(model),
            _ => None,
        });
        last.is_some_and(|last| self.conversation.model.as_ref().is_some_and(|model| model != last))
    }

    // ---- plans ----

    pub fn send(&self, form: Form, reason: SendReason, marks: Marks) -> Plan {
        let mut plan = self.finish(form, Decision::Send(self.stage.reason(reason)), marks, 0);
        if self.stage != Stage::Usual {
            plan.request.max_output = plan.request.max_output.map(|tokens| tokens.max(1));
        }
        plan
    }

    /// Fills in what every plan says. `covers` rows are no longer part of the tail.
    pub fn finish(&self, form: Form, decision: Decision, marks: Marks, covers: usize) -> Plan {
        let tail = self.conversation.rows.get(covers..).unwrap_or_default();
        let is_covered = covers > 0 || self.conversation.epoch.is_some();
        let uncalibrated = form.assembled.uncalibrated();
        let mut request = form.assembled.request;
        request.max_output = self.known.map(|budget| self.stage.max_output(budget, form.estimate));
        let marks = match self.policy.pruning {
            // What age decides is decided anew each time; only what sizes decided stays.
            Pruning::ByAge => marks.into_iter().filter(|(_, m)| matches!(m, Mark::Elided { .. })).collect(),
            Pruning::Off | Pruning::OnCheck | Pruning::ByBudget => marks,
        };
        Plan {
            decision,
            estimate: form.estimate,
            // An assumed budget decides a manual compaction, but nothing is claimed by it.
            budget: self.known,
            boundary: tail.first().filter(|_| is_covered).map(|row| row.message.id.clone()),
            tail: tail.iter().map(|row| row.message.id.clone()).collect(),
            request,
            request_estimate: form.estimate,
            uncalibrated,
            parts: form.assembled.parts.total(&self.tariff),
            marks,
            attempt: self.conversation.attempt,
            count_first: None,
        }
    }
}
