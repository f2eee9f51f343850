//! Reading and adding rows must not depend on how much has been said: 1,000 against 1,000,000 messages, in one run.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, missing_docs)] // A benchmark: a fault should stop it; it talks.

mod shared;

use oneclaw_model::Row;
use oneclaw_store::agents::GENERAL_ASSISTANT;
use oneclaw_store::messages::{self, State};
use oneclaw_store::{Place, Store, sessions};
use shared::{Folder, SIZES, original, print_ratio, timed};

const ROUNDS: u64 = 301;
const PAGE: usize = 50;
const SINCE: usize = 200;

fn main() {
    let Some(folder) = Folder::if_asked() else { return };
    let stores = SIZES.map(|size| {
        let path = folder.file(&format!("{size}.db"));
        original(&path, &["s1", "s2"], size);
        let store = Store::open_existing(&path).unwrap();
        for session in ["s1", "s2"] {
            let first = timed(|| store.prepare(session).unwrap()).0;
            println!("first prepare of {size} messages: {:.1} ms", first.as_secs_f64() * 1e3);
        }
        store
    });
    let mut times = [const { [const { Vec::new() }; 2] }; 4];
    let [pages, tails, prepares, appends] = &mut times;
    for round in 0..ROUNDS {
        for (nth, store) in stores.iter().enumerate() {
            let newest = |limit| store.read(|c| messages::page(c, "s1", Place::END, limit)).unwrap();
            let boundary = newest(SINCE)[0].stored.place;
            let (time, page) = timed(|| newest(PAGE));
            assert_eq!(page.len(), PAGE);
            pages[nth].push(time);
            let (time, tail) = timed(|| store.read(|c| messages::since(c, "s1", boundary)).unwrap());
            assert_eq!(tail.len(), SINCE);
            tails[nth].push(time);
            prepares[nth].push(timed(|| store.prepare("s1").unwrap()).0);
            // Names are spread over the whole index, as random ones are.
            let id = format!("{:016x}", (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let row = Row { id, ..page[0].stored.row.clone() };
            let add = || store.write(|t| messages::append(t, "s1", &row, State::Whole)).unwrap();
            appends[nth].push(timed(add).0);
        }
    }
    for (size, store) in SIZES.iter().zip(&stores) {
        store.write(|t| sessions::create(t, "small", "", GENERAL_ASSISTANT, 0)).unwrap();
        let purge = timed(|| store.purge("small").unwrap()).0;
        println!("purge beside {size} messages: {:.1} ms", purge.as_secs_f64() * 1e3);
    }
    let names = ["newest page", "rows since the boundary", "prepare when nothing is new", "append"];
    for (name, times) in names.into_iter().zip(times) {
        print_ratio(name, times);
    }
}
