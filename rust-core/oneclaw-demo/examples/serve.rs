//! Starts the model server by hand: `cargo run -p oneclaw-demo --example serve -- --port 8080 --window 8000`.
//!
//! Options: `--port N` (default: a free one), `--model ID` and `--window N` and `--max-output N` (a model of that size;
//! may be repeated, each `--model` starts a new one), `--key K` (ask every caller for it), `--delay MS` (between events),
//! `--fault NAME` (the next call is answered with it: overloaded, rate-limit, error-in-stream; may be repeated),
//! `--today DAY` (models that are switched off by then are gone), `--reasoning N` (tokens a model that reasons uses up before
//! its first word), `--continue-after N` (tokens after which a reply of gemini-4-argon has to be continued), `--flavour NAME`
//! (which server it behaves like: deepseek, kimi, openrouter, ollama, llama.cpp, lm-studio, vllm).

#![allow(clippy::print_stdout, clippy::print_stderr)] // A program for people.

use oneclaw_demo::{Config, Fault, Flavour, Model, Server, Step};
use oneclaw_model::ProviderKind;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let config = match config(&arguments) {
        Ok(config) => config,
        Err(problem) => {
            eprintln!("serve: {problem}");
            return ExitCode::from(2);
        }
    };
    match run(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("serve: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn run(config: Config) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let models = config.models.clone();
        let server = Server::start(config).await?;
        for (name, kind) in [
            ("OpenAI", ProviderKind::OpenAi),
            ("Anthropic", ProviderKind::Anthropic),
            ("Gemini", ProviderKind::Gemini),
        ] {
            println!("{name:<10} {}", server.base_url(kind));
        }
        for model in models {
            println!("model      {} (window {}, longest reply {})", model.id, model.window, model.max_output);
        }
        std::future::pending::<()>().await;
        Ok(())
    })
}

fn config(arguments: &[String]) -> Result<Config, String> {
    let mut config = Config::default();
    let mut is_named = false;
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{option} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{option} needs a number, not {value}"));
        // Sizes are those of the model named last.
        let mut model = config.models.pop().unwrap_or_default();
        match option.as_str() {
            "--port" => config.port = u16::try_from(number()?).map_err(|_| format!("{value} is no port"))?,
            "--window" => model.window = number()?,
            "--max-output" => model.max_output = number()?,
            "--model" if is_named => {
                config.models.push(model);
                model = Model { id: value.clone(), ..Model::default() };
            }
            "--model" => {
                model.id = value.clone();
                is_named = true;
            }
            "--key" => config.key = Some(value.clone()),
            "--delay" => config.delay = Duration::from_millis(number()?),
            "--today" => config.today = value.clone().try_into()?,
            "--reasoning" => config.reasoning_tokens = number()?,
            "--continue-after" => config.continue_after = number()?,
            "--flavour" => config.flavour = flavour(value)?,
            "--fault" => config.script.push(Step::Fault(fault(value)?)),
            _ => return Err(format!("unknown option {option}")),
        }
        config.models.push(model);
    }
    Ok(config)
}

fn fault(name: &str) -> Result<Fault, String> {
    match name {
        "overloaded" => Ok(Fault::Overloaded),
        "rate-limit" => Ok(Fault::TooManyRequests { retry_after: None }),
        "error-in-stream" => Ok(Fault::ErrorInStream),
        other => Err(format!("unknown fault {other}")),
    }
}

fn flavour(name: &str) -> Result<Flavour, String> {
    match name {
        "plain" => Ok(Flavour::Plain),
        "deepseek" => Ok(Flavour::DeepSeek),
        "kimi" => Ok(Flavour::Kimi),
        "openrouter" => Ok(Flavour::OpenRouter),
        "ollama" => Ok(Flavour::Ollama),
        "llama.cpp" => Ok(Flavour::LlamaCpp),
        "lm-studio" => Ok(Flavour::LmStudio),
        "vllm" => Ok(Flavour::Vllm),
        other => Err(format!("unknown flavour {other}")),
    }
}
