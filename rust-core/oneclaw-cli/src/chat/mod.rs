//! `oneclaw chat`: lines in, what comes of them out. One loop for the terminal, for pipes and for JSON.

mod act;
mod command;
mod history;
mod lines;
mod models;
mod screen;
pub(crate) mod services;
pub(crate) mod setup;
mod signals;
mod terminal;
mod text;
mod view;

pub(crate) use text::{harmless, steers};

use crate::Failure;
use crate::args::ChatArgs;
use command::{Command, Line};
use history::History;
use lines::{Input, Lines};
use oneclaw_agent::{ErrorCode, Event, Run, Surroundings, System, UNTITLED};
use oneclaw_model::Effort;
use oneclaw_model::row::RowType;
use oneclaw_store::messages::{self, State, Stored};
use oneclaw_store::{Place, sessions, shown};
use screen::{Abilities, Screen, Style};
use services::{DEMO, moved};
use setup::Ready;
use signals::{Signal, Signals};
use std::future::Future;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use terminal::Terminal;
use text::{grouped, one_line};
use view::View;

/// How often what passes is drawn.
const FRAME: Duration = Duration::from_millis(100);
/// How long a title that is on its way is waited for when the chat ends.
const TITLE: Duration = Duration::from_millis(900);
/// How long the end may take; what is not saved by then never will be.
const CLOSING: Duration = Duration::from_secs(3);
/// How much of an older conversation is shown when it goes on.
const SHOWN_ROWS: usize = 6;
const SHOWN_CHARS: usize = 240;

/// `oneclaw chat`
pub fn run(args: &ChatArgs, json: bool) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("cannot start: {error}")))?;
    let result = runtime.block_on(chat(args, json));
    // A thread may still wait for a line.
    runtime.shutdown_background();
    result
}

/// Milliseconds since 1970.
fn now() -> i64 {
    System.now()
}

async fn chat(args: &ChatArgs, json: bool) -> Result<(), Failure> {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_typed = is_terminal && !json;
    let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    let is_plain = is_dumb || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let abilities = Abilities { redraws: is_typed && !is_dumb, colours: is_typed && !is_plain, json };
    let mut screen = Screen::new(Box::new(io::stdout()), Box::new(io::stderr()), abilities);
    let opening = setup::open(args, is_typed);
    let ready = waiting(&mut screen, "Opening the file...", opening).await??;
    let signals = Signals::listen().map_err(|e| Failure::Failed(format!("cannot wait for Ctrl-C: {e}")))?;
    let mut chat = Chat {
        ready,
        screen,
        signals,
        terminal: is_typed.then(Terminal::find),
        named_file: args.db.clone(),
        line: 0,
        failures: 0,
        is_ended: false,
        has_spoken: false,
        effort: args.effort,
    };
    let ended = chat.talk().await;
    let closed = chat.close().await;
    ended.and(closed)
}

/// Whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    Leave,
}

/// A chat.
struct Chat {
    ready: Ready,
    screen: Screen,
    signals: Signals,
    /// There if lines are typed.
    terminal: Option<Terminal>,
    named_file: Option<PathBuf>,
    /// The lines so far that said something, and those that failed.
    line: u64,
    failures: u64,
    /// The program was told to end before its input did.
    is_ended: bool,
    has_spoken: bool,
    /// How much models are to reason; `None` leaves it to them.
    effort: Option<Effort>,
}

impl Chat {
    async fn talk(&mut self) -> Result<(), Failure> {
        self.hush();
        if self.greet().await? == Next::Leave || self.resume().await? == Next::Leave {
            return self.result();
        }
        let mut lines = self.lines()?;
        let mut number = 0;
        loop {
            if self.is_typed() && self.signals.forget() {
                break;
            }
            if let Some(terminal) = &self.terminal {
                self.screen.line("", Style::Plain)?;
                terminal.restore();
            }
            let input = tokio::select! {
                biased;
                _ = self.signals.next() => {
                    self.is_ended = true;
                    break;
                }
                input = lines.next() => input,
            };
            self.hush();
            number += 1;
            let next = match input {
                Input::End | Input::Interrupted => break,
                Input::Bad(why) => {
                    self.line = number;
                    self.refuse(&why)?;
                    Next::GoOn
                }
                Input::Line(line) => {
                    self.line = number;
                    self.take(&line).await?
                }
            };
            if next == Next::Leave {
                break;
            }
        }
        if number == 1 && !self.is_typed() && !self.screen.abilities().json && !self.is_ended {
            let hint = "Nothing was sent: there was no input. Start it in a terminal to chat, or pipe one message per line.";
            self.screen.line(hint, Style::Plain)?;
        }
        self.result()
    }

    fn lines(&mut self) -> Result<Lines, Failure> {
        let lines = if self.is_typed() {
            let mut path = self.ready.database.clone().into_os_string();
            path.push(".history");
            let path = PathBuf::from(path);
            let history = match History::read(path.clone()) {
                Ok(history) => Some(history),
                Err(error) => {
                    let line = format!("{}: {error}; lines are not remembered", shown(&path));
                    self.screen.line(&line, Style::Yellow)?;
                    None
                }
            };
            Lines::typed(history, self.screen.abilities().colours)
        } else {
            if io::stdin().is_terminal() {
                self.screen.complain("reading standard input; end it with Ctrl-D")?;
            }
            Lines::piped()
        };
        lines.map_err(|error| Failure::Failed(format!("cannot read lines: {error}")))
    }

    /// What a line asks for, done.
    async fn take(&mut self, line: &str) -> Result<Next, Failure> {
        match command::parse(line) {
            Ok(Line::Blank) => Ok(Next::GoOn),
            Ok(Line::Message(text)) => {
                self.before_run()?;
                let run = self.ready.agent.send(&self.ready.session, &text, vec![]).await;
                self.answer(run).await
            }
            Ok(Line::Command(Command::Quit)) => Ok(Next::Leave),
            Ok(Line::Command(command)) => self.act(command).await,
            Err(why) => {
                self.refuse(&why)?;
                Ok(Next::GoOn)
            }
        }
    }

    /// The embedded demo is where the file says.
    fn before_run(&mut self) -> Result<(), Failure> {
        match &self.ready.demo {
            Some(demo) => demo.register(&self.ready.agent),
            None => Ok(()),
        }
    }

    async fn answer(&mut self, run: Result<Run, oneclaw_agent::Failure>) -> Result<Next, Failure> {
        match run {
            Ok(run) => self.follow(run).await.map(|(next, _)| next),
            Err(failure) => {
                self.fail(failure.event())?;
                Ok(Next::GoOn)
            }
        }
    }

    /// Shows a run to its end. The first Ctrl-C stops it, a second one leaves.
    async fn follow(&mut self, mut run: Run) -> Result<(Next, View), Failure> {
        let mut view = View::new(Instant::now());
        let mut ticks = tokio::time::interval(FRAME);
        let mut is_stopped = false;
        let mut next = Next::GoOn;
        loop {
            let now = Instant::now;
            tokio::select! {
                biased;
                signal = self.signals.next() => {
                    run.stop();
                    let leaves = signal == Signal::Terminate || !self.is_typed();
                    self.is_ended |= leaves;
                    if leaves || is_stopped {
                        next = Next::Leave;
                    }
                    if is_stopped {
                        break;
                    }
                    is_stopped = true;
                    view.stopping(&mut self.screen, now())?;
                }
                event = run.next() => match event {
                    Some(event) => {
                        self.has_spoken |= matches!(event, Event::ResponseComplete { .. });
                        view.show(event, &mut self.screen, now())?;
                    }
                    None => break,
                },
                _ = ticks.tick() => view.tick(&mut self.screen, now())?,
            }
        }
        if is_stopped && !self.screen.abilities().json {
            self.screen.line("(stopped; what was said so far is kept)", Style::Yellow)?;
        }
        view.end(&mut self.screen)?;
        if let Some((message, code, retryable)) = view.problem() {
            let (message, code, retryable) = (message.clone(), *code, *retryable);
            self.complain(&message, code, retryable)?;
        }
        Ok((next, view))
    }

    /// Something was asked for that makes no sense.
    fn refuse(&mut self, why: &str) -> Result<(), Failure> {
        let (message, code) = (why.to_owned(), ErrorCode::Validation);
        self.fail(Event::Error { message, code, retryable: false })
    }

    /// Something failed before there was a run that could say so.
    fn fail(&mut self, event: Event) -> Result<(), Failure> {
        if self.screen.abilities().json {
            self.screen.json(&event)?;
        }
        match event {
            Event::Error { message, code, retryable } => self.complain(&message, code, retryable),
            _ => Ok(()),
        }
    }

    fn complain(&mut self, message: &str, code: ErrorCode, is_retryable: bool) -> Result<(), Failure> {
        self.failures += 1;
        if self.screen.abilities().json {
            return Ok(());
        }
        let advice = view::advice(code, is_retryable, self.key_advice().as_deref());
        if self.is_typed() {
            self.screen.line(&format!("✗ {message}"), Style::Red)?;
            return Ok(advice.map_or(Ok(()), |advice| self.screen.line(&format!("  {advice}"), Style::Dim))?);
        }
        let advice = advice.map_or(String::new(), |advice| format!(" {advice}"));
        Ok(self.screen.complain(&format!("line {}: {message}{advice}", self.line))?)
    }

    /// Which key is wanted where the service is that is spoken to now, and how to give it.
    fn key_advice(&self) -> Option<String> {
        let (provider, _) = self.current().ok()?;
        let origin = setup::origin(self.ready.agent.store(), &provider).ok()??;
        Some(format!("for {origin}: set {}", self.ready.keys.variables(&origin)))
    }

    /// Says so where the file has the service of a vendor at another place than the vendor's.
    fn warn_if_moved(&mut self) -> Result<(), Failure> {
        let (provider, _) = self.current()?;
        let origin = setup::origin(self.ready.agent.store(), &provider)?;
        match origin.and_then(|origin| moved(&provider, &origin)) {
            Some(text) => Ok(self.warn(&text)?),
            None => Ok(()),
        }
    }

    /// What is typed now is not shown; it stays in line for the next prompt.
    fn hush(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.hush();
        }
    }

    fn is_typed(&self) -> bool {
        self.terminal.is_some()
    }

    fn result(&self) -> Result<(), Failure> {
        match (self.is_typed(), self.is_ended, self.failures) {
            (true, ..) | (false, false, 0) => Ok(()),
            (false, true, _) => Err(Failure::Failed("stopped before the end of the input".to_owned())),
            (false, false, 1) => Err(Failure::Failed("one line failed".to_owned())),
            (false, false, n) => Err(Failure::Failed(format!("{n} lines failed"))),
        }
    }

    // ---- beginning and end ----

    /// The window of the model, if anybody knows; `None` if the user does not want to wait for that.
    async fn window(&mut self) -> Result<Option<Option<u64>>, Failure> {
        let (agent, session) = (self.ready.agent.clone(), self.ready.session.clone());
        let looking = waiting(
            &mut self.screen,
            "Asking the service for its models...",
            setup::window(&agent, &session),
        );
        let window = tokio::select! {
            biased;
            _ = self.signals.next() => None,
            window = looking => Some(window??),
        };
        if window == Some(None) {
            self.warn("The window of this model is unknown: nothing is compacted until it says no. Set it with /window N.")?;
        }
        Ok(window)
    }

    /// Something the user should know, beside the output where that is piped.
    fn warn(&mut self, text: &str) -> io::Result<()> {
        match self.is_typed() {
            true => self.screen.line(text, Style::Yellow),
            false => self.screen.complain(text),
        }
    }

    async fn greet(&mut self) -> Result<Next, Failure> {
        self.warn_if_off()?;
        self.warn_if_moved()?;
        let Some(window) = self.window().await? else {
            self.is_ended = true;
            return Ok(Next::Leave);
        };
        if !self.is_typed() {
            return Ok(Next::GoOn);
        }
        let opened = sessions_and_rows(&self.ready)?;
        let size =
            window.map_or(text::UNKNOWN_WINDOW.to_owned(), |window| format!("window {}", grouped(window)));
        let model = one_line(&opened.model, SHOWN_CHARS);
        self.screen.line(&format!("OneClaw · {model} · {size}"), Style::Bold)?;
        self.screen.line("/help lists the commands; Ctrl-C stops a reply, Ctrl-D leaves.", Style::Dim)?;
        if self.ready.is_new && self.ready.demo.is_some() {
            let hint = "The demo model recalls facts, calls tools and condenses conversations. Try: remember: the door code = 4711";
            self.screen.line(hint, Style::Dim)?;
        }
        if !self.ready.is_new {
            let title = one_line(&opened.title, SHOWN_CHARS);
            let count = text::counted(opened.count, "message", "messages");
            self.screen.line(&format!("— {title} ({count}) —"), Style::Dim)?;
        }
        for (is_user, row) in opened.rows {
            match is_user {
                true => self.screen.line(&format!("› {row}"), Style::Bold)?,
                false => self.screen.line(&row, Style::Plain)?,
            }
        }
        Ok(Next::GoOn)
    }

    /// Takes up a compaction of this session that did not end.
    async fn resume(&mut self) -> Result<Next, Failure> {
        let queued = self.ready.agent.queued().await.map_err(setup::failed)?;
        if queued.iter().all(|entry| entry.session_id != self.ready.session) {
            return Ok(Next::GoOn);
        }
        self.before_run()?;
        let run = self.ready.agent.resume(&self.ready.session).await;
        self.answer(run).await
    }

    async fn close(&mut self) -> Result<(), Failure> {
        let (agent, session) = (self.ready.agent.clone(), self.ready.session.clone());
        let store = agent.store().clone();
        let is_untitled = || store.read(|c| sessions::get(c, &session)).is_ok_and(|s| s.title == UNTITLED);
        if self.has_spoken && !self.is_ended {
            let until = Instant::now() + TITLE;
            while is_untitled() && Instant::now() < until {
                tokio::time::sleep(FRAME / 10).await;
            }
        }
        // What does not end in time is in the file as far as it got.
        let _ = tokio::time::timeout(CLOSING, agent.close()).await;
        if self.ready.is_new {
            let begun = store.read(|c| sessions::get(c, &session))?;
            if begun.message_count == 0 && begun.title == UNTITLED {
                return Ok(store.purge(&session)?);
            }
        }
        if self.is_typed() {
            let file = self.named_file.as_ref().map_or(String::new(), |f| format!("--db {} ", shown(f)));
            self.screen.line(&format!("Go on with: oneclaw chat {file}--session {session}"), Style::Dim)?;
        }
        Ok(())
    }
}

/// Waits for something, and says so when it takes longer than a second.
async fn waiting<T>(screen: &mut Screen, label: &str, work: impl Future<Output = T>) -> io::Result<T> {
    let mut work = std::pin::pin!(work);
    let begun = Instant::now();
    let mut ticks = tokio::time::interval(FRAME);
    loop {
        tokio::select! {
            biased;
            done = &mut work => {
                screen.end_line()?;
                return Ok(done);
            }
            _ = ticks.tick() => {
                let waited = begun.elapsed().as_secs();
                if waited > 0 {
                    screen.passing(&format!("{label} {waited} s"))?;
                }
            }
        }
    }
}

/// What is shown of the session when the chat begins.
struct Opened {
    title: String,
    model: String,
    count: u64,
    /// Whether the user wrote it, and what.
    rows: Vec<(bool, String)>,
}

fn sessions_and_rows(ready: &Ready) -> Result<Opened, Failure> {
    let (session, rows) = ready.agent.store().read(|c| {
        let rows = messages::page(c, &ready.session, Place::END, SHOWN_ROWS * 4)?;
        Ok((sessions::get(c, &ready.session)?, rows))
    })?;
    let model = match session.model {
        Some((provider, model)) if provider == DEMO => format!("{model} (embedded, no network)"),
        Some((provider, model)) => format!("{} · {model}", provider.trim_start_matches("provider-")),
        None => String::new(),
    };
    let mut rows: Vec<(bool, String)> = rows
        .into_iter()
        .map(|listed| listed.stored)
        .filter(|Stored { row, .. }| {
            matches!(row.kind, RowType::User | RowType::AiResponse) && !row.content.trim().is_empty()
        })
        .map(|stored| {
            let text = one_line(&stored.row.content, SHOWN_CHARS);
            let cut = if stored.state == State::Partial { " (interrupted)" } else { "" };
            (stored.row.kind == RowType::User, format!("{text}{cut}"))
        })
        .collect();
    let rows = rows.split_off(rows.len().saturating_sub(SHOWN_ROWS));
    Ok(Opened { title: session.title, model, count: session.message_count, rows })
}
