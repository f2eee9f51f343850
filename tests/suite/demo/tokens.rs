//! The demo server's own tokenizer against a real one, and against what is expected of a vocabulary that nobody knows.

use crate::estimation_text::{CLASSES, corpus, o200k};
use oneclaw_context::estimate::Vocabulary;
use oneclaw_context::estimate::text::measure;
use oneclaw_demo::{Compact, Tokenizer};

#[test]
fn counts_are_realistic_and_below_what_the_core_expects_at_most() {
    for class in CLASSES {
        let text = corpus(class);
        let (real, ours) = (o200k(&text), Compact.count(&text));
        assert!(ours * 100 >= real * 85 && ours * 100 <= real * 140, "{class}: {ours} for {real}");
        assert!(
            ours * 1_000 <= measure(&text).upper_milli(Vocabulary::Unknown),
            "{class}: {ours} is more than the core's upper estimate"
        );
    }
}
