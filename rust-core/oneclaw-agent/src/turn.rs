//! The rows of a turn: how it begins, and its tools.

use crate::chat::Chat;
use crate::event::Event;
use crate::failure::Failure;
use crate::live::{self, Live};
use crate::send::Start;
use crate::session::Job;
use crate::tools::run::{Called, Outcome, run};
use oneclaw_model::row::RowType;
use oneclaw_model::{Row, ToolStatus};
use oneclaw_store::messages::{self, State};
use oneclaw_store::{Fault, Place, Transaction, epochs};
use std::collections::HashSet;
use std::time::Duration;
use tokio::task::JoinSet;

/// What a call is answered with that was stopped.
const STOPPED: &str = "The user stopped this call before it ended.";
/// What a call is answered with that was not run.
const NOT_RUN: &str = "Not run: too many rounds of tool calls.";

/// Brings the session into the state the turn begins with.
pub(crate) async fn begin(job: &Job, start: &Start) -> Result<(), Failure> {
    live::end_cut_calls(job).await?;
    let (session, now) = (job.session.id.clone(), job.core.now());
    match start.clone() {
        Start::Message(message) => {
            job.core.write(move |t| messages::move_to_end(t, &session, &message).map(drop)).await
        }
        Start::Regenerate => {
            let _held = job.compaction().await?;
            let waiting = job.session.waiting();
            job.core
                .write(move |t| {
                    let question = newest_question(t, &session, &waiting)?;
                    take_out_from(t, &session, question.next(), &waiting, now)
                })
                .await?;
            job.session.changed();
            Ok(())
        }
        Start::Edit { message, replaces } => {
            let _held = job.compaction().await?;
            let mut spared = job.session.waiting();
            spared.insert(message.clone());
            job.core
                .write(move |t| {
                    let replaced = messages::place_of(t, &replaces)?;
                    if newest_question(t, &session, &spared)? != replaced {
                        let why = "only the newest message can be edited".to_owned();
                        return Err(Fault::Refused { why });
                    }
                    take_out_from(t, &session, replaced, &spared, now)?;
                    messages::move_to_end(t, &session, &message).map(drop)
                })
                .await?;
            job.session.changed();
            Ok(())
        }
    }
}

/// The newest message of the user, those in line aside.
fn newest_question(
    transaction: &Transaction<'_>,
    session: &str,
    spared: &HashSet<String>,
) -> oneclaw_store::Result<Place> {
    let mut before = Place::END;
    while let Some(found) = messages::newest_user(transaction, session, before)? {
        if !spared.contains(&found.row.id) {
            return Ok(found.place);
        }
        before = found.place;
    }
    Err(Fault::Refused { why: "there is no message to answer".to_owned() })
}

/// Takes out the rows from a place on. A compaction that covers some of them is taken back first.
fn take_out_from(
    transaction: &Transaction<'_>,
    session: &str,
    from: Place,
    spared: &HashSet<String>,
    now: i64,
) -> oneclaw_store::Result<()> {
    while epochs::standing(transaction, session)?.is_some_and(|standing| standing.boundary > from) {
        if epochs::undo(transaction, session, now)?.is_none() {
            break;
        }
    }
    let rows = messages::since(transaction, session, from)?;
    let ids: Vec<String> = rows.into_iter().map(|s| s.row.id).filter(|id| !spared.contains(id)).collect();
    if ids.is_empty() { Ok(()) } else { messages::take_out(transaction, session, &ids, now) }
}

/// Runs the calls of a reply side by side. Each result is in the file before the caller hears of it.
pub(crate) async fn run_tools(
    job: &Job,
    chat: &Chat,
    live: &mut Live,
    calls: Vec<Row>,
) -> Result<(), Failure> {
    let mut running = JoinSet::new();
    for (index, call) in calls.iter().enumerate() {
        let called = Called {
            name: call.tool_name.clone().unwrap_or_default(),
            arguments: call.tool_input.clone().unwrap_or_default(),
        };
        let (registry, offered, policy) =
            (job.core.tools.clone(), chat.offered().to_vec(), chat.policy.clone());
        running.spawn(async move { (index, run(&registry, &offered, &called, &policy).await) });
    }
    let mut open: Vec<Option<Row>> = calls.into_iter().map(Some).collect();
    loop {
        let finished = match job.unless_stopped(running.join_next()).await {
            Ok(Some(Ok(finished))) => finished,
            Ok(Some(Err(error))) => {
                log::error!("a tool's task failed: {error}");
                continue;
            }
            Ok(None) => break,
            Err(stopped) => {
                running.abort_all();
                let left: Vec<Row> = open.into_iter().flatten().collect();
                answer_all(job, &left, STOPPED).await?;
                return Err(stopped);
            }
        };
        let (index, outcome) = finished;
        if let Some(call) = open.get_mut(index).and_then(Option::take) {
            live.push(save_result(job, &call, outcome).await?);
        }
    }
    // A call whose task failed is answered all the same.
    for call in open.into_iter().flatten() {
        live.push(save_result(job, &call, failed("The tool failed.")).await?);
    }
    Ok(())
}

/// Answers calls that are not run.
pub(crate) async fn refuse_calls(job: &Job, calls: &[Row]) -> Result<(), Failure> {
    answer_all(job, calls, NOT_RUN).await
}

async fn answer_all(job: &Job, calls: &[Row], text: &str) -> Result<(), Failure> {
    for call in calls {
        save_result(job, call, failed(text)).await?;
    }
    Ok(())
}

fn failed(text: &str) -> Outcome {
    Outcome {
        status: ToolStatus::Error,
        text: text.to_owned(),
        attachments: vec![],
        duration: Duration::ZERO,
    }
}

async fn save_result(job: &Job, call: &Row, outcome: Outcome) -> Result<Row, Failure> {
    let now = job.core.now();
    let duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
    let ended =
        Row { tool_status: Some(outcome.status), tool_duration_ms: Some(duration_ms), ..call.clone() };
    let result = Row {
        tool_call_id: call.tool_call_id.clone(),
        tool_name: call.tool_name.clone(),
        tool_output: Some(outcome.text),
        tool_status: Some(outcome.status),
        tool_duration_ms: Some(duration_ms),
        attachments: outcome.attachments,
        ..Row::new(job.core.new_id(), RowType::ToolResult, now)
    };
    let (session, saved) = (job.session.id.clone(), result.clone());
    job.core
        .write(move |t| {
            messages::update(t, &ended, State::Whole, now)?;
            messages::append(t, &session, &saved, State::Whole)?;
            live::keep_measure(t, &saved)
        })
        .await?;
    job.emit(Event::ToolCallCompleted {
        tool_call_id: call.tool_call_id.clone().unwrap_or_default(),
        tool_name: call.tool_name.clone().unwrap_or_default(),
        status: outcome.status,
        duration_ms,
    });
    Ok(result)
}
