//! Lets a model write a summary: parts side by side, then merges, each asked for twice (and in another form where the service does not take one), and kept as soon as it is
//! there, so that a second attempt or a restart asks only for what is missing.

use crate::complete::{self, Writing, is_used_up};
use crate::lessons::Size;
use crate::session::Job;
use crate::target::Target;
use oneclaw_context::plan::Summarise;
use oneclaw_context::summary::gate::{self, Finish, Rejection};
use oneclaw_context::summary::prompt::{Round, SummaryPlan, SummaryRequest};
use oneclaw_model::Request;
use oneclaw_providers::{ProviderError, Reply, StopReason};
use oneclaw_store::engine;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use tokio::task::JoinSet;

/// Parts asked for at the same time.
const AT_ONCE: usize = 4;

/// Why there is no summary.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// The user stopped it.
    Stopped,
    /// The model holds less than was believed.
    TooLong { size: Size, limit: Option<u64>, requested: Option<u64> },
    /// It failed, for good.
    Failed(String),
}

/// Asks the model for the summary and puts it to the gate.
pub(crate) async fn write(
    job: &Job,
    target: &Target,
    work: &Summarise,
    retries: u64,
) -> Result<String, Unwritten> {
    let mut answers: Option<Vec<String>> = None;
    loop {
        let round = round(&work.requests, answers.as_deref());
        if round.is_last {
            return last(job, target, work, answers.as_deref(), retries).await;
        }
        answers = Some(parts(job, target, &work.requests, answers.as_deref(), round, retries).await?);
    }
}

/// The requests that follow from the answers so far.
fn round(plan: &SummaryPlan, answers: Option<&[String]>) -> Round {
    match answers {
        None => plan.first_round(),
        Some(answers) => plan.merge_round(answers),
    }
}

/// The last request; its answer is the summary if the gate lets it pass.
async fn last(
    job: &Job,
    target: &Target,
    work: &Summarise,
    answers: Option<&[String]>,
    retries: u64,
) -> Result<String, Unwritten> {
    let mut plan = work.requests.clone();
    let mut target = target.clone();
    let mut why = String::from("nothing was asked");
    for _ in 0..=retries {
        let Some(request) = round(&plan, answers).requests.pop() else { break };
        let reply = match asked(&job.writing(), &mut target, &request).await? {
            Ok(reply) => reply,
            Err(error) => {
                why = error.to_string();
                if is_final(&error) {
                    break;
                }
                continue;
            }
        };
        match work.gate.accept(&gate_reply(&reply)) {
            Ok(accepted) => {
                if accepted.facts_dropped > 0 {
                    log::info!("{} facts had no room in the summary", accepted.facts_dropped);
                }
                return Ok(accepted.text);
            }
            Err(rejection) => {
                job.rejected.fetch_add(1, Ordering::SeqCst);
                let is_too_long = matches!(rejection, Rejection::CutByLength | Rejection::TooLong { .. });
                if is_too_long && !is_used_up(&reply) {
                    plan = plan.shorter();
                }
                why = rejection.to_string();
            }
        }
    }
    Err(Unwritten::Failed(why))
}

/// All parts of a round, in order.
async fn parts(
    job: &Job,
    target: &Target,
    plan: &SummaryPlan,
    answers: Option<&[String]>,
    round: Round,
    retries: u64,
) -> Result<Vec<String>, Unwritten> {
    let shorter = self::round(&plan.shorter(), answers).requests;
    let mut waiting = round.requests.into_iter().zip(shorter).enumerate();
    let mut texts: Vec<Option<String>> = vec![None; waiting.len()];
    let mut running = JoinSet::new();
    loop {
        while running.len() < AT_ONCE
            && let Some((index, (request, shorter))) = waiting.next()
        {
            let part = Part::new(job, target, request, shorter, retries);
            running.spawn(async move { (index, part.write().await) });
        }
        match running.join_next().await {
            None => break,
            Some(Err(error)) => return Err(Unwritten::Failed(error.to_string())),
            Some(Ok((index, text))) => {
                let text = text?;
                if let Some(place) = texts.get_mut(index) {
                    *place = Some(text);
                }
            }
        }
    }
    Ok(texts.into_iter().flatten().collect())
}

/// A part of the history, to be summarised on its own.
struct Part {
    writing: Writing,
    target: Target,
    /// What is asked, and what is asked after an answer that was too long.
    requests: [SummaryRequest; 2],
    retries: u64,
}

impl Part {
    fn new(
        job: &Job,
        target: &Target,
        request: SummaryRequest,
        shorter: SummaryRequest,
        retries: u64,
    ) -> Self {
        Self { writing: job.writing(), target: target.clone(), requests: [request, shorter], retries }
    }

    async fn write(mut self) -> Result<String, Unwritten> {
        let failed = |failure: crate::failure::Failure| Unwritten::Failed(failure.to_string());
        let [request, shorter] = &self.requests;
        let key = content_key(&request.request, self.target.model.as_str());
        let (core, rejected) = (self.writing.core.clone(), self.writing.rejected.clone());
        let (session, named) = (self.writing.session.id.clone(), key.clone());
        let kept = core.read(move |c| engine::chunk(c, &session, &named)).await.map_err(failed)?;
        if let Some(text) = kept {
            return Ok(text);
        }
        let mut request = request;
        let mut why = String::new();
        for _ in 0..=self.retries {
            let reply = match asked(&self.writing, &mut self.target, request).await? {
                Ok(reply) => reply,
                Err(error) => {
                    why = error.to_string();
                    if is_final(&error) {
                        break;
                    }
                    continue;
                }
            };
            match gate::accept_part(&gate_reply(&reply)) {
                Ok(text) => {
                    let (session, text) = (self.writing.session.id.clone(), text.to_owned());
                    let kept = text.clone();
                    core.write(move |t| engine::set_chunk(t, &session, &key, &kept)).await.map_err(failed)?;
                    return Ok(text);
                }
                Err(rejection) => {
                    rejected.fetch_add(1, Ordering::SeqCst);
                    if rejection == Rejection::CutByLength && !is_used_up(&reply) {
                        request = shorter;
                    }
                    why = rejection.to_string();
                }
            }
        }
        Err(Unwritten::Failed(why))
    }
}

async fn asked(
    writing: &Writing,
    target: &mut Target,
    asked: &SummaryRequest,
) -> Result<Result<Reply, ProviderError>, Unwritten> {
    match complete::complete(writing, target, &asked.request, asked.upper).await {
        Err(ProviderError::ContextOverflow { limit, requested }) => {
            let size = Size::of_text(&asked.request, &target.tariff());
            Err(Unwritten::TooLong { size, limit, requested })
        }
        other => Ok(other),
    }
}

/// Whether asking again would be answered in the same way.
fn is_final(error: &ProviderError) -> bool {
    match error {
        ProviderError::Auth { .. }
        | ProviderError::Quota { .. }
        | ProviderError::ModelNotFound { .. }
        | ProviderError::InvalidRequest { .. }
        | ProviderError::Reported { .. }
        | ProviderError::Budget { .. }
        | ProviderError::Unsupported { .. }
        | ProviderError::TooManyBytes { .. }
        | ProviderError::OutputCap { .. } => true,
        ProviderError::RateLimited { .. }
        | ProviderError::Overloaded { .. }
        | ProviderError::ContextOverflow { .. }
        | ProviderError::Network { .. }
        | ProviderError::Timeout { .. }
        | ProviderError::Protocol { .. }
        | ProviderError::Refused { .. } => false,
    }
}

fn gate_reply(reply: &Reply) -> gate::Reply<'_> {
    let finish = match reply.stop {
        StopReason::End => Finish::Complete,
        StopReason::Length | StopReason::ContextWindow => Finish::Length,
        StopReason::ToolUse | StopReason::Paused | StopReason::Refused | StopReason::Other(_) => {
            Finish::Other
        }
    };
    gate::Reply { text: &reply.text, finish, tool_calls: reply.calls }
}

/// Names a part by what it is made of and who is asked.
fn content_key(request: &Request, model: &str) -> String {
    let mut hash = DefaultHasher::new();
    model.hash(&mut hash);
    request.system.hash(&mut hash);
    for message in &request.messages {
        message.text().hash(&mut hash);
    }
    format!("{:016x}", hash.finish())
}
