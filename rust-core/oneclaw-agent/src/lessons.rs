//! What reports and refusals teach about a model. Pure: values in, values out.

use oneclaw_context::estimate::calibration::LEAST_TEACHING;
use oneclaw_context::estimate::{Calibration, Cost, Tariff, text};
use oneclaw_context::plan::SendReason;
use oneclaw_context::{Decision, Plan};
use oneclaw_model::Request;
use oneclaw_providers::classify;
use oneclaw_store::engine::{Learnt, ModelAt};

/// A window is never believed to be smaller: a service that says less says something else.
const LEAST_WINDOW: u64 = 512;
/// Reports alone are not believed to show a smaller window: services that cut prompts in silence hold at least 2,048.
const LEAST_SILENT_WINDOW: u64 = 2_000;
/// Of a request that was refused without a number, so much is believed to fit.
const FITS_AFTER_REFUSAL: (u64, u64) = (3, 4);

/// How a model counts, by what was learnt about it.
pub(crate) fn calibration(learnt: &Learnt) -> Calibration {
    learnt.factor.map_or_else(Calibration::default, |f| Calibration::kept(f, learnt.reports, learnt.high))
}

/// What was learnt about a model, with how it counts.
fn with(calibration: Calibration, learnt: Learnt) -> Learnt {
    Learnt {
        factor: Some(calibration.factor()),
        reports: calibration.reports(),
        high: calibration.high(),
        ..learnt
    }
}

/// What a provider said of the size of a request, beside what its content lets expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub reported: u64,
    pub content: u64,
}

impl Report {
    /// How much was added since an earlier one.
    fn added_since(self, earlier: Self) -> u64 {
        self.content.saturating_sub(earlier.content)
    }

    /// Whether it can be the size of a window: not tiny, and clearly more than what was added. A service that reports only
    /// what its cache did not hold says about that.
    fn may_be_a_window(self, added: u64) -> bool {
        self.reported >= LEAST_SILENT_WINDOW && self.reported > added.saturating_add(added / 2)
    }
}

/// The report of a model that later ones are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub at: ModelAt,
    pub report: Report,
    pub is_doubtful: bool,
}

/// The report that later ones are compared with: the newest, unless the prompt grew and it did not. Growth is then counted
/// from the earlier one, so that many small steps are noticed like one large one.
pub(crate) fn compared_next(last: Option<Report>, now: Report) -> Report {
    let stays = |last: &Report| {
        let added = now.added_since(*last);
        added > 0
            && now.may_be_a_window(added)
            && now.reported <= last.reported.saturating_add(last.reported / 50)
    };
    last.filter(stays).unwrap_or(now)
}

/// What a report means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Lesson {
    /// The size is real: an anchor, and a correction of the estimates.
    Size(Learnt),
    /// Too small to be true; what it means shows with the next ones.
    Doubtful,
    /// The prompt grew and the report did not: the service cuts prompts to this size without a word.
    SilentWindow(Learnt),
}

/// What a report on a request teaches, after the last one of the same model.
pub(crate) fn of_report(learnt: Learnt, plan: &Plan, reported: u64, last: Option<&Seen>) -> Lesson {
    let now = Report { reported, content: plan.uncalibrated };
    let is_short = classify::silent_overflow(reported, now.content, None)
        || last.is_some_and(|last| falls_behind(last.report, now));
    if !is_short {
        if now.content < LEAST_TEACHING {
            return Lesson::Size(learnt);
        }
        let upper = plan.request_estimate.upper;
        let calibration = calibration(&learnt).after_report(reported, now.content, upper);
        return Lesson::Size(with(calibration, learnt));
    }
    match last.filter(|last| last.is_doubtful).map(|last| last.report) {
        None => Lesson::Doubtful,
        Some(last) if stands_still(last, now) => {
            let window = reported.max(last.reported);
            Lesson::SilentWindow(Learnt { window: Some(smaller(learnt.window, window)), ..learnt })
        }
        Some(_) => Lesson::Doubtful,
    }
}

/// The prompt grew by a tenth and the report not at all.
fn falls_behind(last: Report, now: Report) -> bool {
    let added = now.added_since(last);
    added > last.content / 10 && now.reported <= last.reported && now.may_be_a_window(added)
}

/// The prompt grew by a twentieth and the report did not. It may have shrunk a little, as whole messages are cut.
fn stands_still(last: Report, now: Report) -> bool {
    let added = now.added_since(last);
    added > last.content / 20
        && now.may_be_a_window(added)
        && now.reported <= last.reported.saturating_add(last.reported / 50)
        && now.reported >= last.reported / 4 * 3
}

/// How large a request was taken to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub expected: u64,
    /// By content, before anything that reports taught.
    pub uncalibrated: u64,
    /// The limit that only its likely size was within, where it was sent all the same.
    pub tried: Option<u64>,
}

impl Size {
    /// Of a plan's request.
    pub fn of_plan(plan: &Plan) -> Self {
        let is_tried = matches!(plan.decision, Decision::Send(SendReason::Tried));
        Self {
            expected: plan.request_estimate.expected,
            uncalibrated: plan.uncalibrated,
            tried: plan.budget.filter(|_| is_tried).map(|budget| budget.most),
        }
    }

    /// Of a request that is text only.
    pub fn of_text(request: &Request, tariff: &Tariff) -> Self {
        let texts =
            request.system.iter().cloned().chain(request.messages.iter().map(|m| m.text().to_owned()));
        let cost =
            texts.map(|t| tariff.text(text::measure(&t)) + Tariff::MESSAGE).sum::<Cost>() + Tariff::REQUEST;
        let uncalibrated = cost.expected.div_ceil(1_000);
        Self { expected: tariff.total(cost).expected, uncalibrated, tried: None }
    }
}

/// Whether a refusal as too long cannot be what it says: it names no number, and the request has less than a twentieth of a
/// window that is known.
pub(crate) fn is_doubtful_refusal(window: Option<u64>, size: Size, limit: Option<u64>) -> bool {
    limit.is_none() && window.is_some_and(|window| size.expected < window / 20)
}

/// Whether a window is far below the one that was known.
pub(crate) fn is_far_below(known: Option<u64>, window: Option<u64>) -> bool {
    known.zip(window).is_some_and(|(known, window)| window < known / 10)
}

/// What a refusal as too long teaches: the window, or where that is no news, that estimates were too low.
pub(crate) fn of_refusal(
    learnt: Learnt,
    window: Option<u64>,
    size: Size,
    limit: Option<u64>,
    requested: Option<u64>,
) -> Learnt {
    let limit = limit.filter(|limit| *limit >= LEAST_WINDOW);
    match (limit, window) {
        (Some(limit), known) if known.is_none_or(|known| limit < known) => {
            Learnt { window: Some(smaller(learnt.window, limit)), ..learnt }
        }
        (Some(limit), _) => {
            let actual = requested.unwrap_or(limit).max(size.expected);
            with(calibration(&learnt).at_least(actual, size.uncalibrated), learnt)
        }
        // A try that failed says that the request was over the limit, and nothing against the window.
        (None, _) if let Some(limit) = size.tried => {
            with(calibration(&learnt).at_least(limit.saturating_add(1), size.uncalibrated), learnt)
        }
        (None, _) => {
            let (part, whole) = FITS_AFTER_REFUSAL;
            let fits = size.expected / whole * part;
            Learnt { window: Some(smaller(learnt.window, fits.max(LEAST_WINDOW))), ..learnt }
        }
    }
}

/// The window that a refusal itself shows, whatever was learnt before.
pub(crate) fn window_of_refusal(
    learnt: Learnt,
    window: Option<u64>,
    size: Size,
    limit: Option<u64>,
    requested: Option<u64>,
) -> Option<u64> {
    of_refusal(Learnt { window: None, ..learnt }, window, size, limit, requested).window
}

fn smaller(known: Option<u64>, new: u64) -> u64 {
    known.map_or(new, |known| known.min(new))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { expected: 10_000, uncalibrated: 8_000, tried: None };

    #[test]
    fn a_refusal_teaches_the_window_or_that_estimates_were_too_low() {
        let learnt = |window, limit, requested| of_refusal(Learnt::default(), window, SIZE, limit, requested);
        assert_eq!(learnt(Some(32_000), Some(9_000), None).window, Some(9_000));
        assert_eq!(learnt(None, None, None).window, Some(7_500));
        let known = learnt(Some(9_000), Some(9_000), Some(12_000));
        assert_eq!((known.window, known.factor), (None, Some(1.5)));
        // What is no size of a window is not taken for one.
        assert_eq!(learnt(Some(32_000), Some(100), None).window, Some(7_500));
    }

    #[test]
    fn a_report_that_does_not_grow_is_behind_and_then_still() {
        let last = Report { reported: 7_900, content: 8_000 };
        assert!(falls_behind(last, Report { reported: 7_850, content: 9_500 }));
        assert!(!falls_behind(last, Report { reported: 8_000, content: 9_500 }), "it grew");
        assert!(!falls_behind(last, Report { reported: 7_850, content: 8_500 }), "hardly anything was added");
        assert!(stands_still(last, Report { reported: 6_500, content: 9_500 }), "a whole message was cut");
        assert!(!stands_still(last, Report { reported: 3_000, content: 9_500 }));
        // A service that reports what its cache did not hold, or next to nothing.
        assert!(!stands_still(
            Report { reported: 3_000, content: 20_000 },
            Report { reported: 3_000, content: 23_000 }
        ));
        assert!(!stands_still(
            Report { reported: 600, content: 2_000 },
            Report { reported: 600, content: 2_300 }
        ));
    }
}
