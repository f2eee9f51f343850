//! Prompts as a service sees them: messages whose tokens are counted once, compared with the last prompt for its cache.

use crate::tokens::{Counter, TOKENIZERS, Tokenizer};
use oneclaw_model::{Attachment, Request, RequestMessage, ToolSpec};
use std::cell::Cell;
use std::rc::Rc;

/// What a message costs besides its texts.
const PER_MESSAGE: u64 = 4;
/// What a call costs besides its texts.
const PER_CALL: u64 = 8;
/// What a tool costs besides its texts.
const PER_TOOL: u64 = 7;
/// What a prompt costs besides its messages and tools.
const PER_PROMPT: u64 = 3;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The instructions.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool.
    Result,
}

/// A call of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallText {
    /// Its name in the protocol.
    pub id: String,
    /// Tool and arguments.
    pub text: String,
}

/// One message.
#[derive(Debug)]
pub struct Item {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: Rc<str>,
    /// The calls asked for.
    pub calls: Vec<CallText>,
    /// The call answered.
    pub answers: Option<String>,
    /// Width and height of pictures.
    pub pictures: Vec<(u32, u32)>,
    counted: Cell<[Option<u64>; TOKENIZERS]>,
}

impl Item {
    /// A message of text only.
    pub fn new(role: Role, text: impl Into<Rc<str>>) -> Self {
        Self {
            role,
            text: text.into(),
            calls: vec![],
            answers: None,
            pictures: vec![],
            counted: Cell::default(),
        }
    }

    /// With calls.
    pub fn calling(self, calls: Vec<CallText>) -> Self {
        Self { calls, ..self }
    }

    /// As the answer to a call.
    pub fn answering(self, call: impl Into<String>) -> Self {
        Self { answers: Some(call.into()), ..self }
    }

    /// With pictures.
    pub fn showing(self, pictures: Vec<(u32, u32)>) -> Self {
        Self { pictures, ..self }
    }

    /// What it costs, counted when it is first asked for.
    pub fn tokens(&self, tokenizer: &Tokenizer, counter: &mut Counter) -> u64 {
        let mut counted = self.counted.get();
        if let Some(Some(tokens)) = counted.get(tokenizer.index()) {
            return *tokens;
        }
        let calls: u64 = self.calls.iter().map(|call| counter.count(tokenizer, &call.text)).sum();
        let tokens = counter.count(tokenizer, &self.text) + calls + self.around(tokenizer);
        if let Some(place) = counted.get_mut(tokenizer.index()) {
            *place = Some(tokens);
        }
        self.counted.set(counted);
        tokens
    }

    /// What its words cost as part of a transcript.
    pub fn words(&self, tokenizer: &Tokenizer, counter: &mut Counter) -> u64 {
        self.tokens(tokenizer, counter) - self.around(tokenizer)
    }

    /// What it costs besides its words.
    fn around(&self, tokenizer: &Tokenizer) -> u64 {
        let pictures: u64 = self.pictures.iter().map(|size| tokenizer.picture(*size)).sum();
        PER_MESSAGE + PER_CALL * self.calls.len() as u64 + pictures
    }

    fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || (self.role == other.role
                && self.text == other.text
                && self.calls == other.calls
                && self.answers == other.answers
                && self.pictures == other.pictures)
    }
}

/// A prompt: what a service is asked.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// Instructions and messages in order.
    pub items: Vec<Rc<Item>>,
    /// What the tools offered cost.
    pub tools: u64,
    /// The output asked for, where the policy says.
    pub max_output: Option<u64>,
}

/// What is wrong with the calls and results of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Faults<'p> {
    /// Results whose call is not in the message before them, by the name of the call.
    pub orphans: Vec<&'p str>,
    /// Calls that no result follows.
    pub unanswered: u64,
}

impl Prompt {
    /// The size of the whole.
    pub fn tokens(&self, tokenizer: &Tokenizer, counter: &mut Counter) -> u64 {
        self.items.iter().map(|item| item.tokens(tokenizer, counter)).sum::<u64>() + self.tools + PER_PROMPT
    }

    /// The size of the part that is the same as in an earlier prompt.
    pub fn shared_with(&self, earlier: &Self, tokenizer: &Tokenizer, counter: &mut Counter) -> u64 {
        if self.tools != earlier.tools {
            return 0;
        }
        let pairs = self.items.iter().zip(&earlier.items);
        let same = pairs.take_while(|(new, old)| new.is_same(old));
        self.tools + same.map(|(item, _)| item.tokens(tokenizer, counter)).sum::<u64>()
    }

    /// What services refuse a prompt for besides its size.
    pub fn faults(&self) -> Faults<'_> {
        let mut faults = Faults::default();
        let mut open: Vec<&str> = vec![];
        for item in &self.items {
            match &item.answers {
                Some(call) => match open.iter().position(|id| *id == call.as_str()) {
                    Some(place) => drop(open.swap_remove(place)),
                    None => faults.orphans.push(call),
                },
                None => {
                    faults.unanswered += open.len() as u64;
                    open = item.calls.iter().map(|call| call.id.as_str()).collect();
                }
            }
        }
        faults.unanswered += open.len() as u64;
        faults
    }

    /// Whether the model can read this somewhere.
    pub fn shows(&self, value: &str) -> bool {
        let finder = memchr::memmem::Finder::new(value);
        self.items.iter().rev().any(|item| finder.find(item.text.as_bytes()).is_some())
    }

    /// The engine's request as a prompt; messages that stand where they stood in `earlier` are not counted again.
    pub fn of_request(request: Request, tools: u64, earlier: &Self) -> Self {
        let system = request.system.map(|text| Item::new(Role::System, text));
        let items = system.into_iter().chain(request.messages.into_iter().map(item));
        let items = items.enumerate().map(|(place, item)| match earlier.items.get(place) {
            Some(old) if old.is_same(&item) => old.clone(),
            _ => Rc::new(item),
        });
        Self { items: items.collect(), tools, max_output: request.max_output }
    }
}

fn item(message: RequestMessage) -> Item {
    let sizes = |attachments: &[Attachment]| {
        let images = attachments.iter().filter(|a| a.is_image());
        images.map(|a| (a.width.unwrap_or(1), a.height.unwrap_or(1))).collect()
    };
    match message {
        RequestMessage::User { text, attachments } => {
            Item { pictures: sizes(&attachments), ..Item::new(Role::User, text) }
        }
        RequestMessage::Assistant { text, calls, .. } => {
            let calls = calls.into_iter();
            let calls = calls.map(|c| CallText { id: c.id.0, text: call_text(&c.name, &c.arguments) });
            Item { calls: calls.collect(), ..Item::new(Role::Assistant, text) }
        }
        RequestMessage::ToolResult { call, text, attachments, .. } => {
            Item { answers: Some(call.0), pictures: sizes(&attachments), ..Item::new(Role::Result, text) }
        }
    }
}

/// Tool and arguments as they are counted.
pub fn call_text(name: &str, arguments: &str) -> String {
    format!("{name}\n{arguments}")
}

/// What the tools offered cost.
pub fn tools_tokens(tools: &[ToolSpec], tokenizer: &Tokenizer, counter: &mut Counter) -> u64 {
    let texts = |tool: &ToolSpec| [tool.name.clone(), tool.description.clone(), tool.parameters.to_string()];
    let one =
        |tool: &ToolSpec| texts(tool).iter().map(|t| counter.count(tokenizer, t)).sum::<u64>() + PER_TOOL;
    tools.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_results_have_to_stand_together() {
        let call = |id: &str| {
            let calls = vec![CallText { id: id.into(), text: "f\n{}".into() }];
            Rc::new(Item { calls, ..Item::new(Role::Assistant, "") })
        };
        let result = |id: &str| Rc::new(Item { answers: Some(id.into()), ..Item::new(Role::Result, "r") });
        let user = Rc::new(Item::new(Role::User, "u"));
        let prompt = |items: &[&Rc<Item>]| Prompt {
            items: items.iter().map(|i| (*i).clone()).collect(),
            ..Prompt::default()
        };
        assert_eq!(prompt(&[&user, &call("a"), &result("a"), &user]).faults(), Faults::default());
        let torn = Faults { orphans: vec!["a"], unanswered: 0 };
        assert_eq!(prompt(&[&result("a"), &user]).faults(), torn);
        assert_eq!(prompt(&[&call("a"), &user, &result("a")]).faults(), Faults { unanswered: 1, ..torn });
    }

    #[test]
    fn a_transcript_has_neither_pictures_nor_anything_around_its_messages() {
        let mut counter = Counter::default();
        let call = CallText { id: "a".into(), text: "f\n{}".into() };
        let item = Item::new(Role::User, "two words").calling(vec![call]).showing(vec![(1_024, 1_024)]);
        let words = counter.count(&Tokenizer::O200k, "two words") + counter.count(&Tokenizer::O200k, "f\n{}");
        assert_eq!(item.words(&Tokenizer::O200k, &mut counter), words);
        assert_eq!(item.tokens(&Tokenizer::O200k, &mut counter), words + PER_MESSAGE + PER_CALL + 765);
    }
}
