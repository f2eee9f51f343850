//! Reads what the engine has built, by its delimiters alone.

use oneclaw_context::escape::PHRASES;
use oneclaw_context::policy::Style;

const PINNED: &str = "\n\nPinned messages:\n\n";
const BY_USER: &str = "\n\nFacts stated by the user:\n";
const BY_OTHERS: &str = "\n\nFacts from replies and tools:\n";
const LABELS: [&str; 4] = ["**User:**", "**Assistant:**", "**Tool call:**", "**Tool result:**"];
const FOCUS: &str = "\nGive particular care to: ";

/// A row as it stands in a pins block or in material.
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    pub label: String,
    pub text: String,
}

/// What stands for earlier rows; the summary as it stands there.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    pub summary: String,
    pub by_user: Vec<String>,
    pub by_others: Vec<String>,
    pub pins: Vec<Item>,
}

/// What a summary is to be made of.
#[derive(Debug, PartialEq, Eq)]
pub enum Material {
    Rows(Vec<Item>),
    Parts(Vec<String>),
}

/// A request for a summary.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub prior: Option<String>,
    pub material: Material,
    pub focus: Option<String>,
}

/// A digest.
#[derive(Debug, PartialEq, Eq)]
pub struct Digest {
    pub prior: Option<String>,
    pub first: Option<String>,
    pub latest: Option<String>,
    pub calls: Vec<String>,
}

/// The text as it went in.
pub fn unescaped(text: &str) -> String {
    text.replace('\\', "")
}

/// What follows a beginning.
pub fn after<'a>(text: &'a str, start: &str) -> Result<&'a str, String> {
    text.strip_prefix(start).ok_or_else(|| format!("{text:?} does not begin with {start:?}"))
}

/// That so many lines are rules.
pub fn rules(text: &str, count: usize) -> Result<(), String> {
    let found = text.lines().filter(|line| line.trim() == "---").count();
    if found == count { Ok(()) } else { Err(format!("{found} rules in {text:?}")) }
}

/// The text before a mark and what follows it; a mark that stands there twice is an error.
fn parted<'a>(text: &'a str, mark: &str) -> Result<(&'a str, Option<&'a str>), String> {
    match text.matches(mark).count() {
        0 => Ok((text, None)),
        1 => Ok(text.split_once(mark).map(|(before, after)| (before, Some(after))).unwrap_or((text, None))),
        many => Err(format!("{many} times {mark:?} in {text:?}")),
    }
}

/// That the phrases of the engine are in the text as often as they should be; of those not named, none is.
fn phrases(text: &str, expected: &[(&str, usize)]) -> Result<(), String> {
    for phrase in PHRASES {
        let wanted = expected.iter().find(|(named, _)| *named == phrase).map_or(0, |(_, count)| *count);
        let found = text.matches(phrase).count();
        if found != wanted {
            return Err(format!("{found} times {phrase:?} where {wanted} should be, in {text:?}"));
        }
    }
    Ok(())
}

/// The same behind the sentence that says what it is.
pub fn framed(text: &str) -> Result<Block, String> {
    block(after(text, &oneclaw_tests::framed(""))?)
}

/// A summary with facts and pins.
pub fn block(text: &str) -> Result<Block, String> {
    let (rest, pins) = parted(text, PINNED)?;
    let (rest, by_others) = parted(rest, BY_OTHERS)?;
    let (summary, by_user) = parted(rest, BY_USER)?;
    let once = |part: Option<&str>| usize::from(part.is_some());
    let expected =
        [(PINNED.trim(), once(pins)), (BY_USER.trim(), once(by_user)), (BY_OTHERS.trim(), once(by_others))];
    let head = pins.map_or(text, |pins| text.strip_suffix(pins).unwrap_or_default());
    phrases(head, &expected)?;
    Ok(Block {
        summary: summary.to_owned(),
        by_user: facts(by_user)?,
        by_others: facts(by_others)?,
        pins: items(pins.unwrap_or_default())?,
    })
}

fn facts(text: Option<&str>) -> Result<Vec<String>, String> {
    let lines = text.into_iter().flat_map(|text| text.split('\n'));
    lines.map(|line| after(line, "- ").map(unescaped)).collect()
}

/// The items of a pins block or of material, and nothing but items.
fn items(text: &str) -> Result<Vec<Item>, String> {
    let mut starts: Vec<(usize, &str)> = LABELS.iter().flat_map(|label| text.match_indices(label)).collect();
    starts.sort_unstable();
    let counted = LABELS.map(|label| (label, text.matches(label).count()));
    phrases(text, &counted)?;
    if starts.first().map_or(!text.is_empty(), |(at, _)| *at != 0) {
        return Err(format!("{text:?} does not begin with an item"));
    }
    let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([text.len()]);
    let read = |((at, label), end): (&(usize, &str), usize)| {
        // The end of all items is trimmed, the space after a label too.
        let own = text.get(at + label.len()..end).filter(|own| !own.is_empty()).unwrap_or(" ");
        let own = after(own, " ")?;
        if end < text.len() && !own.ends_with("\n\n") {
            return Err(format!("{own:?} runs into the next item"));
        }
        Ok(Item { label: (*label).to_owned(), text: unescaped(own).trim_end().to_owned() })
    };
    starts.iter().zip(ends).map(read).collect()
}

/// A request for a summary in that style.
pub fn asked(text: &str, style: Style) -> Result<Asked, String> {
    let (open, between) = match style {
        Style::Checkpoint => ("## Existing Summary\n\n", "\n\n## New Conversation\n\n"),
        _ => ("Previous conversation summary:\n", "\n\nAdditional conversation to incorporate:\n\n"),
    };
    let (prior, rest) = match text.strip_prefix(open) {
        None => (None, text),
        Some(rest) => match parted(rest, between)? {
            (prior, Some(rest)) => (Some(prior), rest),
            (_, None) => return Err(format!("the earlier summary does not end in {text:?}")),
        },
    };
    phrases(prior.unwrap_or_default(), &[])?;
    let closing = match style {
        Style::Continuation => {
            include_str!("../../../rust-core/oneclaw-context/templates/closing_continuation.md")
        }
        _ => include_str!("../../../rust-core/oneclaw-context/templates/closing.md"),
    };
    let (material, end) = match rest.strip_prefix("<conversation>\n") {
        Some(rest) => {
            let (inside, end) = parted(rest, "\n</conversation>")?;
            tags(inside)?;
            (Material::Rows(items(inside)?), end.ok_or("the conversation does not end")?)
        }
        None => {
            let rest = after(rest, include_str!("../../../rust-core/oneclaw-context/templates/parts.md"))?;
            let mut parts = vec![];
            let mut rest = rest;
            while let Some(more) = rest.strip_prefix("<part>\n") {
                let (part, after) = more.split_once("\n</part>").ok_or("a part does not end")?;
                tags(part)?;
                phrases(part, &[])?;
                parts.push(unescaped(part));
                rest = after.strip_prefix('\n').filter(|rest| rest.starts_with('<')).unwrap_or(after);
            }
            (Material::Parts(parts), rest)
        }
    };
    let end = after(end, "\n\n").and_then(|end| after(end, closing.trim_end()))?;
    let focus = match end {
        "" => None,
        end => Some(unescaped(after(end, FOCUS)?)),
    };
    Ok(Asked { prior: prior.map(unescaped), material, focus })
}

/// That no tag is inside a tag.
fn tags(text: &str) -> Result<(), String> {
    let small = text.to_lowercase().replace(char::is_whitespace, "");
    let tags = ["<conversation>", "</conversation>", "<part>", "</part>"];
    match tags.iter().find(|tag| small.contains(**tag)) {
        Some(tag) => Err(format!("{tag} inside {text:?}")),
        None => Ok(()),
    }
}

/// A digest as it stands in a request.
pub fn digest(text: &str) -> Result<Digest, String> {
    let rest = after(text, "Digest of the earlier conversation, made without a model.")?;
    let (rest, calls) = parted(rest, "\n\nTool calls:\n")?;
    let (rest, latest) = parted(rest, "\n\nLatest request: ")?;
    let (rest, first) = parted(rest, "\n\nFirst request: ")?;
    let (rest, prior) = parted(rest, "\n\nEarlier summary: ")?;
    if !rest.is_empty() {
        return Err(format!("{rest:?} belongs nowhere"));
    }
    let owned = |part: Option<&str>| part.map(unescaped);
    let calls = calls.into_iter().flat_map(str::lines).map(str::to_owned).collect();
    Ok(Digest { prior: owned(prior), first: owned(first), latest: owned(latest), calls })
}
