//! The send loop from the outside: the public interface, a real file, and real HTTP to the loopback server.

mod kit;
mod long;
