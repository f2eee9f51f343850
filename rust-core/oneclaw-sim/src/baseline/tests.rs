//! That each document is played to the letter: its own faults show, and no others are added.

use super::{Document, Row, What, rfc011::Rfc011, sent, sven::Sven};
use crate::contender::{Contender, Play};
use crate::kinds::Kind;
use crate::rng::Rng;
use crate::script::Script;
use crate::service::Service;
use crate::summariser::Writer;
use crate::tally::Tally;
use crate::texts::Texts;
use crate::tokens::Counter;
use crate::wire::Prompt;
use crate::world::World;

/// The tally after each turn.
fn played(policy: Contender, kind: Kind, window: u64, turns: u64) -> Vec<Tally> {
    let script = Script::new(&Texts::new(5), kind, window, Rng::of(5, &[1]), turns, &Service::default());
    let mut counter = Counter::default();
    let mut world = World::new(&mut counter, &script, Writer::Sloppy, Rng::of(5, &[2]));
    let mut play: Box<dyn Play> = policy.play(&script, 1);
    let mut tallies = Vec::new();
    for turn in &script.turns {
        let outcome = play.turn(turn, &mut world);
        world.end_turn(turn, outcome);
        tallies.push(world.tally.clone());
    }
    tallies
}

#[test]
fn rfc_011_counts_all_rows_so_after_the_first_compaction_every_turn_compacts() {
    let tallies = played(Contender::Rfc011, Kind::Chat, 8_000, 160);
    let first = tallies.iter().position(|t| t.compactions > 0).unwrap();
    assert!(first > 5, "{first}");
    for pair in tallies[first..].windows(2) {
        let is_answered = pair[1].failed == pair[0].failed;
        assert!(!is_answered || pair[1].summary_calls > pair[0].summary_calls);
    }
    // All older rows go into one request; some day that is too long, twice each time, and nothing is done about it.
    let last = tallies.last().unwrap();
    assert!(last.summary_overflows > 0 && last.summary_overflows.is_multiple_of(2), "{last:?}");
    assert!(last.failed > 0 && last.rejected == last.failed, "{last:?}");
}

#[test]
fn sven_does_not_count_the_message_that_is_about_to_be_sent() {
    let tallies = played(Contender::SvenDoc, Kind::Paste, 8_000, 60);
    let last = tallies.last().unwrap();
    assert!(last.rejected > 0, "{last:?}");
    assert!(last.compactions > 0);
    assert!(
        played(Contender::SvenDoc, Kind::Chat, 8_000, 120).last().unwrap().failed == 0,
        "chat is what it does well"
    );
}

#[test]
fn sven_tears_calls_from_results_in_an_emergency() {
    let last = played(Contender::SvenDoc, Kind::Coding, 4_000, 60).pop().unwrap();
    assert!(last.orphans > 0 && last.malformed >= last.orphans, "{last:?}");
    let kinder = played(Contender::SvenDocSafe, Kind::Coding, 4_000, 60).pop().unwrap();
    assert_eq!([kinder.orphans, kinder.malformed], [0; 2]);
}

#[test]
fn a_batch_is_sent_as_one_message_with_its_results_whatever_the_order_of_its_rows() {
    let script = Script::new(&Texts::new(5), Kind::Coding, 16_000, Rng::of(5, &[1]), 60, &Service::default());
    let rounds = script.turns.iter().flat_map(|turn| &turn.rounds);
    let round = rounds.max_by_key(|round| round.calls.len()).unwrap();
    assert_eq!(round.calls.len(), 3);
    let rows = |document: &mut dyn Document| {
        document.keep(round);
        std::mem::take(&mut document.history().rows)
    };
    let whats = |rows: &[Row]| rows.iter().map(|row| row.what).collect::<Vec<_>>();
    let rfc = rows(&mut Rfc011::new(&script));
    use What::{Call, Reply, Result};
    assert_eq!(whats(&rfc), [Reply, Call, Result, Call, Result, Call, Result]);
    assert_eq!(whats(&rows(&mut Sven::new(&script))), [Reply, Call, Call, Call, Result, Result, Result]);
    let sent = |rows: &[Row]| {
        let prompt = Prompt { items: sent(rows), ..Prompt::default() };
        let faults = prompt.faults();
        (prompt.items.len(), faults.orphans.len(), faults.unanswered)
    };
    assert_eq!(sent(&rfc), (4, 0, 0));
    // Without the reply and the first call: its result has lost it, the others form a batch.
    assert_eq!(sent(&rfc[1..]), (4, 0, 0));
    assert_eq!(sent(&rfc[2..]), (4, 1, 0));
    assert_eq!(sent(&rfc[3..]), (3, 0, 0));
}

#[test]
fn nous_forgets_tool_results_with_the_turn_and_never_compacts_a_small_window() {
    let last = played(Contender::NousDoc, Kind::Coding, 32_000, 60).pop().unwrap();
    assert_eq!(last.compactions, 0);
    assert!(last.facts.tool.asked > 0);
    assert_eq!(last.facts.tool.seen, 0);
}

#[test]
fn opencode_asks_for_a_summary_of_more_than_fits_and_never_recovers() {
    let mut stuck = 0;
    for window in [2_000, 4_000, 16_000, 32_000] {
        let tallies = played(Contender::OpencodeDoc, Kind::Coding, window, 80);
        let Some(first) = tallies.iter().position(|t| t.summary_overflows > 0) else { continue };
        let last = tallies.last().unwrap();
        stuck += 1;
        assert_eq!(last.turns - tallies[first].turns, last.failed - tallies[first].failed, "{window}");
    }
    assert!(stuck > 0);
}

#[test]
fn without_compaction_a_conversation_ends_at_the_window() {
    let last = played(Contender::None, Kind::Chat, 4_000, 60).pop().unwrap();
    assert!(last.failed > 20 && last.rejected == last.failed && last.summary_calls == 0);
}
