//! The engine at work: the loop of `oneclaw-agent`, plan → carry out → plan, without files and sockets.
//!
//! Nothing is decided here. What the agent does with a plan is done with it: requests are sent, summaries asked for twice
//! and put to the gate, marks, attempts, anchors and calibrations kept, a refusal learnt from and answered once.

use crate::contender::Play;
use crate::estimates::{self, Estimates};
use crate::facts;
use crate::pins::Pins;
use crate::script::{ModelSpec, Script, ToolUse, Turn};
use crate::wire::{Item, Prompt, Role};
use crate::world::{Answered, Form, Outcome, Output, Refusal, SummaryRequest, World, kept};
use oneclaw_context::estimate::{Anchor, Calibration, EstimatorState, MeasuredRow, Tariff};
use oneclaw_context::plan::{self, Compaction, Culprit, Summaries, Summarise, Work};
use oneclaw_context::summary::gate::{self, Accepted, Rejection};
use oneclaw_context::summary::prompt::{Round, SummaryPlan};
use oneclaw_context::{Conversation, Decision, Fixed, Inputs, Moment, Plan, Policy, Reason};
use oneclaw_model::{Attachment, Body, Message, ModelLimits, Request, ToolStatus, Usage};
use std::rc::Rc;

/// How often a request is planned anew because a compaction came between; as in the agent.
const MOST_PLANS: usize = 6;
/// Estimates are compared with the truth where the number of rows is a multiple of this.
const SAMPLE_EVERY: u64 = 5;

/// A preset at work on one conversation.
#[derive(Debug)]
pub struct Ours<'p> {
    policy: &'p Policy,
    conversation: Conversation,
    /// What reports taught, by model.
    calibrations: Vec<Calibration>,
    anchor: Option<Anchor>,
    model: usize,
    limits: ModelLimits,
    /// The model that wrote the last reply.
    last_author: Option<usize>,
    rows: u64,
    pins: Pins,
    /// What the last request was taken for, at most, and what sizes were told by then.
    last_upper: u64,
    last_calibration: Calibration,
    /// How far estimates were off, where that is studied.
    estimates: Option<Estimates>,
}

impl<'p> Ours<'p> {
    /// A new conversation.
    pub fn new(policy: &'p Policy, script: &Script) -> Self {
        let fixed = Fixed::new(Some(script.system.clone()), script.tools.clone());
        Self {
            policy,
            conversation: Conversation { fixed, ..Conversation::default() },
            calibrations: script.models.iter().map(|_| Calibration::default()).collect(),
            anchor: None,
            model: 0,
            limits: ModelLimits::default(),
            last_author: None,
            rows: 0,
            pins: Pins::default(),
            last_upper: 0,
            last_calibration: Calibration::default(),
            estimates: None,
        }
    }

    /// The same, and its estimates are compared with the truth.
    pub fn studied(self) -> Self {
        Self { estimates: Some(Estimates::default()), ..self }
    }

    fn state(&self) -> EstimatorState {
        let calibration = self.calibrations.get(self.model).copied().unwrap_or_default();
        EstimatorState { calibration, anchor: self.anchor }
    }

    fn tariff(&self, model: &ModelSpec, index: usize) -> Tariff {
        Tariff::of(Some(&model.id), None, self.calibrations.get(index).copied().unwrap_or_default())
    }

    fn say(&mut self, body: Body) -> Option<&mut MeasuredRow> {
        self.rows += 1;
        let id = format!("m{}", self.rows).as_str().into();
        let message = Message { id, created_at: self.rows as i64, body };
        self.conversation.rows.push(MeasuredRow::new(message));
        self.conversation.rows.last_mut()
    }

    fn begin(&mut self, turn: &Turn, world: &mut World<'_>) -> Option<()> {
        let model = world.model(turn.model)?;
        self.model = turn.model;
        self.limits = model.limits();
        self.conversation.model = Some(model.id.clone());
        let attachments = turn.pictures.iter().map(|size| attachment(*size)).collect();
        let tariff = self.tariff(model, turn.model);
        let limits = self.limits;
        let policy = self.policy;
        self.say(Body::User { text: turn.user.clone(), attachments });
        if turn.is_pinned
            && let Some(row) = self.conversation.rows.last_mut()
        {
            self.pins.pin(row, policy, &limits, &tariff, &mut world.tally.kept);
        }
        Some(())
    }

    fn answer(&mut self, turn: &Turn, world: &mut World<'_>) -> Result<(), Outcome> {
        let mut moment = Moment::BeforeSend;
        for round in &turn.rounds {
            let answered = self.reply(world, moment, &round.said())?;
            self.take(&round.text, answered.usage, 1_000, world);
            self.run_tools(&round.calls, world);
            moment = Moment::AfterTools;
        }
        let answered = self.reply(world, moment, &turn.reply)?;
        self.take(&turn.reply, answered.usage, answered.kept_milli, world);
        Ok(())
    }

    /// One reply. A request that is refused is learnt from and sent once more.
    fn reply(&mut self, world: &mut World<'_>, moment: Moment, text: &str) -> Result<Answered, Outcome> {
        let plan = self.ready(world, moment)?;
        let size = plan.uncalibrated;
        match self.send(world, plan, text) {
            Ok(answered) => return Ok(answered),
            Err(Refusal::Malformed) => return Err(Outcome::Refused),
            Err(Refusal::TooLong { prompt }) => {
                if let Some(calibration) = self.calibrations.get_mut(self.model) {
                    *calibration = calibration.at_least(prompt, size);
                }
            }
        }
        let plan = self.ready(world, Moment::Overflow)?;
        self.send(world, plan, text).map_err(|_| Outcome::Refused)
    }

    fn send(&mut self, world: &mut World<'_>, plan: Plan, text: &str) -> Result<Answered, Refusal> {
        let model = self.conversation.model.clone();
        let mut anchor = Anchor::new(&plan.request, model.as_ref(), 1);
        let is_sampled = self.estimates.is_some() && self.rows.is_multiple_of(SAMPLE_EVERY);
        let sample = is_sampled.then(|| Estimates::sample(&plan, &self.state(), model.as_ref()));
        self.last_upper = plan.request_estimate.upper;
        self.last_calibration = self.state().calibration;
        let earlier = world.last(self.model);
        let prompt = Prompt::of_request(plan.request, world.tools(self.model), &earlier);
        let answered = world.ask(self.model, prompt, text)?;
        let size = answered.usage.prompt();
        if let (Some(estimates), Some(sample)) = (&mut self.estimates, sample) {
            estimates.add(&sample, size);
        }
        anchor.prompt = size;
        self.anchor = Some(anchor);
        if let Some(calibration) = self.calibrations.get_mut(self.model) {
            *calibration = calibration.after_report(size, plan.uncalibrated, plan.request_estimate.upper);
        }
        Ok(answered)
    }

    fn take(&mut self, text: &str, usage: Usage, milli: u64, world: &World<'_>) {
        self.last_author = Some(self.model);
        let model = world.model(self.model).map(|m| m.id.clone());
        self.say(Body::Assistant {
            text: kept(text, milli),
            thinking: None,
            trace: None,
            model,
            usage: Some(usage),
        });
    }

    fn run_tools(&mut self, calls: &[ToolUse], world: &World<'_>) {
        let model = world.model(self.model).map(|m| m.id.clone());
        for call in calls {
            self.say(Body::ToolCall {
                call: call.id.as_str().into(),
                name: call.name.to_owned(),
                arguments: call.arguments.clone(),
                signature: None,
                model: model.clone(),
            });
        }
        for call in calls {
            self.say(Body::ToolResult {
                call: call.id.as_str().into(),
                name: call.name.to_owned(),
                output: self.policy.stored(&call.output, call.shape).into_owned(),
                status: ToolStatus::Success,
                attachments: call.picture.iter().map(|size| attachment(*size)).collect(),
            });
        }
    }

    // ---- plans ----

    fn plan(&self, moment: Moment, writer: Option<&plan::Summariser>, summaries: Summaries) -> Plan {
        let state = self.state();
        let ordinary = Inputs::new(&self.conversation, &self.limits, self.policy, &state, moment);
        oneclaw_context::plan(&Inputs { summariser: writer, summaries, ..ordinary })
    }

    /// Plans, and compacts, until there is a request that may be sent.
    fn ready(&mut self, world: &mut World<'_>, moment: Moment) -> Result<Plan, Outcome> {
        let mut moment = moment;
        for _ in 0..MOST_PLANS {
            let plan = self.plan(moment, None, Summaries::Allowed);
            match plan.decision {
                Decision::Send(_) => {
                    self.keep(&plan, "");
                    return Ok(plan);
                }
                Decision::Irreducible { culprit, .. } => return Err(self.given_up(&plan, culprit)),
                Decision::Compact(_) => self.compact(world, moment, plan)?,
            }
            if moment == Moment::Overflow {
                moment = Moment::BeforeSend;
            }
        }
        Err(Outcome::Stuck)
    }

    /// Whether a plan that gives up does so for the one reason there may be: instructions, tools and the newest message
    /// exceed what may be sent with a short reply by their likely size.
    fn given_up(&self, plan: &Plan, culprit: Culprit) -> Outcome {
        let least = estimates::by_content(plan, &self.state(), self.conversation.model.as_ref());
        let is_over = plan.budget.is_some_and(|budget| least.expected > budget.most);
        if culprit == Culprit::NewestMessage && is_over { Outcome::Declined } else { Outcome::Stuck }
    }

    /// Looks at the conversation once the reply is whole.
    fn settle(&mut self, world: &mut World<'_>) {
        let plan = self.plan(Moment::AfterResponse, None, Summaries::Allowed);
        match plan.decision {
            Decision::Send(_) => self.keep(&plan, ""),
            Decision::Irreducible { .. } => {}
            // What cannot be done now is said by the next message.
            Decision::Compact(_) => drop(self.compact(world, Moment::AfterResponse, plan)),
        }
    }

    fn keep(&mut self, plan: &Plan, summary: &str) {
        self.conversation = plan.carry_out(std::mem::take(&mut self.conversation), summary);
    }

    // ---- compactions ----

    fn compact(&mut self, world: &mut World<'_>, moment: Moment, plan: Plan) -> Result<(), Outcome> {
        let Decision::Compact(compaction) = &plan.decision else { return Ok(()) };
        let writers = self.writers(compaction, world);
        let size = self.size_now(world, moment);
        if let Work::Local(_) = compaction.work {
            self.keep_local(world, &plan, size);
            return Ok(());
        }
        // With the chat's own model as writer the plan is the one that is there.
        let mut own = Some(plan);
        for index in writers {
            let other = (index != self.model).then(|| world.model(index)).flatten();
            let other = other.map(|m| plan::Summariser { limits: m.limits(), tariff: self.tariff(m, index) });
            let plan = match (&other, own.take_if(|_| other.is_none())) {
                (None, Some(own)) => own,
                _ => self.plan(moment, other.as_ref(), Summaries::Allowed),
            };
            let Decision::Compact(compaction) = &plan.decision else { continue };
            let Work::Summarise(work) = &compaction.work else { continue };
            if let Some(accepted) = self.written(world, index, work) {
                facts::of_summary(&work.gate, &accepted.text, &mut world.tally.kept);
                world.compacted(self.model, size);
                self.keep(&plan, &accepted.text);
                return Ok(());
            }
        }
        let plan = self.plan(moment, None, Summaries::Failed);
        match &plan.decision {
            Decision::Compact(_) => self.keep_local(world, &plan, size),
            Decision::Send(_) => self.keep(&plan, ""),
            Decision::Irreducible { .. } => {
                world.tally.kept.compactions_failed += 1;
                return Err(Outcome::Stuck);
            }
        }
        Ok(())
    }

    /// A compaction that needs no model.
    fn keep_local(&mut self, world: &mut World<'_>, plan: &Plan, size: u64) {
        if let Some(model) = world.model(self.model) {
            let tariff = self.tariff(model, self.model);
            facts::of_local(&self.conversation, plan, self.policy, &tariff, &mut world.tally.kept);
        }
        world.compacted(self.model, size);
        self.keep(plan, "");
    }

    /// The real size of the request as it would be without the compaction.
    fn size_now(&self, world: &mut World<'_>, moment: Moment) -> u64 {
        let state = self.state();
        let now = oneclaw_context::look(&Inputs::new(
            &self.conversation,
            &self.limits,
            self.policy,
            &state,
            moment,
        ));
        let earlier = world.last(self.model);
        let prompt = Prompt::of_request(now.request, world.tools(self.model), &earlier);
        world.model(self.model).map_or(0, |model| prompt.tokens(model.tokenizer, world.counter))
    }

    /// The model the conversation was held with so far if it is larger, then the model of the chat; as in the agent.
    fn writers(&self, compaction: &Compaction, world: &World<'_>) -> Vec<usize> {
        let earlier = self.last_author.filter(|index| {
            let window = world.model(*index).map(|model| model.window);
            compaction.reason == Reason::ModelSwitch && window > self.limits.window
        });
        earlier.into_iter().chain([self.model]).collect()
    }

    fn written(&self, world: &mut World<'_>, writer: usize, work: &Summarise) -> Option<Accepted> {
        let mut answers: Option<Vec<String>> = None;
        loop {
            let round = next_round(&work.requests, answers.as_deref());
            if round.is_last {
                return self.last_part(world, writer, work, answers.as_deref());
            }
            let shorter = next_round(&work.requests.shorter(), answers.as_deref()).requests;
            let pairs = round.requests.iter().zip(&shorter);
            let parts =
                pairs.map(|(first, second)| self.part(world, writer, [&first.request, &second.request]));
            answers = Some(parts.collect::<Option<Vec<String>>>()?);
        }
    }

    fn last_part(
        &self,
        world: &mut World<'_>,
        writer: usize,
        work: &Summarise,
        answers: Option<&[String]>,
    ) -> Option<Accepted> {
        let mut plan = work.requests.clone();
        for _ in 0..=self.policy.summary_retries {
            let request = next_round(&plan, answers).requests.pop()?;
            let written = self.ask_summary(world, writer, &request.request)?;
            let reply =
                gate::Reply { text: &written.text, finish: written.finish, tool_calls: written.tool_calls };
            match work.gate.accept(&reply) {
                Ok(accepted) => return Some(accepted),
                Err(Rejection::CutByLength | Rejection::TooLong { .. }) => plan = plan.shorter(),
                Err(_) => {}
            }
        }
        None
    }

    fn part(&self, world: &mut World<'_>, writer: usize, [first, shorter]: [&Request; 2]) -> Option<String> {
        let mut request = first;
        for _ in 0..=self.policy.summary_retries {
            let written = self.ask_summary(world, writer, request)?;
            let reply =
                gate::Reply { text: &written.text, finish: written.finish, tool_calls: written.tool_calls };
            match gate::accept_part(&reply) {
                Ok(text) => return Some(text.to_owned()),
                Err(Rejection::CutByLength) => request = shorter,
                Err(_) => {}
            }
        }
        None
    }

    /// `None` where the service refuses: that is counted, and the next writer is asked.
    fn ask_summary(
        &self,
        world: &mut World<'_>,
        writer: usize,
        request: &Request,
    ) -> Option<crate::summariser::Written> {
        let model = world.model(writer)?;
        let system = Item::new(Role::System, request.system.as_deref().unwrap_or_default());
        let frame = system.tokens(model.tokenizer, world.counter) + 3;
        let material: Vec<Rc<Item>> =
            request.messages.iter().map(|m| Rc::new(Item::new(Role::User, m.text()))).collect();
        let request = SummaryRequest {
            material: &material,
            form: Form::Messages,
            frame,
            style: self.policy.style,
            output: Output::Asked(request.max_output.unwrap_or(0)),
        };
        world.ask_summary(writer, &request).ok()
    }
}

impl Play for Ours<'_> {
    fn turn(&mut self, turn: &Turn, world: &mut World<'_>) -> Outcome {
        if self.begin(turn, world).is_none() {
            return Outcome::Stuck;
        }
        if let Err(outcome) = self.answer(turn, world) {
            return outcome;
        }
        if !turn.probes.is_empty()
            && let Some(model) = world.model(self.model)
        {
            let tariff = Tariff::of(Some(&model.id), None, self.last_calibration);
            self.pins.check(&self.conversation, self.policy, &self.limits, &tariff, self.last_upper, world);
        }
        self.settle(world);
        Outcome::Answered
    }

    fn estimates(&mut self) -> Option<Estimates> {
        self.estimates.take()
    }
}

fn next_round(plan: &SummaryPlan, answers: Option<&[String]>) -> Round {
    match answers {
        None => plan.first_round(),
        Some(answers) => plan.merge_round(answers),
    }
}

fn attachment((width, height): (u32, u32)) -> Attachment {
    Attachment {
        mime: "image/png".to_owned(),
        name: "picture.png".to_owned(),
        width: Some(width),
        height: Some(height),
        data: None,
    }
}
