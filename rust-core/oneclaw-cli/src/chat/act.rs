//! What the commands do. Each says what came of it, as text or as one JSON object.

use super::command::{COMMANDS, Command};
use super::screen::{Screen, Style};
use super::text::{self, Usage, grouped, one_line};
use super::{Chat, Next, now};
use crate::Failure;
use oneclaw_agent::{Enclosure, Status};
use oneclaw_model::row::RowType;
use oneclaw_store::epochs::Epoch;
use oneclaw_store::messages::{self, Stored};
use oneclaw_store::sessions::{self, Cursor, Shelf};
use oneclaw_store::{Place, StoreError};
use serde_json::{Value, json};
use std::io;

/// So many messages are offered for pinning, out of so many rows.
const PINNABLE: usize = 10;
const LOOKED_AT: usize = 200;
/// So many sessions are listed.
const LISTED: usize = 20;
const MOST_CHARS: usize = 76;
const MOST_SUMMARY: usize = 600;

/// Why a command did not do what it was asked for.
pub(super) enum Trouble {
    /// The output is gone.
    Output(Failure),
    /// It cannot be done.
    Refused(oneclaw_agent::Failure),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Output(error.into())
    }
}

impl From<oneclaw_agent::Failure> for Trouble {
    fn from(failure: oneclaw_agent::Failure) -> Self {
        Self::Refused(failure)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

pub(super) fn refused(why: impl Into<String>) -> Trouble {
    Trouble::Refused(oneclaw_agent::Failure::Invalid(why.into()))
}

impl Chat {
    /// Does what a command says.
    pub(super) async fn act(&mut self, command: Command) -> Result<Next, Failure> {
        match self.carry_out(command).await {
            Ok(next) => Ok(next),
            Err(Trouble::Output(failure)) => Err(failure),
            Err(Trouble::Refused(failure)) => {
                self.fail(failure.event())?;
                Ok(Next::GoOn)
            }
        }
    }

    async fn carry_out(&mut self, command: Command) -> Result<Next, Trouble> {
        let (agent, session) = (self.ready.agent.clone(), self.ready.session.clone());
        let is_run = matches!(command, Command::Compact(_) | Command::Regenerate | Command::Edit(_));
        if is_run {
            self.before_run().map_err(Trouble::Output)?;
        }
        match command {
            Command::Help => self.help()?,
            Command::Compact(focus) => return self.compact(focus).await,
            Command::Context => self.context().await?,
            Command::Undo => self.undo().await?,
            Command::Reset => {
                agent.reset(&session).await?;
                self.say(
                    json!({"command": "reset"}),
                    "All compactions are taken back; the whole history is sent again.",
                )?;
            }
            Command::Pin(number) => self.pin(number, true).await?,
            Command::Unpin(number) => self.pin(number, false).await?,
            Command::Model(wanted) => self.model(wanted).await?,
            Command::Models(filter) => return self.models(filter).await,
            Command::Window(setting) => self.set_window(setting).await?,
            Command::Limits(forget) => self.limits(forget).await?,
            Command::Effort(effort) => self.set_effort(effort)?,
            Command::Regenerate => {
                let run = agent.regenerate(&session).await?;
                return self.follow(run).await.map(|(next, _)| next).map_err(Trouble::Output);
            }
            Command::Edit(text) => {
                let newest = agent.store().read(|c| messages::newest_user(c, &session, Place::LINE))?;
                let newest = newest.ok_or_else(|| refused("There is no message to edit yet."))?;
                let row = newest.row;
                let kept = row.attachments.into_iter().map(Enclosure::New).collect();
                let run = agent.edit(&session, &row.id, &text, kept).await?;
                return self.follow(run).await.map(|(next, _)| next).map_err(Trouble::Output);
            }
            Command::Sessions => self.sessions()?,
            Command::Title(title) => self.title(title)?,
            Command::Quit => return Ok(Next::Leave),
        }
        Ok(Next::GoOn)
    }

    /// One object, or one line.
    pub(super) fn say(&mut self, value: Value, line: &str) -> io::Result<()> {
        self.tell(value, |screen| screen.line(line, Style::Plain))
    }

    pub(super) fn tell(
        &mut self,
        value: Value,
        lines: impl FnOnce(&mut Screen) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.screen.abilities().json { self.screen.json(&value) } else { lines(&mut self.screen) }
    }

    fn help(&mut self) -> io::Result<()> {
        let all: Vec<Value> = COMMANDS
            .iter()
            .map(|(name, rest, does)| json!({"name": name, "argument": rest, "does": does}))
            .collect();
        self.tell(json!({"command": "help", "commands": all}), |screen| {
            for (name, rest, does) in COMMANDS {
                screen.line(&format!("  {:<20} {does}", format!("/{name} {rest}")), Style::Plain)?;
            }
            let hint = "Everything else is a message. A backslash at the end of a line lets it go on in the next one.";
            screen.line(hint, Style::Dim)
        })
    }

    async fn compact(&mut self, focus: Option<String>) -> Result<Next, Trouble> {
        let run = self.ready.agent.compact(&self.ready.session, focus).await?;
        let (next, view) = self.follow(run).await.map_err(Trouble::Output)?;
        if view.left_as_it_was() && !self.screen.abilities().json {
            let line = "There is nothing to compact yet: the newest messages are kept as they are.";
            self.screen.line(line, Style::Plain)?;
        }
        Ok(next)
    }

    async fn context(&mut self) -> Result<(), Trouble> {
        let status = self.ready.agent.status(&self.ready.session).await?;
        let value = context_value(&self.ready.session, &status);
        let Status { estimate, window, hard_limit, trigger, parts, summary, epochs, pins, model, .. } =
            status;
        self.tell(value, |screen| {
            screen.line(&text::meter(&Usage { expected: estimate.expected, window, parts }), Style::Plain)?;
            let limit = |n: Option<u64>| n.map_or("unknown".to_owned(), grouped);
            screen.line(
                &format!(
                    "{} · at most {} tokens; compacts above {}, never sends more than {}",
                    one_line(&format!("{}/{}", short(&model.0), model.1), MOST_CHARS),
                    grouped(estimate.upper),
                    limit(trigger),
                    limit(hard_limit)
                ),
                Style::Plain,
            )?;
            for epoch in &epochs {
                screen.line(&epoch_line(epoch), Style::Plain)?;
            }
            if let Some(summary) = summary {
                screen.line("Summary in force:", Style::Bold)?;
                screen.line(&one_line(&summary, MOST_SUMMARY), Style::Dim)?;
            }
            for pin in &pins {
                screen.line(&format!("pinned: {}", excerpt(&pin.stored)), Style::Plain)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    async fn undo(&mut self) -> Result<(), Trouble> {
        let undone = self.ready.agent.undo(&self.ready.session).await?;
        let value = json!({"command": "undo", "undone": undone.as_ref().map(|epoch| epoch.number)});
        let line = match undone {
            Some(epoch) => format!(
                "Compaction {} is taken back; {} are sent again.",
                epoch.number,
                text::counted(epoch.rows, "message", "messages")
            ),
            None => "There is no compaction to take back.".to_owned(),
        };
        Ok(self.say(value, &line)?)
    }

    async fn pin(&mut self, number: Option<usize>, is_pin: bool) -> Result<(), Trouble> {
        let (agent, session) = (self.ready.agent.clone(), self.ready.session.clone());
        let listed = self.pinnable()?;
        let name = if is_pin { "pin" } else { "unpin" };
        let Some(number) = number else {
            let shown: Vec<(usize, &Stored)> =
                (1..).zip(&listed).filter(|(_, s)| is_pin || s.pinned_at.is_some()).collect();
            let value = |(n, s): &(usize, &Stored)| json!({"number": n, "id": s.row.id, "pinned": s.pinned_at.is_some(), "text": excerpt(s)});
            let value = json!({"command": name, "messages": shown.iter().map(value).collect::<Vec<_>>()});
            self.tell(value, |screen| {
                for (n, stored) in &shown {
                    let mark = if stored.pinned_at.is_some() { '*' } else { ' ' };
                    screen.line(&format!("{n:>3} {mark} {}", excerpt(stored)), Style::Plain)?;
                }
                let hint = match (shown.is_empty(), is_pin) {
                    (true, true) => "There is nothing to pin yet.",
                    (true, false) => "Nothing is pinned.",
                    (false, true) => {
                        "1 is the newest, * is pinned. /pin N keeps one word for word through compactions."
                    }
                    (false, false) => "/unpin N lets go of one.",
                };
                screen.line(hint, Style::Dim)
            })?;
            return Ok(());
        };
        let chosen = listed.get(number - 1).ok_or_else(|| {
            let last = listed.len();
            refused(format!("There is no message {number}; /pin lists those from 1 to {last}."))
        })?;
        match is_pin {
            true => agent.pin(&session, &chosen.row.id).await?,
            false => agent.unpin(&session, &chosen.row.id).await?,
        }
        let did = if is_pin { "Pinned" } else { "No longer pinned" };
        let value = json!({"command": name, "id": chosen.row.id});
        Ok(self.say(value, &format!("{did}: {}", excerpt(chosen)))?)
    }

    /// The newest messages, the newest first, and behind them all older ones that are pinned.
    fn pinnable(&self) -> Result<Vec<Stored>, Trouble> {
        let (rows, pinned) = self.ready.agent.store().read(|c| {
            let rows = messages::page(c, &self.ready.session, Place::END, LOOKED_AT)?;
            Ok((rows, messages::pins(c, &self.ready.session)?))
        })?;
        let stored = |listed: messages::Listed| listed.stored;
        let says = |s: &Stored| match s.row.kind {
            RowType::User | RowType::AiResponse => !s.row.content.trim().is_empty(),
            RowType::ToolResult => true,
            _ => false,
        };
        let mut listed: Vec<Stored> =
            rows.into_iter().rev().map(stored).filter(says).take(PINNABLE).collect();
        for stored in pinned.into_iter().rev().map(stored) {
            if listed.iter().all(|other| other.row.id != stored.row.id) {
                listed.push(stored);
            }
        }
        Ok(listed)
    }

    fn sessions(&mut self) -> Result<(), Trouble> {
        let store = self.ready.agent.store().clone();
        let page = store.read(|c| sessions::list(c, Shelf::Open, Cursor::FIRST, LISTED))?;
        let own = self.ready.session.clone();
        let value = |s: &sessions::Session| json!({"id": s.id, "title": s.title, "messages": s.message_count, "updated_at": s.updated_at});
        let value =
            json!({"command": "sessions", "sessions": page.sessions.iter().map(value).collect::<Vec<_>>()});
        self.tell(value, |screen| {
            for s in &page.sessions {
                let mark = if s.id == own { '*' } else { ' ' };
                let title = one_line(&s.title, 40);
                let count = text::counted(s.message_count, "message", "messages");
                let ago = text::ago(now().saturating_sub(s.updated_at));
                screen.line(
                    &format!("{mark} {}  {title} · {count} · {ago}", one_line(&s.id, 64)),
                    Style::Plain,
                )?;
            }
            let more = if page.next.is_some() { "There are more; `oneclaw inspect` lists all. " } else { "" };
            screen.line(
                &format!("{more}* is this one. oneclaw chat --session ID goes on with another."),
                Style::Dim,
            )
        })?;
        Ok(())
    }

    fn title(&mut self, title: Option<String>) -> Result<(), Trouble> {
        let store = self.ready.agent.store().clone();
        let session = self.ready.session.clone();
        if let Some(title) = &title {
            store.write(|t| sessions::rename(t, &session, title))?;
        }
        let title = store.read(|c| Ok(sessions::get(c, &session)?.title))?;
        Ok(self.say(json!({"command": "title", "title": title}), &one_line(&title, MOST_CHARS))?)
    }
}

/// A provider's id as people say it.
pub(super) fn short(provider: &str) -> &str {
    provider.strip_prefix("provider-").unwrap_or(provider)
}

fn excerpt(stored: &Stored) -> String {
    let row = &stored.row;
    let (who, what) = match row.kind {
        RowType::User => ("you", row.content.as_str()),
        RowType::ToolResult => {
            (row.tool_name.as_deref().unwrap_or("tool"), row.tool_output.as_deref().unwrap_or_default())
        }
        _ => ("model", row.content.as_str()),
    };
    one_line(&format!("{who}: {what}"), MOST_CHARS)
}

fn epoch_line(epoch: &Epoch) -> String {
    let sizes = epoch.tokens.map(|(b, a)| format!(", {} → {} tokens", grouped(b), grouped(a)));
    let undone = if epoch.undone_at.is_some() { ", taken back" } else { "" };
    let (how, rows) = (&epoch.strategy, text::counted(epoch.rows, "message", "messages"));
    one_line(
        &format!("compaction {}: {how}, {rows}{}{undone}", epoch.number, sizes.unwrap_or_default()),
        MOST_SUMMARY,
    )
}

fn context_value(session: &str, status: &Status) -> Value {
    let epoch = |e: &Epoch| {
        json!({
            "number": e.number, "strategy": e.strategy, "reason": e.reason, "messages": e.rows,
            "tokens_before": e.tokens.map(|t| t.0), "tokens_after": e.tokens.map(|t| t.1),
            "undone": e.undone_at.is_some(),
        })
    };
    json!({
        "command": "context",
        "session": session,
        "provider": status.model.0,
        "model": status.model.1,
        "estimate": {"expected": status.estimate.expected, "upper": status.estimate.upper},
        "limits": {"window": status.window, "hard": status.hard_limit, "trigger": status.trigger},
        "parts": status.parts,
        "summary": status.summary,
        "compactions": status.epochs.iter().map(epoch).collect::<Vec<_>>(),
        "pins": status.pins.iter().map(|p| json!({"id": p.stored.row.id, "text": excerpt(&p.stored)})).collect::<Vec<_>>(),
    })
}
