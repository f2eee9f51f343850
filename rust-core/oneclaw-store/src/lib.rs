#![doc = include_str!("../README.md")]

pub mod agents;
pub mod attachments;
mod beside;
pub mod catalogue;
mod columns;
pub mod engine;
pub mod epochs;
mod error;
mod file;
mod log;
mod look;
pub mod messages;
mod migrate;
mod open;
pub mod order;
mod place;
#[cfg(test)]
mod plans;
mod probe;
pub mod queue;
mod schema;
mod seed;
pub mod sessions;
pub mod settings;
pub mod survey;
mod tokens;
pub mod transcripts;
mod wipe;

pub use error::{Fault, Result, Shown, StoreError, shown};
pub use file::examine;
pub use migrate::{CURRENT, Change};
pub use open::Store;
pub use place::Place;
pub use rusqlite::{Connection, Transaction};
