//! One request to the model: streamed, shown, saved while it comes in, and what its usage teaches.

use crate::chat::Chat;
use crate::event::Event;
use crate::failure::Failure;
use crate::lessons::{self, Lesson, Report, Seen};
use crate::live::{self, Live};
use crate::session::{Job, lock};
use crate::target;
use oneclaw_context::Plan;
use oneclaw_context::estimate::Anchor;
use oneclaw_context::fingerprint::Fingerprint;
use oneclaw_model::row::RowType;
use oneclaw_model::{Piece, Row, ToolStatus, Trace, Usage};
use oneclaw_providers::{Adjustments, ProviderError, REASONING_ROOM, StopReason, StreamEvent};
use oneclaw_store::messages::{self, State};
use oneclaw_store::{engine, epochs};
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// A growing reply is saved this often: a kill loses less than a second of it.
const SAVE_EVERY: Duration = Duration::from_millis(700);
/// No reply is longer, in bytes, with reasoning and calls and what their pieces take.
const MOST_BYTES: usize = 16 * 1_024 * 1_024;
/// What a piece takes beside its text: each waits as an event of its own for a caller who may not listen. Half a million
/// pieces are still a reply.
const PIECE_BYTES: usize = 32;
/// What a call takes beside its texts.
const CALL_BYTES: usize = 1_024;
/// All replies to a message together.
const MOST_BYTES_OF_A_TURN: usize = 64 * 1_024 * 1_024;
/// No reply has more tokens.
const MOST_OUTPUT: u64 = 1_000_000;
/// The longest arguments of a call, and of all calls that follow from a message.
const MOST_ARGUMENTS: usize = 1_024 * 1_024;
const MOST_ARGUMENTS_OF_A_TURN: usize = 8 * MOST_ARGUMENTS;
/// What stands in the file for arguments that were too long.
const NO_ARGUMENTS: &str = "{}";

/// A whole reply, saved.
#[derive(Debug)]
pub(crate) struct Reply {
    pub message_id: String,
    pub calls: Vec<Row>,
    pub usage: Option<Usage>,
    /// Whether the service paused: sent back as it is, the reply goes on.
    pub is_paused: bool,
    /// The ids of calls whose arguments are too long to be kept: they are not run.
    pub too_long: HashSet<String>,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    Reply(Reply),
    /// Refused as too long before anything was said.
    TooLong {
        limit: Option<u64>,
        requested: Option<u64>,
    },
    /// Refused before anything was said because of a part that can be sent in another form.
    NotTaken(ProviderError),
}

impl Answer {
    /// A refusal of which something can be learnt, if this is one.
    fn of_refusal(error: &ProviderError) -> Option<Self> {
        match error {
            ProviderError::ContextOverflow { limit, requested } => {
                Some(Self::TooLong { limit: *limit, requested: *requested })
            }
            ProviderError::OutputCap { .. } | ProviderError::Unsupported { .. } => {
                Some(Self::NotTaken(error.clone()))
            }
            _ => None,
        }
    }
}

/// Sends the plan's request and takes in the reply. However it ends, what was said is in the file.
pub(crate) async fn ask(job: &Job, chat: &mut Chat, live: &mut Live, plan: &Plan) -> Result<Answer, Failure> {
    let target = &chat.target;
    let profile = target.profile_for(plan.size());
    let client = job.core.client.metered(job.meter.for_size(plan.request_estimate.expected));
    let asking = client.stream(&target.endpoint, &profile, &plan.request);
    let mut stream = match job.unless_stopped(asking).await? {
        Ok(stream) => stream,
        Err(error) => match Answer::of_refusal(&error) {
            Some(refusal) => return Ok(refusal),
            None => return Err(target::refused_by(&target.endpoint, error)),
        },
    };
    let most_prompt = lessons::most_believed(plan, chat.target.unlearnt_window());
    let mut draft = Draft::new(job, chat, most_prompt);
    let mut save_at = Instant::now() + SAVE_EVERY;
    let ended = loop {
        let next = async {
            tokio::select! {
                event = stream.next() => Some(event),
                () = sleep_until(save_at), if draft.is_unsaved => None,
            }
        };
        match job.unless_stopped(next).await {
            Err(stopped) => break Err(stopped),
            Ok(Some(Some(Ok(event)))) => {
                if let Err(failure) = draft.take(job, event) {
                    break Err(failure);
                }
            }
            Ok(Some(Some(Err(error)))) => break Err(target::refused_by(&target.endpoint, error)),
            Ok(Some(None)) => break Ok(()),
            Ok(None) => {}
        }
        if draft.is_unsaved && Instant::now() >= save_at {
            draft.save(job).await?;
            save_at = Instant::now() + SAVE_EVERY;
        }
    };
    drop(stream);
    if let Err(Failure::Provider(error)) = &ended
        && draft.bytes == 0
        && let Some(refusal) = Answer::of_refusal(error)
    {
        return Ok(refusal);
    }
    if let Err(failure) = ended {
        draft.save(job).await?;
        return Err(failure);
    }
    if draft.is_empty() {
        return match draft.stop {
            StopReason::Refused => {
                Err(ProviderError::Refused { detail: "no reason given".to_owned() }.into())
            }
            StopReason::Length | StopReason::ContextWindow if draft.thought() => Err(Failure::OnlyThinking),
            // A service that has no room left for a word has cut the prompt, or filled its window with it.
            StopReason::Length | StopReason::ContextWindow
                if draft.usage.is_none_or(|usage| usage.output == 0) =>
            {
                Ok(Answer::TooLong { limit: None, requested: None })
            }
            _ => Err(Failure::EmptyReply),
        };
    }
    finish(job, chat, live, plan, draft).await.map(Answer::Reply)
}

/// Saves the whole reply with its calls and what its usage teaches, all at once.
async fn finish(
    job: &Job,
    chat: &mut Chat,
    live: &mut Live,
    plan: &Plan,
    draft: Draft,
) -> Result<Reply, Failure> {
    let usage = draft.usage;
    let lesson = usage.filter(|u| u.prompt() > 0).map(|usage| lesson(job, chat, plan, usage.prompt()));
    let anchor = usage
        .filter(|_| matches!(lesson, Some(Lesson::Size(_))))
        .map(|u| Anchor::new(&plan.request, Some(&chat.target.model), u.prompt()));
    let prompt = match lesson {
        Some(Lesson::Size(learnt)) => {
            chat.target.learnt = learnt;
            usage.map(|usage| usage.prompt())
        }
        Some(Lesson::SilentWindow(learnt)) => {
            chat.target.learnt = learnt;
            None
        }
        Some(Lesson::Doubtful) | None => None,
    };
    chat.target.take_success(&job.session, prompt, plan.request.max_output);
    let lessons = chat.target.lessons();
    if draft.thought()
        && chat.target.profile.facts.is_none()
        && chat.target.profile.learnt.reasoning_room.is_none()
    {
        // Nobody has said that it reasons. Summaries and titles need room for that too.
        let adjustments =
            Adjustments { reasoning_room: Some(REASONING_ROOM), ..chat.target.profile.learnt.clone() };
        chat.target.adjust(&job.session, adjustments);
    }
    if chat.target.is_adjusted {
        target::keep_adjustments(&job.core, &mut chat.target).await;
    }
    let is_paused = draft.stop == StopReason::Paused;
    // Reasoning is bound to the calls behind it as they were.
    let keeps_reasoning = draft.too_long.is_empty() && !job.session.refuses_reasoning.load(Ordering::SeqCst);
    let trace = keeps_reasoning
        .then(|| draft.trace(Fingerprint::of(&plan.request, Some(&chat.target.model))))
        .flatten();
    let Draft { row, calls, is_in_file, too_long, .. } = draft;
    let row = Row { trace, ..row };
    let now = job.core.now();
    let (session, at) = (job.session.id.clone(), chat.target.at());
    let note = anchor.and_then(|anchor| live::anchor_note(anchor, chat));
    let saved = (row.clone(), calls.clone());
    let (shared, version, standing) = (job.session.clone(), live.version, live.standing.clone());
    let is_outdated = job
        .core
        .write(move |t| {
            let (row, calls) = saved;
            match is_in_file {
                true => messages::update(t, &row, State::Whole, now)?,
                false => drop(messages::append(t, &session, &row, State::Whole)?),
            }
            live::keep_measure(t, &row)?;
            for call in &calls {
                messages::append(t, &session, call, State::Whole)?;
                live::keep_measure(t, call)?;
            }
            target::write_lessons(t, &at, lessons, now)?;
            // Nobody can compact between this look and what follows from it, in whatever process.
            let is_outdated =
                shared.version() != version || !epochs::is_in_force(t, &session, standing.as_ref())?;
            match note {
                _ if is_outdated => epochs::set_tail_rows(t, &session)?,
                Some(note) => engine::set_anchor(t, &session, &note)?,
                None => {}
            }
            Ok(is_outdated)
        })
        .await?;
    chat.target.is_kept();
    if is_outdated {
        job.session.changed();
    } else if anchor.is_some() {
        live.state.anchor = anchor;
    }
    let message_id = row.id.clone();
    live.push(row);
    calls.iter().cloned().for_each(|call| live.push(call));
    Ok(Reply { message_id, calls, usage, is_paused, too_long })
}

/// What the reported size of the prompt teaches.
fn lesson(job: &Job, chat: &Chat, plan: &Plan, prompt: u64) -> Lesson {
    let at = chat.target.at();
    let mut last = lock(&job.session.last_report);
    let of_this_model = last.as_ref().filter(|last| last.at == at);
    let lesson = lessons::of_report(chat.target.learnt, plan, prompt, of_this_model, job.core.now());
    let content = plan.uncalibrated;
    let report =
        lessons::compared_next(of_this_model.map(|last| last.report), Report { reported: prompt, content });
    *last = match lesson {
        Lesson::Size(_) => Some(Seen { at, report, is_doubtful: false }),
        Lesson::Doubtful => {
            log::warn!("the service counted {prompt} tokens where about {content} were sent");
            Some(Seen { at, report, is_doubtful: true })
        }
        Lesson::SilentWindow(_) => {
            log::warn!("the service cuts prompts to about {prompt} tokens without saying so");
            None
        }
    };
    lesson
}

/// A reply that is coming in.
struct Draft {
    row: Row,
    calls: Vec<Row>,
    usage: Option<Usage>,
    stop: StopReason,
    /// In which order what came.
    pieces: Vec<Piece>,
    bytes: usize,
    is_in_file: bool,
    is_unsaved: bool,
    /// The ids of calls whose arguments are too long.
    too_long: HashSet<String>,
    /// The largest prompt that is believed to have been counted.
    most_prompt: u64,
}

impl Draft {
    fn new(job: &Job, chat: &Chat, most_prompt: u64) -> Self {
        Self {
            row: Row {
                model_id: Some(chat.target.model.as_str().to_owned()),
                provider_id: Some(chat.target.provider_id.clone()),
                ..Row::new(job.core.new_id(), RowType::AiResponse, job.core.now())
            },
            calls: vec![],
            usage: None,
            stop: StopReason::End,
            pieces: vec![],
            bytes: 0,
            is_in_file: false,
            is_unsaved: false,
            too_long: HashSet::new(),
            most_prompt,
        }
    }

    /// Takes in the next event and tells the caller.
    fn take(&mut self, job: &Job, event: StreamEvent) -> Result<(), Failure> {
        match event {
            StreamEvent::Text(text) => {
                self.grow(job, text.len())?;
                self.row.content.push_str(&text);
                match self.pieces.last_mut() {
                    Some(Piece::Text { bytes, signature: None }) => *bytes += text.len(),
                    _ => self.pieces.push(Piece::Text { bytes: text.len(), signature: None }),
                }
                job.emit(Event::StreamingText { text });
            }
            StreamEvent::Thinking(text) => {
                self.grow(job, text.len())?;
                self.row.thinking_content.get_or_insert_default().push_str(&text);
                job.emit(Event::ThinkingText { text });
            }
            StreamEvent::Thought(thinking) => {
                self.grow(job, thinking.texts().into_iter().map(str::len).sum())?;
                self.pieces.push(Piece::Thinking(thinking));
            }
            StreamEvent::TextSignature(new) => {
                self.grow(job, new.len())?;
                match self.pieces.last_mut() {
                    Some(Piece::Text { signature: signature @ None, .. }) => *signature = Some(new),
                    _ => self.pieces.push(Piece::Text { bytes: 0, signature: Some(new) }),
                }
            }
            StreamEvent::CallStarted { id, name } => {
                self.grow(job, id.as_str().len() + name.len() + CALL_BYTES)?;
                self.calls.push(Row {
                    tool_call_id: Some(id.as_str().to_owned()),
                    tool_name: Some(name.clone()),
                    tool_input: Some(String::new()),
                    tool_status: Some(ToolStatus::Executing),
                    model_id: self.row.model_id.clone(),
                    provider_id: self.row.provider_id.clone(),
                    ..Row::new(job.core.new_id(), RowType::ToolCall, job.core.now())
                });
                self.pieces.push(Piece::Call);
                job.emit(Event::ToolCallStarted { tool_call_id: id.0, tool_name: name });
            }
            StreamEvent::CallArguments { id, delta } => {
                self.grow(job, delta.len())?;
                if self.argue(job, id.as_str(), &delta) {
                    job.emit(Event::ToolCallArgumentsDelta { tool_call_id: id.0, delta });
                }
            }
            StreamEvent::CallCompleted { id, signature } => {
                self.grow(job, signature.as_ref().map_or(0, String::len))?;
                if let Some(call) = self.call(id.as_str()) {
                    call.thinking_content = signature;
                }
            }
            // It would be an anchor, teach how the model counts, and be found in the file later: it is none of that.
            StreamEvent::Usage(usage) if usage.prompt() > self.most_prompt || usage.output > MOST_OUTPUT => {
                log::warn!(
                    "a report of {} prompt and {} output tokens is not believed: at most {} and {MOST_OUTPUT} can be",
                    usage.prompt(),
                    usage.output,
                    self.most_prompt
                );
            }
            StreamEvent::Usage(usage) => {
                self.usage = Some(usage);
                self.row.token_count_input = Some(usage.input);
                self.row.token_count_output = Some(usage.output);
                self.row.cache_read = Some(usage.cache_read);
                self.row.cache_write = Some(usage.cache_write);
            }
            StreamEvent::Stopped(stop) => self.stop = stop,
        }
        Ok(())
    }

    /// Takes in more arguments of a call. `false` where they are too long: then none of them are kept.
    fn argue(&mut self, job: &Job, id: &str, delta: &str) -> bool {
        let Some(call) = self.calls.iter_mut().rev().find(|call| call.tool_call_id.as_deref() == Some(id))
        else {
            return true;
        };
        if self.too_long.contains(id) {
            return false;
        }
        let arguments = call.tool_input.get_or_insert_default();
        let of_turn = job.arguments.fetch_add(delta.len(), Ordering::SeqCst).saturating_add(delta.len());
        if arguments.len() + delta.len() <= MOST_ARGUMENTS && of_turn <= MOST_ARGUMENTS_OF_A_TURN {
            arguments.push_str(delta);
            return true;
        }
        log::warn!("the arguments of a call are too long and are not kept");
        NO_ARGUMENTS.clone_into(arguments);
        self.too_long.insert(id.to_owned());
        false
    }

    fn grow(&mut self, job: &Job, bytes: usize) -> Result<(), Failure> {
        let more = bytes + PIECE_BYTES;
        self.bytes += more;
        self.is_unsaved = true;
        if job.bytes.fetch_add(more, Ordering::SeqCst).saturating_add(more) > MOST_BYTES_OF_A_TURN {
            return Err(job.meter.used_up().into());
        }
        if self.bytes > MOST_BYTES {
            return Err(ProviderError::Protocol { detail: "the reply has no end".to_owned() }.into());
        }
        Ok(())
    }

    fn call(&mut self, id: &str) -> Option<&mut Row> {
        self.calls.iter_mut().rev().find(|call| call.tool_call_id.as_deref() == Some(id))
    }

    /// Whether it reasoned.
    fn thought(&self) -> bool {
        let reported = self.usage.is_some_and(|usage| usage.reasoning > 0);
        reported || self.row.thinking_content.is_some()
    }

    /// What goes back to the model, if anything beside text and calls does.
    fn trace(&self, prefix: u64) -> Option<Trace> {
        let has_reasoning = self.pieces.iter().any(|piece| match piece {
            Piece::Thinking(_) => true,
            Piece::Text { signature, .. } => signature.is_some(),
            Piece::Call => false,
        });
        let is_signed = self.calls.iter().any(|call| call.thinking_content.is_some());
        (has_reasoning || is_signed).then(|| Trace {
            prefix: Some(prefix),
            reasoning_tokens: self.usage.map(|usage| usage.reasoning.min(usage.output)).filter(|n| *n > 0),
            pieces: self.pieces.clone(),
        })
    }

    /// Whether nothing was said.
    fn is_empty(&self) -> bool {
        self.row.content.trim().is_empty() && self.calls.is_empty()
    }

    /// Saves what there is so far. Calls are saved with the whole reply only: half a call cannot be answered.
    async fn save(&mut self, job: &Job) -> Result<(), Failure> {
        self.is_unsaved = false;
        if self.row.content.is_empty() && self.row.thinking_content.is_none() {
            return Ok(());
        }
        let (row, session, now) = (self.row.clone(), job.session.id.clone(), job.core.now());
        let is_in_file = std::mem::replace(&mut self.is_in_file, true);
        job.core
            .write(move |t| match is_in_file {
                true => messages::update(t, &row, State::Partial, now),
                false => messages::append(t, &session, &row, State::Partial).map(drop),
            })
            .await
    }
}
