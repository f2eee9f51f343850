//! Requests as short text that a person can review.

use oneclaw_model::{Piece, Request, RequestMessage};
use std::fmt::Write;

/// How much of a long line is shown at its start and at its end.
const SHOWN: usize = 80;

/// What the model would see, a paragraph per message, long lines with their middle left out.
pub fn request(request: &Request) -> String {
    let mut out = String::new();
    if let Some(system) = &request.system {
        writeln!(out, "[system]\n{}\n", shortened(system)).unwrap();
    }
    if !request.tools.is_empty() {
        let names: Vec<&str> = request.tools.iter().map(|t| t.name.as_str()).collect();
        writeln!(out, "[tools] {}\n", names.join(", ")).unwrap();
    }
    for message in &request.messages {
        match message {
            RequestMessage::User { text, attachments } => {
                writeln!(out, "[user]\n{}", shortened(text)).unwrap();
                attachments.iter().for_each(|a| writeln!(out, "{}", a.label()).unwrap());
            }
            RequestMessage::Assistant { text, calls, trace } => {
                writeln!(out, "[assistant]").unwrap();
                for piece in trace {
                    if let Piece::Thinking(thinking) = piece {
                        writeln!(out, "(thinks) {}", shortened(thinking.texts()[0])).unwrap();
                    }
                }
                if !text.is_empty() {
                    writeln!(out, "{}", shortened(text)).unwrap();
                }
                calls.iter().for_each(|c| writeln!(out, "-> {} {}({})", c.id, c.name, c.arguments).unwrap());
            }
            RequestMessage::ToolResult { call, text, failed, attachments, .. } => {
                let mark = if *failed { " failed" } else { "" };
                writeln!(out, "[tool {call}{mark}]\n{}", shortened(text)).unwrap();
                attachments.iter().for_each(|a| writeln!(out, "{}", a.label()).unwrap());
            }
        }
        out.push('\n');
    }
    if let Some(max) = request.max_output {
        writeln!(out, "[at most {max} tokens]").unwrap();
    }
    out
}

fn shortened(text: &str) -> String {
    text.lines().map(shortened_line).collect::<Vec<_>>().join("\n")
}

fn shortened_line(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    // A little more than both ends is shown whole: the note would be no shorter.
    if chars.len() <= 3 * SHOWN {
        return line.to_owned();
    }
    let head: String = chars[..SHOWN].iter().collect();
    let tail: String = chars[chars.len() - SHOWN..].iter().collect();
    format!("{head} …({} more)… {tail}", chars.len() - 2 * SHOWN)
}
