//! Gives a new session a title: a few words by the model, or the start of the first message. Never waited for.

use crate::complete::{self, Writing};
use crate::failure::Failure;
use crate::lessons::Size;
use crate::session::Job;
use crate::target::Target;
use oneclaw_context::truncate;
use oneclaw_model::row::RowType;
use oneclaw_model::{Request, RequestMessage};
use oneclaw_store::{Place, messages, sessions};

/// The title a session has until it gets one of its own.
pub const UNTITLED: &str = "New Conversation";
/// How much of the conversation the model is shown, in UTF-16 units.
const SHOWN_UNITS: usize = 2_000;
/// Rows that are looked at for it.
const SHOWN_ROWS: usize = 8;
/// The longest title, in characters.
const MOST_CHARS: usize = 60;
/// Enough for a title; room for reasoning is added for models that cannot do without.
const MOST_TOKENS: u64 = 64;

/// Lets the model title the session, if it has no title of its own.
pub(crate) fn give(job: &Job, target: &Target) {
    let (writing, target) = (job.writing(), target.clone());
    job.core.spawn(async move {
        let closing = writing.core.closing.clone();
        tokio::select! {
            () = closing.wait() => {}
            given = title(&writing, &target) => {
                if let Err(failure) = given {
                    log::warn!("no title: {failure}");
                }
            }
        }
    });
}

async fn title(writing: &Writing, target: &Target) -> Result<(), Failure> {
    let (core, session) = (&writing.core, writing.session.id.as_str());
    let id = session.to_owned();
    let start = core
        .read(move |c| {
            if sessions::get(c, &id)?.title != UNTITLED {
                return Ok(None);
            }
            let rows = messages::next_page(c, &id, Place::START, SHOWN_ROWS)?;
            Ok(Some(rows.into_iter().map(|stored| stored.row).collect::<Vec<_>>()))
        })
        .await?;
    let Some(rows) = start else { return Ok(()) };
    let Some(first) = rows.iter().find(|row| row.kind == RowType::User) else { return Ok(()) };
    let text: Vec<String> = rows
        .iter()
        .filter_map(|row| match row.kind {
            RowType::User => Some(format!("User: {}", row.content)),
            RowType::AiResponse if !row.content.is_empty() => Some(format!("Assistant: {}", row.content)),
            _ => None,
        })
        .collect();
    let text = text.join("\n\n");
    let request = Request {
        system: Some(include_str!("templates/title.md").trim_end().to_owned()),
        tools: vec![],
        messages: vec![RequestMessage::User {
            text: truncate::ends(&text, SHOWN_UNITS, 0).0.to_owned(),
            attachments: vec![],
        }],
        max_output: Some(MOST_TOKENS),
    };
    let upper = Size::of_text(&request, &target.tariff()).expected.saturating_mul(2);
    let asked = complete::complete(writing, &mut target.clone(), &request, upper).await;
    let written = asked.ok().and_then(|reply| tidy(&reply.text));
    let Some(title) = written.or_else(|| tidy(&first.content)) else { return Ok(()) };
    let id = session.to_owned();
    core.write(move |t| {
        // The user may have named it meanwhile.
        match sessions::get(t, &id)?.title == UNTITLED {
            true => sessions::rename(t, &id, &title),
            false => Ok(()),
        }
    })
    .await
}

/// A title out of what a model, or a user, wrote: its first line, without marks around it.
fn tidy(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Title:").unwrap_or(line);
    let line = line.trim_matches(|c: char| c.is_whitespace() || "\"'`*#“”«».".contains(c));
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(MOST_CHARS).collect();
    if line.chars().count() > MOST_CHARS {
        title = format!("{}…", title.trim_end());
    }
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn titles_are_one_short_line() {
        assert_eq!(tidy("\n \"Rome in May\".\nMore"), Some("Rome in May".to_owned()));
        assert_eq!(tidy("**Title: x**"), Some("Title: x".to_owned()));
        assert_eq!(tidy("Title: Rome"), Some("Rome".to_owned()));
        assert_eq!(tidy(" \n "), None);
        assert_eq!(tidy(&"a".repeat(70)), Some(format!("{}…", "a".repeat(60))));
    }
}
