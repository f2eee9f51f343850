//! What a server is started with.

use crate::script::Step;
use crate::tokenizer::{Compact, Tokenizer};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The name of the model that is there by default.
pub const DEMO_MODEL: &str = "demo";

/// A model on offer, the same in all three protocols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name.
    pub id: String,
    /// Context window in tokens.
    pub window: u64,
    /// Longest reply in tokens.
    pub max_output: u64,
}

impl Default for Model {
    fn default() -> Self {
        Self { id: DEMO_MODEL.into(), window: 16_000, max_output: 4_096 }
    }
}

/// What a server is started with.
#[derive(Clone)]
pub struct Config {
    /// The port on the loopback address; 0 takes a free one.
    pub port: u16,
    /// The models on offer.
    pub models: Vec<Model>,
    /// How tokens are counted.
    pub tokenizer: Arc<dyn Tokenizer>,
    /// Characters of text per event of a stream.
    pub piece: usize,
    /// The pause before each event of a stream after the first.
    pub delay: Duration,
    /// What the first model calls get; more can be added while the server runs.
    pub script: Vec<Step>,
    /// Goes into the names of replies and calls, so that two servers do not give out the same.
    pub seed: u64,
    /// The key every caller has to show; `None` asks for none.
    pub key: Option<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: 0,
            models: vec![Model::default()],
            tokenizer: Arc::new(Compact),
            piece: 12,
            delay: Duration::ZERO,
            script: vec![],
            seed: 0,
            key: None,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("port", &self.port)
            .field("models", &self.models)
            .field("piece", &self.piece)
            .field("delay", &self.delay)
            .field("script", &self.script)
            .field("seed", &self.seed)
            .field("key", &self.key.as_ref().map(|_| "[redacted]"))
            .finish_non_exhaustive()
    }
}
