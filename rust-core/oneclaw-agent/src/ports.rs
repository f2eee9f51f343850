//! What the agent needs of its host: keys, time, chance. Tools are a port too ([`crate::tools::Tool`]).

use oneclaw_providers::{ApiKey, Origin};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

/// Hands out keys. They are asked for when a service is about to be spoken to, and kept nowhere.
pub trait KeyVault: Send + Sync {
    /// The key of a provider that was given for that origin; `None` if there is none. Where a provider is, the file says, and
    /// anybody may have written the file: a key that was given for another origin is none. May block. The error is shown to the
    /// user.
    fn key(&self, provider_id: &str, origin: &Origin) -> Result<Option<ApiKey>, String>;
}

/// Time and chance.
pub trait Surroundings: Send + Sync {
    /// Milliseconds since 1970.
    fn now(&self) -> i64;
    /// A number nobody else draws.
    fn random(&self) -> u128;
}

/// The machine's own time and chance.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Surroundings for System {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn random(&self) -> u128 {
        // Each state has keys of its own, drawn from the system's source of chance.
        let half = || u128::from(RandomState::new().build_hasher().finish());
        half() << 64 | half()
    }
}

/// A name for a new row: a random UUID, as the original app makes them.
pub(crate) fn new_id(surroundings: &dyn Surroundings) -> String {
    let random = surroundings.random();
    let versioned = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{versioned:032x}");
    let part = |range: std::ops::Range<usize>| hex.get(range).unwrap_or_default();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u128);

    impl Surroundings for Fixed {
        fn now(&self) -> i64 {
            0
        }
        fn random(&self) -> u128 {
            self.0
        }
    }

    #[test]
    fn names_are_uuids_of_version_4() {
        assert_eq!(new_id(&Fixed(0)), "00000000-0000-4000-8000-000000000000");
        assert_eq!(new_id(&Fixed(u128::MAX)), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_ne!(new_id(&System), new_id(&System));
    }
}
