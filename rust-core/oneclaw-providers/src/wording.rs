//! How services say that something is too long, and how they say things that only sound like it.
//!
//! A wording is a text with places for numbers: `{limit}`, `{requested}` and `{plus}` (added to what is requested),
//! `{}` for a number that says nothing, `{bytes}` for one with a unit of bytes, `{*}` for anything up to what follows,
//! `{alone}` where the number before it must count tokens or nothing at all. Capitals do not matter.

use std::ops::ControlFlow;

/// Too long for the window. The more numbers a wording has, the further up it stands.
pub(crate) const OVERFLOW: [&str; 55] = [
    // Anthropic
    "prompt is too long: {requested} tokens > {limit} maximum",
    "input length and `max_tokens` exceed context limit: {requested} + {plus} > {limit}",
    "input length and max_tokens exceed context limit: {requested} + {plus} > {limit}",
    // Fireworks
    "prompt is too long: {requested}, model maximum context length: {limit}",
    // OpenAI, vLLM, DeepSeek, OpenRouter
    "is too large: {plus}. this model's maximum context length is {limit} tokens and your request has {requested} input tokens",
    "maximum context length is {limit} tokens. however, your messages resulted in {requested} tokens",
    "maximum context length is {limit} tokens. however, your prompt contains{*}{requested} input tokens",
    "maximum context length is {limit} tokens. however, your request has {requested} input tokens",
    "maximum context length is {limit} tokens. however, you requested {plus} output tokens and your prompt contains{*}{requested} input tokens",
    "maximum context length is {limit} tokens. however, you requested about {requested} tokens",
    "maximum context length is {limit} tokens. however, you requested {requested} tokens",
    "maximum context length is {limit} tokens, however you requested {requested} tokens",
    "maximum context length of {limit} tokens. you requested a total of {requested} tokens",
    "input tokens exceed the configured limit of {limit} tokens. your messages resulted in {requested} tokens",
    "input tokens exceed the configured limit of {limit}",
    "maximum context length is {limit}",
    "maximum context length of {limit}",
    // Together and SGLang, Poolside, Bedrock, TGI, Cohere, and servers whose names are not known
    "the input ({requested} tokens) is longer than the model's context length ({limit} tokens)",
    "input length ({requested}) exceeds model's maximum context length ({limit})",
    "input length {requested} exceeds the maximum allowed input length of {limit}",
    "prompt tokens ({requested}) exceed model maximum ({limit})",
    "`inputs` tokens + `max_new_tokens` must be <= {limit}. given: {requested} `inputs` tokens and {plus} `max_new_tokens`",
    "`inputs` tokens + `max_new_tokens` must be <= {limit}",
    "`inputs` must have less than {limit} tokens. given: {requested}",
    "total number of tokens in the prompt cannot exceed {limit} tokens - received {requested}",
    "total number of tokens in the prompt cannot exceed {limit}",
    "too many tokens: size limit exceeded by",
    "input too long: {requested} input tokens, limit is {limit}",
    // Gemini
    "input token count ({requested}) exceeds the maximum number of tokens allowed ({limit})",
    "input token count exceeds the maximum number of tokens allowed {limit}",
    "input token count exceeds the maximum number of tokens allowed ({limit})",
    // xAI
    "maximum prompt length is {limit} but the request contains {requested} tokens",
    "maximum prompt length is {limit}",
    // Cerebras, where it says anything
    "current length is {requested} while limit is {limit}",
    // llama.cpp
    "request ({requested} tokens) exceeds the available context size ({limit} tokens)",
    "exceeds the available context size",
    // LM Studio
    "trying to keep the first {requested} tokens when context the overflows. however, the model is loaded with context length of only {limit} tokens",
    "greater than the context length",
    // Kimi
    "exceeded model token limit: {limit} (requested: {requested})",
    "exceeded model token limit: {limit}",
    "exceeded model token limit",
    // Mistral
    "prompt contains {requested} tokens{*}too large for model with {limit} maximum context length",
    "too large for model with {limit} maximum context length",
    // Copilot
    "prompt token count of {requested} exceeds the limit of {limit}{alone}",
    // Qwen
    "range of input length should be [{}, {limit}]",
    // OpenAI without numbers, Bedrock, Groq, MiniMax, z.ai, Ollama, Anthropic on other clouds
    "exceeds the context window",
    "exceeds the model's context window",
    "input is too long for requested model",
    "reduce the length of the messages",
    "context window exceeds limit",
    "prompt exceeds max length",
    "prompt is too long",
    "prompt too long",
    "context window exceeded for given call",
    "contextwindowexceedederror",
];

/// Copilot's short form. Anything can exceed a limit, so what stands before it counts too: see [`bare_overflow`].
const BARE: &str = "exceeds the limit of {limit}{alone}";

/// What may be too long for a window.
const BARE_SUBJECTS: [&str; 7] =
    ["prompt", "token", "context", "input", "request", "message", "conversation"];

/// No model has a smaller window; smaller limits are limits of something else.
pub(crate) const LEAST_WINDOW: u64 = 512;

/// Error codes and types that say the same; the number is z.ai's.
pub(crate) const OVERFLOW_CODES: [&str; 8] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "context_window_exceeded",
    "model_context_window_exceeded",
    "context_exceeded",
    "context_overflow",
    "ContextWindowExceededError",
    "1261",
];

/// More output asked for than the model can give.
pub(crate) const OUTPUT_CAP: [&str; 8] = [
    "_tokens': integer above maximum value. expected a value <= {limit}",
    "max_tokens: {requested} > {limit}, which is the maximum allowed number of output tokens",
    "is too large: {requested}. this model supports at most {limit} completion tokens",
    "maximum allowed number of output tokens",
    "output tokens, but the maximum is {limit}",
    "`max_tokens` must be less than or equal to `{limit}`",
    "valid range of max_tokens is [{}, {limit}]",
    "range of max_tokens should be [{}, {limit}]",
];

/// Gemini names the first number that is too high.
pub(crate) const OUTPUT_CAP_EXCLUSIVE: [&str; 2] = [
    "supported range is from {} (inclusive) to {limit} (exclusive)",
    "max_output_tokens must be within the range [{}, {limit})",
];

/// Bytes, not tokens.
pub(crate) const BYTES: [&str; 7] = [
    "request_too_large",
    "image_file_too_large",
    "maximum allowed number of bytes",
    "request payload size exceeds the limit",
    "exceeds the limit of {bytes}",
    "image exceeds {bytes}",
    "request entity too large",
];

/// Limits of one field. Neither fewer messages nor a summary helps.
pub(crate) const FIELD: [&str; 2] = ["string too long", "string_above_max_length"];

/// What was paid for, or allowed for a day or month, is used up. The word "billing" alone says nothing: links to a
/// page of that name stand below rate limits too.
pub(crate) const QUOTA: [&str; 20] = [
    "insufficient_quota",
    "exceeded your current quota",
    "quota exceeded",
    "exceeded your monthly",
    "billing details",
    "plans & billing",
    "billing_hard_limit",
    "billing hard limit",
    "billing_not_active",
    "specified api usage limits",
    "spend limit",
    "spending limit",
    "spend cap",
    "monthly usage limit",
    "credit balance",
    "insufficient credits",
    "insufficient balance",
    "requires more credits",
    "out of credits",
    "daily limit",
];

/// Limits for a day: nobody waits for their end.
pub(crate) const PER_DAY: [&str; 2] = ["per day", "daily limit"];

/// Too much in too short a time.
pub(crate) const RATE: [&str; 8] = [
    "rate limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "too many tokens",
    "throttl",
    "resource_exhausted",
    "resource exhausted",
];

/// What only sounds like it: Cohere's words for a prompt that is too long.
pub(crate) const NOT_RATE: [&str; 2] =
    ["too many tokens: total number of tokens in the prompt", "too many tokens: size limit exceeded by"];

/// The short time is named, which settles it.
pub(crate) const PER_TIME: [&str; 8] =
    ["per min", "per second", "per hour", "(tpm)", "(rpm)", "{} / min", "tokens / min", "tokens/min"];

/// A rate limit and the size of this request, which decides whether waiting helps.
pub(crate) const RATE_NUMBERS: [&str; 4] = [
    "limit {limit}, used {}, requested {requested}",
    "limit {limit}, requested {requested}",
    "request of {requested} tokens exceeds the limit of {limit} tokens per minute",
    "limit: {limit}, requested: {requested}",
];

/// The request is larger than a limit per minute, where the numbers do not tell.
pub(crate) const RATE_TOO_SMALL: [&str; 5] = [
    "exceeds the limit of {limit} tokens per minute",
    "exceeds the limit of {limit} tokens per hour",
    "exceeds the limit of {limit} tokens / min",
    "exceeds the limit of {limit} tokens/min",
    "must be reduced in order to run",
];

/// Faults that pass, of which only the words tell: in a stream there is no status.
pub(crate) const PASSING: [&str; 16] = [
    "overloaded",
    "over capacity",
    "at capacity",
    "no capacity",
    "unavailable",
    "try again",
    "retry your request",
    "internal server error",
    "internal error",
    "the server had an error",
    "server_error",
    "api_error",
    "bad gateway",
    "timed out",
    "timeout",
    "connection reset",
];

/// Keys that do not work, where the status does not say so.
pub(crate) const AUTH: [&str; 5] =
    ["api key not valid", "api_key_invalid", "invalid api key", "incorrect api key", "invalid_api_key"];

/// Unknown models, in an answer that says something was not found.
pub(crate) const MODEL: [&str; 4] =
    ["model{*}does not exist", "model{*}not found", "models/{*}not found", "model: "];

/// Unknown models, in any answer.
pub(crate) const MODEL_ANYWHERE: [&str; 5] = [
    "model_not_found",
    "invalid model",
    "model{*}does not exist",
    "is not a valid model id",
    "no endpoints found for",
];

/// Models that were switched off.
pub(crate) const MODEL_GONE: [&str; 14] = [
    "model_decommissioned",
    "model_deprecated",
    "the model {*}has been deprecated",
    "the model {*}has been decommissioned",
    "the model {*}has been retired",
    "the model {*}has been shut down",
    "the model {*}has been sunset",
    "the model {*}has been discontinued",
    "this model has been deprecated",
    "this model has been retired",
    "this model has been shut down",
    "this model is no longer available",
    "the model {*}is no longer available",
    "models/{*}is no longer available",
];

/// Codes of a failed reply in Responses that say the same as the wordings below.
pub(crate) const REFUSED_CODES: [&str; 4] =
    ["invalid_prompt", "bio_policy", "misalignment_policy_violation", "image_content_policy_violation"];

/// A filter before the model declined, in an answer that is a bad request.
pub(crate) const REFUSED: [&str; 4] = [
    "content_filter",
    "content management policy",
    "content_policy_violation",
    "responsibleaipolicyviolation",
];

/// The same, in an answer that denies access (OpenRouter).
pub(crate) const FLAGGED: [&str; 2] = ["input was flagged", "flagged for"];

/// What a wording's numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Numbers {
    /// What is allowed.
    pub limit: Option<u64>,
    /// What was asked.
    pub requested: Option<u64>,
}

/// The numbers of the first wording that the text has. The text is in lower case.
pub(crate) fn first(wordings: &[&str], text: &str) -> Option<Numbers> {
    wordings.iter().find_map(|wording| find(wording, text))
}

/// Whether the text has one of the wordings.
pub(crate) fn has(wordings: &[&str], text: &str) -> bool {
    first(wordings, text).is_some()
}

/// Copilot's short form of "too long": only of what counts in tokens, and not of a number of other things.
pub(crate) fn bare_overflow(text: &str) -> Option<Numbers> {
    let numbers = find(BARE, text)?;
    let (before, _) = text.split_once("exceeds the limit of ")?;
    let subject = before.rsplit(['.', '\n', ';']).next().unwrap_or(before);
    let counts_others = subject.contains("number of ") && !subject.contains("token");
    let is_fit = BARE_SUBJECTS.iter().any(|word| subject.contains(word)) && !counts_others;
    (is_fit && numbers.limit.is_some_and(|limit| limit >= LEAST_WINDOW)).then_some(numbers)
}

fn find(wording: &str, text: &str) -> Option<Numbers> {
    let pieces = pieces(wording);
    let start = match pieces.first()? {
        Piece::Text(start) => *start,
        Piece::Place(_) => {
            // A number comes first: try wherever one begins.
            let mut starts = text.match_indices(|c: char| c.is_ascii_digit());
            return starts.find_map(|(at, _)| match_at(&pieces, text.get(at..)?));
        }
    };
    let mut rest = text;
    while let Some(at) = rest.find(start) {
        let here = rest.get(at..)?;
        if let Some(numbers) = match_at(&pieces, here) {
            return Some(numbers);
        }
        rest = here.get(start.len()..)?;
    }
    None
}

#[derive(Debug, Clone, Copy)]
enum Piece<'a> {
    Text(&'a str),
    Place(&'a str),
}

fn pieces(wording: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut rest = wording;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        if !before.is_empty() {
            out.push(Piece::Text(before));
        }
        out.push(Piece::Place(name));
        rest = after;
    }
    if !rest.is_empty() {
        out.push(Piece::Text(rest));
    }
    out
}

/// Farther than this nothing belongs to the same sentence.
const WIDEST_GAP: usize = 200;

fn match_at(pieces: &[Piece<'_>], text: &str) -> Option<Numbers> {
    let mut numbers = Numbers::default();
    let mut plus = 0u64;
    let mut rest = text;
    let mut gap = false;
    let flow = pieces.iter().try_for_each(|piece| {
        let next = match piece {
            Piece::Text(wanted) if gap => {
                rest.find(wanted).filter(|at| *at <= WIDEST_GAP).and_then(|at| rest.get(at + wanted.len()..))
            }
            Piece::Text(wanted) => rest.strip_prefix(wanted),
            Piece::Place("alone") => counts_nothing_else(rest).then_some(rest),
            Piece::Place("bytes") => bytes(rest),
            Piece::Place("*") => {
                gap = true;
                return ControlFlow::Continue(());
            }
            Piece::Place(name) => {
                let start = if gap { rest.find(|c: char| c.is_ascii_digit()) } else { Some(0) };
                start.filter(|at| *at <= WIDEST_GAP).and_then(|at| rest.get(at..)).and_then(number).map(
                    |(value, after)| {
                        match *name {
                            "limit" => numbers.limit = Some(value),
                            "requested" => numbers.requested = Some(value),
                            "plus" => plus = value,
                            _ => {}
                        }
                        after
                    },
                )
            }
        };
        gap = false;
        match next {
            Some(after) => {
                rest = after;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        }
    });
    if flow.is_break() {
        return None;
    }
    numbers.requested = numbers.requested.map(|requested| requested.saturating_add(plus));
    Some(numbers)
}

/// Whether a number that ends here counts tokens, if anything: not `3.75`, `20MB`, `128 tools`, `40 tokens per minute`.
fn counts_nothing_else(after: &str) -> bool {
    if let Some(rest) = after.strip_prefix(" tokens") {
        let rest = rest.trim_start();
        return !(rest.starts_with("per") || rest.starts_with('/'));
    }
    let mut chars = after.chars();
    match chars.next() {
        None | Some('\n') => true,
        Some('/' | '%') => false,
        Some(c) => c.is_ascii_punctuation() && !chars.as_str().starts_with(|c: char| c.is_ascii_digit()),
    }
}

/// What follows a number of bytes at the start of a text: `20 mb`, `10mib`, `3.75 mb`, `100 bytes`.
fn bytes(text: &str) -> Option<&str> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_'));
    let unit = after.strip_prefix(' ').unwrap_or(after);
    let units = ["bytes", "byte", "kib", "mib", "gib", "kb", "mb", "gb", "b"];
    let rest = units.iter().find_map(|name| unit.strip_prefix(name))?;
    let is_whole = !rest.starts_with(|c: char| c.is_alphanumeric());
    (after.len() < text.len() && is_whole).then_some(rest)
}

/// A number at the start of a text, with commas or underscores between its digits, and what follows it.
pub(crate) fn number(text: &str) -> Option<(u64, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let digits = text.get(..end)?.trim_end_matches([',', '_']);
    let after = text.get(digits.len()..)?;
    let value = digits.replace([',', '_'], "").parse().ok()?;
    Some((value, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_out() {
        let numbers = |limit, requested| Some(Numbers { limit, requested });
        assert_eq!(find("a {limit} b", "x a 1,234 b"), numbers(Some(1_234), None));
        assert_eq!(find("{*}", "anything"), None);
        assert_eq!(find("a {requested} + {plus}", "a x a 2 + 3, "), numbers(None, Some(5)));
        assert_eq!(find("a{*}b {limit}", "a ... b 7"), numbers(Some(7), None));
        assert_eq!(find("a{*}{limit} c", "a at least 7 c"), numbers(Some(7), None));
        assert_eq!(find("a {limit}", "a 99999999999999999999999"), None);
        assert_eq!(find("a {limit}", "a "), None);
        assert_eq!(find("{} / min", "limit 3 of 5 / min"), numbers(None, None));
        assert_eq!(find("a{*}b", &format!("a{}b", " ".repeat(WIDEST_GAP + 1))), None);
    }

    #[test]
    fn a_bare_limit_counts_tokens() {
        for text in [
            "prompt exceeds the limit of 64000",
            "prompt exceeds the limit of 64,000.",
            "prompt exceeds the limit of 64000, see the documentation",
            "your input exceeds the limit of 64000 tokens for this model",
            "the number of tokens exceeds the limit of 64000)\ninvalid_request_error",
        ] {
            assert_eq!(bare_overflow(text).and_then(|numbers| numbers.limit), Some(64_000), "{text}");
        }
        for text in ["prompt exceeds the limit of 64000/min", "prompt exceeds the limit of 64000%"] {
            assert_eq!(bare_overflow(text), None, "{text}");
        }
        for (text, rest) in [
            ("20mb.", Some(".")),
            ("10 mib", Some("")),
            ("3.75 mb!", Some("!")),
            ("8000 pixels", None),
            ("mb", None),
        ] {
            assert_eq!(bytes(text), rest, "{text}");
        }
    }
}
