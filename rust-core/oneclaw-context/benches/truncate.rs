//! What the shortening of a 1 MB text costs, compared with copying it.
//!
//! After criterion's own output, `main` prints ratios that it measures itself: the candidates run in turn in
//! one loop, so that a change of the machine's speed hits all of them alike, and the medians are compared.

// A benchmark is a program for developers: it prints, and criterion's macros generate undocumented items.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

mod support;

use criterion::{Criterion, Throughput, criterion_group};
use oneclaw_context::truncate::{HEAD_CAP_UNITS, SHAPED_CAP_TOKENS, Shape, head, shaped};
use std::hint::black_box;
use std::time::{Duration, Instant};

const SIZE: usize = 1_000_000;
const ROUNDS: usize = 801;

/// One thing to measure: its name, the text it works on and the work, which returns the length of the result.
struct Case {
    name: &'static str,
    text: String,
    work: fn(&str) -> usize,
}

fn cases() -> Vec<Case> {
    let line = "src/main/kotlin/ToolResultTruncator.kt:42: val text = result.content.take(MAX_CHARS)\n";
    let ascii: String = line.chars().cycle().take(SIZE).collect();
    let cjk: String = "工具的輸出可能非常長。\n".chars().cycle().take(SIZE / 3).collect();
    let case = |name, text: &str, work| Case { name, text: text.to_owned(), work };
    vec![
        case("memcpy", &ascii, |text| black_box(text.to_owned()).len()),
        case("head-ascii", &ascii, |text| black_box(head(text, HEAD_CAP_UNITS)).len()),
        case("head-cjk", &cjk, |text| black_box(head(text, HEAD_CAP_UNITS)).len()),
        case("shaped-head-tail", &ascii, |text| run_shaped(text, Shape::HeadTail)),
        case("shaped-match-list", &ascii, |text| run_shaped(text, Shape::MatchList)),
        case("shaped-file-content", &ascii, |text| run_shaped(text, Shape::FileContent)),
        case("shaped-generic", &ascii, |text| run_shaped(text, Shape::Generic)),
    ]
}

fn run_shaped(text: &str, shape: Shape) -> usize {
    black_box(shaped(text, shape, SHAPED_CAP_TOKENS)).len()
}

fn truncate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("truncate-1mb");
    for case in cases() {
        group.throughput(Throughput::Bytes(case.text.len() as u64));
        group.bench_function(case.name, |bencher| bencher.iter(|| (case.work)(black_box(&case.text))));
    }
    group.finish();
}

/// Measures all cases in turn and prints how their medians compare with that of the copy.
fn print_ratios() {
    let cases = cases();
    let mut times = vec![Vec::with_capacity(ROUNDS); cases.len()];
    for _ in 0..ROUNDS {
        for (case, times) in cases.iter().zip(&mut times) {
            // One run to warm the caches for this text, one to measure.
            black_box((case.work)(black_box(&case.text)));
            let start = Instant::now();
            black_box((case.work)(black_box(&case.text)));
            times.push(start.elapsed());
        }
    }
    let medians: Vec<Duration> = times.iter_mut().map(|times| support::median(times)).collect();
    let copy = medians.first().unwrap();
    for (case, time) in cases.iter().zip(&medians).skip(1) {
        let ratio = time.as_secs_f64() / copy.as_secs_f64();
        println!("ratio {} / memcpy = {ratio:.2} ({time:.1?} / {copy:.1?})", case.name);
    }
}

criterion_group!(benches, truncate);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    if support::is_measuring() {
        print_ratios();
    }
}
