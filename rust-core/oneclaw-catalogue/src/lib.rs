#![doc = include_str!("../README.md")]

mod current;
mod facts;
mod find;
mod index;
mod lines;
mod pattern;
mod snapshot;
mod vendor;

pub use current::{FACTS_OF, current};
pub use facts::{Ability, Cache, Date, Facts, Prices, Rates, Reasoning, Refusal, ThinkingType, Tier};
pub use find::find;
pub use index::all;
pub use lines::read;
pub use pattern::fits;
pub use vendor::Vendor;
