//! Exact counts by the service: what they spare the user, and that nothing depends on them.

use super::kit::{House, Setup, UNLISTED, all, compactions, errors, names, said};
use super::talk::prose;
use crate::estimation_text::o200k;
use oneclaw_agent::{Event, Patience};
use oneclaw_demo::{Exchange, Fault, Flavour, PER_MESSAGE, PER_REQUEST, Step};
use oneclaw_model::{ProviderKind, Usage};
use std::time::{Duration, Instant};

const WINDOW: u64 = 16_000;
const MAX_OUTPUT: u64 = 1_000;
/// The largest prompt: the longest reply is kept free.
const HARD: u64 = WINDOW - MAX_OUTPUT;
/// The size from which on a conversation is compacted.
const TRIGGER: u64 = WINDOW * 85 / 100;
/// The agent's instructions.
const SYSTEM: &str = "Be brief.";
/// What a busy machine may take longer.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Service {
    Responses,
    Anthropic,
    Gemini,
    LlamaCpp,
    Vllm,
}

const ALL: [Service; 5] =
    [Service::Responses, Service::Anthropic, Service::Gemini, Service::LlamaCpp, Service::Vllm];

impl Service {
    fn setup(self) -> Setup {
        let (kind, model, flavour) = match self {
            // The catalogue knows that it is spoken to in Responses.
            Self::Responses => (ProviderKind::OpenAi, "gpt-6-sol", Flavour::Plain),
            Self::Anthropic => (ProviderKind::Anthropic, UNLISTED, Flavour::Plain),
            Self::Gemini => (ProviderKind::Gemini, UNLISTED, Flavour::Plain),
            Self::LlamaCpp => (ProviderKind::OpenAi, UNLISTED, Flavour::LlamaCpp),
            Self::Vllm => (ProviderKind::OpenAi, UNLISTED, Flavour::Vllm),
        };
        let mut setup =
            Setup { kind, served: vec![(model, WINDOW)], max_output: MAX_OUTPUT, ..Setup::default() };
        setup.system = Some(SYSTEM.into());
        setup.demo.flavour = flavour;
        setup
    }

    async fn house(self, name: &str) -> House {
        self.setup().build(&format!("count-{name}-{self:?}")).await
    }

    /// How many addresses are tried before it is known that none counts.
    fn guesses(self) -> usize {
        if matches!(self, Self::LlamaCpp | Self::Vllm) { 2 } else { 1 }
    }

    /// How many addresses are tried before the one that counts.
    fn misses(self) -> usize {
        usize::from(self == Self::Vllm)
    }
}

/// Counts that were answered with a size.
fn counted(house: &House) -> Vec<Exchange> {
    house.counts().into_iter().filter(|exchange| exchange.status == Some(200)).collect()
}

/// The size of a prompt of the instructions and one message, as the server counts it.
fn alone(text: &str) -> u64 {
    o200k(text) + PER_MESSAGE + o200k(SYSTEM) + PER_MESSAGE + PER_REQUEST
}

/// A message that fits by the server's count and not by the upper bound.
fn large() -> String {
    let text = prose(13_400);
    assert!((13_000..TRIGGER).contains(&alone(&text)), "{}", alone(&text));
    text
}

fn lie(tokens: u64) -> Step {
    let usage = Usage { input: tokens, ..Usage::default() };
    Step::Usage { usage, then: Box::new(Step::Model) }
}

#[tokio::test]
async fn a_message_that_fits_by_the_services_count_is_answered() {
    for service in ALL {
        let house = service.house("fits").await;
        let events = house.send(&large()).await;
        assert_eq!(errors(&events), [] as [String; 0], "{service:?}");
        assert!(!said(&events).is_empty());
        assert_eq!(compactions(&events), [], "{service:?}");
        let counts = counted(&house);
        assert_eq!((counts.len(), house.counts().len()), (1, 1 + service.misses()), "{service:?}");
        let [chat] = &house.chats()[..] else { panic!("{service:?}") };
        assert_eq!(counts[0].prompt_tokens, chat.prompt_tokens, "{service:?}");
        assert_eq!(counts[0].prompt_tokens, Some(alone(&large())), "{service:?}");
        // What the user sees is the size that was counted.
        let shown = events.iter().find_map(|event| match event {
            Event::ContextUsage { expected, upper, .. } => Some((*expected, *upper)),
            _ => None,
        });
        assert_eq!(shown, chat.prompt_tokens.map(|size| (size, size)), "{service:?}");
    }
}

#[tokio::test]
async fn a_message_that_does_not_fit_is_declined_as_before() {
    for service in ALL {
        let house = service.house("over").await;
        let events = house.send(&prose(16_500)).await;
        let [error] = &errors(&events)[..] else { panic!("{service:?} {:?}", names(&events)) };
        assert!(error.starts_with("Context final: The newest message is too large"), "{service:?} {error}");
        assert_eq!((counted(&house).len(), house.exchanges().len()), (1, 0), "{service:?}");
        // What no count can help is not uploaded.
        house.send(&prose(80_000)).await;
        assert_eq!((counted(&house).len(), house.exchanges().len()), (1, 0), "{service:?}");
    }
}

#[tokio::test]
async fn a_compaction_is_spared_where_the_count_is_below_the_trigger() {
    for service in ALL {
        let mut house = service.house("spared").await;
        let mut answered = 0;
        // A name that tells nothing is taken for the densest of Anthropic's, so that less is near the trigger.
        let sizes = if matches!(service, Service::Anthropic) { 4_600..6_200 } else { 6_400..8_400 };
        for tokens in sizes.step_by(400) {
            house.session = house.new_session().await;
            house.ask(&prose(4_800)).await;
            let before = house.chats().len();
            let events = house.send(&prose(tokens)).await;
            assert_eq!(errors(&events), [] as [String; 0], "{service:?} {tokens}");
            let chats = house.chats();
            let size = chats[before].prompt_tokens.unwrap();
            assert!(size < TRIGGER, "{size}");
            assert_eq!(compactions(&events), [], "{service:?} {tokens}");
            answered += 1;
        }
        assert!((1..=answered).contains(&counted(&house).len()), "{service:?} {}", counted(&house).len());
        assert_eq!(house.refused(), 0, "{service:?}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_large_by_the_count_is_compacted() {
    for service in ALL {
        let house = service.house("compacted").await;
        house.ask("Remember: the fare = 17 crowns.").await;
        house.ask(&prose(4_800)).await;
        let events = house.send(&prose(11_000)).await;
        assert_eq!(errors(&events), [] as [String; 0], "{service:?}");
        assert_eq!(compactions(&events).len(), 1, "{service:?} {:?}", compactions(&events));
        assert_eq!(house.refused(), 0, "{service:?}");
        assert!(counted(&house).len() <= 2, "{service:?}");
    }
}

/// What a run says, but for texts and sizes.
fn outcome(events: &[Event]) -> (Vec<String>, Vec<String>) {
    (names(events), errors(events))
}

/// A message that would be counted, and a conversation that would be.
async fn both(house: &mut House) -> [(Vec<String>, Vec<String>); 2] {
    let declined = outcome(&house.send(&large()).await);
    house.session = house.new_session().await;
    house.ask(&prose(4_800)).await;
    let compacted = outcome(&house.send(&prose(8_000)).await);
    [declined, compacted]
}

#[tokio::test]
async fn whatever_goes_wrong_the_turn_goes_on_as_without() {
    let impatient = Patience { count: Duration::from_millis(150), ..Setup::default().patience };
    for service in ALL {
        let mut without = service.setup();
        without.demo.counts = false;
        let mut without = without.build(&format!("count-without-{service:?}")).await;
        let expected = both(&mut without).await;
        assert_eq!(counted(&without), []);
        for (number, step) in [
            Step::Fault(Fault::ServerError(404)),
            Step::Fault(Fault::ServerError(405)),
            Step::Fault(Fault::ServerError(500)),
            Step::Fault(Fault::ServerError(501)),
            Step::Fault(Fault::Overloaded),
            Step::Fault(Fault::TooManyRequests { retry_after: Some(Duration::from_secs(60)) }),
            Step::Fault(Fault::Stall),
            Step::Fault(Fault::Drip(Duration::from_millis(50))),
            Step::Fault(Fault::Endless),
            Step::Fault(Fault::Garbage),
            Step::Fault(Fault::WrongContentType),
            Step::Fault(Fault::CloseBeforeHeaders),
            Step::Fault(Fault::Redirect("http://127.0.0.1:9/".into())),
            Step::Reply("many".into()),
            lie(0),
            lie(7),
            lie(1_000),
            lie(1_000_000),
            lie(u64::MAX),
        ]
        .into_iter()
        .enumerate()
        {
            let setup = Setup { patience: impatient, ..service.setup() };
            let mut house = setup.build(&format!("count-fault-{number}-{service:?}")).await;
            house.server.set_counts(Some(step.clone()));
            let start = Instant::now();
            assert_eq!(both(&mut house).await, expected, "{service:?} {step:?}");
            assert!(start.elapsed() < 2 * impatient.count + 2 * GRACE, "{service:?} {step:?}");
            let asked = house.counts().len();
            assert!((1..=2 * service.guesses()).contains(&asked), "{service:?} {step:?} {asked}");
            assert_eq!(house.refused(), without.refused(), "{service:?} {step:?}");
        }
    }
}

#[tokio::test]
async fn counting_takes_two_seconds_at_most() {
    let house = Service::Anthropic.setup();
    assert_eq!(house.patience.count, Duration::from_secs(2));
    let house = house.build("count-slow").await;
    house.server.set_counts(Some(Step::Fault(Fault::Stall)));
    let start = Instant::now();
    house.send(&large()).await;
    let taken = start.elapsed();
    assert!(taken >= Duration::from_secs(2) && taken < Duration::from_secs(2) + GRACE, "{taken:?}");
    assert_eq!(house.counts().len(), 1);
}

#[tokio::test]
async fn a_service_without_the_endpoint_is_asked_once_while_the_agent_is_open() {
    for service in ALL {
        let mut setup = service.setup();
        setup.demo.counts = false;
        let mut house = setup.build(&format!("count-none-{service:?}")).await;
        // No reply comes, so nothing is learnt that would make a count needless.
        house.script(vec![Step::Fault(Fault::ServerError(401)); 4]);
        for _ in 0..3 {
            house.session = house.new_session().await;
            house.send(&large()).await;
        }
        assert_eq!(house.counts().len(), service.guesses(), "{service:?}");
        // Nothing of that is in the file.
        house.restart().await;
        house.session = house.new_session().await;
        house.send(&large()).await;
        assert_eq!(house.counts().len(), 2 * service.guesses(), "{service:?}");
    }
}

#[tokio::test]
async fn a_failure_is_remembered_for_its_turn_only() {
    for service in ALL {
        let mut house = service.house("again").await;
        house.server.set_counts(Some(Step::Fault(Fault::ServerError(500))));
        house.send(&large()).await;
        assert_eq!(house.counts().len(), 1 + service.misses(), "{service:?}");
        house.server.set_counts(None);
        house.session = house.new_session().await;
        house.ask(&large()).await;
        assert_eq!(counted(&house).len(), 1, "{service:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_while_counting_stops_at_once() {
    for service in ALL {
        let patience = Patience { count: Duration::from_secs(60), ..Setup::default().patience };
        let setup = Setup { patience, ..service.setup() };
        let house = setup.build(&format!("count-stop-{service:?}")).await;
        house.server.set_counts(Some(Step::Fault(Fault::Stall)));
        let run = house.agent.send(&house.session, &large(), vec![]).await.unwrap();
        let until = Instant::now() + GRACE;
        while counted(&house).is_empty() {
            assert!(Instant::now() < until, "{service:?} does not count");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let start = Instant::now();
        run.stop();
        let events = all(run).await;
        assert!(start.elapsed() < Duration::from_millis(250), "{service:?} {:?}", start.elapsed());
        assert_eq!(said(&events), "", "{service:?}");
        assert_eq!(house.exchanges(), [], "{service:?}");
        house.server.set_counts(None);
        assert!(!house.ask("Write 5 words.").await.is_empty(), "{service:?}");
    }
}

#[tokio::test]
async fn nothing_is_counted_where_nothing_hangs_on_it() {
    for service in ALL {
        // Small messages, and a compaction by hand.
        let house = service.house("idle").await;
        house.ask(&prose(4_000)).await;
        house.turns(8).await;
        house.compact(None).await;
        assert_eq!(house.epochs().len(), 1);
        assert_eq!(house.counts(), [], "{service:?}");
        // A window that nobody knows.
        let Setup { kind, demo, .. } = service.setup();
        let mut setup = Setup { kind, max_output: MAX_OUTPUT, ..Setup::unlisted(WINDOW) };
        setup.demo.flavour = demo.flavour;
        if !matches!(service, Service::LlamaCpp | Service::Vllm) {
            let house = setup.build(&format!("count-unknown-{service:?}")).await;
            house.ask(&large()).await;
            assert_eq!(house.counts(), [], "{service:?}");
        }
    }
}

#[tokio::test]
async fn after_a_refusal_nothing_is_counted() {
    for service in ALL {
        let setup = Setup { believed: Some(64_000), ..service.setup() };
        let house = setup.build(&format!("count-refused-{service:?}")).await;
        house.ask(&prose(7_000)).await;
        let events = house.send(&prose(11_000)).await;
        assert_eq!(house.refused(), 1, "{service:?} {:?}", names(&events));
        assert_eq!(house.counts(), [], "{service:?}");
    }
}

#[tokio::test]
async fn services_that_are_known_to_have_none_are_not_asked() {
    // A server that nobody knows by its host is asked; by its dialect there is nothing to ask with pictures.
    for flavour in [Flavour::Ollama, Flavour::LmStudio, Flavour::OpenRouter] {
        let mut setup = Service::LlamaCpp.setup();
        setup.demo.flavour = flavour;
        let mut house = setup.build(&format!("count-other-{flavour:?}")).await;
        for _ in 0..3 {
            house.session = house.new_session().await;
            house.send(&large()).await;
        }
        assert_eq!(house.counts().len(), 2, "{flavour:?}");
        assert_eq!(counted(&house), [], "{flavour:?}");
    }
}

#[tokio::test]
async fn the_key_goes_to_the_count_as_to_the_chat() {
    for service in ALL {
        let setup = Setup { key: Some("hush-0123456789-counted"), ..service.setup() };
        let house = setup.build(&format!("count-key-{service:?}")).await;
        house.ask(&large()).await;
        // Without the key the server would have said 401.
        assert_eq!(counted(&house).len(), 1, "{service:?}");
        let log = format!("{:?}", house.counts());
        assert!(!log.contains("hush-0123456789"), "not in the path or the body");
    }
}

/// Numbers that look like chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// A text of about so many tokens: prose, code, numbers.
    fn text(&mut self, tokens: u64) -> String {
        const PIECES: [&str; 8] = [
            "The ferry leaves at dawn, and nobody knows who rows it. ",
            "fn main() { println!(\"{}\", 42); }\n",
            "| 17 | 4711 | ok |\n",
            "https://example.com/a/b?c=d ",
            "{\"key\": \"value\", \"list\": [1, 2, 3]}\n",
            "Wasser, Brücken und Straßen. ",
            "gravel ",
            "2026-11-18T15:29:26Z INFO started in 17 ms\n",
        ];
        let mut text = String::new();
        let mut size = 0;
        while size < tokens {
            let piece = PIECES[self.below(8) as usize];
            text.push_str(piece);
            size += o200k(piece);
        }
        text
    }
}

#[tokio::test]
async fn nothing_is_declined_that_fits_and_nothing_is_sent_that_does_not() {
    for (seed, service) in ALL.into_iter().enumerate() {
        let mut chance = Chance(seed as u64 + 1);
        let mut house = service.house("chance").await;
        let (mut near, mut declined) = (0, 0);
        for number in 0..50 {
            let tokens = 10_000 + chance.below(7_000);
            let text = format!("Message {number}. {}", chance.text(tokens));
            house.session = house.new_session().await;
            let events = house.send(&text).await;
            let size = alone(&text);
            near += u32::from(size <= HARD);
            if errors(&events).is_empty() {
                assert!(size <= HARD, "{service:?}: {size} was sent");
            } else {
                declined += 1;
                assert!(size > HARD, "{service:?}: {size} was declined: {:?}", errors(&events));
            }
        }
        assert_eq!(house.refused(), 0, "{service:?}");
        assert!(near > 10 && declined > 2, "{service:?} {near} {declined}");
        assert!(counted(&house).len() > 10 && counted(&house).len() <= 50, "{service:?}");
    }
}

#[tokio::test]
async fn conversations_with_large_messages_go_on() {
    for (seed, service) in ALL.into_iter().enumerate() {
        let mut chance = Chance(seed as u64 + 100);
        let house = service.house("talk").await;
        for number in 0..12 {
            let tokens = 2_000 + chance.below(11_500);
            let text = format!("Message {number}. {}", chance.text(tokens));
            let events = house.send(&text).await;
            assert_eq!(errors(&events), [] as [String; 0], "{service:?} {number} {}", alone(&text));
        }
        assert_eq!(house.refused(), 0, "{service:?}");
    }
}
