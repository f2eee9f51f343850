//! `oneclaw models --learnt` and `--forget`: what refusals and reports taught about models.

use crate::args::ModelsArgs;
use crate::chat::services::Environment;
use crate::chat::{harmless, setup};
use crate::{Failure, json};
use oneclaw_agent::{Agent, Config, LearntEntry, System, Topic};
use oneclaw_catalogue::Date;

use std::io::Write;
use std::sync::Arc;

/// Lists what was learnt, or forgets it.
pub fn run(args: &ModelsArgs, is_json: bool, out: &mut impl Write) -> Result<(), Failure> {
    if args.forget && args.filter.is_none() && !args.all {
        return Err(Failure::Usage("--forget needs a part of a model's name, or --all".to_owned()));
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("cannot start: {error}")))?;
    let (entries, forgotten) = runtime.block_on(ask(args))?;
    match (is_json, forgotten) {
        (true, None) => json::print(out, &entries)?,
        (true, Some(count)) => json::print(out, &serde_json::json!({"forgotten": count}))?,
        (false, None) if entries.is_empty() => writeln!(out, "Nothing was learnt.")?,
        (false, None) => {
            for entry in &entries {
                let (model, at) = (one_line(&entry.model), one_line(&entry.base_url));
                writeln!(out, "{model} at {at}: {}", sentence(entry))?;
            }
        }
        (false, Some(0)) => writeln!(out, "There was nothing to forget.")?,
        (false, Some(1)) => writeln!(out, "Forgot 1 thing.")?,
        (false, Some(count)) => writeln!(out, "Forgot {count} things.")?,
    }
    Ok(())
}

async fn ask(args: &ModelsArgs) -> Result<(Vec<LearntEntry>, Option<u64>), Failure> {
    let config = Config::new(setup::database(args.db.as_deref())?);
    let keys = Environment::of(None, None)?;
    let agent = Agent::open(config, Arc::new(keys), Arc::new(System)).await.map_err(setup::failed)?;
    let mut entries = agent.learnt().await.map_err(setup::failed)?;
    entries.retain(|entry| fits(entry, args.filter.as_deref()));
    let forgotten = match args.forget {
        true => Some(agent.forget_learnt(entries.clone()).await.map_err(setup::failed)?),
        false => None,
    };
    agent.close().await;
    Ok((entries, forgotten))
}

fn fits(entry: &LearntEntry, filter: Option<&str>) -> bool {
    let filter = filter.unwrap_or_default().trim().to_lowercase();
    [&entry.model, &entry.base_url].into_iter().any(|text| text.to_lowercase().contains(&filter))
}

fn one_line(text: &str) -> String {
    harmless(text).chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// What was learnt, how often it was heard and until when it is kept.
pub fn sentence(entry: &LearntEntry) -> String {
    let tokens = entry.tokens.unwrap_or(0);
    let what = match entry.topic {
        Topic::Window => format!("window {tokens} tokens"),
        Topic::DoubtedWindow => {
            format!("window {tokens} tokens, doubted: it counts only where it was heard until it is repeated")
        }
        Topic::Output => format!("longest reply {tokens} tokens"),
        Topic::DoubtedOutput => {
            format!(
                "longest reply {tokens} tokens, doubted: it counts only where it was heard until it is repeated"
            )
        }
        Topic::Density => format!("counts {:.2} times what is expected", entry.factor.unwrap_or(1.0)),
        Topic::Manner => {
            format!("is spoken to in another way: {}", one_line(entry.manner.as_deref().unwrap_or_default()))
        }
    };
    let (learnt, expires) = (Date::of_millis(entry.learnt_at), Date::of_millis(entry.expires_at));
    format!("{what} (heard {}, last on {learnt}; kept until {expires})", times(entry.heard))
}

fn times(count: u64) -> String {
    match count {
        0 | 1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}
