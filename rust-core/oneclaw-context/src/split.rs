//! Where the tail begins: on a group's edge, within the policy's knob.

use crate::budget::Budget;
use crate::estimate::{Cost, MeasuredRow, Tariff};
use crate::groups::{Group, Kind};
use crate::policy::{Policy, Snap, Tail};
use oneclaw_model::Body;

/// The groups a boundary can stand between, and what they cost. Boundaries are indices of groups.
#[derive(Debug, Clone)]
pub struct Edges<'a> {
    /// All rows.
    pub rows: &'a [MeasuredRow],
    /// All groups.
    pub groups: &'a [Group],
    /// What the groups from each index on cost; one entry more than groups.
    pub suffix: Vec<Cost>,
    /// The last possible boundary: before a user message that is still unanswered, else after everything.
    pub last: usize,
}

impl<'a> Edges<'a> {
    /// Sums up the costs of the groups.
    pub fn new(rows: &'a [MeasuredRow], groups: &'a [Group], cost: impl Fn(&MeasuredRow) -> Cost) -> Self {
        let mut suffix = vec![Cost::ZERO; groups.len() + 1];
        let mut sum = Cost::ZERO;
        for (slot, group) in suffix.iter_mut().zip(groups).rev() {
            sum += rows.get(group.rows.clone()).unwrap_or_default().iter().map(&cost).sum();
            *slot = sum;
        }
        let newest_user = groups.iter().rposition(|g| g.kind == Kind::User);
        let is_answered = |index: usize| groups.iter().skip(index).any(|g| g.kind == Kind::Exchange);
        let last = newest_user.filter(|index| !is_answered(*index)).unwrap_or(groups.len());
        Self { rows, groups, suffix, last }
    }

    /// The cost of the groups from `index` on.
    pub fn tail_cost(&self, index: usize) -> Cost {
        self.suffix.get(index).copied().unwrap_or_default()
    }

    /// The row a boundary stands before.
    pub fn row(&self, index: usize) -> usize {
        self.groups.get(index).map_or(self.rows.len(), |g| g.rows.start)
    }

    /// The boundary that the policy's knob asks for.
    pub fn by_knob(&self, policy: &Policy, budget: &Budget, tariff: &Tariff) -> usize {
        let within = |tokens: u64| {
            let fits = |index: &usize| tariff.upper(self.tail_cost(*index)) <= tokens;
            (0..=self.groups.len()).find(fits).unwrap_or(self.groups.len())
        };
        let raw = match policy.tail {
            Tail::WindowShare => within(policy.tail_share.of(budget.base)),
            Tail::Tokens => within(policy.tail_tokens),
            Tail::Empty => self.groups.len(),
            Tail::Messages => self.by_count(policy),
        };
        self.snapped(raw, policy.snap).min(self.last)
    }

    /// The next boundary that leaves a smaller tail.
    pub fn next(&self, index: usize, snap: Snap) -> usize {
        self.snapped(index + 1, snap).min(self.last)
    }

    fn snapped(&self, index: usize, snap: Snap) -> usize {
        match snap {
            Snap::Back => index,
            Snap::ForwardToUser => {
                let ahead = self.groups.iter().skip(index).position(|g| g.kind == Kind::User);
                ahead.map_or(index, |steps| index + steps)
            }
        }
    }

    /// The boundary that leaves the newest messages, counted as rows; a batch it would tear apart stays whole.
    fn by_count(&self, policy: &Policy) -> usize {
        let is_sent =
            |row: &MeasuredRow| !matches!(row.message.body, Body::Error { .. } | Body::System { .. });
        let sent = self.rows.iter().enumerate().rev().filter(|(_, row)| is_sent(row)).map(|(i, _)| i);
        let Some(count) = usize::try_from(policy.tail_messages).ok().filter(|n| *n > 0) else {
            return self.groups.len();
        };
        let first = sent.take(count).last().unwrap_or(0);
        let is_fewer = self.rows.iter().filter(|row| is_sent(row)).count() <= count;
        let inside = self.groups.iter().position(|g| g.rows.contains(&first)).unwrap_or(0);
        match policy.snap {
            _ if is_fewer => 0,
            Snap::Back => inside,
            Snap::ForwardToUser => inside + usize::from(self.row(inside) < first),
        }
    }
}
