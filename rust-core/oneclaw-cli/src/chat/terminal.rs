//! The terminal's own settings: no echo while a reply streams, so that what is typed meanwhile does not stand in it, and
//! everything as it was at the end. What is typed stays in line for the next prompt.

/// The terminal as it was found; dropping this brings it back.
#[derive(Debug)]
pub struct Terminal {
    #[cfg(unix)]
    found: Option<nix::sys::termios::Termios>,
}

#[cfg(unix)]
impl Terminal {
    /// The terminal behind standard input, if it is one.
    pub fn find() -> Self {
        Self { found: nix::sys::termios::tcgetattr(std::io::stdin()).ok() }
    }

    /// Keys are not shown until the terminal is brought back.
    pub fn hush(&self) {
        use nix::sys::termios::{LocalFlags, SetArg, tcsetattr};
        if let Some(mut quiet) = self.found.clone() {
            quiet.local_flags.remove(LocalFlags::ECHO);
            // Ctrl-C would throw away what the terminal has not shown yet.
            quiet.local_flags.insert(LocalFlags::NOFLSH);
            // Not having it is no harm.
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &quiet);
        }
    }

    /// Brings it back.
    pub fn restore(&self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(found) = &self.found {
            let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, found);
        }
    }
}

#[cfg(not(unix))]
impl Terminal {
    /// The terminal behind standard input.
    pub fn find() -> Self {
        Self {}
    }

    /// Does nothing here.
    pub fn hush(&self) {}

    /// Does nothing here.
    pub fn restore(&self) {}
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore();
    }
}
