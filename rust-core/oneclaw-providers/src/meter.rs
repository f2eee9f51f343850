//! What may be spent on one thing: requests, and the tokens of their prompts. Counts every request that goes out, attempts after
//! failures included; decides nothing about what happens when it is used up.

use crate::ProviderError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts requests, and refuses those that would be too many. Clones count together.
#[derive(Debug, Clone)]
pub struct Meter {
    spent: Arc<Mutex<Spent>>,
    most_requests: u64,
    most_tokens: Arc<AtomicU64>,
    /// How large the requests are that this clone counts.
    size: u64,
    /// The part of everything that this clone may spend.
    share: (u64, u64),
}

/// What was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Requests that were sent.
    pub requests: u64,
    /// The tokens of their prompts, as they were taken to be.
    pub tokens: u64,
}

impl Meter {
    /// So many requests and tokens.
    pub fn new(requests: u64, tokens: u64) -> Self {
        Self {
            spent: Arc::default(),
            most_requests: requests,
            most_tokens: Arc::new(AtomicU64::new(tokens)),
            size: 0,
            share: (1, 1),
        }
    }

    /// Another number of tokens, once it is known.
    pub fn allow_tokens(&self, tokens: u64) {
        self.most_tokens.store(tokens, Ordering::SeqCst);
    }

    /// The same for requests of that size.
    #[must_use]
    pub fn for_size(&self, tokens: u64) -> Self {
        Self { size: tokens, ..self.clone() }
    }

    /// The same, with the last third left to others.
    #[must_use]
    pub fn but_the_last_third(&self) -> Self {
        Self { share: (2, 3), ..self.clone() }
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails where a request of that size would be too many.
    pub fn check(&self) -> Result<(), ProviderError> {
        self.after(self.spent()).map(drop)
    }

    /// Counts a request that is about to go out; fails where it would be too many. The first one never is.
    pub(crate) fn take(&self) -> Result<(), ProviderError> {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = self.after(*spent)?;
        Ok(())
    }

    fn after(&self, spent: Spent) -> Result<Spent, ProviderError> {
        let (part, whole) = self.share;
        let share = |most: u64| {
            u64::try_from(u128::from(most) * u128::from(part) / u128::from(whole)).unwrap_or(most)
        };
        let next = Spent {
            requests: spent.requests.saturating_add(1),
            tokens: spent.tokens.saturating_add(self.size),
        };
        let most_tokens = share(self.most_tokens.load(Ordering::SeqCst));
        let is_too_much = next.requests > share(self.most_requests) || next.tokens > most_tokens;
        if spent != Spent::default() && is_too_much { Err(used_up(spent)) } else { Ok(next) }
    }

    /// The error that says so.
    pub fn used_up(&self) -> ProviderError {
        used_up(self.spent())
    }
}

fn used_up(Spent { requests, tokens }: Spent) -> ProviderError {
    ProviderError::Budget { requests, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(meter: &Meter, times: usize) -> usize {
        (0..times).filter(|_| meter.take().is_ok()).count()
    }

    #[test]
    fn clones_count_together_and_what_is_too_much_is_refused() {
        let meter = Meter::new(6, 1_000);
        assert_eq!(taken(&meter.for_size(100).but_the_last_third(), 9), 4);
        assert_eq!(taken(&meter.for_size(100), 9), 2);
        assert_eq!(meter.spent(), Spent { requests: 6, tokens: 600 });
        assert_eq!(meter.check(), Err(ProviderError::Budget { requests: 6, tokens: 600 }));
        let tokens = Meter::new(100, 1_000);
        assert_eq!(taken(&tokens.for_size(300), 9), 3);
        tokens.allow_tokens(2_000);
        assert_eq!(taken(&tokens.for_size(300), 9), 3);
    }

    #[test]
    fn the_first_request_goes_out_whatever_its_size() {
        let meter = Meter::new(9, 1_000).for_size(u64::MAX);
        assert_eq!((meter.check(), taken(&meter, 3)), (Ok(()), 1));
        assert_eq!(taken(&Meter::new(0, 0), 3), 1);
    }
}
