//! Everything that speaks only to public interfaces, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // A fault should stop a test.

mod documents;
mod estimation;
mod estimation_text;
mod feat011;
mod golden;
mod nous;
mod opencode;
mod properties;
mod rfc011;
mod store;
mod store_crash;
mod summaries;
mod sven;
