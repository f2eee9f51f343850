//! `oneclaw truncate`

use crate::args::TruncateArgs;
use crate::{Failure, input};
use oneclaw_context::truncate::{head, shaped, utf16_len};
use std::io::Write;

pub fn run(args: &TruncateArgs, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let text = input::text()?;
    let short = match args.shape.shape() {
        None => head(&text, args.limit),
        Some(shape) => shaped(&text, shape, args.tokens),
    };
    if json {
        let value = serde_json::json!({
            "text": short,
            "truncated": *short != text,
            "characters": {"before": utf16_len(&text), "after": utf16_len(&short)},
        });
        writeln!(out, "{value}")?;
    } else {
        out.write_all(short.as_bytes())?;
    }
    Ok(())
}
