//! How things are written on the screen: made harmless, made short, counted and drawn. Values in, text out.

use oneclaw_context::assemble::Parts;
use std::borrow::Cow;

/// How many cells the meter has.
const CELLS: u64 = 10;

/// A text that cannot steer the terminal: control characters become signs one can see, line breaks and tabs stay. Carriage
/// returns are left out, and so are characters that turn the direction of writing around.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_fine = |c: char| !steers(c) || c == '\n' || c == '\t';
    if text.chars().all(is_fine) {
        return Cow::Borrowed(text);
    }
    let visible = |c: char| match c {
        '\r' => None,
        c if is_fine(c) => Some(c),
        '\u{7f}' => Some('␡'),
        // The signs for control characters stand in the order of the characters.
        c if c < ' ' => char::from_u32(0x2400 + u32::from(c)),
        _ => Some('\u{fffd}'),
    };
    Cow::Owned(text.chars().filter_map(visible).collect())
}

/// Whether a terminal may take it for something else than a sign: control characters, and embeddings, overrides and
/// isolates, which make text read otherwise than it is.
pub fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The start of a text on one line, at most so many characters long.
pub fn one_line(text: &str, most: usize) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::new();
    let mut count = 0;
    let is_whole = words.all(|word| {
        for c in (!line.is_empty()).then_some(' ').into_iter().chain(word.chars()) {
            if count == most {
                return false;
            }
            line.push(c);
            count += 1;
        }
        true
    });
    if !is_whole {
        line.pop();
        line.push('…');
    }
    harmless(&line).into_owned()
}

/// What stands in the place of a window that nobody knows.
pub const UNKNOWN_WINDOW: &str = "window unknown — set it with /window N";

/// What is said of pictures that a model does not see.
pub fn pictures_left_out(count: u64) -> String {
    match count {
        1 => "This model sees no pictures: it was told the picture's name only.".to_owned(),
        count => format!("This model sees no pictures: it was told the names of {count} pictures only."),
    }
}

/// What is said of a large request to a model whose window is unknown.
pub fn window_unknown(expected: u64) -> String {
    format!(
        "The window of this model is unknown, and the request has about {} tokens; set it with /window N.",
        grouped(expected)
    )
}

/// 1234567 as 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// One thing or several.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(n), if n == 1 { one } else { many })
}

/// A duration as people say it.
pub fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1_000),
    }
}

/// How long ago something was, roughly.
pub fn ago(milliseconds: i64) -> String {
    let minutes = u64::try_from(milliseconds / 60_000).unwrap_or(0);
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1_440 => format!("{} h ago", minutes / 60),
        _ => format!("{} ago", counted(minutes / 1_440, "day", "days")),
    }
}

/// How full the window is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// The likely size of the next request.
    pub expected: u64,
    /// The window, if known.
    pub window: Option<u64>,
    /// Where the tokens go.
    pub parts: Parts<u64>,
}

/// The meter: `▕███░░░▏ 3,412 / 16,000 tokens (system 120 · …)`.
pub fn meter(usage: &Usage) -> String {
    let Parts { system, tools, summary, messages } = &usage.parts;
    let parts = format!(
        "(system {} · tools {} · summary {} · messages {})",
        grouped(*system),
        grouped(*tools),
        grouped(*summary),
        grouped(*messages)
    );
    let used = grouped(usage.expected);
    match usage.window.filter(|window| *window > 0) {
        None => format!("{used} tokens; {UNKNOWN_WINDOW} {parts}"),
        Some(window) => {
            let full = usage.expected.min(window).saturating_mul(CELLS).div_ceil(window);
            let bar: String = (0..CELLS).map(|cell| if cell < full { '█' } else { '░' }).collect();
            format!("▕{bar}▏ {used} / {} tokens {parts}", grouped(window))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(harmless("a\tb\nc é 😀"), "a\tb\nc é 😀");
        assert!(matches!(harmless("plain"), Cow::Borrowed(_)));
        assert_eq!(harmless("\u{1b}[2J\u{1b}]0;x\u{7}"), "␛[2J␛]0;x␇");
        assert_eq!(harmless("a\r\nb\rc"), "a\nbc");
        assert_eq!(harmless("\0\u{8}\u{7f}\u{9b}31m\u{202e}x"), "␀␈␡\u{fffd}31m\u{fffd}x");
        let all: String = (0..0x20u32).chain(0x7f..0xa0).filter_map(char::from_u32).collect();
        assert!(harmless(&all).chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
    }

    #[test]
    fn lines_are_short_and_single() {
        assert_eq!(one_line(" a\n b\t\u{1b}c ", 80), "a b ␛c");
        assert_eq!(one_line("abcdef", 6), "abcdef");
        assert_eq!(one_line("abcdefg", 6), "abcde…");
        assert_eq!(one_line("ééé ééé", 5), "ééé …");
        assert_eq!(one_line("", 5), "");
    }

    #[test]
    fn numbers_are_grouped() {
        let written = [0, 999, 1_000, 16_000, 1_234_567].map(grouped);
        assert_eq!(written, ["0", "999", "1,000", "16,000", "1,234,567"]);
        assert_eq!(counted(1, "day", "days") + &counted(2, "day", "days"), "1 day2 days");
        assert_eq!([7, 1_250, 61_000].map(duration), ["7 ms", "1.2 s", "1 min 1 s"]);
        let hours = [-5, 59_999, 120_000, 7_200_000, 86_400_000].map(ago);
        assert_eq!(hours, ["just now", "just now", "2 min ago", "2 h ago", "1 day ago"]);
    }

    #[test]
    fn the_meter_shows_the_parts() {
        let parts = Parts { system: 120, tools: 300, summary: 0, messages: 2_992 };
        let usage = Usage { expected: 3_412, window: Some(16_000), parts };
        assert_eq!(
            meter(&usage),
            "▕███░░░░░░░▏ 3,412 / 16,000 tokens (system 120 · tools 300 · summary 0 · messages 2,992)"
        );
        let over = Usage { expected: 20_000, ..usage.clone() };
        assert!(meter(&over).starts_with(&format!("▕{}▏ 20,000", "█".repeat(10))));
        let unknown = Usage { window: None, ..usage };
        assert!(
            meter(&unknown).starts_with("3,412 tokens; window unknown — set it with /window N (system 120")
        );
    }
}
