//! What a model is told about a tool.

use serde::{Deserialize, Serialize};

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// JSON schema of its arguments.
    #[serde(default = "no_arguments", alias = "input_schema", alias = "schema")]
    pub parameters: serde_json::Value,
    /// A protected tool's results are instructions rather than data: pruning leaves them alone.
    #[serde(default)]
    pub protected: bool,
}

fn no_arguments() -> serde_json::Value {
    serde_json::json!({"type": "object", "properties": {}})
}
