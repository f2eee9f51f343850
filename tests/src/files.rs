//! Folders and database files for tests.

use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of the test's own, removed at the end.
#[derive(Debug)]
pub struct Folder(pub PathBuf);

impl Folder {
    /// An empty folder of that name.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("oneclaw-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A file as the original app left it.
pub fn version_1(path: &Path) {
    let connection = Connection::open(path).unwrap();
    for name in ["room_v1.sql", "rows_v1.sql"] {
        let sql = format!("{}/fixtures/store/{name}", env!("CARGO_MANIFEST_DIR"));
        connection.execute_batch(&fs::read_to_string(sql).unwrap()).unwrap();
    }
}
