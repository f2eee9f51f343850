//! The kinds of conversation.

use serde::{Deserialize, Serialize};

/// What a conversation is about, and so what makes it grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Talk, no tools.
    Chat,
    /// Many rounds of tools, side by side, with sources and logs.
    Coding,
    /// Pages of the web, some of them hundreds of kilobytes.
    Web,
    /// Chinese, Japanese, Korean.
    Cjk,
    /// Tables of numbers, hex, base64.
    Tables,
    /// Long quiet, then much at once.
    Bursts,
    /// Talk, and now and then one paste that is a large part of the window or more than it.
    Paste,
    /// A large and a small model with different tokenizers, in turns.
    Switch,
    /// Pictures from the user and from tools.
    Images,
}

/// All of them.
pub const KINDS: [Kind; 9] = [
    Kind::Chat,
    Kind::Coding,
    Kind::Web,
    Kind::Cjk,
    Kind::Tables,
    Kind::Bursts,
    Kind::Paste,
    Kind::Switch,
    Kind::Images,
];

impl Kind {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Coding => "coding",
            Self::Web => "web",
            Self::Cjk => "cjk",
            Self::Tables => "tables",
            Self::Bursts => "bursts",
            Self::Paste => "paste",
            Self::Switch => "switch",
            Self::Images => "images",
        }
    }

    /// The kind of that name.
    pub fn of(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.name() == name)
    }
}
