//! Whatever a conversation holds, the request made of it is one that the services take.

use super::*;
use oneclaw_context::estimate::MeasuredRow;
use oneclaw_context::plan::Decision;
use oneclaw_context::policy::{PRESETS, Policy};
use oneclaw_context::{Conversation, Moment, Plan};
use oneclaw_model::{Body, ModelId, ModelLimits, Piece};
use oneclaw_providers::{Profile, REASONING_ROOM};
use oneclaw_tests::{generate, plan_at};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::RefCell;
use std::collections::HashMap;
use tokio::runtime::Runtime;

/// Sizes with one model of each dialect.
const WINDOWS: [u64; 3] = [3_000, 12_000, 100_000];

fn max_output(window: u64) -> u64 {
    window / 5
}

/// The models asked: one that reasons, and two generations of Gemini, as the newer one wants signatures.
const MODELS: [(ProviderKind, &str); 5] = [
    (ProviderKind::OpenAi, "gpt-4o"),
    (ProviderKind::OpenAi, "o3-mini"),
    (ProviderKind::Anthropic, "claude-sonnet-4-5-20250929"),
    (ProviderKind::Gemini, "gemini-2.5-flash"),
    (ProviderKind::Gemini, "gemini-3-pro"),
];

/// Three servers and what they signed.
struct World {
    runtime: Runtime,
    client: Client,
    servers: Vec<Server>,
    /// Signs whatever it is given.
    signer: Server,
    signed: RefCell<HashMap<String, String>>,
}

impl World {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let start = |window| {
            let mut config = config(window, max_output(window), &["o3-mini", "gemini-3-pro"]);
            for model in config.models.iter_mut().filter(|model| is_reasoning(&model.id)) {
                // Models that reason give far more than a summary needs.
                model.max_output += REASONING_ROOM;
            }
            runtime.block_on(serve(config))
        };
        let servers = WINDOWS.map(start).into();
        let signer = runtime.block_on(serve(config(10_000_000, 1_000_000, &[])));
        Self { client: client(), servers, signer, signed: RefCell::default(), runtime }
    }

    /// Sends a turn; the size of its prompt as the server counted it.
    fn stream(
        &self,
        at: usize,
        (kind, model): (ProviderKind, &str),
        request: &Request,
    ) -> Result<u64, ProviderError> {
        let server = &self.servers[at];
        server.push(Step::Reply("Fine.".into()));
        self.runtime.block_on(async {
            let said = rest(
                self.client
                    .stream(&endpoint(server, kind), &Profile::of(&endpoint(server, kind), model), request)
                    .await?,
            )
            .await;
            assert_eq!((said.text.as_str(), &said.error), ("Fine.", &None));
            Ok(said.usage.unwrap().prompt())
        })
    }

    /// The same for a completion.
    fn complete(
        &self,
        at: usize,
        (kind, model): (ProviderKind, &str),
        request: &Request,
    ) -> Result<u64, ProviderError> {
        let server = &self.servers[at];
        server.push(Step::Reply("Fine.".into()));
        let endpoint = endpoint(server, kind);
        let reply = self.runtime.block_on(self.client.complete(
            &endpoint,
            &Profile::of(&endpoint, model),
            request,
        ))?;
        assert_eq!(reply.text, "Fine.");
        Ok(reply.usage.unwrap().prompt())
    }

    /// The request with the server's own signatures in place of the made-up ones.
    fn signed(&self, kind: ProviderKind, mut request: Request) -> Request {
        for message in &mut request.messages {
            let RequestMessage::Assistant { trace, calls, .. } = message else { continue };
            for piece in trace {
                if let Piece::Thinking(Thinking::Signed { text, signature }) = piece
                    && kind == ProviderKind::Anthropic
                {
                    *signature = self.sign(
                        kind,
                        Step::Think { thinking: text.clone(), then: Box::new(Step::Reply("x".into())) },
                    );
                }
            }
            for Call { name, arguments, signature, .. } in calls {
                if let Some(signature) = signature.as_mut().filter(|_| kind == ProviderKind::Gemini) {
                    let object =
                        serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(arguments);
                    let sent = match object {
                        Ok(_) => arguments.clone(),
                        Err(_) if arguments.trim().is_empty() => "{}".into(),
                        Err(_) => serde_json::json!({"_raw": arguments}).to_string(),
                    };
                    let call = Step::Calls(vec![(name.clone(), sent)]);
                    *signature = self.sign(kind, Step::Think { thinking: "x".into(), then: Box::new(call) });
                }
            }
        }
        request
    }

    fn sign(&self, kind: ProviderKind, step: Step) -> String {
        let name = format!("{kind:?} {step:?}");
        if let Some(known) = self.signed.borrow().get(&name) {
            return known.clone();
        }
        self.signer.push(step);
        let asked = Request { max_output: Some(900_000), ..hello() };
        let said = self.runtime.block_on(ask(&self.signer, kind, &asked));
        let of_call = said.calls.first().and_then(|call| call.signature.clone());
        let signature = of_call.or_else(|| super::signature(&said)).expect("a signature");
        self.signed.borrow_mut().insert(name, signature.clone());
        signature
    }
}

/// The conversation as if it had been held with that model, with pictures that have bytes.
fn held_with(mut conversation: Conversation, model: &str) -> Conversation {
    let author = |author: &mut Option<ModelId>| {
        if author.as_ref().is_some_and(|id| id.as_str() == "gpt-4o") {
            *author = Some(model.into());
        }
    };
    let rows = conversation.carried.iter_mut().chain(&mut conversation.rows);
    for row in rows {
        let mut message = row.message.clone();
        match &mut message.body {
            Body::Assistant { model, .. } | Body::ToolCall { model, .. } => author(model),
            Body::User { attachments, .. } | Body::ToolResult { attachments, .. } => {
                for file in attachments.iter_mut().filter(|file| file.is_image()) {
                    file.data = Some(png(file.width, file.height));
                }
            }
            Body::Error { .. } | Body::System { .. } => {}
        }
        *row = MeasuredRow { pinned: row.pinned, ..MeasuredRow::new(message) };
    }
    conversation.model = Some(model.into());
    conversation
}

/// The beginning of a PNG of that size, or of a picture that nobody knows the size of.
fn png(width: Option<u32>, height: Option<u32>) -> String {
    let (Some(width), Some(height)) = (width, height) else { return "AAAA".into() };
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes().into_iter().chain(height.to_be_bytes()));
    base64(&bytes)
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |chunk: &[u8]| {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    };
    assert_eq!(bytes.len() % 3, 0);
    bytes.chunks(3).flat_map(digits).collect()
}

fn is_reasoning(model: &str) -> bool {
    matches!(model, "o3-mini" | "gemini-3-pro")
}

fn is_sendable(plan: &Plan) -> bool {
    !plan.request.messages.is_empty() && !matches!(plan.decision, Decision::Irreducible { .. })
}

fn check(
    world: &World,
    conversation: &Conversation,
    policy: &Policy,
    at: usize,
    moment: Moment,
) -> Result<(), TestCaseError> {
    let window = WINDOWS[at];
    let limits =
        ModelLimits { window: Some(window), input_limit: None, max_output: Some(max_output(window)) };
    for (kind, model) in MODELS {
        let conversation = held_with(conversation.clone(), model);
        let plan = plan_at(&conversation, &limits, policy, moment);
        if is_sendable(&plan) {
            let request = world.signed(kind, plan.request.clone());
            let counted = world.stream(at, (kind, model), &request);
            prop_assert!(
                counted.as_ref().is_ok_and(|counted| *counted <= plan.request_estimate.upper),
                "{model}: {counted:?} where {} was expected at most: {request:?}",
                plan.request_estimate.upper,
            );
        }
        // Room for reasoning comes on top of what was planned; there is no such model with a small window.
        let is_asked = !(model == "o3-mini" && window < 100_000);
        for summary in plan.summary_requests().into_iter().filter(|_| is_asked) {
            let counted = world.complete(at, (kind, model), &summary.request);
            prop_assert!(
                counted.as_ref().is_ok_and(|counted| *counted <= summary.upper),
                "{model}: {counted:?} where {} was expected at most: {:?}",
                summary.upper,
                summary.request,
            );
        }
    }
    Ok(())
}

/// The conversation without reports that this world never made.
fn without_usage(mut conversation: Conversation) -> Conversation {
    for row in &mut conversation.rows {
        if let Body::Assistant { usage, .. } = &mut row.message.body {
            *usage = None;
        }
    }
    conversation
}

/// Runs a property for each preset.
fn for_each_preset(
    cases: u32,
    holds: impl Fn(&World, &Conversation, &Policy, usize, Moment) -> Result<(), TestCaseError>,
) {
    let world = World::new();
    let strategy = (generate::conversation(), 0..WINDOWS.len(), generate::any_moment());
    for (name, policy) in PRESETS {
        let mut runner = TestRunner::new(oneclaw_tests::cases(cases));
        let outcome = runner.run(&strategy, |(conversation, at, moment)| {
            let conversation = without_usage(conversation);
            holds(&world, &conversation, policy, at, moment)
        });
        if let Err(error) = outcome {
            panic!("{name}: {error}");
        }
    }
}

#[test]
fn every_planned_request_is_taken_and_no_larger_than_was_thought() {
    for_each_preset(60, check);
}

/// Calls become texts in a completion, which may take more room, but the service takes them.
#[test]
fn every_planned_request_is_taken_as_a_completion() {
    for_each_preset(24, |world, conversation, policy, at, moment| {
        let window = WINDOWS[at];
        let limits =
            ModelLimits { window: Some(window), input_limit: None, max_output: Some(max_output(window)) };
        for (kind, model) in MODELS.iter().filter(|(_, model)| !is_reasoning(model)) {
            let conversation = held_with(conversation.clone(), model);
            let plan = plan_at(&conversation, &limits, policy, moment);
            if is_sendable(&plan) {
                let outcome = world.complete(at, (*kind, model), &plan.request);
                prop_assert!(outcome.is_ok(), "{model}: {outcome:?}: {:?}", plan.request);
            }
        }
        Ok(())
    });
}
