//! From a request that is in order to the answer: the script's or the demo model's words, cut to length, with the usage.

use crate::ask::{Amount, Ask};
use crate::cache::Share;
use crate::config::{Config, Model};
use crate::model;
use crate::protocol::{Answer, Stop};
use crate::script::{Call, Fault, Order, Reply, Thought};
use crate::subject::Seal;
use crate::window::{Counter, Measure};
use oneclaw_model::Usage;

/// The tool that is called when none was offered.
const SOME_TOOL: &str = "get_current_time";

/// A prompt, measured and looked up.
pub(crate) struct Prompt {
    pub measure: Measure,
    pub share: Share,
}

/// What stands behind all answers.
#[derive(Clone, Copy)]
pub(crate) struct Composer<'a> {
    pub model: &'a Model,
    pub counter: &'a Counter,
    pub config: &'a Config,
    pub seal: Seal,
}

impl Composer<'_> {
    /// The answer to a request.
    pub fn answer(&self, ask: &Ask, order: &Order, prompt: &Prompt, id: String) -> Answer {
        let Self { model, counter, .. } = *self;
        let size = prompt.measure.prompt;
        let in_window = model.window.saturating_sub(size).max(1);
        let most = ask.max_output.unwrap_or(model.max_output);
        let room = most.min(in_window);
        let mut reply = order.reply.clone().unwrap_or_else(|| model::reply(ask, room, counter));
        let mut thoughts = thoughts(ask, order, reply.thinking.take());
        if order.has(&Fault::ToolCallInsteadOfSummary) {
            let name = ask.tools.first().map_or(SOME_TOOL, |tool| &tool.name).to_owned();
            reply = Reply { calls: vec![Call { name, arguments: "{}".into() }], ..Reply::default() };
            thoughts.clear();
        }
        let hidden = self.unseen(ask.amount).min(room);
        let (mut reply, mut stop) = cut(&mut thoughts, reply, room - hidden, counter);
        if stop == Stop::Length && !ask.reserves_output && in_window < most {
            stop = Stop::Window;
        }
        let mut rest = None;
        if ask.continues && counter.count(&reply.text) > self.config.continue_after {
            let head = counter.cut(&reply.text, self.config.continue_after).to_owned();
            rest = reply.text.strip_prefix(&head).map(str::to_owned);
            (reply.text, stop) = (head, Stop::Continuation);
        }
        if order.has(&Fault::CutByLength) {
            let half = reply.text.chars().count() / 2;
            reply = Reply { text: reply.text.chars().take(half).collect(), calls: vec![], ..reply };
            stop = Stop::Length;
        }
        if order.has(&Fault::EmptyReply) || order.has(&Fault::Refusal) {
            reply = Reply::default();
            thoughts.clear();
            stop = if order.has(&Fault::Refusal) { Stop::Refused } else { Stop::End };
        }
        let shown: Vec<&str> = thoughts.iter().filter_map(text_of).collect();
        reply.thinking = (!shown.is_empty()).then(|| shown.concat());
        let reasoning = hidden + shown.iter().map(|text| counter.count(text)).sum::<u64>();
        let calls: u64 = reply.calls.iter().map(|call| cost(call, counter)).sum();
        let usage = Usage {
            input: size.saturating_sub(prompt.share.read).saturating_sub(prompt.share.written),
            cache_read: prompt.share.read,
            cache_write: prompt.share.written,
            output: reasoning + counter.count(&reply.text) + calls,
            reasoning,
        };
        let usage = (!order.has(&Fault::NoUsage)).then(|| order.usage.unwrap_or(usage));
        let model = model.id.clone();
        Answer { id, model, thoughts, reply, stop, usage, rest, continuation: None, seal: self.seal }
    }

    /// What is used up out of sight.
    fn unseen(&self, amount: Amount) -> u64 {
        match amount {
            Amount::Nothing => 0,
            Amount::Little => self.config.reasoning_tokens / 10,
            Amount::Usual => self.config.reasoning_tokens,
        }
    }
}

/// The reasoning in the reply: the script's, the demo model's, or what a model that reasons leaves behind without text.
fn thoughts(ask: &Ask, order: &Order, own: Option<String>) -> Vec<Thought> {
    let reasons = ask.style.is_known && ask.amount != Amount::Nothing;
    let thoughts = match (&order.thoughts, own) {
        (Some(thoughts), _) => thoughts.clone(),
        (None, Some(text)) => vec![Thought::Shown(text)],
        (None, None) if reasons => vec![Thought::Hidden],
        (None, None) => vec![],
    };
    let hidden = |thought| match thought {
        Thought::Shown(_) if ask.hides_thoughts => Thought::Hidden,
        thought => thought,
    };
    thoughts.into_iter().map(hidden).collect()
}

fn text_of(thought: &Thought) -> Option<&str> {
    match thought {
        Thought::Shown(text) => Some(text),
        Thought::Hidden | Thought::Redacted => None,
    }
}

/// As much of a reply as has room: reasoning first, then the text, then whole calls.
fn cut(thoughts: &mut [Thought], reply: Reply, room: u64, counter: &Counter) -> (Reply, Stop) {
    let mut left = room;
    let mut is_cut = false;
    let mut fit = |text: &str| {
        if is_cut {
            return String::new();
        }
        let head = counter.cut(text, left);
        is_cut = head.len() < text.len();
        left = left.saturating_sub(counter.count(head));
        head.to_owned()
    };
    for thought in thoughts {
        if let Thought::Shown(text) = thought {
            *text = fit(text);
        }
    }
    let text = fit(&reply.text);
    let mut calls = Vec::new();
    for call in reply.calls {
        let cost = cost(&call, counter);
        if is_cut || cost > left {
            is_cut = true;
        } else {
            left -= cost;
            calls.push(call);
        }
    }
    let stop = match (is_cut, calls.is_empty()) {
        (true, _) => Stop::Length,
        (false, true) => Stop::End,
        (false, false) => Stop::Calls,
    };
    (Reply { thinking: None, text, calls }, stop)
}

fn cost(call: &Call, counter: &Counter) -> u64 {
    counter.count(&call.name) + counter.count(&call.arguments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::Compact;
    use std::sync::Arc;

    fn answered(order: &Order, max_output: u64, model: &str) -> Answer {
        // o3-mini stands for a model that reasons.
        let amount = if model == "o3-mini" { Amount::Usual } else { Amount::Nothing };
        let ask = Ask { max_output: Some(max_output), amount, reserves_output: true, ..Ask::default() };
        let measure = Measure { segments: vec![], prompt: 100, tools: 0 };
        let prompt = Prompt { measure, share: Share { read: 30, written: 20 } };
        let model = Model { id: model.into(), window: 1_000, max_output: 500 };
        let (counter, config) = (Counter::new(Arc::new(Compact)), Config::default());
        let composer = Composer { model: &model, counter: &counter, config: &config, seal: Seal::new(0) };
        composer.answer(&ask, order, &prompt, "1".into())
    }

    fn says(reply: Reply, faults: &[Fault]) -> Order {
        Order { reply: Some(reply), faults: faults.to_vec(), ..Order::default() }
    }

    #[test]
    fn replies_are_cut_to_length() {
        let order = says(Reply::text("one two three"), &[]);
        let whole = answered(&order, 3, "demo");
        assert_eq!((whole.reply.text.as_str(), whole.stop), ("one two three", Stop::End));
        let cut = answered(&order, 2, "demo");
        assert_eq!((cut.reply.text.as_str(), cut.stop), ("one two", Stop::Length));
        assert_eq!(
            cut.usage,
            Some(Usage { input: 50, cache_read: 30, cache_write: 20, output: 2, reasoning: 0 })
        );
    }

    #[test]
    fn a_reasoning_model_may_have_no_room_to_speak() {
        let order = says(Reply::text("one two three"), &[]);
        let silent = answered(&order, 64, "o3-mini");
        assert_eq!((silent.reply.text.as_str(), silent.stop), ("", Stop::Length));
        assert_eq!(silent.usage.map(|u| (u.output, u.reasoning)), Some((64, 64)));
        assert_eq!(answered(&order, 67, "o3-mini").stop, Stop::End);
    }

    #[test]
    fn calls_stay_whole_or_go() {
        let call = |name: &str| Call { name: name.into(), arguments: "{}".into() };
        let reply = Reply { calls: vec![call("a"), call("b")], ..Reply::default() };
        let all = answered(&says(reply.clone(), &[]), 4, "demo");
        assert_eq!((all.reply.calls.len(), all.stop), (2, Stop::Calls));
        let some = answered(&says(reply, &[]), 3, "demo");
        assert_eq!((some.reply.calls.len(), some.stop), (1, Stop::Length));
    }

    #[test]
    fn faults_of_the_reply() {
        let of = |fault: Fault| answered(&says(Reply::text("one two"), &[fault]), 100, "demo");
        assert_eq!((of(Fault::EmptyReply).reply, of(Fault::EmptyReply).stop), (Reply::default(), Stop::End));
        assert_eq!(
            (of(Fault::CutByLength).reply.text.as_str(), of(Fault::CutByLength).stop),
            ("one", Stop::Length)
        );
        assert_eq!(of(Fault::ToolCallInsteadOfSummary).reply.calls.len(), 1);
        assert_eq!(of(Fault::NoUsage).usage, None);
        assert_eq!(of(Fault::Refusal).stop, Stop::Refused);
    }
}
