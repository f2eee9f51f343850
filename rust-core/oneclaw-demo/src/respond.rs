//! Answers as HTTP, and the faults on the way.

use crate::ask::{Ask, Delivery};
use crate::body::{Cut, Outgoing, Part};
use crate::config::Config;
use crate::log::{Ending, Ticket};
use crate::protocol::{self, Answer, Rejection};
use crate::script::Fault;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use hyper::{Response, StatusCode};
use oneclaw_model::{Dialect, ProviderKind};
use serde_json::Value;
use std::time::Duration;

/// What a client can be told, or that the connection breaks.
pub(crate) type Outcome = Result<Response<Outgoing>, Cut>;

/// What was sent so far is to leave before the connection breaks.
const BEFORE_CUT: Duration = Duration::from_millis(20);

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream; charset=utf-8";
const GARBAGE: &[u8] = b"data: \xff\xfe{{{ not json \x00\n\nevent ???\n: \n\n";
/// A piece of a list of numbers, and how often it comes.
const NUMBERS: &str = "0,";
const NUMBERS_AT_ONCE: usize = 32 * 1_024;
const ENDLESS_PIECES: usize = 1_024;
const PAGE: &[u8] = b"<!doctype html><html><body><h1>Sign in to the network</h1></body></html>";

/// A JSON value with a status.
pub(crate) fn json(status: u16, value: &Value, ticket: Ticket) -> Response<Outgoing> {
    ticket.note(|exchange| exchange.status = Some(status));
    let body = Outgoing::whole(Bytes::from(value.to_string()), ticket);
    with(status, JSON, body)
}

/// The size of a prompt, with what faults make of the way it travels.
pub(crate) fn counted(value: &Value, faults: &[Fault], ticket: Ticket) -> Response<Outgoing> {
    if faults.is_empty() {
        return json(200, value, ticket);
    }
    ticket.note(|exchange| exchange.status = Some(200));
    let parts = parts(vec![value.to_string()], faults, Duration::ZERO);
    with(200, JSON, Outgoing::pieces(parts, ticket))
}

/// A refusal in the provider's form.
pub(crate) fn rejection(kind: ProviderKind, rejection: &Rejection, ticket: Ticket) -> Response<Outgoing> {
    json(rejection.status, &rejection.body(kind), ticket)
}

/// A text with a status.
pub(crate) fn text(status: u16, text: &'static str, ticket: Ticket) -> Response<Outgoing> {
    ticket.note(|exchange| exchange.status = Some(status));
    with(status, "text/plain; charset=utf-8", Outgoing::whole(Bytes::from_static(text.as_bytes()), ticket))
}

/// A refusal inside a stream with a good status (LM Studio).
pub(crate) fn rejection_in_stream(
    kind: ProviderKind,
    rejection: &Rejection,
    ticket: Ticket,
) -> Response<Outgoing> {
    ticket.note(|exchange| exchange.status = Some(200));
    let event = protocol::Event { name: Some("error"), data: rejection.body(kind).to_string() };
    with(200, EVENTS, Outgoing::pieces([Part::Bytes(event.frame().into())], ticket))
}

fn with(status: u16, content_type: &'static str, body: Outgoing) -> Response<Outgoing> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// What a fault of the gateway looks like.
pub(crate) fn gateway_fault(
    kind: ProviderKind,
    fault: Fault,
    delivery: Delivery,
    mut ticket: Ticket,
) -> Outcome {
    let content_type = content_type(delivery);
    let status = |ticket: &Ticket, status: u16| ticket.note(|exchange| exchange.status = Some(status));
    Ok(match fault {
        Fault::Stall => {
            status(&ticket, 200);
            with(200, content_type, Outgoing::pieces([Part::Stall], ticket))
        }
        Fault::Garbage => {
            status(&ticket, 200);
            with(200, content_type, Outgoing::whole(Bytes::from_static(GARBAGE), ticket))
        }
        Fault::WrongContentType => {
            status(&ticket, 200);
            with(200, "text/html", Outgoing::whole(Bytes::from_static(PAGE), ticket))
        }
        Fault::Endless => {
            status(&ticket, 200);
            let begin = Part::Bytes(Bytes::from_static(b"{\"numbers\":["));
            let piece = Part::Bytes(Bytes::from(NUMBERS.repeat(NUMBERS_AT_ONCE)));
            let pieces = std::iter::once(begin).chain(std::iter::repeat_n(piece, ENDLESS_PIECES));
            with(200, content_type, Outgoing::pieces(pieces, ticket))
        }
        Fault::TooManyRequests { retry_after } => {
            let mut response = rejection(kind, &too_many_requests(kind, retry_after), ticket);
            if let Some(wait) = retry_after {
                let seconds = wait.as_millis().div_ceil(1_000);
                let headers =
                    [(RETRY_AFTER, seconds), (HeaderName::from_static("retry-after-ms"), wait.as_millis())];
                for (name, number) in headers {
                    insert(&mut response, name, &number.to_string());
                }
            }
            response
        }
        Fault::Overloaded => rejection(kind, &protocol::overloaded(kind), ticket),
        Fault::ServerError(status) => {
            let message = match kind {
                ProviderKind::OpenAi => {
                    "The server had an error while processing your request. Sorry about that!"
                }
                ProviderKind::Anthropic => "Internal server error",
                ProviderKind::Gemini => "An internal error has occurred. Please retry.",
            };
            rejection(kind, &Rejection::new(status, message), ticket)
        }
        Fault::Redirect(url) => {
            status(&ticket, 307);
            let mut response = with(307, "text/plain", Outgoing::whole(Bytes::new(), ticket));
            insert(&mut response, LOCATION, &url);
            response
        }
        // The rest are no answers at all; a reset is arranged for by the connection.
        Fault::Refuse
        | Fault::CloseBeforeHeaders
        | Fault::StallMidway
        | Fault::CutMidEvent
        | Fault::Drip(_)
        | Fault::ErrorInStream
        | Fault::NestedErrorInStream
        | Fault::FailedResponse
        | Fault::EmptyReply
        | Fault::CutByLength
        | Fault::ToolCallInsteadOfSummary
        | Fault::SilentTruncation
        | Fault::NoUsage
        | Fault::Refusal => {
            ticket.end(Ending::CutByServer);
            return Err(Cut);
        }
    })
}

/// A header, unless its value cannot be one.
fn insert(response: &mut Response<Outgoing>, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

fn too_many_requests(kind: ProviderKind, retry_after: Option<Duration>) -> Rejection {
    let seconds = retry_after.map(|wait| wait.as_secs_f64());
    let mut rejection = Rejection::new(
        429,
        match kind {
            ProviderKind::OpenAi => {
                let again = seconds.map(|s| format!(" Please try again in {s}s.")).unwrap_or_default();
                format!("Rate limit reached for requests.{again}")
            }
            ProviderKind::Anthropic => {
                "This request would exceed your organization's rate limit. Please try again later.".into()
            }
            ProviderKind::Gemini => "Resource has been exhausted (e.g. check quota).".into(),
        },
    )
    .code("rate_limit_exceeded");
    if let Some(seconds) = seconds {
        rejection.details.push(serde_json::json!({
            "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s"),
        }));
    }
    rejection
}

fn content_type(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::Events => EVENTS,
        Delivery::Whole | Delivery::Array => JSON,
    }
}

/// A reply on its way, with what its faults make of it.
pub(crate) fn deliver(
    dialect: Dialect,
    ask: &Ask,
    answer: &Answer,
    faults: &[Fault],
    config: &Config,
    ticket: Ticket,
) -> Response<Outgoing> {
    ticket.note(|exchange| {
        exchange.status = Some(200);
        exchange.reply = Some(answer.reply.clone());
        exchange.usage = answer.usage;
    });
    let is_plain = faults.iter().all(|fault| disturbance(fault).is_none());
    if ask.delivery == Delivery::Whole && is_plain {
        return json(200, &protocol::whole(dialect, ask, answer, config.flavour), ticket);
    }
    let frames = frames(dialect, ask, answer, faults, config);
    let parts = parts(frames, faults, config.delay);
    with(200, content_type(ask.delivery), Outgoing::pieces(parts, ticket))
}

/// The faults that change how the bytes travel.
fn disturbance(fault: &Fault) -> Option<&Fault> {
    use Fault::{CutMidEvent, Drip, StallMidway};
    (failure(fault).is_some() || matches!(fault, CutMidEvent | Drip(_) | StallMidway)).then_some(fault)
}

/// The faults that end a reply with an error.
fn failure(fault: &Fault) -> Option<&Fault> {
    use Fault::{ErrorInStream, FailedResponse, NestedErrorInStream};
    matches!(fault, ErrorInStream | FailedResponse | NestedErrorInStream).then_some(fault)
}

/// The reply in the pieces in which it leaves.
fn frames(dialect: Dialect, ask: &Ask, answer: &Answer, faults: &[Fault], config: &Config) -> Vec<String> {
    let failure = faults.iter().find_map(failure);
    if ask.delivery == Delivery::Whole {
        return vec![match failure {
            Some(fault) => protocol::error_event(dialect, ask, answer, fault, 0).data,
            None => protocol::whole(dialect, ask, answer, config.flavour).to_string(),
        }];
    }
    let mut events = protocol::events(dialect, ask, answer, config.flavour, config.piece);
    if let Some(fault) = failure {
        events.truncate(events.len().div_ceil(2));
        events.push(protocol::error_event(dialect, ask, answer, fault, events.len()));
    }
    match ask.delivery {
        Delivery::Events | Delivery::Whole => events.iter().map(protocol::Event::frame).collect(),
        Delivery::Array => {
            let last = events.len().saturating_sub(1);
            let events = events.into_iter().enumerate();
            events
                .map(|(at, event)| {
                    let open = if at == 0 { "[" } else { ",\r\n" };
                    let close = if at == last { "]" } else { "" };
                    format!("{open}{}{close}", event.data)
                })
                .collect()
        }
    }
}

fn parts(mut frames: Vec<String>, faults: &[Fault], delay: Duration) -> Vec<Part> {
    let half = frames.len() / 2;
    let mut end = None;
    let mut drip = None;
    for fault in faults {
        match fault {
            Fault::StallMidway => {
                frames.truncate(half);
                end = Some(Part::Stall);
            }
            Fault::CutMidEvent => {
                frames.truncate(half + 1);
                if let Some(last) = frames.last_mut() {
                    *last = last.chars().take(last.chars().count() / 2).collect();
                }
                end = Some(Part::Cut);
            }
            Fault::Drip(pause) => drip = Some(*pause),
            _ => {}
        }
    }
    let mut parts = Vec::new();
    for frame in frames {
        let frame = Bytes::from(frame);
        match drip {
            Some(pause) => {
                for at in 0..frame.len() {
                    parts.extend([Part::Bytes(frame.slice(at..=at)), Part::Wait(pause)]);
                }
            }
            None => {
                if !parts.is_empty() && !delay.is_zero() {
                    parts.push(Part::Wait(delay));
                }
                parts.push(Part::Bytes(frame));
            }
        }
    }
    if end == Some(Part::Cut) {
        parts.push(Part::Wait(BEFORE_CUT));
    }
    parts.extend(end);
    parts
}
