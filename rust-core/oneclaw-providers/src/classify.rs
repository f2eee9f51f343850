//! What a service means by an error: one of the kinds of [`ProviderError`].
//!
//! Decides by status, by the error's own code and by its wording, the things that only sound like an overflow first.
//! Decides nothing about what happens then.

use crate::wording::{self, Numbers};
use crate::{ProviderError, detail};
use oneclaw_model::ProviderKind;
use serde_json::Value;
use std::time::Duration;

/// How much of a body is looked at.
const MOST_WORDS: usize = 16 * 1_024;

/// An answer that is no success.
#[derive(Debug, Clone, Copy)]
pub struct Failure<'a> {
    /// The HTTP status.
    pub status: u16,
    /// What the `Retry-After` header asks for.
    pub retry_after: Option<Duration>,
    /// The body, as far as it was read.
    pub body: &'a [u8],
}

/// What an HTTP answer means.
pub fn response(kind: ProviderKind, failure: Failure<'_>) -> ProviderError {
    let text = String::from_utf8_lossy(failure.body);
    let parsed: Option<Value> = serde_json::from_str(&text).ok();
    let says_nothing = text.trim().is_empty() || parsed.as_ref().is_some_and(|value| value.is_null());
    if kind == ProviderKind::OpenAi && matches!(failure.status, 400 | 413) && says_nothing {
        // Cerebras says it this way; nobody else sends these without a word.
        return ProviderError::ContextOverflow { limit: None, requested: None };
    }
    let mut report = match parsed {
        Some(value) => Report::of(&value),
        None => Report { message: page_title(&text), ..Report::default() },
    };
    if report.message.is_empty() {
        report.message = match report.code.as_str() {
            "" => format!("HTTP {}", failure.status),
            code => format!("HTTP {}, {code}", failure.status),
        };
    }
    report.classify(failure.status, failure.retry_after)
}

/// What an error object inside a successful answer means: the whole event or the object in it.
pub fn in_stream(kind: ProviderKind, error: &Value) -> ProviderError {
    let mut report = Report::of(error);
    if report.message.is_empty() {
        let code = if report.code.is_empty() { "no reason given" } else { report.code.as_str() };
        report.message = format!("error in the stream: {code}");
    }
    let status = report.number.unwrap_or_else(|| status_of(kind, &report.code));
    report.classify(status, None)
}

/// Whether a service seems to have cut the prompt without a word: it counted less than half of what was expected, or
/// more than the window holds. Small prompts tell nothing, nor does a count of zero, which is no count.
pub fn silent_overflow(reported_prompt: u64, planned_expected: u64, window: Option<u64>) -> bool {
    const SMALL: u64 = 1_000;
    let is_far_below = planned_expected > SMALL && reported_prompt < planned_expected / 2;
    let is_above = window.is_some_and(|window| window > 0 && reported_prompt > window);
    reported_prompt > 0 && (is_far_below || is_above)
}

/// What an error object says, wherever the service puts it.
#[derive(Debug, Default)]
struct Report {
    /// Its sentence.
    message: String,
    /// Its code, type and status, as far as they are words.
    code: String,
    /// Its code, where that is an HTTP status.
    number: Option<u16>,
    /// Numbers that stand in fields of their own.
    numbers: Numbers,
    /// How long it asks to wait.
    retry_after: Option<Duration>,
    /// Which quotas it names.
    quotas: String,
}

impl Report {
    fn of(value: &Value) -> Self {
        // Gemini puts errors into a list where it answers without a stream.
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text =
            |from: &Value, key: &str| from.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut message = match error {
            Value::String(message) => message.clone(),
            _ => text(error, "message"),
        };
        for (from, key) in [(value, "message"), (value, "detail"), (error, "detail"), (error, "msg")] {
            if message.is_empty() {
                message = match from.get(key) {
                    Some(Value::String(text)) => text.clone(),
                    // FastAPI's list of what is wrong with a request.
                    Some(list @ Value::Array(_)) => list.to_string(),
                    _ => String::new(),
                };
            }
        }
        // OpenRouter's word for an error further up, whose own words stand beside it.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            message = if message.is_empty() { raw.to_owned() } else { format!("{message}: {raw}") };
        }
        let codes = ["code", "type", "status", "__type"].map(|key| text(error, key));
        let is_word = |code: &&String| !code.is_empty();
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        let field = |key: &str| error.get(key).and_then(Value::as_u64);
        let details: Vec<&Value> =
            error.get("details").and_then(Value::as_array).into_iter().flatten().collect();
        let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str());
        let violations = details.iter().filter_map(|detail| detail.get("violations")?.as_array()).flatten();
        let quotas: Vec<&str> =
            violations.filter_map(|violation| violation.get("quotaId")?.as_str()).collect();
        Self {
            message: message.chars().take(MOST_WORDS).collect(),
            code: codes.iter().filter(is_word).cloned().collect::<Vec<_>>().join(" "),
            number: number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n)),
            numbers: Numbers { limit: field("n_ctx"), requested: field("n_prompt_tokens") },
            retry_after: delay.and_then(duration),
            quotas: quotas.join(" "),
        }
    }

    fn classify(self, status: u16, retry_after: Option<Duration>) -> ProviderError {
        let text = format!("{} {}", self.message, self.code).to_lowercase();
        let detail = detail::clean(&self.message);
        let wait = retry_after.or(self.retry_after).or_else(|| wait_in(&text));
        let is_quota = wording::has(&wording::QUOTA, &text);
        match status {
            _ if text.contains("model_not_found") => return ProviderError::ModelNotFound { detail },
            402 => return ProviderError::Quota { detail },
            403 if is_quota => return ProviderError::Quota { detail },
            401 | 403 => return ProviderError::Auth { detail },
            404 if wording::has(&wording::MODEL, &text) => return ProviderError::ModelNotFound { detail },
            404 => return ProviderError::InvalidRequest { detail },
            408 | 504 | 524 => {
                return ProviderError::Timeout { what: "its own answer", after: Duration::ZERO };
            }
            429 => return self.too_much(&text, wait, detail),
            529 => return ProviderError::Overloaded { detail, retry_after: wait },
            _ => {}
        }
        // What only sounds like an overflow comes first.
        if wording::has(&wording::AUTH, &text) {
            return ProviderError::Auth { detail };
        }
        if let Some(numbers) = wording::first(&wording::OUTPUT_CAP, &text) {
            return ProviderError::OutputCap { limit: numbers.limit };
        }
        if let Some(numbers) = wording::first(&wording::OUTPUT_CAP_EXCLUSIVE, &text) {
            return ProviderError::OutputCap { limit: numbers.limit.map(|limit| limit.saturating_sub(1)) };
        }
        if wording::has(&wording::BYTES, &text) {
            return ProviderError::TooManyBytes { detail };
        }
        if wording::has(&wording::FIELD, &text) {
            return ProviderError::InvalidRequest { detail };
        }
        if status < 500 && (is_quota || wording::has(&wording::RATE, &text)) {
            return self.too_much(&text, wait, detail);
        }
        if let Some(numbers) = self.overflow(&text) {
            return ProviderError::ContextOverflow { limit: numbers.limit, requested: numbers.requested };
        }
        match status {
            413 => ProviderError::TooManyBytes { detail },
            500.. => ProviderError::Overloaded { detail, retry_after: wait },
            _ if wording::has(&wording::MODEL_ANYWHERE, &text) => ProviderError::ModelNotFound { detail },
            _ => ProviderError::InvalidRequest { detail },
        }
    }

    /// Too long for the window, and the numbers that say how much.
    fn overflow(&self, text: &str) -> Option<Numbers> {
        let worded = wording::first(&wording::OVERFLOW, text);
        let is_coded = self.code.split(' ').any(|code| wording::OVERFLOW_CODES.contains(&code));
        let found = worded.or_else(|| is_coded.then(Numbers::default))?;
        Some(Numbers {
            limit: found.limit.or(self.numbers.limit),
            requested: found.requested.or(self.numbers.requested),
        })
    }

    /// A rate limit or a quota.
    fn too_much(&self, text: &str, wait: Option<Duration>, detail: String) -> ProviderError {
        // Gemini speaks of quota and billing for its limits per minute as well; the quota's name tells.
        let is_per_minute = self.quotas.contains("PerMinute") && !self.quotas.contains("PerDay");
        if wording::has(&wording::QUOTA, text) && !is_per_minute {
            return ProviderError::Quota { detail };
        }
        let numbers = wording::first(&wording::RATE_NUMBERS, text).unwrap_or_default();
        let is_hopeless = match (numbers.limit, numbers.requested) {
            (Some(limit), Some(requested)) => requested > limit,
            _ => wait.is_none() && wording::has(&wording::RATE_TOO_SMALL, text),
        };
        let retry_after = if is_hopeless { Some(ProviderError::NEVER) } else { wait };
        ProviderError::RateLimited { retry_after, detail }
    }
}

/// The status that an error of that name would have come with; a fault of the service where the name is unknown, as
/// the request itself had been accepted.
fn status_of(kind: ProviderKind, code: &str) -> u16 {
    let has = |names: &[&str]| code.split(' ').any(|word| names.contains(&word));
    let by_name = match kind {
        ProviderKind::Anthropic => [
            (&["invalid_request_error"][..], 400),
            (&["authentication_error"], 401),
            (&["billing_error"], 402),
            (&["permission_error"], 403),
            (&["not_found_error"], 404),
            (&["request_too_large"], 413),
            (&["rate_limit_error"], 429),
            (&["timeout_error"], 504),
            (&["overloaded_error"], 529),
        ],
        ProviderKind::OpenAi => [
            (&["invalid_request_error", "BadRequestError", "exceed_context_size_error"][..], 400),
            (&["invalid_api_key", "authentication_error", "AuthenticationError"], 401),
            (&["insufficient_quota", "billing_hard_limit_reached"], 429),
            (&["permission_error", "PermissionDeniedError"], 403),
            (&["NotFoundError", "not_found_error"], 404),
            (&["context_length_exceeded"], 400),
            (&["rate_limit_exceeded", "rate_limit_error", "RateLimitError", "tokens", "requests"], 429),
            (&["timeout", "timeout_error"], 504),
            (&["overloaded_error", "engine_overloaded"], 529),
        ],
        ProviderKind::Gemini => [
            (&["INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"][..], 400),
            (&["UNAUTHENTICATED"], 401),
            (&["PERMISSION_DENIED"], 403),
            (&["NOT_FOUND"], 404),
            (&["RESOURCE_EXHAUSTED"], 429),
            (&["INTERNAL", "UNKNOWN"], 500),
            (&["UNAVAILABLE"], 503),
            (&["DEADLINE_EXCEEDED"], 504),
            (&["CANCELLED"], 500),
        ],
    };
    by_name.into_iter().find(|(names, _)| has(names)).map_or(500, |(_, status)| status)
}

/// The words of a body that is no JSON: a page's title, or the text itself.
fn page_title(body: &str) -> String {
    let body = body.trim();
    if !body.starts_with('<') {
        return body.chars().take(MOST_WORDS).collect();
    }
    let lower = body.to_ascii_lowercase();
    let start = lower.find("<title>").map(|at| at + "<title>".len());
    let title = start.and_then(|start| {
        let end = lower.get(start..)?.find('<')?;
        body.get(start..start + end)
    });
    title.unwrap_or("a web page").trim().to_owned()
}

/// `try again in 6m0.5s`, `retry in 34.07s`, as services write it into the sentence.
fn wait_in(text: &str) -> Option<Duration> {
    let starts = ["try again in ", "retry in ", "retry after "];
    let after = starts.iter().find_map(|start| text.split_once(start).map(|(_, after)| after))?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let end = after.find(|c| !is_part(c)).unwrap_or(after.len());
    let word = after.get(..end)?;
    let follows = after.get(end..)?.trim_start();
    if follows.starts_with("second") {
        duration(&format!("{word}s"))
    } else {
        duration(word.trim_end_matches('.'))
    }
}

/// `1h2m3.5s`, `20ms`.
fn duration(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let value: f64 = rest.get(..end)?.parse().ok()?;
        let after = rest.get(end..)?;
        let unit_end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        total += value
            * match after.get(..unit_end)? {
                "ms" => 0.001,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3_600.0,
                _ => return None,
            };
        rest = after.get(unit_end..)?;
    }
    (!text.is_empty()).then(|| Duration::try_from_secs_f64(total).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_read() {
        let seconds = |s: f64| Some(Duration::from_secs_f64(s));
        assert_eq!(duration("34.5s"), seconds(34.5));
        assert_eq!(duration("1h2m3s"), seconds(3_723.0));
        assert_eq!(duration("20ms"), seconds(0.02));
        for text in ["", "s", "5", "5x", "1.2.3s", "99999999999999999999999h"] {
            assert_eq!(duration(text), None, "{text}");
        }
        assert_eq!(wait_in("please try again in 6m0s. visit"), seconds(360.0));
        assert_eq!(wait_in("please retry in 34.07s."), seconds(34.07));
        assert_eq!(wait_in("try again in 20 seconds."), seconds(20.0));
        assert_eq!(wait_in("try again in a while"), None);
    }

    #[test]
    fn a_cut_prompt_shows_in_the_count() {
        assert!(silent_overflow(4_096, 20_000, Some(128_000)));
        assert!(silent_overflow(9_000, 9_000, Some(8_192)));
        assert!(!silent_overflow(11_000, 20_000, Some(128_000)));
        assert!(!silent_overflow(100, 1_000, None));
        assert!(!silent_overflow(0, 20_000, None));
        assert!(!silent_overflow(9_000, 9_000, Some(0)));
    }
}
