//! Long pastes one after the other, on services that are not asked to count: every one that fits is answered.

use super::kit::{House, Setup, errors, names};
use super::limits::canned;
use crate::estimation_text::{corpus, o200k};
use crate::http::Act;
use oneclaw_demo::Tokenizer;
use oneclaw_model::ProviderKind;
use std::sync::Arc;

const WINDOW: u64 = 16_000;
const CLASSES: [&str; 7] =
    ["english", "code_rust", "json_records", "logs", "chinese", "code_python", "japanese"];

/// A text of a class of about so many tokens, each line said once more with a number before it.
fn paste(class: &str, tokens: u64) -> String {
    let corpus = corpus(class);
    let mut text = String::new();
    for (number, line) in corpus.lines().cycle().enumerate() {
        if number % 40 == 0 && o200k(&text) >= tokens {
            break;
        }
        text.push_str(line);
        text.push_str(if number % 7 == 6 { " \n" } else { "\n" });
    }
    let end = text
        .char_indices()
        .rev()
        .map(|(at, _)| at)
        .step_by(200)
        .find(|at| o200k(text.get(..*at).unwrap_or_default()) <= tokens);
    text.truncate(end.unwrap_or(0));
    text
}

fn setup(kind: ProviderKind) -> Setup {
    Setup { kind, max_output: 4_096, ..Setup::window(WINDOW) }
}

async fn every_paste_is_answered(house: &House) {
    for number in 0..21u64 {
        let class = CLASSES[number as usize % CLASSES.len()];
        let text = paste(class, 5_000 + 300 * number);
        let events = house.send(&format!("Paste {number}:\n{text}")).await;
        assert_eq!(errors(&events), [] as [String; 0], "{number} {class}");
        assert!(names(&events).contains(&"ResponseComplete".to_owned()));
    }
    assert_eq!((house.refused(), house.questions().len()), (0, 21));
}

#[tokio::test]
async fn twenty_one_pastes_to_an_openai_service() {
    every_paste_is_answered(&setup(ProviderKind::OpenAi).build("paste-openai").await).await;
}

#[tokio::test]
async fn twenty_one_pastes_to_an_anthropic_service() {
    let setup = Setup { served: vec![("claude-3-5-haiku", WINDOW)], ..setup(ProviderKind::Anthropic) };
    every_paste_is_answered(&setup.build("paste-anthropic").await).await;
}

/// A vocabulary that makes more tokens of everything than any estimate expects.
struct Dense;

impl Tokenizer for Dense {
    fn count(&self, text: &str) -> u64 {
        o200k(text) * 8 / 5
    }
}

/// A message whose likely size is just below what can be sent.
fn doubtful(kind: ProviderKind) -> String {
    paste("english", if kind == ProviderKind::Anthropic { 12_000 } else { 13_500 })
}

async fn window(house: &House) -> Option<u64> {
    house.agent.status(&house.session).await.unwrap().window
}

#[tokio::test]
async fn a_try_that_fails_ends_in_a_context_error_and_teaches_the_density() {
    for kind in [ProviderKind::OpenAi, ProviderKind::Anthropic] {
        let setup = Setup { tokenizer: Arc::new(Dense), ..setup(kind) };
        let house = setup.build(&format!("paste-dense-{kind:?}")).await;
        let events = house.send(&doubtful(kind)).await;
        let [error] = &errors(&events)[..] else { panic!("{:?}", names(&events)) };
        assert!(error.starts_with("Context final: The newest message is too large"), "{kind:?}: {error}");
        assert_eq!((house.refused(), window(&house).await), (1, Some(WINDOW)), "{kind:?}");
        // From now on it is known without asking.
        assert_eq!(errors(&house.send(&doubtful(kind)).await).len(), 1);
        assert_eq!(house.refused(), 1, "{kind:?}");
        assert!(house.ask("The ferry waits.").await.contains("The ferry waits."));
    }
}

#[tokio::test]
async fn a_try_that_is_refused_without_a_number_says_nothing_against_the_window() {
    let house = setup(ProviderKind::OpenAi).build("paste-numberless").await;
    let refusal = r#"{"error":{"message":"Please reduce the length of the messages or completion."}}"#;
    let server = canned(&house, move |_, _| Act::answer("400 Bad Request", "", refusal)).await;
    let events = house.send(&doubtful(ProviderKind::OpenAi)).await;
    let [error] = &errors(&events)[..] else { panic!("{:?}", names(&events)) };
    assert!(error.starts_with("Context final: "), "{error}");
    assert_eq!((server.requests().len(), window(&house).await), (1, Some(WINDOW)));
}
