//! Opening and migrating must not depend on how much has been said: 1,000 against 1,000,000 messages, in one run.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)] // A benchmark: a fault should stop it; it talks.

mod shared;

use oneclaw_store::Store;
use shared::{Folder, SIZES, original, print_ratio, timed};

const ROUNDS: usize = 9;

fn main() {
    let Some(folder) = Folder::if_asked() else { return };
    let originals = SIZES.map(|size| {
        let path = folder.file(&format!("{size}.db"));
        original(&path, &["s1"], size);
        path
    });
    let mut migrations = [const { Vec::new() }; 2];
    let mut opens = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for ((file, migrations), opens) in originals.iter().zip(&mut migrations).zip(&mut opens) {
            let work = folder.file("work.db");
            std::fs::copy(file, &work).unwrap();
            // Else the first commit would pay for writing the copy to the disk.
            std::fs::File::open(&work).unwrap().sync_all().unwrap();
            migrations.push(timed(|| Store::open_existing(&work).unwrap()).0);
            opens.push(timed(|| Store::open_existing(&work).unwrap()).0);
            std::fs::remove_file(&work).unwrap();
        }
    }
    print_ratio("migrate", migrations);
    print_ratio("open", opens);
}
