//! What a service means by an error: one of the kinds of [`ProviderError`].
//!
//! Decides by status, by the error's own code and by its wording, the things that only sound like an overflow first.
//! Decides nothing about what happens then.

use crate::refusal::{self, Said};
use crate::wording::{self, Numbers};
use crate::{ProviderError, Unsupported, address, detail, retry, sentence};
use oneclaw_model::{Dialect, ProviderKind};
use serde_json::Value;
use std::time::Duration;

/// How much of a body is looked at.
const MOST_WORDS: usize = 16 * 1_024;

/// The hosts that say "too long" by an answer without a word.
const SILENT_HOSTS: [&str; 1] = ["cerebras.ai"];

/// An answer that is no success.
#[derive(Debug, Clone, Copy, Default)]
pub struct Failure<'a> {
    /// The service's host.
    pub host: &'a str,
    /// The dialect that was spoken; `None` where something else than a reply was asked for.
    pub dialect: Option<Dialect>,
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
    let is_silent_host = SILENT_HOSTS.iter().any(|host| address::is_host_or_below(failure.host, host));
    if kind == ProviderKind::OpenAi && matches!(failure.status, 400 | 413) && says_nothing && is_silent_host {
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
    let asked = Asked { host: failure.host, dialect: failure.dialect };
    report.classify(asked, Some(failure.status), failure.retry_after)
}

/// What an error object inside a successful answer means: the whole event or the object in it.
pub fn in_stream(kind: ProviderKind, error: &Value) -> ProviderError {
    let mut report = Report::of(error);
    if report.message.is_empty() {
        let code = if report.code.is_empty() { "no reason given" } else { report.code.as_str() };
        report.message = format!("error in the stream: {code}");
    }
    let status = report.number.or_else(|| status_of(kind, &report.code));
    report.classify(Asked::default(), status, None)
}

/// Who was asked, and how, as far as that is known.
#[derive(Debug, Clone, Copy, Default)]
struct Asked<'a> {
    host: &'a str,
    dialect: Option<Dialect>,
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
    /// The parameter it is about, if it names one.
    param: String,
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
                    Some(Value::Array(list)) => complaints(list),
                    // Mistral
                    Some(Value::Object(inner)) => inner
                        .get("detail")
                        .and_then(Value::as_array)
                        .map(|list| complaints(list))
                        .unwrap_or_default(),
                    _ => String::new(),
                };
            }
        }
        // OpenRouter's word for an error further up, whose own words stand beside it.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            message = if message.is_empty() { raw.to_owned() } else { format!("{message}: {raw}") };
        }
        let mut codes = ["code", "type", "status", "__type"].map(|key| text(error, key)).to_vec();
        codes.push(error.get("details").map(|details| text(details, "error_code")).unwrap_or_default());
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
            param: text(error, "param"),
            number: number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n)),
            numbers: Numbers { limit: field("n_ctx"), requested: field("n_prompt_tokens") },
            retry_after: delay.and_then(duration),
            quotas: quotas.join(" "),
        }
    }

    /// `status` is `None` inside a stream, where no code says which it would have been.
    fn classify(self, asked: Asked<'_>, status: Option<u16>, retry_after: Option<Duration>) -> ProviderError {
        // On lines of their own, so that neither goes on in the other.
        let text = format!("{}\n{}", self.message, self.code).to_lowercase();
        let detail = detail::clean(&self.message);
        let wait = retry_after.or(self.retry_after).or_else(|| wait_in(&text));
        let has = |wordings: &[&str]| wording::has(wordings, &text);
        // What names its time or its credit is meant so, whatever the status; the rest only where the request is at fault.
        let is_limit = has(&wording::QUOTA) || has(&wording::PER_DAY) || has(&wording::PER_TIME);
        let is_rate = has(&wording::RATE) && !has(&wording::NOT_RATE);
        let refused = |detail: &String| {
            let what = self.unsupported(asked, status, &text)?;
            Some(ProviderError::Unsupported { what, detail: detail.clone() })
        };
        // A path, an ability or an item that is not there comes with the status of a model that is not there.
        if let Some(error) = refused(&detail).filter(|_| matches!(status, Some(404 | 405 | 501))) {
            return error;
        }
        match status.unwrap_or_default() {
            _ if text.contains("model_not_found") => return ProviderError::ModelNotFound { detail },
            402 => return ProviderError::Quota { detail },
            403 if has(&wording::FLAGGED) || has(&wording::REFUSED) => {
                return ProviderError::Refused { detail };
            }
            403 if is_limit || is_rate => return self.too_much(&text, wait, detail),
            401 | 403 => return ProviderError::Auth { detail },
            404 | 410
                if has(&wording::MODEL) || has(&wording::MODEL_ANYWHERE) || has(&wording::MODEL_GONE) =>
            {
                return ProviderError::ModelNotFound { detail };
            }
            404 => return ProviderError::InvalidRequest { detail },
            408 | 504 | 524 => {
                let (what, after) = ("its own answer", Duration::ZERO);
                return ProviderError::Timeout { what, after, retry_after: wait };
            }
            // Whoever says in how many seconds to come back means it, whatever else is said.
            429 if retry_after.is_some_and(|wait| !wait.is_zero() && wait <= retry::LONGEST_WAIT) => {
                return ProviderError::RateLimited { retry_after, detail };
            }
            429 => return self.too_much(&text, wait, detail),
            529 => return ProviderError::Overloaded { detail, retry_after: wait },
            _ => {}
        }
        let is_own_fault = status.is_some_and(|status| status >= 500);
        // What only sounds like an overflow comes first.
        if has(&wording::AUTH) {
            return ProviderError::Auth { detail };
        }
        if let Some(numbers) = wording::first(&wording::OUTPUT_CAP, &text) {
            return ProviderError::OutputCap { limit: numbers.limit };
        }
        if let Some(numbers) = wording::first(&wording::OUTPUT_CAP_EXCLUSIVE, &text) {
            return ProviderError::OutputCap { limit: numbers.limit.map(|limit| limit.saturating_sub(1)) };
        }
        if has(&wording::BYTES) {
            return ProviderError::TooManyBytes { detail };
        }
        if has(&wording::FIELD) {
            return ProviderError::InvalidRequest { detail };
        }
        if !self.is_coded_overflow() {
            if is_limit || (is_rate && !is_own_fault) {
                return self.too_much(&text, wait, detail);
            }
            if is_rate {
                return ProviderError::Overloaded { detail, retry_after: wait };
            }
            if (has(&wording::REFUSED) || self.has_code(&wording::REFUSED_CODES)) && !is_own_fault {
                return ProviderError::Refused { detail };
            }
        }
        if let Some(numbers) = self.overflow(&text) {
            return ProviderError::ContextOverflow { limit: numbers.limit, requested: numbers.requested };
        }
        let message = self.message.to_lowercase();
        if let Some(limit) = sentence::output_cap(&message) {
            return ProviderError::OutputCap { limit };
        }
        if sentence::is_too_long(&text) {
            let Numbers { limit, requested } = sentence::numbers(&message);
            return ProviderError::ContextOverflow { limit, requested };
        }
        if let Some(error) = refused(&detail) {
            return error;
        }
        match status {
            Some(413) => ProviderError::TooManyBytes { detail },
            Some(500..) => ProviderError::Overloaded { detail, retry_after: wait },
            None if has(&wording::PASSING) => ProviderError::Overloaded { detail, retry_after: wait },
            None => ProviderError::Reported { detail },
            Some(_) if has(&wording::MODEL_ANYWHERE) || has(&wording::MODEL_GONE) => {
                ProviderError::ModelNotFound { detail }
            }
            Some(_) => ProviderError::InvalidRequest { detail },
        }
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        self.code.split(' ').any(|code| codes.contains(&code))
    }

    fn is_coded_overflow(&self) -> bool {
        self.has_code(&wording::OVERFLOW_CODES)
    }

    /// A part of the request that is not taken, where something else can be tried. Only where the service has looked at the
    /// request: a status that says otherwise settles it.
    fn unsupported(&self, asked: Asked<'_>, status: Option<u16>, text: &str) -> Option<Unsupported> {
        if !matches!(status, None | Some(400 | 404 | 405 | 415 | 422 | 500 | 501)) {
            return None;
        }
        let param = self.param.to_lowercase();
        let Asked { host, dialect } = asked;
        refusal::unsupported(Said { text, param: &param, status, host, dialect })
    }

    /// Too long for the window, and the numbers that say how much.
    fn overflow(&self, text: &str) -> Option<Numbers> {
        let worded = wording::first(&wording::OVERFLOW, text).or_else(|| wording::bare_overflow(text));
        let found = worded
            .or_else(|| self.is_coded_overflow().then(|| sentence::numbers(&self.message.to_lowercase())))?;
        Some(Numbers {
            limit: found.limit.or(self.numbers.limit),
            requested: found.requested.or(self.numbers.requested),
        })
    }

    /// A rate limit or a quota.
    fn too_much(&self, text: &str, wait: Option<Duration>, detail: String) -> ProviderError {
        let numbers = wording::first(&wording::RATE_NUMBERS, text);
        // Many speak of quota and billing below their limits per minute as well; a time or a request's size tells. With
        // Gemini the quota's name does.
        let is_per_day = wording::has(&wording::PER_DAY, text) || self.quotas.contains("PerDay");
        let is_short =
            numbers.is_some() || wording::has(&wording::PER_TIME, text) || self.quotas.contains("PerMinute");
        if is_per_day || (wording::has(&wording::QUOTA, text) && !is_short) {
            return ProviderError::Quota { detail };
        }
        let numbers = numbers.unwrap_or_default();
        let is_hopeless = match (numbers.limit, numbers.requested) {
            (Some(limit), Some(requested)) => requested > limit,
            _ => wait.is_none() && wording::has(&wording::RATE_TOO_SMALL, text),
        };
        let retry_after = if is_hopeless { Some(ProviderError::NEVER) } else { wait };
        ProviderError::RateLimited { retry_after, detail }
    }
}

/// What FastAPI finds wrong with a request: where, and in which words. What was sent stands beside it and is left out.
fn complaints(list: &[Value]) -> String {
    let complaint = |entry: &Value| {
        let words = entry.as_str().or_else(|| entry.get("msg")?.as_str())?;
        let steps = entry.get("loc").and_then(Value::as_array).into_iter().flatten();
        let step = |step: &Value| step.as_str().map_or_else(|| step.to_string(), str::to_owned);
        let place = steps.map(step).collect::<Vec<_>>().join(".");
        Some(if place.is_empty() { words.to_owned() } else { format!("{place}: {words}") })
    };
    list.iter().filter_map(complaint).collect::<Vec<_>>().join("; ")
}

/// The status that an error of that name would have come with.
fn status_of(kind: ProviderKind, code: &str) -> Option<u16> {
    let names: &[(&[&str], u16)] = match kind {
        ProviderKind::Anthropic => &ANTHROPIC_STATUSES,
        ProviderKind::OpenAi => &OPENAI_STATUSES,
        ProviderKind::Gemini => &GEMINI_STATUSES,
    };
    let has = |names: &[&str]| code.split(' ').any(|word| names.contains(&word));
    names.iter().find(|(names, _)| has(names)).map(|(_, status)| *status)
}

const ANTHROPIC_STATUSES: [(&[&str], u16); 9] = [
    (&["invalid_request_error"], 400),
    (&["authentication_error"], 401),
    (&["billing_error"], 402),
    (&["permission_error"], 403),
    (&["not_found_error"], 404),
    (&["request_too_large"], 413),
    (&["rate_limit_error"], 429),
    (&["timeout_error"], 504),
    (&["overloaded_error"], 529),
];

/// OpenAI's and compatible servers' names for a request that is at fault. Those of pictures come only inside a stream.
const BAD_REQUEST: [&str; 16] = [
    "invalid_request_error",
    "BadRequestError",
    "exceed_context_size_error",
    "invalid_prompt",
    "invalid_image",
    "invalid_image_format",
    "invalid_base64_image",
    "invalid_image_url",
    "image_too_large",
    "image_too_small",
    "image_parse_error",
    "image_file_too_large",
    "image_file_not_found",
    "failed_to_download_image",
    "unsupported_image_media_type",
    "empty_image_file",
];

/// Codes of a failed reply in Responses stand here too, but for those that [`wording`] knows.
const OPENAI_STATUSES: [(&[&str], u16); 10] = [
    (&BAD_REQUEST, 400),
    (&["invalid_api_key", "authentication_error", "AuthenticationError"], 401),
    (&["insufficient_quota", "billing_hard_limit_reached"], 429),
    (&["permission_error", "PermissionDeniedError"], 403),
    (&["NotFoundError", "not_found_error"], 404),
    (&["context_length_exceeded"], 400),
    (&["rate_limit_exceeded", "rate_limit_error", "RateLimitError", "tokens", "requests"], 429),
    (&["timeout", "timeout_error"], 504),
    (&["overloaded_error", "engine_overloaded"], 529),
    (&["server_error"], 500),
];

const GEMINI_STATUSES: [(&[&str], u16); 9] = [
    (&["INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE"], 400),
    (&["UNAUTHENTICATED"], 401),
    (&["PERMISSION_DENIED"], 403),
    (&["NOT_FOUND"], 404),
    (&["RESOURCE_EXHAUSTED"], 429),
    (&["INTERNAL", "UNKNOWN"], 500),
    (&["UNAVAILABLE"], 503),
    (&["DEADLINE_EXCEEDED"], 504),
    (&["CANCELLED"], 500),
];

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
