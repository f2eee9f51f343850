//! The knobs of the engine as plain data, and the four presets as constants.
//!
//! Decides nothing itself: every field is a number or a choice that some other module obeys. The engine knows no
//! product names; a preset is just a value, and any knob may be changed on top of it.

use crate::truncate::{self, HEAD_CAP_UNITS, SHAPED_CAP_TOKENS, Shape};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;

/// A share between 0 and 1, kept in millionths so that all arithmetic on tokens is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ratio(u32);

impl Ratio {
    const ONE: u64 = 1_000_000;

    /// A whole percentage.
    pub const fn percent(n: u32) -> Self {
        Self(n * 10_000)
    }

    /// That share of `n`, rounded down.
    pub fn of(self, n: u64) -> u64 {
        (u128::from(n) * u128::from(self.0) / u128::from(Self::ONE)) as u64
    }

    /// That share of `n`, rounded up.
    pub fn of_up(self, n: u64) -> u64 {
        (u128::from(n) * u128::from(self.0)).div_ceil(u128::from(Self::ONE)) as u64
    }

    /// The difference, never below zero.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(f64::from(self.0) / 1e6)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(d)?;
        if (0.0..=1.0).contains(&share) {
            Ok(Self((share * 1e6).round() as u32))
        } else {
            Err(serde::de::Error::custom("expected a share between 0 and 1"))
        }
    }
}

/// What the size of a request is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// Fires above `threshold` of the window.
    WindowShare,
    /// Fires at `threshold` − `overhead_reserve` of the hard limit (at least `trigger_floor`).
    HardShare,
    /// Fires above `trigger_tokens` less the output reserve.
    Tokens,
    /// Fires when the last step used more than may be sent.
    Used,
}

/// How much recent conversation a compaction leaves as it is, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    /// The newest `tail_share` of the window.
    WindowShare,
    /// The newest `tail_messages` messages.
    Messages,
    /// The newest `tail_tokens` tokens.
    Tokens,
    /// Nothing but a user message that is still unanswered.
    Empty,
}

/// Where a boundary moves that does not stand on a good edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Snap {
    /// To the next user message, where there is one.
    ForwardToUser,
    /// Back to the start of the tool batch it would tear apart.
    Back,
}

/// What a summary looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Style {
    /// Prose of 200–500 words (RFC-011).
    Prose,
    /// Six fixed sections (sven).
    Structured,
    /// Free narrative (sven).
    Narrative,
    /// Goal … Critical Context, updated when one exists (Nous).
    Checkpoint,
    /// A prompt to continue from (OpenCode).
    Continuation,
}

/// Where the summary stands in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// In the system text, after the agent's own instructions.
    System,
    /// As the assistant's answer to `What did we do so far?`.
    Assistant,
    /// As a user message that the assistant acknowledges.
    Pair,
}

/// How a tool result is shortened before it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultCap {
    /// The first `result_units` UTF-16 units and a marker.
    Head,
    /// By the tool's output shape, `result_tokens` at most.
    Shaped,
}

/// When and which old tool results are left out of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pruning {
    /// Never.
    Off,
    /// When a check fires, outside the tail, if at least `prune_min_gain` of the window is won.
    OnCheck,
    /// Before each call, by age counted in tool batches.
    ByAge,
    /// After each step, beyond the newest `prune_protect` tokens.
    ByBudget,
}

/// What happens when a compaction interrupted a tool loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Afterwards {
    /// The next request simply follows.
    CarryOn,
    /// A synthetic user line asks the model to go on.
    Continue,
}

/// Names separated by commas.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Names(Cow<'static, str>);

impl Names {
    /// Whether `name` is one of them.
    pub fn contain(&self, name: &str) -> bool {
        self.0.split(',').any(|n| n.trim() == name)
    }
}

/// Every knob of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Whether summaries are made without being asked for.
    pub auto: bool,
    /// Whether old tool results are pruned.
    pub prune: bool,
    /// What the size is compared with.
    pub trigger: Trigger,
    /// Share that fires.
    pub threshold: Ratio,
    /// Taken off the threshold so that the summary request itself fits.
    pub overhead_reserve: Ratio,
    /// The share that `HardShare` never falls below.
    pub trigger_floor: Ratio,
    /// Size that fires, before the output reserve is taken off.
    pub trigger_tokens: u64,
    /// Whether the trigger is compared before a send.
    pub check_before_send: bool,
    /// Whether the trigger is compared after each tool batch.
    pub check_after_tools: bool,
    /// Whether the trigger is compared after the response.
    pub check_after_response: bool,
    /// How the tail is measured.
    pub tail: Tail,
    /// Share of the window.
    pub tail_share: Ratio,
    /// Number of messages.
    pub tail_messages: u64,
    /// Number of tokens.
    pub tail_tokens: u64,
    /// Where the boundary moves.
    pub snap: Snap,
    /// The share of the window a compaction should get down to.
    pub target: Ratio,
    /// What the summary looks like.
    pub style: Style,
    /// Where it stands.
    pub placement: Placement,
    /// The longest summary, in tokens.
    pub summary_tokens: u64,
    /// How often a failed summary request is repeated.
    pub summary_retries: u64,
    /// The model that summarises; the chat model if none is named.
    pub summary_model: Option<String>,
    /// How results are shortened for storage.
    pub result_cap: ResultCap,
    /// UTF-16 units kept by `Head`.
    pub result_units: u64,
    /// Tokens kept by `Shaped`.
    pub result_tokens: u64,
    /// Which old results requests leave out.
    pub pruning: Pruning,
    /// Share of the window that `OnCheck` must win.
    pub prune_min_gain: Ratio,
    /// `ByAge`: results longer than this many UTF-16 units are trimmed.
    pub soft_trim_over: u64,
    /// `ByAge`: units kept at the start.
    pub soft_trim_head: u64,
    /// `ByAge`: units kept at the end.
    pub soft_trim_tail: u64,
    /// `ByAge`: batches older than this many are cleared.
    pub clear_after: u64,
    /// `ByAge`: the newest batches that are never touched.
    pub keep_last_results: u64,
    /// `ByBudget`: tokens of newest results that stay.
    pub prune_protect: u64,
    /// `ByBudget`: more than this must be won.
    pub prune_min: u64,
    /// `ByBudget`: the newest user turns that stay.
    pub prune_keep_turns: u64,
    /// Tools whose results are never pruned.
    pub protected_tools: Names,
    /// A tool result above this share of the window is giant: its middle may be left out.
    pub giant_share: Ratio,
    /// Share of the hard limit from which no summary is tried.
    pub emergency: Option<Ratio>,
    /// What follows a compaction inside a tool loop.
    pub afterwards: Afterwards,
    /// The most output ever reserved.
    pub output_cap: u64,
    /// What pinned messages may take of the window, together.
    pub pin_share: Ratio,
    /// Share of the window that must be added before a check that could win nothing is tried again.
    pub retry_gap: Ratio,
}

/// The original app's policy as the specification settles it; the default.
pub const ONECLAW: Policy = Policy {
    auto: true,
    prune: true,
    trigger: Trigger::WindowShare,
    threshold: Ratio::percent(85),
    overhead_reserve: Ratio::percent(10),
    trigger_floor: Ratio::percent(10),
    trigger_tokens: 100_000,
    check_before_send: true,
    check_after_tools: true,
    check_after_response: true,
    tail: Tail::WindowShare,
    tail_share: Ratio::percent(25),
    tail_messages: 6,
    tail_tokens: 20_000,
    snap: Snap::ForwardToUser,
    target: Ratio::percent(50),
    style: Style::Prose,
    placement: Placement::System,
    summary_tokens: 2_048,
    summary_retries: 1,
    summary_model: None,
    result_cap: ResultCap::Head,
    result_units: HEAD_CAP_UNITS as u64,
    result_tokens: SHAPED_CAP_TOKENS as u64,
    pruning: Pruning::OnCheck,
    prune_min_gain: Ratio::percent(10),
    soft_trim_over: 4_000,
    soft_trim_head: 1_500,
    soft_trim_tail: 1_500,
    clear_after: 6,
    keep_last_results: 2,
    prune_protect: 40_000,
    prune_min: 20_000,
    prune_keep_turns: 2,
    protected_tools: Names(Cow::Borrowed("skill")),
    giant_share: Ratio::percent(10),
    emergency: None,
    afterwards: Afterwards::CarryOn,
    output_cap: 32_000,
    pin_share: Ratio::percent(10),
    retry_gap: Ratio::percent(10),
};

/// sven's calibrated budget gate.
pub const SVEN: Policy = Policy {
    trigger: Trigger::HardShare,
    check_after_response: false,
    tail: Tail::Messages,
    snap: Snap::Back,
    style: Style::Structured,
    placement: Placement::Assistant,
    result_cap: ResultCap::Shaped,
    pruning: Pruning::Off,
    emergency: Some(Ratio::percent(95)),
    ..ONECLAW
};

/// Nous 008.1: pruning by age, checkpoints.
pub const NOUS: Policy = Policy {
    trigger: Trigger::Tokens,
    check_after_response: false,
    tail: Tail::Tokens,
    style: Style::Checkpoint,
    placement: Placement::Pair,
    pruning: Pruning::ByAge,
    ..ONECLAW
};

/// OpenCode: pivot after each step, pruning by budget.
pub const OPENCODE: Policy = Policy {
    trigger: Trigger::Used,
    check_before_send: false,
    tail: Tail::Empty,
    style: Style::Continuation,
    placement: Placement::Assistant,
    pruning: Pruning::ByBudget,
    afterwards: Afterwards::Continue,
    ..ONECLAW
};

/// The presets by name.
pub const PRESETS: [(&str, &Policy); 4] =
    [("oneclaw", &ONECLAW), ("sven", &SVEN), ("nous", &NOUS), ("opencode", &OPENCODE)];

impl Default for Policy {
    fn default() -> Self {
        ONECLAW
    }
}

/// Why a policy cannot be what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyFault {
    /// No such preset.
    #[error("unknown preset {name:?}; presets are oneclaw, sven, nous, opencode")]
    UnknownPreset {
        /// The name asked for.
        name: String,
    },
    /// Not `field=value`.
    #[error("{text:?} is not of the form field=value")]
    NotAnAssignment {
        /// What was given.
        text: String,
    },
    /// No such field.
    #[error("unknown field {field:?}; fields are {known}")]
    UnknownField {
        /// The field asked for.
        field: String,
        /// All there are.
        known: String,
    },
    /// The value does not fit the field.
    #[error("field {field}: {value:?} does not fit: {wrong}")]
    BadValue {
        /// The field.
        field: String,
        /// The value given.
        value: String,
        /// What is wrong with it.
        wrong: String,
    },
}

impl Policy {
    /// The preset of that name.
    pub fn preset(name: &str) -> Result<Self, PolicyFault> {
        let found = PRESETS.iter().find(|(n, _)| *n == name);
        found.map(|(_, p)| (*p).clone()).ok_or_else(|| PolicyFault::UnknownPreset { name: name.into() })
    }

    /// The same policy with one knob changed, written `field=value`; `off` empties a knob that may be empty.
    pub fn with(&self, assignment: &str) -> Result<Self, PolicyFault> {
        let Some((field, value)) = assignment.split_once('=').map(|(f, v)| (f.trim(), v.trim())) else {
            return Err(PolicyFault::NotAnAssignment { text: assignment.into() });
        };
        let bad = |wrong: String| PolicyFault::BadValue { field: field.into(), value: value.into(), wrong };
        let serde_json::Value::Object(mut fields) =
            serde_json::to_value(self).map_err(|e| bad(e.to_string()))?
        else {
            return Err(bad("policy is not an object".into()));
        };
        let known = || {
            let mut names: Vec<&str> = fields.keys().map(String::as_str).collect();
            names.sort_unstable();
            names.join(", ")
        };
        if !fields.contains_key(field) {
            return Err(PolicyFault::UnknownField { field: field.into(), known: known() });
        }
        let is_optional = matches!(field, "emergency" | "summary_model");
        let json = if is_optional && value == "off" {
            serde_json::Value::Null
        } else if matches!(field, "summary_model" | "protected_tools") {
            value.into()
        } else {
            serde_json::from_str(value).unwrap_or_else(|_| value.replace('-', "_").into())
        };
        fields.insert(field.into(), json);
        serde_json::from_value(fields.into()).map_err(|e| bad(e.to_string()))
    }

    /// A tool result as it is stored: shortened by its head, or by the tool's output shape.
    pub fn stored<'a>(&self, output: &'a str, shape: Shape) -> Cow<'a, str> {
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        match self.result_cap {
            ResultCap::Head => truncate::head(output, size(self.result_units)),
            ResultCap::Shaped => truncate::shaped(output, shape, size(self.result_tokens)),
        }
    }

    /// Whether the trigger is compared at that moment.
    pub fn compares(&self, moment: crate::plan::Moment) -> bool {
        use crate::plan::Moment;
        match moment {
            Moment::BeforeSend => self.check_before_send,
            Moment::AfterTools => self.check_after_tools,
            Moment::AfterResponse => self.check_after_response,
            Moment::Manual | Moment::Overflow => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_can_be_set_to_the_value_it_has() {
        for (name, policy) in PRESETS {
            let serde_json::Value::Object(fields) = serde_json::to_value(policy).unwrap() else { panic!() };
            for (field, value) in fields {
                let text = match &value {
                    serde_json::Value::Null => "off".to_owned(),
                    serde_json::Value::String(s) => s.clone(),
                    other => other.to_string(),
                };
                assert_eq!(policy.with(&format!("{field}={text}")).as_ref(), Ok(policy), "{name}.{field}");
            }
        }
    }

    #[test]
    fn a_set_knob_changes_that_knob_only() {
        let expected = Policy { tail: Tail::Messages, ..ONECLAW };
        assert_eq!(ONECLAW.with("tail=messages"), Ok(expected));
        assert_eq!(ONECLAW.with("threshold=0.65"), Ok(Policy { threshold: Ratio::percent(65), ..ONECLAW }));
        assert_eq!(SVEN.with("emergency=off"), Ok(Policy { emergency: None, ..SVEN }));
        let model = Policy { summary_model: Some("gpt-4o-mini".into()), ..ONECLAW };
        assert_eq!(ONECLAW.with("summary_model=gpt-4o-mini"), Ok(model));
    }

    #[test]
    fn a_result_is_stored_as_the_policy_says() {
        let lines = "a line of some length\n".repeat(3_000);
        assert_eq!(ONECLAW.stored(&lines, Shape::HeadTail), truncate::head(&lines, 30_000));
        assert_eq!(SVEN.stored(&lines, Shape::HeadTail), truncate::shaped(&lines, Shape::HeadTail, 4_000));
        assert_eq!(SVEN.stored("short", Shape::Generic), "short");
    }

    #[test]
    fn faults_say_what_is_wrong() {
        let fault = |text: &str| ONECLAW.with(text).unwrap_err().to_string();
        assert_eq!(fault("auto"), "\"auto\" is not of the form field=value");
        assert!(fault("thresh=1").starts_with("unknown field \"thresh\"; fields are afterwards, auto, "));
        assert!(fault("threshold=1.5").ends_with("expected a share between 0 and 1"));
        assert!(fault("tail_messages=-1").starts_with("field tail_messages: \"-1\" does not fit"));
        assert_eq!(
            Policy::preset("x").unwrap_err().to_string(),
            "unknown preset \"x\"; presets are oneclaw, sven, nous, opencode"
        );
    }
}
