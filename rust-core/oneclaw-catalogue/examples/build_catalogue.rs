//! Writes `data/catalogue.jsonl` from `data/facts.jsonl` and `data/families.jsonl`; `scripts/build-catalogue` runs it.

#[path = "../builder/mod.rs"]
mod builder;

use std::fs;
use std::path::Path;

fn main() -> Result<(), String> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let read = |name: &str| fs::read_to_string(data.join(name)).map_err(|error| format!("{name}: {error}"));
    let catalogue = builder::build(&read("facts.jsonl")?, &read("families.jsonl")?)?;
    fs::write(data.join("catalogue.jsonl"), catalogue).map_err(|error| format!("catalogue.jsonl: {error}"))
}
