use super::*;
use oneclaw_model::Attachment;
use proptest::prelude::*;
use serde_json::json;

const ALL: [Counter; 5] =
    [Counter::Responses, Counter::Messages, Counter::GenerateContent, Counter::LlamaCpp, Counter::Vllm];

fn endpoint(kind: ProviderKind, base_url: &str) -> Endpoint {
    Endpoint { kind, base_url: base_url.to_owned(), key: None }
}

fn user(text: &str, attachments: Vec<Attachment>) -> Request {
    let messages = vec![RequestMessage::User { text: text.to_owned(), attachments }];
    Request { messages, ..Request::default() }
}

fn picture() -> Attachment {
    Attachment {
        mime: "image/png".into(),
        name: "a.png".into(),
        width: None,
        height: None,
        data: Some("iVBORw0KGgo=".into()),
    }
}

#[test]
fn services_are_asked_that_have_it_or_may_have_it() {
    let of = |kind, base_url: &str, model: &str, request: &Request| {
        let endpoint = endpoint(kind, base_url);
        counters(&endpoint, &Profile::of(&endpoint, model), request).to_vec()
    };
    let plain = user("Hello", vec![]);
    let (openai, local) = (ProviderKind::OpenAi, "http://127.0.0.1:8080/v1");
    // Whichever dialect the chat is in.
    for model in ["gpt-4o", "gpt-6-sol"] {
        assert_eq!(of(openai, "https://api.openai.com/v1", model, &plain), [Counter::Responses]);
    }
    assert_eq!(of(ProviderKind::Anthropic, local, "claude-opus-5-5", &plain), [Counter::Messages]);
    assert_eq!(of(ProviderKind::Gemini, local, "gemini-2.5-flash", &plain), [Counter::GenerateContent]);
    assert_eq!(of(openai, local, "qwen3.5-9b", &plain), [Counter::LlamaCpp, Counter::Vllm]);
    assert_eq!(of(openai, local, "qwen3.5-9b", &user("Look", vec![picture()])), []);
    for base_url in [
        "https://openrouter.ai/api/v1",
        "https://api.groq.com/openai/v1",
        "https://api.deepseek.com/v1",
        "https://api.mistral.ai/v1",
        "https://api.x.ai/v1",
        "https://generativelanguage.googleapis.com/v1beta/openai",
    ] {
        assert_eq!(of(openai, base_url, "some-model", &plain), [], "{base_url}");
    }
}

#[test]
fn a_compatible_server_that_speaks_responses_counts_there() {
    let endpoint = endpoint(ProviderKind::OpenAi, "http://127.0.0.1:8080/v1");
    let mut profile = Profile::of(&endpoint, "house-model");
    profile.learnt.dialect = Some(Dialect::Responses);
    assert_eq!(counters(&endpoint, &profile, &user("Hello", vec![picture()])), [Counter::Responses]);
}

#[test]
fn sizes_are_read_where_each_service_writes_them() {
    let read = |counter: Counter, body: serde_json::Value| counter.read(body.to_string().as_bytes(), true);
    let openai = json!({"object": "response.input_tokens", "input_tokens": 97});
    assert_eq!(read(Counter::Responses, openai.clone()), Some(97));
    assert_eq!(read(Counter::LlamaCpp, openai), Some(97));
    assert_eq!(read(Counter::Messages, json!({"input_tokens": 97})), Some(97));
    let gemini = json!({"totalTokens": 97, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 90}]});
    assert_eq!(read(Counter::GenerateContent, gemini), Some(97));
    let vllm = json!({"count": 3, "max_model_len": 4_096, "tokens": [1, 2, 3], "token_strs": null});
    assert_eq!(read(Counter::Vllm, vllm), Some(3));
    // Old llama.cpp at the address of vLLM.
    assert_eq!(read(Counter::Vllm, json!({"tokens": [1, 2, 3]})), None);
}

#[test]
fn what_is_no_size_is_none() {
    for counter in ALL {
        let field = counter.field();
        let bodies = [
            String::new(),
            "<html>".to_owned(),
            "null".to_owned(),
            "[97]".to_owned(),
            "97".to_owned(),
            format!("{{\"{field}\": \"97\"}}"),
            format!("{{\"{field}\": 97.5}}"),
            format!("{{\"{field}\": -97}}"),
            format!("{{\"{field}\": 1e30}}"),
            format!("{{\"{field}\": null}}"),
            format!("{{\"{field}\": 97"),
            format!("{{\"{field}\": 97}} and more"),
            format!("{{\"{field}\": 97, \"{field}\": 98}}"),
            format!("{{\"error\": {{\"{field}\": 97}}}}"),
            format!("{{\"a\": {}", "[".repeat(100_000)),
        ];
        for body in bodies {
            assert_eq!(counter.read(body.as_bytes(), true), None, "{counter:?} {:.40}", body);
        }
    }
}

#[test]
fn only_vllm_has_answers_that_are_cut() {
    for counter in ALL {
        let body = format!("{{\"{}\": 97, \"tokens\": [1, 2, 3", counter.field());
        let expected = (counter == Counter::Vllm).then_some(97);
        assert_eq!(counter.read(body.as_bytes(), false), expected, "{counter:?}");
        // A number that is cut is another number.
        let body = format!("{{\"{}\": 97", counter.field());
        assert_eq!(counter.read(body.as_bytes(), false), None, "{counter:?}");
    }
}

#[test]
fn numbers_that_cannot_be_are_not_believed() {
    let text = "word ".repeat(2_000);
    let can = |tokens, request: &Request| can_be(tokens, request, 10_100);
    let plain = user(&text, vec![]);
    assert!(!can(0, &plain) && !can(38, &plain));
    assert!(can(39, &plain) && can(2_000, &plain) && can(10_100, &plain));
    assert!(!can(10_100 + MOST_ADDED + 1, &plain) && !can(u64::MAX, &plain));
    assert!(can(10_100 + MOST_ADDED + 1, &user(&text, vec![picture()])));
    assert!(!can(0, &Request::default()) && can(1, &Request::default()));
}

proptest! {
    #[test]
    fn no_answer_makes_reading_fail(body: Vec<u8>, is_whole: bool) {
        for counter in ALL {
            counter.read(&body, is_whole);
        }
    }

    #[test]
    fn every_size_is_read_as_it_is_written(tokens: u64, before in "[a-z]{1,8}", after: bool) {
        for counter in ALL {
            let mut fields = [format!("\"{before} \": [{{}}, null]"), format!("\"{}\": {tokens}", counter.field())];
            if after {
                fields.reverse();
            }
            let body = format!("{{{}}}", fields.join(","));
            prop_assert_eq!(counter.read(body.as_bytes(), true), Some(tokens));
        }
    }
}
