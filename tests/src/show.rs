//! Requests as short text that a person can review.

use oneclaw_model::{Request, RequestMessage};
use std::fmt::Write;

/// How much of a text is shown.
const SHOWN: usize = 160;

/// What the model would see, a paragraph per message, long texts with their middle left out.
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
            RequestMessage::Assistant { text, thinking, calls } => {
                writeln!(out, "[assistant]").unwrap();
                thinking.iter().for_each(|t| writeln!(out, "(thinks) {}", shortened(&t.text)).unwrap());
                if !text.is_empty() {
                    writeln!(out, "{}", shortened(text)).unwrap();
                }
                calls.iter().for_each(|c| writeln!(out, "-> {} {}({})", c.id, c.name, c.arguments).unwrap());
            }
            RequestMessage::ToolResult { call, text, failed, .. } => {
                let mark = if *failed { " failed" } else { "" };
                writeln!(out, "[tool {call}{mark}]\n{}", shortened(text)).unwrap();
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
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= 2 * SHOWN {
        return text.to_owned();
    }
    let head: String = chars[..SHOWN].iter().collect();
    let tail: String = chars[chars.len() - SHOWN..].iter().collect();
    format!("{head} …({} more)… {tail}", chars.len() - 2 * SHOWN)
}
