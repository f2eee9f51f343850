//! What a line means: a message, or one of the commands. Decides what there is to say; does nothing.

use crate::args::MOST_TOKENS;
use oneclaw_model::Effort;

/// The commands: name, what follows it, what it does.
pub const COMMANDS: [(&str, &str, &str); 17] = [
    ("help", "", "this list"),
    ("compact", "[FOCUS]", "summarise the older part now, with care for FOCUS"),
    ("context", "", "how full the window is, the summary, compactions, pins"),
    ("undo", "", "take the newest compaction back"),
    ("reset", "", "take all compactions back"),
    ("pin", "[N]", "list recent messages with numbers; keep number N word for word"),
    ("unpin", "N", "let go of number N again"),
    ("model", "[M]", "go on with another model of the service, or SERVICE/MODEL"),
    ("models", "[FILTER]", "list what the service offers: window, price, abilities"),
    ("window", "[N|off]", "show, set for good or forget the window of the model"),
    ("limits", "[forget]", "what refusals and reports taught about the model; forget it"),
    ("effort", "[WORD|auto]", "show or set how much the model reasons: none, low, high, …"),
    ("regenerate", "", "answer the newest message once more"),
    ("edit", "TEXT", "put TEXT in place of the newest message and answer it"),
    ("sessions", "", "list the conversations in the file"),
    ("title", "[T]", "show or change the title of this conversation"),
    ("quit", "", "leave (also Ctrl-D)"),
];

/// Words so far apart are not taken for each other.
const FARTHEST: usize = 2;

/// A line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Nothing.
    Blank,
    /// Something for the model.
    Message(String),
    /// Something for us.
    Command(Command),
}

/// A command with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `/help`
    Help,
    /// `/compact [FOCUS]`
    Compact(Option<String>),
    /// `/context`
    Context,
    /// `/undo`
    Undo,
    /// `/reset`
    Reset,
    /// `/pin [N]`
    Pin(Option<usize>),
    /// `/unpin [N]`
    Unpin(Option<usize>),
    /// `/model [M]`
    Model(Option<String>),
    /// `/models [FILTER]`
    Models(Option<String>),
    /// `/window [N|off]`
    Window(Setting<u64>),
    /// `/limits`, and whether they are to be forgotten
    Limits(bool),
    /// `/effort [WORD|auto]`
    Effort(Setting<Effort>),
    /// `/regenerate`
    Regenerate,
    /// `/edit TEXT`
    Edit(String),
    /// `/sessions`
    Sessions,
    /// `/title [T]`
    Title(Option<String>),
    /// `/quit`
    Quit,
}

/// What is to be done with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting<T> {
    /// Show it.
    Show,
    /// Set it.
    Set(T),
    /// Go back to what holds without it.
    Forget,
}

/// The meaning of a line, or what is wrong with it. A message that begins with a slash is sent with a space before it.
pub fn parse(line: &str) -> Result<Line, String> {
    if line.trim().is_empty() {
        return Ok(Line::Blank);
    }
    let Some(command) = line.strip_prefix('/') else { return Ok(Line::Message(line.trim().to_owned())) };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty()).map(str::to_owned);
    let alone = |command: Command| match &rest {
        Some(_) => Err(format!("/{name} stands alone.")),
        None => Ok(command),
    };
    let number = || rest.as_deref().map(|text| count(name, text)).transpose();
    let command = match name {
        "help" | "?" => Ok(Command::Help),
        "compact" => Ok(Command::Compact(rest)),
        "context" => alone(Command::Context),
        "undo" => alone(Command::Undo),
        "reset" => alone(Command::Reset),
        "pin" => number().map(Command::Pin),
        "unpin" => number().map(Command::Unpin),
        "model" => Ok(Command::Model(rest)),
        "models" => Ok(Command::Models(rest)),
        "window" => setting(rest.as_deref(), "off", window).map(Command::Window),
        "limits" => match rest.as_deref() {
            None => Ok(Command::Limits(false)),
            Some("forget") => Ok(Command::Limits(true)),
            Some(other) => Err(format!("/limits takes forget or nothing, not {other:?}.")),
        },
        "effort" => setting(rest.as_deref(), "auto", effort).map(Command::Effort),
        "regenerate" => alone(Command::Regenerate),
        "edit" => rest.map(Command::Edit).ok_or_else(|| "/edit needs the new text: /edit TEXT".to_owned()),
        "sessions" => alone(Command::Sessions),
        "title" => Ok(Command::Title(rest)),
        "quit" | "exit" => Ok(Command::Quit),
        other => Err(unknown(other)),
    };
    command.map(Line::Command)
}

/// The commands that begin like that, with their slash.
pub fn completions(start: &str) -> Vec<String> {
    let names = COMMANDS.iter().map(|(name, ..)| format!("/{name}"));
    names.filter(|name| name.starts_with(start)).collect()
}

fn count(name: &str, text: &str) -> Result<usize, String> {
    let number = text.parse::<usize>().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("/{name} needs a number from the list that /pin shows, not {text:?}."))
}

fn setting<T>(
    text: Option<&str>,
    forget: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Setting<T>, String> {
    match text {
        None => Ok(Setting::Show),
        Some(text) if text == forget => Ok(Setting::Forget),
        Some(text) => read(text).map(Setting::Set),
    }
}

/// A number of tokens: `128000`, `128,000`, `128k`, `1.05m`.
fn window(text: &str) -> Result<u64, String> {
    let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_' | ' ')).collect();
    let (digits, unit) = match digits.to_ascii_lowercase() {
        lower if lower.ends_with('k') => (lower.trim_end_matches('k').to_owned(), 1_000),
        lower if lower.ends_with('m') => (lower.trim_end_matches('m').to_owned(), 1_000_000),
        lower => (lower, 1),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, ""));
    let tokens = scaled(whole, part, unit).filter(|tokens| (1..=MOST_TOKENS).contains(tokens));
    tokens.ok_or_else(|| format!("/window needs a number of tokens, such as 128000, or off; not {text:?}."))
}

/// `whole.part` units; `None` where that is no number of tokens.
fn scaled(whole: &str, part: &str, unit: u64) -> Option<u64> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(part) {
        return None;
    }
    let mut tokens = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let mut place = unit;
    for digit in part.bytes() {
        place = Some(place / 10).filter(|place| *place > 0)?;
        tokens = tokens.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(tokens)
}

fn effort(text: &str) -> Result<Effort, String> {
    let known = Effort::of_word(&text.to_ascii_lowercase());
    let words = || Effort::ALL.map(Effort::word).join(", ");
    known.ok_or_else(|| format!("/effort takes {} or auto, not {text:?}.", words()))
}

fn unknown(name: &str) -> String {
    let names = || COMMANDS.iter().map(|(known, ..)| *known);
    let begun = || names().find(|known| !name.is_empty() && known.starts_with(name));
    let closest = || {
        let apart = names().map(|known| (strsim::osa_distance(name, known), known));
        apart.filter(|(distance, known)| *distance <= FARTHEST.min(known.len() / 2)).min()
    };
    let hint = match begun().or_else(|| closest().map(|(_, known)| known)) {
        Some(known) => format!("did you mean /{known}?"),
        None => "/help lists all.".to_owned(),
    };
    format!("There is no command /{name}; {hint} (A space before the slash makes it a message.)")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str) -> Command {
        match parse(line) {
            Ok(Line::Command(command)) => command,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_and_their_meaning() {
        assert_eq!(parse(" \t"), Ok(Line::Blank));
        assert_eq!(parse("Hello / you"), Ok(Line::Message("Hello / you".to_owned())));
        assert_eq!(parse(" /help"), Ok(Line::Message("/help".to_owned())));
        assert_eq!(parse("two\nlines\n"), Ok(Line::Message("two\nlines".to_owned())));
        assert_eq!(command("/compact  the port "), Command::Compact(Some("the port".to_owned())));
        assert_eq!(command("/compact"), Command::Compact(None));
        assert_eq!(command("/pin 3"), Command::Pin(Some(3)));
        assert_eq!(command("/edit a\nb"), Command::Edit("a\nb".to_owned()));
        assert_eq!(command("/exit"), Command::Quit);
        assert_eq!(command("/models  Opus "), Command::Models(Some("Opus".to_owned())));
        assert_eq!(command("/window"), Command::Window(Setting::Show));
        assert_eq!(command("/window off"), Command::Window(Setting::Forget));
        for (text, tokens) in [
            ("128000", 128_000),
            ("128,000", 128_000),
            ("1_000", 1_000),
            ("128k", 128_000),
            ("1.05M", 1_050_000),
        ] {
            assert_eq!(command(&format!("/window {text}")), Command::Window(Setting::Set(tokens)), "{text}");
        }
        assert_eq!(command("/effort"), Command::Effort(Setting::Show));
        assert_eq!(command("/effort auto"), Command::Effort(Setting::Forget));
        assert_eq!(command("/effort XHigh"), Command::Effort(Setting::Set(Effort::Xhigh)));
        assert_eq!(command("/model openai/gpt-4o"), Command::Model(Some("openai/gpt-4o".to_owned())));
    }

    #[test]
    fn every_command_of_the_list_is_known() {
        for (name, rest, _) in COMMANDS {
            let argument = match rest {
                "" => "",
                "N" | "[N]" | "[N|off]" => " 1",
                "[WORD|auto]" => " high",
                "[forget]" => " forget",
                _ => " words",
            };
            assert!(matches!(parse(&format!("/{name}{argument}")), Ok(Line::Command(_))), "{name}");
        }
        assert_eq!(completions("/co"), ["/compact", "/context"]);
    }

    #[test]
    fn mistakes_are_explained() {
        let wrong = |line: &str| parse(line).unwrap_err();
        assert!(wrong("/contxet").starts_with("There is no command /contxet; did you mean /context?"));
        assert!(wrong("/regen").contains("/regenerate?"));
        assert!(wrong("/etc/hosts is what?").contains("/etc/hosts; /help lists all."));
        assert!(wrong("/").contains("/help lists all."));
        assert!(wrong("/pin 0").contains("needs a number"));
        for odd in [
            "0",
            "-1",
            "many",
            "1.5",
            "0.0001k",
            "k",
            ".5k",
            "1e9",
            "99999999999999999999",
            "1.5.5k",
            "2000m",
        ] {
            assert!(wrong(&format!("/window {odd}")).contains("needs a number of tokens"), "{odd}");
        }
        assert_eq!(
            wrong("/effort 3"),
            "/effort takes none, minimal, low, medium, high, xhigh, max or auto, not \"3\"."
        );
        assert_eq!(wrong("/limits 3"), "/limits takes forget or nothing, not \"3\".");
        assert_eq!(wrong("/undo 2"), "/undo stands alone.");
        assert_eq!(wrong("/edit"), "/edit needs the new text: /edit TEXT");
    }
}
