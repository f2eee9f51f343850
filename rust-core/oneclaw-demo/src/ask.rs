//! A request as all protocols mean it.

use serde_json::{Map, Value};

/// What is asked of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ask {
    pub model: String,
    pub tools: Vec<Tool>,
    pub system: Vec<Block>,
    pub turns: Vec<Turn>,
    /// The most tokens the reply may have, as far as the request says.
    pub max_output: Option<u64>,
    pub delivery: Delivery,
    /// Whether a stream ends with the usage (OpenAI sends it on request only).
    pub wants_usage: bool,
    /// Whether the reasoning is to be shown.
    pub wants_thinking: bool,
    /// How much the model reasons.
    pub amount: Amount,
    /// Whether reasoning is left out of the reply, or kept there without its text, even where a script has one.
    pub hides_thoughts: bool,
    /// Whether the prompt has to leave room for the longest reply that is asked for.
    pub reserves_output: bool,
    /// Whether a prompt that does not fit is cut instead of refused.
    pub truncates: bool,
    /// Whether the reply may have to be continued by another request (Gemini).
    pub continues: bool,
    /// The reply that is to be continued (Gemini).
    pub continuation: Option<String>,
    pub choice: Choice,
    /// What the signatures of reasoning in the reply are made of (Anthropic, models of the catalogue).
    pub binding: Option<Binding>,
    /// What was left out of the request, in the protocol's own form.
    pub transformations: Vec<Value>,
    /// What the reply repeats of the request (Responses).
    pub echo: Map<String, Value>,
    /// How the protocol's own form of the reply differs from model to model.
    pub style: Style,
}

/// How much a model reasons before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Amount {
    /// Not at all.
    #[default]
    Nothing,
    /// As little as it can.
    Little,
    /// As it usually does.
    Usual,
}

/// What a signature of reasoning is made of: the model, everything before it, and the reasoning before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Binding {
    pub model: u64,
    pub prefix: u64,
    /// A digest of the signature before; 0 where there is none.
    pub previous: u64,
}

/// How the form of a reply differs from model to model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    /// The model is one of the catalogue's.
    pub is_known: bool,
    /// Messages say whether they are the final answer (Responses).
    pub has_phase: bool,
    /// Deltas are padded (Responses).
    pub is_obfuscated: bool,
    /// The first call is signed (Gemini).
    pub signs_calls: bool,
    /// Calls have names, and texts are signed too (Gemini 3 and later).
    pub signs_texts: bool,
}

/// How the reply travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Delivery {
    /// One JSON value.
    #[default]
    Whole,
    /// Server-sent events.
    Events,
    /// A JSON array that grows (Gemini without `alt=sse`).
    Array,
}

/// Whether tools may or must be called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Choice {
    #[default]
    Auto,
    Never,
    Any,
    Named(String),
}

/// A tool offered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tool {
    pub name: String,
    pub description: String,
    pub schema: Value,
    pub is_breakpoint: bool,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    pub speaker: Speaker,
    pub blocks: Vec<Block>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub content: Content,
    /// Whether the prompt up to here is to be cached (Anthropic).
    pub is_breakpoint: bool,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Text(String),
    Thinking(String),
    /// A picture or file: what it costs, and a name of its bytes for the cache.
    Media {
        tokens: u64,
        digest: u64,
    },
    Call {
        name: String,
        arguments: String,
    },
    Result {
        name: String,
        text: String,
        /// What pictures in it cost.
        media: u64,
    },
}

impl Block {
    pub fn new(content: Content) -> Self {
        Self { content, is_breakpoint: false }
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Content::Text(text.into()))
    }
}

impl Turn {
    /// The text of the message, its blocks on lines of their own.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .blocks
            .iter()
            .filter_map(|block| match &block.content {
                Content::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The results in it: tool and text.
    pub fn results(&self) -> impl Iterator<Item = (&str, &str)> {
        self.blocks.iter().filter_map(|block| match &block.content {
            Content::Result { name, text, .. } => Some((name.as_str(), text.as_str())),
            _ => None,
        })
    }
}

impl Ask {
    /// The system text.
    pub fn system_text(&self) -> String {
        Turn { speaker: Speaker::User, blocks: self.system.clone() }.text()
    }

    /// The newest text of the user, and where it stands.
    pub fn newest_request(&self) -> Option<(usize, String)> {
        let turns = self.turns.iter().enumerate().rev();
        let mut texts = turns.filter(|(_, t)| t.speaker == Speaker::User).map(|(at, t)| (at, t.text()));
        texts.find(|(_, text)| !text.trim().is_empty())
    }

    /// The results that came in since the assistant spoke last.
    pub fn newest_results(&self) -> Vec<(&str, &str)> {
        let newest: Vec<&Turn> = self.turns.iter().rev().take_while(|t| t.speaker == Speaker::User).collect();
        newest.into_iter().rev().flat_map(Turn::results).collect()
    }
}
