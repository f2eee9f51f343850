#![doc = include_str!("../README.md")]

mod error;
mod file;
mod migrate;
mod open;
mod seed;
pub mod survey;

pub use error::StoreError;
pub use file::examine;
pub use migrate::{CURRENT, Change};
pub use open::Store;
