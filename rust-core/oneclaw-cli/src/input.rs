//! Reading what the user gives, within bounds, with errors that name what is wrong and where.

use crate::Failure;
use oneclaw_model::{ToolSpec, Transcript};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

/// No conversation is that long; what is longer is not read into memory.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

/// Standard input as text.
pub fn text() -> Result<String, Failure> {
    utf8(bytes()?, "standard input")
}

/// Standard input as it is.
pub fn bytes() -> Result<Vec<u8>, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        // A hint for people; nothing depends on it.
        let _ = writeln!(io::stderr(), "oneclaw: reading standard input; end it with Ctrl-D");
    }
    bounded(stdin.lock(), "standard input")
}

/// A file as text.
pub fn file(path: &Path) -> Result<String, Failure> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|e| Failure::Failed(format!("cannot read {name}: {e}")))?;
    utf8(bounded(file, &name)?, &name)
}

fn bounded(reader: impl Read, name: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = reader.take(MOST_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|e| Failure::Failed(format!("cannot read {name}: {e}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::Failed(format!("{name} is larger than {MOST_BYTES} bytes")));
    }
    Ok(bytes)
}

fn utf8(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        let line = e.as_bytes().iter().take(valid).filter(|b| **b == b'\n').count() + 1;
        Failure::Failed(format!("{name} is not UTF-8: line {line}, byte {valid}"))
    })
}

/// The transcript on standard input.
pub fn transcript() -> Result<Transcript, Failure> {
    Transcript::read(&text()?).map_err(|e| Failure::Failed(format!("transcript: {e}")))
}

/// The tools in a file, as a bare array or in OpenAI's wrapping.
pub fn tools(path: &Path) -> Result<Vec<ToolSpec>, Failure> {
    let name = path.display().to_string();
    let wrong = |what: String| Failure::Failed(format!("{name}: {what}"));
    let value: serde_json::Value =
        serde_json::from_str(&file(path)?).map_err(|e| wrong(format!("not JSON: {e}")))?;
    let serde_json::Value::Array(items) = value else {
        return Err(wrong("expected a JSON array of tools".into()));
    };
    let tool = |(index, item): (usize, serde_json::Value)| {
        let inner = item.get("function").cloned().unwrap_or(item);
        serde_json::from_value(inner).map_err(|e| wrong(format!("tool {}: {e}", index + 1)))
    };
    items.into_iter().enumerate().map(tool).collect()
}
