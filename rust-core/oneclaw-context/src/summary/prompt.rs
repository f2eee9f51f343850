//! The requests that make a summary: one if it fits, else chunks and then merges, every one within the limit of the
//! model that summarises.

use super::digest::within_embedded;
use super::fact_block::Facts;
use super::material::{self, Piece};
use crate::estimate::{Cost, MeasuredRow, Tariff, text};
use crate::groups::Group;
use crate::policy::Style;
use crate::prune::Marks;
use oneclaw_model::{Request, RequestMessage};

/// Below this a chunk cannot say anything.
const LEAST_ROOM: u64 = 96;
/// Below this a part cannot say anything.
const LEAST_PART: u64 = 48;
/// RFC-011 asks for 200-500 words.
const MOST_WORDS: u64 = 500;
const LEAST_WORDS: u64 = 200;
/// No length is written longer than this; frames are measured with it.
const LONGEST_LENGTH: &str = "at most 200-500 words";

/// A request for a summary, and how big it is at most.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryRequest {
    /// What is asked.
    pub request: Request,
    /// Its upper size.
    pub upper: u64,
}

/// Requests that can be made at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// The requests; their answers, in order, are what the next round is made of.
    pub requests: Vec<SummaryRequest>,
    /// Whether the answer of this round (then a single one) is the summary.
    pub is_last: bool,
}

/// How a summary is made.
#[derive(Debug, Clone)]
pub struct SummaryPlan {
    style: Style,
    focus: Option<String>,
    tariff: Tariff,
    /// Longest summary and longest part, in tokens.
    cap: u64,
    part_cap: u64,
    /// Largest request.
    limit: u64,
    /// Divides the words asked for: more after an answer that was cut by length.
    terseness: u64,
    prior: Option<Piece>,
    material: Material,
}

/// The rows as text.
#[derive(Debug, Clone)]
enum Material {
    /// All of it goes into one request, with the prior summary.
    Whole(Piece),
    /// It goes into several; the prior summary joins when they are merged.
    Chunks(Vec<Piece>),
}

/// What is summarised, by whom, and how large it may get.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The rows covered.
    pub rows: &'a [MeasuredRow],
    /// Their groups.
    pub groups: &'a [Group],
    /// Results that requests had shortened before; the summary is made of what the model saw.
    pub marks: &'a Marks,
    /// The summary that stands for what came before them.
    pub prior: Option<&'a str>,
    /// The style asked for.
    pub style: Style,
    /// What the user wants to be looked at in particular.
    pub focus: Option<&'a str>,
    /// Longest summary.
    pub cap: u64,
    /// Largest request the summarising model takes.
    pub limit: u64,
}

impl SummaryPlan {
    /// Plans the requests; `None` where the summarising model is too small to be asked at all.
    pub fn new(job: Job<'_>, tariff: &Tariff) -> Option<Self> {
        // A prior summary's own facts travel in the block that is added afterwards.
        let prior = job.prior.map(|prior| {
            let text = within_embedded(Facts::take_from(prior).0, job.limit / 4, tariff);
            Piece::new(text, tariff)
        });
        let mut plan = Self {
            style: job.style,
            focus: job.focus.map(|focus| within_embedded(focus, job.limit / 8, tariff)),
            tariff: tariff.clone(),
            cap: job.cap,
            part_cap: job.cap,
            limit: job.limit,
            terseness: 1,
            prior,
            material: Material::Chunks(vec![]),
        };
        let room = |plan: &Self, prior: Option<&Piece>| {
            plan.limit.saturating_sub(tariff.upper(plan.frame(prior, Kind::Rows)))
        };
        let whole = room(&plan, plan.prior.as_ref());
        let chunk_room = room(&plan, None);
        if whole < LEAST_ROOM || chunk_room < LEAST_ROOM {
            return None;
        }
        let pieces = material::pieces(job.rows, job.groups, job.marks, chunk_room, tariff);
        if tariff.upper(pieces.iter().map(|p| p.cost).sum()) <= whole {
            plan.material = Material::Whole(pack(pieces, u64::MAX, tariff).pop()?);
            return Some(plan);
        }
        plan.material = Material::Chunks(pack(pieces, chunk_room, tariff));
        let pair_room = plan.merge_room() / 2;
        plan.part_cap = plan.cap.min(pair_room.saturating_sub(tariff.upper(part_frame(tariff)) + 1));
        (plan.part_cap >= LEAST_PART).then_some(plan)
    }

    /// The same plan asking for half as many words: the answer to one that was cut by length.
    pub fn shorter(&self) -> Self {
        Self { terseness: self.terseness * 2, ..self.clone() }
    }

    /// The first requests.
    pub fn first_round(&self) -> Round {
        match &self.material {
            Material::Whole(piece) => {
                let request = self.request(self.prior.as_ref(), Kind::Rows, vec![piece.clone()], self.cap);
                Round { requests: vec![request], is_last: true }
            }
            Material::Chunks(pieces) => {
                let chunk =
                    |piece: &Piece| self.request(None, Kind::Rows, vec![piece.clone()], self.part_cap);
                Round { requests: pieces.iter().map(chunk).collect(), is_last: false }
            }
        }
    }

    /// The requests that merge the answers of the round before.
    pub fn merge_round(&self, answers: &[String]) -> Round {
        let parts = answers.iter().map(|answer| {
            let text = within_embedded(answer, self.part_cap, &self.tariff);
            self.part(Piece::new(text, &self.tariff))
        });
        self.merge(parts.collect())
    }

    /// All rounds, with a placeholder where an answer will stand.
    pub fn preview(&self) -> Vec<SummaryRequest> {
        let mut round = self.first_round();
        let mut all = round.requests.clone();
        while !round.is_last {
            let pending =
                Piece { text: crate::assemble::PLACEHOLDER.into(), cost: self.tariff.cost_of(self.part_cap) };
            round = self.merge(vec![self.part(pending); round.requests.len()]);
            all.extend(round.requests.iter().cloned());
        }
        all
    }

    fn merge(&self, parts: Vec<Piece>) -> Round {
        let each = self.tariff.cost_of(self.part_cap) + part_frame(&self.tariff);
        let at_once = (self.merge_room() / self.tariff.upper(each).max(1)).max(2) as usize;
        if parts.len() <= at_once {
            let request = self.request(self.prior.as_ref(), Kind::Parts, parts, self.cap);
            return Round { requests: vec![request], is_last: true };
        }
        let even = parts.len().div_ceil(parts.len().div_ceil(at_once));
        let batches = parts.chunks(even);
        let requests = batches.map(|b| self.request(None, Kind::Parts, b.to_vec(), self.part_cap)).collect();
        Round { requests, is_last: false }
    }

    /// What a merge leaves for parts, with the prior summary or without.
    fn merge_room(&self) -> u64 {
        let frames = [self.frame(self.prior.as_ref(), Kind::Parts), self.frame(None, Kind::Parts)];
        let largest = frames.into_iter().map(|f| self.tariff.upper(f)).max().unwrap_or(0);
        self.limit.saturating_sub(largest)
    }

    fn part(&self, piece: Piece) -> Piece {
        Piece {
            text: format!("<part>\n{}\n</part>\n", piece.text),
            cost: piece.cost + part_frame(&self.tariff),
        }
    }

    fn request(&self, prior: Option<&Piece>, kind: Kind, pieces: Vec<Piece>, cap: u64) -> SummaryRequest {
        let material: String = pieces.iter().map(|p| p.text.as_str()).collect();
        let cost = self.frame(prior, kind) + pieces.iter().map(|p| p.cost).sum();
        let text = self.around(prior, kind, prior.map_or("", |p| p.text.as_str()), material.trim_end());
        let request = Request {
            system: Some(system(self.style, prior.is_some(), &self.length(cap))),
            tools: vec![],
            messages: vec![RequestMessage::User { text, attachments: vec![] }],
            max_output: Some(cap),
        };
        SummaryRequest { request, upper: self.tariff.upper(cost) }
    }

    /// What a request costs besides its material.
    fn frame(&self, prior: Option<&Piece>, kind: Kind) -> Cost {
        let texts = [system(self.style, prior.is_some(), LONGEST_LENGTH), self.around(prior, kind, "", "")];
        let text = |t: &String| self.tariff.text(text::measure(t));
        let prior_cost = prior.map_or(Cost::ZERO, |p| p.cost);
        texts.iter().map(text).sum::<Cost>()
            + prior_cost
            + Tariff::REQUEST
            + Tariff::MESSAGE
            + Tariff::MESSAGE
    }

    /// How long the answer should be: so that even by the upper estimate its facts have room beside it.
    fn length(&self, cap: u64) -> String {
        match (MOST_WORDS.min(cap / 5 * 2) / self.terseness).max(1) {
            MOST_WORDS => format!("{LEAST_WORDS}-{MOST_WORDS} words"),
            fewer => format!("at most {fewer} words"),
        }
    }

    fn around(&self, prior: Option<&Piece>, kind: Kind, prior_text: &str, material: &str) -> String {
        let (open, close) = match kind {
            Kind::Rows => ("<conversation>\n", "\n</conversation>"),
            Kind::Parts => (include_str!("../../templates/parts.md"), ""),
        };
        let before = match (prior, self.style) {
            (None, _) => String::new(),
            (Some(_), Style::Checkpoint) => {
                format!("## Existing Summary\n\n{prior_text}\n\n## New Conversation\n\n")
            }
            (Some(_), _) => format!(
                "Previous conversation summary:\n{prior_text}\n\nAdditional conversation to incorporate:\n\n"
            ),
        };
        let closing = match self.style {
            Style::Continuation => include_str!("../../templates/closing_continuation.md"),
            _ => include_str!("../../templates/closing.md"),
        };
        let focus =
            self.focus.as_ref().map(|f| format!("\nGive particular care to: {f}")).unwrap_or_default();
        format!("{before}{open}{material}{close}\n\n{}{focus}", closing.trim_end())
    }
}

/// What a request is made of.
#[derive(Clone, Copy)]
enum Kind {
    /// Rows of the conversation.
    Rows,
    /// Answers of earlier requests.
    Parts,
}

/// The style's prompt.
fn system(style: Style, has_prior: bool, length: &str) -> String {
    let template = match (style, has_prior) {
        (Style::Prose, _) => include_str!("../../templates/prose.md"),
        (Style::Structured, _) => include_str!("../../templates/structured.md"),
        (Style::Narrative, _) => include_str!("../../templates/narrative.md"),
        (Style::Checkpoint, false) => include_str!("../../templates/checkpoint.md"),
        (Style::Checkpoint, true) => include_str!("../../templates/checkpoint_update.md"),
        (Style::Continuation, _) => include_str!("../../templates/continuation.md"),
    };
    template.trim_end().replace("{words}", length)
}

fn part_frame(tariff: &Tariff) -> Cost {
    tariff.text(text::measure("<part>\n\n</part>\n"))
}

/// Fills chunks of at most `room` tokens with whole pieces, in order.
fn pack(pieces: Vec<Piece>, room: u64, tariff: &Tariff) -> Vec<Piece> {
    let mut chunks: Vec<Piece> = Vec::new();
    for piece in pieces {
        match chunks.last_mut() {
            Some(chunk) if tariff.upper(chunk.cost + piece.cost) <= room => {
                chunk.text.push_str(&piece.text);
                chunk.cost += piece.cost;
            }
            _ => chunks.push(piece),
        }
    }
    chunks
}
