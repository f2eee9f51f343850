//! A run: which conversations are held, under which policies, and what came of it.
//!
//! Turns are dealt out over windows, kinds and writers of summaries. Every policy is put to the same conversations; threads
//! change how long it takes, not what comes out.

use crate::contender::Contender;
use crate::estimates;
use crate::kinds::{KINDS, Kind};
use crate::results::{self, Gathered};
use crate::rng::Rng;
use crate::script::Script;
use crate::service::Service;
use crate::summariser::{WRITERS, Writer};
use crate::tally::TurnCost;
use crate::texts::Texts;
use crate::tokens::{Counter, Tokenizer};
use crate::world::World;
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use crate::results::{Cell, Drawing, KindErrors, Pair, Results};

/// No conversation is longer.
const MOST_TURNS: u64 = 400;
/// Turns of the conversation that is drawn.
const DRAWN_TURNS: u64 = 100;
/// The window it is drawn on, or the nearest.
const DRAWN_WINDOW: u64 = 16_000;
/// Rows between two requests whose estimates are looked at: each look costs as much as a plan or two.
const SAMPLE_EVERY: u64 = 20;
/// The windows looked at where none are named.
pub const WINDOWS: [u64; 8] = [2_000, 4_000, 8_000, 16_000, 32_000, 128_000, 200_000, 1_000_000];

/// What is to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// Where all chance comes from.
    pub seed: u64,
    /// Turns per policy in the comparison, about.
    pub turns: u64,
    /// Turns of our default alone, on the same seeds and beyond; 0 for none.
    pub soak: u64,
    /// Kinds of conversation.
    pub kinds: Vec<Kind>,
    /// Windows in tokens.
    pub windows: Vec<u64>,
    /// Policies.
    pub policies: Vec<Contender>,
    /// Who answers; the small model of the kind `switch` is always cl100k's.
    pub service: Service,
    /// Estimates of our default are compared with the truth once in so many rows.
    pub sample_every: u64,
    /// Threads at work.
    #[serde(skip)]
    pub threads: usize,
}

/// Why a study cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StudyFault {
    /// Nothing to do.
    #[error("a simulation needs at least one turn, kind, window and policy")]
    Empty,
    /// No tokenizer, no truth.
    #[error("the tokenizer's vocabulary cannot be read")]
    NoTokenizer,
}

impl Study {
    /// All kinds, windows and policies.
    pub fn new(seed: u64, turns: u64) -> Self {
        Self {
            seed,
            turns,
            soak: 0,
            kinds: KINDS.to_vec(),
            windows: WINDOWS.to_vec(),
            policies: crate::contender::CONTENDERS.to_vec(),
            service: Service::default(),
            sample_every: SAMPLE_EVERY,
            threads: 1,
        }
    }

    /// The same for the sake of its estimates: under our default alone, and every request is looked at.
    pub fn of_estimates(self) -> Self {
        Self { policies: vec![Contender::Oneclaw], sample_every: 1, ..self }
    }

    /// How many turns will be played, about.
    pub fn work(&self) -> u64 {
        let turns = |jobs: Vec<Job>| jobs.iter().map(|job| job.turns * WRITERS.len() as u64).sum::<u64>();
        turns(self.jobs(self.turns)) * self.policies.len() as u64 + turns(self.jobs(self.soak))
    }

    /// Runs it. `progress` is told of turns played, from any thread.
    pub fn run(&self, progress: &(dyn Fn(u64) + Sync)) -> Result<Results, StudyFault> {
        if self.turns == 0 || self.kinds.is_empty() || self.windows.is_empty() || self.policies.is_empty() {
            return Err(StudyFault::Empty);
        }
        // Texts are cut by o200k, whoever counts them later.
        if !Tokenizer::O200k.is_there() || !Tokenizer::Cl100k.is_there() || !self.service.is_there() {
            return Err(StudyFault::NoTokenizer);
        }
        let texts = Texts::new(self.seed);
        let compared = self.all(&texts, self.turns, &self.policies, progress);
        let soak = self.all(&texts, self.soak, &[Contender::Oneclaw], progress);
        let drawn_kind = if self.kinds.contains(&Kind::Coding) {
            Kind::Coding
        } else {
            self.kinds.first().copied().unwrap_or(Kind::Chat)
        };
        let nearest = self.windows.iter().min_by_key(|window| window.abs_diff(DRAWN_WINDOW));
        let drawn_window = nearest.copied().unwrap_or(DRAWN_WINDOW);
        let drawings = self.draw(&texts, drawn_kind, drawn_window);
        Ok(Results {
            study: self.clone(),
            cells: compared.cells,
            pairs: compared.pairs,
            soak: soak.cells,
            drawn_kind,
            drawn_window,
            drawings,
            by_kind: if soak.by_kind.is_empty() { compared.by_kind } else { soak.by_kind },
            by_class: estimates::by_class(self.seed, &self.service),
        })
    }

    /// The conversations of so many turns.
    fn jobs(&self, turns: u64) -> Vec<Job> {
        let weights: u64 = self.windows.iter().map(|window| weight(*window)).sum();
        let mut jobs = Vec::new();
        for &window in &self.windows {
            let places = self.kinds.len() as u64 * WRITERS.len() as u64 * weights;
            let per_cell = (turns * weight(window)).div_ceil(places.max(1));
            for &kind in &self.kinds {
                let lengths =
                    (0..per_cell.div_ceil(MOST_TURNS)).map(|i| MOST_TURNS.min(per_cell - i * MOST_TURNS));
                jobs.extend(lengths.zip(0..).map(|(turns, index)| Job { kind, window, index, turns }));
            }
        }
        // The slowest first, so that no thread is left with one at the end.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.window));
        jobs
    }

    fn all(
        &self,
        texts: &Texts,
        turns: u64,
        policies: &[Contender],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Gathered {
        let jobs = self.jobs(turns);
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Gathered)>> = Mutex::new(Vec::new());
        let work = || {
            let mut counter = Counter::default();
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(place) else { break };
                let gathered = self.play(texts, job, policies, &mut counter, progress);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((place, gathered));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads.max(1) {
                scope.spawn(work);
            }
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(place, _)| *place);
        let mut all = Gathered::default();
        done.into_iter().for_each(|(_, gathered)| all.merge(gathered));
        all.cells.sort_by_key(|cell| (cell.policy, cell.window, cell.kind, cell.writer));
        all.pairs.sort_by_key(|pair| (pair.preset, pair.document, pair.window, pair.kind, pair.writer));
        all.by_kind.sort_by_key(|errors| errors.kind);
        all
    }

    /// One conversation under every policy, with every writer.
    fn play(
        &self,
        texts: &Texts,
        job: &Job,
        policies: &[Contender],
        counter: &mut Counter,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Gathered {
        let script = self.script(texts, job);
        let mut gathered = Gathered::default();
        for writer in WRITERS {
            let mut costs: Vec<(Contender, Vec<TurnCost>)> = Vec::new();
            for &policy in policies {
                let rng = Rng::of(self.seed, &[3, job.kind as u64, job.window, job.index, writer as u64]);
                let mut world = World::new(counter, &script, writer, rng);
                let mut play = policy.play(&script, self.sample_every);
                for turn in &script.turns {
                    let outcome = play.turn(turn, &mut world);
                    world.end_turn(turn, outcome);
                }
                world.end();
                let (kind, window) = (job.kind, job.window);
                costs.push((policy, std::mem::take(&mut world.costs)));
                gathered.cells.push(Cell {
                    policy,
                    kind,
                    window,
                    writer,
                    tally: std::mem::take(&mut world.tally),
                });
                gathered.by_kind.extend(play.estimates().map(|errors| KindErrors { kind, errors }));
                progress(job.turns);
            }
            gathered.pairs.extend(results::pairs(job.kind, job.window, writer, &costs));
        }
        gathered
    }

    fn script(&self, texts: &Texts, job: &Job) -> Script {
        let rng = Rng::of(self.seed, &[2, job.kind as u64, job.window, job.index]);
        Script::new(texts, job.kind, job.window, rng, job.turns, &self.service)
    }

    fn draw(&self, texts: &Texts, kind: Kind, window: u64) -> Vec<Drawing> {
        let script = self.script(texts, &Job { kind, window, index: 0, turns: DRAWN_TURNS });
        let mut counter = Counter::default();
        let mut drawings = Vec::new();
        for &policy in &self.policies {
            let rng = Rng::of(self.seed, &[3, kind as u64, window, 0, Writer::Good as u64]);
            let mut world = World::new(&mut counter, &script, Writer::Good, rng);
            world.points = Some(vec![]);
            let mut play = policy.play(&script, self.sample_every);
            for turn in &script.turns {
                let outcome = play.turn(turn, &mut world);
                world.end_turn(turn, outcome);
            }
            drawings.push(Drawing { policy, points: world.points.take().unwrap_or_default() });
        }
        drawings
    }
}

/// Large windows take long to fill and to plan: they get fewer turns.
fn weight(window: u64) -> u64 {
    match window {
        0..=32_000 => 4,
        32_001..=200_000 => 2,
        _ => 1,
    }
}

/// One conversation.
#[derive(Debug, Clone, Copy)]
struct Job {
    kind: Kind,
    window: u64,
    index: u64,
    turns: u64,
}
