//! `oneclaw migrate`, `oneclaw inspect`, `oneclaw import` and `oneclaw export`

use crate::args::{ExportArgs, ImportArgs, InspectArgs, MigrateArgs};
use crate::{Failure, input, json};
use oneclaw_model::Usage;
use oneclaw_store::epochs::Epoch;
use oneclaw_store::survey::{SessionSurvey, survey};
use oneclaw_store::{Change, Store, examine, shown, transcripts};
use serde_json::{Value, json};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

pub fn migrate(args: &MigrateArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let change = examine(&args.file)?;
    let change = if args.dry_run {
        change
    } else {
        // Another program may have been faster; then there is nothing left to do.
        Store::open_existing(&args.file)?.change().cloned().unwrap_or(Change {
            from: change.to,
            windows: 0,
            core_from: change.core_to,
            ..change
        })
    };
    let Change { from, to, windows, core_from, core_to } = change.clone();
    if is_json {
        let value = json!({
            "file": args.file.display().to_string(), "from": from, "to": to, "windows": windows,
            "core_from": core_from, "core_to": core_to, "dry_run": args.dry_run,
        });
        return json::print(out, &value);
    }
    let file = shown(&args.file);
    let text = match (change.is_none(), from == to, args.dry_run) {
        (true, _, _) => format!("{file}: is at schema version {to}, nothing to do"),
        (false, true, true) => {
            format!("{file}: is at schema version {to}; the core's own tables would be added")
        }
        (false, true, false) => {
            format!("{file}: is at schema version {to}; the core's own tables were added")
        }
        (false, false, true) => format!(
            "{file}: would go from schema version {from} to {to}; {windows} models would get a window"
        ),
        (false, false, false) => {
            format!("{file}: went from schema version {from} to {to}; {windows} models got a window")
        }
    };
    Ok(writeln!(out, "{text}")?)
}

pub fn inspect(args: &InspectArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let survey = survey(&args.file, args.session.as_deref())?;
    if let (Some(id), true) = (&args.session, survey.sessions.is_empty()) {
        return Err(Failure::Failed(format!("{}: has no session {id:?}", shown(&args.file))));
    }
    if is_json {
        let tables: serde_json::Map<String, Value> =
            survey.tables.iter().map(|(table, rows)| (table.clone(), json!(rows))).collect();
        let sessions: Vec<Value> = survey.sessions.iter().map(session).collect();
        let value = json!({"version": survey.version, "tables": tables, "sessions": sessions});
        return json::print(out, &value);
    }
    writeln!(out, "{}: schema version {}", shown(&args.file), survey.version)?;
    for (table, rows) in &survey.tables {
        writeln!(out, "{rows:>10} {table}")?;
    }
    for s in &survey.sessions {
        let deleted = if s.is_deleted { " (deleted)" } else { "" };
        // What a file holds is not to steer the terminal.
        writeln!(out, "\n{}  {}{deleted}", s.id.escape_debug(), s.title.escape_debug())?;
        let Usage { input, cache_read, cache_write, output, .. } = s.tokens;
        writeln!(out, "  {} messages, {} tokens in, {output} tokens out", s.messages, s.tokens.prompt())?;
        if cache_read + cache_write > 0 {
            writeln!(
                out,
                "  of those in: {input} uncached, {cache_read} read from and {cache_write} written to a cache"
            )?;
        }
        if let Some(chars) = s.summary_chars {
            let boundary = s.boundary.map_or("nothing".to_owned(), |b| format!("everything before {b}"));
            writeln!(out, "  a summary of {chars} characters stands for {boundary}")?;
        }
        for epoch in &s.epochs {
            writeln!(out, "  {}", epoch_line(epoch))?;
        }
    }
    Ok(())
}

pub fn import(args: &ImportArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let transcript = input::transcript()?;
    let now = now();
    let session = fresh_id();
    let store = Store::open(&args.file, now)?;
    store.write(|transaction| transcripts::import(transaction, &transcript, &session, now))?;
    if is_json {
        let value = json!({"session": session, "messages": transcript.rows.len()});
        return json::print(out, &value);
    }
    Ok(writeln!(out, "{session}")?)
}

/// A transcript is JSON already: `--json` changes nothing.
pub fn export(args: &ExportArgs, out: &mut impl Write) -> Result<(), Failure> {
    let store = Store::open_existing(&args.file)?;
    store.prepare(&args.session)?;
    let mut written = Ok(());
    store.read(|connection| {
        let header = transcripts::header(connection, &args.session)?;
        written = json::print(out, &json!({"session": header}));
        transcripts::rows(connection, &args.session, |row| {
            if written.is_ok() {
                written = json::print(out, &row);
            }
            written.is_ok()
        })
    })?;
    written
}

/// Milliseconds since 1970; a clock before that counts as 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A random name in the form of a UUID, as the app names its sessions.
fn fresh_id() -> String {
    let [a, b] = [(), ()].map(|()| RandomState::new().build_hasher().finish());
    let (version, variant) = (a & 0xfff | 0x4000, b >> 48 & 0x3fff | 0x8000);
    format!(
        "{:08x}-{:04x}-{version:04x}-{variant:04x}-{:012x}",
        a >> 32,
        a >> 16 & 0xffff,
        b & 0xffff_ffff_ffff
    )
}

fn session(s: &SessionSurvey) -> Value {
    json!({
        "id": s.id,
        "title": s.title,
        "deleted": s.is_deleted,
        "messages": s.messages,
        "tokens_in": s.tokens.prompt(),
        "uncached": s.tokens.input,
        "cache_read": s.tokens.cache_read,
        "cache_write": s.tokens.cache_write,
        "tokens_out": s.tokens.output,
        "summary_chars": s.summary_chars,
        "compact_boundary_timestamp": s.boundary,
        "epochs": s.epochs.iter().map(epoch).collect::<Vec<_>>(),
    })
}

fn epoch(e: &Epoch) -> Value {
    json!({
        "number": e.number,
        "strategy": e.strategy,
        "reason": e.reason,
        "rows": e.rows,
        "first": e.first,
        "last": e.last,
        "tokens_before": e.tokens.map(|(before, _)| before),
        "tokens_after": e.tokens.map(|(_, after)| after),
        "model": e.model,
        "summary": e.summary,
        "created_at": e.created_at,
        "undone_at": e.undone_at,
    })
}

fn epoch_line(e: &Epoch) -> String {
    let reason = e.reason.as_deref().map_or(String::new(), |reason| format!(" ({reason})"));
    let tokens = e.tokens.map_or(String::new(), |(before, after)| format!(", {before} -> {after} tokens"));
    let model = e.model.as_deref().map_or(String::new(), |model| format!(", by {model}"));
    let undone = if e.undone_at.is_some() { ", undone" } else { "" };
    let line = format!(
        "compaction {}: {}{reason}, {} messages{tokens}{model}{undone}",
        e.number, e.strategy, e.rows
    );
    line.escape_debug().to_string()
}
