//! What the benchmarks share.

use std::time::Duration;

/// The middle of several times.
pub fn median(times: &mut [Duration]) -> Duration {
    let half = times.len() / 2;
    *times.select_nth_unstable(half).1
}

/// Whether ratios are wanted: `cargo test --benches` only asks whether a benchmark runs, and does not pass `--bench`.
pub fn is_measuring() -> bool {
    let is_given = |flag: &str| std::env::args().any(|arg| arg == flag);
    is_given("--bench") && !is_given("--test") && !is_given("--list")
}
