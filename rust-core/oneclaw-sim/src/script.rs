//! A conversation as it would go whatever policy is at work: what the user says, what tools return, what the model answers.
//!
//! A script is made from a seed alone, so every policy is put to the same one. Facts are planted in it, and each turn says
//! which of the earlier ones it looks for in the request.

use crate::kinds::Kind;
use crate::rng::Rng;
use crate::service::Service;
use crate::texts::{CODE, NUMBERS, PAGES, PROSE, Texts, WIDE};
use crate::tokens::Tokenizer;
use crate::wire::call_text;
use oneclaw_context::truncate::Shape;
use oneclaw_model::{ModelId, ModelLimits, ToolSpec};
use serde_json::json;
use std::rc::Rc;

/// The longest reply of any model.
const MOST_OUTPUT: u64 = 16_384;
/// The smallest window of a model that is switched to.
const LEAST_WINDOW: u64 = 2_000;
/// From this window on the user pastes a document now and then, whatever the kind: a few dozen turns of talk alone would
/// never fill it.
const LARGE_WINDOW: u64 = 400_000;
/// Texts are scaled with the window, but not below this.
const LEAST_SCALE: f64 = 0.35;
/// Facts are looked for in one of so many turns.
const PROBE_EVERY: u64 = 4;

/// A model of the simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// Its name, which tells the engine whose it is.
    pub id: ModelId,
    /// Its window.
    pub window: u64,
    /// Its longest reply.
    pub max_output: u64,
    /// How it counts.
    pub tokenizer: Tokenizer,
    /// Whether its service says what a request would cost.
    pub has_counting: bool,
    /// Whether estimates of its requests are compared with the truth.
    pub is_studied: bool,
}

impl ModelSpec {
    fn new(name: &str, window: u64, tokenizer: Tokenizer, has_counting: bool) -> Self {
        let max_output = (window / 4).min(MOST_OUTPUT);
        Self { id: name.into(), window, max_output, tokenizer, has_counting, is_studied: true }
    }

    /// What a policy is told about it.
    pub fn limits(&self) -> ModelLimits {
        ModelLimits { window: Some(self.window), input_limit: None, max_output: Some(self.max_output) }
    }
}

/// Who stated a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The user, in passing.
    User,
    /// A tool, in the first line of a result.
    Tool,
    /// The user, in a message that is pinned.
    Pin,
}

/// Something that is stated once and looked for later.
#[derive(Debug, Clone)]
pub struct Fact {
    /// The text that is looked for; no other text has it.
    pub value: String,
    /// Who stated it.
    pub origin: Origin,
}

/// A call and what comes of it.
#[derive(Debug)]
pub struct ToolUse {
    /// Its name in the provider's protocol.
    pub id: String,
    /// The tool.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: String,
    /// All that the tool returns, before any policy shortens it.
    pub output: Rc<str>,
    /// The form of it.
    pub shape: Shape,
    /// A picture beside it.
    pub picture: Option<(u32, u32)>,
}

/// A reply that asks for tools.
#[derive(Debug)]
pub struct Round {
    /// What it says besides.
    pub text: String,
    /// The calls, made side by side.
    pub calls: Vec<ToolUse>,
}

impl Round {
    /// All that the model writes in it, as it is counted.
    pub fn said(&self) -> String {
        let calls = self.calls.iter().map(|call| call_text(call.name, &call.arguments));
        format!("{}{}", self.text, calls.collect::<String>())
    }
}

/// A message of the user and all that follows from it.
#[derive(Debug)]
pub struct Turn {
    /// Which of the script's models answers.
    pub model: usize,
    /// What the user writes.
    pub user: String,
    /// Pictures the user adds.
    pub pictures: Vec<(u32, u32)>,
    /// Whether the user pins it.
    pub is_pinned: bool,
    /// The rounds of tools.
    pub rounds: Vec<Round>,
    /// The reply.
    pub reply: String,
    /// The facts looked for in this turn's last request, as places in [`Script::facts`].
    pub probes: Vec<usize>,
}

/// A whole conversation.
#[derive(Debug)]
pub struct Script {
    /// What it is about.
    pub kind: Kind,
    /// The models that take part; the first has the window of the cell.
    pub models: Vec<ModelSpec>,
    /// The agent's instructions.
    pub system: String,
    /// The tools offered.
    pub tools: Vec<ToolSpec>,
    /// The facts planted, in order.
    pub facts: Vec<Fact>,
    /// The turns.
    pub turns: Vec<Turn>,
}

impl Script {
    /// The script of a kind, a window and a place among its like. Shorter ones are beginnings of longer ones.
    /// What is said does not depend on the service.
    pub fn new(texts: &Texts, kind: Kind, window: u64, rng: Rng, turns: u64, service: &Service) -> Self {
        let has_counting = service.has_counting;
        let mut models = vec![ModelSpec::new(&service.model, window, service.tokenizer(), has_counting)];
        if kind == Kind::Switch {
            let small = (window / 8).max(LEAST_WINDOW);
            let other = ModelSpec::new("gpt-4-sim", small, Tokenizer::Cl100k, has_counting);
            // A study of one vocabulary is not to be watered down by another.
            models.push(ModelSpec { is_studied: service.file.is_none(), ..other });
        }
        let has_tools = !matches!(kind, Kind::Chat);
        let script = Self {
            kind,
            system: "You are a careful assistant. Keep to what the user asked for, name your sources, and say so when \
                     you do not know something."
                .to_owned(),
            tools: if has_tools { tools() } else { vec![] },
            facts: vec![],
            turns: vec![],
            models,
        };
        let least = script.models.iter().map(|m| m.window).min().unwrap_or(window);
        let mut writer = Writer { script, texts, rng, least, model: 0, switch_in: 12 };
        for _ in 0..turns {
            writer.turn();
        }
        writer.script
    }
}

fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str, description: &str, argument: &str| ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]}),
        protected: false,
    };
    vec![
        tool("read_file", "Reads a file of the workspace.", "path"),
        tool("shell", "Runs a command and returns what it printed.", "command"),
        tool("http_request", "Fetches a page.", "url"),
    ]
}

struct Writer<'t> {
    script: Script,
    texts: &'t Texts,
    rng: Rng,
    /// The smallest window that takes part.
    least: u64,
    model: usize,
    switch_in: u64,
}

impl Writer<'_> {
    fn turn(&mut self) {
        let number = self.script.turns.len() as u64;
        self.switch_model();
        let kind = self.script.kind;
        let (speech, results) = match kind {
            Kind::Cjk => (WIDE, WIDE),
            Kind::Tables => (PROSE, NUMBERS),
            Kind::Web => (PROSE, PAGES),
            _ => (PROSE, CODE),
        };
        let probes = self.probes(number);
        let is_paste = kind == Kind::Paste && number % 17 == 4;
        let is_burst = kind == Kind::Bursts && number % 23 >= 18;
        let is_document = self.least >= LARGE_WINDOW && number % 6 == 3;
        // What is pinned is short, however large the window is.
        let is_pinned = number > 0 && !(is_paste || is_burst || is_document) && self.rng.percent(2);
        let mut user = match is_pinned {
            true => self.texts.draw(&mut self.rng, speech, 20),
            false => self.text(speech, 12, 60),
        };
        if kind == Kind::Tables && !is_pinned && self.rng.percent(30) {
            user = format!("{user}\n{}", self.text(NUMBERS, 40, 400));
        }
        if is_paste {
            let share = self.rng.between(15, 110);
            let corpora = if self.rng.percent(50) { PAGES } else { CODE };
            user = format!("{user}\n{}", self.texts.draw(&mut self.rng, corpora, self.least * share / 100));
        }
        if is_document {
            let tokens = self.least * self.rng.between(3, 8) / 100;
            user = format!("{user}\n{}", self.texts.draw(&mut self.rng, results, tokens));
        }
        if is_burst {
            let tokens = self.least * self.rng.between(6, 14) / 100;
            user = format!("{user}\n{}", self.texts.draw(&mut self.rng, CODE, tokens));
        }
        if is_pinned || self.rng.percent(30) {
            let origin = if is_pinned { Origin::Pin } else { Origin::User };
            let sentence = self.plant(origin);
            user = format!("{user}\n{sentence}");
        }
        let pictures = self.pictures();
        let rounds = self.rounds(kind, results, is_burst);
        let reply = match kind {
            Kind::Coding | Kind::Web => self.reply(PROSE, 40, 200),
            _ => self.reply(speech, 60, 320),
        };
        let model = self.model;
        self.script.turns.push(Turn { model, user, pictures, is_pinned, rounds, reply, probes });
    }

    fn switch_model(&mut self) {
        if self.script.models.len() < 2 {
            return;
        }
        self.switch_in = self.switch_in.saturating_sub(1);
        if self.switch_in == 0 {
            self.model = (self.model + 1) % self.script.models.len();
            self.switch_in = self.rng.between(8, 40);
        }
    }

    /// How many rounds of tools, and what is in them.
    fn rounds(&mut self, kind: Kind, results: &[&str], is_burst: bool) -> Vec<Round> {
        let count = match kind {
            Kind::Chat => 0,
            Kind::Coding if self.rng.percent(50) => self.rng.between(1, 5),
            Kind::Web if self.rng.percent(45) => self.rng.between(1, 2),
            Kind::Bursts if is_burst => self.rng.between(1, 3),
            Kind::Switch if self.rng.percent(40) => self.rng.between(1, 3),
            Kind::Tables | Kind::Cjk | Kind::Images if self.rng.percent(25) => 1,
            _ => 0,
        };
        (0..count).map(|round| self.round(kind, results, round)).collect()
    }

    fn round(&mut self, kind: Kind, results: &[&str], round: u64) -> Round {
        let side_by_side = match kind {
            Kind::Coding | Kind::Switch => self.rng.between(1, 3),
            _ => 1 + u64::from(self.rng.percent(15)),
        };
        let text = if self.rng.percent(40) { self.text(PROSE, 6, 24) } else { String::new() };
        let turn = self.script.turns.len();
        let calls = (0..side_by_side).map(|place| {
            let number = self.rng.between(1, 9_999);
            let (name, argument, shape) = match kind {
                Kind::Web => ("http_request", format!("https://example.org/p/{number}"), Shape::Generic),
                _ if self.rng.percent(50) => ("shell", format!("make check-{number}"), Shape::HeadTail),
                _ => ("read_file", format!("src/part_{number}.rs"), Shape::FileContent),
            };
            let key = match name {
                "http_request" => "url",
                "shell" => "command",
                _ => "path",
            };
            let output = self.output(kind, results);
            let has_picture = kind == Kind::Images && self.rng.percent(40);
            ToolUse {
                id: format!("call_{turn}_{round}_{place}"),
                name,
                arguments: json!({key: argument}).to_string(),
                output: output.into(),
                shape,
                picture: has_picture.then(|| self.picture()),
            }
        });
        Round { text, calls: calls.collect() }
    }

    /// What a tool returns. Pages do not care how large anybody's window is.
    fn output(&mut self, kind: Kind, results: &[&str]) -> String {
        let fact =
            if self.rng.percent(12) { format!("{}\n", self.plant(Origin::Tool)) } else { String::new() };
        let body = match kind {
            Kind::Web => {
                let tokens = if self.rng.percent(3) {
                    self.rng.between(60_000, 120_000)
                } else {
                    self.rng.between(1_000, 8_000)
                };
                self.texts.draw(&mut self.rng, results, tokens)
            }
            Kind::Coding if self.rng.percent(15) => self.returned(results, 1_500, 6_000),
            _ => self.returned(results, 80, 900),
        };
        format!("{fact}{body}")
    }

    fn pictures(&mut self) -> Vec<(u32, u32)> {
        if self.script.kind != Kind::Images || !self.rng.percent(30) {
            return vec![];
        }
        let most = if self.least < 16_000 { 1 } else { 4 };
        (0..self.rng.between(1, most)).map(|_| self.picture()).collect()
    }

    fn picture(&mut self) -> (u32, u32) {
        let sizes: &[(u32, u32)] = if self.least < 8_000 {
            &[(256, 256), (400, 300), (512, 512)]
        } else {
            &[(256, 256), (640, 480), (1_024, 1_024), (1_920, 1_080), (3_000, 4_000)]
        };
        self.rng.pick(sizes).copied().unwrap_or((512, 512))
    }

    /// A text between so many tokens on a window of 16,000; more on larger ones, which fill in as many turns, and somewhat
    /// less on smaller ones.
    fn text(&mut self, corpora: &[&str], low: u64, high: u64) -> String {
        self.scaled(corpora, low, high, self.speech(), u64::MAX)
    }

    /// The same, and no longer than models answer.
    fn reply(&mut self, corpora: &[&str], low: u64, high: u64) -> String {
        let longest = self.script.models.iter().map(|m| m.max_output).min().unwrap_or(MOST_OUTPUT);
        self.scaled(corpora, low, high, self.speech(), longest / 2)
    }

    /// What tools return grows more slowly than the window.
    fn returned(&mut self, corpora: &[&str], low: u64, high: u64) -> String {
        self.scaled(corpora, low, high, self.share().sqrt().max(LEAST_SCALE), u64::MAX)
    }

    /// The smallest window as a share of 16,000.
    fn share(&self) -> f64 {
        self.least as f64 / 16_000.0
    }

    fn speech(&self) -> f64 {
        self.share().max(self.share().sqrt()).max(LEAST_SCALE)
    }

    fn scaled(&mut self, corpora: &[&str], low: u64, high: u64, scale: f64, most: u64) -> String {
        let tokens = (self.rng.between(low, high) as f64 * scale) as u64;
        self.texts.draw(&mut self.rng, corpora, tokens.clamp(4, most))
    }

    /// A sentence with a new fact.
    fn plant(&mut self, origin: Origin) -> String {
        let number = self.script.facts.len();
        let chance = self.rng.between(100, 999);
        let (value, sentence) = match (origin, self.rng.between(0, 3)) {
            (Origin::Tool, _) => {
                let value = format!("BLD-{number}-{chance}");
                (value.clone(), format!("build_id={value}"))
            }
            (_, 0) => {
                let value = format!("/srv/{chance}/release-{number}/app.toml");
                (value.clone(), format!("Remember: the settings are in {value}"))
            }
            (_, 1) => {
                let value = format!("https://tickets.example/{number}/T-{chance}");
                (value.clone(), format!("Remember: the ticket is {value}"))
            }
            (_, 2) => {
                let value = format!("never merge to branch-{number}-{chance}");
                (value.clone(), format!("Remember: {value}."))
            }
            _ => {
                let value = format!("INV-{number}-{chance}");
                (value.clone(), format!("Remember: the invoice is {value}."))
            }
        };
        self.script.facts.push(Fact { value, origin });
        sentence
    }

    /// Some of the facts so far: mostly the user's, and every pin.
    fn probes(&mut self, number: u64) -> Vec<usize> {
        if number % PROBE_EVERY != PROBE_EVERY - 1 {
            return vec![];
        }
        let places = |origin: Origin| -> Vec<usize> {
            let facts = self.script.facts.iter().enumerate();
            facts.filter(|(_, fact)| fact.origin == origin).map(|(place, _)| place).collect()
        };
        let mut probes = places(Origin::Pin);
        for (origin, most) in [(Origin::User, 4), (Origin::Tool, 2)] {
            let places = places(origin);
            for _ in 0..most {
                probes.extend(self.rng.pick(&places).filter(|_| !places.is_empty()));
            }
        }
        probes.sort_unstable();
        probes.dedup();
        probes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::KINDS;
    use oneclaw_context::summary::facts;

    #[test]
    fn a_shorter_script_is_the_beginning_of_a_longer_one() {
        let texts = Texts::new(3);
        for kind in KINDS {
            let long = Script::new(&texts, kind, 8_000, Rng::of(5, &[1]), 30, &Service::default());
            let short = Script::new(&texts, kind, 8_000, Rng::of(5, &[1]), 12, &Service::default());
            for (a, b) in short.turns.iter().zip(&long.turns) {
                assert_eq!(format!("{a:?}"), format!("{b:?}"));
            }
        }
    }

    #[test]
    fn the_engine_finds_what_is_planted() {
        let texts = Texts::new(3);
        let mut looked_for = 0;
        for kind in KINDS {
            let script = Script::new(&texts, kind, 16_000, Rng::of(5, &[2]), 60, &Service::default());
            for turn in &script.turns {
                let found = facts::find(&turn.user);
                // A text may have more facts than the engine takes of one, or end in code, where sentences are none.
                if found.len() + facts::MAX_SENTENCES >= facts::MAX_FACTS || turn.user.contains("```") {
                    continue;
                }
                for fact in script.facts.iter().filter(|fact| turn.user.contains(&fact.value)) {
                    looked_for += 1;
                    assert!(found.iter().any(|f| f.contains(&fact.value)), "{} in {found:?}", fact.value);
                }
            }
        }
        assert!(looked_for > 100, "{looked_for}");
    }
}
