//! What services taught about their models, with how often and when it was heard, and what it is worth. Pure: values in, values
//! out; the time is an argument (ADR 0021).

use oneclaw_context::estimate::Calibration;
use oneclaw_providers::Adjustments;
use oneclaw_store::engine::Lesson;
use serde::{Deserialize, Serialize};

const DAY: i64 = 24 * 60 * 60 * 1_000;
/// What was learnt is forgotten so long after it was heard last.
pub const KEPT_FOR: i64 = 30 * DAY;
/// A number below this part of what is known otherwise is doubted.
const FAR_BELOW: u64 = 4;
/// What a window, and the longest reply, are compared with where nothing is known of them.
const USUAL_WINDOW: u64 = 8_000;
const USUAL_OUTPUT: u64 = 4_096;
/// Numbers so far apart, as a part of the larger one, are the same number.
const ALIKE: u64 = 10;
/// Numbers in files are believed within these bounds, those of windows and replies.
const BELIEVED: std::ops::RangeInclusive<u64> = 256..=100_000_000;
/// A larger success raises a number to at least so much above what succeeded.
const RAISE: (u64, u64) = (4, 3);
/// A refusal may raise what is kept of a model's density by so much; the turn it came in goes by all of it.
const MOST_STEP: f64 = 1.5;

/// A number that was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    pub tokens: u64,
    /// What was asked when it was heard: the size of the request, or the length of the reply.
    pub size: u64,
    /// How often it was heard, at different sizes.
    pub heard: u64,
    /// When it was heard last, in milliseconds since 1970.
    pub at: i64,
}

/// A number as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    tokens: u64,
    size: u64,
}

/// What a refusal names, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heard {
    pub tokens: u64,
    pub size: u64,
    pub now: i64,
}

/// What was learnt of a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limit {
    /// What holds.
    pub sure: Option<Number>,
    /// What was heard and is so far below what is known that it has to be repeated first.
    pub doubted: Option<Number>,
}

/// What a limit is a limit of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Window,
    Output,
}

impl Limit {
    /// After a refusal that named a number, where `known` is what is known of the limit otherwise. Far below that it is doubted
    /// until it is heard again for a request of another size.
    pub fn heard(self, said: Heard, of: Of, known: Option<u64>) -> Self {
        let new = Number { tokens: said.tokens, size: said.size, heard: 1, at: said.now };
        if let Some(again) = self.sure.filter(|sure| is_alike(sure.tokens, said.tokens)) {
            let heard = again.heard.saturating_add(u64::from(!is_alike(again.size, said.size)));
            return Self { sure: Some(Number { heard, ..new }), doubted: None };
        }
        let usual = match of {
            Of::Window => USUAL_WINDOW,
            Of::Output => USUAL_OUTPUT,
        };
        if said.tokens >= known.unwrap_or(usual) / FAR_BELOW {
            return Self { sure: Some(new), doubted: None };
        }
        match self.doubted.filter(|doubted| is_alike(doubted.tokens, said.tokens)) {
            Some(doubted) if is_alike(doubted.size, said.size) => {
                Self { doubted: Some(Number { at: said.now, ..doubted }), ..self }
            }
            Some(doubted) => {
                Self { sure: Some(Number { heard: doubted.heard.saturating_add(1), ..new }), doubted: None }
            }
            None => Self { doubted: Some(new), ..self },
        }
    }

    /// After several reports have shown it, which is more than a word.
    pub fn shown(self, said: Heard) -> Self {
        let tokens = self.sure.map_or(said.tokens, |sure| sure.tokens.min(said.tokens));
        Self { sure: Some(Number { tokens, size: said.size, heard: 2, at: said.now }), doubted: None }
    }

    /// After so much succeeded: a smaller number is disproved. It is raised, and dropped where it comes to what is known
    /// otherwise.
    pub fn after_success(self, size: u64, known: Option<u64>, now: i64) -> Self {
        let raised = |sure: Number| {
            if size <= sure.tokens {
                return Some(sure);
            }
            let (more, whole) = RAISE;
            let tokens = sure.tokens.saturating_mul(2).max((size / whole).saturating_mul(more));
            let is_news = known.is_none_or(|known| tokens < known) && BELIEVED.contains(&tokens);
            is_news.then_some(Number { tokens, size, heard: 1, at: now })
        };
        Self {
            sure: self.sure.and_then(raised),
            doubted: self.doubted.filter(|doubted| size <= doubted.tokens),
        }
    }

    /// What it comes to by now. It is tested upwards: a day after it was heard twice as much is tried, a day later four times;
    /// the more often it was heard, the longer that takes. What is known otherwise bounds it.
    pub fn now(self, known: Option<u64>, now: i64) -> Option<u64> {
        let sure = self.sure?;
        let days = u64::try_from(now.saturating_sub(sure.at).max(0) / DAY).unwrap_or(0);
        let wait = 1u64 << sure.heard.saturating_sub(1).min(5);
        let doublings = u32::try_from(days / wait).unwrap_or(u32::MAX);
        let tokens = sure.tokens.saturating_mul(2u64.saturating_pow(doublings));
        Some(tokens).filter(|tokens| known.is_none_or(|known| *tokens < known))
    }
}

fn is_alike(one: u64, other: u64) -> bool {
    one.abs_diff(other) <= one.max(other) / ALIKE
}

/// How a model counts, and when that was heard last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Density {
    pub calibration: Calibration,
    pub at: i64,
}

/// A density as it is written.
#[derive(Serialize, Deserialize)]
struct WrittenDensity {
    factor: f64,
    high: Option<f64>,
}

/// What was learnt about a model's sizes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Learnt {
    pub window: Limit,
    pub output: Limit,
    pub density: Option<Density>,
}

/// What a lesson is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The window.
    Window,
    /// A window that counts only where it was heard, until it is repeated.
    DoubtedWindow,
    /// The longest reply.
    Output,
    /// A longest reply that counts only where it was heard, until it is repeated.
    DoubtedOutput,
    /// How much larger real sizes are than estimated ones.
    Density,
    /// How it is spoken to.
    Manner,
}

impl Topic {
    const ALL: [Self; 6] =
        [Self::Window, Self::DoubtedWindow, Self::Output, Self::DoubtedOutput, Self::Density, Self::Manner];

    /// Its name in files.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Window => "window",
            Self::DoubtedWindow => "doubted_window",
            Self::Output => "output",
            Self::DoubtedOutput => "doubted_output",
            Self::Density => "density",
            Self::Manner => "manner",
        }
    }

    /// The topic of that name.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|topic| topic.word() == word)
    }
}

/// What one lesson says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    Tokens(Number),
    Density(Density),
    Manner(Box<Adjustments>),
}

/// What a lesson of a file says now. `None` where it has expired, is not from this time, or cannot be read: it is learnt again.
pub(crate) fn read(lesson: &Lesson, now: i64) -> Option<(Topic, Said)> {
    let topic = Topic::of_word(&lesson.topic)?;
    let is_current = now.checked_sub(lesson.learnt_at).is_some_and(|age| (-DAY..KEPT_FOR).contains(&age));
    if !is_current {
        return None;
    }
    let said = match topic {
        Topic::Window | Topic::DoubtedWindow | Topic::Output | Topic::DoubtedOutput => {
            let Written { tokens, size } = serde_json::from_str(&lesson.value).ok()?;
            let number = Number { tokens, size, heard: lesson.heard.max(1), at: lesson.learnt_at };
            Said::Tokens(Some(number).filter(|number| BELIEVED.contains(&number.tokens))?)
        }
        Topic::Density => {
            let WrittenDensity { factor, high } = serde_json::from_str(&lesson.value).ok()?;
            let calibration = Calibration::kept(factor, lesson.heard, high);
            Said::Density(Density { calibration, at: lesson.learnt_at })
        }
        Topic::Manner => Said::Manner(serde_json::from_str(&lesson.value).ok()?),
    };
    Some((topic, said))
}

impl Learnt {
    /// What the lessons of a model come to, and how it is spoken to.
    pub fn of_lessons(lessons: &[Lesson], now: i64) -> (Self, Adjustments) {
        let (mut learnt, mut manner) = (Self::default(), Adjustments::default());
        for (topic, said) in lessons.iter().filter_map(|lesson| read(lesson, now)) {
            match (topic, said) {
                (Topic::Window, Said::Tokens(number)) => learnt.window.sure = Some(number),
                (Topic::DoubtedWindow, Said::Tokens(number)) => learnt.window.doubted = Some(number),
                (Topic::Output, Said::Tokens(number)) => learnt.output.sure = Some(number),
                (Topic::DoubtedOutput, Said::Tokens(number)) => learnt.output.doubted = Some(number),
                (_, Said::Density(density)) => learnt.density = Some(density),
                (_, Said::Manner(adjustments)) => manner = *adjustments,
                (Topic::Density | Topic::Manner, Said::Tokens(_)) => {}
            }
        }
        (learnt, manner)
    }

    /// How the model counts.
    pub fn calibration(&self) -> Calibration {
        self.density.map(|density| density.calibration).unwrap_or_default()
    }

    /// The same with another way of counting.
    pub fn counting(self, calibration: Calibration, now: i64) -> Self {
        Self { density: Some(Density { calibration, at: now }), ..self }
    }

    /// After a refusal that showed how the model counts: what is kept of that moves by a bounded step.
    pub fn counting_at_least(self, shown: Calibration, now: i64) -> Self {
        let before = self.calibration();
        let factor = shown.factor().min(before.factor().max(1.0) * MOST_STEP).max(before.factor());
        let calibration = Calibration::kept(factor, 0, before.high());
        self.counting(calibration, now)
    }

    /// The lessons that are to be written, and the topics to be forgotten, where the file has `before`.
    pub fn changes(&self, before: &Self) -> Vec<(Topic, Option<Lesson>)> {
        let tokens = |number: Number| {
            serde_json::to_string(&Written { tokens: number.tokens, size: number.size })
                .map(|value| (value, number.heard, number.at))
        };
        let numbers = [
            (Topic::Window, before.window.sure, self.window.sure),
            (Topic::DoubtedWindow, before.window.doubted, self.window.doubted),
            (Topic::Output, before.output.sure, self.output.sure),
            (Topic::DoubtedOutput, before.output.doubted, self.output.doubted),
        ];
        let numbers = numbers.into_iter().filter(|(_, before, now)| before != now);
        let mut changes: Vec<_> = numbers.map(|(topic, _, now)| (topic, now.map(tokens))).collect();
        if self.density != before.density {
            let written = |density: Density| {
                let Density { calibration, at } = density;
                serde_json::to_string(&WrittenDensity {
                    factor: calibration.factor(),
                    high: calibration.high(),
                })
                .map(|value| (value, calibration.reports(), at))
            };
            changes.push((Topic::Density, self.density.map(written)));
        }
        let lesson = |topic: Topic, written: serde_json::Result<(String, u64, i64)>| {
            let (value, heard, learnt_at) = written.ok()?;
            Some(Lesson { topic: topic.word().to_owned(), value, heard, learnt_at })
        };
        let lessons = changes.into_iter();
        lessons.map(|(topic, written)| (topic, written.and_then(|written| lesson(topic, written)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn said(tokens: u64, size: u64) -> Heard {
        Heard { tokens, size, now: NOW }
    }

    fn number(tokens: u64, size: u64, heard: u64, at: i64) -> Option<Number> {
        Some(Number { tokens, size, heard, at })
    }

    #[test]
    fn a_number_far_below_what_is_known_has_to_be_heard_at_another_size() {
        let once = Limit::default().heard(said(600, 900), Of::Window, Some(128_000));
        assert_eq!((once.sure, once.now(Some(128_000), NOW)), (None, None));
        let again = once.heard(said(600, 950), Of::Window, Some(128_000));
        assert_eq!(again.sure, None, "the same request once more says nothing new");
        let other = again.heard(said(620, 3_000), Of::Window, Some(128_000));
        assert_eq!(other, Limit { sure: number(620, 3_000, 2, NOW), doubted: None });
        let unlike = once.heard(said(4_096, 9_000), Of::Window, Some(128_000));
        assert_eq!((unlike.sure, unlike.doubted), (None, number(4_096, 9_000, 1, NOW)));
        // Nothing known: a window that some model has is believed, a tiny one is not.
        assert_eq!(
            Limit::default().heard(said(4_096, 5_000), Of::Window, None).sure,
            number(4_096, 5_000, 1, NOW)
        );
        assert_eq!(Limit::default().heard(said(600, 5_000), Of::Window, None).sure, None);
        assert_eq!(
            Limit::default().heard(said(1_024, 8_192), Of::Output, None).sure,
            number(1_024, 8_192, 1, NOW)
        );
        assert_eq!(Limit::default().heard(said(300, 8_192), Of::Output, None).sure, None);
    }

    /// One lie between true refusals does not take away what they taught.
    #[test]
    fn a_doubted_number_leaves_the_sure_one() {
        let sure = Limit::default().heard(said(32_000, 40_000), Of::Window, Some(64_000));
        let doubted = sure.heard(said(600, 900), Of::Window, Some(64_000));
        assert_eq!((doubted.sure, doubted.doubted), (sure.sure, number(600, 900, 1, NOW)));
        let confirmed = doubted.heard(said(32_000, 60_000), Of::Window, Some(64_000));
        assert_eq!(confirmed, Limit { sure: number(32_000, 60_000, 2, NOW), doubted: None });
    }

    #[test]
    fn a_larger_success_raises_it_until_it_is_gone() {
        let learnt = Limit { sure: number(4_096, 5_000, 3, 0), doubted: number(600, 900, 1, 0) };
        assert_eq!(learnt.after_success(500, None, NOW), learnt);
        let kept = learnt.after_success(4_000, None, NOW);
        assert_eq!((kept.sure, kept.doubted), (learnt.sure, None));
        assert_eq!(learnt.after_success(5_000, None, NOW).sure, number(8_192, 5_000, 1, NOW));
        assert_eq!(learnt.after_success(30_000, Some(128_000), NOW).sure, number(40_000, 30_000, 1, NOW));
        assert_eq!(learnt.after_success(5_000, Some(8_000), NOW).sure, None);
        assert_eq!(learnt.after_success(u64::MAX, None, NOW).sure, None, "no overflow");
    }

    #[test]
    fn it_is_tested_upwards_with_time_and_less_eagerly_the_more_often_it_was_heard() {
        let after = |heard, days: i64, known| {
            Limit { sure: number(4_096, 5_000, heard, NOW), doubted: None }.now(known, NOW + days * DAY)
        };
        assert_eq!(after(1, 0, None), Some(4_096));
        assert_eq!((after(1, 1, None), after(1, 2, None)), (Some(8_192), Some(16_384)));
        assert_eq!((after(3, 3, None), after(3, 4, None)), (Some(4_096), Some(8_192)));
        assert_eq!(after(1, 9, Some(128_000)), None, "what is known otherwise holds again");
        assert_eq!(after(1, 100_000, None), Some(u64::MAX));
        assert_eq!(Limit { sure: number(4_096, 1, 1, NOW), doubted: None }.now(None, i64::MIN), Some(4_096));
    }

    fn lesson(topic: Topic, value: &str, at: i64) -> Lesson {
        Lesson { topic: topic.word().to_owned(), value: value.to_owned(), heard: 2, learnt_at: at }
    }

    #[test]
    fn lessons_expire_and_odd_ones_are_not_believed() {
        let value = r#"{"tokens":4096,"size":5000}"#;
        let window = |at| Learnt::of_lessons(&[lesson(Topic::Window, value, at)], NOW).0.window.sure;
        assert_eq!(window(NOW), number(4_096, 5_000, 2, NOW));
        assert_eq!(window(NOW - KEPT_FOR + 1).map(|number| number.tokens), Some(4_096));
        for at in [NOW - KEPT_FOR, NOW + 2 * DAY, i64::MIN, i64::MAX, 0] {
            assert_eq!(window(at), None, "{at}");
        }
        for value in [
            "",
            "{}",
            r#"{"tokens":1,"size":1}"#,
            r#"{"tokens":-4,"size":1}"#,
            r#"{"tokens":999999999999,"size":1}"#,
        ] {
            assert_eq!(read(&lesson(Topic::Window, value, NOW), NOW), None, "{value}");
        }
        let odd = Lesson { topic: "other".to_owned(), ..lesson(Topic::Window, value, NOW) };
        assert_eq!(Learnt::of_lessons(&[odd], NOW), (Learnt::default(), Adjustments::default()));
        for topic in [Topic::Density, Topic::Manner] {
            assert_eq!(read(&lesson(topic, "nonsense", NOW), NOW), None);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let calibration = (0..5).fold(Calibration::default(), |c, _| c.after(900, 1_000));
        let learnt = Learnt {
            window: Limit { sure: number(4_096, 5_000, 3, NOW - 5), doubted: number(600, 900, 1, NOW - 4) },
            output: Limit { sure: number(16_384, 32_000, 1, NOW), doubted: number(300, 8_192, 1, NOW) },
            density: Some(Density { calibration, at: NOW - 3 }),
        };
        let changes = learnt.changes(&Learnt::default());
        let lessons: Vec<Lesson> = changes.iter().filter_map(|(_, lesson)| lesson.clone()).collect();
        assert_eq!(lessons.len(), 5);
        assert_eq!(Learnt::of_lessons(&lessons, NOW).0, learnt);
        assert_eq!(learnt.changes(&learnt), []);
        let gone = Learnt::default().changes(&learnt);
        assert!(gone.len() == 5 && gone.iter().all(|(_, lesson)| lesson.is_none()));
    }

    #[test]
    fn one_refusal_moves_what_is_kept_of_the_density_by_a_step() {
        let shown = Calibration::default().at_least(9_000, 1_000);
        assert_eq!(shown.factor(), 3.0);
        let once = Learnt::default().counting_at_least(shown, NOW);
        assert_eq!(once.calibration().factor(), 1.5);
        assert_eq!(once.counting_at_least(shown, NOW).calibration().factor(), 2.25);
        let less = Calibration::default().at_least(1_100, 1_000);
        assert_eq!(Learnt::default().counting_at_least(less, NOW).calibration().factor(), 1.1);
        assert_eq!(once.counting_at_least(less, NOW).calibration().factor(), 1.5, "never downwards");
    }
}
