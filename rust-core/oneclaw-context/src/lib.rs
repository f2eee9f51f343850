#![doc = include_str!("../README.md")]

pub mod assemble;
pub mod budget;
pub mod conversation;
pub mod escape;
pub mod estimate;
pub mod fingerprint;
pub mod groups;
pub mod pins;
pub mod plan;
pub mod policy;
pub mod prune;
mod replay;
pub mod reported;
pub mod split;
pub mod summary;
pub mod truncate;

pub use budget::Budget;
pub use conversation::{Attempt, Conversation, Epoch, Fixed};
pub use plan::{Decision, Inputs, Moment, Plan, Reason, look, plan};
pub use policy::Policy;
