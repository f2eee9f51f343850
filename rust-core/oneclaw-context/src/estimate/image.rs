//! What a picture costs: by its pixels, as each provider documents it, never by the length of its base64.

use super::Cost;
use oneclaw_model::{Attachment, ProviderKind};

/// OpenAI: scaled into 2048², then the short side to 768; 512-pixel tiles.
const OPENAI_TILE: u64 = 512;
/// Anthropic: a token per 750 pixels, the long side scaled to 1568.
const ANTHROPIC_PIXELS_PER_TOKEN: u64 = 750;
const ANTHROPIC_LONG_SIDE: u64 = 1_568;
/// OpenAI's small models count patches instead; this is the most they count for one picture (1,536 patches, times 2.46).
const OPENAI_PATCHES: u64 = 3_779;
/// Gemini: 258 tokens per tile; one tile up to 384², else tiles of two thirds of the short side, 256 to 768 pixels.
const GEMINI_TILE_TOKENS: u64 = 258;
const GEMINI_TILE_SIDES: (u64, u64) = (256, 768);
const GEMINI_SMALL: u64 = 384;
/// More tiles than this no provider makes of one picture.
const MOST_TILES: u64 = 64;

/// The cost of a picture for that provider (`None`: any of them). A picture of unknown size is taken for a large one.
pub fn cost(picture: &Attachment, provider: Option<ProviderKind>, model: &str) -> Cost {
    let size = match (picture.width, picture.height) {
        (Some(w), Some(h)) if w > 0 && h > 0 => Some((u64::from(w), u64::from(h))),
        _ => None,
    };
    match provider {
        Some(ProviderKind::OpenAi) => openai(size, model),
        Some(ProviderKind::Anthropic) => anthropic(size),
        Some(ProviderKind::Gemini) => gemini(size),
        None => {
            let all = [openai(size, model), anthropic(size), gemini(size)];
            Cost { expected: all[0].expected, upper: all.iter().map(|c| c.upper).max().unwrap_or_default() }
        }
    }
}

fn openai(size: Option<(u64, u64)>, model: &str) -> Cost {
    let (base, tile) = if model.starts_with("gpt-4o-mini") {
        (2_833, 5_667)
    } else if model.starts_with("o1") {
        (75, 150)
    } else {
        (85, 170)
    };
    let price = |tiles: u64| base + tile * tiles;
    match size {
        None => Cost::tokens(price(4), price(8)),
        Some((w, h)) => {
            let (w, h) = within(w, h, 2_048);
            let short = w.min(h);
            let (w, h) = if short > 768 { (w * 768 / short, h * 768 / short) } else { (w, h) };
            let tokens = price(w.div_ceil(OPENAI_TILE).max(1) * h.div_ceil(OPENAI_TILE).max(1));
            let is_small_model = ["mini", "nano"].iter().any(|name| model.contains(name));
            Cost::tokens(tokens, (tokens + tile).max(if is_small_model { OPENAI_PATCHES } else { 0 }))
        }
    }
}

fn anthropic(size: Option<(u64, u64)>) -> Cost {
    let largest = ANTHROPIC_LONG_SIDE * ANTHROPIC_LONG_SIDE / ANTHROPIC_PIXELS_PER_TOKEN;
    match size {
        None => Cost::tokens(largest / 2, largest),
        Some((w, h)) => {
            let (w, h) = within(w, h, ANTHROPIC_LONG_SIDE);
            let tokens = (w * h).div_ceil(ANTHROPIC_PIXELS_PER_TOKEN);
            Cost::tokens(tokens, tokens + tokens / 10 + 10)
        }
    }
}

fn gemini(size: Option<(u64, u64)>) -> Cost {
    match size {
        None => Cost::tokens(GEMINI_TILE_TOKENS * 4, GEMINI_TILE_TOKENS * 16),
        Some((w, h)) if w <= GEMINI_SMALL && h <= GEMINI_SMALL => {
            Cost::tokens(GEMINI_TILE_TOKENS, GEMINI_TILE_TOKENS)
        }
        Some((w, h)) => {
            let side = (w.min(h) * 2 / 3).clamp(GEMINI_TILE_SIDES.0, GEMINI_TILE_SIDES.1);
            let tiles = (w.div_ceil(side) * h.div_ceil(side)).min(MOST_TILES);
            Cost::tokens(GEMINI_TILE_TOKENS * tiles, GEMINI_TILE_TOKENS * (tiles + 2))
        }
    }
}

/// Scales down so that no side is longer than `side`.
fn within(w: u64, h: u64, side: u64) -> (u64, u64) {
    let long = w.max(h);
    if long <= side { (w, h) } else { ((w * side / long).max(1), (h * side / long).max(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> Attachment {
        let data = Some("A".repeat(1_000_000));
        Attachment {
            mime: "image/png".into(),
            name: "p".into(),
            width: Some(width),
            height: Some(height),
            data,
        }
    }

    fn expected(provider: ProviderKind, model: &str, width: u32, height: u32) -> u64 {
        cost(&picture(width, height), Some(provider), model).expected / 1_000
    }

    #[test]
    fn documented_examples() {
        assert_eq!(expected(ProviderKind::OpenAi, "gpt-4o", 1024, 1024), 765);
        assert_eq!(expected(ProviderKind::OpenAi, "gpt-4o", 2048, 4096), 1_105);
        assert_eq!(expected(ProviderKind::OpenAi, "gpt-4o-mini", 512, 512), 8_500);
        assert_eq!(expected(ProviderKind::Anthropic, "claude", 1000, 1000), 1_334);
        assert_eq!(expected(ProviderKind::Gemini, "gemini", 384, 384), 258);
        assert_eq!(expected(ProviderKind::Gemini, "gemini", 960, 540), 1_548);
    }

    #[test]
    fn absurd_sizes_stay_bounded() {
        for provider in
            [None, Some(ProviderKind::OpenAi), Some(ProviderKind::Anthropic), Some(ProviderKind::Gemini)]
        {
            for (w, h) in [(u32::MAX, u32::MAX), (u32::MAX, 1), (0, 0), (1, 1)] {
                let cost = cost(&picture(w, h), provider, "gpt-4o");
                assert!(
                    cost.expected <= cost.upper && cost.upper < 60_000_000,
                    "{provider:?} {w}x{h} {cost:?}"
                );
            }
        }
    }
}
