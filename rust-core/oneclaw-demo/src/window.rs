//! How large a prompt is, and whether it fits.
//!
//! Prompt tokens = the tokens of all texts (system, messages, arguments and results of tools, replayed reasoning), plus
//! [`PER_MESSAGE`] for each message (the system text is one), plus name, description and schema (as compact JSON) of
//! each tool, plus [`PER_REQUEST`]. Pictures count by their pixels.

use crate::ask::{Ask, Block, Content, Turn};
use crate::tokenizer::Tokenizer;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

/// What a message costs besides its text.
pub const PER_MESSAGE: u64 = 4;
/// What a request costs besides its messages and tools.
pub const PER_REQUEST: u64 = 3;

/// Texts whose counts are remembered at most.
const MOST_REMEMBERED: usize = 1 << 16;
/// Texts shorter than this are counted again.
const LEAST_REMEMBERED: usize = 256;

/// A piece of a prompt: what it costs, and a name for it and everything before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub tokens: u64,
    pub chain: u64,
    pub is_breakpoint: bool,
}

/// A prompt, measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measure {
    /// In the order a model reads: tools, system, messages.
    pub segments: Vec<Segment>,
    /// All of it.
    pub prompt: u64,
    /// The part of the tools.
    pub tools: u64,
}

/// Why a request does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// The prompt alone is too large.
    Prompt,
    /// The prompt fits, but not with the reply that is asked for.
    WithOutput(u64),
}

/// Counts, and remembers what it counted: a conversation is sent again and again.
pub(crate) struct Counter {
    tokenizer: Arc<dyn Tokenizer>,
    counted: Mutex<HashMap<u64, u64>>,
}

impl Counter {
    pub fn new(tokenizer: Arc<dyn Tokenizer>) -> Self {
        Self { tokenizer, counted: Mutex::default() }
    }

    /// The tokens of a text.
    pub fn count(&self, text: &str) -> u64 {
        if text.len() < LEAST_REMEMBERED {
            return self.tokenizer.count(text);
        }
        let name = digest(text);
        if let Some(tokens) = self.counted.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return *tokens;
        }
        let tokens = self.tokenizer.count(text);
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.len() >= MOST_REMEMBERED {
            counted.clear();
        }
        counted.insert(name, tokens);
        tokens
    }

    /// The longest beginning of a text that has at most so many tokens.
    pub fn cut<'a>(&self, text: &'a str, most: u64) -> &'a str {
        if self.tokenizer.count(text) <= most {
            return text;
        }
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let head = |end: &usize| text.get(..*end).unwrap_or_default();
        let fitting = ends.partition_point(|end| self.tokenizer.count(head(end)) <= most);
        ends.get(fitting.saturating_sub(1)).map_or("", head)
    }

    /// Measures a prompt.
    pub fn measure(&self, ask: &Ask) -> Measure {
        let mut chain = 0;
        let mut segments = Vec::new();
        let mut push = |tokens: u64, name: u64, is_breakpoint: bool| {
            chain = digest((chain, name));
            segments.push(Segment { tokens, chain, is_breakpoint });
        };
        let mut tools = 0;
        for tool in &ask.tools {
            let schema = tool.schema.to_string();
            let tokens = self.count(&tool.name) + self.count(&tool.description) + self.count(&schema);
            tools += tokens;
            push(tokens, digest((&tool.name, &tool.description, schema)), tool.is_breakpoint);
        }
        let system: Vec<&Block> = ask.system.iter().collect();
        let messages = ask.turns.iter().map(|turn| (turn.speaker as u64 + 1, turn.blocks.iter().collect()));
        let system = (!system.is_empty()).then_some((0, system));
        for (role, blocks) in system.into_iter().chain(messages) {
            let mut frame = PER_MESSAGE;
            for block in blocks {
                let (tokens, name) = self.block(&block.content);
                push(tokens + frame, digest((role, frame, name)), block.is_breakpoint);
                frame = 0;
            }
        }
        let prompt = segments.iter().map(|s| s.tokens).sum::<u64>() + PER_REQUEST;
        Measure { segments, prompt, tools }
    }

    fn block(&self, content: &Content) -> (u64, u64) {
        match content {
            Content::Text(text) => (self.count(text), digest((0, text))),
            Content::Thinking(text) => (self.count(text), digest((1, text))),
            Content::Media { tokens, digest } => (*tokens, *digest),
            Content::Call { name, arguments } => {
                (self.count(name) + self.count(arguments), digest((2, name, arguments)))
            }
            Content::Result { text, media, .. } => (self.count(text) + media, digest((3, text, media))),
        }
    }

    /// What is left of a request that a server cuts silently: the newest messages that fit.
    pub fn truncated(&self, ask: &Ask, window: u64) -> Ask {
        let mut cut = Ask { turns: vec![], ..ask.clone() };
        let mut size = self.measure(&cut).prompt;
        let mut kept: Vec<Turn> = Vec::new();
        for turn in ask.turns.iter().rev() {
            let alone = Ask { turns: vec![turn.clone()], ..Ask::default() };
            size += self.measure(&alone).prompt - PER_REQUEST;
            if size > window && !kept.is_empty() {
                break;
            }
            kept.push(turn.clone());
        }
        kept.reverse();
        cut.turns = kept;
        cut
    }
}

/// Whether the request fits; `output` is the room that has to be left for the reply.
pub(crate) fn check(measure: &Measure, output: u64, window: u64) -> Result<(), Overflow> {
    if measure.prompt > window {
        Err(Overflow::Prompt)
    } else if measure.prompt.saturating_add(output) > window {
        Err(Overflow::WithOutput(output))
    } else {
        Ok(())
    }
}

/// A number that stands for a value.
pub(crate) fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{Speaker, Tool};
    use crate::tokenizer::Compact;
    use serde_json::json;

    fn turn(text: &str) -> Turn {
        Turn { speaker: Speaker::User, blocks: vec![Block::text(text)] }
    }

    fn counter() -> Counter {
        Counter::new(Arc::new(Compact))
    }

    #[test]
    fn the_rule_of_the_sum() {
        let ask = Ask {
            system: vec![Block::text("be kind")],
            turns: vec![turn("one two"), turn("three")],
            tools: vec![Tool {
                name: "f".into(),
                description: "does it".into(),
                schema: json!({}),
                is_breakpoint: false,
            }],
            ..Ask::default()
        };
        let measure = counter().measure(&ask);
        assert_eq!(measure.tools, 1 + 2 + 1);
        assert_eq!(measure.prompt, 3 + measure.tools + (4 + 2) + (4 + 2) + (4 + 1));
    }

    #[test]
    fn the_limit_itself_fits() {
        let measure = Measure { segments: vec![], prompt: 100, tools: 0 };
        assert_eq!(check(&measure, 0, 100), Ok(()));
        assert_eq!(check(&measure, 0, 99), Err(Overflow::Prompt));
        assert_eq!(check(&measure, 10, 110), Ok(()));
        assert_eq!(check(&measure, 11, 110), Err(Overflow::WithOutput(11)));
        assert_eq!(check(&measure, u64::MAX, 110), Err(Overflow::WithOutput(u64::MAX)));
    }

    #[test]
    fn a_cut_is_the_longest_beginning() {
        let counter = counter();
        let text = "one two three four five";
        assert_eq!(counter.cut(text, 5), text);
        assert_eq!(counter.cut(text, 2), "one two");
        assert_eq!(counter.cut(text, 0), "");
        assert_eq!(counter.cut("", 0), "");
    }

    #[test]
    fn truncation_drops_the_oldest() {
        let ask = Ask { turns: vec![turn("one"), turn("two"), turn("three")], ..Ask::default() };
        let left = |window| counter().truncated(&ask, window).turns.len();
        assert_eq!((left(18), left(17), left(8), left(0)), (3, 2, 1, 1));
    }

    #[test]
    fn equal_beginnings_have_equal_chains() {
        let one = Ask { turns: vec![turn("one"), turn("two")], ..Ask::default() };
        let two = Ask { turns: vec![turn("one"), turn("other")], ..Ask::default() };
        let (one, two) = (counter().measure(&one).segments, counter().measure(&two).segments);
        assert_eq!(one[0], two[0]);
        assert_ne!(one[1].chain, two[1].chain);
    }
}
