//! What a server is started with.

use crate::script::Step;
use crate::tokenizer::{Compact, Tokenizer};
use oneclaw_catalogue::{Date, Facts};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The name of the model that is there by default.
pub const DEMO_MODEL: &str = "demo";

/// A moment of the day the server takes for today unless it is told another: 2026-11-18, in milliseconds since 1970.
const TODAY: i64 = 1_795_000_000_000;
/// What a model that reasons uses up before its first word.
const REASONING_TOKENS: u64 = 64;
/// The longest reply of one request where a reply can be continued by another.
const CONTINUE_AFTER: u64 = 65_536;

/// A model on offer, the same in all protocols.
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

/// Which server it behaves like where chat completions are spoken. The other protocols are the same with all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// OpenAI's own.
    #[default]
    Plain,
    /// DeepSeek: it reasons unless told not to, and refuses an assistant message with calls but without its
    /// `reasoning_content`.
    DeepSeek,
    /// Kimi: the same, in other words.
    Kimi,
    /// OpenRouter: `reasoning` and `reasoning_details`, which have to come back as they were.
    OpenRouter,
    /// Ollama: what does not fit is cut off without a word; the window in use stands in `/api/ps`.
    Ollama,
    /// llama.cpp: the window in use stands in `/props`, that of the training in the list of models.
    LlamaCpp,
    /// LM Studio: windows stand in `/api/v1/models`; a request that does not fit is told so inside a stream.
    LmStudio,
    /// vLLM: the window stands in the list of models; `/tokenize` counts.
    Vllm,
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
    /// What is known of models, by their ids; it goes before what the catalogue says.
    pub facts: Vec<Facts>,
    /// Whether the catalogue is asked about models. What it knows decides what is refused; a model it does not know
    /// behaves like the demo model.
    pub uses_catalogue: bool,
    /// The day on which requests arrive: models that are switched off by then are gone.
    pub today: Date,
    /// What a model that reasons uses up before its first word; a tenth of it where it is told to reason as little as it
    /// can, nothing where it is told not to reason.
    pub reasoning_tokens: u64,
    /// The tokens after which a reply has to be continued by another request, with the models that do so (gemini-4-argon).
    pub continue_after: u64,
    /// Whether lists of models say what each can hold.
    pub lists_sizes: bool,
    /// Which server it behaves like where chat completions are spoken.
    pub flavour: Flavour,
    /// Whether the size of a prompt can be asked for. Otherwise the addresses for that are not there.
    pub counts: bool,
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
            facts: vec![],
            uses_catalogue: true,
            today: Date::of_millis(TODAY),
            reasoning_tokens: REASONING_TOKENS,
            continue_after: CONTINUE_AFTER,
            lists_sizes: true,
            flavour: Flavour::Plain,
            counts: true,
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
            .field("uses_catalogue", &self.uses_catalogue)
            .field("today", &self.today)
            .field("reasoning_tokens", &self.reasoning_tokens)
            .field("continue_after", &self.continue_after)
            .field("flavour", &self.flavour)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
