//! What a line means: a message, or one of the commands. Decides what there is to say; does nothing.

/// The commands: name, what follows it, what it does.
pub const COMMANDS: [(&str, &str, &str); 13] = [
    ("help", "", "this list"),
    ("compact", "[FOCUS]", "summarise the older part now, with care for FOCUS"),
    ("context", "", "how full the window is, the summary, compactions, pins"),
    ("undo", "", "take the newest compaction back"),
    ("reset", "", "take all compactions back"),
    ("pin", "[N]", "list recent messages with numbers; keep number N word for word"),
    ("unpin", "N", "let go of number N again"),
    ("model", "[M]", "go on with another model: MODEL or PROVIDER/MODEL"),
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
        assert_eq!(command("/model openai/gpt-4o"), Command::Model(Some("openai/gpt-4o".to_owned())));
    }

    #[test]
    fn every_command_of_the_list_is_known() {
        for (name, rest, _) in COMMANDS {
            let argument = match rest {
                "" => "",
                "N" | "[N]" => " 1",
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
        assert_eq!(wrong("/undo 2"), "/undo stands alone.");
        assert_eq!(wrong("/edit"), "/edit needs the new text: /edit TEXT");
    }
}
