//! Every fault of the server, what becomes of it, and that nothing is left behind: no connection, no task.

use super::*;
use oneclaw_demo::{Ending, Fault};
use oneclaw_providers::classify::silent_overflow;
use oneclaw_providers::{Profile, Reply};
use oneclaw_tests::words;

/// Twelve characters make an event.
const ANSWER: &str = "The first word is here, and the last one is there.";
const HALF: &str = "The first word is here, a";

/// Patience for what is slow on a busy machine, but not for silence.
const IMPATIENT: Timing = Timing { idle: Duration::from_millis(250), ..TIMING };

/// What a call comes to: the reply, and how each of its requests ended.
#[derive(Debug, PartialEq)]
struct Outcome {
    said: Said,
    endings: Vec<Ending>,
}

/// Asks a server that goes through those faults, and waits until nothing of it is left.
async fn struck(kind: ProviderKind, faults: &[Fault]) -> Outcome {
    let is_silent = faults.iter().any(|fault| matches!(fault, Fault::Stall | Fault::StallMidway));
    let then = || Box::new(Step::Reply(ANSWER.into()));
    let script = faults.iter().map(|fault| Step::Spoilt { fault: fault.clone(), then: then() });
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = alive();
    let server = scripted(script.chain([*then()]).collect()).await;
    let timing = if is_silent { IMPATIENT } else { TIMING };
    let client = client_with(timing);
    let start = Instant::now();
    let said = match client
        .stream(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), model(kind)), &hello())
        .await
    {
        Ok(stream) => rest(stream).await,
        Err(error) => Said::failed(error),
    };
    let bound = bound(faults, timing);
    assert!(start.elapsed() < bound, "{kind:?} {faults:?} took {:?}, not {bound:?}", start.elapsed());
    drop(client);
    eventually("a connection is left", || server.open_connections() == 0).await;
    let endings = server.log().iter().map(|exchange| exchange.ending).collect();
    server.stop().await;
    eventually("a task is left", || alive() == before).await;
    Outcome { said, endings }
}

/// How long a call with those faults may take: what is waited for on purpose, and what a busy machine adds to it.
fn bound(faults: &[Fault], timing: Timing) -> Duration {
    const GRACE: Duration = Duration::from_secs(5);
    let waits = faults.iter().map(|fault| match fault {
        Fault::Stall | Fault::StallMidway => timing.idle,
        // Nobody waits longer than a minute: what asks for more is not waited for at all.
        Fault::TooManyRequests { retry_after: Some(wait) } if wait.as_secs() <= 60 => *wait,
        // A few thousand pauses, each as long as the system's timer is coarse.
        Fault::Drip(_) => Duration::from_secs(20),
        _ => Duration::ZERO,
    });
    waits.sum::<Duration>() + GRACE
}

fn usage(output: &str) -> Option<Usage> {
    Some(Usage { input: prompt(&["Hello"]), output: o200k(output), ..Usage::default() })
}

/// What a reply without a word costs: Anthropic speaks of one token before it begins, and a zero later says nothing.
fn silence(kind: ProviderKind) -> Option<Usage> {
    let output = u64::from(kind == ProviderKind::Anthropic);
    usage("").map(|usage| Usage { output, ..usage })
}

fn whole() -> Said {
    Said { text: ANSWER.into(), usage: usage(ANSWER), stop: Some(StopReason::End), ..Said::default() }
}

/// The whole reply, after attempts that ended so.
fn at_last(ending: Ending) -> Outcome {
    Outcome { said: whole(), endings: vec![ending, Ending::Whole] }
}

fn once(said: Said, ending: Ending) -> Outcome {
    Outcome { said, endings: vec![ending] }
}

fn overloaded(kind: ProviderKind) -> ProviderError {
    let detail = match kind {
        ProviderKind::OpenAi => "The engine is currently overloaded, please try again later.",
        ProviderKind::Anthropic => "Overloaded",
        ProviderKind::Gemini => "The model is overloaded. Please try again later.",
    };
    ProviderError::Overloaded { detail: detail.into(), retry_after: None }
}

fn rate_limited(kind: ProviderKind, retry_after: Option<Duration>) -> ProviderError {
    let detail = match (kind, retry_after) {
        (ProviderKind::OpenAi, None) => "Rate limit reached for requests.".into(),
        (ProviderKind::OpenAi, Some(wait)) => {
            format!("Rate limit reached for requests. Please try again in {}s.", wait.as_secs_f64())
        }
        (ProviderKind::Anthropic, _) => {
            "This request would exceed your organization's rate limit. Please try again later.".into()
        }
        (ProviderKind::Gemini, _) => "Resource has been exhausted (e.g. check quota).".into(),
    };
    ProviderError::RateLimited { retry_after, detail }
}

/// What comes of a fault that strikes once. Every fault has its line here.
fn expected(kind: ProviderKind, fault: &Fault) -> Outcome {
    let protocol = |detail: &str| ProviderError::Protocol { detail: detail.into() };
    // Of five events of text, with what each dialect puts around them.
    let half = if kind == ProviderKind::OpenAi { 3 } else { 2 };
    match fault {
        // Before the first event everything that passes is tried again.
        Fault::Refuse | Fault::CloseBeforeHeaders => at_last(Ending::CutByServer),
        Fault::TooManyRequests { .. } | Fault::Overloaded | Fault::ServerError(_) => at_last(Ending::Whole),
        // Silence is not: the user has waited once.
        Fault::Stall => {
            let error = ProviderError::Timeout {
                what: "the rest of the answer",
                after: IMPATIENT.idle,
                retry_after: None,
            };
            once(Said::failed(error), Ending::ClosedEarly)
        }
        Fault::StallMidway => {
            let error = ProviderError::Timeout {
                what: "the rest of the answer",
                after: IMPATIENT.idle,
                retry_after: None,
            };
            once(broken(kind, half, error), Ending::ClosedEarly)
        }
        Fault::CutMidEvent => {
            let detail = "error decoding response body: error reading a body from connection: unexpected EOF during \
                          chunk size line";
            once(broken(kind, half, ProviderError::Network { detail: detail.into() }), Ending::CutByServer)
        }
        Fault::Garbage => {
            let error = protocol("event 1 is not JSON (20 bytes, the first is '\u{fffd}')");
            once(Said::failed(error), Ending::Whole)
        }
        Fault::WrongContentType => {
            let error = protocol("a web page came instead of a reply; check the address");
            once(Said::failed(error), Ending::Whole)
        }
        Fault::Drip(_) => once(whole(), Ending::Whole),
        // The last two differ from the first in Responses only.
        Fault::ErrorInStream | Fault::NestedErrorInStream | Fault::FailedResponse => {
            once(broken(kind, half + 1, overloaded(kind)), Ending::Whole)
        }
        Fault::EmptyReply => {
            once(Said { text: String::new(), usage: silence(kind), ..whole() }, Ending::Whole)
        }
        Fault::CutByLength => {
            let said =
                Said { text: HALF.into(), usage: usage(HALF), stop: Some(StopReason::Length), ..whole() };
            once(said, Ending::Whole)
        }
        // No tool was offered; what is done with the call is not for the client to say.
        Fault::ToolCallInsteadOfSummary => {
            let call = Call {
                id: "?".into(),
                name: "get_current_time".into(),
                arguments: "{}".into(),
                signature: None,
            };
            let output = o200k("get_current_time") + o200k("{}");
            let usage = usage("").map(|usage| Usage { output, ..usage });
            let stop = Some(StopReason::ToolUse);
            once(Said { calls: vec![call], usage, stop, ..Said::default() }, Ending::Whole)
        }
        // Nothing is cut off a prompt that fits.
        Fault::SilentTruncation => once(whole(), Ending::Whole),
        Fault::NoUsage => once(Said { usage: None, ..whole() }, Ending::Whole),
        Fault::Refusal => {
            let said = match kind {
                ProviderKind::OpenAi | ProviderKind::Anthropic => {
                    Said { usage: silence(kind), stop: Some(StopReason::Refused), ..Said::default() }
                }
                ProviderKind::Gemini => {
                    let detail = "the prompt was blocked (PROHIBITED_CONTENT)".into();
                    let error = Some(ProviderError::Refused { detail });
                    Said { usage: usage(""), error, ..Said::default() }
                }
            };
            once(said, Ending::Whole)
        }
        Fault::Endless => {
            once(Said::failed(protocol("the body is long, but no event stream")), Ending::ClosedEarly)
        }
        Fault::Redirect(_) => {
            let detail = "the service redirects to 127.0.0.1; check the address".into();
            once(Said::failed(ProviderError::InvalidRequest { detail }), Ending::Whole)
        }
    }
}

/// What came before a fault in the middle: so many events of text, and what is known of the usage by then.
fn broken(kind: ProviderKind, events: usize, error: ProviderError) -> Said {
    let usage = match kind {
        ProviderKind::OpenAi => None,
        // The first event of all says so.
        ProviderKind::Anthropic => silence(kind),
        ProviderKind::Gemini => usage(ANSWER),
    };
    Said { text: ANSWER.chars().take(12 * events).collect(), usage, error: Some(error), ..Said::default() }
}

async fn check(faults: &[Fault]) {
    for kind in KINDS {
        for fault in faults {
            let mut outcome = struck(kind, std::slice::from_ref(fault)).await;
            for call in &mut outcome.said.calls {
                call.id = "?".into();
            }
            assert_eq!(outcome, expected(kind, fault), "{kind:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn faults_that_pass() {
    let wait = Duration::from_millis(30);
    check(&[
        Fault::Refuse,
        Fault::CloseBeforeHeaders,
        Fault::TooManyRequests { retry_after: None },
        Fault::TooManyRequests { retry_after: Some(wait) },
        Fault::Overloaded,
        Fault::ServerError(500),
        Fault::ServerError(502),
        Fault::Drip(Duration::from_micros(50)),
    ])
    .await;
}

#[tokio::test]
async fn services_that_fall_silent() {
    check(&[Fault::Stall, Fault::StallMidway]).await;
}

#[tokio::test]
async fn what_is_no_answer() {
    check(&[
        Fault::CutMidEvent,
        Fault::Garbage,
        Fault::WrongContentType,
        Fault::ErrorInStream,
        Fault::Endless,
    ])
    .await;
}

#[tokio::test]
async fn odd_answers() {
    check(&[
        Fault::EmptyReply,
        Fault::CutByLength,
        Fault::ToolCallInsteadOfSummary,
        Fault::SilentTruncation,
        Fault::NoUsage,
        Fault::Refusal,
    ])
    .await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    for kind in KINDS {
        let other = scripted(vec![]).await;
        let fault = Fault::Redirect(format!("{}/chat/completions", other.base_url(kind)));
        check(&[fault]).await;
        assert_eq!(other.log(), []);
        other.stop().await;
    }
}

/// After the third attempt the last error is the caller's.
#[tokio::test]
async fn faults_that_do_not_pass() {
    let network = |detail: &str| ProviderError::Network { detail: detail.into() };
    for kind in KINDS {
        let server_error = match kind {
            ProviderKind::OpenAi => {
                "The server had an error while processing your request. Sorry about that!"
            }
            ProviderKind::Anthropic => "Internal server error",
            ProviderKind::Gemini => "An internal error has occurred. Please retry.",
        };
        let server_error = ProviderError::Overloaded { detail: server_error.into(), retry_after: None };
        let wait = Duration::from_millis(20);
        for (fault, error, ending) in [
            (Fault::Overloaded, overloaded(kind), Ending::Whole),
            (Fault::ServerError(500), server_error, Ending::Whole),
            (Fault::TooManyRequests { retry_after: None }, rate_limited(kind, None), Ending::Whole),
            (
                Fault::TooManyRequests { retry_after: Some(wait) },
                rate_limited(kind, Some(wait)),
                Ending::Whole,
            ),
            (
                Fault::CloseBeforeHeaders,
                network(
                    "error sending request: client error (SendRequest): connection closed before message completed",
                ),
                Ending::CutByServer,
            ),
        ] {
            let outcome = struck(kind, &[fault.clone(), fault.clone(), fault]).await;
            assert_eq!(outcome, Outcome { said: Said::failed(error), endings: vec![ending; 3] }, "{kind:?}");
        }
        let outcome = struck(kind, &[Fault::Refuse, Fault::Refuse, Fault::Refuse]).await;
        // The last words are the operating system's.
        assert!(
            matches!(&outcome.said.error, Some(ProviderError::Network { detail }) if detail.contains("reset")),
            "{outcome:?}"
        );
        assert_eq!(outcome.endings, [Ending::CutByServer; 3]);
    }
}

#[tokio::test]
async fn the_service_says_when_to_come_back() {
    for kind in KINDS {
        let wait = Duration::from_millis(120);
        let start = Instant::now();
        let fault = Fault::TooManyRequests { retry_after: Some(wait) };
        assert_eq!(struck(kind, &[fault.clone(), fault]).await.said, whole());
        assert!(start.elapsed() >= 2 * wait, "{kind:?}");
        // Nobody waits for an hour.
        let hour = Duration::from_secs(3_600);
        let outcome = struck(kind, &[Fault::TooManyRequests { retry_after: Some(hour) }]).await;
        assert_eq!(outcome, once(Said::failed(rate_limited(kind, Some(hour))), Ending::Whole));
    }
}

/// A completion is sent once, and says how it ended.
#[tokio::test]
async fn completions() {
    for kind in KINDS {
        let server = scripted(vec![]).await;
        let complete = async |fault| {
            server.push(Step::Spoilt { fault, then: Box::new(Step::Reply(ANSWER.into())) });
            client()
                .complete(
                    &endpoint(&server, kind),
                    &Profile::of(&endpoint(&server, kind), model(kind)),
                    &hello(),
                )
                .await
        };
        let reply = |text: &str, stop, calls| Reply {
            text: text.into(),
            stop,
            usage: usage(text),
            has_reasoning: false,
            calls,
        };
        assert_eq!(complete(Fault::Overloaded).await, Err(overloaded(kind)));
        assert_eq!(complete(Fault::ErrorInStream).await, Err(overloaded(kind)));
        let empty = Reply { usage: silence(kind), ..reply("", StopReason::End, 0) };
        assert_eq!(complete(Fault::EmptyReply).await, Ok(empty));
        assert_eq!(complete(Fault::CutByLength).await, Ok(reply(HALF, StopReason::Length, 0)));
        assert_eq!(
            complete(Fault::NoUsage).await,
            Ok(Reply { usage: None, ..reply(ANSWER, StopReason::End, 0) })
        );
        let called = complete(Fault::ToolCallInsteadOfSummary).await.unwrap();
        assert_eq!(called, Reply { usage: called.usage, ..reply("", StopReason::ToolUse, 1) });
        assert_eq!(server.log().len(), 6);
        eventually("a connection is left", || server.open_connections() == 0).await;
    }
}

#[tokio::test]
async fn a_prompt_cut_without_a_word_shows_in_the_usage() {
    for kind in KINDS {
        let server = serve(config(4_000, 1_000, &[])).await;
        server.push(Step::Spoilt {
            fault: Fault::SilentTruncation,
            then: Box::new(Step::Reply(ANSWER.into())),
        });
        let long = words(9_000);
        let assistant = RequestMessage::Assistant { text: "Yes.".into(), calls: vec![], trace: vec![] };
        let said = ask(&server, kind, &request(vec![user(&long), assistant, user("Hello")])).await;
        let left = prompt(&["Yes.", "Hello"]);
        let usage = Usage { input: left, output: o200k(ANSWER), ..Usage::default() };
        assert_eq!(said, Said { usage: Some(usage), ..whole() }, "{kind:?}");
        assert!(silent_overflow(usage.prompt(), prompt(&[&long, "Yes.", "Hello"]), Some(4_000)));
    }
}
