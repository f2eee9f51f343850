//! What services count for a picture, as each documents it.

use oneclaw_model::ProviderKind;

/// How a service counts pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureRule {
    /// Into 2,048 squared, the short side to 768; 170 tokens for each tile of 512, and 85 besides.
    OpenAi,
    /// The long side to 1,568; a token for 750 pixels.
    Anthropic,
    /// 258 tokens for each tile; small pictures are one.
    Gemini,
}

impl PictureRule {
    /// That of a model, by its name.
    pub fn of_model(model: &str) -> Self {
        match ProviderKind::of_model(model) {
            Some(ProviderKind::Anthropic) => Self::Anthropic,
            Some(ProviderKind::Gemini) => Self::Gemini,
            Some(ProviderKind::OpenAi) | None => Self::OpenAi,
        }
    }

    /// The tokens of a picture by its width and height.
    pub fn tokens(self, (width, height): (u32, u32)) -> u64 {
        let (width, height) = (f64::from(width), f64::from(height));
        let scaled = |fit: f64| (width * fit.min(1.0), height * fit.min(1.0));
        match self {
            Self::OpenAi => {
                let within = (2_048.0 / width.max(height)).min(1.0);
                let (width, height) = scaled(within.min(768.0 / width.min(height)));
                85 + 170 * ((width / 512.0).ceil() * (height / 512.0).ceil()) as u64
            }
            Self::Anthropic => {
                let (width, height) = scaled(1_568.0 / width.max(height));
                (width * height / 750.0).ceil() as u64
            }
            Self::Gemini if width <= 384.0 && height <= 384.0 => 258,
            Self::Gemini => {
                let tile = (width.min(height) / 1.5).floor().clamp(256.0, 768.0);
                258 * ((width / tile).ceil() * (height / tile).ceil()) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_services_document_it() {
        for (model, size, tokens) in [
            ("gpt-4o", (1_024, 1_024), 765),
            ("gpt-4o", (2_048, 4_096), 1_105),
            ("claude-2.1", (200, 200), 54),
            ("claude-2.1", (1_000, 1_000), 1_334),
            ("claude-2.1", (3_136, 1_000), 1_046),
            ("gemini-2.5-pro", (300, 300), 258),
            ("gemini-2.5-pro", (960, 540), 258 * 6),
            ("llama-3.3-70b-instruct", (512, 512), 255),
        ] {
            assert_eq!(PictureRule::of_model(model).tokens(size), tokens, "{model} {size:?}");
        }
    }
}
