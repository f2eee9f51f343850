//! Shortening of texts that are too long to be sent to a model.
//!
//! This module decides **where a text is cut** and **what is written at the cut**: the plain head cut of
//! RFC-011 ([`head`]), the cut that looks at the kind of tool output ([`shaped`]) and the elision of the
//! middle of giant items ([`middle`]). It does *not* decide which texts are shortened, when, or which
//! [`Shape`] a tool's output has; it counts no tokens (a token is taken for four UTF-16 units) and it knows
//! nothing of messages, models or budgets.
//!
//! What holds for all functions here:
//!
//! * Lengths are UTF-16 units, as in the Kotlin original, so both cores cut at the same place.
//! * No character is ever split. [`shaped`] and [`middle`] also keep a CRLF, a combining mark, a variation
//!   selector or a zero-width-joiner sequence together where a few steps suffice; [`head`], whose cut the RFC
//!   fixes to the unit, does not.
//! * A line ends with its `\n`; a lone `\r` ends no line. A final `\n` is not followed by an empty line.
//! * A text that fits is returned borrowed, and a shortened text is not shortened again.
//! * The cost is linear in the text, and what is read twice is bounded by the cap, not by the text.

use std::borrow::Cow;

/// The length of a tool result, in UTF-16 units, above which [`head`] is to be applied
/// (RFC-011 `ToolResultTruncator.MAX_CHARS`, FEAT-011 `TOOL_RESULT_MAX_CHARS`).
pub const HEAD_CAP_UNITS: usize = 30_000;

/// The usual cap, in tokens, of a tool result shortened by [`shaped`] (sven's `tool_result_token_cap`).
pub const SHAPED_CAP_TOKENS: usize = 4_000;

const UNITS_PER_TOKEN: usize = 4;

/// Lines that [`Shape::HeadTail`] keeps at the beginning and at the end.
const HEAD_LINES: usize = 60;
const TAIL_LINES: usize = 40;

/// The parts of the RFC marker around its two numbers.
const MARKER_OPEN: &str = "\n\n[... content truncated, showing first ";
const MARKER_OF: &str = " of ";
const MARKER_CLOSE: &str = " characters ...]";

/// The longest number a marker may carry to be taken for one of ours.
const MARKER_DIGITS: usize = 20;

/// The line that follows the notice in [`Shape::FileContent`].
const READ_HINT: &str = "\n[... use read_file with offset/limit to see more ...]";

/// How many characters a cut may move to keep a character sequence together.
const SNAP_STEPS: usize = 32;

/// The longest word or number that is kept whole, in characters.
const LONGEST_WORD: usize = 32;

/// A cut by characters moves to a line edge where no more than this part of what is kept is lost.
const EDGE_SHARE: usize = 4;

/// The kind of a tool's output, which says what part of it matters most (sven's `OutputCategory`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Beginning and end matter, as in the output of a shell command or a build: 60 lines of the head and
    /// 40 of the tail, or 60 % and 40 % of the room.
    HeadTail,
    /// A list of matches, best or first first: whole leading lines.
    MatchList,
    /// The content of a file: head and tail in equal parts, and a hint how to read the rest.
    FileContent,
    /// Anything else: the head, cut at a line edge.
    Generic,
}

/// The length of a text in UTF-16 units, as Kotlin's `String.length` counts.
#[must_use]
pub fn utf16_len(text: &str) -> usize {
    sum_bytes(text.as_bytes(), unit_weight)
}

/// Keeps the first `limit` UTF-16 units of a longer text and appends the RFC-011 marker
/// `\n\n[... content truncated, showing first K of T characters ...]`.
///
/// `K` is what is kept: `limit`, or one less where `limit` would split a surrogate pair. `T` is the length of
/// the whole text. The marker comes on top of `limit`. A text that already ends in a marker which is true of
/// it (`K` units before it, at most `limit`, and a larger `T`) is left alone.
#[must_use]
pub fn head(text: &str, limit: usize) -> Cow<'_, str> {
    // A text has at most as many units as bytes.
    if text.len() <= limit || is_marked(text, limit) {
        return Cow::Borrowed(text);
    }
    let total = utf16_len(text);
    if total <= limit {
        return Cow::Borrowed(text);
    }
    let kept = slice(text, 0, prefix_len(text, limit));
    let marker = format!("{MARKER_OPEN}{}{MARKER_OF}{total}{MARKER_CLOSE}", utf16_len(kept));
    Cow::Owned([kept, &marker].concat())
}

/// Shortens a text to at most `cap_tokens` * 4 UTF-16 units, notices included, in the way its shape asks for.
///
/// At the cut stands, on a line of its own, `[... N lines / M bytes omitted ...]`. `M` is the exact number of
/// UTF-8 bytes of the original that are missing. `N` is the number of lines of the original of which nothing
/// is left, not even the line break; it is 0 when the cut lies inside one line. A line break that the notice
/// needs before or after itself belongs to the notice, not to the original.
///
/// A line that is longer than the room there is (for [`Shape::FileContent`]: than its half) is cut inside;
/// other lines stay whole, except with [`Shape::HeadTail`] when its 100 lines do not fit. The room is what
/// the longest possible notice, the one for the omission of everything, leaves of the cap. If even that
/// notice does not fit alone, the result is the beginning of the text without any notice; if only the hint of
/// [`Shape::FileContent`] does not fit, the hint is left out.
#[must_use]
pub fn shaped(text: &str, shape: Shape, cap_tokens: usize) -> Cow<'_, str> {
    let cap = cap_tokens.saturating_mul(UNITS_PER_TOKEN);
    shorten(text, cap, |source, room| match shape {
        Shape::HeadTail => {
            source.head_and_tail_lines(cap).unwrap_or_else(|| source.by_characters(room, 3, 5))
        }
        Shape::MatchList | Shape::Generic => source.leading_lines(room),
        Shape::FileContent => source.outer_lines(cap, room),
    })
}

/// Keeps head and tail of a text, half of the room each, within `cap_units` UTF-16 units.
///
/// The cut goes by characters, to a line edge where one is near, and not through numbers; the notice is that of [`shaped`].
#[must_use]
pub fn middle(text: &str, cap_units: usize) -> Cow<'_, str> {
    shorten(text, cap_units, |source, room| source.by_characters(room, 1, 2))
}

/// The first `head` and the last `tail` UTF-16 units of a text, as far as whole characters go.
#[must_use]
pub fn ends(text: &str, head: usize, tail: usize) -> (&str, &str) {
    let start = slice(text, 0, prefix_len(text, head));
    let end = slice(text, suffix_start(text, tail), text.len());
    (start, end)
}

/// Applies `cut` to a text over the cap. `cut` gets the room that the longest notice leaves.
fn shorten<'a>(text: &'a str, cap: usize, cut: impl FnOnce(&Source<'a>, usize) -> Cut) -> Cow<'a, str> {
    // A unit takes at most three bytes, so most texts need no counting.
    if text.len() <= cap || (text.len() / 3 <= cap && utf16_len(text) <= cap) {
        return Cow::Borrowed(text);
    }
    let source = Source::new(text);
    match cap.checked_sub(source.longest_notice) {
        Some(room) => Cow::Owned(source.join(&cut(&source, room))),
        None => Cow::Borrowed(slice(text, 0, prefix_len(text, cap))),
    }
}

/// What is left out, as byte offsets, and what is written after the notice.
struct Cut {
    from: usize,
    to: usize,
    hint: &'static str,
}

/// A text that has to be shortened.
struct Source<'a> {
    text: &'a str,
    /// The line breaks in the whole text.
    breaks: usize,
    /// The length of the notice for the omission of everything; no other is longer.
    longest_notice: usize,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Self {
        let mut source = Self { text, breaks: line_breaks(text), longest_notice: 0 };
        source.longest_notice = source.notice(0, text.len()).len();
        source
    }

    /// The lines of the whole text.
    fn lines(&self) -> usize {
        self.breaks + usize::from(!self.text.is_empty() && !self.text.ends_with('\n'))
    }

    /// The notice for the omission of the bytes `from..to`.
    fn notice(&self, from: usize, to: usize) -> String {
        let (head, tail) = (slice(self.text, 0, from), slice(self.text, to, self.text.len()));
        // Only what stays is read again; the omitted part may be huge.
        let breaks = self.breaks.saturating_sub(line_breaks(head)).saturating_sub(line_breaks(tail));
        // The lines that end in the omission, less the one that has begun in the head.
        let open_end = tail.is_empty() && !self.text.ends_with('\n');
        let lines =
            (breaks + usize::from(open_end)).saturating_sub(usize::from(!at_line_start(self.text, from)));
        format!("[... {lines} lines / {} bytes omitted ...]", to.saturating_sub(from))
    }

    /// Head, notice and tail in one text.
    fn join(&self, cut: &Cut) -> String {
        let (head, tail) = (slice(self.text, 0, cut.from), slice(self.text, cut.to, self.text.len()));
        let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let after = if tail.is_empty() { "" } else { "\n" };
        [head, before, &self.notice(cut.from, cut.to), cut.hint, after, tail].concat()
    }

    /// Head and tail by characters, moved to line edges or word edges nearby; the head gets `share` parts `of` the room.
    fn by_characters(&self, room: usize, share: usize, of: usize) -> Cut {
        // The line breaks before and after the notice.
        let room = room.saturating_sub(2);
        let head = room / of * share + room % of * share / of;
        let from = edge_before(self.text, prefix_len(self.text, head));
        let to = edge_after(self.text, suffix_start(self.text, room.saturating_sub(head)));
        Cut { from, to, hint: "" }
    }

    /// The first 60 and the last 40 lines, if there are more than these and they fit.
    fn head_and_tail_lines(&self, cap: usize) -> Option<Cut> {
        if self.lines() <= HEAD_LINES + TAIL_LINES {
            return None;
        }
        // Lines that do not end within the cap do not fit anyway.
        let head = slice(self.text, 0, prefix_len(self.text, cap));
        let (at, _) = head.match_indices('\n').nth(HEAD_LINES - 1)?;
        let from = at + 1;
        let start = suffix_start(self.text, cap);
        let tail = slice(self.text, start, self.text.len());
        let (at, _) = tail.strip_suffix('\n').unwrap_or(tail).rmatch_indices('\n').nth(TAIL_LINES - 1)?;
        let to = start + at + 1;
        let kept =
            utf16_len(slice(self.text, 0, from)) + utf16_len(slice(self.text, to, self.text.len())) + 1;
        (kept + self.notice(from, to).len() <= cap).then_some(Cut { from, to, hint: "" })
    }

    /// As many leading lines as the room holds.
    fn leading_lines(&self, room: usize) -> Cut {
        Cut { from: lines_prefix(self.text, room), to: self.text.len(), hint: "" }
    }

    /// Leading and final lines, half of the room each.
    fn outer_lines(&self, cap: usize, room: usize) -> Cut {
        let (room, hint) = match cap.checked_sub(self.longest_notice + READ_HINT.len()) {
            Some(room) => (room, READ_HINT),
            None => (room, ""),
        };
        // The line break after the notice.
        let room = room.saturating_sub(1);
        let from = lines_prefix(self.text, room / 2);
        Cut { from, to: lines_suffix(self.text, room - room / 2), hint }
    }
}

/// Where the leading lines end that fit into the room, which includes the line break before a notice.
/// A line that is longer than the room is cut inside.
fn lines_prefix(text: &str, room: usize) -> usize {
    // A head that ends in a line break needs no other one before the notice.
    let edge = slice(text, 0, prefix_len(text, room)).rfind('\n').map_or(0, |at| at + 1);
    let rest = slice(text, edge, text.len());
    let reach = prefix_len(rest, room);
    if reach == rest.len() || slice(rest, 0, reach).contains('\n') {
        return edge;
    }
    word_edge_before(text, prefix_len(text, room.saturating_sub(1))).max(edge)
}

/// Where the final lines begin that fit into the room. A line that is longer than the room is cut inside.
fn lines_suffix(text: &str, room: usize) -> usize {
    let start = suffix_start(text, room);
    if at_line_start(text, start) {
        return start;
    }
    let line_end = slice(text, start, text.len()).find('\n').map_or(text.len(), |at| start + at + 1);
    let reach = suffix_start(slice(text, 0, line_end), room);
    if at_line_start(text, reach) || slice(text, reach, start).contains('\n') {
        return line_end;
    }
    word_edge_after(text, start)
}

/// Whether a text ends in a true RFC marker. Only its end is read, unless a well-formed marker stands there.
fn is_marked(text: &str, limit: usize) -> bool {
    let kept_and_total = || {
        let rest = text.strip_suffix(MARKER_CLOSE)?;
        let (rest, total) = trailing_number(rest)?;
        let (rest, kept) = trailing_number(rest.strip_suffix(MARKER_OF)?)?;
        Some((rest.strip_suffix(MARKER_OPEN)?, kept, total))
    };
    kept_and_total().is_some_and(|(rest, kept, total)| {
        total > kept
            && usize::try_from(kept)
                .is_ok_and(|kept| kept <= limit && rest.len() / 3 <= kept && utf16_len(rest) == kept)
    })
}

/// Splits off the plain decimal number, of at most 20 digits and without leading zeros, that ends a text.
fn trailing_number(text: &str) -> Option<(&str, u128)> {
    let digits = text.bytes().rev().take(MARKER_DIGITS + 1).take_while(u8::is_ascii_digit).count();
    let (rest, number) = text.split_at_checked(text.len().checked_sub(digits)?)?;
    let plain = digits <= MARKER_DIGITS && (digits == 1 || !number.starts_with('0'));
    if plain { Some((rest, number.parse().ok()?)) } else { None }
}

/// The length in bytes of the longest beginning of a text that has at most `units` UTF-16 units.
fn prefix_len(text: &str, units: usize) -> usize {
    let (mut at, mut used) = (0, 0);
    for block in text.as_bytes().chunks(BLOCK) {
        let weight = sum_bytes(block, unit_weight);
        if used + weight > units {
            for byte in block {
                // Only the first byte of a character weighs anything, so this stops at a character.
                used += usize::from(unit_weight(*byte));
                if used > units {
                    return at;
                }
                at += 1;
            }
        }
        used += weight;
        at += block.len();
    }
    text.len()
}

/// Where the longest end of a text begins that has at most `units` UTF-16 units.
fn suffix_start(text: &str, units: usize) -> usize {
    let (mut at, mut used) = (text.len(), 0);
    for block in text.as_bytes().rchunks(BLOCK) {
        let weight = sum_bytes(block, unit_weight);
        if used + weight > units {
            for byte in block.iter().rev() {
                at -= 1;
                used += usize::from(unit_weight(*byte));
                if used > units {
                    return text.ceil_char_boundary(at + 1);
                }
            }
        }
        used += weight;
        at -= block.len();
    }
    0
}

/// Moves the end of a head back to a line edge if that costs at most a quarter of it, else to the edge of a word or number:
/// half a number is another number.
fn edge_before(text: &str, at: usize) -> usize {
    let head = slice(text, 0, at);
    let ends_line = slice(text, at, text.len()).starts_with('\n') && !head.ends_with('\r');
    match head.rfind('\n').map(|line| line + 1) {
        _ if at_line_start(text, at) || ends_line => at,
        Some(line) if at - line <= at / EDGE_SHARE => line,
        _ => word_edge_before(text, at),
    }
}

/// Moves the start of a tail forward in the same way.
fn edge_after(text: &str, at: usize) -> usize {
    let tail = slice(text, at, text.len());
    match tail.find('\n').map(|line| line + 1) {
        _ if at_line_start(text, at) => at,
        Some(line) if line <= tail.len() / EDGE_SHARE => at + line,
        _ => word_edge_after(text, at),
    }
}

/// Moves a cut back, out of a word or number, or of a character sequence.
fn word_edge_before(text: &str, at: usize) -> usize {
    word_around(text, at).map_or_else(|| snap_back(text, at), |(start, _)| start)
}

/// Moves a cut forward in the same way.
fn word_edge_after(text: &str, at: usize) -> usize {
    word_around(text, at).map_or_else(|| snap_forward(text, at), |(_, end)| end)
}

/// Where the word or number begins and ends that a cut is in; `None` where it is in none, or in a long one.
fn word_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let (before, after) = (slice(text, 0, at), slice(text, at, text.len()));
    let is_in_word = |ch: &char| ch.is_ascii_alphanumeric() || matches!(ch, '.' | ',' | '_' | '-');
    let back = before.chars().rev().take(LONGEST_WORD).take_while(is_in_word).count();
    let on = after.chars().take(LONGEST_WORD).take_while(is_in_word).count();
    // These characters have one byte each.
    (back > 0 && on > 0 && back + on <= LONGEST_WORD).then_some((at - back, at + on))
}

/// Moves a cut back, out of a character sequence that belongs together, unless that is long or all there is.
fn snap_back(text: &str, at: usize) -> usize {
    let mut cut = at;
    for _ in 0..SNAP_STEPS {
        if !is_joined(text, cut) {
            return if cut == 0 { at } else { cut };
        }
        cut = text.floor_char_boundary(cut.saturating_sub(1));
    }
    at
}

/// Moves a cut forward, in the same way as [`snap_back`].
fn snap_forward(text: &str, at: usize) -> usize {
    let mut cut = at;
    for _ in 0..SNAP_STEPS {
        if !is_joined(text, cut) {
            return if cut == text.len() { at } else { cut };
        }
        cut = text.ceil_char_boundary(cut + 1);
    }
    at
}

/// Whether the characters before and after a cut belong together. This is a cheap approximation of grapheme
/// clusters: it knows the common combining marks, not those of single scripts, and no flags.
fn is_joined(text: &str, at: usize) -> bool {
    let before = slice(text, 0, at).chars().next_back();
    let after = slice(text, at, text.len()).chars().next();
    match (before, after) {
        (Some('\r'), Some('\n')) => true,
        (None | Some('\n'), _) | (_, None) => false,
        (Some('\u{200d}'), Some(_)) => true,
        (Some(_), Some(after)) => matches!(
            after,
            // Combining diacritical marks and their supplements.
            '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
            | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
            // Zero-width joiner, variation selectors, emoji modifiers and tags.
            | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
            | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}'
        ),
    }
}

/// Whether a line begins at this offset.
fn at_line_start(text: &str, at: usize) -> bool {
    at == 0 || slice(text, 0, at).ends_with('\n')
}

fn line_breaks(text: &str) -> usize {
    sum_bytes(text.as_bytes(), |byte| u8::from(byte == b'\n'))
}

/// The part of a text between two offsets, which are character boundaries in order.
fn slice(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

/// The UTF-16 units of the character that begins with this byte; 0 for a byte inside a character.
fn unit_weight(byte: u8) -> u8 {
    u8::from(byte & 0xc0 != 0x80) + u8::from(byte >= 0xf0)
}

/// How far the searches for a cut step before they look at single bytes.
const BLOCK: usize = 512;

/// Sums a weight of at most 2 over bytes, in a form that the compiler turns into vector instructions: in
/// blocks of a fixed size, which are so small that a sum of one byte cannot overflow.
fn sum_bytes(bytes: &[u8], weight: impl Fn(u8) -> u8) -> usize {
    let sum = |block: &[u8]| usize::from(block.iter().map(|byte| weight(*byte)).fold(0_u8, u8::wrapping_add));
    let (blocks, rest) = bytes.as_chunks::<96>();
    blocks.iter().map(|block| sum(block)).sum::<usize>() + sum(rest)
}

#[cfg(test)]
#[allow(clippy::string_slice, reason = "a test that slices wrongly is to fail")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHAPES: [Shape; 4] = [Shape::HeadTail, Shape::MatchList, Shape::FileContent, Shape::Generic];
    const HINT_LINE: &str = "[... use read_file with offset/limit to see more ...]";

    fn units(text: &str) -> usize {
        text.encode_utf16().count()
    }

    fn numbered(lines: usize) -> String {
        (1..=lines).map(|line| format!("line {line}\n")).collect()
    }

    /// `N` of the notice, by its definition: the lines of which no byte is outside of `from..to`.
    fn hidden_lines(text: &str, from: usize, to: usize) -> usize {
        let mut end = 0;
        text.split_inclusive('\n')
            .filter(|line| {
                let start = end;
                end += line.len();
                from <= start && end <= to
            })
            .count()
    }

    /// All ways to read a result as head, notice and tail of the original whose numbers are right, as offsets
    /// of the omission. There may be several, as the original may contain notices.
    fn readings(text: &str, result: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for (at, _) in result.match_indices("[... ") {
            let (before, notice) = result.split_at(at);
            let Some((numbers, after)) = notice[5..].split_once(" bytes omitted ...]") else { continue };
            let Some((lines, bytes)) = numbers.split_once(" lines / ") else { continue };
            let (Ok(lines), Ok(bytes)) = (lines.parse::<usize>(), bytes.parse::<usize>()) else { continue };
            if !(before.is_empty() || before.ends_with('\n'))
                || !(after.is_empty() || after.starts_with('\n'))
            {
                continue;
            }
            let plain = after.strip_prefix('\n').unwrap_or(after);
            let hinted = plain.strip_prefix(HINT_LINE).map(|rest| rest.strip_prefix('\n').unwrap_or(rest));
            for head in [Some(before), before.strip_suffix('\n')].into_iter().flatten() {
                for tail in [Some(plain), hinted].into_iter().flatten() {
                    let (from, to) = (head.len(), from_end(text, tail));
                    if text.starts_with(head)
                        && text.ends_with(tail)
                        && head.len() + bytes + tail.len() == text.len()
                        && bytes > 0
                        && hidden_lines(text, from, to) == lines
                    {
                        found.push((from, to));
                    }
                }
            }
        }
        found
    }

    fn from_end(text: &str, tail: &str) -> usize {
        text.len().saturating_sub(tail.len())
    }

    #[test]
    fn counts_as_utf16() {
        for (text, expected) in [("", 0), ("abc", 3), ("é", 1), ("工具", 2), ("😀", 2), ("e\u{301}😀\r\n", 6)]
        {
            assert_eq!(utf16_len(text), expected, "{text:?}");
        }
        // Longer than what one lane can count, with the heaviest bytes there are.
        for count in [15, 16, 31, 32, 33, 1_000, 4_064, 4_065, 30_000] {
            assert_eq!(utf16_len(&"a".repeat(count)), count);
            assert_eq!(utf16_len(&"😀".repeat(count)), 2 * count);
            assert_eq!(line_breaks(&"\n".repeat(count)), count);
        }
    }

    #[test]
    fn head_leaves_exactly_the_limit_alone() {
        for text in ["a".repeat(30_000), "工".repeat(30_000), "😀".repeat(15_000)] {
            let result = head(&text, HEAD_CAP_UNITS);
            assert!(matches!(result, Cow::Borrowed(_)));
            assert_eq!(result, text);
        }
        assert_eq!(head("", 0), "");
    }

    #[test]
    fn head_cuts_one_more() {
        let result = head(&"a".repeat(30_001), HEAD_CAP_UNITS).into_owned();
        let marker = "\n\n[... content truncated, showing first 30000 of 30001 characters ...]";
        assert_eq!(result, "a".repeat(30_000) + marker);
    }

    #[test]
    fn head_counts_characters_as_kotlin_does() {
        let marker = "\n\n[... content truncated, showing first 30000 of 40000 characters ...]";
        assert_eq!(head(&"工".repeat(40_000), HEAD_CAP_UNITS), "工".repeat(30_000) + marker);
        assert_eq!(head(&"é".repeat(40_000), HEAD_CAP_UNITS), "é".repeat(30_000) + marker);
        assert_eq!(head(&"😀".repeat(20_000), HEAD_CAP_UNITS), "😀".repeat(15_000) + marker);
    }

    #[test]
    fn head_keeps_a_surrogate_pair_whole() {
        let text = "a".repeat(29_999) + "😀b";
        let marker = "\n\n[... content truncated, showing first 29999 of 30002 characters ...]";
        let result = head(&text, HEAD_CAP_UNITS);
        assert_eq!(result, "a".repeat(29_999) + marker);
        assert_eq!(head(&result, HEAD_CAP_UNITS), result);
        assert_eq!(head("😀", 1), "\n\n[... content truncated, showing first 0 of 2 characters ...]");
        assert_eq!(head("ab", 0), "\n\n[... content truncated, showing first 0 of 2 characters ...]");
    }

    #[test]
    fn head_of_a_megabyte() {
        let result = head(&"0123456789".repeat(100_000), HEAD_CAP_UNITS).into_owned();
        let marker = "\n\n[... content truncated, showing first 30000 of 1000000 characters ...]";
        assert_eq!(result, "0123456789".repeat(3_000) + marker);
    }

    #[test]
    fn head_respects_a_true_marker() {
        let marked = |kept: &str, k: &str, t: &str| {
            format!("{kept}\n\n[... content truncated, showing first {k} of {t} characters ...]")
        };
        for (kept, k, t) in [("abcde", "5", "6"), ("", "0", "1"), ("a😀", "3", "99999999999999999999")] {
            let text = marked(kept, k, t);
            assert!(matches!(head(&text, 5), Cow::Borrowed(_)), "{text}");
            assert_eq!(head(&text, 5), text);
        }
    }

    #[test]
    fn head_cuts_behind_a_forged_marker() {
        let huge = "9".repeat(1_000_000);
        for (kept, k, t) in [
            ("abcdef", "6", "7"),                    // more than the limit
            ("abcd", "5", "9"),                      // K is not what is kept
            ("a😀", "5", "9"),                       // K counts bytes
            ("abcde", "5", "5"),                     // T not greater
            ("abcde", "5", "06"),                    // leading zero
            ("abcde", "05", "6"),                    // leading zero
            ("abcde", "5", "+6"),                    // no plain decimal
            ("abcde", "5", ""),                      // no number
            ("abcde", "", "6"),                      // no number
            ("abcde", "5", "100000000000000000000"), // 21 digits
            ("abcde", "5", huge.as_str()),
            ("abcde", huge.as_str(), "6"),
        ] {
            let text = format!("{kept}\n\n[... content truncated, showing first {k} of {t} characters ...]");
            let marker =
                format!("\n\n[... content truncated, showing first 5 of {} characters ...]", units(&text));
            let first: String = text
                .chars()
                .scan(0, |used, c| {
                    *used += c.len_utf16();
                    (*used <= 5).then_some(c)
                })
                .collect();
            assert_eq!(head(&text, 5), first + &marker, "{kept} {} {}", k.len(), t.len());
        }
        // Not at the end.
        let text = "abcde\n\n[... content truncated, showing first 5 of 6 characters ...]\n";
        let expected = "abcde\n\n[... content truncated, showing first 5 of 68 characters ...]";
        assert_eq!(head(text, 5), expected);
    }

    #[test]
    fn short_texts_are_borrowed() {
        let text = "工".repeat(400);
        for shape in SHAPES {
            assert!(matches!(shaped(&text, shape, 100), Cow::Borrowed(same) if same == text));
            assert!(matches!(shaped(&text, shape, usize::MAX), Cow::Borrowed(same) if same == text));
            assert!(matches!(shaped(&text, shape, 99), Cow::Owned(_)));
        }
        assert!(matches!(middle(&text, 400), Cow::Borrowed(same) if same == text));
        assert!(matches!(middle(&text, 399), Cow::Owned(_)));
    }

    #[test]
    fn head_tail_keeps_sixty_and_forty_lines() {
        let text = numbered(500);
        let result = shaped(&text, Shape::HeadTail, 500).into_owned();
        let lines: Vec<&str> = result.lines().collect();
        assert_eq!(lines.len(), 101);
        assert_eq!((lines[0], lines[59]), ("line 1", "line 60"));
        assert_eq!(lines[60], "[... 400 lines / 3561 bytes omitted ...]");
        assert_eq!((lines[61], lines[100]), ("line 461", "line 500"));
        assert!(result.ends_with("line 500\n"));
        // The same without the last line break.
        assert_eq!(shaped(text.trim_end(), Shape::HeadTail, 500), result.trim_end());
    }

    #[test]
    fn head_tail_falls_back_to_characters() {
        let line = |length: usize| format!("{}\n", "x".repeat(length));
        // By lines, and just fitting.
        let result = shaped(&line(40).repeat(101), Shape::HeadTail, 1_035).into_owned();
        assert!(result.contains("\n[... 1 lines / 41 bytes omitted ...]\n"), "{result}");
        assert_eq!(units(&result), 4_100 + 36 + 1);
        for extra in 0..8 {
            let text = format!("{}{}", "x".repeat(extra), line(40).repeat(101));
            let result = shaped(&text, Shape::HeadTail, 1_035);
            assert_eq!(result.contains("\n[... 1 lines / 41 bytes"), extra <= 3, "{extra}");
        }
        // No more than one hundred lines, and more than that but over the cap.
        for (text, longest) in [
            (line(99).repeat(100), "[... 100 lines / 10000 bytes omitted ...]"),
            (line(99).repeat(200), "[... 200 lines / 20000 bytes omitted ...]"),
        ] {
            let result = shaped(&text, Shape::HeadTail, 1_000).into_owned();
            let [(from, to)] = readings(&text, &result)[..] else { panic!("{result}") };
            let room = 4_000 - longest.len() - 2;
            // Whole lines of 100 units.
            let whole = |room: usize| room / 100 * 100;
            assert_eq!((from, text.len() - to), (whole(room * 3 / 5), whole(room - room * 3 / 5)));
        }
    }

    #[test]
    fn match_lists_and_others_keep_leading_lines() {
        for shape in [Shape::MatchList, Shape::Generic] {
            // 100 units, less the notice of 40 for everything: 60, that is eight lines of 7 units.
            let text = numbered(200);
            let result = shaped(&text, shape, 25);
            let head = numbered(8);
            let left = text.len() - head.len();
            assert_eq!(result, format!("{head}[... 192 lines / {left} bytes omitted ...]"));
            // A line that ends exactly with the room needs no other line break.
            let text = format!("{}\n", "x".repeat(60)).repeat(20);
            let result = shaped(&text, shape, 25).into_owned();
            assert_eq!(result, format!("{}\n[... 19 lines / 1159 bytes omitted ...]", "x".repeat(60)));
            // Neither does it if the next line is a giant.
            let text = format!("{}\n{}", "x".repeat(61), "y".repeat(1_000));
            let result = shaped(&text, shape, 25).into_owned();
            assert_eq!(result, format!("{}\n[... 1 lines / 1000 bytes omitted ...]", "x".repeat(61)));
        }
    }

    #[test]
    fn file_content_keeps_both_ends() {
        let text = numbered(200);
        let result = shaped(&text, Shape::FileContent, 50);
        // 200 units, less the notice of 40, the hint of 54 and a line break: 105, 52 and 53.
        let (head, tail) = (numbered(7), "line 196\nline 197\nline 198\nline 199\nline 200\n");
        let left = text.len() - head.len() - tail.len();
        assert_eq!(result, format!("{head}[... 188 lines / {left} bytes omitted ...]\n{HINT_LINE}\n{tail}"));
    }

    #[test]
    fn file_content_cuts_only_lines_beyond_its_half() {
        // As above, 53 units for the tail.
        let text = format!("{}{}\nend\n", numbered(190), "x".repeat(52));
        assert!(shaped(&text, Shape::FileContent, 50).ends_with(&format!("\n{HINT_LINE}\nend\n")));
        let text = format!("{}{}\nend\n", numbered(190), "x".repeat(53));
        let tail = format!("\n{HINT_LINE}\n{}\nend\n", "x".repeat(48));
        assert!(shaped(&text, Shape::FileContent, 50).ends_with(&tail));
    }

    #[test]
    fn the_hint_goes_before_the_notice_goes() {
        let text = numbered(200);
        assert_eq!(text.len(), 1692);
        let all = "[... 200 lines / 1692 bytes omitted ...]";
        assert_eq!(all.len(), 40);
        assert_eq!(shaped(&text, Shape::FileContent, 10), all);
        assert_eq!(shaped(&text, Shape::FileContent, 9), &text[..36]);
        assert!(!shaped(&text, Shape::FileContent, 23).contains("read_file"));
        let expected = format!("[... 199 lines / 1691 bytes omitted ...]\n{HINT_LINE}\n\n");
        assert_eq!(shaped(&text, Shape::FileContent, 24), expected);
    }

    #[test]
    fn a_long_line_is_cut_inside() {
        let line = "0123456789".repeat(100);
        let notice = "[... 0 lines / 943 bytes omitted ...]";
        for shape in [Shape::MatchList, Shape::Generic] {
            // Nothing of the line is at the end, so only its head is visible.
            let expected = format!("{}\n[... 0 lines / 939 bytes omitted ...]", &line[..61]);
            assert_eq!(shaped(&line, shape, 25), expected);
            // Also behind a short line.
            let text = format!("found:\n{line}\nend\n");
            let expected = format!("found:\n{}\n[... 1 lines / 951 bytes omitted ...]", &line[..54]);
            assert_eq!(shaped(&text, shape, 25), expected);
        }
        let result = shaped(&line, Shape::HeadTail, 25);
        assert_eq!(
            result,
            format!("{}\n[... 0 lines / 940 bytes omitted ...]\n{}", &line[..36], &line[976..])
        );
        let result = shaped(&line, Shape::FileContent, 50);
        let [(from, to)] = readings(&line, &result)[..] else { panic!("{result}") };
        assert_eq!((from, line.len() - to), (52, 54));
        assert_eq!(middle(&line, 97), format!("{}\n{notice}\n{}", &line[..28], &line[971..]));
    }

    #[test]
    fn tiny_caps_give_the_beginning() {
        let text = "a😀".repeat(100);
        for shape in SHAPES {
            assert_eq!(shaped(&text, shape, 0), "");
            assert_eq!(shaped(&text, shape, 1), "a😀a");
            assert_eq!(shaped(&text, shape, 2), "a😀a😀a");
        }
        assert_eq!(middle(&text, 0), "");
        assert_eq!(middle(&text, 2), "a");
        let all = "[... 1 lines / 500 bytes omitted ...]";
        assert_eq!(middle(&text, 36), "a😀".repeat(12));
        assert_eq!(middle(&text, 37), all);
    }

    #[test]
    fn sequences_stay_together() {
        for unit in ["e\u{301}\u{302}", "👩\u{200d}👩\u{200d}👧", "❤\u{fe0f}", "👍\u{1f3fd}", "\r\n"]
        {
            let text = unit.repeat(200);
            for cap in 60..90 {
                let result = middle(&text, cap);
                let found = readings(&text, &result);
                // A line break of the text before the notice can be read as one of the notice.
                assert!(
                    found.iter().any(|(from, to)| from % unit.len() == 0 && to % unit.len() == 0),
                    "{unit:?} {cap} {found:?}"
                );
            }
        }
        // No base in reach: the cut is made where it falls.
        let text = "\u{301}".repeat(1_000);
        let result = middle(&text, 100);
        assert_eq!(utf16_len(&result), 100);
    }

    #[test]
    fn a_megabyte_of_any_kind() {
        for text in
            ["a".repeat(1_000_000), "\n".repeat(1_000_000), numbered(90_000), "工具😀\r\n".repeat(70_000)]
        {
            for shape in SHAPES {
                let result = shaped(&text, shape, SHAPED_CAP_TOKENS);
                assert!(units(&result) <= 16_000);
                assert!(units(&result) >= 100, "{shape:?} {}", units(&result));
                assert!(!readings(&text, &result).is_empty());
            }
        }
    }

    /// Pieces from which hostile texts are made.
    fn piece() -> impl Strategy<Value = String> {
        let fixed = prop::sample::select(vec![
            "\n",
            "\n\n",
            "\r\n",
            "\r",
            "a",
            "word ",
            "é",
            "e\u{301}",
            "\u{301}",
            "工",
            "😀",
            "\u{fe0f}",
            "👩\u{200d}👧",
            "\u{200d}",
            "\0",
            "\u{feff}",
            "[... ",
            " ...]",
            HINT_LINE,
            "\n\n[... content truncated, showing first ",
            "\n\n[... content truncated, showing first 1 of 2 characters ...]",
            "\n[... 3 lines / 12 bytes omitted ...]\n",
            "0 of 00 characters ...]",
        ]);
        (fixed, prop_oneof![4 => Just(1_usize), 2 => 1..20_usize, 1 => 100..700_usize])
            .prop_map(|(piece, times)| piece.repeat(times))
    }

    fn hostile() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => prop::collection::vec(piece(), 0..14).prop_map(|pieces| pieces.concat()),
            1 => (piece(), 1..300_usize).prop_map(|(piece, times)| {
                format!("{piece}\n").repeat(times.min(20_000 / (piece.len() + 1) + 1))
            }),
            1 => "\\PC{0,400}",
        ]
    }

    fn check(text: &str, result: Cow<'_, str>, cap: usize) -> Result<(), TestCaseError> {
        prop_assert!(units(&result) <= cap, "{} units", units(&result));
        if units(text) <= cap {
            prop_assert!(matches!(result, Cow::Borrowed(same) if same == text));
            return Ok(());
        }
        let all = format!("[... {} lines / {} bytes omitted ...]", text.lines().count(), text.len());
        if cap < all.len() {
            prop_assert!(text.starts_with(result.as_ref()));
            prop_assert!(units(&result) + 1 >= cap);
        } else {
            prop_assert!(!readings(text, &result).is_empty(), "{result:?}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 500, failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn units_and_cuts_agree_with_the_standard_library(text in hostile(), at in 0..3_000_usize) {
            prop_assert_eq!(utf16_len(&text), units(&text));
            let mut used = 0;
            let fits = |c: &char| { used += c.len_utf16(); used <= at };
            let front: usize = text.chars().take_while(fits).map(char::len_utf8).sum();
            prop_assert_eq!(prefix_len(&text, at), front);
            let mut used = 0;
            let fits = |c: &char| { used += c.len_utf16(); used <= at };
            let back: usize = text.chars().rev().take_while(fits).map(char::len_utf8).sum();
            prop_assert_eq!(suffix_start(&text, at), text.len() - back);
        }

        #[test]
        fn head_is_a_marked_prefix(text in hostile(), limit in prop_oneof![0..100_usize, 0..3_000_usize]) {
            let result = head(&text, limit);
            prop_assert_eq!(head(&result, limit), result.as_ref());
            if units(&text) <= limit {
                prop_assert!(matches!(&result, Cow::Borrowed(same) if *same == text));
            } else if result != text {
                let (kept, marker) = result.rsplit_once("\n\n").unwrap();
                prop_assert!(text.starts_with(kept));
                let next = text[kept.len()..].chars().next().map_or(0, char::len_utf16);
                prop_assert!(units(kept) == limit || (units(kept) + 1 == limit && next == 2));
                let expected = format!(
                    "[... content truncated, showing first {} of {} characters ...]",
                    units(kept),
                    units(&text),
                );
                prop_assert_eq!(marker, expected);
            } else {
                // Only a true marker lets a text pass.
                prop_assert!(units(&text) <= limit + MARKER_OPEN.len() + MARKER_CLOSE.len() + 44);
                prop_assert!(text.ends_with(MARKER_CLOSE));
            }
        }

        #[test]
        fn head_is_not_applied_twice(text in hostile(), limit in 0..500_usize, forged in any::<u64>()) {
            let marked = format!("{text}{MARKER_OPEN}{}{MARKER_OF}{forged}{MARKER_CLOSE}", units(&text));
            let passes = units(&text) <= limit && forged > units(&text) as u64;
            let result = head(&marked, limit);
            prop_assert_eq!(result == marked, passes || units(&marked) <= limit);
            prop_assert_eq!(head(&result, limit), result.as_ref());
        }

        #[test]
        fn shaped_keeps_its_promises(text in hostile(), tokens in prop_oneof![0..30_usize, 0..600_usize]) {
            for shape in SHAPES {
                let result = shaped(&text, shape, tokens);
                check(&text, result.clone(), tokens * 4)?;
                prop_assert_eq!(shaped(&result, shape, tokens), result.as_ref());
            }
        }

        #[test]
        fn no_number_is_cut(
            rows in proptest::collection::vec(proptest::collection::vec(0_u64..10_000_000, 1..30), 1..60),
            cap in 100..2_400_usize,
        ) {
            let line = |row: &Vec<u64>| row.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
            let text: String = rows.iter().map(line).collect::<Vec<_>>().join("\n");
            let known: std::collections::HashSet<&str> = text.split_whitespace().collect();
            let cut = [Shape::HeadTail, Shape::FileContent, Shape::Generic].map(|s| shaped(&text, s, cap / 4));
            for cut in cut.into_iter().chain([middle(&text, cap)]) {
                let lines = cut.lines().filter(|line| !line.starts_with("[..."));
                for number in lines.flat_map(str::split_whitespace) {
                    prop_assert!(known.contains(number), "{} is new in {:?}", number, cut);
                }
            }
        }

        #[test]
        fn middle_keeps_its_promises(text in hostile(), cap in prop_oneof![0..120_usize, 0..2_400_usize]) {
            let result = middle(&text, cap);
            check(&text, result.clone(), cap)?;
            prop_assert_eq!(middle(&result, cap), result.as_ref());
        }

        #[test]
        fn lines_stay_whole_where_they_fit(
            lines in prop::collection::vec("[a-z工😀]{0,20}", 20..200),
            tokens in 25..80_usize,
            crlf in any::<bool>(),
        ) {
            let text = lines.join(if crlf { "\r\n" } else { "\n" });
            prop_assume!(units(&text) > tokens * 4);
            for shape in [Shape::MatchList, Shape::Generic, Shape::FileContent] {
                let result = shaped(&text, shape, tokens);
                let whole = readings(&text, &result).into_iter().any(|(from, to)| {
                    let edges = at_line_start(&text, from) && (to == text.len() || at_line_start(&text, to));
                    // One more line would not have fitted beside the longest notice.
                    let next = text[from..].split_inclusive('\n').next().unwrap_or_default();
                    let more = units(&text[..from]) + units(next) + Source::new(&text).longest_notice;
                    let full = shape == Shape::FileContent || more > tokens * 4;
                    edges && full
                });
                // Lines of up to 42 units may exceed the half of a small room.
                prop_assert!(whole || (shape == Shape::FileContent && tokens < 50), "{result:?}");
            }
        }
    }
}
