#![doc = include_str!("../README.md")]

mod args;
mod chat;
mod database;
mod estimate;
mod input;
mod json;
mod models;
mod plan;
mod sample;
mod simulate;
mod truncate;

use args::{Cli, Command};
use clap::Parser;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why the program did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// It was asked wrongly.
    #[error("{0}")]
    Usage(String),
    /// It could not be done.
    #[error("{0}")]
    Failed(String),
    /// Nobody reads what it prints any more.
    #[error("the output was closed")]
    OutputClosed,
}

impl From<oneclaw_store::StoreError> for Failure {
    fn from(error: oneclaw_store::StoreError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Failed(format!("cannot write the output: {error}")),
        }
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(&error),
    };
    if let Command::Chat(args) = &cli.command {
        return ended(chat::run(args, cli.json));
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = match &cli.command {
        // It has an output of its own.
        Command::Chat(_) => Ok(()),
        Command::Models(args) => models::run(args, cli.json, &mut out),
        Command::Truncate(args) => truncate::run(args, cli.json, &mut out),
        Command::Estimate(args) => estimate::run(args, cli.json, &mut out),
        Command::Plan(args) => plan::run(args, cli.json, &mut out),
        Command::Migrate(args) => database::migrate(args, cli.json, &mut out),
        Command::Inspect(args) => database::inspect(args, cli.json, &mut out),
        Command::Import(args) => database::import(args, cli.json, &mut out),
        Command::Export(args) => database::export(args, &mut out),
        Command::Sample(args) => sample::run(args, cli.json, &mut out),
        Command::Simulate(args) => simulate::run(args, cli.json, &mut out),
    };
    ended(result.and_then(|()| out.flush().map_err(Failure::from)))
}

fn ended(result: Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&failure.to_string());
            ExitCode::from(if matches!(failure, Failure::Usage(_)) { 2 } else { 1 })
        }
    }
}

/// Help goes out whole; a mistake is one line.
fn wrong_usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind;
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        // Nothing is left to do if even this cannot be printed.
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    let text = error.render().to_string();
    let lines: Vec<&str> = text.lines().take_while(|l| !l.is_empty()).map(str::trim).collect();
    let line = lines.join(" ");
    complain(line.strip_prefix("error: ").unwrap_or(&line));
    ExitCode::from(2)
}

fn complain(text: &str) {
    let one_line = chat::harmless(text).replace('\n', " ");
    // Nothing is left to do if even this cannot be printed.
    let _ = writeln!(io::stderr(), "oneclaw: {one_line}");
}
