//! One call, from the model's words to the text that is stored.
//!
//! Decides what a model is told when a call cannot be run or does not end well. Every such text says what was
//! wrong and what can be done; none is an error of ours. It does not decide which tools are offered, how many
//! calls run at once, or where results are kept.

use super::{Answer, Registry, arguments, quoted};
use crate::agent::MOST_BYTES;
use oneclaw_context::Policy;
use oneclaw_context::truncate::Shape;
use oneclaw_model::{Attachment, ToolSpec, ToolStatus};
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// A call as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    /// The tool's name.
    pub name: String,
    /// The arguments as JSON text. It may be broken; empty means none.
    pub arguments: String,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `Success`, `Error` or `Timeout`.
    pub status: ToolStatus,
    /// What is stored and what the model reads: already capped.
    pub text: String,
    /// Images and files the tool returned.
    pub attachments: Vec<Attachment>,
    /// How long it took.
    pub duration: Duration,
}

/// Runs one call. Whatever goes wrong – an unknown tool, one that was not offered, arguments that are broken or do
/// not fit, a tool that takes too long or panics – is answered in words. Dropping the future stops the tool.
pub async fn run(registry: &Registry, offered: &[ToolSpec], call: &Called, policy: &Policy) -> Outcome {
    let start = Instant::now();
    let (shape, status, answer) = answer(registry, offered, call).await;
    let duration = start.elapsed();
    let name = quoted(&call.name);
    log::debug!("tool {name}: {status:?} after {} ms", duration.as_millis());
    let (text, attachments) = bounded(answer);
    Outcome { status, text: policy.stored(&text, shape).into_owned(), attachments, duration }
}

/// What a tool gave, without the attachments that are more than a message may have; the text says so first, where no cap
/// takes it away.
fn bounded(answer: Answer) -> (String, Vec<Attachment>) {
    let given = answer.attachments.len();
    let mut room = MOST_BYTES;
    let mut kept = answer.attachments;
    kept.retain(|attachment| {
        let left = room.checked_sub(attachment.data.as_ref().map_or(0, String::len));
        room = left.unwrap_or(room);
        left.is_some()
    });
    let text = match given - kept.len() {
        0 => answer.text,
        gone => {
            let limit = MOST_BYTES / 1_024 / 1_024;
            format!("[{gone} of {given} attachments left out: more than {limit} MB]\n\n{}", answer.text)
        }
    };
    (text, kept)
}

async fn answer(registry: &Registry, offered: &[ToolSpec], call: &Called) -> (Shape, ToolStatus, Answer) {
    let error = |text: String| (Shape::Generic, ToolStatus::Error, Answer::failed(text));
    let name = quoted(&call.name);
    let Some(spec) = offered.iter().find(|spec| spec.name == call.name) else {
        return error(unknown(&name, offered));
    };
    let Some(tool) = registry.get(&call.name) else {
        return error(format!("The tool \"{name}\" is not available at the moment; go on without it."));
    };
    let arguments = match arguments::parse(&call.arguments, &spec.parameters) {
        Ok(arguments) => arguments,
        Err(fault) => {
            return error(format!(
                "The tool \"{name}\" was not run: {fault}. Correct this and call it again."
            ));
        }
    };
    let (shape, patience) = match guarded(|| (tool.shape(), tool.timeout())) {
        Ok(both) => both,
        Err(panic) => return error(broken(&name, &*panic)),
    };
    // The tool is asked inside: a panic before its first await is caught too.
    let asked = caught(async { Arc::clone(&tool).run(arguments).await });
    match timeout(patience, asked).await {
        Ok(Ok(answer)) => {
            let status = if answer.failed { ToolStatus::Error } else { ToolStatus::Success };
            (shape, status, answer)
        }
        Ok(Err(panic)) => error(broken(&name, &*panic)),
        Err(_) => {
            let text = format!(
                "The tool \"{name}\" did not finish within {} and was stopped. Ask it for less, or go on without it.",
                in_words(patience)
            );
            (shape, ToolStatus::Timeout, Answer::failed(text))
        }
    }
}

fn unknown(name: &str, offered: &[ToolSpec]) -> String {
    let names = arguments::list(offered.iter().map(|spec| format!("\"{}\"", spec.name)));
    if names.is_empty() {
        format!("There is no tool \"{name}\", and no tools can be called here; answer without them.")
    } else {
        format!("There is no tool \"{name}\". The tools are {names}.")
    }
}

/// What a tool that panicked is said to have done. Its own words may help whoever wrote it, and are no use to a
/// model.
fn broken(name: &str, panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().copied();
    let words = words.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    log::error!("tool {name} panicked: {}", quoted(words.unwrap_or("without words")));
    format!("The tool \"{name}\" failed because of a fault of its own; go on without it.")
}

fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    // Nothing that was in use during a panic is looked at afterwards.
    catch_unwind(AssertUnwindSafe(work))
}

/// The future, with a panic as a value.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Box<dyn Any + Send>> {
    let mut work = pin!(work);
    poll_fn(|context| match guarded(|| work.as_mut().poll(context)) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

fn in_words(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms < 1_000 => format!("{ms} ms"),
        ms => format!("{} s", ms / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Answering, Tool};
    use oneclaw_context::policy::ResultCap;
    use serde_json::{Map, Value, json};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Does what its argument says.
    #[derive(Default)]
    struct Odd {
        stopped: Arc<AtomicUsize>,
    }

    struct OnDrop(Arc<AtomicUsize>);

    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    impl Tool for Odd {
        fn spec(&self) -> ToolSpec {
            ToolSpec {
                name: "odd".to_owned(),
                description: String::new(),
                parameters: json!({
                    "type": "object",
                    "properties": {"does": {"type": "string"}, "times": {"type": "integer"}},
                    "required": ["does"]
                }),
                protected: false,
            }
        }

        fn shape(&self) -> Shape {
            Shape::HeadTail
        }

        fn timeout(&self) -> Duration {
            Duration::from_millis(50)
        }

        fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
            let does = arguments["does"].as_str().unwrap().to_owned();
            let times = arguments.get("times").and_then(Value::as_u64).unwrap_or(1);
            if does == "panic at once" {
                panic!("at once");
            }
            let guard = OnDrop(Arc::clone(&self.stopped));
            Box::pin(async move {
                let _guard = guard;
                match does.as_str() {
                    "panic" => {
                        tokio::task::yield_now().await;
                        panic!("secret words")
                    }
                    "hang" => std::future::pending().await,
                    "fail" => Answer::failed("it did not work"),
                    _ => Answer::ok("line\n".repeat(usize::try_from(times).unwrap())),
                }
            })
        }
    }

    #[test]
    fn attachments_are_kept_as_far_as_a_message_may_have_them() {
        let of = |name: &str, bytes: usize| Attachment {
            mime: "image/png".to_owned(),
            name: name.to_owned(),
            width: None,
            height: None,
            data: Some("A".repeat(bytes)),
        };
        let given = |sizes: &[usize]| {
            let attachments = sizes.iter().map(|size| of(&size.to_string(), *size)).collect();
            let (text, kept) = bounded(Answer { attachments, ..Answer::ok("Here.") });
            (text, kept.into_iter().map(|a| a.name).collect::<Vec<_>>())
        };
        let all = MOST_BYTES.to_string();
        assert_eq!(given(&[MOST_BYTES]), ("Here.".to_owned(), vec![all]));
        let said = "[2 of 4 attachments left out: more than 32 MB]\n\nHere.".to_owned();
        let half = MOST_BYTES / 2;
        let kept = vec![half.to_string(), "7".to_owned()];
        assert_eq!(given(&[half, half + 1, 7, MOST_BYTES + 1]), (said, kept));
    }

    fn registry() -> (Registry, Vec<ToolSpec>) {
        let mut registry = Registry::new();
        registry.insert(Arc::new(Odd::default()));
        let specs = registry.specs(&registry.names());
        (registry, specs)
    }

    fn called(name: &str, arguments: &str) -> Called {
        Called { name: name.to_owned(), arguments: arguments.to_owned() }
    }

    async fn outcome(name: &str, arguments: &str) -> Outcome {
        let (registry, specs) = registry();
        run(&registry, &specs, &called(name, arguments), &Policy::default()).await
    }

    #[tokio::test]
    async fn a_call_that_works() {
        let outcome = outcome("odd", r#"{"does":"talk"}"#).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (ToolStatus::Success, "line\n"));
    }

    #[tokio::test]
    async fn everything_that_goes_wrong_is_said_in_words() {
        for (name, arguments, status, text) in [
            ("od", "{}", ToolStatus::Error, r#"There is no tool "od". The tools are "odd"."#),
            (
                "odd",
                "{oops",
                ToolStatus::Error,
                r#"The tool "odd" was not run: the arguments are not valid JSON: key must be a string at line 1 column 2. Correct this and call it again."#,
            ),
            (
                "odd",
                "",
                ToolStatus::Error,
                r#"The tool "odd" was not run: "does" is missing. Correct this and call it again."#,
            ),
            (
                "odd",
                r#"{"does":["x"]}"#,
                ToolStatus::Error,
                r#"The tool "odd" was not run: "does" must be a string, not an array. Correct this and call it again."#,
            ),
            ("odd", r#"{"does":"fail"}"#, ToolStatus::Error, "it did not work"),
            (
                "odd",
                r#"{"does":"panic"}"#,
                ToolStatus::Error,
                r#"The tool "odd" failed because of a fault of its own; go on without it."#,
            ),
            (
                "odd",
                r#"{"does":"panic at once"}"#,
                ToolStatus::Error,
                r#"The tool "odd" failed because of a fault of its own; go on without it."#,
            ),
            (
                "odd",
                r#"{"does":"hang"}"#,
                ToolStatus::Timeout,
                r#"The tool "odd" did not finish within 50 ms and was stopped. Ask it for less, or go on without it."#,
            ),
        ] {
            let outcome = outcome(name, arguments).await;
            assert_eq!((outcome.status, outcome.text.as_str()), (status, text), "{arguments}");
        }
    }

    #[tokio::test]
    async fn a_tool_that_was_not_offered_is_unknown_and_one_that_is_gone_is_said_to_be() {
        let (registry, specs) = registry();
        let call = called("odd", r#"{"does":"talk"}"#);
        let policy = Policy::default();
        let outcome = run(&registry, &[], &call, &policy).await;
        assert_eq!(
            outcome.text,
            r#"There is no tool "odd", and no tools can be called here; answer without them."#
        );
        let outcome = run(&Registry::new(), &specs, &call, &policy).await;
        assert_eq!(outcome.text, r#"The tool "odd" is not available at the moment; go on without it."#);
        assert_eq!(outcome.status, ToolStatus::Error);
    }

    #[tokio::test]
    async fn results_and_errors_are_capped() {
        let (registry, specs) = registry();
        let long = called("odd", r#"{"does":"talk","times":100000}"#);
        let head = Policy { result_cap: ResultCap::Head, result_units: 100, ..Policy::default() };
        let outcome = run(&registry, &specs, &long, &head).await;
        assert!(
            outcome.text.ends_with("[... content truncated, showing first 100 of 500000 characters ...]")
        );
        let shaped = Policy { result_cap: ResultCap::Shaped, ..Policy::default() };
        let outcome = run(&registry, &specs, &long, &shaped).await;
        // The tool's own shape: 60 lines of the head, 40 of the tail.
        assert!(
            outcome.text.contains("\n[... 99900 lines / 499500 bytes omitted ...]\n"),
            "{}",
            outcome.text
        );
        let unknown = called(&"x".repeat(1_000_000), "");
        assert!(run(&registry, &specs, &unknown, &head).await.text.len() < 400);
    }

    #[tokio::test]
    async fn dropping_the_future_stops_the_tool() {
        let odd = Arc::new(Odd::default());
        let stopped = Arc::clone(&odd.stopped);
        let mut registry = Registry::new();
        registry.insert(odd);
        let specs = registry.specs(&registry.names());
        let call = called("odd", r#"{"does":"hang"}"#);
        let policy = Policy::default();
        let work = run(&registry, &specs, &call, &policy);
        assert!(timeout(Duration::from_millis(5), work).await.is_err());
        assert_eq!(stopped.load(Ordering::SeqCst), 1);
    }
}
