//! Calls as models write them: a tool's name, a line break, arguments that should be JSON.

use oneclaw_agent::tools::run::{Called, run};
use oneclaw_agent::tools::time::CurrentTime;
use oneclaw_agent::tools::{Answer, Answering, Registry, Tool};
use oneclaw_context::Policy;
use oneclaw_model::{ToolSpec, ToolStatus};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::runtime::{Builder, Runtime};

/// Says what it was given.
struct Echo;

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "echo".into(),
            description: String::new(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "count": {"type": "integer"},
                    "mode": {"type": ["string", "null"], "enum": ["a", "b", null]},
                    "list": {"type": "array"},
                },
                "required": ["text"],
            }),
            protected: false,
        }
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(async { Answer::ok(Value::Object(arguments).to_string()) })
    }
}

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().unwrap();
}

/// A call is answered in words, and no tool sees arguments that its schema does not allow.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, arguments) = text.split_once('\n').unwrap_or(("echo", &text));
    let mut registry = Registry::new();
    registry.insert(Arc::new(Echo));
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    registry.insert(Arc::new(CurrentTime::new(move || at)));
    let offered = registry.specs(&registry.names());
    let called = Called { name: name.to_owned(), arguments: arguments.to_owned() };
    // Long results stay whole, so that the echo can be read.
    let policy = Policy::default().with("result_units=1000000").unwrap();
    let outcome = RUNTIME.with(|runtime| runtime.block_on(run(&registry, &offered, &called, &policy)));
    assert!(!outcome.text.is_empty());
    if outcome.status != ToolStatus::Success {
        assert_eq!(outcome.status, ToolStatus::Error);
        assert!(!outcome.text.contains(char::is_control), "{:?}", outcome.text);
        assert!(outcome.text.chars().count() <= 100_000, "{} characters", outcome.text.chars().count());
        assert!(!outcome.text.ends_with("a fault of its own; go on without it."), "a tool has panicked");
    } else if name == "echo" {
        let seen: Value = serde_json::from_str(&outcome.text).unwrap();
        assert!(seen["text"].is_string(), "{seen}");
        assert!(seen.get("count").is_none_or(|count| count.is_i64() || count.is_u64()), "{seen}");
        assert!(seen.get("list").is_none_or(Value::is_array), "{seen}");
        assert!(
            seen.get("mode").is_none_or(|mode| [json!("a"), json!("b"), json!(null)].contains(mode)),
            "{seen}"
        );
        let known = ["text", "count", "mode", "list"];
        assert!(seen.as_object().unwrap().keys().all(|name| known.contains(&name.as_str())), "{seen}");
    }
}
