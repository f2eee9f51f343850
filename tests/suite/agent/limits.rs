//! Windows that are too small, smaller than they were said to be, unknown, or badly reported.

use super::kit::{House, MODEL, PROVIDER, Setup, compactions, errors, names};
use super::talk::{prose, system, talk};
use crate::http::{Act, Server as Canned};
use oneclaw_agent::Event;
use oneclaw_agent::tools::{Answer, Answering, Tool};
use oneclaw_demo::{Fault, Step};
use oneclaw_model::row::RowType;
use oneclaw_model::{ModelLimits, ProviderKind, ToolSpec, Usage};
use oneclaw_store::catalogue;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

const KINDS: [ProviderKind; 3] = [ProviderKind::OpenAi, ProviderKind::Anthropic, ProviderKind::Gemini];
const LARGE: &str = "gpt-4-turbo";

/// A tool with much to say about itself.
struct Verbose(usize);

impl Tool for Verbose {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "verbose".into(),
            description: prose(self.0),
            parameters: json!({"type": "object", "properties": {}}),
            protected: false,
        }
    }
    fn run(self: Arc<Self>, _: Map<String, Value>) -> Answering<'static> {
        Box::pin(async { Answer::ok("") })
    }
}

async fn window(house: &House) -> Option<u64> {
    house.agent.status(&house.session).await.unwrap().window
}

// ---- too large for any request ----

/// A conversation of some length on a large model, continued on one that holds 8,000 tokens, where it cannot be. One
/// error names the culprit; nothing is asked more than once, nothing is lost, and the large model goes on with all of it.
async fn irreducible(name: &str, setup: Setup, message: &str, culprit: &str) {
    let setup = Setup { served: vec![(LARGE, 64_000), (MODEL, 8_000)], ..setup };
    let mut house = setup.build(name).await;
    house.ask("Remember: the fare = 17 crowns.").await;
    house.turns(3).await;
    house.agent.set_model(&house.session, PROVIDER, MODEL).await.unwrap();
    let asked = house.exchanges().len();
    let events = house.send(message).await;
    let [error] = &errors(&events)[..] else { panic!("{:?}", names(&events)) };
    assert!(
        error.starts_with(&format!("Context final: {culprit} too large for this model, by about ")),
        "{error}"
    );
    assert!(house.summaries().len() <= 1 && house.exchanges().len() <= asked + 1);
    // Once more, and after a restart: the same, and no further call.
    house.restart().await;
    let asked = house.exchanges().len();
    assert_eq!(errors(&house.send(message).await).len(), 1);
    assert_eq!(house.exchanges().len(), asked);
    assert_eq!(house.rows_of(RowType::Error).len(), 2);
    assert_eq!(house.questions().len(), 6);
    house.agent.set_model(&house.session, PROVIDER, LARGE).await.unwrap();
    assert!(house.ask("What is the fare?").await.contains("17 crowns"));
    assert_eq!(talk(&house.last_chat()).matches("Turn 2: ").count(), 1, "all of it is sent");
}

#[tokio::test]
async fn instructions_of_90_percent_of_the_window_are_named() {
    let setup = Setup { system: Some(prose(7_200)), ..Setup::default() };
    irreducible("lim-system", setup, "Hello.", "The agent's instructions are").await;
}

#[tokio::test]
async fn tools_of_90_percent_of_the_window_are_named() {
    irreducible("lim-tools", Setup::default().tool(Verbose(7_200)), "Hello.", "The tools on offer are").await;
}

#[tokio::test]
async fn a_message_of_90_percent_of_the_window_is_named() {
    irreducible("lim-message", Setup::default(), &prose(7_200), "The newest message is").await;
}

#[tokio::test]
async fn instructions_and_tools_together_are_too_large_as_well() {
    let setup = Setup { system: Some(prose(4_000)), ..Setup::default() }.tool(Verbose(3_200));
    irreducible("lim-both", setup, "Hello.", "The agent's instructions are").await;
}

#[tokio::test]
async fn every_preset_says_so() {
    for preset in ["sven", "nous", "opencode"] {
        let setup = Setup { system: Some(prose(7_200)), ..Setup::default() }.preset(preset);
        irreducible(&format!("lim-{preset}"), setup, "Hello.", "The agent's instructions are").await;
    }
}

#[tokio::test]
async fn large_instructions_that_leave_little_room_do_not_make_a_loop() {
    let setup = Setup { system: Some(prose(5_000)), ..Setup::default() };
    let house = setup.build("lim-narrow").await;
    house.ask("Remember: the ledger = /srv/ledger/2024/q3.csv.").await;
    for turn in 0..30 {
        let events = house.send(&format!("Remark {turn}: {}", prose(120))).await;
        assert_eq!(errors(&events), [] as [String; 0], "{turn}");
        assert!(compactions(&events).len() <= 1, "{turn}: {:?}", compactions(&events));
    }
    assert!(house.epochs().len() <= 15, "{}", house.epochs().len());
    assert_eq!(house.refused(), 0);
    house.ask("Hello.").await;
    assert!(system(&house.last_chat()).contains("/srv/ledger/2024/q3.csv"));
}

// ---- smaller than configured ----

#[tokio::test]
async fn a_window_smaller_than_configured_costs_one_refusal_with_every_provider() {
    for kind in KINDS {
        let setup = Setup { kind, believed: Some(32_000), ..Setup::window(8_000) };
        let mut house = setup.build(&format!("lim-believed-{kind:?}")).await;
        house.ask("Remember: the fare = 17 crowns.").await;
        let mut events = Vec::new();
        while house.refused() == 0 {
            events = house.turn().await;
        }
        assert_eq!(
            names(&events)[..4],
            ["ContextUsage", "CompactStarted", "CompactCompleted", "ContextUsage"]
        );
        assert_eq!(
            compactions(&events),
            [(true, false, Some("prose".into()), "overflow".into())],
            "{kind:?}"
        );
        assert_eq!(window(&house).await, Some(8_000), "{kind:?}");
        house.restart().await;
        house.turns(25).await;
        assert_eq!((house.refused(), window(&house).await), (1, Some(8_000)), "{kind:?}");
        assert!(house.ask("What is the fare?").await.contains("17 crowns"));
    }
}

#[tokio::test]
async fn an_unknown_window_becomes_known_with_every_provider() {
    for kind in KINDS {
        let setup = Setup { kind, ..Setup::unlisted(8_000) };
        let mut house = setup.build(&format!("lim-unknown-{kind:?}")).await;
        assert_eq!(window(&house).await, None);
        while house.refused() == 0 {
            house.turn().await;
        }
        assert_eq!(window(&house).await, Some(8_000), "{kind:?}");
        house.restart().await;
        house.turns(25).await;
        assert_eq!((house.refused(), window(&house).await), (1, Some(8_000)), "{kind:?}");
    }
}

/// A provider that answers as told, in place of the house's own.
pub(super) async fn canned(
    house: &House,
    act: impl Fn(usize, &str) -> Act + Send + Sync + 'static,
) -> Canned {
    let server = Canned::with(act).await;
    let base_url = server.endpoint(house.setup.kind).base_url;
    let saved = house.agent.store().write(|t| {
        let provider = catalogue::provider(t, PROVIDER)?;
        catalogue::save_provider(t, &catalogue::Provider { base_url: base_url.clone(), ..provider }, 2)
    });
    saved.unwrap();
    server
}

/// A reply of OpenAI.
pub(super) fn reply(text: &str) -> Act {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]});
    let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    Act::answer("200 OK", "content-type: text/event-stream\r\n", &body)
}

/// Words that name no number.
const REFUSAL: &str = r#"{"error":{"message":"Please reduce the length of the messages or completion."}}"#;

#[tokio::test]
async fn a_refusal_without_a_number_teaches_a_smaller_window() {
    for refusal in [REFUSAL, r#"{"error":{"message":"Input is too long for requested model."}}"#] {
        let setup = Setup { believed: Some(32_000), ..Setup::default() };
        let house = setup.build("lim-numberless").await;
        let server = canned(&house, move |_, request| match request.len() {
            30_000.. => Act::answer("400 Bad Request", "", refusal),
            _ => reply("It is a long way, and the fare = 17 crowns."),
        })
        .await;
        let refusals = |server: &Canned| server.requests().iter().filter(|r| r.len() >= 30_000).count();
        let mut events = Vec::new();
        while refusals(&server) == 0 {
            events = house.send(&format!("Go on. {}", prose(900))).await;
            assert_eq!(errors(&events), [] as [String; 0]);
        }
        assert_eq!(compactions(&events), [(true, false, Some("prose".into()), "overflow".into())]);
        let learnt = window(&house).await.unwrap();
        assert!((3_000..8_000).contains(&learnt), "{learnt}");
        for _ in 0..12 {
            let events = house.send(&format!("Go on. {}", prose(900))).await;
            assert_eq!(errors(&events), [] as [String; 0]);
        }
        assert_eq!(refusals(&server), 1);
    }
}

#[tokio::test]
async fn a_request_that_is_refused_twice_is_not_sent_a_third_time() {
    let house = Setup { believed: Some(32_000), ..Setup::default() }.build("lim-twice").await;
    house.turns(6).await;
    let is_summary = |request: &str| request.contains("<conversation>") || request.contains("<part>");
    let server = canned(&house, move |_, request| match is_summary(request) {
        true => reply("They spoke of rivers."),
        false => Act::answer("400 Bad Request", "", REFUSAL),
    })
    .await;
    let events = house.send("Hello.").await;
    let [error] = &errors(&events)[..] else { panic!("{:?}", names(&events)) };
    assert!(error.starts_with("Context final: "), "{error}");
    let chats = server.requests().iter().filter(|request| !is_summary(request)).count();
    assert_eq!(chats, 2);
    assert_eq!(house.questions().last().unwrap(), "Hello.");
}

// ---- what is reported ----

#[tokio::test]
async fn silent_truncation_is_noticed_and_the_window_learnt() {
    let setup = Setup { believed: Some(64_000), ..Setup::window(8_000) };
    let mut house = setup.build("lim-silent").await;
    house.script(vec![Step::Fault(Fault::SilentTruncation); 200]);
    house.ask("Remember: the fare = 17 crowns.").await;
    let mut turns = 0;
    while window(&house).await == Some(64_000) {
        house.ask(&format!("Go on. {}", prose(1_500))).await;
        turns += 1;
        assert!(turns < 40, "never noticed");
    }
    let learnt = window(&house).await.unwrap();
    assert!((6_000..=8_000).contains(&learnt), "{learnt}");
    // From now on nothing is cut: what was said first is known again.
    assert!(house.ask("What is the fare?").await.contains("17 crowns"));
    house.restart().await;
    for _ in 0..6 {
        house.ask(&format!("Go on. {}", prose(1_500))).await;
    }
    for exchange in house.chats().iter().rev().take(6) {
        assert!(exchange.prompt_tokens.unwrap() <= 8_000);
    }
    assert!(house.ask("What is the fare?").await.contains("17 crowns"));
}

#[tokio::test]
async fn silent_truncation_is_noticed_in_small_steps_too() {
    let house = Setup { believed: Some(64_000), ..Setup::window(8_000) }.build("lim-silent-steps").await;
    house.script(vec![Step::Fault(Fault::SilentTruncation); 200]);
    house.ask("Remember: the fare = 17 crowns.").await;
    let mut turns = 0;
    while window(&house).await == Some(64_000) {
        house.turn().await;
        turns += 1;
        assert!(turns < 45, "never noticed");
    }
    let learnt = window(&house).await.unwrap();
    assert!((6_000..=8_000).contains(&learnt), "{learnt}");
    assert!(house.ask("What is the fare?").await.contains("17 crowns"));
}

/// Every reply reports this usage; the window is not believed to be smaller for it.
async fn reported(name: &str, usage: impl Fn(u64) -> Usage) {
    let mut house = Setup::window(32_000).build(name).await;
    house.ask("Remember: the fare = 17 crowns.").await;
    house.turns(6).await;
    for turn in 0..40 {
        house.script([Step::Usage { usage: usage(turn), then: Box::new(Step::Model) }]);
        house.turn().await;
        assert_eq!(window(&house).await, Some(32_000), "turn {turn}");
    }
    house.restart().await;
    assert_eq!(window(&house).await, Some(32_000));
    assert!(house.ask("What is the fare?").await.contains("17 crowns"));
    assert_eq!((house.refused(), house.epochs().len()), (0, 0));
}

#[tokio::test]
async fn reports_of_zero_do_not_brick_the_window() {
    reported("lim-zero", |_| Usage::default()).await;
}

#[tokio::test]
async fn reports_of_one_token_do_not_brick_the_window() {
    reported("lim-one", |_| Usage { input: 1, output: 1, ..Usage::default() }).await;
}

#[tokio::test]
async fn reports_of_the_new_part_only_do_not_brick_the_window() {
    // A service that leaves out what came from its cache: about the same at every turn.
    reported("lim-uncached", |turn| Usage { input: 600 + turn % 3, output: 300, ..Usage::default() }).await;
}

#[tokio::test]
async fn no_report_at_all_does_no_harm() {
    let house = Setup::default().build("lim-none").await;
    house.ask("Remember: the fare = 17 crowns.").await;
    house.script(vec![Step::Fault(Fault::NoUsage); 60]);
    house.turns(40).await;
    assert_eq!((house.refused(), window(&house).await), (0, Some(8_000)));
}

// ---- what is not overflow ----

/// The error is told as it is: nothing is compacted, no window is learnt, and the next message works.
async fn not_overflow(house: &House, events: &[Event], said: &str) {
    let [error] = &errors(events)[..] else { panic!("{:?}", names(events)) };
    assert!(error.starts_with(said), "{error}");
    assert_eq!((house.summaries().len(), house.epochs().len()), (0, 0));
    assert_eq!(window(house).await, Some(8_000));
}

#[tokio::test]
async fn rate_limit_quota_and_bytes_are_not_overflow() {
    for kind in KINDS {
        let house = Setup { kind, ..Setup::default() }.build(&format!("lim-not-{kind:?}")).await;
        house.turns(4).await;
        for (fault, times, said) in [
            (
                Fault::TooManyRequests { retry_after: Some(Duration::from_millis(1)) },
                2,
                "Provider retryable: ",
            ),
            (Fault::Overloaded, 2, "Provider retryable: "),
            (Fault::ServerError(402), 1, "Provider final: "),
            (Fault::ServerError(413), 1, "Provider final: "),
        ] {
            house.script(vec![Step::Fault(fault); times]);
            let events = house.send("Hello.").await;
            not_overflow(&house, &events, said).await;
        }
        assert!(house.ask("The ferry waits.").await.contains("The ferry waits."));
        assert_eq!(house.questions().len(), 9);
    }
}

#[tokio::test]
async fn a_limit_of_tokens_per_minute_is_not_overflow() {
    let house = Setup::default().build("lim-tpm").await;
    house.turns(2).await;
    let words = "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 3000, Requested 4000. Please reduce the length of the messages.";
    let body = json!({"error": {"message": words, "code": "rate_limit_exceeded"}}).to_string();
    let server = canned(&house, move |_, _| Act::answer("429 Too Many Requests", "", &body)).await;
    let events = house.send("Hello.").await;
    let [error] = &errors(&events)[..] else { panic!("{:?}", names(&events)) };
    assert!(error.starts_with("Provider final: "), "{error}");
    assert_eq!(server.requests().len(), 1, "it can never succeed");
    assert_eq!((window(&house).await, house.epochs().len()), (Some(8_000), 0));
}

#[tokio::test]
async fn a_refused_output_length_is_learnt_and_is_not_overflow() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let house = Setup { kind, ..Setup::default() }.build(&format!("lim-output-{kind:?}")).await;
        house.turns(2).await;
        let limits = ModelLimits { max_output: Some(2_000), ..ModelLimits::default() };
        house.agent.set_limits(PROVIDER, MODEL, limits);
        for _ in 0..3 {
            assert_eq!(errors(&house.send("Hello.").await), [] as [String; 0]);
        }
        assert_eq!(house.refused(), 1, "{kind:?}");
        assert_eq!((house.summaries().len(), house.epochs().len()), (0, 0));
        assert_eq!(window(&house).await, Some(8_000));
    }
}
