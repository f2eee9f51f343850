//! The context of a session as the user sees and changes it: how full it is, its compactions, its pins.

use crate::agent::Agent;
use crate::chat::Chat;
use crate::failure::Failure;
use crate::live::{Live, measured};
use crate::session::Job;
use oneclaw_context::assemble::Parts;
use oneclaw_context::estimate::Estimate;
use oneclaw_context::{Moment, Plan, pins};
use oneclaw_model::row::RowType;
use oneclaw_store::{Place, Transaction, epochs, messages};

/// How a session's context stands.
#[derive(Debug, Clone)]
pub struct Status {
    /// The size of the next request.
    pub estimate: Estimate,
    /// The window, if known.
    pub window: Option<u64>,
    /// The largest request that may be sent.
    pub hard_limit: Option<u64>,
    /// The largest size that does not fire.
    pub trigger: Option<u64>,
    /// Where its tokens go.
    pub parts: Parts<u64>,
    /// What stands for the rows before the boundary.
    pub summary: Option<String>,
    /// All compactions, the oldest first; those undone too.
    pub epochs: Vec<epochs::Epoch>,
    /// The pinned messages.
    pub pins: Vec<messages::Listed>,
    /// Where the rows begin that are sent as they are.
    pub boundary: Place,
    /// The provider and model asked next.
    pub model: (String, String),
}

impl Agent {
    /// How its context stands.
    pub async fn status(&self, session: &str) -> Result<Status, Failure> {
        let (job, _) = self.job(session)?;
        let (chat, _, plan) = self.look(&job).await?;
        let id = session.to_owned();
        let (standing, epochs, pins) = self
            .0
            .read(move |c| Ok((epochs::standing(c, &id)?, epochs::list(c, &id)?, messages::pins(c, &id)?)))
            .await?;
        Ok(Status {
            estimate: plan.request_estimate,
            window: plan.budget.and_then(|b| b.window),
            hard_limit: plan.budget.map(|b| b.hard),
            trigger: plan.budget.map(|b| b.trigger),
            parts: plan.shares(),
            boundary: standing.as_ref().map_or(Place::START, |s| s.boundary),
            summary: standing.map(|s| s.summary),
            epochs,
            pins,
            model: (chat.target.provider_id, chat.target.model.0),
        })
    }

    /// The next request as things stand.
    pub async fn preview(&self, session: &str) -> Result<Plan, Failure> {
        let (job, _) = self.job(session)?;
        Ok(self.look(&job).await?.2)
    }

    /// Takes the newest compaction back; `None` if there is none.
    pub async fn undo(&self, session: &str) -> Result<Option<epochs::Epoch>, Failure> {
        self.change(session, epochs::undo).await
    }

    /// Takes all compactions back.
    pub async fn reset(&self, session: &str) -> Result<(), Failure> {
        self.change(session, epochs::reset).await
    }

    /// Pins a message: compactions carry it as it is. Refused where pins would take too much of the window.
    pub async fn pin(&self, session: &str, message: &str) -> Result<(), Failure> {
        let (job, _) = self.job(session)?;
        let (chat, _, plan) = self.look(&job).await?;
        let (owner, id) = (session.to_owned(), message.to_owned());
        let (candidate, pinned) = self
            .0
            .read(move |c| Ok((messages::get_in(c, &owner, &id)?, messages::pinned(c, &owner)?)))
            .await?;
        if candidate.pinned_at.is_some() {
            return Ok(());
        }
        if !matches!(candidate.row.kind, RowType::User | RowType::AiResponse | RowType::ToolResult) {
            return Err(Failure::Invalid("only messages, replies and tool results can be pinned".to_owned()));
        }
        if let Some(budget) = plan.budget {
            let pinned: Vec<_> = pinned.into_iter().map(measured).collect();
            pins::check(&pinned, &measured(candidate), &chat.policy, &budget, &chat.target.tariff())?;
        }
        self.set_pin(session, message, Some(self.0.now())).await
    }

    /// Takes a pin away.
    pub async fn unpin(&self, session: &str, message: &str) -> Result<(), Failure> {
        self.set_pin(session, message, None).await
    }

    async fn set_pin(&self, session: &str, message: &str, pinned_at: Option<i64>) -> Result<(), Failure> {
        let (owner, id) = (session.to_owned(), message.to_owned());
        self.write(move |t| {
            messages::get_in(t, &owner, &id)?;
            messages::set_pin(t, &id, pinned_at)
        })
        .await?;
        self.0.session(session).changed();
        Ok(())
    }

    async fn look(&self, job: &Job) -> Result<(Chat, Live, Plan), Failure> {
        let chat = Chat::open(job).await?;
        let live = Live::load(job, &chat).await?;
        let plan = chat.look(&live, Moment::BeforeSend);
        Ok((chat, live, plan))
    }

    /// Changes what is in force, when no turn and no compaction is at work.
    async fn change<T: Send + 'static>(
        &self,
        session: &str,
        change: impl FnOnce(&Transaction<'_>, &str, i64) -> oneclaw_store::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let (job, _) = self.job(session)?;
        let _both = job.turn_and_compaction().await?;
        let (id, now) = (session.to_owned(), self.0.now());
        let changed = self
            .0
            .blocking(move |store| {
                store.prepare(&id)?;
                Ok(store.write(|t| change(t, &id, now))?)
            })
            .await?;
        job.session.changed();
        Ok(changed)
    }
}
