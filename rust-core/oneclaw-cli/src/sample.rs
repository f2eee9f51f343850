//! `oneclaw sample`: the engine at work on a long conversation, with the window drawn as a bar.
//!
//! No model is asked: where one would write a summary, the engine's own digest stands in for it.

use crate::args::SampleArgs;
use crate::{Failure, json};
use oneclaw_context::conversation::{Conversation, Fixed};
use oneclaw_context::estimate::{EstimatorState, MeasuredRow, Tariff};
use oneclaw_context::plan::{Compaction, Decision, Inputs, Moment, Plan, SendReason, Work};
use oneclaw_context::policy::Policy;
use oneclaw_context::summary::digest::digest;
use oneclaw_model::{Body, Message, ModelLimits, ToolSpec, ToolStatus};
use serde_json::json;
use std::io::{self, IsTerminal, Write};

const BAR: u64 = 48;
const SYSTEM: &str = "You are a patient assistant for a small bakery. Keep to the recipes in recipes/ and to the \
                      budget of 1,200 EUR a month.";

pub fn run(args: &SampleArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let policy = args.policy.policy().map_err(|e| Failure::Usage(e.to_string()))?;
    let limits = ModelLimits { window: Some(args.window), ..ModelLimits::default() };
    let tool = ToolSpec {
        name: "read_file".into(),
        description: "Reads a file of the workspace.".into(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        protected: false,
    };
    let fixed = Fixed::new(Some(SYSTEM.into()), vec![tool]);
    let colour = !is_json && io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let mut show = Show { out, is_json, colour };
    show.opening(args, &policy)?;
    let mut run = Run {
        conversation: Conversation { fixed, ..Conversation::default() },
        limits,
        policy,
        rows: 0,
        tally: Tally::default(),
    };
    for turn in 1..=args.turns {
        run.say(Body::User { text: question(turn), attachments: vec![] });
        let mut plan = run.plan(turn, Moment::BeforeSend, &mut show)?;
        for round in 1..=tool_rounds(turn) {
            run.say(reply(String::new()));
            let call: oneclaw_model::CallId = format!("call_{turn}_{round}").as_str().into();
            let arguments = json!({"path": format!("recipes/{}.md", turn * 3 + round)}).to_string();
            let name = String::from("read_file");
            let model = None;
            run.say(Body::ToolCall {
                call: call.clone(),
                name: name.clone(),
                arguments,
                signature: None,
                model,
            });
            let output = file(turn * 7 + round);
            let status = ToolStatus::Success;
            run.say(Body::ToolResult { call, name, output, status, attachments: vec![] });
            plan = run.plan(turn, Moment::AfterTools, &mut show)?;
        }
        if matches!(plan.decision, Decision::Irreducible { .. }) {
            return Err(Failure::Failed(format!(
                "turn {turn}: nothing makes this fit a window of {}",
                args.window
            )));
        }
        run.say(reply(answer(turn)));
        let plan = run.plan(turn, Moment::AfterResponse, &mut show)?;
        show.turn(turn, &plan, run.conversation.rows.len())?;
    }
    show.closing(&run.tally, args.turns, run.rows)
}

fn reply(text: String) -> Body {
    Body::Assistant { text, thinking: None, trace: None, model: None, usage: None }
}

#[derive(Default)]
struct Tally {
    compactions: u64,
    pruned: u64,
    over_hard: u64,
    largest: u64,
}

struct Run {
    conversation: Conversation,
    limits: ModelLimits,
    policy: Policy,
    rows: u64,
    tally: Tally,
}

impl Run {
    fn say(&mut self, body: Body) {
        self.rows += 1;
        let id = format!("m{}", self.rows).as_str().into();
        let message = Message { id, created_at: self.rows as i64 * 1_000, body };
        self.conversation.rows.push(MeasuredRow::new(message));
    }

    /// Plans, carries a compaction out, and plans what follows it.
    fn plan(&mut self, turn: u64, moment: Moment, show: &mut Show<'_, impl Write>) -> Result<Plan, Failure> {
        let state = EstimatorState::default();
        let plan = oneclaw_context::plan(&Inputs::new(
            &self.conversation,
            &self.limits,
            &self.policy,
            &state,
            moment,
        ));
        if let Some(budget) = plan.budget {
            let is_last = !matches!(plan.decision, Decision::Compact(_));
            self.tally.over_hard += u64::from(is_last && plan.size() > budget.most);
            self.tally.largest = self.tally.largest.max(plan.request_estimate.upper);
        }
        match &plan.decision {
            Decision::Compact(compaction) => {
                self.tally.compactions += 1;
                let text = self.summary(compaction);
                show.compaction(turn, moment, &plan, compaction)?;
                self.conversation = plan.carry_out(std::mem::take(&mut self.conversation), &text);
                return self.plan(turn, moment, show);
            }
            Decision::Send(reason) => {
                if *reason == SendReason::Pruned {
                    self.tally.pruned += 1;
                    show.pruned(turn, moment, &plan)?;
                }
                self.conversation = plan.carry_out(std::mem::take(&mut self.conversation), "");
            }
            Decision::Irreducible { .. } => {}
        }
        Ok(plan)
    }

    fn summary(&self, compaction: &Compaction) -> String {
        match &compaction.work {
            Work::Local(text) => text.clone(),
            Work::Summarise(work) => {
                let tariff = Tariff::of(None, None, Default::default());
                let covered = self.conversation.rows.get(..compaction.covers).unwrap_or_default();
                let prior = self.conversation.epoch.as_ref().map(|e| e.summary.as_str());
                digest(prior, covered, work.gate.cap, &tariff)
            }
        }
    }
}

/// Prints, for people or as JSON lines.
struct Show<'a, W: Write> {
    out: &'a mut W,
    is_json: bool,
    colour: bool,
}

impl<W: Write> Show<'_, W> {
    fn opening(&mut self, args: &SampleArgs, policy: &Policy) -> Result<(), Failure> {
        if self.is_json {
            return Ok(());
        }
        writeln!(
            self.out,
            "A long conversation on a window of {} tokens, preset {}. No model is asked: a digest stands in for \
             each summary.\nAfter every reply, the next request: {} system and tools, {} summary, {} messages, \
             · free, | trigger.\n",
            args.window,
            args.policy.preset,
            self.paint("34", "█"),
            self.paint("35", "▓"),
            self.paint("32", "▒"),
        )?;
        if !policy.auto {
            writeln!(self.out, "Automatic summaries are off.\n")?;
        }
        Ok(())
    }

    fn turn(&mut self, turn: u64, plan: &Plan, rows: usize) -> Result<(), Failure> {
        let upper = plan.request_estimate.upper;
        if self.is_json {
            let line = json!({"turn": turn, "expected": plan.request_estimate.expected, "upper": upper,
                "rows": rows, "parts": plan.parts});
            return json::print(self.out, &line);
        }
        let window = plan.budget.and_then(|b| b.window).unwrap_or(0);
        let trigger = plan.budget.map_or(0, |b| b.trigger);
        let bar = self.bar(plan, window, trigger);
        let share = (upper * 100).checked_div(window).unwrap_or(0);
        Ok(writeln!(self.out, "turn {turn:>4}  {bar}  {upper:>7} / {window} ({share:>2} %)")?)
    }

    fn bar(&self, plan: &Plan, window: u64, trigger: u64) -> String {
        let cells = |tokens: u64| (tokens * BAR).checked_div(window).unwrap_or(0);
        let fixed = cells(plan.parts.system.upper + plan.parts.tools.upper);
        let summary = fixed + cells(plan.parts.summary.upper);
        let used = cells(plan.request_estimate.upper);
        let mut bar = String::new();
        for cell in 0..BAR {
            bar.push_str(&if cell < fixed {
                self.paint("34", "█")
            } else if cell < summary {
                self.paint("35", "▓")
            } else if cell < used {
                self.paint("32", "▒")
            } else if cell == cells(trigger) {
                "|".to_owned()
            } else {
                "·".to_owned()
            });
        }
        bar
    }

    fn compaction(
        &mut self,
        turn: u64,
        moment: Moment,
        plan: &Plan,
        work: &Compaction,
    ) -> Result<(), Failure> {
        let requests = plan.summary_requests().len();
        let (before, after) = (plan.estimate.upper, plan.request_estimate.upper);
        if self.is_json {
            let line = json!({"turn": turn, "compacted": work.covers, "reason": work.reason,
                "strategy": work.strategy, "before": before, "after": after, "summary_requests": requests});
            return json::print(self.out, &line);
        }
        let strategy = json!(work.strategy);
        let reason = json!(work.reason);
        let text = format!(
            "           {} {}: {} rows become a summary ({}, {}), {before} -> at most {after} tokens, \
             {requests} summary request(s)",
            self.paint("33", "compact"),
            when(moment),
            work.covers,
            strategy.as_str().unwrap_or_default(),
            reason.as_str().unwrap_or_default(),
        );
        Ok(writeln!(self.out, "{text}")?)
    }

    fn pruned(&mut self, turn: u64, moment: Moment, plan: &Plan) -> Result<(), Failure> {
        let (before, after) = (plan.estimate.upper, plan.request_estimate.upper);
        if self.is_json {
            let line = json!({"turn": turn, "pruned": plan.marks.len(), "before": before, "after": after});
            return json::print(self.out, &line);
        }
        let text = format!(
            "           {} {}: old tool results are left out, {before} -> {after} tokens",
            self.paint("36", "prune"),
            when(moment)
        );
        Ok(writeln!(self.out, "{text}")?)
    }

    fn closing(&mut self, tally: &Tally, turns: u64, rows: u64) -> Result<(), Failure> {
        let Tally { compactions, pruned, over_hard, largest } = tally;
        if self.is_json {
            let line = json!({"turns": turns, "rows": rows, "compactions": compactions, "prunings": pruned,
                "over_hard_limit": over_hard, "largest_upper": largest});
            return json::print(self.out, &line);
        }
        Ok(writeln!(
            self.out,
            "\n{turns} turns, {rows} rows: {compactions} compactions, {pruned} prunings, largest request {largest} \
             tokens, {over_hard} over the hard limit. All rows are still there."
        )?)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

fn when(moment: Moment) -> &'static str {
    match moment {
        Moment::BeforeSend => "before the send",
        Moment::AfterTools => "after tools",
        Moment::AfterResponse => "after the reply",
        Moment::Manual => "by hand",
        Moment::Overflow => "after a refusal",
    }
}

// ---- what is said: always the same, never twice alike ----

const INGREDIENTS: [&str; 8] =
    ["rye flour", "sea salt", "butter", "dry yeast", "honey", "walnuts", "oat flakes", "malt"];

fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ 0x9e37_79b9).wrapping_mul(0x2545_f491_4f6c_dd1d);
    mixed ^ (mixed >> 29)
}

fn pick(seed: u64) -> &'static str {
    INGREDIENTS.get(mix(seed) as usize % INGREDIENTS.len()).copied().unwrap_or("flour")
}

fn tool_rounds(turn: u64) -> u64 {
    if turn.is_multiple_of(3) { 1 + mix(turn) % 3 } else { 0 }
}

fn question(turn: u64) -> String {
    format!(
        "Order {turn}: we need {} kg of {} by 2026-{:02}-{:02}. Please check recipes/{}.md and never go over {} EUR.",
        2 + mix(turn) % 40,
        pick(turn),
        1 + turn % 12,
        1 + mix(turn + 1) % 28,
        turn * 3 + 1,
        100 + mix(turn + 2) % 900,
    )
}

fn answer(turn: u64) -> String {
    let mut text = format!("For order {turn} I would split the delivery. ");
    for step in 0..4 + mix(turn) % 12 {
        text.push_str(&format!(
            "Batch {step} uses {} grams of {} and rests for {} minutes before it goes into the oven. ",
            50 + mix(turn + step) % 900,
            pick(turn + step),
            10 + mix(step) % 80,
        ));
    }
    text
}

fn file(seed: u64) -> String {
    let mut text = format!("# Recipe {seed}\n");
    for line in 0..20 + mix(seed) % 160 {
        text.push_str(&format!(
            "{line}. {} g {}, {} C\n",
            mix(seed + line) % 1_000,
            pick(line),
            150 + line % 90
        ));
    }
    text
}
