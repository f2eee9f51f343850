//! Another reply, another question: what was there is kept aside, and the model does not see it.

use super::kit::{House, Setup, all, errors, said, why, wordy};
use oneclaw_agent::{Enclosure, ErrorCode, Event, Failure};
use oneclaw_demo::{Fault, Step};
use oneclaw_model::Attachment;
use oneclaw_model::row::RowType;
use oneclaw_store::messages;

/// What was taken out of the session: kind and text.
fn aside(house: &House) -> Vec<(String, String)> {
    let lines = house.agent.store().read(|c| messages::taken_out(c, &house.session)).unwrap();
    let values = lines.iter().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    values.map(|v| (v["type"].as_str().unwrap().into(), v["content"].as_str().unwrap().into())).collect()
}

fn newest(house: &House) -> String {
    let rows = house.rows();
    rows.iter().rev().find(|s| s.row.kind == RowType::User).unwrap().row.id.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_reply_takes_the_place_of_the_first() {
    let house = Setup::window(32_000).build("again-reply").await;
    house.script([Step::Reply("One.".into()), Step::Reply("Two.".into()), Step::Reply("Three.".into())]);
    house.ask("Count.").await;
    for expected in ["Two.", "Three."] {
        let events = all(house.agent.regenerate(&house.session).await.unwrap()).await;
        assert_eq!(said(&events), expected);
    }
    let texts = house.texts();
    assert_eq!(texts, [(RowType::User, "Count.".to_owned()), (RowType::AiResponse, "Three.".to_owned())]);
    assert_eq!(aside(&house), [("AI_RESPONSE".into(), "One.".into()), ("AI_RESPONSE".into(), "Two.".into())]);
    assert!(house.chats().iter().all(|e| !e.request.to_string().contains("One.")));
    assert_eq!(
        house.agent.store().read(|c| oneclaw_store::sessions::get(c, &house.session)).unwrap().message_count,
        2
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_reply_after_tools_and_after_an_error() {
    let house = Setup::window(32_000).tool(wordy("read_file", 20)).build("again-tools").await;
    house.ask("Please read /tmp/a.txt").await;
    assert_eq!(house.rows().len(), 5);
    house.script([Step::Fault(Fault::ServerError(400))]);
    let failed = all(house.agent.regenerate(&house.session).await.unwrap()).await;
    assert!(matches!(failed.last(), Some(Event::Error { code: ErrorCode::Provider, .. })), "{failed:?}");
    assert_eq!(house.texts().len(), 2);
    assert_eq!(house.texts()[1].0, RowType::Error);
    let events = all(house.agent.regenerate(&house.session).await.unwrap()).await;
    assert_eq!(errors(&events), [] as [String; 0]);
    let kinds: Vec<_> = house.texts().into_iter().map(|(kind, _)| kind).collect();
    let expected =
        [RowType::User, RowType::AiResponse, RowType::ToolCall, RowType::ToolResult, RowType::AiResponse];
    assert_eq!(kinds, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_reply_where_a_compaction_has_covered_the_question() {
    let house = Setup::window(8_000).preset("opencode").build("again-covered").await;
    house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(1_500))).await;
    house.compact(None).await;
    assert_eq!(house.epochs().len(), 1);
    let events = all(house.agent.regenerate(&house.session).await.unwrap()).await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert!(house.epochs()[0].undone_at.is_some());
    let kinds: Vec<_> = house.texts().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [RowType::User, RowType::AiResponse]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_question_takes_the_place_of_the_first() {
    let house = Setup::window(32_000).build("again-edit").await;
    house.ask("Remember: the port = 8080.").await;
    house.ask("What is the prot?").await;
    let run = house.agent.edit(&house.session, &newest(&house), "What is the port?", vec![]).await.unwrap();
    assert!(house.questions().contains(&"What is the port?".to_owned()), "in the file at once");
    let events = all(run).await;
    assert!(said(&events).contains("8080"), "{}", said(&events));
    assert_eq!(house.questions(), ["Remember: the port = 8080.", "What is the port?"]);
    assert_eq!(house.rows().len(), 4);
    assert_eq!(aside(&house)[0], ("USER".into(), "What is the prot?".into()));
    assert!(!house.chats().last().unwrap().request.to_string().contains("prot?"));
}

fn picture(name: &str, data: Option<&str>) -> Attachment {
    Attachment {
        mime: "image/png".into(),
        name: name.into(),
        width: Some(640),
        height: Some(480),
        data: data.map(str::to_owned),
    }
}

fn kept(message: &str, nth: usize) -> Enclosure {
    Enclosure::Stored { message: message.to_owned(), nth }
}

/// What is attached to the newest question.
fn attached(house: &House) -> Vec<Attachment> {
    let rows = house.rows();
    rows.into_iter().rev().find(|s| s.row.kind == RowType::User).unwrap().row.attachments
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edited_question_keeps_the_pictures_that_are_named() {
    let house = Setup::window(32_000).build("again-pictures").await;
    let [first, second, third] = [("one", "b25l"), ("two", "dHdv"), ("three", "dGhyZWU=")]
        .map(|(name, data)| picture(name, Some(data)));
    let new = [&first, &second].map(|picture| Enclosure::New(picture.clone())).to_vec();
    all(house.agent.send(&house.session, "Which one?", new).await.unwrap()).await;
    all(house.agent.regenerate(&house.session).await.unwrap()).await;
    assert_eq!(
        attached(&house),
        [first.clone(), second.clone()],
        "another reply leaves the question as it is"
    );
    let question = newest(&house);
    let other = vec![kept(&question, 1), Enclosure::New(third.clone())];
    all(house.agent.edit(&house.session, &question, "Which, then?", other).await.unwrap()).await;
    assert_eq!(attached(&house), [second, third]);
    let request = house.chats().last().unwrap().request.to_string();
    assert!(
        request.contains("dHdv") && request.contains("dGhyZWU=") && !request.contains("b25l"),
        "{request}"
    );
    // What was replaced is aside, and cannot be named any more.
    let before = house.texts();
    let gone = house.agent.edit(&house.session, &newest(&house), "Again.", vec![kept(&question, 1)]).await;
    assert_eq!(why(gone), format!("there is no attachment 1 of message {question:?}"));
    assert_eq!(house.texts(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bytes_of_a_picture_are_read_one_by_one() {
    let house = Setup::window(32_000).build("again-bytes").await;
    let datas = [Some("aGk="), Some("aGk"), Some("//79"), Some("no base64"), None];
    let new = datas.iter().map(|data| Enclosure::New(picture("p", *data))).collect();
    all(house.agent.send(&house.session, "Look.", new).await.unwrap()).await;
    let question = newest(&house);
    let read = async |nth| house.agent.attachment(&question, nth).await;
    assert_eq!(read(0).await.unwrap(), b"hi");
    assert_eq!(read(1).await.unwrap(), b"hi");
    assert_eq!(read(2).await.unwrap(), [255, 254, 253]);
    assert!(matches!(read(3).await, Err(Failure::Invalid(why)) if why == "the attachment is not in base64"));
    assert!(matches!(read(4).await, Err(Failure::NotFound(what)) if what == "content of the attachment"));
    assert!(matches!(read(5).await, Err(Failure::NotFound(_))));
    house.agent.close().await;
    assert!(matches!(read(0).await, Err(Failure::Closed)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_newest_question_can_be_edited() {
    let house = Setup::window(32_000).build("again-newest").await;
    house.ask("First.").await;
    let first = newest(&house);
    house.ask("Second.").await;
    let before = house.texts();
    let refused = house.agent.edit(&house.session, &first, "Other.", vec![]).await;
    assert_eq!(why(refused), "only the newest message can be edited");
    assert_eq!(
        why(house.agent.edit(&house.session, &newest(&house), "  ", vec![]).await),
        "the message is empty"
    );
    assert_eq!(house.texts(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_came_too_late_is_kept_aside_and_not_sent_as_another_message() {
    let house = Setup::window(32_000).build("again-late").await;
    house.script([Step::Fault(Fault::Stall)]);
    let held = house.agent.send(&house.session, "First.", vec![]).await.unwrap();
    while house.exchanges().is_empty() {
        tokio::task::yield_now().await;
    }
    // Both wait in line behind the turn that is held; the message goes first.
    let second = house.agent.send(&house.session, "Second.", vec![]).await.unwrap();
    let first = house.rows()[0].row.id.clone();
    let late = house.agent.edit(&house.session, &first, "First, edited late.", vec![]).await.unwrap();
    house.agent.stop(&house.session);
    all(held).await;
    all(second).await;
    let errors = errors(&all(late).await);
    assert!(errors.len() == 1 && errors[0].contains("only the newest message can be edited"), "{errors:?}");
    house.ask("Third.").await;
    assert_eq!(house.questions(), ["First.", "Second.", "Third."]);
    assert_eq!(aside(&house), [("USER".into(), "First, edited late.".into())]);
    assert!(house.chats().iter().all(|e| !e.request.to_string().contains("edited late")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_is_stopped_in_line_is_not_sent_as_another_message() {
    let house = Setup::window(32_000).build("again-stopped").await;
    house.script([Step::Fault(Fault::Stall)]);
    let held = house.agent.send(&house.session, "First.", vec![]).await.unwrap();
    while house.exchanges().is_empty() {
        tokio::task::yield_now().await;
    }
    let edit = house.agent.edit(&house.session, &newest(&house), "First, edited.", vec![]).await.unwrap();
    edit.stopper().stop();
    all(edit).await;
    house.agent.stop(&house.session);
    all(held).await;
    house.ask("Second.").await;
    assert_eq!(house.questions(), ["First.", "Second."]);
    assert_eq!(aside(&house), [("USER".into(), "First, edited.".into())]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_is_nothing_to_answer_in_an_empty_session() {
    let house = Setup::default().build("again-empty").await;
    let events = all(house.agent.regenerate(&house.session).await.unwrap()).await;
    assert_eq!(errors(&events).len(), 1);
    assert!(errors(&events)[0].contains("there is no message to answer"), "{:?}", errors(&events));
}
