//! The order of rows, whoever adds them: by time, and among equal times by insertion, whatever happens in between.

use crate::store::Folder;
use crate::store_kit::{add, append, fresh, other_app, user};
use oneclaw_store::messages::{self, Stored};
use oneclaw_store::{Place, Store, order};
use oneclaw_tests::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const SESSIONS: [&str; 2] = ["s", "t"];

#[test]
fn many_rows_are_put_in_order_a_part_at_a_time() {
    const ROWS: usize = 30_000;
    let folder = Folder::new("order-parts");
    let store = fresh(&folder, &["s"]);
    let other = other_app(store.path());
    other
        .execute(
            "INSERT INTO messages (id, session_id, type, content, created_at)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             SELECT 'm' || i, 's', 'USER', '', i / 10 FROM n",
            [ROWS],
        )
        .unwrap();
    let is_done = AtomicBool::new(false);
    let between = thread::scope(|scope| {
        scope.spawn(|| {
            store.prepare("s").unwrap();
            is_done.store(true, Ordering::Relaxed);
        });
        let mut between = 0;
        while !is_done.load(Ordering::Relaxed) {
            let ordered = "SELECT COUNT(*) FROM core_messages WHERE session_id = 's'";
            let ordered: usize = other.query_row(ordered, [], |row| row.get(0)).unwrap();
            between += usize::from(0 < ordered && ordered < ROWS);
        }
        between
    });
    assert!(between > 0, "all was done in one transaction, and nobody else could write");
    let expected = (1..=ROWS).map(|i| (format!("m{i}"), i as i64 / 10)).collect();
    check(&store, "s", &expected);
}

/// What can happen to a session, named by its number. Rows are counted from the newest.
#[derive(Debug, Clone)]
enum Step {
    Append {
        session: usize,
        time: i64,
    },
    /// From here on, another app.
    Insert {
        session: usize,
        time: i64,
    },
    Remove {
        session: usize,
        nth: usize,
    },
    RemoveAndInsert {
        session: usize,
        nth: usize,
        time: i64,
    },
    Replace {
        session: usize,
        nth: usize,
        time: i64,
    },
    Vacuum,
    /// From here on, nobody changes anything.
    Read,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let session = || 0..SESSIONS.len();
    // Few times, so that many are equal; and the newest row more often than others.
    let time = || 0..5i64;
    let nth = || prop_oneof![Just(0usize), 0..6usize];
    prop_oneof![
        4 => (session(), time()).prop_map(|(session, time)| Step::Append { session, time }),
        4 => (session(), time()).prop_map(|(session, time)| Step::Insert { session, time }),
        2 => (session(), nth()).prop_map(|(session, nth)| Step::Remove { session, nth }),
        2 => (session(), nth(), time())
            .prop_map(|(session, nth, time)| Step::RemoveAndInsert { session, nth, time }),
        2 => (session(), nth(), time()).prop_map(|(session, nth, time)| Step::Replace { session, nth, time }),
        1 => Just(Step::Vacuum),
        3 => Just(Step::Read),
        1 => Just(Step::Reopen),
    ]
}

/// Rows as they were inserted: name and time. Sorted by time, that is the order.
type Inserted = Vec<(String, i64)>;

fn sorted(inserted: &Inserted) -> Inserted {
    let mut rows = inserted.clone();
    rows.sort_by_key(|(_, time)| *time);
    rows
}

fn named(rows: &[Stored]) -> Inserted {
    rows.iter().map(|r| (r.row.id.clone(), r.row.created_at)).collect()
}

/// Pages from both ends and everything at once show the same rows, in this order.
fn check(store: &Store, session: &str, expected: &Inserted) {
    store.prepare(session).unwrap();
    store
        .read(|c| {
            assert!(order::is_current(c, session)?);
            assert_eq!(named(&messages::since(c, session, Place::START)?), *expected);
            for limit in [1, 3] {
                let mut backwards = Vec::new();
                let mut before = Place::END;
                loop {
                    let page = messages::page(c, session, before, limit)?;
                    let Some(first) = page.first() else { break };
                    before = first.stored.place;
                    let rows: Vec<Stored> = page.into_iter().map(|listed| listed.stored).collect();
                    backwards.splice(0..0, named(&rows));
                }
                assert_eq!(backwards, *expected);
            }
            Ok(())
        })
        .unwrap();
}

proptest! {
    #![proptest_config(cases(60))]
    #[test]
    fn rows_stand_by_time_and_insertion_whoever_adds_them(steps in vec(step(), 1..40)) {
        let folder = Folder::new("order");
        let mut store = fresh(&folder, &SESSIONS);
        let other = other_app(store.path());
        let mut model: [Inserted; 2] = Default::default();
        for (number, step) in steps.iter().enumerate() {
            let new = format!("m{number}");
            match *step {
                Step::Append { session, time } => {
                    let place = append(&store, SESSIONS[session], &user(&new, time));
                    let newest = model[session].iter().map(|(_, time)| *time).max();
                    prop_assert_eq!(place.created_at, newest.map_or(time, |newest| newest.max(time)));
                    model[session].push((new, place.created_at));
                }
                Step::Insert { session, time } => {
                    add(&other, "INSERT", SESSIONS[session], &new, time);
                    model[session].push((new, time));
                }
                Step::Remove { session, nth } | Step::RemoveAndInsert { session, nth, .. }
                | Step::Replace { session, nth, .. } => {
                    let Some(at) = model[session].len().checked_sub(nth + 1) else { continue };
                    let (id, _) = model[session].remove(at);
                    if !matches!(step, Step::Replace { .. }) {
                        other.execute("DELETE FROM messages WHERE id = ?1", [&id]).unwrap();
                    }
                    if let Step::Replace { time, .. } | Step::RemoveAndInsert { time, .. } = *step {
                        add(&other, "INSERT OR REPLACE", SESSIONS[session], &id, time);
                        model[session].push((id, time));
                    }
                }
                Step::Vacuum => other.execute_batch("VACUUM").unwrap(),
                Step::Read => {
                    for (session, inserted) in SESSIONS.iter().zip(&model) {
                        check(&store, session, &sorted(inserted));
                    }
                }
                Step::Reopen => {
                    let path = store.path().to_owned();
                    drop(store);
                    store = Store::open_existing(&path).unwrap();
                }
            }
        }
        for (session, inserted) in SESSIONS.iter().zip(&model) {
            check(&store, session, &sorted(inserted));
        }
        let beside: i64 = other.query_row("SELECT COUNT(*) FROM core_messages", [], |row| row.get(0)).unwrap();
        prop_assert_eq!(beside as usize, model[0].len() + model[1].len(), "nothing is left of rows that went");
    }
}
