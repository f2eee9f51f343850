//! What a request is taken for just before it is sent, by each source that there is or could be. Decides nothing, and leaves
//! the conversation as it was.

use super::Ours;
use crate::estimates::{self, Sample};
use crate::slack::Source;
use oneclaw_context::estimate::EstimatorState;
use oneclaw_context::{Inputs, Moment, Plan, reported};
use oneclaw_model::{Body, Usage};

impl Ours<'_> {
    /// The estimates of a plan's request. The conversation is looked at as if less were known of it: without anchor, reports
    /// on rows, calibration. `None` if it is then another request.
    pub(super) fn sample(&mut self, plan: &Plan) -> Option<Sample> {
        let state = self.state();
        let model = self.conversation.model.clone();
        let usage = reported::last_usage(&self.conversation).filter(|_| self.conversation.marks.is_empty());
        let by_rows = usage.map(|_| self.looked(&EstimatorState::default()).request_estimate.upper);
        let usages = self.without_usage();
        let content = self.looked(&EstimatorState::default());
        let calibrated = EstimatorState { anchor: None, ..state.clone() };
        let calibrated = self.looked(&calibrated).request_estimate;
        self.with_usage(usages);
        if content.request.messages != plan.request.messages {
            return None;
        }
        let best = plan.request_estimate;
        let covered = state.anchor.and_then(|anchor| anchor.covers(&plan.request, model.as_ref()));
        let by_service = covered.map(|messages| match messages == plan.request.messages.len() {
            true => Source::Counted,
            false => Source::Anchor,
        });
        let upper = [
            Some((Source::Content, content.request_estimate.upper)),
            Some((Source::Calibrated, calibrated.upper)),
            by_rows.map(|upper| (Source::RowUsage, upper)),
            by_service.map(|source| (source, best.upper)),
        ];
        Some(Sample {
            simple: estimates::quarter(&plan.request),
            content: plan.uncalibrated,
            calibrated: calibrated.expected,
            anchored: by_service.map(|_| best.expected),
            upper: upper.into_iter().flatten().collect(),
        })
    }

    fn looked(&self, state: &EstimatorState) -> Plan {
        let moment = Moment::BeforeSend;
        oneclaw_context::look(&Inputs::new(&self.conversation, &self.limits, self.policy, state, moment))
    }

    /// Takes what services reported off the rows.
    fn without_usage(&mut self) -> Vec<Option<Usage>> {
        let taken = self.conversation.rows.iter_mut().map(|row| match &mut row.message.body {
            Body::Assistant { usage, .. } => usage.take(),
            _ => None,
        });
        taken.collect()
    }

    /// Puts it back.
    fn with_usage(&mut self, usages: Vec<Option<Usage>>) {
        for (row, known) in self.conversation.rows.iter_mut().zip(usages) {
            if let Body::Assistant { usage, .. } = &mut row.message.body {
                *usage = known;
            }
        }
    }
}
