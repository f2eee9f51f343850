//! `oneclaw migrate` and `oneclaw inspect`

use crate::Failure;
use crate::args::{InspectArgs, MigrateArgs};
use oneclaw_store::survey::{SessionSurvey, survey};
use oneclaw_store::{Change, Store, examine};
use serde_json::{Value, json};
use std::io::Write;

pub fn migrate(args: &MigrateArgs, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let change = examine(&args.file)?;
    let change = if args.dry_run {
        change
    } else {
        // Another program may have been faster; then there is nothing left to do.
        Store::open_existing(&args.file)?.change().cloned().unwrap_or(Change {
            from: change.to,
            windows: 0,
            ..change
        })
    };
    let Change { from, to, windows } = change;
    let file = args.file.display();
    if json {
        let value = json!({"file": file.to_string(), "from": from, "to": to, "windows": windows, "dry_run": args.dry_run});
        return Ok(writeln!(out, "{value}")?);
    }
    let text = match (from == to, args.dry_run) {
        (true, _) => format!("{file}: is at schema version {to}, nothing to do"),
        (false, true) => format!(
            "{file}: would go from schema version {from} to {to}; {windows} models would get a window"
        ),
        (false, false) => {
            format!("{file}: went from schema version {from} to {to}; {windows} models got a window")
        }
    };
    Ok(writeln!(out, "{text}")?)
}

pub fn inspect(args: &InspectArgs, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let survey = survey(&args.file, args.session.as_deref())?;
    if let (Some(id), true) = (&args.session, survey.sessions.is_empty()) {
        return Err(Failure::Failed(format!("{}: has no session {id:?}", args.file.display())));
    }
    if json {
        let tables: serde_json::Map<String, Value> =
            survey.tables.iter().map(|(table, rows)| (table.clone(), json!(rows))).collect();
        let sessions: Vec<Value> = survey.sessions.iter().map(session).collect();
        let value = json!({"version": survey.version, "tables": tables, "sessions": sessions});
        return Ok(writeln!(out, "{value}")?);
    }
    writeln!(out, "{}: schema version {}", args.file.display(), survey.version)?;
    for (table, rows) in &survey.tables {
        writeln!(out, "{rows:>10} {table}")?;
    }
    for s in &survey.sessions {
        let deleted = if s.is_deleted { " (deleted)" } else { "" };
        // What a file holds is not to steer the terminal.
        writeln!(out, "\n{}  {}{deleted}", s.id.escape_debug(), s.title.escape_debug())?;
        writeln!(out, "  {} messages, {} tokens in, {} tokens out", s.messages, s.tokens.0, s.tokens.1)?;
        if let Some(chars) = s.summary_chars {
            let boundary = s.boundary.map_or("nothing".to_owned(), |b| format!("everything before {b}"));
            writeln!(out, "  a summary of {chars} characters stands for {boundary}")?;
        }
    }
    Ok(())
}

fn session(s: &SessionSurvey) -> Value {
    json!({
        "id": s.id,
        "title": s.title,
        "deleted": s.is_deleted,
        "messages": s.messages,
        "tokens_in": s.tokens.0,
        "tokens_out": s.tokens.1,
        "summary_chars": s.summary_chars,
        "compact_boundary_timestamp": s.boundary,
    })
}
