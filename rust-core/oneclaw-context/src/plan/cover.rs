//! A compaction in the making: what is covered is known, what stands in its place is found here.

use super::ladder::Steps;
use super::{Compaction, Decision, Plan, Reason, Strategy, Work};
use crate::assemble::Summary;
use crate::budget::Budget;
use crate::estimate::{Cost, MeasuredRow};
use crate::policy::Style;
use crate::prune::Marks;
use crate::summary::digest::{digest, within_embedded};
use crate::summary::emergency_notice;
use crate::summary::fact_block::Facts;
use crate::summary::gate::Gate;
use crate::summary::prompt::{Job, SummaryPlan};

/// A summary shorter than this says nothing.
const LEAST_SUMMARY: u64 = 48;

/// A compaction in the making: everything before `boundary` is covered.
pub(super) struct Cover<'a> {
    pub steps: &'a Steps<'a>,
    pub reason: Reason,
    pub marks: Marks,
    pub boundary: usize,
}

impl Cover<'_> {
    fn rows(&self) -> &[MeasuredRow] {
        let start = self.start();
        self.steps.planner.conversation.rows.get(..start).unwrap_or_default()
    }

    fn start(&self) -> usize {
        let planner = self.steps.planner;
        planner.groups.get(self.boundary).map_or(planner.conversation.rows.len(), |g| g.rows.start)
    }

    fn prior(&self) -> Option<&str> {
        self.steps.planner.conversation.epoch.as_ref().map(|e| e.summary.as_str()).filter(|s| !s.is_empty())
    }

    /// The longest summary that leaves the next request within `limit`.
    fn cap(&self, limit: u64) -> u64 {
        let steps = self.steps;
        let form = steps.planner.form(steps.draft(self.boundary, Summary::Pending(0), &self.marks));
        steps.budget.summary_cap.min(limit.saturating_sub(form.estimate.upper))
    }

    /// A model writes a summary; `None` where it cannot be asked for one.
    pub fn summarise(&self) -> Option<Plan> {
        let steps = self.steps;
        let planner = steps.planner;
        let cap = self.cap(steps.budget.hard);
        if cap < LEAST_SUMMARY {
            return None;
        }
        let (writer, tariff) = match planner.inputs.summariser {
            None => (steps.budget, &planner.tariff),
            Some(other) => (Budget::of(&other.limits, planner.policy).unwrap_or(steps.budget), &other.tariff),
        };
        let job = Job {
            rows: self.rows(),
            groups: planner.groups.get(..self.boundary).unwrap_or_default(),
            marks: &planner.conversation.marks,
            prior: self.prior(),
            style: planner.policy.style,
            focus: planner.inputs.focus,
            cap: cap.min(writer.reserve),
            limit: writer.hard,
        };
        let plan = SummaryPlan::new(job, tariff)?;
        let strategy = match planner.policy.style {
            Style::Prose => Strategy::Prose,
            Style::Structured => Strategy::Structured,
            Style::Narrative => Strategy::Narrative,
            Style::Checkpoint => Strategy::Checkpoint,
            Style::Continuation => Strategy::Continuation,
        };
        Some(self.plan(strategy, Work::Summarise(Box::new(plan)), Summary::Pending(cap), cap))
    }

    /// The digest of what is covered, shortened until the next request is under the trigger; nothing if need be.
    pub fn digest(&self) -> Plan {
        let steps = self.steps;
        let cap = self.cap(steps.budget.trigger);
        if cap < LEAST_SUMMARY {
            return self.local(Strategy::Drop, String::new(), cap);
        }
        let text = digest(self.prior(), self.rows(), cap, &steps.planner.tariff);
        self.local(Strategy::Digest, text, cap)
    }

    /// A notice that history was dropped, and the prior summary as far as it fits.
    pub fn emergency(&self) -> Plan {
        let steps = self.steps;
        let cap = self.cap(steps.budget.hard);
        let text = match self.prior() {
            Some(prior) => format!("{}\n\n{prior}", emergency_notice()),
            None => emergency_notice().to_owned(),
        };
        let text = within_embedded(&text, cap, &steps.planner.tariff);
        self.local(Strategy::Emergency, text, cap)
    }

    fn local(&self, strategy: Strategy, text: String, cap: u64) -> Plan {
        self.plan(strategy, Work::Local(text.clone()), Summary::of(&text), cap)
    }

    fn plan(&self, strategy: Strategy, work: Work, summary: Summary<'_>, cap: u64) -> Plan {
        let steps = self.steps;
        let planner = steps.planner;
        let covered: Cost = self.rows().iter().map(|row| row.cost(&planner.tariff)).sum();
        let prior_size = self.prior().map_or(0, |prior| planner.tariff.upper_text(prior));
        let mut draft = steps.draft(self.boundary, summary, &self.marks);
        let mut form = planner.form(draft.clone());
        if form.estimate.upper > steps.budget.hard {
            draft.auto_continue = None;
            form = planner.form(draft.clone());
        }
        let facts = match &work {
            Work::Summarise(_) => Facts::collect(self.prior(), self.rows()),
            Work::Local(_) => Facts::default(),
        };
        let compaction = Compaction {
            reason: self.reason,
            strategy,
            covers: self.start(),
            work,
            gate: Gate {
                style: planner.policy.style,
                cap,
                replaces: planner.tariff.upper(covered) + prior_size,
                prior: self.prior().map(str::to_owned),
                facts,
            },
            auto_continue: draft.auto_continue.map(str::to_owned),
        };
        let decision = Decision::Compact(Box::new(compaction));
        let plan = planner.finish(form, Some(steps.budget), decision, self.marks.clone(), self.start());
        steps.remember_size(plan)
    }
}
