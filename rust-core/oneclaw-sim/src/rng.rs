//! The one source of chance: seeded, passed in, the same on every machine.

/// SplitMix64: small, and good enough for conversations.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Starts from a seed and a path of numbers below it, so that each conversation has chances of its own.
    pub fn of(seed: u64, path: &[u64]) -> Self {
        let mut rng = Self(seed ^ 0x6a09_e667_f3bc_c908);
        for step in path {
            rng.0 = rng.number() ^ step.wrapping_mul(0xd6e8_feb8_6659_fd93);
        }
        rng
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high.saturating_sub(low) + 1)
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, n: u64) -> bool {
        self.number() % 100 < n
    }

    /// One of them; `None` where there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let index = self.number() as usize % items.len().max(1);
        items.get(index)
    }
}
