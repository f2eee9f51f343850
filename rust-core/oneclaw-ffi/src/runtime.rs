//! The threads the core works on, and where its log lines go. One of each per process.

use crate::CoreError;
use once_cell::sync::{Lazy, OnceCell};
use tokio::runtime::{Builder, Runtime};

/// Two threads are enough: the work is waiting.
const WORKERS: usize = 2;

static RUNTIME: Lazy<Option<Runtime>> = Lazy::new(|| {
    Builder::new_multi_thread().worker_threads(WORKERS).thread_name("oneclaw").enable_all().build().ok()
});
static LOGGER: OnceCell<()> = OnceCell::new();

/// The runtime.
pub(crate) fn runtime() -> Result<&'static Runtime, CoreError> {
    RUNTIME.as_ref().ok_or_else(|| CoreError::Internal { detail: "no threads could be started".to_owned() })
}

/// Does something on the core's own threads. A caller that gives up leaves it to end by itself.
pub(crate) async fn on_runtime<T: Send + 'static>(
    work: impl Future<Output = Result<T, CoreError>> + Send + 'static,
) -> Result<T, CoreError> {
    match runtime()?.spawn(work).await {
        Ok(done) => done,
        // A panic's text may hold anything; it is in the log of the panic hook.
        Err(_) => Err(CoreError::Internal { detail: "the core failed".to_owned() }),
    }
}

/// Sends log lines to Android's log from information on; elsewhere to standard error, warnings and worse or from the level
/// that `ONECLAW_LOG` names.
pub(crate) fn start_logging() {
    LOGGER.get_or_init(|| {
        #[cfg(target_os = "android")]
        android_logger::init_once(
            android_logger::Config::default().with_tag("OneClaw").with_max_level(log::LevelFilter::Info),
        );
        #[cfg(not(target_os = "android"))]
        stderr::start();
    });
}

#[cfg(not(target_os = "android"))]
mod stderr {
    use std::io::Write;

    struct Stderr;

    impl log::Log for Stderr {
        fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
            metadata.target().starts_with("oneclaw")
        }

        fn log(&self, record: &log::Record<'_>) {
            if self.enabled(record.metadata()) {
                // Nobody can be told if this fails.
                let _ =
                    writeln!(std::io::stderr(), "{} {}: {}", record.level(), record.target(), record.args());
            }
        }

        fn flush(&self) {}
    }

    /// Another library of the process may have set a logger already.
    pub(super) fn start() {
        let level = std::env::var("ONECLAW_LOG").ok().and_then(|level| level.parse().ok());
        if log::set_logger(&Stderr).is_ok() {
            log::set_max_level(level.unwrap_or(log::LevelFilter::Warn));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{on_runtime, runtime};
    use crate::CoreError;

    #[test]
    fn a_panic_becomes_an_error_without_its_words() {
        let failed: Result<(), _> = runtime().unwrap().block_on(on_runtime(async { panic!("sk-secret") }));
        assert_eq!(failed, Err(CoreError::Internal { detail: "the core failed".to_owned() }));
    }
}
