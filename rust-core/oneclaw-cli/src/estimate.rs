//! `oneclaw estimate`

use crate::args::EstimateArgs;
use crate::models::maker;
use crate::{Failure, input, json};
use oneclaw_context::estimate::{Calibration, Estimate, MeasuredRow, Tariff, simple_row};
use serde::Serialize;
use std::io::Write;

/// One row, or all of them.
#[derive(Serialize)]
struct Size {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    simple: u64,
    expected: u64,
    upper: u64,
}

#[derive(Serialize)]
struct Sizes {
    #[serde(flatten)]
    total: Size,
    messages: Vec<Size>,
}

pub fn run(args: &EstimateArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let transcript = input::transcript()?;
    let model = args.model.as_deref().map(Into::into);
    let tariff = Tariff::of(model.as_ref(), args.model.as_deref().and_then(maker), Calibration::default());
    let mut total = Size { id: None, simple: 0, expected: 0, upper: 0 };
    let mut messages = Vec::new();
    for row in transcript.rows {
        let simple = simple_row(&row);
        let id = row.id.clone();
        let Estimate { expected, upper } = tariff.total(MeasuredRow::new(row.into_message()).cost(&tariff));
        total.simple += simple;
        total.expected += expected;
        total.upper += upper;
        messages.push(Size { id: Some(id), simple, expected, upper });
    }
    let sizes = Sizes { total, messages };
    if is_json {
        return json::print(out, &sizes);
    }
    writeln!(out, "{:>10} {:>10} {:>10}  row", "simple", "expected", "upper")?;
    for size in sizes.messages.iter().chain([&sizes.total]) {
        let name = size.id.as_deref().unwrap_or("total").escape_debug();
        writeln!(out, "{:>10} {:>10} {:>10}  {name}", size.simple, size.expected, size.upper)?;
    }
    Ok(())
}
