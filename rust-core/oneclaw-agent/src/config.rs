//! What an agent is opened with.

use crate::tools::Registry;
use oneclaw_context::Policy;
use oneclaw_providers::{Cleartext, Timing};
use std::path::PathBuf;
use std::time::Duration;

/// What an agent is opened with.
#[derive(Clone)]
pub struct Config {
    /// The file of the conversations; made if it is not there.
    pub database: PathBuf,
    /// How contexts are kept small.
    pub policy: Policy,
    /// The tools there are.
    pub tools: Registry,
    /// Which of them models are offered.
    pub offer: Offer,
    /// How long services may take.
    pub timing: Timing,
    /// How long what comes before a reply may take.
    pub patience: Patience,
    /// What one message may cost.
    pub allowance: Allowance,
    /// Hosts that may be spoken to without encryption.
    pub cleartext: Cleartext,
}

impl Config {
    /// The defaults, with a file and no tools.
    pub fn new(database: PathBuf) -> Self {
        Self {
            database,
            policy: Policy::default(),
            tools: Registry::new(),
            offer: Offer::AgentsChoice,
            timing: Timing::default(),
            patience: Patience::default(),
            allowance: Allowance::default(),
            cleartext: Cleartext::default(),
        }
    }
}

/// Which tools models are offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// Those the session's agent lists.
    AgentsChoice,
    /// Those, and these.
    Also(Vec<String>),
    /// These.
    Only(Vec<String>),
}

/// What one message may cost, with everything that follows from it. Beyond it the turn ends, and the next message goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Requests, attempts after failures and those for summaries included.
    pub requests: u64,
    /// Prompt tokens, in windows of the model.
    pub windows: u64,
    /// Prompt tokens where the window is unknown, and at least.
    pub tokens: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { requests: 150, windows: 20, tokens: 1_000_000 }
    }
}

/// How long a compaction may take, and the count that may spare one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// A summary call without a byte.
    pub silence: Duration,
    /// All calls of one compaction together.
    pub pass: Duration,
    /// The service's count of a request, all of it.
    pub count: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            silence: Duration::from_secs(15),
            pass: Duration::from_secs(120),
            count: Duration::from_secs(2),
        }
    }
}
