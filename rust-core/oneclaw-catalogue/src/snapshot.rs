//! Names of snapshots: a model's name with a day, a number or `-latest` behind it.

use crate::Date;

/// A name without what makes it a snapshot's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shorter<'a> {
    /// What it is a snapshot of.
    pub base: &'a str,
    /// What was behind it.
    pub mark: Mark,
}

/// What makes a name that of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A whole day.
    Day(Date),
    /// A day or month without its year or day.
    Dated,
    /// `-latest`, `-preview`, `-001`.
    Word,
}

/// Services that put month and day into four digits. OpenAI did too, but its snapshots of those years had windows of their
/// own; Mistral puts year and month there, and those are models of their own.
const MONTH_AND_DAY: [&str; 5] = ["deepseek", "moonshot", "xai", "zai", "dashscope"];

/// A name without its last mark; `None` where it has none.
pub(crate) fn shorter<'a>(service: &str, id: &'a str) -> Option<Shorter<'a>> {
    let found = whole_day(id)
        .or_else(|| (service == "gemini").then(|| google(id)).flatten())
        .or_else(|| MONTH_AND_DAY.contains(&service).then(|| month_and_day(id)).flatten())
        .or_else(|| id.strip_suffix("-latest").map(|base| Shorter { base, mark: Mark::Word }))?;
    (!found.base.is_empty()).then_some(found)
}

/// `-2026-03-05`, `-20260305`, `@20260305`.
fn whole_day(id: &str) -> Option<Shorter<'_>> {
    let (base, tail) = id.rsplit_once(['-', '@'])?;
    if let Some(((year, month), day)) =
        (tail.len() == 8).then(|| two(tail, 6)).flatten().and_then(|(front, day)| Some((two(front, 4)?, day)))
    {
        return Some(Shorter { base, mark: Mark::Day(date(year, month, day)?) });
    }
    let (base, month) = base.rsplit_once('-')?;
    let (base, year) = base.rsplit_once('-')?;
    Some(Shorter { base, mark: Mark::Day(date(year, month, tail)?) })
}

/// `-preview-09-2025`, `-preview-05-06`, `-001`, and what is left of them: `-preview`, `-exp`.
fn google(id: &str) -> Option<Shorter<'_>> {
    let (base, tail) = id.rsplit_once('-')?;
    if matches!(tail, "preview" | "exp") {
        return Some(Shorter { base, mark: Mark::Word });
    }
    if tail.len() == 3 && is_number(tail) {
        return Some(Shorter { base, mark: Mark::Word });
    }
    let (base, month) = base.rsplit_once('-')?;
    let is_day = date("2024", month, tail).is_some();
    let is_year = date(tail, month, "01").is_some();
    (is_day || is_year).then_some(Shorter { base, mark: Mark::Dated })
}

/// `-0905`.
fn month_and_day(id: &str) -> Option<Shorter<'_>> {
    let (base, tail) = id.rsplit_once('-')?;
    let (month, day) = (tail.len() == 4).then(|| two(tail, 2)).flatten()?;
    date("2024", month, day)?;
    Some(Shorter { base, mark: Mark::Dated })
}

fn two(text: &str, at: usize) -> Option<(&str, &str)> {
    text.split_at_checked(at)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A day of this century.
fn date(year: &str, month: &str, day: &str) -> Option<Date> {
    (year.starts_with("20") && [year, month, day].into_iter().all(is_number)).then_some(())?;
    Date::try_from(format!("{year}-{month}-{day}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_off() {
        let base = |service: &str, id: &'static str| shorter(service, id).map(|found| found.base);
        assert_eq!(base("openai", "gpt-5.4-2026-03-05"), Some("gpt-5.4"));
        assert_eq!(base("anthropic", "claude-opus-4-5-20251101"), Some("claude-opus-4-5"));
        assert_eq!(base("anthropic", "claude-opus-4-5@20251101"), Some("claude-opus-4-5"));
        assert_eq!(base("anthropic", "claude-opus-5-latest"), Some("claude-opus-5"));
        assert_eq!(base("gemini", "gemini-2.5-flash-preview-09-2025"), Some("gemini-2.5-flash-preview"));
        assert_eq!(base("gemini", "gemini-2.5-flash-preview"), Some("gemini-2.5-flash"));
        assert_eq!(base("gemini", "gemini-2.5-pro-preview-05-06"), Some("gemini-2.5-pro-preview"));
        assert_eq!(base("gemini", "gemini-2.0-flash-001"), Some("gemini-2.0-flash"));
        assert_eq!(base("deepseek", "deepseek-v4-flash-0731"), Some("deepseek-v4-flash"));
        assert_eq!(
            shorter("openai", "x-2026-03-05").map(|found| found.mark),
            Some(Mark::Day(Date::try_from("2026-03-05".to_owned()).unwrap()))
        );
    }

    #[test]
    fn what_is_no_mark_stays() {
        for (service, id) in [
            ("openai", "gpt-4-0613"),
            ("openai", "gpt-4-1106-preview"),
            ("openai", "gpt-5.4-2026-13-05"),
            ("openai", "-2026-03-05"),
            ("openai", "2026-03-05"),
            ("openai", "gpt-1234-56-78"),
            ("mistral", "mistral-small-2603"),
            ("mistral", "mistral-small-1106"),
            ("deepseek", "deepseek-v4-1399"),
            ("cohere_chat", "command-a-03-2025"),
            ("gemini", "gemini-2.5-pro"),
            ("gemini", "gemini-4-argon"),
            ("openai", "é-２０２６-03-05"),
            ("openai", "ééééééé-日本語日本語"),
            ("openai", ""),
            ("openai", "-latest"),
        ] {
            assert_eq!(shorter(service, id), None, "{service} {id}");
        }
    }
}
