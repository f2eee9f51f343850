//! Conversations that grow on purpose, and what the server saw of them.

use super::kit::{House, all, compactions, errors, names};
use oneclaw_agent::{Agent, Event, Run};
use oneclaw_context::Policy;
use oneclaw_demo::Exchange;
use oneclaw_model::row::RowType;
use oneclaw_store::epochs;
use serde_json::Value;
use std::time::Duration;

/// A reply of so many words makes a turn of about 330 tokens.
pub const LONG: &str = "write 250 words about rivers.";

/// A text of about so many tokens.
pub fn prose(tokens: usize) -> String {
    "gravel roads and the people on them ".repeat(tokens / 7)
}

/// A policy with some knobs changed.
pub fn policy(preset: &str, changes: &[&str]) -> Policy {
    let preset = Policy::preset(preset).unwrap();
    changes.iter().fold(preset, |policy, change| policy.with(change).unwrap())
}

impl House {
    /// A message with a long reply. Nothing may go wrong.
    pub async fn turn(&self) -> Vec<Event> {
        let text = format!("Turn {}: {LONG}", self.questions().len() + 1);
        let events = self.send(&text).await;
        assert_eq!(errors(&events), [] as [String; 0]);
        assert!(events.iter().any(|e| matches!(e, Event::ResponseComplete { .. })), "{:?}", names(&events));
        events
    }

    /// So many turns.
    pub async fn turns(&self, count: usize) {
        for _ in 0..count {
            self.turn().await;
        }
    }

    /// Turns until one has a compaction in it; what that one said.
    pub async fn until_compaction(&self) -> Vec<Event> {
        for _ in 0..100 {
            let events = self.turn().await;
            if !compactions(&events).is_empty() {
                return events;
            }
        }
        panic!("a hundred turns without a compaction");
    }

    /// What the last chat request said.
    pub fn last_chat(&self) -> Exchange {
        self.chats().pop().unwrap()
    }

    /// The summary and the timestamp in the columns that the original app reads.
    pub fn columns(&self) -> (Option<String>, Option<i64>) {
        let sql = "SELECT compacted_summary, compact_boundary_timestamp FROM sessions WHERE id = ?1";
        let read = |c: &oneclaw_store::Connection| {
            Ok(c.query_row(sql, [&self.session], |row| Ok((row.get(0)?, row.get(1)?)))?)
        };
        self.agent.store().read(read).unwrap()
    }

    /// The text that stands for older rows.
    pub fn summary(&self) -> Option<String> {
        self.agent.store().read(|c| epochs::standing(c, &self.session)).unwrap().map(|s| s.summary)
    }

    /// Requests for summaries once so many have come in and been answered, or not.
    pub async fn summaries_reach(&self, count: usize) {
        while self.summaries().len() < count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// The rows of one kind.
    pub fn rows_of(&self, kind: RowType) -> Vec<String> {
        self.texts().into_iter().filter(|(k, _)| *k == kind).map(|(_, text)| text).collect()
    }
}

/// Reads a run up to an event of that name.
pub async fn until(run: &mut Run, name: &str) -> Vec<Event> {
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
        if names(&events).last().is_some_and(|last| last == name) {
            return events;
        }
    }
    panic!("{name} never came: {:?}", names(&events));
}

/// What an agent does with a compaction that was cut short.
pub async fn resume(agent: &Agent, session: &str) -> Vec<Event> {
    all(agent.resume(session).await.unwrap()).await
}

/// Role and text of the messages in a request to OpenAI.
pub fn messages(exchange: &Exchange) -> Vec<(String, String)> {
    let all = exchange.request["messages"].as_array().unwrap();
    all.iter().map(|m| (m["role"].as_str().unwrap().to_owned(), text_of(&m["content"]))).collect()
}

/// The system text of a request to OpenAI.
pub fn system(exchange: &Exchange) -> String {
    let found = messages(exchange).into_iter().find(|(role, _)| role == "system" || role == "developer");
    found.map(|(_, text)| text).unwrap_or_default()
}

/// Everything a request to OpenAI says, the system text aside.
pub fn talk(exchange: &Exchange) -> String {
    let said = messages(exchange).into_iter().filter(|(role, _)| role != "system" && role != "developer");
    said.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).collect(),
        _ => String::new(),
    }
}
