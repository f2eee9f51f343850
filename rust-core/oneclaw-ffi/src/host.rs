//! The app's vault and tools as the agent knows them.

use crate::convert::attachment_in;
use crate::types::{HostTool, KeyVault, OutputShape, ToolHost};
use oneclaw_agent::tools::{Answer, Answering, Tool};
use oneclaw_context::truncate::Shape;
use oneclaw_model::ToolSpec;
use oneclaw_providers::{ApiKey, Origin};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// The app's vault.
pub(crate) struct Vault(pub Arc<dyn KeyVault>);

impl oneclaw_agent::KeyVault for Vault {
    fn key(&self, provider_id: &str, origin: &Origin) -> Result<Option<ApiKey>, String> {
        let key =
            self.0.key(provider_id.to_owned(), origin.to_string()).map_err(|error| error.to_string())?;
        Ok(key.map(ApiKey::new))
    }
}

/// A tool of the app.
pub(crate) struct Hosted {
    pub host: Arc<dyn ToolHost>,
    pub tool: HostTool,
    pub parameters: Value,
}

impl Tool for Hosted {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.tool.name.clone(),
            description: self.tool.description.clone(),
            parameters: self.parameters.clone(),
            protected: self.tool.is_protected,
        }
    }

    fn shape(&self) -> Shape {
        shape(self.tool.shape)
    }

    fn timeout(&self) -> Duration {
        Duration::from_millis(u64::try_from(self.tool.timeout_ms).unwrap_or(0).max(1))
    }

    fn run(self: Arc<Self>, arguments: Map<String, Value>) -> Answering<'static> {
        Box::pin(async move {
            let arguments = Value::Object(arguments).to_string();
            match self.host.run(self.tool.name.clone(), arguments).await {
                Ok(answer) => Answer {
                    text: answer.output,
                    failed: answer.is_error,
                    attachments: answer.attachments.into_iter().map(attachment_in).collect(),
                },
                Err(error) => Answer::failed(format!("The tool failed: {error}")),
            }
        })
    }
}

pub(crate) fn shape(shape: OutputShape) -> Shape {
    match shape {
        OutputShape::HeadTail => Shape::HeadTail,
        OutputShape::MatchList => Shape::MatchList,
        OutputShape::FileContent => Shape::FileContent,
        OutputShape::Generic => Shape::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::{ApiKey, Arc, KeyVault, Origin, Vault};
    use crate::CoreError;
    use oneclaw_agent::KeyVault as _;

    struct Safe;

    impl KeyVault for Safe {
        fn key(&self, _: String, origin: String) -> Result<Option<String>, CoreError> {
            Ok((origin == "https://a.example").then(|| " canary-0123456789 ".to_owned()))
        }
    }

    #[test]
    fn a_key_of_the_app_is_shown_to_nobody() {
        // The only value at this border that holds one.
        let vault = Vault(Arc::new(Safe));
        let key = vault.key("provider", &Origin::of("https://A.example:443/v1").unwrap());
        assert_eq!(key, Ok(Some(ApiKey::new("canary-0123456789".to_owned()))));
        assert_eq!(
            format!("{key:?} {:#?}", key),
            "Ok(Some([redacted])) Ok(\n    Some(\n        [redacted],\n    ),\n)"
        );
        assert_eq!(key.unwrap().unwrap().to_string(), "[redacted]");
        assert_eq!(vault.key("provider", &Origin::of("https://b.example").unwrap()), Ok(None));
    }
}
