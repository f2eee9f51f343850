//! Limits of every kind: over time, of money, of things that are no tokens, and what a filter does not let pass.

use super::*;

const GROQ_END: &str =
    "Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing";

/// The address of a page about billing does not make a rate limit a matter of money.
#[test]
fn rate_limits_stay_rate_limits_beside_an_offer() {
    let wait = format!(
        "Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_x` service tier `on_demand` on tokens \
         per minute (TPM): Limit 12000, Used 11500, Requested 2031. Please try again in 7.66s. {GROQ_END}"
    );
    let large = format!(
        "Request too large for model `llama-3.1-8b-instant` in organization `org_x` service tier `on_demand` on tokens \
         per minute (TPM): Limit 6000, Requested 7012, please reduce your message size and try again. {GROQ_END}"
    );
    let day = format!(
        "Rate limit reached for model `x` in organization `org_x` on tokens per day (TPD): Limit 100000, Used 99500, \
         Requested 3000. Please try again in 36m0s. {GROQ_END}"
    );
    let low_tier = "Rate limit reached for gpt-3.5-turbo in organization org-x on requests per min. Limit: 3 / min. Please \
        try again in 20s. Contact us through our help center at help.openai.com if you continue to have issues. Please add \
        a payment method to your account to increase your rate limit. Visit \
        https://platform.openai.com/account/billing to add a payment method.";
    let quota_words = "Quota exceeded: 5000 tokens per minute, please check your plan and billing details.";
    let code = || json!("rate_limit_exceeded");
    let cut = |text: &str| match text.chars().count() {
        0..=300 => text.to_owned(),
        _ => text.chars().take(299).chain(['…']).collect::<String>(),
    };
    check_anywhere(vec![
        (OpenAi, 429, openai(&wait, "tokens", code()), rate_limited(Some(7.66), &wait)),
        (OpenAi, 413, openai(&large, "tokens", code()), hopeless(&cut(&large))),
        (OpenAi, 429, openai(&day, "tokens", code()), quota(&day)),
        (OpenAi, 429, openai(low_tier, "requests", code()), rate_limited(Some(20.0), &cut(low_tier))),
        (OpenAi, 429, openai(quota_words, "", code()), rate_limited(None, quota_words)),
    ]);
}

#[test]
fn money_is_still_money() {
    let hard = "Billing hard limit has been reached";
    let inactive = "Your account is not active, please check your billing details on our website.";
    let credit = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or \
                  purchase credits.";
    let own = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.";
    let cap = "You have reached your organization's monthly spend limit. Raise it in the Console.";
    check_anywhere(vec![
        (Anthropic, 429, anthropic("rate_limit_error", cap), quota(cap)),
        (
            OpenAi,
            400,
            openai(hard, "invalid_request_error", json!("billing_hard_limit_reached")),
            quota(hard),
        ),
        (OpenAi, 429, openai(inactive, "billing_not_active", Value::Null), quota(inactive)),
        (Anthropic, 400, anthropic("invalid_request_error", credit), quota(credit)),
        (Anthropic, 400, anthropic("invalid_request_error", own), quota(own)),
    ]);
}

/// The service's own name for an overflow is stronger than its words.
#[test]
fn an_overflow_by_name_is_one() {
    for words in [
        "Too long. Upgrade under Plans & Billing.",
        "Too long; your plan allows 40000 tokens per minute.",
        "Too long; rate limits are described elsewhere.",
    ] {
        let body = openai(words, "invalid_request_error", json!("context_length_exceeded"));
        assert_eq!(answer(OpenAi, 400, &body), overflow(None, None), "{words}");
        assert_eq!(in_stream(OpenAi, &body), overflow(None, None), "{words}");
    }
}

/// Anything can exceed a limit; only tokens exceed a window.
#[test]
fn limits_of_other_things_are_no_windows() {
    let is_bytes = [
        "Body exceeds the limit of 20MB",
        "Body exceeds the limit of 10 MiB.",
        "The image exceeds the limit of 3.75 MB",
        "The input exceeds the limit of 1000000 bytes",
    ];
    let is_rate = ["Your request exceeds the limit of 5 requests per second"];
    let is_hopeless = [
        "Your request exceeds the limit of 1000 tokens per hour",
        "Your request exceeds the limit of 1000 tokens / min",
        "Your request exceeds the limit of 1000 tokens/min",
        "Your request exceeds the limit of 40000 tokens per minute.",
    ];
    let is_invalid = [
        "The number of images exceeds the limit of 20",
        "The number of images in the prompt exceeds the limit of 2000.",
        "Request exceeds the limit of 128 tools",
        "The input exceeds the limit of 8000 pixels",
        "The prompt exceeds the limit of 100",
        "The temperature exceeds the limit of 2000",
        "The input exceeds the limit of 3.5",
    ];
    let all = is_bytes
        .map(|words| (words, bytes(words)))
        .into_iter()
        .chain(is_rate.map(|words| (words, rate_limited(None, words))))
        .chain(is_hopeless.map(|words| (words, hopeless(words))))
        .chain(is_invalid.map(|words| (words, invalid(words))));
    for (words, wanted) in all {
        let body = openai(words, "invalid_request_error", Value::Null);
        check_anywhere(vec![(OpenAi, 400, body, wanted)]);
    }
}

/// Limits over time and quotas come before the words of an overflow, whatever the status says.
#[test]
fn limits_are_recognised_in_faults_of_the_service_and_in_streams() {
    let minute = "Your request exceeds the limit of 40000 tokens per minute.";
    let spent = "You exceeded your current quota, please check your plan.";
    let day = "Too many tokens per day, please wait before trying again.";
    for (words, wanted) in [(minute, hopeless(minute)), (spent, quota(spent)), (day, quota(day))] {
        for status in [500, 502, 503] {
            assert_eq!(answer(OpenAi, status, &json!({"error": words})), wanted, "{status} {words}");
        }
        for (kind, body) in [
            (OpenAi, json!({"error": {"message": words}})),
            (OpenAi, json!(words)),
            (Anthropic, anthropic("api_error", words)),
            (Gemini, json!({"message": words})),
            (Gemini, gemini(500, "INTERNAL", words)),
        ] {
            assert_eq!(in_stream(kind, &body), wanted, "{body}");
        }
    }
    // A mere word about rates in a fault of the service is neither a limit nor an overflow.
    let vague = json!({"error": "rate limit: prompt is too long"});
    assert_eq!(answer(OpenAi, 500, &vague), overloaded("rate limit: prompt is too long"));
    let slow = json!({"message": "Too many tokens, please wait before trying again."});
    assert_eq!(
        in_stream(OpenAi, &slow),
        rate_limited(None, "Too many tokens, please wait before trying again.")
    );
}

#[test]
fn filters_and_names() {
    let refused = |detail: &str| ProviderError::Refused { detail: detail.into() };
    let azure =
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.";
    let router = "openai/gpt-4o requires moderation on OpenAI. Your input was flagged for \"harassment\". No credits were \
                  charged.";
    let flagged = json!({"error": {"code": 403, "message": router,
        "metadata": {"reasons": ["harassment"], "flagged_input": "private"}}});
    let id = "gpt-99 is not a valid model ID";
    check_anywhere(vec![
        (
            OpenAi,
            400,
            json!({"error": {"message": azure, "type": null, "param": "prompt", "code": "content_filter", "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"}}}),
            refused(azure),
        ),
        (OpenAi, 403, flagged, refused(router)),
        (
            OpenAi,
            403,
            json!({"error": {"code": 403, "message": "Rate limit exceeded"}}),
            rate_limited(None, "Rate limit exceeded"),
        ),
        (OpenAi, 400, json!({"error": {"code": 400, "message": id}}), unknown_model(id)),
        (
            OpenAi,
            404,
            json!({"error": {"code": 404, "message": "No endpoints found for meta/llama-9."}}),
            unknown_model("No endpoints found for meta/llama-9."),
        ),
        (
            OpenAi,
            404,
            json!({"error": {"code": 404, "message": "No endpoints found that take this."}}),
            invalid("No endpoints found that take this."),
        ),
    ]);
}

/// FastAPI repeats what it was sent, which may be the whole conversation.
#[test]
fn what_was_sent_is_not_repeated() {
    let body = json!({"detail": [
        {"type": "missing", "loc": ["body", "messages", 0, "content"], "msg": "Field required", "input": "a private text"},
        {"type": "x", "loc": [], "msg": "Wrong", "ctx": {"a": "a private text"}},
        "plain",
    ]});
    assert_eq!(answer(OpenAi, 422, &body), invalid("body.messages.0.content: Field required; Wrong; plain"));
}

/// A service that gave up may say when to come back, too.
#[test]
fn a_timeout_of_the_service_carries_its_wait() {
    let wait = Duration::from_secs(7);
    for status in [408, 504, 524] {
        let failure = Failure { status, retry_after: Some(wait), body: b"", ..Failure::default() };
        let error = response(OpenAi, failure);
        assert!(matches!(error, ProviderError::Timeout { .. }), "{error:?}");
        assert_eq!((error.retry_after(), error.is_retryable()), (Some(wait), true));
    }
}

/// A service that says in how many seconds to come back is believed, whatever else it says; without that, a limit for a day
/// is no rate.
#[test]
fn seconds_to_come_back_in_go_before_all_words() {
    let words = [
        "Rate limit reached on tokens per day (TPD): Limit 100000, Used 99500, Requested 3000",
        "You exceeded your current quota, please check your plan and billing details.",
        "Request too large: Limit 6000, Requested 7012",
        "prompt is too long",
    ];
    let answer = |words: &str, retry_after| {
        let body = openai(words, "", Value::Null).to_string();
        response(OpenAi, Failure { status: 429, retry_after, body: body.as_bytes(), ..Failure::default() })
    };
    for words in words {
        let error = answer(words, Some(Duration::from_secs(3)));
        assert_eq!(error, rate_limited(Some(3.0), words));
        assert!(error.is_retryable());
    }
    let hours = Some(Duration::from_secs(7_200));
    assert_eq!(answer(words[0], None), quota(words[0]));
    assert_eq!(answer(words[0], hours), quota(words[0]), "nobody waits for hours");
    assert_eq!(answer(words[0], Some(Duration::ZERO)), quota(words[0]), "at once is no number of seconds");
    assert_eq!(answer(words[1], None), quota(words[1]));
    assert_eq!(answer(words[2], None), hopeless(words[2]));
}
