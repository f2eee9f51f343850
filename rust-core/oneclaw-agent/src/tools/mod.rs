//! What a model may call.
//!
//! Decides what a tool is and which tools there are. How one call is run and what is said when it goes wrong is
//! decided in [`run`]; how one is shown to people in [`shown()`]; which tools a conversation offers, and what is done with an
//! answer, by the agent.
//!
//! Built in: [`time::CurrentTime`], [`files::ReadFile`], [`files::WriteFile`] and [`http::HttpRequest`]. The app
//! brings its own by implementing [`Tool`].

mod arguments;
mod body;
pub mod files;
pub mod guard;
pub mod http;
pub mod run;
mod sandbox;
mod shown;
pub mod time;

pub use shown::shown;

use oneclaw_context::truncate::Shape;
use oneclaw_model::{Attachment, ToolSpec};
use oneclaw_providers::ProviderError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// How long a tool may take if it says nothing else.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// The most characters of a model's own words that are repeated to it in an error.
const MOST_QUOTED: usize = 200;

/// An answer in the making. Dropping it stops the tool.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

/// What a tool says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The text for the model, not yet capped.
    pub text: String,
    /// Whether the tool could not do what it was asked.
    pub failed: bool,
    /// Images and files beside the text.
    pub attachments: Vec<Attachment>,
}

impl Answer {
    /// The tool did what it was asked.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: false, attachments: Vec::new() }
    }

    /// The tool could not do it; the text says why, and what may help.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), failed: true, attachments: Vec::new() }
    }
}

/// Something a model may call. Host tools implement it too.
pub trait Tool: Send + Sync {
    /// What the model is told: name, description, parameters; and whether results are protected.
    fn spec(&self) -> ToolSpec;

    /// The part of the output that matters most when it is too long.
    fn shape(&self) -> Shape {
        Shape::Generic
    }

    /// How long a call may take.
    fn timeout(&self) -> Duration {
        DEFAULT_TIMEOUT
    }

    /// Does it. The arguments fit the schema as far as [`run::run`] looks: required ones are there, and types at
    /// the top level are right.
    ///
    /// The future must not block its thread: a call that blocks can neither be timed out nor stopped.
    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static>;
}

/// The tools there are, by name; a later one of the same name replaces the earlier.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool under the name in its [`Tool::spec`].
    pub fn insert(&mut self, tool: Arc<dyn Tool>) {
        self.tools.insert(tool.spec().name, tool);
    }

    /// The tool of that name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.get(name).map(Arc::clone)
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    /// What a model is told about these tools, in the order asked for. Unknown names are left out, and a name
    /// counts once.
    pub fn specs(&self, names: &[String]) -> Vec<ToolSpec> {
        let mut specs: Vec<ToolSpec> = Vec::new();
        for name in names {
            if let Some(tool) = self.tools.get(name)
                && !specs.iter().any(|spec| spec.name == *name)
            {
                // Under the name it is called by, whatever a tool says today.
                specs.push(ToolSpec { name: name.clone(), ..tool.spec() });
            }
        }
        specs
    }
}

/// The tools that come with the app: the time, requests to public addresses, and files below a folder.
pub fn built_in(folder: &Path) -> Result<Registry, ProviderError> {
    let sandbox = Arc::new(files::Sandbox::new(folder));
    let mut registry = Registry::new();
    registry.insert(Arc::new(time::CurrentTime::system()));
    registry.insert(Arc::new(http::HttpRequest::new(guard::Guard::Public)?));
    registry.insert(Arc::new(files::ReadFile::new(Arc::clone(&sandbox))));
    registry.insert(Arc::new(files::WriteFile::new(sandbox)));
    Ok(registry)
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.tools.keys()).finish()
    }
}

/// A model's own words as they are repeated to it: on one line, and not at any length.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == MOST_QUOTED {
            out.push('…');
            break;
        }
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// An argument that is a text, if it is there.
fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Named(&'static str, &'static str);

    impl Tool for Named {
        fn spec(&self) -> ToolSpec {
            ToolSpec {
                name: self.0.to_owned(),
                description: self.1.to_owned(),
                parameters: serde_json::json!({"type": "object", "properties": {}}),
                protected: false,
            }
        }

        fn run(self: Arc<Self>, _: Map<String, Value>) -> Answering<'static> {
            Box::pin(async { Answer::ok("") })
        }
    }

    #[test]
    fn a_later_tool_replaces_the_earlier_and_specs_follow_the_order_asked_for() {
        let mut registry = Registry::new();
        registry.insert(Arc::new(Named("b", "first")));
        registry.insert(Arc::new(Named("a", "")));
        registry.insert(Arc::new(Named("b", "second")));
        assert_eq!(registry.names(), ["a", "b"]);
        let asked = ["b", "nothing", "a", "b"].map(str::to_owned);
        let specs = registry.specs(&asked);
        let told: Vec<_> = specs.iter().map(|spec| (spec.name.as_str(), spec.description.as_str())).collect();
        assert_eq!(told, [("b", "second"), ("a", "")]);
        assert!(registry.get("nothing").is_none());
        assert_eq!(format!("{registry:?}"), r#"{"a", "b"}"#);
    }

    #[test]
    fn quoted_words_are_short_and_on_one_line() {
        assert_eq!(quoted("a\nb\u{1b}"), "a\\nb\\u{1b}");
        assert_eq!(quoted(&"é".repeat(1_000)).chars().count(), MOST_QUOTED + 1);
    }
}
