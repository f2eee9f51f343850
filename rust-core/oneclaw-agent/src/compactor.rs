//! Carries out a compaction: asks for the summary, accepts or replaces it, and puts it in force in one commit.
//!
//! Whoever calls holds the session's right to compact, so there is one at a time. What is covered was decided when it was
//! planned; messages that come in meanwhile are added behind it and never become part of it.

use crate::chat::{Asked, Chat};
use crate::event::Event;
use crate::failure::Failure;
use crate::live::Live;
use crate::send::usage_event;
use crate::session::Job;
use crate::stop::Why;
use crate::target::{self, Target};
use crate::writer::{self, Unwritten};
use oneclaw_context::estimate::Estimate;
use oneclaw_context::plan::{Compaction, Strategy, Summaries, Work};
use oneclaw_context::{Decision, Moment, Plan, Reason};
use oneclaw_model::Body;
use oneclaw_store::epochs::{self, NewEpoch};
use oneclaw_store::queue::{self, Queued};
use oneclaw_store::{Fault, catalogue, engine, messages};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::atomic::Ordering;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};

/// So many summaries of a run are rejected before no more are asked for.
const MOST_REJECTED: u32 = 2;

/// What is to be made.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub moment: Moment,
    /// What the summary should look at in particular.
    pub focus: Option<String>,
    /// Why, where it was decided before a restart.
    pub reason: Option<Reason>,
    /// Tool rounds so far.
    pub round: u32,
}

impl Order {
    fn asked(&self, summaries: Summaries) -> Asked<'_> {
        Asked { focus: self.focus.as_deref(), summaries }
    }
}

/// Compacts the conversation as it is in `live`.
pub(crate) async fn compact(
    job: &Job,
    chat: &mut Chat,
    live: &Live,
    order: Order,
    held: OwnedMutexGuard<()>,
) -> Result<(), Failure> {
    let _at_work = job.at_work();
    let plan = chat.plan(live, order.moment, None, order.asked(summaries(job)));
    let compaction = match &plan.decision {
        Decision::Compact(compaction) => compaction,
        Decision::Irreducible { culprit, over, limit } => {
            return Err(Failure::Irreducible { culprit: *culprit, over: *over, limit: *limit });
        }
        Decision::Send(_) => return keep_attempt(job, &plan).await,
    };
    let mut pass = Pass { job, live, reason: order.reason.unwrap_or(compaction.reason), order: &order };
    let done = match &compaction.work {
        Work::Local(text) => {
            let (text, strategy) = (text.clone(), compaction.strategy);
            pass.commit(chat, &plan, &text, strategy, None).await
        }
        Work::Summarise(_) => pass.summarise(chat, &plan).await,
    };
    drop(held);
    match done {
        Ok(done) => {
            if done.did_compact {
                let strategy = done.strategy.map(word).unwrap_or_default();
                log::info!(
                    "context compacted: {strategy} {} -> {} tokens (round {})",
                    done.before,
                    done.after,
                    order.round
                );
            }
            job.emit(pass.completed(&done));
            if let Some(plan) = done.next {
                job.emit(usage_event(&plan));
            }
            done.failure.map_or(Ok(()), Err)
        }
        Err(failure) => {
            job.emit(pass.completed(&Done::nothing(plan.estimate)));
            Err(failure)
        }
    }
}

/// Whether a model is asked for a summary: not any more after several in this run that were of no use.
fn summaries(job: &Job) -> Summaries {
    match job.rejected.load(Ordering::SeqCst) {
        0..MOST_REJECTED => Summaries::Allowed,
        MOST_REJECTED.. => Summaries::Failed,
    }
}

/// One compaction on its way.
struct Pass<'a> {
    job: &'a Job,
    live: &'a Live,
    order: &'a Order,
    reason: Reason,
}

/// How it ended.
struct Done {
    did_compact: bool,
    before: u64,
    after: u64,
    strategy: Option<Strategy>,
    /// The next request, where it is another one now.
    next: Option<Plan>,
    /// What the caller hears after the event.
    failure: Option<Failure>,
}

impl Done {
    fn nothing(estimate: Estimate) -> Self {
        let size = estimate.expected;
        Self { did_compact: false, before: size, after: size, strategy: None, next: None, failure: None }
    }
}

impl Pass<'_> {
    fn completed(&self, done: &Done) -> Event {
        Event::CompactCompleted {
            did_compact: done.did_compact,
            fallback: done.strategy.is_some_and(Strategy::is_fallback),
            tokens_before: done.before,
            tokens_after: done.after,
            strategy: done.strategy,
            reason: self.reason,
            round: self.order.round,
        }
    }

    /// Lets models write a summary, one after another, until one succeeds; trims the history if none does.
    async fn summarise(&mut self, chat: &mut Chat, first: &Plan) -> Result<Done, Failure> {
        if !self.enqueue().await? {
            return Ok(self.left_to_another(first));
        }
        self.announce(first).await?;
        let mut why = String::from("the model is too small to be asked");
        let deadline = Instant::now() + self.job.core.patience.pass;
        for mut target in self.writers(chat).await? {
            // A refusal teaches the writer's window; the second time its requests are smaller.
            for _ in 0..=usize::from(chat.policy.summary_retries > 0) {
                let asked = self.order.asked(Summaries::Allowed);
                let plan = chat.plan(self.live, self.order.moment, Some(&target), asked);
                let Decision::Compact(compaction) = &plan.decision else { break };
                let Work::Summarise(work) = &compaction.work else { break };
                match self.written(chat, &target, work, deadline).await {
                    Ok(text) => {
                        let author = target.model.as_str().to_owned();
                        return self.commit(chat, &plan, &text, compaction.strategy, Some(author)).await;
                    }
                    Err(Unwritten::Stopped) => return self.given_up(first).await,
                    Err(Unwritten::TooLong { size, limit, requested }) => {
                        why = "the summary request was refused as too long".to_owned();
                        if !target.take_refusal(&self.job.session, size, limit, requested) {
                            break;
                        }
                        target::keep_lessons(&self.job.core, &mut target).await?;
                        if target.is_same_model(&chat.target) {
                            chat.target.learn_from(&target);
                        }
                    }
                    Err(Unwritten::Failed(reason)) => {
                        why = reason;
                        break;
                    }
                }
            }
            log::warn!("{} wrote no summary: {why}", target.model);
        }
        // The user may try again; any other, also one that a restart has cut short, is trimmed.
        if self.reason == Reason::Manual {
            self.dequeue().await?;
            return Ok(Done { failure: Some(Failure::NoSummary(why)), ..Done::nothing(first.estimate) });
        }
        self.trim(chat).await
    }

    async fn written(
        &self,
        chat: &Chat,
        target: &Target,
        work: &oneclaw_context::plan::Summarise,
        deadline: Instant,
    ) -> Result<String, Unwritten> {
        let writing = writer::write(self.job, target, work, chat.policy.summary_retries);
        match self.job.unless_stopped(timeout_at(deadline, writing)).await {
            Ok(Ok(written)) => written,
            Ok(Err(_)) => {
                let seconds = self.job.core.patience.pass.as_secs();
                Err(Unwritten::Failed(format!("no summary was ready after {seconds} s")))
            }
            Err(_) => Err(Unwritten::Stopped),
        }
    }

    /// The steps that need no model.
    async fn trim(&mut self, chat: &mut Chat) -> Result<Done, Failure> {
        let asked = self.order.asked(Summaries::Failed);
        let plan = chat.plan(self.live, self.order.moment, None, asked);
        match &plan.decision {
            Decision::Compact(compaction) => match &compaction.work {
                Work::Local(text) => {
                    let (text, strategy) = (text.clone(), compaction.strategy);
                    self.commit(chat, &plan, &text, strategy, None).await
                }
                Work::Summarise(_) => {
                    Err(Failure::Internal("a plan asks for a summary that failed".to_owned()))
                }
            },
            Decision::Send(_) => {
                keep_attempt(self.job, &plan).await?;
                self.dequeue().await?;
                Ok(Done::nothing(plan.estimate))
            }
            Decision::Irreducible { culprit, over, limit } => {
                self.dequeue().await?;
                let failure = Failure::Irreducible { culprit: *culprit, over: *over, limit: *limit };
                Ok(Done { failure: Some(failure), ..Done::nothing(plan.estimate) })
            }
        }
    }

    /// The user stopped it: all is as it was. When the agent closes it is taken up again later.
    async fn given_up(&self, plan: &Plan) -> Result<Done, Failure> {
        if self.job.stop.given() == Some(Why::User) {
            self.dequeue().await?;
        }
        Ok(Done { failure: Some(Failure::Stopped), ..Done::nothing(plan.estimate) })
    }

    /// Puts a text in force in place of the rows covered.
    async fn commit(
        &self,
        chat: &Chat,
        plan: &Plan,
        text: &str,
        strategy: Strategy,
        author: Option<String>,
    ) -> Result<Done, Failure> {
        let Decision::Compact(compaction) = &plan.decision else {
            return Ok(Done::nothing(plan.estimate));
        };
        let mut after = self.live.clone();
        after.conversation = plan.carry_out(after.conversation, text);
        let next = chat.look(&after, Moment::BeforeSend);
        let tokens = (plan.estimate.expected, next.request_estimate.expected);
        let new = NewEpoch {
            last: self.last_covered(compaction).await?,
            summary: text.to_owned(),
            strategy: word(strategy),
            reason: word(self.reason),
            tokens,
            model: author,
            tail_rows: after.conversation.rows.len() as u64,
            auto_continue: compaction.auto_continue.clone(),
            attempt: plan.attempt.as_ref().and_then(|a| serde_json::to_string(a).ok()),
        };
        let marks = plan.marks.clone();
        let kept: Vec<_> = after.conversation.rows.iter().map(|row| row.message.id.clone()).collect();
        let (session, now) = (self.job.session.id.clone(), self.job.core.now());
        let standing = self.live.standing.clone();
        let is_made = self
            .job
            .core
            .write(move |t| {
                if epochs::is_void(t, &session, standing.as_ref(), &new.last)? {
                    queue::remove(t, &session)?;
                    return Ok(false);
                }
                for id in kept {
                    if let Some(mark) = marks.get(&id) {
                        messages::set_mark(t, id.as_str(), serde_json::to_string(mark).ok().as_deref())?;
                    }
                }
                epochs::commit(t, &session, &new, now)?;
                // Replies that came in meanwhile were asked for with what is covered now.
                epochs::set_tail_rows(t, &session)?;
                Ok(true)
            })
            .await?;
        if !is_made {
            return Ok(self.left_to_another(plan));
        }
        self.job.session.changed();
        Ok(Done {
            did_compact: true,
            before: tokens.0,
            after: tokens.1,
            strategy: Some(strategy),
            next: Some(next),
            failure: None,
        })
    }

    /// Another process has compacted meanwhile: what there is to do is seen when the conversation was read again.
    fn left_to_another(&self, plan: &Plan) -> Done {
        log::info!("the conversation was compacted by another process");
        self.job.session.changed();
        Done::nothing(plan.estimate)
    }

    /// The last row the compaction covers; the last one before the conversation where it only shortens the summary.
    async fn last_covered(&self, compaction: &Compaction) -> Result<String, Failure> {
        let rows = &self.live.conversation.rows;
        if let Some(row) = compaction.covers.checked_sub(1).and_then(|last| rows.get(last)) {
            return Ok(row.message.id.as_str().to_owned());
        }
        let (session, first) = (self.job.session.id.clone(), rows.first().map(|row| row.message.id.clone()));
        self.job
            .core
            .read(move |c| {
                let before = match first {
                    Some(first) => messages::place_of(c, first.as_str())?,
                    None => oneclaw_store::Place::END,
                };
                let last = messages::page(c, &session, before, 1)?.pop();
                last.map(|listed| listed.stored.row.id)
                    .ok_or_else(|| Fault::Refused { why: "there is nothing to compact".to_owned() })
            })
            .await
    }

    /// Who may write the summary: the model named for it, the one the conversation was held with so far if it is larger,
    /// the model of the chat.
    async fn writers(&self, chat: &Chat) -> Result<Vec<Target>, Failure> {
        let mut writers = Vec::new();
        if let Some(named) = &chat.policy.summary_model {
            match self.named(chat, named).await {
                Ok(target) => writers.push(target),
                Err(failure) => log::warn!("the summary model {named} cannot be asked: {failure}"),
            }
        } else if self.reason == Reason::ModelSwitch
            && let Some(target) = self.earlier(chat).await
        {
            writers.push(target);
        }
        if !writers.iter().any(|writer| writer.is_same_model(&chat.target)) {
            writers.push(chat.target.clone());
        }
        writers.iter_mut().for_each(|writer| writer.heed_refusals(&self.job.session));
        Ok(writers)
    }

    /// The model of that name: `provider/model`, or a model of the chat's provider or of any other.
    async fn named(&self, chat: &Chat, name: &str) -> Result<Target, Failure> {
        let (name, own) = (name.to_owned(), chat.target.provider_id.clone());
        let core = &self.job.core;
        let (provider, model) = core
            .read(move |c| {
                let providers = catalogue::providers(c)?;
                for provider in &providers {
                    let model = name.strip_prefix(&provider.id).and_then(|rest| rest.strip_prefix('/'));
                    if let Some(model) = model {
                        return Ok((provider.id.clone(), model.to_owned()));
                    }
                }
                let mut having = Vec::new();
                for provider in &providers {
                    if catalogue::models(c, &provider.id)?.iter().any(|m| m.id == name) {
                        having.push(provider.id.clone());
                    }
                }
                let provider = having.iter().find(|id| **id == own).or(having.first()).unwrap_or(&own);
                Ok((provider.clone(), name.clone()))
            })
            .await?;
        target::of_model(core, &provider, &model).await
    }

    /// The model that wrote the last reply, if it is still configured and holds more than the new one.
    async fn earlier(&self, chat: &Chat) -> Option<Target> {
        let last = self.live.conversation.rows.iter().rev().find_map(|row| match &row.message.body {
            Body::Assistant { model: Some(_), .. } => Some(row.message.id.as_str().to_owned()),
            _ => None,
        })?;
        let core = &self.job.core;
        let (provider, model) = core
            .read(move |c| {
                let row = messages::get(c, &last)?.row;
                let (provider, model) =
                    (row.provider_id.unwrap_or_default(), row.model_id.unwrap_or_default());
                if !catalogue::provider(c, &provider)?.is_active {
                    return Err(Fault::Refused { why: "its provider is switched off".to_owned() });
                }
                catalogue::model(c, &provider, &model)?;
                Ok((provider, model))
            })
            .await
            .ok()?;
        let target = target::of_model(core, &provider, &model).await.ok()?;
        let is_usable = target.endpoint.key.is_some() || provider == chat.target.provider_id;
        let holds_more = target.limits().window > chat.target.limits().window;
        (is_usable && holds_more).then_some(target)
    }

    /// Says that a summary call begins.
    async fn announce(&self, plan: &Plan) -> Result<(), Failure> {
        let Decision::Compact(compaction) = &plan.decision else { return Ok(()) };
        let session = self.job.session.id.clone();
        let number = self.job.core.read(move |c| epochs::next_number(c, &session)).await?;
        self.job.emit(Event::CompactStarted {
            session_id: self.job.session.id.clone(),
            reason: self.reason,
            messages: compaction.covers as u64,
            number,
            round: self.order.round,
        });
        Ok(())
    }

    /// Keeps that this is to be made, unless something else is in force than what it was planned on.
    async fn enqueue(&self) -> Result<bool, Failure> {
        let entry = Queued {
            session_id: self.job.session.id.clone(),
            reason: word(self.reason),
            focus: self.order.focus.clone(),
            queued_at: self.job.core.now(),
        };
        let standing = self.live.standing.clone();
        self.job
            .core
            .write(move |t| {
                let is_wanted = epochs::is_in_force(t, &entry.session_id, standing.as_ref())?;
                if is_wanted {
                    queue::put(t, &entry)?;
                }
                Ok(is_wanted)
            })
            .await
    }

    async fn dequeue(&self) -> Result<(), Failure> {
        let session = self.job.session.id.clone();
        self.job.core.write(move |t| queue::remove(t, &session)).await
    }
}

/// A compaction that the user asked for, or that a restart has interrupted.
pub(crate) async fn by_hand(job: &Job, focus: Option<String>, reason: Option<Reason>) -> Result<(), Failure> {
    let (turn, held) = job.turn_and_compaction().await?;
    let mut chat = Chat::open_to_ask(job).await?;
    job.allow(chat.target.limits().window);
    let live = Live::load(job, &chat).await?;
    let order = Order { moment: Moment::Manual, focus, reason, round: 0 };
    let plan = chat.plan(&live, Moment::Manual, None, order.asked(Summaries::Allowed));
    match plan.decision {
        Decision::Compact(_) => {
            drop(turn);
            compact(job, &mut chat, &live, order, held).await
        }
        Decision::Irreducible { culprit, over, limit } => Err(Failure::Irreducible { culprit, over, limit }),
        Decision::Send(_) => {
            let pass = Pass { job, live: &live, order: &order, reason: reason.unwrap_or(Reason::Manual) };
            pass.dequeue().await?;
            job.emit(pass.completed(&Done::nothing(plan.estimate)));
            Ok(())
        }
    }
}

async fn keep_attempt(job: &Job, plan: &Plan) -> Result<(), Failure> {
    let session = job.session.id.clone();
    let attempt = plan.attempt.as_ref().and_then(|a| serde_json::to_string(a).ok());
    job.core.write(move |t| engine::set_attempt(t, &session, attempt.as_deref())).await?;
    job.session.changed();
    Ok(())
}

/// A strategy or reason as it is written in files and logs.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A reason as it was written.
pub(crate) fn parsed<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}
