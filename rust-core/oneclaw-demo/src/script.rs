//! What the next model calls get, in place of the demo model's own answer.
//!
//! A step is taken by one model call; lists of models and token counts take none. What token counts get is settled for all
//! of them at once ([`Server::set_counts`](crate::Server::set_counts)). Faults of the way to the model
//! ([`Fault::is_of_the_gateway`]) strike the next call whatever it says. All other steps wait for a call that passes the
//! checks: a request that is refused as too long or as malformed leaves them where they are.

use oneclaw_model::Usage;
use std::collections::VecDeque;
use std::time::Duration;

/// What a model says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reply {
    /// The reasoning before it, where it is shown.
    pub thinking: Option<String>,
    /// The text.
    pub text: String,
    /// The tools it calls, all at once.
    pub calls: Vec<Call>,
}

impl Reply {
    /// A reply that is only text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// A piece of reasoning in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thought {
    /// With its text, where the caller is to see it.
    Shown(String),
    /// Without its text: only a signature or an encrypted form of it.
    Hidden,
    /// Redacted (Anthropic); the other protocols know no such thing and leave the text out.
    Redacted,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments; JSON text, unless a script wants it broken.
    pub arguments: String,
}

/// What one model call gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The demo model's own answer.
    Model,
    /// This text.
    Reply(String),
    /// This reasoning, and then what the other step says.
    Think {
        /// The reasoning.
        thinking: String,
        /// What comes after it.
        then: Box<Step>,
    },
    /// Several pieces of reasoning, and then what the other step says. The first comes before the text, the others between
    /// the text and the calls.
    Thoughts {
        /// The reasoning.
        thoughts: Vec<Thought>,
        /// What comes after it.
        then: Box<Step>,
    },
    /// These calls: name and arguments as JSON text.
    Calls(Vec<(String, String)>),
    /// What the other step says, with this usage reported.
    Usage {
        /// What is reported.
        usage: Usage,
        /// What is said.
        then: Box<Step>,
    },
    /// The demo model's answer, spoilt.
    Fault(Fault),
    /// What the other step says, spoilt.
    Spoilt {
        /// What goes wrong.
        fault: Fault,
        /// What would be said.
        then: Box<Step>,
    },
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The connection is reset once the request was read.
    Refuse,
    /// The connection is closed in order once the request was read, before any answer.
    CloseBeforeHeaders,
    /// The headers of a good answer, and then silence for as long as the caller waits.
    Stall,
    /// The first half of the events, and then silence.
    StallMidway,
    /// The connection breaks in the middle of an event, halfway through the reply.
    CutMidEvent,
    /// A good status and content type over a body that is neither JSON nor anything else.
    Garbage,
    /// A good status, and a page of HTML.
    WrongContentType,
    /// The answer comes byte by byte, with this pause between them.
    Drip(Duration),
    /// Status 429, with the time to wait where one is given.
    TooManyRequests {
        /// The time to wait.
        retry_after: Option<Duration>,
    },
    /// The service has too much to do: 503, or Anthropic's 529.
    Overloaded,
    /// Any other status.
    ServerError(u16),
    /// The first half of the events, and then an error object in the stream.
    ErrorInStream,
    /// The same in the other shape that Responses have for it, the error nested; with the other protocols no different.
    NestedErrorInStream,
    /// The first half of the events, and then `response.failed` (Responses); with the other protocols an error object.
    FailedResponse,
    /// A reply that ends well and says nothing.
    EmptyReply,
    /// The reply breaks off halfway and says that the length was the reason.
    CutByLength,
    /// A call of a tool, whatever was asked and whether tools were offered or not.
    ToolCallInsteadOfSummary,
    /// The window is not enforced: the oldest messages are dropped without a word, and the usage tells the rest.
    SilentTruncation,
    /// The usage is left out.
    NoUsage,
    /// The model, or the filter before it, declines.
    Refusal,
    /// Status 307 to this address.
    Redirect(String),
    /// A good status over a list of numbers that hardly ends: 64 MiB of them.
    Endless,
}

impl Fault {
    /// Whether it strikes before anyone has looked at the request.
    pub fn is_of_the_gateway(&self) -> bool {
        match self {
            Self::Refuse
            | Self::CloseBeforeHeaders
            | Self::Stall
            | Self::Garbage
            | Self::WrongContentType
            | Self::TooManyRequests { .. }
            | Self::Overloaded
            | Self::ServerError(_)
            | Self::Redirect(_)
            | Self::Endless => true,
            Self::StallMidway
            | Self::CutMidEvent
            | Self::Drip(_)
            | Self::ErrorInStream
            | Self::NestedErrorInStream
            | Self::FailedResponse
            | Self::EmptyReply
            | Self::CutByLength
            | Self::ToolCallInsteadOfSummary
            | Self::SilentTruncation
            | Self::NoUsage
            | Self::Refusal => false,
        }
    }
}

/// A step, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Order {
    /// What is said; `None` leaves it to the demo model.
    pub reply: Option<Reply>,
    pub thoughts: Option<Vec<Thought>>,
    pub usage: Option<Usage>,
    /// What goes wrong, the outermost first.
    pub faults: Vec<Fault>,
}

impl From<Step> for Order {
    fn from(step: Step) -> Self {
        let mut order = Self::default();
        let mut step = step;
        // A loop, as a script may nest as deep as it likes.
        loop {
            step = match step {
                Step::Model => return order,
                Step::Reply(text) => {
                    order.reply = Some(Reply::text(text));
                    return order;
                }
                Step::Calls(calls) => {
                    let calls = calls.into_iter().map(|(name, arguments)| Call { name, arguments }).collect();
                    order.reply = Some(Reply { calls, ..Reply::default() });
                    return order;
                }
                Step::Fault(fault) => {
                    order.faults.push(fault);
                    return order;
                }
                Step::Think { thinking, then } => {
                    order.thoughts.get_or_insert(vec![Thought::Shown(thinking)]);
                    *then
                }
                Step::Thoughts { thoughts, then } => {
                    order.thoughts.get_or_insert(thoughts);
                    *then
                }
                Step::Usage { usage, then } => {
                    order.usage.get_or_insert(usage);
                    *then
                }
                Step::Spoilt { fault, then } => {
                    order.faults.push(fault);
                    *then
                }
            };
        }
    }
}

impl Order {
    /// The fault that strikes before the request is looked at.
    pub fn gateway_fault(&self) -> Option<&Fault> {
        self.faults.iter().find(|fault| fault.is_of_the_gateway())
    }

    pub fn has(&self, fault: &Fault) -> bool {
        self.faults.contains(fault)
    }
}

/// The steps that are left.
#[derive(Debug, Default)]
pub(crate) struct Script {
    orders: VecDeque<Order>,
    /// What every request for a summary gets; such requests then leave the steps alone.
    pub summaries: Option<Order>,
    /// What every request for the size of a prompt gets.
    pub counts: Option<Order>,
}

impl Script {
    pub fn push(&mut self, step: Step) {
        self.orders.push_back(step.into());
    }

    /// The fault of the next step, if it strikes without looking.
    pub fn take_gateway_fault(&mut self) -> Option<Fault> {
        let fault = self.orders.front()?.gateway_fault()?.clone();
        self.orders.pop_front();
        Some(fault)
    }

    /// The next step; the demo model where there is none.
    pub fn take(&mut self) -> Order {
        self.orders.pop_front().unwrap_or_default()
    }

    /// The call turned out not to fit: the step waits for the next one.
    pub fn put_back(&mut self, order: Order) {
        if order != Order::default() {
            self.orders.push_front(order);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_taken_apart() {
        let usage = Usage { input: 7, ..Usage::default() };
        let step = Step::Usage {
            usage,
            then: Box::new(Step::Think {
                thinking: "hm".into(),
                then: Box::new(Step::Spoilt {
                    fault: Fault::NoUsage,
                    then: Box::new(Step::Reply("yes".into())),
                }),
            }),
        };
        let order = Order::from(step);
        assert_eq!(order.reply, Some(Reply::text("yes")));
        assert_eq!(order.thoughts, Some(vec![Thought::Shown("hm".into())]));
        assert_eq!(order.usage, Some(usage));
        assert_eq!(order.faults, [Fault::NoUsage]);
    }

    #[test]
    fn only_faults_of_the_gateway_strike_without_looking() {
        let mut script = Script::default();
        script.push(Step::Fault(Fault::NoUsage));
        script.push(Step::Fault(Fault::Overloaded));
        assert_eq!(script.take_gateway_fault(), None);
        let order = script.take();
        assert!(order.has(&Fault::NoUsage));
        script.put_back(order.clone());
        assert_eq!(script.take(), order);
        assert_eq!(script.take_gateway_fault(), Some(Fault::Overloaded));
        assert_eq!(script.take(), Order::default());
    }
}
