//! Replies of every kind, and requests that carry them back.

use super::*;
use oneclaw_providers::{ListedModel, Profile, Reply, Unsupported};
use oneclaw_tests::words;
use serde_json::Value;

fn calls(of: &[(&str, &str)]) -> Step {
    Step::Calls(of.iter().map(|(name, arguments)| ((*name).into(), (*arguments).into())).collect())
}

fn last_request(server: &Server) -> Value {
    server.log().pop().unwrap().request
}

/// What the server itself counted for the last request.
fn counted(server: &Server) -> u64 {
    server.log().pop().unwrap().prompt_tokens.unwrap()
}

#[tokio::test]
async fn text() {
    for kind in KINDS {
        let answer = "Good morning. It is a fine day, with äöü and 漢字.";
        let server = scripted(vec![Step::Reply(answer.into())]).await;
        let asked = Request { system: Some("Be kind.".into()), ..hello() };
        let input = prompt(&["Be kind.", "Hello"]);
        let wanted = Said {
            text: answer.into(),
            usage: Some(Usage { input, output: o200k(answer), ..Usage::default() }),
            stop: Some(StopReason::End),
            ..Said::default()
        };
        assert_eq!(ask(&server, kind, &asked).await, wanted, "{kind:?}");
        assert_eq!(counted(&server), input);
    }
}

#[tokio::test]
async fn reasoning_goes_back_as_the_service_wants_it() {
    let (thought, arguments) = ("The sky is above.", r#"{"at":"sky"}"#);
    for kind in KINDS {
        let think = Step::Think { thinking: thought.into(), then: Box::new(calls(&[("look", arguments)])) };
        let server = scripted(vec![think, Step::Reply("Blue.".into())]).await;
        let asked = Request { tools: vec![tool("look")], ..request(vec![user("What colour?")]) };
        let said = ask(&server, kind, &asked).await;
        let (thinking, call_signature) = (said.thinking.clone(), said.calls[0].signature.clone());
        // Anthropic signs the reasoning, Gemini the call, and OpenAI's dialect nothing.
        let is_signed = (signature(&said).is_some(), call_signature.is_some());
        assert_eq!(is_signed, (kind == ProviderKind::Anthropic, kind == ProviderKind::Gemini));
        let reasoning = if kind == ProviderKind::Anthropic { 0 } else { o200k(thought) };
        let output = o200k(thought) + o200k("look") + o200k(arguments);
        let wanted = Said {
            thought: thought.into(),
            thinking,
            calls: vec![Call {
                id: said.calls[0].id.clone(),
                name: "look".into(),
                arguments: arguments.into(),
                signature: call_signature,
            }],
            usage: Some(Usage { input: counted(&server), output, reasoning, ..Usage::default() }),
            stop: Some(StopReason::ToolUse),
            ..Said::default()
        };
        assert_eq!(said, wanted, "{kind:?}");

        let mut next = asked.clone();
        next.messages.extend([said.message(), result(&said.calls[0], "a blue sky")]);
        let answer = ask(&server, kind, &next).await;
        assert_eq!((answer.text.as_str(), &answer.error), ("Blue.", &None), "{kind:?}");
        let sent = last_request(&server).to_string();
        assert_eq!(sent.contains(thought), kind == ProviderKind::Anthropic, "{sent}");

        // The server would notice a signature that is not its own.
        let mut forged = said.clone();
        for thinking in &mut forged.thinking {
            if let Thinking::Signed { signature, .. } = thinking {
                *signature = "ZGVtbzEy0".into();
            }
        }
        forged.calls[0].signature = forged.calls[0].signature.take().map(|_| "ZGVtbzEy0".into());
        next.messages[1] = forged.message();
        let detail = match kind {
            ProviderKind::OpenAi => None,
            ProviderKind::Anthropic => Some("messages.1.content.0: Invalid `signature` in `thinking` block"),
            ProviderKind::Gemini => Some("Corrupted thought signature."),
        };
        let what = Unsupported::Replay;
        let error = detail.map(|detail| ProviderError::Unsupported { what, detail: detail.into() });
        assert_eq!(ask(&server, kind, &next).await.error, error, "{kind:?}");
    }
}

/// A conversation begun with another model has calls that nobody signed.
#[tokio::test]
async fn calls_without_a_signature_are_taken_where_one_is_wanted() {
    let server = scripted(vec![calls(&[("look", "{}"), ("look", "{}")]), Step::Reply("Blue.".into())]).await;
    let mut asked = Request { tools: vec![tool("look")], ..request(vec![user("What colour?")]) };
    let said = ask(&server, ProviderKind::OpenAi, &asked).await;
    asked.messages.push(said.message());
    asked.messages.extend(said.calls.iter().map(|call| result(call, "blue")));
    let answer = ask_model(&server, ProviderKind::Gemini, "gemini-3-pro", &asked).await;
    assert_eq!((answer.text.as_str(), answer.error), ("Blue.", None));
}

#[tokio::test]
async fn parallel_calls_and_their_results() {
    let long = format!(r#"{{"at":"{}","deep":{{"list":[1,2.5,null,"ü"]}}}}"#, "far ".repeat(30));
    let made = [("look", r#"{"at":"sky"}"#), ("rest", "{}"), ("look", &long)];
    for kind in KINDS {
        let server = scripted(vec![calls(&made), Step::Reply("Done.".into())]).await;
        let tools = vec![tool("look"), tool("rest")];
        let asked = Request { tools, ..request(vec![user("Look around.")]) };
        let said = ask(&server, kind, &asked).await;
        let ids: Vec<_> = said.calls.iter().map(|call| call.id.clone()).collect();
        assert!(
            ids.iter().all(|id| !id.as_str().is_empty())
                && ids[0] != ids[1]
                && ids[1] != ids[2]
                && ids[0] != ids[2]
        );
        let wanted = Said {
            calls: std::iter::zip(ids, made)
                .map(|(id, (name, arguments))| Call {
                    id,
                    name: name.into(),
                    arguments: arguments.into(),
                    signature: None,
                })
                .collect(),
            usage: Some(Usage {
                input: counted(&server),
                output: made.iter().map(|(name, arguments)| o200k(name) + o200k(arguments)).sum(),
                ..Usage::default()
            }),
            stop: Some(StopReason::ToolUse),
            ..Said::default()
        };
        assert_eq!(said, wanted, "{kind:?}");

        let mut next = asked;
        next.messages.push(said.message());
        for (call, text) in std::iter::zip(&said.calls, ["blue", "", "nothing there"]) {
            next.messages.push(result(call, text));
        }
        if let Some(RequestMessage::ToolResult { failed, attachments, .. }) = next.messages.last_mut() {
            (*failed, *attachments) = (true, vec![picture()]);
        }
        next.messages.push(user("Well?"));
        let answer = ask(&server, kind, &next).await;
        assert_eq!((answer.text.as_str(), &answer.error), ("Done.", &None), "{kind:?}");
        assert_eq!(answer.usage.unwrap().prompt(), counted(&server));
    }
}

#[tokio::test]
async fn broken_arguments_come_through() {
    for kind in KINDS {
        let server = scripted(vec![calls(&[("look", r#"{"at": "s"#)]), Step::Reply("Sorry.".into())]).await;
        let asked = Request { tools: vec![tool("look")], ..request(vec![user("Look.")]) };
        let said = ask(&server, kind, &asked).await;
        if kind == ProviderKind::Gemini {
            let stop = StopReason::Other("MALFORMED_FUNCTION_CALL".into());
            assert_eq!((&said.calls, said.stop), (&vec![], Some(stop)));
            continue;
        }
        assert_eq!(
            (said.calls[0].arguments.as_str(), &said.stop),
            (r#"{"at": "s"#, &Some(StopReason::ToolUse))
        );
        let mut next = asked;
        next.messages.extend([said.message(), result(&said.calls[0], "That is no JSON.")]);
        let answer = ask(&server, kind, &next).await;
        assert_eq!((answer.text.as_str(), answer.error), ("Sorry.", None), "{kind:?}");
    }
}

#[tokio::test]
async fn pictures_are_seen() {
    for (kind, pixels) in std::iter::zip(KINDS, [765, 1_334, 1_032]) {
        let server = scripted(vec![Step::Reply("A map.".into()), Step::Reply("A map.".into())]).await;
        for (text, tokens) in [("What is it?", o200k("What is it?")), ("", 0)] {
            let message = RequestMessage::User { text: text.into(), attachments: vec![picture()] };
            let said = ask(&server, kind, &request(vec![message])).await;
            let parts = pixels + tokens + PER_MESSAGE;
            // From 1,024 tokens on, what Anthropic was told to cache is.
            let cache_write = if kind == ProviderKind::Anthropic { parts } else { 0 };
            let input = parts + PER_REQUEST - cache_write;
            let wanted = Said {
                text: "A map.".into(),
                usage: Some(Usage { input, cache_write, output: o200k("A map."), ..Usage::default() }),
                stop: Some(StopReason::End),
                ..Said::default()
            };
            assert_eq!(said, wanted, "{kind:?}");
        }
    }
}

/// Input and both kinds of cached tokens are always the server's own count together.
#[tokio::test]
async fn usage_tells_what_was_cached() {
    for kind in KINDS {
        let server = scripted(vec![Step::Reply("One.".into()), Step::Reply("Two.".into())]).await;
        let system = words(1_500);
        let mut asked = Request { system: Some(system.clone()), ..hello() };
        let first = ask(&server, kind, &asked).await;
        let size = prompt(&[&system, "Hello"]);
        // What a request costs besides its parts is in no part.
        let parts = size - PER_REQUEST;
        let cached = |read: u64, write: u64, size: u64, output: &str| {
            let input = size - read - write;
            Some(Usage { input, cache_read: read, cache_write: write, output: o200k(output), reasoning: 0 })
        };
        let written = if kind == ProviderKind::Anthropic { parts } else { 0 };
        assert_eq!(first.usage, cached(0, written, size, "One."), "{kind:?}");
        assert_eq!(counted(&server), size);

        asked.messages.extend([first.message(), user("And now?")]);
        let second = ask(&server, kind, &asked).await;
        let longer = prompt(&[&system, "Hello", "One.", "And now?"]);
        let (read, written) = match kind {
            ProviderKind::OpenAi => (parts / 128 * 128, 0),
            ProviderKind::Anthropic => (parts, longer - PER_REQUEST - parts),
            ProviderKind::Gemini => (parts, 0),
        };
        assert_eq!(second.usage, cached(read, written, longer, "Two."), "{kind:?}");
        assert_eq!((second.usage.unwrap().prompt(), counted(&server)), (longer, longer));
    }
}

#[tokio::test]
async fn a_completion_offers_no_tools() {
    for kind in KINDS {
        let server = scripted(vec![calls(&[("look", "{}")]), Step::Reply("A title".into())]).await;
        let mut asked = Request { tools: vec![tool("look")], ..request(vec![user("Look.")]) };
        let said = ask(&server, kind, &asked).await;
        asked.messages.extend([said.message(), result(&said.calls[0], "blue"), user("Name it.")]);
        let reply = client()
            .complete(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), model(kind)), &asked)
            .await;
        let usage = Usage { input: counted(&server), output: o200k("A title"), ..Usage::default() };
        let wanted = Reply {
            text: "A title".into(),
            stop: StopReason::End,
            usage: Some(usage),
            has_reasoning: false,
            calls: 0,
        };
        assert_eq!(reply, Ok(wanted), "{kind:?}");
        let sent = last_request(&server);
        assert_eq!((sent.get("tools"), sent.get("tool_choice")), (None, None));
        assert!(sent.to_string().contains("[Called the tool look with {}]"), "{sent}");
    }
}

/// A limit made for the text alone leaves the text to models that reason first.
#[tokio::test]
async fn a_completion_has_room_for_reasoning() {
    let server = serve(config(128_000, 8_192, &["o3-mini", "gemini-2.5-pro"])).await;
    for (kind, model, reasoning) in
        [(ProviderKind::OpenAi, "o3-mini", 64), (ProviderKind::Gemini, "gemini-2.5-pro", 0)]
    {
        server.push(Step::Reply("A title".into()));
        let asked = Request { system: Some("Be brief.".into()), max_output: Some(2), ..hello() };
        let reply = client()
            .complete(&endpoint(&server, kind), &Profile::of(&endpoint(&server, kind), model), &asked)
            .await;
        let (input, output) = (prompt(&["Be brief.", "Hello"]), reasoning + o200k("A title"));
        let usage = Some(Usage { input, output, reasoning, ..Usage::default() });
        assert_eq!(
            reply,
            Ok(Reply {
                text: "A title".into(),
                stop: StopReason::End,
                usage,
                has_reasoning: reasoning > 0,
                calls: 0
            })
        );
    }
}

#[tokio::test]
async fn a_reply_is_as_long_as_was_asked() {
    for kind in KINDS {
        let server = scripted(vec![Step::Reply("One two three four five six seven.".into())]).await;
        let said = ask(&server, kind, &Request { max_output: Some(5), ..hello() }).await;
        let wanted = Said {
            text: "One two three four five".into(),
            usage: Some(Usage { input: prompt(&["Hello"]), output: 5, ..Usage::default() }),
            stop: Some(StopReason::Length),
            ..Said::default()
        };
        assert_eq!(said, wanted, "{kind:?}");
    }
}

#[tokio::test]
async fn models_are_listed_with_their_sizes() {
    let server = serve(config(8_000, 1_000, &["other"])).await;
    for kind in KINDS {
        let listed = |id: &str| ListedModel {
            id: id.into(),
            name: (kind != ProviderKind::OpenAi).then(|| id.into()),
            window: Some(8_000),
            max_output: Some(1_000),
            ..ListedModel::default()
        };
        let wanted: Vec<ListedModel> = KINDS.into_iter().map(model).chain(["other"]).map(listed).collect();
        assert_eq!(client().models(&endpoint(&server, kind)).await, Ok(wanted), "{kind:?}");
    }
}
