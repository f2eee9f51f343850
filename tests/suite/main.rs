//! Everything that speaks only to public interfaces, in one binary.

mod estimation;
mod estimation_text;
mod properties;
mod summaries;
