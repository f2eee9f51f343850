//! Vocabularies from files: what a `tokenizer.json` of Hugging Face says a text costs.
//!
//! Only the count of plain text is taken from it. Special tokens that a user writes are text, none are added, nothing is
//! cut or filled up: all of that is the business of a service's own form of a prompt. What the file says is not
//! trusted: its size is bounded, and a model that passes over characters is refused, as its counts would be too low.

use crate::tokens::hash;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokenizers::models::ModelWrapper;
use tokenizers::{PostProcessorWrapper, Tokenizer};

/// No vocabulary in use comes near this: that of Gemma 3, the largest, has 33 megabytes.
const MOST_BYTES: u64 = 128 << 20;
/// Characters of one to four bytes that every model of a service can read.
const PROBES: [char; 7] = ['a', '~', '\n', '\u{e9}', '\u{1780}', '\u{1f9ff}', '\u{10fffd}'];

/// Why a file is no vocabulary. All of them name the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VocabularyError {
    /// The file cannot be read.
    #[error("cannot read the vocabulary {}: {why}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// Far larger than any vocabulary.
    #[error("{} is too large for a vocabulary: more than {MOST_BYTES} bytes", file.display())]
    TooLarge {
        /// The file.
        file: PathBuf,
    },
    /// Not JSON, or not an object.
    #[error("{} is no tokenizer.json: {why}", file.display())]
    NotJson {
        /// The file.
        file: PathBuf,
        /// What the parser says.
        why: String,
    },
    /// JSON, but not a vocabulary.
    #[error("{} is no tokenizer.json: it has no model", file.display())]
    NoModel {
        /// The file.
        file: PathBuf,
    },
    /// A model of another kind.
    #[error("the model in {} is of the kind {kind:?}; only BPE and Unigram can be counted with", file.display())]
    UnknownModel {
        /// The file.
        file: PathBuf,
        /// Its kind.
        kind: String,
    },
    /// The model is there, but cannot be made of what the file says.
    #[error("the vocabulary in {} cannot be used: {why}", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// A vocabulary; clones share it.
#[derive(Debug, Clone)]
pub struct LoadedVocabulary(Arc<Loaded>);

#[derive(Debug)]
struct Loaded {
    name: String,
    fingerprint: u64,
    tokenizer: Tokenizer,
}

impl PartialEq for LoadedVocabulary {
    fn eq(&self, other: &Self) -> bool {
        self.0.fingerprint == other.0.fingerprint
    }
}

impl Eq for LoadedVocabulary {}

/// What is looked at before the whole is made: a complaint about the rest of the file would not say what is wrong.
#[derive(Deserialize)]
struct Outline {
    model: Option<ModelOutline>,
}

#[derive(Deserialize)]
struct ModelOutline {
    #[serde(rename = "type")]
    kind: Option<String>,
    merges: Option<IgnoredAny>,
}

impl LoadedVocabulary {
    /// Reads a `tokenizer.json`.
    pub fn load(path: &Path) -> Result<Self, VocabularyError> {
        let file = path.to_owned();
        let text = read(path)?;
        let outline: Outline = match serde_json::from_str(&text) {
            Ok(outline) => outline,
            Err(why) => return Err(VocabularyError::NotJson { file, why: why.to_string() }),
        };
        let Some(model) = outline.model else { return Err(VocabularyError::NoModel { file }) };
        // Files of old do not name the kind; only a BPE has merges.
        let kind = model.kind.or_else(|| model.merges.map(|_| "BPE".to_owned())).unwrap_or_default();
        if !["BPE", "Unigram"].contains(&kind.as_str()) {
            return Err(VocabularyError::UnknownModel { file, kind });
        }
        let broken = |why: String| VocabularyError::Broken { file: file.clone(), why };
        // The crate indexes and unwraps in places, and the file is anybody's.
        let made = catch_unwind(AssertUnwindSafe(|| made(&text)));
        let tokenizer = made.unwrap_or_else(|_| Err("it contradicts itself".to_owned())).map_err(broken)?;
        let name = path.display().to_string();
        Ok(Self(Arc::new(Loaded { name, fingerprint: hash(&text), tokenizer })))
    }

    /// The file as it was named.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The same for files with the same content, and for no others.
    pub fn fingerprint(&self) -> u64 {
        self.0.fingerprint
    }

    /// For each token of a text, the character that it begins at or in.
    pub fn starts(&self, text: &str) -> Vec<usize> {
        let encoding = self.0.tokenizer.encode_char_offsets(text, false);
        encoding.map_or_else(
            |_| vec![],
            |encoding| encoding.get_offsets().iter().map(|(start, _)| *start).collect(),
        )
    }

    /// The tokens of a text, counted whole. A text that the vocabulary fails on counts as its bytes: no vocabulary in use
    /// needs more.
    pub fn count(&self, text: &str) -> u64 {
        match self.0.tokenizer.encode_fast(text, false) {
            Ok(encoding) => encoding.len() as u64,
            Err(_) => text.len() as u64,
        }
    }
}

fn read(path: &Path) -> Result<String, VocabularyError> {
    let unreadable = |why: String| VocabularyError::Unreadable { file: path.to_owned(), why };
    let open = || -> std::io::Result<Option<Vec<u8>>> {
        // Looked at before it is opened: opening a pipe would wait for a writer.
        if !std::fs::metadata(path)?.is_file() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    };
    let bytes = open().map_err(|error| unreadable(error.to_string()))?;
    let bytes = bytes.ok_or_else(|| unreadable("it is not a file".to_owned()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(VocabularyError::TooLarge { file: path.to_owned() });
    }
    String::from_utf8(bytes)
        .map_err(|_| VocabularyError::NotJson { file: path.to_owned(), why: "it is not text".to_owned() })
}

/// The tokenizer, without anything that is not about plain text; or what is wrong with it.
fn made(text: &str) -> Result<Tokenizer, String> {
    let mut tokenizer: Tokenizer = text.parse().map_err(|e: tokenizers::Error| e.to_string())?;
    tokenizer.with_padding(None).with_truncation(None).map_err(|e| e.to_string())?;
    tokenizer.with_post_processor(None::<PostProcessorWrapper>);
    tokenizer.set_encode_special_tokens(true);
    if let ModelWrapper::BPE(bpe) = tokenizer.get_model()
        && bpe.dropout.is_some_and(|share| share > 0.0)
    {
        // For training: pieces are chosen by chance.
        let mut bpe = bpe.clone();
        bpe.dropout = None;
        tokenizer.with_model(bpe);
    }
    for probe in PROBES {
        let encoding = tokenizer.encode_fast(probe.to_string(), false).map_err(|e| e.to_string())?;
        if encoding.is_empty() {
            return Err(format!("it has no token for {}", probe.escape_unicode()));
        }
    }
    Ok(tokenizer)
}
