//! The root object: opening and closing, runs, and the context of a session. Lists and settings are in `data.rs`.

use crate::CoreError;
use crate::convert::{enclosure_in, plan_out, status_out};
use crate::error::invalid;
use crate::host::{Hosted, Vault};
use crate::run::{RunHandle, listen};
use crate::runtime::{on_runtime, start_logging};
use crate::types::{Attachment, ChatListener, ContextStatus, KeyVault, OpenConfig, PlanPreview, ToolHost};
use oneclaw_agent::{Agent, Config, Failure, Offer, Run, System, tools};
use oneclaw_store::{Connection, Transaction};
use std::path::Path;
use std::sync::Arc;

/// The core: conversations with models, kept in a file. Open one per file; shut it down, then let go of it. Why it has this
/// shape: `docs/adr/0014-the-border-to-kotlin.md`.
#[derive(uniffi::Object)]
pub struct OneClaw {
    pub(crate) agent: Agent,
    #[cfg(feature = "demo")]
    demo: Option<crate::demo::DemoServer>,
}

#[uniffi::export]
impl OneClaw {
    /// Opens the file, or makes it, and brings it up to date. Fails without a change where the file is not the app's.
    #[uniffi::constructor]
    pub async fn open(
        config: OpenConfig,
        vault: Arc<dyn KeyVault>,
        tool_host: Option<Arc<dyn ToolHost>>,
    ) -> Result<Arc<Self>, CoreError> {
        start_logging();
        on_runtime(async move {
            let agent = open(&config, vault.clone(), tool_host).await?;
            agent.use_preferences().await?;
            #[cfg(feature = "demo")]
            let demo = match config.demo {
                true => unless_refused(crate::demo::DemoServer::start(&agent, vault).await)?,
                false => None,
            };
            #[cfg(not(feature = "demo"))]
            if config.demo {
                return Err(invalid("demo", "this build has no demo service"));
            }
            Ok(Arc::new(Self {
                agent,
                #[cfg(feature = "demo")]
                demo,
            }))
        })
        .await
    }

    /// Stops all runs and waits for them; later calls fail with `Closed`. The file is let go of with the object itself.
    pub async fn shut_down(&self) -> Result<(), CoreError> {
        #[cfg(feature = "demo")]
        let demo = self.demo.clone();
        let agent = self.agent.clone();
        on_runtime(async move {
            agent.close().await;
            #[cfg(feature = "demo")]
            if let Some(demo) = demo {
                demo.stop().await;
            }
            Ok(())
        })
        .await
    }

    // ---- runs ----

    /// Saves a message and answers it. When this returns, the message is in the file.
    pub async fn send(
        &self,
        session_id: String,
        text: String,
        attachments: Vec<Attachment>,
        listener: Arc<dyn ChatListener>,
    ) -> Result<Arc<RunHandle>, CoreError> {
        let attachments = attachments.into_iter().map(enclosure_in).collect();
        self.start(listener, |agent| async move { agent.send(&session_id, &text, attachments).await }).await
    }

    /// Answers the newest message once more; what was answered so far is kept aside. Also the way to try again after an
    /// error.
    pub async fn regenerate(
        &self,
        session_id: String,
        listener: Arc<dyn ChatListener>,
    ) -> Result<Arc<RunHandle>, CoreError> {
        self.start(listener, |agent| async move { agent.regenerate(&session_id).await }).await
    }

    /// Puts another text and other attachments in place of the newest message and answers it; what was there is kept
    /// aside. Of its attachments only those stay that are named, as they came with the message.
    pub async fn edit_and_resend(
        &self,
        session_id: String,
        message_id: String,
        text: String,
        attachments: Vec<Attachment>,
        listener: Arc<dyn ChatListener>,
    ) -> Result<Arc<RunHandle>, CoreError> {
        let attachments = attachments.into_iter().map(enclosure_in).collect();
        self.start(
            listener,
            |agent| async move { agent.edit(&session_id, &message_id, &text, attachments).await },
        )
        .await
    }

    /// Compacts a session now, with particular care for a topic if one is named.
    pub async fn compact(
        &self,
        session_id: String,
        focus: Option<String>,
        listener: Arc<dyn ChatListener>,
    ) -> Result<Arc<RunHandle>, CoreError> {
        self.start(listener, |agent| async move { agent.compact(&session_id, focus).await }).await
    }

    /// Takes up a compaction that a restart has cut short; finishes at once if there is none.
    pub async fn resume(
        &self,
        session_id: String,
        listener: Arc<dyn ChatListener>,
    ) -> Result<Arc<RunHandle>, CoreError> {
        self.start(listener, |agent| async move { agent.resume(&session_id).await }).await
    }

    /// Sessions whose compaction was begun and has not ended: a restart has cut it short, or it is at work now.
    pub async fn interrupted_compactions(&self) -> Result<Vec<String>, CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move {
            let queued = agent.queued().await?;
            Ok(queued.into_iter().map(|entry| entry.session_id).collect())
        })
        .await
    }

    /// Stops what is at work in a session. Messages in line stay there.
    pub fn stop(&self, session_id: String) {
        self.agent.stop(&session_id);
    }

    // ---- the context of a session ----

    /// How full the window is, what was compacted, what is pinned.
    pub async fn context_status(&self, session_id: String) -> Result<ContextStatus, CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(status_out(agent.status(&session_id).await?)) }).await
    }

    /// The next request as things stand, and its size.
    pub async fn preview_request(&self, session_id: String) -> Result<PlanPreview, CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(plan_out(&agent.preview(&session_id).await?)) }).await
    }

    /// Takes the newest compaction back; says whether there was one.
    pub async fn undo_compaction(&self, session_id: String) -> Result<bool, CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.undo(&session_id).await?.is_some()) }).await
    }

    /// Takes all compactions back.
    pub async fn reset_compactions(&self, session_id: String) -> Result<(), CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.reset(&session_id).await?) }).await
    }

    /// Pins a message: compactions carry it as it is. Refused where pins would take too much of the window.
    pub async fn pin(&self, session_id: String, message_id: String) -> Result<(), CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.pin(&session_id, &message_id).await?) }).await
    }

    /// Takes a pin away.
    pub async fn unpin(&self, session_id: String, message_id: String) -> Result<(), CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.unpin(&session_id, &message_id).await?) }).await
    }
}

impl OneClaw {
    async fn start<F>(
        &self,
        listener: Arc<dyn ChatListener>,
        begin: impl FnOnce(Agent) -> F + Send + 'static,
    ) -> Result<Arc<RunHandle>, CoreError>
    where
        F: Future<Output = Result<Run, Failure>> + Send,
    {
        let agent = self.agent.clone();
        on_runtime(async move { listen(begin(agent).await?, listener) }).await
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.read(query).await?) }).await
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, CoreError> {
        let agent = self.agent.clone();
        on_runtime(async move { Ok(agent.write(work).await?) }).await
    }
}

/// The conversations have to open where nothing may listen on this device too: without the demo then. A file that cannot be
/// read or written is still an error.
#[cfg(feature = "demo")]
fn unless_refused<T>(started: Result<T, CoreError>) -> Result<Option<T>, CoreError> {
    match started {
        Ok(server) => Ok(Some(server)),
        Err(CoreError::Internal { detail }) => {
            log::warn!("no demo service: {detail}");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

async fn open(
    config: &OpenConfig,
    vault: Arc<dyn KeyVault>,
    tool_host: Option<Arc<dyn ToolHost>>,
) -> Result<Agent, CoreError> {
    let mut registry = tools::built_in(Path::new(&config.files_folder)).map_err(Failure::from)?;
    let mut hosted = Vec::new();
    if let Some(host) = tool_host {
        for tool in host.tools()? {
            let parameters = serde_json::from_str(&tool.schema_json)
                .map_err(|error| invalid("schema_json", format!("{}: {error}", tool.name)))?;
            hosted.push(tool.name.clone());
            registry.insert(Arc::new(Hosted { host: host.clone(), tool, parameters }));
        }
    }
    let config = Config {
        tools: registry,
        offer: Offer::Also(hosted),
        ..Config::new(Path::new(&config.database_path).to_owned())
    };
    Ok(Agent::open(config, Arc::new(Vault(vault)), Arc::new(System)).await?)
}

#[cfg(all(test, feature = "demo"))]
mod tests {
    use super::*;

    #[test]
    fn a_demo_that_may_not_listen_is_left_out_and_a_file_that_fails_is_not() {
        assert_eq!(unless_refused(Ok(7)), Ok(Some(7)));
        let refused = CoreError::Internal { detail: "Cannot assign requested address".to_owned() };
        assert_eq!(unless_refused::<()>(Err(refused)), Ok(None));
        let broken = CoreError::Storage { detail: "disk I/O error".to_owned() };
        assert_eq!(unless_refused::<()>(Err(broken.clone())), Err(broken));
    }
}
