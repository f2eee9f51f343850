//! What reports and refusals teach about a model. Pure: values in, values out.

use oneclaw_context::Plan;
use oneclaw_context::estimate::Calibration;
use oneclaw_providers::classify;
use oneclaw_store::engine::Learnt;

/// A window is never believed to be smaller: a service that says less says something else.
const LEAST_WINDOW: u64 = 512;
/// Of a request that was refused without a number, so much is believed to fit.
const FITS_AFTER_REFUSAL: (u64, u64) = (3, 4);

/// What a provider said of the size of a request, beside what was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub reported: u64,
    pub expected: u64,
}

/// What a report means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lesson {
    /// The size is real: an anchor, and a correction of the estimates.
    Size(Learnt),
    /// Far too small to be true; what it means shows with the next one.
    Doubtful,
    /// The prompt grew and the report did not: the service cuts prompts to this size without a word.
    SilentWindow(Learnt),
}

/// What a report on a request teaches, after the last doubtful one.
pub(crate) fn of_report(learnt: Learnt, plan: &Plan, reported: u64, last_doubtful: Option<Report>) -> Lesson {
    let report = Report { reported, expected: plan.request_estimate.expected };
    if !classify::silent_overflow(reported, report.expected, None) {
        let factor =
            learnt.factor.map(Calibration::new).unwrap_or_default().after(reported, plan.uncalibrated);
        return Lesson::Size(Learnt { factor: Some(factor.factor()), ..learnt });
    }
    match last_doubtful {
        Some(last) if stands_still(last, report) => {
            let window = reported.max(LEAST_WINDOW);
            Lesson::SilentWindow(Learnt { window: Some(smaller(learnt.window, window)), ..learnt })
        }
        _ => Lesson::Doubtful,
    }
}

/// The prompt grew by a twentieth, the report by less than a fiftieth.
fn stands_still(last: Report, now: Report) -> bool {
    now.expected > last.expected + last.expected / 20
        && now.reported >= LEAST_WINDOW
        && now.reported.abs_diff(last.reported) <= last.reported / 50
}

/// What a refusal as too long teaches: the window, or where that is no news, that estimates were too low.
pub(crate) fn of_refusal(
    learnt: Learnt,
    window: Option<u64>,
    plan: &Plan,
    limit: Option<u64>,
    requested: Option<u64>,
) -> Learnt {
    let limit = limit.filter(|limit| *limit >= LEAST_WINDOW);
    match (limit, window) {
        (Some(limit), known) if known.is_none_or(|known| limit < known) => {
            Learnt { window: Some(smaller(learnt.window, limit)), ..learnt }
        }
        (Some(limit), _) => {
            let actual = requested.unwrap_or(limit).max(plan.request_estimate.expected);
            let factor = learnt.factor.map(Calibration::new).unwrap_or_default();
            let factor = factor.at_least(actual, plan.uncalibrated);
            Learnt { factor: Some(factor.factor()), ..learnt }
        }
        (None, _) => {
            let (part, whole) = FITS_AFTER_REFUSAL;
            let fits = plan.request_estimate.expected / whole * part;
            Learnt { window: Some(smaller(learnt.window, fits.max(LEAST_WINDOW))), ..learnt }
        }
    }
}

fn smaller(known: Option<u64>, new: u64) -> u64 {
    known.map_or(new, |known| known.min(new))
}
