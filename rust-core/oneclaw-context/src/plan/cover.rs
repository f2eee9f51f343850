//! A compaction in the making: what is covered is known, what stands in its place is found here.

use super::ladder::Steps;
use super::{Compaction, Decision, Plan, Reason, Strategy, Summarise, Work};
use crate::assemble::Summary;
use crate::budget::Budget;
use crate::estimate::{Cost, MeasuredRow};
use crate::policy::Style;
use crate::prune::Marks;
use crate::summary::digest::{digest, within_embedded};
use crate::summary::emergency_notice;
use crate::summary::fact_block::{Facts, embedded};
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
        self.steps.planner.conversation.rows.get(..self.start()).unwrap_or_default()
    }

    fn start(&self) -> usize {
        self.steps.planner.start(self.boundary)
    }

    fn prior(&self) -> Option<&str> {
        self.steps.planner.conversation.epoch.as_ref().map(|e| e.summary.as_str()).filter(|s| !s.is_empty())
    }

    /// The size of the next request with an empty text in place of the covered rows.
    fn base(&self) -> u64 {
        let draft = self.steps.draft(self.boundary, Summary::Pending(0), &self.marks);
        self.steps.size_of(&self.steps.planner.form(draft))
    }

    /// The same with nothing in their place.
    fn bare(&self) -> u64 {
        let draft = self.steps.draft(self.boundary, Summary::None, &self.marks);
        self.steps.size_of(&self.steps.planner.form(draft))
    }

    /// What a text in place of the covered rows may take so that the next request stays within `limit`.
    fn room(&self, limit: u64) -> u64 {
        // Two roundings up can add a token.
        limit.saturating_sub(self.base() + 1)
    }

    /// A model writes a summary; `None` where it cannot be asked for one.
    pub fn summarise(&self) -> Option<Plan> {
        let steps = self.steps;
        let planner = steps.planner;
        let cap = steps.budget.summary_cap.min(self.room(steps.budget.hard));
        if cap < LEAST_SUMMARY {
            return None;
        }
        // Whatever the chat gives up, the request for its summary does not.
        let usual = planner.known.unwrap_or(steps.budget);
        let (writer, tariff) = match planner.inputs.summariser {
            None => (usual, &planner.tariff),
            Some(other) => (Budget::of(&other.limits, planner.policy).unwrap_or(usual), &other.tariff),
        };
        let job = Job {
            rows: self.rows(),
            groups: planner.groups.get(..self.boundary).unwrap_or_default(),
            marks: &planner.standing,
            prior: self.prior(),
            style: planner.policy.style,
            focus: planner.inputs.focus,
            cap: cap.min(writer.reserve),
            limit: writer.hard,
        };
        let requests = SummaryPlan::new(job, tariff)?;
        let covered: Cost = self.rows().iter().map(|row| row.cost(&planner.tariff)).sum();
        let prior_size = self.prior().map_or(0, |prior| planner.tariff.upper_text(prior));
        let gate = Gate {
            style: planner.policy.style,
            cap,
            replaces: planner.tariff.upper(covered) + prior_size,
            prior: self.prior().map(str::to_owned),
            facts: Facts::collect(self.prior(), self.rows()),
            tariff: planner.tariff.clone(),
        };
        let strategy = match planner.policy.style {
            Style::Prose => Strategy::Prose,
            Style::Structured => Strategy::Structured,
            Style::Narrative => Strategy::Narrative,
            Style::Checkpoint => Strategy::Checkpoint,
            Style::Continuation => Strategy::Continuation,
        };
        let work = Work::Summarise(Box::new(Summarise { requests, gate }));
        Some(self.plan(strategy, work, Summary::Pending(cap)))
    }

    /// The digest of what is covered, short enough for the next request to be under the trigger, or at least to fit;
    /// nothing if need be. No model writes it, so the output reserve does not bound it.
    pub fn digest(&self) -> Plan {
        let budget = self.steps.budget;
        // Where nothing can get it under the trigger, not even to leave out what stands around a summary, the hard limit counts.
        let limit = if self.bare() <= budget.trigger { budget.trigger } else { budget.hard };
        let cap = self.steps.planner.policy.summary_tokens.min(self.room(limit));
        if cap < LEAST_SUMMARY {
            return self.local(Strategy::Drop, String::new());
        }
        let text = digest(self.prior(), self.rows(), cap, &self.steps.planner.tariff);
        self.local(Strategy::Digest, text)
    }

    /// A notice that history was dropped, and the prior summary as far as it fits.
    pub fn emergency(&self) -> Plan {
        let tariff = &self.steps.planner.tariff;
        let notice = emergency_notice();
        let budget = self.steps.budget;
        let least = tariff.upper_text(notice);
        let room = match self.room(budget.target) {
            room if room >= least => room,
            _ => self.room(budget.hard),
        };
        let size = |text: &str| {
            let (text, facts) = embedded(text);
            tariff.upper_text(&text) + tariff.upper_text(&facts)
        };
        let prior = self.prior().unwrap_or_default();
        let prior = prior.strip_prefix(notice).unwrap_or(prior).trim_start();
        let mut text = format!("{notice}\n\n{prior}").trim_end().to_owned();
        let mut left = room.saturating_sub(least);
        while size(&text) > room && text != notice {
            let cut = within_embedded(Facts::take_from(prior).0, left, tariff);
            text = format!("{notice}\n\n{cut}").trim_end().to_owned();
            left = left * 9 / 10;
        }
        self.local(Strategy::Emergency, if least <= room { text } else { String::new() })
    }

    fn local(&self, strategy: Strategy, text: String) -> Plan {
        self.plan(strategy, Work::Local(text.clone()), Summary::of(&text))
    }

    fn plan(&self, strategy: Strategy, work: Work, summary: Summary<'_>) -> Plan {
        let steps = self.steps;
        let planner = steps.planner;
        let mut draft = steps.draft(self.boundary, summary, &self.marks);
        let mut form = planner.form(draft.clone());
        if steps.size_of(&form) > steps.budget.hard {
            draft.auto_continue = None;
            form = planner.form(draft.clone());
        }
        let compaction = Compaction {
            reason: self.reason,
            strategy,
            covers: self.start(),
            work,
            auto_continue: draft.auto_continue.map(str::to_owned),
        };
        let decision = Decision::Compact(Box::new(compaction));
        steps.remember_size(planner.finish(form, decision, self.marks.clone(), self.start()))
    }
}
