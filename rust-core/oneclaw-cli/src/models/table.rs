//! Models as lines of text, in columns. Names come from services and are made harmless.

use super::entry::{Entry, Price, Rate};
use crate::chat::harmless;

/// A column is at most so wide; what is longer moves the rest of its line to the right and is not cut.
const WIDEST: usize = 48;
const UNKNOWN: &str = "unknown";

/// How much is said of each model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// All there is.
    Whole,
    /// Without the longest reply and the price of large prompts.
    Short,
}

/// A heading and a line for each model; nothing for none.
pub fn lines(entries: &[Entry], detail: Detail) -> Vec<String> {
    if entries.is_empty() {
        return vec![];
    }
    let heading = ["MODEL", "WINDOW", "REPLY", "$ PER M IN/OUT", "ABILITIES", "END"].map(str::to_owned);
    let rows: Vec<[String; 6]> =
        std::iter::once(heading).chain(entries.iter().map(|entry| row(entry, detail))).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).filter(|width| *width <= WIDEST).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 6]| {
        let columns = row.iter().zip(&widths).enumerate();
        let shown = columns.filter(|(column, _)| detail == Detail::Whole || *column != 2);
        let cells: Vec<String> = shown.map(|(_, (cell, width))| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn row(entry: &Entry, detail: Detail) -> [String; 6] {
    [
        one_line(&entry.id),
        window(entry),
        entry.max_output.map_or(UNKNOWN.to_owned(), size),
        entry.price.as_ref().map_or(UNKNOWN.to_owned(), |price| money(price, detail)),
        abilities(entry),
        end(entry).unwrap_or_default(),
    ]
}

/// A name that cannot steer the terminal or break the line.
fn one_line(name: &str) -> String {
    harmless(name).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// The window, and the limit on the prompt where that is another.
pub fn window(entry: &Entry) -> String {
    match (entry.window, entry.input_limit.filter(|limit| Some(*limit) != entry.window)) {
        (Some(window), Some(limit)) => format!("{} (input {})", size(window), size(limit)),
        (Some(window), None) => size(window),
        (None, Some(limit)) => format!("input {}", size(limit)),
        (None, None) => UNKNOWN.to_owned(),
    }
}

/// When it is, or was, switched off, if that is known.
pub fn end(entry: &Entry) -> Option<String> {
    match (entry.ends, entry.switched_off) {
        (Some(day), true) => Some(format!("switched off {day}")),
        (Some(day), false) => Some(format!("until {day}")),
        (None, _) => None,
    }
}

/// A number of tokens, short: 950, 8.1K, 128K, 1.05M. As the screens write it: never more than there is.
fn size(tokens: u64) -> String {
    let (unit, letter, parts) = match tokens {
        0..1_000 => return tokens.to_string(),
        1_000..1_000_000 => (1_000, 'K', 10),
        _ => (1_000_000, 'M', 100),
    };
    let scaled = u128::from(tokens) * parts / unit;
    let (whole, rest) = (scaled / parts, scaled % parts);
    if whole >= 10 || rest == 0 {
        return format!("{whole}{letter}");
    }
    let digits = if parts == 100 { format!("{rest:02}") } else { rest.to_string() };
    format!("{whole}.{}{letter}", digits.trim_end_matches('0'))
}

/// `2/10, above 272K 4/15`
fn money(price: &Price, detail: Detail) -> String {
    let mut text = rate(&price.rates);
    if detail == Detail::Whole {
        for tier in &price.tiers {
            text += &format!(", above {} {}", size(tier.above), rate(&tier.rates));
        }
    }
    text
}

fn rate(rate: &Rate) -> String {
    if rate.input == Some(0.0) && rate.output == Some(0.0) {
        return "free".to_owned();
    }
    format!("{}/{}", dollars(rate.input), dollars(rate.output))
}

fn dollars(amount: Option<f64>) -> String {
    let Some(amount) = amount else { return "?".to_owned() };
    let text = format!("{amount:.4}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "0" if amount > 0.0 => "<0.0001".to_owned(),
        text => text.to_owned(),
    }
}

fn abilities(entry: &Entry) -> String {
    let all = [
        (entry.tools, "tools"),
        (entry.pictures, "pictures"),
        (entry.pdf, "PDF"),
        (entry.thinking, "thinking"),
    ];
    let can: Vec<&str> = all.iter().filter(|(can, _)| *can == Some(true)).map(|(_, word)| *word).collect();
    match (can.is_empty(), all.iter().all(|(can, _)| can.is_none())) {
        (_, true) => UNKNOWN.to_owned(),
        (true, false) => "text only".to_owned(),
        (false, false) => can.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::entry::Tier;
    use oneclaw_catalogue::Date;

    fn entry(id: &str) -> Entry {
        Entry {
            id: id.to_owned(),
            name: None,
            window: None,
            input_limit: None,
            max_output: None,
            price: None,
            tools: None,
            pictures: None,
            pdf: None,
            thinking: None,
            ends: None,
            switched_off: false,
        }
    }

    fn rates(input: f64, output: f64) -> Rate {
        Rate { input: Some(input), output: Some(output), cache_read: None, cache_write: None }
    }

    #[test]
    fn columns_are_aligned_and_names_whole_and_harmless() {
        let whole = Entry {
            window: Some(1_050_000),
            input_limit: Some(922_000),
            max_output: Some(128_000),
            price: Some(Price {
                rates: rates(2.0, 10.0),
                tiers: vec![Tier { above: 272_000, rates: rates(4.0, 15.0) }],
            }),
            tools: Some(true),
            pictures: Some(true),
            pdf: Some(false),
            thinking: Some(true),
            ends: Date::try_from("2026-10-23".to_owned()).ok(),
            switched_off: true,
            ..entry("big-model")
        };
        let long = entry(&"x".repeat(60));
        let odd = Entry { tools: Some(false), window: Some(8_192), ..entry("a\u{1b}[2J\n\tb") };
        let lines = lines(&[whole.clone(), long, odd], Detail::Whole);
        assert_eq!(
            lines,
            [
                "MODEL      WINDOW              REPLY    $ PER M IN/OUT         ABILITIES                  END",
                "big-model  1.05M (input 922K)  128K     2/10, above 272K 4/15  tools, pictures, thinking  switched off 2026-10-23",
                &format!("{}  unknown             unknown  unknown                unknown", "x".repeat(60)),
                "a␛[2J\u{fffd}\u{fffd}b   8.1K                unknown  unknown                text only",
            ]
        );
        assert_eq!(
            super::lines(&[whole], Detail::Short)[1],
            "big-model  1.05M (input 922K)  2/10            tools, pictures, thinking  switched off 2026-10-23"
        );
        assert!(super::lines(&[], Detail::Whole).is_empty());
    }

    #[test]
    fn numbers_are_short() {
        let written =
            [950, 1_000, 8_192, 16_000, 131_072, 999_999, 1_000_000, 1_048_576, 10_500_000].map(size);
        assert_eq!(written, ["950", "1K", "8.1K", "16K", "131K", "999K", "1M", "1.04M", "10M"]);
        assert_eq!(rate(&rates(0.0, 0.0)), "free");
        assert_eq!(rate(&Rate { output: None, ..rates(0.075, 0.0) }), "0.075/?");
        assert_eq!(rate(&rates(100_000.0, 0.00001)), "100000/<0.0001");
    }
}
