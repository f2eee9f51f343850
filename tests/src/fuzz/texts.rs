//! Texts from anywhere: transcripts that are read, and texts that are shortened.

use super::bytes::Bytes;
use oneclaw_context::truncate::{self, Shape};
use oneclaw_context::{Conversation, Fixed};
use oneclaw_model::Transcript;
use serde_json::json;
use std::borrow::Cow;

/// The longest text of a fault, in characters.
const LONGEST_FAULT: usize = 300;

/// A transcript is refused by a fault that names its first wrong line, or read as what it is when written again.
pub fn transcript(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let read = match Transcript::read(&text) {
        Ok(read) => read,
        Err(fault) => {
            let shown = fault.to_string();
            assert!(shown.starts_with(&format!("line {}: ", fault.line)), "{shown}");
            assert!(shown.chars().count() <= LONGEST_FAULT, "{} characters", shown.chars().count());
            let lines: Vec<&str> = text.lines().collect();
            let before = lines[..fault.line - 1].join("\n");
            assert_eq!(Transcript::read(&before).err(), None, "an earlier line is wrong: {shown}");
            let with = lines[..fault.line].join("\n");
            assert_eq!(Transcript::read(&with).err(), Some(fault), "the line is not wrong");
            return;
        }
    };
    assert_eq!(Transcript::read(&written(&read)).as_ref(), Ok(&read));
    let rows = read.rows.len();
    let conversation = Conversation::of_transcript(read, None, Fixed::default());
    assert!(conversation.rows.len() <= rows);
}

/// As `oneclaw export` writes it.
fn written(transcript: &Transcript) -> String {
    let mut text = json!({"session": transcript.session}).to_string();
    for row in &transcript.rows {
        text.push('\n');
        text.push_str(&serde_json::to_string(row).unwrap());
    }
    text
}

/// A text is shortened to what its limit allows, in every way there is; the first two bytes of the input are the limit.
pub fn truncation(data: &[u8]) {
    let mut bytes = Bytes(data);
    let limit = bytes.number(2) as usize % 3_000;
    let text = String::from_utf8_lossy(bytes.0);
    check_head(&text, limit);
    for shape in [Shape::HeadTail, Shape::MatchList, Shape::FileContent, Shape::Generic] {
        let tokens = limit / 4;
        let shortened = truncate::shaped(&text, shape, tokens);
        check_shortened(&text, &shortened, tokens * 4);
        assert_eq!(truncate::shaped(&shortened, shape, tokens), shortened, "{shape:?} again");
    }
    let shortened = truncate::middle(&text, limit);
    check_shortened(&text, &shortened, limit);
    assert_eq!(truncate::middle(&shortened, limit), shortened);
    let (head, tail) = truncate::ends(&text, limit, limit / 2);
    assert!(text.starts_with(head) && text.ends_with(tail));
    assert!(units(head) <= limit && units(tail) <= limit / 2);
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

fn check_head(text: &str, limit: usize) {
    let result = truncate::head(text, limit);
    assert_eq!(truncate::head(&result, limit), result, "shortened again");
    if units(text) <= limit {
        assert!(matches!(result, Cow::Borrowed(same) if same == text));
        return;
    }
    // A text that is over the limit and stays as it is says of itself that it was shortened before.
    let (kept, marker) = result.rsplit_once("\n\n").expect("a marker");
    let numbers = marker
        .strip_prefix("[... content truncated, showing first ")
        .and_then(|marker| marker.strip_suffix(" characters ...]"));
    let (shown, total) = numbers.and_then(|numbers| numbers.split_once(" of ")).expect("two numbers");
    assert_eq!(shown, units(kept).to_string());
    assert!(text.starts_with(kept) && units(kept) <= limit);
    if result != text {
        assert_eq!(total, units(text).to_string());
        let next = text.split_at(kept.len()).1.chars().next().map_or(0, char::len_utf16);
        assert!(units(kept) + next > limit, "more would have fitted");
    }
}

fn check_shortened(text: &str, result: &str, cap: usize) {
    assert!(units(result) <= cap, "{} units, {cap} are allowed", units(result));
    if units(text) <= cap {
        assert_eq!(result, text);
        return;
    }
    let all = format!("[... {} lines / {} bytes omitted ...]", text.lines().count(), text.len());
    if cap < all.len() {
        assert!(text.starts_with(result) && units(result) + 1 >= cap, "{result:?}");
    } else {
        assert!(says_what_is_missing(text, result), "{result:?}");
    }
}

/// Whether a result can be read as head, true notice and tail of the text, maybe with the hint how to read the rest.
fn says_what_is_missing(text: &str, result: &str) -> bool {
    const HINT: &str = "\n[... use read_file with offset/limit to see more ...]";
    result.match_indices("[... ").any(|(at, _)| {
        let (before, after) = result.split_at(at);
        let notice = after.split_inclusive("]").next().unwrap_or_default();
        let (_, after) = after.split_at(notice.len());
        let heads = [Some(before), before.strip_suffix('\n')];
        let after = [Some(after), after.strip_prefix(HINT)];
        let tails = after.into_iter().flatten().map(|tail| tail.strip_prefix('\n').unwrap_or(tail));
        tails.flat_map(|tail| heads.into_iter().flatten().map(move |head| (head, tail))).any(
            |(head, tail)| {
                text.starts_with(head)
                    && text.ends_with(tail)
                    && head.len() + tail.len() < text.len()
                    && notice == notice_for(text, head.len(), text.len() - tail.len())
            },
        )
    })
}

/// What stands for the bytes `from..to`: the lines of which nothing is left, and the bytes.
fn notice_for(text: &str, from: usize, to: usize) -> String {
    let mut end = 0;
    let hidden = text.split_inclusive('\n').filter(|line| {
        let start = end;
        end += line.len();
        from <= start && end <= to
    });
    format!("[... {} lines / {} bytes omitted ...]", hidden.count(), to - from)
}
