//! The catalogue in memory, by service and id.

use crate::Facts;
use crate::current::FACTS_OF;
use crate::lines::read;
use crate::pattern::fits;
use crate::snapshot::{Mark, shorter};
use once_cell::sync::Lazy;
use std::borrow::Cow;
use std::collections::HashMap;

static CATALOGUE: Lazy<Vec<Facts>> = Lazy::new(|| read(include_str!("../data/catalogue.jsonl")));

static SHELVES: Lazy<HashMap<&str, Shelf>> = Lazy::new(|| {
    let mut shelves = HashMap::<_, Shelf>::new();
    for facts in CATALOGUE.iter() {
        shelves.entry(facts.service.as_str()).or_default().put(facts);
    }
    shelves
});

/// Everything the catalogue holds, families last.
pub fn all() -> &'static [Facts] {
    &CATALOGUE
}

/// What is known of a model of a service, by an id in lower case: of exactly that model, of the one it is a snapshot of, or
/// of its family.
pub(crate) fn look(service: &str, id: &str) -> Option<Facts> {
    let shelf = SHELVES.get(service)?;
    // OpenRouter writes `claude-opus-5.5`; no name of Anthropic's has a dot.
    let id = if service == "anthropic" { Cow::from(id.replace('.', "-")) } else { Cow::from(id) };
    shelf.model(&id).cloned().or_else(|| shelf.of_snapshot(service, &id)).or_else(|| {
        shelf.families.iter().find(|family| fits(&family.id, &id)).map(|family| (*family).clone())
    })
}

/// The models of one service.
#[derive(Default)]
struct Shelf {
    /// The listed ids, in lower case.
    models: HashMap<String, &'static Facts>,
    /// Names without a day, and the newest listed snapshot of them.
    newest: HashMap<String, &'static Facts>,
    /// In the order in which they are tried.
    families: Vec<&'static Facts>,
}

impl Shelf {
    fn put(&mut self, facts: &'static Facts) {
        if facts.is_family() {
            self.families.push(facts);
            return;
        }
        let id = facts.id.to_ascii_lowercase();
        if let Some(base) = shorter(&facts.service, &id).filter(|found| found.mark != Mark::Word) {
            let newest = self.newest.entry(base.base.to_owned()).or_insert(facts);
            if newest.id < facts.id {
                *newest = facts;
            }
        }
        self.models.insert(id, facts);
    }

    /// What is listed by that name, or by that name with a day.
    fn model(&self, id: &str) -> Option<&'static Facts> {
        self.models.get(id).or_else(|| self.newest.get(id)).copied()
    }

    /// What is known of the model that a name is a snapshot of.
    ///
    /// A name without a day points to the newest snapshot, so no snapshot is switched off later than it: a snapshot that is
    /// not listed takes the day from it, unless it is newer than the facts. From another snapshot it does not.
    fn of_snapshot(&self, service: &str, id: &str) -> Option<Facts> {
        let mut rest = id;
        let mut is_dated = false;
        let mut is_new = false;
        // A day and a word, or a word and a day.
        for _ in 0..2 {
            let found = shorter(service, rest)?;
            rest = found.base;
            is_dated |= found.mark != Mark::Word;
            is_new |= matches!(found.mark, Mark::Day(day) if day.to_string().as_str() > FACTS_OF);
            if let Some(facts) = self.model(rest) {
                let has_day = is_new || is_dated && !self.models.contains_key(rest);
                let ends = if has_day { None } else { facts.ends };
                return Some(Facts { ends, ..facts.clone() });
            }
        }
        None
    }
}
