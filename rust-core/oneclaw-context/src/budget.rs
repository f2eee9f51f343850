//! From what a model can hold to the sizes that matter: hard limit, trigger, target, caps.

use crate::policy::{Policy, Trigger};
use oneclaw_model::ModelLimits;

/// The shortest reply a request may be left with where nothing else makes it fit.
pub const SHORT_REPLY: u64 = 1_024;

/// The sizes a request is judged by, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The window, where it is known.
    pub window: Option<u64>,
    /// What shares are taken of: the window, or the input limit where only that is known.
    pub base: u64,
    /// What is kept free for the reply.
    pub reserve: u64,
    /// No request may be larger.
    pub hard: u64,
    /// The same where only a short reply is asked for: what a request that cannot be made smaller is judged by.
    pub most: u64,
    /// The largest size that does not fire.
    pub trigger: u64,
    /// What a compaction should get down to.
    pub target: u64,
    /// The longest summary.
    pub summary_cap: u64,
    /// From this size on no summary is tried.
    pub emergency: Option<u64>,
}

impl Budget {
    /// The sizes for a model under a policy; `None` where nothing is known of the model, so nothing fires.
    pub fn of(limits: &ModelLimits, policy: &Policy) -> Option<Self> {
        let known = |n: Option<u64>| n.filter(|n| *n > 0);
        let window = known(limits.window);
        let input_limit = known(limits.input_limit);
        let base = window.or(input_limit)?;

        let mut reserve = known(limits.max_output).unwrap_or(u64::MAX).min(policy.output_cap);
        if let Some(window) = window {
            reserve = reserve.min(window / 4);
        }
        let beside = |reply: u64| match window {
            Some(window) => window.saturating_sub(reply).min(input_limit.unwrap_or(u64::MAX)),
            None => base,
        };
        let hard = beside(reserve);
        let fires_above = match policy.trigger {
            Trigger::WindowShare => policy.threshold.of(base),
            Trigger::HardShare => {
                let share = policy.threshold.minus(policy.overhead_reserve).max(policy.trigger_floor);
                share.of_up(hard).saturating_sub(1)
            }
            Trigger::Tokens => policy.trigger_tokens.saturating_sub(reserve),
            Trigger::Used => hard,
        };
        Some(Self {
            window,
            base,
            reserve,
            hard,
            most: beside(reserve.min(SHORT_REPLY)),
            trigger: fires_above.min(hard),
            target: policy.target.of(base).min(fires_above).min(hard),
            summary_cap: policy.summary_tokens.min(reserve),
            emergency: policy.emergency.map(|share| share.of_up(hard)),
        })
    }

    /// The sizes where only a short reply is asked for. The limit is all that counts then: what is over it by more than a
    /// reply's length does not get under any trigger.
    pub fn with_short_reply(self) -> Self {
        let most = self.most;
        Self { reserve: self.reserve.min(SHORT_REPLY), hard: most, trigger: most, target: most, ..self }
    }

    /// What to ask for in a request of that size: services may count prompt and reply together.
    pub fn max_output(&self, upper: u64) -> u64 {
        match self.window {
            Some(window) => self.reserve.min(window.saturating_sub(upper)),
            None => self.reserve,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{NOUS, ONECLAW, OPENCODE, SVEN};

    fn sizes(limits: ModelLimits, policy: &Policy) -> (u64, u64, u64) {
        let budget = Budget::of(&limits, policy).unwrap();
        (budget.reserve, budget.hard, budget.trigger)
    }

    #[test]
    fn sizes_of_each_preset() {
        let model = ModelLimits { window: Some(200_000), input_limit: None, max_output: Some(64_000) };
        assert_eq!(sizes(model, &ONECLAW), (32_000, 168_000, 168_000));
        assert_eq!(sizes(model, &SVEN), (32_000, 168_000, 125_999));
        assert_eq!(sizes(model, &NOUS), (32_000, 168_000, 68_000));
        assert_eq!(sizes(model, &OPENCODE), (32_000, 168_000, 168_000));
        let small = ModelLimits { window: Some(128_000), input_limit: None, max_output: Some(4_096) };
        assert_eq!(sizes(small, &ONECLAW), (4_096, 123_904, 108_800));
    }

    #[test]
    fn an_input_limit_of_its_own_wins_where_it_is_smaller() {
        let limits =
            ModelLimits { window: Some(100_000), input_limit: Some(60_000), max_output: Some(1_000) };
        assert_eq!(sizes(limits, &OPENCODE), (1_000, 60_000, 60_000));
        let only = ModelLimits { window: None, input_limit: Some(60_000), max_output: Some(1_000) };
        assert_eq!(sizes(only, &ONECLAW), (1_000, 60_000, 51_000));
    }

    #[test]
    fn a_short_reply_leaves_more_for_the_request_within_an_input_limit() {
        let most = |window, input_limit, max_output| {
            let budget = Budget::of(&ModelLimits { window, input_limit, max_output }, &ONECLAW).unwrap();
            let short = budget.with_short_reply();
            assert_eq!((short.hard, short.summary_cap), (budget.most, budget.summary_cap));
            (short.reserve, short.hard)
        };
        assert_eq!(most(Some(16_000), None, None), (1_024, 14_976));
        assert_eq!(most(Some(16_000), None, Some(500)), (500, 15_500));
        assert_eq!(most(Some(3_000), None, None), (750, 2_250), "never above the usual reserve");
        assert_eq!(most(Some(16_000), Some(13_000), None), (1_024, 13_000));
        assert_eq!(most(None, Some(13_000), None), (1_024, 13_000));
    }

    #[test]
    fn nothing_known_is_no_budget() {
        for window in [None, Some(0)] {
            let limits = ModelLimits { window, input_limit: None, max_output: Some(4_096) };
            assert_eq!(Budget::of(&limits, &ONECLAW), None);
        }
    }

    #[test]
    fn the_reply_never_reaches_over_the_window() {
        let budget =
            Budget::of(&ModelLimits { window: Some(8_000), ..Default::default() }, &ONECLAW).unwrap();
        assert_eq!(budget.max_output(1_000), 2_000);
        assert_eq!(budget.max_output(7_500), 500);
        assert_eq!(budget.max_output(9_000), 0);
    }
}
