#![doc = include_str!("../README.md")]

mod baseline;
mod contender;
mod estimates;
mod facts;
mod kinds;
mod ours;
mod pictures;
mod pins;
pub mod report;
mod results;
mod rng;
mod script;
mod service;
mod slack;
pub mod study;
mod summariser;
mod tally;
mod texts;
mod tokens;
mod vocabulary;
mod wire;
mod world;

pub use contender::{CONTENDERS, Contender};
pub use estimates::{ClassErrors, Errors, Estimates};
pub use kinds::{KINDS, Kind};
pub use rng::Rng;
pub use service::Service;
pub use slack::{BySource, SOURCES, Slack, Source};
pub use study::{Results, Study, StudyFault};
pub use summariser::{WRITERS, Writer};
pub use tally::{FactsSeen, Kept, Point, Seen, Tally};
pub use vocabulary::{LoadedVocabulary, VocabularyError};
