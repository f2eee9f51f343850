//! `oneclaw truncate`

use crate::args::TruncateArgs;
use crate::{Failure, input, json};
use oneclaw_context::truncate::{head, shaped, utf16_len};
use std::io::Write;

pub fn run(args: &TruncateArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let bytes = input::bytes()?;
    // Truncation never fails: what is not UTF-8 passes as it is, and only where it is cut are bad bytes replaced.
    let text = String::from_utf8_lossy(&bytes);
    let short = match args.shape.shape() {
        None => head(&text, args.limit),
        Some(shape) => shaped(&text, shape, usize::try_from(args.tokens).unwrap_or(usize::MAX)),
    };
    let is_truncated = *short != *text;
    if is_json {
        let value = serde_json::json!({
            "text": short,
            "truncated": is_truncated,
            "characters": {"before": utf16_len(&text), "after": utf16_len(&short)},
        });
        json::print(out, &value)?;
    } else {
        out.write_all(if is_truncated { short.as_bytes() } else { &bytes })?;
    }
    Ok(())
}
