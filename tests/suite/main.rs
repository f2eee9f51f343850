//! Everything that speaks only to public interfaces, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // A fault should stop a test.

mod agent;
mod counting;
mod demo;
mod documents;
mod encode;
mod errors;
mod estimation;
mod estimation_calibrated;
mod estimation_families;
mod estimation_text;
mod estimation_usage;
mod feat011;
mod forging;
mod fuzz;
mod fuzz_found;
mod golden;
mod http;
mod huge;
mod models;
mod nous;
mod opencode;
mod properties;
mod replay;
mod rfc011;
mod services;
mod short_reply;
mod store;
mod store_catalogue;
mod store_concurrent;
mod store_crash;
mod store_epochs;
mod store_full;
mod store_kit;
mod store_order;
mod store_purge;
mod store_queries;
mod store_trust;
mod streams;
mod summaries;
mod sven;
