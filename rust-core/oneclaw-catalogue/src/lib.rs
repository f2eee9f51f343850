#![doc = include_str!("../README.md")]

mod facts;
mod find;
mod vendor;

pub use facts::{Ability, Cache, Date, Facts, Prices, Rates, Reasoning, Refusal, ThinkingType, Tier};
pub use find::{all, find};
pub use vendor::Vendor;
