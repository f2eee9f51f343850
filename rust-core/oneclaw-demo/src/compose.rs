//! From a request that is in order to the answer: the script's or the demo model's words, cut to length, with the usage.

use crate::ask::Ask;
use crate::cache::Share;
use crate::config::Model;
use crate::model;
use crate::protocol::{Answer, Stop, is_reasoning_model};
use crate::script::{Call, Fault, Order, Reply};
use crate::window::{Counter, Measure};
use oneclaw_model::Usage;

/// What a reasoning model uses up out of sight.
const HIDDEN_REASONING: u64 = 64;
/// The tool that is called when none was offered.
const SOME_TOOL: &str = "get_current_time";

/// A prompt, measured and looked up.
pub(crate) struct Prompt {
    pub measure: Measure,
    pub share: Share,
}

/// The answer to a request.
pub(crate) fn answer(
    ask: &Ask,
    order: &Order,
    prompt: &Prompt,
    model: &Model,
    counter: &Counter,
    id: String,
) -> Answer {
    let size = prompt.measure.prompt;
    let in_window = model.window.saturating_sub(size);
    let room = ask.max_output.unwrap_or(model.max_output).min(in_window.max(1));
    let mut reply = order.reply.clone().unwrap_or_else(|| model::reply(ask, room, counter));
    if order.thinking.is_some() {
        reply.thinking = order.thinking.clone();
    }
    if order.has(&Fault::ToolCallInsteadOfSummary) {
        let name = ask.tools.first().map_or(SOME_TOOL, |tool| &tool.name).to_owned();
        reply = Reply { calls: vec![Call { name, arguments: "{}".into() }], ..Reply::default() };
    }
    let reasons = is_reasoning_model(&model.id) && !ask.is_reasoning_off;
    let hidden = if reasons { HIDDEN_REASONING.min(room) } else { 0 };
    let (mut reply, mut stop) = cut(reply, room - hidden, counter);
    if order.has(&Fault::CutByLength) {
        let half = reply.text.chars().count() / 2;
        reply = Reply { text: reply.text.chars().take(half).collect(), calls: vec![], ..reply };
        stop = Stop::Length;
    }
    if order.has(&Fault::EmptyReply) {
        (reply, stop) = (Reply::default(), Stop::End);
    }
    if order.has(&Fault::Refusal) {
        (reply, stop) = (Reply::default(), Stop::Refused);
    }
    let reasoning = hidden + reply.thinking.as_ref().map_or(0, |text| counter.count(text));
    let calls: u64 = reply.calls.iter().map(|call| cost(call, counter)).sum();
    let usage = Usage {
        input: size.saturating_sub(prompt.share.read).saturating_sub(prompt.share.written),
        cache_read: prompt.share.read,
        cache_write: prompt.share.written,
        output: reasoning + counter.count(&reply.text) + calls,
        reasoning,
    };
    let usage = (!order.has(&Fault::NoUsage)).then(|| order.usage.unwrap_or(usage));
    Answer { id, model: model.id.clone(), reply, stop, usage }
}

/// As much of a reply as has room: reasoning first, then the text, then whole calls.
fn cut(reply: Reply, room: u64, counter: &Counter) -> (Reply, Stop) {
    let Reply { thinking, text, calls } = reply;
    let mut left = room;
    let mut is_cut = false;
    let mut fit = |text: String| {
        if is_cut {
            return String::new();
        }
        let head = counter.cut(&text, left);
        is_cut = head.len() < text.len();
        left = left.saturating_sub(counter.count(head));
        head.to_owned()
    };
    let thinking = thinking.map(&mut fit);
    let text = fit(text);
    let mut kept = Vec::new();
    for call in calls {
        let cost = cost(&call, counter);
        if is_cut || cost > left {
            is_cut = true;
        } else {
            left -= cost;
            kept.push(call);
        }
    }
    let stop = match (is_cut, kept.is_empty()) {
        (true, _) => Stop::Length,
        (false, true) => Stop::End,
        (false, false) => Stop::Calls,
    };
    (Reply { thinking, text, calls: kept }, stop)
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
        let ask = Ask { max_output: Some(max_output), ..Ask::default() };
        let measure = Measure { segments: vec![], prompt: 100, tools: 0 };
        let prompt = Prompt { measure, share: Share { read: 30, written: 20 } };
        let model = Model { id: model.into(), window: 1_000, max_output: 500 };
        answer(&ask, order, &prompt, &model, &Counter::new(Arc::new(Compact)), "1".into())
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
