//! What came of a run, and how it is put together from conversations.

use crate::contender::Contender;
use crate::estimates::{ClassErrors, Estimates};
use crate::kinds::Kind;
use crate::slack::BySource;
use crate::study::Study;
use crate::summariser::Writer;
use crate::tally::{Point, Sums, Tally, TurnCost};
use serde::{Deserialize, Serialize};

/// The figures of one policy on one kind, window and writer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The policy.
    pub policy: Contender,
    /// The kind.
    pub kind: Kind,
    /// The window.
    pub window: u64,
    /// Who wrote the summaries.
    pub writer: Writer,
    /// What was counted.
    pub tally: Tally,
}

/// A preset of ours and a document on the turns that both completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Our preset.
    pub preset: Contender,
    /// The document.
    pub document: Contender,
    /// The kind.
    pub kind: Kind,
    /// The window.
    pub window: u64,
    /// Who wrote the summaries.
    pub writer: Writer,
    /// Turns that both completed.
    pub turns: u64,
    /// Turns that only ours completed.
    pub only_ours: u64,
    /// Turns that only the document completed.
    pub only_document: u64,
    /// Ours, on the turns that both completed.
    pub ours: Sums,
    /// The document's.
    pub theirs: Sums,
}

/// The requests of one conversation under one policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drawing {
    /// The policy.
    pub policy: Contender,
    /// Its requests.
    pub points: Vec<Point>,
}

/// How far estimates were off in conversations of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KindErrors {
    /// The kind.
    pub kind: Kind,
    /// By each way of estimating.
    pub errors: Estimates,
}

/// What came of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// What was run.
    pub study: Study,
    /// Figures of the comparison.
    pub cells: Vec<Cell>,
    /// Ours against the documents, turn by turn.
    pub pairs: Vec<Pair>,
    /// Figures of our default alone.
    pub soak: Vec<Cell>,
    /// The conversation that is drawn: its kind, window, and requests by policy.
    pub drawn_kind: Kind,
    /// Its window.
    pub drawn_window: u64,
    /// Its requests.
    pub drawings: Vec<Drawing>,
    /// Estimates in conversations.
    pub by_kind: Vec<KindErrors>,
    /// Estimates of texts.
    pub by_class: Vec<ClassErrors>,
}

impl Results {
    /// All figures of a policy, as far as a cell is wanted.
    pub fn total(&self, policy: Contender, is_wanted: impl Fn(&Cell) -> bool) -> Tally {
        sum(self.cells.iter().filter(|cell| cell.policy == policy && is_wanted(cell)))
    }

    /// All figures of our default alone.
    pub fn soak_total(&self) -> Tally {
        sum(self.soak.iter())
    }

    /// The slack of all requests whose estimates were looked at.
    pub fn by_source(&self) -> BySource {
        let mut total = BySource::default();
        self.by_kind.iter().for_each(|kind| total.merge(&kind.errors.upper));
        total
    }

    /// A preset against a document, as far as a pair is wanted.
    pub fn pair(
        &self,
        preset: Contender,
        document: Contender,
        is_wanted: impl Fn(&Pair) -> bool,
    ) -> Option<Pair> {
        let mut pairs = self
            .pairs
            .iter()
            .filter(|pair| pair.preset == preset && pair.document == document && is_wanted(pair));
        let first = *pairs.next()?;
        Some(pairs.fold(first, Pair::plus))
    }
}

impl Pair {
    /// Both together; kind, window and writer are those of the first.
    fn plus(mut self, other: &Self) -> Self {
        self.turns += other.turns;
        self.only_ours += other.only_ours;
        self.only_document += other.only_document;
        self.ours.add(&other.ours);
        self.theirs.add(&other.theirs);
        self
    }
}

fn sum<'a>(cells: impl Iterator<Item = &'a Cell>) -> Tally {
    let mut total = Tally::default();
    cells.for_each(|cell| total.add(&cell.tally));
    total
}

/// Our presets against their rivals on one conversation.
pub fn pairs(kind: Kind, window: u64, writer: Writer, costs: &[(Contender, Vec<TurnCost>)]) -> Vec<Pair> {
    let of = |policy: Contender| costs.iter().find(|(p, _)| *p == policy).map(|(_, costs)| costs);
    let mut pairs = Vec::new();
    for (preset, ours) in costs.iter().filter(|(preset, _)| preset.is_ours()) {
        for (document, theirs) in preset.rivals().into_iter().filter_map(|rival| Some((rival, of(rival)?))) {
            let mut pair = Pair {
                preset: *preset,
                document,
                kind,
                window,
                writer,
                turns: 0,
                only_ours: 0,
                only_document: 0,
                ours: Sums::default(),
                theirs: Sums::default(),
            };
            for (a, b) in ours.iter().zip(theirs) {
                match (a.is_completed, b.is_completed) {
                    (true, true) => {
                        pair.turns += 1;
                        pair.ours.add(&a.sums);
                        pair.theirs.add(&b.sums);
                    }
                    (true, false) => pair.only_ours += 1,
                    (false, true) => pair.only_document += 1,
                    (false, false) => {}
                }
            }
            pairs.push(pair);
        }
    }
    pairs
}

/// Results on their way.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Figures.
    pub cells: Vec<Cell>,
    /// Comparisons.
    pub pairs: Vec<Pair>,
    /// Estimates.
    pub by_kind: Vec<KindErrors>,
}

impl Gathered {
    /// Adds those of another conversation.
    pub fn merge(&mut self, other: Self) {
        for cell in other.cells {
            let same = |c: &&mut Cell| {
                (c.policy, c.kind, c.window, c.writer) == (cell.policy, cell.kind, cell.window, cell.writer)
            };
            match self.cells.iter_mut().find(same) {
                Some(known) => known.tally.add(&cell.tally),
                None => self.cells.push(cell),
            }
        }
        for pair in other.pairs {
            let name = |p: &Pair| (p.preset, p.document, p.kind, p.window, p.writer);
            let same = |p: &&mut Pair| name(p) == name(&pair);
            match self.pairs.iter_mut().find(same) {
                Some(known) => *known = known.plus(&pair),
                None => self.pairs.push(pair),
            }
        }
        for errors in other.by_kind {
            match self.by_kind.iter_mut().find(|known| known.kind == errors.kind) {
                Some(known) => known.errors.merge(&errors.errors),
                None => self.by_kind.push(errors),
            }
        }
    }
}
