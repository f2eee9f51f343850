//! Everything about the text that stands for older rows: how it is asked for ([`prompt`]), when it is accepted
//! ([`gate`]), which facts it must carry ([`facts`], [`fact_block`]) and what stands there when no model can write it
//! ([`digest`]).

pub mod digest;
pub mod fact_block;
pub mod facts;
pub mod gate;
pub mod material;
pub mod prompt;

use oneclaw_model::Message;

/// Says that history was dropped without a summary (sven's emergency path).
pub fn emergency_notice() -> &'static str {
    include_str!("../../templates/emergency.md").trim_end()
}

/// Pinned messages as they stand beside a summary; nothing where none is pinned.
pub fn pins_block<'a>(pins: impl Iterator<Item = &'a Message>) -> String {
    let texts: Vec<String> =
        pins.filter_map(|pin| material::Item::of(pin, None)).map(|item| item.text()).collect();
    if texts.is_empty() { String::new() } else { format!("\n\nPinned messages:\n\n{}", texts.join("\n\n")) }
}
