#![doc = include_str!("../README.md")]

mod agent;
mod ask;
mod attachments;
mod chat;
mod claims;
mod compactor;
mod complete;
mod config;
mod context;
mod counting;
mod event;
mod failure;
mod learnt;
mod lessons;
mod live;
mod offered;
mod ports;
mod preferences;
mod remembered;
mod run;
mod send;
mod session;
mod stop;
mod target;
mod title;
pub mod tools;
mod turn;
mod user_limits;
mod writer;

pub use agent::Agent;
pub use attachments::Enclosure;
pub use claims::{WindowSource, known_limits};
pub use config::{Allowance, Config, Offer, Patience};
pub use context::Status;
pub use event::{ErrorCode, Event};
pub use failure::Failure;
pub use learnt::Topic;
pub use offered::{Offered, known as known_models};
pub use ports::{KeyVault, Surroundings, System};
pub use preferences::Preferences;
pub use remembered::LearntEntry;
pub use run::Run;
pub use send::MOST_ROUNDS;
pub use stop::Stop;
pub use title::UNTITLED;
pub use user_limits::{
    keep_user_max_output, keep_user_window, set_max_output, set_user_window, user_max_output, user_window,
};
