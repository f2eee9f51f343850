//! A message from the moment it is sent to the last thing that follows from it. Reads from top to bottom:
//! save → plan → (compact) → stream → save → tools → plan → … → complete → check → (compact).

use crate::ask::{self, Answer, Reply};
use crate::chat::{Asked, Chat};
use crate::compactor::{self, Order};
use crate::counting::Counting;
use crate::event::Event;
use crate::failure::Failure;
use crate::live::{self, Live};
use crate::session::{AtWork, InLine, Job};
use crate::{title, turn};
use oneclaw_context::policy::Pruning;
use oneclaw_context::{Decision, Moment, Plan, groups, prune};
use oneclaw_model::row::RowType;
use oneclaw_model::{Attachment, Row};
use oneclaw_providers::{ProviderError, Unsupported};
use oneclaw_store::messages::{self, State};
use std::sync::atomic::Ordering;
use tokio::sync::OwnedMutexGuard;

/// The most rounds of tools before a reply has to come.
pub const MOST_ROUNDS: u32 = 100;
/// How often a request is planned anew because a compaction, its own or another, came between.
const MOST_PLANS: usize = 6;
/// How often requests of a turn are sent in another form because the service does not take a part of them.
const MOST_ADAPTATIONS: usize = 4;
/// A request of this size is worth a warning where the window is unknown.
const LARGE_FOR_UNKNOWN: u64 = 32_000;

/// What a turn begins with.
#[derive(Debug)]
pub(crate) enum Start {
    /// A message that is saved.
    Message(InLine),
    /// The newest question once more, without what followed it.
    Regenerate,
    /// A message that is saved, in place of this one and all that followed it.
    Edit { message: InLine, replaces: String },
}

/// Saves what the user wrote; from here on it cannot be lost.
pub(crate) async fn save(job: &Job, text: String, attachments: Vec<Attachment>) -> Result<InLine, Failure> {
    let row =
        Row { content: text, attachments, ..Row::new(job.core.new_id(), RowType::User, job.core.now()) };
    let waits = job.session.wait_in_line(&row.id);
    let session = job.session.id.clone();
    job.core
        .write(move |t| {
            messages::append(t, &session, &row, State::Whole)?;
            messages::put_in_line(t, &session, &row.id)?;
            live::keep_measure(t, &row)
        })
        .await?;
    Ok(waits)
}

/// Answers a message. A failure is kept before the next turn begins.
pub(crate) async fn answer(job: &Job, start: Start) -> Result<(), Failure> {
    let mut turn = None;
    let begun = begin(job, &start, &mut turn).await;
    if let (Start::Edit { message, .. }, Err(_)) = (&start, &begun) {
        turn::set_aside(job, message).await;
    }
    drop(start);
    let answered = match begun {
        Ok(_at_work) => take_turn(job, &mut turn).await,
        Err(failure) => Err(failure),
    };
    if let Err(failure) = &answered
        && !matches!(failure, Failure::Stopped)
    {
        keep_error(job, failure).await;
    }
    drop(turn);
    answered
}

/// Waits for the turn and brings the session into the state that it begins with.
async fn begin(job: &Job, start: &Start, turn: &mut Option<OwnedMutexGuard<()>>) -> Result<AtWork, Failure> {
    *turn = Some(job.turn().await?);
    let at_work = job.at_work();
    turn::begin(job, start).await?;
    Ok(at_work)
}

/// All rounds of a turn. It ends when `turn` is dropped.
async fn take_turn(job: &Job, turn: &mut Option<OwnedMutexGuard<()>>) -> Result<(), Failure> {
    let mut turn_so_far = SoFar::new(job);
    let mut chat = Chat::open_to_ask(job).await?;
    job.allow(chat.target.limits().window);
    let mut live = Live::load(job, &chat).await?;
    let mut moment = Moment::BeforeSend;
    let mut round = 0;
    let reply = loop {
        let reply = reply(job, &mut chat, &mut live, moment, round, &mut turn_so_far).await?;
        if reply.calls.is_empty() && !reply.is_paused {
            break reply;
        }
        round += 1;
        if round > MOST_ROUNDS {
            turn::refuse_calls(job, &reply.calls).await?;
            return Err(Failure::TooManyRounds(MOST_ROUNDS));
        }
        if !reply.calls.is_empty() {
            job.emit(Event::ToolRoundStarting { round });
            turn::run_tools(job, &chat, &mut live, reply.calls, &reply.too_long).await?;
        }
        moment = Moment::AfterTools;
    };
    job.emit(Event::ResponseComplete { message_id: reply.message_id, usage: reply.usage });
    title::give(job, &chat.target);
    settle(job, &mut chat, live, turn, round).await
}

/// Keeps an error where the user sees it later.
async fn keep_error(job: &Job, failure: &Failure) {
    let row =
        Row { content: failure.to_string(), ..Row::new(job.core.new_id(), RowType::Error, job.core.now()) };
    let session = job.session.id.clone();
    let kept = job.core.write(move |t| messages::append(t, &session, &row, State::Whole).map(drop)).await;
    if let Err(fault) = kept {
        log::error!("an error could not be saved: {fault}");
    }
}

/// What has happened in a turn and may not happen too often.
#[derive(Debug)]
struct SoFar {
    /// How often a request was sent in another form because the service did not take a part of it.
    adaptations: usize,
    /// Whether the user was told about pictures.
    told_of_pictures: bool,
    /// What was counted.
    counting: Counting,
}

impl SoFar {
    fn new(job: &Job) -> Self {
        Self { adaptations: 0, told_of_pictures: false, counting: Counting::new(&job.core) }
    }
}

/// One reply: a request that may be sent, sent. Where the service says it is too long, what that teaches is learnt and
/// the request made smaller and sent once more. Where the service does not take a part of it, it is sent in another form.
async fn reply(
    job: &Job,
    chat: &mut Chat,
    live: &mut Live,
    moment: Moment,
    round: u32,
    so_far: &mut SoFar,
) -> Result<Reply, Failure> {
    let mut had_overflow = false;
    let mut now = moment;
    loop {
        let plan = ready(job, chat, live, now, round, &mut so_far.counting).await?;
        now = moment;
        warn(job, chat, live, &plan, so_far);
        let (is_news, error) = match ask::ask(job, chat, live, &plan).await? {
            Answer::Reply(reply) => return Ok(reply),
            Answer::TooLong { limit, requested } => {
                let is_news = chat.learn_from_refusal(job, &plan, limit, requested).await?;
                if had_overflow || !is_news {
                    return Err(ProviderError::ContextOverflow { limit, requested }.into());
                }
                (had_overflow, now) = (true, Moment::Overflow);
                continue;
            }
            Answer::NotTaken(error) => {
                let is_replay = matches!(error, ProviderError::Unsupported { what: Unsupported::Replay, .. });
                let is_news = match &error {
                    _ if is_replay => {
                        job.session.refuses_reasoning.store(true, Ordering::SeqCst);
                        live.forget_reasoning(job).await?
                    }
                    ProviderError::OutputCap { limit } => chat.learn_cap(job, &plan, *limit),
                    ProviderError::Unsupported { what, .. } => {
                        chat.adapt(job, chat.target.profile.learnt.after(what))
                    }
                    _ => false,
                };
                (is_news, error)
            }
        };
        live.conversation.fixed.clone_from(&chat.fixed);
        so_far.adaptations += 1;
        if !is_news || so_far.adaptations > MOST_ADAPTATIONS {
            return Err(error.into());
        }
    }
}

/// Tells the user what the request lacks, or what is not known of it.
fn warn(job: &Job, chat: &Chat, live: &Live, plan: &Plan, so_far: &mut SoFar) {
    let unseen = if chat.target.is_blind() { live.newest_pictures() } else { 0 };
    if unseen > 0 && !std::mem::replace(&mut so_far.told_of_pictures, true) {
        job.emit(Event::PicturesLeftOut { count: unseen });
    }
    let expected = plan.request_estimate.expected;
    if plan.budget.is_none()
        && expected > LARGE_FOR_UNKNOWN
        && !job.session.was_warned.swap(true, Ordering::SeqCst)
    {
        job.emit(Event::WindowUnknown { expected });
    }
}

/// Plans, has counted what a decision hangs on, and compacts, until there is a request that may be sent.
async fn ready(
    job: &Job,
    chat: &mut Chat,
    live: &mut Live,
    moment: Moment,
    round: u32,
    counting: &mut Counting,
) -> Result<Plan, Failure> {
    // After a refusal the service's word is known.
    let may_count = moment != Moment::Overflow;
    let mut moment = moment;
    for _ in 0..MOST_PLANS {
        live.refresh(job, chat).await?;
        let mut plan = chat.plan(live, moment, None, Asked::ORDINARY);
        // Nothing is given up for a request that may not be sent.
        job.meter.for_size(plan.request_estimate.expected).check()?;
        if may_count {
            plan = counting.settle(job, chat, live, moment, plan).await?;
        }
        match &plan.decision {
            Decision::Send(_) => return sendable(job, chat, live, plan).await,
            // What was learnt alone declines nothing: it is tested first.
            Decision::Irreducible { .. } if may_count && chat.target.test_window() => continue,
            Decision::Irreducible { culprit, over, limit } => {
                return Err(Failure::Irreducible { culprit: *culprit, over: *over, limit: *limit });
            }
            Decision::Compact(_) => {}
        }
        let Some(held) = job.session.try_compaction() else {
            // One is on its way: what fits goes out beside it, the rest waits for what it leaves.
            let now = chat.look(live, moment);
            if moment != Moment::Overflow && fits(&now) {
                return sendable(job, chat, live, now).await;
            }
            drop(job.compaction().await?);
            continue;
        };
        if live.version == job.session.version() {
            compactor::compact(job, chat, live, Order { moment, focus: None, reason: None, round }, held)
                .await?;
        }
        if moment == Moment::Overflow {
            moment = Moment::BeforeSend;
        }
    }
    let plan = chat.look(live, moment);
    if fits(&plan) {
        return sendable(job, chat, live, plan).await;
    }
    Err(Failure::Internal(format!("the request is still too large after {MOST_PLANS} plans")))
}

fn fits(plan: &Plan) -> bool {
    plan.budget.is_none_or(|budget| plan.request_estimate.upper <= budget.hard)
}

async fn sendable(job: &Job, chat: &Chat, live: &mut Live, plan: Plan) -> Result<Plan, Failure> {
    if chat.policy.prune && chat.policy.pruning == Pruning::ByAge {
        let conversation = &live.conversation;
        let marks = prune::by_age(conversation, &groups::groups(&conversation.rows), &chat.policy);
        let hard = marks.values().filter(|mark| mark.drops_attachments()).count();
        if !marks.is_empty() {
            log::info!("pruned {} tool results (soft {}, hard {hard})", marks.len(), marks.len() - hard);
        }
    }
    live.keep(job, &plan).await?;
    job.emit(usage_event(&plan));
    Ok(plan)
}

/// Looks at the conversation once the reply is whole. A compaction goes on while the next turn may begin.
async fn settle(
    job: &Job,
    chat: &mut Chat,
    mut live: Live,
    turn: &mut Option<OwnedMutexGuard<()>>,
    round: u32,
) -> Result<(), Failure> {
    live.refresh(job, chat).await?;
    let plan = chat.plan(&live, Moment::AfterResponse, None, Asked::ORDINARY);
    match plan.decision {
        Decision::Send(_) => sendable(job, chat, &mut live, plan).await.map(drop),
        // The next message will hear of it.
        Decision::Irreducible { .. } => Ok(()),
        // The next message will see to it.
        Decision::Compact(_) if job.meter.check().is_err() => Ok(()),
        Decision::Compact(_) => {
            let Some(held) = job.session.try_compaction() else { return Ok(()) };
            turn.take();
            let order = Order { moment: Moment::AfterResponse, focus: None, reason: None, round };
            match compactor::compact(job, chat, &live, order, held).await {
                Err(Failure::Irreducible { .. }) => Ok(()),
                done => done,
            }
        }
    }
}

/// How full the window is with that request.
pub(crate) fn usage_event(plan: &Plan) -> Event {
    Event::ContextUsage {
        expected: plan.request_estimate.expected,
        upper: plan.request_estimate.upper,
        window: plan.budget.and_then(|b| b.window),
        trigger: plan.budget.map(|b| b.trigger),
        parts: plan.shares(),
    }
}
