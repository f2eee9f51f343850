//! How one model at one service is spoken to: what the catalogue says of it, what refusals taught, what the user wants.
//!
//! Decides the dialect. What each dialect makes of the rest is decided there.

use crate::{Endpoint, Mode, reasoning};
use oneclaw_catalogue::{Ability, Facts, Reasoning, ThinkingType, Vendor, find};
use oneclaw_model::{Dialect, Effort};
use serde::{Deserialize, Serialize};

/// How one model at one service is spoken to.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The service's name for the model.
    pub model: String,
    /// Whose service it is.
    pub vendor: Vendor,
    /// What the catalogue says of the model.
    pub facts: Option<Facts>,
    /// What refusals taught.
    pub learnt: Adjustments,
    /// How much it is to reason; `None` leaves that to the model. Texts such as summaries are always asked for with the
    /// least there is.
    pub effort: Option<Effort>,
    /// A name of the conversation that stays the same, for services that keep caches by it.
    pub conversation: Option<String>,
    /// Whether the service's list says that it sees pictures; `None` where it does not say.
    pub listed_sees: Option<bool>,
    /// The most output tokens that may be asked for, reasoning included: what the window leaves. `None` where unknown.
    pub most_output: Option<u64>,
}

impl Profile {
    /// What the catalogue says of a model at a service.
    pub fn of(endpoint: &Endpoint, model: &str) -> Self {
        let vendor = Vendor::of(endpoint.kind, &endpoint.base_url);
        Self {
            model: model.to_owned(),
            vendor,
            facts: find(vendor, model),
            learnt: Adjustments::default(),
            effort: None,
            conversation: None,
            listed_sees: None,
            most_output: None,
        }
    }

    /// How it is spoken to: as the service has said, as the catalogue says, or as its kind of service usually is.
    pub fn dialect(&self, endpoint: &Endpoint) -> Dialect {
        let usual = Dialect::usual(endpoint.kind);
        let known = self.learnt.dialect.or(self.facts.as_ref().map(|facts| facts.dialect));
        known.filter(|dialect| dialect.kind() == endpoint.kind).unwrap_or(usual)
    }

    /// Whether it is sent pictures: unless a refusal, the service's list or the catalogue says that it does not see them.
    pub fn sees(&self) -> bool {
        let in_catalogue = self.facts.as_ref().map(|facts| facts.can(Ability::Pictures));
        !self.learnt.no_pictures && self.listed_sees.or(in_catalogue).unwrap_or(true)
    }

    /// Output tokens that reasoning may take beside a text such as a summary, however little it is told to do.
    pub fn reasoning_room(&self) -> u64 {
        reasoning::room(self, Mode::Complete, reasoning::effort(self, Mode::Complete))
    }

    /// How it reasons, as far as that is known.
    pub fn reasoning(&self) -> Option<&Reasoning> {
        self.facts.as_ref()?.reasoning.as_ref()
    }
}

/// What refusals taught about how a model at a service is spoken to. Kept with the model, so that a refusal does not come
/// twice.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Adjustments {
    /// The dialect it wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
    /// The efforts it takes; empty where it takes none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub efforts: Option<Vec<Effort>>,
    /// The values of `thinking.type` it takes; empty where it takes none at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_types: Option<Vec<ThinkingType>>,
    /// The name of the output limit in chat completions: `max_completion_tokens` if true, `max_tokens` if false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<bool>,
    /// Whether function tools want `reasoning_effort: none` beside them.
    #[serde(skip_serializing_if = "is_false")]
    pub tools_want_no_effort: bool,
    /// Whether it gives no summaries of its reasoning (OpenAI, to organisations that have not shown who they are).
    #[serde(skip_serializing_if = "is_false")]
    pub no_summary: bool,
    /// Whether the reasoning of every reply with calls has to go back.
    #[serde(skip_serializing_if = "is_false")]
    pub wants_reasoning_back: bool,
    /// Whether calls and their results carry ids (Gemini).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_ids: Option<bool>,
    /// Whether tools are declared with a plain JSON schema (Gemini).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<bool>,
    /// Whether it takes no pictures.
    #[serde(skip_serializing_if = "is_false")]
    pub no_pictures: bool,
    /// Whether it takes no tools.
    #[serde(skip_serializing_if = "is_false")]
    pub no_tools: bool,
    /// Output tokens that reasoning used up in a text that should have had none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_room: Option<u64>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// What of a request a model or service does not take, as far as something else can be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsupported {
    /// The dialect; it speaks this one.
    Dialect(Dialect),
    /// Function tools beside reasoning.
    ToolsWithEffort,
    /// The effort; it takes these, none at all if empty.
    Effort(Vec<Effort>),
    /// Summaries of reasoning.
    Summary,
    /// The value of `thinking.type`; it takes these, none at all if empty.
    ThinkingType(Vec<ThinkingType>),
    /// Reasoning that went back: it is bound to another conversation, changed, or not its own.
    Replay,
    /// That reasoning was left out of a reply with calls.
    ReasoningMissing,
    /// The name of the output limit; it wants `max_completion_tokens` if true, `max_tokens` if false.
    LimitName(bool),
    /// Ids of calls where there should be none, or none where there should be some.
    CallIds,
    /// A plain JSON schema.
    JsonSchema,
    /// Pictures.
    Pictures,
    /// Tools.
    Tools,
}

impl Adjustments {
    /// What is tried after a refusal; `None` where it teaches nothing new, so that trying again would end the same way.
    /// [`Unsupported::Replay`] is a matter of the conversation, not of the model: the caller leaves the reasoning out.
    pub fn after(&self, refused: &Unsupported) -> Option<Self> {
        let mut next = self.clone();
        match refused {
            Unsupported::Dialect(dialect) => next.dialect = Some(*dialect),
            Unsupported::ToolsWithEffort => next.tools_want_no_effort = true,
            Unsupported::Effort(efforts) => next.efforts = Some(efforts.clone()),
            Unsupported::Summary => next.no_summary = true,
            Unsupported::ThinkingType(types) => next.thinking_types = Some(types.clone()),
            Unsupported::Replay => {}
            Unsupported::ReasoningMissing => next.wants_reasoning_back = true,
            Unsupported::LimitName(long) => next.max_completion_tokens = Some(*long),
            Unsupported::CallIds => next.call_ids = Some(!next.call_ids.unwrap_or(true)),
            Unsupported::JsonSchema => next.json_schema = Some(false),
            Unsupported::Pictures => next.no_pictures = true,
            Unsupported::Tools => next.no_tools = true,
        }
        // Tools only without reasoning, and no way to do without it: then without tools.
        let cannot_do_without = next.efforts.as_ref().is_some_and(|efforts| !efforts.contains(&Effort::None));
        if next.tools_want_no_effort && cannot_do_without {
            next.tools_want_no_effort = false;
            next.no_tools = true;
        }
        (next != *self).then_some(next)
    }

    /// What is kept in the file. That a server takes no tools or pictures may be a matter of how it was started, so it
    /// counts while the conversation is open only.
    pub fn lasting(&self) -> Self {
        Self { no_tools: false, no_pictures: false, ..self.clone() }
    }
}
