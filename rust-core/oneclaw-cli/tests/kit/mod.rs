//! What the tests of the chat share: the program with lines piped in, the program in a pseudo-terminal, a model server
//! that does as it is told, and golden files.

#![allow(dead_code)] // Each suite uses a part.

use oneclaw_demo::{Config, Server};
use oneclaw_model::ProviderKind;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

/// A folder of this name, empty, that the test may write.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oneclaw"));
    command.current_dir(folder).env("XDG_DATA_HOME", folder);
    let keys = ["ONECLAW_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"];
    for name in keys.into_iter().chain(["NO_COLOR", "http_proxy", "https_proxy"]) {
        command.env_remove(name);
    }
    command
}

/// What the program did with its input.
#[derive(Debug)]
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The lines as JSON; a fault where one is not.
    pub fn values(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The names of the events and commands in order; pieces of text count as one.
    pub fn names(&self) -> Vec<String> {
        let name = |v: &Value| v["event"].as_str().or(v["command"].as_str()).unwrap().to_owned();
        let mut names: Vec<String> = self.values().iter().map(name).collect();
        names.dedup();
        names
    }
}

/// `oneclaw chat` with these lines piped in.
pub fn piped(folder: &Path, args: &[&str], lines: &[&str]) -> Output {
    piped_with(folder, args, &[], lines)
}

/// The same with variables in the environment.
pub fn piped_with(folder: &Path, args: &[&str], environment: &[(&str, &str)], lines: &[&str]) -> Output {
    oneclaw(folder, &[&["chat"], args].concat(), environment, lines)
}

/// The program with these lines piped in.
pub fn oneclaw(folder: &Path, args: &[&str], environment: &[(&str, &str)], lines: &[&str]) -> Output {
    let mut child = program(folder)
        .args(args)
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut stdin = child.stdin.take().unwrap();
    // A program that complains about its arguments does not read its input.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Output {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A model server in a thread of its own.
pub struct Service {
    pub url: String,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Service {
    pub fn start(config: Config, prepare: impl FnOnce(&Server) + Send + 'static) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::start(config).await.unwrap();
                prepare(&server);
                sender.send(server.base_url(ProviderKind::OpenAi)).unwrap();
                let _ = stopped.await;
                server.stop().await;
            });
        });
        Self { url: receiver.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    /// The arguments that lead to it.
    pub fn args<'a>(&'a self, window: &'a str) -> Vec<&'a str> {
        vec!["--provider", "openai", "--base-url", &self.url, "--model", "demo", "--window", window]
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        let _ = self.thread.take().unwrap().join();
    }
}

/// `oneclaw chat` in a pseudo-terminal, made by script(1).
pub struct Typed {
    child: Child,
    keys: ChildStdin,
    shown: Arc<Mutex<String>>,
    read: usize,
}

impl Typed {
    pub fn start(folder: &Path, args: &[&str], environment: &[(&str, &str)]) -> Self {
        let quoted: Vec<String> =
            args.iter().map(|arg| format!("'{}'", arg.replace('\'', "'\\''"))).collect();
        let line = format!(
            "stty cols {COLUMNS} rows 50; exec '{}' chat {}",
            env!("CARGO_BIN_EXE_oneclaw"),
            quoted.join(" ")
        );
        let program = program(folder);
        let mut command = Command::new("script");
        command
            .args(["-qec", &line, "/dev/null"])
            .current_dir(folder)
            .env("TERM", "xterm")
            .env("SHELL", "/bin/sh");
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(environment.iter().copied());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (keys, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let shown = Arc::new(Mutex::new(String::new()));
        let writing = shown.clone();
        std::thread::spawn(move || {
            let (mut bytes, mut held) = ([0; 4_096], Vec::new());
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                held.extend_from_slice(&bytes[..n]);
                let valid = match std::str::from_utf8(&held) {
                    Ok(text) => text.len(),
                    Err(error) => error.valid_up_to(),
                };
                let text: Vec<u8> = held.drain(..valid).collect();
                writing.lock().unwrap().push_str(std::str::from_utf8(&text).unwrap());
            }
        });
        Self { child, keys, shown, read: 0 }
    }

    /// Waits until this is shown, after what was waited for before.
    pub fn wait(&mut self, text: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.raw();
            if let Some(at) = shown[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            assert!(Instant::now() < until, "{text:?} is not shown in\n{}", &shown[self.read..]);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the prompt.
    pub fn prompt(&mut self) {
        self.wait("› ");
    }

    pub fn keys(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// A line, once there is a prompt.
    pub fn line(&mut self, line: &str) {
        self.prompt();
        self.keys(&format!("{line}\r"));
    }

    /// Waits for the end; the exit code and all that was shown.
    pub fn end(mut self) -> (i32, String) {
        let until = Instant::now() + Duration::from_secs(30);
        let code = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status.code().unwrap(),
                None if Instant::now() > until => {
                    let _ = self.child.kill();
                    panic!("does not end: {}", self.raw());
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        std::thread::sleep(Duration::from_millis(100));
        (code, self.raw())
    }

    pub fn raw(&self) -> String {
        self.shown.lock().unwrap().clone()
    }
}

const COLUMNS: usize = 120;

/// What stands on a terminal after all that was written to it.
pub fn screen(raw: &str) -> String {
    let (mut lines, mut row, mut column) = (vec![Vec::<char>::new()], 0_usize, 0_usize);
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\u{8}' => column = column.saturating_sub(1),
            '\u{7}' => {}
            '\n' => row += 1,
            '\u{1b}' => {
                assert_eq!(rest.next(), Some('['), "only control sequences");
                let mut number = String::new();
                let kind = loop {
                    match rest.next().unwrap() {
                        c @ ('0'..='9' | ';' | '?') => number.push(c),
                        c => break c,
                    }
                };
                let n = number.parse::<usize>().unwrap_or(1);
                match kind {
                    'A' => row = row.saturating_sub(n),
                    'B' => row += n,
                    'C' => column += n,
                    'D' => column = column.saturating_sub(n),
                    'K' => lines[row].truncate(column),
                    'J' => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    _ => {}
                }
            }
            c => {
                if column == COLUMNS {
                    (row, column) = (row + 1, 0);
                }
                while lines.len() <= row {
                    lines.push(vec![]);
                }
                let line = &mut lines[row];
                while line.len() <= column {
                    line.push(' ');
                }
                line[column] = c;
                column += 1;
            }
        }
        while lines.len() <= row {
            lines.push(vec![]);
        }
    }
    let text: Vec<String> =
        lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect();
    text.join("\n").trim_end().to_owned() + "\n"
}

/// Without what differs from run to run (times, names of sessions) and from one estimator to the next (sizes).
pub fn normal(text: &str, folder: &Path) -> String {
    let text = text.replace(&folder.display().to_string(), "FOLDER");
    let lines = text.lines().map(|line| {
        let mut words: Vec<String> = Vec::new();
        let counts = line.contains(" tokens");
        for word in line.split(' ') {
            let digits = |c: char| c.is_ascii_digit() || c == ',';
            let bare = word.trim_end_matches(')');
            let is_id = word.len() == 36 && word.split('-').count() == 5;
            words.push(match word {
                _ if is_id => "ID".to_owned(),
                _ if counts && !bare.is_empty() && bare.trim_start_matches('(').chars().all(digits) => {
                    word.replace(bare.trim_start_matches('('), "N")
                }
                _ if word.starts_with('▕') => "▕BAR▏".to_owned(),
                _ => word.to_owned(),
            });
        }
        if words.last().is_some_and(|last| last == "ms")
            && let Some(number) = words.iter_mut().rev().nth(1)
        {
            *number = "N".to_owned();
        }
        words.join(" ") + "\n"
    });
    lines.collect()
}

/// Compares a text with the file it was reviewed in, or writes it there with `UPDATE_GOLDEN=1`.
pub fn golden(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} differs.\n--- expected\n{expected}\n--- actual\n{actual}\n\
         If this is meant: UPDATE_GOLDEN=1 cargo test -p oneclaw-cli --test chat, then review the difference.",
        path.display()
    );
}
