//! Who takes part: our four presets, the four documents they come from, and no compaction at all.

use crate::baseline::{self, nous::Nous, opencode::OpenCode, rfc011::Rfc011, sven::Sven};
use crate::estimates::Estimates;
use crate::ours::Ours;
use crate::script::{Script, Turn};
use crate::world::{Outcome, World};
use oneclaw_context::policy::{NOUS, ONECLAW, OPENCODE, SVEN};
use serde::{Deserialize, Serialize};

/// A policy that can be put to a script.
pub trait Play {
    /// One message of the user and all that follows from it.
    fn turn(&mut self, turn: &Turn, world: &mut World<'_>) -> Outcome;

    /// How far estimates were off, where that was studied.
    fn estimates(&mut self) -> Option<Estimates> {
        None
    }
}

/// A policy by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Contender {
    /// Our default.
    #[serde(rename = "oneclaw")]
    Oneclaw,
    /// RFC-011 to the letter.
    #[serde(rename = "rfc-011")]
    Rfc011,
    /// Our preset.
    #[serde(rename = "sven")]
    Sven,
    /// sven's document to the letter.
    #[serde(rename = "sven-doc")]
    SvenDoc,
    /// The same, in a kinder reading of its emergency path.
    #[serde(rename = "sven-doc-safe")]
    SvenDocSafe,
    /// Our preset.
    #[serde(rename = "nous")]
    Nous,
    /// Nous 008.1 to the letter.
    #[serde(rename = "nous-doc")]
    NousDoc,
    /// Our preset.
    #[serde(rename = "opencode")]
    Opencode,
    /// OpenCode's document to the letter.
    #[serde(rename = "opencode-doc")]
    OpencodeDoc,
    /// Everything is sent, always.
    #[serde(rename = "none")]
    None,
}

/// All of them, each preset before its document.
pub const CONTENDERS: [Contender; 10] = [
    Contender::Oneclaw,
    Contender::Rfc011,
    Contender::Sven,
    Contender::SvenDoc,
    Contender::SvenDocSafe,
    Contender::Nous,
    Contender::NousDoc,
    Contender::Opencode,
    Contender::OpencodeDoc,
    Contender::None,
];

impl Contender {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Oneclaw => "oneclaw",
            Self::Rfc011 => "rfc-011",
            Self::Sven => "sven",
            Self::SvenDoc => "sven-doc",
            Self::SvenDocSafe => "sven-doc-safe",
            Self::Nous => "nous",
            Self::NousDoc => "nous-doc",
            Self::Opencode => "opencode",
            Self::OpencodeDoc => "opencode-doc",
            Self::None => "none",
        }
    }

    /// The contender of that name.
    pub fn of(name: &str) -> Option<Self> {
        CONTENDERS.into_iter().find(|contender| contender.name() == name)
    }

    /// The document a preset of ours comes from.
    pub const fn document(self) -> Option<Self> {
        match self {
            Self::Oneclaw => Some(Self::Rfc011),
            Self::Sven => Some(Self::SvenDoc),
            Self::Nous => Some(Self::NousDoc),
            Self::Opencode => Some(Self::OpencodeDoc),
            Self::Rfc011
            | Self::SvenDoc
            | Self::SvenDocSafe
            | Self::NousDoc
            | Self::OpencodeDoc
            | Self::None => None,
        }
    }

    /// Whom a preset of ours is compared with, turn by turn: our default with all, the others with their document.
    pub fn rivals(self) -> Vec<Self> {
        let is_rival = |other: &Self| match self {
            Self::Oneclaw => !other.is_ours(),
            Self::Sven => matches!(other, Self::SvenDoc | Self::SvenDocSafe),
            _ => self.document() == Some(*other),
        };
        CONTENDERS.into_iter().filter(is_rival).collect()
    }

    /// Whether it is one of our presets.
    pub const fn is_ours(self) -> bool {
        self.document().is_some()
    }

    /// A conversation under it. Estimates of our default are compared with the truth once in so many rows.
    pub fn play(self, script: &Script, sample_every: u64) -> Box<dyn Play> {
        match self {
            Self::Oneclaw => Box::new(Ours::new(&ONECLAW, script).studied(sample_every)),
            Self::Sven => Box::new(Ours::new(&SVEN, script)),
            Self::Nous => Box::new(Ours::new(&NOUS, script)),
            Self::Opencode => Box::new(Ours::new(&OPENCODE, script)),
            Self::Rfc011 => Box::new(baseline::Loop(Rfc011::new(script))),
            Self::SvenDoc => Box::new(baseline::Loop(Sven::new(script))),
            Self::SvenDocSafe => Box::new(baseline::Loop(Sven::safe(script))),
            Self::NousDoc => Box::new(Nous::new(script)),
            Self::OpencodeDoc => Box::new(baseline::Loop(OpenCode::new(script))),
            Self::None => Box::new(baseline::Loop(baseline::Everything::new(script))),
        }
    }
}
