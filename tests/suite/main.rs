//! Everything that speaks only to public interfaces, in one binary.

mod properties;
