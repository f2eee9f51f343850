//! Patterns of ids: ordinary text in which `*` stands for any text, also for none.

/// Whether an id fits a pattern. Both are compared as they are; the catalogue's patterns are in lower case.
pub fn fits(pattern: &str, id: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == id };
    let Some(mut left) = id.strip_prefix(first) else { return false };
    let mut pieces = rest.split('*');
    let last = pieces.next_back().unwrap_or_default();
    for piece in pieces {
        let Some((_, after)) = left.split_once(piece) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, id) in [
            ("gpt-4o", "gpt-4o"),
            ("gpt-4o*", "gpt-4o"),
            ("gpt-4o*", "gpt-4o-mini"),
            ("*", ""),
            ("*/*", "openai/gpt-6-sol"),
            ("gpt-*-pro*", "gpt-5.4-pro-2026-03-05"),
            ("*-codex", "gpt-5-codex"),
            ("a*a", "aa"),
            ("*b*c", "abbcc"),
        ] {
            assert!(fits(pattern, id), "{pattern} {id}");
        }
        for (pattern, id) in [
            ("gpt-4o", "gpt-4o-mini"),
            ("gpt-4o*", "gpt-4"),
            ("*/*", "sonar"),
            ("a*a", "a"),
            ("*b*c", "acb"),
            ("", "a"),
        ] {
            assert!(!fits(pattern, id), "{pattern} {id}");
        }
    }
}
