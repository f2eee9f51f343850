//! Which beginnings of prompts were seen before, and what a service would say about it.
//!
//! The grain is a block: a beginning counts as cached up to the last whole block that was sent before. Time does not
//! pass for this cache; nothing in it expires, the oldest entries give way when it is full.

use crate::window::{Measure, digest};
use oneclaw_model::{Dialect, ProviderKind};
use std::collections::{HashSet, VecDeque};

/// No service caches shorter prompts.
const LEAST: u64 = 1_024;
/// OpenAI reports cached tokens in steps.
const OPENAI_STEP: u64 = 128;
/// Anthropic looks so many blocks back from a breakpoint.
const LOOK_BACK: usize = 20;
/// As many beginnings are remembered.
const MOST_ENTRIES: usize = 100_000;

/// The parts of a prompt by how they would be billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Share {
    pub read: u64,
    pub written: u64,
}

/// The beginnings seen, by protocol and model.
#[derive(Default)]
pub(crate) struct PrefixCache {
    seen: HashSet<(u64, u64)>,
    order: VecDeque<(u64, u64)>,
}

impl PrefixCache {
    /// Looks a prompt up, and remembers it.
    pub fn visit(&mut self, dialect: Dialect, model: &str, measure: &Measure) -> Share {
        let scope = digest((dialect, model));
        let mut total = 0;
        let ends: Vec<(u64, u64, bool)> = measure
            .segments
            .iter()
            .map(|segment| {
                total += segment.tokens;
                (segment.chain, total, segment.is_breakpoint)
            })
            .collect();
        match dialect.kind() {
            kind @ (ProviderKind::OpenAi | ProviderKind::Gemini) => {
                let known = ends.iter().take_while(|(chain, ..)| self.knows(scope, *chain)).last();
                let known = known.map_or(0, |(_, tokens, _)| *tokens);
                for (chain, ..) in ends {
                    self.remember(scope, chain);
                }
                let step = if kind == ProviderKind::OpenAi { OPENAI_STEP } else { 1 };
                let counted = |tokens: u64| if tokens < LEAST { 0 } else { tokens / step * step };
                let read = counted(known);
                // Responses say what was written too.
                let written =
                    if dialect == Dialect::Responses { counted(total).saturating_sub(read) } else { 0 };
                Share { read, written }
            }
            ProviderKind::Anthropic => {
                let marked: Vec<usize> =
                    ends.iter().enumerate().filter_map(|(at, (.., marked))| marked.then_some(at)).collect();
                let in_reach = |at: usize| {
                    marked.iter().any(|mark| (mark.saturating_sub(LOOK_BACK)..=*mark).contains(&at))
                };
                let known = ends.iter().enumerate().rev().find(|(at, (chain, tokens, _))| {
                    *tokens >= LEAST && in_reach(*at) && self.knows(scope, *chain)
                });
                let read = known.map_or(0, |(_, (_, tokens, _))| *tokens);
                let mut written = 0;
                for (chain, tokens, _) in marked.iter().filter_map(|at| ends.get(*at)) {
                    if *tokens >= LEAST {
                        self.remember(scope, *chain);
                        written = tokens.saturating_sub(read);
                    }
                }
                Share { read, written }
            }
        }
    }

    fn knows(&self, scope: u64, chain: u64) -> bool {
        self.seen.contains(&(scope, chain))
    }

    fn remember(&mut self, scope: u64, chain: u64) {
        if self.seen.insert((scope, chain)) {
            self.order.push_back((scope, chain));
            if self.order.len() > MOST_ENTRIES
                && let Some(oldest) = self.order.pop_front()
            {
                self.seen.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Segment;

    fn prompt(parts: &[(u64, u64, bool)]) -> Measure {
        let segments = parts.iter().map(|(chain, tokens, is_breakpoint)| Segment {
            tokens: *tokens,
            chain: *chain,
            is_breakpoint: *is_breakpoint,
        });
        Measure { segments: segments.collect(), prompt: 0, tools: 0 }
    }

    #[test]
    fn openai_counts_in_steps_from_1024_on() {
        let mut cache = PrefixCache::default();
        let first = prompt(&[(1, 1_000, false), (2, 200, false)]);
        let longer = prompt(&[(1, 1_000, false), (2, 200, false), (3, 50, false)]);
        let other = prompt(&[(1, 1_000, false), (9, 200, false)]);
        let mut read = |prompt| cache.visit(Dialect::ChatCompletions, "m", prompt).read;
        assert_eq!(read(&first), 0);
        assert_eq!(read(&longer), 1_152);
        assert_eq!(read(&other), 0);
        assert_eq!(cache.visit(Dialect::ChatCompletions, "another", &first).read, 0);
        let mut read = || cache.visit(Dialect::GenerateContent, "m", &first).read;
        assert_eq!((read(), read()), (0, 1_200));
        let mut share = || cache.visit(Dialect::Responses, "m", &first);
        assert_eq!(
            (share(), share()),
            (Share { read: 0, written: 1_152 }, Share { read: 1_152, written: 0 })
        );
    }

    #[test]
    fn anthropic_caches_where_it_is_told_to() {
        let mut cache = PrefixCache::default();
        let mut visit = |parts: &[(u64, u64, bool)]| {
            let share = cache.visit(Dialect::Messages, "m", &prompt(parts));
            (share.read, share.written)
        };
        assert_eq!(visit(&[(1, 2_000, false), (2, 500, false)]), (0, 0));
        assert_eq!(visit(&[(1, 2_000, true), (2, 500, true), (3, 70, false)]), (0, 2_500));
        assert_eq!(visit(&[(1, 2_000, true), (2, 500, false), (3, 70, true)]), (2_500, 70));
        assert_eq!(visit(&[(1, 2_000, true), (5, 500, true)]), (2_000, 500));
        assert_eq!(visit(&[(7, 1_000, true)]), (0, 0));
        let far: Vec<(u64, u64, bool)> =
            (0..30).map(|n| if n == 0 { (1, 2_000, false) } else { (100 + n, 1, n == 29) }).collect();
        assert_eq!(visit(&far), (0, 2_029));
    }
}
