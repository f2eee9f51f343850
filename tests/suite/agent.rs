//! The send loop from the outside: the public interface, a real file, and real HTTP to the loopback server.

mod again;
mod budget;
mod canary;
mod chaos;
mod counting;
mod families;
mod feat011;
mod feat011_edges;
mod keys;
mod kills;
pub mod kit;
mod learnt;
mod limits;
mod line;
mod long;
mod nous;
mod opencode;
mod pastes;
mod processes;
mod rfc011;
mod sessions;
mod stops;
mod summaries;
mod sven;
mod talk;
mod together;
mod tools;
