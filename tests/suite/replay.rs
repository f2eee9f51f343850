//! Reasoning that goes back stands where it was made: the same model, instructions, tools and earlier messages, and no gap
//! in the chain. The services check that and refuse everything else; here it is checked by comparing whole requests, not by
//! the fingerprints the engine uses.

use oneclaw_context::estimate::MeasuredRow;
use oneclaw_context::fingerprint::Fingerprint;
use oneclaw_context::plan::{Decision, Moment};
use oneclaw_context::policy::Policy;
use oneclaw_context::{Conversation, Fixed, Plan};
use oneclaw_model::{
    Body, Message, ModelId, ModelLimits, Piece, Replay, Request, RequestMessage, Thinking, ToolSpec,
    ToolStatus, Trace,
};
use oneclaw_tests::{plan_at, window, words};
use proptest::prelude::*;
use std::collections::HashMap;

/// What happens in a conversation.
#[derive(Debug, Clone)]
enum Step {
    /// The user writes so many words.
    User(usize),
    /// The model answers with so many blocks of reasoning, words and calls; each call gets a result of so many words.
    Reply { blocks: usize, words: usize, calls: usize, result: usize },
    /// The user asks for a compaction.
    Compact,
    /// Other instructions.
    Instruct(u8),
    /// Other tools.
    Equip(u8),
    /// Another model.
    Switch(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let reply = (0usize..4, 0usize..60, 0usize..3, 0usize..400);
    prop_oneof![
        3 => (1usize..60).prop_map(Step::User),
        9 => reply.prop_map(|(blocks, words, calls, result)| Step::Reply { blocks, words, calls, result }),
        1 => Just(Step::Compact),
        1 => (0u8..2).prop_map(Step::Instruct),
        1 => (0u8..2).prop_map(Step::Equip),
        1 => (0u8..2).prop_map(Step::Switch),
    ]
}

/// A block as it was made: the request that was answered, and the blocks that stood in it and before it in its reply.
struct Made {
    model: Option<ModelId>,
    request: Request,
    chain: Vec<String>,
}

struct World {
    conversation: Conversation,
    limits: ModelLimits,
    policy: Policy,
    made: HashMap<String, Made>,
    rows: usize,
}

impl World {
    fn new(limits: ModelLimits, policy: Policy) -> Self {
        let conversation = Conversation {
            model: Some("claude-opus-5-5".into()),
            fixed: fixed(0, 0),
            ..Conversation::default()
        };
        Self { conversation, limits, policy, made: HashMap::new(), rows: 0 }
    }

    fn push(&mut self, body: Body) {
        self.rows += 1;
        let id = format!("m{}", self.rows).as_str().into();
        let created_at = self.rows as i64;
        self.conversation.rows.push(MeasuredRow::new(Message { id, created_at, body }));
    }

    /// Plans, and compacts, until a request can be sent, as the send loop does. `None` where nothing helps.
    fn ready(&mut self, moment: Moment) -> Option<Plan> {
        for _ in 0..4 {
            let plan = plan_at(&self.conversation, &self.limits, &self.policy, moment);
            match plan.decision {
                Decision::Send(_) => {
                    self.conversation = plan.carry_out(self.conversation.clone(), "");
                    return Some(plan);
                }
                Decision::Irreducible { .. } => return None,
                Decision::Compact(_) => {
                    self.conversation = plan.carry_out(self.conversation.clone(), "They spoke of rivers.");
                }
            }
        }
        None
    }

    fn take(&mut self, step: Step, moment: &mut Moment) -> Result<(), TestCaseError> {
        match step {
            Step::User(count) => {
                self.push(Body::User { text: words(count), attachments: vec![] });
                *moment = Moment::BeforeSend;
            }
            Step::Reply { blocks, words: count, calls, result } => {
                let Some(plan) = self.ready(*moment) else { return Ok(()) };
                self.check(&plan.request)?;
                self.reply(plan.request, blocks, count, calls, result);
                *moment = if calls > 0 { Moment::AfterTools } else { Moment::BeforeSend };
                if calls == 0 {
                    self.push(Body::User { text: words(5), attachments: vec![] });
                }
            }
            Step::Compact => {
                let plan = plan_at(&self.conversation, &self.limits, &self.policy, Moment::Manual);
                if matches!(plan.decision, Decision::Compact(_)) {
                    self.conversation = plan.carry_out(self.conversation.clone(), "They spoke of bridges.");
                }
            }
            Step::Instruct(number) => {
                let tools = self.conversation.fixed.tools.clone();
                self.conversation.fixed = Fixed::new(Some(instructions(number)), tools);
            }
            Step::Equip(number) => {
                let system = self.conversation.fixed.system.clone();
                self.conversation.fixed = Fixed::new(system, tools(number));
            }
            Step::Switch(number) => {
                let name = ["claude-opus-5-5", "claude-sonnet-5-5"][usize::from(number)];
                self.conversation.model = Some(name.into());
            }
        }
        Ok(())
    }

    /// The model answers: blocks, text and calls in turns.
    fn reply(&mut self, request: Request, blocks: usize, count: usize, calls: usize, result: usize) {
        let model = self.conversation.model.clone();
        let text = words(count);
        let mut chain = chain(&request.messages);
        let mut pieces = Vec::new();
        for number in 0..blocks.max(calls) {
            if number < blocks {
                let signature = format!("sig-{}-{number}", self.rows);
                let made = Made { model: model.clone(), request: request.clone(), chain: chain.clone() };
                self.made.insert(signature.clone(), made);
                chain.push(signature.clone());
                pieces.push(Piece::Thinking(Thinking::Signed { text: words(20), signature }));
            }
            if number == 0 && !text.is_empty() {
                pieces.push(Piece::Text { bytes: text.len(), signature: None });
            }
            if number < calls {
                pieces.push(Piece::Call);
            }
        }
        let prefix = Some(Fingerprint::of(&request, model.as_ref()));
        let trace = Some(Trace { prefix, reasoning_tokens: Some(20), pieces });
        self.push(Body::Assistant { text, thinking: None, trace, model: model.clone(), usage: None });
        for number in 0..calls {
            let call = format!("c{}-{number}", self.rows).as_str().into();
            self.push(Body::ToolCall {
                call,
                name: "read_file".into(),
                arguments: "{}".into(),
                signature: None,
                model: model.clone(),
            });
        }
        let open: Vec<_> = self.conversation.rows.iter().rev().take(calls).rev().cloned().collect();
        for row in open {
            let Body::ToolCall { call, name, .. } = row.message.body else { continue };
            let (output, status) = (words(result), ToolStatus::Success);
            self.push(Body::ToolResult { call, name, output, status, attachments: vec![] });
        }
    }

    /// Every block in a request stands on what it was made on.
    fn check(&self, request: &Request) -> Result<(), TestCaseError> {
        for (at, message) in request.messages.iter().enumerate() {
            let mut before = chain(request.messages.get(..at).unwrap());
            for signature in signatures(message) {
                let made = &self.made[&signature];
                prop_assert_eq!(&made.model, &self.conversation.model, "another model");
                prop_assert_eq!(&made.request.system, &request.system, "other instructions");
                prop_assert_eq!(&made.request.tools, &request.tools, "other tools");
                let now: Vec<RequestMessage> = request.messages.iter().take(at).map(bare).collect();
                let then: Vec<RequestMessage> = made.request.messages.iter().map(bare).collect();
                prop_assert_eq!(then, now, "other messages before {}", signature);
                prop_assert!(made.chain.ends_with(&before), "a gap before {}: {:?}", signature, before);
                before.push(signature);
            }
        }
        Ok(())
    }
}

fn instructions(number: u8) -> String {
    format!("Be brief, in manner {number}.")
}

fn tools(number: u8) -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "read_file".into(),
        description: format!("Reads a file, edition {number}."),
        parameters: serde_json::json!({"type": "object", "properties": {}}),
        protected: false,
    }]
}

fn fixed(system: u8, equipment: u8) -> Fixed {
    Fixed::new(Some(instructions(system)), tools(equipment))
}

/// A message without its reasoning.
fn bare(message: &RequestMessage) -> RequestMessage {
    match message.clone() {
        RequestMessage::Assistant { text, calls, .. } => {
            RequestMessage::Assistant { text, calls, trace: vec![] }
        }
        other => other,
    }
}

fn signatures(message: &RequestMessage) -> Vec<String> {
    let RequestMessage::Assistant { trace, .. } = message else { return vec![] };
    let of = |piece: &Piece| match piece {
        Piece::Thinking(Thinking::Signed { signature, .. }) => Some(signature.clone()),
        _ => None,
    };
    trace.iter().filter_map(of).collect()
}

fn chain(messages: &[RequestMessage]) -> Vec<String> {
    messages.iter().flat_map(signatures).collect()
}

proptest! {
    #![proptest_config(oneclaw_tests::cases(1_500))]

    #[test]
    fn every_block_stands_on_the_prefix_it_was_made_with(
        steps in prop::collection::vec(step(), 1..40),
        tokens in prop::sample::select(vec![0u64, 2_000, 4_000, 16_000]),
        preset in prop::sample::select(vec!["oneclaw", "sven", "nous", "opencode"]),
    ) {
        let mut world = World::new(window(tokens), Policy::preset(preset).unwrap());
        world.push(Body::User { text: "Begin.".into(), attachments: vec![] });
        let mut moment = Moment::BeforeSend;
        for step in steps {
            world.take(step, &mut moment)?;
        }
        if let Some(plan) = world.ready(moment) {
            world.check(&plan.request)?;
        }
    }

    /// Where nothing changes, nothing is left out: all blocks of the turn in progress go back, in order.
    #[test]
    fn a_turn_that_nothing_disturbs_takes_all_its_reasoning_along(
        replies in prop::collection::vec((1usize..4, 0usize..30, 1usize..3, 0usize..60), 1..12),
    ) {
        let mut world = World::new(window(0), Policy::default());
        world.push(Body::User { text: "Begin.".into(), attachments: vec![] });
        let mut blocks_made = 0;
        for (blocks, words, calls, result) in replies {
            world.take(Step::Reply { blocks, words, calls, result }, &mut Moment::AfterTools.clone())?;
            blocks_made += blocks;
        }
        let plan = world.ready(Moment::AfterTools).unwrap();
        prop_assert_eq!(chain(&plan.request.messages).len(), blocks_made);
        world.check(&plan.request)?;
        // The next message of the user ends the turn.
        world.push(Body::User { text: "And now?".into(), attachments: vec![] });
        let plan = world.ready(Moment::BeforeSend).unwrap();
        prop_assert_eq!(chain(&plan.request.messages), Vec::<String>::new());
    }
}

/// The parts of the only reply in a request, with blocks, text and calls as the model said them.
#[test]
fn a_reply_goes_back_in_its_own_order() {
    let mut world = World::new(window(0), Policy::default());
    world.push(Body::User { text: "Begin.".into(), attachments: vec![] });
    let request = world.ready(Moment::BeforeSend).unwrap().request;
    world.reply(request, 2, 3, 2, 1);
    let plan = world.ready(Moment::AfterTools).unwrap();
    let RequestMessage::Assistant { trace, .. } = &plan.request.messages[1] else { panic!() };
    let shown: Vec<&str> = trace
        .iter()
        .map(|piece| match piece {
            Piece::Thinking(_) => "thinking",
            Piece::Text { .. } => "text",
            Piece::Call => "call",
        })
        .collect();
    assert_eq!(shown, ["thinking", "text", "call", "thinking", "call"]);
    assert_eq!(plan.request.messages[1].parts().len(), 5);
}

/// Fields of plain text go back with every reply that called tools, where the model wants that, whatever changed.
#[test]
fn plain_reasoning_goes_back_with_every_call_where_it_is_wanted() {
    let field =
        || Piece::Thinking(Thinking::Field { name: "reasoning_content".into(), json: "\"Hm.\"".into() });
    for (replay, wanted) in [(Replay::OpenTurn, [0, 0]), (Replay::EveryCall, [1, 0])] {
        let mut world = World::new(window(0), Policy::default());
        world.conversation.replay = replay;
        world.push(Body::User { text: "Begin.".into(), attachments: vec![] });
        let request = world.ready(Moment::BeforeSend).unwrap().request;
        world.reply(request, 0, 3, 1, 1);
        let request = world.ready(Moment::AfterTools).unwrap().request;
        world.reply(request, 0, 3, 0, 0);
        for row in &mut world.conversation.rows {
            if let Body::Assistant { trace: Some(trace), .. } = &mut row.message.body {
                trace.pieces.push(field());
            }
        }
        world.push(Body::User { text: "And now?".into(), attachments: vec![] });
        world.conversation.fixed = fixed(1, 1);
        let plan = world.ready(Moment::BeforeSend).unwrap();
        let fields = |message: &RequestMessage| match message {
            RequestMessage::Assistant { trace, .. } => Some(trace.iter().filter(|p| **p == field()).count()),
            _ => None,
        };
        let found: Vec<usize> = plan.request.messages.iter().filter_map(fields).collect();
        assert_eq!(found, wanted, "{replay:?}");
    }
}
