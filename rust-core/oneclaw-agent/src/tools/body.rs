//! The body of an HTTP answer as text.
//!
//! Decides what is text and in which charset, and how anything else is described. It reads nothing from the
//! network and does not decide how much is read.
//!
//! The charset is the one in `Content-Type`, else that of a byte order mark, else UTF-8. What a page says about
//! itself in its own markup is not looked at.

use encoding_rs::{CoderResult, Encoding, UTF_8};

/// Sorts of content that are never text, before the slash.
const BINARY: [&str; 5] = ["image", "audio", "video", "font", "model"];

/// What `Content-Type` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ContentType {
    /// `text/html`, in small letters; empty if nothing was said.
    pub media: String,
    charset: Option<&'static Encoding>,
}

impl ContentType {
    pub fn parse(value: &str) -> Self {
        let mut parts = value.split(';');
        let media = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let label = value.trim().trim_matches(['"', '\'']);
            if name.trim().eq_ignore_ascii_case("charset") {
                Encoding::for_label(label.as_bytes())
            } else {
                None
            }
        });
        Self { media, charset }
    }

    /// Whether this is not worth reading.
    pub fn is_binary(&self) -> bool {
        let (sort, rest) = self.media.split_once('/').unwrap_or_default();
        BINARY.contains(&sort) && !rest.ends_with("+xml")
    }

    fn is_text(&self) -> bool {
        self.media.starts_with("text/") || self.charset.is_some()
    }

    /// The bytes as text, or `None` if they are none. `is_cut` says that more bytes would follow.
    pub fn decode(&self, bytes: &[u8], is_cut: bool) -> Option<String> {
        let marked = Encoding::for_bom(bytes);
        let encoding = self.charset.or(marked.map(|(encoding, _)| encoding)).unwrap_or(UTF_8);
        let mut decoder = encoding.new_decoder_with_bom_removal();
        let room = decoder.max_utf8_buffer_length(bytes.len())?;
        let mut text = String::with_capacity(room);
        let (result, _, has_errors) = decoder.decode_to_string(bytes, &mut text, !is_cut);
        debug_assert_eq!(result, CoderResult::InputEmpty);
        // What nobody called text has to be flawless to pass for it.
        let is_text = !text.contains('\0') && (self.is_text() || is_named_text(&self.media) || !has_errors);
        text.shrink_to_fit();
        is_text.then_some(text)
    }
}

/// Types outside `text/` whose content is text, damaged or not.
fn is_named_text(media: &str) -> bool {
    let rest = media.strip_prefix("application/").unwrap_or_default();
    media.ends_with("+json")
        || media.ends_with("+xml")
        || matches!(
            rest,
            "json"
                | "xml"
                | "javascript"
                | "x-javascript"
                | "x-ndjson"
                | "yaml"
                | "x-yaml"
                | "toml"
                | "graphql"
                | "x-www-form-urlencoded"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(content_type: &str, bytes: &[u8]) -> Option<String> {
        ContentType::parse(content_type).decode(bytes, false)
    }

    #[test]
    fn charsets() {
        for (content_type, bytes, text) in [
            ("text/html; charset=ISO-8859-1", &b"Stra\xdfe \x80"[..], "Straße €"),
            ("text/html;charset=\"windows-1251\"", b"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"),
            ("text/plain; format=flowed; Charset='shift_jis'", b"\x93\xfa\x96\x7b", "日本"),
            ("text/plain; charset=euc-kr", b"\xc7\xd1\xb1\xdb", "한글"),
            ("text/plain; charset=gb18030", b"\xd6\xd0\xce\xc4", "中文"),
            ("text/plain; charset=utf-16le", b"h\0i\0", "hi"),
            ("text/plain; charset=utf-8", "\u{feff}ü".as_bytes(), "ü"),
            ("text/plain; charset=nonsense", "ü".as_bytes(), "ü"),
            ("text/plain", b"\xff\xfeh\0i\0", "hi"),
            ("text/plain", b"\xfe\xff\0h\0i", "hi"),
            ("text/plain", "\u{feff}ü".as_bytes(), "ü"),
            ("text/plain", b"Stra\xdfe", "Stra\u{fffd}e"),
            // The header is believed, not the mark.
            ("text/plain; charset=windows-1252", b"\xef\xbb\xbfx", "ï»¿x"),
            ("application/json", b"{\"a\":\"\xff\"}", "{\"a\":\"\u{fffd}\"}"),
            ("image/svg+xml", b"<svg/>", "<svg/>"),
            ("", b"plain", "plain"),
            ("application/octet-stream", b"key = 1\n", "key = 1\n"),
            ("application/x-sh", b"echo", "echo"),
            ("", b"", ""),
        ] {
            assert_eq!(decoded(content_type, bytes).as_deref(), Some(text), "{content_type} {bytes:?}");
        }
    }

    #[test]
    fn what_is_no_text() {
        for (content_type, bytes) in [
            ("text/plain", &b"a\0b"[..]),
            ("application/octet-stream", b"\x89PNG\r\n"),
            ("application/pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3"),
            ("", b"\x1f\x8b\x08"),
        ] {
            assert_eq!(decoded(content_type, bytes), None, "{content_type}");
        }
        for media in ["image/png", "audio/mpeg", "video/mp4", "font/woff2", "IMAGE/JPEG; q=1"] {
            assert!(ContentType::parse(media).is_binary(), "{media}");
        }
        for media in ["image/svg+xml", "text/html", "", "application/pdf", "imagex/png"] {
            assert!(!ContentType::parse(media).is_binary(), "{media}");
        }
    }

    #[test]
    fn a_character_that_was_cut_in_two_is_left_out() {
        let bytes = "aü".as_bytes();
        let cut = bytes.get(..2).unwrap();
        let kind = ContentType::parse("");
        assert_eq!(kind.decode(cut, true).as_deref(), Some("a"));
        assert_eq!(kind.decode(cut, false), None);
    }
}
