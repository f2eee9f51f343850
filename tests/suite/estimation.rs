//! Estimates of whole requests against real tokenizers: by content, calibrated, and from a provider's own count.

use crate::estimation_text::{CLASSES, corpus, o200k};
use oneclaw_context::assemble::{Draft, Summary};
use oneclaw_context::conversation::{Conversation, Epoch};
use oneclaw_context::estimate::{Anchor, Calibration, Estimate, EstimatorState, MeasuredRow, Tariff};
use oneclaw_context::plan::{Decision, Moment};
use oneclaw_context::policy::{ONECLAW, Placement};
use oneclaw_context::prune::Marks;
use oneclaw_context::{Inputs, plan};
use oneclaw_model::{ModelLimits, Request, RequestMessage, Usage};
use oneclaw_tests::{Chat, plan_at, window, words};

/// The size OpenAI would report: every text by the tokenizer, three tokens around each message, three to start.
pub fn truth(request: &Request) -> u64 {
    truth_by(request, o200k)
}

/// The same by another tokenizer.
pub fn truth_by(request: &Request, count: impl Fn(&str) -> u64) -> u64 {
    let mut sum = 3 + request.system.as_deref().map_or(0, |s| count(s) + 4);
    for tool in &request.tools {
        sum += count(&tool.name) + count(&tool.description) + count(&tool.parameters.to_string()) + 7;
    }
    for message in &request.messages {
        sum += 4 + count(message.text());
        if let RequestMessage::Assistant { calls, .. } = message {
            sum += calls.iter().map(|c| count(&c.name) + count(&c.arguments) + 8).sum::<u64>();
        }
    }
    sum
}

/// The pieces of a class as a chat on gpt-4o, with a system text and a tool.
fn chat(class: &str, piece: usize) -> Vec<Conversation> {
    let text: Vec<char> = corpus(class).chars().collect();
    let mut chat = Chat::new().model("gpt-4o").system("You answer briefly and truthfully.").tool("read_file");
    let mut all = Vec::new();
    for (index, piece) in text.chunks(piece).enumerate() {
        let piece: String = piece.iter().collect();
        chat = match index % 4 {
            0 | 2 => chat.user(piece),
            1 => chat.batch(&format!("c{index}"), "read_file", piece),
            _ => chat.reply(piece),
        };
        all.push(chat.clone().conversation());
    }
    all
}

fn planned(conversation: &Conversation, state: &EstimatorState) -> (Request, Estimate) {
    let limits = window(1_000_000);
    let plan = plan(&Inputs::new(conversation, &limits, &ONECLAW, state, Moment::BeforeSend));
    (plan.request, plan.estimate)
}

#[test]
fn by_content_the_upper_size_is_never_below_the_truth() {
    for class in CLASSES {
        for conversation in chat(class, 300) {
            let (request, estimate) = planned(&conversation, &EstimatorState::default());
            let truth = truth(&request);
            assert!(truth <= estimate.upper, "{class}: {truth} > {estimate:?}");
        }
    }
}

#[test]
fn from_an_anchor_the_next_request_is_predicted_within_two_percent() {
    const CLOSE: f64 = 0.02;
    let (mut all, mut close) = (0, 0);
    for class in CLASSES {
        let mut calibration = Calibration::default();
        let mut errors = Vec::new();
        for pair in chat(class, 120).windows(2) {
            let (before, by_content) = planned(&pair[0], &EstimatorState::default());
            let prompt = truth(&before);
            // The report also teaches how this model counts this kind of content.
            calibration = calibration.after(prompt, by_content.expected);
            let anchor = Some(Anchor::new(&before, pair[0].model.as_ref(), prompt));
            let (after, estimate) = planned(&pair[1], &EstimatorState { calibration, anchor });
            let truth = truth(&after);
            assert!(truth <= estimate.upper, "{class}: {truth} > {estimate:?}");
            if (truth - prompt) * 5 <= truth {
                errors.push(estimate.expected.abs_diff(truth) as f64 / truth as f64);
            }
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        assert!(errors.len() >= 5 && mean <= CLOSE, "{class}: mean {mean} of {} predictions", errors.len());
        all += errors.len();
        close += errors.iter().filter(|e| **e <= CLOSE).count();
    }
    // Every class on average, and 49 of 50 single requests; the rest are a sentence or two of unusual density.
    assert!(close * 50 >= all * 49, "{close} of {all}");
}

#[test]
fn an_anchor_is_void_after_any_change_of_what_it_measured() {
    let base = Chat::new().model("gpt-4o").system("Be kind.").tool("read_file");
    let conversation = base.clone().user(words(50)).reply(words(50)).user("next").conversation();
    let (request, by_content) = planned(&conversation, &EstimatorState::default());
    let anchor = Some(Anchor::new(&request, conversation.model.as_ref(), 1_234));
    let state = EstimatorState { anchor, ..EstimatorState::default() };
    assert_eq!(planned(&conversation, &state).1, Estimate { expected: 1_234, upper: 1_234 });

    let other_model = Conversation { model: Some("gpt-4-turbo".into()), ..conversation.clone() };
    let other_tools = Chat::new().model("gpt-4o").system("Be kind.").tool("write_file");
    let other_tools = other_tools.user(words(50)).reply(words(50)).user("next").conversation();
    let other_system = Chat::new().model("gpt-4o").system("Be brief.").tool("read_file");
    let other_system = other_system.user(words(50)).reply(words(50)).user("next").conversation();
    let epoch = Epoch { summary: "They met.".into(), tail_rows: Some(1), auto_continue: None };
    let compacted = conversation.clone().compacted(2, epoch, None);
    for changed in [&other_model, &other_tools, &other_system, &compacted] {
        assert_eq!(planned(changed, &state).1, planned(changed, &EstimatorState::default()).1);
    }
    assert_ne!(by_content.upper, 1_234);
}

#[test]
fn usage_far_above_the_rows_is_a_floor_for_the_same_model_and_epoch() {
    let usage = Usage { input: 3_000, cache_read: 500, cache_write: 400, output: 100, reasoning: 0 };
    let chat = Chat::new().user("a").reply_with_usage("b", usage).user("c");
    let conversation = chat.conversation();
    let plain = planned(&conversation, &EstimatorState::default()).1;
    let tariff = Tariff::of(None, None, Calibration::default());
    let later = tariff.total(conversation.rows[2].cost(&tariff));
    assert_eq!(plain.upper, 4_000 + later.upper);
    assert_eq!(plain.expected, 4_000 + later.expected);

    let rows = |conversation: &Conversation| -> Estimate {
        tariff.total(conversation.rows.iter().map(|row| row.cost(&tariff)).sum())
    };
    let newer_epoch = Epoch { summary: "S".into(), tail_rows: Some(2), auto_continue: None };
    let unknown_epoch = Epoch { tail_rows: None, ..newer_epoch.clone() };
    for epoch in [newer_epoch, unknown_epoch] {
        let compacted = Conversation { epoch: Some(epoch), ..conversation.clone() };
        let estimate = planned(&compacted, &EstimatorState::default()).1;
        assert!(estimate.upper < rows(&compacted).upper + 100, "{estimate:?}");
    }
    let older_epoch = Epoch { summary: "S".into(), tail_rows: Some(1), auto_continue: None };
    let compacted = Conversation { epoch: Some(older_epoch), ..conversation };
    assert!(planned(&compacted, &EstimatorState::default()).1.upper >= 4_000);
}

#[test]
fn reports_of_a_denser_model_raise_what_is_decided_on() {
    let conversation = Chat::new().model("m").user(words(4_000)).reply("ok").user("next").conversation();
    let at = |calibration| {
        let state = EstimatorState { calibration, anchor: None };
        planned(&conversation, &state).1
    };
    let plain = at(Calibration::default());
    let dense = at(Calibration::default().after(plain.expected * 2, plain.expected));
    let sparse = at(Calibration::default().after(plain.expected / 2, plain.expected));
    assert!(dense.expected > plain.expected && dense.upper > plain.upper);
    assert!(sparse.expected < plain.expected && sparse.upper == plain.upper, "upper is only ever raised");
}

#[test]
fn counted_is_what_is_sent() {
    let tariff = Tariff::of(None, None, Calibration::default());
    let size = |conversation: &Conversation| planned(conversation, &EstimatorState::default()).1.upper;
    let plain = Chat::new().user("question").reply("answer");
    let base = size(&plain.clone().conversation());
    assert_eq!(size(&plain.clone().error(&words(500)).note(&words(500)).conversation()), base, "never sent");
    assert!(size(&plain.clone().system(&words(100)).conversation()) > base + 90);
    assert!(size(&plain.clone().tool("read_file").conversation()) > base + 10);
    assert!(size(&plain.clone().user_with_image("look", "a.png").conversation()) > base + 700);
    // Reasoning counts only while it is replayed: signed, of this model, in the open turn.
    let thought = words(300);
    let open = Chat::new().model("m").user("q").signed_reply("m", "a", &thought);
    let with = size(&open.clone().conversation());
    assert!(with > 300);
    assert!(size(&open.user("next").conversation()) < 100);
    let foreign = Chat::new().model("m").user("q").signed_reply("other", "a", &thought).conversation();
    assert!(size(&foreign) < 100);
    assert!(tariff.upper_text(&thought) > 300);
}

#[test]
fn a_session_without_a_known_window_is_sent_as_it_is() {
    let conversation = Chat::new().user(words(50_000)).conversation();
    for limits in [ModelLimits::default(), window(0)] {
        let plan = plan_at(&conversation, &limits, &ONECLAW, Moment::BeforeSend);
        assert!(matches!(plan.decision, Decision::Send(_)));
        assert_eq!((plan.budget, plan.request.max_output), (None, None));
    }
}

#[test]
fn a_draft_counts_its_summary_at_its_cap() {
    let conversation = Chat::new().user("q").conversation();
    let marks = Marks::new();
    let tariff = Tariff::of(None, None, Calibration::default());
    let draft = |summary| Draft {
        conversation: &conversation,
        rows: 0..1,
        carried: None::<&MeasuredRow>,
        pins: vec![],
        summary,
        placement: Placement::System,
        auto_continue: None,
        marks: &marks,
    };
    let size = |summary| draft(summary).assemble(&tariff).estimate(&tariff).upper;
    // What chance adds to it is smaller beside other texts.
    let grown = size(Summary::Pending(1_000)) - size(Summary::Pending(0));
    assert!((960..=1_000).contains(&grown), "{grown}");
    assert!(size(Summary::Text(&words(200))) < size(Summary::Pending(1_000)));
}
