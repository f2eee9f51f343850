//! What both benchmarks measure with.

use std::time::{Duration, Instant};

/// How long that takes.
pub fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// The middle of several times.
pub fn median(times: &mut [Duration]) -> Duration {
    let half = times.len() / 2;
    *times.select_nth_unstable(half).1
}
