//! `oneclaw plan`

use crate::args::{MomentName, PlanArgs};
use crate::models::{known_model, maker};
use crate::{Failure, input, json};
use oneclaw_context::assemble::Parts;
use oneclaw_context::conversation::{Conversation, Fixed};
use oneclaw_context::estimate::{Calibration, Estimate, EstimatorState, Tariff};
use oneclaw_context::plan::{Decision, Inputs, Moment, Plan, Reason, Summariser};
use oneclaw_model::{ModelLimits, Piece, PresetModel, Request, RequestMessage};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;

pub fn run(args: &PlanArgs, compact: bool, out: &mut impl Write) -> Result<(), Failure> {
    let policy = args.policy.policy().map_err(|e| Failure::Usage(e.to_string()))?;
    let system = args.system.as_deref().map(input::file).transpose()?;
    let tools = args.tools.as_deref().map(input::tools).transpose()?.unwrap_or_default();
    let transcript = input::transcript()?;
    let conversation =
        Conversation::of_transcript(transcript, args.model.as_deref(), Fixed::new(system, tools));
    let known = args.model.as_deref().map(limits_of).unwrap_or_default();
    // Who names the catalogue's window means that model, with its limit on the prompt.
    let is_as_catalogued = known.window == Some(args.window);
    let limits = ModelLimits {
        window: Some(args.window),
        input_limit: args.input_limit.or(known.input_limit.filter(|_| is_as_catalogued)),
        max_output: args.max_output.filter(|n| *n > 0).or(known.max_output),
    };
    let moment = match args.moment {
        MomentName::BeforeSend => Moment::BeforeSend,
        MomentName::AfterTools => Moment::AfterTools,
        MomentName::AfterResponse => Moment::AfterResponse,
    };
    let state = EstimatorState::default();
    let summariser = policy.summary_model.as_deref().map(summariser).transpose()?;
    let inputs = Inputs {
        summariser: summariser.as_ref(),
        ..Inputs::new(&conversation, &limits, &policy, &state, moment)
    };
    let plan = oneclaw_context::plan(&inputs);
    let printed = Printed::of(&plan);
    let text = if compact { json::line(&printed) } else { json::lines(&printed) };
    Ok(writeln!(out, "{}", text?)?)
}

/// Another model that summarises; its limits must be known.
fn summariser(id: &str) -> Result<Summariser, Failure> {
    let limits = limits_of(id);
    if limits.window.is_none() {
        return Err(Failure::Usage(format!(
            "field summary_model: the window of {id:?} is unknown; `oneclaw models --known` lists models that are known"
        )));
    }
    Ok(Summariser { limits, tariff: Tariff::of(Some(&id.into()), maker(id), Calibration::default()) })
}

/// What a preset model or one of the catalogue can take and give.
fn limits_of(id: &str) -> ModelLimits {
    let known = known_model(id).map(|facts| facts.limits).unwrap_or_default();
    match PresetModel::find(id) {
        Some(preset) => ModelLimits {
            window: Some(preset.window),
            input_limit: known.input_limit.filter(|_| known.window == Some(preset.window)),
            max_output: Some(preset.max_output),
        },
        None => known,
    }
}

/// A plan as it is printed.
#[derive(Serialize)]
struct Printed {
    decision: &'static str,
    reason: Value,
    strategy: Value,
    estimate: Estimate,
    limits: Limits,
    boundary: Option<String>,
    tail: Vec<String>,
    parts: Parts,
    request: Value,
    summary_requests: Vec<Value>,
    irreducible: Option<Value>,
}

#[derive(Serialize)]
struct Limits {
    window: Option<u64>,
    hard: Option<u64>,
    trigger: Option<u64>,
}

impl Printed {
    fn of(plan: &Plan) -> Self {
        let (decision, reason, strategy, irreducible) = match &plan.decision {
            Decision::Send(reason) => ("send", json!(reason), Value::Null, None),
            Decision::Compact(c) => ("compact", json!(c.reason), json!(c.strategy), None),
            Decision::Irreducible { culprit, over, .. } => (
                "irreducible",
                json!(Reason::HardLimit),
                Value::Null,
                Some(json!({"culprit": culprit, "over": over})),
            ),
        };
        Self {
            decision,
            reason,
            strategy,
            estimate: plan.estimate,
            limits: Limits {
                window: plan.budget.and_then(|b| b.window),
                hard: plan.budget.map(|b| b.hard),
                trigger: plan.budget.map(|b| b.trigger),
            },
            boundary: plan.boundary.as_ref().map(ToString::to_string),
            tail: plan.tail.iter().map(ToString::to_string).collect(),
            parts: plan.parts,
            request: request(&plan.request, plan.request_estimate.upper),
            summary_requests: plan.summary_requests().iter().map(|s| request(&s.request, s.upper)).collect(),
            irreducible,
        }
    }
}

fn request(request: &Request, upper: u64) -> Value {
    json!({
        "system": request.system,
        "messages": request.messages.iter().map(message).collect::<Vec<_>>(),
        "max_output": request.max_output,
        "upper": upper,
    })
}

fn message(message: &RequestMessage) -> Value {
    let mut value = json!({"role": message.role(), "content": message.text()});
    let mut put = |name: &str, field: Value| {
        if let Value::Object(fields) = &mut value {
            fields.insert(name.into(), field);
        }
    };
    match message {
        RequestMessage::User { attachments, .. } => {
            if !attachments.is_empty() {
                put("attachments", json!(attachments));
            }
        }
        RequestMessage::Assistant { calls, trace, .. } => {
            let thinking: Vec<&str> = trace
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Thinking(thinking) => Some(thinking.texts()[0]),
                    Piece::Text { .. } | Piece::Call => None,
                })
                .collect();
            if !thinking.is_empty() {
                put("thinking", thinking.into());
            }
            if !calls.is_empty() {
                let call =
                    |c: &oneclaw_model::Call| json!({"id": c.id, "name": c.name, "arguments": c.arguments});
                put("tool_calls", calls.iter().map(call).collect());
            }
        }
        RequestMessage::ToolResult { call, attachments, .. } => {
            put("tool_call_id", json!(call));
            if !attachments.is_empty() {
                put("attachments", json!(attachments));
            }
        }
    }
    value
}
