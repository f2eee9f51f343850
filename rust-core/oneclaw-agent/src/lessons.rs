//! What reports and refusals teach about a model. Pure: values in, values out.

use crate::learnt::{Heard, Learnt};
use oneclaw_context::estimate::calibration::LEAST_TEACHING;
use oneclaw_context::estimate::{Calibration, Cost, Estimate, Tariff, text};
use oneclaw_context::plan::SendReason;
use oneclaw_context::{Decision, Plan};
use oneclaw_model::Request;
use oneclaw_providers::classify;
use oneclaw_store::engine::ModelAt;

/// A window is never believed to be smaller: a service that says less says something else.
const LEAST_WINDOW: u64 = 512;
/// Reports alone are not believed to show a smaller window: services that cut prompts in silence hold at least 2,048.
const LEAST_SILENT_WINDOW: u64 = 2_000;
/// Of a request that was refused without a number, so much is believed to fit.
const FITS_AFTER_REFUSAL: (u64, u64) = (3, 4);
/// A size that a refusal names for a request is believed up to this multiple of what its content can be: no vocabulary is so
/// much denser than all that are known.
const BELIEVED: u64 = 4;

/// What a provider said of the size of a request, beside what its content lets expect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    pub reported: u64,
    pub content: u64,
}

/// A report above this multiple of what a request was taken to be at most, and above that by more than what services put around
/// conversations, cannot be its size.
const BELIEVED_REPORT: u64 = 4;
/// What services put around a conversation, at most: tokens, and the part of the window that they take.
const AROUND: (u64, u64) = (32_000, 4);

/// The largest report on a plan's request that is believed. None is that is above the window, unless that is one that was learnt: a
/// success disproves it. Vocabularies that nobody knows may be several times as dense as all known ones.
pub(crate) fn most_believed(plan: &Plan, window: Option<u64>) -> u64 {
    let upper = plan.request_estimate.upper.max(plan.uncalibrated);
    let (tokens, part) = AROUND;
    let around = window.map_or(tokens, |window| (window / part).min(tokens));
    upper.saturating_mul(BELIEVED_REPORT).saturating_add(around).min(window.unwrap_or(u64::MAX))
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

/// What a report on a request teaches at that time, after the last one of the same model.
pub(crate) fn of_report(
    learnt: Learnt,
    plan: &Plan,
    reported: u64,
    last: Option<&Seen>,
    time: i64,
) -> Lesson {
    let now = Report { reported, content: plan.uncalibrated };
    let is_short = classify::silent_overflow(reported, now.content, None)
        || last.is_some_and(|last| falls_behind(last.report, now));
    if !is_short {
        if now.content < LEAST_TEACHING {
            return Lesson::Size(learnt);
        }
        let upper = plan.request_estimate.upper;
        let calibration = learnt.calibration().after_report(reported, now.content, upper);
        return Lesson::Size(learnt.counting(calibration, time));
    }
    match last.filter(|last| last.is_doubtful).map(|last| last.report) {
        None => Lesson::Doubtful,
        Some(last) if stands_still(last, now) => {
            let heard = Heard { tokens: reported.max(last.reported), size: now.content, now: time };
            Lesson::SilentWindow(Learnt { window: learnt.window.shown(heard), ..learnt })
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
    /// What it was taken to be at most.
    pub upper: u64,
    /// By content, before anything that reports taught.
    pub uncalibrated: u64,
    /// The output asked for, which services may count too.
    pub asked: u64,
    /// The limit that only its likely size was within, where it was sent all the same.
    pub tried: Option<u64>,
}

impl Size {
    /// Of a plan's request.
    pub fn of_plan(plan: &Plan) -> Self {
        let is_tried = matches!(plan.decision, Decision::Send(SendReason::Tried));
        Self {
            expected: plan.request_estimate.expected,
            upper: plan.request_estimate.upper,
            uncalibrated: plan.uncalibrated,
            asked: plan.request.max_output.unwrap_or(0),
            tried: plan.budget.filter(|_| is_tried).map(|budget| budget.most),
        }
    }

    /// Of a request that is text only.
    pub fn of_text(request: &Request, tariff: &Tariff) -> Self {
        let texts =
            request.system.iter().cloned().chain(request.messages.iter().map(|m| m.text().to_owned()));
        let cost =
            texts.map(|t| tariff.text(text::measure(&t)) + Tariff::MESSAGE).sum::<Cost>() + Tariff::REQUEST;
        let Estimate { expected, upper } = tariff.total(cost);
        let uncalibrated = cost.expected.div_ceil(1_000);
        Self { expected, upper, uncalibrated, asked: request.max_output.unwrap_or(0), tried: None }
    }

    /// The size of the prompt that a service named, if the request can have it. What it named may have the output asked for in it.
    fn believed(self, requested: u64) -> Option<u64> {
        let upper = self.upper.max(self.uncalibrated);
        let likely = upper.saturating_add(upper / 2);
        let sizes = [requested, requested.saturating_sub(self.asked)];
        let within = |most: u64| sizes.into_iter().find(|size| *size <= most);
        within(likely).or_else(|| within(upper.saturating_mul(BELIEVED)))
    }
}

/// What a refusal as too long shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Refusal {
    /// The window.
    Window(u64),
    /// That estimates were too low; how the model counts at least.
    Density(Calibration),
    /// Nothing: it cannot be what it says.
    Nothing,
}

/// What a refusal as too long shows of a model that counts in that way and is taken to have that window: a window, or where that
/// is no news, that estimates were too low. A refusal that names no number is none where the request has less than a twentieth
/// of a window that is known; nor is one that names a size which the request cannot have.
pub(crate) fn of_refusal(
    calibration: Calibration,
    window: Option<u64>,
    size: Size,
    limit: Option<u64>,
    requested: Option<u64>,
) -> Refusal {
    let denser = |actual: u64| match size.uncalibrated < LEAST_TEACHING {
        true => Refusal::Nothing,
        false => Refusal::Density(calibration.at_least(actual, size.uncalibrated)),
    };
    match limit.filter(|limit| *limit >= LEAST_WINDOW) {
        Some(limit) if window.is_none_or(|known| limit < known) => Refusal::Window(limit),
        Some(limit) => match size.believed(requested.unwrap_or(limit)) {
            Some(actual) => denser(actual.max(size.expected)),
            None => Refusal::Nothing,
        },
        // A try that failed says that the request was over the limit, and nothing against the window.
        None if let Some(tried) = size.tried => denser(tried.saturating_add(1)),
        None if window.is_some_and(|window| size.expected < window / 20) => Refusal::Nothing,
        None => {
            let (part, whole) = FITS_AFTER_REFUSAL;
            Refusal::Window((size.expected / whole * part).max(LEAST_WINDOW))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size =
        Size { expected: 10_000, upper: 12_000, uncalibrated: 8_000, asked: 1_000, tried: None };

    fn shown(size: Size, window: Option<u64>, limit: Option<u64>, requested: Option<u64>) -> Refusal {
        of_refusal(Calibration::default(), window, size, limit, requested)
    }

    fn factor(refusal: Refusal) -> Option<f64> {
        match refusal {
            Refusal::Density(calibration) => Some(calibration.factor()),
            Refusal::Window(_) | Refusal::Nothing => None,
        }
    }

    #[test]
    fn a_refusal_shows_the_window_or_that_estimates_were_too_low() {
        assert_eq!(shown(SIZE, Some(32_000), Some(9_000), None), Refusal::Window(9_000));
        assert_eq!(shown(SIZE, None, None, None), Refusal::Window(7_500));
        assert_eq!(factor(shown(SIZE, Some(9_000), Some(9_000), Some(12_000))), Some(1.5));
        // What is no size of a window is not taken for one.
        assert_eq!(shown(SIZE, Some(32_000), Some(100), None), Refusal::Window(7_500));
        let tried = Size { tried: Some(11_999), ..SIZE };
        assert_eq!(factor(shown(tried, Some(16_000), None, None)), Some(1.5));
    }

    /// Found with a service that named 213,462 tokens for a greeting: the model was taken for three times as dense for good.
    #[test]
    fn a_size_that_the_request_cannot_have_shows_nothing() {
        let small = Size { expected: 300, upper: 400, uncalibrated: 290, asked: 1_000, tried: None };
        assert_eq!(shown(small, Some(200_000), Some(200_000), Some(213_462)), Refusal::Nothing);
        assert_eq!(shown(small, Some(200_000), Some(200_000), None), Refusal::Nothing);
        assert_eq!(shown(small, Some(200_000), None, None), Refusal::Nothing);
        assert_eq!(shown(small, Some(200_000), Some(200_000), Some(u64::MAX)), Refusal::Nothing);
        // The output asked for may be counted too.
        let asked = Size { asked: 32_000, ..SIZE };
        assert_eq!(factor(shown(asked, Some(40_000), Some(40_000), Some(42_000))), Some(1.25));
        assert_eq!(
            factor(shown(Size { asked: 60_000, ..SIZE }, Some(64_000), Some(64_000), Some(70_400))),
            Some(1.3)
        );
        // A vocabulary that is three times as dense is believed.
        assert_eq!(factor(shown(SIZE, Some(24_000), Some(24_000), Some(25_000))), Some(3.0));
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
