//! A session as it is in the file, made ready for planning. Nothing here is kept between turns: a restart reads the same.

use crate::chat::Chat;
use crate::failure::Failure;
use crate::session::Job;
use oneclaw_context::estimate::{Anchor, EstimatorState, MeasuredRow, RowMeasure};
use oneclaw_context::prune::{Mark, Marks};
use oneclaw_context::{Attempt, Conversation, Epoch, Plan, groups};
use oneclaw_model::row::RowType;
use oneclaw_model::{Body, MessageId, Row, ToolStatus};
use oneclaw_store::epochs::{self, Standing};
use oneclaw_store::messages::{self, State, Stored};
use oneclaw_store::{Place, Transaction, engine};
use serde::{Deserialize, Serialize};

/// A session in memory.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub conversation: Conversation,
    pub state: EstimatorState,
    /// What was in force in the file when it was read.
    pub standing: Option<Standing>,
    /// The version of the session it was read at.
    pub version: u64,
}

/// The last size that was reported, as it is kept in the file: services count the same model in their own ways.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAnchor {
    /// The address of the service that reported it.
    service: String,
    #[serde(flatten)]
    anchor: Anchor,
}

/// The note that keeps an anchor.
pub(crate) fn anchor_note(anchor: Anchor, chat: &Chat) -> Option<String> {
    let service = chat.target.endpoint.base_url.clone();
    serde_json::to_string(&KeptAnchor { service, anchor }).ok()
}

/// What is read of a session.
struct Read {
    standing: Option<Standing>,
    carried: Option<Stored>,
    pins: Vec<Stored>,
    rows: Vec<Stored>,
    notes: engine::Notes,
}

impl Live {
    /// Reads the session. Messages in line are left out.
    pub async fn load(job: &Job, chat: &Chat) -> Result<Self, Failure> {
        let version = job.session.version();
        let id = job.session.id.clone();
        let read = job
            .core
            .blocking(move |store| {
                store.prepare(&id)?;
                let read = store.read(|connection| {
                    let standing = epochs::standing(connection, &id)?;
                    let boundary = standing.as_ref().map_or(Place::START, |s| s.boundary);
                    let mut rows = messages::since(connection, &id, boundary)?;
                    rows.retain(|stored| !stored.place.is_in_line());
                    let (carried, pins) = if standing.is_some() {
                        let mut pins = messages::pinned(connection, &id)?;
                        pins.retain(|stored| stored.place < boundary);
                        (messages::newest_user(connection, &id, boundary)?, pins)
                    } else {
                        (None, vec![])
                    };
                    Ok(Read { standing, carried, pins, rows, notes: engine::notes(connection, &id)? })
                })?;
                let unmeasured: Vec<&Row> =
                    read.rows.iter().filter(|s| kept_measure(s).is_none()).map(|s| &s.row).collect();
                if !unmeasured.is_empty() {
                    store.write(|t| unmeasured.iter().try_for_each(|row| keep_measure(t, row)))?;
                }
                Ok(read)
            })
            .await?;
        Ok(Self::of(read, chat, version))
    }

    fn of(read: Read, chat: &Chat, version: u64) -> Self {
        let marks = read.rows.iter().filter_map(|s| {
            let mark: Mark = serde_json::from_str(s.mark.as_deref()?).ok()?;
            Some((MessageId(s.row.id.clone()), mark))
        });
        let kept = read.notes.anchor.as_deref();
        let kept = kept.and_then(|text| serde_json::from_str::<KeptAnchor>(text).ok());
        let anchor = kept.filter(|kept| kept.service == chat.target.endpoint.base_url);
        let marks: Marks = marks.collect();
        let conversation = Conversation {
            model: Some(chat.target.model.clone()),
            provider: Some(chat.target.endpoint.kind),
            is_blind: chat.target.is_blind(),
            replay: chat.target.replay(),
            fixed: chat.fixed.clone(),
            epoch: read.standing.as_ref().map(|s| Epoch {
                summary: s.summary.clone(),
                tail_rows: s.tail_rows.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
                auto_continue: s.auto_continue.clone(),
            }),
            carried: read.carried.map(measured),
            pins: read.pins.into_iter().map(measured).collect(),
            rows: read.rows.into_iter().map(measured).collect(),
            marks,
            attempt: read
                .notes
                .attempt
                .as_deref()
                .and_then(|text| serde_json::from_str::<Attempt>(text).ok()),
        };
        let anchor = anchor.map(|kept| kept.anchor);
        let state = EstimatorState { calibration: chat.target.calibration(), anchor };
        Self { conversation, state, standing: read.standing, version }
    }

    /// Reads the session again if something else is in force now.
    pub async fn refresh(&mut self, job: &Job, chat: &Chat) -> Result<(), Failure> {
        if self.version != job.session.version() {
            *self = Self::load(job, chat).await?;
        }
        self.state.calibration = chat.target.calibration();
        self.conversation.is_blind = chat.target.is_blind();
        self.conversation.replay = chat.target.replay();
        Ok(())
    }

    /// How many pictures came with the newest message.
    pub fn newest_pictures(&self) -> u64 {
        let rows = &self.conversation.rows;
        let newest = groups::newest_user(rows).and_then(|index| rows.get(index));
        match newest.map(|row| &row.message.body) {
            Some(Body::User { attachments, .. }) => {
                attachments.iter().filter(|a| a.is_image()).count() as u64
            }
            _ => 0,
        }
    }

    /// Lets no reasoning so far go back to a model any more: its service refuses it, and would every time. Says whether there
    /// was any. What people read of it stays.
    pub async fn forget_reasoning(&mut self, job: &Job) -> Result<bool, Failure> {
        let mut rows = Vec::new();
        for row in &mut self.conversation.rows {
            let had_some = match &mut row.message.body {
                Body::Assistant { trace, .. } => trace.take().is_some(),
                Body::ToolCall { signature, .. } => signature.take().is_some(),
                _ => false,
            };
            if had_some {
                row.measure = RowMeasure::of(&row.message);
                rows.push(row.message.id.as_str().to_owned());
            }
        }
        if rows.is_empty() {
            return Ok(false);
        }
        job.core.write(move |t| rows.iter().try_for_each(|id| messages::forget_reasoning(t, id))).await?;
        Ok(true)
    }

    /// Adds a row that was saved.
    pub fn push(&mut self, row: Row) {
        self.conversation.rows.push(MeasuredRow::new(row.into_message()));
    }

    /// Keeps what a plan that sends says about later plans: marks and the last attempt that won nothing.
    pub async fn keep(&mut self, job: &Job, plan: &Plan) -> Result<(), Failure> {
        let mut changed = Vec::new();
        for (id, mark) in &plan.marks {
            if self.conversation.marks.get(id) != Some(mark) {
                changed.push((id.clone(), *mark));
            }
        }
        let attempt_changed = self.conversation.attempt != plan.attempt;
        if changed.is_empty() && !attempt_changed {
            return Ok(());
        }
        if !changed.is_empty() {
            let soft = changed.iter().filter(|(_, mark)| !mark.drops_attachments()).count();
            let hard = changed.len() - soft;
            log::info!("pruned {} tool results (soft {soft}, hard {hard})", changed.len());
        }
        self.conversation.marks.clone_from(&plan.marks);
        self.conversation.attempt = plan.attempt;
        let session = job.session.id.clone();
        let attempt = plan.attempt.as_ref().and_then(|a| serde_json::to_string(a).ok());
        job.core
            .write(move |t| {
                for (id, mark) in &changed {
                    messages::set_mark(t, id.as_str(), serde_json::to_string(mark).ok().as_deref())?;
                }
                engine::set_attempt(t, &session, attempt.as_deref())
            })
            .await
    }
}

/// Says of calls that a kill or a crash has cut short that they have ended. A call without a result is answered by a
/// note in requests.
pub(crate) async fn end_cut_calls(job: &Job) -> Result<(), Failure> {
    let id = job.session.id.clone();
    let now = job.core.now();
    job.core
        .blocking(move |store| {
            store.prepare(&id)?;
            let newest = store.read(|c| messages::page(c, &id, Place::END, NEWEST))?;
            let cut: Vec<Row> = newest
                .into_iter()
                .map(|listed| listed.stored.row)
                .filter(|row| row.kind == RowType::ToolCall)
                .filter(|row| matches!(row.tool_status, Some(ToolStatus::Pending | ToolStatus::Executing)))
                .map(|row| Row { tool_status: Some(ToolStatus::Error), ..row })
                .collect();
            if !cut.is_empty() {
                store
                    .write(|t| cut.iter().try_for_each(|row| messages::update(t, row, State::Whole, now)))?;
            }
            Ok(())
        })
        .await
}

/// No batch of calls is larger.
const NEWEST: usize = 200;

/// Keeps what a row costs beside it.
pub(crate) fn keep_measure(transaction: &Transaction<'_>, row: &Row) -> oneclaw_store::Result<()> {
    let measure = RowMeasure::of(&row.clone().into_message());
    match serde_json::to_string(&measure) {
        Ok(text) => messages::set_measure(transaction, row, &text),
        Err(_) => Ok(()),
    }
}

/// What was kept of a row's size, if this version can use it.
fn kept_measure(stored: &Stored) -> Option<RowMeasure> {
    serde_json::from_str::<RowMeasure>(stored.measure.as_deref()?).ok()?.kept()
}

/// A row ready for planning.
pub(crate) fn measured(stored: Stored) -> MeasuredRow {
    let kept = kept_measure(&stored);
    let message = stored.row.into_message();
    let measure = kept.unwrap_or_else(|| RowMeasure::of(&message));
    MeasuredRow { message, measure, pinned: stored.pinned_at.is_some() }
}
