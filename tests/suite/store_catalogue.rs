//! What surrounds conversations: what the engine learnt, what waits, services and models, agents, settings, versions.

use crate::store::{Folder, NOW, check_schema};
use crate::store_kit::{append, as_fourth_core, fresh, ids, other_app, rows, user};
use oneclaw_model::{PRESET_MODELS, ProviderKind};
use oneclaw_store::agents::{self, Agent, GENERAL_ASSISTANT};
use oneclaw_store::catalogue::{self, CUSTOM, Model, Provider};
use oneclaw_store::engine::{self, Lesson, ModelAt, Notes};
use oneclaw_store::queue::{self, Queued};
use oneclaw_store::survey::survey;
use oneclaw_store::{Change, Store, StoreError, examine, sessions, settings};

fn reopened(store: Store) -> Store {
    let path = store.path().to_owned();
    drop(store);
    Store::open_existing(&path).unwrap()
}

#[test]
fn what_the_engine_notes_is_there_after_a_restart() {
    let folder = Folder::new("notes");
    let store = fresh(&folder, &["s", "t"]);
    assert_eq!(store.read(|c| engine::notes(c, "s")).unwrap(), Notes::default());
    store
        .write(|t| {
            engine::set_attempt(t, "s", Some("tried"))?;
            engine::set_anchor(t, "s", "anchor 1")?;
            engine::set_anchor(t, "s", "anchor 2")?;
            engine::set_chunk(t, "s", "key", "part")?;
            engine::set_chunk(t, "s", "key", "better part")?;
            engine::set_chunk(t, "t", "key", "theirs")
        })
        .unwrap();
    append(&store, "s", &user("m", NOW));
    let store = reopened(store);
    let expected = Notes { attempt: Some("tried".into()), anchor: Some("anchor 2".into()) };
    assert_eq!(store.read(|c| engine::notes(c, "s")).unwrap(), expected);
    let chunk = |session: &str, key: &str| store.read(|c| engine::chunk(c, session, key)).unwrap();
    assert_eq!(chunk("s", "key").as_deref(), Some("better part"));
    assert_eq!(chunk("t", "key").as_deref(), Some("theirs"));
    assert_eq!(chunk("s", "other"), None);
    store.write(|t| engine::set_attempt(t, "s", None)).unwrap();
    assert_eq!(store.read(|c| engine::notes(c, "s")).unwrap(), Notes { attempt: None, ..expected });
}

fn lesson(topic: &str, value: &str, learnt_at: i64) -> Lesson {
    Lesson { topic: topic.into(), value: value.into(), heard: 3, learnt_at }
}

#[test]
fn what_was_learnt_belongs_to_one_model_at_one_service() {
    let folder = Folder::new("learnt");
    let store = fresh(&folder, &[]);
    let at =
        |kind, base_url: &str, model: &str| ModelAt { kind, base_url: base_url.into(), model: model.into() };
    let model = at(ProviderKind::OpenAi, "https://a/v1", "m");
    let second = at(ProviderKind::OpenAi, "https://a/v1", "n");
    let window = lesson("window", "32768", NOW);
    store
        .write(|t| {
            engine::set_lesson(t, &model, &lesson("window", "40000", NOW - 1))?;
            engine::set_lesson(t, &model, &window)?;
            engine::set_lesson(t, &model, &lesson("density", "1.5", NOW - 10))?;
            engine::set_lesson(t, &second, &lesson("window", "8000", NOW - 5))?;
            engine::set_listed(t, &model, "{}")
        })
        .unwrap();
    let store = reopened(store);
    let found = |model: &ModelAt| store.read(|c| engine::lessons(c, model)).unwrap();
    assert_eq!(found(&model), [lesson("density", "1.5", NOW - 10), window.clone()]);
    for other in
        [at(ProviderKind::Gemini, "https://a/v1", "m"), at(ProviderKind::OpenAi, "https://b/v1", "m")]
    {
        assert_eq!(found(&other), []);
        assert_eq!(store.read(|c| engine::listed(c, &other)).unwrap(), None);
    }
    assert_eq!(store.read(engine::all_lessons).unwrap().len(), 3);
    assert_eq!(store.read(engine::all_lessons).unwrap()[1], (model.clone(), window.clone()));
    let forget = |topic: &str| store.write(|t| engine::forget_lesson(t, &model, topic)).unwrap();
    assert!(forget("density") && !forget("density"));
    store.write(|t| engine::forget_lessons_before(t, NOW)).unwrap();
    assert_eq!(store.read(engine::all_lessons).unwrap(), [(model.clone(), window)]);
    assert_eq!(
        store.read(|c| engine::listed(c, &model)).unwrap().as_deref(),
        Some("{}"),
        "a list is no lesson"
    );
}

#[test]
fn what_waits_is_found_after_a_restart_the_oldest_first() {
    let folder = Folder::new("queue");
    let store = fresh(&folder, &["a", "b", "c"]);
    let entry = |session: &str, queued_at, focus: Option<&str>| Queued {
        session_id: session.into(),
        reason: "threshold".into(),
        focus: focus.map(Into::into),
        queued_at,
    };
    for entry in
        [entry("a", 5, None), entry("b", 3, Some("the API")), entry("c", 3, None), entry("a", 4, Some("x"))]
    {
        store.write(|t| queue::put(t, &entry)).unwrap();
    }
    let store = reopened(store);
    let list = || store.read(queue::list).unwrap();
    assert_eq!(list(), [entry("b", 3, Some("the API")), entry("c", 3, None), entry("a", 4, Some("x"))]);
    store.write(|t| queue::remove(t, "b")).unwrap();
    store.purge("c").unwrap();
    assert_eq!(list(), [entry("a", 4, Some("x"))]);
    assert!(store.write(|t| queue::put(t, &entry("nobody", 1, None))).is_err());
    assert_eq!(list().len(), 1);
}

fn refusal(store: &Store, error: &StoreError) -> String {
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    error.to_string().replace(&format!("{}: ", store.path().display()), "")
}

fn mine() -> Provider {
    Provider {
        id: "mine".into(),
        name: "My server".into(),
        kind: ProviderKind::OpenAi,
        base_url: "http://127.0.0.1:8080/v1".into(),
        is_preset: false,
        is_active: true,
    }
}

#[test]
fn services_are_added_changed_and_removed_but_not_the_apps_own() {
    let folder = Folder::new("providers");
    let store = fresh(&folder, &[]);
    let names =
        || -> Vec<String> { store.read(catalogue::providers).unwrap().into_iter().map(|p| p.id).collect() };
    store.write(|t| catalogue::save_provider(t, &Provider { is_preset: true, ..mine() }, NOW)).unwrap();
    assert_eq!(store.read(|c| catalogue::provider(c, "mine")).unwrap(), mine());
    assert_eq!(names(), ["provider-openai", "provider-anthropic", "provider-gemini", "mine"]);
    let changed = Provider { kind: ProviderKind::Gemini, is_active: false, ..mine() };
    store.write(|t| catalogue::save_provider(t, &changed, NOW)).unwrap();
    assert_eq!(store.read(|c| catalogue::provider(c, "mine")).unwrap(), changed);
    let own = store.read(|c| catalogue::provider(c, "provider-openai")).unwrap();
    let off = Provider { is_preset: false, is_active: false, ..own.clone() };
    store.write(|t| catalogue::save_provider(t, &off, NOW)).unwrap();
    let kept = store.read(|c| catalogue::provider(c, "provider-openai")).unwrap();
    assert_eq!(kept, Provider { is_active: false, ..own }, "it stays the app's own");
    let error = store.write(|t| catalogue::remove_provider(t, "provider-openai")).unwrap_err();
    let expected = "provider \"provider-openai\" belongs to the app; it can be switched off";
    assert_eq!(refusal(&store, &error), expected);
    store.write(|t| catalogue::save_model(t, &custom("x", None))).unwrap();
    store.write(|t| catalogue::remove_provider(t, "mine")).unwrap();
    assert_eq!(names().len(), 3);
    assert_eq!(store.read(|c| catalogue::models(c, "mine")).unwrap(), []);
    let error = store.write(|t| catalogue::remove_provider(t, "mine")).unwrap_err();
    assert!(error.to_string().ends_with("has no provider \"mine\""));
}

#[test]
fn an_address_with_a_secret_in_it_is_refused() {
    let folder = Folder::new("addresses");
    let store = fresh(&folder, &[]);
    let secret = "a base URL has no user, password or query; keys are kept elsewhere";
    let scheme = "a base URL begins with https:// or http://";
    let host = "the base URL names no host";
    for (url, expected) in [
        ("https://user:password@example.org/v1", secret),
        ("https://sk-key@example.org", secret),
        ("https://example.org/v1?key=abc", secret),
        ("https://example.org?key=abc", secret),
        ("https://example.org/v1#key", secret),
        ("ftp://example.org", scheme),
        ("example.org", scheme),
        ("", scheme),
        ("https://", host),
        ("https:///v1", host),
        ("https://example.org /v1", host),
    ] {
        let provider = Provider { base_url: url.into(), ..mine() };
        let error = store.write(|t| catalogue::save_provider(t, &provider, NOW)).unwrap_err();
        assert_eq!(refusal(&store, &error), expected, "{url}");
    }
    assert_eq!(store.read(catalogue::providers).unwrap().len(), 3);
    for url in ["https://example.org", "http://[::1]:8080/v1", "https://example.org/a@b/v1"] {
        let provider = Provider { base_url: url.into(), ..mine() };
        store.write(|t| catalogue::save_provider(t, &provider, NOW)).unwrap();
        assert_eq!(store.read(|c| catalogue::provider(c, "mine")).unwrap().base_url, url);
    }
}

fn custom(id: &str, window: Option<u64>) -> Model {
    Model {
        id: id.into(),
        provider_id: "mine".into(),
        display_name: Some("Shown".into()),
        is_default: false,
        source: CUSTOM.into(),
        window,
    }
}

#[test]
fn models_are_added_with_their_windows_and_one_is_the_default() {
    let folder = Folder::new("models");
    let store = fresh(&folder, &[]);
    let error = store.write(|t| catalogue::save_model(t, &custom("x", None))).unwrap_err();
    assert!(error.to_string().ends_with("has no provider \"mine\""));
    store.write(|t| catalogue::save_provider(t, &mine(), NOW)).unwrap();
    for (id, window, kept) in [("x", Some(8_192), Some(8_192)), ("y", Some(0), None), ("z", None, None)] {
        store.write(|t| catalogue::save_model(t, &custom(id, window))).unwrap();
        assert_eq!(store.read(|c| catalogue::model(c, "mine", id)).unwrap(), custom(id, kept));
    }
    let listed = store.read(|c| catalogue::models(c, "mine")).unwrap();
    assert_eq!(listed, [custom("x", Some(8_192)), custom("y", None), custom("z", None)]);
    let error = store.write(|t| catalogue::save_model(t, &custom(" ", None))).unwrap_err();
    assert_eq!(refusal(&store, &error), "a model needs a name");

    let preset = PRESET_MODELS.iter().find(|m| m.provider == ProviderKind::OpenAi).unwrap();
    let before = store.read(|c| catalogue::model(c, "provider-openai", preset.id)).unwrap();
    let default = store.read(catalogue::default_model).unwrap().map(|model| model.id);
    assert_eq!(default.as_deref(), Some(oneclaw_catalogue::current(ProviderKind::OpenAi)[0]));
    let changed = Model { source: CUSTOM.into(), window: Some(5), ..before.clone() };
    store.write(|t| catalogue::save_model(t, &changed)).unwrap();
    let kept = store.read(|c| catalogue::model(c, "provider-openai", preset.id)).unwrap();
    assert_eq!(kept, Model { window: Some(5), ..before }, "a preset stays one");
    let error = store.write(|t| catalogue::remove_model(t, "provider-openai", preset.id)).unwrap_err();
    assert_eq!(refusal(&store, &error), format!("model {:?} belongs to the app", preset.id));

    store.write(|t| catalogue::save_model(t, &Model { is_default: true, ..custom("y", None) })).unwrap();
    store.write(|t| catalogue::set_default_model(t, "mine", "z")).unwrap();
    assert!(store.write(|t| catalogue::set_default_model(t, "mine", "nobody")).is_err());
    let chosen = Model { is_default: true, ..custom("z", None) };
    assert_eq!(store.read(catalogue::default_model).unwrap(), Some(chosen));
    let count = "SELECT COUNT(*) FROM models WHERE is_default <> 0";
    assert_eq!(other_app(store.path()).query_row(count, [], |row| row.get(0)), Ok(1));
    store.write(|t| catalogue::remove_model(t, "mine", "z")).unwrap();
    assert_eq!(store.read(catalogue::default_model).unwrap(), None);
    let error = store.read(|c| catalogue::model(c, "mine", "z")).unwrap_err();
    assert!(error.to_string().ends_with("has no model \"z\" of provider \"mine\""));
}

#[test]
fn agents_are_added_changed_and_removed_but_not_the_built_in_one() {
    let folder = Folder::new("agents");
    let store = fresh(&folder, &["s"]);
    let agent = Agent {
        id: "mine".into(),
        name: "Mine".into(),
        description: None,
        system_prompt: "Be brief.".into(),
        tools: vec!["read_file".into(), "a \"b\"".into()],
        preferred: Some(("provider-openai".into(), "gpt-4o".into())),
        is_built_in: false,
    };
    store.write(|t| agents::save(t, &Agent { is_built_in: true, ..agent.clone() }, NOW)).unwrap();
    assert_eq!(store.read(|c| agents::get(c, "mine")).unwrap(), agent);
    let own = store.read(|c| agents::get(c, GENERAL_ASSISTANT)).unwrap();
    let changed = Agent { preferred: None, tools: vec![], description: Some("d".into()), ..agent };
    store.write(|t| agents::save(t, &changed, NOW)).unwrap();
    assert_eq!(store.read(agents::list).unwrap(), [own.clone(), changed]);
    let edited = Agent { is_built_in: false, system_prompt: "Be kind.".into(), ..own.clone() };
    store.write(|t| agents::save(t, &edited, NOW)).unwrap();
    let kept = store.read(|c| agents::get(c, GENERAL_ASSISTANT)).unwrap();
    assert_eq!(kept, Agent { is_built_in: true, ..edited });
    let error = store.write(|t| agents::remove(t, GENERAL_ASSISTANT)).unwrap_err();
    assert_eq!(refusal(&store, &error), "agent \"agent-general-assistant\" belongs to the app");
    store.write(|t| sessions::set_agent(t, "s", "mine")).unwrap();
    store.write(|t| agents::remove(t, "mine")).unwrap();
    assert_eq!(store.read(|c| sessions::get(c, "s")).unwrap().agent_id, GENERAL_ASSISTANT);
    let error = store.write(|t| agents::remove(t, "mine")).unwrap_err();
    assert!(error.to_string().ends_with("has no agent \"mine\""));
}

#[test]
fn settings_are_kept_by_key() {
    let folder = Folder::new("settings");
    let store = fresh(&folder, &[]);
    for (key, value) in [("theme", "dark"), ("size", "12"), ("theme", "light")] {
        store.write(|t| settings::set(t, key, value)).unwrap();
    }
    let store = reopened(store);
    assert_eq!(store.read(|c| settings::get(c, "theme")).unwrap().as_deref(), Some("light"));
    let all: Vec<_> = store.read(settings::all).unwrap().into_iter().collect();
    assert_eq!(all, [("size".into(), "12".into()), ("theme".to_owned(), "light".to_owned())]);
    store.write(|t| settings::remove(t, "theme")).unwrap();
    assert_eq!(store.read(|c| settings::get(c, "theme")).unwrap(), None);
}

#[test]
fn tables_of_a_newer_core_are_left_alone() {
    let folder = Folder::new("newer");
    let path = fresh(&folder, &["s"]).path().to_owned();
    other_app(&path).execute("UPDATE core_version SET version = 7", []).unwrap();
    let expected =
        format!("{}: has core version 7, this program knows up to 5; update the program", path.display());
    for error in
        [Store::open(&path, NOW).unwrap_err(), examine(&path).unwrap_err(), survey(&path, None).unwrap_err()]
    {
        assert!(matches!(error, StoreError::Newer { .. }));
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_current_file_of_the_original_app_gets_the_cores_tables() {
    let folder = Folder::new("room");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("b", 20));
    append(&store, "s", &user("a", 20));
    let path = store.path().to_owned();
    drop(store);
    let tables = [
        "core_attachments",
        "core_chunks",
        "core_queue",
        "core_learnt",
        "core_listed",
        "core_messages",
        "core_sessions",
        "core_epochs",
        "core_purges",
        "core_replaced",
        "core_version",
    ];
    for table in tables {
        other_app(&path).execute_batch(&format!("DROP TABLE {table}")).unwrap();
    }
    let store = Store::open_existing(&path).unwrap();
    let expected = Change { from: 2, to: 2, windows: 0, core_from: 0, core_to: 5 };
    assert_eq!(store.change(), Some(&expected));
    store.prepare("s").unwrap();
    assert_eq!(ids(&rows(&store, "s")), ["b", "a"]);
    drop(store);
    check_schema(&path, 2);
}

#[test]
fn a_file_of_the_first_core_gets_what_later_ones_added() {
    let folder = Folder::new("core-1");
    let store = fresh(&folder, &["s"]);
    append(&store, "s", &user("a", 20));
    let path = store.path().to_owned();
    drop(store);
    other_app(&path)
        .execute_batch(
            "DROP TABLE core_replaced; ALTER TABLE core_sessions DROP COLUMN provider_id;
             ALTER TABLE core_sessions DROP COLUMN model_id; ALTER TABLE core_messages DROP COLUMN trace;
             DROP TABLE core_learnt; DROP TABLE core_listed;
             CREATE TABLE core_models (
                 provider_type TEXT NOT NULL, base_url TEXT NOT NULL, model_id TEXT NOT NULL, factor REAL, window INTEGER,
                 PRIMARY KEY (provider_type, base_url, model_id)) WITHOUT ROWID;
             UPDATE core_version SET version = 1;",
        )
        .unwrap();
    let store = Store::open_existing(&path).unwrap();
    let expected = Change { from: 2, to: 2, windows: 0, core_from: 1, core_to: 5 };
    assert_eq!(store.change(), Some(&expected));
    store.write(|t| oneclaw_store::sessions::set_model(t, "s", "p", "m")).unwrap();
    let session = store.read(|c| oneclaw_store::sessions::get(c, "s")).unwrap();
    assert_eq!(session.model, Some(("p".into(), "m".into())));
    let model = ModelAt { kind: ProviderKind::OpenAi, base_url: "https://a/v1".into(), model: "m".into() };
    let window = lesson("window", "8000", NOW);
    store.write(|t| engine::set_lesson(t, &model, &window)).unwrap();
    assert_eq!(store.read(|c| engine::lessons(c, &model)).unwrap(), [window]);
    store.write(|t| oneclaw_store::messages::take_out(t, "s", &["a".into()], NOW)).unwrap();
    assert_eq!(ids(&rows(&store, "s")), [] as [&str; 0]);
    let kept = store.read(|c| oneclaw_store::messages::taken_out(c, "s")).unwrap();
    assert_eq!(kept.len(), 1);
    drop(store);
    check_schema(&path, 2);
}

/// Numbers without a date, one of which may cripple a model, do not outlive the step; what services list does.
#[test]
fn a_file_of_the_fourth_core_forgets_what_has_no_date() {
    let folder = Folder::new("core-4");
    let path = fresh(&folder, &["s"]).path().to_owned();
    let connection = other_app(&path);
    as_fourth_core(&connection);
    connection
        .execute_batch(
            "INSERT INTO core_models VALUES ('OPENAI', 'https://a/v1', 'm', 3.0, 600, '{\"no_summary\":true}', '{\"window\":9}', 1, 3.0);
             INSERT INTO core_models VALUES ('OPENAI', 'https://a/v1', 'n', 3.0, 600, NULL, NULL, 1, 3.0);",
        )
        .unwrap();
    let store = Store::open_existing(&path).unwrap();
    let expected = Change { from: 2, to: 2, windows: 0, core_from: 4, core_to: 5 };
    assert_eq!(store.change(), Some(&expected));
    let at = |model: &str| ModelAt {
        kind: ProviderKind::OpenAi,
        base_url: "https://a/v1".into(),
        model: model.into(),
    };
    let listed = |model: &str| store.read(|c| engine::listed(c, &at(model))).unwrap();
    assert_eq!((listed("m").as_deref(), listed("n")), (Some("{\"window\":9}"), None));
    assert_eq!(store.read(engine::all_lessons).unwrap(), []);
    drop(store);
    check_schema(&path, 2);
}
