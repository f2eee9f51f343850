//! The send loop from the outside: the public interface, a real file, and real HTTP to the loopback server.

mod again;
mod kills;
mod kit;
mod long;
mod sessions;
mod stops;
mod together;
mod tools;
