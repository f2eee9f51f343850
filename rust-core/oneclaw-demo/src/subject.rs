//! What a request is read against: the model it names, what is known of it, and how the server is set up.

use crate::config::{Flavour, Model};
use crate::window::digest;
use oneclaw_catalogue::{Ability, Date, Facts, Reasoning, Refusal};
use oneclaw_model::Effort;

/// The model of a request and what the request may and may not say to it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub model: &'a Model,
    /// What is known of the model; `None` lets it behave as the demo model does.
    pub facts: Option<&'a Facts>,
    pub flavour: Flavour,
    /// The values of `anthropic-beta`.
    pub betas: &'a str,
    /// Whether only the size of the prompt is asked for.
    pub is_count: bool,
    pub seal: Seal,
}

impl Subject<'_> {
    /// Whether the model is known to refuse that.
    pub fn refuses(&self, what: Refusal) -> bool {
        self.facts.is_some_and(|facts| facts.refuses(what))
    }

    /// Whether the model is known to be unable to do that.
    pub fn cannot(&self, ability: Ability) -> bool {
        self.facts.is_some_and(|facts| !facts.can(ability))
    }

    /// How the model reasons, where it is known to.
    pub fn reasoning(&self) -> Option<&Reasoning> {
        self.facts?.reasoning.as_ref()
    }

    /// Whether a beta is asked for.
    pub fn has_beta(&self, name: &str) -> bool {
        self.betas.split(',').any(|beta| beta.trim() == name)
    }

    /// Whether the model is known and was switched off by that day.
    pub fn is_off(&self, today: Date) -> bool {
        self.facts.is_some_and(|facts| facts.is_off(today))
    }

    /// The efforts the model takes as a list in words, for a refusal; `but` leaves one out.
    pub fn efforts(&self, but: Option<Effort>) -> Vec<Effort> {
        let all = self.reasoning().map(|reasoning| reasoning.efforts.clone()).unwrap_or_default();
        all.into_iter().filter(|effort| Some(*effort) != but).collect()
    }
}

/// What a server signs with, so that what it made can be told from what another made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal(u64);

impl Seal {
    pub fn new(seed: u64) -> Self {
        Self(digest(("seal", seed)))
    }

    /// A text of hexadecimal digits for these numbers, with a proof at its end.
    pub fn close(self, numbers: &[u64]) -> String {
        let proof = digest((self.0, numbers));
        numbers.iter().chain([&proof]).map(|number| format!("{number:016x}")).collect()
    }

    /// The numbers of a text that [`Self::close`] made; `None` for any other.
    pub fn open<const N: usize>(self, text: &str) -> Option<[u64; N]> {
        if !text.is_ascii() || text.len() != (N + 1) * 16 {
            return None;
        }
        let part = |at: usize| u64::from_str_radix(text.get(at * 16..at * 16 + 16)?, 16).ok();
        let mut numbers = [0; N];
        for (at, number) in numbers.iter_mut().enumerate() {
            *number = part(at)?;
        }
        (self.close(&numbers) == text).then_some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_only_where_it_was_made_and_as_it_was() {
        let seal = Seal::new(1);
        let text = seal.close(&[7, 8]);
        assert_eq!(seal.open::<2>(&text), Some([7, 8]));
        assert_eq!(Seal::new(2).open::<2>(&text), None);
        assert_eq!(seal.open::<1>(&text), None);
        assert_eq!(seal.open::<2>(&text.replace('7', "9")), None);
        assert_eq!(seal.open::<2>("ä"), None);
    }
}
