//! A panic below the border, as whoever called sees it: a typed error, or an error and the end of the run; the core goes on.

use crate::{ChatEvent, ChatListener, CoreError, ErrorCode, KeyVault, ModelRef, OneClaw, OpenConfig, Shelf};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

struct PanickingVault;

impl KeyVault for PanickingVault {
    fn key(&self, _provider_id: String, _origin: String) -> Result<Option<String>, CoreError> {
        panic!("on purpose")
    }
}

struct Heard(mpsc::Sender<ChatEvent>);

impl ChatListener for Heard {
    fn on_event(&self, event: ChatEvent) -> Result<(), CoreError> {
        let _ = self.0.send(event);
        Ok(())
    }
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder() -> Folder {
    let path = std::env::temp_dir().join(format!("oneclaw-panics-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    Folder(path)
}

/// As the bindings do it: the future is polled from a thread that is not the runtime's.
fn wait<T>(future: impl Future<Output = T>) -> T {
    crate::runtime::runtime().unwrap().block_on(future)
}

#[test]
fn a_panic_ends_the_call_or_the_run_and_nothing_else() {
    let folder = folder();
    let config = OpenConfig {
        database_path: folder.0.join("oneclaw.db").display().to_string(),
        files_folder: folder.0.join("files").display().to_string(),
        demo: false,
    };
    let core = wait(OneClaw::open(config, Arc::new(PanickingVault), None)).unwrap();
    let listed = wait(core.list_models("provider-openai".to_owned()));
    assert!(matches!(listed, Err(CoreError::Internal { .. })), "{listed:?}");

    let model = ModelRef { provider_id: "provider-openai".to_owned(), model_id: "gpt-4o".to_owned() };
    let session = wait(core.create_session(None, Some(model))).unwrap().id;
    let (sender, events) = mpsc::channel();
    let run = wait(core.send(session.clone(), "Hello".to_owned(), vec![], Arc::new(Heard(sender)))).unwrap();
    let mut heard = vec![];
    while heard.last() != Some(&ChatEvent::Finished) {
        heard.push(events.recv_timeout(Duration::from_secs(20)).unwrap());
    }
    let errors = heard.iter().filter(|e| matches!(e, ChatEvent::Error { code: ErrorCode::Unknown, .. }));
    assert_eq!(errors.count(), 1, "{heard:?}");
    drop(run);

    let page = wait(core.messages(session, None, 10)).unwrap();
    assert_eq!(page.messages.len(), 2, "the message and the error");
    assert_eq!(wait(core.sessions(String::new(), Shelf::Open, None, 10)).unwrap().sessions.len(), 1);
    wait(core.shut_down()).unwrap();
}
