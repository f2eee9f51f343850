//! Compactions: put in force, taken back, and what another app makes of the session's columns.

use crate::store::{Folder, NOW};
use crate::store_kit::{append, epoch, fresh, ids, other_app, session, user};
use oneclaw_store::epochs::{self, Epoch, NewEpoch, Standing};
use oneclaw_store::queue::{self, Queued};
use oneclaw_store::{Place, Store, StoreError, engine, messages};
use oneclaw_tests::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use rusqlite::Connection;

fn standing(store: &Store) -> Option<Standing> {
    store.read(|c| epochs::standing(c, "s")).unwrap()
}

fn list(store: &Store) -> Vec<Epoch> {
    store.read(|c| epochs::list(c, "s")).unwrap()
}

fn commit(store: &Store, new: &NewEpoch, now: i64) -> Epoch {
    store.write(|t| epochs::commit(t, "s", new, now)).unwrap()
}

fn undo(store: &Store, now: i64) -> Option<Epoch> {
    store.write(|t| epochs::undo(t, "s", now)).unwrap()
}

/// The session's columns as the original app reads them.
type Columns = (Option<String>, Option<i64>);

fn columns(connection: &Connection) -> Columns {
    let sql = "SELECT compacted_summary, compact_boundary_timestamp FROM sessions WHERE id = 's'";
    connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

fn set_columns(connection: &Connection, summary: Option<&str>, timestamp: Option<i64>) {
    let sql = "UPDATE sessions SET compacted_summary = ?1, compact_boundary_timestamp = ?2 WHERE id = 's'";
    connection.execute(sql, (summary, timestamp)).unwrap();
}

/// A session with a row at each of these times: m0, m1, …
fn with_rows(folder: &Folder, times: &[i64]) -> Store {
    let store = fresh(folder, &["s"]);
    for (n, time) in times.iter().enumerate() {
        append(&store, "s", &user(&format!("m{n}"), *time));
    }
    store
}

#[test]
fn a_compaction_is_recorded_and_mirrored_and_taken_back() {
    let folder = Folder::new("epochs");
    let store = with_rows(&folder, &[10, 11, 12, 13]);
    let other = other_app(store.path());
    let queued = Queued { session_id: "s".into(), reason: "manual".into(), focus: None, queued_at: 1 };
    store
        .write(|t| {
            queue::put(t, &queued)?;
            engine::set_anchor(t, "s", "anchor")?;
            engine::set_chunk(t, "s", "key", "part")
        })
        .unwrap();
    let first = commit(&store, &epoch("m1", "first"), NOW + 1);
    let expected = Epoch {
        id: first.id,
        number: 1,
        parent: None,
        first: Some("m0".into()),
        last: Some("m1".into()),
        rows: 2,
        boundary: Place { created_at: 11, nth: 1 },
        summary: "first".into(),
        strategy: "prose".into(),
        reason: Some("threshold".into()),
        tokens: Some((1000, 100)),
        model: Some("gpt-4o".into()),
        tail_rows: Some(3),
        auto_continue: Some("Go on.".into()),
        created_at: NOW + 1,
        undone_at: None,
    };
    assert_eq!(first, expected);
    assert_eq!(columns(&other), (Some("first".into()), Some(12)));
    assert_eq!(session(&store, "s").updated_at, NOW + 1);
    let in_force = Standing {
        summary: "first".into(),
        boundary: first.boundary,
        tail_rows: Some(3),
        auto_continue: Some("Go on.".into()),
    };
    assert_eq!(standing(&store), Some(in_force.clone()));
    store
        .read(|c| {
            assert_eq!(queue::list(c)?, []);
            assert_eq!(engine::chunk(c, "s", "key")?, None);
            let notes = engine::notes(c, "s")?;
            assert_eq!(notes.attempt.as_deref(), Some("nothing left"));
            assert_eq!(notes.anchor.as_deref(), Some("anchor"));
            Ok(())
        })
        .unwrap();

    let second = commit(&store, &epoch("m3", "second"), NOW + 2);
    assert_eq!((second.number, second.parent, second.rows), (2, Some(first.id), 2));
    assert_eq!((second.first.as_deref(), second.last.as_deref()), (Some("m2"), Some("m3")));
    assert_eq!(
        columns(&other),
        (Some("second".into()), Some(14)),
        "nothing is kept: just after the last row"
    );
    assert_eq!(append(&store, "s", &user("m4", 5)), Place::at(14), "a later row is not covered");

    let undone = undo(&store, NOW + 3).unwrap();
    assert_eq!(undone, Epoch { undone_at: Some(NOW + 3), ..second });
    assert_eq!(columns(&other), (Some("first".into()), Some(12)));
    assert_eq!(session(&store, "s").updated_at, NOW + 3);
    assert_eq!(standing(&store), Some(in_force));
    let notes = store.read(|c| engine::notes(c, "s")).unwrap();
    assert_eq!(notes, engine::Notes::default(), "what was known of the requests after it is void");
    assert_eq!(list(&store), [first.clone(), undone.clone()]);

    let third = commit(&store, &epoch("m2", "third"), NOW + 4);
    assert_eq!((third.number, third.parent), (3, Some(first.id)));
    store.write(|t| epochs::reset(t, "s", NOW + 5)).unwrap();
    assert_eq!((columns(&other), standing(&store)), ((None, None), None));
    assert_eq!(session(&store, "s").updated_at, NOW + 5);
    let undone_at: Vec<_> = list(&store).iter().map(|e| e.undone_at).collect();
    assert_eq!(undone_at, [Some(NOW + 5), Some(NOW + 3), Some(NOW + 5)]);
    assert_eq!(undo(&store, NOW + 6), None);
    assert_eq!(session(&store, "s").updated_at, NOW + 5, "there was nothing to take back");
}

#[test]
fn equal_times_are_cut_exactly_where_the_compaction_ends() {
    let times = [10; 6];
    for covered in 0..times.len() {
        let folder = Folder::new("equal");
        let store = with_rows(&folder, &times);
        let made = commit(&store, &epoch(&format!("m{covered}"), "sum"), NOW);
        let rest = store.read(|c| messages::since(c, "s", made.boundary)).unwrap();
        let expected: Vec<String> = (covered + 1..times.len()).map(|n| format!("m{n}")).collect();
        assert_eq!(ids(&rest), expected);
        assert_eq!(made.rows, covered as u64 + 1);
        let mirrored = if expected.is_empty() { 11 } else { 10 };
        assert_eq!(columns(&other_app(store.path())).1, Some(mirrored));
        append(&store, "s", &user("later", 1));
        let rest = store.read(|c| messages::since(c, "s", made.boundary)).unwrap();
        assert_eq!(rest.len(), expected.len() + 1);
    }
}

#[test]
fn a_compaction_that_is_out_of_date_brings_no_row_back() {
    let folder = Folder::new("stale");
    let store = with_rows(&folder, &[10, 10, 10, 13, 14]);
    let other = other_app(store.path());
    let made = commit(&store, &epoch("m2", "newer"), NOW);
    let before = (list(&store), columns(&other), standing(&store));
    for last in ["m0", "m1"] {
        let error = store.write(|t| epochs::commit(t, "s", &epoch(last, "stale"), NOW)).unwrap_err();
        let why = "the session was compacted further meanwhile; this compaction is out of date";
        assert_eq!(error.to_string(), format!("{}: {why}", store.path().display()));
        assert_eq!((list(&store), columns(&other), standing(&store)), before);
    }
    // A summary that is too long may be replaced.
    let again = commit(&store, &epoch("m2", "shorter"), NOW);
    assert_eq!((again.boundary, again.rows), (made.boundary, 0));
    // What another app has covered is covered.
    set_columns(&other, Some("theirs"), Some(14));
    assert!(store.write(|t| epochs::commit(t, "s", &epoch("m2", "stale"), NOW)).is_err());
    assert_eq!(list(&store).len(), 2, "nothing has happened");
    assert_eq!(commit(&store, &epoch("m3", "ours"), NOW).number, 4);
}

#[test]
fn a_compaction_covers_rows_of_its_own_session_or_nothing_happens() {
    let folder = Folder::new("whose");
    let store = with_rows(&folder, &[10]);
    crate::store_kit::create(&store, "t");
    append(&store, "t", &user("theirs", 10));
    for (session, last, what) in [
        ("s", "theirs", "message \"theirs\""),
        ("s", "nobody", "message \"nobody\""),
        ("x", "m0", "session \"x\""),
    ] {
        let error = store.write(|t| epochs::commit(t, session, &epoch(last, "sum"), NOW)).unwrap_err();
        assert_eq!(error.to_string(), format!("{}: has no {what}", store.path().display()));
    }
    assert!(store.write(|t| epochs::undo(t, "x", NOW)).is_err());
    assert!(store.write(|t| epochs::reset(t, "x", NOW)).is_err());
    assert_eq!((standing(&store), list(&store)), (None, vec![]));
}

#[test]
fn the_original_apps_compaction_is_the_first_and_can_be_taken_back() {
    let folder = Folder::new("original");
    let store = with_rows(&folder, &[10, 11, 12, 13]);
    let other = other_app(store.path());
    set_columns(&other, Some("theirs"), Some(12));
    let theirs =
        Standing { summary: "theirs".into(), boundary: Place::at(12), tail_rows: None, auto_continue: None };
    assert_eq!((standing(&store), list(&store)), (Some(theirs.clone()), vec![]));
    let ours = commit(&store, &epoch("m2", "ours"), NOW);
    let first = list(&store).remove(0);
    assert_eq!(ours.parent, Some(first.id));
    assert_eq!((first.summary.as_str(), first.boundary, first.rows), ("theirs", Place::at(12), 2));
    assert_eq!((first.reason, first.tokens, first.model, first.tail_rows), (None, None, None, None));
    assert_eq!((ours.first.as_deref(), ours.rows), (Some("m2"), 1));
    assert_eq!(undo(&store, NOW).map(|e| e.number), Some(2));
    assert_eq!((standing(&store), columns(&other)), (Some(theirs), (Some("theirs".into()), Some(12))));
    assert_eq!(undo(&store, NOW).map(|e| e.number), Some(1));
    assert_eq!((standing(&store), columns(&other)), (None, (None, None)));
    assert_eq!(undo(&store, NOW), None);
}

#[test]
fn columns_another_app_has_changed_hold() {
    let folder = Folder::new("changed");
    let store = with_rows(&folder, &[10, 11, 12, 13]);
    let other = other_app(store.path());
    let made = commit(&store, &epoch("m1", "ours"), NOW);
    let theirs = |summary: &str, at| Standing {
        summary: summary.into(),
        boundary: Place::at(at),
        tail_rows: None,
        auto_continue: None,
    };
    set_columns(&other, Some("edited"), Some(12));
    assert_eq!(standing(&store), Some(theirs("edited", 12)));
    set_columns(&other, Some("ours"), Some(13));
    assert_eq!(standing(&store), Some(theirs("ours", 13)));
    for cleared in [(None, None), (None, Some(12)), (Some("ours"), None), (Some(" \n"), Some(12))] {
        set_columns(&other, cleared.0, cleared.1);
        assert_eq!(standing(&store), None, "{cleared:?}");
    }
    set_columns(&other, Some("ours"), Some(12));
    assert_eq!(standing(&store).unwrap().boundary, made.boundary, "as it was, and so it is ours again");
    set_columns(&other, None, None);
    assert_eq!(undo(&store, NOW + 1), None);
    assert_eq!(list(&store), [Epoch { undone_at: Some(NOW + 1), ..made }]);
    set_columns(&other, Some("edited"), Some(13));
    assert_eq!(commit(&store, &epoch("m3", "on top"), NOW).number, 3);
    assert_eq!(list(&store)[1].summary, "edited");
}

/// What can happen to the compactions of a session.
#[derive(Debug, Clone)]
enum Step {
    Append(i64),
    Commit(usize),
    Undo,
    Reset,
    OtherApp(Option<&'static str>, Option<i64>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let summary = proptest::option::weighted(0.8, prop_oneof![Just("A"), Just("B"), Just(" ")]);
    prop_oneof![
        4 => (0..8i64).prop_map(Step::Append),
        4 => (0..8usize).prop_map(Step::Commit),
        3 => Just(Step::Undo),
        1 => Just(Step::Reset),
        2 => (summary, proptest::option::weighted(0.8, 0..8i64)).prop_map(|(s, t)| Step::OtherApp(s, t)),
        1 => Just(Step::Reopen),
    ]
}

/// A compaction as the model keeps it.
#[derive(Debug, Clone, PartialEq)]
struct Made {
    number: u64,
    parent: Option<u64>,
    boundary: Place,
    mirrored: i64,
    summary: String,
    is_undone: bool,
}

/// The rules in their simplest form.
#[derive(Debug, Default)]
struct Model {
    rows: Vec<Place>,
    made: Vec<Made>,
    columns: Columns,
}

impl Model {
    fn newest(&self) -> Option<&Made> {
        self.made.iter().rfind(|made| !made.is_undone)
    }

    fn meaning(&self) -> Option<(String, i64)> {
        self.columns.0.clone().filter(|summary| !summary.trim().is_empty()).zip(self.columns.1)
    }

    fn is_ours(&self) -> bool {
        let ours = self.newest().map(|made| (made.summary.clone(), made.mirrored)).unzip();
        self.columns == ours
    }

    fn standing(&self) -> Option<(String, Place)> {
        match self.is_ours() {
            true => self.newest().map(|made| (made.summary.clone(), made.boundary)),
            false => self.meaning().map(|(summary, at)| (summary, Place::at(at))),
        }
    }

    fn push(&mut self, boundary: Place, mirrored: i64, summary: String) {
        let parent = self.newest().map(|made| made.number);
        let number = self.made.len() as u64 + 1;
        self.made.push(Made { number, parent, boundary, mirrored, summary, is_undone: false });
    }

    /// What another app did is taken note of before anything is done.
    fn reconcile(&mut self) {
        match (self.is_ours(), self.meaning()) {
            (true, _) => {}
            (false, Some((summary, at))) => self.push(Place::at(at), at, summary),
            (false, None) => self.made.iter_mut().for_each(|made| made.is_undone = true),
        }
    }

    fn undo(&mut self, all: bool) {
        self.reconcile();
        let newest = self.newest().map(|made| made.number);
        if newest.is_none() && !all {
            return;
        }
        self.made.iter_mut().filter(|m| all || Some(m.number) == newest).for_each(|m| m.is_undone = true);
        self.columns = self.newest().map(|made| (made.summary.clone(), made.mirrored)).unzip();
    }

    /// Whether a compaction up to that row would bring back rows that are covered.
    fn is_stale(&self, nth: usize) -> bool {
        let boundary = self.standing().map(|(_, boundary)| boundary);
        self.rows.get(nth + 1).zip(boundary).is_some_and(|(kept, boundary)| *kept < boundary)
    }

    fn commit(&mut self, nth: usize, summary: &str) {
        self.reconcile();
        let last = self.rows[nth];
        let mirrored = self.rows.get(nth + 1).map_or(last.created_at + 1, |kept| kept.created_at);
        self.push(last.next(), mirrored, summary.to_owned());
        self.columns = (Some(summary.to_owned()), Some(mirrored));
    }
}

proptest! {
    #![proptest_config(cases(60))]
    #[test]
    fn compactions_stand_as_the_rules_say_whatever_happens(steps in vec(step(), 1..30)) {
        let folder = Folder::new("epochs-any");
        let mut store = fresh(&folder, &["s"]);
        let other = other_app(store.path());
        let mut model = Model::default();
        for (number, step) in steps.iter().enumerate() {
            let now = NOW + number as i64;
            match *step {
                Step::Append(time) => {
                    let place = append(&store, "s", &user(&format!("m{}", model.rows.len()), time));
                    let least = model.rows.last().map(|p| p.created_at).max(model.columns.1).unwrap_or(time);
                    prop_assert_eq!(place.created_at, time.max(least));
                    model.rows.push(place);
                }
                Step::Commit(back) => {
                    let Some(nth) = model.rows.len().checked_sub(back + 1) else { continue };
                    let summary = format!("summary {number}");
                    let new = epoch(&format!("m{nth}"), &summary);
                    let made = store.write(|t| epochs::commit(t, "s", &new, now));
                    if model.is_stale(nth) {
                        let is_refused = matches!(made, Err(StoreError::Refused { .. }));
                        prop_assert!(is_refused, "it is out of date");
                    } else {
                        made.unwrap();
                        model.commit(nth, &summary);
                    }
                }
                Step::Undo => {
                    let undone = undo(&store, now);
                    model.reconcile();
                    prop_assert_eq!(undone.map(|e| e.number), model.newest().map(|made| made.number));
                    model.undo(false);
                }
                Step::Reset => {
                    store.write(|t| epochs::reset(t, "s", now)).unwrap();
                    model.undo(true);
                }
                Step::OtherApp(summary, timestamp) => {
                    set_columns(&other, summary, timestamp);
                    model.columns = (summary.map(Into::into), timestamp);
                }
                Step::Reopen => {
                    let path = store.path().to_owned();
                    drop(store);
                    store = Store::open_existing(&path).unwrap();
                }
            }
            let seen = standing(&store).map(|s| (s.summary, s.boundary));
            prop_assert_eq!(seen, model.standing());
            prop_assert_eq!(columns(&other), model.columns.clone());
            let listed = list(&store);
            let number_of = |id| listed.iter().find(|e| e.id == id).map(|e| e.number);
            let seen: Vec<_> = listed
                .iter()
                .map(|e| (e.number, e.parent.and_then(number_of), e.boundary, e.summary.clone(), e.undone_at.is_some()))
                .collect();
            let expected: Vec<_> = model
                .made
                .iter()
                .map(|m| (m.number, m.parent, m.boundary, m.summary.clone(), m.is_undone))
                .collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
