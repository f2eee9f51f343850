//! `oneclaw models`, and what the chat says and keeps about models: against the embedded demo, a loopback server and the
//! catalogue.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)] // A fault should stop a test.

mod kit;

use kit::{Output, Service, Typed, folder, oneclaw, piped, piped_with};
use oneclaw_catalogue::Date;
use oneclaw_demo::{Config, Model};
use serde_json::{Value, json};
use std::path::Path;

/// A model that was switched off in October 2026.
const OFF: &str = "gpt-3.5-turbo";
const HOSTILE: &str = "evil\u{1b}[2J\nmodel\u{202e}";

fn models(at: &Path, args: &[&str]) -> Output {
    oneclaw(at, &[&["models"], args].concat(), &[], &[])
}

fn array(output: &Output) -> Vec<Value> {
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    serde_json::from_str(&output.stdout).unwrap()
}

fn service() -> Service {
    let model = |id: &str, window| Model { id: id.to_owned(), window, ..Model::default() };
    let models =
        vec![model("demo", 9_000), model(OFF, 16_385), model(HOSTILE, 4_000), model("gpt-6-sol", 8_000)];
    // The service still lists what it has switched off.
    let today = Date::of_millis(0);
    Service::start(Config { models, today, ..Config::default() }, |_| {})
}

fn of<'a>(values: &'a [Value], command: &str) -> Vec<&'a Value> {
    values.iter().filter(|value| value["command"] == command).collect()
}

#[test]
fn the_demo_is_listed_without_a_key() {
    let at = folder("models-demo");
    let output = models(&at, &[]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines[0], "MODEL       WINDOW  REPLY  $ PER M IN/OUT  ABILITIES  END");
    assert_eq!(lines[1], "demo        16K     4K     unknown         unknown");
    assert_eq!(lines.len(), 4);
    assert!(at.join("oneclaw/oneclaw.db").is_file(), "the same file as that of the chat");
    let large = array(&models(&at, &["LARGE", "--json", "--db", "a.db"]));
    assert_eq!(large.len(), 1);
    assert_eq!((&large[0]["id"], &large[0]["window"]), (&json!("demo-large"), &json!(128_000)));
    assert_eq!(large[0]["price"], Value::Null, "what is unknown is null and not left out");
    assert_eq!(models(&at, &["nothing"]).stdout, "None of 3 models fits.\n");
}

#[test]
fn a_service_is_asked_and_what_is_switched_off_is_left_out() {
    let at = folder("models-service");
    let service = service();
    let asked = models(&at, &["--base-url", &service.url, "--db", "a.db"]);
    assert_eq!((asked.code, asked.stderr.as_str()), (0, ""));
    let bad = asked.stdout.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
    assert_eq!(bad, None, "{:?}", asked.stdout);
    assert!(asked.stdout.contains("evil␛[2J"), "{}", asked.stdout);
    assert!(!asked.stdout.contains(OFF), "{}", asked.stdout);
    assert!(
        asked.stdout.ends_with("1 that is switched off is left out; --all lists it too.\n"),
        "{}",
        asked.stdout
    );
    let line = asked.stdout.lines().find(|line| line.starts_with("gpt-6-sol")).unwrap();
    assert!(line.contains("  8K  "), "the service's own window goes before the catalogue's: {line}");
    assert!(
        line.contains("2/10, above 272K 4/15") && line.contains("tools, pictures, PDF, thinking"),
        "{line}"
    );
    let all = array(&models(&at, &["--base-url", &service.url, "--db", "a.db", "--all", "--json"]));
    assert_eq!(all.len(), 4);
    assert_eq!((&all[1]["id"], &all[1]["switched_off"]), (&json!(OFF), &json!(true)));
    assert_eq!(all[1]["ends"], "2026-10-23");
    assert_eq!(all[2]["id"], HOSTILE, "JSON is as it is");
    assert_eq!(all[3]["price"]["tiers"][0]["above"], 272_000);
}

#[test]
fn the_catalogue_is_listed_without_asking() {
    let at = folder("models-known");
    let known = models(&at, &["--known", "--provider", "openai"]);
    assert_eq!((known.code, known.stderr.as_str()), (0, ""));
    assert!(known.stdout.contains("\ngpt-6-sol ") && !known.stdout.contains(OFF), "{}", known.stdout);
    assert!(known.stdout.contains("1.05M (input 922K)"), "{}", known.stdout);
    let all = models(&at, &["--known", "--provider", "openai", "--all", OFF]);
    assert!(all.stdout.contains("switched off 2026-10-23"), "{}", all.stdout);
    let claude = array(&models(&at, &["--known", "--provider", "anthropic", "--json"]));
    assert!(claude.iter().any(|model| model["id"] == "claude-sonnet-5-5" && model["pictures"] == true));
    assert!(claude.iter().all(|model| model["switched_off"] == false));
    let other = models(&at, &["--known", "--base-url", "https://api.deepseek.com"]);
    assert!(other.stdout.contains("\ndeepseek-"), "{}", other.stdout);
    assert!(std::fs::read_dir(&at).unwrap().next().is_none(), "no file is made");
}

#[test]
fn what_cannot_be_listed_is_one_line_with_a_way_out() {
    let at = folder("models-errors");
    let cases: [(&[&str], i32, &str); 6] = [
        (
            &["--provider", "openai"],
            1,
            "openai needs a key for https://api.openai.com: set OPENAI_API_KEY or ONECLAW_API_KEY; without asking: oneclaw models --known --provider openai",
        ),
        (&["--base-url", "http://127.0.0.1:1/v1", "--db", "a.db"], 1, "The connection to the service failed"),
        (&["--known"], 2, "--known needs --provider or --base-url"),
        (&["--known", "--provider", "demo"], 2, "does not go with the embedded demo"),
        (&["--known", "--base-url", "http://127.0.0.1:1/v1"], 1, "the catalogue has no list of that service"),
        (&["--provider", "demo", "--base-url", "http://x"], 2, "does not go with the embedded demo"),
    ];
    for (args, code, text) in cases {
        let output = models(&at, args);
        assert_eq!((output.code, output.stdout.as_str()), (code, ""), "{args:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
        assert!(output.stderr.contains(text), "{args:?}: {}", output.stderr);
    }
    assert!(!at.join("oneclaw").exists(), "nothing is written");
}

#[test]
fn a_wrong_key_is_said_and_never_shown() {
    let at = folder("models-key");
    let config = Config { key: Some("sk-canary-1".to_owned()), ..Config::default() };
    let service = Service::start(config, |_| {});
    let args = ["models", "--base-url", &service.url, "--db", "a.db"];
    let right = oneclaw(&at, &args, &[("ONECLAW_API_KEY", "sk-canary-1")], &[]);
    assert_eq!((right.code, right.stderr.as_str()), (0, ""));
    let wrong = oneclaw(&at, &args, &[("ONECLAW_API_KEY", "sk-canary-2")], &[]);
    assert_eq!((wrong.code, wrong.stdout.as_str(), wrong.stderr.lines().count()), (1, "", 1));
    assert!(!wrong.stderr.contains("canary"), "{}", wrong.stderr);
}

#[test]
fn the_chat_lists_models_and_warns_of_those_switched_off() {
    let at = folder("models-chat");
    let service = service();
    let args = ["--db", "a.db", "--base-url", &service.url, "--model"];
    let lines = ["/models", "/models gpt-6", "/models nothing", "/model demo"];
    let output = piped(&at, &[&args[..], &[OFF]].concat(), &lines);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let warning = format!("oneclaw: {OFF} was switched off on 2026-10-23; the service may refuse it.");
    assert!(output.stderr.starts_with(&warning) && output.stderr.lines().count() == 1, "{}", output.stderr);
    assert!(output.stdout.starts_with("MODEL "), "{}", output.stdout);
    assert!(!output.stdout.contains(OFF) && output.stdout.contains("There is no such model."));
    let json = piped(&at, &[&args[..], &["demo", "--json"]].concat(), &["/models", &format!("/model {OFF}")]);
    assert!(json.stderr.starts_with(&warning), "{}", json.stderr);
    let values = json.values();
    assert_eq!(of(&values, "models")[0]["models"].as_array().unwrap().len(), 3);
    assert_eq!(of(&values, "model")[0]["switched_off"], "2026-10-23");
}

#[test]
fn no_chat_begins_with_a_model_that_is_switched_off() {
    let at = folder("models-first");
    for (provider, variable) in
        [("openai", "OPENAI_API_KEY"), ("anthropic", "ANTHROPIC_API_KEY"), ("gemini", "GEMINI_API_KEY")]
    {
        let args = ["--db", "a.db", "--provider", provider, "--json"];
        let output = piped_with(&at, &args, &[(variable, "none")], &["/model"]);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        let shown = &output.values()[0];
        let off = shown["switched_off"].as_array().unwrap();
        assert!(!off.contains(&shown["model"]), "{shown}");
        let text = piped_with(&at, &args[..4], &[(variable, "none")], &["/model"]);
        assert_eq!(text.stdout.matches("(switched off 20").count(), off.len(), "{}", text.stdout);
    }
    // The service of a model that the catalogue knows need not be named.
    let inferred = piped(&at, &["--db", "b.db", "--model", "claude-opus-5-5"], &["hello"]);
    assert!(inferred.stderr.contains("ANTHROPIC_API_KEY"), "{}", inferred.stderr);
}

#[test]
fn a_window_is_set_in_one_step_and_for_good() {
    let at = folder("models-window");
    let service = service();
    let args = ["--db", "a.db", "--base-url", &service.url, "--model", "mystery"];
    let unknown = piped(&at, &args, &["/window", "/context"]);
    assert_eq!(unknown.code, 0, "{}", unknown.stderr);
    assert!(unknown.stderr.contains("unknown") && unknown.stderr.contains("/window N"), "{}", unknown.stderr);
    assert_eq!(
        unknown.stdout.matches("window unknown — set it with /window N").count(),
        2,
        "{}",
        unknown.stdout
    );
    let json = [&args[..], &["--json"]].concat();
    let set = piped(&at, &json, &["/window 12k", "/context", "/window many"]);
    assert_eq!(set.code, 1, "the last line is no number");
    let values = set.values();
    let window = of(&values, "window")[0];
    assert_eq!((&window["window"], &window["source"]), (&json!(12_000), &json!("user")));
    assert_eq!(of(&values, "context")[0]["limits"]["window"], 12_000);
    let later = piped(&at, &json, &["/window", "/window off", "/window"]);
    let values = later.values();
    let windows: Vec<&Value> = of(&values, "window").iter().map(|value| &value["window"]).collect();
    assert_eq!(windows, [&json!(12_000), &Value::Null, &Value::Null]);
    // What was said for one chat is forgotten in the same way, and the service's word counts again.
    let named = [&args[..5], &["demo", "--json", "--window", "2000"]].concat();
    let values = piped(&at, &named, &["/window", "/window 3000", "/window off"]).values();
    let said: Vec<(&Value, &Value)> =
        of(&values, "window").iter().map(|value| (&value["window"], &value["source"])).collect();
    let user = json!("user");
    let (two, three, nine) = (json!(2_000), json!(3_000), json!(9_000));
    assert_eq!(said, [(&two, &user), (&three, &user), (&nine, &json!("service"))]);
}

#[test]
fn the_greeting_says_that_the_window_is_unknown() {
    let at = folder("models-greeting");
    let service = service();
    let mut typed =
        Typed::start(&at, &["--db", "a.db", "--base-url", &service.url, "--model", "mystery"], &[]);
    typed.wait("· window unknown — set it with /window N");
    typed.line("/window 9000");
    typed.wait("9,000 tokens, as you said");
    typed.prompt();
    typed.keys("\u{4}");
    assert_eq!(typed.end().0, 0);
}

#[test]
fn an_effort_is_asked_for() {
    let at = folder("models-effort");
    let args = ["--db", "a.db", "--json", "--effort", "low"];
    let output = piped(&at, &args, &["/effort", "/effort xhigh", "/effort auto", "hello"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let values = output.values();
    let efforts: Vec<&Value> = of(&values, "effort").iter().map(|value| &value["effort"]).collect();
    assert_eq!(efforts, [&json!("low"), &json!("xhigh"), &Value::Null]);
    let wrong = piped(&at, &["--effort", "very"], &[]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("none, minimal, low, medium, high, xhigh, max"), "{}", wrong.stderr);
}

/// A private server whose models have names as other services have, and names with slashes.
fn private() -> Service {
    let names = ["demo", "openai/gpt-oss-120b", "meta-llama/Llama-4", "demo/demo-small"];
    let model = |id: &&str| Model { id: (*id).to_owned(), window: 9_000, ..Model::default() };
    Service::start(Config { models: names.iter().map(model).collect(), ..Config::default() }, |_| {})
}

#[test]
fn a_model_is_one_of_the_service_that_is_spoken_to() {
    let at = folder("models-stay");
    let service = private();
    let args = ["--db", "a.db", "--base-url", &service.url, "--model", "demo", "--json"];
    let mine = format!("openai@{}", service.url.trim_start_matches("http://"));
    let explicit = format!("/model {mine}/any/name");
    let names = [
        ("/model gpt-4o", "gpt-4o"),
        ("/model claude-opus-4-20250514", "claude-opus-4-20250514"),
        ("/model openai/gpt-oss-120b", "openai/gpt-oss-120b"),
        ("/model meta-llama/Llama-4", "meta-llama/Llama-4"),
        ("/model demo/demo-small", "demo/demo-small"),
        (explicit.as_str(), "any/name"),
        ("/model any/name", "any/name"),
    ];
    let lines = names.map(|(line, _)| line);
    let output = piped_with(&at, &args, &[("OPENAI_API_KEY", "none"), ("ANTHROPIC_API_KEY", "none")], &lines);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let chosen: Vec<(Value, Value, Value)> = of(&output.values(), "model")
        .iter()
        .map(|v| (v["provider"].clone(), v["model"].clone(), v["left"].clone()))
        .collect();
    let expected = names.map(|(_, model)| (json!(format!("provider-{mine}")), json!(model), Value::Null));
    assert_eq!(chosen, expected);
    // Where nothing of the list is in the file, the service is asked.
    let fresh = ["--db", "b.db", "--base-url", &service.url, "--model", "demo", "--window", "9000", "--json"];
    let asked = piped_with(&at, &fresh, &[("OPENAI_API_KEY", "none")], &["/model openai/gpt-oss-120b"]);
    assert_eq!(of(&asked.values(), "model")[0]["provider"], format!("provider-{mine}"));
    let text = piped(&at, &args[..6], &["/model gpt-4o", "/model meta-llama/Llama-4"]);
    assert!(
        text.stdout.contains("openai has a model of that name: /model openai/gpt-4o\n"),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.ends_with(&format!("Now with {mine}/meta-llama/Llama-4, window 9,000.\n")),
        "{}",
        text.stdout
    );
}

#[test]
fn another_service_is_gone_to_only_where_it_is_named_and_that_is_said() {
    let at = folder("models-leave");
    let service = private();
    let args = ["--db", "a.db", "--base-url", &service.url, "--model", "demo"];
    let mine = format!("openai@{}", service.url.trim_start_matches("http://"));
    let keyless = piped(
        &at,
        &args,
        &["/model openai/gpt-6-sol", "/model", "/model qwen/qwen3", "/model gemini/", "/model"],
    );
    assert_eq!(keyless.code, 1);
    let complaints: Vec<&str> = keyless.stderr.lines().collect();
    assert_eq!(
        complaints,
        [
            "oneclaw: line 1: openai needs a key for https://api.openai.com: set OPENAI_API_KEY or ONECLAW_API_KEY with \
             --provider openai, and start again.",
            &format!(
                "oneclaw: line 3: There is no service \"qwen\", only openai, anthropic, gemini, {mine}, and {mine} lists no \
                 model \"qwen/qwen3\". If it has one: /model {mine}/qwen/qwen3"
            ),
            "oneclaw: line 4: \"gemini/\" names no model; /model gemini/MODEL does.",
            "oneclaw: 3 lines failed",
        ]
    );
    assert_eq!(
        keyless.stdout.matches(&format!("{mine}/demo; known here: ")).count(),
        2,
        "{}",
        keyless.stdout
    );

    let key = [("OPENAI_API_KEY", "none")];
    let lines = [
        "/model openai/gpt-6-sol",
        "/model claude-opus-4-20250514",
        "/model openai/gpt-4o",
        "/model demo/demo-small",
    ];
    let output = piped_with(&at, &args, &key, &lines);
    let said: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(
        said[0],
        format!(
            "The conversation leaves {mine} and goes to openai at https://api.openai.com from now on. Now with \
             openai/gpt-6-sol, window 1,050,000."
        )
    );
    // A vendor's models are known: one that it has not is refused with a way to where it is.
    assert_eq!(
        output.stderr.lines().next(),
        Some(
            "oneclaw: line 2: openai has no model \"claude-opus-4-20250514\". anthropic has a model of that name: /model \
             anthropic/claude-opus-4-20250514"
        )
    );
    assert!(said[1].starts_with("Now with openai/gpt-4o, window 128,000."), "{}", output.stdout);
    assert!(
        said[2].starts_with("The conversation leaves openai and goes to demo at http://127.0.0.1:"),
        "{}",
        output.stdout
    );
    let json = piped_with(&at, &[&args[..], &["--json"]].concat(), &key, &lines[..1]);
    let value = of(&json.values(), "model")[0].clone();
    assert_eq!(
        (&value["left"], &value["provider"]),
        (&json!(format!("provider-{mine}")), &json!("provider-openai"))
    );

    // A server that cannot be asked keeps nobody.
    let gone = ["--db", "a.db", "--base-url", "http://127.0.0.1:1/v1", "--model", "x", "--window", "9000"];
    let away = piped_with(&at, &gone, &key, &["/model openai/gpt-6-sol", "/model"]);
    assert_eq!((away.code, away.stderr.as_str()), (0, ""), "{}", away.stdout);
    assert!(away.stdout.contains("\nopenai/gpt-6-sol; known here: "), "{}", away.stdout);
}

#[test]
fn a_vendor_that_the_file_puts_elsewhere_is_gone_to_with_a_warning_and_without_a_key() {
    let at = folder("models-moved");
    let service = private();
    assert_eq!(piped(&at, &["--db", "a.db"], &["hello"]).code, 0);
    let file = rusqlite::Connection::open(at.join("a.db")).unwrap();
    file.execute("UPDATE providers SET api_base_url = ?1 WHERE id = 'provider-openai'", [&service.url])
        .unwrap();
    file.execute(
        "UPDATE providers SET api_base_url = 'https://a.invalid/v1' WHERE id = 'provider-gemini'",
        [],
    )
    .unwrap();
    drop(file);
    let key = [("OPENAI_API_KEY", "none"), ("GEMINI_API_KEY", "none")];
    let output =
        piped_with(&at, &["--db", "a.db"], &key, &["/model openai/demo", "/model gemini/gemini-2.5-pro"]);
    let origin = service.url.trim_end_matches("/v1");
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!(
        lines[0],
        format!("oneclaw: By this file openai is at {origin}, not at https://api.openai.com.")
    );
    assert_eq!(
        lines[1],
        "oneclaw: line 2: By this file gemini is at https://a.invalid, not at https://generativelanguage.googleapis.com. gemini \
         needs a key for https://a.invalid: set ONECLAW_API_KEY with --base-url https://a.invalid/..., and start again."
    );
    assert!(output.stdout.contains(&format!("goes to openai at {origin} from now on.")), "{}", output.stdout);
}
