//! What is counted. Sums only, so that tallies of conversations add up to those of a run.

use serde::{Deserialize, Serialize};

/// How often something was looked for, and seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Seen {
    /// Looked for.
    pub asked: u64,
    /// Seen.
    pub seen: u64,
}

impl Seen {
    fn add(&mut self, other: Self) {
        self.asked += other.asked;
        self.seen += other.seen;
    }

    /// The share seen, in percent; all of nothing is all.
    pub fn percent(self) -> f64 {
        if self.asked == 0 { 100.0 } else { self.seen as f64 * 100.0 / self.asked as f64 }
    }
}

/// Planted facts, by who stated them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FactsSeen {
    /// The user, in passing.
    pub user: Seen,
    /// A tool.
    pub tool: Seen,
    /// The user, in a message that was pinned.
    pub pins: Seen,
}

impl FactsSeen {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.user.add(other.user);
        self.tool.add(other.tool);
        self.pins.add(other.pins);
    }
}

/// What became of facts and pins under our presets, as the harness itself finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kept {
    /// Facts found in covered rows that stand in the text that replaces them.
    pub facts: u64,
    /// Facts left out: with one more of them the block would exceed its room.
    pub facts_dropped: u64,
    /// Facts left out although there was room for them. A fault.
    pub facts_lost: u64,
    /// Pins the user was refused, as they would take too much.
    pub pins_refused: u64,
    /// Pins left out of a request that had no room for them.
    pub pins_dropped: u64,
    /// Pins refused or left out although there was room for them. A fault.
    pub pins_lost: u64,
    /// Compactions that were decided on and could not be made. A fault.
    pub compactions_failed: u64,
}

impl Kept {
    fn add(&mut self, other: &Self) {
        self.facts += other.facts;
        self.facts_dropped += other.facts_dropped;
        self.facts_lost += other.facts_lost;
        self.pins_refused += other.pins_refused;
        self.pins_dropped += other.pins_dropped;
        self.pins_lost += other.pins_lost;
        self.compactions_failed += other.compactions_failed;
    }
}

/// Everything measured of a policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Conversations held.
    pub conversations: u64,
    /// Conversations in which from some turn on no message was answered any more.
    pub dead: u64,
    /// Turns begun.
    pub turns: u64,
    /// Turns in which the user got no answer, impossible ones aside.
    pub failed: u64,
    /// Of these: turns that the policy declined, and really instructions, tools and the newest message leave no room for even
    /// a short reply.
    pub declined: u64,
    /// Turns that the policy declined for the same reason, though by the real count they would have fitted.
    pub declined_early: u64,
    /// The smallest newest message of all declined turns, as a share of the window, in millionths.
    pub least_declined_ppm: Option<u64>,
    /// Turns that no policy can make fit: instructions, tools and the newest message alone exceed the window.
    pub impossible: u64,
    /// Replies cut as the prompt left no room for them.
    pub cut: u64,
    /// Requests of the chat that were sent.
    pub requests: u64,
    /// Of these: refused by the service as too long, tries aside.
    pub rejected: u64,
    /// Of these: sent as a try, as the size that is likely fits and the upper bound does not.
    pub tries: u64,
    /// Of the tries: refused as too long.
    pub tries_refused: u64,
    /// Of these: refused for calls and results that do not belong together.
    pub malformed: u64,
    /// Tool results sent without their call, each counted once however often it was sent.
    pub orphans: u64,
    /// Questions what a request would cost.
    pub counts: u64,
    /// Requests for a summary.
    pub summary_calls: u64,
    /// Of these: refused as too long.
    pub summary_overflows: u64,
    /// Prompt tokens of chat requests that were answered.
    pub prompt_tokens: u64,
    /// Of these: the same as in the request before, so read from a cache.
    pub cached_tokens: u64,
    /// Prompt tokens of summary requests that were answered.
    pub summary_tokens: u64,
    /// Compactions.
    pub compactions: u64,
    /// Sum over compactions of the share of the window that was still unused, in millionths.
    pub wasted_ppm: u64,
    /// The largest request, answered or refused, as a share of the window, in millionths.
    pub largest_ppm: u64,
    /// Compactions made before a tenth of the window was added since the last one.
    pub loops: u64,
    /// Planted facts in the requests of the turns that look for them.
    pub facts: FactsSeen,
    /// Ours only.
    pub kept: Kept,
}

/// What tokens from a cache cost, in fresh ones.
pub(crate) fn cost_of_cached(tokens: u64) -> u64 {
    tokens / 10
}

impl Tally {
    /// Adds another conversation.
    pub fn add(&mut self, other: &Self) {
        self.conversations += other.conversations;
        self.dead += other.dead;
        self.turns += other.turns;
        self.failed += other.failed;
        self.declined += other.declined;
        self.declined_early += other.declined_early;
        let least = self.least_declined_ppm.into_iter().chain(other.least_declined_ppm);
        self.least_declined_ppm = least.min();
        self.impossible += other.impossible;
        self.cut += other.cut;
        self.requests += other.requests;
        self.rejected += other.rejected;
        self.tries += other.tries;
        self.tries_refused += other.tries_refused;
        self.malformed += other.malformed;
        self.orphans += other.orphans;
        self.counts += other.counts;
        self.summary_calls += other.summary_calls;
        self.summary_overflows += other.summary_overflows;
        self.prompt_tokens += other.prompt_tokens;
        self.cached_tokens += other.cached_tokens;
        self.summary_tokens += other.summary_tokens;
        self.compactions += other.compactions;
        self.wasted_ppm += other.wasted_ppm;
        self.largest_ppm = self.largest_ppm.max(other.largest_ppm);
        self.loops += other.loops;
        self.facts.add(&other.facts);
        self.kept.add(&other.kept);
    }

    /// All prompt tokens, summaries included.
    pub fn all_tokens(&self) -> u64 {
        self.prompt_tokens + self.summary_tokens
    }

    /// All prompt tokens, those from a cache at a tenth.
    pub fn paid_tokens(&self) -> u64 {
        let cached = cost_of_cached(self.cached_tokens);
        (self.prompt_tokens - self.cached_tokens) + cached + self.summary_tokens
    }

    /// The unused share of the window at the time of a compaction, in percent.
    pub fn wasted_percent(&self) -> Option<f64> {
        (self.compactions > 0).then(|| self.wasted_ppm as f64 / self.compactions as f64 / 1e4)
    }

    /// Compactions per thousand turns.
    pub fn compactions_per_thousand(&self) -> f64 {
        self.compactions as f64 * 1_000.0 / self.turns.max(1) as f64
    }

    /// Turns that were answered.
    pub fn completed(&self) -> u64 {
        self.turns.saturating_sub(self.failed + self.impossible)
    }

    /// Turns that failed for another reason than a newest message that is too big.
    pub fn failed_for_nothing(&self) -> u64 {
        self.failed.saturating_sub(self.declined + self.declined_early)
    }
}

/// What policies are compared by, turn by turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sums {
    /// Prompt tokens, summaries included.
    pub tokens: u64,
    /// The same with those from a cache at a tenth.
    pub paid: u64,
    /// Requests for a summary.
    pub summary_calls: u64,
    /// Compactions.
    pub compactions: u64,
    /// Sum over compactions of the share of the window that was still unused, in millionths.
    pub wasted_ppm: u64,
    /// Compactions made before a tenth of the window was added since the last one.
    pub loops: u64,
    /// Replies cut as the prompt left no room for them.
    pub cut: u64,
    /// Planted facts.
    pub facts: FactsSeen,
}

impl Sums {
    /// Adds another turn.
    pub fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.paid += other.paid;
        self.summary_calls += other.summary_calls;
        self.compactions += other.compactions;
        self.wasted_ppm += other.wasted_ppm;
        self.loops += other.loops;
        self.cut += other.cut;
        self.facts.add(&other.facts);
    }
}

/// One turn, for the comparison turn by turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TurnCost {
    /// Whether the user got an answer.
    pub is_completed: bool,
    /// What was counted in it.
    pub sums: Sums,
}

/// A request as the chart of request sizes shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The turn.
    pub turn: u64,
    /// Its real size.
    pub tokens: u64,
    /// Whether it was refused.
    pub is_refused: bool,
}
