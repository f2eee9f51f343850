//! Errors in words that no list has: whether a sentence says that the request is too long for the window, or that the reply
//! asked for is too long for the model, and the numbers it names.
//!
//! Looked at after every wording that is known by heart ([`crate::wording`]) and after everything that only sounds like it
//! (rates, quotas, bytes, fields). A sentence has to name what is too long, that it is, and what it is measured by; words that
//! belong to other limits rule it out.

use crate::wording::{LEAST_WINDOW, Numbers, number};

/// Names of the window.
const WINDOW: [&str; 19] = [
    "context length",
    "context window",
    "context size",
    "context limit",
    "context capacity",
    "context_length",
    "context_window",
    "context_size",
    "max context",
    "maximum context",
    "model context",
    "slot context",
    "n_ctx",
    "max_model_len",
    "maximum model length",
    "max_seq_len",
    "max_sequence_length",
    "maximum sequence length",
    "maximum input length",
];

/// What is measured against it.
const PROMPT: [&str; 7] = ["prompt", "input", "request", "messages", "conversation", "history", "query"];

/// What it is measured in.
const TOKENS: [&str; 5] = ["tokens", "token count", "token limit", "token length", "token size"];

/// That it does not fit.
const TOO_MUCH: [&str; 22] = [
    "exceed",
    "longer than",
    "larger than",
    "greater than",
    "more than",
    "bigger than",
    "too long",
    "too large",
    "too big",
    "too many",
    "does not fit",
    "doesn't fit",
    "cannot fit",
    "can't fit",
    "not fit",
    "overflow",
    "ran out of",
    "beyond",
    "over the",
    "above the",
    "surpass",
    "limit reached",
];

/// What it does not fit into, where the window is not named.
const BOUND: [&str; 6] = ["max", "limit", "allowed", "supported", "permitted", "model"];

/// Names of the longest reply.
const OUTPUT: [&str; 14] = [
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "maxoutputtokens",
    "maxtokens",
    "max tokens value",
    "max tokens must",
    "maximum tokens you requested",
    "maximum tokens value",
    "output tokens",
    "completion tokens",
    "output length",
    "maximum output",
];

/// That it may not be as long.
const AT_MOST: [&str; 19] = [
    "at most",
    "<=",
    "less than or equal",
    "lower than",
    "less than",
    "cannot be greater",
    "exceed",
    "too large",
    "too high",
    "too big",
    "above",
    "greater than",
    "larger than",
    "more than",
    "maximum",
    "up to",
    "range",
    "limit",
    "capped",
];

/// Whole texts that say it by themselves.
const BY_ITSELF: [&str; 26] = [
    "context_length_exceeded",
    "model_context_window_exceeded",
    "context_window_exceeded",
    "exceed_context_size_error",
    "context_exceeded",
    "context_overflow",
    "prompt_too_long",
    "token limit exceeded",
    "tokens limit exceeded",
    "exceeded token limit",
    "exceeds token limit",
    "exceeded the token limit",
    "exceeds the token limit",
    "token limit reached",
    "input is too long",
    "input too long",
    "prompt is too large",
    "prompt too large",
    "conversation is too long",
    "conversation too long",
    "messages are too long",
    "\u{4e0a}\u{4e0b}\u{6587}\u{8fc7}\u{957f}",
    "\u{4e0a}\u{4e0b}\u{6587}\u{8d85}\u{51fa}",
    "\u{4e0a}\u{4e0b}\u{6587}\u{957f}\u{5ea6}\u{8d85}",
    "\u{8d85}\u{51fa}\u{6700}\u{5927}\u{4e0a}\u{4e0b}\u{6587}",
    "\u{8d85}\u{8fc7}\u{6700}\u{5927}\u{957f}\u{5ea6}",
];

/// Words of limits over time, of money, of other parts of a request and of other units.
const OTHERS: [&str; 47] = [
    " per ",
    "/min",
    "/day",
    "/hour",
    "tpm",
    "rpm",
    "tpd",
    "rpd",
    "quota",
    "rate limit",
    "billing",
    "your plan",
    "credit",
    "subscription",
    "account",
    "organization",
    "daily",
    "weekly",
    "monthly",
    "hourly",
    "minute",
    "today",
    "budget",
    "image",
    "picture",
    "audio",
    "video",
    "file",
    "pdf",
    "tool",
    "function",
    "schema",
    "description",
    "stop sequence",
    "stop_sequence",
    "logit",
    "cache_control",
    "character",
    "byte",
    " mb",
    " kb",
    "pixel",
    "api key",
    "bearer",
    "access token",
    "session token",
    "auth",
];

/// Demands of the opposite kind.
const LEAST: [&str; 6] = [
    "must be greater",
    "must be larger",
    "must be more",
    "must be at least",
    "should be greater",
    "must be positive",
];

/// Words of a parameter that is not taken at all.
const NOT_TAKEN: [&str; 5] = ["unsupported", "not supported", "unknown", "unrecognized", "deprecated"];

/// What stands before a number that is a limit.
const BEFORE_LIMIT: [&str; 24] = [
    "limit",
    "maximum",
    "max",
    "allowed",
    "at most",
    "context",
    "support",
    "up to",
    "<=",
    "<",
    ">",
    "only",
    "exceed",
    "than or equal to",
    "longer than",
    "larger than",
    "greater than",
    "more than",
    "less than",
    "lower than",
    "n_ctx",
    "capacity",
    "over the",
    "range",
];

/// What stands before a number of output tokens.
const BEFORE_OUTPUT: [&str; 6] =
    ["max_tokens", "max_new_tokens", "max_completion_tokens", "max_output_tokens", "completion", "output"];

/// What a number that counts something else is followed by.
const UNITS: [&str; 36] = [
    "bytes",
    "byte",
    "b",
    "kb",
    "mb",
    "gb",
    "kib",
    "mib",
    "gib",
    "characters",
    "character",
    "chars",
    "images",
    "image",
    "tools",
    "tool",
    "functions",
    "requests",
    "request",
    "seconds",
    "second",
    "s",
    "ms",
    "minutes",
    "minute",
    "hours",
    "days",
    "pixels",
    "px",
    "files",
    "pages",
    "items",
    "elements",
    "per",
    "times",
    "words",
];

/// No longest reply is shorter; smaller numbers are the start of a range.
const LEAST_OUTPUT: u64 = 16;

/// Whether the text says that the request is too long for the window. The text is in lower case, as everywhere here.
pub(crate) fn is_too_long(text: &str) -> bool {
    let says_by_itself = |sentence: &str| has(sentence, &BY_ITSELF) && !has(sentence, &OTHERS);
    sentences(text).any(|sentence| says_by_itself(sentence) || is_over(sentence))
}

/// Whether the text says that the reply asked for is longer than the model gives, and the longest it gives.
pub(crate) fn output_cap(text: &str) -> Option<Option<u64>> {
    if has(text, &WINDOW) {
        return None;
    }
    let is_cap = |sentence: &&str| {
        let is_other = has(sentence, &OTHERS) || has(sentence, &LEAST) || has(sentence, &NOT_TAKEN);
        let is_prompt = has(sentence, &["prompt", "input", "messages"]);
        has(sentence, &OUTPUT) && has(sentence, &AT_MOST) && !is_other && !is_prompt
    };
    let mut caps = sentences(text).filter(is_cap).map(cap).peekable();
    caps.peek()?;
    Some(caps.flatten().next())
}

/// The longest reply that a sentence about it names.
fn cap(sentence: &str) -> Option<u64> {
    let all = found(sentence);
    let is_range = all.len() > 1;
    let found: Vec<Found<'_>> = all.into_iter().filter(|number| number.value >= LEAST_OUTPUT).collect();
    match found.as_slice() {
        [] => None,
        [only] => Some(only.value).filter(|_| is_range || only.is_limit()),
        several => several.iter().map(|number| number.value).min(),
    }
}

/// The numbers of a text that is known to say that the request is too long.
pub(crate) fn numbers(text: &str) -> Numbers {
    let found: Vec<Found<'_>> =
        sentences(text).flat_map(found).filter(|number| !has(number.before, &BEFORE_OUTPUT)).collect();
    let limit = found.iter().find(|number| number.is_limit()).map(|number| number.value);
    let limit = limit.or_else(|| match found.as_slice() {
        [one, other] => Some(one.value.min(other.value)),
        _ => None,
    });
    let largest = found.iter().map(|number| number.value).max();
    Numbers {
        limit: limit.filter(|limit| *limit >= LEAST_WINDOW),
        requested: largest.filter(|largest| limit.is_some_and(|limit| *largest > limit)),
    }
}

fn is_over(sentence: &str) -> bool {
    if has(sentence, &LEAST) {
        return false;
    }
    let is_too_much = has(sentence, &TOO_MUCH);
    if has(sentence, &WINDOW) {
        return is_too_much || is_over_by_numbers(sentence);
    }
    let is_prompt = has(sentence, &PROMPT) && has(sentence, &TOKENS) && has(sentence, &BOUND);
    is_too_much && is_prompt && !has(sentence, &OUTPUT) && !has(sentence, &OTHERS)
}

/// `prompt is 11543 tokens but the model context window is 4096 tokens`
fn is_over_by_numbers(sentence: &str) -> bool {
    let Numbers { limit, requested } = numbers(sentence);
    limit.is_some() && requested.is_some()
}

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The parts of a text that end with a full stop, a semicolon or their line.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', ';']).flat_map(|line| line.split(". ")).filter(|sentence| !sentence.trim().is_empty())
}

/// A number that may count tokens.
struct Found<'a> {
    value: u64,
    /// What stands between the number before and this one.
    before: &'a str,
    /// What follows.
    after: &'a str,
}

impl Found<'_> {
    fn is_limit(&self) -> bool {
        let after = self.after.trim_start_matches([' ', '-']);
        let after = after.strip_prefix("tokens").unwrap_or(after).trim_start();
        // The names of parameters have "max" in them.
        let before = OUTPUT.iter().fold(self.before.to_owned(), |text, name| text.replace(name, " "));
        has(&before, &BEFORE_LIMIT) || has_start(after, &["maximum", "max", "token limit", "token context"])
    }
}

fn has_start(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.starts_with(word))
}

/// The numbers of a sentence that may count tokens: not parts of names, no decimals, and nothing with another unit.
fn found(sentence: &str) -> Vec<Found<'_>> {
    let mut out = Vec::new();
    let (mut at, mut since) = (0, 0);
    while let Some(offset) = sentence.get(at..).and_then(|rest| rest.find(|c: char| c.is_ascii_digit())) {
        let start = at + offset;
        let (Some(before), Some(rest)) = (sentence.get(since..start), sentence.get(start..)) else { break };
        let Some((value, after)) = number(rest) else {
            // More digits than any number of tokens has.
            at = start + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            since = at;
            continue;
        };
        at = sentence.len() - after.len();
        let is_padded = rest.starts_with('0');
        let is_part_of_name = before
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '$' | '#'))
            || (before.is_empty() && since > 0);
        let (value, after) = match after.strip_prefix('k') {
            Some(rest) if !rest.starts_with(|c: char| c.is_alphanumeric()) => {
                (value.saturating_mul(1_000), rest)
            }
            _ => (value, after),
        };
        let is_cut = after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '%' | '_'));
        let is_decimal =
            after.strip_prefix(['.', ':']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let unit = after.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        let is_other = UNITS.contains(&unit) || before.trim_end().ends_with(" by");
        if !is_padded && !is_part_of_name && !is_cut && !is_decimal && !is_other {
            out.push(Found { value, before, after });
        }
        since = at;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(text: &str) -> Option<(Option<u64>, Option<u64>)> {
        let text = text.to_lowercase();
        let Numbers { limit, requested } = numbers(&text);
        is_too_long(&text).then_some((limit, requested))
    }

    #[test]
    fn sentences_nobody_has_listed_are_understood() {
        let table = [
            (
                "The prompt has 131500 tokens, but the configured context size is 131072 tokens",
                131_072,
                131_500,
            ),
            (
                "Prompt has 5,958,968 tokens, but the configured context size is 256,000 tokens",
                256_000,
                5_958_968,
            ),
            ("Prompt is 11543 tokens but the model context window is 4096 tokens.", 4_096, 11_543),
            ("Prompt tokens (9001) exceeds context size (8192)", 8_192, 9_001),
            (
                "input (140000 tokens) is longer than the model's context length (131072 tokens)",
                131_072,
                140_000,
            ),
            ("Input length (265330) exceeds the model's maximum context length (262144).", 262_144, 265_330),
            ("Input length 9000 exceeds the context length 8192", 8_192, 9_000),
            ("Your conversation of 150k tokens does not fit the 128k token context window", 128_000, 150_000),
            ("input length 9000 tokens exceeds the model limit of 8192 tokens", 8_192, 9_000),
            ("The number of tokens in the prompt (9000) is larger than the limit of 8192", 8_192, 9_000),
            ("Total tokens of the request 9000 exceed the maximum 8192 of the model", 8_192, 9_000),
            (
                "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
                8_192,
                9_000,
            ),
        ];
        for (text, limit, requested) in table {
            assert_eq!(long(text), Some((Some(limit), Some(requested))), "{text}");
        }
        for text in [
            "tokens in request more than max tokens allowed",
            "Token limit exceeded",
            "context_length_exceeded",
            "model_context_window_exceeded",
            "Context size has been exceeded.",
            "context overflow: the context window ran out of room",
            "Input exceeds the maximum number of tokens",
            "Ollama error: context length exceeded, too many tokens",
            "input is too long for this model",
            "\u{4e0a}\u{4e0b}\u{6587}\u{8fc7}\u{957f}",
        ] {
            assert_eq!(long(text), Some((None, None)), "{text}");
        }
        assert_eq!(
            long("exceeds the context window by 1200 tokens"),
            Some((None, None)),
            "an excess is no limit"
        );
        assert_eq!(long("The input exceeds the context length of 100 tokens"), Some((None, None)));
    }

    #[test]
    fn what_only_sounds_like_it_is_left_alone() {
        for text in [
            "Monthly token limit exceeded",
            "Token limit exceeded for your organization",
            "token limit exceeded: 40000 tokens per minute",
            "vision tokens exceed processor budget",
            "The request has too many images: the maximum is 20",
            "The tool description exceeds the limit of 1024 tokens",
            "`max_tokens` must be greater than `thinking.budget_tokens`",
            "Invalid context size: must be greater than 0",
            "n_ctx must be at least 512",
            "The access token of the request is longer than allowed",
            "Input too long: a string of at most 1000 characters is expected",
            "The prompt exceeds the limit of 100",
            "The model supports a context length of 128000 tokens",
            "This model's maximum context length is documented elsewhere",
            "Your request was received",
            "The maximum number of messages is 100, the request has 200",
            "",
        ] {
            assert_eq!(long(text), None, "{text}");
        }
    }

    #[test]
    fn caps_of_the_reply_are_understood() {
        let cap = |text: &str| output_cap(&text.to_lowercase());
        for (text, limit) in [
            ("This model supports at most 16384 completion tokens, whereas you provided 32000.", 16_384),
            ("max_tokens (384000) exceeds model's maximum output tokens (65536) for model x:0731", 65_536),
            (
                "The maximum tokens you requested exceeds the model limit of 4096. Try again with a lower one",
                4_096,
            ),
            ("max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000", 8_000),
            ("max_completion_tokens should be in the range [1, 8192]", 8_192),
            ("maxOutputTokens of 32000 is above the limit, 8192", 8_192),
            ("max_tokens is too large. This model supports at most 300 completion tokens.", 300),
        ] {
            assert_eq!(cap(text), Some(Some(limit)), "{text}");
        }
        assert_eq!(cap("max_tokens is too large: 32000"), Some(None), "what was asked for is no limit");
        for text in [
            "`max_tokens` must be greater than `thinking.budget_tokens`",
            "Unsupported parameter: 'max_tokens' is not supported with this model",
            "max_tokens is too large: 4000. This model's maximum context length is 4096 tokens",
            "`inputs` tokens + `max_new_tokens` must be <= 4096",
            "output tokens per minute: limit 8000",
            "tokens in request more than max tokens allowed",
            "max_tokens is required",
        ] {
            assert_eq!(cap(text), None, "{text}");
        }
    }

    /// Whatever a service writes, a limit is not above what was requested, and nothing panics.
    #[test]
    fn numbers_are_consistent_for_every_order_of_words() {
        let words = [
            "the prompt",
            "exceeds",
            "9000",
            "8192 tokens",
            "max_tokens",
            "context length",
            "é",
            "(3.5",
            "k",
            "by",
            ". ",
        ];
        for a in words {
            for b in words {
                for c in words {
                    for d in words {
                        let text = format!("{a} {b} {c} {d}");
                        let Numbers { limit, requested } = numbers(&text);
                        assert!(requested.is_none() || limit < requested, "{text}");
                        let _ = (is_too_long(&text), output_cap(&text));
                    }
                }
            }
        }
    }
}
