//! The service of the simulation: how it counts, what the engine is told of it, whether it says what a request would cost.

use crate::pictures::PictureRule;
use crate::tokens::Tokenizer;
use crate::vocabulary::LoadedVocabulary;
use serde::{Deserialize, Serialize};

/// A model whose vocabulary the engine knows.
const KNOWN: &str = "gpt-4o-sim";
/// A model that tells the engine nothing.
const UNKNOWN: &str = "unknown-sim";

/// A service.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// The name of its model, by which the engine makes its assumptions.
    pub model: String,
    /// The file with its vocabulary; without one it counts with o200k.
    pub file: Option<String>,
    /// Whether it says what a request would cost.
    pub has_counting: bool,
    /// Not part of results: they name the file.
    #[serde(skip)]
    vocabulary: Option<LoadedVocabulary>,
}

impl Default for Service {
    fn default() -> Self {
        Self { model: KNOWN.to_owned(), file: None, has_counting: false, vocabulary: None }
    }
}

impl Service {
    /// A service that counts with a vocabulary from a file. Its model is one that the engine does not know.
    pub fn counting_with(vocabulary: LoadedVocabulary) -> Self {
        Self {
            model: UNKNOWN.to_owned(),
            file: Some(vocabulary.name().to_owned()),
            has_counting: false,
            vocabulary: Some(vocabulary),
        }
    }

    /// How it counts.
    pub fn tokenizer(&self) -> Tokenizer {
        match &self.vocabulary {
            None => Tokenizer::O200k,
            Some(vocabulary) => Tokenizer::File(vocabulary.clone(), PictureRule::of_model(&self.model)),
        }
    }

    /// What it counts with, in words: the file, or the name of the vocabulary.
    pub fn tokenizer_name(&self) -> &str {
        self.file.as_deref().unwrap_or("o200k")
    }

    /// Whether it can be asked: that of earlier results has lost its vocabulary.
    pub fn is_there(&self) -> bool {
        self.file.is_some() == self.vocabulary.is_some() && self.tokenizer().is_there()
    }

    /// What the engine is told is the default.
    pub(crate) fn is_known_model(&self) -> bool {
        self.model == if self.file.is_some() { UNKNOWN } else { KNOWN }
    }
}
