//! Finds the facts of a text that have to survive a summary word for word.
//!
//! It decides which pieces of a text are facts: addresses, paths, identifiers, numbers that mean something,
//! code in single backticks, quotations, and short sentences that state a constraint. The rules are lexical
//! and fixed, so the same text always gives the same list. It does not decide which facts are worth the room,
//! whether a summary already has them, or how they are written below it; and it understands nothing: a fact
//! without a recognisable form (a name, a colour) is not found.
//!
//! Order and nesting. Small facts (including quotations) come first, by the place where they start, and where
//! two start together the shorter first; the constraint sentences follow in their own order. A small fact
//! inside a quotation or a sentence is listed as well as the whole, since a block with little room takes the
//! short ones. Code in backticks is one fact: nothing inside it is listed separately. Questions are not
//! constraints. Inside code fences no sentence is taken. Every fact is a slice of one line of the text.
//!
//! Cost is linear in the text: every scanner moves forward only, looks ahead and back over a bounded number
//! of characters, and whole candidates are judged only while they are at most [`MAX_FACT_CHARS`] long.

mod forms;

use std::collections::HashSet;
use std::sync::LazyLock;

use forms::{classify, has_letter, is_word, listed, phone, url};

/// Longest fact kept, in characters; longer candidates are not facts but text.
pub const MAX_FACT_CHARS: usize = 160;
/// Most facts found in one text; what comes later in the text is left out.
pub const MAX_FACTS: usize = 500;
/// Most constraint sentences among [`MAX_FACTS`]; they keep this room even where small facts abound.
pub const MAX_SENTENCES: usize = 100;

/// Words and phrases that make a sentence a constraint; matched between word boundaries, in lower case.
const DEMANDS: &str = " must | mustn't | never | always | do not | don't | only | at least | at most |\
    \x20no more than | no less than | no fewer than | no later than | required | forbidden | prohibited |\
    \x20mandatory | not allowed | deadline | shall | under no circumstances | make sure ";
/// The same in scripts without spaces; matched anywhere.
const CJK_DEMANDS: &str =
    "必须|必須|不要|不能|不得|不可|禁止|务必|務必|一定|至少|最多|只能|切勿|不许|截止|必ず|绝不";
/// The first word of each of [`DEMANDS`]: few sentences have one.
static STARTS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| DEMANDS.split('|').filter_map(|demand| demand.split_whitespace().next()).collect());
/// Idle phrases, taken out before a sentence is searched for a demand.
const IDLE: &str = " don't know | do not know | don't think | do not think | not only | if only |不一定";
const ABBREVIATIONS: &str = "mr mrs ms dr prof st vs approx fig jr sr inc ltd cf";
const PAIRS: [(&str, &str); 8] =
    [("**", "**"), ("\"", "\""), ("“", "”"), ("(", ")"), ("[", "]"), ("「", "」"), ("『", "』"), ("«", "»")];
/// Where a token that is no fact as a whole is cut, one step after the other.
const CUTS: [&[char]; 3] = [&[':'], &['/', '\\', '@', '#', '*', '~', '+'], &['-', '.', '–']];

/// The facts in what somebody said, without repeats: the small ones in order of first appearance, then the sentences.
pub fn find(text: &str) -> Vec<&str> {
    facts_of(text, Content::Speech)
}

/// The facts in what a tool took or gave: there, quotation marks and full stops are syntax, not speech.
pub fn find_in_data(text: &str) -> Vec<&str> {
    facts_of(text, Content::Data)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Speech,
    Data,
}

fn facts_of(text: &str, content: Content) -> Vec<&str> {
    let mut small = Distinct::new(MAX_FACTS);
    let mut sentences = Distinct::new(MAX_SENTENCES);
    let mut fence = None;
    for line in text.split('\n') {
        let code = in_fence(line, &mut fence);
        for segment in line.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
            if !small.is_full() {
                small_facts(segment, content, &mut small);
            }
            if content == Content::Speech && !code && !sentences.is_full() {
                constraints(segment, &mut sentences);
            }
        }
    }
    let Distinct { list: mut facts, seen, .. } = small;
    sentences.list.retain(|sentence| !seen.contains(sentence));
    facts.truncate(MAX_FACTS - sentences.list.len());
    facts.append(&mut sentences.list);
    facts
}

/// A bounded list without repeats, and the last gate that every fact passes.
struct Distinct<'a> {
    list: Vec<&'a str>,
    seen: HashSet<&'a str>,
    limit: usize,
}

impl<'a> Distinct<'a> {
    fn new(limit: usize) -> Self {
        Self { list: Vec::new(), seen: HashSet::new(), limit }
    }

    fn is_full(&self) -> bool {
        self.list.len() >= self.limit
    }

    fn push(&mut self, fact: &'a str) {
        let visible = |c: char| c.is_alphanumeric() || c.is_ascii_punctuation();
        if !self.is_full() && fits(fact) && fact.contains(visible) && self.seen.insert(fact) {
            self.list.push(fact);
        }
    }
}

/// Whether a candidate is short enough; never looks at more than the longest possible fact.
fn fits(s: &str) -> bool {
    s.len() <= MAX_FACT_CHARS * 4 && s.chars().count() <= MAX_FACT_CHARS
}

/// Whether a line belongs to a code fence (its two marker lines included); keeps the open fence in `fence`.
fn in_fence(line: &str, fence: &mut Option<(char, usize)>) -> bool {
    let line = line.trim();
    let Some(marker @ ('`' | '~')) = line.chars().next() else { return fence.is_some() };
    let rest = line.trim_start_matches(marker);
    let run = line.len() - rest.len();
    match *fence {
        None if run >= 3 && !rest.contains('`') => *fence = Some((marker, run)),
        Some((open, least)) if open == marker && run >= least && rest.is_empty() => {
            *fence = None;
            return true;
        }
        _ => {}
    }
    fence.is_some()
}

/// A range of bytes in a segment.
type Span = (usize, usize);

fn small_facts<'a>(segment: &'a str, content: Content, out: &mut Distinct<'a>) {
    let code = code_spans(segment);
    let mut scan = Scan { segment, spans: Vec::new() };
    if content == Content::Speech {
        scan.quotations(&code);
    }
    let mut at = 0;
    for &(start, end) in &code {
        scan.tokens(at, start);
        at = end;
    }
    scan.tokens(at, segment.len());
    scan.spans.extend(code);
    scan.spans.sort();
    for (start, end) in scan.spans {
        out.push(segment.get(start..end).unwrap_or_default().trim());
    }
}

/// What stands between two single backticks, where it is short enough to be a fact.
fn code_spans(segment: &str) -> Vec<Span> {
    if !segment.contains('`') {
        return vec![];
    }
    let (mut spans, mut open, mut run) = (Vec::new(), None, 0);
    for (at, c) in segment.char_indices().chain([(segment.len(), '\n')]) {
        if c == '`' {
            run += 1;
            continue;
        }
        match (run, open.take()) {
            (1, Some(start)) => {
                let content = segment.get(start..at - 1).unwrap_or_default();
                if fits(content) && !content.trim().is_empty() {
                    spans.push((start, at - 1));
                }
            }
            (1, None) => open = Some(at),
            (0, before) => open = before,
            _ => {}
        }
        run = 0;
    }
    spans
}

struct Scan<'a> {
    segment: &'a str,
    spans: Vec<Span>,
}

impl<'a> Scan<'a> {
    fn part(&self, start: usize, end: usize) -> &'a str {
        self.segment.get(start..end).unwrap_or_default()
    }

    fn quotations(&mut self, code: &[Span]) {
        let mut open: [Option<usize>; 5] = [None; 5];
        let (mut code, mut before) = (code.iter().peekable(), ' ');
        for (at, c) in self.segment.char_indices() {
            while code.next_if(|span| span.1 <= at).is_some() {}
            let in_code = code.peek().is_some_and(|span| span.0 <= at);
            let (kind, opens) = match c {
                '"' => (0, !before.is_ascii_digit()),
                '“' | '”' => (1, c == '“'),
                '«' | '»' => (2, c == '«'),
                '「' | '」' => (3, c == '「'),
                '『' | '』' => (4, c == '『'),
                _ => (5, false),
            };
            before = c;
            let Some(slot) = open.get_mut(kind).filter(|_| !in_code) else { continue };
            let inner = at + c.len_utf8();
            match slot.take() {
                Some(start) if c == '"' || !opens => {
                    let content = self.part(start, at);
                    let kept = content.trim_end_matches(is_sentence_mark);
                    let enough = kept.trim().chars().nth(1).is_some();
                    if fits(content) && enough && kept.contains(char::is_alphanumeric) {
                        self.spans.push((start, start + kept.len()));
                    }
                }
                _ if opens => *slot = Some(inner),
                _ => {}
            }
        }
    }

    fn tokens(&mut self, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let rest = self.part(at, to);
            let before = rest.find(|c| is_word(c) || is_joint(c) || c == '(').unwrap_or(rest.len());
            if before > 0 {
                at += before;
                continue;
            }
            let found = url(rest).or_else(|| phone(rest).map(|len| (len, len)));
            if let Some((kept, len)) = found {
                self.keep(at, at + kept);
                at += len;
                continue;
            }
            let len = token_len(rest);
            let step = rest.chars().next().map_or(1, char::len_utf8);
            at = match len {
                0 => at + step,
                _ if !fits(self.part(at, at + len)) => at + len,
                _ => self.examine(at, at + len, 0).max(at + len),
            };
        }
    }

    fn keep(&mut self, start: usize, end: usize) {
        self.spans.push((start, end));
    }

    /// Keeps a token, or else its parts, that are facts; gives the place where reading goes on.
    fn examine(&mut self, start: usize, end: usize, step: usize) -> usize {
        let token = self.part(start, end);
        let body = token.trim_start_matches(['*', ':', ',']);
        let start = end - body.len();
        let body = body.trim_end_matches(['.', ':', ',', '*', '-', '@', '#', '\\', '~', '+', '–']);
        let stop = start + body.len();
        if body.is_empty() {
            return end;
        }
        let before = self.part(0, start).chars().next_back();
        if let Some(more) = classify(body, before, self.part(stop, self.segment.len())) {
            self.keep(start, stop + more);
            return stop + more;
        }
        let next = CUTS.iter().enumerate().skip(step).find(|(_, cuts)| body.contains(**cuts));
        let Some((step, cuts)) = next else { return end };
        let (mut at, mut reached) = (start, end);
        for piece in body.split(*cuts) {
            reached = self.examine(at, at + piece.len(), step + 1);
            at += piece.len() + self.part(at + piece.len(), stop).chars().next().map_or(0, char::len_utf8);
        }
        reached
    }
}

fn is_sentence_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '.' | ',' | ';' | ':' | '!' | '?' | '…' | '。' | '，' | '；' | '：' | '！' | '？' | '、'
        )
}

/// What a token may consist of besides letters and digits.
fn is_joint(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '#' | '%' | '+' | '~' | '$' | '*')
        || matches!(c, '€' | '£' | '¥' | '￥' | '°' | '‰')
}

/// The bytes of the token at the start of `rest`; it ends where a URL scheme starts.
fn token_len(rest: &str) -> usize {
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        let tail = || rest.get(at + c.len_utf8()..).unwrap_or_default().chars();
        let joined = match c {
            ',' => before.is_ascii_digit() && tail().take_while(char::is_ascii_digit).take(4).count() == 3,
            '–' => before.is_ascii_digit() && tail().next().is_some_and(|next| next.is_ascii_digit()),
            _ => is_word(c) || is_joint(c),
        };
        if !joined {
            return at;
        }
        if c == ':' && tail().take(2).eq("//".chars()) {
            let scheme = rest.get(..at).unwrap_or_default().chars().rev();
            let letters = scheme.take(20).take_while(char::is_ascii_alphanumeric).count();
            if letters > 1 && letters < at {
                return at - letters;
            }
        }
        before = c;
    }
    rest.len()
}

/// Takes the sentences of a segment that state a constraint.
fn constraints<'a>(segment: &'a str, out: &mut Distinct<'a>) {
    let mut start = 0;
    let mut chars = segment.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let mut closed = || {
            let next = chars.peek().map(|&(_, next)| next);
            next.is_none_or(|c| c.is_whitespace() || "\"')]*_!?.".contains(c) || !c.is_ascii())
        };
        let ends = match c {
            '。' | '！' | '？' | '…' => true,
            '!' | '?' => closed(),
            '.' => closed() && !is_abbreviated(segment.get(start..at).unwrap_or_default()),
            _ => false,
        };
        if ends {
            if c != '?' && c != '？' {
                constraint(segment.get(start..at).unwrap_or_default(), out);
            }
            start = at + c.len_utf8();
        }
    }
    constraint(segment.get(start..).unwrap_or_default(), out);
}

/// Whether a full stop after `before` belongs to its last word: `Mr`, `e.g`, `U.S`, `J`.
fn is_abbreviated(before: &str) -> bool {
    let tail: Vec<char> = before.chars().rev().take(8).take_while(|c| is_word(*c) || *c == '.').collect();
    let word: String = tail.iter().rev().collect();
    let initials = word.split('.').all(|part| part.chars().count() == 1 && has_letter(part));
    initials && word != "I" || listed(ABBREVIATIONS, &word.to_lowercase())
}

fn constraint<'a>(sentence: &'a str, out: &mut Distinct<'a>) {
    let leading = |c: char| is_sentence_mark(c) || ")]”」』»’'>#•|".contains(c);
    let mut kept = sentence.trim_start_matches(leading).trim_end_matches(is_sentence_mark);
    for bullet in ["- ", "* ", "+ "] {
        kept = kept.strip_prefix(bullet).unwrap_or(kept).trim_start();
    }
    if !fits(kept) {
        return;
    }
    for (open, close) in PAIRS {
        kept = unwrapped(kept, open, close);
    }
    let lower = kept.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower
        .split(|c: char| !is_cjk(c) && !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    let is_spoken = words.len() > 1 && words.iter().any(|word| STARTS.contains(word));
    let is_wide = !lower.is_ascii() && lower.chars().nth(3).is_some();
    if !is_spoken && !is_wide {
        return;
    }
    let demands = |text: &str| {
        let any = |list: &str| list.split('|').any(|demand| text.contains(demand));
        is_spoken && any(DEMANDS) || is_wide && any(CJK_DEMANDS)
    };
    let without_idle =
        |text: &str| IDLE.split('|').fold(text.to_owned(), |text, phrase| text.replace(phrase, " "));
    let spaced = format!(" {} ", words.join(" "));
    if demands(&spaced) && demands(&without_idle(&spaced)) {
        out.push(kept);
    }
}

/// Most letters of texts without spaces, told without a look into Unicode's tables.
fn is_cjk(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// A sentence without the pair around it, or without the half of a pair that the cutting left at its edge.
fn unwrapped<'a>(s: &'a str, open: &str, close: &str) -> &'a str {
    let lone = |inner: &&str| !inner.contains(open) && !inner.contains(close);
    let both = s.strip_prefix(open).and_then(|inner| inner.strip_suffix(close)).filter(lone);
    let head = || s.strip_prefix(open).filter(lone);
    let tail = || s.strip_suffix(close).filter(lone);
    both.or_else(head).or_else(tail).map_or(s, str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every row: a text, and all of its facts.
    fn check(rows: &[(&str, &[&str])]) {
        let wrong: Vec<String> = rows
            .iter()
            .filter(|(text, facts)| find(text) != *facts)
            .map(|(text, facts)| format!("{text:?}\n  wanted {facts:?}\n  found  {:?}", find(text)))
            .collect();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn addresses() {
        check(&[
            ("See https://example.com/a?b=1&c=2#d, then go.", &["https://example.com/a?b=1&c=2#d"]),
            ("(see http://a.b/c_(d)).", &["http://a.b/c_(d)"]),
            ("[docs](https://a.io/x) and <ftp://f.org/y>!", &["https://a.io/x", "ftp://f.org/y"]),
            (
                "link:wss://h:9/s file:///etc/x www.site.org.",
                &["wss://h:9/s", "file:///etc/x", "www.site.org"],
            ),
            ("请打开https://a.cn/b，谢谢", &["https://a.cn/b"]),
            ("Mail jo.do+x@mail.example.org, please.", &["jo.do+x@mail.example.org"]),
            ("mailto:a@b.co", &["a@b.co"]),
            ("on localhost:8080/api or db:5432 or x.org:80", &["localhost:8080/api", "db:5432", "x.org:80"]),
            ("ping 192.168.1.10, 10.0.0.1:22 and 10.0.0.0/8", &["192.168.1.10", "10.0.0.1:22", "10.0.0.0/8"]),
            ("a://b\\a://b", &[]),
            ("http:// and :// and www.", &[]),
        ]);
    }

    #[test]
    fn paths() {
        check(&[
            ("Edit /etc/hosts, ./x, ../x and ~/x.", &["/etc/hosts", "./x", "../x", "~/x"]),
            (
                "In src/main.rs:42:7 and (rust-core/) or src/summary",
                &["src/main.rs:42:7", "rust-core/", "src/summary"],
            ),
            (r"Open C:\x\y, D:/a/b or src\lib.rs.", &[r"C:\x\y", "D:/a/b", r"src\lib.rs"]),
            (
                "Cargo.toml; build.gradle.kts, 'oneclaw.db' .gitignore liba.so",
                &["Cargo.toml", "build.gradle.kts", "oneclaw.db", ".gitignore", "liba.so"],
            ),
            ("Path:/var/log **notes.md** file=a.txt", &["/var/log", "notes.md", "a.txt"]),
            ("**tests/a.kt** is bold", &["tests/a.kt"]),
            ("修改src/main.rs文件和/etc/hosts。", &["src/main.rs", "/etc/hosts"]),
            ("tests/**/*.kt for anthropic/claude-3", &["tests/**/*.kt", "anthropic/claude-3"]),
            ("and/or, 1/2, he/she, yes/no/maybe, km/h, w/o, 24/7, 是/否, </div>, <br/>, //", &[]),
            ("on 2024/05/01 or 5/1/2024", &["2024/05/01", "5/1/2024"]),
        ]);
    }

    #[test]
    fn identifiers() {
        check(&[
            (
                "snake_case MAX_FACTS camelCase PascalCase HTMLParser __a_b__",
                &["snake_case", "MAX_FACTS", "camelCase", "PascalCase", "HTMLParser", "__a_b__"],
            ),
            (
                "std::vec::Vec<u8>, foo(), obj.method() and self.item_count",
                &["std::vec::Vec", "foo()", "obj.method()", "self.item_count"],
            ),
            (
                "gpt-4o-mini, FEAT-011, claude-opus-4-5-20251101, claude-3.5-sonnet.",
                &["gpt-4o-mini", "FEAT-011", "claude-opus-4-5-20251101", "claude-3.5-sonnet"],
            ),
            ("Fixes #68, a/b#7 and #ff8800 (not C# or #tag).", &["#68", "a/b#7", "#ff8800"]),
            ("commit 3f2a9bc, 0x1F, BA2490; not facade or 1f", &["3f2a9bc", "0x1F", "BA2490"]),
            ("123e4567-e89b-12d3-a456-426614174000", &["123e4567-e89b-12d3-a456-426614174000"]),
            ("v1.2.3, 2.4.21, v2 and 1.0.0-rc.1; not 1.2", &["v1.2.3", "2.4.21", "v2", "1.0.0-rc.1"]),
            ("use --set and --max-len=3 -- or not", &["--set", "--max-len"]),
            ("llama3.1:8b com.example.app", &["llama3.1:8b", "com.example.app"]),
            ("key:fooBar note:gpt-4o-mini", &["fooBar", "gpt-4o-mini"]),
        ]);
    }

    #[test]
    fn code_in_backticks() {
        check(&[
            ("Run `cargo test --all` and `x`.", &["cargo test --all", "x"]),
            (
                "`say \"hi there\"` in \"use ` foo_bar ` now\"",
                &["say \"hi there\"", "use ` foo_bar ` now", "foo_bar"],
            ),
            ("`` ` `` and ` ` and `open some_id", &["some_id"]),
            ("`not\nclosed`", &[]),
        ]);
        let long = format!("`{} a_b`", "x ".repeat(MAX_FACT_CHARS));
        assert_eq!(find(&long), ["a_b"]);
    }

    #[test]
    fn numbers() {
        check(&[
            (
                "15 s, 30,000 characters, 200K, 85%, 85 %.",
                &["15 s", "30,000 characters", "200K", "85%", "85 %"],
            ),
            ("512 MB $20 €1,200.50 3.5 GHz", &["512 MB", "$20", "€1,200.50", "3.5 GHz"]),
            ("at 10:30, 9:05 pm or 7:15am", &["10:30", "9:05 pm", "7:15am"]),
            (
                "2026-11-16 2026-11-16T10:30:00.5+02:00 2026-11-16T10:30Z",
                &["2026-11-16", "2026-11-16T10:30:00.5+02:00", "2026-11-16T10:30Z"],
            ),
            ("5 km, 128,000 tokens; 60 km/h, 10MB/s.", &["5 km", "128,000 tokens", "60 km/h", "10MB/s"]),
            (
                "-5 °C, 10-20 minutes, 5–10 days, 200K tokens",
                &["-5 °C", "10-20 minutes", "5–10 days", "200K tokens"],
            ),
            ("$2.50/1M tokens, 0..100", &["$2.50", "1M tokens"]),
            ("$20/month, $3 million, 20€, 99 USD", &["$20/month", "$3 million", "20€", "99 USD"]),
            ("PIN 4711, in 2026, 1,000, 1_000", &["4711", "2026", "1,000", "1_000"]),
            ("12,34 and 2024,2025", &["2024", "2025"]),
            ("2026-11-16 2026-11-17", &["2026-11-16", "2026-11-17"]),
            ("Call +1 (555) 123-4567.", &["+1 (555) 123-4567"]),
            ("Or 030 123 4567, +4930123456, 555-123-4567", &["030 123 4567", "+4930123456", "555-123-4567"]),
            ("16 November, November 16, 2026 and May 5", &["16 November", "November 16, 2026", "May 5"]),
            ("3, 42, 1,2,3, 3.14, 16:9, 1-2, 5 apples, 7 sad, 100", &[]),
        ]);
    }

    #[test]
    fn cjk() {
        check(&[
            ("跑了3公里，花了100元。", &["3公里", "100元"]),
            ("会议在2024年5月1日下午3点30分", &["2024年5月1日", "3点30分"]),
            ("预算5万元，等了 15 分钟，涨了8%", &["5万元", "15 分钟", "8%"]),
            ("他说「你好世界」和『再见』", &["你好世界", "再见"]),
            ("模型是gpt-4o吗？我喜欢它。", &["gpt-4o"]),
            ("今天天气很好，我们去公园吧。", &[]),
            ("密码必须保密。好的！不要删除文件", &["密码必须保密", "不要删除文件"]),
            ("这不一定对。一定要备份", &["一定要备份"]),
        ]);
    }

    #[test]
    fn quotations() {
        check(&[
            ("Call it \"Blue Heron\", “Red Fox.” or «Le Chat».", &["Blue Heron", "Red Fox", "Le Chat"]),
            ("\"x\" \"--\" \"\" \"open", &[]),
            ("a 5\" pipe and a 6\" pipe \"as is\"", &["as is"]),
            ("“outer “inner one” rest”", &["inner one"]),
            ("\"two\nlines\"", &[]),
            ("\"see /etc/hosts now\"", &["see /etc/hosts now", "/etc/hosts"]),
        ]);
        let exact = "y".repeat(MAX_FACT_CHARS);
        assert_eq!(find(&format!("\"{exact}\"")), [exact.as_str()]);
        assert!(find(&format!("\"{exact}y\"")).is_empty());
    }

    #[test]
    fn sentences_that_state_a_constraint() {
        check(&[
            ("Hello. You must wait! Fine.", &["You must wait"]),
            ("- Never push to main.rs.\n2. Don’t ask.", &["main.rs", "Never push to main.rs", "Don’t ask"]),
            ("Mr. Smith must pay, e.g. cash. Good.", &["Mr. Smith must pay, e.g. cash"]),
            ("(Use at most two.) **Always reply.** He said.", &["Use at most two", "Always reply"]),
            ("\"Do not touch.\" Bye", &["Do not touch"]),
            ("> The deadline is Friday", &["The deadline is Friday"]),
            ("Must I go? Is it required?", &[]),
            ("Well… I don't know. I don't eat nuts.", &["I don't eat nuts"]),
            ("Never. A mustard commonly lonely whenever.", &[]),
            ("Only v1.2 counts.", &["v1.2", "Only v1.2 counts"]),
        ]);
        let exact = format!("never {}", "z".repeat(MAX_FACT_CHARS - 6));
        assert_eq!(find(&format!("{exact}.")), [exact.as_str()]);
        assert!(find(&format!("{exact}z.")).is_empty());
    }

    #[test]
    fn fences_hold_small_facts_but_no_sentences() {
        check(&[
            ("```rust\n// you must call foo_bar\n```\nYou must rest.", &["foo_bar", "You must rest"]),
            ("~~~~\nnever a\n```\nnever b\n~~~\nnever c\n~~~~\nnever d", &["never d"]),
            ("```a``` never y\nnever z", &["```a``` never y", "never z"]),
            ("```\nnever closed", &[]),
        ]);
    }

    #[test]
    fn prose_has_no_facts() {
        check(&[
            ("", &[]),
            ("I'm fine, e.g. today, i.e. now. Mr. Smith of the U.S. said 3 well-known things.", &[]),
            ("Nice weather -- we walked (slowly) to the lake & back; it's a state-of-the-art path...", &[]),
            ("Können wir über Größe reden? Это просто текст. NASA and APIs, too, OK?", &[]),
            ("1. First\n2. Second\n* Third *one* is _great_", &[]),
        ]);
    }

    #[test]
    fn data_has_no_quotations_and_no_sentences() {
        let data = r#"{"path": "src/main.rs", "note": "You must never stop.", "size": "15 MB"}"#;
        assert_eq!(find_in_data(data), ["src/main.rs", "15 MB"]);
    }

    #[test]
    fn repeats_and_line_ends() {
        check(&[
            ("a_b \"a_b\" `a_b` a_b\r\na_b\u{2028}c_d\te_f", &["a_b", "c_d", "e_f"]),
            ("`a\tb` \"some\u{7}thing\"", &[]),
        ]);
    }

    #[test]
    fn output_is_bounded_and_sentences_keep_their_room() {
        let many: String = (0..2000).map(|n| format!("id_{n} You must do it.\n")).collect();
        let facts = find(&many);
        assert_eq!(facts.len(), MAX_FACTS);
        assert_eq!(facts[MAX_FACTS - MAX_SENTENCES - 1], format!("id_{}", MAX_FACTS - MAX_SENTENCES - 1));
        assert_eq!(facts[MAX_FACTS - MAX_SENTENCES], "id_0 You must do it");
    }

    #[test]
    fn hostile_texts_end() {
        let megabyte = ["\"", "(", "/", "a_", "`", "“", "://", "1,"];
        let tenth = [
            "a.)", "a://", "ab://b\\", "www.", "1,111", "+1 ", "1年", "-", "\\", "a:", "#1", "a@", "`` ` ",
            "never ", "Mr. ", "1 ", "\n```", "http://(", "°", "必须", "1–", "a/b:1", "a\"", "((a", ".",
            "aB ", "12 34-", "--://!",
        ];
        let sized = |seeds: &[&'static str], size: usize| -> Vec<(&'static str, usize)> {
            seeds.iter().map(|seed| (*seed, size / seed.len())).collect()
        };
        for (seed, times) in [sized(&megabyte, 1_000_000), sized(&tenth, 100_000)].concat() {
            assert!(find(&seed.repeat(times)).len() <= MAX_FACTS, "{seed:?}");
        }
    }

    fn holds(text: &str) -> Result<(), TestCaseError> {
        let facts = find(text);
        prop_assert_eq!(&facts, &find(text));
        prop_assert!(facts.len() <= MAX_FACTS);
        let distinct: HashSet<&str> = facts.iter().copied().collect();
        prop_assert_eq!(distinct.len(), facts.len());
        for fact in facts {
            prop_assert!(text.contains(fact));
            prop_assert!(!fact.trim().is_empty() && fact.trim() == fact, "{:?}", fact);
            prop_assert!(fact.chars().count() <= MAX_FACT_CHARS);
            prop_assert!(!fact.contains(|c: char| c.is_control() || c == '\u{2028}'), "{:?}", fact);
        }
        Ok(())
    }

    fn scraps() -> impl Strategy<Value = String> {
        let scraps = [
            "a",
            "_",
            "B",
            "9",
            "1234",
            " ",
            ".",
            ",",
            "/",
            "\\",
            ":",
            "://",
            "http",
            "@",
            "#",
            "-",
            "--",
            "%",
            "$",
            "\"",
            "`",
            "```",
            "\n",
            "\t",
            "\r",
            "“",
            "”",
            "「",
            "」",
            "年",
            "公里",
            "必须",
            "must",
            "。",
            "?",
            "(",
            ")",
            "()",
            "+",
            "*",
            "é",
            "°",
            "–",
            "\u{2028}",
            "\u{a0}",
            "km",
            "www.",
            ".rs",
            "C:\\",
            "😀",
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx ",
        ];
        prop::collection::vec(prop::sample::select(scraps.to_vec()), 0..60).prop_map(|list| list.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

        #[test]
        fn any_text_keeps_the_promises(text in any::<String>()) {
            holds(&text)?;
        }

        #[test]
        fn scraps_of_syntax_keep_the_promises(text in scraps()) {
            holds(&text)?;
        }

        #[test]
        fn a_fact_between_spaces_is_found_anywhere(before in scraps(), n in 1000_u32..1_000_000) {
            let text = format!("{before}\n see id_{n} now");
            let fact = format!("id_{n}");
            prop_assert!(find(&text).contains(&fact.as_str()));
        }
    }
}
