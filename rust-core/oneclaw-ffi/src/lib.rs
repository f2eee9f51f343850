#![doc = include_str!("../README.md")]

mod convert;
mod core;
mod data;
#[cfg(feature = "demo")]
mod demo;
mod error;
mod host;
#[cfg(test)]
mod panics;
mod pure;
mod run;
mod runtime;
mod types;

pub use core::OneClaw;
pub use pure::{estimate_simple, estimate_text, origin_of, plan_transcript, truncate_head, truncate_shaped};
pub use run::RunHandle;
pub use types::*;

uniffi::setup_scaffolding!();
