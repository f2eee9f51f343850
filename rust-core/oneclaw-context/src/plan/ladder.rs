//! The steps of a plan, from the cheapest to the last: prune, elide, summarise, digest, drop, irreducible.

use super::cover::Cover;
use super::{AUTO_CONTINUE, Culprit, Decision, Inputs, Moment, Plan, Reason, SendReason, Summaries};
use crate::assemble::{Assembled, Draft, Summary};
use crate::budget::Budget;
use crate::conversation::{Attempt, Conversation};
use crate::estimate::{Cost, Estimate, MeasuredRow, Tariff, text};
use crate::floor;
use crate::groups::{self, Group, Kind};
use crate::pins;
use crate::policy::{Afterwards, Policy, Pruning, Tail, Trigger};
use crate::prune::{self, Marks};
use crate::split::Edges;
use crate::summary::material;
use oneclaw_model::{Body, ModelLimits};

/// A manual compaction of a conversation whose window nobody knows behaves as if it were half full.
const FULL_AT_HALF: u64 = 2;

/// A finished form of the request and its size.
pub(super) struct Form {
    pub assembled: Assembled,
    pub estimate: Estimate,
}

pub(super) struct Planner<'a> {
    pub inputs: &'a Inputs<'a>,
    pub conversation: &'a Conversation,
    pub policy: &'a Policy,
    pub tariff: Tariff,
    pub groups: Vec<Group>,
    /// Marks before any check.
    standing: Marks,
}

impl<'a> Planner<'a> {
    pub fn new(inputs: &'a Inputs<'a>) -> Self {
        let conversation = inputs.conversation;
        let policy = inputs.policy;
        let tariff = Tariff::of(conversation.model.as_ref(), conversation.provider, inputs.state.calibration);
        let groups = groups::groups(&conversation.rows);
        let standing = prune::standing(conversation, &groups, policy, inputs.moment);
        Self { inputs, conversation, policy, tariff, groups, standing }
    }

    pub fn plan(&self) -> Plan {
        let known = Budget::of(self.inputs.limits, self.policy);
        let mut now = self.as_it_is(known.as_ref(), &self.standing);
        let by_content = now.estimate.upper;
        now.estimate = self.best_estimate(&now);
        let Some(budget) = known.or_else(|| self.assumed_budget(now.estimate)) else {
            return self.send(now, None, SendReason::WindowUnknown, self.standing.clone());
        };
        let steps = Steps { planner: self, budget, now: now.estimate, by_content };
        steps.decide(now)
    }

    /// All of the conversation, with these marks.
    fn as_it_is(&self, budget: Option<&Budget>, marks: &Marks) -> Form {
        let conversation = self.conversation;
        let pins = conversation.pins.iter();
        let pins = match budget {
            Some(budget) => pins::carried(pins, self.policy, budget, &self.tariff),
            None => pins.collect(),
        };
        self.form(Draft {
            conversation,
            rows: 0..conversation.rows.len(),
            carried: self.carried(0),
            pins,
            summary: conversation.epoch.as_ref().map_or(Summary::None, |e| Summary::of(&e.summary)),
            placement: self.policy.placement,
            auto_continue: self.epoch_line(),
            marks,
        })
    }

    pub fn form(&self, draft: Draft<'_>) -> Form {
        let assembled = draft.assemble(&self.tariff);
        let estimate = assembled.estimate(&self.tariff);
        Form { assembled, estimate }
    }

    /// By the provider's own counts where they apply, else by content.
    fn best_estimate(&self, now: &Form) -> Estimate {
        let model = self.conversation.model.as_ref();
        let anchored = now.assembled.anchored(&self.tariff, self.inputs.state, model);
        if anchored != now.estimate {
            return anchored;
        }
        match floor::floor(self.conversation, &self.standing, &self.tariff) {
            Some(floor) => Estimate {
                expected: now.estimate.expected.max(floor.expected),
                upper: now.estimate.upper.max(floor.upper),
            },
            None => now.estimate,
        }
    }

    /// Where nothing is known of the model, only the user's own wish can start a compaction.
    fn assumed_budget(&self, now: Estimate) -> Option<Budget> {
        let window = Some(now.upper.saturating_mul(FULL_AT_HALF));
        let limits = ModelLimits { window, ..*self.inputs.limits };
        (self.inputs.moment == Moment::Manual).then(|| Budget::of(&limits, self.policy)).flatten()
    }

    fn send(&self, form: Form, budget: Option<Budget>, reason: SendReason, marks: Marks) -> Plan {
        self.finish(form, budget, Decision::Send(reason), marks, 0)
    }

    /// Fills in what every plan says. `covers` rows are no longer part of the tail.
    pub fn finish(
        &self,
        form: Form,
        budget: Option<Budget>,
        decision: Decision,
        marks: Marks,
        covers: usize,
    ) -> Plan {
        let tail = self.conversation.rows.get(covers..).unwrap_or_default();
        let is_covered = covers > 0 || self.conversation.epoch.is_some();
        // An assumed budget decides a manual compaction, but nothing is claimed or asked for by it.
        let budget = budget.filter(|_| Budget::of(self.inputs.limits, self.policy).is_some());
        let mut request = form.assembled.request;
        request.max_output = budget.map(|b| b.max_output(form.estimate.upper));
        let keeps = match self.policy.pruning {
            // What age decides is decided anew each time; only what sizes decided stays.
            Pruning::ByAge => {
                marks.into_iter().filter(|(_, m)| matches!(m, prune::Mark::Elided { .. })).collect()
            }
            Pruning::Off | Pruning::OnCheck | Pruning::ByBudget => marks,
        };
        Plan {
            decision,
            estimate: form.estimate,
            budget,
            boundary: tail.first().filter(|_| is_covered).map(|row| row.message.id.clone()),
            tail: tail.iter().map(|row| row.message.id.clone()).collect(),
            request,
            request_estimate: form.estimate,
            parts: form.assembled.parts.total(&self.tariff),
            marks: keeps,
            attempt: self.conversation.attempt,
        }
    }

    /// Upper size of the last step as the provider reported it.
    fn used(&self) -> Option<u64> {
        floor::last_usage(self.conversation).map(|(_, usage)| usage.total())
    }

    fn is_model_switch(&self) -> bool {
        let last = self.conversation.rows.iter().rev().find_map(|row| match &row.message.body {
            Body::Assistant { model: Some(model), .. } => Some(model),
            _ => None,
        });
        last.is_some_and(|last| self.conversation.model.as_ref().is_some_and(|model| model != last))
    }

    /// The user message that has to be repeated before a tail that starts at that group: the one whose turn it starts
    /// in, or the newest if the tail has none.
    fn carried(&self, boundary: usize) -> Option<&'a MeasuredRow> {
        if self.starts_with_user(boundary) {
            return None;
        }
        let rows = &self.conversation.rows;
        let start = self.groups.get(boundary).map_or(rows.len(), |g| g.rows.start);
        let before = rows.get(..start).unwrap_or_default();
        groups::newest_user(before).and_then(|i| before.get(i)).or(self.conversation.carried.as_ref())
    }

    /// The epoch's line that lets an interrupted loop go on; void once the user has said something else instead.
    fn epoch_line(&self) -> Option<&'a str> {
        let line = self.conversation.epoch.as_ref().and_then(|e| e.auto_continue.as_deref());
        line.filter(|_| !self.starts_with_user(0))
    }

    fn starts_with_user(&self, boundary: usize) -> bool {
        let rest = self.groups.get(boundary..).unwrap_or_default();
        rest.iter().find(|g| g.kind != Kind::Silent).is_some_and(|g| g.kind == Kind::User)
    }

    fn newest_user(&self) -> Option<&'a MeasuredRow> {
        let index = groups::newest_user(&self.conversation.rows);
        index.and_then(|i| self.conversation.rows.get(i)).or(self.conversation.carried.as_ref())
    }
}

/// The ladder for a conversation whose limits are known.
pub(super) struct Steps<'a> {
    pub planner: &'a Planner<'a>,
    pub budget: Budget,
    /// The size as things stand.
    now: Estimate,
    /// The same by content alone, as the forms below are measured.
    by_content: u64,
}

impl Steps<'_> {
    fn decide(&self, now: Form) -> Plan {
        let planner = self.planner;
        let marks = planner.standing.clone();
        let budget = Some(self.budget);
        let Some(reason) = self.fired() else {
            return planner.send(now, budget, SendReason::Fits, marks);
        };
        let is_too_big = self.now.upper > self.budget.hard;
        let is_urgent = is_too_big || matches!(reason, Reason::Manual | Reason::Overflow);
        if !is_urgent && !planner.policy.auto {
            return planner.send(now, budget, SendReason::AutoOff, marks);
        }
        let smallest = self.smallest();
        if smallest.estimate.upper > self.budget.hard {
            if is_too_big {
                return self.irreducible(smallest);
            }
            return self.nothing_to_gain(now, marks);
        }
        let pruned = self.pruned(reason);
        if let Some(marks) = &pruned
            && reason != Reason::Manual
        {
            let form = self.with_marks(marks);
            if form.estimate.upper <= self.target() {
                return self.remember_size(planner.send(form, budget, SendReason::Pruned, marks.clone()));
            }
        }
        let marks = pruned.unwrap_or(marks);
        if let Some(plan) = self.compact(reason, &marks, is_urgent) {
            return plan;
        }
        let form = self.with_marks(&marks);
        if form.estimate.upper <= self.budget.hard && marks != planner.standing {
            return self.remember_size(planner.send(form, budget, SendReason::Pruned, marks));
        }
        self.nothing_to_gain(now, planner.standing.clone())
    }

    /// Whether a check fires, and why.
    fn fired(&self) -> Option<Reason> {
        let planner = self.planner;
        match planner.inputs.moment {
            Moment::Manual => return Some(Reason::Manual),
            Moment::Overflow => return Some(Reason::Overflow),
            Moment::BeforeSend | Moment::AfterTools | Moment::AfterResponse => {}
        }
        let compared = match planner.policy.trigger {
            Trigger::Used => planner.used().unwrap_or(self.now.upper),
            Trigger::WindowShare | Trigger::HardShare | Trigger::Tokens => self.now.upper,
        };
        let is_over_hard = self.now.upper > self.budget.hard;
        if planner.policy.compares(planner.inputs.moment)
            && compared > self.budget.trigger
            && (is_over_hard || !self.is_too_soon(compared))
        {
            return Some(if planner.is_model_switch() { Reason::ModelSwitch } else { Reason::Threshold });
        }
        is_over_hard.then(|| if planner.is_model_switch() { Reason::ModelSwitch } else { Reason::HardLimit })
    }

    /// Whether the last attempt at about this size won nothing.
    fn is_too_soon(&self, size: u64) -> bool {
        let gap = self.planner.policy.retry_gap.of(self.budget.base);
        self.planner
            .conversation
            .attempt
            .is_some_and(|a| a.base == self.budget.base && size < a.upper.saturating_add(gap))
    }

    fn nothing_to_gain(&self, now: Form, marks: Marks) -> Plan {
        let plan = self.planner.send(now, Some(self.budget), SendReason::NothingToGain, marks);
        self.remember_size(plan)
    }

    pub fn remember_size(&self, mut plan: Plan) -> Plan {
        let upper = match plan.decision {
            Decision::Send(SendReason::NothingToGain) => self.now.upper,
            _ => plan.request_estimate.upper,
        };
        plan.attempt = Some(Attempt { upper, base: self.budget.base });
        plan.estimate = self.now;
        plan
    }

    // ---- forms ----

    fn with_marks(&self, marks: &Marks) -> Form {
        self.planner.as_it_is(Some(&self.budget), marks)
    }

    /// System text, tools and the newest user message: what no step can take away.
    fn smallest(&self) -> Form {
        let planner = self.planner;
        planner.form(Draft {
            conversation: planner.conversation,
            rows: 0..0,
            carried: planner.newest_user(),
            pins: vec![],
            summary: Summary::None,
            placement: planner.policy.placement,
            auto_continue: None,
            marks: &planner.standing,
        })
    }

    fn irreducible(&self, smallest: Form) -> Plan {
        let parts = smallest.assembled.parts;
        let candidates = [
            (parts.system, Culprit::SystemPrompt),
            (parts.tools, Culprit::Tools),
            (parts.messages, Culprit::NewestMessage),
        ];
        let culprit = candidates.into_iter().max_by_key(|(cost, _)| cost.upper);
        let decision = Decision::Irreducible {
            culprit: culprit.map_or(Culprit::NewestMessage, |(_, c)| c),
            over: smallest.estimate.upper.saturating_sub(self.budget.hard),
        };
        let marks = self.planner.standing.clone();
        let mut plan = self.planner.finish(smallest, Some(self.budget), decision, marks, 0);
        plan.estimate = self.now;
        plan
    }

    // ---- steps that leave out tool results ----

    /// Standing marks and what pruning and eliding add to them; `None` where they add nothing.
    fn pruned(&self, reason: Reason) -> Option<Marks> {
        let planner = self.planner;
        let mut marks = planner.standing.clone();
        if reason == Reason::Manual {
            return None;
        }
        // What the model has just asked for is not touched while older things can give way.
        let newest = planner.groups.len().saturating_sub(1);
        if planner.policy.prune && planner.policy.pruning == Pruning::OnCheck {
            let edges = self.edges(&marks);
            let tail = edges.by_knob(planner.policy, &self.budget, &planner.tariff).min(newest);
            let before = planner.groups.get(..tail).unwrap_or_default();
            let least = planner.policy.prune_min_gain.of(self.budget.base);
            let more =
                prune::on_check(planner.conversation, before, planner.policy, &planner.tariff, &marks, least);
            marks.extend(more);
        }
        let older = planner.groups.get(..newest).unwrap_or_default();
        let most = planner.policy.giant_share.of(self.budget.base);
        let giants = prune::giants(planner.conversation, older, &planner.tariff, &marks, most);
        marks.extend(giants);
        (marks != planner.standing).then_some(marks)
    }

    fn edges(&self, marks: &Marks) -> Edges<'_> {
        let planner = self.planner;
        let cost = |row: &MeasuredRow| match (marks.get(&row.message.id), &row.message.body) {
            (Some(mark), Body::ToolResult { output, .. }) => {
                let text = text::measure(&prune::shortened(output, *mark));
                planner.tariff.text(text) + Tariff::MESSAGE + Tariff::RESULT
            }
            _ => row.cost(&planner.tariff),
        };
        Edges::new(&planner.conversation.rows, &planner.groups, cost)
    }

    // ---- steps that cover rows ----

    /// The compaction the ladder leads to; `None` where there is nothing to cover or to gain.
    fn compact(&self, reason: Reason, marks: &Marks, is_urgent: bool) -> Option<Plan> {
        let planner = self.planner;
        let mut marks = marks.clone();
        let mut boundary = self.boundary(&marks);
        if boundary == planner.groups.len() && self.keep_newest_batch(&mut marks) {
            boundary = planner.groups.len() - 1;
        }
        let covered = planner.groups.get(..boundary).unwrap_or_default();
        let is_old_summary_too_big =
            planner.conversation.epoch.is_some() && self.now.upper > self.budget.hard;
        if covered.iter().all(|g| g.kind == Kind::Silent) && !is_old_summary_too_big {
            return None;
        }
        let cover = Cover { steps: self, reason, marks, boundary };
        let is_emergency =
            self.budget.emergency.is_some_and(|size| self.now.upper >= size) && reason != Reason::Manual;
        if is_emergency {
            return Some(cover.emergency());
        }
        let may_ask = planner.inputs.summaries == Summaries::Allowed
            && (planner.policy.auto || reason == Reason::Manual);
        if may_ask {
            match cover.summarise() {
                Some(plan) => {
                    let gap = planner.policy.retry_gap.of(self.budget.base);
                    let wins = plan.request_estimate.upper.saturating_add(gap) <= self.now.upper;
                    return (is_urgent || wins).then_some(plan);
                }
                None if reason == Reason::Manual => return None,
                None => {}
            }
        }
        let plan = cover.digest();
        (is_urgent || plan.request_estimate.upper < self.now.upper).then_some(plan)
    }

    /// The boundary of the knob, moved on until the rest is within the target or can shrink no more.
    fn boundary(&self, marks: &Marks) -> usize {
        let planner = self.planner;
        let edges = self.edges(marks);
        let last = edges.last();
        let mut boundary = edges.by_knob(planner.policy, &self.budget, &planner.tariff);
        let around =
            self.draft(last, Summary::Pending(self.budget.summary_cap), marks).assemble(&planner.tariff);
        let around = around.parts.system + around.parts.tools + around.parts.summary + Tariff::REQUEST;
        let carried_before =
            |index: usize| planner.carried(index).map_or(Cost::ZERO, |row| row.cost(&planner.tariff));
        // By sums first, which is quick; then by the request itself, which also counts reasoning that is replayed.
        let target = self.target();
        let sums = |index: usize| around + carried_before(index) + edges.tail_cost(index);
        while boundary < last && planner.tariff.upper(sums(boundary)) > target {
            boundary = edges.next(boundary, planner.policy.snap);
        }
        while boundary < last && self.size_after(boundary, marks) > target {
            boundary = edges.next(boundary, planner.policy.snap);
        }
        boundary
    }

    /// The target for a size by content: less where the provider counts more than the content lets expect.
    fn target(&self) -> u64 {
        let ratio =
            u128::from(self.by_content) * u128::from(self.budget.target) / u128::from(self.now.upper.max(1));
        u64::try_from(ratio).unwrap_or(u64::MAX).min(self.budget.target)
    }

    /// The size of the next request with a summary of full length before the groups from `boundary` on.
    fn size_after(&self, boundary: usize, marks: &Marks) -> u64 {
        let draft = self.draft(boundary, Summary::Pending(self.budget.summary_cap), marks);
        self.planner.form(draft).estimate.upper
    }

    /// Elides the results of the newest batch so that it can stay; it is what the model waits for.
    fn keep_newest_batch(&self, marks: &mut Marks) -> bool {
        let planner = self.planner;
        let Some(newest) = planner.groups.last().filter(|g| g.kind == Kind::Exchange) else { return false };
        let rows = planner.conversation.rows.get(newest.rows.clone()).unwrap_or_default();
        let results: Vec<&MeasuredRow> =
            groups::calls(rows).into_iter().filter_map(|(_, result)| result).collect();
        if planner.policy.tail == Tail::Empty || results.is_empty() {
            return false;
        }
        let size = |row: &MeasuredRow| planner.tariff.upper(planner.tariff.text(row.measure.text));
        let boundary = planner.groups.len() - 1;
        let with_all = self.size_after(boundary, marks);
        let texts: u64 = results.iter().map(|row| size(row)).sum();
        let target = self.target();
        let Some(room) = (target + texts).checked_sub(with_all) else { return false };
        let level = material::level(results.iter().map(|row| size(row)), room);
        if level < planner.tariff.upper_text(prune::CLEARED) {
            return false;
        }
        let mut tried = marks.clone();
        let group = std::slice::from_ref(newest);
        tried.extend(prune::giants(planner.conversation, group, &planner.tariff, marks, level));
        let fits = self.size_after(boundary, &tried) <= target;
        if fits {
            *marks = tried;
        }
        fits
    }

    /// The request after a compaction that leaves the groups from `boundary` on.
    pub fn draft<'d>(&'d self, boundary: usize, summary: Summary<'d>, marks: &'d Marks) -> Draft<'d> {
        let planner = self.planner;
        let conversation = planner.conversation;
        let start = planner.groups.get(boundary).map_or(conversation.rows.len(), |g| g.rows.start);
        let covered = conversation.rows.get(..start).unwrap_or_default();
        let all_pins = conversation.pins.iter().chain(covered.iter().filter(|row| row.pinned));
        Draft {
            conversation,
            rows: start..conversation.rows.len(),
            carried: planner.carried(boundary),
            pins: pins::carried(all_pins, planner.policy, &self.budget, &planner.tariff),
            summary,
            placement: planner.policy.placement,
            auto_continue: self.auto_continue(start),
            marks,
        }
    }

    /// The line that keeps an interrupted tool loop going, where nothing of it is left in the tail.
    fn auto_continue(&self, start: usize) -> Option<&'static str> {
        let planner = self.planner;
        let is_all = start == planner.conversation.rows.len();
        let rows = &planner.conversation.rows;
        let newest = planner.groups.last().and_then(|g| rows.get(g.rows.clone())).unwrap_or_default();
        let is_loop = planner.inputs.moment == Moment::AfterTools && !groups::calls(newest).is_empty();
        (planner.policy.afterwards == Afterwards::Continue && is_all && is_loop).then_some(AUTO_CONTINUE)
    }
}
