//! The forms of the small facts: which single token is one, and what follows it that belongs to it.
//!
//! It decides about one token at a time and knows nothing of lines, quotations or sentences. Every function
//! here looks at a bounded number of characters, except [`url`] and the CJK units, which end where they stop.

use super::MAX_FACT_CHARS;
use std::collections::HashSet;
use std::sync::LazyLock;

/// A long list of words, as each of very many words is looked for in it.
type Words = LazyLock<HashSet<&'static str>>;

/// Endings that make a bare `name.ending` a file or host name.
static EXTENSIONS: Words = Words::new(|| {
    words(
        "bat c cc cfg cmake conf cpp cs css csv db dll doc docx env exe gif go gradle gz h hpp htm html ini \
         ipynb jar java jpeg jpg js json jsonl jsx kt kts less lock log lua md mjs mov mp3 mp4 pdf php plist \
         png pptx proto ps1 py rb rs rst sass scala scss sh sql sqlite sqlite3 srt svg swift tar tex tf toml \
         ts tsv tsx txt vue wasm wav webp xls xlsx xml yaml yml zip zsh com org net io dev",
    )
});
/// First segments that make `first/second` a path although nothing else shows it.
const PATH_ROOTS: &str = "src crates packages scripts node_modules origin refs";
/// File names that consist of a leading dot and a word.
const DOT_FILES: &str = ".env .git .github .gitignore .gitattributes .dockerignore .editorconfig .npmrc \
    .nvmrc .bashrc .profile .zshrc .vimrc .ssh .cargo .config";
static MONTHS: Words = Words::new(|| {
    words(
        "January February March April May June July August September October November December Jan Feb Mar \
         Apr Jun Jul Aug Sep Sept Oct Nov Dec",
    )
});
/// Units after a number, glued to it or after one space. Words are listed in the singular.
static UNITS: Words = Words::new(|| {
    words(
        "% ‰ ° °C °F € $ £ ¥ s ms µs ns sec second millisecond min minute h hr hour day week month year kB KB \
         MB GB TB PB KiB MiB GiB TiB bit kbit Mbit Gbit kbps Mbps Gbps byte km m cm mm µm nm mi mile ft feet \
         foot inch inches yd meter metre kilometer kilometre m² km² m³ kg g mg µg lb oz ton gram kilogram l L \
         ml mL liter litre Hz kHz MHz GHz W kW MW kWh Wh V mV mA mAh kcal cal calorie px pt em rem dpi ppi \
         fps rpm am pm AM PM a.m p.m USD EUR GBP JPY CNY RMB CHF INR percent dollar euro pound cent yuan yen \
         degree character char token word line item message file user page row column point step request \
         retry retries attempt core thread test people person time hundred thousand million billion trillion",
    )
});
/// Further endings that only count glued to the number; those before `x` may have a unit after them.
const GLUED: &str = "k K M B G T x p d w fps";
const CJK_UNITS: &str = "公里 千米 米 厘米 毫米 英里 平方米 平方公里 平米 公斤 千克 克 毫克 斤 吨 升 \
    毫升 元 块 块钱 美元 欧元 日元 港元 英镑 人民币 円 万 萬 亿 億 千 百 人 个 個 次 天 日 年 月 个月 周 \
    星期 小时 小時 时 時 時間 分 分钟 分鐘 秒 毫秒 点 點 号 號 岁 歲 度 页 頁 行 字 字符 字节 名 位 条 \
    條 件 台 倍 折 楼 层 章 节 种 张 本 枚 回 개 명 원 시 분 초 년 월 일 시간";

fn words(list: &'static str) -> HashSet<&'static str> {
    list.split(' ').collect()
}

/// Whether a word is in a short list.
pub(super) fn listed(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|entry| entry == word)
}

/// Letters and digits of scripts that put spaces between words; all other letters end a token.
pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || (matches!(c, '\u{aa}'..='\u{52f}' | '\u{1e00}'..='\u{1fff}') && c.is_alphanumeric())
}

/// The bytes of the URL at the start of `rest`: what is kept of it, and all of it.
pub(super) fn url(rest: &str) -> Option<(usize, usize)> {
    let scheme = rest.bytes().take(20).take_while(|b| b.is_ascii_alphanumeric() || b"+-".contains(b)).count();
    let scheme = if rest.starts_with(|c: char| c.is_ascii_alphabetic()) { scheme } else { 0 };
    let prefix = if rest.get(scheme..).is_some_and(|tail| tail.starts_with("://")) && scheme > 1 {
        scheme + 3
    } else {
        rest.get(..4).filter(|start| start.eq_ignore_ascii_case("www.")).map(str::len)?
    };
    let (mut depth, mut end) = ([0_usize; 3], rest.len());
    // What is longer is no fact, and is not looked at over and over again.
    for (number, (at, c)) in rest.char_indices().enumerate() {
        let closes = match c {
            _ if number > MAX_FACT_CHARS * 4 => true,
            '(' | '[' | '{' => {
                if let Some(open) = depth.get_mut("([{".find(c).unwrap_or_default()) {
                    *open += 1;
                }
                false
            }
            ')' | ']' | '}' => match depth.get_mut(")]}".find(c).unwrap_or_default()) {
                Some(open) if *open > 0 => {
                    *open -= 1;
                    false
                }
                _ => true,
            },
            _ => !is_word(c) && (!c.is_ascii_graphic() || "\"'<>`|\\^".contains(c)),
        };
        if closes {
            end = at;
            break;
        }
    }
    let kept = rest.get(..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
    kept.get(prefix..).filter(|body| body.contains(is_word)).map(|_| (kept.len(), end))
}

/// The bytes of the telephone or card number in several groups at the start of `rest`.
pub(super) fn phone(rest: &str) -> Option<usize> {
    const LONGEST: usize = 25;
    let allowed = |b: &u8| b.is_ascii_digit() || b" -()+".contains(b);
    let run = rest.get(..rest.bytes().take(LONGEST).take_while(allowed).count())?;
    let run = run.trim_end_matches(|c: char| !c.is_ascii_digit());
    if count_digits(run) < 7 {
        return None;
    }
    let first = run.chars().next().filter(|&c| c.is_ascii_digit() || c == '+' || c == '(')?;
    let groups: Vec<&str> =
        run.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    let digits: usize = groups.iter().map(|group| group.len()).sum();
    let mut tail = rest.get(run.len()..)?.chars();
    let ends = match tail.next() {
        None => true,
        Some('.' | ',' | ':' | '/' | '-' | '–') => tail.next().is_none_or(|c| !c.is_alphanumeric()),
        Some(c) => !c.is_alphanumeric() && !"%_°".contains(c),
    };
    let formed = match first {
        '+' => groups.len() > 1 || digits > 7,
        '(' => groups.len() > 1 && matches!(groups.first().map(|group| group.len()), Some(2..=3)),
        _ => groups.len() > 2 && groups.iter().all(|group| group.len() > 1),
    };
    let plain = !run.contains("  ") && !run.contains(" - ") && run.rfind('+').is_none_or(|at| at == 0);
    let paired = run.matches('(').count() == run.matches(')').count();
    let dated = run.get(..10).is_some_and(is_moment);
    ((7..=19).contains(&digits) && ends && formed && plain && paired && !dated).then_some(run.len())
}

/// Whether a token is a fact; if so, how many bytes of what follows it belong to it.
pub(super) fn classify(t: &str, before: Option<char>, after: &str) -> Option<usize> {
    let callable = t.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && t.chars().all(|c| is_word(c) || matches!(c, '_' | '.' | ':'));
    if callable && after.starts_with("()") {
        return Some(2);
    }
    if t.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    if is_digits(t) {
        return quantity(t, after);
    }
    if MONTHS.contains(t) {
        return day_of_month(after);
    }
    if is_moment(t) {
        return Some(unit_after(after, |word| listed("am pm AM PM a.m p.m", word)));
    }
    let next = after.chars().next();
    let named = is_version(t) || is_address(t) || is_path(t, before, next) || is_id(t) || is_identifier(t);
    quantity(t, after).or_else(|| (named || is_kebab(t) || is_dotted(t)).then_some(0))
}

fn is_digits(s: &str) -> bool {
    !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit())
}

pub(super) fn has_letter(s: &str) -> bool {
    s.contains(char::is_alphabetic)
}

fn count_digits(s: &str) -> usize {
    s.bytes().filter(u8::is_ascii_digit).count()
}

/// ` 16` or ` 16, 2026` after the name of a month.
fn day_of_month(after: &str) -> Option<usize> {
    let run = after.strip_prefix(' ')?;
    let day = run.bytes().take(3).take_while(u8::is_ascii_digit).count();
    let tail = run.get(day..)?;
    let year = tail.strip_prefix(", ").and_then(|year| year.get(..4)).filter(|year| is_digits(year));
    let ends = tail.chars().next().is_none_or(|c| !c.is_alphanumeric() && !":%_".contains(c));
    ((1..=2).contains(&day) && ends).then_some(1 + day + year.map_or(0, |_| 6))
}

/// A time of day, a date, or both in the ISO form.
fn is_moment(t: &str) -> bool {
    let time: Vec<&str> = t.trim_end_matches(['a', 'p', 'm', 'A', 'P', 'M']).split(':').collect();
    let sixty = |part: &&str| part.len() == 2 && is_digits(part) && **part < *"60";
    let hour = time.first().is_some_and(|hour| hour.len() < 3 && is_digits(hour));
    if hour && (2..=3).contains(&time.len()) && time.iter().skip(1).all(sixty) {
        return true;
    }
    let slashed: Vec<&str> = t.split('/').collect();
    if slashed.len() == 3 && slashed.iter().all(|part| is_digits(part) && part.len() < 5) {
        return count_digits(t) > 3;
    }
    let Some((date, clock)) = t.split_at_checked(10) else { return false };
    let form = date
        .bytes()
        .enumerate()
        .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() });
    let clock_form =
        |c: &str| count_digits(c) > 1 && c.bytes().all(|b| b.is_ascii_digit() || b":.+-Z".contains(&b));
    form && (clock.is_empty() || clock.strip_prefix('T').is_some_and(clock_form))
}

/// A number with a unit, a currency, or four digits and more.
fn quantity(t: &str, after: &str) -> Option<usize> {
    let body = t.trim_start_matches(['+', '-', '~']);
    let bare = body.trim_start_matches("US").trim_start_matches(['$', '€', '£', '¥', '￥']);
    let currency = bare.len() < body.len();
    let number = bare.find(|c: char| !c.is_ascii_digit() && !",._-–".contains(c)).unwrap_or(bare.len());
    let (number, unit) = bare.split_at_checked(number)?;
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    if !edge(number.chars().next()) || !edge(number.chars().next_back()) || number.contains("..") {
        return None;
    }
    if !unit.is_empty() {
        let magnitude = GLUED.split(" x").next().is_some_and(|list| listed(list, unit));
        let rate = currency && unit.strip_prefix('/').is_some_and(is_unit);
        let known = rate || is_unit(unit) || listed(GLUED, unit);
        return known.then(|| if magnitude { unit_after(after, is_unit) } else { 0 });
    }
    let more = unit_after(after, is_unit).max(cjk_tail(after));
    let grouped = number.split(['-', '–']).any(|group| count_digits(group) > 3) || count_digits(number) > 6;
    (more > 0 || currency || grouped).then_some(more)
}

/// A unit, its plural, a month, or one unit per another.
fn is_unit(word: &str) -> bool {
    let one = |word: &str| {
        let lower = if word.len() > 3 { word.to_lowercase() } else { word.to_owned() };
        let singular = lower.strip_suffix('s').filter(|stem| stem.len() > 2).unwrap_or(&lower);
        [word, &lower, singular].iter().any(|form| UNITS.contains(*form)) || MONTHS.contains(word)
    };
    word.split_once('/').map_or_else(|| one(word), |(unit, per)| one(unit) && one(per))
}

/// The bytes of a space and a unit at the start of `after`, where the unit is a whole word.
fn unit_after(after: &str, known: fn(&str) -> bool) -> usize {
    let Some(run) = after.strip_prefix([' ', '\u{a0}', '\u{202f}']) else { return 0 };
    let in_unit = |c: &char| c.is_alphabetic() && is_word(*c) || "%‰°€$£¥/²³.".contains(*c);
    let len: usize = run.chars().take(20).take_while(in_unit).map(char::len_utf8).sum();
    let (word, tail) = run.split_at_checked(len).unwrap_or_default();
    let word = word.trim_end_matches(['.', '/']);
    let whole = !tail.starts_with(|c: char| is_word(c) || c == '_');
    if whole && known(word) { after.len() - run.len() + word.len() } else { 0 }
}

/// The bytes of `公里`, `万元` or `年5月1日` at the start of `after`; one space may stand before it.
fn cjk_tail(after: &str) -> usize {
    let unit = |at: usize| {
        let rest = after.get(at..).unwrap_or_default();
        CJK_UNITS.split(' ').filter(|unit| rest.starts_with(unit)).map(str::len).max().unwrap_or(0)
    };
    let (mut end, mut at) = (0, usize::from(after.starts_with(' ')));
    if after.chars().nth(at).is_none_or(|c| c.is_ascii()) {
        return 0;
    }
    loop {
        let first = unit(at);
        if first == 0 {
            return end;
        }
        end = at + first + unit(at + first);
        let tail = after.get(end..).unwrap_or_default();
        at = end + tail.bytes().take(9).take_while(u8::is_ascii_digit).count();
        if at == end {
            return end;
        }
    }
}

/// `v1.2.3`, `2.4.21`, and with them IPv4 addresses.
fn is_version(t: &str) -> bool {
    let numbers = t.strip_prefix(['v', 'V']).unwrap_or(t);
    numbers.split('.').all(is_digits) && (numbers.len() < t.len() || numbers.split('.').count() > 2)
}

/// E-mail addresses, `host:port` with or without a path, and IPv4 networks.
fn is_address(t: &str) -> bool {
    let host_form = |host: &str| {
        host.split('.')
            .all(|label| !label.is_empty() && label.chars().all(|c| is_word(c) || c == '-' || c == '_'))
    };
    if let Some((user, host)) = t.split_once('@') {
        let user_form = !user.is_empty() && user.chars().all(|c| is_word(c) || "._%+-".contains(c));
        let top = host.rsplit_once('.').map_or("", |(_, top)| top);
        return user_form && host_form(host) && top.len() > 1 && top.chars().all(char::is_alphabetic);
    }
    let (server, route) = t.split_once('/').unwrap_or((t, ""));
    if is_version(server) && is_digits(route) {
        return server.split('.').count() == 4;
    }
    let Some((host, port)) = server.rsplit_once(':') else { return false };
    let telling =
        host == "localhost" || host.contains('.') || port.len() > 3 || port == "80" || port == "443";
    let number = is_digits(port) && port.parse::<u16>().is_ok_and(|port| port > 0);
    number && telling && host_form(host) && (has_letter(host) || is_version(host))
}

/// `name.ending`, where the ending is one of those known.
fn is_file_name(t: &str) -> bool {
    let form = t.chars().all(|c| is_word(c) || "._-+@".contains(c));
    let Some((stem, ending)) = t.rsplit_once('.') else { return false };
    let library = ending == "so" && stem.starts_with("lib");
    let stem_form = stem.contains(is_word) && !stem.contains("..") && !stem.ends_with('.');
    form && stem_form && (library || EXTENSIONS.contains(ending.to_ascii_lowercase().as_str()))
        || listed(DOT_FILES, t)
}

fn is_path(t: &str, before: Option<char>, next: Option<char>) -> bool {
    let position =
        |t: &'_ str| t.rsplit_once(':').filter(|(_, line)| is_digits(line)).map_or(t.len(), |(t, _)| t.len());
    let t = t.get(..position(t)).unwrap_or(t);
    let t = t.get(..position(t)).unwrap_or(t);
    if t.contains('\\') {
        let drive = t.get(1..3) == Some(":\\") && t.starts_with(|c: char| c.is_ascii_alphabetic());
        let last = t.rsplit('\\').next().unwrap_or_default();
        return (drive || t.starts_with("\\\\")) && t.get(3..).is_some_and(|rest| rest.contains(is_word))
            || is_file_name(last) && !t.contains("\\\\");
    }
    if is_file_name(t) {
        return true;
    }
    let drive = t.get(1..3) == Some(":/") && t.starts_with(|c: char| c.is_ascii_alphabetic());
    let t = if drive { t.get(2..).unwrap_or(t) } else { t };
    let inner = t.strip_prefix('/').unwrap_or(t);
    let body = inner.strip_suffix('/').unwrap_or(inner);
    let segments: Vec<&str> = body.split('/').collect();
    let form = body.chars().all(|c| is_word(c) || "._-+@*%~$/".contains(c)) && !segments.contains(&"");
    if !form || !has_letter(body) || !t.contains('/') {
        return false;
    }
    if ["./", "../", "~/"].iter().any(|root| t.starts_with(root)) || drive {
        return true;
    }
    if inner.len() < t.len() {
        let deep = segments.len() > 1;
        let apart = before.is_none_or(|c| !c.is_alphanumeric() && !")]}>".contains(c))
            || deep && !before.is_some_and(is_word);
        return apart && before != Some('<') && (deep || body.chars().nth(1).is_some());
    }
    let last = segments.last().copied().unwrap_or_default();
    let ending = last.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && ending.len() < 11
            && !ending.is_empty()
            && ending.bytes().all(|b| b.is_ascii_lowercase())
    });
    let folder = body.len() < inner.len() && body.len() > 1 && next != Some('>');
    let marked = |s: &&str| s.trim_matches('_').contains('_') || is_kebab(s);
    let known = segments.first().is_some_and(|first| listed(PATH_ROOTS, first));
    ending || folder || known || is_file_name(last) || segments.iter().any(marked)
}

/// Issue numbers, colours, command line flags, `a::b`, and `name1:tag2`.
fn is_id(t: &str) -> bool {
    let hex = |s: &str| s.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some((place, id)) = t.split_once('#') {
        let issue = is_digits(id) && id.len() < 10;
        let project = place.contains('/') && place.chars().all(|c| is_word(c) || "._-/".contains(c));
        return (place.is_empty() || project) && issue
            || place.is_empty() && hex(id) && matches!(id.len(), 6 | 8);
    }
    let word = |s: &str| s.chars().all(|c| is_word(c) || c == '_');
    let starts = |s: &str| s.starts_with(|c: char| c.is_alphabetic() || c == '_');
    if let Some(flag) = t.strip_prefix("--") {
        return starts(flag) && flag.chars().all(|c| is_word(c) || "_-.".contains(c));
    }
    if t.contains("::") {
        return t.split("::").all(|part| word(part) && starts(part));
    }
    let tagged = |s: &str| count_digits(s) > 0 && s.chars().all(|c| is_word(c) || "._-".contains(c));
    t.split_once(':')
        .is_some_and(|(name, tag)| tagged(name) && tagged(tag) && has_letter(name) && has_letter(tag))
}

/// One word that people do not write: `snake_case`, `camelCase`, `a1b2c3d`, `0x1F`, `AB1234`.
fn is_identifier(t: &str) -> bool {
    if !t.chars().all(|c| is_word(c) || c == '_') || !has_letter(t) {
        return false;
    }
    let hex = t.len() > 6 && count_digits(t) > 0 && t.bytes().all(|b| b.is_ascii_hexdigit());
    let address =
        t.strip_prefix("0x").is_some_and(|s| s.len() > 1 && s.bytes().all(|b| b.is_ascii_hexdigit()));
    let (mut capitals, mut smalls, mut inner) = (0, 0, false);
    for c in t.chars() {
        if c.is_uppercase() {
            inner |= smalls > 0;
            (capitals, smalls) = (capitals + 1, 0);
        } else if c.is_lowercase() {
            smalls += 1;
            inner |= capitals > 2 && smalls > 1;
        } else {
            (capitals, smalls) = (0, 0);
        }
        if smalls > 1 {
            capitals = 0;
        }
    }
    inner || hex || address || count_digits(t) > 2 || t.trim_matches('_').contains('_')
}

/// Words joined by hyphens of which one has a digit or is an identifier: `gpt-4o-mini`, UUIDs.
fn is_kebab(t: &str) -> bool {
    let part = |s: &str| s.contains(is_word) && s.chars().all(|c| is_word(c) || c == '_' || c == '.');
    t.contains('-')
        && t.split('-').all(part)
        && has_letter(t)
        && (count_digits(t) > 0 || t.split('-').any(is_identifier))
}

/// Words joined by dots: three and more, or two of which one is an identifier.
fn is_dotted(t: &str) -> bool {
    let mut parts = t.split('.');
    let form = t.split('.').all(|s| !s.is_empty() && s.chars().all(|c| is_word(c) || c == '_' || c == '-'));
    let names = t.split('.').all(|s| s.len() > 1 && s.starts_with(char::is_alphabetic));
    form && t.contains('.')
        && (names && t.split('.').count() > 2 || parts.any(is_identifier) && has_letter(t))
}
