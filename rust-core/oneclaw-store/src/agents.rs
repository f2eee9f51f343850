//! Agents: instructions, and the tools that go with them.

use crate::columns::{flag, required, text};
use crate::error::{Fault, Result};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};

/// The agent every file has.
pub const GENERAL_ASSISTANT: &str = "agent-general-assistant";

/// What the app's own agent is told, as it stands in every file.
pub(crate) const WITH_TOOLS: &str =
    "You are a helpful assistant. Use your tools where they help, and say so when you do not know something.";
/// The same where it has none.
const WITHOUT_TOOLS: &str = "You are a helpful assistant. Say so when you do not know something.";

/// An agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its name in the file.
    pub id: String,
    /// The name shown.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Its instructions.
    pub system_prompt: String,
    /// The tools it may use.
    pub tools: Vec<String>,
    /// The provider and model it would rather use.
    pub preferred: Option<(String, String)>,
    /// Whether the app brought it; such a one cannot be removed.
    pub is_built_in: bool,
}

const SELECT: &str =
    "SELECT id, name, description, system_prompt, tool_ids, preferred_provider_id, preferred_model_id,
    is_built_in FROM agents";

/// All agents: the app's own first, then in the order they were added.
pub fn list(connection: &Connection) -> Result<Vec<Agent>> {
    let mut query = connection.prepare_cached(&format!("{SELECT} ORDER BY is_built_in DESC, rowid"))?;
    Ok(query.query_map([], read)?.collect::<rusqlite::Result<_>>()?)
}

/// One agent.
pub fn get(connection: &Connection, id: &str) -> Result<Agent> {
    let mut query = connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
    query.query_row([id], read).optional()?.ok_or_else(|| no_agent(id))
}

/// Adds an agent, or changes the one of that id. What the app brought stays marked as such.
pub fn save(transaction: &Transaction<'_>, agent: &Agent, now: i64) -> Result<()> {
    let (provider, model) = agent.preferred.as_ref().map(|(p, m)| (p, m)).unzip();
    transaction.execute(
        "INSERT INTO agents (id, name, description, system_prompt, tool_ids, preferred_provider_id, preferred_model_id,
            is_built_in, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, ?8)
         ON CONFLICT (id) DO UPDATE SET name = ?2, description = ?3, system_prompt = ?4, tool_ids = ?5,
            preferred_provider_id = ?6, preferred_model_id = ?7, updated_at = ?8",
        (
            &agent.id,
            &agent.name,
            &agent.description,
            &agent.system_prompt,
            serde_json::Value::from(agent.tools.clone()).to_string(),
            provider,
            model,
            now,
        ),
    )?;
    Ok(())
}

/// Removes an agent that the user has added; its conversations go on with the built-in one.
pub fn remove(transaction: &Transaction<'_>, id: &str) -> Result<()> {
    if get(transaction, id)?.is_built_in {
        return Err(Fault::Refused { why: format!("agent {id:?} belongs to the app") });
    }
    transaction.execute(
        "UPDATE sessions SET current_agent_id = ?2 WHERE current_agent_id = ?1",
        (id, GENERAL_ASSISTANT),
    )?;
    transaction.execute("DELETE FROM agents WHERE id = ?1", [id])?;
    Ok(())
}

/// Instructions as they are given where no tools are offered: the app's own then speak of none, others stay as they are.
pub fn without_tools(system_prompt: String) -> String {
    if system_prompt == WITH_TOOLS { WITHOUT_TOOLS.to_owned() } else { system_prompt }
}

fn no_agent(id: &str) -> Fault {
    Fault::NoSuch { what: format!("agent {id:?}") }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Agent> {
    Ok(Agent {
        id: required(row, 0)?,
        name: required(row, 1)?,
        description: text(row, 2)?,
        system_prompt: required(row, 3)?,
        // A list that cannot be read offers nothing.
        tools: serde_json::from_str(&required(row, 4)?).unwrap_or_default(),
        preferred: text(row, 5)?.zip(text(row, 6)?),
        is_built_in: flag(row, 7)?,
    })
}
