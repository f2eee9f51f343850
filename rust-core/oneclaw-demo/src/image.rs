//! What a picture costs: by its pixels, as each provider documents it, never by the length of its base64.

use oneclaw_model::ProviderKind;

/// As much of a picture is decoded to find its size.
const LOOKED_AT: usize = 256 * 1024;
/// A picture whose size cannot be told, or that is only named by an address.
const UNKNOWN: (u64, u64) = (1_024, 1_024);
/// A file that is no picture costs a token per so many bytes.
const BYTES_PER_TOKEN: u64 = 100;

/// The tokens of a file in base64; `None` where it is none.
pub(crate) fn tokens(kind: ProviderKind, mime: &str, base64: &str) -> Option<u64> {
    let head = base64.as_bytes().get(..LOOKED_AT).unwrap_or(base64.as_bytes());
    let head = decode(head)?;
    if base64.bytes().any(|c| value(c).is_none() && !matches!(c, b'=' | b'\n' | b'\r')) {
        return None;
    }
    if mime.starts_with("image/") {
        Some(picture(kind, size(&head).unwrap_or(UNKNOWN)))
    } else {
        Some((base64.len() as u64 * 3 / 4).div_ceil(BYTES_PER_TOKEN).max(1))
    }
}

/// The tokens of a picture that is elsewhere.
pub(crate) fn tokens_of_link(kind: ProviderKind) -> u64 {
    picture(kind, UNKNOWN)
}

fn picture(kind: ProviderKind, (w, h): (u64, u64)) -> u64 {
    match kind {
        // Into 2048², the short side to 768, 512-pixel tiles.
        ProviderKind::OpenAi => {
            let (w, h) = within(w, h, 2_048);
            let short = w.min(h);
            let (w, h) = if short > 768 { (w * 768 / short, h * 768 / short) } else { (w, h) };
            85 + 170 * w.div_ceil(512).max(1) * h.div_ceil(512).max(1)
        }
        // A token per 750 pixels, the long side scaled to 1568.
        ProviderKind::Anthropic => {
            let (w, h) = within(w, h, 1_568);
            (w * h).div_ceil(750)
        }
        // One tile up to 384², else tiles of 768².
        ProviderKind::Gemini if w <= 384 && h <= 384 => 258,
        ProviderKind::Gemini => 258 * (w.div_ceil(768) * h.div_ceil(768)).min(64),
    }
}

fn within(w: u64, h: u64, side: u64) -> (u64, u64) {
    let long = w.max(h);
    if long <= side { (w, h) } else { ((w * side / long).max(1), (h * side / long).max(1)) }
}

/// Width and height of a PNG, GIF or JPEG.
fn size(bytes: &[u8]) -> Option<(u64, u64)> {
    let found = if bytes.starts_with(b"\x89PNG") {
        (big(bytes, 16, 4)?, big(bytes, 20, 4)?)
    } else if bytes.starts_with(b"GIF8") {
        (
            u64::from(*bytes.get(6)?) | u64::from(*bytes.get(7)?) << 8,
            u64::from(*bytes.get(8)?) | u64::from(*bytes.get(9)?) << 8,
        )
    } else if bytes.starts_with(b"\xff\xd8") {
        jpeg(bytes)?
    } else {
        return None;
    };
    (found.0 > 0 && found.1 > 0).then_some(found)
}

/// Walks the segments of a JPEG to its frame header.
fn jpeg(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1)?;
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if is_frame {
            return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
        }
        at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?;
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    Some(bytes.get(at..at + length)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn decode(base64: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(base64.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for c in base64 {
        if matches!(c, b'=' | b'\n' | b'\r') {
            continue;
        }
        bits = bits << 6 | value(*c)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

fn value(c: u8) -> Option<u32> {
    let value = match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PNG of 1000 × 1000 pixels, as far as its header goes.
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAPoCAYAAABNo9TkAAAA";

    #[test]
    fn pixels_count() {
        assert_eq!(tokens(ProviderKind::Anthropic, "image/png", PNG), Some(1_334));
        assert_eq!(tokens(ProviderKind::OpenAi, "image/png", PNG), Some(765));
        assert_eq!(tokens(ProviderKind::Gemini, "image/png", PNG), Some(258 * 4));
    }

    #[test]
    fn bytes_do_not() {
        let long = format!("{PNG}{}", "A".repeat(1_000_000));
        assert_eq!(tokens(ProviderKind::Anthropic, "image/png", &long), Some(1_334));
    }

    #[test]
    fn what_is_no_base64_is_refused() {
        assert_eq!(tokens(ProviderKind::OpenAi, "image/png", "no base64!"), None);
        let late = format!("{}!", "A".repeat(2 * LOOKED_AT));
        assert_eq!(tokens(ProviderKind::OpenAi, "image/png", &late), None);
    }

    #[test]
    fn broken_pictures_are_taken_for_large_ones() {
        let all = [
            &b"\xff\xd8\xff\xff\xff\xff"[..],
            b"\xff\xd8",
            b"\x89PNG",
            b"GIF89a",
            b"",
            b"\xff\xd8\xff\xe0\0\0",
        ];
        for bytes in all {
            assert_eq!(size(bytes), None);
        }
        assert_eq!(size(b"GIF89a\x10\0\x20\0"), Some((16, 32)));
        assert_eq!(size(b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x10\0\x20"), Some((32, 16)));
    }
}
