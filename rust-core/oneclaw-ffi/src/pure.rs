//! The core's pure parts as functions: shortening, estimating, planning, to whom a key belongs. Nothing is read or kept.

use crate::CoreError;
use crate::convert::{plan_out, preset_name};
use crate::error::invalid;
use crate::host::shape;
use crate::types::{Estimate, OutputShape, PlanPreview, Preset};
use oneclaw_catalogue::{Vendor, find};
use oneclaw_context::estimate::{Calibration, EstimatorState, Tariff, simple, text::measure};
use oneclaw_context::{Conversation, Fixed, Inputs, Moment, Policy, plan, truncate};
use oneclaw_model::{ModelLimits, PresetModel, Transcript};
use oneclaw_providers::Origin;

/// Shortens a tool result to its first characters and the marker, as the original app does. Characters are counted as
/// Kotlin counts them.
#[uniffi::export]
pub fn truncate_head(text: String, limit: i32) -> String {
    truncate::head(&text, usize::try_from(limit).unwrap_or(0)).into_owned()
}

/// Shortens a tool result by its shape to at most so many tokens of four characters.
#[uniffi::export]
pub fn truncate_shaped(text: String, output_shape: OutputShape, tokens: i32) -> String {
    truncate::shaped(&text, shape(output_shape), usize::try_from(tokens).unwrap_or(0)).into_owned()
}

/// To whom a key for that address belongs: scheme, host and port, spelt in one way. None where it is no address of a service.
#[uniffi::export]
pub fn origin_of(base_url: String) -> Option<String> {
    Origin::of(&base_url).ok().map(|origin| origin.to_string())
}

/// The simple estimate of a text: a quarter of its UTF-16 units, at least 1, 0 for none.
#[uniffi::export]
pub fn estimate_simple(text: String) -> i64 {
    crate::convert::size(simple(&text))
}

/// What a text costs on a model: the simple estimate, the likely size, and what it will hardly exceed.
#[uniffi::export]
pub fn estimate_text(text: String, model_id: Option<String>) -> Estimate {
    let model = model_id.map(|id| id.as_str().into());
    let tariff = Tariff::of(model.as_ref(), None, Calibration::default());
    let total = tariff.total(tariff.text(measure(&text)));
    Estimate {
        simple: crate::convert::size(simple(&text)),
        expected: crate::convert::size(total.expected),
        upper: crate::convert::size(total.upper),
    }
}

/// What would be sent next for a transcript (one JSON object per line), and why.
#[uniffi::export]
pub fn plan_transcript(
    transcript: String,
    system: Option<String>,
    model_id: Option<String>,
    window: i64,
    preset: Preset,
) -> Result<PlanPreview, CoreError> {
    let transcript = Transcript::read(&transcript).map_err(|fault| invalid("transcript", fault))?;
    let window = u64::try_from(window).map_err(|_| invalid("window", "is negative"))?;
    let policy = Policy::preset(preset_name(preset)).map_err(|fault| invalid("preset", fault))?;
    let longest = |id: &str| {
        let preset = PresetModel::find(id).map(|preset| preset.max_output);
        preset.or_else(|| find(Vendor::Compatible, id)?.limits.max_output)
    };
    let limits = ModelLimits {
        window: Some(window),
        input_limit: None,
        max_output: model_id.as_deref().and_then(longest),
    };
    let conversation =
        Conversation::of_transcript(transcript, model_id.as_deref(), Fixed::new(system, vec![]));
    let state = EstimatorState::default();
    Ok(plan_out(&plan(&Inputs::new(&conversation, &limits, &policy, &state, Moment::BeforeSend))))
}
