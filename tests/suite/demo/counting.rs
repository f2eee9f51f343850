//! The size of a prompt: the same that the window and the usage go by, refused where asking is refused, switched off, and wrong
//! on demand.

use super::client::{ALL, Answer, Form, Protocol, post, with};
use super::words;
use oneclaw_demo::{Config, Ending, Fault, Flavour, Model, Server, Step};
use oneclaw_model::Usage;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const VERSION: [(&str, &str); 1] = [("anthropic-version", "2023-06-01")];

/// Where the size of a prompt is asked for, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counter {
    protocol: Protocol,
    flavour: Flavour,
    path: &'static str,
    /// The number in its answer.
    field: &'static str,
}

const COUNTERS: [Counter; 5] = [
    Counter {
        protocol: Protocol::Responses,
        flavour: Flavour::Plain,
        path: "/v1/responses/input_tokens",
        field: "input_tokens",
    },
    Counter {
        protocol: Protocol::Anthropic,
        flavour: Flavour::Plain,
        path: "/v1/messages/count_tokens",
        field: "input_tokens",
    },
    Counter {
        protocol: Protocol::Gemini,
        flavour: Flavour::Plain,
        path: "/v1beta/models/demo:countTokens",
        field: "totalTokens",
    },
    Counter {
        protocol: Protocol::OpenAi,
        flavour: Flavour::LlamaCpp,
        path: "/v1/chat/completions/input_tokens",
        field: "input_tokens",
    },
    Counter { protocol: Protocol::OpenAi, flavour: Flavour::Vllm, path: "/tokenize", field: "count" },
];

impl Counter {
    async fn server(self, config: Config) -> Server {
        let models = vec![Model { id: "demo".into(), window: 2_000, max_output: 500 }];
        Server::start(Config { models, flavour: self.flavour, ..config }).await.unwrap()
    }

    /// The request of a turn as this endpoint wants it.
    fn body(self, ask: &Value) -> Value {
        match self.protocol {
            Protocol::Anthropic => with(ask.clone(), json!({"max_tokens": null})),
            Protocol::Gemini => {
                json!({"generateContentRequest": with(ask.clone(), json!({"model": "models/demo"}))})
            }
            Protocol::Responses => with(ask.clone(), json!({"store": null})),
            Protocol::OpenAi => ask.clone(),
        }
    }

    async fn ask(self, server: &Server, body: &Value) -> Answer {
        post(server, self.path, &VERSION, body).await.unwrap()
    }

    async fn count(self, server: &Server, ask: &Value) -> u64 {
        let answer = self.ask(server, &self.body(ask)).await;
        assert_eq!(answer.status, 200, "{self:?} {}", answer.text());
        answer.json()[self.field].as_u64().unwrap()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_count_is_the_size_that_the_usage_reports(
        texts in prop::collection::vec("[a-zäß ,.\n]{1,300}[a-z]", 1..4),
        has_tools: bool,
    ) {
        runtime().block_on(async {
            for counter in COUNTERS {
                let server = counter.server(Config::default()).await;
                let said: Vec<&str> = texts.iter().flat_map(|text| [text.as_str(), "Noted."]).collect();
                let mut ask = counter.protocol.chat(&said[..said.len() - 1]);
                if has_tools {
                    ask["tools"] = super::time_tool(counter.protocol);
                }
                let counted = counter.count(&server, &ask).await;
                let reply = counter.protocol.send(&server, Form::Whole, &ask).await.unwrap();
                assert_eq!(reply.status, 200, "{}", reply.text());
                let log = server.log();
                assert_eq!(log.len(), 2);
                let usage = log[1].usage.unwrap();
                assert_eq!((counted, log[0].prompt_tokens), (usage.prompt(), Some(usage.prompt())), "{counter:?}");
                assert_eq!(log[0].usage, None, "counting costs nothing");
            }
        });
    }
}

#[tokio::test]
async fn the_window_is_full_where_the_count_says_so() {
    for counter in COUNTERS {
        let server = counter.server(Config::default()).await;
        let cap = json!({"max_tokens": null});
        let sized = |tokens: usize| {
            let ask = counter.protocol.ask(&words(tokens));
            // Anthropic wants to know how long a reply may be, and takes no room for it that is not there.
            if counter.protocol == Protocol::Anthropic { ask } else { with(ask, cap.clone()) }
        };
        let room = if counter.protocol == Protocol::Anthropic {
            sized(1)["max_tokens"].as_u64().unwrap()
        } else {
            0
        };
        // A word is a token; the message and the request take seven more.
        let full = 2_000 - 7 - room as usize;
        assert_eq!(counter.count(&server, &sized(full)).await, 2_000 - room, "{counter:?}");
        let answer = counter.protocol.send(&server, Form::Whole, &sized(full)).await.unwrap();
        assert_eq!(answer.status, 200, "{counter:?} {}", answer.text());
        // What does not fit is counted all the same.
        assert_eq!(counter.count(&server, &sized(full + 1)).await, 2_001 - room, "{counter:?}");
        let answer = counter.protocol.send(&server, Form::Whole, &sized(full + 1)).await.unwrap();
        assert_eq!(answer.status, 400, "{counter:?}");
    }
}

#[tokio::test]
async fn what_is_no_request_has_no_size() {
    for counter in COUNTERS {
        let server = counter.server(Config::default()).await;
        let good = counter.protocol.ask("hi");
        let (content, tool) = match counter.protocol {
            Protocol::Gemini => ("contents", json!({"functionDeclarations": [{"name": "a b"}]})),
            Protocol::Responses => ("input", json!({"type": "function", "name": "a b"})),
            Protocol::Anthropic => ("messages", json!({"name": "a b"})),
            Protocol::OpenAi => ("messages", json!({"type": "function", "function": {"name": "a b"}})),
        };
        for wrong in [
            with(good.clone(), json!({"tools": [tool]})),
            with(good.clone(), json!({ content: [{"role": "nobody"}] })),
            with(good.clone(), json!({ content: null })),
            with(good.clone(), json!({"surprise": 1})),
        ] {
            let asked = counter.protocol.send(&server, Form::Whole, &wrong).await.unwrap();
            let counted = counter.ask(&server, &counter.body(&wrong)).await;
            assert_eq!((asked.status, counted.status), (400, 400), "{counter:?} {wrong}");
            assert_eq!(asked.json(), counted.json(), "{counter:?} {wrong}");
        }
        let absent = with(counter.body(&good), json!({"model": "absent"}));
        if counter.protocol != Protocol::Gemini {
            assert_eq!(counter.ask(&server, &absent).await.status, 404, "{counter:?}");
        }
    }
}

#[tokio::test]
async fn what_says_something_about_the_reply_is_not_taken() {
    let [responses, messages, gemini, ..] = COUNTERS;
    for (counter, field, words) in [
        (responses, json!({"stream": true}), "Unknown parameter: 'stream'."),
        (responses, json!({"store": false}), "Unknown parameter: 'store'."),
        (responses, json!({"max_output_tokens": 100}), "Unknown parameter: 'max_output_tokens'."),
        (messages, json!({"stream": true}), "stream: Extra inputs are not permitted"),
        (messages, json!({"max_tokens": 100}), "max_tokens: Extra inputs are not permitted"),
        (gemini, json!({"generationConfig": {}}), "Unknown name \"generationConfig\""),
        (gemini, json!({"contents": []}), "Only one of"),
    ] {
        let server = counter.server(Config::default()).await;
        let body = with(counter.body(&counter.protocol.ask("hi")), field);
        let answer = counter.ask(&server, &body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert!(
            answer.text().contains(&json!(words).to_string().trim_matches('"').to_owned()),
            "{}",
            answer.text()
        );
    }
    // A whole request names its model, and contents may come alone.
    let server = gemini.server(Config::default()).await;
    let ask = Protocol::Gemini.ask(&words(90));
    for model in [Value::Null, json!("demo"), json!("models/other")] {
        let body = json!({"generateContentRequest": with(ask.clone(), json!({"model": model}))});
        assert_eq!(gemini.ask(&server, &body).await.status, 400, "{body}");
    }
    assert_eq!(
        gemini.ask(&server, &json!({"contents": ask["contents"]})).await.json(),
        json!({"totalTokens": 97})
    );
}

#[tokio::test]
async fn vllm_sends_the_tokens_along_behind_their_number() {
    let vllm = COUNTERS[4];
    let server = vllm.server(Config::default()).await;
    let answer = vllm.ask(&server, &Protocol::OpenAi.ask(&words(50))).await;
    assert!(
        answer.text().starts_with("{\"count\":57,\"max_model_len\":2000,\"tokens\":["),
        "{}",
        answer.text()
    );
    assert_eq!(answer.json()["tokens"].as_array().unwrap().len(), 57);
}

#[tokio::test]
async fn counting_can_be_switched_off() {
    for counter in COUNTERS {
        let server = counter.server(Config { counts: false, ..Config::default() }).await;
        let ask = counter.protocol.ask("hi");
        assert_eq!(counter.ask(&server, &counter.body(&ask)).await.status, 404, "{counter:?}");
        assert_eq!(counter.protocol.send(&server, Form::Whole, &ask).await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn counting_wants_the_key() {
    for counter in COUNTERS {
        let server = counter.server(Config { key: Some("secret".into()), ..Config::default() }).await;
        let body = counter.body(&counter.protocol.ask("hi"));
        assert_eq!(counter.ask(&server, &body).await.status, 401, "{counter:?}");
        let keys = [
            VERSION[0],
            ("authorization", "Bearer secret"),
            ("x-api-key", "secret"),
            ("x-goog-api-key", "secret"),
        ];
        assert_eq!(post(&server, counter.path, &keys, &body).await.unwrap().status, 200, "{counter:?}");
    }
}

#[tokio::test]
async fn sizes_are_wrong_on_demand() {
    for counter in COUNTERS {
        let server = counter.server(Config::default()).await;
        let ask = counter.protocol.ask("hi");
        let body = counter.body(&ask);
        let usage = Usage { input: 7_777, ..Usage::default() };
        server.set_counts(Some(Step::Usage { usage, then: Box::new(Step::Model) }));
        for _ in 0..2 {
            assert_eq!(counter.ask(&server, &body).await.json()[counter.field], 7_777, "{counter:?}");
        }
        server.set_counts(Some(Step::Reply("many".into())));
        assert_eq!(counter.ask(&server, &body).await.json()[counter.field], "many", "{counter:?}");
        // Calls of the model are as they were.
        let answer = counter.protocol.send(&server, Form::Whole, &ask).await.unwrap();
        assert_eq!(answer.status, 200);
        assert!(server.log().last().unwrap().usage.unwrap().prompt() < 100);
        server.set_counts(None);
        assert!(counter.count(&server, &ask).await < 100);
    }
}

#[tokio::test]
async fn counting_goes_wrong_on_demand() {
    for counter in COUNTERS {
        let server = counter.server(Config::default()).await;
        let body = counter.body(&counter.protocol.ask("hi"));
        for status in [404, 405, 500, 501, 503] {
            server.set_counts(Some(Step::Fault(Fault::ServerError(status))));
            assert_eq!(counter.ask(&server, &body).await.status, status, "{counter:?}");
        }
        for fault in [Fault::Refuse, Fault::CloseBeforeHeaders] {
            server.set_counts(Some(Step::Fault(fault)));
            assert!(post(&server, counter.path, &VERSION, &body).await.is_none(), "{counter:?}");
        }
        server.set_counts(Some(Step::Fault(Fault::WrongContentType)));
        assert_eq!(counter.ask(&server, &body).await.header("content-type"), Some("text/html"));
        server.set_counts(Some(Step::Fault(Fault::Drip(Duration::from_millis(5)))));
        let start = Instant::now();
        let answer = counter.ask(&server, &body).await;
        assert!(start.elapsed() >= Duration::from_millis(60), "{:?}", start.elapsed());
        assert!(answer.json()[counter.field].as_u64().unwrap() > 0, "{counter:?}");
        server.set_counts(Some(Step::Fault(Fault::Stall)));
        let silent = tokio::time::timeout(Duration::from_millis(100), counter.ask(&server, &body)).await;
        assert!(silent.is_err(), "{counter:?}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_ends_somewhere() {
    let server = COUNTERS[0].server(Config::default()).await;
    server.set_counts(Some(Step::Fault(Fault::Endless)));
    let answer = COUNTERS[0].ask(&server, &COUNTERS[0].body(&Protocol::Responses.ask("hi"))).await;
    assert!(answer.text().starts_with("{\"numbers\":[0,0,") && answer.body.len() > 64 * 1_024 * 1_024);
    for protocol in ALL {
        server.set_counts(None);
        server.push(Step::Fault(Fault::Endless));
        let answer = protocol.send(&server, Form::Whole, &protocol.ask("hi")).await.unwrap();
        assert!(answer.body.len() > 64 * 1_024 * 1_024, "{protocol:?}");
        assert_eq!(server.log().last().unwrap().ending, Ending::Whole);
    }
}
