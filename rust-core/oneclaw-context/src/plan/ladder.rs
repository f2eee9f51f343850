//! The steps of a plan, from the cheapest to the last: prune, elide, summarise, digest, drop, irreducible.

use super::cover::Cover;
use super::planner::{Form, Planner};
use super::stage::Stage;
use super::{AUTO_CONTINUE, Culprit, Decision, Moment, Plan, Reason, SendReason, Summaries};
use crate::assemble::{Draft, Summary};
use crate::budget::Budget;
use crate::conversation::Attempt;
use crate::estimate::{Cost, Estimate, MeasuredRow, Tariff};
use crate::groups::{self, Kind};
use crate::policy::{Afterwards, Pruning, Tail, Trigger};
use crate::prune::{self, Marks};
use crate::split::Edges;
use crate::summary::material;
use oneclaw_model::{Body, Request};

/// A compaction that wins a quarter of the request is worth it however large the window is.
const WORTHWHILE: u64 = 4;

/// No request is so much smaller than what its content lets expect: counting one that is over the limit even so would be an
/// upload for nothing.
const COUNT_AT_LEAST: u64 = 2;

/// Why a check fired.
#[derive(Clone, Copy)]
struct Fired {
    reason: Reason,
    /// The size that was exceeded.
    limit: u64,
    /// Whether it was the size of the request that exceeded it, and not what the last step used.
    by_size: bool,
}

/// The ladder for a conversation whose limits are known, or assumed.
pub(super) struct Steps<'a> {
    pub planner: &'a Planner<'a>,
    pub budget: Budget,
    /// The size as things stand.
    pub now: Estimate,
    /// The same by content alone, as the forms below are measured.
    pub by_content: u64,
}

impl Steps<'_> {
    /// The size as things stand that counts.
    fn size(&self) -> u64 {
        self.planner.stage.size(self.now)
    }

    /// The size of a form that counts.
    pub fn size_of(&self, form: &Form) -> u64 {
        self.planner.stage.size(form.estimate)
    }

    /// Goes down the ladder as far as it has to.
    pub fn decide(&self, now: Form) -> Plan {
        let planner = self.planner;
        let standing = planner.standing.clone();
        let Some(fired) = self.fired() else {
            return planner.send(now, SendReason::Fits, standing);
        };
        let reason = fired.reason;
        let is_too_big = self.size() > self.budget.hard;
        let is_urgent = is_too_big || matches!(reason, Reason::Manual | Reason::Overflow);
        if !is_urgent && !planner.policy.auto {
            return planner.send(now, SendReason::AutoOff, standing);
        }
        let mut smallest = planner.smallest();
        if self.size_of(&smallest) > self.budget.hard {
            if !is_too_big {
                return self.nothing_to_gain(now);
            }
            let counted = self.worth_counting(&smallest);
            return self.irreducible(smallest, counted);
        }
        let giants = self.giants();
        let pruned = self.pruned(&giants);
        if reason != Reason::Manual {
            for marks in [&pruned, &self.newest_elided(&giants)] {
                if *marks != standing
                    && let Some(plan) = self.send_within(self.target(), marks)
                {
                    return plan;
                }
            }
        }
        if let Some(mut plan) = self.compact(reason, &giants, is_urgent) {
            if self.may_count(&now.assembled.request) && fired.by_size && self.now.expected <= fired.limit {
                plan.count_first = Some(Box::new(now.assembled.request));
            }
            return plan;
        }
        if pruned != standing
            && reason != Reason::Manual
            && let Some(plan) = self.send_within(self.budget.hard, &pruned)
        {
            return plan;
        }
        if is_too_big {
            smallest.estimate = self.now;
            return self.irreducible(smallest, self.worth_counting(&now));
        }
        self.nothing_to_gain(now)
    }

    /// The conversation with these marks, if that is small enough.
    fn send_within(&self, limit: u64, marks: &Marks) -> Option<Plan> {
        let form = self.planner.as_it_is(marks);
        (self.size_of(&form) <= limit)
            .then(|| self.remember_size(self.planner.send(form, SendReason::Pruned, marks.clone())))
    }

    /// Whether a count of a request can settle anything: it was not counted yet, and somebody waits for what is decided.
    fn may_count(&self, request: &Request) -> bool {
        matches!(self.planner.inputs.moment, Moment::BeforeSend | Moment::AfterTools)
            && !request.messages.is_empty()
            && !self.planner.is_counted(request)
    }

    /// Whether a check fires, and why.
    fn fired(&self) -> Option<Fired> {
        let planner = self.planner;
        let asked = |reason| Some(Fired { reason, limit: self.budget.hard, by_size: false });
        match planner.inputs.moment {
            Moment::Manual => return asked(Reason::Manual),
            Moment::Overflow => return asked(Reason::Overflow),
            Moment::BeforeSend | Moment::AfterTools | Moment::AfterResponse => {}
        }
        let used = match planner.policy.trigger {
            // What cannot be made to fit is judged by its size alone.
            Trigger::Used if planner.stage == Stage::Usual => planner.used(),
            Trigger::Used | Trigger::WindowShare | Trigger::HardShare | Trigger::Tokens => None,
        };
        let is_over_hard = self.size() > self.budget.hard;
        let is_over_trigger = planner.policy.compares(planner.inputs.moment)
            && used.unwrap_or(self.size()) > self.budget.trigger
            && (is_over_hard || !self.is_too_soon());
        let (reason, limit, by_size) = match (is_over_trigger, is_over_hard) {
            (true, _) => (Reason::Threshold, self.budget.trigger, used.is_none()),
            (false, true) => (Reason::HardLimit, self.budget.hard, true),
            (false, false) => return None,
        };
        let reason = if planner.is_model_switch() { Reason::ModelSwitch } else { reason };
        Some(Fired { reason, limit, by_size })
    }

    /// Whether the last attempt at about this size won nothing.
    fn is_too_soon(&self) -> bool {
        let gap = self.planner.policy.retry_gap.of(self.budget.base);
        self.planner
            .conversation
            .attempt
            .is_some_and(|a| a.base == self.budget.base && self.now.upper < a.upper.saturating_add(gap))
    }

    fn nothing_to_gain(&self, now: Form) -> Plan {
        let mut plan = self.planner.send(now, SendReason::NothingToGain, self.planner.standing.clone());
        plan.attempt = Some(Attempt { upper: self.now.upper, base: self.budget.base });
        plan
    }

    /// Says what size a plan came from, and remembers a size that could not be helped: one over the trigger, or one whose
    /// trigger looks at what the last step used and so does not see what was won.
    pub fn remember_size(&self, mut plan: Plan) -> Plan {
        let upper = plan.request_estimate.upper;
        let is_unseen =
            self.planner.policy.trigger == Trigger::Used && matches!(plan.decision, Decision::Send(_));
        plan.attempt =
            (upper > self.budget.trigger || is_unseen).then_some(Attempt { upper, base: self.budget.base });
        plan.estimate = self.now;
        plan
    }

    /// The request of a form that is too big by an estimate, where a count may show that it is not.
    fn worth_counting(&self, form: &Form) -> Option<Box<Request>> {
        let request = &form.assembled.request;
        let may_fit = form.estimate.expected / COUNT_AT_LEAST <= self.budget.hard;
        (may_fit && self.may_count(request)).then(|| Box::new(request.clone()))
    }

    fn irreducible(&self, smallest: Form, count_first: Option<Box<Request>>) -> Plan {
        let parts = smallest.assembled.parts;
        let candidates = [
            (parts.system, Culprit::SystemPrompt),
            (parts.tools, Culprit::Tools),
            (parts.messages, Culprit::NewestMessage),
        ];
        let culprit = candidates.into_iter().max_by_key(|(cost, _)| cost.upper);
        let decision = Decision::Irreducible {
            culprit: culprit.map_or(Culprit::NewestMessage, |(_, c)| c),
            over: self.size_of(&smallest).saturating_sub(self.budget.hard),
            limit: self.budget.hard,
        };
        let marks = self.planner.standing.clone();
        let mut plan = self.planner.finish(smallest, decision, marks, 0);
        plan.count_first = count_first;
        plan.estimate = self.now;
        // Of the rows, only the newest message is left, where it is the last.
        let last = self.planner.conversation.rows.last();
        let last = last.filter(|row| matches!(row.message.body, Body::User { .. }));
        plan.tail = last.map(|row| row.message.id.clone()).into_iter().collect();
        plan
    }

    // ---- steps that leave out tool results ----

    /// Standing marks, and the middle left out of giant results. What the model has just asked for is not touched while
    /// older things can give way.
    fn giants(&self) -> Marks {
        let planner = self.planner;
        let older = planner.groups.get(..self.newest_group()).unwrap_or_default();
        let most = planner.policy.giant_share.of(self.budget.base);
        let mut marks = planner.standing.clone();
        marks.extend(prune::giants(planner.conversation, older, &planner.tariff, &marks, most));
        marks
    }

    /// Those, and old results left out, where the policy prunes on a check and enough is won.
    fn pruned(&self, giants: &Marks) -> Marks {
        let planner = self.planner;
        let mut marks = giants.clone();
        if planner.policy.prune && planner.policy.pruning == Pruning::OnCheck {
            let edges = self.edges(&planner.standing);
            let tail = edges.by_knob(planner.policy, &self.budget, &planner.tariff).min(self.newest_group());
            let before = planner.groups.get(..tail).unwrap_or_default();
            let least = planner.policy.prune_min_gain.of(self.budget.base);
            marks.extend(prune::on_check(
                planner.conversation,
                before,
                planner.policy,
                &planner.tariff,
                giants,
                least,
            ));
        }
        marks
    }

    /// Those, and the newest batch elided to what the target leaves, where covering the rest would win too little.
    fn newest_elided(&self, giants: &Marks) -> Marks {
        let planner = self.planner;
        let edges = self.edges(giants);
        let older = edges.tail_cost(0).minus(edges.tail_cost(self.newest_group()));
        let gap = planner.policy.retry_gap.of(self.budget.base);
        if planner.tariff.upper(older) > self.budget.summary_cap.saturating_add(gap) {
            return giants.clone();
        }
        let size = self.size_of(&planner.as_it_is(giants));
        self.with_newest_batch_elided(giants, size).unwrap_or_else(|| giants.clone())
    }

    /// Marks that elide the results of the newest batch so that a request of that `size` gets within the target; none
    /// where there are no results, or hardly anything of them would be left.
    fn with_newest_batch_elided(&self, marks: &Marks, size: u64) -> Option<Marks> {
        let planner = self.planner;
        let newest = planner.groups.last().filter(|g| g.kind == Kind::Exchange)?;
        let rows = planner.conversation.rows.get(newest.rows.clone()).unwrap_or_default();
        let results = groups::calls(rows).into_iter().filter_map(|(_, result)| result);
        let sizes: Vec<u64> =
            results.map(|row| planner.tariff.upper(planner.tariff.text(row.measure.text))).collect();
        let room = (self.target() + sizes.iter().sum::<u64>()).checked_sub(size)?;
        let level = material::level(sizes.iter().copied(), room);
        if sizes.is_empty() || level < planner.tariff.upper_text(prune::CLEARED) {
            return None;
        }
        let group = std::slice::from_ref(newest);
        let mut all = marks.clone();
        all.extend(prune::giants(planner.conversation, group, &planner.tariff, marks, level));
        Some(all)
    }

    fn newest_group(&self) -> usize {
        self.planner.groups.len().saturating_sub(1)
    }

    fn edges(&self, marks: &Marks) -> Edges<'_> {
        let planner = self.planner;
        let cost = |row: &MeasuredRow| prune::cost(row, marks.get(&row.message.id), &planner.tariff);
        Edges::new(&planner.conversation.rows, &planner.groups, cost)
    }

    // ---- steps that cover rows ----

    /// The compaction the ladder leads to; `None` where there is nothing to cover or to gain.
    fn compact(&self, reason: Reason, marks: &Marks, is_urgent: bool) -> Option<Plan> {
        let planner = self.planner;
        let mut marks = marks.clone();
        let mut boundary = self.boundary(&marks);
        // The newest batch is what the model waits for: it stays if eliding its results makes room for it.
        if boundary == planner.groups.len() && planner.policy.tail != Tail::Empty {
            let newest = self.newest_group();
            let elided = self.with_newest_batch_elided(&marks, self.size_after(newest, &marks));
            if let Some(elided) = elided.filter(|m| self.size_after(newest, m) <= self.target()) {
                (marks, boundary) = (elided, newest);
            }
        }
        let is_too_big = self.size() > self.budget.hard;
        let covered = planner.groups.get(..boundary).unwrap_or_default();
        let is_old_summary_too_big = planner.conversation.epoch.is_some() && is_too_big;
        if covered.iter().all(|g| g.kind == Kind::Silent) && !is_old_summary_too_big {
            return None;
        }
        let cover = Cover { steps: self, reason, marks, boundary };
        if reason != Reason::Manual && self.budget.emergency.is_some_and(|size| self.now.upper >= size) {
            return Some(cover.emergency());
        }
        let may_ask = planner.inputs.summaries == Summaries::Allowed
            && (planner.policy.auto || reason == Reason::Manual);
        let summary = if may_ask { cover.summarise() } else { None };
        if summary.is_none() && may_ask && reason == Reason::Manual && !is_too_big {
            return None;
        }
        let plan = summary.unwrap_or_else(|| cover.digest());
        let gap = planner.policy.retry_gap.of(self.budget.base).min(self.now.upper / WORTHWHILE);
        let wins = plan.request_estimate.upper.saturating_add(gap) <= self.now.upper;
        (is_urgent || wins).then_some(plan)
    }

    /// The boundary of the knob, moved on until the rest is within the target or can shrink no more.
    fn boundary(&self, marks: &Marks) -> usize {
        let planner = self.planner;
        let edges = self.edges(marks);
        let last = edges.last;
        let mut boundary = edges.by_knob(planner.policy, &self.budget, &planner.tariff);
        let around =
            self.draft(last, Summary::Pending(self.budget.summary_cap), marks).assemble(&planner.tariff);
        let around = around.parts.system + around.parts.tools + around.parts.summary + Tariff::REQUEST;
        let carried_before =
            |index: usize| planner.carried(index).map_or(Cost::ZERO, |row| row.cost(&planner.tariff));
        // By sums first, which is quick; then by the request itself, which also counts reasoning that is replayed.
        let target = self.target();
        let sums = |index: usize| around + carried_before(index) + edges.tail_cost(index);
        while boundary < last && planner.stage.size(planner.size(sums(boundary))) > target {
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
            u128::from(self.by_content) * u128::from(self.budget.target) / u128::from(self.size().max(1));
        u64::try_from(ratio).unwrap_or(u64::MAX).min(self.budget.target)
    }

    /// The size of the next request with a summary of full length before the groups from `boundary` on.
    fn size_after(&self, boundary: usize, marks: &Marks) -> u64 {
        let draft = self.draft(boundary, Summary::Pending(self.budget.summary_cap), marks);
        self.size_of(&self.planner.form(draft))
    }

    /// The request after a compaction that leaves the groups from `boundary` on.
    pub fn draft<'d>(&'d self, boundary: usize, summary: Summary<'d>, marks: &'d Marks) -> Draft<'d> {
        let planner = self.planner;
        let conversation = planner.conversation;
        let start = planner.start(boundary);
        Draft {
            conversation,
            rows: start..conversation.rows.len(),
            carried: planner.carried(boundary),
            pins: planner.pins(boundary),
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
