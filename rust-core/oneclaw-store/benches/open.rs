//! Opening and migrating must not depend on how much has been said: 1,000 against 1,000,000 messages, in one run.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)] // A benchmark: a fault should stop it; it talks.

use oneclaw_store::Store;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SIZES: [u64; 2] = [1_000, 1_000_000];
const ROUNDS: usize = 9;

fn main() {
    // `cargo test --benches` only asks whether it runs; it does not pass `--bench`.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("oneclaw-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let originals = SIZES.map(|size| original(&folder, size));
    let mut migrations = [const { Vec::new() }; 2];
    let mut opens = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for ((file, migrations), opens) in originals.iter().zip(&mut migrations).zip(&mut opens) {
            let work = folder.join("work.db");
            std::fs::copy(file, &work).unwrap();
            // Else the first commit would pay for writing the copy to the disk.
            std::fs::File::open(&work).unwrap().sync_all().unwrap();
            migrations.push(timed(&work));
            opens.push(timed(&work));
            std::fs::remove_file(&work).unwrap();
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    for (name, times) in [("migrate", migrations), ("open", opens)] {
        let [small, large] = times.map(|mut times| median(&mut times).as_secs_f64() * 1e3);
        println!("ratio {name} 1000000/1000 messages = {:.2} ({large:.2} ms / {small:.2} ms)", large / small);
    }
}

/// A file of version 1 with so many messages.
fn original(folder: &Path, messages: u64) -> PathBuf {
    let path = folder.join(format!("{messages}.db"));
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("../../../tests/fixtures/store/room_v1.sql")).unwrap();
    connection.execute_batch(include_str!("../../../tests/fixtures/store/rows_v1.sql")).unwrap();
    connection
        .execute_batch(&format!(
            "INSERT INTO messages (id, session_id, type, content, created_at)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {messages})
             SELECT 'x' || i, 's1', 'USER', 'message number ' || i, 10000 + i FROM n"
        ))
        .unwrap();
    path
}

fn timed(path: &Path) -> Duration {
    let start = Instant::now();
    let store = Store::open_existing(path).unwrap();
    let time = start.elapsed();
    drop(store);
    time
}

fn median(times: &mut [Duration]) -> Duration {
    let half = times.len() / 2;
    *times.select_nth_unstable(half).1
}
