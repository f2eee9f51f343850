//! What the benchmarks of the store share: files of two sizes, and how times are compared.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Messages per session in the small and in the large file.
pub const SIZES: [u64; 2] = [1_000, 1_000_000];

/// A folder of the benchmark's own, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    /// `None` if nobody asked for a benchmark: `cargo test --benches` only asks whether it runs, without `--bench`.
    pub fn if_asked() -> Option<Self> {
        let is_asked = std::env::args().any(|arg| arg == "--bench");
        let path = std::env::temp_dir().join(format!("oneclaw-bench-{}", std::process::id()));
        is_asked.then(|| {
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        })
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of version 1 with so many messages in each of these sessions, which took turns.
pub fn original(path: &Path, sessions: &[&str], messages: u64) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(include_str!("../../../../tests/fixtures/store/room_v1.sql")).unwrap();
    connection.execute_batch(include_str!("../../../../tests/fixtures/store/rows_v1.sql")).unwrap();
    let names: Vec<String> = sessions.iter().map(|session| format!("('{session}')")).collect();
    connection
        .execute_batch(&format!(
            "INSERT INTO messages (id, session_id, type, content, created_at)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {messages}), s(id) AS (VALUES {})
             SELECT s.id || '-' || i, s.id, 'USER', 'message number ' || i, 10000 + i FROM n CROSS JOIN s",
            names.join(",")
        ))
        .unwrap();
}

/// How long it takes.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

/// Prints how the middle of the large file's times compares to that of the small one's.
pub fn print_ratio(name: &str, times: [Vec<Duration>; 2]) {
    let [small, large] = times.map(|mut times| {
        let half = times.len() / 2;
        times.select_nth_unstable(half).1.as_secs_f64() * 1e3
    });
    println!("ratio {name} 1000000/1000 messages = {:.2} ({large:.3} ms / {small:.3} ms)", large / small);
}
