//! What stands around a conversation: titles, pins, status, models, preferences.

use super::kit::{MODEL, PROVIDER, Setup, all, errors, why};
use oneclaw_agent::{Failure, Preferences, UNTITLED};
use oneclaw_demo::{Fault, Step};
use oneclaw_model::row::RowType;
use oneclaw_store::sessions::{self, Cursor, Shelf};
use oneclaw_store::{agents, messages};

async fn title(house: &super::kit::House, session: &str) -> String {
    // The title comes beside the reply; closing gives up on it, so it is waited for here.
    for _ in 0..600 {
        let title = house.agent.store().read(|c| sessions::get(c, session)).unwrap().title;
        if title != UNTITLED {
            return title;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    UNTITLED.to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_session_gets_a_title_of_its_first_two_thousand_characters() {
    let house = Setup::window(32_000).build("sessions-title").await;
    let session = house.agent.create_session().await.unwrap();
    house.agent.set_model(&session, PROVIDER, MODEL).await.unwrap();
    let text = format!("Plan a journey to Rome in May. {} the end", "gravel road ".repeat(400));
    house.script([Step::Reply("Gladly.".into()), Step::Reply("\"A journey to Rome.\"".into())]);
    let events = all(house.agent.send(&session, &text, vec![]).await.unwrap()).await;
    assert_eq!(errors(&events), [] as [String; 0]);
    assert_eq!(title(&house, &session).await, "A journey to Rome");
    let asked = house.exchanges().pop().unwrap().request;
    let shown = asked["messages"][1]["content"].as_str().unwrap().to_owned();
    assert_eq!(shown.encode_utf16().count(), 2_000);
    assert!(shown.starts_with("User: Plan a journey"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_title_that_cannot_be_had_is_the_start_of_the_message() {
    let house = Setup::window(32_000).build("sessions-no-title").await;
    let session = house.agent.create_session().await.unwrap();
    house.agent.set_model(&session, PROVIDER, MODEL).await.unwrap();
    house.script([Step::Reply("Gladly.".into()), Step::Fault(Fault::ServerError(400))]);
    all(house.agent.send(&session, "Plan a journey.\nTo Rome.", vec![]).await.unwrap()).await;
    assert_eq!(title(&house, &session).await, "Plan a journey");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_title_of_the_user_stays() {
    let house = Setup::window(32_000).build("sessions-own-title").await;
    house.ask("Write 5 words.").await;
    house.agent.close().await;
    assert_eq!(house.exchanges().len(), 1, "no title is asked for");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pins_are_carried_word_for_word_and_refused_where_they_are_too_large() {
    let house = Setup::window(8_000).build("sessions-pins").await;
    house.ask("My rule: never touch /srv/ledger.db <b>&</b> \"keep\" it.").await;
    for _ in 0..3 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(700))).await;
    }
    let rows = house.rows();
    let users: Vec<_> =
        rows.iter().filter(|s| s.row.kind == RowType::User).map(|s| s.row.id.clone()).collect();
    house.agent.pin(&house.session, &users[0]).await.unwrap();
    house.agent.pin(&house.session, &users[0]).await.unwrap();
    let refused = house.agent.pin(&house.session, &users[1]).await;
    assert!(matches!(refused, Err(Failure::Pin(_))), "{refused:?}");
    house.compact(None).await;
    house.ask("Write 5 words.").await;
    let sent = house.chats().pop().unwrap().request.to_string();
    assert!(sent.contains("never touch /srv/ledger.db"), "{sent}");
    let status = house.agent.status(&house.session).await.unwrap();
    assert_eq!(status.pins.iter().map(|s| &s.stored.row.id).collect::<Vec<_>>(), [&users[0]]);
    house.agent.unpin(&house.session, &users[0]).await.unwrap();
    assert_eq!(house.agent.status(&house.session).await.unwrap().pins.len(), 0);
    let other = house.new_session().await;
    let refused = why(house.agent.pin(&other, &users[0]).await);
    assert_eq!(refused, format!("there is no message {:?}", users[0]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn compactions_can_be_undone_and_reset() {
    let house = Setup::window(8_000).build("sessions-undo").await;
    for _ in 0..3 {
        house.ask(&format!("Write 20 words. {}", "gravel road ".repeat(700))).await;
    }
    let before = house.agent.status(&house.session).await.unwrap();
    house.compact(None).await;
    let compacted = house.agent.status(&house.session).await.unwrap();
    assert!(compacted.estimate.expected < before.estimate.expected / 2);
    assert!(compacted.summary.is_some());
    assert!(house.agent.undo(&house.session).await.unwrap().is_some());
    let undone = house.agent.status(&house.session).await.unwrap();
    assert_eq!(undone.summary, None);
    assert!(undone.estimate.expected > compacted.estimate.expected * 2);
    assert_eq!(house.agent.undo(&house.session).await.unwrap(), None);
    house.compact(None).await;
    house.agent.reset(&house.session).await.unwrap();
    assert_eq!(house.agent.status(&house.session).await.unwrap().summary, None);
    assert!(house.epochs().iter().all(|epoch| epoch.undone_at.is_some()));
    assert_eq!(house.rows().len(), 6, "rows are never changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_makes_no_sense_is_refused_and_leaves_nothing() {
    let house = Setup::default().build("sessions-refused").await;
    let agent = &house.agent;
    assert_eq!(why(agent.send(&house.session, " \n", vec![]).await), "the message is empty");
    assert_eq!(why(agent.send("nobody", "Hello", vec![]).await), "there is no session \"nobody\"");
    assert_eq!(why(agent.set_model(&house.session, "nobody", "x").await), "there is no provider \"nobody\"");
    assert_eq!(why(agent.set_model(&house.session, PROVIDER, " ").await), "a model needs a name");
    assert_eq!(why(agent.status("nobody").await), "there is no session \"nobody\"");
    let with = |agent_id, provider: &str, model: &str| {
        agent.create_session_with(agent_id, Some((provider.to_owned(), model.to_owned())))
    };
    let count = || {
        house
            .agent
            .store()
            .read(|c| sessions::list(c, Shelf::Open, Cursor::FIRST, 10))
            .unwrap()
            .sessions
            .len()
    };
    assert_eq!(why(with("nobody", PROVIDER, MODEL).await), "there is no agent \"nobody\"");
    assert_eq!(why(with(agents::GENERAL_ASSISTANT, "nobody", "x").await), "there is no provider \"nobody\"");
    assert_eq!(why(with(agents::GENERAL_ASSISTANT, PROVIDER, " ").await), "a model needs a name");
    assert_eq!(count(), 1, "the house's own");
    assert_eq!(house.rows().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn preferences_are_kept_and_used() {
    let mut house = Setup::default().build("sessions-preferences").await;
    assert_eq!(house.agent.preferences().await.unwrap(), Preferences::default());
    let mut wanted = Preferences { preset: "nous".into(), ..Preferences::default() };
    wanted.overrides.insert("threshold".into(), "0.7".into());
    house.agent.set_preferences(wanted.clone()).await.unwrap();
    house.restart().await;
    house.agent.use_preferences().await.unwrap();
    assert_eq!(*house.agent.policy(), wanted.policy().unwrap());
    wanted.overrides.insert("nonsense".into(), "1".into());
    assert!(why(house.agent.set_preferences(wanted).await).starts_with("unknown field \"nonsense\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_lists_its_models_and_the_newest_message_is_in_the_preview() {
    let house = Setup::default().build("sessions-models").await;
    let listed = house.agent.models(PROVIDER).await.unwrap();
    assert_eq!(listed.iter().map(|m| m.id.as_str()).collect::<Vec<_>>(), [MODEL]);
    house.ask("Write 5 words.").await;
    let plan = house.agent.preview(&house.session).await.unwrap();
    assert_eq!(plan.request.messages.len(), 2);
    let rows =
        house.agent.store().read(|c| messages::newest_user(c, &house.session, oneclaw_store::Place::END));
    assert_eq!(plan.request.messages[0].text(), rows.unwrap().unwrap().row.content);
}
