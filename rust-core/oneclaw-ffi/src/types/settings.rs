//! How to open the core, and how it is to compact.

use crate::ModelRef;
use std::collections::HashMap;

/// What the core needs to begin.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct OpenConfig {
    /// The database file; made if it is missing.
    pub database_path: String,
    /// The folder that the file tools may read and write.
    pub files_folder: String,
    /// Whether to offer the embedded demo service, which needs no key and no network.
    pub demo: bool,
}

/// How conversations are compacted.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct PolicySettings {
    /// The set of rules to begin with.
    pub preset: Preset,
    /// Single rules that differ from the preset: the name of the field and its value, `threshold` and `0.7`.
    pub overrides: HashMap<String, String>,
    /// Whether summaries are written without being asked for.
    pub auto: bool,
    /// Whether old tool results may be left out of requests.
    pub prune: bool,
    /// The model that writes summaries; none: the one that chats.
    pub summary_model: Option<ModelRef>,
}

/// A set of rules for compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, uniffi::Enum)]
pub enum Preset {
    /// At 85 % of the window, a quarter of it kept.
    OneClaw,
    /// At three quarters of what can be sent, six messages kept.
    Sven,
    /// At 100,000 tokens, 20,000 kept.
    Nous,
    /// When the last step used everything, nothing kept but the summary.
    OpenCode,
}
