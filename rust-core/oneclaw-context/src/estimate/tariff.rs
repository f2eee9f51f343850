//! What a model makes of a text: by its family of vocabularies, with what its service adds for messages and tools, its pixel
//! rule, and what its reports taught ([`super::Calibration`]).

use super::text::{TextMeasure, with_chance, without_chance};
use super::{Calibration, Cost, Estimate, Vocabulary, image};
use oneclaw_model::{Attachment, ModelId, ProviderKind};

/// The price list for one model.
#[derive(Debug, Clone)]
pub struct Tariff {
    provider: Option<ProviderKind>,
    model: String,
    calibration: Calibration,
    vocabulary: Vocabulary,
    /// Added once when tools are offered.
    tools: Cost,
    /// Whether the model sees no pictures, so that only their labels are sent.
    is_blind: bool,
}

impl Tariff {
    /// Added once per request.
    pub const REQUEST: Cost = Cost::tokens(3, 12);
    /// Added per message: role and separators.
    pub const MESSAGE: Cost = Cost::tokens(4, 7);
    /// Added per tool call: id, name and structure around the arguments.
    pub const CALL: Cost = Cost::tokens(8, 24);
    /// Added per tool result: the id of the call, above the message overhead.
    pub const RESULT: Cost = Cost::tokens(2, 20);
    /// Added per tool offered.
    pub const TOOL: Cost = Cost::tokens(8, 16);

    /// The price list of a model, corrected by what its reports showed.
    pub fn of(model: Option<&ModelId>, provider: Option<ProviderKind>, calibration: Calibration) -> Self {
        // A router's name for a model has the vendor before it.
        let model = model.map_or("", |m| m.as_str().rsplit('/').next().unwrap_or_default()).to_owned();
        let provider = provider.or_else(|| ProviderKind::of_model(&model));
        let tools = match provider {
            Some(ProviderKind::OpenAi) => Cost::tokens(4, 16),
            Some(ProviderKind::Anthropic) => Cost::tokens(346, 420),
            Some(ProviderKind::Gemini) | None => Cost::tokens(4, 64),
        };
        let vocabulary = Vocabulary::of(&model, provider);
        Self { provider, model, calibration, vocabulary, tools, is_blind: false }
    }

    /// The price list of the same model if it sees no pictures.
    pub fn blind(self, is_blind: bool) -> Self {
        Self { is_blind, ..self }
    }

    /// The family of vocabularies its texts are measured by.
    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    /// A text that was measured.
    pub fn text(&self, measure: TextMeasure) -> Cost {
        Cost {
            expected: measure.expected_milli(self.vocabulary),
            upper: measure.upper_milli(self.vocabulary),
        }
    }

    /// What was attached: pictures by their pixels, other files by their label.
    pub fn attachments(&self, attachments: &[Attachment]) -> Cost {
        let one = |a: &Attachment| {
            if a.is_image() && !self.is_blind {
                image::cost(a, self.provider, &self.model)
            } else {
                self.text(super::text::measure(&a.label()))
            }
        };
        attachments.iter().map(one).sum()
    }

    /// The tools offered, by what their texts cost and how many there are.
    pub fn tools(&self, texts: TextMeasure, count: usize) -> Cost {
        if count == 0 {
            return Cost::ZERO;
        }
        (0..count).map(|_| Self::TOOL).sum::<Cost>() + self.tools + self.text(texts)
    }

    /// The largest cost whose [`Self::upper`] is no more than so many tokens.
    pub fn cost_of(&self, tokens: u64) -> Cost {
        let milli = tokens as f64 * 1_000.0 / self.calibration.factor().max(1.0);
        let upper = without_chance(milli as u64);
        Cost { expected: upper.min((tokens as f64 * 1_000.0 / self.calibration.factor()) as u64), upper }
    }

    /// A sum of costs in whole tokens, raised by what reports showed. It may be of other content than the reports were of, so
    /// they lower only what is expected.
    pub fn total(&self, cost: Cost) -> Estimate {
        self.rounded(cost, with_chance(cost.upper) as f64 * self.calibration.factor().max(1.0))
    }

    /// A whole request of a conversation in whole tokens, raised and lowered by what reports on its requests showed.
    pub fn request(&self, cost: Cost) -> Estimate {
        let upper = with_chance(cost.upper) as f64;
        self.rounded(cost, self.calibration.upper(cost.expected as f64, upper, self.knows_vocabulary()))
    }

    fn rounded(&self, cost: Cost, upper: f64) -> Estimate {
        let up = |milli: f64| (milli / 1_000.0).ceil() as u64;
        let expected = up(self.calibration.expected(cost.expected as f64));
        Estimate { expected, upper: up(upper).max(expected) }
    }

    fn knows_vocabulary(&self) -> bool {
        self.vocabulary.is_published()
    }

    /// How many whole tokens, at most.
    pub fn upper(&self, cost: Cost) -> u64 {
        self.total(cost).upper
    }

    /// The upper size of a text on its own.
    pub fn upper_text(&self, text: &str) -> u64 {
        self.upper(self.text(super::text::measure(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::text::measure;

    #[test]
    fn upper_is_never_below_expected_and_grows_with_the_factor() {
        let learnt = Calibration::default().after(300, 100);
        for calibration in [Calibration::default(), learnt, Calibration::default().after(1, 100)] {
            for model in ["gpt-4o", "claude-opus-4-5-20251101", "gemini-2.5-pro", "qwen"] {
                let tariff = Tariff::of(Some(&model.into()), None, calibration);
                let total = tariff.total(tariff.text(measure("Call me at 555 0123 4567, please.")));
                assert!(total.expected <= total.upper, "{model} {total:?}");
            }
        }
        let plain = Tariff::of(Some(&"gpt-4o".into()), None, Calibration::default());
        let grown = Tariff::of(Some(&"gpt-4o".into()), None, learnt);
        assert!(grown.upper_text("some text of a few words") > plain.upper_text("some text of a few words"));
    }

    #[test]
    fn digits_count_one_by_one_where_the_tokenizer_may_do_so() {
        let digits = "8".repeat(999);
        let of =
            |model: &str| Tariff::of(Some(&model.into()), None, Calibration::default()).upper_text(&digits);
        assert!(of("gpt-4o") < 600);
        assert!(of("gemini-2.5-pro") >= 999 && of("mistral-large") >= 999);
    }
}
