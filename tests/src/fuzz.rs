//! What takes bytes that nobody vouches for, each behind one function that panics when it breaks a promise.
//!
//! The suite drives these functions with damaged samples (`tests/suite/fuzz.rs`), libFuzzer with whatever finds new ways
//! through the code (`tests/fuzz`). Decides what must hold, not which bytes are tried. Where a format of its own would do,
//! an entry reads its input as the real thing, so that real files are samples: replies, error bodies, transcripts, texts.

mod bytes;
mod calls;
mod database;
mod planning;
mod services;
mod texts;

pub use calls::arguments;
pub use database::database;
pub use planning::planning;
pub use services::{decoder, errors, lists, splitter};
pub use texts::{transcript, truncation};

/// An entry point: bytes in, a panic where something does not hold.
pub type Entry = fn(&[u8]);

/// All of them, by the names that `tests/fuzz/fuzz_targets` has them under.
pub const ENTRIES: [(&str, Entry); 9] = [
    ("arguments", arguments),
    ("database", database),
    ("decoder", decoder),
    ("errors", errors),
    ("lists", lists),
    ("planning", planning),
    ("splitter", splitter),
    ("transcript", transcript),
    ("truncation", truncation),
];
