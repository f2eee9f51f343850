//! Vocabularies from files: small ones, written here, whose counts can be worked out by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // A fault should stop a test.

use oneclaw_sim::report::{self, findings};
use oneclaw_sim::{Contender, Kind, LoadedVocabulary, Results, Service, Study, StudyFault, VocabularyError};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A file of this test's own, with this content.
fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = std::env::temp_dir().join(format!("oneclaw-sim-{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    path
}

fn loaded(name: &str, content: &Value) -> LoadedVocabulary {
    let path = file(name, content.to_string());
    let vocabulary = LoadedVocabulary::load(&path);
    std::fs::remove_file(path).unwrap();
    vocabulary.unwrap()
}

fn fault(name: &str, content: impl AsRef<[u8]>) -> String {
    let path = file(name, content);
    let error = LoadedVocabulary::load(&path).expect_err(name).to_string();
    std::fs::remove_file(&path).unwrap();
    assert!(error.contains(&path.display().to_string()), "{error}");
    error.replace(&path.display().to_string(), "FILE")
}

/// The character that stands for a byte in a byte-level vocabulary: itself where it can be seen, else from U+0100 on.
fn byte_char(byte: u8) -> char {
    let is_seen = |b: u8| matches!(b, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    if is_seen(byte) {
        return char::from(byte);
    }
    let unseen = (0..byte).filter(|b| !is_seen(*b)).count() as u32;
    char::from_u32(0x100 + unseen).unwrap()
}

/// All bytes, and the tokens he, ll, hell and " w".
fn byte_level() -> Value {
    let mut tokens: Vec<String> = (0..=255).map(|byte| byte_char(byte).to_string()).collect();
    tokens.extend(["he", "ll", "hell", "\u{120}w"].map(str::to_owned));
    let vocab: serde_json::Map<String, Value> =
        tokens.into_iter().zip(0..).map(|(token, id)| (token, Value::from(id))).collect();
    json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 64}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
                    "pad_type_id": 0, "pad_token": "!"},
        "added_tokens": [
            {"id": 260, "content": "<|end|>", "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false, "special": true},
            {"id": 261, "content": "<think>", "single_word": false, "lstrip": false, "rstrip": false,
             "normalized": false, "special": false},
        ],
        "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "<|end|>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"<|end|>": {"id": "<|end|>", "ids": [260], "tokens": ["<|end|>"]}}},
        "decoder": null,
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                  "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "vocab": vocab,
                  "merges": ["h e", "l l", "he ll", "\u{120} w"]},
    })
}

/// All bytes as a last resort, and the tokens a, b, ab and " ab"; a blank is put before each text.
fn byte_fallback() -> Value {
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    let tokens = ["<unk>"].map(str::to_owned).into_iter().chain(bytes);
    let tokens = tokens.chain(["\u{2581}", "a", "b", "ab", "\u{2581}ab"].map(str::to_owned));
    let vocab: serde_json::Map<String, Value> =
        tokens.zip(0..).map(|(token, id)| (token, Value::from(id))).collect();
    json!({
        "added_tokens": [],
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true},
        "model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": true, "byte_fallback": true, "vocab": vocab,
                  "merges": [["a", "b"], ["\u{2581}", "ab"]]},
    })
}

/// The same as pieces with logarithms of their chances.
fn unigram() -> Value {
    let bytes = (0..=255).map(|byte| json!([format!("<0x{byte:02X}>"), -9.0]));
    let pieces = [("\u{2581}", -2.0), ("a", -2.0), ("b", -2.0), ("ab", -3.0), ("\u{2581}ab", -6.0)];
    let pieces = pieces.into_iter().map(|(piece, score)| json!([piece, score]));
    let vocab: Vec<Value> = std::iter::once(json!(["<unk>", 0.0])).chain(bytes).chain(pieces).collect();
    json!({
        "added_tokens": [],
        "pre_tokenizer": {"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true},
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": vocab},
    })
}

#[test]
fn bytes_and_merges() {
    let vocabulary = loaded("bytes", &byte_level());
    for (text, tokens) in [
        ("", 0),
        ("hello", 2),
        // hell, o; " w", o, r, l, d.
        ("hello world", 7),
        ("hell hell", 3),
        ("he\nll", 3),
        // Two bytes, three, four.
        ("\u{e9}", 2),
        ("\u{8336}\u{1f600}", 7),
        // As a user writes it, a special token is text.
        ("<|end|>", 7),
        ("hello<|end|>hello", 11),
        // One that is not special is what the model reads.
        ("<think>hello", 3),
    ] {
        assert_eq!(vocabulary.count(text), tokens, "{text:?}");
    }
    assert!(vocabulary.name().ends_with("-bytes"), "{}", vocabulary.name());
    let again = loaded("again", &byte_level());
    assert_eq!((again.fingerprint(), &again), (vocabulary.fingerprint(), &vocabulary));
    assert_ne!(loaded("other", &byte_fallback()), vocabulary);
}

#[test]
fn bytes_as_a_last_resort() {
    let vocabulary = loaded("fallback", &byte_fallback());
    let counts = ["ab", "ab ab", "abc", "\u{e9}", "ba ab"].map(|text| vocabulary.count(text));
    // " ab"; the same twice; " ab", 63; " ", C3, A9; " ", b, a, " ab".
    assert_eq!(counts, [1, 2, 2, 3, 4]);
}

#[test]
fn pieces_by_chance() {
    let vocabulary = loaded("unigram", &unigram());
    // " " and "ab" (−5) before " ab" (−6) and before " ", a, b (−6).
    let counts = ["ab", "ba", "ab\u{e9}"].map(|text| vocabulary.count(text));
    assert_eq!(counts, [2, 3, 4]);
}

#[test]
fn chance_in_the_file_is_left_out() {
    let mut file = byte_level();
    file["model"]["dropout"] = json!(0.9);
    let vocabulary = loaded("dropout", &file);
    assert!((0..50).all(|_| vocabulary.count("hello world") == 7));
}

#[test]
fn a_vocabulary_can_be_shared() {
    let vocabulary = loaded("shared", &byte_level());
    let counts: Vec<u64> = std::thread::scope(|scope| {
        let counting = |copy: LoadedVocabulary| scope.spawn(move || copy.count("hello world"));
        let threads: Vec<_> = (0..4).map(|_| counting(vocabulary.clone())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(counts, [7; 4]);
}

#[test]
fn files_that_are_no_vocabulary() {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut file = byte_level();
        change(&mut file);
        file.to_string()
    };
    for (content, complaint) in [
        (String::new(), "FILE is no tokenizer.json: EOF while parsing"),
        ("model: BPE".to_owned(), "FILE is no tokenizer.json: expected value at line 1"),
        ("[]".to_owned(), "FILE is no tokenizer.json: "),
        ("[".repeat(100_000), "FILE is no tokenizer.json: "),
        ("{}".to_owned(), "FILE is no tokenizer.json: it has no model"),
        (with(&|f| f["model"] = Value::Null), "FILE is no tokenizer.json: it has no model"),
        (with(&|f| f["model"] = json!(7)), "FILE is no tokenizer.json: invalid type"),
        (
            with(&|f| f["model"]["type"] = json!("WordPiece")),
            "the model in FILE is of the kind \"WordPiece\"; only",
        ),
        (with(&|f| f["model"] = json!({"vocab": {}})), "the model in FILE is of the kind \"\"; only"),
        (with(&|f| f["model"]["vocab"] = json!([1])), "the vocabulary in FILE cannot be used: "),
        (with(&|f| f["model"]["merges"] = json!(["x y z w"])), "the vocabulary in FILE cannot be used: "),
        (
            with(&|f| f["model"]["merges"] = json!(["nowhere found"])),
            "the vocabulary in FILE cannot be used: ",
        ),
        (with(&|f| f["model"]["vocab"] = json!({})), "the vocabulary in FILE cannot be used: "),
        (
            with(&|f| {
                f["model"]["vocab"] = json!({"a": 0, "~": 1});
                f["model"]["merges"] = json!([]);
            }),
            "the vocabulary in FILE cannot be used: it has no token for \\u{a}",
        ),
        (
            with(&|f| f["pre_tokenizer"] = json!({"type": "Nonsense"})),
            "the vocabulary in FILE cannot be used: ",
        ),
        (
            with(&|f| {
                f["pre_tokenizer"] = json!({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": false})
            }),
            "the vocabulary in FILE cannot be used: ",
        ),
    ] {
        let said = fault("bad", &content);
        assert!(said.starts_with(complaint), "{complaint}: {said}");
        assert!(said.len() < 500, "{said}");
    }
    assert!(fault("binary", [0xff, 0xfe, 0, 1]).starts_with("FILE is no tokenizer.json: it is not text"));
}

#[test]
fn files_that_cannot_be_read() {
    let nowhere = LoadedVocabulary::load("/nowhere/tokenizer.json".as_ref()).unwrap_err().to_string();
    assert!(nowhere.starts_with("cannot read the vocabulary /nowhere/tokenizer.json: "), "{nowhere}");
    let folder = LoadedVocabulary::load(&std::env::temp_dir()).unwrap_err();
    assert!(
        matches!(&folder, VocabularyError::Unreadable { why, .. } if why == "it is not a file"),
        "{folder:?}"
    );
    let pipe = LoadedVocabulary::load("/dev/zero".as_ref()).unwrap_err().to_string();
    assert_eq!(pipe, "cannot read the vocabulary /dev/zero: it is not a file");
    // Mostly a hole; nobody's disk is filled.
    let path = file("huge", "{");
    let opened = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    opened.set_len(200 << 20).unwrap();
    let huge = LoadedVocabulary::load(&path).unwrap_err();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(huge, VocabularyError::TooLarge { file: path });
}

/// So many tokens for every so many characters, whatever they are.
fn even(tokens: usize, chars: usize) -> Value {
    let pattern = format!("[\\s\\S]{{1,{chars}}}");
    json!({
        "added_tokens": [],
        "normalizer": {"type": "Replace", "pattern": {"Regex": pattern}, "content": "a".repeat(tokens)},
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
    })
}

fn held(vocabulary: LoadedVocabulary, window: u64, has_counting: bool) -> Results {
    let mut service = Service::counting_with(vocabulary);
    service.has_counting = has_counting;
    let study = Study {
        kinds: vec![Kind::Chat, Kind::Coding, Kind::Paste],
        windows: vec![window],
        policies: vec![Contender::Oneclaw],
        service,
        sample_every: 1,
        ..Study::new(3, 360)
    };
    study.run(&|_| {}).unwrap()
}

#[test]
fn conversations_with_a_vocabulary_that_needs_fewer_tokens_than_expected() {
    let vocabulary = loaded("coarse", &even(1, 6));
    assert_eq!(["", "a", "abcdef", "abc\nefg"].map(|text| vocabulary.count(text)), [0, 1, 1, 2]);
    for has_counting in [false, true] {
        let results = held(vocabulary.clone(), 8_000, has_counting);
        let total = results.total(Contender::Oneclaw, |_| true);
        assert_eq!([total.rejected, total.malformed, total.orphans, total.dead], [0; 4]);
        assert!(total.turns >= 360 && total.compactions > 5, "{total:?}");
        assert_eq!(total.counts > 0, has_counting);
        let upper = results.by_source();
        assert_eq!([upper.content.below, upper.anchor.below, upper.counted.below], [0; 3]);
        assert_eq!(upper.counted.bounds() > 0, has_counting);
        // A count is exact.
        assert_eq!((upper.counted.percentile(100), upper.counted.mean()), (0.0, 0.0));
        assert!(upper.content.median() > 50.0 && upper.anchor.median() < upper.content.median());
        if has_counting {
            assert_eq!((total.declined_early, findings::broken(&results)), (0, vec![]));
        }
        let html = report::html(&results);
        assert!(html.contains("unknown-sim") && html.contains(vocabulary.name()));
        let counting = if has_counting { " --counting" } else { "" };
        let command = format!(" --tokenizer {}{counting} --report", vocabulary.name());
        assert!(report::command(&results).contains(&command), "{}", report::command(&results));
    }
}

#[test]
fn a_vocabulary_that_needs_far_more_tokens_than_any_real_one_breaks_the_promise() {
    let results = held(loaded("dense", &even(4, 1)), 32_000, false);
    let total = results.total(Contender::Oneclaw, |_| true);
    let upper = results.by_source();
    assert!(
        total.rejected > 0 && upper.content.below > 0 && upper.content.worst_percent() > 20.0,
        "{total:?}"
    );
    let said = findings::broken(&results);
    assert!(said.iter().any(|s| s.contains("requests were refused as too long")), "{said:?}");
}

#[test]
fn results_that_were_kept_name_the_vocabulary_but_cannot_be_run_again() {
    let results = held(loaded("kept", &even(1, 6)), 8_000, false);
    let again: Results = serde_json::from_str(&serde_json::to_string(&results).unwrap()).unwrap();
    assert_eq!(report::html(&again), report::html(&results));
    assert_eq!(again.by_source(), results.by_source());
    assert_eq!(again.study.run(&|_| {}), Err(StudyFault::NoTokenizer));
}
