//! Ctrl-C and the like, in the order they come.

use std::io;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// What the user, or the system, wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The terminal is gone, or the program is to end.
    Terminate,
}

/// The signals.
#[derive(Debug)]
pub struct Signals(UnboundedReceiver<Signal>);

impl Signals {
    /// Listens from now on; until then they end the program.
    pub fn listen() -> io::Result<Self> {
        let (sender, receiver) = unbounded_channel();
        for (mut source, signal) in sources()? {
            let sender = sender.clone();
            tokio::spawn(
                async move { while source.recv().await.is_some() && sender.send(signal).is_ok() {} },
            );
        }
        Ok(Self(receiver))
    }

    /// The next one.
    pub async fn next(&mut self) -> Signal {
        match self.0.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }

    /// Forgets interrupts that came too late for what they were meant for; says whether the program is to end.
    pub fn forget(&mut self) -> bool {
        let mut ends = false;
        while let Ok(signal) = self.0.try_recv() {
            ends |= signal == Signal::Terminate;
        }
        ends
    }
}

#[cfg(unix)]
fn sources() -> io::Result<Vec<(tokio::signal::unix::Signal, Signal)>> {
    use tokio::signal::unix::{SignalKind, signal};
    Ok(vec![
        (signal(SignalKind::interrupt())?, Signal::Interrupt),
        (signal(SignalKind::terminate())?, Signal::Terminate),
        (signal(SignalKind::hangup())?, Signal::Terminate),
    ])
}

#[cfg(windows)]
fn sources() -> io::Result<Vec<(tokio::signal::windows::CtrlC, Signal)>> {
    Ok(vec![(tokio::signal::windows::ctrl_c()?, Signal::Interrupt)])
}
