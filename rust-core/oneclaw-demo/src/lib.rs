#![doc = include_str!("../README.md")]

mod act;
mod ask;
mod body;
mod cache;
mod compose;
mod config;
mod facts;
mod flavour;
mod image;
mod log;
mod model;
mod pending;
mod protocol;
mod respond;
mod route;
mod script;
mod server;
mod service;
mod subject;
mod summarise;
mod tokenizer;
mod window;

pub use config::{Config, DEMO_MODEL, Flavour, Model};
pub use log::{Ending, Exchange};
pub use script::{Call, Fault, Reply, Step, Thought};
pub use server::Server;
pub use tokenizer::{Compact, Tokenizer};
pub use window::{PER_MESSAGE, PER_REQUEST};
