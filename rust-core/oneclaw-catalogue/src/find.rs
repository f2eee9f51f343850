//! Finds what is known of a model by its id.

use crate::{Facts, Vendor};
use once_cell::sync::Lazy;
use oneclaw_model::Dialect;

static CATALOGUE: Lazy<Vec<Facts>> = Lazy::new(|| read(include_str!("../data/catalogue.jsonl")));

fn read(lines: &str) -> Vec<Facts> {
    lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Everything the catalogue holds, families last.
pub fn all() -> &'static [Facts] {
    &CATALOGUE
}

/// What is known of a model at a service: of exactly that model, of the one it is a dated snapshot of, or of its family.
///
/// Servers that nobody knows are looked up by the names that only OpenAI, Anthropic and Google give: an open model is run
/// by many with windows of their own, so nothing is known of it there.
pub fn find(vendor: Vendor, model: &str) -> Option<Facts> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let services: &[&str] = match vendor.service() {
        Some(service) => &[service],
        None => &["openai", "anthropic", "gemini"],
    };
    let found =
        services.iter().find_map(|service| find_in(service, model).or_else(|| find_in(service, name)));
    found.map(|facts| spoken_at(vendor, facts.clone()))
}

fn find_in(service: &str, id: &str) -> Option<&'static Facts> {
    CATALOGUE.iter().find(|facts| facts.service == service && facts.id == id)
}

/// Routers speak chat completions whatever stands behind them.
fn spoken_at(vendor: Vendor, facts: Facts) -> Facts {
    let dialect = match (vendor, facts.dialect) {
        (Vendor::OpenRouter, _) => Dialect::ChatCompletions,
        (Vendor::Compatible, Dialect::Messages | Dialect::GenerateContent) => Dialect::ChatCompletions,
        (_, dialect) => dialect,
    };
    Facts { dialect, ..facts }
}
