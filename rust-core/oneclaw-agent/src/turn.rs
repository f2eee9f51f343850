//! The rows of a turn: how it begins, and its tools.

use crate::chat::Chat;
use crate::event::Event;
use crate::failure::Failure;
use crate::live::{self, Live};
use crate::send::Start;
use crate::session::{InLine, Job};
use crate::tools::run::{Called, Outcome, run};
use oneclaw_model::row::RowType;
use oneclaw_model::{Row, ToolStatus};
use oneclaw_store::messages::{self, State, Stored};
use oneclaw_store::{Connection, Fault, Place, Transaction, engine, epochs};
use std::collections::HashSet;
use std::time::Duration;
use tokio::task::JoinSet;

/// What a call is answered with that was stopped.
const STOPPED: &str = "The user stopped this call before it ended.";
/// The most calls of one reply that are run.
const MOST_CALLS: usize = 128;
/// What the others are answered with.
const TOO_MANY: &str = "Not run: at most 128 calls of one reply are.";
/// What a call is answered with whose arguments are too long.
const TOO_LONG: &str = "Not run: the arguments are longer than 1 MB, or than 8 MB together with those of earlier calls. Send less, or in parts.";
/// The largest attachments of a result, together, in bytes of base64.
const MOST_ATTACHED: usize = 32 * 1_024 * 1_024;
/// What a call is answered with that was not run.
const NOT_RUN: &str = "Not run: too many rounds of tool calls.";

/// Brings the session into the state the turn begins with. Messages in line whose runs are gone (stopped, closed, killed)
/// take their places before it.
pub(crate) async fn begin(job: &Job, start: &Start) -> Result<(), Failure> {
    live::end_cut_calls(job).await?;
    let (session, now) = (job.session.clone(), job.core.now());
    let _held = match start {
        Start::Message(_) => None,
        Start::Regenerate | Start::Edit { .. } => Some(job.compaction().await?),
    };
    let takes_out = _held.is_some();
    let (own, replaces) = match start {
        Start::Message(own) => (Some(own.message.clone()), None),
        Start::Edit { message, replaces } => (Some(message.message.clone()), Some(replaces.clone())),
        Start::Regenerate => (None, None),
    };
    job.core
        .write(move |t| {
            let id = session.id.as_str();
            let waiting = session.waiting();
            for left in messages::in_line(t, id)?.iter().filter(|message| !waiting.contains(*message)) {
                messages::move_to_end(t, id, left)?;
            }
            if takes_out {
                let question = newest_question(t, id)?;
                if replaces.is_some_and(|replaces| question.row.id != replaces) {
                    let why = "only the newest message can be edited".to_owned();
                    return Err(Fault::Refused { why });
                }
                // The question itself stays where it is only asked again.
                let from = if own.is_some() { question.place } else { question.place.next() };
                take_out_from(t, id, from, now)?;
            }
            own.map_or(Ok(()), |own| messages::move_to_end(t, id, &own).map(drop))
        })
        .await?;
    if takes_out {
        job.session.changed();
    }
    Ok(())
}

/// Keeps a message aside that was to take another one's place and did not: left in line, the next turn would send it as an
/// ordinary one.
pub(crate) async fn set_aside(job: &Job, edit: &InLine) {
    let (session, message, now) = (job.session.id.clone(), edit.message.clone(), job.core.now());
    let done = job.core.write(move |t| messages::take_out(t, &session, &[message], now)).await;
    if let Err(failure) = done {
        log::warn!("a refused edit stays in line: {failure}");
    }
}

/// The newest message of the user, those in line aside.
pub(crate) fn newest_question(connection: &Connection, session: &str) -> oneclaw_store::Result<Stored> {
    let newest = messages::newest_user(connection, session, Place::LINE)?;
    newest.ok_or_else(|| Fault::Refused { why: "there is no message to answer".to_owned() })
}

/// Takes out the rows from a place on. A compaction that covers some of them is taken back first.
fn take_out_from(
    transaction: &Transaction<'_>,
    session: &str,
    from: Place,
    now: i64,
) -> oneclaw_store::Result<()> {
    while epochs::standing(transaction, session)?.is_some_and(|standing| standing.boundary > from) {
        if epochs::undo(transaction, session, now)?.is_none() {
            break;
        }
    }
    engine::set_attempt(transaction, session, None)?;
    let rows = messages::since(transaction, session, from)?;
    let rows = rows.into_iter().filter(|stored| !stored.place.is_in_line());
    let ids: Vec<String> = rows.map(|stored| stored.row.id).collect();
    if ids.is_empty() { Ok(()) } else { messages::take_out(transaction, session, &ids, now) }
}

/// Runs the calls of a reply side by side. Each result is in the file before the caller hears of it.
pub(crate) async fn run_tools(
    job: &Job,
    chat: &Chat,
    live: &mut Live,
    calls: Vec<Row>,
    too_long: &HashSet<String>,
) -> Result<(), Failure> {
    let mut running = JoinSet::new();
    let is_too_long = |call: &Row| call.tool_call_id.as_ref().is_some_and(|id| too_long.contains(id));
    for (index, call) in calls.iter().enumerate().take(MOST_CALLS).filter(|(_, call)| !is_too_long(call)) {
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
                // What has ended has ended.
                while let Some(Ok((index, outcome))) = running.try_join_next() {
                    if let Some(call) = open.get_mut(index).and_then(Option::take) {
                        save_result(job, &call, outcome).await?;
                    }
                }
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
    // A call that was one too many, or whose task failed, is answered all the same.
    for (index, call) in open.into_iter().enumerate().filter_map(|(index, call)| Some((index, call?))) {
        let text = match index < MOST_CALLS {
            _ if is_too_long(&call) => TOO_LONG,
            true => "The tool failed.",
            false => TOO_MANY,
        };
        live.push(save_result(job, &call, failed(text)).await?);
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

async fn save_result(job: &Job, call: &Row, mut outcome: Outcome) -> Result<Row, Failure> {
    let attached: usize = outcome.attachments.iter().filter_map(|a| a.data.as_ref()).map(String::len).sum();
    if attached > MOST_ATTACHED {
        outcome.attachments.clear();
        outcome.text.push_str("\n\n[The attachments were too large and are left out.]");
    }
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
